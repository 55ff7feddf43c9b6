"""
PML and PMC of an answer
========================

Randomised response: the rarer an answer, the more it tells; what it rules out hardly depends on it.
"""

import matplotlib.pyplot as plt

import borel as bl

answers = bl.Finite(["none", "some", "many"])
prior = bl.pmf([0.6, 0.3, 0.1], on=answers)
joint = prior * bl.mechanisms.randomized_response(secret=answers, epsilon=1.5)
_, axes = plt.subplots(1, 2, figsize=(9, 3.5), sharey=True)
bl.pml(joint).plot(ax=axes[0])
bl.pmc(joint).plot(ax=axes[1])
