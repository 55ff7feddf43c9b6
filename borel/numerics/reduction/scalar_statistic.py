"""Kernels of several secrets as kernels of one number of them, with the law of that.

It is known of weighted sums where the secrets are independent in a box, with polynomial densities
(uniform, Beta with whole parameters), or normal together. In a box the number may also be a
maximum, a minimum or an absolute value of such sums (`order_statistic_density`), or a product
(`product_density`).
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import NamedTuple

from flint import fmpq_poly

from borel.numerics.graphs.graph import Graph
from borel.numerics.graphs.nan_conditions import TESTS
from borel.numerics.reduction.linear_forms import forms_of, through_a_sum
from borel.numerics.reduction.normal_sum import NormalLaw, normal_law
from borel.numerics.reduction.order_statistic_density import PieceLaws, in_a_box, turned
from borel.numerics.reduction.polynomial_factors import polynomials
from borel.numerics.reduction.product_density import product_law
from borel.numerics.reduction.single_argument import OneNumber, through_one_number
from borel.numerics.reduction.sum_density import SumLaw, written

_KINKED = TESTS | {"absolute", "maximum", "minimum", "where"}


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
        if bounded:
            of = polynomials(prior, names, lower, upper, log=log)
            return None if of is None else _in_a_box(graphs, of, ends)
        line = through_a_sum(graphs, names)
        known = line is not None and {*line.form} <= {*names, ""}
        law = normal_law(prior, line.form, names, log=log) if line and known else None
        if line is None or law is None:
            return None
        return Reduced(line.graphs, law)
    except OverflowError:  # a number beyond floats
        return None


def _in_a_box(
    graphs: list[Graph], of: dict[str, fmpq_poly], ends: list[tuple[float, float]]
) -> Reduced | None:
    """Return a kernel of independent secrets in a box with polynomial densities."""
    names = tuple(of)
    one = through_one_number(graphs, names)
    if one is not None and forms_of(one.number)[-1] is None:
        line = through_a_sum(one.graphs, ("x",))
        if line is not None and {*line.form} <= {"x", ""}:
            law = _law(one, of, ends, (line.form["x"], line.form.get("", Fraction(0))))
            if law is not None:
                return Reduced(line.graphs, law)
    line = through_a_sum(graphs, names)
    if line is None or not {*line.form} <= {*names, ""}:
        return None
    pieces_ = in_a_box(line.form, of, dict(zip(names, ends, strict=True)))
    if pieces_ is None:
        return None
    return Reduced(line.graphs, written(pieces_))


def _law(
    one: OneNumber,
    of: dict[str, fmpq_poly],
    ends: list[tuple[float, float]],
    line: tuple[Fraction, Fraction],
) -> SumLaw | None:
    """Return the law of a multiple of a number that is no sum, plus another."""
    pieces = PieceLaws(one.number, of, ends).last()
    if pieces is not None:
        return written(turned(pieces, *line))
    if not _bends(one.graphs):
        return None  # of a smooth function of the number its law is not needed
    product = product_law(one.number, of, ends)
    return None if product is None else product.turned(*line).written()


def _bends(graphs: list[Graph]) -> bool:
    """Return whether a kernel may have kinks, or outcomes have masses."""
    return len(graphs) > 1 or not graphs[0].operations.isdisjoint(_KINKED)
