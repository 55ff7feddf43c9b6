"""How a figure is found: closed forms before engines, and what is said where neither knows."""

import inspect
import math
from fractions import Fraction as F

import pytest

import borel as bl
from borel.engine import engine_for
from borel.engine.continuous.outcome_engine import CertifiedOutcomes
from borel.engine.countable.engine import CountableEngine
from borel.engine.draws.blocks import FiniteDraws
from borel.engine.draws.engine import DrawsEngine
from borel.engine.draws.estimates import EstimateDraws
from borel.engine.estimates.outcome_engine import ContinuousOutcomes
from borel.engine.finite.engine import FiniteEngine
from borel.engine.prior_sets.engine import SetEngine
from borel.engine.prior_sets.finite_figures import FiniteSetEngine
from borel.engine.prior_sets.outcome_figures import SetOutcomes
from borel.engine.problem.engine import Engine, Figures
from borel.errors import BudgetSpent, NotYet
from borel.priors.density_figures import CellEngine
from borel.priors.family_figures import FamilyEstimate
from borel.priors.line_figures import SetLines
from borel.priors.union_figures import UnionEngine
from borel.probability.bound import Bound
from borel.probability.closed_forms import ClosedForms

MATRIX = [[F(3, 4), F(1, 4)], [F(1, 4), F(3, 4)]]
PRIOR = bl.pmf([F(1, 2), F(1, 2)])
KNOWN = Bound.exact(0.5, 0.5)

FIGURES = {
    "at": lambda j: bl.pml(j)(0),
    "sup": lambda j: bl.pmc(j).sup(),
    "tail": lambda j: bl.pml(j).tail(F(1, 3), closed=True),
    "quantile": lambda j: bl.pml(j).quantile(F(1, 3), side="right"),
    "mean": lambda j: bl.pmc(j).mean(),
    "exp_mean": lambda j: bl.pml(j).exp_mean(),
    "expectation": lambda j: bl.pml(j).expectation(lambda t: t**2),
    "density_tail": lambda j: bl.information_density(j).tail(F(1, 3), under="product"),
    "density_quantile": lambda j: bl.information_density(j).quantile(F(1, 3), side="right"),
    "density_expectation": lambda j: bl.information_density(j).expectation(lambda t: t**2),
    "ldp": bl.ldp,
    "ldi": bl.ldi,
    "maximal_leakage": bl.maximal_leakage,
    "maximal_cost_leakage": bl.maximal_cost_leakage,
    "tail_leakage": lambda j: bl.tail_leakage(j, F(1, 5)),
    "maximal_guesswork_leakage": bl.maximal_guesswork_leakage,
    "min_entropy_leakage": bl.min_entropy_leakage,
    "dynamic_min_entropy_leakage": lambda j: bl.dynamic_min_entropy_leakage(j, 1),
    "mutual_information": bl.mutual_information,
    "f_information": lambda j: bl.f_information(j, "chi_square"),
    "max_information": lambda j: bl.max_information(j, F(1, 5)),
    "event_leakage": lambda j: bl.event_maximal_leakage(j, [1]),
    "event_maximal_leakage": lambda j: bl.event_maximal_leakage(j, delta=F(1, 5)),
    "binary_envelope": lambda j: bl.binary_envelope(j)(F(1, 5)),
    "both_halves": lambda j: bl.binary_envelope(j).both(),
    "psi_1": lambda j: bl.psi_1(j, ratio=F(6, 5)),
    "psi_2": lambda j: bl.psi_2(j, ratio=F(6, 5)),
}
"""One question of each figure that has closed forms."""
OTHERS = {"curve", "binary_envelope_curve", "log_marginal", "ldp_of_all_secrets"}
"""What `ClosedForms` states beside figures that are Bounds."""


def stated(cls):
    return {name for name in vars(cls) if not name.startswith("_")}


def joint_with(forms):
    mech = bl.Mechanism.from_matrix(MATRIX)
    mech.closed_forms = forms
    return PRIOR * mech


def test_closed_forms_state_every_figure():
    assert stated(ClosedForms) == {*FIGURES, *OTHERS}


