"""Attributes of the secret: functions of it, events, entries, columns, and randomised functions."""

from __future__ import annotations

import math
from collections.abc import Collection
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from borel.adversaries.beliefs import ends
from borel.databases.iid import entry
from borel.engine.problem.kernel_normalisation import statement
from borel.errors import InvalidInput, NotYet
from borel.figures.dispatch import require_joint
from borel.numerics.intervals.rounding import U as UNIT
from borel.numerics.intervals.rounding import compounded
from borel.probability.alphabets import Alphabet, Finite, no_match
from borel.probability.arrays import as_floats, carried, require_no_underflow
from borel.probability.joint import Joint
from borel.probability.measure import Measure
from borel.probability.mechanism import Mechanism
from borel.probability.normalisation import Normalisation

PAPER = "Rethinking Disclosure Prevention with Pointwise Maximal Leakage"
KINDS = (
    "a function of the secret, a Mechanism from it, an event (a set of labels), the number of an "
    "entry, or the name of a column"
)


_UNITS = 2**52
"""Weights of exact mixtures are multiples of 1 / 2^52."""


class Attribute:
    """A finite attribute U of some secrets: the kernel P_{U|X}, a row for each secret.

    Parameters
    ----------
    values : tuple
        What U may be.
    places : ndarray of int (secrets,), optional
        For a function of the secret: the position of its value.
    matrix : ndarray (secrets, values), optional
        For a randomised one P_{U|X}: of Fractions, or of floats that may be off by a relative
        ``rounding``.
    rounding : float
        That rounding; 0 for Fractions.
    unproved : str
        Why the matrix is known in float64 only, if it is.
    """

    def __init__(
        self,
        values: tuple,
        places: np.ndarray | None = None,
        matrix: np.ndarray | None = None,
        rounding: float = 0.0,
        unproved: str = "",
    ):
        self.values, self.places, self._matrix = values, places, matrix
        self.rounding, self.unproved = rounding, unproved

    @cached_property
    def matrix(self) -> np.ndarray:
        """P_{U|X}."""
        if self._matrix is not None:
            return self._matrix
        assert self.places is not None
        out = np.full((len(self.places), len(self.values)), Fraction(0), dtype=object)
        out[np.arange(len(self.places)), self.places] = Fraction(1)
        return out

    @property
    def rational(self) -> bool:
        """Whether the kernel is of Fractions."""
        return self._matrix is None or self._matrix.dtype == object

    @cached_property
    def ends(self) -> tuple[np.ndarray, np.ndarray]:
        """The smallest and the largest probabilities that the kernel stands for, as Fractions."""
        return ends(self.matrix, self.rounding)

    def masses(self, weights: np.ndarray, end: int) -> list[Fraction]:
        """Return the sums of P(u|x) w(x) for each value u, the lower (0) or the upper (1) ends."""
        if self.places is None:
            return list(weights @ self.ends[end])
        out = [Fraction(0)] * len(self.values)
        for place, weight in zip(self.places.tolist(), weights.tolist(), strict=True):
            out[place] += weight
        return out

    def told(self, possible: np.ndarray) -> Any:
        """Return the position of the value that all of some secrets have surely; None if none."""
        if self.places is not None:
            found = np.unique(self.places[possible])
        else:
            found = np.flatnonzero(np.asarray(self.matrix[possible] != 0, bool).any(axis=0))
        return int(found[0]) if len(found) == 1 else None

    @property
    def constant(self) -> bool:
        """Whether it is the same whatever the secret."""
        rows = self.places if self.places is not None else self.matrix
        return self.told(np.ones(len(rows), bool)) is not None


