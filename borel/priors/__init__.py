"""What is known of the prior: sets of priors, and posteriors over priors.

Names are looked up when first used (see the stub), so that ``import borel.priors`` stays light.
"""

import lazy_loader

from borel.errors import no_attribute

_public, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)


def __getattr__(name: str):
    if name in __all__:
        return _public(name)
    raise no_attribute(__name__, name, __all__)
