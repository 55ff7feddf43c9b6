"""Certificates: figures as data that another program can verify, made when they are asked for.

No figure waits for one: engines make certificates only where `wanted` says so, which is so only
while `certificate_of` computes a figure again.
"""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from borel import settings
from borel.errors import NotYet

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from borel.probability.bound import Bound
    from borel.settings import Options

_KEPT: ContextVar[dict[Any, dict] | None] = ContextVar("borel_certificates", default=None)
"""What is remembered while certificates are made; None where none are."""


def wanted() -> bool:
    """Return whether figures are computed to have certificates."""
    return _KEPT.get() is not None


@contextmanager
def making(some: bool = True) -> Iterator[None]:
    """Let figures of the block be computed with their certificates, or (``some=False``) without."""
    token = _KEPT.set({} if some else None)
    try:
        yield
    finally:
        _KEPT.reset(token)


def kept(owner: Any, name: str) -> dict:
    """Return the dict in which an object remembers figures or engines under a name.

    While certificates are made it is another one, which is forgotten with them: so a figure that
    was computed before hides no certificate, and making one changes no figure.
    """
    apart = _KEPT.get()
    if apart is None:
        return owner.__dict__.setdefault(name, {})
    return apart.setdefault((owner, name), {})


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
    again : callable
        Computes the figure anew, under the options in force.
    """

    joint: Any
    figure: str
    arguments: tuple
    options: Options
    again: Callable[[], Bound]

    def __repr__(self) -> str:
        """Show the figure as a call, and what it is of."""
        prior, outcome = (getattr(self.joint, n, None) for n in ("prior", "outcome"))
        of = repr(self.joint) if prior is None else f"{prior!r} with outcomes on {outcome!r}"
        return f"{self.figure}({', '.join(map(str, self.arguments))}) of {of}"

    def certified(self, bound: Bound) -> Bound:
        """Return the figure with its certificate."""
        return certificate_of(self, bound)


_NO_RULE = {
    "exact": "a rule for closed forms and rational arithmetic: an exact figure rests on the "
    "theorem that it names, or on arithmetic without rounding",
    "estimate": "anything to verify: an estimate proves nothing",
    "undecided": "anything to verify: the figure is undecided",
    "statistical": "a rule for figures that hold with a confidence",
}
"""What is missing for a certificate, by status."""


def certificate_of(question: Question, bound: Bound) -> Bound:
    """Return a figure with its certificate, and ends that may be a little wider.

    Parameters
    ----------
    question : Question
        What the figure answers.
    bound : Bound
        The figure.

    Raises
    ------
    NotYet
        No checker has a rule for it, or none verified it in time; the message says what is missing.
    """
    missing = _NO_RULE.get(bound.status)
    if missing is None:
        budget = max(question.options.budget, settings.current().budget)
        with settings.options(**{**vars(question.options), "budget": budget}), making():
            found = question.again()
        if found.certificate is not None:
            return found.answering(question)
        missing = (
            f"a rule by which a checker verifies {question!r} within the budget of {budget:g} s"
        )
    raise NotYet(
        "bound.certify()",
        missing=missing,
        instead=f"its status, {bound.status}, stands without a certificate.",
    )
