"""Leakages on infinite alphabets, truths of zero tolerance: floats around Arb balls.

Nothing here calls borel. A case is a mechanism under a prior; its figures are methods that return
a pair of floats (below, above) with below <= truth <= above, two floats apart at most: from Arb
balls at 400 bits, or more where 400 leave a wider pair, rounded outwards. An infinite truth is
(inf, inf), and an exact one a pair of equals. Parameters, outcomes and levels are ints, Fractions
or floats; a float means its binary64 value exactly. Logarithms are natural.

Every case has `density`, `log_density`, `pml` and `pmc` at an outcome; those with a law here have
`pml_tail(t)`, which is P{PML > t}, `pml_quantile(s)`, `pml_mean()` or `pml_exp_mean()`, which is
E e^PML, and the same for PMC. At 0 < s < 1 quantiles are inf{t : P{leakage <= t} >= s}; at s = 1
too, and at s = 0 they are the essential infimum, sup{t : P{leakage <= t} <= 0}.
"""

import math
from contextlib import contextmanager
from dataclasses import dataclass, fields
from fractions import Fraction as F
from functools import cached_property, wraps

from flint import acb, arb, ctx, fmpq

INF = math.inf
BITS = 400
MOST_BITS = 12800


# -- balls and floats ----------------------------------------------------------------------------


class Undecided(ArithmeticError):
    """More bits are needed."""


@contextmanager
def precision(bits=BITS):
    """Set Arb's precision for a block, and restore it."""
    before = ctx.prec
    ctx.prec = bits
    try:
        yield
    finally:
        ctx.prec = before


def ball(value):
    """Return a number as a ball: floats and ints exactly, Fractions to the precision."""
    if isinstance(value, int):
        return arb(value)
    if isinstance(value, F):
        return arb(fmpq(value.numerator, value.denominator))
    return arb(float(value))


def exact(value):
    """Return a number as a Fraction."""
    return F(value) if isinstance(value, int | F) else F(float(value))


def floor(mantissa, exponent):
    """Return the largest float <= mantissa 2^exponent."""
    drop = max(mantissa.bit_length() - 53, -1074 - exponent)
    if drop > 0:
        mantissa, exponent = mantissa >> drop, exponent + drop
    try:
        return math.ldexp(mantissa, exponent)
    except OverflowError:
        return math.nextafter(INF, 0.0) if mantissa > 0 else -INF


def outwards(value):
    """Return the floats next to a ball on both sides; those of an infinity are itself."""
    if isinstance(value, float):
        assert math.isinf(value)
        return value, value
    if not value.is_finite():
        raise Undecided(f"{value}")
    mantissa, exponent = (int(v) for v in value.lower().man_exp())
    below = floor(mantissa, exponent)
    mantissa, exponent = (int(v) for v in value.upper().man_exp())
    return below, -floor(-mantissa, exponent)


def enclosed(function):
    """Make a function of balls one of pairs of floats, with as many bits as narrow pairs take."""

    @wraps(function)
    def pair(*arguments):
        bits = BITS
        while bits <= MOST_BITS:
            try:
                with precision(bits):
                    below, above = outwards(function(*arguments))
                if above <= math.nextafter(math.nextafter(below, INF), INF):
                    return below, above
            except Undecided:
                pass
            bits *= 2
        raise ArithmeticError(f"{function.__name__}{arguments}: not settled by {MOST_BITS} bits")

    return pair


def less(a, b):
    """Say if a < b, for balls that are apart or exact."""
    if a < b:
        return True
    if a >= b:
        return False
    raise Undecided(f"{a} < {b}")


def root(rising, low, high):
    """Return a ball around the zero in [low, high] of an increasing function of balls.

    Ends are exact. Only a certain sign moves an end, and where the sign at the middle is in doubt,
    because the zero is there or next to it, another point is tried.
    """
    for _ in range(ctx.prec):
        for share in (8, 7, 5):
            point = (low + (high - low) * share / 16).mid()
            value = rising(point)
            if value < 0:
                low = point
                break
            if value > 0:
                high = point
                break
        else:
            break
    return low.union(high)


