"""Expression graphs at a point, in Arb: the truth that enclosures are held against.

Nothing here calls borel. A value is an exact number, infinite ones too, or a ball; `NOTHING` where
the real function has no value (NumPy's NaN); None where this oracle does not know: a pole of both
signs, infinity in most functions, a comparison that the working precision leaves open.
"""

import math
from contextlib import contextmanager

import flint

arb = flint.arb
INF = arb("inf")
NOTHING = "no value"
PRECISIONS = 128, 400, 2000


@contextmanager
def precision(bits):
    """Set Arb's global precision for a block; say so if something inside changed it."""
    before = flint.ctx.prec
    flint.ctx.prec = bits
    try:
        yield
        assert flint.ctx.prec == bits, "the oracle did not run at the precision it was given"
    finally:
        flint.ctx.prec = before


class Open(Exception):
    """The working precision leaves a comparison open."""


def side(a, b=0):
    """Compare for certain: -1, 0 or 1."""
    if a < b:
        return -1
    if a > b:
        return 1
    if a == b:
        return 0
    raise Open


def floor(a):
    down = a.floor()
    if not down.is_exact():
        raise Open
    return down


def nearest(a):
    down = floor(a)
    place = side(a - down, arb(0.5))
    if place == 0:  # to even
        return 2 * floor((down + 1) / 2)
    return down + (place > 0)


def within(low, high, function, at_low=None, at_high=None):
    """Restrict a function of one argument to a domain; no value outside, maybe known ones at it."""

    def restricted(a):
        for end, outwards, known in ((low, -1, at_low), (high, 1, at_high)):
            place = None if end is None else side(a, end)
            if place == outwards:
                return NOTHING
            if place == 0 and known is not None:
                return known
        return function(a)

    return restricted


def power(a, b):
    place = side(a)
    if place > 0:
        return a**b
    if place == 0:
        return [arb(0), arb(1), None][1 - side(b)]
    if not b.is_exact():
        raise Open
    return a**b if b.is_integer() else NOTHING


def angle(y, x):
    if side(y) == 0:
        return arb.pi() if side(x) < 0 else arb(0)
    return arb.atan2(y, x)


def logsum(exp, log):
    def function(a, b):
        low, high = (a, b) if side(a, b) < 0 else (b, a)
        return high + log(1 + exp(low - high))

    return function


def quotient(a, b):
    if side(b) == 0:
        return NOTHING if side(a) == 0 else None
    return a / b


def remainder(a, b):
    return NOTHING if side(b) == 0 else a - floor(a / b) * b


def floor_divide(a, b):
    found = quotient(a, b)
    return found if found is None or found is NOTHING else floor(found)


def heaviside(a, b):
    return [arb(0), b, arb(1)][1 + side(a)]


def truth(test):
    return lambda *values: arb(int(bool(test(*values))))


def compared(test):
    """Compare; NumPy answers False for NaN (and True for !=)."""

    def function(a, b):
        if a is NOTHING or b is NOTHING:
            return arb(int(test is different))
        return arb(int(test(side(a, b))))

    return function


def different(place):
    return place != 0


def is_true(a):
    return a is NOTHING or side(a) != 0  # NaN is true


def where(condition, a, b):
    return a if is_true(condition) else b


def other(choose):
    def function(a, b):
        if a is NOTHING or b is NOTHING:
            return b if a is NOTHING else a
        return choose(a, b)

    return function


def largest(a, b):
    if a >= b:
        return a
    if a <= b:
        return b
    raise Open


def smallest(a, b):
    if a <= b:
        return a
    if a >= b:
        return b
    raise Open


def times_log(log):
    def function(x, y):
        if side(x) == 0:
            return arb(0)
        found = log(y)
        return found if found is None or found is NOTHING else x * found

    return function


logarithm = within(0, None, lambda a: a.log(), -INF)
log1p = within(-1, None, lambda a: a.log1p(), -INF)


def log_to(base):
    return within(0, None, lambda a: a.log() / arb(base).log(), -INF)


def rel_entr(x, y):
    if side(x) < 0 or side(y) < 0 or (side(y) == 0 and side(x) > 0):
        return INF
    return arb(0) if side(x) == 0 else x * (x / y).log()


def kl_div(x, y):
    found = rel_entr(x, y)
    return INF if found == INF else found - x + y


def entropy(x):
    return -INF if side(x) < 0 else arb(0) if side(x) == 0 else -x * x.log()


def binomial(n, k):
    return (n + 1).gamma() / ((k + 1).gamma() * (n - k + 1).gamma())


