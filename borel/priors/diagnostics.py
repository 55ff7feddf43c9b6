"""Whether anything may be claimed from draws: R-hat and effective sample sizes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from borel import _compat

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

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
    values = numbers_of(draws.values)
    if np.isnan(values).any():
        return f"{name} has NaN draws"
    if draws.sizes["chain"] < 2:
        return f"{name}: one chain only, R-hat needs two or more"
    # diagnostics are of ranks: an infinity is only the largest value
    finite = np.isfinite(values)
    if not finite.all():
        cap = float(np.abs(values[finite]).max(initial=0.0)) * 2 + 1
        values = np.clip(values, -cap, cap)
    found = convergence(values)
    if found is None:
        return ""  # a constant has converged
    rhat, bulk, tail = found
    problems = []
    if not rhat <= RHAT_LIMIT:
        problems.append(f"R-hat {rhat:.3f} > {RHAT_LIMIT}")
    for label, ess in {"bulk": bulk, "tail": tail}.items():
        if not ess >= ESS_LIMIT:
            problems.append(f"{label} ESS {ess:.0f} < {ESS_LIMIT}")
    return f"{name}: " + ", ".join(problems) if problems else ""


def convergence(values: np.ndarray) -> tuple[float, float, float] | None:
    """Return the worst R-hat, bulk and tail ESS of finite draws (chain, draw, ...).

    None if nothing moves.
    """
    import xarray as xr

    entries = values.reshape(*values.shape[:2], -1)
    moving = entries.max(axis=(0, 1)) > entries.min(axis=(0, 1))
    if not moving.any():
        return None
    moved = xr.DataArray(entries[..., moving], dims=("chain", "draw", "entry"))
    with np.errstate(all="ignore"):  # chains that stay where they began: their variance is 0
        rhat, bulk, tail = (f(moved) for f in (_compat.rhat, _compat.ess_bulk, _compat.ess_tail))
    return float(np.max(rhat)), float(np.min(bulk)), float(np.min(tail))


def numbers_of(values: np.ndarray) -> np.ndarray:
    """Return draws as floats; what is no number, as its place in order: it has to mix too."""
    if values.dtype.kind in "fiub":
        return values.astype(float)
    _, codes = np.unique(values.astype(str), return_inverse=True)
    return codes.reshape(values.shape).astype(float)


def trouble_of(variables: Mapping[str, xr.DataArray], names: Iterable[str]) -> str:
    """Return why nothing may be claimed from some variables of a posterior, or an empty string.

    Parameters
    ----------
    variables : mapping from str to DataArray, dims (chain, draw, ...)
        The variables of the posterior.
    names : iterable of str
        Those that matter.
    """
    worst, moves, seen = [], False, False
    for name in sorted(names):
        seen = True
        for part in parts_of(variables[name]):
            part = part.transpose("chain", "draw", ...).load()
            moves = moves or bool(np.any(part.values != part.values[:1, :1]))
            if found := diagnose(part, name):
                worst.append(found)
                break
    if seen and not moves:
        return "no parameter moves: all draws are the same" + REMEDY
    if not worst:
        return ""
    shown = "; ".join(worst[:2]) + (f"; and {len(worst) - 2} more" if len(worst) > 2 else "")
    return shown + REMEDY


def parts_of(variable: xr.DataArray) -> Iterator[xr.DataArray]:
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
            yield from parts_of(part.squeeze(dim, drop=True))
        else:
            yield part
