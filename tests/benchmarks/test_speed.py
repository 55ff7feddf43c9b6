"""Speed as ratios within one process. Run with ``pytest -m benchmark -s tests/benchmarks``.

Rows are printed, as by ``python -m tests.benchmarks``; what was a fault is asserted, with room.
"""

import pytest
from benchmarks.table import GROUPS, HEAD, machine, timed

pytestmark = pytest.mark.benchmark


@pytest.mark.parametrize("group", GROUPS)
def test_no_row_is_beyond_its_limit(group):
    print("", machine(), HEAD, sep="\n")
    for row in GROUPS[group]():
        timing = timed(row)
        print(timing)
        assert not timing.ratio > row.limit
