"""The units of an audit: each a figure, a guarantee, a law or a curve, as nodes of a DataTree."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from dataclasses import dataclass, fields
from fractions import Fraction
from importlib import import_module
from typing import TYPE_CHECKING, Any

from borel.audits.plots.envelope_curves import envelope_curve
from borel.audits.serialisation import to_plain
from borel.audits.set_audit import OVER, beside, is_set
from borel.audits.store import pack, pack_random
from borel.audits.study import node_of
from borel.audits.table import ONE_DRAW, at_level, short
from borel.disclosures.summaries import disclosure_rows
from borel.engine.figures import DELTA, FIGURES, LEAKAGES, in_reports
from borel.errors import BorelError, NotYet
from borel.figures.averages import tail_leakage
from borel.figures.envelopes import envelope
from borel.figures.leakage_curves import law_curve, leakage_curve
from borel.guarantees.base import BY_LDP
from borel.priors.posteriors import PosteriorPriors
from borel.priors.random_verdict import RandomVerdict
from borel.probability.bound import OF_THE_SET, Bound

if TYPE_CHECKING:
    from collections.abc import Iterator

    import xarray as xr

    from borel.audits.study import Study
    from borel.probability.joint import Joint

LEVEL = 0.95
"""The posterior quantile of epsilon that a report gives, and the mass of its credible interval."""
ENVELOPE_LEVELS = (DELTA, *(Fraction(n, 100) for n in (5, 10, 20, 50)))
"""Levels of the envelope that the report lists."""
_BETWEEN = tuple(Fraction(n, 100) for n in (2, 15, 25, 30, 35, 40, 45, 55, 60, 70, 80, 90, 99))
_QUANTILES = ("0.5", "0.9", "0.95", "0.99")
_BOTH = "the posterior, prior and outcome together"
_OF_OTHERS = "it is computed from posterior draws, or from other figures"
_OF_LDP = (
    "a rule for what LDP decides without the prior; the level itself, bl.ldp under any prior that "
    "charges all secrets, has a certificate where the kernel is a matrix"
)
"""Why a figure that was not asked of an engine has no certificate."""

Nodes = dict[str, "xr.Dataset"]


@dataclass(frozen=True)
class Unit:
    """One step of an audit: the name of its main node, and the function that computes its nodes."""

    name: str
    compute: Callable[[], Nodes]


def with_certificate(bound: Bound, **attrs: Any) -> xr.Dataset:
    """Pack a figure with its certificate, or with the reason why it has none."""
    try:
        return pack(bound.certify(), **attrs)
    except BorelError as error:
        why = _OF_LDP if BY_LDP in bound.assumptions else _OF_OTHERS
        if bound.question is not None:
            why = getattr(error, "missing", str(error))
        return pack(bound, no_certificate=why, **attrs)


def units(study: Study, joint: Joint, packed: Callable[..., xr.Dataset] = pack) -> Iterator[Unit]:
    """Yield the units of a study: figures first, then guarantees, then laws and curves.

    Parameters
    ----------
    study, joint
        The study, and its joint.
    packed : callable
        How a Bound is packed: `pack`, or `with_certificate`.
    """
    variables = {kind: _measure(kind)(joint) for kind in LEAKAGES}

    def supremum(kind: str) -> Callable[[Joint], Any]:
        return lambda one: (variables[kind] if one is joint else _measure(kind)(one)).sup()

    special = {
        **{kind: supremum(kind) for kind in variables},
        "envelope": lambda joint: envelope(joint)(DELTA),
        "tail_leakage": lambda joint: tail_leakage(joint, DELTA),
    }
    for name in study.report:
        yield _figure(name, special.get(name) or _measure(name), joint, packed)
    for attribute in study.attributes:
        yield _disclosed(attribute, study.attributes[attribute], joint, packed)
    for guarantee in study.guarantees:
        yield _guarantee(guarantee, joint, packed)
    for kind, variable in variables.items():
        if kind in study.report:
            yield _law(variable, packed)
            yield _curve(variable)
    if "envelope" in study.report:
        yield _envelope(joint)


def _measure(name: str) -> Callable[[Joint], Any]:
    """Return the public function of a measure of joints."""
    return getattr(import_module(f"borel.figures.{FIGURES[name].module}"), name)


class _Refused(Exception):
    """The posterior draws allow no claim; the message says why."""


def _guard(name: str, compute: Callable[[], Nodes], label: str = "") -> Unit:
    """Make a unit that says so when it is refused or not in this version; a row if labelled."""

    def guarded() -> Nodes:
        import xarray as xr

        row = {"label": label, "in_table": 1} if label else {}
        try:
            return compute()
        except (_Refused, NotYet) as error:
            if label and isinstance(error, _Refused):
                return {name: pack(Bound.undecided(reason=str(error)), context="{}", **row)}
            return {name: xr.Dataset(attrs={"not_yet": str(error), **row})}

    return Unit(name, guarded)


def _row(label: str, name: str = "", **context: Any) -> dict[str, Any]:
    """Return the attributes of a Bound that stands in the table."""
    return {"context": json.dumps(context), "label": label, "long_name": name, "in_table": 1}


def _curve(variable: Any) -> Unit:
    name = f"{variable.kind}/curve"

    def compute() -> Nodes:
        if is_random(variable.joint) and not variable.joint.prior.size:
            raise _Refused(variable.joint.prior.trouble)
        return {name: leakage_curve(variable, prob=LEVEL)}

    return _guard(name, compute)


def _envelope(joint: Joint) -> Unit:
    """Make the unit of the envelope over delta, with the bounds where alphabets are finite.

    Its levels are few on finite alphabets, and fewer elsewhere, where each may take a budget.
    """
    name = "envelope/curve"
    deltas = (*ENVELOPE_LEVELS, *(_BETWEEN if joint.finite else ()))

    def compute() -> Nodes:
        return {name: envelope_curve(joint, deltas, bounds=joint.finite, ldp_curve=joint.finite)}

    return _guard(name, compute)


def _law(variable: Any, packed: Callable[..., xr.Dataset]) -> Unit:
    kind = variable.kind

    def compute() -> Nodes:
        if is_set(variable.joint):
            variable.cdf(0.0)  # says why there is none
        if not is_random(variable.joint):
            return _law_nodes(variable, "", packed)
        if variable.joint.prior.trouble:
            raise _Refused(variable.joint.prior.trouble)
        return _law_nodes(variable, _BOTH, packed)

    return _guard(f"{kind}/law", compute)


def _figure(
    name: str, figure: Callable[[Joint], Any], joint: Joint, packed: Callable[..., xr.Dataset]
) -> Unit:
    label, title = in_reports()[name].label, FIGURES[name].title

    def compute() -> Nodes:
        found = figure(joint)
        if is_random(joint) and not isinstance(found, Bound):
            return _random_nodes(name, found, joint, packed)
        about = _over(joint)
        nodes = {name: packed(found, **_row(label, title, **about))}
        return nodes | beside(name, found, figure, joint, packed) if about else nodes

    return _guard(name, compute, label)


def _over(joint: Joint) -> dict[str, str]:
    """Return what the sentence of a figure says of a set of priors: nothing for one prior."""
    if not is_set(joint):
        return {}
    sample = {} if joint.prior.confidence is None else {"confidence": "sample"}
    return {"under": OVER, "over": "set", **sample}


def _random_nodes(
    kind: str, epsilon: Any, joint: Joint, packed: Callable[..., xr.Dataset]
) -> Nodes:
    """Return the posterior of epsilon: its draws, a quantile for the table, and its HDI.

    A quantile over draws has no certificate; where they are made, the draw nearest to it has one.
    """
    region = epsilon.hdi(LEVEL)
    label = f"{in_reports()[kind].label}, {100 * LEVEL:g} % posterior quantile"
    found, one, about = epsilon.quantile(LEVEL), {}, dict[str, Any](quantile=LEVEL)
    if kind in LEAKAGES and joint.mechanism.finite and epsilon.size and not epsilon.trouble:
        # the outcome and the secret behind the supremum, of the draw nearest to the quantile
        chain, draw = epsilon.nearest(found.value).values()
        prior = joint.prior.one(chain * joint.prior.shape[1] + draw)
        place = _measure(kind)(prior * joint.mechanism).sup().witness or {}
        if {"x", "y"} <= set(place):
            about["worst"] = {name: to_plain(place[name]) for name in ("y", "x")}
    if (
        packed is with_certificate
        and epsilon.status not in ("estimate", "undecided")
        and found.upper < math.inf
    ):
        one[f"{kind}/{ONE_DRAW}"] = packed(epsilon.one(**epsilon.nearest(found.value)))
    return {
        kind: packed(found, **_row(label, FIGURES[kind].title, **about)),
        f"{kind}/draws": pack_random(epsilon),
        f"{kind}/median": packed(epsilon.quantile(0.5)),
        f"{kind}/hdi-lower": packed(region.lower),
        f"{kind}/hdi-upper": packed(region.upper),
        **one,
    }


def _law_nodes(variable: Any, under: str, packed: Callable[..., xr.Dataset]) -> Nodes:
    """Return the cdf of a leakage, and its quantiles."""
    name = f"{variable.kind}/law"
    nodes = {name: law_curve(variable).assign_attrs(under=under)}
    for level in _QUANTILES:
        exact = not under and variable.joint.rational
        s = Fraction(level) if exact else float(level)
        nodes[f"{name}/quantile-{level}"] = packed(variable.quantile(s))
    return nodes


def _guarantee(guarantee: Any, joint: Joint, packed: Callable[..., xr.Dataset]) -> Unit:
    label = _said(guarantee)
    name = "guarantees/" + re.sub(r"[^A-Za-z0-9.]+", "-", repr(guarantee)).strip("-")
    answers = {True: "yes", False: "no", None: "undecided"}
    title, asks = _asked(guarantee)
    asked = {"asks": asks} if asks else {}

    def compute() -> Nodes:
        verdict = joint.satisfies(guarantee)
        if isinstance(verdict, RandomVerdict):
            holds = answers[verdict.at(confidence=LEVEL).holds]
            about = {"probability_of": label, "at": LEVEL, "holds": holds, **asked}
            return {name: packed(verdict.bound, **_row(f"P({label} holds)", title, **about))}
        if (own := verdict.bound.confidence) is not None:
            verdict = verdict.at(confidence=own)
        about = {"guarantee": label, "holds": answers[verdict.holds], **asked, **_over(joint)}
        if verdict.reason.startswith(OF_THE_SET):
            about["of_the_set"] = "yes"
        return {name: packed(verdict.bound, **_row(label, title, **about))}

    return _guard(name, compute, label)


def _disclosed(label: str, attribute: Any, joint: Joint, packed: Callable[..., xr.Dataset]) -> Unit:
    """Make the unit of an attribute: the verdict, what is left of it, and its min-entropy."""
    name, row = node_of(label), f"attribute “{label}”"

    def compute() -> Nodes:
        (found,) = disclosure_rows(joint, {label: attribute})
        about = {
            "attribute": label,
            "verdict": found.verdict,
            "by": found.by,
            "told": {key: to_plain(value) for key, value in found.witness.items()},
            "before": 1 / float(found.entropy.ratio.lower),
        }
        over = {key: value for key, value in _over(joint).items() if key != "under"}
        return {
            name: packed(found.remaining, **_row(row, "attribute", **about, **over)),
            f"{name}/entropy": packed(found.entropy),
            f"{name}/line": packed(found.line, context=json.dumps(over)),
        }

    return _guard(name, compute, row)


def _asked(guarantee: Any) -> tuple[str, str]:
    """Return the standard term of what a guarantee bounds, and what it asks for, in words."""
    names = {words.label: name for name, words in in_reports().items()}
    name = names.get(getattr(guarantee, "symbol", ""), "")
    if not name or len(guarantee.levels) != 1 or not math.isfinite(guarantee.levels[0].nats):
        return "", ""
    asks, delta = at_level(name, guarantee.levels[0].nats), getattr(guarantee, "delta", 0)
    if delta:
        asks += f", but for outcomes of probability {short(delta, 'up')} in all"
    return FIGURES[name].title, asks


def _said(guarantee: Any) -> str:
    """Name a guarantee briefly: ``PML(0.5, delta=0.01)``; a delta of 0 goes without saying."""
    values = {f.name: getattr(guarantee, f.name) for f in fields(guarantee)}
    delta = values.pop("delta", 0)
    parts = [*map(str, values.values()), *([f"delta={delta}"] if delta else [])]
    return f"{type(guarantee).__name__}({', '.join(parts)})"


def is_random(joint: Joint) -> bool:
    """Return whether the prior of a joint is a posterior over priors."""
    return isinstance(joint.prior, PosteriorPriors)
