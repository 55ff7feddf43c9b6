"""Plots show what was computed: bands, statuses, and what is infinite."""

import numpy as np
import pytest

import borel as bl
from borel.figures.leakage_curves import leakage_curve
from borel.figures.leakage_plots import (
    blank_axes,
    curve_height,
    draw_curve,
    plot_epsilon,
    plot_law,
    plot_leakage,
)

MECH = bl.Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]], outcome=["no", "yes"])
JOINT = bl.pmf([0.25, 0.75]) * MECH
NOISE = bl.Mechanism(
    lambda y, x: np.exp(-2 * abs(y - x)), secret=bl.Interval(0, 1), outcome=bl.Reals()
)


@pytest.fixture
def ax():
    return blank_axes()


def learnt(**changes):
    data = bl.models.dirichlet_posterior([30, 70], draws=100, random_seed=1)
    return bl.priors.from_posterior(data, lambda draw: bl.pmf(draw["p"]))


def texts(ax):
    return " | ".join(t.get_text() for t in ax.texts)


def test_finite_outcomes_have_their_labels(ax):
    plot_leakage(bl.pml(JOINT), ax=ax)
    assert [t.get_text() for t in ax.get_xticklabels()] == ["no", "yes"]
    assert ax.get_title(loc="left") == "PML against the outcome (exact)"
    assert "nats" in ax.get_ylabel()
    (points,) = [line for line in ax.lines if line.get_marker() == "o"]
    np.testing.assert_allclose(
        points.get_ydata(), [bl.pml(JOINT)(y).value for y in ("no", "yes")], rtol=1e-12
    )


def test_many_labels_are_thinned(ax):
    n = 100
    matrix = np.full((2, n), 1 / n)
    matrix[0] += np.where(np.arange(n) % 2, 0.5, -0.5) / n
    joint = bl.pmf([0.5, 0.5]) * bl.Mechanism.from_matrix(
        matrix, outcome=[f"label {i}" for i in range(n)]
    )
    plot_leakage(bl.pml(joint), ax=ax)
    assert len(ax.get_xticks()) <= 30


def test_a_continuous_curve_has_a_band_and_says_it_is_an_estimate(ax):
    joint = bl.uniform(bl.Interval(0, 1)) * NOISE
    with bl.options(engine="estimate"):
        plot_leakage(bl.pml(joint), outcomes=np.linspace(-1, 2, 31), ax=ax)
    assert "(estimate)" in ax.get_title(loc="left")
    assert len(ax.collections) == 1
    assert "error estimate" in [t.get_text() for t in ax.get_legend().get_texts()]


def test_atoms_stand_out(ax):
    joint = bl.uniform(bl.Interval(0, 1)) * bl.mechanisms.laplace(b=0.5).clip(0, 1)
    plot_leakage(bl.pml(joint), outcomes=np.linspace(0, 1, 21), ax=ax)
    (atoms,) = [line for line in ax.lines if line.get_marker() == "D"]
    assert list(atoms.get_xdata()) == [0.0, 1.0]


def test_infinite_values_are_arrows_named_inf(ax):
    joint = bl.pmf([0.5, 0.5]) * bl.Mechanism.from_matrix([[0.5, 0.5], [0.0, 1.0]])
    plot_leakage(bl.pmc(joint), ax=ax)
    assert "inf" in texts(ax)
    (arrows,) = [line for line in ax.lines if line.get_marker() == "^"]
    assert list(arrows.get_xdata()) == [0.0]
    assert arrows.get_ydata()[0] < ax.get_ylim()[1]
    assert np.isfinite(ax.get_ylim()).all()


def test_a_missing_upper_bound_is_not_called_infinite(ax):
    import xarray as xr

    curve = xr.Dataset(
        {"lower": ("y", [0.5, 1.0]), "upper": ("y", [0.6, np.inf])},
        {"y": [0, 1]},
        {"kind": "pml", "outcome_kind": "finite", "status": "undecided", "atoms": []},
    )
    draw_curve(curve, ax)
    assert texts(ax) == "no upper bound"


def test_everything_infinite(ax):
    plot_leakage(bl.pmc(bl.pmf([0.5, 0.5]) * bl.Mechanism.from_matrix(np.eye(2))), ax=ax)
    assert ax.get_ylim()[1] == 1.0


def test_the_law_of_a_finite_leakage_is_a_step_function(ax):
    ell = bl.pml(JOINT)
    plot_law(ell, ax=ax)
    (line,) = ax.lines
    t, p = line.get_data()
    low = ell("yes").value  # the likelier outcome leaks less
    high = ell("no").value
    jump = float(ell.cdf((low + high) / 2).value)
    step = p[np.searchsorted(t, (low + high) / 2, side="right") - 1]
    assert step == pytest.approx(jump, abs=1e-12)
    assert p[0] == pytest.approx(0.0, abs=1e-12)
    assert p[-1] == 1.0
    assert ax.get_title(loc="left") == "Law of PML over outcomes (exact)"
    assert line.get_drawstyle() == "steps-post"


