"""The statements of the draft "Information Leakage Envelopes", judged."""

# ruff: noqa: D401 - the docstring of a check names what it compares
from __future__ import annotations

from fractions import Fraction as F
from itertools import permutations, product
from typing import TYPE_CHECKING, Any

import borel as bl
from borel.claims import envelopes
from borel.claims.cases import Case, Cases
from borel.claims.envelopes import example_2_joint
from borel.claims.judging import Paper, Sharper
from borel.claims.pmc_paper import extremal, response
from borel.claims.pml_paper import event_leakage, events, tail
from borel.claims.spans import at_most, below, ratio, same, up_to, value

if TYPE_CHECKING:
    from collections.abc import Iterator

    from borel.probability.joint import Joint

PAPER = Paper("envelopes", "Information Leakage Envelopes (anonymous draft)")
says = PAPER.says
eb, g = bl.envelope_bounds, bl.guarantees
HALF, TENTH = F(1, 2), F(1, 10)
FEW = Cases(30, starts=1)
"""For claims about the envelope, a linear programme on each joint."""


def merged(joint: Joint) -> Joint:
    """Return Example 2 after its post-processing: outcomes 1 and 3 in one, 2 and 4 in the other."""
    return joint.prior * joint.mechanism.push(lambda y: 1 if y in (1, 3) else 2, outcome=[1, 2])


@says(
    "Equation 3",
    "The privacy profile, as a maximum over events and as a mean; it is at most the probability "
    "that the loss exceeds eps.",
    cases=Cases(),
)
def equation_3(c: Case) -> Iterator[Any]:
    """The profile against every event, and against the mean, of every two rows in Fractions."""
    profile, level, ys = bl.privacy_profile(c.joint), c.level, range(len(c.rows[0]))
    over = {
        (i, j): {y: c.rows[i][y] - level * c.rows[j][y] for y in ys}
        for i, j in permutations(c.secrets, 2)
    }
    every = [sum((gap[y] for y in e), F(0)) for gap in over.values() for e in events(c)]
    yield same(profile(ratio=level), max(F(0), *every))
    means = [sum((max(F(0), v) for v in gap.values()), F(0)) for gap in over.values()]
    yield same(profile(ratio=level), max(means))
    fails = [sum((c.rows[i][y] for y in ys if gap[y] > 0), F(0)) for (i, _), gap in over.items()]
    yield same(profile.beyond(ratio=level), max(fails))
    yield at_most(profile(ratio=level), max(fails))


@says(
    "Equation 4",
    "(eps, delta)-DP bounds P{L > k eps} by delta/(1 - e^-(k-1)eps), for integers k of 2 or more.",
    cases=Cases(),
)
def equation_4(c: Case) -> Iterator[Any]:
    """The probability that the loss exceeds k eps against the bound, at k = 2, 3 and 4."""
    profile, level = bl.privacy_profile(c.joint), c.level
    for k in (2, 3, 4):
        stated = value(profile(ratio=level)) / (1 - 1 / level ** (k - 1))
        yield at_most(profile.beyond(ratio=level**k), stated)


@says(
    "Example 1",
    "Probabilistic DP is not closed under post-processing, at every eps > 0 and delta.",
    scope="9 pairs (eps, delta)",
)
def example_1() -> Iterator[Any]:
    """The guarantee before and after merging an outcome of infinite loss with a good one."""
    for level, delta in product((F(11, 10), F(3), F(20)), (F(1, 1000), TENTH, F(9, 10))):
        keep = (1 - delta) / (1 + level)
        rows = [[delta, level * keep, keep, 0], [0, keep, level * keep, delta]]
        joint = bl.pmf([HALF] * 2) * bl.Mechanism.from_matrix(rows)
        after = joint.prior * joint.mechanism.push(lambda y: max(y, 1), outcome=[1, 2, 3])
        guarantee = g.ProbabilisticDP(ratio=level, delta=delta)
        yield joint.satisfies(guarantee)
        yield after.satisfies(guarantee).holds is False


