"""The statements of "Pointwise Maximal Leakage", judged."""

# ruff: noqa: D401 - the docstring of a check names what it compares
from __future__ import annotations

import math
from fractions import Fraction as F
from itertools import chain, combinations
from typing import TYPE_CHECKING, Any

from flint import arb

import borel as bl
from borel.claims.cases import JOINTS, POSITIVE, Case, Cases, product
from borel.claims.judging import Paper
from borel.claims.pmc_paper import composition
from borel.claims.spans import Span, at_most, ball, below, largest, ratio, same, up_to, value

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from borel.probability.joint import Joint

PAPER = Paper("pml", "Pointwise Maximal Leakage")
says = PAPER.says
adv, g = bl.adversaries, bl.guarantees
THIRD, SIXTH, HALF = F(1, 3), F(1, 6), F(1, 2)


def example_5_joint() -> Joint:
    """Return the prior and the mechanism of Example 5."""
    rows = [
        [0, 0, HALF, HALF],
        [0, 0, HALF, HALF],
        [0, THIRD, THIRD, THIRD],
        [THIRD, 0, THIRD, THIRD],
    ]
    return bl.pmf([F(1, 4)] * 4) * bl.Mechanism.from_matrix(rows)


def example_5_merged() -> Joint:
    """Return the joint of Example 5 after its post-processing."""
    joint = example_5_joint()
    merge = bl.Mechanism.from_matrix([[1, 0], [0, 1], [1, 0], [0, 1]])
    return joint.prior * (merge @ joint.mechanism)


def events(case: Case) -> Iterable[tuple[int, ...]]:
    """Return every event of charged outcomes but the empty one."""
    ys = case.outcomes
    return chain.from_iterable(combinations(ys, k) for k in range(1, len(ys) + 1))


def event_leakage(case: Case, event: Iterable[int]) -> F:
    """Return e to the leakage of an event, from its definition."""
    event = list(event)
    mass = sum((case.marginal[y] for y in event), F(0))
    return max(sum((case.rows[x][y] for y in event), F(0)) / mass for x in case.secrets)


def worst_event(case: Case, delta: F) -> F:
    """Return the largest leakage of an outcome of mass delta or more, by (19): fill, then split."""
    best = F(0)
    for x in case.secrets:
        room, got = delta, F(0)
        for y in sorted(case.outcomes, key=lambda y: -case.density(x, y)):
            share = min(F(1), room / case.marginal[y])
            room, got = room - share * case.marginal[y], got + share * case.rows[x][y]
        best = max(best, got / delta)
    return best


# -- leakage --------------------------------------------------------------------------------


@says(
    "Section I",
    "Two channels of three secrets have maximal leakage log 2; an outcome of one tells the secret, "
    "and all of the other leak the same.",
    part="channels",
)
def section_1() -> Iterator[Any]:
    """Maximal leakage of both, and PML at every outcome, under the uniform prior."""
    prior, telling = bl.pmf([THIRD] * 3), [[1, 0, 0], [HALF, HALF, 0], [0, HALF, HALF]]
    first = prior * bl.Mechanism.from_matrix(telling)
    second = prior * bl.mechanisms.randomized_response(k=3, ratio=F(4))
    yield from (same(bl.maximal_leakage(j), 2) for j in (first, second))
    yield same(bl.pml(first)(2), 3)
    yield from (below(bl.pml(first)(y), 3) for y in (0, 1))
    yield from (same(bl.pml(second)(y), 2) for y in range(3))


@says("Theorem 1", "PML is the largest ratio of posterior and prior.", cases=JOINTS)
def theorem_1(c: Case) -> Iterator[Any]:
    """PML against Fractions; a random function leaks no more, and a witness as much."""
    for y in c.outcomes:
        found = bl.pml(c.joint)(y)
        yield same(found, max(c.posterior(y)[x] / c.p[x] for x in c.secrets))
        yield at_most(adv.function_leakage(c.joint, c.attribute, y), found)
        yield adv.witness(c.joint, y, of="pml").verify()


@says(
    "Remark 1", "PML as ratios, as a divergence, as the largest information density.", cases=JOINTS
)
def remark_1(c: Case) -> Iterator[Any]:
    """The four forms, against each other."""
    for y in c.outcomes:
        found = bl.pml(c.joint)(y)
        yield same(found, bl.max_divergence(c.joint.posterior(y), c.prior))
        yield same(found, max(c.density(x, y) for x in c.secrets))
        yield same(found, largest(*(bl.information_density(c.joint)(x, y) for x in c.secrets)))


@says("Example 1", "The identity gain leaks max P(x|y) / max P(x).", cases=JOINTS)
def example_1(c: Case) -> Iterator[Any]:
    """Its leakage, and the dynamic min-entropy leakage, against Fractions."""
    for y in c.outcomes:
        truth = max(c.posterior(y)) / max(c.p)
        yield same(adv.g_leakage(c.joint, adv.gain.identity(), y), truth)
        yield same(bl.dynamic_min_entropy_leakage(c.joint, y), truth)


