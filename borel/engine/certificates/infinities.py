"""Certificates of proved infinities, handed out where an independent checker follows the proof."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from borel.engine.certificates.checks.counts import _Counts
from borel.engine.certificates.checks.fading import _Fading
from borel.engine.certificates.checks.in_logs import _InLogs
from borel.engine.certificates.checks.poles import _Poles
from borel.engine.certificates.checks.several_laws import CHECKERS
from borel.engine.certificates.checks.slopes import _Slopes
from borel.engine.certificates.checks.squares import _Squares
from borel.engine.certificates.encoding import header, number, patience, without_infinities
from borel.engine.certificates.trials import followed

if TYPE_CHECKING:
    from collections.abc import Iterable

    from borel.engine.continuous.engine import CertifiedEngine

_REACHES = (2.0, 1.0, 8.0)
_WIDER = 2.0**-40
"""Multiples of t beyond which a kernel may be 0."""


def infinite(engine: CertifiedEngine, quantity: str, proof: dict) -> dict[str, Any] | None:
    """Return the certificate of a proved infinity; None for what the checker cannot follow.

    It knows fewer arguments than the search, and simpler enclosures; nothing is handed out that it
    would refuse.
    """
    if engine.joint.prior.on.kind == "countable":
        return _counts(engine, quantity, proof)
    if proof["kind"] in ("pair", "slope"):
        return _slope(engine, quantity, proof)
    if proof["kind"] == "square":
        plain = {name: proof[name] for name in ("t0", "exponent", "weight", "secrets")}
        _loosen(plain, -1)
        plain["y"] = _path(proof["y"])
        return _followed(engine, quantity, "square", [plain], _Squares)
    spec = proof.get("x", {})
    if not engine.secret.continuous and not {"atom", "box"} & set(spec):
        return None  # the secrets y + k of a countable prior
    if proof["kind"] == "gap" or {"phase", "scale"} & set(proof["y"]):
        return None
    other = proof.get("marginal", {})
    if proof["kind"] == "pole":
        return _pole(engine, quantity, proof)
    if other.get("corners"):
        return _fading(engine, quantity, proof) or _pole(engine, quantity, proof)
    plain: dict[str, Any] = {**proof, "y": _path(proof["y"])}
    if spec:
        plain["x"] = _path(spec)
    if other:
        plain["marginal"] = {name: other[name] for name in ("boxes", "exponent", "weight")}
    # constants do not matter to an infinity: leave room for other roundings, and simpler bounds
    side = 1 if quantity == "pmc" and proof["kind"] == "ratio" else -1
    _loosen(plain, side)
    if "marginal" in plain:
        _loosen(plain["marginal"], -side)
    # outcomes beside an end of their box may be in doubt, where a kernel jumps at x = y
    ys = [plain["y"], *_inner(plain["y"])]
    proofs = [{**plain, "y": y} for y in ys]
    return _followed(engine, quantity, "infinite", proofs, _InLogs)


def _followed(
    engine: CertifiedEngine,
    quantity: str,
    kind: str,
    proofs: Iterable[dict],
    checker: type,
    **about: Any,
) -> dict[str, Any] | None:
    """Return the certificate of the first of some proofs that a checker follows, soon."""
    until = patience()
    about = {**about, **number(engine)}
    checker = CHECKERS.get(kind, checker) if about.get("format") == 7 else checker
    header_ = {**header(engine, quantity, math.inf, math.inf), **about}
    for proof in proofs:
        made = without_infinities({**header_, "claim": {"type": kind, "proof": proof}})
        if followed(made, checker, until=until):
            return made
    return None


def _fading(engine: CertifiedEngine, quantity: str, proof: dict) -> dict[str, Any] | None:
    """Return the certificate of an infinite PML by an f_Y that fades."""
    other, y = proof["marginal"], _path(proof["y"])
    ends = float(engine.secret.lower[0]), float(engine.secret.upper[0])
    if proof["kind"] != "ratio" or "box" in y or not np.isfinite(ends).all():
        return None
    plain = {name: proof[name] for name in ("kind", "t0", "exponent", "weight")}
    plain |= {"y": y, "x": _path(proof["x"])}
    _loosen(plain, -1)
    level = {name: other[name] for name in ("exponent", "weight")}
    _loosen(level, 1)
    proofs = (
        {**plain, "marginal": {**level, "end": corner["base"], "reach": reach}}
        for corner in other["corners"]
        for reach in _REACHES
    )
    return _followed(engine, quantity, "fading", proofs, _Fading)


def _counts(engine: CertifiedEngine, quantity: str, proof: dict) -> dict[str, Any] | None:
    """Return the certificate of an infinity by integers that the prior charges."""
    x, secrets = proof.get("x", {}), proof.get("marginal", {}).get("boxes", [[None]])
    if {"phase", "scale"} & set(proof["y"]) or not {"atom", "diagonal", "infinity"} & set(x):
        return None
    if proof["kind"] not in ("mass", "ratio"):
        return None
    about = {name: proof[name] for name in ("t0", "exponent", "weight")}
    if about["weight"] == -math.inf:  # 0 is at most any c t^A
        about |= {"exponent": 1.0, "weight": 0.0}
    _loosen(about, 1 if quantity == "pmc" else -1)
    about |= {"y": _path(proof["y"]), "x": _path(x), "secret": secrets[0][0]}
    return _followed(engine, quantity, "count_infinite", [about], _Counts, format=4)


def _slope(engine: CertifiedEngine, quantity: str, proof: dict) -> dict[str, Any] | None:
    """Return the certificate of an infinity by a slope of log f in the secret."""
    if proof["kind"] == "pair":
        ends = proof["secrets"]
    else:
        ends = [float(engine.secret.lower[0]), float(engine.secret.upper[0])]
        if engine.several is not None:  # a checker may know them less well
            room = _WIDER * (ends[1] - ends[0])
            ends = [ends[0] - room, ends[1] + room]
    if not np.isfinite(ends).all() or {"phase", "scale"} & set(proof["y"]):
        return None
    about = {"kind": "slope", "t0": proof["t0"], "y": _path(proof["y"]), "x": sorted(ends)}
    proofs = [{**about, "sign": sign} for sign in (1, -1)]
    return _followed(engine, quantity, "slope", proofs, _Slopes)


def _pole(engine: CertifiedEngine, quantity: str, proof: dict) -> dict[str, Any] | None:
    """Return the certificate of an infinite PML by a pole of the kernel."""
    y = _path(proof["y"])
    cuts = {float(engine.secret.lower[0]), float(engine.secret.upper[0]), *engine.secret.breaks}
    if "box" in y and y["box"][0] == y["box"][1]:  # a kernel has its poles at x = y
        cuts |= {c for c in y["box"] if min(cuts) < c < max(cuts)}
    plain = {name: proof[name] for name in ("t0", "exponent", "weight")}
    _loosen(plain, -1)
    plain |= {"y": y, "x": _path(proof["x"]), "boxes": [*map(list, pairwise(sorted(cuts)))]}
    return _followed(engine, quantity, "pole", [plain], _Poles)


def _inner(y: dict) -> list[dict[str, Any]]:
    """Return the middle half of a box of outcomes, if it is one."""
    low, high = y.get("box", (0.0, 0.0))
    quarter = (high - low) / 4
    return [{"box": [low + quarter, high - quarter]}] if quarter > 0 else []


def _loosen(part: dict, side: int) -> None:
    if math.isfinite(part["weight"]):
        part["weight"] += side * (1.0 + abs(part["weight"]) + 4.0 * abs(part["exponent"]))


def _path(data: dict) -> dict[str, Any]:
    """Return a ray as base + sign s t^power, s in an interval; or a box that does not move."""
    if "box" in data:
        return {"box": data["box"]}
    if "atom" in data:
        return {"box": [data["atom"]] * 2}
    power, s = data.get("power", 1.0), data.get("s", [1.0, 1.0])
    if "diagonal" in data:
        return {"base": "y", "sign": 1, "power": power, "s": s}
    if "infinity" in data:
        return {"base": 0.0, "sign": data["infinity"], "power": -power, "s": s}
    return {"base": data["base"], "sign": data["sign"], "power": power, "s": s}
