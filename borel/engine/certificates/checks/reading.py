"""Certificates as data, and outcomes of positive mass in them: a part to trust.

Beside its line, where outcomes have a density, an alphabet may have atoms: the kernel there is the
mass of the atom given x, with a graph of its own. An atom is no null set, even where it lies on the
line: it is a box (y, y) of one outcome, of size 1, on which the outcome is exactly y.
"""

from __future__ import annotations

import json
import math
import re
from itertools import pairwise
from typing import Any

from flint import arb

from borel.numerics.graphs.trace import Graph

Density = tuple[Graph, bool]


def parsed(certificate: dict | str) -> dict:
    """Return a certificate as data: JSON has no infinities, they are strings."""
    text = certificate if isinstance(certificate, str) else json.dumps(certificate)
    return json.loads(re.sub(r'"(-?Infinity)"', r"\1", text))


def density(data: dict) -> Density:
    """Return a graph, and whether it is that of a logarithm."""
    return Graph.from_json(data["graph"]), data["log"]


def masses(outcome: dict) -> dict[float, Density]:
    """Return the kernel at each atom; the atoms are points of the line, in order, each once."""
    atoms = outcome.get("atoms", [])
    places: list[Any] = [place for place, _ in atoms]
    inside = all(outcome["lower"] <= y <= outcome["upper"] and math.isfinite(y) for y in places)
    if not (inside and all(a < b for a, b in pairwise(places))):
        raise ValueError(f"atoms {places} of the outcome")
    if atoms and outcome["points"] is not None:
        raise ValueError("an outcome with atoms has a line beside them")
    found = {place: density(mass) for place, mass in atoms}
    if not all(isinstance(log, bool) for _, log in found.values()):
        raise ValueError("log: whether a mass is given by its logarithm")
    return found


def kernel(data: dict) -> Density:
    """Return f(.|x) for what a certificate claims: at an atom, if that is the one outcome of it."""
    claim, known = data["claim"], masses(data["outcome"])
    if not known:
        return density(data["kernel"])
    one = claim["type"] == "point"
    ends = (claim["y"], claim["y"]) if one else claim["proof"]["y"].get("box", (-1.0, 1.0))
    alone = ends[0] == ends[1] and ends[0] in known
    return known[ends[0]] if alone else density(data["kernel"])


def integers(*numbers: float) -> bool:
    """Return whether numbers are integers or infinite, with those beside them floats as well."""
    return all(math.isinf(n) or (n % 1 == 0 and abs(n) < 2**53) for n in numbers)


def size(a: float, b: float) -> arb:
    """Return the length of a box of outcomes; an atom counts once."""
    return arb(1) if a == b else arb(b) - arb(a)