@says(
    "Equation 11",
    "The leakage of the identity gain is max P(x|y) / max P(x).",
    errata=(22,),
    reads="the logarithm of that, as (10) and Section II-D have it",
)
def equation_11() -> Iterator[Any]:
    """Both for a fair bit that is shown: log 2 against 2."""
    shown = bl.pmf([HALF] * 2) * bl.Mechanism.from_matrix([[1, 0], [0, 1]])
    yield same(value(adv.g_leakage(shown, adv.gain.identity(), 0)), 2)


@says("Example 2", "Membership, of one or of several with rewards, is a gain.", cases=JOINTS)
def example_2(c: Case) -> Iterator[Any]:
    """Guesses about two events with rewards 1 and 2, against Fractions; at most PML."""
    sets = [{0}, {0, 1}]
    gain = adv.gain.group_membership([lambda x, s=s: x in s for s in sets], rewards=[1, 2])

    def worth(q: list[F]) -> F:
        inside = [sum((q[x] for x in s), F(0)) for s in sets]
        return sum(r * max(v, 1 - v) for r, v in zip((1, 2), inside, strict=True))  # type: ignore[return-value]

    for y in c.outcomes:
        found = adv.g_leakage(c.joint, gain, y)
        yield same(found, worth(c.posterior(y)) / worth(c.p))
        yield at_most(found, bl.pml(c.joint)(y))


@says("Example 3", "Guessing in k tries is a gain.", cases=JOINTS)
def example_3(c: Case) -> Iterator[Any]:
    """Two tries, against Fractions; at most PML."""
    for y in c.outcomes:
        found = adv.g_leakage(c.joint, adv.gain.k_tries(2), y)
        yield same(found, sum(sorted(c.posterior(y))[-2:]) / sum(sorted(c.p)[-2:]))
        yield at_most(found, bl.pml(c.joint)(y))


@says("Example 4", "Coming near in a metric space is a gain.", cases=JOINTS)
def example_4(c: Case) -> Iterator[Any]:
    """The reward 1/(1 + distance), against Fractions; at most PML."""
    gain = adv.gain.metric(reward=lambda d: F(1) / (1 + d))

    def worth(q: list[F]) -> F:
        return max(
            sum((m / (1 + abs(x - w)) for x, m in enumerate(q)), F(0)) for w in range(len(q))
        )

    for y in c.outcomes:
        found = adv.g_leakage(c.joint, gain, y)
        yield same(found, worth(c.posterior(y)) / worth(c.p))
        yield at_most(found, bl.pml(c.joint)(y))


@says(
    "Theorem 2", "Gains and randomised functions are equivalent threats, both ways.", cases=JOINTS
)
def theorem_2(c: Case) -> Iterator[Any]:
    """Each construction, on a random gain and on a random function, at every outcome."""
    gain = adv.gain.table(c.priced())
    for y in c.outcomes:
        function = adv.function_of_gain(c.joint, gain, y)
        yield same(adv.function_leakage(c.joint, function, y), adv.g_leakage(c.joint, gain, y))
        yield same(
            adv.g_leakage(c.joint, adv.gain.guessing(c.attribute), y),
            adv.function_leakage(c.joint, c.attribute, y),
        )


@says("Corollary 1", "PML is the supremum over gain functions.", cases=JOINTS)
def corollary_1(c: Case) -> Iterator[Any]:
    """A random gain leaks no more than PML; the witness, a gain, attains it."""
    for y in c.outcomes:
        gain = adv.gain.table(c.priced())
        yield at_most(adv.g_leakage(c.joint, gain, y), bl.pml(c.joint)(y))
        yield adv.witness(c.joint, y, of="pml", as_="gain").verify()


@says("Remark 2", "PML depends on the prior, unlike maximal leakage.")
def remark_2() -> Iterator[Any]:
    """PML and maximal leakage of one mechanism under two priors."""
    mech = bl.Mechanism.from_matrix([[F(3, 4), F(1, 4)], [F(1, 4), F(3, 4)]])
    fair, biased = (bl.pmf([p, 1 - p]) * mech for p in (HALF, F(1, 10)))
    yield same(bl.maximal_leakage(fair), bl.maximal_leakage(biased))
    yield below(bl.pml(fair)(0), bl.pml(biased)(0))


@says("Lemma 1", "0 <= PML <= -log p_min; when each is met.", part="1", cases=JOINTS)
def lemma_1_1(c: Case) -> Iterator[Any]:
    """Both bounds, and equality against its condition, at every outcome."""
    for y in c.outcomes:
        found, column = bl.pml(c.joint)(y), {c.rows[x][y] for x in c.secrets}
        yield at_most(1, found)
        yield at_most(found, 1 / c.least)
        yield same(found, 1).holds == (len(column) == 1)
        sure = any(c.p[x] == c.least and c.posterior(y)[x] == 1 for x in c.secrets)
        yield same(found, 1 / c.least).holds == sure


@says(
    "Lemma 1",
    "An independent outcome leaks 0, a deterministic one -log P_Y(y).",
    part="2",
    cases=JOINTS,
)
def lemma_1_2(c: Case) -> Iterator[Any]:
    """PML of equal rows, and of a random function of the secret."""
    nothing = c.prior * bl.Mechanism.from_matrix([c.marginal] * len(c.p))
    yield from (same(bl.pml(nothing)(y), 1) for y in c.outcomes)
    image = [int(v) for v in c.rng.integers(0, 2, len(c.p))]
    made = Case(c.p, [[F(y == image[x]) for y in range(2)] for x in range(len(c.p))])
    yield from (same(bl.pml(made.joint)(y), 1 / made.marginal[y]) for y in made.outcomes)


