r"""Adversaries who attain PML or PMC: the constructions of the proofs, which verify themselves.

On a finite alphabet, with x* a secret that attains the leakage at y:

* PML, a function: U keeps x* whole and spreads the other secrets over n letters, n so large that
  each is at most as likely as x*. Guessing U, the best guess before y is worth P(x*), after it
  P(x*|y) (Theorem 1, whose shattering channel does it for all outcomes at once).
* PMC, a function: U spreads x* over k letters and keeps the others whole. A wrong guess of U has
  probability P(x*) before, P(x*|y) after, once k >= p/(1-p) for p = P(x*) and P(x*|y)
  (Theorem 2). Half of x* in one letter, and half of it with the others, does it with two letters.
* A gain, or a cost: 1[x = w] / P(x), for all outcomes at once.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from borel import settings
from borel.adversaries import costs, gains
from borel.adversaries.beliefs import Beliefs, require_joint
from borel.adversaries.comparison import compare
from borel.adversaries.randomised_functions import kernel, nominal, require_few, shattering
from borel.adversaries.region_witnesses import RegionWitness, region_witness
from borel.adversaries.threats import Cost, Gain
from borel.adversaries.vulnerabilities import cost_leakage, function_leakage, g_leakage
from borel.errors import InvalidInput, NotYet
from borel.figures.leakage import pmc, pml
from borel.probability.bound import Bound, Verdict
from borel.probability.joint import Joint
from borel.probability.mechanism import Mechanism

TOLERANCE = 1e-12
_VIEWS = {"pml": ("function", "gain", "shattering"), "pmc": ("function", "cost")}


@dataclass(frozen=True)
class Witness:
    """An adversary who attains PML or PMC at an outcome, or comes near it.

    Attributes
    ----------
    joint : Joint
        The joint law.
    y : label
        The outcome.
    of : {"pml", "pmc"}
        Which leakage is attained.
    function : Mechanism or None
        The randomised function U of the secret, where that is what the adversary guesses.
    gain, cost : Gain, Cost or None
        What the adversary wants, where that was asked for.
    x : label or None
        The secret that attains the leakage.

    Notes
    -----
    `leakage` and `verify` use nothing that the construction used: they read the joint and the
    function, gain or cost only.
    """

    joint: Joint
    y: Any
    of: str
    function: Mechanism | None = None
    gain: Gain | None = None
    cost: Cost | None = None
    x: Any = None

    def leakage(self) -> Bound:
        """Return what this adversary learns from y, computed from scratch, a Bound in nats."""
        if self.gain is not None:
            return g_leakage(self.joint, self.gain, self.y)
        if self.cost is not None:
            return cost_leakage(self.joint, self.cost, self.y)
        return function_leakage(self.joint, self.function, self.y, of=self.of)

    def target(self) -> Bound:
        """Return PML, or PMC, at y: what no adversary exceeds."""
        return (pml if self.of == "pml" else pmc)(self.joint)(self.y)

    @settings.one_figure()
    def verify(self, tolerance: float = TOLERANCE) -> Verdict:
        """Return whether the leakage is PML, or PMC, at y, to a tolerance.

        Parameters
        ----------
        tolerance : float
            In nats; 0 asks for equality, which is decided where all is rational.

        Returns
        -------
        Verdict
            Its Bound encloses the gap, PML (or PMC) minus the leakage of the witness, in nats.
        """
        if not tolerance >= 0:
            raise InvalidInput(
                "Witness.verify", expected="tolerance >= 0 (nats)", got=repr(tolerance)
            )
        return compare(self.target(), self.leakage(), tolerance)

    def __repr__(self) -> str:
        """Show what is attained, where, and by whom."""
        threat = self.gain or self.cost or self.function
        at = "" if self.x is None else f", x = {self.x!r}"
        return f"Witness({self.of} at y = {self.y!r}{at}: {threat!r})"


@settings.one_figure()
def witness(
    joint: Any,
    y: Any,
    *,
    of: str = "pml",
    as_: str | None = None,
    pieces: int | None = None,
    epsilon: float = 0.01,
    level: float | None = None,
) -> Witness | RegionWitness:
    r"""Return an adversary who attains PML, or PMC, at an outcome.

    Parameters
    ----------
    joint : Joint
        ``prior * mech``.
    y : label
        The outcome. At one of probability 0 both leakages are 0, and any adversary attains them.
    of : {"pml", "pmc"}
        Which leakage.
    as_ : {"function", "gain", "cost", "shattering"}, optional
        For finite alphabets. As a randomised function U of the secret (the default), whose guess is
        right (PML) or not wrong (PMC); as a gain (PML) or a cost (PMC), which attain it at all
        outcomes; ``"shattering"`` is the function that attains PML at all outcomes.
    pieces : int, optional
        For PMC as a function: into how many letters to break the attaining secret x, as the proof
        of Theorem 2 does. It is attained once pieces >= p/(1-p) for both p = P(x) and p = P(x|y).
        If not given, half of x is one letter: two letters attain PMC always.
    epsilon : float
        For other alphabets: how near to come, in nats.
    level : float, optional
        For other alphabets, where the leakage is infinite: what to exceed, in nats (10 if not
        given).

    Returns
    -------
    Witness or RegionWitness
        With ``leakage()`` and ``verify()``. On finite alphabets the leakage is attained. On others
        it is an event A about the secret: the gain, or cost, 1_A, and the function made of it, come
        within epsilon. Its figures have the status of the engine (certified, or an estimate).

    Raises
    ------
    InvalidInput
        Not a joint; other words for ``of`` or ``as_``; a function of more than 10 000 letters (PML
        needs 1 / P(x) of them); `OutsideAlphabet` for y.
    NotYet
        No event that comes within epsilon was found.

    References
    ----------
    "Pointwise Maximal Leakage", Theorems 1 and 2; "Information Density Bounds for Privacy",
    Theorems 2, 3 and 4.

    Examples
    --------
    >>> from fractions import Fraction as F
    >>> import borel as bl
    >>> mech = bl.Mechanism.from_matrix([[F(9, 10), F(1, 10)], [F(1), F(0)]])
    >>> joint = bl.pmf([F(1, 2), F(1, 2)]) * mech
    >>> found = witness(joint, 0, of="pmc")
    >>> found.function.matrix.tolist()[0]
    [Fraction(1, 2), Fraction(1, 2)]
    >>> found.leakage().ratio.lower, found.verify(0).holds
    (Fraction(19, 18), True)
    """
    require_joint(joint, "witness")
    if of not in _VIEWS:
        raise InvalidInput("witness", expected='of="pml" or of="pmc"', got=repr(of))
    if as_ is not None and as_ not in _VIEWS[of]:
        raise InvalidInput(
            "witness",
            expected=f"as_ one of {_VIEWS[of]} for {of}",
            got=repr(as_),
            mend="gains attain PML, costs attain PMC.",
        )
    if joint.finite:
        as_ = as_ or "function"
        _check_pieces(pieces, of, as_)
        return _finite(joint, y, of, as_, pieces)
    if joint.prior.over != "one prior":
        over = "sets of priors" if joint.prior.over == "set" else "posteriors over priors"
        raise NotYet("witness", missing=f"{over} here", instead="one prior at a time.")
    for given, name in ((as_, "as_"), (pieces, "pieces")):
        if given is not None:
            raise InvalidInput(
                "witness",
                expected=f"no {name} for {joint.secret!r} and {joint.outcome!r}",
                got=repr(given),
                mend="the event found is a gain, a cost and a function: see .gain, .function().",
            )
    return region_witness(joint, y, of, epsilon, level)


def _check_pieces(pieces: Any, of: str, as_: str) -> None:
    if pieces is None:
        return
    if of != "pmc" or as_ != "function":
        raise InvalidInput(
            "witness",
            expected='pieces for of="pmc", as_="function" only',
            got=f"of={of!r}, as_={as_!r}",
        )
    if isinstance(pieces, bool) or not isinstance(pieces, (int, np.integer)) or pieces < 1:
        raise InvalidInput("witness", expected="an integer pieces >= 1", got=repr(pieces))
    require_few(int(pieces) + 1, "witness")


def _finite(joint: Joint, y: Any, of: str, as_: str, pieces: int | None) -> Witness:
    beliefs = Beliefs(joint, "witness")
    column = beliefs.column(y)
    p, k = nominal(beliefs)
    y = beliefs.mechanism.outcome.labels[column]
    best = _attaining(p, k[:, column], of)
    x = beliefs.secrets.labels[best]
    if as_ == "gain":
        return Witness(joint, y, of, gain=gains.reciprocal(joint.prior), x=x)
    if as_ == "cost":
        return Witness(joint, y, of, cost=costs.reciprocal(joint.prior), x=x)
    if as_ == "shattering":
        return Witness(joint, y, of, function=shattering(joint.prior), x=x)
    if of == "pml":
        rest = sum(p, Fraction(0)) - p[best]
        n = math.ceil(rest / p[best])
        require_few(n + 1, "witness", 'as_="gain" attains it without a function.')
        alone = [Fraction(1), *[Fraction(0)] * n]
        others = [Fraction(0), *[Fraction(1, n)] * n] if n else alone
    else:
        n, kept = (1, Fraction(1, 2)) if pieces is None else (int(pieces), Fraction(0))
        alone = [kept, *[(1 - kept) / n] * n]
        others = [Fraction(1), *[Fraction(0)] * n]
    rows = [alone if i == best else others for i in range(len(p))]
    name = "x kept whole" if of == "pml" else "x broken up"
    return Witness(joint, y, of, function=kernel(beliefs.secrets, rows, name), x=x)


def _attaining(p: list[Fraction], column: Any, of: str) -> int:
    """Return where f(y|x) is largest (smallest, for PMC); the likeliest secret of several."""
    sign = 1 if of == "pml" else -1
    return max(range(len(p)), key=lambda i: (sign * column[i], p[i]))
