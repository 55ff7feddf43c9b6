"""What does a noisy share of votes leak about one voter? 944 American voters, 1996.

Data: ``statsmodels.datasets.anes96`` (a subset of the American National Election Studies of 1996;
``vote`` is 0 for Clinton, 1 for Dole). A pollster holds the answers of all 944 and releases the
share of Dole's voters with Laplace noise of scale b = 1/944, which is differential privacy at
level 1/(n b) = 1.

The adversary knows that the votes are independent and that each is for Dole with a probability p
between c = 0.3 and 1 - c = 0.7; no more. That is the set of priors P_c^f of "Rethinking Disclosure
Prevention with Pointwise Maximal Leakage", Section 4.1, and by its Proposition 4.6 the answer leaks
less than the level of differential privacy says. That p lies there is learnt from 200 of the
answers.

Run this file with Python for the statements that it ends in.
"""

from fractions import Fraction

import numpy as np
import statsmodels.api as sm
from scipy import stats

import borel as bl
from borel import models

SEED = 1996
C = Fraction(3, 10)

# -- the data ----------------------------------------------------------------------------------

votes = sm.datasets.anes96.load_pandas().data["vote"].to_numpy().astype(int)
n = len(votes)
known = np.random.default_rng(SEED).choice(votes, size=200, replace=False)

# -- the release -------------------------------------------------------------------------------

query = bl.mechanisms.counting_query(n=n, b=1 / n, of="fraction")


def about_one_voter(prior):
    """Return the joint of one vote and the answer, with the other votes under the same prior."""
    return bl.entry(bl.iid(prior, n) * query)


def by_hand(p, kind):
    """Estimate the supremum for one p from the definition: sums over the binomial, a grid of y."""
    others = np.arange(n)
    chances = stats.binom(n - 1, p).pmf(others)
    y = np.concatenate([[-1.0], np.linspace(-2, n + 2, 3001), [n + 1.0]])[:, None]  # counts
    no, yes = (np.exp(-np.abs(y - others - d)) @ chances for d in (0, 1))
    marginal = (1 - p) * no + p * yes
    if kind is bl.pml:
        return float(np.log(np.maximum(no, yes) / marginal).max())
    return float(np.log(marginal / np.minimum(no, yes)).max())


def main():
    """Check Proposition 4.6 on the votes: the set, the share of all, and sums by hand."""
    draws = models.beta_posterior(int(known.sum()), len(known), random_seed=SEED)
    theta = draws["posterior"]["theta"].values
    inside = int(((theta > C) & (theta < 1 - C)).sum())
    print(f"{inside} of {theta.size} exact posterior draws of p lie in ({C}, {1 - C})")
    assert inside > 0.999 * theta.size
    share = Fraction(int(votes.sum()), n)
    assert C < share < 1 - C
    everyone = bl.pmf([1 - share, share])
    level = 1.0  # 1 / (n b)
    for leakage, name in ((bl.pml, "PML"), (bl.pmc, "PMC")):
        worst = leakage(about_one_voter(bl.priors.bernoulli(C, 1 - C))).sup()
        truth = leakage(about_one_voter(everyone)).sup()
        print(f"{name} about one vote: over all p in ({C}, {1 - C}) {worst};")
        print(f"    under the share of all votes {truth}")
        # what is true of all p is true of this one, and less than differential privacy allows
        assert truth.upper <= worst.lower < worst.upper < level
        # from the definition: no y leaks more, and one leaks as much
        assert abs(by_hand(float(share), leakage) - truth.lower) < 1e-9
        assert abs(by_hand(float(C), leakage) - worst.lower) < 1e-9
    formula = 1 - np.log(0.7 + 0.3 * np.e)
    print(f"Proposition 4.6: 1 - log(0.7 + 0.3 e) = {formula:.10g}")
    assert abs(bl.pml(about_one_voter(bl.priors.bernoulli(C, 1 - C))).sup().lower - formula) < 1e-9


if __name__ == "__main__":
    main()
