"""Formulas of the table of operations: read as graphs, and as functions in any arithmetic."""

from __future__ import annotations

import ast
from functools import cache
from typing import TYPE_CHECKING, Any

from borel.numerics.graphs.graph import LEAVES, GraphBuilder

if TYPE_CHECKING:
    from collections.abc import Callable

    from borel.numerics.graphs.graph import Graph

_SIGNS: dict[type, str] = {
    ast.Add: "add",
    ast.Sub: "subtract",
    ast.Mult: "multiply",
    ast.Div: "divide",
    ast.Lt: "less",
    ast.LtE: "less_equal",
    ast.Eq: "equal",
}


@cache
def formula(text: str) -> Graph:
    """Return a formula as a graph of its names; ``**2`` is a square, and 1 / 3 a quotient.

    Examples
    --------
    >>> [op for op, _ in formula("-special.xlogy(u, v**2)").nodes]
    ['input', 'input', 'square', 'special.xlogy', 'negative']
    """
    b = GraphBuilder()

    def add(node: ast.expr) -> int:
        match node:
            case ast.Constant(int() | float() as value):
                return b.constant(value)
            case ast.Name(name):
                return b.add("input", name)
            case ast.UnaryOp(ast.USub(), ast.Constant(int() | float() as value)):
                return b.constant(-value)
            case ast.UnaryOp(ast.USub(), inner):
                return b.add("negative", add(inner))
            case ast.BinOp(left, ast.Pow(), ast.Constant(2)):
                return b.add("square", add(left))
            case ast.BinOp(left, sign, right) | ast.Compare(left, [sign], [right]):
                return b.add(_SIGNS[type(sign)], add(left), add(right))
            case ast.Call(function, arguments):
                return b.add(ast.unparse(function), *map(add, arguments))
        raise ValueError(f"{ast.unparse(node)} in the formula {text}")

    return b.graph(add(ast.parse(text, mode="eval").body))


def reads_once(text: str) -> bool:
    """Return whether a formula reads each of its names once, so that nothing is overestimated."""
    nodes = formula(text).nodes
    read = [nodes[a] for op, args in nodes if op not in LEAVES for a in args]
    return all(read.count(node) == 1 for node in read if node[0] == "input")


def function_of(
    text: str,
    names: tuple[str, ...],
    rules: Callable[[str], Callable[..., Any]],
    number: Callable[[float], Any],
    context: int = 0,
) -> Callable[..., Any]:
    """Return a formula as a function of values in an arithmetic.

    Parameters
    ----------
    text : str
        The formula.
    names : tuple of str
        The names of the values, in the order in which they are given.
    rules : callable
        By the name of an operation, the function that it is in the arithmetic.
    number : callable
        What a float is in it.
    context : int
        How many of the values come first that the formula does not name: every operation gets them.

    Examples
    --------
    >>> import math
    >>> function_of("sqrt(u)", ("u",), {"sqrt": math.sqrt}.__getitem__, float)(4.0)
    2.0
    """
    first, known = [f"_{k}" for k in range(context)], {}
    words: list[str] = []
    for k, (op, args) in enumerate(formula(text).nodes):
        if op == "input":
            words.append(args[0])
        elif op == "const":
            words.append(f"number_{k}")
            known[words[k]] = number(args[0])
        else:
            words.append(f"rule_{k}({', '.join([*first, *(words[a] for a in args)])})")
            known[f"rule_{k}"] = rules(op)
    # compiled, as a function that is written by hand is: slopes of balls are asked for often
    return eval(f"lambda {', '.join([*first, *names])}: {words[-1]}", known)
