"""Ranges and slopes of functions on real boxes, for certificates: a part to trust, and to read.

A node of a graph has a range on a real box: exact ends, rounded outwards, of its values at almost
every point; and slopes along each coordinate, where every branch is decided.
"""

from __future__ import annotations

from contextlib import suppress

from flint import acb, arb, fmpq

Z, ONE, INF = arb(0), arb(1), arb.pos_inf()


class Doubt(ValueError):
    """Something is not known on a box; it may be on smaller ones."""


def hull(*values):
    """Return the least interval around balls."""
    if any(v.is_nan() for v in values):
        raise Doubt("not a number")
    return min(v.lower() for v in values), max(v.upper() for v in values)


def right(v):
    """Return a number to the right of 0, where roots and logarithms are analytic."""
    if not (v.real if isinstance(v, acb) else v) > 0:
        raise Doubt("not analytic")
    return v


def bounded(u):
    """Return a range as one ball: it has no infinity, of which sin and cos are not numbers."""
    return u[0].union(u[1]) + 0 * u[0] + 0 * u[1]


def _rising(function, least=-INF):
    def of(u):
        if u[0] < least:
            raise Doubt("not defined")
        return hull(*(function(v) for v in u))

    return of


def _add(u, v):
    return hull(u[0] + v[0], u[1] + v[1])


def _negative(u):
    return -u[1], -u[0]


def _times(u, v):
    return hull(*(a * b for a in u for b in v))


def _inverse(u):
    if u[0] <= 0 <= u[1]:  # 0 has a sign in floats, which its quotients have: not known here
        raise Doubt("divided by what may be 0")
    return hull(*(1 / v for v in u))


def _absolute(u):
    return max(u[0], -u[1], Z), max(-u[0], u[1])


def whole(u):
    """Return the integer that a node is, if it is one, and no large one."""
    k = u[0].fmpq() if u and u[0] == u[1] and u[0].is_finite() else fmpq(1, 2)
    return int(k.p) if k.q == 1 and abs(k.p) <= 64 else None


def _power(u, v):
    k = whole(v)
    if k is None:
        return RANGES["exp"](_times(v, RANGES["log"](u)))
    u = u if k % 2 else _absolute(u)
    return _inverse(hull(*(a**-k for a in u))) if k < 0 else hull(*(a**k for a in u))


def truth(u):
    """Return (1, 1) if a node is not 0, (0, 0) if it is, (0, 1) if either."""
    return arb(not u[0] <= 0 <= u[1]), arb(not u[0] == u[1] == 0)


def _where(c, u, v):
    sure, possible = truth(c)
    return u if sure == 1 else v if possible == 0 else hull(*u, *v)


def logaddexp(u, v):
    """Return log(e^u + e^v), where that is analytic."""
    return v + right(1 + (u - v).exp()).log()


def betaln(u, v):
    """Return log B(u, v)."""
    return right(u).lgamma() + right(v).lgamma() - right(u + v).lgamma()


def ndtr(v):
    """Return the standard normal distribution function."""
    return (-v / arb(2).sqrt()).erfc() / 2


def _log(v):
    return v.log() if v != 0 else -INF


def _one(k=1):
    return arb(k), arb(k)


def _flat(v):
    if v[0] != v[1]:
        raise Doubt("an exponent that varies")
    return Z, Z


# fmt: off
RANGES = {
    "add": _add, "negative": _negative, "subtract": lambda u, v: _add(u, _negative(v)),
    "multiply": _times, "reciprocal": _inverse, "divide": lambda u, v: _times(u, _inverse(v)),
    "power": _power, "square": lambda u: _power(u, (arb(2), arb(2))), "absolute": _absolute,
    "exp": _rising(lambda v: v.exp()), "expm1": _rising(lambda v: v.expm1()),
    "log": _rising(_log, Z), "log1p": lambda u: RANGES["log"](_add(u, (ONE, ONE))),
    "sqrt": _rising(lambda v: v.sqrt(), Z), "tanh": _rising(lambda v: v.tanh()),
    "erf": _rising(lambda v: v.erf()), "ndtr": _rising(ndtr),
    "expit": _rising(lambda v: 1 / (1 + (-v).exp())),
    "sin": lambda u: hull(bounded(u).sin()), "cos": lambda u: hull(bounded(u).cos()),
    "gammaln": lambda u: hull(right(u[0].union(u[1])).lgamma()),
    "betaln": lambda u, v: hull(betaln(u[0].union(u[1]), v[0].union(v[1]))),
    "xlogy": lambda u, v: _times(u, RANGES["log"](v)),
    "logaddexp": lambda u, v: hull(*(logaddexp(a, b) for a, b in zip(u, v, strict=True))),
    "maximum": lambda u, v: (max(u[0], v[0]), max(u[1], v[1])),
    "minimum": lambda u, v: (min(u[0], v[0]), min(u[1], v[1])), "where": _where,
    "logical_not": lambda u: tuple(1 - v for v in reversed(truth(u))),
    "logical_and": lambda u, v: RANGES["minimum"](truth(u), truth(v)),
    "logical_or": lambda u, v: RANGES["maximum"](truth(u), truth(v)),
}
SIGNS = {"greater": (1,), "less": (-1,), "greater_equal": (0, 1), "less_equal": (-1, 0),
         "equal": (0,), "not_equal": (-1, 1)}  # of u - v
