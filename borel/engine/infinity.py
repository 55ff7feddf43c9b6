"""Proofs that a leakage is infinite: a search for rays, and the arguments that they complete.

A search of finitely many boxes never proves a divergence. Along a ``ray``, y and x are functions of
t, and power-scaled intervals (`power`) enclose the kernel for every t in (0, t0] at once. Five
arguments turn such an enclosure into a proof; none needs f_Y to be known along the ray:

``mass``
    E e^PML is the integral of ess sup_x f(y|x) over y. If that diverges, PML is not essentially
    bounded: f >= c t^A on sets of positive mass, with A <= -1 as y goes to a point (dy = dt), or
    A <= 1 as y = 1/t goes to infinity (dy = dt / t^2; on integers the sum diverges likewise). On
    countable Y this is the lemma that f_Y(m) sums to 1 while ess sup_x f(m|x) does not.
``ratio``
    PML: f >= c t^A while f_Y <= C t^B with B > A, f_Y bounded by the prior's mass on boxes. PMC:
    f <= C t^A on sets of positive mass while f >= c t^B on one such set, A > B.
``slope``
    log f(y|x) has a slope in x, of one sign on the whole interval of the secret, that tends to
    infinity with t -> 0. Then f_Y(y) / sup_x f(y|x) tends to 0 and f_Y(y) / inf_x f(y|x) to
    infinity, as a prior without atoms puts next to no mass beside either end.
``zero``
    The kernel is 0 on a box of outcomes and secrets of positive mass, and positive on another box
    of secrets for the same outcomes: PMC is infinite.

A ``ratio`` with y in a box (or at one outcome) proves an infinity at every outcome of it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from itertools import pairwise
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from borel.engine import rewrite
from borel.engine.power import Log, Power, PowerProgram, exponent, ray, slack, weight
from borel.engine.surface import Secret, log_graph

if TYPE_CHECKING:
    from collections.abc import Iterator

    from borel.engine.certified_laws import CertifiedOutcomes
    from borel.engine.trace import Graph

_STARTS = (2.0**-10, 2.0**-30)
_SPREADS = ((0.25, 0.75), (1.0, 1.5), (1.0, 1.0625), (0.9375, 1.0))
_POWERS = (1.0, 0.5, 2.0)


@dataclass(frozen=True)
class Proof:
    """A proved infinity.

    Attributes
    ----------
    statement : str
        The argument in a sentence.
    witness : dict
        Where: the ray of outcomes and of secrets.
    certificate : dict
        What a checker needs.
    attained : bool or None
        Whether the leakage is infinite at outcomes of positive mass, or only grows.
    """

    statement: str
    witness: dict
    certificate: dict | None
    attained: bool | None = None


@dataclass(frozen=True)
class _Ray:
    """A function of t, as an input of the power interpreter, in words and in data."""

    value: Power
    words: str
    data: dict = field(default_factory=dict)
    diagonal: bool = False


def prove(engine: CertifiedOutcomes, kind: str, ends: list[tuple[float, float]]) -> Proof | None:
    """Search for a proof that the supremum of a leakage over the outcomes is infinite.

    Parameters
    ----------
    engine : CertifiedOutcomes
        The joint.
    kind : {"pml", "pmc", "ldp"}
        Which leakage; the LDP ratio is at least as large as the others.
    ends : list of pairs
        Boxes of outcomes on which no bound from above was found.
    """
    search = _Search(engine)
    for kind_ in ("pmc", "pml") if kind == "ldp" else (kind,):
        found = search.over_outcomes(kind_, ends)
        if found is not None:
            return found
    return None


def prove_countable(engine: Any, kind: str) -> Proof | None:
    """Search for a proof over countable outcomes: y runs through the integers towards an end."""
    outcome, density = engine.joint.outcome, engine.joint.mechanism.density
    if outcome.kind != "countable" or density is None or density.graph is None:
        return None
    lower = -math.inf if outcome.lower is None else float(outcome.lower)
    upper = math.inf if outcome.upper is None else float(outcome.upper)
    secret = getattr(engine, "secret", None)
    if secret is None:  # a countable secret: a few points of positive mass, and x = y + k
        secret = _countable_secret(engine.joint.prior)
    surface = getattr(engine, "surface", None)
    if surface is None:
        graph = log_graph(density)
        surface = SimpleNamespace(graph=graph, needs_y="y" in graph.inputs)
    view = SimpleNamespace(
        joint=engine.joint,
        secret=secret,
        surface=surface,
        line=SimpleNamespace(lower=lower, upper=upper),
    )
    search = _Search(view)  # type: ignore[arg-type]
    for t0 in _STARTS:
        for y in search._outcomes([]):
            if "infinity" in y.data:
                found = search._slope(y, t0) or search._along(kind, y, t0)
                if found is not None:
                    return found
    return None


def _countable_secret(prior: Any) -> Secret:
    """Return the first points of a countable prior that certainly have positive mass."""
    from borel.engine import interval
    from borel.measures import head_of

    none = np.zeros(0)
    out = Secret(("x",), none, none)
    if prior.density is None or prior.density.graph is None:
        return out
    points = head_of(prior.on, 64).astype(float)
    low, high = interval.evaluate(log_graph(prior.density), {"x": (points, points)})
    sure = low > -math.inf
    out.atoms, out.weight_low = (
        points[sure][:, None],
        np.exp(np.minimum(low[sure], 0.0)) * (1 - 1e-12),
    )
    out.weight_high = np.minimum(np.exp(np.minimum(high[sure], 0.0)) * (1 + 1e-12), 1.0)
    out.__dict__["along_y"] = _positive_along(prior)
    return out


def _leads_inside(place: float, sign: int, low: float, high: float) -> bool:
    """Return whether points beside a place, on one side, lie in an interval."""
    return low <= place < high if sign > 0 else low < place <= high


def _positive_along(prior: Any) -> bool:
    """Return whether p(m + k) > 0 for all large m: log p is a power or a logarithm there."""
    on = prior.on
    if on.dim > 1 or on.kind != "countable" or on.upper is not None or (on.lower or 0) > 512:
        return False
    if (prior.family or ("",))[0] in ("poisson", "geometric"):
        return True
    program = PowerProgram(log_graph(prior.density))
    value = program.run({"x": ray(0.0, -1.0, 1.0, 1.0)}, min(_STARTS))
    if isinstance(value, Log):
        return math.isfinite(weight(value)[0])
    return isinstance(value, Power) and math.isfinite(weight(value)[0])


def prove_at(engine: CertifiedOutcomes, kind: str, y: float) -> Proof | None:
    """Search for a proof that the leakage at one outcome is infinite."""
    search = _Search(engine)
    at = _Ray(slack(y, y), f"y = {y!r}", {"box": [y.hex(), y.hex()]})
    for kind_ in ("pmc", "pml") if kind == "ldp" else (kind,):
        found = search.in_secret_alone(kind_, at)
        if found is not None:
            return found
    return None


class _Search:
    """The candidates for rays, tried one after the other."""

    def __init__(self, engine: CertifiedOutcomes):
        self.engine, self.secret = engine, engine.secret
        self.graph: Graph = engine.surface.graph
        self.log = PowerProgram(self.graph)
        self.line = engine.line
        density = engine.joint.mechanism.density
        self.linear = PowerProgram(
            rewrite.linear_of(self.graph) if density.log else rewrite.simplified(density.graph)
        )
        self.along: PowerProgram | None = None
        self.linear_along: PowerProgram | None = None
        if self.secret.dim == 1 and engine.surface.needs_y:
            self.along = PowerProgram(rewrite.diagonal(self.graph)[0])
            self.linear_along = PowerProgram(rewrite.diagonal(self.linear.graph)[0])

    # -- rays -------------------------------------------------------------------------------

    def _outcomes(self, ends: list[tuple[float, float]]) -> Iterator[_Ray]:
        """Yield rays of outcomes towards the places where boxes without a bound cluster."""
        seen: set[tuple[float, int]] = set()
        marks = [float(v) for v in (*self.secret.lower, *self.secret.upper)]
        first = [(self.line.lower, self.line.upper), *((m, m) for m in marks if math.isfinite(m))]
        for low, high in (*first, *ends[:12]):
            for place, sign in ((low, 1), (high, -1), (low, -1), (high, 1)):
                key = (place, sign)
                if key in seen:
                    continue
                seen.add(key)
                if math.isinf(place):
                    if (place > 0) == (sign < 0):
                        up = 1 if place > 0 else -1
                        yield _Ray(
                            ray(0.0, -1.0, up, up),
                            f"y = {'' if up > 0 else '-'}1/t",
                            {"infinity": up},
                        )
                elif _leads_inside(place, sign, self.line.lower, self.line.upper):
                    words = f"y = {place:g} {'+' if sign > 0 else '-'} t"
                    data = {"base": float(place).hex(), "sign": sign}
                    yield _Ray(ray(place, 1.0, sign, sign), words, data)

    def _secrets(self, y: _Ray) -> Iterator[_Ray]:
        """Yield sets of secrets of positive mass: fixed ones, and ones that move with t."""
        secret = self.secret
        for k, atom in enumerate(secret.atoms[:64]):
            if secret.weight_low[k] > 0:
                x = float(atom[0])
                yield _Ray(slack(x, x), f"x = {x:g}", {"atom": x.hex()})
        if not secret.continuous:
            if secret.__dict__.get("along_y") and y.data.get("infinity") == 1:
                for k in (0.0, 1.0, -1.0):
                    data = {"diagonal": True, "power": (0.0).hex(), "s": [k.hex(), k.hex()]}
                    yield _Ray(
                        slack(k, k), f"x = y {'+' if k >= 0 else '-'} {abs(k):g}", data, True
                    )
            return
        for a, b in self.boxes():
            if self._has_mass(a, b):
                yield _Ray(slack(a, b), f"x in ({a:g}, {b:g})", {"box": [a.hex(), b.hex()]})
        low, high = float(secret.lower[0]), float(secret.upper[0])
        corners = {(low, 1), (high, -1)}
        base = y.data.get("base")
        if base is not None:
            place = float.fromhex(base)
            corners |= {(place, s) for s in (1, -1) if _leads_inside(place, s, low, high)}
        for place, sign in sorted(corners):
            if math.isinf(place):
                way = 1 if place > 0 else -1
                for p in _POWERS:
                    for s in _SPREADS[:2]:
                        ends = sorted((way * s[0], way * s[1]))
                        yield _Ray(
                            ray(0.0, -p, *ends),
                            f"x = {'' if way > 0 else '-'}s t^-{p:g}, s in {s}",
                            {"infinity": way, "power": p.hex(), "s": [v.hex() for v in s]},
                        )
                continue
            for p in _POWERS:
                for s in _SPREADS:
                    ends = sorted((sign * s[0], sign * s[1]))
                    words = f"x = {place:g} {'+' if sign > 0 else '-'} s t^{p:g}, s in {s}"
                    data = {
                        "base": place.hex(),
                        "sign": sign,
                        "power": p.hex(),
                        "s": [v.hex() for v in s],
                    }
                    yield _Ray(ray(place, p, *ends), words, data)
        if self.along is None or "box" in y.data:
            return
        for p, spread in ((0.0, 0.5), (1.0, 0.5), (0.0, 2.0**-10), (1.0, 2.0**-10)):
            for sign in (1, -1):
                ends = sorted((sign * spread / 2, sign * spread))
                value = slack(*ends) if p == 0 else ray(0.0, p, *ends)
                data = {
                    "diagonal": True,
                    "power": p.hex(),
                    "s": [float(v).hex() for v in ends],
                }
                yield _Ray(value, f"x = y + s t^{p:g}, s in {tuple(ends)}", data, diagonal=True)

    def boxes(self) -> list[tuple[float, float]]:
        """Cut the interval of the secret into a few boxes; half-lines are cut off."""
        secret = self.secret
        low, high = float(secret.lower[0]), float(secret.upper[0])
        a = low if math.isfinite(low) else (high - 8.0 if math.isfinite(high) else -8.0)
        b = high if math.isfinite(high) else (low + 8.0 if math.isfinite(low) else 8.0)
        cuts = sorted({*np.linspace(a, b, 9).tolist(), *(c for c in secret.breaks if a < c < b)})
        return [(float(p), float(q)) for p, q in pairwise(cuts)]

    def _has_mass(self, a: float, b: float) -> bool:
        """Return whether a box of secrets certainly has positive mass."""
        from borel.engine.bands import _charged

        return bool(_charged(self.engine.surface, np.array([a]), np.array([b]))[0])

    def _charged(self, y: _Ray, x: _Ray, t0: float) -> bool:
        """Return whether the secrets of a ray are secrets, of positive density, for all t."""
        if "atom" in x.data or "box" in x.data:
            return True  # chosen so
        secret = self.secret
        if not secret.continuous:
            return True  # the points y + k of a countable prior that charges them
        low, high = float(secret.lower[0]), float(secret.upper[0])
        from borel.engine.power import range_of

        if x.diagonal:
            reach = range_of(y.value, t0)
            step = range_of(x.value, t0)
            ends = reach[0] + step[0], reach[1] + step[1]
        else:
            ends = range_of(x.value, t0)
        above, below = ends[0] >= low, ends[1] <= high
        base = x.data.get("base")
        if base is not None:  # at a corner only the other end has to be checked
            above |= float.fromhex(base) == low and x.data["sign"] > 0
            below |= float.fromhex(base) == high and x.data["sign"] < 0
        return above and below and secret.positive

    def _kernel(self, y: _Ray, x: _Ray, t0: float) -> _Orders:
        """Bound f along a pair of rays, from its logarithm and from the density itself."""
        name = self.secret.names[0]
        named = {name: x.value, "y": y.value}
        if x.diagonal:
            named = {"offset": x.value, "y": y.value}
        least, most = None, None
        for program, along, read in (
            (self.log, self.along, _of_log),
            (self.linear, self.linear_along, _of_linear),
        ):
            chosen = along if x.diagonal else program
            if chosen is None:
                continue
            value = chosen.run({k: v for k, v in named.items() if k in chosen.graph.inputs}, t0)
            found = read(value, t0)
            least = _better(least, found.least, -1)
            most = _better(most, found.most, 1)
        return _Orders(least, most)

    # -- arguments --------------------------------------------------------------------------

    def over_outcomes(self, kind: str, ends: list[tuple[float, float]]) -> Proof | None:
        """Try every argument along every ray of outcomes."""
        if self.secret.dim > 1:
            return None
        if kind == "pmc":
            for y in self._patches():
                found = self.in_secret_alone(kind, y)
                if found is not None:
                    return found
        rays = list(self._outcomes(ends))
        for t0 in _STARTS:
            for y in rays:
                found = self._slope(y, t0)
                if found is not None:
                    return found
            for y in rays:
                found = self._along(kind, y, t0)
                if found is not None:
                    return found
        return None

    def _patches(self) -> Iterator[_Ray]:
        """Yield boxes of outcomes of positive length, for divergences in the secret alone."""
        low, high = self.line.lower, self.line.upper
        marks = [m for m in (low, high, *self.engine.joint.mechanism.breaks) if math.isfinite(m)]
        marks += [float(v) for v in (*self.secret.lower, *self.secret.upper) if math.isfinite(v)]
        marks = sorted({m for m in marks if low <= m <= high}) or [0.0]
        for m in marks:
            for a, b in (
                (m + 0.125, m + 0.25),
                (m - 0.25, m - 0.125),
                (m + 2.0, m + 2.125),
                (m - 2.125, m - 2.0),
            ):
                if low <= a and b <= high:
                    data = {"box": [float(a).hex(), float(b).hex()]}
                    yield _Ray(slack(a, b), f"y in ({a:g}, {b:g})", data)

    def in_secret_alone(self, kind: str, y: _Ray) -> Proof | None:
        """Prove an infinity at every outcome of a box: the kernel diverges in the secret alone."""
        if self.secret.dim > 1:
            return None
        if kind == "pmc" and self.secret.continuous:
            found = self._zero(y)
            if found is not None:
                return found
        for t0 in _STARTS:
            for x in self._secrets(y):
                if "box" in x.data or "atom" in x.data or not self._charged(y, x, t0):
                    continue
                found = self._ratio(kind, y, x, t0, self._kernel(y, x, t0))
                if found is not None:
                    return found
        return None

    def _along(self, kind: str, y: _Ray, t0: float) -> Proof | None:
        for x in self._secrets(y):
            if not self._charged(y, x, t0):
                continue
            value = self._kernel(y, x, t0)
            if kind == "pml":
                found = self._mass(y, x, t0, value)
                if found is not None:
                    return found
            found = self._ratio(kind, y, x, t0, value)
            if found is not None:
                return found
        return None

    def _proof(self, kind: str, argument: dict, y: _Ray, x: _Ray | None, words: str, attained=None):
        from borel.engine.certificates import infinite

        where = {"y": y.words, **({} if x is None else {"x": x.words})}
        return Proof(words, where, infinite(self.engine, kind, argument), attained)

    def _mass(self, y: _Ray, x: _Ray, t0: float, value: _Orders) -> Proof | None:
        """E e^PML diverges."""
        bound = value.least
        if bound is None or "box" in y.data:
            return None
        limit = 1.0 if "infinity" in y.data else -1.0
        if not bound[0] <= limit:
            return None
        argument = {
            "kind": "mass",
            "y": y.data,
            "x": x.data,
            "t0": t0.hex(),
            "exponent": bound[0].hex(),
            "weight": bound[1].hex(),
        }
        words = (
            f"PML is unbounded: along {y.words}, {x.words}, f(y|x) >= "
            f"{math.exp(min(bound[1], 700)):.4g} t^{bound[0]:g} for all t <= {t0:g}, "
            "so that E e^PML is infinite"
        )
        return self._proof("pml", argument, y, x, words, False)

    def _ratio(self, kind: str, y: _Ray, x: _Ray, t0: float, value: _Orders) -> Proof | None:
        """Compare the orders of the kernel and of f_Y along the ray."""
        if kind == "pml":
            bound = value.least
            if bound is None or len(self.secret.atoms):
                return None
            other = self._marginal_at_most(y, t0)
            if other is None or not bound[0] < other[0]:
                return None
        else:
            bound = value.most
            if bound is None:
                return None
            other = self._marginal_at_least(y, t0, bound[0])
            if other is None or not bound[0] > other[0]:
                return None
        argument = {
            "kind": "ratio",
            "y": y.data,
            "x": x.data,
            "t0": t0.hex(),
            "exponent": bound[0].hex(),
            "weight": bound[1].hex(),
            "marginal": {
                "boxes": other[2],
                "exponent": other[0].hex(),
                "weight": other[1].hex(),
            },
        }
        sign, other_sign = (">=", "<=") if kind == "pml" else ("<=", ">=")
        words = (
            f"{kind.upper()} is infinite: along {y.words}, {x.words}, f(y|x) {sign} "
            f"c t^{bound[0]:g} while f_Y(y) {other_sign} C t^{other[0]:g}, for all t <= {t0:g}"
        )
        return self._proof(kind, argument, y, x, words, "box" in y.data)

    def _marginal_at_most(self, y: _Ray, t0: float) -> tuple[float, float, list] | None:
        """Bound f_Y <= e^W t^B by the kernel on boxes that cover the secrets."""
        worst, height = math.inf, -math.inf
        pieces = self.boxes()
        low, high = float(self.secret.lower[0]), float(self.secret.upper[0])
        if not (math.isfinite(low) and math.isfinite(high)):
            return None
        for a, b in pieces:
            bound = self._kernel(y, _Ray(slack(a, b), "", {"box": []}), t0).most
            if bound is None:
                return None
            worst, height = min(worst, bound[0]), max(height, bound[1])
        return worst, height, [[a.hex(), b.hex()] for a, b in pieces]

    def _marginal_at_least(
        self, y: _Ray, t0: float, than: float
    ) -> tuple[float, float, list] | None:
        """Bound f_Y >= P e^W t^B by the kernel on one box (or atom) of positive mass."""
        best: tuple[float, float, list] | None = None
        for k, atom in enumerate(self.secret.atoms[:64]):
            if self.secret.weight_low[k] > 0:
                x = float(atom[0])
                bound = self._kernel(y, _Ray(slack(x, x), "", {"atom": ""}), t0).least
                if bound is not None and (best is None or bound[0] < best[0]):
                    best = (bound[0], bound[1], [[x.hex(), x.hex()]])
        if self.secret.continuous:
            for a, b in self.boxes():
                if not self._has_mass(a, b):
                    continue
                bound = self._kernel(y, _Ray(slack(a, b), "", {"box": []}), t0).least
                if bound is not None and (best is None or bound[0] < best[0]):
                    best = (bound[0], bound[1], [[a.hex(), b.hex()]])
        return best

    def _slope(self, y: _Ray, t0: float) -> Proof | None:
        """Find a log-kernel that is steeper and steeper in the secret, in one direction."""
        secret = self.secret
        if not secret.continuous or len(secret.atoms) or not secret.positive:
            return None
        low, high = float(secret.lower[0]), float(secret.upper[0])
        if not (math.isfinite(low) and math.isfinite(high)) or not self.engine.surface.needs_y:
            return None
        named = {"y": y.value, secret.names[0]: slack(low, high)}
        _, slope = self.log.run(named, t0, derivative=secret.names[0])
        if not isinstance(slope, Power) or slope.base != 0:
            return None
        a, w = exponent(slope), weight(slope)
        if not a[1] < 0 or not (w[0] > 0 or w[1] < 0):
            return None
        sign = 1 if w[0] > 0 else -1
        size = w[0] if sign > 0 else -w[1]
        argument = {
            "kind": "slope",
            "y": y.data,
            "t0": t0.hex(),
            "sign": sign,
            "exponent": a[1].hex(),
            "weight": _log(size, -1).hex(),
        }
        words = (
            f"PML and PMC are unbounded: along {y.words}, the slope of log f(y|x) in x is at "
            f"{'least' if sign > 0 else 'most'} {sign * size:.4g} t^{a[1]:g} for all secrets and "
            f"all t <= {t0:g}"
        )
        return self._proof("pml", argument, y, None, words, False)

    def _zero(self, y: _Ray) -> Proof | None:
        """Find a box on which the kernel vanishes, and one beside it where it is positive."""
        ends = [float.fromhex(v) for v in y.data.get("box", [])]
        if not ends or not ends[0] < ends[1]:
            return None
        from borel.engine import jet
        from borel.engine.surface import boxes

        cuts = [p for p in self.boxes() if self._has_mass(*p)]
        if not cuts:
            return None
        a, b = (np.array(v)[:, None] for v in zip(*cuts, strict=True))
        n = len(cuts)
        named = self.engine.surface.inputs(
            boxes(a, b, 0, 1), (np.full((1, n), ends[0]), np.full((1, n), ends[1]))
        )
        value = jet.entry(self.engine.surface.log.run(named, 1).jet, 0)
        low, high = (np.broadcast_to(v, n) for v in value)
        dead, alive = np.flatnonzero(np.isneginf(high)), np.flatnonzero(low > -math.inf)
        if not len(dead) or not len(alive):
            return None
        c, e = cuts[int(dead[0])], cuts[int(alive[0])]
        zero, least = 0.0, float(low[int(alive[0])])
        argument = {
            "kind": "ratio",
            "y": y.data,
            "x": {"box": [v.hex() for v in c]},
            "t0": (1.0).hex(),
            "exponent": zero.hex(),
            "weight": (-math.inf).hex(),
            "marginal": {
                "boxes": [[v.hex() for v in e]],
                "exponent": zero.hex(),
                "weight": least.hex(),
            },
        }
        words = (
            f"PMC is infinite: f(y|x) is 0 for {y.words} and x in ({c[0]:g}, {c[1]:g}), a set of "
            f"positive mass, and positive for x in ({e[0]:g}, {e[1]:g})"
        )
        x = _Ray(slack(*c), f"x in ({c[0]:g}, {c[1]:g})")
        return self._proof("pmc", argument, y, x, words, True)


class _Orders(NamedTuple):
    """Bounds f >= e^w t^A and f <= e^w t^A for all t, as pairs (A, w)."""

    least: tuple[float, float] | None
    most: tuple[float, float] | None


def _better(first, second, sign: int):
    """Return the bound with the better exponent: the smaller for one from below."""
    if first is None or second is None:
        return second if first is None else first
    return first if sign * first[0] >= sign * second[0] else second


def _of_log(value: Any, t0: float) -> _Orders:
    return _Orders(_at_least(value, t0), _at_most(value, t0))


def _of_linear(value: Any, t0: float) -> _Orders:
    """Read bounds off an enclosure of f itself."""
    if not isinstance(value, Power):
        return _Orders(None, None)
    from borel.engine.power import range_of

    if value.base == 0:
        a, (low, high) = exponent(value), weight(value)
    else:
        a, (low, high) = (0.0, 0.0), range_of(value, t0)
    least = (a[1], _log(low, -1)) if low > 0 and math.isfinite(a[1]) else None
    most = (a[0], _log(high, 1)) if 0 < high < math.inf and math.isfinite(a[0]) else None
    return _Orders(least, most)


def _log(value: float, direction: int) -> float:
    """Round a logarithm outwards: the library's is within an ulp or two."""
    found = math.log(value)
    return found + direction * 1e-15 * (1.0 + abs(found))


