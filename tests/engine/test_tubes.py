"""Tubes around the most revealing secret: against values in 50 digits, with no tolerance."""

import mpmath
import numpy as np
import pytest

import borel as bl
from borel import settings
from borel.engine.kernels import leakage_on_boxes, maximiser_tubes
from borel.engine.kernels.marginal_on_boxes import geometry
from borel.engine.problem.secret_and_kernel import Surface, secret_of
from borel.probability.density import Density

MP = mpmath.mp.clone()
MP.dps = 50
UNIT, LONG = bl.Interval(0, 1), bl.Interval(0.5, 4)
# alphabets, the kernel (of any mass), log f in mpmath, outcomes whose extreme moves, top or bottom
CASES = {
    "Clayton": (
        (UNIT, UNIT, lambda y, x: 0.125 + 0.875 * 2 * x * y / (x + y - x * y) ** 3),
        lambda y, x: MP.log((1 + 14 * x * y / (x + y - x * y) ** 3) / 8),
        (0.01, 0.2, 0.4),
        1.0,
    ),
    "Clayton in logarithms": (
        (
            UNIT,
            UNIT,
            lambda y, x: np.exp(np.logaddexp(0.0, np.log(14 * x * y) - 3 * np.log(x + y - x * y))),
        ),
        lambda y, x: MP.log(1 + 14 * x * y / (x + y - x * y) ** 3),
        (0.01, 0.2, 0.4),
        1.0,
    ),
    "a bent mean": (
        (LONG, bl.Reals(), lambda y, x: np.exp(-((y - x**2 / 2) ** 2) / 2)),
        lambda y, x: -((y - x**2 / 2) ** 2) / 2,
        (0.5, 1.0, 5.0),
        1.0,
    ),
    "waiting": (
        (LONG, bl.Interval(0, None), lambda y, x: x * np.exp(-x * y)),
        lambda y, x: MP.log(x) - x * y,
        (0.3, 0.5, 1.5),
        1.0,
    ),
    "a valley": (
        (UNIT, UNIT, lambda y, x: 1 + (x - 0.25 - y / 2) ** 2 + (x - 0.5) ** 4 * y),
        lambda y, x: MP.log(1 + (x - MP.mpf(1) / 4 - y / 2) ** 2 + (x - MP.mpf(1) / 2) ** 4 * y),
        (0.125, 0.25, 0.75),
        -1.0,
    ),
}


def surface(name):
    secret, outcome, f = CASES[name][0]
    return Surface(Density(f, {"y": outcome, "x": secret}), secret_of(bl.uniform(secret), ()))


def found(name, width):
    """Return tubes on boxes of a relative width."""
    _, _, middles, sign = CASES[name]
    kernel, c = surface(name), np.array(middles)
    low, high = c - c * width, c + c * width
    centre, half = geometry(low, high)
    at = centre, centre
    seen = leakage_on_boxes.extremes(
        kernel, at, len(c), sign=sign, tol=1e-9, deadline=settings.now() + 60
    )
    return (low, high, centre), maximiser_tubes.tubes(
        kernel, low, high, centre, half, seen.place[:, 0], sign
    )


def violations(name, width):
    """Return by how much L(y, x) exceeds L(y, p(y)) and the excess, where it does."""
    (low, high, centre), tube = found(name, width)
    _, log, middles, sign = CASES[name]
    rng, out = np.random.default_rng(7), []
    known = np.flatnonzero(np.isfinite(tube.excess))
    assert len(known) == len(middles) or (width > 1e-2 and len(known) > 0)
    for k in known:
        x0, v, excess = (MP.mpf(float(u[k])) for u in (tube.place, tube.speed, tube.excess))
        ys = [low[k], high[k], *rng.uniform(low[k], high[k], 20)]
        for y in map(float, ys):
            on_path = x0 + v * (MP.mpf(y) - MP.mpf(float(centre[k])))
            level = sign * log(MP.mpf(y), on_path)
            # near the true extreme, where it is closest, and anywhere in the tube
            near = float(on_path) + rng.normal(size=20) * float(high[k] - low[k]) ** 2
            for x in np.clip([*near, *rng.uniform(tube.low[k], tube.high[k], 20)],
                             tube.low[k], tube.high[k]):  # fmt: skip
                over = sign * log(MP.mpf(y), MP.mpf(float(x))) - level - excess
                if over > 0:
                    out.append(over)
    return out


@pytest.mark.few(3)
@pytest.mark.parametrize("width", [3e-2, 1e-2, 1e-3])
@pytest.mark.parametrize("name", CASES)
def test_no_secret_of_a_tube_exceeds_its_path_by_more(name, width):
    assert not violations(name, width)


@pytest.mark.few(4)
@pytest.mark.parametrize("name", CASES)
def test_the_excess_is_of_fourth_order(name):
    wide, narrow = found(name, 4e-3)[1].excess, found(name, 1e-3)[1].excess
    assert (narrow < wide / 128).all() and (wide < 1e-8).all()


