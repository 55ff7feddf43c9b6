"""The search: sound on whole joints, as good as trying every chain, rounded up, and legible."""

import math
from collections import Counter
from fractions import Fraction as F

import numpy as np
import oracles as o
import pytest
from guarantees import definitions as d
from guarantees.test_theorems import facts, premise
from hypothesis import given, settings
from hypothesis import strategies as st

import borel as bl
from borel import guarantees as g
from borel.guarantees import extremal_examples
from borel.guarantees.calculus import closure
from borel.guarantees.facts import Facts
from borel.guarantees.implied_guarantees import kind_of
from borel.guarantees.rounded_levels import Level, exp_up, larger, log_of, nats_of, shown

PREMISES = (g.PML, g.PMC, g.LDP, g.LIP, g.ALIP, g.LDI, g.EML, g.AveragePML, g.UniversalPML)


# -- soundness ------------------------------------------------------------------------------------


@pytest.mark.hypothesis
def test_all_that_is_implied_holds():
    told: Counter = Counter()

    @given(st.data())
    def check(data):
        p, K = data.draw(d.joints(positive=data.draw(st.integers(0, 3)) > 0, most=3))
        if data.draw(st.booleans()):
            t, m = facts(p).p_min / 8, len(K[0])
            K = [[t * k + (1 - t) / m for k in row] for row in K]
        kinds = data.draw(st.lists(st.sampled_from(PREMISES), min_size=1, max_size=2))
        known = [data.draw(premise(kind, p, K, "")) for kind in kinds]
        known = [q for q in known if q is not None]
        how = data.draw(st.sampled_from(["prior", "p_min", "finite", "general"]))
        about = {
            "prior": {"prior": bl.pmf(p)},
            "p_min": {"p_min": facts(p).p_min, "alphabet": facts(p).size},
            "finite": {"alphabet": "finite"},
            "general": {},
        }[how]
        found = g.implied(*known, **about)
        told["found"] += sum(not i.given for i in found.implications)
        for implication in found.implications:
            assert d.satisfies(implication.guarantee, p, K), implication

    check()
    assert told["found"] > 5 * settings.default.max_examples


@pytest.mark.hypothesis
def test_floats_round_up_all_the_way():
    """Levels and p_min as floats: what follows holds of the exact joint that rounds to them."""

    @given(st.data())
    def check(data):
        p, K = data.draw(d.joints(most=3))
        kind = data.draw(st.sampled_from([g.PML, g.PMC, g.LDP, g.LIP, g.LDI]))
        exact = data.draw(premise(kind, p, K, ""))
        known = kind(float(exact.epsilon), *([exact.delta] if hasattr(exact, "delta") else []))
        for about in (
            {"p_min": float(facts(p).p_min), "alphabet": facts(p).size},
            {"prior": bl.pmf(o.floats(p))},
        ):
            for implication in g.implied(known, **about).implications:
                assert d.satisfies(implication.guarantee, p, K), implication

    check()


MAPS = {
    (g.LDP, g.PML): lambda r, p: 1 / (p + (1 - p) / r),
    (g.LDP, g.PMC): lambda r, p: r - p * (r - 1),
    (g.PML, g.PMC): lambda r, p: p / (1 - r * (1 - p)),
    (g.PMC, g.PML): lambda r, p: (1 - (1 - p) / r) / p,
}


@pytest.mark.few(1)
@pytest.mark.parametrize("pair", MAPS, ids=lambda k: f"{k[0].symbol}-{k[1].symbol}")
@given(st.floats(0, 0.3), st.floats(1e-6, 0.5))
def test_float_levels_are_never_too_small_and_hardly_too_large(pair, epsilon, p):
    first, second = pair
    found = g.implied(first(epsilon), p_min=p, alphabet="finite").best(second)
    with o.precision(5000):
        truth = MAPS[pair](o.ball(epsilon).exp(), o.ball(p))
        if not truth > 0 or found is None:
            assert pair == (g.PML, g.PMC) and epsilon >= -math.log1p(-p) - 1e-9
            return
        truth = truth.log()
        assert o.ball(found.epsilon) >= truth
        loss = 1
        if pair == (g.PML, g.PMC):
            loss = abs(1 / (1 - o.ball(epsilon).exp() * (1 - o.ball(p))))
        assert o.ball(found.epsilon) <= truth + o.ball(1e-15) * (1 + truth) * (1 + loss)


