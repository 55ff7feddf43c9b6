"""Certificates of figures of a joint that has a kernel on a line: which search is for which."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from borel.checker import FORMAT
from borel.checker.joints import Joint as Checked
from borel.checker.models import working
from borel.engine.certificates.covers import Spent, Work, of_prior
from borel.engine.certificates.data import joint_as_data, missing, text
from borel.engine.certificates.infinities_on_rays import infinite
from borel.engine.certificates.laws import quantile, tail
from borel.engine.certificates.points import at_outcome, breaks
from borel.engine.certificates.suprema import supremum

if TYPE_CHECKING:
    from borel.probability.bound import Bound
    from borel.probability.joint import Joint

BITS = 128
DEGREES = {"at": 16, "sup": 8, "tail": 8, "cdf": 8, "quantile": 8}
"""The figures that are searched for, with the degree of the polynomials: one coordinate runs at an
outcome, two over outcomes."""
WORK = 200_000
"""Evaluations of a joint on a cell that a search may take."""


def certificate(
    joint: Joint, figure: str, arguments: dict[str, Any], bound: Bound, *, work: int = WORK
) -> dict[str, Any]:
    """Make the certificate of a figure of a joint that has a kernel.

    Parameters
    ----------
    joint : Joint
        The prior and the mechanism.
    figure : str
        ``"pml.at"``, ``"pmc.at"``, ``"pml.sup"``, ...
    arguments : dict
        Its arguments, such as ``{"y": 0.3}``.
    bound : Bound
        The claim: its lower and its upper end.
    work : int
        How many cells may be looked at.

    Returns
    -------
    dict
        What `borel.checker.verify` verifies.

    Raises
    ------
    NotYet
        No rule of the checker proves it; the message names what is missing.
    """
    kind, name = figure.split(".")
    if bound.status == "exact" and bound.upper < math.inf:
        instead = "with bl.options(closed_forms=False) figures are wide enough."
        raise missing(figure, "a closed form to its last digit", instead)
    header = {
        "format": FORMAT,
        "figure": figure,
        "arguments": {key: _argument(v) for key, v in arguments.items()},
        "lower": text(bound.ends.lower),
        "upper": text(bound.ends.upper),
        "joint": joint_as_data(joint, figure),
    }
    if bound.lower == math.inf and name not in ("at", "sup"):
        raise missing(figure, f"a {name} that is infinite")
    ends: Any = bound.ends.lower, bound.ends.upper
    left = Work(work)
    about: dict[str, Any] = {"bits": BITS, "degree": DEGREES[name]}
    with working(BITS, DEGREES[name]):
        checked = Checked(header["joint"])
        try:
            prior = of_prior(checked, breaks(joint), left)
            if prior is None and checked.density is not None:
                raise missing(figure, "that the prior has mass 1")
            if ends[0] == math.inf:
                found = infinite(joint, checked, kind, name, arguments, bound, prior, left)
                proof = {"rule": "diverge", **found}
            elif name == "at":
                proof = {"rule": "bounds"}
                proof |= at_outcome(joint, checked, kind, arguments["y"], ends, left)
            elif name == "sup":
                proof = {"rule": "bounds", **supremum(joint, checked, kind, bound, left)}
            elif name == "quantile":
                found = quantile(joint, checked, kind, arguments, ends, left)
                proof = {"rule": "labels", **found}
            else:
                found = tail(joint, checked, kind, name, arguments, ends, left)
                proof = {"rule": "labels", **found}
        except Spent:
            raise missing(figure, f"it within {work} cells") from None
    return {**header, "proof": {**about, **proof, "prior": prior}}


def _argument(value: Any) -> Any:
    return value if isinstance(value, (bool, str)) else text(value)
