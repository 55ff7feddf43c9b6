"""Levels and guarantees straight from their definitions: Fractions, all events, Arb at 400 bits.

Nothing here calls borel's engines or its calculus: guarantees are read as data (kind, numbers).
A joint is a prior `p` and rows `K`, both of Fractions.
"""

import math
from fractions import Fraction as F
from itertools import combinations

import mpmath
import oracles as o
from hypothesis import strategies as st

INF = math.inf
BITS = 400


def masses(p, K):
    """P_Y at the outcomes of positive probability, with their positions."""
    return [(y, m) for y, m in enumerate(o.marginal(p, K)) if m > 0]


def disclosure(p, K):
    """e^epsilon of disclosure prevention: of all U that an outcome gives away the largest 1/max P.

    U is u on the secrets that y leaves; elsewhere it is spread evenly over k values, u among them.
    """
    worst = F(1)
    for y, _ in masses(p, K):
        left = sum((p[x] for x in o.support(p) if K[x][y] > 0), F(0))
        for k in (1, 2, 10**6, math.ceil(2 / left)):
            others = (1 - left) / k  # of each value but u, where u is left out
            worst = max(worst, 1 / max(left, others))
    return worst


def ldi(p, K):
    """e^LDI."""
    worst = F(1)
    for y, _ in masses(p, K):
        posterior = [p[x] * K[x][y] for x in o.support(p)]
        for a in posterior:
            for b in posterior:
                if a > 0:
                    worst = max(worst, INF if b == 0 else a / b)
    return worst


def tail_leakage(p, K, delta):
    """e^epsilon of (epsilon, delta)-tail leakage: the least of c + E(S - c)_+ / delta over c.

    It is convex in c and bends at the values of S only, and at 0.
    """
    laws = masses(p, K)
    leak = [(o.pml(p, K, y), m) for y, m in laws]
    if delta == 0:
        return max(s for s, _ in leak)
    return min(
        c + sum((m * max(s - c, F(0)) for s, m in leak), F(0)) / F(delta)
        for c in (F(0), *(s for s, _ in leak))
    )


def subsets(items):
    """All subsets of a list, the empty one first."""
    for size in range(len(items) + 1):
        yield from combinations(items, size)


def eml(p, K, delta):
    """e^epsilon of (epsilon, delta)-EML: every set of outcomes, and every set with one cut.

    A fuzzy event a in [0, 1]^Y with P(a) >= delta: the ratio K_x(a) / P(a) is quasi-linear, so its
    maximum is at a vertex of that polytope, where at most one outcome is cut.
    """
    P = dict(masses(p, K))
    best = F(1)
    for inside in subsets(list(P)):
        whole = sum((P[y] for y in inside), F(0))
        cuts = [None]
        if whole < delta:
            cuts = [y for y in P if y not in inside and whole + P[y] >= delta]
        for cut in cuts:
            mass = whole if cut is None else delta
            share = F(0) if cut is None else (delta - whole) / P[cut]
            if mass == 0:
                continue
            for x in o.support(p):
                given = sum((K[x][y] for y in inside), F(0))
                given += share * K[x][cut] if cut is not None else 0
                best = max(best, given / mass)
    return best


def pairs(p, K):
    """(P_XY, P_X P_Y) at every pair of positive product probability."""
    return [(p[x] * K[x][y], p[x] * m) for y, m in masses(p, K) for x in o.support(p)]


def max_information(p, K, delta):
    """e^I of delta-approximate max-information; over all events of pairs."""
    charged = [pair for pair in pairs(p, K) if pair[0] > 0]
    best = None
    for event in subsets(charged):
        inside = sum((a for a, _ in event), F(0))
        if event and inside >= delta:
            value = (inside - delta) / sum((b for _, b in event), F(0))
            best = value if best is None else max(best, value)
    return best


def hockey_stick(p, K, lv):
    """sup over events of P_XY(E) - e^level P_X P_Y(E), rounded up for levels in nats.

    (P(E) - delta) / Q(E) <= t for all E if and only if P(E) - t Q(E) <= delta for all E.
    """
    if lv.ratio is not None:
        t = lv.ratio
    elif lv.nats == 0:
        t = F(1)
    else:  # e^level is irrational: no tie is lost
        with o.precision(BITS):
            below = (o.ball(lv.nats).exp() - o.ball(F(1, 2**300))).lower()
            mantissa, exponent = below.man_exp()
        t = F(int(mantissa)) * F(2) ** int(exponent)
    return sum((max(a - t * b, F(0)) for a, b in pairs(p, K)), F(0))


def total_variation(p, K):
    """Total variation between P_XY and the product."""
    return sum((abs(a - b) for a, b in pairs(p, K)), F(0)) / 2


def root(t):
    """The square root of a Fraction, from below to 400 bits; exact where it is rational."""
    scale = 2**BITS
    return F(math.isqrt(t.numerator * t.denominator * scale**2), t.denominator * scale)


F_OF = {
    "chi_square": lambda t: t * t - 2 * t + 1,
    "total_variation": lambda t: max(t - 1, 1 - t) / 2,
    "squared_hellinger": lambda t: (1 + t) / 2 - root(t),
}


def f_information(p, K, f):
    """f-information."""
    return sum((b * F_OF[f](a / b) for a, b in pairs(p, K)), F(0))


