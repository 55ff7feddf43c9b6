"""The operations of expression graphs on ranges with Arb ends, and their slopes.

A *range* is a pair of balls ``(low, high)``: every value lies between a number of the one and a
number of the other. A single ball could hold neither [0, u] without numbers below 0 nor
(-inf, u], so that logarithms at an end would be lost. NaN in an end means that nothing is known.

A *slope* is a range of derivatives almost everywhere (of generalised gradients at kinks); None
belongs to a constant, `ENTIRE` to a function that may jump.
"""

from __future__ import annotations

from typing import Any

from flint import acb, arb

from borel.numerics.graphs.formulas import function_of
from borel.numerics.graphs.operations import OPERATIONS

ZERO_BALL, ONE_BALL, INF, NEG_INF = arb(0), arb(1), arb.pos_inf(), arb.neg_inf()
ZERO, ONE = (ZERO_BALL, ZERO_BALL), (ONE_BALL, ONE_BALL)
ENTIRE = (NEG_INF, INF)
_SMALL_POWER = 10_000  # whole exponents up to here are taken by multiplication


def plus(p: Any, q: Any) -> Any:
    """Return the range of a sum."""
    return p[0] + q[0], p[1] + q[1]


def minus(p: Any, q: Any) -> Any:
    """Return the range of a difference."""
    return p[0] - q[1], p[1] - q[0]


def negative(p: Any) -> Any:
    """Return the range of -p."""
    return -p[1], -p[0]


def hull(p: Any, q: Any) -> Any:
    """Return the range of two alternatives."""
    return p[0].min(q[0]), p[1].max(q[1])


def times(p: Any, q: Any) -> Any:
    """Return the range of a product, by the signs that are certain."""
    a, b = p
    c, d = q
    if a >= 0:
        if c >= 0:
            return a * c, b * d
        return b * c, (a * d if d <= 0 else b * d)
    if b <= 0:
        if c >= 0:
            return a * d, b * c
        return (b * d if d <= 0 else a * d), a * c
    if c >= 0:
        return a * d, b * d
    if d <= 0:
        return b * c, a * c
    return (a * d).min(b * c).min((a * c).min(b * d)), (a * c).max(b * d).max((a * d).max(b * c))


def reciprocal(q: Any) -> Any:
    """Return the range of 1 / q: a half-line if q only touches 0, everything if it may cross."""
    c, d = q
    if c > 0 or d < 0:
        return 1 / d, 1 / c
    if c >= 0:
        return (1 / d if d > 0 else ZERO_BALL), INF
    if d <= 0:
        return NEG_INF, (1 / c if c < 0 else ZERO_BALL)
    return ENTIRE


def absolute(p: Any) -> Any:
    """Return the range of abs(p)."""
    a, b = p
    if a >= 0:
        return p
    if b <= 0:
        return -b, -a
    return ZERO_BALL, b.max(-a)


def square(p: Any) -> Any:
    """Return the range of p**2."""
    a, b = absolute(p)
    return a * a, b * b


def log(p: Any) -> Any:
    """Return the range of log(p) where p > 0; -inf for the constant 0."""
    a, b = p
    if a > 0:
        return a.log(), b.log()
    return NEG_INF, (NEG_INF if b == 0 else b.log() if b > 0 else b.upper().log())


def sqrt(p: Any) -> Any:
    """Return the range of sqrt(p) where p >= 0."""
    a, b = p
    return (a.sqrt() if a > 0 else ZERO_BALL), (b if b >= 0 else b.upper()).sqrt()


def whole(exponent: Any) -> int | None:
    """Return a constant exponent as an int if it is one."""
    low, high = exponent
    if low.is_exact() and low == high and low.is_integer() and abs(low) <= _SMALL_POWER:
        return int(low.unique_fmpz())
    return None


def repeated(x: Any, n: int) -> Any:
    """Return x**n, n >= 1, by multiplication: python-flint's ``arb(0, 1) ** 2`` is NaN."""
    out = None
    while True:
        if n & 1:
            out = x if out is None else out * x
        n >>= 1
        if not n:
            return out
        x = x * x


def power(p: Any, e: Any) -> Any:
    """Return the range of p**e for a constant e; p >= 0 unless e is whole."""
    n = whole(e)
    if n == 0:
        return ONE
    if n is None and not e[0] > 0 and not e[1] < 0:
        return _increasing(arb.exp)(times(log(p), e))
    if e[1] < 0:
        return reciprocal(power(p, negative(e)))
    if n is not None:
        a, b = p if n & 1 else absolute(p)
        return repeated(a, n), repeated(b, n)
    a, b = (p[0] if p[0] >= 0 else ZERO_BALL), (p[1] if p[1] >= 0 else p[1].upper())
    if not b >= 0:
        return ENTIRE
    return (a ** e[0]).min(a ** e[1]), (b ** e[0]).max(b ** e[1])


def _increasing(method: Any) -> Any:
    return lambda p: (method(p[0]), method(p[1]))


def _oscillating(method: Any) -> Any:
    def enclose(p: Any) -> Any:
        ball = method(p[0].union(p[1]))
        return ball.lower(), ball.upper()

    return enclose


