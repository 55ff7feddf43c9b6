"""Audits: every figure, kept as it comes, resumed without sampling again."""

import json
import warnings
from fractions import Fraction as F

import numpy as np
import pytest

import borel as bl
from borel.audits import items
from borel.audits.audit import Interrupted, ResumeWarning
from borel.audits.verification import verified, verify
from borel.engine.figures import FIGURES, Figure, MeasureWords, in_reports

MECH = bl.Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]])
PRIOR = bl.pmf([0.25, 0.75])


class Prior:
    """A prior function that counts its calls."""

    def __init__(self, counts=(30, 70)):
        self.calls = 0
        self.counts = counts

    def study(self, **changes):
        counts = list(self.counts)

        def prior(seed):
            self.calls += 1
            return bl.models.dirichlet_posterior(counts, draws=100, random_seed=seed)

        given = {"title": "A study", "mechanism": MECH, "prior": prior, "build": build}
        return bl.Study(**{**given, **changes})


def build(draw):
    return bl.pmf(draw["p"])


def figures(tree):
    return dict(bl.load(tree))


def interrupt_at(monkeypatch, name):
    """Raise a KeyboardInterrupt when the unit of that name is computed."""
    made = items.units

    def interrupted(*args):
        for unit in made(*args):
            if unit.name == name:
                yield items.Unit(name, raising)
            else:
                yield unit

    def raising():
        raise KeyboardInterrupt

    monkeypatch.setattr("borel.audits.audit.units", interrupted)


# -- what is computed -----------------------------------------------------------------------


def test_every_figure_of_a_joint_is_the_librarys():
    joint = PRIOR * MECH
    study = bl.Study(title="T", mechanism=MECH, prior=PRIOR, report=tuple(in_reports()))
    found = figures(bl.audit(study))
    assert found["pml"] == bl.pml(joint).sup()
    assert found["pmc"] == bl.pmc(joint).sup()
    for name in ("ldp", "lip", "mutual_information", "maximal_leakage"):
        assert found[name] == getattr(bl, name)(joint)
    for level in (0.5, 0.9, 0.95, 0.99):
        assert found[f"pml/law/quantile-{level}"] == bl.pml(joint).quantile(level)


def test_fractions_and_infinities_come_back_from_the_file(tmp_path):
    matrix = [[F(1, 2), F(1, 2), F(0)], [F(1, 4), F(1, 4), F(1, 2)]]
    joint = bl.pmf([F(1, 3), F(2, 3)]) * bl.Mechanism.from_matrix(matrix)
    tree = bl.audit(joint, output=tmp_path)
    back = bl.load(tmp_path)
    assert dict(back) == figures(tree)
    assert back["pml"].ratio.upper == F(3, 2)
    assert isinstance(back["pml"].ratio.upper, F)
    assert back["pmc"].lower == np.inf
    assert back.complete


def test_the_root_says_what_it_is(tmp_path):
    tree = bl.audit(PRIOR * MECH)
    attrs = tree.attrs
    assert attrs["creation_library"] == "borel"
    assert attrs["creation_library_version"] == bl.__version__
    assert attrs["units"] == "nats"
    assert attrs["status"] == "exact"
    assert set(json.loads(attrs["key"])) == {"mechanism", "prior", "draws", "options", "version"}


