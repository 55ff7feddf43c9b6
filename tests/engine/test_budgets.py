"""Budgets of which only the engine's own batches take something: what is left out stays true.

Every batch (a block of boxes, an integral, a step of a search) counts as some seconds of work, and
nothing else does. So the number of batches within a budget is known; and whatever was left out,
the figure encloses the truth.
"""

import math
from fractions import Fraction as F
from itertools import pairwise

import numpy as np
import pytest
from engine.certified_cases import CASES, REALS, UNIT, Tilt, encloses, kernel, logs, tilt
from flint import ctx
from scipy import stats

import borel as bl
from borel import settings
from borel.engine import engine_for
from borel.engine.continuous import outcome_partition
from borel.engine.countable import engine as countable
from borel.engine.estimates import outcome_curve
from borel.engine.estimates.divergences import Quadrature
from borel.engine.estimates.engine import Pointwise
from borel.engine.infinite import proofs
from borel.engine.kernels import (
    essential_supremum,
    leakage_far_out,
    leakage_on_boxes,
    marginal_integral,
    quadrature_rules,
    unbounded_secrets,
)
from borel.engine.kernels.outcome_integrals import OutcomeIntegrals
from borel.engine.problem.budget import within_budget
from borel.numerics.balls import integral
from borel.numerics.balls.arithmetic import ball, enclose
from borel.numerics.germs.interpreter import PowerProgram
from borel.numerics.intervals import batched
from borel.probability.bound import Bound


class Clock:
    """Seconds of work that only batches take that are told to."""

    def __init__(self, patch):
        self.counts, self.patch = {}, patch
        free = dict.fromkeys(settings.WORK, (0.0, 0.0))
        patch.setattr(settings, "WORK", free | {"batch": (1.0, 0.0)})

    @property
    def now(self):
        return settings.now()

    @now.setter
    def now(self, seconds):
        settings.work("batch", seconds - settings.now())

    def takes(self, owner, name, seconds=1.0):
        """Let a function take some seconds of work, and count its calls."""
        function = getattr(owner, name)
        self.counts[name] = 0

        def slow(*args, **kwargs):
            self.counts[name] += 1
            self.now += seconds(*args) if callable(seconds) else seconds
            return function(*args, **kwargs)

        self.patch.setattr(owner, name, slow)


@pytest.fixture
def clock(monkeypatch):
    return Clock(monkeypatch)


@pytest.fixture(autouse=True)
def alone():
    with bl.options(closed_forms=False, tol=1e-8, budget=10):
        yield


def fresh():
    return bl.uniform(UNIT) * kernel(tilt, outcome=UNIT)


# -- the deadline of a figure ---------------------------------------------------------------------


def test_parts_of_one_figure_share_its_budget(clock):
    with bl.options(budget=5):
        assert settings.deadline() == clock.now + 5
        with settings.one_figure():
            end = clock.now + 5
            clock.now += 2
            assert settings.deadline() == end
            with settings.one_figure(), bl.options(budget=100):
                assert settings.deadline() == end
            with bl.options(budget=1):
                assert settings.deadline() == clock.now + 1
            clock.now += 9
            assert settings.deadline() == end
            with bl.options(budget=100):
                assert settings.search_deadline() == end - 5 / 4
        assert settings.deadline() == clock.now + 5


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (Bound.certified(0, 1), True),
        (Bound.undecided(0, math.inf, reason="open above"), True),
        (Bound.certified(0.5, 0.5), False),
        (Bound.estimate(0.5, 0.1), False),
        (Bound.undecided(reason="options(budget=...) gives more time"), False),
    ],
)
def test_a_wide_figure_that_was_late_names_the_budget(clock, found, said):
    def late():
        clock.now += 60
        return found

    with bl.options(budget=7):
        bound = within_budget(late)
        assert within_budget(lambda: found) == found
    assert (bound.lower, bound.upper, bound.status) == (found.lower, found.upper, found.status)
    assert ("7 s were not enough; options(budget=...)" in bound.reason) == said
    assert found.reason in bound.reason


