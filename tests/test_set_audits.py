"""Audits over sets of priors: suprema, the nominal prior beside them, and what it costs."""

import math
import warnings
from fractions import Fraction as F
from html.parser import HTMLParser

import mpmath
import numpy as np
import pytest
from typer.testing import CliRunner

import borel as bl
from borel.audits.audit import ResumeWarning
from borel.audits.report import render
from borel.audits.set_audit import cost, prior_in_words, worst_case
from borel.audits.study import as_study
from borel.audits.study_key import study_key
from borel.audits.table import sentence
from borel.audits.verification import verified
from borel.cli import app
from borel.figures.leakage_curves import leakage_curve
from borel.figures.leakage_plots import blank_axes, plot_leakage
from borel.probability.bound import Bound

ALL = ("pml", "pmc", "ldp", "lip", "mutual_information", "maximal_leakage")
ANSWERS = bl.Finite(["none", "some", "many"])
KERNEL = [[F(3, 4), F(1, 8), F(1, 8)], [F(1, 8), F(3, 4), F(1, 8)], [F(1, 8), F(1, 8), F(3, 4)]]
MECH = bl.Mechanism.from_matrix(KERNEL, secret=ANSWERS, outcome=ANSWERS)
CENTRE = bl.pmf([F(3, 5), F(3, 10), F(1, 10)], on=ANSWERS)
BALL = bl.priors.tv_ball(CENTRE, F(1, 20))
COUNTED = bl.priors.from_counts({"none": 423, "some": 102, "many": 75}, confidence=0.95)
BIT = bl.Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]])
HALF = bl.pmf([0.5, 0.5])


def study(**changes):
    given = {"title": "A set", "mechanism": MECH, "prior": BALL, "report": ALL}
    return bl.Study(**{**given, **changes})


def audited(**changes):
    return bl.load(bl.audit(study(**changes)))


class Text(HTMLParser):
    def __init__(self, html):
        super().__init__()
        self.found = []
        self.feed(html)

    def handle_data(self, data):
        self.found.append(data)

    def __str__(self):
        return " ".join(" ".join(self.found).split())


# -- what is computed -----------------------------------------------------------------------------


@pytest.mark.parametrize("prior", [BALL, COUNTED])
def test_every_figure_is_the_librarys_with_the_nominal_one_beside(prior):
    found = audited(prior=prior)
    joint, nominal = prior * MECH, prior.nominal * MECH
    for kind, of in (("pml", bl.pml), ("pmc", bl.pmc)):
        assert found[kind] == of(joint).sup()
        assert found[f"{kind}/nominal"] == of(nominal).sup()
        assert isinstance(found[kind].witness["prior"], bl.Measure)
    for name in ALL[2:]:
        assert found[name] == getattr(bl, name)(joint)
        assert found[f"{name}/nominal"] == getattr(bl, name)(nominal)
    assert {"pml/law", "pmc/law"} == set(found.missing)
    assert "suprema of tails" in found.missing["pml/law"]


def test_the_cost_encloses_the_difference():
    found = audited()
    worst = [F(13, 20), F(3, 10), F(1, 20)]  # mass 1/20 goes from "many" to a smallest value
    with mpmath.workdps(40):
        truths = {}
        for name, p in (("over", worst), ("nominal", CENTRE.probabilities)):
            level = sum(a * row[2] for a, row in zip(p, KERNEL, strict=True))
            ratio = F(3, 4) / level
            truths[name] = mpmath.log(mpmath.mpf(ratio.numerator) / ratio.denominator)
            bound = found["pml" if name == "over" else "pml/nominal"]
            assert bound.ratio.lower == bound.ratio.upper == ratio
        price = found["pml/cost"]
        assert price.lower <= truths["over"] - truths["nominal"] <= price.upper
        assert 0 < price.lower and price.width < 1e-14 and price.status == "exact"
    assert audited(prior=bl.priors.full_support(ANSWERS)).get("pml/nominal") is None


