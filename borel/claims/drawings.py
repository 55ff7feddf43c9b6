"""The papers' figures, drawn again from computed figures."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction as F
from typing import TYPE_CHECKING, Any

import borel as bl
from borel.claims import envelopes
from borel.claims.disclosure_paper import chernoff
from borel.claims.pmc_paper import PRIORS, adapted, to_cost, to_leakage, useful
from borel.colours import BLUE, GREEN, GREY, ORANGE
from borel.figures.leakage_plots import blank_axes, finished

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class Drawing:
    """One panel: the name that the paper gives it, its axes, and what it shows."""

    name: str
    axes: Axes
    caption: str


FLAT = 0.1
"""What an axis shows at least, in nats."""

Curve = tuple[str, str, list[float], list[float]]
"""A name, a colour, abscissae and ordinates."""


def drawings() -> Iterator[Drawing]:
    """Yield every figure of the papers that has numbers, panel by panel."""
    yield from _trade_offs()
    yield from _regions()
    yield _chernoff()
    yield _law()
    yield from _envelopes()


def _panel(
    name: str, caption: str, axes: tuple[str, str], curves: list[Curve], **how: Any
) -> Drawing:
    ax = blank_axes()
    for label, colour, x, y in curves:
        ax.plot(x, y, color=colour, label=label, **how)
    ax.set_xlabel(axes[0])
    ax.set_ylabel(axes[1])
    low, high = ax.get_ylim()
    if high - low < FLAT:  # curves that are one constant
        ax.set_ylim(low - FLAT, high + FLAT)
    ax.legend(frameon=False, fontsize="small")
    return Drawing(name, finished(ax, name), caption)


def _trade_offs() -> Iterator[Drawing]:
    colours = {"pmc": BLUE, "pml": ORANGE, "ldp": GREY}
    for letter, p in zip("abcdef", PRIORS, strict=True):
        levels = [1 + (1 / min(p) - 1) * F(k, 16) for k in range(1, 16)]
        x = [math.log(v) for v in levels]
        curves = [
            (f"tuned to {n.upper()}", c, x, [useful(p, adapted(p, v)[n]).value for v in levels])
            for n, c in colours.items()
        ]
        shown = "uniform" if len(set(p)) == 1 else f"p_max = {float(max(p)):g}"
        yield _panel(
            f"pmc, Figure 1({letter})",
            f"Mutual information of randomised response for {len(p)} secrets ({shown}), tuned.",
            ("level (nats)", "mutual information (nats)"),
            curves,
        )


def _regions() -> Iterator[Drawing]:
    for letter, least in (("a", F(1, 5)), ("b", F(1, 2))):
        up = [1 + (1 / (1 - least) - 1) * F(k, 20) for k in range(20)]
        low = [1 + F(k, 4) for k in range(17)]
        yield _panel(
            f"pmc, Figure 2({letter})",
            f"What PML and PMC imply of each other, p_min = {least}.",
            ("PML level (nats)", "PMC level (nats)"),
            [
                ("PML implies this PMC", BLUE, _logs(up), _logs([to_cost(v, least) for v in up])),
                (
                    "PMC implies this PML",
                    ORANGE,
                    _logs([to_leakage(v, least) for v in low]),
                    _logs(low),
                ),
            ],
        )


def _logs(ratios: list[Any]) -> list[float]:
    return [math.log(v) for v in ratios]


def _chernoff() -> Drawing:
    curves: list[Curve] = []
    for p, dash in ((F(3, 10), BLUE), (F(1, 2), ORANGE)):
        for n in (200, 2000):
            shares = [F(k, 100) for k in range(1, int(100 * p) - 4)]
            tails = [float(chernoff(n, int(s * n), p).upper) for s in shares]
            kept = [
                (float(s), -math.log1p(-t)) for s, t in zip(shares, tails, strict=True) if t > 0
            ]
            colour = dash if n == 200 else (GREEN if p < F(1, 2) else GREY)
            name = f"p = {float(p):g}, n = {n}"
            curves.append((name, colour, [x for x, _ in kept], [y for _, y in kept]))
    made = _panel(
        "disclosure, Figure 1",
        "Chernoff bounds on what the answer yes to a threshold query leaks.",
        ("m/n", "bound on the leakage (nats)"),
        curves,
    )
    made.axes.set_yscale("log")
    made.axes.set_ylim(1e-30, 1)
    return made


def _law() -> Drawing:
    ell = bl.pml(envelopes.example_2_joint())
    x = [k / 100 for k in range(161)]
    return _panel(
        "envelopes, Figure 1",
        "The distribution function of the leakage of Example 2: a gap at 9/10.",
        ("t (nats)", "P{leakage <= t}"),
        [("C_Y", BLUE, x, [ell.cdf(t).value for t in x])],
        drawstyle="steps-post",
    )


def _envelopes() -> Iterator[Drawing]:
    for letter, joint in envelopes.panels().items():
        env = bl.envelope(joint)
        x = [k / 20 for k in range(1, 20)]
        bounds = [bl.envelope_bounds.randomized_response_bounds(joint, d) for d in x]
        yield _panel(
            f"envelopes, Figure 2({letter})",
            f"The envelope of randomised response for {joint.secret.size} secrets, bounds, LDP.",
            ("delta", "nats"),
            [
                ("bound of Theorem 5(ii)", GREY, x, [b.upper.value for b in bounds]),
                ("tail leakage", ORANGE, x, [bl.tail_leakage(joint, d).value for d in x]),
                ("envelope", BLUE, x, [env(d).value for d in x]),
                ("LDP", GREEN, x, _logs([envelopes.ldp_ratio(joint, d) for d in x])),
            ],
        )