# -- batches --------------------------------------------------------------------------------------


def test_a_search_stops_between_blocks_of_boxes(clock, monkeypatch):
    """The bounds of boxes that are not looked at are those of the boxes they were cut from."""
    slices = essential_supremum._slices
    monkeypatch.setattr(essential_supremum, "_slices", lambda count: slices(count, 64))
    clock.takes(essential_supremum, "_bounds")
    engine = engine_for(fresh())
    ys = np.linspace(0.01, 0.99, 101)
    truth = np.log1p(np.abs(1 - 2 * ys) / 2)
    widths = []
    for seconds in (3, 12, 40, 10_000):
        before = clock.counts["_bounds"]
        deadline = clock.now + seconds
        found = essential_supremum.extremes(
            engine.surface, batched.point(ys), len(ys), sign=1.0, tol=1e-9, deadline=deadline
        )
        assert clock.counts["_bounds"] - before <= seconds + 1
        slack = 1e-15  # of the truth, in float64
        assert (found.lower <= truth + slack).all() and (truth - slack <= found.upper).all()
        widths.append(found.upper - found.lower)
    assert np.isinf(widths[0]).any()
    assert (widths[-1] <= 2e-9).all()
    for more, less in pairwise(widths):
        assert (less <= more + 1e-12).all()


@pytest.mark.parametrize("seconds", [0, 2, 9, 30])
def test_an_integral_stops_between_blocks_of_boxes(clock, monkeypatch, seconds):
    monkeypatch.setattr(marginal_integral, "_CELLS", 64 * quadrature_rules.NODES[1])
    clock.takes(marginal_integral, "_cells")
    joint = bl.uniform(UNIT) * kernel(lambda y, x: np.exp(-np.abs(y - x) / 0.01) / 0.02)
    surface = engine_for(joint).surface
    ys = np.linspace(-0.05, 1.05, 101)
    truth = 50 * np.where(
        (ys > 0) & (ys < 1),
        0.01 * (2 - np.exp(-ys / 0.01) - np.exp(-(1 - ys) / 0.01)),
        0.01 * (np.exp(-np.minimum(np.abs(ys), np.abs(ys - 1)) / 0.01)) * -np.expm1(-100),
    )
    at = quadrature_rules.Outcomes(ys, ys, ys, 0, np.zeros(len(ys)))
    low, high = marginal_integral.marginal(surface, at, rtol=1e-9, deadline=clock.now + seconds)[
        0
    ].total()
    assert clock.counts["_cells"] <= seconds + 1
    assert (low <= truth * (1 + 1e-12)).all() and (truth * (1 - 1e-12) <= high).all()
    assert np.isinf(high).any() == (seconds < 6)  # seven blocks cover the secrets


@pytest.mark.few(1)
@pytest.mark.cases("slow", "pmc-sup")
@pytest.mark.cases("truths", "pmc-quantile")
@pytest.mark.parametrize("figure", ["sup", "tail", "quantile", "mean", "exp_mean"])
@pytest.mark.parametrize("kind", ["pml", "pmc"])
def test_a_law_stops_between_blocks_of_bands(clock, monkeypatch, kind, figure):
    monkeypatch.setattr(outcome_partition, "_BLOCK", 8)
    clock.takes(leakage_on_boxes.Bands, "evaluate")
    arguments = {"tail": (0.2,), "quantile": (0.5,)}.get(figure, ())
    truths = {
        ("pml", "sup"): Tilt().pml_sup(),
        ("pmc", "sup"): Tilt().pmc_sup(),
        ("pml", "quantile"): Tilt().pml_quantile(0.5),
        ("pmc", "quantile"): Tilt().pmc_quantile(0.5),
        # u = |1 - 2 y| is uniform, PML = log(1 + u/2), PMC = -log(1 - u/2)
        ("pml", "tail"): (1 - 2 * math.expm1(0.2),) * 2,
        ("pmc", "tail"): (1 + 2 * math.expm1(-0.2),) * 2,
        ("pml", "mean"): (3 * math.log(1.5) - 1,) * 2,
        ("pmc", "mean"): (1 - math.log(2),) * 2,
        ("pml", "exp_mean"): (1.25,) * 2,
        ("pmc", "exp_mean"): (2 * math.log(2),) * 2,
    }
    pair = truths[kind, figure]
    pair = pair[0] - 1e-14, pair[1] + 1e-14
    widths = []
    for seconds in (1, 5, 12):
        before = clock.counts["evaluate"]
        with bl.options(budget=seconds, tol=1e-5):
            found = getattr(getattr(bl, kind)(fresh()), figure)(*arguments)
        assert clock.counts["evaluate"] - before <= seconds + 1
        assert encloses(found.lower, found.upper, pair)
        widths.append(found.width)
        if found.width > 1e-5 and "budget" not in found.reason:
            pytest.fail(f"no word of the budget in {found!r}")
    assert widths[0] > widths[-1]


