"""Theorem 5 of the envelope paper: bounds on the PML envelope of k-ary randomised response."""

from __future__ import annotations

from fractions import Fraction
from numbers import Integral
from typing import TYPE_CHECKING, Any, NamedTuple

from borel.errors import InvalidInput
from borel.figures.dispatch import require_joint
from borel.numerics.intervals.rounding import log_fraction
from borel.probability.arrays import inner_probability, probability
from borel.probability.bound import Bound, Ratio
from borel.probability.measure import Measure, pmf

if TYPE_CHECKING:
    from borel.probability.joint import Joint

PAPER = "Information Leakage Envelopes"


class ResponseBounds(NamedTuple):
    """Theorem 5 on k-ary randomised response: bounds on the envelope at one delta.

    Attributes
    ----------
    lower : Bound or None
        Value of the lower bound; None where the condition on the prior fails.
    upper : Bound
        Value of the upper bound.
    part : str
        ``"(i)"``, where the two are one value, else ``"(ii), (iii)"``.
    condition : bool
        Whether the prior satisfies the condition of part (iii); True for part (i), that has none.
    reason : str
        Why there is no lower bound.
    """

    lower: Bound | None
    upper: Bound
    part: str
    condition: bool
    reason: str = ""


def randomized_response_bounds(joint: Joint, delta: Any) -> ResponseBounds:
    r"""Return Theorem 5's bounds on the envelope of k-ary randomised response.

    With :math:`\alpha, \beta` the probabilities of the truth and of one lie, labels ordered by
    :math:`p_1 \le \dots \le p_k`, and :math:`q_j = \beta + (\alpha - \beta) p_j`: (i) for
    :math:`\delta \le q_1` the envelope is :math:`\log \alpha / q_1`; (ii) else it is at most
    :math:`\min\{\log k\alpha/\delta, \log \alpha/q_1\}`; and (iii) with N the first index whose
    q_1 + ... + q_N reaches delta, and theta the share of q_N that is needed, if

    .. math:: p_N \le \frac{\alpha \sum_{j < N} p_j + \beta}{(N - 2) \alpha + \beta}

    it is at least

    .. math:: h_\delta(\theta) = \max\Big\{\log\frac{\alpha}{q_N},\ \min\Big\{
              \log\frac{\alpha}{q_{N-1}},\ \log\frac{(N-1)\alpha + \theta\beta}{\delta}\Big\}\Big\}.

    Parameters
    ----------
    joint : Joint
        A prior of Fractions, all positive, times ``bl.mechanisms.randomized_response``.
    delta : number in (0, 1)
        A float means its binary64 value.

    Returns
    -------
    ResponseBounds
        ``lower`` (None where the condition fails, with a reason) and ``upper``: exact Bounds of
        the two values, in nats.

    Raises
    ------
    InvalidInput
        Another mechanism, or a prior that is not one of positive Fractions.

    Notes
    -----
    The paper writes h in three pieces with ends theta_1 and theta_2. As
    :math:`((N-1)\alpha + \theta\beta)/\delta` falls in theta, meets :math:`\alpha/q_{N-1}` at
    theta_1 and :math:`\alpha/q_N` at theta_2, the pieces are the maximum and minimum above,
    degenerate cases included. Of the proof's channel W, N must go to N + 1 with probability
    1 - theta.

    References
    ----------
    "Information Leakage Envelopes", Theorem 5.

    Examples
    --------
    >>> from fractions import Fraction as F
    >>> import borel as bl
    >>> joint = bl.pmf([F(1, 3)] * 3) * bl.mechanisms.randomized_response(k=3, ratio=2)
    >>> found = randomized_response_bounds(joint, F(1, 2))
    >>> found.lower.ratio.lower, found.upper.ratio.lower
    (Fraction(3, 2), Fraction(3, 2))
    """
    from borel.mechanisms.response import RandomizedResponseForms

    what = "randomized_response_bounds"
    require_joint(joint, what)
    level = inner_probability(what, "delta", delta)
    forms = joint.mechanism.closed_forms
    if not isinstance(forms, RandomizedResponseForms):
        raise InvalidInput(what, expected="bl.mechanisms.randomized_response", got=repr(joint))
    prior = joint.prior.at(joint.mechanism.secret)
    if not joint.prior.rational or min(prior) <= 0:
        raise InvalidInput(
            what,
            expected="a prior of Fractions, all positive",
            got=repr(joint.prior),
            mend="the theorem orders the probabilities: write them as Fractions.",
        )
    ratio = getattr(forms.level, "ratio", None)
    response = _Response(sorted(prior), ratio, getattr(forms.level, "epsilon", None))
    return response.bounds(level)


