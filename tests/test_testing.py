"""The checks for users' own objects: what is sound passes, each broken convention is found."""

import doctest
from dataclasses import replace
from fractions import Fraction as F
from functools import partial

import numpy as np
import pytest
from scipy import stats

import borel as bl
from borel import testing
from borel.engine.figures import FIGURES
from borel.priors.balls import TotalVariationBall
from borel.priors.sets import FullSupport
from borel.testing import check_measure, check_measure_record, check_mechanism, check_prior_set

AB = bl.Finite(["a", "b"])
UNIT, LINE, COUNTS = bl.Interval(0, 1), bl.Reals(), bl.Integers(0, None)
ATOM = bl.Mixed(UNIT, atoms=[0])

MEASURES = {
    "floats": bl.pmf([0.25, 0.75], on=AB),
    "Fractions": bl.pmf([F(1, 3), F(2, 3)]),
    "a product of pmfs": bl.pmf([0.25, 0.75], on=AB) * bl.pmf([F(1, 3), F(2, 3)]),
    "normal": bl.normal(mu=1, sigma=2),
    "cauchy": bl.cauchy(),
    "gamma with a pole": bl.gamma(alpha=0.5, beta=2),
    "beta": bl.beta(alpha=2, beta=5),
    "poisson": bl.poisson(mu=3),
    "geometric": bl.geometric(p=0.2),
    "integers": bl.Measure(lambda x: 0.5 ** abs(x) / 3, on=bl.Integers()),
    "own": bl.Measure(lambda x: 2 * x, on=UNIT),
    "atoms": bl.Measure(lambda x: 0.5 + 0 * x, on=ATOM, masses={0: 0.5}),
    "product": bl.uniform(UNIT) * bl.normal(),
    "mixture": bl.mixture([bl.normal(), bl.normal(mu=3)], weights=[0.5, 0.5]),
    "restricted": bl.normal().restrict(lambda x: x > 0),
    "opaque": bl.from_scipy(stats.triang(0.5)),
    "SciPy's beta": bl.from_scipy(stats.beta(2, 3)),
    "posterior": (bl.uniform(UNIT) * bl.mechanisms.laplace(b=1.0)).posterior(0.3),
}

LAPLACE = bl.mechanisms.laplace(b=1.0)
MATRIX = bl.Mechanism.from_matrix([[0.5, 0.5, 0.0], [0.25, 0.5, 0.25]], secret=AB)
MECHANISMS = {
    "matrix": (MATRIX, bl.pmf([0.1, 0.9], on=AB)),
    "two releases": (MATRIX & MATRIX, bl.pmf([F(1, 10), F(9, 10)], on=AB)),
    "randomised response": (
        bl.mechanisms.randomized_response(k=3, epsilon=1.0),
        bl.uniform(bl.Finite(3)),
    ),
    "counts": (
        bl.Mechanism(lambda y, x: (1 - x) * x**y, secret=bl.Finite([0.25, 0.5]), outcome=COUNTS),
        bl.pmf([0.5, 0.5], on=bl.Finite([0.25, 0.5])),
    ),
    "noise": (LAPLACE, bl.uniform(UNIT)),
    "clipped noise": (LAPLACE.clip(0, 1), None),
    "own": (
        bl.Mechanism(lambda y, x: np.exp(-abs(y - x)) / 2, secret=UNIT, outcome=LINE),
        bl.uniform(UNIT),
    ),
    "two dimensions": (LAPLACE & bl.mechanisms.gaussian(sigma=1.0), None),
    "two secrets": (
        bl.Mechanism(
            lambda y, x: np.exp(-abs(y - x[0] - x[1])) / 2, secret=UNIT * UNIT, outcome=LINE
        ),
        None,
    ),
    "opaque": (
        bl.Mechanism.from_scipy(lambda x: stats.exponnorm(1.5, x), secret=UNIT, outcome=LINE),
        None,
    ),
    "SciPy's normal": (
        bl.Mechanism.from_scipy(lambda x: stats.norm(x, 1), secret=UNIT, outcome=LINE),
        None,
    ),
}


