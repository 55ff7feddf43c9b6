"""What NumPy answers for NaN: conditions on roots and logarithms of what may be negative."""

import mpmath
import numpy as np
import pytest
from scipy import special

import borel as bl
from borel import settings
from borel.engine.kernels import leakage_on_boxes
from borel.engine.kernels.marginal_on_boxes import Marginal
from borel.engine.problem import prior_positivity
from borel.engine.problem.secret_and_kernel import Surface, secret_of
from borel.numerics.jets.interpreter import Program
from borel.probability.density import Density

UNIT = bl.Interval(0, 1)
# true, or false, for NaN: below x = 1/5
CONDITIONS = {
    "sqrt >= 0": lambda x: np.sqrt(x - 0.2) >= 0,
    "0 <= sqrt": lambda x: 0 <= np.sqrt(x - 0.2),
    "sqrt > -1": lambda x: np.sqrt(x - 0.2) > -1,
    "sqrt == sqrt": lambda x: np.equal(np.sqrt(x - 0.2) * 0, 0),
    "sqrt != 9": lambda x: np.not_equal(np.sqrt(x - 0.2), 9),
    "log < 1": lambda x: np.log(x - 0.2) < 1,
    "log2 < 1": lambda x: np.log2(x - 0.2) < 1,
    "log10 < 1": lambda x: np.log10(x - 0.2) < 1,
    "log1p < 1": lambda x: np.log1p(x - 1.2) < 1,
    "xlogy < 1": lambda x: special.xlogy(1.0, x - 0.2) < 1,
    "xlog1py < 1": lambda x: special.xlog1py(1.0, x - 1.2) < 1,
    "power times 0": lambda x: np.equal((x - 0.2) ** 1.5 * 0, 0),
    "quotient": lambda x: np.maximum(x - 0.2, 0) / np.maximum(x - 0.2, 0) > 0.5,
    "quotient times 0": lambda x: np.maximum(x - 0.2, 0) / np.maximum(x - 0.2, 0) * 0 < 0.5,
    "arctanh < 99": lambda x: np.arctanh(x - 1.2) * 0 < 99,
    "power < 2": lambda x: (x - 0.2) ** 1.5 < 2,
    "arcsin < 9": lambda x: np.arcsin(x - 1.2) < 9,
    "logit < 99": lambda x: special.logit(x - 0.2) < 99,
    "sqrt of sqrt": lambda x: np.sqrt(1 + np.sqrt(x - 0.2)) > 0,
    "finite": lambda x: np.isfinite(np.sqrt(x - 0.2)),
    "a number": lambda x: ~np.isnan(np.sqrt(x - 0.2)),
    "and": lambda x: np.logical_and(np.sqrt(x - 0.2) >= 0, x > -1),
    "true": lambda x: np.logical_not(np.logical_not(np.sqrt(x - 0.2) * 0)),
    "picked": lambda x: np.where(np.sqrt(x - 0.2) * 0, 0, 1) > 0.5,
    "fmin": lambda x: np.fmin(np.sqrt(x - 0.2), 9.0) < 8,
    "fmax": lambda x: np.fmax(np.sqrt(x - 0.2), -1.0) > -0.5,
}


