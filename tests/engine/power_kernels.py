"""Random kernels that are sums of powers, written in many ways, and their figures by mpmath."""

import random
from fractions import Fraction as F
from types import SimpleNamespace

import mpmath as mp
import numpy as np

import borel as bl

POWERS = [0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 0.3]


def pick(rng, *items):
    return rng.choice(items)


# -- weights of x that sum to 1, and laws of y ----------------------------------------------------


def weights(rng):
    a = rng.choice(POWERS)
    return pick(
        rng,
        [lambda x: x**a, lambda x: 1 - x**a],
        [lambda x: (1 - x) ** a, lambda x: 1 - (1 - x) ** a],
        [lambda x: x * x, lambda x: 2 * x * (1 - x), lambda x: (1 - x) ** 2],
        [lambda x: x**a * (1 - x), lambda x: 1 - x**a + x ** (a + 1)],
        [lambda x: x / (1 + x), lambda x: 1 / (1 + x)],
        [lambda x: x**a / (x**a + (1 - x)), lambda x: (1 - x) / (x**a + 1 - x)],
        [lambda x: 1 / (1 + 1 / x), lambda x: 1 - x / (1 + x)],
        [lambda x: (1 / x) ** -a, lambda x: (1 / x) ** a * (x**a - x ** (2 * a))],
    )


def laws(rng, h, n):
    """Densities on (0, h), with their coefficients exact for whole powers of 2."""
    out = []
    for _ in range(n):
        p = pick(rng, 0.25, 0.5, 0.5, 0.75, 1.0, 2.0, 3.0, 1.5, 0.3)
        scale = p * h**-p
        out.append(
            pick(
                rng,
                lambda y, p=p, scale=scale: scale * y ** (p - 1),
                lambda y, p=p, scale=scale: scale * y**p / y,
                lambda y, p=p, scale=scale: scale / y ** (1 - p),
                lambda y, p=p, h=h: p / h * (1 - y / h) ** (p - 1),
                lambda y, h=h: 6 * y / h**2 * (1 - y / h),
                lambda y, h=h: (1 + y / h) / (1.5 * h),
            )
        )
    return out


def written(rng, w, g):
    """A product, in one of many ways."""
    a, b = rng.choice(POWERS), rng.choice(POWERS)
    return pick(
        rng,
        lambda y, x: w(x) * g(y),
        lambda y, x: w(x) * g(y),
        lambda y, x: w(x) / (1 / g(y)),
        lambda y, x: x**-a * (x**a * w(x)) * g(y),
        lambda y, x: (y**-b * w(x)) * (g(y) * y**b),
        lambda y, x: (w(x) / x) * g(y) * x,
    )


def mixture(rng, h):
    parts = weights(rng)
    terms = [written(rng, w, g) for w, g in zip(parts, laws(rng, h, len(parts)), strict=True)]
    return lambda y, x: sum(t(y, x) for t in terms[1:]) + terms[0](y, x)


def signed(rng, h):
    c, a = rng.choice([-1, 1]) * rng.choice([0.125, 0.25, 0.5]), rng.choice([1.0, 2.0, 0.5, 0.25])
    kind = rng.randrange(3)
    if kind == 0:
        return lambda y, x: (1 + 2 * c * (1 - 2 * x**a) * (1 - 2 * y / h)) / h
    if kind == 1:  # y^-1/2 - 2 is -1 at least
        return lambda y, x: (1 + abs(c) * x**a * ((y / h) ** -0.5 - 2)) / h
    return lambda y, x: (1 + abs(c) * x**a / (x + 1) * ((1 - y / h) ** -0.5 - 2)) / h


def clayton(rng, h):
    theta, eta = pick(rng, 0.25, 0.5, 1.0, 2.0, 3.0, 0.3, 0.7), pick(rng, 0.0, 0.25, 0.5, 0.1)
    form = rng.randrange(3)

    def density(y, x):
        v = y / h
        inner = x**-theta + v**-theta - 1
        if form == 0:
            own = (1 + theta) * (x * v) ** (-theta - 1) * inner ** (-1 / theta - 2)
        elif form == 1:
            own = (1 + theta) / (x * v) ** (1 + theta) / inner ** (2 + 1 / theta)
        else:
            own = (1 + theta) * x ** (-theta - 1) * v ** (-(1 + theta)) * inner ** -(2 + 1 / theta)
        return (eta + (1 - eta) * own) / h

    return density


# -- priors ---------------------------------------------------------------------------------------


def prior_of(rng, zero_ok):
    unit = bl.Interval(0, 1)
    kinds = ["uniform", "beta", "written", "finite"] + (
        ["zero", "finite0", "mixed"] if zero_ok else []
    )
    kind = rng.choice(kinds)
    if kind == "uniform":
        return kind, bl.uniform(unit), unit, [], lambda x: mp.mpf(1)
    if kind == "beta":
        a, b = pick(rng, (2.0, 5.0), (0.5, 0.5), (3.0, 1.0), (1.0, 4.0), (0.25, 2.0))
        c = 1 / mp.beta(a, b)
        return (
            kind,
            bl.beta(alpha=a, beta=b),
            unit,
            [],
            lambda x: c * x ** (a - 1) * (1 - x) ** (b - 1),
        )
    if kind == "written":
        return kind, bl.Measure(lambda x: 2 * x, on=unit), unit, [], lambda x: 2 * x
    if kind in ("finite", "finite0"):
        points = sorted(rng.sample([0.125, 0.25, 0.5, 0.75, 0.875, 0.1, 1e-6], rng.randint(2, 4)))
        if kind == "finite0":
            points = [pick(rng, 0.0, 0.0, 1.0), *points]
        raw = [rng.randint(1, 9) for _ in points]
        masses = [F(r, sum(raw)) for r in raw]
        on = bl.Finite(points)
        prior = bl.pmf(masses, on=on)
        return (
            kind,
            prior,
            pick(rng, on, unit),
            [
                (mp.mpf(x), mp.mpf(m.numerator) / m.denominator)
                for x, m in zip(points, masses, strict=True)
            ],
            None,
        )
    atom = 0.0
    mixed = bl.Mixed(unit, atoms=[atom])
    weight = pick(rng, 0.25, 0.5)
    prior = bl.Measure(lambda x: (1 - weight) * (1 + 0 * x), on=mixed, masses={atom: weight})
    return kind, prior, mixed, [(mp.mpf(atom), mp.mpf(weight))], lambda x: mp.mpf(1 - weight)