@pytest.mark.parametrize("name", MEASURES)
def test_sound_measures_pass(name):
    check_measure(MEASURES[name])


@pytest.mark.few(7)
@pytest.mark.cases("slow", "noise", "own")
@pytest.mark.parametrize("name", MECHANISMS)
def test_sound_mechanisms_pass(name):
    check_mechanism(*MECHANISMS[name])


# -- what is broken is found ---------------------------------------------------------------------


def broken(make, **changes):
    """A sound object with something changed behind its constructor's back."""
    out = make()
    for name, value in changes.items():
        setattr(out, name, value)
    return out


def own():
    return bl.Measure(lambda x: 2 * x, on=UNIT)


def other_density(function, **more):
    from borel.probability.density import Density

    return Density(function, {"x": UNIT}, **more)


def captured_later():
    """A traced density that depends on a number changed afterwards."""
    scale = [2.0]
    out = bl.Measure(lambda x: scale[0] * x, on=UNIT)
    scale[0] = 3.0
    return out


def half_probabilities():
    out = bl.pmf([0.5, 0.5])
    out._probabilities = np.array([0.5, 0.25])
    return out


class Unbounded(bl.Measure):
    def pdf(self, x):
        return 2 * np.asarray(x, float)


class TwoMinds(bl.Measure):
    def logpdf(self, x):
        return super().logpdf(x) + 1


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: 3, "expected a Measure, got int"),
        (lambda: bl.pmf([[0.5, 0.5]]), r"expected one measure, got draws \(1,\)"),
        (lambda: broken(own, density=other_density(lambda x: 3 * x)), "expected a total of 1"),
        (lambda: broken(own, density=other_density(lambda x: 4 * x - 1)), "densities >= 0"),
        (half_probabilities, r"sum to 1.*got a sum of 0.75"),
        (captured_later, "the graph differs from the function"),
        (lambda: Unbounded(lambda x: 2 * x, on=UNIT), "expected OutsideAlphabet"),
        (lambda: TwoMinds(lambda x: 2 * x, on=UNIT), "logpdf is not the logarithm"),
        (
            lambda: bl.Measure(
                lambda x: 0.9 * 0.5 ** (x + 1), on=COUNTS, tail=lambda n: 0.0, _check=False
            ),
            "total",
        ),
    ],
)
def test_a_broken_measure_is_found(make, message):
    with pytest.raises(AssertionError, match=message):
        check_measure(make())


def sometimes_normalised():
    """Normalised at the five secrets that the constructor tries, and hardly anywhere else."""
    from borel.probability.density import probe

    tried = probe(UNIT, 5)

    def density(y, x):
        near = np.minimum.reduce([abs(x - t) for t in tried])
        return np.where(near < 1e-9, 1.0, 1.5) + 0 * y

    return bl.Mechanism(density, secret=UNIT, outcome=bl.Interval(0, 1))


def stray_sampler():
    out = bl.Mechanism(lambda y, x: 1 + 0 * y * x, secret=UNIT, outcome=UNIT)
    out.sampler = lambda x, rng: np.asarray(x) + 5
    return out


def wrong_rows():
    out = bl.Mechanism.from_matrix([[0.5, 0.5], [0.25, 0.75]])
    out._matrix = np.array([[0.5, 0.5], [0.25, 0.5]])
    return out


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: bl.pmf([0.5, 0.5]), "expected a Mechanism, got Measure"),
        (sometimes_normalised, "integrates to 1 for every x, got about 1.5"),
        (stray_sampler, "sample gives points outside"),
        (wrong_rows, "rows that sum to 1.*secret 1"),
    ],
)
def test_a_broken_mechanism_is_found(make, message):
    with pytest.raises(AssertionError, match=message):
        check_mechanism(make())


@pytest.mark.parametrize("value", [-1.0, 5.0])
def test_leakage_against_its_laws(value):
    """A closed form that claims a negative PML, or more than -log min p."""
    from borel.probability.bound import Bound
    from borel.probability.closed_forms import ClosedForms

    class Forms(ClosedForms):
        def sup(self, joint, kind):
            return Bound.exact(value, value)

        def at(self, joint, kind, y):
            return Bound.exact(min(value, 0.1), min(value, 0.1))

    mech = bl.Mechanism.from_matrix([[0.5, 0.5], [0.25, 0.75]])
    mech.closed_forms = Forms()
    with pytest.raises(AssertionError, match=r"negative|above -log min p|against its supremum"):
        check_mechanism(mech, bl.pmf([0.5, 0.5]))


