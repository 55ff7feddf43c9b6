"""The law of a leakage over outcomes for every draw of a learnt density, against mpmath."""

import itertools
import math

import mpmath
import numpy as np
import pytest
import xarray as xr
from engine.certified_cases import learnt_slopes

import borel as bl
from borel.engine.draws import information as information_of
from borel.engine.draws import line_laws, outcome_boxes, outcome_laws, outcome_lines

UNIT = bl.Interval(0, 1)
B = 0.5
SLOPES = np.array([[1.0, 2.75, 6.0]])
mp = mpmath.mp


@pytest.fixture(autouse=True)
def digits():
    with mpmath.workdps(25):
        yield


NOISY = learnt_slopes(SLOPES) * bl.mechanisms.laplace(b=B, secret=UNIT)


class Noise:
    """Laplace noise on a secret of density a e^(a x) / (e^a - 1), in closed form.

    Below the secrets, between them and above; the leakages are log sup f / f_Y and log f_Y / inf f.
    """

    places = (-mp.inf, 0, mpmath.mpf(1) / 2, 1, mp.inf)

    def __init__(self, a):
        self.a, self.b = mpmath.mpf(float(a)), mpmath.mpf(B)

    def density(self, y):
        a, r = self.a, 1 / self.b
        left, right = min(max(y, 0), 1), min(max(y, 0), 1)
        below = mp.exp(-r * y) * (mp.exp((a + r) * left) - 1) / (a + r)
        above = mp.exp(r * y) * (mp.exp(a - r) - mp.exp((a - r) * right)) / (a - r)
        return a / (mp.exp(a) - 1) * r / 2 * (below + above)

    def value(self, kind, y):
        r = 1 / self.b
        near, far = abs(y - min(max(y, 0), 1)), max(abs(y), abs(y - 1))
        if kind == "pml":
            return mp.log(r / 2) - r * near - mp.log(self.density(y))
        return mp.log(self.density(y)) - mp.log(r / 2) + r * far

    def mass(self, u, v):
        """The probability of an interval on one side of 0, and of 1."""
        a, r = self.a, 1 / self.b
        scale, first, last = a / (mp.exp(a) - 1) * r / 2, mp.exp(a - r), mp.exp(a + r)

        def below(y):
            return mp.exp(r * y) * (first - 1) / (a - r) / r

        def above(y):
            return -mp.exp(-r * y) * (last - 1) / (a + r) / r

        def between(y):
            rising = (mp.exp(a * y) / a + mp.exp(-r * y) / r) / (a + r)
            return rising + (first * mp.exp(r * y) / r - mp.exp(a * y) / a) / (a - r)

        piece = below if v <= 0 else above if u >= 1 else between
        return scale * (piece(v) - piece(u))

    def integral(self, g, u, v):
        if v <= 0 or u >= 1:  # beyond the secrets the leakage does not vary
            return g(v if v <= 0 else u) * self.mass(u, v)
        return mp.quad(lambda y: g(y) * self.density(y), [u, v], method="gauss-legendre")

    def crossings(self, kind, t):
        """The outcomes between 0 and 1 at which the leakage passes t, from a grid of 200 points."""
        grid = [mpmath.mpf(k) / 200 for k in range(201)]
        signs = [self.value(kind, y) > t for y in grid]
        return [
            mp.findroot(
                lambda y: self.value(kind, y) - t,
                (u, v),
                solver="anderson",
                tol=mpmath.mpf(10) ** -44,
            )
            for u, v, p, q in zip(grid, grid[1:], signs, signs[1:], strict=False)
            if p != q
        ]

    def tail(self, kind, t):
        """The leakage does not vary below the secrets, nor above them."""
        cuts = sorted({*self.places, *self.crossings(kind, t)})
        total = mpmath.mpf(0)
        for u, v in itertools.pairwise(cuts):
            middle = u + 1 if v == mp.inf else v - 1 if u == -mp.inf else (u + v) / 2
            if self.value(kind, middle) > t:
                total += self.mass(u, v)
        return total

    def mean(self, g):
        pairs = itertools.pairwise(self.places)
        return mp.fsum(self.integral(g, u, v) for u, v in pairs)


