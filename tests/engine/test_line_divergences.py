"""Cutting the tails of a line off: what is left out is accounted for."""

import math

from borel.engine.divergences.continuous import cut_off


def test_what_is_cut_off_is_returned():
    (a, b), beyond = cut_off(
        -math.inf, math.inf, [0.0], lambda u, v: 2.0 ** -min(abs(u), abs(v)), 1
    )
    assert (a, b) == (-4.0, 4.0) and 0.125 <= beyond < 0.125 + 1e-12


def test_a_heavy_tail_stays():
    ends, beyond = cut_off(0.0, math.inf, [], lambda u, v: 1 / math.log(2 + u), 1e-3)
    assert ends == (0.0, math.inf) and beyond == 0.0


def test_finite_ends_stay():
    assert cut_off(-1.0, 3.0, [0.0], lambda u, v: 0.0, 1.0) == ((-1.0, 3.0), 0.0)
