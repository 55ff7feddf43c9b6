"""The statements of "Information Density Bounds for Privacy" (journal version), judged."""

# ruff: noqa: D401 - the docstring of a check names what it compares
from __future__ import annotations

import math
from fractions import Fraction as F
from itertools import permutations
from typing import TYPE_CHECKING, Any

from flint import arb

import borel as bl
from borel.claims import counterexamples
from borel.claims.cases import JOINTS, POSITIVE, PRIVATE, Case, Cases, law, product, rows
from borel.claims.judging import Paper, Sharper
from borel.claims.spans import at_most, ball, below, largest, ratio, same, up_to, value

if TYPE_CHECKING:
    from collections.abc import Iterator

    from borel.probability.joint import Joint

PAPER = Paper("pmc", "Information Density Bounds for Privacy (journal version)")
says = PAPER.says
adv, g = bl.adversaries, bl.guarantees

PRIORS = (
    [F(1, 3)] * 3,
    [F(8, 10), F(1, 10), F(1, 10)],
    [F(6, 10), *[F(1, 10)] * 4],
    [F(8, 10), *[F(1, 20)] * 4],
    [F(1, 10)] * 10,
    [F(1, 100)] * 100,
)
"""The priors of the panels of Figure 1."""


def response(p: list[F], level: F) -> Joint:
    """Return randomised response with e^epsilon_r = level under a prior."""
    n = len(p)
    rows = [[(level if i == j else F(1)) / (n - 1 + level) for j in range(n)] for i in range(n)]
    return bl.pmf(p) * bl.Mechanism.from_matrix(rows)


def extremal(p: list[F], level: F) -> Joint:
    """Return the PML-extremal mechanism of the high-privacy regime under its prior."""
    prior = bl.pmf(p)
    return prior * bl.mechanisms.pml_extremal(prior=prior, ratio=level)


def to_cost(level: F, least: F) -> Any:
    """Return e^epsilon_l* of e^epsilon_u: Theorem 6(i)."""
    rest = 1 - level * (1 - least)
    return least / rest if rest > 0 else math.inf


def to_leakage(level: Any, least: F) -> Any:
    """Return e^epsilon_u* of e^epsilon_l: Theorem 6(ii)."""
    return (1 - (1 - least) / level) / least


def everywhere(case: Case) -> Any:
    """Return the mechanism under the set of all priors of full support."""
    return bl.priors.full_support(case.mechanism.secret) * case.mechanism


NEAR = F(1, 10**9)
"""How far from a point mass the priors are that come up to a supremum over priors."""


def nearly_sure(case: Case) -> Iterator[Joint]:
    """Yield the mechanism under priors of full support that are near point masses."""
    n = len(case.p)
    for x in range(n):
        p = [1 - NEAR if x == other else NEAR / (n - 1) for other in range(n)]
        yield bl.pmf(p) * case.mechanism


def charged(case: Case) -> Joint:
    """Return the mechanism under the uniform prior."""
    n = len(case.p)
    return bl.pmf([F(1, n)] * n) * case.mechanism


# -- preliminaries --------------------------------------------------------------------------


@says("Example 1", "Guessing membership is a gain function and a cost function.", cases=JOINTS)
def example_1(c: Case) -> Iterator[Any]:
    """The gain and the cost of guessing an event, against the posteriors in Fractions."""
    for y in c.outcomes:
        inside, before = c.posterior(y)[0], c.p[0]
        best, blind = max(inside, 1 - inside), max(before, 1 - before)
        gain = adv.gain.membership(lambda x: x == 0)
        yield same(adv.g_leakage(c.joint, gain, y), best / blind)
        if best < 1 and blind < 1:
            first = bl.Mechanism.from_matrix([[F(x == 0), F(x > 0)] for x in range(len(c.p))])
            cost = adv.cost.guessing(first)
            yield same(adv.cost_leakage(c.joint, cost, y), (1 - blind) / (1 - best))


@says("Remark 1", "LDP depends on the support of the prior.")
def remark_1() -> Iterator[Any]:
    """LDP of one mechanism under a prior without, and one with, a secret that is revealed."""
    mech = bl.Mechanism.from_matrix([[F(1, 2), F(1, 2), 0], [F(2, 5), F(3, 5), 0], [0, 0, 1]])
    yield same(bl.ldp(bl.pmf([F(1, 2), F(1, 2), 0]) * mech), F(5, 4))
    yield same(bl.ldp(bl.pmf([F(1, 3)] * 3) * mech), math.inf)


@says("Proposition 1", "LDP implies LIP, ALIP and PML, by levels that use p_min.", cases=POSITIVE)
def proposition_1(c: Case) -> Iterator[Any]:
    """The levels of the joint against those that follow from its LDP level."""
    level, least = ratio(bl.ldp(c.joint)), c.least
    first, second = least + level * (1 - least), 1 / (least + (1 - least) / level)
    yield at_most(bl.lip(c.joint), first)
    yield at_most(bl.alip(c.joint).lower, first)
    yield at_most(bl.alip(c.joint).upper, second)
    yield at_most(bl.pml(c.joint).sup(), second)


@says("Theorem 1", "epsilon-LDP is epsilon-PML under every prior of full support.", cases=JOINTS)
def theorem_1(c: Case) -> Iterator[Any]:
    """LDP against the supremum of PML over all such priors, one prior, and those near points."""
    yield from every_prior(c, bl.pml)


def every_prior(c: Case, kind: Any) -> Iterator[Any]:
    """Compare LDP with the supremum over priors, below which one is and to which others come."""
    level = ratio(bl.ldp(charged(c)))
    yield same(kind(everywhere(c)).sup(), level)
    yield at_most(kind(c.joint).sup(), level)
    found = [ratio(kind(joint).sup()) for joint in nearly_sure(c)]
    yield from (at_most(v, level) for v in found)
    if level.upper < math.inf:
        yield at_most(level * (1 - F(1, 10**6)), largest(*found))
    else:
        yield at_most(10**6, largest(*found))


