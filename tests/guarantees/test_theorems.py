"""Every theorem of the registry: sound with its premise met with equality, tight if it says so."""

import math
import re
from collections import Counter
from dataclasses import replace
from fractions import Fraction as F
from itertools import cycle

import oracles as o
import pytest
from guarantees import definitions as d
from hypothesis import given
from hypothesis import strategies as st

import borel as bl
from borel import guarantees as g
from borel.guarantees import composition, extremal_examples
from borel.guarantees.facts import Facts, facts_of
from borel.guarantees.theorems_pmc import HIGH_PRIVACY

THEOREMS = g.theorems()
BY_NAME = {t.name: t for t in THEOREMS}


def facts(p):
    """All that is true of a prior."""
    charged = [m for m in p if m > 0]
    return Facts("finite", len(charged), min(charged), max(charged), delta=F(1, 5))


@st.composite
def premise(draw, kind, p, K, delta):
    """A guarantee of a kind that the joint meets with equality, or None if it meets none.

    ``delta`` says which: "delta = 0", "delta > 0", or either.
    """
    name = kind.__name__
    if name == "ALIP":
        lower, upper = o.sup("pmc", p, K), o.sup("pml", p, K)
        return None if math.inf in (lower, upper) else kind(ratio_l=lower, ratio_u=upper)
    if name in ("PML", "PMC"):
        leak = o.curve(name.lower(), p, K)
        values = sorted({leak[y] for y, _ in d.masses(p, K)} - {math.inf}, reverse=True)
        if delta == "delta = 0":
            values = [v for v in values if v == o.sup(name.lower(), p, K)]
        if delta == "delta > 0":
            values = [v for v in values if v < o.sup(name.lower(), p, K)]
        if not values:
            return None
        value = draw(st.sampled_from(values))
        above = sum((m for y, m in d.masses(p, K) if leak[y] > value), F(0))
        return kind(ratio=value, delta=above)
    if name in ("ApproximateDP", "ProbabilisticDP"):
        ratio = draw(st.sampled_from([F(1), F(5, 4), F(2), F(10)]))
        if delta == "delta = 0":
            ratio = max(o.ldp(p, K), F(1))
        if ratio == math.inf:
            return None
        least = d.loss(name, p, K, ratio)
        if least == 0:  # met with equality at the level of pure DP
            ratio = max(o.ldp(p, K), F(1))
        return None if least == 1 else kind(ratio=ratio, delta=least)
    if name in ("EML", "MaxInformation", "TailLeakage"):
        size = F(0) if delta == "delta = 0" else draw(st.sampled_from([F(1, 10), F(1, 4)]))
        return kind(ratio=max(d.level(name, p, K, size), F(1)), delta=size)
    ratio = d.level(name, p, K)
    return None if ratio == math.inf else kind(ratio=ratio)


@pytest.mark.few(3)
@pytest.mark.parametrize("theorem", THEOREMS, ids=lambda t: t.name)
@pytest.mark.hypothesis
def test_the_conclusion_holds_whenever_the_premises_do(theorem):
    told: Counter = Counter()
    deltas = re.findall(r"delta [=>] 0", theorem.condition) or [""]
    zero = theorem.name.startswith("PML paper, Lemma 2(2)")

    @given(st.data())
    def check(data):
        p, K = data.draw(d.joints(positive=data.draw(st.integers(0, 4)) > 0))
        about = facts(p)
        if HIGH_PRIVACY in theorem.condition and data.draw(st.integers(0, 9)):
            t, m = about.p_min / 8, len(K[0])
            K = [[t * k + (1 - t) / m for k in row] for row in K]
        if zero:  # the first outcome says nothing, the others may
            K = [[F(1, 2), *[k / 2 for k in row]] for row in K]
        each = zip(theorem.premises, cycle(deltas), strict=False)  # in the order of the premises
        premises = tuple(data.draw(premise(kind, p, K, delta)) for kind, delta in each)
        if zero:
            (kind,) = theorem.premises
            leak = o.curve(kind.__name__.lower(), p, K)
            above = sum((m for y, m in d.masses(p, K) if leak[y] > 1), F(0))
            premises = (kind(0, delta=above),)
        if None in premises:
            told["no premise"] += 1
            return
        assert all(d.satisfies(q, p, K) for q in premises), "the premise is met"
        if "common_maximiser" in theorem.needs:
            about = replace(about, common_maximiser=True)
            if not common_maximiser(p, K, premises[0]):
                told["condition fails"] += 1
                return
        conclusion = theorem.apply(premises, about)
        if conclusion is None or any(lv.nats == math.inf for lv in conclusion.levels):
            told["says nothing"] += 1
            return
        told["checked"] += 1
        assert d.satisfies(conclusion, p, K), (theorem.name, premises, conclusion)

    check()
    assert told["checked"] > sum(told.values()) / 2, told