def level(s):
    """Return a level as a ball."""
    assert 0 <= s <= 1, "a level lies in [0, 1]"
    return ball(s)


# -- cases ---------------------------------------------------------------------------------------


class Case:
    """A mechanism under a prior.

    Subclasses are dataclasses of their parameters and give, as balls from a ball y, the density
    (or mass) of Y and the essential extrema over the prior of the conditional density at y.
    """

    def _balls(self):
        return [ball(getattr(self, field.name)) for field in fields(self)]

    def _density(self, y):
        """Return f_Y(y)."""
        raise NotImplementedError

    def _largest(self, y):
        """Return ess sup_x f(y|x)."""
        raise NotImplementedError

    def _smallest(self, y):
        """Return ess inf_x f(y|x); an exact 0 means that PMC is infinite."""
        return arb(0)

    def _pml(self, y):
        return (self._largest(y) / self._density(y)).log()

    def _pmc(self, y):
        smallest = self._smallest(y)
        return INF if smallest.is_zero() else (self._density(y) / smallest).log()

    @enclosed
    def density(self, y):
        """Return f_Y(y), or P_Y(y)."""
        return self._density(ball(y))

    @enclosed
    def log_density(self, y):
        """Return log f_Y(y), or log P_Y(y)."""
        return self._density(ball(y)).log()

    @enclosed
    def pml(self, y):
        """Return log ess sup_x f(y|x) / f_Y(y)."""
        return self._pml(ball(y))

    @enclosed
    def pmc(self, y):
        """Return log f_Y(y) / ess inf_x f(y|x)."""
        return self._pmc(ball(y))


# -- copulas and countable alphabets -------------------------------------------------------------


@dataclass(frozen=True)
class Clayton(Case):
    """The density eta + (1 - eta) c_theta(x, y) on (0, 1)^2; with theta = 1, Example 9.

    c_theta(x, y) = (1 + theta) (x y)^(-1-theta) (x^-theta + y^-theta - 1)^(-2-1/theta). With
    u = x^-theta >= 1 and k = y^-theta - 1, it is u^(1+1/theta) (u + k)^(-2-1/theta) up to a factor
    of y; this rises up to u = (1 + 1/theta) k and falls from there on. So the maximum lies there,
    or at x = 1 if that u is less than 1. As x -> 0, c_theta vanishes.
    """

    theta: float
    eta: float

    def _density(self, y):
        assert 0 < y < 1, "outcomes lie in (0, 1)"
        return arb(1)

    def _largest(self, y):
        theta, eta = self._balls()
        down = -y.log()
        k = (theta * down).expm1()
        u = ((1 + 1 / theta) * k).max(arb(1))
        peak = (1 + theta) * ((1 + theta) * down - (2 + 1 / theta) * (k / u).log1p()).exp() / u
        return eta + (1 - eta) * peak

    def _smallest(self, y):
        return ball(self.eta)