def test_a_posterior_over_priors():
    guarantees = [
        bl.guarantees.PML(0.6),
        bl.guarantees.PMC(0.1),
        bl.guarantees.LDP(1.2),
        bl.guarantees.LIP(1.0),
        bl.guarantees.PML(0.5, delta=0.01),
        bl.guarantees.ALIP(1, 1),
    ]
    study = Prior().study(guarantees=guarantees)
    tree = bl.audit(study)
    audit = bl.load(tree)
    joint = study.joint()
    epsilon = bl.pml(joint).sup()
    assert audit["pml"] == epsilon.quantile(0.95)
    assert audit["pml"].status == "statistical"
    assert audit["guarantees/PML-epsilon-0.6-delta-0.0"] == epsilon.cdf(0.6)
    assert audit["guarantees/PMC-epsilon-0.1-delta-0.0"] == bl.pmc(joint).sup().cdf(0.1)
    assert audit["pml/hdi-upper"].status == "estimate"
    assert audit.random("pml").quantile(0.3) == epsilon.quantile(0.3)
    assert audit["ldp"] == bl.ldp(joint).quantile(0.95)
    assert audit["guarantees/LDP-epsilon-1.2"] == bl.ldp(joint).cdf(1.2)
    assert audit["guarantees/LIP-epsilon-1.0"] == bl.lip(joint).cdf(1.0)
    assert not audit.missing
    for guarantee, name in zip(
        guarantees[4:],
        ("PML-epsilon-0.5-delta-0.01", "ALIP-epsilon-l-1-epsilon-u-1"),
        strict=True,
    ):
        assert audit[f"guarantees/{name}"] == joint.satisfies(guarantee).bound
    assert audit["pml/law/quantile-0.9"] == bl.pml(joint).quantile(0.9)
    law = audit.dataset("pml/law")
    assert law.attrs["status"] == "statistical" and "together" in law.attrs["under"]
    table = audit.table()
    quantiles = [label for label in table.index if "posterior quantile" in label]
    assert len(quantiles) == 5
    assert all("posterior probability" in table.loc[label, "meaning"] for label in quantiles)
    assert table.loc["LDP, 95 % posterior quantile", "meaning"].startswith(
        "With posterior probability 95 % or more, no outcome is more than 3 times as likely"
    )


def test_the_table_has_numbers_and_is_written():
    joint = bl.pmf([0.5, 0.5]) * bl.Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]])
    audit = bl.load(bl.audit(joint))
    table = audit.table()
    row = table.loc["LDP"]
    assert (row["lower"], row["upper"]) == (audit["ldp"].lower, audit["ldp"].upper)
    assert (row["unit"], row["status"], row["bound"]) == ("nats", "exact", "1.098612289 nats")
    assert table["lower"].dtype == table["upper"].dtype == float
    assert "1.098612289 nats" in table.to_markdown()
    assert "1.098612289 nats" in table.to_latex()
    assert table.to_csv().splitlines()[0] == "measure,bound,lower,upper,unit,status,meaning"


def test_maximal_leakage_over_a_posterior():
    study = Prior().study(report=["maximal_leakage"])
    audit = bl.load(bl.audit(study))
    assert audit["maximal_leakage"] == bl.maximal_leakage(study.joint()).quantile(0.95)
    said = audit.table().loc["Maximal leakage, 95 % posterior quantile", "meaning"]
    assert "guessing any function" in said


@pytest.mark.truths
def test_the_mean_prior():
    learnt = Prior().study().joint().prior
    mean = learnt.mean_prior()
    p = learnt.posterior["p"].mean(("chain", "draw")).values
    np.testing.assert_allclose(mean.probabilities, p, rtol=1e-14)
    assert bl.ldp(mean * MECH).upper == pytest.approx(np.log(3))
    beta = bl.priors.from_posterior(
        bl.models.dirichlet_posterior([3, 7], draws=100, random_seed=1),
        lambda draw: bl.beta(alpha=1 + draw["p"][..., 0], beta=2.0),
    )
    assert "64 of the 400" in beta.mean_prior().name
    noise = bl.mechanisms.laplace(b=1.0)
    study = bl.Study(title="T", mechanism=noise, prior=beta, report=["maximal_leakage", "pml"])
    audit = bl.load(bl.audit(study))
    assert audit["maximal_leakage"].status == "certified"
    assert not audit.missing
    law = audit.dataset("pml/law")
    assert law is not None and law.attrs["status"] == "statistical"


def test_bad_draws_claim_nothing():
    tree = bl.models.dirichlet_posterior([30, 70], draws=100, chains=1, random_seed=1)
    tree["posterior"].attrs.clear()  # no longer declared exact: R-hat needs two chains
    learnt = bl.priors.from_posterior(tree, build)
    study = bl.Study(
        title="T",
        mechanism=MECH,
        prior=learnt,
        guarantees=[bl.guarantees.PML(1.0), bl.guarantees.LDP(1.2)],
    )
    audit = bl.load(bl.audit(study))
    table = audit.table()
    needs_draws = table[table["status"] != "certified"]  # LDP of the mechanism needs none
    assert len(needs_draws) and set(needs_draws["status"]) == {"undecided"}
    assert all("R-hat" in m and "Remedy" in m for m in needs_draws["meaning"])
    assert audit.tree.attrs["status"] == "undecided"
    assert audit.dataset("pml/law") is None
    assert audit.dataset("pml/curve").attrs["status"].startswith("undecided")


