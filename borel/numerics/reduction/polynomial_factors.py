"""Priors of independent secrets with polynomial densities, read off a graph, but for scale.

A uniform secret, or a Beta with whole parameters, has a density that is a product of powers of
x - a and b - x. Its logarithm is a sum of logarithms, times whole numbers.
"""

from __future__ import annotations

from fractions import Fraction

from flint import fmpq, fmpq_poly

from borel.numerics.graphs.graph import Graph
from borel.numerics.reduction.linear_forms import Form, forms_of

Factors = dict[tuple[str, Fraction, Fraction], Fraction]
"""Powers of c + d x by (x, c, d)."""

_NONE = Fraction(0)
_MOST = 24


def polynomials(
    prior: Graph, names: tuple[str, ...], lower: list[float], upper: list[float], *, log: bool
) -> dict[str, fmpq_poly] | None:
    """Return the densities of independent secrets in a box, but for their scale.

    Parameters
    ----------
    prior : Graph
        The density of all of them, or its logarithm.
    names : tuple of str
        The secrets.
    lower, upper : list of float
        Their ends.
    log : bool
        Whether the graph is that of the logarithm.

    Returns
    -------
    dict or None
        None where it is not seen to be a product of polynomials that are not negative.

    Examples
    --------
    >>> from borel.numerics.graphs.trace import trace
    >>> prior = trace(lambda x: 4 * x[0] * (1 - x[1]) ** 2, (("x0", "x1"),), ())
    >>> polynomials(prior, ("x0", "x1"), [0.0, 0.0], [1.0, 1.0], log=False)
    {'x0': 4*x, 'x1': x^2 + (-2)*x + 1}
    """
    found = _Read(prior)
    last = len(prior.nodes) - 1
    powers = found.logarithm(last) if log else found.factors(last)
    if powers is None:
        return None
    ends = dict(zip(names, zip(lower, upper, strict=True), strict=True))
    out = {name: fmpq_poly([1]) for name in names}
    for (name, c, d), power in powers.items():
        if name not in ends or power.denominator > 1 or not 0 <= power <= _MOST:
            return None
        if any(c + d * Fraction(end) < 0 for end in ends[name]):
            return None  # it changes its sign, or should be turned
        line = fmpq_poly([fmpq(v.numerator, v.denominator) for v in (c, d)])
        out[name] *= line ** int(power)
    return out


class _Read:
    """A graph as a product, or as a sum of logarithms."""

    def __init__(self, graph: Graph):
        self.nodes, self.forms = graph.nodes, forms_of(graph)

    def constant(self, k: int) -> bool:
        """Return whether a node does not vary with the secrets."""
        form, (op, args) = self.forms[k], self.nodes[k]
        if form is not None:
            return {*form} <= {""}
        return op not in ("input", "const") and all(map(self.constant, args))

    def number(self, k: int) -> Fraction | None:
        """Return the number that a node is."""
        form = self.forms[k]
        return form.get("", _NONE) if form is not None and {*form} <= {""} else None

    def factors(self, k: int) -> Factors | None:
        """Return the powers that a node is a product of, but for a number."""
        form, (op, args) = self.forms[k], self.nodes[k]
        if self.constant(k):
            return {}
        if form is not None:
            return _of_form(form)
        if op == "exp":
            return self.logarithm(args[0])
        if op in ("multiply", "divide"):
            sign = Fraction(1 if op == "multiply" else -1)
            return _joined(self.factors(args[0]), self.factors(args[1]), sign)
        power = Fraction(2) if op == "square" else self.number(args[1]) if op == "power" else None
        return None if power is None else _joined({}, self.factors(args[0]), power)

    def logarithm(self, k: int) -> Factors | None:
        """Return the powers that e^node is a product of, but for a number."""
        op, args = self.nodes[k]
        if self.constant(k):
            return {}
        if op == "log":
            return self.factors(args[0])
        if op == "log1p":
            form = self.forms[args[0]]
            return None if form is None else _of_form({**form, "": form.get("", _NONE) + 1})
        if op in ("add", "subtract"):
            sign = Fraction(1 if op == "add" else -1)
            return _joined(self.logarithm(args[0]), self.logarithm(args[1]), sign)
        if op in ("positive", "negative"):
            return _joined({}, self.logarithm(args[0]), Fraction(1 if op == "positive" else -1))
        if op in ("multiply", "divide"):
            for a, b in (args, args[::-1]) if op == "multiply" else (args,):
                times = self.number(b)
                if times is not None and (times or op == "multiply"):
                    own = times if op == "multiply" else 1 / times
                    return _joined({}, self.logarithm(a), own)
        return None


def _of_form(form: Form) -> Factors | None:
    """Return a weighted sum of one secret as a factor."""
    names = [name for name in form if name]
    if len(names) != 1:
        return None
    return {(names[0], form.get("", _NONE), form[names[0]]): Fraction(1)}


def _joined(first: Factors | None, second: Factors | None, power: Fraction) -> Factors | None:
    """Return a product of the first and a power of the second."""
    if first is None or second is None:
        return None
    out = dict(first)
    for key, own in second.items():
        out[key] = out.get(key, _NONE) + own * power
    return {key: own for key, own in out.items() if own}