@pytest.mark.parametrize("name", FIGURES)
def test_a_closed_form_is_asked_as_the_figure_is(name):
    """With the joint and then the arguments of the question, and before the engine."""
    calls = []

    def form(self, joint, *arguments):
        calls.append((joint, arguments))
        return KNOWN

    joint = joint_with(type("Forms", (ClosedForms,), {name: form})())
    found = FIGURES[name](joint)
    ((of, arguments),) = calls
    assert found == KNOWN and of is joint
    assert found.question.figure == name and found.question.arguments == arguments
    with bl.options(closed_forms=False):
        computed = FIGURES[name](joint_with(joint.mechanism.closed_forms))
    assert len(calls) == 1 and computed != KNOWN


@pytest.mark.parametrize("name", FIGURES)
def test_without_closed_forms_the_engine_answers(name):
    found = FIGURES[name](joint_with(ClosedForms()))
    assert found == FIGURES[name](PRIOR * bl.Mechanism.from_matrix(MATRIX))


def test_a_curve_is_known_where_every_outcome_is():
    class Forms(ClosedForms):
        def at(self, joint, kind, y):
            return KNOWN if y in self.known else None

    forms = Forms()
    for forms.known, low in (((0, 1), [0.5, 0.5]), ((0,), [math.log(3 / 2)] * 2)):
        found = bl.pml(joint_with(forms))([0, 1])
        assert found["lower"].values.tolist() == pytest.approx(low, rel=1e-12)
        assert set(found["status"].values.tolist()) == {"exact"}


@pytest.mark.parametrize(
    ("name", "least"),
    [
        ("dynamic_min_entropy_leakage", -math.inf),
        ("max_information", -math.inf),
        ("min_entropy_leakage", 0.0),
        ("psi_1", 0.0),
    ],
)
def test_what_no_budget_was_left_for_is_not_bounded_from_below(name, least):
    """The two may be negative: of 0.9, 0.1 through a swap of 0.9 the best guess is worse off."""

    def spent(self, joint, *arguments):
        raise BudgetSpent("no time")

    found = FIGURES[name](joint_with(type("Forms", (ClosedForms,), {name: spent})()))
    most = 1.0 if name == "psi_1" else math.inf
    assert (found.status, found.lower, found.upper) == ("undecided", least, most)


# -- engines ---------------------------------------------------------------------------------------

ENGINES = {
    Engine: (FiniteEngine, CountableEngine, CertifiedOutcomes, ContinuousOutcomes),
    SetEngine: (FiniteSetEngine, SetOutcomes, SetLines, UnionEngine, FamilyEstimate, CellEngine),
    DrawsEngine: (FiniteDraws, EstimateDraws),
}
STATED = stated(Figures) - {"not_yet", "figure"}


def parameters(function):
    return list(inspect.signature(function).parameters.values())


def test_closed_forms_and_engines_state_the_same_figures():
    """LIP is the larger of two suprema, whichever way each of them is found."""
    assert STATED - {"lip"} == stated(ClosedForms) - {"log_marginal", "ldp_of_all_secrets"}


@pytest.mark.parametrize("name", sorted(STATED - {"lip"}))
def test_they_are_asked_with_the_same_arguments(name):
    own, *asked = (p.name for p in parameters(getattr(Figures, name)))
    _, joint, *others = (p.name for p in parameters(getattr(ClosedForms, name)))
    assert (own, joint) == ("self", "joint")
    assert [other.replace("ys", "y") for other in others] == asked


@pytest.mark.parametrize(
    ("base", "engine"), [(base, e) for base, engines in ENGINES.items() for e in engines]
)
def test_an_engine_has_the_interface(base, engine):
    """Nothing is looked up by a name that is not stated, and a method is called as its base's."""
    assert issubclass(engine, base)
    assert not any("__getattr__" in vars(cls) for cls in engine.__mro__)
    for name in STATED:
        expected = parameters(getattr(Figures, name))
        found = parameters(getattr(engine, name))
        assert len(found) >= len(expected)
        assert all(p.kind is p.POSITIONAL_OR_KEYWORD for p in found[: len(expected)])
        assert all(p.default is not p.empty for p in found[len(expected) :])


CONTINUOUS = bl.uniform(bl.Interval(0, 1)) * bl.mechanisms.laplace(b=1.0)