def encloses(found, truth, width):
    """The bounds of each draw hold its truth, and are no wider than a number."""
    for d, a in enumerate(SLOPES[0]):
        low, high = found.draws["lower"].values[0, d], found.draws["upper"].values[0, d]
        assert low <= truth(Noise(a)) <= high and high - low <= width


@pytest.mark.truths
@pytest.mark.parametrize("kind", ["pml", "pmc"])
def test_the_law_of_noise(kind):
    law = getattr(bl, kind)(NOISY).by_draw
    levels = {"pml": (0.2, 0.55), "pmc": (0.6, 0.9)}[kind]
    for t in levels:
        found = law.tail(t)
        assert found.status == "certified"
        encloses(found, lambda of, t=t: of.tail(kind, mpmath.mpf(t)), 2e-3)
    encloses(law.mean(), lambda of: of.mean(lambda y: of.value(kind, y)), 2e-3)
    encloses(law.exp_mean(), lambda of: of.mean(lambda y: mp.exp(of.value(kind, y))), 8e-3)
    # the cdf at the ends of a quantile, and what is just below them, are on both sides of the level
    for s in (0.3, 0.7):
        found = law.quantile(s).draws
        for d, a in enumerate(SLOPES[0]):
            low, high = (mpmath.mpf(float(found[e].values[0, d])) for e in ("lower", "upper"))
            of = Noise(a)
            assert 1 - of.tail(kind, high) >= s
            assert 1 - of.tail(kind, low - mpmath.mpf(10) ** -20) < s
            assert high - low <= 2e-3


def test_a_tail_and_a_mean():
    law, of = bl.pml(NOISY).by_draw, Noise(SLOPES[0, 1])
    for found, truth in (
        (law.tail(0.55), of.tail("pml", mpmath.mpf(0.55))),
        (law.mean(), of.mean(lambda y: of.value("pml", y))),
    ):
        low, high = (found.draws[end].values[0, 1] for end in ("lower", "upper"))
        assert found.status == "certified" and low <= truth <= high and high - low <= 2e-3


@pytest.mark.truths
def test_the_law_over_priors_and_outcomes():
    """Few exact draws, of one prior each: the mean of the tails is within the interval."""
    many = np.tile(SLOPES, (2, 100))
    ell = bl.pml(learnt_slopes(many) * bl.mechanisms.laplace(b=B, secret=UNIT))
    truth = mp.fsum(Noise(a).tail("pml", mpmath.mpf(0.55)) for a in SLOPES[0]) / 3
    found = ell.tail(0.55)
    assert found.status == "statistical" and found.lower <= truth <= found.upper
    engine = ell._engine()
    for s in (0.3, 0.7):
        low, high = engine.pooled_quantiles("pml", s, s, 2.0)
        below, above = (
            1 - mp.fsum(Noise(a).tail("pml", mpmath.mpf(t)) for a in SLOPES[0]) / 3
            for t in (low - 1e-12, high)
        )
        assert below <= s <= above and high - low <= 2e-3
        bound = ell.quantile(s)
        assert bound.status == "statistical" and bound.lower <= low and high <= bound.upper


@pytest.mark.truths
def test_mutual_information_of_noise():
    """The entropy of Y less that of the noise, 1 + log 2b."""
    found = bl.mutual_information(NOISY)
    assert found.status == "certified"
    noise = 1 + mp.log(2 * mpmath.mpf(B))

    def entropy(of):
        """Beyond the secrets f_Y falls as the noise does: there it is (1 - log f_Y) f_Y b."""
        inside = (
            of.integral(lambda y: -mp.log(of.density(y)), u, v) for u, v in ((0, 0.5), (0.5, 1))
        )
        return mp.fsum([*inside, *(of.b * v * (1 - mp.log(v)) for v in map(of.density, (0, 1)))])

    encloses(found, lambda of: entropy(of) - noise, 2e-4)