def beta(a, b):
    if side(a) == 0 or side(b) == 0:
        return INF
    return a.gamma() * b.gamma() / (a + b).gamma()


def beta_share(a, b, x):
    if not (a > 2.0**-30 and b > 2.0**-30):  # Arb takes seconds close to shapes of 0
        return None
    if x * (a + b) > a:  # Arb is slow beyond
        return 1 - (1 - x).beta_lower(b, a, 1)
    return x.beta_lower(a, b, 1)


def other_share(a, b, x):
    share = beta_share(a, b, x)
    return None if share is None else 1 - share


def log_gamma(a):
    return abs(a.gamma()).log() if a < 1000 else a.lgamma()


def quantile(p):
    return arb(2).sqrt() * (2 * p - 1).erfinv()


def erfcx(x):
    if x < 1000:
        return (x * x).exp() * x.erfc()
    return (x * x).hypgeom_u(arb(0.5), arb(0.5)) / arb.pi().sqrt()


def normal(x):
    return (-x / arb(2).sqrt()).erfc() / 2


def log_normal(x):
    return (-normal(-x)).log1p() if x > 0 else normal(x).log()


def bessel_i(v, x):
    if v >= 0 and x > 0 and x < 2.0**-1000:  # Arb takes minutes at exponents of hundreds of digits
        # the series is its first term times a number between 1 and exp(x**2)
        return (x / 2) ** v / (v + 1).gamma() * arb(1).union((x * x).exp())
    return x.bessel_i(v)


FOR_NAN = {
    "less": compared(lambda place: place < 0),
    "less_equal": compared(lambda place: place <= 0),
    "greater": compared(lambda place: place > 0),
    "greater_equal": compared(lambda place: place >= 0),
    "equal": compared(lambda place: place == 0),
    "not_equal": compared(different),
    "logical_and": truth(lambda a, b: is_true(a) & is_true(b)),
    "logical_or": truth(lambda a, b: is_true(a) | is_true(b)),
    "logical_xor": truth(lambda a, b: is_true(a) != is_true(b)),
    "logical_not": truth(lambda a: not is_true(a)),
    "isnan": truth(lambda a: a is NOTHING),
    "isfinite": truth(lambda a: a is not NOTHING and abs(a) != INF),
    "isinf": truth(lambda a: a is not NOTHING and abs(a) == INF),
    "where": where,
    "fmax": other(largest),
    "fmin": other(smallest),
}
NUMBERS = {
    "add": lambda a, b: a + b,
    "subtract": lambda a, b: a - b,
    "multiply": lambda a, b: a * b,
    "divide": quotient,
    "negative": lambda a: -a,
    "positive": lambda a: a,
    "reciprocal": lambda a: quotient(arb(1), a),
    "square": lambda a: a * a,
    "sqrt": within(0, None, lambda a: a.sqrt()),
    "absolute": abs,
    "maximum": largest,
    "minimum": smallest,
    "floor": floor,
    "ceil": lambda a: -floor(-a),
    "trunc": lambda a: floor(a) if side(a) > 0 else -floor(-a),
    "rint": nearest,
    "sign": lambda a: arb(side(a)),
    "heaviside": heaviside,
    "remainder": remainder,
    "floor_divide": floor_divide,
    "power": power,
    "exp": lambda a: a.exp(),
    "exp2": lambda a: arb(2) ** a,
    "expm1": lambda a: a.expm1(),
    "log": logarithm,
    "log2": log_to(2),
    "log10": log_to(10),
    "log1p": log1p,
    "logaddexp": logsum(lambda t: t.exp(), lambda t: t.log()),
    "logaddexp2": logsum(lambda t: arb(2) ** t, lambda t: t.log() / arb(2).log()),
    "cbrt": lambda a: (side(a) and side(a) * abs(a).root(3)) or arb(0),
    "hypot": lambda a, b: (a * a + b * b).sqrt(),
    "sin": lambda a: a.sin(),
    "cos": lambda a: a.cos(),
    "tan": lambda a: a.tan(),
    "arcsin": within(-1, 1, lambda a: a.asin()),
    "arccos": within(-1, 1, lambda a: a.acos()),
    "arctan": lambda a: a.atan(),
    "arctan2": angle,
    "sinh": lambda a: a.sinh(),
    "cosh": lambda a: a.cosh(),
    "tanh": lambda a: a.tanh(),
    "arcsinh": lambda a: a.asinh(),
    "arccosh": within(1, None, lambda a: a.acosh()),
    "arctanh": within(-1, 1, lambda a: a.atanh(), -INF, INF),
    "special.beta": beta,
    "special.betainc": beta_share,
    "special.betaincc": other_share,
    "special.betaln": lambda a, b: logarithm(beta(a, b)),
    "special.binom": binomial,
    "special.digamma": lambda a: a.digamma(),
    "special.entr": entropy,
    "special.erf": lambda a: a.erf(),
    "special.erfc": lambda a: a.erfc(),
    "special.erfcinv": within(0, 2, lambda a: (1 - a).erfinv(), INF, -INF),
    "special.erfcx": erfcx,
    "special.erfinv": within(-1, 1, lambda a: a.erfinv(), -INF, INF),
    "special.exp10": lambda a: arb(10) ** a,
    "special.expit": lambda a: 1 / (1 + (-a).exp()),
    "special.gamma": lambda a: a.gamma(),
    "special.gammainc": lambda a, x: x.gamma_lower(a, 1),
    "special.gammaincc": lambda a, x: x.gamma_upper(a, 1),
    "special.gammaln": within(0, None, log_gamma, INF),
    "special.i0": lambda a: a.bessel_i(arb(0)),
    "special.i0e": lambda a: (-abs(a)).exp() * a.bessel_i(arb(0)),
    "special.i1": lambda a: a.bessel_i(arb(1)),
    "special.iv": bessel_i,
    "special.k0": within(0, None, lambda a: a.bessel_k(arb(0)), INF),
    "special.k1": within(0, None, lambda a: a.bessel_k(arb(1)), INF),
    "special.kl_div": kl_div,
    "special.kv": lambda v, x: INF if side(x) == 0 else x.bessel_k(v),
    "special.log_expit": lambda a: -(1 + (-a).exp()).log(),
    "special.log_ndtr": log_normal,
    "special.loggamma": within(0, None, lambda a: a.lgamma(), INF),
    "special.logit": within(0, 1, lambda p: (p / (1 - p)).log(), -INF, INF),
    "special.ndtr": normal,
    "special.ndtri": within(0, 1, quantile, -INF, INF),
    "special.poch": lambda z, m: (z + m).gamma() / z.gamma(),
    "special.psi": lambda a: a.digamma(),
    "special.rel_entr": rel_entr,
    "special.rgamma": lambda a: a.rgamma(),
    "special.xlog1py": times_log(log1p),
    "special.xlogy": times_log(logarithm),
}
FUNCTIONS = {**NUMBERS, **FOR_NAN}


