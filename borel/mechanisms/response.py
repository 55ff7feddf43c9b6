"""Randomised response: tell the truth with a likelihood e^epsilon times that of any one lie."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from borel.errors import InvalidInput
from borel.mechanisms.closed_forms import JOURNAL, number, proved
from borel.mechanisms.parameter_arrays import over_arrays
from borel.numerics.intervals.rounding import NORMAL, log_fraction, rounding_of
from borel.probability.alphabets import Alphabet, Finite
from borel.probability.bound import Bound, Ratio
from borel.probability.closed_forms import ClosedForms
from borel.probability.measure import Measure
from borel.probability.mechanism import Mechanism
from borel.probability.wrong_calls import explained

if TYPE_CHECKING:
    from borel.probability.joint import Joint

_PML = f"{JOURNAL}, Example 4 (the PML that it quotes)"
_PMC = f"{JOURNAL}, Example 4"
_FLOATS = "floats mean the normalised laws within their rounding"


@over_arrays
@explained
def randomized_response(
    *, k: int | None = None, epsilon: float | None = None, ratio: Any = None, secret: Any = None
) -> Mechanism:
    r"""Make k-ary randomised response.

    .. math:: P_{Y|X=i}(j) = \frac{e^\varepsilon}{k - 1 + e^\varepsilon} \text{ if } i = j,
              \quad \frac{1}{k - 1 + e^\varepsilon} \text{ otherwise.}

    Parameters
    ----------
    k : int, optional
        Number of labels, at least 2; 0, ..., k - 1 if no ``secret`` is given.
    epsilon : float or DataArray
        Its LDP level in nats, >= 0; a float means its binary64 value.
    ratio : int or Fraction
        :math:`e^\varepsilon` exactly, >= 1, instead of ``epsilon``: the matrix holds Fractions,
        and with a prior of Fractions every ratio is exact.
    secret : Alphabet or sequence of labels, optional
        The finite alphabet of secret and outcome.

    Returns
    -------
    Mechanism
        Finite; a `MechanismFamily` when ``epsilon`` is a DataArray.

    Raises
    ------
    InvalidInput
        Fewer than two labels, ``epsilon`` < 0 or NaN, ``ratio`` < 1, both or neither of them,
        probabilities that float64 cannot hold (``epsilon`` above about 708).

    Notes
    -----
    Closed forms, for every prior p with support S, proved in `RandomizedResponseForms`:
    for j in S, PML(j) = log(r / (1 + p_j (r - 1))) and, if S has two labels or more,
    PMC(j) = log(1 + p_j (r - 1)), r = e^epsilon. Outside S, and for a prior at one point, both
    are 0. So sup PML = log(r / (1 + p_min (r - 1))), p_min over the *support*, and
    sup PMC = log(1 + p_max (r - 1)).

    References
    ----------
    Saeidian, Grosse, Sadeghi, Skoglund, Oechtering, "Information Density Bounds for Privacy",
    Example 4; Kairouz, Oh, Viswanath (2016).

    Examples
    --------
    >>> from fractions import Fraction as F
    >>> import borel as bl
    >>> rr = bl.mechanisms.randomized_response(ratio=3, secret=["no", "yes"])
    >>> bl.pml(bl.pmf([F(1, 4), F(3, 4)], on=rr.secret) * rr).sup().ratio.upper
    Fraction(2, 1)
    """
    alphabet = _alphabet(k, secret)
    level = _level(epsilon, ratio)
    values, rounding = level.matrix(alphabet.size)
    shown = f"ratio={ratio}" if epsilon is None else f"epsilon={float(epsilon):g}"
    out = Mechanism._from_matrix(
        values, alphabet, alphabet, f"randomized_response({shown})", rounding
    )
    out.closed_forms = RandomizedResponseForms(level)
    return out


def _alphabet(k: Any, secret: Any) -> Alphabet:
    what = "randomized_response"
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


def _level(epsilon: Any, ratio: Any) -> Epsilon | ExactRatio:
    what = "randomized_response"
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


class Masses(NamedTuple):
    """An enclosure of a prior probability, in Fractions."""

    lower: Fraction
    upper: Fraction


@dataclass(frozen=True)
class ExactRatio:
    """r = e^epsilon as a Fraction."""

    ratio: Fraction

    def matrix(self, k: int) -> tuple[np.ndarray, float]:
        """Return the matrix of Fractions."""
        lie = 1 / (k - 1 + self.ratio)
        out = np.full((k, k), lie, dtype=object)
        out[np.arange(k), np.arange(k)] = self.ratio * lie
        return out, 0.0

    def pml(self, p: Masses, **about: Any) -> Bound:
        """Enclose log(r / (1 + p (r - 1))), which decreases in p."""
        r = self.ratio
        return _of_ratios(r / (1 + p.upper * (r - 1)), r / (1 + p.lower * (r - 1)), _PML, about)

    def pmc(self, p: Masses, **about: Any) -> Bound:
        """Enclose log(1 + p (r - 1)), which increases in p."""
        r = self.ratio
        return _of_ratios(1 + p.lower * (r - 1), 1 + p.upper * (r - 1), _PMC, about)


@dataclass(frozen=True)
class Epsilon:
    """Epsilon as a float, its binary64 value."""

    epsilon: float

    def matrix(self, k: int) -> tuple[np.ndarray, float]:
        """Return the matrix to the nearest floats, and how far they may be off, relatively."""
        from borel.numerics.balls.arithmetic import ball, enclose

        truth = enclose(lambda: 1 / (1 + (k - 1) * (-ball(self.epsilon)).exp()))
        lie = enclose(lambda: 1 / (k - 1 + ball(self.epsilon).exp()))
        if not lie[0] >= NORMAL:
            raise InvalidInput(
                "randomized_response",
                expected="probabilities that float64 can hold",
                got=f"about e^-{self.epsilon:g} for epsilon = {self.epsilon!r}",
                mend="take epsilon below 700, or give ratio=<a Fraction>.",
            )
        out = np.full((k, k), lie[0])
        out[np.arange(k), np.arange(k)] = truth[0]
        width = max(Fraction(high) / Fraction(low) - 1 for low, high in (truth, lie))
        return out, math.nextafter(float(width), math.inf) if width else 0.0

    def pml(self, p: Masses, **about: Any) -> Bound:
        """Enclose epsilon - log(1 + p (e^epsilon - 1)), which decreases in p."""
        return _of_ends(lambda q: _eps(self) - _cost(self, q), p.upper, p.lower, _PML, about)

    def pmc(self, p: Masses, **about: Any) -> Bound:
        """Enclose log(1 + p (e^epsilon - 1)), which increases in p."""
        return _of_ends(lambda q: _cost(self, q), p.lower, p.upper, _PMC, about)


def _eps(level: Epsilon) -> Any:
    from borel.numerics.balls.arithmetic import ball

    return ball(level.epsilon)


def _cost(level: Epsilon, p: Fraction) -> Any:
    from borel.numerics.balls.arithmetic import ball

    return (ball(p) * ball(level.epsilon).expm1()).log1p()


def _of_ends(formula: Any, low_at: Fraction, high_at: Fraction, theorem: str, about: dict) -> Bound:
    """Make the Bound of a monotone formula from where it is smallest and largest."""
    from borel.numerics.balls.arithmetic import enclose

    low = enclose(lambda: formula(low_at))[0]
    high = enclose(lambda: formula(high_at))[1]
    return proved(max(low, 0.0), max(high, 0.0), theorem, **about)


def _of_ratios(low: Fraction, high: Fraction, theorem: str, about: dict) -> Bound:
    """Make the Bound of a logarithm of ratios >= 1, kept as Fractions."""
    lower = 0.0 if low == 1 else max(log_fraction(low)[0], 0.0)
    upper = 0.0 if high == 1 else log_fraction(high)[1]
    return proved(lower, upper, theorem, exact_ratio=Ratio(low, high), **about)


@dataclass(frozen=True)
class RandomizedResponseForms(ClosedForms):
    r"""Example 4 for every prior, with the suprema over the support of the prior only.

    Notes
    -----
    Proof. With S the support and r = e^epsilon, :math:`P_Y(j) = (1 + p_j (r - 1))/(k - 1 + r)`,
    so every outcome has positive probability. Times k - 1 + r, the entries of column j over S are
    r at i = j and 1 elsewhere. For j in S the maximum is r; the minimum is 1 if S has another
    label, and r (with p_j = 1) if it has not: then both leakages are log 1. For j not in S all
    entries are 1 and so is 1 + p_j (r - 1). PML decreases and PMC increases in p_j. A prior of
    floats means every normalised one within its relative rounding, and a label of mass exactly 0
    stays outside S: the monotone formulas are evaluated at both ends of p_j.
    Tested in ``tests/mechanisms/test_response.py`` against brute force over Fractions.
    """

    level: Epsilon | ExactRatio

    def at(self, joint: Joint, kind: str, y: Any) -> Bound | None:
        """Return the leakage at one outcome, for every prior on the alphabet."""
        if not _proved(joint):
            return None
        j = int(np.ravel(joint.outcome.positions(y))[0])
        support = _support(joint)
        if j not in support or len(support) == 1:
            return self._nothing(joint, kind)
        return self._leakage(joint, kind, j)

    def sup(self, joint: Joint, kind: str) -> Bound | None:
        """Return the supremum over the outcomes, which is attained."""
        if not _proved(joint):
            return None
        p, support = _prior(joint), _support(joint)
        labels = joint.mechanism.secret.labels
        if len(support) == 1:
            here = labels[support[0]]
            return self._nothing(joint, kind, attained=True, witness={"x": here, "y": here})
        best = min if kind == "pml" else max
        j = best(support, key=lambda i: p[i])
        i = j if kind == "pml" else next(i for i in support if i != j)
        witness = {"x": labels[i], "y": labels[j]}
        return self._leakage(joint, kind, j, attained=True, witness=witness)

    def _leakage(self, joint: Joint, kind: str, j: int, **about: Any) -> Bound:
        if not joint.prior.rational:
            about["assumptions"] = (_FLOATS,)
        formula = self.level.pml if kind == "pml" else self.level.pmc
        found = formula(_mass(joint.prior, _prior(joint)[j]), **about)
        return found if joint.rational else found.about(exact_ratio=None)

    def _nothing(self, joint: Joint, kind: str, **about: Any) -> Bound:
        one = Fraction(1) if joint.rational else 1.0
        theorem = _PML if kind == "pml" else _PMC
        return proved(0.0, 0.0, theorem, exact_ratio=Ratio(one, one), **about)


def _proved(joint: Joint) -> bool:
    """Return whether the prior is finite, and its probabilities more than values in float64."""
    return joint.finite and not joint.prior.unproved


def _prior(joint: Joint) -> np.ndarray:
    """Return the prior over the mechanism's labels: Fractions stay Fractions."""
    return joint.prior.at(joint.mechanism.secret)


def _support(joint: Joint) -> list[int]:
    return np.flatnonzero(np.asarray(_prior(joint) != 0, bool)).tolist()


def _mass(prior: Measure, p: Any) -> Masses:
    """Enclose a positive prior probability that its floats mean, whichever way error is counted."""
    value = Fraction(p)
    if prior.rational:
        return Masses(value, value)
    error = Fraction(float(rounding_of(np.asarray(p, float), prior.rounding)))
    return Masses(value * (1 - error), min(value / (1 - error), Fraction(1)))