class _Response:
    """k-RR in units of the probability of one lie: alpha is r, beta 1, delta becomes delta s.

    All comparisons are signs of A r + B with Fractions A and B: exact for a Fraction r, and for
    r = e^epsilon, which is transcendental for a rational epsilon other than 0, decided by balls
    unless A = B = 0.
    """

    def __init__(self, p: list[Fraction], ratio: Fraction | None, epsilon: float | None):
        self.p, self.k = p, len(p)
        if epsilon == 0:
            ratio = Fraction(1)
        self.ratio, self.epsilon = ratio, epsilon
        self.heads = [sum(p[:n], Fraction(0)) for n in range(self.k + 1)]

    def _not_negative(self, a: Fraction, b: Fraction) -> bool:
        """Say if a r + b >= 0."""
        if self.ratio is not None:
            return a * self.ratio + b >= 0
        if a == 0:
            return b >= 0
        from borel.numerics.balls.arithmetic import ball, precision

        bits = 128
        while True:
            with precision(bits):
                value = ball(a) * ball(self.epsilon).exp() + ball(b)
                if value > 0 or value < 0:
                    return bool(value > 0)
            bits *= 2

    def bounds(self, delta: Fraction) -> ResponseBounds:
        p, k = self.p, self.k
        # q_1 + ... + q_n >= delta, times s = r + k - 1
        count = next(
            n
            for n in range(1, k + 1)
            if n == k
            or self._not_negative(self.heads[n] - delta, n - self.heads[n] - delta * (k - 1))
        )
        top = self._value(lambda r: r / (1 + (r - 1) * p[0]) * 1, "Theorem 5(i)")
        if count == 1:
            return ResponseBounds(top, top, "(i)", True)
        upper = self._value(
            lambda r: _least(k * r / (delta * (r + k - 1)), r / (1 + (r - 1) * p[0])),
            "Theorem 5(ii)",
        )
        last, head = p[count - 1], self.heads[count - 1]
        # alpha sum p + beta - p_N ((N - 2) alpha + beta) >= 0
        if not self._not_negative(head - last * (count - 2), 1 - last):
            why = (
                f"the prior violates the condition of Theorem 5(iii): p_N = {last} for N = {count}"
                " is too large beside the smaller probabilities"
            )
            return ResponseBounds(None, upper, "(ii), (iii)", False, why)

        def piece(r: Any) -> Any:
            share, mass = delta * (r + k - 1), count - 1 + (r - 1) * head
            q, before = 1 + (r - 1) * last, 1 + (r - 1) * p[count - 2]
            theta = (share - mass) / q
            middle = ((count - 1) * r + theta) / share
            return _most(r / q, _least(r / before, middle))

        return ResponseBounds(self._value(piece, "Theorem 5(iii)"), upper, "(ii), (iii)", True)

    def _value(self, formula: Any, number: str) -> Bound:
        """Make the exact Bound of the logarithm of a formula in r, which is at least 1.

        r / q_j in units of beta is alpha / q_j.
        """
        about = (f"closed form: {PAPER}, {number}",)
        if self.ratio is not None:
            value = max(Fraction(formula(self.ratio)), Fraction(1))
            low, high = log_fraction(value)
            ratio = Ratio(value, value)
            return Bound.exact(max(low, 0.0), max(high, 0.0), exact_ratio=ratio, assumptions=about)
        from borel.numerics.balls.arithmetic import ball, enclose

        def nats() -> Any:
            return formula(_Ball(ball(self.epsilon).exp())).value.log()

        low, high = enclose(nats)
        return Bound.exact(max(low, 0.0), max(high, 0.0), assumptions=about)


class _Ball:
    """A ball that computes with Fractions: Arb's own numbers do not know them."""

    def __init__(self, value: Any):
        from borel.numerics.balls.arithmetic import ball

        self.value = ball(value) if isinstance(value, (int, Fraction)) else value

    def _with(self, other: Any, operation: Any) -> _Ball:
        return _Ball(
            operation(self.value, (other if isinstance(other, _Ball) else _Ball(other)).value)
        )

    def __add__(self, other: Any) -> _Ball:
        return self._with(other, lambda a, b: a + b)

    def __sub__(self, other: Any) -> _Ball:
        return self._with(other, lambda a, b: a - b)

    def __mul__(self, other: Any) -> _Ball:
        return self._with(other, lambda a, b: a * b)

    def __truediv__(self, other: Any) -> _Ball:
        return self._with(other, lambda a, b: a / b)

    __radd__, __rmul__ = __add__, __mul__


def _most(a: Any, b: Any) -> Any:
    return _Ball(a.value.max(b.value)) if isinstance(a, _Ball) else max(a, b)


def _least(a: Any, b: Any) -> Any:
    return _Ball(a.value.min(b.value)) if isinstance(a, _Ball) else min(a, b)


def four_level_prior(k: int, rho: Any) -> Measure:
    r"""Return the four-level prior: blocks of equal size with 1 -+ 3 rho and 1 -+ rho over k.

    Parameters
    ----------
    k : int
        Number of labels, divisible by 4.
    rho : Fraction
        0 < rho < 1/3.

    References
    ----------
    "Information Leakage Envelopes", after Theorem 5; Figure 2 takes rho = 1/10.

    Examples
    --------
    >>> from fractions import Fraction as F
    >>> four_level_prior(4, F(1, 10)).probabilities[0]
    Fraction(7, 40)
    """
    if not isinstance(k, Integral) or isinstance(k, bool) or k < 4 or k % 4:
        raise InvalidInput("four_level_prior", expected="k divisible by 4", got=repr(k))
    part = probability("four_level_prior", "rho", rho)
    if not 0 < part < Fraction(1, 3):
        raise InvalidInput("four_level_prior", expected="0 < rho < 1/3", got=repr(rho))
    levels = [1 - 3 * part, 1 - part, 1 + part, 1 + 3 * part]
    return pmf([level / int(k) for level in levels for _ in range(int(k) // 4)])
