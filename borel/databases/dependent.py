r"""Databases of dependent entries: exchangeable bits, and the states of a Markov chain.

What a mechanism about the number of ones tells about one bit depends on the law of the number of
the other ones given that bit, P(D_i = d, others = k): n numbers for each d, found without a list of
the 2**n databases and in rational arithmetic.

*Exchangeable* (de Finetti): given p the bits are independent, and p has the mixing law. Then
:math:`P(d, k) = \binom{n-1}{k} E[p^{d+k} (1-p)^{n-d-k}]`, for Beta(a, b) a quotient of rising
factorials, :math:`a^{(d+k)} b^{(n-d-k)} / (a+b)^{(n)}`.

*Markov chain* with the initial law pi and the matrix T: with :math:`Z = \mathrm{diag}(1, z)`, the
coefficient of :math:`z^k` in :math:`(\pi Z T \cdots Z T)_d \, (T Z \cdots T Z \, 1)_d`, i factors
Z on the left and n - 1 - i on the right.

Tested in ``tests/test_dependent_databases.py``.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cached_property, partial
from typing import Any

import numpy as np

from borel.databases.correlated import entry_of_table
from borel.databases.dependent_counts import DependentCount
from borel.databases.entry_kernels import count_kernel
from borel.databases.iid import ROWS
from borel.errors import InvalidInput, NotYet
from borel.mechanisms.closed_forms import family_of
from borel.mechanisms.counting import CountingQuery, as_query, entries
from borel.mechanisms.noise import GaussianForms
from borel.numerics.intervals.rounding import U, compounded
from borel.probability.alphabets import Alphabet, Finite, Integers
from borel.probability.arrays import as_floats, carried
from borel.probability.density import Density
from borel.probability.joint import Joint
from borel.probability.measure import Measure
from borel.probability.mechanism import Mechanism
from borel.probability.normalisation import Normalisation

_TRACED = 50
"""Up to this many bits the density of one of them is traced: a mixture of as many kernels."""
_DIGITS = 40_000
"""Fractions of more bits than this are rounded to floats."""


def exchangeable(mixing: Measure, n: int) -> DependentDatabase:
    r"""Return the law of n exchangeable bits: independent given p, which has a mixing law.

    .. math:: P(x) = E\big[p^{s} (1 - p)^{n - s}\big], \qquad s = x_1 + \dots + x_n

    Parameters
    ----------
    mixing : Measure
        The law of p = P(D = 1): ``bl.beta(alpha=, beta=)``, the uniform law on (0, 1), or finitely
        many numbers of [0, 1], ``bl.pmf([...], on=bl.Finite([p1, p2, ...]))``. Parameters mean
        their binary64 values.
    n : int
        Number of entries, at least 1.

    Returns
    -------
    DependentDatabase
        Times a mechanism it is a joint, and `bl.entry` of it what leaks about one bit: a mechanism
        on ``bl.Finite(2)**n`` (up to 10^5 databases), one about the number of ones, whose secret
        is ``bl.Integers(0, n)``, or `bl.mechanisms.counting_query`. The last two need no list of
        databases. For finite mechanisms figures are exact; for Laplace noise PML and PMC at every
        outcome, their suprema and LDP are closed forms for every n, and for Gaussian noise the
        suprema. Other figures of a density are ``conditional`` up to n = 50 (the weights of the
        mixture are floats).

    Raises
    ------
    InvalidInput
        Another mixing law, numbers outside of [0, 1], ``n`` not an integer >= 1.

    References
    ----------
    de Finetti (1937). Saeidian, Cervia, Oechtering, Skoglund, "Rethinking Disclosure Prevention
    with Pointwise Maximal Leakage", Section 4: entries that may be correlated.

    Examples
    --------
    >>> import borel as bl
    >>> bl.exchangeable(bl.beta(alpha=1, beta=1), 2).count_law.probabilities.tolist()
    [Fraction(1, 3), Fraction(1, 3), Fraction(1, 3)]
    """
    return Exchangeable(mixing, n)


def markov_chain(initial: Measure, transition: Any, n: int) -> DependentDatabase:
    r"""Return the law of the first n states of a Markov chain, a database of n entries.

    .. math:: P(x) = \pi(x_1) T(x_2 | x_1) \cdots T(x_n | x_{n-1})

    Parameters
    ----------
    initial : Measure
        The law pi of the first entry, on a finite alphabet D.
    transition : Mechanism or sequence
        T, a finite mechanism from D to D; or its matrix, a row for each label of D in order.
    n : int
        Number of entries, at least 1.

    Returns
    -------
    DependentDatabase
        As for `exchangeable`; the number of ones is seen of bits only, D with the labels 0 and 1.

    Raises
    ------
    InvalidInput
        Alphabets that do not match, ``n`` not an integer >= 1.

    References
    ----------
    Saeidian, Cervia, Oechtering, Skoglund, "Rethinking Disclosure Prevention with Pointwise
    Maximal Leakage", Section 4: entries that may be correlated.

    Examples
    --------
    >>> from fractions import Fraction as F
    >>> import borel as bl
    >>> chain = bl.markov_chain(bl.pmf([F(1, 2)] * 2), [[F(3, 4), F(1, 4)], [F(1, 4), F(3, 4)]], 2)
    >>> chain.law.probabilities.tolist()
    [Fraction(3, 8), Fraction(1, 8), Fraction(1, 8), Fraction(3, 8)]
    """
    return MarkovChain(initial, transition, n)


class DependentDatabase:
    """The law of a database whose entries depend on one another.

    Attributes
    ----------
    n : int
        Number of entries.
    factor : Alphabet
        The alphabet of one entry.
    """

    __array_ufunc__ = None
    batch = ()
    factor: Alphabet
    rounding = 0.0
    """How far the probabilities may be off, relatively, as floats stand for several numbers."""
    unproved = ""

    def __init__(self, what: str, n: Any):
        self.n = entries(what, n)

    @property
    def on(self) -> Alphabet:
        """The alphabet of databases, D**n."""
        return self.factor**self.n

    def table(self) -> np.ndarray:
        """Return the probabilities of all databases, Fractions in the order of D**n."""
        raise NotImplementedError

    def with_others(self, i: int) -> list[list[Fraction]]:
        """Return P(D_i = d, others = k) for d = 0, 1, the others being k ones."""
        raise NotImplementedError

    @property
    def bits(self) -> bool:
        """Whether entries have the labels 0 and 1."""
        return set(self.factor.labels) == {0, 1}

    @cached_property
    def law(self) -> Measure:
        """The law of the whole database, a Measure on D**n.

        Raises
        ------
        NotYet
            More than 10^5 databases.
        """
        if self.factor.size**self.n > ROWS:
            raise NotYet(
                "a database of dependent entries",
                missing=f"a list of {self.factor.size}**{self.n} databases; up to {ROWS}",
                instead=f"a mechanism about the number of ones, secret=bl.Integers(0, {self.n}).",
            )
        return self._measure(list(self.table()), self.on)

    @cached_property
    def count_law(self) -> Measure:
        """The law of the number of ones, a Measure on 0, ..., n."""
        zero, one = self.with_others(0)
        both = [a + b for a, b in zip([*zero, Fraction(0)], [Fraction(0), *one], strict=True)]
        return self._measure(both, Integers(0, self.n))

    def entry_law(self, i: int) -> Measure:
        """Return the law of bit i."""
        zero, one = (sum(part, Fraction(0)) for part in self.with_others(i))
        masses = {0: zero, 1: one}
        return self._measure([masses[int(label)] for label in self.factor.labels], self.factor)

    def given(self, i: int) -> tuple[Measure, Measure]:
        """Return the laws of the number of ones among the others, given bit i is 0 and 1.

        Of a value of probability 0, which never is, any law: here that given the other value.
        """
        parts = self.with_others(i)
        masses = [sum(part, Fraction(0)) for part in parts]
        on = Integers(0, self.n - 1)
        zero, one = (
            self._measure([v / masses[d] for v in parts[d]], on)
            for d in (0 if masses[0] else 1, 1 if masses[1] else 0)
        )
        return zero, one

    def _measure(self, masses: list[Fraction], on: Alphabet) -> Measure:
        """Make a Measure of Fractions; of floats where floats were given, or digits are many."""
        law = np.array(masses, dtype=object)
        if not self.rounding and max(v.denominator.bit_length() for v in masses) <= _DIGITS:
            return Measure(law, on, unproved=self.unproved)
        error = compounded(2 * self.rounding, 2 * U)
        return Measure(as_floats(law, repr(self)), on, rounding=error, unproved=self.unproved)

    def __mul__(self, mechanism: Any) -> DependentJoint:
        """Return the joint of the database and an outcome."""
        return (
            DependentJoint(self, mechanism) if isinstance(mechanism, Mechanism) else NotImplemented
        )

    def __matmul__(self, other: Any) -> Any:
        """Refuse: the law of the outcome is a joint's."""
        raise TypeError("database @ mech: write (database * mech).marginal")


