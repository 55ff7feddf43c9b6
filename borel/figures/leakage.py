"""Leakage as a random variable: PML and PMC of a joint, at an outcome and in law."""

from __future__ import annotations

import math
from numbers import Rational
from typing import TYPE_CHECKING, Any

import numpy as np

from borel.constants import exactly, real
from borel.engine import engine_for
from borel.engine.figures import FIGURES
from borel.engine.finite.law_engine import WIDE
from borel.engine.problem.budget import within_budget
from borel.errors import InvalidInput, NotYet
from borel.figures.conditional import ConditionalLeakage
from borel.figures.dispatch import closed_form, computed, figure, require_joint
from borel.numerics.intervals.rounding import log_fraction
from borel.probability.alphabets import Finite, Product, exact_array
from borel.probability.bound import Bound, weakest
from borel.probability.joint import Joint
from borel.probability.mechanism_families import JointFamily, LeakageFamily
from borel.probability.memo import Memo
from borel.probability.pickling import Remade
from borel.probability.real_functions import real_function
from borel.probability.wrong_calls import explained

if TYPE_CHECKING:
    from collections.abc import Callable

    import xarray as xr

_BITS = ".bits of the Bound: bl.pml(joint).sup().bits"
_NARROW = (np.float16, np.float32, np.float64)
VERSION = "a figure at one outcome is about the version of the density given"


