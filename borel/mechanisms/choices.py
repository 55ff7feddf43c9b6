"""Private choice of a candidate: the exponential mechanism, permute and flip, report noisy max."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from numbers import Rational
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from borel.constants import exactly, real
from borel.errors import InvalidInput, NotYet
from borel.mechanisms.closed_forms import number, positive
from borel.mechanisms.levels import Epsilon, ExactRatio, Powers, level_of, require_few
from borel.mechanisms.parameter_arrays import over_arrays
from borel.numerics.balls.arithmetic import ball
from borel.probability.alphabets import Alphabet, Finite
from borel.probability.arrays import is_labelled, labels_of, oriented
from borel.probability.mechanism import Mechanism
from borel.probability.wrong_calls import explained

if TYPE_CHECKING:
    Row = Sequence[Fraction]
    Chances = Callable[[Powers, Row], list]


class Choice(NamedTuple):
    """What the choice of a candidate is made by.

    Attributes
    ----------
    secret, outcome : Alphabet
        The secrets and the candidates.
    scores : list of list of Fraction
        A row for each secret: the quality of each candidate over twice the sensitivity.
    """

    secret: Alphabet
    outcome: Alphabet
    scores: list[list[Fraction]]


@partial(over_arrays, but=("quality",))
@explained
def exponential(
    *,
    quality: Any,
    epsilon: Any = None,
    ratio: Any = None,
    sensitivity: Any = None,
    secret: Any = None,
    outcome: Any = None,
) -> Mechanism:
    r"""Make the exponential mechanism, which chooses an outcome by its quality.

    .. math:: f(y|x) \propto \exp\Big(\frac{\varepsilon\, q(x, y)}{2 \Delta}\Big)

    Parameters
    ----------
    quality : array_like (secrets, outcomes), DataArray, DataFrame, or callable
        q: a row for each secret; or a function of y and x, as in f(y|x), of numbers. Floats mean
        their binary64 values.
    epsilon : float or DataArray
        The level in nats, >= 0: no ratio of two secrets that the sensitivity is for exceeds
        :math:`e^\varepsilon`.
    ratio : int or Fraction
        :math:`e^\varepsilon` exactly, instead of ``epsilon``, where its powers q / (2 Delta), up
        to a factor for each secret, are Fractions.
    sensitivity : number, optional
        Delta > 0: the largest change of q(., y) between two secrets that are to be protected from
        each other. If not given that between any two, of a table.
    secret, outcome : Alphabet or sequence of labels, optional
        Those of the table if not given; ``outcome`` may be an interval.

    Returns
    -------
    Mechanism
        Finite for a table, exact or to the rounding of floats. With a function and alphabets that
        are not both finite a density that ``normalise=True`` divides by its integral.

    Raises
    ------
    InvalidInput
        A quality that is no finite number, a sensitivity <= 0, or none of a function on alphabets
        that are not finite, or of a quality that is the same for all secrets.
    NotYet
        An integral over y that cannot be enclosed for all secrets.

    Notes
    -----
    Proof of the level: between two secrets the weight changes by a factor of e^(epsilon / 2) at
    most, and so does its total over the outcomes (McSherry, Talwar). The level of a mechanism may
    be lower, and `bl.ldp` computes it. It is report noisy max with Gumbel noise.

    References
    ----------
    McSherry, Talwar, "Mechanism Design via Differential Privacy" (2007).

    Examples
    --------
    >>> import borel as bl
    >>> mech = bl.mechanisms.exponential(quality=[[0, 1, 2], [2, 1, 0]], ratio=16)
    >>> [str(p) for p in mech.matrix[0]]
    ['1/7', '2/7', '4/7']
    >>> unit = bl.Interval(0, 1)
    >>> mech = bl.mechanisms.exponential(
    ...     quality=lambda y, x: -abs(y - x), epsilon=1.0, sensitivity=1, secret=unit, outcome=unit
    ... )
    >>> mech
    Mechanism(exponential(epsilon=1, sensitivity=1): Interval(0, 1) -> Interval(0, 1))
    """
    what = "exponential"
    level = level_of(what, epsilon, ratio)
    if callable(quality) and {getattr(a, "kind", "finite") for a in (secret, outcome)} != {
        "finite"
    }:
        return _density(quality, level, sensitivity, secret, outcome)
    return _made(what, "", level, _choice(what, quality, sensitivity, secret, outcome), _by_weights)


@partial(over_arrays, but=("quality",))
@explained
def permute_and_flip(
    *,
    quality: Any,
    epsilon: Any = None,
    ratio: Any = None,
    sensitivity: Any = None,
    secret: Any = None,
    outcome: Any = None,
) -> Mechanism:
    r"""Make permute and flip, which is never worse than the exponential mechanism.

    The candidates are asked in a random order; each is chosen with probability
    :math:`w_y = e^{\varepsilon (q(x, y) - \max_z q(x, z)) / (2 \Delta)}`, else the next is asked.

    .. math:: P_{Y|X=x}(y) = w_y \int_0^1 \prod_{z \ne y} (1 - t w_z)\, dt

    Parameters
    ----------
    quality : array_like (secrets, candidates), DataArray, DataFrame, or callable
        q: a row for each secret; or a function of y and x, as in f(y|x), of labels that are
        numbers. Floats mean their binary64 values.
    epsilon : float or DataArray
        The level of differential privacy in nats, >= 0.
    ratio : int or Fraction
        :math:`e^\varepsilon` exactly, instead of ``epsilon``, where the w are Fractions.
    sensitivity : number, optional
        Delta > 0, as for `exponential`.
    secret, outcome : Alphabet or sequence of labels, optional
        Those of the table if not given.

    Returns
    -------
    Mechanism
        Finite.

    Raises
    ------
    InvalidInput
        A quality that is no finite number, a sensitivity <= 0, or none of a quality that is the
        same for all secrets.

    Notes
    -----
    Proof of the formula. An order at random is that of independent uniform times. If y is asked
    at time t, another z has not been chosen before with probability 1 - t w_z: it comes later with
    probability 1 - t, or earlier, and then is refused, with probability t (1 - w_z). The w of the
    best candidate is 1, so that one is chosen. It is report noisy max with exponential noise.

    References
    ----------
    McKenna, Sheldon, "Permute-and-Flip: A New Mechanism for Differentially Private Selection"
    (2020); Ding et al., "The Permute-and-Flip Mechanism Is Identical to Report-Noisy-Max with
    Exponential Noise" (2021).

    Examples
    --------
    >>> import borel as bl
    >>> mech = bl.mechanisms.permute_and_flip(quality=[[0, 1], [1, 0]], ratio=4)
    >>> [str(p) for p in mech.matrix[0]]
    ['1/4', '3/4']
    """
    what = "permute_and_flip"
    chosen = _choice(what, quality, sensitivity, secret, outcome)
    return _made(what, "", level_of(what, epsilon, ratio), chosen, _by_flips)


@partial(over_arrays, but=("quality",))
@explained
def noisy_max(
    *,
    quality: Any,
    epsilon: Any = None,
    ratio: Any = None,
    sensitivity: Any = None,
    noise: str = "laplace",
    secret: Any = None,
    outcome: Any = None,
) -> Mechanism:
    r"""Make report noisy max: add noise to every quality, and report which is the largest.

    .. math:: Y = \arg\max_y\ q(x, y) + \tfrac{2 \Delta}{\varepsilon} Z_y

    Parameters
    ----------
    quality : array_like (secrets, candidates), DataArray, DataFrame, or callable
        q: a row for each secret; or a function of y and x, as in f(y|x), of labels that are
        numbers. Floats mean their binary64 values.
    epsilon : float or DataArray
        The level of differential privacy in nats, >= 0: the noise has the scale
        2 Delta / epsilon.
    ratio : int or Fraction
        :math:`e^\varepsilon` exactly, instead of ``epsilon``; not for Laplace noise, whose table
        has logarithms.
    sensitivity : number, optional
        Delta > 0, as for `exponential`.
    noise : {"laplace", "exponential", "gumbel"}
        The law of the Z. With exponential noise this is `permute_and_flip`, with Gumbel noise the
        `exponential` mechanism.
    secret, outcome : Alphabet or sequence of labels, optional
        Those of the table if not given.

    Returns
    -------
    Mechanism
        Finite: which candidate is reported, not its noisy quality.

    Raises
    ------
    InvalidInput
        Another noise, a quality that is no finite number, a sensitivity <= 0, or none of a quality
        that is the same for all secrets.

    Notes
    -----
    The table for Laplace noise, with s_y = epsilon q(x, y) / (2 Delta), is

    .. math:: P_{Y|X=x}(y) = \int f(z - s_y) \prod_{v \ne y} F(z - s_v)\, dz,

    with the standard Laplace density f and its distribution function F. Between two neighbours
    among the s this is a sum of powers of u = e^z, since both f(z - s) and F(z - s) are
    u / (2 e^s) below s, and they are e^s / (2u) and 1 - e^s / (2u) above it: it is integrated term
    by term, in Arb balls.

    References
    ----------
    Dwork, Roth, "The Algorithmic Foundations of Differential Privacy" (2014), Section 3.3; Ding et
    al. (2021) for exponential noise.

    Examples
    --------
    >>> import borel as bl
    >>> mech = bl.mechanisms.noisy_max(quality=[[0, 1], [1, 0]], epsilon=2.0)
    >>> mech.matrix[0].round(6).tolist()  # the difference of two: e^-1 (2 + 1) / 4
    [0.27591, 0.72409]
    """
    what = "noisy_max"
    tables: dict[str, Chances] = {
        "laplace": _by_laplace,
        "exponential": _by_flips,
        "gumbel": _by_weights,
    }
    if noise not in tables:
        raise InvalidInput(what, expected=f"noise = {' or '.join(tables)}", got=repr(noise))
    level = level_of(what, epsilon, ratio)
    if noise == "laplace" and not isinstance(level, Epsilon):
        raise InvalidInput(
            what,
            expected="epsilon=... for Laplace noise, whose table has logarithms",
            got=f"ratio={ratio}",
        )
    chosen = _choice(what, quality, sensitivity, secret, outcome)
    return _made(what, f"noise={noise!r}", level, chosen, tables[noise])


# -- parameters -----------------------------------------------------------------------------------


def _choice(what: str, quality: Any, sensitivity: Any, secret: Any, outcome: Any) -> Choice:
    """Read a table of qualities, exactly."""
    if callable(quality):
        quality, secret, outcome = _tabulated(what, quality, secret, outcome)
    table = oriented(quality, ("secret", "outcome"), what, named={})
    own: list[list | None] = [None, None]
    if is_labelled(table) and table.ndim == 2:
        own, table = labels_of(table), table.values
    values = np.asarray(table, dtype=object)
    if values.ndim != 2 or 0 in values.shape:
        raise InvalidInput(
            what, expected="a table of qualities, rows x and columns y", got=f"shape {values.shape}"
        )
    require_few(what, *values.shape)
    alphabets = []
    for role, given, labels, size in zip(
        ("secret", "outcome"), (secret, outcome), own, values.shape, strict=True
    ):
        alphabet = given if given is not None else size if labels is None else labels
        alphabet = alphabet if isinstance(alphabet, Alphabet) else Finite(alphabet)
        if alphabet.kind != "finite" or alphabet.size != size:
            raise InvalidInput(
                what,
                expected=f"a finite {role} alphabet of {size} labels",
                got=repr(alphabet),
                mend="rows are secrets, columns are outcomes.",
            )
        if given is not None and labels is not None and list(labels) != list(alphabet.labels):
            raise InvalidInput(what, expected=f"the {role} labels of the table", got=repr(alphabet))
        alphabets.append(alphabet)
    exact = [[exactly(_finite(what, v)) for v in row] for row in values.tolist()]
    if sensitivity is None:
        twice = 2 * max(max(column) - min(column) for column in zip(*exact, strict=True))
    else:
        twice = 2 * exactly(_finite(what, sensitivity, "sensitivity > 0"))
    if not twice > 0:
        raise InvalidInput(
            what,
            expected="sensitivity > 0",
            got="qualities that are the same for all secrets"
            if sensitivity is None
            else repr(sensitivity),
        )
    rows, columns = alphabets
    return Choice(rows, columns, [[v / twice for v in row] for row in exact])


def _finite(what: str, value: Any, expected: str = "qualities that are finite numbers") -> Any:
    found = real(what, value, expected)
    if isinstance(found, bool) or not (isinstance(found, Rational) or math.isfinite(found)):
        raise InvalidInput(what, expected=expected, got=repr(value))
    return found


def _tabulated(what: str, quality: Callable, secret: Any, outcome: Any) -> tuple[Any, Any, Any]:
    """Ask a function of y and x for all labels."""
    given = {"secret": secret, "outcome": outcome}
    missing = [role for role, labels in given.items() if labels is None]
    if missing:
        raise InvalidInput(
            what, expected="secret and outcome, for a function", got=f"no {missing[0]}"
        )
    rows, columns = (a if isinstance(a, Alphabet) else Finite(a) for a in given.values())
    for alphabet in (rows, columns):
        if alphabet.kind != "finite":
            raise NotYet(what, missing=f"a choice on {alphabet!r}", instead="finite alphabets.")
    require_few(what, rows.size, columns.size)
    return [[quality(y, x) for y in columns.labels] for x in rows.labels], rows, columns


def _density(
    quality: Callable, level: Epsilon | ExactRatio, sensitivity: Any, secret: Any, outcome: Any
) -> Mechanism:
    what = "exponential"
    if not isinstance(level, Epsilon):
        raise InvalidInput(what, expected="epsilon=... for a density", got=level.shown)
    if sensitivity is None:
        raise InvalidInput(
            what, expected="sensitivity=..., for a function of numbers", got="no sensitivity"
        )
    if not (isinstance(secret, Alphabet) and isinstance(outcome, Alphabet)):
        raise InvalidInput(
            what, expected="secret and outcome as alphabets", got=f"{secret!r} and {outcome!r}"
        )
    factor = level.epsilon / 2 / positive(what, "sensitivity", sensitivity)
    return Mechanism(
        lambda y, x: np.exp(factor * quality(y, x)),
        secret=secret,
        outcome=outcome,
        name=f"{what}({level.shown}, sensitivity={number(what, 'sensitivity', sensitivity):g})",
        normalise=True,
    )


def _made(
    what: str, about: str, level: Epsilon | ExactRatio, choice: Choice, chances: Chances
) -> Mechanism:
    values, rounding = level.values(
        what, lambda power: [v for row in choice.scores for v in chances(power, row)]
    )
    return Mechanism._from_matrix(
        values.reshape(len(choice.scores), -1),
        choice.secret,
        choice.outcome,
        f"{what}({', '.join(filter(None, [level.shown, about]))})",
        rounding,
    )


# -- tables: the chances of the candidates, from their scores --------------------------------------


def _by_weights(power: Powers, row: Row) -> list:
    """Return e^(epsilon s), divided by their sum."""
    weights = [power(s - max(row)) for s in row]
    total = sum(weights)
    return [w / total for w in weights]


def _by_flips(power: Powers, row: Row) -> list:
    """Return w times the integral of the product of the other 1 - t w, from 0 to 1."""
    weights = [power(s - max(row)) for s in row]
    out = []
    for y, w in enumerate(weights):
        product: list[Any] = [1]
        for z, other in enumerate(weights):
            if z != y:
                product = _times(product, [1, -other])
        out.append(w * sum(c / (n + 1) if n else c for n, c in enumerate(product)))
    return out


def _by_laplace(power: Powers, row: Row) -> list:
    """Integrate f(z - s_y) times the other F(z - s) over z, piece by piece in u = e^z."""
    top, cuts = max(row), sorted({*row})
    places = [power(s - top) for s in row]  # e^s, moved so that the largest is 1
    at = [power(s - top) for s in cuts]
    out = []
    for y, own in enumerate(places):
        total: Any = 0
        for i in range(len(cuts) + 1):  # u from the (i - 1)-th of the cuts to the i-th
            factor, degree, product = own / 2, -1, [1]  # factor u^degree, times powers of 1 / u
            for v, place in enumerate(places):
                if i < len(cuts) and row[v] >= cuts[i]:
                    factor, degree = factor / (2 * place), degree + 1
                elif v != y:
                    product = _times(product, [1, -place / 2])
            if i < len(cuts) and row[y] >= cuts[i]:
                factor, degree = factor * 2 / own, degree + 1
            low = at[i - 1] if i else None
            high = at[i] if i < len(cuts) else None
            for n, c in enumerate(product):
                if n == degree:  # in neither the first nor the last piece
                    total += factor * c * power(1).log() * ball(cuts[i] - cuts[i - 1])
                else:
                    total += factor * c * _power_integral(degree - n, low, high)
        out.append(total)
    return out


def _power_integral(n: int, low: Any, high: Any) -> Any:
    """Return the integral of u^n dz = u^(n - 1) du between two u; None is 0, or infinity."""
    return ((0 if high is None else high**n) - (0 if low is None else low**n)) / n


def _times(a: list, b: list) -> list:
    """Multiply a polynomial by 1 + b x."""
    moved = [0, *(b[1] * c for c in a)]
    return [u + v for u, v in zip([*a, 0], moved, strict=True)]
