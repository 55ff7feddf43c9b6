r"""What outcomes beside an end of their interval add to the mean of PML: a part to trust.

There the kernel may have no bound. With y = p + q t, t in (0, 1], let log f(y|x) <= log C + A log t
for almost all secrets, and f_Y <= D t^B with B > -1. As -f log f is at most 1/e,

.. math:: \int f_Y \log \frac{\sup f}{f_Y} \, dy \le |q| \Bigl( \frac1{\mathrm e}
          + \int_0^1 D t^B \bigl((\log C)^+ + (-A)^+ \log \tfrac1t\bigr) dt \Bigr).

Where log f has no bound in the secret alone (log x, beside x = 0) every operation is bounded by
rays from below and from above, and one of them may not be known.
"""

from __future__ import annotations

from functools import reduce

from flint import arb

from borel.engine.continuous.check import _moment
from borel.engine.continuous.check_rays import FUNCTIONS, Q0, Q1, Z, _balls, _ray, _run
from borel.engine.continuous.check_tails import log_along


def positive(u):
    """Return whether a ray is certainly above 0."""
    return u is not None and u.signs() == (1,)


def each(name, u, v):
    """Return an operation that rises in both, on both sides; None where a side is not known."""
    return tuple(
        None if a is None or b is None else FUNCTIONS[name](a, b) for a, b in zip(u, v, strict=True)
    )


def negative(u):
    """Return the negative."""
    low, high = u
    return None if high is None else high * -1, None if low is None else low * -1


def multiplied(u, v):
    """Return a product with a constant."""
    (a, b), w = (u, v) if u[0] is u[1] else (v, u)
    if a is not b or set(a.terms) - {(Q0, 0)}:
        raise ValueError("a product of two that vary")
    known = tuple(None if c is None else c * a for c in w)
    return known if a.bounds()[0] >= 0 else known[::-1] if a.bounds()[1] <= 0 else (None, None)


def either(pick, u, v):
    """Return the larger or the smaller, of which one side is known of one alone."""
    low, high = each(pick, u, v)
    if pick != "minimum":  # or the logarithm of a sum
        return low or u[0] or v[0], high
    return low, high or u[1] or v[1]


def chosen(test, u, v):
    """Return the first of two, if the test holds for all t."""
    if test is None:
        raise ValueError("a test that is not decided")
    return u


def logarithm(u):
    """Return the logarithm: of what may be 0 there is no lower bound."""
    low, high = u
    return low.log() if positive(low) else None, high.log() if positive(high) else None


OPERATIONS = {
    "add": lambda u, v: each("add", u, v),
    "subtract": lambda u, v: each("add", u, negative(v)),
    "negative": negative,
    "multiply": multiplied,
    "exp": lambda u: (u[0].exp() if u[0] else _ray(0), u[1] and u[1].exp()),
    "log": logarithm,
    "log1p": lambda u: logarithm((u[0] and u[0] + 1, u[1] and u[1] + 1)),
    "logaddexp": lambda u, v: either("logaddexp", u, v),
    "maximum": lambda u, v: either("maximum", u, v),
    "minimum": lambda u, v: either("minimum", u, v),
    "greater": lambda u, v: (_ray(1),) * 2 if positive(each("add", u, negative(v))[0]) else None,
    "where": chosen,
}


def at_most(density, a, b, y):
    """Bound log f(y|x) from above along a ray of outcomes, for all x in (a, b)."""
    (graph, logged), values = density, []
    inputs = {"x": (_ray(a), _ray(b)), "y": (y, y)}
    for op, args in graph.nodes:
        if op in ("input", "const"):
            number = None if op == "input" else _ray(args[0])
            values.append(inputs[args[0]] if op == "input" else (number, number))
        elif op in OPERATIONS:
            values.append(OPERATIONS[op](*(values[i] for i in args)))
        else:
            raise ValueError(f"{op} beside an end")
    high = (values[-1] if logged else logarithm(values[-1]))[1]
    if high is None:
        raise ValueError("no bound from above")
    return high


def order(log):
    """Return log C and A, f <= C t^A, of a bound of log f along a ray."""
    power, _, high = log.exp().fold()
    if not high.is_finite():
        raise ValueError("no order")
    return (high.log() if high > 0 else Z), arb(power)


def beside(density, law, cells, y):
    """Bound what the outcomes of a ray add to the mean of PML.

    ``cells`` are those of the secrets, of which atoms are (x, x); ``law`` is log f_Y.
    """
    above = []
    for a, b in cells:
        log = log_along(density, _balls(a, b)[0], y)
        if not all(v.is_finite() for v in log.terms.values()):
            log = at_most(density, a, b, y)
        above.append(order(log))
    power, _, most = _run(law, False, None, y).fold()
    if not (power > -1 and most.is_finite()):
        raise ValueError("no bound of f_Y that has a mass")
    scale, steep = (reduce(arb.max, v, Z) for v in zip(*((c, -e) for c, e in above), strict=True))
    mean = most * (scale * _moment(power + 1, 0) - steep * _moment(power + 1, 1))
    length = abs(y.terms[Q1, 0])
    return (length * (mean + (-arb(1)).exp())).upper()
