"""Named measures, with PyMC's names and supports: the density, one line beside its formula."""

from __future__ import annotations

import math
from functools import partial
from inspect import signature
from typing import TYPE_CHECKING, Any

import numpy as np

from borel.errors import InvalidInput, NotYet
from borel.probability.alphabets import (
    Alphabet,
    Finite,
    Integers,
    Interval,
    Mixed,
    Product,
    Reals,
    is_whole,
    require_listable,
)
from borel.probability.density import A_KDE
from borel.probability.measure import Measure, Tail, as_reals, pmf
from borel.probability.wrong_calls import explained

if TYPE_CHECKING:
    from collections.abc import Callable

_LOG_2PI = math.log(2 * math.pi)


def _family(
    name: str, on: Alphabet, density: Callable, tail: Tail | None = None, **parameters: Any
) -> Measure:
    """Make a named measure; parameters with axes (draws) make a batch of measures."""
    import scipy.special  # noqa: F401 - so that its ufuncs are known to the tracer

    values: dict[str, Any] = {}
    for key, value in parameters.items():
        array = as_reals(value, name, key)
        if not np.isfinite(array).all():
            raise InvalidInput(name, expected=f"a finite {key}", got=repr(value))
        if array.ndim == 0 and value != float(array):
            raise InvalidInput(
                name,
                expected=f"a {key} that float64 holds exactly",
                got=repr(value),
                mend=f"write float({value!r}) if the nearest float is meant.",
            )
        values[key] = array if array.ndim else float(array)
    shown = ", ".join(
        f"{k}={v:g}" if np.ndim(v) == 0 else f"{k}=<array>" for k, v in values.items()
    )
    out = Measure(
        density, on, log=True, params=values, tail=tail, name=f"{name}({shown})", _check=False
    )
    out.family = (name, values)
    return out


def _positive(name: str, **parameters: Any) -> None:
    for key, value in parameters.items():
        array = as_reals(value, name, key)
        if not (array > 0).all():
            raise InvalidInput(name, expected=f"{key} > 0", got=repr(value))


@explained(too_many="uniform(bl.Interval(0, 1)).")
def uniform(alphabet: Alphabet) -> Measure:
    """Make the uniform measure on a finite alphabet or a bounded interval, or a product of them.

    Examples
    --------
    >>> uniform(Interval(0, 2)).pdf(0.5)
    array(0.5)
    """
    if not isinstance(alphabet, Alphabet):
        raise InvalidInput("uniform", expected="an alphabet", got=repr(alphabet))
    if alphabet.kind == "finite":
        n = alphabet.size
        require_listable(n, "uniform")
        out = Measure(np.full(n, 1.0 / n), alphabet, name="uniform")
        out.family = ("uniform", {})
        return out
    if isinstance(alphabet, Product):
        out = uniform(alphabet.factors[0])
        for factor in alphabet.factors[1:]:
            out = out * uniform(factor)
        return out
    if isinstance(alphabet, Interval) and math.isfinite(alphabet.lower + alphabet.upper):
        level = 1.0 / (alphabet.upper - alphabet.lower)
        out = Measure(lambda x: np.full_like(x, level), alphabet, name="uniform", _check=False)
        out.family = ("uniform", {})
        return out
    raise InvalidInput(
        "uniform", expected="a finite alphabet or a bounded interval", got=repr(alphabet)
    )


@explained
def normal(*, mu: Any = 0.0, sigma: Any = 1.0) -> Measure:
    """Make the normal measure on the reals (scipy: ``norm(loc=mu, scale=sigma)``).

    Examples
    --------
    >>> normal(mu=0, sigma=2)
    Measure(normal(mu=0, sigma=2) on Reals())
    """
    _positive("normal", sigma=sigma)
    return _family(
        "normal",
        Reals(),
        lambda x, mu, sigma: -((x - mu) ** 2) / (2 * sigma**2) - np.log(sigma) - _LOG_2PI / 2,
        mu=mu,
        sigma=sigma,
    )


@explained
def laplace(*, mu: Any = 0.0, b: Any = 1.0) -> Measure:
    """Make the Laplace measure on the reals (scipy: ``laplace(loc=mu, scale=b)``)."""
    _positive("laplace", b=b)
    return _family(
        "laplace", Reals(), lambda x, mu, b: -np.abs(x - mu) / b - np.log(2 * b), mu=mu, b=b
    )