@pytest.mark.cases("slow", "0 <= sqrt", "quotient", "sqrt > -1", "log < 1")
@pytest.mark.cases(
    "truths",
    "a number",
    "and",
    "arcsin < 9",
    "finite",
    "fmax",
    "fmin",
    "log2 < 1",
    "logit < 99",
    "picked",
    "power times 0",
    "sqrt != 9",
    "sqrt == sqrt",
    "sqrt >= 0",
    "sqrt of sqrt",
    "xlog1py < 1",
    "power < 2",
    "quotient times 0",
    "arctanh < 99",
    "xlogy < 1",
    "log10 < 1",
    "log1p < 1",
)
@pytest.mark.parametrize("name", CONDITIONS)
def test_no_leakage_is_outside_its_band(name):
    """The kernel 1 + (y - 1/2) g(x), of mass 1, with g = 1/2 or 19/10 by the condition."""

    def g(x):
        with np.errstate(all="ignore"):
            return np.where(CONDITIONS[name](x), 0.5, 1.9)

    density = Density(lambda y, x: 1 + (y - 0.5) * g(x), {"y": UNIT, "x": UNIT})
    assert density.graph is not None
    kernel = Surface(density, secret_of(bl.uniform(UNIT), ()))
    low, high = np.array([0.9]), np.array([0.95])
    found = leakage_on_boxes.Bands(Marginal(kernel)).evaluate(
        "pml", low, high, 1e-9, settings.now() + 60
    )
    x = (np.arange(100_000) + 0.5) / 100_000
    values = g(x)
    most, mean = values.max(), values.mean()
    for k, t in np.ndindex(1, 5):
        y = low[k] + (high[k] - low[k]) * t / 4
        leakage = np.log((1 + (y - 0.5) * most) / (1 + (y - 0.5) * mean))
        assert found.lower[k] <= leakage + 1e-6 and leakage - 1e-6 <= found.upper[k]
    mass = (high - low) * (1 + ((low + high) / 2 - 0.5) * mean)
    assert (found.mass_low <= mass + 1e-6).all() and (mass - 1e-6 <= found.mass_high).all()


@pytest.mark.parametrize("name", CONDITIONS)
def test_a_condition_is_not_decided_where_it_changes(name):
    density = Density(lambda x: CONDITIONS[name](x) * 1.0, {"x": UNIT})
    ends = np.array([0.1, 0.1, 0.2 - 2.0**-40, 0.15]), np.array([0.3, 0.2, 0.9, 0.2 + 2.0**-40])
    for order in (0, 1, 2):
        x = (
            ends
            if order == 0
            else (np.stack([ends[0], np.ones(4)]), np.stack([ends[1], np.ones(4)]))
        )
        x = tuple(v.reshape(-1, 4) for v in x)
        low, high = Program(density.graph).run({"x": x}, order).jet
        with np.errstate(all="ignore"):
            inside = [
                CONDITIONS[name](np.linspace(a, b, 99)[1:-1]) for a, b in zip(*ends, strict=True)
            ]
        for k, values in enumerate(inside):
            held = np.nan_to_num(low[0, k] if low.shape[1] > 1 else low[0, 0], nan=-9)
            most = np.nan_to_num(high[0, k] if high.shape[1] > 1 else high[0, 0], nan=9)
            assert held <= values.min() and values.max() <= most


@pytest.mark.truths
def test_a_figure_of_such_a_kernel():
    joint = bl.uniform(UNIT) * bl.Mechanism(
        lambda y, x: 1 + (y - 0.5) * np.where(np.sqrt(x - 0.2) >= 0, 0.5, 1.9),
        secret=UNIT,
        outcome=UNIT,
    )
    with bl.options(budget=3):
        found = bl.pml(joint).tail(0.1)
    # f_Y = 1 + 0.78 (y - 1/2); the supremum has 1.9 above y = 1/2, and 0.5 below
    level = np.exp(0.1)
    right, left = (level - 1) / (1.9 - 0.78 * level), (level - 1) / (0.78 * level - 0.5)
    truth = 1 - right - left + 0.39 * ((0.25 - right**2) - (0.25 - left**2))
    assert found.lower <= truth <= found.upper