def of_secret(attribute: Any, secret: Alphabet, labels: Any, what: str) -> Attribute:
    """Return an attribute, however it was given, at some labels of a finite alphabet.

    Raises
    ------
    InvalidInput
        Something that is no attribute, or one of other secrets.
    """
    labels = list(labels)
    if isinstance(attribute, Mechanism):
        return _randomised(attribute, secret, labels, what)
    if attribute is None:
        found: list = labels
    elif isinstance(attribute, str) or _is_number(attribute):
        place = _place(attribute, secret, what)
        found = labels if secret.dim == 1 else [label[place] for label in labels]
    elif callable(attribute):
        found = [attribute(label) for label in labels]
    else:
        event = _event(attribute, secret, what)
        found = [label in event for label in labels]
    found = [int(v) if isinstance(v, (bool, np.bool_)) else v for v in found]
    try:
        values = Finite(list(dict.fromkeys(found))).labels
    except TypeError:
        raise InvalidInput(
            what,
            expected="a function to labels (numbers, strings, tuples)",
            got=repr(found[0]),
            where=f"x = {labels[0]!r}",
        ) from None
    if set(values) == {0, 1}:
        values = (0, 1)
    place_of = {value: k for k, value in enumerate(values)}
    return Attribute(values, np.array([place_of[v] for v in found]))


def _randomised(kernel: Mechanism, secret: Alphabet, labels: list, what: str) -> Attribute:
    if not kernel.finite:
        raise NotYet(
            what,
            missing=f"an attribute that is no matrix: {kernel!r}",
            instead="a function of the secret, or a Mechanism between finite alphabets.",
        )
    if not set(labels) <= set(kernel.secret.labels):
        raise no_match(what, kernel.secret, secret)
    rows = kernel.matrix[np.asarray(kernel.secret.positions(labels, "x"))]
    labels_of_it = kernel.outcome.labels
    return Attribute(labels_of_it, None, rows, kernel.rounding, kernel.unproved)


def _is_number(attribute: Any) -> bool:
    return isinstance(attribute, (int, np.integer)) and not isinstance(attribute, bool)


def _place(attribute: Any, secret: Alphabet, what: str) -> int:
    """Return which part of the secret an entry number, or the name of a column, means."""
    if isinstance(attribute, str):
        if attribute in secret.columns:
            return secret.columns.index(attribute)
        raise InvalidInput(
            what,
            expected=f"the name of a column, of {list(secret.columns)}"
            if secret.columns
            else "a secret with named columns, from bl.table",
            got=repr(attribute),
        )
    if secret.dim > 1 and 0 <= attribute < secret.dim:
        return int(attribute)
    raise InvalidInput(
        what,
        expected=f"the number of an entry, 0 to {secret.dim - 1}"
        if secret.dim > 1
        else "a secret with several entries",
        got=repr(attribute),
        mend="an event is a set of labels: {label}.",
    )


def _event(attribute: Any, secret: Alphabet, what: str) -> frozenset:
    if not isinstance(attribute, Collection) or isinstance(attribute, (bytes, dict)):
        raise InvalidInput(what, expected=f"an attribute: {KINDS}", got=repr(attribute))
    try:
        event = frozenset(attribute)
    except TypeError:
        raise InvalidInput(
            what,
            expected="an event: a set of labels",
            got=repr(attribute),
            mend="labels are tuples.",
        ) from None
    for label in event:
        secret.check(label, "x")
    return event


def about_entry(joint: Any, attribute: Any) -> tuple[Any, Any]:
    """Turn the number of an entry of a database into the joint of that entry."""
    if hasattr(joint, "database") and getattr(joint, "i", None) is None and _is_number(attribute):
        return entry(joint, attribute), None
    return joint, attribute


