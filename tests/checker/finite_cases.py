"""Random finite joints, sets of priors over them, and the figures that certificates are about."""

from fractions import Fraction as F

import numpy as np

import borel as bl
from borel.engine.certificates import finite, finite_envelopes, finite_sets


def joint(seed, most=30):
    """Return a joint of 3 to ``most`` secrets and outcomes, in floats or in Fractions."""
    r = np.random.default_rng(seed)
    n, m = (int(v) for v in r.integers(3, most + 1, size=2))
    if seed % 3 == 0:
        c = r.integers(seed % 2, 50, size=(n, m))
        c[:, 0] += 1
        k = np.array([[F(int(v), int(row.sum())) for v in row] for row in c], dtype=object)
        c = r.integers(1, 50, size=n)
        p = np.array([F(int(v), int(c.sum())) for v in c], dtype=object)
    else:
        k = r.dirichlet(np.full(m, r.choice([0.05, 0.3, 1.0, 10.0])), size=n)
        p = r.dirichlet(np.full(n, r.choice([0.1, 1.0, 5.0])))
        if seed % 4 == 1:  # some secrets make some outcomes impossible, one is impossible itself
            k[r.random(k.shape) < 0.2] = 0.0
            k[:, 0] += 0.01
            p[0] = 0.0
        k, p = k / k.sum(axis=1, keepdims=True), p / p.sum()
    return bl.pmf(p) * bl.Mechanism.from_matrix(k)


def figures(of):
    """Return (figure, arguments, bound) of a joint, and how to make certificates of them."""
    ys, found = of.outcome.labels, []
    for kind, leakage in (("pml", bl.pml(of)), ("pmc", bl.pmc(of))):
        y, level = ys[len(ys) // 2], {"ratio": F(3, 2)}
        found += [
            (f"{kind}.sup", {}, leakage.sup()),
            (f"{kind}.at", {"y": y}, leakage(y)),
            (f"{kind}.tail", {"t": 0.3, "closed": False}, leakage.tail(0.3)),
            (f"{kind}.tail", {"t": level, "closed": True}, leakage.tail(np.log(1.5), closed=True))
            if not of.rational
            else (f"{kind}.tail", {"t": 0.7, "closed": True}, leakage.tail(0.7, closed=True)),
            (f"{kind}.cdf", {"t": 0.3}, leakage.cdf(0.3)),
            (f"{kind}.quantile", {"s": 0.9, "side": "left"}, leakage.quantile(0.9)),
            (f"{kind}.quantile", {"s": 0.4, "side": "right"}, leakage.quantile(0.4, side="right")),
            (f"{kind}.mean", {}, leakage.mean()),
            (f"{kind}.exp_mean", {}, leakage.exp_mean()),
        ]
    names = "ldp", "lip", "maximal_leakage", "maximal_cost_leakage", "mutual_information"
    found += [(name, {}, getattr(bl, name)(of)) for name in (*names, "total_variation")]
    generators = "kl", "total_variation", "chi_square", "squared_hellinger"
    found += [("f_information", {"f": f}, bl.f_information(of, f)) for f in generators]
    prior = of.prior.at(of.mechanism.secret)
    x = of.mechanism.secret.labels[int(np.argmax(prior != 0))]
    density = bl.information_density(of)(x, ys[0])
    found.append(("information_density", {"x": x, "y": ys[0]}, density))
    return found


def envelopes(of):
    """Return (figure, arguments, bound) of the envelopes of a joint."""
    found = []
    for kind in ("pml", "pmc"):
        envelope = bl.envelope(of, of=kind)
        for delta in (0.01, F(1, 10), 0.5, 1):
            found.append((f"{kind}.envelope", {"delta": delta}, envelope(delta)))
        found.append((f"{kind}.envelope_delta", {"t": 0.3}, envelope.delta(0.3)))
        ratio = F(3, 2)
        found.append(
            (f"{kind}.envelope_delta", {"t": {"ratio": ratio}}, envelope.delta(ratio=ratio))
        )
    return found


def sets(seed):
    """Return joints of sets of priors of every kind with a mechanism."""
    r = np.random.default_rng(seed)
    n, m = (int(v) for v in r.integers(2, 9, size=2))
    rational = seed % 2 == 0
    c = r.integers(0 if seed % 3 == 0 else 1, 30, size=(n, m))
    c[:, 0] += 1
    k = np.array([[F(int(v), int(row.sum())) for v in row] for row in c], dtype=object)
    c = r.integers(1, 50, size=(2, n))
    c[0, 0] *= seed % 4 != 1
    c[0, 1] += 1
    p, q = (np.array([F(int(v), int(row.sum())) for v in row], dtype=object) for row in c)
    size = F(int(r.integers(1, 30)), 100)
    if not rational:
        k, p, q, size = np.array(k, float), np.array(p, float), np.array(q, float), float(size)
        k, p, q = (v / v.sum(axis=-1, keepdims=True) for v in (k, p, q))
    make, on, mech = bl.priors, bl.Finite(n), bl.Mechanism.from_matrix(k)
    first, second = bl.pmf(p, on=on), bl.pmf(q, on=on)
    half, tenth = (F(1, 2), F(1, 10)) if rational else (0.5, 0.1)
    low, high = [v * half for v in p], [min(2 * v + tenth, 1) for v in p]
    rows = [[F(j == 0) for j in range(n)], [F(j) for j in range(n)]]
    ends = [F(1, 2), F(n, 2)]
    if not rational:
        rows, ends = np.array(rows, float), np.array(ends, float)
    box = make.box(low, high, on)
    ball = make.tv_ball(first, size)
    found = [
        make.full_support(on),
        ball,
        make.l1_ball(first, size),
        make.contamination(first, size),
        make.hull([first, second]),
        box,
        make.interior(F(1, 3 * n) if rational else 1 / (3 * n), on),
        make.polytope(rows, ends, on=on),
        ball & box,
        make.tv_ball(first, 0),
    ]
    return [one * mech for one in found]


def set_figures(of):
    """Return (figure, arguments, bound) over a set of priors."""
    y = of.outcome.labels[0]
    found = [("ldp", {}, bl.ldp(of)), ("lip", {}, bl.lip(of))]
    for kind, leakage in (("pml", bl.pml(of)), ("pmc", bl.pmc(of))):
        found += [(f"{kind}.sup", {}, leakage.sup()), (f"{kind}.at", {"y": y}, leakage(y))]
    return found


def certified(of, figure, arguments, bound):
    """Return a certificate of a figure."""
    over_set = isinstance(of.prior, bl.priors.PriorSet)
    maker = finite_sets if over_set else finite_envelopes if "envelope" in figure else finite
    return maker.certificate(of, figure, arguments, bound)
