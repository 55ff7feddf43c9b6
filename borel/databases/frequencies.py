"""Relative frequencies of a database of independent entries, released as they are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from math import lcm
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
    whole = lcm(*(m.denominator for m in masses))
    weights = _multinomial(n - 1, [int(m * whole) for m in masses])
    try:
        rows = {kind: _row(weights, kind, to) for kind in sorted(set(kinds))}
        outcome = Finite(list(dict.fromkeys(y for row in rows.values() for y in row)))
    except TypeError as error:
        raise InvalidInput(
            _WHAT,
            expected="to=<a function of a Fraction, or of '0/0', to numbers, strings or tuples>",
            got=str(error),
        ) from None
    total = sum(weights.values())  # of floats it may miss 1 by their rounding
    share = partial(_share, total, prior.rational)
    matrix = np.array(
        [[share(rows[kind][y]) for y in outcome.labels] for kind in kinds], dtype=object
    )
    error = 0.0
    if not prior.rational:
        matrix = as_floats(matrix, _WHAT)
        error = compounded(2 * n * (max(prior.rounding, U) + U), 2 * U)
    name = f"a relative frequency of {n} entries"
    kernel = Mechanism._from_matrix(matrix, prior.on, outcome, name, error)
    kernel.unproved = carried(prior)
    return prior * kernel


def _share(total: int, rational: bool, weight: int) -> float | Fraction:
    """Return a part of a total: if a float may do, the nearest, unless it is too small for one."""
    nearest = 0.0 if rational else weight / total  # lowest terms of long numbers are slow to find
    return nearest if nearest >= NORMAL else Fraction(weight, total)


def _multinomial(n: int, masses: list[int]) -> dict[tuple[int, int], int]:
    """Return weights of the numbers of entries of the first two of three kinds, whole numbers."""
    out: dict[tuple[int, int], int] = {}
    x, y, z = masses
    powers = [[m**k for k in range(n + 1)] for m in (x, y, z)]
    ways = 1
    for a in range(n + 1):
        own, rest = ways * powers[0][a], n - a
        for b in range(rest + 1):
            weight = own * powers[1][b] * powers[2][rest - b]
            if weight:
                out[a, b] = weight
            own = own * (rest - b) // (b + 1)
        ways = ways * (n - a) // (a + 1)
    return out


def _row(weights: dict[tuple[int, int], int], kind: int, to: Callable | None) -> Counter:
    """Return the weights of the released values, given one more entry of a kind."""
    found: Counter = Counter()
    for (a, b), weight in weights.items():
        a, b = a + (kind == 0), b + (kind == 1)
        found[Fraction(a, a + b) if a + b else NOBODY] += weight
    if to is None:
        return found
    out: Counter = Counter()
    for share, weight in found.items():
        out[to(share)] += weight
    return out
