"""The joint that a result is about, as data: what its certificates are to be about as well."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from borel.engine.certificates.asked import joint_of
from borel.errors import NotYet

if TYPE_CHECKING:
    from collections.abc import Mapping

    from borel.probability.joint import Joint


def as_data(joint: Joint) -> dict[str, Any]:
    """Return a joint as its certificates name it, for a result.

    Parameters
    ----------
    joint : Joint
        The joint of a study.

    Returns
    -------
    dict
        ``one``, the joint itself, for a single prior; ``set``, and ``nominal`` for its nominal
        prior, for a set of priors; ``draws``, without a prior, for a posterior over priors. What no
        certificate can be about is left out.
    """
    from borel.audits.set_audit import is_set
    from borel.priors.posteriors import PosteriorPriors
    from borel.priors.set_leakage import nominal_joint

    kind = "draws" if isinstance(joint.prior, PosteriorPriors) else "one"
    parts = {kind: joint}
    if is_set(joint):
        parts = {"set": joint, "nominal": nominal_joint(joint)}
    found = {}
    for name, part in parts.items():
        try:
            if part is not None:
                found[name] = joint_of(part)
        except NotYet:
            continue
    return found


def foreign(joint: Mapping[str, Any], named: Mapping[str, Any], part: str) -> str:
    """Say what a certificate is about that the joint of its result is not; else nothing.

    Parameters
    ----------
    joint : dict
        The joint of a certificate.
    named : dict
        That of the result, by `as_data`.
    part : str
        Which of its parts the figure is about. The prior of ``draws`` is not looked at.
    """
    own = named.get(part)
    if own is None:
        return "this result does not name the joint that its certificate should be about"
    keys = {*own, *joint} - ({"prior"} if part == "draws" else set())
    wrong = sorted(key for key in keys if own.get(key) != joint.get(key))
    if not wrong:
        return ""
    words = {"matrix": "another matrix", "prior": "another prior", "kernel": "another kernel",
             "priors": "another set of priors"}  # fmt: skip
    other = ", ".join(words.get(key, f"another {key}") for key in wrong)
    return f"its certificate is about another joint than this result: {other}"
