"""Relative frequencies of a database of independent entries, released as they are."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np

from borel.constants import exactly
from borel.databases.iid import Database
from borel.errors import InvalidInput, NotYet
from borel.numerics.intervals.rounding import NORMAL, U, compounded
from borel.probability.alphabets import Finite
from borel.probability.arrays import as_floats, carried
from borel.probability.joint import Joint
from borel.probability.mechanism import Mechanism

_WHAT = "bl.relative_frequency"
_MOST = 1000
NOBODY = "0/0"
"""The outcome where no entry is among those that are asked for."""


def relative_frequency(
    database: Database,
    predicate: Callable[[Any], Any],
    *,
    given: Callable[[Any], Any] | None = None,
    to: Callable[[Any], Any] | None = None,
) -> Joint:
    r"""Release which part of some entries satisfies a predicate, without noise.

    .. math:: Y = q\left(\frac{|\{i : D_i \in A \cap G\}|}{|\{i : D_i \in G\}|}\right)

    Parameters
    ----------
    database : Database
        ``bl.iid(prior, n)`` with entries on a finite alphabet, n up to 1000.
    predicate : callable
        Takes a label of an entry and returns whether it is in A.
    given : callable, optional
        The same for G: all of them, if not given.
    to : callable, optional
        The quantiser q, of a Fraction of [0, 1] or of the string "0/0", where no entry is in G. The
        identity, if not given.

    Returns
    -------
    Joint
        Of one entry and Y, both finite: ``joint.marginal`` is the law of Y, `bl.min_entropy` of it
        its entropy, and PML and the like are what Y tells about the entry. Exact for priors of
        Fractions; for floats within their rounding, which counts n times.

    Raises
    ------
    InvalidInput
        Something else than ``bl.iid(prior, n)``, predicates that are no functions.
    NotYet
        Entries that are not finitely many, n above 1000.

    Notes
    -----
    The entries in A and G, in G alone and outside are multinomial; given one entry so are those of
    the others. If n is large Y is near to the probability of A given G whatever one entry is: a
    global attribute of small entropy, which may be disclosed, whereas an entry keeps its own.

    References
    ----------
    Saeidian, Cervia, Oechtering, Skoglund, "Rethinking Disclosure Prevention with Pointwise
    Maximal Leakage", Example 3.2 (and 3.1, of bits).

    Examples
    --------
    >>> from fractions import Fraction as F
    >>> import borel as bl
    >>> on = bl.Finite(["ill smoker", "smoker", "other"])
    >>> people = bl.pmf([F(1, 4), F(1, 4), F(1, 2)], on=on)
    >>> often = lambda share: int(share != "0/0" and share > F(1, 4))
    >>> for n in (1, 10, 100):
    ...     joint = relative_frequency(
    ...         bl.iid(people, n),
    ...         lambda d: d == "ill smoker",
    ...         given=lambda d: d != "other",
    ...         to=often,
    ...     )
    ...     print(n, bl.min_entropy(joint.marginal), bl.pml(joint)(1))
    1 0.2876820725 nats (exact) 1.386294361 nats (exact)
    10 0.1969405294 nats (exact) 0.1443904063 nats (exact)
    100 0.0002376410074 nats (exact) 0.0001337170789 nats (exact)
    """
    if not isinstance(database, Database):
        raise InvalidInput(_WHAT, expected="bl.iid(prior, n)", got=repr(database))
    for name, own in (("predicate", predicate), ("given", given), ("to", to)):
        if not (callable(own) or (own is None and name != "predicate")):
            raise InvalidInput(_WHAT, expected=f"{name}=<a function>", got=repr(own))
    prior, n = database.prior, database.n
    if prior.on.kind != "finite" or n > _MOST:
        raise NotYet(
            _WHAT,
            missing=f"the frequencies of {database!r}",
            instead=f"entries on a finite alphabet, up to {_MOST} of them.",
        )
    among = given or (lambda label: True)
    kinds = [2 if not among(d) else int(not predicate(d)) for d in prior.on.labels]
    p = [exactly(v) for v in prior.probabilities.tolist()]
    masses = [
        sum((q for q, k in zip(p, kinds, strict=True) if k == kind), Fraction(0))
        for kind in range(3)
    ]
    whole = math.lcm(*(m.denominator for m in masses))
    others, some = _Others(n - 1, [int(m * whole) for m in masses]), sorted({*kinds})
    try:
        values = _Values(to)
        places = [values.places(others, kind) for kind in some]
        outcome = Finite(list(values.found))
    except TypeError as error:
        raise InvalidInput(
            _WHAT,
            expected="to=<a function of a Fraction, or of '0/0', to numbers, strings or tuples>",
            got=str(error),
        ) from None
    law = (others.exactly if prior.rational else others.rounded)(places, outcome.size)
    rows = dict(zip(some, law, strict=True))
    matrix = np.array([rows[kind] for kind in kinds], dtype=object)
    error = 0.0
    if not prior.rational:
        matrix = as_floats(matrix, _WHAT)
        error = compounded(2 * n * (max(prior.rounding, U) + U), _ROUNDINGS * U)
    name = f"a relative frequency of {n} entries"
    kernel = Mechanism._from_matrix(matrix, prior.on, outcome, name, error)
    kernel.unproved = carried(prior)
    return prior * kernel


class _Others:
    """The law of how many of the other entries, n of them, are of the first two of three kinds.

    Parameters
    ----------
    n : int
        How many others.
    masses : list of int
        The probabilities of the three kinds, times one number.

    Attributes
    ----------
    a, b : ndarray
        The numbers of entries of the first two kinds, as far as they may occur.
    """

    def __init__(self, n: int, masses: list[int]):
        self.n, self.masses = n, masses
        a = np.repeat(np.arange(n + 1), np.arange(n + 1, 0, -1))
        b = np.concatenate([np.arange(n + 1 - k) for k in range(n + 1)])
        pairs = zip((a, b, n - a - b), masses, strict=True)
        may = np.all([(number == 0) | (mass > 0) for number, mass in pairs], axis=0)
        self.a, self.b = a[may], b[may]

    def exactly(self, places: list[np.ndarray], count: int) -> list[list[Any]]:
        """Return the probabilities of ``count`` places, for each list of places of a and b."""
        powers = [[m**k for k in range(self.n + 1)] for m in self.masses]
        sums: list[list[int]] = [[0] * count for _ in places]
        ways, n, found = 1, self.n, zip(*(own.tolist() for own in places), strict=True)
        for a in range(n + 1):
            part = ways * powers[0][a]
            for b in range(n - a + 1):
                if weight := part * powers[1][b] * powers[2][n - a - b]:
                    for own, place in zip(sums, next(found), strict=True):
                        own[place] += weight
                part = part * (n - a - b) // (b + 1)
            ways = ways * (n - a) // (a + 1)
        total = sum(self.masses) ** n
        return [[Fraction(weight, total) for weight in own] for own in sums]

    def rounded(self, places: list[np.ndarray], count: int) -> list[list[Any]]:
        """Return the same up to `_ROUNDINGS` roundings; what is too small for a float exactly.

        Weights are products of m^k / k!, each as m 2^e: none underflows.
        """
        m, e = np.ones(len(self.a)), np.zeros(len(self.a), int)
        for number, mass in zip(
            (self.a, self.b, self.n - self.a - self.b), self.masses, strict=True
        ):
            most = self.n if mass else 0
            table = [_scaled(mass**k, math.factorial(k)) for k in range(most + 1)]
            parts = np.array([t[0] for t in table]), np.array([t[1] for t in table])
            m, e = m * parts[0][number], e + parts[1][number]
        total = _scaled(sum(self.masses) ** self.n, math.factorial(self.n))
        return [_shares(m, e, own, count, total) for own in places]


_ROUNDINGS = 16
"""Of how many roundings a share in floats is a product at most: sums are rounded once."""


def _shares(
    m: np.ndarray, e: np.ndarray, places: np.ndarray, count: int, total: tuple[float, int]
) -> list[Any]:
    """Return which part of the weights m 2^e is in each place."""
    order = np.argsort(places, kind="stable")
    starts = np.searchsorted(places[order], np.arange(count + 1))
    found: list[Any] = []
    for start, end in pairwise(starts.tolist()):
        own = order[start:end]
        most = int(e[own].max()) if len(own) else 0  # all weights may be far below 1
        with np.errstate(under="ignore"):
            share = math.fsum(np.ldexp(m[own], e[own] - most)) / total[0]
        power = most - total[1]
        nearest = math.ldexp(share, power)
        exact = 0 < share and nearest < NORMAL
        found.append(Fraction(share) * Fraction(2) ** power if exact else nearest)
    return found


def _scaled(top: int, bottom: int) -> tuple[float, int]:
    """Return a positive quotient as m 2^e, with a float m in [1/2, 1]."""
    shift = bottom.bit_length() - top.bit_length() + 64
    whole = (top << max(shift, 0)) // (bottom << max(-shift, 0))
    m, e = math.frexp(whole)
    return m, e - shift


class _Values:
    """The values that are released, each with its place.

    Parameters
    ----------
    to : callable, optional
        The quantiser.
    """

    def __init__(self, to: Callable | None):
        self.to = to
        self.found: dict[Any, int] = {}
        self._places: dict[int, int] = {}

    def places(self, others: _Others, kind: int) -> np.ndarray:
        """Return the place of what is released, for each a and b and one more entry of a kind."""
        top, bottom = others.a + (kind == 0), others.a + others.b + (kind != 2)
        common = np.maximum(np.gcd(top, bottom), 1)
        codes = (top // common) * (2 * _MOST) + bottom // common  # 0 if there is no entry
        codes, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
        places = np.zeros(len(codes), int)
        for j in np.argsort(first).tolist():  # in the order in which they are met
            code, at = int(codes[j]), first[j]
            if code not in self._places:
                share = Fraction(int(top[at]), int(bottom[at])) if code else NOBODY
                value = share if self.to is None else self.to(share)
                self._places[code] = self.found.setdefault(value, len(self.found))
            places[j] = self._places[code]
        return places[inverse]
