"""
The worst prior of a set
========================

A ball of total variation around a prior, and its member under which the release leaks most.
"""

from fractions import Fraction as F

import borel as bl

answers = bl.Finite(["none", "some", "many"])
centre = bl.pmf([F(3, 5), F(3, 10), F(1, 10)], on=answers)
released = bl.mechanisms.randomized_response(secret=answers, epsilon=1.5)
worst = bl.pml(bl.priors.tv_ball(centre, F(1, 20)) * released).sup()
bl.plot_worst_prior(worst, {"the centre": centre})
