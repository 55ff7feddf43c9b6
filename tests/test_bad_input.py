"""Bad input: each message says what was expected, what came, where, and how to mend it."""

import math
import re
from fractions import Fraction as F

import numpy as np
import pytest

import borel as bl

UNIT, LINE, COUNTS = bl.Interval(0, 1), bl.Reals(), bl.Integers(0, None)
AB = bl.Finite(["a", "b"])
HALVES = [0.5, 0.5]
K = [[0.75, 0.25], [0.25, 0.75]]
from_matrix = bl.Mechanism.from_matrix
TWO = from_matrix(K)
NAMED = from_matrix(K, secret=AB, outcome=["u", "v"])
NOISE = bl.mechanisms.laplace(b=1.0)
ATOM = bl.Mixed(UNIT, atoms=[0])
WEIGHTS = np.array([0.25, 0.75])


def measure(function, on=UNIT, **more):
    return bl.Measure(function, on=on, **more)


def mechanism(function, secret=UNIT, outcome=LINE, **more):
    return bl.Mechanism(function, secret=secret, outcome=outcome, **more)


def laplace(y, x):
    return np.exp(-abs(y - x)) / 2


def mutated():
    weights = np.array([0.5, 0.5])
    opaque = measure(lambda x: weights[0] + weights[1] + 0 * np.asarray(x))
    weights[0] = 0.25
    return opaque.pdf(0.5)


SILENT = "nothing is renormalised silently"

