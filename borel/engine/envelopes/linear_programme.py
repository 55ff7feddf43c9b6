r"""The linear programme behind a leakage envelope: solved in floats, then proved from both sides.

Outcomes are cells y with a mass q(y) = P_Y(y) and gains g_x(y), which are P(y|x) for PML and
-P(y|x) for PMC. At a *level* theta (e^t for PML, -e^-t for PMC) the programme is

.. math:: D(\theta) = \max_{w \ge 0} \sum_{x,y} w_x(y) q(y) \quad\text{s.t.}\quad
          \sum_y w_x(y) (g_x(y) - \theta q(y)) \ge 0, \quad \sum_x w_x(y) \le 1

(`borel.figures.envelopes` proves that it is the envelope). Nothing that the solver returns is
trusted: any w, made feasible, proves a lower end and any :math:`\lambda \ge 0` an upper one,

.. math:: D(\theta) \le U_\lambda(\theta) = \sum_y \max\bigl(0,
          \max_x (1 - \lambda_x \theta) q(y) + \lambda_x g_x(y)\bigr),

both evaluated with outward rounding over every q and g that the floats may mean.

D jumps only at the *tops*, :math:`\theta = \max_y g_x(y) / q(y)` of some x, where a secret stops
being of use. Between two tops D is continuous, and a search there ends after a few programmes.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from borel import settings
from borel.engine.envelopes.float_solver import NEAR, ROUNDS, Optimum, Solver, idle_prices, solved
from borel.numerics.intervals.rounding import TINY, U, sum_outward

if TYPE_CHECKING:
    from fractions import Fraction

Ends = tuple[np.ndarray, np.ndarray]

_LITTLE = 1e-9
"""Part of the mass of all bad outcomes that is no loss."""
_FULL, _CUTS = 1e-13, 10
"""What an outcome that is used up may lack of a share of 1, and how often weights are cut."""
_NEAR = 1e-9
"""How near to a guess a level is good enough."""
_AGAIN, _LEAST = 4, 1.0
"""Times that a search meets its own root before it takes it that nothing more is to be had; and
the work that it may do in any case."""


class Spread(NamedTuple):
    """How g_x / q varies within cells: its range in each, and whether a cell is one outcome.

    Beyond all cells (``far``) there is at most a mass, an integral of the largest |g|, and |g| / q.
    """

    low: np.ndarray
    high: np.ndarray
    flat: np.ndarray
    far: tuple[float, float, float] = (0.0, 0.0, 0.0)


class EnvelopeLevel(NamedTuple):
    """Proved ends of the theta of a level, and what proves them."""

    lower: float
    upper: float
    weights: np.ndarray
    price: np.ndarray


class Programme(Solver):
    """The programme of one leakage of finitely many secrets over cells of outcomes.

    Parameters
    ----------
    sign : {1, -1}
        1 for PML, -1 for PMC.
    kernel : pair of arrays (secrets, cells)
        Ends of P(y|x).
    law : pair of arrays (cells,)
        Ends of P_Y(y).
    middle : pair of arrays, optional
        P(y|x) and P_Y(y) to solve with; the middles of the ends if not given.
    spread : Spread, optional
        How g_x / q varies within the cells; if not given, every cell is an outcome.
    whole : bool
        Whether there is no outcome beyond the cells.
    """

    def __init__(
        self,
        sign: int,
        kernel: Ends,
        law: Ends,
        *,
        middle: Ends | None = None,
        spread: Spread | None = None,
        whole: bool = True,
    ):
        self.sign, self.spread, self.whole = sign, spread, whole
        self.g_low, self.g_high = kernel if sign > 0 else (-kernel[1], -kernel[0])
        self.q_low, self.q_high = law
        if middle is None:
            middle = (kernel[0] + kernel[1]) / 2, (law[0] + law[1]) / 2
        super().__init__(sign * middle[0], middle[1], 1.0 if sign > 0 else -1.0)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            worst = self.g_high / (self.q_low if sign > 0 else self.q_high)
        worst = np.where(self.g_high == 0, 0.0, worst)
        worst = np.where(self.q_high > 0, worst + np.abs(worst) * 2 * U + TINY * (worst != 0), -1)
        self.top_high = (worst if spread is None else spread.high).max(axis=1)
        if spread is not None and spread.far[0] > 0:  # what is below a level is so far out, too
            self.top_high = np.maximum(self.top_high, spread.far[2] if sign > 0 else 0.0)

    # -- proofs -----------------------------------------------------------------------------------

    def upper_end(self, price: np.ndarray, theta: float, *, closed: bool = True) -> float:
        """Bound D(theta), or its limit from above, by the dual at any prices.

        Secrets of no use there are left out. The masses of all outcomes are 1 in sum.
        """
        return min(self._dual(price, theta, closed), 1.0)

    def _dual(self, price: np.ndarray, theta: float, closed: bool = True) -> float:
        """Bound the dual objective from above."""
        kept = self.top_high >= theta if closed else self.top_high > theta
        if not kept.any():
            return 0.0
        with np.errstate(invalid="ignore", over="ignore"):  # where an end is infinite
            terms = self._dual_terms(price[kept, None], theta, kept)
        if not np.isfinite(terms).all():
            return math.inf
        near = float(sum_outward(terms, terms)[1])
        if self.spread is None or not self.spread.far[0] > 0:
            return near
        mass, most, _ = self.spread.far
        dearest = float(price[kept].max())
        most = most * dearest if self.sign > 0 and dearest > 0 else 0.0
        far = mass * max(float((1 - price[kept] * theta).max()), 0.0) + most
        return (near + far) * (1 + 16 * U) + TINY

    def _dual_terms(self, lam: np.ndarray, theta: float, kept: np.ndarray) -> np.ndarray:
        """Bound the integral over each cell of max(0, max_x (1 + lam_x (g_x / q - theta))) q.

        Within a cell that is no single outcome the maximum may pass from x to x'. With the
        largest integral at x it is at most that one plus the mass times how far any other term
        can be above the one of x; at most the mass times the largest term; and at most the largest
        (1 - lam_x theta) q plus the sum of lam_x g_x.
        """

        def priced(value: np.ndarray) -> np.ndarray:
            return np.where(lam == 0, 0.0, lam * value)  # also if no bound is known

        part = 1 - lam * theta
        slip = 2 * U * (1 + np.abs(lam * theta)) + TINY
        q = np.where(part >= 0, self.q_high, self.q_low)
        first, second = part * q, priced(self.g_high[kept])
        error = slip * self.q_high + 4 * U * (np.abs(first) + np.abs(second)) + 4 * TINY
        whole = first + second + error * (1 + 8 * U)
        if self.spread is None:
            return np.maximum(whole.max(axis=0), 0.0)
        at = whole.argmax(axis=0)[None]
        low, high = self.spread.low[kept], self.spread.high[kept]
        slip = 8 * U * (1 + priced(np.maximum(np.abs(low), np.abs(high)) + abs(theta)))
        high = 1 + priced(high - theta) + slip
        base = np.take_along_axis(1 + priced(low - theta) - slip, at, axis=0)
        own = np.take_along_axis(high, at, axis=0)
        np.put_along_axis(high, at, -np.inf, axis=0)
        others = np.maximum(high.max(axis=0), 0.0)
        over = np.maximum(others - base[0], 0.0) * self.q_high * (1 + 8 * U)
        least = np.maximum(np.take_along_axis(whole, at, axis=0)[0] + over, 0.0)
        crude = np.maximum(others, own[0]) * self.q_high
        # a cell of little mass may hold large ratios: each term is at most the sum of its parts
        parts = np.maximum(part.max(), 0.0) * self.q_high + np.maximum(second, 0.0).sum(axis=0)
        parts = (parts + error.max(axis=0)) * (1 + 4 * len(lam) * U) + len(lam) * TINY
        found = np.fmin(np.fmin(least, crude), parts) * (1 + 8 * U) + TINY
        return np.where(self.spread.flat, np.maximum(whole.max(axis=0), 0.0), found)

    def looseness(self, price: np.ndarray, theta: float) -> np.ndarray:
        """Return how much each cell's variation adds to the dual, for those who cut cells."""
        kept = self.top_high >= theta
        if self.spread is None or not kept.any():
            return np.zeros(self.cells)
        price = self.stretched(price, theta)
        lam = price[kept, None]
        plain = ((1 - lam * theta) * self.q + lam * self.g[kept]).max(axis=0)
        return self._dual_terms(lam, theta, kept) - np.maximum(plain, 0.0)

    def stretched(self, price: np.ndarray, theta: float) -> np.ndarray:
        """Give secrets without a price one at which no cell asks for them, if there is one.

        A secret that only outcomes of next to no mass ask for has none, and else all would.
        """
        idle = price == 0
        if not idle.any():
            return price
        with np.errstate(over="ignore", invalid="ignore"):
            paid = 1 + price[~idle, None] * (self.ratio[~idle] - theta)
            rent = np.maximum(paid.max(axis=0, initial=0.0), 0.0)
            price = price.copy()
            price[idle] = np.minimum(idle_prices(self.ratio[idle] - theta, rent), 1e300)
        return price

    def level_above(self, price: np.ndarray, delta: Fraction, theta: float) -> float | None:
        """Return a level at which the dual proves D < delta, from a guess; None if not found."""
        found = self._climbed(price, delta, theta, self.top_high > -math.inf)
        if found is not None and found - theta <= _NEAR * abs(theta):
            return found
        # prices that were made up have a slope as well, which may be a worse guide
        other = self._climbed(price, delta, theta, price > 0)
        return min((level for level in (found, other) if level is not None), default=None)

    def _climbed(
        self, given: np.ndarray, delta: Fraction, theta: float, trusted: np.ndarray
    ) -> float | None:
        """Return such a level: by the slope of the dual where all prices that count are trusted."""
        step = max(4 * U * abs(theta), TINY)
        for _ in range(60):
            price = self.stretched(given, theta)
            over = self._dual(price, theta)
            if over < delta:
                return theta
            kept = self.top_high >= theta
            if kept.any() and (trusted & (price > 0))[kept].all():
                with np.errstate(invalid="ignore", over="ignore"):  # as above; a search
                    terms = (1 - price * theta)[kept, None] * self.q
                    terms = terms + price[kept, None] * self.g[kept]
                best = np.argmax(terms, axis=0)
                live = terms[best, np.arange(self.cells)] > 0
                slope = float((price[kept][best] * self.q)[live].sum())
                newton = (over - float(delta)) / slope * 1.001 if slope > 0 else 0.0
            else:
                newton = 0.0
            theta = theta + max(step, newton)
            step *= 2
            if self.sign < 0 and theta >= 0:
                return 0.0 if self.upper_end(price, 0.0) < delta else None
        return None

    def shares(self, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return what is left of each outcome, and ends of the factor that makes shares of w.

        The weights meant are w times a factor for each outcome: 1 where they are at most 1 in
        sum, and the inverse of the sum where they use the outcome up.
        """
        low, high = sum_outward(weights, weights, axis=0)
        full = low >= 1 - _FULL
        inverse = np.where(full, high, 1.0), np.where(full, low, 1.0)
        factor = (1 / inverse[0] * (1 - 2 * U), 1 / inverse[1] * (1 + 2 * U))
        spare = np.where(full, 0.0, 1 - high)
        return spare, np.where(full, factor[0], 1.0), np.where(full, factor[1], 1.0)

    def mass(self, weights: np.ndarray) -> float:
        """Bound the mass of the bad outcomes from below."""
        spare, low, _ = self.shares(weights)
        if self.whole and not spare.any():  # the masses of all outcomes are 1 in sum
            return 1.0
        terms = weights.sum(axis=0) * (1 - (self.count + 2) * U) * low * self.q_low
        terms = np.maximum(terms * (1 - 4 * U) - TINY, 0.0)
        return float(sum_outward(terms, terms)[0])

    def topped_up(self, weights: np.ndarray, delta: Fraction, largest: bool) -> np.ndarray | None:
        """Add what is missing to a mass of delta, from outcomes that are not used up.

        It goes to the largest bad outcome, or to the one that it seems to spoil least.
        """
        for _ in range(4):
            missing = float(delta - _exactly(self.mass(weights)))
            if missing <= 0:
                return weights
            spare = self.shares(weights)[0]
            masses = weights @ self.q
            left = spare * self.q
            into = int(np.argmax(masses if largest and masses.any() else self.top))
            if not largest and masses.any() and left.any():
                best = self.ratio[:, left > 0].max(axis=1) - self.top.max()
                with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
                    into = int(np.argmax(np.where(masses > 0, best / masses, -np.inf)))
            order = np.argsort(-self.ratio[into])
            room = left[order]
            taken = np.clip(missing * (1 + 1e-9) + 4 * U - (np.cumsum(room) - room), 0.0, room)
            weights = weights.copy()
            with np.errstate(divide="ignore", invalid="ignore"):
                part = np.where(self.q[order] > 0, taken / self.q[order], 0.0)
            weights[into, order] += np.where(taken >= room, spare[order], part)
        return weights if _exactly(self.mass(weights)) >= delta else None

    def level_below(self, weights: np.ndarray, delta: Fraction) -> tuple[float, np.ndarray] | None:
        """Return a level at which weights prove D >= delta, and those weights.

        It is that of the worst bad outcome: those of next to no mass may be left out.
        """
        masses, tried = weights @ self.q, [weights]
        little = masses <= _LITTLE * masses.sum()
        if (masses[little] > 0).any():
            tried.append(np.where(little[:, None], 0.0, weights))
        found = [self._level_of(w, delta, largest) for w in tried for largest in (True, False)]
        return max((f for f in found if f is not None), key=lambda f: f[0], default=None)

    def _level_of(
        self, weights: np.ndarray, delta: Fraction, largest: bool
    ) -> tuple[float, np.ndarray] | None:
        if not (np.isfinite(self.g_low).all() and np.isfinite(self.g_high).all()):
            return None
        topped = self.topped_up(weights, delta, largest)
        if topped is None:
            return None
        used = topped.any(axis=1)
        if not used.any():
            return None
        _, low, high = self.shares(topped)
        w = topped[used]
        g, q = self.g_low[used], self.q_high
        if self.sign > 0:
            g, q = w * (g * low), w * (q * high)
        else:
            g, q = w * (g * high), w * (self.q_low * low)
        over = sum_outward(*_nudged(g, -1))[0]
        under = sum_outward(*_nudged(q, self.sign))[0 if self.sign < 0 else 1]
        if not (under > 0).all():
            return None
        level = over / under
        level = float((level - np.abs(level) * 2 * U - TINY * (level != 0)).min())
        return level, topped

    def feasible(self, weights: np.ndarray, theta: float) -> np.ndarray:
        """Cut weights down until every secret's bad outcome is proved bad at the level.

        What is cut from an outcome that is used up would be given back as long as its shares are
        next to 1 in sum (`shares`): a little is taken from all of them, and all is proved again.
        """
        q = np.where(theta > 0, self.q_high, self.q_low)
        drop = theta * q
        gain = self.g_low - drop - 4 * U * (np.abs(self.g_low) + np.abs(drop)) - 4 * TINY
        slack = (self.cells + 8) * 2 * U
        for turn in range(_CUTS):
            spare, low, high = self.shares(weights)
            plus = np.where(gain > 0, weights * gain, 0.0) * low
            minus = np.where((gain < 0) & (weights > 0), TINY - weights * gain, 0.0) * high
            have = np.maximum(plus.sum(axis=1) * (1 - slack) - TINY, 0.0)
            owe = minus.sum(axis=1) * (1 + slack)
            short = owe > have
            if not short.any():
                return weights
            with np.errstate(divide="ignore", invalid="ignore"):
                cut = np.where(short, have / owe * (1 - 8 * U * 2**turn), 1.0)
            out = np.where(gain < 0, weights * cut[:, None], weights)
            out[:, (out != weights).any(axis=0) & (spare == 0)] *= 1 - 2 * _FULL
            weights = out
        return np.zeros(weights.shape)

    # -- figures ----------------------------------------------------------------------------------

    def value(
        self, lower: float, upper: float, *, closed: bool = True
    ) -> tuple[float, float, np.ndarray, np.ndarray]:
        """Enclose D at a level in [lower, upper], or its limit from above; with what proves it.

        Weights that are feasible at the upper end prove the lower end of D, prices at the lower
        end the upper one.
        """
        middle = lower + (upper - lower) / 2
        found = self.at(middle) if closed else self.above(middle)
        if not closed:
            upper += 1e-14 * abs(upper)
        best, weights = 0.0, np.zeros(self.g.shape)
        for w in self._candidates(found, middle):
            w = self.feasible(w, upper)
            if (mass := self.mass(w)) > best:
                best, weights = mass, w
        polished = self.prices(found.weights, middle)
        duals = [self.stretched(p, lower) for p in (found.price, polished) if p is not None]
        ends = [self.upper_end(p, lower, closed=closed) for p in duals]
        at = int(np.argmin(ends))
        return min(best, ends[at]), ends[at], weights, duals[at]

    def _candidates(self, found: Optimum, theta: float) -> list[np.ndarray]:
        out = [found.weights]
        basis = self.basis(found.weights)
        if basis is not None:
            x, y, used, full = basis
            row = np.full(self.count, -1)
            row[used] = np.arange(len(used))
            column = np.full(self.cells, -1)
            column[full] = len(used) + np.arange(len(full))
            matrix = np.zeros((len(used) + len(full), len(x)))
            place = np.arange(len(x))
            matrix[row[x], place] = self.gains(theta)[x, y] / self.q[y].max()
            tight = column[y] >= 0
            matrix[column[y[tight]], place[tight]] = 1.0
            target = np.zeros(len(matrix))
            target[len(used) :] = 1.0
            w = solved(matrix, target)
            if w is not None and np.isfinite(w).all() and w.min() > -1e-7:
                weights = np.zeros(self.g.shape)
                weights[x, y] = np.maximum(w, 0.0)
                out.append(weights)
        return out

    def level(
        self,
        delta: Fraction,
        gap: float,
        guess: tuple[float, float] = (-math.inf, math.inf),
        side: int = 0,
    ) -> EnvelopeLevel:
        """Enclose the largest theta with D(theta) >= delta, for 0 < delta <= 1.

        The search stops when the ends are within ``gap`` of each other, relatively; with a side
        when the lower end (-1), or the upper one (1), is as near to what the solver found. It looks
        between the two of a guess first.
        """
        search = _Search(self, delta, gap, guess, side)
        search.run()
        return EnvelopeLevel(search.lower, search.upper, search.weights, search.price)


class _Search:
    """The search for the level of one delta: between two jumps first, then by Newton's method."""

    def __init__(self, programme: Programme, delta: Fraction, gap: float, guess: tuple, side: int):
        self.programme, self.delta, self.mass, self.gap = programme, delta, float(delta), gap
        self.side, self.found = side, (-math.inf, math.inf)
        self.near = self.mass * (1 - 1e-11)
        self.until = max(settings.search_deadline(), settings.now() + _LEAST)  # a little, if late
        self.first = [int(k) for k in np.searchsorted(programme.jumps, guess) - [1, 0]]
        self.lower, self.upper = programme.floor, float(programme.top_high.max())
        self.weights = np.zeros(programme.g.shape)
        self.weights[0] = 1.0  # one secret, all outcomes: the level 1, or -1
        self.price = np.zeros(programme.count)

    @property
    def done(self) -> bool:
        low = self.lower if self.side <= 0 else max(self.lower, self.found[0])
        high = self.upper if self.side >= 0 else min(self.upper, self.found[1])
        return high - low <= self.gap * abs(high) < math.inf

    def run(self) -> None:
        """Narrow the ends."""
        programme, jumps = self.programme, self.programme.jumps
        low, high = -1, len(jumps)  # D at jumps[low] is at least delta, at jumps[high] it is not
        while high - low > 1:
            if settings.late(self.until):
                return
            middle = self.first.pop() if self.first else low
            if not low < middle < high:
                middle = (low + high) // 2
            if programme.at(jumps[middle]).value >= self.near:
                low = middle
            else:
                high = middle
        if low >= 0:
            here = float(jumps[low])
            self.take_weights(programme.at(here).weights)
            beyond = programme.above(here)
            if beyond.value <= self.mass * (1 + 1e-11):
                self.take_price(beyond.price, here)
                if (polished := programme.prices(beyond.weights, here)) is not None:
                    self.take_price(polished, here)
            if beyond.value < self.near:
                return  # a jump
            if self.done or high == len(jumps):
                return
            bottom = beyond
        else:
            bottom = programme.at(programme.floor)
        if high < len(jumps):
            self.between(bottom, programme.at(float(jumps[high])))

    def between(self, bottom: Optimum, top: Optimum) -> None:
        """Search a range where D is continuous, from the optima at its ends."""
        programme = self.programme
        kept = programme.top >= top.theta - NEAR * abs(top.theta)
        for known in programme._kept.values():  # other levels may have been here before
            if bottom.theta < known.theta < top.theta:
                if known.value >= self.near:
                    bottom = known
                else:
                    top = known
        met = 0
        for turn in range(2 * ROUNDS):
            self.found = bottom.theta, top.theta
            if self.done:
                return
            guesses = []
            for found in (top, bottom):
                root = programme.root(found, min(self.mass * (1 + 4 * U), 1.0))
                if root is None:
                    continue
                weights, theta = root
                if not bottom.theta <= theta <= top.theta:
                    continue
                guesses.append(theta)
                self.take_weights(weights)
                for basis in (weights, found.weights):
                    price = programme.prices(basis, theta)
                    if price is not None:
                        self.take_price(price, theta)
                    if self.done:
                        return
                # solved at the root of its own basis: what is left is not for the solver to mend
                flat = found is bottom and self.delta == 1
                if abs(theta - found.theta) <= self.gap * abs(theta) and not flat:
                    met += 1
            if met > _AGAIN or settings.late(self.until):
                break
            if top.theta - bottom.theta <= 4 * U * abs(top.theta):
                break
            theta = self.guess(bottom, top, guesses, turn)
            found = programme.optimum(theta, kept)
            if found.value >= self.near:
                bottom = found
            else:
                top = found
        self.take_weights(bottom.weights)
        for price in (top.price, bottom.price, programme.prices(top.weights, top.theta)):
            if price is not None:
                self.take_price(price, bottom.theta)

    def guess(self, bottom: Optimum, top: Optimum, guesses: list[float], turn: int) -> float:
        """Return the next level to solve at, strictly inside.

        The root of the dual at the prices of the top is never too low, and comes near in steps
        that may shorten by a constant only: every second step is doubled, every third one halves.
        """
        low, high = bottom.theta, top.theta
        inside = [g for g in guesses if low < g < high]
        if inside and turn % 3 != 2:
            return inside[0]
        self.take_price(top.price, low)
        newton = min(self.upper, high)
        # levels of PMC differ by their logarithms
        theta = high * math.sqrt(low / high) if low < high < 0 else low + (high - low) / 2
        if turn % 3 == 0 and low < newton < high:
            theta = newton
        if turn % 3 == 1 and low < 2 * newton - high < theta:
            theta = 2 * newton - high
        return theta

    def take_weights(self, weights: np.ndarray) -> None:
        """Keep a lower end if it is better."""
        proved = self.programme.level_below(weights, self.delta)
        if proved is not None and proved[0] > self.lower:
            self.lower, self.weights = min(proved[0], self.upper), proved[1]

    def take_price(self, price: np.ndarray, theta: float) -> None:
        """Keep an upper end if it is better."""
        programme = self.programme
        shut = programme.top_high[programme.top_high >= theta]
        near = shut[shut <= theta + 64 * U * abs(theta) + TINY]
        theta = float(np.nextafter(near.max(), np.inf)) if len(near) else theta
        proved = programme.level_above(price, self.delta, theta)
        if proved is not None and proved < self.upper:
            self.upper, self.price = max(proved, self.lower), price


def _exactly(value: float) -> Fraction:
    from fractions import Fraction

    return Fraction(value)


def _nudged(terms: np.ndarray, sign: int) -> Ends:
    """Widen products of two roundings, transposed for a sum along their last axis."""
    slack = np.abs(terms) * (4 * U) + TINY * (terms != 0)
    low, high = terms - slack, terms + slack
    return low, high
