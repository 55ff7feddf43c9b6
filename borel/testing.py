"""Check that measures and mechanisms of your own honour what every engine relies on.

Constructors check a few points; these check more, compare the log-density with the density and the
graph with the function, and try the laws of leakage. They find mistakes and prove nothing.
"""

from __future__ import annotations

import math
import pickle
from typing import Any

import numpy as np

from borel.errors import InvalidInput, OutsideAlphabet
from borel.figures.leakage import pmc, pml
from borel.probability import kernel_operations
from borel.probability.alphabets import Alphabet, Interval, Mixed, exact_array
from borel.probability.arrays import validated
from borel.probability.bound import Bound
from borel.probability.density import Density, probe
from borel.probability.measure import Measure
from borel.probability.mechanism import Mechanism
from borel.probability.normalisation import head_of, total_mass

_MANY = 48


def check_measure(measure: Measure) -> None:
    """Assert that a measure honours the conventions.

    Parameters
    ----------
    measure : Measure
        One measure, not a batch of draws.

    Raises
    ------
    AssertionError
        The convention that is broken, what was found and where.

    Notes
    -----
    Checked at many points: the density is elementwise, finite and non-negative; ``logpdf`` is its
    logarithm; a traced density is the function it was traced from and survives pickling; the total
    is 1 (a sum, or a quadrature: no proof); points outside the alphabet are refused.

    Examples
    --------
    >>> import borel as bl
    >>> check_measure(bl.beta(alpha=2, beta=5))
    """
    _that(isinstance(measure, Measure), f"expected a Measure, got {type(measure).__name__}")
    _that(not measure.batch, f"{measure!r}: expected one measure, got draws {measure.batch}")
    what, on = repr(measure), measure.on
    points = _points(on)
    values = _values(what, lambda: measure.pdf(points))
    _same_logs(what, values, _values(what, lambda: measure.logpdf(points), log=True))
    if measure.density is not None:
        _check_density(what, measure.density)
    _check_outside(what, on, measure.pdf)
    if on.kind == "finite":
        try:
            validated(measure.probabilities, what, measure._rounding)
        except InvalidInput as error:
            raise AssertionError(str(error)) from error
        return
    if on.kind == "countable" and on.dim == 1:
        total, allowed = float(measure.pdf(head_of(on, 20_000)).sum()), 1e-6
        if measure.tail is not None:
            allowed += measure.tail.bound(int(np.max(np.abs(head_of(on, 20_000)))))
    elif all(isinstance(a, (Interval, Mixed)) for a in on.factors) and on.dim <= 2:
        assert measure.density is not None
        total = total_mass(measure.density.linear, on, measure.breaks)
        total += sum(measure.masses.values())
        allowed = 1e-6
    else:
        return
    _that(abs(total - 1) <= allowed, f"{what}: expected a total of 1, got about {total!r}")


