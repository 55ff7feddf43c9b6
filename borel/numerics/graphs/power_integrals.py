r"""Integrals of sums of powers over (0, h), in exact numbers: the marginals of copula densities.

With a sum S of powers of which one alone, b v^e, varies with v,

.. math:: \int_0^h A v^{e-1} S^q dv = \frac{A}{(q+1) b e} \big( S(h)^{q+1} - S(0)^{q+1} \big)

as S' = b e v^(e-1). So are Clayton's copula densities of any parameter whose float64 exponents
cancel exactly.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from borel.numerics.graphs.powers import (
    ONE,
    NotAlgebraic,
    Sum,
    Term,
    Terms,
    exact_power,
    powered,
    read,
    summed,
    term_of,
)

if TYPE_CHECKING:
    from borel.numerics.graphs.graph import Graph

_MOST_TERMS = 64


def integral(graph: Graph, name: str, upper: float) -> Fraction | None:
    """Return the integral of a graph over one input from 0, if it is one number for all others.

    Parameters
    ----------
    graph : Graph
        A function that is nowhere negative, of positive inputs.
    name : str
        The input.
    upper : float
        Where the integral ends.

    Examples
    --------
    >>> from borel.numerics.graphs.trace import trace
    >>> clayton = trace(
    ...     lambda y, x: 2 * (x * y) ** -2 * (1 / x + 1 / y - 1) ** -3, ("y", "x"), ()
    ... )
    >>> integral(clayton, "y", 1.0), integral(clayton, "y", 0.5)
    (Fraction(1, 1), None)
    """
    try:
        terms, end = read(graph, graph.inputs), Fraction(upper)
        parts = (_of_term(term, number, name, end) for term, number in terms.items())
        total = summed(pair for part in parts for pair in part.items())
    except NotAlgebraic:
        return None
    return total.get(ONE) if set(total) == {ONE} else None


def _of_term(term: Term, number: Fraction, name: str, upper: Fraction) -> Terms:
    """Return the integral of a number times powers."""
    power, varying, others = Fraction(0), [], []
    for base, exponent in term:
        if base == name:
            power = exponent
        elif isinstance(base, str) or not _varies(base, name):
            others.append((base, exponent))
        else:
            varying.append((base, exponent))
    if not varying:
        if power <= -1:
            raise NotAlgebraic
        return _times(_at({ONE: number / (power + 1)}, power + 1, upper), tuple(others))
    if len(varying) > 1 or not isinstance(varying[0][0], Sum):
        raise NotAlgebraic
    ((inner, q),) = varying
    if q == 1:
        parts = (_of_term(*pair, name, upper) for pair in _spread(term, number))
        return summed(pair for part in parts for pair in part.items())
    return _by_substitution(inner, q, number, power, tuple(others), name, upper)


def _spread(term: Term, number: Fraction) -> list[tuple[Term, Fraction]]:
    """Return the terms of a term times a number: a sum as a factor is no more than its terms."""
    left, done = [(term, number)], []
    while left:
        term, number = left.pop()
        place = next((k for k, (b, e) in enumerate(term) if isinstance(b, Sum) and e == 1), None)
        if place is None:
            done.append((term, number))
            continue
        others = term[:place] + term[place + 1 :]
        left += [(term_of((*part, *others)), number * c) for part, c in term[place][0]]
        if len(left) + len(done) > _MOST_TERMS:
            raise NotAlgebraic
    return done


def _by_substitution(
    inner: Sum,
    q: Fraction,
    number: Fraction,
    power: Fraction,
    others: Term,
    name: str,
    upper: Fraction,
) -> Terms:
    plain = summed(pair for part in inner for pair in _spread(*part)).items()
    for level in {dict(part).get(name, Fraction(0)) for part, _ in plain}:
        # y^level S' for S: of S' one term alone is to vary with y
        parts = [(term_of((*part, (name, -level))), b) for part, b in plain]
        moving = [(part, b) for part, b in parts if name in dict(part)]
        if len(moving) == 1 and dict(moving[0][0])[name] == power + level * q + 1:
            break
    else:
        raise NotAlgebraic
    still = {part: b for part, b in parts if name not in dict(part)}
    ((part, b),) = moving
    e = dict(part)[name]
    beside = tuple(pair for pair in part if pair[0] != name)
    if q == -1 or any(not isinstance(base, str) for p in (beside, *still) for base, _ in p):
        raise NotAlgebraic
    at_end = summed((*still.items(), *_at({beside: b}, e, upper).items()))
    ends = [_positive_power(at_end, q + 1)]
    if e > 0:
        ends.append(_positive_power(still, q + 1))
    elif not (b > 0 and q + 1 < 0):  # or S goes to infinity at 0, and its power to 0
        raise NotAlgebraic
    outside = term_of((*others, *((base, -x) for base, x in beside)))
    factor = number / ((q + 1) * b * e)
    both = zip((1, -1), ends, strict=False)
    return summed((term_of((*outside, *key)), sign * c * factor) for sign, (key, c) in both)


def _positive_power(terms: Terms, p: Fraction) -> tuple[Term, Fraction]:
    """Return a power of a sum that is one positive term.

    S is monotone in the variable: positive at both ends, it is so between them.
    """
    if len(terms) != 1 or not min(terms.values()) > 0:
        raise NotAlgebraic
    ((term, number),) = terms.items()
    return powered(term, p), exact_power(number, p)


def _at(terms: Terms, power: Fraction, upper: Fraction) -> Terms:
    """Return terms times a power of the end."""
    factor = exact_power(upper, power)
    return {term: number * factor for term, number in terms.items()}


def _times(terms: Terms, factor: Term) -> Terms:
    return {term_of((*term, *factor)): number for term, number in terms.items()}


def _varies(base: Any, name: str) -> bool:
    """Return whether a base may depend on an input: a node of another operation may."""
    if isinstance(base, Sum):
        return any(_varies(inner, name) for part, _ in base for inner, _ in part)
    return base == name or not isinstance(base, str)
