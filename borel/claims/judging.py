"""What the papers state, statement by statement, each with a check and the verdict it yields.

A check yields facts: whether an inequality or an equality holds between enclosures. The verdict
is read from them, and from nothing else.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

from borel.claims.cases import Cases
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
        How far it was searched: exhaustively, by a closed form, or on how many random joints.
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
        start, count, open_ = time.perf_counter(), 0, 0
        failure, why = "", self.why
        better: dict[str, bool] = {}
        seen = {"exact"}
        for case, fact in self._facts():
            count += 1
            if isinstance(fact, Fact):
                seen.add(fact.status)
            elif isinstance(fact, Verdict):
                seen.add(fact.bound.status)
            holds = fact.holds if isinstance(fact, (Fact, Sharper, Verdict)) else fact
            if isinstance(fact, Sharper):
                before = better.get(fact.words, fact.always)
                better[fact.words] = (
                    before and bool(holds) if fact.always else before or bool(holds)
                )
            elif holds is None:
                open_ += 1
            elif not holds:
                shown = str(fact) if isinstance(fact, Fact) else ""
                failure = (
                    "; ".join(filter(None, (shown, str(case or "")))) or "it fails as computed"
                )
                break
        sharper = "; ".join(words for words, holds in better.items() if holds)
        unsettled = f"{open_} of {count} comparisons are not settled: their enclosures meet"
        if not count:
            why = why or "no case met the premises"
        if open_ and (self.cases is None or 10 * open_ > count):
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
        found = failure or why or "; ".join(filter(None, (sharper, unsettled if open_ else "")))
        if failure and self.reads:
            found = f"{failure}; it should read: {self.reads}"
        scope = str(self.cases) if self.cases else self.scope
        return Judgement(
            verdict, scope, found, count, open_, weakest(seen), time.perf_counter() - start
        )

    def _facts(self) -> Iterator[tuple[Any, Any]]:
        """Yield every fact with its case, if it has one."""
        if self.cases is None:
            yield from ((None, fact) for fact in self.check())
            return
        for case in self.cases:
            yield from ((case, fact) for fact in self.check(case))

    def record(self, judgement: Judgement | None = None) -> dict[str, Any]:
        """Return the statement as plain data, with its judgement if it has one."""
        about = {
            "id": self.id,
            **{k: getattr(self, k) for k in ("paper", "kind", "number", "part", "says")},
            "computed": self.computed,
            "searched": str(self.cases) if self.cases else self.scope,
            "errata": list(self.errata),
        }
        return about | (asdict(judgement) if judgement else {})


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