def attribute(joint: Joint, U: Any) -> Joint:
    r"""Return the joint P_U x P_{Y|U} of an attribute of the secret and the outcome.

    .. math:: P_U(u) = \sum_x P_{U|X}(u|x) P_X(x), \qquad
              f(y|u) = \sum_x f(y|x) P_{X|U}(x|u)

    Parameters
    ----------
    joint : Joint
        ``prior * mech`` with a finite secret X, or with a database.
    U : callable, Mechanism, collection of labels, int or str
        The attribute, U - X - Y a Markov chain: a function of the secret, label by label; a kernel
        P_{U|X}, finite; an event, as the labels it has; the number of an entry, of a database or of
        a secret whose labels are tuples; the name of a column (see `bl.table`). An event, and a
        function to True and False, has the values 1 and 0.

    Returns
    -------
    Joint
        Every measure applies to it. Values of probability 0 are left out. Exact for Fractions and
        finite outcomes; with a density, figures are ``conditional``, as the weights of the mixture
        are floats.

    Raises
    ------
    InvalidInput
        Something that is no attribute of this secret.
    NotYet
        A secret that is not finite; a set of priors, of which the kernel of U moves with the prior.

    References
    ----------
    Saeidian, Cervia, Oechtering, Skoglund, "Rethinking Disclosure Prevention with Pointwise
    Maximal Leakage", Sections 2.1 and 3.1.

    Examples
    --------
    >>> from fractions import Fraction as F
    >>> import borel as bl
    >>> mech = bl.Mechanism.from_matrix([[F(1), F(0)], [F(1, 2), F(1, 2)], [F(0), F(1)]])
    >>> joint = bl.pmf([F(1, 2), F(1, 4), F(1, 4)]) * mech
    >>> about = attribute(joint, lambda x: x > 0)
    >>> about.prior.probabilities.tolist(), about.mechanism.matrix.tolist()[1]
    ([Fraction(1, 2), Fraction(1, 2)], [Fraction(1, 4), Fraction(3, 4)])
    """
    what = "bl.attribute"
    require_joint(joint, "attribute")
    joint, U = about_entry(joint, U)
    if U is None:
        return joint
    if joint.prior.over != "one prior":
        raise NotYet(
            what,
            missing=f"the law of Y given U under each prior of {joint.prior!r}",
            instead="bl.min_entropy and bl.remaining_entropy take sets of priors.",
        )
    if joint.secret.kind != "finite":
        raise NotYet(
            what,
            missing=f"the law of Y given U for secrets on {joint.secret!r}",
            instead="bl.min_entropy and bl.remaining_entropy take a function of such a secret.",
        )
    p, labels = charged(joint.prior)
    found = of_secret(U, joint.secret, labels, what)
    a, error, exact = found.matrix, 0.0, joint.prior.rational and found.rational
    if not exact:
        p, a = as_floats(p, what), as_floats(a, what)
        require_no_underflow(what, p, a)
        error = compounded(max(joint.prior.rounding, UNIT), found.rounding, (len(p) + 2) * UNIT)
    some = np.flatnonzero(np.asarray(a != 0, bool).any(axis=0))
    a, values = a[:, some], Finite([found.values[k] for k in some])
    law = p @ a
    unproved = carried(joint.prior, found)
    prior = Measure(law, values, rounding=error, unproved=unproved)
    back = (a * p[:, None] / law).T  # P_{X|U}, a row for each value
    if joint.mechanism.finite:
        kernel = _finite_kernel(joint.mechanism, labels, back, error, values)
    else:
        kernel = mixture(joint.mechanism, labels, as_floats(back, what), values)
        kernel.normalisation = Normalisation("rounded", "rounded: weights of a mixture are floats")
    kernel.unproved = carried(joint.prior, found, joint.mechanism)
    return prior * kernel


def charged(prior: Measure) -> tuple[np.ndarray, list]:
    """Return the positive probabilities of a finite prior, and their labels."""
    p = prior.probabilities
    keep = np.flatnonzero(np.asarray(p != 0, bool))
    labels = prior.on.labels
    return p[keep], [labels[i] for i in keep]


def _finite_kernel(
    mechanism: Mechanism, labels: list, back: np.ndarray, error: float, values: Finite
) -> Mechanism:
    what = "bl.attribute"
    rows = mechanism.matrix[np.asarray(mechanism.secret.positions(labels, "x"))]
    if not (back.dtype == object and rows.dtype == object):
        back, rows = as_floats(back, what), as_floats(rows, what)
        require_no_underflow(what, back, rows)
        own = compounded(error, error, UNIT) if error else UNIT
        error = compounded(own, max(mechanism.rounding, UNIT), (len(labels) + 4) * UNIT)
    name = f"{mechanism.name or 'a mechanism'}, about an attribute"
    return Mechanism._from_matrix(back @ rows, values, mechanism.outcome, name, error)