def test_an_empty_posterior_is_undecided():
    import xarray as xr

    tree = bl.models.dirichlet_posterior([30, 70], draws=1, random_seed=1)
    posterior = tree["posterior"].to_dataset().isel(draw=slice(0))
    empty = bl.priors.from_posterior(xr.DataTree.from_dict({"posterior": posterior}), build)
    audit = bl.load(bl.audit(empty * MECH))
    assert {b.status for n, b in audit.items()} == {"undecided"}
    assert all("no draws" in m for m in audit.table()["meaning"])


@pytest.mark.slow
def test_a_continuous_release_is_an_estimate_and_says_so():
    opaque = bl.Mechanism(
        lambda y, x: np.exp(-2 * abs(y - x)), secret=bl.Interval(0, 1), outcome=bl.Reals()
    )
    study = bl.Study(
        title="T",
        mechanism=opaque,
        prior=bl.uniform(bl.Interval(0, 1)),
        guarantees=[bl.guarantees.PML(5.0)],
        options={"budget": 5.0, "engine": "estimate"},
    )
    audit = bl.load(bl.audit(study))
    table = audit.table()
    assert audit.tree.attrs["status"] in ("estimate", "undecided")
    estimates = table[table["status"] == "estimate"]
    assert len(estimates) >= 3
    assert all("estimate" in m for m in estimates["meaning"])
    assert all(b.startswith("~") and "<=" not in b for b in estimates["bound"])
    assert audit.dataset("pml/curve").sizes["y"] > 100


@pytest.mark.slow
def test_a_figure_that_is_not_in_this_version_does_not_stop_the_audit():
    square = bl.Interval(0, 1) * bl.Interval(0, 1)

    def failures(y, x):
        return (1 - x[0] * x[1]) * (x[0] * x[1]) ** y

    mech = bl.Mechanism(failures, secret=square, outcome=bl.Integers(0, None))
    with bl.options(budget=1, engine="certified"):
        audit = bl.load(bl.audit(bl.uniform(square) * mech))
    assert "pml" in audit
    assert "not yet in this version" in audit.missing["mutual_information"]
    with pytest.raises(KeyError, match="not yet in this version"):
        audit["mutual_information"]
    assert audit.table().loc["Mutual information", "status"] == "not in this version"


# -- keeping and resuming -------------------------------------------------------------------


@pytest.mark.slow
def test_resume_after_an_interrupt_samples_nothing_again(tmp_path, monkeypatch):
    prior = Prior()
    study = prior.study(guarantees=[bl.guarantees.PML(0.6)])
    with monkeypatch.context() as patch:
        interrupt_at(patch, "lip")
        with pytest.raises(
            Interrupted, match=r"interrupted after 3 of 10 steps.*--resume"
        ) as caught:
            bl.audit(study, output=tmp_path)
    assert isinstance(caught.value, KeyboardInterrupt)
    part = bl.load(tmp_path)
    assert not part.complete
    assert set(part) >= {"pml", "pmc", "ldp"}
    assert dict(bl.load(caught.value.tree)) == dict(part)
    assert prior.calls == 1

    computed = []
    made = items.units

    def noting(*args):
        for unit in made(*args):
            yield items.Unit(unit.name, lambda u=unit: computed.append(u.name) or u.compute())

    monkeypatch.setattr("borel.audits.audit.units", noting)
    tree = bl.audit(study, output=tmp_path, resume=True)
    assert prior.calls == 1
    assert not {"pml", "pmc", "ldp"} & set(computed)
    assert {"lip", "mutual_information", "pml/law"} <= set(computed)
    monkeypatch.undo()
    assert figures(tree) == figures(bl.audit(prior.study(guarantees=[bl.guarantees.PML(0.6)])))


def test_an_interrupt_in_memory_keeps_the_tree(monkeypatch):
    interrupt_at(monkeypatch, "pmc")
    with pytest.raises(Interrupted, match=r"they are in the \.tree") as caught:
        bl.audit(PRIOR * MECH)
    assert set(bl.load(caught.value.tree)) == {"pml"}


def test_a_failing_figure_keeps_the_others(tmp_path, monkeypatch):
    def broken(joint):
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr("borel.figures.levels.lip", broken)
    with pytest.raises(ZeroDivisionError):
        bl.audit(PRIOR * MECH, output=tmp_path)
    assert set(bl.load(tmp_path)) == {"pml", "pmc", "ldp"}