@pytest.mark.cases("truths", "0.25", "0.9")
@pytest.mark.parametrize("y", [0.25, 0.9])
def test_a_figure_at_one_outcome_of_such_a_kernel(y):
    """Few outcomes are enclosed by Arb, where it knows the kernel."""
    joint = bl.uniform(UNIT) * bl.Mechanism(
        lambda y, x: 1 + (y - 0.5) * np.where(np.sqrt(x - 0.2) >= 0, 0.5, 1.9),
        secret=UNIT,
        outcome=UNIT,
    )
    values = np.sort([1 + (y - 0.5) * 0.5, 1 + (y - 0.5) * 1.9])
    mean = 1 + (y - 0.5) * 0.78
    with bl.options(budget=3):
        found, cost = bl.pml(joint)(y), bl.pmc(joint)(y)
    assert found.lower <= np.log(values[1] / mean) <= found.upper
    assert cost.lower <= np.log(mean / values[0]) <= cost.upper


@pytest.mark.slow
def test_what_cancels_in_a_condition_may_be_no_number():
    """log u + 1 - log u > 0 is false where u is 0: NumPy compares NaN there."""

    def density(x):
        log = np.log(np.where(x < 0.5, 1.0, 0.0))
        return np.where((log + 1) - log > 0, 2.0, 0.0)

    unit = bl.Interval(0, 1)
    prior = bl.Measure(density, on=unit, breaks=(0.5,))
    mech = bl.Mechanism(lambda y, x: np.exp(-abs(y - x)) / 2, secret=unit, outcome=bl.Reals())
    truth = 0.5 - np.log(2 * (np.exp(0.5) - 1))  # the secrets are those below 1/2
    with bl.options(budget=5):
        bound = bl.pml(prior * mech)(1.0)
    assert bound.lower - 1e-12 <= truth <= bound.upper + 1e-12


NOWHERE = {  # bounded functions that are no number at 0, and their values elsewhere, if constant
    "sin(x / x)": lambda x: np.sin(x / x),
    "0 * (1 / x)": lambda x: 0 * (1 / x),
    "x log x": lambda x: x * np.log(x),
    "0 log x": lambda x: 0 * np.log(x),
}


@pytest.mark.parametrize("name", NOWHERE)
def test_a_kernel_is_a_number_where_the_prior_has_a_mass(name):
    """At a null set it does not matter; at an atom, or a label, there is no kernel."""
    h = NOWHERE[name]
    made = bl.Mechanism(
        lambda y, x: 1 + 0.5 * np.tanh(h(x)) * (2 * y - 1), secret=UNIT, outcome=UNIT
    )
    mixed = bl.Mixed(UNIT, atoms=[0.0])
    atom = bl.Measure(lambda x: 0.5 + 0 * x, on=mixed, masses={0.0: 0.5})
    label = bl.pmf([0.5, 0.5], on=bl.Finite([0.0, 1.0]))
    for prior in (atom, label):
        with pytest.raises(bl.InvalidInput, match=r"got nan at x = 0\.0, y = "):
            prior * made
    bl.pmf([0.0, 1.0], on=bl.Finite([0.0, 1.0])) * made  # no mass there
    bl.Measure(lambda x: 1 + 0 * x, on=mixed, masses={0.0: 0.0}) * made
    if name.startswith("0"):
        found = bl.pml(bl.uniform(UNIT) * made)(0.25)
        assert found.status == "certified" and 0 <= found.lower <= found.upper < 1e-13


def test_0_to_the_0_is_1():
    """A coin of probability x, which is surely 0 or 1 with probability 1/4 each."""
    mixed = bl.Mixed(UNIT, atoms=[0.0, 1.0])
    prior = bl.Measure(lambda x: 0.5 + 0 * x, on=mixed, masses={0.0: 0.25, 1.0: 0.25})
    joint = prior * bl.Mechanism(
        lambda y, x: x**y * (1 - x) ** (1 - y), secret=UNIT, outcome=bl.Finite(2)
    )
    found = bl.pml(joint)(0)
    with mpmath.workdps(30):
        assert found.lower <= mpmath.log(2) <= found.upper and found.width < 1e-9


# -- no number on a set that nobody would hit by chance ------------------------------------------


def below(x):
    return 0 * np.log(x - 1e-9)


