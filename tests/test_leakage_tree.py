"""Figures as variables of a DataTree, beside the posterior, for ArviZ's own functions."""

import warnings
from fractions import Fraction as F

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import borel as bl
from borel import _compat
from borel.errors import InvalidInput
from borel.figures.leakage_curves import names_of

MECH = bl.Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]])
TOWNS = ["A", "B"]
SUCCESSES, TRIALS = np.array([10, 40]), np.array([40, 60])


def build(draw):
    q = draw["q"].values
    return bl.pmf(np.stack([1 - q, q], -1))


def truth(q):
    """Return the PML of either outcome, and epsilon: log 0.75 / P(y)."""
    ones = 0.25 + 0.5 * q
    return np.log(0.75 / (1 - ones)), np.log(0.75 / ones), np.log(0.75 / np.minimum(ones, 1 - ones))


@pytest.fixture(scope="module")
def data():
    """Exact draws under Beta(2, 2), with the log-densities by hand."""
    rng = np.random.default_rng(1)
    q = rng.beta(SUCCESSES + 2, TRIALS - SUCCESSES + 2, size=(4, 250, 2))
    dims, coords = ("chain", "draw", "town"), {"chain": range(4), "draw": range(0, 500, 2)}
    coords["town"] = TOWNS

    def group(**values):
        return xr.Dataset({k: (dims, v) for k, v in values.items()}, coords)

    return xr.DataTree.from_dict(
        {
            "/": xr.Dataset(attrs={"name": "two towns", "creation_library": "another"}),
            "posterior": group(q=q).assign_attrs(borel_draws="exact"),
            "log_prior": group(q=stats.beta.logpdf(q, 2, 2)),
            "log_likelihood": group(k=stats.binom.logpmf(SUCCESSES, TRIALS, q)),
            "observed_data": xr.Dataset({"k": ("town", SUCCESSES)}, {"town": TOWNS}),
        }
    )


@pytest.fixture(scope="module")
def learnt(data):
    return bl.priors.each_group(data, build, dim="town")


@pytest.fixture(scope="module")
def epsilon(learnt):
    return {town: bl.pml(prior * MECH).sup() for town, prior in learnt.items()}


def test_figures_are_beside_the_posterior(data, epsilon):
    tree = bl.leakage_tree({"epsilon": epsilon}, data, dims={"epsilon": "town"})
    assert {*tree.children} == {*data.children, "leakage"}
    for group in ("log_prior", "log_likelihood", "observed_data"):
        xr.testing.assert_identical(tree[group].to_dataset(), data[group].to_dataset())
    for group in ("posterior", "leakage"):
        found = tree[group]["epsilon"]
        assert found.dims == ("chain", "draw", "town")
        assert found.attrs == {"units": "nats", "status": "each draw exact"}
        np.testing.assert_allclose(found, truth(data["posterior/q"].values)[2], rtol=1e-12)
        for dim in found.dims:
            xr.testing.assert_identical(found[dim], data["posterior"][dim])
    assert tree["posterior"].attrs["borel_draws"] == "exact"
    assert "epsilon" not in data["posterior"] and "leakage" not in data  # left as it was


def test_the_metadata_of_arviz_s_schema(data, epsilon):
    about = {"creation_library": "borel", "creation_library_version": bl.__version__}
    alone = bl.leakage_tree({"epsilon": epsilon["A"]})
    whole = bl.leakage_tree({"epsilon": epsilon["A"]}, data)
    for attrs in (alone.attrs, alone["posterior"].attrs, whole.attrs, whole["leakage"].attrs):
        assert about.items() <= attrs.items() and "created_at" in attrs
    assert whole.attrs["name"] == "two towns"


def test_summary_psense_loo_and_compare_take_epsilon_as_any_variable(data, epsilon):
    import arviz_stats as azs

    by_hand = data.copy()
    values = truth(data["posterior/q"].values)[2][..., 0]
    by_hand["posterior"] = data["posterior"].to_dataset().assign(h=(("chain", "draw"), values))
    tree = bl.leakage_tree({"epsilon": epsilon["A"]}, by_hand)
    summary = azs.summary(tree, var_names=["epsilon", "h"], round_to="none")
    assert float(summary.loc["epsilon", "mean"]) == pytest.approx(values.mean(), rel=1e-12)
    for found in (summary, azs.psense_summary(tree, round_to=9)):
        one, other = found.loc["epsilon"], found.loc["h"]
        assert one[:2].astype(float).tolist() == pytest.approx(other[:2].astype(float).tolist())
    others = bl.leakage_tree({"epsilon": epsilon["B"]}, data)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Pareto k of two observations
        weights = azs.compare({"one": tree, "two": others})["weight"]
        assert azs.loo(tree).elpd == azs.loo(data).elpd
    assert weights.sum() == pytest.approx(1)