class LeakageVariable(Remade):
    """PML or PMC as a function of the outcome, with a law under P_Y. Lazy; it caches.

    Made by `pml` and `pmc`. All figures are in nats, with the status of the engine that made them:
    ``exact`` for finite alphabets and closed forms; ``certified`` where a density that was traced
    is enclosed, ``conditional`` if its total mass is declared, not proved; ``estimate`` else.

    Parameters
    ----------
    joint : Joint
        The joint law.
    kind : {"pml", "pmc"}
        Which leakage.
    """

    __array_ufunc__ = None
    _made_of = ("joint", "kind")

    def __init__(self, joint: Joint, kind: str):
        self.joint = joint
        self.kind = kind

    def _figure(
        self, name: str, *arguments: Any, by: Callable | None = None, units: str = "nats"
    ) -> Any:
        """Compute a figure once for each choice of options."""
        make = lambda: figure(self.joint, name, self.kind, *arguments, by=by, units=units)  # noqa: E731
        return self._memo.figure((name, arguments), make)

    def __call__(self, y: Any) -> Bound | xr.Dataset:
        """Return the leakage at one outcome, a Bound, or at many, a Dataset.

        Parameters
        ----------
        y : label or array of labels
            Outcomes; for a product alphabet a tuple with one label or array per factor.

        Returns
        -------
        Bound or Dataset
            A Bound for one outcome; for many, ``lower``, ``upper`` and ``status`` over ``y``.

        Raises
        ------
        OutsideAlphabet
            An outcome that is not in the alphabet.

        Notes
        -----
        An outcome of density 0 inside the alphabet has leakage 0, marked "outside the support".
        On a continuous alphabet a figure at one y is about the version of the density given.
        """
        outcome = self.joint.outcome
        if _is_single(outcome, y):
            outcome.check(y)
            _representable(outcome, y)
            return figure(self.joint, "at", self.kind, y, by=self._at)
        return self._dataset(y)

    def _at(self, joint: Joint, kind: str, y: Any) -> Bound:
        found = computed(joint, "at", kind, y)
        if joint.outcome.kind in ("continuous", "mixed"):
            found = found.about(assumptions=(*found.assumptions, VERSION))
        return found

    def _dataset(self, y: Any) -> xr.Dataset:
        outcome = self.joint.outcome
        many = isinstance(y, tuple)
        points = tuple(np.ravel(exact_array(p)) for p in y) if many else _flat(outcome, y)
        outcome.check(points)
        _representable(outcome, points)
        lower, upper, status = figure(self.joint, "curve", self.kind, points)
        status = np.asarray(status, str)
        if status.shape != lower.shape:
            status = np.full(lower.shape, status)
        found = _outline(points, lower.shape).copy()
        for name, values in (("lower", lower), ("upper", upper), ("status", status)):
            found.variables[name].data = values
        for index in found.xindexes.values():  # each curve has its own: their names can be set
            index.index = index.index.view()
        found.attrs = {"quantity": FIGURES[self.kind].title, "units": "nats"}
        return found

    @explained(unit=_BITS, base=_BITS)
    def sup(self) -> Bound:
        """Return the essential supremum over Y: the epsilon of epsilon-PML, or epsilon-PMC.

        Returns
        -------
        Bound
            In nats, with the witness outcome where it is known.
        """
        return self._figure("sup")

    def tail(self, t: Any = None, *, closed: bool = False, ratio: Any = None) -> Bound:
        """Return P{leakage > t} under P_Y; with ``closed=True``, P{leakage >= t}.

        Parameters
        ----------
        t : float
            Threshold, in nats.
        closed : bool
            Whether the threshold counts.
        ratio : int or Fraction
            e^t exactly, instead of t: no float is the logarithm of a ratio but that of 1.

        Returns
        -------
        Bound
            A probability. With Fractions in, ties at atoms are decided exactly.

        Raises
        ------
        InvalidInput
            Both or neither of t and a ratio, or a ratio that is not a positive int or Fraction.

        Examples
        --------
        >>> from fractions import Fraction as F
        >>> import borel as bl
        >>> rows = [[F(3, 4), F(1, 4)], [F(1, 4), F(3, 4)]]
        >>> ell = bl.pml(bl.pmf([F(1, 2), F(1, 2)]) * bl.Mechanism.from_matrix(rows))
        >>> ell.tail(ratio=F(3, 2)), ell.tail(ratio=F(3, 2), closed=True)
        (Bound(0 probability, exact), Bound(1 probability, exact))
        """
        t, ratio = threshold("leakage.tail", t, ratio)
        if ratio is not None:
            about = "tail_at_ratio", ratio, closed
            return self._figure(*about, by=_tail_at_ratio, units="probability")
        return self._figure("tail", t, closed, units="probability")

    def cdf(self, t: Any = None, *, ratio: Any = None) -> Bound:
        """Return P{leakage <= t} under P_Y; instead of t, ``ratio`` is e^t as for `tail`.

        Examples
        --------
        >>> from fractions import Fraction as F
        >>> import borel as bl
        >>> rows = [[F(3, 4), F(1, 4)], [F(1, 4), F(3, 4)]]
        >>> ell = bl.pml(bl.pmf([F(1, 2), F(1, 2)]) * bl.Mechanism.from_matrix(rows))
        >>> ell.cdf(ratio=F(3, 2))
        Bound(1 probability, exact)
        """
        t, ratio = threshold("leakage.cdf", t, ratio)
        if ratio is not None:
            return self._figure("cdf_at_ratio", ratio, by=self._cdf_at_ratio, units="probability")
        return self._figure("cdf", t, by=self._cdf, units="probability")

    def _cdf_at_ratio(self, joint: Joint, kind: str, ratio: Any) -> Bound:
        return complement(self.tail(ratio=ratio))

    def _cdf(self, joint: Joint, kind: str, t: float) -> Bound:
        return complement(self.tail(t))

    def _cdfs(self, ts: list[float]) -> tuple[np.ndarray, ...] | None:
        """Return lower ends, upper ends and statuses of the cdf, if all take the time of a few."""
        if closed_form(self.joint, "tail", self.kind, ts[0], False) is not None:
            return None
        found = within_budget(lambda: engine_for(self.joint).tails(self.kind, ts, False))
        return None if found is None else (*_complement(*found[:2]), found[2])

    def quantile(self, s: Any, *, side: str = "left") -> Bound:
        """Return inf{t : P{leakage <= t} >= s}; with ``side="right"``, sup{t : ... <= s}.

        Parameters
        ----------
        s : float or Fraction
            Level, 1 - delta. A float means its binary64 value: at an atom, give a Fraction.
        side : {"left", "right"}
            Which quantile; they differ at the levels where the law jumps.

        Returns
        -------
        Bound
            In nats.

        Examples
        --------
        >>> from fractions import Fraction as F
        >>> import borel as bl
        >>> mech = bl.Mechanism.from_matrix([[F(9, 10), F(1, 10)], [F(1), F(0)]])
        >>> joint = bl.pmf([F(1, 2), F(1, 2)]) * mech
        >>> bl.pml(joint).quantile(F(95, 100)), bl.pml(joint).quantile(F(95, 100), side="right")
        (Bound(0.05129329439, exact), Bound(0.6931471806, exact))
        """
        s = real("leakage.quantile", s, "a number s in [0, 1]")
        return self._figure("quantile", s, side)

    def mean(self) -> Bound:
        """Return the mean of the leakage under P_Y, in nats."""
        return self._figure("mean")

    def exp_mean(self) -> Bound:
        """Return E e^leakage under P_Y; for PML its logarithm is maximal leakage."""
        return self._figure("exp_mean", units="ratio")

    def expectation(self, h: Any, *, at_infinity: Any = None) -> Bound:
        """Return E h(leakage) under P_Y, the mean of a function of the leakage.

        Parameters
        ----------
        h : callable
            A function of t, in nats, elementwise in NumPy: ``lambda t: t**2``.
        at_infinity : number, optional
            h(inf), perhaps inf, where h gives none itself. It counts where the leakage is infinite.

        Returns
        -------
        Bound
            A number. Exact on finite alphabets; countable outcomes beyond a head count with all
            the values that h may have there. Certified for outcomes with a density on a line, any
            secret that has a certified mean. Open where the leakage is not bounded and nothing
            bounds h there: ``abs(h(t))`` is to be at most a multiple of a power of t.

        Raises
        ------
        InvalidInput
            A function that cannot be traced, or that gives no value at infinity where one counts.
        NotYet
            Products of outcomes with a density.

        Examples
        --------
        >>> import borel as bl
        >>> joint = bl.pmf([0.5, 0.5]) * bl.Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]])
        >>> bl.pml(joint).expectation(lambda t: t**2)
        Bound(0.1644019539 number, exact)
        """
        function = real_function("leakage.expectation", h, at_infinity=at_infinity)
        about: dict[str, Any] = {"units": "number", "least": -math.inf}
        return figure(self.joint, "expectation", self.kind, function, **about)

    def plot(self, **kwargs: Any) -> Any:
        """Plot the leakage against the outcome, with its band (see `borel.plot_leakage`)."""
        from borel.figures.leakage_plots import plot_leakage

        return plot_leakage(self, **kwargs)

    def __repr__(self) -> str:
        """Show which leakage, and of what."""
        return f"LeakageVariable({self.kind} of {self.joint!r})"

    def _repr_html_(self) -> str:
        from html import escape

        return (
            f"<div><b>{FIGURES[self.kind].title}</b> of <code>{escape(repr(self.joint))}</code><br>"
            "<i>next: ell(y), ell.sup(), ell.tail(t), ell.quantile(s), ell.plot()</i></div>"
        )


