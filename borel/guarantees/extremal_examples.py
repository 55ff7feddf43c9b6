"""Mechanisms that attain a theorem, and counterexamples to converses, as data (Fractions)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction as F
from typing import TYPE_CHECKING, Any

from borel.guarantees.base import Guarantee
from borel.guarantees.informations import MaxInformation, MutualInformation
from borel.guarantees.kinds import EML, LDI, LDP, PMC, PML, AveragePML, TailLeakage
from borel.mechanisms.resampling import countable
from borel.probability.measure import pmf
from borel.probability.mechanism import Mechanism

if TYPE_CHECKING:
    from collections.abc import Sequence

    from borel.probability.joint import Joint

Rows = list[list[F]]


@dataclass(frozen=True)
class Example:
    """A finite prior and mechanism in Fractions.

    Attributes
    ----------
    prior : list of Fraction
        Probabilities of the secrets.
    rows : list of lists of Fraction
        ``rows[x][y]`` is P(y|x).
    """

    prior: list[F]
    rows: Rows

    def joint(self) -> Joint:
        """Return the joint."""
        return pmf(self.prior) * Mechanism.from_matrix(self.rows)


@dataclass(frozen=True)
class Counterexample:
    """A mechanism that satisfies one guarantee and not another.

    Attributes
    ----------
    claim : str
        The false claim, and where it is refuted.
    holds, fails : Guarantee
        What the joint satisfies, and what it does not.
    example : Example or callable
        The joint's data, or a function that makes the joint.
    """

    claim: str
    holds: Guarantee
    fails: Guarantee
    example: Any

    def joint(self) -> Joint:
        """Return the joint."""
        return self.example.joint() if isinstance(self.example, Example) else self.example()


def _argmin(prior: Sequence[F]) -> int:
    return min(range(len(prior)), key=lambda i: prior[i])


def _two_outcomes(prior: Sequence[F], special: F, others: F) -> Example:
    """Give the least likely secret one probability of outcome 0, and all others another."""
    least = _argmin(prior)
    first = [special if i == least else others for i in range(len(prior))]
    return Example(list(prior), [[k, 1 - k] for k in first])


def ldp_high(prior: Sequence[F], ratio: F) -> Example:
    """LDP log r where the least likely secret makes an outcome r times likelier than others do.

    Outcome 0 has probability 1/2 under it and 1/(2r) under the others; at outcome 1 the ratio is
    2 - 1/r <= r. PML at outcome 0 is log 1 / (p + (1 - p)/r).
    """
    return _two_outcomes(prior, F(1, 2), 1 / (2 * F(ratio)))


def ldp_low(prior: Sequence[F], ratio: F) -> Example:
    """LDP log r where the least likely secret makes an outcome r times less likely."""
    return _two_outcomes(prior, 1 / (2 * F(ratio)), F(1, 2))


def pmc_extreme(prior: Sequence[F], ratio: F) -> Example:
    """PMC log r, where all secrets but the least likely lose the factor r.

    Outcome 0 has weight w = p/2 (p the least probability) and the posterior P_X(x) / r at all
    other secrets, 1 - (1 - p)/r at that one; at outcome 1 costs are at most log r, as r >= 1.
    """
    least, r = _argmin(prior), F(ratio)
    p = prior[least]
    return _two_outcomes(prior, (1 - (1 - p) / r) / 2, p / (2 * r))


def pml_extremal(prior: Sequence[F], ratio: F) -> Example:
    """Return the PML-extremal mechanism of the high-privacy regime (PMC paper, Example 5).

    P(j|i) = r P_X(j) for i != j and 1 - r (1 - P_X(i)) for i = j; r (1 - p_min) < 1.
    """
    r = F(ratio)
    rows = [
        [1 - r * (1 - p) if i == j else r * prior[j] for j in range(len(prior))]
        for i, p in enumerate(prior)
    ]
    return Example(list(prior), rows)


def two_sided(_: Any, ratio: F) -> Example:
    """Return a bit and an outcome whose information densities are log r and -log r at once."""
    r = F(ratio)
    if r == 1:
        return Example([F(1, 2)] * 2, [[F(1)], [F(1)]])
    p = (1 - 1 / r) / (r - 1 / r)
    w = min((r - 1) / (r - 1 / r), p) / 2
    return Example([p, 1 - p], [[w * r, 1 - w * r], [w / r, 1 - w / r]])


def uniform_response(prior: Sequence[F], ratio: F) -> Example:
    """Randomised response under the uniform prior: every outcome leaks the same log r < log n."""
    n, r = len(prior), F(ratio)
    if n == 1:
        return Example([F(1)], [[F(1)]])
    own = r / n  # PML log r: own / (1/n) = r
    rows = [[own if i == j else (1 - own) / (n - 1) for j in range(n)] for i in range(n)]
    return Example([F(1, n)] * n, rows)


def response(prior: Sequence[F], ratio: F) -> Example:
    """Randomised response of LDP log r: maximal leakage log n r / (r + n - 1) for every prior."""
    n, r = len(prior), F(ratio)
    rows = [[(r if i == j else 1) / (r + n - 1) for j in range(n)] for i in range(n)]
    return Example(list(prior), rows)


def uniform_ldp(prior: Sequence[F], ratio: F) -> Example:
    """`ldp_high` under the uniform prior, where LDI and LDP are one."""
    return ldp_high([F(1, len(prior))] * len(prior), ratio)


def identity(prior: Sequence[F], _: Any = None) -> Example:
    """Y = X: the leakage at x is log 1 / P_X(x)."""
    n = len(prior)
    return Example(list(prior), [[F(int(i == j)) for j in range(n)] for i in range(n)])


def uniform_identity(_: Any, ratio: F) -> Example:
    """Y = X with n = r equally likely secrets, r a whole number."""
    return identity([F(1, int(ratio))] * int(ratio))


def erasure(n: int, delta: F) -> Example:
    """Y = X with probability delta, else an outcome that says nothing; X uniform."""
    rows = [[delta if i == j else F(0) for j in range(n)] + [1 - delta] for i in range(n)]
    return Example([F(1, n)] * n, rows)


# -- the worked examples of the papers --------------------------------------------------------


def example_5() -> tuple[Example, Rows]:
    """Return the mechanism and the post-processing of the PML paper's Example 5."""
    third, half = F(1, 3), F(1, 2)
    rows = [
        [F(0), F(0), half, half],
        [F(0), F(0), half, half],
        [F(0), third, third, third],
        [third, F(0), third, third],
    ]
    post = [[F(1), F(0)], [F(0), F(1)], [F(1), F(0)], [F(0), F(1)]]
    return Example([F(1, 4)] * 4, rows), post