def test_finitely_many_outcomes():
    """Is X > 1/2? answered rightly with probability 3/4."""
    j = learnt_slopes(SLOPES) * bl.Mechanism(
        lambda y, x: np.where((x > 0.5) == (y == 1), 0.75, 0.25),
        secret=UNIT,
        outcome=bl.Finite([0, 1]),
        breaks=[0.5],
    )
    right, wrong = mpmath.mpf(3) / 4, mpmath.mpf(1) / 4

    def masses(of):
        yes = (mp.exp(of.a) - mp.exp(of.a / 2)) / (mp.exp(of.a) - 1)
        return [right - yes / 2, wrong + yes / 2]

    law = bl.pml(j).by_draw
    encloses(law.mean(), lambda of: mp.fsum(m * mp.log(right / m) for m in masses(of)), 1e-6)
    encloses(
        law.tail(0.3), lambda of: mp.fsum(m for m in masses(of) if mp.log(right / m) > 0.3), 1e-6
    )
    encloses(law.quantile(0.99), lambda of: max(mp.log(right / m) for m in masses(of)), 1e-6)
    own = right * mp.log(right) + wrong * mp.log(wrong)
    encloses(
        bl.mutual_information(j), lambda of: own - mp.fsum(m * mp.log(m) for m in masses(of)), 1e-6
    )


@pytest.mark.truths
def test_atoms_of_the_outcome():
    """Noise clipped to [0, 1] has the leakages of noise: at 0 what it has below, and so on."""
    clipped = learnt_slopes(SLOPES) * bl.mechanisms.laplace(b=B, secret=UNIT).clip(0, 1)
    law = bl.pml(clipped).by_draw
    encloses(law.tail(0.55), lambda of: of.tail("pml", mpmath.mpf(0.55)), 2e-3)
    encloses(law.mean(), lambda of: of.mean(lambda y: of.value("pml", y)), 2e-3)


def test_information_needs_a_bound_of_the_kernel(monkeypatch):
    """Where none was found in time g = f may exceed 1: of noise of height 8 all is left open."""
    rate = 16
    engine = bl.pml(
        learnt_slopes(SLOPES) * bl.mechanisms.laplace(b=1 / rate, secret=UNIT)
    )._engine()
    cells, edges = next(engine.blocks()).cells, np.array([0.4, 0.401])

    def information(y, a):
        """Of f_Y, and the mean of r abs(y - x), in closed form on either side of y."""
        up, down = a + rate, rate - a
        left, right = mp.exp(-up * y), mp.exp(-down * (1 - y))
        mass = (1 - left) / up + (1 - right) / down
        gap = (1 - left * (1 + up * y)) / up**2 + (1 - right * (1 + down * (1 - y))) / down**2
        scale = a * mp.exp(a * y) / mp.expm1(a) * rate / 2
        return scale * (mass * mp.log(rate / 2 / (scale * mass)) - rate * gap)

    def means():
        law = information_of.OutcomeInformation(engine.shared, engine.support)
        with np.errstate(all="ignore"):
            found = law.search.compared(cells, edges[:1], edges[1:], slice(None), math.inf)
            return law._read(found, cells, edges[:1], edges[1:]).means()

    known, right = means(), outcome_boxes.side
    open_ = lambda *given: right(*given)._replace(direct=np.full(len(given[1]), np.inf))  # noqa: E731
    monkeypatch.setattr(outcome_boxes, "side", open_)
    unknown = means()
    for d, a in enumerate(map(mpmath.mpf, SLOPES[0])):
        truth = mp.quad(lambda y, a=a: information(y, a), [mpmath.mpf(float(e)) for e in edges])
        for low, high in (known, unknown):
            assert low[d, 0] <= truth <= high[d, 0]
        assert known[1][d, 0] - known[0][d, 0] < truth / 10


def test_boxes_of_information_are_those_of_all_draws(monkeypatch):
    """Also if nothing is asked of PML of the first draws: where the kernel has no bound it is."""
    engine = bl.pml(learnt_slopes(SLOPES) * bl.mechanisms.laplace(b=1 / 4, secret=UNIT))._engine()
    cells, edges = next(engine.blocks()).cells, np.array([0.1, 0.2])
    right = outcome_boxes.side
    open_ = lambda *given: right(*given)._replace(direct=np.full(len(given[1]), np.inf))  # noqa: E731
    monkeypatch.setattr(outcome_boxes, "side", open_)
    monkeypatch.setattr(cells, "lost", np.array([True, False, False]))
    monkeypatch.setattr(outcome_laws, "_BLOCK", 1)
    found = []
    for draws in (3, 1):
        monkeypatch.setattr(outcome_laws, "_DRAWS", draws)
        law = information_of.OutcomeInformation(engine.shared, engine.support)
        law.sides = {}
        with np.errstate(all="ignore"):
            found.append(law._narrow(cells, edges[:1], edges[1:], math.inf))
    together, apart = found
    assert (together.high_slope[1:] != 0).all() and (apart.half == together.half).all()
    assert (apart.reach == together.reach).all() and (apart.half > 0).all()
    np.testing.assert_allclose(apart.means(), together.means(), rtol=1e-5)


