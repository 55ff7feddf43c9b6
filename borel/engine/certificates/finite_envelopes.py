"""Certificates of envelopes of finite joints: shares of outcomes, and prices of secrets.

The engine's shares and prices are floats, or Fractions; what is written down is made feasible in
exact arithmetic, on the ends that the checker reads.
"""

from __future__ import annotations

import math
from contextlib import suppress
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from flint import ctx

from borel.checker import duals, tables
from borel.checker.reading import Refused
from borel.engine import engine_for
from borel.engine.certificates.finite import WHAT, claim, number, table_of
from borel.engine.envelopes.cell_enclosures import envelope_of
from borel.engine.envelopes.figures import GAP, EnvelopeThreshold, FiniteEnvelope
from borel.engine.envelopes.rational_programme import ExactProgramme
from borel.errors import NotYet

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from borel.probability.bound import Bound
    from borel.probability.joint import Joint

ZERO, ONE = Fraction(0), Fraction(1)
_FULL = 1 - Fraction(1, 10**9)
"""What is used up to this share is used up."""
_BITS = 400


def certificate(
    joint: Joint, figure: str, arguments: Mapping[str, Any], bound: Bound
) -> dict[str, Any]:
    """Return a certificate of the envelope of a finite joint, or of its inverse.

    Parameters
    ----------
    joint : Joint
        With one prior and a matrix.
    figure : str
        ``"pml.envelope"`` or ``"pml.envelope_delta"``, or those of PMC.
    arguments : mapping
        ``{"delta": number}``, or ``{"t": nats}`` or ``{"t": {"ratio": number}}``.
    bound : Bound
        ``bl.envelope(joint)(delta)``, or ``.delta(t)``.

    Raises
    ------
    NotYet
        No rule proves it, or no shares and prices that prove it were found.
    """
    kind, _, of = figure.partition(".")
    envelope = envelope_of(joint, engine_for(joint), kind) if joint.finite else None
    if figure not in duals.ENVELOPES or not isinstance(envelope, FiniteEnvelope):
        raise NotYet(WHAT, missing=f"a rule for {figure} of {joint!r}")
    proof: dict[str, Any] = {"shares": None, "prices": None}
    made = claim(table_of(joint), figure, arguments, bound, proof)
    maker = (_Level if of == "envelope" else _Mass)(made, envelope, arguments, bound)
    if bound.lower > 0:
        made["proof"]["shares"] = maker.first("shares", maker.shares())
    if bound.upper < (math.inf if of == "envelope" else 1):
        made["proof"]["prices"] = maker.first("prices", maker.prices())
    return made


