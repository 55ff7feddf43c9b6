"""Certificates over sets of priors: they hold the truth, and what is false is refused.

The truths are lower expectations that are solved here: by greedy transport and vertices in
Fractions, and for divergence balls of a bit by a root at 40 digits.
"""

import copy
import itertools
import json
import math
from fractions import Fraction as F

import mpmath as mp
import numpy as np
import pytest
from engine.test_check import lines_of_code, modules_of_borel
from flint import arb, ctx, fmpq

import borel as bl
from borel.audits.verification import verified, verify
from borel.engine.certificates import making
from borel.engine.certificates.checks import composition, prior_sets, set_expectations, set_rules
from borel.engine.certificates.checks.composition import checked
from borel.engine.certificates.checks.reading import parsed
from borel.engine.certificates.checks.set_expectations import Priors
from borel.engine.certificates.checks.taylor_models import axis, exponential, model

pytestmark = [pytest.mark.proofs, pytest.mark.usefixtures("with_certificates")]

REALS, UNIT = bl.Reals(), bl.Interval(0, 1)
X = bl.Finite([0.0, 1.0, 3.0])
P, Q = [F(1, 5), F(3, 10), F(1, 2)], [F(1, 2), F(1, 4), F(1, 4)]
BIT, HALF = bl.Finite([0.0, 1.0]), [F(1, 3), F(2, 3)]


def laplace(secret):
    return bl.Mechanism(lambda y, x: np.exp(-abs(y - x)) / 2, secret=secret, outcome=REALS)


def normal(secret):
    return bl.Mechanism(
        lambda y, x: np.exp(-((y - x) ** 2) / 2) / np.sqrt(2 * np.pi),
        secret=secret,
        outcome=REALS,
    )


def response(secret):
    """A kernel of three outcomes, by a density."""
    return bl.Mechanism(
        lambda y, x: np.exp(-abs(y - x)) / (np.exp(-x) + np.exp(-abs(1 - x)) + np.exp(-abs(3 - x))),
        secret=secret,
        outcome=bl.Finite([0.0, 1.0, 3.0]),
    )


KERNELS = {"laplace": laplace, "normal": normal}
prior = bl.pmf(P, on=X)
SETS = {
    "tv": bl.priors.tv_ball(prior, F(1, 10)),
    "wide tv": bl.priors.tv_ball(prior, F(3, 5)),
    "no radius": bl.priors.tv_ball(prior, 0),
    "contamination": bl.priors.contamination(prior, F(1, 10)),
    "floats": bl.priors.contamination(bl.pmf([0.2, 0.3, 0.5], on=X), 0.1),
    "band": bl.priors.box([F(1, 10), F(1, 5), F(3, 10)], [F(2, 5), F(1, 2), F(3, 5)], on=X),
    "hull": bl.priors.hull([prior, bl.pmf(Q, on=X)]),
    "moment": bl.priors.moment(lambda x: x, lower=1.0, upper=1.5, on=X),
    "both": bl.priors.tv_ball(prior, F(1, 10)) & bl.priors.moment(lambda x: x, upper=1.75, on=X),
    "full": bl.priors.full_support(X),
}


def expectation(name, v):
    """Return the lower expectation of three numbers over one of the sets, exactly."""
    v = [mp.mpf(a) for a in v]
    p = [mp.mpf(a.numerator) / a.denominator for a in P]
    if name in ("contamination", "floats"):
        return mp.mpf(9) / 10 * mp.fdot(p, v) + min(v) / 10
    if name == "full":
        return min(v)
    corners = [P, Q] if name == "hull" else [P] if name == "no radius" else CORNERS[name]
    means = (mp.fsum(decimal(a) * b for a, b in zip(q, v, strict=True)) for q in corners)
    return min(means)


def decimal(a):
    return mp.mpf(a.numerator) / a.denominator


def transport(r):
    """The inequalities of a ball of total variation: no event gains more than r."""
    events = [e for k in (1, 2) for e in itertools.combinations(range(3), k)]
    rows = [[F(int(k in e)) for k in range(3)] for e in events]
    return [(row, sum(P[k] for k in e) + r) for row, e in zip(rows, events, strict=True)]


