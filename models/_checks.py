"""What the models ask of their data.

Every error says what was expected, what came, where, and how to mend it.
"""

import operator

import numpy as np
import pandas as pd
import xarray as xr

__all__ = [
    "aligned",
    "at_least",
    "concentration",
    "coords",
    "counts",
    "draw_shape",
    "exact_draws",
    "first",
    "interval",
    "labelled",
    "mean_and_deviation",
    "of_counts",
    "of_draw",
    "positive",
    "positive_pair",
    "probability",
    "proportions",
    "reals",
    "stochastic",
    "tally",
]

_ROUNDING = 1e-12  # how far the sum of a row of floats may be from 1


def labelled(values, name):
    """Split array-like values from the labels they carry.

    Parameters
    ----------
    values : array_like, pandas.Series or xarray.DataArray
        The values.
    name : str
        What the caller calls them; used in the errors.

    Returns
    -------
    array : numpy.ndarray
        The values alone.
    labels : list of (list or None)
        One entry an axis: its labels, or None where the axis carries none.
    """
    from borel.probability.arrays import with_labels

    values = with_labels(values)
    if isinstance(values, xr.DataArray):
        indexes = values.indexes
        own = [list(indexes[dim]) if dim in indexes else None for dim in values.dims]
        return values.values, own
    if isinstance(values, (xr.Dataset, dict)):
        raise TypeError(
            f"{name} must be an array, a Series or a DataArray, got {type(values).__name__}; "
            f"pass its values as {name} and its keys as labels"
        )
    array = np.asarray(values)
    return array, [None] * array.ndim


def _labels(asked, size, name):
    """Return `size` distinct labels: those asked for, else 0, ..., size - 1."""
    if asked is None:
        return list(range(size))
    from borel.probability.alphabets import is_missing

    plain = isinstance(asked, np.ndarray) and asked.dtype.kind not in "mM"  # times may be too fine
    asked = asked.tolist() if plain else list(asked)
    if len(asked) != size:
        raise ValueError(
            f"{name} must hold {size} labels, one a row of the data, got {len(asked)}: {asked}"
        )
    if any(is_missing(label) for label in asked):
        raise ValueError(
            f"{name} must not hold a missing label, got {asked}; drop what is missing, or name it "
            f"before you count: answers.fillna('missing')"
        )
    repeated = [label for i, label in enumerate(asked) if label in asked[:i]]
    if repeated:
        raise ValueError(
            f"{name} must be distinct, got {repeated[0]!r} more than once; "
            f"merge its rows, or rename it"
        )
    return asked


def aligned(array, own, asked, name, asked_name, axis=0):
    """Put `array` in the order of the labels `asked`, when it carries labels of its own.

    Returns
    -------
    array : numpy.ndarray
        The values in the order of the labels.
    labels : list
        The labels `asked`, else the array's own, else 0, 1, ...
    """
    size = array.shape[axis]
    if own is None or asked is None:
        return array, _labels(
            own if asked is None else asked, size, asked_name if own is None else name
        )
    own, asked = _labels(own, size, f"the labels of {name}"), list(asked)
    missing = [label for label in asked if label not in own]
    extra = [label for label in own if label not in asked]
    if missing or extra:
        raise ValueError(
            f"{name} and {asked_name} must hold the same labels; only in {asked_name}: "
            f"{missing}, only in {name}: {extra}; add the missing ones (a count "
            f"never seen is 0), drop the others, or pass a plain array to go by position"
        )
    asked = _labels(asked, size, asked_name)
    return np.take(array, [own.index(label) for label in asked], axis=axis), asked


def coords(**labels):
    """Check the labels of a PyMC model, by dim: its sampler cannot return tuples.

    That would show at the end of the sampling only.
    """
    for dim, names in labels.items():
        for label in names:
            if isinstance(label, tuple):
                together = " / ".join(map(str, label))
                raise ValueError(
                    f"the labels of {dim!r} must be single ones, PyMC keeps no tuples, got "
                    f"{label!r}; join its keys, {together!r}, or draw an exact posterior "
                    f"(dirichlet_posterior)"
                )
    return labels


