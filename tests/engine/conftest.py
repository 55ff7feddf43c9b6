"""Shared by tests of the engine: what `borel check` says of a certificate."""

import json

import mpmath
import numpy as np
import pytest
from engine.sum_truths import DIGITS

from borel.audits.verification import verify


@pytest.fixture
def outcome(tmp_path):
    def of(certificate):
        (tmp_path / "one.json").write_text(json.dumps(certificate))
        return verify(tmp_path / "one.json")[0].outcome

    return of


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
