"""What build reads: only that has to converge, and it reads one draw at a time."""

import numpy as np
import pytest
import xarray as xr

import borel as bl
from borel.priors import diagnostics
from borel.priors.diagnostics import diagnose

RNG = np.random.default_rng(0)
P = RNG.dirichlet([6, 3, 1], size=(4, 500))
WALK = np.cumsum(RNG.normal(size=(4, 500)), axis=1)
MECH = bl.mechanisms.randomized_response(k=3, epsilon=1.0)


def posterior(**others):
    variables = {name: (("chain", "draw", *"ij"[: v.ndim - 2]), v) for name, v in others.items()}
    return xr.Dataset({"p": (("chain", "draw", "x"), P), **variables})


def learnt(build=lambda draw: bl.pmf(draw["p"]), **others):
    return bl.priors.from_posterior(posterior(**others), build)


def draws(values):
    return xr.DataArray(values, dims=("chain", "draw", "i")[: values.ndim])


# -- which variables ------------------------------------------------------------------------


def test_what_build_does_not_read_plays_no_part(monkeypatch):
    seen = []

    def counted(part, name):
        seen.append((name, part.size))
        return diagnose(part, name)

    monkeypatch.setattr(diagnostics, "diagnose", counted)
    prior = learnt(walk=WALK, large=np.broadcast_to(WALK[..., None], (4, 500, 20_000)))
    assert prior.trouble == ""
    assert seen == [("p", P.size)]
    assert bl.pml(prior * MECH).sup().quantile(0.95).status == "statistical"


@pytest.mark.parametrize(
    "latent",
    [
        np.repeat([[True], [True], [False], [False]], 500, axis=1),
        np.repeat([["a"], ["a"], ["b"], ["b"]], 500, axis=1),
        np.repeat(np.array([["a"], ["a"], [None], [None]], dtype=object), 500, axis=1),
        np.repeat([[0], [0], [1], [1]], 500, axis=1),
    ],
    ids=["bools", "strings", "objects", "integers"],
)
def test_whatever_build_reads_has_to_mix(latent):
    def build(draw):
        first = np.asarray(draw["which"] == latent[0, 0])[:, None]
        return bl.pmf(np.where(first, draw["p"], draw["p"][:, ::-1]))

    prior = learnt(build, which=latent)
    assert "which: R-hat" in prior.trouble and "Remedy" in prior.trouble
    sup = bl.pml(prior * MECH).sup()
    assert sup.status == "undecided" and sup.quantile(0.95).lower == 0


@pytest.mark.parametrize("words", [[False, True], ["a", "b"], [None, "b"]])
def test_a_latent_that_mixes_is_no_trouble(words):
    which = np.array(words, dtype=None if words[0] is not None else object)[
        RNG.integers(0, 2, size=(4, 500))
    ]
    assert diagnose(draws(which), "which") == ""


def test_a_variable_read_in_a_later_block_counts(monkeypatch):
    monkeypatch.setattr("borel.priors.posteriors.BLOCK", 500)
    calls = []

    def build(draw):
        calls.append(1)
        if len(calls) > 4:
            assert len(draw["walk"]) > 0
        return bl.pmf(draw["p"])

    prior = learnt(build, walk=WALK)
    assert prior.trouble == ""
    epsilon = bl.pml(prior * MECH).sup()
    assert "walk: R-hat" in epsilon.trouble and "walk: R-hat" in prior.trouble


def test_a_region_of_parameters_needs_their_draws_too():
    prior = learnt(walk=WALK)
    assert prior.region("box").status == "exact"
    with pytest.raises(bl.Undecided, match="walk: R-hat"):
        prior.region(var_names="walk", build=lambda walk: bl.pmf([0.5, 0.5]))


# -- which draws ----------------------------------------------------------------------------


@pytest.mark.parametrize("value", [np.inf, -np.inf])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_an_infinite_draw_hides_nothing(value, sign):
    level = sign * (1e3 + np.abs(WALK))  # all of one sign
    level[0, 0] = value
    assert "R-hat" in diagnose(draws(level), "level")
    level[0, 1] = np.nan
    assert "NaN" in diagnose(draws(level), "level")


def test_infinite_draws_of_a_chain_that_mixes_are_no_trouble():
    values = RNG.normal(size=(4, 1000))
    values[RNG.random((4, 1000)) < 0.01] = np.inf
    assert diagnose(draws(values), "value") == ""
    assert diagnose(draws(-values), "value") == ""


@pytest.mark.filterwarnings("error")
def test_constant_entries_are_no_failure():
    values = np.ones((4, 500, 3))
    assert diagnose(draws(values), "z") == ""
    values[..., 2] = RNG.normal(size=(4, 500))
    assert diagnose(draws(values), "z") == ""
    values[..., 1] = np.arange(4)[:, None]  # each chain stays where it began
    assert "R-hat" in diagnose(draws(values), "z")


# -- one draw at a time ---------------------------------------------------------------------


@pytest.mark.parametrize(
    "build",
    [
        lambda draw: bl.pmf(draw["p"].mean(("chain", "draw"))),
        lambda draw: bl.pmf(draw["p"].sel(chain=0)),
        lambda draw: bl.pmf(draw["p"].isel(draw=0)),
        lambda draw: bl.pmf(draw["p"].mean("sample")),
        lambda draw: bl.pmf(0 * draw["p"] + draw["p"].mean("sample")),
        lambda draw: bl.normal(mu=draw["p"][:, 0] - draw["p"][:, 0].mean(), sigma=1.0),
        lambda draw: bl.normal(mu=draw["p"][:, 0], sigma=float(draw["p"][:, 0].std())),
    ],
    ids=["chain-and-draw", "sel", "isel", "sample", "kept", "centred", "scaled"],
)
def test_averages_over_the_draws_are_refused(build):
    with pytest.raises(bl.InvalidInput, match=r"from_posterior: .*learnt\.mean_prior\(\)"):
        learnt(build)


def test_what_build_itself_gets_wrong_is_told_as_it_is():
    with pytest.raises(bl.InvalidInput, match=r"one of the variables \['p'\]"):
        learnt(lambda draw: bl.pmf(draw["draw"]))
    with pytest.raises(ValueError, match="not this"):

        def wrong(draw):
            raise ValueError("not this")

        learnt(wrong)


def test_softmax_of_each_draw_is_no_average():
    def build(draw):
        weight = np.exp(draw["p"] - draw["p"].max("x"))
        return bl.pmf(weight / weight.sum("x"))

    prior = learnt(build)
    weight = np.exp(P[1, 7])
    np.testing.assert_allclose(prior.one(507).probabilities, weight / weight.sum(), rtol=1e-12)