# what is done, and the parts that its message must have, in order
CASES = {
    # densities
    "a negative density": (
        lambda: measure(lambda x: 4 * x - 1),
        [
            "Measure(density on Interval(0, 1))",
            "density >= 0",
            "got -0.8",
            "at x = 0.03",
            "correct",
        ],
    ),
    "a negative kernel": (
        lambda: mechanism(lambda y, x: np.sin(y) * x),
        ["density >= 0", "got -", "at y = ", "x = ", "correct the function there"],
    ),
    "a density of NaN": (
        lambda: measure(lambda x: np.sqrt(x - 0.5)),
        ["density >= 0", "got nan", "at x = 0.03", "shrink the alphabet"],
    ),
    "a log-density of NaN": (
        lambda: mechanism(lambda y, x: np.log(-abs(y) - x), log=True),
        ["a log-density", "got nan", "at y = ", "x = "],
    ),
    "an infinite density": (
        lambda: mechanism(lambda y, x: y * 0 + x * 0 + np.inf),
        ["finite density", "got inf", "at y = "],
    ),
    "an infinite log-density": (
        lambda: measure(lambda x: x * np.inf, log=True),
        ["log-density below inf", "got inf", "at x = "],
    ),
    "a density that does not integrate to 1": (
        lambda: measure(lambda x: 2 + 0 * x),
        ["expected a density that integrates to 1", "got about 2", "normalise it", "breaks"],
    ),
    "a density on a square that does not integrate to 1": (
        lambda: measure(lambda x: x[0] * x[1], on=UNIT * UNIT),
        ["integrates to 1", "got about 0.25"],
    ),
    "counts that do not sum to 1": (
        lambda: measure(lambda x: 0.9 * 0.5 ** (x + 1), on=COUNTS),
        ["probabilities that sum to 1", "got about 0.9", "first 4096 points", "tail="],
    ),
    "a kernel normalised in x": (
        lambda: mechanism(lambda y, x: np.exp(-abs(y - x) / (1 + x)) / 2),
        [
            "a density in y that integrates to 1 for every x",
            "got about 1.09",
            "x = 0.09",
            "not in x",
        ],
    ),
    "a kernel of counts that does not sum to 1": (
        lambda: mechanism(lambda y, x: 2 * 0.5 ** (y + 1) + 0 * x, outcome=COUNTS),
        ["integrates to 1 for every x", "got about 2", "at x = "],
    ),
    "a sum over the array": (
        lambda: measure(lambda x: x / np.sum(x)),
        ["np.sum", "elementwise", "within an array but 1.0 alone", "at x = ", "no sums"],
    ),
    "a density of another shape": (
        lambda: mechanism(lambda y, x: np.zeros(3)),
        ["elementwise", "numbers of shape (24, 24)", "shape (3,)", "element by element"],
    ),
    "a density of strings": (
        lambda: measure(lambda x: "high"),
        ["numbers of shape", "got dtype <U4"],
    ),
    "a complex density": (
        lambda: measure(lambda x: 1 + 0j * x),
        ["numbers of shape", "got dtype complex128"],
    ),
    "a density that returns nothing": (lambda: measure(lambda x: None), ["got dtype object"]),
    "a density with too few arguments": (
        lambda: mechanism(lambda y: 1.0),
        ["a function of (y, x)", "TypeError", "positional argument"],
    ),
    "a density with math": (
        lambda: measure(lambda x: math.exp(x) / (math.e - 1)),
        ["a function of (x) that takes arrays", "np.exp, not math.exp"],
    ),
    "a density that is a number": (
        lambda: measure(1.0),
        ["expected a function of x", "got float"],
    ),
    "a density of names": (
        lambda: measure(lambda x: 0.5, on=AB),
        ["numeric labels for a density", "Finite(['a', 'b'])", "bl.pmf([...], on=alphabet)"],
    ),
    "a kernel of names": (
        lambda: mechanism(laplace, secret=AB),
        ["numeric labels for a density", "Finite(['a', 'b'])", "from_matrix"],
    ),
    "a captured array that changed": (
        mutated,
        ["could not be traced", "captured array 'weights' as it was", "other contents", "again"],
    ),
    "a mass that is negative": (
        lambda: mechanism(
            lambda y, x: 1.5 + 0 * y * x, outcome=ATOM, masses={0: lambda x: -0.5 + 0 * x}
        ),
        ["the mass of the atom 0", "density >= 0", "got -0.5", "at x = "],
    ),
    "a mass of NaN": (
        lambda: mechanism(
            lambda y, x: 0.5 + 0 * y * x, outcome=ATOM, masses={0: lambda x: np.sqrt(-x)}
        ),
        ["the mass of the atom 0", "got nan", "at x = "],
    ),
    "masses that do not make 1 with the density": (
        lambda: mechanism(
            lambda y, x: 0.5 + 0 * y * x, outcome=ATOM, masses={0: lambda x: 0.6 + 0 * x}
        ),
        ["integrates to 1 for every x", "got about 1.1"],
    ),
    "an atom without its mass": (
        lambda: mechanism(lambda y, x: 1 + 0 * y * x, outcome=ATOM),
        ["masses for the atoms (0.0,)", "got []"],
    ),
    "masses without atoms": (
        lambda: mechanism(laplace, masses={0.0: lambda x: 0.5}),
        ["a Mixed outcome for masses", "got Reals()"],
    ),
    "masses that are no dict": (
        lambda: mechanism(lambda y, x: 1 + 0 * y * x, outcome=ATOM, masses=[0.5]),
        ["masses={atom: function of x}", "got [0.5]"],
    ),
    "a measure's atom without its mass": (
        lambda: measure(lambda x: 1 + 0 * x, on=ATOM),
        ["a mass for each atom", "got none", "masses={atom: mass}"],
    ),
    "a measure's mass of another atom": (
        lambda: measure(lambda x: 0.5 + 0 * x, on=ATOM, masses={1: 0.5}),
        ["a mass for each atom", "got masses of [1.0]"],
    ),
    "a measure's negative mass": (
        lambda: measure(lambda x: 1.5 + 0 * x, on=ATOM, masses={0: -0.5}),
        ["masses in [0, 1]", "got -0.5", "atom 0"],
    ),
    # rows and probabilities
    "wide floats whose sum a float shows as 1": (
        lambda: bl.pmf(np.array([np.longdouble(0.5), np.longdouble(0.5) + 2**-53, 2**-54])),
        ["pmf", "got a sum of 1 + 1.7e-16", SILENT],
    ),
    "a row of wide floats whose sum a float shows as 1": (
        lambda: from_matrix([np.array([0.5, 0.5 - 2**-54], np.longdouble)]),
        ["rows that sum to 1", "got a sum of 1 - 5.6e-17", SILENT],
    ),
    "lower limits that are a little above 1 in sum": (
        lambda: bl.priors.box([0.5, 0.5 + 1e-9], 1),
        ["at most 1 in sum", "got 1.000000001 and 2"],
    ),
    "upper limits that are a little below 1 in sum": (
        lambda: bl.priors.box(0, [0.5, 0.5 - 1e-9], on=bl.Finite(2)),
        ["at least 1", "got 0.0 and 0.99999999"],
    ),
    "a count that does not end": (
        lambda: bl.Finite(2**20000),
        ["Finite", "at most 10**8 labels", "got about 2**20000", "bl.Integers(0, None)"],
    ),
    "a range that does not end": (
        lambda: bl.Finite(range(-3, 2**2000, 2)),
        ["at most 10**8", "about 2**1999"],
    ),
    "a response of labels that do not end": (
        lambda: bl.mechanisms.randomized_response(k=10**9, epsilon=1.0),
        ["at most 10**8 labels", "got 1000000000"],
    ),
    "integers that do not end": (
        lambda: bl.priors.box(0, 1, on=bl.Integers(0, 2**70)),
        ["bl.priors.box", "at most 10**8 labels", "got about 2**70"],
    ),
    "points of a product that do not end": (
        lambda: (bl.Finite(2) ** 64).labels,
        ["at most 10**8 labels", "got about 2**64"],
    ),
    "an interior of labels that do not end": (
        lambda: bl.priors.interior(0, bl.Integers(0, 2**70)),
        ["bl.priors.interior", "at most 10**8 labels"],
    ),
    "an interior of no prior": (
        lambda: bl.priors.interior(0.6, AB),
        ["bl.priors.interior", "c >= 0 and <= 1/2", "got 0.6"],
    ),
    "an upper probability above 1": (
        lambda: bl.priors.box(0, 5, on=AB),
        ["bl.priors.box", "0 <= lower <= upper <= 1", "got [0, 5]", "'a'"],
    ),
    "an upper probability a little above 1": (
        lambda: bl.priors.box([0, 0], [1, 1 + 2**-52], on=AB),
        ["upper <= 1", "[0, 1.0000000000000002]", "'b'"],
    ),
    "a lower probability below 0": (
        lambda: bl.priors.box(F(-1, 10), 1, on=AB),
        ["0 <= lower", "[-1/10, 1]", "'a'"],
    ),
    "a table of one column as probabilities": (
        lambda: bl.pmf(_column("p")),
        ["pmf", "a DataFrame of one column of 2", "frame['p']"],
    ),
    "a table of one column as limits": (
        lambda: bl.priors.box(_column("lo"), [1, 1]),
        ["bl.priors.box", "a DataFrame of one column of 2", "frame['lo']"],
    ),
    "a table of one column as values": (
        lambda: bl.priors.full_support(bl.Finite(2)).lower(_column("f")),
        ["PriorSet.lower", "a DataFrame of one column of 2", "frame['f']"],
    ),
    "floats beyond their rounding": (
        lambda: from_matrix([HALVES, [0.5, 0.4]], secret=AB),
        ["rows that sum to 1", "got a sum of 0.9", "at secret 'b'", SILENT],
    ),
    "floats a little beyond their rounding": (
        lambda: from_matrix([[0.5, 0.5 + 1e-14], HALVES]),
        ["rows that sum to 1", "at secret 0", SILENT],
    ),
    "Fractions that miss 1": (
        lambda: from_matrix([[F(1, 2), F(1, 2)], [F(1, 2), F(1, 2) - F(1, 10**30)]], secret=AB),
        ["sum to 1 exactly", "got a sum of 9999", "at secret 'b'", SILENT],
    ),
    "a negative entry": (
        lambda: from_matrix([HALVES, [-0.5, 1.5]], secret=AB),
        ["probabilities >= 0", "got -0.5", "at secret 'b', column 0"],
    ),
    "a negative Fraction": (
        lambda: from_matrix([[F(-1), F(2)]]),
        ["Fractions >= 0", "got -1", "at secret 0"],
    ),
    "an entry of NaN": (
        lambda: from_matrix([[math.nan, 1.0]]),
        ["finite", "got nan", "at secret 0, column 0"],
    ),
    "single precision beyond its rounding": (
        lambda: from_matrix(np.array([[0.1, 0.90001]], np.float32)),
        ["rows that sum to 1", "1.0000099", SILENT],
    ),
    "a table that does not sum to 1": (
        lambda: mechanism(lambda y, x: 0.4 + 0 * x * y, secret=bl.Finite(2), outcome=bl.Finite(2)),
        ["rows that sum to 1", "got a sum of 0.8", "at secret 0"],
    ),
    "probabilities beyond their rounding": (
        lambda: bl.pmf([0.6, 0.6]),
        ["pmf", "sum to 1", "got a sum of 1.2", SILENT],
    ),
    "Fractions of a pmf that miss 1": (
        lambda: bl.pmf([F(3, 5), F(3, 5)]),
        ["pmf", "Fractions that sum to 1 exactly", "got a sum of 6/5", SILENT],
    ),
    "a negative probability": (
        lambda: bl.pmf([-0.5, 1.5]),
        ["probabilities >= 0", "got -0.5", "at position 0"],
    ),
    "a negative Fraction of a pmf": (
        lambda: bl.pmf([F(3, 2), F(-1, 2)]),
        ["probabilities >= 0", "got -1/2", "at position 1"],
    ),
    "a draw that misses 1": (
        lambda: bl.pmf([HALVES, [0.6, 0.5]]),
        ["sum to 1", "got a sum of 1.1", "at draw (1,)"],
    ),
    "a draw of Fractions that misses 1": (
        lambda: bl.pmf([[F(1, 2), F(1, 3)], [F(1, 2), F(2, 3)]]),
        ["sum to 1 exactly", "got a sum of 5/6"],
    ),
    "a negative draw": (
        lambda: bl.pmf([HALVES, [1.5, -0.5]]),
        ["probabilities >= 0", "got -0.5", "at position 1 of draw (1,)"],
    ),
    "an array for a density": (
        lambda: bl.Measure(np.array([0.5, 0.7]), on=bl.Finite(2)),
        ["Measure", "sum to 1", "got a sum of 1.2", SILENT],
    ),
    "an array for a density on an interval": (
        lambda: bl.Measure(np.array(HALVES), on=UNIT),
        ["on=<a finite alphabet>", "got Interval(0, 1)"],
    ),
    # mixtures
    "weights beyond their rounding": (
        lambda: bl.mixture([bl.pmf(HALVES)] * 2, weights=[0.5, 0.6]),
        ["mixture weights", "sum to 1", "got a sum of 1.1", SILENT],
    ),
    "a negative weight": (
        lambda: bl.mixture([bl.pmf(HALVES)] * 2, weights=[-0.5, 1.5]),
        ["mixture weights", ">= 0", "got -0.5", "position 0"],
    ),
    "too few weights": (
        lambda: bl.mixture([bl.pmf(HALVES)] * 2, weights=[1.0]),
        ["expected 2 weights", "got shape (1,)"],
    ),
    "components on two alphabets": (
        lambda: bl.mixture([bl.pmf(HALVES), bl.pmf(HALVES, on=AB)], weights=HALVES),
        ["components on one alphabet", "Finite(2), Finite(['a', 'b'])"],
    ),
    "no component": (lambda: bl.mixture([], weights=[]), ["at least one Measure", "got "]),
    "components that are no measures": (
        lambda: bl.mixture([bl.pmf(HALVES), None], weights=HALVES),
        ["at least one Measure", "None"],
    ),
    # labels
    "a prior on other labels": (
        lambda: bl.pmf(HALVES) * NAMED,
        ["a prior within", "Finite(['a', 'b'])", "got one on Finite(2)", "never positions"],
    ),
    "a prior with mass where nothing is defined": (
        lambda: bl.pmf([0.5, 0.25, 0.25]) * TWO,
        ["a prior within the secrets", "got one on Finite(3)", "same labels"],
    ),
    "a prior wider than the secrets": (
        lambda: bl.normal() * mechanism(laplace),
        ["a prior within the secrets", "Interval(0, 1)", "got one on Reals()"],
    ),
    "a prior of two dimensions": (
        lambda: (bl.uniform(UNIT) * bl.uniform(UNIT)) * NOISE,
        ["a prior within the secrets", "got one on Interval(0, 1) * Interval(0, 1)"],
    ),
    "a batch for a prior": (
        lambda: bl.pmf([HALVES, HALVES]) * TWO,
        ["one prior", "got a batch of shape (2,)", "from_posterior"],
    ),
    "post-processing of other outcomes": (
        lambda: TWO @ NAMED,
        ["a post-processing of Finite(['u', 'v'])", "got one of Finite(2)"],
    ),
    "two releases about two secrets": (
        lambda: TWO & NAMED,
        ["about one secret alphabet", "Finite(2) and Finite(['a', 'b'])"],
    ),
    "a second release about another secret": (
        lambda: TWO.then(lambda y: NAMED),
        ["finite mechanisms from Finite(2)", "Finite(['a', 'b'])", "at y1 = 0"],
    ),
    "a second release that is none": (
        lambda: TWO.then(lambda y: 3),
        ["a mechanism for every y1", "got 3", "at y1 = 0"],
    ),
    "labels of a DataArray that are not the alphabet's": (
        lambda: bl.pmf(_dataarray(HALVES, ["x", "y"]), on=AB),
        ["the labels of Finite(['a', 'b'])", "labels ['x', 'y']", "never positions"],
    ),
    "as many probabilities as another alphabet has": (
        lambda: bl.pmf(HALVES, on=bl.Finite(3)),
        ["3 probabilities for Finite(3)", "got 2"],
    ),
    "a matrix transposed": (
        lambda: from_matrix([[0.5, 0.25, 0.25]], secret=["a", "b", "c"]),
        ["a finite secret alphabet of 1 labels", "rows are secrets, columns are outcomes"],
    ),
    "an outcome outside": (
        lambda: bl.pml(bl.pmf(HALVES) * TWO)(5),
        ["y: expected a label of Finite(2)", "got 5", "never positions"],
    ),
    "a position for a label": (
        lambda: bl.pml(bl.pmf(HALVES, on=AB) * NAMED)(0),
        ["y: expected a label of Finite(['u', 'v'])", "got 0", "never positions"],
    ),
    "an outcome outside an interval": (
        lambda: bl.pml(bl.uniform(UNIT) * NOISE)([0.0, math.inf]),
        ["y: expected a point of Reals()", "got inf", "finite numbers"],
    ),
    "a posterior given an outcome outside": (
        lambda: (bl.pmf(HALVES) * TWO).posterior(5),
        ["y: expected a label", "got 5"],
    ),
    "y and x exchanged": (
        lambda: NAMED.pdf("a", "u"),
        ["x: expected a label of Finite(['a', 'b'])", "got 'u'"],
    ),
    "a point of a product that is no tuple": (
        lambda: (UNIT * UNIT).check(0.5),
        ["a tuple of 2, one entry for each factor", "got 0.5"],
    ),
    "a point of a product with shapes that do not meet": (
        lambda: (UNIT * UNIT).check((np.zeros(2), np.zeros(3))),
        ["shapes that broadcast", "got (2,), (3,)"],
    ),
    "a label that repeats": (lambda: bl.Finite(["a", "b", "a"]), ["distinct labels", "'a' twice"]),
    "labels that are equal numbers": (lambda: bl.Finite([0, 0.0]), ["distinct", "0 twice"]),
    "an empty alphabet": (lambda: bl.Finite([]), ["at least one label", "got none"]),
    "a count of none": (lambda: bl.Finite(0), ["at least one label", "got 0"]),
    # compositions
    "an underflow of two releases": (
        lambda: from_matrix([[1e-200, 1.0]]) & from_matrix([[1e-200, 1.0]]),
        ["composition of mechanisms", "products float64 can hold", "Fractions"],
    ),
    "an underflow of post-processing": (
        lambda: from_matrix([[1e-200, 1.0], HALVES]) @ from_matrix([[1e-200, 1.0]]),
        ["composition of mechanisms", "products float64 can hold", "Fractions"],
    ),
    "an underflow of a marginal": (
        lambda: from_matrix([[1e-200, 1.0], HALVES]) @ bl.pmf([1e-200, 1.0]),
        ["mech @ prior", "products float64 can hold", "Fractions"],
    ),
    "an underflow of a posterior": (
        lambda: (bl.pmf([1e-200, 1.0]) * from_matrix([[1e-200, 1.0], HALVES])).posterior(0),
        ["joint.posterior", "products float64 can hold", "Fractions"],
    ),
    "an underflow of a product": (
        lambda: bl.pmf([1e-200, 1.0]) * bl.pmf([1e-200, 1.0]),
        ["product of measures", "products float64 can hold", "Fractions"],
    ),
    "an underflow of a mixture": (
        lambda: bl.mixture([bl.pmf([1e-200, 1.0]), bl.pmf([0, 1])], weights=[1e-200, 1.0]),
        ["mixture", "products float64 can hold", "Fractions"],
    ),
    "an underflow of a table": (
        lambda: mechanism(
            lambda y, x: np.where(y == x, 1.0, np.exp(-1000.0 * (1 + y))),
            secret=bl.Finite(2),
            outcome=bl.Finite(2),
        ),
        ["densities that float64 can hold", "an underflow", "at x = 0, y = 1", "Fractions"],
    ),
    "an underflow of a prior's density": (
        lambda: measure(lambda x: np.where(x == 0, 1.0, np.exp(-800.0 * x)), on=bl.Finite(2)),
        ["densities that float64 can hold", "an underflow", "at x = 1", "Fractions"],
    ),
    "an underflow of a prior's log-density": (
        lambda: measure(lambda x: -800.0 * x, on=bl.Finite(2), log=True),
        ["densities that float64 can hold", "an underflow", "at x = 1", "Fractions"],
    ),
    "subnormals too coarse to condition on": (
        lambda: bl.pmf([5e-324, 5e-324, 1.0]).restrict(lambda x: x < 2),
        ["restrict", "that float64 holds", "off by 0.5", "Fractions"],
    ),
    "subnormals too coarse to add": (
        lambda: from_matrix([[5e-324, 5e-324, 1.0]]).push(lambda y: y < 2),
        ["mech.push", "that float64 holds", "Fractions"],
    ),
    "an event of mass 0": (
        lambda: bl.pmf([1.0, 0.0]).restrict(lambda x: x == 1),
        ["restrict", "an event of positive mass", "got mass 0"],
    ),
    "an event of mass 0 for one draw": (
        lambda: bl.pmf([[1.0, 0.0], HALVES]).restrict(lambda x: x == 1),
        ["restrict", "an event of positive mass", "got mass 0"],
    ),
    "an event of outcomes of mass 0": (
        lambda: from_matrix([[1.0, 0.0], HALVES]).restrict(lambda y: y == 1),
        ["positive mass for every x", "at x = 0"],
    ),
    "an event without outcomes": (
        lambda: TWO.restrict(lambda y: False),
        ["an event with outcomes", "got none"],
    ),
    "an image that is not an outcome": (
        lambda: TWO.push(lambda y: y + 5, outcome=[0, 1]),
        ["a label of Finite(2)", "got 5"],
    ),
    "images that are no labels": (
        lambda: TWO.push(lambda y: [y]),
        ["a function to labels", "got [0]", "at y = 0"],
    ),
    "clipping to nothing": (lambda: NOISE.clip(1, 0), ["lower < upper", "got (1.0, 0.0)"]),
    "clipping at infinity": (lambda: NOISE.clip(-math.inf, 1), ["finite ends", "(-inf, 1.0)"]),
    "clipping at NaN": (lambda: NOISE.clip(math.nan, 1), ["lower < upper", "nan"]),
    "clipping at a string": (lambda: NOISE.clip("a", 1), ["lower=<a number>", "got 'a'"]),
    # parameters and levels
    "a parameter of NaN": (lambda: bl.normal(mu=math.nan), ["a finite mu", "got nan"]),
    "a scale of NaN": (lambda: bl.normal(sigma=math.nan), ["sigma > 0", "got nan"]),
    "a scale of 0": (lambda: bl.laplace(b=0), ["b > 0", "got 0"]),
    "a noise of NaN": (lambda: bl.mechanisms.laplace(b=math.nan), ["a finite number", "got nan"]),
    "a mechanism's parameter of NaN": (
        lambda: mechanism(lambda y, x, b: laplace(y, x), params={"b": math.nan}),
        ["a number for b", "got NaN"],
    ),
    "a measure's parameter of NaN": (
        lambda: measure(lambda x, a: 1 + 0 * x, params={"a": math.nan}),
        ["a number for a", "got NaN"],
    ),
    "an array without names for a parameter": (
        lambda: mechanism(lambda y, x, b: laplace(y / b, x), params={"b": np.array([1.0, 2.0])}),
        ["a number for the parameter b, or a DataArray", "shape (2,)", "dims="],
    ),
    "parameters of shapes that do not meet": (
        lambda: bl.beta(alpha=[1.0, 2.0], beta=[1.0, 2.0, 3.0]),
        ["shapes broadcast", "alpha (2,), beta (3,)"],
    ),
    "a level above 1": (
        lambda: bl.pml(bl.pmf(HALVES) * TWO).quantile(2),
        ["quantile", "0 < s <= 1", "got s = 2", "1 - delta"],
    ),
    "a level below 0": (
        lambda: bl.pml(bl.pmf(HALVES) * TWO).quantile(-0.5),
        ["quantile", "0 < s <= 1", "got s = -0.5"],
    ),
    "a level of 0 from the left": (
        lambda: bl.pml(bl.pmf(HALVES) * TWO).quantile(0),
        ["0 < s <= 1 (side left)"],
    ),
    "a level of 1 from the right": (
        lambda: bl.pml(bl.pmf(HALVES) * TWO).quantile(1, side="right"),
        ["0 <= s < 1 (side right)"],
    ),
    "a level of NaN": (
        lambda: bl.pml(bl.pmf(HALVES) * TWO).quantile(math.nan),
        ["a number", "got nan"],
    ),
    "a side that is none": (
        lambda: bl.pml(bl.pmf(HALVES) * TWO).quantile(0.5, side="up"),
        ['side="left" or "right"', "got 'up'"],
    ),
    "a tolerance of 0": (lambda: _options(tol=0), ["tol > 0 (nats)", "got tol=0"]),
    "an engine that is none": (lambda: _options(engine="fast"), ["engine in", "got engine='fast'"]),
    "a mechanism for a joint": (
        lambda: bl.pml(TWO),
        ["a joint, prior * mech", "got Mechanism", "bl.pml(prior * mech)"],
    ),
}