def logarithm_of_binomial(y, x):
    ways = special.gammaln(4) - special.gammaln(y + 1) - special.gammaln(4 - y)
    return ways + y * np.log(x) + (3 - y) * np.log1p(-x)


def coin(y, x):
    return np.where(y == 0, 1 - x, x)


NARROW = {  # proofs see no difference, as what is NaN cancels there
    "counts": (lambda y, x: np.exp(logarithm_of_binomial(y, x) + below(x)), bl.Integers(0, 3)),
    "labels": (lambda y, x: coin(y, x) * np.exp(below(x)), bl.Finite([0, 1])),
    "difference": (
        lambda y, x: coin(y, x) + np.log(x - 1e-9) - np.log(x - 1e-9),
        bl.Finite([0, 1]),
    ),
    "power": (lambda y, x: coin(y, x) + 0 * (x - 1e-9) ** 0.3, bl.Finite([0, 1])),
    "arcsin": (lambda y, x: coin(y, x) + 0 * np.arcsin(x + 1e-9), bl.Finite([0, 1])),
    "entropy": (lambda y, x: coin(y, x) + 0 * special.entr(x - 1e-9), bl.Finite([0, 1])),
    "divergence": (lambda y, x: coin(y, x) + 0 * special.kl_div(x - 1e-9, 1.0), bl.Finite([0, 1])),
    "outcomes": (
        lambda y, x: np.exp(-abs(y - x) + 0 * np.sqrt(y * y - 1e-9)) / 2,
        bl.Reals(),
    ),
    "a part of the outcomes": (
        lambda y, x: np.where(y < 0.5, 1 + below(y), 1 + x - x),
        UNIT,
    ),
    "one of two labels": (
        lambda y, x: np.where(y == 0, 1 - x, x * np.exp(below(x))),
        bl.Finite([0, 1]),
    ),
    "Poisson": (
        lambda y, x: np.exp(y * np.log(1 + x) - 1 - x - special.gammaln(y + 1) + below(x)),
        bl.Integers(0, None),
    ),
}


@pytest.mark.parametrize("name", NARROW)
def test_no_number_on_a_sliver_is_refused(name):
    density, outcome = NARROW[name]
    mech = bl.Mechanism(density, secret=UNIT, outcome=outcome)
    with pytest.raises(bl.InvalidInput, match=r"nan at y .*in \[.*correct the function there"):
        bl.pml(bl.uniform(UNIT) * mech)(1)


def test_no_number_on_a_sliver_of_two_secrets_is_refused():
    def density(y, x):
        gap = y - x[0] - x[1]
        return np.exp(-(gap**2) / 2 + below(x[0] + x[1])) / np.sqrt(2 * np.pi)

    square = UNIT * UNIT
    mech = bl.Mechanism(density, secret=square, outcome=bl.Reals())
    with pytest.raises(bl.InvalidInput, match=r"nan at y in .*, x0 in .*, x1 in "):
        bl.pml(bl.uniform(square) * mech)(1.0)


def test_a_mass_of_an_outcome_that_is_no_number_on_a_sliver_is_refused():
    masses = {0.0: lambda x: x / 2 + below(x), 1.0: lambda x: (1 - x) / 2}
    mixed = bl.Mixed(UNIT, atoms=[0.0, 1.0])
    mech = bl.Mechanism(lambda y, x: 0.5 + 0 * x * y, secret=UNIT, outcome=mixed, masses=masses)
    with pytest.raises(bl.InvalidInput, match=r"nan at x in \[0, "):
        bl.pml(bl.uniform(UNIT) * mech)(0.5)


def test_a_prior_that_is_no_number_on_a_sliver_is_refused():
    prior = bl.Measure(lambda x: 2 * x * np.exp(below(x)), on=UNIT)
    noise = bl.Mechanism(lambda y, x: np.exp(-abs(y - x)) / 2, secret=UNIT, outcome=bl.Reals())
    with pytest.raises(bl.InvalidInput, match=r"nan at x in \["):
        bl.pml(prior * noise)(0.5)