def test_information_far_out_is_bounded_by_the_height_of_the_kernel(monkeypatch):
    """On a wide box the polynomial of f_Y may be 0: the mass says enough, and PML is not asked."""
    rate, edges = 1 / mpmath.mpf(B), np.array([1.0, 12.0])
    engine = bl.pml(NOISY)._engine()
    cells = next(engine.blocks()).cells
    law = information_of.OutcomeInformation(engine.shared, engine.support)
    with np.errstate(all="ignore"):
        found = law.search.compared(cells, edges[:1], edges[1:], slice(None), math.inf)
        least = found.value[0][0] - np.abs(found.value[0][1]) * found.half
        assert (least < 0).all()  # else its logarithm were known
        monkeypatch.setattr(outcome_laws, "lines_of", None)
        read = law._read(found, cells, edges[:1], edges[1:])
    low, high = read.means()
    for d, a in enumerate(map(mpmath.mpf, SLOPES[0])):
        of, ends = Noise(a), [mpmath.mpf(float(e)) for e in edges]
        gap = (mp.exp(a + rate) * (1 - 1 / (a + rate)) + 1 / (a + rate)) / (mp.exp(a + rate) - 1)
        # of a density e^(-rate y) beyond the secrets: PML less rate times the mean of 1 - x
        truth = of.mass(*ends) * (of.value("pml", ends[1]) - rate * (1 - gap))
        assert low[d, 0] <= truth <= high[d, 0] <= 1.001 * mp.log(rate / 2 * 11)


def test_a_supremum_is_computed_once_for_figures_that_read_it(monkeypatch):
    joint, asked = NOISY.prior * NOISY.mechanism, []
    right = outcome_boxes.OutcomeBoxes.supremum
    counted = lambda self, cells: asked.append(self.kind) or right(self, cells)  # noqa: E731
    monkeypatch.setattr(outcome_boxes.OutcomeBoxes, "supremum", counted)
    lip, pml, pmc = bl.lip(joint), bl.pml(joint).sup(), bl.pmc(joint).sup()
    joint.satisfies(bl.guarantees.PML(1.0))
    assert sorted(asked) == ["pmc", "pml"]
    for end in ("lower", "upper"):
        larger = np.maximum(pml.draws[end], pmc.draws[end])
        assert (lip.draws[end].values == larger.values).all()
    with bl.options(tol=1e-3):
        bl.lip(joint)
    assert len(asked) == 4  # with other options it is another one


# -- far from 0 ------------------------------------------------------------------------------------

FAR = 2.0**30
WIDE = (FAR + 0.7) - FAR


def test_boxes_whose_centres_are_no_floats():
    """Outcomes are uniform if both secrets are as likely, and PML is log(1 + abs(2 u - 1) / 2)."""
    secret = bl.Finite([0, 1])
    mech = bl.Mechanism(
        lambda y, x: (1 + (2 * x - 1) * ((y - FAR) / WIDE - 0.5)) / WIDE,
        secret=secret,
        outcome=bl.Interval(FAR, FAR + WIDE),
    )
    draws = {"p": (("chain", "draw", "x"), np.array([[[0.5, 0.5]]]))}
    draws = xr.Dataset(draws, attrs={"borel_draws": "exact"})
    prior = bl.priors.from_posterior(draws, lambda d: bl.pmf(d["p"], on=secret))
    engine = bl.pml(prior * mech)._engine()
    cells, unit = next(engine.blocks()).cells, mpmath.mpf(2) ** -22
    # three units beside each other, and two: near the upper end, where PML rises
    low = FAR + 0.5 + 2.0**-22 * np.array([1.0, 2.0, 0.0])
    high = low + 2.0**-22 * np.array([3.0, 1.0, 2.0])
    wide = mpmath.mpf(WIDE)

    def pml(y):
        return mp.log(1 + abs(2 * (mpmath.mpf(y) - FAR) / wide - 1) / 2)

    def information(y):
        v = (2 * (mpmath.mpf(y) - FAR) / wide - 1) / 2
        return mp.fsum((1 + s * v) * mp.log(1 + s * v) / 2 for s in (-1, 1))

    def integral(f, a, b):
        return mp.quad(f, [a, b]) / wide

    law = outcome_laws.OutcomeLaw(engine.shared, engine.support, "pml")
    shared = information_of.OutcomeInformation(engine.shared, engine.support)
    with np.errstate(all="ignore"):
        found = law.search.compared(cells, low, high, slice(None), math.inf)
        lines, more = law._read(found, cells, low, high), shared._read(found, cells, low, high)
        tops = law.search._boxes(cells, low, high, slice(None), math.inf)
    for k, (a, b) in enumerate(zip(map(mpmath.mpf, low), map(mpmath.mpf, high), strict=True)):
        assert lines.mass_low[0, k] <= (b - a) / wide <= lines.mass_high[0, k]
        least, most = (v[0, k] for v in lines.masses_above(float(pml((a + b) / 2)), closed=False))
        assert least <= (b - a) / 2 / wide + unit**2 and (b - a) / 2 / wide <= most + unit**2
        for f, of in ((pml, lines), (information, more)):
            least, most = (v[0, k] for v in of.means())
            assert least <= integral(f, a, b) <= most
        assert tops[0][0, k] <= pml(b) <= tops[1][0, k]


