"""The checker of f-information: it verifies what holds, and refuses the rest.

The truths are integrals by mpmath, between the kinks of what is integrated.
"""

import copy
import json
import math
from fractions import Fraction as F
from itertools import pairwise

import mpmath as mp
import numpy as np
import pytest
from engine.test_check import lines_of_code, modules_of_borel
from flint import arb, ctx

import borel as bl
from borel.audits.verification import verified, verify
from borel.engine.certificates.checks import informations as checker
from borel.engine.certificates.checks.informations import check_informations
from borel.engine.certificates.checks.reading import parsed

pytestmark = [pytest.mark.proofs, pytest.mark.usefixtures("with_certificates")]

SECRETS, MASSES = (-0.5, 0.0, 2.0), (0.25, 0.25, 0.5)
PRIOR = bl.pmf(MASSES, on=bl.Finite(list(SECRETS)))
REALS, HALF, UNIT = bl.Reals(), bl.Interval(0, None), bl.Interval(0, 1)


def laplace(y, x):
    return np.exp(-abs(y - x)) / 2


def normal(y, x):
    return np.exp(-((y - x) ** 2) / 2) / np.sqrt(2 * np.pi)


def cauchy(y, x):
    return 1 / (1 + (y - x) ** 2) / np.pi


def rate(y, x):
    return (1 + x) * np.exp(-(1 + x) * y)


def power(y, x):
    return (1 + x) * y**x


def box(y, x):
    return np.where((y >= x) & (y <= x + 1), 1.0, 0.0)


def late(y, x):
    return np.where(y >= x, np.exp(-(y - x)), 0.0)


KERNELS = {
    "laplace": (laplace, REALS, lambda y, x: mp.exp(-abs(y - x)) / 2),
    "normal": (normal, REALS, lambda y, x: mp.npdf(y, x, 1)),
    "cauchy": (cauchy, REALS, lambda y, x: 1 / (1 + (y - x) ** 2) / mp.pi),
    "rate": (rate, HALF, lambda y, x: (1 + x) * mp.exp(-(1 + x) * y)),
    "power": (power, UNIT, lambda y, x: (1 + x) * mp.mpf(y) ** x),
    "box": (box, REALS, lambda y, x: mp.mpf(x <= y <= x + 1)),
    "late": (late, REALS, lambda y, x: mp.exp(x - y) if y >= x else mp.mpf(0)),
}
PARTS = {
    "kl": (lambda k, f: k * mp.log(k / f) if k else mp.mpf(0), lambda s: s),
    "chi_square": (lambda k, f: k * k / f if k else mp.mpf(0), lambda s: s - 1),
    "total_variation": (min, lambda s: 1 - s),
    "squared_hellinger": (lambda k, f: mp.sqrt(k * f), lambda s: 1 - s),
}
NOT_CERTIFIED = {("cauchy", "total_variation")}
"""Left to an estimate: far out Arb does not tell the two sides of the minimum apart."""
CASES = [(k, f) for k in KERNELS for f in PARTS if (k, f) not in NOT_CERTIFIED]


def joint(name):
    density, outcome, _ = KERNELS[name]
    return PRIOR * bl.Mechanism(density, secret=PRIOR.on, outcome=outcome)


def truth(figure, k, marks, atoms=()):
    """Integrate between marks, by mpmath, and sum over atoms of the outcome: masses given x.

    The integrand has kinks, or jumps, at marks only; a minimum also where its sides cross.
    """
    part, of = PARTS[figure]

    def summed(ks):
        law = mp.fsum(p * v for p, v in zip(MASSES, ks, strict=True))
        return mp.fsum(p * part(v, law) for p, v in zip(MASSES, ks, strict=True))

    def apart(y, i):
        ks = [k(y, x) for x in SECRETS]
        return ks[i] - mp.fsum(p * v for p, v in zip(MASSES, ks, strict=True))

    cuts = sorted({mp.mpf(m) for m in marks})
    for a, b in pairwise(cuts) if part is min else ():
        low, high = max(a, -60), min(b, 60)
        grid = [low + (high - low) * mp.mpf(j + 0.37) / 600 for j in range(600)]
        for i in range(len(SECRETS)):
            values = [apart(y, i) for y in grid]
            cuts += [
                mp.findroot(lambda y, i=i: apart(y, i), pair, solver="anderson")
                for pair, ends in zip(pairwise(grid), pairwise(values), strict=True)
                if ends[0] * ends[1] < 0
            ]
    whole = mp.quad(lambda y: summed([k(y, x) for x in SECRETS]), sorted(cuts))
    return of(whole + mp.fsum(summed(masses) for masses in atoms))


