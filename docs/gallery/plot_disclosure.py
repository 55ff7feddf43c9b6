"""
A query that is answered without noise
======================================

"Do more than m of n people say yes?" The answer yes leaks next to nothing, exactly (lines) and by
the Chernoff bound (dashes): less than the min-entropy of one person's answer (grey), for a small m.
The answer no is rare, and leaks far more (dots).
"""

from fractions import Fraction as F

import matplotlib.pyplot as plt
import numpy as np

import borel as bl

ax = plt.gca()
for n, colour in ((50, "C0"), (100, "C1"), (200, "C2")):
    people, ms = bl.iid(bl.pmf([F(7, 10), F(3, 10)]), n), np.arange(1, n // 4, n // 25)
    leaks = [bl.pml(people * bl.mechanisms.function(lambda s, m=m: s > m, secret=bl.Integers(0, n),
                                                    outcome=[0, 1])) for m in ms]  # fmt: skip
    ax.plot(ms / n, [leak(1).value for leak in leaks], color=colour, label=n)
    ax.plot(ms / n, [leak(0).value for leak in leaks], ":", color=colour)
    kl = sum(q * np.log(q / p) for q, p in ((ms / n, 0.3), (1 - ms / n, 0.7)))
    ax.plot(ms / n, -np.log1p(-np.exp(-n * kl)), "--", color=colour)
ax.axhline(bl.min_entropy(bl.priors.bernoulli(F(3, 10), F(7, 10))).value, color="grey")
ax.set(yscale="log", xlabel="m / n", ylabel="PML (nats)")
_ = ax.legend(title="n")
