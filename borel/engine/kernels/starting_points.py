"""Guesses where a function of several secrets is extreme: nothing is proved by them.

Boxes of many dimensions prove a bound early and find the place late.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from borel import settings
from borel.numerics.graphs import float64

if TYPE_CHECKING:
    from borel.engine.problem.secret_and_kernel import Secret
    from borel.numerics.graphs.graph import Graph

_STARTS = 256
_FAR = 1e300


def guess(graph: Graph, secret: Secret, sign: float, **others: float) -> np.ndarray:
    """Return about where sign * graph is largest, in float64, over secrets in a bounded box.

    Parameters
    ----------
    graph : Graph
        A function of the secret.
    secret : Secret
        The box.
    sign : {1, -1}
        Whether it is to be large, or small.
    **others : float
        The other inputs.
    """
    rng = np.random.default_rng(settings.current().seed)
    starts = rng.uniform(secret.lower, secret.upper, (_STARTS, secret.dim))

    def depth(x: np.ndarray) -> Any:
        named: dict[str, Any] = dict(zip(secret.names, np.moveaxis(x, -1, 0), strict=True))
        named |= {name: np.asarray(value) for name, value in others.items()}
        values = sign * float64.evaluate(graph, named)
        return -np.nan_to_num(values, nan=-_FAR, posinf=_FAR, neginf=-_FAR)

    first = starts[int(np.argmin(depth(starts)))]
    bounds = list(zip(secret.lower, secret.upper, strict=True))
    from scipy.optimize import minimize

    return minimize(depth, first, method="L-BFGS-B", bounds=bounds).x
