r"""One entry of a database over a set of priors on D**n: the kernel of the entry moves with them.

Let g_Q(d) be f(y|d) for one outcome y, the other entries integrated out under Q given D_i = d.

1. *Independent entries, each with a law in its own convex set.* PML, PMC and LDP at y are suprema
   of quotients of g_Q(d), E_P g_Q and g_Q(d'), P the law of the entry; both sides are linear in
   each of the laws. A product of laws is a mixture, with weights >= 0, of products of extreme
   points of the closures: numerator and denominator are sums with these weights, and their quotient
   is at most the largest quotient of an extreme product (0/0 apart), or infinite if there is one of
   denominator 0 and numerator > 0. Members come as near to each of them as one likes; a label d
   that some member charges is charged by others near every member, as the set is convex. So the
   supremum is the largest of these quotients. For sets of full support it is Theorem 4.2(3): the
   level of differential privacy in entry i.
2. *All priors of full support on D**n.* Given D_i = d the law of the others is any of full support,
   independently for each d, and so is that of D_i: g(d) comes near to the largest or smallest
   f(y|x) with x_i = d, and the supremum of each leakage is the largest log f(y|x) / f(y|x') with
   :math:`x_i \ne x_i'`. Two databases differ somewhere: the largest over the entries is the level
   of free-lunch privacy, Theorem 4.5(3). Of one entry it may be less: the proof in the paper takes
   databases that may agree in entry i, of which one conditional law would have to be near both.

Tested in ``tests/test_entries_of_sets.py``.
"""

from __future__ import annotations

import math
from functools import cached_property, reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from borel.databases.neighbours import largest_quotient
from borel.engine.prior_sets.engine import SetEngine
from borel.engine.prior_sets.finite_figures import OUTSIDE
from borel.errors import NotYet
from borel.numerics.intervals.rounding import U, compounded
from borel.priors.set_operations import Intersection, ProductSet
from borel.priors.sets import FullSupport, PriorSet
from borel.probability.arrays import as_floats, carried, require_no_underflow
from borel.probability.bound import Bound, weakest
from borel.probability.joint import Joint
from borel.probability.measure import as_measure

if TYPE_CHECKING:
    from borel.probability.mechanism import Mechanism

_CELLS = 4_000_000
"""Numbers that are held: outcomes times databases, or products of extreme points."""


class EntryJoint(Joint):
    """The joints of one entry of a database with the outcome, over a set of laws on D**n.

    Attributes
    ----------
    laws : PriorSet
        The laws of the database: a product of convex sets, or all priors of full support.
    mechanism : Mechanism
        The mechanism on databases; the kernel of one entry moves with the prior.
    i : int
        Which entry is the secret.
    """

    _made_of = ("laws", "mechanism", "i")

    def __init__(self, laws: PriorSet, mechanism: Mechanism, i: int):
        if not isinstance(laws, (ProductSet, FullSupport)):
            raise NotYet(
                "bl.entry",
                missing=f"one entry over {laws!r}",
                instead="bl.priors.product([...]) or bl.priors.full_support(D**n); what leaks "
                "about the whole database, bl.pml(prior_set * mech).sup(), bounds PML of an entry.",
            )
        if isinstance(laws, ProductSet) and any(f.on.dim > 1 for f in laws.factors):
            raise NotYet(
                "bl.entry",
                missing="one entry over a product of sets of which one is about several entries",
                instead="an alphabet of pairs as one entry, or bl.priors.full_support(D**n).",
            )
        if not mechanism.finite or mechanism.unproved:
            raise NotYet(
                "bl.entry",
                missing=mechanism.unproved or "outcomes that are not finite, over a set of priors",
                instead="bl.differential_privacy(mechanism) bounds PML of every entry under "
                "independent entries, bl.free_lunch_privacy(mechanism) under all priors.",
            )
        self.laws, self.mechanism, self.i = laws, mechanism, i
        self.prior = EntryLaws(self)

    def __repr__(self) -> str:
        """Show the set of laws, the mechanism and the entry."""
        return f"EntryJoint(entry {self.i} of {self.laws!r} * {self.mechanism!r})"


