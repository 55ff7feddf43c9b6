"""Check that measures, mechanisms, sets of priors and figures of your own honour the conventions.

Constructors check a few points; these check more, compare what is written down twice (a density and
its logarithm, a lower expectation and the means of members), and try the laws of leakage. They find
mistakes and prove nothing.
"""

from __future__ import annotations

import inspect
import json
import math
import pickle
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from borel.engine.figures import FIGURES
from borel.engine.prior_sets import linear_programme
from borel.errors import InvalidInput, NotYet, OutsideAlphabet
from borel.figures.leakage import pmc, pml
from borel.priors.balls import TotalVariationBall
from borel.priors.sets import PriorSet
from borel.probability import kernel_operations
from borel.probability.alphabets import Alphabet, Finite, Integers, Interval, Mixed, exact_array
from borel.probability.arrays import validated
from borel.probability.bound import Bound
from borel.probability.density import Density, probe
from borel.probability.joint import Joint
from borel.probability.measure import Measure, as_measure, pmf
from borel.probability.mechanism import Mechanism
from borel.probability.normalisation import head_of, total_mass

_MANY = 48
_CLOSE = 1e-6
"""What the float64 of membership tests and witnesses may be off."""


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


def check_prior_set(prior_set: PriorSet) -> None:
    r"""Assert that a set of priors on a finite alphabet honours the conventions.

    Parameters
    ----------
    prior_set : PriorSet
        The set, on at most a few dozen secrets: hundreds of members are looked for.

    Raises
    ------
    AssertionError
        What two parts of the set contradict each other about, and where.
    NotYet
        A set on an alphabet that is not finite, or one that has no ``least``.

    Notes
    -----
    Members are sampled, and found by ``contains`` alone, by moving probability from one secret to
    another as far as the set goes. Checked: the enclosures of ``least`` are sound for all of them,
    superadditive and right for constants; its priors have the means that it claims and are members,
    or limits of members; ``least_exactly``, ``rules``, ``lower`` and ``upper`` agree with it;
    ``reach`` names the secrets that have mass; what is ``certainly`` a member is one, and so is
    ``nominal``; the leakage of no member exceeds the supremum, and the worst prior attains it if it
    says so; ``described`` is data that JSON holds; the set survives pickling. Tolerances are those
    of float64: 1e-6 for membership, 1e-9 for means.

    Examples
    --------
    >>> import borel as bl
    >>> check_prior_set(bl.priors.tv_ball(bl.pmf([0.5, 0.25, 0.25]), 0.125))
    """
    _that(isinstance(prior_set, PriorSet), f"expected a PriorSet, got {type(prior_set).__name__}")
    what, on = repr(prior_set), prior_set.on
    if on.kind != "finite":
        raise NotYet("check_prior_set", missing=f"members on {on!r}", instead="finite alphabets.")
    v = _functions(on.size)
    found = prior_set.least(v)
    _check_least(what, prior_set, v, found)
    members = _members_of(what, prior_set)
    for q in members:
        means = q @ v
        _none(found.lower > means + 1e-9, what, "least is above the mean of a member", q, v)
    _check_exactly(what, prior_set, found)
    _check_expectations(what, prior_set, v, found)
    _check_reach(what, prior_set)
    _check_membership(what, prior_set, v, found, members)
    _check_leakage(what, prior_set, members[:8])
    data = prior_set.described()
    if data is not None:
        kind = data.get("kind") if isinstance(data, dict) else None
        _that(kind and isinstance(kind, str), f"{what}: described() has no kind, got {data!r}")
        try:
            json.dumps(data)
        except (TypeError, ValueError) as error:
            raise AssertionError(f"{what}: described() is not data for JSON: {error}") from error
    again = pickle.loads(pickle.dumps(prior_set))
    same = again.on == on and repr(again) == what and again.described() == data
    other = again.least(v)
    same = same and all(
        np.array_equal(getattr(other, n), getattr(found, n)) for n in ("lower", "upper")
    )
    _that(same, f"{what}: it changes when pickled")


