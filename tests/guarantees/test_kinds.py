"""Guarantees as objects: levels in nats or as ratios, ties, comparison, how they print."""

import math
import pickle
from dataclasses import fields
from fractions import Fraction as F

import numpy as np
import oracles as o
import pytest
from guarantees import definitions as d
from guarantees.test_theorems import premise
from hypothesis import given
from hypothesis import strategies as st

import borel as bl
from borel import guarantees as g
from borel.guarantees import extremal_examples

KINDS = [
    *(g.PML, g.PMC, g.LDP, g.LIP, g.LDI, g.EML, g.AveragePML, g.TailLeakage),
    *(g.UniversalPML, g.UniversalPMC, g.DisclosurePrevention),
]

DP = [g.ApproximateDP, g.ProbabilisticDP]


@pytest.mark.few(2)
@pytest.mark.parametrize("kind", [*KINDS, g.MaxInformation, *DP], ids=lambda k: k.__name__)
@pytest.mark.hypothesis
def test_ties_are_decided_exactly_for_ratios(kind):
    """At its own level a guarantee holds; a hair below it fails."""

    @given(st.data())
    def check(data):
        p, K = data.draw(d.joints(most=3))
        guarantee = data.draw(premise(kind, p, K, ""))
        joint = bl.pmf(p) * bl.Mechanism.from_matrix(K)
        verdict = joint.satisfies(guarantee)
        assert verdict.holds is True and verdict.bound.status == "exact"
        assert d.satisfies(guarantee, p, K)
        ratio = guarantee.levels[0].ratio
        more = {"delta": guarantee.delta} if hasattr(guarantee, "delta") else {}
        if ratio > 1 + F(1, 10**20):
            below = kind(ratio=ratio - F(1, 10**25), **more)
            truth = d.satisfies(below, p, K)
            assert joint.satisfies(below).holds is truth
            if not more.get("delta"):
                assert truth is False
        if more.get("delta") and kind in (g.PML, g.PMC):
            less = kind(ratio=ratio, delta=guarantee.delta * (1 - F(1, 10**25)))
            assert joint.satisfies(less).holds is False is d.satisfies(less, p, K)

    check()


@pytest.mark.few(2)
@pytest.mark.parametrize("kind", KINDS, ids=lambda k: k.__name__)
@pytest.mark.hypothesis
def test_floats_never_claim_what_is_false(kind):
    """Levels and matrices in floats, at ties and off them: decided rightly or not at all."""

    @given(st.data())
    def check(data):
        p, K = data.draw(d.joints(most=3, positive=data.draw(st.booleans())))
        guarantee = data.draw(premise(kind, p, K, ""))
        if guarantee is None:
            return
        shift = data.draw(st.sampled_from([0.0, 1e-17, 1e-9, -1e-9, -1e-17]))
        more = {"delta": guarantee.delta} if hasattr(guarantee, "delta") else {}
        asked = kind(max(float(guarantee.epsilon) + shift, 0.0), **more)
        truth = d.satisfies(asked, p, K)
        for prior, rows in ((p, K), (o.floats(p), o.floats(K))):
            holds = (bl.pmf(prior) * bl.Mechanism.from_matrix(rows)).satisfies(asked).holds
            assert holds in (truth, None)
            if prior is p and not more.get("delta"):
                assert holds is truth or shift in (0.0, 1e-17, -1e-17)

    check()


def test_witnesses_name_outcomes():
    example, _ = extremal_examples.example_5()
    joint = example.joint()
    assert joint.satisfies(g.PML(1.0)).witness["y"] in (0, 1)
    assert joint.satisfies(g.PML(ratio=F(6, 5), delta=F(1, 9))).bound.witness == {"y": [0, 1]}
    assert joint.satisfies(g.PML(0.2, delta=0.1)).witness["y"] in (0, 1)
    assert joint.satisfies(g.EML(0.5, delta=0.1)).witness["event"]
    assert set(joint.satisfies(g.LDI(1.0)).witness) == {"x", "x'", "y"}
    assert joint.satisfies(g.LDP(1.0)).witness["y"] in (0, 1)
    assert joint.satisfies(g.MaxInformation(0.1, delta=0.1)).witness["event"]