class Exchangeable(DependentDatabase):
    """Bits that are independent given p; made by `exchangeable`."""

    def __init__(self, mixing: Any, n: Any):
        what = "bl.exchangeable"
        super().__init__(what, n)
        self.factor, self.mixing = Finite(2), mixing
        name, values = family_of(mixing) if isinstance(mixing, Measure) else ("", {})
        on = getattr(mixing, "on", None)
        unit = getattr(on, "lower", None) == 0 and getattr(on, "upper", None) == 1
        self._beta: tuple[Fraction, Fraction] | None = None
        if name in ("beta", "uniform") and unit and not mixing.batch:
            pair = (values["alpha"], values["beta"]) if name == "beta" else (1, 1)
            self._beta = Fraction(pair[0]), Fraction(pair[1])
            return
        listed = isinstance(mixing, Measure) and not mixing.batch and mixing.on.kind == "finite"
        numbers = listed and all(_is_number(v) and 0 <= v <= 1 for v in mixing.on.labels)
        if not numbers:
            raise InvalidInput(
                what,
                expected="a mixing law of p: bl.beta(alpha=, beta=), bl.uniform(bl.Interval(0, 1)) "
                "or bl.pmf([...], on=bl.Finite([p1, p2, ...])) with numbers of [0, 1]",
                got=repr(mixing),
            )
        self.rounding = 0.0 if mixing.rational else max(mixing.rounding, U)
        self.unproved = mixing.unproved

    def _moments(self) -> list[Fraction]:
        """Return E p^s (1 - p)^(n - s) for s = 0, ..., n."""
        n = self.n
        if self._beta is not None:
            a, b = self._beta
            ones, zeros, whole = (_rising(v, n) for v in (a, b, a + b))
            return [ones[s] * zeros[n - s] / whole[n] for s in range(n + 1)]
        pairs = zip(self.mixing.on.labels, self.mixing.probabilities.tolist(), strict=True)
        found = [Fraction(0)] * (n + 1)
        for label, weight in pairs:
            p, w = Fraction(label), Fraction(weight)
            for s in range(n + 1):
                found[s] += w * p**s * (1 - p) ** (n - s)
        return found

    @cached_property
    def moments(self) -> list[Fraction]:
        """E p^s (1 - p)^(n - s), the probability of each database with s ones."""
        return self._moments()

    def table(self) -> np.ndarray:
        """Return the probabilities of all databases."""
        ones = np.indices([2] * self.n).sum(axis=0).ravel()
        return np.array(self.moments, dtype=object)[ones]

    def with_others(self, i: int) -> list[list[Fraction]]:
        """Return P(D_i = d, others = k), the same for every i."""
        m = self.n - 1
        return [[math.comb(m, k) * self.moments[d + k] for k in range(m + 1)] for d in (0, 1)]

    def __repr__(self) -> str:
        """Show the mixing law and the number of entries."""
        return f"exchangeable({self.mixing!r}, {self.n})"


