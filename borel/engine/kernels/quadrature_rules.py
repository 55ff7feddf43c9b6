"""Quadrature rules over boxes of secrets, with outcomes along: Gauss's, and by a prior's moments.

Beside an end where the prior's density has no Taylor series its moments are known instead
(`moments`): f(y|x) is the polynomial through its values at n nodes, plus its n-th Taylor
coefficient somewhere in the box times the product of the distances from the nodes, and so
f_Y is a sum of values of f, weighted by integrals of Lagrange's polynomials, and an error of at
most that product's maximum times the mass of the box.
"""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from borel.engine.problem.secret_and_kernel import Surface, boxes
from borel.numerics.intervals import batched
from borel.numerics.jets import arithmetic

if TYPE_CHECKING:
    from borel.numerics.intervals.batched import Box

NODES = {1: 6, 2: 8, 3: 8, 4: 6, 5: 5}
"""Nodes per coordinate for a secret of d dimensions."""


class Outcomes(NamedTuple):
    """Outcomes at which f_Y is wanted: points, or boxes with centres.

    Attributes
    ----------
    low, high : ndarray (n,)
        Ends; equal for points.
    centre : ndarray (n,)
        Where polynomials are expanded.
    order : int
        Degree of the polynomials; 0 for points.
    shift : ndarray (n,)
        log of a typical size of f(y|.).
    numbers : dict of ndarray (n,)
        Other inputs of an integrand, by name.
    """

    low: np.ndarray
    high: np.ndarray
    centre: np.ndarray
    order: int
    shift: np.ndarray
    numbers: dict[str, np.ndarray] = {}  # noqa: RUF012  # nothing is written to it

    def numbers_at(self, index: np.ndarray) -> dict[str, np.ndarray]:
        """Return the other inputs for boxes of secrets."""
        return {name: value[index] for name, value in self.numbers.items()}

    def at(self, index: np.ndarray) -> Box:
        """Return the outcomes of boxes of secrets."""
        low = self.low[index][None]
        return low, (low if self.low is self.high else self.high[index][None])

    @property
    def rows(self) -> int:
        """Number of coefficients: those at the centre, and those over the box."""
        return 2 * self.order + 1


@cache
def rule(n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, float]:
    """Return enclosures of the nodes and weights of the rule on [-1, 1], and the constant K."""
    import flint

    from borel.numerics.balls.arithmetic import ends, precision

    nodes, weights = [], []
    with precision(128):
        for k in range(n):
            x, w = flint.arb.legendre_p_root(n, k, weight=True)
            nodes.append(ends(x))
            weights.append(ends(w))
    constant = math.factorial(n) ** 4 / ((2 * n + 1) * math.factorial(2 * n) ** 2)
    x, w = np.array(nodes), np.array(weights)
    return x[:, 0], x[:, 1], w[:, 0], w[:, 1], constant * (1 + 1e-15)


def jets_in_y(
    program: Any,
    surface: Surface,
    ys: Outcomes,
    index: np.ndarray,
    x: list,
    decided: Any,
    axis: int,
) -> Box:
    """Run a program at points of x with jets in y of every degree up to ``ys.order``.

    The lanes of y stand on axis 1 (atoms) or on the last (nodes). Taylor's formula takes the
    coefficients below the highest at the centre, and the highest over the box; functions of the
    result need the others over the box as well.
    """

    def spread(v: np.ndarray) -> np.ndarray:
        return v[index][:, None] if axis == 2 else v[index][None, :]

    shift = spread(ys.shift)
    numbers = {name: spread(value) for name, value in ys.numbers.items()}

    def run(low: np.ndarray, high: np.ndarray, order: int, taken: Any = decided) -> Box:
        y = arithmetic.variable(spread(low), spread(high), order)
        found = program.run(surface.inputs(x, y, shift, numbers), order, decisions=taken)
        made.append(found.decisions)
        out = found.jet
        # whichever input the result does not depend on, it has the axes of both
        shape = np.broadcast_shapes(*(v.shape[1:] for v, _ in x), shift.shape)
        padded = np.zeros((2, order + 1, *shape))
        padded[0, : len(out[0])], padded[1, : len(out[1])] = out
        return padded[0], padded[1]

    made: list = []
    if ys.order == 0:
        return run(ys.low, ys.high, 0)
    outer = run(ys.low, ys.high, ys.order)
    # the centre is a point: it takes the branches of the box
    inner = run(ys.centre, ys.centre, ys.order - 1, made[0] if decided is None else decided)
    return (
        np.concatenate([inner[0], outer[0]]),
        np.concatenate([inner[1], outer[1]]),
    )


def nodes(a, b, j: int, rule_, which) -> Box:
    """Enclose the nodes of a rule along a coordinate of boxes."""
    node = rule_[0][which][:, None], rule_[1][which][:, None]
    left, right = batched.point(a[:, j][None]), batched.point(b[:, j][None])
    half = batched.point(np.array(0.5))
    middle = batched.multiply(batched.add(left, right), half)
    radius = batched.multiply(batched.subtract(right, left), half)
    low, high = batched.add(middle, batched.multiply(radius, node))
    # the nodes lie inside the box, whatever their rounding
    return np.maximum(low, a[:, j])[None], np.minimum(high, b[:, j])[None]


