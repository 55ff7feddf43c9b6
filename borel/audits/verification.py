"""What ``borel check`` does: verify the certificates of a result again, figure by figure."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

from borel import checker
from borel.audits import named_joints
from borel.audits.result import Audit, load
from borel.audits.table import ONE_DRAW
from borel.checker.reading import extended, parse
from borel.engine.figures import DELTA, FIGURES, LEAKAGES, in_reports
from borel.errors import InvalidInput
from borel.guarantees.rounded_levels import level_of
from borel.probability.bound import Bound, Ratio

_ROUNDING = 2.0**-30
_GUARANTEE = re.compile(
    r"guarantees/(?P<kind>\w+)-(epsilon-(?P<epsilon>[0-9.]+)|log-(?P<ratio>[0-9]+(-[0-9]+)?))"
    r"(-delta-(?P<delta>[0-9.]+(-[0-9]+)?))?"
)
_LINE = re.compile(r"disclosure/[^/]+/line")
_SET, _ONE = "over a set of priors", "about one prior"


class Verified(NamedTuple):
    """What came of one figure.

    Attributes
    ----------
    name : str
        The figure.
    bound : str
        What the result says.
    outcome : {"verified", "refused", "none"}
        ``none``: the figure carries no certificate, or it is not known what one should be about.
    words : str
        What was verified, and what is taken on trust; or why not.
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
        yield _safely(_alone, str(certificate.get("figure")), ends, certificate)
        return
    bounds = load(path)
    for name, bound in bounds.items():
        yield _safely(_in_audit, name, repr(bound), bound, bounds)


def _in_audit(name: str, shown: str, bound: Bound, audit: Audit) -> Verified:
    """Verify a figure, if its certificate is about what is said where the figure is."""
    if bound.certificate is None:
        why = audit.without_certificate.get(name)
        found = verified(name, bound)
        return found if why is None else found._replace(words=f"none; missing: {why}")
    wrong = _old(bound.certificate) or _misplaced(audit, name, bound)
    if wrong:
        return Verified(name, shown, "refused", wrong)
    found = verified(name, bound)
    if found.outcome == "verified" and (place := _draw(audit, name)):
        prior = f"; and that the prior is that of chain {place[0]}, draw {place[1]}"
        found = found._replace(words=found.words + prior)
    return found


def _old(certificate: dict) -> str:
    """Say that a certificate is none that this version verifies; else nothing."""
    if certificate.get("format") == checker.FORMAT:
        return ""
    return (
        f"its certificate is of an older version of borel, format {certificate.get('format')!r}; "
        f"this one verifies format {checker.FORMAT}: `borel audit --certificates` makes it again"
    )


def _misplaced(audit: Audit, name: str, bound: Bound) -> str:
    """Say what a certificate is about that the figure, or its result, is not; else nothing."""
    certificate: Any = bound.certificate
    of, whole = _over(audit, name), _SET if "priors" in certificate["joint"] else _ONE
    part = "one"
    if audit.tree.attrs.get("posterior"):
        part = "draws"
        if (place := _draw(audit, name)) is not None:
            draws = audit.dataset(f"{name.removesuffix(ONE_DRAW)}draws")
            assert draws is not None
            ends = [float(draws[end].values[place]) for end in ("lower", "upper")]
            if ends != [bound.lower, bound.upper]:
                return f"it is not the figure of chain {place[0]}, draw {place[1]}, {ends}"
    elif of == _SET:
        part = "set"
    elif audit.tree.attrs.get("prior_set"):
        part = "nominal"
    if whole != of:
        return f"it is {of}, its certificate is {whole}"
    return named_joints.foreign(
        certificate["joint"], json.loads(audit.tree.attrs.get("joint", "{}")), part
    )


def _draw(audit: Audit, name: str) -> tuple[int, int] | None:
    """Return the chain and the draw of a figure of one draw of the prior."""
    if not name.endswith(f"/{ONE_DRAW}"):
        return None
    witness: Any = audit[name].witness
    return int(witness["chain"]), int(witness["draw"])


def _over(audit: Audit, name: str) -> str:
    """Return over what a figure is: one prior, a set of them, or something else."""
    attrs, law = audit.tree[name].attrs, name.partition("/law/")
    context = json.loads(attrs.get("context", "{}"))
    if law[1] and audit.tree[f"{law[0]}/law"].attrs.get("under"):
        return "over outcomes and priors"
    said = {"over": _SET, "quantile": "a quantile over priors",
            "probability_of": "a probability over priors"}  # fmt: skip
    found = next((words for key, words in said.items() if key in context), _ONE)
    if found == _ONE and audit.tree.attrs.get("posterior") and _draw(audit, name) is None:
        return "a figure over priors"
    return found


def verified(name: str, bound: Bound) -> Verified:
    """Verify the certificate of one figure: its proof, and that it is about this enclosure."""
    if bound.certificate is None:
        why = "exact: a closed form or rational arithmetic" if bound.status == "exact" else "none"
        return Verified(name, repr(bound), "none", why)
    return _safely(_of_figure, name, repr(bound), bound.certificate, bound)


def _safely(verify_: Callable[..., Verified], name: str, shown: str, *about: Any) -> Verified:
    """Verify; whatever a wrong certificate leads to, it is refused."""
    try:
        return verify_(name, shown, *about)
    except checker.Refused as error:
        return Verified(name, shown, "refused", f"{error.where}: {error.why}")
    except Exception as error:
        words = f"no certificate of this kind: {type(error).__name__}: {error}"
        return Verified(name, shown, "refused", words)