def counts(values, name, *, at_least=1, scalar=False, tallied=True):
    """Check counts: whole numbers, not negative, in one dimension.

    Parameters
    ----------
    values : array_like, pandas.Series or xarray.DataArray, shape (n,)
        The counts.
    name : str
        What the caller calls them.
    at_least : int
        The smallest n allowed.
    scalar : bool
        Whether a single number is welcome too.
    tallied : bool
        Whether they say how often each answer came; else each is a number of its own.

    Returns
    -------
    array : numpy.ndarray of int64, shape (n,), or () for a single number
        The counts.
    labels : list or None
        The labels they carry.
    """
    array, own = labelled(values, name)
    if array.dtype == bool or not np.issubdtype(array.dtype, np.number) or np.iscomplexobj(array):
        mend = (
            "count the answers first, for example with pandas.Series(answers).value_counts() "
            "or np.unique(answers, return_counts=True)"
            if tallied
            else "pass one whole number for each observation"
        )
        raise TypeError(f"{name} must be counts, got values of type {array.dtype}; {mend}")
    if array.ndim > 1 or (array.ndim == 0 and not scalar):
        raise ValueError(
            f"{name} must have one dimension, got shape {array.shape}; pass one count a category"
        )
    if array.ndim == 1 and len(array) < at_least:
        raise ValueError(
            f"{name} must hold at least {at_least} counts, got {len(array)}: {array.tolist()}"
        )
    own = own[0] if own else None
    bad = ~np.isfinite(array) | (array < 0) | (array != np.round(array))
    if bad.any():
        mend = (
            "pass counts, not proportions, and drop what is missing before you count"
            if tallied
            else "drop what is missing"
        )
        raise ValueError(f"{name} must be whole numbers >= 0, got {first(array, bad, own)}; {mend}")
    return array.astype(np.int64), own


def tally(values, name, letters=None, *, at_least=1):
    """Check how often each letter was drawn, as `counts` does; labels of several keys are tuples.

    `letters` are the labels that the caller asked for. Without them a list of codes that looks like
    the answers themselves is refused, and so is a column of a table in any case.
    """
    from borel.priors.tally import flattened, require_counted

    if isinstance(values, dict):
        return counts(values, name)  # which says what to pass
    require_counted(values, name, letters=letters)
    return counts(flattened(values), name, at_least=at_least)


def proportions(successes, trials, groups):
    """Check successes among trials, alone or by groups; return them and the groups' labels."""
    k, own_k = counts(successes, "successes", scalar=True)
    n, own_n = counts(trials, "trials", scalar=True)
    if k.ndim == 0:
        if n.ndim or groups is not None:
            raise ValueError(
                "successes must have one count a group, got a single number; "
                "pass one for each group"
            )
        group = None
    else:
        if n.ndim and len(n) != len(k):
            raise ValueError(
                f"trials must have one count for each of the {len(k)} successes, got {len(n)}"
            )
        n = np.broadcast_to(n, k.shape)
        asked = next((labels for labels in (groups, own_k, own_n) if labels is not None), None)
        k, group = aligned(k, own_k, asked, "successes", "groups")
        n, group = aligned(n, own_n, asked, "trials", "groups")
    if (k > n).any():
        i = int(np.argmax(k > n))
        where = "" if group is None else f" in group {group[i]!r}"
        raise ValueError(
            f"successes must not exceed trials, got {k.flat[i]} of {n.flat[i]}{where}; "
            f"the order is (successes, trials), not (yes, no)"
        )
    return k, n, group


def concentration(values, size, name):
    """Check positive finite numbers, one or `size` of them; return an array of shape (size,)."""
    array, _ = labelled(values, name)
    try:
        array = np.broadcast_to(array.astype(float), (size,))
    except ValueError as error:
        raise ValueError(
            f"{name} must be one number or {size} numbers, got shape {array.shape}"
        ) from error
    bad = ~np.isfinite(array) | (array <= 0)
    if bad.any():
        raise ValueError(
            f"{name} must be positive and finite, got {first(array, bad)}; 1 is the uniform prior"
        )
    return array.copy()


