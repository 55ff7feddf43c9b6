"""The envelope paper's numbers, stated and computed."""

from itertools import permutations

import mpmath as mp
import pytest

from borel.claims import reproduce
from borel.claims.envelopes import ldp_ratio, panels

mp.mp.dps = 40


@pytest.fixture(scope="module")
def found():
    return reproduce("envelopes")


def test_every_row_agrees_and_is_proved(found):
    assert len(found) == 24 and len({r.id for r in found}) == 24
    for row in found:
        assert row.agrees is True, row.id
        assert row.closed_form.status == "exact" and row.engine.status in ("exact", "certified")
        assert row.engine.width < 1e-13 and row.closed_form.width < 1e-13


def test_the_stated_numbers_are_the_papers(found):
    """Examples 2 and 3, Theorem 1 and Section III, to 40 digits."""
    ninth, twelfth = mp.log(mp.mpf(10) / 9), mp.mpf(13) / 180
    truth = [
        *(mp.log(4), ninth, mp.log(mp.mpf(6) / 5), twelfth, mp.mpf(2) / 27, 2 * twelfth),
        *(mp.mpf(1) / 20, ninth, mp.log(4), mp.log(4)),
    ]
    for row, value in zip(found, truth, strict=False):
        for bound in (row.closed_form, row.engine):
            assert mp.mpf(bound.lower) <= value <= mp.mpf(bound.upper), row.id


def test_the_panels_are_figure_2s():
    made = panels()
    assert [j.secret.size for j in made.values()] == [3, 5, 12, 20]
    for joint in made.values():
        kernel = joint.mechanism.matrix
        assert float(kernel[0, 0] / kernel[0, 1]) == pytest.approx(float(mp.e), rel=1e-14)
    assert [str(v) for v in made["c"].prior.probabilities[::3]] == [
        "7/120",
        "3/40",
        "11/120",
        "13/120",
    ]


def test_the_ldp_curve_is_the_worst_of_all_events_of_all_secrets():
    """By enumerating every event: P(E|x) <= e^epsilon P(E|x') + delta, first with equality."""
    kernel = panels()["b"].mechanism.matrix.tolist()
    for delta in (0.01, 0.1, 0.3, 0.9):
        worst = 1.0
        for p, q in permutations(kernel, 2):
            for event in range(1, 2**5):
                inside = [y for y in range(5) if event >> y & 1]
                a, b = (sum(row[y] for y in inside) for row in (p, q))
                worst = max(worst, (a - delta) / b)
        assert float(ldp_ratio(panels()["b"], delta)) == pytest.approx(worst, rel=1e-12)
