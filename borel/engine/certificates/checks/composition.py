"""Verify one certificate, whatever it is composed of: parts for outcomes, sides, terms.

The checkers see one claim at a time; here is what follows from several of them together.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

from borel.engine.certificates.checks.count_laws import check_count_laws
from borel.engine.certificates.checks.counts import check_counts
from borel.engine.certificates.checks.discrete_laws import check_discrete_laws
from borel.engine.certificates.checks.envelope_ends import ends as ends_of_envelope
from borel.engine.certificates.checks.envelopes import check_envelopes
from borel.engine.certificates.checks.events import check_excess
from borel.engine.certificates.checks.fading import check_fading
from borel.engine.certificates.checks.finite_envelopes import check_finite_envelopes
from borel.engine.certificates.checks.in_logs import check_in_logs
from borel.engine.certificates.checks.infinite_quantiles import check_infinite_laws
from borel.engine.certificates.checks.informations import check_informations
from borel.engine.certificates.checks.laws import check_laws
from borel.engine.certificates.checks.masses import on_trust
from borel.engine.certificates.checks.means import check_means
from borel.engine.certificates.checks.pairs import check_pairs
from borel.engine.certificates.checks.poles import check_poles
from borel.engine.certificates.checks.prior_sets import check_sets
from borel.engine.certificates.checks.set_means import check_set_means
from borel.engine.certificates.checks.set_rules import RULES as COMBINED
from borel.engine.certificates.checks.several_laws import check_several
from borel.engine.certificates.checks.several_points import check_dimensions
from borel.engine.certificates.checks.slopes import check_slopes
from borel.engine.certificates.checks.squares import check_squares
from borel.engine.certificates.checks.suprema import check_outcomes
from borel.engine.certificates.checks.verifier import Report, check

if TYPE_CHECKING:
    from collections.abc import Callable

SUPREMUM = "the supremum over the outcomes"
_JOINT = ("kernel", "prior", "outcome")
_ENDS = ("lower", "upper")
_COMPOSED = ("claim", "parts", "sides", "terms", "over", "envelope")
"""What a certificate has one of: a claim of its own, or others from which it follows."""
_FORMATS = {"over": 9, "envelope": 12}
_BESIDE = ("over", "envelope")
"""Those that say what it is about; the certificates from which it follows are beside it."""
_CHECKERS = {
    "box_point": check_dimensions,
    "count_infinite": check_counts,
    "count_point": check_counts,
    "outcomes": check_outcomes,
    "discrete_law": check_discrete_laws,
    "envelope": check_envelopes,
    "excess": check_excess,
    "expectation": check_set_means,
    "fading": check_fading,
    "finite_envelope": check_finite_envelopes,
    "infinite": check_in_logs,
    "infinite_quantile": check_infinite_laws,
    "information": check_informations,
    "law": check_laws,
    "mean": check_means,
    "pair": check_pairs,
    "point": check_in_logs,
    "set": check_sets,
    "pole": check_poles,
    "slope": check_slopes,
    "square": check_squares,
}


class Composed(NamedTuple):
    """What came of a certificate.

    Attributes
    ----------
    failures : list of str
        The leaves that fail, and what does not follow from them; none if it is verified.
    words : str
        How many leaves hold, and what it is about.
    """

    failures: list[str]
    words: str


class Examined(NamedTuple):
    """What came of a certificate, and what it takes on trust.

    Attributes
    ----------
    failures, words
        As of `Composed`.
    given : list of str
        What is taken on trust beside Arb and the tracer of densities.
    """

    failures: list[str]
    words: str
    given: list[str]


def checked(certificate: dict) -> Composed:
    """Verify a certificate: every claim in it, and that the bound follows from them."""
    return Composed(*examined(certificate)[:2])


def examined(certificate: dict) -> Examined:
    """Verify a certificate, and say what it takes on trust."""
    try:
        return _checked(certificate)
    except Exception as error:  # whatever it is, it is no certificate
        return Examined([f"certificate: {type(error).__name__}: {error}"], "", [])


def _checked(certificate: dict) -> Examined:
    if wrong := _misshapen(certificate):
        return Examined([wrong], "", [])
    for key, rule in _RULES.items():
        if key in certificate:
            return rule(certificate)
    parts = certificate.get("parts", [certificate])
    failures, leaves = _supremum(certificate) if "parts" in certificate else [], 0
    scope, given, trusted = SUPREMUM, "", []
    for part in parts:
        claim = part.get("claim")
        claim = claim if isinstance(claim, dict) else {}
        report = _checker(part, str(claim.get("type")))(part)
        try:
            trusted += [] if report.failures else on_trust(part)
        except ValueError as error:
            failures.append(f"prior: {error}")
        leaves += report.checked
        failures += [
            f"{report.scope}: {line}" if len(parts) > 1 else line for line in report.failures
        ]
        if "parts" in certificate and report.scope != f"at y = {claim.get('y')}":
            failures.append(f"parts: one is about something else: {report.scope}")
        scope = report.scope if len(parts) == 1 else scope
        given = ", with f_Y as its theorem has it" if claim.get("marginal") else given
    words = f"{leaves} leaves hold{given}; {certificate['quantity']}, {scope}"
    return Examined(failures, words, [*dict.fromkeys(trusted)])


def _misshapen(certificate: dict) -> str:
    """Say why it is not one certificate: what one rule reads has to be what another verifies."""
    kinds = [key for key in _COMPOSED if key in certificate]
    if len(kinds) != 1:
        return f"certificate: {kinds or 'nothing'} instead of one of {', '.join(_COMPOSED)}"
    (kind,) = kinds
    if wrong := [end for end in _ENDS if not _is_end(certificate.get(end))]:
        return f"bound: {wrong} not as floats"
    if certificate.get("format") != _FORMATS.get(kind, certificate.get("format")):
        return f"format: {certificate.get('format')} for {kind!r}"
    if kind != "claim":
        beside = kind in _BESIDE
        about = sorted({*_JOINT, *(() if beside else ("of",))} & {*certificate})
        if about:
            return f"certificate: {about} beside {kind!r}"
        parts = certificate["of" if beside else kind]
        if not (isinstance(parts, list) and parts and all(isinstance(one, dict) for one in parts)):
            return f"{kind}: not a list of certificates"
        inner = {"parts": {"claim"}, "terms": {"parts"}}.get(kind, {*_COMPOSED})
        if not all(inner & {*one} for one in parts):
            return f"{kind}: one is none of {', '.join(sorted(inner))}"
        return next(filter(None, map(_misshapen, parts)), "")
    prior, claim = certificate.get("prior", {}), certificate["claim"]
    if not (isinstance(prior, dict) and isinstance(claim, dict)) or "of" in certificate:
        return "certificate: no prior and claim"
    of_set_ = claim.get("type") in ("set", "expectation")
    if ({*prior} == {"set", "secrets"}) != of_set_ or ("set" in prior) != of_set_:
        return "prior: a set of priors where one is meant, or the other way round"
    return ""


def _is_end(end: Any) -> bool:
    """Return whether an end is a float, or an integer that is one; infinities may be strings."""
    if isinstance(end, str):
        return end in ("Infinity", "-Infinity")
    return isinstance(end, (int, float)) and type(end) is not bool and float(end) == end


def _checker(part: dict, kind: str) -> Callable[[dict], Report]:
    """Return the checker of claims of a kind; those about counts have a format of their own."""
    if part.get("format") == 4 and kind in ("outcomes", "law", "mean", "infinite_quantile"):
        return check_count_laws
    if part.get("format") == 7:
        return check_several
    return _CHECKERS.get(kind, check)


def _joint(certificate: dict) -> list:
    """Return which joint a certificate is about."""
    if "over" in certificate:
        return [certificate["over"], *map(_joint, certificate["of"])]
    for key, first in (("envelope", "of"), *((key, key) for key in ("parts", "terms", "sides"))):
        if key in certificate:
            return _joint(certificate[first][0])
    return [certificate.get(key) for key in _JOINT]


def _mechanism(certificate: dict) -> list:
    """Return which mechanism a certificate is about."""
    if "over" in certificate:
        return _mechanism(certificate["of"][0])
    return _joint(certificate)[::2]


def of_set(certificate: dict) -> bool:
    """Return whether a certificate is about a set of priors."""
    each = certificate.get("sides", [certificate])
    return all("over" in one or "set" in one.get("prior", ()) for one in each)


def _each(certificates: list[dict]) -> tuple[list[str], list[str], list[str]]:
    """Verify several certificates: what fails, what they are about, and what they trust."""
    found = [examined(one) for one in certificates]
    given = dict.fromkeys(words for one in found for words in one.given)
    return [v for one in found for v in one.failures], [one.words for one in found], [*given]


def _over(certificate: dict) -> Examined:
    """Verify a figure over a set of priors by certificates about single priors."""
    of, over = certificate["of"], certificate["over"]
    failures, words, given = _each(of)
    # the corners of a hull are several priors, the parts of a union sets of them
    about = _mechanism if over["kind"] in ("hull", "union") else _joint
    if any(about(one) != about(of[0]) for one in of):
        failures.append("of: they are not about the same joint")
    if any(of_set(one) != (over["kind"] == "union") for one in of):
        failures.append("of: about a set where one prior is meant, or the other way round")
    if certificate["quantity"] not in ("pml", "pmc", "ldp"):
        failures.append(f"over: not known of {certificate['quantity']}")
    try:
        low, high = COMBINED[over["kind"]](certificate, of, words)
        # leakage is not negative
        failures += _outside(certificate, "priors", max(low, 0), high)
    except (ValueError, KeyError, TypeError) as error:
        failures.append(f"over: {type(error).__name__}: {error}")
    return Examined(failures, f"over a set of priors ({over['kind']}): {words[0]}", given)


def _envelope(certificate: dict) -> Examined:
    """Verify an envelope by certificates about the outcomes themselves."""
    of = certificate["of"]
    failures, words, given = _each(of)
    if any(_joint(one) != _joint(of[0]) or of_set(one) for one in of):
        failures.append("of: they are not about the same joint")
    low, high, scope = ends_of_envelope(certificate, of, words)
    failures += _outside(certificate, "outcomes", low, high)
    return Examined(failures, f"{'; '.join(words)}: {certificate['quantity']}, {scope}", given)


def _outside(certificate: dict, what: str, low: Any, high: Any) -> list[str]:
    """Say which ends of a certificate are not as loose as what was proved."""
    ends = {"lower": low, "upper": high}
    loose = float(certificate["lower"]) <= low, high <= float(certificate["upper"])
    return [
        f"bound: {end} {certificate[end]}, but the {what} give {float(value)}"
        for fits, (end, value) in zip(loose, ends.items(), strict=True)
        if not fits
    ]


def _larger(certificate: dict) -> Examined:
    """Verify the larger of two suprema: both sides, and that they are of the same joint."""
    sides, failures = certificate["sides"], []
    if certificate["quantity"] != "lip":
        failures.append(f"sides: {certificate['quantity']} is no larger of two")
    if sorted(str(side.get("quantity")) for side in sides) != ["pmc", "pml"]:
        failures.append("sides: they are not PML and PMC")
    if any(_joint(side) != _joint(sides[0]) for side in sides):
        failures.append("sides: they are not about the same joint")
    if any("sides" in side for side in sides):
        return Examined(["sides: one is a larger of two itself"], "", [])
    own, words, given = _each(sides)
    about = [f"sides: one is about something else: {w}" for w in words if not w.endswith(SUPREMUM)]
    ends = [max((float(side[end]) for side in sides), default=math.nan) for end in _ENDS]
    failures += [*own, *about, *_outside(certificate, "sides", *ends)]
    return Examined(failures, "; ".join(words), given)


def _sum(certificate: dict) -> Examined:
    """Verify LDP over finitely many outcomes: at each it is the sum of PML and PMC."""
    terms, failures = certificate["terms"], []
    if certificate["quantity"] != "ldp":
        failures.append(f"terms: {certificate['quantity']} is no sum of two")
    if [term.get("quantity") for term in terms] != ["pml", "pmc"]:
        failures.append("terms: they are not PML and PMC")
    if _joint(terms[0]) != _joint(terms[-1]):
        failures.append("terms: they are not about the same joint")
    own, words, given = _each(terms)
    pairs = list(zip(*(term["parts"] for term in terms), strict=True))
    if any(one["claim"]["y"] != other["claim"]["y"] for one, other in pairs):
        failures.append("terms: their outcomes are not in one order")
    ends = [max(sum(Fraction(float(part[e])) for part in pair) for pair in pairs) for e in _ENDS]
    failures += [*own, *_outside(certificate, "terms", *ends)]
    return Examined(failures, "; ".join(words), given)


def _supremum(certificate: dict) -> list[str]:
    """Say what is wrong with a supremum over finitely many outcomes, given one part for each."""
    parts, failures = certificate["parts"], []
    first = parts[0]
    if any(_joint(part) != _joint(first) for part in parts):
        failures.append("parts: they are not about the same joint")
    if any(part["quantity"] != certificate["quantity"] for part in parts):
        failures.append("parts: they are not about the same quantity")
    places = sorted(part["claim"].get("y", math.nan) for part in parts)
    if first["outcome"]["points"] is None or places != sorted(first["outcome"]["points"]):
        failures.append(f"parts: outcomes {places} are not all of {first['outcome']['points']}")
    ends = [max(float(part[end]) for part in parts) for end in _ENDS]
    return [*failures, *_outside(certificate, "parts", *ends)]


_RULES = {"sides": _larger, "terms": _sum, "over": _over, "envelope": _envelope}