def _options(**changes):
    with bl.options(**changes):
        pass


def _column(name):
    import pandas as pd

    return pd.DataFrame({name: HALVES})


def _dataarray(values, labels):
    import xarray as xr

    return xr.DataArray(values, dims="x", coords={"x": labels})


@pytest.mark.parametrize("name", CASES)
def test_the_message_says_what_where_and_how(name):
    use, parts = CASES[name]
    with pytest.raises(bl.InvalidInput) as caught:
        use()
    message = str(caught.value)
    assert message.count("expected") >= 1 and "got" in message
    assert re.search(".*".join(re.escape(part) for part in parts), message, re.DOTALL), message


# -- what is not renormalised, and what is allowed -----------------------------------------------


def test_floats_within_their_rounding_are_kept_as_they_are():
    row = [0.1, 1 - 0.1]
    assert sum(map(F, row)) != 1
    np.testing.assert_array_equal(from_matrix([row]).matrix, [row])
    np.testing.assert_array_equal(bl.pmf(row).probabilities, row)
    third = [1 / 3] * 3
    np.testing.assert_array_equal(bl.pmf(third).probabilities, third)


def test_an_exact_zero_stays_zero():
    mech = from_matrix([[0.1, 0.0, 1 - 0.1], [0.0, 0.3, 0.7]])
    both = mech & mech
    assert set(np.flatnonzero(both.matrix[0] == 0)) == {1, 3, 4, 5, 7}
    assert bl.pmc(bl.pmf(HALVES) * mech).sup().lower == math.inf