# -- the search against trying everything ---------------------------------------------------------


def everything(premises, about, rules, rounds):
    """All guarantees that any derivation of so many rounds gives: nothing is dropped."""
    known = {(kind_of(q), q) for q in premises}
    for _ in range(rounds):
        new = set()
        for theorem in rules:
            choices = [[q for k, q in known if k == kind] for kind in theorem.premises]
            combinations = [()]
            for choice in choices:
                combinations = [(*c, q) for c in combinations for q in choice]
            for combination in combinations:
                conclusion = theorem.apply(combination, about)
                if conclusion is not None:
                    new.add((kind_of(conclusion), conclusion))
        known |= new
    return known


@pytest.mark.few(13)
@pytest.mark.parametrize(
    "premises",
    [
        (g.LDP(ratio=2),),
        (g.PML(ratio=F(21, 20)),),
        (g.PMC(ratio=F(3, 2)),),
        (g.LIP(ratio=F(6, 5)),),
        (g.ALIP(ratio_l=4, ratio_u=F(11, 10)),),
        (g.LDI(ratio=3),),
        (g.UniversalPMC(ratio=2),),
        (g.EML(ratio=F(6, 5), delta=F(1, 50)),),
        (g.PMC(ratio=2), g.PML(ratio=F(3, 2))),
        (g.PML(ratio=F(6, 5), delta=F(1, 10)), g.PMC(ratio=4)),
    ],
    ids=str,
)
@pytest.mark.parametrize(
    "about",
    [Facts("finite", 3, F(1, 4), F(1, 2)), Facts("finite", 2, F(1, 2), F(1, 2)), Facts()],
    ids=str,
)
def test_the_search_is_as_good_as_trying_every_derivation(premises, about):
    # informations imply nothing: the rules between the others are what can be chained
    rules = [t for t in g.theorems() if t.conclusion.__name__ in {k.__name__ for k in PREMISES}]
    rules += [t for t in g.theorems() if t.conclusion is g.UniversalPMC]
    known = everything(premises, about, rules, 3)
    found = closure(premises, about, tuple(rules))
    assert len(known) > len(premises) or not about.finite
    for kind, guarantee in known:
        if any(lv.nats == math.inf for lv in guarantee.levels):
            continue
        better = [i.guarantee for i in found[kind] if i.guarantee.implies_same_kind(guarantee)]
        assert better, guarantee
    for implication in found.implications:
        assert replay(implication, about) == implication.guarantee


def replay(implication, about):
    """Apply the chain again, from the premises on."""
    if implication.given:
        return implication.guarantee
    return implication.theorem.apply(tuple(replay(i, about) for i in implication.premises), about)


@pytest.mark.parametrize(
    "known", [g.LDP(ratio=2), g.PML(ratio=F(21, 20)), g.LIP(ratio=2), g.PMC(0.5)], ids=str
)
def test_of_equal_results_the_shortest_chain_is_kept(known):
    """The order of the theorems does not matter, to what follows or to how."""
    about = Facts("finite", 2, F(1, 2), F(1, 2))
    one = closure((known,), about, g.theorems())
    other = closure((known,), about, g.theorems()[::-1])
    assert set(one) == set(other)
    for kind in one:
        assert [i.guarantee for i in one[kind]] == [i.guarantee for i in other[kind]]
        if isinstance(kind, type):  # f-informations may tie from a premise that was improved on
            assert [len(i.chain) for i in one[kind]] == [len(i.chain) for i in other[kind]], kind


