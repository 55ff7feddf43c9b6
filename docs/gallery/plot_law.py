"""
The law of a leakage
====================

Leakage is a random variable: the probability that an outcome leaks t nats or less.
"""

import borel as bl

joint = bl.beta(alpha=2, beta=5) * bl.mechanisms.laplace(b=0.5, secret=bl.Interval(0, 1))
bl.plot_law(bl.pml(joint))
