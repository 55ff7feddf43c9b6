"""Figures over sets of priors, against the truth.

The truths are lower expectations that are solved here: by greedy transport and vertices in
Fractions, and for divergence balls of a bit by a root at 40 digits.
"""

import itertools
import math
from fractions import Fraction as F

import mpmath as mp
import numpy as np
import pytest

import borel as bl

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
        return bound, truth(name, kernel, leakage, y)


@pytest.mark.few(21)
def test_a_figure_at_one_outcome_encloses_the_truth(outcome):
    bound, true = outcome
    assert bound.lower <= true <= bound.upper and bound.width < 1e-10


SUPREMA = [c for c in itertools.product(SETS, KERNELS, ("pml", "pmc"))]


@pytest.mark.few(6)
@pytest.mark.cases("slow", "both-normal-pml")
@pytest.mark.parametrize(("name", "kernel", "leakage"), SUPREMA)
def test_no_outcome_exceeds_the_suprema(name, kernel, leakage):
    joint = SETS[name] * KERNELS[kernel](X)
    bound = getattr(bl, leakage)(joint).sup()
    with mp.workdps(40):
        values = [truth(name, kernel, leakage, y) for y in (-9, -1, 0, 0.5, 1, 2, 3, 4, 12)]
    assert bound.proved and max(values) <= bound.upper
    if kernel == "laplace":
        assert bound.lower <= max(values) + 1e-12  # it is reached beyond the secrets


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


@pytest.mark.few(2)
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


@pytest.mark.truths
@pytest.mark.parametrize("kind", DIVERGENCES, ids="-".join)
def test_suprema_over_divergence_balls(kind):
    make = bl.priors.kl_ball if kind[0] == "kl" else bl.priors.chi_square_ball
    joint = make(prior, F(1, 10), direction=kind[1]) * laplace(X)
    for leakage in ("pml", "pmc"):
        bound = getattr(bl, leakage)(joint).sup()
        assert bound.proved and bound.width < 1e-8
    with mp.workdps(30):
        lip, ldp = bl.lip(joint), bl.ldp(joint)
        assert lip.proved and ldp.proved and ldp.lower <= 3 <= ldp.upper


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


@pytest.mark.few(2)
@pytest.mark.parametrize("name", TABLES)
def test_mutual_information_over_a_set_holds_that_of_members(name):
    mechanism = bl.Mechanism.from_matrix(TABLE, secret=LETTERS, outcome=bl.Finite([0, 1]))
    bound = bl.mutual_information(TABLES[name] * mechanism)
    for member in TABLES[name].members(40, rng=0):
        assert bl.mutual_information(member * mechanism).lower <= bound.upper + 1e-9


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
    single = [name for name in joints if name != "tv"]  # it is solved on cells
    for name, leakage in itertools.product(single, ("pml", "pmc")):
        found[name, f"{leakage}/one outcome"] = at(joints[name], leakage, 0.4)
    return found


@pytest.mark.truths
def test_contamination_of_a_uniform_secret_has_a_closed_form(on_lines):
    with mp.workdps(30):  # beyond the secrets: f_Y / sup f = 1 - 1/e
        mean, far = 1 - mp.exp(-1), mp.exp(-1)
        pml = -mp.log(mp.mpf(9) / 10 * mean + far / 10)
        pmc = mp.log((mp.mpf(9) / 10 * mean + mp.mpf(1) / 10) / far)
    assert on_lines["contamination", "pml"].lower <= pml <= on_lines["contamination", "pml"].upper
    assert on_lines["contamination", "pmc"].lower <= pmc <= on_lines["contamination", "pmc"].upper


def test_unions():
    parts = SETS["tv"], SETS["contamination"]
    joint = (parts[0] | parts[1]) * laplace(X)
    for figure in ("pml", "pmc", "lip", "ldp"):
        bound = FIGURES[figure](joint)
        assert bound.proved
        alone = [FIGURES[figure](part * laplace(X)) for part in parts]
        assert (
            bound.lower <= max(b.upper for b in alone)
            and max(b.lower for b in alone) <= bound.upper
        )


@pytest.mark.parametrize("name", SETS)
def test_cost_without_bound_by_a_member(name):
    bound = bl.pmc(SETS[name] * normal(X)).sup()
    assert bound.proved and bound.lower == math.inf


