"""PyTensor graphs: the log-density of a PyMC distribution as an expression graph of ours.

What is read is the graph that ``pm.logp`` returns, before any rewrite of PyTensor: rewrites fold
constants in float32, move factors about so that a variable occurs more often, and differ from one
version to the next. The few that float64 needs (log1p, logaddexp) are made by
`borel.numerics.graphs.constant_folding`.

Every number is what PyTensor stores, and every operation is one of real numbers: the types int8
and float32, in which PyTensor would compute with literals, round nothing here. The checks of
parameters become ``where(conditions, value, nan)`` around the whole, since PyTensor raises whatever
branch a check is in: float64 gives NaN where one fails, and interval arithmetic gives the whole
line unless they hold for certain.

Tensors of a static shape are arrays of positions in the graph, so that joining, indexing and
reshaping only move numbers; reductions are written out.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from borel.errors import NotTraceable
from borel.numerics.graphs.constant_folding import exact_value, folded
from borel.numerics.graphs.foreign_density import is_integral
from borel.numerics.graphs.graph import GraphBuilder
from borel.numerics.graphs.pytensor_operations import (
    CHAINS,
    LOGICAL,
    MOVES,
    REDUCTIONS,
    SCALAR,
    cast,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from borel.numerics.graphs.foreign_density import Names
    from borel.numerics.graphs.graph import Graph

_LARGEST = 1024  # elements of a tensor: a mixture has a few components, not an image


def graph_of(distribution: Any, names: Names, whole: tuple[str, ...] = ()) -> Graph:
    """Return the graph of the log-density of a PyMC distribution.

    Parameters
    ----------
    distribution : pytensor variable, or callable
        ``pm.Beta.dist(2, 5)``, or a function of a scalar tensor x (of a tuple of them, if its
        name is a tuple) that returns one.
    names : tuple of str
        The name of the value; for a function, then that of x.
    whole : tuple of str
        The names that stand for integers only; any other value of a discrete distribution is
        checked to be one.

    Raises
    ------
    NotTraceable
        The log-density uses an operation that the graph does not know; the message names it.

    Examples
    --------
    >>> import pymc as pm
    >>> graph = graph_of(lambda x: pm.Laplace.dist(x, 2.0), ("y", "x"))
    >>> sorted(graph.operations)
    ['absolute', 'divide', 'log', 'negative', 'subtract']
    """
    import pymc as pm
    import pytensor.tensor as pt

    tensors: dict[Any, str] = {}

    def scalar(name: str, dtype: str = "float64") -> Any:
        tensor = pt.scalar(name, dtype=dtype)
        tensors[tensor] = name
        return tensor

    variable = distribution
    if getattr(distribution, "owner", None) is None:
        points = [tuple(map(scalar, n)) if isinstance(n, tuple) else scalar(n) for n in names[1:]]
        variable = distribution(*points)
    if getattr(getattr(variable, "type", None), "ndim", None) != 0:
        raise NotTraceable("a PyMC distribution that is not a scalar")
    if isinstance(names[0], tuple):
        raise NotTraceable("a PyMC distribution on a product")
    discrete = "float" not in variable.type.dtype
    value = scalar(names[0], "int64" if discrete else "float64")
    translation = _Translation(tensors, whole)
    (last,) = translation.run(pm.logp(variable, value)).ravel()
    if discrete and names[0] not in whole:
        inner = int(translation.positions[value].item())
        integer = translation.add("equal", inner, translation.add("floor", inner))
        last = translation.add("where", integer, int(last), translation.constant(-math.inf))
    if translation.obligations:
        holds = translation.chain("logical_and", *translation.obligations)
        last = translation.add("where", holds, int(last), translation.constant(math.nan))
    inputs = [n for name in names for n in (name if isinstance(name, tuple) else (name,))]
    return folded(translation.graph(int(last), tuple(inputs)))


def law_of(variable: Any) -> tuple[str, dict[str, Fraction]] | None:
    """Return the family that a PyMC distribution is exactly, and its numbers.

    The family is one of `borel.probability.families`.

    None if it is another distribution, or if a parameter is not a number known exactly.
    """
    op = variable.owner.op
    name = type(op).__name__.removesuffix("RV")
    if name not in _LAWS or not type(op).__module__.startswith("pytensor."):
        return None
    try:
        numbers = [_number(parameter) for parameter in op.dist_params(variable.owner)]
    except NotTraceable:
        return None
    if any(n is None for n in numbers):
        return None
    family, of = _LAWS[name]
    try:
        return family, of(*numbers)
    except ZeroDivisionError:
        return None


def atoms_of(variable: Any) -> list[str]:
    """Return, in words, where a PyMC distribution of floats has atoms; nothing if it has a density.

    PyTensor's type says of neither: censored, hurdle and rounded laws are of float64, too.

    Examples
    --------
    >>> import pymc as pm
    >>> atoms_of(pm.Censored.dist(pm.Normal.dist(0, 1), lower=-1, upper=None))
    ['-1']
    >>> atoms_of(pm.Normal.dist(0, 1))
    []
    """
    node = variable.owner
    if node is None:
        return []
    scalar = type(getattr(node.op, "scalar_op", None)).__name__
    kind = type(node.op).__name__.removesuffix("RV")
    found: list[str] = []
    if scalar == "NoneType" and "float" not in variable.type.dtype:
        found = [f"the values of {kind}"] if _is_random(variable) else []
    elif kind == "DiracDelta":
        found = _points(node.inputs[-1:])
    elif kind == "Censored":
        found = atoms_of(node.inputs[0]) + _points(node.inputs[1:3])
    elif kind == "Truncated":
        found = atoms_of(node.inputs[0])
    elif kind in ("Mixture", "_Hurdle"):
        found = [atom for part in node.inputs[2:] for atom in atoms_of(part)]
    elif not type(node.op).__name__.endswith("RV"):
        inputs = {True: [], False: []}
        for part in node.inputs:
            inputs[_is_random(part)].append(part)
        found = [atom for part in inputs[True] for atom in atoms_of(part)]
        if inputs[True] and scalar in _STEPS:
            found = ["whole numbers"]
        elif inputs[True] and scalar in ("Clip", "Maximum", "Minimum"):
            found += _points(inputs[False])
    return list(dict.fromkeys(found))


def apart(graph: Graph, name: str, atoms: Sequence[float]) -> tuple[Graph, list[Graph]]:
    """Return a log-density beside its atoms, and its values at them: logarithms of masses.

    Beside an atom the value is not equal to it.

    Raises
    ------
    NotTraceable
        The graph compares its value with other points than these, or not with all of them.

    Examples
    --------
    >>> import pymc as pm
    >>> law = pm.Censored.dist(pm.Laplace.dist(0, 1), lower=0, upper=None)
    >>> beside, (mass,) = apart(graph_of(law, ("x",)), "x", [0.0])
    >>> "equal" in beside.operations, mass.inputs
    (False, ())
    """
    known: set[float] = set()

    def rule(op: str, *args: int) -> int:
        if op == "equal":
            for one, other in (args, args[::-1]):
                number = b.number(other)
                if b.arguments(one, "input") == (name,) and number is not None:
                    known.add(number)
                    return b.constant(0.0)
        if op == "where" and b.number(args[0]) is not None:
            return args[1] if b.number(args[0]) else args[2]
        return b.add(op, *args)

    b = GraphBuilder()
    beside = b.graph(b.append(graph, rule)[-1], graph.inputs)
    if known != set(atoms):
        raise NotTraceable(f"it has atoms at {sorted(known)}, not at {sorted(atoms)}")
    return beside, [folded(graph.bind({name: atom})) for atom in atoms]


_STEPS = frozenset("RoundHalfToEven RoundHalfAwayFromZero Floor Ceil Trunc Sign".split())


def _is_random(variable: Any) -> bool:
    node = variable.owner
    return node is not None and (
        type(node.op).__name__.endswith("RV") or any(map(_is_random, node.inputs))
    )


def _points(variables: list[Any]) -> list[str]:
    """Return numbers in words, infinite ones left out."""
    found = []
    for variable in variables:
        if hasattr(variable, "data"):
            numbers = np.ravel(variable.data).astype(float)
            found += [f"{v:g}" for v in numbers if math.isfinite(v)]
            continue
        try:
            number = _number(variable)
        except NotTraceable:
            number = None
        found.append("points that are computed" if number is None else f"{float(number):g}")
    return found


def _number(parameter: Any) -> Fraction | None:
    if parameter.type.ndim:
        return None
    translation = _Translation({})
    last = int(translation.run(parameter).item())
    if translation.obligations:
        return None
    return exact_value(translation.graph(last))


_LAWS: dict[str, tuple[str, Callable[..., dict[str, Fraction]]]] = {
    "Normal": ("normal", lambda mu, sigma: {"mu": mu, "sigma": sigma}),
    "Laplace": ("laplace", lambda mu, b: {"mu": mu, "b": b}),
    "Cauchy": ("cauchy", lambda alpha, beta: {"alpha": alpha, "beta": beta}),
    "Beta": ("beta", lambda alpha, beta: {"alpha": alpha, "beta": beta}),
    "Gamma": ("gamma", lambda alpha, scale: {"alpha": alpha, "beta": 1 / scale}),
    "Exponential": ("exponential", lambda scale: {"lam": 1 / scale}),
    "Poisson": ("poisson", lambda mu: {"mu": mu}),
    "Geometric": ("geometric", lambda p: {"p": p}),
    "Uniform": ("uniform", lambda lower, upper: {"lower": lower, "upper": upper}),
}
"""For a random variable of PyTensor: our family, and its parameters from PyTensor's."""


