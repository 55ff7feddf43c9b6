"""How a figure is found: closed forms before engines, and what is said where neither knows."""

import math
from fractions import Fraction as F

import pytest

import borel as bl
from borel.errors import BudgetSpent
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
    "ldp": bl.ldp,
    "ldi": bl.ldi,
    "maximal_leakage": bl.maximal_leakage,
    "maximal_cost_leakage": bl.maximal_cost_leakage,
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
OTHERS = {"curve", "binary_envelope_curve", "log_marginal"}
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
