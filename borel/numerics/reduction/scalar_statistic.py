"""Kernels of several secrets as kernels of one weighted sum of them, with the law of that.

It is known where the secrets are independent in a box, with polynomial densities (uniform, Beta
with whole parameters), or normal together.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import NamedTuple

from borel.numerics.graphs.graph import Graph
from borel.numerics.reduction.linear_forms import through_a_sum
from borel.numerics.reduction.normal_sum import NormalLaw, normal_law
from borel.numerics.reduction.polynomial_factors import polynomials
from borel.numerics.reduction.sum_density import Piece, SumLaw, scaled, sum_law


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
        if not bounded:
            law = normal_law(prior, line.form, names, log=log)
            return None if law is None else Reduced(line.graphs, law)
        of = polynomials(prior, names, lower, upper, log=log)
        if of is None:
            return None
        first, *others = (
            scaled(Piece(Fraction(low), Fraction(high), of[name]), line.form[name])
            for name, (low, high) in zip(names, ends, strict=True)
            if name in line.form
        )
        plus = line.form.get("", Fraction(0))
        law = sum_law([scaled(first, Fraction(1), plus), *others])
        return None if law is None else Reduced(line.graphs, law)
    except OverflowError:  # a number beyond floats
        return None
