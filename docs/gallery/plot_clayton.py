"""
The information density of Clayton's copula
===========================================

Bounded below by log eta, unbounded above in the corner: Example 9 of *Information Density Bounds
for Privacy*.
"""

import matplotlib.pyplot as plt
import numpy as np

import borel as bl

copula = bl.mechanisms.clayton(eta=0.1)
x = np.linspace(0.01, 1, 120)
density = copula.pdf(x[:, None], x[None, :])
plt.pcolormesh(x, x, np.log(density), cmap="viridis")
plt.xlabel("secret x")
plt.ylabel("outcome y")
plt.colorbar(label="i(x; y) in nats")
