"""What is known of the prior: sets of priors, and posteriors over priors.

Names are looked up when first used (see the stub), so that ``import borel.priors`` stays light.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