def test_a_later_figure_with_more_time_is_better(clock):
    """What a small budget left unknown is not remembered as all that can be known."""
    clock.takes(essential_supremum, "_bounds")
    clock.takes(marginal_integral, "_cells")
    joint = CASES["Clayton, a user's"].build()
    ys = np.linspace(0.05, 0.99, 400)
    with bl.options(budget=1):
        short = bl.pml(joint)(ys)
    with bl.options(budget=1000):
        long = bl.pml(joint)(ys)
    assert float((long.upper - long.lower).max()) <= 1e-8
    assert float((short.upper - short.lower).max()) > 1e-8
    assert ((short.lower <= long.upper) & (long.lower <= short.upper)).all()


@pytest.mark.truths
def test_far_bands_stop_one_by_one(clock):
    """A kernel that nothing bounds on any band: the slope argument is asked for each."""
    clock.takes(leakage_far_out, "leakage")
    wedge = bl.Mechanism(
        lambda y, x: np.where(y < x, 2 * y / x, 2 * (1 - y) / (1 - x)), secret=UNIT, outcome=UNIT
    )
    with bl.options(budget=4):
        found = bl.pml(bl.uniform(UNIT) * wedge).exp_mean()
    assert clock.counts["leakage"] <= 5
    # ess sup_x f(y|x) is 2, for x close to y
    assert found.lower <= 2.0 <= found.upper


def test_proofs_of_infinities_end_with_the_budget(clock):
    clock.takes(PowerProgram, "run")
    engine = engine_for(CASES["Clayton, a user's"].build())
    counts = []
    for seconds in (1, 4, 10_000):
        before = clock.counts["run"]
        with bl.options(budget=seconds), settings.one_figure():
            proof = proofs.prove(engine, "pml", [(0.0, 0.01)])
        counts.append(clock.counts["run"] - before)
        assert (proof is not None) == (seconds > 4)
    # a ray that is under way is tried to its end: some boxes of secrets, in two forms each
    assert counts[0] <= 2 + 40 and counts[1] <= 8 + 40
    assert counts[2] > counts[1]


# -- integrals through Arb ------------------------------------------------------------------------


def noisy(size):
    points = list(range(size))
    mech = bl.Mechanism(
        lambda y, x: -((y - x) ** 2) / 2 - np.log(2 * np.pi) / 2,
        log=True,
        secret=bl.Finite(points),
        outcome=REALS,
    )
    return bl.pmf([F(1, size)] * size, on=bl.Finite(points)) * mech


def on_a_grid(size, delta):
    """Return e^ of the largest leakage of an event, and 1 + TV of the outermost rows, to 1e-5."""
    y = np.linspace(-12, 12 + size, 400_001)
    rows = stats.norm.pdf(y, np.arange(size)[:, None]) * (y[1] - y[0])
    law = rows.mean(axis=0)
    best = 0.0
    for row in rows:
        order = np.argsort(-row / law)
        mass, share = np.cumsum(law[order]), np.cumsum(row[order])
        best = max(best, float(np.interp(float(delta), mass, share)) / float(delta))
    return best, 1 + np.abs(rows[0] - rows[-1]).sum() / 2