def _cosh(p: Any) -> Any:
    a, b = absolute(p)
    return a.cosh(), b.cosh()


def _decreasing(method: Any) -> Any:
    return lambda p: (method(p[1]), method(p[0]))


def _gammaln(p: Any) -> Any:
    """Return the range of log Gamma on (0, inf): it falls to -0.1215 at 1.4616 and then rises."""
    a, b = p
    if not a >= 0:
        return ENTIRE
    left = a.lgamma() if a > 0 else INF
    right = b.lgamma() if b.is_finite() else INF
    if a >= 1.4617:
        return left, right
    if b <= 1.4616:
        return right, left
    least = a.union(b).lgamma() if a > 0 and b.is_finite() else arb(-0.1215)
    return least.lower().max(arb(-0.1215)), left.max(right)


def _digamma(p: Any) -> Any:
    if not p[0] > 0:
        return NEG_INF, (p[1].digamma() if p[0] >= 0 and p[1].is_finite() else INF)
    return p[0].digamma(), (p[1].digamma() if p[1].is_finite() else INF)


def _trigamma(p: Any) -> Any:
    """Return the range of the derivative of digamma, which falls from inf to 0 on (0, inf)."""
    if not p[0] >= 0:
        return ENTIRE
    low = acb(p[1]).polygamma(1).real if p[1].is_finite() else ZERO_BALL
    return low, (acb(p[0]).polygamma(1).real if p[0] > 0 else INF)


def _limited(method: Any, left: Any, right: Any) -> Any:
    """Give a method of Arb its limits at -inf and inf, where it returns NaN."""

    def value(x: Any) -> Any:
        return method(x) if x.is_finite() else right if x > 0 else left if x < 0 else x

    return value


def expit(x: Any) -> Any:
    """Return 1 / (1 + exp(-x)) of a ball."""
    return 1 / (1 + (-x).exp())


def logaddexp(x: Any, y: Any) -> Any:
    """Return log(exp(x) + exp(y)) of balls."""
    if x == NEG_INF:
        return y
    if x > y:
        x, y = y, x
    return y + (x - y).exp().log1p()


_erf = _limited(arb.erf, -ONE_BALL, ONE_BALL)
_erfc = _limited(arb.erfc, arb(2), ZERO_BALL)


def _gauss(p: Any) -> Any:
    """Return 2 / sqrt(pi) exp(-p**2), the slope of erf."""
    c, d = square(p)
    scale = 2 / arb.pi().sqrt()
    return (-d).exp() * scale, (-c).exp() * scale


def _by(slope: Any) -> Any:
    """Make a rule of slopes from a derivative: a function of the argument p and the value f."""
    return lambda p, f, dp: times(slope(p, f), dp)


def _add_slope(p: Any, q: Any, f: Any, dp: Any, dq: Any) -> Any:
    return dq if dp is None else dp if dq is None else plus(dp, dq)


def _subtract_slope(p: Any, q: Any, f: Any, dp: Any, dq: Any) -> Any:
    return negative(dq) if dp is None else dp if dq is None else minus(dp, dq)


def _multiply_slope(p: Any, q: Any, f: Any, dp: Any, dq: Any) -> Any:
    if dp is None:
        return times(p, dq)
    return times(q, dp) if dq is None else plus(times(p, dq), times(q, dp))


def _divide_slope(p: Any, q: Any, f: Any, dp: Any, dq: Any) -> Any:
    """Return (dp - f dq) / q; everything where q may change sign, since f may jump there."""
    over = reciprocal(q)
    if over is ENTIRE:
        return ENTIRE
    if dq is None:
        return times(dp, over)
    top = times(f, dq)
    return times(negative(top) if dp is None else minus(dp, top), over)


def _maximum_slope(p: Any, q: Any, f: Any, dp: Any, dq: Any) -> Any:
    dp, dq = dp or ZERO, dq or ZERO
    return dp if p[0] >= q[1] else dq if q[0] >= p[1] else hull(dp, dq)


def _logaddexp_slope(p: Any, q: Any, f: Any, dp: Any, dq: Any) -> Any:
    """Return the mean of both slopes with the weights exp(p - f) and exp(q - f)."""
    share = _increasing(expit)
    first = None if dp is None else times(share(minus(p, q)), dp)
    second = None if dq is None else times(share(minus(q, p)), dq)
    return _add_slope(p, q, f, first, second)


def _power_slope(p: Any, e: Any, f: Any, dp: Any, _: Any) -> Any:
    """Return e p**(e - 1) dp; everything where a pole may lie between two monotone arms."""
    if not e[0] >= 0 and not p[0] >= 0 and not p[1] <= 0:
        return ENTIRE
    return times(times(e, power(p, minus(e, ONE))), dp)