# -- boxes, and that bugs are seen -----------------------------------------------------------------

EDGES = np.array([-1.0, -0.4, 0.0, 0.2, 0.45, 0.7, 1.0, 1.5])


def read(kind, edges=EDGES):
    """Lines on wide boxes, under the draws."""
    engine = getattr(bl, kind)(NOISY)._engine()
    law = outcome_laws.OutcomeLaw(engine.shared, engine.support, kind)
    cells = next(engine.blocks()).cells
    with np.errstate(all="ignore"):
        found = law.search.compared(cells, edges[:-1], edges[1:], slice(None), math.inf)
        return law._read(found, cells, edges[:-1], edges[1:])


def wrong_on_boxes(kind, lines, edges=EDGES):
    """Say what of some lines is not so."""
    out = set()
    for (d, a), k in itertools.product(enumerate(SLOPES[0]), range(len(edges) - 1)):
        of, (u, v) = Noise(a), (mpmath.mpf(float(e)) for e in edges[k : k + 2])
        at = {
            n: mpmath.mpf(float(getattr(lines, n)[d, k]))
            for n in lines._fields
            if n not in ("half", "reach")
        }
        for share in range(5):
            s = (2 * mpmath.mpf(share) / 4 - 1) * (v - u) / 2
            y = (u + v) / 2 + s
            value, density = of.value(kind, y), of.density(y)
            if not at["low_at"] + at["low_slope"] * s <= value + mpmath.mpf(10) ** -30:
                out.add("low")
            if not value <= at["high_at"] + at["high_slope"] * s:
                out.add("high")
            if not abs(density - at["level"] - at["tilt"] * s) <= at["doubt"]:
                out.add("density")
        if not at["mass_low"] <= of.mass(u, v) <= at["mass_high"]:
            out.add("mass")
        mean = of.integral(lambda y, of=of: of.value(kind, y), u, v)
        low, high = (m[d, k] for m in lines.means())
        power = of.integral(lambda y, of=of: mp.exp(of.value(kind, y)), u, v)
        least, most = (m[d, k] for m in lines.exp_means())
        if not (low <= mean <= high and least <= power <= most):
            out.add("mean")
    return out


@pytest.mark.cases("slow", "pmc")
@pytest.mark.parametrize("kind", ["pml", "pmc"])
def test_wide_boxes_hold_the_truth(kind):
    assert not wrong_on_boxes(kind, read(kind))


def test_parts_of_a_box_hold_their_mass():
    """PMC of noise rises where f_Y falls slower than the kernel at the first secret."""
    edges = np.array([0.6, 0.65])
    lines = read("pmc", edges)
    for d, a in enumerate(SLOPES[0]):
        of, (u, v) = Noise(a), (mpmath.mpf(float(e)) for e in edges)
        for share in (0.1, 0.5, 0.83):
            t = float(of.value("pmc", u + share * (v - u)))
            (root,) = (y for y in of.crossings("pmc", t) if u < y < v)
            rises = of.value("pmc", v) > t
            truth = of.mass(root, v) if rises else of.mass(u, root)
            low, high = (m[d, 0] for m in lines.masses_above(t, closed=False))
            assert low <= truth <= high and high - low <= 0.005


