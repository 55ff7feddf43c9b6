"""Shared by tests of the engine."""

import mpmath
import numpy as np
import pytest
from engine.sum_truths import DIGITS


@pytest.fixture
def no_sums(monkeypatch):
    """Keep all coordinates of secrets, also where the kernel depends on a sum of them."""
    monkeypatch.setattr("borel.engine.problem.reduced_joint.on_a_line", lambda joint: None)


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture
def digits():
    """Compute truths of sums with as many digits as they are known to."""
    with mpmath.workdps(DIGITS):
        yield