def corners_of(rules):
    """Every corner of {q in the simplex: a.q <= b}, from pairs of equations, by Cramer's rule."""
    signs = [([F(-int(j == k)) for j in range(3)], F(0)) for k in range(3)]
    found = []
    for (a, b), (c, d) in itertools.combinations([*rules, *signs], 2):
        # q2 = 1 - q0 - q1 in both
        m = [[a[0] - a[2], a[1] - a[2]], [c[0] - c[2], c[1] - c[2]]]
        det = m[0][0] * m[1][1] - m[0][1] * m[1][0]
        if det:
            u, v = b - a[2], d - c[2]
            q = [(u * m[1][1] - m[0][1] * v) / det, (m[0][0] * v - u * m[1][0]) / det]
            q.append(1 - sum(q))
            fits = (sum(x * y for x, y in zip(r, q, strict=True)) <= e for r, e in [*rules, *signs])
            if all(fits):
                found.append(q)
    return found


MEAN, EYE = [F(0), F(1), F(3)], [[F(int(j == k)) for j in range(3)] for k in range(3)]
CORNERS = {
    "tv": corners_of(transport(F(1, 10))),
    "wide tv": corners_of(transport(F(3, 5))),
    "band": corners_of(
        [*zip(EYE, [F(2, 5), F(1, 2), F(3, 5)], strict=True)]
        + [
            ([-v for v in row], -b)
            for row, b in zip(EYE, [F(1, 10), F(1, 5), F(3, 10)], strict=True)
        ]
    ),
    "moment": corners_of([(MEAN, F(3, 2)), ([-v for v in MEAN], F(-1))]),
    "both": corners_of([*transport(F(1, 10)), (MEAN, F(7, 4))]),
}


def density(kernel, y, x):
    y, x = mp.mpf(y), mp.mpf(x)
    return mp.exp(-abs(y - x)) / 2 if kernel == "laplace" else mp.npdf(y, x, 1)


def truth(name, kernel, leakage, y):
    f = [density(kernel, y, x) for x in (0, 1, 3)]
    if leakage == "pml":
        return mp.log(max(f) / expectation(name, f))
    return mp.log(-expectation(name, [-v for v in f]) / min(f))


def at(joint, leakage, y):
    return getattr(bl, leakage)(joint)(y)


CASES = list(itertools.product(SETS, KERNELS, ("pml", "pmc"), (-1.5, 0.4, 2.0)))


@pytest.fixture(scope="module", params=CASES, ids=lambda c: "-".join(map(str, c)))
def outcome(request):
    name, kernel, leakage, y = request.param
    bound = at(SETS[name] * KERNELS[kernel](X), leakage, y)
    with mp.workdps(40):
        return name, bound, truth(name, kernel, leakage, y), leakage


def test_a_figure_at_one_outcome_is_verified_and_holds_the_truth(outcome):
    _, bound, true, leakage = outcome
    found = verified(f"{leakage}/one outcome", bound)
    assert found.outcome == "verified", found.words
    assert bound.lower <= true <= bound.upper and bound.width < 1e-10


def test_what_is_false_at_one_outcome_is_refused(outcome):
    _, bound, true, _ = outcome
    for ends in ((float(true) + 1e-9, math.inf), (0.0, max(float(true) - 1e-9, 0.0))):
        if ends[1] == 0.0 and true <= 0:
            continue
        made = {**copy.deepcopy(bound.certificate), "lower": ends[0], "upper": ends[1]}
        assert checked(made).failures


SUPREMA = [c for c in itertools.product(SETS, KERNELS, ("pml", "pmc"))]


@pytest.mark.parametrize(("name", "kernel", "leakage"), SUPREMA)
def test_suprema_are_verified_and_no_outcome_exceeds_them(name, kernel, leakage):
    joint = SETS[name] * KERNELS[kernel](X)
    bound = getattr(bl, leakage)(joint).sup()
    if not bound.certificate:  # of PML there is none where members may have as little as one likes
        assert (leakage, kernel, bound.lower) == ("pml", "normal", math.inf)
        return
    found = verified(leakage, bound)
    assert found.outcome == "verified", found.words
    with mp.workdps(40):
        values = [truth(name, kernel, leakage, y) for y in (-9, -1, 0, 0.5, 1, 2, 3, 4, 12)]
    assert max(values) <= bound.upper
    if kernel == "laplace":
        assert bound.lower <= max(values) + 1e-12  # it is reached beyond the secrets
        low = {**copy.deepcopy(bound.certificate), "upper": float(max(values)) - 1e-9}
        assert checked({**low, "lower": 0.0}).failures
        high = {**copy.deepcopy(bound.certificate), "lower": bound.upper + 1e-9}
        assert checked({**high, "upper": "Infinity"}).failures


