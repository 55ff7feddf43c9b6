"""The interpreter of graphs that also encloses derivatives: a graph, run on jets."""

from __future__ import annotations

import math
from functools import reduce
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from borel import settings
from borel.errors import NotEnclosed
from borel.numerics.graphs.graph import LEAVES
from borel.numerics.graphs.operations import COMPARISONS, FOR_NAN, ON_A_PART
from borel.numerics.intervals import batched, interpreter
from borel.numerics.jets.branches import BRANCHING, Branches

if TYPE_CHECKING:
    from borel.numerics.graphs.graph import Graph
    from borel.numerics.intervals.batched import Box


class Outcome(NamedTuple):
    """A jet over boxes, the branches that were decided there, and where a branch may change."""

    jet: Box
    decisions: dict[int, Box]
    kink: np.ndarray | None


_PARTIAL = ON_A_PART | {"power"} | frozenset(interpreter.UNDEFINED)
"""Operations that have no value at some numbers: ends are NaN there, or it is left out (`_CUT`)."""
_CUT = frozenset(("sqrt", "log"))


class Program:
    """A graph made ready: constants are folded once.

    Parameters
    ----------
    graph : Graph
        The expression.
    varies : set of str
        Inputs whose boxes are of values that an ess sup or an integral ranges over: their ends are
        null sets. (Other inputs may be boxes of one value that is not known better.)

    Raises
    ------
    NotEnclosed
        An operation that interval arithmetic does not know, by name.
    """

    def __init__(self, graph: Graph, varies: frozenset[str] = frozenset()):
        self.graph = graph
        unknown = sorted(graph.operations - set(interpreter.TABLE))
        if unknown:
            raise NotEnclosed(f"interval arithmetic for {', '.join(unknown)} is not known")
        self.constants: dict[int, Box] = {}
        last = {len(graph.nodes) - 1: len(graph.nodes)}
        for k, (op, args) in enumerate(graph.nodes):
            if op == "const":
                self.constants[k] = batched.point(args[0])
            elif op != "input":
                for a in args:
                    last[a] = k
                if all(a in self.constants for a in args):
                    operands = [self.constants[a] for a in args]
                    with np.errstate(all="ignore"):
                        value = interpreter.TABLE[op](*operands)
                    # what may have no value is left to `run`, which remembers the doubt
                    undefined = interpreter.UNDEFINED.get(op, lambda *_: False)(*operands)
                    if not (np.isnan(value).any() or undefined):
                        self.constants[k] = value
        self._last = last
        self._steps = len(graph.nodes) - len(self.constants)
        own = {k for k, (op, args) in enumerate(graph.nodes) if op == "input" and args[0] in varies}
        self._thresholds = {
            k
            for k, (op, args) in enumerate(graph.nodes)
            if op in COMPARISONS and own & set(args) and set(args) - own <= set(self.constants)
        }
        self._doubts = self._asked()
        self._partial = frozenset().union(*self._doubts.values())
        self.branches = bool(BRANCHING & graph.operations)
        """Whether it has kinks or jumps, or may have."""

    def _asked(self) -> dict[int, frozenset[int]]:
        """Return the nodes that NumPy answers for NaN too, with those behind them that may be NaN.

        Of a condition of ``where``, those behind the condition.
        """
        behind: list[frozenset[int]] = []
        out: dict[int, frozenset[int]] = {}
        for k, (op, args) in enumerate(self.graph.nodes):
            used = () if op in LEAVES or k in self.constants else args
            found = frozenset().union(*(behind[a] for a in used))
            asked = behind[args[0]] if op == "where" else found if op in FOR_NAN else frozenset()
            if asked:
                out[k] = asked
            behind.append(found | {k} if used and op in _PARTIAL else found)
        return out

    def run(
        self,
        inputs: dict[str, Box],
        order: int = 0,
        *,
        decisions: dict[int, Box] | None = None,
        start: np.ndarray | None = None,
        everywhere: bool = False,
    ) -> Outcome:
        """Evaluate the graph on jets.

        Parameters
        ----------
        inputs : dict
            Jets by name, arrays ``(length, *lanes)``, all of one number of axes.
        order : int
            Highest derivative.
        decisions : dict, optional
            What the enclosing box decided, by node: those branches are taken here.
        start : ndarray, optional
            The left ends of the boxes; asks where a branch may change inside them.
        everywhere : bool
            Whether single points count: otherwise what is said of a box may fail on a null set.

        Returns
        -------
        Outcome
            The jet of the last node, of length at most ``order + 1``.
        """
        work = Branches(order, decisions, start, everywhere)
        heads = [low for low, _ in inputs.values()]
        ndim = heads[0].ndim
        lanes = math.prod(np.broadcast_shapes(*(head.shape[1:] for head in heads)))
        settings.work("batched", self._steps * (1 + order / 3), lanes)
        values: dict[int, Box] = {}
        doubts: dict[int, np.ndarray] = {}
        with np.errstate(all="ignore"):
            for k, (op, args) in enumerate(self.graph.nodes):
                if op == "input":
                    values[k] = inputs[args[0]]
                elif k in self.constants:
                    low, high = self.constants[k]
                    shaped = np.reshape(low, (1,) * ndim)
                    values[k] = (shaped, shaped if low is high else np.reshape(high, (1,) * ndim))
                else:
                    work.node, work.threshold = k, k in self._thresholds
                    operands = [values[a] for a in args]
                    if k in self._doubts and doubts:
                        operands = self._doubted(k, op, operands, doubts)
                    values[k] = work.apply(op, operands)
                    if k in self._partial:
                        doubt = np.isnan(values[k][0][0]) | np.isnan(values[k][1][0])
                        if op in _CUT:
                            doubt = doubt | (operands[0][0][0] < 0)
                        if op in interpreter.UNDEFINED:
                            heads = ((low[0], high[0]) for low, high in operands)
                            doubt = doubt | interpreter.UNDEFINED[op](*heads)
                        if doubt.any():
                            doubts[k] = doubt
                    for a in args:
                        if self._last[a] == k:
                            values.pop(a, None)
        return Outcome(values[len(self.graph.nodes) - 1], work.made, work.kink)

    def _doubted(
        self, k: int, op: str, operands: list[Box], doubts: dict[int, np.ndarray]
    ) -> list[Box]:
        """Write NaN where there may be no value: NumPy answers there, and as it likes."""
        masks = [doubts[j] for j in self._doubts[k] if j in doubts]
        if not masks:
            return operands
        doubt = reduce(np.logical_or, masks)
        asked = 1 if op == "where" else len(operands)
        unknown = [
            (np.where(doubt, np.nan, low), np.where(doubt, np.nan, high))
            for low, high in operands[:asked]
        ]
        return unknown + operands[asked:]
