"""Factories of mechanisms take labelled arrays as parameters: then they make families."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any

from borel.probability.arrays import is_labelled
from borel.probability.mechanism_families import MechanismFamily

if TYPE_CHECKING:
    from collections.abc import Callable

    from borel.probability.mechanism import Mechanism


def over_arrays(
    factory: Callable[..., Mechanism], *, but: tuple[str, ...] = ()
) -> Callable[..., Any]:
    """Let a factory of mechanisms take DataArrays: then it makes a `MechanismFamily`.

    Those of the arguments ``but`` are tables of one mechanism.
    """

    @wraps(factory)
    def make(*args: Any, **given: Any) -> Any:
        labelled = {name: value for name, value in given.items() if name not in but}
        arrays = {n: value for n, value in labelled.items() if is_labelled(value) and value.ndim}
        if args or not arrays:
            return factory(*args, **given)
        fixed = {name: value for name, value in given.items() if name not in arrays}
        return MechanismFamily(lambda **each: factory(**fixed, **each), arrays)

    return make
