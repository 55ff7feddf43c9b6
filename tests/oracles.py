"""Leakage straight from its definitions, in Fractions; logarithms by Arb at 300 bits or more.

Nothing here calls borel. A law is a list of Fractions, a mechanism a list of rows; figures come
as the ratio e^figure (a Fraction, or `math.inf`), and `encloses` compares with zero tolerance.
"""

import math
from contextlib import contextmanager
from fractions import Fraction as F
from functools import wraps

import flint
from hypothesis import strategies as st

INF = math.inf
BITS = 300


# -- definitions ---------------------------------------------------------------------------------


def support(p):
    """Secrets that the prior charges."""
    return [x for x, mass in enumerate(p) if mass > 0]


_last = (None, None, {})


def _once(function):
    """Remember the results about the last joint asked for (the same objects p and K)."""

    @wraps(function)
    def remembering(*arguments):
        global _last
        *kind, p, K = arguments
        if _last[0] is not p or _last[1] is not K:
            _last = (p, K, {})
        key = (function.__name__, *kind)
        if key not in _last[2]:
            _last[2][key] = function(*arguments)
        return _last[2][key]

    return remembering


@_once
def marginal(p, K):
    """P_Y."""
    return [sum((p[x] * K[x][y] for x in support(p)), F(0)) for y in range(len(K[0]))]


def pml(p, K, y):
    """e^PML at y: the largest posterior-to-prior ratio; 1 at an outcome of density 0."""
    mass = marginal(p, K)[y]
    if mass == 0:
        return F(1)
    return max((p[x] * K[x][y] / mass) / p[x] for x in support(p))


def pmc(p, K, y):
    """e^PMC at y: the largest prior-to-posterior ratio; 1 at an outcome of density 0."""
    mass = marginal(p, K)[y]
    if mass == 0:
        return F(1)
    posterior = {x: p[x] * K[x][y] / mass for x in support(p)}
    return max(INF if q == 0 else p[x] / q for x, q in posterior.items())


LEAKAGES = {"pml": pml, "pmc": pmc}


@_once
def curve(kind, p, K):
    """e^leakage at every outcome."""
    return [LEAKAGES[kind](p, K, y) for y in range(len(K[0]))]


def sup(kind, p, K):
    """e^sup over outcomes of positive probability."""
    mass = marginal(p, K)
    return max(r for r, m in zip(curve(kind, p, K), mass, strict=True) if m > 0)


def tail(kind, p, K, above):
    """P{leakage in a set}, the set given by a predicate on e^leakage."""
    pairs = zip(curve(kind, p, K), marginal(p, K), strict=True)
    return sum((m for r, m in pairs if m > 0 and above(r)), F(0))


def quantile(kind, p, K, s, side="left"):
    """e^quantile: inf{t : P{leakage <= t} >= s}, or sup{t : P{leakage <= t} <= s}."""
    values = sorted({r for r, m in zip(curve(kind, p, K), marginal(p, K), strict=True) if m > 0})
    for r in values:
        cdf = 1 - tail(kind, p, K, lambda v, r=r: v > r)
        if cdf >= s if side == "left" else cdf > s:
            return r
    raise AssertionError("s is not a level")


def exp_mean(kind, p, K):
    """E e^leakage."""
    pairs = [(m, r) for m, r in zip(marginal(p, K), curve(kind, p, K), strict=True) if m > 0]
    return INF if any(r == INF for _, r in pairs) else sum((m * r for m, r in pairs), F(0))


def mean(kind, p, K):
    """E leakage, an Arb ball; INF if infinite."""
    pairs = [(m, r) for m, r in zip(marginal(p, K), curve(kind, p, K), strict=True) if m > 0]
    if any(r == INF for _, r in pairs):
        return INF
    return sum((ball(m) * log(r) for m, r in pairs), flint.arb(0))


def ldp(p, K):
    """e^LDP: the largest ratio of two charged entries of one column."""
    worst = F(1)
    for y in range(len(K[0])):
        column = [K[x][y] for x in support(p)]
        for a in column:
            for b in column:
                if a > 0:
                    worst = max(worst, INF if b == 0 else a / b)
    return worst


def maximal_leakage(p, K):
    """e^maximal leakage."""
    return sum((max(K[x][y] for x in support(p)) for y in range(len(K[0]))), F(0))


def density(p, K, x, y):
    """e^information density."""
    return K[x][y] / marginal(p, K)[y]