_OUTLINES, _SHORT = Memo(8), 10_000
"""Curves without values, by their outcomes: of a short one most of the time goes into its index."""


def _outline(points: Any, shape: tuple[int, ...]) -> xr.Dataset:
    """Return a curve over outcomes whose values are yet to come."""

    def make(coords: Any) -> xr.Dataset:
        import xarray as xr

        empty = np.broadcast_to(0.0, shape)
        levels = {end: ("y", empty, {"units": "nats"}) for end in ("lower", "upper")}
        return xr.Dataset({**levels, "status": ("y", empty)}, coords)

    if isinstance(points, tuple):
        return make({f"y{i}": ("y", p) for i, p in enumerate(points)})
    y = np.array(_coordinate(points))
    if y.dtype == object or y.size > _SHORT:  # 1 and True are equal
        return make({"y": y})
    y.setflags(write=False)  # it is kept
    return _OUTLINES.fact((y.dtype.str, y.tobytes()), lambda: make({"y": y}))


def _representable(alphabet: Any, points: Any, name: str = "y") -> None:
    """Refuse numbers that float64 would round: the figure would be of another point."""
    if alphabet.kind == "finite":
        return
    parts = points if alphabet.dim > 1 else (points,)
    for factor, part in zip(alphabet.factors, parts, strict=True):
        values = exact_array(part)
        if factor.kind not in ("continuous", "mixed") or values.dtype in _NARROW:
            continue
        if other := next((v for v in values.ravel().tolist() if float(v) != v), None):
            raise InvalidInput(
                name,
                expected="a number that float64 holds exactly",
                got=repr(other),
                mend=f"write float({other!r}) if the nearest float is meant.",
            )


def _is_single(alphabet: Any, y: Any) -> bool:
    """Return whether y is one outcome rather than an array of them."""
    if isinstance(alphabet, Product):
        return isinstance(y, tuple) and all(
            _is_single(f, p) for f, p in zip(alphabet.factors, y, strict=False)
        )
    if isinstance(alphabet, Finite):
        return isinstance(y, (str, bytes, tuple, set, frozenset)) or exact_array(y).ndim == 0
    return np.ndim(y) == 0


