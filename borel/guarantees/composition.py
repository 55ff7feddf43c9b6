r"""Composition: what two releases about one secret guarantee together (Theorem 4 and its kin).

Y comes from a first mechanism and Z from a second one, P_{Z|X,Y}, which may look at y. All
statements rest on

.. math:: i(x; y, z) = i(x; y) + i(x; z | y),

where i(x; z | y) is the information density of the second mechanism *under the prior*
:math:`P_{X|Y=y}`. The second guarantee must therefore hold under the posterior of every y. One
that holds under P_X does not do: `prior_is_not_posterior` shows two releases, independent given
X, each log 20/9-PML under P_X, that leak log 10 together. LDP, which depends on the prior
through its null sets only, is the guarantee that passes from P_X to all posteriors.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, product
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from borel.engine import engine_for
from borel.errors import InvalidInput
from borel.guarantees.base import (
    Guarantee,
    TailGuarantee,
    checked_delta,
    nats_around,
    probability_up,
)
from borel.guarantees.calculus import closure, theorems
from borel.guarantees.extremal_examples import Counterexample, Example
from borel.guarantees.facts import Facts, facts_of
from borel.guarantees.implied_guarantees import Implication, Implied
from borel.guarantees.informations import MutualInformation
from borel.guarantees.kinds import (
    ALIP,
    EML,
    LDP,
    LIP,
    PMC,
    PML,
    AveragePML,
    TailLeakage,
)
from borel.guarantees.maximisers import ratio_ends
from borel.guarantees.rounded_levels import Level, log_of, times
from borel.guarantees.theorem import PMC_PAPER, PML_PAPER, Theorem, needs
from borel.priors.random_verdict import RandomVerdict
from borel.probability.bound import Bound, Verdict

if TYPE_CHECKING:
    from borel.probability.joint import Joint

UNDER = ("posterior", "prior")


@dataclass(frozen=True, eq=False, repr=False)
class SlicedEML(TailGuarantee):
    r"""What Theorem 4(4) gives: EML for events whose slices are not too unlikely.

    Every event E of (Y, Z) with P(E) >= delta, and P_{Z|Y=y}(E_Z(y)) >= ``slice_delta`` for every
    y that occurs in E, leaks at most epsilon.

    Parameters
    ----------
    epsilon : float or Fraction
        Nats, >= 0; or ``ratio``.
    delta, slice_delta : float or Fraction
        Probabilities, in [0, 1].

    Notes
    -----
    ``joint.satisfies`` proves it where (epsilon, delta)-EML holds. Else it is decided for a
    finite joint of Fractions whose outcomes are pairs (y, z): of each slice the events that are
    likely enough, by their probability and their gain :math:`K_x(E) - e^\varepsilon P(E)`, are
    added up, keeping those that no other one beats in both. With floats, or more than 12 values
    of Z, it is undecided.

    References
    ----------
    "Pointwise Maximal Leakage", Theorem 4(4).
    """

    slice_delta: Any = 0.0
    symbol: ClassVar[str] = "sliced EML"
    _closed: ClassVar[bool] = True

    def __post_init__(self, ratio: Any) -> None:
        super().__post_init__(ratio)
        delta = checked_delta("SlicedEML", self.slice_delta, closed=True)
        object.__setattr__(self, "slice_delta", delta)

    @property
    def parameters(self) -> tuple[Any, ...]:
        """The level and both probabilities."""
        return (*super().parameters, self.slice_delta)

    def implies_same_kind(self, other: Guarantee) -> bool:
        """Return whether this is at least as strong as another of its kind."""
        weaker = isinstance(other, SlicedEML) and self.slice_delta <= other.slice_delta
        return weaker and super().implies_same_kind(other)

    def holds_for(self, joint: Joint) -> Verdict:
        """Return True where (epsilon, delta)-EML holds, or what the events with likely slices say.

        Those of Fractions are looked at one by one; else it is undecided.
        """
        answer = EML.at(self.levels[0], delta=self.delta).holds_for(joint)
        if isinstance(answer, RandomVerdict):
            return answer.implied()
        if answer.holds is True:
            return answer
        one = joint.prior.over == "one prior" and getattr(joint, "rational", False)
        if one and len(joint.outcome.factors) == 2:
            found = self._by_slices(joint)
            if found is not None:
                return found
        if answer.holds is None:
            return answer
        why = "(epsilon, delta)-EML fails; whether an event with likely slices refutes is not known"
        return Verdict(None, Bound.undecided(reason=why), answer.witness, why)

    def _by_slices(self, joint: Joint) -> Verdict | None:
        """Decide it by all events of a finite joint of Fractions; None if they are too many."""
        engine: Any = engine_for(joint)
        low, high = ratio_ends(self.levels[0])
        labels = [joint.outcome.labels[j] for j in engine._live]
        slices: dict[Any, list[int]] = {}
        for j, label in enumerate(labels):
            slices.setdefault(label[0], []).append(j)
        if max(map(len, slices.values())) > _MOST_OF_A_SLICE:
            return None
        law, holds = engine._marginal_ends[0], True
        for row in engine._kernel_ends[0]:
            for factor, fails in ((high, True), (low, False)):
                if factor == math.inf:
                    continue
                gains = [k - factor * q for k, q in zip(row, law, strict=True)]
                event = self._event(slices.values(), gains, law)
                if event is None:
                    return None
                if event and fails:
                    columns = np.array([engine._live[j] for j in event])
                    bound = engine.event_leakage(columns)
                    return Verdict(False, bound, {"event": [labels[j] for j in event]})
                holds = holds and not event
        if not holds:
            return None
        return Verdict(True, Bound.certified(0.0, nats_around(self.levels[0])[1]))

    def _event(self, slices: Any, gains: list, law: list) -> list[int] | None:
        """Return an event with likely slices and a positive gain; [] if there is none."""
        front: list[tuple[Any, Any, tuple[int, ...]]] = [(Fraction(0), Fraction(0), ())]
        least = Fraction(self.slice_delta)
        for slice_ in slices:
            whole = sum((law[j] for j in slice_), Fraction(0))
            options: list[tuple[Any, Any, tuple[int, ...]]] = [(Fraction(0), Fraction(0), ())]
            for size in range(1, len(slice_) + 1):
                for chosen in combinations(slice_, size):
                    mass = sum((law[j] for j in chosen), Fraction(0))
                    if mass >= least * whole:
                        gain = sum((gains[j] for j in chosen), Fraction(0))
                        options.append((mass, gain, chosen))
            best = _unbeaten(options)
            if len(front) * len(best) > _MOST_EVENTS:
                return None
            front = _unbeaten([(a + c, b + d, e + f) for a, b, e in front for c, d, f in best])
        return next(
            (
                list(event)
                for mass, gain, event in front
                if gain > 0 and mass >= Fraction(self.delta)
            ),
            [],
        )


_MOST_OF_A_SLICE, _MOST_EVENTS = 12, 200_000


def _unbeaten(options: list[tuple[Any, Any, tuple[int, ...]]]) -> list[tuple[Any, Any, tuple]]:
    """Keep the events that no other one beats in probability and in gain."""
    kept: list[tuple[Any, Any, tuple]] = []
    for option in sorted(options, key=lambda o: (-o[0], -o[1])):
        if not kept or option[1] > kept[-1][1]:
            kept.append(option)
    return kept


# -- the statements -----------------------------------------------------------------------------


def _deltas(a: Any, b: Any) -> tuple[Fraction, Fraction]:
    return Fraction(a.delta), Fraction(b.delta)


def _tails(kind: Any, *, jointly: bool) -> Any:
    """Add levels; deltas as probabilities of a union, independent where each y has its own."""

    def add(a: Any, b: Any, about: Facts) -> Any:
        d, e = _deltas(a, b)
        delta = d + e - (0 if jointly else d * e)
        if delta >= 1:
            return None
        return kind.at(a.levels[0] + b.levels[0], delta=probability_up(delta))

    return add


def _exact(first: bool, mapped: Any) -> Any:
    """Keep statement 1 (no exceptions) and statement 2 (some) apart, as citations."""
    return lambda a, b, about: mapped(a, b, about) if (a.delta == b.delta == 0) is first else None


def _sum(kind: Any) -> Any:
    return lambda a, b, about: kind.at(*(m + n for m, n in zip(a.levels, b.levels, strict=True)))


def _event_then_all(a: EML, b: PML, about: Facts) -> EML | None:
    return None if b.delta else EML.at(a.levels[0] + b.levels[0], delta=a.delta)


def _sliced(a: EML, b: EML, about: Facts) -> SlicedEML:
    return SlicedEML.at(a.levels[0] + b.levels[0], delta=a.delta, slice_delta=b.delta)


def _events(a: EML, b: EML, about: Facts, *, sharp: bool) -> EML | None:
    """Statement 5; sharpened, the good part of the event counts by its share only."""
    d, e = _deltas(a, b)
    if d + e == 0:
        return EML.at(a.levels[0] + b.levels[0])
    if d + e >= 1:
        return EML.at(Level(0), delta=1)
    assert about.p_min is not None
    rare, usual = 1 / about.p_min, times(a.levels[0].up, b.levels[0].up)
    bad = e / (d + e)
    ratio = bad * rare + (1 - bad) * min(usual, rare) if sharp else bad * rare + usual
    return EML.at(log_of(ratio), delta=probability_up(d + e))


def _tail_leakages(a: TailLeakage, b: TailLeakage, about: Facts) -> TailLeakage | None:
    """Multiply means over the worst outcomes, the second by what its own average may hide."""
    d, e = _deltas(a, b)
    if e == 0:
        return TailLeakage.at(a.levels[0] + b.levels[0], delta=a.delta)
    if d == 0:
        return None
    v, w = (g.levels[0].up for g in (a, b))
    return TailLeakage.at(log_of(times(v, w + e * (w - 1) * (1 - d) / d)), delta=a.delta)


def _rule(name: str, kinds: tuple, conclusion: Any, mapped: Any, said: str, **more: Any) -> Theorem:
    source = PMC_PAPER if name.startswith("PMC") else PML_PAPER
    number = name.partition("paper, ")[2] or "the definitions"
    return Theorem(name, f"{source}, {number}", kinds, conclusion, mapped, said, **more)


_FOUR_5 = "(epsilon_1, delta_1)-EML, then (epsilon_2, delta_2)-EML for each y: "

STATEMENTS = [
    _rule(
        "PML paper, Theorem 4(1)",
        (PML, PML),
        PML,
        _exact(True, _tails(PML, jointly=False)),
        "epsilon_1-PML, then epsilon_2-PML for each y: (epsilon_1 + epsilon_2)-PML",
    ),
    _rule(
        "PML paper, Theorem 4(2)",
        (PML, PML),
        PML,
        _exact(False, _tails(PML, jointly=False)),
        "with delta = delta_1 + delta_2 - delta_1 delta_2",
    ),
    _rule(
        "PML paper, Theorem 4(4)",
        (EML, PML),
        EML,
        _event_then_all,
        "(epsilon_1, delta_1)-EML, then epsilon_2-PML for each y: (epsilon_1 + epsilon_2, delta_1)",
    ),
    _rule(
        "PML paper, Theorem 4(4), slices",
        (EML, EML),
        SlicedEML,
        _sliced,
        _FOUR_5 + "epsilon_1 + epsilon_2 for events of probability delta_1 or more, all of whose "
        "slices have delta_2 or more",
    ),
    _rule(
        "PML paper, Theorem 4(5)",
        (EML, EML),
        EML,
        lambda a, b, about: _events(a, b, about, sharp=False),
        _FOUR_5 + "log(delta_2/(delta_1 + delta_2) / p_min + e^(epsilon_1 + epsilon_2)) at "
        "delta_1 + delta_2",
        needs=needs("finite", "p_min"),
        correction="at delta_1 = delta_2 = 0 the quotient is 0/0: it is statement 1",
    ),
    _rule(
        "PML paper, Theorem 4(5), sharpened",
        (EML, EML),
        EML,
        lambda a, b, about: _events(a, b, about, sharp=True),
        _FOUR_5
        + "log((delta_2 / p_min + delta_1 e^(epsilon_1 + epsilon_2)) / (delta_1 + delta_2))",
        needs=needs("finite", "p_min"),
        origin="sharpened",
        proof="in the paper's (34a) the good part of E has share P(G)/P(E) = 1 - P(B)/P(E), with "
        "P(B)/P(E) <= delta_2 / (delta_1 + delta_2): the mean of two ratios is linear in it.",
    ),
    _rule(
        "PMC paper, Lemma 1(vii)",
        (PMC, PMC),
        PMC,
        _tails(PMC, jointly=False),
        "costs add, as leakages do in Theorem 4(1) and (2)",
        correction="with delta: the good outcomes are counted as in Theorem 4(2)",
    ),
    _rule(
        "here: tail leakage",
        (TailLeakage, TailLeakage),
        TailLeakage,
        _tail_leakages,
        "V_1(d) <= v, then V_2(e) <= w for each y: V_12(d) <= v (w + e (w - 1) (1 - d) / d)",
        condition="d > 0, or e = 0",
        origin="here",
        proof="S_12 <= S_1 S_2 with S_2 given y. For given y and 0 <= W <= 1 of mean m, E[W S_2] "
        "<= e (w - 1) + m (w - e (w - 1)) = c + m s: for m >= e it is at most m w; for m < e, as "
        "S_2 >= 1, at most e w - (e - m). So E[W S_12] <= c E S_1 + s E[W S_1] <= c v + s d v.",
        tight="attained by a first release that says nothing and a second one that erases",
    ),
    *(
        _rule(
            f"here: {kind.symbol} adds",
            (kind, kind),
            kind,
            _sum(kind),
            f"{kind.symbol}, then {kind.symbol} for each y: the sum",
            origin="here",
            proof=proof,
        )
        for kind, proof in (
            (LDP, "f(y|x) f(z|x,y) is a product of two ratios."),
            (LIP, "|i(x;y,z)| <= |i(x;y)| + |i(x;z|y)|."),
            (ALIP, "both sides of i(x;y) + i(x;z|y)."),
            (AveragePML, "E e^l(Y,Z) <= E e^l(Y) E(e^l(Z|Y) | Y)."),
            (MutualInformation, "the chain rule, I(X;Y) + E I(X;Z | Y=y)."),
        )
    ),
]

JOINTLY = [
    _rule(
        "PML paper, Theorem 4(3)",
        (PML, PML),
        PML,
        _tails(PML, jointly=True),
        "(epsilon_1, delta_1)-PML, and l(X -> Z | Y) <= epsilon_2 with P_YZ probability 1 - "
        "delta_2: (epsilon_1 + epsilon_2, delta_1 + delta_2)-PML",
    ),
]


def tail_leakage_of_each_bounds_nothing() -> Counterexample:
    """Two releases, independent given X, whose tail leakages under P_X bound no pair's.

    Each rules out one common secret; the secret of probability p survives both. At delta = p each
    has V = 2/(1 - p), whatever p is, and the two together 1/p.
    """
    p = Fraction(1, 1000)
    one, no = Fraction(1), Fraction(0)
    rows = [[one, no, no, no], [no, one, no, no], [no, no, one, no]]
    return Counterexample(
        "of two releases with V_1(delta) and V_2(delta) under P_X, V_12(delta) is at most V_1 V_2",
        TailLeakage(ratio=1 / p, delta=p),
        TailLeakage(ratio=(2 / (1 - p)) ** 2, delta=p),
        Example([p, (1 - p) / 2, (1 - p) / 2], rows),
    )


def prior_is_not_posterior() -> Counterexample:
    """Two releases, independent given X, whose PML under P_X does not add.

    Each rules out one common secret; the rare secret survives both. Both are log 20/9-PML under
    P_X, and an outcome of the two leaks log 10, which is more than 2 log 20/9.
    """
    one, no = Fraction(1), Fraction(0)
    prior = [Fraction(1, 10), Fraction(9, 20), Fraction(9, 20)]
    # outcomes (y1, y2) in the order 00, 01, 10, 11: y1 = 1 is secret 2, y2 = 1 is secret 1
    rows = [[one, no, no, no], [no, one, no, no], [no, no, one, no]]
    return Counterexample(
        "epsilon_1-PML and epsilon_2-PML under P_X, released independently given X, add",
        PML(ratio=10),
        PML(ratio=Fraction(400, 81)),
        Example(prior, rows),
    )


# -- the question -------------------------------------------------------------------------------


def compose(
    first: Any,
    second: Any,
    *,
    second_under: str | None = None,
    jointly: bool = False,
    p_min: Any = None,
    alphabet: Any = None,
    prior: Any = None,
    delta: Any = None,
    sharpened: bool = True,
) -> Implied:
    """Derive what a release of Y and then of Z guarantees about X, from a guarantee of each.

    Parameters
    ----------
    first : Guarantee or sequence of Guarantee
        Of P_{Y|X} under P_X.
    second : Guarantee or sequence of Guarantee
        Of P_{Z|X,Y=y}, the same for (almost) every y.
    second_under : {"posterior", "prior"}
        The prior of the second guarantee. "posterior": it holds under P_{X|Y=y}, for every y, as
        the theorems ask. "prior": it holds under P_X only; then only its LDP level is used, which
        passes to every posterior. There is no default, as the wrong one makes a wrong guarantee.
    jointly : bool
        Whether the delta of the second counts outcomes (y, z) under P_YZ (Theorem 4(3)), instead
        of outcomes z for each y.
    p_min, alphabet, prior, delta, sharpened
        As for `implied`: facts about P_X.

    Returns
    -------
    Implied
        What the pair (Y, Z) guarantees under P_X, with chains; levels and deltas rounded up.

    Raises
    ------
    InvalidInput
        Something that is no guarantee; ``second_under`` missing; ``jointly`` with anything but
        PML under the posterior.

    References
    ----------
    "Pointwise Maximal Leakage", Theorem 4; "Information Density Bounds for Privacy",
    Lemma 1(vii).

    Examples
    --------
    >>> import borel.guarantees as g
    >>> found = g.compose(
    ...     g.PML(0.5, delta=0.1), g.PML(0.25, delta=0.5), second_under="posterior"
    ... )
    >>> found.best(g.PML)
    PML(epsilon=0.75, delta=0.55)
    """
    if second_under not in UNDER:
        raise InvalidInput(
            "compose",
            expected='second_under="posterior" or "prior"',
            got=repr(second_under),
            mend='"posterior" if the second guarantee holds under P_{X|Y=y} for every y; "prior" '
            "if it is only known under P_X, where PML does not compose.",
        )
    one, two = _guarantees(first), _guarantees(second)
    facts = facts_of(p_min=p_min, alphabet=alphabet, prior=prior, delta=delta)
    rules = theorems(sharpened=sharpened)
    firsts = closure(one, facts, rules).implications
    if jointly:
        if second_under != "posterior" or not all(type(g) is PML for g in two):
            raise InvalidInput(
                "compose",
                expected="PML under the posterior beside jointly=True (Theorem 4(3))",
                got=f"{', '.join(map(str, two))} under the {second_under}",
            )
        seconds: tuple[Implication, ...] = tuple(Implication(g) for g in two)
        statements = JOINTLY
    else:
        seconds = _under_posteriors(two, second_under, facts, rules)
        statements = [s for s in STATEMENTS if sharpened or s.origin == "paper"]
    derived = [
        Implication(conclusion, statement, pair)
        for statement in statements
        for pair in product(firsts, seconds)
        if tuple(type(i.guarantee) for i in pair) == statement.premises
        if (conclusion := statement.apply(tuple(i.guarantee for i in pair), facts)) is not None
    ]
    found = closure((), facts, rules, tuple(derived))
    found.premises = (*one, *two)
    found.link = "then"
    return found


def _guarantees(given: Any) -> tuple[Guarantee, ...]:
    found = (given,) if isinstance(given, Guarantee) else tuple(given) if _many(given) else ()
    if not found or not all(isinstance(g, Guarantee) for g in found):
        raise InvalidInput(
            "compose",
            expected="a guarantee, or some, such as bl.guarantees.PML(0.5)",
            got=repr(given),
        )
    return found


def _many(given: Any) -> bool:
    return isinstance(given, (list, tuple))


def _under_posteriors(
    two: tuple[Guarantee, ...], under: str, facts: Facts, rules: Any
) -> tuple[Implication, ...]:
    """Return what the second mechanism satisfies under every posterior."""
    # a posterior may be smaller anywhere and lose secrets: p_min and the size are not its own
    posterior = Facts(facts.alphabet, delta=facts.delta)
    if under == "posterior":
        return closure(two, posterior, rules).implications
    known = closure(two, facts, rules)
    passing = known[LDP] if LDP in known else ()
    return closure((), posterior, rules, passing).implications