def test_groups_and_outcomes_are_dims(data, learnt, epsilon):
    figures = {"epsilon": epsilon, "pml": bl.pml(learnt["A"] * MECH)}
    tree = bl.leakage_tree(figures, data)
    assert tree["posterior/epsilon"].dims == ("chain", "draw", "group")
    assert tree["posterior/group"].values.tolist() == TOWNS
    assert tree["posterior/pml"].dims == ("chain", "draw", "outcome")
    zero, one, _ = truth(data["posterior/q"].values[..., 0])
    np.testing.assert_allclose(tree["posterior/pml"].sel(outcome=0), zero, rtol=1e-12)
    np.testing.assert_allclose(tree["posterior/pml"].sel(outcome=1), one, rtol=1e-12)
    # by itself, and of labels that are no numbers
    named = bl.Mechanism.from_matrix(MECH.matrix, outcome=bl.Finite(["no", "yes"]))
    alone = bl.leakage_tree(bl.pmc(learnt["A"] * named))["leakage/pmc"]
    assert alone["outcome"].values.tolist() == ["no", "yes"]
    with pytest.raises(InvalidInput, match=r"finitely many outcomes.*dims="):
        bl.leakage_tree(bl.pml(learnt["A"] * bl.mechanisms.laplace(b=1.0, secret=bl.Finite(2))))


def test_a_figure_by_itself(data, epsilon):
    tree = epsilon["A"].to_datatree(data, name="epsilon", include=("posterior", "log_prior"))
    assert sorted(tree.children) == ["leakage", "log_prior", "posterior"]
    assert sorted(tree["posterior"].data_vars) == ["epsilon", "q"]
    assert [*epsilon["A"].to_datatree()["posterior"].data_vars] == ["epsilon of pml"]
    # a second one joins the first
    more = bl.leakage_tree({"other": epsilon["B"]}, tree)
    assert sorted(more["leakage"].data_vars) == ["epsilon", "other"]
    only = bl.leakage_tree({"q": epsilon["A"]}, data, include=["log_prior"])
    assert [*only["posterior"].data_vars] == ["q"]  # no clash, as the posterior is left out


@pytest.mark.parametrize(
    ("figures", "about", "message"),
    [
        ("draw", {}, "'draw', a dim or coordinate already"),
        ("sample", {}, "'sample', a dim or coordinate already"),
        ("town", {}, "'town', a dim or coordinate already"),
        ("q", {}, "'q', a variable already"),
    ],
)
def test_a_name_that_is_taken(data, epsilon, figures, about, message):
    with pytest.raises(InvalidInput, match=message):
        bl.leakage_tree({figures: epsilon["A"]}, data, **about)


def test_what_cannot_be_put_beside_each_other(data, learnt, epsilon):
    with pytest.raises(InvalidInput, match="'group', a dim"):
        bl.leakage_tree({"group": epsilon}, data)
    # towns named otherwise would be aligned, and filled with NaN
    with pytest.raises(InvalidInput, match=r"labels of the dim 'town'.*another name: dims="):
        bl.leakage_tree({"e": {"A": epsilon["A"], "C": epsilon["B"]}}, data, dims={"e": "town"})
    with pytest.raises(InvalidInput, match="names without a slash"):
        bl.leakage_tree({"a/b": epsilon["A"]}, data)
    few = data["posterior"].to_dataset().isel(draw=slice(0, 50))
    with pytest.raises(InvalidInput, match="data's draws, of the shape"):
        bl.leakage_tree({"e": epsilon["A"]}, few)
    short = bl.pml(bl.priors.each_group(few, build, dim="town")["A"] * MECH).sup()
    with pytest.raises(InvalidInput, match="figures of the same draws"):
        bl.leakage_tree({"e": {"A": epsilon["A"], "B": short}})
    chance = bl.pml(learnt["B"] * MECH).by_draw.tail(0.1)
    with pytest.raises(InvalidInput, match="in the same units"):
        bl.leakage_tree({"e": {"A": epsilon["A"], "B": chance}})
    with pytest.raises(InvalidInput, match="a RandomBound, or a mapping"):
        bl.leakage_tree({"e": {"A": epsilon["A"], "B": 0.3}})