# -- truths ---------------------------------------------------------------------------------------


class Truth:
    def __init__(self, f, atoms, density):
        self.f, self.atoms, self.density = f, atoms, density

    def extremes(self, y):
        """Sup and inf of f over secrets: the best values found."""

        def f(x):
            return self.f(y, x)

        values = [self.at_atom(y, x) for x, _ in self.atoms]
        if self.density is None:
            return max(values), min(values)
        xs = [mp.mpf(10) ** -k for k in (4000, 200, 60, 30, 15, 9, 6, 4, 3, 2)]
        xs += [mp.mpf(k) / 40 for k in range(1, 40)]
        for scale in (y, mp.sqrt(y), y / 2, 2 * y):
            if scale < 1:
                xs.append(scale)
        xs += [1 - mp.mpf(10) ** -k for k in (2, 3, 4, 6, 9, 15, 30, 38)]
        xs.sort()
        fx = [f(x) for x in xs]
        try:  # a limit, as f is continuous there
            values.append(f(mp.mpf(1)))
        except ZeroDivisionError:
            pass
        out = []
        for sign in (1, -1):
            k = max(range(len(xs)), key=lambda i: sign * fx[i])
            best = sign * fx[k]
            if 0 < k < len(xs) - 1:
                best = max(best, self._golden(f, sign, xs[k - 1], xs[k + 1]))
            out.append(sign * best)
        return max([out[0], *values]), min([out[1], *values])

    @staticmethod
    def _golden(f, sign, a, b):
        def g(x):
            return sign * f(x)

        ratio = (mp.sqrt(5) - 1) / 2
        c, d = b - ratio * (b - a), a + ratio * (b - a)
        gc, gd = g(c), g(d)
        for _ in range(70):
            if gc > gd:
                b, d, gd = d, c, gc
                c = b - ratio * (b - a)
                gc = g(c)
            else:
                a, c, gc = c, d, gd
                d = a + ratio * (b - a)
                gd = g(d)
        return max(gc, gd)

    def at_atom(self, y, x):
        """The kernel at a secret with mass: as IEEE has it at 0, where 1 / 0 is inf."""
        try:
            return self.f(y, x)
        except ZeroDivisionError:
            with np.errstate(all="ignore"):
                if not np.isfinite(self.f(np.float64(y), np.float64(x))):
                    return mp.nan
            return self.f(y, mp.mpf(10) ** -4000)

    def marginal(self, y):
        total = sum(m * self.at_atom(y, x) for x, m in self.atoms if m)
        if self.density is None:
            return total
        steps = [y * mp.mpf(8) ** k for k in range(-2, 6)] + [
            mp.mpf(10) ** -k for k in (1, 3, 6, 12)
        ]
        marks = sorted({mp.mpf(0), mp.mpf(1), mp.mpf("0.5"), *(v for v in steps if 0 < v < 0.9)})
        size = self.f(y, mp.mpf("0.5"))  # the error of quad is an absolute one
        return total + size * mp.quad(lambda x: self.f(y, x) / size * self.density(x), marks)

    def at(self, kind, y):
        y = mp.mpf(y)
        top, low = self.extremes(y)
        if kind == "ldp":
            return mp.log(top / low)
        f = self.marginal(y)
        if kind == "pml":
            return mp.log(top / f)
        return mp.log(f / low) if low > 0 else mp.inf


def lomax0(rng, h):
    a, s = pick(rng, 0.5, 1.0, 2.0), pick(rng, 0.0, 0.5, 1.0)
    return pick(
        rng,
        lambda y, x: a * (x + s) ** a / (x + s + y) ** (a + 1),
        lambda y, x: a / (x + s) * (1 + y / (x + s)) ** (-a - 1),
        lambda y, x: a * (x + s) ** a * (1 / (x + s + y)) ** (a + 1),
        lambda y, x: (x + s) ** a * y**-2 * ((x + s) / y + 1) ** (-a - 1) * y ** (1 - a) * a,
    )


def case(seed):
    rng = random.Random(seed)
    h = pick(rng, 1, 1, 1, 2, 0.25)
    family = pick(rng, mixture, mixture, mixture, signed, clayton, lomax0)
    zero_ok = family in (mixture, signed)
    f = family(rng, h)
    factor = pick(rng, 1, 1, 1, 1, 1.01, 1 + 1e-9, 0.5)
    kind, prior, secret, atoms, density = prior_of(rng, zero_ok)
    outcome = bl.Interval(0, None) if family is lomax0 else bl.Interval(0, h)
    g = f if factor == 1 else (lambda y, x: factor * f(y, x))
    return SimpleNamespace(
        seed=seed,
        name=family.__name__,
        prior_kind=kind,
        prior=prior,
        secret=secret,
        h=h,
        outcome=outcome,
        f=g,
        factor=factor,
        truth=Truth(g, atoms, density),
        rng=rng,
        atoms=atoms,
    )
