"""Kernels of one entry of a database: the other entries are integrated out under the same prior."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from borel.errors import InvalidInput, NotYet
from borel.mechanisms.independent_entries import binomial_law, chance, product_law
from borel.mechanisms.noisy_count import NoisyCount
from borel.numerics.intervals.rounding import CLEAR, U, compounded
from borel.probability.alphabets import Integers, Reals
from borel.probability.arrays import as_floats, carried, require_no_underflow
from borel.probability.density import Density
from borel.probability.mechanism import Mechanism
from borel.probability.normalisation import Normalisation

if TYPE_CHECKING:
    from borel.mechanisms.counting import CountingQuery
    from borel.mechanisms.noisy_count import Ends
    from borel.probability.measure import Measure

_TRACED = 50
"""Mixtures of up to this many kernels are traced."""
_LISTED = 20_000
_FINE = 1e-12
"""How far the weights of a mixture may be off, relatively: the roundings of float64."""


def counting_kernel(prior: Measure, n: int, query: CountingQuery) -> Mechanism:
    """Return the kernel of one entry for a counting query, with its closed forms."""
    from borel.mechanisms.counting_entry import EntryForms

    alphabet = prior.on
    counted = query.counts(alphabet)
    noise = NoisyCount(n - 1, query.rate, chance(prior, alphabet, counted))
    out = Mechanism(
        None,
        secret=alphabet,
        outcome=Reals(),
        name=f"one entry of {query.name}",
    )
    ones = [label for label, c in zip(alphabet.labels, counted, strict=True) if c]
    middle = float((noise.p.lower + noise.p.upper) / 2)
    weights = _weights(noise.others, middle) if noise.others <= _LISTED else None
    spaces = {"y": out.outcome, "x": alphabet}
    if not alphabet.numeric:
        about = n, query.scale, query.unit, ones, middle  # a study's key reads them
        no_numbers = partial(_no_numbers, about)
        out.density = Density(no_numbers, spaces, log=True, opaque="labels that are no numbers")
    elif noise.others < _TRACED:
        assert weights is not None
        log_density = partial(_mixture, ones, weights, float(query.unit), query.scale)
        out.density = Density(log_density, spaces, log=True)
        out.normalisation = _rounded("the binomial weights of the mixture are floats")
    else:
        log_density = partial(_long_mixture, ones, middle, noise.others, query)
        why = f"a mixture of {n} kernels; up to {_TRACED} are traced"
        out.density = Density(log_density, spaces, log=True, opaque=why)
    out.sampler = partial(_draw_entry, ones, middle, noise.others, query)
    out.closed_forms = EntryForms(noise, query.unit, counted)
    return out


def _rounded(why: str) -> Normalisation:
    return Normalisation("rounded", f"rounded: {why}")


def _weights(n: int, p: float) -> np.ndarray:
    from scipy import stats

    return stats.binom.pmf(np.arange(n + 1), n, p)


def _counts(ones: list, x: Any) -> Any:
    """Return 1 for a label that counts, else 0."""
    return sum((np.where(np.equal(x, one), 1.0, 0.0) for one in ones), 0.0 * x)


def _mixture(ones: list, weights: np.ndarray, unit: float, scale: float, y: Any, x: Any) -> Any:
    """Return log f(y|x), far from the counts by the distance to the first one."""
    first = np.abs(y - _counts(ones, x) / unit)
    terms = [
        float(w) * np.exp((first - np.abs(y - (_counts(ones, x) + m) / unit)) / scale)
        for m, w in enumerate(weights)
        if w > 0
    ]
    return np.log(sum(terms)) - first / scale - float(np.log(2 * scale))


def _long_mixture(ones: list, p: float, n: int, query: CountingQuery, y: Any, x: Any) -> Any:
    """Return log f(y|x) in float64, summed over all counts in blocks of them."""
    from scipy import special, stats

    y, x = np.broadcast_arrays(np.asarray(y, float), np.asarray(x, float))
    counted = np.isin(x, np.asarray(ones, float))
    t = (y * query.unit - counted).ravel()
    total = np.full(t.shape, -np.inf)
    block = max(1, 4_000_000 // max(len(t), 1))
    for start in range(0, n + 1, block):
        m = np.arange(start, min(start + block, n + 1))
        terms = stats.binom.logpmf(m, n, p) - np.abs(t[:, None] - m) * float(query.rate)
        total = np.logaddexp(total, special.logsumexp(terms, axis=1))
    return (total - np.log(2 * query.scale)).reshape(y.shape)


def _no_numbers(about: tuple, y: Any, x: Any) -> Any:
    raise NotYet(
        "the density of one entry",
        missing="labels that are no numbers",
        instead="number the labels; leakage, its law, LDP and maximal leakage are closed forms.",
    )


def _draw_entry(
    ones: list, p: float, n: int, query: CountingQuery, x: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    count = np.isin(x, np.asarray(ones, float)) + rng.binomial(n, p, size=np.shape(x))
    return count / query.unit + rng.laplace(scale=query.scale, size=np.shape(x))


def _rows(prior: Measure, n: int, mechanism: Mechanism) -> np.ndarray:
    """Return the rows of a matrix in the order of D**n, as an array (|D|, ..., |D|, m)."""
    rows = np.asarray(mechanism.secret.positions(list((prior.on**n).labels), "x"))
    d = prior.on.size
    return mechanism.matrix[rows].reshape(*[d] * n, -1)


def finite_kernel(prior: Measure, n: int, mechanism: Mechanism, i: int) -> Mechanism:
    """Return the kernel of one entry for a finite mechanism on databases, a matrix."""
    kernel = _rows(prior, n, mechanism)
    others = product_law(prior, n - 1, prior.on ** (n - 1)).probabilities
    d, m = prior.on.size, kernel.shape[-1]
    kernel = np.moveaxis(kernel, i, 0).reshape(d, -1, m)
    rounding = 0.0
    if not (prior.rational and mechanism.rational):
        what = "bl.entry"
        others, kernel = as_floats(others, what), as_floats(kernel, what)
        require_no_underflow(what, others, kernel)
        own = (n - 1) * (max(prior.rounding, U) + U) + max(mechanism.rounding, U)
        rounding = compounded(own, (len(others) + 2) * U)
    matrix = (
        np.einsum("k,dkm->dm", others, kernel, optimize=False)
        if rounding
        else (np.stack([others @ block for block in kernel]))
    )
    out = Mechanism._from_matrix(
        matrix,
        prior.on,
        mechanism.outcome,
        f"entry {i} of {mechanism.name or 'a mechanism'}",
        rounding,
    )
    out.unproved = carried(prior, mechanism)
    return out


def binomial_others(n: int, one: Ends) -> Measure:
    """Return the number of ones among n - 1 independent bits, P{1} being given."""
    others = binomial_law(n - 1, one, Integers(0, n - 1))
    if others is None:
        raise NotYet(
            "bl.entry",
            missing=f"the law of {n - 1} bits, some of which float64 cannot hold",
            instead="a prior of Fractions with small denominators.",
        )
    return others


def count_kernel(prior: Measure, given: tuple[Measure, Measure], mechanism: Mechanism) -> Mechanism:
    """Return the kernel of one bit for a finite mechanism about the number of ones.

    ``given`` are the laws of the number of ones among the other bits, given a 0 and given a 1.
    """
    if not mechanism.finite:
        raise NotYet(
            "bl.entry",
            missing="outcomes that are not finite, but for bl.mechanisms.counting_query",
        )
    n = mechanism.secret.size - 1
    laws, kernel = [others.probabilities for others in given], mechanism.matrix
    error = 0.0
    if not (all(others.rational for others in given) and mechanism.rational):
        laws = [as_floats(w, "bl.entry") for w in laws]
        kernel = as_floats(kernel, "bl.entry")
        own = max(others.rounding for others in given)
        error = compounded(max(own, U), max(mechanism.rounding, U), (n + 4) * U)
    parts = kernel[:-1], kernel[1:]
    rows = [w @ part for w, part in zip(laws, parts, strict=True)]
    if error and any(map(_may_lose, laws, parts, rows)):
        raise InvalidInput(
            "bl.entry",
            expected="a kernel of one bit that float64 can hold",
            got="probabilities of outcomes that are near 1e-271 or below it",
            mend="give the prior and the mechanism as Fractions.",
        )
    matrix = np.stack([rows[int(label)] for label in prior.on.labels])
    out = Mechanism._from_matrix(
        matrix, prior.on, mechanism.outcome, f"one entry of {mechanism.name or 'a count'}", error
    )
    out.unproved = carried(prior, mechanism)
    return out


def _may_lose(w: np.ndarray, kernel: np.ndarray, sums: np.ndarray) -> bool:
    """Whether sums w @ kernel may have lost products to underflow: a lost mass is not a zero."""
    small = sums < CLEAR
    return bool(((w > 0).astype(float) @ (kernel[:, small] > 0)).any())


def mixture_kernel(prior: Measure, n: int, mechanism: Mechanism, i: int) -> Mechanism:
    """Mix the density of a mechanism on small databases of numbers over the other entries."""
    if mechanism.density is None or mechanism.masses:
        raise NotYet("bl.entry", missing=f"{mechanism!r} on databases")
    others = prior.on ** (n - 1)
    law = product_law(prior, n - 1, others)
    weights = np.asarray(law.probabilities, float)
    labels = [label if n > 2 else (label,) for label in others.labels]
    kept = [(w, label) for w, label in zip(weights, labels, strict=True) if w > 0]
    inner = mechanism.density

    def density(y: Any, x: Any) -> Any:
        def at(rest: tuple) -> Any:
            point = [
                np.full_like(x, float(v)) if isinstance(x, np.ndarray) else float(v) + 0.0 * x
                for v in rest
            ]
            return inner.linear(y, (*point[:i], x, *point[i:]))

        return sum(float(w) * at(rest) for w, rest in kept)

    opaque = f"a mixture of {len(kept)} kernels" if len(kept) > _TRACED else ""
    if law.rounding > _FINE:
        opaque = f"weights of a mixture that may be off by {law.rounding:.2g} of themselves"
    out = Mechanism(
        None, secret=prior.on, outcome=mechanism.outcome, name=f"entry {i} of {mechanism.name}"
    )
    spaces = {"y": mechanism.outcome, "x": prior.on}
    out.density = Density(density, spaces, opaque=opaque)
    out.breaks = mechanism.breaks
    out.normalisation = _rounded("the weights of the mixture are floats")
    return out
