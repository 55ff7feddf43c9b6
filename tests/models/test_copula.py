"""Clayton copula: the log-density against mpmath and the mechanism, draws, recovery."""

import mpmath
import numpy as np
import pytest
from predictions import agrees, on_a_grid, prior_predictive, sampled
from scipy import stats

import borel as bl
from borel.models import clayton_logdensity, clayton_pairs, clayton_prior, pseudo_observations

X, Y = np.array([0.1, 0.5, 0.9]), np.array([0.2, 0.4, 0.7])


def conditional(y, x, theta):
    """P(Y <= y | x) = dC/dx, by hand."""
    power = np.exp(-theta * np.log(x)) + np.exp(-theta * np.log(y)) - 1
    return np.exp(-(theta + 1) * np.log(x) - (1 + 1 / theta) * np.log(power))


def simulated(n, theta, eta=0.0, seed=1):
    """Draw pairs by the Gamma frailty of the copula, another way than the model's."""
    rng = np.random.default_rng(seed)
    frailty = rng.gamma(1 / theta, size=n)
    pairs = (1 + rng.exponential(size=(2, n)) / frailty) ** (-1 / theta)
    alone = rng.random(n) < eta
    pairs[1, alone] = rng.random(alone.sum())
    return pairs


@pytest.mark.parametrize(
    ("x", "y", "kwargs", "message"),
    [
        ([0.5, 0.0], [0.5, 0.5], {}, r"x must lie inside \(0, 1\), got 0.0 at position 1; .*obs"),
        ([0.5], [1.0], {}, r"y must lie inside \(0, 1\), got 1.0"),
        ([0.5, 0.1], [0.5], {}, "one length, got 2 and 1"),
        ([np.nan], [0.5], {}, "x must be finite"),
        ([0.5], [0.5], {"theta_prior": (0, 1)}, "theta_prior must be two positive"),
        ([0.5], [0.5], {"eta_prior": (1,)}, "eta_prior must be two positive"),
    ],
)
def test_bad_input(x, y, kwargs, message):
    with pytest.raises(ValueError, match=message):
        clayton_pairs(x, y, **kwargs)


def test_bad_parameters():
    for kwargs in ({"theta": 0.0}, {"theta": 1.0, "eta": 1.0}, {"theta": np.nan}):
        with pytest.raises(ValueError, match="theta must be > 0"):
            clayton_logdensity(0.5, 0.5, **kwargs)


@pytest.mark.parametrize("theta", [1e-6, 0.01, 0.5, 1.0, 3.0, 40.0])
@pytest.mark.parametrize("eta", [0.0, 0.1])
def test_the_log_density_against_60_digits(theta, eta):
    with mpmath.workdps(60):
        t = mpmath.mpf(theta)
        for x in (1e-12, 0.03, 0.5, 0.999):
            for y in (1e-9, 0.2, 0.6, 1 - 1e-9):
                u, v = mpmath.mpf(x), mpmath.mpf(y)
                power = u**-t + v**-t - 1
                c = (1 + t) * (u * v) ** (-t - 1) * power ** (-2 - 1 / t)
                truth = mpmath.log(mpmath.mpf(eta) + (1 - mpmath.mpf(eta)) * c)
                found = float(clayton_logdensity(y, x, theta=theta, eta=eta))
                assert found == pytest.approx(float(truth), rel=1e-12, abs=1e-12)


def test_the_density_is_the_mixed_derivative_of_the_copula():
    with mpmath.workdps(40):
        for theta in (0.5, 2):

            def distribution(u, v, theta=theta):
                return (u**-theta + v**-theta - 1) ** (mpmath.mpf(-1) / theta)

            for x, y in ((0.25, 0.5), (0.75, 0.125)):
                truth = mpmath.diff(distribution, (x, y), (1, 1))
                found = clayton_logdensity(y, x, theta=theta)
                assert float(found) == pytest.approx(float(mpmath.log(truth)), abs=1e-12)


@pytest.mark.parametrize(("eta", "theta"), [(0.1, 1.0), (0.5, 0.25), (0.01, 7.0)])
def test_it_is_the_mechanism_of_the_library(eta, theta):
    mech = bl.mechanisms.clayton(eta=eta, theta=theta)
    y, x = np.meshgrid(np.linspace(0.01, 0.99, 9), np.linspace(0.003, 0.97, 9))
    np.testing.assert_allclose(
        clayton_logdensity(y, x, theta=theta, eta=eta), mech.density.logarithm(y, x), atol=1e-12
    )


