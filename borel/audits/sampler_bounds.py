r"""Lower bounds on the leakage of a sampler that can only be run: an audit of a black box.

Every bound is about an event E of outcomes, and an event is a post-processing: whatever ratio of
its probabilities is seen, the mechanism has it too. With p_x the prior of the input x,

* LDP is at least log P(E|x) / P(E|x');
* the supremum of PML is at least log P(E|x) / P(E);
* :math:`P\{\ell > t\} \ge \sum_x p_x \bigl(P(E_x|x) - e^t \sum_{x' \ne x} p_{x'} P(E_x|x') /
  (1 - e^t p_x)\bigr)^+` for disjoint E_x and :math:`e^t p_x < 1`. *Proof.* With A = {l > t},
  P(E|x) <= e^t P(E - A) + P(E and A) / p_x <= e^t P(E) + P(E and A) (1 / p_x - e^t), as
  f(y|x) <= e^t f(y) off A and f(y|x) <= f(y) / p_x everywhere. Write P(E) as the mean over x', and
  add up over the disjoint E_x. QED
* the envelope at delta is at least min_x log P(E_x|x) / P(E_x) for disjoint E_x of probability
  delta or more together: they are outcomes of a post-processing.

The events are chosen on one half of the draws and their probabilities are bounded on the other, by
Clopper and Pearson's intervals and the union bound: the confidence is exact for any number of
draws. Nothing is said from above: a sampler that leaks where no event looks is not caught.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from borel.constants import inside, real
from borel.errors import InvalidInput
from borel.probability.arrays import as_numbers, probability
from borel.probability.bound import Bound
from borel.probability.measure import Measure
from borel.probability.mechanism import Mechanism
from borel.probability.wrong_calls import explained

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MANY = 256
"""Distinct numbers from which on outcomes are binned; the most rows that are told apart."""
_BINS = 64
_SLACK = 1e-9
"""Relative room for the rounding of scipy's quantiles of beta laws."""


