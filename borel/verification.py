"""What ``borel check`` does: verify the certificates of a result again, figure by figure."""

from __future__ import annotations

import json
import math
import re
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from borel.bound import Bound, Ratio
from borel.engine.continuous.check import Report, check
from borel.engine.continuous.check_count_laws import check_count_laws
from borel.engine.continuous.check_counts import check_counts
from borel.engine.continuous.check_dimensions import check_dimensions
from borel.engine.continuous.check_discrete_laws import check_discrete_laws
from borel.engine.continuous.check_fading import check_fading
from borel.engine.continuous.check_in_logs import check_in_logs
from borel.engine.continuous.check_infinite_laws import check_infinite_laws
from borel.engine.continuous.check_informations import check_informations
from borel.engine.continuous.check_laws import check_laws
from borel.engine.continuous.check_means import check_means
from borel.engine.continuous.check_outcomes import check_outcomes
from borel.engine.continuous.check_pairs import check_pairs
from borel.engine.continuous.check_poles import check_poles
from borel.engine.continuous.check_several import check_several
from borel.engine.continuous.check_slopes import check_slopes
from borel.errors import InvalidInput
from borel.progress import bar
from borel.store import Audit, load

if TYPE_CHECKING:
    from collections.abc import Callable

_SUPREMUM = "the supremum over the outcomes"
_MEANS = ("mean", "exp_mean", "maximal_leakage", "maximal_cost_leakage")
_JOINT = ("kernel", "prior", "outcome")
_ROUNDING = 2.0**-30
_GUARANTEE = re.compile(
    r"guarantees/(?P<kind>PML|PMC|LDP|LIP)-epsilon-(?P<epsilon>[0-9.]+)(-delta-(?P<delta>[0-9.]+))?"
)
_CHECKERS = {
    "box_point": check_dimensions,
    "count_infinite": check_counts,
    "count_point": check_counts,
    "outcomes": check_outcomes,
    "discrete_law": check_discrete_laws,
    "fading": check_fading,
    "infinite": check_in_logs,
    "infinite_quantile": check_infinite_laws,
    "information": check_informations,
    "law": check_laws,
    "mean": check_means,
    "pair": check_pairs,
    "point": check_in_logs,
    "pole": check_poles,
    "slope": check_slopes,
}


class Verified(NamedTuple):
    """What came of one figure.

    Attributes
    ----------
    name : str
        The figure.
    bound : str
        What the result says.
    outcome : {"verified", "refused", "none"}
        ``none``: the figure carries no certificate, or one that may be about part of it.
    words : str
        The number of leaves verified and what they speak of; or the leaves that fail.
    """

    name: str
    bound: str
    outcome: str
    words: str


def verify(path: Path, progress: bool | None = False) -> list[Verified]:
    """Verify every certificate of a file; nothing of the study runs.

    Parameters
    ----------
    path : Path
        A ``result.nc``, its folder, or one certificate as JSON
        (``json.dump(bound.certificate, file)``).
    progress : bool, optional
        Whether a bar on the error stream shows what is verified; None: in a terminal.

    Returns
    -------
    list of Verified
        One for each figure.

    Raises
    ------
    InvalidInput
        No such file, or one that holds neither figures nor a certificate.
    """
    if path.suffix == ".json":
        certificate = _from_json(path)
        ends = f"[{certificate.get('lower')}, {certificate.get('upper')}]"
        return [_safely(_checked, str(certificate.get("quantity")), ends, certificate)]
    bounds, found = load(path), []
    with bar(len(bounds), progress) as tick:
        for name, bound in bounds.items():
            tick(len(found), name)
            several = bound.certificate is not None and _over(bounds, name)
            words = f"it is {several}, its certificate is about one prior"
            refused = Verified(name, repr(bound), "refused", words)
            found.append(refused if several else verified(name, bound))
    return found


def _over(audit: Audit, name: str) -> str:
    """Return what a figure is that is not about one prior; else nothing."""
    attrs, law = audit.tree[name].attrs, name.partition("/law/")
    context = json.loads(attrs.get("context", "{}"))
    if law[1] and audit.tree[f"{law[0]}/law"].attrs.get("under"):
        return "over outcomes and priors"
    said = {"over": "over a set of priors", "quantile": "a quantile over priors",
            "probability_of": "a probability over priors"}  # fmt: skip
    return next((words for key, words in said.items() if key in context), "")


