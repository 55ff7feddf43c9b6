"""The time of ``import borel`` above a bare interpreter. Run with ``pytest -m benchmark -s``."""

import statistics
import subprocess
import sys
import time
from pathlib import Path

import pytest

import borel

pytestmark = pytest.mark.benchmark


def seconds(code, repeat=21):
    """Median wall time of a fresh interpreter that runs some code."""
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        subprocess.run(
            [sys.executable, "-c", code], cwd=Path(borel.__file__).parent.parent, check=True
        )
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def test_the_time_to_import():
    seconds("import borel", repeat=2)  # bytecode
    bare, ours, used = seconds("pass"), seconds("import borel"), seconds("import borel; borel.pmf")
    assert ours <= 5 * bare
    print(
        f"\nimport borel: {1e3 * ours:.1f} ms against {1e3 * bare:.1f} ms of bare Python, "
        f"{1e3 * (ours - bare):.1f} ms more (target 50); with the first name used "
        f"{1e3 * (used - bare):.1f} ms more"
    )
