r"""Randomised functions of the secret that leak as a threat does: the constructions of the proofs.

An adversary who guesses a randomised function U of the secret, an adversary with a gain, and one
with a cost are three views of one supremum. Here are the passages: the shattering channel, the U
of a gain, the U of a cost. All are kernels of Fractions, so that nothing about U is rounded.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from borel.adversaries.beliefs import Beliefs, Secrets, fractions, require_finite_prior
from borel.adversaries.threats import Cost, Gain, Threat
from borel.errors import InvalidInput, NotYet
from borel.probability.measure import Measure
from borel.probability.mechanism import Mechanism

LETTERS = 10_000
"""How many letters a constructed U may have."""


def shattering(prior: Measure) -> Mechanism:
    r"""Return the shattering channel: it breaks every secret into pieces of one probability.

    .. math:: P_{U|X=x}((x, j)) = \frac{p^*}{P_X(x)} \quad (j \le \lfloor k(x) \rfloor), \qquad
              1 - \lfloor k(x) \rfloor \frac{p^*}{P_X(x)} \quad
              (j = \lceil k(x) \rceil > \lfloor k(x) \rfloor)

    with :math:`p^* = \min_x P_X(x)` over the support and :math:`k(x) = P_X(x) / p^*`. One and the
    same U attains PML at every outcome of every mechanism.

    Parameters
    ----------
    prior : Measure
        Finite, n labels. Floats are read as the rationals they are.

    Returns
    -------
    Mechanism
        From the secret to pairs (x, j), j = 1, 2, ...; a matrix of Fractions. Secrets that the
        prior does not charge get one piece, of probability 0.

    Raises
    ------
    InvalidInput
        Not a finite prior, or one with more than 10 000 pieces.

    Notes
    -----
    Where k(x) is whole, Definition 2 gives the last piece two values: the first is meant.

    References
    ----------
    "Pointwise Maximal Leakage", Definition 2 and the proof of Theorem 1; Issa, Wagner, Kamath,
    "An operational approach to information leakage" (2020), Theorem 1.

    Examples
    --------
    >>> from fractions import Fraction as F
    >>> import borel as bl
    >>> shattering(bl.pmf([F(5, 7), F(2, 7)])).matrix.tolist()[0]
    [Fraction(2, 5), Fraction(2, 5), Fraction(1, 5), Fraction(0, 1)]
    """
    what = "shattering"
    require_finite_prior(prior, what)
    p = [Fraction(v) for v in prior.probabilities.tolist()]
    least = min(v for v in p if v)
    k = [max(v / least, Fraction(1)) for v in p]
    require_few(sum(math.ceil(v) for v in k), what)
    pieces = [(i, j) for i, count in enumerate(k) for j in range(1, math.ceil(count) + 1)]
    rows = []
    for x, count in enumerate(k):
        whole = math.floor(count)
        row = [Fraction(0)] * len(pieces)
        for at, (i, j) in enumerate(pieces):
            if i == x:
                row[at] = 1 / count if j <= whole else 1 - whole / count
        rows.append(row)
    labels = [(prior.on.labels[i], j) for i, j in pieces]
    return Mechanism.from_matrix(rows, secret=prior.on, outcome=labels, name="shattering")


def function_of_gain(joint: Any, gain: Gain, y: Any) -> Mechanism:
    r"""Return a randomised function U_g that leaks at y what a gain leaks.

    .. math:: \ell_{U_g}(X \to y) = \ell_g(X \to y)

    Parameters
    ----------
    joint : Joint
        ``prior * mech``, finite.
    gain : Gain
        With rational values.
    y : label
        The outcome, of positive probability; U_g depends on it.

    Returns
    -------
    Mechanism
        From the secret to 0, 1, ..., a matrix of Fractions. With floats in the joint the two
        leakages agree to rounding.

    Raises
    ------
    InvalidInput
        An outcome of probability 0, a gain that is worth nothing before or after it, or more than
        10 000 letters.
    NotYet
        A gain whose values are not rational; alphabets that are not finite.

    Notes
    -----
    With the gain scaled to at most 1, v the best action after y and w the best one before,

    .. math:: P_{U|X=x}(0) = g(x, v) / 2, \quad P_{U|X=x}(1) = g(x, w) / 2,

    and what is left of every row is spread evenly over as many letters as keep each of them below
    those two, before y and after it. (One letter, g(x, v), if the same action is best.) This is
    the idea of the proof of Theorem 2, with one way to spread the rest instead of its cases.

    The theorem needs a gain that is worth something after y: one that is worth nothing leaks
    -inf, but no U leaks less than -log of its number of letters.

    References
    ----------
    "Pointwise Maximal Leakage", Theorem 2 (Appendix A).

    Examples
    --------
    >>> import borel as bl
    >>> joint = bl.pmf([0.5, 0.5]) * bl.Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]])
    >>> u = function_of_gain(joint, bl.adversaries.gain.table([[1, 0], [0, 3]]), 1)
    >>> bl.adversaries.function_leakage(joint, u, 1)
    Bound(0.4054651081, exact)
    """
    what = "function_of_gain"
    sides = _Sides(joint, gain, Gain, y, what)
    top = max(*sides.before, *sides.after)
    worth = [_mean(sides.prior, sides.before), _mean(sides.posterior, sides.after)]
    if not all(worth):
        raise InvalidInput(
            what,
            expected="a gain that is worth something before and after y",
            got=f"expected gains {worth[0]} and {worth[1]}",
            mend="no randomised function leaks 0/0, or -inf.",
        )
    if sides.one_action:
        columns = [[g / top for g in sides.after]]
    else:
        columns = [[g / top / 2 for g in sides.after], [g / top / 2 for g in sides.before]]
    rest = [1 - sum(column, Fraction(0)) for column in zip(*columns, strict=True)]
    # before y the letter of `before` must be the largest, after y the letter of `after`
    letters = max(
        1,
        math.ceil(_mean(sides.prior, rest) / _mean(sides.prior, columns[-1])),
        math.ceil(_mean(sides.posterior, rest) / _mean(sides.posterior, columns[0])),
    )
    require_few(letters, what)
    rows = [
        [*own, *[left / letters] * letters]
        for own, left in zip(zip(*columns, strict=True), rest, strict=True)
    ]
    return kernel(sides.secrets, rows, "U of a gain")


def function_of_cost(joint: Any, cost: Cost, y: Any) -> Mechanism:
    r"""Return a binary randomised function U_c that leaks at y what a cost leaks.

    .. math:: \Lambda_{U_c}(X \to y) = \Lambda_c(X \to y)

    Parameters
    ----------
    joint : Joint
        ``prior * mech``, finite.
    cost : Cost
        With rational values.
    y : label
        The outcome, of positive probability; U_c depends on it.

    Returns
    -------
    Mechanism
        From the secret to 0 and 1, a matrix of Fractions. With floats in the joint the two
        leakages agree to rounding.

    Raises
    ------
    InvalidInput
        An outcome of probability 0, or a cost that is 0 before it.
    NotYet
        A cost whose values at the best actions are not rational and finite; alphabets that are
        not finite.

    Notes
    -----
    With s the best action before y, t the best one after, and the cost scaled to at most 1/2,

    .. math:: P_{U|X=x}(1) = \delta c(x, s) + (1 - \delta) c(x, t).

    The letter 0 is the likelier one, before and after, so that the probabilities of a wrong guess
    are the expectations of the right side; delta makes their ratio that of the two least costs.
    The proof of Theorem 3 scales the cost to at most 1 and splits the letter 1 into k, k large:
    scaled to 1/2, k = 1 is enough, also where the leakage is infinite.

    References
    ----------
    "Information Density Bounds for Privacy", Theorem 3 (Appendix A).

    Examples
    --------
    >>> import borel as bl
    >>> joint = bl.pmf([0.5, 0.5]) * bl.Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]])
    >>> u = function_of_cost(joint, bl.adversaries.cost.zero_one(), 1)
    >>> bl.adversaries.function_leakage(joint, u, 1, of="pmc")
    Bound(0.6931471806, exact)
    """
    what = "function_of_cost"
    sides = _Sides(joint, cost, Cost, y, what)
    s, t = sides.before, sides.after
    s_prior, t_prior = _mean(sides.prior, s), _mean(sides.prior, t)
    s_after, t_after = _mean(sides.posterior, s), _mean(sides.posterior, t)
    if not s_prior:
        raise InvalidInput(
            what,
            expected="a cost that must be paid before y",
            got="an expected cost of 0",
            mend="0/0 is 1 by convention: the leakage is 0, and so is that of a constant U.",
        )
    delta = Fraction(0)
    if t_after and s_prior != t_prior:
        # (delta s_prior + (1 - delta) t_prior) t_after = s_prior (delta s_after + ...)
        slope = (s_prior - t_prior) * t_after - s_prior * (s_after - t_after)
        delta = (s_prior - t_prior) * t_after / slope
    mixed = [delta * a + (1 - delta) * b for a, b in zip(s, t, strict=True)]
    scale = 2 * max(mixed)
    rows = [[1 - c / scale, c / scale] for c in mixed]
    return kernel(sides.secrets, rows, "U of a cost")


class _Sides:
    """The prior, the posterior at y (up to a factor), and a threat at the best actions of each."""

    def __init__(self, joint: Any, threat: Any, kind: type[Threat], y: Any, what: str):
        beliefs = Beliefs(joint, what)
        kind.check(threat, what)
        column = beliefs.column(y)
        if column not in beliefs.live:
            raise InvalidInput(
                what,
                expected="an outcome of positive probability",
                got="probability 0",
                where=f"y = {y!r}",
            )
        self.secrets = beliefs.secrets
        p, k = nominal(beliefs)
        self.prior, self.posterior = p, [a * b for a, b in zip(p, k[:, column], strict=True)]
        laws = np.empty((2, len(p)), dtype=object)
        laws[0], laws[1] = self.prior, self.posterior
        first, second = threat.values(self.secrets, laws)
        self.before, self.after = (threat.at(self.secrets, v.action) for v in (first, second))
        for value, column_, law in (
            (first, self.before, self.prior),
            (second, self.after, self.posterior),
        ):
            if not value.lower == value.upper == _mean(law, column_):
                raise NotYet(what, missing=f"rational best actions of {threat!r}")
        self.one_action = self.before == self.after


def nominal(beliefs: Beliefs) -> tuple[list[Fraction], np.ndarray]:
    """Return the prior and the kernel as the rationals they are, on the charged secrets."""
    rows = beliefs.secrets.rows
    p = beliefs.joint.prior.at(beliefs.secrets.alphabet)[rows]
    return fractions(p).tolist(), fractions(beliefs.mechanism.matrix[rows])


def kernel(secrets: Secrets, rows: Sequence[Sequence[Fraction]], name: str) -> Mechanism:
    """Make a Mechanism from rows at the charged secrets; elsewhere it gives the first letter."""
    letters = len(rows[0])
    matrix = [[Fraction(int(u == 0)) for u in range(letters)] for _ in secrets.alphabet.labels]
    for i, row in zip(secrets.rows, rows, strict=True):
        matrix[int(i)] = list(row)
    return Mechanism.from_matrix(matrix, secret=secrets.alphabet, name=name)


def _mean(weights: Sequence[Fraction], values: Sequence[Fraction]) -> Fraction:
    return sum((w * v for w, v in zip(weights, values, strict=True)), Fraction(0))


def require_few(letters: int, what: str, mend: str = "") -> None:
    """Raise `InvalidInput` for a function of more than `LETTERS` letters."""
    if letters > LETTERS:
        shown = str(letters) if letters < 10**12 else f"about 2**{letters.bit_length()}"
        raise InvalidInput(
            what,
            expected=f"a function of at most {LETTERS} letters",
            got=shown,
            mend=mend or 'a gain has no such limit: bl.adversaries.witness(..., as_="gain").',
        )
