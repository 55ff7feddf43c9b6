"""What does a noisy share of income spent on food leak? 235 Belgian working-class households, 1857.

Data: ``statsmodels.datasets.engel`` (E. Engel's survey, from which his law comes; as in R. Koenker
and K. F. Hallock, "Quantile Regression", Journal of Economic Perspectives 15(4), 2001). The secret
is continuous: the share of its income that a household spends on food, between 0 and 1. A
statistician holds the budgets of 118 households, learns a truncated normal prior from them, and
releases the share of another household plus Laplace noise, cut to [0, 1]: draws of the noise that
leave the interval are thrown away and drawn again.

Run the audit with ``borel audit examples/food_share.py``; run this file with Python for the
statements that it ends in.
"""

import numpy as np
import statsmodels.api as sm

import borel as bl
from borel import _compat, models

SEED = 1857
SCALE = 0.4  # of the Laplace noise
EDGES = np.linspace(0, 1, 11)  # of the histogram to check against

# -- the data ----------------------------------------------------------------------------------

budgets = sm.datasets.engel.load_pandas().data
share = (budgets["foodexp"] / budgets["income"]).to_numpy()
known = np.zeros(len(share), bool)
known[np.random.default_rng(SEED).choice(len(share), size=118, replace=False)] = True

# -- the release -------------------------------------------------------------------------------

UNIT = bl.Interval(0, 1)


def log_density(y, x):
    """Return log f(y|x) of Laplace noise around x that is cut to [0, 1]."""
    inside = 2 - np.exp(-x / SCALE) - np.exp(-(1 - x) / SCALE)  # twice its mass in [0, 1]
    return -np.abs(y - x) / SCALE - np.log(SCALE * inside)


released = bl.Mechanism(log_density, secret=UNIT, outcome=UNIT, log=True, name="cut Laplace noise")


def share_draws(random_seed):
    """Sample the posterior of the truncated normal."""
    model = models.truncated_normal(share[known], lower=0, upper=1)
    return _compat.sample(model, draws=1000, tune=1000, chains=4, random_seed=random_seed)


def prior_of(draw):
    """Return the prior of a share for each draw."""
    return models.truncated_normal_prior(draw, lower=0, upper=1)


study = bl.Study(
    title="Engel: the share of income spent on food, with Laplace noise cut to [0, 1]",
    about=(
        "Secret: the share of its income that a household spends on food. Prior: a normal cut to "
        "[0, 1], learnt from 118 of the 235 households. Release: the share plus Laplace noise of "
        "scale 0.4, cut to [0, 1]."
    ),
    mechanism=released,
    prior=share_draws,
    build=prior_of,
    report=("pml", "pmc", "mutual_information"),
    guarantees=(bl.guarantees.PML(2.06), bl.guarantees.PMC(1.35)),
    seed=SEED,
)


def main(draws=None):
    """Check the prior learnt from 118 households against the other 117."""
    draws = share_draws(SEED) if draws is None else draws
    learnt = bl.priors.from_posterior(draws, prior_of)
    posterior = draws["posterior"]
    middle = {name: float(posterior[name].mean()) for name in ("mu", "sigma")}
    for leakage, name in ((bl.pml, "PML"), (bl.pmc, "PMC")):
        epsilon = leakage(learnt * released).sup()
        certain = epsilon.quantile(0.95)
        print(f"{name}: at 95 % posterior certainty {certain};")
        one = leakage(prior_of(middle) * released).sup()
        print(f"    under the posterior mean of mu and sigma {one},")
        others = leakage(others_prior() * released).sup()
        print(f"    under the histogram of the other 117 households {others}")
        # the draws lie on both sides of what is proved
        assert one.status == others.status == "certified" and one.width < 1e-6
        assert epsilon.quantile(0.005).lower <= one.lower
        assert one.upper <= epsilon.quantile(0.995).upper
        # the households that the statistician did not have agree with the prior learnt
        assert others.lower > one.upper - 0.1 and others.upper < one.lower + 0.1


def others_prior():
    """Return the histogram of the other households, on ten intervals; no share is ruled out."""
    counts = np.histogram(share[~known], bins=EDGES)[0] + 0.1
    heights = counts / (counts * np.diff(EDGES)).sum()

    def density(x):
        out = heights[0] + 0 * x
        for edge, height in zip(EDGES[1:-1], heights[1:], strict=True):
            out = np.where(x >= edge, height, out)
        return out

    return bl.Measure(density, on=UNIT, breaks=EDGES[1:-1])


if __name__ == "__main__":
    main()