@pytest.mark.slow
def test_the_band_of_a_law_encloses_it_between_the_points(ax):
    joint = bl.uniform(bl.Interval(0, 1)) * NOISE
    ell = bl.pml(joint)
    with bl.options(budget=3.0):  # the grid is as fine as that allows
        plot_law(ell, ax=ax)
    (band,) = ax.collections
    corners = band.get_paths()[0].vertices
    edges = np.stack([corners[:-1], corners[1:]], axis=1)  # (edge, end, coordinate)
    flat = edges[edges[:, 0, 1] == edges[:, 1, 1]]
    top = float(ell.sup().upper)
    for t in np.linspace(0.1, 0.99, 7) * top:
        above_t = flat[(flat[..., 0].min(axis=1) <= t) & (t < flat[..., 0].max(axis=1)), 0, 1]
        assert len(above_t) >= 2
        p = ell.cdf(float(t)).value
        assert above_t.min() - 1e-6 <= p <= above_t.max() + 1e-6


def test_a_law_with_infinite_values_says_so(ax):
    joint = bl.pmf([0.5, 0.5]) * bl.Mechanism.from_matrix([[0.5, 0.5], [0.0, 1.0]])
    plot_law(bl.pmc(joint), ax=ax)
    assert "probability 0.25 lies further out, up to inf" in ax.get_xlabel()


def test_the_posterior_of_epsilon(ax):
    epsilon = bl.pml(learnt() * MECH).sup()
    plot_epsilon(epsilon, prob=0.9, ax=ax)
    heights = [p.get_height() for p in ax.patches if p.get_height() <= 1 and p.get_width() < 0.1]
    assert sum(heights) >= 1 - 1e-9
    (said,) = [t.get_text() for t in ax.get_legend().get_texts()]
    region = epsilon.hdi(0.9)
    assert said == f"90 % HDI ~[{region.lower.value:.4g}, {region.upper.value:.4g}] (estimate)"
    assert "each draw: exact" in ax.get_title(loc="left")
    assert "PML" in ax.get_xlabel()


def test_infinite_draws_are_a_bar_of_their_own(ax):
    half = bl.Mechanism.from_matrix([[0.5, 0.5], [0.25, 0.75], [0.0, 1.0]], secret=[0, 1, 2])
    data = bl.models.dirichlet_posterior([30, 70], draws=100, random_seed=1)

    def build(draw):
        p = draw["p"].values
        odd = np.arange(len(p)) % 2 == 1  # every second prior has the third secret
        third = np.where(odd, 0.25, 0.0)
        q = np.stack([p[:, 0] * (1 - third), p[:, 1] * (1 - third), third], axis=1)
        return bl.pmf(q / q.sum(axis=1, keepdims=True))

    epsilon = bl.pmc(bl.priors.from_posterior(data, build) * half).sup()
    plot_epsilon(epsilon, ax=ax)
    assert "inf: 50 % of the draws" in texts(ax)
    assert ax.get_xticklabels()[-1].get_text() == "inf"


def test_all_draws_infinite(ax):
    epsilon = bl.pmc(learnt() * bl.Mechanism.from_matrix(np.eye(2))).sup()
    plot_epsilon(epsilon, ax=ax)
    assert "inf: 100 % of the draws" in texts(ax)


def test_an_infinite_share_shows_a_quantile_instead_of_an_hdi(ax):
    mech = bl.Mechanism.from_matrix([[0.5, 0.5], [0.25, 0.75], [0.0, 1.0]], secret=[0, 1, 2])
    data = bl.models.dirichlet_posterior([30, 70], draws=1000, random_seed=1)

    def build(draw):
        p = draw["p"].values
        third = np.where(np.arange(len(p)) % 100 == 1, 0.25, 0.0)
        q = np.stack([p[:, 0] * (1 - third), p[:, 1] * (1 - third), third], axis=1)
        return bl.pmf(q / q.sum(axis=1, keepdims=True))

    plot_epsilon(bl.pmc(bl.priors.from_posterior(data, build) * mech).sup(), ax=ax)
    assert "95 % quantile, at most" in ax.get_legend().get_texts()[0].get_text()


