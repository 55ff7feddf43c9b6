"""What a study is, as digests: the key by which a resumed audit knows what has changed."""

from __future__ import annotations

import hashlib
import platform
from fractions import Fraction
from functools import partial
from types import CodeType, FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from borel.probability.alphabets import Finite
from borel.probability.density import Density

if TYPE_CHECKING:
    import xarray as xr

    from borel.audits.study import Study
    from borel.probability.measure import Measure
    from borel.probability.mechanism import Mechanism

PARTS = {
    "mechanism": "the mechanism (its matrix or graph, and its alphabets)",
    "prior": "the prior",
    "draws": "the posterior draws",
    "attributes": "the attributes",
    "options": "the options or the seed",
    "certificates": "whether certificates are made",
    "version": "the version of borel or of Python",
}
"""The parts of a key, and what to call them in a message."""


def study_key(
    study: Study, draws: xr.DataTree | None, *, certificates: bool = False
) -> dict[str, str]:
    """Return the digests of all that the figures of a study depend on.

    Parameters
    ----------
    study : Study
        The study.
    draws : DataTree or None
        What its prior function returned, if its prior is a function.
    certificates : bool
        Whether figures carry certificates.

    Returns
    -------
    dict
        A digest for each of `PARTS`. The list of figures asked for is not among them: a figure
        that is there already stays good when another is asked for.
    """
    from borel import settings
    from borel._version import __version__

    return {
        "mechanism": _mechanism(study.mechanism),
        "prior": prior_key(study),
        "draws": "" if draws is None else _dataset(draws["posterior"].to_dataset()),
        **({"attributes": _attributes(study)} if study.attributes else {}),
        "options": digest(repr(settings.current())),
        **({"certificates": "made where a rule exists"} if certificates else {}),
        "version": f"borel {__version__}, Python {platform.python_version()}",
    }


def prior_key(study: Study) -> str:
    """Return the digest of a prior: of its data, or of the function (and seed) that samples it."""
    if callable(study.prior):
        return digest(function_key(study.prior), function_key(study.build), study.seed)
    posterior = getattr(study.prior, "posterior", None)
    if posterior is not None:
        return digest(_dataset(posterior), function_key(study.prior.build))
    return _prior_data(study.prior)


def _attributes(study: Study) -> str:
    from borel.probability.mechanism import Mechanism

    parts = []
    for name, attribute in study.attributes.items():
        if isinstance(attribute, Mechanism):
            parts.append((name, _mechanism(attribute)))
        elif callable(attribute):
            parts.append((name, function_key(attribute)))
        else:
            parts.append((name, _visible(attribute, frozenset())))
    return digest(*parts)


def changed(old: dict[str, str], new: dict[str, str]) -> list[str]:
    """Return, in words, the parts of a key that differ."""
    return [words for part, words in PARTS.items() if old.get(part) != new.get(part)]


def digest(*parts: Any) -> str:
    """Return a SHA-256 digest of plain values and arrays, unambiguously joined."""
    found = hashlib.sha256()
    for part in parts:
        for piece in _pieces(part):
            found.update(len(piece).to_bytes(8, "little"))
            found.update(piece)
    return found.hexdigest()


def _pieces(value: Any) -> list[bytes]:
    if isinstance(value, np.ndarray) and value.dtype != object:
        head = f"{value.dtype.str}{value.shape}".encode()
        return [head, np.ascontiguousarray(value).tobytes()]
    if isinstance(value, np.ndarray):
        return [str(value.shape).encode(), *(p for v in value.ravel().tolist() for p in _pieces(v))]
    return [f"{type(value).__name__}:{value!r}".encode()]


def _density(density: Density | None) -> str:
    if density is None:
        return ""
    if density.graph is not None:
        return digest(density.graph.to_json(), density.log)
    return digest(function_key(density.function), sorted(density.parameters.items()), density.log)


def _mechanism(mechanism: Mechanism) -> str:
    matrix = mechanism.matrix if mechanism.finite else np.zeros(0)
    masses = [(atom, _density(mass)) for atom, mass in sorted(mechanism.masses.items())]
    alphabets = [_alphabet(a) for a in (mechanism.secret, mechanism.outcome)]
    forms = type(mechanism.closed_forms).__name__
    density, rounding = _density(mechanism.density), mechanism.rounding
    return digest(*alphabets, matrix, rounding, density, masses, mechanism.breaks, forms)


def _measure(measure: Measure) -> str:
    p = measure._probabilities
    return digest(
        _alphabet(measure.on),
        *((np.zeros(0), 0.0) if p is None else (p, measure.rounding)),
        _density(measure.density),
        sorted(measure.masses.items()),
        measure.breaks,
    )


