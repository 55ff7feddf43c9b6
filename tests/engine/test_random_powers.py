"""Random sums of products of powers as kernels, at random outcomes, against mpmath to 40 digits.

Bounds have no tolerance; the truth has one of 1e-20. Kernels that miss 1 are refused.
"""

import mpmath as mp
import numpy as np
import pytest
from engine.power_kernels import case

import borel as bl

SIZES = (1e-300, 1e-30, 1e-9, 1e-3, 0.5, 1 - 2**-30, 1 - 1e-12)
ERROR = mp.mpf(10) ** -20


def outcomes(made):
    h, rng = 1 if made.name == "lomax0" else made.h, made.rng
    out = [h * rng.random() for _ in range(5)] + [h * rng.random() ** 6 for _ in range(4)]
    out += [h * v for v in rng.sample(SIZES, 3)]
    return np.array(out + ([1e6, 1e200] if made.name == "lomax0" else []))


def truth_at(made, kind, y):
    try:
        found = made.truth.at(kind, y)
    except ZeroDivisionError:
        return None
    if mp.isnan(found):
        return None
    # a limit at a secret of 1e-4000
    return mp.inf if kind == "pmc" and found > 1000 else found


@pytest.mark.fuzz
@pytest.mark.parametrize("block", range(30))
def test_random_kernels_of_powers(block):
    first = 5000 + 5 * block
    assert sum(enclosed(case(seed)) for seed in range(first, first + 5)) >= 10


def enclosed(made):
    """Compare enclosures with truths; return how many."""
    count = 0
    with bl.options(budget=0.5), mp.workdps(40):
        try:
            mech = bl.Mechanism(made.f, secret=made.secret, outcome=made.outcome)
            leakages = {"pml": bl.pml(made.prior * mech), "pmc": bl.pmc(made.prior * mech)}
            ys = outcomes(made)
            found = {kind: leakage(ys) for kind, leakage in leakages.items()}
        except bl.InvalidInput:
            return 0  # a formula that is inf or NaN in float64, or misses 1
        assert abs(made.factor - 1) < 1e-8, made.seed
        if made.factor != 1:
            return 0
        for kind, rows in found.items():
            ends = zip(ys, rows.lower.values, rows.upper.values, rows.status.values, strict=True)
            for y, low, high, status in ends:
                truth, count = truth_at(made, kind, y), count + 1
                if truth is None:
                    assert status == "undecided", (made.seed, kind, y)
                    continue
                assert low <= truth + ERROR, (made.seed, kind, y)
                assert truth <= mp.mpf(high) + ERROR, (made.seed, kind, y)
    return count