def verified(name: str, bound: Bound) -> Verified:
    """Verify the certificate of one figure: its leaves, and that it is about this enclosure."""
    if bound.certificate is None:
        why = "exact: a closed form or rational arithmetic" if bound.status == "exact" else "none"
        return Verified(name, repr(bound), "none", why)
    return _safely(_of_figure, name, repr(bound), bound.certificate, bound)


def _safely(verify_: Callable[..., Verified], name: str, shown: str, *about: Any) -> Verified:
    """Verify; whatever a wrong certificate leads to, it is refused."""
    try:
        return verify_(name, shown, *about)
    except Exception as error:
        words = f"no certificate of this kind: {type(error).__name__}: {error}"
        return Verified(name, shown, "refused", words)


def _of_figure(name: str, shown: str, certificate: dict, bound: Bound) -> Verified:
    lower, upper = (float(certificate.get(end, math.nan)) for end in ("lower", "upper"))
    if not (bound.lower <= lower and upper <= bound.upper):
        words = f"its certificate is about [{lower}, {upper}], not about this figure"
        return Verified(name, shown, "refused", words)
    found = _checked(name, shown, certificate)
    if found.outcome != "verified":  # its claim may not even be one
        return found
    one = name.removesuffix("/nominal")
    what = _wanted(one, certificate, found.words)
    if what is None:
        words = f"not known what it should be about; it is about {found.words}"
        return Verified(name, shown, "none", words)
    if what:
        single = "one outcome only: " if ", at y = " in found.words else ""
        words = f"it is {what}, its certificate is about {single}{found.words}"
        return Verified(name, shown, "refused", words)
    if bound.units != _units(one):
        words = f"it is in {bound.units}, its certificate is in {_units(one)}"
        return Verified(name, shown, "refused", words)
    if bound.exact_ratio is not None and not _same(bound.exact_ratio, bound):
        words = f"its ratio is {tuple(bound.exact_ratio)}, which is another figure"
        return Verified(name, shown, "refused", words)
    return found


def _same(ratio: Ratio, bound: Bound) -> bool:
    """Return whether the logarithm of a ratio is within a bound, but for rounding."""
    low, high = (
        math.log(end) if 0 < end < math.inf else math.copysign(math.inf, end - 1) for end in ratio
    )
    return bound.lower - _ROUNDING <= low <= high <= bound.upper + _ROUNDING


def _units(name: str) -> str:
    """Return the units in which a certificate states a figure."""
    guarantee = _GUARANTEE.fullmatch(name)
    if guarantee and float(guarantee["delta"] or 0) > 0:
        return "probability"
    return "ratio" if name.endswith("/law/exp_mean") else "nats"


def _wanted(name: str, certificate: dict, words: str) -> str | None:
    """Return what a figure is, if its certificate is about something else; else nothing.

    None for the name of a figure of which it is not known what a certificate of it is about.
    """
    # of several certificates it is their claims that were verified
    several = {"parts", "sides", "terms"} & set(certificate)
    claim = {} if several else certificate["claim"]
    kind, figure = claim.get("type"), claim.get("figure")
    if kind == "discrete_law":
        kind = "mean" if figure in _MEANS else "law"
    points = "outcome" in certificate and certificate["outcome"]["points"]
    supremum = "sides" not in certificate and words.endswith(_SUPREMUM)
    # the checkers prove f_Y > 0: of countable outcomes, one of positive mass is enough
    supremum |= bool(points) and kind in ("infinite", "count_infinite") and ", at y = " in words
    of_kind = name.split("/")[0]
    larger = of_kind == "ldp" and float(certificate["lower"]) == math.inf  # than PML and PMC
    if of_kind in ("pml", "pmc", "ldp") and not larger and certificate["quantity"] != of_kind:
        return of_kind
    if name in ("pml", "pmc", "ldp"):
        return "" if supremum else "a supremum"
    if name == "lip":  # or one of them is infinite
        infinite = supremum and float(certificate["lower"]) == math.inf
        return "" if "sides" in certificate or infinite else "the larger of two suprema"
    if name == "maximal_leakage":
        diverges = certificate["quantity"] == "pml" and _diverges(certificate, "exp_mean")
        return "" if (kind, figure) == ("mean", name) or diverges else "maximal leakage"
    if name == "maximal_cost_leakage":
        return "" if (kind, figure) == ("mean", name) else "maximal cost leakage"
    if name == "mutual_information":
        return "" if (kind, figure) == ("information", "kl") else "mutual information"
    if name == "envelope":
        return f"{name}, of which there are no certificates"
    kind_, law, of = name.partition("/law/")
    if law and kind_ not in ("pml", "pmc"):
        return None
    if law and of in ("mean", "exp_mean"):
        fits = (kind, figure) == ("mean", of) or _diverges(certificate, of)
        return "" if fits else f"the {of}"
    if law and of.startswith("quantile-"):
        level = Fraction(of.removeprefix("quantile-"))
        meant = supremum if level == 1 else _at_level(claim, level)
        return "" if meant else "the " + of.replace("-", " at ")
    if name in ("pml/one outcome", "pmc/one outcome"):
        return "" if ", at y = " in words else "the leakage at one outcome"
    guarantee = _GUARANTEE.fullmatch(name)
    if guarantee is None:
        return None
    leakage, epsilon, delta = guarantee["kind"].lower(), guarantee["epsilon"], guarantee["delta"]
    if delta is None or float(delta) == 0:
        return _wanted(leakage, certificate, words)
    about = [certificate["quantity"], kind, figure, claim.get("closed")]
    tail = about == [leakage, "law", "tail", False] and claim["t"] == float(epsilon)
    return "" if tail else f"the tail at {epsilon}"