@dataclass(frozen=True)
class Countable(Case):
    """Example 8: prior 1/2, 1/3, 1/9, ... on the naturals, and Y with the same law.

    PML is log 3/2 at 0 and log (3^m + 1)/2 at m >= 1, increasing in m; PMC is log 2 throughout.
    """

    @staticmethod
    def _mass(m):
        return F(1, 3**m) if m else F(1, 2)

    @staticmethod
    def _ratio(m):
        return F(3**m + 1, 2) if m else F(3, 2)

    @enclosed
    def density(self, m):
        """Return P_Y(m)."""
        return ball(self._mass(m))

    @enclosed
    def log_density(self, m):
        """Return log P_Y(m)."""
        return ball(self._mass(m)).log()

    @enclosed
    def pml(self, m):
        """Return PML at m."""
        return ball(self._ratio(m)).log()

    @enclosed
    def pmc(self, m):
        """Return PMC at m."""
        return arb(2).log()

    @enclosed
    def pml_tail(self, t):
        """Return P{PML > t}; beyond m it is 3^-m / 2."""
        t, m = ball(t), 0
        if less(t, ball(F(3, 2)).log()):
            return arb(1)
        while not less(t, ball(self._ratio(m + 1)).log()):
            m += 1
        return ball(F(1, 2 * 3**m))

    @enclosed
    def pml_quantile(self, s):
        """Return the s-quantile of PML."""
        if s == 1:
            return INF
        s, m = exact(s), 0
        while 1 - F(1, 2 * 3**m) < s:
            m += 1
        return ball(self._ratio(m)).log()

    @enclosed
    def pml_mean(self):
        """Return E PML: the terms from m on are below 3^-m m log 3."""
        last = ctx.prec
        terms = (ball(self._mass(m)) * ball(self._ratio(m)).log() for m in range(last + 1))
        rest = ball(F(2 * last + 3, 4 * 3**last)) * arb(3).log()
        return sum(terms, arb(0)) + arb(0).union(rest)

    def pml_exp_mean(self):
        """Return E e^PML: every m >= 1 adds more than 1/2."""
        return INF, INF


# -- noise on an interval ------------------------------------------------------------------------


class Interval(Case):
    """Symmetric unimodal noise on a secret uniform on [c, d].

    Everything depends on s = |y - (c + d) / 2| alone; h is half the width w.
    """

    def _place(self, y):
        """Return w, h, s."""
        c, d = ball(self.c), ball(self.d)
        return d - c, (d - c) / 2, abs(y - (c + d) / 2)

    def _noise(self, r):
        """Return the density of the noise at a distance r >= 0."""
        raise NotImplementedError

    def _largest(self, y):
        _, h, s = self._place(y)
        return self._noise((s - h).max(arb(0)))

    def _smallest(self, y):
        _, h, s = self._place(y)
        return self._noise(s + h)

    @enclosed
    def pml_exp_mean(self):
        """Return E e^PML, the integral of the largest conditional density, 1 + w noise(0)."""
        return 1 + (ball(self.d) - ball(self.c)) * self._noise(arb(0))


class Rising(Interval):
    """An interval with noise under which PML and PMC increase with s, to ``_top`` at ``_end``.

    From ``_end`` on, if there is one, they are constant.
    """

    def _end(self):
        """Return the s from which on the leakages are constant, or None."""
        return None

    def _top(self, kind):
        """Return the supremum of a leakage."""
        end = self._end()
        return INF if end is None else self._at(kind, end)

    def _at(self, kind, s):
        """Return a leakage at s."""
        y = (ball(self.c) + ball(self.d)) / 2 + s
        return self._pml(y) if kind == "pml" else self._pmc(y)

    def _beyond(self, s):
        """Return P{|Y - (c + d) / 2| > s} for s up to ``_end``."""
        raise NotImplementedError

    def _find(self, rising):
        """Return the s where an increasing function is zero."""
        end = self._end()
        if end is None:
            end = arb(1)
            while less(rising(end), arb(0)):
                end = 2 * end
        return root(rising, arb(0), end)

    def _tail(self, kind, t):
        t, top = ball(t), self._top(kind)
        if less(t, self._at(kind, arb(0))):
            return arb(1)
        if self._end() is not None and not less(t, top):
            return arb(0)
        return self._beyond(self._find(lambda s: self._at(kind, s) - t))

    def _quantile(self, kind, s):
        p = 1 - level(s)
        if p.is_zero():
            return self._top(kind)
        end = self._end()
        if end is not None and not less(self._beyond(end), p):
            return self._top(kind)
        return self._at(kind, self._find(lambda s: p - self._beyond(s)) if s else arb(0))

    @enclosed
    def pml_sup(self):
        """Return the supremum of PML over outcomes."""
        return self._top("pml")

    @enclosed
    def pmc_sup(self):
        """Return the supremum of PMC over outcomes."""
        return self._top("pmc")

    @enclosed
    def pml_tail(self, t):
        """Return P{PML > t}."""
        return self._tail("pml", t)

    @enclosed
    def pmc_tail(self, t):
        """Return P{PMC > t}."""
        return self._tail("pmc", t)

    @enclosed
    def pml_quantile(self, s):
        """Return the s-quantile of PML."""
        return self._quantile("pml", s)

    @enclosed
    def pmc_quantile(self, s):
        """Return the s-quantile of PMC."""
        return self._quantile("pmc", s)


