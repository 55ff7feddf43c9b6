"""What ``borel check`` does: verify the certificates of a result again, figure by figure."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import NamedTuple

from borel.bound import Bound
from borel.errors import InvalidInput
from borel.store import load


class Verified(NamedTuple):
    """What came of one figure.

    Attributes
    ----------
    name : str
        The figure.
    bound : str
        What the result says.
    outcome : {"verified", "refused", "none"}
        ``none``: the figure carries no certificate.
    words : str
        The number of leaves verified and what they speak of; or the leaves that fail.
    """

    name: str
    bound: str
    outcome: str
    words: str


def verify(path: Path) -> list[Verified]:
    """Verify every certificate of a file; nothing of the study runs.

    Parameters
    ----------
    path : Path
        A ``result.nc``, its folder, or one certificate as JSON
        (``json.dump(bound.certificate, file)``).

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
        return [_checked(str(certificate.get("quantity")), ends, certificate)]
    return [verified(name, bound) for name, bound in load(path).items()]


def verified(name: str, bound: Bound) -> Verified:
    """Verify the certificate of one figure: its leaves, and that it is about this enclosure."""
    certificate = bound.certificate
    if certificate is None:
        why = "exact: a closed form or rational arithmetic" if bound.status == "exact" else "none"
        return Verified(name, repr(bound), "none", why)
    lower, upper = (float(certificate.get(end, math.nan)) for end in ("lower", "upper"))
    if not (bound.lower <= lower and upper <= bound.upper):
        words = f"its certificate is about [{lower}, {upper}], not about this figure"
        return Verified(name, repr(bound), "refused", words)
    return _checked(name, repr(bound), certificate)


def _checked(name: str, bound: str, certificate: dict) -> Verified:
    from borel.engine.check import check

    report = check(certificate)
    if report.ok:
        words = f"{report.checked} leaves hold; {certificate['quantity']}, {report.scope}"
        return Verified(name, bound, "verified", words)
    more = f" (and {len(report.failures) - 3} more)" if len(report.failures) > 3 else ""
    return Verified(name, bound, "refused", "; ".join(report.failures[:3]) + more)


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
