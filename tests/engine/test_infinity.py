"""The blind list of suprema through the certified engine: no false infinity, no false bound.

A decoy looks infinite and is finite, an infinity is infinite. What the engine proves is held here
by name, so that a proof that is lost is noticed; what it does not prove it must leave open.
"""

import json

import numpy as np
import pytest
from engine.blind_infinities import DECOYS, INFINITIES

import borel as bl

INF = np.inf

PROVED = {
    "gaussian_noise_on_an_interval_pml",
    "gaussian_noise_on_an_interval_pmc",
    "gaussian_noise_on_a_normal_pml",
    "gaussian_noise_on_a_normal_at_one_outcome",
    "laplace_noise_on_a_laplace_secret",
    "cauchy_noise_on_a_cauchy_secret",
    "exponential_rates_pml",
    "exponential_rates_pmc",
    "pareto_exponents_pmc",
    "exponential_rates_of_one_over_y",
    "powers_on_an_interval_pmc",
    "powers_of_two_labels",
    "clayton_mixture_pml",
    "clayton_theta_2_at_one",
}
"""Infinities with a proof: to lose one is a regression."""

MISSED = {}
"""Infinities that stay open, and what a proof would need."""


def named(cases):
    return [pytest.param(case, id=case.name) for case in cases]


QUICK_DECOYS = (
    "laplace_noise_pml",
    "laplace_noise_pmc",
    "cauchy_noise",
    "half_normal_two_scales",
    "pareto_scales_pml",
)
QUICK_INFINITIES = (
    "gaussian_noise_on_an_interval_pml",
    "gaussian_noise_on_a_normal_at_one_outcome",
    "laplace_noise_on_a_laplace_secret",
    "uniform_noise_at_the_edge",
    "exponential_rates_pml",
    "powers_of_two_labels",
    "geometric_rates",
    "clayton_mixture_pml",
)


def quick(cases, names):
    """Return a handful of cases, which every run can afford."""
    chosen = [case for case in cases if case.name in names]
    assert len(chosen) == len(names)
    return named(chosen)


def figure(case):
    """Compute the figure with the engine alone: no closed forms."""
    with bl.options(closed_forms=False, budget=10):
        leakage = (bl.pml if case.kind == "pml" else bl.pmc)(case.build())
        return leakage.sup() if case.at is None else leakage(case.at)


def check_decoy(case):
    found = figure(case)
    assert found.lower < INF, found.assumptions
    if found.status != "estimate":  # an estimate says nothing about where the truth is
        assert found.lower <= case.truth[1] and case.truth[0] <= found.upper
    if found.certificate is not None:
        json.dumps(found.certificate, allow_nan=False)


def check_infinity(case):
    found = figure(case)
    assert found.upper == INF
    if case.name in PROVED:
        assert found.lower == INF and found.proved
        proof = found.certificate["claim"]["proof"]
        assert found.certificate["claim"]["type"] == "infinite" and proof["kind"] in ARGUMENTS
    else:
        assert case.name in MISSED
        assert found.lower < INF, "it is proved now: say so in PROVED"
        assert found.status == "undecided"
    if found.certificate is not None:
        text = json.dumps(found.certificate, allow_nan=False)
        assert json.loads(text) == found.certificate


ARGUMENTS = {"mass", "ratio", "slope", "zero"}


def test_every_infinity_is_either_proved_or_missed():
    names = {case.name for case in INFINITIES}
    assert not PROVED & set(MISSED) and PROVED | set(MISSED) == names
    assert len(PROVED) >= max(10, len(names) / 2)


@pytest.mark.parametrize("case", quick(DECOYS, QUICK_DECOYS))
def test_a_decoy_is_finite_and_its_truth_is_inside(case):
    check_decoy(case)


@pytest.mark.parametrize("case", quick(INFINITIES, QUICK_INFINITIES))
def test_an_infinity_is_proved_or_left_open(case):
    check_infinity(case)


@pytest.mark.fuzz
@pytest.mark.parametrize("case", named(DECOYS))
def test_all_decoys_are_finite_and_their_truths_are_inside(case):
    check_decoy(case)


@pytest.mark.fuzz
@pytest.mark.parametrize("case", named(INFINITIES))
def test_all_infinities_are_proved_or_left_open(case):
    check_infinity(case)
