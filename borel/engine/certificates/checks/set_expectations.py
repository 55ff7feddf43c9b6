r"""Lower expectations over sets of priors on finitely many secrets, for checkers: a part to trust.

That :math:`E_Q w \ge 0` for every Q of a set follows, for *one* number t, l or m > 0, from

=================  ===============================================================================
set                with Taylor models or balls for the values w (`check_models`)
=================  ===============================================================================
any                w >= 0
TV ball            E_P min(w, t) >= r (t - min w), as TV bounds E_P - E_Q of what has that range
contamination      (1 - c) E_P w + c min w >= 0
band l <= q <= u   t + sum of the least of l (w - t) and u (w - t) >= 0
KL(Q||P) <= r      E_P e^(-l w) <= e^-r, by Donsker and Varadhan
KL(P||Q) <= r      E_P log(1 + m w) >= r, as E_Q g >= e^(E_P log g - KL(P||Q)) for g > 0
chi2(P||Q) <= r    (E_P sqrt(1 + m w))^2 >= 1 + r, by Cauchy and Schwarz
chi2(Q||P) <= r    (1 + r) E_P ((1 - m w)_+)^2 <= 1, by Cauchy and Schwarz
linear             w + A'y + E'z >= b.y + e.z for some y >= 0 and z, but for auxiliary variables
hull               E_P w >= 0 for each corner P
=================  ===============================================================================

The number is sought in floats, and proves nothing by itself. A law that is given in floats is any
within their intervals.
"""

from __future__ import annotations

from functools import reduce
from typing import Any

import numpy as np
from flint import arb, fmpq
from scipy.optimize import linprog, minimize_scalar
from scipy.special import logsumexp

from borel.engine.certificates.checks.rays import Z
from borel.engine.certificates.checks.taylor_models import FUNCTIONS, between, exponential, model

GRID, SHORT = np.linspace(-30.0, 36.0, 400), 1 - 2.0**-48


def fraction(pair):
    """Return an exact number, of two integers."""
    return fmpq(*pair)


def exact(number):
    """Return a float as an exact number."""
    return fmpq(*float(number).as_integer_ratio())


def entry(number):
    """Return an entry of a rule, a float or two integers, as an exact number."""
    return fraction(number) if isinstance(number, list) else exact(number)


def law(intervals):
    """Return a law whose probabilities are within intervals of floats."""
    out = [arb(low).union(arb(high)) for low, high in intervals]
    if not all(0 <= low <= high <= 1 for low, high in intervals):
        raise ValueError("not probabilities")
    # exactly: what is missing of a sum of balls could be anywhere
    low, high = (sum((exact(v[k]) for v in intervals), fmpq(0)) for k in (0, 1))
    if not low <= 1 <= high:
        raise ValueError("no law: the probabilities do not sum to 1")
    return out


def mean(weights, w):
    """Return the mean of models."""
    return sum((v * p for p, v in zip(weights, w, strict=True) if not p == 0), model(0))


def most(v):
    """Bound a model from above."""
    return -(v * -1).least()


def least_of(models):
    """Bound several models from below."""
    return reduce(arb.min, (v.least() for v in models))


def lesser(v, t):
    """Bound min(v, t) from below."""
    gap = most(v - t)
    return v if gap <= 0 else t if (v - t).least() >= 0 else v - gap


def _best(loss):
    """Return where a function of the logarithms of numbers, (k, 1), is small."""
    values = loss(GRID[:, None])
    k = int(np.nanargmin(values))
    ends = GRID[max(k - 1, 0)], GRID[min(k + 1, len(GRID) - 1)]
    found: Any = minimize_scalar(
        lambda u: loss(np.array([[u]]))[0], bounds=ends, method="bounded", options={"xatol": 1e-11}
    )
    return float(np.exp(found.x if found.fun < values[k] else GRID[k]))