class MarkovChain(DependentDatabase):
    """The states of a Markov chain; made by `markov_chain`."""

    def __init__(self, initial: Any, transition: Any, n: Any):
        what = "bl.markov_chain"
        super().__init__(what, n)
        lawful = isinstance(initial, Measure) and not initial.batch
        if not lawful or initial.on.kind != "finite" or initial.on.dim > 1:
            raise InvalidInput(
                what,
                expected="the law of the first entry on a finite alphabet, bl.pmf([...])",
                got=repr(initial),
            )
        self.factor, self.initial = initial.on, initial
        if not isinstance(transition, Mechanism):
            transition = Mechanism.from_matrix(transition, secret=initial.on, outcome=initial.on)
        if not transition.finite or {transition.secret, transition.outcome} != {initial.on}:
            raise InvalidInput(
                what,
                expected=f"a finite mechanism from {initial.on!r} to itself",
                got=repr(transition),
            )
        self.transition = transition
        self.unproved = carried(initial, transition)
        steps = [m.rounding if m.rational else max(m.rounding, U) for m in (initial, transition)]
        self.rounding = compounded(steps[0], self.n * steps[1]) if any(steps) else 0.0

    def table(self) -> np.ndarray:
        """Return the probabilities of all databases."""
        rows = _fractions(self.transition.matrix)
        found = _fractions(self.initial.probabilities)
        for _ in range(self.n - 1):
            found = (found.reshape(-1, len(rows), 1) * rows).ravel()
        return found

    def with_others(self, i: int) -> list[list[Fraction]]:
        """Return P(D_i = d, others = k) for bits."""
        from flint import fmpq, fmpq_poly

        if not self.bits:
            raise InvalidInput(
                "the number of ones",
                expected="entries with the labels 0 and 1",
                got=repr(self.factor),
                mend="for other entries: .law, and bl.entry of a mechanism on the databases.",
            )

        def rational(v: Any) -> Any:
            return fmpq(*Fraction(v).as_integer_ratio())

        z, one = fmpq_poly([0, 1]), fmpq_poly([1])
        weight = [z if label == 1 else one for label in self.factor.labels]
        T = [[rational(v) for v in row] for row in self.transition.matrix.tolist()]
        before = [fmpq_poly([rational(v)]) for v in self.initial.probabilities.tolist()]
        for _ in range(i):
            seen = [b * w for b, w in zip(before, weight, strict=True)]
            before = [seen[0] * T[0][d] + seen[1] * T[1][d] for d in (0, 1)]
        after = [one, one]
        for _ in range(self.n - 1 - i):
            seen = [a * w for a, w in zip(after, weight, strict=True)]
            after = [seen[0] * T[d][0] + seen[1] * T[d][1] for d in (0, 1)]
        found: list[list[Fraction]] = [[], []]
        for d, label in enumerate(self.factor.labels):
            whole = before[d] * after[d]
            terms = [Fraction(int(v.p), int(v.q)) for v in whole.coeffs()]
            found[int(label)] = terms + [Fraction(0)] * (self.n - len(terms))
        return found

    def __repr__(self) -> str:
        """Show the initial law, the transitions and the number of entries."""
        return f"markov_chain({self.initial!r}, {self.transition!r}, {self.n})"


