"""The table of an audit: for each figure its bound, its status, and what it means in one sentence.

The sentences keep the promise: a figure that is an estimate is called an estimate, one that is not
decided gives its reason, and nothing else says "at most".
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from borel.audits.serialisation import from_plain
from borel.engine.figures import in_reports
from borel.probability.alphabets import in_words
from borel.probability.bound import Bound
from borel.probability.bound_text import agreed, leading, rounded, settled

if TYPE_CHECKING:
    from borel.audits.audit_figures import AuditFigures
    from borel.engine.figures import MeasureWords

STATUS_WORDS = {
    "exact": "a closed form or exact arithmetic; the enclosure covers all rounding",
    "certified": "every step of the enclosure is proved",
    "conditional": "proved if the assumptions that are listed hold",
    "statistical": "holds with the confidence that is stated, over the randomness of the draws, or "
    "of the sample that a set of priors was learnt from",
    "estimate": "a value with an error estimate; it proves nothing",
    "undecided": "the bounds are true, but do not settle the question; the reason is given",
    "not in this version": "this version cannot compute the figure; the reason is given",
}
ONE_DRAW = "one-draw"
"""The last part of the name of the figure of one draw of a prior that is learnt."""


@dataclass(frozen=True)
class Row:
    """One line of the table.

    Attributes
    ----------
    name, label : str
        The name of the figure in the tree, and what to call it.
    bound : Bound or None
        None when this version cannot compute it.
    sentence : str
        What it means.
    title : str
        The standard term that the label abbreviates.
    nominal : str
        What the sentence ends with over a set of priors: the figure under the nominal one.
    """

    name: str
    label: str
    bound: Bound | None
    sentence: str
    title: str = ""
    nominal: str = ""

    @property
    def claim(self) -> str:
        """The sentence without the nominal figure, for where that stands beside it."""
        return self.sentence.removesuffix(self.nominal)

    @property
    def status(self) -> str:
        """The status, in a word or a few."""
        return "not in this version" if self.bound is None else self.bound.status

    @property
    def figure(self) -> str:
        """The bound as text: ``~v +- e`` for an estimate; with units other than nats named."""
        return "-" if self.bound is None else with_units(self.bound)

    @property
    def rounded(self) -> str:
        """The bound as text with its units, rounded outwards to the digits that are known."""
        return "-" if self.bound is None else with_units(self.bound, printed(self.bound))

    @property
    def bits(self) -> str:
        """The bound in bits, as text; "-" for one that is no logarithm."""
        return "-" if self.bound is None else in_bits(self.bound)


def with_units(bound: Bound, number: str = "") -> str:
    """Return a bound as text, or the number given for it, with its units."""
    number = number or bound.enclosure
    if bound.units == "nats":
        return f"{number} nats" if bound.lower < math.inf else number
    if bound.units == "probability":
        return f"probability {number}"
    return f"{number} {bound.units}"


def in_bits(bound: Bound) -> str:
    """Return a bound in nats as text in bits; "-" for one with other units."""
    return printed(bound, unit=_BIT) if bound.units == "nats" else "-"


def printed(bound: Bound, unit: Decimal = Decimal(1)) -> str:
    """Return the number of a bound as text: no digit finer than its error, ends rounded outwards.

    Parameters
    ----------
    bound : Bound
        The figure.
    unit : Decimal
        What one of the units printed is, in those of the bound.

    Returns
    -------
    str
        One number of ten digits if the enclosure holds it and is as wide as rounding only; else
        ``[lower, upper]``, rounded outwards to two digits of the width, and to ten at most. An
        estimate is ``~value +- error``, whose interval holds the estimate's.

    Examples
    --------
    >>> printed(Bound.certified(1.142468654, 1.14462223)), printed(Bound.exact(1.5, 1.5))
    ('[1.1424, 1.1447]', '1.5')
    >>> printed(Bound.estimate(1.039414701, 7e-5))
    '~1.03941 +- 8e-05'
    """
    if math.isinf(bound.lower):
        return f"~{bound.value}" if bound.status == "estimate" else str(bound.lower)
    low = _in_units(bound.lower, unit, "down")
    if math.isinf(bound.upper):
        return f"[{short(low, 'down')}, inf]"
    high = _in_units(bound.upper, unit, "up")
    width = _WIDE.subtract(high, low)
    if bound.status == "estimate":
        return _estimated(low + width / 2, width / 2)
    if number := settled(low, high):
        return number
    place = max(width.adjusted() - 1, high.adjusted() - 9) if width else high.adjusted() - 9
    return f"[{short(low, 'down', place)}, {short(high, 'up', place)}]"


def _estimated(value: Decimal, error: Decimal) -> str:
    place = max(error.adjusted(), value.adjusted() - 9 if value else error.adjusted())
    shown = short(value, "nearest", place)
    # an error that proves nothing needs no care for the last bit: 0.01 is not shown as 0.02
    error = (error + abs(Decimal(shown) - value)) * (1 - Decimal("1e-12"))
    return f"~{shown} +- {float(short(error, 'up', error.adjusted())):.1g}"


def rows(audit: AuditFigures) -> list[Row]:
    """Return the rows of an audit: the measures first, then the guarantees.

    Over a set of priors the sentence of a measure ends with the figure under the nominal prior.
    """
    found = []
    for node in audit.tree.subtree:
        name, attrs = node.path.strip("/"), node.attrs
        if attrs.get("in_table") != 1:
            continue
        context, title = json.loads(attrs.get("context", "{}")), str(attrs.get("long_name", ""))
        if "not_yet" in attrs:
            found.append(Row(name, attrs["label"], None, str(attrs["not_yet"]), title))
        else:
            bound, words = audit[name], ""
            if (nominal := audit.get(f"{name}/nominal")) is not None:
                words = f" Under the nominal prior: {with_units(nominal)} ({nominal.status})."
            said = sentence(name, bound, context) + words
            found.append(Row(name, attrs["label"], bound, said, title, words))
    order = {name: i for i, name in enumerate(json.loads(audit.tree.attrs["order"]))}
    return sorted(found, key=lambda row: order.get(row.name, len(order)))


HOW_TO_CERTIFY = (
    "No certificates were made: the command borel audit --certificates makes them, and borel check "
    "verifies them with other code."
)


def about_certificates(audit: AuditFigures) -> list[str]:
    """Say which figures carry a certificate, and of each of the others why it does not."""
    if not audit.tree.attrs.get("certificates"):
        return [HOW_TO_CERTIFY]
    none = audit.without_certificate
    made = [name for name in audit if name not in none]
    said = f"Certificates, which `borel check` verifies, of {', '.join(made)}." if made else ""
    reasons: dict[str, list[str]] = {}
    for name, why in none.items():
        reasons.setdefault(why, []).append(name)
    lacking = (f"No certificate of {', '.join(names)}; missing: {why}."
               for why, names in reasons.items())  # fmt: skip
    return [*filter(None, [said]), *lacking]


def sentence(
    name: str,
    bound: Bound,
    context: dict[str, Any] | None = None,
    words: MeasureWords | None = None,
) -> str:
    """Return what a Bound means, in a plain sentence.

    Parameters
    ----------
    name : str
        A figure that a report can hold, or any other name with a ``guarantee`` in the context.
    bound : Bound
        The figure.
    context : dict, optional
        ``quantile``: it is that quantile over a posterior of priors; ``under``: what the sentence
        starts with, such as the fixed prior it was computed under; ``guarantee`` and ``holds``: it
        decides that guarantee (``of_the_set``: only a prior of the set fails);
        ``verdict``: it is what is left of an attribute, and that is the
        verdict; ``probability_of``: it is the posterior probability of that one;
        ``over="set"``: it is a supremum over a set of priors; ``confidence``: over what a
        confidence is, ``"draws"`` if it is not said.
    words : MeasureWords, optional
        What to say of a measure, if not what a report's table does.

    Returns
    -------
    str
        With the word "estimate" for an estimate, the reason and the remedy for "undecided", the
        confidence for "statistical", and "posterior probability" for posterior figures.
    """
    context = context or {}
    if bound.status == "undecided":
        return _undecided(bound)
    if "verdict" in context:
        return _disclosed(bound, context)
    if "probability_of" in context:
        return _probability(bound, context["probability_of"])
    source = context.get("confidence", "draws")
    if "guarantee" in context:
        if context.get("over") == "set" and context["holds"] == "no":
            return (
                f"{context['guarantee']} does not hold for every prior of the set, so that it is "
                f"not proved for the true one."
            )
        if context.get("of_the_set"):
            return (
                "Not decided: it is not shown to hold for every prior of the set, so that it is "
                "not proved for the true one."
            )
        text, plain = _verdict(bound, context["guarantee"], context["holds"], source), False
    else:
        words = words or in_reports()[name.split("/", maxsplit=1)[0]]
        text, plain = _measure(words, bound, context.get("quantile"), source), True
    if "under" in context:
        text = f"{context['under']}: {text[0].lower() if plain else text[0]}{text[1:]}"
    return text


def _measure(words: MeasureWords, bound: Bound, level: float | None, source: str) -> str:
    posterior = "" if level is None else f"with posterior probability {percent(level)} or more, "
    if bound.status == "estimate":
        if math.isinf(bound.value) and words.infinite:
            body = words.infinite
        else:
            body = words.about.format(**_about(bound.value))
        if level is not None:
            posterior = f"with posterior probability {percent(level)}, "
            body = body.replace(" is about ", " stays below about ")
        return f"An estimate, which proves nothing: {posterior}{body}."
    if bound.lower == math.inf and words.infinite:
        body = words.infinite
        if level is not None:
            posterior = f"with posterior probability more than {percent(1 - level)}, "
    elif bound.upper == math.inf:
        low = short(bound.lower, "down")
        body, posterior = f"the figure is {low} nats or more, and no bound from above is known", ""
    elif bound.upper <= 1e-12 and words.worst_case:
        body = "the outcome tells nothing about the secret"
    else:
        body = words.holds.format(**_at_most(bound))
    return qualified(bound, posterior + body, source)


def at_level(name: str, level: float) -> str:
    """Return what it means that a measure is at most a level in nats, in words."""
    return in_reports()[name].holds.format(**_at_most(Bound.exact(level, level)))


def qualified(bound: Bound, body: str, source: str = "draws") -> str:
    """Say what the sentence rests on: assumptions, or a confidence."""
    if bound.status == "conditional":
        body = f"if the assumptions listed hold, {body}"
    if bound.status == "statistical":
        body += f" (confidence {percent(bound.confidence or 0.0)} over the {source})"
    return body[0].upper() + body[1:] + "."


def _undecided(bound: Bound) -> str:
    reason = bound.reason.rstrip(". ")
    known = ""
    if bound.units == "nats" and bound.lower > 0:
        known = f" What is known: {short(bound.lower, 'down')} nats or more."
    return f"Not decided: {reason}.{known}"


def _disclosed(bound: Bound, context: dict[str, Any]) -> str:
    """Say whether an attribute is disclosed, and how well it is guessed."""
    told = {key: label_in_words(from_plain(value)) for key, value in context["told"].items()}
    if context["verdict"] == "disclosed":
        if not told:
            body = "it is the same whatever the secret"
        elif "y" in told:
            body = f"the outcome {told['y']} leaves no doubt that it is {told['u']}"
        else:
            body = f"some outcomes leave as little doubt as one likes that it is {told['u']}"
        return qualified(bound, f"disclosed: {body}", context.get("confidence", "draws"))
    if not 0 < bound.lower < math.inf:
        return qualified(bound, f"not disclosed: {context['by']}")
    prior = "whatever the prior of the set, " if context.get("over") == "set" else ""
    high, low = (0 if end == math.inf else 1 / Fraction(end) for end in bound.ratio)
    best = _up(low, high)
    body = f"not disclosed: {prior}after no outcome is the best guess of it right with probability"
    body += f" above {best} (before: {short(context['before'], 'up')})"
    return qualified(bound, body, context.get("confidence", "draws"))


def _verdict(bound: Bound, guarantee: str, holds: str, source: str) -> str:
    if bound.status == "estimate":
        return (
            f"Not decided: the figure is an estimate, which proves neither that {guarantee} "
            f"holds nor that it fails."
        )
    if holds == "yes":
        return qualified(bound, f"{guarantee} holds", source)
    if holds == "no":
        return qualified(bound, f"{guarantee} does not hold", source)
    return f"Not decided: the threshold of {guarantee} lies inside the enclosure."


def _probability(bound: Bound, guarantee: str) -> str:
    if bound.status == "estimate":
        return (
            f"An estimate, which proves nothing: {guarantee} holds with posterior probability "
            f"of about {short(bound.value, 'nearest')}."
        )
    said = f"the posterior probability that {guarantee} holds"
    if bound.lower == 1:
        return qualified(bound, f"{said} is 1")
    if bound.lower > 0 and bound.upper < 1:
        ends = f"{short(bound.lower, 'down')} to {short(bound.upper, 'up')}"
        return qualified(bound, f"{said} is {ends}")
    if bound.lower > 0:
        return qualified(bound, f"{said} is {short(bound.lower, 'down')} or more")
    if bound.upper < 1:
        return qualified(bound, f"{said} is {short(bound.upper, 'up')} or less")
    return f"Nothing is proved of {said}."


def _at_most(bound: Bound) -> dict[str, str]:
    """Return the upper end of a Bound as a factor, in nats and in bits."""
    low, high = (_in_units(getattr(bound, end), _BIT, to) for end, to in _OUTWARDS)
    shown = _up(bound.lower, bound.upper)
    if bound.units == "nats":  # what a level that was asked for is compared with: all its digits
        digits = printed(bound).strip("[]").split(", ")[-1]
        shown = min(shown, digits, key=Decimal)  # one that is wide has fewer
    return {"f": factor(bound), "v": shown, "b": _up(low, high)}


def factor(bound: Bound) -> str:
    """Return the largest factor e^epsilon that a Bound allows, to 4 digits and rounded up.

    One that a float cannot hold is given by its level. Where `printed` would show one number, it is
    that number; what is a number of 4 digits but for less than the tenth is given to ten, so that
    3 is not said to be 3.001 for its last bit, nor to be less than what is proved.

    Examples
    --------
    >>> factor(Bound.exact(1.0986122886681096, 1.0986122886681098)), factor(Bound.exact(1, 1))
    ('3', '2.719')
    >>> factor(Bound.exact(0, 1.0986122886681098))
    '3.000000001'
    """
    low, high = bound.ratio
    if math.isinf(high):
        return f"e^{_up(bound.lower, bound.upper)}"
    if bound.upper > 0 and low <= 1:  # 1 would say that nothing leaks
        low = None
    return _up(low, high)


def _up(low: Any, high: Any) -> str:
    """Return one number for both ends, if it stands for them, else the upper one rounded up."""
    if low is not None and (number := settled(low, high)):
        return short(Decimal(number), "up")
    near = math.isfinite(high) and agreed(Decimal(short(high, "nearest")), high)
    return short(high, "up", leading(Fraction(high)) - 9 if near else None)


def _about(value: float) -> dict[str, str]:
    """Return an estimate in nats as a factor, in nats and in bits."""
    ratio, shown = _exp(value), short(value, "nearest")
    bits = short(_in_units(value, _BIT, "nearest"), "nearest")
    said = f"e^{shown}" if math.isinf(ratio) else short(ratio, "nearest")
    return {"f": said, "v": shown, "b": bits}


def _exp(value: float) -> float:
    return math.inf if value > 709 else math.exp(value)


_WIDE = Context(prec=60)
_BIT = Decimal(2).ln(_WIDE)
_DIGITS = 4
_OUTWARDS = (("lower", "down"), ("upper", "up"))


def short(value: float | Fraction | Decimal, rounding: str, place: int | None = None) -> str:
    """Return a number rounded ``up``, ``down`` or to ``nearest``, to 4 significant digits.

    Parameters
    ----------
    value : float, Fraction or Decimal
        The number.
    rounding : {"up", "down", "nearest"}
        Where to.
    place : int, optional
        The power of ten of the last digit, in place of the fourth significant one.

    Examples
    --------
    >>> short(1.50001, "up"), short(1.5, "up"), short(1.50099, "down")
    ('1.501', '1.5', '1.5')
    >>> short(1.50001, "up", -4)
    '1.5001'
    """
    if math.isinf(value):
        return str(float(value))
    shown = rounded(value, rounding, digits=_DIGITS, place=place)
    plain = shown == 0 or Decimal("1e-4") <= abs(shown) < 10**6
    return f"{shown.normalize():f}" if plain else f"{shown.normalize():e}"


def label_in_words(value: Any) -> str:
    """Return a label as text: words in quotes, a number with a fraction to 4 digits."""
    if isinstance(value, str):
        return f"“{in_words(value)}”"
    if isinstance(value, (float, np.floating)):
        return short(float(value), "nearest")
    return in_words(value)


def _in_units(value: float, unit: Decimal, rounding: str) -> Decimal:
    """Return a number in units, exactly for 1; else outwards, well within the digits printed."""
    if unit == 1 or value == 0:
        return Decimal(value)
    found = _WIDE.divide(Decimal(value), unit)
    if rounding == "nearest":
        return found
    # the quotient and the unit, a logarithm, are each off by half of its last digit at most
    slack = abs(found).scaleb(-57, _WIDE)
    return _WIDE.add(found, slack if rounding == "up" else -slack)


def percent(share: float) -> str:
    """Return a probability or a confidence in per cent, to six digits and never rounded up."""
    shown = rounded(Decimal(repr(float(share))) * 100, "down", digits=6)
    return f"{shown.normalize():f} %"


def html_table(found: list[Row]) -> str:
    """Return the rows as a plain HTML table, for notebooks."""
    from html import escape

    body = "".join(
        f"<tr><th style='text-align:left'>{escape(r.label)}</th><td>{escape(r.figure)}</td>"
        f"<td><code>{escape(r.status)}</code></td>"
        f"<td style='text-align:left'>{escape(r.sentence)}</td></tr>"
        for r in found
    )
    head = "".join(
        f"<th style='text-align:left'>{h}</th>"
        for h in ("measure", "bound", "status", "what it means")
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
