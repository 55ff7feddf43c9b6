"""What the papers state, statement by statement, each with a check and the verdict it yields.

A check yields facts: whether an inequality or an equality holds between enclosures. The verdict
is read from them, and from nothing else.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from functools import cache
from typing import Any

from borel.claims.cases import Case, Cases
from borel.claims.spans import Fact
from borel.probability.bound import Verdict, weakest

VERDICTS = ("confirmed", "sharper", "refuted", "not computable")


@dataclass(frozen=True)
class Sharper:
    """A fact that says more than the paper does.

    Attributes
    ----------
    holds : bool or None
        Whether it holds.
    words : str
        What it says.
    always : bool
        Whether it is claimed of every case, or of some.
    """

    holds: bool | None
    words: str
    always: bool = True


@dataclass(frozen=True)
class Judgement:
    """The verdict on a statement, and what it was read from.

    Attributes
    ----------
    verdict : {"confirmed", "sharper", "refuted", "not computable"}
        ``confirmed``: every fact holds. ``sharper``: so does more than is stated. ``refuted``: a
        fact fails, proved by enclosures. ``not computable``: nothing here decides it.
    scope : str
        How far it was searched: exhaustively, by a closed form, or on how many random joints and
        on how many that a search by optimisation tried.
    evidence : str
        The counterexample, what is sharper, or why it cannot be computed.
    facts : int
        How many comparisons were made.
    unsettled : int
        How many of them their enclosures do not settle.
    status : str
        The weakest status of the figures compared; ``conditional`` figures rest on assumptions.
    seconds : float
        How long it took.
    """

    verdict: str
    scope: str
    evidence: str
    facts: int
    unsettled: int
    status: str
    seconds: float


@dataclass(frozen=True)
class Statement:
    """One numbered statement of a paper.

    Attributes
    ----------
    paper : str
        Key of the paper, as in `borel.claims.PAPERS`.
    kind, number : str
        Such as "Theorem" and "3".
    part : str
        Which part of it, where parts are judged on their own; else "".
    says : str
        What the paper says, in our words.
    computed : str
        What is computed to judge it.
    check : callable
        Yields facts; takes a case where there are ``cases``.
    cases : Cases or None
        The random joints it is tried on.
    scope : str
        How far the check goes, where there are no cases.
    errata : tuple of int
        Rows of the page of errata that it belongs to.
    reads : str
        How an erroneous statement should read.
    why : str
        Why nothing that can be computed decides it.
    """

    paper: str
    kind: str
    number: str
    part: str
    says: str
    computed: str
    check: Callable[..., Iterable[Any]]
    cases: Cases | None = None
    scope: str = ""
    errata: tuple[int, ...] = ()
    reads: str = ""
    why: str = ""

    @property
    def id(self) -> str:
        """The name of the statement, such as "pmc:Theorem-3"."""
        return f"{self.paper}:{self.kind}-{self.number}" + (f"-{self.part}" if self.part else "")

    def named(self, name: str) -> bool:
        """Return whether a name means this statement: its paper, its number or its part."""
        return name in (self.paper, f"{self.paper}:{self.kind}-{self.number}", self.id)

    def expects(self, verdict: str) -> bool:
        """Return whether a verdict is what is known: errors refuted, and nothing else."""
        return (verdict == "refuted") == bool(self.reads)

    def judge(self) -> Judgement:
        """Compute the verdict."""
        start, why = time.perf_counter(), self.why
        tried = _tried(self.check, self.cases)
        failure = tried.failure
        sharper = "; ".join(words for words, holds in tried.better.items() if holds)
        unsettled = (
            f"{tried.unsettled} of {tried.facts} comparisons are not settled: their enclosures meet"
        )
        if not tried.facts:
            why = why or "no case met the premises"
        if tried.unsettled and (self.cases is None or 10 * tried.unsettled > tried.facts):
            why = why or unsettled
        verdict = (
            "refuted"
            if failure
            else "not computable"
            if why
            else "sharper"
            if sharper
            else "confirmed"
        )
        left = unsettled if tried.unsettled else ""
        found = failure or why or "; ".join(filter(None, (sharper, left)))
        if failure and self.reads:
            found = f"{failure}; it should read: {self.reads}"
        scope = str(self.cases) if self.cases else self.scope
        if tried.moved:
            scope += f", {tried.moved} by optimisation"
        return Judgement(
            verdict,
            scope,
            found,
            tried.facts,
            tried.unsettled,
            weakest(tried.statuses),
            time.perf_counter() - start,
        )

    def record(self, judgement: Judgement | None = None) -> dict[str, Any]:
        """Return the statement as plain data, with its judgement if it has one."""
        about = {
            "id": self.id,
            **{k: getattr(self, k) for k in ("paper", "kind", "number", "part", "says")},
            "computed": self.computed,
            "searched": f"{self.cases}, and by optimisation from the {self.cases.starts} nearest"
            if self.cases
            else self.scope,
            "errata": list(self.errata),
        }
        return about | (asdict(judgement) if judgement else {})


@dataclass
class _Tried:
    """What the facts of a check tell together.

    Attributes
    ----------
    facts, unsettled : int
        How many there are, and how many of them their enclosures do not settle.
    moved : int
        How many joints the searches by optimisation tried.
    failure : str
        The one that fails, after which none is asked for.
    better : dict of str to bool
        What is sharper, and whether it holds.
    statuses : set of str
        Of the figures compared.
    """

    facts: int = 0
    unsettled: int = 0
    moved: int = 0
    failure: str = ""
    better: dict[str, bool] = field(default_factory=dict)
    statuses: set[str] = field(default_factory=lambda: {"exact"})

    def of(self, facts: Iterable[Any], case: Case | None = None) -> float:
        """Count facts, up to one that fails, and return how far they are from failing."""
        gaps = []
        for fact in facts:
            self.facts += 1
            gaps += _gap(fact)
            if isinstance(fact, Fact):
                self.statuses.add(fact.status)
            elif isinstance(fact, Verdict):
                self.statuses.add(fact.bound.status)
            holds = fact.holds if isinstance(fact, (Fact, Sharper, Verdict)) else fact
            if isinstance(fact, Sharper):
                before, now = self.better.get(fact.words, fact.always), bool(holds)
                self.better[fact.words] = before and now if fact.always else before or now
            elif holds is None:
                self.unsettled += 1
            elif not holds:
                shown = str(fact) if isinstance(fact, Fact) else ""
                told = "; ".join(filter(None, (shown, str(case or ""))))
                self.failure = told or "it fails as computed"
                return -math.inf
        return sum(gaps) / len(gaps) if gaps else math.inf


def _gap(fact: Any) -> list[float]:
    """Return how far an inequality is from failing, as a share of its larger side, if it is one."""
    if not isinstance(fact, Fact) or fact.sign == "=" or not fact.holds:
        return []
    small, large = fact.small.upper, fact.large.lower
    if small == large:
        return [0.0]
    size = max(abs(small), abs(large))
    return [1.0 if size == math.inf else max(0.0, float((large - small) / size))]


@cache
def _tried(check: Callable[..., Iterable[Any]], cases: Cases | None) -> _Tried:
    """Ask a check for its facts: of every case, and of those that a search makes of the nearest."""
    tried = _Tried()
    if cases is None:
        tried.of(check())
        return tried
    far: list[tuple[float, int, Case]] = []
    for i, case in enumerate(cases):
        far.append((tried.of(check(case), case), i, case))
        if tried.failure:
            return tried

    def distance(case: Case) -> float:
        tried.moved += 1
        return tried.of(check(case), case)

    apart = sorted((one for one in far if 0 < one[0] < math.inf), key=lambda one: one[:2])
    for _, _, case in apart[: cases.starts]:  # where both sides are equal nothing comes nearer
        if not tried.failure:
            cases.search(case, distance)
    return tried


class Paper:
    """The statements of one paper, each added where its check is written.

    Attributes
    ----------
    key, title : str
        The short name and the title.
    statements : list of Statement
        In the order of the file.
    """

    def __init__(self, key: str, title: str):
        self.key, self.title = key, title
        self.statements: list[Statement] = []

    def says(
        self,
        name: str,
        says: str,
        *,
        part: str = "",
        cases: Cases | None = None,
        scope: str = "the stated figures",
        errata: tuple[int, ...] = (),
        reads: str = "",
    ) -> Callable[[Callable[..., Iterable[Any]]], Callable[..., Iterable[Any]]]:
        """Add a statement, whose check is the function decorated; its docstring says what is done.

        Parameters
        ----------
        name : str
            Kind and number, such as "Theorem 3".
        says : str
            What the paper says.
        part, cases, scope, errata, reads
            As in `Statement`.
        """
        kind, number = name.split(" ", 1)

        def add(check: Callable[..., Iterable[Any]]) -> Callable[..., Iterable[Any]]:
            computed = " ".join((check.__doc__ or "").split())
            made = Statement(
                self.key, kind, number, part, says, computed, check, cases, scope, errata, reads
            )
            self.statements.append(made)
            return check

        return add

    def cannot(self, name: str, says: str, why: str, *, part: str) -> None:
        """Add what no computation decides, and why."""
        kind, number = name.split(" ", 1)
        one = Statement(self.key, kind, number, part, says, "nothing", lambda: (), why=why)
        self.statements.append(one)
