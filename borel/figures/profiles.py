"""Privacy profiles: how far the loss of differential privacy exceeds epsilon, and psi_1, psi_2.

Everything is a probability, or the epsilon of a delta, as a Bound.
"""

from __future__ import annotations

import math
from fractions import Fraction
from numbers import Rational
from typing import TYPE_CHECKING, Any

import numpy as np

from borel import settings
from borel.constants import exactly, real
from borel.engine import engine_for
from borel.engine.divergences.hockey_sticks import figure_of_two
from borel.engine.finite.law_engine import WIDE
from borel.engine.problem.budget import cut_short, stopped_by_clock
from borel.engine.problem.thresholds import Threshold
from borel.errors import InvalidInput, NotYet
from borel.figures.asking import asked
from borel.figures.dispatch import figure, require_joint
from borel.figures.profile_sources import finite, pure_level, source_of, two_measures
from borel.probability.arrays import probability
from borel.probability.bound import Bound, weakest
from borel.probability.joint import Joint
from borel.probability.measure import Measure
from borel.probability.mechanism_families import JointFamily
from borel.probability.pickling import Remade

if TYPE_CHECKING:
    from collections.abc import Callable

    import xarray as xr

_HALVINGS = 200
_FARTHEST = 2.0**30


def hockey_stick(p: Measure, q: Measure, epsilon: Any = None, *, ratio: Any = None) -> Bound:
    r"""Return the hockey-stick divergence of p from q.

    .. math:: D_{e^\varepsilon}(P \| Q) = \sup_E \ P(E) - e^\varepsilon Q(E)
              = \int (p - e^\varepsilon q)^+

    the smallest delta with :math:`P(E) \le e^\varepsilon Q(E) + \delta` for every event.

    Parameters
    ----------
    p, q : Measure
        Two finite measures (labels are matched, a missing one has probability 0), or two with
        densities on alphabets of one kind.
    epsilon : number
        Nats, >= 0; a float means its binary64 value.
    ratio : int or Fraction
        :math:`e^\varepsilon` exactly, >= 1, instead of epsilon.

    Returns
    -------
    Bound
        A probability. Exact for finite measures, and within the families normal, laplace (of one
        scale), exponential, poisson and geometric, where two neighbouring floats enclose it down
        to the smallest floats; certified for other densities on intervals, to a relative width of
        about 1e-9 where the tails are light (it says how wide otherwise); on integers the mass
        beyond a head of 2048 points is added, in absolute terms.

    Raises
    ------
    InvalidInput
        A negative epsilon, or measures on alphabets of different kinds.
    NotYet
        Measures with atoms and a density at once, with draws, or that cannot be enclosed.

    References
    ----------
    "Information Leakage Envelopes", equations (1) to (3); Balle, Wang, "Improving the Gaussian
    Mechanism for Differential Privacy" (2018), Theorem 8, for normal measures.

    Examples
    --------
    >>> from fractions import Fraction as F
    >>> import borel as bl
    >>> p, q = bl.pmf([F(3, 4), F(1, 4)]), bl.pmf([F(1, 4), F(3, 4)])
    >>> hockey_stick(p, q, ratio=2)
    Bound(0.25 probability, exact)
    >>> hockey_stick(bl.normal(mu=1), bl.normal(), 1.0)
    Bound(0.1269367375 probability, exact)
    """
    two_measures("bl.hockey_stick", p, q)
    level = threshold("bl.hockey_stick", epsilon, ratio)
    return asked((p, q), "hockey_stick", (level,), lambda: figure_of_two(p, q, level, "excess"))