_DERIVED = ("_reach", "_programs")
"""What sets of priors keep of what they computed."""


def _prior_data(value: Any) -> str:
    """Return the digest of a prior, of a set of priors, or of what such a set is made of."""
    from borel.databases.bits import BitDatabase
    from borel.priors.sets import PriorSet
    from borel.probability.alphabets import Alphabet
    from borel.probability.measure import Measure

    if isinstance(value, Measure):
        return _measure(value)
    if isinstance(value, Density):
        return _density(value)
    if isinstance(value, Alphabet):
        return _alphabet(value)
    if isinstance(value, (PriorSet, BitDatabase)):
        kept = sorted((k, v) for k, v in vars(value).items() if k not in _DERIVED)
        return digest(type(value).__name__, *(f"{k}:{_prior_data(v)}" for k, v in kept))
    if isinstance(value, (tuple, list)):
        return digest(type(value).__name__, *map(_prior_data, value))
    return function_key(value) if callable(value) else _visible(value, frozenset())


def _alphabet(alphabet: Any) -> str:
    # the repr of a long list of labels is abridged
    return digest(*(a.labels if isinstance(a, Finite) else repr(a) for a in alphabet.factors))


def _dataset(dataset: xr.Dataset) -> str:
    parts: list[Any] = []
    for name in sorted(map(str, dataset.variables)):
        variable = dataset[name]
        values = variable.values
        if values.dtype.kind in "OUST":  # strings come back from a file as objects
            values = np.array([str(v) for v in values.ravel()], dtype=object)
        parts += [name, str(variable.dims), values]
    return digest(*parts, str(dataset.attrs.get("borel_draws", "")))


def function_key(function: Any, _seen: frozenset = frozenset()) -> str:
    """Return a digest of a function: its code, and the plain data and functions it can see.

    Notes
    -----
    Comments and names of files do not count. Data it reads when it runs (a file, a database) is
    not seen: after changing that, start without ``resume``.
    """
    function = getattr(function, "__func__", function)
    if not isinstance(function, FunctionType):
        inner = getattr(function, "func", None)  # functools.partial
        if inner is not None:
            seen = [_visible(v, _seen) for v in (*function.args, *function.keywords.items())]
            return digest(function_key(inner, _seen), *seen)
        return digest(f"{getattr(function, '__module__', '')}.{type(function).__qualname__}")
    if id(function) in _seen:
        return "recursion"
    _seen = _seen | {id(function)}
    parts: list[Any] = [_code(function.__code__)]
    for cell in function.__closure__ or ():
        try:
            parts.append(_visible(cell.cell_contents, _seen))
        except ValueError:  # an empty cell
            parts.append("empty")
    parts += [_visible(v, _seen) for v in function.__defaults__ or ()]
    parts += [_visible(v, _seen) for v in (function.__kwdefaults__ or {}).items()]
    for name in sorted(_names(function.__code__)):
        if name in function.__globals__:
            parts += [name, _visible(function.__globals__[name], _seen)]
    return digest(*parts)


def _code(code: CodeType) -> str:
    constants = [_code(c) if isinstance(c, CodeType) else repr(c) for c in code.co_consts]
    return digest(code.co_code.hex(), constants, code.co_names, code.co_varnames)


def _names(code: CodeType) -> set[str]:
    inner = [_names(c) for c in code.co_consts if isinstance(c, CodeType)]
    return set(code.co_names).union(*inner)


def _visible(value: Any, seen: frozenset) -> str:
    """Return a digest of a value that a function can see; of its type only, when it is not data."""
    if isinstance(value, (bool, int, float, complex, str, bytes, Fraction, type(None))):
        return digest(value)
    if isinstance(value, (tuple, list, set, frozenset)):
        items = sorted(value, key=repr) if isinstance(value, (set, frozenset)) else value
        return digest(type(value).__name__, *(_visible(v, seen) for v in items))
    if isinstance(value, dict):
        return digest(*(_visible(item, seen) for item in value.items()))
    if isinstance(value, (np.ndarray, np.generic)):
        return digest(np.asarray(value))
    if isinstance(value, ModuleType):
        return digest(value.__name__)
    if isinstance(value, (FunctionType, partial)):
        return function_key(value, seen)
    if isinstance(value, Density):
        return _density(value)
    if hasattr(value, "to_numpy"):  # pandas and xarray
        return digest(type(value).__name__, value.to_numpy())
    return digest(f"{type(value).__module__}.{type(value).__qualname__}")
