"""Databases of bits over p in (lo, hi): closed forms at 60 digits, grids of p, Fractions."""

import math
from fractions import Fraction as F
from itertools import product

import mpmath as mp
import numpy as np
import pytest
from statuses import certainly

import borel as bl
from borel.engine.finite.polynomial_quotients import supremum

CASES = [
    (5, 0.05, "fraction", F(1, 5), F(4, 5)),
    (1, 1.0, "count", F(1, 10), F(1, 2)),
    (4, 0.7, "count", F(0), F(1, 4)),
    (6, 0.2, "fraction", F(2, 5), F(1)),
    (3, 2.0, "count", F(0), F(1)),
]


def exact(value):
    value = F(value)
    return mp.mpf(value.numerator) / value.denominator


def over(case):
    n, b, of, lo, hi = case
    query = bl.mechanisms.counting_query(n=n, b=b, of=of)
    return bl.iid(bl.priors.bernoulli(lo, hi), n) * query


def under(case, p):
    n, b, of, _, _ = case
    return bl.iid(bl.pmf([1 - p, p]), n) * bl.mechanisms.counting_query(n=n, b=b, of=of)


def members(case, count=60):
    lo, hi = case[3:]
    inner = [lo + (hi - lo) * F(j, count) for j in range(1, count)]
    near = (hi - lo) * F(1, 10**9)
    return [lo + near, *inner, hi - near]


def ys(case):
    top = 1.0 if case[2] == "fraction" else float(case[0])
    return [-0.2 * top, 0.0, 0.13 * top, 0.5 * top, 0.71 * top, top, 1.4 * top]


def closed_form(kind, case):
    n, b, of, lo, hi = case
    with mp.workdps(60):
        a = 1 / (exact(b) * (n if of == "fraction" else 1))
        if kind == "pml":
            q = exact(min(lo, 1 - hi))
            return a - mp.log(1 - q + q * mp.exp(a))
        q = exact(max(hi, 1 - lo))
        return mp.log(1 - q + q * mp.exp(a))


@pytest.mark.few(4)
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("kind", ["pml", "pmc"])
def test_suprema_are_exact_and_approached(case, kind):
    database = over(case)
    leakage = getattr(bl, kind)
    for joint, times in ((bl.entry(database), 1), (database, case[0])):
        found = leakage(joint).sup()
        truth = times * closed_form(kind, case)
        assert found.status == "exact" and found.attained is False
        slack = mp.mpf(10) ** -50  # where it is a float exactly, mpmath's last digit is not
        assert found.lower - slack <= truth <= found.upper + slack
        assert found.width <= 1e-15 * max(1, found.upper)
        best = 0.0
        for p in members(case):
            one = under(case, p)
            at = leakage(bl.entry(one) if times == 1 else one).sup()
            assert at.lower < found.upper
            best = max(best, at.upper)
        assert best > found.lower - 1e-6 * max(1, found.lower)
        # the witness is the end that is approached, and the outcome where
        near = found.witness["p"]
        assert near in (float(case[3]), float(case[4]))


def test_the_number_of_the_paper():
    found = bl.pml(bl.entry(over(CASES[0]))).sup()
    assert round(found.value, 3) == 1.539  # and not 6.82
    assert bool(found <= 1.54)


def test_symmetric_sets_and_the_simplified_bound():
    """Proposition 4.6 for c, and (1 - c)/(nb) + c^2/(2 n^2 b^2) for large nb."""
    for n, b, c in ((100, 0.1, F(1, 4)), (1000, 0.05, F(2, 5)), (50, 1.0, F(0))):
        found = bl.pml(bl.entry(over((n, b, "fraction", c, 1 - c)))).sup()
        assert found.upper <= float(1 - c) / (n * b) + float(c) ** 2 / (2 * (n * b) ** 2) + 1e-15
        assert found.upper >= (1 - float(c)) / (n * b) * (1 - float(c) / (n * b))