@says(
    "Lemma 1",
    "Pre-processing: a function of Y leaks no more about X than about Y.",
    part="3",
    cases=JOINTS,
)
def lemma_1_3(c: Case) -> Iterator[Any]:
    """PML about the first letter of a chain against the second; equality where it is stated."""
    about_first, about_second = c.before
    start, onwards = c.chain
    first, second = Case(start.p, product(start.rows, onwards)), Case(start.marginal, onwards)
    for y in range(len(c.rows[0])):
        yield at_most(bl.pml(about_first)(y), bl.pml(about_second)(y))
        if y in second.outcomes:
            top = max(second.density(x, y) for x in second.secrets)
            best = max(first.secrets, key=lambda z: first.density(z, y))
            onto = [x for x in second.secrets if start.rows[best][x]]
            if all(second.density(x, y) == top for x in onto):
                yield same(bl.pml(about_first)(y), bl.pml(about_second)(y))


@says(
    "Lemma 1",
    "Post-processing: no outcome leaks more than the most revealing one.",
    part="4",
    cases=JOINTS,
)
def lemma_1_4(c: Case) -> Iterator[Any]:
    """PML of post-processed outcomes against the supremum; equality where it is stated."""
    most, after = bl.pml(c.joint).sup(), bl.pml(c.released)
    weights = [[F(v) for v in row] for row in c.post.matrix.tolist()]
    for z in range(len(weights[0])):
        yield at_most(after(z), most)
        sources = [y for y in c.outcomes if weights[y][z]]
        if len(sources) == 1 and same(bl.pml(c.joint)(sources[0]), most).holds:
            yield same(after(z), most)
    nothing = Case(c.p, [c.marginal] * len(c.p))
    yield same(bl.pml(nothing.prior * (c.post @ nothing.mechanism)).sup(), 1)


@says(
    "Lemma 1",
    "Where Z - X - Y, l(y|z) = max over supp P_X of i(x; y|z) = l(y) - i(y; z).",
    part="5",
    scope="one joint",
    errata=(3,),
    reads="the maximum over supp P_X|Z=z, less i(y; z)",
)
def lemma_1_5() -> Iterator[Any]:
    """Conditional PML against the stated maximum, for X a fair bit, Z = X, Y a noisy copy."""
    tenth = F(1, 10)
    bit = bl.pmf([HALF] * 2) * bl.Mechanism.from_matrix([[1 - tenth, tenth], [tenth, 1 - tenth]])
    found = bl.pml(bit, given=bl.Mechanism.from_matrix([[1, 0], [0, 1]]))
    yield same(found[0](1), (1 - tenth) / tenth)


@says(
    "Lemma 1",
    "Mended: l(y|z) = max over supp P_X|Z=z of i(x; y) - i(y; z).",
    part="5-mended",
    cases=JOINTS,
    errata=(3,),
)
def lemma_1_5_mended(c: Case) -> Iterator[Any]:
    """Conditional PML against Fractions."""
    side = Case(c.p, [[F(v) for v in row] for row in c.side.matrix.tolist()])
    found = bl.pml(c.joint, given=c.side)
    for z in side.outcomes:
        under = Case(side.posterior(z), c.rows)
        for y in under.outcomes:
            largest_one = max(c.density(x, y) for x in under.secrets)
            yield same(found[z](y), largest_one * c.marginal[y] / under.marginal[y])


@says(
    "Lemma 1",
    "Composition: the leakage of two outcomes is at most the sum; when that is met.",
    part="6",
    cases=JOINTS,
)
def lemma_1_6(c: Case) -> Iterator[Any]:
    """PML of pairs of outcomes of an adaptive release against the sum, and against the secrets."""
    yield from composition(c, bl.pml)
    both, alone = bl.pml(c.composed), bl.pml(c.joint)
    for y, (_, _, under) in zip(c.outcomes, _second_levels(c), strict=True):
        best = _likeliest(c, y)
        for z in under.outcomes:
            met = same(both((y, z)), ratio(alone(y)) * bl.pml(under.joint)(z)).holds
            yield met == bool(best & _likeliest(under, z))


def _likeliest(c: Case, y: int) -> set[int]:
    """Return the secrets whose information density with an outcome is the largest."""
    top = max(c.density(x, y) for x in c.secrets)
    return {x for x in c.secrets if c.density(x, y) == top}


@says("Remark 3", "Rarer outcomes of deterministic mechanisms leak more.", cases=JOINTS)
def remark_3(c: Case) -> Iterator[Any]:
    """PML of the two outcomes that tell whether X = 0."""
    made = Case(c.p, [[F(x == 0), F(x > 0)] for x in range(len(c.p))])
    if len(made.outcomes) == 2 and made.marginal[0] != made.marginal[1]:
        rare = int(made.marginal[1] < made.marginal[0])
        yield below(bl.pml(made.joint)(1 - rare), bl.pml(made.joint)(rare))