def test_pareto_fronts_do_not_dominate_one_another():
    found = g.implied(
        g.PML(0.5, delta=0.01), g.PML(0.2, delta=0.1), g.PML(0.6, delta=0.05), p_min=0.1
    )
    kept = [(q.epsilon, q.delta) for q in (i.guarantee for i in found[g.PML])]
    assert kept[1:] == [(0.5, 0.01), (0.2, 0.1)] and kept[0][1] == 0, "0.6 at 0.05 is beaten"
    alips = g.implied(g.ALIP(1, 2), g.ALIP(2, 1))
    assert alips.best(g.ALIP) == g.ALIP(1, 1), "both sides from different premises"


def test_the_best_of_two_ways():
    """LIP and p_min: PMC bounds PML further than LIP does, and LDP with it (Table II)."""
    found = g.implied(g.LIP(2.0), p_min=F(1, 3), alphabet=2)
    star = (1 - F(2, 3) / exp_up(2.0)) * 3
    assert found.best(g.PML).epsilon == log_of(star).nats < 2
    assert found[g.LDP][0].guarantee.epsilon < 4
    assert "PMC paper, Theorem 6(ii)" in found[g.PML][0].uses
    assert g.implied(g.LIP(2.0)).best(g.LDP) == g.LDP(4.0)


# -- what must not follow -------------------------------------------------------------------------


@pytest.mark.parametrize("alphabet", ["countable", "general", bl.Integers(0, None), bl.Reals()])
def test_bounded_cost_says_nothing_of_leakage_off_finite_alphabets(alphabet):
    """Erratum 1: Theorems 5 and 6 of the first preprint are refuted by Examples 8 and 9."""
    found = g.implied(g.PMC(ratio=2), alphabet=alphabet)
    for kind in (g.PML, g.LDP, g.LIP, g.ALIP, g.AveragePML, g.EML):
        assert kind not in found
    example_8 = bl.mechanisms.countable()
    joint = example_8.reference_prior * example_8
    assert joint.satisfies(g.PMC(0.6932)).holds is True
    assert joint.satisfies(g.PML(50.0)).holds is False
    clayton = bl.mechanisms.clayton(eta=0.1, theta=1)
    joint = clayton.reference_prior * clayton
    assert joint.satisfies(g.PMC(2.3026)).holds is True
    assert joint.satisfies(g.PML(50.0)).holds is False


def test_high_privacy_regime_only():
    """Remark 5: from log 1/(1 - p_min) on, PML says nothing of PMC, LIP, ALIP or LDP."""
    for epsilon_ratio, there in ((F(10, 9), False), (F(10, 9) - F(1, 10**9), True), (F(2), False)):
        found = g.implied(g.PML(ratio=epsilon_ratio), p_min=F(1, 10), alphabet=3)
        assert all((kind in found) is there for kind in (g.PMC, g.LIP, g.ALIP, g.LDP))
    assert g.PMC not in g.implied(g.PML(0.01)), "p_min is not known"
    exceptions = g.implied(g.PML(ratio=F(21, 20), delta=0.1), p_min=F(1, 10))
    assert exceptions.best(g.PMC).delta == 0.1 and g.LDP not in exceptions


def test_zero_is_independence_on_every_alphabet():
    found = g.implied(g.PML(0))
    for kind in (g.PMC, g.LDP, g.LIP, g.UniversalPML, g.AveragePML, g.EML, g.MutualInformation):
        assert found.best(kind).epsilon == 0
    assert found.best(g.ALIP) == g.ALIP(0, 0) and found.best(g.TotalVariation).epsilon == 0
    tail = g.implied(g.PMC(0, delta=0.25))
    assert tail.best(g.PML) == g.PML(0, delta=0.25)


