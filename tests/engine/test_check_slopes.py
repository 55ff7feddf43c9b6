"""The checker of infinities by slopes: it verifies those that hold, and refuses the rest."""

import copy
import dataclasses
import math

import mpmath
import numpy as np
import pytest
from engine.certified_cases import kernel
from engine.test_check import lines_of_code, modules_of_borel
from flint import arb, ctx
from scipy.special import gammaln

import borel as bl
from borel.audits.verification import verified
from borel.engine import engine_for
from borel.engine.certificates import encoding
from borel.engine.certificates.checks import slopes as checker
from borel.engine.certificates.checks.rays import FUNCTIONS, _Ray, _ray
from borel.engine.certificates.checks.slopes import SLOPES, check_slopes, slope_of_log
from borel.engine.certificates.checks.verifier import BITS
from borel.engine.infinite.slope_proof import _varying
from borel.numerics.germs.interpreter import ray
from borel.numerics.germs.order_bounds import Ray
from borel.numerics.graphs.trace import trace

pytestmark = [pytest.mark.proofs, pytest.mark.usefixtures("with_certificates")]

UNIT, HALF_LINE, RATES = bl.Interval(0, 1), bl.Interval(0, np.inf), bl.Interval(1, 2)
TWO = bl.pmf([0.25, 0.75], on=bl.Finite([0.0, 1.0]))
THREE = bl.pmf([0.125, 0.375, 0.5], on=bl.Finite([0.0, 1.0, 2.0]))


@pytest.fixture(autouse=True)
def by_the_engine():
    with bl.options(closed_forms=False):
        yield


def gauss(y, x):
    return np.exp(-0.5 * ((y - x) / 0.3) ** 2) / (0.3 * np.sqrt(2 * np.pi))


def rate(y, x):
    return x * np.exp(-x * y)


def poisson(y, x):
    return y * np.log(x) - x - gammaln(y + 1)


INFINITE = {
    "gauss on two": (TWO * bl.mechanisms.gaussian(sigma=1.0), ("pmc", "ldp")),
    "gauss on three, as a density": (THREE * kernel(gauss, secret=THREE.on), ("pmc", "ldp")),
    "gauss on an interval": (bl.uniform(UNIT) * kernel(gauss), ("pml", "pmc", "ldp")),
    "powers": (
        bl.uniform(RATES)
        * kernel(lambda y, x: x * y ** (-x - 1), secret=RATES, outcome=bl.Interval(1, np.inf)),
        ("pml", "pmc", "ldp"),
    ),
    "poisson outcomes": (
        bl.uniform(bl.Interval(1, 4))
        * kernel(poisson, secret=bl.Interval(1, 4), outcome=bl.Integers(0), log=True),
        ("pml", "pmc"),
    ),
    "waiting times": (
        bl.uniform(RATES) * kernel(rate, secret=RATES, outcome=HALF_LINE),
        ("pml", "pmc", "ldp"),
    ),
}


def sup(joint, kind):
    return bl.ldp(joint) if kind == "ldp" else getattr(bl, kind)(joint).sup()


@pytest.mark.parametrize(
    ("name", "kind"), [(name, kind) for name, (_, kinds) in INFINITE.items() for kind in kinds]
)
def test_infinities_are_verified(name, kind):
    bound = sup(INFINITE[name][0], kind)
    assert bound.proved and bound.lower == math.inf
    assert bound.certificate["claim"]["type"] == "slope"
    assert verified(kind, bound).outcome == "verified"
    assert verified("lip", bound).outcome == "verified"
    for other in ("pmc/law/mean", "pml/law/exp_mean", "maximal_leakage", "pml/law/quantile-0.5"):
        assert verified(other, bound).outcome == "refused"
    finite = dataclasses.replace(bound, lower=1.0, upper=2.0)
    assert verified(kind, finite).outcome == "refused"


def claim(joint, quantity, ends, *, sign=1, y=None, t0=2.0**-10, **more):
    """Claim an infinity by the slope between two secrets, as an attacker would."""
    y = y or {"base": 0.0, "sign": 1, "power": -1.0, "s": [1.0, 1.0]}
    engine = engine_for(joint)
    made = encoding.header(engine, quantity, math.inf, math.inf)
    proof = {"kind": "slope", "t0": t0, "y": y, "x": [*ends], "sign": sign, **more}
    return encoding.without_infinities({**made, "claim": {"type": "slope", "proof": proof}})


