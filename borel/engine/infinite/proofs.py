"""Proofs that a leakage is infinite: a search for rays, and the arguments that they complete.

A search of finitely many boxes never proves a divergence. Along a ``ray``, y and x are functions of
t, and power-scaled intervals (`germs`) enclose the kernel for every t in (0, t0] at once. Six
arguments turn such an enclosure into a proof; none needs f_Y to be known along the ray:

``mass``
    E e^PML is the integral of ess sup_x f(y|x) over y. If that diverges, PML is not essentially
    bounded: f >= c t^A on sets of positive mass, with A <= -1 as y goes to a point (dy = dt), or
    A <= 1 as y = 1/t goes to infinity (dy = dt / t^2; on integers the sum diverges likewise). On
    countable Y this is the lemma that f_Y(m) sums to 1 while ess sup_x f(m|x) does not.
``ratio``
    PML: f >= c t^A while f_Y <= C t^B with B > A, f_Y bounded by the prior's mass on boxes, and
    by integrals or by scales towards their corners (`marginal_order`). PMC: f <= C t^A on
    sets of positive mass while f >= c t^B on one such set, A > B.
``slope``
    log f(y|x) has a slope in x, of one sign on the whole interval of the secret, that tends to
    infinity with t -> 0 (`slope_proof`).
``pair``
    PMC: log f(y|x) - log f(y|x') tends to infinity, for two secrets of positive mass
    (`pair_proof`).
``pole``
    PML: for every y of a box f(y|x) is not bounded in x, while f_Y(y), a density, is finite for
    almost every y.
``zero``
    The kernel is 0 on a box of outcomes and secrets of positive mass (or at one outcome, for one
    such secret), and positive elsewhere for the same outcomes: PMC is infinite.

A ``ratio`` with y in a box (or at one outcome, perhaps one of positive mass) proves an infinity at
every outcome of it.
"""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from borel import settings
from borel.engine.infinite import marginal_order as marginal
from borel.engine.infinite.pair_proof import Pairs
from borel.engine.infinite.ray_candidates import Rays
from borel.engine.infinite.slope_proof import slope_along
from borel.engine.kernels.settling_counts import settling
from borel.engine.problem.proof import Proof
from borel.numerics.germs.interpreter import PowerProgram, slack
from borel.numerics.germs.order_bounds import Orders, Ray, better, of_linear, of_log
from borel.numerics.graphs import float64, rewrite
from borel.probability.memo import Memo

if TYPE_CHECKING:
    from borel.engine.problem.protocols import TracedJoint, WithMasses
    from borel.numerics.graphs.graph import Graph

STARTS = (2.0**-10, 2.0**-30)


def prove(engine: WithMasses, kind: str, ends: list[tuple[float, float]]) -> Proof | None:
    """Search for a proof that the supremum of a leakage over the outcomes is infinite.

    Parameters
    ----------
    engine : WithMasses
        The joint.
    kind : {"pml", "pmc", "ldp"}
        Which leakage; the LDP ratio is at least as large as the others.
    ends : list of pairs
        Boxes of outcomes on which no bound from above was found.
    """
    if settings.spent():
        return None
    search = _search(engine)
    for kind_ in ("pmc", "pml") if kind == "ldp" else (kind,):
        found = search.over_outcomes(kind_, ends) or _at_atoms(engine, kind_)
        if found is not None:
            return found
    return None


def _search(engine: Any) -> Search:
    """Return the search of a joint; by one number, if the kernel depends on secrets by that."""
    bands = engine.bands
    if engine.given is not engine.joint:
        of_other = Search(engine)
        what = "function" if engine.given.prior.on.dim == 1 else "sum"
        of_other.note = f"; x stands for the {what} by which f(y|x) depends on the secret"
        return of_other
    if engine.secret.dim == 1 or bands is None or bands.surface.secret.dim > 1:
        return Search(engine)
    one, all_ = bands.surface.secret, bands.cover.secret
    mechanism = engine.joint.mechanism
    density = SimpleNamespace(log=True, graph=bands.surface.graph)
    view = SimpleNamespace(  # its secret has no density: nothing is known of the number's law
        joint=SimpleNamespace(
            mechanism=SimpleNamespace(density=density, breaks=mechanism.breaks),
            outcome=engine.joint.outcome,
            prior=engine.joint.prior,
        ),
        secret=all_,
        surface=bands.cover,
        line=engine.line,
    )
    of_one = Search(view)  # type: ignore[arg-type]
    # of that interval every part has mass; at the ends of the other one there may be none
    of_one.inside = float(one.lower[0]), float(one.upper[0])
    of_one.note = "; x stands for the one number by which f(y|x) depends on the secret"
    return of_one


