"""Kernels of several secrets as kernels of one weighted sum of them, with the law of the sum.

It is known where the secrets are independent in a box, with polynomial densities (uniform, Beta
with whole parameters), or normal together.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import NamedTuple

from flint import fmpq, fmpq_poly

from borel.engine.graphs.affine import Form, through_a_sum
from borel.engine.graphs.factors import polynomials
from borel.engine.graphs.normal_law import NormalLaw, normal_law
from borel.engine.graphs.sum_law import Piece, SumLaw, sum_law
from borel.engine.graphs.trace import Graph


class Reduced(NamedTuple):
    """Graphs in which ``x`` stands for a sum of secrets, and the law of that.

    Attributes
    ----------
    graphs : list of Graph
        The kernel, and masses of outcomes.
    law : SumLaw or NormalLaw
        The law of the sum.
    """

    graphs: list[Graph]
    law: SumLaw | NormalLaw


def reduced(
    graphs: list[Graph], prior: Graph, lower: list[float], upper: list[float], *, log: bool
) -> Reduced | None:
    """Return a kernel of secrets x0, x1, ... as one of a weighted sum of them, if it is one.

    Parameters
    ----------
    graphs : list of Graph
        The kernel; and the masses of the outcome's atoms, if it has some.
    prior : Graph
        The prior's density, or its logarithm.
    lower, upper : list of float
        The box of secrets.
    log : bool
        Whether ``prior`` is the logarithm.

    Returns
    -------
    Reduced or None
        None where they do not depend on one sum, or its law is not known.
    """
    names = tuple(f"x{j}" for j in range(len(lower)))
    ends = [*zip(lower, upper, strict=True)]
    inputs = {args[0] for g in graphs for op, args in g.nodes if op == "input"}
    own = {args[0] for op, args in prior.nodes if op == "input"}
    if not (inputs <= {"y", *names} and own <= {*names}):
        return None
    bounded = all(math.isfinite(b - a) and a < b for a, b in ends)
    if not (bounded or all((a, b) == (-math.inf, math.inf) for a, b in ends)):
        return None
    try:
        line = through_a_sum(graphs, names)
        if line is None or not {*line.form} <= {*names, ""}:
            return None
        if bounded:
            of = polynomials(prior, names, lower, upper, log=log)
            law = None if of is None else _in_a_box(line.form, of, ends)
            return None if law is None else Reduced(line.graphs, law)
        law = normal_law(prior, line.form, names, log=log)
        return None if law is None else Reduced(line.graphs, law)
    except OverflowError:  # a number beyond floats
        return None


def _in_a_box(
    form: Form, of: dict[str, fmpq_poly], ends: list[tuple[float, float]]
) -> SumLaw | None:
    """Return the law of a weighted sum of independent secrets with polynomial densities."""
    start, parts = form.get("", Fraction(0)), []
    for (name, density), (a, b) in zip(of.items(), ends, strict=True):
        times = form.get(name, Fraction(0))
        if times:
            low, high = sorted((times * Fraction(a), times * Fraction(b)))
            line = fmpq_poly([0, fmpq(times.denominator, times.numerator)])
            parts.append(Piece(low, high, density(line)))
    shift = fmpq_poly([-fmpq(start.numerator, start.denominator), 1])
    parts[0] = Piece(parts[0].low + start, parts[0].high + start, parts[0].of(shift))
    return sum_law(parts)
