"""The table of operations: its names, its formulas against mpmath, and who lacks what."""

import math
import operator
import re
from fractions import Fraction as F
from itertools import pairwise
from types import SimpleNamespace

import mpmath
import numpy as np
import pytest
from scipy import special

from borel.errors import NotEnclosed
from borel.numerics.balls import expansion
from borel.numerics.germs import forward_difference, functions
from borel.numerics.germs import interpreter as germs
from borel.numerics.graphs import exact_builder, formulas, operations
from borel.numerics.graphs.operations import OPERATIONS, REALS
from borel.numerics.intervals import interpreter as intervals
from borel.numerics.jets import branches, elementary

MP = mpmath.mp.clone()
MP.dps = 60


def ordered(test):
    return lambda *args: MP.mpf(bool(test(*args)))


def normal(u):
    return MP.erfc(-u / MP.sqrt(2)) / 2


# each operation by mpmath's own functions, where it has one
TRUTH = {
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
    "divide": operator.truediv,
    "negative": operator.neg,
    "positive": operator.pos,
    "reciprocal": lambda u: 1 / u,
    "square": lambda u: u * u,
    "absolute": abs,
    "maximum": max,
    "minimum": min,
    "fmax": max,
    "fmin": min,
    "power": operator.pow,
    "sqrt": MP.sqrt,
    "cbrt": lambda u: MP.sign(u) * MP.cbrt(abs(u)),
    "hypot": MP.hypot,
    "remainder": lambda u, v: u - v * MP.floor(u / v),
    "floor_divide": lambda u, v: MP.floor(u / v),
    "floor": MP.floor,
    "ceil": MP.ceil,
    "trunc": lambda u: MP.floor(u) if u > 0 else MP.ceil(u),
    "rint": MP.nint,
    "sign": MP.sign,
    "heaviside": lambda u, v: v if u == 0 else MP.mpf(u > 0),
    "less": ordered(operator.lt),
    "less_equal": ordered(operator.le),
    "greater": ordered(operator.gt),
    "greater_equal": ordered(operator.ge),
    "equal": ordered(operator.eq),
    "not_equal": ordered(operator.ne),
    "logical_and": ordered(lambda u, v: u and v),
    "logical_or": ordered(lambda u, v: u or v),
    "logical_not": ordered(operator.not_),
    "logical_xor": ordered(lambda u, v: bool(u) != bool(v)),
    "where": lambda c, u, v: u if c else v,
    "exp": MP.exp,
    "exp2": lambda u: MP.power(2, u),
    "expm1": MP.expm1,
    "log": MP.log,
    "log2": lambda u: MP.log(u, 2),
    "log10": MP.log10,
    "log1p": lambda u: MP.log(1 + u),
    "logaddexp": lambda u, v: MP.log(MP.exp(u) + MP.exp(v)),
    "logaddexp2": lambda u, v: MP.log(MP.power(2, u) + MP.power(2, v), 2),
    "special.exp10": lambda u: MP.power(10, u),
    "special.expit": lambda u: 1 / (1 + MP.exp(-u)),
    "special.log_expit": lambda u: -MP.log(1 + MP.exp(-u)),
    "special.logit": lambda u: MP.log(u / (1 - u)),
    "special.xlogy": lambda u, v: u * MP.log(v) if u else MP.mpf(0),
    "special.xlog1py": lambda u, v: u * MP.log(1 + v) if u else MP.mpf(0),
    "special.entr": lambda u: -u * MP.log(u) if u else MP.mpf(0),
    "special.rel_entr": lambda u, v: u * MP.log(u / v) if u else MP.mpf(0),
    "special.kl_div": lambda u, v: (u * MP.log(u / v) if u else 0) - u + v,
    **{op: getattr(MP, op) for op in "sin cos tan sinh cosh tanh".split()},
    "arcsin": MP.asin,
    "arccos": MP.acos,
    "arctan": MP.atan,
    "arcsinh": MP.asinh,
    "arccosh": MP.acosh,
    "arctanh": MP.atanh,
    "special.erf": MP.erf,
    "special.erfc": MP.erfc,
    "special.erfcx": lambda u: MP.exp(u * u) * MP.erfc(u),
    "special.erfinv": MP.erfinv,
    "special.erfcinv": lambda u: MP.erfinv(1 - u),
    "special.ndtr": normal,
    "special.log_ndtr": lambda u: MP.log(normal(u)),
    "special.ndtri": lambda u: MP.sqrt(2) * MP.erfinv(2 * u - 1),
    "special.gammaln": MP.loggamma,
    "special.loggamma": MP.loggamma,
    "special.digamma": MP.digamma,
    "special.psi": MP.digamma,
    "special.betaln": lambda u, v: MP.log(MP.beta(u, v)),
}
# names of formulas in mpmath, for Python's own `eval`
WORDS = {op: f for op, f in TRUTH.items() if "." not in op}
WORDS["special"] = SimpleNamespace(
    **{op.partition(".")[2]: f for op, f in TRUTH.items() if "." in op}
)
MEANT = [op for op, of in OPERATIONS.items() if of.means]
DERIVED = [op for op, of in OPERATIONS.items() if of.derivative]
LOGS = [op for op, of in OPERATIONS.items() if of.log]
POINTS = [F(-13, 5), F(-2), F(-3, 7), F(0), F(2, 9), F(5, 8), F(1), F(9, 4), F(3)]


