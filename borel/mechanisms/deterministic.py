"""Deterministic mechanisms: the outcome is a function of the secret."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from borel.errors import InvalidInput, NotYet
from borel.mechanisms.levels import require_few
from borel.probability.alphabets import Alphabet, Finite
from borel.probability.mechanism import Mechanism
from borel.probability.wrong_calls import explained

if TYPE_CHECKING:
    from collections.abc import Sequence


@explained
def function(
    g: Callable[[Any], Any],
    *,
    secret: Alphabet | Sequence,
    outcome: Alphabet | Sequence | None = None,
) -> Mechanism:
    r"""Make a deterministic mechanism, Y = g(X).

    .. math:: P_{Y|X=x}(y) = 1\{y = g(x)\}

    Parameters
    ----------
    g : callable
        Of a finite secret: takes a label and returns one. Of others: a function of numbers, that
        takes arrays, as densities do.
    secret : Alphabet or sequence of labels
        The alphabet of x.
    outcome : Alphabet or sequence of labels, optional
        That of y, finite or countable. If not given, the labels met, in order, of a finite secret.

    Returns
    -------
    Mechanism
        A matrix of Fractions, 0 and 1, for a finite secret with finite outcomes.

    Raises
    ------
    InvalidInput
        A ``g`` that is no function, a value outside the outcomes, or no outcomes for a secret that
        is not finite.
    NotYet
        Outcomes that are neither finite nor countable: g(X) has no density there.

    Notes
    -----
    PML(y) is -log P{g(X) = y}, and maximal leakage the logarithm of the number of values of
    positive probability.

    Examples
    --------
    >>> from fractions import Fraction as F
    >>> import borel as bl
    >>> parity = bl.mechanisms.function(lambda x: x % 2, secret=bl.Finite(3))
    >>> joint = bl.pmf([F(1, 2), F(1, 4), F(1, 4)]) * parity
    >>> [str(bl.pml(joint)(y).ratio.upper) for y in (0, 1)]
    ['4/3', '4']
    >>> half = bl.mechanisms.function(lambda x: x > 0.5, secret=bl.Interval(0, 1), outcome=[0, 1])
    >>> bl.pml(bl.uniform(bl.Interval(0, 1)) * half)(1)
    Bound(0.6931471806, certified)
    """
    if not callable(g):
        raise InvalidInput("function", expected="a function of the secret", got=repr(g))
    known = secret if isinstance(secret, Alphabet) else Finite(secret)
    codomain = outcome if outcome is None or isinstance(outcome, Alphabet) else Finite(outcome)
    name = f"function {getattr(g, '__name__', type(g).__name__)}"
    if known.kind == "finite":
        return _matrix(g, known, codomain, name)
    if codomain is None:
        raise InvalidInput(
            "function",
            expected="outcome=<an alphabet>, for a secret that is not finite",
            got="none",
        )
    if codomain.kind not in ("finite", "countable"):
        raise NotYet(
            "function",
            missing=f"values in {codomain!r}, where g(X) has no density given X",
            instead="finite or countable outcomes: rounding, thresholds, counts.",
        )
    return Mechanism(
        lambda y, x: np.where(y == 1.0 * g(x), 1.0, 0.0), secret=known, outcome=codomain, name=name
    )


def _matrix(g: Callable, secret: Alphabet, outcome: Alphabet | None, name: str) -> Mechanism:
    values = [g(x) for x in secret.labels]
    if outcome is None:
        try:
            outcome = Finite(list(dict.fromkeys(values)))
        except TypeError:
            raise InvalidInput(
                "function",
                expected="values that are labels (numbers, strings, tuples)",
                got=repr(values[0]),
            ) from None
    if outcome.kind != "finite":
        raise NotYet(
            "function",
            missing=f"{outcome!r} as the outcome of a finite secret",
            instead="leave outcome out, or give the labels.",
        )
    require_few("function", secret.size, outcome.size)
    rows = np.full((secret.size, outcome.size), Fraction(0), dtype=object)
    for i, value in enumerate(values):
        rows[i, int(outcome.positions(value, "g(x)"))] = Fraction(1)
    return Mechanism.from_matrix(rows, secret=secret, outcome=outcome, name=name)