def test_secrets_of_as_little_mass_as_one_likes_make_leakage_infinite():
    # E X in [1, 1.5]: members may leave out 0, or all but nearly so
    assert bl.pml(SETS["moment"] * normal(X)).sup().lower == math.inf
    # P{0} >= 1/10 in the band, and so on
    bound = bl.pml(SETS["band"] * normal(X)).sup()
    assert bound.lower <= math.log(10) <= bound.upper


def test_a_kernel_with_zeros_over_a_polytope():
    shift = bl.Mechanism(
        lambda y, x: np.where(y >= x, np.exp(-(y - x)), 0.0),
        secret=BIT, outcome=bl.Reals(), breaks=[0.0, 1.0],
    )  # fmt: skip
    joint = bl.priors.moment(lambda x: x, lower=0.25, upper=0.75, on=BIT) * shift
    found = bl.pml(joint)(0.5)  # E f = P{0} f(y|0) >= f(y|0) / 4
    assert found.lower <= math.log(4) <= found.upper


@pytest.mark.few(2)
@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("figure", FIGURES)
def test_figures_of_a_matrix_are_proved_and_hold_those_of_members(name, figure):
    mechanism = bl.Mechanism.from_matrix(TABLE, secret=LETTERS, outcome=bl.Finite([0, 1]))
    bound = FIGURES[figure](TABLES[name] * mechanism)
    assert bound.proved
    for member in TABLES[name].members(20, rng=1):
        assert FIGURES[figure](member * mechanism).lower <= bound.upper + 1e-12


def test_a_density_with_finitely_many_outcomes():
    def response(y, x):
        total = np.exp(-x) + np.exp(-abs(1 - x)) + np.exp(-abs(3 - x))
        return np.exp(-abs(y - x)) / total

    about = bl.priors.kl_ball(prior, F(1, 10), direction="to_centre")
    mechanism = bl.Mechanism(response, secret=X, outcome=X)
    for leakage in (bl.pml, bl.pmc):
        bound = leakage(about * mechanism).sup()
        assert bound.proved and bound.width < 1e-8
        for member in about.members(20, rng=2):
            assert leakage(member * mechanism).sup().lower <= bound.upper


@pytest.mark.truths
def test_continuous_secrets(on_lines):
    """Beyond the secrets the largest density is 1, the least e^-1, and f_Y between these."""
    with mp.workdps(30):
        e, mean = mp.exp(-1), 1 - mp.exp(-1)
        beta = 18 * e - 6  # the integral of 6 x (1 - x) e^-x
        at_4 = 2 - mp.exp(-0.4) - mp.exp(-0.6)  # f_Y at 0.4, where the densities are e^-|0.4 - x|
        bump = mp.quad(lambda x: 6 * x * (1 - x) * mp.exp(-abs(x - mp.mpf("0.4"))), [0, 0.4, 1])
        low, nine = mp.exp(-mp.mpf("0.6")), mp.mpf(9) / 10
        most = nine * mean + (1 - nine)
        truths = {
            ("full", "pml"): 1,
            ("full", "pmc"): 1,
            ("full", "pml/one outcome"): mp.mpf("0.6"),
            ("full", "pmc/one outcome"): mp.mpf("0.6"),
            ("hull", "pml"): -mp.log(min(mean, beta)),
            ("hull", "pml/one outcome"): -mp.log(min(at_4, bump)),
            ("hull", "pmc/one outcome"): mp.log(max(at_4, bump) / low),
            ("contamination", "pml/one outcome"): -mp.log(nine * at_4 + low / 10),
            ("contamination", "pmc/one outcome"): mp.log((nine * at_4 + mp.mpf(1) / 10) / low),
            ("contamination", "lip"): mp.log(most / e),
            ("tv", "pml"): -mp.log(mp.exp(-mp.mpf("0.1")) - e + e / 10),
            ("tv", "pmc"): mp.log((1 - mp.exp(-nine) + mp.mpf(1) / 10) / e),
            **{(name, "ldp"): 1 for name in ON_LINES},
        }
        for key, bound in on_lines.items():
            assert bound.proved
            if key in truths:
                assert bound.lower <= truths[key] <= bound.upper, key


def test_the_larger_of_two_suprema_over_a_ball():
    """PML is -log(1/4 + 3/4 e^-1), and PMC log(3/4 e + 1/4)."""
    half = bl.pmf([F(1, 2), F(1, 2)], on=BIT)
    whole = bl.lip(bl.priors.tv_ball(half, F(1, 4)) * laplace(BIT))
    with mp.workdps(30):
        assert whole.lower <= mp.log(mp.mpf(3) / 4 * mp.e + mp.mpf(1) / 4) <= whole.upper
    assert whole.lower > 0.8