@pytest.mark.few(1)
@pytest.mark.cases("slow", "pmc-case3", "pmc-case4", "pmc-case2")
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("kind", ["pml", "pmc"])
def test_at_outcomes(case, kind):
    one = getattr(bl, kind)(bl.entry(over(case)))
    curve = one(ys(case))
    for i, y in enumerate(ys(case)):
        found = one(y)
        assert certainly(found)
        assert found.width <= (1e-14 if kind == "pml" else 2.1e-8)
        best = 0.0
        for p in members(case):
            at = getattr(bl, kind)(bl.entry(under(case, p)))(y)
            assert at.lower <= found.upper
            best = max(best, at.upper)
        # the grid comes close; a member near the witness comes closer
        near = min(max(F(found.witness["p"]), members(case)[0]), members(case)[-1])
        best = max(best, getattr(bl, kind)(bl.entry(under(case, near)))(y).upper)
        assert best > found.lower - 1e-6
        assert curve.lower[i] <= found.upper and found.lower <= curve.upper[i]


@pytest.mark.few(2)
@pytest.mark.parametrize("case", CASES)
def test_the_database_at_outcomes(case):
    whole = bl.pml(over(case))
    for y in ys(case):
        found = whole(y)
        values = [bl.pml(under(case, p))(y) for p in members(case)]
        assert all(v.lower <= found.upper for v in values)
        assert max(v.upper for v in values) > found.lower - 1e-6


def test_many_entries():
    n = 10**6
    one = bl.entry(over((n, 1e-6, "fraction", F(1, 4), F(3, 4))))
    assert bl.pml(one).sup().width < 1e-15
    found = bl.pml(one)([0.2, 0.25, 0.5, 0.75, 0.8])
    assert float((found.upper - found.lower).max()) < 1e-11
    assert float(found.lower[0]) > 0.3


def test_one_member():
    case = (4, 0.5, "count", F(1, 3), F(1, 3))
    one, same = bl.entry(over(case)), bl.entry(under(case, F(1, 3)))
    for kind in ("pml", "pmc"):
        a, b = getattr(bl, kind)(one), getattr(bl, kind)(same)
        assert (a.sup().lower, a.sup().upper) == (b.sup().lower, b.sup().upper)
        assert a.sup().attained is True
        assert (a(1.3).lower, a(1.3).upper) == (b(1.3).lower, b(1.3).upper)
    certain = bl.entry(over((4, 0.5, "count", F(1), F(1))))
    assert bl.pml(certain).sup().upper == bl.pmc(certain)(0.3).upper == 0


def test_ldp_and_lip():
    one = bl.entry(over(CASES[0]))
    assert bl.ldp(one).lower <= 4.0 <= bl.ldp(one).upper and bl.ldp(one).width < 1e-14
    assert bl.lip(one).upper == bl.pmc(one).sup().upper
    assert bl.ldp(over(CASES[0])).lower <= 20.0 <= bl.ldp(over(CASES[0])).upper


# -- finite mechanisms ----------------------------------------------------------------------------


def kernels(K, n, i, p):
    """f(y|0), f(y|1), f_Y in Fractions; the kernel of the whole database for i = None."""
    m = len(K[0])
    law = [F(0)] * m
    out = [[F(0)] * m, [F(0)] * m]
    for row, x in enumerate(product((0, 1), repeat=n)):
        weight = math.prod((p if v else 1 - p for v in x), start=F(1))
        for y in range(m):
            law[y] += weight * K[row][y]
            if i is not None:
                out[x[i]][y] += weight / (p if x[i] else 1 - p) * K[row][y]
    return (K if i is None else out), law


def truths(K, n, i, p, y):
    """e^PML, e^PMC and e^LDP at y."""
    rows, law = kernels(K, n, i, p)
    column = [row[y] for row in rows]
    if not any(column):
        return F(1), F(1), F(1)
    least = min(column)
    return (
        max(column) / law[y],
        law[y] / least if least else math.inf,
        max(column) / least if least else math.inf,
    )