@explained
def cauchy(*, alpha: Any = 0.0, beta: Any = 1.0) -> Measure:
    """Make the Cauchy measure on the reals (scipy: ``cauchy(loc=alpha, scale=beta)``)."""
    _positive("cauchy", beta=beta)
    return _family(
        "cauchy",
        Reals(),
        lambda x, alpha, beta: -np.log(np.pi * beta) - np.log1p(((x - alpha) / beta) ** 2),
        alpha=alpha,
        beta=beta,
    )


@explained
def beta(*, alpha: Any = 1.0, beta: Any = 1.0) -> Measure:
    """Make the beta measure on (0, 1) (scipy: ``beta(a=alpha, b=beta)``).

    Examples
    --------
    >>> float(beta(alpha=2, beta=1).pdf(0.25))
    0.5
    """
    from scipy.special import betaln

    _positive("beta", alpha=alpha, beta=beta)
    return _family(
        "beta",
        Interval(0, 1),
        lambda x, alpha, beta: (
            (alpha - 1) * np.log(x) + (beta - 1) * np.log1p(-x) - betaln(alpha, beta)
        ),
        alpha=alpha,
        beta=beta,
    )


@explained
def gamma(*, alpha: Any = 1.0, beta: Any = 1.0) -> Measure:
    """Make the gamma measure on (0, inf) (scipy: ``gamma(a=alpha, scale=1 / beta)``)."""
    from scipy.special import gammaln

    _positive("gamma", alpha=alpha, beta=beta)
    return _family(
        "gamma",
        Interval(0, None),
        lambda x, alpha, beta: (
            alpha * np.log(beta) - gammaln(alpha) + (alpha - 1) * np.log(x) - beta * x
        ),
        alpha=alpha,
        beta=beta,
    )


@explained
def exponential(*, lam: Any = 1.0) -> Measure:
    """Make the exponential measure on (0, inf) (scipy: ``expon(scale=1 / lam)``)."""
    _positive("exponential", lam=lam)
    return _family("exponential", Interval(0, None), lambda x, lam: np.log(lam) - lam * x, lam=lam)


def _poisson_tail(mu: float, n: int) -> float:
    """Bound P(X > n) for a Poisson X."""
    from borel.numerics.balls.arithmetic import ball, enclose

    if n + 2 <= mu or n < 0:
        return 1.0

    def formula() -> Any:
        term = (ball(n + 1) * ball(mu).log() - ball(mu) - ball(n + 2).lgamma()).exp()
        return term / (1 - ball(mu) / (n + 2))

    return min(enclose(formula)[1], 1.0)


def _geometric_tail(p: float, n: int) -> float:
    """Bound P(X > n) for a geometric X."""
    from borel.numerics.balls.arithmetic import ball, enclose

    return 1.0 if n < 1 else min(enclose(lambda: (1 - ball(p)) ** n)[1], 1.0)


@explained
def poisson(*, mu: Any) -> Measure:
    """Make the Poisson measure on the non-negative integers (scipy: ``poisson(mu)``).

    Notes
    -----
    Tail: for n + 2 > mu the ratio of successive terms is at most mu / (n + 2), so that
    P(X > n) <= p(n + 1) / (1 - mu / (n + 2)).
    """
    from scipy.special import gammaln

    _positive("poisson", mu=mu)
    proof = "ratio test of Poisson terms"
    tail = Tail(partial(_poisson_tail, float(mu)), proof) if np.ndim(mu) == 0 else None
    return _family(
        "poisson",
        Integers(0, None),
        lambda x, mu: x * np.log(mu) - mu - gammaln(x + 1),
        tail,
        mu=mu,
    )


def _negative_binomial_tail(mu: float, alpha: float, n: int) -> float:
    """Bound P(X > n) for a negative binomial X."""
    from borel.numerics.balls.arithmetic import ball, enclose

    if n < 0:
        return 1.0
    m, a, k = ball(mu), ball(alpha), ball(n + 1)
    q = m / (m + a)
    ratio = q * ((k + a) / (k + 1)).max(1)
    if not ratio < 1:
        return 1.0

    def formula() -> Any:
        log_term = (
            (k + a).lgamma() - a.lgamma() - (k + 1).lgamma() + a * (a / (m + a)).log() + k * q.log()
        )
        return log_term.exp() / (1 - ratio)

    return min(enclose(formula)[1], 1.0)


