"""Finite priors and mechanisms in Fractions, random and moved: what universal claims are tried on.

A case is small and exact, so that a comparison of its figures is decided and never a matter of
rounding. Half of them have zeros or ties, where claims about supports and maxima tend to fail.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from borel.probability.joint import Joint
from borel.probability.measure import pmf
from borel.probability.mechanism import Mechanism

EVALUATIONS = 60
"""How many joints one search by optimisation tries."""

FINE = 1000
"""What the weights of a moved law are rounded to, as shares of 1."""

Law = list[Fraction]
Rows = list[Law]

STYLES = {"plain": range(1, 13), "zeros": (0, 0, 1, 2, 3), "ties": (1, 2)}
"""The weights that a law is drawn from, before it is normalised."""


def law(rng: np.random.Generator, n: int, style: str = "plain") -> Law:
    """Return a random law on n points, of one of the `STYLES`."""
    weights = [int(w) for w in rng.choice(list(STYLES[style]), n)]
    if not any(weights):
        weights[int(rng.integers(n))] = 1
    return [Fraction(w, sum(weights)) for w in weights]


def rows(rng: np.random.Generator, n: int, m: int, style: str = "plain") -> Rows:
    """Return the rows of a random mechanism from n secrets to m outcomes."""
    return [law(rng, m, style) for _ in range(n)]


def product(first: Rows, second: Rows) -> Rows:
    """Return the rows of ``second`` applied after ``first``."""
    return [
        [sum((a * b for a, b in zip(row, column, strict=True)), Fraction(0)) for column in columns]
        for row, columns in ((row, list(zip(*second, strict=True))) for row in first)
    ]


@dataclass(frozen=True, repr=False, eq=False)
class Case:
    """One joint law in Fractions, and whatever else a claim about it needs, drawn when asked for.

    Attributes
    ----------
    p : list of Fraction
        The prior.
    rows : list of lists of Fraction
        The mechanism: a row for each secret.
    seed : tuple of int
        What its further draws (post-processing, side information, levels) are made from.
    """

    p: Law
    rows: Rows
    seed: tuple[int, ...] = (0,)

    @cached_property
    def rng(self) -> np.random.Generator:
        """The source of further draws."""
        return np.random.default_rng([*self.seed, 1])

    @cached_property
    def joint(self) -> Joint:
        """The joint, prior * mechanism."""
        return pmf(self.p) * Mechanism.from_matrix(self.rows)

    @property
    def prior(self) -> Any:
        """The prior as a measure."""
        return self.joint.prior

    @property
    def mechanism(self) -> Mechanism:
        """The mechanism."""
        return self.joint.mechanism

    @cached_property
    def marginal(self) -> Law:
        """The law of the outcome."""
        return product([self.p], self.rows)[0]

    @property
    def secrets(self) -> list[int]:
        """The secrets that the prior charges."""
        return [x for x, mass in enumerate(self.p) if mass]

    @property
    def outcomes(self) -> list[int]:
        """The outcomes of positive probability."""
        return [y for y, mass in enumerate(self.marginal) if mass]

    @property
    def least(self) -> Fraction:
        """The smallest probability that the prior gives to a secret that it charges."""
        return min(self.p[x] for x in self.secrets)

    @property
    def most(self) -> Fraction:
        """The largest probability of a secret."""
        return max(self.p)

    def posterior(self, y: int) -> Law:
        """Return the law of the secret given an outcome."""
        return [
            mass * row[y] / self.marginal[y] for mass, row in zip(self.p, self.rows, strict=True)
        ]

    def density(self, x: int, y: int) -> Fraction:
        """Return e to the information density."""
        return self.rows[x][y] / self.marginal[y]

    # -- further draws ----------------------------------------------------------------------

    def kernel(self, n: int, m: int | None = None, style: str = "zeros") -> Mechanism:
        """Return a random kernel from n letters."""
        return Mechanism.from_matrix(rows(self.rng, n, m or int(self.rng.integers(2, 4)), style))

    @cached_property
    def post(self) -> Mechanism:
        """A random post-processing of the outcome."""
        return self.kernel(len(self.rows[0]))

    @cached_property
    def released(self) -> Joint:
        """The joint of the secret and the post-processed outcome."""
        return self.prior * (self.post @ self.mechanism)

    @cached_property
    def side(self) -> Mechanism:
        """Side information: another random kernel from the secret."""
        return self.kernel(len(self.p))

    @cached_property
    def attribute(self) -> Mechanism:
        """A random function of the secret."""
        return self.kernel(len(self.p))

    @cached_property
    def chain(self) -> tuple[Case, Rows]:
        """A chain Z - X - Y with this mechanism: Z and X as a case, and the rows from X to Y."""
        return Case(law(self.rng, 3), rows(self.rng, 3, len(self.p), "zeros")), self.rows

    @cached_property
    def before(self) -> tuple[Joint, Joint]:
        """The joints of Z and Y, and of X and Y, of the `chain`."""
        start, onwards = self.chain
        x = Case(start.marginal, onwards).joint
        return start.prior * (self.mechanism @ start.mechanism), x

    @cached_property
    def second(self) -> list[Mechanism]:
        """A second mechanism for each first outcome: an adaptive release."""
        return [self.kernel(len(self.p), 2, "zeros") for _ in self.rows[0]]

    @cached_property
    def composed(self) -> Joint:
        """The joint of the secret and both outcomes, the second chosen by the first."""
        return self.prior * self.mechanism.then(lambda y: self.second[int(y)])

    @cached_property
    def delta(self) -> Fraction:
        """A probability strictly between 0 and 1."""
        return Fraction(int(self.rng.integers(1, 20)), 20)

    @cached_property
    def level(self) -> Fraction:
        """A ratio e^level above 1."""
        return 1 + Fraction(int(self.rng.integers(1, 12)), 8)

    def table(self, columns: int = 3, top: int = 5) -> list[list[int]]:
        """Return a random table of gains or costs: a row for each secret."""
        return self.rng.integers(0, top, (len(self.p), columns)).tolist()

    def priced(self) -> list[list[int]]:
        """Return a random table, with zeros, in which no action is free or worth nothing."""
        table = self.table()
        nothing = any(not any(column) for column in zip(*table, strict=True))
        return [[v + nothing for v in row] for row in table]

    def towards(self, share: Fraction) -> Case:
        """Return the case with a mechanism that ignores the secret with probability 1 - share."""
        mixed = [
            [share * v + (1 - share) * q for v, q in zip(row, self.marginal, strict=True)]
            for row in self.rows
        ]
        return Case(self.p, mixed, self.seed)

    def __repr__(self) -> str:
        """Show the prior and the rows, as one would write them down."""
        shown = "; ".join(_shown(row) for row in self.rows)
        return f"prior {_shown(self.p)}, mechanism [{shown}]"


def _shown(numbers: Law) -> str:
    return "(" + ", ".join(map(str, numbers)) + ")"


@dataclass(frozen=True)
class Cases:
    """A deterministic sequence of random cases.

    Attributes
    ----------
    count : int
        How many.
    styles : sequence of str
        Styles of the rows of the mechanism, in turn.
    private : bool
        Whether mechanisms are mixed with noise, as far as their PML is below
        log 1/(1 - p_min) (the high-privacy regime).
    sizes : tuple of int
        Fewest and most secrets, and outcomes.
    outcomes : tuple of int or None
        Fewest and most outcomes, where they are not as secrets are.
    starts : int
        From how many of the cases a search by optimisation starts: those whose inequalities are
        nearest to equality, and not equalities.
    """

    count: int = 60
    styles: Sequence[str] = ("plain", "zeros", "plain", "ties")
    private: bool = False
    sizes: tuple[int, int] = (2, 4)
    outcomes: tuple[int, int] | None = None
    starts: int = 2

    def __iter__(self) -> Iterator[Case]:
        """Yield the cases, the same ones whenever asked."""
        for i in range(self.count):
            yield self.draw(i)

    def draw(self, *seed: int) -> Case:
        """Return the case of a seed."""
        rng = np.random.default_rng(seed)
        least, most = zip(self.sizes, self.outcomes or self.sizes, strict=True)
        n, m = (int(v) for v in rng.integers(least, [v + 1 for v in most]))
        style = self.styles[seed[-1] % len(self.styles)]
        case = Case(law(rng, n), rows(rng, n, m, style), seed)
        return self._mixed(case, Fraction(int(rng.integers(1, 10)), 10))

    def _mixed(self, case: Case, share: Fraction) -> Case:
        """Return a case with noise where high privacy asks for it: e^PML - 1 is below a line."""
        if not self.private:
            return case
        top = max(case.density(x, y) for x in case.secrets for y in case.outcomes)
        room = case.least / (1 - case.least)
        return case if top - 1 < room else case.towards(share * room / (top - 1))

    def search(self, start: Case, distance: Callable[[Case], float]) -> None:
        """Move a case, its zeros kept, so that a distance falls: the simplex of Nelder and Mead.

        Parameters
        ----------
        start : Case
            Where it starts from; its further draws stay those of its seed.
        distance : callable
            How far a case is from failing; -inf ends the search.
        """
        from scipy.optimize import minimize

        laws = [start.p, *start.rows]
        lengths = np.cumsum([len(one) for one in laws])
        ended = False

        def of(x: Any) -> float:
            nonlocal ended
            if ended:
                return -np.inf
            parts = np.split(x, lengths[:-1])
            p, *kernel = (_moved(one, part) for one, part in zip(laws, parts, strict=True))
            found = distance(self._mixed(Case(p, kernel, start.seed), Fraction(9, 10)))
            ended = found == -np.inf
            return found

        corners = np.vstack([np.zeros(lengths[-1]), np.eye(lengths[-1])])
        how = {"maxfev": EVALUATIONS, "initial_simplex": corners}
        minimize(of, corners[0], method="Nelder-Mead", options=how)

    def __str__(self) -> str:
        """Say how many, and of what."""
        return f"{self.count} random joints" + (" of high privacy" if self.private else "")


def _moved(one: Law, x: Any) -> Law:
    """Return a law whose weights are multiplied by e^x, rounded; none becomes 0."""
    factors = np.exp(np.clip(x, -20, 20))
    weights = [
        max(1, round(FINE * float(v) * factor)) if v else 0
        for v, factor in zip(one, factors, strict=True)
    ]
    return [Fraction(w, sum(weights)) for w in weights]


JOINTS = Cases()
POSITIVE = Cases(styles=("plain", "ties"))
PRIVATE = Cases(private=True)