# -- nonsense ------------------------------------------------------------------------------------

HUGE = 10**400
NONSENSE = {
    "Finite": [
        None,
        True,
        "ab",
        2.5,
        -1,
        [[1], [2]],
        np.zeros((2, 2)),
        np.array(3),
        [math.nan],
        [{}],
        object(),
    ],
    "Integers": ["a", 0.5, math.inf, math.nan, 1j, [0]],
    "Interval": ["a", math.nan, 1j, HUGE, [0], math.inf],
    "pmf": [
        None,
        "ab",
        ["0.5", "0.5"],
        [],
        0.5,
        [1j],
        [None, 1.0],
        [math.inf, 1],
        [HUGE, 1 - HUGE],
        [[0.5, 0.5], [1.0]],
        {"a": 0.5},
        {1.0},
        np.ma.array([0.5, 0.5], mask=[0, 1]),
        np.array(["2020-01-01"], "M8[D]"),
    ],
    "from_scipy": [None, "beta", 1.0],
    "from_pymc": [None, "beta", 1.0],
    "uniform": ["a", None, LINE, COUNTS, ATOM, bl.Integers(0, 10**30)],
}


@pytest.mark.parametrize("name", NONSENSE)
def test_nonsense_is_invalid_input(name):
    for wrong in NONSENSE[name]:
        with pytest.raises(bl.InvalidInput, match=r"expected .*got "):
            bl.Interval(wrong, None) if name == "Interval" else getattr(bl, name)(wrong)


