"""The search for counterexamples: what it must find, and what it must not."""

from fractions import Fraction as F

import pytest

import borel as bl
from borel.claims.spans import same

g = bl.guarantees
TAIL = g.PML(ratio=F(6, 5), delta=F(1, 6))


def given(joint, side, kind):
    """Yield conditional leakage with the prior that is left, where both outcomes are possible."""
    found, known = kind(joint, given=side), joint.prior * side
    for z, mass in enumerate(known.marginal.probabilities):
        if mass:
            left = known.posterior(z)
            under = left * joint.mechanism
            for y, m in enumerate(under.marginal.probabilities):
                if m:
                    yield found[z](y), left, y, under


def corollary_2(joint, side):
    """Erratum 2: conditional PMC is D_inf(P_X|z || P_X|y)."""
    for found, left, y, _ in given(joint, side, bl.pmc):
        yield same(found, bl.max_divergence(left, joint.posterior(y)))


def lemma_1_5(joint, side):
    """Erratum 3: the maximum is over the support of the prior."""
    for found, _, y, under in given(joint, side, bl.pml):
        column, mass = joint.mechanism.matrix[:, y], under.marginal.probabilities[y]
        charged = zip(joint.prior.probabilities, column, strict=True)
        yield same(found, max(v / mass for p, v in charged if p))


FALSE = {
    "PML does not imply PMC": lambda joint: (
        not joint.satisfies(g.PML(ratio=2)).holds or joint.satisfies(g.PMC(ratio=100))
    ),
    "(eps, delta)-PML is not closed": lambda joint, released: (
        not joint.satisfies(TAIL).holds or released.satisfies(TAIL)
    ),
    "psi_1 is not closed": lambda joint, released: (
        bl.psi_1(released, ratio=F(10, 9)) <= bl.psi_1(joint, ratio=F(10, 9))
    ),
    "erratum 2": corollary_2,
    "erratum 3": lemma_1_5,
    "a wrong claim": lambda joint: bl.maximal_leakage(joint) <= bl.mutual_information(joint),
}


@pytest.mark.few(4)
@pytest.mark.parametrize("name", FALSE)
def test_it_finds(name):
    found = bl.refute(FALSE[name])
    assert found and found.joint is not None
    assert found.joint.secret.size <= 2, "a simple one"
    again = FALSE[name](found.joint, **found.arguments)
    facts = [again] if isinstance(again, (bool, bl.Verdict)) else list(again)
    assert any((f if isinstance(f, bool) else f.holds) is False for f in facts)
    assert "refuted by prior" in repr(found)


TRUE = {
    "PML is at most LDP": lambda joint, delta: bl.pml(joint).sup() <= bl.ldp(joint),
    "PMC is at most LDP": lambda joint, delta: bl.pmc(joint).sup() <= bl.ldp(joint),
    "maximal leakage is at most PML": lambda joint, delta: (
        bl.maximal_leakage(joint) <= bl.pml(joint).sup()
    ),
    "mutual information is at most mean PML": lambda joint, delta: (
        bl.mutual_information(joint) <= bl.pml(joint).mean()
    ),
    "PML is closed": lambda joint, released: bl.pml(released).sup() <= bl.pml(joint).sup(),
    "PMC is closed": lambda joint, released: bl.pmc(released).sup() <= bl.pmc(joint).sup(),
    "psi_2 is closed": lambda joint, released: (
        bl.psi_2(released, ratio=F(10, 9)) <= bl.psi_2(joint, ratio=F(10, 9))
    ),
    "tail leakage is closed": lambda joint, released, delta: (
        bl.tail_leakage(released, delta) <= bl.tail_leakage(joint, delta)
    ),
    "event maximal leakage is closed": lambda joint, released, delta: (
        bl.event_maximal_leakage(released, delta=delta)
        <= bl.event_maximal_leakage(joint, delta=delta)
    ),
    "tail leakage is at most PML": lambda joint, delta: (
        bl.tail_leakage(joint, delta) <= bl.pml(joint).sup()
    ),
}


@pytest.mark.few(1)
@pytest.mark.parametrize("name", TRUE)
def test_it_does_not_refute_what_is_true(name):
    found = bl.refute(TRUE[name], tries=200)
    assert not found and found.joint is None and found.tried >= 200
    assert "proves nothing" in repr(found)


def test_a_false_claim_on_continuous_families_only():

    def claim(joint):  # true on small finite alphabets, where PML is at most log 1/p_min
        return True if bl.pmc(joint).sup().upper > 1000 else bl.pml(joint).sup() < 1000

    found = bl.refute(claim, tries=20)
    assert found and found.family == "mechanisms.countable()"
    assert "countable" in repr(found)


def test_optimisation_reaches_what_random_joints_do_not(monkeypatch):
    from borel.claims import refutation

    found = bl.refute(lambda joint: bl.pml(joint).sup() <= 4, tries=100)
    assert found.setting is not None and min(found.setting.p) == F(1, 55), "the simplest one"
    monkeypatch.setattr(refutation._Search, "optimised", lambda self: None)
    monkeypatch.setattr(refutation, "families", lambda: iter(()))
    assert not bl.refute(lambda joint: bl.pml(joint).sup() <= 4, tries=100)


