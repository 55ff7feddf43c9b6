"""Check certificates of PML that is infinite as the kernel has a pole: a part to trust, to read.

Let f(y|x) >= c t^A, A < 0, for all t in (0, 1] and secrets x(t) of positive prior mass for each t.
Where y stands still ess sup_x f is infinite, at each outcome of its box; f_Y, a density, is finite
at almost all of them: PML is infinite. At one outcome, and along outcomes y(t), f_Y is to be
bounded: by the integral over x of a bound of f p for all y(t) at once.

Secrets may lie beside the outcome, x = y + r; then x - y is r, whatever y is.
Taken on trust: the same as in `check`.
"""

from __future__ import annotations

import math
from functools import partial
from itertools import pairwise

from flint import arb

from borel.engine.certificates.checks.rays import (
    _SIGNS,
    FUNCTIONS,
    INF,
    Q0,
    _balls,
    _gap,
    _Ray,
    _ray,
)
from borel.engine.certificates.checks.verifier import Report, _Checker, _everywhere, check

DEPTH, PAIR = 24, [("input", ("x",)), ("input", ("y",))]


def _run(density, log, x, y, gap):
    """Return f(y|x), or its logarithm, where the gap x - y is known."""
    (graph, logged), values = density, []
    for op, args in graph.nodes:
        if op in ("input", "const"):
            values.append({"x": x, "y": y}[args[0]] if op == "input" else _ray(args[0]))
            continue
        u = [values[i] for i in args]
        compared = [graph.nodes[i] for i in args] if op in ("subtract", *_SIGNS) else []
        if compared in (PAIR, PAIR[::-1]):
            u = [gap, _ray(0)] if compared == PAIR else [_ray(0), gap]
        values.append(FUNCTIONS[op.removeprefix("special.")](*u))
    return values[-1] if log == logged else values[-1].log() if log else values[-1].exp()


class _Poles(_Checker):
    """A certificate under check: secrets at which the kernel grows, and outcomes."""

    def is_pole(self):
        proof = self.claim["proof"]
        t0, spec, where, A, weight = (proof[k] for k in ("t0", "y", "x", "exponent", "weight"))
        still, beside = "box" in spec, where.get("base") == "y"
        y = _balls(*spec["box"])[0] if still else self.path(spec, t0, _ray(0))[0](1.0, 1.0)[0]
        ends = spec["box"] if still else y.bounds()
        alone = still and ends[0] == ends[1]
        self.scope = f"at y = {ends[0]}" if alone else self.scope
        rays, a, b = self.path(where, t0, _ray(0) if beside else y)

        def secrets(a, b):  # with what they are more than the outcome
            return [(y + ray, ray) if beside else (ray, _gap(ray, y)) for ray in rays(a, b)]

        def high(a, b):
            log, level = self.f[1], _Ray({(Q0, 0): weight + A * arb(t0).log(), (Q0, 1): arb(A)})
            values = [_run(self.f, log, x, y, gap) for x, gap in secrets(a, b)]
            return any(_gap(v, level if log else level.exp()).bounds()[0] >= 0 for v in values)

        parts = pairwise([a + (b - a) * k / 8 for k in range(9)])
        pieces = [x for u, v in parts if u < v for x, _ in secrets(u, v)]
        self.leaf("secrets", lambda: any(map(self.charged, pieces)))
        self.leaf("pole", _everywhere, high, a, b, DEPTH)
        if alone or not still:
            whole = _ray(ends[0]) if alone else _balls(*ends)[0]
            self.cover(proof["boxes"])
            for box in proof["boxes"]:
                self.leaf(f"f_Y on {box}", _everywhere, partial(self.bounded, whole), *box, DEPTH)
        numbers = all(map(math.isfinite, (A, weight, t0))) and A < 0 < t0
        fits = numbers and self.data["quantity"] == "pml" and bool(self.p) and not self.atoms
        moves = spec["power"] != 0 if not still else alone or self.data["outcome"]["points"] is None
        # along a box of secrets f grows at an end of it: it may have no mass there
        self.leaf("argument", lambda: fits and moves and not (still and "box" in where))
        return spec, ends, INF, INF

    def bounded(self, y, a, b):
        """Return whether a box adds a bounded part to f_Y, for all outcomes of a ball at once."""
        return a < b and self.mass(y, 0, a, b)[1] < INF


def check_poles(certificate: dict | str) -> Report:
    """Verify a certificate of an infinity by a pole of the kernel."""
    return check(certificate, _Poles)
