"""borel: how much a privacy mechanism leaks, on general alphabets and under uncertain priors.

Public names are listed in the stub beside this file; a submodule is imported when one of its names
is first used (PEP 562), so that ``import borel`` costs next to nothing.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
