"""Secrets of several coordinates that a kernel depends on by one number: noise on a query.

Where f(y|x) = F(y, g(x)) with one number g(x) the extremes over x are those of F(y, .) over the
values of g. These are an interval, and its null sets are those of the law of g(X), if

* the secret is a box on which the prior's density is positive, and g has bounded slopes there: it
  is continuous, its values are an interval, and each open part of them has positive mass;
* no operation of g jumps: a face or a corner of the box is a null set, where a function may be
  another one than beside it, and slopes, known almost everywhere, do not tell;
* the slope in one coordinate stays away from 0: for each value of the others g takes a null set
  of values only on a null set, so that g(X) has no atoms either. Or g is analytic and not constant:
  then so are its values, but for a null set, where a slope is 0.

With slopes of one sign in every coordinate the ends of the interval are values at two corners;
else they are searched for, and what proves them is a little apart from what is reached.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from borel import settings
from borel.engine.kernels.essential_supremum import extremes
from borel.engine.kernels.starting_points import guess
from borel.engine.kernels.unbounded_secrets import continuous
from borel.engine.problem.secret_and_kernel import Secret, Surface, boxes
from borel.numerics.graphs.dependence import through
from borel.numerics.graphs.graph import Graph
from borel.numerics.intervals import interpreter
from borel.numerics.jets import arithmetic
from borel.numerics.jets.interpreter import Program

NAME = "x"
_PATIENCE, _APART, _LOOSE = 0.5, 2.0**-34, 2.0**-32

_ANALYTIC = frozenset(
    """add subtract multiply negative positive square power exp expm1 tanh sin cos arctan
    special.expit""".split()
)


class Summary(NamedTuple):
    """The kernel as a function of y and of one number.

    Attributes
    ----------
    inside : Surface
        On an interval of which every part has positive mass: for bounds from below.
    cover : Surface
        On an interval that holds all values: for bounds from above.
    graph : Graph
        The kernel, of y and of the number as "x".
    """

    inside: Surface
    cover: Surface
    graph: Graph


def summary(surface: Surface) -> Summary | None:
    """Return the kernel through one number; None where it is not proved to be one."""
    secret = surface.secret
    if not (secret.continuous and secret.dim > 1 and secret.positive) or len(secret.atoms):
        return None
    if not np.isfinite([secret.lower, secret.upper]).all() or secret.rest:
        return None
    outer, inner = through(surface.graph, secret.names)
    ends = _ends(surface, inner[0]) if len(inner) == 1 else None
    if ends is None:
        return None
    (least, low), (high, most) = ends
    one = ("input", (NAME,))
    nodes = tuple(one if node == ("input", ("w0",)) else node for node in outer.nodes)
    of_one = Graph(nodes, ("y", NAME))
    inside, cover = (
        surface.of(of_one, Secret((NAME,), np.array([a]), np.array([b])))
        for a, b in ((low, high), (least, most))
    )
    return Summary(inside, cover, of_one)


def _ends(surface: Surface, g: Graph) -> list[tuple[float, ...]] | None:
    """Enclose the ends of the values of a function of the secret, if it is as above."""
    secret = surface.secret
    if not continuous(g):  # its value at a corner is the limit of those beside it
        return None
    program = Program(g)
    a, b = secret.lower[None], secret.upper[None]
    slopes = []
    for j in range(secret.dim):
        named = dict(zip(secret.names, boxes(a, b, j, 1), strict=True))
        low, high = arithmetic.entry(program.run(named, 1).jet, 1)
        slopes.append((float(np.min(low)), float(np.max(high))))
    diffuse = any(low > 0 or high < 0 for low, high in slopes) or _analytic(g)
    if not diffuse or not np.isfinite(slopes).all():
        return None
    if any(low < 0 < high for low, high in slopes):
        return _sought(surface.of(g, Secret(secret.names, secret.lower, secret.upper)))
    places = [
        [
            float(secret.upper[j] if (low >= 0) == towards else secret.lower[j])
            for j, (low, _) in enumerate(slopes)
        ]
        for towards in (False, True)
    ]
    corners = [_value(g, secret, place) for place in places]
    low, high = corners
    return corners if low[1] < high[0] else None


def _value(g: Graph, secret: Secret, place: list[float]) -> tuple[float, ...]:
    """Enclose the value at a secret."""
    point = {n: (np.array(v), np.array(v)) for n, v in zip(secret.names, place, strict=True)}
    return tuple(float(v) for v in interpreter.evaluate(g, point))


def _sought(g: Surface) -> list[tuple[float, ...]] | None:
    """Enclose the ends of the values of a function by branch and bound."""
    secret, until = g.secret, settings.now() + _PATIENCE
    sides = [*zip(secret.lower.tolist(), secret.upper.tolist(), strict=True)]
    whole = {n: (np.array(a), np.array(b)) for n, (a, b) in zip(secret.names, sides, strict=True)}
    among = [*g.graph.constants, *(end for side in sides for end in side)]
    ends = []
    for sign in (-1, 1):
        seed = guess(g.graph, secret, sign)
        found = extremes(g, None, 1, sign=float(sign), tol=_APART, seeds=seed[None], deadline=until)
        # the range of all of the box may be exact, where a search is not
        outer = min(
            float((sign * (found.lower if sign < 0 else found.upper))[0]),
            float(sign * interpreter.evaluate(g.graph, whole)[max(sign, 0)]),
        )
        near = [float(v) for v in found.place[0]]
        met = [min(among, key=lambda c, v=v: abs(c - v)) for v in near]
        met = [c if abs(c - v) < 2.0**-16 * (b - a) else v
               for c, v, (a, b) in zip(met, near, sides, strict=True)]  # fmt: skip
        seen = [x for x in (near, met, [*map(float, seed)]) if np.isfinite(x).all()]
        known = [sign * _value(g.graph, secret, x)[0 if sign > 0 else 1] for x in seen]
        if not known:
            return None
        ends.append((sign * outer, sign * max(known))[::-sign])
    low, high = ends
    tight = np.isfinite([*low, *high]).all() and max(low[1] - low[0], high[1] - high[0]) < _LOOSE
    return ends if tight and low[1] < high[0] else None


def _analytic(g: Graph) -> bool:
    """Return whether all operations are analytic on the real line."""
    exponents = [g.nodes[args[1]][1][0] for op, args in g.nodes if op == "power"]
    whole = all(float(k).is_integer() and k >= 0 for k in exponents)
    return whole and g.operations <= _ANALYTIC
