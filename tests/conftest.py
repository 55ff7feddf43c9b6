"""Shared by all tests: the oracles on the path, and how hypothesis runs."""

import sys
from pathlib import Path

from hypothesis import HealthCheck, settings

sys.path.insert(0, str(Path(__file__).parent))  # so that tests may import `oracles`

settings.register_profile(
    "suite",
    max_examples=300,  # for each build, Fractions and floats
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
settings.register_profile("search", parent=settings.get_profile("suite"), derandomize=False)
settings.load_profile("suite")