def test_an_interrupt_while_sampling_keeps_no_draws(tmp_path):
    def prior(seed):
        raise KeyboardInterrupt

    study = bl.Study(title="T", mechanism=MECH, prior=prior, build=build)
    with pytest.raises(Interrupted, match="while the prior was sampled"):
        bl.audit(study, output=tmp_path)
    assert not (tmp_path / "prior.nc").exists()


def test_an_unfinished_audit_is_not_overwritten(tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        interrupt_at(patch, "lip")
        with pytest.raises(Interrupted):
            bl.audit(PRIOR * MECH, output=tmp_path)
    with pytest.raises(bl.InvalidInput, match=r"no unfinished audit in it.*resume=True"):
        bl.audit(PRIOR * MECH, output=tmp_path)
    bl.audit(PRIOR * MECH, output=tmp_path, resume=True)
    bl.audit(PRIOR * MECH, output=tmp_path)  # a finished one is made anew


@pytest.mark.slow
@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"mechanism": bl.Mechanism.from_matrix([[0.5, 0.5], [0.25, 0.75]])}, "the mechanism"),
        ({"options": {"tol": 1e-5}}, "the options or the seed"),
    ],
)
def test_a_changed_study_is_computed_again_with_the_same_draws(tmp_path, changes, said):
    prior = Prior()
    bl.audit(prior.study(), output=tmp_path)
    with pytest.warns(ResumeWarning, match=f"resuming: {said}.* changed; every figure"):
        tree = bl.audit(prior.study(**changes), output=tmp_path, resume=True)
    assert prior.calls == 1
    fresh = Prior()
    assert figures(tree) == figures(bl.audit(fresh.study(**changes)))


@pytest.mark.slow
def test_a_changed_prior_function_is_sampled_again(tmp_path):
    first, second = Prior(), Prior(counts=(30, 71))
    bl.audit(first.study(), output=tmp_path)
    with pytest.warns(ResumeWarning) as caught:
        tree = bl.audit(second.study(), output=tmp_path, resume=True)
    assert (first.calls, second.calls) == (1, 1)
    said = " ".join(str(w.message) for w in caught)
    assert "the prior is sampled again" in said
    assert "the prior, the posterior draws changed" in said
    assert figures(tree) == figures(bl.audit(Prior(counts=(30, 71)).study()))


def test_another_list_of_figures_keeps_those_there_are(tmp_path):
    prior = Prior()
    bl.audit(prior.study(), output=tmp_path)
    asked = {"report": ["pml", "maximal_leakage"], "guarantees": [bl.guarantees.PML(0.5)]}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tree = bl.audit(prior.study(**asked), output=tmp_path, resume=True)
    assert prior.calls == 1
    found = bl.load(tree)
    assert "maximal_leakage" in found
    assert "guarantees/PML-epsilon-0.5-delta-0.0" in found
    assert "ldp" not in found


def test_resume_where_nothing_is(tmp_path):
    tree = bl.audit(PRIOR * MECH, output=tmp_path / "new", resume=True)
    assert bl.load(tree).complete
    with pytest.raises(bl.InvalidInput, match="output=<the folder to resume from>"):
        bl.audit(PRIOR * MECH, resume=True)
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "result.nc").write_text("nothing")
    with pytest.raises(bl.InvalidInput, match="cannot be read"):
        bl.audit(PRIOR * MECH, output=tmp_path / "bad", resume=True)
    bl.audit(PRIOR * MECH, output=tmp_path / "bad")  # without resume it is written anew


def test_the_folder_is_checked_before_the_prior_runs(tmp_path):
    prior = Prior()
    (tmp_path / "file").write_text("")
    with pytest.raises(bl.InvalidInput, match="a folder that can be written to"):
        bl.audit(prior.study(), output=tmp_path / "file")
    assert prior.calls == 0


# -- keys -----------------------------------------------------------------------------------


def test_keys_see_code_and_captured_data_but_not_names():
    from borel.audits.study_key import function_key

    def make(value):
        return lambda seed: value

    assert function_key(make(1)) == function_key(make(1))
    assert function_key(make(1)) != function_key(make(2))
    assert function_key(make(np.arange(3))) != function_key(make(np.arange(4)))
    assert function_key(make({"a": (1, 2)})) != function_key(make({"a": (1, 3)}))
    assert function_key(make(make(1))) != function_key(make(make(2)))

    def recursive(n):
        return recursive(n - 1)

    assert function_key(recursive) == function_key(recursive)

    def default(seed, n=1):
        return n

    before = function_key(default)
    default.__defaults__ = (2,)
    assert function_key(default) != before


