"""What does a noisy count of visits to the doctor leak? The RAND experiment, 20,190 person-years.

Data: ``statsmodels.datasets.randhie`` (the RAND Health Insurance Experiment, 1974 to 1982; as in
A. C. Cameron and P. K. Trivedi, *Microeconometrics*, 2005). An insurer holds a reference sample of
600 person-years and releases, of a new one, the number of visits: clipped to 10, plus two-sided
geometric noise (a discrete Laplace), clipped to 0, ..., 10 again.

The secret is countable: nobody knows how many visits are possible (77 were seen). Its prior has no
given shape either, it is learnt stick by stick; the posterior is exact, so nothing is sampled.

Run the audit with ``borel audit examples/doctor_visits.py``; run this file with Python for the
statements that it ends in.
"""

from fractions import Fraction

import numpy as np
import statsmodels.api as sm

import borel as bl
from borel import models

SEED = 1974
LAST = 10  # the release speaks of 0, ..., 9 visits, and of 10 or more
RATIO = Fraction(3, 4)  # of the chances of a noise of n + 1 and of n visits
ALPHA = 3.0  # the concentration: a priori the sticks 0, ..., 9 hold 94 % of the mass

# -- the data ----------------------------------------------------------------------------------

visits = sm.datasets.randhie.load_pandas().data["mdvis"].to_numpy().astype(int)
sample = np.random.default_rng(SEED).choice(visits, size=600, replace=False)
counts = np.bincount(np.minimum(sample, LAST), minlength=LAST + 1)

# -- the release -------------------------------------------------------------------------------


def chance(y, x):
    """Return P(y | x) exactly: the noise beyond an end is gathered there."""
    x = min(x, LAST)
    if y in (0, LAST):
        return RATIO ** abs(y - x) / (1 + RATIO)
    return (1 - RATIO) / (1 + RATIO) * RATIO ** abs(y - x)


rows = [[chance(y, x) for y in range(LAST + 1)] for x in range(LAST + 1)]
released = bl.Mechanism.from_matrix(rows, secret=bl.Finite(LAST + 1), outcome=bl.Finite(LAST + 1))


def visit_draws(random_seed):
    """Draw the posterior of the masses of 0, ..., 9 visits and of 10 or more, exactly."""
    return models.stick_breaking_posterior(
        counts[:LAST], alpha=ALPHA, beyond=counts[LAST], random_seed=random_seed
    )


study = bl.Study(
    title="Visits to the doctor: a clipped count with geometric noise",
    about=(
        "Secret: the number of visits of a person in a year, 0, 1, 2, ... without end. Prior: "
        "stick-breaking, learnt from a reference sample of 600 of the 20,190 person-years. "
        "Release: the number clipped to 10, plus two-sided geometric noise of ratio 3/4, clipped "
        "to 0, ..., 10. It depends on min(x, 10) alone, so that the leakage about x is that about "
        "min(x, 10)."
    ),
    mechanism=released,
    prior=visit_draws,
    build=models.top_coded_prior,
    guarantees=(bl.guarantees.PML(1.8), bl.guarantees.PMC(2.45)),
    seed=SEED,
)

# -- the same release, of a secret on all the integers -------------------------------------------


def density(y, x):
    """Return P(y | x) for x = 0, 1, 2, ... without end."""
    a = float(RATIO)
    power = a ** np.abs(y - np.minimum(x, LAST))
    return np.where((y == 0) | (y == LAST), power / (1 + a), power * (1 - a) / (1 + a))


endless_secret = bl.Mechanism(density, secret=bl.Integers(0, None), outcome=bl.Finite(LAST + 1))


def plain_noise(y, x):
    """Return P(y | x) of geometric noise with no clipping at all."""
    a = float(RATIO)
    return a ** np.abs(y - x) * (1 - a) / (1 + a)


never_clipped = bl.Mechanism(plain_noise, secret=bl.Integers(0, None), outcome=bl.Integers())


def main():
    """Check the prior learnt from 600 against all 20,190, and the top-coded secret against X."""
    draws = visit_draws(SEED)
    learnt = bl.priors.from_posterior(draws, models.top_coded_prior)
    everyone = np.bincount(np.minimum(visits, LAST), minlength=LAST + 1)
    everyone = bl.pmf([Fraction(int(n), len(visits)) for n in everyone])
    one = {name: values.values[0, 0] for name, values in draws["posterior"].data_vars.items()}
    for leakage, name in ((bl.pml, "PML"), (bl.pmc, "PMC")):
        epsilon = leakage(learnt * released).sup()
        certain = epsilon.quantile(0.95)
        truth = leakage(everyone * released).sup()
        print(f"{name}: at 95 % posterior certainty at most {certain};")
        print(f"    under the proportions of all person-years {truth}")
        # the proportions of all lie within what 600 person-years leave open
        assert epsilon.quantile(0.005).lower <= truth.lower
        assert truth.upper <= epsilon.quantile(0.995).upper
        # one draw, as a prior on all the integers with a proved tail: the same leakage
        endless = leakage(models.stick_breaking_prior(one) * endless_secret).sup()
        coded = leakage(models.top_coded_prior(one) * released).sup()
        print(f"    one draw, on all integers {endless},")
        print(f"    its secret top-coded {coded}")
        assert endless.lower <= coded.upper and coded.lower <= endless.upper
        assert max(endless.width, coded.width) < 1e-9
        # a context-free guarantee must allow for every prior: it is never smaller
        assert certain.upper < bl.ldp(everyone * released).lower
    # why clip: rare people give themselves away, by as much as one likes
    plain = bl.pml(models.stick_breaking_prior(one) * never_clipped).sup()
    print(f"never clipped: PML of one draw {plain}")
    assert plain.lower > 10


if __name__ == "__main__":
    main()
