"""Operations on kernels: tabulation, checks, post-processing, composition, clipping.

A composed matrix carries how far its entries may be off, relatively, so that Bounds cover it.
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from borel.errors import InvalidInput, NotYet
from borel.numerics.intervals.rounding import NORMAL, TINY, U, compounded, rounding_of
from borel.probability import processing
from borel.probability.alphabets import Alphabet, Finite, Interval, Mixed, how_to_label, includes
from borel.probability.arrays import (
    DOUBLE,
    NORMALISED,
    as_floats,
    carried,
    require_accurate,
    require_no_underflow,
    rounding_allowed,
    row_miss,
    sum_shown,
)
from borel.probability.density import Density, Table, probe
from borel.probability.normalisation import DECLARED, Normalisation, sum_of_counts

if TYPE_CHECKING:
    from collections.abc import Callable

    from borel.probability.measure import Measure
    from borel.probability.mechanism import Mechanism


_LABELS = 64
"""So many labels of a finite secret are checked one by one."""


def first_point(alphabet: Alphabet) -> Any:
    """Return some point of an alphabet."""
    point = probe(alphabet, 1)
    return tuple(p[0] for p in point) if isinstance(point, tuple) else point[0]


def _points(alphabet: Alphabet, axis: int) -> Any:
    """Return the points of a finite alphabet along one axis of a table."""
    labels = alphabet.array
    shape = (-1, 1) if axis == 0 else (1, -1)
    if alphabet.dim == 1:
        return np.asarray(labels).reshape(shape)
    return tuple(np.array(c, float).reshape(shape) for c in zip(*labels, strict=True))


def tabulate(density: Density, secret: Alphabet, outcome: Alphabet, what: str) -> Table:
    """Tabulate a density on finite alphabets; an underflow to 0 is an error, not a zero."""
    return density.tabulate(
        (_points(outcome, 1), _points(secret, 0)),
        what,
        "kernel",
        lambda i, j: f"x = {secret.labels[i]!r}, y = {outcome.labels[j]!r}",
    )


def check_rows(
    matrix: np.ndarray,
    secret: Alphabet,
    what: str,
    rounding: float = 0.0,
    precision: Any = DOUBLE,
) -> float:
    """Check that rows are laws; return how far they miss 1, relatively (0 for Fractions)."""
    labels = secret.labels
    if matrix.dtype == object:
        for label, row in zip(labels, matrix, strict=True):
            total = sum(row.tolist(), Fraction(0))
            if min(row) < 0 or total != 1:
                raise InvalidInput(
                    what,
                    expected="rows of Fractions >= 0 that sum to 1 exactly",
                    got=f"a sum of {total}" if total != 1 else f"{min(row)}",
                    where=f"secret {label!r}",
                    mend="divide the row by its sum yourself; nothing is renormalised silently.",
                )
        return 0.0
    if not (matrix.min() >= 0 and matrix.max() < np.inf):  # NaN too
        i, j = np.argwhere(~(matrix >= 0) | ~np.isfinite(matrix))[0]
        raise InvalidInput(
            what,
            expected="probabilities >= 0, finite",
            got=repr(float(matrix[i, j])),
            where=f"secret {labels[i]!r}, column {j}",
        )
    miss = row_miss(matrix)
    allowed = rounding_allowed(matrix.shape[1], precision) + 2 * rounding
    if not (miss <= allowed).all():
        i = int(np.argmax(~(miss <= allowed)))
        raise InvalidInput(
            what,
            expected="rows that sum to 1 (to the rounding of floats)",
            got=f"a sum of {sum_shown(matrix[i])}",
            where=f"secret {labels[i]!r}",
            mend=NORMALISED,
        )
    return float(miss.max())


def rows_of_weights(
    matrix: np.ndarray, secret: Alphabet, rounding: float
) -> tuple[np.ndarray, float]:
    """Divide rows by their sums; return them, and how far entries may be off, relatively."""
    exact = matrix.dtype == object
    with np.errstate(invalid="ignore", over="ignore"):
        totals = matrix.sum(axis=1)
    for label, row, total in zip(secret.labels, matrix, totals, strict=True):
        if not (min(row) >= 0 and 0 < total < np.inf):
            raise InvalidInput(
                "from_matrix",
                expected="weights >= 0 with a positive, finite sum in each row",
                got=f"a sum of {total}" if min(row) >= 0 else f"a weight of {min(row)}",
                where=f"secret {label!r}",
            )
    values = matrix / totals[:, None]
    return values, 0.0 if exact else compounded(rounding, rounding, (matrix.shape[1] + 4) * U)


def require_kernel_at(mechanism: Mechanism, prior: Measure) -> None:
    """Raise for a secret that has a mass of its own and at which the kernel is no number.

    Null sets of secrets change nothing, so that the probe of the constructor does not look there.
    """
    points = tuple(x for x, p in prior.masses.items() if np.any(p))
    if prior._probabilities is not None and prior.on.numeric:
        points = tuple(x for x, p in zip(prior.on.labels, prior.probabilities, strict=True) if p)
    if points:
        mechanism._memo.fact(("a number at", points), lambda: _check_kernel_at(mechanism, points))


def _check_kernel_at(mechanism: Mechanism, points: tuple) -> None:
    columns = np.array([x if isinstance(x, tuple) else (x,) for x in points], float).T
    x = tuple(columns) if len(columns) > 1 else columns[0]
    density, outcome = mechanism.density, mechanism.outcome
    y = probe(outcome, turns=density.turns("y"))
    each = tuple(v[:, None] for v in y) if isinstance(y, tuple) else y[:, None]
    try:
        found = [(density.raw(each, x), density.log, True)]
    except NotYet:  # it has closed forms, and no values
        return
    found += [(mass.raw(x)[None], mass.log, False) for mass in mechanism.masses.values()]
    for values, log, about_y in found:
        # an infinity may be a number that no float holds, of noise of a tiny scale
        bad = np.isnan(values) if log else ~(values >= 0)
        if bad.any():
            i, j = np.argwhere(bad)[0]
            where = f", y = {_shown(tuple(v[i] for v in y) if isinstance(y, tuple) else y[i])}"
            raise InvalidInput(
                "prior * mech",
                expected="a kernel that is a number at every secret that has a mass",
                got=repr(float(values[i, j])),
                where=f"x = {points[j]!r}" + where * about_y,
                mend="say what it is there: np.where(x == ..., value, formula).",
            )


def probes_of(mechanism: Mechanism, count: int) -> Any:
    """Return secrets at which a kernel is checked, some of them between its branch points."""
    parts = [d.turns("x") for d in (mechanism.density, *mechanism.masses.values())]
    turns = tuple(np.concatenate(own) for own in zip(*parts, strict=True))
    if mechanism.secret.kind == "finite":
        count = max(count, _LABELS)
    return probe(mechanism.secret, count, turns)


def _turns_at(density: Density, secrets: list) -> np.ndarray:
    """Return the branch points in y at secrets, one row for each, NaN for none."""
    names = density.graph_names("x")
    rows = [
        density.turns("y", **dict(zip(names, np.atleast_1d(x).tolist(), strict=True)))[0]
        for x in secrets
    ]
    out = np.full((len(rows), max(map(len, rows), default=0)), np.nan)
    for row, found in zip(out, rows, strict=True):
        row[: len(found)] = found
    return out


def _shown(x: Any) -> str:
    return str(tuple(map(float, x)) if isinstance(x, tuple) else x)


def check_normalised(mechanism: Mechanism, count: int = 5) -> Normalisation:
    """Check that f(.|x) integrates to 1 at a few secrets; say what was checked."""
    from borel.numerics.float64.charts import Axis
    from borel.numerics.float64.quadrature import log_integral

    density = mechanism.density
    assert density is not None
    points = probes_of(mechanism, count)
    count = len(points[0] if isinstance(points, tuple) else points)
    outcome = mechanism.outcome
    factors = [a.interval if isinstance(a, Mixed) else a for a in outcome.factors]

    def secret_at(i: Any) -> Any:
        if isinstance(points, tuple):
            return tuple(np.asarray(p)[i] for p in points)
        return np.asarray(points)[i]

    if all(isinstance(a, Interval) for a in factors) and len(factors) <= 2:
        line = mechanism.breaks if len(factors) == 1 else ()
        axes = [Axis(a.lower, a.upper, line) for a in factors if isinstance(a, Interval)]
        middle = np.full((count, 1, len(factors)), np.nan)
        if len(factors) == 1 and mechanism.secret.dim == 1 and factors[0].contains(points).all():
            middle[:, 0, 0] = points  # noise sits at the secret: split there
        if len(factors) == 1:
            turns = _turns_at(density, [secret_at(i) for i in range(count)])
            middle = np.concatenate([middle, turns[:, :, None]], axis=1)

        def logf(i: np.ndarray, y: tuple[np.ndarray, ...]) -> np.ndarray:
            return density.logarithm(y[0] if len(factors) == 1 else y, secret_at(i))

        result = log_integral(logf, count, axes, points=middle, rtol=1e-8)
        totals = np.exp(result.log_value)
        settled = result.converged
    elif outcome.kind == "finite":
        y = _points(outcome, 1)
        x = secret_at(np.arange(count)[:, None])
        totals = density.linear(y, x).sum(axis=1)
        settled = np.ones(count, bool)
    elif outcome.kind == "countable" and outcome.dim == 1:
        x = secret_at(np.arange(count)[:, None])
        turns = _turns_at(density, [secret_at(i) for i in range(count)])
        totals, beyond = sum_of_counts(lambda y: density.logarithm(y, x), outcome, turns)
        # what may lie beyond the head settles nothing, unless it is little
        settled = (totals > 1 - 1e-6) | (totals + beyond < 1 - 1e-6)
    else:
        return DECLARED
    for mass in mechanism.masses.values():
        totals = totals + mass.linear(secret_at(np.arange(count)))
    wrong = ~(np.abs(totals - 1) <= 1e-6) & (settled | (totals > 1 + 1e-6))
    if wrong.any():
        i = int(np.flatnonzero(wrong)[0])
        raise InvalidInput(
            repr(mechanism),
            expected="a density in y that integrates to 1 for every x",
            got=f"about {float(totals[i]):.10g}",
            where=f"x = {_shown(secret_at(i))}",
            mend="normalise it in y (not in x), or "
            + (
                "take an outcome alphabet that holds all of its mass."
                if outcome.kind in ("finite", "countable")
                else "declare breaks=[...] where it jumps."
            ),
        )
    if not settled.all():
        i = int(np.flatnonzero(~settled)[0])
        return Normalisation(
            "declared",
            f"declared; the check at {count} points did not settle it (about "
            f"{float(totals[i]):.6g} at x = {_shown(secret_at(i))})",
        )
    return Normalisation("checked", f"checked at {count} points")


# -- composition ------------------------------------------------------------------------------


def _make(
    matrix: np.ndarray, secret: Alphabet, outcome: Alphabet, rounding: float, *sources: Mechanism
):
    from borel.probability.mechanism import Mechanism

    out = Mechanism._from_matrix(matrix, secret, outcome, rounding=rounding)
    out.unproved = carried(*sources)
    return out


def _numbers(first: Mechanism, second: Mechanism) -> tuple[np.ndarray, np.ndarray]:
    """Return two matrices of one type: Fractions only if both are."""
    a, b = first.matrix, second.matrix
    what = "composition of mechanisms"
    if first.rational != second.rational:
        a, b = as_floats(a, what), as_floats(b, what)
    require_no_underflow(what, a, b)
    return a, b


def _error(*mechanisms: Mechanism, terms: int) -> float:
    """Relative rounding of sums of ``terms`` products of entries."""
    if all(m.rational for m in mechanisms):
        return 0.0
    return compounded(*(max(m.rounding, U) for m in mechanisms), (terms + 2) * U)


def post_process(post: Mechanism, mechanism: Mechanism) -> Mechanism:
    """P_{Z|X} = P_{Z|Y} o P_{Y|X}."""
    if not includes(post.secret, mechanism.outcome):
        raise InvalidInput(
            "post @ mech",
            expected=f"a post-processing of {mechanism.outcome!r}",
            got=f"one of {post.secret!r}",
            mend=how_to_label(mechanism.outcome),
        )
    if not (post.finite and mechanism.finite):
        from borel.probability.mechanism import Mechanism

        return processing.post_process(Mechanism, post, mechanism)
    a, b = _numbers(mechanism, post)
    rows = post.secret.positions(list(mechanism.outcome.labels), "y")
    matrix = a @ b[rows]
    rounding = _error(mechanism, post, terms=a.shape[1])
    return _make(matrix, mechanism.secret, post.outcome, rounding, mechanism, post)


def both(first: Mechanism, second: Mechanism) -> Mechanism:
    """P_{Y1 Y2|X} = P_{Y1|X} P_{Y2|X}."""
    if first.secret != second.secret:
        raise InvalidInput(
            "a & b",
            expected="mechanisms about one secret alphabet",
            got=f"{first.secret!r} and {second.secret!r}",
        )
    outcome = first.outcome * second.outcome
    if first.finite and second.finite:
        a, b = _numbers(first, second)
        matrix = (a[:, :, None] * b[:, None, :]).reshape(len(a), -1)
        return _make(matrix, first.secret, outcome, _error(first, second, terms=1), first, second)
    if first.masses or second.masses or first.density is None or second.density is None:
        raise NotYet("a & b", missing="a matrix with a density, or atoms, in one product")
    from borel.probability.mechanism import Mechanism

    one, two, d = first.density, second.density, first.outcome.dim

    def density(y: tuple, x: Any) -> Any:
        left, right = _split(y, d)
        return one.logarithm(left, x) + two.logarithm(right, x)

    out = Mechanism(None, secret=first.secret, outcome=outcome)
    out.density = Density(density, {"y": outcome, "x": first.secret}, log=True)
    out.density.check(repr(out))
    out.releases = (first, second)
    return _product_of_laws(out, first, second)


def _product_of_laws(out: Mechanism, first: Mechanism, second: Mechanism) -> Mechanism:
    """Say what is known of the total mass of a product of kernels."""
    known = first.normalisation, second.normalisation
    miss = (known[0].miss + known[1].miss + known[0].miss * known[1].miss) * (1 + 8 * U)
    if all(of.proved for of in known):
        words = "; ".join(dict.fromkeys(str(of).removeprefix("proved: ") for of in known))
        out.normalisation = Normalisation.by(f"a product of laws ({words})", miss)
    else:  # each was looked at alone: an integral over pairs would tell less
        open_ = [of for of in known if not of.proved]
        status = "declared" if any(of.status == "declared" for of in open_) else open_[0].status
        words = "; ".join(dict.fromkeys(map(str, open_)))
        # weights of one of them may be known to their rounding
        out.normalisation = Normalisation("rounded" if miss else status, words, miss)
    return out


def independent(first: Mechanism, second: Mechanism) -> Mechanism:
    """P_{Y1 Y2|X1 X2} = P_{Y1|X1} P_{Y2|X2}."""
    from borel.probability.mechanism import Mechanism

    secret, outcome = first.secret * second.secret, first.outcome * second.outcome
    if first.finite and second.finite:
        a, b = _numbers(first, second)
        matrix = (a[:, None, :, None] * b[None, :, None, :]).reshape(secret.size, outcome.size)
        return _make(matrix, secret, outcome, _error(first, second, terms=1), first, second)
    if first.masses or second.masses or first.density is None or second.density is None:
        raise NotYet("mech1 * mech2", missing="a matrix with a density, or atoms, in one product")
    one, two = first.density, second.density

    def density(y: Any, x: Any) -> Any:
        (y1, y2), (x1, x2) = _split(y, first.outcome.dim), _split(x, first.secret.dim)
        return one.logarithm(y1, x1) + two.logarithm(y2, x2)

    out = Mechanism(None, secret=secret, outcome=outcome)
    out.density = Density(density, {"y": outcome, "x": secret}, log=True)
    out.density.check(repr(out))
    return _product_of_laws(out, first, second)


def _adaptive_density(first: Mechanism, second: Any) -> Mechanism:
    """Return f1(y1|x) f2(y2|x, y1), where the secret of the second is the pair (x, y1)."""
    pair = first.secret * first.outcome
    if second.secret != pair:
        raise InvalidInput(
            "mech.then",
            expected=f"a mechanism whose secret is the pair (x, y1), {pair!r}",
            got=f"one of {second.secret!r}",
            mend="secret=mech.secret * mech.outcome; its density takes y and x = (x, y1).",
        )
    if first.masses or second.masses or first.density is None or second.density is None:
        raise NotYet(
            "mech.then",
            missing="a matrix with a density, or atoms, in one product",
            instead="of finite mechanisms, a function of y1: mech.then(lambda y1: ...).",
        )
    if second.outcome.kind != "continuous":
        raise NotYet(
            "mech.then",
            missing=f"a release on {second.outcome!r} after one on {first.outcome!r}",
            instead="a second outcome with a density.",
        )
    from borel.probability.mechanism import Mechanism

    one, two, d = first.density, second.density, first.outcome.dim

    def density(y: tuple, x: Any) -> Any:
        left, right = _split(y, d)
        point = (*_coordinates(x), *_coordinates(left))
        return one.logarithm(left, x) + two.logarithm(right, point)

    outcome = first.outcome * second.outcome
    out = Mechanism(None, secret=first.secret, outcome=outcome)
    out.density = Density(density, {"y": outcome, "x": first.secret}, log=True)
    out.density.check(repr(out))
    return _product_of_laws(out, first, second)


def _coordinates(point: Any) -> tuple:
    return point if isinstance(point, tuple) else (point,)


def _split(point: Any, dim: int) -> tuple[Any, Any]:
    """Return the points of two factors of a product, the first of so many coordinates."""
    left, right = point[:dim], point[dim:]
    return left if dim > 1 else left[0], right if len(right) > 1 else right[0]


def adaptive(first: Mechanism, second: Mechanism | Callable[[Any], Mechanism]) -> Mechanism:
    """P_{Y1 Y2|X} = P_{Y1|X} P_{Y2|X,Y1}, the second mechanism chosen by y1, or one of (x, y1)."""
    from borel.probability.mechanism import Mechanism

    if isinstance(second, Mechanism):
        return _adaptive_density(first, second)
    _require_function("mech.then", second)
    if not first.finite:
        raise NotYet(
            "mech.then",
            missing="a function of a first outcome that is not finite",
            instead="a mechanism whose secret is the pair (x, y1): bl.Mechanism(lambda y, x: ..., "
            "secret=X * Y1, outcome=Y2), where x[0] is the secret and x[1] is y1; or a & b, when "
            "the second does not depend on y1.",
        )
    chosen = [second(label) for label in first.outcome.labels]
    for label, mechanism in zip(first.outcome.labels, chosen, strict=True):
        if not hasattr(mechanism, "finite") or not hasattr(chosen[0], "outcome"):
            raise InvalidInput(
                "mech.then",
                expected="a mechanism for every y1",
                got=repr(mechanism),
                where=f"y1 = {label!r}",
            )
        if (
            not mechanism.finite
            or mechanism.secret != first.secret
            or (mechanism.outcome != chosen[0].outcome)
        ):
            raise InvalidInput(
                "mech.then",
                expected=f"finite mechanisms from {first.secret!r} to {chosen[0].outcome!r}",
                got=repr(mechanism),
                where=f"y1 = {label!r}",
            )
    columns = []
    exact = first.rational and all(m.rational for m in chosen)
    for j, mechanism in enumerate(chosen):
        a, b = _numbers(first, mechanism)
        if not exact and a.dtype == object:  # another of the chosen has floats
            a, b = as_floats(a, "mech.then"), as_floats(b, "mech.then")
            require_no_underflow("mech.then", a, b)
        columns.append(a[:, j : j + 1] * b)
    rounding = max(_error(first, m, terms=1) for m in chosen)
    if not exact:
        rounding = max(rounding, 4 * U)
    outcome = first.outcome * chosen[0].outcome
    return _make(np.concatenate(columns, axis=1), first.secret, outcome, rounding, first, *chosen)


def _require_function(what: str, function: Any) -> None:
    if not callable(function):
        raise InvalidInput(what, expected="a function of a label", got=repr(function))


def _own_rounding(mechanism: Mechanism, matrix: np.ndarray) -> float:
    """Bound how far entries are off relatively, subnormal ones included."""
    if not (matrix > 0).any():
        return mechanism.rounding
    return float(rounding_of(matrix, mechanism.rounding).max())


def _pushed_subnormals(a: np.ndarray, matrix: np.ndarray, places: list[int]) -> float:
    """Bound what subnormal entries, each off by half of 2**-1074, add to sums, relatively.

    A lone subnormal that stays one is left to the engine, which knows what it may be off by.
    """
    small = (a > 0) & (a < NORMAL)
    if not small.any():
        return 0.0
    count, addends = np.zeros_like(matrix), np.zeros_like(matrix)
    for j, place in enumerate(places):
        count[:, place] += small[:, j]
        addends[:, place] += a[:, j] > 0
    summed = (count > 0) & (addends > 1)
    return float(np.max(0.5 * count[summed] * (TINY / matrix[summed]), initial=0.0)) * (1 + 8 * U)


def push(mechanism: Mechanism, function: Callable, outcome: Any, breaks: Any = None) -> Mechanism:
    """P of function(Y) given X."""
    _require_function("mech.push", function)
    if not mechanism.finite:
        from borel.probability.mechanism import Mechanism

        return processing.push(Mechanism, mechanism, function, outcome, breaks)
    images = [function(label) for label in mechanism.outcome.labels]
    if outcome is None:
        try:
            outcome = Finite(list(dict.fromkeys(images)))
        except TypeError:
            raise InvalidInput(
                "mech.push",
                expected="a function to labels (numbers, strings, tuples)",
                got=repr(images[0]),
                where=f"y = {mechanism.outcome.labels[0]!r}",
            ) from None
    elif not isinstance(outcome, Alphabet):
        outcome = Finite(outcome)
    places = [int(outcome.positions(image, "y")) for image in images]
    a = mechanism.matrix
    matrix = np.full((len(a), outcome.size), Fraction(0) if mechanism.rational else 0.0, a.dtype)
    for j, place in enumerate(places):
        matrix[:, place] = matrix[:, place] + a[:, j]
    rounding = 0.0
    if not mechanism.rational:
        lost = _pushed_subnormals(a, matrix, places)
        rounding = compounded(mechanism.rounding, len(places) * U, lost)
        require_accurate("mech.push", rounding)
    return _make(matrix, mechanism.secret, outcome, rounding, mechanism)


def restrict(mechanism: Mechanism, event: Any) -> Mechanism:
    """P of Y given X, conditioned on an event of outcomes."""
    if isinstance(event, Interval):
        if not mechanism.outcome.numeric or mechanism.outcome.dim > 1:
            raise InvalidInput(
                "mech.restrict",
                expected="an interval of outcomes that are numbers",
                got=repr(mechanism.outcome),
                mend="give an indicator: lambda y: ...",
            )
    else:
        _require_function("mech.restrict", event)
    if not mechanism.finite:
        from borel.probability.mechanism import Mechanism

        return processing.restrict(Mechanism, mechanism, event)
    event = event.contains if isinstance(event, Interval) else event
    labels = mechanism.outcome.labels
    keep = [j for j, label in enumerate(labels) if bool(event(label))]
    if not keep:
        raise InvalidInput("mech.restrict", expected="an event with outcomes", got="none")
    a = mechanism.matrix[:, keep]
    totals = a.sum(axis=1)
    for label, total in zip(mechanism.secret.labels, totals, strict=True):
        if not total > 0:
            raise InvalidInput(
                "mech.restrict",
                expected="an event of positive mass for every x",
                got="mass 0",
                where=f"x = {label!r}",
            )
    rounding = 0.0
    if not mechanism.rational:
        own = _own_rounding(mechanism, a)
        require_accurate("mech.restrict", own)
        rounding = compounded(own, own, (len(keep) + 4) * U)
    outcome = Finite([labels[j] for j in keep])
    return _make(a / totals[:, None], mechanism.secret, outcome, rounding, mechanism)


def clip(mechanism: Mechanism, lower: float, upper: float) -> Mechanism:
    """P of min(max(Y, lower), upper) given X, for a known distribution function."""
    outcome = mechanism.outcome
    if not lower < upper:
        raise InvalidInput("mech.clip", expected="lower < upper", got=f"({lower}, {upper})")
    if not np.isfinite([lower, upper]).all():
        raise InvalidInput("mech.clip", expected="finite ends", got=f"({lower}, {upper})")
    if mechanism.cdf is None or not isinstance(outcome, Interval) or mechanism.density is None:
        raise NotYet(
            "mech.clip",
            missing=f"a distribution function of {mechanism!r}",
            instead="bl.mechanisms.laplace and .gaussian have one.",
        )
    if not (outcome.lower <= lower and upper <= outcome.upper):
        raise InvalidInput(
            "mech.clip", expected=f"ends within {outcome!r}", got=f"({lower}, {upper})"
        )
    from borel.probability.mechanism import Mechanism

    inner, cdf, sf = mechanism.density, mechanism.cdf, mechanism.survival
    assert sf is not None
    out = Mechanism(
        lambda y, x: inner.linear(y, x),
        secret=mechanism.secret,
        outcome=Mixed(Interval(lower, upper), atoms=(lower, upper)),
        masses={
            lower: lambda x: cdf.linear(np.full_like(x, lower), x),
            upper: lambda x: sf.linear(np.full_like(x, upper), x),
        },
        breaks=mechanism.breaks,
        name=f"{mechanism.name} clipped to [{lower:g}, {upper:g}]",
    )
    if mechanism.normalisation.proved:
        out.normalisation = Normalisation.by("the law of a number that is clipped")
    if mechanism.sampler is not None:
        out.sampler = partial(_draw_clipped, mechanism.sampler, lower, upper)
    return out


def _draw_clipped(draw: Callable, lower: float, upper: float, x: Any, rng: Any) -> np.ndarray:
    return np.clip(draw(x, rng), lower, upper)