def _flat(alphabet: Any, y: Any) -> np.ndarray:
    """Return outcomes as a flat array: numbers, or objects for labels and tuples."""
    values = exact_array(y)
    if alphabet.dim > 1 or not alphabet.numeric:
        flat = list(values.ravel())
        out = np.empty(len(flat), dtype=object)
        out[:] = flat
        return out
    return np.ravel(values)


def _coordinate(points: np.ndarray) -> Any:
    """Return outcomes as a coordinate: labels as they are, but tuples as strings."""
    if points.dtype != object:  # pandas has no index of float16
        return points.astype(float) if points.dtype == np.float16 else points
    if any(isinstance(p, tuple) for p in points):
        return [str(p) for p in points]
    return exact_array(points.tolist())  # strings, if all of them are


@explained(unit=_BITS, base=_BITS)
def pml(joint: Any, *, given: Any = None) -> Any:
    r"""Return the pointwise maximal leakage of a joint, a `LeakageVariable`.

    .. math:: \ell(X \to y) = D_\infty(P_{X|Y=y} \| P_X)
              = \log \operatorname{ess\,sup}_{x} f(y|x) / f_Y(y)

    Parameters
    ----------
    joint : Joint
        ``prior * mech``. With a posterior over priors, a posterior leakage comes back.
    given : Mechanism or int, optional
        Side information Z that the adversary has before Y: a mechanism from the same secrets, for
        Z - X - Y; or, where the mechanism sees Z too, the place of Z in a product outcome:
        ``bl.pml(prior * side.then(lambda z: mech_z), given=0)``.

    Returns
    -------
    LeakageVariable
        Non-negative, in nats. With side information a `ConditionalLeakage`: ``ell[z]`` is the
        leakage variable given Z = z,

    .. math:: \ell(X \to y | z) = D_\infty(P_{X|Y=y,Z=z} \| P_{X|Z=z})
              = \log \max_{x : P_{X|Z=z}(x) > 0} \frac{P_{Y|X=x,Z=z}(y)}{P_{Y|Z=z}(y)}

    Notes
    -----
    Only secrets that are possible given z count: Lemma 1(5) of the paper takes the maximum over
    the support of P_X, which is another number where z rules secrets out. Side information may
    raise and lower the leakage (Remark 5). Exact on finite alphabets, and enclosed where
    densities can be traced; an estimate only where they are opaque (`borel.Mechanism`).

    References
    ----------
    Saeidian, Cervia, Oechtering, Skoglund, "Pointwise Maximal Leakage", Definitions 1 and 3,
    Theorem 1.

    Examples
    --------
    >>> import borel as bl
    >>> joint = bl.pmf([0.5, 0.5]) * bl.Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]])
    >>> bl.pml(joint).sup()
    Bound(0.4054651081, exact)
    >>> bool(bl.pml(joint, given=bl.Mechanism.from_matrix([[1, 0], [0, 1]]))[0].sup() <= 1e-12)
    True
    """
    return _leakage(joint, "pml", given)


@explained(unit=_BITS, base=_BITS)
def pmc(joint: Any, *, given: Any = None) -> Any:
    r"""Return the pointwise maximal cost of a joint, a `LeakageVariable`.

    .. math:: \Lambda(X \to y) = D_\infty(P_X \| P_{X|Y=y})
              = \log f_Y(y) / \operatorname{ess\,inf}_{x} f(y|x)

    Parameters
    ----------
    joint : Joint
        ``prior * mech``. With a posterior over priors, a posterior leakage comes back.
    given : Mechanism or int, optional
        Side information Z that the adversary has before Y: a mechanism from the same secrets, for
        Z - X - Y; or, where the mechanism sees Z too, the place of Z in a product outcome:
        ``bl.pml(prior * side.then(lambda z: mech_z), given=0)``.

    Returns
    -------
    LeakageVariable
        Non-negative, in nats; infinite where some secrets make the outcome impossible. With side
        information a `ConditionalLeakage`: ``lam[z]`` is the leakage variable given Z = z,

    .. math:: \Lambda(X \to y | z) = D_\infty(P_{X|Z=z} \| P_{X|Y=y,Z=z})

    Notes
    -----
    For Z - X - Y the paper's Corollary 2 writes P_{X|Y=y} for the second law; it is P_{X|Y=y,Z=z},
    as its first formula says: with Y independent of X nothing leaks, whatever Z tells.

    References
    ----------
    Saeidian, Grosse, Sadeghi, Skoglund, Oechtering, "Information Density Bounds for Privacy",
    Definitions 11 and 12, Theorem 4, Corollary 2.

    Examples
    --------
    >>> import borel as bl
    >>> joint = bl.pmf([0.5, 0.5]) * bl.Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]])
    >>> bl.pmc(joint).sup()
    Bound(0.6931471806, exact)
    """
    return _leakage(joint, "pmc", given)


