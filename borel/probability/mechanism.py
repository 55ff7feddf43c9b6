"""Mechanisms: kernels P_{Y|X}, given by a density f(y|x), by a matrix, or by another library."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from numbers import Number
from typing import TYPE_CHECKING, Any

import numpy as np

from borel.errors import InvalidInput, NotYet, WrongCall
from borel.numerics.intervals.rounding import U
from borel.probability import kernel_operations
from borel.probability.alphabets import (
    Alphabet,
    Finite,
    Integers,
    Interval,
    Mixed,
    as_number,
    is_whole,
)
from borel.probability.arrays import (
    DOUBLE,
    aligned,
    as_numbers,
    is_labelled,
    labels_of,
    oriented,
    own_labels,
    own_rounding,
    shown,
)
from borel.probability.closed_forms import ClosedForms
from borel.probability.density import Density, breaks_of
from borel.probability.joint import Joint
from borel.probability.measure import Measure
from borel.probability.memo import Memo
from borel.probability.normalisation import DECLARED, Normalisation
from borel.probability.wrong_calls import explained

if TYPE_CHECKING:
    from collections.abc import Callable


def _require_alphabets(**given: Any) -> None:
    for role, alphabet in given.items():
        if not isinstance(alphabet, Alphabet):
            raise InvalidInput(
                "Mechanism",
                expected=f"{role}=<an alphabet>",
                got=shown(alphabet),
                mend="bl.Interval(0, 1) is the numbers between; bl.Finite([...]) are labels.",
            )


@explained
class Mechanism:
    """A privacy mechanism: for every secret x, the law of the outcome Y.

    Parameters
    ----------
    density : callable
        ``f(y, x)``, as in f(y|x): elementwise on broadcastable arrays, with respect to the base
        measure of ``outcome``; a point of a product is a tuple, one array per factor.
    secret, outcome : Alphabet
        The alphabets of x and y.
    log : bool
        Whether ``density`` returns log f(y|x).
    masses : dict, optional
        For a `Mixed` outcome: for each atom, the function ``x -> P(Y = atom | X = x)``;
        ``density`` is then the Lebesgue part only.
    breaks : sequence of float
        Outcomes or secrets where the density jumps or has a kink.
    params : dict
        Numbers passed to ``density`` as keyword arguments; xarray DataArrays give every figure
        their dimensions.
    name : str
        What to call it.
    normalise : bool
        Whether ``density`` and ``masses`` are weights, to be divided by their total over y, as
        those of the exponential mechanism or of truncated noise.

    Raises
    ------
    InvalidInput
        A density that is negative, NaN, not elementwise, or not a law of Y for some x; weights
        whose total is 0 or infinite.
    NotYet
        Weights whose total over y cannot be enclosed.

    Notes
    -----
    The density is traced once, here, into an expression graph; captured values are frozen. A
    function that cannot be traced is *opaque*: its figures on continuous alphabets are estimates.

    Examples
    --------
    >>> import numpy as np, borel as bl
    >>> bl.Mechanism(
    ...     lambda y, x: np.exp(-abs(y - x)) / 2, secret=bl.Interval(0, 1), outcome=bl.Reals()
    ... )
    Mechanism(density: Interval(0, 1) -> Reals())
    """

    __array_ufunc__ = None

    def __new__(cls, *args: Any, params: dict[str, Any] | None = None, **kwargs: Any) -> Any:
        """Make a `MechanismFamily` when a parameter is a DataArray, else a mechanism."""
        density = args[0] if args else kwargs.get("density")
        if isinstance(density, (list, tuple)) or hasattr(density, "__array__"):
            raise InvalidInput(
                "Mechanism",
                expected="a density f(y, x), a function",
                got=f"a table: {shown(density)}",
                mend="a matrix P(y|x), a row for each secret: bl.Mechanism.from_matrix(M).",
            )
        if not (params is None or isinstance(params, dict)):
            raise InvalidInput("Mechanism", expected="params={name: number}", got=repr(params))
        arrays = {n: v for n, v in (params or {}).items() if getattr(v, "dims", ())}
        if not arrays:
            return super().__new__(cls)
        from borel.probability.mechanism_families import MechanismFamily

        fixed = {n: v for n, v in (params or {}).items() if n not in arrays}
        return MechanismFamily(
            lambda **each: cls(*args, params={**fixed, **each}, **kwargs), arrays
        )

    def __init__(
        self,
        density: Any,
        *,
        secret: Alphabet,
        outcome: Alphabet,
        log: bool = False,
        masses: dict[float, Callable] | None = None,
        breaks: Sequence[float] = (),
        params: dict[str, Any] | None = None,
        name: str = "",
        normalise: bool = False,
    ):
        _require_alphabets(secret=secret, outcome=outcome)
        self.secret, self.outcome, self.name = secret, outcome, name
        self.breaks = breaks_of(breaks, "Mechanism")
        self.params = dict(params or {})
        for key, value in self.params.items():
            if np.ndim(value):
                raise InvalidInput(
                    "Mechanism",
                    expected=f"a number for the parameter {key}, or a DataArray",
                    got=f"an array of shape {np.shape(value)}",
                    mend="name its axes: xarray.DataArray(values, dims=..., coords=...).",
                )
            if np.isnan(as_number(value, "Mechanism", f"params: {key}")):
                raise InvalidInput("Mechanism", expected=f"a number for {key}", got="NaN")
        self.closed_forms = ClosedForms()
        self.releases: tuple[Mechanism, ...] = ()  # the two of a & b, where it is a density
        self.reference_prior: Measure | None = None
        self.cdf: Density | None = None
        self.survival: Density | None = None
        self.sampler: Callable | None = None
        self.normalisation = DECLARED
        self._memo = Memo()
        self.examined = False  # whether a proof that it is no law of Y was looked for, in vain
        self.unproved = ""  # why the matrix is known in float64 only, if it is
        self._matrix: np.ndarray | None = None
        self.rounding = 0.0
        self.masses: dict[float, Density] = {}
        self.density: Any = None  # a Density; None for a matrix
        if density is None:
            return
        if not (secret.numeric and outcome.numeric):
            raise InvalidInput(
                "Mechanism",
                expected="numeric labels for a density",
                got=repr(secret if not secret.numeric else outcome),
                mend="give the matrix: bl.Mechanism.from_matrix(K, secret=..., outcome=...).",
            )
        self.density = Density(
            density, {"y": outcome, "x": secret}, log=log, parameters=self.params
        )
        self.density.check(repr(self))
        if isinstance(outcome, Mixed):
            if not (masses is None or isinstance(masses, dict)):
                raise InvalidInput(
                    repr(self), expected="masses={atom: function of x}", got=repr(masses)
                )
            self.masses = {
                as_number(a, "Mechanism", "an atom"): Density(f, {"x": secret})
                for a, f in (masses or {}).items()
            }
            if set(self.masses) != set(outcome.atoms):
                raise InvalidInput(
                    repr(self),
                    expected=f"masses for the atoms {outcome.atoms}",
                    got=str(sorted(self.masses)),
                )
            for atom, mass in self.masses.items():
                mass.check(f"{self!r}, the mass of the atom {atom:g}")
        elif masses:
            raise InvalidInput(repr(self), expected="a Mixed outcome for masses", got=repr(outcome))
        if normalise:
            self._divide()
        if secret.kind == outcome.kind == "finite":
            table = kernel_operations.tabulate(self.density, secret, outcome, repr(self))
            self._set_matrix(table.values, table.rounding)
            self.unproved = table.unproved
        else:
            self.normalisation = kernel_operations.check_normalised(self)

    def _divide(self) -> None:
        """Divide the density and the masses, which are weights, by their total over y."""
        from borel.probability.normalised_weights import divided

        kernels = [self.density, *self.masses.values()]
        graphs = divided(kernels, self.outcome, self.breaks, repr(self))
        self.density, *masses = (
            Density(None, d.alphabets, graph=g) for d, g in zip(kernels, graphs, strict=True)
        )
        self.masses = dict(zip(self.masses, masses, strict=True))

    @classmethod
    def from_matrix(
        cls,
        matrix: Any,
        *,
        secret: Any = None,
        outcome: Any = None,
        name: str = "",
        normalise: bool = False,
    ) -> Mechanism:
        """Make a mechanism from its matrix: row = secret x, column = outcome y.

        Parameters
        ----------
        matrix : array_like (n, m), DataArray or DataFrame
            ``P(y|x)``; Fractions (or integers) make exact ratios. A DataArray brings its labels,
            and the names of its dimensions say which is which: ``x`` or ``secret``, ``y`` or
            ``outcome``. The rows (the index) of a DataFrame are secrets and its columns outcomes,
            unless its axes bear those names.
        secret, outcome : Alphabet, sequence of labels, or str, optional
            0, ..., n - 1 and 0, ..., m - 1 if not given. A string is the name of a dimension.
        normalise : bool
            Whether the entries are weights: rows are divided by their sums, exactly if they hold
            Fractions or integers.

        Raises
        ------
        InvalidInput
            A shape that does not match, negative or NaN entries, rows that do not sum to 1 (or,
            of weights, that sum to 0); dimensions whose names do not say which is the secret.

        Examples
        --------
        >>> Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]], secret=["no", "yes"])
        Mechanism(2 x 2 matrix: Finite(['no', 'yes']) -> Finite(2))
        """
        return cls._from_matrix(matrix, secret, outcome, name, normalise=normalise)

    @classmethod
    def _from_matrix(
        cls,
        matrix: Any,
        secret: Any,
        outcome: Any,
        name: str = "",
        rounding: float = 0.0,
        *,
        normalise: bool = False,
    ) -> Mechanism:
        """Make a mechanism from a matrix whose entries may be off by a relative ``rounding``."""
        names: list[list | None] = [None, None]
        given = {"secret": secret, "outcome": outcome}
        named = {role: name for role, name in given.items() if isinstance(name, str)}
        matrix = oriented(matrix, ("secret", "outcome"), "from_matrix", named=named)
        if is_labelled(matrix) and matrix.ndim == 2:
            names = labels_of(matrix)
            secret = None if "secret" in named else secret
            outcome = None if "outcome" in named else outcome
            matrix = matrix.values
        values, _, precision = as_numbers(matrix)
        if values.ndim != 2 or 0 in values.shape:
            raise InvalidInput(
                "from_matrix",
                expected="a matrix, rows x and columns y",
                got=f"shape {values.shape}",
            )
        alphabets = []
        for role, given, size in (
            ("secret", secret, values.shape[0]),
            ("outcome", outcome, values.shape[1]),
        ):
            own = names[len(alphabets)]
            alphabet: Any = own_labels(own, size) if given is None else given
            if not isinstance(alphabet, Alphabet):
                alphabet = Finite(given)
            if alphabet.kind != "finite" or alphabet.size != size:
                raise InvalidInput(
                    "from_matrix",
                    expected=f"a finite {role} alphabet of {size} labels",
                    got=repr(alphabet),
                    mend="rows are secrets, columns are outcomes.",
                )
            values = aligned(values, len(alphabets), own, alphabet, "from_matrix")
            alphabets.append(alphabet)
        out = cls(None, secret=alphabets[0], outcome=alphabets[1], name=name)
        if normalise:
            own = 0.0 if precision.bits >= DOUBLE.bits else float(precision.eps)
            values, more = kernel_operations.rows_of_weights(values, alphabets[0], own)
            rounding, precision = rounding + more, DOUBLE
        out._set_matrix(values, rounding, precision)
        return out

    @classmethod
    def from_scipy(
        cls, family: Callable, *, secret: Alphabet, outcome: Alphabet, name: str = ""
    ) -> Mechanism:
        """Make a mechanism from ``x -> frozen SciPy distribution``.

        Parameters
        ----------
        family : callable
            Takes an array x and returns a frozen distribution with that batch shape.

        Notes
        -----
        A distribution that `borel.numerics.graphs.scipy_densities` knows by name gives a graph, as
        if its density had been written with NumPy: the family is called once with a traced x.
        Another one stays opaque, and its figures are estimates.

        Examples
        --------
        >>> from scipy import stats
        >>> import borel as bl
        >>> bl.Mechanism.from_scipy(
        ...     lambda x: stats.norm(x, 1), secret=bl.Reals(), outcome=bl.Reals()
        ... ).name
        'scipy norm'
        """
        from borel.numerics.graphs import from_scipy
        from borel.numerics.graphs.foreign_density import either
        from borel.probability.families import is_discrete, require_kind

        _require_alphabets(secret=secret, outcome=outcome)

        def arrays(x: Any) -> Any:
            return tuple(np.asarray(part) for part in x) if isinstance(x, tuple) else np.asarray(x)

        probe = (
            family(arrays(kernel_operations.first_point(secret))) if callable(family) else family
        )
        if not callable(family) or not (hasattr(probe, "logpdf") or hasattr(probe, "logpmf")):
            raise InvalidInput(
                "Mechanism.from_scipy",
                expected="a function of x that returns a frozen SciPy distribution",
                got=type(family).__name__ if not callable(family) else type(probe).__name__,
                mend="write lambda x: scipy.stats.norm(x, 1).",
            )
        discrete = is_discrete(probe)
        require_kind("Mechanism.from_scipy", "outcome", outcome, discrete)
        log = "logpmf" if discrete else "logpdf"
        named = getattr(getattr(probe, "dist", None), "name", type(probe).__name__)

        density = either(
            lambda names, whole: from_scipy.graph_of(family, names, whole),
            lambda y, x: getattr(family(arrays(x)), log)(np.asarray(y)),
            [is_whole(outcome), is_whole(secret)],
        )
        made = cls(density, secret=secret, outcome=outcome, log=True, name=name or f"scipy {named}")
        graph = made.density.graph
        if secret.dim == 1 and isinstance(outcome, Integers) and graph is not None:
            least = from_scipy.least_value(family, ("y", "x"))
            lower = -np.inf if outcome.lower is None else outcome.lower
            whole = outcome.upper is None and least is not None and lower <= least
            if whole and not any(map(math.isnan, graph.constants)):  # valid for every secret
                made.normalisation = Normalisation.by(f"SciPy's {named} is a law of these integers")
        return made

    @classmethod
    def from_pymc(
        cls, family: Callable, *, secret: Alphabet, outcome: Alphabet, name: str = ""
    ) -> Mechanism:
        """Make a mechanism from ``x -> pm.<Distribution>.dist(...)``.

        Parameters
        ----------
        family : callable
            Takes a scalar tensor x and returns a PyMC distribution.

        Notes
        -----
        What ``pm.logp`` returns is read as a graph, and PyMC's checks of parameters with it. If
        an operation in it has no counterpart, the density is opaque: it is compiled by PyTensor,
        and its figures are estimates.

        Raises
        ------
        NotYet
            A law with atoms among floats (a censored, a hurdle or a rounded one), unless
            ``outcome`` is a `Mixed` alphabet with just those atoms.
        """
        import pytensor.tensor as pt

        from borel._compat import compile_logp
        from borel.numerics.graphs import from_pytensor
        from borel.numerics.graphs.foreign_density import either
        from borel.probability.families import require_pymc_law
        from borel.probability.pymc_atoms import parts

        _require_alphabets(secret=secret, outcome=outcome)
        points = [pt.dscalar() for _ in secret.factors]
        point = tuple(points) if secret.dim > 1 else points[0]
        probe = family(point) if callable(family) else family
        if not callable(family) or getattr(probe, "owner", None) is None:
            raise InvalidInput(
                "Mechanism.from_pymc",
                expected="a function of x that returns a PyMC distribution",
                got=type(family if not callable(family) else probe).__name__,
                mend="write lambda x: pm.Normal.dist(x, 1).",
            )
        whole = [is_whole(outcome), is_whole(secret)]
        about: dict[str, Any] = {"secret": secret, "outcome": outcome, "log": True}
        about["name"] = name or "PyMC kernel"
        if require_pymc_law("Mechanism.from_pymc", "outcome", outcome, probe):
            atoms = outcome.atoms  # type: ignore[attr-defined]
            density, logs = parts("Mechanism.from_pymc", family, atoms, secret.dim, whole)
            masses = {a: lambda x, log=log: np.exp(log(x)) for a, log in logs.items()}
            return cls(density, masses=masses, **about)
        density = either(
            lambda names, whole: from_pytensor.graph_of(family, names, whole),
            compile_logp(family, discrete=outcome.kind in ("finite", "countable")),
            whole,
        )
        return cls(density, **about)

    # -- what engines read ------------------------------------------------------------------

    def _set_matrix(self, values: np.ndarray, rounding: float, precision: Any = DOUBLE) -> None:
        values.setflags(write=False)
        self._matrix = values
        miss = kernel_operations.check_rows(values, self.secret, repr(self), rounding, precision)
        if values.dtype == object:
            self.rounding = 0.0
        else:
            own = own_rounding(values, precision, repr(self))
            self.rounding = max(U, miss, rounding, own)
        self.normalisation = Normalisation.by("the rows sum to 1")

    @property
    def matrix(self) -> np.ndarray:
        """The matrix P(y|x), shape (secrets, outcomes), of a finite mechanism."""
        if self._matrix is None:
            raise NotYet(
                "Mechanism.matrix",
                missing=f"{self!r} is not finite",
                instead="evaluate the density: mech.pdf(y, x).",
            )
        return self._matrix

    @property
    def finite(self) -> bool:
        """Whether secret and outcome are both finite."""
        return self._matrix is not None

    @property
    def rational(self) -> bool:
        """Whether the matrix holds Fractions."""
        return self._matrix is not None and self._matrix.dtype == object

    @cached_property
    def floats(self) -> np.ndarray:
        """The matrix in float64, row by row: itself, unless it holds Fractions."""
        return np.ascontiguousarray(self.matrix, dtype=float)

    def pdf(self, y: Any, x: Any) -> np.ndarray:
        """Return f(y|x) at broadcastable labels y and x (the mass, at an atom)."""
        if self._matrix is not None:
            rows = self.secret.positions(x, "x")
            columns = self.outcome.positions(y, "y")
            return self._matrix[rows, columns]
        self.outcome.check(y, "y")
        self.secret.check(x, "x")
        return self._density_or_mass(y, x)

    def _density_or_mass(self, y: Any, x: Any) -> np.ndarray:
        assert self.density is not None
        out = self.density.linear(y, x)
        for atom, mass in self.masses.items():
            out = np.where(np.asarray(y) == atom, mass.linear(x), out)
        return out

    def logpdf(self, y: Any, x: Any) -> np.ndarray:
        """Return log f(y|x) (the log-mass, at an atom); -inf where it is 0."""
        if self._matrix is None:
            self.outcome.check(y, "y")
            self.secret.check(x, "x")
            return self._logpdf(y, x)
        with np.errstate(divide="ignore"):
            return np.log(np.asarray(self.pdf(y, x), float))

    def _logpdf(self, y: Any, x: Any) -> Any:
        """Return log f(y|x) of a density at points taken to be labels; x may be traced."""
        assert self.density is not None
        if not self.masses:
            return self.density.logarithm(y, x)
        with np.errstate(divide="ignore"):
            return np.log(self._density_or_mass(y, x))

    # -- the algebra ------------------------------------------------------------------------

    def __matmul__(self, other: Any) -> Any:
        """Compose kernels: ``post @ mech`` releases a function of Y, ``mech @ pre`` is about Z.

        ``mech @ prior`` is the law of Y. ``post @ mech`` post-processes the outcome, P_{Z|X}; with
        a pre-processing of secrets on the right, ``mech @ pre`` is the mechanism about its input.
        """
        if isinstance(other, Measure):
            return (other * self).marginal
        if isinstance(other, Mechanism):
            return kernel_operations.post_process(self, other)
        return NotImplemented

    def __rmul__(self, prior: Any) -> Any:
        """Return the joint P_X x P_{Y|X} of a prior, ``prior * mech``."""
        if isinstance(prior, Measure):
            return Joint(prior, self)
        if not isinstance(prior, (Sequence, Mapping, np.ndarray, Number)):
            return NotImplemented
        raise WrongCall(
            "prior * mech",
            expected="a measure, a set of priors or a posterior over priors",
            got=f"{type(prior).__name__} {prior!r}"[:80],
            mend="bl.pmf([0.2, 0.8], on=mech.secret) makes a prior of probabilities, "
            "bl.uniform(mech.secret) the uniform one.",
        )

    def __mul__(self, other: Any) -> Mechanism:
        """Return the product of two mechanisms, each about its own secret.

        The kernel P_{Y1|X1} P_{Y2|X2}, of pairs. The joint of a prior is ``prior * mech``.
        """
        if isinstance(other, Mechanism):
            return kernel_operations.independent(self, other)
        raise TypeError("mech * prior: write prior * mech for the joint, mech @ prior for P_Y")

    def __and__(self, other: Any) -> Mechanism:
        """Release two outcomes about one X, independently given X."""
        if not isinstance(other, Mechanism):
            return NotImplemented
        return kernel_operations.both(self, other)

    def then(self, second: Mechanism | Callable[[Any], Mechanism]) -> Mechanism:
        r"""Release y1 from this mechanism, then y2 by one that knows y1 (adaptive composition).

        .. math:: f(y_1, y_2 | x) = f_1(y_1 | x)\, f_2(y_2 | x, y_1)

        Parameters
        ----------
        second : callable or Mechanism
            Of a finite first outcome, a function that gives the finite mechanism for each y1. Of
            outcomes with densities, a mechanism whose secret is the pair (x, y1), on
            ``mech.secret * mech.outcome``: its density takes y2 and the tuple of both.

        Returns
        -------
        Mechanism
            Of pairs (y1, y2). PML and PMC at a pair are certified where both kernels are traced and
            known to be normalised, conditional where that is checked only; suprema over pairs of
            real outcomes are estimates, or open. `borel.guarantees.compose` bounds them.

        Raises
        ------
        InvalidInput
            A mechanism with another secret, or a function that gives none.
        NotYet
            A matrix beside a density, atoms, or a second outcome without a density.

        References
        ----------
        "Pointwise Maximal Leakage", Lemma 1 (composition) and Theorem 4.

        Examples
        --------
        The noise of the second release depends on the first:

        >>> import numpy as np
        >>> import borel as bl
        >>> bit, line = bl.Finite([0.0, 1.0]), bl.Reals()
        >>> first = bl.mechanisms.laplace(b=1.0, secret=bit)
        >>> second = bl.Mechanism(
        ...     lambda y, x: -abs(y - x[0]) / (1 + x[1] ** 2) - np.log(2 * (1 + x[1] ** 2)),
        ...     secret=bit * line, outcome=line, log=True,
        ... )
        >>> joint = bl.pmf([0.25, 0.75], on=bit) * first.then(second)
        >>> bl.pml(joint)((0.5, 0.75))
        Bound(0.08601549685, conditional)
        """
        return kernel_operations.adaptive(self, second)

    if not TYPE_CHECKING:

        @property
        def satisfies(self) -> Any:  # noqa: D102 - it is not there: who asks is told where it is
            raise AttributeError(
                "a mechanism has no 'satisfies'; a joint has it: "
                "(prior * mech).satisfies(guarantee)"
            )

    def push(
        self, function: Callable[[Any], Any], *, outcome: Any = None, breaks: Any = None
    ) -> Mechanism:
        r"""Release ``function(y)`` instead of y (deterministic post-processing).

        .. math:: P\{Z = z | X = x\} = \int_{g(y) = z} f(y|x) dy

        Parameters
        ----------
        function : callable
            Takes an outcome and returns the new one. Of an outcome that is not finite it has
            finitely many values: a threshold ``y > 0.5``, bins ``np.digitize(y, edges)``,
            ``np.floor(np.clip(y, 0, 3))``, ``np.select(...)``.
        outcome : Alphabet or sequence of labels, optional
            The new alphabet; the labels met, in order, if not given (1 and 0 for True and False,
            where the secret is not finite).
        breaks : sequence of float, optional
            Where the function of a real outcome jumps, if its formula does not show it. It is taken
            to be constant between them, with the value that it has in the middle, which is checked
            at five points of each: figures are estimates. For proofs push to numbers by a formula,
            then to names:
            ``mech.push(lambda y: np.digitize(y, edges)).push(lambda k: names[k])``.

        Returns
        -------
        Mechanism
            Finite if the secret is: each probability is an enclosed integral, and figures are as
            of any matrix. For other secrets a formula, by the distribution function of the noise.

        Raises
        ------
        InvalidInput
            A function that differs between declared breaks, or a label that is not in ``outcome``.
        NotYet
            Jumps that are not found. For a secret that is not finite: noise without a distribution
            function, or jumps that are no more than declared.

        References
        ----------
        Post-processing is Lemma 1(vi) of the PMC paper: no supremum of PML or PMC grows.

        Examples
        --------
        >>> import borel as bl
        >>> mech = bl.Mechanism.from_matrix([[0.5, 0.25, 0.25], [0.25, 0.25, 0.5]])
        >>> mech.push(lambda y: y == 2, outcome=[False, True]).matrix
        array([[0.75, 0.25],
               [0.5 , 0.5 ]])
        >>> noise = bl.mechanisms.laplace(b=1.0, secret=bl.Finite(2))
        >>> noise.push(lambda y: y > 0.5).matrix.round(4)
        array([[0.6967, 0.3033],
               [0.3033, 0.6967]])
        """
        return kernel_operations.push(self, function, outcome, breaks)

    def clip(self, lower: float, upper: float) -> Mechanism:
        """Release the outcome clipped to [lower, upper]: atoms appear at the two ends."""
        ends = as_number(lower, "mech.clip", "lower"), as_number(upper, "mech.clip", "upper")
        return kernel_operations.clip(self, *ends)

    def restrict(self, event: Callable[[Any], Any] | Interval) -> Mechanism:
        r"""Condition every P_{Y|X=x} on an event of outcomes, such as the range of a sensor.

        .. math:: f(y|x, Y \in E) = f(y|x) 1_E(y) / P\{Y \in E | X = x\}

        Parameters
        ----------
        event : callable or Interval
            Its indicator, a function of an outcome; or an interval. Of a real outcome the indicator
            is constant between jumps that its formula shows, as in ``push``.

        Returns
        -------
        Mechanism
            On the labels of the event, or on the smallest interval that holds it.

        Raises
        ------
        InvalidInput
            An event without outcomes, or of probability 0 under some secret.
        NotYet
            An event whose jumps, or whose probability as a function of the secret, are not found.

        Examples
        --------
        >>> import borel as bl
        >>> noise = bl.mechanisms.laplace(b=1.0, secret=bl.Interval(0, 1))
        >>> noise.restrict(bl.Interval(0, 1)).outcome
        Interval(0, 1)
        """
        return kernel_operations.restrict(self, event)

    def sample(self, x: Any, *, rng: Any = None) -> np.ndarray:
        """Draw one outcome for each secret.

        Parameters
        ----------
        x : array_like of labels
            The secrets.
        rng : Generator or int, optional
            Passed to ``np.random.default_rng``.

        Returns
        -------
        ndarray
            Outcomes, the shape of ``x``.
        """
        generator = np.random.default_rng(rng)
        if self._matrix is not None:
            rows = self.secret.positions(x, "x")
            law = np.asarray(self._matrix, float)[rows]
            u = generator.random((*np.shape(rows), 1))
            chosen = (np.cumsum(law, axis=-1) < u * law.sum(axis=-1, keepdims=True)).sum(axis=-1)
            return self.outcome.array[chosen.clip(0, law.shape[-1] - 1)]
        self.secret.check(x, "x")
        if self.sampler is None:
            raise NotYet(
                "Mechanism.sample",
                missing=f"a sampler for {self!r}",
                instead="finite mechanisms, bl.mechanisms.laplace and .gaussian can be sampled.",
            )
        return np.asarray(self.sampler(np.asarray(x, float), generator))

    # -- showing ----------------------------------------------------------------------------

    @property
    def opaque(self) -> str:
        """Why the density could not be traced; empty if it was, or if there is a matrix."""
        return self.density.opaque if self.density is not None else ""

    def __repr__(self) -> str:
        """Show the alphabets, and whether it is a matrix, a density, or opaque."""
        if self._matrix is not None and self.density is None:
            what = self.name or f"{self._matrix.shape[0]} x {self._matrix.shape[1]} matrix"
        else:
            what = self.name or "density"
        why = f"; opaque: {self.opaque}" if self.opaque else ""
        return f"Mechanism({what}: {self.secret!r} -> {self.outcome!r}{why})"

    def _repr_html_(self) -> str:
        from html import escape

        step = "next: prior * mech, then bl.pml(joint), bl.pmc(joint)"
        return (
            f"<div><code>{escape(repr(self))}</code><br>normalised: "
            f"{escape(str(self.normalisation))}<br><i>{step}</i></div>"
        )