def post_processed(example: Example, post: Rows) -> Example:
    """Release z from P(z|y) instead of y."""
    rows = [
        [sum((k * post[y][z] for y, k in enumerate(row)), F(0)) for z in range(len(post[0]))]
        for row in example.rows
    ]
    return Example(example.prior, rows)


def not_closed() -> Counterexample:
    """(epsilon, delta)-PML is not closed under post-processing: Example 5."""
    example, post = example_5()
    g = PML(ratio=F(6, 5), delta=F(1, 6))
    return Counterexample(
        "(epsilon, delta)-PML is closed under post-processing (PML paper, Example 5); "
        "what is shown is the post-processed mechanism, of which the original satisfies both",
        PML(ratio=F(4, 3)),
        g,
        post_processed(example, post),
    )


# -- converses that are false -----------------------------------------------------------------

_BIT = [F(1, 2), F(1, 2)]


def pml_without_pmc() -> Counterexample:
    """Y = X, a fair bit: log 2-PML, and an infinite cost."""
    return Counterexample(
        "epsilon-PML implies some finite PMC (false from log 1/(1 - p_min) on: Remark 5)",
        PML(ratio=2),
        PMC(100.0),
        identity(_BIT),
    )


def pml_without_ldp() -> Counterexample:
    """Y = X, a fair bit: log 2-PML, and no LDP."""
    return Counterexample("epsilon-PML implies some LDP", PML(ratio=2), LDP(100.0), identity(_BIT))


def pml_without_ldi() -> Counterexample:
    """Y = X, a fair bit: log 2-PML, and no LDI."""
    return Counterexample("epsilon-PML implies some LDI", PML(ratio=2), LDI(100.0), identity(_BIT))


def pmc_without_pml() -> Counterexample:
    """Bounded cost, unbounded leakage on countable alphabets: the PMC paper's Example 8."""

    def joint() -> Any:
        mechanism = countable()
        assert mechanism.reference_prior is not None
        return mechanism.reference_prior * mechanism

    return Counterexample(
        "bounded PMC implies bounded PML off finite alphabets (first preprint, Theorem 5; refuted "
        "by the journal's Examples 8 and 9)",
        PMC(0.7),
        PML(100.0),
        joint,
    )


def average_without_pml() -> Counterexample:
    """Reveal a secret by a rare outcome: the first channel of the PML paper's introduction."""
    half = F(1, 2)
    rows = [[F(1), F(0), F(0)], [half, half, F(0)], [F(0), half, half]]
    return Counterexample(
        "maximal leakage log 2 implies log 2-PML (PML paper, introduction)",
        AveragePML(ratio=2),
        PML(ratio=2),
        Example([F(1, 3)] * 3, rows),
    )


