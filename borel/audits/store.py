"""Audits on disk: Bounds to and from an xarray.DataTree, without a bit lost, and read back."""

from __future__ import annotations

import enum
import json
import os
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from borel.audits.serialisation import from_plain, to_plain
from borel.errors import InvalidInput
from borel.probability.alphabets import in_words
from borel.probability.bound import Bound, Ratio

if TYPE_CHECKING:
    from collections.abc import Iterator

    import xarray as xr

    from borel.priors.random_bound import RandomBound

RESULT = "result.nc"
_NOTES = (
    "assumptions",
    "witness",
    "attained",
    "certificate",
    "units",
    "reason",
    "confidence",
    "exact_ratio",
    "truth_ends",
)


# -- one Bound ------------------------------------------------------------------------------


def pack(bound: Bound, **attrs: Any) -> xr.Dataset:
    """Return a Bound as a Dataset: ``lower``, ``upper``, ``status``; its notes as JSON."""
    import xarray as xr

    notes = {name: to_plain(getattr(bound, name)) for name in _NOTES}
    data = {
        "lower": ((), bound.lower, {"units": bound.units}),
        "upper": ((), bound.upper, {"units": bound.units}),
        "status": ((), bound.status),
    }
    return xr.Dataset(data, attrs={"bound": json.dumps(notes), **attrs})


def unpack(dataset: xr.Dataset) -> Bound:
    """Return the Bound that `pack` was given."""
    notes = {name: from_plain(v) for name, v in json.loads(dataset.attrs["bound"]).items()}
    if notes["exact_ratio"] is not None:
        notes["exact_ratio"] = Ratio(*notes["exact_ratio"])
    status = str(dataset["status"].item())
    if status == "statistical":  # of one saved without them it is not known which ends do
        notes.setdefault("truth_ends", ())
    return Bound(float(dataset["lower"]), float(dataset["upper"]), status, **notes)


def unpacked(name: str, dataset: xr.Dataset) -> Bound:
    """Return the Bound of a node of an audit, or say that its notes are not as they were."""
    try:
        return unpack(dataset)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise InvalidInput(
            "bl.load",
            expected=f"the notes of {name!r} as they were saved",
            got=f"{type(error).__name__}: {error}",
        ) from None


# -- many, on disk --------------------------------------------------------------------------


def write(tree: xr.DataTree, path: Path) -> None:
    """Write a DataTree in one step: the file is the old one, or the whole new one."""
    from borel import _compat

    handle, temporary = tempfile.mkstemp(suffix=".nc", dir=path.parent, prefix=".writing-")
    os.close(handle)
    try:
        _writable(_compat.for_netcdf(tree)).to_netcdf(temporary, engine="h5netcdf")
        os.chmod(temporary, 0o666 & ~_umask())  # mkstemp's files are their owner's alone
        os.replace(temporary, path)
    finally:
        if os.path.exists(temporary):
            os.unlink(temporary)


_PLAIN = "borel_plain"
"""The attribute of a variable whose values a file holds as JSON."""


def _writable(tree: xr.DataTree) -> xr.DataTree:
    """Return a tree with what a file cannot hold as JSON; the tree itself if it can hold all."""
    import xarray as xr

    nodes = {node.path: node.to_dataset(inherit=False) for node in tree.subtree}
    changed = {path: _writable_dataset(dataset) for path, dataset in nodes.items()}
    if all(changed[path] is nodes[path] for path in nodes):
        return tree
    return xr.DataTree.from_dict(changed)


def _writable_dataset(dataset: xr.Dataset) -> xr.Dataset:
    bad = {str(n) for n, variable in dataset.variables.items() if not _holds(variable)}
    attrs = [dataset.attrs, *(v.attrs for v in dataset.variables.values())]
    if not bad and all(_writable_attrs(each)[n] is v for each in attrs for n, v in each.items()):
        return dataset
    plain = {n: (dataset[n].dims, _texts(dataset[n].values), {_PLAIN: 1}) for n in bad}
    coords = {n: value for n, value in plain.items() if n in dataset.coords}
    found = dataset.drop_vars(list(plain)).assign_coords(coords)
    found = found.assign({n: value for n, value in plain.items() if n not in coords})
    found.attrs = _writable_attrs(dataset.attrs)
    for variable in found.variables.values():
        variable.attrs = _writable_attrs(variable.attrs)
    return found