def test_the_claims_below_are_wrong_for_one_reason_each():
    gaussian = TWO * kernel(gauss, secret=TWO.on)
    assert check_slopes(claim(gaussian, "pmc", (0.0, 1.0))).ok
    assert check_slopes(claim(bl.uniform(UNIT) * kernel(gauss), "pml", (0.0, 1.0))).ok


def test_terms_of_the_outcome_alone_are_finite_or_kept():
    graph = trace(poisson, ("y", "x"), ())
    found = [_varying(graph, Ray(ray(0.0, -1.0, s, s), ""), 2.0**-10) for s in (1, -1)]
    assert [set(one.inputs) for one in found] == [{"y", "x"}] * 2
    operations = [one.operations for one in found]
    assert "special.gammaln" not in operations[0]  # y to infinity
    assert "special.gammaln" in operations[1]  # poles at -1, -2, ...


def test_one_outcome_of_positive_mass_is_enough_for_a_supremum():
    """PMC of Poisson outcomes at 0, where e^-x vanishes as x grows; no single y of a density is."""
    prior = bl.gamma(alpha=2.0)
    counts = prior * kernel(poisson, secret=prior.on, outcome=bl.Integers(0), log=True)
    with bl.options(budget=5):
        bound = bl.pmc(counts).sup()
    assert bound.lower == math.inf and bound.certificate is not None
    for name, outcome in (("pmc", "verified"), ("lip", "verified"), ("pml", "refused")):
        assert verified(name, bound).outcome == outcome
    assert verified("maximal_leakage", bound).outcome == "refused"
    noise = prior * kernel(gauss, secret=prior.on)
    single = bl.pmc(noise)(0.5)
    assert single.lower == math.inf and verified("pmc/one outcome", single).outcome == "verified"
    assert verified("pmc", single).outcome == "refused"


def refused(made, leaf):
    report = check_slopes(made)
    assert not report.ok and any(line.startswith(leaf) for line in report.failures)
    assert not check_slopes({**made, "lower": 0.0, "upper": math.inf}).ok


NO_SLOPES = {
    "bounded": lambda y, x: np.exp(-np.abs(y - x)) / 2,
    "zero on half of them": lambda y, x: np.exp(-y * (1 + np.maximum(x - 0.5, 0))),
    "of both signs": lambda y, x: np.exp(-y * (1 + np.abs(x - 0.5))),
    "a jump back": lambda y, x: np.exp(-y * (1 + x - np.where(x > 0.5, 0.5, 0.0))),
    "a pole": lambda y, x: np.exp(-y * (3 + x + np.arctan(1 / (x - 0.5)) / 2)),
    "a step of signs": lambda y, x: np.exp(-y * (2 + x - 0.9 * np.sign(x - 0.5))),
    "no density there": lambda y, x: np.where(y > 9, 0.0, np.exp(-y * (1 + x))),
    "a factor 0 there": lambda y, x: np.where(y > 9, 0.0, 1.0) * np.exp(-y * (1 + x)),
    "gammaln beyond its poles": lambda y, x: np.exp(gammaln(5 - y) - y * (3 + x)),
    "as a log, on half of them": lambda y, x: (1 + y) ** -(2 + np.maximum(x - 0.5, 0)),
    "only as log log": lambda y, x: np.exp(-x * np.tanh(np.log1p(np.log1p(y))) - y),
}


@pytest.mark.parametrize("name", NO_SLOPES)
@pytest.mark.parametrize("sign", [1, -1])
def test_slopes_that_are_not_steep_are_refused(name, sign):
    graph = trace(NO_SLOPES[name], ("y", "x"), ()).to_json()
    for prior, quantity in ((TWO, "pmc"), (bl.uniform(UNIT), "pml")):
        made = claim(prior * kernel(gauss, secret=prior.on), quantity, (0.0, 1.0), sign=sign)
        made["kernel"] = {"graph": graph, "log": False}
        refused(made, "slope")


