"""Shared by all tests: the oracles on the path, the tiers, and how hypothesis runs."""

import hashlib
import re
import sys
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

import borel as bl

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))  # so that tests may import `oracles`

from tiers import TIERS  # noqa: E402

settings.register_profile(
    "suite",
    max_examples=30,  # for each build, Fractions and floats
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
settings.register_profile("many", parent=settings.get_profile("suite"), max_examples=300)
settings.register_profile("search", parent=settings.get_profile("many"), derandomize=False)
settings.load_profile("suite")


@pytest.fixture(scope="module")
def estimates():
    """Let the estimate engine compute, where the certified one would be asked first."""
    with bl.options(engine="estimate"):
        yield


@pytest.fixture(autouse=True)
def digits():
    """Give every test the same precision of mpmath, whatever another one has set."""
    import mpmath

    with mpmath.workdps(60):
        yield


def pytest_addoption(parser):
    group = parser.getgroup("tiers")
    group.addoption(
        "--sample",
        metavar="KEY",
        help="take tests in an order that KEY decides; 'tree' stands for a hash of the files",
    )
    group.addoption(
        "--sample-seconds", type=float, default=float("inf"), help="start no test after this time"
    )
    group.addoption(
        "--sample-count", type=int, default=None, help="take only the first so many of that order"
    )


def tree_key():
    """Return a hash of all that is tested and of the tests."""
    root, key = HERE.parent, hashlib.sha256()
    for folder in ("borel", "models", "tests"):
        for file in sorted((root / folder).rglob("*.py")):
            key.update(file.relative_to(root).as_posix().encode() + file.read_bytes())
    return key.hexdigest()[:12]


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    """Mark the cases that are named heavy, and order a sample."""
    _mark_cases(items, whole=not any("::" in arg for arg in config.args))
    _leave_out_all_but_a_few(items)
    for item in items:
        if _tiers(item):
            item.add_marker("heavy")
    # xdist does not start if a name has an address in it
    named = [item.nodeid for item in items if " at 0x" in item.nodeid]
    if named:
        raise pytest.UsageError(f"give these tests ids of their own (ids=): {named}")


def _mark_cases(items, whole):
    """Give the marks of ``@pytest.mark.cases(tier, id, ...)`` to the cases of these ids."""
    left: dict = {}
    for item in items:
        for mark in item.iter_markers("cases"):
            tier, *names = mark.args
            if tier not in TIERS or not names:
                raise pytest.UsageError(f"{item.nodeid}: cases() takes a tier of {TIERS} and ids")
            of = (item.nodeid.partition("[")[0], tier)
            left.setdefault(of, set(names))
            for name in names:
                pattern = re.escape(name).replace(r"\*", ".*")
                if re.fullmatch(pattern, item.callspec.id):
                    item.add_marker(tier)
                    left[of].discard(name)
    unknown = [
        f"{of[0]}: {tier} {sorted(ids)}" for of, ids in left.items() for tier in of[1:] if ids
    ]
    if whole and unknown:
        raise pytest.UsageError(f"cases() names ids that no test has: {unknown}")


def _leave_out_all_but_a_few(items):
    """Mark as slow all but n cases of a test with ``@pytest.mark.few(n)``: a hash takes them."""
    cases: dict = {}
    for item in items:
        if item.get_closest_marker("few") and not _tiers(item):
            cases.setdefault(item.nodeid.partition("[")[0], []).append(item)
    for some in cases.values():
        some.sort(key=lambda item: hashlib.sha256(item.name.encode()).digest())
        (number,) = some[0].get_closest_marker("few").args
        for item in some[number:]:
            item.add_marker("slow")


def _tiers(item):
    return [tier for tier in TIERS if item.get_closest_marker(tier)]


class Sample:
    """A part of the tests, in an order that a key decides: what CI takes of the heavy tiers."""

    def __init__(self, config):
        key = config.getoption("--sample")
        self.key = tree_key() if key == "tree" else key
        self.seconds = config.getoption("--sample-seconds")
        self.count = config.getoption("--sample-count")
        self.start = time.monotonic()
        profile = config.getoption("--hypothesis-profile")
        self.chosen = f"--hypothesis-profile {profile} " if profile else ""
        self.chosen += f'-m "{config.getoption("markexpr")}" '

    def _place(self, item):
        return hashlib.sha256(f"{self.key} {item.nodeid}".encode()).digest()

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config, items):
        items.sort(key=self._place)
        if self.count is not None:
            config.hook.pytest_deselected(items=items[self.count :])
            del items[self.count :]

    def pytest_runtest_setup(self, item):
        if time.monotonic() > self.start + self.seconds:
            pytest.skip("the time of this sample is over")

    def pytest_terminal_summary(self, terminalreporter):
        ran = sum(len(terminalreporter.getreports(kind)) for kind in ("passed", "failed", "error"))
        terminalreporter.write_line(
            f"sample {self.key}: {ran} tests. Again: pytest -n 2 --maxschedchunk 1 {self.chosen}"
            f"--sample {self.key} --sample-count {ran} ./tests"
        )


def pytest_configure(config):
    if config.getoption("--sample"):
        config.pluginmanager.register(Sample(config), "sample")