@says("Remark 4", "There is no pointwise post-processing inequality.", errata=(10,))
def remark_4() -> Iterator[Any]:
    """Z = Y: the outcome that leaks most leaks more than another."""
    ell = bl.pml(example_5_joint())
    yield below(ell(2), ell(0))


@says("Remark 5", "Side information raises and lowers PML: log 10/9, log 5/4, log 6/5.")
def remark_5() -> Iterator[Any]:
    """The three figures of the example, conditional ones by Z first and Y second."""
    first = bl.Mechanism.from_matrix([[F(2, 5), F(3, 5)], [F(3, 5), F(2, 5)]])
    rows = {0: [[HALF, HALF], [F(2, 3), THIRD]], 1: [[THIRD, F(2, 3)], [HALF, HALF]]}
    second = {z: bl.Mechanism.from_matrix(r) for z, r in rows.items()}
    joint = bl.pmf([HALF] * 2) * first.then(lambda z: second[int(z)])
    given = bl.pml(joint, given=0)
    yield same(given[0](0), F(10, 9))
    yield same(given[1](0), F(5, 4))
    alone = joint.prior * joint.mechanism.push(lambda pair: pair[1], outcome=bl.Finite(2))
    yield same(bl.pml(alone)(0), F(6, 5))


@says(
    "Section II-D", "Dynamic min-entropy leakage is at most PML, and may be negative.", cases=JOINTS
)
def dynamic(c: Case) -> Iterator[Any]:
    """Both at every outcome; and a negative one: evidence against the likelier secret."""
    for y in c.outcomes:
        yield at_most(bl.dynamic_min_entropy_leakage(c.joint, y), bl.pml(c.joint)(y))
    against = bl.Mechanism.from_matrix([[F(1, 4), F(3, 4)], [F(3, 4), F(1, 4)]])
    unsure = bl.pmf([F(3, 4), F(1, 4)]) * against
    yield same(bl.dynamic_min_entropy_leakage(unsure, 0), F(2, 3))


# -- guarantees -----------------------------------------------------------------------------


@says(
    "Lemma 2",
    "Every mechanism is eps_max-PML; when that is met; 0-PML is independence.",
    cases=JOINTS,
)
def lemma_2(c: Case) -> Iterator[Any]:
    """The supremum of PML against -log p_min, and against its conditions."""
    found = bl.pml(c.joint).sup()
    yield at_most(found, 1 / c.least)
    sure = any(c.p[x] == c.least and c.posterior(y)[x] == 1 for x in c.secrets for y in c.outcomes)
    yield same(found, 1 / c.least).holds == sure
    yield same(found, 1).holds == all(c.density(x, y) == 1 for x in c.secrets for y in c.outcomes)


@says(
    "Lemma 2",
    "eps_max is at least log 2.",
    part="log-2",
    errata=(6,),
    reads="for a prior of two secrets or more",
)
def lemma_2_one_point() -> Iterator[Any]:
    """A prior with one secret: the supremum of PML over every mechanism is 0."""
    joint = bl.pmf([F(1)]) * bl.Mechanism.from_matrix([[HALF, HALF]])
    yield at_most(2, bl.pml(joint).sup())


def tail(c: Case, level: F) -> F:
    """Return the probability that e to PML exceeds a level."""
    tops = {y: max(c.density(x, y) for x in c.secrets) for y in c.outcomes}
    return sum((c.marginal[y] for y, top in tops.items() if top > level), F(0))


def pml_levels(c: Case) -> Iterator[tuple[Span, F]]:
    """Yield the pairs (e^epsilon, delta) of tail guarantees that a joint just has."""
    for y in c.outcomes:
        level = max(c.density(x, y) for x in c.secrets)
        beyond = tail(c, level)
        assert c.joint.satisfies(g.PML(ratio=level, delta=beyond)).holds
        yield Span(level, level), beyond


@says("Definition 6", "Maximal leakage is the log of the mean of e^PML.", cases=JOINTS)
def definition_6(c: Case) -> Iterator[Any]:
    """Both figures, and the sum of the largest entries of the columns in Fractions."""
    found = bl.maximal_leakage(c.joint)
    yield same(found, sum(max(c.rows[x][y] for x in c.secrets) for y in c.outcomes))
    yield same(found, value(bl.pml(c.joint).exp_mean()))


@says("Lemma 3", "PML, with or without delta, bounds maximal leakage.", cases=JOINTS)
def lemma_3(c: Case) -> Iterator[Any]:
    """Maximal leakage against eps, and against log(e^eps + delta e^eps_max)."""
    found = bl.maximal_leakage(c.joint)
    yield at_most(found, bl.pml(c.joint).sup())
    yield from (at_most(found, level + delta / c.least) for level, delta in pml_levels(c))


@says(
    "Proposition 1",
    "PML and maximal leakage are closed; (eps, delta)-PML under pre-processing.",
    cases=JOINTS,
)
def proposition_1(c: Case) -> Iterator[Any]:
    """Suprema, tails and maximal leakage before and after random kernels on either side."""
    about_first, about_second = c.before
    yield at_most(bl.pml(about_first).sup(), bl.pml(about_second).sup())
    yield at_most(bl.pml(c.released).sup(), bl.pml(c.joint).sup())
    for level, delta in pml_levels(c):
        if about_second.satisfies(g.PML(ratio=level.lower, delta=delta)).holds:
            yield about_first.satisfies(g.PML(ratio=level.lower, delta=delta))
    yield at_most(bl.maximal_leakage(c.released), bl.maximal_leakage(c.joint))
    yield at_most(bl.maximal_leakage(about_first), bl.maximal_leakage(about_second))