@dataclass(frozen=True)
class LaplaceUniform(Rising):
    """Laplace noise of scale b on a secret uniform on [c, d].

    f_Y = D(s) / w for s <= h, with D(s) = 1 - e^(-h/b) cosh(s/b), and it falls off as e^(-s/b)
    from there. Outside of [c, d] the leakages are constant: an atom at their suprema.
    """

    b: float
    c: float
    d: float

    def _density(self, y):
        b = ball(self.b)
        w, h, s = self._place(y)
        inside, gap = s.min(h), (s - h).max(arb(0))
        return (
            -((-(h - inside) / b).expm1() + (-(h + inside) / b).expm1())
            * (-gap / b).exp()
            / (2 * w)
        )

    def _noise(self, r):
        b = ball(self.b)
        return (-r / b).exp() / (2 * b)

    def _end(self):
        return (ball(self.d) - ball(self.c)) / 2

    def _beyond(self, s):
        b, c, d = self._balls()
        w = d - c
        return 1 - 2 / w * (s - b * (-w / (2 * b)).exp() * (s / b).sinh())

    def _expectation(self, kind, weigh):
        """Return E g(leakage), where ``weigh(f, z, analytic)`` is f g(leakage) for density f."""
        b, c, d = self._balls()
        w, h = d - c, (d - c) / 2

        def integrand(z, analytic):
            return weigh((1 - acb((-h / b).exp()) * (z / b).cosh()) / w, z, analytic)

        return 2 * acb.integral(integrand, 0, h).real

    def _mean(self, kind):
        b, h = ball(self.b), self._end()

        def weigh(f, z, analytic):
            pml = -(2 * b * f).log(analytic=analytic)
            return f * (pml if kind == "pml" else (h + z) / b - pml)

        return self._expectation(kind, weigh) + self._beyond(h) * self._top(kind)

    @enclosed
    def pml_mean(self):
        """Return E PML."""
        return self._mean("pml")

    @enclosed
    def pmc_mean(self):
        """Return E PMC."""
        return self._mean("pmc")

    @enclosed
    def pmc_exp_mean(self):
        """Return E e^PMC."""
        b, h = ball(self.b), self._end()
        inside = self._expectation("pmc", lambda f, z, _: f**2 * 2 * b * ((h + z) / b).exp())
        return inside + self._beyond(h) * self._top("pmc").exp()


def normal(r, sigma):
    """Return the density of N(0, sigma^2) at r."""
    return (-((r / sigma) ** 2) / 2).exp() / (sigma * (2 * arb.pi()).sqrt())


def normal_tail(z):
    """Return P{N(0, 1) > z}.

    From the two ends: for a large ball the error that Arb adds to erfc of its middle is too wide.
    """
    z = z / arb(2).sqrt()
    return z.lower().erfc().union(z.upper().erfc()) / 2


@dataclass(frozen=True)
class GaussianUniform(Rising):
    """Gaussian noise of deviation sigma on a secret uniform on [c, d]; both leakages unbounded."""

    sigma: float
    c: float
    d: float

    def _density(self, y):
        sigma = ball(self.sigma)
        w, h, s = self._place(y)
        return (normal_tail((s - h) / sigma) - normal_tail((s + h) / sigma)) / w

    def _noise(self, r):
        return normal(r, ball(self.sigma))

    def _beyond(self, s):
        sigma, c, d = self._balls()
        h = (d - c) / 2

        def excess(z):
            """Return E max(Z - z, 0) for a standard normal Z."""
            return normal(z, arb(1)) - z * normal_tail(z)

        return sigma / h * (excess((s - h) / sigma) - excess((s + h) / sigma))