def common_maximiser(p, K, eml):
    """Say if one secret attains the leakage of every outcome above epsilon."""
    leak = o.curve("pml", p, K)
    above = [y for y, _ in d.masses(p, K) if not d.log_at_most(leak[y], eml.levels[0])]
    mass = dict(d.masses(p, K))
    return any(all(K[x][y] / mass[y] == leak[y] for y in above) for x in o.support(p))


PRIORS = [
    [F(1, 2), F(1, 2)],
    [F(1, 10), F(9, 10)],
    [F(1, 4)] * 4,
    [F(1, 7), F(2, 7), F(4, 7)],
    [F(1, 10**300), 1 - F(1, 10**300)],
    [F(9, 20), F(9, 20), F(1, 10)],
]
RATIOS = [F(1), F(101, 100), F(2), F(3), F(10**9)]
ATTAINED = [t for t in THEOREMS if t.attained_by is not None]


def exact_levels(kind, p, K):
    """e^level of a kind without exceptions; a pair for ALIP."""
    if kind is g.ALIP:
        return o.sup("pmc", p, K), o.sup("pml", p, K)
    if kind is g.MutualInformation:
        return None
    return (d.level(kind.__name__, p, K),)


@pytest.mark.parametrize("theorem", ATTAINED, ids=lambda t: t.name)
def test_the_conclusion_cannot_be_improved(theorem):
    attained = 0
    for prior in PRIORS:
        for ratio in RATIOS:
            if (
                theorem.attained_by is extremal_examples.pml_extremal
                and ratio * (1 - min(prior)) >= 1
            ) or (theorem.attained_by is extremal_examples.uniform_response and ratio > len(prior)):
                continue  # outside the regime of the theorem, or of the example
            if theorem.attained_by is extremal_examples.uniform_identity and ratio not in (1, 2, 3):
                continue
            example = theorem.attained_by(prior, ratio)
            p, K = example.prior, example.rows
            premises = tuple(kind(ratio=exact_levels(kind, p, K)[0]) for kind in theorem.premises)
            if premises:
                assert premises[0].levels[0].ratio == ratio, "the premise is met with equality"
            conclusion = theorem.apply(premises, facts(p))
            if theorem.conclusion is g.MutualInformation:
                with o.precision(400):
                    gap = o.log(conclusion.levels[0].ratio) - o.mutual_information(p, K)
                    assert abs(gap) < o.ball(F(1, 2**350))
            elif theorem.conclusion in (g.TotalVariation, g.FInformation):
                (truth,) = exact_levels(theorem.conclusion, p, K)
                assert truth <= F(conclusion.epsilon) <= truth * (1 + F(1, 2**50))
            else:
                found = tuple(lv.ratio for lv in conclusion.levels)
                assert found == exact_levels(theorem.conclusion, p, K), (prior, ratio)
            attained += 1
    assert attained >= 3


def test_what_is_said_to_be_attained_comes_with_a_mechanism():
    said = {t.name for t in THEOREMS if t.tight.startswith("attained for every prior")}
    assert len(said) == 10 and said <= {t.name for t in ATTAINED}


@pytest.mark.parametrize("ratios", [(F(2), F(2)), (F(3), F(3, 2)), (F(11, 10), F(5))])
def test_alip_to_ldp_is_attained_for_a_prior_of_its_own(ratios):
    lower, upper = ratios
    p = (1 - 1 / lower) / (upper - 1 / lower)
    w = min((upper - 1) / (upper - 1 / lower), p) / 2
    K = [[w * upper, 1 - w * upper], [w / lower, 1 - w / lower]]
    prior = [p, 1 - p]
    assert (o.sup("pmc", prior, K), o.sup("pml", prior, K)) == (lower, upper)
    conclusion = BY_NAME["PMC paper, ALIP to LDP"].apply(
        (g.ALIP(ratio_l=lower, ratio_u=upper),), Facts()
    )
    assert conclusion.levels[0].ratio == lower * upper == o.ldp(prior, K)


@pytest.mark.parametrize("delta", [F(1, 10), F(1, 2), F(99, 100)])
@pytest.mark.parametrize("n", [2, 5])
def test_the_sharpened_forms_are_attained_by_an_erasure_channel(n, delta):
    example = extremal_examples.erasure(n, delta)
    p, K = example.prior, example.rows
    known = g.PML(ratio=1, delta=delta)
    assert d.satisfies(known, p, K)
    assert not d.satisfies(g.PML(ratio=1, delta=delta * (1 - F(1, 10**9))), p, K)
    average = BY_NAME["PML paper, Lemma 3(2) to average PML, sharpened"].apply((known,), facts(p))
    assert average.levels[0].ratio == o.maximal_leakage(p, K)
    information = BY_NAME["PML paper, Proposition 7(2) to mutual information, sharpened"].apply(
        (known,), facts(p)
    )
    stated = BY_NAME["PML paper, Proposition 7(2)"].apply((known,), facts(p))
    assert o.between(
        information.epsilon * (1 - 1e-15),
        lambda: o.mutual_information(p, K),
        information.epsilon,
    )
    assert stated.epsilon == information.epsilon, "at epsilon = 0 both say delta log n"


