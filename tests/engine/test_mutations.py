"""The engine broken on purpose: every seeded bug must push some truth out of its enclosure.

Each battery is a small joint with a closed form. It passes on the engine as it is; with the bugs
that it is named with it must fail, or the other tests of certified figures prove little.
"""

from types import SimpleNamespace

import numpy as np
import pytest
from engine import truths
from engine.certified_cases import (
    CASES,
    REALS,
    UNIT,
    Cancelling,
    Polynomial,
    Tilt,
    band_violations,
    clayton,
    corner,
    encloses,
    flat,
    kernel,
    log_gauss,
    logs,
    tilt,
    violations,
)

import borel as bl
from borel.engine.continuous import engine as continuous_engine
from borel.engine.continuous import outcome_partition
from borel.engine.kernels import essential_supremum, leakage_on_boxes, marginal_integral
from borel.engine.problem import secret_and_kernel
from borel.engine.problem.kernel_normalisation import statement
from borel.numerics.balls import integral, integrand
from borel.numerics.intervals import batched
from borel.numerics.jets import branches, interpreter

GRID = np.linspace(0.01, 0.99, 16)


@pytest.fixture(autouse=True)
def alone():
    with bl.options(closed_forms=False, tol=1e-8, budget=10):
        yield


# -- batteries: what is out of its enclosure ----------------------------------------------------


def sums():
    """Finitely many secrets: no search, no quadrature."""
    case = Polynomial(0.7)
    return violations(case.build(), case, np.linspace(0.01, 0.99, 100))


def cancelling():
    """A kernel that loses ten digits."""
    return violations(Cancelling().build(), Cancelling(), GRID)


def peaks():
    """Suprema inside: a copula's, and one that is flat."""
    copula = bl.uniform(UNIT) * kernel(clayton, outcome=UNIT)
    out = violations(copula, CASES["Clayton, a user's"].truth, np.linspace(0.01, 0.99, 40))
    return out + violations(flat(0.3).build(), flat(0.3), GRID)


def edges():
    """Suprema at both ends, and inside."""
    wide = bl.Interval(-1, 1)
    joint = bl.uniform(wide) * logs(log_gauss(0.5), wide)
    return violations(joint, truths.GaussianUniform(0.5, -1, 1), np.linspace(-3, 3, 40))


def tails():
    """An unbounded secret."""
    joint = bl.normal() * logs(log_gauss(1.0), REALS)
    return violations(joint, truths.GaussianNormal(1.0, 0, 1), np.linspace(-3, 3, 16), ("pml",))


def altered():
    """Secrets altered where bisection meets them: at ends and at middles of boxes."""
    out = []
    for value in (1e6, 0.0):

        def density(y, x, value=value):
            changed = tilt(y, x)
            for k in range(9):
                changed = np.where(x == k / 8, value, changed)
            return changed

        joint = bl.uniform(UNIT) * kernel(density, outcome=UNIT)
        out += violations(joint, Tilt(), GRID)
    return out


def without_mass():
    """Half of the secrets, at an end or in the middle, have no mass, and the widest ratios."""
    prior = bl.Measure(lambda x: np.where(x < 0.5, 2.0, 0.0), on=UNIT, breaks=(0.5,))
    joint = prior * kernel(
        lambda y, x: np.where(x < 0.5, tilt(y, 2 * x), np.where(y < 0.25, 4.0, 0.0)), outcome=UNIT
    )
    at_an_end = violations(joint, Tilt(), GRID)
    prior = bl.Measure(lambda x: np.where(abs(x - 0.5) > 0.25, 2.0, 0.0), on=UNIT)

    def density(y, x):
        charged = tilt(y, np.where(x < 0.5, 2 * x, 2 * x - 1))
        return np.where(abs(x - 0.5) > 0.25, charged, np.where(y < 0.25, 4.0, 0.0))

    joint = prior * kernel(density, outcome=UNIT)
    return at_an_end + violations(joint, Tilt(), GRID)


def uncut():
    """A kink inside, where Arb's integral cuts: if it may not, only the flags are left."""
    return violations(corner(0.3).build(), corner(0.3), np.array([0.125, 0.75, 0.875]))


def over_bands():
    """Every band of outcomes, at its ends and at its middle."""
    out = []
    for name in ("Gaussian on a uniform", "Student of 3 on a uniform"):
        for kind in ("pml", "pmc"):
            out += band_violations(CASES[name].build(), CASES[name].truth, kind, reach=30)
    return out


def law():
    """Figures over outcomes."""
    joint, out = bl.uniform(UNIT) * kernel(tilt, outcome=UNIT), []
    with bl.options(tol=1e-4):
        for kind in ("pml", "pmc"):
            ell = getattr(bl, kind)(joint)
            for figure, arguments in (("sup", ()), ("quantile", (0.5,))):
                found = getattr(ell, figure)(*arguments)
                pair = getattr(Tilt(), f"{kind}_{figure}")(*arguments)
                if not encloses(found.lower, found.upper, pair):
                    out.append((kind, figure, found, pair))
    return out


# -- bugs ----------------------------------------------------------------------------------------


def no_widening(patch):
    patch.setattr(batched, "EPS", 0.0)
    patch.setattr(batched, "TINY", 0.0)
    # nor by how far a kernel may be from a law
    exact = lambda mechanism, prior: statement(mechanism, prior)._replace(miss=0.0)  # noqa: E731
    patch.setattr(continuous_engine, "statement", exact)


def finished_boxes_forgotten(patch):
    """The first branch and bound of the notes: what is finished no longer counts."""

    class Maximum:
        reduce = np.maximum.reduce

        def __call__(self, *args):
            return np.maximum(*args)

        def at(self, *args):
            pass

    patch.setattr(essential_supremum, "np", SimpleNamespace(**{**vars(np), "maximum": Maximum()}))


