"""
Epsilon under a learnt prior
============================

One epsilon for each prior that 600 answers leave open.
"""

import borel as bl

draws = bl.models.dirichlet_posterior([423, 102, 75], random_seed=1)
learnt = bl.priors.from_posterior(draws, lambda draw: bl.pmf(draw["p"]))
released = bl.mechanisms.randomized_response(secret=bl.Finite(3), epsilon=1.5)
bl.plot_epsilon(bl.pml(learnt * released).sup())
