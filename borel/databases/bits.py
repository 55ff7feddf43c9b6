r"""Databases of independent bits under the priors P(D = 1) = p in (lo, hi): worst cases over p.

The kernel of one entry moves with the prior, so the set of joints is not a set of priors times one
mechanism, and convexity does not help: the figures are maximised over p, in closed form for the
counting query and by branch and bound with polynomials in p for finite mechanisms.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from borel import settings
from borel.engine.finite.polynomial_quotients import Supremum, supremum
from borel.engine.prior_sets.engine import SetEngine
from borel.errors import InvalidInput, NotYet
from borel.mechanisms.closed_forms import proved
from borel.mechanisms.counting import PAPER, CountingQuery, as_query, at_end, entries
from borel.mechanisms.counting_entry import curve, leakage
from borel.mechanisms.noise import GaussianForms
from borel.mechanisms.noisy_count import Ends, NoisyCount
from borel.numerics.balls.arithmetic import ball, enclose
from borel.numerics.intervals.rounding import (
    NORMAL,
    U,
    compounded,
    fraction_down,
    fraction_up,
)
from borel.priors.sets import PriorSet
from borel.probability.alphabets import Alphabet, Finite, Integers
from borel.probability.arrays import as_floats, carried
from borel.probability.bound import Bound
from borel.probability.joint import Joint

if TYPE_CHECKING:
    from borel.priors.probability_intervals import Bernoulli
    from borel.probability.mechanism import Mechanism

PROP = f"{PAPER}, Proposition 4.6"
_ROWS = 100_000
_DEGREE = 500
"""Up to this degree float64 holds the binomial coefficients, with room."""
_TERMS = 100_000_000
_DEEPEST = 640
"""Logarithm of the largest quotient of densities: what float64 holds, with room."""
_FAR = "far out Gaussian noise on a count tells one bit from the other"


class BitDatabase:
    """The laws of a database of n independent bits, p in an interval; made by `borel.iid`.

    Attributes
    ----------
    prior : PriorSet
        ``bl.priors.bernoulli(lo, hi)``, the laws of one entry.
    n : int
        Number of entries.
    """

    __array_ufunc__ = None
    batch = ()

    def __init__(self, prior: Bernoulli, n: Any):
        self.prior, self.n = prior, entries("iid", n)

    @property
    def on(self) -> Alphabet:
        """The alphabet of databases."""
        return Finite(2) ** self.n

    def __mul__(self, mechanism: Any) -> Joint:
        """Return the joints of all members with a mechanism."""
        from borel.probability.mechanism import Mechanism

        return BitJoint(self, mechanism) if isinstance(mechanism, Mechanism) else NotImplemented

    def __matmul__(self, other: Any) -> Any:
        """Refuse: the marginal over a set of priors is not one law."""
        raise TypeError("iid(prior_set, n) @ mech: write iid(prior_set, n) * mech for the joints")

    def __repr__(self) -> str:
        """Show the set and the number of entries."""
        return f"iid({self.prior!r}, {self.n})"


class BitJoint(Joint):
    """The joints of a database of independent bits, or of one entry of it, over a set of priors.

    Attributes
    ----------
    database : BitDatabase
        The laws of the database.
    i : int or None
        Which entry is the secret; None if the whole database is.
    mechanism : Mechanism
        The mechanism on databases; the kernel of one entry moves with the prior.
    """

    _made_of = ("database", "mechanism", "i")

    def __init__(self, database: BitDatabase, mechanism: Mechanism, i: int | None = None):
        mechanism = as_query(mechanism, database.n)
        self.database, self.mechanism, self.i = database, mechanism, i
        self.prior = BitLaws(self)
        if isinstance(mechanism, CountingQuery):
            if mechanism.n != database.n:
                raise InvalidInput(
                    "iid(prior_set, n) * mech",
                    expected=f"a counting query on {database.n} entries",
                    got=f"one on n = {mechanism.n}",
                )
            if mechanism.counts(Finite(2)) != (False, True):
                raise InvalidInput(
                    "iid(prior_set, n) * mech",
                    expected="a query that counts the label 1",
                    got="another predicate",
                )
            return
        if self.counted:
            if not self.gaussian:
                self._require_finite()
            if database.n > _DEGREE:
                raise NotYet(
                    "iid(prior_set, n) * mech",
                    missing=f"polynomials of degree {database.n} in p; up to {_DEGREE}",
                    instead="bl.mechanisms.counting_query, for any n.",
                )
            return
        if 2**database.n > _ROWS:
            raise NotYet(
                "iid(prior_set, n) * mech",
                missing=f"a list of 2**{database.n} databases; up to {_ROWS}",
                instead=f"a finite mechanism about the number of ones, secret=bl.Integers(0, "
                f"{database.n}); bl.mechanisms.counting_query, for any n.",
            )
        if mechanism.secret != database.on:
            raise InvalidInput(
                "iid(prior_set, n) * mech",
                expected=f"a mechanism whose secrets are the databases {database.on!r}",
                got=f"one on {mechanism.secret!r}",
                mend=f"give it secret=bl.Finite(2)**{database.n}: labels are tuples.",
            )
        self._require_finite()

    @property
    def counted(self) -> bool:
        """Whether the mechanism sees the number of ones: its secrets are 0, ..., n."""
        return self.mechanism.secret == Integers(0, self.database.n)

    @property
    def gaussian(self) -> bool:
        """Whether the mechanism is Gaussian noise on the number of ones."""
        return self.counted and isinstance(self.mechanism.closed_forms, GaussianForms)

    def _require_finite(self) -> None:
        if not self.mechanism.finite:
            raise NotYet(
                "iid(prior_set, n) * mech",
                missing="outcomes that are not finite, but for the counting query and for one bit "
                "of a count with Gaussian noise",
                instead="one prior at a time: iid(prior, n) * mech.",
            )

    def entry(self, i: int) -> BitJoint:
        """Return the joints of one entry with the outcome."""
        return BitJoint(self.database, self.mechanism, i)

    def __repr__(self) -> str:
        """Show the database, the mechanism and the entry."""
        whole = f"{self.database!r} * {self.mechanism!r}"
        return f"BitJoint({whole})" if self.i is None else f"BitJoint(entry {self.i} of {whole})"


class BitLaws(PriorSet):
    """The laws of the secret of a `BitJoint`: of one entry, or of the whole database."""

    convex = False
    closed = False
    status = "certified"
    batch = ()

    def __init__(self, joint: BitJoint):
        whole = joint.i is None
        super().__init__(joint.mechanism.secret if whole else Finite(2), "iid")
        self.database, self.i = joint.database, joint.i

    def __mul__(self, mechanism: Any) -> Joint:
        """Return the joints with a mechanism on databases."""
        return BitJoint(self.database, mechanism, self.i)

    def engine(self, joint: BitJoint) -> SetEngine:
        """Return what maximises over p."""
        if isinstance(joint.mechanism, CountingQuery):
            return CountingBits(joint)
        if joint.gaussian and joint.i is not None:
            return GaussianBits(joint)
        joint._require_finite()
        return FiniteBits(joint)

    def __repr__(self) -> str:
        """Show the set, the number of entries, and which entry is the secret."""
        whole = repr(self.database)
        return whole if self.i is None else f"entry {self.i} of {whole}"


class _Bits(SetEngine):
    """What both engines share: the interval of p."""

    joint: BitJoint
    status = "certified"
    assumptions: tuple[str, ...] = ()
    reason = ""

    def __init__(self, joint: BitJoint):
        self.joint, self.set, self.database = joint, joint.prior, joint.database
        self.interval: tuple[Fraction, Fraction] = joint.database.prior.interval

    @property
    def single(self) -> bool:
        """Whether the interval is one point, which is then a member."""
        return self.interval[0] == self.interval[1]

    def member(self, p: Any) -> Any:
        """Return the law of one entry at p."""
        low, high = self.interval
        return self.database.prior.member(min(max(Fraction(p), low), high))

    def curve(self, kind: str, ys: Any) -> tuple[np.ndarray, np.ndarray, list[str]]:
        """Return lower ends, upper ends and the status at many outcomes."""
        found = [self.at(kind, y) for y in ys]
        ends = np.array([(b.lower, b.upper) for b in found]).reshape(-1, 2)
        return ends[:, 0], ends[:, 1], [b.status for b in found]


class CountingBits(_Bits):
    r"""A noisy count of independent bits, over all p in (lo, hi).

    Notes
    -----
    *Suprema.* For each p they are a - log(1 - q + q e^a), q = min(p, 1 - p), and
    log(1 - q + q e^a), q = max(p, 1 - p) (see `borel.mechanisms.counting_entry`), strictly monotone
    in q: the supremum over (lo, hi) is the value at q = min(lo, 1 - hi), or max(hi, 1 - lo); it is
    approached and not attained. Times n for the whole database.
    *PML of an entry at one outcome.* Where r >= 1, e^-PML = (1 - p)/r + p grows with p, as r does
    not increase in p; where r <= 1, e^-PML = 1 - p + p r falls. As p grows r crosses 1 downwards
    once at most, so PML falls first and then grows: its supremum is its limit at lo or at hi.
    *PML of the database at one outcome.* The kernel e^-a\|t - s\| takes every level at most twice
    in s, as 1 - above - 1; so does its binomial mean in p (Bernstein polynomials do not increase
    sign changes). f(t) is unimodal in p, smallest at an end; the numerator does not depend on p.
    *PMC of an entry at one outcome.* On a cell [u, v] of p, with r between r(v) and r(u), it is at
    most the larger of log(1 + v (r(u) - 1)) and log(1 + (1 - u)(1/r(v) - 1)): branch and bound.
    """

    def __init__(self, joint: BitJoint):
        super().__init__(joint)
        query = joint.mechanism
        assert isinstance(query, CountingQuery)
        self.query, self.rate = query, query.rate
        self.times = query.n if joint.i is None else 1

    @property
    def silent(self) -> bool:
        """Whether the secret is certain."""
        return self.single and self.interval[0] in (0, 1)

    def sup(self, kind: str) -> Bound:
        """Return the supremum over p and the outcomes, approached at an end of the interval."""
        low, high = self.interval
        if self.silent:
            return proved(0.0, 0.0, PROP, attained=True)
        at_low = low <= 1 - high if kind == "pml" else 1 - low >= high
        p = low if at_low else high
        q = (min if kind == "pml" else max)(p, 1 - p)
        ends = enclose(lambda: self.times * at_end(kind, q, self.rate))
        right = (q == p) if kind == "pml" or p != 1 - p else True
        told = right == (kind == "pml")
        x = (self.query.n if told else 0) if self.joint.i is None else int(told)
        y = self.query.n / self.query.unit if right else 0.0
        witness = {"x": x, "y": y, "prior": self.member(p), "p": float(p)}
        return proved(
            max(ends[0], 0.0), max(ends[1], 0.0), PROP, attained=self.single, witness=witness
        )

    def at(self, kind: str, y: Any) -> Bound:
        """Return the supremum over p at one outcome."""
        if self.silent:
            return proved(0.0, 0.0, PROP)
        t = self.query.in_counts(y)
        if self.joint.i is None:
            return self._whole(kind, t)
        if kind == "pml" or self.single:
            ends = [self._end(kind, t, p) for p in dict.fromkeys(self.interval)]
            j = max(range(len(ends)), key=lambda i: ends[i][1])
            p = self.interval[j]
            low, high = (max(e[side] for e in ends) for side in (0, 1))
            witness = {"prior": self.member(p), "p": float(p)}
            attained = True if self.single else (False if low > 0 else None)
            return proved(low, high, PROP, attained=attained, witness=witness)
        return self._cost(t)

    def curve(self, kind: str, ys: Any) -> tuple[np.ndarray, np.ndarray, Any]:
        """Return lower ends, upper ends and the status at many outcomes."""
        noises = [self._noise(p) for p in dict.fromkeys(self.interval)]
        plain = self.joint.i is not None and (kind == "pml" or self.single)
        if not plain or not all(noise.gentle for noise in noises):
            return super().curve(kind, ys)
        top = self.sup(kind).upper
        found = [curve(kind, noise, self.query.unit, ys, noise.p, top) for noise in noises]
        low, high = (np.max([ends[side] for ends in found], axis=0) for side in (0, 1))
        return low, high, ["certified"] * len(low)

    def _noise(self, p: Fraction) -> NoisyCount:
        return NoisyCount(self.query.n - 1, self.rate, Ends(p, p))

    def _end(self, kind: str, t: Fraction, p: Fraction) -> tuple[float, float]:
        return leakage(kind, self._noise(p).log_ratio(t), Ends(p, p))

    def _whole(self, kind: str, t: Fraction) -> Bound:
        n = self.query.n
        if kind == "pmc" and not self.single:
            raise NotYet(
                "PMC of a whole database over a set of priors, at one outcome",
                missing="the largest density over p",
                instead="bl.pmc(joint).sup(), or bl.pmc(bl.entry(joint))(y).",
            )
        near = abs(t - min(max(round(t), 0), n))
        far = max(abs(t), abs(t - n))
        lows, highs = [], []
        for p in dict.fromkeys(self.interval):
            count = NoisyCount(n, self.rate, Ends(p, p))

            def value(count: NoisyCount = count) -> Any:
                level = count.log_mean(t)
                if kind == "pml":
                    return -ball(self.rate * near) - level
                return ball(self.rate * far) + level

            low, high = enclose(value)
            lows.append(max(low, 0.0))
            highs.append(max(high, 0.0))
        attained = True if self.single else None
        return proved(max(lows), max(highs), PROP, attained=attained)

    def _cost(self, t: Fraction) -> Bound:
        """Enclose the supremum over p of PMC at one outcome, by branch and bound."""
        if t <= 0 or t >= self.query.n:
            p = self.interval[1] if t > 0 else self.interval[0]  # r does not depend on p
            found = self._end("pmc", t, p)
            witness = {"prior": self.member(p), "p": float(p)}
            return proved(*found, PROP, attained=False, witness=witness)
        top = self.sup("pmc").upper
        low, high = self.interval
        best = max(self._end("pmc", t, p)[0] for p in self.interval)
        noise = self._noise((low + high) / 2)
        if not noise.gentle:
            return Bound.certified(best, top, assumptions=(f"at most the supremum of {PROP}",))
        tol, place, settled = settings.current().tol, low, 0.0
        ends = np.linspace(float(low), float(high), 65)
        ends[0], ends[-1] = fraction_down(low), fraction_up(high)
        left, right, used = ends[:-1], ends[1:], 0
        window = noise._window(np.array([float(low), float(high), 0.5]))
        while len(left):
            points = np.concatenate([left, right])
            inside = (points > 0) & (points < 1)
            held = np.where(inside, points, 0.5)
            least, most = noise.excesses_at(t, held)
            steep = enclose(lambda: ball(self.rate).expm1())[1]
            over = np.where(inside, most.over, steep)[: len(left)]  # r(u) - 1 at most
            under = np.where(inside, least.under, steep)[len(left) :]  # 1/r(v) - 1 at most
            above = np.log1p(np.maximum(np.maximum(right * over, (1 - left) * under), 0.0))
            above = np.minimum(above * (1 + 16 * U) + 8 * U, top)
            at_low = np.log1p(
                np.maximum(np.maximum(points * least.over, (1 - points) * most.under), 0.0)
            )
            at_low = np.where(
                inside & (points >= float(low)) & (points <= float(high)), at_low, 0.0
            ) * (1 - 16 * U)
            j = int(np.argmax(at_low))
            if at_low[j] > best:
                best, place = float(at_low[j]), points[j]
            keep = above > best + tol
            settled = max(settled, float(above[~keep].max(initial=0.0)))
            used += len(points) * window
            if not keep.any() or used > _TERMS or (right - left)[keep].max() < 1e-14:
                settled = max(settled, float(above[keep].max(initial=0.0)))
                break
            middle = (left[keep] + right[keep]) / 2
            left, right = (
                np.concatenate([left[keep], middle]),
                np.concatenate([middle, right[keep]]),
            )
        witness = {"prior": self.member(place), "p": float(place)}
        return Bound.certified(best, max(settled, best), witness=witness)

    def ldp(self) -> Bound:
        """Return the LDP level, the same for every p in (0, 1)."""
        if self.silent:
            return proved(0.0, 0.0, PROP)
        ends = enclose(lambda: self.times * ball(self.rate))
        return proved(*ends, PROP, attained=True)


class _Columns(_Bits):
    r"""Columns K(y|.) of a kernel on databases of bits, or on their number of ones.

    f_Y and f(y|d) are polynomials in p. Of the number of ones,
    :math:`f(y|d) = \sum_k \binom{n-1}{k} p^k (1-p)^{n-1-k} K(y | k + d)`.
    """

    def __init__(self, joint: BitJoint, kernel: np.ndarray, rounding: float, labels: Any):
        super().__init__(joint)
        n = joint.database.n
        self.labels = labels
        self.kernel = kernel if joint.counted else kernel.reshape(*[2] * n, -1)
        self.error = compounded(max(rounding, U), (len(kernel) + 4) * U)

    @cached_property
    def parts(self) -> tuple[np.ndarray, np.ndarray]:
        """Coefficients (m, n + 1) of f_Y, and (x, m, n + 1) of f(y|x) for each secret."""
        n, m = self.database.n, self.kernel.shape[-1]
        counted = self.joint.counted
        if self.joint.i is None:
            rows = self.kernel.reshape(-1, m)
            binomials = _binomials(n)
            if counted:
                law = rows.T * binomials
            else:
                ones = _ones(n)
                law = np.stack([rows[ones == k].sum(axis=0) for k in range(n + 1)], axis=-1)
            tops = np.stack([rows.max(axis=0), rows.min(axis=0)])
            return law, tops[..., None] * binomials
        if counted:
            c = np.stack([self.kernel[:-1].T, self.kernel[1:].T]) * _binomials(n - 1)
        else:
            own = np.moveaxis(self.kernel, self.joint.i, 0).reshape(2, -1, m)
            ones = _ones(n - 1)
            c = np.stack([own[:, ones == k].sum(axis=1) for k in range(n)], axis=-1)
        less = np.concatenate([c, np.zeros((2, m, 1))], axis=-1)
        more = np.concatenate([np.zeros((2, m, 1)), c], axis=-1)  # times p
        return less[0] + more[1], less + more

    def _pairs(self, kind: str, columns: Any) -> tuple[np.ndarray, np.ndarray]:
        law, each = self.parts
        law, each = law[columns], each[:, columns]
        if kind == "ldp":
            return np.concatenate([each[0], each[1]]), np.concatenate([each[1], each[0]])
        laws, kernels = np.concatenate([law] * len(each)), each.reshape(-1, law.shape[-1])
        return (kernels, laws) if kind == "pml" else (laws, kernels)

    def maximum(self, kind: str, columns: np.ndarray) -> Bound:
        num, den = self._pairs(kind, columns)
        alive = num.any(axis=1) | den.any(axis=1)
        about: dict[str, Any] = {"assumptions": self.assumptions}
        if self.single and self.interval[0] in (0, 1):
            return Bound.certified(0.0, 0.0, **about)  # a certain secret
        never = alive & ~den.any(axis=1)
        labels = self.labels
        if never.any():
            j = int(np.flatnonzero(never)[0])
            about["witness"] = {"y": labels[columns[j % len(columns)]]}
            return Bound.certified(math.inf, math.inf, **about)
        rows = np.flatnonzero(alive)
        if not len(rows):
            return Bound.certified(0.0, 0.0, **about)
        found = self._search(num[rows], den[rows])
        j = rows[found.pair]
        about["witness"] = {
            "y": labels[columns[j % len(columns)]],
            "prior": self.member(Fraction(found.p)),
            "p": found.p,
        }
        if self.joint.i is not None:
            about["witness"]["x"] = int(j // len(columns))
        if found.lower == math.inf:
            return Bound.certified(math.inf, math.inf, **about, attained=False)
        low = enclose(lambda: ball(max(found.lower, 1.0)).log())[0]
        if math.isinf(found.upper):
            why = "the ratio is beyond float64; p and 1 - p of such sizes have only this lower end"
            return Bound.undecided(low, reason=why, **about)
        high = enclose(lambda: ball(max(found.upper, 1.0)).log())[1]
        return Bound.certified(low, high, **about)

    def _search(self, num: np.ndarray, den: np.ndarray) -> Supremum:
        tol = settings.current().tol / 4
        low, high = self.interval
        if low < high:
            return supremum(num, den, self.interval, error=self.error, tol=tol)
        k = np.arange(num.shape[1])
        weights = np.array([float(low ** int(j) * (1 - low) ** int(k[-1] - j)) for j in k])
        least = min(c[c > 0].min(initial=1.0) for c in (num, den))
        if weights.min() * least < 1e-280:  # products that float64 loses: exactly, pair by pair
            return self._exactly(num, den)
        quotient = (num @ weights) / (den @ weights)
        j = int(np.argmax(quotient))
        slack = 2 * compounded(self.error, (len(k) + 4) * U)
        return Supremum(
            float(quotient[j]) * (1 - slack), float(quotient[j]) * (1 + slack), float(low), j
        )

    def _exactly(self, num: np.ndarray, den: np.ndarray) -> Supremum:
        """Compare the quotients at one p in rational arithmetic, as the floats stand."""
        p = self.interval[0]
        n = num.shape[1] - 1
        weights = [p**k * (1 - p) ** (n - k) for k in range(n + 1)]

        def mean(row: np.ndarray) -> Fraction:
            pairs = zip(row.tolist(), weights, strict=True)
            return sum((Fraction(a) * w for a, w in pairs if a), Fraction(0))

        quotients = [mean(a) / mean(b) for a, b in zip(num, den, strict=True)]
        j = max(range(len(quotients)), key=quotients.__getitem__)
        slack = 2 * compounded(self.error, (n + 5) * U)
        low, high = fraction_down(quotients[j]), fraction_up(quotients[j])
        return Supremum(low * (1 - slack), high * (1 + slack), float(p), j)


class FiniteBits(_Columns):
    """A finite mechanism on small databases of bits, or about their number of ones."""

    def __init__(self, joint: BitJoint):
        mechanism = joint.mechanism
        self.assumptions = ("floats mean the normalised laws within their rounding",)
        self.reason = carried(mechanism)
        if self.reason:
            raise NotYet("a set of priors over databases", missing=f"a proof: {self.reason}")
        kernel = as_floats(mechanism.matrix, "iid(prior_set, n) * mech")
        if (kernel[kernel > 0] < NORMAL).any():
            raise NotYet("a set of priors over databases", missing="subnormal probabilities")
        super().__init__(joint, kernel, mechanism.rounding, joint.outcome.labels)

    def at(self, kind: str, y: Any) -> Bound:
        """Return the supremum over p at one outcome."""
        return self.maximum(kind, np.atleast_1d(self.joint.outcome.positions(y)))

    def sup(self, kind: str) -> Bound:
        """Return the supremum over p and the outcomes."""
        return self.maximum(kind, np.arange(self.kernel.shape[-1]))

    def ldp(self) -> Bound:
        """Return the largest LDP level of an entry's kernel, or that of the mechanism."""
        if self.joint.i is None:
            from borel.figures.levels import leakage_capacity

            return leakage_capacity(self.joint.mechanism)
        return self.maximum("ldp", np.arange(self.kernel.shape[-1]))