@explained
def negative_binomial(*, mu: Any, alpha: Any) -> Measure:
    r"""Make the negative binomial measure on the non-negative integers.

    .. math:: p(x) = \binom{x + \alpha - 1}{x} (1 - q)^\alpha q^x, \qquad
              q = \frac{\mu}{\mu + \alpha}

    Parameters
    ----------
    mu : float or array_like
        The mean, > 0.
    alpha : float or array_like
        The shape, > 0; the variance is mu + mu**2 / alpha. In scipy:
        ``nbinom(n=alpha, p=alpha / (mu + alpha))``.

    Notes
    -----
    Tail: the ratio of successive terms, p(x + 1) / p(x) = q (x + alpha) / (x + 1), goes to q
    monotonically, so that beyond n + 1 it is at most r = q max(1, (n + 1 + alpha) / (n + 2)); where
    r < 1, P(X > n) <= p(n + 1) / (1 - r).

    Examples
    --------
    >>> float(negative_binomial(mu=1.0, alpha=1.0).pdf(2))  # a half of a half of a half
    0.125
    """
    from scipy.special import gammaln

    _positive("negative_binomial", mu=mu, alpha=alpha)
    tail = None
    if np.ndim(mu) == 0 and np.ndim(alpha) == 0:
        bound = partial(_negative_binomial_tail, float(mu), float(alpha))
        tail = Tail(bound, "ratio test of negative binomial terms")
    return _family(
        "negative_binomial",
        Integers(0, None),
        lambda x, mu, alpha: (
            gammaln(x + alpha)
            - gammaln(alpha)
            - gammaln(x + 1)
            + alpha * (np.log(alpha) - np.log(mu + alpha))
            + x * (np.log(mu) - np.log(mu + alpha))
        ),
        tail,
        mu=mu,
        alpha=alpha,
    )


@explained
def geometric(*, p: Any) -> Measure:
    """Make the geometric measure on 1, 2, ... (scipy: ``geom(p)``).

    Notes
    -----
    Tail: P(X > n) = (1 - p)**n.
    """
    _positive("geometric", p=p)
    if not (as_reals(p, "geometric", "p") < 1).all():
        raise InvalidInput("geometric", expected="0 < p < 1", got=repr(p))
    proof = "geometric series"
    tail = Tail(partial(_geometric_tail, float(p)), proof) if np.ndim(p) == 0 else None
    return _family(
        "geometric",
        Integers(1, None),
        lambda x, p: np.log(p) + (x - 1) * np.log1p(-p),
        tail,
        p=p,
    )


@explained
def from_scipy(distribution: Any, on: Alphabet | None = None) -> Measure:
    """Make a measure from a frozen SciPy distribution, old style or new.

    Parameters
    ----------
    distribution : frozen distribution
        ``scipy.stats.beta(2, 5)`` or an object of the new infrastructure.
    on : Alphabet, optional
        The alphabet; its support if not given.

    Notes
    -----
    A distribution that `borel.numerics.graphs.scipy_densities` knows by name gives a graph. Another
    one is opaque, and its figures on a continuous alphabet are estimates. One that is exactly a
    family of this module, ``stats.norm(0, 2)`` say, is recognised by closed forms.

    Examples
    --------
    >>> from scipy import stats
    >>> from_scipy(stats.beta(2, 5)).on
    Interval(0, 1)
    """
    _require_alphabet("from_scipy", on)
    if type(distribution).__name__ == "gaussian_kde":
        raise InvalidInput(
            "from_scipy", expected="a frozen SciPy distribution", got="a gaussian_kde", mend=A_KDE
        )
    if hasattr(distribution, "xk"):  # an rv_discrete of values, which may be frozen or not
        distribution = distribution()
    if not (hasattr(distribution, "logpdf") or hasattr(distribution, "logpmf")):
        raise InvalidInput(
            "from_scipy", expected="a frozen SciPy distribution", got=type(distribution).__name__
        )
    try:
        low, high = (float(end) for end in distribution.support())
    except (TypeError, ValueError, AttributeError):
        low = high = math.nan
    if math.isnan(low) or math.isnan(high):
        raise InvalidInput(
            "from_scipy",
            expected="one frozen univariate distribution with valid parameters",
            got=f"{type(distribution).__name__} without a support",
            mend="freeze it: stats.beta(2, 5), not stats.beta.",
        )
    listed: Any = getattr(distribution, "dist", None)
    if hasattr(listed, "xk") and (on is None or on.kind == "finite"):
        return _of_values(listed, low - float(listed.xk[0]), on)
    discrete = is_discrete(distribution)
    if on is None:
        if discrete:
            ends = (
                int(low) if math.isfinite(low) else None,
                int(high) if math.isfinite(high) else None,
            )
            on = Integers(*ends)
        else:
            on = Interval(low, high)
    require_kind("from_scipy", "on", on, discrete)
    from borel.numerics.graphs import from_scipy
    from borel.numerics.graphs.foreign_density import either

    log = distribution.logpmf if discrete else distribution.logpdf
    name = getattr(getattr(distribution, "dist", None), "name", type(distribution).__name__)
    density = either(
        lambda names, whole: from_scipy.graph_of(distribution, names, whole),
        lambda x: log(np.asarray(x)),
        [is_whole(on)],
    )
    out = Measure(density, on, log=True, name=f"scipy {name}")
    return _recognised(out, from_scipy.law_of(distribution))