def _at_least(value: Any, t0: float) -> tuple[float, float] | None:
    """Read f >= e^w t^A for all t off an enclosure of log f: (A, w)."""
    if isinstance(value, Log):
        a, w = exponent(value)[1], weight(value)[0]
        return (a, w) if math.isfinite(a) and math.isfinite(w) else None
    if isinstance(value, Power):
        from borel.engine.power import range_of

        a, w = exponent(value), weight(value)
        if value.base == 0 and a[1] < 0 and w[0] > 0:  # log f grows as a power: f as e^power
            return _steep(a[1], w[0], t0)
        low = range_of(value, t0)[0]
        return (0.0, low) if math.isfinite(low) else None
    return None


def _at_most(value: Any, t0: float) -> tuple[float, float] | None:
    """Read f <= e^w t^A for all t off an enclosure of log f: (A, w)."""
    if isinstance(value, Log):
        a, w = exponent(value)[0], weight(value)[1]
        return (a, w) if math.isfinite(a) and math.isfinite(w) else None
    if isinstance(value, Power):
        from borel.engine.power import range_of

        a, w = exponent(value), weight(value)
        if value.base == 0 and a[1] < 0 and w[1] < 0:
            found = _steep(a[1], -w[1], t0)
            return None if found is None else (-found[0], -found[1])
        high = range_of(value, t0)[1]
        return (0.0, high) if math.isfinite(high) else None
    return None


def _steep(a: float, w: float, t0: float) -> tuple[float, float] | None:
    """Read ``w t^a >= -A log t + u``, a < 0 < w, with A = -4: e^(w t^a) >= e^u t^-4.

    With v = -log t the gap w e^(-a v) - 4 v is convex, and least where w (-a) e^(-a v) = 4.
    """
    b = -a
    best = max(math.log(4.0 / (w * b)) / b, -math.log(t0))
    least = w * math.exp(min(b * best, 700.0)) - 4.0 * best
    return -4.0, least - 1e-9 * (1.0 + abs(least))
