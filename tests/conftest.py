"""Shared by all tests: the oracles on the path, and how hypothesis runs."""

import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

import borel as bl

sys.path.insert(0, str(Path(__file__).parent))  # so that tests may import `oracles`

settings.register_profile(
    "suite",
    max_examples=300,  # for each build, Fractions and floats
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
settings.register_profile("search", parent=settings.get_profile("suite"), derandomize=False)
settings.load_profile("suite")


@pytest.fixture(scope="module")
def estimates():
    """Let the estimate engine compute, where the certified one would be asked first."""
    with bl.options(engine="estimate"):
        yield


@pytest.fixture(scope="module")
def enclosures_alone():
    """Leave out certificates, of which these tests do not speak: trying one takes its time."""
    with bl.options(certificates=False):
        yield


@pytest.fixture(autouse=True)
def digits():
    """Give every test the same precision of mpmath, whatever another one has set."""
    import mpmath

    with mpmath.workdps(60):
        yield


SLOW = frozenset(
    line
    for line in (Path(__file__).parent / "slow.txt").read_text(encoding="utf-8").splitlines()
    if line and not line.startswith("#")
)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Mark what is listed as slow; and refuse names that differ from process to process."""
    for item in items:
        name = item.nodeid.removeprefix("tests/")
        if name in SLOW:
            item.add_marker(pytest.mark.slow)
    # xdist does not start if a name has an address in it
    named = [item.nodeid for item in items if " at 0x" in item.nodeid]
    if named:
        raise pytest.UsageError(f"give these tests ids of their own (ids=): {named}")