@pytest.mark.parametrize(
    "density",
    [
        lambda y, x: np.where(x > 1e-9, coin(y, x) + below(np.maximum(x, 2e-9)), coin(y, x)),
        lambda y, x: np.where(x > 1e-9, coin(y, x) * np.exp(below(x)), coin(y, x)),
        lambda y, x: np.where(np.log(x - 1e-9) < 5, coin(y, x), coin(y, x)),
        lambda y, x: coin(y, x) + special.xlogy(0.0, x - 1e-9),
        lambda y, x: coin(y, x) * (x - 1e-9) ** 0.0,
        lambda y, x: coin(y, x) + 0 * np.sqrt(x * x - 2 * x + 1),
        lambda y, x: coin(y, x) + 0 * np.arcsin(2 * x - 1),
    ],
)
def test_what_is_a_number_at_almost_all_secrets_is_not_refused(density):
    mech = bl.Mechanism(density, secret=UNIT, outcome=bl.Finite([0, 1]))
    found = bl.pml(bl.uniform(UNIT) * mech)(1)
    assert found.lower <= np.log(2) <= found.upper


def roots(x, count):
    """0, as no intervals see: they leave the sign of what is under each root open."""
    return sum(0 * np.sqrt((x - k / 9) ** 2 + 2 * k * x - 2 * k * x) for k in range(count))


def test_a_search_for_nan_is_not_paid_by_the_proofs():
    def density(y, x):
        p = 0.2 + x * x / 2 + roots(x, 6)
        return np.where(y == 0, 1 - p, p)

    mech = bl.Mechanism(density, secret=UNIT, outcome=bl.Finite([0, 1]))
    with bl.options(budget=0.3):
        found = bl.pml(bl.uniform(UNIT) * mech)(1)
    assert found.status == "certified"  # mean of 0.2 + x^2 / 2, and the largest
    assert found.lower <= np.log(0.7 / (0.2 + 1 / 6)) <= found.upper


def test_a_search_for_nan_ends(monkeypatch):
    looks, evaluate = [], prior_positivity.interpreter.evaluate
    monkeypatch.setattr(
        prior_positivity.interpreter,
        "evaluate",
        lambda *args: (looks.append(1), evaluate(*args))[1],
    )

    of = {"y": UNIT, "x": UNIT}
    many, few = (Density(lambda y, x, n=n: 1 + roots(x + y, n), of) for n in (30, 3))
    prior_positivity.require_numbers(many, "a kernel")
    assert 30 <= len(looks) < 1000
    wrong = Density(lambda y, x: few.function(y, x) + below(x), of)  # after the others
    with pytest.raises(bl.InvalidInput, match=r"nan at y in .*, x in \[0, "):
        prior_positivity.require_numbers(wrong, "a kernel")


def far_gap(x, place=5555):
    """Return what is 0 at one integer only: no search finds it."""
    cubic = np.sqrt(x**3 + x) - np.sqrt(float(place) ** 3 + place)
    return abs(cubic) + abs(np.sin((x - place) * np.pi / (place + 2222)))


def odds(w):
    return w / (1 + w)


def bell(w):
    return np.exp(w) / (1 + np.exp(w)) ** 2


def logistic(w):
    return np.exp(w) / (1 + np.exp(w))