def at(op, operands):
    """Return the value of one operation."""
    for v in operands[:1] if op == "where" else operands:  # `where` asks for the branch it takes
        if v is None:
            return None
    if op not in FOR_NAN:
        for v in operands:
            if v is NOTHING:
                return NOTHING
    try:
        found = FUNCTIONS[op](*operands)
    except Open:
        return None
    if found is None or found is NOTHING or found.is_finite():
        return found
    return found if found in (INF, -INF) else None


def values(nodes, points):
    """Return a graph's last node at many points: its inputs, floats by name.

    Equal inputs are one object, so that an operation is done once for the same operands.
    """
    columns = []
    for op, args in nodes:
        if op == "input":
            floats = [point[args[0]] for point in points]
            numbers = {x: arb(x) for x in floats}
            columns.append([numbers[x] for x in floats])
        elif op == "const":
            number = NOTHING if math.isnan(args[0]) else arb(args[0])
            columns.append([number] * len(points))
        else:
            rows = list(zip(*(columns[a] for a in args), strict=True))
            keys = [tuple(map(id, operands)) for operands in rows]
            distinct = dict(zip(keys, rows, strict=True))
            found = {key: at(op, operands) for key, operands in distinct.items()}
            columns.append([found[key] for key in keys])
    return columns[-1]


def place(low, found, high):
    """Return where a value certainly is: Arb compares balls with floats exactly."""
    if found is None:
        return "open"
    if found is NOTHING:
        return "nothing"
    low, high = arb(low), arb(high)
    if low <= found and found <= high:
        return "inside"
    return "outside" if found < low or found > high else "open"


def verdicts(lows, nodes, points, highs, precisions=PRECISIONS):
    """Return "inside", "outside", "nothing" or "open": values against the ends of enclosures.

    A ball holds the truth at any precision, so that only points left open go on to the next.
    """
    said = ["open"] * len(points)
    for bits in precisions:
        still = [i for i, word in enumerate(said) if word == "open"]
        with precision(bits):
            found = values(nodes, [points[i] for i in still])
            for i, v in zip(still, found, strict=True):
                said[i] = place(lows[i], v, highs[i])
    return said


def verdict(low, nodes, point, high):
    """Return the verdict on one point."""
    return verdicts([low], nodes, [point], [high])[0]