class _Around:
    """A set around a law P, of a size; or a part of what all of these have in common."""

    def __init__(self, data):
        self.p = law(data["centre"])
        self.low, self.high = ([exact(v[k]) for v in data["centre"]]
                               for k in (0, 1))  # fmt: skip
        self.size, self.count = fraction(data["size"]), len(self.p)
        self.r, self.middle = arb(self.size), np.array([float(p.mid()) for p in self.p])
        if self.size < 0:
            raise ValueError("a negative size")

    def support(self):
        """Return which secrets some member may charge."""
        return [bool(self.size > 0 or p != 0) for p in self.high]

    def scale(self, w):
        """Return what values are measured in, and their middles in units of it."""
        found = np.array([float(v.start.mid()) for v in w])
        unit = np.abs(found).max()
        return float(unit), found / unit

    def charged(self, w):
        """Return the laws's weights, middles and values where it has mass."""
        keep = [k for k, p in enumerate(self.high) if p != 0]
        return [self.p[k] for k in keep], self.middle[keep], [w[k] for k in keep], keep


def positive(multiplier):
    """Return a multiplier: with 0 there is nothing that the values could be too small for."""
    if not 0 < multiplier < np.inf:
        raise ValueError(f"a multiplier of {multiplier}")
    return multiplier


class _TotalVariation(_Around):
    """All Q with TV(P, Q) <= r."""

    def proves(self, w):
        """Bound from below what is positive only if E_Q w >= 0 for all members."""
        _, c = self.scale(w)
        down = np.argsort(-c)
        gone = np.cumsum(self.middle[down])
        j = int(down[min(int((gone < float(self.r)).sum()), len(c) - 1)])
        t, least = w[j], w[int(c.argmin())]
        drop = max(most(least - v) for v in w).max(Z)
        if (t - least).least() < 0:
            t = least
        return (mean(self.p, [lesser(v, t) for v in w]) - (t - least + drop) * self.r).least()

    def holds(self, q):
        """Return whether a law is a member, whatever the centre is within its intervals."""
        return sum((max(a - p, fmpq(0)) for a, p in zip(q, self.low, strict=True)),
                   fmpq(0)) <= self.size  # fmt: skip


class _Contamination(_Around):
    """(1 - c) P + c Q, with any Q."""

    def __init__(self, data):
        super().__init__(data)
        if self.size > 1:
            raise ValueError("a weight above 1")

    def proves(self, w):
        _, c = self.scale(w)
        least = w[int(c.argmin())]
        drop = max(most(least - v) for v in w).max(Z)
        return (mean(self.p, w) * (1 - self.r) + (least - drop) * self.r).least()

    def holds(self, q):
        return all(a >= (1 - self.size) * p for a, p in zip(q, self.high, strict=True))


class _KLToCentre(_Around):
    """All Q with KL(Q || P) <= r."""

    def support(self):
        return [p != 0 for p in self.high]

    def proves(self, w):
        unit, c = self.scale(w)
        p, middle, w, keep = self.charged(w)
        rate = positive(_best(lambda u: logsumexp(-np.exp(u) * c[keep], axis=1, b=middle)) / unit)
        return (mean(p, [exponential(v * -rate) for v in w]) * -1 + (-self.r).exp()).least()

    def holds(self, q):
        pairs = [(a, p) for a, p in zip(q, self.low, strict=True) if a != 0]
        return all(p > 0 for _, p in pairs) and (
            sum((arb(a) * arb(a / p).log() for a, p in pairs), Z) <= self.r
        )


class _ChiSquareToCentre(_KLToCentre):
    """All Q with chi2(Q || P) <= r."""

    def proves(self, w):
        unit, c = self.scale(w)
        p, middle, w, keep = self.charged(w)
        part = lambda u: np.maximum(1 - np.exp(u) * c[keep], 0.0) ** 2 @ middle  # noqa: E731
        rate, squares = positive(_best(part) / unit), []
        for v in w:
            v = v * -rate + 1
            high = v.high.max(Z)
            squares.append(v * v if v.low >= 0 else between(Z, high * high))
        return (mean(p, squares) * -(1 + self.r) + 1).least()

    def holds(self, q):
        pairs = [(a, p) for a, p in zip(q, self.low, strict=True) if a != 0]
        return all(p > 0 for _, p in pairs) and (
            sum((a * a / p for a, p in pairs), fmpq(0)) - 1 <= self.size
        )


