"""Bounds on what lies far out, piece by piece: never below the truth, sharp where they can be."""

import math

import mpmath
import numpy as np
import pytest
from flint import arb, ctx, fmpq
from scipy.special import gammaln

import borel as bl
from borel.engine.certificates.checks import far_means
from borel.engine.certificates.checks.far_means import Far, height, noise_of
from borel.engine.certificates.checks.rays import INF, Z, _Ray
from borel.engine.certificates.checks.tails import _gammaln, beyond, in_y, tail
from borel.numerics.graphs.graph import Graph
from borel.numerics.graphs.trace import trace

pytestmark = pytest.mark.proofs

MP = mpmath.mp.clone()
MP.dps = 30
LINE = -math.inf, math.inf


@pytest.fixture(autouse=True)
def precise():
    with ctx.workprec(128):
        yield


def noise(h, sign=1):
    """Return f(y|x) = h(y - x), or h(x - y), as a graph."""
    kernel = (lambda y, x: h(y - x)) if sign > 0 else (lambda y, x: h(x - y))
    return trace(kernel, ("y", "x"), ()), False


def of_y(f):
    return in_y((trace(f, ("x",), ()), False))


def laplace(u):
    return np.exp(-abs(u)) / 2


def box(u):
    return np.where(abs(u) < 0.5, 1 + 0 * u, 0 * u)


def nothing(sign, r):
    return Z, Z


def above(v):
    """Return a float above what a ball holds."""
    return math.nextafter(float(v.upper()), math.inf)


# -- rays -----------------------------------------------------------------------------------


@pytest.mark.parametrize("u", [0.25, 1.0, 3.0, 10.0, 500.0])
def test_log_gamma_along_a_ray(u):
    found = _gammaln(_Ray({(fmpq(-1), 0): arb(u)}))
    for t in map(arb, (1.0, 0.5, 2.0**-10)):
        value = sum((b * t ** arb(e) * t.log() ** j for (e, j), b in found.terms.items()), Z)
        assert value.contains((arb(u) / t).lgamma().mid())
        assert float(value.rad()) <= 1 / (12 * u) + 1e-9


@pytest.mark.parametrize("k", [3, 4, 9])
@pytest.mark.parametrize("r", [3, 40])
def test_powers(k, r):
    value = _Ray({(fmpq(k), 0): arb(1)})
    q, m = beyond(value, arb(r))
    assert q.overlaps(arb(r) / (k - 1)) and m.overlaps(arb(r) ** 2 / ((k - 1) * (k - 2)))
    q, m = beyond(value, arb(r), "masses")  # of the integers from r on
    assert MP.mpf(r) ** k * MP.zeta(k, r) <= above(q)
    assert MP.mpf(r) ** k * (MP.zeta(k - 1, r) - r * MP.zeta(k, r)) <= above(m)


def test_the_mean_distance_of_masses_that_are_apart():
    k, r = 40, 3.9  # (n - r) (r / n)^k is largest beside 4: its integral alone is less
    _, m = beyond(_Ray({(fmpq(k), 0): arb(1)}), arb(r), "masses")
    truth = MP.nsum(lambda n: (n - MP.mpf(r)) * (MP.mpf(r) / n) ** k, [4, MP.inf])
    assert truth <= above(m)


@pytest.mark.parametrize("r", [0, -3, math.nan])
def test_only_a_positive_number_is_a_start(r):
    for kind in ("density", "masses"):
        assert beyond(_Ray({(fmpq(4), 0): arb(1)}), arb(r), kind) == (INF, INF)


@pytest.mark.parametrize("r", [2.0, 9.0])
@pytest.mark.parametrize("sign", [1, -1])
def test_a_power_is_its_own_bound(r, sign):
    f = of_y(lambda x: np.where(x * sign > 1, 3 / x**4, 0 * x))
    q, m = map(float, tail(f, sign, arb(r)))
    assert r**-3 * (1 - 1e-12) <= q <= r**-3 * (1 + 1e-12)
    assert r**-2 / 2 * (1 - 1e-12) <= m <= r**-2 / 2 * (1 + 1e-12)
    assert tail(f, -sign, arb(r)) == (0, 0)


@pytest.mark.parametrize("r", [7.999, 30.2, 60.01])
def test_masses_between_integers(r):
    f = of_y(lambda x: np.exp(-2.0 + x * np.log(2.0) - gammaln(x + 1)))
    q, m = tail(f, 1, arb(r), "masses")
    ns = range(math.ceil(r), math.ceil(r) + 300)
    w = {n: MP.exp(-2) * MP.mpf(2) ** n / MP.factorial(n) for n in ns}
    assert MP.fsum(w.values()) <= above(q)
    assert MP.fsum((n - r) * w[n] for n in ns) <= above(m)