def _holds(variable: xr.Variable) -> bool:
    """Return whether a file holds a variable as it is: numbers, times and clean text."""
    if not isinstance(variable.dtype, np.dtype) or variable.dtype.kind == "c":
        return False
    if variable.dtype.kind not in "UO":
        return True
    values = np.ravel(variable.values).tolist()
    if variable.dtype.kind == "O" and not all(
        isinstance(v, str) and not isinstance(v, enum.Enum) for v in values
    ):
        return False
    return all(in_words(v) == v for v in set(values))  # a status is that of thousands of draws


def _texts(values: Any) -> np.ndarray:
    values = np.asarray(values, dtype=object)
    out = np.empty(values.shape, dtype=object)
    for place in np.ndindex(values.shape):
        try:
            plain = to_plain(values[place])
        except InvalidInput:
            plain = {"__text__": str(values[place])}
        out[place] = json.dumps(plain)
    return out


def _writable_attrs(attrs: dict[Any, Any]) -> dict[Any, Any]:
    """Return attributes that a file holds: numbers, arrays and clean text as they are."""
    return {name: value if _is_attr(value) else in_words(value) for name, value in attrs.items()}


def _is_attr(value: Any) -> bool:
    if isinstance(value, (bool, str)):
        return isinstance(value, str) and in_words(value) == value
    return isinstance(value, (int, float, np.number, np.ndarray, list))


def _as_it_was(tree: xr.DataTree) -> xr.DataTree:
    """Return a tree that was read with the values again that the file holds as JSON."""
    for node in tree.subtree:
        names = [
            n for n, v in node.to_dataset(inherit=False).variables.items() if _PLAIN in v.attrs
        ]
        if names:
            dataset = node.to_dataset(inherit=False)
            for name in names:
                variable = dataset[name]
                out = np.empty(variable.shape, dtype=object)
                for place in np.ndindex(variable.shape):
                    out[place] = from_plain(json.loads(str(variable.values[place])))
                assign = dataset.assign_coords if name in dataset.coords else dataset.assign
                dataset = assign({name: (variable.dims, out)})
            node.dataset = dataset
    return tree


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def read(path: str | os.PathLike) -> xr.DataTree:
    """Read a ``.nc`` file whole.

    Raises
    ------
    InvalidInput
        No such file, or one that cannot be read.
    """
    from borel import _compat

    with _reading(path) as file:
        return _as_it_was(_compat.as_datatree(file))


def attributes(path: str | os.PathLike) -> dict[str, Any]:
    """Read what a ``.nc`` file says of itself, and no more of it; errors are those of `read`."""
    import xarray as xr

    with _reading(path) as file, xr.open_dataset(file, engine="h5netcdf") as root:
        return dict(root.attrs)


@contextmanager
def _reading(path: str | os.PathLike) -> Iterator[Path]:
    """Give the file of a path or folder, and turn what goes wrong into `InvalidInput`."""
    path = Path(path)
    if path.is_dir():
        path = path / RESULT
    try:
        yield path
    except FileNotFoundError:
        raise InvalidInput(
            "bl.load",
            expected="the result of an audit, a .nc file or its folder",
            got=f"no file {path}",
        ) from None
    except (OSError, TypeError, ValueError, KeyError) as error:
        raise InvalidInput(
            "bl.load",
            expected="a .nc file written by bl.audit",
            got=f"{path}, which cannot be read ({error})",
        ) from error


def writable(folder: str | os.PathLike) -> Path:
    """Make a folder if need be, and check that files can be written to it.

    Raises
    ------
    InvalidInput
        It cannot be made, or not written to; the message says why.
    """
    folder = Path(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=folder, prefix=".writable-"):
            pass
    except OSError as error:
        raise InvalidInput(
            "the output folder",
            expected="a folder that can be written to",
            got=f"{folder} ({error.strerror or error})",
            mend="give another with --output.",
        ) from error
    return folder


# -- random figures -------------------------------------------------------------------------


def pack_random(figure: RandomBound) -> xr.Dataset:
    """Return the draws of a random figure with all that `random_bound` needs."""
    about = {
        "name": figure.name,
        "exact_draws": figure.exact_draws,
        "trouble": figure.trouble,
        "assumptions": to_plain(figure.assumptions),
        "reason": figure.reason,
        "units": figure.units,
        "least": to_plain(figure.least),
        "most": to_plain(figure.most),
    }
    return figure.draws.assign_attrs(random=json.dumps(about))


def random_bound(draws: xr.Dataset) -> RandomBound:
    """Return the random figure that `pack_random` was given."""
    from borel.priors.random_bound import RandomBound

    about = json.loads(draws.attrs["random"])
    for note in ("assumptions", "least", "most"):
        if note in about:
            about[note] = from_plain(about[note])
    return RandomBound(draws, **about)