@says(
    "Definition 4",
    "LIP bounds the information density almost surely; the law is not said, and read as P_XY.",
    part="almost-surely",
    errata=(7,),
    reads="almost surely under P_X x P_Y",
)
def lip_under_the_joint() -> Iterator[Any]:
    """Read under P_XY: Y = X, a fair bit, has density log 2 almost surely, and infinite PMC."""
    joint = bl.pmf([F(1, 2)] * 2) * bl.Mechanism.from_matrix([[1, 0], [0, 1]])
    density = bl.information_density(joint)
    assert same(density(0, 0), 2).holds and same(density(1, 1), 2).holds
    yield at_most(bl.lip(joint), 2)


# -- PMC ------------------------------------------------------------------------------------


@says("Theorem 2", "PMC at y is D_inf(P_X || P_X|Y=y), for finite secrets.", cases=JOINTS)
def theorem_2(c: Case) -> Iterator[Any]:
    """PMC against the divergence; a random function leaks no more, and a witness as much."""
    for y in c.outcomes:
        found = bl.pmc(c.joint)(y)
        yield same(found, bl.max_divergence(c.prior, c.joint.posterior(y)))
        yield at_most(adv.function_leakage(c.joint, c.attribute, y, of="pmc"), found)
        yield adv.witness(c.joint, y, of="pmc").verify()


@says("Remark 2", "PMC is closed under pre-processing, at every outcome.", cases=JOINTS)
def remark_2(c: Case) -> Iterator[Any]:
    """PMC about Z against PMC about X, in chains Z - X - Y."""
    about_z, about_x = c.before
    for y in range(len(c.rows[0])):
        yield at_most(bl.pmc(about_z)(y), bl.pmc(about_x)(y))


@says(
    "Remark 3",
    "PMC is infinite on finite alphabets when an outcome excludes a secret.",
    cases=JOINTS,
)
def remark_3(c: Case) -> Iterator[Any]:
    """PMC at each outcome: infinite if a secret is excluded, and else finite; PML is finite."""
    for y in c.outcomes:
        found = bl.pmc(c.joint)(y)
        excluded = any(not c.rows[x][y] for x in c.secrets)
        yield same(found, math.inf) if excluded else below(found, math.inf)
        yield below(bl.pml(c.joint)(y), math.inf)


@says(
    "Theorem 3", "Costs and randomised functions are equivalent threats, both ways.", cases=JOINTS
)
def theorem_3(c: Case) -> Iterator[Any]:
    """Each construction, on a random cost and on a random function, at every outcome."""
    cost = adv.cost.table(c.priced())
    for y in c.outcomes:
        leaks = adv.cost_leakage(c.joint, cost, y)
        function = adv.function_of_cost(c.joint, cost, y)
        yield same(adv.function_leakage(c.joint, function, y, of="pmc"), leaks)
        yield same(
            adv.cost_leakage(c.joint, adv.cost.guessing(c.attribute), y),
            adv.function_leakage(c.joint, c.attribute, y, of="pmc"),
        )


@says("Corollary 1", "PMC is the supremum over cost functions.", cases=JOINTS)
def corollary_1(c: Case) -> Iterator[Any]:
    """A random cost leaks no more than PMC; the witness, a cost, attains it."""
    for y in c.outcomes:
        cost = adv.cost.table(c.priced())
        yield at_most(adv.cost_leakage(c.joint, cost, y), bl.pmc(c.joint)(y))
        yield adv.witness(c.joint, y, of="pmc", as_="cost").verify()


@says(
    "Definition 8",
    "Maximal cost leakage is -log sum_y min_x P(y|x), without the prior (cited).",
    part="cited",
    cases=JOINTS,
)
def definition_8(c: Case) -> Iterator[Any]:
    """The figure against the sum in Fractions."""
    least = sum((min(c.rows[x][y] for x in c.secrets) for y in c.outcomes), F(0))
    yield same(bl.maximal_cost_leakage(c.joint), 1 / least if least else math.inf)


@says("Proposition 2", "Maximal cost leakage needs costs of the secret only.", cases=JOINTS)
def proposition_2(c: Case) -> Iterator[Any]:
    """The cost 1[x = w]/P(x) attains it; costs of random functions of the secret stay below."""
    found = bl.maximal_cost_leakage(c.joint)
    yield same(adv.cost_leakage(c.joint, adv.cost.reciprocal(c.prior)), found)
    yield at_most(adv.cost_leakage(c.joint, adv.cost.guessing(c.attribute)), found)


@says("Equation 9", "Maximal cost leakage is at most the mean of PMC.", cases=POSITIVE)
def equation_9(c: Case) -> Iterator[Any]:
    """Both figures; where PMC is constant they are equal (see the part that is refuted)."""
    yield at_most(value(bl.maximal_cost_leakage(c.joint)), value(bl.pmc(c.joint).mean()))


@says(
    "Equation 9",
    "The inequality is strict, since the logarithm is strictly concave.",
    part="strict",
    errata=(5,),
    reads="strict unless PMC is constant, as it is for randomised response and a uniform prior",
)
def equation_9_strict() -> Iterator[Any]:
    """Randomised response under the uniform prior: maximal cost leakage, PMC at each outcome."""
    joint = response([F(1, 3)] * 3, F(3))
    yield from (below(bl.maximal_cost_leakage(joint), bl.pmc(joint)(y)) for y in range(3))


@says(
    "Section III-C",
    "Maximal realizable cost, D_inf(P_X x P_Y || P_XY), is the largest PMC.",
    part="realizable",
    cases=JOINTS,
)
def section_3_c(c: Case) -> Iterator[Any]:
    """The supremum of PMC against the divergence of the two laws of pairs, in Fractions."""
    densities = [c.density(x, y) for x in c.secrets for y in c.outcomes]
    yield same(bl.pmc(c.joint).sup(), 1 / min(densities) if min(densities) else math.inf)