# fmt: on


# derivatives of a node by its arguments, by the ranges of all
SLOPES = {
    "add": lambda w, u, v: (_one(), _one()),
    "subtract": lambda w, u, v: (_one(), _one(-1)),
    "multiply": lambda w, u, v: (v, u),
    "negative": lambda w, u: (_one(-1),),
    "divide": lambda w, u, v: (_inverse(v), _negative(_times(w, _inverse(v)))),
    "reciprocal": lambda w, u: (_negative(_power(w, _one(2))),),
    "square": lambda w, u: (_times(_one(2), u),),
    "exp": lambda w, u: (w,),
    "expm1": lambda w, u: (_add(w, _one()),),
    "log": lambda w, u: (_inverse(u),),
    "log1p": lambda w, u: (_inverse(_add(u, _one())),),
    "sqrt": lambda w, u: (_inverse(_times(_one(2), w)),),
    "absolute": lambda w, u: (_one() if u[0] >= 0 else _one(-1) if u[1] <= 0 else (-ONE, ONE),),
    "power": lambda w, u, v: (_times(v, _power(u, _add(v, _one(-1)))), _flat(v)),
    "sin": lambda w, u: (RANGES["cos"](u),),
    "cos": lambda w, u: (_negative(RANGES["sin"](u)),),
    "tanh": lambda w, u: (_add(_one(), _negative(_power(w, _one(2)))),),
    "expit": lambda w, u: (_times(w, _add(_one(), _negative(w))),),
}


def _compared(op, nodes, known, args):
    """Return the truth values of a comparison; a coordinate is another number almost nowhere."""
    (a, b), (c, d) = (known[i] for i in args)
    sides = [nodes[i] for i in args]
    plain = all(kind in ("input", "const") for kind, _ in sides) and sides[0] != sides[1]
    null = plain and any(kind == "input" and name != ("y",) for kind, name in sides)
    may = {1: b > c, -1: a < d, 0: not null and a <= d and c <= b}
    truths = [arb(sign in SIGNS[op]) for sign, possible in may.items() if possible]
    return min(truths), max(truths)


def ranges(nodes, box, y):
    """Enclose each node on a box of secrets, (low, high) for each; None where it is not known."""
    known: list = []
    for op, args in nodes:
        name = op.removeprefix("special.")
        with suppress(ValueError, TypeError):  # not defined, or of what is not known
            if op == "const":
                known.append(hull(arb(args[0])))
            elif op == "input":
                known.append((y, y) if args[0] == "y" else box[int(args[0][1:])])
            elif op in SIGNS:
                known.append(_compared(op, nodes, known, args))
            else:
                known.append(hull(*RANGES[name](*(known[i] for i in args))))
            continue
        known.append(None)
    return known


def values(nodes, box, y):
    """Enclose the last node on a box by its range."""
    return ranges(nodes, box, y)[-1] or (-INF, INF)


def slopes(nodes, known, count):
    """Enclose the slope of the last node along each coordinate, where its branches are decided."""
    found: list = []
    for k, (op, args) in enumerate(nodes):
        own, u = known[k], [known[i] for i in args] if op not in ("input", "const") else []
        out = [(Z, Z)] * count
        if op == "input" and args[0] != "y":
            out[int(args[0][1:])] = (ONE, ONE)
        elif op == "where":
            truths = truth(u[0]) if u[0] else (Z, ONE)
            out = found[args[1 if truths[0] == 1 else 2]] if truths[0] == truths[1] else None
        elif u and not (own and own[0] == own[1]):
            with suppress(ValueError, TypeError, KeyError):
                parts = [found[i] for i in args]
                if op in ("maximum", "minimum"):
                    out = [hull(*a, *b) for a, b in zip(*parts, strict=True)]
                else:
                    factors = SLOPES[op.removeprefix("special.")](own, *u)
                    rows = zip(factors, parts, strict=True)
                    terms = [[_times(factor, a) for a in part] for factor, part in rows]
                    out = terms[0] if len(terms) == 1 else [*map(_add, *terms)]
                found.append(out)
                continue
            out = None
        found.append(out)
    return found[-1]


def extremes(nodes, box, y):
    """Bound the last node on a box by its slopes, or not at all."""
    found = [-INF, INF]
    with suppress(ValueError, TypeError):  # the slopes are not known
        found = [_by_slopes(nodes, box, y, side)[max(side, 0)] for side in (-1, 1)]
    return found


def _by_slopes(nodes, box, y, side):
    """Enclose an extreme: it is at an end where a slope has one sign, else near the middle."""
    while True:
        known = ranges(nodes, box, y)
        slope = slopes(nodes, known, len(box))
        ends = [
            (b if (s >= 0) == (side > 0) else a) if s >= 0 or t <= 0 else None
            for (a, b), (s, t) in zip(box, slope, strict=True)
        ]
        least = tuple(u if v is None else (v, v) for u, v in zip(box, ends, strict=True))
        if least == box:
            break
        box = least
    room = sum((max(-s, t) * (b - a) / 2 for (a, b), (s, t) in zip(box, slope, strict=True)), Z)
    middle = tuple(((a + b) / 2,) * 2 for a, b in box)
    low, high = values(nodes, middle, y)
    found, (least, most) = hull(low - room, high + room), known[-1]
    return max(found[0], least), min(found[1], most)
