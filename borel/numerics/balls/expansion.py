"""Rewrite expression graphs into the operations that the Arb interpreter has.

A graph means real numbers, not their floats: ``np.hypot(a, b)`` is the square root of a**2 + b**2,
and what an operation means in others is said in the table of operations.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from borel.errors import NotEnclosed
from borel.numerics.balls.ranges import LOGIC, RANGES, TRUTHS
from borel.numerics.graphs.formulas import formula
from borel.numerics.graphs.graph import LEAVES, GraphBuilder
from borel.numerics.graphs.operations import OPERATIONS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from borel.numerics.graphs.graph import Graph


def product(factors: Sequence[tuple[Graph, bool]]) -> Graph:
    """Return the graph of a product of densities times exp(-shift), with a new input ``shift``.

    Parameters
    ----------
    factors : sequence of (Graph, bool)
        Each with whether it is the logarithm of a density. Inputs of one name are one input.
    """
    build = GraphBuilder()
    exponent, plain = build.add("negative", build.add("input", "shift")), []
    for graph, log in factors:
        last = build.append(graph)[-1]
        if log:
            exponent = build.add("add", exponent, last)
        else:
            plain.append(last)
    out = build.add("exp", exponent)
    for factor in plain:
        out = build.add("multiply", out, factor)
    return build.graph(out)


class Builder(GraphBuilder):
    """A list of primitive operations.

    Parameters
    ----------
    variable : str
        The input that varies.
    """

    def __init__(self, variable: str) -> None:
        super().__init__()
        self.moving: set[int] = set()  # what depends on the variable
        self.variable = self("input", variable)
        self.moving.add(self.variable)

    def __call__(self, op: str, *args: Any) -> int:
        """Add a primitive operation and return its number."""
        k = self.add(op, *args)
        if op not in LEAVES and not self.moving.isdisjoint(args):
            self.moving.add(k)
        return k

    def as_number(self, k: int) -> int:
        """Read a truth value as 0 or 1."""
        return self("number", k) if self._is_truth(k) else k

    def truth(self, k: int) -> int:
        """Read a number as a truth value."""
        return k if self._is_truth(k) else self.no(self("equal", k, self("const", 0.0)))

    def no(self, k: int) -> int:
        """Negate a truth value."""
        return self("logical_not", k)

    def _is_truth(self, k: int) -> bool:
        return self.nodes[k][0] in TRUTHS or self.nodes[k][0] in LOGIC

    def expand(self, op: str, *args: int) -> int:
        """Add an operation of NumPy or SciPy in terms of primitive ones."""
        if op == "where":
            return self("where", self.truth(args[0]), *map(self.as_number, args[1:]))
        if op in LOGIC:
            return self(op, *map(self.truth, args))
        if op != "logical_xor":
            args = tuple(map(self.as_number, args))
        name = op.removeprefix("special.")
        if op == "power":
            return self._power(*args)
        if op in _OF_ITSELF and args[0] == args[1]:
            return self("const", _OF_ITSELF[op])
        if name in RANGES or name in TRUTHS or name == "floor":
            return self(name, *args)
        if text := _BY_GAMMAS.get(name) or (op in OPERATIONS and OPERATIONS[op].means):
            return self.append(formula(text), self.expand, dict(zip("uv", args, strict=False)))[-1]
        raise NotEnclosed(f"Arb arithmetic for {name} is not in this version")

    def _power(self, base: int, exponent: int) -> int:
        op, args = self.nodes[exponent]
        known = {1.0: "positive", 2.0: "square", 0.5: "sqrt", -1.0: "reciprocal"}
        if op == "const" and args[0] in known:
            return self.expand(known[args[0]], base)
        if exponent in self.moving:
            return self("exp", self("multiply", exponent, self("log", base)))
        return self("power", base, exponent)


_GAMMAS = {
    "gamma": ("u", "special.gammaln(u)"),
    "rgamma": ("u", "-special.gammaln(u)"),
    "poch": ("minimum(u, u + v)", "special.gammaln(u + v) - special.gammaln(u)"),
    "beta": ("minimum(u, v)", OPERATIONS["special.betaln"].means),
    "binom": (
        "minimum(u, minimum(v, u - v)) + 1",
        "special.gammaln(u + 1) - special.gammaln(v + 1) - special.gammaln(u - v + 1)",
    ),
}
"""What has to be positive, and the logarithm then; else neither value nor slope are to be known."""
_BY_GAMMAS = {
    name: f"where({least} <= 0, log({least}) * special.gammaln({least}), exp({log}))"
    for name, (least, log) in _GAMMAS.items()
}
_OF_ITSELF = {"less": 0.0, "greater": 0.0, "not_equal": 0.0} | dict.fromkeys(
    ("less_equal", "greater_equal", "equal"), 1.0
)
"""Comparisons of an expression with itself, which ranges would never decide."""
