"""Rewrite expression graphs into the operations that the Arb interpreter has.

A graph means real numbers, not their floats: ``np.hypot(a, b)`` is the square root of a**2 + b**2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from borel.errors import NotEnclosed
from borel.numerics.balls.ranges import LOGIC, RANGES, TRUTHS
from borel.numerics.graphs.graph import LEAVES, GraphBuilder

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
        if op.startswith("logical_"):
            args = tuple(self.truth(a) for a in args)
            if op != "logical_xor":
                return self(op, *args)
            one, all_ = self("logical_or", *args), self("logical_and", *args)
            return self("logical_and", one, self.no(all_))
        args = tuple(self.as_number(a) for a in args)
        op = op.removeprefix("special.")
        if op == "power":
            return self._power(*args)
        if op in _OF_ITSELF and args[0] == args[1]:
            return self("const", _OF_ITSELF[op])
        if op in _EXPANSIONS:
            return _EXPANSIONS[op](self, *args)
        if op in RANGES or op in TRUTHS or op == "floor":
            return self(op, *args)
        raise NotEnclosed(f"Arb arithmetic for {op} is not in this version")

    def _power(self, base: int, exponent: int) -> int:
        op, args = self.nodes[exponent]
        known = {1.0: "positive", 2.0: "square", 0.5: "sqrt", -1.0: "reciprocal"}
        if op == "const" and args[0] in known:
            return self.expand(known[args[0]], base)
        if exponent in self.moving:
            return self("exp", self("multiply", exponent, self("log", base)))
        return self("power", base, exponent)


def _sign(g: Builder, a: int) -> int:
    zero = g("const", 0.0)
    below = g("where", g("less", a, zero), g("const", -1.0), zero)
    return g("where", g("less", zero, a), g("const", 1.0), below)


def _heaviside(g: Builder, a: int, h: int) -> int:
    zero = g("const", 0.0)
    above = g("where", g("less", zero, a), g("const", 1.0), h)
    return g("where", g("less", a, zero), zero, above)


def _cbrt(g: Builder, a: int) -> int:
    third = g("divide", g("const", 1.0), g("const", 3.0))
    left = g("negative", g("power", g("negative", a), third))
    return g("where", g("less", a, g("const", 0.0)), left, g("power", a, third))


def _times_log(g: Builder, a: int, log: int) -> int:
    """Return a log(b), 0 where a = 0."""
    zero = g("const", 0.0)
    return g("where", g("equal", a, zero), zero, g("multiply", a, log))


def _ceil(g: Builder, a: int) -> int:
    return g("negative", g("floor", g("negative", a)))


def _trunc(g: Builder, a: int) -> int:
    return g("where", g("less", a, g("const", 0.0)), _ceil(g, a), g("floor", a))


def _hypot(g: Builder, a: int, b: int) -> int:
    return g("sqrt", g("add", g("square", a), g("square", b)))


def _remainder(g: Builder, a: int, b: int) -> int:
    return g("subtract", a, g("multiply", b, g("floor", g("divide", a, b))))


def _logaddexp2(g: Builder, a: int, b: int) -> int:
    two = g("log", g("const", 2.0))
    return g("divide", g("logaddexp", g("multiply", a, two), g("multiply", b, two)), two)


def _ndtr(g: Builder, a: int) -> int:
    half = g("divide", g("negative", a), g("sqrt", g("const", 2.0)))
    return g("multiply", g("const", 0.5), g("erfc", half))


def _betaln(g: Builder, a: int, b: int) -> int:
    return g("subtract", g("add", g("gammaln", a), g("gammaln", b)), g("gammaln", g("add", a, b)))


def _log_expit(g: Builder, a: int) -> int:
    return g("negative", g("log1p", g("exp", g("negative", a))))


def _exp_base(g: Builder, a: int, base: float) -> int:
    return g("exp", g("multiply", a, g("log", g("const", base))))


def _log_base(g: Builder, a: int, base: float) -> int:
    return g("divide", g("log", a), g("log", g("const", base)))


_OF_ITSELF = {"less": 0.0, "greater": 0.0, "not_equal": 0.0} | dict.fromkeys(
    ("less_equal", "greater_equal", "equal"), 1.0
)
"""Comparisons of an expression with itself, which ranges would never decide."""
_EXPANSIONS: dict[str, Any] = {
    "positive": lambda g, a: a,
    "reciprocal": lambda g, a: g("divide", g("const", 1.0), a),
    "tan": lambda g, a: g("divide", g("sin", a), g("cos", a)),
    "exp2": lambda g, a: _exp_base(g, a, 2.0),
    "exp10": lambda g, a: _exp_base(g, a, 10.0),
    "log2": lambda g, a: _log_base(g, a, 2.0),
    "log10": lambda g, a: _log_base(g, a, 10.0),
    "logaddexp2": _logaddexp2,
    "cbrt": _cbrt,
    "hypot": _hypot,
    "sign": _sign,
    "heaviside": _heaviside,
    "fmax": lambda g, a, b: g("maximum", a, b),
    "fmin": lambda g, a, b: g("minimum", a, b),
    "ceil": _ceil,
    "trunc": _trunc,
    "remainder": _remainder,
    "floor_divide": lambda g, a, b: g("floor", g("divide", a, b)),
    "greater": lambda g, a, b: g("less", b, a),
    "greater_equal": lambda g, a, b: g("less_equal", b, a),
    "not_equal": lambda g, a, b: g.no(g("equal", a, b)),
    "psi": lambda g, a: g("digamma", a),
    "loggamma": lambda g, a: g("gammaln", a),
    "betaln": _betaln,
    "xlogy": lambda g, a, b: _times_log(g, a, g("log", b)),
    "xlog1py": lambda g, a, b: _times_log(g, a, g("log1p", b)),
    "entr": lambda g, a: g("negative", _times_log(g, a, g("log", a))),
    "ndtr": _ndtr,
    "log_ndtr": lambda g, a: g("log", _ndtr(g, a)),
    "log_expit": _log_expit,
    "logit": lambda g, a: g("subtract", g("log", a), g("log1p", g("negative", a))),
}
"""Operations that are written with others: the graph means real numbers, not their floats."""
