"""Composition: the five statements of Theorem 4 and their kin, each premise met with equality."""

import math
from collections import Counter
from fractions import Fraction as F

import oracles as o
import pytest
from guarantees import definitions as d
from guarantees.test_theorems import facts, premise
from hypothesis import given, settings
from hypothesis import strategies as st

import borel as bl
from borel import guarantees as g
from borel.guarantees import composition, extremal_examples
from borel.guarantees.facts import Facts


def mixed(t, law, common):
    return [t * k + (1 - t) * c for k, c in zip(law, common, strict=True)]


@st.composite
def adaptive(draw, positive=True):
    """A prior, a first mechanism, and a second one for each outcome of the first."""
    p, first = draw(d.joints(positive=positive, most=3))
    rows = ("plain", "ties", "fine") if positive else ("plain", "ties", "zeros")
    seconds = []
    for _ in first[0]:
        t = draw(st.sampled_from([F(1), F(1, 3)]))
        common = draw(o.laws(2, styles=("plain",)))
        seconds.append(
            [
                [
                    t * k + (1 - t) * c
                    for k, c in zip(draw(o.laws(2, styles=rows)), common, strict=True)
                ]
                for _ in first
            ]
        )
    return p, first, seconds


def composed(first, seconds):
    """Rows of (y, z), z running fastest."""
    return [
        [k * q for y, k in enumerate(row) for q in seconds[y][x]] for x, row in enumerate(first)
    ]


def posteriors(p, first, seconds):
    """(P_{X|Y=y}, P_{Z|X,Y=y}) for the outcomes of positive probability."""
    return [(o.posterior(p, first, y), seconds[y]) for y, _ in d.masses(p, first)]


def second_guarantee(data, kind, p, first, seconds, delta):
    """The guarantee of a kind that all second mechanisms have under their posteriors."""
    every = posteriors(p, first, seconds)
    if kind is g.ALIP:
        sides = [(o.sup("pmc", q, K), o.sup("pml", q, K)) for q, K in every]
        lower, upper = (max(side) for side in zip(*sides, strict=True))
        return None if math.inf in (lower, upper) else g.ALIP(ratio_l=lower, ratio_u=upper)
    if kind is g.MutualInformation:
        with o.precision(400):
            most = max(float(o.mutual_information(q, K).upper()) for q, K in every)
        return g.MutualInformation(math.nextafter(most, math.inf) + 1e-300)
    if kind in (g.PML, g.PMC):
        name = kind.__name__.lower()
        if delta == "delta = 0":
            level = max(o.sup(name, q, K) for q, K in every)
            return None if level == math.inf else kind(ratio=level)
        values = sorted({r for q, K in every for r in o.curve(name, q, K) if r < math.inf})
        worst = {v: max(o.tail(name, q, K, lambda r, v=v: r > v) for q, K in every) for v in values}
        kept = [v for v in values if worst[v] < 1 and (not delta or worst[v] > 0)]
        value = data.draw(st.sampled_from(kept)) if kept else None
        return None if value is None else kind(ratio=value, delta=worst[value])
    if kind in (g.EML, g.TailLeakage):
        size = data.draw(st.sampled_from([F(0), F(1, 10), F(1, 3)]))
        return kind(ratio=max(d.level(kind.__name__, q, K, size) for q, K in every), delta=size)
    level = max(d.level(kind.__name__, q, K) for q, K in every)
    return None if level == math.inf else kind(ratio=level)


def first_guarantee(data, kind, p, first, delta):
    if kind is g.MutualInformation:
        with o.precision(400):
            level = float(o.mutual_information(p, first).upper())
        return g.MutualInformation(math.nextafter(level, math.inf) + 1e-300)
    return data.draw(premise(kind, p, first, delta))


