"""Sums of t^e (log t)^j hold their values for every t, however many terms they have."""

import mpmath as mp
import numpy as np
import pytest
from flint import arb, ctx, fmpq

from borel.engine.certificates.checks.rays import ORDER, Z, _Ray

pytestmark = pytest.mark.proofs


def value(terms, t):
    """The sum at t, of the middles of the balls, by mpmath."""
    return sum(
        mp.mpf(str(b.mid().str(40, radius=False))) * t ** mp.mpf(str(e)) * mp.log(t) ** j
        for (e, j), b in terms.items()
    )


def enclosure(ray, t):
    """What a ray says that it is at t."""
    with ctx.workprec(200):
        t = arb(t)
        found = sum((b * t ** arb(fmpq(e)) * t.log() ** j for (e, j), b in ray.terms.items()), Z)
        return [mp.mpf(end.str(40, radius=False)) for end in (found.lower(), found.upper())]


@pytest.mark.parametrize("seed", range(40))
def test_a_remainder_holds_what_it_stands_for(seed):
    rng = np.random.default_rng(seed)
    count = int(rng.integers(ORDER + 1, 3 * ORDER))
    keys = {(int(e), int(j)) for e, j in zip(*rng.integers(0, [[9], [4]], (2, count)), strict=True)}
    terms = {key: arb(float(v)) for key, v in zip(keys, rng.normal(size=len(keys)), strict=True)}
    if seed % 3 == 0:
        terms = {(fmpq(e, 2), j): b for (e, j), b in terms.items()}
    with ctx.workprec(128):
        ray = _Ray(dict(terms))
        square = ray * ray
    assert len(ray.terms) <= max(ORDER, len({j for _, j in keys}) + ORDER)
    assert all(b.is_finite() for b in ray.terms.values())
    for t in (1.0, 0.75, 0.25, 1e-3, 1e-9):
        with mp.workdps(40):
            truth = value(terms, mp.mpf(t))
            slack = mp.mpf(10) ** -30 * (1 + abs(truth))
            for found, true in ((ray, truth), (square, truth**2)):
                low, high = enclosure(found, t)
                room = slack * (1 + abs(truth))
                assert low - room <= true <= high + room
