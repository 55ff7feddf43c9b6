"""The strategies draw what the laws must survive."""

import oracles as o
from hypothesis import given, settings


def test_half_of_the_joints_are_special():
    seen = []

    @settings(max_examples=300)
    @given(o.joints())
    def draw(joint):
        seen.append(o.is_special(*joint))

    draw()
    assert len(seen) >= 300 and sum(seen) >= len(seen) / 2