@says("Example 5", "(eps, delta)-PML is not closed under post-processing: log 4, log 6/5, log 4/3.")
def example_5() -> Iterator[Any]:
    """PML at every outcome of both mechanisms; both tail guarantees."""
    ell, merged = bl.pml(example_5_joint()), example_5_merged()
    yield from (same(ell(y), 4 if y < 2 else F(6, 5)) for y in range(4))
    yield from (same(bl.pml(merged)(z), F(4, 3)) for z in range(2))
    low = g.PML(ratio=F(6, 5), delta=SIXTH)
    yield example_5_joint().satisfies(low)
    yield merged.satisfies(low).holds is False


@says("Section III", "Both eps and delta may rise by post-processing.", part="both")
def both_rise() -> Iterator[Any]:
    """Example 5: delta is 1/6 at log 6/5 before it, and 1 at log 5/4 after it."""
    yield same(bl.pml(example_5_joint()).tail(ratio=F(6, 5)), SIXTH)
    yield same(bl.pml(example_5_merged()).tail(ratio=F(5, 4)), 1)


@says(
    "Remark 6", "Probabilistic DP is not closed, and implies approximate DP.", scope="one mechanism"
)
def remark_6() -> Iterator[Any]:
    """Both guarantees of the mechanism of Example 1 of the envelope draft, before and after."""
    three, tenth = F(3), F(1, 10)
    keep = (1 - tenth) / 4
    rows = [[tenth, 3 * keep, keep, 0], [0, keep, 3 * keep, tenth]]
    joint = bl.pmf([HALF] * 2) * bl.Mechanism.from_matrix(rows)
    merged = joint.prior * joint.mechanism.push(lambda y: max(y, 1), outcome=[1, 2, 3])
    yield joint.satisfies(g.ProbabilisticDP(ratio=three, delta=tenth))
    yield joint.satisfies(g.ApproximateDP(ratio=three, delta=tenth))
    yield merged.satisfies(g.ProbabilisticDP(ratio=three, delta=tenth)).holds is False


@says("Remark 7", "Similar outcomes leak the same.", cases=JOINTS)
def remark_7(c: Case) -> Iterator[Any]:
    """Every outcome split in two parts, 1/3 and 2/3: PML of both parts."""
    rows = [[v * s for v in row for s in (THIRD, 2 * THIRD)] for row in c.rows]
    split = bl.pml(c.prior * bl.Mechanism.from_matrix(rows))
    yield from (same(split(2 * y), split(2 * y + 1)) for y in c.outcomes)
    yield from (same(split(2 * y), bl.pml(c.joint)(y)) for y in c.outcomes)


@says("Proposition 2", "Closedness is a property of the class of a mechanism.", cases=JOINTS)
def proposition_2(c: Case) -> Iterator[Any]:
    """Event maximal leakage of the reduced mechanism and of a split one."""
    found = bl.event_maximal_leakage(c.joint, delta=c.delta)
    rows = [[v * s for v in row for s in (THIRD, 2 * THIRD)] for row in c.rows]
    split = c.prior * bl.Mechanism.from_matrix(rows)
    yield same(bl.event_maximal_leakage(split, delta=c.delta), found)
    yield same(bl.event_maximal_leakage(c.prior * g.reduced(c.mechanism), delta=c.delta), found)


@says("Theorem 3", "(eps, delta)-closedness is (eps, delta)-EML; the formula (19).", cases=JOINTS)
def theorem_3(c: Case) -> Iterator[Any]:
    """EML against (19); no random post-processed outcome, and no event, exceeds it."""
    found = bl.event_maximal_leakage(c.joint, delta=c.delta)
    yield same(found, worst_event(c, c.delta))
    law_of_z = c.released.marginal.probabilities.tolist()
    for z, mass in enumerate(law_of_z):
        if mass >= c.delta:
            yield at_most(bl.pml(c.released)(z), found)
    for event in events(c):
        if sum(c.marginal[y] for y in event) >= c.delta:
            yield at_most(event_leakage(c, event), found)


@says("Remark 8", "A least private event of probability delta attains it.", cases=JOINTS)
def remark_8(c: Case) -> Iterator[Any]:
    """The outcomes that are likeliest under the secret of the witness, the last one split."""
    found = bl.event_maximal_leakage(c.joint, delta=c.delta)
    assert found.witness is not None
    x, room, got = found.witness["x"], c.delta, F(0)
    for y in sorted(c.outcomes, key=lambda y: -c.density(x, y)):
        share = min(F(1), room / c.marginal[y])
        room, got = room - share * c.marginal[y], got + share * c.rows[x][y]
    yield room == 0
    yield same(found, got / c.delta)


@says("Proposition 3", "EML is closed under pre- and post-processing.", cases=JOINTS)
def proposition_3(c: Case) -> Iterator[Any]:
    """EML before and after random kernels on either side."""
    first, second = c.before
    eml = bl.event_maximal_leakage
    yield at_most(eml(first, delta=c.delta), eml(second, delta=c.delta))
    yield at_most(eml(c.released, delta=c.delta), eml(c.joint, delta=c.delta))


