"""The sets of priors that people write: `bl.priors.tv_ball(p, 0.1)` and its kin."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from borel.errors import InvalidInput
from borel.priors.balls import Contamination, DivergenceBall, Hull, TotalVariationBall, number
from borel.priors.counted_sets import set_from_counts
from borel.priors.parametric_families import family_of
from borel.priors.polytopes import Polytope, moment_rules, polytope_rules
from borel.priors.probability_intervals import Bernoulli, ProbabilityIntervals
from borel.priors.set_operations import Intersection, ProductSet, Union
from borel.priors.sets import FullSupport
from borel.priors.transport import WassersteinBall
from borel.probability.alphabets import require_listable
from borel.probability.arrays import (
    in_order_of,
    is_labelled,
    labels_of,
    own_labels,
    require_no_column,
    with_labels,
)
from borel.probability.measure import Measure, pmf
from borel.probability.wrong_calls import explained

if TYPE_CHECKING:
    from borel.priors.sets import PriorSet
    from borel.probability.alphabets import Alphabet


@explained
def full_support(on: Alphabet) -> PriorSet:
    r"""Return the set of all priors of full support.

    On a continuous alphabet all those with a density that is positive almost everywhere.

    Parameters
    ----------
    on : Alphabet
        The alphabet of the secret.

    Returns
    -------
    PriorSet
        The suprema of PML and PMC over it are the leakage capacity of a mechanism, its LDP level;
        they are approached, not attained.

    References
    ----------
    "Rethinking Disclosure Prevention with Pointwise Maximal Leakage", Theorem 2.8.

    Examples
    --------
    >>> import borel as bl
    >>> mech = bl.Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]])
    >>> bl.pml(bl.priors.full_support(bl.Finite(2)) * mech).sup()
    Bound(1.098612289, exact)
    """
    return FullSupport(on)


@explained
def tv_ball(p: Measure, radius: float) -> PriorSet:
    r"""Return the priors within a total variation distance: :math:`\sup_A |Q(A) - P(A)| \le r`.

    Parameters
    ----------
    p : Measure
        The centre.
    radius : float or Fraction
        r in [0, 1]: the mass that may move. An L1 ball of radius r moves r / 2 (`l1_ball`).

    Notes
    -----
    The least expectation moves mass r from where f(y|x) is largest to where it is least. On a
    continuous alphabet members have a density, beside atoms of the centre (`borel.priors.sets`).

    Examples
    --------
    >>> import borel as bl
    >>> mech = bl.Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]])
    >>> bl.pml(bl.priors.tv_ball(bl.pmf([0.5, 0.5]), 0.25) * mech).sup()
    Bound(0.6931471806, exact)
    """
    return TotalVariationBall(p, radius)


@explained
def l1_ball(p: Measure, radius: float) -> PriorSet:
    r"""Return the priors with :math:`\sum_x |q(x) - p(x)| \le r`: a TV ball of radius r / 2.

    Parameters
    ----------
    p : Measure
        The centre.
    radius : float or Fraction
        r in [0, 2].
    """
    size = number("bl.priors.l1_ball", "radius", radius, 0, 2)
    out = TotalVariationBall(p, size / 2, "l1_ball")
    out.what = "total variation"  # of which the number shown is the radius
    return out


@explained
def kl_ball(p: Measure, radius: float, *, direction: str) -> PriorSet:
    r"""Return the priors within a Kullback-Leibler divergence of a centre.

    Parameters
    ----------
    p : Measure
        The centre P.
    radius : float or Fraction
        Nats, >= 0.
    direction : {"to_centre", "from_centre"}
        Which divergence: D(Q || P), whose members live where P does, or D(P || Q), whose members
        charge all of its support and perhaps more (the ball of an empirical law).

    Returns
    -------
    PriorSet
        Its figures are ``certified``: a Lagrange dual in one variable, enclosed.

    Examples
    --------
    >>> import borel as bl
    >>> bl.priors.kl_ball(bl.pmf([0.5, 0.5]), 0.1, direction="to_centre").lower([0.0, 1.0])
    Bound(0.2802053738 number, certified)
    """
    return DivergenceBall(p, radius, "kl", direction)


@explained
def chi_square_ball(p: Measure, radius: float, *, direction: str) -> PriorSet:
    r"""Return the priors within a chi-square divergence of a centre.

    Parameters
    ----------
    p : Measure
        The centre P.
    radius : float or Fraction
        A number >= 0.
    direction : {"to_centre", "from_centre"}
        :math:`\chi^2(Q \| P) = \sum (q - p)^2 / p`, or :math:`\chi^2(P \| Q) = \sum (q - p)^2 / q`.

    Examples
    --------
    >>> import borel as bl
    >>> bl.priors.chi_square_ball(bl.pmf([0.5, 0.5]), 0.25, direction="to_centre").lower([0.0, 1.0])
    Bound(0.25 number, certified)
    """
    return DivergenceBall(p, radius, "chi_square", direction)


@explained
def contamination(p: Measure, weight: float) -> PriorSet:
    r"""Return the epsilon-contamination class :math:`(1 - w) P + w Q`, for every Q.

    On a continuous alphabet every Q with a density (see `borel.priors.sets`).

    Parameters
    ----------
    p : Measure
        The centre P.
    weight : float or Fraction
        w in [0, 1].

    References
    ----------
    Huber, "The use of Choquet capacities in statistics" (1973).

    Examples
    --------
    >>> import borel as bl
    >>> bl.priors.contamination(bl.pmf([0.5, 0.5]), 0.5).lower([0.0, 1.0])
    Bound(0.25 number, exact)
    """
    return Contamination(p, weight)


@explained
def wasserstein_ball(p: Measure, radius: float, distance: Any = None) -> PriorSet:
    r"""Return the priors within a Wasserstein distance (of order 1) of a centre.

    .. math:: \min_\pi \sum_{x, x'} \pi(x, x')\, d(x, x') \le r

    over the plans of transport, the joint laws with marginals P and Q.

    Parameters
    ----------
    p : Measure
        The centre P, on a finite alphabet.
    radius : float or Fraction
        r >= 0, in the units of the distance.
    distance : array_like, shape (n, n), optional
        d, symmetric and 0 on the diagonal, in the order of the labels; rows and columns of a
        DataFrame or DataArray are matched by their labels. :math:`|x - x'|` if not given. Fractions
        are exact, a float means its binary64 value.

    Returns
    -------
    PriorSet
        Its figures are linear programmes as of `polytope`: ``exact`` for values in Fractions, up to
        60 secrets on the line and 10 with ``distance``, else ``certified``. The probabilities of a
        centre of floats mean their values, divided by their sum.

    Raises
    ------
    InvalidInput
        Labels that are no numbers, without ``distance``; distances that are negative, not symmetric
        or not 0 on the diagonal.
    NotYet
        A centre on an alphabet that is not finite; more than 1000 secrets, 100 with ``distance``.

    Notes
    -----
    The triangle inequality is not asked for, as rounded distances may miss it: r then bounds the
    cost of the cheapest plan, each of whose moves goes straight from x to x'.

    References
    ----------
    Villani, "Optimal Transport" (2009), Definition 6.1.

    Examples
    --------
    >>> from fractions import Fraction as F
    >>> import borel as bl
    >>> centre = bl.pmf([F(1, 2), F(1, 2), 0])
    >>> bl.priors.wasserstein_ball(centre, F(1, 4)).upper([0, 0, 1])
    Bound(0.25 number, exact)
    >>> apart = [[0, 1, 4], [1, 0, 4], [4, 4, 0]]
    >>> bl.priors.wasserstein_ball(centre, F(1, 4), apart).upper([0, 0, 1])
    Bound(0.0625 number, exact)
    """
    return WassersteinBall(p, radius, distance)


@explained
def interior(c: float, on: Alphabet) -> PriorSet:
    r"""Return the c-interior: the priors with every probability at least c.

    Parameters
    ----------
    c : float or Fraction
        In [0, 1/n]: 1/n is the uniform prior, and c = 0 every prior.
    on : Alphabet
        A finite alphabet of n labels.

    Notes
    -----
    PML over it goes from that of the uniform prior (c = 1/n) to LDP (c -> 0):
    :math:`\log \max_x K / (c \sum_x K + (1 - n c) \min_x K)` with K = f(y|x).

    Examples
    --------
    >>> import borel as bl
    >>> mech = bl.Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]])
    >>> bl.pml(bl.priors.interior(0.25, bl.Finite(2)) * mech).sup()
    Bound(0.6931471806, exact)
    """
    if getattr(on, "kind", "") != "finite":
        raise InvalidInput("bl.priors.interior", expected="a finite alphabet", got=repr(on))
    require_listable(on.size, "bl.priors.interior")
    size = number("bl.priors.interior", "c", c, 0, Fraction(1, on.size))
    centre = pmf([Fraction(1, on.size)] * on.size, on=on)
    return Contamination(centre, 1 - on.size * size, "interior")


@explained
def box(lower: Any, upper: Any, on: Alphabet | None = None) -> PriorSet:
    """Return the priors between a lower and an upper probability of each secret.

    Parameters
    ----------
    lower, upper : sequence, dict or number
        The ends, in [0, 1], one for each label or one for all; Fractions are exact, and an upper
        end of infinity is no limit. On an interval two functions of x, between which the densities
        lie.
    on : Alphabet, optional
        A finite alphabet, or a bounded interval; 0, ..., n - 1 if not given.

    Raises
    ------
    InvalidInput
        Ends out of order, probabilities that are not in [0, 1], or ends that no prior fits.

    Examples
    --------
    >>> import borel as bl
    >>> bl.priors.box([0.25, 0.25], [0.75, 0.75]).lower([0.0, 1.0])
    Bound(0.25 number, exact)
    """
    if getattr(on, "kind", "") == "continuous":
        from borel.priors.density_sets import DensityBand

        return DensityBand(lower, upper, on)  # type: ignore[arg-type]
    if on is None:
        sides = lower, upper
        own = next((names for end in sides if (names := _names(end)) is not None), None)
        sizes = [len(a) for a in sides if hasattr(a, "__len__")]
        if not sizes:
            raise InvalidInput("bl.priors.box", expected="on=<an alphabet>", got="none")
        on = own_labels(own, sizes[0])
    return ProbabilityIntervals(lower, upper, on)


def _names(ends: Any) -> list | None:
    """Return the labels that a dict, a DataArray or a Series brings."""
    if isinstance(ends, dict):
        return list(ends)
    require_no_column(ends, "bl.priors.box")
    table = with_labels(ends)
    return labels_of(table)[-1] if is_labelled(table) and table.ndim else None


@explained
def bernoulli(lo: float, hi: float) -> PriorSet:
    """Return the laws of a bit on Finite(2) with P{X = 1} in the open interval (lo, hi).

    Parameters
    ----------
    lo, hi : float or Fraction
        0 <= lo <= hi <= 1; one law if they are equal.

    Returns
    -------
    PriorSet
        With ``interval`` and ``member(p)``; suprema are approached, at an end of the interval.

    Examples
    --------
    >>> import borel as bl
    >>> bl.priors.bernoulli(0.25, 0.5).upper([0.0, 1.0])
    Bound(0.5 number, exact)
    """
    return Bernoulli(lo, hi)


@explained
def polytope(
    A: Any = None,
    b: Any = None,
    *,
    equal: Any = None,
    to: Any = None,
    on: Alphabet,
) -> PriorSet:
    """Return the priors q with A q <= b and ``equal`` q = ``to``.

    Parameters
    ----------
    A, b : array_like, shapes (k, n) and (k,)
        Inequalities on the n probabilities, in the order of the labels; the columns of a DataFrame
        or DataArray are matched by their labels. Fractions are exact, a float means its binary64
        value.
    equal, to : array_like, shapes (l, n) and (l,)
        Equations.
    on : Alphabet
        A finite alphabet of n labels.

    Returns
    -------
    PriorSet
        Its figures are ``certified``: linear programs by HiGHS with a verified dual, and members
        repaired in rational arithmetic; ``exact`` where all is given in Fractions or integers, and
        the basis that HiGHS found is proved to be the best in rational arithmetic.

    Raises
    ------
    InvalidInput
        Shapes that do not match, or constraints that no prior satisfies (each misses one by more
        than 1e-12: proved). Where no member is proved either, figures are ``conditional`` on "the
        set of priors is not empty".

    Examples
    --------
    >>> import borel as bl
    >>> at_most = bl.priors.polytope([[1, -1]], [0], on=bl.Finite(2))  # q(0) <= q(1)
    >>> at_most.upper([1.0, 0.0])
    Bound(0.5 number, certified)
    """
    if getattr(on, "kind", "") != "finite":
        raise InvalidInput("bl.priors.polytope", expected="on=<a finite alphabet>", got=repr(on))
    A, equal = (in_order_of(rows, on, "bl.priors.polytope") for rows in (A, equal))
    return Polytope(polytope_rules(A, b, equal, to, on.size, "bl.priors.polytope"), on)


@explained
def moment(functions: Any, *, lower: Any = None, upper: Any = None, on: Alphabet) -> PriorSet:
    r"""Return the priors whose generalised moments are bounded: :math:`a_j \le E f_j(X) \le b_j`.

    Parameters
    ----------
    functions : callable or values, or a list of them
        The functions of the secret; values are in the order of the labels.
    lower, upper : number or sequence, optional
        The limits; equal ones fix a moment. Fractions are exact, on a finite alphabet as for
        `polytope`.
    on : Alphabet
        A finite alphabet, or a bounded interval: figures are then enclosed on cells of it.

    Raises
    ------
    InvalidInput
        Limits that are out of order, or that no prior meets; on an interval where cells of it prove
        that.

    Examples
    --------
    >>> import borel as bl
    >>> mean = bl.priors.moment(lambda x: x, lower=0.5, upper=1, on=bl.Finite([0, 1, 2]))
    >>> mean.upper(lambda x: x == 2)
    Bound(0.5 number, certified)
    """
    if getattr(on, "kind", "") == "continuous":
        from borel.priors.density_sets import DensityMoments

        listed = list(functions) if isinstance(functions, (list, tuple)) else [functions]
        return DensityMoments(listed, lower, upper, on)  # type: ignore[arg-type]
    if getattr(on, "kind", "") != "finite":
        raise InvalidInput(
            "bl.priors.moment", expected="on=<a finite alphabet or an interval>", got=repr(on)
        )
    return Polytope(moment_rules(functions, lower, upper, on, "bl.priors.moment"), on, "moment")


@explained
def hull(priors: Sequence[Measure]) -> PriorSet:
    """Return the convex hull of finitely many priors on one alphabet.

    Examples
    --------
    >>> import borel as bl
    >>> bl.priors.hull([bl.pmf([0.5, 0.5]), bl.pmf([0.25, 0.75])]).lower([0.0, 1.0])
    Bound(0.5 number, exact)
    """
    return Hull(priors)


@explained
def union(sets: Sequence[PriorSet]) -> PriorSet:
    """Return the union of sets on one alphabet; also ``first | second``.

    A figure over it is the worst case over the sets, those of several models of the prior for
    instance. Their average is `borel.priors.stack`, and no worst case.
    """
    return Union(sets)


@explained
def intersection(sets: Sequence[PriorSet]) -> PriorSet:
    """Return the intersection of sets on one alphabet; also ``first & second``.

    Intersections of polytopes (balls of total variation, boxes, contamination, hulls, moments) are
    polytopes, and their figures tight, exact as for `polytope`. Otherwise the parts bound it from
    above only.

    Raises
    ------
    InvalidInput
        Sets that share no prior: proved. Where neither that nor a common prior is proved, figures
        are ``conditional`` on "the set of priors is not empty".
    """
    return Intersection(sets)


@explained
def product(sets: Sequence[PriorSet]) -> PriorSet:
    """Return the laws of independent coordinates, each in its own convex set.

    Its members are priors on the product of the alphabets, databases of independent entries for
    instance. For entries with one and the same law see `borel.iid`.
    """
    return ProductSet(sets)


@explained
def family(build: Callable[[Any], Measure], theta: Alphabet) -> PriorSet:
    """Return the priors ``build(theta)`` for every theta of an alphabet: not convex.

    Parameters
    ----------
    build : callable
        theta -> Measure; theta is a number, or a tuple of numbers for a product.
    theta : Alphabet
        A bounded interval, a product of them, or a finite alphabet.

    Returns
    -------
    PriorSet
        For a finite alphabet of theta a union of priors. For intervals, with a finite secret and a
        ``build`` that returns ``bl.pmf([...])`` of NumPy expressions in theta, figures come from
        branch and bound over theta. They are ``certified`` where exact arithmetic shows that the
        probabilities add up to 1, and intervals that none is negative and that nothing in them is
        infinite or NaN at any theta; else ``conditional`` on that, which is checked at some points.
        Elsewhere they are estimates: the best theta found.

    Examples
    --------
    >>> import borel as bl
    >>> genotypes = lambda p: bl.pmf([(1 - p) ** 2, 2 * p * (1 - p), p**2])
    >>> hardy_weinberg = bl.priors.family(genotypes, bl.Interval(0.25, 0.5))
    >>> hardy_weinberg.upper([0.0, 1.0, 0.0]).status
    'certified'
    """
    return family_of(build, theta)


@explained
def from_counts(
    counts: Any, *, confidence: float, on: Alphabet | None = None, method: str = "l1"
) -> PriorSet:
    r"""Return the set of priors that holds the true one with a confidence over the sample.

    Parameters
    ----------
    counts : sequence, dict or Series
        How often each letter was drawn, in m independent draws.
    confidence : float or Fraction
        In (0, 1): the probability, over the sample, that the set holds the true prior. It is not
        the delta of a guarantee, which is over the outcome.
    on : Alphabet, optional
        The finite alphabet, letters that were never drawn included; the labels of ``counts``, or
        0, ..., n - 1, if it is not given.
    method : {"l1", "kl", "box"}
        The L1 ball of Weissman et al. (2003), of radius
        :math:`\sqrt{2 \log((2^n - 2)/\alpha) / m}`; the KL ball of Agrawal (2020), Theorem 1.2;
        or Clopper-Pearson intervals with Bonferroni's correction.

    Returns
    -------
    PriorSet
        Its figures are ``statistical`` with that confidence; nothing is assumed of the prior but
        that the draws are independent.

    Examples
    --------
    >>> import borel as bl
    >>> known = bl.priors.from_counts([300, 700], confidence=0.95)
    >>> known.lower([0.0, 1.0])
    Bound(0.6570530592 number, statistical, confidence=0.95)
    """
    return set_from_counts(counts, confidence, on, method)
