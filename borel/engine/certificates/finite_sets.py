"""Certificates of figures over sets of priors on finitely many secrets: multipliers and members."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from borel.checker import duals, tables
from borel.engine.certificates.finite import WHAT, claim, law, number, table
from borel.engine.certificates.finite import matrix as matrix_of
from borel.engine.certificates.finite import names as names_of
from borel.engine.prior_sets import linear_programme
from borel.engine.prior_sets.finite_figures import FiniteSetEngine
from borel.errors import NotYet

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from borel.probability.bound import Bound
    from borel.probability.joint import Joint

ZERO, ONE = Fraction(0), Fraction(1)
Values = list[Fraction]


def certificate(
    joint: Joint, figure: str, arguments: Mapping[str, Any], bound: Bound
) -> dict[str, Any]:
    """Return a certificate of a figure over a set of priors on finitely many secrets.

    Parameters
    ----------
    joint : Joint
        ``prior_set * mech``, with a matrix.
    figure : str
        ``"pml.at"``, ``"pml.sup"``, those of PMC, ``"ldp"`` or ``"lip"``.
    arguments : mapping
        Of the figure: the outcome ``y`` of one at an outcome.
    bound : Bound
        The figure; its ends are the claim.

    Raises
    ------
    NotYet
        No rule of the checker proves such a figure, or over such a set.
    """
    prior_set, mechanism = joint.prior, joint.mechanism
    known = hasattr(prior_set, "described") and mechanism.finite and figure in duals.SUPREMA
    if not known:
        raise NotYet(WHAT, missing=f"a rule for {figure} over {prior_set!r}")
    secret = prior_set.on
    maker = _Maker(prior_set)
    # as the checker reads it
    data: dict[str, Any] = {"secret": names_of(secret), "outcome": names_of(mechanism.outcome)}
    k = tables.kernel({**data, "matrix": matrix_of(mechanism, secret)}, "joint")[2]
    columns = [[[row[e][y] for row in k] for e in (0, 1)] for y in range(len(data["outcome"]))]
    kinds = ("pml", "pmc") if figure == "lip" else (figure.partition(".")[0],)
    chosen = range(len(columns))
    if figure.endswith(".at"):
        chosen = [int(mechanism.outcome.positions(arguments["y"]))]
    rows, witness = None, None
    if bound.upper < np.inf:
        rows = {kind: [maker.row(kind, *columns[y]) for y in chosen] for kind in kinds}
    if bound.lower > 0:
        kind, y = _worst(joint, kinds, chosen)
        witness = {"kind": kind, "y": data["outcome"][y]}
        low, high = columns[y]
        witness |= maker.witness(kind, low, high, data["secret"])
    proof: dict[str, Any] = {"rows": rows, "witness": witness}
    if maker.never:
        proof["never"] = [[data["secret"][x], given] for x, given in maker.never.items()]
    return claim(table(mechanism, secret, priors=maker.data), figure, arguments, bound, proof)


def expectation(prior_set: Any, figure: str, f: Sequence[Any], bound: Bound) -> dict[str, Any]:
    """Return a certificate of ``"expectation.lower"`` or ``"expectation.upper"``.

    Parameters
    ----------
    prior_set : PriorSet
        On a finite alphabet.
    figure : str
        Which of the two.
    f : sequence of numbers
        The values of the function, in the order of the labels; floats mean their binary64 values.
    bound : Bound
        ``prior_set.lower(f)``, or ``upper``.
    """
    from borel.probability.mechanism import Mechanism

    if prior_set.on.kind != "finite":
        raise NotYet(WHAT, missing=f"a rule for expectations on {prior_set.on!r}")
    sign = 1 if figure == "expectation.lower" else -1
    maker = _Maker(prior_set)
    v = [sign * Fraction(value) for value in f]
    proof = {"multiplier": maker.multiplier(v), "member": maker.member(v)[0]}
    one = np.array([[ONE]] * len(v), dtype=object)
    nothing = Mechanism.from_matrix(one, secret=prior_set.on)  # the checker reads the labels of it
    about = table(nothing, prior_set.on, priors=maker.data)
    return claim(about, figure, {"f": list(f)}, bound, proof)


def _worst(joint: Joint, kinds: Sequence[str], chosen: Sequence[int]) -> tuple[str, int]:
    """Return which leakage is largest, and at which outcome, as the engine found it."""
    engine = FiniteSetEngine(joint)
    lower = {kind: engine.columns(kind).lower for kind in kinds}
    return max(((kind, y) for kind in kinds for y in chosen), key=lambda p: lower[p[0]][p[1]])


def _written(value: Any) -> str:
    return number(value if isinstance(value, Fraction) else float(value))


def described(prior_set: Any) -> dict[str, Any]:
    """Return a set of priors as data."""
    known = prior_set.described() if prior_set.on.kind == "finite" else None
    kind = known and known["kind"]
    if kind not in (*duals.SETS, "band") or not prior_set.convex:
        raise NotYet(WHAT, missing=f"a rule for {prior_set!r}")
    if kind == "full_support":
        return {"kind": kind}
    if kind == "hull":  # a ball of no size is one, too
        corners = getattr(prior_set, "corners", None) or [prior_set.centre]
        return {"kind": kind, "members": [law(m.probabilities, m.rounding) for m in corners]}
    if kind == "band":
        low, high = ([_written(v) for v in end] for end in prior_set.ends)
        return {"kind": "box", "lower": low, "upper": high, "open": prior_set.open}
    if kind != "linear":
        centre = law(prior_set.centre.probabilities, prior_set.centre.rounding)
        return {"kind": kind, "centre": centre, "size": number(prior_set.size)}
    rules: Any = prior_set.rules
    written = [
        [[[_written(v) for v in row], _written(end)] for row, end in zip(rows, ends, strict=True)]
        for rows, ends in ((rules.at_most, rules.limits), (rules.equal, rules.values))
    ]
    about = {"at_most": written[0], "equal": written[1]}
    return {"kind": kind, "width": rules.width, **about}


class _Maker:
    """What proves figures over one set, for functions v of the secret given as Fractions."""

    def __init__(self, prior_set: Any):
        self.set, self.data = prior_set, described(prior_set)
        self.count = prior_set.on.size
        self.of: Any = duals.priors(self.data, self.count)
        self.kind = self.data["kind"]
        self.never = self._never() if self.kind == "linear" else {}
        self.possible = [x for x in self.of.possible if x not in self.never]

    def _never(self) -> dict[int, Any]:
        """Return the secrets that no member charges, with what proves it."""
        found = {}
        for x in np.flatnonzero(~self.set.reach[1]).tolist():
            v = [-ONE if j == x else ZERO for j in range(self.count)]
            given = self._weights(v)
            if duals.lower_expectation(self.of, v, given, "") >= 0:
                found[x] = given
        return found

    def row(self, kind: str, low: Values, high: Values) -> Any:
        """Return the multiplier for one outcome, whose entries have these ends."""
        top, bottom = max(high[x] for x in self.possible), min(low[x] for x in self.possible)
        if kind == "ldp" or top == 0:
            return None
        values = low if kind == "pml" else [-v for v in high]
        away = top if kind == "pml" else -bottom
        return self.multiplier([v if x in self.possible else away for x, v in enumerate(values)])

    def witness(self, kind: str, low: Values, high: Values, labels: list[str]) -> dict[str, Any]:
        """Return secrets, and members, that leak as much at one outcome."""
        top = max(self.possible, key=lambda x: low[x])
        bottom = min(self.possible, key=lambda x: high[x])
        xs = {"pml": [top], "pmc": [bottom], "ldp": [top, bottom]}[kind]
        values = high if kind == "pml" else [-v for v in low]
        away = max(values)
        values = [v if x in self.possible else away for x, v in enumerate(values)]
        q, ends = self.member(values)
        charging = [self.charging(x) for x in xs if ends[x] == 0]
        if not charging and getattr(self.of, "open", False):
            charging = [self.charging(x) for x in xs]  # q is a limit of members
        if kind == "ldp" and charging:
            charging = [self.charging(x) for x in xs]
        return {"x": [labels[x] for x in xs], "member": q, "charging": charging}

    # -- multipliers ------------------------------------------------------------------------------

    def multiplier(self, v: Values) -> Any:
        """Return what the dual of the set takes, in the words of the checker."""
        if self.of.multiplier is None:
            return {}
        if self.kind == "linear":
            return self._weights(v)
        return {"t": number(self._level(v))}

    def _level(self, v: Values) -> Fraction:
        """Return the value at which a greedy filling of a box, or a removal of mass r, stops."""
        if self.kind == "box":
            order, left = sorted(range(self.count), key=lambda x: v[x]), 1 - sum(self.of.low[0])
            room = [b - a for a, b in zip(self.of.low[0], self.of.high, strict=True)]
        else:
            order, left = sorted(range(self.count), key=lambda x: -v[x]), self.of.size
            room = self.of.p[0]
        for x in order:
            left -= room[x]
            if left <= 0:
                return v[x]
        return v[order[-1]]

    def _weights(self, v: Values) -> Any:
        """Return the multipliers of the constraints, of a solver or of the vertex near them."""
        rules = self.set.rules
        scale = max(max(map(abs, v)), Fraction(1, 2**1000))
        cost = [*(value / scale for value in v), *[ZERO] * (rules.width - self.count)]
        found = linear_programme._solve(np.array(cost, float), rules)
        if found.status != 0:
            return None
        rough = [
            Fraction(w)
            for part in linear_programme._multipliers(rules, found)
            for w in part.tolist()
        ]
        tried = [w for w in (linear_programme._basic(cost, rules, rough), rough) if w is not None]
        best = max(tried, key=lambda w: self.of.least(v, [scale * a for a in w]))
        return {"weights": [number(scale * w) for w in best]}

    # -- members ----------------------------------------------------------------------------------

    def member(self, v: Values) -> tuple[list[str], Values]:
        """Return a member, or a limit of members, of nearly the least mean; and what it charges."""
        if self.kind == "hull":
            means = [duals.total(high, v) for _, high in self.of.laws]
            best = means.index(min(means))
            shares = [Fraction(int(i == best)) for i in range(len(means))]
            return [number(s) for s in shares], self.of.laws[best][0]
        if self.kind == "linear":
            q = linear_programme.corner(np.array([float(value) for value in v]), self.set.rules, [])
            if q is None:
                raise NotYet(WHAT, missing="a member of the set that is proved to be one")
            return [number(a) for a in q], q
        q = self._extreme_tv(v) if self.kind == "tv" else self._extreme_box(v)
        if not self.of.holds(q, closed=True):
            raise NotYet(WHAT, missing="a member of the set that is proved to be one")
        return [number(a) for a in q], q

    def _extreme_box(self, v: Values) -> Values:
        q = list(self.of.low[1])
        left = 1 - sum(q)
        for x in sorted(range(self.count), key=lambda x: v[x]):
            more = min(self.of.high[x] - q[x], left)
            q[x], left = q[x] + more, left - more
        return q

    def _extreme_tv(self, v: Values) -> Values:
        q, least = list(self.of.p[0]), min(range(self.count), key=lambda x: v[x])
        left = max(self.of.size - (1 - sum(q)), ZERO)  # the rest of the centre is taken there too
        for x in sorted(range(self.count), key=lambda x: -v[x]):
            gone = min(q[x], left) if x != least else ZERO
            q[x], left = q[x] - gone, left - gone
        q[least] += 1 - sum(q)
        return q

    def _inner(self) -> Values:
        """Return a law inside the set."""
        if self.kind == "tv":
            low = self.of.p[0]
            return [a / sum(low) for a in low]
        low = self.of.low[1]
        room = [b - a for a, b in zip(low, self.of.high, strict=True)]
        share = (1 - sum(low)) / sum(room) if any(room) else ZERO
        return [a + r * share for a, r in zip(low, room, strict=True)]

    def charging(self, x: int) -> list[str]:
        """Return a member that charges a secret."""
        if self.kind == "hull":
            return [number(Fraction(1, len(self.of.laws)))] * len(self.of.laws)
        if self.kind == "linear":
            found = linear_programme.corner(
                np.array([-float(j == x) for j in range(self.count)]), self.set.rules, [x]
            )
            if found is None or found[x] == 0:
                raise NotYet(WHAT, missing="a member that charges a secret")
            return [number(a) for a in found]
        inner = self._inner()
        if inner[x] > 0:
            return [number(a) for a in inner]
        for power in range(1, 200):
            share = Fraction(1, 2**power)
            q = [a * (1 - share) + (share if j == x else 0) for j, a in enumerate(inner)]
            if self.of.holds(q, closed=False):
                return [number(a) for a in q]
        raise NotYet(WHAT, missing="a member that charges a secret")