def loss(kind, p, K, ratio):
    """The least delta of approximate DP (over all events), or of probabilistic DP."""
    worst = F(0)
    for x in o.support(p):
        for z in o.support(p):
            if kind == "ApproximateDP":
                for event in subsets(range(len(K[0]))):
                    gap = sum((K[x][y] - ratio * K[z][y] for y in event), F(0))
                    worst = max(worst, gap)
            else:
                bad = (a for a, b in zip(K[x], K[z], strict=True) if a > ratio * b)
                worst = max(worst, sum(bad, F(0)))
    return worst


def level(kind, p, K, delta=F(0), f="chi_square"):
    """e^epsilon of the least epsilon of a kind (the number itself for variations)."""
    return {
        "PML": lambda: o.sup("pml", p, K),
        "PMC": lambda: o.sup("pmc", p, K),
        "LDP": lambda: o.ldp(p, K),
        "UniversalPML": lambda: o.ldp(p, K),
        "UniversalPMC": lambda: o.ldp(p, K),
        "DisclosurePrevention": lambda: disclosure(p, K),
        "LIP": lambda: max(o.sup("pmc", p, K), o.sup("pml", p, K)),
        "LDI": lambda: ldi(p, K),
        "EML": lambda: eml(p, K, F(delta)),
        "AveragePML": lambda: o.maximal_leakage(p, K),
        "TailLeakage": lambda: tail_leakage(p, K, F(delta)),
        "MaxInformation": lambda: max_information(p, K, F(delta)),
        "TotalVariation": lambda: total_variation(p, K),
        "FInformation": lambda: f_information(p, K, f),
    }[kind]()


def log_at_most(ratio, g_level):
    """Say if log(ratio) <= a level: a Fraction e^level, or a number of nats at 400 bits."""
    if g_level.ratio is not None:
        return ratio <= g_level.ratio
    if g_level.nats == INF or ratio <= 1:
        return True
    if ratio == INF:
        return False
    for bits in (BITS, 10 * BITS):  # a rational is no exponential of a rational: they differ
        with o.precision(bits):
            gap = o.ball(g_level.nats) - o.log(ratio)
            if gap >= 0 or gap < 0:
                return bool(gap >= 0)
    raise AssertionError(f"not settled: log {ratio} against {g_level}")


def satisfies(g, p, K):
    """Say if a joint satisfies a guarantee, by its definition."""
    kind = type(g).__name__
    if kind == "ALIP":
        sides = (o.sup("pmc", p, K), o.sup("pml", p, K))
        return all(log_at_most(r, lv) for r, lv in zip(sides, g.levels, strict=True))
    (lv,) = g.levels
    if kind in ("PML", "PMC"):
        leak = o.curve(kind.lower(), p, K)
        return sum((m for y, m in masses(p, K) if not log_at_most(leak[y], lv)), F(0)) <= g.delta
    if kind == "MutualInformation":
        with o.precision(BITS):
            truth = o.mutual_information(p, K)
            bound = o.log(lv.ratio) if lv.ratio is not None else o.ball(lv.nats)
            # equality (Y = X, uniform) is equality of two sums of logarithms: balls meet
            return bool(truth <= bound) or bool(abs(truth - bound) < o.ball(F(1, 2**350)))
    if kind in ("ApproximateDP", "ProbabilisticDP"):
        ratio = lv.ratio
        if ratio is None:  # a Fraction just below e^epsilon: the loss falls in it
            with mpmath.workdps(120):
                ratio = F(int(mpmath.floor(mpmath.exp(lv.nats) * 2**300)), 2**300)
        return loss(kind, p, K, ratio) <= F(g.delta)
    if kind == "MaxInformation":
        return hockey_stick(p, K, lv) <= F(g.delta)
    if kind in ("TotalVariation", "FInformation"):
        return level(kind, p, K, f=getattr(g, "f", "chi_square")) <= F(g.epsilon)
    return log_at_most(level(kind, p, K, getattr(g, "delta", F(0))), lv)


# -- random joints ------------------------------------------------------------------------------


@st.composite
def joints(draw, positive=True, most=4):
    """A prior of two secrets or more, at times with a secret of mass 0, and a mechanism.

    ``positive`` mechanisms have no zeros; most are mixed with one law for all secrets, so that
    leakages are small (the high-privacy regime) as often as large.
    """
    n, m = draw(st.integers(2, 3)), draw(st.integers(2, most))
    p = draw(o.laws(n, styles=("plain", "ties", "fine")))
    if draw(st.integers(0, 9)) == 0:
        tiny = F(1, 10 ** draw(st.integers(20, 300)))
        p = [tiny, *[F(1) / (n - 1) * (1 - tiny)] * (n - 1)]
    rows = "plain ties fine" if positive else "plain ties fine zeros onehot"
    K = [draw(o.laws(m, styles=tuple(rows.split()))) for _ in range(n)]
    t = draw(st.sampled_from([F(1), F(1, 3), F(1, 20), F(1, 50)]))
    common = draw(o.laws(m, styles=("plain",)))
    K = [[t * k + (1 - t) * c for k, c in zip(row, common, strict=True)] for row in K]
    if draw(st.integers(0, 7)) == 0:  # a secret without mass, which must not matter
        p, K = [*p, F(0)], [*K, draw(o.laws(m, styles=("onehot",)))]
    return p, K