def test_what_the_argument_needs():
    gaussian, uniform = TWO * kernel(gauss, secret=TWO.on), bl.uniform(UNIT) * kernel(gauss)
    wrong = [
        (claim(gaussian, "pml", (0.0, 1.0)), "argument"),  # at most log 4
        (claim(gaussian, "pmc", (0.0, 0.5)), "argument"),  # no secret
        (claim(gaussian, "pmc", (1.0, 0.0)), "argument"),
        (claim(gaussian, "pmc", (0.0, 0.0)), "argument"),
        (claim(gaussian, "pmc", (0.0, 1.0), sign=-1), "slope"),
        (claim(gaussian, "pmc", (0.0, 1.0), sign=2), "argument"),
        (claim(gaussian, "pmc", (0.0, 1.0), t0=0.0), ""),
        (claim(gaussian, "pmc", (0.0, 1.0), t0=-1.0), ""),
        (claim(gaussian, "pmc", (0.0, 1.0), y={"box": [1.0, 2.0]}), ""),
        (claim(uniform, "pml", (0.0, 0.5)), "argument"),
        (claim(uniform, "pml", (0.25, 1.0)), "argument"),
        (claim(uniform, "pml", (-1.0, 1.0)), "argument"),
    ]
    for made, leaf in wrong:
        refused(made, leaf)
    rare = claim(gaussian, "pmc", (0.0, 1.0))
    rare["prior"]["atoms"] = [[0.0, 1.0, 1.0], [1.0, 0.0, 0.0]]
    refused(rare, "argument")
    mixed = copy.deepcopy(claim(uniform, "pml", (0.0, 1.0)))
    mixed["prior"]["atoms"] = [[1.0, 0.5, 0.5]]  # PML is at most log 2 there
    refused(mixed, "argument")
    inside = claim(
        bl.uniform(RATES) * kernel(rate, secret=RATES, outcome=HALF_LINE), "pml", (1.0, 2.0)
    )
    below = {"base": 0.0, "sign": -1, "power": -1.0, "s": [1.0, 1.0]}
    assert not check_slopes(inside).ok  # the slope is negative
    inside["claim"]["proof"]["sign"] = -1
    assert check_slopes(inside).ok
    inside["claim"]["proof"]["y"] = below
    refused(inside, "")


def test_a_pair_of_geometric_laws():
    pair = bl.pmf([0.5, 0.5], on=bl.Finite([0.25, 0.5]))
    joint = pair * bl.Mechanism(
        lambda y, x: (1 - x) * x**y, secret=pair.on, outcome=bl.Integers(0, None)
    )
    bound = bl.pmc(joint).sup()
    assert bound.lower == math.inf and bound.certificate is not None
    assert verified("pmc", bound).outcome == "verified"


# -- the rules of calculus ------------------------------------------------------------------------

X, Y = (0.625, 0.75), mpmath.mpf(2) ** 12
ONE, PAIR = ("x",), ("x", "y")
RULES = {  # the rule, and the function it is of, in x and y = 1/t: values in the domain of each
    "add": lambda m, x, y: x * y + x * x,
    "subtract": lambda m, x, y: x * y - x * x,
    "multiply": lambda m, x, y: x * x * (x + y),
    "divide": lambda m, x, y: (x + y) / (x * y + 2),
    "reciprocal": lambda m, x, y: m.reciprocal(x * y + x),
    "power, to y": lambda m, x, y: x**5.5 + y * x,
    "power": lambda m, x, y: (x + 1) ** (1.5 - x) + x**2.5 + (x - 2) ** 3,
    "square": lambda m, x, y: m.square(x * y - 1),
    "sqrt": lambda m, x, y: m.sqrt(x * y + x),
    "exp": lambda m, x, y: m.exp(x * x),
    "expm1": lambda m, x, y: m.expm1(x * x),
    "negative": lambda m, x, y: -x * y,
    "log": lambda m, x, y: m.log(x * y),
    "log1p": lambda m, x, y: m.log1p(x * y),
    "logaddexp": lambda m, x, y: m.logaddexp(x, x * x),
    "absolute": lambda m, x, y: m.abs(x * y) + m.abs(x - 2),
    "maximum": lambda m, x, y: m.maximum(x * y, x) + m.maximum(x, x * x),
    "minimum": lambda m, x, y: m.minimum(x * y, x) + m.minimum(x, x * x),
    "arctan": lambda m, x, y: m.arctan(x * x),
    "sin": lambda m, x, y: m.sin(3 * x),
    "cos": lambda m, x, y: m.cos(3 * x),
    "tanh": lambda m, x, y: m.tanh(x * x),
    "where": lambda m, x, y: m.where(x > 0.5, x * y, x),
}


