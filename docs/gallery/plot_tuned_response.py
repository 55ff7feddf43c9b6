"""
Randomised response tuned to LDP, PMC and PML
=============================================

How much it says, by mutual information, at one level of three guarantees: Figure 1 of *Information
Density Bounds for Privacy*, all six priors. Beyond log 1/min p every mechanism satisfies PML.
"""

import matplotlib.pyplot as plt
import numpy as np

import borel as bl

priors = {
    "(a) n = 3, uniform": [1 / 3] * 3,
    "(b) n = 3, p = (0.8, 0.1, 0.1)": [0.8, 0.1, 0.1],
    "(c) n = 5, p = (0.6, 0.1, ...)": [0.6] + [0.1] * 4,
    "(d) n = 5, p = (0.8, 0.05, ...)": [0.8] + [0.05] * 4,
    "(e) n = 10, uniform": [0.1] * 10,
    "(f) n = 100, uniform": [0.01] * 100,
}
measures = {
    "LDP": bl.ldp,
    "PMC": lambda joint: bl.pmc(joint).sup(),
    "PML": lambda joint: bl.pml(joint).sup(),
}
figure, panels = plt.subplots(2, 3, figsize=(10, 6), layout="constrained")
for ax, (title, p) in zip(panels.flat, priors.items(), strict=True):
    levels = np.linspace(0.05, 10, 40)
    family = {e: bl.mechanisms.randomized_response(k=len(p), epsilon=e) for e in levels.tolist()}
    found = bl.frontier(bl.pmf(p), family, utility=bl.mutual_information, privacy=measures)
    for name in measures:
        ax.plot(found["privacy"].sel(measure=name), found["utility"], label=name)
    ax.set(title=title, xlim=(0, -np.log(min(p))), xlabel="epsilon in nats")
panels[0, 0].set_ylabel("mutual information in nats")
panels[0, 0].legend()
