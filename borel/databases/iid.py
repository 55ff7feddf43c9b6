"""Databases of independent entries, and what an outcome tells about one of them."""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any

import numpy as np

from borel.databases.correlated import entries_of, entry_of_table, is_set
from borel.databases.entries_of_sets import EntryJoint
from borel.databases.entry_kernels import (
    binomial_others,
    count_kernel,
    counting_kernel,
    finite_kernel,
    mixture_kernel,
)
from borel.databases.entry_means import mean_kernel, require_numbers
from borel.errors import InvalidInput, NotYet
from borel.mechanisms.counting import CountingQuery, as_query, entries
from borel.mechanisms.histograms import Histogram
from borel.mechanisms.independent_entries import binomial_law, chance, product_law
from borel.mechanisms.noisy_count import Ends
from borel.mechanisms.noisy_means import NoisyMean
from borel.probability.alphabets import Alphabet, Integers, Interval
from borel.probability.joint import Joint
from borel.probability.measure import Measure, covers
from borel.probability.mechanism import Mechanism

ROWS = 100_000
"""Databases of a general mechanism are listed up to this many."""


def iid(prior: Any, n: int) -> Any:
    r"""Return the law of a database of n independent entries, each with the same prior.

    Parameters
    ----------
    prior : Measure or PriorSet
        The law of one entry, on a finite alphabet D or on a bounded interval; or
        ``bl.priors.bernoulli(lo, hi)``.
    n : int
        Number of entries, at least 1.

    Returns
    -------
    Database or BitDatabase
        ``iid(prior, n) * mech`` is the joint with a mechanism on databases: one whose secret is
        ``D**n`` (up to 10^5 databases); one about the number of ones in a database of bits, whose
        secret is ``bl.Integers(0, n)``; or `bl.mechanisms.counting_query` and `histogram`, for any
        n. Entries on an interval are seen through `bl.mechanisms.laplace_mean` or
        `gaussian_mean`, for any n.
        Over a set of priors figures are suprema over its members: closed forms for the counting
        query, certified branch and bound over p for finite mechanisms, those about the number of
        ones up to n = 500; so for one bit of a count with Gaussian noise.

    Raises
    ------
    InvalidInput
        A prior that is neither finite nor on a bounded interval, ``n`` not an integer >= 1.

    References
    ----------
    Saeidian, Cervia, Oechtering, Skoglund, "Rethinking Disclosure Prevention with Pointwise
    Maximal Leakage", Section 4.

    Examples
    --------
    >>> from fractions import Fraction as F
    >>> import borel as bl
    >>> database = iid(bl.pmf([F(2, 3), F(1, 3)]), 2)
    >>> database.law.probabilities.tolist()
    [Fraction(4, 9), Fraction(2, 9), Fraction(2, 9), Fraction(1, 9)]
    """
    from borel.priors.probability_intervals import Bernoulli
    from borel.priors.sets import PriorSet

    if isinstance(prior, Bernoulli):
        from borel.databases.bits import BitDatabase

        return BitDatabase(prior, n)
    if isinstance(prior, PriorSet):
        raise NotYet(
            "iid(prior_set, n)",
            missing=f"databases over {prior!r}",
            instead="bl.priors.bernoulli(lo, hi), or one prior at a time.",
        )
    return Database(prior, n)


def _bounded(on: Alphabet) -> bool:
    return isinstance(on, Interval) and math.isfinite(on.lower) and math.isfinite(on.upper)


