r"""Bounds on the PML envelope by the theorems of the envelope paper, each with its theorem cited.

The envelope itself, :math:`\varepsilon_c(\delta) = \sup_{X - Y - Z} \varepsilon_Z(\delta)`, is a
supremum over post-processings; nothing here computes it. A Bound of this file encloses the value of
a bound, not the envelope: its name says on which side of the envelope that value lies.
"""

from __future__ import annotations

import math
from fractions import Fraction
from numbers import Integral
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from borel import settings
from borel.errors import InvalidInput
from borel.figures.averages import maximal_leakage
from borel.figures.binary_envelopes import binary_envelope
from borel.figures.dispatch import require_joint
from borel.figures.leakage import pml
from borel.figures.profiles import threshold
from borel.figures.response_bounds import (
    PAPER,
    ResponseBounds,
    four_level_prior,
    randomized_response_bounds,
)
from borel.numerics.intervals.rounding import log_fraction
from borel.probability.arrays import inner_probability, probability
from borel.probability.bound import Bound, Ratio, weakest
from borel.probability.mechanism import Mechanism

if TYPE_CHECKING:
    from collections.abc import Mapping

    import xarray as xr

    from borel.probability.joint import Joint

MERGED, KEPT = "merged", "kept"

__all__ = [
    "Quantiles",
    "ResponseBounds",
    "envelope_table",
    "four_level_prior",
    "h_eta",
    "loss_tail_bound",
    "lower_bound",
    "quantiles",
    "randomized_response_bounds",
    "upper_bound",
]


class Quantiles(NamedTuple):
    r"""The two quantiles of the leakage at probability delta, Bounds in nats.

    Attributes
    ----------
    good : Bound
        :math:`\varepsilon_Y(\delta)`, the left one.
    bad : Bound
        :math:`\bar\varepsilon_Y(\delta)`, the right one, at least the other.
    """

    good: Bound
    bad: Bound


# -- quantiles and general bounds -----------------------------------------------------------------


def quantiles(joint: Joint, delta: Any) -> Quantiles:
    r"""Return both quantiles of the leakage at probability delta.

    .. math:: \varepsilon_Y(\delta) = \inf\{t \ge 0 : P\{\ell(Y) \le t\} \ge 1 - \delta\}
              = \min_{P_Y(A) \ge 1 - \delta} \max_{y \in A} \ell(y), \qquad
              \bar\varepsilon_Y(\delta) = \sup\{t \ge 0 : P\{\ell(Y) \le t\} \le 1 - \delta\}
              = \max_{P_Y(A) \ge \delta} \min_{y \in A} \ell(y)

    the forms by sets for finite Y: how small the leakage is but for a good set, and how large it is
    on all of a bad one. They are ``bl.pml(joint).quantile(1 - delta)`` and the same with
    ``side="right"``; the second is a lower bound on the envelope (Theorem 2).

    Parameters
    ----------
    joint : Joint
        ``prior * mech``.
    delta : number in (0, 1)
        A float means its binary64 value: at an atom, give a Fraction.

    Returns
    -------
    Quantiles
        ``(good, bad)``, Bounds in nats with the status of the law of the leakage.

    References
    ----------
    "Information Leakage Envelopes", equations (9), (10) and after; Lemma 2; Theorem 2.

    Examples
    --------
    >>> from fractions import Fraction as F
    >>> import borel as bl
    >>> mech = bl.Mechanism.from_matrix([[F(9, 10), F(1, 10)], [F(1), F(0)]])
    >>> quantiles(bl.pmf([F(1, 2), F(1, 2)]) * mech, F(1, 20))
    Quantiles(good=Bound(0.05129329439, exact), bad=Bound(0.6931471806, exact))
    """
    level = 1 - inner_probability("quantiles", "delta", delta)
    variable = pml(joint)
    return Quantiles(
        *settings.each(lambda side: variable.quantile(level, side=side), ("left", "right"))
    )