def marks_of(name):
    """Return the ends of the outcomes, and where densities have kinks, jumps or poles."""
    outcome = KERNELS[name][1]
    lower = -mp.inf if outcome.lower is None else mp.mpf(outcome.lower)
    upper = mp.inf if outcome.upper is None else mp.mpf(outcome.upper)
    near_0 = [mp.mpf(2) ** -k for k in range(1, 150, 3)] if name == "power" else []
    inner = (m for x in SECRETS for m in (x, x + 1))
    return {lower, upper, *near_0, *(m for m in inner if lower < m < upper)}


@pytest.mark.parametrize(("name", "figure"), CASES)
def test_it_holds_the_truth_and_is_verified(name, figure):
    bound = bl.f_information(joint(name), figure)
    with mp.workdps(25):
        value = truth(figure, KERNELS[name][2], marks_of(name))
    assert bound.lower <= value <= bound.upper and bound.width <= 1e-8
    report = check_informations(bound.certificate)
    assert report.ok and report.scope == f"{figure} of secret and outcome"


@pytest.mark.parametrize(("name", "figure"), [("laplace", f) for f in PARTS] + [("rate", "kl")])
def test_what_is_beside_the_truth_is_refused(name, figure):
    bound = bl.f_information(joint(name), figure)
    width = bound.width
    for lower, upper in (
        (bound.upper, bound.upper + width),
        (bound.lower - width, bound.lower),
        (bound.upper, bound.lower),
        (math.nan, bound.upper),
    ):
        made = {**bound.certificate, "lower": lower, "upper": upper}
        assert not check_informations(made).ok


@pytest.mark.parametrize("figure", PARTS)
def test_outcomes_with_atoms(figure):
    """Clipped noise: masses at both ends, and a density between."""
    made = PRIOR * bl.mechanisms.gaussian(sigma=1.0, secret=PRIOR.on).clip(0.0, 1.5)
    bound = bl.f_information(made, figure)
    with mp.workdps(25):
        below = [mp.ncdf(0, x, 1) for x in SECRETS]
        above = [mp.ncdf(-1.5, -x, 1) for x in SECRETS]
        marks = [mp.mpf(j) / 4 for j in range(7)]
        value = truth(figure, KERNELS["normal"][2], marks, (below, above))
    assert bound.lower <= value <= bound.upper and bound.width <= 1e-9
    assert check_informations(bound.certificate).ok
    lost = copy.deepcopy(bound.certificate)
    lost["outcome"]["atoms"] = lost["outcome"]["atoms"][:1]
    assert not check_informations(lost).ok


CONDITIONS = {
    "at most": lambda x: x <= 0,
    "less": lambda x: x < 1,
    "more": lambda x: np.logical_not(x > 0),
    "equal": lambda x: x == 0,
    "not equal": lambda x: x != 1,
    "a number": np.logical_not,
}


@pytest.mark.parametrize("figure", PARTS)
@pytest.mark.parametrize("name", CONDITIONS)
def test_conditions_at_a_secret_are_about_it_alone(name, figure):
    """A secret of positive mass is no null set: what the kernel is beside it does not matter."""
    is_0 = CONDITIONS[name]
    prior = bl.pmf([0.5, 0.5], on=bl.Finite([0.0, 1.0]))
    atom = bl.Mechanism(
        lambda y, x: np.where(is_0(x), 0.25, 0.75) + 0 * y,
        masses={0.5: lambda x: np.where(is_0(x), 0.75, 0.25)},
        secret=prior.on,
        outcome=bl.Mixed(UNIT, atoms=[0.5]),
    )
    steps = bl.Mechanism(
        lambda y, x: np.where(is_0(x), np.where(y < 0.5, 1.5, 0.5), np.where(y < 0.5, 0.5, 1.5)),
        secret=prior.on,
        outcome=UNIT,
    )
    logs = bl.Mechanism(
        lambda y, x: np.where(is_0(x), np.log(np.where(y < 0.5, 1.5, 0.5)),
                              np.log(np.where(y < 0.5, 0.5, 1.5))),
        secret=prior.on, outcome=UNIT, log=True)  # fmt: skip
    matrix = bl.Mechanism.from_matrix([[F(3, 4), F(1, 4)], [F(1, 4), F(3, 4)]])
    exact = bl.f_information(bl.pmf([F(1, 2), F(1, 2)]) * matrix, figure)
    for mechanism in (atom, steps, logs):
        bound = bl.f_information(prior * mechanism, figure)
        assert bound.lower <= exact.lower and exact.upper <= bound.upper
        assert bound.proved and bound.width <= 1e-9
        assert check_informations(bound.certificate).ok