def _diverges(certificate: dict, figure: str) -> bool:
    """Return whether a proof that a leakage is infinite is one that a mean of it is."""
    several = {"parts", "sides", "terms"} & set(certificate)
    claim = {} if several else certificate["claim"]
    kind = claim.get("type")
    if kind not in ("infinite", "pole", "count_infinite"):
        return False
    points = certificate["outcome"]["points"]
    if kind == "count_infinite" and certificate["quantity"] == "pml":
        return figure == "exp_mean"  # that is what it proves, along outcomes that move
    proof = claim["proof"]
    box = proof["y"].get("box")  # at almost all outcomes of it, and f_Y > 0 there
    if points:  # one of positive mass is enough
        return box is not None and kind != "pole"
    everywhere = points is None and box is not None and box[0] < box[1]
    mass = kind == "infinite" and proof.get("kind") == "mass"  # the one checker that reads it
    return everywhere or (figure == "exp_mean" and mass)


def _at_level(claim: dict, exact: Fraction) -> bool:
    """Return whether a claim is about the left quantile at a level, or at its float."""
    about = [claim.get(key) for key in ("type", "figure", "side")]
    levels = exact, Fraction(float(exact))
    laws = ("law", "discrete_law", "infinite_quantile")
    quantile = about[0] in laws and about[1:] == ["quantile", "left"]
    return quantile and Fraction(*claim["s"]) in levels


def _checked(name: str, bound: str, certificate: dict) -> Verified:
    if "sides" in certificate:
        return _larger(name, bound, certificate)
    if "terms" in certificate:
        return _sum(name, bound, certificate)
    parts = certificate.get("parts", [certificate])
    if not (isinstance(parts, list) and parts and all(isinstance(part, dict) for part in parts)):
        return Verified(name, bound, "refused", "parts: not a list of certificates")
    failures, leaves = _supremum(certificate) if "parts" in certificate else [], 0
    scope, given = _SUPREMUM, ""
    for part in parts:
        claim = part.get("claim")
        claim = claim if isinstance(claim, dict) else {}
        report = _checker(part, str(claim.get("type")))(part)
        leaves += report.checked
        failures += [
            f"{report.scope}: {line}" if len(parts) > 1 else line for line in report.failures
        ]
        if "parts" in certificate and report.scope != f"at y = {claim.get('y')}":
            failures.append(f"parts: one is about something else: {report.scope}")
        scope = report.scope if len(parts) == 1 else scope
        given = ", with f_Y as its theorem has it" if claim.get("marginal") else given
    if not failures:
        words = f"{leaves} leaves hold{given}; {certificate['quantity']}, {scope}"
        return Verified(name, bound, "verified", words)
    more = f" (and {len(failures) - 3} more)" if len(failures) > 3 else ""
    return Verified(name, bound, "refused", "; ".join(failures[:3]) + more)


def _checker(part: dict, kind: str) -> Callable[[dict], Report]:
    """Return the checker of claims of a kind; those about counts have a format of their own."""
    if part.get("format") == 4 and kind in ("outcomes", "law", "mean", "infinite_quantile"):
        return check_count_laws
    if part.get("format") == 7:
        return check_several
    return _CHECKERS.get(kind, check)