class _Maker:
    """What proves the ends of one figure."""

    def __init__(self, made: Any, envelope: Any, arguments: Any, bound: Bound):
        self.checked, self.envelope, self.bound = duals.Envelope(made), envelope, bound
        self.figures = engine_for(envelope.engine.joint)
        self.rows, self.q = self.checked.rows, self.checked.table.q
        self.live: list[int] = envelope.live.tolist()
        self.exact = envelope.exact or self.middle()
        self.start(arguments)

    def start(self, arguments: Any) -> None:
        """Ask the engine for what it found."""
        raise NotImplementedError

    def middle(self) -> ExactProgramme:
        """Return the programme in Fractions of the middle of what floats mean.

        Its optima stay nearly as good for all else that they mean.
        """
        sign = self.envelope.sign
        kernel = [[sign * (row[y][0] + row[y][1]) / 2 for y in self.live] for row in self.rows]
        return ExactProgramme(sign, kernel, [(self.q[y][0] + self.q[y][1]) / 2 for y in self.live])

    def own(self) -> Any:
        """Return the shares that the Bound names, which prove its lower end; None without any."""
        named = (self.bound.witness or {}).get("post_processing")
        if named is None:
            return None
        engine = self.envelope.engine
        columns = {engine.mechanism.outcome.labels[k]: j for j, k in enumerate(self.live)}
        labels = [engine.mechanism.secret.labels[k] for k in self.envelope.support]
        found = [[ZERO] * len(self.live) for _ in labels]
        for row, label in zip(found, labels, strict=True):
            for y, share in named.get(f"x = {label!r}", ()):
                row[columns[y]] = Fraction(share)
        return found

    def proved(self, name: str) -> bool:
        """Return whether the checker takes what is in the certificate."""
        raise NotImplementedError

    def first(self, name: str, tried: Iterator[dict[str, Any]]) -> dict[str, Any]:
        """Return the first of some shares, or prices, that proves its end."""
        for made in tried:
            self.checked.proof[name] = made
            with suppress(Refused):
                if self.proved(name):
                    return made
        raise NotYet(WHAT, missing=f"{name} that prove the end of the bound")

    def table(self, weights: Any) -> list[list[Fraction]]:
        """Return weights as shares of all outcomes, exactly: what is nearly used up is."""
        found = [[ZERO] * len(self.q) for _ in self.rows]
        for x, row in enumerate(weights):
            for j, w in enumerate(row):
                found[x][self.live[j]] = max(Fraction(w), ZERO)
        for y in self.live:
            total = sum(row[y] for row in found)
            if total > _FULL:
                for row in found:
                    row[y] /= total
        return found

    def cut(self, shares: list[list[Fraction]], theta: Fraction) -> list[list[Fraction]]:
        """Cut shares until they make outcomes of the level."""
        for row, g in zip(shares, self.rows, strict=True):
            gains = [v[0] - self.drop(theta, y) for y, v in enumerate(g)]
            have: Any = sum(w * v for w, v in zip(row, gains, strict=True) if v > 0)
            owe = -sum(w * v for w, v in zip(row, gains, strict=True) if v < 0)
            if owe > have:
                for y, v in enumerate(gains):
                    row[y] *= have / owe if v < 0 else ONE
        return shares

    def written(self, theta: Fraction, shares: list[list[Fraction]]) -> dict[str, Any]:
        """Return shares as data, without those that are 0."""
        each = [[x, y, number(w)] for x, row in enumerate(shares) for y, w in enumerate(row) if w]
        return {"theta": number(theta), "shares": each}

    def priced(self, theta: Fraction, prices: Any) -> dict[str, Any]:
        """Return prices as data."""
        each = [number(v if isinstance(v, Fraction) else float(v)) for v in prices]
        return {"theta": number(theta), "prices": each}

    def drop(self, theta: Fraction, y: int) -> Fraction:
        """Return the largest theta q."""
        return max(theta * v for v in self.q[y])

    def near(self, theta: float, price: np.ndarray) -> Iterator[np.ndarray]:
        """Return prices, and prices at which clearly nothing is asked for of secrets of no use."""
        programme = self.envelope.programme
        for found in (price, programme.stretched(price, theta), self.envelope._dear(price, theta)):
            if np.isfinite(found).all():
                yield found

    def theta_of(self, ratio: Fraction) -> Fraction:
        """Return the theta of a level e^t."""
        return ratio if self.envelope.sign > 0 else -1 / ratio


def _exp(t: Any, upward: bool) -> Fraction:
    """Return a Fraction just below e^t, or just above."""
    with ctx.workprec(_BITS):
        found = tables.ball(Fraction(t)).exp()
        return tables.exact(found.upper() if upward else found.lower())