# -- divergence balls of a bit: a root at 40 digits -----------------------------------------------

DIVERGENCES = {
    ("kl", "to_centre"): lambda q, p: sum(
        a * mp.log(a / b) for a, b in zip(q, p, strict=True) if a
    ),
    ("kl", "from_centre"): lambda q, p: sum(b * mp.log(b / a) for a, b in zip(q, p, strict=True)),
    ("chi_square", "to_centre"): lambda q, p: sum(a * a / b for a, b in zip(q, p, strict=True)) - 1,
    ("chi_square", "from_centre"): lambda q, p: (
        sum(b * b / a for a, b in zip(q, p, strict=True)) - 1
    ),
}


def ball(kind, radius):
    make = bl.priors.kl_ball if kind[0] == "kl" else bl.priors.chi_square_ball
    return make(bl.pmf(HALF, on=BIT), radius, direction=kind[1])


def ends_of_ball(kind, radius):
    """The least and the largest probability of the second value."""
    p = [mp.mpf(1) / 3, mp.mpf(2) / 3]

    def gap(t):
        return DIVERGENCES[kind]([1 - t, t], p) - radius

    def root(inside, outside):
        if gap(outside) <= 0:
            return outside
        for _ in range(140):
            middle = (inside + outside) / 2
            inside, outside = (middle, outside) if gap(middle) <= 0 else (inside, middle)
        return inside

    tiny = mp.mpf(10) ** -38
    return root(p[1], tiny), root(p[1], 1 - tiny)


@pytest.mark.parametrize("kind", DIVERGENCES, ids="-".join)
@pytest.mark.parametrize("radius", [0.0078125, 0.125, 0.5, 3.0])
@pytest.mark.parametrize("y", [-0.5, 0.25, 2.0])
def test_divergence_balls_of_a_bit(kind, radius, y):
    joint = ball(kind, radius) * laplace(BIT)
    with mp.workdps(40):
        f = [density("laplace", y, x) for x in (0, 1)]
        # at the ends of what is a wide ball the probability is 0 in the limit
        means = [(1 - t) * f[0] + t * f[1] for t in ends_of_ball(kind, mp.mpf(radius))]
        true = {"pml": mp.log(max(f) / min(means)), "pmc": mp.log(max(means) / min(f))}
    for leakage, value in true.items():
        bound = at(joint, leakage, y)
        assert bound.lower <= value <= bound.upper
        found = verified(f"{leakage}/one outcome", bound)
        assert found.outcome == "verified", found.words
        low = {**bound.certificate, "lower": 0.0, "upper": float(value) - 1e-9}
        high = {**bound.certificate, "lower": float(value) + 1e-9, "upper": "Infinity"}
        assert checked(low).failures and checked(high).failures


@pytest.mark.parametrize("kind", DIVERGENCES, ids="-".join)
def test_suprema_over_divergence_balls(kind):
    make = bl.priors.kl_ball if kind[0] == "kl" else bl.priors.chi_square_ball
    joint = make(prior, F(1, 10), direction=kind[1]) * laplace(X)
    for leakage in ("pml", "pmc"):
        bound = getattr(bl, leakage)(joint).sup()
        assert verified(leakage, bound).outcome == "verified" and bound.width < 1e-8
    both = bl.lip(joint)
    assert verified("lip", both).outcome == "verified"
    assert verified("ldp", bl.ldp(joint)).outcome == "verified"


# -- lower expectations, by themselves ------------------------------------------------------------


def number(v):
    return fmpq(v.numerator, v.denominator)


