"""NaN in a comparison: NumPy says that it is False; a checker that does not has another kernel.

Each kernel takes its branch by a term that is no number, so it is the one that leaks more.
"""

import json
import warnings
from functools import cache

import numpy as np
import pytest
from flint import arb, ctx
from scipy import special

import borel as bl
from borel.audits.verification import verified
from borel.engine.certificates.checks import suprema as outcomes
from borel.engine.certificates.checks import verifier as checker
from borel.engine.certificates.checks.ranges import ranges
from borel.engine.certificates.checks.several_points import check_dimensions
from borel.engine.certificates.checks.taylor_models import INF, Model, axis, run
from borel.numerics.graphs.trace import trace

pytestmark = [pytest.mark.proofs, pytest.mark.usefixtures("with_certificates")]

UNIT = bl.Interval(0, 1)
NOT_NUMBERS = {
    "zero times log": lambda x: 0 * np.log(x - 2),
    "0 / 0": lambda x: 0 / (x - x),
    "zero times infinity": lambda x: 0 * (np.inf + x),
    "infinity less itself": lambda x: (np.inf + x) - (np.inf + x),
    "sin": lambda x: np.sin(np.inf + x) + 2,
    "log": lambda x: -np.log(x - 2),
    "sqrt": lambda x: np.sqrt(x - 2) + 1,
    "maximum": lambda x: np.maximum(np.log(x - 2), 1.0),
    "minimum": lambda x: -np.minimum(np.log(x - 2), -1.0),
    "absolute": lambda x: np.abs(np.log(x - 2)),
    "square": lambda x: np.square(np.log(x - 2)),
    "exp": lambda x: np.exp(np.log(x - 2)),
    "power": lambda x: (x - 2) ** 0.5 + 1,
    "whole power": lambda x: np.log(x - 2) ** 2.0,
    "tanh": lambda x: np.tanh(np.log(x - 2)) + 2,
    "erf": lambda x: special.erf(np.log(x - 2)) + 2,
    "ndtr": lambda x: special.ndtr(np.log(x - 2)),
    "expit": lambda x: special.expit(np.log(x - 2)),
    "expm1": lambda x: np.expm1(np.log(x - 2)) + 2,
    "logaddexp": lambda x: np.logaddexp(np.log(x - 2), 1.0),
}


def leaks(y, x, much):
    return 1 + (2 * y - 1) * (x - 0.5) * much


def on_square(y, x, much):
    return 1 + (2 * y - 1) * (x[0] * x[1] - 0.25) * much


@cache
def little(square=False):
    """Return PML at 3/4, and its supremum, of a kernel that hardly leaks."""
    of = on_square if square else leaks
    secret = UNIT**2 if square else UNIT
    kernel = bl.Mechanism(lambda y, x: of(y, x, 2.0**-10), secret=secret, outcome=UNIT)
    ell = bl.pml(bl.uniform(secret) * kernel)
    return {"pml/one outcome": ell(0.75), **({} if square else {"pml": ell.sup()})}


def refused_of(kernel, figures, names, checks):
    for name, bound in figures.items():
        certificate = json.loads(json.dumps(bound.certificate))
        assert checks(name, certificate)
        certificate["kernel"]["graph"] = trace(kernel, names, ()).to_json()
        assert not checks(name, certificate)


@pytest.mark.cases(
    "slow",
    "0 / 0",
    "erf",
    "expit",
    "expm1",
    "infinity less itself",
    "log",
    "logaddexp",
    "ndtr",
    "sqrt",
    "tanh",
    "zero times infinity",
    "zero times log",
)
@pytest.mark.parametrize("name", NOT_NUMBERS)
def test_a_branch_by_what_is_no_number_is_the_other_one(name, monkeypatch):
    monkeypatch.setattr(outcomes, "BOXES", 20)
    monkeypatch.setattr(checker, "BOXES", 40)
    test = NOT_NUMBERS[name]

    def kernel(y, x):
        return np.where(test(x) >= 0, leaks(y, x, 2.0**-10), leaks(y, x, 1.0))

    y, x = np.array([0.25, 0.75]), np.array([0.25, 0.5])
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        assert (kernel(y, x) == leaks(y, x, 1.0)).all()

    def checks(name, certificate):
        return (
            verified(name, bl.Bound.certified(0.0, 9.0, certificate=certificate)).outcome
            == "verified"
        )

    refused_of(kernel, little(), ("y", "x"), checks)


@pytest.mark.parametrize("name", ["zero times log", "0 / 0", "sin", "sqrt"])
def test_nor_is_it_decided_on_a_square(name):
    def kernel(y, x):
        test = NOT_NUMBERS[name](x[0])
        return np.where(test >= 0, on_square(y, x, 2.0**-10), on_square(y, x, 1.0))

    def sin_of_infinity(y, x):
        test = np.sin(np.log(0 * x[0])) + 2
        return np.where(test >= 0, on_square(y, x, 2.0**-10), on_square(y, x, 1.0))

    for one in (kernel, sin_of_infinity):
        refused_of(one, little(True), ("y", ("x0", "x1")),
                   lambda _, certificate: check_dimensions(certificate, 300_000).ok)  # fmt: skip


def test_a_range_of_sin_has_no_infinity():
    graph = trace(lambda y, x: np.sin(np.log(0 * x[0])), ("y", ("x0",)), ())
    box = [(arb(0), arb(1))]
    assert ranges(graph.nodes, box, arb(0))[-1] is None
    graph = trace(lambda y, x: np.sin(x[0]), ("y", ("x0",)), ())
    assert ranges(graph.nodes, box, arb(0))[-1] is not None


@pytest.mark.parametrize(
    ("function", "real"),
    [
        (lambda x: np.log(x), True),  # infinite at 0 only
        (lambda x: np.log(x - 1), False),
        (lambda x: np.log(0 * x), False),
        (lambda x: np.log(np.maximum(x - 0.5, 0.0)), False),  # infinite on half of it
        (lambda x: 1 / np.maximum(x - 0.5, 0.0), False),
        (lambda x: 1 / x, True),
        (lambda x: np.sqrt(x), True),
        (lambda x: np.sqrt(x - 0.5), False),
        (lambda x: np.where(x > 0, np.log(x), 0.0), True),
        (lambda x: np.where(x > 0.5, np.log(x - 0.5), 0.0), False),  # not known of the whole cell
        (lambda x: (x > 0.5) * 1.0, True),
        (lambda x: np.inf + x, False),
        (lambda x: special.gammaln(x + 1), True),
    ],
)
def test_what_is_known_to_be_a_number(function, real):
    graph = trace(lambda y, x: function(x) + 0 * y, ("y", "x"), ())
    with ctx.workprec(128):
        found = run((graph, False), False, x=axis(0.0, 1.0, 1, 0), y=axis(0.25, 0.5, 0, 1))
    assert bool(found.real) is real


def test_what_is_no_number_has_any_sign():
    assert Model({(0, 0): arb(1)}, real=False).signs() == {0, 1, -1}
    assert Model({(0, 0): arb(1)}).signs() == {1}
    assert not Model({(0, 0): arb(0), (1, 0): arb(1)}, -INF, INF, True, False).positive().real
