"""Linear programmes in float64, by HiGHS: what it returns proves nothing by itself."""

from __future__ import annotations

from typing import Any

import numpy as np

from borel import settings


def linprog(cost: np.ndarray, **about: Any) -> Any:
    """Solve a linear programme as `scipy.optimize.linprog` does, and count the work.

    Examples
    --------
    >>> linprog(np.array([-1.0, -2.0]), A_ub=np.array([[1.0, 1.0]]), b_ub=[1.0]).fun
    -2.0
    """
    from scipy import optimize

    found = optimize.linprog(cost, **about)
    tables = [about[name] for name in ("A_ub", "A_eq") if about.get(name) is not None]
    settings.work("programmes", 1, sum(len(cost) + table.shape[0] for table in tables))
    settings.work("pivots", getattr(found, "nit", 0), sum(table.shape[0] for table in tables))
    return found