def half_of_a_box_forgotten(patch):
    cut = essential_supremum.cut_boxes

    def forgetful(index, a, b, *rest):
        pieces = cut(index, a, b, *rest)
        left = np.zeros(len(pieces[0]), bool)
        left[: len(index)] = True
        return tuple(v[left] for v in pieces)

    patch.setattr(essential_supremum, "cut_boxes", forgetful)


def equality_at_points(patch):
    """A point of a box decides ``x == c`` by itself."""
    equal = branches.Branches._equal

    def pointwise(self, a, b):
        low, high = (np.array(end) for end in equal(self, a, b))
        same = (a[0][0] == a[1][0]) & (b[0][0] == b[1][0]) & (a[0][0] == b[0][0])
        low[0], high[0] = np.where(same, 1.0, low[0]), np.where(same, 1.0, high[0])
        return low, high

    patch.setattr(branches.Branches, "_equal", pointwise)


def decisions_not_inherited(patch):
    run = interpreter.Program.run

    def forgetful(self, inputs, order=0, *, decisions=None, start=None):
        return run(self, inputs, order, start=start)

    patch.setattr(interpreter.Program, "run", forgetful)


def cuts_are_not_made(patch):
    patch.setitem(integral.integrate.__kwdefaults__, "boxes", 0)


def forgotten_flag(patch):
    cuts_are_not_made(patch)
    patch.setitem(integrand.COMPLEX, "absolute", lambda z: z.real_abs())


def lost_tail(patch):
    known = secret_and_kernel.mass_function

    def lost(prior):
        mass = known(prior)
        if mass is None:
            return None
        return lambda a, b: (0.0, 0.0) if np.isinf(a) or np.isinf(b) else mass(a, b)

    patch.setattr(secret_and_kernel, "mass_function", lost)


def no_remainder(patch):
    rule = marginal_integral.rule
    patch.setattr(marginal_integral, "rule", lambda n: (*rule(n)[:4], 0.0))


def everything_has_mass(patch):
    def charged(found, work, upper, lower):
        return upper, lower, np.ones(len(upper), bool)

    patch.setattr(essential_supremum, "_within_support", charged)


def mass_not_asked_for_lower_bounds(patch):
    within = essential_supremum._within_support

    def half(found, work, upper, lower):
        high, _, charged = within(found, work, upper, lower)
        return high, lower, charged

    patch.setattr(essential_supremum, "_within_support", half)


def band_polynomials_without_their_last_term(patch):
    ranged = leakage_on_boxes.poly_range
    patch.setattr(
        leakage_on_boxes, "poly_range", lambda inner, outer, half: ranged(inner, inner, half)
    )


def _changed_side(patch, change):
    side = leakage_on_boxes.side
    patch.setattr(leakage_on_boxes, "side", lambda *args: change(side(*args)))


def no_excess_over_a_path(patch):
    """The supremum over the secret is taken to stay where it is at the centre of a band."""
    _changed_side(patch, lambda found: found._replace(excess=np.zeros_like(found.excess)))


def paths_outside_of_the_secrets(patch):
    def change(found):
        return found._replace(sound=[np.ones_like(v) for v in found.sound])

    _changed_side(patch, change)


def a_band_forgotten(patch):
    split = outcome_partition.Partition.split

    def forgetful(self, *args):
        done = split(self, *args)
        if done:
            self.low, self.high, self.data = self.low[:-1], self.high[:-1], self.data[:, :-1]
        return done

    patch.setattr(outcome_partition.Partition, "split", forgetful)


# -- every bug is caught -------------------------------------------------------------------------

CAUGHT = [
    (no_widening, cancelling),
    (no_widening, peaks),
    (finished_boxes_forgotten, peaks),
    (half_of_a_box_forgotten, edges),
    (half_of_a_box_forgotten, peaks),
    (equality_at_points, altered),
    (decisions_not_inherited, without_mass),
    (forgotten_flag, uncut),
    (lost_tail, tails),
    (no_remainder, edges),
    (no_remainder, peaks),
    (everything_has_mass, without_mass),
    (mass_not_asked_for_lower_bounds, without_mass),
    (band_polynomials_without_their_last_term, over_bands),
    (no_excess_over_a_path, over_bands),
    (paths_outside_of_the_secrets, over_bands),
    (a_band_forgotten, law),
]
BATTERIES = [
    sums,
    cancelling,
    peaks,
    edges,
    tails,
    altered,
    without_mass,
    uncut,
    over_bands,
    law,
]


def named(value):
    return value.__name__


@pytest.mark.few(2)
@pytest.mark.cases("mutations", "over_bands")
@pytest.mark.parametrize("battery", BATTERIES, ids=named)
def test_the_engine_as_it_is(battery):
    assert battery() == []


def test_flags_alone_protect_an_integral_that_is_not_cut(monkeypatch):
    cuts_are_not_made(monkeypatch)
    assert uncut() == []


@pytest.mark.few(2)
@pytest.mark.cases(
    "mutations",
    "band_polynomials_without_their_last_term-over_bands",
    "no_excess_over_a_path-over_bands",
    "paths_outside_of_the_secrets-over_bands",
)
@pytest.mark.filterwarnings("ignore")  # a broken engine may also warn
@pytest.mark.parametrize("bug, battery", CAUGHT, ids=named)
def test_a_seeded_bug_is_caught(bug, battery, monkeypatch):
    bug(monkeypatch)
    assert battery() != []


def test_every_bug_has_a_battery():
    bugs = {bug for bug, _ in CAUGHT}
    assert len(bugs) >= 14
    assert {battery for _, battery in CAUGHT} | {sums} == set(BATTERIES)