def test_eml_and_pml_do_not_follow_from_each_other_with_delta():
    assert g.EML not in g.implied(g.PML(0.1, delta=0.1))
    assert g.PML not in g.implied(g.EML(0.1, delta=0.1))
    declared = g.implied(g.EML(0.1, delta=0.1), alphabet="countable", common_maximiser=True)
    assert declared.best(g.PML) == g.PML(0.1, delta=0.1)
    assert declared[g.PML][0].uses == ("PML paper, Proposition 4",)
    assert g.PML not in g.implied(g.EML(0.1, delta=0.1), common_maximiser=True), "general"
    union = g.implied(g.EML(0.1, delta=0.1), alphabet=3)
    three, tail = union.proves(g.PML(0.1, delta=0.31)), union.proves(g.PML(1.2, delta=0.1))
    assert three.guarantee.delta == 0.30000000000000004 and three.uses == ("here: EML to PML",)
    assert three.guarantee.epsilon == 0.1 and union.best(g.PML) == tail.guarantee
    assert tail.uses == ("tail leakage: from EML", "tail leakage: to PML")


# -- numbers of the papers ------------------------------------------------------------------------


def test_remark_5_the_edge_of_the_regime():
    """Remark 5 of the PML paper and the regime's edge, log 10/9, log 6/5 and log 5/4."""
    half = [F(1, 2)] * 2
    given_z = {
        0: ([F(2, 5), F(3, 5)], [[F(1, 2), F(1, 2)], [F(2, 3), F(1, 3)]], F(10, 9)),
        1: ([F(3, 5), F(2, 5)], [[F(1, 3), F(2, 3)], [F(1, 2), F(1, 2)]], F(5, 4)),
    }
    for p, K, ratio in given_z.values():
        joint = bl.pmf(p) * bl.Mechanism.from_matrix(K)
        assert bl.pml(joint)(0).ratio == (ratio, ratio)
    K = [
        [F(2, 5) * F(1, 2) + F(3, 5) * F(1, 3), F(0)],
        [F(3, 5) * F(2, 3) + F(2, 5) * F(1, 2), F(0)],
    ]
    K = [[a, 1 - a] for a, _ in K]
    assert bl.pml(bl.pmf(half) * bl.Mechanism.from_matrix(K))(0).ratio == (F(6, 5), F(6, 5))


@pytest.mark.parametrize("n", [2, 3, 5])
@pytest.mark.parametrize("ratio", [F(1), F(3), F(10)])
def test_example_4_randomised_response(n, ratio):
    """PMC is log(1 + p_max (e^eps - 1)); Proposition 3 is exact for two secrets."""
    weights = list(range(1, n + 1))
    p = [F(w, sum(weights)) for w in weights]
    joint = bl.pmf(p) * bl.mechanisms.randomized_response(k=n, ratio=ratio)
    cost = 1 + max(p) * (ratio - 1)
    leak = ratio / (min(p) * (ratio - 1) + 1)
    assert joint.satisfies(g.PMC(ratio=cost)).holds is True
    assert joint.satisfies(g.PML(ratio=leak)).holds is True
    assert joint.satisfies(g.LDP(ratio=ratio)).holds is True
    if ratio > 1:
        assert joint.satisfies(g.PMC(ratio=cost - F(1, 10**9))).holds is False
        assert joint.satisfies(g.PML(ratio=leak - F(1, 10**9))).holds is False
        assert joint.satisfies(g.LDP(ratio=ratio - F(1, 10**9))).holds is False
    found = g.implied(g.LDP(ratio=ratio), prior=bl.pmf(p))
    assert found.best(g.PML) == g.PML(ratio=leak), "PML meets Proposition 1 with equality"
    assert found.proves(g.PMC(ratio=cost)) if n == 2 else found.best(g.PMC).levels[0].ratio >= cost