def test_the_cost_is_as_weak_as_what_it_is_made_of():
    one, inf = Bound.exact(1.0, 1.0), Bound.certified(math.inf, math.inf)
    assert cost(Bound.exact(1.5, 1.75), one) == Bound.exact(0.5, 0.75)
    assert cost(Bound.certified(0.9, 1.5), one) == Bound.certified(0.0, 0.5)
    held = cost(Bound.statistical(1.5, 1.75, confidence=0.9, assumptions=("a",)), one)
    assert (held.lower, held.upper, held.confidence, held.assumptions) == (0.5, 0.75, 0.9, ("a",))
    assert cost(Bound.estimate(1.5, 0.125, reason="why"), one).status == "estimate"
    assert cost(one, Bound.estimate(1.5, 0.125)).lower == -0.625  # an estimate may be anything
    assert cost(inf, one) == Bound.certified(math.inf, math.inf)
    assert cost(inf, inf) is None
    assert cost(Bound.undecided(1.0, reason="why"), Bound.undecided(0.5, reason="why")) is None
    open_ = cost(Bound.undecided(1.5, reason="why"), one)
    assert (open_.lower, open_.upper, open_.status) == (0.5, math.inf, "undecided")
    sample = cost(Bound.statistical(1.5, 1.75, confidence=0.9), Bound.undecided(0, 1, reason="why"))
    assert (sample.status, sample.lower, sample.upper) == ("undecided", 0.0, math.inf)
    nothing = cost(Bound.undecided(1.5, reason="why"), Bound.estimate(1.0, 0.0))
    assert (nothing.lower, nothing.upper, nothing.status) == (0.0, math.inf, "undecided")
    tiny = cost(Bound.exact(0.3, np.nextafter(0.3, 1)), Bound.exact(0.1, 0.1))
    assert F(tiny.lower) <= F(0.3) - F(0.1) <= F(tiny.upper)


def prior_sets():
    make = bl.priors
    two = bl.Finite(2)
    quarter = bl.pmf([F(1, 4), F(3, 4)])
    return {
        "tv": make.tv_ball(HALF, 0.1),
        "l1": make.l1_ball(quarter, F(1, 8)),
        "kl": make.kl_ball(HALF, 0.1, direction="to_centre"),
        "chi": make.chi_square_ball(HALF, 0.1, direction="from_centre"),
        "contamination": make.contamination(quarter, F(1, 10)),
        "interior": make.interior(F(1, 4), two),
        "full support": make.full_support(two),
        "box": make.box([0.25, 0.25], [0.75, 0.75]),
        "bernoulli": make.bernoulli(F(1, 4), F(1, 2)),
        "polytope": make.polytope([[1, -1]], [0], on=two),
        "moment": make.moment(lambda x: x, lower=0.25, upper=0.5, on=two),
        "hull": make.hull([HALF, quarter]),
        "union": make.tv_ball(HALF, 0.1) | make.tv_ball(quarter, 0.1),
        "intersection": make.kl_ball(HALF, 0.2, direction="to_centre")
        & make.kl_ball(quarter, 0.2, direction="to_centre"),
        "family": make.family(lambda p: bl.pmf([1 - p, p]), bl.Interval(0.25, 0.5)),
        "counts, kl": make.from_counts([30, 70], confidence=0.9, method="kl"),
        "counts, box": make.from_counts([30, 70], confidence=0.9, method="box"),
        "counts, one never drawn": make.from_counts([0, 70], confidence=0.9),
    }


SETS = prior_sets()


@pytest.mark.few(2)
@pytest.mark.parametrize("name", SETS)
def test_every_kind_of_set_is_audited_saved_and_reported(name, tmp_path):
    prior_set = SETS[name]
    tree = bl.audit(study(mechanism=BIT, prior=prior_set), output=tmp_path)
    found, back = bl.load(tree), bl.load(tmp_path)
    assert dict(back) == dict(found) and back.complete
    assert found["pml"] == bl.pml(prior_set * BIT).sup()
    left = {row for row in ALL if row not in found}
    assert all("not yet" in found.missing[row] for row in left)
    assert left <= {"mutual_information", "maximal_leakage"}
    for measure in set(ALL) - left:
        nominal = found.get(f"{measure}/nominal")
        assert (nominal is None) == (prior_set.nominal is None)
        if nominal is not None:  # a member leaks no more than the supremum
            assert nominal.lower <= found[measure].upper
            assert found[f"{measure}/cost"].lower >= 0 or found[measure].status == "estimate"
    if name in ("tv", "full support"):
        html = render(back)
        assert ("Worst prior against nominal" in html) == (name == "tv")
        assert ("The worst prior" in html) == (name != "tv")
        assert "pml/law" in str(Text(html))


LINE = bl.mechanisms.laplace(b=1.0, secret=bl.Interval(0, 1))
UNIT = bl.Interval(0, 1)