@explained
def audit_samples(
    sample: Any,
    inputs: Sequence[Any],
    *,
    prior: Any = None,
    size: int = 20_000,
    statistic: Callable[[Any], Any] | None = None,
    confidence: float = 0.95,
    rng: Any = None,
) -> SamplerAudit:
    """Run a sampler on some inputs, and return lower bounds on what it leaks.

    Parameters
    ----------
    sample : callable or Mechanism
        ``sample(x, size, rng)`` returns ``size`` independent outcomes of the input ``x``: an array
        whose first axis has that length.
    inputs : sequence
        Two inputs or more, of any kind: values, or neighbouring databases.
    prior : Measure or sequence of float, optional
        The probabilities of the inputs, for PML and its envelope: the secret is one of these
        inputs. Of a Measure whose labels the inputs are, theirs; else in the order of the inputs.
        Uniform if not given.
    size : int
        Draws for each input, half of them to choose events.
    statistic : callable, optional
        Applied to each array of outcomes before anything else; it must return one number or label
        for each, that depends on this outcome alone (no rank, no difference from the mean of the
        array). Needed for outcomes that are rows of continuous numbers.
    confidence : float
        Of each bound by itself.
    rng : Generator or int, optional
        Passed to ``np.random.default_rng``.

    Returns
    -------
    SamplerAudit
        ``.ldp()``, ``.pml()``, ``.tail(t)`` and ``.envelope(delta)``: statistical lower bounds.

    Raises
    ------
    InvalidInput
        Fewer than two inputs, a prior of another length, outcomes of another length.

    Notes
    -----
    Statements and proofs are at the head of borel/audits/sampler_bounds.py. The draws must be
    independent, which no test shows.

    References
    ----------
    Clopper, Pearson, Biometrika 26 (1934); Jagielski, Ullman, Oprea, "Auditing Differentially
    Private Machine Learning" (2020).

    Examples
    --------
    >>> import borel as bl
    >>> found = audit_samples(bl.mechanisms.randomized_response(k=2, epsilon=1.0), [0, 1], rng=1)
    >>> 0.8 < found.ldp().lower < 1.0, found.ldp().upper
    (True, inf)
    """
    confidence = inside("audit_samples", "confidence", confidence)
    chosen = list(inputs) if isinstance(inputs, Iterable) else [inputs]
    if len(chosen) < 2:
        raise InvalidInput(
            "audit_samples", expected="two inputs or more", got=f"{len(chosen)} input(s)"
        )
    size = real("audit_samples", size, "size, 4 or more draws")
    if isinstance(size, bool) or not 4 <= size < math.inf or int(size) != size:
        raise InvalidInput("audit_samples", expected="size, 4 or more draws", got=repr(size))
    if not callable(sample) and not isinstance(sample, Mechanism):
        raise InvalidInput(
            "audit_samples",
            expected="a function sample(x, size, rng), or a Mechanism",
            got=repr(sample),
        )
    if statistic is not None and not callable(statistic):
        raise InvalidInput(
            "audit_samples", expected="statistic=, a function of outcomes", got=repr(statistic)
        )
    p = _prior_of(prior, chosen)
    generator = np.random.default_rng(rng)
    draw = _mechanism_sampler(sample) if isinstance(sample, Mechanism) else sample
    outcomes = [_outcomes(draw, x, int(size), generator, statistic) for x in chosen]
    if len({o.shape[1:] for o in outcomes}) > 1:
        raise InvalidInput(
            "audit_samples",
            expected="outcomes of one shape",
            got=", ".join(sorted({str(o.shape[1:]) for o in outcomes})),
            mend="give statistic=, or let the sampler fill its rows up.",
        )
    half = int(size) // 2
    try:
        codes, cells = _coded(outcomes, half)
    except TypeError:
        raise InvalidInput(
            "audit_samples",
            expected="outcomes that have an order: numbers, or text",
            got=repr(outcomes[0][:3]),
            mend="give statistic=, a function that makes one number or text of each.",
        ) from None
    counted = [np.bincount(c[:half], minlength=cells + 1) for c in codes]
    tested = [np.bincount(c[half:], minlength=cells + 1) for c in codes]
    return SamplerAudit(chosen, p, np.array(counted), np.array(tested), confidence)


def _prior_of(prior: Any, inputs: list) -> NDArray:
    n = len(inputs)
    if prior is None:
        return np.full(n, 1 / n)
    masses = prior
    if isinstance(prior, Measure):
        masses, labels = prior.probabilities, list(prior.on.labels)
        places = [
            labels.index(x) if isinstance(x, Hashable) and x in labels else -1 for x in inputs
        ]
        if min(places) >= 0 and not prior.batch:
            masses = masses[places]
        elif max(places) >= 0 or labels != [*range(len(labels))]:
            raise InvalidInput(
                "audit_samples",
                expected="inputs that are the labels of the prior",
                got=f"inputs {inputs!r}, labels {labels!r}",
                mend="give prior= as a list, in the order of the inputs.",
            )
    p = as_numbers(masses)[0].astype(float)
    if p.shape != (n,) or not (p > 0).all() or abs(p.sum() - 1) > 1e-12:
        raise InvalidInput(
            "audit_samples",
            expected=f"a positive probability for each of {n} inputs, with sum 1",
            got=repr(prior),
        )
    return p


def _mechanism_sampler(mechanism: Mechanism) -> Callable[[Any, int, Any], Any]:
    def sample(x: Any, size: int, rng: Any) -> Any:
        if mechanism.secret.dim > 1:
            return mechanism.sample(tuple(np.full(size, v) for v in x), rng=rng)
        array = np.empty(size, dtype=object if isinstance(x, tuple) else np.asarray(x).dtype)
        array.fill(x)
        return mechanism.sample(array, rng=rng)

    return sample


