"""How much noise do answers about television news need? Chosen for a learnt prior, 1996.

Data: ``statsmodels.datasets.anes96`` (a subset of the American National Election Studies of 1996;
``TVnews`` is the number of days in the past week on which a voter watched the news, 0 to 7). A
pollster asked 400 of the voters in confidence and wants to release the answer of a further one with
two-sided geometric noise, clipped to 0, ..., 7. How much noise does 1-PML need?

The pollster does not know the prior: the noise is the least that is found for which the guarantee
holds with posterior probability 95 %. The other 544 voters, whom the pollster did not ask, check
the choice; and the noise that local differential privacy of the same level needs shows what knowing
something of the prior is worth.

Run the audit with ``borel audit examples/tv_news.py``; run this file with Python for the statements
that it ends in.
"""

import numpy as np
import statsmodels.api as sm

import borel as bl
from borel import models

SEED = 1996
DAYS = 8  # 0, ..., 7
TARGET = 1.0  # nats
RATIO = 0.71  # of the chances of a noise of n + 1 and of n days: what `chosen` finds, rounded up

# -- the data ----------------------------------------------------------------------------------

days = sm.datasets.anes96.load_pandas().data["TVnews"].to_numpy().astype(int)
asked = np.zeros(len(days), bool)
asked[np.random.default_rng(SEED).choice(len(days), size=400, replace=False)] = True

# -- the release, for each level of noise ----------------------------------------------------------


def noise(ratio):
    """Return the mechanism: geometric noise on both sides, gathered at the ends."""
    y, x = np.meshgrid(np.arange(DAYS), np.arange(DAYS))
    power = ratio ** np.abs(y - x)
    ends = (y == 0) | (y == DAYS - 1)
    return bl.Mechanism.from_matrix(np.where(ends, power, power * (1 - ratio)) / (1 + ratio))


def day_draws(random_seed):
    """Draw the posterior of the proportions: Dirichlet, known exactly, so nothing is sampled."""
    counts = np.bincount(days[asked], minlength=DAYS).tolist()
    return models.dirichlet_posterior(counts, random_seed=random_seed)


def prior_of(draw):
    """Return the prior of an answer for each draw."""
    return bl.pmf(draw["p"])


study = bl.Study(
    title="Days of television news, with geometric noise chosen for a learnt prior",
    about=(
        "Secret: on how many days of a week a voter watched the news. Prior: learnt from 400 of "
        "the 944 voters. Release: the number plus two-sided geometric noise, clipped to 0, ..., 7; "
        "the noise is the least that is found for 1-PML at posterior probability 95 %."
    ),
    mechanism=noise(RATIO),
    prior=day_draws,
    build=prior_of,
    guarantees=(bl.guarantees.PML(TARGET),),
    seed=SEED,
)


def chosen(learnt):
    """Return the least noise that is found for the target, at posterior probability 95 %."""
    return bl.design.smallest(
        noise, learnt, bl.guarantees.PML(TARGET), over=(0.05, 0.95), tol=1e-3, confidence=0.95
    )


def main():
    """Choose the noise with 400 voters; check it with the other 544."""
    learnt = bl.priors.from_posterior(day_draws(SEED), prior_of)
    found = chosen(learnt)
    print(f"chosen ratio {found.parameter:.4f}; at {found.fails:.4f} the target is missed")
    assert found.verdict.holds is True and found.failure.holds is False
    assert found.parameter <= RATIO < 1.01 * found.parameter
    certain = bl.pml(learnt * found.mechanism).sup().quantile(0.95)
    print(f"PML: at 95 % posterior certainty at most {certain};")
    counts = np.bincount(days[~asked], minlength=DAYS)
    others = bl.pmf([bl.const(f"{n}/{counts.sum()}") for n in counts])
    truth = bl.pml(others * found.mechanism).sup()
    print(f"    under the proportions of the other 544 voters {truth}")
    # the statement: what was promised with 400 voters holds for those who were not asked
    assert truth.status == "exact" and bool(truth <= TARGET)

    free = bl.design.smallest(
        noise, others, bl.guarantees.LDP(TARGET), over=(0.05, 0.95), tol=1e-3, monotone=True
    )
    needed = f"LDP of the same level needs the ratio {free.parameter:.4f}, where it is"
    print(f"{needed} {free.verdict.bound}")
    said, less = (bl.mutual_information(others * d.mechanism) for d in (found, free))
    print(f"Mutual information: with the noise chosen {said},")
    print(f"    with the noise of LDP {less}")
    assert free.fails > found.parameter and said.lower > less.upper


if __name__ == "__main__":
    main()