def lines():
    make = bl.priors
    return {
        "a finite secret with noise": (
            make.tv_ball(HALF, 0.1),
            bl.mechanisms.laplace(b=1.0, secret=bl.Finite(2)),
        ),
        "counts with noise": (
            make.from_counts([30, 70], confidence=0.9),
            bl.mechanisms.gaussian(sigma=1.0, secret=bl.Finite(2)),
        ),
        "contamination": (make.contamination(bl.uniform(UNIT), 0.1), LINE),
        "a ball": (make.kl_ball(bl.beta(alpha=2, beta=2), 0.1, direction="to_centre"), LINE),
        "a hull": (make.hull([bl.uniform(UNIT), bl.beta(alpha=2, beta=2)]), LINE),
        "full support": (make.full_support(UNIT), LINE),
        "a band": (make.box(lambda x: 0.5 + 0 * x, lambda x: 1.5 + 0 * x, on=UNIT), LINE),
        "a family of densities": (
            make.family(lambda a: bl.beta(alpha=a, beta=2), bl.Interval(1.5, 2.5)),
            LINE,
        ),
    }


@pytest.mark.few(2)
@pytest.mark.cases("slow", "a hull", "counts with noise")
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(n, marks=pytest.mark.slow if n in ("a ball", "a family of densities") else ())
        for n in lines()
    ],
)
def test_sets_with_densities_are_audited(name, tmp_path, monkeypatch):
    prior_set, mech = lines()[name]
    monkeypatch.setattr("borel.figures.leakage_curves.POINTS", 5)
    family = "family" in name  # at least five members are looked at
    options = {"budget": 30, "engine": "estimate"} if family else {"budget": 1, "engine": "auto"}
    asked = study(mechanism=mech, prior=prior_set, report=["pml", "ldp"], options=options)
    found = bl.load(bl.audit(asked, output=tmp_path))
    assert (found["pml"].status == "estimate") == family
    assert dict(bl.load(tmp_path)) == dict(found)
    curve = found.dataset("pml/curve")
    assert curve.attrs["over"] == "set" and curve.sizes["y"] >= 3
    assert ("nominal_upper" in curve) == (prior_set.nominal is not None)
    if prior_set.nominal is not None:
        assert (curve["nominal_lower"] <= curve["upper"] + 1e-9).all()
    assert found["ldp"].upper >= found["pml"].lower
    assert "supremum over the set of priors" in render(found)


def test_one_entry_of_a_database_of_bits():
    query = bl.mechanisms.counting_query(n=20, b=0.05, of="fraction")
    one = bl.entry(bl.iid(bl.priors.bernoulli(F(3, 10), F(7, 10)), 20) * query)
    asked = bl.Study(title="T", prior=one.prior, mechanism=one.mechanism, report=["pml"])
    found = bl.load(bl.audit(asked))
    assert found["pml"] == bl.pml(one).sup()
    assert found.tree.attrs["prior"].startswith("entry 0 of iid(PriorSet(bernoulli(0.3, 0.7)), 20)")
    assert as_study(one).joint().i == 0


# -- what is said ---------------------------------------------------------------------------------


def test_sentences_say_that_a_figure_is_over_the_set():
    guarantees = [
        bl.guarantees.PML(1.4),
        bl.guarantees.PML(1.2),
        bl.guarantees.PML(1.4, delta=0.1),
    ]
    released = bl.mechanisms.randomized_response(secret=ANSWERS, epsilon=1.5)
    table = audited(prior=COUNTED, mechanism=released, guarantees=guarantees).table()
    said = table["meaning"]
    assert said["PML"].startswith("Over all priors of the set: no event about the secret becomes")
    assert "(confidence 95 % over the sample)." in said["PML"]
    assert said["PML"].endswith("Under the nominal prior: 1.13868803 nats (exact).")
    # both sides of LIP hold on the one event that the set holds the truth
    assert "(confidence 95 % over the sample)" in said["LIP"]
    assert said["PML(1.4)"] == (
        "Over all priors of the set: PML(1.4) holds (confidence 95 % over the sample)."
    )
    assert said["PML(1.2)"] == (
        "Not decided: it is not shown to hold for every prior of the set, so that it is not proved "
        "for the true one."
    )
    assert table.loc["PML(1.4, delta=0.1)", "status"] == "statistical", "PML(1.4) implies it"
    # an undecided comparison of a statistical figure is undecided still
    level = bl.pml(COUNTED * released).sup()
    middle = level.lower + (level.upper - level.lower) / 2
    if level.lower < middle < level.upper:
        odd = audited(prior=COUNTED, mechanism=released, guarantees=[bl.guarantees.PML(middle)])
        assert "lies inside the enclosure" in odd.table()["meaning"].iloc[-1]


