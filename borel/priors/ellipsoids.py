r"""Ellipsoids of priors on finitely many secrets, cut by the simplex.

With the free coordinates q = (p_1, ..., p_{n-1}), a centre c, a matrix L and a radius r, the set is
:math:`\{p \ge 0 : q = c + r L z, \|z\| \le 1, p_n = 1 - \sum q\}`. For values v and
:math:`w_i = v_i - v_n`,

.. math:: \inf E_P v \ge v_n + w \cdot c - r \|L^T w\|,

with equality where the minimiser is not negative. Where it is, :math:`v - \mu` for any
:math:`\mu \ge 0` gives a lower bound too, as :math:`\mu \cdot p \ge 0`: the best multipliers found
in floats prove it. Members between the centre and a minimiser give upper bounds.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from borel.engine.prior_sets.lower_expectations import Least
from borel.errors import InvalidInput
from borel.numerics.intervals.rounding import U
from borel.priors.sets import PriorSet
from borel.probability.alphabets import Alphabet
from borel.probability.measure import Measure

_INSIDE = 1 - 1e-9


class Ellipsoid(PriorSet):
    """Priors in an ellipsoid of their first n - 1 probabilities, and in the simplex.

    Parameters
    ----------
    centre : ndarray (n,)
        A prior of full support.
    shape : ndarray (n - 1, n - 1)
        L: the ellipsoid is ``centre + radius * L z``, z in the unit ball.
    radius : float
        r > 0.
    on : Alphabet
        The alphabet.
    """

    status = "certified"

    def __init__(self, centre: np.ndarray, shape: np.ndarray, radius: float, on: Alphabet):
        super().__init__(on, "ellipsoid")
        if not (np.asarray(centre) > 0).all() or not radius > 0:
            raise InvalidInput(
                "an ellipsoid of priors",
                expected="a centre of full support and a radius > 0",
                got=f"{centre} and {radius!r}",
            )
        self.centre, self.shape, self.radius = np.asarray(centre, float), shape, float(radius)

    def least(self, v: np.ndarray) -> Least:
        """Enclose the lower expectations of columns of values."""
        found = [self._one(column) for column in np.asarray(v, float).T]
        low, high = (np.array([f[i] for f in found]) for i in (0, 1))
        prior = np.stack([f[2] for f in found], axis=1)
        return Least(low, np.maximum(low, high), prior)

    def _one(self, v: np.ndarray) -> tuple[float, float, np.ndarray]:
        low, point = self._outer(v)
        if point.min() < 0:  # the simplex cuts it: multipliers for p >= 0
            better = self._multipliers(v)
            candidate = self._outer(v - better)
            # v - better is rounded once
            size = float(np.abs(v).max() + better.max(initial=0.0))
            if candidate[0] - 2 * U * size > low:
                low, point = candidate[0] - 2 * U * size, candidate[1]
        prior = self._member(point)
        value = float(v @ prior)
        slack = 4 * (len(v) + 8) * U * float(np.abs(v).max())
        return max(low, float(v.min())), min(value + slack, float(v.max())), prior

    def _outer(self, v: np.ndarray) -> tuple[float, np.ndarray]:
        """Return a lower end of the minimum over the whole ellipsoid, and the minimiser."""
        w = v[:-1] - v[-1]
        across = self.shape.T @ w
        length = float(np.linalg.norm(across))
        value = float(v[-1] + w @ self.centre[:-1] - self.radius * length)
        size = abs(v[-1]) + np.abs(w) @ self.centre[:-1]
        size += self.radius * float(np.linalg.norm(np.abs(self.shape).T @ (np.abs(w) + abs(v[-1]))))
        error = 8 * (len(v) + 10) * U * float(size)
        step = self.shape @ (across / length) if length > 0 else np.zeros(len(w))
        free = self.centre[:-1] - self.radius * step
        return value - error, np.append(free, 1.0 - free.sum())

    def _multipliers(self, v: np.ndarray) -> np.ndarray:
        """Return multipliers >= 0 of the constraints p >= 0, the best that a search finds."""
        from scipy.optimize import minimize

        def negated(mu: np.ndarray) -> tuple[float, np.ndarray]:
            value, point = self._outer(v - mu)
            return -value, point

        found = minimize(
            negated, np.zeros(len(v)), jac=True, bounds=[(0, None)] * len(v), method="L-BFGS-B"
        )
        return np.maximum(found.x, 0.0)

    def _member(self, point: np.ndarray) -> np.ndarray:
        """Return a member on the way from the centre to a point of the ellipsoid."""
        step = point - self.centre
        with np.errstate(divide="ignore", invalid="ignore"):
            room = np.where(step < 0, self.centre / -step, np.inf)
        reach = min(_INSIDE, float(room.min()) * _INSIDE)
        free = self.centre[:-1] + reach * step[:-1]
        return np.append(free, max(1.0 - free.sum(), 0.0))

    def contains(self, prior: Measure, *, tol: float = 1e-9) -> bool:
        """Return whether a prior is a member, up to a tolerance in the radius."""
        p = np.asarray(prior.at(self.on), float)
        return bool(self.distance(p[None])[0] <= self.radius * (1 + tol))

    def distance(self, p: Any) -> np.ndarray:
        """Return the norms |z| of priors (..., n)."""
        return ellipsoid_distance(p, self.centre, self.shape)


def ellipsoid_distance(p: np.ndarray, centre: np.ndarray, shape: np.ndarray) -> np.ndarray:
    """Return the norms |z| of priors (k, n), with p = centre + L z in the free coordinates."""
    from scipy.linalg import solve_triangular

    z = solve_triangular(shape, (p - centre)[:, :-1].T, lower=True)
    return np.linalg.norm(z, axis=0)