class EntryLaws(PriorSet):
    """The laws of one entry; their figures are those of the `EntryJoint` that they belong to."""

    convex = False
    closed = False
    batch = ()

    def __init__(self, joint: EntryJoint):
        factor: Any = joint.laws.on
        super().__init__(factor.factors[joint.i], "entry", assumptions=joint.laws.assumptions)
        self.laws, self.i = joint.laws, joint.i
        self.confidence = joint.laws.confidence

    def __mul__(self, mechanism: Any) -> Joint:
        """Return the joints with a mechanism on databases."""
        return EntryJoint(self.laws, mechanism, self.i)

    def engine(self, joint: Any) -> SetEngine:
        """Return what compares the extreme products."""
        return EntrySuprema(joint)

    def __repr__(self) -> str:
        """Show the set and which entry is the secret."""
        return f"entry {self.i} of {self.laws!r}"


class EntrySuprema(SetEngine):
    """Suprema of PML, PMC and LDP of one entry over a set of laws of databases."""

    joint: EntryJoint

    def __init__(self, joint: EntryJoint):
        self.joint, self.set = joint, joint.prior
        laws, mechanism = joint.laws, joint.mechanism
        self.reason = carried(mechanism)
        rows = np.asarray(mechanism.secret.positions(list(laws.on.labels), "x"))
        on: Any = laws.on
        cells = mechanism.matrix[rows].reshape(*(a.size for a in on.factors), -1)
        self.error = 0.0
        if not mechanism.rational:
            cells = as_floats(cells, "bl.entry")
            self.error = max(mechanism.rounding, U)
        self.cells = np.moveaxis(cells, joint.i, 0)
        self.independent = isinstance(laws, ProductSet)
        self.status = "exact"
        if isinstance(laws, ProductSet):
            others = [f for k, f in enumerate(laws.factors) if k != joint.i]
            self.own, self.others = laws.factors[joint.i], others
            self.status = weakest(["exact", *(f.exactly for f in laws.factors)])

    def _points(self, factor: PriorSet) -> np.ndarray:
        """Return the extreme points of a factor as rows."""
        found = factor.vertices
        if found is None:
            raise NotYet(
                "bl.entry over a product of sets",
                missing=f"the extreme points of {factor!r}",
                instead="sets of Fractions with few extreme points, bl.priors.bernoulli, "
                "bl.priors.hull or bl.priors.full_support.",
            )
        points = np.array(found, dtype=object).reshape(len(found), -1)
        return as_floats(points, "bl.entry") if self.error else points

    @cached_property
    def given(self) -> np.ndarray:
        """g_Q(d), an array (choices of extreme points, d, outcomes)."""
        size, m = self.cells.shape[0], self.cells.shape[-1]
        every = [None if isinstance(f, FullSupport) else self._points(f) for f in self.others]
        require_no_underflow("bl.entry", *(p for p in every if p is not None), self.cells)
        counts = [f.on.size for f in self.others]
        counts = [c if p is None else len(p) for c, p in zip(counts, every, strict=True)]
        if math.prod(counts) * size * m > _CELLS:
            raise NotYet(
                "bl.entry over a product of sets",
                missing=f"{math.prod(counts)} products of extreme points; up to {_CELLS} of them "
                "times labels and outcomes",
                instead="bl.differential_privacy(mechanism), which bounds PML.",
            )
        table = self.cells
        for k, points in enumerate(every):
            if points is not None:  # point masses leave the table as it is
                table = np.moveaxis(np.tensordot(points, table, (1, k + 1)), 0, k + 1)
        return np.moveaxis(table, 0, -2).reshape(-1, size, m)

    @cached_property
    def means(self) -> np.ndarray:
        """E g_Q under the extreme laws of the entry, an array (choices, laws, outcomes)."""
        if isinstance(self.own, FullSupport):
            return self.given
        points = self._points(self.own)
        require_no_underflow("bl.entry", points, self.given)
        found = np.tensordot(points, self.given, (1, 1))
        return np.moveaxis(found, 0, 1)

    @cached_property
    def charged(self) -> np.ndarray:
        """Which labels of the entry some member charges."""
        if isinstance(self.own, FullSupport):
            return np.ones(self.own.on.size, bool)
        return np.asarray((self._points(self.own) != 0).any(axis=0), bool)

    def _sides(self, kind: str) -> tuple[np.ndarray, np.ndarray]:
        """Return numerators and denominators whose largest and smallest are to be compared."""
        if not self.independent:
            flat = self.cells.reshape(len(self.cells), -1, self.cells.shape[-1])
            return flat.max(axis=1), flat.min(axis=1)
        seen = self.given[:, self.charged]
        return (self.means if kind == "pmc" else seen), (self.means if kind == "pml" else seen)

    def _largest(self, kind: str, columns: np.ndarray) -> Bound:
        top, bottom = (side[..., columns] for side in self._sides(kind))
        labels, names = self.set.on.labels, self.joint.outcome.labels
        if self.independent:
            most, least = top.max(axis=1), bottom.min(axis=1)
        elif len(top) == 1:
            most = least = top  # one label tells nothing
        else:
            most = top
            rest = [np.delete(bottom, d, axis=0).min(axis=0) for d in range(len(bottom))]
            least = np.stack(rest)

        def where(k: int, j: int) -> dict[str, Any]:
            found: dict[str, Any] = {"y": names[columns[j]]}
            if not self.independent:
                return found | {"x": labels[k]}
            d = int(np.argmin(bottom[k, :, j]) if kind == "pmc" else np.argmax(top[k, :, j]))
            found["x"] = np.asarray(labels, dtype=object)[self.charged][d]
            if kind != "ldp":
                v = np.argmin(bottom[k, :, j]) if kind == "pml" else np.argmax(top[k, :, j])
                found["prior"] = self._law(k, int(v))
            return found

        error = self.error
        if error and self.independent:  # products and sums of laws, some of them rounded
            steps = sum(f.on.size + 4 for f in (self.own, *self.others))
            error = compounded(error, steps * U)
        status = self.status if not self.reason else "estimate"
        if not np.asarray(most != 0, bool).any():
            return self.set.bound(0.0, 0.0, status=status, assumptions=(OUTSIDE,))
        low, high, about = largest_quotient(most, least, error, where)
        # an intersection that is not closed may hold some of its extreme points
        open_ = not self.independent or not (self.own.closed or isinstance(self.own, Intersection))
        if low > 0 and open_ and (kind == "pml" or (kind == "pmc" and high < math.inf)):
            about["attained"] = False
        return self.set.bound(low, high, status=status, **about)

    def _law(self, k: int, v: int) -> Any:
        """Return the product of extreme points, the choice k of the others and v of the entry."""
        points = [np.array(f.vertices, dtype=object) for f in self.others]
        chosen = np.unravel_index(k, [len(p) for p in points]) if points else ()
        laws = [p[int(c)] for p, c in zip(points, chosen, strict=True)]
        laws.insert(self.joint.i, np.array(self.own.vertices, dtype=object)[v])
        whole = reduce(np.multiply.outer, laws).ravel()
        return as_measure(whole, self.joint.laws.on, "a law of the database")

    def at(self, kind: str, y: Any) -> Bound:
        """Return the supremum over the laws at one outcome."""
        return self._largest(kind, np.atleast_1d(self.joint.outcome.positions(y)))

    def sup(self, kind: str) -> Bound:
        """Return the supremum over the laws and the outcomes."""
        return self._largest(kind, np.arange(self.cells.shape[-1]))

    def curve(self, kind: str, ys: Any) -> tuple[np.ndarray, np.ndarray, list[str]]:
        """Return lower ends, upper ends and the status at many outcomes."""
        found = [self.at(kind, y) for y in ys]
        ends = np.array([(b.lower, b.upper) for b in found]).reshape(-1, 2)
        return ends[:, 0], ends[:, 1], [b.status for b in found]

    def ldp(self) -> Bound:
        """Return the largest LDP level of an entry's kernel."""
        return self._largest("ldp", np.arange(self.cells.shape[-1]))