def privacy_profile(of: Any) -> PrivacyProfile:
    r"""Return the privacy profile of a mechanism, a function of epsilon.

    .. math:: \delta^*(\varepsilon) = \max_{x, x'} \sup_E
              \big(P_{Y|X=x}(E) - e^\varepsilon P_{Y|X=x'}(E)\big)
              = \max_{x, x'} E_{Y \sim P_{Y|X=x}} \big[(1 - e^{\varepsilon - L_{x,x'}(Y)})^+\big]

    with the privacy loss :math:`L_{x,x'} = \log f(y|x) / f(y|x')`, over ordered pairs: both
    directions.

    Parameters
    ----------
    of : Mechanism, Joint, or pair of Measures
        All secrets of the alphabet; those in the support of the prior; or two measures.

    Returns
    -------
    PrivacyProfile
        Called with epsilon >= 0 it gives delta; ``.epsilon(delta)`` is its inverse and
        ``.beyond(epsilon)`` the largest probability that the loss exceeds epsilon.

    Notes
    -----
    Statuses are those of `hockey_stick`. Exact for finite mechanisms, and for Gaussian and Laplace
    noise on any secret alphabet, where the worst pair is the one farthest apart: with r the
    distance in units of the scale, the excess increases in r (for Gaussian noise its derivative is
    the normal density at r/2 - epsilon/r; for Laplace noise it is 1 - e^((epsilon - r)/2)).

    References
    ----------
    "Information Leakage Envelopes", equation (3); Balle, Barthe, Gaboardi (2018).

    Examples
    --------
    >>> import borel as bl
    >>> mech = bl.mechanisms.gaussian(sigma=1.0, secret=bl.Interval(0, 1))
    >>> privacy_profile(mech)(1.0)
    Bound(0.1269367375 probability, exact)
    """
    return PrivacyProfile(of)