def upper_bound(joint: Joint, delta: Any) -> Bound:
    r"""Return Theorem 3's upper bound on the envelope.

    .. math:: \varepsilon_c(\delta) \le \min\{\mathcal L(X \to Y) + \log 1/\delta,\
              \max_y \ell(X \to y)\}

    by Markov's inequality for e^leakage, whose mean, the exponential of maximal leakage, does not
    rise under post-processing; and as the largest leakage does not.

    Parameters
    ----------
    joint : Joint
        ``prior * mech``.
    delta : number in (0, 1)
        A float means its binary64 value.

    Returns
    -------
    Bound
        In nats: the value of the bound; the envelope is at most its upper end.

    References
    ----------
    "Information Leakage Envelopes", Theorem 3.

    Examples
    --------
    >>> from fractions import Fraction as F
    >>> import borel as bl
    >>> mech = bl.Mechanism.from_matrix([[F(3, 4), F(1, 4)], [F(1, 4), F(3, 4)]])
    >>> joint = bl.pmf([F(1, 10), F(9, 10)]) * mech
    >>> upper_bound(joint, F(1, 2)).ratio.lower, upper_bound(joint, F(9, 10)).ratio.lower
    (Fraction(5, 2), Fraction(5, 3))
    """
    level = inner_probability("upper_bound", "delta", delta)
    require_joint(joint, "upper_bound")
    mean, largest = settings.each(lambda of: of(joint), (maximal_leakage, lambda j: pml(j).sup()))
    over = log_fraction(1 / level)
    ends = [
        end + log if math.isinf(end) else math.nextafter(end + log, way)
        for end, log, way in zip((mean.lower, mean.upper), over, (-math.inf, math.inf), strict=True)
    ]
    ratios = [(end / level) if isinstance(end, Fraction) else None for end in mean.ratio]
    if None not in ratios:
        ends = [log_fraction(ratios[0])[0], log_fraction(ratios[1])[1]]  # type: ignore[arg-type]
    first = (max(ends[0], 0.0), ends[1])
    low, high = min(first[0], largest.lower), min(first[1], largest.upper)
    ratio = None
    if None not in ratios and all(isinstance(v, Fraction) for v in largest.ratio):
        ratio = Ratio(*(min(a, b) for a, b in zip(ratios, largest.ratio, strict=True)))  # type: ignore[type-var]
    return _figure(low, high, [mean, largest], "Theorem 3", ratio)


def lower_bound(joint: Joint, delta: Any) -> Bound:
    r"""Return the lower bound by no post-processing, or a binary one.

    .. math:: \varepsilon_c(\delta) \ge \max\{\bar\varepsilon_Y(\delta), \varepsilon_b(\delta)\}

    Parameters
    ----------
    joint : Joint
        ``prior * mech``.
    delta : number in (0, 1)
        A float means its binary64 value.

    Returns
    -------
    Bound
        In nats: the value of the bound; the envelope is at least its lower end.

    References
    ----------
    "Information Leakage Envelopes", Section IV-B.

    Examples
    --------
    >>> from fractions import Fraction as F
    >>> import borel as bl
    >>> bit = bl.pmf([F(1, 2), F(1, 2)]) * bl.Mechanism.from_matrix([[F(1), F(0)], [F(0), F(1)]])
    >>> lower_bound(bit, F(9, 10))
    Bound(0.6931471806, exact)
    """
    level = inner_probability("lower_bound", "delta", delta)
    both = (lambda j: quantiles(j, level).bad, lambda j: binary_envelope(j)(level))
    bad, binary = settings.each(lambda of: of(joint), both)
    low, high = (max(getattr(bad, e), getattr(binary, e)) for e in ("lower", "upper"))
    ratio = binary.exact_ratio if binary.lower >= bad.upper else None  # type: ignore[union-attr]
    return _figure(low, high, [bad, binary], "Section IV-B", ratio)  # type: ignore[list-item]


