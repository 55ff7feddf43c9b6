"""Oracles for densities: integrals and maxima by mpmath, with none of the closed forms."""

import mpmath as mp


def golden(f, low, high, steps=220):
    """Maximise a unimodal function on [low, high] by golden sections; ends included."""
    low, high = mp.mpf(low), mp.mpf(high)
    ends = [f(low), f(high)] if low > 0 or f is None else [f(high)]
    g = (mp.sqrt(5) - 1) / 2
    a, b = high - g * (high - low), low + g * (high - low)
    fa, fb = f(a), f(b)
    for _ in range(steps):
        if fa < fb:
            low, a, fa = a, b, fb
            b = low + g * (high - low)
            fb = f(b)
        else:
            high, b, fb = b, a, fa
            a = high - g * (high - low)
            fa = f(a)
    return max(fa, fb, *ends)


def holds(bound, truth):
    """Whether a Bound encloses the truth, at zero tolerance."""
    return bound.status == "exact" and mp.mpf(bound.lower) <= truth <= mp.mpf(bound.upper)