class _Translation(GraphBuilder):
    """The nodes of a graph of ours, and where in it the values of PyTensor's variables are.

    ``obligations`` are the positions of what was checked on the way.
    """

    def __init__(self, inputs: dict[Any, str], whole: tuple[str, ...] = ()):
        super().__init__()
        self._whole = whole
        self.obligations: dict[int, None] = {}
        self.positions: dict[Any, np.ndarray] = {
            tensor: np.array(self.add("input", name)) for tensor, name in inputs.items()
        }

    def add(self, op: str, *args: Any) -> int:
        """Add an operation, unless it rounds what is an integer: PyMC does that to counts."""
        if op in ("trunc", "floor", "ceil") and is_integral(self.nodes, args[0], self._whole):
            return args[0]
        return super().add(op, *args)

    def place(self, position: int) -> int:
        """Return the constant at a position, an index or a part of a shape."""
        value = self.number(position)
        if value is None:
            raise NotTraceable("an index or a shape that depends on y or x")
        return int(value)

    def chain(self, op: str, *args: int) -> int:
        """Add an associative operation of several arguments."""
        out = args[0]
        for arg in args[1:]:
            out = self.add(op, out, arg)
        return out

    def run(self, variable: Any) -> np.ndarray:
        """Return the positions of a variable, translating all that it needs, inputs first."""
        stack = [variable]
        while stack:
            current = stack[-1]
            if current in self.positions:
                stack.pop()
                continue
            node = current.owner
            if node is None:
                self.positions[current] = self._root(current)
                continue
            missing = [v for v in node.inputs if v not in self.positions and _is_tensor(v)]
            if missing:
                stack.extend(missing)
                continue
            self.positions[current] = self._node(node, current)
        return self.positions[variable]

    def _root(self, variable: Any) -> np.ndarray:
        """Return a constant, or what a shared variable holds now: captured values are frozen."""
        if hasattr(variable, "data"):
            data = np.asarray(variable.data)
        elif hasattr(variable, "get_value"):
            data = np.asarray(variable.get_value())
        else:
            raise NotTraceable(f"PyTensor's variable {variable}, which is neither y nor x")
        if data.dtype.kind not in "biuf" or data.size > _LARGEST:
            raise NotTraceable(f"a constant of type {data.dtype} and shape {data.shape}")
        numbers = data.astype(float)
        if data.dtype.kind in "iu" and any(
            int(a) != int(b) for a, b in zip(numbers.ravel(), data.ravel(), strict=True)
        ):
            raise NotTraceable("an integer that float64 does not hold")
        return _filled(data.shape, [self.constant(v) for v in numbers.ravel()])

    def _node(self, node: Any, out: Any) -> np.ndarray:
        op = node.op
        kinds = [c.__name__ for c in type(op).__mro__]
        if len(node.outputs) != 1 or "complex" in str(getattr(out.type, "dtype", "")):
            raise NotTraceable(f"PyTensor's {_name(op)}")
        args = [self.positions.get(v) for v in node.inputs]
        if "Elemwise" in kinds:
            return self._elementwise(op.scalar_op, node, out, args)
        if "CAReduce" in kinds and type(op).__name__ in REDUCTIONS:
            return self._reduce(REDUCTIONS[type(op).__name__], op.axis, args[0])
        if "LogSumExp" in kinds:
            return self._reduce("logaddexp", op.axis, args[0])
        if "CheckAndRaise" in kinds:
            return self._check(*args)
        for kind in kinds:
            if kind in MOVES:
                return np.asarray(MOVES[kind](self, node, *args), int)
        if hasattr(op, "fgraph"):  # an operation that PyTensor defines by others
            return self._inner(op.fgraph, args)
        raise NotTraceable(f"PyTensor's {_name(op)}")

    def _elementwise(self, scalar: Any, node: Any, out: Any, args: list) -> np.ndarray:
        name = type(scalar).__name__
        rule = SCALAR.get(name)
        if name == "Cast":
            rule = cast(node.inputs[0], out.type.dtype)
        elif name in LOGICAL and all(v.type.dtype == "bool" for v in node.inputs):
            rule = LOGICAL[name]
        if rule is None:
            raise NotTraceable(f"PyTensor's {_name(node.op)}")
        arrays = np.broadcast_arrays(*args)
        found = []
        for each in zip(*(a.ravel().tolist() for a in arrays), strict=True):
            if callable(rule):
                found.append(rule(self, *each))
            else:
                found.append((self.chain if rule in CHAINS else self.add)(rule, *each))
        return _filled(arrays[0].shape, found)

    def _reduce(self, op: str, axis: Any, values: Any) -> np.ndarray:
        axes = range(values.ndim) if axis is None else np.atleast_1d(axis).tolist()
        axes = {a % values.ndim for a in axes} if values.ndim else set()
        kept = [a for a in range(values.ndim) if a not in axes]
        shape = tuple(values.shape[a] for a in kept)
        rows = values.transpose(*kept, *sorted(axes)).reshape(math.prod(shape), -1)
        if rows.shape[1] == 0:
            raise NotTraceable("a reduction of an empty tensor")
        return _filled(shape, [self.chain(op, *row) for row in rows.tolist()])

    def _check(self, values: Any, *conditions: Any) -> np.ndarray:
        """Note what PyTensor would raise for: it has to hold for the whole density."""
        for condition in conditions:
            self.obligations.update(dict.fromkeys(condition.ravel().tolist()))
        return values

    def _inner(self, inner: Any, args: list) -> np.ndarray:
        outside = self.positions
        self.positions = dict(zip(inner.inputs, args, strict=True))
        try:
            return self.run(inner.outputs[0])
        finally:
            self.positions = outside


def _is_tensor(variable: Any) -> bool:
    return np.dtype(getattr(variable.type, "dtype", "O")).kind in "biufc"


def _name(op: Any) -> str:
    scalar = getattr(op, "scalar_op", None)
    if scalar is None or not hasattr(op, "inplace_pattern"):
        return type(op).__name__
    return str(scalar) if type(scalar).__name__ == "Cast" else type(scalar).__name__


def _filled(shape: tuple[int, ...], positions: list[int]) -> np.ndarray:
    return np.array(positions, int).reshape(shape)
