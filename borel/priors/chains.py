"""Posterior draws read in blocks: chain after chain, and only what is asked for.

Draws in memory are not copied if they are many; draws on disk (dask, zarr) come a slab at a time,
cut where their chunks are.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from borel.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Iterator

    import xarray as xr

_COPIED = 32_000_000
"""Bytes of a variable that are copied, so that later changes of the data change nothing."""
_SLAB = 32_000_000
"""Bytes of a variable that are read from disk at a time."""


class Chains:
    """The draws of a posterior, with chain and draw in one axis, read in blocks."""

    def __init__(self, posterior: xr.Dataset):
        self.variables = {
            str(name): variable.transpose("chain", "draw", ...)
            for name, variable in posterior.data_vars.items()
            if {"chain", "draw"} <= set(variable.dims)
        }
        self.length = posterior.sizes["draw"]
        self.read: set[str] = set()  # the variables that a build has asked for
        self._flat: dict[str, np.ndarray] = {}
        self._slabs: dict[str, tuple[int, int, np.ndarray]] = {}

    def block(self, start: int, stop: int) -> Draw:
        """Return the draws start, ..., stop - 1 by name; each variable is read when asked for."""
        return Draw(self, start, stop)

    def labelled(self, name: str, start: int, stop: int) -> xr.DataArray:
        """Return a variable over some draws, its first dimension ``sample``."""
        import xarray as xr

        variable = self.variables[name]
        rest = variable.dims[2:]
        coords = {d: variable.coords[d].variable for d in rest if d in variable.coords}
        return xr.DataArray(self._read(name, start, stop), dims=("sample", *rest), coords=coords)

    def _read(self, name: str, start: int, stop: int) -> np.ndarray:
        variable = self.variables[name]
        if name in self._flat or variable.variable._in_memory:
            return self._in_memory(name, variable)[start:stop]
        parts = []
        while start < stop:
            begin, end, values = self._slab(name, variable, start)
            take = min(stop, end)
            parts.append(values[start - begin : take - begin])
            start = take
        values = parts[0] if len(parts) == 1 else np.concatenate(parts)
        values.setflags(write=False)
        return values

    def _in_memory(self, name: str, variable: xr.DataArray) -> np.ndarray:
        if name not in self._flat:
            values = variable.values
            flat = values.reshape(-1, *values.shape[2:])
            flat = np.array(flat) if flat.nbytes <= _COPIED else flat.view()
            flat.setflags(write=False)
            self._flat[name] = flat
        return self._flat[name]

    def _slab(self, name: str, variable: xr.DataArray, place: int) -> tuple[int, int, np.ndarray]:
        """Return the first and last draw and the values of the slab that holds a draw."""
        kept = self._slabs.get(name)
        if kept is None or not kept[0] <= place < kept[1]:
            chain, draw = divmod(place, self.length)
            each = max(1, variable.nbytes // max(1, variable.sizes["chain"] * self.length))
            most = max(1, _SLAB // each)
            edges = np.cumsum(variable.chunks[1]) if variable.chunks else [self.length]
            edge = next(int(e) for e in edges if e > draw)
            whole = [int(e) for e in edges if edge <= e <= draw + most]
            stop = min(max([edge, *whole]), draw + most, self.length)
            values = np.array(variable.isel(chain=chain, draw=slice(draw, stop)).values)
            values.setflags(write=False)
            kept = (chain * self.length + draw, chain * self.length + stop, values)
            self._slabs[name] = kept
        return kept


class Draw(Mapping):
    """The variables of a block of draws by name; a missing name is an error that says so."""

    def __init__(self, chains: Chains, start: int, stop: int):
        self._chains, self._start, self._stop = chains, start, stop
        self._chosen: dict[str, Any] = {}

    def __getitem__(self, name: Any) -> xr.DataArray:
        """Return a variable, its first dimension the draws of the block."""
        if name not in self._chains.variables:
            raise InvalidInput(
                "from_posterior",
                expected=f"one of the variables {sorted(self._chains.variables)}",
                got=repr(name),
                mend="build gets the posterior's variables by name.",
            )
        self._chains.read.add(name)
        if name not in self._chosen:
            self._chosen[name] = self._chains.labelled(name, self._start, self._stop)
        return self._chosen[name]

    def __contains__(self, name: object) -> bool:
        """Return whether the posterior has the variable."""
        return name in self._chains.variables

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names."""
        return iter(self._chains.variables)

    def __len__(self) -> int:
        """Count the variables."""
        return len(self._chains.variables)