@says("Example 2", "Merging outcomes breaks a probabilistic PML guarantee: log 4, 10/9, 6/5.")
def example_2() -> Iterator[Any]:
    """PML at every outcome before and after, and the guarantee (log 10/9, 1/10)."""
    joint = example_2_joint()
    ell, after = bl.pml(joint), merged(joint)
    yield from (same(ell(y), 4 if y < 3 else F(10, 9)) for y in (1, 2, 3, 4))
    yield from (same(bl.pml(after)(z), F(6, 5)) for z in (1, 2))
    guarantee = g.PML(ratio=F(10, 9), delta=TENTH)
    yield joint.satisfies(guarantee)
    yield after.satisfies(guarantee).holds is False


@says("Theorem 1", "psi_1 may rise by post-processing.", part="i")
def theorem_1_i() -> Iterator[Any]:
    """psi_1 of Example 2 before and after merging: 13/180 and 2/27."""
    joint = example_2_joint()
    before, after = (bl.psi_1(j, ratio=F(10, 9)) for j in (joint, merged(joint)))
    yield same(before, F(13, 180))
    yield same(after, F(2, 27))
    yield below(before, after)


@says("Theorem 1", "psi_2 never rises by post-processing.", part="ii", cases=Cases())
def theorem_1_ii(c: Case) -> Iterator[Any]:
    """psi_2 before and after a random post-processing, at several levels."""
    for level in (F(10, 9), F(3, 2), F(2)):
        yield at_most(bl.psi_2(c.released, ratio=level), bl.psi_2(c.joint, ratio=level))


@says(
    "Section III",
    "psi_1 is at most P{l > eps}; psi_2 is a maximum over events.",
    part="forms",
    cases=Cases(),
)
def section_3_forms(c: Case) -> Iterator[Any]:
    """psi_1 against the tail, and psi_2 against every event in Fractions."""
    level = c.level
    yield at_most(bl.psi_1(c.joint, ratio=level), tail(c, level))
    every = [
        sum((c.rows[x][y] - level * c.marginal[y] for y in e), F(0))
        for x in c.secrets
        for e in events(c)
    ]
    yield same(bl.psi_2(c.joint, ratio=level), max(F(0), *every))


@says(
    "Section III",
    "psi_2 and P{l > eps}: neither bounds the other; 1/20, 1/10, 13/90.",
    part="psi-2",
)
def section_3() -> Iterator[Any]:
    """Both of Example 2 at log 10/9 and at log 3."""
    joint = example_2_joint()
    case = Case([F(1, 4)] * 4, [[F(v) for v in row] for row in joint.mechanism.matrix.tolist()])
    for level, truth in ((F(10, 9), F(13, 90)), (F(3), F(1, 20))):
        yield same(bl.psi_2(joint, ratio=level), truth)
        yield same(tail(case, level), TENTH)


@says("Example 3", "The quantiles of Example 2 at 1/10 are log 10/9 and log 4.")
def example_3() -> Iterator[Any]:
    """Both quantiles."""
    found = eb.quantiles(example_2_joint(), TENTH)
    yield same(found.good, F(10, 9))
    yield same(found.bad, 4)


@says("Figure 1", "The distribution of the leakage of Example 2 has a gap at 1 - delta.")
def figure_1() -> Iterator[Any]:
    """The distribution function on both sides of its jumps."""
    ell = bl.pml(example_2_joint())
    for t, truth in ((0.1, 0), (0.11, F(9, 10)), (1.38, F(9, 10)), (1.39, 1)):
        yield same(ell.cdf(t), truth)


@says(
    "Section IV",
    "The map delta -> eps_Z(delta) is left-continuous.",
    part="continuity",
    errata=(11,),
    reads="right-continuous, as the draft itself says before; eps-bar_Z is "
    "left-continuous: a bar is missing",
)
def left_quantile() -> Iterator[Any]:
    """Example 2 at 1/10: the value from the left is log 4, the value itself log 10/9."""
    joint = example_2_joint()
    near = eb.quantiles(joint, TENTH - F(1, 10**9))
    assert same(eb.quantiles(joint, TENTH).bad, near.bad).holds
    yield same(near.good, eb.quantiles(joint, TENTH).good)


