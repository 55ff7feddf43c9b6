"""Lower and upper expectations over sets of priors."""

from fractions import Fraction as F

import numpy as np
import pytest

import borel as bl

N = 4

P = bl.pmf([F(1, 8), F(3, 8), F(1, 4), F(1, 4)])

SETS = {
    "tv": lambda: bl.priors.tv_ball(bl.pmf([0.1, 0.4, 0.3, 0.2]), 0.15),
    "contamination": lambda: bl.priors.contamination(bl.pmf([0.1, 0.4, 0.3, 0.2]), 0.15),
    "kl to": lambda: bl.priors.kl_ball(P, 0.1, direction="to_centre"),
    "kl from": lambda: bl.priors.kl_ball(P, 0.1, direction="from_centre"),
    "chi to": lambda: bl.priors.chi_square_ball(P, 0.2, direction="to_centre"),
    "chi from": lambda: bl.priors.chi_square_ball(P, 0.2, direction="from_centre"),
    "band": lambda: bl.priors.box([0.05, 0.1, 0.2, 0.1], [0.3, 0.5, 0.6, 0.4]),
    "hull": lambda: bl.priors.hull([bl.pmf([0.1, 0.4, 0.3, 0.2]), bl.pmf([0.3, 0.3, 0.2, 0.2])]),
    "polytope": lambda: bl.priors.polytope([[1.0, -1.0, 0.3, 0.0]], [0.1], on=bl.Finite(N)),
    "moment": lambda: bl.priors.moment([0.0, 1.0, 2.0, 3.0], lower=1.2, upper=1.6, on=bl.Finite(N)),
}

PROVED = ["kl to", "kl from", "chi to", "chi from", "polytope", "moment"]

"""Those whose expectations are no closed forms: the others are exact."""

VALUES = {
    "floats": [0.3, -1.2, 2.5, 0.7],
    "fractions": [F(1, 3), F(-2, 7), F(0), F(5, 9)],
    "constant": [0.1, 0.1, 0.1, 0.1],
    "event": [0.0, 1.0, 0.0, 0.0],
}


@pytest.fixture
def found(request):
    name, values, figure = request.param
    return getattr(SETS[name](), figure)(VALUES[values])


def every(*, names=tuple(SETS), values=tuple(VALUES)):
    return [(name, v, figure) for name in names for v in values for figure in ("lower", "upper")]


@pytest.mark.few(34)
@pytest.mark.parametrize("found", every(), indirect=True, ids=lambda p: "-".join(p))
def test_every_expectation_is_enclosed(found):
    assert found.status in ("exact", "certified") and found.width <= 1e-11


@pytest.mark.few(3)
@pytest.mark.parametrize("values", VALUES)
@pytest.mark.parametrize("name", SETS)
def test_ends_hold_random_members(name, values):
    prior_set, v = SETS[name](), VALUES[values]
    low, high = prior_set.lower(v), prior_set.upper(v)
    for member in prior_set.members(30, 1):
        mean = float(np.dot(np.asarray(member.probabilities, float), np.asarray(v, float)))
        assert low.lower - 1e-12 <= mean <= high.upper + 1e-12


@pytest.mark.few(1)
@pytest.mark.parametrize("name", PROVED)
@pytest.mark.parametrize(
    "v", [[1e300, -1e300, 3e299, 0.0], [1e-300, 1.0, 1e300, -1e-5], [5e-324, 0.0, 0.0, 0.0]]
)
def test_extreme_values_have_an_enclosure(name, v):
    prior_set = SETS[name]()
    low, high = prior_set.lower(v), prior_set.upper(v)
    for member in prior_set.members(20, 2):
        q = [F(p) if isinstance(p, F) else F(float(p)) for p in member.probabilities]
        mean = sum(a * F(b) for a, b in zip(q, v, strict=True)) / sum(q)
        # members are on the edge, up to a rounding of their probabilities
        room = F(1, 2**40) * F(max(map(abs, v)))
        assert F(low.lower) - room <= mean <= F(high.upper) + room
    assert low.status == high.status == "certified"
    assert min(v) <= low.lower and high.upper <= max(v)


def test_fractions_that_are_no_floats_are_inside():
    third = [F(1, 3)] * N
    for name in SETS:
        for found in (SETS[name]().lower(third), SETS[name]().upper(third)):
            low, high = found.exact_ratio or (F(found.lower), F(found.upper))
            assert low <= F(1, 3) <= high


def test_more_than_a_float_holds_is_an_error():
    with pytest.raises(bl.InvalidInput, match="more than a float holds"):
        SETS["kl to"]().lower([10**400, 0, 0, 0])


def test_a_thousand_secrets():
    rng = np.random.default_rng(0)
    prior_set = bl.priors.kl_ball(bl.pmf(rng.dirichlet(np.ones(1000))), 0.1, direction="to_centre")
    found = prior_set.lower(rng.normal(size=1000))
    assert found.status == "certified" and found.width <= 1e-11
