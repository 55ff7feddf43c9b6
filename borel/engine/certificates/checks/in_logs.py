"""Check certificates by the logarithms of a kernel's factors, where its value is not known.

What is to be proved is as in `check`, leaf by leaf. But a kernel such as 1 / (1 + e^-x) has a
factor without bound, which is no power of t: its value is not enclosed along a half-line, while the
logarithm is, factor by factor.
"""

from __future__ import annotations

from contextlib import suppress

from borel.engine.certificates.checks.rays import _gap, _run
from borel.engine.certificates.checks.tails import log_along
from borel.engine.certificates.checks.verifier import Report, _Checker, check


class _InLogs(_Checker):
    """A certificate under check."""

    def along(self, log, x, y):
        """Return f(y|x), or its logarithm, along rays."""
        found = super().along(log, x, y)
        if not all(ball.is_finite() for ball in found.terms.values()):
            with suppress(ValueError, ZeroDivisionError, KeyError):
                by_factors = log_along(self.f, x, y)
                return by_factors if log else by_factors.exp()
        return found

    def charged(self, x):
        """Return whether p > 0 along a ray of secrets: for almost every t, or log p is finite."""
        if super().charged(x):
            return True
        low, high = x.bounds()
        inside = self.ends[0] <= low and high <= self.ends[1]
        with suppress(ValueError, ZeroDivisionError, KeyError):
            if inside and _run(self.p, False, x).signs() == (1,):
                return True
        with suppress(ValueError, ZeroDivisionError, KeyError):
            return inside and all(b.is_finite() for b in log_along(self.p, x).terms.values())
        return False

    def margin(self, side, level, x, y):
        """Bound side (f - e^level) from below along rays; far out, side (log f - level)."""
        found = super().margin(side, level, x, y)
        if not found >= 0 and x.fold()[0] < 0:
            with suppress(ValueError, ZeroDivisionError, KeyError):
                return (_gap(log_along(self.f, x, y), level) * side).bounds()[0]
        return found


def check_in_logs(certificate: dict | str) -> Report:
    """Verify a certificate of a figure at one outcome, or of an infinity."""
    return check(certificate, _InLogs)