@pytest.mark.parametrize("p", [[F(1, 2)] * 2, [F(1, 3), F(2, 3)], [F(1, 5), F(3, 10), F(1, 2)]])
def test_example_5_and_footnote_5(p):
    """The extremal mechanism; for a fair bit it is randomised response (erratum 5)."""
    r = F(11, 10)
    joint = extremal_examples.pml_extremal(p, r).joint()
    cost = min(p) / (1 - r * (1 - min(p)))
    assert joint.satisfies(g.PML(ratio=r)).holds is True
    assert joint.satisfies(g.PMC(ratio=cost)).holds is True
    assert joint.satisfies(g.PMC(ratio=cost - F(1, 10**6))).holds is False
    assert g.implied(g.PML(ratio=r), prior=bl.pmf(p)).best(g.PMC) == g.PMC(ratio=cost)
    if p == [F(1, 2)] * 2:
        response = bl.mechanisms.randomized_response(k=2, ratio=r / (2 - r))
        flipped = joint.mechanism.matrix[:, ::-1]  # the extremal mechanism says the other label
        assert (response.matrix == flipped).all(), "epsilon - log(2 - e^epsilon)"
        other = bl.mechanisms.randomized_response(k=2, ratio=r * 2 / (2 - r))
        assert not (other.matrix == flipped).all(), "the paper's parameter"


def test_examples_6_and_7_noise():
    laplace = bl.uniform(bl.Interval(0, 1)) * bl.mechanisms.laplace(b=1.0)
    assert laplace.satisfies(g.PMC(0.5414)).holds is True, "log(e - 1)"
    assert laplace.satisfies(g.PMC(0.5413)).holds is False
    gaussian = bl.uniform(bl.Interval(-1, 1)) * bl.mechanisms.gaussian(sigma=1.0)
    assert gaussian.satisfies(g.PMC(100.0)).holds is False
    # what follows from the LDP level 1/b alone is weaker, and true
    found = g.implied(g.LDP(1.0), alphabet=bl.Interval(0, 1))
    assert found.best(g.PMC) == g.PMC(1.0)
    assert laplace.satisfies(found.best(g.PMC)).holds is True


def test_erratum_7_almost_surely_is_under_the_product():
    joint = extremal_examples.identity([F(1, 2)] * 2).joint()
    assert joint.satisfies(g.LIP(ratio=2)).holds is False
    assert joint.satisfies(g.ALIP(0.7, 0.7)).holds is False
    assert bl.lip(joint).lower == math.inf


# -- facts ----------------------------------------------------------------------------------------


def test_p_min_may_be_a_lower_bound():
    for p in (F(1, 10), F(1, 20), 0.05, 1e-300):
        found = g.implied(g.PMC(0.5), g.LDP(1.0), p_min=p)
        tighter = g.implied(g.PMC(0.5), g.LDP(1.0), p_min=F(1, 10))
        for kind in (g.PML, g.PMC, g.LIP):
            assert found.best(kind).epsilon >= tighter.best(kind).epsilon


def test_a_float_p_min_stands_for_what_rounds_to_it():
    """The float 0.1 is above 1/10: taken as it stands it would promise too much."""
    assert F(0.1) > F(1, 10)
    always = g.implied(p_min=0.1).best(g.PML)
    assert always.levels[0].ratio > 10
    assert g.implied(p_min=0.1, alphabet=10).best(g.PML) == g.PML(ratio=10), "1/n beside n"
    assert g.implied(p_min=F(1, 10)).best(g.PML) == g.PML(ratio=10)
    assert g.implied(p_min=0.1, alphabet=9).best(g.PML).levels[0].ratio > 10


def test_a_single_precision_p_min_is_widened_as_such():
    single = np.float32(0.1)
    assert F(float(single)) > F(1, 10)
    found = g.implied(p_min=single).best(g.PML)
    assert found.levels[0].ratio >= 10 * (1 - F(1, 10**12))
    assert g.implied(p_min=np.float64(0.1)).best(g.PML) == g.implied(p_min=0.1).best(g.PML)


def test_the_converses_of_theorems_1_and_5_are_for_finite_alphabets():
    for kind in (g.UniversalPML, g.UniversalPMC):
        assert g.implied(kind(ratio=2), alphabet="finite").best(g.LDP) == g.LDP(ratio=2)
        assert g.LDP not in g.implied(kind(ratio=2), alphabet="countable")
        assert g.LDP not in g.implied(kind(ratio=2))


