"""Joints as data of certificates: graphs, ends and atoms, with numbers as strings."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from borel.engine.problem.secret_and_kernel import secret_of
from borel.errors import NotEnclosed, NotYet
from borel.probability.alphabets import Interval, Mixed

if TYPE_CHECKING:
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
    try:
        secret = secret_of(prior, ())
    except NotEnclosed as error:
        raise missing(figure, f"anything of such a prior ({error})") from error
    atoms = [
        [text(x), *map(text, (low, high))]
        for x, low, high in sorted(
            zip(secret.atoms[:, 0], secret.weight_low, secret.weight_high, strict=True)
        )
    ]
    line = _line(prior.on)
    if line is None:
        return {"density": None, "atoms": atoms}
    if prior.density is None or prior.density.graph is None:
        raise missing(figure, "anything of a prior that is not traced")
    return {"density": {"formula": formula(prior.density), **line}, "atoms": atoms}


def _outcome_as_data(mechanism: Any, figure: str) -> dict[str, Any]:
    outcome = mechanism.outcome
    line = _line(outcome)
    if line is not None:
        atoms = [[text(y), formula(mass)] for y, mass in sorted(mechanism.masses.items())]
        return {"line": line, "atoms": atoms}
    if not outcome.numeric:
        raise missing(figure, "a kernel of labels that are no numbers")
    return {"line": None, "atoms": [[text(y), None] for y in sorted(map(float, outcome.array))]}