def _functions(n: int) -> np.ndarray:
    """Return functions of n secrets, one a column: whole numbers, so that sums are exact."""
    rng = np.random.default_rng(0)
    drawn = rng.integers(-50, 50, size=(n, 24))
    eye = np.eye(n, dtype=int)
    return np.hstack([drawn, drawn[:, :12] + drawn[:, 12:], eye, -eye, np.ones((n, 1))]) * 1.0


def _none(wrong: np.ndarray, what: str, message: str, q: np.ndarray, v: np.ndarray) -> None:
    """Assert that nothing is wrong for any function; else say for which, and at which prior."""
    if wrong.any():
        k = int(np.argmax(wrong))
        values, prior = v[:, k].tolist(), np.round(q, 6).tolist()
        raise AssertionError(f"{what}: {message}, for the function {values} at the prior {prior}")


def _check_least(what: str, prior_set: PriorSet, v: np.ndarray, found: Any) -> None:
    count = v.shape[1]
    for name, shape in (("lower", (count,)), ("upper", (count,)), ("prior", v.shape)):
        got = np.shape(getattr(found, name))
        _that(got == shape, f"{what}: least gives {name} of shape {got}, expected {shape}")
    low, high, prior = found.lower, found.upper, np.asarray(found.prior, float)
    _that((low <= high).all(), f"{what}: least gives lower > upper, or NaN")
    mass = (prior >= -1e-9).all() and np.allclose(prior.sum(axis=0), 1, rtol=0, atol=1e-9)
    _that(mass, f"{what}: least gives priors that are no probabilities")
    inside = (high >= v.min(axis=0)) & (low <= v.max(axis=0))
    _that(inside.all(), f"{what}: least is outside of the range of a function")
    means, scale = (prior * v).sum(axis=0), 1e-9 * (1 + np.abs(v).max(axis=0))
    for k in np.flatnonzero(found.members):
        near = low[k] - scale[k] <= means[k] <= high[k] + scale[k]
        _that(
            near,
            f"{what}: the prior of least has the mean {means[k]:.9g}, outside of "
            f"[{low[k]:.9g}, {high[k]:.9g}], for the function {v[:, k].tolist()}",
        )
    of_sums = high[24:36] >= low[:12] + low[12:24] - 1e-9
    _that(of_sums.all(), f"{what}: least is not superadditive: lower E[f + g] < lower E f + E g")


def _members_of(what: str, prior_set: PriorSet) -> list[np.ndarray]:
    """Return members: drawn by the set, and found by its test of membership."""
    drawn = prior_set.members(8, rng=0)
    for m in drawn:
        _that(prior_set.contains(m, tol=_CLOSE), f"{what}: members gives {m!r}, which is none")
    found = [np.asarray(m.at(prior_set.on), float) for m in drawn]
    rng, n = np.random.default_rng(1), prior_set.on.size
    for start in [q for q in found for _ in range(2)]:
        q = start
        for a, b in rng.integers(n, size=(4, 2)):
            q = _as_far_as_it_goes(prior_set, q, a, b)
            found.append(q)
    return found


def _as_far_as_it_goes(prior_set: PriorSet, q: np.ndarray, a: int, b: int) -> np.ndarray:
    """Move the mass of one secret to another until the prior is no member any more."""

    def moved(share: float) -> np.ndarray:
        out = q.copy()
        out[a] -= share * q[a]
        out[b] += share * q[a]
        return out

    low, high = 0.0, 1.0
    for _ in range(12):
        middle = (low + high) / 2
        member = prior_set.contains(as_measure(moved(middle), prior_set.on, "a member"), tol=0.0)
        low, high = (middle, high) if member else (low, middle)
    return moved(low)


def _check_exactly(what: str, prior_set: PriorSet, found: Any) -> None:
    v = _functions(prior_set.on.size)[:, :6]
    exact = prior_set.least_exactly(np.array([[Fraction(int(a)) for a in row] for row in v]))
    if exact is None:
        return
    for k, (value, prior) in enumerate(zip(exact[0], np.transpose(exact[1]), strict=True)):
        told = f"for the function {v[:, k].tolist()}"
        mean = sum((Fraction(p) * int(a) for p, a in zip(prior, v[:, k], strict=True)), Fraction(0))
        _that(sum(prior) == 1, f"{what}: least_exactly gives a prior of mass {sum(prior)}, {told}")
        _that(mean == value, f"{what}: least_exactly gives {value}, its prior {mean}, {told}")
        near = found.lower[k] <= value <= found.upper[k]
        _that(near, f"{what}: least_exactly gives {value}, outside of least, {told}")


