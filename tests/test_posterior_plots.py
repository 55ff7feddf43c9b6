"""Plots in ArviZ's manner: what is drawn is what was computed, with its status."""

import matplotlib
import numpy as np
import pytest
import xarray as xr

import borel as bl
from borel.audits.plots.posterior_curves import alpha_curve, prior_curve
from borel.errors import InvalidInput

MECH = bl.Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]])


@pytest.fixture(autouse=True)
def quiet():
    """Draw without a screen, and close what was drawn."""
    from matplotlib import pyplot as plt

    before = matplotlib.get_backend()
    plt.switch_backend("agg")
    yield
    plt.close("all")
    plt.switch_backend(before)


@pytest.fixture(scope="module")
def learnt():
    data = bl.models.dirichlet_posterior([30, 70], draws=200, random_seed=1)
    return bl.priors.from_posterior(data, lambda draw: bl.pmf(draw["p"]))


def axes_of(collection):
    figure = collection.viz["figure"]
    figure = figure.item() if hasattr(figure, "item") else figure["figure"].item()
    return [ax for ax in figure.axes if ax.get_visible() and ax.lines + list(ax.collections)]


def test_the_posterior_of_some_figures(learnt):
    import arviz_plots as azp

    figures = {"PML": bl.pml(learnt * MECH).sup(), "PMC": bl.pmc(learnt * MECH).sup()}
    pc = bl.plot_posterior(figures, ci_prob=0.8, backend="matplotlib")
    assert isinstance(pc, azp.PlotCollection)
    titles = [ax.get_title() for ax in axes_of(pc)]
    assert titles == ["PML (each draw exact)", "PMC (each draw exact)"]
    one = bl.plot_posterior(figures, var_names="PMC", ci_kind="eti", backend="matplotlib")
    assert [ax.get_title() for ax in axes_of(one)] == ["PMC (each draw exact)"]
    # a figure by itself has the name it was made with
    alone = bl.plot_posterior(figures["PML"], backend="matplotlib")
    assert [ax.get_title() for ax in axes_of(alone)] == ["epsilon of pml (each draw exact)"]


def test_a_tree_and_its_groups_are_drawn_with_arviz_s_arguments(learnt):
    from arviz_base.labels import BaseLabeller

    epsilon = bl.pml(learnt * MECH).sup()
    tree = bl.leakage_tree({"eps": {"A": epsilon, "B": epsilon}, "alone": epsilon})
    pc = bl.plot_posterior(tree, backend="matplotlib")
    assert [ax.get_title() for ax in axes_of(pc)] == [
        "A: eps (each draw exact)",
        "B: eps (each draw exact)",
        "alone (each draw exact)",
    ]
    some = bl.plot_posterior(
        tree,
        var_names="ep",
        filter_vars="like",
        coords={"group": ["B"]},
        labeller=BaseLabeller(),
        visuals={"point_estimate_text": False},
        backend="matplotlib",
    )
    (ax,) = axes_of(some)
    assert ax.get_title() == "eps\nB" and not ax.texts
    dollars = bl.plot_posterior({"$": {"$x$": epsilon}}, backend="matplotlib")
    assert axes_of(dollars)[0].get_title() == r"\$x\$: \$ (each draw exact)"
    # what has no status has its name
    other = bl.plot_posterior(
        xr.DataTree.from_dict({"prior": learnt.posterior}), group="prior", backend="matplotlib"
    )
    assert axes_of(other)[0].get_title() == "0: p"
    with pytest.raises(InvalidInput, match=r"a group leakage.*bl\.leakage_tree"):
        bl.plot_posterior(xr.DataTree.from_dict({"posterior": learnt.posterior}))


def test_the_interval_that_nobody_names_is_arviz_s(learnt):
    from arviz_base import rc_context

    epsilon = bl.pml(learnt * MECH).sup()
    values = epsilon.draws["lower"].values
    for prob in (0.5, 0.8):
        with rc_context({"stats.ci_prob": prob, "stats.ci_kind": "eti"}):
            pc = bl.plot_posterior({"e": epsilon}, backend="matplotlib")
        (line,) = [a for a in [pc.viz["credible_interval"]["e"].item()] if a is not None]
        ends = np.sort(np.asarray(line.get_xdata(), float))[[0, -1]]
        np.testing.assert_allclose(
            ends, np.quantile(values, [(1 - prob) / 2, (1 + prob) / 2]), rtol=1e-2
        )


def test_undecided_and_infinite_draws_are_called_so(learnt):
    data = learnt.posterior.assign_attrs({}).isel(chain=[0])
    data.attrs = {}
    alone = bl.priors.from_posterior(data, lambda draw: bl.pmf(draw["p"]))
    pc = bl.plot_posterior(bl.pml(alone * MECH).sup(), backend="matplotlib")
    assert "undecided" in axes_of(pc)[0].get_title()
    half = bl.Mechanism.from_matrix([[0.5, 0.5], [0.0, 1.0]])
    with pytest.raises(InvalidInput, match="plot_epsilon shows"):
        bl.plot_posterior(bl.pmc(learnt * half).sup())
    with pytest.raises(InvalidInput, match="expected a RandomBound"):
        bl.plot_posterior(bl.pml(bl.pmf([0.5, 0.5]) * MECH).sup())