class Database:
    """The law of n independent entries; made by `iid`.

    Attributes
    ----------
    prior : Measure
        The law of one entry.
    n : int
        Number of entries.
    """

    __array_ufunc__ = None

    def __init__(self, prior: Any, n: Any):
        lawful = isinstance(prior, Measure) and not prior.batch
        if not lawful or not (prior.on.kind == "finite" or _bounded(prior.on)):
            raise InvalidInput(
                "iid",
                expected="a prior on a finite alphabet or a bounded interval, the law of one entry",
                got=repr(prior),
                mend="write bl.iid(bl.pmf([...], on=alphabet), n), or restrict the prior.",
            )
        if prior.unproved:
            raise NotYet(
                "iid(prior, n)",
                missing=f"an entry whose law is known in float64 only: {prior.unproved}",
                instead="bl.pmf of its probabilities means the law within their rounding.",
            )
        self.prior, self.n = prior, entries("iid", n)

    @property
    def on(self) -> Alphabet:
        """The alphabet of databases, D**n."""
        return self.prior.on**self.n

    @cached_property
    def law(self) -> Measure:
        """The law of the whole database, a Measure on D**n.

        Raises
        ------
        NotYet
            More than 10^5 databases.
        """
        if self.prior.on.kind != "finite":
            raise NotYet(
                "iid(prior, n)",
                missing=f"the law of databases on {self.on!r}",
                instead="one entry of a noisy mean: bl.entry(iid(prior, n) * "
                "bl.mechanisms.laplace_mean(n=n, b=b)).",
            )
        size = self.prior.on.size**self.n
        if size > ROWS:
            raise NotYet(
                "iid(prior, n)",
                missing=f"a list of {self.prior.on.size}**{self.n} databases; up to {ROWS}",
                instead="bl.mechanisms.counting_query sees a database through its count: any n.",
            )
        return product_law(self.prior, self.n, self.on)

    def chance(self, query: Any) -> Ends:
        """Enclose the probability that an entry counts, to a query or as a label 1."""
        on = self.prior.on
        mask = (
            query.counts(on)
            if isinstance(query, CountingQuery)
            else tuple(label == 1 for label in on.labels)
        )
        return chance(self.prior, on, mask)

    def count_law(self, mechanism: Mechanism) -> Any:
        """Return the law of the count that a mechanism sees, Binomial(n, p): up to n = 10^5."""
        p = self.chance(mechanism)
        law = binomial_law(self.n, p, mechanism.secret) if self.n <= ROWS else None
        name = f"Binomial({self.n}, {float(p.lower):g})"
        return Unlisted(mechanism.secret, name) if law is None else law

    def __mul__(self, mechanism: Any) -> DatabaseJoint:
        """Return the joint of the database and an outcome: ``iid(prior, n) * mech``."""
        if hasattr(mechanism, "mechanisms"):
            raise NotYet(
                "iid(prior, n) * family",
                missing="a family of mechanisms on databases",
                instead="one at a time: iid(prior, n) * family.mechanisms.sel(...).item().",
            )
        if not isinstance(mechanism, Mechanism):
            return NotImplemented
        return DatabaseJoint(self, mechanism)

    def __matmul__(self, other: Any) -> Any:
        """Refuse: the law of the outcome is a joint's."""
        raise TypeError("iid(prior, n) @ mech: write (iid(prior, n) * mech).marginal")

    def __repr__(self) -> str:
        """Show the prior of an entry and their number."""
        return f"iid({self.prior!r}, {self.n})"


class Unlisted:
    """A law that is too long to list: closed forms do not ask for it."""

    over = "one prior"
    batch = ()

    def __init__(self, on: Alphabet, name: str):
        self.on, self.name = on, name
        self._missing = (
            f"a list of {on.size} counts; up to {ROWS}, none of them below 2e-308 "
            "unless it is a short Fraction"
            if isinstance(on, Integers)
            else "figures of the whole database, by the law of the statistic"
        )

    def __getattr__(self, name: str) -> Any:
        """Say that there is no list, whatever is asked of it."""
        if name.startswith("__"):
            raise AttributeError(name)
        raise self._no_list()

    def __mul__(self, mechanism: Any) -> Any:
        """Say so too: of a special method `__getattr__` is not asked."""
        raise self._no_list()

    def _no_list(self) -> NotYet:
        return NotYet(
            f"the law of the {'count' if isinstance(self.on, Integers) else 'statistic'}",
            missing=self._missing,
            instead="closed forms need none: bl.pml(joint).sup() of a count, "
            "bl.pml(bl.entry(joint)).",
        )

    def __repr__(self) -> str:
        """Show its name."""
        return f"Unlisted({self.name})"


_STATISTICS: dict[type, str] = {
    CountingQuery: "a counting query",
    NoisyMean: "a noisy mean",
    Histogram: "a histogram",
}


class DatabaseJoint(Joint):
    """The joint law of a database of independent entries and an outcome.

    Attributes
    ----------
    database : Database
        The law of the database.
    mechanism : Mechanism
        The kernel: on D**n, or on the count that a counting query sees.
    """

    _made_of = ("database", "mechanism")

    def __init__(self, database: Database, mechanism: Mechanism):
        self.database, self.mechanism = database, mechanism
        known = isinstance(mechanism, (CountingQuery, NoisyMean, Histogram))
        if known and mechanism.n != database.n:
            raise InvalidInput(
                "iid(prior, n) * mech",
                expected=f"{_STATISTICS[type(mechanism)]} on {database.n} entries",
                got=f"one on n = {mechanism.n}",
            )
        if isinstance(mechanism, NoisyMean):
            require_numbers(database.prior)
            return
        if isinstance(mechanism, CountingQuery):
            mechanism.counts(database.prior.on)
            return
        if isinstance(mechanism, Histogram):
            mechanism.require_bins(database.prior.on)
            return
        if self.counted:
            return
        law = database.law
        if not covers(mechanism.secret, law):
            raise InvalidInput(
                "iid(prior, n) * mech",
                expected=f"a mechanism whose secrets are the databases {database.on!r}",
                got=f"one on {mechanism.secret!r}",
                mend=f"give it secret=alphabet**{database.n}: labels are tuples, one per entry.",
            )

    @property
    def counted(self) -> bool:
        """Whether the mechanism sees the number of ones: its secrets are 0, ..., n."""
        if self.database.prior.on.kind != "finite":
            return False
        bits = set(self.database.prior.on.labels) <= {0, 1}
        return bits and self.mechanism.secret == Integers(0, self.database.n)

    @cached_property
    def prior(self) -> Any:  # type: ignore[override]
        """The law of the database, or of the count that the mechanism sees."""
        if isinstance(self.mechanism, NoisyMean):
            return Unlisted(self.mechanism.secret, f"{self.mechanism.of} of {self.database!r}")
        if isinstance(self.mechanism, Histogram):
            return Unlisted(self.mechanism.secret, f"histogram of {self.database!r}")
        if isinstance(self.mechanism, CountingQuery) or self.counted:
            return self.database.count_law(self.mechanism)
        return self.database.law

    def entry(self, i: int) -> Joint:
        """Return the joint of one entry with the outcome; see `borel.entry`."""
        database, mechanism = self.database, self.mechanism
        prior, n = database.prior, database.n
        if self.counted:
            mechanism = as_query(mechanism, n)
        if isinstance(mechanism, NoisyMean):
            kernel = mean_kernel(prior, mechanism)
        elif isinstance(mechanism, CountingQuery):
            kernel = counting_kernel(prior, n, mechanism)
        elif isinstance(mechanism, Histogram):
            kernel = mechanism.entry(prior)
        elif self.counted:
            others = binomial_others(n, database.chance(mechanism))
            kernel = count_kernel(prior, (others, others), mechanism)
        elif n == 1:
            kernel = mechanism
        elif mechanism.finite:
            kernel = finite_kernel(prior, n, mechanism, i)
        else:
            kernel = mixture_kernel(prior, n, mechanism, i)
        return prior * kernel

    def __repr__(self) -> str:
        """Show the database and the mechanism."""
        return f"DatabaseJoint({self.database!r} * {self.mechanism!r})"


