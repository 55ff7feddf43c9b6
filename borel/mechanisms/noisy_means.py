"""Laplace and Gaussian noise on the mean or the sum of the entries of a database."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from borel.errors import InvalidInput
from borel.mechanisms.closed_forms import positive
from borel.mechanisms.counting import entries
from borel.mechanisms.noise import gaussian, laplace
from borel.mechanisms.parameter_arrays import over_arrays
from borel.probability.alphabets import Reals
from borel.probability.mechanism import Mechanism
from borel.probability.wrong_calls import explained


@over_arrays
@explained(scale="b is the scale: laplace_mean(n=12, b=...).")
def laplace_mean(*, n: int, b: Any, of: str = "mean") -> NoisyMean:
    r"""Release the mean, or the sum, of n numbers with Laplace noise.

    .. math:: Y \mid (x_1, \dots, x_n) \sim \mathrm{Lap}\Big(\frac{x_1 + \dots + x_n}{n}, b\Big)

    Parameters
    ----------
    n : int
        Number of entries of the database, at least 1.
    b : float or DataArray
        Scale of the noise, > 0, in units of what is released; a float means its binary64 value.
    of : {"mean", "sum"}
        What the noise is added to.

    Returns
    -------
    NoisyMean
        A mechanism about the mean or the sum, which is all that it sees of a database;
        ``bl.iid(prior, n) * mech`` is the joint over databases, and `bl.entry` of it what leaks
        about one entry. A `MechanismFamily` when ``b`` is a DataArray.

    Raises
    ------
    InvalidInput
        ``n`` not an integer >= 1, ``b`` <= 0 or NaN, another ``of``.

    Notes
    -----
    For entries in [c, d], with K the cumulant generating function of D - mu, the supremum of PMC
    about one entry is
    max{(mu - c)/(nb) + K(1/(nb)), (d - mu)/(nb) + K(-1/(nb))}; proofs in
    `borel.databases.entry_means`. Samples are floats: do not release them where the last bits
    matter.

    References
    ----------
    "Information Density Bounds for Privacy", Example 6.

    Examples
    --------
    >>> import borel as bl
    >>> database = bl.iid(bl.uniform(bl.Interval(0, 1)), 12) * laplace_mean(n=12, b=0.25)
    >>> bl.pmc(bl.entry(database)).sup()
    Bound(0.1712920171, exact)
    """
    return NoisyMean("laplace", n, b, of)


@over_arrays
@explained
def gaussian_mean(*, n: int, sigma: Any, of: str = "mean") -> NoisyMean:
    r"""Release the mean, or the sum, of n numbers with Gaussian noise.

    .. math:: Y \mid (x_1, \dots, x_n) \sim
              \mathcal{N}\Big(\frac{x_1 + \dots + x_n}{n}, \sigma^2\Big)

    Parameters
    ----------
    n : int
        Number of entries of the database, at least 1.
    sigma : float or DataArray
        The standard deviation of the noise, > 0, in units of what is released.
    of : {"mean", "sum"}
        What the noise is added to.

    Returns
    -------
    NoisyMean
        See `laplace_mean`. About an entry of a continuous law the suprema of PML and of PMC are
        infinite, approached as the outcome grows.

    Raises
    ------
    InvalidInput
        ``n`` not an integer >= 1, ``sigma`` <= 0 or NaN, another ``of``.

    References
    ----------
    "Information Density Bounds for Privacy", Example 7, on the mean of n entries.

    Examples
    --------
    >>> import borel as bl
    >>> database = bl.iid(bl.uniform(bl.Interval(0, 1)), 12) * gaussian_mean(n=12, sigma=0.25)
    >>> bl.pmc(bl.entry(database)).sup()
    Bound(inf, exact)
    """
    return NoisyMean("gaussian", n, sigma, of)


class NoisyMean(Mechanism):
    """Noise on the mean or the sum of n numbers; made by `laplace_mean` and `gaussian_mean`.

    Attributes
    ----------
    noise : {"laplace", "gaussian"}
        Its kind.
    n : int
        Number of entries.
    scale : float
        The scale b, or the deviation sigma, in units of the outcome.
    unit : int
        What the sum is divided by: n for the mean, 1 for the sum.
    one : Mechanism
        The same noise on one number.
    """

    def __init__(self, noise: str, n: Any, scale: Any, of: Any):
        what = f"{noise}_mean"
        n = entries(what, n)
        parameter = "b" if noise == "laplace" else "sigma"
        scale = positive(what, parameter, scale)
        if not isinstance(of, str) or of not in ("mean", "sum"):
            raise InvalidInput(what, expected='of="mean" or of="sum"', got=repr(of))
        one = laplace(b=scale) if noise == "laplace" else gaussian(sigma=scale)
        super().__init__(
            None,
            secret=Reals(),
            outcome=Reals(),
            name=f'{what}(n={n}, {parameter}={scale:g}, of="{of}")',
        )
        self.noise, self.n, self.scale, self.of, self.one = noise, n, scale, of, one
        self.unit = n if of == "mean" else 1
        self.density, self.normalisation = one.density, one.normalisation
        self.cdf, self.survival, self.sampler = one.cdf, one.survival, one.sampler

    @property
    def sum_scale(self) -> Fraction:
        """The scale of the noise in units of the sum, exactly."""
        return self.unit * Fraction(self.scale)