def of_laplace(figure="kl"):
    return bl.f_information(joint("laplace"), figure).certificate


def changed(*path, to):
    made = copy.deepcopy(of_laplace())
    place = made
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = to
    return made


DENSITY = bl.uniform(UNIT)


@pytest.mark.parametrize(
    ("path", "to"),
    [
        (("quantity",), "pml"),
        (("quantity",), "mutual_information"),
        (("format",), 2),
        (("claim", "type"), "mean"),
        (("claim", "figure"), "chi_square"),
        (("claim", "figure"), "mean"),
        (("claim", "cover"), [-math.inf, 0.0]),
        (("claim", "cover"), [-0.5, 0.0, 2.0]),
        (("claim", "cover"), [-math.inf, 2.0, 0.0, math.inf]),
        (("claim", "marginal"), {"nodes": [["const", [0.0]]], "inputs": ["y"]}),
        (("prior", "atoms"), [[-0.5, 0.5, 0.5], [0.0, 0.25, 0.25], [2.0, 0.25, 0.25]]),
        (("prior", "atoms"), [[-0.5, 0.25, 0.25], [0.0, 0.25, 0.25]]),
        (("prior", "atoms"), [[-0.5, 0.25, 0.25], [-0.5, 0.25, 0.25], [2.0, 0.5, 0.5]]),
        (("prior", "graph"), DENSITY.density.graph.to_json()),
        (("outcome", "lower"), 0.0),
        (("outcome", "points"), [0.0, 1.0]),
        (("kernel", "log"), True),
        (("lower",), "0.1"),
    ],
)
def test_a_changed_certificate_is_refused(path, to):
    assert check_informations(of_laplace()).ok
    assert not check_informations(changed(*path, to=to)).ok


@pytest.mark.parametrize("figure", PARTS)
def test_a_claim_stands_for_no_other_figure(figure):
    made = of_laplace(figure)
    for other in set(PARTS) - {figure}:
        assert not check_informations({**made, "claim": {**made["claim"], "figure": other}}).ok


def test_borel_check_knows_what_it_is_about(tmp_path):
    bound = bl.mutual_information(joint("laplace"))
    assert verified("mutual_information", bound).outcome == "verified"
    for name in ("pml", "maximal_leakage", "pml/law/mean"):
        assert verified(name, bound).outcome == "refused"
    chi = bl.f_information(joint("laplace"), "chi_square")
    assert verified("mutual_information", chi).outcome == "refused"
    assert verified("mutual_information", bl.pml(joint("laplace")).mean()).outcome == "refused"
    path = tmp_path / "figure.json"
    path.write_text(json.dumps(bound.certificate), encoding="utf-8")
    (found,) = verify(path)
    assert found.outcome == "verified" and "kl of secret and outcome" in found.words


@pytest.mark.parametrize("secrets", [2, 16, 24])
def test_many_secrets(secrets):
    """The outer ones are as good as one on the line: 1 - TV from sums of exponentials."""
    on = bl.Finite(secrets)
    made = bl.uniform(on) * bl.Mechanism(laplace, secret=on, outcome=REALS)
    bound = bl.mutual_information(made)
    assert bound.status == "certified" and bound.width <= 1e-8
    with mp.workdps(20):

        def law(y):
            return sum(mp.exp(-abs(y - x)) / 2 for x in range(secrets)) / secrets

        # h(Y) - h(Y|X), the latter 1 + log 2
        marks = [-mp.inf, *range(secrets), mp.inf]
        value = -mp.quad(lambda y: law(y) * mp.log(law(y)), marks) - 1 - mp.log(2)
    assert bound.lower <= value <= bound.upper
    assert verified("mutual_information", bound).outcome == "verified"


