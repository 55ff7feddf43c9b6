"""What float64 sees of a joint: the kernel, the axes of the secrets, and their atoms."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from borel.errors import NotYet
from borel.numerics.float64.charts import Axis
from borel.numerics.float64.maximisation import maximise
from borel.probability.alphabets import Interval, Mixed
from borel.probability.mechanism import Mechanism
from borel.probability.normalisation import head_of

if TYPE_CHECKING:
    from borel.probability.joint import Joint


def log_kernel(mechanism: Mechanism, y: Any, x: Any) -> np.ndarray:
    """Return log f(y|x), at an atom of Y the log-mass; -inf also where float64 loses it."""
    out = mechanism.density.resolved(y, x)
    for atom, mass in mechanism.masses.items():
        out = np.where(np.asarray(y) == atom, mass.resolved(x), out)
    return out


class SecretPoints:
    """A joint in float64: its kernel, and its secrets as axes of a density and as atoms."""

    def __init__(self, joint: Joint):
        self.joint = joint
        self.mechanism, self.prior = joint.mechanism, joint.prior
        on = self.prior.on
        self.axes: list[Axis] = []
        self.atoms: Any = None
        self.atom_mass = np.zeros(0)
        if on.kind == "continuous" or isinstance(on, Mixed):
            factors = [a.interval if isinstance(a, Mixed) else a for a in on.factors]
            if not all(isinstance(a, Interval) for a in factors) or len(factors) > 3:
                raise NotYet("the estimate engine", missing=f"secrets on {on!r}")
            breaks = set(self.prior.breaks) | set(self.mechanism.breaks)
            one = tuple(sorted(breaks)) if len(factors) == 1 else ()
            self.axes = [Axis(a.lower, a.upper, one) for a in factors if isinstance(a, Interval)]
            if self.prior.masses:
                self.atoms = np.array(list(self.prior.masses))
                self.atom_mass = np.array(list(self.prior.masses.values()))
        elif on.kind == "finite" and on.numeric:
            labels = on.array
            self.atoms = (
                labels.astype(float)
                if on.dim == 1
                else tuple(np.array(c, float) for c in zip(*labels, strict=True))
            )
            self.atom_mass = np.asarray(self.prior.probabilities, float)
        elif on.kind == "countable" and on.dim == 1:
            self.atoms = head_of(on, 4096).astype(float)
            self.atom_mass = np.asarray(self.prior.pdf(self.atoms), float)
        else:
            raise NotYet("the estimate engine", missing=f"secrets on {on!r}")

    def log_kernel(self, y: Any, x: Any) -> np.ndarray:
        """Return log f(y|x); at an atom of Y the log-mass."""
        return log_kernel(self.mechanism, y, x)

    def typical_secrets(self) -> Any:
        """Return a few secrets: the likeliest, and some spread over the alphabet."""
        if not self.axes:
            order = np.argsort(-self.atom_mass)[:5]
            return (
                tuple(c[order] for c in self.atoms)
                if isinstance(self.atoms, tuple)
                else (self.atoms[order])
            )

        def log_prior(_i: np.ndarray, x: tuple) -> np.ndarray:
            return self.prior.density.logarithm(self._x(x))

        mode = maximise(log_prior, 1, self.axes, rounds=1).argument[0]
        return tuple(np.array([m]) for m in mode) if len(mode) > 1 else np.asarray(mode)

    def _take(self, ys: Any, i: np.ndarray | slice) -> Any:
        return tuple(c[i] for c in ys) if isinstance(ys, tuple) else ys[i]

    def _x(self, x: tuple) -> Any:
        return x[0] if len(self.axes) == 1 else x
