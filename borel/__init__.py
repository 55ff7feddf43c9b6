"""borel: how much a privacy mechanism leaks, on general alphabets and under uncertain priors.

Public names are listed in the stub beside this file; a submodule is imported when one of its names
is first used (PEP 562), so that ``import borel`` costs next to nothing.
"""

from importlib import import_module

import lazy_loader

_public, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)


def __getattr__(name: str):
    # no joint imports an engine, as data goes one way: here both are known
    from borel.probability import outcome_density

    outcome_density.computed_by(lambda joint: import_module("borel.engine").engine_for(joint))
    if name not in __all__ and not name.startswith("_"):
        return _or_suggested(name)
    return _public(name)


def _or_suggested(name: str):
    """Say which public names are like one that is none; a submodule is left to be imported."""
    from difflib import get_close_matches
    from importlib.util import find_spec

    try:
        return _public(name)
    except AttributeError:
        if find_spec(f"borel.{name}") is not None:  # ``from borel import settings``
            raise
        inner = import_module("borel.guarantees").__all__
        lower = {known.lower(): known for known in __all__}
        near = [f"bl.guarantees.{name}"] * (name in inner)
        near += [f"bl.{lower[n]}" for n in get_close_matches(name.lower(), lower, n=2)]
        hint = f"; did you mean {' or '.join(near)}?" if near else ""
        raise AttributeError(f"module 'borel' has no attribute {name!r}{hint}") from None
