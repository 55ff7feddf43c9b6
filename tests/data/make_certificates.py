"""Make ``tests/data/certificates``: a certificate of each kind that a checker knows, as JSON.

The engine makes them once; `engine/test_check_kept.py` verifies them, without the engine. Make them
anew, all or some, only when a new kind is there or the form of one has changed::

    python tests/data/make_certificates.py [NAME...]

Older ones are to be verified for ever: add one beside it when a form changes.
"""

import json
import sys
from fractions import Fraction as F
from pathlib import Path

import numpy as np
from scipy.special import gammaln

import borel as bl

FOLDER = Path(__file__).parent / "certificates"
UNIT, REALS, HALF_LINE = bl.Interval(0, 1), bl.Reals(), bl.Interval(0, None)
SQUARE = UNIT * UNIT
BIT, THREE = bl.Finite([0.0, 1.0]), bl.Finite([0.0, 1.0, 3.0])
FAIR = bl.pmf([0.5, 0.5], on=BIT)
P, Q = bl.pmf([F(1, 5), F(3, 10), F(1, 2)], on=THREE), bl.pmf([F(1, 2), F(1, 4), F(1, 4)], on=THREE)


# -- kernels --------------------------------------------------------------------------------------


def tilt(y, x):
    return 1 + 0.5 * (2 * x - 1) * (1 - 2 * y)


def laplace(y, x):
    return np.exp(-abs(y - x)) / 2


def gauss(y, x):
    return np.exp(-((y - x) ** 2) / 2) / np.sqrt(2 * np.pi)


def answer(y, x):
    return np.where(y > 0, 0.25 + 0.5 * x, 0.75 - 0.5 * x)


def logistic(y, x):
    return np.where(y == 1, 1 / (1 + np.exp(-x)), 1 / (1 + np.exp(x)))


def late(y, x):
    return np.where(y >= x, np.exp(-(y - x)), 0)


def half(y, x):
    return np.where(x < 0.5, np.where(y < 0.5, 2.0, 0.0), 1.0)


def singular(y, x):
    gap = np.where(y == x, 1.0, np.abs(y - x))
    return 1 / np.sqrt(gap) / (2 * (np.sqrt(x) + np.sqrt(1 - x)))


def waiting(y, x):
    return np.exp(-y / x) / x


def poisson(y, x):
    return y * np.log(x) - x - gammaln(y + 1)


def settles(y, x):
    return 1 + (2 * y - 1) / (x + 2)


def first(y, n):
    return np.where(n < 2, np.where(y < 0.5, 2.0, 0.0), 1.0)


def of_product(y, x):
    return 1 + (x[0] * x[1] - 0.5) * (2 * y - 1)


def toss_in_square(y, x):
    return np.where(y == 1, (1 + x[0] * x[1]) / 4, (3 - x[0] * x[1]) / 4)


def response(y, x):
    return np.exp(-abs(y - x)) / (np.exp(-x) + np.exp(-abs(1 - x)) + np.exp(-abs(3 - x)))


def noise_on(number):
    """Return Laplace noise on a number of two secrets."""
    return lambda y, x: np.exp(-abs(y - number(x))) / 2


def joint(prior, density, outcome=REALS, **more):
    """Return a prior and a kernel of it."""
    return prior * bl.Mechanism(density, secret=prior.on, outcome=outcome, **more)


# -- joints ---------------------------------------------------------------------------------------