def entry(joint: Any, i: int = 0) -> Joint:
    r"""Return the joint of one entry of a database with the outcome.

    The other entries are integrated out under the same prior, so that the kernel moves with it:

    .. math:: f(y|d) = E\big[f(y \mid D_1, \dots, D_{i-1}, d, D_{i+1}, \dots, D_n)\big]

    Parameters
    ----------
    joint : Joint
        ``bl.iid(prior, n) * mech``; or one law on D**n, a table, times a finite mechanism: its
        entries may depend on one another, and the others are integrated out given the one; or
        ``bl.priors.product([...]) * mech`` or ``bl.priors.full_support(D**n) * mech`` with a
        finite mechanism: figures are suprema over the set, exact.
    i : int
        Which entry, 0, ..., n - 1; a counting query treats all of them alike.

    Returns
    -------
    Joint
        The prior of one entry times the kernel of one entry. For a finite mechanism its figures
        are exact. For a counting query with Laplace noise PML and PMC at every outcome, their
        suprema, laws and quantiles, E e^PML, LDP and maximal leakage are closed forms for every n
        (see Notes); what is left is ``conditional`` up to n = 50 (the weights of the mixture are
        rounded to floats), and an estimate beyond. For noise on a mean or a sum see Notes, for
        histograms `bl.mechanisms.histogram`.

    Raises
    ------
    InvalidInput
        A joint that is not over a database, an entry that is not there.

    Notes
    -----
    Counting query, a = 1/(nb) for a fraction and 1/b for a count, entries that count with
    probability p in (0, 1): sup PML is a - log(1 - q + q e^a) with q = min(p, 1 - p), sup PMC is
    log(1 - q + q e^a) with q = max(p, 1 - p), LDP is a. Proofs in
    `borel.mechanisms.counting_entry`.

    Laplace noise on the mean of entries in [c, d], a = 1/(nb): sup PMC is the larger of
    log E e^{a(D - c)} and log E e^{a(d - D)}, LDP is a (d - c); sup PML is the larger of minus the
    logarithms of E e^{-a(D - c)} and E e^{-a(d - D)} for log-concave laws. These are exact for
    uniform and beta entries; of other laws they are certified. PML and PMC at outcomes outside of
    [c, d] are known for every law, inside it for uniform entries, for beta ones with both
    parameters >= 1 and for Beta(1/2, 1/2). Gaussian noise: the suprema are infinite. Proofs in
    `borel.databases.entry_means`.

    References
    ----------
    Saeidian, Cervia, Oechtering, Skoglund, "Rethinking Disclosure Prevention with Pointwise
    Maximal Leakage", Section 4, Theorems 4.2(3) and 4.5(3) and Proposition 4.6.

    Examples
    --------
    >>> import borel as bl
    >>> query = bl.mechanisms.counting_query(n=1_000_000, b=1.0, of="count")
    >>> one = bl.entry(bl.iid(bl.pmf([0.75, 0.25]), 1_000_000) * query)
    >>> bl.pml(one).sup(), bl.pmc(one).sup()
    (Bound(0.6426259805, exact), Bound(0.8279889392, exact))
    """
    n = entries_of(joint)
    if isinstance(i, bool) or not isinstance(i, (int, np.integer)) or not 0 <= i < n:
        raise InvalidInput("bl.entry", expected=f"i = an entry, 0 to {n - 1}", got=repr(i))
    if hasattr(joint, "entry"):
        return joint.entry(int(i))
    if is_set(joint):
        return EntryJoint(joint.prior, joint.mechanism, int(i))
    return entry_of_table(joint, int(i))