def _figure(low: float, high: float, of: list[Bound], number: str, ratio: Any) -> Bound:
    """Make the Bound of a value computed from others, as weak as the weakest of them."""
    status = weakest(b.status for b in of)
    about: dict[str, Any] = {
        "assumptions": tuple(
            dict.fromkeys((f"{PAPER}, {number}", *(a for b in of for a in b.assumptions)))
        )
    }
    reason = " ".join(dict.fromkeys(b.reason for b in of if b.reason))
    return Bound.of(status, low, high, reason=reason, exact_ratio=ratio, **about)


# -- Theorem 2: the construction ------------------------------------------------------------------


def h_eta(mechanism: Mechanism, *, bad: Any, good: Any, eta: Any) -> Mechanism:
    r"""Return Theorem 2's post-processing, which moves a little of a good outcome to a bad one.

    .. math:: h_\eta(y, B) = \bot \text{ if } y = y_1, \text{ or } y = y_2, B = 1; \quad
              \diamond \text{ if } y = y_2, B = 0; \quad y \text{ otherwise; } P\{B = 1\} = \eta

    so that the outcome :math:`\bot` has a little more than the probability of the bad one, and as
    eta goes to 0 as much leakage: then :math:`\varepsilon_Z(\delta) \to \bar\varepsilon_Y(\delta)`.

    Parameters
    ----------
    mechanism : Mechanism
        With finite outcomes.
    bad, good : label
        The outcomes y_1 (of large leakage) and y_2.
    eta : number in (0, 1)
        A float means its binary64 value.

    Returns
    -------
    Mechanism
        P_{Z|Y}, to be used as ``h @ mechanism``: outcomes ``"merged"``, ``"kept"`` and the others
        as pairs ``("y", label)``. Fractions where eta is one.

    References
    ----------
    "Information Leakage Envelopes", Theorem 2 and Appendix C.

    Examples
    --------
    >>> from fractions import Fraction as F
    >>> import borel as bl
    >>> mech = bl.Mechanism.from_matrix([[F(1, 4), F(3, 4)], [F(0), F(1)]])
    >>> (h_eta(mech, bad=0, good=1, eta=F(1, 9)) @ mech).matrix[0].tolist()
    [Fraction(1, 3), Fraction(2, 3)]
    """
    outcome = mechanism.outcome
    if outcome.kind != "finite":
        raise InvalidInput("h_eta", expected="finite outcomes", got=repr(outcome))
    for name, label in (("bad", bad), ("good", good)):
        outcome.check(label, name)
    if bad == good:
        raise InvalidInput("h_eta", expected="two outcomes", got=f"{bad!r} twice")
    part = probability("h_eta", "eta", eta)
    labels = [label for label in outcome.labels if label not in (bad, good)]
    rows = np.full((len(outcome.labels), 2 + len(labels)), Fraction(0), dtype=object)
    for i, label in enumerate(outcome.labels):
        if label == bad:
            rows[i, 0] = Fraction(1)
        elif label == good:
            rows[i, 0], rows[i, 1] = part, 1 - part
        else:
            rows[i, 2 + labels.index(label)] = Fraction(1)
    names = [MERGED, KEPT, *(("y", label) for label in labels)]
    return Mechanism.from_matrix(rows, secret=outcome, outcome=names)


# -- the tail bound of approximate DP -------------------------------------------------------------


