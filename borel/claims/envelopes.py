"""The numbers of "Information Leakage Envelopes": its examples, and Theorem 5 beside the envelope.

The theorems bound the envelope; the engine computes it. On the panels of Figure 2 the condition of
Theorem 5(iii) holds, and its lower bound is the envelope.
"""

from __future__ import annotations

from fractions import Fraction as F
from typing import TYPE_CHECKING, Any

import borel as bl
from borel.claims import Claim, agreement
from borel.figures.response_bounds import PAPER
from borel.numerics.intervals.rounding import log_fraction
from borel.probability.bound import Bound

if TYPE_CHECKING:
    from borel.probability.joint import Joint

HALF = F(1, 2)
DELTAS = (F(1, 10), HALF, F(9, 10))
"""Where Theorem 5 is compared with the envelope."""


def rows() -> list[Claim]:
    """Compute every row: Example 2 and what the paper says of it, Theorem 4, Figure 2."""
    return [*example_2(), *theorem_4(), *figure_2()]


def example_2_joint() -> Joint:
    """Return the uniform prior and the mechanism (7) of Example 2."""
    f, t = F(1, 5), F(2, 5)
    kernel = [[0, 0, HALF, HALF], [0, 0, HALF, HALF], [0, f, t, t], [f, 0, t, t]]
    return bl.pmf([F(1, 4)] * 4) * bl.Mechanism.from_matrix(kernel, outcome=[1, 2, 3, 4])


def panels() -> dict[str, Joint]:
    """Return the four panels of Figure 2: k-ary randomised response at epsilon = 1."""
    priors = {
        "a": bl.pmf([F(1, 3)] * 3),
        "b": bl.pmf([F(1, 10), F(1, 10), F(1, 5), F(3, 10), F(3, 10)]),
        "c": bl.envelope_bounds.four_level_prior(12, F(1, 10)),
        "d": bl.envelope_bounds.four_level_prior(20, F(1, 10)),
    }
    return {
        name: prior * bl.mechanisms.randomized_response(k=len(prior.on.labels), epsilon=1.0)
        for name, prior in priors.items()
    }


def example_2() -> list[Claim]:
    """Compute the numbers that the paper gives of Example 2, in Sections II to IV."""
    joint = example_2_joint()
    pml, env, at = bl.pml(joint), bl.envelope(joint), bl.envelope_bounds.quantiles(joint, F(1, 10))
    merged = joint.prior * joint.mechanism.push(lambda y: 1 if y in (1, 3) else 2, outcome=[1, 2])
    low = F(10, 9)
    return [
        _nats("Example 2", "PML at 1", F(4), pml(1)),
        _nats("Example 2", "PML at 3", low, pml(3)),
        _nats("Example 2", "PML at 1 after merging", F(6, 5), bl.pml(merged)(1)),
        _share("Theorem 1", "psi_1 at log 10/9", F(13, 180), bl.psi_1(joint, ratio=low)),
        _share(
            "Theorem 1", "psi_1 at log 10/9 after merging", F(2, 27), bl.psi_1(merged, ratio=low)
        ),
        _share("Section III", "psi_2 at log 10/9", F(13, 90), bl.psi_2(joint, ratio=low)),
        _share("Section III", "psi_2 at log 3", F(1, 20), bl.psi_2(joint, ratio=3)),
        _nats("Example 3", "left quantile at delta = 1/10", low, at.good),
        _nats("Example 3", "right quantile at delta = 1/10", F(4), at.bad),
        _nats("Theorem 2", "envelope at delta = 1/10", F(4), env(F(1, 10))),
    ]


def theorem_4() -> list[Claim]:
    """Compute the envelope of an extremal mechanism: epsilon at every delta."""
    prior = bl.pmf([F(1, 6), F(1, 3), HALF])
    mech = bl.mechanisms.pml_extremal(prior=prior, ratio=F(11, 10))
    env = bl.envelope(prior * mech)
    return [
        _nats("Theorem 4", f"envelope of the extremal mechanism at {d}", F(11, 10), env(d))
        for d in (F(1, 100), F(99, 100))
    ]


def ldp_ratio(joint: Joint, delta: Any) -> F:
    """Return e to the least epsilon of (epsilon, delta)-LDP of randomised response.

    Two rows differ at two outcomes, where they are swapped: alpha and beta, say. The worst event is
    the one of these that is likelier, so that delta = alpha - e^epsilon beta, down to epsilon = 0.
    """
    alpha, beta = (F(v) for v in joint.mechanism.matrix[0, :2])
    return max(F(1), (alpha - F(delta)) / beta)


def figure_2() -> list[Claim]:
    """Compare Theorem 5's lower bound with the envelope on the panels of Figure 2."""
    found = []
    for name, joint in panels().items():
        env = bl.envelope(joint)
        for delta in DELTAS:
            bounds = bl.envelope_bounds.randomized_response_bounds(joint, delta)
            assert bounds.lower is not None  # the condition holds on all four priors
            gap = bounds.upper.upper - env(delta).lower
            stated = "the envelope is log alpha / q_1"
            if bounds.part != "(i)":
                stated = "the envelope is at least h_delta(theta); here the two are one"
            found.append(
                _claim(
                    f"Theorem 5, Figure 2({name})",
                    f"envelope at delta = {delta}",
                    stated,
                    bounds.lower,
                    env(delta),
                    f"{stated}; the upper bound of (ii) is {gap:.2g} above" if gap > 1e-9 else "",
                )
            )
    return found


def _nats(number: str, quantity: str, ratio: F, engine: Bound) -> Claim:
    low, high = log_fraction(ratio)
    stated = Bound.exact(low, high, assumptions=(f"{PAPER}, {number}",))
    return _claim(number, quantity, f"it is log {ratio}", stated, engine)


def _share(number: str, quantity: str, value: F, engine: Bound) -> Claim:
    stated = Bound.exact(value, value, units="probability")  # type: ignore[arg-type]
    return _claim(number, quantity, f"it is {value}", stated, engine)


def _claim(
    number: str, quantity: str, statement: str, stated: Bound, engine: Bound, note: str = ""
) -> Claim:
    source = f"{PAPER}, {number}"
    agrees = agreement(stated, engine)
    return Claim(
        f"envelopes: {number}: {quantity}",
        source,
        statement,
        quantity,
        stated,
        engine,
        agrees,
        note or statement,
    )