@pytest.mark.parametrize("delta", [F(1, 4), F(3, 4)])
def test_binary_envelopes_end_in_time(clock, monkeypatch, delta):
    """By integrals, as where no checker proves what float64 finds."""
    monkeypatch.setattr("borel.engine.continuous.event_figures._proved", lambda prove: None)
    event, halves = on_a_grid(3, delta)
    least, most = math.log(event), math.log(event if delta < F(1, 2) else max(event, halves))
    clock.takes(integral, "_core")
    for seconds in (1, 10):
        before = clock.counts["_core"]
        with bl.options(budget=seconds):
            found = bl.binary_envelope(noisy(3))(delta)
        # the parts of an integral that is under way are still cut into pieces, but not integrated
        assert clock.counts["_core"] - before <= seconds + 3
        assert found.lower <= most + 1e-4 and least - 1e-4 <= found.upper
        assert found.upper <= math.log(3) + 1e-12
        assert found.width > 1e-8 and "options(budget" in found.reason


def test_an_integral_after_the_deadline_is_wide_and_true(clock):
    from borel.numerics.balls.interpreter import Prepared
    from borel.numerics.graphs.trace import trace

    graph = Prepared(trace(lambda y, x: np.exp(-abs(y - x)) / 2, ("y", "x"), ()))
    clock.takes(integral, "_pieces", 100.0)
    with bl.options(budget=5):
        low, high = integral.integrate(graph, {"y": 0.0}, -30.0, 30.0, breaks=[0.0]).floats
    assert clock.counts["_pieces"] == 1
    assert 0 <= low < 0.9 and 1.1 < high < math.inf


# -- countable outcomes ---------------------------------------------------------------------------


def thinned():
    """A Poisson secret of mean 3 of which half is seen: a Poisson outcome of mean 3/2."""
    return bl.poisson(mu=3) * bl.Mechanism.from_scipy(
        lambda x: stats.binom(x, 0.5), secret=bl.Integers(0, None), outcome=bl.Integers(0, None)
    )


def cells(engine, density, boxes):
    shape = np.broadcast_shapes(*(np.shape(b[0]) for b in boxes.values()))
    return math.prod(shape) / 50_000


@pytest.mark.truths
def test_heads_grow_while_there_is_time(clock, monkeypatch):
    """A head twice as long takes twice as long: it is not begun without that time."""
    monkeypatch.setattr(countable, "_CELLS", 100_000)
    spent = []
    evaluate = countable.CountableEngine._evaluate

    def slow(self, density, boxes):
        clock.now += cells(self, density, boxes)
        return evaluate(self, density, boxes)

    monkeypatch.setattr(countable.CountableEngine, "_evaluate", slow)
    prior = bl.Measure(
        lambda n: 1 / ((n + 1) * (n + 2)),
        on=bl.Integers(0, None),
        tail=lambda n: math.nextafter(1 / (n + 2), 1),
    )
    joint = prior * thinned().mechanism
    n = np.arange(200_000.0)
    most, law = np.empty(4), np.empty(4)
    for y in range(4):
        kernel = stats.binom(n, 0.5).pmf(y)
        most[y], law[y] = kernel.max(), (kernel / ((n + 1) * (n + 2))).sum()
    least = float((law * np.log(most / law)).sum())  # of four outcomes; PML is never negative
    for seconds in (3, 20):
        start = clock.now
        with bl.options(budget=seconds):
            found = bl.pml(joint).mean()
        assert seconds > 3 or "options(budget" in found.reason
        spent.append(clock.now - start)
        assert spent[-1] <= 2 * seconds + 3
        assert found.status == "undecided"
        assert found.upper == math.inf and found.lower > 0.9 * least > 0.2