@pytest.mark.parametrize(
    "wrong",
    [None, "ab", [["a", "b"]], HALVES, np.ones((1, 1, 1)), [[]], [[0.5, 0.5], [1.0]], [[1j]]],
)
def test_nonsense_for_a_matrix(wrong):
    with pytest.raises(bl.InvalidInput, match=r"expected .*got "):
        from_matrix(wrong)


@pytest.mark.parametrize(
    "use",
    [
        lambda: bl.Mixed(UNIT),
        lambda: bl.Mixed(UNIT, atoms=None),
        lambda: bl.Mixed(UNIT, atoms=0.5),
        lambda: bl.Mixed(UNIT, atoms="ab"),
        lambda: bl.Mixed(UNIT, atoms=["a"]),
        lambda: bl.Mixed(UNIT, atoms=[math.nan]),
        lambda: bl.Mixed(UNIT, atoms=[2]),
        lambda: bl.Mixed(UNIT, atoms=[0, 0]),
        lambda: bl.Mixed(AB, atoms=[0]),
        lambda: bl.Interval(1, 1),
        lambda: bl.Interval(1, 0),
        lambda: bl.Integers(3, 2),
        lambda: UNIT**0,
        lambda: UNIT**2.0,
        lambda: UNIT ** "a",
        lambda: bl.Integers().size,
        lambda: bl.Integers().labels,
        lambda: bl.Measure(lambda x: 1.0, on=None),
        lambda: bl.pmf(HALVES, on=["a", "b"]),
        lambda: bl.pmf(HALVES, on=2),
        lambda: bl.pmf(HALVES, on=UNIT),
        lambda: measure(lambda x: 1 + 0 * x, breaks="a"),
        lambda: measure(lambda x: 1 + 0 * x, breaks=0.5),
        lambda: measure(lambda x: 1 + 0 * x, breaks=[math.nan]),
        lambda: measure(lambda x: 1 + 0 * x, tail="a"),
        lambda: measure(lambda x: 1 + 0 * x, params=["a"]),
        lambda: measure(lambda x, a: 1 + 0 * x, params={"a": "b"}),
        lambda: measure(lambda x: 1 + 0 * x, params={"a": 1.0}),
        lambda: measure(lambda x: 0.5 + 0 * x, on=ATOM, masses=[0.5]),
        lambda: measure(lambda x: 0.5 + 0 * x, on=ATOM, masses={"a": 0.5}),
        lambda: mechanism(laplace, breaks=None),
        lambda: mechanism(laplace, breaks=["a"]),
        lambda: mechanism(laplace, params=["b"]),
        lambda: mechanism(laplace, params={"b": "a"}),
        lambda: mechanism(laplace, params={"b": 1.0}),
        lambda: mechanism(laplace, secret=["a"]),
        lambda: mechanism(laplace, outcome="R"),
        lambda: mechanism([1.0]),
        lambda: bl.Mechanism.from_scipy(None, secret=UNIT, outcome=LINE),
        lambda: bl.Mechanism.from_scipy(lambda x: "a", secret=UNIT, outcome=LINE),
        lambda: bl.normal(mu="a"),
        lambda: bl.normal(mu=None),
        lambda: bl.normal(mu=HUGE),
        lambda: bl.normal(sigma=1j),
        lambda: bl.normal(sigma=math.inf),
        lambda: bl.geometric(p="a"),
        lambda: bl.pmf(HALVES).restrict(None),
        lambda: TWO.then(None),
        lambda: TWO.push(None),
        lambda: TWO.restrict(None),
        lambda: NOISE.clip(None, 1),
        lambda: (bl.pmf(HALVES) * TWO).posterior(None),
        lambda: (TWO & TWO).pdf([0, 1], 0),
        lambda: bl.pml(None),
        lambda: bl.pml(bl.pmf(HALVES) * TWO).tail("a"),
        lambda: bl.pml(bl.pmf(HALVES) * TWO).tail(None),
        lambda: bl.pml(bl.pmf(HALVES) * TWO)(None),
    ],
)
def test_more_nonsense_is_invalid_input(use):
    with pytest.raises(bl.InvalidInput, match=r"expected .*got "):
        use()


