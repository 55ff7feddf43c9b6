"""The mechanisms of the papers, each with its closed forms and their theorems.

Names are looked up when first used, so that ``import borel`` stays light.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

_WHERE = {
    "MechanismFamily": "parameter_arrays",
    "clayton": "copula",
    "countable": "resampling",
    "counting_query": "counting",
    "gaussian": "noise",
    "laplace": "noise",
    "pml_extremal": "extremal",
    "randomized_response": "response",
}
# No module bears a public name, or a lazy name would turn into the module.

__all__ = [
    "MechanismFamily",
    "clayton",
    "countable",
    "counting_query",
    "gaussian",
    "laplace",
    "pml_extremal",
    "randomized_response",
]


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module 'borel.mechanisms' has no attribute {name!r}")
    value = getattr(import_module(f"borel.mechanisms.{_WHERE[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__


if TYPE_CHECKING:
    from borel.mechanisms.copula import clayton
    from borel.mechanisms.counting import counting_query
    from borel.mechanisms.extremal import pml_extremal
    from borel.mechanisms.noise import gaussian, laplace
    from borel.mechanisms.parameter_arrays import MechanismFamily
    from borel.mechanisms.resampling import countable
    from borel.mechanisms.response import randomized_response
