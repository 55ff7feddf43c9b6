"""The statements of the draft "Information Leakage Envelopes", judged."""

# ruff: noqa: D401 - the docstring of a check names what it compares
from __future__ import annotations

from fractions import Fraction as F
from typing import TYPE_CHECKING, Any

import borel as bl
from borel.claims import envelopes
from borel.claims.cases import Case, Cases
from borel.claims.envelopes import example_2_joint
from borel.claims.judging import Paper, Sharper
from borel.claims.pmc_paper import extremal, response
from borel.claims.pml_paper import event_leakage, events
from borel.claims.spans import at_most, below, ratio, same, up_to

if TYPE_CHECKING:
    from collections.abc import Iterator

    from borel.probability.joint import Joint

PAPER = Paper("envelopes", "Information Leakage Envelopes (anonymous draft)")
says = PAPER.says
eb, g = bl.envelope_bounds, bl.guarantees
HALF, TENTH = F(1, 2), F(1, 10)
FEW = Cases(30)
"""For claims about the envelope, a linear programme on each joint."""


def merged(joint: Joint) -> Joint:
    """Return Example 2 after its post-processing: outcomes 1 and 3 in one, 2 and 4 in the other."""
    return joint.prior * joint.mechanism.push(lambda y: 1 if y in (1, 3) else 2, outcome=[1, 2])


@says("Example 1", "Probabilistic DP is not closed under post-processing.")
def example_1() -> Iterator[Any]:
    """Privacy losses, and both guarantees before and after merging, at e^eps = 3, delta = 1/10."""
    keep = (1 - TENTH) / 4
    rows = [[TENTH, 3 * keep, keep, 0], [0, keep, 3 * keep, TENTH]]
    joint = bl.pmf([HALF] * 2) * bl.Mechanism.from_matrix(rows)
    after = joint.prior * joint.mechanism.push(lambda y: max(y, 1), outcome=[1, 2, 3])
    guarantee = g.ProbabilisticDP(ratio=3, delta=TENTH)
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
    "Section III",
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


@says("Theorem 2", "Both quantiles, over all post-processings, give the envelope.", cases=FEW)
def theorem_2(c: Case) -> Iterator[Any]:
    """Both quantiles of a random post-processing, against the envelope."""
    env = bl.envelope(c.joint)
    found, at = env(c.delta), eb.quantiles(c.released, c.delta)
    yield up_to(at.good, found)
    yield up_to(at.bad, found)
    yield up_to(at.good, at.bad)


@says("Theorem 2", "The left quantile comes up to the envelope too.", part="left")
def theorem_2_left() -> Iterator[Any]:
    """Example 2 at 1/10: the left quantile after merging a share eta of a good outcome."""
    joint = example_2_joint()
    env = bl.envelope(joint)(TENTH)
    yield same(env, 4)
    for eta in (F(1, 10), F(1, 1000)):
        shared = joint.prior * (eb.h_eta(joint.mechanism, bad=1, good=3, eta=eta) @ joint.mechanism)
        yield below(F(10, 9), eb.quantiles(shared, TENTH).good)
        yield at_most(eb.quantiles(shared, TENTH).good, env)


@says("Corollary 1", "The envelope is continuous on (0, 1).", cases=FEW)
def corollary_1(c: Case) -> Iterator[Any]:
    """eps_c at delta and at delta/2: it falls, by log 2 at most."""
    env = bl.envelope(c.joint)
    first, second = ratio(env(c.delta / 2)), ratio(env(c.delta))
    yield up_to(second, first)
    yield Sharper(
        up_to(first, 2 * second).holds,
        "eps_c is 1-Lipschitz in log delta",
    )


@says("Theorem 3", "eps_c(delta) <= min(L + log 1/delta, eps).", cases=FEW)
def theorem_3(c: Case) -> Iterator[Any]:
    """The envelope against the bound; tail leakage, between the two, where it is strictly less."""
    found, stated = bl.envelope(c.joint)(c.delta), eb.upper_bound(c.joint, c.delta)
    tail = bl.tail_leakage(c.joint, c.delta)
    yield up_to(found, stated)
    yield up_to(tail, stated)
    yield up_to(found, tail)
    yield Sharper(
        below(tail, stated).holds,
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
    """The algorithm in Fractions against event maximal leakage."""
    yield same(bl.event_maximal_leakage(c.joint, delta=c.delta), algorithm(c, c.delta))


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


@says("Theorem 4", "The envelope of an extremal mechanism is eps at every delta.", cases=FEW)
def theorem_4(c: Case) -> Iterator[Any]:
    """The envelope of the extremal mechanism of a prior at two of its levels and deltas."""
    room = c.least / (1 - c.least)
    for share in (c.delta, 1 - c.delta):
        level = 1 + share * room
        yield same(bl.envelope(extremal(c.p, level))(1 - share), level)


def drawn_response(c: Case) -> Joint:
    """Return randomised response of a random level under the prior of a case."""
    level = 1 + F(int(c.rng.integers(1, 12)), 4)
    return c.prior * bl.mechanisms.randomized_response(k=len(c.p), ratio=level)


@says("Theorem 5", "The envelope of k-RR is log alpha/q_1 up to q_1.", part="i", cases=FEW)
def theorem_5_i(c: Case) -> Iterator[Any]:
    """The envelope of randomised response at a share of q_1, in exact ratios."""
    level = 1 + F(int(c.rng.integers(1, 12)), 4)
    joint = response(c.p, level)
    q = min(joint.marginal.probabilities.tolist())
    yield same(bl.envelope(joint)(q * c.delta), level / (len(c.p) - 1 + level) / q)


@says(
    "Theorem 5",
    "Beyond q_1 it is at most min(log k alpha/delta, log alpha/q_1).",
    part="ii",
    cases=FEW,
)
def theorem_5_ii(c: Case) -> Iterator[Any]:
    """The envelope of randomised response at a delta, against the bound."""
    joint = drawn_response(c)
    stated = eb.randomized_response_bounds(joint, c.delta).upper
    yield up_to(bl.envelope(joint)(c.delta), stated)


@says(
    "Theorem 5",
    "Under a condition on the prior the envelope is at least h_delta(theta).",
    part="iii",
    cases=FEW,
    errata=(11,),
)
def theorem_5_iii(c: Case) -> Iterator[Any]:
    """The lower bound against the envelope, on random priors where the condition holds."""
    joint = drawn_response(c)
    bounds = eb.randomized_response_bounds(joint, c.delta)
    if bounds.lower is not None:
        found = bl.envelope(joint)(c.delta)
        yield up_to(bounds.lower, found)
        yield Sharper(same(bounds.lower, found).holds, "the lower bound is the envelope itself")


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
    """The sub-event of half the probability, an outcome split, by falling information density."""
    for event in events(c):
        size = sum((c.marginal[y] for y in event), F(0))
        x = max(c.secrets, key=lambda x: sum((c.rows[x][y] for y in event), F(0)))
        room, got = size / 2, F(0)
        for y in sorted(event, key=lambda y: -c.density(x, y)):
            share = min(F(1), room / c.marginal[y])
            room, got = room - share * c.marginal[y], got + share * c.rows[x][y]
        yield at_most(event_leakage(c, event), got / (size / 2))


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