@says(
    "Section III-D",
    "Pointwise maximal guesswork leakage is at most PMC; that they are equal is cited.",
    part="guesswork",
    cases=JOINTS,
)
def section_3_d(c: Case) -> Iterator[Any]:
    """The cost of how many guesses are needed, of the secret and of a random function of it."""
    for function in (None, [[F(v) for v in row] for row in c.attribute.matrix.tolist()]):
        letters = len(function[0] if function else c.p)
        orders = list(permutations(range(1, letters + 1)))
        costs = [
            [sum((v * k for v, k in zip(row, order, strict=True)), F(0)) for order in orders]
            for row in function or [[F(x == u) for u in range(letters)] for x in range(letters)]
        ]
        for y in c.outcomes:
            leaks = adv.cost_leakage(c.joint, adv.cost.table(costs), y)
            yield at_most(leaks, bl.pmc(c.joint)(y))


@says("Example 2", "An adversary of least L_p distance is one of PMC's.", cases=JOINTS)
def example_2(c: Case) -> Iterator[Any]:
    """The leakage of squared and of absolute distance against PMC."""
    for y in c.outcomes:
        for p in (1, 2):
            yield at_most(adv.cost_leakage(c.joint, adv.cost.distance(p), y), bl.pmc(c.joint)(y))


@says("Example 3", "An adversary of least alpha-loss is one of PMC's.", cases=JOINTS)
def example_3(c: Case) -> Iterator[Any]:
    """The leakage of alpha-losses against PMC."""
    for y in c.outcomes:
        for alpha in (1, F(3, 2), 2, math.inf):
            found = adv.cost_leakage(c.joint, adv.cost.alpha_loss(alpha), y)
            yield at_most(found, bl.pmc(c.joint)(y))


def noisy() -> list[tuple[Joint, float, Any]]:
    """Return continuous joints with outcomes, and f_Y(y) / inf_x f(y|x) there in closed form."""
    unit = bl.Interval(0, 1)
    laplace = bl.uniform(unit) * bl.mechanisms.laplace(b=0.5, secret=unit)
    gaussian = bl.uniform(unit) * bl.mechanisms.gaussian(sigma=1.0, secret=unit)
    near, far, half = (arb(-0.5)).exp(), (arb(-1.5)).exp(), arb(0.5)
    mass = (half / arb(2).sqrt()).erf() * (2 * arb.pi()).sqrt()
    return [
        (laplace, -0.5, (arb(2).exp() - 1) / 2),
        (laplace, 0.25, (2 - near - far) / 2 / far),
        (laplace, 2.0, (arb(2).exp() - 1) / 2),
        (gaussian, 0.5, mass / (-(half**2) / 2).exp()),
        (bl.uniform(unit) * bl.mechanisms.clayton(eta=0.25, theta=1.0), 0.5, arb(4)),
    ]


@says(
    "Theorem 4",
    "PMC is D_inf(P_X || P_X|Y=y) on general alphabets.",
    scope="3 named continuous joints, 5 outcomes, closed forms",
)
def theorem_4() -> Iterator[Any]:
    """PMC by the engine against the divergence in Arb; a cost that comes within 0.01 of it."""
    for joint, y, truth in noisy():
        with bl.options(closed_forms=False):
            yield same(bl.pmc(joint)(y), ball(truth))
    yield adv.witness(noisy()[0][0], 0.25, of="pmc").verify()


@says(
    "Remark 4",
    "PMC is the essential supremum of -i(X; y), and of f_Y(y) / f(y|X).",
    scope="3 named continuous joints, closed forms",
)
def remark_4() -> Iterator[Any]:
    """-i(x; y) at some secrets is at most PMC at each outcome, and within 1/40 of it at one."""
    for joint, y, truth in noisy():
        density = bl.information_density(joint)
        found = [1 / ratio(density(x, y)) for x in (0.001, 0.25, 0.5, 0.999)]
        yield from (at_most(v, ball(truth)) for v in found)
        yield at_most(ball(truth) * F(39, 40), largest(*found))


PAPER.cannot(
    "Remark 4",
    "y -> PMC(y) is measurable on standard Borel spaces.",
    "measurability is no figure: it needs the proof of the paper",
    part="measurable",
)


@says("Corollary 2", "Conditional PMC is D_inf(P_X|z || P_X|y,z).", cases=JOINTS)
def corollary_2(c: Case) -> Iterator[Any]:
    """Conditional PMC against posteriors in Fractions, for side information Z - X - Y."""
    found = bl.pmc(c.joint, given=c.side)
    for z, prior in _given(c):
        under = Case(prior, c.rows)
        for y in under.outcomes:
            later = under.posterior(y)
            truth = max(prior[x] / later[x] if later[x] else math.inf for x in under.secrets)
            yield same(found[z](y), truth)


def _given(c: Case) -> Iterator[tuple[int, list[F]]]:
    """Yield the values of the side information, each with the prior it leaves."""
    known = Case(c.p, [[F(v) for v in row] for row in c.side.matrix.tolist()])
    for z in known.outcomes:
        yield z, known.posterior(z)


@says(
    "Corollary 2",
    "Where Z - X - Y, conditional PMC is D_inf(P_X|z || P_X|y).",
    part="chain",
    errata=(2,),
    reads="D_inf(P_X|z || P_X|y,z)",
)
def corollary_2_chain() -> Iterator[Any]:
    """Y independent of X and Z a noisy copy: conditional PMC is 0, the stated divergence is not."""
    copy = bl.Mechanism.from_matrix([[F(3, 4), F(1, 4)], [F(1, 4), F(3, 4)]])
    joint = bl.pmf([F(1, 2)] * 2) * bl.Mechanism.from_matrix([[F(1, 2), F(1, 2)]] * 2)
    stated = bl.max_divergence((joint.prior * copy).posterior(0), joint.posterior(0))
    yield same(bl.pmc(joint, given=copy)[0](0), stated)


@says("Lemma 1", "PMC is not negative.", part="i", cases=JOINTS)
def lemma_1_i(c: Case) -> Iterator[Any]:
    """PMC at every outcome."""
    yield from (at_most(1, bl.pmc(c.joint)(y)) for y in range(len(c.rows[0])))


