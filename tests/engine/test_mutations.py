"""The engine broken on purpose: every seeded bug must push some truth out of its enclosure.

Each battery is a small joint with a closed form. It passes on the engine as it is; with the bug
that it was written for it must fail, or the other tests of certified figures prove little.
"""

import inspect
import textwrap

import numpy as np
import pytest
from engine import truths
from engine.certified_cases import (
    CASES,
    REALS,
    UNIT,
    Polynomial,
    Tilt,
    Waves,
    clayton,
    encloses,
    kernel,
    log_gauss,
    logs,
    tilt,
    violations,
)

import borel as bl
from borel.engine import arb_balls, certified_laws, essential, gauss, jet, lanes, surface


@pytest.fixture(autouse=True)
def alone():
    with bl.options(closed_forms=False, tol=1e-8, budget=10):
        yield


def mutate(monkeypatch, function, old, new):
    """Replace a piece of a function, wherever the function has been imported."""
    source = textwrap.dedent(inspect.getsource(function))
    assert source.count(old) == 1, f"{function.__qualname__} has changed: seed this bug anew"
    space = {}
    exec(compile(source.replace(old, new), "<mutant>", "exec", flags=_ANNOTATIONS), space)
    monkeypatch.setattr(function, "__code__", space[function.__name__].__code__)


_ANNOTATIONS = compile("from __future__ import annotations", "", "exec").co_flags & 0x1000000


# -- batteries: what is out of its enclosure ----------------------------------------------------


def polynomial():
    """Finitely many secrets: nothing but rounding."""
    prior = bl.pmf([0.5, 0.25, 0.25], on=bl.Finite([-0.5, 0.25, 1.0]))
    joint = prior * kernel(lambda y, x: 1 + 2 * x * (y - 0.5), secret=prior.on, outcome=UNIT)
    return violations(joint, Polynomial(), np.linspace(0.01, 0.99, 200))


def copula():
    """A supremum inside."""
    joint = bl.uniform(UNIT) * kernel(clayton, outcome=UNIT)
    return violations(joint, CASES["Clayton, a user's"].truth, np.linspace(0.01, 0.99, 40))


def edges():
    """Suprema at both ends, and inside."""
    wide = bl.Interval(-1, 1)
    joint = bl.uniform(wide) * logs(log_gauss(0.5), wide)
    return violations(joint, truths.GaussianUniform(0.5, -1, 1), np.linspace(-3, 3, 40))


def tails():
    """An unbounded secret."""
    joint = bl.normal() * logs(log_gauss(1.0), REALS)
    return violations(joint, truths.GaussianNormal(1.0, 0, 1), np.linspace(-3, 3, 16), ("pml",))


def altered(value):
    """One secret altered, where bisection meets it."""

    def battery():
        joint = bl.uniform(UNIT) * kernel(
            lambda y, x: np.where(x == 0.375, value, tilt(y, x)), outcome=UNIT
        )
        return violations(joint, Tilt(), np.linspace(0.01, 0.99, 16))

    return battery


def altered_at_a_node():
    """The secrets altered where the rules of the first boxes have their first node."""
    node = gauss.rule(gauss.NODES[1])[0][0]
    places = [float(0.125 + 0.125 * node + k / 4) for k in range(4)]

    def density(y, x):
        out = tilt(y, x)
        for place in places:
            out = np.where((x >= place - 1e-15) & (x <= place + 1e-15), out, out)
        return out

    joint = bl.uniform(UNIT) * kernel(density, outcome=UNIT)
    return violations(joint, Tilt(), np.linspace(0.01, 0.99, 16))


def without_mass():
    """Half of the secrets have no mass, and the widest ratios."""
    prior = bl.Measure(lambda x: np.where(x < 0.5, 2.0, 0.0), on=UNIT, breaks=(0.5,))
    joint = prior * kernel(
        lambda y, x: np.where(x < 0.5, tilt(y, 2 * x), np.where(y < 0.25, 4.0, 0.0)), outcome=UNIT
    )
    return violations(joint, Tilt(), np.linspace(0.01, 0.99, 16))


def waves():
    """More kinks than Arb's kernel cuts at: its flags must do the rest."""
    n = 400
    joint = bl.uniform(UNIT) * kernel(
        lambda y, x: 1 + (2 * y - 1) * (abs(np.sin(np.pi * n * x)) - 0.5), outcome=UNIT
    )
    return violations(joint, Waves(n), np.array([0.125, 0.75, 0.875]))


def law():
    """Figures over outcomes: bands."""
    joint, case = CASES["Laplace on a uniform"].build(), truths.LaplaceUniform(0.5, 0, 1)
    out = []
    with bl.options(tol=1e-4):
        for kind in ("pml", "pmc"):
            ell = getattr(bl, kind)(joint)
            for figure, arguments in (("sup", ()), ("quantile", (0.5,)), ("mean", ())):
                found = getattr(ell, figure)(*arguments)
                pair = getattr(case, f"{kind}_{figure}")(*arguments)
                if not encloses(found.lower, found.upper, pair):
                    out.append((kind, figure, found, pair))
    return out