INFINITE_FAR_OUT = {
    "0 times": lambda x: 0 * np.log(far_gap(x)),
    "0 by": lambda x: 0 / far_gap(x),
    "difference": lambda x: 0 * (np.log(far_gap(x)) + x - np.log(far_gap(x))),
    "part": lambda x: 0 * (np.log(far_gap(x)) - np.log(far_gap(x)) * 0.5),
    "square": lambda x: 0.1 * (bell(1 / far_gap(x)) - bell(1 / far_gap(x))),
    "quotient": lambda x: 0.1 * (odds(1 / far_gap(x)) - odds(1 / far_gap(x))),
    "logistic": lambda x: 0.1 * (logistic(1 / far_gap(x)) - logistic(1 / far_gap(x))),
    "half a line": lambda x: 0 * special.entr(12345678.5 - x),
    "relative": lambda x: 0 * special.rel_entr(12345678.5 - x, 1.0),
}


@pytest.mark.parametrize("name", INFINITE_FAR_OUT)
def test_infinity_far_out_is_not_passed_over(name):
    """It is no number at 5555 (or from there on), which has a mass: nothing is proved."""
    lost = INFINITE_FAR_OUT[name]
    with np.errstate(all="ignore"):
        assert np.isnan(lost(np.array([5555.0, 12345679.0]))).any()
    line, prior = bl.Integers(0, None), bl.poisson(mu=2)
    for share in (0.25, lambda x: 1 / (3 + x)):
        of = share if callable(share) else lambda x, c=share: c + 0 * x
        mech = bl.Mechanism(
            lambda y, x, of=of: np.where(y == 0, of(x), 1 - of(x)) + lost(x),
            secret=line,
            outcome=bl.Finite([0, 1]),
        )
        assert bl.pml(prior * mech)(1).status in ("conditional", "undecided")
    mech = bl.Mechanism(
        lambda y, x: np.exp(-abs(y - x) / 2 + lost(x)) * np.tanh(0.25),
        secret=line,
        outcome=bl.Integers(None, None),
    )
    assert bl.pml(prior * mech)(1).status in ("conditional", "undecided")


def test_infinity_at_one_of_the_first_secrets_is_refused():
    mech = bl.Mechanism(
        lambda y, x: 0.5 + 0 * y + 0 * np.log(far_gap(x, 41)),
        secret=bl.Integers(0, None),
        outcome=bl.Finite([0, 1]),
    )
    with pytest.raises(bl.InvalidInput, match="got nan at y = 0, x = 41"):
        bl.pml(bl.poisson(mu=2) * mech)(1)


ORDINARY = {  # numbers on x >= 0, though not by their operations alone
    "odds": lambda w, exp: (w / (1 + w), 1 - w / (1 + w)),
    "logistic": lambda w, exp: (
        exp(w) / (1 + exp(w)) ** 2,
        1 - exp(w) / (1 + exp(w)) ** 2,
    ),
    "square": lambda w, exp: (
        1 / (1 + w) - (1 / (1 + w)) ** 2,
        1 - 1 / (1 + w) + (1 / (1 + w)) ** 2,
    ),
    "shift": lambda w, exp: ((w + 0.25) - w, 0.75 + 0 * w),
}
OF_SECRETS = {  # for NumPy, and for mpmath
    "root": (np.sqrt, mpmath.sqrt),
    "quotient": (lambda x: (1 + x) / (2 + x),) * 2,
    "logarithm": (lambda x: np.log(2 + x), lambda x: mpmath.log(2 + x)),
    "itself": (lambda x: x,) * 2,
}


@pytest.mark.parametrize(
    ("name", "of"),
    [(name, of) for name in ORDINARY for of in OF_SECRETS if name != "square" or of == "itself"],
)
def test_what_is_a_number_on_the_alphabet_cancels(name, of):
    """A rule that asks for numbers takes the secrets that there are."""
    kernel, (plain, exact) = ORDINARY[name], OF_SECRETS[of]
    mech = bl.Mechanism(
        lambda y, x: np.where(y == 0, *kernel(plain(x), np.exp)),
        secret=bl.Integers(0, None),
        outcome=bl.Finite([0, 1]),
    )
    found = bl.pml(bl.poisson(mu=2) * mech)(1)
    assert found.status == "exact"
    rows = [kernel(exact(mpmath.mpf(x)), mpmath.exp)[1] for x in [*range(200), 10**12]]
    weights = [mpmath.exp(-2) * mpmath.mpf(2) ** x / mpmath.factorial(x) for x in range(200)]
    mean = mpmath.fsum(p * row for p, row in zip(weights, rows, strict=False))
    assert mpmath.log(max(rows) / mean) <= found.upper  # the mass beyond is below 1e-300