def _larger(name: str, bound: str, certificate: dict) -> Verified:
    """Verify the larger of two suprema: both sides, and that they are of the same joint."""
    sides, failures, words = certificate["sides"], [], []
    if certificate["quantity"] != "lip":
        failures.append(f"sides: {certificate['quantity']} is no larger of two")
    if not (isinstance(sides, list) and all(isinstance(side, dict) for side in sides)):
        return Verified(name, bound, "refused", "sides: not a list of certificates")
    if sorted(str(side.get("quantity")) for side in sides) != ["pmc", "pml"]:
        failures.append("sides: they are not PML and PMC")
    joints = [(side.get("parts") or [side])[0] for side in sides]
    if any(joint.get(key) != joints[0].get(key) for joint in joints for key in _JOINT):
        failures.append("sides: they are not about the same joint")
    for side in sides:
        if "sides" in side:
            failures.append("sides: one is a larger of two itself")
            continue
        found = _checked(name, bound, side)
        words.append(found.words)
        if found.outcome != "verified":
            failures.append(found.words)
        elif not found.words.endswith(_SUPREMUM):
            failures.append(f"sides: one is about something else: {found.words}")
    for end in ("lower", "upper"):
        most = max((float(side[end]) for side in sides), default=math.nan)
        wide = float(certificate[end])
        if not (wide <= most if end == "lower" else most <= wide):
            failures.append(f"bound: {end} {wide}, but the sides give {most}")
    outcome = "refused" if failures else "verified"
    return Verified(name, bound, outcome, "; ".join(failures[:3] or words))


def _sum(name: str, bound: str, certificate: dict) -> Verified:
    """Verify LDP over finitely many outcomes: at each it is the sum of PML and PMC."""
    terms, failures, words = certificate["terms"], [], []
    if certificate["quantity"] != "ldp":
        failures.append(f"terms: {certificate['quantity']} is no sum of two")
    if [term.get("quantity") for term in terms] != ["pml", "pmc"]:
        failures.append("terms: they are not PML and PMC")
    joints = [part.get(key) for key in _JOINT for term in terms for part in term["parts"][:1]]
    if any(joints[k] != joints[k + 1] for k in range(0, len(joints), 2)):
        failures.append("terms: they are not about the same joint")
    for term in terms:
        found = _checked(name, bound, term)
        words.append(found.words)
        if found.outcome != "verified":
            failures.append(found.words)
    pairs = list(zip(*(term["parts"] for term in terms), strict=True))
    if any(one["claim"]["y"] != other["claim"]["y"] for one, other in pairs):
        failures.append("terms: their outcomes are not in one order")
    for end in ("lower", "upper"):
        sums = [sum(Fraction(float(part[end])) for part in pair) for pair in pairs]
        most, wide = max(sums), float(certificate[end])
        if not (wide <= most if end == "lower" else most <= wide):
            failures.append(f"bound: {end} {wide}, but the terms give {float(most)}")
    outcome = "refused" if failures else "verified"
    return Verified(name, bound, outcome, "; ".join(failures[:3] or words))


def _supremum(certificate: dict) -> list[str]:
    """Say what is wrong with a supremum over finitely many outcomes, given one part for each."""
    parts, failures = certificate["parts"], []
    first = parts[0]
    if any(part[key] != first[key] for part in parts for key in _JOINT):
        failures.append("parts: they are not about the same joint")
    if any(part["quantity"] != certificate["quantity"] for part in parts):
        failures.append("parts: they are not about the same quantity")
    places = sorted(part["claim"].get("y", math.nan) for part in parts)
    if first["outcome"]["points"] is None or places != sorted(first["outcome"]["points"]):
        failures.append(f"parts: outcomes {places} are not all of {first['outcome']['points']}")
    for end in ("lower", "upper"):
        most = max(float(part[end]) for part in parts)
        wide = float(certificate[end])
        if not (wide <= most if end == "lower" else most <= wide):
            failures.append(f"bound: {end} {wide}, but the parts give {most}")
    return failures


def _from_json(path: Path) -> dict:
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        data, why = None, f"no file {path}"
    except (OSError, ValueError) as error:
        data, why = None, f"{path}: {error}"
    else:
        why = f"{path}: {type(data).__name__}"
    if not isinstance(data, dict):
        raise InvalidInput("borel check", expected="a certificate as JSON", got=why)
    return data
