"""The checker: verifies certificates with code of its own, apart from the engine that made them.

It imports python-flint and the standard library, and nothing else of borel. It does not search: how
the alphabets are divided, along which rays, with which prices, is all in the certificate; the
checker evaluates the parts in ball arithmetic and verifies that they make up the whole.

A certificate is a record with the keys

``format``      20
``figure``      what is claimed, such as ``"pml.sup"``
``arguments``   of the figure, such as the outcome of ``"pml.at"``
``lower``, ``upper``   the claim: lower <= figure <= upper
``joint``       the prior and the mechanism, as data: a ``kernel`` or a ``matrix``
``proof``       what proves it: read by the rules of the figure

Numbers are strings, so that nothing is rounded: a float in hexadecimal, a fraction ``"p/q"``,
``"inf"`` or ``"-inf"`` (see `reading`). Whatever is not exactly as it should be is `Refused`.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from borel.checker.reading import Refused, Verified, extended, record, require, text

FORMAT = 20

_RULES = {"kernel": ("figures", "figures"), "matrix": ("tables", "duals")}
"""Which file has the rules for a joint that is given by a kernel, or by a matrix: without a proof,
and with one."""


def verify(certificate: Any) -> Verified:
    """Verify a certificate: a claim about a figure, and its proof.

    Parameters
    ----------
    certificate : dict
        As read from JSON, by `reading.parse` or otherwise.

    Returns
    -------
    Verified
        The figure, what was verified in words, and what is taken on trust.

    Raises
    ------
    Refused
        The claim is not verified: where, and why. No other error is raised, whatever comes in.
    """
    try:
        return _verified(certificate)
    except Refused:
        raise
    except RecursionError:
        raise Refused("the certificate", "it is nested too deeply") from None
    except Exception as error:  # what no rule expects verifies nothing
        raise Refused("the certificate", f"{type(error).__name__}: {error}") from error


def _verified(certificate: Any) -> Verified:
    keys = ("format", "figure", "arguments", "lower", "upper", "joint", "proof")
    data = record(certificate, "the certificate", keys)
    known = type(data["format"]) is int and data["format"] == FORMAT
    require(known, "format", f"expected {FORMAT}, got {data['format']!r}")
    text(data["figure"], "figure")
    ordered = extended(data["lower"], "lower") <= extended(data["upper"], "upper")
    require(ordered, "lower and upper", f"{data['lower']} is not at most {data['upper']}")
    joint = data["joint"]
    kinds = [kind for kind in _RULES if isinstance(joint, dict) and kind in joint]
    require(len(kinds) == 1, "joint", f"expected one of the keys {sorted(_RULES)}, got {kinds}")
    proof = isinstance(data["proof"], dict) and bool(data["proof"])
    rules = import_module(f"borel.checker.{_RULES[kinds[0]][proof]}")
    return rules.verify(data)


__all__ = ["FORMAT", "Refused", "Verified", "verify"]
