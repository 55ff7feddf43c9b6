"""Secrets on an unbounded line that the kernel clips, or saturates: suprema over all outcomes.

The truths are integrals by mpmath at 25 digits: with Laplace noise of scale 1 on w(X) in [a, b],
the leakage beyond the ends is log e^b / E e^w or log E e^-w / e^-b, and so on.
"""

import json
import re

import mpmath as mp
import numpy as np
import pytest
from scipy import stats

import borel as bl
from borel.engine.continuous.outcome_engine import CertifiedOutcomes
from borel.engine.kernels import leakage_far_out, unbounded_secrets
from borel.numerics.graphs.dependence import through
from borel.numerics.graphs.trace import trace
from borel.numerics.jets.interpreter import Program

mp.mp.dps = 25
INF = np.inf


def _read(made):
    return json.loads(re.sub(r'"(-?Infinity)"', r"\1", json.dumps(made)))


def clipped(x):
    return np.clip(x, -1, 1)


def laplace_noise(of):
    return lambda y, x: np.exp(-abs(y - of(x))) / 2


def joint(prior, of, noise=laplace_noise):
    return prior * bl.Mechanism(noise(of), secret=prior.on, outcome=bl.Reals())


def mean(of, density, cuts):
    """Return E of(X) by quadrature between cuts."""
    return mp.quad(lambda x: of(x) * density(x), cuts)


def normal(x):
    return mp.npdf(x)


def cauchy(x):
    return 1 / (mp.pi * (1 + x * x))


def rest(of_density, cut):
    return mp.quad(of_density, [cut, 10 * cut, mp.inf])


UP = {  # E e^w: w, the prior's density, and the cuts; the largest w and the least
    "clip": (clipped, bl.normal(), lambda: mean(mp.exp, normal, [-1, 0, 1])
             + (mp.e + 1 / mp.e) * mp.ncdf(-1), 1, -1),
    "tanh": (np.tanh, bl.normal(), lambda: mean(
        lambda x: mp.exp(mp.tanh(x)), normal, [-mp.inf, -2, 0, 2, mp.inf]), 1, -1),
    "heavy": (clipped, bl.cauchy(), lambda: mean(mp.exp, cauchy, [-1, 0, 1])
              + (mp.e + 1 / mp.e) * (mp.mpf(1) / 4), 1, -1),
    "half_line": (lambda x: np.minimum(x, 2), bl.exponential(), lambda: mp.mpf(3), 2, 0),
    "rational": (lambda x: x / (1 + x), bl.exponential(), lambda: mean(
        lambda x: mp.exp(x / (1 + x) - x), lambda x: 1, [0, 1, 5, 40, mp.inf]), 1, 0),
    "unnamed": (clipped, bl.from_scipy(stats.logistic()), lambda: mean(
        mp.exp, lambda x: mp.sech(x / 2) ** 2 / 4, [-1, 0, 1])
        + (mp.e + 1 / mp.e) / (1 + mp.e), 1, -1),
}  # fmt: skip


@pytest.mark.few(1)
@pytest.mark.cases("slow", "unnamed")
@pytest.mark.parametrize("name", UP)
def test_beyond_what_the_secrets_lead_to_the_leakage_is_known(name):
    of, prior, expected, most, least = UP[name]
    surface, up = CertifiedOutcomes(joint(prior, of)).surface, expected()
    truths = {"pml": most - mp.log(up), "pmc": mp.log(up) - least, "ldp": mp.mpf(most - least)}
    for kind, truth in truths.items():
        for ends in ((most, INF), (most + 2.0, INF), (most + 1.0, most + 9.0)):
            low, high = leakage_far_out.leakage(surface, kind, *map(float, ends))
            assert low <= truth <= high
            assert high - low <= 1e-8, (name, kind, high - low)


@pytest.mark.truths
@pytest.mark.parametrize(("kind", "name"), [("pml", "clip"), ("pmc", "clip"), ("pmc", "half_line")])
def test_suprema_are_certified(kind, name):
    of, prior, expected, most, least = UP[name]
    found = (bl.pml if kind == "pml" else bl.pmc)(joint(prior, of)).sup()
    truth = {
        ("pml", "clip"): lambda: most - mp.log(expected()),
        ("pmc", "clip"): lambda: mp.log(expected()) - least,
        # of the two sides, below the secrets: E e^-w, w = min(X, 2)
        ("pmc", "half_line"): lambda: mp.log((1 + mp.exp(-4)) / 2) + most,
    }[kind, name]()
    assert found.status == "certified"
    assert found.lower <= truth <= found.upper
    assert found.upper - found.lower <= 1e-8


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["pml", "pmc"])
@pytest.mark.parametrize("name", ["tanh", "rational", "heavy", "unnamed"])
def test_more_suprema_are_bounded(kind, name):
    of, prior, expected, most, least = UP[name]
    found = (bl.pml if kind == "pml" else bl.pmc)(joint(prior, of)).sup()
    beyond = most - mp.log(expected()) if kind == "pml" else mp.log(expected()) - least
    assert beyond <= found.upper  # one side of the secrets
    assert found.upper - found.lower <= 2e-3