def _check_expectations(what: str, prior_set: PriorSet, v: np.ndarray, found: Any) -> None:
    for k in (0, 1, v.shape[1] - 1):
        low, high = prior_set.lower(v[:, k]), prior_set.upper(-v[:, k])
        same = _ends(low)[0] <= found.upper[k] and found.lower[k] <= _ends(low)[1]
        _that(same, f"{what}: lower gives {low}, least [{found.lower[k]}, {found.upper[k]}]")
        same = abs(low.lower + high.upper) <= 1e-9 and abs(low.upper + high.lower) <= 1e-9
        _that(same, f"{what}: lower(f) is {low}, upper(-f) is {high}: expected the negative")
        rests = set(prior_set.assumptions) <= set(low.assumptions)
        _that(rests, f"{what}: lower does not list what the set rests on, {prior_set.assumptions}")
    if prior_set.rules is not None:
        other = linear_programme.least(v, prior_set.rules)
        apart = (other.lower > found.upper + 1e-9) | (found.lower > other.upper + 1e-9)
        _none(
            apart, what, "least and the linear constraints of rules disagree", other.prior[:, 0], v
        )


def _check_reach(what: str, prior_set: PriorSet) -> None:
    n = prior_set.on.size
    sure, possible = (np.asarray(a, bool) for a in prior_set.reach)
    _that(sure.shape == possible.shape == (n,), f"{what}: reach is not two arrays of shape ({n},)")
    _that((sure <= possible).all(), f"{what}: reach says sure of a secret that is not possible")
    mass = prior_set.least(-np.eye(n))  # of the upper probability of each secret, negated
    for k, label in enumerate(prior_set.on.labels):
        none, some = mass.lower[k] >= 0, mass.upper[k] < 0
        _that(
            not (sure[k] and none), f"{what}: reach says that x = {label!r} is charged: it is not"
        )
        _that(
            possible[k] or not some, f"{what}: reach says that x = {label!r} is not charged: it is"
        )


def _check_membership(
    what: str, prior_set: PriorSet, v: np.ndarray, found: Any, members: list[np.ndarray]
) -> None:
    on, rng = prior_set.on, np.random.default_rng(2)
    inner = np.mean(members[:8], axis=0)
    points = [*members, *rng.dirichlet(np.ones(on.size), size=16), *np.eye(on.size)]
    for q in points:
        exact = [Fraction(float(p)) for p in q]
        exact = [p / sum(exact) for p in exact]
        member = prior_set.contains(as_measure(q, on, "a prior"), tol=1e-9)
        sure = prior_set.certainly(exact)
        _that(member or not sure, f"{what}: {q.tolist()} is certainly a member, contains says no")
        if member:
            _none(found.lower > q @ v + _CLOSE * 100, what, "contains says that it is one", q, v)
    for k in np.flatnonzero(found.members):
        q = np.maximum(found.prior[:, k], 0.0)
        q = q / q.sum()
        if not prior_set.closed:  # it may be a limit of members
            if not prior_set.convex:
                break
            q = q + (inner - q) / 1024
        member = prior_set.contains(as_measure(q, on, "a prior"), tol=_CLOSE)
        _that(member, f"{what}: least gives {q.tolist()}, contains says that it is no member")
    if prior_set.nominal is not None:
        member = prior_set.contains(prior_set.nominal, tol=_CLOSE)
        _that(member, f"{what}: nominal is no member, {prior_set.nominal!r}")