def mutual_information(p, K):
    """I(X;Y), an Arb ball."""
    total = flint.arb(0)
    for y, mass in enumerate(marginal(p, K)):
        for x in support(p):
            joint = p[x] * K[x][y]
            if joint > 0:
                total += ball(joint) * log(joint / (p[x] * mass))
    return total


# -- composition ---------------------------------------------------------------------------------


def compose(first, second):
    """Rows of P_{Z|X} from rows of P_{Y|X} and P_{Z|Y}."""
    return [
        [
            sum((a * row[z] for a, row in zip(rows, second, strict=True)), F(0))
            for z in range(len(second[0]))
        ]
        for rows in first
    ]


def both(first, second):
    """Rows of two independent releases about one secret; the second outcome runs fastest."""
    return [[a * b for a in r for b in s] for r, s in zip(first, second, strict=True)]


def posterior(p, K, y):
    """P_{X|Y=y}."""
    mass = marginal(p, K)[y]
    return [px * row[y] / mass for px, row in zip(p, K, strict=True)]


# -- Arb -----------------------------------------------------------------------------------------


@contextmanager
def precision(bits=BITS):
    """Set Arb's precision for a block; say so if something inside lowered it."""
    before = flint.ctx.prec
    flint.ctx.prec = bits
    try:
        yield
        assert flint.ctx.prec == bits, "the oracle did not run at the precision it was given"
    finally:
        flint.ctx.prec = before


def ball(value):
    """Return a number as a ball, exactly for floats and ints, to the precision for Fractions."""
    if isinstance(value, F):
        return flint.arb(flint.fmpq(value.numerator, value.denominator))
    return flint.arb(value)


def log(ratio):
    """Return the logarithm of a positive Fraction as a ball; of 1 it is exactly 0."""
    return flint.arb(0) if ratio == 1 else ball(ratio).log()


def nearly_log(ratio):
    """Return a float near the logarithm, of ratios that float64 cannot hold too."""
    if ratio == INF:
        return INF
    with precision(4 * BITS):
        return float(log(ratio).mid())


def between(lower, truth, upper):
    """Say if lower <= truth <= upper for a function that gives a ball; certain either way."""
    for bits in (BITS, 10 * BITS):
        with precision(bits):
            value = truth()
            if isinstance(value, float):
                return lower <= value <= upper
            assert value.is_finite()
            low, high = ball(lower), ball(upper)
            if low <= value and value <= high:
                return True
            if value < low or high < value:
                return False
    raise AssertionError(f"not settled: {value} against [{lower!r}, {upper!r}]")


def encloses(bound, ratio):
    """Say if a Bound in nats encloses log(ratio); an infinite ratio must be a proved infinity."""
    if ratio == INF:
        return bound.lower == INF
    return between(bound.lower, lambda: log(ratio), bound.upper)


def ratio_encloses(bound, ratio):
    """Say if a Bound's ratio encloses an exact one."""
    return contains(bound.ratio.lower, ratio, bound.ratio.upper)


def contains(lower, number, upper):
    """Say if two ends, floats or Fractions, enclose a Fraction (or infinity)."""
    if number == INF:
        return upper == INF
    if lower == INF or upper == -INF:
        return False
    return (lower == -INF or F(lower) <= number) and (upper == INF or number <= F(upper))


def width_in_ulps(lower, upper, truth, at_least=0.0):
    """Return (upper - lower) in ulps of the truth, or of ``at_least`` if that is larger."""
    return (F(upper) - F(lower)) / F(math.ulp(max(float(truth), at_least)))


# -- random laws ---------------------------------------------------------------------------------


def law(rng, n, style):
    """Return a random law on n points, exactly normalised.

    Styles: plain, zeros, ties, onehot, uniform, fine (60-bit denominators), skewed (down to
    1e-300), subnormal (down to 1e-322).
    """
    if style == "onehot" or n == 1:
        point = int(rng.integers(n))
        return [F(int(i == point)) for i in range(n)]
    if style == "uniform":
        return [F(1, n)] * n
    if style in ("skewed", "subnormal"):
        # one heavy point, the others tiny: the law is exact as it stands
        depth = (0, 300) if style == "skewed" else (300, 322)
        heavy = int(rng.integers(n))
        tiny = [
            F(int(rng.integers(1, 10)), 10 ** int(rng.integers(depth[0] + 1, depth[1])) * 10 * n)
            if rng.random() < 0.8
            else F(0)
            for _ in range(n)
        ]
        tiny = [t if t == 0 or t > F(1, 10**322) else F(1, 10**322) for t in tiny]
        tiny[heavy] = 1 - sum((t for i, t in enumerate(tiny) if i != heavy), F(0))
        return tiny
    top = {"plain": 20, "zeros": 6, "ties": 3, "fine": 2**60}[style]
    weights = [int(w) for w in rng.integers(1, top, n)]
    if style == "zeros":
        weights = [0 if rng.random() < 0.5 else w for w in weights]
        weights[int(rng.integers(n))] += 1
    total = sum(weights)
    return [F(w, total) for w in weights]