def described(rng, kind, n):
    """A random set as data, and a function: its lower expectation by other means."""
    p = [F(int(k)) for k in rng.integers(0 if kind != "band" else 1, 20, size=n)]
    p = [v / sum(p) for v in p] if sum(p) else [F(1, n)] * n
    size = F(int(rng.integers(0, 64)), 64)
    pair = lambda v: [v.numerator, v.denominator]  # noqa: E731
    wide = [[float(np.nextafter(float(v), -1)), float(np.nextafter(float(v), 2))] for v in p]
    wide = [
        [max(a, 0.0), min(b, 1.0)] if v else [0.0, 0.0] for (a, b), v in zip(wide, p, strict=True)
    ]
    around = {"kind": kind, "centre": wide, "size": pair(size)}
    inside = [k for k in range(n) if size or p[k]]
    if kind == "tv":

        def least(v):
            q, left = list(p), size
            low = min(inside, key=lambda k: v[k])
            for k in sorted(inside, key=lambda k: v[k], reverse=True):
                moved = min(q[k], left) if k != low else 0
                q[k], q[low], left = q[k] - moved, q[low] + moved, left - moved
            return sum(a * b for a, b in zip(q, v, strict=True))

        return around, least
    if kind == "contamination":
        return (
            around,
            lambda v: (
                (1 - size) * sum(a * b for a, b in zip(p, v, strict=True))
                + size * min(v[k] for k in inside)
            ),
        )
    if kind == "band":
        low = [v * F(int(rng.integers(0, 9)), 8) for v in p]
        high = [min(v * F(int(rng.integers(8, 20)), 8), F(1)) for v in p]

        def least(v):
            q, left = list(low), 1 - sum(low)
            for k in sorted(range(n), key=lambda k: v[k]):
                more = min(high[k] - q[k], left)
                q[k], left = q[k] + more, left - more
            return sum(a * b for a, b in zip(q, v, strict=True))

        ends = {"lower": [*map(pair, low)], "upper": [*map(pair, high)], "open": False}
        return {"kind": kind, **ends}, least
    q = [F(1, n)] * n
    even = [[float(np.nextafter(1 / n, -1)), min(float(np.nextafter(1 / n, 2)), 1.0)]] * n
    return {"kind": "hull", "corners": [wide, even]}, lambda v: min(
        sum(a * b for a, b in zip(law, v, strict=True)) for law in (p, q)
    )


@pytest.mark.parametrize("kind", ["tv", "contamination", "band", "hull"])
def test_lower_expectations_are_never_overrated(kind):
    rng = np.random.default_rng(7)
    proved = missed = 0
    for _ in range(150):
        n = int(rng.integers(1, 6))
        about, least = described(rng, kind, n)
        v = [F(int(a), 16) for a in rng.integers(-40, 60, size=n)]
        middle = least(v)
        for shift in (F(-1, 10**6), F(-1, 10**12), F(1, 10**12), F(1, 10**6)):
            w = [model(arb(number(a - middle + shift))) for a in v]
            with ctx.workprec(128):
                found = Priors(about).never_negative(w)
            assert not found or shift > 0
            proved += found and shift == F(1, 10**6)
            missed += not found and shift == F(1, 10**6)
    assert proved > 130 and missed < 20


@pytest.mark.parametrize("kind", [*DIVERGENCES], ids="-".join)
def test_lower_expectations_over_divergence_balls_are_never_overrated(kind):
    rng = np.random.default_rng(11)
    name = f"{kind[0]}_{kind[1]}"
    refused = 0
    for _ in range(60):
        n = int(rng.integers(2, 6))
        p = rng.dirichlet(np.ones(n))
        q = rng.dirichlet(np.ones(n))
        with mp.workdps(40):
            exact = [mp.mpf(float(a)) for a in p], [mp.mpf(float(a)) for a in q]
            exact = [[a / mp.fsum(law) for a in law] for law in exact]
            radius = DIVERGENCES[kind](exact[1], exact[0])
        up = [
            [float(np.nextafter(a, 0) * (1 - 1e-15)), float(np.nextafter(a, 2) * (1 + 1e-15))]
            for a in p
        ]
        size = F(float(radius)) * (1 + F(1, 10**9))  # q is inside
        about = {"kind": name, "centre": up, "size": [size.numerator, size.denominator]}
        v = rng.normal(size=n)
        shift = float(q @ v) + 1e-9 * (1 + np.abs(v).max())  # E_q (v - shift) < 0
        w = [model(arb(float(a))) - arb(shift) for a in v]
        with ctx.workprec(128):
            refused += not Priors(about).never_negative(w)
    assert refused == 60