ONE_INTEGER = {
    "a power": lambda n: np.where(n == 50, 0.5, (n + 0.0) ** -4.0 / 2),
    "an exponential": lambda n: np.where(n == 50, 0.5, 2.0 ** -(n + 1.0)),
    "less or equal": lambda n: np.where(abs(n - 50) <= 0, 0.5, 0.5 * 2.0 ** -abs(n)),
}


@pytest.mark.parametrize("name", ONE_INTEGER)
def test_one_integer_is_no_null_set(name):
    q, _ = tail(of_y(ONE_INTEGER[name]), 1, arb(20.0), "masses")
    assert not q < 0.5


# -- noise ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("q", "m"), [(1.0, 0.1), (0.3, 2.0), (1.0, 2.0**-4), (0.135, 0.135)])
def test_the_bound_of_gibbs(q, m, monkeypatch):
    """Of a density of at most 1, with a mass below q: the most that any of them can have."""
    far = Far(noise(laplace), (-math.inf, 0.0), {}, nothing)
    far.__dict__["noise"] = None, Z
    monkeypatch.setattr(far_means, "tail", lambda *_: (arb(q), arb(m)))
    found = float(far.share(1.0, math.inf).upper())
    most = max(
        w * (math.log(m / q) - math.log(w)) + q for w in (q * k / 400 for k in range(1, 401))
    )
    assert most - 1e-12 <= found <= 1.01 * most


@pytest.mark.parametrize("sign", [1, -1])
def test_noise_on_one_side(sign):
    """One secret, 0: the integral of y e^-y beyond 3, and nothing on the other side."""
    far = Far(noise(lambda u: np.where(u > 0, np.exp(-u), 0 * u), sign), (0.0, 0.0), {0.0: arb(1)},
              nothing)  # fmt: skip
    sides = (3.0, math.inf), (-math.inf, -3.0)
    assert 4 * math.exp(-3) <= above(far.share(*sides[::sign][0]))
    assert far.share(*sides[::sign][1]) == 0


def test_secrets_with_an_end():
    none = Far(noise(laplace), (-math.inf, 5.0), {}, nothing)
    assert none.share(1.0, math.inf) == none.share(5.0, math.inf) == INF
    assert none.share(9.0, math.inf) < INF
    with_atom = Far(noise(box), (-math.inf, -5.0), {0.0: arb(0.5)}, nothing)
    assert with_atom.secrets(1, arb(-5)) == (0.5, 2.5)


def test_atoms_on_the_left():
    of_laplace = of_y(laplace)
    far = Far(noise(laplace), LINE, {-20.0: arb(0.5)}, lambda s, r: tail(of_laplace, s, r))
    f = lambda y: MP.exp(-abs(y + 20)) / 4 + MP.exp(-abs(y)) * (1 + abs(y)) / 8  # noqa: E731
    cuts = [-90, -40, -25, -22, -21, -20, -10]
    truth = MP.quad(lambda y: f(y) * MP.log(0.5 / f(y)), cuts)
    assert truth <= above(far.share(-math.inf, -10.0))


@pytest.mark.parametrize("c", [-100.0, -5.3, -0.2, 0.2, 0.7, 100.0])
def test_a_height_is_found_anywhere(c):
    assert 0 <= above(height(noise_of(noise(lambda u: np.exp(-((u - c) ** 2) / 2))))) <= 0.2


def test_a_height_that_is_not_found_is_none():
    gumbel = noise(lambda u: np.exp(-u - np.exp(-u)))
    assert height(noise_of(gumbel)) == INF
    kinks = noise(lambda u: np.exp(-(abs(u**2 - 2) ** 1.5)))  # where no float is
    assert height(noise_of(kinks)) == INF


def test_an_input_is_no_noise():
    with pytest.raises(ValueError):
        noise_of((Graph((("input", ("y",)),), ("y", "x")), False))


def test_masses_on_the_integers_of_a_measure():
    """The same bounds for a prior as the library makes it."""
    masses = bl.geometric(p=0.5).density
    q, m = tail(in_y((masses.graph, masses.log)), 1, arb(20.0), "masses")
    assert 2.0**-20 <= float(q.upper()) and 2.0**-19 <= float(m.upper())
