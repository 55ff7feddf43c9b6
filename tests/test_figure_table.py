"""The table of figures is true: of docstrings and signatures, of units, of what is computed."""

import math
import re
from fractions import Fraction as F
from importlib import import_module
from inspect import getdoc
from pathlib import Path

import pytest

import borel as bl
from borel.checker import duals, figures, tables
from borel.engine.figures import DELTA, DRAWS, FIGURES, LEAKAGES, ONE, SET
from borel.engine.problem.thresholds import Threshold
from borel.errors import BudgetSpent
from borel.figures.asking import asked
from borel.probability.generators import NAMED

MECH = bl.Mechanism.from_matrix([[F(3, 4), F(1, 4)], [F(1, 3), F(2, 3)]])
PRIOR = bl.pmf([F(1, 4), F(3, 4)])
POSTERIOR = bl.priors.from_posterior(
    bl.models.dirichlet_posterior([30, 70], draws=25, random_seed=1), lambda draw: bl.pmf(draw["p"])
)
JOINTS = {
    ONE: PRIOR * MECH,
    DRAWS: POSTERIOR * MECH,
    SET: bl.priors.tv_ball(PRIOR, F(1, 8)) * MECH,
}
OF_JOINTS = {
    **{
        name: getattr(bl, name)
        for name in (
            "ldp",
            "lip",
            "alip",
            "ldi",
            "mutual_information",
            "maximal_leakage",
            "maximal_cost_leakage",
            "maximal_guesswork_leakage",
            "min_entropy_leakage",
            "total_variation",
            "maximal_realizable_leakage",
            "maximal_realizable_cost",
        )
    },
    "pml": lambda joint: bl.pml(joint).sup(),
    "pmc": lambda joint: bl.pmc(joint).sup(),
    "at": lambda joint: bl.pml(joint)(0),
    "sup": lambda joint: bl.pmc(joint).sup(),
    "tail": lambda joint: bl.pml(joint).tail(0.1),
    "cdf": lambda joint: bl.pml(joint).cdf(0.1),
    "quantile": lambda joint: bl.pml(joint).quantile(0.5),
    "mean": lambda joint: bl.pml(joint).mean(),
    "exp_mean": lambda joint: bl.pml(joint).exp_mean(),
    "information_density": lambda joint: bl.information_density(joint)(0, 1),
    "f_information": lambda joint: bl.f_information(joint, "chi_square"),
    "tail_leakage": lambda joint: bl.tail_leakage(joint, F(1, 4)),
    "sibson_information": lambda joint: bl.sibson_information(joint, 2),
    "max_information": lambda joint: bl.max_information(joint, F(1, 4)),
    "event_maximal_leakage": lambda joint: bl.event_maximal_leakage(joint, delta=F(1, 4)),
    "event_leakage": lambda joint: bl.event_maximal_leakage(joint, [0]),
    "dynamic_min_entropy_leakage": lambda joint: bl.dynamic_min_entropy_leakage(joint, 0),
    "pointwise_maximal_guesswork_leakage": (
        lambda joint: bl.pointwise_maximal_guesswork_leakage(joint)(0)
    ),
    "remaining_entropy": lambda joint: bl.remaining_entropy(joint, {1}),
    "envelope": lambda joint: bl.envelope(joint)(DELTA),
    "envelope_delta": lambda joint: bl.envelope(joint).delta(0.1),
    "binary_envelope": lambda joint: bl.binary_envelope(joint)(F(1, 4)),
    "both_halves": lambda joint: bl.binary_envelope(joint).both(),
    "psi_1": lambda joint: bl.psi_1(joint, 0.1),
    "psi_2": lambda joint: bl.psi_2(joint, 0.1),
    "privacy_profile": lambda joint: bl.privacy_profile(joint)(0.1),
    "profile_excess": lambda joint: bl.privacy_profile(joint)(0.1),
    "profile_beyond": lambda joint: bl.privacy_profile(joint).beyond(0.1),
}
OTHER = bl.pmf([F(1, 2), F(1, 2)])
OF_OTHERS = {
    "min_entropy": lambda: bl.min_entropy(PRIOR),
    "leakage_capacity": lambda: bl.leakage_capacity(MECH),
    "hockey_stick": lambda: bl.hockey_stick(PRIOR, OTHER, 0.1),
    "renyi": lambda: bl.renyi(PRIOR, OTHER, 2),
    "max_divergence": lambda: bl.max_divergence(PRIOR, OTHER, F(1, 4)),
    "f_divergence": lambda: bl.f_divergence(PRIOR, OTHER, "chi_square"),
    "lower": lambda: JOINTS[SET].prior.lower([0.0, 1.0]),
    "upper": lambda: JOINTS[SET].prior.upper([0.0, 1.0]),
}


def bounds(found):
    """Return a figure as a tuple of Bounds, or of RandomBounds."""
    return tuple(found) if isinstance(found, tuple) else (found,)