@pytest.mark.parametrize("kind", ["tv", "contamination", "band", "hull"])
def test_on_boxes_of_outcomes_what_is_false_at_one_of_them_is_not_proved(kind):
    """The order of the values changes within the boxes: who is least, and whose mass moves."""
    rng = np.random.default_rng(3)
    proved = 0
    for _ in range(120):
        n = int(rng.integers(2, 5))
        about, least = described(rng, kind, n)
        middle, wide = rng.normal(), float(rng.choice([0.01, 0.1, 1.0]))
        slopes = rng.normal(size=n) * 2
        starts = rng.normal(size=n) * wide - slopes * middle  # they are nearly equal there
        a, b = middle - wide, middle + wide

        def values(y, slopes=slopes, starts=starts):
            return [F(float(np.exp(s * y + t))) for s, t in zip(slopes, starts, strict=True)]

        lowest = min(least(values(y)) for y in np.linspace(a, b, 41))
        for shift in (F(1, 10**9), F(-1, 5)):
            with ctx.workprec(128):
                y, level = axis(a, b, 0, 1), arb(number(lowest + shift))
                lines = zip(slopes, starts, strict=True)
                w = [exponential(y * float(s) + float(t)) - level for s, t in lines]
                found = Priors(about).never_negative(w)
            assert not found or shift < 0
            proved += found
    assert proved > 40


def test_members_are_shown_to_be_members():
    centre = [[0.25, 0.25], [0.75, 0.75]]
    inside, outside, edge = [[5, 16], [11, 16]], [[1, 2], [1, 2]], [[3, 8], [5, 8]]
    tv = Priors({"kind": "tv", "centre": centre, "size": [1, 8]})
    assert tv.member(edge) == [arb(3) / 8, arb(5) / 8] and tv.member(inside)
    band = {"kind": "band", "lower": [[1, 4], [1, 2]], "upper": [[3, 8], [1, 1]]}
    for wrong, about in (
        (outside, {"kind": "tv", "centre": centre, "size": [1, 8]}),
        (outside, {"kind": "contamination", "centre": centre, "size": [1, 8]}),
        (outside, {**band, "open": False}),
        (edge, {**band, "open": True}),
        ([[0, 1], [1, 1]], {"kind": "full_support", "count": 2}),
        *(
            (outside, {"kind": f"{a}_{b}", "centre": centre, "size": [1, 100]})
            for a, b in DIVERGENCES
        ),
        ([[1, 2], [1, 4]], {"kind": "tv", "centre": centre, "size": [1, 1]}),
        ([[3, 2], [-1, 2]], {"kind": "tv", "centre": centre, "size": [2, 1]}),
        (
            outside,
            {"kind": "linear", "count": 2, "at_most": [[[1.0, 0.0], 0.375]], "equal": []},
        ),
    ):
        with pytest.raises(ValueError):
            Priors(about).member(wrong)


# -- tables ---------------------------------------------------------------------------------------

LETTERS = bl.Finite(["a", "b", "c"])
TABLE = [[F(1, 5), F(4, 5)], [F(1, 2), F(1, 2)], [F(7, 10), F(3, 10)]]
TABLES = {
    "kl": bl.priors.kl_ball(bl.pmf(P, on=LETTERS), F(1, 10), direction="to_centre"),
    "chi": bl.priors.chi_square_ball(bl.pmf(P, on=LETTERS), F(1, 10), direction="from_centre"),
    "moment": bl.priors.moment([1.0, 2.0, 3.0], lower=1.5, upper=2.1, on=LETTERS),
    "tv": bl.priors.tv_ball(bl.pmf(P, on=LETTERS), F(1, 10)),
}
FIGURES = {
    "pml/one outcome": lambda j: bl.pml(j)(1),
    "pml": lambda j: bl.pml(j).sup(),
    "pmc": lambda j: bl.pmc(j).sup(),
    "lip": bl.lip,
    "ldp": bl.ldp,
    "mutual_information": bl.mutual_information,
    "maximal_leakage": bl.maximal_leakage,
}


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("figure", FIGURES)
def test_figures_of_a_matrix(name, figure):
    mechanism = bl.Mechanism.from_matrix(TABLE, secret=LETTERS, outcome=bl.Finite([0, 1]))
    bound = FIGURES[figure](TABLES[name] * mechanism)
    found = verified(figure, bound)
    if bound.status == "exact":
        assert found.outcome == "none"
        return
    assert found.outcome == "verified", found.words
    if "sides" not in bound.certificate:
        false = (
            {"lower": bound.upper + 1e-6, "upper": bound.upper + 2e-6},
            {
                "lower": 0.0,
                "upper": max(bound.lower - 1e-6, 0.0),
            },
        )
        assert all(checked({**bound.certificate, **ends}).failures for ends in false)