def test_it_finds_what_fails_at_a_rare_outcome_only():
    """LDI looks at posteriors and not at the prior: a rare outcome may leak more."""
    found = bl.refute(lambda joint: bl.pml(joint).sup() <= bl.ldi(joint))
    assert found and found.setting is not None and len(found.setting.p) == 3
    assert min(found.joint.marginal.probabilities) < F(1, 20)


def test_an_estimate_refutes_nothing():
    assert not bl.refute(lambda joint, delta: bl.Bound.estimate(5, 0.1) <= 1, tries=5)


def test_the_search_is_the_same_whenever_asked():
    one, other = (bl.refute(FALSE["psi_1 is not closed"], seed=3) for _ in range(2))
    assert repr(one) == repr(other)


def test_a_claim_that_asks_for_or_returns_something_else():
    with pytest.raises(bl.InvalidInput, match="post, side, released, delta"):
        bl.refute(lambda joint, wrong: True)
    with pytest.raises(bl.InvalidInput, match="a Verdict, or True, False or None"):
        bl.refute(lambda joint: 1.5)


def test_a_search_that_settles_nothing_says_so():
    found = bl.refute(lambda joint, delta: bl.Bound.estimate(5, 0.1) <= 1, tries=5)
    assert found.settled == 0 and "5 attempts, 0 of them settled" in repr(found)
    assert bl.refute(lambda joint, delta: True, tries=5).settled == 5
    with pytest.raises(bl.InvalidInput, match=r"error at each of .* delta <= 1, got 7"):
        bl.refute(lambda joint, side: bl.event_maximal_leakage(joint, delta=7) <= 1, tries=5)


def test_an_error_of_the_claim_is_passed_on_with_the_joint():
    with pytest.raises(ZeroDivisionError) as caught:
        bl.refute(lambda joint: 1 / 0, tries=5)
    assert "raised by the claim of Joint(" in caught.value.__notes__[0]


def test_a_claim_about_finite_joints_is_not_asked_of_others():
    found = bl.refute(lambda joint: len(joint.outcome.labels) < 9, tries=5)
    assert not found and found.settled < found.tried
    assert "normal secret, gaussian(sigma=0.5)" in found.left_out and len(found.left_out) == 8
    assert all(error.startswith("AttributeError: ") for error in found.left_out.values())
    assert "8 named families left out: AttributeError" in repr(found)


def test_the_limit_ends_every_stage_of_the_search():
    def true(joint, delta):
        return bl.pml(joint).sup() <= bl.ldp(joint)

    found = bl.refute(true, tries=1000, limit=30)
    assert not found and found.tried == 30 and found.exhausted
    assert "not refuted in 30 attempts" in repr(found) and "at the limit" in repr(found)
    assert not bl.refute(lambda joint, delta: True, tries=5).exhausted
    assert not bl.refute(
        lambda joint, delta: True, tries=5, limit=5
    ).exhausted  # it ended by itself
    false = FALSE["psi_1 is not closed"]
    whole = bl.refute(false)
    short = bl.refute(false, limit=whole.tried - 40)  # in the midst of shrinking
    assert short and short.exhausted and short.setting.size >= whole.setting.size
    again = false(short.joint, **short.arguments)
    assert again.holds is False and short.verdict.holds is False


def test_facts_before_an_error_count():
    def claim(joint):
        yield bl.pml(joint).sup() <= 0
        raise bl.InvalidInput("a figure", expected="one thing", got="another")

    assert bl.refute(claim, tries=50)


def test_equal_figures_that_are_not_exact_refute_nothing():
    def same_by_two_ways(joint, delta):
        one, other = bl.mutual_information(joint), bl.f_information(joint, "kl")
        return [one <= other, other <= one]

    assert not bl.refute(same_by_two_ways, tries=40)
    assert not bl.refute(lambda joint, delta: bl.pml(joint).sup() >= bl.pml(joint).sup(), tries=40)


def test_calls_that_are_no_search():
    for wrong, said in ((5, "a function of a joint, got 5"), (lambda: True, "one of nothing")):
        with pytest.raises(bl.InvalidInput, match=said):
            bl.refute(wrong)
    for wrong in ({"tries": -1}, {"tries": "a"}, {"limit": 0}, {"limit": 1.5}, {"limit": True}):
        with pytest.raises(bl.InvalidInput, match="how many joints"):
            bl.refute(lambda joint: True, **wrong)
    for wrong in (-1, "a", 1.0, None):
        with pytest.raises(bl.InvalidInput, match="a whole number of 0 or more, got seed="):
            bl.refute(lambda joint: True, seed=wrong)
    assert bl.refute(lambda joint, level=1: bl.pml(joint).sup() <= level, tries=50)
