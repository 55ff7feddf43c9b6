"""Speed of leakage envelopes. Run with ``pytest -m benchmark -s tests/benchmarks``.

Each test prints its seconds and asserts nothing about time: a table to read, not a gate.
"""

import time

import numpy as np
import pytest

import borel as bl

pytestmark = pytest.mark.benchmark


def made(n, seed=0):
    """Return a random joint of n secrets and n outcomes."""
    rng = np.random.default_rng(seed)
    return bl.pmf(rng.dirichlet(np.ones(n))) * bl.Mechanism.from_matrix(
        rng.dirichlet(np.ones(n), size=n)
    )


@pytest.mark.parametrize("kind", ["pml", "pmc"])
def test_fifty_levels_of_a_hundred_by_a_hundred(kind):
    joint = made(100)
    bl.envelope(made(3), of=kind).curve([0.5])  # the imports apart
    start, used = time.perf_counter(), time.process_time()
    curve = bl.envelope(joint, of=kind).curve(np.linspace(0.02, 1, 50))
    seconds, used = time.perf_counter() - start, time.process_time() - used
    width = float((curve["upper"] - curve["lower"]).max())
    shown = f"{seconds:.2f} s, {used:.2f} of the processor (target 5)"
    print(f"\n{kind}, 100 x 100, 50 levels: {shown}, widths to {width:.1e} nats")
    assert set(curve["status"].values) == {"certified"}
    assert width < 1e-9


@pytest.mark.parametrize("kind", ["pml", "pmc"])
@pytest.mark.parametrize("delta", [0.05, 0.4, 0.9, 1.0])
def test_one_level_of_two_hundred_by_two_hundred(kind, delta):
    joint = made(200, seed=1)
    bl.envelope(made(3), of=kind).curve([0.5])
    start, used = time.perf_counter(), time.process_time()
    found = bl.envelope(joint, of=kind)(delta)
    seconds, used = time.perf_counter() - start, time.process_time() - used
    shown = f"{seconds:.2f} s, {used:.2f} of the processor (target 2)"
    print(f"\n{kind}, 200 x 200, delta = {delta}: {shown}, width {found.width:.1e} nats")
    assert found.status == "certified" and found.width < 1e-9
