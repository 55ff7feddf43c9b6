"""Databases of independent entries, and what an outcome tells about one of them."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cached_property, partial, reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from borel.alphabets import Alphabet, Integers, Reals
from borel.density import Density
from borel.engine.discrete.noisy_count import Ends, NoisyCount
from borel.engine.intervals.rounding import NORMAL, U, rounding_of
from borel.errors import InvalidInput, NotYet
from borel.joint import Joint
from borel.measures import Measure, covers
from borel.mechanism import Mechanism
from borel.mechanisms.counting import CountingQuery, entries
from borel.probabilities import as_floats, carried, exactly, require_no_underflow

if TYPE_CHECKING:
    pass

ROWS = 100_000
"""Databases of a general mechanism are listed up to this many."""
_TRACED = 50
"""Mixtures of up to this many kernels are traced."""
_LISTED = 20_000
_BITS = 20_000


def iid(prior: Any, n: int) -> Any:
    r"""Return the law of a database of n independent entries, each with the same prior.

    Parameters
    ----------
    prior : Measure or PriorSet
        The law of one entry, on a finite alphabet D; or ``bl.priors.bernoulli(lo, hi)``.
    n : int
        Number of entries, at least 1.

    Returns
    -------
    Database or BitDatabase
        ``iid(prior, n) * mech`` is the joint with a mechanism on databases: one whose secret is
        ``D**n`` (up to 10^5 databases); one about the number of ones in a database of bits, whose
        secret is ``bl.Integers(0, n)``; or `bl.mechanisms.counting_query`, for any n. Over a set
        of priors figures are suprema over its members: closed forms for the counting query,
        certified branch and bound over p for finite mechanisms.

    Raises
    ------
    InvalidInput
        A prior that is not a finite Measure, ``n`` not an integer >= 1.

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
    from borel.priors.bands import Bernoulli
    from borel.priors.sets import PriorSet

    if isinstance(prior, Bernoulli):
        from borel.priors.bit_databases import BitDatabase

        return BitDatabase(prior, n)
    if isinstance(prior, PriorSet):
        raise NotYet(
            "iid(prior_set, n)",
            missing=f"databases over {prior!r}",
            instead="bl.priors.bernoulli(lo, hi), or one prior at a time.",
        )
    return Database(prior, n)


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
        if not isinstance(prior, Measure) or prior.on.kind != "finite" or prior.batch:
            raise InvalidInput(
                "iid",
                expected="a prior on a finite alphabet, the law of one entry",
                got=repr(prior),
                mend="write bl.iid(bl.pmf([...], on=alphabet), n).",
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
        law = _binomial(self.n, p, mechanism.secret) if self.n <= ROWS else None
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

    leakage_of = figure_of = None
    batch = ()

    def __init__(self, on: Alphabet, name: str):
        self.on, self.name = on, name

    def __getattr__(self, name: str) -> Any:
        """Say that there is no list, whatever is asked of it."""
        if name.startswith("__"):
            raise AttributeError(name)
        raise NotYet(
            "the law of the count",
            missing=f"a list of {self.on.size} counts; up to {ROWS}, none of them below 2e-308 "
            "unless it is a short Fraction",
            instead="closed forms need none: bl.pml(joint).sup(), bl.pml(bl.entry(joint)).",
        )

    def __repr__(self) -> str:
        """Show its name."""
        return f"Unlisted({self.name})"


class DatabaseJoint(Joint):
    """The joint law of a database of independent entries and an outcome.

    Attributes
    ----------
    database : Database
        The law of the database.
    mechanism : Mechanism
        The kernel: on D**n, or on the count that a counting query sees.
    """

    def __init__(self, database: Database, mechanism: Mechanism):
        self.database, self.mechanism = database, mechanism
        if isinstance(mechanism, CountingQuery):
            if mechanism.n != database.n:
                raise InvalidInput(
                    "iid(prior, n) * mech",
                    expected=f"a counting query on {database.n} entries",
                    got=f"one on n = {mechanism.n}",
                )
            mechanism.counts(database.prior.on)
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
        bits = set(self.database.prior.on.labels) <= {0, 1}
        return bits and self.mechanism.secret == Integers(0, self.database.n)

    @cached_property
    def prior(self) -> Any:  # type: ignore[override]
        """The law of the database, or of the count that the mechanism sees."""
        if isinstance(self.mechanism, CountingQuery) or self.counted:
            return self.database.count_law(self.mechanism)
        return self.database.law

    def entry(self, i: int) -> Joint:
        """Return the joint of one entry with the outcome; see `borel.entry`."""
        database, mechanism = self.database, self.mechanism
        if isinstance(mechanism, CountingQuery):
            kernel = _counting_entry(database, mechanism)
        elif self.counted:
            kernel = _count_entry(database, mechanism)
        elif database.n == 1:
            kernel = mechanism
        elif mechanism.finite:
            kernel = _finite_entry(database, mechanism, i)
        else:
            kernel = _mixture_entry(database, mechanism, i)
        return database.prior * kernel

    def __repr__(self) -> str:
        """Show the database and the mechanism."""
        return f"DatabaseJoint({self.database!r} * {self.mechanism!r})"


def entry(joint: Any, i: int = 0) -> Joint:
    r"""Return the joint of one entry of a database with the outcome.

    The other entries are integrated out under the same prior, so that the kernel moves with it:

    .. math:: f(y|d) = E\big[f(y \mid D_1, \dots, D_{i-1}, d, D_{i+1}, \dots, D_n)\big]

    Parameters
    ----------
    joint : DatabaseJoint
        ``bl.iid(prior, n) * mech``.
    i : int
        Which entry, 0, ..., n - 1; a counting query treats all of them alike.

    Returns
    -------
    Joint
        The prior of one entry times the kernel of one entry. For a finite mechanism its figures
        are exact. For a counting query with Laplace noise PML and PMC at every outcome, their
        suprema, laws and quantiles, E e^PML, LDP and maximal leakage are closed forms for every n
        (see Notes); what is left is ``conditional`` up to n = 50 (the weights of the mixture are
        rounded to floats), and an estimate beyond.

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

    References
    ----------
    Saeidian, Cervia, Oechtering, Skoglund, "Rethinking Disclosure Prevention with Pointwise
    Maximal Leakage", Section 4 and Proposition 4.6.

    Examples
    --------
    >>> import borel as bl
    >>> query = bl.mechanisms.counting_query(n=1_000_000, b=1.0, of="count")
    >>> one = bl.entry(bl.iid(bl.pmf([0.75, 0.25]), 1_000_000) * query)
    >>> bl.pml(one).sup(), bl.pmc(one).sup()
    (Bound(0.6426259805, exact), Bound(0.8279889392, exact))
    """
    if not hasattr(joint, "entry") or getattr(joint, "i", None) is not None:
        raise InvalidInput(
            "bl.entry",
            expected="a joint over databases, bl.iid(prior, n) * mech",
            got=repr(joint),
        )
    n = joint.database.n
    if isinstance(i, bool) or not isinstance(i, (int, np.integer)) or not 0 <= i < n:
        raise InvalidInput("bl.entry", expected=f"i = an entry, 0 to {n - 1}", got=repr(i))
    return joint.entry(int(i))


# -- laws ---------------------------------------------------------------------------------------


def product_law(prior: Measure, n: int, on: Alphabet) -> Measure:
    """Return the product of n equal laws as a Measure on D**n."""
    p = prior.probabilities
    if p.dtype != object:
        require_no_underflow("iid(prior, n)", *[p] * n)
    law = reduce(lambda a, b: np.multiply.outer(a, b).ravel(), [p] * n)
    error = 0.0 if prior.rational else n * (max(prior.rounding, U) + U) * 1.0001
    return Measure(law, on, rounding=error, unproved=prior.unproved)


def chance(prior: Measure, alphabet: Alphabet, mask: tuple[bool, ...]) -> Ends:
    """Enclose the probability of a set of labels, exact for Fractions and for 0 and 1.

    Floats mean every normalised law within their relative rounding.
    """
    p = prior.at(alphabet)
    inside = sum((exactly(v) for v, m in zip(p, mask, strict=True) if m), Fraction(0))
    outside = sum((exactly(v) for v, m in zip(p, mask, strict=True) if not m), Fraction(0))
    if inside == 0 or outside == 0:
        return Ends(Fraction(inside > 0), Fraction(inside > 0))
    if prior.rational:
        return Ends(inside, inside)
    e = exactly(float(np.max(rounding_of(np.asarray(p, float), prior.rounding))))
    low = max(inside * (1 - e), 1 - outside / (1 - e))
    high = min(inside / (1 - e), 1 - outside * (1 - e))
    return Ends(low, high)


def _binomial(n: int, p: Ends, on: Alphabet) -> Measure | None:
    """Return Binomial(n, p) on 0, ..., n: Fractions where they are short, else floats.

    None if float64 would lose some of the probabilities: a lost mass is not a zero.
    """
    x, y = p.lower.numerator, p.lower.denominator
    if p.lower == p.upper and n * y.bit_length() <= _BITS:
        law = np.empty(n + 1, dtype=object)
        law[:] = [Fraction(math.comb(n, k) * x**k * (y - x) ** (n - k), y**n) for k in range(n + 1)]
        return Measure(law, on)
    from borel.engine.balls.arb import ball, precision

    middle = (p.lower + p.upper) / 2
    if middle in (0, 1):
        return Measure(np.array([float(k == n * middle) for k in range(n + 1)]), on)
    count = NoisyCount(n, Fraction(1), Ends(middle, middle))
    with precision(128):
        law = np.array([float(count.weight(k, ball(middle)).mid()) for k in range(n + 1)])
    if law.min() < NORMAL:
        return None
    half = (p.upper - p.lower) / 2
    error = float(n * half / min(middle, 1 - middle)) * 1.01 + 8 * U
    return Measure(law, on, rounding=error)


# -- kernels of one entry -----------------------------------------------------------------------


def _counting_entry(database: Database, query: CountingQuery) -> Mechanism:
    from borel.mechanisms.counting_entry import EntryForms

    alphabet = database.prior.on
    counted = query.counts(alphabet)
    noise = NoisyCount(database.n - 1, query.rate, chance(database.prior, alphabet, counted))
    out = Mechanism(
        None,
        secret=alphabet,
        outcome=Reals(),
        name=f"one entry of {query.name}",
    )
    ones = [label for label, c in zip(alphabet.labels, counted, strict=True) if c]
    middle = float((noise.p.lower + noise.p.upper) / 2)
    weights = _weights(noise.others, middle) if noise.others <= _LISTED else None
    spaces = {"y": out.outcome, "x": alphabet}
    if not alphabet.numeric:
        out.density = Density(_no_numbers, spaces, log=True, opaque="labels that are no numbers")
    elif noise.others < _TRACED:
        assert weights is not None
        log_density = partial(_mixture, ones, weights, float(query.unit), query.scale)
        out.density = Density(log_density, spaces, log=True)
        out.normalisation = "rounded: the binomial weights of the mixture are floats"
    else:
        log_density = partial(_long_mixture, ones, middle, noise.others, query)
        why = f"a mixture of {database.n} kernels; up to {_TRACED} are traced"
        out.density = Density(log_density, spaces, log=True, opaque=why)
    out.sampler = partial(_draw_entry, ones, middle, noise.others, query)
    out.closed_forms = EntryForms(noise, query.unit, counted)
    return out


def _weights(n: int, p: float) -> np.ndarray:
    from scipy import stats

    return stats.binom.pmf(np.arange(n + 1), n, p)


def _counts(ones: list, x: Any) -> Any:
    """Return 1 for a label that counts, else 0."""
    return sum((np.where(np.equal(x, one), 1.0, 0.0) for one in ones), 0.0 * x)


def _mixture(ones: list, weights: np.ndarray, unit: float, scale: float, y: Any, x: Any) -> Any:
    """Return log f(y|x), far from the counts by the distance to the first one."""
    first = np.abs(y - _counts(ones, x) / unit)
    terms = [
        float(w) * np.exp((first - np.abs(y - (_counts(ones, x) + m) / unit)) / scale)
        for m, w in enumerate(weights)
        if w > 0
    ]
    return np.log(sum(terms)) - first / scale - float(np.log(2 * scale))


def _long_mixture(ones: list, p: float, n: int, query: CountingQuery, y: Any, x: Any) -> Any:
    """Return log f(y|x) in float64, summed over all counts in blocks of them."""
    from scipy import special, stats

    y, x = np.broadcast_arrays(np.asarray(y, float), np.asarray(x, float))
    counted = np.isin(x, np.asarray(ones, float))
    t = (y * query.unit - counted).ravel()
    total = np.full(t.shape, -np.inf)
    block = max(1, 4_000_000 // max(len(t), 1))
    for start in range(0, n + 1, block):
        m = np.arange(start, min(start + block, n + 1))
        terms = stats.binom.logpmf(m, n, p) - np.abs(t[:, None] - m) * float(query.rate)
        total = np.logaddexp(total, special.logsumexp(terms, axis=1))
    return (total - np.log(2 * query.scale)).reshape(y.shape)


def _no_numbers(y: Any, x: Any) -> Any:
    raise NotYet(
        "the density of one entry",
        missing="labels that are no numbers",
        instead="number the labels; leakage, its law, LDP and maximal leakage are closed forms.",
    )


def _draw_entry(
    ones: list, p: float, n: int, query: CountingQuery, x: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    count = np.isin(x, np.asarray(ones, float)) + rng.binomial(n, p, size=np.shape(x))
    return count / query.unit + rng.laplace(scale=query.scale, size=np.shape(x))


def _rows(database: Database, mechanism: Mechanism) -> np.ndarray:
    """Return the rows of a matrix in the order of D**n, as an array (|D|, ..., |D|, m)."""
    rows = np.asarray(mechanism.secret.positions(list(database.on.labels), "x"))
    d = database.prior.on.size
    return mechanism.matrix[rows].reshape(*[d] * database.n, -1)


def _finite_entry(database: Database, mechanism: Mechanism, i: int) -> Mechanism:
    kernel, prior, n = _rows(database, mechanism), database.prior, database.n
    others = product_law(prior, n - 1, prior.on ** (n - 1)).probabilities
    d, m = prior.on.size, kernel.shape[-1]
    kernel = np.moveaxis(kernel, i, 0).reshape(d, -1, m)
    rounding = 0.0
    if not (prior.rational and mechanism.rational):
        what = "bl.entry"
        others, kernel = as_floats(others, what), as_floats(kernel, what)
        require_no_underflow(what, others, kernel)
        own = (n - 1) * (max(prior.rounding, U) + U) + max(mechanism.rounding, U)
        rounding = (own + (len(others) + 2) * U) * 1.0001
    matrix = (
        np.einsum("k,dkm->dm", others, kernel, optimize=False)
        if rounding
        else (np.stack([others @ block for block in kernel]))
    )
    out = Mechanism._from_matrix(
        matrix,
        prior.on,
        mechanism.outcome,
        f"entry {i} of {mechanism.name or 'a mechanism'}",
        rounding,
    )
    out.unproved = carried(prior, mechanism)
    return out


def _count_entry(database: Database, mechanism: Mechanism) -> Mechanism:
    """Return the kernel of one bit for a finite mechanism about their number."""
    if not mechanism.finite:
        raise NotYet(
            "bl.entry",
            missing="outcomes that are not finite, but for bl.mechanisms.counting_query",
        )
    prior, n = database.prior, database.n
    others = _binomial(n - 1, database.chance(mechanism), Integers(0, n - 1))
    if others is None:
        raise NotYet(
            "bl.entry",
            missing=f"the law of {n - 1} bits, some of which float64 cannot hold",
            instead="a prior of Fractions with small denominators.",
        )
    w, kernel = others.probabilities, mechanism.matrix
    error = 0.0
    if not (others.rational and mechanism.rational):
        w, kernel = as_floats(w, "bl.entry"), as_floats(kernel, "bl.entry")
        error = (others.rounding + max(mechanism.rounding, U) + (n + 4) * U) * 1.0001
    rows = {0: w @ kernel[:-1], 1: w @ kernel[1:]}
    matrix = np.stack([rows[int(label)] for label in prior.on.labels])
    out = Mechanism._from_matrix(
        matrix, prior.on, mechanism.outcome, f"one entry of {mechanism.name or 'a count'}", error
    )
    out.unproved = carried(prior, mechanism)
    return out


def _mixture_entry(database: Database, mechanism: Mechanism, i: int) -> Mechanism:
    """Mix the density of a mechanism on small databases of numbers over the other entries."""
    prior, n = database.prior, database.n
    if mechanism.density is None or mechanism.masses:
        raise NotYet("bl.entry", missing=f"{mechanism!r} on databases")
    others = prior.on ** (n - 1)
    law = product_law(prior, n - 1, others)
    weights = np.asarray(law.probabilities, float)
    labels = [label if n > 2 else (label,) for label in others.labels]
    kept = [(w, label) for w, label in zip(weights, labels, strict=True) if w > 0]
    inner = mechanism.density

    def density(y: Any, x: Any) -> Any:
        def at(rest: tuple) -> Any:
            point = [
                np.full_like(x, float(v)) if isinstance(x, np.ndarray) else float(v) + 0.0 * x
                for v in rest
            ]
            return inner.linear(y, (*point[:i], x, *point[i:]))

        return sum(float(w) * at(rest) for w, rest in kept)

    opaque = f"a mixture of {len(kept)} kernels" if len(kept) > _TRACED else ""
    out = Mechanism(
        None, secret=prior.on, outcome=mechanism.outcome, name=f"entry {i} of {mechanism.name}"
    )
    spaces = {"y": mechanism.outcome, "x": prior.on}
    out.density = Density(density, spaces, opaque=opaque)
    out.breaks = mechanism.breaks
    out.normalisation = "rounded: the weights of the mixture are floats"
    return out