def information_without_pml() -> Counterexample:
    """Show a secret once in a hundred times: little mutual information, PML log 4."""
    return Counterexample(
        "mutual information of epsilon implies epsilon-PML",
        MutualInformation(0.0139),
        PML(1.0),
        erasure(4, F(1, 100)),
    )


def information_without_average() -> Counterexample:
    """Show a secret once in a hundred times: maximal leakage exceeds mutual information."""
    return Counterexample(
        "mutual information of epsilon implies maximal leakage of epsilon",
        MutualInformation(0.0139),
        AveragePML(0.0139),
        erasure(4, F(1, 100)),
    )


def pml_without_tail_leakage() -> Counterexample:
    """Show a secret once in ten times: forgiven by PML, and all of it on average over those."""
    return Counterexample(
        "(epsilon, delta)-PML implies (epsilon, delta)-tail leakage",
        PML(ratio=1, delta=F(1, 10)),
        TailLeakage(ratio=F(39, 10), delta=F(1, 10)),
        erasure(4, F(1, 10)),
    )


def average_without_tail_leakage() -> Counterexample:
    """Show a secret once in ten times: on average over all outcomes that is little."""
    return Counterexample(
        "maximal leakage epsilon implies tail leakage epsilon at every delta",
        AveragePML(ratio=F(13, 10)),
        TailLeakage(ratio=F(39, 10), delta=F(1, 10)),
        erasure(4, F(1, 10)),
    )


def eml_without_tail_leakage() -> Counterexample:
    """Y = X, uniform: an event is about one secret, each outcome about its own."""
    return Counterexample(
        "(epsilon, delta)-EML implies (epsilon, delta)-tail leakage",
        EML(ratio=2, delta=F(1, 2)),
        TailLeakage(ratio=2, delta=F(1, 2)),
        identity([F(1, 4)] * 4),
    )


def public_mixture() -> Counterexample:
    """Two mechanisms, one of which a public coin chooses: both have V = 3 at delta = 1/2.

    Randomised response has e^l = 3 at every outcome; the other one shows the secret, of eleven,
    once in ten times, e^l = 11. Of the mixture the worst half is all that is shown, and response.
    """
    shown, half = erasure(11, F(1, 10)), F(1, 2)
    other = uniform_response(shown.prior, F(3))
    rows = [[half * k for k in (*a, *b)] for a, b in zip(shown.rows, other.rows, strict=True)]
    return Counterexample(
        "a public mixture of mechanisms of (epsilon, delta)-tail leakage has it",
        TailLeakage(ratio=F(19, 5), delta=half),
        TailLeakage(ratio=3, delta=half),
        Example(shown.prior, rows),
    )


def eml_without_pml() -> Counterexample:
    """Return the binary symmetric channel after Remark 9 of the PML paper."""
    return Counterexample(
        "(epsilon, delta)-EML implies (epsilon, delta)-PML",
        EML(ratio=F(34, 30), delta=F(6, 10)),
        PML(ratio=F(34, 30), delta=F(6, 10)),
        Example(_BIT, [[F(6, 10), F(4, 10)], [F(4, 10), F(6, 10)]]),
    )


def pml_without_eml() -> Counterexample:
    """Examples 5 and 6 of the PML paper: EML at delta = 1/6 is log 12/5, not log 6/5."""
    return Counterexample(
        "(epsilon, delta)-PML implies (epsilon, delta)-EML",
        PML(ratio=F(6, 5), delta=F(1, 6)),
        EML(ratio=F(6, 5), delta=F(1, 6)),
        example_5()[0],
    )


def approximate_information_without_pml() -> Counterexample:
    """Return a binary symmetric channel: max-information forgives pairs (x, y), PML whole outcomes.

    Both outcomes leak log 4/3; the likely pairs have mass 2/3 under P_XY and 1/2 under the
    product, so that forgiving 2/9 leaves (2/3 - 2/9) / (1/2) = 8/9 < 1.
    """
    ninth = F(1, 9)
    rows = [[6 * ninth, 3 * ninth], [3 * ninth, 6 * ninth]]
    return Counterexample(
        "approximate max-information implies (epsilon, delta)-PML with the same delta",
        MaxInformation(ratio=1, delta=F(2, 9)),
        PML(ratio=1, delta=F(2, 9)),
        Example(_BIT, rows),
    )


def one_prior_without_all() -> Counterexample:
    """Randomised response under the uniform prior leaks less than its LDP level."""
    example = ldp_high(_BIT, F(3))
    return Counterexample(
        "epsilon-PML under one prior implies epsilon-LDP",
        PML(ratio=F(3, 2)),
        LDP(ratio=F(3, 2)),
        example,
    )