@pytest.mark.few(2)
@pytest.mark.cases("slow", "ends2-4", "ends1-4")
@pytest.mark.parametrize("n", [1, 2, 4])
@pytest.mark.parametrize("ends", [(F(1, 5), F(4, 5)), (F(0), F(1, 3)), (F(0), F(1))])
def test_finite_mechanisms(n, ends):
    rng = np.random.default_rng(17 * n)
    K = [[F(int(v), int(r.sum())) for v in r] for r in rng.integers(1, 30, size=(2**n, 3))]
    database = bl.iid(bl.priors.bernoulli(*ends), n) * bl.Mechanism.from_matrix(
        K, secret=bl.Finite(2) ** n
    )
    lo, hi = ends
    near = (hi - lo) * F(1, 10**7)
    grid = [lo + near, hi - near, *(lo + (hi - lo) * F(j, 40) for j in range(1, 40))]
    for i in (None, *range(n)):
        joint = database if i is None else bl.entry(database, i)
        for kind, which in (("pml", 0), ("pmc", 1)):
            ell = getattr(bl, kind)(joint)
            for y in range(3):
                found = ell(y)
                assert certainly(found) and found.width < 1e-8
                p = min(max(F(found.witness["p"]), grid[0]), grid[1])
                values = [truths(K, n, i, q, y)[which] for q in (*grid, p)]
                ratios = F(found.ratio.lower), F(found.ratio.upper)
                assert max(values) <= ratios[1]
                assert ratios[0] <= max(values) * (1 + F(1, 10**5))
            assert ell.sup().upper == max(ell(y).upper for y in range(3))
        if i is not None:
            level = F(bl.ldp(joint).ratio.upper)
            assert max(truths(K, n, i, q, y)[2] for q in grid for y in range(3)) <= level


def test_zeros_and_poles():
    """Outcomes that only some databases allow."""
    n = 2
    K = [[F(1), F(0), F(0)], [F(1, 2), F(1, 2), F(0)], [F(0), F(1), F(0)], [F(0), F(0), F(1)]]
    mech = bl.Mechanism.from_matrix(K, secret=bl.Finite(2) ** n)
    one = bl.entry(bl.iid(bl.priors.bernoulli(0, F(1, 2)), n) * mech)
    # y = 2 only for (1, 1): f(2|1) = p, f_Y = p^2, leakage log 1/p without bound as p -> 0
    assert bl.pml(one)(2).lower == math.inf and bl.pml(one).sup().lower == math.inf
    # y = 0: f(0|0) = (1 - p) + p/2, f_Y = (1 - p) f(0|0): log 1/(1 - p), largest at 1/2
    found = bl.pml(one)(0)
    assert found.lower <= math.log(2) <= found.upper and found.width < 1e-9
    assert bl.pmc(one)(0).lower == math.inf
    # away from 0 it is finite: f(2|1)/f_Y = 1/p
    some = bl.entry(bl.iid(bl.priors.bernoulli(F(1, 4), F(1, 2)), n) * mech)
    found = bl.pml(some)(2)
    assert found.lower <= math.log(4) <= found.upper and found.width < 1e-8
    # y = 1: f(1|1) = 1 - p, f(1|0) = p/2, f_Y = 3 p (1 - p)/2: 2/(3p) or 1/(3(1 - p))
    found = bl.pml(some)(1)
    assert found.lower <= math.log(F(8, 3)) <= found.upper and found.width < 1e-8
    # an outcome that never comes
    K = [[F(1), F(0)]] * 4
    dead = bl.iid(bl.priors.bernoulli(0, 1), 2) * bl.Mechanism.from_matrix(
        K, secret=bl.Finite(2) ** 2
    )
    assert bl.pml(bl.entry(dead))(1).upper == 0
    assert bl.pmc(bl.entry(dead)).sup().upper < 1e-13


