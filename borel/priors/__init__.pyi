# The public names, each written once: see the stub of borel.
# No module bears a public name, or a lazy name would turn into the module.

from .constructors import bernoulli as bernoulli
from .constructors import box as box
from .constructors import chi_square_ball as chi_square_ball
from .constructors import contamination as contamination
from .constructors import family as family
from .constructors import from_counts as from_counts
from .constructors import full_support as full_support
from .constructors import hull as hull
from .constructors import interior as interior
from .constructors import intersection as intersection
from .constructors import kl_ball as kl_ball
from .constructors import l1_ball as l1_ball
from .constructors import moment as moment
from .constructors import polytope as polytope
from .constructors import product as product
from .constructors import tv_ball as tv_ball
from .constructors import union as union
from .constructors import wasserstein_ball as wasserstein_ball
from .elicited import from_preliz as from_preliz
from .hyperpriors import power_scaling as power_scaling
from .hyperpriors import sensitivity as sensitivity
from .model_averages import stack as stack
from .posteriors import PosteriorPriors as PosteriorPriors
from .posteriors import each_group as each_group
from .posteriors import from_posterior as from_posterior
from .predictive_draws import predictive as predictive
from .random_bound import RandomBound as RandomBound
from .sets import PriorSet as PriorSet