@pytest.mark.parametrize("name", TABLES)
def test_mutual_information_over_a_set_holds_that_of_members(name):
    mechanism = bl.Mechanism.from_matrix(TABLE, secret=LETTERS, outcome=bl.Finite([0, 1]))
    bound = bl.mutual_information(TABLES[name] * mechanism)
    for member in TABLES[name].members(40, rng=0):
        assert bl.mutual_information(member * mechanism).lower <= bound.upper + 1e-9


def test_a_density_with_finitely_many_outcomes():
    joint = TABLES["kl"].__class__(prior, F(1, 10), "kl", "to_centre") * response(X)
    for name in ("pml", "pmc"):
        bound = getattr(bl, name)(joint).sup()
        assert verified(name, bound).outcome == "verified"


# -- other alphabets ------------------------------------------------------------------------------

ON_LINES = {
    "full": lambda: bl.priors.full_support(UNIT),
    "hull": lambda: bl.priors.hull([bl.uniform(UNIT), bl.beta(alpha=2, beta=2)]),
    "contamination": lambda: bl.priors.contamination(bl.uniform(UNIT), F(1, 10)),
    "tv": lambda: bl.priors.tv_ball(bl.uniform(UNIT), F(1, 10)),
}


@pytest.fixture(scope="module")
def on_lines():
    joints = {name: make() * laplace(UNIT) for name, make in ON_LINES.items()}
    every = itertools.product(joints.items(), ("pml", "pmc", "ldp"))
    found = {(name, figure): FIGURES[figure](joint) for (name, joint), figure in every}
    found["contamination", "lip"] = bl.lip(joints["contamination"])
    single = [name for name in joints if name != "tv"]  # it is solved on cells: no certificate
    for name, leakage in itertools.product(single, ("pml", "pmc")):
        found[name, f"{leakage}/one outcome"] = at(joints[name], leakage, 0.4)
    return found


def test_continuous_secrets(on_lines, certified_parts):
    for (_, figure), bound in on_lines.items():
        found = verified(figure, bound)
        assert found.outcome == "verified" and "over a set of priors" in found.words, found


@pytest.fixture
def certified_parts(monkeypatch):
    """What certificates of single priors say is taken as verified once: others test that."""
    known = {}

    def remembered(kind):
        check = composition._CHECKERS[kind]

        def of(part):
            key = json.dumps(part, sort_keys=True)
            loose = {"lower": 0.0, "upper": math.inf}  # the time goes into tight ends
            known[key] = known.get(key) or check({**part, **loose})
            return known[key]

        return of

    for kind in ("outcomes", "point"):
        monkeypatch.setitem(composition._CHECKERS, kind, remembered(kind))


def test_the_whole_of_a_certificate_by_single_priors_is_verified(on_lines):
    bound = on_lines["contamination", "pml"]
    assert verified("pml", bound).outcome == "verified"
    assert checked(put("of", 0, "upper", value=0.3)({**bound.certificate, "upper": 0.4})).failures


def test_contamination_of_a_uniform_secret_has_a_closed_form(on_lines, certified_parts):
    with mp.workdps(30):  # beyond the secrets: f_Y / sup f = 1 - 1/e
        mean, far = 1 - mp.exp(-1), mp.exp(-1)
        pml = -mp.log(mp.mpf(9) / 10 * mean + far / 10)
        pmc = mp.log((mp.mpf(9) / 10 * mean + mp.mpf(1) / 10) / far)
    assert on_lines["contamination", "pml"].lower <= pml <= on_lines["contamination", "pml"].upper
    assert on_lines["contamination", "pmc"].lower <= pmc <= on_lines["contamination", "pmc"].upper
    false = {"lower": float(pml) + 1e-7, "upper": 9.0}, {"lower": 0.0, "upper": float(pml) - 1e-7}
    made = on_lines["contamination", "pml"].certificate
    assert all(checked({**made, **ends}).failures for ends in false)