TILT = joint(bl.uniform(UNIT), tilt, UNIT)
COIN = joint(bl.uniform(UNIT), answer, bl.Finite([0, 1]))
TWO = joint(FAIR, laplace)
APART = joint(FAIR, gauss)
NORMAL = joint(bl.normal(mu=0, sigma=1), gauss)
COUNTED = joint(bl.geometric(p=0.5), settles, UNIT)
NOISY = joint(bl.poisson(mu=2.0), laplace)
RATES = bl.pmf([0.25, 0.5, 0.25], on=bl.Finite([1.0, 2.0, 4.0]))
TOLD = joint(RATES, poisson, bl.Integers(0), log=True)
PRODUCT = joint(bl.uniform(SQUARE), of_product, UNIT)
ATOMIC = joint(
    FAIR,
    lambda y, x: 0.875 - 0.5 * x + 0 * y,
    bl.Mixed(UNIT, atoms=[0.25]),
    masses={0.25: lambda x: 0.125 + 0.5 * x},
)
TABLE = bl.pmf([0.125, 0.375, 0.5]) * bl.Mechanism.from_matrix(
    np.array([[2, 2, 4, 8], [8, 4, 2, 2], [4, 8, 4, 0]]) / 16
)
LAPLACE = bl.Mechanism(laplace, secret=THREE, outcome=REALS)
GAUSS = bl.Mechanism(gauss, secret=THREE, outcome=REALS)
ON_UNIT = bl.Mechanism(tilt, secret=UNIT, outcome=UNIT)
ON_SUM = joint(bl.uniform(SQUARE), noise_on(lambda x: x[0] + x[1]))
NOISY_PRODUCT = joint(bl.uniform(SQUARE), lambda y, x: gauss(y, x[0] * x[1]))
DEPENDENT = joint(
    bl.Measure(lambda x: 0.5 + 2 * x[0] * x[1], on=SQUARE), toss_in_square, bl.Finite([0, 1])
)
WIDTHS = joint(bl.pmf([0.25, 0.75], on=bl.Finite([1.0, 2.0])), waiting, HALF_LINE)
CLAYTON = bl.uniform(UNIT) * bl.mechanisms.clayton(eta=0.1, theta=1.0)
ROWS = bl.Mechanism.from_matrix(np.array([[4, 2, 2], [2, 4, 2], [1, 2, 5]]) / 8, secret=THREE)


def sets():
    """Return sets of priors on three secrets."""
    box = [F(1, 10), F(1, 5), F(3, 10)], [F(2, 5), F(1, 2), F(3, 5)]
    below = bl.priors.moment(lambda x: x, upper=1.75, on=THREE)
    return {
        "tv": bl.priors.tv_ball(P, F(1, 10)),
        "contamination": bl.priors.contamination(P, F(1, 10)),
        "band": bl.priors.box(*box, on=THREE),
        "hull": bl.priors.hull([P, Q]),
        "linear": bl.priors.moment(lambda x: x, lower=1.0, upper=1.5, on=THREE),
        "both": bl.priors.tv_ball(P, F(1, 10)) & below,
        "full": bl.priors.full_support(THREE),
        "kl-to": bl.priors.kl_ball(P, 0.125, direction="to_centre"),
        "kl-from": bl.priors.kl_ball(P, 0.125, direction="from_centre"),
        "chi-to": bl.priors.chi_square_ball(P, 0.125, direction="to_centre"),
        "chi-from": bl.priors.chi_square_ball(P, 0.125, direction="from_centre"),
    }


# -- figures --------------------------------------------------------------------------------------