def test_parameters_by_position_by_name_and_as_ratios():
    assert g.PML(0.5, 0.25) == g.PML(epsilon=0.5, delta=0.25)
    assert g.PML(ratio=2).epsilon == math.nextafter(math.log(2), 1), "rounded up"
    assert g.PML(ratio=2) != g.PML(g.PML(ratio=2).epsilon), "log 2 is no float"
    assert g.PML(ratio=1).epsilon == 0 and g.PML(F(1, 2)).epsilon == F(1, 2)
    assert g.ALIP(1, 2).levels[1].nats == 2
    assert g.ALIP(ratio_l=2, ratio_u=3).levels[0].ratio == 2
    assert [f.name for f in fields(g.PML(1.0))] == ["epsilon", "delta"]
    assert g.PML(np.float64(0.5)) == g.PML(0.5) and hash(g.PML(np.float64(0.5))) == hash(g.PML(0.5))
    assert g.PML(np.float32(0.5)) == g.PML(0.5)
    assert g.PML(0.5) != g.PMC(0.5) and g.PML(0.5) != 0.5


@pytest.mark.parametrize(
    "guarantee",
    [
        g.PML(ratio=F(6, 5), delta=F(1, 6)),
        g.ALIP(ratio_l=2, ratio_u=3),
        g.SlicedEML(0.5, delta=0.1, slice_delta=0.2),
        g.FInformation(0.5, "squared_hellinger"),
        g.TotalVariation(F(1, 3)),
    ],
    ids=str,
)
def test_guarantees_are_values(guarantee):
    again = pickle.loads(pickle.dumps(guarantee))
    assert again == guarantee and hash(again) == hash(guarantee)
    assert again.levels == guarantee.levels
    with pytest.raises(AttributeError):
        guarantee.epsilon = 1.0
    assert guarantee.implies_same_kind(again)


def test_how_they_print():
    assert repr(g.PML(0.5)) == "PML(epsilon=0.5, delta=0.0)"
    assert repr(g.PML(ratio=F(6, 5), delta=F(1, 6))) == "PML(log 6/5, delta=1/6)"
    assert str(g.PML(0.12345678)) == "PML(0.123457)" and str(g.LDP(1.0)) == "LDP(1)"
    assert repr(g.ALIP(1, 2)) == "ALIP(epsilon_l=1, epsilon_u=2)"
    assert str(g.ALIP(ratio_l=2, ratio_u=F(3, 2))) == "ALIP(log 2, log 3/2)"
    assert str(g.FInformation(0.5)) == "chi square information(0.5)"
    assert str(g.EML(math.inf, delta=1)) == "EML(inf, delta=1)"


def test_strength_within_a_kind():
    assert g.PML(0.5, delta=0.1).implies_same_kind(g.PML(0.5, delta=0.2))
    assert not g.PML(0.5, delta=0.1).implies_same_kind(g.PML(0.6, delta=0.05))
    assert not g.PML(0.5).implies_same_kind(g.PMC(0.5))
    assert g.ALIP(1, 2).implies_same_kind(g.ALIP(1, 2.5))
    assert not g.ALIP(1, 2).implies_same_kind(g.ALIP(2, 1))


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (lambda: g.PML(), "epsilon >= 0"),
        (lambda: g.PML(0.5, ratio=2), "both"),
        (lambda: g.PML(ratio=0.5), "int or Fraction >= 1"),
        (lambda: g.PML(ratio=F(1, 2)), "int or Fraction >= 1"),
        (lambda: g.PML(ratio=True), "int or Fraction >= 1"),
        (lambda: g.LDI(-1), "epsilon >= 0"),
        (lambda: g.EML(0.1, delta=1.1), "delta <= 1"),
        (lambda: g.EML(0.1, delta="0"), "delta <= 1"),
        (lambda: g.PMC(0.1, delta=1), "delta < 1"),
        (lambda: g.MaxInformation(0.1, delta=1), "delta < 1"),
        (lambda: g.AveragePML(math.nan), "epsilon >= 0"),
        (lambda: g.TotalVariation(-0.1), "epsilon >= 0 .a probability"),
        (lambda: g.FInformation(0.1, "kl"), "MutualInformation"),
        (
            lambda: (bl.pmf([1]) * bl.Mechanism.from_matrix([[1]])).satisfies(g.PML),
            "a guarantee, such as",
        ),
        (lambda: g.ALIP(1), "epsilon >= 0"),
        (lambda: g.ALIP(1, 2, ratio_u=3), "both"),
    ],
)
def test_bad_input(wrong, says):
    with pytest.raises(bl.InvalidInput, match=says):
        wrong()