def test_unions():
    parts = SETS["tv"], SETS["contamination"]
    joint = (parts[0] | parts[1]) * laplace(X)
    for figure in ("pml", "pmc", "lip", "ldp"):
        bound = FIGURES[figure](joint)
        assert verified(figure, bound).outcome == "verified"
        alone = [FIGURES[figure](part * laplace(X)) for part in parts]
        assert (
            bound.lower <= max(b.upper for b in alone)
            and max(b.lower for b in alone) <= bound.upper
        )


# -- infinities -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SETS)
def test_cost_without_bound_by_a_member(name):
    bound = bl.pmc(SETS[name] * normal(X)).sup()
    assert bound.lower == math.inf
    found = verified("pmc", bound)
    assert found.outcome == "verified", found.words
    made = bound.certificate
    assert checked({**made, "quantity": "pml"}).failures == [] if name == "full" else True
    if name != "full":
        assert checked({**made, "quantity": "pml"}).failures


def test_secrets_of_as_little_mass_as_one_likes_make_leakage_infinite():
    # E X in [1, 1.5]: members may leave out 0, or all but nearly so
    assert bl.pml(SETS["moment"] * normal(X)).sup().lower == math.inf
    # P{0} >= 1/10 in the band, and so on
    bound = bl.pml(SETS["band"] * normal(X)).sup()
    assert bound.lower <= math.log(10) <= bound.upper


# -- forgeries ------------------------------------------------------------------------------------


def altered(change):
    def of(data):
        data = copy.deepcopy(data)
        change(data)
        return data

    return of


def put(*path, value):
    def change(data):
        for key in path[:-1]:
            data = data[key]
        data[path[-1]] = value

    return altered(change)