def check_mechanism(mechanism: Mechanism, prior: Measure | None = None) -> None:
    """Assert that a mechanism honours the conventions and, with a prior, the laws of leakage.

    Parameters
    ----------
    mechanism : Mechanism
        The kernel.
    prior : Measure, optional
        A prior on its secrets.

    Raises
    ------
    AssertionError
        The convention or law that is broken, what was found and where.

    Notes
    -----
    Checked at many points: what `check_measure` checks, for y and x; every f(.|x) is a law, at more
    secrets than the constructor tries; draws of ``sample`` are outcomes. With a prior: PML and PMC
    are not negative, PML is at most -log min p (Saeidian et al. 2023), a mean is at most
    the supremum, and at every outcome of a finite alphabet so is the leakage. Each is tested as
    far as its Bound goes: it fails only if the enclosures (or estimates) exclude it.

    Examples
    --------
    >>> import borel as bl
    >>> check_mechanism(bl.mechanisms.randomized_response(k=3, epsilon=1), bl.uniform(bl.Finite(3)))
    """
    _that(isinstance(mechanism, Mechanism), f"expected a Mechanism, got {type(mechanism).__name__}")
    what = repr(mechanism)
    y, x = _pairs(_points(mechanism.outcome), _points(mechanism.secret))
    values = _values(what, lambda: mechanism.pdf(y, x))
    _same_logs(what, values, _values(what, lambda: mechanism.logpdf(y, x), log=True))
    if mechanism.density is not None:
        _check_density(what, mechanism.density)
    for atom, mass in mechanism.masses.items():
        _check_density(f"{what}, the mass of {atom:g}", mass)
    _check_outside(what, mechanism.outcome, lambda bad: mechanism.pdf(bad, _one(x)))
    _check_outside(what, mechanism.secret, lambda bad: mechanism.pdf(_one(y), bad))
    try:
        if mechanism.finite:
            kernel_operations.check_rows(
                mechanism.matrix, mechanism.secret, what, mechanism.rounding
            )
        else:
            kernel_operations.check_normalised(mechanism, count=_MANY // 2)
    except InvalidInput as error:
        raise AssertionError(str(error)) from error
    if mechanism.finite or mechanism.sampler is not None:
        secrets = _points(mechanism.secret)
        drawn = mechanism.sample(secrets, rng=0)
        inside = [bool(np.all(mechanism.outcome.contains(d))) for d in np.ravel(drawn)]
        _that(all(inside), f"{what}: sample gives points outside {mechanism.outcome!r}")
    if prior is not None:
        _check_laws(what, mechanism, prior)


def _check_laws(what: str, mechanism: Mechanism, prior: Measure) -> None:
    joint = prior * mechanism
    finite = mechanism.outcome.kind == "finite"
    for name, leakage in (("PML", pml(joint)), ("PMC", pmc(joint))):
        sup = leakage.sup()
        at = {}
        for label in mechanism.outcome.labels if finite else ():
            at[label] = leakage(label)
            _not_above(f"{what}: {name} at y = {label!r} against its supremum", at[label], sup)
        for where, bound in {"its supremum": sup, **at}.items():
            _that(_ends(bound)[1] >= 0, f"{what}: {name} at {where} is negative, {bound}")
        if prior.on.kind == "finite" and name == "PML":
            p = np.asarray(prior.probabilities, float)
            limit = -math.log(p[p > 0].min()) + 1e-9
            found = _ends(sup)[0]
            _that(found <= limit, f"{what}: PML {sup} above -log min p = {limit:.6g}")
        _not_above(f"{what}: the mean of {name} against its supremum", leakage.mean(), sup)


def _ends(bound: Bound) -> tuple[float, float]:
    """Return ends that are safe to compare: those of an estimate ten errors wide."""
    slack = 1e-9 if bound.status != "estimate" else 1e-6 + 10 * (bound.upper - bound.lower)
    slack = slack if math.isfinite(slack) else math.inf
    return bound.lower - slack, bound.upper + slack


def _not_above(what: str, small: Bound, large: Bound) -> None:
    _that(_ends(small)[0] <= _ends(large)[1], f"{what}: expected {small} <= {large}")


def _check_density(what: str, density: Density) -> None:
    """Check a density at its own points: elementwise, and the same as its graph."""
    points: tuple = tuple(_points(a) for a in density.alphabets.values())
    points = _pairs(*points) if len(points) == 2 else points
    try:
        density.check(what)
        values = density.raw(*points)
    except InvalidInput as error:
        raise AssertionError(str(error)) from error
    if density.graph is None:
        return
    if callable(density.function):
        with np.errstate(all="ignore"):
            direct = np.asarray(density.function(*points, **density.parameters), float)
        _that(
            np.allclose(values, direct, rtol=1e-9, atol=0, equal_nan=True),
            f"{what}: the graph differs from the function; does it depend on more than its "
            "arguments, or has something that it captured changed?",
        )
    again = pickle.loads(pickle.dumps(density))
    _that(np.array_equal(again.raw(*points), values), f"{what}: its graph changes when pickled")


def _check_outside(what: str, alphabet: Alphabet, evaluate: Any) -> None:
    bad = (math.nan,) * alphabet.dim if alphabet.dim > 1 else math.nan
    try:
        evaluate(bad)
    except OutsideAlphabet:
        return
    raise AssertionError(f"{what}: expected OutsideAlphabet for a point outside {alphabet!r}")


def _values(what: str, evaluate: Any, log: bool = False) -> np.ndarray:
    values = np.asarray(evaluate(), float)
    fine = values < np.inf if log else (values >= 0) & (values < np.inf)
    expected = "log-densities below inf" if log else "finite densities >= 0"
    _that(bool(fine.all()), f"{what}: expected {expected}, got {values[~fine][:1]}")
    return values


def _same_logs(what: str, values: np.ndarray, logs: np.ndarray) -> None:
    normal = values > 1e-290
    _that(
        np.allclose(logs[normal], np.log(values[normal]), rtol=1e-9, atol=1e-9),
        f"{what}: logpdf is not the logarithm of pdf",
    )


def _points(alphabet: Alphabet) -> Any:
    """Return many points of an alphabet, labels if it is finite."""
    if alphabet.kind == "finite":
        labels = list(alphabet.labels)[: 4 * _MANY]
        if alphabet.dim > 1:
            return tuple(exact_array(column) for column in zip(*labels, strict=True))
        return exact_array(labels)
    return probe(alphabet, _MANY)


def _pairs(y: Any, x: Any) -> tuple[Any, Any]:
    """Return every pair of points: y along the first axis, x along the second."""
    tall = tuple(p[:, None] for p in y) if isinstance(y, tuple) else y[:, None]
    wide = tuple(p[None, :] for p in x) if isinstance(x, tuple) else x[None, :]
    return tall, wide


def _one(points: Any) -> Any:
    """Return the first of some points."""
    return tuple(p.ravel()[0] for p in points) if isinstance(points, tuple) else points.ravel()[0]


def _that(holds: Any, message: str) -> None:
    if not holds:
        raise AssertionError(message)
