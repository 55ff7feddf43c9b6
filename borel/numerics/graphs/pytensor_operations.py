"""PyTensor's operations by the names of their classes, and what each is in a graph of ours."""

from __future__ import annotations

from typing import Any

import numpy as np

from borel.errors import NotTraceable
from borel.numerics.graphs.operations import OPERATIONS


def _clip(t: Any, a: int, low: int, high: int) -> int:
    return t.add("minimum", t.add("maximum", a, low), high)


def _softplus(t: Any, a: int) -> int:
    return t.add("logaddexp", t.constant(0), a)


def _log1mexp(t: Any, a: int) -> int:
    """Add log(1 - exp(a)), a < 0, by whichever form keeps its digits; PyTensor's own rule."""
    near = t.add("log", t.add("negative", t.add("expm1", a)))
    far = t.add("log1p", t.add("negative", t.add("exp", a)))
    small = t.add("less", a, t.add("log", t.constant(0.5)))
    return t.add("where", small, far, near)


def _xlogy(t: Any, a: int, b: int) -> int:
    zero = t.constant(0)
    product = t.add("multiply", a, t.add("log", b))
    return t.add("where", t.add("equal", a, zero), zero, product)


def _xlog1py(t: Any, a: int, b: int) -> int:
    zero = t.constant(0)
    product = t.add("multiply", a, t.add("log1p", b))
    return t.add("where", t.add("equal", a, zero), zero, product)


SCALAR: dict[str, Any] = {
    **{name: op for op, of in OPERATIONS.items() for name in of.pytensor.split()},
    "Softplus": _softplus,
    "Log1mexp": _log1mexp,
    "Clip": _clip,
    "Second": lambda t, a, b: b,
    "Identity": lambda t, a: a,
}
"""Elementwise operations: a name of ours, or a function that adds several nodes."""

LOGICAL = {
    "AND": "logical_and",
    "OR": "logical_or",
    "XOR": "logical_xor",
    "Invert": "logical_not",
    "Add": "logical_or",
    "Mul": "logical_and",
}
"""Operations on truth values only; AND, OR and Invert of integers are of their bits."""

CHAINS = frozenset("add multiply maximum minimum logical_and logical_or".split())
"""Those of any number of arguments."""

REDUCTIONS = {
    "Sum": "add",
    "Prod": "multiply",
    "Max": "maximum",
    "Min": "minimum",
    "All": "logical_and",
    "Any": "logical_or",
}

_ROUNDED = frozenset({"Floor", "Ceil", "Trunc", "RoundHalfToEven"})


def cast(source: Any, target: str) -> Any:
    """Return the rule of a conversion that is exact or defined; None if it would round."""
    old, new = np.dtype(source.type.dtype), np.dtype(target)
    if new.kind == "b" and old.kind != "b":
        return lambda t, a: t.add("not_equal", a, t.constant(0))
    # int64 counts as exact: labels beyond 2**53 are not numbers of any alphabet
    if np.can_cast(old, new, "safe") or (old.kind in "iu" and new == np.float64):
        return SCALAR["Identity"]
    if old.kind == "f" and new == np.int64:
        scalar = getattr(getattr(source.owner, "op", None), "scalar_op", None)
        return SCALAR["Identity"] if type(scalar).__name__ in _ROUNDED else "trunc"
    return None


# -- operations that only move numbers -----------------------------------------------------------


def _same(t: Any, node: Any, values: np.ndarray, *_: Any) -> np.ndarray:
    return values


def _static(node: Any) -> tuple[int, ...]:
    shape = node.outputs[0].type.shape
    if any(n is None for n in shape):
        raise NotTraceable(f"PyTensor's {type(node.op).__name__} to a shape that is not static")
    return shape


def _join(t: Any, node: Any, *args: Any) -> np.ndarray:
    if hasattr(node.op, "axis"):
        return np.concatenate(args, node.op.axis)
    return np.concatenate(args[1:], t.place(int(args[0])))  # PyTensor 2


def _subtensor(t: Any, node: Any, values: np.ndarray, *indices: Any) -> np.ndarray:
    """Index by PyTensor itself: what it indexes are positions instead of numbers."""
    storage: list = [[None]]
    numbers = [np.int64(t.place(int(i))) for i in indices]
    node.op.perform(node, [values, *numbers], storage)
    return storage[0][0]


def _dim_shuffle(t: Any, node: Any, values: np.ndarray) -> np.ndarray:
    storage: list = [[None]]
    node.op.perform(node, [values], storage)
    return storage[0][0]


def _shape(t: Any, node: Any, values: np.ndarray) -> np.ndarray:
    return np.array([t.constant(n) for n in values.shape], int)


MOVES: dict[str, Any] = {
    **dict.fromkeys(
        ("ScalarFromTensor", "TensorFromScalar", "SpecifyShape", "DeepCopyOp", "ViewOp"), _same
    ),
    "MakeVector": lambda t, node, *args: np.array(args, int),
    "Join": _join,
    "DimShuffle": _dim_shuffle,
    "Subtensor": _subtensor,
    "Alloc": lambda t, node, values, *_: np.broadcast_to(values, _static(node)),
    "Reshape": lambda t, node, values, *_: values.reshape(_static(node)),
    "Shape": _shape,
    "Shape_i": lambda t, node, values: t.constant(values.shape[node.op.i]),
    "XLogY": lambda t, node, *args: _each(t, _xlogy, *args),
    "XLog1PY": lambda t, node, *args: _each(t, _xlog1py, *args),
}
"""Other operations, by the name of their class or of a base class of it."""


def _each(t: Any, rule: Any, *args: np.ndarray) -> np.ndarray:
    arrays = np.broadcast_arrays(*args)
    rows = zip(*(a.ravel().tolist() for a in arrays), strict=True)
    return np.array([rule(t, *row) for row in rows], int).reshape(arrays[0].shape)