@says("Lemma 1", "PMC of an independent outcome is 0.", part="ii", cases=JOINTS)
def lemma_1_ii(c: Case) -> Iterator[Any]:
    """PMC of a mechanism with equal rows."""
    joint = c.prior * bl.Mechanism.from_matrix([c.marginal] * len(c.p))
    yield from (same(bl.pmc(joint)(y), 1) for y in c.outcomes)


@says("Lemma 1", "PMC of independent secrets and releases adds.", part="iii", cases=JOINTS)
def lemma_1_iii(c: Case) -> Iterator[Any]:
    """PMC of the product of two joints against the sum, at pairs of outcomes."""
    other = Case(law(c.rng, 2), rows(c.rng, 2, 3, "zeros"))
    p = [a * b for a in c.p for b in other.p]
    kernel = [[a * b for a in r for b in s] for r in c.rows for s in other.rows]
    both = bl.pmc(bl.pmf(p) * bl.Mechanism.from_matrix(kernel))
    first, second = bl.pmc(c.joint), bl.pmc(other.joint)
    for y in c.outcomes:
        for z in other.outcomes:
            yield same(both(y * 3 + z), ratio(first(y)) * second(z))


@says("Lemma 1", "PMC at an outcome is concave in the prior.", part="iv", cases=JOINTS)
def lemma_1_iv(c: Case) -> Iterator[Any]:
    """PMC under the middle of two priors against the mean of both."""
    other = law(c.rng, len(c.p), "zeros")
    middle = [(a + b) / 2 for a, b in zip(c.p, other, strict=True)]
    at = [Case(p, c.rows) for p in (c.p, other, middle)]
    for y in set(at[0].outcomes) & set(at[1].outcomes):
        first, second, mixed = (ratio(bl.pmc(case.joint)(y)) for case in at)
        yield at_most(first * second, mixed * mixed)


@says("Lemma 1", "PMC has a pre-processing inequality.", part="v", cases=JOINTS)
def lemma_1_v(c: Case) -> Iterator[Any]:
    """As Remark 2."""
    yield from remark_2(c)


@says("Lemma 1", "The supremum of PMC does not rise by post-processing.", part="vi", cases=JOINTS)
def lemma_1_vi(c: Case) -> Iterator[Any]:
    """Both suprema, for a random post-processing."""
    yield at_most(bl.pmc(c.released).sup(), bl.pmc(c.joint).sup())


@says(
    "Lemma 1",
    "PMC of two releases is at most the sum of conditional ones.",
    part="vii",
    cases=JOINTS,
)
def lemma_1_vii(c: Case) -> Iterator[Any]:
    """PMC of pairs of outcomes of an adaptive release against PMC and conditional PMC."""
    yield from composition(c, bl.pmc)


def composition(c: Case, kind: Any) -> Iterator[Any]:
    """Compare leakage at pairs of outcomes with the sum of leakage and conditional leakage."""
    both, first = kind(c.composed), kind(c.joint)
    for y in c.outcomes:
        under = Case(c.posterior(y), [[F(v) for v in r] for r in c.second[y].matrix.tolist()])
        after = kind(under.joint)
        for z in under.outcomes:
            yield at_most(both((y, z)), ratio(first(y)) * after(z))


@says(
    "Example 4",
    "PMC of randomised response is log(1 + P(j)(e^eps - 1)), at most eps.",
    scope="5 priors, 2 levels each",
)
def example_4() -> Iterator[Any]:
    """PMC at every outcome and its supremum, and LDP, under the priors of Figure 1."""
    for p in PRIORS[:5]:
        for level in (F(3, 2), F(20)):
            joint = response(p, level)
            yield from (same(bl.pmc(joint)(j), 1 + v * (level - 1)) for j, v in enumerate(p))
            yield same(bl.pmc(joint).sup(), 1 + max(p) * (level - 1))
            yield same(bl.ldp(joint), level)


def adapted(p: list[F], level: F) -> dict[str, F]:
    """Return the parameters of randomised response whose LDP, PMC and PML are a level."""
    rest = 1 - level * min(p)
    return {
        "ldp": level,
        "pmc": 1 + (level - 1) / max(p),
        "pml": level * (1 - min(p)) / rest if rest > 0 else math.inf,  # type: ignore[dict-item]
    }


def tuned(p: list[F], level: F) -> F:
    """Return e to the PML of randomised response with e^epsilon_r = level."""
    return level / (min(p) * (level - 1) + 1)


@says(
    "Example 4",
    "Tuned to PMC rather than to PML, log e^eps/(p_min(e^eps - 1) + 1) of randomised response, the "
    "parameter is larger iff eps <= log((1 - p_max)/p_min).",
    part="threshold",
    scope="6 priors, 12 levels each",
)
def example_4_threshold() -> Iterator[Any]:
    """The tuned parameters at levels on both sides of the threshold, checked on the joints."""
    for p in PRIORS:
        cut, top = (1 - max(p)) / min(p), 1 / min(p)
        for k in range(1, 13):
            level = 1 + (top - 1) * F(k, 13)
            made = adapted(p, level)
            yield (made["pmc"] >= made["pml"]) == (level <= cut)
            yield made["pmc"] >= level and made["pml"] >= level
            if len(p) <= 5:
                yield same(bl.pml(response(p, made["pmc"])).sup(), tuned(p, made["pmc"]))
                yield same(bl.pmc(response(p, made["pmc"])).sup(), level)
                yield same(bl.pml(response(p, made["pml"])).sup(), level)


@says(
    "Figure 1",
    "Randomised response tuned to PMC or PML is more useful than tuned to LDP.",
    scope="the 6 panels, 4 levels each",
)
def figure_1() -> Iterator[Any]:
    """Mutual information of the tuned mechanisms, and its order at the threshold of Example 4."""
    for p in PRIORS:
        cut, top = (1 - max(p)) / min(p), 1 / min(p)
        for k in range(1, 5):
            level = 1 + (top - 1) * F(k, 5)
            made = adapted(p, level)
            found = {name: value(useful(p, r)) for name, r in made.items()}
            yield at_most(found["ldp"], found["pmc"])
            yield at_most(found["ldp"], found["pml"])
            if level != cut:
                yield at_most(
                    *(found[n] for n in (("pml", "pmc") if level < cut else ("pmc", "pml")))
                )


