"""Processing: which guarantees survive it, by random processing and by counterexamples."""

from collections import Counter
from fractions import Fraction as F

import numpy as np
import oracles as o
import pytest
from guarantees import definitions as d
from guarantees.test_composition import first_guarantee
from hypothesis import given
from hypothesis import strategies as st

import borel as bl
from borel import guarantees as g
from borel.guarantees import extremal_examples, processing

KINDS = {line.kind for line in processing.CLOSEDNESS}
CLOSED = [line for line in processing.CLOSEDNESS if line.closed]


def known(data, line, p, K, delta):
    """A guarantee of the kind, met with equality."""
    if line.kind is g.TotalVariation:
        return g.TotalVariation(d.total_variation(p, K))
    if line.kind is g.FInformation:
        f = data.draw(st.sampled_from(sorted(d.F_OF)))
        return g.FInformation(d.f_information(p, K, f), f)
    return first_guarantee(data, line.kind, p, K, delta)


@pytest.mark.few(2)
@pytest.mark.parametrize("line", CLOSED, ids=lambda c: f"{c.kind.__name__}-{c.way}")
@pytest.mark.hypothesis
def test_closed_kinds_survive_every_processing(line):
    told: Counter = Counter()

    @given(st.data())
    def check(data):
        p, K = data.draw(d.joints(positive=data.draw(st.integers(0, 4)) > 0, most=3))
        guarantee = known(data, line, p, K, "" if line.with_delta else "delta = 0")
        if guarantee is None:
            told["no premise"] += 1
            return
        assert line.covers(guarantee)
        if line.way == "post":
            post = [data.draw(o.laws(2, styles=("plain", "zeros", "onehot"))) for _ in K[0]]
            q, after = p, o.compose(K, post)
        else:
            # X - Y - Z: p is the law of Y; a new secret X with P(x|y) and its law
            back = [data.draw(o.laws(2, styles=("plain", "zeros", "onehot"))) for _ in p]
            q = [sum((m * row[x] for m, row in zip(p, back, strict=True)), F(0)) for x in (0, 1)]
            after = [
                [
                    sum((p[y] * back[y][x] * K[y][z] for y in range(len(p))), F(0)) / q[x]
                    for z in range(len(K[0]))
                ]
                if q[x]
                else [F(int(z == 0)) for z in range(len(K[0]))]
                for x in (0, 1)
            ]
        told["checked"] += 1
        assert d.satisfies(guarantee, q, after), (line, guarantee)

    check()
    assert told["checked"] > sum(told.values()) / 2, told


@pytest.mark.parametrize(
    "line",
    [line for line in processing.CLOSEDNESS if line.counterexample is not None],
    ids=lambda c: f"{c.kind.__name__}-{c.way}",
)
def test_what_is_not_closed_has_a_counterexample(line):
    found = line.counterexample()
    joint = found.joint()
    assert joint.satisfies(found.holds).holds is True
    assert joint.satisfies(found.fails).holds is False
    assert type(found.fails) is line.kind and not line.covers(found.fails)


def test_example_5_the_original_has_what_the_processed_loses():
    example, post = extremal_examples.example_5()
    lost = g.PML(ratio=F(6, 5), delta=F(1, 6))
    joint = example.joint()
    released = bl.Mechanism.from_matrix(post) @ joint.mechanism
    assert joint.satisfies(lost).holds is True
    after = joint.prior * released
    assert after.satisfies(lost).holds is False
    assert after.satisfies(g.PML(ratio=F(4, 3))).holds is True
    assert after.satisfies(g.PML(ratio=F(4, 3) - F(1, 10**9))).holds is False
    kept = g.EML(ratio=F(12, 5), delta=F(1, 6))
    assert joint.satisfies(kept).holds is True and after.satisfies(kept).holds is True


def test_the_originals_of_the_other_counterexamples():
    twelfth = F(1, 12)
    K = [[k * twelfth for k in row] for row in ([3, 1, 4, 4], [1, 3, 4, 4])]
    joint = bl.pmf([F(1, 2)] * 2) * bl.Mechanism.from_matrix(K)
    assert joint.satisfies(processing.pmc_not_closed().fails).holds is True
    assert joint.satisfies(processing.pmc_not_closed().holds).holds is False
    uniform = bl.pmf([F(1, 3)] * 3) * bl.Mechanism.from_matrix([[F(1)]] * 3)
    assert uniform.satisfies(g.LDI(0)).holds is True


def test_the_originals_of_probabilistic_dp():
    rows = [[F(k, 40) for k in row] for row in ([4, 27, 9, 0], [0, 9, 27, 4])]
    example_1 = bl.pmf([F(1, 2)] * 2) * bl.Mechanism.from_matrix(rows)
    assert example_1.satisfies(processing.pdp_not_closed().fails).holds is True
    merged = example_1.mechanism.push(lambda y: max(y - 1, 0), outcome=[0, 1, 2])
    assert merged.matrix.tolist() == processing.pdp_not_closed().example.rows
    rows = [[F(k, 10) for k in row] for row in ([3, 2, 5], [2, 3, 5], [1, 1, 8])]
    before = bl.pmf([F(1, 3)] * 3) * bl.Mechanism.from_matrix(rows)
    assert before.satisfies(processing.pdp_not_closed_before().fails).holds is True