class PrivacyProfile(Remade):
    """The privacy profile of a mechanism or a pair of measures; made by `privacy_profile`.

    Parameters
    ----------
    of : Mechanism, Joint, or pair of Measures
        See `privacy_profile`.
    """

    __array_ufunc__ = None
    _made_of = ("of",)

    def __init__(self, of: Any):
        self.of = of
        self._figure = source_of(of)

    def __call__(self, epsilon: Any = None, *, ratio: Any = None) -> Bound | xr.Dataset:
        """Return delta at one epsilon, a Bound, or at many, a Dataset.

        Parameters
        ----------
        epsilon : number or array of numbers
            Nats, >= 0.
        ratio : int or Fraction
            e^epsilon exactly, instead.

        Returns
        -------
        Bound or Dataset
            A probability; for many, ``lower``, ``upper`` and ``status`` over ``epsilon``.
        """
        return self._at(epsilon, ratio, "excess", "privacy profile")

    def beyond(self, epsilon: Any = None, *, ratio: Any = None) -> Bound | xr.Dataset:
        r"""Return the failure probability, that of a loss above epsilon.

        .. math:: \max_{x, x'} P_{Y|X=x}\{L_{x,x'}(Y) > \varepsilon\}

        It is the delta of (epsilon, delta)-probabilistic DP, at least the profile, and not closed
        under post-processing.

        Parameters
        ----------
        epsilon, ratio : number
            As for the profile.

        Returns
        -------
        Bound or Dataset
            A probability.

        References
        ----------
        "Information Leakage Envelopes", Definition 3.
        """
        return self._at(epsilon, ratio, "beyond", "failure probability")

    @settings.one_figure()
    def epsilon(self, delta: Any, *, tol: float = 0.0) -> Bound:
        r"""Return the smallest epsilon >= 0 with (epsilon, delta)-DP.

        Parameters
        ----------
        delta : number in [0, 1]
            A float means its binary64 value.
        tol : float
            Nats: the bisection of each end stops at this width; by default it goes on to the float.

        Returns
        -------
        Bound
            In nats, by bisection of the profile, which falls: where its enclosure does not
            decide, the two ends stay apart. Infinite for finite alphabets where some secret allows
            outcomes of more than delta in probability that another one rules out. Else, where no
            epsilon up to 700 is enough (up to 10^9 where the profile is exact), ``undecided``,
            unless the profile shows more.

        Examples
        --------
        >>> from fractions import Fraction as F
        >>> import borel as bl
        >>> rows = [[F(1, 10), F(27, 40), F(9, 40), 0], [0, F(9, 40), F(27, 40), F(1, 10)]]
        >>> profile = privacy_profile(bl.Mechanism.from_matrix(rows))
        >>> profile.epsilon(F(1, 10)), profile.epsilon(F(1, 20))
        (Bound(1.098612289, exact), Bound(inf, exact))
        """
        level = probability("bl.privacy_profile", "delta", delta)

        def decide(e: float) -> bool | None:
            if settings.spent() and notes:
                return None
            found = self._kept(e)
            notes.append(found)
            return (found <= level).holds if found.proved else None

        notes: list[Bound] = []
        if decide(0.0) is True:
            return _nats(0.0, 0.0, notes)
        top = 1.0
        while decide(top) is not True and top < (_FARTHEST if self._exactly(notes, level) else 700):
            top *= 2
        if decide(top) is not True:
            last = notes[-1]
            if finite(self.of):  # the mass that is possible under one row only
                limit = self._figure(Threshold(math.inf), "excess")
                if limit.proved and (limit > level).holds:
                    return _nats(math.inf, math.inf, [limit])
            why = f"the profile stays above delta up to {top:g} nats"
            if settings.spent():
                why = f"{settings.current().budget:g} s were not enough to follow the profile; "
                why += "options(budget=...) gives more time"
            why = settings.STOPPED if settings.stopped() else last.reason or why
            return Bound.undecided(
                top if decide(top) is False else 0.0, reason=why, assumptions=last.assumptions
            )
        ends = _edge(decide, top, False, tol), _edge(decide, top, True, tol)
        found = _nats(*ends, notes)
        if settings.stopped():
            return stopped_by_clock(found)
        return cut_short(found) if settings.spent() else found

    def _exactly(self, notes: list[Bound], level: Any) -> bool:
        """Return whether the profile, last found above a level, is known exactly far out too."""
        last = notes[-1]
        return last.status == "exact" and not finite(self.of) and (last <= level).holds is False

    def _kept(self, e: float) -> Bound:
        """Return the profile at a float, once: bisections at many deltas meet the same ones."""

        def compute() -> Bound:
            # from the level of pure LDP on the profile is 0, of all pairs: no need to go over them
            if e >= self._memo.in_figure("pure level", lambda: pure_level(self.of)):
                return Bound.exact(0.0, 0.0, units="probability")
            return self._figure(Threshold(Fraction(e)), "excess")

        return self._memo.in_figure((settings.current(), e), compute)

    def _at(self, epsilon: Any, ratio: Any, what: str, quantity: str) -> Any:
        values = getattr(epsilon, "values", epsilon)
        if epsilon is None or np.ndim(values) == 0:
            level = threshold("bl.privacy_profile", epsilon, ratio)
            return asked(self.of, f"profile_{what}", (level,), lambda: self._figure(level, what))
        import xarray as xr

        points = np.ravel(np.asarray(values, dtype=object)).tolist()
        found = settings.each(lambda e: self._at(e, None, what, quantity), points)
        data = {
            name: ("epsilon", [getattr(b, name) for b in found], {"units": "probability"})
            for name in ("lower", "upper")
        }
        data["status"] = ("epsilon", [b.status for b in found], {})
        coords = {"epsilon": [float(e) for e in points]}
        return xr.Dataset(data, coords, {"quantity": quantity, "units": "probability"})

    def __repr__(self) -> str:
        """Show of what."""
        return f"PrivacyProfile({self.of!r})"


def psi_1(joint: Joint, epsilon: Any = None, *, ratio: Any = None) -> Bound:
    r"""Return psi_1, the mean penalty of outcomes whose leakage exceeds epsilon.

    .. math:: \psi_1(\varepsilon) = E_{Y \sim P_Y}\big[(1 - e^{\varepsilon - \ell(X \to Y)})^+\big]

    At most P{l(X -> Y) > epsilon}. It may rise under post-processing: no privacy definition.

    Parameters
    ----------
    joint : Joint
        ``prior * mech``.
    epsilon, ratio : number
        Nats >= 0, or e^epsilon exactly.

    Returns
    -------
    Bound
        A probability; exact on finite alphabets, and on countable outcomes up to the mass beyond a
        head; certified for a finite secret with a density on an interval of outcomes.

    References
    ----------
    "Information Leakage Envelopes", Section III and Theorem 1(i).

    Examples
    --------
    >>> from fractions import Fraction as F
    >>> import borel as bl
    >>> bit = bl.pmf([F(1, 2), F(1, 2)]) * bl.Mechanism.from_matrix([[F(1), F(0)], [F(0), F(1)]])
    >>> psi_1(bit, 0)
    Bound(0.5 probability, exact)
    """
    return _of_joint(joint, "psi_1", epsilon, ratio)