def test_groups_that_are_not_there(data, epsilon):
    posterior = data["posterior"].to_dataset()
    with pytest.raises(InvalidInput, match=r"a group log_prior.*pass model="):
        bl.leakage_tree({"e": epsilon["A"]}, posterior, include=["log_prior"])
    with pytest.raises(InvalidInput, match=r"a group prior_predictive.*leave it out"):
        bl.leakage_tree({"e": epsilon["A"]}, posterior, include=["prior_predictive"])
    with pytest.raises(InvalidInput, match="expected data"):
        bl.leakage_tree({"e": epsilon["A"]}, include=["posterior"])
    with pytest.raises(InvalidInput, match="a posterior group"):
        bl.leakage_tree({"e": epsilon["A"]}, xr.DataTree.from_dict({"prior": posterior}))


def test_undecided_of_one_group_is_undecided_of_all(data):
    posterior = data["posterior"].to_dataset().assign_attrs(borel_draws="no").isel(chain=[0])
    exact = posterior.assign_attrs(borel_draws="exact")
    one, other = (
        bl.pml(bl.priors.each_group(d, build, dim="town")["A"] * MECH).sup()
        for d in (exact, posterior)
    )
    assert bl.leakage_tree({"e": {"A": one, "B": other}})["leakage/e"].status == "undecided"
    assert bl.leakage_tree({"e": one})["leakage/e"].attrs["status"] == "each draw exact"


def test_a_file_keeps_the_tree(data, learnt, epsilon, tmp_path):
    tree = bl.leakage_tree({"e": epsilon, "pml": bl.pml(learnt["A"] * MECH)}, data)
    tree.to_netcdf(tmp_path / "tree.nc", engine="h5netcdf")
    again = bl.leakage_tree({"other": epsilon["B"]}, tmp_path / "tree.nc")
    xr.testing.assert_equal(again["leakage/e"], tree["leakage/e"])
    assert again["leakage/pml"].attrs == tree["leakage/pml"].attrs


def test_intervals_that_nobody_names_are_arviz_s(epsilon, data):
    from arviz_base import rc_context

    assert _compat.ci_prob() == 0.89  # ArviZ's own
    values = np.sort(truth(data["posterior/q"].values)[2][..., 0].ravel())
    with rc_context({"stats.ci_prob": 0.5}):
        region = epsilon["A"].hdi()
    n = int(0.5 * values.size)
    shortest = (values[n:] - values[: values.size - n]).min()
    assert region.upper.value - region.lower.value == pytest.approx(shortest, rel=0.02)


def test_the_groups_that_pymc_computes(data, epsilon):
    """Log-densities of the draws under the model they are of, against SciPy's."""
    import pymc as pm

    with pm.Model(coords={"town": TOWNS}, name="") as model:
        q = pm.Beta("q", 2, 2, dims="town")
        pm.Binomial("k", n=TRIALS, p=q, observed=SUCCESSES, dims="town")
    posterior = data["posterior"].to_dataset()
    figures = {"epsilon": epsilon["A"]}
    tree = bl.leakage_tree(figures, posterior, model=model)
    assert sorted(tree.children) == ["leakage", "log_likelihood", "log_prior", "posterior"]
    for group, name in (("log_prior", "q"), ("log_likelihood", "k")):
        # PyTensor holds constants such as the 2 as float32
        np.testing.assert_allclose(tree[group][name], data[group][name], rtol=0, atol=1e-7)
    found, known = (
        bl.priors.power_scaling(d, epsilon["A"], **about)
        for d, about in ((posterior, {"model": model}), (data, {}))
    )
    xr.testing.assert_allclose(found, known, rtol=1e-4)
    with pm.Model() as other:
        pm.Normal("z")
    with pytest.raises(InvalidInput, match=r"one whose variables \['z'\]"):
        bl.leakage_tree(figures, posterior, model=other)