@pytest.mark.parametrize("frozen", ["beta", "multivariate_normal", "norm of arrays", "norm(0, -1)"])
def test_what_scipy_cannot_place_is_refused(frozen):
    from scipy import stats

    wrong = {
        "beta": stats.beta,
        "multivariate_normal": stats.multivariate_normal([0, 0]),
        "norm of arrays": stats.norm([0, 1], 1),
        "norm(0, -1)": stats.norm(0, -1),
    }[frozen]
    with pytest.raises(bl.InvalidInput, match=r"frozen univariate distribution.*freeze it"):
        bl.from_scipy(wrong)


def test_keyword_only_parameters():
    for use in (
        lambda: bl.normal(0, 1),
        lambda: bl.mechanisms.laplace(1.0),
        lambda: bl.normal(loc=0),
        lambda: bl.mixture([bl.pmf(HALVES)], [1.0]),
        lambda: bl.poisson(),
    ):
        with pytest.raises(TypeError):
            use()


def test_a_secret_that_is_no_point_of_a_product_is_named():
    """The order of arguments is i(x; y): what is wrong is x."""
    square = bl.Interval(0, 1) ** 2
    kernel = bl.Mechanism(
        lambda y, x: 1 + (x[0] * x[1] - 0.5) * (2 * y - 1), secret=square, outcome=square.factors[0]
    )
    density = bl.information_density(bl.uniform(square) * kernel)
    for x in (0.25, (0.25,), (0.25, 0.5, 0.75)):
        with pytest.raises(bl.OutsideAlphabet, match=r"^x: expected a tuple of 2"):
            density(x, 0.5)
    with pytest.raises(bl.OutsideAlphabet, match=r"^x: expected a point of"):
        density((0.25, 1.5), 0.5)


def test_what_is_no_number_says_how_to_make_it_one():
    from scipy import sparse

    masked = np.ma.masked_array([0.5, 0.5, 0.3], mask=[False, False, True])
    for wrong, remedy in (
        (["1/2", "1/2"], r"Fraction\('1/2'\)"),
        ([1j, 0], "floats or Fractions"),
        (masked, r"values\.compressed\(\)"),
    ):
        with pytest.raises(bl.InvalidInput, match=remedy):
            bl.pmf(wrong)
    with pytest.raises(bl.InvalidInput, match=r"values\.toarray\(\)"):
        bl.Mechanism.from_matrix(sparse.eye(3).tocsr())
