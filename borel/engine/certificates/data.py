"""Joints as data of certificates: graphs, ends and atoms, with numbers as strings."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from borel.errors import NotYet
from borel.numerics.intervals.rounding import U
from borel.probability.alphabets import Interval, Mixed

if TYPE_CHECKING:
    from collections.abc import Iterable

    from borel.probability.density import Density
    from borel.probability.joint import Joint
    from borel.probability.measure import Measure


def missing(what: str, rule: str, instead: str = "") -> NotYet:
    """Return the error that says which rule would prove a figure."""
    return NotYet(f"a certificate of {what}", missing=f"no rule proves {rule}", instead=instead)


def text(value: Any) -> str:
    """Return a number as certificates write it: a Fraction as p/q, else a float in hexadecimal."""
    if isinstance(value, Fraction):
        return f"{value.numerator}/{value.denominator}"
    return float(value).hex()


def joint_as_data(joint: Joint, figure: str) -> dict[str, Any]:
    """Return a joint as certificates name it.

    Raises
    ------
    NotYet
        Alphabets of which the checker has no rules, or a density without a graph.
    """
    prior, mechanism = joint.prior, joint.mechanism
    outcome = mechanism.outcome
    if mechanism.density is None or mechanism.density.graph is None:
        raise missing(figure, "anything of a kernel that is not traced")
    if prior.on.dim > 1 or outcome.dim > 1:
        raise missing(figure, "anything of several secrets or outcomes")
    kinds = {prior.on.kind, outcome.kind}
    if "countable" in kinds:
        raise missing(figure, "anything of countable alphabets")
    return {
        "kernel": formula(mechanism.density),
        "prior": _prior_as_data(prior, figure),
        "outcome": _outcome_as_data(mechanism, figure),
    }


def formula(density: Density) -> dict[str, Any]:
    """Return a density as data."""
    assert density.graph is not None
    return {"graph": density.graph.to_json(), "log": bool(density.log)}


def _line(alphabet: Any) -> dict[str, str] | None:
    """Return the ends of the line of an alphabet, if it has one."""
    line = alphabet.interval if isinstance(alphabet, Mixed) else alphabet
    if not isinstance(line, Interval):
        return None
    return {"lower": text(line.lower), "upper": text(line.upper)}


def _prior_as_data(prior: Measure, figure: str) -> dict[str, Any]:
    """Return a prior as it was given, not as the engine reads it."""
    line = _line(prior.on)
    if line is not None:
        if prior.density is None or prior.density.graph is None:
            raise missing(figure, "anything of a prior that is not traced")
        density = {"formula": formula(prior.density), **line}
        return {"density": density, "atoms": _atoms(prior.masses.items(), U)}
    if prior.unproved or not prior.on.numeric:
        why = prior.unproved or "its labels are no numbers"
        raise missing(figure, f"anything of such a prior ({why})")
    return {
        "density": None,
        "atoms": _atoms(zip(prior.on.array, prior.probabilities, strict=True), prior.rounding),
    }


def _atoms(masses: Iterable[tuple[Any, Any]], rounding: float) -> list[list[str]]:
    """Return atoms that are charged, with the ends of their masses; Fractions are exact."""
    found = []
    for x, mass in sorted(masses):
        value = Fraction(mass)
        slack = 0 if isinstance(mass, Fraction) else Fraction(rounding) * value
        if value:
            found.append([text(x), text(value - slack), text(value + slack)])
    return found


def _outcome_as_data(mechanism: Any, figure: str) -> dict[str, Any]:
    outcome = mechanism.outcome
    line = _line(outcome)
    if line is not None:
        atoms = [[text(y), formula(mass)] for y, mass in sorted(mechanism.masses.items())]
        return {"line": line, "atoms": atoms}
    if not outcome.numeric:
        raise missing(figure, "a kernel of labels that are no numbers")
    return {"line": None, "atoms": [[text(y), None] for y in sorted(map(float, outcome.array))]}