# -- sets of priors --------------------------------------------------------------------------------

HALVES, FLOATS = bl.pmf([F(1, 2), F(1, 4), F(1, 4)]), bl.pmf([0.5, 0.5, 0.0])
THREE = bl.Finite(3)
SETS = {
    "full support": lambda s: s.full_support(THREE),
    "total variation": lambda s: s.tv_ball(HALVES, F(1, 8)),
    "total variation, a secret of mass 0": lambda s: s.tv_ball(FLOATS, 0.1),
    "Kullback-Leibler": lambda s: s.kl_ball(FLOATS, 0.1, direction="to_centre"),
    "chi-square": lambda s: s.chi_square_ball(HALVES, 0.1, direction="from_centre"),
    "contamination": lambda s: s.contamination(HALVES, F(1, 10)),
    "labels": lambda s: s.box([0.1, 0.2], [0.8, 0.9], on=AB),
    "an open interval": lambda s: s.bernoulli(0.2, 0.4),
    "moments": lambda s: s.moment([0, 1, 2], lower=0.5, upper=1.0, on=THREE),
    "hull": lambda s: s.hull([HALVES, FLOATS]),
    "union": lambda s: s.tv_ball(HALVES, 0.1) | s.contamination(FLOATS, 0.1),
    "intersection": lambda s: s.tv_ball(HALVES, 0.1) & s.interior(0.2, on=THREE),
    "product": lambda s: s.product([s.bernoulli(0.2, 0.4), s.bernoulli(0.3, 0.4)]),
    "counts": lambda s: s.from_counts([10, 20, 30], confidence=0.95),
}


@pytest.mark.few(2)
@pytest.mark.cases("slow", "product", "union", "Kullback-Leibler", "chi-square")
@pytest.mark.parametrize("name", SETS)
def test_sound_sets_of_priors_pass(name):
    check_prior_set(SETS[name](bl.priors))


class Ball(TotalVariationBall):
    """A sound ball, of which each set below breaks one thing; a class of its own can be pickled."""

    def __init__(self):
        super().__init__(HALVES, F(1, 8))


class TooSmall(Ball):
    def least(self, v):
        return TotalVariationBall(HALVES, F(1, 16)).least(v)


class TooLarge(Ball):
    def least(self, v):
        return TotalVariationBall(HALVES, F(1, 6)).least(v)


class Unsound(Ball):
    """The prior and its mean are right, the lower end is not."""

    def least(self, v):
        found = super().least(v)
        wrong = np.minimum(found.upper + 1e-3, v.max(axis=0))
        return found._replace(lower=wrong, upper=wrong)


class Loose(Ball):
    """True but not that of these priors."""

    def least(self, v):
        found = super().least(v)
        return found._replace(lower=v.min(axis=0), upper=v.min(axis=0))


class UpsideDown(Ball):
    def least(self, v):
        found = super().least(v)
        return found._replace(lower=found.upper, upper=found.lower - 1e-3)


class OneForAll(Ball):
    def least(self, v):
        found = super().least(v[:, :1])
        return found


class NoProbabilities(Ball):
    def least(self, v):
        found = super().least(v)
        return found._replace(prior=found.prior / 2)


class OtherFractions(Ball):
    def least_exactly(self, v):
        return TotalVariationBall(HALVES, F(1, 16)).least_exactly(v)


class MassLost(Ball):
    def least_exactly(self, v):
        values, priors = super().least_exactly(v)
        return values, priors / 2


class OtherRules(Ball):
    @property
    def rules(self):
        return TotalVariationBall(HALVES, F(1, 3)).rules


class NoSign(Ball):
    def upper(self, f):
        return self.lower(f)


class HiddenAssumption(Ball):
    def lower(self, f):
        self.assumptions = ()
        found = super().lower(f)
        self.assumptions = ("the sample is one",)
        return found

    def upper(self, f):
        return super().upper(f)