@says(
    "Section IV",
    "The right quantile is the largest minimum over sets of probability delta.",
    part="right-quantile",
    cases=Cases(),
)
def section_4(c: Case) -> Iterator[Any]:
    """Both forms, over every event."""
    tops = {y: max(c.density(x, y) for x in c.secrets) for y in c.outcomes}
    bad = [e for e in events(c) if sum((c.marginal[y] for y in e), F(0)) >= c.delta]
    yield same(eb.quantiles(c.joint, c.delta).bad, max(min(tops[y] for y in e) for e in bad))


NEAR = 1 - F(1, 10**5)
"""How near to its supremum, as a share, a quantile after the best post-processing comes."""


@says("Theorem 2", "Both quantiles, over all post-processings, give the envelope.", cases=FEW)
def theorem_2(c: Case) -> Iterator[Any]:
    """Both quantiles of a random post-processing are at most the envelope, of the best near it."""
    env = bl.envelope(c.joint)
    found, at = env(c.delta), eb.quantiles(c.released, c.delta)
    yield up_to(at.good, found)
    yield up_to(at.bad, found)
    yield up_to(at.good, at.bad)
    best = c.prior * (best_post(found.witness, len(c.rows[0])) @ c.mechanism)
    near = eb.quantiles(best, c.delta * NEAR)  # both: the left one where delta is a little less
    yield up_to(ratio(found) * NEAR, near.bad)
    yield up_to(ratio(found) * NEAR, near.good)


def best_post(witness: Any, m: int) -> bl.Mechanism:
    """Return the post-processing of a witness of the envelope, with a letter for the rest."""
    letters = [dict(shares) for shares in witness["post_processing"].values()]
    rows = [[F(letter.get(y, 0)) for letter in letters] for y in range(m)]
    return bl.Mechanism.from_matrix([[*row, max(F(0), 1 - sum(row))] for row in rows])


@says(
    "Theorem 2",
    "The left quantile comes up to the envelope too, which is log 4 in Example 2 up to 1/10.",
    part="left",
)
def theorem_2_left() -> Iterator[Any]:
    """Example 2 at 1/10: the left quantile after merging a share eta of a good outcome."""
    joint = example_2_joint()
    env = bl.envelope(joint)(TENTH)
    yield from (same(bl.envelope(joint)(delta), 4) for delta in (F(1, 1000), F(1, 20), TENTH))
    for eta in (F(1, 10), F(1, 1000)):
        shared = joint.prior * (eb.h_eta(joint.mechanism, bad=1, good=3, eta=eta) @ joint.mechanism)
        yield below(F(10, 9), eb.quantiles(shared, TENTH).good)
        yield at_most(eb.quantiles(shared, TENTH).good, env)


@says("Corollary 1", "The envelope is continuous on (0, 1).", cases=FEW)
def corollary_1(c: Case) -> Iterator[Any]:
    """eps_c at a delta and at two smaller ones: it falls, by the log of their ratio at most."""
    env = bl.envelope(c.joint)
    last = ratio(env(c.delta))
    for share in (HALF, F(999, 1000)):
        first = ratio(env(c.delta * share))
        yield up_to(last, first)
        slow = up_to(first, last / share)
        yield slow
        yield Sharper(slow.holds, "eps_c is 1-Lipschitz in log delta")


@says("Theorem 3", "eps_c(delta) <= min(L + log 1/delta, eps).", cases=FEW)
def theorem_3(c: Case) -> Iterator[Any]:
    """The envelope against the bound; tail leakage, between the two, where it is strictly less."""
    found, stated = bl.envelope(c.joint)(c.delta), eb.upper_bound(c.joint, c.delta)
    closed = bl.tail_leakage(c.joint, c.delta)
    yield up_to(found, stated)
    yield up_to(closed, stated)
    yield up_to(found, closed)
    yield Sharper(
        below(closed, stated).holds,
        "the tail leakage bounds the envelope, and is below the stated bound on some joints; "
        "the envelope itself is computed, as a linear programme",
        always=False,
    )