COUNTEREXAMPLES = {t.name: t.not_invertible for t in THEOREMS if t.not_invertible is not None}


@pytest.mark.parametrize("make", sorted(set(COUNTEREXAMPLES.values()), key=lambda f: f.__name__))
def test_counterexamples_to_converses(make):
    """Both guarantees are decided by borel, and by the definitions where the joint is finite."""
    found = make()
    joint = found.joint()
    assert joint.satisfies(found.holds).holds is True
    assert joint.satisfies(found.fails).holds is False
    assert len(found.claim) > 20
    if isinstance(found.example, extremal_examples.Example):
        p, K = found.example.prior, found.example.rows
        assert d.satisfies(found.holds, p, K) and not d.satisfies(found.fails, p, K)


@pytest.mark.parametrize("name", sorted(COUNTEREXAMPLES))
def test_counterexamples_refute_the_converse_of_their_theorem(name):
    theorem, found = BY_NAME[name], COUNTEREXAMPLES[name]()
    assert type(found.holds) is theorem.conclusion
    assert type(found.fails) in theorem.premises


def test_corollary_4_the_maps_are_inverse_for_a_fair_bit():
    about = {"p_min": F(1, 2), "alphabet": 2}
    for r in (F(1), F(11, 10), F(3, 2), F(199, 100)):
        found = g.implied(g.PML(ratio=r), **about)
        lower = 1 / (2 - r)
        assert found.best(g.PMC).levels[0].ratio == lower
        assert [lv.ratio for lv in found.best(g.ALIP).levels] == [lower, r]
        assert found.best(g.LIP).levels[0].ratio == lower >= r
        assert found.best(g.LDP).levels[0].ratio == lower * r
        for back in (g.PMC, g.ALIP, g.LIP, g.LDP):
            again = g.implied(found.best(back), **about)
            assert again.best(g.PML) == g.PML(ratio=r), back
    assert g.PMC not in g.implied(g.PML(ratio=2), **about)


def test_corollary_5_alip_is_pml_where_the_lower_side_is_idle():
    for prior in ([F(1, 2), F(1, 2)], [F(1, 5), F(4, 5)], [F(1, 4)] * 4):
        p, r = min(prior), F(21, 20)
        if r * (1 - p) >= 1:
            continue
        star = p / (1 - r * (1 - p))
        found = g.implied(g.PML(ratio=r), prior=bl.pmf(prior))
        assert found.proves(g.ALIP(ratio_l=star, ratio_u=r))
        assert not found.proves(g.ALIP(ratio_l=star * F(999, 1000), ratio_u=r))
        example = extremal_examples.pml_extremal(prior, r)
        assert d.satisfies(g.ALIP(ratio_l=star, ratio_u=r), example.prior, example.rows)
        assert g.implied(g.ALIP(ratio_l=star * 2, ratio_u=r)).proves(g.PML(ratio=r))


def test_universal_guarantees_are_suprema_over_priors():
    """Theorems 1 and 5: the LDP level is approached by priors that pick two secrets."""
    K = [[F(1, 2), F(1, 2)], [F(1, 5), F(4, 5)], [F(1, 3), F(2, 3)]]
    top = o.ldp([F(1, 3)] * 3, K)
    near = F(1, 10**6)
    seen = {"pml": F(1), "pmc": F(1)}
    for i in range(3):
        p = [near] * 3
        p[i] = 1 - 2 * near
        for kind in seen:
            level = o.sup(kind, p, K)
            assert level <= top
            seen[kind] = max(seen[kind], level)
    assert all(level > top * (1 - 10 * near) for level in seen.values())
    joint = bl.pmf([F(1, 3)] * 3) * bl.Mechanism.from_matrix(K)
    for kind in (g.UniversalPML, g.UniversalPMC):
        assert joint.satisfies(kind(ratio=top)).holds is True
        assert joint.satisfies(kind(ratio=top * F(999, 1000))).holds is False


def test_origins_and_sources_are_given():
    for theorem in (*THEOREMS, *composition.STATEMENTS, *composition.JOINTLY):
        assert theorem.source and theorem.statement and theorem.name in repr(theorem)
        assert theorem.origin == "paper" or theorem.proof
    assert {t.origin for t in g.theorems(sharpened=False)} == {"paper"}
    assert len({t.name for t in THEOREMS}) == len(THEOREMS)


def test_facts_that_are_missing_silence_a_theorem():
    theorem = BY_NAME["PMC paper, Theorem 6(ii)"]
    assert theorem.apply((g.PMC(0.5),), Facts("countable")) is None
    assert theorem.apply((g.PMC(0.5),), Facts("finite")) is None
    assert theorem.apply((g.PMC(0.5),), facts_of(p_min=0.1)) is not None