@says("Example 6", "EML of Example 5 at 1/6 is log 12/5, and log 4/3 after post-processing.")
def example_6() -> Iterator[Any]:
    """Both figures, and how many outcomes the reduced mechanism has."""
    yield same(bl.event_maximal_leakage(example_5_joint(), delta=SIXTH), F(12, 5))
    yield same(bl.event_maximal_leakage(example_5_merged(), delta=SIXTH), F(4, 3))
    yield len(g.reduced(example_5_joint().mechanism).outcome.labels) == 3


@says("Remark 9", "EML is found by sorting the information densities of each secret.", cases=JOINTS)
def remark_9(c: Case) -> Iterator[Any]:
    """EML against the greedy filling in order, in Fractions."""
    yield same(bl.event_maximal_leakage(c.joint, delta=c.delta), worst_event(c, c.delta))


PAPER.cannot(
    "Remark 9",
    "The search takes O(n log n) steps for each secret.",
    "a growth rate is no figure of one mechanism",
    part="steps",
)


@says(
    "Section III", "EML does not imply PML: a binary symmetric channel, 34/30 at 0.6.", part="bsc"
)
def symmetric() -> Iterator[Any]:
    """EML at 3/5 and PML of crossover 2/5 under a fair bit."""
    far, near = F(2, 5), F(3, 5)
    joint = bl.pmf([HALF] * 2) * bl.Mechanism.from_matrix([[near, far], [far, near]])
    yield same(bl.event_maximal_leakage(joint, delta=near), F(34, 30))
    yield same(bl.pml(joint).sup(), F(6, 5))
    yield joint.satisfies(g.PML(ratio=F(34, 30), delta=near)).holds is False


@says(
    "Proposition 4",
    "EML implies (eps, delta)-PML if one secret maximises at all bad outcomes.",
    cases=JOINTS,
)
def proposition_4(c: Case) -> Iterator[Any]:
    """Every joint where the condition holds: the tail of PML beyond its EML, against delta."""
    level = bl.event_maximal_leakage(c.joint, delta=c.delta).ratio.upper
    tops = {y: max(c.density(x, y) for x in c.secrets) for y in c.outcomes}
    bad = [y for y in c.outcomes if tops[y] > level]
    if any(all(c.density(x, y) == tops[y] for y in bad) for x in c.secrets):
        yield c.joint.satisfies(g.PML(ratio=level, delta=c.delta))


def _second_levels(c: Case) -> Iterator[tuple[F, F, Case]]:
    """Yield the probability, leakage and case of the second release, by first outcome."""
    for y in c.outcomes:
        rows = [[F(v) for v in r] for r in c.second[y].matrix.tolist()]
        under = Case(c.posterior(y), rows)
        yield c.marginal[y], bl.pml(under.joint).sup().ratio.upper, under  # type: ignore[misc]


@says("Theorem 4", "Adaptive composition of PML: levels add.", part="1", cases=JOINTS)
def theorem_4_1(c: Case) -> Iterator[Any]:
    """The supremum of PML of both outcomes against the sum of the suprema."""
    second = max(level for _, level, _ in _second_levels(c))
    yield at_most(bl.pml(c.composed).sup(), ratio(bl.pml(c.joint).sup()) * second)


@says("Theorem 4", "With deltas: delta_1 + delta_2 - delta_1 delta_2.", part="2", cases=JOINTS)
def theorem_4_2(c: Case) -> Iterator[Any]:
    """The tail of PML of both outcomes, at every pair of levels of the parts."""
    seconds = [under for _, _, under in _second_levels(c)]
    for level, delta in pml_levels(c):
        for part in (F(1), F(5, 4), F(3, 2), F(2)):
            worst = max(tail(under, part) for under in seconds)
            total = delta + worst - delta * worst
            if total < 1:
                yield c.composed.satisfies(g.PML(ratio=level.lower * part, delta=total))


@says("Theorem 4", "With a joint tail of the second: delta_1 + delta_2.", part="3", cases=JOINTS)
def theorem_4_3(c: Case) -> Iterator[Any]:
    """As (2), with the tail of the conditional leakage under the law of both outcomes."""
    seconds = list(_second_levels(c))
    for level, delta in pml_levels(c):
        for part in (F(1), F(5, 4), F(3, 2), F(2)):
            tails = [m * tail(under, part) for m, _, under in seconds]
            total = delta + sum(tails, F(0))
            if total < 1:
                yield c.composed.satisfies(g.PML(ratio=level.lower * part, delta=total))


@says("Theorem 4", "EML and then PML: EML of the sum at delta_1.", part="4", cases=JOINTS)
def theorem_4_4(c: Case) -> Iterator[Any]:
    """EML of both outcomes against EML of the first and the supremum of PML of the second."""
    second = max(level for _, level, _ in _second_levels(c))
    first = bl.event_maximal_leakage(c.joint, delta=c.delta)
    yield at_most(bl.event_maximal_leakage(c.composed, delta=c.delta), ratio(first) * second)