@says("Section IV-B", "The envelope is at least the right quantile and the binary one.", cases=FEW)
def section_4_b(c: Case) -> Iterator[Any]:
    """Both lower bounds against the envelope."""
    found = bl.envelope(c.joint)(c.delta)
    yield up_to(eb.quantiles(c.joint, c.delta).bad, found)
    yield up_to(bl.binary_envelope(c.joint)(c.delta), found)


@says(
    "Algorithm 1",
    "It computes (22), the worst leakage of an event of probability delta.",
    cases=Cases(),
)
def algorithm_1(c: Case) -> Iterator[Any]:
    """The algorithm in Fractions against event maximal leakage, and against every event.

    For one secret the worst event has every outcome whole or not at all, but one.
    """
    found = algorithm(c, c.delta)
    yield same(bl.event_maximal_leakage(c.joint, delta=c.delta), found)
    yield same(found, max(split_events(c, c.delta)))


def split_events(c: Case, delta: F) -> Iterator[F]:
    """Yield e to the leakage of every event of probability delta or more, one outcome split."""
    for event in events(c):
        mass = sum((c.marginal[y] for y in event), F(0))
        if mass >= delta:
            yield event_leakage(c, event)
        for y in event:
            share = 1 - (mass - delta) / c.marginal[y]
            if 0 < share < 1:
                for x in c.secrets:
                    got = sum((c.rows[x][k] for k in event), F(0)) - (1 - share) * c.rows[x][y]
                    yield got / delta


def algorithm(c: Case, delta: F) -> F:
    """Return e to what Algorithm 1 gives: outcomes by falling density, the last one split."""
    found = F(0)
    for x in c.secrets:
        mass = got = F(0)
        for y in sorted(c.outcomes, key=lambda y: -c.density(x, y)):
            zeta = min(F(1), (delta - mass) / c.marginal[y])
            mass, got = mass + zeta * c.marginal[y], got + zeta * c.rows[x][y]
        found = max(found, got / delta)
    return found


@says(
    "Algorithm 1",
    "It computes the binary envelope (13).",
    part="binary",
    errata=(4,),
    reads="(22); it is (13) for delta <= 1/2 only",
)
def algorithm_1_binary() -> Iterator[Any]:
    """X a fair bit, Y = X: the algorithm against the binary envelope, at 2/5 and at 9/10."""
    bit = Case([HALF, HALF], [[F(1), F(0)], [F(0), F(1)]])
    for delta in (F(2, 5), F(9, 10)):
        yield same(bl.binary_envelope(bit.joint)(delta), algorithm(bit, delta))


@says(
    "Algorithm 1",
    "Mended: it computes (13) for delta <= 1/2, and is never above it.",
    part="mended",
    cases=Cases(),
    errata=(4,),
)
def algorithm_1_mended(c: Case) -> Iterator[Any]:
    """The algorithm in Fractions against the binary envelope, at a delta below 1/2 and at any."""
    yield same(bl.binary_envelope(c.joint)(c.delta / 2), algorithm(c, c.delta / 2))
    yield up_to(algorithm(c, c.delta), bl.binary_envelope(c.joint)(c.delta))


@says("Theorem 4", "The envelope of an extremal mechanism is eps at every delta.", cases=FEW)
def theorem_4(c: Case) -> Iterator[Any]:
    """The envelope of the extremal mechanism of a prior at two of its levels and deltas."""
    room = c.least / (1 - c.least)
    for share in (c.delta, 1 - c.delta):
        level = 1 + share * room
        yield same(bl.envelope(extremal(c.p, level))(1 - share), level)