def _require_alphabet(what: str, on: Any) -> None:
    if not (on is None or isinstance(on, Alphabet)):
        raise InvalidInput(what, expected="on=<an alphabet>", got=repr(on))


def _of_values(listed: Any, shift: float, on: Alphabet | None) -> Measure:
    """Return the law of an ``rv_discrete(values=(xk, pk))``: its probabilities as they stand."""
    values = [float(v) + shift for v in listed.xk]
    labels = [int(v) if v.is_integer() else v for v in values]
    out = pmf(np.asarray(listed.pk, float), on=Finite(labels))
    return out if on is None else Measure(out.at(on), on, name="scipy rv_sample")


def _recognised(measure: Measure, law: tuple[str, dict[str, Any]] | None) -> Measure:
    """Give a measure of another library its family and tail, if it is exactly one of this module.

    Parameters are exact ratios: 1 / scale is a rate only if float64 holds it.
    """
    name, exact = law or ("", {})
    try:
        numbers = {key: float(value) for key, value in exact.items()}
        if law is None or numbers != exact:
            return measure
        twin = uniform(Interval(**numbers)) if name == "uniform" else _NAMED[name](**numbers)
    except (InvalidInput, OverflowError):
        return measure
    if twin.on == measure.on:
        measure.family, measure.tail = twin.family, twin.tail
    return measure


_NAMED: dict[str, Callable[..., Measure]] = {
    "normal": normal,
    "laplace": laplace,
    "cauchy": cauchy,
    "beta": beta,
    "gamma": gamma,
    "exponential": exponential,
    "poisson": poisson,
    "geometric": geometric,
}


def is_discrete(distribution: Any) -> bool:
    """Return whether a SciPy distribution, old or new, is discrete."""
    if hasattr(distribution, "xk"):  # an rv_discrete of values that is not frozen
        return True
    if hasattr(distribution, "dist"):
        return hasattr(distribution.dist, "_pmf") or not hasattr(distribution.dist, "pdf")
    try:
        from scipy.stats._distribution_infrastructure import DiscreteDistribution
    except ImportError:
        return not hasattr(distribution, "logpdf")
    return isinstance(distribution, DiscreteDistribution)


def require_kind(what: str, role: str, on: Alphabet | None, discrete: bool) -> None:
    """Refuse a law with a density on an alphabet that is counted, and masses on one that is not."""
    if isinstance(on, Alphabet) and discrete != (on.kind in ("finite", "countable")):
        has, takes = ("probabilities", "a density")[:: 1 if discrete else -1]
        raise InvalidInput(
            what,
            expected=f"a law with {takes} for {role}={on!r}",
            got=f"one with {has}",
            mend=f"{role}=bl.{'Integers(0, None)' if discrete else 'Reals()'}, or the part of it "
            "that has all of the mass.",
        )