def test_the_hull_is_only_a_bound():
    """Parity of two bits: each entry's kernel moves with p, and at p = 1/2 nothing leaks."""
    K = [[F(3, 4), F(1, 4)], [F(1, 4), F(3, 4)], [F(1, 4), F(3, 4)], [F(3, 4), F(1, 4)]]
    mech = bl.Mechanism.from_matrix(K, secret=bl.Finite(2) ** 2)
    half = bl.entry(bl.iid(bl.priors.bernoulli(F(1, 2), F(1, 2)), 2) * mech)
    assert bl.pml(half).sup().upper < 1e-14
    wide = bl.pml(bl.entry(bl.iid(bl.priors.bernoulli(F(1, 4), F(3, 4)), 2) * mech)).sup()
    truth = max(truths(K, 2, 0, F(j, 4000), y)[0] for j in range(1000, 3001) for y in (0, 1))
    assert math.log(truth) - 1e-6 <= wide.upper and wide.lower <= math.log(truth) + 1e-9


def test_quotients_of_polynomials():
    """Bernstein bisection against a fine grid, for degrees up to 7, zeros included."""
    rng = np.random.default_rng(5)
    for _ in range(60):
        n = int(rng.integers(1, 8))
        num = rng.random((3, n + 1)) * (rng.random((3, n + 1)) < 0.7)
        den = num * rng.random((3, n + 1))
        den += rng.random((3, n + 1)) * (rng.random((3, n + 1)) < 0.6)
        if not den.any(axis=1).all() or not num.any():
            continue
        low, high = sorted(F(int(v), 20) for v in rng.choice(21, 2, replace=False))
        found = supremum(num, den, (low, high), error=0.0, tol=1e-10)
        k = np.arange(n + 1)
        p = np.linspace(float(low), float(high), 20_001)[1:-1]
        basis = p[:, None] ** k * (1 - p[:, None]) ** (n - k)
        with np.errstate(invalid="ignore", divide="ignore"):
            best = np.nanmax(np.where(basis @ num.T > 0, (basis @ num.T) / (basis @ den.T), 0.0))
        assert found.upper >= best * (1 - 1e-12)
        assert found.upper - found.lower <= 1e-9 * found.upper or found.lower == math.inf
        assert found.lower <= best * 1.02 or found.p in (float(low), float(high))


def test_bad_input():
    bits = bl.iid(bl.priors.bernoulli(0.1, 0.2), 3)
    for wrong in ((-0.1, 0.5), (0.5, 1.1), (0.6, 0.5)):
        with pytest.raises(bl.InvalidInput):
            bl.iid(bl.priors.bernoulli(*wrong), 3)
    with pytest.raises(bl.InvalidInput, match="an integer"):
        bl.iid(bl.priors.bernoulli(0.1, 0.2), 0)
    with pytest.raises(bl.InvalidInput, match="on 3 entries"):
        bits * bl.mechanisms.counting_query(n=4, b=1.0)
    with pytest.raises(bl.InvalidInput, match="databases"):
        bits * bl.Mechanism.from_matrix([[0.5, 0.5]] * 2)
    with pytest.raises(bl.NotYet, match="any n"):
        bl.iid(bl.priors.bernoulli(0.1, 0.2), 30) * bl.Mechanism.from_matrix([[1.0]] * 2)
    with pytest.raises(bl.InvalidInput, match="an entry"):
        bl.entry(bits * bl.mechanisms.counting_query(n=3, b=1.0), 3)
    with pytest.raises(bl.NotYet, match="law"):
        bl.pml(bl.entry(bits * bl.mechanisms.counting_query(n=3, b=1.0))).tail(0.1)
    with pytest.raises(bl.OutsideAlphabet):
        bl.pml(bl.entry(bits * bl.mechanisms.counting_query(n=3, b=1.0)))(math.nan)
    with pytest.raises(bl.InvalidInput, match="counts the label 1"):
        bits * bl.mechanisms.counting_query(n=3, b=1.0, predicate=lambda d: d == 0)