def test_keys_of_mechanisms_see_density_and_labels():
    from borel.audits.study_key import study_key

    def key(mechanism, prior):
        study = bl.Study(title="T", mechanism=mechanism, prior=prior)
        return study_key(study, None)

    def noise(scale):
        return bl.Mechanism(
            lambda y, x: np.exp(-abs(y - x) / scale) / (2 * scale),
            secret=bl.Interval(0, 1),
            outcome=bl.Reals(),
        )

    flat = bl.uniform(bl.Interval(0, 1))
    assert key(noise(1.0), flat) == key(noise(1.0), flat)
    assert key(noise(1.0), flat)["mechanism"] != key(noise(2.0), flat)["mechanism"]
    skew = bl.beta(alpha=2.0, beta=5.0)
    assert key(noise(1.0), flat)["prior"] != key(noise(1.0), skew)["prior"]
    labels = [f"label {i}" for i in range(20)]
    square = np.eye(20)
    one = bl.Mechanism.from_matrix(square, secret=labels)
    other = bl.Mechanism.from_matrix(square, secret=[*labels[:-1], "another"])
    uniform = [1 / 20] * 20
    keys = [key(m, bl.pmf(uniform, on=m.secret))["mechanism"] for m in (one, other)]
    assert keys[0] != keys[1]


def test_keys_of_what_cannot_be_traced_see_the_function():
    from borel.audits.study_key import study_key

    def noise(scale):
        def density(y, x):
            return np.exp(-np.abs(np.asarray(y) - np.asarray(x)) / scale) / (2 * scale)

        return bl.Mechanism(density, secret=bl.Interval(0, 1), outcome=bl.Reals())

    assert noise(1.0).opaque
    flat = bl.uniform(bl.Interval(0, 1))
    keys = [
        study_key(bl.Study(title="T", mechanism=noise(s), prior=flat), None)["mechanism"]
        for s in (1.0, 1.0, 2.0)
    ]
    assert keys[0] == keys[1] != keys[2]


def test_keys_of_functions_of_every_sort():
    from functools import partial

    import pandas as pd

    from borel.audits.study_key import function_key

    def sample(seed, data=None, n=1):
        return data

    assert function_key(partial(sample, n=1)) != function_key(partial(sample, n=2))
    series = [pd.Series([1, 2]), pd.Series([1, 3])]
    assert len({function_key(partial(sample, data=s)) for s in series}) == 2
    sets = [{"a", "b"}, {"b", "a"}, {"a", "c"}]
    assert len({function_key(partial(sample, data=s)) for s in sets}) == 2
    objects = [object(), object()]  # no data to be seen: only their type counts
    assert len({function_key(partial(sample, data=o)) for o in objects}) == 1
    lists = [np.array([F(1, 2)], dtype=object), np.array([F(1, 3)], dtype=object)]
    assert len({function_key(partial(sample, data=a)) for a in lists}) == 2

    class Sampler:
        def __call__(self, seed):
            return None

        def method(self, seed):
            return None

    assert function_key(Sampler()) != function_key(Sampler().method)


def test_the_envelope_is_a_row_and_a_curve(tmp_path):
    joint = bl.pmf([F(1, 10), F(1, 10), F(1, 5), F(3, 10), F(3, 10)]) * (
        bl.mechanisms.randomized_response(k=5, ratio=3)
    )
    study = bl.Study(
        title="T", mechanism=joint.mechanism, prior=joint.prior, report=["pml", "envelope"]
    )
    bl.audit(study, output=tmp_path)
    found = bl.load(tmp_path)
    env = bl.envelope(joint)
    assert found["envelope"] == env(F(1, 100)) and found["envelope"].status == "exact"
    curve = found.dataset("envelope/curve")
    assert [float(d) for d in (0.01, 0.05, 0.1, 0.2, 0.5)] == [
        d for d in curve.delta.values if d in (0.01, 0.05, 0.1, 0.2, 0.5)
    ]
    for d in (F(1, 20), F(1, 2)):
        at = curve.sel(curve="envelope", delta=float(d))
        assert (at.lower, at.upper, at.status) == (env(d).lower, env(d).upper, "exact")
    assert {"binary", "theorem_5_upper", "ldp"} <= set(curve.curve.values.tolist())
    meaning = found.table().meaning["PML envelope, delta = 0.01"]
    assert meaning.startswith("Whatever is made of the outcome, but for a probability of 0.01")
    # alpha over q_1, 3 over 1 + 2/10
    assert "2.5 times as probable" in meaning


