"""Check certificates of suprema and laws over continuous outcomes, of a secret that is an integer.

The prior has a mass p(n) at each integer, by a formula; those of a head are atoms. All other
integers are on half-lines, or between a head and an end; what they weigh together is what the head
leaves: p sums to 1, which is on trust. From there on the checkers of densities do what they do.

Integers are a null set of the real numbers, where those checkers decide comparisons for almost
every secret. Here no model of a cell of secrets is exact, so that a comparison that depends on the
secret is decided by its bounds alone, and holds at every integer.
"""

from __future__ import annotations

from typing import ClassVar

from flint import arb

from borel.engine.certificates.checks.counts import MOST, ROUNDING, _finite, _positive, check_counts
from borel.engine.certificates.checks.counts import _run as run_at_integers
from borel.engine.certificates.checks.infinite_quantiles import _InfiniteQuantile
from borel.engine.certificates.checks.laws import _Law
from borel.engine.certificates.checks.means import _Means
from borel.engine.certificates.checks.prior_weights import UNKNOWN
from borel.engine.certificates.checks.rays import INF, Z, _ray
from borel.engine.certificates.checks.reading import density, integers
from borel.engine.certificates.checks.suprema import _Outcomes
from borel.engine.certificates.checks.tails import in_y, tail
from borel.engine.certificates.checks.taylor_models import ONE, Model
from borel.engine.certificates.checks.verifier import Report, check

BLUR = arb(0, arb(2) ** -100)


class _Counted(_Outcomes):
    """A secret that is an integer: points of a head, and cells with all others."""

    most_cells = 8  # finer ones have the same weight together

    def read(self, prior):
        """Read the prior: the masses of a head, and the cells of all other integers."""
        self.p, self.ends, self.marginal = density(prior["masses"]), (), None
        lower, upper, (first, last) = prior["lower"], prior["upper"], self.claim["head"]
        self.span = lower, upper
        alone = prior["graph"] is None and prior["atoms"] == [] and prior["points"] == "integers"
        whole = integers(lower, upper, first, last, *self.claim["far"])
        whole = whole and isinstance(self.p[1], bool)
        inside = lower <= first <= last <= upper and last - first < MOST
        self.leaf("format", lambda: self.data["format"] == 4 and alone)
        self.leaf("quantity", lambda: self.data["quantity"] != "ldp")
        self.leaf("head", lambda: inside and whole)
        self.atoms = {}
        for n in range(int(first), int(last) + 1) if not self.failures else ():
            low, high = (v.max(Z) for v in run_at_integers(self.p, False, _ray(n)).bounds())
            if high > 0:  # else it is no secret
                self.atoms[float(n)] = low.union(high)
        self.edges, mass = {*self.atoms}, sum(self.atoms.values(), Z)
        self.singles = [x for x, w in self.atoms.items() if w > 0]
        for n in self.claim["far"]:
            self.leaf(f"p({n})", self.possible, n, lower, upper)
        self.singles += self.claim["far"]
        ends = ((lower, first - 1), (last + 1, upper))
        self.rest = [(float(a), float(b)) for a, b in ends if a <= b]
        most = mass if self.rest else abs(mass - 1)  # with no others the head has all of it
        self.leaf("atoms", lambda: bool(most < (1 if self.rest else 0) + ROUNDING))

    def possible(self, n, lower, upper):
        """Prove that an integer has a mass, by how that is made: it may be too small to see."""
        (graph, log), inside = self.p, n % 1 == 0 and lower <= n <= upper
        return inside and (_finite if log else _positive)(graph, len(graph.nodes) - 1, _ray(n))

    def cells(self, a, b, *, kink=False):
        """Return the cells of the integers beyond the head."""
        return self.rest

    def kernel(self, log, x, y):
        """Return f(y|x): for all secrets of a model, and almost all outcomes."""
        if set(x.terms) - {ONE}:
            x = x + Model({ONE: BLUR}, -BLUR.rad(), BLUR.rad())
        return super().kernel(log, x, y)

    def weight_of(self, cell):
        """Return nothing that is known: those beyond a head have what it leaves."""
        return UNKNOWN

    def far_mass(self, cell):
        """Bound the mass of the integers of a half-line: those beyond the last one before it."""
        return super().far_mass((cell[0] - 1, cell[1] + 1))

    def tail_of_secrets(self, sign, r):
        """Bound P{sign X > r} and E (sign X - r)^+ from above, by the formula for all of them."""
        return tail(in_y(self.p), sign, r, "masses")

    def rows(self, y, cells, known):
        """Return f(y|x) on each cell of secrets and at some."""
        if not (y.high - y.low).is_finite():
            raise ValueError("counts, at outcomes far out")
        return super().rows(y, cells, known)

    def near(self, y, x, drift=None, log=False):
        """Return f at a secret of the head; there is none beside it."""
        return super().near(y, x, drift, log) if x in self.singles and drift is None else []

    def candidates(self, a, b):
        """Return no secrets but those of the head."""
        return []


class CountSupremum(_Counted, _Outcomes):
    """A certificate of a supremum."""


class CountLaw(_Counted, _Law):
    """A certificate of a tail, of a value of the distribution function, or of a quantile."""


class CountMean(_Counted, _Means):
    """A certificate of a mean, of the mean of an exponential, or of its logarithm."""

    def beyond(self, y):
        """Bound the part of a half-line of outcomes by all secrets, where they are all points."""
        return INF if self.rest else super().beyond(y)


class CountInfinite(_Counted, _InfiniteQuantile):
    """A certificate of a quantile that is infinite."""

    checkers: ClassVar = {"count_infinite": (check_counts, 4)}

    def first(self):
        """Return the cells beyond the head: no finer ones are known better."""
        return [*self.rest]


_KINDS = {"outcomes": CountSupremum, "law": CountLaw, "mean": CountMean,
          "infinite_quantile": CountInfinite}  # fmt: skip


def check_count_laws(certificate: dict) -> Report:
    """Verify a certificate: every leaf, and that the bound follows from them."""
    return check(certificate, _KINDS[certificate["claim"]["type"]])
