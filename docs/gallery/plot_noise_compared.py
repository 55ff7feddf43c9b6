"""
Laplace and Gaussian noise of one variance
==========================================

Under Laplace noise no outcome leaks more than a bound; under Gaussian noise far outcomes do.
"""

import matplotlib.pyplot as plt
import numpy as np

import borel as bl

prior, unit = bl.beta(alpha=2, beta=5), bl.Interval(0, 1)
y = np.linspace(-3, 4, 141)
noises = {
    "Laplace": bl.mechanisms.laplace(b=0.5, secret=unit),
    "Gaussian": bl.mechanisms.gaussian(sigma=0.5**0.5, secret=unit),
}
ax = plt.subplot(xlabel="outcome y", ylabel="PML in nats")
for name, noise in noises.items():
    ax.plot(y, bl.pml(prior * noise)(y)["upper"], label=name)
ax.legend()