def real(value):
    """Return a value of mpmath if it is a finite real number."""
    value = MP.convert(value)
    if isinstance(value, MP.mpc):
        value = value.real if value.imag == 0 else MP.nan
    return value if MP.isfinite(value) else None


def value_of(f, *point):
    try:
        return real(f(*(MP.mpf(p.numerator) / p.denominator for p in point)))
    except (ZeroDivisionError, ValueError):
        return None


def points(op):
    """Return points at which an operation has a value."""
    pairs = POINTS if OPERATIONS[op].arguments == 1 else [(u, v) for u in POINTS for v in POINTS]
    found = [p if isinstance(p, tuple) else (p,) for p in pairs]
    return [p for p in found if value_of(TRUTH[op], *p) is not None]


def read(text, **named):
    """Read a formula as Python does, in mpmath."""
    exact = re.sub(r"(?<![\w.])[\d.]+", lambda found: f"mpf('{found[0]}')", text)
    return eval(exact, {**WORDS, "mpf": MP.mpf, "pi": MP.pi, **named})


def arguments(point):
    return dict(zip("uv", point, strict=False))


def close(a, b):
    return a is not None and b is not None and abs(a - b) <= 1e-25 * (1 + abs(b))


# -- names ---------------------------------------------------------------------------------------


def test_names_and_arguments_are_those_of_numpy_and_scipy():
    for op, of in OPERATIONS.items():
        module, name = (special, op[8:]) if op.startswith("special.") else (np, op)
        assert hasattr(module, name), op
        ufunc = getattr(module, name)
        if op == "where":
            assert of.arguments == 3 and isinstance(np.where(True, 1, 2), np.ndarray)
        else:
            assert (ufunc.nin, ufunc.nout) == (of.arguments, 1), op
        for other in of.synonyms.split():
            same = getattr(np, other)(*[np.linspace(0.5, 2, 7)] * of.arguments)
            np.testing.assert_array_equal(same, ufunc(*[np.linspace(0.5, 2, 7)] * of.arguments))


def test_pytensor_has_a_class_of_one_of_the_names():
    from pytensor.scalar import basic
    from pytensor.scalar import math as functions_of_scalars

    modules = basic, functions_of_scalars
    missing = {
        op
        for op, of in OPERATIONS.items()
        if of.pytensor and not any(hasattr(m, n) for m in modules for n in of.pytensor.split())
    }
    assert missing <= {"special.i0e", "special.i1e"}  # which not every version has


# -- formulas ------------------------------------------------------------------------------------


