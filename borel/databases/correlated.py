"""One entry of a database whose law is a table on D**n: the entries may depend on one another."""

from __future__ import annotations

from typing import Any

import numpy as np

from borel.errors import InvalidInput, NotYet
from borel.numerics.intervals.rounding import U, compounded
from borel.priors.sets import PriorSet
from borel.probability.alphabets import Product
from borel.probability.arrays import as_floats, carried, require_no_underflow
from borel.probability.joint import Joint
from borel.probability.measure import Measure
from borel.probability.mechanism import Mechanism


def is_table(joint: Any) -> bool:
    """Whether the secret of a joint is a finite product with one law: a table of databases."""
    prior = getattr(joint, "prior", None)
    return (
        isinstance(prior, Measure)
        and not prior.batch
        and prior.on.kind == "finite"
        and isinstance(prior.on, Product)
    )


def entry_of_table(joint: Joint, i: int) -> Joint:
    r"""Return the joint of entry i: its own law, and the kernel given it.

    .. math:: f(y|d) = \sum_{x : x_i = d} P(x \mid x_i = d) f(y|x)

    An entry of probability 0 has any kernel, here that of equal weights: a null set.
    """
    prior, mechanism = joint.prior, joint.mechanism
    if not mechanism.finite:
        raise NotYet(
            "bl.entry",
            missing="outcomes that are not finite, for a table of databases",
            instead="a finite mechanism, or independent entries: bl.iid(prior, n).",
        )
    on = prior.on
    sizes = [factor.size for factor in on.factors]
    rows = np.asarray(mechanism.secret.positions(list(on.labels), "x"))
    law, kernel = prior.probabilities, mechanism.matrix[rows]
    exact = prior.rational and mechanism.rational
    if not exact:
        law, kernel = as_floats(law, "bl.entry"), as_floats(kernel, "bl.entry")
        require_no_underflow("bl.entry", law, kernel)
    weights = np.moveaxis(law.reshape(sizes), i, 0).reshape(sizes[i], -1)
    cells = np.moveaxis(kernel.reshape(*sizes, -1), i, 0).reshape(*weights.shape, -1)
    masses = weights.sum(axis=1)
    possible = np.asarray(masses != 0, bool)
    weights = np.where(possible[:, None], weights, 1)
    totals = weights.sum(axis=1)
    each = [w @ block / total for w, block, total in zip(weights, cells, totals, strict=True)]
    own = rounding = 0.0
    if not exact:
        length = (weights.shape[1] + 3) * U
        own = compounded(max(prior.rounding, U), length)
        rounding = compounded(own, max(prior.rounding, U), max(mechanism.rounding, U), length)
    name = f"entry {i} of {mechanism.name or 'a mechanism'}"
    alphabet = on.factors[i]
    out = Mechanism._from_matrix(np.stack(each), alphabet, mechanism.outcome, name, rounding)
    out.unproved = carried(prior, mechanism)
    return Measure(masses, alphabet, rounding=own, unproved=prior.unproved) * out


def is_set(joint: Any) -> bool:
    """Whether the secret of a joint is a finite product with a set of laws."""
    prior = getattr(joint, "prior", None)
    return isinstance(prior, PriorSet) and isinstance(prior.on, Product) and not _of_entry(joint)


def _of_entry(joint: Any) -> bool:
    return hasattr(joint, "i")


def entries_of(joint: Any) -> int:
    """Return how many entries the databases of a joint have, or say what was expected."""
    if hasattr(joint, "entry") and getattr(joint, "i", None) is None:
        return joint.database.n
    if is_table(joint) or is_set(joint):
        return joint.prior.on.dim
    raise InvalidInput(
        "bl.entry",
        expected="a joint over databases, bl.iid(prior, n) * mech, or one law, or a "
        "set of them, on D**n times mech",
        got=repr(joint),
    )