def mixtures(joint: Joint, labels: list, laws: list) -> tuple[Mechanism, Fraction]:
    """Return two mixtures of the densities at some secrets, as a kernel of two secrets.

    The weights are floats that sum to exactly 1.

    Parameters
    ----------
    joint : Joint
        With a finite secret.
    labels : list
        The secrets.
    laws : list
        For each mixture the lower and the upper ends of its weights, as Fractions.

    Returns
    -------
    kernel : Mechanism
        From 0 and 1.
    off : Fraction
        By what factor, at most, a ratio of the mixtures meant differs from one of the kernel: for
        the weights, and for the integrals of densities that are not exactly 1.
    """
    rows, off = [], Fraction(1)
    for low, high in laws:
        counts = [math.floor(v * _UNITS) for v in low]
        counts[int(np.argmax(counts))] += _UNITS - sum(counts)
        meant = [(a, b, Fraction(n, _UNITS)) for a, b, n in zip(low, high, counts, strict=True)]
        if any(b > 0 and min(a, w) <= 0 for a, b, w in meant):
            raise NotYet("bl.attribute", missing="mixtures with weights below 2^-52")
        off *= max(max(b / w, w / a) for a, b, w in meant if b > 0)
        rows.append([float(w) for *_, w in meant])
    kernel = mixture(joint.mechanism, labels, np.array(rows), Finite(2))
    known = statement(joint.mechanism, joint.prior)
    if known.proved:
        proof = "mixtures of densities that integrate to 1, with weights that sum to 1"
        kernel.normalisation = Normalisation.by(proof, known.miss)
    miss = Fraction(known.miss)
    return kernel, off * ((1 + miss) / (1 - miss)) ** 2


def mixture(mechanism: Mechanism, labels: list, weights: np.ndarray, values: Finite) -> Mechanism:
    """Return the kernel whose rows mix the densities at some secrets, with weights of floats."""
    if mechanism.density is None:
        raise NotYet("bl.attribute", missing=f"the density of {mechanism!r}")
    if not values.numeric:
        raise NotYet(
            "bl.attribute",
            missing=f"a density at the values {list(values.labels)!r}, which are no numbers",
            instead="number them: lambda x: [...].index(...).",
        )
    if mechanism.outcome.dim > 1:
        raise NotYet("bl.attribute", missing=f"mixtures of densities on {mechanism.outcome!r}")

    def by_value(u: Any, rows: list) -> Any:
        """Return the entry of each value: whole rows are chosen, so that their ratios are seen."""
        out = rows[-1]
        for value, row in zip(values.labels[-2::-1], rows[-2::-1], strict=True):
            out = np.where(np.equal(u, float(value)), row, out)
        return out

    def at(k: int, y: Any) -> Any:
        label = labels[k]
        if isinstance(label, tuple):
            return tuple(float(v) + 0.0 * y for v in label)
        return float(label) + 0.0 * y

    def mixed(parts: list) -> list:
        """Return the weighted sums of what each secret has, one for each value."""
        terms = [
            [float(w) * part for w, part in zip(row, parts, strict=True) if w > 0]
            for row in weights
        ]
        return [sum(own[1:], own[0]) for own in terms]

    inner = mechanism.density

    def density(y: Any, u: Any) -> Any:
        return by_value(u, mixed([inner.linear(y, at(k, y)) for k in range(len(labels))]))

    def mass(part: Any) -> Any:
        return lambda u: by_value(u, mixed([part.linear(at(k, u)) for k in range(len(labels))]))

    about: dict[str, Any] = {
        "secret": values,
        "outcome": mechanism.outcome,
        "breaks": mechanism.breaks,
        "name": f"{mechanism.name or 'a density'}, about an attribute",
    }
    if mechanism.masses:
        about["masses"] = {atom: mass(part) for atom, part in mechanism.masses.items()}
    return Mechanism(density, **about)