def sampled(a, b, y):
    """Return a model of the answers y, and its draws by NUTS."""
    import pymc as pm

    with pm.Model(name="") as model:
        q = pm.Beta("q", a, b)
        pm.Bernoulli("y", p=q, observed=y)
    about = {"draws": 300, "tune": 300, "chains": 2, "cores": 1, "progressbar": False}
    return model, _compat.sample(model, random_seed=1, **about)


@pytest.fixture(scope="module")
def fits():
    y = np.repeat([0, 1], [45, 15])
    return {name: sampled(*prior, y) for name, prior in {"weak": (2, 2), "wrong": (80, 20)}.items()}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # ArviZ's own, of few draws
def test_from_sampling_to_stacking(fits):
    """A study in ArviZ's manner: draw, see what the figure rests on, compare, average, check."""
    import arviz_plots as azp
    import arviz_stats as azs

    learnt = {name: bl.priors.from_posterior(data, build) for name, (_, data) in fits.items()}
    trees = {
        name: bl.pml(learnt[name] * MECH).sup().to_datatree(data, name="epsilon", model=model)
        for name, (model, data) in fits.items()
    }
    groups = {"posterior", "sample_stats", "observed_data", "log_prior", "log_likelihood"}
    for name, tree in trees.items():
        assert groups | {"leakage"} == {*tree.children}
        q = tree["posterior/q"].values
        np.testing.assert_allclose(tree["posterior/epsilon"], truth(q)[2], rtol=1e-12)
        a, b = {"weak": (2, 2), "wrong": (80, 20)}[name]
        prior = stats.beta.logpdf(q, a, b)
        np.testing.assert_allclose(tree["log_prior/q"], prior, rtol=0, atol=1e-4)
    # the prior of 100 answers outweighs 60 answers that are otherwise, the weak one does not
    rests = {n: azs.psense_summary(t).loc["epsilon", "prior"] for n, t in trees.items()}
    assert float(rests["weak"]) < 0.05 < float(rests["wrong"])
    assert azs.summary(trees["weak"], var_names=["epsilon"]).index.tolist() == ["epsilon"]
    found = azs.compare(trees, method="stacking")
    assert found.index[0] == "weak" and float(found.loc["weak", "weight"]) > 0.9
    stacked = bl.priors.stack(learnt, weights=found)
    assert float(stacked.probabilities[1]) == pytest.approx(17 / 64, abs=0.06)
    azp.plot_forest(trees["weak"], var_names=["epsilon", "q"], backend="none")
    released = MECH.sample(np.repeat([0, 1], [45, 15]), rng=0)
    trees["weak"].update(bl.priors.predictive(learnt["weak"] * MECH, observed=released))
    assert "posterior_predictive" in trees["weak"]


LABELS = {
    "spaces": ["no answer", " yes "],
    "no characters": ["", " "],
    "other scripts": ["d\u00e5", "\u65e5\u672c \U0001f642"],
    "brackets": ["a[0]", "b], c"],
    "lines": ["a\nb", "a\tb"],
    "markup": ["50 % $x_1$", "<b>&amp;</b>"],
    "long": ["x" * 999, "x" * 1000],
    "one name": [1, "1"],
    "bools": [False, True],
    "a bool and a number": [True, 0.5],
    "tuples": [(1, "a"), (1, "b")],
    "Fractions": [F(1, 3), F(2, 3)],
    "none": [None, "None"],
    "numbers that floats confuse": [2**53 + 1, 2.0**53],
    "numbers beyond a word": [10**30, 1],
}