FAR = 1_000_003
HIDDEN = {  # NaN at one integer that nobody would try
    "a condition": lambda y: np.where(0 * np.log(np.abs(y - FAR)) >= 0, 1.0, 5.0),
    "not below": lambda y: np.where(np.log(np.abs(y - FAR)) * 0 < 0, 5.0, 1.0),
    "a product": lambda y: 1 + 0 * np.log(np.abs(np.sin(y - FAR))),
    "a quotient": lambda y: 1 + 0 / np.sin(y - FAR),
    "fmin": lambda y: np.fmin(1 + 0 * np.log(np.abs(np.sin(y - FAR))), 1.0),
}


@pytest.mark.parametrize("name", HIDDEN)
@pytest.mark.parametrize("log", [False, True])
def test_no_number_at_one_of_infinitely_many_outcomes_leaves_nothing_proved(name, log):
    secret, outcome = bl.Finite([1.0, 2.0]), bl.Integers(0, None)
    factor = HIDDEN[name]

    def density(y, x):
        if log:
            return y * np.log(x / 3) + np.log1p(-x / 3) + np.log(factor(y))
        return (x / 3) ** y * (1 - x / 3) * factor(y)

    try:
        mech = bl.Mechanism(density, secret=secret, outcome=outcome, log=log)
        joint = bl.pmf([0.5, 0.5], on=secret) * mech
        found = [bl.pml(joint).sup(), bl.pml(joint)(2), bl.maximal_leakage(joint)]
    except bl.InvalidInput as error:
        assert "nan" in str(error)
    else:
        assert not {"exact", "certified"} & {one.status for one in found}


@pytest.mark.parametrize("name", HIDDEN)
def test_no_number_at_one_integer_of_a_prior_leaves_nothing_proved(name):
    counts, factor = bl.Integers(0, None), HIDDEN[name]
    try:
        prior = bl.Measure(lambda x: 0.5 ** (x + 1) * factor(x), on=counts)
        found = bl.pml(prior * bl.mechanisms.laplace(b=1.0, secret=counts))(0.5)
    except bl.InvalidInput as error:
        assert "nan" in str(error)
    else:
        assert found.status not in ("exact", "certified")


def test_a_factor_that_is_0_at_each_secret_hides_no_nan():
    """x (1 - x) is 0 at both secrets, and not between them."""
    secret, outcome = bl.Finite([0.0, 1.0]), bl.Integers(0, None)

    def density(y, x):
        hidden = x * (1 - x) * np.log(np.abs(np.sin(y - FAR)))
        return (y + 1) * np.log(0.5 - 0.25 * x) + np.log(1 + 2 * x) + hidden

    mech = bl.Mechanism(density, secret=secret, outcome=outcome, log=True)
    assert bl.pml(bl.pmf([0.5, 0.5], on=secret) * mech)(2).status == "conditional"


def test_conditions_on_numbers_leave_proofs_as_they_are():
    secret, outcome = bl.Finite([1.0, 2.0]), bl.Integers(0, None)
    mech = bl.Mechanism(
        lambda y, x: np.where(np.sqrt(y) >= 0, (x / 3) ** y * (1 - x / 3), 0) + 0 * np.log1p(y),
        secret=secret,
        outcome=outcome,
    )
    found = bl.maximal_leakage(bl.pmf([0.5, 0.5], on=secret) * mech)
    assert found.status in ("exact", "certified")
    assert found.lower <= np.log(4 / 3) <= found.upper