@dataclass(frozen=True)
class StudentUniform(Interval):
    """Student-t noise of nu degrees of freedom, times scale, on a secret uniform on [c, d]."""

    nu: float
    scale: float = 1.0
    c: float = 0.0
    d: float = 1.0

    def _beyond(self, t):
        """Return the probability that the t-distribution exceeds t >= 0."""
        nu = ball(self.nu)
        if t.is_zero():
            return arb(1) / 2
        return (nu / (nu + t**2)).beta_lower(nu / 2, arb(1) / 2, regularized=1) / 2

    def _density(self, y):
        scale = ball(self.scale)
        w, h, s = self._place(y)
        near, far = abs(s - h) / scale, (s + h) / scale
        if less(s, h):
            return (1 - self._beyond(near) - self._beyond(far)) / w
        return (self._beyond(near) - self._beyond(far)) / w

    def _noise(self, r):
        nu, scale = ball(self.nu), ball(self.scale)
        half = (nu + 1) / 2
        size = (half.lgamma() - (nu / 2).lgamma() - half * (1 + (r / scale) ** 2 / nu).log()).exp()
        return size / ((nu * arb.pi()).sqrt() * scale)


@dataclass(frozen=True)
class CauchyUniform(Interval):
    """Cauchy noise on a secret uniform on [c, d]."""

    scale: float = 1.0
    c: float = 0.0
    d: float = 1.0

    def _density(self, y):
        scale = ball(self.scale)
        w, h, s = self._place(y)
        return (((s + h) / scale).atan() - ((s - h) / scale).atan()) / (arb.pi() * w)

    def _noise(self, r):
        scale = ball(self.scale)
        return scale / (arb.pi() * (scale**2 + r**2))


# -- other noise ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class GaussianNormal(Case):
    """Gaussian noise of deviation sigma on a secret N(m, s^2).

    PML is a + Z^2 / 2 with a = 1/2 log(1 + s^2 / sigma^2) and Z the standardised outcome.
    """

    sigma: float
    m: float
    s: float

    def _density(self, y):
        sigma, m, s = self._balls()
        return normal(y - m, (sigma**2 + s**2).sqrt())

    def _largest(self, y):
        return normal(arb(0), ball(self.sigma))

    def _least(self):
        sigma, _, s = self._balls()
        return ((s / sigma) ** 2).log1p() / 2

    @enclosed
    def pml_tail(self, t):
        """Return P{PML > t} = erfc(sqrt(t - a))."""
        excess = ball(t) - self._least()
        return arb(1) if less(excess, arb(0)) else excess.sqrt().erfc()

    @enclosed
    def pml_quantile(self, s):
        """Return the s-quantile of PML, a + erfinv(s)^2."""
        return INF if s == 1 else self._least() + level(s).erfinv() ** 2

    @enclosed
    def pml_mean(self):
        """Return E PML."""
        return self._least() + arb(1) / 2

    def pml_exp_mean(self):
        """Return E e^PML."""
        return INF, INF