class _Level(_Maker):
    """The envelope at delta."""

    def start(self, arguments: Any) -> None:
        """Ask the engine for what it found."""
        self.delta = Fraction(arguments["delta"])
        self.alone = len(self.rows) == 1
        if not self.alone:
            self.rough = self.envelope.programme.level(self.delta, GAP)
            self.found = self.envelope._ends(self.delta)

    def proved(self, name: str) -> bool:
        """Return whether the checker takes what is in the certificate."""
        if name == "shares":
            ratio, mass = self.checked.mass_of_shares()
            return mass >= self.delta and tables.at_most(self.checked.low, tables.log(ratio))
        ratio, mass, falls = self.checked.mass_of_prices(beyond=True)
        enough = mass <= self.delta and (falls or mass < 1)
        return enough and tables.at_most(tables.log(ratio), self.checked.high)

    def shares(self) -> Iterator[dict[str, Any]]:
        """Return shares with the largest theta that they make."""
        zero = self.envelope.programme.value(0.0, 0.0)[2] if self.envelope.sign < 0 else None
        for weights in (self.own(), self.found[2], self.rough.weights, zero):
            if weights is None or len(weights) == 0:
                continue
            shares = self.table(weights)
            thetas = [
                self.largest(*pair) for pair in zip(shares, self.rows, strict=True) if any(pair[0])
            ]
            if thetas:
                yield self.written(min(thetas), shares)
        if math.isfinite(self.bound.lower):
            theta = self.theta_of(_exp(self.bound.lower, upward=True))
            found = self.exact.value(theta).weights
            if found:
                yield self.written(theta, self.cut(self.table(found), theta))

    def largest(self, row: list[Fraction], g: Any) -> Fraction:
        """Return the largest theta with sum w (g - theta q) >= 0."""
        side = 1 if self.envelope.sign > 0 else 0
        gain: Any = sum(w * v[0] for w, v in zip(row, g, strict=True))
        return gain / sum(w * q[side] for w, q in zip(row, self.q, strict=True))

    def prices(self) -> Iterator[dict[str, Any]]:
        """Return prices at the claimed level, or at that which was found."""
        high = _exp(self.bound.upper, upward=False) if self.bound.upper > 0 else ONE
        levels = [self.theta_of(max(high, ONE))]
        if self.alone:
            yield self.priced(levels[0], [ONE])
            return
        if isinstance(self.found[1], Fraction):
            levels.append(self.found[1])
        for theta in levels:
            exact, kept = self.exact, [t > theta for t in self.exact.tops]
            beyond = exact.value(theta, closed=False)
            yield self.priced(theta, beyond.price or [ZERO] * len(self.rows))
            if any(kept):
                near = float(theta) + 1e-6 * abs(float(theta))
                above = exact.floats.optimum(near, np.array(kept))
                use = exact._prices_in_use(above.weights, kept, exact.gains(theta))
                if use is not None:
                    yield self.priced(theta, use)
            for price in self.near(self.rough.upper, self.rough.price):
                yield self.priced(theta, price)
            polished = self.envelope.programme.prices(self.rough.weights, float(theta))
            for price in self.near(float(theta), polished) if polished is not None else ():
                yield self.priced(theta, price)


class _Mass(_Maker):
    """The probability at a level."""

    def start(self, arguments: Any) -> None:
        """Ask the engine for what it found."""
        t = arguments["t"]
        ratio = t.get("ratio") if isinstance(t, dict) else None
        nats = t.get("nats") if isinstance(t, dict) else t
        self.threshold = EnvelopeThreshold(
            self.envelope.sign, None if ratio is not None else nats, ratio
        )
        self.found = self.envelope._delta(self.threshold, True)
        if self.threshold.exact is not None:
            self.thetas = self.threshold.exact, self.threshold.exact
        else:
            ends = [_exp(nats, upward) for upward in (False, True)]
            self.thetas = self.theta_of(ends[0]), self.theta_of(ends[1])

    def proved(self, name: str) -> bool:
        """Return whether the checker takes what is in the certificate."""
        if name == "shares":
            return self.checked.low <= self.checked.mass_of_shares()[1]
        return self.checked.mass_of_prices(beyond=False)[1] <= self.checked.high

    def shares(self) -> Iterator[dict[str, Any]]:
        """Return shares at the level."""
        theta, upper = self.thetas[1], self.threshold.upper
        found = [self.own(), self.found[2], self.exact.value(theta).weights]
        if len(self.rows) > 1 and math.isfinite(upper):  # feasible a little above the level, too
            near = (upper + room * abs(upper) for room in (2.0**-44, 2.0**-38))
            found += [self.envelope.programme.value(self.threshold.lower, v)[2] for v in near]
        for weights in found:
            if weights is not None and len(weights) > 0:
                yield self.written(theta, self.cut(self.table(weights), theta))

    def prices(self) -> Iterator[dict[str, Any]]:
        """Return prices at the level."""
        if len(self.rows) == 1:
            yield self.priced(self.thetas[0], [Fraction(10) ** 40])
        yield self.priced(self.thetas[0], self.exact.value(self.thetas[0]).price)
        if self.found[3] is not None:
            yield self.priced(self.thetas[0], self.found[3])
            price = np.array([float(v) for v in self.found[3]])
            for near in self.near(self.threshold.lower, price):
                yield self.priced(self.thetas[0], near)
        yield self.priced(self.thetas[0], [Fraction(10) ** 40] * len(self.rows))
