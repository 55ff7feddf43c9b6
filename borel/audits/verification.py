"""What ``borel check`` does: verify the certificates of a result again, figure by figure."""

from __future__ import annotations

import json
import math
import re
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from borel.audits import named_joints
from borel.audits.result import Audit, load
from borel.audits.table import DELTA
from borel.engine.certificates.checks.composition import SUPREMUM, examined, of_set
from borel.errors import InvalidInput
from borel.probability.bound import Bound, Ratio

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_MEANS = ("mean", "exp_mean", "maximal_leakage", "maximal_cost_leakage")
_ROUNDING, _SET = 2.0**-30, "over a set of priors"
_GUARANTEE = re.compile(
    r"guarantees/(?P<kind>PML|PMC|LDP|LIP)-epsilon-(?P<epsilon>[0-9.]+)(-delta-(?P<delta>[0-9.]+))?"
)


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
        What is taken on trust, the number of leaves verified and what they speak of; or the leaves
        that fail.
    """

    name: str
    bound: str
    outcome: str
    words: str


def verify(path: Path) -> list[Verified]:
    """Verify every certificate of a file; see `verdicts`."""
    return [*verdicts(path)]


def verdicts(path: Path) -> Iterator[Verified]:
    """Verify every certificate of a file, one by one; nothing of the study runs.

    Parameters
    ----------
    path : Path
        A ``result.nc``, its folder, or one certificate as JSON
        (``json.dump(bound.certificate, file)``).

    Yields
    ------
    Verified
        One for each figure, as soon as it is known.

    Raises
    ------
    InvalidInput
        No such file, or one that holds neither figures nor a certificate.
    """
    if path.suffix == ".json":
        certificate = _from_json(path)
        ends = f"[{certificate.get('lower')}, {certificate.get('upper')}]"
        yield _safely(_alone, str(certificate.get("quantity")), ends, certificate)
        return
    bounds = load(path)
    foreign = _foreign(bounds)
    for name, bound in bounds.items():
        yield _safely(_in_audit, name, repr(bound), bound, bounds, foreign)


def _in_audit(
    name: str, shown: str, bound: Bound, audit: Audit, foreign: Callable[[str, dict], str]
) -> Verified:
    """Verify a figure, if its certificate is about what is said where the figure is."""
    certificate = bound.certificate
    wrong = certificate and (_misplaced(audit, name, certificate) or foreign(name, certificate))
    if wrong:
        return Verified(name, shown, "refused", str(wrong))
    why = audit.without_certificate.get(name) if bound.status != "exact" else None
    found = verified(name, bound)
    return found if why is None else found._replace(words=f"none; missing: {why}")


def _foreign(audit: Audit) -> Callable[[str, dict], str]:
    """Return what says that a certificate is about another joint than its result."""
    attrs = audit.tree.attrs
    if named := json.loads(attrs.get("joint", "{}")):
        return lambda _, certificate: named_joints.foreign(certificate, named)
    # older results do not name theirs, and draws are of many priors
    one = not (attrs.get("prior_set") or attrs.get("posterior"))
    made = {name: bound.certificate for name, bound in audit.items() if bound.certificate}
    found = named_joints.strangers(made, one)
    return lambda name, _: found.get(name, "")


def _misplaced(audit: Audit, name: str, certificate: dict) -> str:
    """Say that a certificate is about one prior, but not the figure, or the other way round."""
    several, whole = _over(audit, name), of_set(certificate)
    if whole != (several == _SET):
        own = _SET if whole else "about one prior"
        return f"it is {several or 'about one prior'}, its certificate is {own}"
    return ""


def _over(audit: Audit, name: str) -> str:
    """Return what a figure is that is not about one prior; else nothing."""
    attrs, law = audit.tree[name].attrs, name.partition("/law/")
    context = json.loads(attrs.get("context", "{}"))
    if law[1] and audit.tree[f"{law[0]}/law"].attrs.get("under"):
        return "over outcomes and priors"
    said = {"over": _SET, "quantile": "a quantile over priors",
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


def _alone(name: str, shown: str, certificate: dict) -> Verified:
    """Verify a certificate by itself: the first leaves that fail, or what it is about."""
    found, given = _plainly(name, shown, certificate)
    return found._replace(words=given + found.words)


def _plainly(name: str, shown: str, certificate: dict) -> tuple[Verified, str]:
    """Verify a certificate by itself, with what it takes on trust apart."""
    failures, words, given = examined(certificate)
    more = f" (and {len(failures) - 3} more)" if len(failures) > 3 else ""
    if failures:
        return Verified(name, shown, "refused", "; ".join(failures[:3]) + more), ""
    given_ = f"verified, given {', and '.join(given)}; " if given else ""
    return Verified(name, shown, "verified", words), given_


def _of_figure(name: str, shown: str, certificate: dict, bound: Bound) -> Verified:
    lower, upper = (float(certificate.get(end, math.nan)) for end in ("lower", "upper"))
    if not (bound.lower <= lower and upper <= bound.upper):
        words = f"its certificate is about [{lower}, {upper}], not about this figure"
        return Verified(name, shown, "refused", words)
    found, given = _plainly(name, shown, certificate)
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
    return found._replace(words=given + found.words)


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
    claim = certificate.get("claim") or certificate.get("envelope", {})
    kind, figure = claim.get("type"), claim.get("figure")
    if kind == "discrete_law":
        kind = "mean" if figure in _MEANS else "law"
    points = "outcome" in certificate and certificate["outcome"]["points"]
    supremum = "sides" not in certificate and words.endswith(SUPREMUM)
    # the checkers prove f_Y > 0: of countable outcomes, one of positive mass is enough
    supremum |= bool(points) and kind in ("infinite", "count_infinite") and ", at y = " in words
    of_kind = name.split("/")[0]
    larger = of_kind == "ldp" and float(certificate["lower"]) == math.inf  # than PML and PMC
    if of_kind in ("pml", "pmc", "ldp") and not larger and certificate["quantity"] != of_kind:
        return of_kind
    if kind == "set" and name in ("mutual_information", "maximal_leakage"):
        return "" if certificate["quantity"] == name else name.replace("_", " ")
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
        level = "envelope" in certificate or kind in ("envelope", "finite_envelope")
        level &= figure == "epsilon"
        level &= certificate["quantity"] == "pml_envelope"
        meant = level and Fraction(*claim["delta"]) == DELTA
        return "" if meant else f"the envelope of PML at {DELTA}"
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
    claim = certificate.get("claim", {})
    kind = claim.get("type")
    if kind == "square":  # it is about E e^PMC
        return figure == "exp_mean" and certificate["quantity"] == "pmc"
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


def _from_json(path: Path) -> dict:
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        data, why = None, f"no file {path}"
    except (OSError, ValueError, RecursionError) as error:
        data, why = None, f"{path}: {error}"
    else:
        why = f"{path}: {type(data).__name__}"
    if not isinstance(data, dict):
        raise InvalidInput("borel check", expected="a certificate as JSON", got=why)
    return data
