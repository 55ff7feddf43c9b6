"""Measures: priors and posteriors, as densities with respect to the alphabet's base measure."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from borel.alphabets import Alphabet, Finite, Integers, Interval, Mixed, Product, includes
from borel.density import Density
from borel.engine.rounding import NORMAL, U
from borel.errors import InvalidInput, NotYet

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


@dataclass(frozen=True)
class Tail:
    """An upper bound on the mass that a countable measure has beyond a head.

    Parameters
    ----------
    bound : callable
        ``n -> bound on P(X > n)``; on an alphabet unbounded both ways, on ``P(|X| > n)``.
    proof : str
        The theorem that proves it; empty when the user declared it.
    """

    bound: Callable[[int], float]
    proof: str = ""


class Measure:
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
        For a countable alphabet: ``n -> upper bound on P(X > n)``; it is *declared*, and figures
        that use it are ``conditional``.
    envelope : callable, optional
        An integrable function above the density; kept for the certified engine.
    masses : dict, optional
        For a `Mixed` alphabet: the mass of each atom.
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

    def __init__(
        self,
        density: Any,
        on: Alphabet,
        *,
        log: bool = False,
        breaks: Sequence[float] = (),
        tail: Callable[[int], float] | Tail | None = None,
        envelope: Any = None,
        masses: dict[float, float] | None = None,
        params: dict[str, Any] | None = None,
        name: str = "",
        rounding: float = 0.0,
        _check: bool = True,
    ):
        if not isinstance(on, Alphabet):
            raise InvalidInput("Measure", expected="on=<an alphabet>", got=repr(on))
        self.on = on
        self.name = name
        self.breaks = tuple(float(b) for b in breaks)
        self.tail = tail if isinstance(tail, Tail) or tail is None else Tail(tail)
        self.envelope = envelope
        self.masses = {float(a): float(m) for a, m in (masses or {}).items()}
        self.parts: tuple[Measure, ...] = ()
        self._rounding = rounding
        # which named family it is, for closed forms; measures made from this one have none
        self.family: tuple[str, dict[str, Any]] | None = None
        self._probabilities: np.ndarray | None = None
        self.batch: tuple[int, ...] = ()
        if isinstance(density, np.ndarray):
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
        given = {k: np.asarray(getattr(v, "values", v), float) for k, v in (params or {}).items()}
        given = {k: v if v.ndim else float(v) for k, v in given.items()}
        self.batch = np.broadcast_shapes(*(np.shape(v) for v in given.values())) if given else ()
        self.density = Density(density, {"x": on}, log=log, parameters=given)
        if _check and not self.batch:
            self.density.check(repr(self))
            self._check_total()
        if on.kind == "finite" and not self.batch:
            values = np.asarray(self.density.linear(_grid_points(on)), float)
            self._probabilities = _validated(values, repr(self))

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
        assert self.density is not None
        if self.masses:
            values = np.asarray(x, float)
            out = np.asarray(self.density.linear(values)).copy()
            for atom, mass in self.masses.items():
                out = np.where(values == atom, mass, out)
            return out
        return self.density.linear(x)

    def logpdf(self, x: Any) -> np.ndarray:
        """Return the log-density at x; -inf where it is 0."""
        if self.density is not None and not self.masses:
            return self.density.logarithm(x)
        with np.errstate(divide="ignore"):
            return np.log(np.asarray(self.pdf(x), float))

    def restrict(self, event: Callable[[Any], Any]) -> Measure:
        """Return the measure conditioned on an event, given by its indicator.

        Examples
        --------
        >>> import borel as bl
        >>> bl.pmf([0.5, 0.25, 0.25]).restrict(lambda x: x > 0).probabilities
        array([0. , 0.5, 0.5])
        """
        if self._probabilities is not None:
            keep = np.array([bool(event(a)) for a in self.on.labels])
            kept = np.where(keep, self.probabilities, 0 * self.probabilities)
            total = kept.sum()
            if not total > 0:
                raise InvalidInput("restrict", expected="an event of positive mass", got="mass 0")
            error = 0.0 if self.rational else 2 * self.rounding + (kept.size + 4) * U
            return Measure(kept / total, self.on, rounding=error)
        assert self.density is not None
        if self.masses or self.on.kind != "continuous":
            raise NotYet("restrict", missing=f"a measure on {self.on!r}")
        inner = self.density
        mass = _total(lambda x: np.where(event(x), inner.linear(x), 0.0), self.on, self.breaks)
        if not mass > 0:
            raise InvalidInput("restrict", expected="an event of positive mass", got=repr(mass))
        return Measure(
            lambda x: np.where(event(x), inner.linear(x), 0.0) / mass,
            self.on,
            breaks=self.breaks,
            name=f"{self.name} restricted",
        )

    def __mul__(self, other: Any) -> Any:
        """Return the product measure, or the joint with a mechanism."""
        from borel.mechanism import Mechanism

        if isinstance(other, Mechanism):
            from borel.joint import Joint

            return Joint(self, other)
        if isinstance(other, Measure):
            return _product(self, other)
        return NotImplemented

    def __matmul__(self, other: Any) -> Any:
        """Refuse: the marginal is ``mech @ prior``."""
        raise TypeError(
            "prior @ mech: write mech @ prior for the law of Y, or prior * mech for the joint"
        )

    def _check_total(self) -> None:
        if self.on.kind in ("continuous", "mixed") and self.on.dim <= 2:
            assert self.density is not None
            total = _total(self.density.linear, self.on, self.breaks) + sum(self.masses.values())
            if not abs(total - 1) <= 1e-6:
                raise InvalidInput(
                    repr(self),
                    expected="a density that integrates to 1",
                    got=f"about {total:.10g}",
                    mend="normalise it, or declare breaks=[...] where it jumps.",
                )
        elif self.on.kind == "countable" and self.on.dim == 1:
            head = head_of(self.on, 4096)
            total = float(np.sum(self.pdf(head)))
            if not total <= 1 + 1e-9 or (total < 1 - 1e-6 and self.tail is None):
                raise InvalidInput(
                    repr(self),
                    expected="probabilities that sum to 1",
                    got=f"about {total:.10g} on the first {len(head)} points",
                    mend="normalise them, or declare tail=... if the rest lies further out.",
                )

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


def head_of(on: Alphabet, count: int) -> np.ndarray:
    """Return the first ``count`` integers of a countable alphabet, from its end or around 0."""
    assert isinstance(on, Integers)
    if on.lower is not None:
        return np.arange(on.lower, on.lower + count)
    if on.upper is not None:
        return np.arange(on.upper - count + 1, on.upper + 1)
    return np.arange(-(count // 2), count // 2 + 1)


def _total(density: Any, on: Alphabet, breaks: tuple[float, ...]) -> float:
    """Estimate the integral of a density: a check of the constructor, not a proof."""
    from borel.engine.charts import Axis
    from borel.engine.quadrature import log_integral

    factors = [a.interval if isinstance(a, Mixed) else a for a in on.factors]
    if not all(isinstance(a, Interval) for a in factors):
        return 1.0
    line = breaks if on.dim == 1 else ()
    axes = [Axis(a.lower, a.upper, line) for a in factors if isinstance(a, Interval)]

    def logf(_i: np.ndarray, x: tuple[np.ndarray, ...]) -> np.ndarray:
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.log(np.asarray(density(x[0] if on.dim == 1 else x), float))

    result = log_integral(logf, 1, axes, rtol=1e-8)
    return float(np.exp(result.log_value[0]))


def _product(first: Measure, second: Measure) -> Measure:
    on = first.on * second.on
    if first.batch or second.batch:
        raise NotYet("product of measures", missing="measures with draw axes")
    if first._probabilities is not None and second._probabilities is not None:
        a, b = first.probabilities, second.probabilities
        if first.rational != second.rational:
            a, b = np.asarray(a, float), np.asarray(b, float)
        require_no_underflow("product of measures", a, b)
        error = 0.0 if a.dtype == object else first.rounding + second.rounding + 2 * U
        out = Measure((a[:, None] * b[None, :]).ravel(), on, rounding=error)
    else:
        if first.masses or second.masses:
            raise NotYet("product of measures", missing="measures with atoms")
        a, b = first.on.dim, second.on.dim

        def density(x: tuple) -> Any:
            left = x[:a] if a > 1 else x[0]
            right = x[a:] if b > 1 else x[a]
            return first.logpdf(left) + second.logpdf(right)

        out = Measure(density, on, log=True, _check=False)
    out.parts = (*(first.parts or (first,)), *(second.parts or (second,)))
    return out


def _validated(values: np.ndarray, what: str) -> np.ndarray:
    """Check probabilities (..., n): non-negative, and 1 in sum to their own rounding."""
    if values.dtype == object:
        total = sum(values.ravel().tolist(), Fraction(0))
        if any(v < 0 for v in values.ravel()):
            raise InvalidInput(what, expected="probabilities >= 0", got=str(min(values.ravel())))
        if total != 1:
            raise InvalidInput(
                what,
                expected="Fractions that sum to 1 exactly",
                got=f"a sum of {total}",
                mend="divide by their sum yourself; nothing is renormalised silently.",
            )
        return values
    bad = ~(values >= 0) | ~np.isfinite(values)
    if bad.any():
        where = tuple(np.argwhere(bad)[0])
        raise InvalidInput(
            what,
            expected="probabilities >= 0, finite",
            got=repr(float(values[where])),
            where=f"position {where[-1]}" + (f" of draw {where[:-1]}" if len(where) > 1 else ""),
        )
    alone = values.ndim == 1  # draws come by the thousand: a plain sum will do
    miss = row_miss(values, exactly=alone)
    allowed = rounding_allowed(values.shape[-1]) * (1 if alone else 2)
    if (miss > allowed).any():
        where = tuple(np.argwhere(miss > allowed)[0])
        raise InvalidInput(
            what,
            expected="probabilities that sum to 1 (to the rounding of floats)",
            got=f"a sum of {float(values[where].sum())!r}",
            where=f"row {where}" if where else "",
            mend="divide by their sum yourself; nothing is renormalised silently.",
        )
    return values


def row_miss(rows: np.ndarray, *, exactly: bool = True) -> np.ndarray:
    """Bound how far rows (..., n) miss a sum of 1, relatively, rounding of the sum included.

    ``exactly`` sums in double-double; otherwise a bound on the rounding of the sum is added.
    """
    n = rows.shape[-1]
    if exactly:
        total = rows - 0.0
        error = np.zeros_like(rows)
        while total.shape[-1] > 1:  # pairwise in double-double
            if total.shape[-1] % 2:
                pad = [(0, 0)] * (rows.ndim - 1) + [(0, 1)]
                total, error = np.pad(total, pad), np.pad(error, pad)
            a, b = total[..., 0::2], total[..., 1::2]
            s = a + b
            t = s - a
            error = error[..., 0::2] + error[..., 1::2] + ((a - (s - t)) + (b - t))
            total = s
        return np.abs((total[..., 0] - 1.0) + error[..., 0]) * (1 + 4 * U)
    return np.abs(rows.sum(axis=-1) - 1.0) + n * U


def rounding_allowed(n: int) -> float:
    """How far n floats may miss a sum of 1 by rounding alone, relatively.

    Each entry may carry a few roundings (8 u), and the sum they were divided by n u.
    """
    return (n + 8) * U


def pmf(probabilities: Any, on: Alphabet | None = None) -> Measure:
    """Make a measure on a finite alphabet from its probabilities.

    Parameters
    ----------
    probabilities : sequence, ndarray or DataArray, shape (..., n)
        Probabilities; Fractions (or integers) make exact ratios. Leading axes are draws. A
        DataArray brings its labels: the last dimension is the secret's.
    on : Alphabet, optional
        A finite alphabet with n labels; 0, ..., n - 1 if not given.

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
    >>> pmf([0.25, 0.75], on=Finite(["no", "yes"]))
    Measure([0.25, 0.75] on Finite(['no', 'yes']))
    """
    values, labels = as_numbers(probabilities)
    if values.ndim == 0 or values.shape[-1] == 0:
        raise InvalidInput("pmf", expected="at least one probability", got=repr(probabilities))
    n = values.shape[-1]
    if on is None:
        on = Finite(labels if labels is not None else n)
    if on.kind != "finite":
        raise InvalidInput("pmf", expected="a finite alphabet", got=repr(on))
    if on.size != n:
        raise InvalidInput("pmf", expected=f"{on.size} probabilities for {on!r}", got=str(n))
    return Measure(_validated(values, "pmf"), on)


def as_numbers(values: Any) -> tuple[np.ndarray, list | None]:
    """Return floats, or an object array of Fractions, and the labels of a DataArray's last dim."""
    labels = None
    if hasattr(values, "dims") and hasattr(values, "coords"):
        last = values.dims[-1]
        labels = list(values[last].values) if last in values.coords else None
        values = values.values
    array = np.asarray(values)
    if array.dtype == object or array.dtype.kind in "iu":
        flat = array.ravel().tolist()
        if all(isinstance(v, (int, Fraction)) and not isinstance(v, bool) for v in flat):
            out = np.empty(array.size, dtype=object)
            out[:] = [Fraction(v) for v in flat]
            return out.reshape(array.shape), labels
    try:
        return np.array(array, dtype=float), labels
    except (TypeError, ValueError):
        raise InvalidInput(
            "probabilities", expected="numbers", got=repr(array.ravel()[:3].tolist())
        ) from None