def _check_leakage(what: str, prior_set: PriorSet, members: list[np.ndarray]) -> None:
    weights = np.random.default_rng(3).integers(1, 9, size=(prior_set.on.size, 3))
    rows = [[Fraction(int(a), int(row.sum())) for a in row] for row in weights]
    mechanism = Mechanism.from_matrix(rows, secret=prior_set.on)
    for name, leakage in (("PML", pml), ("PMC", pmc)):
        over = leakage(prior_set * mechanism)
        for y in mechanism.outcome.labels:
            sup = over(y)
            for q in members:
                alone = leakage(as_measure(q, prior_set.on, "a member") * mechanism)(y)
                _not_above(f"{what}: {name} at y = {y!r} of the member {q.tolist()}", alone, sup)
            _not_above(f"{what}: {name} at y = {y!r} against its supremum", sup, over.sup())
            worst = (sup.witness or {}).get("prior")
            if sup.attained and isinstance(worst, Measure):
                alone = leakage(worst * mechanism)(y)
                same = alone.upper >= sup.lower - _CLOSE
                _that(same, f"{what}: {name} is {sup}, attained: by {worst!r} it is {alone}")


# -- figures -------------------------------------------------------------------------------------

_HALF, _THIRD = Fraction(1, 2), Fraction(1, 3)
_JOINTS: dict[str, tuple[list, list]] = {
    "two secrets": ([_HALF, _HALF], [[Fraction(3, 4), Fraction(1, 4)], [_HALF, _HALF]]),
    "three secrets": (
        [_HALF, Fraction(1, 4), Fraction(1, 4)],
        [
            [_HALF, Fraction(1, 4), Fraction(1, 4)],
            [Fraction(1, 4), Fraction(5, 8), Fraction(1, 8)],
            [Fraction(1, 8), Fraction(1, 8), Fraction(3, 4)],
        ],
    ),
    "zeros": ([Fraction(1, 4), Fraction(3, 4)], [[_HALF, _HALF, 0], [0, _HALF, _HALF]]),
    "the secret itself": ([Fraction(1, 4), Fraction(3, 4)], [[1, 0], [0, 1]]),
    "no secret": ([1], [[Fraction(1, 4), Fraction(3, 4)]]),
    "independent": ([_THIRD, 1 - _THIRD], [[Fraction(1, 4), Fraction(3, 4)]] * 2),
}
_SECTIONS = ("Parameters", "Returns", "Examples")


def check_measure_record(measure: str | Callable[[Joint], Any], *, leakage: bool = True) -> None:
    """Assert that a measure of joints, such as mutual information, honours the conventions.

    Parameters
    ----------
    measure : str or callable
        The name of a public function of borel, or a function that takes a joint and returns a
        Bound or a tuple of Bounds; ``functools.partial`` gives one its other arguments.
    leakage : bool
        Whether it measures what Y tells about X: then it is not negative, 0 for independent X
        and Y, and never larger after post-processing.

    Raises
    ------
    AssertionError
        The convention that is broken, what was found and for which joint.

    Notes
    -----
    Checked on small finite joints (zeros, a single secret, independence among them): it gives a
    Bound, in the same units each time (of a public name those of `borel.engine.figures`), and no
    estimate without a reason; the same figure when asked again, for floats instead of Fractions,
    with secrets or outcomes in another order, and with one more secret, of probability 0. A set of
    priors gets a Bound that no member exceeds, or NotYet that says what is missing; so does a joint
    of countable outcomes. What is no joint is refused. The docstring has the sections Parameters,
    Returns and Examples.

    Examples
    --------
    >>> import borel as bl
    >>> check_measure_record("mutual_information")
    >>> from functools import partial
    >>> check_measure_record(partial(bl.f_information, f="chi_square"))
    """
    called: Any = measure
    if isinstance(measure, str):
        import borel

        called = getattr(borel, measure, None)
        _that(called is not None, f"bl.{measure} is no public name")
    function = called.func if isinstance(called, partial) else called
    what = getattr(function, "__name__", repr(function))
    text = (inspect.getdoc(function) or "").splitlines()
    for section in _SECTIONS:
        heading = any(a == section and set(b) == {"-"} for a, b in pairwise(text))
        _that(heading, f"{what}: its docstring has no section {section}")
    of = partial(_bounds, what, called)
    units = []
    for name, (p, rows) in _JOINTS.items():
        found = of(_joint(p, rows))
        units.append([b.units for b in found])
        told = f"{what} of {name!r}"
        n, m = len(p), len(rows[0])
        floats = [float(v) for v in p], [[float(v) for v in row] for row in rows]
        others = {
            "asked again": (p, rows),
            "in floats": floats,
            "with its secrets in another order": (p[::-1], rows[::-1]),
            "with its outcomes in another order": (p, [row[::-1] for row in rows]),
            "with a secret of probability 0 more": ([*p, 0], [*rows, [Fraction(1, m)] * m]),
        }
        for how, (q, table) in others.items():
            for a, b in zip(found, of(_joint(q, table)), strict=True):
                _not_above(f"{told}, {how}", a, b)
                _not_above(f"{told}, {how}", b, a)
        if not leakage:
            continue
        merged = [[row[0] + row[-1], *row[1:-1]] if m > 1 else row for row in rows]
        mixed = [[v / 2 + Fraction(1, 2 * m) for v in row] for row in rows]
        for how, table in {"two outcomes as one": merged, "noise added": mixed}.items():
            for after, before in zip(of(_joint(p, table)), found, strict=True):
                _not_above(f"{told}, post-processed ({how})", after, before)
        for bound in found:
            low, high = _ends(bound)
            _that(high >= 0, f"{told} is negative, {bound}")
            nothing = n == 1 or name == "independent"
            _that(low <= 0 or not nothing, f"{told}: expected 0, got {bound}")
    _that(all(u == units[0] and all(u) for u in units), f"{what}: units differ or miss, {units}")
    if isinstance(measure, str) and measure in FIGURES and (known := FIGURES[measure].units):
        _that({*units[0]} == {known}, f"{what}: its record says {known}, not {units[0][0]}")
    _check_refusals(what, called)


