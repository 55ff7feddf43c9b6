"""The statements of "Rethinking Disclosure Prevention with Pointwise Maximal Leakage", judged."""

# ruff: noqa: D401, D403 - the docstring of a check names what it compares
from __future__ import annotations

import math
from fractions import Fraction as F
from itertools import pairwise, product
from math import comb
from typing import TYPE_CHECKING, Any

from flint import arb

import borel as bl
from borel.claims.cases import JOINTS, POSITIVE, Case, Cases, law, rows
from borel.claims.cases import product as after
from borel.claims.judging import Paper, Sharper
from borel.claims.spans import at_most, ball, below, largest, ratio, same, up_to, value

if TYPE_CHECKING:
    from collections.abc import Iterator

    from borel.probability.joint import Joint

PAPER = Paper("disclosure", "Rethinking Disclosure Prevention with Pointwise Maximal Leakage")
says = PAPER.says
HALF = F(1, 2)
ZEROS = Cases(styles=("zeros",))
NEAR = F(1, 10**9)
"""How far the priors of limits are from point masses."""


def attribute_of(c: Case) -> list[list[F]]:
    """Return the rows of the random attribute of a case."""
    return [[F(v) for v in row] for row in c.attribute.matrix.tolist()]


def guess(p: list[F], rows_: list[list[F]]) -> F:
    """Return e^-H of an attribute: the probability of its likeliest value."""
    return max(after([p], rows_)[0])


def discloses(c: Case, attribute: list[list[F]]) -> bool:
    """Return whether some outcome leaves one value of an attribute: Definition 3.3."""
    return any(guess(c.posterior(y), attribute) == 1 for y in c.outcomes)


# -- leakage and disclosure ------------------------------------------------------------------


@says("Theorem 2.4", "PML is D_inf(P_X|Y=y || P_X).", cases=JOINTS)
def theorem_2_4(c: Case) -> Iterator[Any]:
    """PML against the divergence and against Fractions."""
    for y in c.outcomes:
        yield same(bl.pml(c.joint)(y), bl.max_divergence(c.joint.posterior(y), c.prior))
        yield same(bl.pml(c.joint)(y), max(c.density(x, y) for x in c.secrets))


@says("Theorem 2.8", "Leakage capacity is the supremum over priors of full support.", cases=JOINTS)
def theorem_2_8(c: Case) -> Iterator[Any]:
    """Capacity against the supremum over the set, and against the ratios of the rows."""
    found = bl.leakage_capacity(c.mechanism)
    yield same(found, bl.pml(bl.priors.full_support(c.mechanism.secret) * c.mechanism).sup())
    columns = [[row[y] for row in c.rows] for y in range(len(c.rows[0]))]
    ratios = [max(k) / min(k) if min(k) else math.inf for k in columns if max(k)]
    yield same(found, max(ratios))


