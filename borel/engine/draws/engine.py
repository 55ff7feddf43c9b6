"""What engines of random priors are asked: the figure of every draw."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from borel.engine.draws.parts import PerDraw
from borel.engine.problem.engine import Figures
from borel.errors import NotYet

if TYPE_CHECKING:
    from borel.probability.bound import Bound


class DrawsEngine(Figures[PerDraw]):
    """An engine of figures of a random prior: one for each draw."""

    def not_yet(self, name: str) -> NotYet:
        """Return the error that says that a measure is not computed for draws here."""
        return NotYet(
            f"bl.{name} over a posterior of priors",
            missing=f"this measure over draws on {self.joint.secret!r} and {self.joint.outcome!r}",
            instead="finite alphabets; or one prior, learnt.mean_prior() * mech.",
        )

    def at_many(self, kind: str, ys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Enclose the leakage at outcomes for every draw, shape (draws, outcomes) each."""
        raise self.not_yet("at_many")

    def of_support(self, name: str) -> Bound | None:
        """Return a figure that depends on the support alone, if all draws are seen to share it."""
        return None

    # -- the law over outcomes of each draw -------------------------------------------------------

    def _no_law(self) -> NotYet:
        return NotYet(
            "the law of the leakage over a posterior",
            missing=f"draws of a prior on {self.joint.secret!r} with outcomes "
            f"{self.joint.outcome!r}",
            instead=".sup().cdf(t), or the law under one prior.",
        )

    def tail(self, kind: str, t: Any, closed: bool) -> PerDraw:
        """Return P{leakage > t}, or P{leakage >= t} if closed, for every draw."""
        raise self._no_law()

    def quantile(self, kind: str, s: Any, side: str) -> PerDraw:
        """Return the quantile of the leakage at level s for every draw."""
        raise self._no_law()

    def mean(self, kind: str) -> PerDraw:
        """Return the mean of the leakage for every draw."""
        raise self._no_law()

    def exp_mean(self, kind: str) -> PerDraw:
        """Return the mean of e^leakage for every draw."""
        raise self._no_law()

    def pooled_quantiles(
        self, kind: str, low_level: float, high_level: float, top: float
    ) -> tuple[float, float]:
        """Return ends of quantiles of the leakage over draws and outcomes together."""
        raise self._no_law()