def useful(p: list[F], level: F) -> Any:
    """Return the mutual information of randomised response; in floats for many secrets."""
    if len(p) <= 10:
        return bl.mutual_information(response(p, level))
    mech = bl.mechanisms.randomized_response(k=len(p), epsilon=math.log(level))
    return bl.mutual_information(bl.pmf([float(v) for v in p]) * mech)


@says(
    "Example 5",
    "PMC of the extremal mechanism is log p/(1 - e^eps (1 - p)).",
    scope="5 priors, 2 levels each",
)
def example_5() -> Iterator[Any]:
    """PMC at every outcome, its supremum, PML and the marginal, under the priors of Figure 1."""
    for p in PRIORS[:5]:
        for part in (F(1, 4), F(3, 4)):
            level = 1 + part * (1 / (1 - min(p)) - 1)
            joint = extremal(p, level)
            yield from (same(bl.pmc(joint)(j), to_cost(level, v)) for j, v in enumerate(p))
            yield same(bl.pmc(joint).sup(), to_cost(level, min(p)))
            yield same(bl.pml(joint).sup(), level)
            yield joint.marginal.probabilities.tolist() == p


@says(
    "Example 6",
    "PMC of an entry under Laplace noise on a mean; at most (d - c)/(nb); the uniform case.",
    scope="uniform entries, n = 1 and 3, 5 outcomes; bits, n up to 100",
)
def example_6() -> Iterator[Any]:
    """Suprema against the closed forms in Arb; of three uniform entries, at outcomes too."""
    for scale in (0.5, 1.0, 4.0):
        joint = bl.uniform(bl.Interval(0, 1)) * bl.mechanisms.laplace(b=scale)
        steep = (1 / arb(scale)).exp()
        with bl.options(closed_forms=False):
            found = bl.pmc(joint).sup()
        yield same(found, ball(arb(scale) * (steep - 1)))
        yield below(found, ball(steep))
    three = bl.iid(bl.uniform(bl.Interval(0, 1)), 3) * bl.mechanisms.laplace_mean(n=3, b=0.25)
    lam, truth = bl.pmc(bl.entry(three)), ball(arb(3) / 4 * ((arb(4) / 3).exp() - 1))
    yield from (same(v, truth) for v in (lam.sup(), lam(-1.0), lam(1.5)))
    yield from (below(lam(y), truth) for y in (0.1, 0.5, 0.9))
    for n, p in ((2, F(1, 2)), (100, F(1, 5))):
        bits = bl.iid(bl.pmf([1 - p, p]), n)
        query = bl.mechanisms.counting_query(n=n, b=0.25, of="fraction")
        steep, up = (arb(4) / n).exp(), arb(p.numerator) / p.denominator
        truth = largest(ball(1 - up + up * steep), ball(steep * (1 - up + up / steep)))
        found = bl.pmc(bl.entry(bits * query)).sup()
        yield same(found, truth)
        yield below(found, ball(steep))


def plus_minus(size: float) -> Joint:
    """Return standard Gaussian noise on a fair sign of a size."""
    on = bl.Finite([-size, size])
    return bl.pmf([0.5, 0.5], on=on) * bl.mechanisms.gaussian(sigma=1.0, secret=on)


@says(
    "Example 7",
    "Gaussian noise on |X| <= A, K the log of E e^tX: A|y|/s^2 <= A|y|/s^2 + K(y/s^2) <= PMC <= "
    "A(A + 2|y|)/2s^2 + K(y/s^2) <= A(A + 4|y|)/2s^2; PMC is unbounded; its tail.",
    scope="3 secrets of mean 0 on [-1, 1], 6 outcomes each; 5 tails, at 3 values of r = A^2/s^2",
)
def example_7() -> Iterator[Any]:
    """PMC at outcomes, of a fair sign and two more; its supremum; its tail against the bound."""
    three, unit = bl.Finite([-1.0, 1 / 512, 1.0]), bl.Interval(-1, 1)
    for joint, moments in (
        (plus_minus(1.0), lambda t: t.cosh()),
        (
            bl.pmf([F(5, 1032), F(1024, 1032), F(3, 1032)], on=three)
            * bl.mechanisms.gaussian(sigma=1.0, secret=three),
            lambda t: (5 * (-t).exp() + 1024 * (t / 512).exp() + 3 * t.exp()) / 1032,
        ),
        (
            bl.uniform(unit) * bl.mechanisms.gaussian(sigma=1.0, secret=unit),
            lambda t: t.sinh() / t if t != 0 else arb(1),
        ),
    ):
        lam = bl.pmc(joint)
        for y in (-3.0, -0.5, 0.0, 0.25, 1.0, 100.0):  # upper bounds are near at 0 and far out
            found, k = value(lam(y)), moments(arb(y)).log()
            yield at_most(abs(F(y)), found)
            yield up_to(ball(abs(arb(y)) + k), found)  # equal for X = +-A
            yield at_most(found, ball(arb(1) / 2 + abs(arb(y)) + k))
            yield at_most(found, (1 + 4 * abs(F(y))) / 2)
    yield same(bl.pmc(plus_minus(1.0)).sup(), math.inf)
    for size, beta in ((1.0, 2), (1.0, 6), (0.25, 1), (2.0, 8), (2.0, 20)):
        r = arb(size) ** 2
        bound = ball(2 * (-(arb(beta) ** 2) / (8 * (r**2 + r))).exp())
        tail = bl.pmc(plus_minus(size)).tail(beta + size**2 / 2, closed=True)
        yield at_most(value(tail), bound)


@says(
    "Example 7",
    "The lower bound A|y|/s^2 needs |X| <= A only.",
    part="support",
    errata=(8,),
    reads="with +A and -A in the essential support of X",
)
def example_7_support() -> Iterator[Any]:
    """X = +-1/4, which also has |X| <= 1: PMC at 2 against |y| = 2."""
    yield at_most(2, value(bl.pmc(plus_minus(0.25))(2.0)))