def test_what_is_left_after_post_processing():
    tail = g.PML(ratio=F(6, 5), delta=F(1, 6))
    left = g.post_processed(tail, p_min=F(1, 4), alphabet=4)
    assert left.best(g.PML) == g.PML(ratio=4), "only what always holds"
    average = F(5, 6) * F(6, 5) + F(1, 6) * 4
    assert left.best(g.AveragePML) == g.AveragePML(ratio=average)
    example, post = extremal_examples.example_5()
    after = extremal_examples.post_processed(example, post)
    for implication in left.implications:
        assert d.satisfies(implication.guarantee, after.prior, after.rows), implication
    assert not left.proves(tail)
    assert g.post_processed(g.EML(0.5, delta=0.1)).best(g.EML) == g.EML(0.5, delta=0.1)
    assert g.post_processed(g.LDP(1.0), p_min=0.1).best(g.PMC).epsilon < 1
    assert "post-processing" in g.post_processed(g.LDP(1.0))[g.LDP][0].uses
    assert repr(left).startswith("PML(log 6/5, delta=1/6) post-processed (finite")


def test_what_is_left_about_functions_of_the_secret():
    left = g.pre_processed(g.PML(0.5, delta=0.1), p_min=0.1)
    assert g.PML(0.5, delta=0.1) in left.guarantees and left.facts.alphabet == "general"
    assert g.LDI not in g.pre_processed(g.LDI(0.5), prior=bl.pmf([F(1, 3)] * 3))
    # a function of the secret has a law of its own: p_min = 1/2 is not known of it
    assert g.PMC not in g.pre_processed(g.PML(0.1), p_min=F(1, 2), alphabet=2) or (
        g.pre_processed(g.PML(0.1), p_min=F(1, 2), alphabet=2).best(g.PMC).epsilon
        == g.implied(g.PML(0.1), p_min=F(1, 2), alphabet=2).best(g.PMC).epsilon
    )


def test_every_kind_has_a_line_each_way():
    for kind in KINDS:
        for way in processing.WAYS:
            assert g.closedness(kind, way).kind is kind
    with pytest.raises(bl.InvalidInput, match="post"):
        g.closedness(g.PML, "during")
    with pytest.raises(bl.InvalidInput, match="a kind"):
        g.closedness(g.SlicedEML)


def test_a_composition_can_be_processed():
    found = g.compose(g.EML(1.0, delta=0.1), g.EML(1.0, delta=0.1), second_under="posterior")
    assert g.SlicedEML in found
    with pytest.raises(bl.InvalidInput):
        g.post_processed(found.best(g.SlicedEML))


# -- similar outcomes -----------------------------------------------------------------------------


def test_example_6_the_reduced_mechanism():
    example, _ = extremal_examples.example_5()
    joint = example.joint()
    assert g.similar_outcomes(joint) == [[0], [1], [2, 3]]
    third = F(1, 3)
    assert g.reduced(joint).matrix.tolist() == [
        [0, 0, 1],
        [0, 0, 1],
        [0, third, 2 * third],
        [third, 0, 2 * third],
    ]
    assert g.reduced(joint.mechanism).outcome == bl.Finite([0, 1, 2])


@given(d.joints(positive=False, most=3), st.data())
def test_the_reduced_mechanism_leaks_the_same(pK, data):
    p, K = pK
    copies = data.draw(st.lists(st.integers(1, 3), min_size=len(K[0]), max_size=len(K[0])))
    split = [
        [
            k * F(i, c * (c + 1) // 2)
            for k, c in zip(row, copies, strict=True)
            for i in range(1, c + 1)
        ]
        for row in K
    ]
    joint = bl.pmf(p) * bl.Mechanism.from_matrix(split)
    small = joint.prior * g.reduced(joint)
    groups = g.similar_outcomes(joint)
    assert len(groups) == len(small.outcome.labels) <= len(K[0])
    assert sum(map(len, groups)) == sum(1 for m in o.marginal(p, split) if m > 0)
    assert len(g.similar_outcomes(small)) == len(groups), "nothing is left to merge"
    for kind in (bl.pml, bl.pmc):
        assert kind(small).sup().ratio == kind(joint).sup().ratio
        if kind is bl.pml or kind(joint).sup().upper < np.inf:
            assert kind(small).exp_mean() == kind(joint).exp_mean()
    for delta in (F(0), F(1, 4)):
        rows = small.mechanism.matrix.tolist()
        assert d.eml(p, rows, delta) == d.eml(p, split, delta)


def test_zeros_floats_and_supports():
    mech = bl.Mechanism.from_matrix([[0.5, 0.5, 0.0], [0.25, 0.25, 0.5]], outcome=["a", "b", "c"])
    assert g.similar_outcomes(mech) == [["a", "b"], ["c"]]
    only = bl.pmf([1.0, 0.0]) * mech
    assert g.similar_outcomes(only) == [["a", "b"]]
    reduced = g.reduced(only)
    assert reduced.outcome.labels == ("a",) and (reduced.matrix == 1).all()
    tenth = bl.Mechanism.from_matrix([[0.1, 0.3, 0.6], [0.03, 0.09, 0.88]])
    assert g.similar_outcomes(tenth) == [[0], [1], [2]], "3 * 0.1 is not the float 0.3"
    for wrong in (0.5, bl.mechanisms.laplace(b=1.0)):
        with pytest.raises(bl.InvalidInput, match="finite mechanism"):
            g.similar_outcomes(wrong)
