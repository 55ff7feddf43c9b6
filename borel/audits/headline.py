"""What a report says first: the verdicts, the leakage in words, where it is largest, its ceiling.

Each text is made of a Bound of the audit, and keeps the promise: what is an estimate or undecided
never sounds like a guarantee.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from borel.audits.sampling import SAMPLING
from borel.audits.serialisation import from_plain
from borel.audits.table import factor, label_in_words, percent, qualified, sentence, short
from borel.engine.figures import LEAKAGES, MeasureWords, in_reports
from borel.probability.alphabets import in_words

if TYPE_CHECKING:
    from borel.audits.audit_figures import AuditFigures
    from borel.audits.table import Row
    from borel.probability.bound import Bound

_GUESS = MeasureWords(
    "PML",
    "whatever anyone wants to know about the secret, the release multiplies their chance of "
    "guessing it right by e^epsilon = {f} at most (epsilon = {v} nats, {b} bits)",
    "the factor e^epsilon by which the release multiplies anyone's chance of guessing right what "
    "they want to know about the secret is about {f} (epsilon = {v} nats, {b} bits)",
    "there is something about the secret that the release lets one guess right more often by more "
    "than any factor",
)
"""Supremum of PML, as its definition reads: functions of the secret are guessed twice."""
_CEILING = MeasureWords(
    "LDP",
    "whatever the prior of these secrets is, no event about the secret becomes more than {f} times "
    "as probable, or as improbable, once the outcome is seen",
    "the largest factor by which an outcome changes the probability of an event about the secret, "
    "whatever the prior of these secrets, is about {f}",
    "there is no ceiling that holds for every prior: some outcomes are more likely under one "
    "secret than under another by more than any factor",
)
"""What a level of LDP says of every prior on the same secrets: it bounds LIP under each of them."""
_PLATEAU = 1e-3


@dataclass(frozen=True)
class VerdictText:
    """What the report says of a guarantee that was asked for.

    Attributes
    ----------
    answer : str
        "holds", "does not hold" or "is not decided".
    text : str
        The verdict in a sentence, with its probability or confidence.
    asks : str
        What the guarantee asks for, in words; empty if there are none.
    status : str
        The status of the figure it was read from.
    """

    answer: str
    text: str
    asks: str
    status: str


def verdict(row: Row, context: dict[str, Any]) -> VerdictText:
    """Return the verdict on a guarantee.

    Parameters
    ----------
    row : Row
        Its line of the table.
    context : dict
        As of `borel.audits.table.sentence`. Of a guarantee over a posterior of priors, whose Bound
        is a probability, ``holds`` is the answer at the posterior probability ``at``.
    """
    name = context.get("guarantee") or context.get("probability_of") or row.label
    holds, bound, asks = context.get("holds", "undecided"), row.bound, context.get("asks", "")
    if asks and row.title:
        kind = name.partition("(")[0]
        asks = f"{kind} is {row.title}; asked is that {asks}."
    if bound is None or bound.status in ("undecided", "estimate"):
        holds = "undecided"
    answer = {"yes": "holds", "no": "does not hold"}.get(holds, "is not decided")
    said = row.sentence.removeprefix("Not decided: ")
    if bound is None:
        said = f"this version cannot compute it: {said.rstrip('. ')}."
    elif "probability_of" in context and bound.status not in ("undecided", "estimate"):
        said = _random(bound, holds, context.get("at"))
    elif holds != "undecided":
        return VerdictText(answer, said, asks, row.status)
    said = f"{name} {answer}: {said[0].lower() if said[1:2].islower() else said[0]}{said[1:]}"
    return VerdictText(answer, said, asks, row.status)


def _random(bound: Bound, holds: str, at: float | None) -> str:
    """Say with what posterior probability a guarantee holds, or fails."""
    low, high = short(bound.lower, "down"), short(bound.upper, "up")
    known = "" if bound.confidence is None else f" (confidence {percent(bound.confidence)})"
    if holds == "yes":
        return f"with posterior probability at least {low}{known}."
    if holds == "no":
        return f"the posterior probability that it holds is {high} at most{known}."
    asked = "" if at is None else f", which does not settle it at {100 * at:g} %"
    return f"the posterior probability that it holds is between {low} and {high}{known}{asked}."


def verdicts(audit: AuditFigures, guarantees: list[Row]) -> list[VerdictText]:
    """Return the verdict on each guarantee of an audit."""
    return [verdict(row, _context(audit, row.name)) for row in guarantees]


def disclosed(audit: AuditFigures, attributes: list[Row]) -> list[VerdictText]:
    """Return which attributes are disclosed, in one sentence; nothing where none was asked for."""
    groups: dict[str, list[str]] = {}
    for row in attributes:
        context = _context(audit, row.name)
        said = context.get("verdict", "undecided").replace("undecided", "not decided")
        if row.status == "conditional":
            said += ", if the assumptions listed hold"
        if row.bound is not None and row.bound.confidence is not None:
            said += f", with confidence {100 * row.bound.confidence:g} %"
        name = f"“{in_words(context['attribute'])}”" if context else row.label
        groups.setdefault(said, []).append(name)
    if not groups:
        return []
    order = sorted(groups, key=lambda said: ("not" in said, "not decided" in said))
    text = " ".join(f"{said[0].upper()}{said[1:]}: {', '.join(groups[said])}." for said in order)
    answer = "holds"
    if any(not said.startswith("not disclosed") for said in groups):
        answer = "does not hold" if order[0].startswith("disclosed") else "is not decided"
    return [VerdictText(answer, text, "Disclosed: some outcome leaves no doubt about it.", "")]


def in_a_sentence(audit: AuditFigures) -> str:
    """Return the supremum of PML in words that need no other; empty if the audit has none."""
    if (bound := audit.get("pml")) is None:
        return ""
    return sentence("pml", bound, _context(audit, "pml"), _GUESS)


def ceiling(audit: AuditFigures) -> str:
    """Return the ceiling that needs no prior, a level of LDP, in words; empty without one.

    Over posterior draws it is the largest of them: LDP depends on a prior only through the secrets
    that have mass.
    """
    if (bound := audit.get("ldp")) is None:
        return ""
    context = _context(audit, "ldp")
    if audit.dataset("ldp/draws") is not None:
        about = audit.tree[SAMPLING].attrs if SAMPLING in audit.tree.children else {}
        if not about.get("same_secrets"):
            return ""  # no draw speaks of the secrets that only others have
        bound, context = audit.random("ldp").largest_draw(), {}
    elif context.get("over") == "set":
        context = {"confidence": context.get("confidence", "draws")}
    return sentence("ldp", bound, context, _CEILING)


def _context(audit: AuditFigures, name: str) -> dict[str, Any]:
    return json.loads(audit.tree[name].attrs.get("context", "{}"))


# -- where it leaks most --------------------------------------------------------------------


@dataclass(frozen=True)
class Place:
    """Where a leakage is largest: the measure, the outcome, the secret, and what is said of it."""

    label: str
    outcome: str
    secret: str
    text: str


_EFFECT = {"pml": "{} times as probable", "pmc": "{} times less probable"}


def places(audit: AuditFigures) -> list[Place]:
    """Return where the supremum of each leakage is attained, approached or found."""
    found = (_place(audit, kind) for kind in LEAKAGES if kind in audit)
    return [place for place in found if place is not None]


def _place(audit: AuditFigures, kind: str) -> Place | None:
    bound, label, context = audit[kind], in_reports()[kind].label, _context(audit, kind)
    if (worst := context.get("worst")) is not None:  # of one draw of the prior
        y, x = (label_in_words(from_plain(worst[name])) for name in ("y", "x"))
        draw = f"the posterior draw nearest to the {100 * context['quantile']:g} % quantile"
        text = f"Under {draw}, {label} is largest at the outcome {y}, about the secret {x}."
        return Place(label, y, x, text)
    witness = bound.witness or {}
    if "y" not in witness:
        return _plateau(audit, kind)
    y, x = label_in_words(witness["y"]), label_in_words(witness["x"]) if "x" in witness else "-"
    if "x" not in witness or bound.status == "undecided" or bound.upper == math.inf:
        how = "found by an estimate" if bound.status == "estimate" else "found"
        return Place(label, y, x, f"The largest {label} {how} is at the outcome {y}.")
    if bound.status == "estimate":
        effect = _EFFECT[kind].format(f"about {short(bound.ratio.upper, 'nearest')}")
        text = f"An estimate, which proves nothing: the outcome {y} makes the secret {x} {effect}."
        return Place(label, y, x, text)
    effect = _EFFECT[kind].format(f"up to {factor(bound)}")
    under = "under the worst prior, " if context.get("over") == "set" else ""
    text = f"{under}{label} is largest at the outcome {y}, which makes the secret {x} {effect}"
    return Place(label, y, x, qualified(bound, text, context.get("confidence", "draws")))


def _plateau(audit: AuditFigures, kind: str) -> Place | None:
    """Return where the posterior median of a leakage is largest, of the outcomes drawn."""
    curve = audit.dataset(f"{kind}/curve")
    if curve is None or "median" not in curve:
        return None
    values = curve["median"].values
    if not np.isfinite(values).all():
        return None
    best = int(np.argmax(values))
    y, first, last = curve["y"].values, best, best
    if curve.attrs["outcome_kind"] not in ("finite", "countable"):
        level = values[best] * (1 - _PLATEAU)
        while first > 0 and values[first - 1] >= level:
            first -= 1
        while last < len(values) - 1 and values[last + 1] >= level:
            last += 1
    outcome = label_in_words(y[best])
    if first < last:
        outcome = f"{label_in_words(y[first])} to {label_in_words(y[last])}"
    label = in_reports()[kind].label
    text = (
        f"Of the outcomes drawn below, the posterior median of {label} is largest at {outcome}: "
        f"about {short(float(values[best]), 'nearest')} nats, an estimate."
    )
    return Place(label, outcome, "-", text)