@dataclass(frozen=True)
class ExponentialUniform(Case):
    """Y = X + E / rate with E standard exponential and X uniform on (0, 1); outcomes y > 0.

    PML decreases on (0, 1) and is constant from 1 on, an atom at its infimum; there PMC is finite.
    """

    rate: float

    def _density(self, y):
        assert y > 0, "outcomes are positive"
        rate, last = ball(self.rate), y.min(arb(1))
        return -(-rate * last).expm1() * (-rate * (y - last)).exp()

    def _largest(self, y):
        rate = ball(self.rate)
        return rate * (-rate * (y - 1).max(arb(0))).exp()

    def _smallest(self, y):
        rate = ball(self.rate)
        return arb(0) if less(y, arb(1)) else rate * (-rate * y).exp()

    def _before(self, y):
        """Return P{Y < y} for y <= 1."""
        rate = ball(self.rate)
        return y + (-rate * y).expm1() / rate

    @enclosed
    def pml_tail(self, t):
        """Return P{PML > t}; PML > t where 1 - e^(-rate y) < rate e^-t."""
        rate, t = ball(self.rate), ball(t)
        if less(t, self._pml(arb(1))):
            return arb(1)
        return self._before(-(-rate * (-t).exp()).log1p() / rate)

    @enclosed
    def pml_quantile(self, s):
        """Return the s-quantile of PML."""
        p = 1 - level(s)
        if p.is_zero():
            return INF
        if not less(p, self._before(arb(1))):
            return self._pml(arb(1))
        return self._pml(root(lambda y: self._before(y) - p, arb(0), arb(1)))

    @enclosed
    def pml_exp_mean(self):
        """Return E e^PML, the integral over y of the largest conditional density."""
        return 1 + ball(self.rate)

    @enclosed
    def pmc_tail(self, t):
        """Return P{PMC > t}; PMC is constant from 1 on, and infinite before."""
        return arb(1) if less(ball(t), self._pmc(arb(1))) else self._before(arb(1))


# -- binomial mechanisms -------------------------------------------------------------------------


class Binomial(Case):
    """Y from Binomial(n, X): masses and e^leakage are Fractions, or an infinity."""

    def _chance(self, x, y):
        """Return x^y (1 - x)^(n - y)."""
        return x**y * (1 - x) ** (self.n - y)

    def _masses(self):
        """Return P_Y(y) divided by the binomial coefficient, for every y."""
        raise NotImplementedError

    def _extremes(self, y):
        """Return the largest and the smallest chance of y over secrets."""
        raise NotImplementedError

    @cached_property
    def _law(self):
        """Return P_Y(y) and e^leakage by kind, for every y."""
        rows = []
        for y, mass in enumerate(self._masses()):
            largest, smallest = self._extremes(y)
            pmc = mass / smallest if smallest else INF
            rows.append((math.comb(self.n, y) * mass, {"pml": largest / mass, "pmc": pmc}))
        assert sum(mass for mass, _ in rows) == 1
        return rows

    def _log(self, ratio):
        return INF if ratio == INF else ball(ratio).log()

    def _mean(self, kind, function):
        if any(ratios[kind] == INF for _, ratios in self._law):
            return INF
        terms = (ball(mass) * function(ball(ratios[kind])) for mass, ratios in self._law)
        return sum(terms, arb(0))

    def _tail(self, kind, t):
        t = ball(t)
        above = (m for m, r in self._law if r[kind] == INF or less(t, self._log(r[kind])))
        return ball(sum(above, F(0)))

    def _quantile(self, kind, s):
        s, reached = exact(s), F(0)
        for ratio, mass in sorted((ratios[kind], mass) for mass, ratios in self._law):
            reached += mass
            if reached >= s:
                return self._log(ratio)
        raise AssertionError("a level lies in [0, 1]")

    @enclosed
    def density(self, y):
        """Return P_Y(y)."""
        return ball(self._law[y][0])

    @enclosed
    def log_density(self, y):
        """Return log P_Y(y)."""
        return ball(self._law[y][0]).log()

    @enclosed
    def pml(self, y):
        """Return PML at y."""
        return self._log(self._law[y][1]["pml"])

    @enclosed
    def pmc(self, y):
        """Return PMC at y."""
        return self._log(self._law[y][1]["pmc"])

    @enclosed
    def pml_sup(self):
        """Return the largest PML."""
        return self._log(max(ratios["pml"] for _, ratios in self._law))

    @enclosed
    def pmc_sup(self):
        """Return the largest PMC."""
        return self._log(max(ratios["pmc"] for _, ratios in self._law))

    @enclosed
    def pml_tail(self, t):
        """Return P{PML > t}."""
        return self._tail("pml", t)

    @enclosed
    def pmc_tail(self, t):
        """Return P{PMC > t}."""
        return self._tail("pmc", t)

    @enclosed
    def pml_quantile(self, s):
        """Return the s-quantile of PML."""
        return self._quantile("pml", s)

    @enclosed
    def pmc_quantile(self, s):
        """Return the s-quantile of PMC."""
        return self._quantile("pmc", s)

    @enclosed
    def pml_mean(self):
        """Return E PML."""
        return self._mean("pml", arb.log)

    @enclosed
    def pmc_mean(self):
        """Return E PMC."""
        return self._mean("pmc", arb.log)

    @enclosed
    def pml_exp_mean(self):
        """Return E e^PML."""
        return self._mean("pml", lambda ratio: ratio)

    @enclosed
    def pmc_exp_mean(self):
        """Return E e^PMC."""
        return self._mean("pmc", lambda ratio: ratio)