@says(
    "Example 3.1",
    "The entropy of a quantised mean goes to 0 with n; that of an entry does not.",
    scope="bits of probability 3/10, n = 10, 100, 1000, exactly",
)
def example_3_1() -> Iterator[Any]:
    """e^-entropy of "is the mean at least 1/2", in Fractions; of the first entry."""
    p, guesses = F(3, 10), []
    for n in (10, 100, 1000):
        low = sum((_binomial(n, k, p) for k in range((n + 1) // 2)), F(0))
        guesses.append(max(low, 1 - low))
    yield from (below(a, b) for a, b in pairwise(guesses))
    yield below(1 - F(1, 10**9), guesses[-1])
    yield from (below(1 - p, v) for v in guesses)


def _binomial(n: int, k: int, p: F) -> F:
    return comb(n, k) * p**k * (1 - p) ** (n - k)


@says(
    "Example 3.1",
    "The entropy of a quantised mean goes to 0, wherever the ends of the quantiser's cells are.",
    part="ends",
    scope="fair bits, n = 11, 101, 1001, exactly",
    errata=(23,),
    reads="unless the mean of an entry is an end of a cell",
)
def example_3_1_ends() -> Iterator[Any]:
    """e^-entropy of "is the mean at least 1/2" of fair bits: 1/2 for every odd n, so log 2."""
    for n in (11, 101, 1001):
        low = sum((_binomial(n, k, HALF) for k in range((n + 1) // 2)), F(0))
        yield below(HALF, max(low, 1 - low))


@says(
    "Example 3.2",
    "Relative frequencies of a disease have small entropy when n is large.",
    scope="smokers with probability 1/2, ill with 1/5, n up to 60, exactly",
)
def example_3_2() -> Iterator[Any]:
    """e^-entropy of "are fewer than a third of the smokers ill", the number of smokers random."""
    guesses = []
    for n in (6, 20, 60):
        few = sum(
            (
                _binomial(n, s, HALF) * _binomial(s, k, F(1, 5))
                for s in range(n + 1)
                for k in range(s + 1)
                if 3 * k < s
            ),
            F(0),
        )
        guesses.append(max(few, 1 - few))
    yield from (below(a, b) for a, b in pairwise(guesses))


@says("Theorem 3.4", "What is disclosed to one adversary is disclosed to all.", cases=ZEROS)
def theorem_3_4(c: Case) -> Iterator[Any]:
    """A random attribute, and the secret, under the prior, another, and by `borel.discloses`."""
    other = Case(law(c.rng, len(c.p)), c.rows)
    itself = [[F(x == u) for u in range(len(c.p))] for x in range(len(c.p))]
    for asked, attribute in ((c.attribute, attribute_of(c)), (None, itself)):
        yield discloses(c, attribute) == discloses(other, attribute)
        yield discloses(c, attribute) == bl.discloses(c.mechanism, asked).holds


@says("Theorem 3.5", "eps-PML discloses no attribute of entropy above eps, to anyone.", cases=ZEROS)
def theorem_3_5(c: Case) -> Iterator[Any]:
    """What is left of an attribute's entropy at each outcome; disclosure to two adversaries."""
    attribute, other = attribute_of(c), Case(law(c.rng, len(c.p)), c.rows)
    before = guess(c.p, attribute)
    yield same(bl.min_entropy(c.prior, c.attribute), 1 / before)
    for y in c.outcomes:
        left = guess(c.posterior(y), attribute)
        yield same(bl.remaining_entropy(c.joint, c.attribute, y), 1 / left)
        yield at_most(left, before * ratio(bl.pml(c.joint)(y)))
    if below(bl.pml(c.joint).sup(), 1 / before).holds:
        yield not discloses(c, attribute) and not discloses(other, attribute)


@says("Proposition 3.6", "Disclosing U discloses a W of less entropy.", cases=ZEROS)
def proposition_3_6(c: Case) -> Iterator[Any]:
    """The W of the proof, for each U disclosed that is not constant: its entropy, disclosure."""
    attribute = attribute_of(c)
    before = guess(c.p, attribute)
    if discloses(c, attribute) and before < 1:
        made = bl.smaller_disclosure(c.joint, c.attribute)
        kernel = [[F(v) for v in row] for row in made.matrix.tolist()]
        yield below(before, guess(c.p, kernel))
        yield discloses(c, kernel)


@says(
    "Proposition 3.6",
    "The same, for every attribute that is disclosed.",
    part="constant",
    errata=(6,),
    reads="for an attribute that is not constant",
)
def proposition_3_6_constant() -> Iterator[Any]:
    """A constant U is disclosed by Definition 3.3; no attribute has an entropy below 0."""
    c = Case([HALF, HALF], [[HALF, HALF], [HALF, HALF]])
    constant = [[F(1)], [F(1)]]
    assert discloses(c, constant)
    yield below(guess(c.p, constant), 1)  # a smaller entropy would need a likelier guess than 1


@says(
    "Theorem 3.7", "Finite capacity discloses no attribute; what entropy is left.", cases=POSITIVE
)
def theorem_3_7(c: Case) -> Iterator[Any]:
    """Every function onto two values: its entropy at each outcome, the bound; a random attribute.

    A function onto more values has no less entropy than the one that tells its likeliest value.
    """
    attribute = attribute_of(c)
    if guess(c.p, attribute) < 1:
        yield not discloses(c, attribute)
    capacity = ratio(bl.leakage_capacity(c.mechanism))
    least = min(c.p)
    for signs in product((0, 1), repeat=len(c.p)):
        if 0 < sum(signs) < len(c.p):
            function = [[F(s), F(1 - s)] for s in signs]
            yield not discloses(c, function)
            for y in c.outcomes:
                found = 1 / guess(c.posterior(y), function)
                yield at_most(1 + least / (1 - least) / capacity, found)


@says(
    "Theorem 3.7",
    "No attribute at all is disclosed under finite capacity.",
    part="constant",
    errata=(16,),
    reads="no attribute that is not constant",
)
def theorem_3_7_constant() -> Iterator[Any]:
    """A constant attribute of a fair bit released with noise: finite capacity, and disclosed."""
    c = Case([HALF, HALF], [[F(3, 4), F(1, 4)], [F(1, 4), F(3, 4)]])
    assert below(bl.leakage_capacity(c.mechanism), math.inf).holds
    yield not discloses(c, [[F(1)], [F(1)]])


@says(
    "Proposition 3.8",
    "PML below log 1/(1 - p_min) has finite capacity; at it, something is disclosed.",
    cases=ZEROS,
)
def proposition_3_8(c: Case) -> Iterator[Any]:
    """Capacity of each joint below the line; at it, the query "is it not the rarest secret"."""
    if below(bl.pml(c.joint).sup(), 1 / (1 - min(c.p))).holds:
        yield below(bl.leakage_capacity(c.mechanism), math.inf)
    rare = c.p.index(min(c.p))
    yes = [[F(0), F(1)] if x == rare else [F(1), F(0)] for x in range(len(c.p))]
    noisy = [[F(0), F(1)] if x == rare else [HALF, HALF] for x in range(len(c.p))]
    query = Case(c.p, noisy)
    yield same(bl.pml(query.joint)(0), 1 / (1 - min(c.p)))
    yield discloses(query, yes)
    cheapest = bl.cheapest_disclosure(c.prior)
    yield same(cheapest.level, 1 / (1 - min(c.p)))
    yield same(bl.pml(c.prior * cheapest.mechanism).sup(), cheapest.level)
    yield bl.discloses(cheapest.mechanism, cheapest.attribute)


@says(
    "Section 3.3",
    'The dearest query is "is it the rarest secret": log 1/p_min, where all have answers (cited).',
    part="largest",
    cases=ZEROS,
)
def section_3_3(c: Case) -> Iterator[Any]:
    """PML of a "yes", which discloses the answer, and of the secret itself: both the largest."""
    rare, most = c.p.index(min(c.p)), 1 / min(c.p)
    answer = [[F(x == rare), F(x != rare)] for x in range(len(c.p))]
    unsure = [[F(x == rare) / 2, 1 - F(x == rare) / 2] for x in range(len(c.p))]
    yield same(bl.pml(Case(c.p, unsure).joint)(0), most)
    yield discloses(Case(c.p, unsure), answer)
    itself = [[F(x == u) for u in range(len(c.p))] for x in range(len(c.p))]
    yield same(bl.pml(Case(c.p, itself).joint).sup(), most)
    yield at_most(bl.pml(c.joint).sup(), most)


@says("Corollary 3.10", "PML below the entropy of the secret singles nobody out.", cases=ZEROS)
def corollary_3_10(c: Case) -> Iterator[Any]:
    """Posteriors of every joint whose PML is below the entropy of its secret."""
    if below(bl.pml(c.joint).sup(), 1 / max(c.p)).holds:
        yield all(max(c.posterior(y)) < 1 for y in c.outcomes)
        yield bl.discloses(c.mechanism).holds is False


def threshold(n: int, m: int, p: F) -> Joint:
    """Return n bits and the answer to "are there more than m ones?"."""
    answers = [[F(k <= m), F(k > m)] for k in range(n + 1)]
    query = bl.Mechanism.from_matrix(answers, secret=bl.Integers(0, n))
    return bl.iid(bl.pmf([1 - p, p], on=bl.Finite(2)), n) * query


def chernoff(n: int, m: int, p: F) -> Any:
    """Return the stated bound on the probability of "no", in Arb."""
    q, a = F(m, n), arb(p.numerator) / p.denominator
    b = arb(q.numerator) / q.denominator
    kl = (b * (b / a).log() if m else arb(0)) + (1 - b) * ((1 - b) / (1 - a)).log()
    return ball((-n * kl).exp())


@says(
    "Example 3.11",
    "Answering a threshold query leaks at most -log(1 - exp(-n KL(m/n || p))), and the like of no.",
    scope="n = 200, 8 thresholds, p in {0.3, 0.5}",
)
def example_3_11() -> Iterator[Any]:
    """PML of both answers against binomial tails in Fractions; the tails against the bounds."""
    for p in (F(3, 10), HALF):
        for m in (0, 10, 20, 40):
            found = bl.pml(threshold(200, m, p))(1)
            low = sum((_binomial(200, k, p) for k in range(m + 1)), F(0))
            yield same(found, 1 / (1 - low))
            yield at_most(low, chernoff(200, m, p)) if m else same(low, chernoff(200, m, p))
        for m in (140, 160, 180, 198):  # "no", where more than m ones are rare
            found = bl.pml(threshold(200, m, p))(0)
            low = sum((_binomial(200, k, p) for k in range(m + 1)), F(0))
            yield same(found, 1 / low)
            yield at_most(1 - low, chernoff(200, 199 - m, 1 - p))


@says(
    "Example 3.11",
    "The least entropy of a gender is 0.36, over p in [0.3, 0.7]; rounded up, from 0.3567.",
    part="entropy",
    scope="the stated figure, at the ends and at 3 inner p",
)
def example_3_11_entropy() -> Iterator[Any]:
    """Min-entropy of a bit at the ends, to two digits, and inside, where it is larger."""
    ends = [value(bl.min_entropy(bl.pmf([p, 1 - p]))) for p in (F(3, 10), F(7, 10))]
    yield from (at_most(F(3566, 10**4), v) for v in ends)
    yield from (at_most(v, F(3567, 10**4)) for v in ends)
    for p in (F(2, 5), HALF, F(3, 5)):
        yield below(ends[0], value(bl.min_entropy(bl.pmf([p, 1 - p]))))


@says(
    "Example 3.11",
    "No gender is disclosed as long as l(X -> 1) is below 0.36.",
    part="one-outcome",
    errata=(17,),
    reads="as long as the leakage of both answers is below 0.36",
)
def example_3_11_no() -> Iterator[Any]:
    """n = 20, m = 0: "yes" leaks next to nothing, and "no" leaves one value of every entry."""
    joint = threshold(20, 0, F(3, 10))
    assert below(value(bl.pml(joint)(1)), F(36, 100)).holds
    yield below(1, bl.remaining_entropy(bl.entry(joint), y=0))


@says(
    "Figure 1",
    "The bounds of Example 3.11 fall with n and with the distance of m/n from p.",
    scope="2 values of p, 4 of n, 3 of m/n",
)
def figure_1() -> Iterator[Any]:
    """The Chernoff curves against the exact binomial leakage, which is below them."""
    for p in (F(3, 10), HALF):
        for share in (F(1, 20), F(1, 10), F(1, 5)):
            curve = [chernoff(n, int(n * share), p) for n in (200, 500, 1000, 2000)]
            yield from (at_most(b, a) for a, b in pairwise(curve))
            low = sum((_binomial(200, k, p) for k in range(int(200 * share) + 1)), F(0))
            yield at_most(low, curve[0])


# -- databases -------------------------------------------------------------------------------


class Pair:
    """A random mechanism about databases of two bits."""

    def __init__(self, c: Case):
        self.c, self.rows = c, rows(c.rng, 4, 3)
        self.mechanism = bl.Mechanism.from_matrix(self.rows, secret=bl.Finite(2) ** 2)

    def entry(self, i: int, p: list[F]) -> Joint:
        """Return what is released about entry i, databases drawn from four probabilities."""
        kernel, prior = [], []
        for d in (0, 1):
            own = [k for k in range(4) if (k >> (1 - i)) & 1 == d]
            mass = sum((p[k] for k in own), F(0))
            prior.append(mass)
            kernel.append(
                [sum((p[k] * self.rows[k][y] for k in own), F(0)) / mass for y in range(3)]
            )
        return bl.pmf(prior) * bl.Mechanism.from_matrix(kernel)

    def largest_entry(self, laws: Any, level: Any) -> Any:
        """Check that the largest supremum of PML of an entry over a set of laws is a level."""
        joints = [bl.entry(laws * self.mechanism, i) for i in (0, 1)]
        return same(level, largest(*(bl.pml(j).sup() for j in joints)))

    def slices(self) -> Iterator[bl.Mechanism]:
        """Yield the mechanism about one entry given the other one."""
        for a, b in ((0, 1), (2, 3), (0, 2), (1, 3)):
            yield bl.Mechanism.from_matrix([self.rows[a], self.rows[b]])


def independent(first: list[F], second: list[F]) -> list[F]:
    """Return the four probabilities of two independent bits."""
    return [a * b for a in first for b in second]


def bits(e: F) -> list[list[F]]:
    """Return the two priors of a bit within e of certainty."""
    return [[1 - e, e], [e, 1 - e]]


def reaches(joints: Any, level: Any) -> Iterator[Any]:
    """Check that no joint exceeds a level, and that one comes within a millionth of it."""
    found = [ratio(bl.pml(j).sup()) for j in joints]
    yield from (at_most(v, level) for v in found)
    yield at_most(level * (1 - F(1, 10**6)), largest(*found))


@says(
    "Theorem 4.2",
    "DP is PML of an entry given the others, under all priors.",
    part="1",
    cases=JOINTS,
)
def theorem_4_2_1(c: Case) -> Iterator[Any]:
    """DP of a random mechanism about two bits, against the supremum for each slice."""
    pair = Pair(c)
    levels = [bl.pml(bl.priors.full_support(bl.Finite(2)) * m).sup() for m in pair.slices()]
    yield same(bl.differential_privacy(pair.mechanism), largest(*levels))


@says("Theorem 4.2", "DP is the same under product priors.", part="2", cases=JOINTS)
def theorem_4_2_2(c: Case) -> Iterator[Any]:
    """As (1), one prior at a time: two near certainty for each slice, and a random one."""
    pair = Pair(c)
    tried = [*bits(NEAR), law(c.rng, 2)]
    joints = [bl.pmf(p) * m for m in pair.slices() for p in tried]
    yield from reaches(joints, ratio(bl.differential_privacy(pair.mechanism)))


@says("Theorem 4.2", "DP is PML of an entry under product priors.", part="3", cases=JOINTS)
def theorem_4_2_3(c: Case) -> Iterator[Any]:
    """The supremum over all product priors, and those near point masses, against DP."""
    pair = Pair(c)
    everything = bl.priors.product([bl.priors.full_support(bl.Finite(2))] * 2)
    yield pair.largest_entry(everything, bl.differential_privacy(pair.mechanism))
    tried = [independent(a, b) for e in (NEAR, NEAR**2) for a in bits(e) for b in bits(NEAR**3 / e)]
    tried.append(independent(law(c.rng, 2), law(c.rng, 2)))
    joints = [pair.entry(i, p) for p in tried for i in (0, 1)]
    yield from reaches(joints, ratio(bl.differential_privacy(pair.mechanism)))


@says(
    "Theorem 4.3",
    "Under correlation a DP mechanism may leak up to log 1/p_min of an entry.",
    scope="n copies of one bit, eps = 1/10, n = 10, 100, 1000",
)
def theorem_4_3() -> Iterator[Any]:
    """PML of Laplace noise of scale 10 on n times a bit of probability 1/4."""
    levels = [_copies(n) for n in (10, 100, 1000)]
    yield from (up_to(v, 4) for v in levels)
    yield from (up_to(a, b) for a, b in pairwise(levels))
    yield below(4 * (1 - F(1, 10**9)), levels[-1])


def _copies(n: int) -> Any:
    on = bl.Finite([0, n])
    noise = bl.mechanisms.laplace(b=10.0, secret=on)
    return ratio(bl.pml(bl.pmf([F(3, 4), F(1, 4)], on=on) * noise).sup())


@says("Theorem 4.5", "Free-lunch privacy is PML under all priors.", part="1", cases=JOINTS)
def theorem_4_5_1(c: Case) -> Iterator[Any]:
    """Free-lunch privacy of a random mechanism about two bits against the supremum."""
    pair = Pair(c)
    everything = bl.priors.full_support(pair.mechanism.secret)
    yield same(bl.free_lunch_privacy(pair.mechanism), bl.pml(everything * pair.mechanism).sup())


@says("Theorem 4.5", "Free-lunch privacy is PML under product priors.", part="2", cases=JOINTS)
def theorem_4_5_2(c: Case) -> Iterator[Any]:
    """Product priors near each point mass, and a random one."""
    pair = Pair(c)
    tried = [independent(a, b) for a in bits(NEAR) for b in bits(NEAR)]
    tried.append(independent(law(c.rng, 2), law(c.rng, 2)))
    joints = [bl.pmf(p) * bl.Mechanism.from_matrix(pair.rows) for p in tried]
    yield from reaches(joints, ratio(bl.free_lunch_privacy(pair.mechanism)))


@says(
    "Theorem 4.5", "Free-lunch privacy is PML of an entry under all priors.", part="3", cases=JOINTS
)
def theorem_4_5_3(c: Case) -> Iterator[Any]:
    """The supremum over all priors; priors near two databases, the second rare, one at random."""
    pair = Pair(c)
    everything = bl.priors.full_support(pair.mechanism.secret)
    yield pair.largest_entry(everything, bl.free_lunch_privacy(pair.mechanism))
    tried = [law(c.rng, 4)]
    for a in range(4):
        for b in range(4):
            if a != b:
                rest = [NEAR**3 if k not in (a, b) else F(0) for k in range(4)]
                rest[b] = NEAR
                rest[a] = 1 - sum(rest, F(0))
                tried.append(rest)
    joints = [pair.entry(i, p) for p in tried for i in (0, 1)]
    yield from reaches(joints, ratio(bl.free_lunch_privacy(pair.mechanism)))


@says(
    "Proposition 4.6",
    "Laplace noise on the fraction of n bits leaks at most 1/(nb) - log(1 - c + c e^(1/(nb))), "
    "which is 1/(nb) for c = 0.",
    scope="proved by a closed form; 16 combinations of n, b, c",
    errata=(9,),
)
def proposition_4_6() -> Iterator[Any]:
    """The supremum over the set of priors against the bound in Arb: they are equal."""
    for n, b in ((5, 0.5), (10, 0.25), (100, 0.125), (1000, 0.01)):
        for c in (0.0, 0.1, 0.25, 0.4):
            bits_ = bl.iid(bl.priors.bernoulli(c, 1 - c), n)
            query = bl.mechanisms.counting_query(n=n, b=b, of="fraction")
            found = bl.pml(bl.entry(bits_ * query)).sup()
            steep = (1 / (n * arb(b))).exp()
            stated = ball(steep / (1 - arb(c) + arb(c) * steep))
            yield up_to(found, stated)
            yield Sharper(same(found, stated).holds, "the bound is the supremum, for every c")


@says(
    "Section 4.1",
    "The simpler bound (1 - c)/(nb) + c^2/2(nb)^2.",
    part="simple",
    scope="12 combinations of nb and c",
)
def simpler() -> Iterator[Any]:
    """Both bounds in Arb."""
    for nb in (arb(2), arb(5), arb(20), arb(100)):
        for c in (arb("0.1"), arb("0.25"), arb("0.4")):
            sharp = 1 / nb - (1 - c + c * (1 / nb).exp()).log()
            yield at_most(ball(sharp), ball((1 - c) / nb + c**2 / (2 * nb**2)))


@says(
    "Section 4.1",
    "With much entropy the cost is down to half the DP parameter.",
    part="half",
    scope="proved by a closed form, c = 0.49",
    errata=(9,),
)
def half() -> Iterator[Any]:
    """The share of the DP parameter that is left, at nb = 1/2, 5 and 1000."""
    c = arb("0.49")
    small, _, large = (
        ball((1 / nb - (1 - c + c * (1 / nb).exp()).log()) * nb)
        for nb in (arb("0.5"), arb(5), arb(1000))
    )
    yield below(large, F(52, 100))
    yield Sharper(
        below(small, HALF).holds,
        "less than half is left where 1/(nb) is not small: half is the limit 1/(nb) -> 0, c -> 1/2",
    )


@says(
    "Remark B.1",
    "The suprema of Theorems 4.2 and 4.5 are never attained.",
    errata=(6,),
    reads="never, but at eps = 0",
)
def remark_b_1() -> Iterator[Any]:
    """A mechanism that ignores the database: every prior of full support attains 0."""
    mech = bl.Mechanism.from_matrix([[HALF, HALF]] * 4, secret=bl.Finite(2) ** 2)
    level = bl.free_lunch_privacy(mech)
    joint = bl.pmf([F(1, 4)] * 4, on=mech.secret) * mech
    yield below(bl.pml(joint).sup(), level)


@says("Remark B.1", "The suprema are not attained where eps > 0.", part="positive", cases=JOINTS)
def remark_b_1_positive(c: Case) -> Iterator[Any]:
    """A random prior of full support leaks strictly less than the level."""
    pair = Pair(c)
    level = bl.free_lunch_privacy(pair.mechanism)
    if below(1, level).holds:
        joint = bl.pmf(law(c.rng, 4), on=pair.mechanism.secret) * pair.mechanism
        yield below(bl.pml(joint).sup(), level)