def _leakage(joint: Any, kind: str, given: Any = None) -> Any:
    if given is not None:
        return _conditional(joint, kind, given)
    if isinstance(joint, JointFamily):
        return LeakageFamily(joint, lambda one: _leakage(one, kind))
    require_joint(joint, kind)
    if joint.prior.over != "one prior":
        return joint.prior.leakage_of(joint, kind)
    return LeakageVariable(joint, kind)


def _conditional(joint: Any, kind: str, given: Any) -> Any:
    if not isinstance(joint, JointFamily):
        require_joint(joint, kind)
    if isinstance(joint, JointFamily) or joint.prior.over not in ("one prior", "set"):
        raise NotYet(
            f"bl.{kind} given side information",
            missing="families of mechanisms, and posteriors over priors",
            instead="one joint at a time.",
        )
    return ConditionalLeakage(joint, kind, given, _leakage)


def threshold(what: str, t: Any, ratio: Any) -> tuple[Any, Any]:
    """Check a level t in nats, or a ratio e^t: one of the two is None.

    Raises
    ------
    InvalidInput
        Both or neither, NaN, or a ratio that is not a positive int or Fraction.
    """
    if (t is None) == (ratio is None):
        raise InvalidInput(
            what,
            expected="a number t (nats), or ratio=e^t",
            got="both or neither",
            mend="ell.tail(0.5), or ell.tail(ratio=Fraction(6, 5)) for t = log 6/5.",
        )
    if ratio is None:
        return real(what, t, "a number t (nats)"), None
    if not isinstance(ratio, Rational) or isinstance(ratio, bool) or ratio <= 0:
        raise InvalidInput(
            what,
            expected="ratio=e^t, a positive int or Fraction",
            got=repr(ratio),
            mend="give a level that is no logarithm of a Fraction as t, in nats.",
        )
    return None, exactly(ratio)


def _tail_at_ratio(joint: Joint, kind: str, ratio: Any, closed: bool) -> Bound:
    """Compute the tail at log ratio; where e^leakage is not enclosed, from the floats around it."""
    if closed_form(joint, "tail", kind, 0.0, closed) is None:
        found = engine_for(joint).tail_at_ratio(kind, ratio, closed)
        if found is not None:
            return found
    low, high = log_fraction(ratio)
    if low == high:
        return computed(joint, "tail", kind, low, closed)
    # P{leakage >= the upper} is at most the tail, and P{leakage > the lower} at least
    least, most = (
        computed(joint, "tail", kind, high, True),
        computed(joint, "tail", kind, low, False),
    )
    status = weakest([least.status, most.status])
    about = {"assumptions": tuple(dict.fromkeys((*least.assumptions, *most.assumptions)))}
    reason = most.reason or least.reason
    found = Bound.of(
        status,
        least.lower,
        max(most.upper, least.lower),
        reason=reason,
        units="probability",
        **about,
    )
    wide = found.status == "exact" and found.width > WIDE
    return found.weakened("certified") if wide else found


def complement(of: Bound) -> Bound:
    """Return the probability that an event leaves."""
    low, high = 1.0 - of.upper, 1.0 - of.lower
    if of.proved:
        low, high = (float(end) for end in _complement(of.lower, of.upper))
    return of.within(low, high)


def _complement(low: Any, high: Any) -> tuple[np.ndarray, np.ndarray]:
    """Enclose 1 - p for enclosed probabilities; of 0, and from 1/2 to 1, nothing is rounded."""
    ends = []
    for p, side in ((high, -1.0), (low, 2.0)):
        rest, p = np.subtract(1.0, p), np.asarray(p)
        ends.append(np.where((p == 0) | (p >= 0.5), rest, np.nextafter(rest, side)))
    least, most = ends
    return np.maximum(least, 0.0), np.minimum(most, 1.0)
