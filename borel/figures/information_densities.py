"""The information density of a joint: at pairs of a secret and an outcome, and in law."""

from __future__ import annotations

import math
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np

from borel.constants import real
from borel.engine import engine_for
from borel.engine.finite.law_engine import LOST
from borel.errors import InvalidInput, NotYet
from borel.figures.asking import asked
from borel.figures.conditional import ConditionalDensity
from borel.figures.dispatch import figure, require_joint
from borel.figures.leakage import (
    _coordinate,
    _flat,
    _is_single,
    _representable,
    complement,
    threshold,
)
from borel.probability.bound import Bound
from borel.probability.countable_law import check_level
from borel.probability.mechanism_families import JointFamily
from borel.probability.real_functions import real_function

if TYPE_CHECKING:
    import xarray as xr

    from borel.probability.joint import Joint

LAWS = ("joint", "product")


class InformationDensity:
    """The information density i(x;y) = log f(y|x) / f_Y(y): at pairs, and in law. Lazy.

    Made by `information_density`. Its law is taken ``under="joint"``, P_XY, or ``under="product"``,
    P_X x P_Y. Under P_XY it is finite almost surely; under the product it is -inf with the
    probability of the pairs whose secret makes the outcome impossible.

    Parameters
    ----------
    joint : Joint
        The joint law.
    """

    __array_ufunc__ = None

    def __init__(self, joint: Joint):
        self.joint = joint

    def __call__(self, x: Any, y: Any) -> Bound | xr.Dataset:
        """Return i(x;y) at one pair, a Bound, or on the grid of many x and y, a Dataset."""
        import xarray as xr

        joint = self.joint
        single = _is_single(joint.mechanism.secret, x), _is_single(joint.outcome, y)
        for alphabet, points, name in ((joint.mechanism.secret, x, "x"), (joint.outcome, y, "y")):
            alphabet.check(points, name)
            _representable(alphabet, points, name)
        if all(single):

            def at_pair() -> Bound:
                engine = engine_for(joint)
                low, high = engine.information_density_at(x, y)
                low, high = float(np.ravel(low)[0]), float(np.ravel(high)[0])
                return _of_pair(engine, low, high)

            about = "information_density", (x, y)
            return asked(joint, *about, at_pair, least=-math.inf)
        if isinstance(x, tuple) or isinstance(y, tuple):
            raise InvalidInput(
                "information_density", expected="one point of a product at a time", got="arrays"
            )
        xs = _flat(joint.mechanism.secret, [x] if single[0] else x)
        ys = _flat(joint.outcome, [y] if single[1] else y)
        grid = np.meshgrid(np.arange(len(xs)), np.arange(len(ys)), indexing="ij")
        engine = engine_for(joint)
        low, high = engine.information_density_at(xs[grid[0]], ys[grid[1]])
        open_ = (low != high) & (np.isinf(low) | np.isinf(high))
        status = np.where(open_, "undecided", engine.status_covering)
        return xr.Dataset(
            {
                "lower": (("x", "y"), low),
                "upper": (("x", "y"), high),
                "status": (("x", "y"), status),
            },
            {"x": _coordinate(xs), "y": _coordinate(ys)},
            {"quantity": "information density", "units": "nats"},
        )

    def tail(
        self, t: Any = None, *, under: str = "joint", closed: bool = False, ratio: Any = None
    ) -> Bound:
        """Return P{i(X;Y) > t}; with ``closed=True``, P{i(X;Y) >= t}.

        Parameters
        ----------
        t : float
            Threshold, in nats.
        under : {"joint", "product"}
            The law of the pair: P_XY, or P_X x P_Y.
        closed : bool
            Whether the threshold counts.
        ratio : int or Fraction
            e^t exactly, instead of t.

        Returns
        -------
        Bound
            A probability; exact for finite and countable alphabets, where ties are decided for
            Fractions; certified for a finite secret with a density on an interval of outcomes.
            Under P_XY never more than the tail of PML: P_XY{i <= t} >= P_Y{l(X -> Y) <= t}.

        Raises
        ------
        InvalidInput
            Both or neither of t and a ratio, or another law.
        NotYet
            Alphabets on which no engine computes it.

        References
        ----------
        "Pointwise Maximal Leakage", equation (22).

        Examples
        --------
        >>> from fractions import Fraction as F
        >>> import borel as bl
        >>> rows = [[F(3, 4), F(1, 4)], [F(1, 4), F(3, 4)]]
        >>> density = bl.information_density(bl.pmf([F(1, 2)] * 2) * bl.Mechanism.from_matrix(rows))
        >>> density.tail(0), density.tail(0, under="product")
        (Bound(0.75 probability, exact), Bound(0.5 probability, exact))
        >>> density.tail(ratio=F(3, 2))
        Bound(0 probability, exact)
        """
        t, ratio = threshold("information_density.tail", t, ratio)
        return self._figure("density_tail", under, t, ratio, closed, units="probability")

    def cdf(self, t: Any = None, *, under: str = "joint", ratio: Any = None) -> Bound:
        """Return P{i(X;Y) <= t}; arguments as for `tail`."""
        return complement(self.tail(t, under=under, ratio=ratio))

    def quantile(self, s: Any, *, side: str = "left", under: str = "joint") -> Bound:
        """Return inf{t : P{i <= t} >= s}; with ``side="right"``, sup{t : P{i <= t} <= s}.

        Parameters
        ----------
        s : float or Fraction
            Level; a float means its binary64 value: at an atom, give a Fraction.
        side : {"left", "right"}
            Which quantile; they differ at the levels where the law jumps.
        under : {"joint", "product"}
            The law of the pair.

        Returns
        -------
        Bound
            In nats, perhaps -inf under the product. Certified for a finite secret with a density
            on an interval of outcomes, by proved tails on both sides; about a level that i has with
            a positive probability it may be wider than the tolerance.

        Raises
        ------
        NotYet
            Secrets that are not finite with outcomes that have a density.
        """
        s = real("information_density.quantile", s, "a number s in [0, 1]")
        check_level(s, side)
        return self._figure("density_quantile", under, s, side)

    def mean(self, *, under: str = "joint") -> Bound:
        r"""Return the mean of i(X;Y): under P_XY mutual information.

        Under P_X x P_Y it is :math:`-D(P_X \times P_Y \| P_{XY})`, the negative of lautum
        information; -inf where some secret makes an outcome impossible.
        """
        if _law(under) == "joint":
            return figure(self.joint, "mutual_information")
        return self.expectation(_itself, under=under).about(units="nats")

    def moment(self, order: int, *, under: str = "joint") -> Bound:
        """Return E i(X;Y)^order, for an order 1, 2, ...; a number, in nats to that power."""
        whole = isinstance(order, Integral) and not isinstance(order, bool) and order >= 1
        if not whole:
            raise InvalidInput(
                "information_density.moment", expected="an order 1, 2, ...", got=repr(order)
            )
        power = int(order)
        return self.expectation(lambda t: t**power, under=under)

    def expectation(self, h: Any, *, under: str = "joint", at_minus_infinity: Any = None) -> Bound:
        """Return E h(i(X;Y)).

        Parameters
        ----------
        h : callable
            A function of t, in nats, elementwise in NumPy.
        under : {"joint", "product"}
            The law of the pair.
        at_minus_infinity : number, optional
            h(-inf), perhaps infinite, where h gives none itself.

        Returns
        -------
        Bound
            A number; exact on finite alphabets. Certified for a finite secret with outcomes that
            have a density on a line, perhaps beside atoms, by integrals of h(i); where h jumps at a
            level that i passes it may be wider than the tolerance: `tail` is narrow there.

        Raises
        ------
        NotYet
            Other secrets with outcomes that have a density, or an h that is not bounded by a power
            of i where i is not bounded.

        Examples
        --------
        >>> import borel as bl
        >>> bit = bl.Finite([0.0, 1.0])
        >>> joint = bl.pmf([0.5, 0.5], on=bit) * bl.mechanisms.gaussian(sigma=1.0, secret=bit)
        >>> bl.information_density(joint).expectation(lambda t: t**2)
        Bound(0.190879989 number, certified)
        """
        what = "information_density.expectation"
        function = real_function(what, h, at_minus_infinity=at_minus_infinity)
        return self._figure("density_expectation", under, function, units="number")

    def _figure(self, name: str, under: str, *arguments: Any, units: str = "nats") -> Bound:
        least = 0.0 if units == "probability" else -math.inf
        about: dict[str, Any] = {"units": units, "least": least}
        return figure(self.joint, name, _law(under), *arguments, **about)

    def __repr__(self) -> str:
        """Show of what."""
        return f"InformationDensity({self.joint!r})"