def test_priors_say_p_min_themselves():
    exact = g.implied(g.LDI(ratio=2), prior=bl.pmf([F(1, 4), F(3, 4), F(0)]))
    assert exact.facts.size == 2 and exact.facts.p_min == F(1, 4)
    assert exact.best(g.PML) == g.PML(ratio=F(1) / (F(1, 4) * (1 + F(1, 2))))
    floats = g.implied(prior=bl.pmf([0.25, 0.75]))
    assert 4 < floats.best(g.PML).levels[0].ratio < 4 + F(1, 10**12)
    one = g.implied(g.LDP(5.0), prior=bl.pmf([0.0, 1.0]))
    assert one.best(g.PML).epsilon == one.best(g.PMC).epsilon == one.best(g.LDP).epsilon == 0
    assert g.implied(g.LDP(5.0), prior=bl.poisson(mu=1.0)).facts.alphabet == "countable"
    assert g.implied(g.LDP(5.0), prior=bl.uniform(bl.Interval(0, 1))).facts.alphabet == "general"
    assert g.implied(g.LDP(1.0), p_min=1.0).best(g.PML).epsilon == 0


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (lambda: g.implied(0.5), "guarantees, such as"),
        (lambda: g.implied(g.PML(0.5), p_min=0), "0 < p_min <= 1"),
        (lambda: g.implied(g.PML(0.5), p_min=math.nan), "0 < p_min <= 1"),
        (lambda: g.implied(g.PML(0.5), p_min="0.1"), "0 < p_min <= 1"),
        (lambda: g.implied(g.PML(0.5), p_min=1.5), "0 < p_min <= 1"),
        (lambda: g.implied(g.PML(0.5), p_min=0.4, alphabet=3), "p_min <= 1/3"),
        (lambda: g.implied(g.PML(0.5), p_min=F(2, 5), alphabet=bl.Finite(3)), "p_min <= 1/3"),
        (lambda: g.implied(g.PML(0.5), p_min=0.1, alphabet="countable"), "countable alphabet"),
        (lambda: g.implied(g.PML(0.5), p_min=0.1, alphabet=bl.Reals()), "general alphabet"),
        (lambda: g.implied(g.PML(0.5), alphabet="small"), "alphabet as one of"),
        (lambda: g.implied(g.PML(0.5), alphabet=0), "alphabet as one of"),
        (lambda: g.implied(g.PML(0.5), prior=[0.5, 0.5]), "one Measure"),
        (lambda: g.implied(g.PML(0.5), prior=bl.pmf([0.5, 0.5]), p_min=0.5), "got both"),
        (lambda: g.implied(g.PML(0.5), common_maximiser="yes"), "True or False"),
        (lambda: g.implied(g.PML(0.5)).proves(0.5), "a guarantee"),
    ],
)
def test_bad_input(wrong, says):
    with pytest.raises(bl.InvalidInput, match=says):
        wrong()


# -- reading --------------------------------------------------------------------------------------


def test_the_table_says_what_follows_and_by_which_theorems():
    found = g.implied(g.LDP(1.0), p_min=0.1, alphabet=5)
    text = repr(found)
    assert text.splitlines()[0] == "LDP(1) (finite alphabet, 5 secrets, p_min = 0.1) implies"
    assert "PMC paper, Proposition 3" in text and "the prior charges every one of 5" in text
    assert text in found._repr_html_().replace("&gt;", ">").replace("&lt;", "<")
    assert len(found) == len(list(found)) and found.guarantees
    assert g.PML in found and found.get(g.SlicedEML) is None and found.best(g.SlicedEML) is None
    assert {q.f for q in (i.guarantee for i in found[g.FInformation])} == set(d.F_OF)
    assert "nothing" in repr(g.implied())
    assert repr(found[g.PML][0]).startswith("PML(0.841435)  by PMC paper, Proposition 1")