class DependentJoint(Joint):
    """The joint law of a database of dependent entries and an outcome.

    Attributes
    ----------
    database : DependentDatabase
        The law of the database.
    mechanism : Mechanism
        The kernel: on D**n, or on the number of ones.
    """

    _made_of = ("database", "mechanism")

    def __init__(self, database: DependentDatabase, mechanism: Mechanism):
        self.database, self.mechanism = database, mechanism
        what = f"{database!r} * mech"
        if isinstance(mechanism, CountingQuery) and mechanism.counts(database.factor) != tuple(
            label == 1 for label in database.factor.labels
        ):
            raise InvalidInput(what, expected="a query that counts the ones", got="another one")
        if not self.counted and mechanism.secret != database.on:
            raise InvalidInput(
                what,
                expected=f"a mechanism whose secrets are the databases {database.on!r}, or, of "
                f"bits, the number of ones, bl.Integers(0, {database.n})",
                got=f"one on {mechanism.secret!r}",
            )

    @property
    def counted(self) -> bool:
        """Whether the mechanism sees the number of ones: its secrets are 0, ..., n."""
        return self.database.bits and self.mechanism.secret == Integers(0, self.database.n)

    @cached_property
    def prior(self) -> Any:  # type: ignore[override]
        """The law of the number of ones, if that is all that is seen, or of the database."""
        return self.database.count_law if self.counted else self.database.law

    def entry(self, i: int) -> Joint:
        """Return the joint of one entry with the outcome; see `borel.entry`."""
        database, mechanism = self.database, self.mechanism
        if not self.counted:
            return entry_of_table(database.law * mechanism, i)
        own, given = database.entry_law(i), database.given(i)
        if mechanism.finite:
            return own * count_kernel(own, given, mechanism)
        if database.unproved:
            raise NotYet(
                "bl.entry",
                missing=f"a law of the database that is proved: {database.unproved}",
                instead="bl.pmf of its probabilities, which means the law within their rounding; "
                "or a finite mechanism about the number of ones.",
            )
        mechanism = as_query(mechanism, database.n)
        kernel = _mixture(own, given, mechanism)
        query = mechanism if isinstance(mechanism, CountingQuery) else None
        if query or isinstance(mechanism.closed_forms, GaussianForms):
            zero, one = map(tuple, database.with_others(i))
            kernel.closed_forms = DependentCount((zero, one), database.rounding, query)
        return own * kernel

    def __repr__(self) -> str:
        """Show the database and the mechanism."""
        return f"DependentJoint({self.database!r} * {self.mechanism!r})"