def loss_tail_bound(delta: Any, epsilon: Any = None, *, ratio: Any = None, k: int = 2) -> Bound:
    r"""Bound the probability that the privacy loss exceeds k epsilon, under (epsilon, delta)-DP.

    .. math:: \max_{x,x'} P_{Y|X=x}\{L_{x,x'}(Y) > k\varepsilon\}
              \le \frac{\delta}{1 - e^{-(k-1)\varepsilon}}

    as (3) is at least that probability times 1 - e^{epsilon - k epsilon}.

    Parameters
    ----------
    delta : number in [0, 1]
        A float means its binary64 value.
    epsilon, ratio : number
        Nats > 0, or e^epsilon exactly, > 1.
    k : int
        At least 2.

    Returns
    -------
    Bound
        A probability: the value of the bound, at most 1; exact.

    References
    ----------
    "Information Leakage Envelopes", equation (4); Kasiviswanathan, Smith (2014), Lemma 3.3.

    Examples
    --------
    >>> from fractions import Fraction as F
    >>> loss_tail_bound(F(1, 100), ratio=2)
    Bound(0.02 probability, exact)
    """
    level, mass = (
        threshold("loss_tail_bound", epsilon, ratio),
        probability("loss_tail_bound", "delta", delta),
    )
    if not isinstance(k, Integral) or isinstance(k, bool) or k < 2:
        raise InvalidInput("loss_tail_bound", expected="an integer k >= 2", got=repr(k))
    if level.epsilon == 0 or level.ratio == 1:
        raise InvalidInput("loss_tail_bound", expected="epsilon > 0", got="0")
    about: dict[str, Any] = {"units": "probability", "assumptions": (f"{PAPER}, (4)",)}
    if level.ratio is not None:
        value = min(mass / (1 - level.ratio ** (1 - int(k))), Fraction(1))
        return Bound.exact(value, value, **about)  # type: ignore[arg-type]
    from borel.numerics.balls.arithmetic import ball, enclose

    low, high = enclose(lambda: ball(mass) / -(-(int(k) - 1) * ball(level.epsilon)).expm1())
    return Bound.exact(min(low, 1.0), min(high, 1.0), **about)


# -- side by side ---------------------------------------------------------------------------------


def envelope_table(
    joint: Joint, deltas: Any, columns: Mapping[str, Any] | None = None
) -> xr.Dataset:
    """Tabulate the bounds on the envelope side by side.

    Parameters
    ----------
    joint : Joint
        ``prior * mech``.
    deltas : array of numbers
        In (0, 1).
    columns : mapping, optional
        More columns by name: functions of delta that return a Bound, such as an envelope.

    Returns
    -------
    Dataset
        Over ``delta`` and ``bound`` (``quantile``, ``binary``, ``theorem_5_lower``,
        ``theorem_5_upper``, ``theorem_3`` and the columns asked for): ``lower``, ``upper`` in nats
        and ``status``; NaN and ``"none"`` where a theorem does not apply.

    Examples
    --------
    >>> from fractions import Fraction as F
    >>> import borel as bl
    >>> joint = bl.pmf([F(1, 3)] * 3) * bl.mechanisms.randomized_response(k=3, ratio=2)
    >>> envelope_table(joint, [F(1, 2)]).upper.sel(bound="theorem_3").item() < 0.406
    True
    """
    import xarray as xr

    made = bound_columns(joint)
    made |= dict(columns or {})
    levels = [
        inner_probability("envelope_table", "delta", d)
        for d in np.ravel(np.asarray(deltas, object)).tolist()
    ]
    found = [[column(d) for column in made.values()] for d in levels]
    dims = ("delta", "bound")
    ends = {
        name: (dims, [[math.nan if b is None else getattr(b, name) for b in row] for row in found])
        for name in ("lower", "upper")
    }
    status = [["none" if b is None else b.status for b in row] for row in found]
    return xr.Dataset(
        {**ends, "status": (dims, status)},
        {"delta": [float(d) for d in levels], "bound": list(made)},
        {"quantity": "bounds on the PML envelope", "units": "nats"},
    )


def bound_columns(joint: Joint) -> dict[str, Any]:
    """Return the bounds on the PML envelope of a joint by name: functions of delta, each a Bound.

    Those of Theorem 5 are there for randomised response and a prior of positive Fractions; the
    lower one gives None where its condition on the prior fails.
    """
    from borel.mechanisms.response import RandomizedResponseForms

    made: dict[str, Any] = {
        "quantile": lambda d: quantiles(joint, d).bad,
        "binary": binary_envelope(joint),
        "theorem_3": lambda d: upper_bound(joint, d),
    }
    response = isinstance(joint.mechanism.closed_forms, RandomizedResponseForms)
    if response and joint.prior.rational and min(joint.prior.at(joint.mechanism.secret)) > 0:
        made["theorem_5_lower"] = lambda d: randomized_response_bounds(joint, d).lower
        made["theorem_5_upper"] = lambda d: randomized_response_bounds(joint, d).upper
    return made