class NotReached(Ball):
    def least(self, v):
        return Ball().least(v)

    def members(self, count, rng=None):
        return Ball().members(count, rng)

    @property
    def reach(self):
        return np.array([True, True, False]), np.array([True, True, False])


class NeverCharged(Ball):
    """The prior has no mass at the last secret, whatever `reach` says."""

    def least(self, v):
        from borel.priors.balls import Hull

        return Hull([bl.pmf([F(1, 2), F(1, 2), 0])]).least(v)

    def contains(self, prior, *, tol=1e-9):
        return abs(prior.at(THREE)[0] - 0.5) < tol and prior.at(THREE)[2] < tol

    least_exactly = FullSupport.__mro__[1].least_exactly
    rules = None


class CertainlyAll(Ball):
    def certainly(self, q):
        return True


class ContainsAll(Ball):
    def contains(self, prior, *, tol=1e-9):
        return True


class Elsewhere(Ball):
    nominal = bl.pmf([F(1, 10), F(1, 10), F(4, 5)])


class AlwaysAttained(Ball):
    def attains(self, v):
        return True

    def least(self, v):
        found = super().least(v)
        return found._replace(
            prior=np.repeat([[0.5], [0.25], [0.25]], v.shape[1], axis=1),
            member=np.zeros(v.shape[1], bool),
        )

    least_exactly = FullSupport.__mro__[1].least_exactly


class Objects(Ball):
    def described(self):
        return {"kind": "tv", "centre": self.centre}


class NoKind(Ball):
    def described(self):
        return {"centre": self.intervals}


class Forgets(Ball):
    def __reduce__(self):
        return TotalVariationBall, (HALVES, F(1, 16))


class LooseMembers(Ball):
    def members(self, count, rng=None):
        return [bl.pmf([0.0, 0.5, 0.5])] * count


@pytest.mark.few(7)
@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: HALVES, "expected a PriorSet, got Measure"),
        (TooSmall, "least is above the mean of a member, for the function"),
        (TooLarge, "which is none|says that it is no member"),
        (Unsound, "the prior of least has the mean"),
        (Loose, "the prior of least has the mean"),
        (UpsideDown, "lower > upper"),
        (OneForAll, r"lower of shape \(1,\)"),
        (NoProbabilities, "no probabilities"),
        (OtherFractions, "least_exactly gives .* outside of least"),
        (MassLost, "a prior of mass 1/2"),
        (OtherRules, "the linear constraints of rules disagree"),
        (NoSign, "expected the negative"),
        (HiddenAssumption, "does not list what the set rests on"),
        (NotReached, "x = 2 is not charged: it is"),
        (NeverCharged, "x = 2 is charged: it is not"),
        (CertainlyAll, "is certainly a member, contains says no"),
        (ContainsAll, "least is above the mean of a member|contains says that it is one"),
        (Elsewhere, "nominal is no member"),
        (AlwaysAttained, "attained: by"),
        (Objects, "not data for JSON"),
        (NoKind, "has no kind"),
        (Forgets, "changes when pickled"),
        (LooseMembers, "members gives .*, which is none"),
    ],
)
def test_a_broken_set_of_priors_is_found(make, message):
    with pytest.raises(AssertionError, match=message):
        check_prior_set(make())


def test_members_of_open_sets_are_members():
    for made in (bl.priors.full_support(bl.Finite(20)), bl.priors.bernoulli(0.2, 0.4)):
        assert all(made.contains(m, tol=0.0) for m in made.members(20, rng=0))


def test_a_secret_that_no_member_charges_may_have_the_least_value():
    """Of no overflow, which pytest would show: it has no part in the tilted prior."""
    found = bl.priors.kl_ball(FLOATS, 0.1, direction="to_centre").least(
        np.array([[0.0, 1, -1e9]]).T
    )
    assert 0 < found.lower[0] <= found.upper[0] < 0.5 and found.prior[2, 0] == 0