HALVES = [[1, 2], [1, 4], [1, 4]]
FORGERIES = {
    "a smaller quantity": put("quantity", value="mutual_information"),
    "another quantity": put("quantity", value="pmc"),
    "another format": put("format", value=3),
    "another kind of claim": put("claim", "type", value="outcomes"),
    "an outcome left out": put("claim", "cover", value=["-Infinity", 0.0, 1.0]),
    "outcomes in no order": put("claim", "cover", value=["-Infinity", 1.0, 0.0, "Infinity"]),
    "no outcomes": put("claim", "cover", value=[]),
    "one outcome": put("claim", "y", value=0.0),
    "a peak without mass": put("claim", "peak", "y", value=[-1.0, -1.0]),
    "a peak elsewhere": put("claim", "peak", "y", value=[1.0, 1.25]),
    "a member of no mass at the secret": put(
        "claim", "peak", "prior", value=[[0, 1], [1, 2], [1, 2]]
    ),
    "no member": put("claim", "peak", "prior", value=HALVES),
    "no law": put("claim", "peak", "prior", value=[[1, 10], [1, 10], [1, 10]]),
    "a law of two secrets": put("claim", "peak", "prior", value=[[1, 2], [1, 2]]),
    "another secret": put("claim", "peak", "x", value=[2]),
    "a smaller ball": put("prior", "set", "size", value=[1, 20]),
    "a larger ball": put("prior", "set", "size", value=[1, 5]),
    "a negative size": put("prior", "set", "size", value=[-1, 10]),
    "another kind of set": put("prior", "set", "kind", value="contamination"),
    "no centre": put("prior", "set", "centre", value=[[0.5, 0.5]] * 3),
    "a wide centre": put("prior", "set", "centre", value=[[0.0, 1.0]] * 3),
    "other secrets": put("prior", "secrets", value=[0.0, 1.0, 2.0]),
    "a secret twice": put("prior", "secrets", value=[0.0, 1.0, 1.0]),
    "too few secrets": put("prior", "secrets", value=[0.0, 1.0]),
    "words for numbers": put("upper", value="1.5"),
    "a smaller bound": put("upper", value=1.0),
    "a larger bound": put("lower", value=1.5),
    "outcomes that are numbered": put("outcome", "points", value=[0.0, 1.0]),
    "integers": put("outcome", "points", value="integers"),
    "half of the outcomes": put("outcome", "lower", value=0.0),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_forgeries_are_refused(name):
    bound = bl.pml(SETS["tv"] * laplace(X)).sup()
    assert not checked(bound.certificate).failures
    assert checked(FORGERIES[name](bound.certificate)).failures


OVER = {
    "a weight above 1": put("over", "size", value=[11, 10]),
    "a larger weight": put("over", "size", value=[1, 2]),
    "a smaller weight": put("over", "size", value=[1, 20]),
    "another kind": put("over", "kind", value="full_support"),
    "a ball": put("over", "kind", value="tv"),
    "an unknown kind": put("over", "kind", value="everything"),
    "the other leakage": put("quantity", value="pmc"),
    "no certificates": put("of", value=[]),
    "two of four": altered(lambda d: d.update(of=d["of"][:2])),
    "in another order": altered(lambda d: d.update(of=d["of"][::-1])),
    "peaks apart": put("of", 2, "claim", "peak", "y", value=[2.0, 2.5]),
    "another prior": put("of", 1, "prior", "upper", value=0.5),
    "a smaller bound": put("upper", value=0.4),
    "a larger bound": put("lower", value=0.6),
}


@pytest.mark.parametrize("name", OVER)
def test_forgeries_by_single_priors_are_refused(name, on_lines, certified_parts):
    made = on_lines["contamination", "pml"].certificate
    assert not checked(made).failures
    assert checked(OVER[name](made)).failures


MEMBER = {
    "no member": put("over", "member", value=HALVES),
    "another member": put("over", "member", value=[[3, 20], [7, 20], [1, 2]]),
    "other secrets": put("over", "secrets", value=[0.0, 1.0, 2.0]),
    "another set": put("over", "set", value={"kind": "full_support", "count": 2}),
    "it is finite": put("of", 0, "lower", value=3.0),
    "the other leakage": put("quantity", value="pml"),
    "a figure that is no leakage": put("quantity", value="mutual_information"),
}


@pytest.mark.parametrize("name", MEMBER)
def test_forgeries_by_a_member_are_refused(name):
    made = bl.pmc(SETS["tv"] * normal(X)).sup().certificate
    assert not checked(made).failures
    assert checked(MEMBER[name](made)).failures


def test_a_hull_of_one_certificate_twice_says_no_more(on_lines, certified_parts):
    made = copy.deepcopy(on_lines["hull", "pml"].certificate)
    made["of"] = made["of"][:1] * 2
    low = max(float(one["lower"]) for one in made["of"])
    assert checked({**made, "lower": low + 1e-6}).failures


def test_a_union_is_of_sets_and_a_hull_of_priors(on_lines, certified_parts):
    hull = on_lines["hull", "pml"].certificate
    assert checked(put("over", "kind", value="union")(hull)).failures
    union = bl.pml((SETS["tv"] | SETS["contamination"]) * laplace(X)).sup().certificate
    assert not checked(union).failures
    assert checked(put("over", "kind", value="hull")(union)).failures
    assert checked(put("of", 1, "kernel", "log", value=True)(union)).failures


def test_a_certificate_of_one_prior_is_no_certificate_over_a_set(tmp_path):
    bl.audit(SETS["tv"] * laplace(X), output=tmp_path)
    found = {one.name: one for one in verify(tmp_path / "result.nc")}
    assert found["pml"].outcome == "verified" and "over a set" in found["pml"].words
    assert not [one for one in found.values() if one.outcome == "refused"]


def test_json_keeps_all_of_it(tmp_path):
    bound = bl.pml(SETS["tv"] * laplace(X)).sup()
    path = tmp_path / "certificate.json"
    path.write_text(json.dumps(bound.certificate))
    (found,) = verify(path)
    assert found.outcome == "verified"
    assert parsed(bound.certificate)["claim"]["cover"][0] == -math.inf


def test_no_certificates_are_made_where_none_are_wanted():
    with making(False):
        for name in ("tv", "moment"):
            assert bl.pml(SETS[name] * laplace(X)).sup().certificate is None
        assert bl.pml(ON_LINES["contamination"]() * laplace(UNIT)).sup().certificate is None


# -- the checker ----------------------------------------------------------------------------------


def test_it_shares_nothing_with_the_engine():
    own = {
        "borel.engine.certificates.checks.set_expectations",
        "borel.engine.certificates.checks.set_rules",
    }
    for module in (prior_sets, set_expectations, set_rules):
        for name in modules_of_borel(module) - own:
            assert name.startswith("borel.engine.certificates.checks.")


def test_each_part_has_at_most_300_lines_of_code():
    for module in (prior_sets, set_expectations, set_rules):
        assert lines_of_code(module) <= 300
