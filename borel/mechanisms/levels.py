"""Levels e^epsilon, as a float's epsilon or as a Fraction, and finite kernels made of their powers.

A kernel has *two likelihoods* if every outcome y has a set of secrets under which it is e^epsilon
times as likely as under all others: randomised response, and what is made of it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from borel import settings
from borel.errors import InvalidInput
from borel.mechanisms.closed_forms import number, proved
from borel.mechanisms.independent_entries import chance
from borel.mechanisms.noisy_count import Ends
from borel.numerics.balls.arithmetic import ball, enclose, ends, precision
from borel.numerics.intervals.rounding import NORMAL, log_fraction
from borel.probability.alphabets import Alphabet, Finite
from borel.probability.bound import Bound, Ratio
from borel.probability.closed_forms import ClosedForms
from borel.probability.mechanism import Mechanism

if TYPE_CHECKING:
    from borel.probability.joint import Joint

Powers = Callable[[Any], Any]
"""Takes an exponent t and returns e^(t epsilon): a Fraction, or an Arb ball."""

MOST_ENTRIES = 2_000_000
_FLOATS = "floats mean the normalised laws within their rounding"


# -- parameters -----------------------------------------------------------------------------------


def finite_secret(what: str, k: Any, secret: Any) -> Alphabet:
    """Return the finite alphabet of k >= 2 labels, or of given ones."""
    if k is None and secret is None:
        raise InvalidInput(what, expected="k=<number of labels> or secret=<labels>", got="neither")
    if k is not None and not (isinstance(k, (int, np.integer)) and not isinstance(k, bool)):
        raise InvalidInput(what, expected="an integer k >= 2", got=repr(k))
    if secret is None:
        assert k is not None
        secret = Finite(max(int(k), 1))
    alphabet = secret if isinstance(secret, Alphabet) else Finite(secret)
    if alphabet.kind != "finite":
        raise InvalidInput(what, expected="a finite secret", got=repr(alphabet))
    size = alphabet.size
    if size < 2:
        raise InvalidInput(what, expected="k >= 2 labels", got=repr(size if k is None else k))
    if k is not None and k != size:
        raise InvalidInput(what, expected=f"k = {size}, the size of {alphabet!r}", got=repr(k))
    return alphabet


def level_of(what: str, epsilon: Any, ratio: Any) -> Epsilon | ExactRatio:
    """Return the level that is given as ``epsilon`` in nats, or exactly as ``ratio``, e^epsilon."""
    if (epsilon is None) == (ratio is None):
        raise InvalidInput(
            what,
            expected="epsilon=<nats>, or ratio=<e^epsilon exactly>",
            got="neither" if epsilon is None else "both",
        )
    if ratio is not None:
        if isinstance(ratio, (bool, float)) or not isinstance(ratio, (int, np.integer, Fraction)):
            raise InvalidInput(
                what,
                expected="ratio as an integer or a Fraction",
                got=repr(ratio),
                mend='write Fraction(3, 2), or bl.const("1.5").',
            )
        exact = Fraction(int(ratio)) if not isinstance(ratio, Fraction) else ratio
        if exact < 1:
            raise InvalidInput(what, expected="ratio >= 1", got=str(ratio))
        return ExactRatio(exact)
    value = number(what, "epsilon", epsilon)
    if value < 0:
        raise InvalidInput(what, expected="epsilon >= 0 (nats)", got=repr(epsilon))
    return Epsilon(value)


def require_few(what: str, secrets: int, outcomes: int) -> None:
    """Raise for a matrix that is too large to be written down."""
    if secrets * outcomes > MOST_ENTRIES:
        count = str(outcomes) if outcomes < 10**15 else f"about 2**{outcomes.bit_length() - 1}"
        raise InvalidInput(
            what,
            expected=f"a matrix of at most {MOST_ENTRIES} entries",
            got=f"{secrets} secrets and {count} outcomes",
            mend="take fewer labels.",
        )


# -- levels ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ExactRatio:
    """r = e^epsilon as a Fraction."""

    ratio: Fraction

    @property
    def shown(self) -> str:
        """How the name of a mechanism says it."""
        return f"ratio={self.ratio}"

    @property
    def rounded(self) -> float:
        """The ratio as a float, 10^300 at most."""
        return float(min(self.ratio, 10**300))

    def power(self, what: str, exponent: Any) -> Fraction:
        """Return r to a rational power that is a Fraction, or say that it is none."""
        t = Fraction(exponent)
        found = [_root(part, t.denominator) for part in self.ratio.as_integer_ratio()]
        if None in found:
            raise InvalidInput(
                what,
                expected=f"a ratio of which the {t.denominator}-th root is a Fraction",
                got=f"ratio={self.ratio}",
                mend="give epsilon=..., or another ratio.",
            )
        return Fraction(*found) ** t.numerator  # type: ignore[arg-type]

    def values(self, what: str, formulas: Callable[[Powers], Sequence]) -> tuple[Any, float]:
        """Return formulas of powers of r as Fractions."""
        out = np.empty(len(found := formulas(partial(self.power, what))), dtype=object)
        out[:] = [Fraction(v) for v in found]
        return out, 0.0

    def pml(self, p: Ends, theorem: str, **about: Any) -> Bound:
        """Enclose log(r / (1 + p (r - 1))), which decreases in p."""
        r = self.ratio
        return _of_ratios(r / (1 + p.upper * (r - 1)), r / (1 + p.lower * (r - 1)), theorem, about)

    def pmc(self, p: Ends, theorem: str, **about: Any) -> Bound:
        """Enclose log(1 + p (r - 1)), which increases in p."""
        r = self.ratio
        return _of_ratios(1 + p.lower * (r - 1), 1 + p.upper * (r - 1), theorem, about)


@dataclass(frozen=True)
class Epsilon:
    """Epsilon as a float, its binary64 value."""

    epsilon: float

    @property
    def shown(self) -> str:
        """How the name of a mechanism says it."""
        return f"epsilon={self.epsilon:g}"

    @property
    def rounded(self) -> float:
        """The ratio as a float, infinite if it is too large for one."""
        return math.exp(self.epsilon) if self.epsilon < 700 else math.inf

    def power(self, exponent: Any) -> Any:
        """Return e^(t epsilon) as a ball."""
        return (ball(Fraction(exponent)) * ball(self.epsilon)).exp()

    def values(self, what: str, formulas: Callable[[Powers], Sequence]) -> tuple[Any, float]:
        """Return formulas of powers as `near_floats`."""
        return near_floats(what, lambda: formulas(self.power), f"epsilon = {self.epsilon!r}")

    def pml(self, p: Ends, theorem: str, **about: Any) -> Bound:
        """Enclose epsilon - log(1 + p (e^epsilon - 1)), which decreases in p."""
        return _of_ends(lambda q: ball(self.epsilon) - self._cost(q), p[::-1], theorem, about)

    def pmc(self, p: Ends, theorem: str, **about: Any) -> Bound:
        """Enclose log(1 + p (e^epsilon - 1)), which increases in p."""
        return _of_ends(self._cost, p, theorem, about)

    def _cost(self, p: Fraction) -> Any:
        return (ball(p) * ball(self.epsilon).expm1()).log1p()


def near_floats(
    what: str, formulas: Callable[[], Sequence], given: str
) -> tuple[np.ndarray, float]:
    """Return formulas on balls as floats near them, and how far these may be off, relatively.

    What a formula gives as the number 0 is 0; every other value has to be a normal float.
    """
    zero = np.array([isinstance(v, int) and v == 0 for v in formulas()])
    low, high = np.full(len(zero), -np.inf), np.full(len(zero), np.inf)
    bits = 128
    for _ in range(4):
        settings.work("balls", 8 * len(zero))
        with precision(bits):
            found = np.array([ends(ball(v)) for v in formulas()])
        low, high = np.maximum(low, found[:, 0]), np.minimum(high, found[:, 1])
        if (high <= np.nextafter(low, np.inf)).all():
            break
        bits *= 2
    if not (low[~zero] >= NORMAL).all() or not np.isfinite(high).all():
        raise InvalidInput(
            what,
            expected="probabilities that float64 can hold",
            got=f"smaller ones for {given}",
            mend="take another level (epsilon below 700), or give a Fraction: ratio=...",
        )
    apart = {*zip(low[~zero].tolist(), high[~zero].tolist(), strict=True)}
    width = max((Fraction(b) / Fraction(a) - 1 for a, b in apart), default=Fraction(0))
    return np.where(zero, 0.0, low), math.nextafter(float(width), math.inf) if width else 0.0


def _root(n: int, degree: int) -> int | None:
    """Return the whole root of a whole number n >= 1, or None."""
    from flint import fmpz

    found = int(fmpz(n).root(degree))
    return found if found**degree == n else None


def _of_ends(formula: Any, at: Sequence[Fraction], theorem: str, about: dict) -> Bound:
    """Make the Bound of a monotone formula from where it is smallest and largest."""
    low = enclose(lambda: formula(at[0]))[0]
    high = enclose(lambda: formula(at[1]))[1]
    return proved(max(low, 0.0), max(high, 0.0), theorem, **about)


def _of_ratios(low: Fraction, high: Fraction, theorem: str, about: dict) -> Bound:
    """Make the Bound of a logarithm of ratios >= 1, kept as Fractions."""
    lower = 0.0 if low == 1 else max(log_fraction(low)[0], 0.0)
    upper = 0.0 if high == 1 else log_fraction(high)[1]
    return proved(lower, upper, theorem, exact_ratio=Ratio(low, high), **about)


# -- kernels of two likelihoods -------------------------------------------------------------------


def two_likelihoods(
    what: str,
    about: str,
    level: Epsilon | ExactRatio,
    base: Callable[[Powers], Sequence],
    *,
    secret: Alphabet,
    outcome: Alphabet,
    sets: Sequence[Sequence[int]],
    kinds: Any = 0,
    forms: Callable[..., TwoLikelihoodForms] | None = None,
) -> Mechanism:
    """Make a kernel whose outcome y has a likelihood b(y) e^epsilon on a set of secrets, else b(y).

    Parameters
    ----------
    what, about : str
        The name of the mechanism, and its other parameters as the name shows them.
    level : Epsilon or ExactRatio
        The ratio of the two likelihoods.
    base : callable
        Takes `Powers` and returns the different numbers b(y).
    secret, outcome : Alphabet
        Finite ones.
    sets : sequence of sequences of int
        For each outcome, the positions of the secrets under which it is the more likely.
    kinds : array_like of int
        Which of the numbers b(y) belongs to each outcome.
    forms : callable, optional
        A subclass of `TwoLikelihoodForms`.
    """
    inside = np.zeros((secret.size, outcome.size), bool)
    for j, members in enumerate(sets):
        inside[list(members), j] = True

    def both(power: Powers) -> list:
        lows = base(power)
        return [*lows, *(b * power(1) for b in lows)]

    found, rounding = level.values(what, both)
    half = len(found) // 2
    kinds = np.broadcast_to(kinds, outcome.size)
    values = found[np.where(inside, kinds + half, kinds)]
    name = f"{what}({', '.join(filter(None, [level.shown, about]))})"
    out = Mechanism._from_matrix(values, secret, outcome, name, rounding)
    out.closed_forms = (forms or TwoLikelihoodForms)(level, tuple(map(tuple, sets)))
    return out


@dataclass(frozen=True)
class TwoLikelihoodForms(ClosedForms):
    r"""An outcome y that is r = e^epsilon times as likely on a set S_y of secrets as off it.

    For every prior, with the suprema over the support of the prior only.

    Notes
    -----
    Proof. Let f(y|x) = b(y) r on S_y and b(y) off it, b(y) > 0. With p = P{X in S_y},
    :math:`P_Y(y) = b(y) (1 + p (r - 1)) > 0`. If the support S of the prior has secrets in S_y and
    others, the maximum over S of f(y|x) is b(y) r and the minimum b(y): PML(y) is
    log(r / (1 + p (r - 1))) and PMC(y) log(1 + p (r - 1)). If S lies in S_y (p = 1) or off it
    (p = 0), f(y|x) is the same for all secrets of S, and both are log 1. PML decreases and PMC
    increases in p, so that their suprema are at the smallest and the largest p of a set of the
    first sort. A prior of floats means every normalised one within its relative rounding, and a
    label of mass exactly 0 stays outside S: the monotone formulas are evaluated at both ends of p.
    If all masses have one relative error these ends increase with the p of the floats, so that the
    smallest and the largest p of the floats give those of both ends.
    Tested in ``tests/mechanisms/test_local.py`` and ``tests/mechanisms/test_response.py`` against
    brute force over Fractions.
    """

    level: Epsilon | ExactRatio
    sets: tuple[tuple[int, ...], ...]
    theorems: ClassVar[dict[str, str]] = dict.fromkeys(
        ("pml", "pmc"), "two likelihoods of ratio e^epsilon (proof in TwoLikelihoodForms)"
    )

    def _masses(self, masses: list[int], here: set[int]) -> dict[int, int]:
        """Return the mass of each set that divides the support, as whole numbers of some unit."""
        divides = {}
        for j, members in enumerate(self.sets):
            inside = [i for i in members if i in here]
            if 0 < len(inside) < len(here):
                divides[j] = sum(masses[i] for i in inside)
        return divides

    def at(self, joint: Joint, kind: str, y: Any) -> Bound | None:
        """Return the leakage at one outcome, for every prior on the alphabet."""
        if not _proved(joint):
            return None
        j = int(np.ravel(joint.outcome.positions(y))[0])
        here = _support(joint)
        if not 0 < len(here.intersection(self.sets[j])) < len(here):
            return self._nothing(joint, kind)
        return self._leakage(joint, kind, self._chance(joint, j))

    def sup(self, joint: Joint, kind: str) -> Bound | None:
        """Return the supremum over the outcomes, which is attained."""
        if not _proved(joint):
            return None
        here = _support(joint)
        labels, outcomes = joint.mechanism.secret.labels, joint.outcome.labels
        masses = self._masses(_whole(_prior(joint)), here)
        if not masses:
            i = min(here)
            j = next((j for j in range(len(outcomes)) if i in self.sets[j]), 0)
            witness = {"x": labels[i], "y": outcomes[j]}
            return self._nothing(joint, kind, attained=True, witness=witness)
        best = min if kind == "pml" else max
        j = best(masses, key=lambda j: masses[j])
        inside = here.intersection(self.sets[j])
        i = min(inside if kind == "pml" else here - inside)
        witness = {"x": labels[i], "y": outcomes[j]}
        # subnormal masses have errors of their own: then the ends need not be those of one set
        ends = [self._chance(joint, k) for k in (masses if _subnormal(joint) else [j])]
        p = Ends(best(e.lower for e in ends), best(e.upper for e in ends))
        return self._leakage(joint, kind, p, attained=True, witness=witness)

    def ldp_of_all_secrets(self, joint: Joint) -> Bound | None:
        """Return the level that was asked for: no ratio of two likelihoods exceeds it.

        The matrix of floats, which `bl.ldp` and its certificate read, is known but to rounding.
        """
        theorem = self.theorems["pml"]
        if isinstance(self.level, ExactRatio):
            return _of_ratios(self.level.ratio, self.level.ratio, theorem, {})
        return proved(self.level.epsilon, self.level.epsilon, theorem)

    def _chance(self, joint: Joint, j: int) -> Ends:
        members = set(self.sets[j])
        alphabet = joint.mechanism.secret
        return chance(joint.prior, alphabet, tuple(i in members for i in range(alphabet.size)))

    def _leakage(self, joint: Joint, kind: str, p: Ends, **about: Any) -> Bound:
        if not joint.prior.rational:
            about["assumptions"] = (_FLOATS,)
        formula = self.level.pml if kind == "pml" else self.level.pmc
        found = formula(p, self.theorems[kind], **about)
        return found if joint.rational else found.about(exact_ratio=None)

    def _nothing(self, joint: Joint, kind: str, **about: Any) -> Bound:
        one = Fraction(1) if joint.rational else 1.0
        return proved(0.0, 0.0, self.theorems[kind], exact_ratio=Ratio(one, one), **about)


def _proved(joint: Joint) -> bool:
    """Return whether the prior is finite, and its probabilities more than values in float64."""
    return joint.finite and not joint.prior.unproved


def _prior(joint: Joint) -> np.ndarray:
    """Return the prior over the mechanism's labels: Fractions stay Fractions."""
    return joint.prior.at(joint.mechanism.secret)


def _support(joint: Joint) -> set[int]:
    """Return the positions of the mechanism's labels that have mass."""
    return set(np.flatnonzero(np.asarray(_prior(joint) != 0, bool)).tolist())


def _subnormal(joint: Joint) -> bool:
    """Return whether a mass is known to less than the relative rounding of the others."""
    p = _prior(joint)
    return p.dtype != object and bool(((p > 0) & (p < NORMAL)).any())


def _whole(masses: np.ndarray) -> list[int]:
    """Return numbers as whole multiples of one unit, exactly."""
    exact = [Fraction(p) for p in masses.tolist()]
    unit = math.lcm(*(p.denominator for p in exact))
    return [p.numerator * (unit // p.denominator) for p in exact]