def test_bad_draws_are_undecided(ax):
    tree = bl.models.dirichlet_posterior([30, 70], draws=100, chains=1, random_seed=1)
    tree["posterior"].attrs.clear()
    prior = bl.priors.from_posterior(tree, lambda draw: bl.pmf(draw["p"]))
    plot_epsilon(bl.pml(prior * MECH).sup(), ax=ax)
    assert "undecided" in ax.get_title(loc="left")
    assert "R-hat" in texts(ax)
    assert ax.get_legend() is None


def test_a_posterior_leakage_has_a_credible_band(ax):
    bl.pml(learnt() * MECH).plot(ax=ax, prob=0.8)
    assert "posterior median, 80 % credible band" in [
        t.get_text() for t in ax.get_legend().get_texts()
    ]


def test_the_law_over_prior_and_outcome(ax):
    variable = bl.pml(learnt() * MECH)
    plot_law(variable, ax=ax)
    assert ax.get_title(loc="left") == "Law of PML over prior and outcome (statistical)"
    (line,) = ax.lines
    t, share = line.get_xdata()[20], line.get_ydata()[20]
    assert variable.cdf(float(t)).lower <= share <= variable.cdf(float(t)).upper


def test_what_cannot_be_plotted():
    with pytest.raises(bl.InvalidInput, match=r"plot_leakage: expected bl\.pml\(joint\)"):
        plot_leakage(JOINT.mechanism)
    with pytest.raises(bl.InvalidInput, match="plot_epsilon: expected a RandomBound"):
        plot_epsilon(bl.pml(JOINT).sup())
    with pytest.raises(bl.NotYet, match="set"):
        plot_law(bl.pml(bl.priors.tv_ball(JOINT.prior, 0.1) * JOINT.mechanism))
    square = bl.Interval(0, 1) ** 2
    product = bl.Mechanism(
        lambda y, x: 1 + 0 * y[0] * y[1] * x, secret=bl.Interval(0, 1), outcome=square
    )
    with pytest.raises(bl.NotYet, match="a curve over outcomes"):
        plot_leakage(bl.pml(bl.uniform(bl.Interval(0, 1)) * product))
    with pytest.raises(bl.OutsideAlphabet):
        plot_leakage(bl.pml(JOINT), outcomes=["perhaps"])


def test_pyplot_is_left_as_it_was():
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    before, figures = dict(mpl.rcParams), plt.get_fignums()
    plot_leakage(bl.pml(JOINT), ax=blank_axes())
    assert (dict(mpl.rcParams), plt.get_fignums()) == (before, figures)
    ax = plot_law(bl.pml(JOINT))  # without axes, a new figure of pyplot
    assert plt.get_fignums() == [*figures, ax.figure.number]
    assert dict(mpl.rcParams) == before
    plt.close(ax.figure)


# -- where the outcomes lie -----------------------------------------------------------------


@pytest.mark.parametrize("mu", [0.0, 1000.0, -1e5])
def test_the_range_of_outcomes_finds_the_mass(mu):
    from scipy import stats

    from borel.figures.leakage_curves import outcome_points

    mech = bl.Mechanism.from_scipy(
        lambda x: stats.norm(x, 1.0), secret=bl.Reals(), outcome=bl.Reals()
    )
    points = outcome_points(bl.normal(mu=mu, sigma=1.0) * mech)
    assert len(points) == 201
    assert points[0] < mu - 1 and mu + 1 < points[-1]
    assert points[-1] - points[0] < 60


def test_the_outcomes_of_a_countable_release():
    from borel.figures.leakage_curves import outcome_points

    mech = bl.Mechanism(
        lambda y, x: 0.5 ** abs(y - x) / 3, secret=bl.Integers(0, None), outcome=bl.Integers()
    )
    points = outcome_points(bl.poisson(mu=3.0) * mech)
    assert set(range(-3, 8)) <= set(points)
    assert len(points) < 100


def test_secrets_of_every_sort_have_outcomes_to_plot():
    from borel.figures.leakage_curves import outcome_points

    def noise(secret):
        return bl.Mechanism(lambda y, x: np.exp(-2 * abs(y - x)), secret=secret, outcome=bl.Reals())

    few = bl.pmf([0.5, 0.5], on=bl.Finite([2.0, 3.0]))
    counted = bl.poisson(mu=50.0)
    parts = bl.Interval(0, 1), bl.Mixed(bl.Interval(0, 1), atoms=[0.5])
    mixed = bl.Measure(lambda x: 0.5 + 0 * x, on=parts[1], masses={0.5: 0.5})
    for prior, middle in ((few, 2.5), (counted, 50.0), (mixed, 0.5)):
        points = outcome_points(prior * noise(prior.on))
        assert points[0] < middle < points[-1]
        assert points[-1] - points[0] < 150


