"""Figures 1 and 2 of "Information Leakage Envelopes", and how far its bounds are from the envelope.

Run it with a folder for the pictures: ``python examples/envelopes.py pictures``; without one it
prints the table only. The table has the largest distance over delta = 1/20, ..., 19/20 of each
bound from the envelope, which the paper bounds and `bl.envelope` computes: its four panels (k-ary
randomised response at epsilon = 1), and random priors, some of which violate the condition of
Theorem 5(iii). The distance is a float64 difference of enclosures that are 1e-14 wide.
"""

import sys
from fractions import Fraction as F
from pathlib import Path

import numpy as np

import borel as bl
from borel.claims.envelopes import example_2_joint, panels

DELTAS = [F(i, 20) for i in range(1, 20)]
BOUNDS = ("quantile", "binary", "theorem_5_lower", "theorem_5_upper")


def random_joints(count=4, k=6, seed=3):
    """Return randomised response at e^epsilon = 4 on priors of small random numerators."""
    rng = np.random.default_rng(seed)
    joints = {}
    for i in range(count):
        parts = rng.integers(1, 12, size=k).tolist()
        prior = bl.pmf([F(n, sum(parts)) for n in parts])
        joints[f"random {i + 1}"] = prior * bl.mechanisms.randomized_response(k=k, ratio=4)
    return joints


def distances(joint):
    """Return the largest distance of each bound, and the share of delta where (iii) applies."""
    table = bl.envelope_bounds.envelope_table(joint, DELTAS, {"exact": bl.envelope(joint)})
    exact = table.sel(bound="exact")
    found = {}
    for name in BOUNDS:
        one = table.sel(bound=name)
        if name == "theorem_5_upper":
            gap = one.upper - exact.lower
        else:
            gap = exact.upper - one.lower
        found[name] = float(gap.max())
        if name == "theorem_5_lower":
            found["applies"] = int((one.status != "none").sum())
    return found


def print_table():
    """Print the distances, rounded up."""
    heads = "".join(f"{head:>10}" for head in ("one bit", "5 lower", "applies", "5 upper"))
    print(f"{'prior':<12}{'as released':>13}{heads}")
    for name, joint in {**panels(), **random_joints()}.items():
        found = distances(joint)
        cells = [f"{np.ceil(max(found[b] - 1e-12, 0) * 1e4) / 1e4:.4f}" for b in BOUNDS]
        applies = f"{found['applies']}/{len(DELTAS)}"
        print(f"{name:<12}{cells[0]:>13}{cells[1]:>10}{cells[2]:>10}{applies:>10}{cells[3]:>10}")


def draw(folder):
    """Draw both figures."""
    from matplotlib import pyplot as plt

    folder.mkdir(parents=True, exist_ok=True)
    joint = example_2_joint()
    ax = bl.plot_law(bl.pml(joint))
    at = bl.envelope_bounds.quantiles(joint, F(1, 10))
    for bound, words, style in ((at.good, "left", "--"), (at.bad, "right", ":")):
        ax.axvline(bound.value, color="k", linestyle=style, label=f"{words} quantile at 0.1")
    ax.set_xlim(0, 1.5)
    ax.legend(frameon=False)
    ax.figure.savefig(folder / "figure-1.png", dpi=120)
    figure, axes = plt.subplots(2, 2, figsize=(10, 7), layout="constrained")
    for ax, (name, joint) in zip(axes.flat, panels().items(), strict=True):
        bl.plot_envelope(joint, ax=ax)
        handles, words = ax.get_legend_handles_labels()
        ax.get_legend().remove()
        ax.set_title(f"({name}) k = {joint.secret.size}", loc="left")
    figure.legend(handles, words, loc="outside lower center", ncols=3, frameon=False)
    figure.savefig(folder / "figure-2.png", dpi=120)
    plt.close("all")


def print_envelopes():
    """Print the envelope of each panel at delta = 1/2."""
    for name, joint in panels().items():
        found = bl.envelope(joint)(F(1, 2))
        print(f"envelope of panel {name} at delta = 1/2: {found}")


if __name__ == "__main__":
    print_envelopes()
    print_table()
    if len(sys.argv) > 1:
        draw(Path(sys.argv[1]))