@pytest.mark.parametrize("op", MEANT)
def test_what_an_operation_means(op):
    tried = points(op)
    assert tried
    for point in tried:
        if op in ("special.entr", "special.betaln") and min(point) < 0:
            continue  # SciPy gives -inf there, and log |B|
        meant = value_of(lambda *p: read(OPERATIONS[op].means, **arguments(p)), *point)
        assert close(meant, value_of(TRUTH[op], *point)), point


@pytest.mark.parametrize("op", DERIVED)
def test_derivatives(op):
    of, tried = OPERATIONS[op], 0
    assert len(of.derivative) == of.arguments
    for point in points(op):
        p = [MP.mpf(a.numerator) / a.denominator for a in point]
        f = TRUTH[op](*p)
        for k, text in enumerate(of.derivative):

            def along(t, k=k, p=p):
                return TRUTH[op](*p[:k], t, *p[k + 1 :])

            sides = [real(along(p[k] + h)) for h in (MP.mpf(-1) / 1000, MP.mpf(1) / 1000)]
            if None in sides or (op == "power" and p[0] <= 0) or (op == "hypot" and not any(p)):
                continue  # an end of the domain, or none around it
            found = read(text, f=f, **arguments(p))
            assert close(found, MP.diff(along, p[k])), (k, point)
            tried += 1
    assert tried >= 2


@pytest.mark.parametrize("op", LOGS)
def test_logarithms(op):
    tried = 0
    for point in points(op):
        p = dict(zip("uv", (MP.mpf(a.numerator) / a.denominator for a in point), strict=False))
        if min(p.values()) <= 0 and op not in ("exp", "power"):
            continue
        if op == "power" and p["u"] <= 0:
            continue
        logs = {f"l{name}": MP.log(v) for name, v in p.items() if v > 0}
        truth = MP.log(TRUTH[op](*p.values()))
        assert close(read(OPERATIONS[op].log, **p, **logs), truth), point
        tried += 1
    assert tried >= 4


def texts():
    for of in OPERATIONS.values():
        yield from (text for text in (of.means, of.log, *of.derivative) if text)


def test_formulas_are_read_as_python_reads_them():
    values = {n: MP.mpf(v) for n, v in {"u": 0.3, "v": 0.7, "f": 0.4, "lu": -1.2, "lv": 3}.items()}
    for text in texts():
        own = formulas.function_of(text, (*values, "pi"), TRUTH.__getitem__, MP.mpf)
        assert close(own(*values.values(), +MP.pi), read(text, **values)), text


def test_functions_of_formulas_pass_what_comes_first():
    calls = []

    def rule(op):
        return lambda first, *args: calls.append((op, first)) or sum(args)

    own = formulas.function_of("u + v * 2", ("u", "v"), rule, float, context=1)
    assert own("first", 3.0, 4.0) == 9.0
    assert calls == [("multiply", "first"), ("add", "first")]


@pytest.mark.parametrize("text", ["u if v else 1", "u ** 3", "u % v", "'u'"])
def test_other_formulas_are_refused(text):
    with pytest.raises((ValueError, KeyError)):
        formulas.formula(text)


# -- ranges --------------------------------------------------------------------------------------


def inside(op):
    """Return points between the ends of a domain, near them too."""
    low, high = OPERATIONS[op].domain
    low = F(-40) if low == -math.inf else F(low)
    high = F(40) if high == math.inf else F(high)
    shares = [F(1, 10**9), F(1, 100), *[F(k, 12) for k in range(1, 12)], 1 - F(1, 10**9)]
    return [low + (high - low) * share for share in shares]


@pytest.mark.parametrize("op", [op for op, of in OPERATIONS.items() if of.domain])
def test_domains(op):
    of = OPERATIONS[op]
    grid = inside(op)
    for point in [(u,) if of.arguments == 1 else (u, v) for u in grid for v in grid[::4]]:
        assert value_of(TRUTH[op], *point) is not None, point
    for end, outwards in zip(of.domain, (-1, 1), strict=True):
        if math.isfinite(end):
            outside = F(end) + outwards * F(1, 1000)
            assert value_of(TRUTH[op], *[outside, *grid[3:]][: of.arguments]) is None