def test_the_leakage_group_goes_into_arviz_s_own_plots(learnt):
    import arviz_plots as azp

    tree = bl.leakage_tree({"epsilon": bl.pml(learnt * MECH).sup()})
    assert tree["leakage/epsilon"].dims == ("chain", "draw")
    azp.plot_forest(tree, group="leakage", var_names=["epsilon"], backend="matplotlib")


def test_epsilon_against_alpha(learnt):
    epsilon = bl.pml(learnt * MECH).sup()
    curve = alpha_curve(epsilon, [0.5, 0.1, 0.05], confidence=0.9)
    for a, low, high in zip([0.5, 0.1, 0.05], curve["lower"], curve["upper"], strict=True):
        bound = epsilon.quantile(1 - a, confidence=0.9)
        assert (bound.lower, bound.upper) == (float(low), float(high))
    assert curve.attrs["status"] == "statistical"
    pc = bl.plot_alpha({"eps": epsilon}, alphas=[0.5, 0.1, 0.05], confidence=0.9)
    (ax,) = axes_of(pc)
    (line,) = ax.lines
    np.testing.assert_array_equal(line.get_xdata(), [0.5, 0.1, 0.05])
    np.testing.assert_array_equal(line.get_ydata(), curve["upper"].values)
    assert ax.get_title() == "eps (statistical)"
    assert "alpha" in ax.get_xlabel() and "nats" in ax.get_ylabel()
    with pytest.raises(InvalidInput, match="some of"):
        bl.plot_alpha({"eps": epsilon}, var_names="epsilon")


@pytest.mark.parametrize("family", [True, False])
def test_the_frontier_of_privacy_and_utility(learnt, family):
    values = [0.5, 1.0, 2.0]
    if family:
        array = xr.DataArray(values, dims="epsilon")
        mechanisms = bl.mechanisms.randomized_response(k=2, epsilon=array)
    else:
        mechanisms = {e: bl.mechanisms.randomized_response(k=2, epsilon=e) for e in values}
    found = bl.frontier(learnt, mechanisms, utility=bl.mutual_information, prob=0.8)
    for i, e in enumerate(values):
        joint = learnt * bl.mechanisms.randomized_response(k=2, epsilon=e)
        draws = bl.mutual_information(joint)._middle().values
        low, high = np.quantile(draws, [0.1, 0.9], method="inverted_cdf")
        assert np.allclose([found["utility_lower"][i], found["utility_upper"][i]], [low, high])
    assert found.attrs["status"] == "estimate"  # quantiles of draws, without their error
    assert (np.diff(found["privacy"]) > 0).all() and (np.diff(found["utility"]) > 0).all()
    pc = bl.plot_frontier(found, backend="matplotlib")
    (line,) = axes_of(pc)[0].lines
    np.testing.assert_array_equal(line.get_xdata(), found["privacy"].values)
    assert "80 % of the posterior" in axes_of(pc)[0].get_title()
    with pytest.raises(InvalidInput, match="frontier returned"):
        bl.plot_frontier(found.drop_vars("utility"))
    with pytest.raises(InvalidInput, match="with one parameter"):
        bl.frontier(learnt, MECH, utility=bl.mutual_information)


def test_the_frontier_of_one_prior_is_enclosed():
    mechanisms = {e: bl.mechanisms.randomized_response(k=2, epsilon=e) for e in (0.5, 1.0)}
    found = bl.frontier(bl.pmf([0.5, 0.5]), mechanisms, utility=bl.total_variation)
    assert found.attrs["status"] == "exact"
    assert (found["utility_upper"] - found["utility_lower"] < 1e-12).all()


@pytest.mark.parametrize("wrong", [{"privacy": {}}, {"privacy": [bl.ldp]}, {"utility": 3}])
def test_a_frontier_of_what_is_no_function(wrong):
    mechanisms = {1.0: bl.mechanisms.randomized_response(k=2, epsilon=1.0)}
    with pytest.raises(InvalidInput, match="a function of a joint"):
        bl.frontier(bl.pmf([0.5, 0.5]), mechanisms, **{"utility": bl.ldp, **wrong})


