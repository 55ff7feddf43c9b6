"""The units of an audit: each a figure, a guarantee, a law or a curve, as nodes of a DataTree."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from borel import divergences
from borel.bound import Bound
from borel.curves import law_curve, leakage_curve
from borel.errors import NotYet
from borel.leakage import pmc, pml
from borel.store import pack, pack_random, random_bound
from borel.tables import CLAIMS

if TYPE_CHECKING:
    from collections.abc import Iterator

    import xarray as xr

    from borel.joint import Joint
    from borel.study import Study

LEVEL = 0.95
"""The posterior quantile of epsilon that a report gives, and the mass of its credible interval."""
_QUANTILES = ("0.5", "0.9", "0.95", "0.99")
_MEAN = "the mean of the posterior draws"
_LEAKAGES = {"pml": pml, "pmc": pmc}

Nodes = dict[str, "xr.Dataset"]


@dataclass(frozen=True)
class Unit:
    """One step of an audit: the name of its main node, and the function that computes its nodes."""

    name: str
    compute: Callable[[], Nodes]


def units(study: Study, joint: Joint, nodes: Nodes) -> Iterator[Unit]:
    """Yield the units of a study: figures first, then guarantees, then laws and curves."""
    variables = {k: _LEAKAGES[k](joint) for k in study.report if k in _LEAKAGES}
    for name in study.report:
        yield _supremum(variables[name]) if name in variables else _figure(name, joint)
    for guarantee in study.guarantees:
        yield _guarantee(guarantee, joint, nodes)
    for variable in variables.values():
        yield _law(variable)
        yield _curve(variable)


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


def _node(bound: Bound, label: str, name: str = "", **context: Any) -> xr.Dataset:
    """Return the Dataset of a Bound that stands in the table."""
    return pack(bound, context=json.dumps(context), label=label, long_name=name, in_table=1)


def _supremum(variable: Any) -> Unit:
    kind, claim = variable.kind, CLAIMS[variable.kind]

    def compute() -> Nodes:
        if is_random(variable.joint):
            return _random_nodes(kind, variable.sup())
        return {kind: _node(variable.sup(), claim.label, claim.name)}

    return _guard(kind, compute, claim.label)


def _curve(variable: Any) -> Unit:
    name = f"{variable.kind}/curve"

    def compute() -> Nodes:
        if is_random(variable.joint) and not variable.joint.prior.size:
            raise _Refused(variable.joint.prior.trouble)
        return {name: leakage_curve(variable, prob=LEVEL)}

    return _guard(name, compute)


def _law(variable: Any) -> Unit:
    kind = variable.kind

    def compute() -> Nodes:
        if not is_random(variable.joint):
            return _law_nodes(variable, "")
        mean = _mean_joint(variable.joint, f"the law of {CLAIMS[kind].label}")
        return _law_nodes(_LEAKAGES[kind](mean), _MEAN)

    return _guard(f"{kind}/law", compute)


def _figure(name: str, joint: Joint) -> Unit:
    measure, claim = getattr(divergences, name), CLAIMS[name]

    def compute() -> Nodes:
        if not is_random(joint):
            return {name: _node(measure(joint), claim.label, claim.name)}
        found = measure(_mean_joint(joint, claim.label))
        label = f"{claim.label} under the mean prior"
        return {name: _node(found, label, claim.name, under=f"Under {_MEAN}")}

    return _guard(name, compute, claim.label)


def _random_nodes(kind: str, epsilon: Any) -> Nodes:
    """Return the posterior of epsilon: its draws, a quantile for the table, and its HDI."""
    claim, region = CLAIMS[kind], epsilon.hdi(LEVEL)
    label = f"{claim.label}, {100 * LEVEL:g} % posterior quantile"
    return {
        kind: _node(epsilon.quantile(LEVEL), label, claim.name, quantile=LEVEL),
        f"{kind}/draws": pack_random(epsilon),
        f"{kind}/median": pack(epsilon.quantile(0.5)),
        f"{kind}/hdi-lower": pack(region.lower),
        f"{kind}/hdi-upper": pack(region.upper),
    }


def _law_nodes(variable: Any, under: str) -> Nodes:
    """Return the cdf of a leakage, and its quantiles."""
    name = f"{variable.kind}/law"
    nodes = {name: law_curve(variable).assign_attrs(under=under)}
    for level in _QUANTILES:
        s = Fraction(level) if variable.joint.rational else float(level)
        nodes[f"{name}/quantile-{level}"] = pack(variable.quantile(s))
    return nodes


def _guarantee(guarantee: Any, joint: Joint, nodes: Nodes) -> Unit:
    label = _said(guarantee)
    name = "guarantees/" + re.sub(r"[^A-Za-z0-9.]+", "-", repr(guarantee)).strip("-")
    kind = type(guarantee).__name__.lower()

    def compute() -> Nodes:
        if is_random(joint) and kind in _LEAKAGES and guarantee.delta == 0:
            stored = nodes.get(f"{kind}/draws")
            epsilon = _LEAKAGES[kind](joint).sup() if stored is None else random_bound(stored)
            share = epsilon.cdf(float(guarantee.epsilon))
            return {name: _node(share, f"P({label} holds)", probability_of=label)}
        if is_random(joint) and type(guarantee).__name__ != "LDP":
            raise NotYet(
                f"the posterior probability of {label}",
                missing="this guarantee over a posterior of priors",
                instead="PML and PMC with delta = 0, and LDP.",
            )
        # LDP depends on a prior through its support: that of the mean contains every draw's
        subject = _mean_joint(joint, label) if is_random(joint) else joint
        verdict = subject.satisfies(guarantee)
        holds = {True: "yes", False: "no", None: "undecided"}[verdict.holds]
        about = {"under": "On the union of the supports of the draws"} if is_random(joint) else {}
        return {name: _node(verdict.bound, label, guarantee=label, holds=holds, **about)}

    return _guard(name, compute, label)


def _said(guarantee: Any) -> str:
    """Name a guarantee briefly: ``PML(0.5, delta=0.01)``; a delta of 0 goes without saying."""
    values = {f.name: getattr(guarantee, f.name) for f in fields(guarantee)}
    delta = values.pop("delta", 0)
    parts = [*map(str, values.values()), *([f"delta={delta}"] if delta else [])]
    return f"{type(guarantee).__name__}({', '.join(parts)})"


def is_random(joint: Joint) -> bool:
    """Return whether the prior of a joint is a posterior over priors."""
    return getattr(joint.prior, "leakage_of", None) is not None


def _mean_joint(joint: Joint, what: str) -> Joint:
    """Return the joint under the mean of the draws of a finite prior."""
    prior: Any = joint.prior
    if prior.trouble:
        raise _Refused(prior.trouble)
    if joint.secret is None or joint.secret.kind != "finite":
        raise NotYet(
            f"{what} over a posterior of priors",
            missing=f"priors on {joint.secret!r}, which is not finite",
            instead="the same figure under one prior.",
        )
    cache = joint.__dict__.setdefault("_mean_joint", [])
    if not cache:
        cache.append(prior.mean_prior() * joint.mechanism)
    return cache[0]