def _mixture(own: Measure, given: tuple[Measure, Measure], mechanism: Mechanism) -> Mechanism:
    """Mix the density of a mechanism about the number of ones over the other bits."""
    count = given[0].on.size
    known = isinstance(mechanism, CountingQuery)
    known = known or isinstance(mechanism.closed_forms, GaussianForms)
    long = count > _TRACED and not known
    if mechanism.density is None or mechanism.masses or long:
        raise NotYet(
            "bl.entry",
            missing=f"a mixture of {count} densities; up to {_TRACED}"
            if long
            else "outcomes that are atoms, or have no density",
            instead="a finite mechanism about the number of ones, such as geometric noise with "
            "outcome=bl.Integers(0, n), or Laplace and Gaussian noise, for any n.",
        )
    weights = [np.asarray(law.probabilities, float) for law in given]
    out = Mechanism(None, secret=own.on, outcome=mechanism.outcome, name=f"one of {mechanism.name}")
    density = partial(_mixed, mechanism.density, weights)
    spaces = {"y": out.outcome, "x": own.on}
    opaque = mechanism.density.opaque
    if count > _TRACED:
        opaque = f"a mixture of {count} kernels; up to {_TRACED} are traced"
    out.density = Density(density, spaces, log=True, opaque=opaque)
    out.breaks = mechanism.breaks
    out.normalisation = Normalisation("rounded", "rounded: the weights of the mixture are floats")
    return out


def _mixed(inner: Density, weights: list[np.ndarray], y: Any, x: Any) -> Any:
    """Return log f(y|x), far from the counts by the density of the first one."""
    pairs = [(k, a, b) for k, (a, b) in enumerate(zip(*weights, strict=True)) if a or b]
    first = inner.logarithm(y, x + float(pairs[0][0]))
    terms = [
        (float(a) * (1 - x) + float(b) * x) * np.exp(inner.logarithm(y, x + float(k)) - first)
        for k, a, b in pairs
    ]
    return np.log(sum(terms)) + first


def _rising(a: Fraction, n: int) -> list[Fraction]:
    """Return the rising factorials a^(0), ..., a^(n)."""
    found = [Fraction(1)]
    for k in range(n):
        found.append(found[-1] * (a + k))
    return found


def _fractions(values: np.ndarray) -> np.ndarray:
    return np.array([Fraction(v) for v in values.ravel().tolist()], dtype=object).reshape(
        values.shape
    )


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, Fraction)) and not isinstance(value, bool)