STYLES = ("plain", "zeros", "ties", "onehot", "fine", "skewed", "identical", "zero column")


def mechanism(rng, n, m, style):
    """Return the rows of a random mechanism; `law`'s styles, identical rows, a column of zeros."""
    if style == "identical":
        row = law(rng, m, rng.choice(["plain", "zeros", "fine"]))
        return [list(row) for _ in range(n)]
    if style == "zero column":
        hole = int(rng.integers(m + 1))
        return [[*r[:hole], F(0), *r[hole:]] for r in mechanism(rng, n, m, "zeros")]
    return [law(rng, m, style) for _ in range(n)]


def floats(values):
    """Return the nearest floats, of a law or of rows."""
    if isinstance(values[0], list):
        return [floats(row) for row in values]
    return [float(v) for v in values]


# -- the same for hypothesis ---------------------------------------------------------------------

_WEIGHTS = {
    "plain": st.integers(1, 30),
    "fine": st.integers(1, 2**60),
    "zeros": st.sampled_from([0, 0, 1, 2, 3]),
    "ties": st.sampled_from([1, 2]),
}


@st.composite
def laws(draw, n, styles=("plain", "fine", "zeros", "ties", "onehot", "tiny")):
    """Laws on n points; two in three have zeros, ties, one point, or subnormal masses."""
    style = draw(st.sampled_from(styles))
    if n == 1:
        return [F(1)]
    if style in ("onehot", "tiny"):
        heavy = draw(st.integers(0, n - 1))
        tiny = [F(0)] * n
        if style == "tiny":
            exponents = st.integers(200, 320)
            tiny = [F(draw(st.integers(0, 9)), 10 ** draw(exponents)) for _ in range(n)]
        tiny[heavy] = 1 - sum((t for i, t in enumerate(tiny) if i != heavy), F(0))
        return tiny
    weights = draw(st.lists(_WEIGHTS[style], min_size=n, max_size=n))
    if sum(weights) == 0:
        weights[draw(st.integers(0, n - 1))] = 1
    return [F(w, sum(weights)) for w in weights]


@st.composite
def kernels(draw, n, m):
    """Rows of a mechanism: every row of its own style, or all rows equal."""
    if draw(st.integers(0, 9)) == 0:
        return [draw(laws(m))] * n
    return [draw(laws(m)) for _ in range(n)]


SIZES = st.integers(1, 4)


@st.composite
def joints(draw):
    """A prior and the rows of a mechanism."""
    n, m = draw(SIZES), draw(SIZES)
    return draw(laws(n)), draw(kernels(n, m))


def is_special(p, K):
    """Say if a joint has a zero, a tie, a one-hot row or a subnormal somewhere."""
    entries = [v for row in [p, *K] for v in row]
    return any(v == 0 or v == 1 or v < F(1, 2**1022) for v in entries) or any(
        len(set(row)) < len(row) for row in [p, *K]
    )


# -- inequalities between truths that are known to lie in Bounds ---------------------------------


def total(*ends):
    """Sum floats exactly, infinities included."""
    return INF if INF in ends else sum(map(F, ends), F(0))


def not_above(small, *large):
    """Assert small <= sum of large: refuted only if the enclosures exclude it; exact by ratios."""
    assert small.lower <= total(*(b.upper for b in large)), (small, large)
    bounds = (small, *large)
    if all(isinstance(b.ratio.lower, F) or b.ratio.lower == INF for b in bounds):
        product = F(1)
        for b in large:
            product = INF if INF in (product, b.ratio.upper) else product * b.ratio.upper
        assert small.ratio.lower <= product, (small, large)


def the_same(one, *others):
    """Assert that a truth equals the sum of others: their enclosures meet; exact by ratios."""
    lower, upper = total(*(b.lower for b in others)), total(*(b.upper for b in others))
    assert one.lower <= upper and lower <= one.upper, (one, others)
    if all(isinstance(b.ratio.lower, F) for b in (one, *others)):
        product = F(1)
        for b in others:
            product *= b.ratio.lower
        assert one.ratio.lower == product, (one, others)
