"""Lower bounds from draws: at the stated confidence, and of broken mechanisms large enough."""

import math

import numpy as np
import pytest

import borel as bl
from borel.errors import InvalidInput

# -- the sparse vector technique: threshold 0, sensitivity 1, c answers above, epsilon in all ------
# Lyu, Su, Li, "Understanding the Sparse Vector Technique for Differential Privacy" (2017)


def sparse_vector(
    epsilon, c=1, *, noisy_queries=True, resets=True, stops=True, noisy_threshold=True
):
    """Return a sampler: 1 above, 0 below, -1 not answered. Without changes it is correct."""

    def sample(queries, size, rng):
        queries = np.asarray(queries, float)
        half = epsilon / 2
        rho = rng.laplace(0, 1 / half, size) if noisy_threshold else np.zeros(size)
        scale = 2 * (c if resets else 1) / half
        noise = rng.laplace(0, scale, (size, len(queries))) if noisy_queries else 0.0
        above = (queries + noise >= rho[:, None]).astype(int)
        if stops:
            done = np.cumsum(above, axis=1) - above >= c
            above[done] = -1
        return above

    return sample


NEIGHBOURS = [[0.0] * 8 + [1.0] * 4, [1.0] * 8 + [0.0] * 4]
LONG = [[0.0] * 20 + [1.0] * 20, [1.0] * 20 + [0.0] * 20]


def halves(rows):
    """How many more answers of the first half of the queries are above."""
    n = rows.shape[1] // 2
    return (rows[:, :n] == 1).sum(axis=1) - (rows[:, n:] == 1).sum(axis=1)


def noisy_max(epsilon, *, release="index", scale=1.0):
    """Report noisy max with Laplace noise of scale 2/epsilon: epsilon-DP for its index alone."""

    def sample(queries, size, rng):
        queries = np.asarray(queries, float)
        noisy = queries + rng.laplace(0, scale * 2 / epsilon, (size, len(queries)))
        return noisy.argmax(axis=1) if release == "index" else noisy.max(axis=1)

    return sample


COUNTS = [[0.0] * 6, [1.0] + [-1.0] * 5, [1.0] * 6]


@pytest.mark.slow
def test_correct_mechanisms_are_not_accused():
    for seed in range(5):
        found = bl.audit_samples(sparse_vector(1.0), NEIGHBOURS, rng=seed, confidence=0.999)
        assert found.ldp().lower <= 1.0
        found = bl.audit_samples(
            sparse_vector(1.0, c=3), LONG, rng=seed, confidence=0.999, statistic=halves
        )
        assert found.ldp().lower <= 1.0
        pair = [COUNTS[0], [1.0] + [0.0] * 5]
        found = bl.audit_samples(noisy_max(1.0), pair, rng=seed, confidence=0.999)
        assert found.ldp().lower <= 1.0


@pytest.mark.parametrize(
    ("sampler", "inputs", "statistic"),
    [
        (sparse_vector(1.0, noisy_queries=False, stops=False), NEIGHBOURS, None),  # Stoddard et al.
        (sparse_vector(1.0, c=6, resets=False, stops=False), LONG, halves),  # Chen et al.
        (sparse_vector(1.0, noisy_threshold=False, stops=False), LONG, halves),
        (noisy_max(1.0, scale=0.3), [[0.0, 0.0], [1.0, -1.0]], None),  # noise too small
        (
            noisy_max(1.0, release="value"),
            [[0.0] * 12, [1.0] * 12],
            None,
        ),  # the value, not the index
    ],
    ids=["no noise on queries", "never stops", "fixed threshold", "noisy max 0.3", "noisy value"],
)
def test_broken_mechanisms_are_caught(sampler, inputs, statistic):
    found = bl.audit_samples(
        sampler, inputs, size=20_000, rng=11, confidence=0.99, statistic=statistic
    ).ldp()
    assert found.lower > 1.0
    assert found.status == "statistical" and found.confidence == 0.99
    assert found.upper == math.inf and "lower bound" in found.assumptions[0]
    assert (found <= 1.0).at(confidence=0.99).holds is False
    assert (found <= 1.0).holds is None