def positive_pair(values, name, meaning):
    """Check a pair of positive finite numbers; `meaning` says what they are."""
    pair = np.asarray(values, dtype=float)
    if pair.shape != (2,) or not np.all(np.isfinite(pair)) or not np.all(pair > 0):
        raise ValueError(f"{name} must be two positive finite numbers, {meaning}, got {values!r}")
    return float(pair[0]), float(pair[1])


def mean_and_deviation(values, name):
    """Check the mean, finite, and the deviation, positive, of a normal prior."""
    pair = np.asarray(values, dtype=float)
    if pair.shape != (2,) or not np.all(np.isfinite(pair)) or not pair[1] > 0:
        raise ValueError(f"{name} must be a finite mean and a positive deviation, got {values!r}")
    return float(pair[0]), float(pair[1])


def at_least(value, least, name):
    """Check an integer that is not below `least`."""
    try:
        integer = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be an integer, got {value!r}") from None
    if integer < least:
        raise ValueError(f"{name} must be at least {least}, got {integer}")
    return integer


def positive(value, name, why):
    """Check one positive finite number; `why` says what is wrong with others."""
    number = _number(value, name)
    if not (np.isfinite(number) and number > 0):
        raise ValueError(f"{name} must be one positive finite number, got {value!r}; {why}")
    return number


def probability(value, name):
    """Check one number in [0, 1]."""
    number = _number(value, name)
    if not 0 <= number <= 1:
        raise ValueError(f"{name} must be a probability in [0, 1], got {value!r}")
    return number


def _number(value, name):
    """Return one number as a float, or say what came instead."""
    try:
        if np.ndim(value) or isinstance(value, (str, bytes)):
            raise TypeError
        return float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be one number, got {value!r}") from None


def interval(lower, upper):
    """Check the ends of a bounded interval."""
    low, high = _number(lower, "lower"), _number(upper, "upper")
    if not (np.isfinite(low) and np.isfinite(high) and low < high):
        raise ValueError(
            f"lower and upper must be finite with lower < upper, got {lower!r} and {upper!r}"
        )
    return low, high


def reals(values, name):
    """Check finite real numbers in one dimension, at least one.

    Returns
    -------
    array : numpy.ndarray of float, shape (n,)
        The numbers.
    labels : list
        The labels they carry, else 0, ..., n - 1.
    """
    array, own = labelled(values, name)
    if not np.issubdtype(array.dtype, np.number) or np.iscomplexobj(array):
        raise TypeError(f"{name} must be real numbers, got values of type {array.dtype}")
    if array.ndim != 1 or not len(array):
        raise ValueError(
            f"{name} must have one dimension and at least one value, got shape {array.shape}"
        )
    array = array.astype(float)
    bad = ~np.isfinite(array)
    if bad.any():
        raise ValueError(
            f"{name} must be finite, got {first(array, bad, own[0])}; drop missing values"
        )
    return array, list(range(len(array))) if own[0] is None else own[0]


def of_draw(draw, name):
    """Return a variable of a posterior draw as floats: draws first, then its own dims."""
    if name not in draw:
        raise ValueError(f"the draw must hold the variable {name!r}, got {sorted(draw)}")
    value = draw[name]
    return np.asarray(getattr(value, "values", value), dtype=float)


def of_counts(by_count, size):
    """Make the law of `size` exchangeable yes-or-no records from that of one order of k yeses.

    Parameters
    ----------
    by_count : numpy.ndarray, shape (..., size + 1)
        The probability of records of which k say yes, in one given order.

    Returns
    -------
    borel.Measure
        On ``bl.Finite(2) ** size``; each draw is divided by its sum, which is 1 to rounding.
    """
    import borel as bl

    if size > 16:
        raise ValueError(f"size must be at most 16 (2**16 labels), got {size}")
    on = bl.Finite(2) ** size
    ones = np.array([np.sum(label) for label in on.labels])
    p = by_count[..., ones]
    return bl.pmf(p / p.sum(axis=-1, keepdims=True), on=on)