def _at_atoms(engine: WithMasses, kind: str) -> Proof | None:
    """Search for a proof at the outcomes of positive mass: the mass diverges in the secret."""
    for atom, surface in engine.at_atoms.items():
        mechanism = engine.joint.mechanism
        density = mechanism.masses[atom]
        view = SimpleNamespace(
            joint=SimpleNamespace(
                mechanism=SimpleNamespace(density=density, breaks=mechanism.breaks),
                outcome=SimpleNamespace(kind="finite"),
            ),
            secret=engine.secret,
            surface=surface,
            line=engine.line,
        )
        search = Search(view)  # type: ignore[arg-type]
        y = float(atom)
        found = search.in_secret_alone(kind, Ray(slack(y, y), f"y = {y!r}", {"box": [y, y]}))
        if found is not None:
            return found
    return None


def prove_at(engine: Any, kind: str, low: float, high: float) -> Proof | None:
    """Search for a proof that the leakage is infinite at one outcome, or at all of a box."""
    if settings.spent():
        return None
    search = _search(engine)
    words = f"y = {low!r}" if low == high else f"y in ({low:g}, {high:g})"
    at = Ray(slack(low, high), words, {"box": [low, high]})
    for kind_ in ("pmc", "pml") if kind == "ldp" else (kind,):
        found = search.in_secret_alone(kind_, at)
        if found is not None:
            return found
    return None