def _outcomes(draw: Any, x: Any, size: int, rng: Any, statistic: Any) -> NDArray:
    drawn = draw(x, size, rng)
    try:
        found = np.asarray(drawn)
    except ValueError:  # rows of several lengths
        found = np.empty(len(drawn), dtype=object)
        found[:] = drawn
    if statistic is not None:
        found = np.asarray(statistic(found))
    if found.ndim == 0 or len(found) != size:
        raise InvalidInput(
            "audit_samples",
            expected=f"sample(x, size, rng) to return {size} outcomes",
            got=f"shape {found.shape}",
            where=f"x = {x!r}",
        )
    return found if found.ndim == 1 else found.reshape(size, -1)


def _coded(outcomes: list[NDArray], half: int) -> tuple[list[NDArray], int]:
    """Return outcomes as numbers of cells, which the first halves choose; the last is the rest."""
    first = np.concatenate([o[:half] for o in outcomes])
    everything = np.concatenate(outcomes)
    if first.ndim == 1:
        values, counts = np.unique(first, return_counts=True)
        if len(values) > _MANY and first.dtype.kind in "fiu":
            known = first[~np.isnan(first)]
            levels = np.arange(1, _BINS) / _BINS
            edges = np.unique(np.quantile(known, levels, method="inverted_cdf"))
            code = np.searchsorted(edges, everything, side="right")
            return np.split(code, len(outcomes)), len(edges) + 1
        _, code = np.unique(everything, return_inverse=True)
    else:
        _, counts = np.unique(first, axis=0, return_counts=True)
        if first.dtype.kind == "f" and len(counts) > len(first) / 2:
            raise InvalidInput(
                "audit_samples",
                expected="outcomes that recur, or one number each",
                got=f"rows of {first.shape[1]} numbers, nearly all different",
                mend="give statistic=, a function that makes one number of each outcome.",
            )
        _, code = np.unique(everything, axis=0, return_inverse=True)
    parts = [part for part in np.split(code.reshape(-1), len(outcomes))]
    seen = np.bincount(np.concatenate([part[:half] for part in parts]), minlength=code.max() + 1)
    kept = np.argsort(-seen, kind="stable")[: min(_MANY, int((seen > 0).sum()))]
    number = np.full(len(seen), len(kept))
    number[kept] = np.arange(len(kept))
    return [number[part] for part in parts], len(kept)


