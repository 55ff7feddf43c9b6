"""Certificates of figures of a finite joint: the table is written down, the checker computes."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from borel.checker import FORMAT
from borel.checker.tables import FIGURES
from borel.errors import NotYet
from borel.mechanisms.response import Epsilon, RandomizedResponseForms
from borel.numerics.intervals.rounding import U
from borel.probability.arrays import carried

if TYPE_CHECKING:
    from collections.abc import Mapping

    from borel.probability.bound import Bound
    from borel.probability.joint import Joint
    from borel.probability.mechanism import Mechanism

WHAT = "a certificate"


def certificate(
    joint: Joint, figure: str, arguments: Mapping[str, Any], bound: Bound
) -> dict[str, Any]:
    """Return a certificate of a figure of a finite joint.

    Parameters
    ----------
    joint : Joint
        With one prior and a matrix.
    figure : str
        As the checker names it, such as ``"pml.sup"``.
    arguments : mapping
        Of the figure: labels, levels in nats or ``{"ratio": Fraction}``, and so on.
    bound : Bound
        The figure; its ends are the claim.

    Raises
    ------
    NotYet
        No rule of the checker proves such a figure.
    """
    if not joint.finite:
        raise NotYet(WHAT, missing="a rule for a joint that is no table")
    if figure not in FIGURES:
        raise NotYet(WHAT, missing=f"a rule for {figure} of a finite joint")
    if reason := carried(joint.prior):
        raise NotYet(WHAT, missing=f"a proof of what float64 alone knows: {reason}")
    return claim(table_of(joint), figure, arguments, bound, {})


def table_of(joint: Joint) -> dict[str, Any]:
    """Return a finite joint with one prior as data."""
    secret = joint.mechanism.secret
    prior = law(joint.prior.at(secret), joint.prior.rounding)
    return table(joint.mechanism, secret, prior=prior)


def table(mechanism: Mechanism, secret: Any, **prior: Any) -> dict[str, Any]:
    """Return a finite kernel as data, with a ``prior``, or a set of ``priors``, as data."""
    if reason := carried(mechanism):
        raise NotYet(WHAT, missing=f"a proof of what float64 alone knows: {reason}")
    return {
        "secret": names(secret),
        "outcome": names(mechanism.outcome),
        "matrix": matrix(mechanism, secret),
        **prior,
    }


def claim(
    joint: dict[str, Any],
    figure: str,
    arguments: Mapping[str, Any],
    bound: Bound,
    proof: Mapping[str, Any],
) -> dict[str, Any]:
    """Return the record of a certificate about a joint as data.

    Whatever is proved may be certified: what a figure over a set that was learnt from a sample
    says of the set, and bounds that leave a question undecided.
    """
    if bound.status == "estimate":
        raise NotYet(WHAT, missing="a proof of an estimate")
    return {
        "format": FORMAT,
        "figure": figure,
        "arguments": {name: argument(name, value) for name, value in arguments.items()},
        "lower": number(bound.lower),
        "upper": number(bound.upper),
        "joint": joint,
        "proof": dict(proof),
    }


def number(value: Any) -> str:
    """Return a number as the checker reads it: a float in hexadecimal, a Fraction ``"p/q"``."""
    if isinstance(value, (Fraction, int)):
        return "{}/{}".format(*value.as_integer_ratio())
    return float(value).hex()


def argument(name: str, value: Any) -> Any:
    """Return an argument of a figure as data."""
    if name in ("x", "y"):
        return label(value)
    if name == "t":
        level = value if isinstance(value, dict) else {"nats": value}
        return {unit: number(v) for unit, v in level.items()}
    if isinstance(value, list):
        return [number(v) for v in value]
    return value if isinstance(value, (str, bool)) else number(value)


def label(value: Any) -> str:
    """Return a label as a certificate writes it."""
    return repr(value.item() if isinstance(value, np.generic) else value)


def names(alphabet: Any) -> list[str]:
    """Return the labels of a finite alphabet as strings, each once."""
    found = [label(value) for value in alphabet.labels]
    if len(set(found)) < len(found):
        raise NotYet(WHAT, missing="labels that are told apart by how they are written")
    return found


def law(values: np.ndarray, rounding: float) -> dict[str, Any]:
    """Return probabilities, or rows of them, as data: Fractions, or floats with their rounding."""
    if values.dtype == object:
        return {"entries": _written(values)}
    return {"entries": _written(values), "rounding": number(_covering(values, rounding))}


def _written(values: np.ndarray) -> list:
    if values.ndim > 1:
        return [_written(part) for part in values]
    return [number(Fraction(v) if values.dtype == object else v) for v in values]


def _covering(values: np.ndarray, rounding: float) -> float:
    """Return the rounding, or how far the rows are from themselves divided by their sums."""
    sums = [sum(map(Fraction, row)) for row in np.atleast_2d(values).tolist()]
    miss = max(abs(total - 1) / total for total in sums)
    up = float(miss)
    return float(max(rounding, U, up if miss <= Fraction(up) else np.nextafter(up, 1.0)))


def matrix(mechanism: Mechanism, secret: Any) -> dict[str, Any]:
    """Return the kernel as data; randomised response by its formula, which is what it means."""
    forms = mechanism.closed_forms
    if isinstance(forms, RandomizedResponseForms) and secret == mechanism.outcome:
        level = forms.level
        meant = {"nats": level.epsilon} if isinstance(level, Epsilon) else {"ratio": level.ratio}
        return {"randomized_response": {unit: number(v) for unit, v in meant.items()}}
    rows = np.asarray(mechanism.secret.positions(list(secret.labels), "x"))
    return law(mechanism.matrix[rows], mechanism.rounding)