def stochastic(kernel, name):
    """Check a row-stochastic matrix: kernel[x, y] = P(y | x), one row a secret.

    Rows may miss 1 by the rounding of their floats (1e-12 for float64); nothing is renormalised.

    Returns
    -------
    array : numpy.ndarray, shape (secrets, outcomes)
        The kernel.
    rows, columns : list or None
        The labels it carries.
    """
    array, own = labelled(kernel, name)
    if array.ndim != 2 or 0 in array.shape:
        raise ValueError(
            f"{name} must be a matrix with a row a secret and a column an outcome, "
            f"got shape {array.shape}"
        )
    # a narrower type of float carries a coarser rounding
    single = array.dtype.kind == "f" and array.dtype.itemsize < 8
    allowed = (array.shape[1] + 8) * float(np.finfo(array.dtype).eps) / 2 if single else _ROUNDING
    array = array.astype(float)
    bad = ~np.isfinite(array) | (array < 0)
    if bad.any():
        x, y = (int(i) for i in np.argwhere(bad)[0])
        raise ValueError(
            f"{name} must hold probabilities >= 0, got {array[x, y]} at row {x}, column {y}"
        )
    sums = array.sum(axis=1)
    off = np.abs(sums - 1) > allowed
    if off.any():
        x = int(np.argmax(off))
        columns = np.all(np.abs(array.sum(axis=0) - 1) <= allowed)
        mend = (
            f"the columns sum to 1: pass {name}.T"
            if columns
            else f"{name}[x, y] is P(y | x); for weights, divide each row by its sum"
        )
        raise ValueError(f"every row of {name} must sum to 1, got {sums[x]} at row {x}; {mend}")
    return array, own[0], own[1]


def draw_shape(draws, chains):
    """Check the shape (chains, draws) of a posterior."""
    for name, value in (("chains", chains), ("draws", draws)):
        try:
            positive = operator.index(value) > 0
        except TypeError:
            positive = False
        if not positive:
            raise ValueError(f"{name} must be a positive integer, got {value!r}")
    return operator.index(chains), operator.index(draws)


def exact_draws(posterior, observed, coords):
    """Wrap independent posterior draws, and the data they rest on, in a DataTree.

    Parameters
    ----------
    posterior : dict
        Name -> (dims after chain and draw, array with leading axes chain, draw).
    observed : dict
        Name -> (dims, array).
    coords : dict
        Dimension -> labels.

    Returns
    -------
    xarray.DataTree
        Its posterior group has the attribute ``borel_draws = "exact"``: the draws are independent
        and come from the posterior itself, so R-hat and ESS have nothing to say about them.
    """
    chains, draws = next(iter(posterior.values()))[1].shape[:2]
    index = {"chain": np.arange(chains), "draw": np.arange(draws)}
    labels = {}
    for name, given in coords.items():
        labels |= _coordinate(name, given)
    drawn = {name: (("chain", "draw", *dims), array) for name, (dims, array) in posterior.items()}
    return xr.DataTree.from_dict(
        {
            "posterior": xr.Dataset(drawn, index | labels, {"borel_draws": "exact"}),
            "observed_data": xr.Dataset(observed, labels),
        }
    )


def _coordinate(name, labels):
    """Return labels as a coordinate: tuples are those of several keys."""
    if not any(isinstance(label, tuple) for label in labels):
        return {name: labels}
    index = pd.MultiIndex.from_tuples(labels)
    return xr.Coordinates.from_pandas_multiindex(index, name)


def first(array, bad, own=None):
    """Say the first bad entry and where it stands."""
    if array.ndim == 0:
        return f"{array.item()}"
    i = int(np.argmax(bad))
    return f"{array.tolist()[i]!r} at position {i}" + (
        "" if own is None else f" (label {own[i]!r})"
    )
