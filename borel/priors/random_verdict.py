"""What may be concluded of a guarantee that holds with some posterior probability."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from borel.constants import inside
from borel.probability.bound import STATUSES, Verdict

if TYPE_CHECKING:
    import xarray as xr

_RANK = (*STATUSES, "undecided")
_SHARE = 0.1
"""The share of what may fail that is left to the Monte Carlo error."""


@dataclass(frozen=True, repr=False)
class RandomVerdict(Verdict):
    """A verdict over a posterior: undecided as it stands, it answers at a confidence.

    ``bound`` is the posterior probability that the guarantee holds, a Bound. Where the guarantee
    holds under every prior, it is True without a confidence.
    """

    _of: Any = None

    @classmethod
    def of(
        cls, figure: Any, sure: xr.DataArray, possible: xr.DataArray, ask: str = ""
    ) -> RandomVerdict:
        """Make one from where, among the draws of a figure, the guarantee holds or may hold."""
        share = figure.probability(sure, possible)
        more = f"; ask {ask} or .at(confidence=...)" if ask else "; ask .at(confidence=...)"
        return cls(
            None,
            share,
            reason=f"it is random: it holds with posterior probability {share.enclosure}{more}",
            _of=(figure, sure, possible),
        )

    def __and__(self, other: RandomVerdict) -> RandomVerdict:
        """Return the verdict on both, of figures of the same draws."""
        if self.holds and other.holds:
            return max(self, other, key=lambda v: _RANK.index(v.bound.status))
        if self.holds or other.holds:
            sure, (figure, *where) = (self, other._of) if self.holds else (other, self._of)
            figure = copy.copy(figure)
            figure.assumptions = tuple(dict.fromkeys(figure.assumptions + sure.bound.assumptions))
            return RandomVerdict.of(figure, *where)
        first, second = self._of, other._of
        pair = first[0], second[0]
        # what is said of both is as weak as the weaker of the two
        figure = copy.copy(max(pair, key=lambda f: (bool(f.trouble), _RANK.index(f.status))))
        figure.assumptions = tuple(dict.fromkeys(pair[0].assumptions + pair[1].assumptions))
        figure.exact_draws = pair[0].exact_draws and pair[1].exact_draws
        return RandomVerdict.of(figure, first[1] & second[1], first[2] & second[2])

    def implied(self) -> RandomVerdict:
        """Return the verdict on what this one implies: that this fails does not refute it."""
        if self.holds:
            return self
        figure, sure, possible = self._of
        return RandomVerdict.of(figure, sure, possible | True)

    def at(self, *, confidence: float) -> Verdict:
        """Answer at a confidence: the posterior probability, less the Monte Carlo error.

        Parameters
        ----------
        confidence : float
            What the posterior probability that the guarantee holds must reach.

        Returns
        -------
        Verdict
            True if it holds with posterior probability ``confidence``, False if it fails with that
            probability, else undecided. A tenth of 1 - confidence is left to the Monte Carlo
            error: the posterior probability is at least ``1 - 0.9 (1 - confidence)``, itself known
            with confidence ``1 - 0.1 (1 - confidence)``, and the two add up. Undecided, with the
            reason, where the draws allow no claim.
        """
        confidence = inside("Verdict.at", "confidence", confidence)
        if self.holds:  # whatever the prior
            return Verdict(True, self.bound)
        figure, sure, possible = self._of
        allowed = 1 - confidence
        share = figure.probability(sure, possible, confidence=1 - _SHARE * allowed)
        if share.status == "undecided":
            return Verdict(None, share, reason=share.reason)
        if share.status == "estimate":
            return Verdict(None, share, reason="an estimate proves nothing")
        most = (1 - _SHARE) * allowed
        if 1 - share.lower <= most:
            return Verdict(True, share)
        if share.upper <= most:
            return Verdict(False, share)
        why = (
            f"its posterior probability, {share.enclosure}, settles neither that it holds nor "
            f"that it fails with confidence {confidence:g}"
        )
        return Verdict(None, share, reason=why)