def test_information_over_countable_outcomes_ends_in_time(clock, monkeypatch):
    joint = bl.pmf([F(1, 2), F(1, 2)], on=bl.Finite([1, 2])) * bl.Mechanism(
        lambda y, x: np.where(x == 1, 2.0**-y, 0.75 * 0.25 ** (y - 1)),
        secret=bl.Finite([1, 2]),
        outcome=bl.Integers(1, None),
    )
    y = np.arange(1.0, 200)
    p = np.array([2.0**-y, 0.75 * 0.25 ** (y - 1)])
    truth = math.fsum((p * np.log(p / p.mean(axis=0)) / 2).ravel())
    whole = bl.mutual_information(joint)
    assert whole.width < 1e-8 and whole.lower - 1e-12 <= truth <= whole.upper + 1e-12
    from borel.engine.countable import measures as countable_measures

    clock.takes(countable_measures, "ball", 0.05)
    with bl.options(budget=2):
        found = bl.mutual_information(joint)
    assert found.lower <= truth <= found.upper
    assert found.width > 1e-6 and "options(budget" in found.reason


# -- estimates ------------------------------------------------------------------------------------


def test_an_estimated_curve_ends_in_time_and_is_refined_later(clock):
    clock.takes(outcome_curve.Curve, "_sample")
    joint = bl.uniform(UNIT) * logs(lambda y, x: -np.abs(y - x) / 0.1 - np.log(0.2))
    with bl.options(engine="estimate", budget=0.5):
        bl.pml(joint).mean()
        assert clock.counts["_sample"] == 1
    with bl.options(engine="estimate", budget=1000):
        found = bl.pml(joint).mean()
        assert clock.counts["_sample"] > 3
        assert found.status == "estimate"


# -- after the deadline ---------------------------------------------------------------------------


class Leap:
    """Work that is not counted, until it leaps at one of the looks while a figure is made."""

    def __init__(self, patch, looks):
        self.left, self.begun, self.patch = looks, [], patch
        patch.setattr(settings, "now", self)

    def __call__(self):
        self.left -= settings.within_figure()
        return 0.0 if self.left > 0 else 1e6

    def watches(self, owner, name):
        """Note each piece of work that is begun after the leap."""
        function = getattr(owner, name)

        def watched(*args, **kwargs):
            if self.left <= 0:
                self.begun.append(name)
            return function(*args, **kwargs)

        self.patch.setattr(owner, name, watched)


PIECES_OF_WORK = (
    (essential_supremum, "_bounds"),
    (marginal_integral, "_cells"),
    (unbounded_secrets, "_cuts"),
    (integral, "_core"),
    (PowerProgram, "run"),
    (OutcomeIntegrals, "kernel"),
    (Pointwise, "log_kernel"),
    (countable.CountableEngine, "_evaluate"),
    (Quadrature, "_logs"),
)


def narrow():
    return bl.beta(alpha=1e4, beta=1e4) * bl.mechanisms.laplace(b=0.5, secret=UNIT)


def releases():
    first, second = (bl.mechanisms.laplace(b=b, secret=UNIT) for b in (1.0, 2.0))
    return bl.uniform(UNIT) * (first & second)


def opaque():
    return bl.uniform(UNIT) * kernel(lambda y, x: stats.laplace.pdf(np.asarray(y) - np.asarray(x)))


def square():
    unit = bl.uniform(UNIT * UNIT)
    return unit * kernel(lambda y, x: np.exp(-abs(y - x[0] * x[1])) / 2, secret=UNIT * UNIT)


def measures():
    first = bl.mixture([bl.normal(mu=0.0), bl.normal(mu=1.0)], weights=[0.5, 0.5])
    return first, bl.normal(mu=0.5, sigma=2.0)


