"""The rules of exact folding: identities of real functions, wherever their left side is defined.

They decide branches, leave out what cancels, and write a few logarithms so that float64 does not
lose them: log(1 - a) as log1p(-a). A rule takes a graph in the making and the arguments of an
operation, and returns the node that stands for it, or None. None of them drops a value that an
obligation guards, ``where(condition, value, nan)``.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from borel.numerics.graphs.operations import TRUTHS

if TYPE_CHECKING:
    from collections.abc import Callable
    from fractions import Fraction

    from borel.numerics.graphs.exact_builder import ExactBuilder


def _where(f: ExactBuilder, condition: int, yes: int, no: int) -> int | None:
    known = f.truth(condition)
    if known is not None:
        return yes if known else no
    return yes if yes == no else None


def _and(f: ExactBuilder, a: int, b: int) -> int | None:
    return _junction(f, a, b, True)


def _or(f: ExactBuilder, a: int, b: int) -> int | None:
    return _junction(f, a, b, False)


def _junction(f: ExactBuilder, a: int, b: int, neutral: bool) -> int | None:
    """Drop the neutral truth value of a conjunction or disjunction; the other one decides."""
    if a == b and f.nodes[a][0] in TRUTHS:
        return a
    for one, other in ((a, b), (b, a)):
        known = f.truth(one)
        if known is not None and known != neutral:
            return f.constant(float(not neutral))
        if known is not None and f.nodes[other][0] in TRUTHS:
            return other
    return None


def _equal(f: ExactBuilder, a: int, b: int) -> int | None:
    """Read log(u) == -inf, PyMC's test before a product with a logarithm, as u == 0."""
    for one, other in ((a, b), (b, a)):
        if f.exact.get(one) == -math.inf:
            if inner := f.arguments(other, "log"):
                return f.node("equal", *inner, f.constant(0.0))
            if inner := f.arguments(other, "log1p"):
                return f.node("equal", *inner, f.constant(-1.0))
    return None


def _order(op: str) -> Callable[[ExactBuilder, int, int], int | None]:
    """Return the rule that compares the difference with 0, if that is a number: x < x + 1."""

    def rule(f: ExactBuilder, a: int, b: int) -> int | None:
        gap = _cancelled(f, a, b, -1)
        return None if gap is None or gap not in f.exact else f.node(op, gap, f.constant(0.0))

    return rule


def _add(f: ExactBuilder, a: int, b: int) -> int | None:
    for one, other in ((a, b), (b, a)):
        if f.is_number(one, 0):
            return other
        if inner := f.arguments(one, "negative"):
            return f.node("subtract", other, *inner)
    return _cancelled(f, a, b, 1)


def _subtract(f: ExactBuilder, a: int, b: int) -> int | None:
    if f.is_number(b, 0):
        return a
    if f.is_number(a, 0):
        return f.node("negative", b)
    if inner := f.arguments(b, "negative"):
        return f.node("add", a, *inner)
    return _cancelled(f, a, b, -1)


def _cancelled(f: ExactBuilder, a: int, b: int, sign: int) -> int | None:
    """Add a + b or a - b if something cancels in it, like y in (y + n) - y."""
    terms, shift = f.total(a, b, sign)
    if not terms:  # numbers only
        return None
    kept = {k: c for k, c in terms.items() if c}
    simpler = len(kept) < len(terms) or (f.affine(a)[1] and f.affine(b)[1])
    if simpler and all(abs(c) == 1 or (c == 0 and f.defined(k)) for k, c in terms.items()):
        return _sum(f, kept, shift)
    if sign < 0 and (inner := f.arguments(a, "square")) and (other := f.arguments(b, "square")):
        gap = _cancelled(f, inner[0], other[0], -1)  # u**2 - v**2, if u - v is simpler
        return None if gap is None else f.node("multiply", gap, f.node("add", *inner, *other))
    inner, other = f.arguments(a, "divide"), f.arguments(b, "divide")
    if inner and other and inner[1] == other[1]:
        gap = _cancelled(f, inner[0], other[0], sign)
        return None if gap is None else f.node("divide", gap, inner[1])
    return None