class GaussianBits(_Bits):
    r"""Gaussian noise on the number of ones, seen from one bit.

    Notes
    -----
    *At one outcome* f_Y and f(y|d) are polynomials in p, as for finite mechanisms.
    *Suprema.* Let 0 < p < 1. f(y|1) / f(y|0) is a mean, weighted by f(y|0), of
    K(y|k + 1) / K(y|k) = exp((y - k - 1/2) / sigma^2): as y grows it passes every bound, and tends
    to 0 as y falls. So f_Y / f(y|0) passes every bound, and PMC and LDP are infinite;
    f(y|1) / f_Y tends to 1/p, f(y|0) / f_Y to 1/(1 - p), and no ratio is larger.
    """

    def __init__(self, joint: BitJoint):
        super().__init__(joint)
        noise = joint.mechanism.closed_forms
        assert isinstance(noise, GaussianForms)
        self.sigma = noise.sigma

    def at(self, kind: str, y: Any) -> Bound:
        """Return the supremum over p at one outcome."""
        t, scale = Fraction(float(y)), 2 * Fraction(self.sigma) ** 2
        powers = [(t - k) ** 2 / scale for k in range(self.database.n + 1)]
        least = min(powers)
        if max(powers) - least > _DEEPEST:
            raise NotYet(
                "iid(prior_set, n) * mech",
                missing=f"densities that differ by a factor of e^{_DEEPEST} between the counts",
                instead="wider noise; bl.pml(joint).sup().",
            )
        column = [enclose(lambda v=v: ball(least - v).exp())[0] for v in powers]  # 2 U at most
        columns = _Columns(self.joint, np.array(column)[:, None], 2 * U, [float(y)])
        return columns.maximum(kind, np.arange(1))

    def sup(self, kind: str) -> Bound:
        """Return the supremum over p and the outcomes, approached as the outcome grows or falls."""
        low, high = self.interval
        if self.single and low in (0, 1):
            return proved(0.0, 0.0, _FAR, attained=True)
        q = min(low, 1 - high)
        if kind == "pmc" or q == 0:
            return proved(math.inf, math.inf, _FAR, attained=False)
        p = low if q == low else high
        witness = {"x": int(q == low), "prior": self.member(p), "p": float(p)}
        ends = enclose(lambda: -ball(q).log())
        return proved(*ends, _FAR, attained=False, witness=witness)

    def ldp(self) -> Bound:
        """Return the LDP level of the kernel of one bit, infinite if the bit is not certain."""
        return self.sup("pmc")


def _binomials(n: int) -> np.ndarray:
    return np.array([float(math.comb(n, k)) for k in range(n + 1)])


def _ones(n: int) -> np.ndarray:
    """Return the number of ones of each database of n bits, in the order of D**n."""
    index = np.arange(2**n)
    return sum(((index >> j) & 1 for j in range(n)), np.zeros(2**n, int))