AFTER = {
    "a supremum": (fresh, lambda j: bl.pml(j).sup(), Tilt().pml_sup()),
    "a mean": (fresh, lambda j: bl.pmc(j).mean(), (1 - math.log(2),) * 2),
    "a tail": (fresh, lambda j: bl.pml(j).tail(0.2), (1 - 2 * math.expm1(0.2),) * 2),
    # the density is at most e^(1/b) times another, so that the leakage is at most 1/b
    "a narrow prior": (narrow, lambda j: bl.pml(j).sup(), (0.0, 2.0)),
    "two releases": (releases, lambda j: bl.pml(j).sup(), (0.0, 1.5)),
    "an opaque density": (opaque, lambda j: bl.pml(j).sup(), (0.0, 1.0)),
    "information of it": (opaque, bl.mutual_information, (0.0, 1.0)),
    "both sides of one": (square, bl.lip, (0.0, 1.0)),
    "a product": (square, lambda j: bl.pml(j).mean(), (0.0, 1.0)),
    "information of a product": (square, bl.mutual_information, (0.0, 1.0)),
    "an envelope": (lambda: noisy(3), lambda j: bl.envelope(j)(F(1, 5)), (0.0, math.log(3))),
    "a binary envelope": (
        lambda: noisy(3),
        lambda j: bl.binary_envelope(j)(F(1, 5)),
        (0.0, math.log(3)),
    ),
    "counts": (thinned, lambda j: bl.pml(j).mean(), (0.4, math.inf)),
    "a divergence": (measures, lambda pair: bl.renyi(*pair, 2.5), (0.0, math.inf)),
    "a hockey stick": (measures, lambda pair: bl.hockey_stick(*pair, 0.1), (0.0, 1.0)),
}
"""Figures, and what they are: where there is no closed form, an interval that holds them."""


@pytest.mark.few(3)
@pytest.mark.cases("slow", "an envelope-2")
@pytest.mark.parametrize("looks", [2, 12])
@pytest.mark.parametrize("name", AFTER)
def test_after_the_deadline_hardly_any_work_is_begun(monkeypatch, name, looks):
    build, figure, truth = AFTER[name]
    joint = build()
    clock = Leap(monkeypatch, looks)
    for owner, of in PIECES_OF_WORK:
        clock.watches(owner, of)
    with bl.options(budget=10):
        found = figure(joint)
    # what is under way is ended, by a block for each of the few things that a figure is made of
    assert len(clock.begun) <= 16, clock.begun
    assert encloses(found.lower, found.upper, truth)
    if clock.left <= 0 and found.width > 1e-6 and found.status != "estimate":
        assert "options(budget" in found.reason


def test_a_value_that_is_a_float_is_not_looked_at_with_ever_more_bits():
    """P{X < 1/2} = 1/2 for Beta(n, n): with 1024 bits and n = 10 000 it takes seconds."""
    seen = []

    def half():
        seen.append(ctx.prec)
        return ball(0.5).beta_lower(ball(100.0), ball(100.0), 1)

    low, high = enclose(half)
    assert low <= 0.5 <= high <= math.nextafter(math.nextafter(low, 1), 1)
    assert seen == [128, 256]


def test_a_profile_is_followed_within_one_budget(clock):
    """Each step of the bisection had a budget of its own."""
    rows = bl.Mechanism(
        lambda y, x: -((y - x) ** 2) / 2 - np.log(2 * np.pi) / 2,
        log=True,
        secret=bl.Finite([0, 1]),
        outcome=REALS,
    )
    clock.takes(integral, "_core")
    profile = bl.privacy_profile(rows)
    with bl.options(budget=20):
        found = profile.epsilon(0.05)
    assert clock.counts["_core"] <= 20 + 3
    # Phi(1/2 - e) - e^e Phi(-1/2 - e) is 0.0508 at e = 1.56, and 0.0498 at 1.57
    assert found.lower <= 1.57 and 1.56 <= found.upper
    assert "options(budget" in found.reason


def test_parts_of_a_figure_share_what_is_left(clock):
    with bl.options(budget=12), settings.one_figure():
        with settings.part(3):
            assert settings.deadline() == clock.now + 4
            clock.now += 1
        with settings.part(2):
            assert settings.deadline() == clock.now + 5.5
            assert not settings.spent()
            clock.now += 6
            assert settings.spent()
        assert not settings.spent()
        ends = settings.each(lambda _: settings.deadline() - clock.now, (1, 2))
    assert ends == [2.5, 5.0]