def _sum(f: ExactBuilder, terms: dict[int, int], shift: Fraction) -> int | None:
    """Add a sum of nodes with signs and a constant, if float64 holds it."""
    try:
        constant = float(shift)
    except OverflowError:
        return None
    if shift != constant:
        return None
    out = f.constant(constant)
    for k, sign in sorted(terms.items()):
        out = f.node("add" if sign > 0 else "subtract", out, k)
    return out


def _multiply(f: ExactBuilder, a: int, b: int) -> int | None:
    for one, other in ((a, b), (b, a)):
        if f.is_number(one, 1):
            return other
        if f.is_number(one, -1):
            return f.node("negative", other)
        inner = f.arguments(one, "divide")
        if inner and inner[1] == other and f.defined(other):  # (c / b) * b: a scale is undone
            return inner[0]
    return None


def _divide(f: ExactBuilder, a: int, b: int) -> int | None:
    if f.is_number(b, 1):
        return a
    inner = f.arguments(b, "reciprocal")
    return f.node("multiply", a, *inner) if inner else None


def _to_power(f: ExactBuilder, a: int, b: int) -> int | None:
    if f.is_number(b, 1):
        return a
    return f.node("square", a) if f.is_number(b, 2) else None


def _undone(op: str) -> Callable[[ExactBuilder, int], int | None]:
    def rule(f: ExactBuilder, a: int) -> int | None:
        inner = f.arguments(a, op)
        return inner[0] if inner else None

    return rule


def _log(f: ExactBuilder, a: int) -> int | None:
    terms = _exponents(f, a)
    if terms:
        out = terms[0]
        for term in terms[1:]:
            out = f.node("logaddexp", out, term)
        return out
    if inner := f.arguments(a, "reciprocal"):
        return f.node("negative", f.node("log", *inner))
    if inner := f.arguments(a, "special.expit"):
        return _log_expit(f, *inner)
    if (inner := f.arguments(a, "subtract")) and f.is_number(inner[0], 1):
        return f.node("log1p", f.node("negative", inner[1]))
    if inner := f.arguments(a, "add"):
        for one, other in (inner, inner[::-1]):
            if f.is_number(one, 1):
                return f.node("log1p", other)
    return None


def _exponents(f: ExactBuilder, a: int) -> list[int]:
    """Return the exponents of a sum of exponentials; none if it is something else."""
    if inner := f.arguments(a, "exp"):
        return [*inner]
    parts = [_exponents(f, b) for b in f.arguments(a, "add")]
    return [k for part in parts for k in part] if all(parts) else []


def _log1p(f: ExactBuilder, a: int) -> int | None:
    if inner := f.arguments(a, "exp"):
        return f.node("logaddexp", f.constant(0.0), *inner)
    inner = f.arguments(a, "negative")
    inner = f.arguments(inner[0], "special.expit") if inner else ()
    return _log_expit(f, f.node("negative", *inner)) if inner else None


def _log_expit(f: ExactBuilder, a: int) -> int:
    """Add log(1 / (1 + exp(-a))) so that it does not underflow."""
    return f.node("negative", f.node("logaddexp", f.constant(0.0), f.node("negative", a)))


RULES: dict[str, Callable[..., int | None]] = {
    "where": _where,
    "logical_and": _and,
    "logical_or": _or,
    "equal": _equal,
    **{op: _order(op) for op in ("less", "less_equal", "greater", "greater_equal")},
    "add": _add,
    "subtract": _subtract,
    "multiply": _multiply,
    "divide": _divide,
    "power": _to_power,
    "negative": _undone("negative"),
    "reciprocal": _undone("reciprocal"),
    "positive": lambda f, a: a,
    "log": _log,
    "log1p": _log1p,
}
OF_ALL = frozenset(("where", "logical_and", "logical_or", "equal"))
"""Operations whose rules hold of what is no number as well."""