# -- mechanisms whose leakage is known -------------------------------------------------------------

PRIOR = [0.2, 0.3, 0.5]
E = 2.0
RESPONSE = np.full((3, 3), 1.0)
np.fill_diagonal(RESPONSE, math.exp(E))
RESPONSE /= RESPONSE.sum(axis=1, keepdims=True)


def response(x, size, rng):
    return rng.choice(3, size=size, p=RESPONSE[x])


Q = np.array(PRIOR) @ RESPONSE
PML = np.log(RESPONSE.max(axis=0) / Q)  # of the outcomes, 0 the largest


def test_the_bounds_come_near_what_is_true():
    found = bl.audit_samples(response, [0, 1, 2], prior=PRIOR, size=100_000, rng=2)
    assert E - 0.2 < found.ldp().lower <= E
    assert PML.max() - 0.1 < found.pml().lower <= PML.max()
    p, r = np.array(PRIOR), np.exp(0.2)  # e^leakage of an outcome x is RESPONSE[x, x] / Q[x]
    proved = (np.diag(RESPONSE) - r * Q) / (1 / p - r)
    assert 0.95 * proved.sum() < found.tail(0.2).lower <= proved.sum()
    assert found.tail(0.2).upper == 1.0
    beyond = found.tail(PML[1] + 0.02)  # of outcome 0 alone
    assert 0 < beyond.lower <= Q[0]
    assert found.tail(3.0).lower == 0.0
    truth = bl.envelope(bl.pmf(PRIOR) * bl.Mechanism.from_matrix(RESPONSE))
    for delta in (0.05, 0.15, 0.5, 1.0):
        assert truth(delta).upper >= found.envelope(delta).lower
    assert found.envelope(1.0).lower > 0.3
    assert found.envelope(0.1).lower > PML.max() - 0.15
    assert "LDP >=" in repr(found) and found.ldp().witness["x"] in (0, 1, 2)


def test_the_bounds_by_hand():
    """Two inputs, told 50 and 0 times in 500: Clopper and Pearson's ends, the risk split in two."""
    from scipy.stats import beta

    from borel.audits.sampler_bounds import SamplerAudit

    seen = np.array([[50, 450, 0], [0, 500, 0]])
    found = SamplerAudit([0, 1], np.array([0.25, 0.75]), seen, seen, 0.9)
    low, high = beta.ppf(0.05, 50, 451), 1 - 0.05 ** (1 / 500)
    e = math.e
    expected = [
        (found.ldp(), math.log(low / high)),
        (found.pml(), math.log(low / (0.25 * low + 0.75 * high))),
        (found.tail(1.0), 0.25 * (low - e * 0.75 * high / (1 - 0.25 * e))),
    ]
    for bound, truth in expected:
        assert bound.lower == pytest.approx(truth, abs=1e-7) and bound.lower < truth
    parts = 0.1 / 4  # the event and the union of events, each under two inputs
    low, high = beta.ppf(parts, 50, 451), 1 - parts ** (1 / 500)
    assert 0.25 * low > 0.01
    told = math.log(low / (0.25 * low + 0.75 * high))
    assert found.envelope(0.01).lower == pytest.approx(told, abs=1e-7)


def misses(sampler, inputs, truths, runs, **given):
    """Of each bound, in how many runs it is above the truth."""
    rng = np.random.default_rng(99)
    above = dict.fromkeys(truths, 0)
    for _ in range(runs):
        found = bl.audit_samples(sampler, inputs, rng=rng, **given)
        for name, truth in truths.items():
            kind, *at = name
            above[name] += getattr(found, kind)(*at).lower > truth
    return above


def laplace(x, size, rng):
    return x + rng.laplace(size=size)