# -- PML and PMC ----------------------------------------------------------------------------


@says("Proposition 3", "LDP implies PMC at log(e^eps - p_min (e^eps - 1)).", cases=POSITIVE)
def proposition_3(c: Case) -> Iterator[Any]:
    """The supremum of PMC against what follows from LDP."""
    level = ratio(bl.ldp(c.joint))
    yield at_most(bl.pmc(c.joint).sup(), level * (1 - c.least) + c.least)


@says("Theorem 5", "epsilon-LDP is epsilon-PMC under every prior of full support.", cases=JOINTS)
def theorem_5(c: Case) -> Iterator[Any]:
    """As Theorem 1, of PMC."""
    yield from every_prior(c, bl.pmc)


@says("Theorem 6", "PML implies PMC in the high-privacy regime.", part="i", cases=PRIVATE)
def theorem_6_i(c: Case) -> Iterator[Any]:
    """The supremum of PMC against eps_l* of the supremum of PML."""
    level = bl.pml(c.joint).sup().ratio.upper
    yield at_most(bl.pmc(c.joint).sup(), to_cost(level, c.least))


@says("Theorem 6", "PMC implies PML.", part="ii", cases=POSITIVE)
def theorem_6_ii(c: Case) -> Iterator[Any]:
    """The supremum of PML against eps_u* of the supremum of PMC."""
    level = bl.pmc(c.joint).sup().ratio.upper
    yield at_most(bl.pml(c.joint).sup(), to_leakage(level, c.least))


@says(
    "Remark 5",
    "Outside the high-privacy regime PML implies no PMC.",
    scope="5 priors, the level where it begins",
)
def remark_5() -> Iterator[Any]:
    """At e^eps = 1/(1 - p_min): a mechanism of that PML, at both outcomes, of infinite PMC."""
    for p in PRIORS[:5]:
        n, least = len(p), p.index(min(p))
        share = min(p) / (1 - min(p))
        keep = [[share, 1 - share] for _ in range(n)]
        keep[least] = [F(0), F(1)]
        joint = bl.pmf(p) * bl.Mechanism.from_matrix(keep)
        yield from (same(bl.pml(joint)(y), 1 / (1 - min(p))) for y in range(2))
        yield same(bl.pmc(joint).sup(), math.inf)


@says(
    "Remark 6",
    "The translation from PML to PMC cannot be improved.",
    scope="5 priors, 7 levels each",
)
def remark_6() -> Iterator[Any]:
    """The extremal mechanism attains eps_l* at every level tried."""
    for p in PRIORS[:5]:
        for k in range(1, 8):
            level = 1 + F(k, 8) * (1 / (1 - min(p)) - 1)
            yield same(bl.pmc(extremal(p, level)).sup(), to_cost(level, min(p)))


@says(
    "Figure 2",
    "The curves eps_l*(eps_u) and eps_u*(eps_l): apart for four secrets, one for a fair bit.",
    scope="2 priors, 19 levels",
)
def figure_2() -> Iterator[Any]:
    """What the calculus derives at each level against both formulas, in exact ratios."""
    for p in ([F(3, 10), F(3, 10), F(1, 5), F(1, 5)], [F(1, 2), F(1, 2)]):
        least = min(p)
        for k in range(1, 20):
            level = 1 + F(k, 20) * (1 / (1 - least) - 1)
            back = to_leakage(to_cost(level, least), least)
            yield back == level if least == F(1, 2) else back > level
            derived = g.implied(g.PML(ratio=level), p_min=least).guarantees
            yield g.PMC(ratio=to_cost(level, least)) in derived


def attained(p: list[F], level: F) -> Joint:
    """Return a mechanism with e^PMC = level, and e^PML = e^eps_u* of it: Theorem 6(ii), met.

    With probability p_min/2 an outcome divides the posterior of all secrets but the rarest by the
    level.
    """
    rare, share = p.index(min(p)), min(p) / 2
    after = [mass / level for mass in p]
    after[rare] = 1 - (1 - min(p)) / level
    seen = [share * q / mass for q, mass in zip(after, p, strict=True)]
    return bl.pmf(p) * bl.Mechanism.from_matrix([[v, 1 - v] for v in seen])


def figure_2_levels() -> Iterator[tuple[list[F], F]]:
    """Yield the priors of Figure 2, each with levels e^eps_u of the high-privacy regime."""
    for p in ([F(3, 10), F(3, 10), F(1, 5), F(1, 5)], [F(1, 2), F(1, 2)]):
        for k in range(1, 6):
            yield p, 1 + F(k, 6) * (1 / (1 - min(p)) - 1)


@says(
    "Figure 2",
    "Above eps_l*(eps_u) eps_u-PML is strictly stronger than eps_l-PMC, right of eps_u*(eps_l) it "
    "is the other way round, and strictly between the curves neither implies the other; for a fair "
    "bit nothing is between them.",
    part="regions",
    scope="2 priors, 5 levels each, a mechanism for each failing implication",
)
def figure_2_regions() -> Iterator[Any]:
    """Mechanisms that have one guarantee and not the other; that the others follow is Theorem 6."""
    for p, leak in figure_2_levels():
        least, cost = min(p), to_cost(leak, min(p))
        best = extremal(p, leak)  # eps_u-PML, and no less PMC than eps_l*
        yield same(bl.pml(best).sup(), leak)
        yield same(bl.pmc(best).sup(), cost)
        above = 2 * cost  # eps_l-PMC, and more PML than eps_u
        private = extremal(p, (1 - least / above) / (1 - least))
        yield same(bl.pmc(private).sup(), above)
        yield below(leak, bl.pml(private).sup())
        right = (1 + attaining(leak, least)) / 2  # eps_u-PML, and more PMC than eps_l
        yield below(to_leakage(right, least), leak)
        yield below(right, bl.pmc(best).sup())
        if least < F(1, 2):  # an eps_l between the curves
            between = (cost + attaining(leak, least)) / 2
            yield below(between, bl.pmc(best).sup())
            yield same(bl.pmc(attained(p, between)).sup(), between)
            yield below(leak, bl.pml(attained(p, between)).sup())
        else:
            yield attaining(leak, least) == cost