def test_a_frontier_of_several_measures_of_privacy():
    """Randomised response on three labels: LDP, PMC and PML in closed form (Example 4)."""
    levels, p = np.array([0.5, 1.0, 2.0]), [0.2, 0.3, 0.5]
    family = {e: bl.mechanisms.randomized_response(k=3, epsilon=e) for e in levels.tolist()}
    measures = {
        "LDP": bl.ldp,
        "PMC": lambda joint: bl.pmc(joint).sup(),
        "PML": lambda joint: bl.pml(joint).sup(),
    }
    found = bl.frontier(bl.pmf(p), family, utility=bl.mutual_information, privacy=measures)
    r = np.exp(levels)
    truth = {
        "LDP": levels,
        "PMC": np.log(1 + 0.5 * (r - 1)),
        "PML": np.log(r / (1 + 0.2 * (r - 1))),
    }
    for name, values in truth.items():
        np.testing.assert_allclose(found["privacy"].sel(measure=name), values, rtol=1e-12)
    alone = bl.frontier(bl.pmf(p), family, utility=bl.mutual_information)
    np.testing.assert_array_equal(alone["privacy"], found["privacy"].sel(measure="PML"))
    np.testing.assert_array_equal(alone["utility"], found["utility"])
    assert found.attrs == alone.attrs and alone.attrs["status"] == "exact"
    axes = axes_of(bl.plot_frontier(found, backend="matplotlib"))
    for ax, (name, values) in zip(axes, truth.items(), strict=True):
        np.testing.assert_allclose(ax.lines[0].get_xdata(), values, rtol=1e-12)
        assert name in ax.get_title()


def test_the_worst_prior_beside_a_nominal_one(learnt):
    nominal = learnt.mean_prior()
    ball = bl.priors.tv_ball(nominal, 0.1)
    bound = bl.pml(ball * MECH).sup()
    pc = bl.plot_worst_prior(bound, nominal, backend="matplotlib")
    (ax,) = axes_of(pc)
    worst = bound.witness["prior"].probabilities
    for line, p in zip(ax.lines, (worst, nominal.probabilities), strict=True):
        np.testing.assert_allclose(line.get_ydata(), np.asarray(p, float))
    assert ax.lines[0].get_color() != ax.lines[1].get_color()
    assert [t.get_text() for t in ax.get_xticklabels()] == ["0", "1"]
    assert ax.get_ylabel() == "probability"
    with pytest.raises(InvalidInput, match="witness holds a prior"):
        bl.plot_worst_prior(bl.pml(nominal * MECH).sup(), nominal)
    with pytest.raises(InvalidInput, match="on one alphabet"):
        bl.plot_worst_prior(bound, bl.pmf([0.2, 0.3, 0.5]))


@pytest.mark.parametrize(
    "priors",
    [
        (bl.normal(mu=2, sigma=3), bl.normal(mu=0, sigma=1)),
        (bl.gamma(alpha=2, beta=1), bl.exponential(lam=1)),
        (bl.beta(alpha=2, beta=3), bl.uniform(bl.Interval(0, 1))),
        (bl.poisson(mu=4), bl.poisson(mu=2)),
    ],
)
def test_priors_are_drawn_where_their_mass_lies(priors):
    curve = prior_curve({"a": priors[0], "b": priors[1]})
    x = curve["x"].values.astype(float)
    for name in ("a", "b"):
        values = curve[name].values
        mass = values.sum() if curve.attrs["kind"] == "countable" else np.trapezoid(values, x)
        assert 0.97 < mass < 1.01
    bl.plot_worst_prior(priors[0], priors[1], backend="matplotlib")


def test_visuals_are_chosen_as_in_arviz():
    priors = bl.pmf([0.2, 0.8]), bl.pmf([0.5, 0.5])
    family = {e: bl.mechanisms.randomized_response(k=2, epsilon=e) for e in (0.5, 1.0)}
    found = bl.frontier(priors[0], family, utility=bl.total_variation)
    line = {"linestyle": "--", "color": "red"}
    about = {"backend": "matplotlib", "visuals": {"line": line, "ylabel": False, "xlabel": True}}
    (ax,) = axes_of(bl.plot_frontier(found, **about))
    assert ax.lines[0].get_linestyle() == "--" and ax.lines[0].get_color() == "red"
    assert ax.get_ylabel() == "" and ax.get_xlabel() == "epsilon (nats)"
    (ax,) = axes_of(
        bl.plot_worst_prior(
            *priors,
            backend="matplotlib",
            visuals={"points": False, "line": {"color": "black"}},
            aes={"color": ["which"], "linestyle": ["which"]},
            aes_by_visuals={"line": ["linestyle"]},
        )
    )
    assert len(ax.lines) == 2 and len(ax.collections) == 0
    assert [line.get_color() for line in ax.lines] == ["black", "black"]
    assert ax.lines[0].get_linestyle() != ax.lines[1].get_linestyle()
    for wrong in ({"visuals": {"bars": False}}, {"aes_by_visuals": {"bars": ["color"]}}):
        with pytest.raises(InvalidInput, match=r"visuals among .*line.*, got 'bars'"):
            bl.plot_worst_prior(*priors, **wrong)
        with pytest.raises(InvalidInput, match=r"visuals among .*band.*, got 'bars'"):
            bl.plot_frontier(found, **wrong)