@pytest.mark.parametrize("closed", [False, True])
def test_a_level_is_compared_with_the_boxes_it_crosses(closed):
    """The masses above it are those of all boxes, and between two levels as well."""
    lines = read("pmc")
    least, most = lines.range()
    levels = [0.05, 0.5, 0.7, 2.0, float(least[1, 3]) + 1e-9, float(most[1, 3]) - 1e-9]
    for t in levels:
        few = line_laws._Crossing(lines, t, t, closed=closed)
        wide = line_laws._Crossing(lines, t - 0.1, t + 0.1, closed=closed)
        truth = lines.masses_above(t, closed)
        narrower = wide.between(t - 0.01, t + 0.01)
        assert len(narrower.rows) < len(wide.rows)
        for found in (few, wide, narrower, narrower.between(t, t)):
            for end, part, sign in zip(found.masses(np.full(3, t)), truth, (-1, 1), strict=True):
                total = np.array([math.fsum(row) for row in part])
                assert (sign * (end - np.minimum(total, 1.0)) >= 0).all()
                assert np.abs(end - np.minimum(total, 1.0)).max() < 1e-13


@pytest.mark.parametrize(("kind", "s"), [("pml", 0.3), ("pml", 0.62), ("pmc", 0.8)])
def test_quantiles_of_all_draws_and_outcomes_together(kind, s):
    """Below the lower end the cdf of the pool has not reached the level; above the other it has."""
    low, high = getattr(bl, kind)(NOISY)._engine().pooled_quantiles(kind, s, s, 5.0)
    laws = [Noise(a) for a in SLOPES[0]]
    before, after = (
        1 - mp.fsum(of.tail(kind, mpmath.mpf(t)) for of in laws) / len(laws) for t in (low, high)
    )
    assert before < s < after
    assert high - low < 1e-3


@pytest.mark.parametrize("closed", [False, True])
def test_boxes_wholly_above_a_level(closed):
    """Also where nothing is known of the leakage, where it is infinite, and at a level itself."""
    rng = np.random.default_rng(5)
    least = rng.integers(0, 5, (3, 40)) / 4
    least[0, :3], least[1, :2], least[2] = np.nan, np.inf, np.nan
    low = rng.random((3, 40)) * 10.0 ** rng.integers(-9, 0, (3, 40))
    lines = outcome_lines.Lines.flat(least, np.inf, low, 2 * low)
    least = lines.range()[0]
    for t in (0.0, 0.5, 0.6, least[0, 9], 2.0, least[:, 9:10]):
        above = least >= t if closed else least > t
        for found, mass in zip(lines.wholly_above(t, closed), (low, 2 * low), strict=True):
            truth = [math.fsum(row[own]) for row, own in zip(mass, above, strict=True)]
            np.testing.assert_allclose(found, truth, rtol=40 * 2.0**-53, atol=0)


@pytest.mark.parametrize(
    ("name", "change", "seen"),
    [
        ("_line", lambda at, slope, off: (at, slope, 0 * off), "high"),
        ("_line", lambda at, slope, off: (at + off, slope, 0 * off), "low"),
        ("_density", lambda low, high, a, b, off: (low, high, a, b, 0 * off), "density"),
        ("_density", lambda low, high, *rest: (high, high, *rest), "mass"),
        ("_density", lambda low, high, *rest: (low, low, *rest), "mass"),
    ],
)
def test_mistakes_are_seen(name, change, seen, monkeypatch):
    right = getattr(outcome_lines, name)
    monkeypatch.setattr(outcome_lines, name, lambda *given: change(*right(*given)))
    edges = np.array([0.6, 0.8])
    assert seen in wrong_on_boxes("pmc", read("pmc", edges), edges)


def test_a_mean_with_a_wrong_first_moment_is_seen(monkeypatch):
    moment = lambda self: (self.half**2 * self.level,) * 2  # noqa: E731
    monkeypatch.setattr(outcome_lines.Lines, "_first_moment", moment)
    edges = np.array([0.6, 0.65])
    assert "mean" in wrong_on_boxes("pmc", read("pmc", edges), edges)
