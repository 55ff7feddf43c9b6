"""Check that the laws of a certificate are laws, and say what is taken on trust: a part to trust.

The total mass of a prior is 1 but for 2^-30: found as an integral (`check_priors`), or as a sum
over integers, with what is far out bounded by how it falls (`check_tails`). Another mass is
refused; one that is not found is on trust, as is that a kernel integrates to 1 for every secret,
unless it is a table. So is what `graphs` derives, for the engine and for checkers alike: the law of
a sum of secrets (`check_sums`), and the kernel as one of a number of them (`check_several`).
"""

from __future__ import annotations

import json
import math
from contextlib import suppress
from functools import lru_cache
from itertools import pairwise

from flint import arb, ctx

from borel.engine.certificates.checks.counts import _run as run_at_integers
from borel.engine.certificates.checks.prior_weights import Weights
from borel.engine.certificates.checks.rays import INF, Z, _ray
from borel.engine.certificates.checks.reading import density, parsed
from borel.engine.certificates.checks.reduced_secrets import number_of
from borel.engine.certificates.checks.tails import in_y, tail
from borel.engine.certificates.checks.verifier import BITS
from borel.numerics.graphs.dependence import through
from borel.numerics.reduction.linear_forms import formula

LITTLE, PIECES = arb(2) ** -30, 300
SIZES = {"density": [2.0**k for k in (3, 5, 8, 12, 20)], "masses": [64.0, 512.0, 4096.0]}
"""How far out the mass of a prior is added up, until that is enough."""
NUMBERS = 7
"""The format of certificates about a number that a kernel reads of several secrets."""


def on_trust(part: dict) -> list[str]:
    """Return what a claim takes on trust; a prior that is no law raises a ValueError."""
    part = parsed(part)
    claim, prior = part["claim"], part.get("prior", {})
    if claim["type"] == "pair":
        return on_trust(claim["at"])
    found = [f"{words}, which the engine derived" for words in _derived(part)]
    found += [] if _is_law(prior) else ["that the prior has total mass 1"]
    graph = "graph" in part.get("kernel", {})  # tables are of laws
    return found + ["that f(.|x) has total mass 1 for every x"] * graph


def _derived(part: dict) -> list[str]:
    """Return what follows from code that checkers share with the engine."""
    if "sum" in part:
        return [f"the law of {number_of(part)}"]
    if part["format"] != NUMBERS:
        return []
    names = tuple(f"x{j}" for j in range(len(part["prior"]["lower"])))
    inner = through(density(part["kernel"])[0], names)[1]
    return [f"the kernel as one of {', '.join(map(formula, inner))} alone"]


def _is_law(prior: dict) -> bool:
    """Return whether the mass of a prior is known to be 1; if it is known not to be, it raises."""
    # sets and tables are of laws, and the checkers of several secrets integrate the prior
    if "lower" not in prior or isinstance(prior["lower"], list):
        return True
    with ctx.workprec(BITS):
        low, high = _mass(json.dumps(prior))
        if low > 1 + LITTLE or high < 1 - LITTLE:
            raise ValueError(f"its total mass is within [{float(low)}, {float(high)}]")
        return bool(low > 1 - LITTLE and high < 1 + LITTLE)


@lru_cache(maxsize=64)
def _mass(prior_as_text: str) -> tuple[arb, arb]:
    """Enclose the mass of a prior on a line, or on integers."""
    prior, best = json.loads(prior_as_text), (Z, INF)
    lower, upper = prior["lower"], prior["upper"]
    counted = prior.get("points") == "integers"
    if not counted and prior["graph"] is None:  # intervals, which the checkers compare with 1
        return arb(1), arb(1)
    p = density(prior["masses"] if counted else prior)
    atoms = sum((arb(low).union(arb(high)) for _, low, high in prior["atoms"]), Z)
    inner, kind = (_sum, "masses") if counted else (_integral, "density")
    whole = not counted and math.isfinite(upper - lower)
    with suppress(ValueError, ZeroDivisionError, KeyError):  # an operation not known
        for size in SIZES[kind]:
            a, b = (lower, upper) if whole else _within(lower, upper, size)
            low, high = inner(p, a, b)
            high += _beyond(p, 1, b, kind) if b < upper else Z
            high += _beyond(p, -1, -a, kind) if a > lower else Z
            best = best[0].max(atoms.lower() + low), best[1].min(atoms.upper() + high)
            if (a, b) == (lower, upper) or best[1] - best[0] < LITTLE or best[0] > 1 + LITTLE:
                break
    return best


def _within(lower, upper, size):
    """Return ends within those of an alphabet, as far from what it has as a size."""
    middle = lower if lower > -math.inf else upper if upper < math.inf else 0.0
    return max(lower, middle - size), min(upper, middle + size)


def _beyond(p, sign, r, kind):
    """Bound P{sign X > r} from above."""
    return tail(in_y(p), sign, arb(r), kind)[0] if r > 0 else INF


def _integral(p, a, b):
    """Enclose the integral of a density, on cells that are halved where it is known worst."""
    weights, cells = Weights(p), {}
    new = [(a, b)]
    while new:
        cells |= {cell: _ends(weights.direct(*cell).mass) for cell in new}
        low, high = (sum((v[k] for v in cells.values()), Z) for k in (0, 1))
        doubt, new = high - low, []
        if not doubt < LITTLE / 4 and len(cells) < PIECES:
            worst = max(high - low for low, high in cells.values())
            wide = [cell for cell, (low, high) in cells.items() if not 8 * (high - low) < worst]
            new = [half for a, b in wide for half in pairwise((a, (a + b) / 2, b)) if a < b]
            cells = {cell: v for cell, v in cells.items() if cell not in wide}
    return low, high


def _ends(mass):
    """Return the ends of what a cell weighs."""
    return (mass.lower().max(Z), mass.upper()) if mass.is_finite() else (Z, INF)


def _sum(p, first, last):
    """Enclose the sum of a formula over integers."""
    each = [run_at_integers(p, False, _ray(n)).bounds() for n in range(int(first), int(last) + 1)]
    return tuple(sum((v[k].max(Z) for v in each), Z) for k in (0, 1))
