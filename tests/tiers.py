"""List every test with its tier, or compare two such lists.

``python tests/tiers.py > after.txt`` lists the tests of this tree, also those that a plain run
leaves out. ``python tests/tiers.py before.txt after.txt`` says which tests are gone, which are new,
and how many changed their tier.
"""

import sys
from collections import Counter
from pathlib import Path

import pytest

# what a plain run leaves out; pyproject.toml says what is in each
TIERS = ("attacks", "mutations", "proofs", "truths", "slow", "fuzz", "benchmark")
DEFAULT = "default"


class List:
    """Print a line for each test: its tiers, a tab, its id."""

    def pytest_collection_finish(self, session):
        root = Path(session.config.rootpath)
        for item in session.items:
            tiers = [tier for tier in TIERS if item.get_closest_marker(tier)] or [DEFAULT]
            place = item.path.relative_to(root) if item.path.is_relative_to(root) else item.path
            print("+".join(tiers), f"{place}{item.nodeid[item.nodeid.find('::') :]}", sep="\t")


def read(path):
    lines = Path(path).read_text(encoding="utf-8").splitlines()
    return {name: tier for tier, tab, name in (line.partition("\t") for line in lines) if tab}


def compare(before, after):
    moved = Counter((before[name], after[name]) for name in before.keys() & after.keys())
    for (was, now), count in sorted(moved.items()):
        print(f"{count:6} {was} -> {now}")
    for what, names in (
        ("gone", before.keys() - after.keys()),
        ("new", after.keys() - before.keys()),
    ):
        print(f"{len(names):6} {what}")
        for name in sorted(names):
            print(f"         {what}: {name} ({(before | after)[name]})")


if __name__ == "__main__":
    if len(sys.argv) == 3:
        compare(read(sys.argv[1]), read(sys.argv[2]))
    else:
        folders = ["--doctest-modules", "--pyargs", "borel", "./tests"]
        quiet = ["--collect-only", "-qq", "--no-header", "-m", ""]
        sys.exit(pytest.main([*quiet, *folders], plugins=[List()]))
