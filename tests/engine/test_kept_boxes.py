"""Enclosures of boxes that were seen before are copied to where these boxes are now."""

import math

import numpy as np

from borel.engine.envelopes.outcome_cells import KeptTable


def boxes(rng, ends, count):
    """Boxes between given ends, some of one point, some of them twice."""
    low, high = np.sort(rng.choice(ends, (2, count)), axis=0)
    return low, high


def test_every_entry_is_that_of_its_own_pair_of_boxes():
    rng, ends = np.random.default_rng(0), np.array([-math.inf, -2.0, -0.0, 0.0, 1e-300, 1.0, 3.0])
    for _ in range(60):
        kept, seen = KeptTable(), set()
        for _ in range(6):
            x, y = boxes(rng, ends, rng.integers(1, 7)), boxes(rng, ends, rng.integers(1, 9))
            asked = set()

            def compute(of, rows, y=y, asked=asked):
                asked |= {(*a, *b) for a in zip(*of, strict=True) for b in zip(*y, strict=True)}
                first, second = np.broadcast_arrays(of[0][:, None], y[0][rows])
                third, fourth = np.broadcast_arrays(of[1][:, None], y[1][rows])
                return np.array([first, third, second, fourth])

            found = kept.over(x, y, compute)
            pairs = {(*a, *b) for a in zip(*x, strict=True) for b in zip(*y, strict=True)}
            assert found.shape == (4, len(x[0]), len(y[0]))
            for k, end in enumerate((x[0][:, None], x[1][:, None], y[0], y[1])):
                assert (found[k] == end).all()
            assert pairs - asked <= seen  # the others were computed
            seen = pairs


def test_nothing_is_computed_twice():
    kept, asked = KeptTable(), []

    def compute(x, rows):
        asked.append((len(x[0]), len(rows)))
        return np.ones((1, len(x[0]), len(rows)))

    x, y = np.arange(3.0), np.arange(5.0)
    kept.over((x, x + 1), (y, y + 1), compute)
    kept.over((x, x + 1), (y, y + 1), compute)
    assert asked == [(3, 5)]
    x, y = np.arange(4.0), np.sort(np.append(y, 0.5))
    kept.over((x, x + 1), (y, y + 1), compute)
    assert asked == [(3, 5), (4, 1), (1, 5)]
