"""
How much certainty costs
========================

The smallest epsilon that a set of priors can have which leaves out the posterior probability alpha.
"""

import borel as bl

draws = bl.models.dirichlet_posterior([423, 102, 75], random_seed=1)
learnt = bl.priors.from_posterior(draws, lambda draw: bl.pmf(draw["p"]))
released = bl.mechanisms.randomized_response(secret=bl.Finite(3), epsilon=1.5)
bl.plot_alpha(bl.pml(learnt * released).sup())