FIGURES = {
    "point-pml": lambda: bl.pml(TILT)(0.25),
    "point-pmc": lambda: bl.pmc(TILT)(0.25),
    "point-atom": lambda: bl.pml(ATOMIC)(0.25),
    "point-logs": lambda: bl.pml(joint(bl.gamma(alpha=1.0), logistic, bl.Finite([0, 1])))(1.0),
    "parts": lambda: bl.pml(COIN).sup(),
    "terms": lambda: bl.ldp(COIN),
    "sides": lambda: bl.lip(TILT),
    "pair": lambda: bl.information_density(TWO)(0.0, 0.75),
    "pair-box": lambda: bl.information_density(PRODUCT)((0.25, 0.5), 0.75),
    "outcomes-pml": lambda: bl.pml(TILT).sup(),
    "outcomes-ldp": lambda: bl.ldp(TILT),
    "outcomes-line": lambda: bl.pml(joint(bl.uniform(UNIT), laplace)).sup(),
    "outcomes-atom": lambda: bl.pml(ATOMIC).sup(),
    "law-tail": lambda: bl.pml(TILT).tail(0.25),
    "law-cdf": lambda: bl.pmc(TILT).cdf(0.25),
    "law-quantile": lambda: bl.pml(TILT).quantile(F(1, 2)),
    "law-finite": lambda: bl.pml(TWO).quantile(F(1, 4)),
    "mean-pml": lambda: bl.pml(TILT).mean(),
    "mean-exp-pmc": lambda: bl.pmc(TILT).exp_mean(),
    "mean-line": lambda: bl.maximal_leakage(TWO),
    "mean-cost": lambda: bl.maximal_cost_leakage(TILT),
    "infinite-quantile": lambda: bl.pmc(joint(bl.uniform(UNIT), half, UNIT)).quantile(0.9),
    "infinite-pml": lambda: bl.pml(NORMAL).sup(),
    "infinite-pmc": lambda: bl.pmc(NORMAL)(0.5),
    "infinite-copula": lambda: bl.pml(CLAYTON).sup(),
    "pole": lambda: bl.pml(joint(bl.uniform(UNIT), singular, UNIT)).sup(),
    "fading": lambda: bl.pml(joint(bl.uniform(UNIT), late)).sup(),
    "slope": lambda: bl.pmc(APART).sup(),
    "square": lambda: bl.pmc(WIDTHS).exp_mean(),
    "information-kl": lambda: bl.mutual_information(TWO),
    "information-chi-square": lambda: bl.f_information(TWO, "chi_square"),
    "information-tv": lambda: bl.total_variation(TWO),
    "information-hellinger": lambda: bl.f_information(TWO, "squared_hellinger"),
    "box-point": lambda: bl.pml(PRODUCT)(0.75),
    "several-sup": lambda: bl.pml(PRODUCT).sup(),
    "several-tail": lambda: bl.pml(PRODUCT).tail(0.25),
    "several-mean": lambda: bl.maximal_leakage(PRODUCT),
    "several-infinite": lambda: bl.pmc(NOISY_PRODUCT).sup(),
    "several-slope": lambda: bl.pml(NOISY_PRODUCT).sup(),
    "sum": lambda: bl.pml(ON_SUM)(0.0),
    "sum-weighted": lambda: bl.pml(
        joint(bl.uniform(SQUARE), noise_on(lambda x: 0.5 * x[0] - x[1] + 1))
    )(0.0),
    "sum-normal": lambda: bl.pml(
        joint(bl.normal() * bl.normal(), lambda y, x: gauss(y, x[0] + x[1]))
    )(1.0),
    "sum-max": lambda: bl.pml(
        joint(bl.uniform(SQUARE), noise_on(lambda x: np.maximum(x[0], x[1])))
    )(0.0),
    "sum-min": lambda: bl.pml(
        joint(bl.uniform(SQUARE), noise_on(lambda x: np.minimum(x[0], x[1])))
    )(0.0),
    "sum-distance": lambda: bl.pml(joint(bl.uniform(SQUARE), noise_on(lambda x: abs(x[0] - x[1]))))(
        0.0
    ),
    "sum-product": lambda: bl.pml(joint(bl.uniform(SQUARE), noise_on(lambda x: x[0] * x[1])))(0.0),
    "pair-sum": lambda: bl.information_density(ON_SUM)((0.25, 0.5), 0.0),
    "discrete-tail": lambda: bl.pml(COIN).tail(0.25),
    "discrete-quantile": lambda: bl.pmc(COIN).quantile(F(1, 2)),
    "discrete-mean": lambda: bl.pml(COIN).mean(),
    "discrete-leakage": lambda: bl.maximal_leakage(COIN),
    "discrete-cost": lambda: bl.maximal_cost_leakage(COIN),
    "discrete-exp-mean": lambda: bl.pmc(COIN).exp_mean(),
    "discrete-counts": lambda: bl.pml(TOLD).exp_mean(),
    "discrete-counts-mean": lambda: bl.pmc(TOLD).mean(),
    "discrete-box": lambda: bl.pml(DEPENDENT).mean(),
    "discrete-of-counts": lambda: bl.pml(
        joint(bl.poisson(mu=1.0), lambda y, x: np.exp(-abs(y - x)) * np.tanh(0.5), bl.Integers())
    ).mean(),
    "count-point-pml": lambda: bl.pml(COUNTED)(0.75),
    "count-point-pmc": lambda: bl.pmc(COUNTED)(0.75),
    "count-infinite-pml": lambda: bl.pml(NOISY).sup(),
    "count-infinite-pmc": lambda: bl.pmc(NOISY)(3.25),
    "counts-sup": lambda: bl.pml(COUNTED).sup(),
    "counts-tail": lambda: bl.pml(COUNTED).tail(0.125),
    "counts-mean": lambda: bl.pml(COUNTED).mean(),
    "counts-infinite-quantile": lambda: bl.pmc(joint(bl.geometric(p=0.25), first, UNIT)).quantile(
        0.9
    ),
    "envelope-level": lambda: bl.envelope(TWO)(0.25),
    "envelope-mass": lambda: bl.envelope(TWO, of="pmc").delta(0.5),
    "excess-psi-1": lambda: bl.psi_1(TWO, 0.25),
    "excess-psi-2": lambda: bl.psi_2(TWO, 0.25),
    "excess-event": lambda: bl.binary_envelope(TWO)(F(1, 4)),
    "excess-halves": lambda: bl.binary_envelope(TWO)(F(3, 4)),
    "finite-envelope-level": lambda: bl.envelope(TABLE)(F(1, 3)),
    "finite-envelope-mass": lambda: bl.envelope(TABLE, of="pmc").delta(0.25),
    "envelope-of-outcomes": lambda: bl.envelope(TILT)(F(1, 2)),
    "envelope-of-outcomes-mass": lambda: bl.envelope(TILT).delta(0.75),
    **{f"set-{name}": lambda name=name: bl.pml(sets()[name] * LAPLACE)(0.5) for name in sets()},
    "set-pmc": lambda: bl.pmc(sets()["tv"] * LAPLACE)(0.5),
    "set-ldp": lambda: bl.ldp(sets()["tv"] * LAPLACE),
    "set-sup": lambda: bl.pml(sets()["contamination"] * LAPLACE).sup(),
    "set-information": lambda: bl.mutual_information(sets()["band"] * ROWS),
    "set-leakage": lambda: bl.maximal_leakage(sets()["kl-to"] * ROWS),
    **{
        f"expectation-{name}": lambda name=name: sets()[name].lower([0.5, -1.25, 2.5])
        for name in ("kl-to", "kl-from", "chi-to", "chi-from", "linear")
    },
    "over-member": lambda: bl.pmc(sets()["tv"] * GAUSS).sup(),
    "over-full-support": lambda: bl.pml(bl.priors.full_support(UNIT) * ON_UNIT).sup(),
    "over-full-support-point": lambda: bl.pml(bl.priors.full_support(UNIT) * ON_UNIT)(0.25),
    "over-hull": lambda: bl.pml(
        bl.priors.hull([bl.uniform(UNIT), bl.beta(alpha=2, beta=1)]) * ON_UNIT
    ).sup(),
    "over-union": lambda: bl.pml((sets()["tv"] | sets()["contamination"]) * LAPLACE)(0.5),
    "over-contamination": lambda: bl.pml(
        bl.priors.contamination(bl.uniform(UNIT), F(1, 10)) * ON_UNIT
    ).sup(),
    "over-contamination-point": lambda: bl.pml(
        bl.priors.contamination(bl.uniform(UNIT), F(1, 10)) * ON_UNIT
    )(0.25),
    "over-tv": lambda: bl.pmc(bl.priors.tv_ball(bl.uniform(UNIT), F(1, 10)) * ON_UNIT).sup(),
}
"""Figures by the name of their file; the joints are those whose checks are quick."""


TOLERANCES = {"counts-mean": 0.3, "terms": 1e-8}
"""Other ones than 1e-6: sharp means take long to check."""


def main(names):
    """Write the certificates of figures."""
    FOLDER.mkdir(exist_ok=True)
    for name in names or FIGURES:
        with bl.options(closed_forms=False, tol=TOLERANCES.get(name, 1e-6), budget=20):
            made = FIGURES[name]().certify().certificate
        if made is None:
            raise SystemExit(f"{name}: the engine made no certificate")
        text = json.dumps(made, separators=(",", ":"))
        (FOLDER / f"{name}.json").write_text(text + "\n", encoding="utf-8")
        print(f"{name}: {len(text)} characters")


if __name__ == "__main__":
    main(sys.argv[1:])
