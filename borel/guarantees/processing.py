"""Processing: which guarantees survive it, similar outcomes, and the reduced mechanism."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from borel.errors import InvalidInput
from borel.guarantees import extremal_examples as ex
from borel.guarantees.base import Guarantee
from borel.guarantees.calculus import closure, implied, theorems
from borel.guarantees.disclosure_prevention import DisclosurePrevention
from borel.guarantees.dp import ApproximateDP, ProbabilisticDP
from borel.guarantees.extremal_examples import Counterexample
from borel.guarantees.facts import Facts
from borel.guarantees.implied_guarantees import Implication, Implied
from borel.guarantees.informations import (
    FInformation,
    MaxInformation,
    MutualInformation,
    TotalVariation,
)
from borel.guarantees.kinds import (
    ALIP,
    EML,
    LDI,
    LDP,
    LIP,
    PMC,
    PML,
    AveragePML,
    TailLeakage,
)
from borel.guarantees.theorem import PMC_PAPER, PML_PAPER, Theorem
from borel.guarantees.universal import UniversalPMC, UniversalPML

WAYS = ("post", "pre")


@dataclass(frozen=True)
class Closedness:
    """Whether a kind of guarantee is closed under pre- or post-processing.

    Attributes
    ----------
    kind : type
        The kind of guarantee.
    way : {"post", "pre"}
        X - Y - Z with the guarantee of P_{Y|X} and the question about P_{Z|X} ("post"), or with
        that of P_{Z|Y} ("pre": functions of the secret).
    closed : bool
        Whether it is closed, with exceptions (delta > 0) too where ``with_delta`` says so.
    with_delta : bool
        Whether it is closed for delta > 0.
    source : str
        Paper and number, or the proof.
    counterexample : callable or None
        Where it is not closed.
    """

    kind: type[Guarantee]
    way: str
    closed: bool
    with_delta: bool
    source: str
    counterexample: Callable[[], Counterexample] | None = None

    def covers(self, guarantee: Guarantee) -> bool:
        """Return whether the guarantee itself survives."""
        return self.closed and (self.with_delta or not getattr(guarantee, "delta", 0))


def pmc_not_closed() -> Counterexample:
    """(epsilon, delta)-PMC is not closed under post-processing: two bad outcomes join good ones.

    Outcomes 0 and 1, of probability 1/6 each, cost log 2, the others nothing: (0, 1/3)-PMC.
    Joining 0 with 2 and 1 with 3 makes both outcomes cost log 6/5.
    """
    twelfth = Fraction(1, 12)
    rows = [[k * twelfth for k in row] for row in ([3, 1, 4, 4], [1, 3, 4, 4])]
    post = [[Fraction(1), Fraction(0)], [Fraction(0), Fraction(1)]] * 2
    return Counterexample(
        "(epsilon, delta)-PMC is closed under post-processing; shown is the post-processed "
        "mechanism, of which the original satisfies both",
        PMC(ratio=Fraction(6, 5)),
        PMC(0, delta=Fraction(1, 3)),
        ex.post_processed(ex.Example([Fraction(1, 2)] * 2, rows), post),
    )


def ldi_not_closed() -> Counterexample:
    """LDI is not closed under pre-processing: whether a uniform secret of three is the first.

    Of the secret itself an independent outcome is 0-LDI; of this bit it is log 2-LDI.
    """
    return Counterexample(
        "LDI is closed under pre-processing (functions of the secret)",
        LDI(ratio=2),
        LDI(0),
        ex.Example([Fraction(1, 3), Fraction(2, 3)], [[Fraction(1)], [Fraction(1)]]),
    )


def pdp_not_closed() -> Counterexample:
    """(epsilon, delta)-probabilistic DP is not closed under post-processing: Example 1 of Meiser.

    With epsilon = log 3, delta = 1/10: outcome 0 is bad, 1 is just good, merged they are bad.
    """
    rows = [[Fraction(k, 40) for k in row] for row in ([4 + 27, 9, 0], [9, 27, 4])]
    return Counterexample(
        "(epsilon, delta)-probabilistic DP is closed under post-processing; shown is the "
        "post-processed mechanism",
        ApproximateDP(ratio=3, delta=Fraction(1, 10)),
        ProbabilisticDP(ratio=3, delta=Fraction(1, 10)),
        ex.Example([Fraction(1, 2)] * 2, rows),
    )


def pdp_not_closed_before() -> Counterexample:
    """Nor is it under pre-processing: a bit that is 0 for two secrets with different bad outcomes.

    Rows (3, 2, 5)/10, (2, 3, 5)/10 and (1, 1, 8)/10 have (log 2, 3/10)-probabilistic DP; the mean
    of the first two exceeds twice the third at both outcomes, of probability 1/2.
    """
    rows = [[Fraction(k, 20) for k in row] for row in ([5, 5, 10], [2, 2, 16])]
    return Counterexample(
        "(epsilon, delta)-probabilistic DP is closed under pre-processing; shown is the law of a "
        "function of the secret",
        ProbabilisticDP(ratio=2, delta=Fraction(1, 2)),
        ProbabilisticDP(ratio=2, delta=Fraction(3, 10)),
        ex.Example([Fraction(2, 3), Fraction(1, 3)], rows),
    )


_DATA = "the data-processing inequality"
_ENVELOPES = "Information Leakage Envelopes"
_LEMMA = f"{PMC_PAPER}, Lemma 1"
_PROPOSITION = f"{PML_PAPER}, Proposition 1"

CLOSEDNESS = [
    Closedness(PML, "post", True, False, f"{_PROPOSITION}(2); Example 5", ex.not_closed),
    Closedness(PML, "pre", True, True, f"{_PROPOSITION}(1, 3)"),
    Closedness(PMC, "post", True, False, f"{_LEMMA}(vi)", pmc_not_closed),
    Closedness(PMC, "pre", True, True, f"{_LEMMA}(v), outcome by outcome"),
    Closedness(EML, "post", True, True, f"{PML_PAPER}, Proposition 3(2); Example 6"),
    Closedness(EML, "pre", True, True, f"{PML_PAPER}, Proposition 3(1)"),
    *(Closedness(AveragePML, way, True, True, f"{_PROPOSITION}(4)") for way in WAYS),
    Closedness(
        TailLeakage, "post", True, True, "e^l(z) <= E[e^l(Y) | Z = z]: docs/tail_leakage.md"
    ),
    Closedness(TailLeakage, "pre", True, True, "outcome by outcome: docs/tail_leakage.md"),
    *(Closedness(kind, way, True, True, "PML and PMC are") for kind in (LIP, ALIP) for way in WAYS),
    *(
        Closedness(kind, way, True, True, "f(z|x) is a mean of f(z|y), and of ratios")
        for kind in (LDP, UniversalPML, UniversalPMC)
        for way in WAYS
    ),
    *(
        Closedness(DisclosurePrevention, way, True, True, why)
        for way, why in (
            ("post", "z leaves every secret that some y leaves"),
            ("pre", "an attribute of a function of the secret is one of the secret"),
        )
    ),
    Closedness(ApproximateDP, "post", True, True, f"{_ENVELOPES}, after (1)"),
    Closedness(ApproximateDP, "pre", True, True, "P(E|u) is a mean of P(E|x)"),
    Closedness(ProbabilisticDP, "post", True, False, f"{_ENVELOPES}, Example 1", pdp_not_closed),
    Closedness(ProbabilisticDP, "pre", True, False, "counterexample", pdp_not_closed_before),
    Closedness(LDI, "post", True, True, "the posterior given z is a mean of posteriors given y"),
    Closedness(LDI, "pre", False, False, "counterexample", ldi_not_closed),
    *(
        Closedness(kind, way, True, True, _DATA)
        for kind in (MaxInformation, MutualInformation, TotalVariation, FInformation)
        for way in WAYS
    ),
]
"""Which kinds survive processing: each line is tested, a negative one by its counterexample."""


def closedness(kind: type[Guarantee], way: str = "post") -> Closedness:
    """Return whether a kind of guarantee is closed under processing, and why.

    Parameters
    ----------
    kind : type
        Such as ``bl.guarantees.PML``.
    way : {"post", "pre"}
        Post-processing of the outcome, or pre-processing: functions of the secret.

    Examples
    --------
    >>> import borel.guarantees as g
    >>> g.closedness(g.PML).with_delta, g.closedness(g.EML).with_delta
    (False, True)
    """
    for line in CLOSEDNESS:
        if line.kind is kind and line.way == way:
            return line
    raise InvalidInput(
        "closedness",
        expected='a kind of bl.guarantees, and "post" or "pre"',
        got=f"{kind!r}, {way!r}",
    )


def post_processed(*guarantees: Guarantee, sharpened: bool = True, **about: Any) -> Implied:
    """Derive what is left of guarantees of P_{Y|X} for P_{Z|X}, whatever is done to Y.

    What a guarantee implies is processed, not only the guarantee itself, so that of
    (epsilon, delta)-PML, which is not closed, its maximal leakage is left.

    Parameters
    ----------
    *guarantees : Guarantee
        Of P_{Y|X} under P_X.
    sharpened : bool
        As for `implied`.
    **about
        p_min, alphabet, prior, delta, as for `implied`.

    Returns
    -------
    Implied
        What P_{Z|X} satisfies under P_X for every post-processing P_{Z|Y}.

    References
    ----------
    "Pointwise Maximal Leakage", Propositions 1 and 3, Examples 5 and 6; "Information Density
    Bounds for Privacy", Lemma 1.

    Examples
    --------
    >>> import borel.guarantees as g
    >>> g.PML in g.post_processed(g.PML(0.5, delta=0.1))
    False
    >>> g.post_processed(g.PML(0.5)).best(g.PML)
    PML(epsilon=0.5, delta=0.0)
    """
    return _processed("post", guarantees, sharpened, about)


def pre_processed(*guarantees: Guarantee, sharpened: bool = True, **about: Any) -> Implied:
    """Derive what guarantees about a secret X say of a (randomised) function U of X.

    Parameters and result as for `post_processed`; what is derived is about U, under its own law,
    of which nothing is assumed.

    Examples
    --------
    >>> import borel.guarantees as g
    >>> g.pre_processed(g.PML(0.5, delta=0.1)).best(g.PML)
    PML(epsilon=0.5, delta=0.1)
    """
    return _processed("pre", guarantees, sharpened, about)


def _processed(
    way: str, guarantees: tuple[Guarantee, ...], sharpened: bool, about: dict[str, Any]
) -> Implied:
    before = implied(*guarantees, sharpened=sharpened, **about)
    kept = []
    for implication in before.implications:
        line = closedness(type(implication.guarantee), way)
        if line.covers(implication.guarantee):
            kept.append(Implication(implication.guarantee, _as_theorem(line), (implication,)))
    # the law of a function of the secret is not known; of post-processing, the prior is the same
    facts = before.facts if way == "post" else Facts(delta=before.facts.delta)
    found = closure((), facts, theorems(sharpened=sharpened), tuple(kept))
    found.premises = guarantees
    found.link = "post-processed" if way == "post" else "of a function of the secret,"
    return found


def _as_theorem(line: Closedness) -> Theorem:
    return Theorem(
        f"{line.way}-processing",
        line.source,
        (line.kind,),
        line.kind,
        lambda g, about: g,
        f"{line.kind.symbol} is closed under {line.way}-processing",
    )


# -- similar outcomes -----------------------------------------------------------------------------


def similar_outcomes(mechanism: Any) -> list[list[Any]]:
    """Group outcomes that say the same: their columns are multiples of each other.

    Parameters
    ----------
    mechanism : Mechanism or Joint
        Finite. Of a joint, columns are compared on the support of the prior.

    Returns
    -------
    list of lists of labels
        In the order of the outcomes; outcomes of probability 0 under all these secrets are left
        out.

    Raises
    ------
    InvalidInput
        Not a finite mechanism or joint.

    Notes
    -----
    Exact for Fractions. Floats are compared as the binary64 values they are: columns that are
    multiples up to rounding only stay apart.

    References
    ----------
    "Pointwise Maximal Leakage", Definition 8.

    Examples
    --------
    >>> import borel as bl
    >>> mech = bl.Mechanism.from_matrix([[0.5, 0.25, 0.25], [0.25, 0.5, 0.25]])
    >>> bl.guarantees.similar_outcomes(mech), bl.guarantees.similar_outcomes(mech & mech)[1]
    ([[0], [1], [2]], [(0, 1), (1, 0), (2, 2)])
    """
    kernel, rows = _finite(mechanism)
    groups: dict[tuple, list] = {}
    for label, column in zip(kernel.outcome.labels, zip(*rows, strict=True), strict=True):
        total = sum(column)
        if total:
            groups.setdefault(tuple(k / total for k in column), []).append(label)
    return list(groups.values())


def reduced(mechanism: Any) -> Any:
    """Return the reduced mechanism: similar outcomes merged, impossible ones removed.

    Every figure that depends on the information density stays the same: the outcome of the
    reduced mechanism is a sufficient statistic.

    Parameters
    ----------
    mechanism : Mechanism or Joint
        Finite; see `similar_outcomes`.

    Returns
    -------
    Mechanism
        Its outcomes bear the label of the first of each group.

    References
    ----------
    "Pointwise Maximal Leakage", Definition 9.

    Examples
    --------
    >>> import borel as bl
    >>> mech = bl.Mechanism.from_matrix([[0.5, 0.25, 0.25], [0.25, 0.375, 0.375]])
    >>> bl.guarantees.reduced(mech).matrix
    array([[0.5 , 0.5 ],
           [0.25, 0.75]])
    """
    kernel, _ = _finite(mechanism)
    groups = similar_outcomes(mechanism)
    first = {label: group[0] for group in groups for label in group}
    # what is impossible under the support goes anywhere: it adds nothing there
    return kernel.push(lambda y: first.get(y, groups[0][0]), outcome=[g[0] for g in groups])


def _finite(mechanism: Any) -> tuple[Any, list[list[Fraction]]]:
    """Return the kernel and its rows on the support, as Fractions."""
    from borel.probability.joint import Joint
    from borel.probability.mechanism import Mechanism

    if isinstance(mechanism, Joint) and mechanism.finite:
        kernel = mechanism.mechanism
        rows = [i for i, p in enumerate(mechanism.probabilities) if p != 0]
    elif isinstance(mechanism, Mechanism) and mechanism.finite:
        kernel, rows = mechanism, list(range(len(mechanism.matrix)))
    else:
        raise InvalidInput(
            "similar_outcomes", expected="a finite mechanism or joint", got=repr(mechanism)
        )
    return kernel, [[Fraction(v) for v in kernel.matrix[i]] for i in rows]
