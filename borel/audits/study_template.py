"""A study: how much a randomised answer to a sensitive question tells about the true answer.

Run it with `borel audit` and the name of this file; then change it to your own release.
"""

import borel as bl

# The secret: the true answer of one person. The outcome: the answer that is released.
# Randomised response tells the truth with probability e / (1 + e), so that it satisfies 1-LDP.
MECHANISM = bl.mechanisms.randomized_response(k=2, epsilon=1.0)

# Other mechanisms:
#   bl.Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]])      row = secret x, column = outcome y
#   bl.mechanisms.laplace(b=0.5)                                 Laplace noise on a real secret
#   bl.Mechanism(lambda y, x: ..., secret=bl.Interval(0, 1), outcome=bl.Reals())    any f(y|x)

# What is known of the prior: of 100 people asked in confidence, 30 said yes.
NO, YES = 70, 30


def prior(random_seed):
    """Draw from the posterior of the prior. It runs once; its draws are kept with the result."""
    return bl.models.dirichlet_posterior([NO, YES], random_seed=random_seed)
    # With a model of your own:
    #   with pm.Model():
    #       p = pm.Dirichlet("p", [1, 1])
    #       pm.Multinomial("n", n=NO + YES, p=p, observed=[NO, YES])
    #       return pm.sample(random_seed=random_seed)


study = bl.Study(
    title="A randomised answer",
    about="The secret is the answer to one yes/no question; 0 is no, 1 is yes.",
    mechanism=MECHANISM,
    # A prior that is known is simply a measure: prior=bl.pmf([0.7, 0.3]), without build. Of a set
    # of priors the worst is reported: prior=bl.priors.from_counts([NO, YES], confidence=0.95).
    prior=prior,
    build=lambda draw: bl.pmf(draw["p"]),
    report=["pml", "pmc", "ldp", "lip", "mutual_information"],
    guarantees=[bl.guarantees.PML(0.75), bl.guarantees.LDP(1.01)],
    seed=1,
)