class Response:
    """Randomised response of a level under a prior, as Theorem 5 writes it."""

    def __init__(self, p: list[F], level: F):
        self.k = len(p)
        self.alpha, self.beta = level / (level + self.k - 1), 1 / (level + self.k - 1)
        self.p = sorted(p)
        self.q = [self.beta + (self.alpha - self.beta) * v for v in self.p]
        self.joint = bl.pmf(p) * bl.mechanisms.randomized_response(k=self.k, ratio=level)

    @classmethod
    def of(cls, c: Case) -> Response:
        """Return that of a random level under the prior of a case."""
        return cls(c.p, 1 + F(int(c.rng.integers(1, 12)), 4))

    def index(self, delta: F) -> tuple[int, F]:
        """Return N and theta."""
        n = next(n for n in range(1, self.k + 1) if sum(self.q[:n]) >= delta)
        return n, (delta - sum(self.q[: n - 1], F(0))) / self.q[n - 1]

    def upper(self, delta: F) -> F:
        """Return e to the bound of (ii)."""
        return min(self.k * self.alpha / delta, self.alpha / self.q[0])

    def lower(self, delta: F) -> F | None:
        """Return e to h_delta(theta), piece by piece; None where the condition of (iii) fails."""
        n, theta = self.index(delta)
        alpha, beta, q = self.alpha, self.beta, self.q
        head, last, before = sum(q[: n - 1], F(0)), q[n - 1], q[n - 2]
        if self.p[n - 1] > (alpha * sum(self.p[: n - 1]) + beta) / ((n - 2) * alpha + beta):
            return None
        one = ((n - 2) * before - sum(q[: n - 2], F(0))) * alpha / (alpha * last - beta * before)
        two = ((n - 1) * last - head) * alpha / (last * (alpha - beta))
        if theta <= one:
            return alpha / before
        return ((n - 1) * alpha + theta * beta) / delta if theta <= two else alpha / last


@says("Theorem 5", "The envelope of k-RR is log alpha/q_1 up to q_1.", part="i", cases=FEW)
def theorem_5_i(c: Case) -> Iterator[Any]:
    """The envelope of randomised response at q_1 and at a share of it, in exact ratios."""
    made = Response.of(c)
    env = bl.envelope(response(c.p, made.alpha / made.beta))
    yield from (same(env(made.q[0] * s), made.alpha / made.q[0]) for s in (c.delta, F(1)))


@says(
    "Theorem 5",
    "Beyond q_1 it is at most min(log k alpha/delta, log alpha/q_1).",
    part="ii",
    cases=FEW,
)
def theorem_5_ii(c: Case) -> Iterator[Any]:
    """The envelope of randomised response at a delta beyond q_1, against the bound in Fractions."""
    made = Response.of(c)
    delta = made.q[0] + c.delta * (1 - made.q[0])
    yield up_to(bl.envelope(made.joint)(delta), made.upper(delta))
    yield same(eb.randomized_response_bounds(made.joint, delta).upper, made.upper(delta))


@says(
    "Theorem 5",
    "Under a condition on the prior the envelope is at least h_delta(theta).",
    part="iii",
    cases=FEW,
    errata=(11,),
)
def theorem_5_iii(c: Case) -> Iterator[Any]:
    """The bound in Fractions against the envelope beyond q_1, where the condition holds."""
    made = Response.of(c)
    delta = made.q[0] + c.delta * (1 - made.q[0])
    stated, found = made.lower(delta), bl.envelope(made.joint)(delta)
    yield (stated is None) == (eb.randomized_response_bounds(made.joint, delta).lower is None)
    if stated is not None:
        yield up_to(stated, found)
        yield same(eb.randomized_response_bounds(made.joint, delta).lower, stated)
        yield Sharper(same(stated, found).holds, "the lower bound is the envelope itself")


@says(
    "Theorem 5",
    "The channel W of its proof, which sends N to N with probability theta, and to nothing else.",
    part="proof",
    errata=(11,),
    reads="W sends N to N + 1 with probability 1 - theta",
)
def theorem_5_proof() -> Iterator[Any]:
    """The row of N for three secrets at delta = 1/2: it must have the sum 1, as in a channel."""
    q = response([F(1, 5), F(3, 10), HALF], F(2)).marginal.probabilities.tolist()
    theta = (HALF - q[0]) / q[1]
    assert q[0] + theta * q[1] == HALF and 0 < theta < 1
    yield same(theta, 1)