@pytest.mark.parametrize("op", [op for op, of in OPERATIONS.items() if of.monotone])
def test_monotone_functions(op):
    of = OPERATIONS[op]
    assert of.arguments == 1 and of.domain is not None
    values = [value_of(TRUTH[op], p) for p in inside(op)]
    if of.monotone == "-":
        values.reverse()
    assert all(a <= b for a, b in pairwise(values))
    assert values[1] < values[-2]


@pytest.mark.parametrize("op", [op for op, of in OPERATIONS.items() if of.nonnegative])
def test_nonnegative_functions(op):
    if op.startswith("is"):
        return
    kept = OPERATIONS[op].nonnegative == "kept"
    tried = [p for p in points(op) if not kept or min(p) >= 0]
    values = [value_of(TRUTH[op], *p) for p in tried]
    assert values and min(values) >= 0


def test_whole_numbers():
    for op, of in OPERATIONS.items():
        if of.whole:
            kept = of.whole == "kept"
            tried = [p for p in points(op) if not kept or all(v.denominator == 1 for v in p)]
            assert tried and all(MP.isint(value_of(TRUTH[op], *p)) for p in tried), op
            assert not kept or any(not MP.isint(value_of(TRUTH[op], *p)) for p in points(op)), op


def test_derived_sets():
    assert operations.COMPARISONS <= operations.TRUTHS and len(operations.COMPARISONS) == 6
    assert not operations.TRUTHS & operations.STEPS and not operations.TOTAL & operations.ON_A_PART
    assert {op for op in operations.TOTAL if OPERATIONS[op].domain != REALS} == set()


# -- enclosures of what an operation means ---------------------------------------------------------


def test_intervals_read_what_a_new_operation_means(monkeypatch):
    of = operations.Operation(means="cos(u) - 1", domain=REALS)
    monkeypatch.setitem(OPERATIONS, "special.cosm1", of)
    enclose = intervals._enclosure("special.cosm1")
    ends = np.linspace(-7, 7, 57)
    low, high = enclose((ends[:-1], ends[1:]))
    for k, (a, b) in enumerate(pairwise(ends)):
        for share in np.linspace(0, 1, 9):
            truth = MP.cos(MP.mpf(a) + (MP.mpf(b) - MP.mpf(a)) * share) - 1
            assert low[k] <= truth <= high[k]
    assert (high - low <= 0.25 + 1e-12).all()  # the slope is at most 1


@pytest.mark.parametrize(
    "of",
    [
        operations.Operation(means="cos(u) - u", domain=REALS),  # u twice: wider than the range
        operations.Operation(means="log(u)"),  # not of all numbers
    ],
)
def test_intervals_read_nothing_else(monkeypatch, of):
    monkeypatch.setitem(OPERATIONS, "special.cosm1", of)
    assert intervals._enclosure("special.cosm1") is None


# -- derivatives of jets -------------------------------------------------------------------------


def has_rule(op):
    return hasattr(branches.Branches, "_" + op.replace(".", "_"))


@pytest.mark.few(11)
@pytest.mark.parametrize(
    "op", sorted(op for op in {*elementary.MEANINGS, *elementary.SLOPES} if not has_rule(op))
)
def test_jets_that_the_table_gives(op):
    """Along u = p + t, v = q - 2 t: Taylor coefficients up to the third at a point and in a box."""
    count, tried, speeds = OPERATIONS[op].arguments, 0, (1, -2)
    for point in points(op)[:: 7 if count == 2 else 1]:
        p = [MP.mpf(a.numerator) / a.denominator for a in point]

        def along(t, p=p):
            return TRUTH[op](*(a + speed * t for a, speed in zip(p, speeds, strict=False)))

        if any(value_of(along, F(h, 100)) is None for h in (-1, 1)) or (count == 2 and not all(p)):
            continue
        for width in (0.0, 2.0**-8):
            jets = [
                (np.array([float(a) - width, slope]), np.array([float(a) + width, slope]))
                for a, slope in zip(point, speeds, strict=False)
            ]
            with np.errstate(all="ignore"):
                low, high = elementary.Functions(3).apply(op, jets)
            exact = [MP.mpf(float(a)) for a in point]
            truth = MP.taylor(lambda t, exact=exact: along(t, exact), 0, 3)
            known = np.isfinite(high - low)  # NaN is not known: psi below 0
            found = zip(low[known], np.array(truth)[known], high[known], strict=True)
            assert all(a <= c <= b for a, c, b in found), point
            assert width or (high - low < 1e-6 * (1 + abs(low)))[known].all()
            tried += known.all()
    assert tried >= 4