def attaining(leak: F, least: F) -> F:
    """Return the e^eps_l of which e^eps_u* is a level: the inverse of Theorem 6(ii)."""
    return (1 - least) / (1 - least * leak)


@says(
    "Figure 2",
    "Neither guarantee is stronger where eps_u* >= eps_u and eps_l* >= eps_l.",
    part="boundary",
    scope="the stated levels",
    errata=(21,),
    reads="with > for >=: on the curves themselves one implies the other",
)
def figure_2_boundary() -> Iterator[Any]:
    """Four secrets, eps_l = eps_l*(eps_u): eps_u-PML has no more PMC, eps_l-PMC has more PML."""
    for p, leak in figure_2_levels():
        if min(p) < F(1, 2):
            cost = to_cost(leak, min(p))
            other = attained(p, cost)  # eps_l-PMC, and not eps_u-PML
            assert same(bl.pmc(other).sup(), cost).holds
            assert below(leak, bl.pml(other).sup()).holds
            yield below(cost, bl.pmc(extremal(p, leak)).sup())  # the most, by Theorem 6(i)


@says("Corollary 3", "PML gives ALIP, LIP and LDP.", part="i", cases=PRIVATE)
def corollary_3_i(c: Case) -> Iterator[Any]:
    """The levels of the joint against those that follow from its PML."""
    level = bl.pml(c.joint).sup().ratio.upper
    cost = to_cost(level, c.least)
    yield at_most(bl.alip(c.joint).lower, cost)
    yield at_most(bl.lip(c.joint), max(cost, level))
    yield at_most(bl.ldp(c.joint), cost * level)


@says("Corollary 3", "PMC gives ALIP, LIP and LDP.", part="ii", cases=POSITIVE)
def corollary_3_ii(c: Case) -> Iterator[Any]:
    """The levels of the joint against those that follow from its PMC."""
    level = bl.pmc(c.joint).sup().ratio.upper
    leak = to_leakage(level, c.least)
    yield at_most(bl.alip(c.joint).upper, leak)
    yield at_most(bl.lip(c.joint), max(leak, level))
    yield at_most(bl.ldp(c.joint), leak * level)


BITS = Cases(styles=("plain", "ties"), sizes=(2, 2), outcomes=(2, 4))


@says("Corollary 4", "For a fair bit, PML, PMC, ALIP, LIP and LDP are equivalent.", cases=BITS)
def corollary_4(c: Case) -> Iterator[Any]:
    """Each level against the one that the level of PML stands for, both ways."""
    joint = charged(c)
    level = bl.pml(joint).sup().ratio.upper
    cost = to_cost(level, F(1, 2))
    yield at_most(bl.pmc(joint).sup(), cost)
    yield at_most(bl.alip(joint).lower, cost)
    yield at_most(bl.alip(joint).upper, level)
    yield at_most(bl.lip(joint), cost)
    yield at_most(bl.ldp(joint), cost * level)
    for found, leak in (
        (bl.pmc(joint).sup().ratio.upper, lambda v: to_leakage(v, F(1, 2))),
        (bl.lip(joint).ratio.upper, lambda v: to_leakage(v, F(1, 2))),
        (bl.ldp(joint).ratio.upper, lambda v: 2 * v / (1 + v)),
    ):
        yield at_most(level, leak(found))


@says(
    "Footnote 5",
    "Binary randomised response at eps + log 2/(2 - e^eps) is the extremal mechanism.",
    errata=(5, 18),
    reads="at eps - log(2 - e^eps), and after swapping the outcomes",
)
def footnote_5() -> Iterator[Any]:
    """The two matrices at e^eps = 3/2, outcomes swapped or not, in Fractions."""
    level, half = F(3, 2), [F(1, 2)] * 2
    target = extremal(half, level).mechanism.matrix
    stated = response(half, level * 2 / (2 - level)).mechanism.matrix
    mended = response(half, level / (2 - level)).mechanism.matrix
    assert (mended[:, ::-1] == target).all() and not (mended == target).all()
    yield bool((stated == target).all() or (stated[:, ::-1] == target).all())


@says(
    "Corollary 5",
    "The optimal ALIP mechanism is the optimal PML mechanism of the high-privacy regime: "
    "the extremal one, for the utility mutual information.",
    cases=PRIVATE,
)
def corollary_5(c: Case) -> Iterator[Any]:
    """eps_u-PML gives (eps_l*, eps_u)-ALIP; the extremal one has the most mutual information."""
    level = bl.pml(c.joint).sup().ratio.upper
    yield at_most(bl.alip(c.joint).lower, to_cost(level, c.least))
    if len(c.secrets) == len(c.p):
        best = bl.mutual_information(extremal(c.p, level))
        if len(c.outcomes) > 1 and level > 1:
            yield at_most(value(bl.mutual_information(c.joint)), value(best))


@says(
    "Corollary 5",
    "The same for every sub-convex utility.",
    part="every-utility",
    cases=PRIVATE,
)
def corollary_5_every_utility(c: Case) -> Iterator[Any]:
    """Each joint of that PML is a post-processing of the extremal one, which no utility gains by.

    With L the level and k* the extremal kernel, W(z|y) = (L P_Z(z) - k(z|y)) / (L - 1) is a kernel
    and k = k* W; a sub-convex utility is a sum over outcomes of a sublinear function of columns.
    """
    level = bl.pml(c.joint).sup().ratio.upper
    if level > 1:
        after = [
            [(level * mass - v) / (level - 1) for mass, v in zip(c.marginal, row, strict=True)]
            for row in c.rows
        ]
        yield all(v >= 0 for row in after for v in row) and all(sum(row) == 1 for row in after)
        best = [[F(v) for v in row] for row in extremal(c.p, level).mechanism.matrix.tolist()]
        yield product(best, after) == c.rows


@says(
    "Example 8", "A countable joint has PMC log 2 and unbounded PML.", scope="proved by the engine"
)
def example_8() -> Iterator[Any]:
    """Every row of `borel reproduce counterexamples`: by theorem and by the engine."""
    yield from (row.agrees for row in counterexamples.example_8())