@says(
    "Theorem 4",
    "EML and EML: events whose slices have probability delta_2 leak at most the sum.",
    part="4-slices",
    cases=Cases(20),
)
def theorem_4_4_slices(c: Case) -> Iterator[Any]:
    """Every event of both outcomes: its leakage against the sum, where its slices are likely."""
    rows = [
        [c.rows[x][y] * F(v) for y in range(len(c.rows[0])) for v in c.second[y].matrix[x].tolist()]
        for x in range(len(c.p))
    ]
    both, tenth = Case(c.p, rows), F(1, 10)
    first = ratio(bl.event_maximal_leakage(c.joint, delta=c.delta))
    seconds = [bl.event_maximal_leakage(u.joint, delta=tenth) for _, _, u in _second_levels(c)]
    stated = first * largest(*seconds)
    for event in events(both):
        slices = [sum(both.marginal[k] for k in event if k // 2 == y) for y in c.outcomes]
        likely = all(
            not mass or mass / c.marginal[y] >= tenth
            for mass, y in zip(slices, c.outcomes, strict=True)
        )
        if likely and sum(slices) >= c.delta:
            yield at_most(event_leakage(both, event), stated)


@says("Theorem 4", "EML and then EML, at delta_1 + delta_2.", part="5", cases=JOINTS)
def theorem_4_5(c: Case) -> Iterator[Any]:
    """EML of both outcomes against the stated level."""
    one, two = c.delta / 2, c.delta / 2
    first = bl.event_maximal_leakage(c.joint, delta=one)
    second = largest(
        *(bl.event_maximal_leakage(u.joint, delta=two) for _, _, u in _second_levels(c))
    )
    stated = two / (one + two) / c.least + ratio(first) * second
    yield at_most(bl.event_maximal_leakage(c.composed, delta=one + two), stated)


# -- other notions --------------------------------------------------------------------------


@says(
    "Lemma 4", "P{dP/dQ > e^eps} <= delta bounds approximate max-divergence by eps.", cases=POSITIVE
)
def lemma_4(c: Case) -> Iterator[Any]:
    """Prior and posterior: the divergence at the probability of each ratio being exceeded."""
    for y in c.outcomes:
        q = c.posterior(y)
        for level in {q[x] / c.p[x] for x in c.secrets}:
            beyond = sum((m for m, b in zip(q, c.p, strict=True) if b and m / b > level), F(0))
            found = bl.max_divergence(c.joint.posterior(y), c.prior, delta=beyond)
            yield at_most(found, level)


@says("Proposition 5", "(eps, delta)-PML bounds approximate max-information by eps.", cases=JOINTS)
def proposition_5(c: Case) -> Iterator[Any]:
    """Max-information at delta against each tail guarantee that the joint just has."""
    for level, delta in pml_levels(c):
        yield at_most(bl.max_information(c.joint, delta), level)


@says(
    "Section IV-B",
    "A small posterior p of one of two equally likely secrets makes PML log 2(1 - p).",
    part="small-posterior",
    scope="3 values of p",
)
def small_posterior() -> Iterator[Any]:
    """PML of a symmetric channel of crossover p."""
    for p in (F(1, 1000), F(1, 10), F(2, 5)):
        joint = bl.pmf([HALF] * 2) * bl.Mechanism.from_matrix([[p, 1 - p], [1 - p, p]])
        yield from (same(bl.pml(joint)(y), 2 * (1 - p)) for y in range(2))


@says("Proposition 6", "LDP and LDI imply PML, by levels that use p_min.", cases=POSITIVE)
def proposition_6(c: Case) -> Iterator[Any]:
    """The supremum of PML against both."""
    found, level, identified = bl.pml(c.joint).sup(), ratio(bl.ldp(c.joint)), bl.ldi(c.joint)
    yield at_most(found, 1 / (c.least + (1 - c.least) / level))
    yield at_most(found, 1 / (c.least * (1 + (len(c.secrets) - 1) / ratio(identified))))


@says(
    "Section IV-B",
    "One channel: PML log n/(n-1) at y_1, log n^2/(n^2-n+1) at others; LDP, LIP, LDI infinite.",
    part="channel",
    scope="n = 2, 4, 10",
)
def section_4_b() -> Iterator[Any]:
    """The mechanism in which one secret excludes one outcome, for n up to 10 secrets."""
    for n in (2, 4, 10):
        rows = [[F(y > 0) / (n - 1) for y in range(n)], *[[F(1, n)] * n for _ in range(n - 1)]]
        joint = bl.pmf([F(1, n)] * n) * bl.Mechanism.from_matrix(rows)
        ell = bl.pml(joint)
        yield same(ell(0), F(n, n - 1))
        yield from (same(ell(y), F(n * n, n * n - n + 1)) for y in range(1, n))
        yield from (same(f(joint), math.inf) for f in (bl.ldp, bl.lip, bl.ldi))


@says(
    "Proposition 7",
    "Mutual information is at most mean PML, eps, and eps + delta eps_max.",
    cases=JOINTS,
)
def proposition_7(c: Case) -> Iterator[Any]:
    """The three inequalities; equality where densities of each charged outcome agree."""
    found = value(bl.mutual_information(c.joint))
    flat = all(len({c.rows[x][y] for x in c.secrets} - {0}) == 1 for y in c.outcomes)
    mean = value(bl.pml(c.joint).mean())
    yield same(found, mean) if flat else below(found, mean)
    yield up_to(found, value(bl.pml(c.joint).sup()))
    most = _logarithm(1 / c.least)
    for level, delta in pml_levels(c):
        yield up_to(found, _logarithm(level.lower) + delta * most)


def _logarithm(number: Any) -> Span:
    exact = F(number)
    return (
        ball((arb(exact.numerator) / exact.denominator).log()) if exact != 1 else Span(F(0), F(0))
    )


@says("Proposition 8", "f-information is at most E max{f(e^l), f(0)}.", cases=JOINTS)
def proposition_8(c: Case) -> Iterator[Any]:
    """Chi-square, total variation and Kullback-Leibler against the mean, f(0) = 1, 1/2 and 0."""
    tops = {y: max(c.density(x, y) for x in c.secrets) for y in c.outcomes}
    square = sum((c.marginal[y] * max((t - 1) ** 2, F(1)) for y, t in tops.items()), F(0))
    yield at_most(value(bl.f_information(c.joint, "chi_square")), square)
    half = sum((c.marginal[y] * max(t - 1, F(1)) / 2 for y, t in tops.items()), F(0))
    yield at_most(value(bl.total_variation(c.joint)), half)
    terms = [c.marginal[y] * t * _logarithm(t) for y, t in tops.items()]
    yield up_to(value(bl.f_information(c.joint, "kl")), sum(terms, Span(F(0), F(0))))


@says(
    "Proposition 9",
    "Total variation is bounded by maximal leakage and by (eps, delta)-PML.",
    cases=JOINTS,
)
def proposition_9(c: Case) -> Iterator[Any]:
    """T(X; Y) against e^L - 1, and against the stated bound of each tail guarantee."""
    found = value(bl.total_variation(c.joint))
    yield at_most(found, ratio(bl.maximal_leakage(c.joint)) - 1)
    for level, delta in pml_levels(c):
        e = F(level.lower)
        main = e - 1 if e <= F(3, 2) else HALF if e <= 2 else (e - 1) / 2
        yield at_most(found, main + delta / 2 * (1 / c.least - 1))


@says("Equation 25", "Total variation is at most (n - 1) p_max (e^L - 1).", cases=JOINTS)
def equation_25(c: Case) -> Iterator[Any]:
    """T(X; Y) against the cited bound."""
    found = value(bl.total_variation(c.joint))
    yield at_most(found, (len(c.p) - 1) * c.most * (ratio(bl.maximal_leakage(c.joint)) - 1))


@says(
    "Equation 26",
    "The bound E max{e^l - 1, 1}/2 on total variation is tighter than that of (25).",
    part="tighter",
    errata=(20,),
    reads="neither is tighter: (26) is at least 1/2, and (25) goes to 0 with maximal leakage",
)
def equation_26_tighter() -> Iterator[Any]:
    """An outcome that does not depend on a fair bit: (26) is 1/2, and (25) is 0."""
    joint = bl.pmf([HALF] * 2) * bl.Mechanism.from_matrix([[HALF] * 2] * 2)
    leaks = [ratio(bl.pml(joint)(y)) - 1 for y in range(2)]
    stated = HALF * (HALF * largest(leaks[0], 1) + HALF * largest(leaks[1], 1))
    yield at_most(stated, (2 - 1) * HALF * (ratio(bl.maximal_leakage(joint)) - 1))


@says("Table I", "What PML implies of other notions, and they of it.", cases=POSITIVE)
def table_1(c: Case) -> Iterator[Any]:
    """Every row, on each joint."""
    yield same(bl.max_information(c.joint), bl.pml(c.joint).sup())
    yield at_most(bl.pml(c.joint).sup(), bl.lip(c.joint))
    for check in (proposition_5, proposition_6, proposition_7, proposition_8, proposition_9):
        yield from check(c)


@says("Figure 1", "The randomised-function view: guess U from y.", cases=JOINTS)
def figure_1(c: Case) -> Iterator[Any]:
    """A diagram; its adversary is computed: random functions leak at most PML."""
    yield from (
        at_most(adv.function_leakage(c.joint, c.attribute, y), bl.pml(c.joint)(y))
        for y in c.outcomes
    )


@says("Figure 2", "The gain-function view: act on y.", cases=JOINTS)
def figure_2(c: Case) -> Iterator[Any]:
    """A diagram; its adversary is computed: random gains leak at most PML."""
    gain = adv.gain.table(c.priced())
    yield from (at_most(adv.g_leakage(c.joint, gain, y), bl.pml(c.joint)(y)) for y in c.outcomes)


@says("Figure 3", "The channel of a gain splits secrets whose gain varies.", cases=JOINTS)
def figure_3(c: Case) -> Iterator[Any]:
    """The channel of the construction is a kernel, and leaks what the gain does."""
    gain = adv.gain.table(c.priced())
    for y in c.outcomes:
        channel = adv.function_of_gain(c.joint, gain, y)
        yield all(sum(row) == 1 for row in channel.matrix.tolist())
        yield same(adv.function_leakage(c.joint, channel, y), adv.g_leakage(c.joint, gain, y))
