"""The search for proofs is asked of suprema that are finite: it must come back with nothing.

`test_infinity` asks for figures, and most decoys are bounded before any proof is looked for; here
the search itself is asked, and along every ray.
"""

import pytest
from engine.blind_infinities import DECOYS
from engine.near_misses import NEAR_MISSES

import borel as bl
from borel.engine import engine_for
from borel.engine.countable.infinity_proofs import prove_countable
from borel.engine.infinite.proofs import prove


def named(cases):
    # a countable secret with continuous outcomes has no certified engine
    kept = [c for c in cases if c.at is None and not c.name.startswith("countable_centres")]
    return [pytest.param(case, id=case.name) for case in kept]


def search(case):
    joint = case.build()
    with bl.options(closed_forms=False):
        engine = engine_for(joint)
        if joint.outcome.kind == "countable":
            return prove_countable(engine, case.kind)
        return prove(engine, case.kind, [])


@pytest.mark.few(2)
@pytest.mark.cases(
    "slow",
    "laplace_noise_in_disguise_pml",
    "laplace_noise_in_disguise_pmc",
    "a_slope_that_grows_at_one_secret_pmc",
    "a_slope_that_grows_at_one_secret_pml",
    "a_slope_that_grows_at_an_end_pmc",
)
@pytest.mark.cases("truths", "a_wave_that_is_common_pmc", "a_wave_that_is_common_pml")
@pytest.mark.parametrize("case", named(NEAR_MISSES))
def test_no_near_miss_is_proved_infinite(case):
    assert search(case) is None


@pytest.mark.fuzz
@pytest.mark.parametrize("case", named(DECOYS))
def test_no_decoy_is_proved_infinite(case):
    assert search(case) is None
