"""The mechanisms of the papers, each with its closed forms and their theorems.

Names are looked up when first used (see the stub), so that ``import borel`` stays light.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