def test_a_law_with_too_many_values_is_asked_on_a_grid(ax):
    n = 400
    matrix = np.random.default_rng(0).dirichlet(np.ones(n), size=2)
    joint = bl.pmf([0.5, 0.5]) * bl.Mechanism.from_matrix(matrix)
    plot_law(bl.pml(joint), ax=ax)
    assert len(ax.lines[0].get_xdata()) <= 131


@pytest.mark.slow
def test_a_law_stops_when_the_budget_is_spent():
    from borel.figures.leakage_curves import law_curve

    joint = bl.uniform(bl.Interval(0, 1)) * NOISE
    with bl.options(budget=1e-6):
        asked = law_curve(bl.pml(joint))  # all levels at once
        with bl.options(engine="estimate"):
            law = law_curve(bl.pml(joint))  # one by one
    assert law.sizes["t"] == 3
    assert law["t"].values[0] == 0.0
    assert asked.sizes["t"] > 100 and (asked["upper"] - asked["lower"]).values.max() > 0.1
    for t in asked["t"].values[[5, 60]]:
        truth, wide = bl.pml(joint).cdf(t), asked.sel(t=t)
        assert truth.proved and wide["lower"] <= truth.upper and truth.lower <= wide["upper"]


@pytest.mark.slow
def test_a_law_asked_at_all_levels_at_once():
    """The density 1 + (2 x - 1)(2 y - 1)/2: |2 Y - 1| is uniform, PML is log of 1 + its half."""
    from borel.figures.leakage_curves import law_curve

    unit = bl.Interval(0, 1)
    tilt = bl.Mechanism(lambda y, x: 1 + (2 * x - 1) * (2 * y - 1) / 2, secret=unit, outcome=unit)
    joint = bl.uniform(unit) * tilt
    law = law_curve(bl.pml(joint))
    truth = np.minimum(1, 2 * np.expm1(law["t"].values))
    assert law.attrs["status"] == bl.pml(joint).sup().status and law.sizes["t"] > 100
    assert (law["lower"] <= truth).all() and (truth * (1 - 1e-15) <= law["upper"]).all()
    assert (law["upper"] - law["lower"]).values.max() <= 1e-8


def test_intervals_that_nobody_names_are_arviz_s(ax):
    from arviz_base import rc_context

    variable = bl.pml(learnt() * MECH)
    with rc_context({"stats.ci_prob": 0.7}):
        plot_epsilon(variable.sup(), ax=ax)
        assert ax.get_legend().get_texts()[0].get_text().startswith("70 % HDI")
        ax.clear()
        variable.plot(ax=ax)
    said = [t.get_text() for t in ax.get_legend().get_texts()]
    assert "posterior median, 70 % credible band" in said


def test_long_labels_have_rows_of_their_own_and_are_whole(ax):
    names = [f"a fairly long answer, number {i}" for i in range(4)]
    matrix = np.full((2, 4), 0.25)
    matrix[0] = [0.5, 0.5, 0.0, 0.0]
    joint = bl.pmf([0.5, 0.5]) * bl.Mechanism.from_matrix(matrix, outcome=names)
    leakage = bl.pmc(joint)
    plot_leakage(leakage, ax=ax)
    assert [t.get_text() for t in ax.get_yticklabels()] == names
    assert all(t.get_rotation() == 0 for t in ax.get_yticklabels())
    assert ax.get_ylim()[0] > ax.get_ylim()[1]  # the first label is at the top
    assert "nats" in ax.get_xlabel() and texts(ax) == "inf | inf"
    (points,) = [line for line in ax.lines if line.get_marker() == "o"]
    expected = [leakage(name).value for name in names[:2]]
    np.testing.assert_allclose(points.get_xdata()[:2], expected, rtol=1e-12)
    assert np.isnan(points.get_xdata()[2:]).all()
    (arrows,) = [line for line in ax.lines if line.get_marker() == ">"]
    assert list(arrows.get_ydata()) == [2.0, 3.0]
    short = bl.Mechanism.from_matrix(matrix, outcome=list("abcd"))
    many = bl.Mechanism.from_matrix(np.full((2, 50), 0.02), outcome=[f"n{i}" for i in range(50)])
    heights = [curve_height(leakage_curve(bl.pml(bl.pmf([0.5, 0.5]) * m))) for m in (short, many)]
    assert heights[0] < heights[1]
    label = "word " * 40
    tall = bl.Mechanism.from_matrix(matrix, outcome=[label + n for n in "abcd"])
    wrapped = plot_leakage(bl.pml(bl.pmf([0.5, 0.5]) * tall), ax=blank_axes()).get_yticklabels()
    assert [" ".join(t.get_text().split()) for t in wrapped] == [label + n for n in "abcd"]