def test_an_open_part_leaves_no_closed_set():
    one = bl.priors.bernoulli(0.2, 0.4)
    assert not (one | one).closed and not bl.priors.product([one, one]).closed
    other = bl.priors.tv_ball(bl.pmf([0.5, 0.5]), 0.1)
    assert (other | other).closed and bl.priors.product([other, other]).closed


def test_sets_of_densities_are_not_yet_checked():
    with pytest.raises(bl.NotYet, match=r"members on Interval"):
        check_prior_set(bl.priors.full_support(UNIT))


# -- figures --------------------------------------------------------------------------------------


@pytest.mark.few(6)
@pytest.mark.parametrize(
    "measure",
    [
        "mutual_information",
        "maximal_leakage",
        "min_entropy_leakage",
        "maximal_guesswork_leakage",
        "ldp",
        "alip",
        "max_information",
        partial(bl.f_information, f="chi_square"),
    ],
)
def test_sound_figures_pass(measure):
    check_measure_record(measure)


def test_a_figure_that_is_no_leakage():
    check_measure_record("ldi", leakage=False)
    with pytest.raises(AssertionError, match="ldi of 'independent': expected 0"):
        check_measure_record("ldi")


def test_the_units_are_those_of_the_record(monkeypatch):
    other = replace(FIGURES["mutual_information"], units="ratio")
    monkeypatch.setitem(FIGURES, "mutual_information", other)
    with pytest.raises(AssertionError, match="mutual_information: its record says ratio, not nats"):
        check_measure_record("mutual_information")


def described(compute):
    """A figure with the docstring of one that is sound."""
    sound = bl.mutual_information.__doc__ or ""
    compute.__doc__ = sound.replace(">>> mutual_information(", ">>> bl.mutual_information(")
    return compute


def by_position(joint):
    value = bl.mutual_information(joint).lower + float(joint.mechanism.matrix[0, 0])
    return bl.Bound.exact(value, value)


def counted(joint):
    return bl.Bound.exact(*[float(np.log(joint.secret.size))] * 2)


def of_support(joint):
    return bl.Bound.exact(*[float(joint.outcome.size > 1)] * 2)


def in_units_of_size(joint):
    found = bl.mutual_information(joint)
    units = "nats" if joint.secret.size == 2 else "number"
    return bl.Bound.exact(found.lower, found.upper, units=units)


def no_figure(joint):
    return float(bl.mutual_information(joint).lower)


def negative(joint):
    found = bl.mutual_information(joint)
    return bl.Bound.exact(-found.upper, -found.lower)


def without_a_reason(joint):
    return bl.Bound.estimate(0.0, 0.1)


CALLS = []


def changing(joint):
    bl.mutual_information(joint)
    CALLS.append(1)
    return bl.Bound.exact(float(len(CALLS)), float(len(CALLS)))


def no_joint_refused(joint):
    return bl.mutual_information(joint) if isinstance(joint, bl.Joint) else bl.Bound.exact(0.0, 0.0)


def of_the_nominal_prior(joint):
    nominal = getattr(joint.prior, "nominal", None) if isinstance(joint, bl.Joint) else None
    return bl.mutual_information(joint if nominal is None else nominal * joint.mechanism)


def only_tables(joint):
    found = bl.mutual_information(joint)
    return found if joint.mechanism._matrix.size else None


@pytest.mark.parametrize(
    ("measure", "message"),
    [
        ("mutual_informations", "no public name"),
        (lambda joint: bl.mutual_information(joint), "no section Parameters"),
        (described(by_position), "in another order"),
        (described(counted), "probability 0 more"),
        (described(of_support), "expected 0"),
        (described(in_units_of_size), "units differ"),
        (described(no_figure), "expected a Bound, got float"),
        (described(negative), "post-processed|is negative"),
        (described(without_a_reason), "estimate without a reason"),
        (described(changing), "asked again"),
        (described(no_joint_refused), "of 3: expected InvalidInput"),
        (described(of_the_nominal_prior), "of one member"),
        (described(only_tables), "expected NotYet, got"),
    ],
)
def test_a_broken_figure_is_found(measure, message):
    with pytest.raises(AssertionError, match=message):
        check_measure_record(measure)


def test_the_doctests_of_the_module():
    assert doctest.testmod(testing).failed == 0
