"""Certificates: figures as data that another program can verify, made when they are asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from borel import settings
from borel.errors import NotYet

if TYPE_CHECKING:
    from borel.probability.bound import Bound
    from borel.settings import Options


@dataclass(frozen=True, eq=False)
class Question:
    """What a figure answers, so that a certificate of it can be made later.

    Attributes
    ----------
    joint : Joint or object
        What the figure is of: a joint, a set of priors, or a pair of measures.
    figure : str
        The measure, or the method of an engine that computes it: "ldp", "at", "sup", "tail", ...
    arguments : tuple
        What that is called with: ``("pml", 0.5, False)`` for a tail.
    options : Options
        The options in force.
    """

    joint: Any
    figure: str
    arguments: tuple
    options: Options

    def __repr__(self) -> str:
        """Show the figure as a call, and what it is of."""
        prior, outcome = (getattr(self.joint, n, None) for n in ("prior", "outcome"))
        of = repr(self.joint) if prior is None else f"{prior!r} with outcomes on {outcome!r}"
        return f"{self.figure}({', '.join(map(str, self.arguments))}) of {of}"

    def certified(self, bound: Bound) -> Bound:
        """Return the figure with its certificate."""
        return certificate_of(self, bound)


_NO_RULE = {
    "estimate": "anything to verify: an estimate proves nothing",
    "undecided": "anything to verify: the figure is undecided",
}
"""What is missing for a certificate, by status."""


def certificate_of(question: Question, bound: Bound) -> Bound:
    """Return a figure with its certificate, which the checker has verified once.

    Parameters
    ----------
    question : Question
        What the figure answers.
    bound : Bound
        The figure. Of one that holds with a confidence, over a set of priors that was learnt from a
        sample, the certificate is about the set as it is.

    Raises
    ------
    NotYet
        The checker has no rule for it, or does not take what was made; the message says what is
        missing.
    """
    from borel.checker import Refused, verify
    from borel.engine.certificates.asked import certificate

    missing = _NO_RULE.get(bound.status)
    if missing is None:
        try:
            with settings.options(**vars(question.options)):
                made = certificate(question.joint, question.figure, question.arguments, bound)
            verify(made)
            return bound.about(certificate=made).answering(question)
        except NotYet as error:
            missing = error.missing
        except Refused as error:
            missing = (
                f"a proof of {question!r} that the checker takes; it refuses this one at "
                f"{error.where}: {error.why}"
            )
    raise NotYet(
        "bound.certify()",
        missing=missing,
        instead=f"the figure is {bound.status} without a certificate as well.",
    )