def test_an_estimate_over_a_set_proves_nothing():
    context = {"under": "Over all priors of the set", "over": "set"}
    said = sentence("pml", Bound.estimate(0.5, 0.1), context)
    assert said.startswith("Over all priors of the set: an estimate, which proves nothing")
    assert " holds" not in sentence(
        "guarantees/PML", Bound.estimate(0.5, 0.1), {**context, "guarantee": "X", "holds": "no"}
    ).replace("does not hold", "")


def test_the_worst_case_in_words():
    prior, place, attained = worst_case(bl.pml(BALL * MECH).sup())
    assert prior == "none: 0.65, some: 0.3, many: 0.05"
    assert (place, attained) == ("outcome many, secret many", "attained")
    full = worst_case(bl.pml(bl.priors.full_support(ANSWERS) * MECH).sup())
    assert full[2] == "approached, not attained"
    assert worst_case(Bound.exact(0, 1)) == ("-", "-", "not known")
    assert prior_in_words(bl.uniform(bl.Finite(9))) == "Measure(uniform on Finite(9))"
    assert prior_in_words("kept as words") == "kept as words"


def test_the_report_shows_what_the_uncertainty_costs():
    text = str(Text(render(audited(prior=COUNTED))))
    for words in (
        "whichever prior of this set the secret has",
        "Set of priors PriorSet(from_counts, l1, total variation 0.0631631 around Measure(",
        "Nominal prior none: 0.705, some: 0.17, many: 0.125",
        "holds the true prior with confidence 95 % over the sample",
        "Cost of not knowing the prior",
        "Where each supremum comes from",
        "What is left out",
        "the supremum over the set of priors; in grey, under the nominal prior.",
    ):
        assert words in text, words
    plain = str(Text(render(bl.load(bl.audit(CENTRE * MECH)))))
    for words in ("set of priors", "Worst prior", "What is left out"):
        assert words not in plain


def test_an_audit_of_an_older_version_is_still_shown():
    tree = bl.audit(CENTRE * MECH)
    for name in ("prior_set", "nominal", "prior_confidence"):
        del tree.attrs[name]
    assert "What was asked" in render(bl.load(tree))


def test_mutual_information_changes_no_other_figure():
    joint = BALL * MECH
    assert bl.mutual_information(joint).status == "certified"
    assert bl.pml(joint).sup().status == "exact"
    assert set(bl.pml(joint)(list(ANSWERS.labels))["status"].values) == {"exact"}


# -- curves and plots -----------------------------------------------------------------------------


def test_the_curve_holds_the_supremum_and_the_nominal_prior():
    curve = leakage_curve(bl.pml(BALL * MECH))
    for i, y in enumerate(ANSWERS.labels):
        over, one = bl.pml(BALL * MECH)(y), bl.pml(CENTRE * MECH)(y)
        assert (curve["lower"][i], curve["upper"][i]) == (over.lower, over.upper)
        assert (curve["nominal_lower"][i], curve["nominal_upper"][i]) == (one.lower, one.upper)
        assert one.upper < over.lower
    assert curve.attrs["nominal_status"] == "exact"


def test_the_plot_shows_both():
    ax = blank_axes()
    bl.pml(BALL * MECH).plot(ax=ax)
    assert ax.get_title(loc="left") == "PML against the outcome over a set of priors (exact)"
    names = [t.get_text() for t in ax.get_legend().get_texts()]
    assert names == ["nominal prior (exact)", "supremum over the set, enclosure"]
    (hollow,) = [line for line in ax.lines if line.get_marker() == "D"]
    assert hollow.get_ydata() == pytest.approx(
        [bl.pml(CENTRE * MECH)(y).value for y in ANSWERS.labels]
    )
    ax = plot_leakage(
        bl.pml(bl.priors.contamination(bl.uniform(UNIT), 0.1) * LINE),
        outcomes=np.linspace(-1, 2, 13),
        ax=blank_axes(),
    )
    (dashed,) = [line for line in ax.lines if line.get_linestyle() == "--"]
    assert len(dashed.get_ydata()) == 13
    ax = plot_leakage(bl.pml(bl.priors.full_support(ANSWERS) * MECH), ax=blank_axes())
    assert [t.get_text() for t in ax.get_legend().get_texts()] == [
        "supremum over the set, enclosure"
    ]