def mixture(measures: Sequence[Measure], *, weights: Any) -> Measure:
    """Make the mixture of some measures on one alphabet.

    Parameters
    ----------
    measures : sequence of Measure
        The components.
    weights : sequence
        Their weights: non-negative, 1 in sum.

    Examples
    --------
    >>> mixture([pmf([1.0, 0.0]), pmf([0.5, 0.5])], weights=[0.5, 0.5])
    Measure([0.75, 0.25] on Finite(2))
    """
    w, _ = as_numbers(weights)
    if w.shape != (len(measures),):
        raise InvalidInput("mixture", expected=f"{len(measures)} weights", got=f"shape {w.shape}")
    w = _validated(w, "mixture weights")
    on = measures[0].on
    if any(m.on != on for m in measures):
        raise InvalidInput(
            "mixture",
            expected="components on one alphabet",
            got=", ".join(repr(m.on) for m in measures),
        )
    if all(m._probabilities is not None for m in measures):
        values = sum(a * m.probabilities for a, m in zip(w, measures, strict=True))
        error = (max(m.rounding for m in measures) + (len(w) + 4) * U) * 1.0001
        return Measure(np.asarray(values), on, rounding=error)
    weights_float = [float(a) for a in w]
    breaks = sorted({b for m in measures for b in m.breaks})
    return Measure(
        lambda x: sum(a * m.pdf(x) for a, m in zip(weights_float, measures, strict=True)),
        on,
        breaks=breaks,
        name="mixture",
    )


def require_no_underflow(what: str, *arrays: np.ndarray) -> None:
    """Raise unless products of entries stay in the normal range: a lost factor is not a zero."""
    smallest = 1.0
    for array in arrays:
        if array.dtype == object:
            return
        positive = array[array > 0]
        smallest *= float(positive.min()) if positive.size else 1.0
    if smallest < NORMAL:
        raise InvalidInput(
            what,
            expected="entries whose products float64 can hold",
            got=f"products down to about {smallest:.3g}",
            mend="give them as Fractions.",
        )


def covers(alphabet: Alphabet, prior: Measure) -> bool:
    """Return whether a mechanism on ``alphabet`` is defined wherever the prior has mass."""
    if includes(alphabet, prior.on):
        return True
    if prior._probabilities is not None and prior.on.kind == "finite":
        table = np.asarray(prior.probabilities != 0).reshape(-1, prior.on.size)
        charged: Any = table.any(axis=0)
        labels = [a for a, c in zip(prior.on.labels, charged, strict=True) if c]
        if isinstance(alphabet, Product):
            return False
        return all(bool(np.all(alphabet.contains(a))) for a in labels)
    return False
