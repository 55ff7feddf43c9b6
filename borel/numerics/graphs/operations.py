"""The operations of expression graphs: one record each, of facts that several interpreters use.

An interpreter derives from a record what it can and writes down what it must. A new operation is
one record here; `tests/engine/test_operations.py` then says which interpreters lack it.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

REALS = (-math.inf, math.inf)
POSITIVE = (0.0, math.inf)


class Operation(NamedTuple):
    """What is known of an operation.

    Formulas are written as in Python, in the arguments u and v; see
    `borel.numerics.graphs.formulas`. What is not said is not known.

    Attributes
    ----------
    arguments : int
        How many.
    kind : str
        Truth values: ``comparison``, ``logic`` (of truth values), ``test`` (of one number). Other
        functions that are constant between jumps: ``step``.
    means : str
        The same in other operations, as a formula.
    derivative : tuple of str
        Its partial derivatives as formulas, in its value f too.
    log : str
        Its logarithm as a formula, in those of nonnegative arguments, lu and lv.
    domain : tuple of float
        Between which numbers (two, for each argument) it is finite and continuous, ends apart.
    monotone : str
        Of one argument: ``+`` if it increases on its domain, ``-`` if it decreases.
    nonnegative : str
        ``always``, or ``kept``: for nonnegative arguments.
    whole : str
        Whether it gives whole numbers: ``always``, or ``kept``: for whole arguments.
    arb : str
        Arb's method.
    pytensor : str
        Names of PyTensor's classes.
    synonyms : str
        Other names that NumPy has for it.
    """

    arguments: int = 1
    kind: str = ""
    means: str = ""
    derivative: tuple[str, ...] = ()
    log: str = ""
    domain: tuple[float, float] | None = None
    monotone: str = ""
    nonnegative: str = ""
    whole: str = ""
    arb: str = ""
    pytensor: str = ""
    synonyms: str = ""


_Op = Operation
_KEPT: dict[str, Any] = {"whole": "kept", "domain": REALS}
_LOGIC: dict[str, Any] = {"kind": "logic", "nonnegative": "always"}
_TEST: dict[str, Any] = {"kind": "test", "nonnegative": "always"}
_ORDER: dict[str, Any] = {"arguments": 2, "kind": "comparison", "nonnegative": "always"}
_STEP: dict[str, Any] = {"kind": "step", "whole": "always"}
_RISING: dict[str, Any] = {"domain": REALS, "monotone": "+"}

# fmt: off
OPERATIONS: dict[str, Operation] = {
    # -- arithmetic ----------------------------------------------------------------------------
    "add": _Op(2, derivative=("1", "1"), log="logaddexp(lu, lv)", nonnegative="kept",
        pytensor="Add", **_KEPT),
    "subtract": _Op(2, derivative=("1", "-1"), pytensor="Sub", **_KEPT),
    "multiply": _Op(2, derivative=("v", "u"), log="lu + lv", nonnegative="kept", pytensor="Mul",
        **_KEPT),
    "divide": _Op(2, derivative=("reciprocal(v)", "-(f / v)"), log="lu - lv", nonnegative="kept",
        pytensor="TrueDiv", synonyms="true_divide"),
    "negative": _Op(derivative=("-1",), monotone="-", pytensor="Neg", **_KEPT),
    "positive": _Op(means="u", derivative=("1",), monotone="+", nonnegative="kept", **_KEPT),
    "reciprocal": _Op(means="1 / u", derivative=("-f**2",), log="-lu", nonnegative="kept",
        pytensor="Reciprocal"),
    "square": _Op(derivative=("2 * u",), log="2 * lu", nonnegative="always", pytensor="Sqr",
        **_KEPT),
    "absolute": _Op(nonnegative="always", pytensor="Abs", synonyms="fabs", **_KEPT),
    "maximum": _Op(2, pytensor="Maximum ScalarMaximum", **_KEPT),
    "minimum": _Op(2, nonnegative="kept", pytensor="Minimum ScalarMinimum", **_KEPT),
    "fmax": _Op(2, means="maximum(u, v)", **_KEPT),
    "fmin": _Op(2, means="minimum(u, v)", **_KEPT),
    "power": _Op(2, derivative=("v * power(u, v - 1)", "f * log(u)"), log="v * lu",
        nonnegative="kept", pytensor="Pow", synonyms="float_power"),
    "sqrt": _Op(derivative=("0.5 / f",), log="0.5 * lu", domain=POSITIVE, monotone="+",
        nonnegative="always", arb="sqrt", pytensor="Sqrt"),
    "cbrt": _Op(means="where(u < 0, -power(-u, 1 / 3), power(u, 1 / 3))", nonnegative="kept",
        **_RISING),
    "hypot": _Op(2, means="sqrt(u**2 + v**2)", derivative=("u / f", "v / f"), domain=REALS,
        nonnegative="always"),
    "remainder": _Op(2, means="u - v * floor(u / v)", whole="kept", pytensor="Mod"),
    "floor_divide": _Op(2, means="floor(u / v)", whole="always", pytensor="IntDiv"),
    # -- steps, truth values and choices -------------------------------------------------------
    "floor": _Op(pytensor="Floor", **_STEP),
    "ceil": _Op(means="-floor(-u)", pytensor="Ceil", **_STEP),
    "trunc": _Op(means="where(u < 0, ceil(u), floor(u))", pytensor="Trunc", **_STEP),
    "rint": _Op(pytensor="RoundHalfToEven", **_STEP),
    "sign": _Op(means="where(0 < u, 1, where(u < 0, -1, 0))", pytensor="Sign", **_STEP),
    "heaviside": _Op(2, "step", means="where(u < 0, 0, where(0 < u, 1, v))"),
    "less": _Op(pytensor="LT", **_ORDER),
    "less_equal": _Op(pytensor="LE", **_ORDER),
    "greater": _Op(means="v < u", pytensor="GT", **_ORDER),
    "greater_equal": _Op(means="v <= u", pytensor="GE", **_ORDER),
    "equal": _Op(pytensor="EQ", **_ORDER),
    "not_equal": _Op(means="logical_not(u == v)", pytensor="NEQ", **_ORDER),
    "logical_and": _Op(2, **_LOGIC),
    "logical_or": _Op(2, **_LOGIC),
    "logical_not": _Op(**_LOGIC),
    "logical_xor": _Op(2, means="logical_and(logical_or(u, v), logical_not(logical_and(u, v)))",
        **_LOGIC),
    "isnan": _Op(pytensor="IsNan", **_TEST),
    "isinf": _Op(pytensor="IsInf", **_TEST),
    "isfinite": _Op(**_TEST),
    "where": _Op(3, pytensor="Switch"),
    # -- exponentials and logarithms -----------------------------------------------------------
    "exp": _Op(derivative=("f",), log="u", nonnegative="always", arb="exp", pytensor="Exp",
        **_RISING),
    "exp2": _Op(means="exp(u * log(2))", derivative=("log(2) * f",), nonnegative="always",
        pytensor="Exp2", **_RISING),
    "expm1": _Op(means="exp(u) - 1", derivative=("exp(u)",), nonnegative="kept", arb="expm1",
        pytensor="Expm1", **_RISING),
    "log": _Op(derivative=("reciprocal(u)",), domain=POSITIVE, monotone="+", arb="log",
        pytensor="Log"),
    "log2": _Op(means="log(u) / log(2)", derivative=("reciprocal(log(2)) / u",), domain=POSITIVE,
        monotone="+", pytensor="Log2"),
    "log10": _Op(means="log(u) / log(10)", derivative=("reciprocal(log(10)) / u",), domain=POSITIVE,
        monotone="+", pytensor="Log10"),
    "log1p": _Op(means="log(1 + u)", derivative=("reciprocal(1 + u)",), domain=(-1.0, math.inf),
        monotone="+", nonnegative="kept", arb="log1p", pytensor="Log1p"),
    "logaddexp": _Op(2, derivative=("special.expit(u - v)", "special.expit(v - u)"), domain=REALS),
    "logaddexp2": _Op(2, means="logaddexp(u * log(2), v * log(2)) / log(2)", domain=REALS),
    "special.exp10": _Op(means="exp(u * log(10))", **_RISING),
    "special.expit": _Op(derivative=("f * (1 - f)",), nonnegative="always", pytensor="Sigmoid",
        **_RISING),
    "special.log_expit": _Op(means="-log1p(exp(-u))", derivative=("special.expit(-u)",), **_RISING),
    "special.logit": _Op(means="log(u) - log1p(-u)", derivative=("reciprocal(u * (1 - u))",),
        domain=(0.0, 1.0), monotone="+"),
    "special.xlogy": _Op(2, means="where(u == 0, 0, u * log(v))"),
    "special.xlog1py": _Op(2, means="where(u == 0, 0, u * log1p(v))"),
    "special.entr": _Op(means="-special.xlogy(u, u)", derivative=("-1 - log(u)",), domain=POSITIVE),
    "special.rel_entr": _Op(2, domain=POSITIVE),
    "special.kl_div": _Op(2, domain=POSITIVE),
    # -- circular and hyperbolic functions -----------------------------------------------------
    "sin": _Op(derivative=("cos(u)",), domain=REALS, arb="sin", pytensor="Sin"),
    "cos": _Op(derivative=("-sin(u)",), domain=REALS, arb="cos", pytensor="Cos"),
    "tan": _Op(means="sin(u) / cos(u)", derivative=("1 + f**2",), pytensor="Tan"),
    "sinh": _Op(derivative=("cosh(u)",), arb="sinh", pytensor="Sinh", **_RISING),
    "cosh": _Op(derivative=("sinh(u)",), domain=REALS, nonnegative="always", arb="cosh",
        pytensor="Cosh"),
    "tanh": _Op(derivative=("1 - f**2",), arb="tanh", pytensor="Tanh", **_RISING),
    "arcsin": _Op(derivative=("reciprocal(sqrt(1 - u**2))",), domain=(-1.0, 1.0), monotone="+",
        arb="asin", pytensor="ArcSin"),
    "arccos": _Op(derivative=("-reciprocal(sqrt(1 - u**2))",), domain=(-1.0, 1.0), monotone="-",
        nonnegative="always", arb="acos", pytensor="ArcCos"),
    "arctan": _Op(derivative=("reciprocal(1 + u**2)",), arb="atan", pytensor="ArcTan", **_RISING),
    "arctan2": _Op(2, pytensor="ArcTan2"),
    "arcsinh": _Op(derivative=("reciprocal(sqrt(1 + u**2))",), arb="asinh", pytensor="ArcSinh",
        **_RISING),
    "arccosh": _Op(derivative=("reciprocal(sqrt(u**2 - 1))",), domain=(1.0, math.inf), monotone="+",
        pytensor="ArcCosh"),
    "arctanh": _Op(derivative=("reciprocal(1 - u**2)",), domain=(-1.0, 1.0), monotone="+",
        arb="atanh", pytensor="ArcTanh"),
    # -- the normal law ------------------------------------------------------------------------
    "special.erf": _Op(derivative=("2 / sqrt(pi) * exp(-u**2)",), arb="erf", pytensor="Erf",
        **_RISING),
    "special.erfc": _Op(derivative=("-2 / sqrt(pi) * exp(-u**2)",), domain=REALS, monotone="-",
        nonnegative="always", arb="erfc", pytensor="Erfc"),
    "special.erfcx": _Op(means="exp(u**2) * special.erfc(u)", domain=REALS, monotone="-",
        nonnegative="always", pytensor="Erfcx"),
    "special.erfinv": _Op(domain=(-1.0, 1.0), monotone="+", pytensor="Erfinv"),
    "special.erfcinv": _Op(domain=(0.0, 2.0), monotone="-", pytensor="Erfcinv"),
    "special.ndtr": _Op(means="0.5 * special.erfc(-u / sqrt(2))",
        derivative=("exp(-u**2 / 2) / sqrt(2 * pi)",), nonnegative="always", **_RISING),
    "special.log_ndtr": _Op(means="log(special.ndtr(u))", **_RISING),
    "special.ndtri": _Op(domain=(0.0, 1.0), monotone="+"),
    # -- gamma, beta and Bessel functions ------------------------------------------------------
    "special.gamma": _Op(pytensor="Gamma"),
    "special.rgamma": _Op(),
    "special.gammaln": _Op(derivative=("special.digamma(u)",), arb="lgamma", pytensor="GammaLn"),
    "special.loggamma": _Op(means="special.gammaln(u)"),
    "special.digamma": _Op(arb="digamma"),
    "special.psi": _Op(means="special.digamma(u)", pytensor="Psi"),
    "special.gammainc": _Op(2, pytensor="GammaInc"),
    "special.gammaincc": _Op(2, pytensor="GammaIncC"),
    "special.poch": _Op(2),
    "special.beta": _Op(2),
    "special.betaln": _Op(2,
        means="special.gammaln(u) + special.gammaln(v) - special.gammaln(u + v)"),
    "special.betainc": _Op(3, pytensor="BetaInc"),
    "special.betaincc": _Op(3),
    "special.binom": _Op(2),
    "special.j0": _Op(pytensor="J0"),
    "special.j1": _Op(pytensor="J1"),
    "special.jv": _Op(2, pytensor="Jv"),
    "special.i0": _Op(pytensor="I0"),
    "special.i0e": _Op(pytensor="I0e"),
    "special.i1": _Op(pytensor="I1"),
    "special.i1e": _Op(pytensor="I1e"),
    "special.iv": _Op(2),
    "special.ive": _Op(2, pytensor="Ive"),
    "special.k0": _Op(),
    "special.k1": _Op(),
    "special.kv": _Op(2),
    "special.kve": _Op(2, pytensor="Kve"),
}
# fmt: on

COMPARISONS = frozenset(op for op, of in OPERATIONS.items() if of.kind == "comparison")
TRUTHS = COMPARISONS | {op for op, of in OPERATIONS.items() if of.kind in ("logic", "test")}
"""Operations whose results are truth values."""
STEPS = frozenset(op for op, of in OPERATIONS.items() if of.kind == "step")
TOTAL = frozenset(op for op, of in OPERATIONS.items() if of.domain == REALS)
"""Operations that are finite and continuous functions of all numbers."""
ON_A_PART = frozenset(op for op, of in OPERATIONS.items() if of.domain not in (None, REALS))
"""Operations of the numbers of an interval only."""
FOR_NAN = TRUTHS | {"fmax", "fmin"}
"""Operations that have a value for NaN, whichever argument it is."""