def test_an_envelope_that_is_not_there_says_why():
    over = bl.load(bl.audit(Prior().study(report=["envelope"])))
    assert "posteriors" in over.missing["envelope"]


# -- the table of figures -------------------------------------------------------------------------


def test_a_record_is_all_that_a_new_measure_needs(tmp_path, monkeypatch):
    """It can be asked for in a report, stands in its table, and has no rule to be verified by."""

    def surprisal(joint):
        return bl.Bound.exact(0.25, 0.25, units="number")

    words = MeasureWords("Surprisal", "it is {v} or less", "it is about {v}", "it is endless")
    record = Figure(
        name="surprisal", title="surprisal", units="number", definition="s", module="averages",
        words=words,
    )  # fmt: skip
    monkeypatch.setitem(FIGURES, "surprisal", record)
    monkeypatch.setattr("borel.figures.averages.surprisal", surprisal, raising=False)
    study = bl.Study(title="T", mechanism=MECH, prior=PRIOR, report=["surprisal"])
    audit = bl.load(bl.audit(study, output=tmp_path, certificates=True))
    assert audit["surprisal"].units == "number"
    row = audit.table().loc["Surprisal"]
    assert (row["bound"], row["meaning"]) == ("0.25 number", "It is 0.25 or less.")
    (checked,) = verify(tmp_path)
    assert (checked.name, checked.outcome) == ("surprisal", "none")
    made = bl.pml(PRIOR * MECH).sup().certify()
    assert verified("surprisal", made).words.startswith("not known what it should be about")


def test_measures_of_averages_and_identifiability(tmp_path):
    """Of a bit that is told wrongly with probability 1/4, by hand; verified if there is a rule."""
    mech = bl.Mechanism.from_matrix([[F(3, 4), F(1, 4)], [F(1, 4), F(3, 4)]])
    prior = bl.pmf([F(1, 2), F(1, 2)])
    asked = ["ldi", "maximal_cost_leakage", "min_entropy_leakage", "total_variation"]
    study = bl.Study(title="T", mechanism=mech, prior=prior, report=asked)
    audit = bl.load(bl.audit(study, output=tmp_path, certificates=True))
    factors = {"ldi": 3, "maximal_cost_leakage": 2, "min_entropy_leakage": F(3, 2)}
    assert {name: audit[name].ratio.upper for name in factors} == factors
    assert (audit["total_variation"].lower, audit["total_variation"].upper) == (0.25, 0.25)
    assert list(audit.table().index) == [
        "LDI", "Maximal cost leakage", "Min-entropy leakage", "Total variation",
    ]  # fmt: skip
    found = {row.name: row for row in verify(tmp_path)}
    assert {name: row.outcome for name, row in found.items()} == {
        "ldi": "none",
        "maximal_cost_leakage": "verified",
        "min_entropy_leakage": "none",
        "total_variation": "verified",
    }
    assert found["ldi"].words == "none; missing: a rule for ldi"


@pytest.mark.slow
def test_what_ldp_decides_has_no_certificate_and_says_what_has_one():
    unit = bl.Interval(0, 1)
    opaque = bl.Measure(np.vectorize(lambda x: 2.0 * x), on=unit)
    joint = opaque * bl.mechanisms.laplace(b=1.0, secret=unit)
    assert bl.pml(joint).sup().status == "estimate"
    verdict = joint.satisfies(bl.guarantees.PML(1.0))
    assert verdict.holds and verdict.bound.upper == 1.0
    why = items.with_certificate(verdict.bound).attrs["no_certificate"]
    assert why.startswith("a rule for what LDP decides without the prior")
    # as it says: of a matrix, under a prior that charges all secrets
    table = bl.pmf([F(1, 2), F(1, 2)]) * bl.Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]])
    assert bl.ldp(table).certify().certificate["figure"] == "ldp"
    assert "no_certificate" not in items.with_certificate(bl.ldp(table)).attrs
