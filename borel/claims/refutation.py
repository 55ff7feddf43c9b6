"""Search for a counterexample: random structure, optimisation, named families, then shrinking."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from borel.claims.cases import Case, Law, Rows, law, product, rows
from borel.claims.spans import Fact
from borel.errors import BorelError, InvalidInput, Undecided
from borel.probability.bound import Verdict
from borel.probability.measure import pmf
from borel.probability.mechanism import Mechanism
from borel.progress import Bar
from borel.settings import options, progress_bar

if TYPE_CHECKING:
    from borel.probability.joint import Joint

STYLES = ("zeros", "ties", "plain", "certain", "rare")
"""How the rows of a random kernel are drawn: see `borel.claims.cases`; one outcome for sure; one
rare outcome that depends on the secret, the others not, as a claim may fail at an outcome alone."""

DENOMINATORS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 20, 50, 100)
"""What probabilities are rounded to when a counterexample is made simpler."""


EVALUATIONS = 150
"""How often a claim is tried in one search by optimisation."""

BUDGET = 1
"""Seconds of work for a figure of a named family, as in `borel.options`."""


@dataclass(frozen=True)
class Setting:
    """What a claim is tried on, in Fractions.

    Attributes
    ----------
    p : list of Fraction
        The prior.
    rows : list of lists of Fraction
        The mechanism.
    post, side : lists of lists of Fraction or None
        A post-processing of the outcome, and side information about the secret, for claims that
        ask for them.
    delta : Fraction
        A probability, for claims that ask for it.
    """

    p: Law
    rows: Rows
    post: Rows | None = None
    side: Rows | None = None
    delta: Fraction = Fraction(1, 2)

    def arguments(self, asked: Iterable[str]) -> dict[str, Any]:
        """Return the arguments that a claim asks for by name."""
        made: dict[str, Callable[[], Any]] = {
            "post": lambda: Mechanism.from_matrix(self.post),
            "side": lambda: Mechanism.from_matrix(self.side),
            "released": lambda: (
                pmf(self.p) * Mechanism.from_matrix(product(self.rows, self.post or []))
            ),
            "delta": lambda: self.delta,
        }
        return {name: made[name]() for name in asked}

    @property
    def joint(self) -> Joint:
        """The joint."""
        return Case(self.p, self.rows).joint

    @property
    def size(self) -> tuple[int, int, int]:
        """How complicated it is: its letters, its different numbers, and how long those are."""
        tables = [[self.p], self.rows, self.post or [], self.side or []]
        numbers = [v for table in tables for row in table for v in row] + [self.delta]
        letters = sum(len(t) + len(t[0]) for t in tables if t)
        short = sum(v.numerator + v.denominator for v in numbers)
        return letters, sum(v not in (0, 1) for v in numbers), short


ASKED = ("post", "side", "released", "delta")
"""What a claim may ask for besides the joint."""


@dataclass(frozen=True)
class Refutation:
    """The outcome of a search for a counterexample.

    Attributes
    ----------
    refuted : bool
        Whether one was found; ``bool(refutation)`` is the same.
    joint : Joint or None
        The simplest one found.
    arguments : dict
        What else the claim asked for: ``post``, ``side``, ``released``, ``delta``.
    verdict : object
        What the claim returned there.
    family : str
        The named family it is from; "" for a finite one.
    tried : int
        How many settings were tried.
    settled : int
        How many of them settled all that was claimed: elsewhere a figure was refused, or its
        enclosure did not tell, or nothing was claimed.
    left_out : dict of str to str
        Named families on which the claim raises an error, each with the error: nothing was tried
        there.
    exhausted : bool
        Whether the limit on the attempts ended the search, or the shrinking.
    """

    refuted: bool
    tried: int
    settled: int = 0
    joint: Joint | None = None
    arguments: dict[str, Any] = field(default_factory=dict)
    verdict: Any = None
    family: str = ""
    setting: Setting | None = None
    left_out: dict[str, str] = field(default_factory=dict)
    exhausted: bool = False

    def __bool__(self) -> bool:
        """Return whether the claim is refuted."""
        return self.refuted

    def __repr__(self) -> str:
        """Show the counterexample, or how far it was searched."""
        if not self.refuted:
            more = ", at the limit" if self.exhausted else ""
            if self.left_out:
                errors = sorted({error.split(":")[0] for error in self.left_out.values()})
                more += f"; {len(self.left_out)} named families left out: {', '.join(errors)}"
            return (
                f"Refutation(not refuted in {self.tried} attempts, {self.settled} of them settled, "
                f"which proves nothing{more})"
            )
        if self.setting is None:
            return f"Refutation(refuted by {self.family})"
        shown = repr(Case(self.setting.p, self.setting.rows))
        for name in ("post", "side"):
            if getattr(self.setting, name) is not None:
                table = "; ".join(
                    "(" + ", ".join(map(str, row)) + ")" for row in getattr(self.setting, name)
                )
                shown += f", {name} [{table}]"
        if "delta" in self.arguments:
            shown += f", delta {self.setting.delta}"
        return f"Refutation(refuted by {shown})"


def refute(
    claim: Callable[..., Any], *, tries: int = 1000, limit: int = 5000, seed: int = 0
) -> Refutation:
    """Look for a joint where a claim fails, and return the simplest one found.

    Parameters
    ----------
    claim : callable
        Takes a joint and, by name, what else it asks for: ``post``, a post-processing of the
        outcome; ``released``, the joint after it; ``side``, side information, a mechanism about
        the secret; ``delta``, a Fraction in (0, 1). Returns a `Verdict`, such as
        ``bl.pml(joint).sup() <= bl.ldp(joint)``, or whether the claim holds there (None: not
        settled), or yields several of them, all of which are claimed.
    tries : int, optional
        How many random settings are tried, before a search by optimisation from the most
        promising of them, and named continuous families.
    limit : int, optional
        How many attempts are made at most: random ones, those of the search by optimisation and of
        shrinking, and named families. It counts work and not time, so that a search is the same
        on every machine.
    seed : int, optional
        What random settings are drawn from.

    Returns
    -------
    Refutation
        True where a counterexample was found: a verdict of False, which only proved figures give.
        False proves nothing.

    Raises
    ------
    InvalidInput
        A claim that asks for something else, or returns something else, or that no setting
        settles because each raises an error of this library. Any other error that the claim raises
        is passed on, with a note of the joint; but where finite joints settled the claim, a named
        family on which it raises one is left out, and ``left_out`` and the repr say so.

    Notes
    -----
    Where figures may be equal and are not exact, as with logarithms, ``one <= other`` is not
    settled and refutes nothing; ``one == other`` compares enclosures and is no claim.
    A plain True or False is believed: compare Bounds, not their ends, where figures may tie.

    Finite settings are drawn in Fractions, with zeros, ties, certain and rare outcomes. Where
    verdicts carry a figure it is pushed up and down, by moving prior and mechanism with the simplex
    method of Nelder and Mead. A counterexample is shrunk: secrets and outcomes are dropped and
    merged, and probabilities rounded, as long as the claim still fails and ``limit`` allows; a
    figure of a named family has a budget of 1 (`borel.options`). Claims of a joint alone are also
    tried on Laplace and Gaussian noise, on a copula mixture, and on a countable mechanism.

    Examples
    --------
    >>> import borel as bl
    >>> bl.refute(lambda joint: bl.pmc(joint).sup() <= bl.pml(joint).sup())
    Refutation(refuted by prior (1/2, 1/2), mechanism [(0, 1); (1, 0)])
    """
    how_many = "how many joints are tried"
    for name, number, least, expected in (
        ("tries", tries, 0, how_many),
        ("limit", limit, 1, how_many),
        ("seed", seed, 0, "a whole number of 0 or more"),
    ):
        if not isinstance(number, int) or isinstance(number, bool) or number < least:
            raise InvalidInput("refute", expected=expected, got=f"{name}={number!r}")
    with progress_bar(None, name="bl.refute", unit="joints tried") as bar:
        return _refuted(_Search(claim, np.random.default_rng(seed), limit, bar), tries)


def _refuted(search: _Search, tries: int) -> Refutation:
    """Look at random, then by optimisation, then among named families."""
    found: Setting | None = None
    failed: tuple[str, Any, Any] | None = None
    exhausted = False
    try:
        found = search.at_random(tries) or search.optimised()
        if found is None and not search.asked:
            failed = search.families()
        if found is not None:
            found = search.shrunk(found)
    except _Exhausted:
        found, exhausted = search.smallest, True
    made = {"left_out": search.left_out, "exhausted": exhausted}
    if found is not None:
        return Refutation(
            True,
            search.tried,
            search.settled,
            found.joint,
            found.arguments(search.asked),
            search.verdict,
            setting=found,
            **made,
        )
    if failed is not None:
        name, joint, verdict = failed
        return Refutation(
            True, search.tried, search.settled, joint, {}, verdict, family=name, **made
        )
    if search.refused is not None and search.refused[0] == search.tried:
        raise InvalidInput(
            "refute",
            expected="a claim that can be computed for some joint",
            got=f"an error at each of {search.tried} joints, the last one: {search.refused[1]}",
        )
    return Refutation(False, search.tried, search.settled, **made)


class _Exhausted(Exception):
    """The limit on the attempts is reached."""


class _Search:
    """One search: the claim, what it asks for, and what was tried."""

    def __init__(self, claim: Callable[..., Any], rng: np.random.Generator, limit: int, bar: Bar):
        if not callable(claim):
            raise InvalidInput("refute", expected="a function of a joint", got=repr(claim))
        self.claim, self.rng, self.bar, self.tried, self.settled = claim, rng, bar, 0, 0
        self.limit, self.left_out = limit, dict[str, str]()
        self.smallest: Setting | None = None
        self.verdict: Any = None
        self.refused: tuple[int, BorelError] | None = None
        takes = list(inspect.signature(claim).parameters.values())
        if not takes:
            raise InvalidInput("refute", expected="a function of a joint", got="one of nothing")
        names = [p.name for p in takes[1:] if p.default is p.empty or p.name in ASKED]
        if unknown := [name for name in names if name not in ASKED]:
            raise InvalidInput(
                "refute", expected=f"a claim of a joint and of {', '.join(ASKED)}", got=str(unknown)
            )
        self.asked = names
        self.best: dict[float, list[tuple[float, int, Setting]]] = {1.0: [], -1.0: []}
        self.figures: list[float] = []

    # -- trying --------------------------------------------------------------------------------

    def failing(self, joint: Any, arguments: dict[str, Any]) -> Any:
        """Return the fact that certainly fails, or None; also where a figure is refused."""
        if self.tried >= self.limit:
            raise _Exhausted
        self.tried += 1
        self.bar.tell(self.tried)
        facts: list[Any] = []
        try:
            for fact in _facts(self.claim(joint, **arguments)):
                facts.append(fact)  # one by one: those before an error count
        except Undecided:
            pass
        except BorelError as error:
            self.refused = (self.refused[0] if self.refused else 0) + 1, error
        except Exception as error:
            error.add_note(f"raised by the claim of {joint!r}")
            raise
        self.figures = [f.bound.value for f in facts if isinstance(f, Verdict)]
        holds = [_holds(f) for f in facts]
        self.settled += bool(facts) and None not in holds
        return next((f for f, told in zip(facts, holds, strict=True) if told is False), None)

    def refutes(self, setting: Setting) -> bool:
        """Return whether the claim fails in a setting, and remember the last one where it does."""
        found = self.failing(setting.joint, setting.arguments(self.asked))
        if found is None:
            return False
        self.smallest, self.verdict = setting, found
        return True

    # -- looking -------------------------------------------------------------------------------

    def draw(self) -> Setting:
        """Return a random setting, more often a small one."""
        n, m = (int(v) for v in self.rng.choice([2, 2, 3, 4], 2))
        p = [Fraction(1, n)] * n if self.rng.random() < 0.5 else law(self.rng, n)
        delta = Fraction(int(self.rng.integers(1, 20)), 20)
        return Setting(
            p,
            self.kernel(n, m),
            self.kernel(m) if {"post", "released"} & set(self.asked) else None,
            self.kernel(n) if "side" in self.asked else None,
            delta,
        )

    def kernel(self, n: int, m: int | None = None) -> Rows:
        """Return the rows of a random kernel, of a random style."""
        m = m or int(self.rng.integers(2, 4))
        style = STYLES[int(self.rng.integers(len(STYLES)))]
        if style == "rare":
            seen = [Fraction(int(v), 240) for v in self.rng.integers(0, 13, n)]
            rest = law(self.rng, m - 1)
            return [[v, *((1 - v) * w for w in rest)] for v in seen]
        if style != "certain":
            return rows(self.rng, n, m, style)
        sure = self.rng.integers(0, m, n)
        return [[Fraction(int(y == k)) for y in range(m)] for k in sure]

    def at_random(self, tries: int) -> Setting | None:
        """Try random settings, and remember those with extreme figures."""
        for i in range(tries):
            setting = self.draw()
            if self.refutes(setting):
                return setting
            for sign, best in self.best.items():
                found = {sign * f for f in self.figures if np.isfinite(f)}
                found -= {figure for figure, _, _ in best}  # trivial joints share one
                best += [(figure, i, setting) for figure in found]
                best[:] = sorted(best, key=lambda t: t[:2])[:3]
        return None

    def optimised(self) -> Setting | None:
        """Push the figures of the most promising settings up and down."""
        from scipy.optimize import minimize

        for sign, best in self.best.items():
            for _, _, start in best:
                hit: list[Setting] = []

                def of(x: Any, start: Setting = start, hit: Any = hit, sign: float = sign) -> float:
                    if hit:
                        return -np.inf
                    setting = _moved(start, x)
                    if self.refutes(setting):
                        hit.append(setting)
                        return -np.inf
                    finite = [f for f in self.figures if np.isfinite(f)]
                    return min((sign * f for f in finite), default=np.inf)

                k = sum(len(r) for r in [start.p, *start.rows])
                corners = np.vstack([np.zeros(k), 2 * np.eye(k)])
                how = {"maxfev": EVALUATIONS, "initial_simplex": corners}
                minimize(of, corners[0], method="Nelder-Mead", options=how)
                if hit:
                    return hit[0]
        return None

    def families(self) -> tuple[str, Any, Any] | None:
        """Return the named family where the claim fails, with its joint and the fact, or None."""
        for name, joint in families():
            try:
                with options(budget=BUDGET):
                    failed = self.failing(joint, {})
            except _Exhausted:
                raise
            except Exception as error:  # of a claim about finite joints, say
                if not self.settled:
                    raise
                self.left_out[name] = f"{type(error).__name__}: {error}"
                continue
            if failed is not None:
                return name, joint, failed
        return None

    # -- shrinking -----------------------------------------------------------------------------

    def shrunk(self, setting: Setting) -> Setting:
        """Return the simplest setting that single steps reach, where the claim still fails."""
        while True:
            smaller = sorted(
                (s for s in _simpler(setting) if s.size < setting.size), key=lambda s: s.size
            )
            found = next((s for s in smaller if self.refutes(s)), None)
            if found is None:
                return setting
            setting = found


def _facts(told: Any) -> Iterator[Any]:
    """Yield what a claim returned, one or many."""
    if isinstance(told, Iterator) or isinstance(told, (list, tuple)):
        yield from told
    else:
        yield told


def _holds(fact: Any) -> bool | None:
    """Return whether a fact holds."""
    if isinstance(fact, (Fact, Verdict)):
        return fact.holds
    if fact is None or isinstance(fact, (bool, np.bool_)):
        return None if fact is None else bool(fact)
    raise InvalidInput(
        "refute", expected="a claim that returns a Verdict, or True, False or None", got=repr(fact)
    )


def _moved(setting: Setting, x: Any) -> Setting:
    """Return a setting whose laws are moved, each by its logarithms, and rounded to Fractions."""
    out, at = [], 0
    for one in [setting.p, *setting.rows]:
        weights = np.array([float(v) + 1e-3 for v in one]) * np.exp(
            np.clip(x[at : at + len(one)], -20, 20)
        )
        at += len(one)
        out.append(_rounded([Fraction(float(w)) for w in weights / weights.sum()], 1000))
    return replace(setting, p=out[0], rows=out[1:])


def _rounded(one: Law, denominator: int) -> Law:
    """Return the nearest law of a denominator, by largest remainders."""
    scaled = [v * denominator for v in one]
    whole = [int(v) for v in scaled]
    left = denominator - sum(whole)
    order = sorted(range(len(one)), key=lambda i: whole[i] - scaled[i])
    for i in order[:left]:
        whole[i] += 1
    return [Fraction(v, denominator) for v in whole]


def _simpler(s: Setting) -> Iterator[Setting]:
    """Yield settings one step simpler: fewer letters, or simpler numbers."""
    n, m = len(s.p), len(s.rows[0])
    for x in range(n) if n > 1 else ():
        if s.p[x] < 1:
            rest = [v / (1 - s.p[x]) for i, v in enumerate(s.p) if i != x]
            yield replace(s, p=rest, rows=_without(s.rows, x), side=s.side and _without(s.side, x))
    for a, b in combinations(range(n), 2):
        if s.p[a] + s.p[b] > 0:
            merged = [mass for x, mass in enumerate(s.p) if x != b]
            merged[a] = s.p[a] + s.p[b]
            side = s.side and _averaged(s.side, s.p, a, b)
            yield replace(s, p=merged, rows=_averaged(s.rows, s.p, a, b), side=side)
    for a, b in combinations(range(m), 2):
        yield replace(s, rows=_joined(s.rows, a, b), post=s.post and _without(s.post, b))
    for name in ("post", "side"):
        table = getattr(s, name)
        for a, b in combinations(range(len(table[0])), 2) if table else ():
            yield replace(s, **{name: _joined(table, a, b)})
    finest = max(v.denominator for v in s.p)
    for d in {*DENOMINATORS, finest - 1, 3 * finest // 4} - {0}:
        yield replace(s, p=_rounded(s.p, d))
        if (near := _rounded([s.delta, 1 - s.delta], d)[0]) not in (0, 1):
            yield replace(s, delta=near)
        for name in ("rows", "post", "side"):
            table = getattr(s, name)
            for i, row in enumerate(table or ()):
                yield replace(s, **{name: [*table[:i], _rounded(row, d), *table[i + 1 :]]})
    for name in ("rows", "post", "side"):
        table = getattr(s, name)
        for i, row in enumerate(table or ()):
            even = [Fraction(1, len(row))] * len(row)
            yield replace(s, **{name: [*table[:i], even, *table[i + 1 :]]})
    yield replace(s, p=[Fraction(1, n)] * n)


def _without(table: Rows, i: int) -> Rows:
    return [*table[:i], *table[i + 1 :]]


def _averaged(table: Rows, p: Law, a: int, b: int) -> Rows:
    """Return a table in which secret a stands for b too, its row the mean of both."""
    whole = p[a] + p[b]
    mean = [(p[a] * v + p[b] * w) / whole for v, w in zip(table[a], table[b], strict=True)]
    return _without([*table[:a], mean, *table[a + 1 :]], b)


def _joined(table: Rows, a: int, b: int) -> Rows:
    return [[v + (row[b] if y == a else 0) for y, v in enumerate(row) if y != b] for row in table]


def families() -> Iterator[tuple[str, Any]]:
    """Yield named joints that are not finite, at a few parameters each."""
    import borel as bl

    unit = bl.Interval(0, 1)
    countable = bl.mechanisms.countable()
    yield "mechanisms.countable()", countable.reference_prior * countable  # type: ignore[operator]
    for b in (0.25, 1.0):
        yield f"uniform secret, laplace(b={b})", bl.uniform(unit) * bl.mechanisms.laplace(b=b)
    for sigma in (0.5, 1.0):
        noise = bl.mechanisms.gaussian(sigma=sigma)
        yield f"uniform secret, gaussian(sigma={sigma})", bl.uniform(unit) * noise
        yield f"normal secret, gaussian(sigma={sigma})", bl.normal() * noise
    for eta in (0.1, 0.5):
        yield (
            f"clayton(eta={eta}, theta=1)",
            bl.uniform(unit) * bl.mechanisms.clayton(eta=eta, theta=1.0),
        )