# -- who lacks what ------------------------------------------------------------------------------


def expands(op):
    build = expansion.Builder("x")
    try:
        build.expand(op, *(build("input", f"u{k}") for k in range(OPERATIONS[op].arguments)))
    except NotEnclosed:
        return False
    return True


KNOWS = {
    "intervals": intervals.TABLE.__contains__,
    "derivatives of jets": lambda op: (
        has_rule(op) or op in elementary.SLOPES or op in elementary.MEANINGS
    ),
    "balls": expands,
    "germs": lambda op: (
        op
        in {*functions.RULES, *functions.FUNCTIONS, *germs._ORDER, *germs._LOGIC, *germs._FINITE}
        | {"where"}
    ),
    "derivatives of germs": lambda op: (
        op in {*functions.PARTIALS, *functions.PICKS} | operations.TRUTHS | {"where"}
    ),
    "forward differences": lambda op: hasattr(
        forward_difference._Steps, "_" + op.removeprefix("special.")
    ),
    "rational numbers": exact_builder._EXACT.__contains__,
}
SPECIAL = """arctan2 rel_entr kl_div erfinv erfcinv ndtri gammainc gammaincc betainc betaincc
    i0 i0e i1 iv k0 k1 kv"""
"""What intervals alone know, without ``special.``."""
LACKS = {
    "intervals": "",
    "derivatives of jets": """
        remainder floor_divide trunc rint heaviside isnan isinf isfinite tan gamma rgamma poch
        beta betaln binom erfcx""",
    "balls": "rint isnan isinf isfinite arccosh",
    "germs": """
        remainder floor_divide floor ceil trunc rint heaviside logit entr tan arccos arccosh
        gamma rgamma gammaln loggamma digamma psi poch beta betaln binom erfcx""",
    "derivatives of germs": """
        cbrt remainder floor_divide floor ceil trunc rint sign heaviside logaddexp2 exp10
        logit xlogy xlog1py entr tan arccos arccosh log_ndtr gamma rgamma gammaln loggamma
        digamma psi poch beta betaln binom erfcx""",
    "forward differences": """
        positive absolute maximum minimum fmax fmin power sqrt cbrt hypot
        remainder floor_divide floor ceil trunc rint sign heaviside less less_equal greater
        greater_equal equal not_equal logical_and logical_or logical_not logical_xor isnan
        isinf isfinite exp2 expm1 log2 log10 logaddexp2 exp10 expit log_expit logit entr sin
        cos tan sinh cosh tanh arcsin arccos arctan arcsinh arccosh arctanh erf erfc ndtr
        log_ndtr gamma rgamma digamma psi poch beta betaln binom erfcx""",
    "rational numbers": """
        positive fmax fmin cbrt hypot remainder floor_divide rint heaviside logical_xor
        where exp2 log2 log10 logaddexp logaddexp2 exp10 expit log_expit logit xlogy xlog1py
        entr sin cos tan sinh cosh tanh arcsin arccos arctan arcsinh arccosh arctanh erf
        erfc ndtr log_ndtr gamma rgamma loggamma digamma psi poch beta betaln erfcx""",
}
"""What interpreters do not know, but for `SPECIAL` and what nobody knows."""
NOBODY = "j0 j1 jv i1e ive kve"


@pytest.mark.parametrize("name", KNOWS)
def test_who_lacks_what(name):
    lacks = {op.removeprefix("special.") for op in OPERATIONS if not KNOWS[name](op)}
    others = "" if name == "intervals" else SPECIAL
    assert lacks == {*LACKS[name].split(), *others.split(), *NOBODY.split()}