def test_the_path_follows_the_mode():
    """Of Clayton's copula with theta = 1 the mode is at x = y / (2 (1 - y)) for y < 2/3."""
    (_, _, y), tube = found("Clayton", 1e-2)
    assert np.abs(tube.place - y / (2 * (1 - y))).max() < 1e-12
    assert np.abs(tube.speed * 2 * (1 - y) ** 2 - 1).max() < 1e-5


@pytest.mark.few(3)
@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize(
    "broken",
    [
        ("_curved", lambda right: lambda *a: right(*a) / 64),
        ("_hollow", lambda right: lambda *a: right(*a) * 4096),
        ("_size", lambda right: lambda a: right(a) / 64),
    ],
    ids=lambda pair: pair[0],
)
def test_a_broken_bound_is_caught(name, broken, monkeypatch):
    """The extreme bends: a path with less excess than it takes is exceeded."""
    attribute, change = broken
    monkeypatch.setattr(maximiser_tubes, attribute, change(getattr(maximiser_tubes, attribute)))
    assert violations(name, 1e-2)


def followed(f, y, place, secret=UNIT, outcome=UNIT):
    kernel = Surface(Density(f, {"y": outcome, "x": secret}), secret_of(bl.uniform(secret), ()))
    low, high = np.array([y - 1e-3]), np.array([y + 1e-3])
    return maximiser_tubes.tubes(kernel, low, high, *geometry(low, high), np.array([place]), 1.0)


@pytest.mark.parametrize(
    ("f", "place"),
    [
        (lambda y, x: np.exp(-abs(y - x)), 0.5),  # a kink
        (lambda y, x: np.where(x < y, 1 + x, 2 - x), 0.5),  # a jump
        (lambda y, x: 1 + x * y, 1.0),  # the end
        (lambda y, x: np.exp((x - y) ** 2), 0.5),  # a valley is no top
        (lambda y, x: 1 + 0 * x * y, 0.5),  # level
    ],
)
def test_there_is_no_tube_without_a_smooth_top(f, place):
    tube = followed(f, 0.5, place)
    assert np.isinf(tube.excess).all() and tube.speed[0] == 0 and tube.low[0] > tube.high[0]


def test_a_kink_beside_the_top_is_left_out():
    """The tube ends before the kink, behind which the kernel is larger."""
    tube = followed(lambda y, x: 2 - (x - y) ** 2 + np.maximum(x - y - 0.125, 0) * 9, 0.5, 0.5)
    assert tube.high[0] < 0.625 - 1e-3 and np.isfinite(tube.excess[0])


# a jump, or a kink, at a cut of the tube into parts: of secrets in eighths, of outcomes in quarters
JUMPS = {
    f"{side} at {at}": (
        lambda y, x, at=at, op=op: np.where(op(x, at), 1.25, 1) * np.exp(-((y - x) ** 2))
    )
    for at in (0.25, 0.375, 0.5, 0.625, 0.75)
    for side, op in (("less", np.less), ("more", np.greater_equal))
}
JUMPS |= {
    "y less": lambda y, x: np.exp(
        np.where(y < 0.5, -((x - 0.375) ** 2) - 0.125, -((x - 0.5) ** 2))
    ),
    "y more": lambda y, x: np.exp(
        np.where(y >= 0.5, -((x - 0.375) ** 2) - 0.125, -((x - 0.5) ** 2))
    ),
    "max in y": lambda y, x: np.exp(-((x - 0.375 - np.maximum(y - 0.5, 0)) ** 2)),
    "abs in y": lambda y, x: np.exp(-((x - 0.375 - abs(y - 0.5)) ** 2)),
    "floor": lambda y, x: np.exp(-((x - y) ** 2) + np.floor(2 * x)),
    "sign": lambda y, x: np.exp(-((x - y) ** 2) + np.sign(x - 0.25)),
    "equal": lambda y, x: np.exp(-((x - 0.375) ** 2) * np.where(x == 0.375, y, 1)),
}


@pytest.mark.few(14)
@pytest.mark.parametrize("half", [0.25, 2.0**-6])
@pytest.mark.parametrize("name", JUMPS)
def test_a_change_of_branch_within_a_tube_is_seen(name, half):
    """The supremum over x on a fine grid is not above what is said, at any outcome of the box."""
    f = JUMPS[name]
    kernel = Surface(Density(f, {"y": UNIT, "x": UNIT}), secret_of(bl.uniform(UNIT), ()))
    low, high = np.array([0.5 - half]), np.array([0.5 + half])
    with np.errstate(all="ignore"):
        found = leakage_on_boxes.side(kernel, low, high, 1.0, 1e-9, settings.now() + 60)
    xs, ys = np.linspace(0, 1, 4096 * 3 + 2)[1:-1], np.linspace(low[0], high[0], 65)[1:-1:2] + 1e-7
    truth = np.log(f(ys[:, None], xs[None])).max(axis=1)
    inner, outer = found.paths[0]
    path = sum(inner[1][k][0] * (ys - 0.5) ** k for k in range(leakage_on_boxes.ORDER))
    path = (
        path
        + np.maximum(outer[1][leakage_on_boxes.ORDER][0], 0) * (ys - 0.5) ** leakage_on_boxes.ORDER
    )
    path = np.where(np.isnan(path), np.inf, path) + found.excess[0]
    assert (truth <= np.minimum(path, found.direct[0]) + 1e-12).all()


