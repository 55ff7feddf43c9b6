"""
Leakage at each outcome
=======================

PML of Laplace noise on a Beta(2, 5) secret: what each outcome tells.
"""

import borel as bl

prior = bl.beta(alpha=2, beta=5)
noise = bl.mechanisms.laplace(b=0.5, secret=bl.Interval(0, 1))
bl.pml(prior * noise).plot()
