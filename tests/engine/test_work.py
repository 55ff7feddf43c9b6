"""Work is counted, not seconds: a figure is the same on a slow machine, and after other figures.

The only clock is the safety stop, after five budgets on the wall.
"""

import math
import time
from fractions import Fraction as F
from functools import cache
from itertools import permutations

import numpy as np
import pytest
from scipy import stats

import borel as bl
from borel import settings
from borel.engine import certified_engine
from borel.engine.problem.budget import within_budget
from borel.guarantees import PML
from borel.numerics.balls.interpreter import Slice
from borel.numerics.float64 import programmes
from borel.numerics.germs.interpreter import PowerProgram
from borel.numerics.graphs import float64
from borel.numerics.intervals import interpreter
from borel.numerics.jets.interpreter import Program
from borel.probability.bound import Bound
from borel.probability.memo import Memo

UNIT, REALS, COUNTS = bl.Interval(0, 1), bl.Reals(), bl.Integers(0, None)
THREE = bl.Finite([0.0, 1.0, 3.0])
PRIMITIVES = (
    (Program, "run"),
    (Slice, "run"),
    (PowerProgram, "run"),
    (interpreter, "evaluate"),
    (float64, "_values"),
    (programmes, "linprog"),
)


class Wall:
    """A processor's clock: work takes so many times the seconds that it is counted as."""

    def __init__(self, patch, slowness):
        self.now = 1000.0
        patch.setattr(time, "thread_time", lambda: self.now)
        count = settings.work

        def work(*args):
            begun = settings.now()
            count(*args)
            self.now += slowness * (settings.now() - begun)

        patch.setattr(settings, "work", work)
        for owner, name in PRIMITIVES if slowness else ():
            patch.setattr(owner, name, slow(getattr(owner, name)))


def slow(primitive):
    """Let a primitive take longer than it does."""

    def slowed(*args, **kwargs):
        time.sleep(1e-5)
        return primitive(*args, **kwargs)

    return slowed


@pytest.fixture
def wall(monkeypatch):
    """Stop the clock of the processor."""
    now = [0.0]
    monkeypatch.setattr(time, "thread_time", lambda: now[0])
    return now


def laplace(y, x):
    return np.exp(-abs(y - x)) / 2


def on(secret, prior, density=laplace, outcome=REALS):
    return prior * bl.Mechanism(density, secret=secret, outcome=outcome)


def continuous():
    return on(UNIT, bl.beta(alpha=2, beta=5))


def flat():
    return on(UNIT, bl.uniform(UNIT))


def written():
    prior = bl.Measure(lambda x: 6 * x * (1 - x), on=UNIT)
    return on(UNIT, prior, lambda y, x: np.exp(-((y - x) ** 2) / 2) / np.sqrt(2 * np.pi))


def three():
    return on(THREE, bl.pmf([0.5, 0.3, 0.2], on=THREE))


def one_by_one(y, x):
    y, x = np.broadcast_arrays(np.asarray(y, float), np.asarray(x, float))
    pairs = zip(y.ravel().tolist(), x.ravel().tolist(), strict=True)
    return np.array([math.exp(-abs(a - b)) / 2 for a, b in pairs]).reshape(y.shape)


def opaque():
    return on(UNIT, bl.uniform(UNIT), one_by_one)


def vectorised():
    return on(UNIT, bl.uniform(UNIT), lambda y, x: stats.laplace.pdf(np.array(y - x)))


def counted():
    return on(COUNTS, bl.poisson(mu=3))


def thinned():
    return bl.poisson(mu=3) * bl.Mechanism.from_scipy(
        lambda x: stats.binom(x, 0.5), secret=COUNTS, outcome=COUNTS
    )


def table():
    rng = np.random.default_rng(1)
    return bl.pmf(rng.dirichlet(np.ones(8))) * bl.Mechanism.from_matrix(
        rng.dirichlet(np.ones(8), size=8)
    )


def ball():
    return on(UNIT, bl.priors.tv_ball(bl.uniform(UNIT), 0.1))


def divergence_ball():
    prior = bl.pmf([0.5, 0.3, 0.2], on=THREE)
    prior_set = bl.priors.kl_ball(prior, 0.1, direction="to_centre")
    return on(THREE, prior_set, lambda y, x: 1 / (np.pi * (1 + (y - x) ** 2)))


def ends(found):
    return found.lower, found.upper, found.status, found.reason


# -- a slow machine -------------------------------------------------------------------------------