@pytest.mark.truths
@pytest.mark.parametrize("cut", [0.5, 0.75])
def test_the_law_of_noise_of_two_widths(cut):
    """Its density jumps in the secret; the leakage has a least value, which is not 0."""

    def f(y, x):
        width = np.where(x < cut, 1.0, 0.875)
        return np.exp(-(((y - x) / width) ** 2) / 2) / width / np.sqrt(2 * np.pi)

    joint = bl.uniform(UNIT) * bl.Mechanism(f, secret=UNIT, outcome=bl.Reals())
    x = (np.arange(20_000) + 0.5) / 20_000
    ys = np.linspace(-1, 2, 301)
    values = f(ys[:, None], x[None])
    least = np.log(values.max(axis=1) / values.mean(axis=1)).min() - 1e-4
    with bl.options(budget=6):
        law = bl.pml(joint)
        assert law.tail(0.25 * least).upper == 1
        assert law.quantile(0.05).upper >= least


@pytest.mark.truths
def test_the_law_of_one_sided_noise():
    """Y = X + U, U exponential: f_Y = 1 - e^-y for y < 1, and the supremum is 1, at x = y."""

    def f(y, x):
        return np.where(y >= x, np.exp(-(y - x)), 0)

    joint = bl.uniform(UNIT) * bl.Mechanism(f, secret=UNIT, outcome=bl.Interval(0, None))
    law = bl.pml(joint)
    last = 1 - MP.log(MP.e - 1)  # for all y > 1

    def mass(t):  # of leakage above t
        y = -MP.log(1 - MP.exp(-MP.mpf(t)))
        return y - 1 + MP.exp(-y)

    for t in (0.5, 0.75, 2.0):
        found = law.tail(t)
        assert found.lower <= mass(t) <= found.upper <= found.lower + 1e-8
    for s in (0.5, 0.875):
        found = law.quantile(s)
        t = last if 1 - s > mass(last) else MP.findroot(lambda t, s=s: mass(t) - (1 - s), 1.0)
        assert found.lower <= t <= found.upper <= found.lower + 1e-7


# -- the law of Clayton's copula -----------------------------------------------------------------


def of_clayton(y):
    """Return PML for eta = 1/8: the supremum is at y / (2 (1 - y)), or at 1; f_Y = 1."""
    top = 8 / (27 * y * (1 - y)) if y < MP.mpf(2) / 3 else 2 * y
    return MP.log((1 + 7 * top) / 8)


def beyond(t):
    """Return P{PML > t} for t < log 15/8: below and above 2/3 they are roots of polynomials."""
    k = (8 * MP.exp(t) - 1) / 7
    turn, product = MP.mpf(2) / 3, 8 / (27 * k)
    right = 1 - max(turn, k / 2)
    if product >= MP.mpf(1) / 4:
        return turn + right
    root = MP.sqrt(1 - 4 * product)
    return (1 - root) / 2 + max(turn - (1 + root) / 2, 0) + right


@pytest.mark.truths
def test_the_law_of_the_clayton_mixture():
    t = 0.25
    secret, outcome, f = CASES["Clayton"][0]
    mechanism = bl.Mechanism(f, secret=secret, outcome=outcome)
    with bl.options(tol=1e-5):
        law = bl.pml(bl.uniform(UNIT) * mechanism)
        tail, back = law.tail(t), law.quantile(float(1 - beyond(t)))
    assert tail.lower <= beyond(t) <= tail.upper and tail.width <= 1e-5
    assert back.lower <= t + 1e-12 and t - 1e-12 <= back.upper and back.width <= 1e-5


@pytest.mark.truths
def test_the_mean_of_the_clayton_mechanism():
    """Its density is a sum of logarithms, of which that of x has no bound beside x = 0."""
    turn = MP.mpf(2) / 3
    pieces = [0, 0.25, turn ** (MP.mpf(1) / 4), 1]
    truth = MP.quad(lambda v: of_clayton(v**4) * 4 * v**3, pieces)
    with bl.options(tol=1e-4):
        found = bl.pml(bl.uniform(UNIT) * bl.mechanisms.clayton(eta=0.125)).mean()
    assert found.status == "certified" and found.width <= 1e-4
    assert found.lower <= truth <= found.upper


@pytest.mark.truths
def test_the_cost_of_the_clayton_mechanism_has_a_law():
    """PMC is log 1 / eta at almost every outcome, approached as x goes to 0."""
    with bl.options(tol=1e-5):
        cost = bl.pmc(bl.uniform(UNIT) * bl.mechanisms.clayton(eta=0.125))
        tail, mean, power = cost.tail(2.0), cost.mean(), cost.exp_mean()
    truth = MP.log(8)
    assert tail.lower <= 1 <= tail.upper and tail.width <= 1e-5
    assert mean.lower <= truth <= mean.upper and mean.width <= 1e-5
    assert power.lower <= 8 <= power.upper and power.width <= 1e-3