def sliced_holds(sliced, p, K, first, seconds):
    """Statement 4: events whose slices have probability slice_delta or more, by enumeration."""
    mass = o.marginal(p, K)
    width = len(seconds[0][0])
    marginal = o.marginal(p, first)
    for event in d.subsets([y for y, m in enumerate(mass) if m > 0]):
        total = sum((mass[y] for y in event), F(0))
        slices = Counter()
        for y in event:
            slices[y // width] += mass[y] / marginal[y // width]
        if not event or total < sliced.delta or min(slices.values()) < sliced.slice_delta:
            continue
        for x in o.support(p):
            if not d.log_at_most(sum(K[x][y] for y in event) / total, sliced.levels[0]):
                return False
    return True


@pytest.mark.few(2)
@pytest.mark.parametrize("statement", composition.STATEMENTS, ids=lambda s: s.name)
@pytest.mark.hypothesis
def test_statements_hold_with_their_premises_met_with_equality(statement):
    told: Counter = Counter()
    deltas = {
        "PML paper, Theorem 4(1)": ("delta = 0", "delta = 0"),
        "PML paper, Theorem 4(2)": ("", "delta > 0"),
        "PML paper, Theorem 4(4)": ("", "delta = 0"),
    }.get(statement.name, ("", ""))

    @given(st.data())
    def check(data):
        p, first, seconds = data.draw(adaptive(positive=data.draw(st.integers(0, 4)) > 0))
        K = composed(first, seconds)
        one, two = statement.premises
        a = first_guarantee(data, one, p, first, deltas[0])
        b = second_guarantee(data, two, p, first, seconds, deltas[1])
        if a is None or b is None:
            told["no premise"] += 1
            return
        conclusion = statement.apply((a, b), facts(p))
        if conclusion is None:
            told["says nothing"] += 1
            return
        told["checked"] += 1
        if isinstance(conclusion, g.SlicedEML):
            assert sliced_holds(conclusion, p, K, first, seconds)
        else:
            assert d.satisfies(conclusion, p, K), (statement.name, a, b, conclusion)

    check()
    assert told["checked"] > sum(told.values()) / 2, told


@pytest.mark.hypothesis
def test_statement_3_counts_exceptions_jointly():
    told: Counter = Counter()
    (statement,) = composition.JOINTLY

    @given(st.data())
    def check(data):
        p, first, seconds = data.draw(adaptive())
        a = data.draw(premise(g.PML, p, first, ""))
        mass, P = o.marginal(p, first), posteriors(p, first, seconds)
        leaks = [
            (mass[y] * m, r)
            for (y, _), (q, K) in zip(d.masses(p, first), P, strict=True)
            for r, m in zip(o.curve("pml", q, K), o.marginal(q, K), strict=True)
        ]
        value = data.draw(st.sampled_from([r for _, r in leaks]))
        worst = sum((m for m, r in leaks if r > value), F(0))
        b = g.PML(ratio=value, delta=worst)
        conclusion = statement.apply((a, b), facts(p))
        if conclusion is None:
            told["says nothing"] += 1
            return
        told["checked"] += 1
        assert F(conclusion.delta) == a.delta + worst or conclusion.delta >= a.delta + worst
        assert d.satisfies(conclusion, p, composed(first, seconds))

    check()
    assert told["checked"] > settings.default.max_examples / 2


@pytest.mark.hypothesis
def test_all_that_compose_finds_holds():
    """End to end, premises of every kind: the pair satisfies everything that is derived."""
    told: Counter = Counter()

    @given(st.data())
    def check(data):
        p, first, seconds = data.draw(adaptive(positive=data.draw(st.integers(0, 3)) > 0))
        kinds = [g.PML, g.PMC, g.LDP, g.LIP, g.EML, g.AveragePML]
        one = data.draw(premise(data.draw(st.sampled_from(kinds)), p, first, ""))
        kind = data.draw(st.sampled_from(kinds))
        two = second_guarantee(data, kind, p, first, seconds, "")
        if one is None or two is None:
            return
        found = g.compose(one, two, second_under="posterior", prior=bl.pmf(p))
        K = composed(first, seconds)
        told["found"] += len(found.guarantees)
        for implication in found.implications:
            if not isinstance(implication.guarantee, g.SlicedEML):
                assert d.satisfies(implication.guarantee, p, K), implication

    check()
    assert told["found"] > 3 * settings.default.max_examples


@pytest.mark.slow
@given(st.data())
def test_releases_known_under_the_prior_compose_by_ldp(data):
    """Independent releases, both known under P_X only: what is found holds of the pair."""
    p, first = data.draw(d.joints(most=3))
    second = [data.draw(o.laws(2, styles=("plain", "fine"))) for _ in first]
    if data.draw(st.booleans()):
        t = facts(p).p_min / 8
        second = [[t * k + (1 - t) / 2 for k in row] for row in second]
    one = data.draw(
        premise(data.draw(st.sampled_from([g.PML, g.LDP, g.PMC])), p, first, "delta = 0")
    )
    two = data.draw(
        premise(data.draw(st.sampled_from([g.PML, g.LDP, g.PMC])), p, second, "delta = 0")
    )
    found = g.compose(one, two, second_under="prior", prior=bl.pmf(p))
    K = o.both(first, second)
    for implication in found.implications:
        if not isinstance(implication.guarantee, g.SlicedEML):
            assert d.satisfies(implication.guarantee, p, K), implication


def test_pml_under_the_prior_does_not_add():
    """Two independent releases, each log 20/9-PML under P_X, leak log 10 together."""
    found = composition.prior_is_not_posterior()
    joint = found.joint()
    assert joint.satisfies(found.holds).holds is True
    assert joint.satisfies(found.fails).holds is False
    p = found.example.prior
    first = [[F(1), F(0)], [F(1), F(0)], [F(0), F(1)]]
    second = [[F(1), F(0)], [F(0), F(1)], [F(1), F(0)]]
    assert o.both(first, second) == found.example.rows
    for K in (first, second):
        assert o.sup("pml", p, K) == F(20, 9)
    assert o.sup("pml", p, o.both(first, second)) == 10 > F(20, 9) ** 2
    one = g.PML(ratio=F(20, 9))
    assert g.PML not in g.compose(one, one, second_under="prior")
    assert g.compose(one, one, second_under="prior", p_min=F(1, 10)).best(g.PML) == g.PML(ratio=10)
    assert g.compose(one, one, second_under="posterior").best(g.PML) == g.PML(ratio=F(400, 81))


def test_a_context_aware_guarantee_composes_through_ldp():
    """In the high-privacy regime PML under P_X gives LDP, which passes to every posterior."""
    known = g.PML(ratio=F(11, 10))
    found = g.compose(known, known, second_under="prior", p_min=F(1, 2), alphabet=2)
    assert found.best(g.LDP) == g.LDP(ratio=F(11, 9) ** 2)
    assert found.best(g.PML).levels[0].ratio <= F(11, 10) * F(11, 9)
    uses = found[g.LDP][0].uses
    assert "PMC paper, Corollary 3(i) to LDP" in uses and "here: LDP adds" in uses


def test_deltas_and_levels_of_the_statements():
    a, b = g.PML(ratio=2, delta=F(1, 4)), g.PML(ratio=3, delta=F(1, 2))
    found = g.compose(a, b, second_under="posterior")
    assert found.best(g.PML) == g.PML(ratio=6, delta=F(5, 8))
    jointly = g.compose(a, b, second_under="posterior", jointly=True)
    assert jointly.best(g.PML) == g.PML(ratio=6, delta=F(3, 4))
    assert g.PML not in g.compose(
        g.PML(1, delta=0.5), g.PML(1, delta=0.5), second_under="posterior", jointly=True
    )
    costs = g.compose(g.PMC(0.25), g.PMC(0.5, delta=0.25), second_under="posterior")
    assert costs.best(g.PMC) == g.PMC(0.75, delta=0.25)
    event = g.compose(g.EML(ratio=2, delta=F(1, 4)), g.PML(ratio=3), second_under="posterior")
    assert event.best(g.EML) == g.EML(ratio=6, delta=F(1, 4))
    assert event[g.EML][0].uses == ("PML paper, Theorem 4(4)",)


def test_statement_5_and_its_sharpened_form():
    a, b = g.EML(ratio=2, delta=F(1, 4)), g.EML(ratio=F(3, 2), delta=F(1, 8))
    about = {"p_min": F(1, 100), "second_under": "posterior"}
    at = F(3, 8)
    stated = [
        i.guarantee
        for i in g.compose(a, b, sharpened=False, **about)[g.EML]
        if i.guarantee.delta == at
    ]
    assert [q.levels[0].ratio for q in stated] == [F(1, 3) * 100 + 3]
    sharp = [i.guarantee for i in g.compose(a, b, **about)[g.EML] if i.guarantee.delta == at]
    assert [q.levels[0].ratio for q in sharp] == [F(1, 3) * 100 + F(2, 3) * 3]
    none = g.EML(ratio=2, delta=0), g.EML(ratio=3, delta=0)
    zero = composition.STATEMENTS[4].apply(none, Facts("finite", None, F(1, 10), F(1)))
    assert zero == g.EML(ratio=6), "0/0 is statement 1"
    whole = g.EML(ratio=2, delta=F(1, 2)), g.EML(ratio=3, delta=F(1, 2))
    one = composition.STATEMENTS[4].apply(whole, Facts("finite", None, F(1, 10), F(1)))
    assert one == g.EML(0, delta=1), "an event of probability 1 leaks nothing"


def test_sliced_eml():
    a, b = g.EML(ratio=2, delta=F(1, 4)), g.EML(ratio=F(3, 2), delta=F(1, 8))
    found = g.compose(a, b, second_under="posterior").best(g.SlicedEML)
    assert (found.levels[0].ratio, found.delta, found.slice_delta) == (3, F(1, 4), F(1, 8))
    assert found.implies_same_kind(g.SlicedEML(ratio=3, delta=F(1, 4), slice_delta=F(1, 4)))
    assert not found.implies_same_kind(g.SlicedEML(ratio=3, delta=F(1, 4), slice_delta=F(1, 9)))
    example, _ = extremal_examples.example_5()
    joint = example.joint()
    assert joint.satisfies(g.SlicedEML(ratio=F(12, 5), delta=F(1, 6))).holds is True
    verdict = joint.satisfies(g.SlicedEML(ratio=2, delta=F(1, 6), slice_delta=0.5))
    assert verdict.holds is None and "slices" in verdict.reason
    with pytest.raises(bl.InvalidInput, match="delta"):
        g.SlicedEML(1.0, delta=0.5, slice_delta=1.5)


def test_mechanisms_compose_as_their_guarantees_say():
    """`then` and `&` on mechanisms: exact figures of the pair are within what is derived."""
    prior = bl.pmf([F(1, 4), F(3, 4)])
    first = bl.Mechanism.from_matrix([[F(3, 4), F(1, 4)], [F(1, 2), F(1, 2)]])
    seconds = {
        0: bl.Mechanism.from_matrix([[F(2, 3), F(1, 3)], [F(1, 2), F(1, 2)]]),
        1: bl.Mechanism.from_matrix([[F(1, 2), F(1, 2)], [F(2, 5), F(3, 5)]]),
    }
    joint = prior * first
    level = max(bl.pml(joint.posterior(y) * seconds[y]).sup().ratio.upper for y in (0, 1))
    a, b = g.PML(ratio=bl.pml(joint).sup().ratio.upper), g.PML(ratio=level)
    both = prior * first.then(lambda y: seconds[y])
    found = g.compose(a, b, second_under="posterior", prior=prior)
    for implication in found.implications:
        if not isinstance(implication.guarantee, (g.FInformation, g.SlicedEML)):
            assert both.satisfies(implication.guarantee).holds is True, implication
    pair = prior * (first & seconds[0])
    ldp = g.compose(g.LDP(ratio=2), g.LDP(ratio=F(3, 2)), second_under="prior").best(g.LDP)
    assert ldp == g.LDP(ratio=3) and pair.satisfies(ldp).holds is True


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (lambda: g.compose(g.PML(1), g.PML(1)), 'second_under="posterior" or "prior"'),
        (lambda: g.compose(g.PML(1), g.PML(1), second_under="both"), "PML does not compose"),
        (lambda: g.compose(1, g.PML(1), second_under="prior"), "a guarantee, or some"),
        (lambda: g.compose([], g.PML(1), second_under="prior"), "a guarantee, or some"),
        (
            lambda: g.compose(g.PML(1), g.PMC(1), second_under="posterior", jointly=True),
            r"Theorem 4\(3\)",
        ),
        (
            lambda: g.compose(g.PML(1), g.PML(1), second_under="prior", jointly=True),
            r"Theorem 4\(3\)",
        ),
        (lambda: g.compose(g.PML(1), g.PML(1), second_under="posterior", p_min=2), "p_min"),
    ],
)
def test_bad_input(wrong, says):
    with pytest.raises(bl.InvalidInput, match=says):
        wrong()


def test_the_table_of_a_composition():
    found = g.compose(g.PML(0.5), [g.PML(0.25), g.LDP(2.0)], second_under="posterior")
    assert repr(found).startswith("PML(0.5) then PML(0.25) then LDP(2) (general alphabet) implies")
    assert "PML(0.75)" in repr(found)