def after_w(delta: F) -> tuple[Joint, Joint, Any]:
    """Return randomised response of three secrets, its joint after W (N = 2), and e^l(X -> N)."""
    joint = response([F(1, 5), F(3, 10), HALF], F(2))
    q = joint.marginal.probabilities.tolist()
    theta = (delta - q[0]) / q[1]
    w = bl.Mechanism.from_matrix([[1, 0, 0], [0, theta, 1 - theta], [0, 0, 1]])
    return joint, joint.prior * (w @ joint.mechanism), joint.mechanism.matrix[1, 1] / q[1]


@says(
    "Theorem 5",
    "The right quantile of W is the envelope, as its proof writes.",
    part="proof-equality",
    scope="one prior, one delta",
    errata=(24,),
    reads="at most the envelope; so for Z",
)
def theorem_5_proof_equality() -> Iterator[Any]:
    """Three secrets at delta = 1/3: the quantile of W, the rest of N sent to N + 1, against it."""
    joint, shared, least = after_w(F(1, 3))
    found = eb.quantiles(shared, F(1, 3)).bad
    assert same(found, least).holds
    yield same(found, bl.envelope(joint)(F(1, 3)))


@says(
    "Theorem 5",
    "The left quantile of W is at least log alpha/q_N, as the third regime of its proof writes.",
    part="proof-bar",
    scope="one prior, one delta",
    errata=(24,),
    reads="the right quantile, eps-bar_W, is: a bar is missing",
)
def theorem_5_proof_bar() -> Iterator[Any]:
    """Three secrets at delta = 2/5: both quantiles of W, the rest of N sent to N + 1."""
    _, shared, least = after_w(F(2, 5))
    assert same(eb.quantiles(shared, F(2, 5)).bad, least).holds
    yield at_most(least, eb.quantiles(shared, F(2, 5)).good)


@says(
    "Figure 2", "Bounds on the envelope of k-RR for four priors.", scope="4 panels, 3 levels each"
)
def figure_2() -> Iterator[Any]:
    """The rows of `borel reproduce envelopes`: the lower bound is the envelope."""
    rows = envelopes.figure_2()
    yield from (row.agrees for row in rows)
    met = all(row.agrees for row in rows)
    yield Sharper(met, "the lower bound of Theorem 5(iii) is the envelope on all four panels")


@says(
    "Figure 2",
    "The (eps, delta)-LDP curves of k-RR.",
    part="ldp",
    scope="4 panels, 4 levels each, every two secrets",
)
def figure_2_ldp() -> Iterator[Any]:
    """The guarantee just above e^eps = max(1, (alpha - delta)/beta), and none just below it."""
    near = F(1, 10**6)
    for joint in envelopes.panels().values():
        for delta in (F(1, 100), *envelopes.DELTAS):
            level = envelopes.ldp_ratio(joint, delta)
            yield joint.satisfies(g.ApproximateDP(ratio=level * (1 + near), delta=delta))
            if level > 1:
                under = g.ApproximateDP(ratio=level * (1 - near), delta=delta)
                yield joint.satisfies(under).holds is False


@says(
    "Appendix A",
    "A random post-processing is a deterministic one of a mechanism of the same reduced form.",
    part="equivalence",
    cases=Cases(),
)
def appendix_a(c: Case) -> Iterator[Any]:
    """PML of Z against the leakage of events of pairs (Y, Z); both reduced mechanisms."""
    share = [[F(v) for v in row] for row in c.post.matrix.tolist()]
    k = len(share[0])
    split = Case(c.p, [[row[y] * v for y, s in enumerate(share) for v in s] for row in c.rows])
    for z in range(k):
        pairs = [y * k + z for y in c.outcomes if share[y][z]]
        if pairs:
            yield same(bl.pml(c.released)(z), event_leakage(split, pairs))
    one, other = (
        sorted(zip(*g.reduced(case.mechanism).matrix.tolist(), strict=True)) for case in (c, split)
    )
    yield one == other