def psi_2(joint: Joint, epsilon: Any = None, *, ratio: Any = None) -> Bound:
    r"""Return psi_2, the profile of the information density.

    .. math:: \psi_2(\varepsilon) = \max_x \sup_E
              \big(P_{Y|X=x}(E) - e^\varepsilon P_Y(E)\big)
              = \max_x E_{Y \sim P_{Y|X=x}}\big[(1 - e^{\varepsilon - i(x;Y)})^+\big]

    It does not rise under post-processing, and is not comparable to P{l(X -> Y) > epsilon}.

    Parameters
    ----------
    joint : Joint
        ``prior * mech`` with a finite secret.
    epsilon, ratio : number
        Nats >= 0, or e^epsilon exactly.

    Returns
    -------
    Bound
        A probability; exact on finite alphabets, and on countable outcomes up to the mass beyond a
        head; certified for a density on an interval of outcomes.

    References
    ----------
    "Information Leakage Envelopes", Section III and Theorem 1(ii).

    Examples
    --------
    >>> from fractions import Fraction as F
    >>> import borel as bl
    >>> bit = bl.pmf([F(1, 2), F(1, 2)]) * bl.Mechanism.from_matrix([[F(1), F(0)], [F(0), F(1)]])
    >>> psi_2(bit, ratio=F(3, 2))
    Bound(0.25 probability, exact)
    """
    return _of_joint(joint, "psi_2", epsilon, ratio)


def threshold(what: str, epsilon: Any, ratio: Any) -> Threshold:
    """Check a level given in nats or as e^level."""
    if (epsilon is None) == (ratio is None):
        raise InvalidInput(
            what, expected="epsilon >= 0 (nats), or ratio=e^epsilon", got="both or neither"
        )
    if ratio is not None:
        if not isinstance(ratio, Rational) or isinstance(ratio, bool) or ratio < 1:
            raise InvalidInput(
                what, expected="ratio=e^epsilon, an int or Fraction >= 1", got=repr(ratio)
            )
        return Threshold(ratio=exactly(ratio))
    number = real(what, epsilon, "a finite epsilon >= 0 (nats)")
    if not 0 <= number < math.inf:
        raise InvalidInput(what, expected="a finite epsilon >= 0 (nats)", got=repr(epsilon))
    return Threshold(exactly(number))


def _of_joint(joint: Any, name: str, epsilon: Any, ratio: Any) -> Bound:
    level = threshold(f"bl.{name}", epsilon, ratio)
    if not isinstance(joint, JointFamily):
        require_joint(joint, name)
        if joint.prior.over == "one prior" and not joint.finite:
            engine = engine_for(joint)
            if engine.status == "estimate":
                raise NotYet(
                    f"bl.{name}",
                    missing=f"a density that can be enclosed: {engine.reason}",
                    instead="np.where instead of if, np.exp instead of math.exp in the density.",
                )
    return figure(joint, name, level, units="probability")


def _edge(decide: Callable[[float], bool | None], top: float, certainly: bool, tol: float) -> float:
    """Return the largest float not known to be enough, or the smallest known to be, by halving."""
    low, high = 0.0, top
    for _ in range(_HALVINGS):
        middle = low + (high - low) / 2
        if middle in (low, high) or high - low <= tol:
            break
        answer = decide(middle)
        fits = answer is True if certainly else answer is not False
        low, high = (low, middle) if fits else (middle, high)
    return high if certainly else low


def _nats(low: float, high: float, notes: list[Bound]) -> Bound:
    status = weakest(b.status for b in notes)
    assumptions = tuple(dict.fromkeys(a for b in notes for a in b.assumptions))
    if status in ("estimate", "undecided"):
        why = notes[-1].reason or "some figure of the profile is not proved"
        return Bound.undecided(low, high, reason=why, assumptions=assumptions)
    if status == "exact" and high - low > WIDE:
        status = "certified"
    return Bound.of(status, low, high, assumptions=assumptions)
