"""The counting query answered with Laplace noise, and what its answer leaks about the database."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from borel.errors import InvalidInput
from borel.mechanisms.closed_forms import figure, positive, proved
from borel.mechanisms.noise import LaplaceForms
from borel.mechanisms.noisy_count import Ends, NoisyCount
from borel.mechanisms.parameter_arrays import over_arrays
from borel.probability.alphabets import Integers, Reals
from borel.probability.closed_forms import ClosedForms
from borel.probability.density import Density
from borel.probability.mechanism import Mechanism
from borel.probability.normalisation import Normalisation
from borel.probability.wrong_calls import explained

if TYPE_CHECKING:
    from collections.abc import Callable

    from borel.probability.bound import Bound
    from borel.probability.joint import Joint

PAPER = "Rethinking Disclosure Prevention with Pointwise Maximal Leakage"
WHOLE = f"{PAPER}, Proposition 4.6, its proof for all n entries at once"


@over_arrays
@explained
def counting_query(
    *, n: int, b: Any, of: str = "fraction", predicate: Callable[[Any], Any] | None = None
) -> CountingQuery:
    r"""Answer "how many entries satisfy the predicate?" with Laplace noise.

    .. math:: Y \mid (d_1, \dots, d_n) \sim
              \mathrm{Lap}\Big(\frac{f(d_1) + \dots + f(d_n)}{n}, b\Big)

    Parameters
    ----------
    n : int
        Number of entries of the database, at least 1.
    b : float or DataArray
        Scale of the noise, > 0, in units of what is asked; a float means its binary64 value.
    of : {"fraction", "count"}
        Whether the fraction S/n is released or the count S, S the number of entries that satisfy
        the predicate.
    predicate : callable, optional
        Takes a label of the entries' alphabet and returns whether it counts. Without one the
        labels must be 0 and 1, and 1 counts.

    Returns
    -------
    CountingQuery
        A mechanism about the count S in 0, ..., n, which is all that it sees of a database;
        ``bl.iid(prior, n) * mech`` is the joint over databases. A `MechanismFamily` when ``b`` is
        a DataArray.

    Raises
    ------
    InvalidInput
        ``n`` not an integer >= 1, ``b`` <= 0 or NaN, another ``of``.

    Notes
    -----
    Closed forms, with :math:`a = 1/(nb)` for the fraction and :math:`a = 1/b` for the count, and
    entries that count with probability p: see `bl.entry` for what leaks about one of them. About
    the whole database sup PML is n times that of an entry, n (a - log(1 - q + q e^a)) with
    q = min(p, 1 - p), and sup PMC is n log(1 - q + q e^a) with q = max(p, 1 - p); proved in
    `CountForms`. Samples are floats: do not release them where the last bits matter.

    References
    ----------
    Saeidian, Cervia, Oechtering, Skoglund, "Rethinking Disclosure Prevention with Pointwise
    Maximal Leakage", Section 4.1 and Proposition 4.6.

    Examples
    --------
    >>> import borel as bl
    >>> mech = bl.mechanisms.counting_query(n=5, b=0.05)
    >>> database = bl.iid(bl.pmf([0.8, 0.2]), 5) * mech
    >>> bl.pml(bl.entry(database)).sup()
    Bound(1.538734786, exact)
    """
    return CountingQuery(n, b, of, predicate)


def as_query(mechanism: Mechanism, n: int) -> Mechanism:
    """Return Laplace noise on the number of ones of n bits as the counting query that it is."""
    forms = mechanism.closed_forms
    if isinstance(forms, LaplaceForms) and mechanism.secret == Integers(0, n):
        return CountingQuery(n, forms.b, "count", None)
    return mechanism


class CountingQuery(Mechanism):
    """Laplace noise on a count or a fraction; made by `counting_query`.

    Attributes
    ----------
    n : int
        Number of entries.
    rate : Fraction
        One over the scale of the noise, in units of the count.
    unit : int
        How many counts one unit of the outcome is: n for the fraction, 1 for the count.
    predicate : callable or None
        Which labels count.
    """

    def __init__(self, n: Any, b: Any, of: Any, predicate: Any):
        what = "counting_query"
        n = entries(what, n)
        b = positive(what, "b", b)
        if not isinstance(of, str) or of not in ("fraction", "count"):
            raise InvalidInput(what, expected='of="fraction" or of="count"', got=repr(of))
        if not (predicate is None or callable(predicate)):
            raise InvalidInput(
                what, expected="predicate=<function of a label>", got=repr(predicate)
            )
        super().__init__(
            None,
            secret=Integers(0, n),
            outcome=Reals(),
            name=f'counting_query(n={n}, b={b:g}, of="{of}")',
        )
        self.n, self.scale, self.of, self.predicate = n, b, of, predicate
        self.unit = n if of == "fraction" else 1
        self.rate = 1 / (self.unit * Fraction(b))
        unit = float(self.unit)

        def log_density(y: Any, x: Any) -> Any:
            return -np.abs(y - x / unit) / b - (math.log(2) + math.log(b))

        self.density = Density(log_density, {"y": self.outcome, "x": self.secret}, log=True)
        self.normalisation = Normalisation.by(
            "the laplace density integrates to 1 at every location"
        )
        self.sampler = partial(_draw, b, unit)
        self.closed_forms = CountForms(self)

    def counts(self, alphabet: Any) -> tuple[bool, ...]:
        """Return which labels of the entries' alphabet count.

        Raises
        ------
        InvalidInput
            No predicate, and labels other than 0 and 1.
        """
        if self.predicate is not None:
            return tuple(bool(self.predicate(label)) for label in alphabet.labels)
        if not all(label in (0, 1) for label in alphabet.labels):
            raise InvalidInput(
                "iid(prior, n) * counting_query",
                expected="entries with the labels 0 and 1",
                got=repr(alphabet),
                mend="say which labels count: counting_query(..., predicate=lambda d: ...).",
            )
        return tuple(label == 1 for label in alphabet.labels)

    def in_counts(self, y: Any) -> Fraction:
        """Return an outcome in units of the count, exactly."""
        return Fraction(float(y)) * self.unit


def entries(what: str, n: Any) -> int:
    """Return a number of entries, an integer of 1 or more, or say what was expected."""
    if isinstance(n, bool) or not isinstance(n, (int, np.integer)) or n < 1:
        raise InvalidInput(what, expected="n = an integer >= 1, the entries", got=repr(n))
    return int(n)


def _draw(b: float, unit: float, x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return x / unit + rng.laplace(scale=b, size=np.shape(x))


@dataclass(frozen=True)
class CountForms(ClosedForms):
    r"""What the noisy count T = S + noise leaks about the whole database, S ~ Binomial(n, p).

    Notes
    -----
    The kernel depends on the database through S only, so that what leaks about the database is
    what leaks about S, 0 < p < 1. In units of the count, with :math:`g(t) = E e^{-a|t - S|}`,
    PML(t) = -a dist(t, {0, ..., n}) - log g(t) and PMC(t) = a max(\|t\|, \|t - n\|) + log g(t).

    *PML.* For t >= n it is :math:`a n - \log E e^{aS} = n (a - \log(1 - p + p e^a))`, and for
    t <= 0 the same with 1 - p. Between k and k + 1, with u = t - k <= 1/2,
    :math:`g(t) e^{a u} = E[e^{-a(k-S)}; S \le k] + e^{2au} E[e^{-a(S-k)}; S > k] \ge g(k)`, and
    likewise on the other half: so PML(t) is at most that at an integer. On the integers g is a
    convolution of log-concave sequences, so log-concave, and smallest at an end, 0 or n.
    *PMC.* For t >= n/2 it is log of :math:`E e^{a(t - |t - S|)} = E e^{a \min(S, 2t - S)}`, which
    increases with t up to t = n and stays there; likewise on the left.
    Tested in ``tests/mechanisms/test_counting.py``.
    """

    query: CountingQuery

    def _chance(self, joint: Joint) -> Ends | None:
        database = getattr(joint, "database", None)
        return None if database is None else database.chance(self.query)

    def at(self, joint: Joint, kind: str, y: Any) -> Bound | None:
        """Return the leakage about the whole database at one outcome."""
        p = self._chance(joint)
        if p is None:
            return None
        if p.upper == 0 or p.lower == 1:
            return proved(0.0, 0.0, WHOLE)
        from borel.numerics.balls.arithmetic import ball

        n, t, a = self.query.n, self.query.in_counts(y), self.query.rate
        count = NoisyCount(n, a, p)
        near = abs(t - min(max(round(t), 0), n))
        far = max(abs(t), abs(t - n))
        if kind == "pml":
            return figure(lambda: -ball(a * near) - count.log_mean(t), WHOLE)
        return figure(lambda: ball(a * far) + count.log_mean(t), WHOLE)

    def sup(self, joint: Joint, kind: str) -> Bound | None:
        """Return the supremum over the outcomes, taken beyond one end of the counts."""
        p = self._chance(joint)
        if p is None:
            return None
        low, high, right = extreme(kind, p, self.query.rate, times=self.query.n)
        side = {"x": self.query.n if right == (kind == "pml") else 0}
        side["y"] = self.query.n / self.query.unit if right else 0.0
        return proved(low, high, WHOLE, attained=True, witness=side)


def extreme(kind: str, p: Ends, rate: Fraction, times: int = 1) -> tuple[float, float, bool]:
    """Enclose a - log(1 - q + q e^a) over q = p, 1 - p, or log(1 - q + q e^a) for PMC.

    Returns
    -------
    lower, upper : float
        Of the larger value, times ``times``, for every p of the enclosure.
    right : bool
        Whether it is taken for large outcomes, where q = p.
    """
    if p.upper == 0 or p.lower == 1:
        return 0.0, 0.0, True
    best = min if kind == "pml" else max
    ends = best(p.lower, 1 - p.upper), best(p.upper, 1 - p.lower)  # q, smallest and largest
    least, most = (ends[1], ends[0]) if kind == "pml" else ends
    from borel.numerics.balls.arithmetic import enclose

    low = enclose(lambda: times * at_end(kind, least, rate))[0]
    high = enclose(lambda: times * at_end(kind, most, rate))[1]
    middle = p.lower + p.upper
    return max(low, 0.0), max(high, 0.0), (middle <= 1) == (kind == "pml")


def at_end(kind: str, q: Fraction, rate: Fraction) -> Any:
    """Return a - log(1 - q + q e^a), or log(1 - q + q e^a) for PMC, as a ball."""
    from borel.numerics.balls.arithmetic import ball

    if kind == "pml":
        return -(ball(1 - q) * (-ball(rate)).expm1()).log1p()
    if rate < 1:
        return (ball(q) * ball(rate).expm1()).log1p()
    return ball(rate) + (ball(1 - q) * (-ball(rate)).expm1()).log1p()
