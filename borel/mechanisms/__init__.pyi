# The public names, each written once: see the stub of borel.
# No module bears a public name, or a lazy name would turn into the module.

from .bounded_noise import censored_gaussian as censored_gaussian
from .bounded_noise import censored_laplace as censored_laplace
from .bounded_noise import truncated_gaussian as truncated_gaussian
from .bounded_noise import truncated_laplace as truncated_laplace
from .choices import exponential as exponential
from .choices import noisy_max as noisy_max
from .choices import permute_and_flip as permute_and_flip
from .copula import clayton as clayton
from .copulas import fgm as fgm
from .copulas import frank as frank
from .copulas import gaussian_copula as gaussian_copula
from .copulas import gumbel as gumbel
from .counting import counting_query as counting_query
from .deterministic import function as function
from .extremal import pml_extremal as pml_extremal
from .hadamard import hadamard_response as hadamard_response
from .hashing import local_hashing as local_hashing
from .heavy_tails import cauchy as cauchy
from .heavy_tails import student_t as student_t
from .integer_noise import discrete_gaussian as discrete_gaussian
from .integer_noise import discrete_laplace as discrete_laplace
from .integer_noise import geometric as geometric
from .noise import gaussian as gaussian
from .noise import laplace as laplace
from .noisy_means import gaussian_mean as gaussian_mean
from .noisy_means import laplace_mean as laplace_mean
from .parameter_arrays import MechanismFamily as MechanismFamily
from .poisson_counts import poisson as poisson
from .resampling import countable as countable
from .response import randomized_response as randomized_response
from .short_noise import exponential_noise as exponential_noise
from .short_noise import uniform_noise as uniform_noise
from .staircases import staircase as staircase
from .subsets import subset_selection as subset_selection
from .unary import unary_encoding as unary_encoding