@dataclass(frozen=True, repr=False)
class SamplerAudit:
    """Lower bounds on what a sampler leaks, from draws; made by `audit_samples`.

    Attributes
    ----------
    inputs : list
        What it was run on.
    prior : ndarray
        Probabilities of the inputs.
    chosen_on, tested_on : ndarray (input, cell)
        How many draws fell into each cell of outcomes: of the half on which events are chosen, and
        of the half on which they are tested. The last cell holds all that the first half lacks.
    confidence : float
        Of each bound by itself.
    """

    inputs: list
    prior: NDArray
    chosen_on: NDArray
    tested_on: NDArray
    confidence: float

    def ldp(self) -> Bound:
        """Return a lower bound on the level of LDP: how far two of the inputs can be told apart.

        For neighbouring databases as inputs it is one on the epsilon of differential privacy.
        """
        draws = self.chosen_on.sum(axis=1)
        best, event, pair = -math.inf, None, (0, 1)
        for i in range(len(self.inputs)):
            for j in range(len(self.inputs)):
                if i == j:
                    continue
                order = self._by_ratio(self.chosen_on[i], self.chosen_on[j])
                hits = np.cumsum(self.chosen_on[[i, j]][:, order], axis=1)
                low = _lower(hits[0], draws[i], (1 - self.confidence) / 2)
                high = _upper(hits[1], draws[j], (1 - self.confidence) / 2)
                at = int(np.argmax(low / high))
                if low[at] / high[at] > best:
                    best, pair = low[at] / high[at], (i, j)
                    event = np.isin(np.arange(len(order)), order[: at + 1])
        assert event is not None
        low, high = self._ends(event, 2)
        ratio = low[pair[0]] / high[pair[1]]
        x, other = (self.inputs[i] for i in pair)
        return self._bound(_log(ratio), "nats", {"x": x, "against": other})

    def pml(self) -> Bound:
        """Return a lower bound on the supremum of PML under the prior."""
        best, event, at = -math.inf, None, 0
        total, k = self.chosen_on.sum(axis=1), len(self.inputs)
        alpha = (1 - self.confidence) / k
        for i in range(k):
            order = self._by_ratio(self.chosen_on[i], self._mixture())
            hits = np.cumsum(self.chosen_on[:, order], axis=1)
            low = _lower(hits[i], total[i], alpha)
            high = _upper(hits, total[:, None], alpha)
            value = self._event_ratio(i, low, high)
            where = int(np.argmax(value))
            if value[where] > best:
                best, at = value[where], i
                event = np.isin(np.arange(len(order)), order[: where + 1])
        assert event is not None
        low, high = self._ends(event, k)
        ratio = float(self._event_ratio(at, low[at], high))
        return self._bound(_log(ratio), "nats", {"x": self.inputs[at]})

    def tail(self, t: Any) -> Bound:
        """Return a lower bound on P{PML > t} under the prior.

        Parameters
        ----------
        t : float
            Nats, >= 0.
        """
        nats = real("SamplerAudit.tail", t, "t >= 0 (nats)")
        if not nats >= 0:
            raise InvalidInput("SamplerAudit.tail", expected="t >= 0 (nats)", got=repr(t))
        level = math.exp(nats) * (1 + _SLACK) if nats < 700 else math.inf
        events = {i: event for i, event in self._events(level).items() if level * self.prior[i] < 1}
        k, mass = len(self.inputs), 0.0
        for i, event in events.items():
            low, high = self._ends(event, k * len(events))
            gain = low[i] - level * self._others(i, high) / (1 - level * self.prior[i])
            mass += max(0.0, float(self.prior[i] * gain))
        return self._bound(mass * (1 - _SLACK), "probability", None, upper=1.0)

    def envelope(self, delta: Any) -> Bound:
        """Return a lower bound on the envelope of PML at delta: after any post-processing.

        Parameters
        ----------
        delta : float
            0 < delta <= 1, a probability.
        """
        delta = probability("SamplerAudit.envelope", "delta", delta)
        if not delta:
            raise InvalidInput("SamplerAudit.envelope", expected="0 < delta <= 1", got="0")
        ratios = self._ratios()
        best: tuple[float, dict[int, NDArray]] = (0.0, {})
        for level in np.unique(ratios.max(axis=0))[::-1]:
            events = self._events(float(level) * (1 - _SLACK))
            ends = self._disjoint(events, self.chosen_on, room=10.0)
            if ends is not None and ends[1] >= delta and ends[0] > best[0]:
                best = ends[0], events
        if not best[1]:
            return self._bound(0.0, "nats", None)
        found = self._disjoint(best[1], self.tested_on)
        low = found[0] if found is not None and found[1] >= delta else 0.0
        return self._bound(_log(low), "nats", {"x": [self.inputs[i] for i in best[1]]})

    # -- events and their probabilities ---------------------------------------------------------

    def _mixture(self) -> NDArray:
        """Return the law of the cells under the prior, as the first half has it."""
        return self.prior @ (self.chosen_on / self.chosen_on.sum(axis=1, keepdims=True))

    def _ratios(self) -> NDArray:
        """Return P(cell|x) / P(cell) as the first half has it, 0 where nothing was seen."""
        law, mean = self.chosen_on / self.chosen_on.sum(axis=1, keepdims=True), self._mixture()
        return np.where(mean > 0, law / np.where(mean > 0, mean, 1.0), 0.0)

    @staticmethod
    def _by_ratio(of: NDArray, to: NDArray) -> NDArray:
        """Return cells by falling ratio of two counts, a half added so that none is 0."""
        return np.argsort(
            -(of + 0.5) / (to * of.sum() / max(to.sum(), 1e-300) + 0.5), kind="stable"
        )

    def _events(self, level: float) -> dict[int, NDArray]:
        """Return disjoint events: cells whose ratio is above a level, by the input of the largest.

        Where they are all cells that were seen, the cell of the rest goes with the first.
        """
        ratios = self._ratios()
        leader, above = ratios.argmax(axis=0), ratios.max(axis=0) > level
        events = {int(i): above & (leader == i) for i in np.unique(leader[above])}
        if events and above[:-1].all():
            events[next(iter(events))][-1] = True
        return events

    def _disjoint(
        self, events: dict[int, NDArray], counts: NDArray, room: float = 1.0
    ) -> tuple[float, float] | None:
        """Bound e^leakage of each event and the probability of all of them from below."""
        if not events:
            return None
        k = len(self.inputs)
        parts = (len(events) + 1) * k * room
        ratios = []
        for i, event in events.items():
            low, high = self._ends(event, parts, counts)
            ratios.append(float(self._event_ratio(i, low[i], high)))
        union = np.any([*events.values()], axis=0)
        low, _ = self._ends(union, parts, counts)
        return min(ratios), 1.0 if union.all() else float(self.prior @ low) * (1 - _SLACK)

    def _event_ratio(self, i: int, low: Any, high: Any) -> Any:
        """Return P(E|x) / P(E) from below: it rises with P(E|x) and falls with the others."""
        return low / np.maximum(self.prior[i] * low + self._others(i, high), 1e-300)

    def _others(self, i: int, values: Any) -> Any:
        """Add up what the inputs but i contribute to a mean under the prior."""
        return np.delete(self.prior, i) @ np.delete(values, i, axis=0)

    def _ends(
        self, event: NDArray, parts: float, counts: NDArray | None = None
    ) -> tuple[NDArray, NDArray]:
        """Bound the probability of an event under each input, each end up to a share of alpha."""
        counts = self.tested_on if counts is None else counts
        alpha = (1 - self.confidence) / parts
        hits, total = counts[:, event].sum(axis=1), counts.sum(axis=1)
        low, high = _lower(hits, total, alpha), _upper(hits, total, alpha)
        return low * (1 - _SLACK), np.minimum(high * (1 + _SLACK), 1.0)

    def _bound(
        self, lower: float, units: str, witness: dict | None, upper: float = math.inf
    ) -> Bound:
        about = (
            "a lower bound from draws: nothing is said from above",
            f"independent draws of the sampler, {self.tested_on.sum(axis=1).min()} an input to "
            "test events that were chosen on others (Clopper and Pearson, 1934)",
        )
        return Bound.statistical(
            max(lower, 0.0),
            upper,
            confidence=self.confidence,
            units=units,
            assumptions=about,
            witness=witness,
        )

    def __repr__(self) -> str:
        """Show how it was run, and the bounds on LDP and PML."""
        return (
            f"SamplerAudit({len(self.inputs)} inputs, {self.tested_on.sum(axis=1).min()} draws "
            f"each to test: LDP >= {self.ldp().lower:.4g}, PML >= {self.pml().lower:.4g} nats, at "
            f"confidence {self.confidence:g} each)"
        )


def _log(ratio: Any) -> float:
    return math.log(ratio) - _SLACK if ratio > 0 else 0.0


def _lower(hits: NDArray, n: Any, alpha: float) -> NDArray:
    """Return Clopper and Pearson's lower ends of many counts."""
    from scipy.stats import beta

    return np.where(hits > 0, beta.ppf(alpha, np.maximum(hits, 1), n - hits + 1), 0.0)


def _upper(hits: NDArray, n: Any, alpha: float) -> NDArray:
    """Return Clopper and Pearson's upper ends of many counts."""
    from scipy.stats import beta

    return np.where(hits < n, beta.isf(alpha, hits + 1, np.maximum(n - hits, 1)), 1.0)