@pytest.mark.parametrize("name", ["min_entropy_leakage", "maximal_guesswork_leakage"])
def test_what_an_engine_does_not_compute(name):
    of = getattr(bl, name)
    words = r"this measure on Interval\(0, 1\) and Reals\(\)\). Today: finite alphabets are exact"
    for engine in ("auto", "estimate"):
        with bl.options(engine=engine), pytest.raises(NotYet, match=f"bl.{name}: .*{words}"):
            of(CONTINUOUS)
    half = [F(1, 2), F(1, 2)]
    with pytest.raises(NotYet, match=rf"bl.{name} over a set of priors: .*members.*bl.lip"):
        of(bl.priors.tv_ball(bl.pmf(half), F(1, 8)) * bl.Mechanism.from_matrix(MATRIX))


def test_the_error_names_the_alphabets_that_were_asked_of():
    """Not those of the sum of secrets by which the kernel reads them."""
    unit = bl.Interval(0, 1)
    mech = bl.Mechanism(
        lambda y, x: -((y - x[0] - x[1]) ** 2) / 2 - math.log(2 * math.pi) / 2,
        secret=unit * unit,
        outcome=bl.Reals(),
        log=True,
    )
    joint = (bl.uniform(unit) * bl.uniform(unit)) * mech
    assert engine_for(joint).joint is not joint
    with pytest.raises(NotYet, match=r"Interval\(0, 1\) \* Interval\(0, 1\) and Reals"):
        bl.min_entropy_leakage(joint)


def test_a_table_is_the_prior_and_the_rows_on_its_support():
    mech = bl.Mechanism.from_matrix([[F(3, 4), F(1, 4), F(0)], [0, 0, 1], [F(1, 4), F(3, 4), 0]])
    lower, upper = engine_for(bl.pmf([F(1, 3), 0, F(2, 3)]) * mech).table("it")
    assert lower == upper == ([F(1, 3), F(2, 3)], [[F(3, 4), F(1, 4)], [F(1, 4), F(3, 4)]])
    floats = bl.pmf([1 / 3, 0, 2 / 3]) * bl.Mechanism.from_matrix([[0.7, 0.3], [0, 1], [0.2, 0.8]])
    lower, upper = engine_for(floats).table("it")
    assert all(
        a < F(m) < b for a, m, b in zip(lower.prior, (1 / 3, 2 / 3), upper.prior, strict=True)
    )
    assert lower.rows[0][0] < F(0.7) < upper.rows[0][0]
    with pytest.raises(NotYet, match=r"bl\.it: not yet"):
        engine_for(CONTINUOUS).table("it")


def test_a_measure_by_a_function_of_the_joint():
    from borel.figures.dispatch import figure

    def largest_entry(joint, power):
        (_, rows), _ = engine_for(joint).table("largest_entry")
        value = max(map(max, rows)) ** power
        return engine_for(joint).bound(value, value, units="number")

    joint = PRIOR * bl.Mechanism.from_matrix(MATRIX)
    found = figure(joint, "largest_entry", 2, by=largest_entry, units="number")
    assert found == Bound.exact(0.5625, 0.5625, units="number")
    assert (found.question.figure, found.question.arguments) == ("largest_entry", (2,))
    ball = bl.priors.tv_ball(PRIOR, F(1, 8)) * bl.Mechanism.from_matrix(MATRIX)
    data = bl.models.dirichlet_posterior([30, 70], random_seed=1)
    learnt = bl.priors.from_posterior(data, lambda draw: bl.pmf(draw["p"]))
    for other in (CONTINUOUS, ball, learnt * bl.Mechanism.from_matrix(MATRIX)):
        with pytest.raises(NotYet, match=r"bl\.largest_entry"):
            figure(other, "largest_entry", 2, by=largest_entry)


def test_a_prior_says_what_figures_are_over():
    data = bl.models.dirichlet_posterior([30, 70], random_seed=1)
    learnt = bl.priors.from_posterior(data, lambda draw: bl.pmf(draw["p"]))
    assert [p.over for p in (PRIOR, bl.normal(), bl.priors.tv_ball(PRIOR, 0), learnt)] == [
        "one prior",
        "one prior",
        "set",
        "draws",
    ]