CUT_SHORT = {
    "a supremum": (written, lambda j: bl.pml(j).sup(), 0.1),
    "another one": (continuous, lambda j: bl.pmc(j).sup(), 0.4),
    "a mean": (continuous, lambda j: bl.pmc(j).mean(), 0.5),
    "a mean of noise on counts": (counted, lambda j: bl.pml(j).mean(), 0.2),
    "an estimated mean": (vectorised, lambda j: bl.pml(j).mean(), 1.2),
    "a set of priors": (divergence_ball, lambda j: bl.pml(j).sup(), 0.4),
    "an envelope": (continuous, lambda j: bl.envelope(j)(F(1, 5)), 0.3),
}
"""Figures, with budgets that cut them short: a quarter of each gives another answer."""


@pytest.mark.few(1)
@pytest.mark.parametrize("name", CUT_SHORT)
def test_a_slow_machine_gives_the_same_figure(name, monkeypatch):
    build, figure, budget = CUT_SHORT[name]
    found = []
    for slowness in (0.0, 4.0):
        with monkeypatch.context() as patch, bl.options(budget=budget, closed_forms=False):
            wall = Wall(patch, slowness)
            found.append(figure(build()))
            assert (wall.now > 1000.0 + budget) == (slowness > 0)
    assert ends(found[0]) == ends(found[1])
    assert settings.STOPPED not in found[0].reason
    assert found[0].status == "estimate" or f"{budget:g} s were not enough" in found[0].reason


def test_more_budget_is_more_work():
    widths = []
    for budget in (0.02, 0.2):
        with bl.options(budget=budget, closed_forms=False):
            widths.append(bl.pml(written()).sup().width)
    assert widths[1] < widths[0]


def test_opaque_densities_count_evaluations():
    """Whatever one of them takes: a budget is so many numbers, and some for each call."""
    seen = []

    def density(y, x):
        seen.append(np.broadcast(y, x).size)
        return laplace(y, x) + 0 * stats.norm.pdf(np.array(y))

    joint = on(UNIT, bl.uniform(UNIT), density)
    assert joint.mechanism.opaque
    seen.clear()
    call, number = settings.WORK["opaque"]
    with bl.options(budget=0.2):
        bl.mutual_information(joint)
    assert 0.2 / 3 <= len(seen) * call + sum(seen) * number <= 2 * 0.2


# -- the safety stop ------------------------------------------------------------------------------


@pytest.fixture
def stopped(monkeypatch):
    """Let the processor's clock pass five budgets at once, after some looks at it."""

    def after(looks):
        left = [looks]

        def thread_time():
            left[0] -= 1
            return 0.0 if left[0] >= 0 else 1e6

        monkeypatch.setattr(time, "thread_time", thread_time)

    return after


@pytest.mark.few(2)
@pytest.mark.parametrize("looks", [1, 4, 12])
@pytest.mark.parametrize(
    ("build", "figure", "truth"),
    [
        # f(y|x) is at most e times f_Y
        (continuous, lambda j: bl.pml(j).sup(), (0.0, 1.0)),
        (three, lambda j: bl.envelope(j)(F(1, 5)), (0.0, math.log(5))),
        (ball, lambda j: bl.pml(j).sup(), (0.0, 1.0)),
        (opaque, lambda j: bl.pml(j).sup(), (0.0, 1.0)),
    ],
)
def test_after_five_budgets_on_the_clock_it_is_stopped(stopped, looks, build, figure, truth):
    joint = build()
    with bl.options(budget=20, closed_forms=False, tol=1e-12):
        stopped(looks)
        found = figure(joint)
    assert found.status == "undecided" and found.reason.endswith(settings.STOPPED)
    assert found.lower <= truth[1] and truth[0] <= found.upper


def test_what_was_stopped_is_computed_again(stopped):
    ell = bl.pml(continuous())
    with bl.options(budget=20, closed_forms=False, tol=1e-6):
        stopped(1)
        first = ell.sup()
        stopped(10**9)
        again = ell.sup()
    assert first.status == "undecided" and again.status == "certified"
    assert first.lower <= again.upper and again.lower <= first.upper


def test_a_profile_that_was_stopped_is_undecided(stopped):
    profile = bl.privacy_profile(
        bl.Mechanism(
            lambda y, x: -((y - x) ** 2) / 2 - np.log(2 * np.pi) / 2,
            log=True,
            secret=bl.Finite([0, 1]),
            outcome=REALS,
        )
    )
    with bl.options(budget=20):
        stopped(40)
        found = profile.epsilon(0.05)
    assert found.status == "undecided" and found.reason.endswith(settings.STOPPED)
    # Phi(1/2 - e) - e^e Phi(-1/2 - e) is 0.0508 at e = 1.56, and 0.0498 at 1.57
    assert found.lower <= 1.57 and 1.56 <= found.upper