# -- keeping, resuming, the command line ----------------------------------------------------------


def test_an_audit_over_a_set_is_resumed(tmp_path):
    one = study(prior=bl.priors.polytope([[1, -1]], [0], on=bl.Finite(2)), mechanism=BIT)
    first = bl.audit(one, output=tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        again = bl.audit(one, output=tmp_path, resume=True)
    assert again.attrs["key"] == first.attrs["key"]
    other = study(prior=bl.priors.polytope([[1, -2]], [0], on=bl.Finite(2)), mechanism=BIT)
    with pytest.warns(ResumeWarning, match="the prior changed"):
        bl.audit(other, output=tmp_path, resume=True)


def test_the_key_of_a_set_is_that_of_its_data():
    sets = prior_sets() | {name: pair[0] for name, pair in lines().items()}
    keys = {
        n: study_key(bl.Study(title="T", mechanism=m, prior=p), None)["prior"]
        for n, p in sets.items()
        for m in [lines()[n][1] if n in lines() else BIT]
    }
    again = prior_sets() | {name: pair[0] for name, pair in lines().items()}
    for n, p in again.items():
        mech = lines()[n][1] if n in lines() else BIT
        assert study_key(bl.Study(title="T", mechanism=mech, prior=p), None)["prior"] == keys[n]
    assert len({keys[n] for n in sets if n != "a finite secret with noise"}) == len(sets) - 1
    assert keys["tv"] == keys["a finite secret with noise"]
    wide = bl.Study(title="T", mechanism=BIT, prior=bl.priors.tv_ball(HALF, 0.125))
    assert study_key(wide, None)["prior"] != keys["tv"]


STUDY = """
import borel as bl
study = bl.Study(
    title="Counted",
    mechanism=bl.mechanisms.randomized_response(secret=["a", "b"], epsilon=1.0),
    prior=bl.priors.from_counts({"a": 30, "b": 70}, confidence=0.9),
    guarantees=[bl.guarantees.PML(1.01)],
)
"""


def test_the_command_line(tmp_path):
    path = tmp_path / "counted.py"
    path.write_text(STUDY)
    done = CliRunner().invoke(app, ["audit", str(path)])
    assert done.exit_code == 0, done.output
    said = " ".join(done.output.split())
    assert "weakest status: statistical" in said and "Over all priors of the" in said
    folder = tmp_path / "counted-audit"
    assert sorted(p.name for p in folder.iterdir()) == ["report.html", "result.nc"]
    assert bl.load(folder)["pml"].witness["prior"].on == bl.Finite(["a", "b"])
    assert CliRunner().invoke(app, ["audit", str(path), "--resume", "--quiet"]).exit_code == 0
    checked = CliRunner().invoke(app, ["check", str(folder)])
    assert checked.exit_code == 0 and "0 refused" in checked.output


def test_nominal_figures_carry_their_certificates(tmp_path):
    prior_set = bl.priors.contamination(bl.uniform(UNIT), 0.1)
    mech = bl.Mechanism(
        lambda y, x: np.where(y > 0.5, 0.5 + 0.25 * x, 0.5 - 0.25 * x),
        secret=UNIT,
        outcome=bl.Finite([0, 1]),
    )
    bl.audit(
        study(prior=prior_set, mechanism=mech, report=["pml"]), output=tmp_path, certificates=True
    )
    found = bl.load(tmp_path)
    assert found["pml/nominal"].certificate is not None
    checked = CliRunner().invoke(app, ["check", str(tmp_path)])
    assert checked.exit_code == 0, checked.output
    assert "1 verified, 0 refused" in checked.output
    at_one = bl.pml(prior_set.nominal * mech)(0).certify()
    assert verified("pml/one outcome", at_one).outcome == "verified"
    assert "one outcome only" in verified("pml/nominal", at_one).words


def test_what_is_not_a_prior_is_refused_with_the_choice():
    with pytest.raises(bl.InvalidInput, match=r"a Measure, a set of priors, a posterior"):
        study(prior=[0.5, 0.5])
    with pytest.raises(bl.InvalidInput, match="build= only with a function"):
        study(build=lambda draw: draw)
    with pytest.raises(bl.InvalidInput, match="priors within the secrets"):
        study(prior=bl.priors.tv_ball(HALF, 0.1))
