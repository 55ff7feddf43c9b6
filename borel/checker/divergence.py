"""Proofs that a leakage is infinite: how densities grow or vanish as t goes to 0.

``mean``     y runs as a power of t, and f(y|x) >= c t^A for secrets of positive mass, which may
             move with t. Then E e^PML, the integral of ess sup f(y|x) over y, is at least that
             of c t^A |dy/dt|; if it is infinite, PML has no bound.
``secrets``  y is one outcome, or in a box of positive mass, and secrets run as a power of t: every
             neighbourhood of t = 0 has a positive mass. f_Y is positive and finite, and f(y|x)
             grows like t^A with A < 0 (for PMC it vanishes, A > 0).

Outcomes have positive mass for every t: f_Y is at least the mean of f(y|x) > 0 over those secrets.
"""

from __future__ import annotations

import math
from typing import Any

from borel.checker import reading as read
from borel.checker.joints import Joint, along, divided, place
from borel.checker.models import Model, constant, coordinate, monomial, number
from borel.checker.polynomials import INFINITY, S, U
from borel.checker.reading import require


def diverges(joint: Joint, kind: str, name: str, arguments: dict, proof: dict) -> str:
    """Verify that a leakage at an outcome, or a supremum, is infinite."""
    by = read.text(proof.get("by"), "proof, by", ("mean", "secrets"))
    cover = ("cover",) if by == "secrets" else ()
    read.record(proof, "proof", ("prior", "by", "y", "x", *cover))
    if by == "secrets":
        _by_secrets(joint, kind, name, arguments, proof)
        return "f(y|x) along secrets, for outcomes of a positive and finite density"
    require(name == "sup", "proof", "outcomes that vary, for a figure at one of them")
    require(kind == "pml", "proof", "E e^PML tells nothing of PMC")
    y, speed = _towards_an_end(proof["y"], joint.line, "y")
    x = _path(proof["x"], y)
    require(joint.charges(x), "x", "the prior may not charge these secrets")
    power, low, _ = joint.kernel.value(y=y, x=x).folded()
    require(bool(low > 0), "x", "the kernel may be 0")
    fast = speed.folded()[0]
    require(power + fast <= -1, "x", f"t^{power} t^{fast} has a finite integral")
    return "E e^PML is infinite, as f(y|x) is large on outcomes of infinite length"


def _by_secrets(joint: Joint, kind: str, name: str, arguments: dict, proof: dict) -> None:
    """Verify an infinite leakage at an outcome, or on a box of outcomes, by secrets along t."""
    if name == "at":
        require(proof["y"] is None, "y", "the outcome is an argument of the figure")
        value = read.number(arguments["y"], "y")
        y, kernel = constant(value), joint.at(value)
    else:
        low, high = (read.number(v, "y") for v in read.items(proof["y"], "y", 2, 2))
        line = joint.line or (math.inf, -math.inf)
        require(line[0] <= low < high <= line[1], "y", "no box of outcomes")
        y, kernel = divided(constant(low), constant(high), "0", U, "y")[0].x, joint.kernel
    x, _ = _towards_an_end(proof["x"], joint.ends, "x")
    require(joint.charges(x), "x", "the prior may not charge these secrets")
    marginal = joint.row(kernel, y, proof["cover"], "cover").marginal
    held = marginal.low > 0 and marginal.high < INFINITY
    require(bool(held), "cover", "f_Y may be 0 or infinite")
    f = kernel.value(y=y, x=x)
    power, low, high = f.folded()
    if kind == "pml":
        require(power < 0 and bool(low > 0), "x", f"t^{power} does not grow")
    else:
        vanishes = (power > 0 and high.is_finite()) or bool(f.high <= 0)
        require(vanishes, "x", f"t^{power} does not vanish")


def _towards_an_end(data: Any, ends: tuple[float, float] | None, where: str) -> tuple[Model, Model]:
    """Read what runs as a power of t towards infinity, or a point of an alphabet."""
    data = read.record(data, where, ("edges", "germ", "power"))
    left, right = (read.end(v, where) for v in read.items(data["edges"], where, 2, 2))
    inside = ends is not None and ends[0] <= left < right <= ends[1]
    require(inside, where, "it is not within the alphabet")
    return along(left, right, {key: data[key] for key in ("germ", "power")}, where)


def _path(data: Any, y: Model) -> Model:
    """Read secrets that move with t: between edges, or base + [from, to] t^power."""
    if type(data) is dict and "base" in data:
        data = read.record(data, "x", ("base", "power", "from", "to"))
        power, base = read.fraction(data["power"], "x"), constant(read.number(data["base"], "x"))
        simple = 0 < abs(power) <= 16 and power.denominator <= 4
        require(simple, "x", f"the power {power} of t")
        low, high = (
            base + monomial(number(read.number(data[key], "x")), power, -INFINITY, INFINITY)
            for key in ("from", "to")
        )
    else:
        data = read.record(data, "x", ("from", "to"))
        low, high = (place(data[key], y, "x") for key in ("from", "to"))
    width = (high - low).folded()[1]
    require(bool(width > 0), "x", "the secrets are no box")
    return coordinate(S, low, high)