def test_a_secret_that_is_impossible_changes_nothing():
    on = bl.Finite([-0.5, 0.0, 1.0, 2.0])
    made = bl.pmf([0.25, 0.25, 0.0, 0.5], on=on) * bl.Mechanism(laplace, secret=on, outcome=REALS)
    bound, other = bl.mutual_information(made), bl.mutual_information(joint("laplace"))
    assert max(bound.lower, other.lower) <= min(bound.upper, other.upper)
    assert check_informations(bound.certificate).ok


SHARES = {  # boxes, and the part of the secret that is rarest there
    "laplace": [(-math.inf, -4.0), (-4.0, -0.5), (-0.5, 0.0), (0.25, 0.5), (2.0, math.inf)],
    "rate": [(0.0, 0.5), (0.5, 0.75), (8.0, math.inf)],
    "power": [(0.0, 2.0**-40), (0.25, 0.5), (0.5, 1.0)],
}


def exactly(end):
    """Return an exact Arb number as one of mpmath."""
    if not end.is_finite():
        return mp.inf
    mantissa, exponent = end.man_exp()
    return mp.mpf(int(mantissa)) * mp.mpf(2) ** int(exponent)


def shares_that_fail(name, figure):
    """Return the boxes of which the integral is not within what the checker says."""
    _, _, k = KERNELS[name]
    part, _ = PARTS[figure]
    with ctx.workprec(128), mp.workdps(45):
        work = checker._Information(parsed(CERTIFICATES[name, figure]))
        assert not work.failures

        def total(y):
            f = sum(p * k(y, x) for p, x in zip(MASSES, SECRETS, strict=True))
            return sum(p * part(k(y, x), f) for p, x in zip(MASSES, SECRETS, strict=True))

        out = []
        for a, b in SHARES[name]:
            low, high = (exactly(end.mid()) for end in work.share(a, b))
            value = mp.quad(total, mp.linspace(a, b, 9) if math.isfinite(b - a) else [a, b])
            out += [(a, b)] if not low <= value <= high else []
    return out


CERTIFICATES = {
    (name, figure): bl.f_information(joint(name), figure).certificate
    for name in SHARES
    for figure in PARTS
    if (name, figure) not in NOT_CERTIFIED
}


@pytest.mark.parametrize(("name", "figure"), CERTIFICATES)
def test_parts_are_enclosed(name, figure):
    assert shares_that_fail(name, figure) == []


@pytest.mark.parametrize(
    ("method", "wrong", "figure"),
    [
        ("at_most", lambda self, mass: arb(0), "kl"),  # a lost tail
        ("at_most", lambda self, mass: mass / 4, "chi_square"),
        ("at_most", lambda self, mass: mass / 4, "total_variation"),
        ("rarest", lambda self: 1 - 2.0**-8 * arb(1), "kl"),
        ("integrand", lambda self, y, f: f[0.0], "squared_hellinger"),
        ("integrand", lambda self, y, f: f[0.0], "kl"),
    ],
)
def test_a_broken_checker_is_seen(monkeypatch, method, wrong, figure):
    monkeypatch.setattr(checker._Information, "total", lambda self, *about: True)
    monkeypatch.setattr(checker._Information, method, wrong)
    assert any(shares_that_fail(n, figure) for n in SHARES if (n, figure) in CERTIFICATES)


def test_it_is_small_and_shares_nothing_with_the_kernels():
    assert lines_of_code(checker) <= 90
    used = modules_of_borel(checker)
    assert all(name.startswith("borel.engine.certificates.checks.") for name in used)


@pytest.mark.parametrize("figure", ["total_variation", "squared_hellinger"])
def test_an_outcome_that_tells_nothing(figure):
    """That it is not negative needs no proof: as floats the density integrates to more than 1."""
    same = bl.Mechanism(
        lambda y, x: np.log(0.5) + 0 * (y + x),
        secret=PRIOR.on,
        outcome=bl.Interval(-2, 0),
        log=True,
    )
    found = bl.f_information(PRIOR * same, figure)
    assert found.lower == 0 and found.upper < 1e-9
    assert check_informations(found.certificate).ok