_VALUES: dict[str, Any] = {
    "add": plus,
    "subtract": minus,
    "multiply": times,
    "divide": lambda p, q: times(p, reciprocal(q)),
    "negative": negative,
    "absolute": absolute,
    "maximum": lambda p, q: (p[0].max(q[0]), p[1].max(q[1])),
    "minimum": lambda p, q: (p[0].min(q[0]), p[1].min(q[1])),
    "square": square,
    "sqrt": sqrt,
    "power": power,
    "log": log,
    "log1p": lambda p: _increasing(arb.log1p)(p) if p[0] > -1 else log(plus(p, ONE)),
    "logaddexp": lambda p, q: (logaddexp(p[0], q[0]), logaddexp(p[1], q[1])),
    "sin": _oscillating(arb.sin),
    "cos": _oscillating(arb.cos),
    "cosh": _cosh,
    "expit": _increasing(expit),
    "erf": _increasing(_erf),
    "erfc": _decreasing(_erfc),
    "gammaln": _gammaln,
    "digamma": _digamma,
}
_SLOPES: dict[str, Any] = {
    "add": _add_slope,
    "subtract": _subtract_slope,
    "multiply": _multiply_slope,
    "divide": _divide_slope,
    "negative": lambda p, f, dp: negative(dp),
    "absolute": lambda p, f, dp: (
        dp if p[0] >= 0 else negative(dp) if p[1] <= 0 else hull(dp, negative(dp))
    ),
    "maximum": _maximum_slope,
    "minimum": lambda p, q, f, dp, dq: _maximum_slope(q, p, f, dp, dq),
    "square": _by(lambda p, f: plus(p, p)),
    "sqrt": _by(lambda p, f: reciprocal(plus(f, f))),
    "power": _power_slope,
    "exp": _by(lambda p, f: f),
    "expm1": _by(lambda p, f: plus(f, ONE)),
    "logaddexp": _logaddexp_slope,
    "erf": _by(lambda p, f: _gauss(p)),
    "erfc": _by(lambda p, f: negative(_gauss(p))),
    "digamma": _by(lambda p, f: _trigamma(p)),
}
_NO_NODE = {"reciprocal": reciprocal}  # formulas use it, nodes are divisions


def _ranges() -> dict[str, tuple[Any, Any]]:
    """Return ranges and slopes: by the table of operations, where they are not written above."""
    values, slopes = dict(_VALUES), dict(_SLOPES)
    for op, of in OPERATIONS.items():
        if of.arb and of.monotone:
            ends = _increasing if of.monotone == "+" else _decreasing
            values.setdefault(op.removeprefix("special."), ends(getattr(arb, of.arb)))

    def rule(op: str) -> Any:
        return _NO_NODE.get(op) or values[op.removeprefix("special.")]

    for op, of in OPERATIONS.items():
        name = op.removeprefix("special.")
        if name in values and name not in slopes:
            slope = function_of(of.derivative[0], ("u", "f"), rule, lambda n: (arb(n), arb(n)))
            slopes[name] = _by(slope)
    return {name: (values[name], slopes[name]) for name in values}


RANGES = _ranges()
"""For each operation its range from ranges, and its slope: of the arguments, the value and the
arguments' slopes."""

# -- truth values: True, False, None for undecided; almost everywhere ----------------------------


def _apart(dp: Any, dq: Any) -> bool:
    """Say if two expressions are equal on a null set only: their difference has a slope, not 0."""
    d = _subtract_slope(None, None, None, dp, dq) if dp or dq else ZERO
    return bool(d[0] > 0 or d[1] < 0)


def less(p: Any, q: Any, dp: Any, dq: Any) -> bool | None:
    """Decide p < q almost everywhere on a box of positive length, or at a constant."""
    if p[1] < q[0]:
        return True
    if p[0] >= q[1]:
        return False
    return True if p[1] <= q[0] and _apart(dp, dq) else None


def less_equal(p: Any, q: Any, dp: Any, dq: Any) -> bool | None:
    """Decide p <= q, as `less` does."""
    if p[1] <= q[0]:
        return True
    if p[0] > q[1]:
        return False
    return False if p[0] >= q[1] and _apart(dp, dq) else None


def equal(p: Any, q: Any, dp: Any, dq: Any) -> bool | None:
    """Decide p == q: false where the difference is strictly monotone, since that is a null set."""
    if p[1] < q[0] or p[0] > q[1] or _apart(dp, dq):
        return False
    return True if p[0] == p[1] == q[0] == q[1] else None


def both(p: bool | None, q: bool | None) -> bool | None:
    """Return p and q."""
    return False if p is False or q is False else True if p and q else None


def either(p: bool | None, q: bool | None) -> bool | None:
    """Return p or q."""
    return True if p or q else False if p is False and q is False else None


def no(p: bool | None) -> bool | None:
    """Return not p."""
    return None if p is None else not p


def floor(p: Any, dp: Any) -> tuple[Any, Any]:
    """Return the range and the slope of floor(p)."""
    low, high = p[0].lower().floor(), p[1].upper().floor()
    if high == low + 1 and p[1] <= high and _apart(dp, None):
        high = low  # the upper end is whole, and p takes it on a null set
    return (low, high), ZERO if low == high else ENTIRE


TRUTHS = {"less": less, "less_equal": less_equal, "equal": equal}
LOGIC = {"logical_and": both, "logical_or": either, "logical_not": no}