class Search(Rays):
    """The arguments, tried one after the other along every ray."""

    def __init__(self, engine: TracedJoint):
        super().__init__(engine)
        self.note = ""
        self.graph: Graph = engine.surface.graph
        self.log = PowerProgram(self.graph)
        density = engine.joint.mechanism.density
        self.linear = PowerProgram(
            rewrite.linear_of(self.graph) if density.log else density.simplified()
        )
        self.along: PowerProgram | None = None
        self.linear_along: PowerProgram | None = None
        if self.moves:
            self.along = PowerProgram(rewrite.diagonal(self.graph)[0])
            self.linear_along = PowerProgram(rewrite.diagonal(self.linear.graph)[0])
        self._memo = Memo()
        self.marginal: marginal.MarginalOrder | None = None
        self.pairs: Pairs | None = None
        # a density on a line alone
        self.smooth = self.secret.continuous and self.secret.dim == 1 and not len(self.secret.atoms)
        if self.smooth:
            self.marginal = marginal.MarginalOrder(self._kernel, self.secret, self.boxes())
        if len(self.secret.atoms) > 1 and self.secret.dim == 1:
            self.pairs = Pairs(density, self.secret)

    def _kernel(self, y: Ray, x: Ray, t0: float) -> Orders:
        """Bound f along a pair of rays, from its logarithm and from the density itself."""
        named = {self.secret.names[0]: x.value, "y": y.value}
        if x.diagonal:
            named = {"offset": x.value, "y": y.value}
        almost = self.secret.continuous and x.value.w[0] < x.value.w[1]
        least, most = None, None
        for program, along, read in (
            (self.log, self.along, of_log),
            (self.linear, self.linear_along, of_linear),
        ):
            chosen = along if x.diagonal else program
            if chosen is None:
                continue
            inputs = {k: v for k, v in named.items() if k in chosen.graph.inputs}
            if almost and x.diagonal and "box" in x.data and "offset" in inputs:
                # an end of the box, where the kernel may jump, is a null set
                value = chosen.run(inputs, t0, almost=True, derivative="offset")[0]
            else:
                value = chosen.run(inputs, t0, almost=almost)
            found = read(value, t0)
            least = better(least, found.least, -1)
            most = better(most, found.most, 1)
        return Orders(least, most)

    def orders(self, y: Ray, low: float, high: float, t0: float) -> Orders:
        """Bound f along a ray of outcomes, for all secrets of a box, or at one."""
        return self._kernel(y, Ray(slack(low, high), "", {"box": [low, high]}), t0)

    # -- arguments --------------------------------------------------------------------------

    def over_outcomes(self, kind: str, ends: list[tuple[float, float]]) -> Proof | None:
        """Try every argument along every ray of outcomes."""
        if self.secret.dim > 1:
            return None
        if kind == "pmc":
            for y in self.patches():
                found = self.in_secret_alone(kind, y)
                if found is not None:
                    return found
        else:
            for y in self.patches():
                found = self._pole(y)
                if found is not None:
                    return found
        rays = list(self.outcomes(ends))
        for t0 in STARTS:
            for y in rays:
                found = self._slope(kind, y, t0) or self._pair(kind, y, t0)
                if found is not None:
                    return found
            for y in rays:
                found = self._along(kind, y, t0)
                if found is not None:
                    return found
        return None

    def in_secret_alone(self, kind: str, y: Ray) -> Proof | None:
        """Prove an infinity at every outcome of a box: the kernel diverges in the secret alone."""
        if self.secret.dim > 1:
            return None
        if kind == "pmc":
            found = self._zero(y) if self.secret.continuous else self._zero_at_atom(y)
            if found is not None:
                return found
        if kind == "pml" and y.data["box"][0] < y.data["box"][1]:
            found = self._pole(y)
            if found is not None:
                return found
        for t0 in STARTS:
            for x in self.secrets(y):
                if "box" in x.data or "atom" in x.data or not self.charged(y, x, t0):
                    continue
                found = self._ratio(kind, y, x, t0, self._kernel(y, x, t0))
                if found is not None:
                    return found
        return None

    def _along(self, kind: str, y: Ray, t0: float) -> Proof | None:
        for x in self.secrets(y):
            if not self.charged(y, x, t0):
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

    def _proof(
        self,
        y: Ray,
        x: Ray | None,
        words: str,
        attained: bool | None = None,
        diverges: bool = False,
    ) -> Proof:
        where = {"y": y.words, **({} if x is None else {"x": x.words})}
        return Proof(words + self.note, where, attained, diverges or bool(attained))

    def _mass(self, y: Ray, x: Ray, t0: float, value: Orders) -> Proof | None:
        """E e^PML diverges."""
        bound = value.least
        if bound is None or "box" in y.data:
            return None
        limit = 1.0 if "infinity" in y.data else -1.0
        if not bound[0] <= limit:
            return None
        words = (
            f"PML is unbounded: along {y.words}, {x.words}, f(y|x) >= "
            f"{math.exp(min(bound[1], 700)):.4g} t^{bound[0]:g} for all t <= {t0:g}, "
            "so that E e^PML is infinite"
        )
        return self._proof(y, x, words, False, diverges=True)

    def _pole(self, y: Ray) -> Proof | None:
        """Find a box of outcomes at which f(y|x) is unbounded in the secret."""
        for x in self.poles(y):
            t0 = STARTS[0]
            if not self.charged(y, x, t0):
                continue
            bound = self._kernel(y, x, t0).least
            if bound is None or not bound[0] < 0:
                continue
            words = (
                f"PML is infinite: for almost every {y.words}, along {x.words}, f(y|x) >= "
                f"{math.exp(min(bound[1], 700)):.4g} t^{bound[0]:g} for all t <= {t0:g}, while "
                "f_Y(y) is finite"
            )
            return self._proof(y, x, words, True)
        return None

    def _ratio(self, kind: str, y: Ray, x: Ray, t0: float, value: Orders) -> Proof | None:
        """Compare the orders of the kernel and of f_Y along the ray."""
        if kind == "pml":
            bound = value.least
            if bound is None or self.marginal is None:
                return None
            other = self.marginal.at_most(y, t0, bound[0])
            if other is None:
                return None
        else:
            bound = value.most
            if bound is None:
                return None
            key = ("f_Y", repr(y.data), t0)
            other = self._memo.fact(key, lambda: self._marginal_at_least(y, t0))
            if other is None or not bound[0] > other[0]:
                return None
        if bound[1] == -math.inf:  # f is 0
            bound = 0.0, -math.inf
        sign, other_sign = (">=", "<=") if kind == "pml" else ("<=", ">=")
        size = "= 0" if bound[1] == -math.inf else f"{sign} c t^{bound[0]:g}"
        words = (
            f"{kind.upper()} is infinite: along {y.words}, {x.words}, f(y|x) {size} "
            f"while f_Y(y) {other_sign} C t^{other[0]:g}, for all t <= {t0:g}"
        )
        return self._proof(y, x, words, "box" in y.data)

    def _marginal_at_least(self, y: Ray, t0: float) -> marginal.LeadingTerm | None:
        """Bound f_Y >= P e^W t^B by the kernel on one box (or atom) of positive mass."""
        best: marginal.LeadingTerm | None = None
        charged = self.secret.atoms[self.secret.weight_low > 0][:64]
        places = [(float(a[0]), float(a[0])) for a in charged]
        if self.secret.continuous:
            places += [p for p in self.boxes(y) if self.has_mass(*p)]
        for a, b in places:
            bound = self._kernel(y, Ray(slack(a, b), "", {"box": [a, b]}), t0).least
            if bound is None:
                continue
            # of equal orders the larger one
            if best is None or (bound[0], -bound[1]) < (best.exponent, -best.weight):
                best = marginal.LeadingTerm(*bound)
        return best

    def _slope(self, kind: str, y: Ray, t0: float) -> Proof | None:
        """Find a log-kernel that is steeper and steeper in the secret, in one direction."""
        if self.secret.rest:
            return self._slope_in_number(kind, y, t0)
        found = slope_along(self.graph, self.secret, y, t0) if self.smooth else None
        if found is None:
            return None
        sign, order = found
        size = "infinity, as log 1/t" if order is None else f"infinity, as t^{order[0]:g}"
        words = (
            f"PML and PMC are unbounded: along {y.words}, the slope of log f(y|x) in x "
            f"tends to {'' if sign > 0 else 'minus '}{size}, for all secrets"
        )
        # on a bounded interval every outcome leaks a finite amount
        grows = bool(np.isfinite([self.secret.lower, self.secret.upper]).all())
        return self._proof(y, None, words, False if grows else None)

    def _slope_in_number(self, kind: str, y: Ray, t0: float) -> Proof | None:
        """Find such a log-kernel of the number that counts lead to.

        With b the last number in its direction f_Y / sup f <= E e^(-S |b - g(X)|), which goes to 0
        if no count has the number b; and f_Y / inf f is unbounded if two numbers have mass.
        """
        numbers = settling(self.engine.surface)
        if numbers is None or not self.secret.along_y:
            return None
        lows, highs = (ends[self.secret.weight_low > 0] for ends in numbers.atoms)
        apart = len(lows) > 0 and highs.min() < lows.max()
        if not (numbers.direction if kind == "pml" else apart):
            return None
        found = slope_along(numbers.surface.graph, numbers.surface.secret, y, t0)
        if found is None or (kind == "pml" and found[0] != numbers.direction):
            return None
        words = (
            f"{kind.upper()} is unbounded: along {y.words}, the slope of log f(y|x) in the number "
            f"by which it depends on x tends to {'' if found[0] > 0 else 'minus '}infinity"
        )
        return self._proof(y, None, words, False)

    def _pair(self, kind: str, y: Ray, t0: float) -> Proof | None:
        """Find two secrets of positive mass, one of which is favoured without bound."""
        if kind != "pmc" or self.pairs is None:
            return None
        found = self.pairs.along(y, t0)
        if found is None:
            return None
        words = (
            f"PMC is unbounded: along {y.words}, log f(y|{found[0]:g}) - log f(y|{found[1]:g}) "
            "tends to infinity, and both secrets have positive mass"
        )
        return self._proof(y, None, words)

    def _zero(self, y: Ray) -> Proof | None:
        """Find a box on which the kernel vanishes, and one beside it where it is positive."""
        ends = y.data.get("box", [])
        if not ends:  # an outcome is a box as well, of which a figure there may be asked for
            return None
        from borel.engine.problem.secret_and_kernel import boxes
        from borel.numerics.jets import arithmetic

        cuts = [p for p in self.boxes(y) if self.has_mass(*p)]
        if not cuts:
            return None
        a, b = (np.array(v)[:, None] for v in zip(*cuts, strict=True))
        n = len(cuts)
        named = self.engine.surface.inputs(
            boxes(a, b, 0, 1), (np.full((1, n), ends[0]), np.full((1, n), ends[1]))
        )
        value = arithmetic.entry(self.engine.surface.log.run(named, 1).jet, 0)
        low, high = (np.broadcast_to(v, n) for v in value)
        dead, alive = np.flatnonzero(np.isneginf(high)), np.flatnonzero(low > -math.inf)
        if not len(dead) or not len(alive):
            return None
        c, e = cuts[int(dead[0])], cuts[int(alive[0])]
        x = Ray(slack(*c), f"x in ({c[0]:g}, {c[1]:g})", {"box": [*c]})
        words = (
            f"PMC is infinite: f(y|x) is 0 for {y.words} and x in ({c[0]:g}, {c[1]:g}), a set of "
            f"positive mass, and positive for x in ({e[0]:g}, {e[1]:g})"
        )
        return self._proof(y, x, words, True)

    def _zero_at_atom(self, y: Ray) -> Proof | None:
        """Find a secret of positive mass for which an outcome, or all of a box, is impossible."""
        if not np.isfinite(y.data.get("box", [math.nan])).all():
            return None
        charged = self.secret.atoms[self.secret.weight_low > 0, 0]
        middle = math.fsum(y.data["box"]) / 2
        named = {self.secret.names[0]: charged, "y": np.full(charged.shape, middle)}
        inputs = {name: named[name] for name in self.graph.inputs}
        with np.errstate(all="ignore"):
            log = np.broadcast_to(float64.evaluate(self.graph, inputs), charged.shape)
        for x in charged[np.isneginf(log)][:1].tolist():
            place = Ray(slack(x, x), f"x = {x:g}", {"atom": x})
            value = self._kernel(y, place, STARTS[0])
            if value.most is not None and value.most[1] == -math.inf:
                return self._ratio("pmc", y, place, STARTS[0], value)
        return None