@pytest.mark.parametrize(("budget", "end"), [(10, 50), (0.1, 30)])
def test_the_stop_is_after_five_budgets_and_half_a_minute(wall, budget, end):
    wall[0] = 7.0
    with bl.options(budget=budget), settings.one_figure():
        for seconds, stop in ((0.0, False), (end - 0.1, False), (end + 0.1, True), (0.0, True)):
            wall[0] = 7.0 + seconds
            assert settings.late(math.inf) == settings.spent() == settings.stopped() == stop
    assert not settings.stopped()


def test_a_figure_that_never_looks_reads_no_clock(monkeypatch):
    """To read the processor's time is to let others have it: milliseconds on a busy machine."""
    read = []
    monkeypatch.setattr(time, "thread_time", lambda: read.append(1) or 0.0)
    joint = bl.pmf([0.25, 0.75]) * bl.Mechanism.from_matrix([[0.5, 0.5], [0.25, 0.75]])
    assert bl.pml(joint)([0, 1]).status[1] == bl.pmc(joint).sup().status == "exact"
    assert not read
    with settings.one_figure():
        settings.spent()
    assert read


def test_a_figure_that_was_ready_is_not_stopped(wall):
    """Nothing was cut short: it is as good as on a fast machine."""

    def slow():
        wall[0] = 1e6
        return Bound.certified(0.25, 0.5)

    assert ends(within_budget(slow))[:3] == (0.25, 0.5, "certified")


def test_what_was_stopped_is_undecided_of_any_kind(wall):
    def late(found):
        def compute():
            settings.spent()
            wall[0] += 1e6
            settings.spent()
            return found

        return within_budget(compute, units)

    for units, most in (("nats", math.inf), ("probability", 1.0)):
        guess = late(Bound.estimate(0.5, 0.1, units=units))
        assert ends(guess)[:3] == (0.0, most, "undecided") and guess.units == units
    proved = late(Bound.certified(0.25, 0.5, units=units, assumptions=("a",)))
    assert ends(proved) == (0.25, 0.5, "undecided", settings.STOPPED)
    assert proved.assumptions == ("a",)
    # the ends that hold at a confidence are not true ones where no confidence is stated
    sample = late(Bound.statistical(0.25, 0.5, confidence=0.95, units=units))
    assert ends(sample)[:3] == (0.0, most, "undecided")
    for guessed in ("estimate", "statistical"):
        low, high, status = late((np.array([0.5]), np.array([0.6]), np.array([guessed])))
        assert (low[0], high[0], status[0]) == (0.0, math.inf, "undecided")
    low, high, status = late((np.array([0.5]), np.array([0.6]), "certified"))
    assert (low[0], high[0], status[0]) == (0.5, 0.6, "undecided")


def test_a_guarantee_is_not_decided_by_the_clock(stopped):
    joint = continuous()
    with bl.options(budget=20, closed_forms=False, tol=1e-12):
        stopped(1)
        verdict = joint.satisfies(PML(5.0))
    assert verdict.holds is None or verdict.bound.status != "undecided"


# -- every loop ends ------------------------------------------------------------------------------


def test_a_loop_that_only_looks_ends():
    with bl.options(budget=0.01), settings.one_figure():
        looks = 0
        while not settings.spent():
            looks += 1
    assert 0 < looks <= 0.01 / settings.WORK["look"][0] + 1


def test_every_kind_of_work_costs_something():
    for kind, (step, number) in settings.WORK.items():
        assert step > 0 and number >= 0
        before = settings.now()
        settings.work(kind)
        assert settings.now() > before


# -- the order of questions -----------------------------------------------------------------------

QUESTIONS = {
    "at an outcome": lambda j: bl.pml(j)(1 if j.outcome.kind in ("finite", "countable") else 0.5),
    "PML": lambda j: bl.pml(j).sup(),
    "E PMC": lambda j: bl.pmc(j).mean(),
    "a quantile": lambda j: bl.pml(j).quantile(0.9),
    "a tail": lambda j: bl.pml(j).tail(0.2),
    "information": bl.mutual_information,
    "LIP": bl.lip,
    "an envelope": lambda j: bl.envelope(j)(F(1, 5)),
    "another level of it": lambda j: bl.envelope(j)(F(2, 5)),
}