def test_families_and_posteriors_answer_or_refuse():
    import xarray as xr

    epsilon = xr.DataArray([0.5, 2.0], dims="strength", coords={"strength": ["weak", "strong"]})
    family = bl.pmf([0.5, 0.5]) * bl.mechanisms.randomized_response(k=2, epsilon=epsilon)
    for guarantee in (g.EML(0.5, delta=0.1), g.LDI(1.0), g.TotalVariation(0.2)):
        assert family.satisfies(guarantee).values.tolist() == ["holds", "fails"]


def test_the_picture_of_the_graph():
    from borel.figures.leakage_plots import blank_axes

    found = g.implied(g.LDP(1.0), p_min=0.1, alphabet=5)
    axes = found.plot(ax=blank_axes())
    texts = [t.get_text() for t in axes.texts]
    for guarantee in found.guarantees:
        assert any(str(guarantee) in text for text in texts), guarantee
    frames = {t.get_gid(): t.get_bbox_patch().get_linewidth() for t in axes.texts if t.get_gid()}
    assert frames["LDP"] > frames["PML"] == frames["PMC"]
    assert any("1  PMC paper, Proposition 1" in text for text in texts)
    both = g.compose(g.EML(1.0, delta=0.1), g.EML(1.0, delta=0.1), second_under="posterior")
    assert g.plot_implications(both, ax=blank_axes()).get_title(loc="left").count("then") == 1
    with pytest.raises(bl.InvalidInput, match="implied"):
        g.plot_implications(g.PML(0.5))


def test_pyplot_draws_a_figure_of_its_own():
    import matplotlib

    before = matplotlib.get_backend()
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    axes = g.implied(g.LDP(1.0)).plot()
    plt.close(axes.figure)
    matplotlib.use(before)


def test_f_information_is_decided():
    K = [[F(3, 4), F(1, 4)], [F(1, 4), F(3, 4)]]
    exact = bl.pmf([F(1, 2)] * 2) * bl.Mechanism.from_matrix(K)
    floats = bl.pmf([0.5, 0.5]) * bl.Mechanism.from_matrix(o.floats(K))
    assert exact.satisfies(g.FInformation(F(1, 4))).holds is True
    assert exact.satisfies(g.FInformation(F(1, 4) - F(1, 10**9))).holds is False
    assert exact.satisfies(g.FInformation(F(1, 4), "total_variation")).holds is True
    assert floats.satisfies(g.FInformation(0.25 + 1e-12)).holds is True
    assert floats.satisfies(g.FInformation(0.25 - 1e-12)).holds is False
    assert floats.satisfies(g.FInformation(0.25)).holds is None, "a tie of what was rounded"
    hellinger = 1 - (0.75**0.5 + 0.25**0.5) / 2**0.5
    assert exact.satisfies(g.FInformation(hellinger + 1e-12, "squared_hellinger")).holds is True
    assert exact.satisfies(g.FInformation(hellinger - 1e-12, "squared_hellinger")).holds is False


@given(d.joints(most=3))
def test_ties_of_rational_informations_are_decided(pK):
    p, K = pK
    joint, hair = bl.pmf(p) * bl.Mechanism.from_matrix(K), F(1, 10**40)
    for make, f in ((g.TotalVariation, "total_variation"), (g.FInformation, "chi_square")):
        truth = d.f_information(p, K, f)
        assert joint.satisfies(make(truth)).holds is True
        if truth > hair:
            assert joint.satisfies(make(truth - hair)).holds is False
    assert joint.satisfies(g.FInformation(math.inf)).holds is True


def test_a_prior_that_is_not_proved_gives_no_p_min():
    from scipy import special

    known = special.j0(1.0) ** 2
    prior = bl.Measure(lambda x: np.where(x == 1, special.j0(x) ** 2, 1 - known), on=bl.Finite(2))
    assert prior.unproved
    with pytest.raises(bl.InvalidInput, match="float64 only"):
        g.implied(g.LDP(1.0), prior=prior)