def _of_pair(engine: Any, low: float, high: float) -> Bound:
    """Make the Bound of the information density at a pair."""
    if low != high and (np.isinf(low) or np.isinf(high)):
        proved = engine.status != "estimate"  # the ends of an estimate prove nothing
        why = "the enclosure is open: float64 does not resolve the densities"
        reason = engine.reason or why if proved else LOST.format(where="at this pair")
        ends = (low, high) if proved else (-np.inf, np.inf)
        return Bound.undecided(*ends, reason=reason, assumptions=engine.assumptions)
    notes = () if engine.status == "estimate" else engine.assumptions
    status = engine.status_covering
    return Bound.of(status, low, high, reason=engine.reason, assumptions=notes)


def _law(under: Any) -> str:
    if under not in LAWS:
        raise InvalidInput(
            "information_density",
            expected='under="joint" (P_XY) or under="product" (P_X x P_Y)',
            got=repr(under),
        )
    return under


def _itself(t: Any) -> Any:
    return t


def information_density(joint: Any, *, given: Any = None) -> Any:
    r"""Return the information density of a joint, a function of x and y with a law.

    .. math:: i(x; y) = \log f(y|x) / f_Y(y)

    Parameters
    ----------
    joint : Joint
        ``prior * mech``.
    given : Mechanism or int, optional
        Side information Z, as for `borel.pml`.

    Returns
    -------
    InformationDensity
        In nats; -inf where the secret makes the outcome impossible. With side information
        ``density[z]`` is the information density given Z = z, and ``density(x, y, z)`` its value,

    .. math:: i(x; y | z) = \log \frac{f(y|x, z)}{f_{Y|Z=z}(y)}

    References
    ----------
    "Information Density Bounds for Privacy", Section II-A; given Z, "Pointwise Maximal Leakage",
    Section II-C.

    Examples
    --------
    >>> import borel as bl
    >>> joint = bl.pmf([0.5, 0.5]) * bl.Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]])
    >>> bl.information_density(joint)(0, 1)
    Bound(-0.6931471806, exact)
    >>> bl.information_density(joint).tail(0.4)
    Bound(0.75 probability, exact)
    """
    if isinstance(joint, JointFamily):
        raise NotYet(
            "information_density",
            missing="a family of mechanisms",
            instead="one joint at a time: joint.joints.sel(...).item().",
        )
    require_joint(joint, "information_density")
    joint._require_one_prior("bl.information_density")
    if given is not None:
        return ConditionalDensity(joint, given, InformationDensity)
    return InformationDensity(joint)
