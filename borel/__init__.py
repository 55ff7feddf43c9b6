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
    return _public(name)
