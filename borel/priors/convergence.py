"""Whether anything may be claimed from draws: R-hat and effective sample sizes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from borel import _compat

if TYPE_CHECKING:
    from collections.abc import Iterator

    import xarray as xr

REMEDY = (
    ". Remedy: more tuning and draws, more chains, or a better parametrisation; nothing is "
    "claimed from these draws"
)
RHAT_LIMIT = 1.01
ESS_LIMIT = 400
_HELD = 64_000_000
"""Bytes of a variable that are diagnosed at a time."""


def diagnose(draws: xr.DataArray, name: str) -> str:
    """Return what is wrong with draws (chain, draw, ...), or an empty string."""
    values = draws.values
    if np.isnan(values).any():
        return f"{name} has NaN draws"
    if draws.sizes["chain"] < 2:
        return f"{name}: one chain only, R-hat needs two or more"
    # diagnostics are of ranks: an infinity is only the largest value
    finite = values[np.isfinite(values)]
    if finite.size < values.size:
        cap = float(finite.max(initial=0.0)) * 2 + 1
        draws = draws.copy(data=np.clip(values, -cap, cap))
    spread = draws.max(("chain", "draw")) - draws.min(("chain", "draw"))
    moving = spread.values > 0
    if not moving.any():
        return ""  # a constant has converged
    rhat = np.where(moving, _compat.rhat(draws).values, 1.0)
    bulk = np.where(moving, _compat.ess_bulk(draws).values, np.inf)
    tail = np.where(moving, _compat.ess_tail(draws).values, np.inf)
    problems = []
    if not np.nanmax(rhat) <= RHAT_LIMIT or np.isnan(rhat).any():
        problems.append(f"R-hat {np.max(rhat):.3f} > {RHAT_LIMIT}")
    for label, ess in (("bulk", bulk), ("tail", tail)):
        if not np.min(ess) >= ESS_LIMIT:
            problems.append(f"{label} ESS {np.min(ess):.0f} < {ESS_LIMIT}")
    return f"{name}: " + ", ".join(problems) if problems else ""


def trouble_of(posterior: xr.Dataset) -> str:
    """Return why nothing may be claimed from the variables of a posterior, or an empty string."""
    worst, moves, seen = [], False, False
    for name, variable in posterior.data_vars.items():
        if not {"chain", "draw"} <= set(variable.dims):
            continue
        seen = True
        if variable.dtype.kind not in "fiu":
            continue
        for part in _parts(variable):
            part = part.transpose("chain", "draw", ...).load()
            moves = moves or bool(np.any(part.values != part.values[:1, :1]))
            if found := diagnose(part, str(name)):
                worst.append(found)
                break
    if seen and not moves:
        return "no parameter moves: all draws are the same" + REMEDY
    if not worst:
        return ""
    shown = "; ".join(worst[:2]) + (f"; and {len(worst) - 2} more" if len(worst) > 2 else "")
    return shown + REMEDY


def _parts(variable: xr.DataArray) -> Iterator[xr.DataArray]:
    """Yield a variable in parts that hold all draws of some components, and fit into memory."""
    rest = [d for d in variable.dims if d not in ("chain", "draw")]
    if not rest or variable.nbytes <= _HELD:
        yield variable.copy(deep=False)
        return
    dim = max(rest, key=lambda d: variable.sizes[d])
    size = variable.sizes[dim]
    step = max(1, size * _HELD // variable.nbytes)
    for start in range(0, size, step):
        part = variable.isel({dim: slice(start, start + step)})
        if part.nbytes > _HELD and len(rest) > 1 and part.sizes[dim] == 1:
            yield from _parts(part.squeeze(dim, drop=True))
        else:
            yield part