KNOWN = {
    "randomised response": (
        response,
        [0, 1, 2],
        {
            ("ldp",): E,
            ("pml",): PML.max(),
            ("tail", 0.3): Q[PML > 0.3].sum(),
            ("tail", float(PML[1])): Q[0],
            ("envelope", 1.0): None,
            ("envelope", 0.3): None,
        },
        PRIOR,
    ),
    "laplace": (
        laplace,
        [0.0, 1.0],
        {
            ("ldp",): 1.0,
            ("pml",): math.log(2 / (1 + math.exp(-1))),
            # the leakage is at least t beside the middle: log(2 / (1 + e^-|2 y - 1|)) > t
            ("tail", 0.2): None,
        },
        [0.5, 0.5],
    ),
}


def reveals(x, size, rng):
    """The secret 0 is given away one time in ten: the bound on the tail is attained."""
    return np.where((x == 0) & (rng.random(size) < 0.1), "told", "nothing")


KNOWN["reveals"] = reveals, [0, 1], {("pml",): math.log(4), ("tail", 1.0): 0.1 / 4}, [0.25, 0.75]


def known(name):
    sampler, inputs, truths, prior = KNOWN[name]
    truths = dict(truths)
    if name == "randomised response":
        envelope = bl.envelope(bl.pmf(PRIOR) * bl.Mechanism.from_matrix(RESPONSE))
        for delta in (1.0, 0.3):
            truths["envelope", delta] = envelope(delta).upper
    elif name == "laplace":
        # 2 / (1 + e^-d) > e^0.2, d = |2 y - 1|, d <= 1: y beyond 1/2 +- d / 2, by symmetry
        d = -math.log(2 / math.exp(0.2) - 1)
        y = (1 + d) / 2
        right = (math.exp(-y) + (math.exp(-(y - 1)) if y > 1 else 2 - math.exp(y - 1))) / 4
        truths["tail", 0.2] = 2 * right
    return sampler, inputs, truths, prior


@pytest.mark.parametrize("name", KNOWN)
def test_they_are_seldom_above_the_truth(name):
    sampler, inputs, truths, prior = known(name)
    above = misses(sampler, inputs, truths, 20, prior=prior, size=1000, confidence=0.9)
    assert max(above.values()) <= 7  # of 20 with chance 1/10 each: 4 in 10,000


@pytest.mark.slow
@pytest.mark.parametrize("confidence", [0.5, 0.9])
@pytest.mark.parametrize("name", KNOWN)
def test_they_cover_at_the_stated_rate_on_500_runs(name, confidence):
    from scipy.stats import binom

    sampler, inputs, truths, prior = known(name)
    above = misses(sampler, inputs, truths, 500, prior=prior, size=2000, confidence=confidence)
    assert max(above.values()) <= binom.ppf(1 - 1e-4, 500, 1 - confidence)


def test_events_are_tested_on_draws_that_did_not_choose_them():
    """A sampler of one law: chosen and tested on the same draws, it would seem to leak."""
    lower = [
        bl.audit_samples(
            lambda x, size, rng: rng.integers(200, size=size), [0, 1], size=400, rng=seed
        ).ldp().lower
        for seed in range(30)
    ]  # fmt: skip
    assert sum(v > 0 for v in lower) <= 6


def test_mechanisms_of_borel_and_statistics():
    unit = bl.Interval(0, 1)
    found = bl.audit_samples(
        bl.mechanisms.laplace(b=1.0, secret=unit), [0.0, 1.0], size=40_000, rng=4
    )
    assert 0.8 < found.ldp().lower <= 1.0

    def pairs(x, size, rng):
        return x + rng.laplace(size=(size, 2))

    with pytest.raises(InvalidInput, match="statistic"):
        bl.audit_samples(pairs, [0.0, 1.0], rng=1)
    one = bl.audit_samples(pairs, [0.0, 1.0], rng=1, statistic=lambda rows: rows.sum(axis=1))
    assert 0.5 < one.ldp().lower <= 2.0
    words = bl.audit_samples(
        lambda x, size, rng: rng.choice(["a", x], size=size), ["b", "c"], size=2000, rng=1
    )
    assert words.ldp().lower > 3