def test_every_record_is_asked_here():
    assert {*OF_JOINTS, *OF_OTHERS} == {*FIGURES}
    assert {name for name, one in FIGURES.items() if one.of == "joint"} == {*OF_JOINTS}
    assert all(name == one.name for name, one in FIGURES.items())


def test_it_holds_every_public_measure():
    """As the stub has them: functions of `borel.figures`, but for the plots."""
    stub = (Path(bl.__file__).parent / "__init__.pyi").read_text(encoding="utf-8")
    found = re.findall(r"^from \.figures\.(\w+) import \(?\s*(\w+) as", stub, re.MULTILINE)
    public = {(name, module) for module, name in found if not name.startswith("plot_")}
    assert len(public) > 25
    assert public == {(name, one.module) for name, one in FIGURES.items() if one.module}


def squeezed(text):
    return re.sub(r"\s+", "", text)


@pytest.mark.parametrize("name", [name for name, one in FIGURES.items() if one.module])
def test_the_definition_and_the_source_are_those_of_the_docstring(name):
    one = FIGURES[name]
    module = import_module(f"borel.figures.{one.module}")
    text = getdoc(getattr(module, name)) or ""
    assert one.definition
    in_words = name == "lip"  # "the essential supremum of |i(x;y)|"
    assert squeezed(one.definition) in squeezed(text) or in_words
    assert ("References\n---" in text) == bool(one.source)
    assert squeezed(one.source) in squeezed(text)


@pytest.mark.parametrize("name", ["min_entropy", "remaining_entropy"])
def test_so_are_those_of_figures_of_attributes(name):
    one, text = FIGURES[name], getdoc(getattr(bl, name)) or ""
    assert squeezed(one.definition) in squeezed(text)
    assert squeezed(one.source) in squeezed(text)


@pytest.mark.parametrize("name", [*OF_JOINTS, *OF_OTHERS])
def test_the_units_are_those_of_the_bounds(name):
    found = OF_JOINTS[name](JOINTS[ONE]) if name in OF_JOINTS else OF_OTHERS[name]()
    units = FIGURES[name].units or "number"  # of chi-square, which is asked for here
    assert {b.units for b in bounds(found)} == {units}


@pytest.mark.parametrize("prior", [ONE, DRAWS, SET])
@pytest.mark.parametrize("name", OF_JOINTS)
def test_it_says_over_what_a_figure_is_computed(name, prior):
    one = FIGURES[name]
    if prior in one.over:
        found = bounds(OF_JOINTS[name](JOINTS[prior]))
        kinds = (bl.Bound, bl.RandomBound) if prior == DRAWS else bl.Bound
        assert all(isinstance(b, kinds) for b in found)
        assert {b.units for b in found} == {one.units or "number"}
    else:
        with pytest.raises(bl.NotYet):
            OF_JOINTS[name](JOINTS[prior])


def test_a_figure_that_is_not_ready_in_time_has_the_units_of_the_table():
    def too_long():
        raise BudgetSpent("it was not ready")

    for name, arguments, units, upper in (
        ("psi_1", (Threshold(F(1, 10)),), "probability", 1.0),
        ("profile_excess", (Threshold(F(1, 10)),), "probability", 1.0),
        ("exp_mean", ("pml",), "ratio", math.inf),
        ("f_information", (NAMED["total_variation"],), "probability", 1.0),
        ("f_information", (NAMED["chi_square"],), "number", math.inf),
        ("sup", ("pml",), "nats", math.inf),
        ("a figure of a user", (), "nats", math.inf),
    ):
        found = asked(JOINTS[ONE], name, arguments, too_long)
        assert (found.status, found.units, found.upper) == ("undecided", units, upper)


# -- the checker ----------------------------------------------------------------------------------


def test_the_rules_are_those_of_the_checker():
    named = {}
    for one in FIGURES.values():
        if one.rule is not None:
            for kind in LEAKAGES if "{}" in one.rule.figure else [""]:
                named[one.rule.figure.format(kind)] = one.rule.arguments
    of_tables = {name: tuple(arguments) for name, (_, arguments) in tables.FIGURES.items()}
    # bl.total_variation is an f-information
    known = {*of_tables, *duals.EXPECTATIONS, *duals.ENVELOPES} - {"total_variation"}
    assert {*named} == known and {*duals.SUPREMA} <= known
    assert all(named[name] == of_tables[name] for name in known & {*of_tables})
    for name, arguments in figures.FIGURES.items():
        assert named[f"pml.{name}"] == tuple(arguments)


def test_a_rule_names_the_arguments_as_they_are_asked():
    assert FIGURES["tail"].rule.named(("pmc", 0.5, True)) == (
        "pmc.tail",
        {"t": 0.5, "closed": True},
    )
    assert FIGURES["ldp"].rule.named(()) == ("ldp", {})
    with pytest.raises(ValueError, match="zip"):
        FIGURES["ldp"].rule.named((1,))


def test_what_a_report_asks_is_a_figure_of_the_table():
    for one in FIGURES.values():
        assert one.asked in FIGURES
        if one.question:
            assert FIGURES[one.asked].units in (one.units, "")
