"""A randomised function U of the secret as a table: P(u|x) at the charged secrets, enclosed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from borel.adversaries.beliefs import FLOATS, Secrets, ends
from borel.errors import InvalidInput
from borel.probability.mechanism import Mechanism


def kernel_rows(function: Any, what: str) -> Callable[[Secrets], tuple[np.ndarray, np.ndarray]]:
    """Read the rows of P_{U|X} at the charged secrets, enclosed."""
    if not isinstance(function, Mechanism) or not function.finite:
        raise InvalidInput(
            what,
            expected="a finite Mechanism from the secret to U",
            got=repr(function),
            mend="bl.Mechanism.from_matrix(P, secret=..., outcome=...).",
        )

    def rows_of(secrets: Secrets) -> tuple[np.ndarray, np.ndarray]:
        for x in secrets.labels:
            if not np.all(function.secret.contains(x)):
                raise InvalidInput(
                    what,
                    expected=f"a function defined at every secret of {secrets.alphabet!r}",
                    got=f"one on {function.secret!r}",
                    where=f"x = {x!r}",
                )
        rows = [int(function.secret.positions(x, "x")) for x in secrets.labels]
        return ends(function.matrix[rows], function.rounding)

    return rows_of


def about_function(threat: Any, function: Any) -> Any:
    """Note what figures about a function rest on."""
    threat.assumptions = () if function.rational else (FLOATS,)
    threat.reason = function.unproved
    return threat