def _alone(name: str, shown: str, certificate: dict) -> Verified:
    """Verify a certificate by itself."""
    if old := _old(certificate):
        return Verified(name, shown, "refused", old)
    found = checker.verify(certificate)
    words = f"{found.words}; on trust: {'; and '.join(found.trust)}"
    return Verified(name, shown, "verified", words)


def _of_figure(name: str, shown: str, certificate: dict, bound: Bound) -> Verified:
    if old := _old(certificate):
        return Verified(name, shown, "refused", old)
    lower, upper = (extended(certificate[end], end) for end in ("lower", "upper"))
    if not (bound.lower <= lower and upper <= bound.upper):
        words = f"its certificate is about [{lower}, {upper}], not about this figure"
        return Verified(name, shown, "refused", words)
    one = name.removesuffix("/nominal").removesuffix(f"/{ONE_DRAW}")
    about = certificate["figure"]
    said = "".join(f", {key} = {v}" for key, v in certificate["arguments"].items())
    asked, given, called = _wanted(one) or ("", (), "")
    rule = FIGURES[asked].rule if asked else None
    if rule is None:
        words = f"not known what it should be about; it is about {about}{said}"
        return Verified(name, shown, "none", words)
    wanted, arguments = rule.named(given)
    if about != wanted or not _are(certificate["arguments"], arguments):
        single = "one outcome only: " if about.endswith(".at") else ""
        words = f"it is {called}, its certificate is about {single}{about}{said}"
        return Verified(name, shown, "refused", words)
    units = (FIGURES.get(one) or FIGURES[asked]).units
    if bound.units != units:
        words = f"it is in {bound.units}, its certificate is in {units}"
        return Verified(name, shown, "refused", words)
    if bound.exact_ratio is not None and not _same(bound.exact_ratio, bound):
        words = f"its ratio is {tuple(bound.exact_ratio)}, which is another figure"
        return Verified(name, shown, "refused", words)
    return _alone(name, shown, certificate)


def _same(ratio: Ratio, bound: Bound) -> bool:
    """Return whether the logarithm of a ratio is within a bound, but for rounding."""
    low, high = (
        math.log(end) if 0 < end < math.inf else math.copysign(math.inf, end - 1) for end in ratio
    )
    return bound.lower - _ROUNDING <= low <= high <= bound.upper + _ROUNDING


def _wanted(name: str) -> tuple[str, tuple, str] | None:
    """Return the figure that stands under a name, its arguments, and what it is in words.

    Of an argument a list says which values it may have; None is for any. None for a name of which
    it is not known.
    """
    if name in in_reports():
        one = FIGURES[name]
        words = {"sup": f"a supremum of {name}", "envelope": f"the envelope of PML at {DELTA}"}
        return one.asked, one.given, words.get(one.asked, name.replace("_", " "))
    kind, law, of = name.partition("/law/")
    if law and kind in LEAKAGES:
        if of in ("mean", "exp_mean"):
            return of, (kind,), f"the {of}"
        if of.startswith("quantile-"):
            level = Fraction(of.removeprefix("quantile-"))
            levels = [level, Fraction(float(level))]
            return "quantile", (kind, levels, "left"), "the " + of.replace("-", " at ")
    if name in ("pml/one outcome", "pmc/one outcome"):
        return "at", (name[:3], None), "the leakage at one outcome"
    if _LINE.fullmatch(name):  # the line of Theorem 3.5 is the largest PML
        return _wanted("pml")
    guarantee = _GUARANTEE.fullmatch(name)
    if guarantee is None:
        return None
    leakage, delta = guarantee["kind"].lower(), guarantee["delta"]
    if delta is None or _number(delta) == 0:
        return _wanted(leakage)
    if leakage not in LEAKAGES:
        return None
    level = guarantee["epsilon"] or level_of(leakage, None, _number(guarantee["ratio"])).nats
    return "tail", (leakage, Fraction(float(level)), False), f"the tail at {level}"


def _number(named: str) -> Fraction:
    """Read a number in the name of a guarantee: 0.01, or 1-100 for 1/100."""
    return Fraction(named.replace("-", "/"))


def _are(arguments: dict, wanted: dict[str, Any]) -> bool:
    """Return whether the arguments of a certificate are those that are wanted."""
    return arguments.keys() == wanted.keys() and all(
        _is(arguments[key], one) for key, one in wanted.items()
    )


def _is(argument: Any, wanted: Any) -> bool:
    """Return whether an argument is the one that is wanted, or one of a list of them."""
    if wanted is None:
        return True
    if isinstance(wanted, list):
        return any(_is(argument, one) for one in wanted)
    if isinstance(wanted, (bool, str)):
        return type(argument) is type(wanted) and argument == wanted
    if type(argument) is dict:  # a level, in nats
        (argument,) = (v for unit, v in argument.items() if unit == "nats")
    return Fraction(extended(argument, "arguments")) == wanted


def _from_json(path: Path) -> dict:
    try:
        data = parse(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        data, why = None, f"no file {path}"
    except (OSError, UnicodeDecodeError, checker.Refused) as error:
        data, why = None, f"{path}: {error}"
    else:
        why = f"{path}: {type(data).__name__}"
    if not isinstance(data, dict):
        raise InvalidInput("borel check", expected="a certificate as JSON", got=why)
    return data