class High:
    """The functions above in 50 digits."""

    maximum, minimum = staticmethod(max), staticmethod(min)

    def __getattr__(self, name):
        return abs if name == "abs" else getattr(mpmath, "atan" if name == "arctan" else name)

    def where(self, test, u, v):
        return u if test else v

    def square(self, u):
        return u * u

    def reciprocal(self, u):
        return 1 / u

    def logaddexp(self, u, v):
        return mpmath.log(mpmath.exp(u) + mpmath.exp(v))


def value(ray, t):
    """Return ends of a sum of balls times t^e (log t)^j at one t."""
    total = arb(0)
    for (e, j), ball in ray.terms.items():
        total += ball * arb(t) ** arb(e) * arb(t).log() ** j
    return mpmath.mpf(total.lower().str(40, radius=False)), mpmath.mpf(
        total.upper().str(40, radius=False)
    )


@pytest.mark.parametrize("rule", RULES)
def test_rules_of_calculus(rule):
    graph = trace(lambda y, x: RULES[rule](np, x, y), ("y", "x"), ())
    with mpmath.workdps(50), ctx.workprec(BITS):
        y = _Ray({(-1, 0): arb(2) ** 12})
        wide, tight = [], []
        for ends, out in ((X, wide), ((0.625, 0.625 + 2.0**-30), tight)):
            slope, _ = slope_of_log((graph, True), _ray(arb(ends[0]).union(arb(ends[1]))), y)
            for t in (1.0, 0.5, 2.0**-6):
                for x in np.linspace(*ends, 4):
                    true = mpmath.diff(
                        lambda v, t=t: RULES[rule](High(), v, Y / mpmath.mpf(t)), mpmath.mpf(x)
                    )
                    low, high = value(slope, t)
                    room = mpmath.mpf(10) ** -20 * (1 + abs(true))
                    assert low - room <= true <= high + room
                    out.append((high - low) / (1 + abs(true)))
        assert max(tight) < 1e-3  # it is not the whole line


SPECIAL = ["gammaln", "gamma", "erf", "ndtr", "expit", "betaln", "xlogy", "binom"]


def test_every_rule_is_tested():
    assert set(RULES) - {"where", "power, to y"} | set(SPECIAL) == set(SLOPES)
    plain = {"where", "logical_and", "logical_or", "logical_not"}
    assert set(FUNCTIONS) - set(SLOPES) - plain == set(checker._SIGNS)


@pytest.mark.parametrize(
    "name", ["gammaln", "gamma", "erf", "ndtr", "expit", "betaln", "xlogy", "binom"]
)
def test_rules_of_special_functions(name):
    exact = {
        "gammaln": mpmath.loggamma,
        "gamma": mpmath.gamma,
        "erf": mpmath.erf,
        "ndtr": mpmath.ncdf,
        "expit": lambda u: 1 / (1 + mpmath.exp(-u)),
        "betaln": lambda u, v: mpmath.log(mpmath.beta(u, v)),
        "xlogy": lambda u, v: u * mpmath.log(v),
        "binom": mpmath.binomial,
    }[name]
    both = name in ("betaln", "xlogy", "binom")
    with mpmath.workdps(50), ctx.workprec(BITS):
        u, v = _ray(arb(0.625)), _ray(arb(1.25))
        slope = SLOPES[name](u, v, _ray(2), _ray(3)) if both else SLOPES[name](u, _ray(2))

        def along(s):
            return exact(0.625 + 2 * s, 1.25 + 3 * s) if both else exact(0.625 + 2 * s)

        low, high = value(slope, 1.0)
        true = mpmath.diff(along, 0)
        assert low - mpmath.mpf(10) ** -20 <= true <= high + mpmath.mpf(10) ** -20
        assert high - low < 1e-20


def test_it_is_small_and_shares_nothing_with_the_kernels():
    assert lines_of_code(checker) <= 130
    name = "borel.engine.certificates.checks."
    assert modules_of_borel(checker) == {name + "verifier", name + "rays", name + "tails"}