def require_pymc_law(what: str, role: str, on: Alphabet | None, variable: Any) -> bool:
    """Refuse a PyMC law whose kind is not the alphabet's; say whether it has the alphabet's atoms.

    Those are known as far as PyMC has them as numbers (`from_pytensor.apart`).
    """
    from borel.numerics.graphs.from_pytensor import atoms_of

    discrete = str(variable.dtype).startswith(("int", "uint", "bool"))
    if not discrete and (atoms := atoms_of(variable)):
        if isinstance(on, Mixed) and {f"{a:g}" for a in on.atoms} == set(atoms):
            return True
        made, mass = "bl.Measure", "its probability"
        if role == "outcome":
            made, mass = "bl.Mechanism", "lambda x: its probability"
        raise NotYet(
            what,
            missing=f"a law with atoms, at {', '.join(atoms)}",
            instead=f"{role}=bl.Mixed(interval, atoms=[...]) with just these numbers, or "
            f"{made}(density, {role}=bl.Mixed(interval, atoms=[...]), masses={{atom: {mass}"
            "}, ...) with the density beside the atoms; a law of atoms alone by its probabilities, "
            "on bl.Finite(...) or bl.Integers(); a clipped normal law is a mechanism, "
            "bl.mechanisms.gaussian(sigma=...).clip(lower, upper).",
        )
    require_kind(what, role, on, discrete)
    return False


@explained
def from_pymc(variable: Any, on: Alphabet | None = None, **parameters: Any) -> Measure:
    """Make a measure from a PyMC distribution, ``pm.Beta.dist(2, 5)``.

    Parameters
    ----------
    variable : pytensor variable, or callable
        What ``pm.<Distribution>.dist(...)`` returns, a scalar; or a function of the parameters
        that returns it.
    on : Alphabet
        The alphabet. PyMC has no public support, so it is asked for unless the distribution is
        in a table of common ones (`support`).
    **parameters
        The parameters of that function, by name: numbers, or arrays of draws, which make a measure
        of each draw (see `borel.priors.from_posterior`).

    Notes
    -----
    What ``pm.logp`` returns is read as a graph. If an operation in it has no counterpart, the
    density is opaque: it is compiled by PyTensor, and its figures on a continuous alphabet are
    estimates. A law that is exactly a family of this module, ``pm.Normal.dist(0, 2)`` say, is
    recognised by closed forms.

    Raises
    ------
    InvalidInput
        No distribution, or one of another kind than the alphabet.
    NotYet
        A law with atoms among floats (a censored, a hurdle or a rounded one), unless ``on`` is a
        `Mixed` alphabet with just those atoms and the law has no parameters that are draws.

    Examples
    --------
    >>> import pymc as pm
    >>> from_pymc(pm.Beta.dist(2, 5)).on
    Interval(0, 1)
    >>> income = pm.HurdleGamma.dist(psi=0.75, alpha=2, beta=1)
    >>> from_pymc(income, on=Mixed(Interval(0, None), atoms=[0])).masses
    {0.0: 0.25}
    >>> from_pymc(pm.Beta.dist, alpha=np.array([2.0, 5.0]), beta=5.0).batch
    (2,)
    """
    import pytensor.tensor as pt

    from borel._compat import compile_logp
    from borel.numerics.graphs import from_pytensor
    from borel.numerics.graphs.foreign_density import either

    _require_alphabet("from_pymc", on)
    law = variable
    values = {key: as_reals(value, "from_pymc", key) for key, value in parameters.items()}
    if parameters:
        law, variable = _of_parameters(variable, tuple(parameters))
        if not any(v.ndim for v in values.values()):
            return from_pymc(law(*map(pt.constant, values.values())), on)
    if getattr(variable, "owner", None) is None:
        raise InvalidInput(
            "from_pymc",
            expected="a PyMC distribution, pm.Beta.dist(2, 5)",
            got=type(variable).__name__,
        )
    if variable.type.ndim:
        raise InvalidInput(
            "from_pymc",
            expected="a scalar distribution",
            got=f"one of {variable.type.ndim} dimensions",
            mend="parameters with axes go apart: from_pymc(pm.Beta.dist, alpha=..., beta=...); "
            "independent entries are a product of measures.",
        )
    if require_pymc_law("from_pymc", "on", on, variable):
        return _with_atoms(variable, on, parameters)
    if on is None:
        on = support(variable, fixed=not parameters)
    density = either(
        lambda names, whole: from_pytensor.graph_of(law, names, whole),
        compile_logp(law, discrete=on.kind in ("finite", "countable"), inputs=len(parameters)),
        [is_whole(on), *[False] * len(parameters)],
    )
    name = f"PyMC {_op_name(variable)}"
    if not parameters:
        out = Measure(density, on, log=True, name=name)
        return _recognised(out, from_pytensor.law_of(variable))
    return Measure(
        lambda x, **given: density(x, *(given[key] for key in values)),
        on,
        log=True,
        params={key: v if v.ndim else float(v) for key, v in values.items()},
        name=name,
    )