@pytest.mark.parametrize("eta_prior", [None, (2.0, 5.0)])
def test_the_model_has_this_density(eta_prior):
    """Up to a constant: PyTensor keeps small constants in float32, those of the prior too."""
    model = clayton_pairs(X, Y, eta_prior=eta_prior)
    logp = model.compile_logp(mode="FAST_COMPILE")
    off = []
    for theta, eta in ((1.75, 0.125), (0.5, 0.75)):
        names = {"theta": np.log(theta)}
        truth = stats.gamma(2).logpdf(theta) + np.log(theta)
        if eta_prior:
            names["eta"] = np.log(eta / (1 - eta))
            truth += stats.beta(2, 5).logpdf(eta) + np.log(eta * (1 - eta))
        truth += clayton_logdensity(Y, X, theta=theta, eta=eta if eta_prior else 0.0).sum()
        point = {v.name: np.array(names[v.name.split("_")[0]]) for v in model.value_vars}
        off.append(float(logp(point)) - truth)
    assert off[0] == pytest.approx(off[1], abs=1e-12)
    assert off[0] == pytest.approx(0, abs=1e-6)


def test_the_gradient_is_finite_and_right_at_both_forms():
    x, y = np.array([1e-30, 1e-30, 0.999, 0.5]), np.array([1e-25, 0.999, 1e-30, 0.5])
    model = clayton_pairs(x, y)
    logp = model.compile_logp(mode="FAST_COMPILE")
    slope = model.compile_dlogp(mode="FAST_COMPILE")
    (name,) = (v.name for v in model.value_vars)
    for log_theta in (-3.0, 0.0, 2.0):
        h = 1e-5
        up, down = (float(logp({name: np.array(log_theta + s)})) for s in (h, -h))
        found = float(np.squeeze(slope({name: np.array(log_theta)})))
        assert found == pytest.approx((up - down) / (2 * h), rel=1e-5, abs=1e-5)


def test_the_prior_predictive():
    drawn = prior_predictive(clayton_pairs(X, Y, theta_prior=(3.0, 2.0)))
    theta = drawn["theta"]
    assert stats.kstest(theta, stats.gamma(3, scale=0.5).cdf).pvalue > 1e-4
    for i, x in enumerate(X):
        assert stats.kstest(conditional(drawn["y"][:, i], x, theta), "uniform").pvalue > 1e-4
    drawn = prior_predictive(clayton_pairs(X, Y, eta_prior=(3.0, 2.0)))
    mixed = drawn["eta"][:, None] * drawn["y"] + (1 - drawn["eta"][:, None]) * np.stack(
        [conditional(drawn["y"][:, i], x, drawn["theta"]) for i, x in enumerate(X)], axis=1
    )
    for i in range(3):
        assert stats.kstest(mixed[:, i], "uniform").pvalue > 1e-4


def test_draws_become_priors_and_mechanisms():
    theta = np.array([0.5, 2.0])
    prior = clayton_prior({"theta": theta})
    assert prior.on == bl.Interval(0, 1) ** 2 and prior.batch == (2,)
    point = (np.array([0.2, 0.6]), np.array([0.9, 0.3]))
    for i, row in enumerate(prior.density.logarithm(point)):
        np.testing.assert_allclose(row, clayton_logdensity(point[1], point[0], theta=theta[i]))
    mixed = clayton_prior({"theta": 2.0, "eta": 0.25})
    assert float(mixed.pdf((0.2, 0.9))) == pytest.approx(
        float(np.exp(clayton_logdensity(0.9, 0.2, theta=2.0, eta=0.25)))
    )


def test_pseudo_observations():
    np.testing.assert_allclose(pseudo_observations([3, 1, 3, 9]), [0.5, 0.2, 0.5, 0.8])
    with pytest.raises(ValueError, match="values must be finite"):
        pseudo_observations([1.0, np.nan])


@pytest.mark.slow
@pytest.mark.parametrize("theta", [0.4, 3.0])
def test_recovery_against_the_grid(theta):
    x, y = simulated(300, theta)
    posterior = sampled(clayton_pairs(x, y))["posterior"]

    def log_density(t):
        return stats.gamma(2).logpdf(t) + clayton_logdensity(y, x, theta=t[:, None]).sum(axis=1)

    (mean,), (deviation,) = on_a_grid(log_density, np.linspace(0.02, 6, 2000))
    agrees(posterior["theta"], mean, deviation)
    assert abs(mean - theta) < 4 * deviation


@pytest.mark.slow
def test_the_weight_of_independence_is_recovered():
    x, y = simulated(800, 4.0, eta=0.3, seed=2)
    posterior = sampled(clayton_pairs(x, y, eta_prior=(1, 1)))["posterior"]

    def log_density(t, e):
        density = sum(clayton_logdensity(b, a, theta=t, eta=e) for a, b in zip(x, y, strict=True))
        return stats.gamma(2).logpdf(t) + density

    means, deviations = on_a_grid(log_density, np.linspace(2, 8, 90), np.linspace(0.1, 0.55, 90))
    for name, truth, mean, deviation in zip(
        ("theta", "eta"), (4.0, 0.3), means, deviations, strict=True
    ):
        agrees(posterior[name], mean, deviation)
        assert abs(mean - truth) < 4 * deviation
