"""What the envelope plots show, as data: the envelope, its bounds and the profile over delta."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from borel import settings
from borel.errors import InvalidInput, NotYet
from borel.figures.envelopes import LeakageEnvelope, envelope
from borel.figures.leakage import pmc
from borel.figures.profiles import privacy_profile
from borel.probability.arrays import inner_probability
from borel.probability.bound import weakest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    import xarray as xr

    from borel.probability.bound import Bound
    from borel.probability.joint import Joint

LEVELS = tuple(Fraction(i, 50) for i in range(1, 50))
"""Where an envelope is drawn, if not said otherwise."""
_LDP_TOL = 1e-5
_FEWEST = 3
_SLOW = "on infinite alphabets it takes its time: bl.binary_envelope(joint)"


def envelope_curve(
    joint: Joint,
    deltas: Iterable[Any] | None = None,
    *,
    of: str = "pml",
    bounds: bool = True,
    ldp_curve: bool = True,
) -> xr.Dataset:
    r"""Return the envelope over delta beside its bounds and the (epsilon, delta)-LDP curve.

    Parameters
    ----------
    joint : Joint
        ``prior * mech``.
    deltas : sequence of numbers in (0, 1), optional
        Default 1/50 to 49/50, as many as `borel.options` ``budget`` (seconds) allows, three at
        least; levels that are given are all computed.
    of : {"pml", "pmc"}
        Which leakage.
    bounds : bool
        Whether to add the bounds: for PML ``quantile``, ``binary``, ``theorem_3`` and, for
        randomised response and a prior of positive Fractions, ``theorem_5_lower`` and
        ``theorem_5_upper``; for PMC ``quantile``, a lower bound too.
    ldp_curve : bool
        Whether to add ``ldp``, the smallest epsilon with (epsilon, delta)-LDP of the mechanism,
        enclosed to 2e-5 nats.

    Returns
    -------
    Dataset
        ``lower``, ``upper`` (nats) and ``status`` over ``curve`` and ``delta``, the curve
        ``envelope`` first. NaN and ``"none"`` where a theorem does not apply; the attribute
        ``left_out`` says which curves this version cannot compute, and why. The enclosure of a
        bound is of the value of the bound.

    Raises
    ------
    InvalidInput
        A joint or a delta that is not one.
    NotYet
        The envelope is not there for these alphabets.

    References
    ----------
    "Information Leakage Envelopes" (a draft), Figure 2.

    Examples
    --------
    >>> from fractions import Fraction as F
    >>> import borel as bl
    >>> joint = bl.pmf([F(1, 3)] * 3) * bl.mechanisms.randomized_response(k=3, ratio=2)
    >>> found = envelope_curve(joint, [F(1, 2)])
    >>> found.curve.values.tolist()
    ['envelope', 'quantile', 'binary', 'theorem_3', 'theorem_5_lower', 'theorem_5_upper', 'ldp']
    >>> bool((found.lower.sel(curve="theorem_5_lower") <= found.upper.sel(curve="envelope")).all())
    True
    """
    import xarray as xr

    what = "bl.plot_envelope"
    env = envelope(joint, of)
    if not isinstance(env, LeakageEnvelope):
        raise NotYet(what, missing="families of joints", instead="one member at a time.")
    levels = [inner_probability(what, "delta", d) for d in (LEVELS if deltas is None else deltas)]
    if not levels:
        raise InvalidInput(what, expected="some deltas", got="none")
    columns: dict[str, Callable[[Fraction], Bound | None]] = {"envelope": env}
    if bounds:
        columns |= _bounds(joint, of)
    if ldp_curve:
        columns["ldp"] = _Profile(joint)
    left_out: dict[str, str] = {}
    if columns.get("binary") and not joint.finite:
        del columns["binary"]
        left_out["binary"] = _SLOW
    found: dict[Fraction, dict[str, Bound | None]] = {}
    least = _FEWEST if deltas is None else len(levels)
    with settings.one_figure():
        for level in spread(levels):
            with settings.part(max(1, least - len(found))):
                found[level] = {}
                for k, (name, column) in enumerate(columns.items()):
                    with settings.part(len(columns) - k):
                        found[level][name] = _or_note(name, column, level, left_out)
            if settings.spent() and len(found) >= least:
                break
    kept = sorted(found)
    names = [n for n in columns if n not in left_out]

    def end(name: str) -> list[list[float]]:
        values = [[found[d][n] for d in kept] for n in names]
        return [[math.nan if b is None else getattr(b, name) for b in row] for row in values]

    statuses = [
        ["none" if b is None else b.status for b in (found[d][n] for d in kept)] for n in names
    ]
    over = ("curve", "delta")
    attrs = {
        "quantity": f"envelope of {of.upper()}",
        "kind": of,
        "status": weakest(statuses[0]),
        "units": "nats",
    }
    if left_out:
        attrs["left_out"] = "; ".join(f"{n}: {why}" for n, why in left_out.items())
    return xr.Dataset(
        {
            "lower": (over, end("lower"), {"units": "nats"}),
            "upper": (over, end("upper"), {"units": "nats"}),
            "status": (over, np.array(statuses, dtype=str)),
        },
        {"curve": names, "delta": [float(d) for d in kept]},
        attrs,
    )


def spread(levels: list[Fraction]) -> list[Fraction]:
    """Return sorted levels so that any first few of them are spread: ends, middle, quarters, ...

    Examples
    --------
    >>> spread([1, 2, 3, 4, 5])
    [1, 5, 3, 2, 4]
    """
    levels = sorted(set(levels))
    order = dict.fromkeys([0, len(levels) - 1])
    parts = 1
    while len(order) < len(levels):
        parts *= 2
        order |= dict.fromkeys(i * (len(levels) - 1) // parts for i in range(1, parts))
    return [levels[i] for i in order]


def _bounds(joint: Joint, of: str) -> dict[str, Callable[[Fraction], Bound | None]]:
    if of == "pmc":
        return {"quantile": lambda d: pmc(joint).quantile(1 - d, side="right")}
    from borel.figures.envelope_bounds import bound_columns

    return bound_columns(joint)


class _Profile:
    """The inverse of the privacy profile of the mechanism, made when it is first asked for."""

    def __init__(self, joint: Joint):
        self.joint, self.profile = joint, None

    def __call__(self, delta: Fraction) -> Bound:
        if self.profile is None:
            self.profile = privacy_profile(self.joint.mechanism)
        return self.profile.epsilon(delta, tol=_LDP_TOL)


def _or_note(name: str, column: Any, level: Fraction, left_out: dict[str, str]) -> Bound | None:
    """Compute a curve at a level; one that this version does not have is noted once, and left."""
    if name in left_out:
        return None
    try:
        return column(level)
    except NotYet as error:
        if name == "envelope":
            raise
        left_out[name] = str(error)
        return None
