"""Speed as ratios within one process. Run with ``pytest -m benchmark -s tests/benchmarks``.

The rows of ``python -m tests.benchmarks`` are printed; what was a fault is asserted, with room.
"""

import pytest
from benchmarks.table import GROUPS, HEAD, machine, printed

pytestmark = pytest.mark.benchmark


@pytest.mark.parametrize("group", GROUPS)
def test_no_row_is_beyond_its_limit(group):
    print("", machine(), HEAD, sep="\n")
    assert [t for t in printed(group) if t.ratio > t.row.limit] == []