def _with_atoms(variable: Any, on: Any, parameters: dict[str, Any]) -> Measure:
    """Return a PyMC law with the atoms of a `Mixed` alphabet."""
    from borel.probability.pymc_atoms import parts

    if parameters:
        raise NotYet(
            "from_pymc",
            missing="parameters of a law with atoms",
            instead="bl.Measure(density, on=bl.Mixed(...), masses={atom: an array of draws}, ...).",
        )
    density, logs = parts("from_pymc", variable, on.atoms)
    masses = {atom: float(np.exp(log())) for atom, log in logs.items()}
    return Measure(density, on, log=True, masses=masses, name=f"PyMC {_op_name(variable)}")


def _of_parameters(law: Any, names: tuple[str, ...]) -> tuple[Callable, Any]:
    """Return a PyMC law as a function of tensors in the order of names, and its value at some."""
    import pytensor.tensor as pt

    from borel._compat import ancestors

    if not callable(law) or getattr(law, "owner", None) is not None:
        raise InvalidInput(
            "from_pymc",
            expected="a function of " + ", ".join(names),
            got=type(law).__name__,
            mend="write from_pymc(pm.Beta.dist, alpha=..., beta=...).",
        )

    def of(*tensors: Any) -> Any:
        return law(**dict(zip(names, tensors, strict=True)))

    tensors = [pt.dscalar(name) for name in names]
    try:
        variable = of(*tensors)
    except TypeError as error:
        raise InvalidInput(
            "from_pymc", expected="a function of " + ", ".join(names), got=f"TypeError: {error}"
        ) from error
    if getattr(variable, "owner", None) is not None:  # PyMC 6 drops names that it does not know
        read, given = ancestors(variable), signature(law).parameters.values()
        own = [p.name for p in given if p.kind is not p.VAR_KEYWORD]
        unread = [n for n, t in zip(names, tensors, strict=True) if t not in read and n not in own]
        if unread:
            raise InvalidInput(
                "from_pymc",
                expected="a function of " + ", ".join(names),
                got=f"one that does not read {', '.join(unread)}",
                mend="pass the parameters that it has: " + ", ".join(own) + ".",
            )
    return of, variable


def _op_name(variable: Any) -> str:
    return type(variable.owner.op).__name__.removesuffix("RV")


# by the names of PyMC's operations: pm.InverseGamma is an InvGammaRV
_SUPPORTS: dict[str, Alphabet] = {
    **dict.fromkeys(
        ("Normal", "Laplace", "StudentT", "Cauchy", "Logistic", "Gumbel", "SkewNormal", "Moyal"),
        Reals(),
    ),
    **dict.fromkeys(("Beta", "Kumaraswamy", "LogitNormal"), Interval(0, 1)),
    **dict.fromkeys(
        (
            "Gamma",
            "Exponential",
            "HalfNormal",
            "HalfCauchy",
            "HalfStudentT",
            "InvGamma",
            "LogNormal",
            "Rice",
            "Wald",
            "WeibullBeta",
        ),
        Interval(0, None),
    ),
    **dict.fromkeys(("Poisson", "NegBinomial", "DiscreteWeibull"), Integers(0, None)),
    "Geometric": Integers(1, None),
    "Bernoulli": Finite(2),
}


def support(variable: Any, fixed: bool = True) -> Alphabet:
    """Return the support of a PyMC distribution, from a table of those whose support is fixed.

    That of a uniform law is known if its parameters are ``fixed`` numbers.

    Raises
    ------
    InvalidInput
        A distribution that is not in the table: PyMC has no public support to ask.
    """
    name = _op_name(variable)
    if name == "Uniform" and fixed:
        low, high = (float(end.eval()) for end in variable.owner.inputs[-2:])
        return Interval(low, high)
    if name not in _SUPPORTS:
        whole = str(getattr(variable, "dtype", "")).startswith("int")
        example = "on=bl.Finite(3), or bl.Integers(0, 5)" if whole else "on=bl.Interval(...)"
        raise InvalidInput(
            "from_pymc",
            expected="on=<the alphabet it lives on>",
            got=f"none, {name}",
            mend=f"PyMC has no public support: say {example}, for example.",
        )
    return _SUPPORTS[name]


__all__ = [
    "beta",
    "cauchy",
    "exponential",
    "from_pymc",
    "from_scipy",
    "gamma",
    "geometric",
    "laplace",
    "negative_binomial",
    "normal",
    "poisson",
    "uniform",
]