def test_a_jump_far_away_counts():
    """A value that no sample ever shows, on a set of positive mass: PMC sees it."""
    found = leakage_far_out.leakage(
        CertifiedOutcomes(joint(bl.normal(), rare)).surface, "pmc", 1.0, INF
    )  # fmt: skip
    truth = mp.log(UP["clip"][2]()) + 5
    assert found[0] <= truth <= found[1]
    low, _ = leakage_far_out.leakage(
        CertifiedOutcomes(joint(bl.normal(), rare)).surface, "pml", 1.0, INF
    )
    assert low <= 1 - mp.log(UP["clip"][2]())


def rare(x):
    return np.where(x > 30, -5.0, np.clip(x, -1, 1))


def program(density):
    return Program(trace(density, ("y", "x"), ()))


@pytest.mark.parametrize(
    "density",
    [
        lambda y, x: -abs(y - x),  # not bounded
        lambda y, x: np.where(np.clip(x, -1, 1) == 1, -y, y),  # an atom of the clipped value
        lambda y, x: -abs(np.floor(y + np.tanh(x))),
        lambda y, x: -abs(y - np.tanh(y * x)),  # not through functions of x alone
        lambda y, x: -((y - np.tanh(x)) ** 2),  # its slope is not bounded in y
        lambda y, x: -abs(y - np.sin(x) * x),
    ],
)
def test_what_is_not_known_beyond_the_cuts_is_infinite(density):
    assert unbounded_secrets.reach(program(density), 9.0, INF, (1.0, INF)) == INF


@pytest.mark.parametrize(
    ("of", "truth"),
    [
        (np.tanh, lambda c: 1 - mp.tanh(c)),
        (np.arctan, lambda c: mp.pi / 2 - mp.atan(c)),
        (lambda x: 3 * np.clip(x, -1, 1), lambda c: mp.mpf(0)),
        (lambda x: np.sin(x), lambda c: mp.mpf(2)),
        (lambda x: np.tanh(x) - np.arctan(x), lambda c: mp.pi / 2 - mp.atan(c) - 1 + mp.tanh(c)),
    ],
)
def test_how_log_f_varies_beyond_a_cut(of, truth):
    for start in (1.0, 3.0, 9.0):
        found = unbounded_secrets.reach(
            program(lambda y, x: -abs(y - of(x))), start, INF, (4.0, INF)
        )
        assert truth(start) <= found <= 3 * truth(start) + mp.mpf("1e-14")


def test_functions_of_the_secret_alone():
    graph = trace(lambda y, x: np.tanh(x) * y + np.exp(x) - x, ("y", "x"), ())
    outer, inner = through(graph)
    assert sorted(outer.inputs) == ["w0", "w1", "w2", "y"]
    assert sorted(len(g.nodes) for g in inner) == [1, 2, 2]
    assert all(g.inputs == ("x",) for g in inner)
    alone, (whole,) = through(trace(lambda y, x: np.exp(-x), ("y", "x"), ()))
    assert alone.nodes == (("input", ("w0",)),)
    assert whole.operations == {"exp", "negative"}


@pytest.mark.truths
def test_noise_on_a_function_of_the_secret_is_normalised():
    found = bl.pml(joint(bl.normal(), clipped)).sup()
    assert not [a for a in found.assumptions if "checked" in a]

    def of_mass(total):
        noise = lambda of: lambda y, x: total * np.exp(-abs(y - of(x))) / 2  # noqa: E731
        return joint(bl.normal(), clipped, noise)

    with pytest.raises(bl.InvalidInput, match="proved to miss 1 by 5e-08"):
        bl.pml(of_mass(1 - 5e-8)).sup()
    # too near to 1 for that proof: covered, as the assumption says
    near = bl.pml(of_mass(1 - 1e-11)).sup()
    assert near.lower <= found.upper and found.lower <= near.upper
    assert "kernel normalised: proved within 2e-11" in near.assumptions