class _KLFromCentre(_Around):
    """All Q with KL(P || Q) <= r."""

    of, root = staticmethod(FUNCTIONS["log"]), staticmethod(np.log)

    def proves(self, w):
        unit, c = self.scale(w)
        end = SHORT / max(-float(min(v.low for v in w)) / unit, 1e-12)
        p, middle, w_in, keep = self.charged(w)

        def loss(u):
            m = end / (1 + np.exp(-u))  # short of where 1 + m w is 0
            return -self.root(1 + m * c[keep]) @ middle

        m = positive(end / (1 + 1 / _best(loss)) / unit)
        if not all((v * m + 1).low > 0 for v in w):
            raise ValueError("1 + m w may be negative")
        return self.margin(mean(p, [self.of(v * m + 1) for v in w_in])).least()

    def margin(self, total):
        return total - self.r

    def holds(self, q):
        pairs = [*zip(q, self.low, self.high, strict=True)]
        if any(high != 0 and a == 0 for a, _, high in pairs):
            return False
        return self.divergence([v for v in pairs if v[2] != 0])

    def divergence(self, pairs):  # p log p/q is convex in p: it is largest at an end
        part = lambda a, p: arb(p) * arb(p / a).log() if p != 0 else Z  # noqa: E731
        return sum((part(a, u).max(part(a, v)) for a, u, v in pairs), Z) <= self.r


class _ChiSquareFromCentre(_KLFromCentre):
    """All Q with chi2(P || Q) <= r."""

    of, root = staticmethod(FUNCTIONS["sqrt"]), staticmethod(np.sqrt)

    def margin(self, total):
        return (total * total if total.low >= 0 else model(-1)) - (1 + self.r)

    def divergence(self, pairs):
        return sum((v * v / a for a, _, v in pairs), fmpq(0)) - 1 <= self.size


class _Band:
    """All Q with l <= Q <= u."""

    def __init__(self, data):
        self.low, self.high = ([*map(fraction, data[end])] for end in ("lower", "upper"))
        self.open, self.count = data["open"], len(self.low)
        ordered = all(0 <= a <= b for a, b in zip(self.low, self.high, strict=True))
        if not (ordered and type(self.open) is bool):
            raise ValueError("no band")

    def support(self):
        room = 1 - sum(self.low, fmpq(0))
        return [b > 0 and room + a > 0 for a, b in zip(self.low, self.high, strict=True)]

    def proves(self, w):
        c = np.array([float(v.start.mid()) for v in w])
        up, low = np.argsort(c), np.array([float(a) for a in self.low])
        filled = np.cumsum((np.array([float(b) for b in self.high]) - low)[up])
        t = w[int(up[min(int((filled < 1 - low.sum()).sum()), len(c) - 1)])]
        total = t
        for v, a, b in zip(w, self.low, self.high, strict=True):
            gap = v - t
            a, b, least = arb(a), arb(b), gap.least()
            # where it may be negative b counts, at most as much more than a as it may be
            total = total + (gap * b if most(gap) <= 0 else gap * a - (-least).max(Z) * (b - a))
        return total.least()

    def holds(self, q):
        fits = (lambda a, v, b: a < v < b) if self.open else (lambda a, v, b: a <= v <= b)
        return all(fits(*row) for row in zip(self.low, q, self.high, strict=True))


class _FullSupport:
    """All Q that charge every secret."""

    def __init__(self, data):
        self.count = data["count"]

    def support(self):
        return [True] * self.count

    def proves(self, w):
        return least_of(w)

    def holds(self, q):
        return all(v > 0 for v in q)


class _Hull:
    """Mixtures of some laws."""

    def __init__(self, data):
        self.corners = [*map(law, data["corners"])]
        (self.count,) = {len(p) for p in self.corners}

    def support(self):
        return [not all(p[k] == 0 for p in self.corners) for k in range(self.count)]

    def proves(self, w):
        return least_of(mean(p, w) for p in self.corners)

    def mixture(self, shares):
        return [sum((arb(s) * p[k] for s, p in zip(shares, self.corners, strict=True)), Z)
                for k in range(self.count)]  # fmt: skip