@pytest.mark.parametrize("p", [F(1, 10**160), F(1, 10**170), F(1, 10**200)])
def test_one_tiny_p_is_neither_lost_nor_infinite(p):
    """The whole database of two bits, told as it is: log 1 / p^2."""
    database = bl.iid(bl.priors.bernoulli(p, p), 2)
    identity = bl.Mechanism.from_matrix(
        [[F(int(i == j)) for j in range(4)] for i in range(4)], secret=database.on
    )
    with mp.workdps(40):
        truth = -2 * mp.log(mp.mpf(p.numerator) / p.denominator)
    found = bl.pml(database * identity).sup()
    assert found.lower <= truth <= found.upper and found.lower > 700
    entry = bl.pml(bl.entry(database * identity)).sup()
    with mp.workdps(40):
        truth = truth / 2
    assert entry.lower <= truth <= entry.upper and entry.width <= 1e-9


# -- finite mechanisms about the number of ones ---------------------------------------------------


def entry_of_count(K, n, p):
    """f(y|d) for d = 0, 1, the other bits being 1 with probability p, in Fractions."""
    law = [math.comb(n - 1, k) * p**k * (1 - p) ** (n - 1 - k) for k in range(n)]
    return [[sum(law[k] * K[k + d][y] for k in range(n)) for y in range(len(K[0]))] for d in (0, 1)]


@pytest.mark.parametrize("n", [1, 2, 7])
def test_counts_against_fractions_on_a_grid(n):
    rng = np.random.default_rng(n)
    raw = rng.integers(1, 9, size=(n + 1, 3))
    K = [[F(int(v), int(row.sum())) for v in row] for row in raw]
    counts = bl.Integers(0, n)
    mech = bl.Mechanism.from_matrix(K, secret=counts, outcome=bl.Finite(3))
    lo, hi = F(1, 5), F(3, 4)
    joint = bl.entry(bl.iid(bl.priors.bernoulli(lo, hi), n) * mech)
    leak, cost, level = bl.pml(joint).sup(), bl.pmc(joint).sup(), bl.ldp(joint)
    found = {"pml": [], "pmc": [], "ldp": []}
    for j in range(1, 400):
        p = lo + (hi - lo) * F(j, 400)
        zero, one = entry_of_count(K, n, p)
        for a, b in zip(zero, one, strict=True):
            own = (1 - p) * a + p * b
            found["pml"].append(max(a, b) / own)
            found["pmc"].append(own / min(a, b))
            found["ldp"].append(max(a, b) / min(a, b))
    for bound, ratios in ((leak, found["pml"]), (cost, found["pmc"]), (level, found["ldp"])):
        truth = mp.log(exact(max(ratios)))
        assert truth <= bound.upper
        assert bound.lower <= truth + 0.01  # the grid is coarse
        assert bound.width <= 1e-7


@pytest.mark.parametrize("n", [7, 40])
def test_counts_on_a_sliver_of_p(n):
    """Over (p, p + 10^-12) the suprema are the figures at p, but for a Lipschitz trace."""
    rng = np.random.default_rng(n)
    raw = rng.integers(1, 9, size=(n + 1, 4))
    K = [[F(int(v), int(row.sum())) for v in row] for row in raw]
    counts, p = bl.Integers(0, n), F(1, 3)
    mech = bl.Mechanism.from_matrix(K, secret=counts, outcome=bl.Finite(4))
    database = bl.iid(bl.priors.bernoulli(p, p + F(1, 10**12)), n) * mech
    zero, one = entry_of_count(K, n, p)
    own = [(1 - p) * a + p * b for a, b in zip(zero, one, strict=True)]
    law = [math.comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(n + 1)]
    assert own == [sum(law[k] * K[k][y] for k in range(n + 1)) for y in range(4)]
    either = list(zip(own, zero, one, strict=True))
    most = [max(row[y] for row in K) for y in range(4)]
    for bound, ratio in (
        (bl.pml(bl.entry(database)).sup(), max(max(a, b) / f for f, a, b in either)),
        (bl.pmc(bl.entry(database)).sup(), max(f / min(a, b) for f, a, b in either)),
        (bl.pml(database).sup(), max(m / f for m, f in zip(most, own, strict=True))),
    ):
        truth = mp.log(exact(ratio))
        assert bound.lower - 1e-9 <= truth <= bound.upper + 1e-9
        assert bound.width <= 1e-7