def at_nodes(surface, ys, index, a, b, volume, decided, rule_) -> Box:
    """Apply the rule: the coefficients in y, one row each."""
    x_low, _, w_low, w_high = rule_
    dim = a.shape[1]
    n = len(x_low)
    grid = np.stack([g.ravel() for g in np.meshgrid(*[np.arange(n)] * dim, indexing="ij")])
    x = []
    weight: Box = batched.point(np.ones((n**dim, 1)))
    for j in range(dim):
        weight = batched.multiply(weight, (w_low[grid[j]][:, None], w_high[grid[j]][:, None]))
        x.append(nodes(a, b, j, rule_, grid[j]))
    values = jets_in_y(surface.programs(ys.shift)[1], surface, ys, index, x, decided, 1)
    values = batched.total(batched.multiply(values, (weight[0][None], weight[1][None])), axis=1)
    scaled = batched.multiply(volume, batched.point(np.array(0.5**dim)))
    return batched.multiply(values, (scaled[0][None], scaled[1][None]))


def by_moments(surface: Surface, ys: Outcomes, index, a, b) -> tuple[Any, np.ndarray | None]:
    """Return the rule's polynomials, its errors and where it holds; and where a kink may be."""
    count, n = len(index), NODES[1]
    program, shift = surface.programs(ys.shift)[0], ys.shift[index]
    x = boxes(a, b, 0, n)
    found = program.run(surface.inputs(x, ys.at(index), shift), n, start=a[:, 0])
    high = wide(arithmetic.entry(found.jet, n), count)
    weights, mass = _weights_of_nodes(surface.secret, a[:, 0], b[:, 0], n)
    length = batched.subtract(batched.point(b[:, 0]), batched.point(a[:, 0]))
    scale = power(batched.multiply(length, batched.point(np.array(0.5))), n)
    most = np.maximum(np.abs(high[0]), np.abs(high[1]))
    error = batched.multiply(batched.point(most), batched.multiply(scale, mass))[1]
    error = error * (_largest_product(n) * (1 + 1e-13)) + 2.0**-1060
    at = nodes(a, b, 0, rule(n)[:2], np.arange(n))
    values = jets_in_y(program, surface, ys, index, [at], found.decisions, 1)
    poly = batched.total(batched.multiply(values, (weights[0][None], weights[1][None])), axis=1)
    smooth = np.isfinite(error) & np.isfinite([*poly[0], *poly[1]]).all(axis=0)
    return (poly, (-error, error), smooth), found.kink


@cache
def _largest_product(n: int) -> float:
    """Return the largest product of distances from the nodes, at the ends of (-1, 1)."""
    return 2.0**n * math.factorial(n) ** 2 / math.factorial(2 * n) * (1 + 1e-15)


@cache
def _lagrange(n: int) -> tuple[np.ndarray, ...]:
    """Return the coefficients of the polynomials that are 1 at one node and 0 at others."""
    import flint

    from borel.numerics.balls.arithmetic import ends, precision

    with precision(128):
        nodes = [flint.arb.legendre_p_root(n, k) for k in range(n)]
        rows = []
        for k, at in enumerate(nodes):
            row = flint.arb_poly([1])
            for other in (*nodes[:k], *nodes[k + 1 :]):
                row *= flint.arb_poly([-other / (at - other), 1 / (at - other)])
            rows.append([ends(row[i]) for i in range(n)])
    found = np.array(rows)
    return found[..., 0], found[..., 1]


def _weights_of_nodes(secret, a, b, n: int) -> tuple[Box, Box]:
    """Enclose the weights (n, boxes) of the nodes under the prior, and its mass on boxes."""

    def along(low: float, high: float) -> np.ndarray:
        end = low if low in secret.moments.ends else high
        key = "moments", low, high, n
        return secret.memo.fact(key, lambda: secret.moments.along(end, low, high, n))

    ends = zip(a.tolist(), b.tolist(), strict=True)
    moments = np.moveaxis(np.array([along(*box) for box in ends]), 0, -1)
    low, high = _lagrange(n)
    terms = batched.multiply(
        (low[..., None], high[..., None]), (moments[0][None], moments[1][None])
    )
    mass = np.maximum(moments[0][0], 0.0), moments[1][0]
    return batched.total(terms, axis=1), mass


def wide(a: Box, count: int) -> Box:
    """Return a box for each of so many lanes."""
    return np.broadcast_to(a[0], count), np.broadcast_to(a[1], count)


def power(width: Box, exponent: int) -> Box:
    """Enclose width**exponent for a width > 0, an even exponent, by squaring."""
    out: Box = batched.point(np.ones_like(width[0]))
    base = width
    while exponent:
        if exponent & 1:
            out = batched.multiply(out, base)
        base = batched.square(base)
        exponent >>= 1
    return out