@dataclass(frozen=True)
class BetaBinomial(Binomial):
    """Binomial(n, X) with X from Beta(alpha, beta) on (0, 1).

    P_Y(y) is the binomial coefficient times (alpha)_y (beta)_(n-y) / (alpha + beta)_n.
    """

    n: int
    alpha: float
    beta: float

    def _masses(self):
        def rising(a):
            """Return (a)_0 to (a)_n."""
            products = [F(1)]
            for i in range(self.n):
                products.append(products[-1] * (a + i))
            return products

        alpha, beta = exact(self.alpha), exact(self.beta)
        ones, zeros, both = rising(alpha), rising(beta), rising(alpha + beta)[-1]
        return [ones[y] * zeros[self.n - y] / both for y in range(self.n + 1)]

    def _extremes(self, y):
        if not self.n:
            return F(1), F(1)
        return self._chance(F(y, self.n), y), F(0)


@dataclass(frozen=True)
class UniformBinomial(Binomial):
    """Binomial(n, X) with X uniform on [lower, upper] in [0, 1].

    The integral of x^y (1 - x)^(n-y) from 0 is (1 / C(n, y)) P{Binomial(n + 1, x) > y} / (n + 1).
    """

    n: int
    lower: float = 0.1
    upper: float = 0.9

    def _masses(self):
        n, lower, upper = self.n, exact(self.lower), exact(self.upper)
        beyond, masses = [F(0), F(0)], []
        for y in range(n, -1, -1):
            for i, x in enumerate((lower, upper)):
                beyond[i] += math.comb(n + 1, y + 1) * x ** (y + 1) * (1 - x) ** (n - y)
            masses.append((beyond[1] - beyond[0]) / ((n + 1) * math.comb(n, y) * (upper - lower)))
        return masses[::-1]

    def _extremes(self, y):
        lower, upper = exact(self.lower), exact(self.upper)
        peak = min(max(F(y, self.n), lower), upper) if self.n else lower
        ends = (self._chance(lower, y), self._chance(upper, y))
        return self._chance(peak, y), min(ends)


# -- Gaussian noise: a mean of entries, and other priors -----------------------------------------


def half_line_moments(a, sigma, n):
    """Return the integrals over x > 0 of x^i times the density of N(a, sigma^2), i = 0, ..., n."""
    moments = [normal_tail(-a / sigma)]
    for i in range(1, n + 1):
        boundary = sigma**2 * normal(a, sigma) if i == 1 else 0
        before = (i - 1) * sigma**2 * moments[i - 2] if i > 1 else 0
        moments.append(a * moments[i - 1] + before + boundary)
    return moments


@dataclass(frozen=True)
class GaussianMean(Case):
    """Y = mean of the entries of X + N(0, sigma^2), X uniform on [-1, 1]^d.

    The mean is 2 S / d - 1 where S, the sum of d uniforms on (0, 1), has the Irwin-Hall density
    sum_k (-1)^k C(d, k) max(s - k, 0)^(d-1) / (d - 1)!; each power has a closed form under the
    Gaussian.
    """

    d: int
    sigma: float

    def _density(self, y):
        d, tau = self.d, ball(self.sigma) * self.d / 2
        centre = d * (1 - abs(y)) / 2  # the density is even in y
        terms = (
            (-1) ** k * math.comb(d, k) * half_line_moments(centre - k, tau, d - 1)[d - 1]
            for k in range(d + 1)
        )
        return sum(terms, arb(0)) * d / (2 * math.factorial(d - 1))

    def _largest(self, y):
        return normal((abs(y) - 1).max(arb(0)), ball(self.sigma))

    def _smallest(self, y):
        return normal(abs(y) + 1, ball(self.sigma))