@pytest.mark.parametrize("n", [20, 200])
def test_geometric_noise_on_a_count_of_many_bits(n):
    """Beyond the last count the ratio of one bit is 2, as with Laplace noise of rate log 2."""
    counts = bl.Integers(0, n)
    noise = bl.mechanisms.geometric(alpha=F(1, 2), secret=counts, outcome=counts)
    lo, hi = F(3, 10), F(7, 10)
    database = bl.iid(bl.priors.bernoulli(lo, hi), n) * noise
    one = bl.entry(database)
    with mp.workdps(40):
        for bound, truth in (
            (bl.pml(one).sup(), mp.log(2 / mp.mpf("1.3"))),
            (bl.pmc(one).sup(), mp.log(mp.mpf("1.7"))),
            (bl.ldp(one), mp.log(2)),
            (bl.pml(database).sup(), n * mp.log(2 / mp.mpf("1.3"))),
            (bl.pmc(database).sup(), n * mp.log(mp.mpf("1.7"))),
        ):
            assert bound.status == "certified"
            assert bound.lower <= truth <= bound.upper
            assert bound.width <= 1e-7


def test_counts_that_are_refused():
    many = bl.iid(bl.priors.bernoulli(F(1, 4), F(3, 4)), 501)
    counts = bl.Integers(0, 501)
    noise = bl.Mechanism.from_matrix([[1]] * 502, secret=counts, outcome=bl.Finite(1))
    with pytest.raises(bl.NotYet, match="degree 501"):
        many * noise
    with pytest.raises(bl.NotYet, match="not finite"):
        bl.iid(bl.priors.bernoulli(F(1, 4), F(3, 4)), 20) * bl.mechanisms.staircase(
            epsilon=1.0, sensitivity=1.0, secret=bl.Integers(0, 20)
        )


def test_products_that_underflow_are_neither_nan_nor_zero():
    """Outcome 2 comes of 200 ones only, with 1e-300: f(2|0) = 0 and f(2|1) / f_Y = 1 / p."""
    n = 200
    K = np.zeros((n + 1, 3))
    K[:, :2] = 0.5
    K[n] = [0.5, 0.5, 1e-300]
    mech = bl.Mechanism.from_matrix(K, secret=bl.Integers(0, n), outcome=bl.Finite(3))
    one = bl.entry(bl.iid(bl.priors.bernoulli(F(1, 10), F(1, 10)), n) * mech)
    found = bl.pml(one)(2)
    assert found.lower <= math.log(10) <= found.upper
    assert found.width < 1e-9
    assert bl.pmc(one)(2).lower == math.inf
    with pytest.raises(bl.InvalidInput, match="Fractions"):
        bl.entry(bl.iid(bl.pmf([0.9, 0.1]), n) * mech)


# -- Gaussian noise on the number of ones ---------------------------------------------------------


def entry_of_noisy_count(kind, n, sigma, y, p):
    """The leakage of one bit, the other bits summed out in mpmath."""
    p = exact(p)
    law = [math.comb(n - 1, k) * p**k * (1 - p) ** (n - 1 - k) for k in range(n)]
    s, y = exact(sigma), exact(y)
    f = [
        sum(w * mp.exp(-((y - k - d) ** 2) / (2 * s * s)) for k, w in enumerate(law))
        for d in (0, 1)
    ]
    own = (1 - p) * f[0] + p * f[1]
    return mp.log(max(f) / own if kind == "pml" else own / min(f))


def gaussian_bit(n, sigma, lo, hi):
    noise = bl.mechanisms.gaussian(sigma=sigma, secret=bl.Integers(0, n))
    return bl.entry(bl.iid(bl.priors.bernoulli(lo, hi), n) * noise)


