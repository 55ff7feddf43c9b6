r"""Bounds on the mean of PML far out, for noise on a secret without an end: a part to trust.

Let f(y|x) = h(y - x) <= s, so that Y = X + U. With f_Y on (a, oo) of mass q at most, and a mean
distance :math:`m \ge E (Y - a)^+`, for every mu > 0

.. math:: \int f_Y \log(s / f_Y) \le q (\log s + \log \mu - \log q) + m / \mu:

by Gibbs' inequality :math:`-f_Y \log f_Y` has at most the integral of :math:`-f_Y \log(q g)`, for
g the exponential density of mean mu. The bound rises with q up to log q = log s + log mu - 1.

So it is for integers Y, with s = 1 and the geometric law on a + 1, a + 2, ... of the ratio
e^(-1/mu), as 1 - e^(-1/mu) >= e^(-1/2mu) / mu; of h every comparison is decided by its bounds then.

For r + u = a, Y > a needs X > r or U > u, and (Y - a)^+ <= (X - r)^+ + (U - u)^+: their tails and
mean distances are bounded by `check_tails`. Taken on trust: that f(.|x) and p integrate, or sum,
to 1.
"""

from __future__ import annotations

import math
from contextlib import suppress
from functools import cached_property
from itertools import pairwise

from flint import arb

from borel.engine.certificates.checks.rays import _SIGNS, INF, Z, _balls, _ray, _rays
from borel.engine.certificates.checks.tails import DENSITY, log_along, tail
from borel.engine.certificates.checks.verifier import _middle
from borel.numerics.graphs.trace import Graph

SHARES, DOUBLINGS = (0.5, 0.25, 0.75, 0.125, 0.875), range(1, 9)
LOOKS, LOOSE, ONE = 100, 0.125, arb(1)


def noise_of(density):
    """Return f(y|x) = h(y - x) as h(y), with x = -y, if inputs are used in y - x and x - y only.

    And to compare them: y > x where y - x > 0, and so where y > -y.
    """
    (graph, logged), nodes = density, []
    named = [args[0] if op == "input" else None for op, args in graph.nodes]
    for op, args in graph.nodes:
        if op not in ("input", "const"):
            used = [named[k] for k in args]
            if op == "subtract" and used in (["y", "x"], ["x", "y"]):
                op, args = "input", (used[0],)
            elif any(used) and not (op in _SIGNS and {*used} == {"x", "y"}):
                raise ValueError(f"{op} of an input, and not y - x alone")
        nodes.append((op, args))
    if named[-1]:
        raise ValueError("no more than an input")
    return Graph(tuple(nodes), ("y", "x")), logged


def _most(density, a, b):
    """Bound the logarithm of a density in y = -x from above on a box."""
    found = INF
    for u in [*_rays(a, b), *(_balls(a, b) if math.isfinite(b - a) else ())]:
        with suppress(ValueError, ZeroDivisionError):
            high = log_along(density, u * -1, u, DENSITY).bounds()[1]
            found = found if high.is_nan() else found.min(high.upper())
    return found


def height(density):
    """Bound the logarithm of a density in y = -x from above, where that can be to about LOOSE."""
    ends, known = (-math.inf, -1.0, 0.0, 1.0, math.inf), -INF
    boxes = [(_most(density, *box), *box) for box in pairwise(ends)]
    with suppress(ValueError, ZeroDivisionError):
        for _ in range(LOOKS):
            worst = max(boxes, key=lambda box: box[0])
            top, a, b = worst
            middle = _middle(a, b)
            at = _ray(middle)
            low = log_along(density, at * -1, at, DENSITY).bounds()[0]
            known = known if low.is_nan() else known.max(low)
            if top <= known + LOOSE:
                break
            halves = [(_most(density, *box), *box) for box in pairwise((a, middle, b))]
            boxes = [*(box for box in boxes if box is not worst), *halves]
    return max(top for top, *_ in boxes)


class Far:
    """Noise on a secret between ends, of which a tail is known but for atoms."""

    def __init__(self, kernel, ends, atoms, of_secrets, kind="density"):
        self.kernel, self.ends, self.atoms, self.tail = kernel, ends, atoms, of_secrets
        self.kind = kind

    @cached_property
    def noise(self):
        """Return the density of the noise, and a bound on its logarithm."""
        found = noise_of(self.kernel)
        return found, Z if self.kind == "masses" else height(found)

    def secrets(self, sign, r):
        """Bound P{sign X > r} and E (sign X - r)^+ from above."""
        end = sign * (self.ends[1] if sign > 0 else self.ends[0])
        q, m = (Z, Z) if end <= r else self.tail(sign, r)
        for k in DOUBLINGS:  # E (X - r)^+ is at most v - r + E (X - v)^+
            if m.is_finite():
                break
            q, m = arb(1), r * (2**k - 1) + self.tail(sign, r * 2**k)[1]
        beyond = [(sign * x - r, w) for x, w in self.atoms.items() if sign * x > r]
        return q + sum((w for _, w in beyond), Z), m + sum((w * v for v, w in beyond), Z)

    def share(self, a, b, most=ONE):
        """Bound the part of a box of outcomes, by that of a half-line that weighs ``most``."""
        if not (a > 0 or b < 0):
            return INF
        sign, a = (1, arb(a)) if a > 0 else (-1, -arb(b))
        end, best = arb(sign * (self.ends[1] if sign > 0 else self.ends[0])), INF
        for r in [end] if end < INF else [a * share for share in SHARES]:
            with suppress(ValueError, ZeroDivisionError):
                if a - r > 0:
                    best = best.min(self.beyond(sign, r, a - r, most))
        return best

    def beyond(self, sign, r, u, most):
        """Bound the part of the outcomes beyond r + u."""
        noise, top = self.noise
        pairs = self.secrets(sign, r), tail(noise, sign, u, self.kind)
        q, m = (sum(pair, Z).upper() for pair in zip(*pairs, strict=True))
        q = q.min(most)
        if q == 0:
            return Z
        rest = top + (m / q).log()  # mu is m / q
        mass = q.min((rest - 1).exp())
        found = (mass * (rest - mass.log()) + q).upper()
        return found if found.is_finite() else INF