@pytest.mark.cases("slow", "spaces", "no characters", "lines", "markup", "long", "none")
@pytest.mark.cases("slow", "other scripts", "tuples", "bools", "brackets", "numbers beyond a word")
@pytest.mark.parametrize("labels", LABELS.values(), ids=LABELS)
@pytest.mark.filterwarnings("ignore")  # ArviZ's own, of constant draws, and fonts without a letter
def test_any_labels_of_secrets_outcomes_and_groups(data, labels, tmp_path):
    import arviz_plots as azp
    import arviz_stats as azs

    on = bl.Finite(labels)
    mech = bl.Mechanism.from_matrix(MECH.matrix, secret=on, outcome=on)
    one = data.isel(town=0, drop=True)
    learnt = bl.priors.from_posterior(
        one, lambda draw: bl.pmf(np.stack([1 - draw["q"], draw["q"]], -1), on=on)
    )
    pml, q = bl.pml(learnt * mech), one["posterior/q"].values
    figures = {"pml": pml, "group [1]": {label: pml(label) for label in labels}}
    tree = bl.leakage_tree(figures, one)
    for name, dim in (("pml", "outcome"), ("group [1]", "group")):
        names = tree[f"posterior/{dim}"].values
        assert len(set(names.tolist())) == 2
        assert names.dtype.kind == "U" or all(type(label) in (int, float) for label in labels)
        for place in (0, 1):
            found = tree[f"posterior/{name}"].isel({dim: place})
            np.testing.assert_allclose(found, truth(q)[place], rtol=1e-12)
            if labels[place] in names.tolist():  # "1", and not 1 beside it
                found = tree[f"posterior/{name}"].sel({dim: labels[place]})
                np.testing.assert_allclose(found, truth(q)[place], rtol=1e-12)
    for table in (azs.summary(tree, var_names=["pml"]), azs.psense_summary(tree)):
        assert table.index.is_unique and sum("pml" in row for row in table.index) == 2
    azp.plot_forest(tree, var_names=["pml"], backend="none")
    tree.to_netcdf(tmp_path / "tree.nc", engine="h5netcdf")
    again = _compat.as_datatree(tmp_path / "tree.nc")["leakage/pml"]
    xr.testing.assert_equal(again, tree["leakage/pml"])


def test_figures_that_share_a_dim_share_its_labels(data, learnt):
    """Elsewhere those of one would be aligned with the other's, and filled with NaN."""
    named = bl.Mechanism.from_matrix(MECH.matrix, outcome=bl.Finite(["no", "yes"]))
    figures = {"one": bl.pml(learnt["A"] * MECH), "two": bl.pml(learnt["A"] * named)}
    with pytest.raises(InvalidInput, match=r"the labels of the dim 'outcome'.*dims="):
        bl.leakage_tree(figures, data)
    tree = bl.leakage_tree(figures, data, dims={"two": "answer"})
    assert tree["posterior/two"].dims == ("chain", "draw", "answer")


@pytest.mark.parametrize("dim", ["chain", "draw"])
def test_a_dim_of_the_draws_is_none_of_outcomes(data, learnt, dim):
    with pytest.raises(InvalidInput, match=f"another dim than .*{dim}"):
        bl.leakage_tree(bl.pml(learnt["A"] * MECH), data, dims={"pml": dim})


@pytest.mark.parametrize(
    "towns", [[False, True], [F(1, 2), 2], [("a", 1), ("b", 2)]], ids=["bools", "Fractions", "keys"]
)
def test_a_dim_of_the_posterior_keeps_its_labels(data, towns):
    posterior = data["posterior"].to_dataset().drop_vars("town")
    index = (
        xr.Coordinates.from_pandas_multiindex(
            pd.MultiIndex.from_tuples(towns, names=["place", "year"]), "town"
        )
        if isinstance(towns[0], tuple)
        else {"town": np.array(towns, dtype=object)}
    )
    posterior = posterior.assign_coords(index)
    each = bl.priors.each_group(posterior, build, dim="town")
    assert list(each) == towns
    figures = {town: bl.pml(prior * MECH).sup() for town, prior in each.items()}
    tree = bl.leakage_tree({"e": figures}, posterior, dims={"e": "town"})
    for group in ("posterior", "leakage"):
        assert list(tree[group].indexes["town"]) == towns
        np.testing.assert_allclose(tree[f"{group}/e"], truth(posterior["q"].values)[2], rtol=1e-12)


ALIKE = [1, "1", "1 (int)", "1 (int1)", F(1, 2), "1/2", (1, "a"), "(1, 'a')", "a\0", r"a\x00"]


def test_names_that_are_one_as_text(data, epsilon):
    tree = bl.leakage_tree({1: epsilon["A"], "1": epsilon["B"]}, data)["leakage"]
    assert sorted(tree.data_vars) == ["1", "1 (int)"]
    for name, town in (("1", "B"), ("1 (int)", "A")):
        np.testing.assert_allclose(tree[name], epsilon[town].draws["lower"], rtol=1e-12)


@given(st.lists(st.sampled_from(ALIKE), unique=True))
def test_a_string_is_the_name_of_no_other_label(labels):
    names = names_of(labels)
    assert len(set(names)) == len(labels)
    for label, name in zip(labels, names, strict=True):
        assert label == name or name not in labels