def _joint(p: list, rows: list) -> Joint:
    return pmf(p) * Mechanism.from_matrix(rows)


def _bounds(what: str, measure: Callable, joint: Joint) -> tuple[Bound, ...]:
    """Return the Bounds of a measure of a joint."""
    found = measure(joint)
    bounds = tuple(found) if isinstance(found, tuple) else (found,)
    for b in bounds:
        got = type(b).__name__
        _that(isinstance(b, Bound), f"{what} of {joint!r}: expected a Bound, got {got}")
        said = b.status not in ("estimate", "undecided") or b.reason
        _that(said, f"{what} of {joint!r}: {b.status} without a reason")
    return bounds


def _check_refusals(what: str, measure: Callable) -> None:
    """Check what it says to no joint, and to joints that it may not know."""
    try:
        found = measure(3)
    except InvalidInput:
        pass
    except Exception as error:
        raise AssertionError(f"{what} of 3: expected InvalidInput, got {error!r}") from error
    else:
        raise AssertionError(f"{what} of 3: expected InvalidInput, got {found!r}")
    likely = pmf([Fraction(3, 4), Fraction(1, 8), Fraction(1, 8)])
    ball = TotalVariationBall(likely, Fraction(1, 8))
    mechanism = Mechanism.from_matrix(_JOINTS["three secrets"][1])
    over = _or_not_yet(what, measure, ball * mechanism)
    for m in (ball.nominal, *ball.members(32, rng=0)) if over else ():
        for one, sup in zip(_bounds(what, measure, m * mechanism), over, strict=True):
            _not_above(f"{what} over {ball!r}: of one member", one, sup)
    secret, counts = Finite([0.25, 0.5]), Integers(0, None)
    geometric = Mechanism(lambda y, x: (1 - x) * x**y, secret=secret, outcome=counts)
    _or_not_yet(what, measure, pmf([0.5, 0.5], on=secret) * geometric)


def _or_not_yet(what: str, measure: Callable, joint: Joint) -> tuple[Bound, ...]:
    """Return the Bounds of a measure, none if it says what is missing."""
    try:
        return _bounds(what, measure, joint)
    except NotYet as error:
        _that(error.missing, f"{what} of {joint!r}: NotYet does not say what is missing")
        return ()
    except Exception as error:
        if isinstance(error, AssertionError):
            raise
        raise AssertionError(f"{what} of {joint!r}: expected NotYet, got {error!r}") from error


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