def test_bad_input():
    with pytest.raises(InvalidInput, match="two inputs"):
        bl.audit_samples(response, [0])
    with pytest.raises(InvalidInput, match="positive probability"):
        bl.audit_samples(response, [0, 1], prior=[0.5, 0.6])
    with pytest.raises(InvalidInput, match="return 20000 outcomes"):
        bl.audit_samples(lambda x, size, rng: rng.random(), [0, 1])
    with pytest.raises(InvalidInput, match="size"):
        bl.audit_samples(response, [0, 1], size=2)
    with pytest.raises(InvalidInput, match="one shape"):
        bl.audit_samples(lambda x, size, rng: np.zeros((size, x)), [2, 3])
    found = bl.audit_samples(response, [0, 1], size=100, rng=0)
    with pytest.raises(InvalidInput, match="delta"):
        found.envelope(0)
    with pytest.raises(InvalidInput, match="t >= 0"):
        found.tail(-1)
    assert found.tail(1000).lower == 0
    for size in (math.nan, math.inf, "many", None):
        with pytest.raises(InvalidInput, match="size"):
            bl.audit_samples(response, [0, 1], size=size)
    for wrong in ({"sample": 3}, {"inputs": 3}, {"statistic": 3}, {"prior": "ab"}):
        with pytest.raises(InvalidInput):
            bl.audit_samples(**{"sample": response, "inputs": [0, 1], **wrong})
    with pytest.raises(InvalidInput, match="order"):
        bl.audit_samples(lambda x, size, rng: [None, (1, 2)] * (size // 2), [0, 1], size=40)


def test_the_probabilities_of_a_measure_go_with_its_labels():
    def audit(inputs, prior):
        draw = lambda x, size, rng: rng.integers(2, size=size)  # noqa: E731
        return bl.audit_samples(draw, inputs, prior=prior, size=8, rng=0).prior.tolist()

    named = bl.pmf([0.9, 0.1], on=bl.Finite(["b", "a"]))
    assert audit(["a", "b"], named) == [0.1, 0.9]
    assert audit([[1, 2], [1, 3]], bl.pmf([0.9, 0.1])) == [0.9, 0.1]  # databases: in their order
    with pytest.raises(InvalidInput, match="labels of the prior"):
        audit(["a", "c"], named)
    with pytest.raises(InvalidInput, match="labels of the prior"):
        audit([0, 2], bl.pmf([0.9, 0.1]))


def test_pairs_as_secrets_and_outcomes_without_end():
    pairs = bl.Finite(2) * bl.Finite(2)
    told = bl.Mechanism.from_matrix(np.eye(4), secret=pairs)
    found = bl.audit_samples(told, [(0, 0), (1, 1)], size=400, rng=1)
    assert found.ldp().lower > 3

    def beyond(x, size, rng):
        """Half of the outcomes overflow, some are not a number; the rest tell the input."""
        u = rng.random(size)
        return np.where(u < 0.5, math.inf, np.where(u < 0.6, math.nan, x + u))

    found = bl.audit_samples(beyond, [0.0, 1.0], size=4000, rng=1)  # no warning
    assert found.ldp().lower > 2 and 0.3 < found.pml().lower <= math.log(2)


def test_the_ends_are_those_of_clopper_and_pearson_at_any_confidence():
    """No hits in n: the upper end is 1 - alpha^(1/n), and with all hits the lower alpha^(1/n)."""
    from borel.audits.sampler_bounds import SamplerAudit

    seen = np.array([[100, 0, 0], [0, 100, 0]])
    for confidence in (0.01, 0.5, 1 - 2**-30, 1 - 3 * 2**-53, 1 - 2**-53):
        alpha = (1 - confidence) / 2
        low, high = alpha**0.01, -math.expm1(math.log(alpha) / 100)
        found = SamplerAudit([0, 1], np.array([0.5, 0.5]), seen, seen, confidence).ldp().lower
        assert math.log(low / high) - 1e-8 < found < math.log(low / high)