def test_proves_is_about_strength():
    found = g.implied(g.LDP(ratio=3), p_min=F(1, 4), alphabet=4)
    assert found.proves(g.PML(ratio=2)) and not found.proves(g.PML(ratio=F(1999, 1000)))
    assert found.proves(g.PML(0.7, delta=0.3)) and not found.proves(g.PML(0.693, delta=0.3))
    assert found.proves(g.EML(0.7, delta=0.5)) and not found.proves(g.SlicedEML(9.0))
    assert found.proves(g.ALIP(1, 1)) and not found.proves(g.ALIP(0.9, 1))


def test_only_as_the_papers_state():
    stated = g.implied(g.PML(ratio=F(6, 5), delta=F(1, 10)), p_min=F(1, 5), sharpened=False)
    sharp = g.implied(g.PML(ratio=F(6, 5), delta=F(1, 10)), p_min=F(1, 5))
    assert stated.best(g.AveragePML) == g.AveragePML(ratio=F(6, 5) + F(1, 2))
    assert sharp.best(g.AveragePML) == g.AveragePML(ratio=F(9, 10) * F(6, 5) + F(1, 2))
    assert all(t.origin == "paper" for i in stated.implications for t in i.chain)


def test_proposition_9_in_its_three_cases():
    for r, t in ((F(5, 4), F(1, 4)), (F(7, 4), F(1, 2)), (F(5, 2), F(3, 4)), (F(9), F(1))):
        stated = g.implied(g.PML(ratio=r), sharpened=False).best(g.TotalVariation)
        assert F(stated.epsilon) == t
        tail = g.implied(g.PML(ratio=r, delta=F(1, 8)), p_min=F(1, 2), sharpened=False)
        assert F(tail.best(g.TotalVariation).epsilon) <= min(t + F(1, 16), 1)


# -- levels ---------------------------------------------------------------------------------------


def test_levels_compare_only_what_is_certain():
    exact, number = log_of(F(6, 5)), Level(math.log(1.2))
    assert exact <= exact and larger(exact, number) in (exact, number)
    below, above = Level(math.nextafter(exact.nats, 0)), Level(exact.nats)
    assert not above <= exact, "the float above log 6/5 is not at most log 6/5"
    assert below <= above and larger(below, above) == above
    with o.precision(400):
        assert o.ball(above.nats) >= o.log(F(6, 5)) >= o.ball(below.nats)
    assert (Level(0.1) + Level(0.2)).nats >= 0.1 + 0.2
    assert F((Level(0.1) + Level(0.2)).nats) >= F(0.1) + F(0.2)
    assert (log_of(F(6, 5)) + log_of(F(5, 3))).ratio == 2
    assert (Level(math.inf) + Level(1.0)).nats == math.inf
    assert log_of(F(1, 2)).nats == 0 and nats_of(math.inf).nats == math.inf


@given(st.floats(0, 700))
def test_exponentials_round_up(x):
    with o.precision(5000):
        truth = o.ball(x).exp()
        assert o.ball(exp_up(x)) >= truth
        assert o.ball(exp_up(x)) - 1 <= (truth - 1) * (1 + o.ball(F(1, 2**60)))


def test_long_ratios_are_shortened_upwards():
    long = 1 + F(1, 3**4000)
    short = log_of(long)
    assert short.ratio >= long and short.ratio.denominator.bit_length() < 4096
    assert exp_up(1e6) == math.inf and exp_up(0) == 1
    assert g.implied(g.LDP(1e6), p_min=0.1).best(g.PML).epsilon < 2.31
    assert g.implied(g.LDP(1e6)).best(g.PML) == g.PML(1e6)
    assert g.implied(g.LDP(math.inf), p_min=0.25).best(g.PML).levels[0].ratio > 4
    assert g.PMC not in g.implied(g.LDP(math.inf), p_min=0.25)


def test_shown_numbers_are_rounded_up():
    assert shown(0.1234561) == "0.123457" and shown(0.5) == "0.5" and shown(F(1, 3)) == "1/3"
    assert shown(math.inf) == "inf" and shown(0.0) == "0"
    for x in (1 / 3, 2 / 3, 1e-9 / 3, 12345678.9, 5e-324):
        assert float(shown(x)) >= x