@says("Appendix A", "The reduced mechanism of Example 2 has three outcomes.", part="reduced")
def appendix_a_reduced() -> Iterator[Any]:
    """Its matrix against the printed one."""
    fifth = F(1, 5)
    printed = [[0, 0, 1], [0, 0, 1], [0, fifth, 1 - fifth], [fifth, 0, 1 - fifth]]
    yield g.reduced(example_2_joint().mechanism).matrix.tolist() == printed


@says("Lemma 1", "0 <= l(E) <= log 1/P(E).", part="i", cases=Cases())
def lemma_1_i(c: Case) -> Iterator[Any]:
    """Event maximal leakage of every event."""
    for event in events(c):
        found = bl.event_maximal_leakage(c.joint, event=list(event))
        yield same(found, event_leakage(c, event))
        yield at_most(1, found)
        yield at_most(found, 1 / sum((c.marginal[y] for y in event), F(0)))


@says("Lemma 1", "The whole alphabet leaks nothing.", part="ii", cases=Cases())
def lemma_1_ii(c: Case) -> Iterator[Any]:
    """Event maximal leakage of all outcomes."""
    yield same(bl.event_maximal_leakage(c.joint, event=c.outcomes), 1)


@says(
    "Lemma 1",
    "A union leaks at most what one of two disjoint events does.",
    part="iii",
    cases=Cases(),
)
def lemma_1_iii(c: Case) -> Iterator[Any]:
    """Every two disjoint events."""
    for one in events(c):
        for other in events(c):
            if not set(one) & set(other):
                both = event_leakage(c, one + other)
                yield at_most(both, max(event_leakage(c, one), event_leakage(c, other)))


@says(
    "Lemma 1",
    "An event has sub-events of every smaller probability that leak as much.",
    part="iv",
    cases=Cases(),
)
def lemma_1_iv(c: Case) -> Iterator[Any]:
    """Sub-events of three sizes, an outcome split, by falling information density."""
    for event, part in product(events(c), (TENTH, HALF, F(99, 100))):
        size = part * sum((c.marginal[y] for y in event), F(0))
        x = max(c.secrets, key=lambda x: sum((c.rows[x][y] for y in event), F(0)))
        room, got = size, F(0)
        for y in sorted(event, key=lambda y: -c.density(x, y)):
            share = min(F(1), room / c.marginal[y])
            room, got = room - share * c.marginal[y], got + share * c.rows[x][y]
        yield at_most(event_leakage(c, event), got / size)


def three_outcomes() -> Joint:
    """Return the joint of Examples 4 and 5."""
    n = F(9, 10)
    return bl.pmf([HALF] * 2) * bl.Mechanism.from_matrix(
        [[n, 0, TENTH], [0, n, TENTH]], outcome=[1, 2, 3]
    )


@says("Example 4", "A union may leak less than both events: log 2, log 2, 0.")
def example_4() -> Iterator[Any]:
    """The three figures."""
    joint = three_outcomes()
    for event, truth in (([1], 2), ([2], 2), ([1, 2], 1)):
        yield same(bl.event_maximal_leakage(joint, event=event), truth)


@says("Example 5", "Event leakage is not monotone: 0, log 1/0.55, log 2.")
def example_5() -> Iterator[Any]:
    """The three figures, and their order."""
    joint = three_outcomes()
    small, both, large = (bl.event_maximal_leakage(joint, event=e) for e in ([3], [1, 3], [1]))
    yield from (same(small, 1), same(both, F(20, 11)), same(large, 2))
    yield from (below(small, both), below(both, large))


@says(
    "Lemma 2",
    "The left quantile is the least maximum over sets of probability 1 - delta.",
    cases=Cases(),
)
def lemma_2(c: Case) -> Iterator[Any]:
    """Both forms, over every event."""
    tops = {y: max(c.density(x, y) for x in c.secrets) for y in c.outcomes}
    good = [e for e in events(c) if sum((c.marginal[y] for y in e), F(0)) >= 1 - c.delta]
    yield same(eb.quantiles(c.joint, c.delta).good, min(max(tops[y] for y in e) for e in good))
