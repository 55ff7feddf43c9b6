"""What does a released answer about extramarital affairs leak? A survey of 6,366 women, 1974.

Data: ``statsmodels.datasets.fair`` (R. C. Fair, "A Theory of Extramarital Affairs", Journal of
Political Economy 86, 1978; the Redbook survey). A surveyor holds a reference sample of 600
answers, learns the prior of an answer from it, and makes two releases about a new respondent:

``answer``  her sensitive answer (none, some, many affairs) through randomised response;
``rating``  her rating of the marriage, on the scale from 0.5 to 5.5, plus Laplace noise.

Run the audit with ``borel audit examples/affairs_survey.py``; run this file with Python for the
two statements that it ends in.
"""

import numpy as np
from statsmodels.datasets import fair

import borel as bl
from borel import _compat, models

SEED = 1974
SCALE = (0.5, 5.5)
ANSWERS = ["none", "some", "many"]

# -- the data ----------------------------------------------------------------------------------

survey = fair.load_pandas().data
# the answer is a rate per year of marriage: none, less than one affair a year, one or more
answer = np.select([survey["affairs"] == 0, survey["affairs"] < 1], ANSWERS[:2], ANSWERS[2])
rating = survey["rate_marriage"].to_numpy()

sample = np.random.default_rng(SEED).choice(len(survey), size=600, replace=False)
answer_counts = [int((answer[sample] == a).sum()) for a in ANSWERS]
rating_counts = [int((rating[sample] == r).sum()) for r in (1, 2, 3, 4, 5)]

# -- the first release: the answer through randomised response ----------------------------------


def answer_draws(random_seed):
    """Draw the posterior of the proportions: Dirichlet, known exactly, so nothing is sampled."""
    return models.dirichlet_posterior(answer_counts, categories=ANSWERS, random_seed=random_seed)


release_answer = bl.Study(
    title="Affairs: one answer through randomised response",
    about=(
        "Secret: how often a respondent had affairs (none, some, many). Prior: learnt from a "
        "reference sample of 600 of the 6,366 answers. Release: the answer through randomised "
        "response with epsilon = 1.5."
    ),
    mechanism=bl.mechanisms.randomized_response(secret=ANSWERS, epsilon=1.5),
    prior=answer_draws,
    build=lambda draw: bl.pmf(draw["p"]),
    guarantees=(bl.guarantees.PML(1.2), bl.guarantees.PMC(1.2)),
    seed=SEED,
)

# -- the second release: the rating plus Laplace noise -------------------------------------------


def rating_draws(random_seed):
    """Sample the posterior of the rating's density; a rating says which unit interval it is in."""
    model = models.binned_beta(rating_counts, edges=np.arange(0.5, 6.0))
    return _compat.sample(model, draws=1000, tune=1000, chains=4, random_seed=random_seed)


release_rating = bl.Study(
    title="Affairs: the rating of the marriage plus Laplace noise",
    about=(
        "Secret: a respondent's rating of her marriage, on a continuous scale from 0.5 to 5.5. "
        "Prior: a Beta density on that scale, learnt from the ratings of the same 600 answers. "
        "Release: the rating plus Laplace noise of scale b = 2."
    ),
    mechanism=bl.mechanisms.laplace(b=2.0, secret=bl.Interval(*SCALE)),
    prior=rating_draws,
    build=lambda draw: models.scaled_beta_prior(draw, lower=SCALE[0], upper=SCALE[1]),
    guarantees=(bl.guarantees.PML(1.75), bl.guarantees.PMC(1.95)),
    seed=SEED,
)

studies = {"answer": release_answer, "rating": release_rating}


def main():
    """Check the first release against the whole survey, which the surveyor did not have."""
    learnt = bl.priors.from_posterior(answer_draws(SEED), release_answer.build)
    mechanism = release_answer.mechanism
    everyone = bl.pmf(
        [bl.const(f"{(answer == a).sum()}/{len(answer)}") for a in ANSWERS],
        on=bl.Finite(ANSWERS),
    )
    for leakage, name in ((bl.pml, "PML"), (bl.pmc, "PMC")):
        epsilon = leakage(learnt * mechanism).sup()
        certain = epsilon.quantile(0.95)
        truth = leakage(everyone * mechanism).sup()
        print(f"{name}: at 95 % posterior certainty at most {certain}; ")
        print(f"    under the proportions of the whole survey {truth}")
        # the prior of the whole survey lies within what 600 answers leave open
        assert epsilon.quantile(0.005).lower <= truth.lower
        assert truth.upper <= epsilon.quantile(0.995).upper
        # a context-free guarantee must allow for every prior: it is never smaller
        assert certain.upper < bl.ldp(everyone * mechanism).lower


if __name__ == "__main__":
    main()