@dataclass(frozen=True)
class GaussianBeta(Case):
    """Gaussian noise of deviation sigma on a secret from Beta(alpha, beta), both integers."""

    sigma: float
    alpha: int = 2
    beta: int = 5

    def _density(self, y):
        sigma, a, b = ball(self.sigma), self.alpha, self.beta
        half, s = arb(1) / 2, abs(y - arb(1) / 2)
        at_0, at_1 = normal(y, sigma), normal(1 - y, sigma)
        moments = [normal_tail((s - half) / sigma) - normal_tail((s + half) / sigma)]
        for i in range(1, a + b - 1):
            boundary = at_0 - at_1 if i == 1 else -at_1
            before = (i - 1) * moments[i - 2] if i > 1 else 0
            moments.append(y * moments[i - 1] + sigma**2 * (before + boundary))
        terms = ((-1) ** k * math.comb(b - 1, k) * moments[a - 1 + k] for k in range(b))
        return sum(terms, arb(0)) * a * math.comb(a + b - 1, a)

    def _largest(self, y):
        return normal((-y).max(y - 1).max(arb(0)), ball(self.sigma))

    def _smallest(self, y):
        return normal(abs(y).max(abs(1 - y)), ball(self.sigma))


@dataclass(frozen=True)
class GaussianGamma(Case):
    """Gaussian noise of deviation sigma on a secret from Gamma(shape, rate), an integer shape.

    Shape 1 is the exponential prior.
    """

    sigma: float
    shape: int = 2
    rate: float = 1.0

    def _density(self, y):
        sigma, _, rate = self._balls()
        last = self.shape - 1
        moment = half_line_moments(y - rate * sigma**2, sigma, last)[last]
        tilt = ((rate * sigma) ** 2 / 2 - rate * y).exp()
        return rate**self.shape * tilt * moment / math.factorial(last)

    def _largest(self, y):
        return normal((-y).max(arb(0)), ball(self.sigma))


class GaussianExponential(GaussianGamma):
    """Gaussian noise of deviation sigma on an exponential secret."""

    def __init__(self, sigma, rate=1.0):
        super().__init__(sigma, 1, rate)


@dataclass(frozen=True)
class GaussianLaplace(Case):
    """Gaussian noise of deviation sigma on a secret from Laplace(location, scale)."""

    sigma: float
    location: float = 0.0
    scale: float = 1.0

    def _density(self, y):
        sigma, location, scale = self._balls()
        rate = 1 / scale
        terms = (
            (-rate * z).exp() * normal_tail(rate * sigma - z / sigma)
            for z in (y - location, location - y)
        )
        return rate / 2 * ((rate * sigma) ** 2 / 2).exp() * sum(terms, arb(0))

    def _largest(self, y):
        return normal(arb(0), ball(self.sigma))


@dataclass(frozen=True)
class GaussianCauchy(Case):
    """Gaussian noise of deviation sigma on a secret from Cauchy(location, scale).

    The density is that of Voigt, Re e^(v^2) erfc(v) / (sigma sqrt(2 pi)) at
    v = (scale - i (y - location)) / (sigma sqrt 2), where e^(v^2) erfc(v) is
    U(1/2, 1/2, v^2) / sqrt(pi), as Re v > 0.
    """

    sigma: float
    location: float = 0.0
    scale: float = 1.0

    def _density(self, y):
        sigma, location, scale = self._balls()
        v = acb(scale, location - y) / (sigma * arb(2).sqrt())
        half = arb(1) / 2
        return (v**2).hypgeom_u(half, half).real / arb.pi().sqrt() * normal(arb(0), sigma)

    def _largest(self, y):
        return normal(arb(0), ball(self.sigma))
