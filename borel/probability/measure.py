"""Measures: priors and posteriors, as densities with respect to the alphabet's base measure."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from borel.errors import InvalidInput, NotYet
from borel.numerics.graphs.trace import Tracer
from borel.numerics.intervals.rounding import U, compounded, rounding_of
from borel.probability.alphabets import (
    Alphabet,
    Finite,
    Interval,
    Mixed,
    Product,
    as_number,
    includes,
    miscounted,
)
from borel.probability.arrays import (
    DOUBLE,
    NAMES,
    aligned,
    as_floats,
    as_numbers,
    carried,
    is_labelled,
    own_labels,
    own_rounding,
    require_accurate,
    require_no_column,
    require_no_underflow,
    row_miss,
    shown,
    validated,
    with_labels,
)
from borel.probability.density import Density, breaks_of
from borel.probability.normalisation import (
    HEAD,
    head_of,
    integral_of,
    lines_of,
    total_mass,
)
from borel.probability.pickling import HoldsFunctions
from borel.probability.wrong_calls import explained

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


@dataclass(frozen=True)
class Tail(HoldsFunctions):
    """An upper bound on the mass that a countable measure has beyond a head.

    Parameters
    ----------
    bound : callable
        ``n -> bound on P(X > n)``; on an alphabet without a lower end, on ``P(|X| > n)``.
    proof : str
        The theorem that proves it; empty when the user declared it.
    """

    _functions = ("bound",)

    bound: Callable[[int], float]
    proof: str = ""


@explained
class Measure(HoldsFunctions):
    """A probability measure given by a density with respect to the base measure of its alphabet.

    Parameters
    ----------
    density : callable
        ``p(x)``, elementwise on arrays (a point of a product is a tuple of arrays).
    on : Alphabet
        The alphabet.
    log : bool
        Whether ``density`` returns the logarithm.
    breaks : sequence of float
        Points where the density jumps or has a kink, for continuous alphabets.
    tail : callable, optional
        For a countable alphabet: ``n -> upper bound on P(X > n)``, or on P(abs(X) > n) where the
        alphabet has no lower end; it is *declared*, and figures that use it are ``conditional``.
        It is not read where the sum of the density is proved to be 1: that of a formula which
        falls from some n on, at least as fast as n^-2.5.
    envelope : callable, optional
        An integrable function above the density; kept for the certified engine.
    masses : dict, optional
        For a `Mixed` alphabet: the mass of each atom; arrays make a batch, as in ``params``.
    params : dict, optional
        Numbers passed to ``density`` as keyword arguments. Arrays make a batch of measures, one
        for each posterior draw (see `borel.priors.from_posterior`).

    Raises
    ------
    InvalidInput
        A density that is negative, NaN, not elementwise, or that does not integrate to 1.

    Examples
    --------
    >>> import borel as bl
    >>> bl.Measure(lambda x: 2 * x, on=bl.Interval(0, 1))
    Measure(density on Interval(0, 1))
    """

    __array_ufunc__ = None
    _functions = ("envelope",)
    over = "one prior"
    """What figures of a joint with this prior are over: one prior, a "set", or the "draws"."""

    def __init__(
        self,
        density: Any,
        on: Alphabet,
        *,
        log: bool = False,
        breaks: Sequence[float] = (),
        tail: Callable[[int], float] | Tail | None = None,
        envelope: Any = None,
        masses: dict[float, Any] | None = None,
        params: dict[str, Any] | None = None,
        name: str = "",
        rounding: float = 0.0,
        unproved: str = "",
        _check: bool = True,
        _miss: float | None = None,
    ):
        if not isinstance(on, Alphabet):
            raise InvalidInput("Measure", expected="on=<an alphabet>", got=repr(on))
        self.on = on
        self.name = name
        self.breaks = breaks_of(breaks, "Measure")
        if not (tail is None or isinstance(tail, Tail) or callable(tail)):
            raise InvalidInput("Measure", expected="tail=<a function of n>", got=repr(tail))
        self.tail = tail if isinstance(tail, Tail) or tail is None else Tail(tail)
        self.envelope = envelope
        self.masses = self._masses_of(masses)
        self.parts: tuple[Measure, ...] = ()
        self.conditioned: Measure | None = None  # of draws, those that an interval restricts
        self.checked = False  # whether a density was integrated, in float64
        self._rounding = rounding
        self._miss = _miss
        self.unproved = unproved  # why probabilities are known in float64 only, if they are
        # which named family it is, for closed forms; measures made from this one have none
        self.family: tuple[str, dict[str, Any]] | None = None
        self._probabilities: np.ndarray | None = None
        self.batch: tuple[int, ...] = ()
        if isinstance(density, np.ndarray):
            if _check:
                numbers = as_numbers(density)
                density = numbers.values
                self._miss = _on_labels(density, on, "Measure", rounding, numbers.precision)
                self._rounding = max(rounding, own_rounding(density, numbers.precision, "Measure"))
            density.setflags(write=False)
            self._probabilities = density
            self.batch = density.shape[:-1]
            self.density: Any = None  # a Density; None for probabilities
            return
        if not on.numeric:
            raise InvalidInput(
                "Measure",
                expected="numeric labels for a density",
                got=repr(on),
                mend="give the probabilities: bl.pmf([...], on=alphabet).",
            )
        if not (params is None or isinstance(params, dict)):
            raise InvalidInput("Measure", expected="params={name: number}", got=repr(params))
        if "x" in (params or {}):
            raise InvalidInput(
                name or "Measure",
                expected="parameters of other names than x, the secret",
                got="x",
                mend="give that one another name.",
            )
        given = {k: as_reals(v, "Measure", k) for k, v in (params or {}).items()}
        for key, value in given.items():
            if np.isnan(value).any():
                raise InvalidInput(name or "Measure", expected=f"a number for {key}", got="NaN")
        given = {k: v if v.ndim else float(v) for k, v in given.items()}
        numbers = {**given, **{f"the mass of {a:g}": m for a, m in self.masses.items()}}
        shapes = [np.shape(v) for v in numbers.values()]
        try:
            self.batch = np.broadcast_shapes(*shapes)
        except ValueError:
            raise InvalidInput(
                name or "Measure",
                expected="parameters whose shapes broadcast",
                got=", ".join(f"{k} {s}" for k, s in zip(numbers, shapes, strict=True)),
            ) from None
        self.density = Density(density, {"x": on}, log=log, parameters=given)
        if _check and not self.batch:
            self.density.check(repr(self))
            self.checked = _check_total(self)
        if on.kind == "finite" and not self.batch:
            table = self.density.tabulate(
                (_grid_points(on),), repr(self), "prior", lambda i: f"x = {on.labels[i]!r}"
            )
            self._rounding = max(rounding, table.rounding)
            self.unproved = table.unproved
            self._miss = validated(table.values, repr(self), self._rounding)
            table.values.setflags(write=False)
            self._probabilities = table.values

    def _masses_of(self, masses: Any) -> dict[float, Any]:
        """Check the masses of the atoms of a `Mixed` alphabet: numbers, or arrays of draws."""
        if not (masses is None or isinstance(masses, dict)):
            raise InvalidInput("Measure", expected="masses={atom: mass}", got=repr(masses))
        found = {
            as_number(a, "Measure", "an atom"): as_reals(m, "Measure", f"the mass of {a}")
            if np.ndim(m)
            else as_number(m, "Measure", f"the mass of {a}")
            for a, m in (masses or {}).items()
        }
        atoms = set(self.on.atoms) if isinstance(self.on, Mixed) else set()
        if set(found) != atoms:
            raise InvalidInput(
                "Measure",
                expected=f"a mass for each atom of {self.on!r}",
                got=f"masses of {sorted(found)}" if found else "none",
                mend="masses={atom: mass} and on=bl.Mixed(interval, atoms=[...]) go together.",
            )
        for (atom, mass), given in zip(found.items(), (masses or {}).values(), strict=True):
            wrong = np.ravel(mass)[~((np.ravel(mass) >= 0) & (np.ravel(mass) <= 1))]
            if len(wrong):
                got = repr(mass if np.ndim(mass) == 0 else float(wrong[0]))
                raise InvalidInput(
                    "Measure", expected="masses in [0, 1]", got=got, where=f"atom {atom:g}"
                )
            as_floats(np.asarray(getattr(given, "values", given)), "Measure")  # none becomes 0
        return found

    # -- finite -----------------------------------------------------------------------------

    @property
    def probabilities(self) -> np.ndarray:
        """The probabilities of the labels, in order, of a finite measure."""
        if self._probabilities is None:
            raise NotYet(
                "Measure.probabilities",
                missing=f"{self.on!r} is not a finite alphabet",
                instead="evaluate the density: measure.pdf(x).",
            )
        return self._probabilities

    @cached_property
    def rounding(self) -> float:
        """How far the probabilities may be off, relatively: their own rounding, or more."""
        if self.rational:
            return 0.0
        miss = self._miss
        if miss is None:
            miss = float(np.max(row_miss(np.asarray(self.probabilities, float))))
        return max(U, miss, self._rounding)

    @property
    def rational(self) -> bool:
        """Whether the probabilities are Fractions."""
        return self._probabilities is not None and self._probabilities.dtype == object

    def at(self, alphabet: Alphabet) -> np.ndarray:
        """Return the probabilities of the labels of another finite alphabet, zeros added.

        It must hold every label that has mass; a label without mass may be missing.
        """
        if alphabet == self.on:
            return self.probabilities
        labels = list(self.on.labels)
        table = np.asarray(self.probabilities != 0, bool).reshape(-1, len(labels))
        charged: Any = table.any(axis=0)
        zero: Any = Fraction(0) if self.rational else 0.0
        out = np.full((*self.batch, alphabet.size), zero, self.probabilities.dtype)
        kept = [label for label, c in zip(labels, charged, strict=True) if c]
        positions = np.asarray(alphabet.positions(kept, "x"))
        out[..., positions] = self.probabilities[..., charged]
        return out

    # -- densities --------------------------------------------------------------------------

    def pdf(self, x: Any) -> np.ndarray:
        """Return the density (the probability, for a finite or countable alphabet) at x."""
        if self._probabilities is not None:
            return self.probabilities[..., self.on.positions(x, "x")]
        _check_inside(self.on, x)
        return self._pdf(x)

    def _pdf(self, x: Any) -> Any:
        """Return the density at points taken to be labels; x may be traced."""
        if self._probabilities is not None:
            return self.pdf(x)
        assert self.density is not None
        out = self.density.linear(x)
        for atom, mass in self.masses.items():
            mass = np.reshape(mass, (*np.shape(mass), *(1,) * np.ndim(x))) if self.batch else mass
            out = np.where(np.equal(x, atom), mass, out)
        return out

    def logpdf(self, x: Any) -> np.ndarray:
        """Return the log-density at x; -inf where it is 0."""
        if self.density is not None:
            _check_inside(self.on, x)
        return self._logpdf(x)

    def _logpdf(self, x: Any) -> Any:
        """Return the log-density at points taken to be labels; x may be traced."""
        if self.density is not None and not self.masses:
            return self.density.logarithm(x)
        values = self._pdf(x)
        with np.errstate(divide="ignore"):
            return np.log(values if self.density is not None else np.asarray(values, float))

    def restrict(self, event: Callable[[Any], Any] | Interval) -> Measure:
        """Return the measure conditioned on an event.

        Parameters
        ----------
        event : callable or Interval
            Its indicator, which for a finite alphabet is asked label by label, else on arrays; or
            an interval: the restriction of a density is then a measure on its part of that.
            Draws of a density are restricted to an interval, the same for all of them.

        Examples
        --------
        >>> import borel as bl
        >>> bl.pmf([0.5, 0.25, 0.25]).restrict(lambda x: x > 0).probabilities
        array([0. , 0.5, 0.5])
        >>> bl.normal().restrict(bl.Interval(0, None)).on
        Interval(0, None)
        """
        return _restricted(self, event)

    def __mul__(self, other: Any) -> Any:
        """Return the product measure; a `Mechanism` makes the joint of ``prior * mech``."""
        return _product(self, other) if isinstance(other, Measure) else NotImplemented

    def __matmul__(self, other: Any) -> Any:
        """Refuse: the marginal is ``mech @ prior``."""
        raise TypeError(
            "prior @ mech: write mech @ prior for the law of Y, or prior * mech for the joint"
        )

    def __eq__(self, other: object) -> bool:
        """Compare laws as data: one alphabet, and the same probabilities or the same density.

        Probabilities count as Fractions or as floats with their rounding, which mean different
        laws; a density is the same if its graph is, or, untraced, its function. Names, tails,
        breaks and envelopes are notes on a law, and do not count.
        """
        if not isinstance(other, Measure):
            return NotImplemented
        if self is other:
            return True
        if self.on != other.on or self.batch != other.batch or self.unproved != other.unproved:
            return False
        if self._probabilities is None or other._probabilities is None:
            both = self._probabilities is other._probabilities
            return both and self.masses == other.masses and self.density.same_as(other.density)
        same = self.rounding == other.rounding  # 0 for Fractions, and never for floats
        return same and bool((self.probabilities == other.probabilities).all())

    def __hash__(self) -> int:
        """Hash the alphabet, and whether there is a density: equal measures agree in both."""
        return hash((self.on, self.batch, self._probabilities is None))

    def __repr__(self) -> str:
        """Show the alphabet and what the density is."""
        batch = f", batch {self.batch}" if self.batch else ""
        if self._probabilities is not None and not self.batch and len(self.probabilities) <= 8:
            values = ", ".join(_short(p) for p in self.probabilities)
            return f"Measure([{values}] on {self.on!r})"
        what = self.name or ("probabilities" if self.density is None else "density")
        why = f", opaque: {self.density.opaque}" if self.density and self.density.opaque else ""
        return f"Measure({what} on {self.on!r}{batch}{why})"

    def _repr_html_(self) -> str:
        from html import escape

        return f"<code>{escape(repr(self))}</code>"


def _short(p: Any) -> str:
    return str(p) if isinstance(p, Fraction) else f"{float(p):.6g}"


def _grid_points(on: Alphabet) -> Any:
    labels = on.array
    if on.dim == 1:
        return labels
    return tuple(np.array(column, float) for column in zip(*labels, strict=True))


def _check_inside(on: Alphabet, x: Any) -> None:
    """Raise `OutsideAlphabet` for labels outside the alphabet; a traced x has no values yet."""
    if not any(isinstance(part, Tracer) for part in (x if isinstance(x, tuple) else (x,))):
        on.check(x, "x")


def _on_labels(
    values: np.ndarray, on: Any, what: str, rounding: float = 0.0, precision: Any = DOUBLE
) -> float | None:
    """Check that probabilities (..., n) are laws on a finite alphabet of n labels.

    What comes back is how far those of one law miss 1, as `validated` says it.
    """
    if not isinstance(on, Alphabet) or on.kind != "finite":
        raise InvalidInput(what, expected="on=<a finite alphabet>", got=repr(on))
    if values.ndim == 0 or values.shape[-1] != on.size:
        raise InvalidInput(
            what,
            expected=f"{on.size} probabilities for {on!r}",
            got=str(values.shape[-1]) if values.ndim else "one number",
        )
    return validated(values, what, rounding, precision)


def _in_order(given: Mapping[Any, Any], on: Any) -> Any:
    """Return the values of a dict in the order of an alphabet; of draws their last axis."""
    if not isinstance(on, Alphabet) or on.kind != "finite":
        raise InvalidInput("pmf", expected="on=<a finite alphabet>", got=repr(on))
    if set(given) != set(on.labels):
        raise InvalidInput(
            "pmf",
            expected=f"a probability for each label of {on!r}",
            got=shown(list(given)),
            mend="give both the same labels; one that never occurs has probability 0.",
        )
    values = [given[label] for label in on.labels]
    if not any(np.ndim(v) for v in values if not isinstance(v, Tracer)):
        return values
    try:
        return np.stack(np.broadcast_arrays(*values), axis=-1)
    except ValueError:
        raise InvalidInput(
            "pmf",
            expected="draws of one shape for each label",
            got=", ".join(f"{label!r} {np.shape(v)}" for label, v in given.items()),
        ) from None


@dataclass(frozen=True)
class TracedLaw:
    """What `pmf` returns while a family of priors is traced: expressions in its parameter."""

    values: list[Any]


@explained
def pmf(probabilities: Any, on: Alphabet | None = None) -> Measure:
    """Make a measure on a finite alphabet from its probabilities.

    Parameters
    ----------
    probabilities : sequence, dict, ndarray or DataArray, shape (..., n)
        Probabilities; Fractions (or integers) make exact ratios. Leading axes are draws. A
        DataArray brings its labels; the dimension called ``x`` or ``secret`` is the secret's, the
        last one if none is. A Series brings its index, a dict its keys.
    on : Alphabet, optional
        A finite alphabet with n labels. If not given they are 0, ..., n - 1, and a mechanism of
        more than n secrets refuses the prior: a category may have been forgotten.

    Raises
    ------
    InvalidInput
        Negative or NaN entries, a sum that is not 1, a length that is not the alphabet's.

    Notes
    -----
    Floats may miss 1 by their own rounding: the measure meant is every normalised one within that
    relative rounding, an exact 0 stays 0, and the Bounds cover it. Fractions must sum to 1.

    Examples
    --------
    >>> import borel as bl
    >>> pmf([0.25, 0.75], on=bl.Finite(["no", "yes"]))
    Measure([0.25, 0.75] on Finite(['no', 'yes']))
    >>> pmf({"no": 0.25, "yes": 0.75})
    Measure([0.25, 0.75] on Finite(['no', 'yes']))
    """
    if isinstance(probabilities, Mapping):
        on = Finite(list(probabilities)) if on is None else on
        probabilities = _in_order(probabilities, on)
    if isinstance(probabilities, (list, tuple)) and any(
        isinstance(p, Tracer) for p in probabilities
    ):
        return TracedLaw(list(probabilities))  # type: ignore[return-value]
    values, labels, precision = as_numbers(_secret_last(probabilities))
    if values.ndim == 0 or values.shape[-1] == 0:
        raise InvalidInput("pmf", expected="at least one probability", got=repr(probabilities))
    n = values.shape[-1]
    if on is None:
        on = own_labels(labels, n)
    miss = _on_labels(values, on, "pmf", precision=precision)
    values = aligned(values, values.ndim - 1, labels, on, "pmf")
    rounding = own_rounding(values, precision, "pmf")
    return Measure(values, on, rounding=rounding, _check=False, _miss=miss)


def _secret_last(probabilities: Any) -> Any:
    """Return a DataArray with the dimension of the secret last, if its name says which it is."""
    require_no_column(probabilities, "pmf")
    table = with_labels(probabilities)
    if not is_labelled(table) or table.ndim < 2:
        return table
    named = [d for d in table.dims if d in NAMES["secret"]]
    if len(named) == 1:
        return table.transpose(..., named[0])
    if named or table.dims[-1] in ("chain", "draw", "sample"):
        raise InvalidInput(
            "pmf",
            expected="one dimension that is the secret's, called x, or the last one",
            got=f"dims {table.dims}",
            mend='p.transpose(..., "name of its dimension").',
        )
    return table


def as_measure(values: np.ndarray, on: Alphabet, name: str) -> Measure:
    """Return a prior that a solver found, Fractions or floats, as a Measure."""
    if values.dtype != object:
        values = np.maximum(values, 0.0)
        values = values / values.sum()
    return Measure(values, on, name=name, rounding=1e-12, _check=False)


def as_reals(value: Any, what: str, name: str) -> np.ndarray:
    """Return a parameter, a number or an array of draws, as floats; or say what came."""
    try:
        array = np.asarray(getattr(value, "values", value))
        if array.dtype.kind in "biufO":
            return array.astype(float)
    except (TypeError, ValueError, OverflowError):
        pass
    raise InvalidInput(what, expected=f"a number for {name}", got=shown(value))


def covers(alphabet: Alphabet, prior: Measure) -> bool:
    """Return whether a mechanism on ``alphabet`` is defined wherever the prior has mass."""
    if includes(alphabet, prior.on):
        return True
    if miscounted(alphabet, prior.on):
        return False
    if prior._probabilities is not None and prior.on.kind == "finite":
        table = np.asarray(prior.probabilities != 0).reshape(-1, prior.on.size)
        charged: Any = table.any(axis=0)
        labels = [a for a, c in zip(prior.on.labels, charged, strict=True) if c]
        if isinstance(alphabet, Product):
            return False
        return all(bool(np.all(alphabet.contains(a))) for a in labels)
    return False


# -- what a constructor checks ------------------------------------------------------------------


def declared_tail(measure: Measure, points: np.ndarray, most: float, slack: float) -> float:
    """Return the tail declared beyond a head, or raise if it is less than the head leaves."""
    lower: Any = measure.on.lower  # type: ignore[attr-defined]
    last = int(points[-1]) if lower is not None else int(-points[0])
    declared = float(measure.tail.bound(last))  # type: ignore[union-attr]
    if not declared >= 1 - most - slack:
        raise InvalidInput(
            repr(measure),
            expected=f"a tail of at least {1 - most:.6g}, which the head leaves",
            got=repr(declared),
            where=f"n = {last}",
            mend="normalise the probabilities, or declare an upper bound on P(X > n), or on "
            "P(|X| > n) where the alphabet has no lower end.",
        )
    return declared


def _check_total(measure: Measure) -> bool:
    """Raise `InvalidInput` for a density that has not a total near 1; say if that was looked at."""
    if lines_of(measure.on) and measure.on.dim <= 2:
        assert measure.density is not None
        turns = measure.density.turns("x")
        total = total_mass(measure.density.linear, measure.on, measure.breaks, turns)
        total += sum(measure.masses.values())
        if not abs(total - 1) <= 1e-6:
            raise InvalidInput(
                repr(measure),
                expected="a density that integrates to 1",
                got=f"about {total:.10g}",
                mend="normalise it, or declare breaks=[...] where it jumps.",
            )
    elif measure.on.kind == "countable" and measure.on.dim == 1:
        head = head_of(measure.on, HEAD)
        total = float(np.sum(measure.pdf(head)))
        if not total <= 1 + 1e-9 or (total < 1 - 1e-6 and measure.tail is None):
            raise InvalidInput(
                repr(measure),
                expected="probabilities that sum to 1",
                got=f"about {total:.10g} on the first {len(head)} points",
                mend="normalise them, or declare tail=... if the rest lies further out.",
            )
        if measure.tail is not None:
            declared_tail(measure, head, total, 1e-6)
    else:
        return False
    return True


# -- measures made of measures -------------------------------------------------------------------


def _restricted(measure: Measure, event: Callable[[Any], Any] | Interval) -> Measure:
    """Return a measure conditioned on an event; see `Measure.restrict`."""
    if isinstance(event, Interval):
        if isinstance(measure.on, Interval):
            return _within(measure, event)
        event = event.contains
    if not callable(event):
        raise InvalidInput("restrict", expected="a function of x, or an Interval", got=repr(event))
    if measure._probabilities is not None:
        keep = np.array([bool(event(a)) for a in measure.on.labels])
        kept = np.where(keep, measure.probabilities, 0 * measure.probabilities)
        total = kept.sum(axis=-1, keepdims=True)
        if not (total > 0).all():
            raise InvalidInput("restrict", expected="an event of positive mass", got="mass 0")
        error = 0.0
        if not measure.rational:
            own = float(rounding_of(kept, measure.rounding).max())
            require_accurate("restrict", own)
            error = compounded(own, own, (kept.shape[-1] + 4) * U)
        return Measure(kept / total, measure.on, rounding=error, unproved=measure.unproved)
    assert measure.density is not None
    if measure.masses or measure.on.kind != "continuous":
        raise NotYet("restrict", missing=f"a measure on {measure.on!r}")
    if measure.batch:
        raise NotYet(
            "restrict",
            missing="a density with draw axes and an event that is no interval",
            instead="an interval: .restrict(bl.Interval(lower, upper)).",
        )
    inner = measure.density

    def inside(x: Any) -> Any:
        return np.where(event(x), inner.linear(x), 0.0)

    mass = _mass(Measure(inside, measure.on, breaks=measure.breaks, _check=False))
    if not mass > 0:
        raise InvalidInput("restrict", expected="an event of positive mass", got=repr(mass))
    return Measure(
        lambda x: np.where(event(x), inner.linear(x), 0.0) / mass,
        measure.on,
        breaks=measure.breaks,
        name=f"{measure.name} restricted",
    )


LOG_MASS = "log mass"
"""The parameter of restricted draws that is no parameter of theirs: no keyword has a blank."""


def _within(measure: Measure, event: Interval) -> Measure:
    """Return a density conditioned on an interval, on its part of that interval.

    Of draws each is divided by an estimate of its mass there. They keep what they restrict: the
    laws meant are the conditional ones, whose masses engines enclose.
    """
    given = measure.on
    assert isinstance(given, Interval) and measure.density is not None
    lower, upper = max(given.lower, event.lower), min(given.upper, event.upper)
    if not lower < upper:
        got = f"{event!r}, outside of {given!r}"
        raise InvalidInput("restrict", expected="an event of positive mass", got=got)
    if (lower, upper) == (given.lower, given.upper):
        return measure
    on, whole = Interval(lower, upper), measure.conditioned or measure
    inner = whole.density
    name = f"{whole.name} restricted"
    breaks = [b for b in whole.breaks if lower < b < upper]
    if not whole.batch:
        mass, shift = _mass(Measure(inner.linear, on, breaks=breaks, _check=False)), 0.0
        if inner.log and not mass > 1e-280:  # floats lose digits of such densities, or all of them
            shift = float(_log_masses(inner, {}, (), on, breaks))
            scaled = lambda x: np.exp(inner.raw(x) - shift)  # noqa: E731
            mass = _mass(Measure(scaled, on, breaks=breaks, _check=False))
        if not mass > 0:
            raise InvalidInput("restrict", expected="an event of positive mass", got=repr(mass))

        def one(x: Any) -> Any:
            return inner.raw(x) - shift - math.log(mass) if inner.log else inner.raw(x) / mass

        out = Measure(one, on, log=inner.log, breaks=breaks, name=name, _check=False)
        out.checked = True
        return out
    own = {n: v for n, v in inner.parameters.items() if np.ndim(v)}

    def density(x: Any, **values: Any) -> Any:
        log_mass = values.pop(LOG_MASS)
        value = inner.at_parameters(x, values)
        return value - log_mass if inner.log else value * np.exp(-log_mass)

    log_masses = _log_masses(inner, own, whole.batch, on, breaks)
    params = {**own, LOG_MASS: log_masses}
    out = Measure(density, on, log=inner.log, breaks=breaks, params=params, name=name)
    out.conditioned = whole
    return out


def _log_masses(
    density: Density, parameters: dict[str, Any], batch: tuple[int, ...], on: Any, breaks: Any
) -> np.ndarray:
    """Estimate the logarithms of the masses that draws of a density have on an interval."""
    from borel.numerics.float64.charts import Axis
    from borel.numerics.float64.quadrature import log_integral

    flat = {n: np.broadcast_to(v, batch).ravel() for n, v in parameters.items()}

    def log_density(i: np.ndarray, x: tuple[np.ndarray, ...]) -> np.ndarray:
        values = density.at_parameters(x[0], {n: v[i] for n, v in flat.items()})
        with np.errstate(divide="ignore", invalid="ignore"):
            return values if density.log else np.log(values)

    axis = Axis(float(on.lower), float(on.upper), tuple(breaks))
    found = log_integral(log_density, int(np.prod(batch)), [axis]).log_value.reshape(batch)
    if not np.isfinite(found).all():
        k = int(np.flatnonzero(~np.isfinite(found))[0])
        raise InvalidInput(
            "restrict",
            expected="an event of positive mass",
            got=f"the logarithm {float(found.flat[k])} of a mass",
            where=f"draw {k}",
        )
    return found


def _mass(part: Measure) -> float:
    """Return what a part of a law integrates to: to the rounding of a float where it is enclosed.

    An estimate is good to 1e-9, say, and a law that misses 1 by that much is refused.
    """
    assert part.density is not None
    integral = integral_of(part.density, part.breaks, rel_tol=4 * U) if part.on.dim == 1 else None
    if integral is not None:
        low, high = integral(part.on.lower, part.on.upper)  # type: ignore[attr-defined]
        if high - low <= 1e-13 * high:
            return (low + high) / 2
    turns = part.density.turns("x")
    return total_mass(part.density.linear, part.on, part.breaks, turns)


def _product(first: Measure, second: Measure) -> Measure:
    """Return the product measure, the law of independent coordinates."""
    on = first.on * second.on
    if first.batch or second.batch:
        raise NotYet("product of measures", missing="measures with draw axes")
    if first._probabilities is not None and second._probabilities is not None:
        a, b = first.probabilities, second.probabilities
        if first.rational != second.rational:
            a, b = as_floats(a, "product of measures"), as_floats(b, "product of measures")
        require_no_underflow("product of measures", a, b)
        error = 0.0
        if a.dtype != object:
            error = compounded(max(first.rounding, U), max(second.rounding, U), 2 * U)
        out = Measure(
            (a[:, None] * b[None, :]).ravel(),
            on,
            rounding=error,
            unproved=carried(first, second),
        )
    else:
        if first.masses or second.masses:
            raise NotYet("product of measures", missing="measures with atoms")
        a, b = first.on.dim, second.on.dim

        def density(x: tuple) -> Any:
            left = x[:a] if a > 1 else x[0]
            right = x[a:] if b > 1 else x[a]
            return first._logpdf(left) + second._logpdf(right)

        out = Measure(density, on, log=True, _check=False)
    out.parts = (*(first.parts or (first,)), *(second.parts or (second,)))
    return out
