"""
Laplace and Gaussian noise of one variance
==========================================

Under Laplace noise no outcome leaks more than a bound; under Gaussian noise far outcomes do.
"""

import numpy as np

import borel as bl

prior, unit = bl.beta(alpha=2, beta=5), bl.Interval(0, 1)
y = np.linspace(-3, 4, 141)
ax = None
for noise in (bl.mechanisms.laplace(b=0.5, secret=unit), bl.mechanisms.gaussian(sigma=0.5**0.5, secret=unit)):
    found = bl.pml(prior * noise)(y)
    if ax is None:
        import matplotlib.pyplot as plt

        ax = plt.subplot(xlabel="outcome y", ylabel="PML in nats")
    ax.plot(y, found["upper"], label=noise.name)
ax.legend()