@pytest.mark.cases("slow", "500-40.0-130-pmc", "500-40.0-130-pml")
@pytest.mark.parametrize("kind", ["pml", "pmc"])
@pytest.mark.parametrize(
    ("n", "sigma", "y"),
    [
        (1, 0.5, 0.3),
        (1, 2.0, -9.0),
        (4, 1.0, 2.0),
        (4, 0.3, 4.5),
        (30, 3.0, 11.7),
        (500, 40.0, 130),
    ],
)
def test_gaussian_noise_on_a_count_at_one_outcome(kind, n, sigma, y):
    ask = getattr(bl, kind)
    with mp.workdps(200):
        one = ask(gaussian_bit(n, sigma, F(1, 3), F(1, 3)))(y)
        assert one.lower <= entry_of_noisy_count(kind, n, sigma, y, F(1, 3)) <= one.upper
        assert one.width < 1e-9
        grid = [F(1, 5) + F(3, 10) * F(j, 20) for j in range(21)]
        best = max(entry_of_noisy_count(kind, n, sigma, y, p) for p in grid)
        worst = ask(gaussian_bit(n, sigma, F(1, 5), F(1, 2)))(y)
        assert best <= worst.upper
        assert worst.width < 1e-6
        assert worst.lower <= entry_of_noisy_count(kind, n, sigma, y, F(worst.witness["p"])) + 1e-12


def test_the_suprema_of_gaussian_noise_on_a_count():
    some = gaussian_bit(5, 1.0, F(1, 4), F(1, 2))
    found = bl.pml(some).sup()
    assert found.lower <= math.log(4) <= found.upper and found.width < 1e-15
    assert (found.attained, found.witness["x"]) == (False, 1)
    assert bl.pml(some)(40.0).lower > math.log(4) - 1e-12  # it is approached
    assert bl.pml(gaussian_bit(5, 1.0, F(1, 2), F(9, 10))).sup().witness["x"] == 0
    for bound in (bl.pmc(some).sup(), bl.ldp(some), bl.pml(gaussian_bit(5, 1.0, 0, F(1, 2))).sup()):
        assert (bound.lower, bound.status, bound.attained) == (math.inf, "exact", False)
    certain = gaussian_bit(5, 1.0, 1, 1)
    for bound in (bl.pml(certain).sup(), bl.pmc(certain).sup(), bl.ldp(certain)):
        assert bound.upper == 0
    assert bl.pml(certain)(2.0).upper == 0
    with pytest.raises(bl.NotYet, match="wider noise"):
        bl.pml(gaussian_bit(50, 0.5, F(1, 4), F(1, 2)))(3.0)
    noise = bl.mechanisms.gaussian(sigma=1.0, secret=bl.Integers(0, 5))
    with pytest.raises(bl.NotYet, match="not finite"):
        bl.pml(bl.iid(bl.priors.bernoulli(F(1, 4), F(1, 2)), 5) * noise).sup()


def test_laplace_noise_on_a_count_is_the_counting_query():
    n = 20
    noise = bl.mechanisms.laplace(b=2.0, secret=bl.Integers(0, n))
    query = bl.mechanisms.counting_query(n=n, b=2.0, of="count")
    for prior in (bl.priors.bernoulli(F(1, 4), F(1, 2)), bl.pmf([F(3, 4), F(1, 4)])):
        one, same = (bl.entry(bl.iid(prior, n) * mech) for mech in (noise, query))
        truth = 0.5 - math.log(0.75 + 0.25 * math.exp(0.5))
        assert bl.pml(one).sup().lower == pytest.approx(truth, rel=1e-14)
        for ask in (bl.pml, bl.pmc):
            assert (ask(one)(7.3).lower, ask(one)(7.3).upper) == (
                ask(same)(7.3).lower,
                ask(same)(7.3).upper,
            )
    three = bl.iid(bl.pmf([F(1, 3)] * 3), n)
    with pytest.raises((bl.InvalidInput, bl.NotYet)):
        three * noise