class _Linear:
    """All Q with A q <= b and E q = e, for some auxiliary variables in [0, 1] beside q."""

    def __init__(self, data):
        self.count = data["count"]
        self.rules = [([*map(entry, row)], entry(end), name == "at_most")
                      for name in ("at_most", "equal") for row, end in data[name]]  # fmt: skip
        self.width = max([self.count, *(len(row) for row, *_ in self.rules)])
        if any(len(row) != self.width for row, *_ in self.rules):
            raise ValueError("rows of several lengths")

    def support(self):
        return [True] * self.count

    def proves(self, w):
        unit = max(abs(float(v.start.mid())) for v in w)
        near = [([*map(float, row)], float(end), below) for row, end, below in self.rules]
        cost = np.zeros(self.width)
        cost[: self.count] = [float(v.start.mid()) / unit for v in w]
        unequal = [rule for rule in near if rule[2]]
        equal = [([float(k < self.count) for k in range(self.width)], 1.0)]
        equal += [rule[:2] for rule in near if not rule[2]]
        table = [[*column] for column in zip(*(rule[:2] for rule in unequal), strict=True)]
        a, b = table or (None, None)
        found = linprog(cost, a, b, *zip(*equal, strict=True), bounds=(0, 1), method="highs")
        y = np.maximum(-found.ineqlin.marginals, 0) if unequal else np.zeros(0)
        multipliers = [*(y * unit), *(-found.eqlin.marginals[1:] * unit)]
        reduced, value = [*w, *(model(0) for _ in range(self.width - self.count))], Z
        for (row, end, _), factor in zip(self.rules, multipliers, strict=True):
            value += arb(end) * factor
            reduced = [v + arb(a) * factor for v, a in zip(reduced, row, strict=True)]
        aside = sum((v.low.min(Z) for v in reduced[self.count :]), Z)
        return least_of(v + (aside - value) for v in reduced[: self.count])

    def holds(self, q):
        def total(row):
            return sum((a * v for a, v in zip(row, q, strict=True)), fmpq(0))

        inside = len(q) == self.width and all(0 <= v <= 1 for v in q)
        for row, end, below in self.rules if inside else ():
            over = total(row) - end
            inside &= bool(over <= 0 if below else over == 0)
        return inside


KINDS = {
    "tv": _TotalVariation, "contamination": _Contamination, "kl_to_centre": _KLToCentre,
    "kl_from_centre": _KLFromCentre, "chi_square_to_centre": _ChiSquareToCentre,
    "chi_square_from_centre": _ChiSquareFromCentre, "band": _Band, "full_support": _FullSupport,
    "hull": _Hull, "linear": _Linear,
}  # fmt: skip


class Priors:
    """A set of priors, of one kind."""

    def __init__(self, data):
        self.kind, self.of = data["kind"], KINDS[data["kind"]](data)
        self.count, self.support = self.of.count, self.of.support()
        if not any(self.support):
            raise ValueError("no prior")

    def never_negative(self, w):
        """Return whether E_Q w >= 0 is proved for every member Q; values of no member do not count.

        Of secrets that no member charges the values may be anything.
        """
        pairs = [*zip(w, self.support, strict=True)]
        if all(v.least() >= 0 for v, charged in pairs if charged):
            return True
        highest = max((v for v, charged in pairs if charged), key=lambda v: v.start.mid())
        return bool(self.of.proves([v if charged else highest for v, charged in pairs]) >= 0)

    def member(self, given):
        """Return the weights of a member: a law, or shares of the corners of a hull."""
        q, hull = [*map(fraction, given)], self.kind == "hull"
        secrets = q if hull else q[: self.count]
        if sum(secrets, fmpq(0)) != 1 or not all(v >= 0 for v in q):
            raise ValueError("no law")
        if hull:
            return self.of.mixture(q)
        strangers = [v for v, charged in zip(secrets, self.support, strict=True) if not charged]
        if any(strangers) or not self.of.holds(q):
            raise ValueError("not shown to be a member")
        return [*map(arb, secrets)]