@says(
    "Example 9",
    "The Clayton mixture has PMC at most log 1/eta and unbounded PML.",
    scope="proved by the engine, 3 values of theta",
    errata=(8,),
)
def example_9() -> Iterator[Any]:
    """Every row of `borel reproduce counterexamples`; PMC equals log 1/eta at each outcome."""
    for theta in counterexamples.THETAS:
        yield from (row.agrees for row in counterexamples.example_9(eta=0.1, theta=theta))
        joint = bl.uniform(bl.Interval(0, 1)) * bl.mechanisms.clayton(eta=0.25, theta=theta)
        met = [same(bl.pmc(joint)(y), 4).holds for y in (0.125, 0.5, 0.75)]
        yield Sharper(all(met), "PMC is log 1/eta at every outcome tried, for each theta > 0")


@says("Theorem 7", "LDP is bounded PMC and bounded PML, on every alphabet.", cases=POSITIVE)
def theorem_7(c: Case) -> Iterator[Any]:
    """LDP against PMC and PML, and against their sum."""
    level, leak, cost = bl.ldp(c.joint), bl.pml(c.joint).sup(), bl.pmc(c.joint).sup()
    yield at_most(leak, level)
    yield at_most(cost, level)
    yield at_most(level, ratio(leak) * cost)


@says(
    "Theorem 7",
    "LDP is bounded PMC and bounded PML, on every alphabet.",
    part="continuous",
    scope="Laplace noise and the Clayton mixture",
)
def theorem_7_continuous() -> Iterator[Any]:
    """LDP of Laplace noise is the sum of both, with equality; PML of the mixture is infinite."""
    joint = bl.uniform(bl.Interval(0, 1)) * bl.mechanisms.laplace(b=0.5, secret=bl.Interval(0, 1))
    level, leak, cost = bl.ldp(joint), bl.pml(joint).sup(), bl.pmc(joint).sup()
    yield from (at_most(leak, level), at_most(cost, level))
    yield same(level, ratio(leak) * cost)
    mixture = bl.uniform(bl.Interval(0, 1)) * bl.mechanisms.clayton(eta=0.25, theta=1.0)
    yield same(bl.pml(mixture).sup(), math.inf)


@says(
    "Section VI",
    "A binary outcome that settles the secret has infinite PMC.",
    part="binary",
    scope="3 priors",
)
def section_6_binary() -> Iterator[Any]:
    """PMC and PML where the posterior is a point mass, for several priors."""
    for p in (F(1, 10), F(1, 2), F(9, 10)):
        joint = bl.pmf([p, 1 - p]) * bl.Mechanism.from_matrix([[1, 0], [F(1, 2), F(1, 2)]])
        yield same(bl.pmc(joint)(1), math.inf)
        yield same(bl.pml(joint)(1), 1 / (1 - p))


@says(
    "Section VI",
    "PMC of Gaussian noise on a Gaussian secret is undefined.",
    part="gaussian",
    errata=(5,),
    reads="infinite, by Theorem 4; PML is finite at every outcome",
)
def section_6_gaussian() -> Iterator[Any]:
    """PMC at an outcome is infinite and PML is (1 + log 2)/2 at 1: a value, so not undefined."""
    joint = bl.normal() * bl.mechanisms.gaussian(sigma=1.0)
    assert same(value(bl.pml(joint)(1.0)), ball(arb(2).log() / 2 + arb(1) / 4)).holds
    found = bl.pmc(joint)(1.0)
    yield not (found.proved and found.lower == math.inf)


@says("Lemma 2", "A randomised guess costs no less than the best action.", cases=JOINTS)
def lemma_2(c: Case) -> Iterator[Any]:
    """Prior and posterior costs against the least mean over actions, and over a random mixture."""
    table = c.table()
    cost, weights = adv.cost.table(table), law(c.rng, 3)
    for q, found in (
        (c.p, adv.prior_cost(c.joint, cost)),
        *((c.posterior(y), adv.posterior_cost(c.joint, cost, y)) for y in c.outcomes),
    ):
        means = [sum(m * row[w] for m, row in zip(q, table, strict=True)) for w in range(3)]
        yield same(value(found), min(means))
        yield at_most(value(found), sum(m * v for m, v in zip(weights, means, strict=True)))


@says(
    "Table I",
    "PMC bounds the information density below, PML above; PML <= log 1/p_min.",
    cases=JOINTS,
)
def table_1(c: Case) -> Iterator[Any]:
    """Both at every outcome against the information densities in Fractions."""
    for y in c.outcomes:
        densities = [c.density(x, y) for x in c.secrets]
        yield same(bl.pml(c.joint)(y), max(densities))
        yield same(bl.pmc(c.joint)(y), 1 / min(densities) if min(densities) else math.inf)
        yield at_most(bl.pml(c.joint)(y), 1 / c.least)


@says("Table II", "Implications and equivalences of LDP, PML, PMC, LIP and ALIP.", cases=PRIVATE)
def table_2(c: Case) -> Iterator[Any]:
    """Every row of the table on joints of high privacy, where all of them apply."""
    for check in (proposition_1, proposition_3, theorem_6_i, theorem_6_ii, theorem_1, theorem_5):
        yield from check(c)
    leak, cost = bl.pml(c.joint).sup(), bl.pmc(c.joint).sup()
    yield same(bl.lip(c.joint), largest(leak, cost))
    yield from (same(bl.alip(c.joint).lower, cost), same(bl.alip(c.joint).upper, leak))


@says(
    "Section II-D",
    "eps-LIP implies 2 eps-LDP, and (eps_l, eps_u)-ALIP the sum of both.",
    part="cited",
    cases=POSITIVE,
)
def section_2_d(c: Case) -> Iterator[Any]:
    """The level of LDP against both."""
    level, both, asymmetric = bl.ldp(c.joint), ratio(bl.lip(c.joint)), bl.alip(c.joint)
    yield at_most(level, both * both)
    yield at_most(level, ratio(asymmetric.lower) * asymmetric.upper)