def answers(build, names):
    joint, found = build(), {}
    for name in names:
        try:
            found[name] = ends(QUESTIONS[name](joint))
        except bl.BorelError as error:
            found[name] = str(error)
    return found


@pytest.mark.few(2)
@pytest.mark.usefixtures("wall")
@pytest.mark.parametrize(
    "build",
    [
        table,
        pytest.param(thinned, marks=pytest.mark.slow),
        counted,
        pytest.param(continuous, marks=pytest.mark.slow),
        pytest.param(written, marks=pytest.mark.slow),
        pytest.param(three, marks=pytest.mark.slow),
        opaque,
    ],
)
def test_figures_are_the_same_in_any_order(build):
    names = list(QUESTIONS)
    with bl.options(budget=0.05, closed_forms=False):
        assert answers(build, names) == answers(build, names[::-1])


LAW = {
    "sup": lambda ell: ell.sup(),
    "quantile": lambda ell: ell.quantile(0.9),
    "mean": lambda ell: ell.mean(),
    "tail": lambda ell: ell.tail(0.2),
}


@cache
def alone(build, name, **options):
    """Return a figure of a law that nothing was asked of before."""
    with bl.options(closed_forms=False, **options):
        return ends(LAW[name](bl.pml(build())))


@pytest.mark.few(1)
@pytest.mark.usefixtures("wall")
@pytest.mark.parametrize("order", [*permutations(LAW)], ids=" ".join)
def test_figures_of_one_law_are_those_of_each_alone(order):
    """To the bit, whether they are narrow enough or cut short."""
    for build, options in ((three, {"tol": 1e-2}), (flat, {"budget": 0.03})):
        ell = bl.pml(build())
        with bl.options(closed_forms=False, **options):
            found = {name: ends(LAW[name](ell)) for name in order}
        assert found == {name: alone(build, name, **options) for name in LAW}


def test_some_figures_of_that_law_are_cut_short():
    assert all("were not enough" in alone(flat, name, budget=0.03)[3] for name in LAW)
    assert not any(alone(three, name, tol=1e-2)[3] for name in LAW)


@pytest.mark.truths
@pytest.mark.usefixtures("wall")
def test_levels_of_one_envelope_are_the_same_in_any_order():
    deltas = [F(1, 5), F(2, 5), F(3, 5)]
    for build in (table, three):
        first, second = bl.envelope(build()), bl.envelope(build())
        with bl.options(budget=0.1):
            one = {d: ends(first(d)) for d in deltas}
            assert one == {d: ends(second(d)) for d in deltas[::-1]}


def test_what_is_kept_is_of_one_figure():
    memo, made = Memo(), []

    def once():
        return memo.in_figure("a", lambda: made.append(1) or len(made))

    assert once() == once() == 1  # where no figure is computed
    with settings.one_figure():
        assert once() == once() == 2
        with settings.one_figure():
            assert once() == 2
        with settings.apart():
            assert once() == 3
    with settings.one_figure():
        assert once() == 4


def test_facts_that_outlive_a_figure_are_made_apart():
    """Neither does the figure pay for them, nor do they end with what is left of its budget."""
    with bl.options(budget=5), settings.one_figure():
        settings.work("programmes", 1000)
        before = settings.now()
        with settings.apart():
            assert settings.now() == 0 and settings.deadline() == 5
            settings.work("programmes", 1000)
        assert settings.now() == before


@pytest.mark.parametrize(
    "mechanism",
    [
        bl.Mechanism(
            lambda y, x: (1 - x) + x / (2 * np.sqrt(y)),
            secret=bl.Interval(0, 1),
            outcome=bl.Interval(0, 1),
        ),
        bl.mechanisms.laplace(b=0.5, secret=bl.Interval(0, 1)).clip(0, 1),
    ],
)
def test_figures_share_the_graphs_of_a_kernel_and_nothing_else(mechanism):
    """What a figure keeps with a kernel, or with the prior, another one does not see."""
    joint = bl.uniform(bl.Interval(0, 1)) * mechanism
    one, other = certified_engine(joint), certified_engine(joint)
    for a, b in zip(
        (one.surface, *one.at_atoms.values()),
        (other.surface, *other.at_atoms.values()),
        strict=True,
    ):
        assert a.plain is b.plain
        for first, second in ((a, b), (a.as_given, b.as_given)):
            assert first is not second and first.memo is not second.memo
            assert first.secret is one.secret and second.secret is other.secret
    assert one.secret.memo is not other.secret.memo
