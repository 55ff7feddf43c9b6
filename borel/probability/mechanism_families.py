"""Families of mechanisms: one for each value of parameters given as labelled arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from borel.errors import InvalidInput, NotYet
from borel.probability.bound import Bound, weakest
from borel.probability.joint import Joint
from borel.probability.measure import Measure

if TYPE_CHECKING:
    from collections.abc import Callable

    import xarray as xr

    from borel.probability.mechanism import Mechanism


class MechanismFamily:
    """Mechanisms with the same alphabets, one for each value of some parameters.

    Made by `bl.mechanisms.laplace` and the others, and by ``bl.Mechanism(..., params={...})``,
    when a parameter is a DataArray. ``prior * family`` is a `JointFamily`, and every figure of it
    is a Dataset with the parameters' dimensions.

    Parameters
    ----------
    factory : callable
        Takes one number for each parameter, by keyword, and returns a `Mechanism`.
    params : dict of DataArray
        The parameters by name. They are broadcast together by their dimensions; coordinates of
        one dimension must be equal. A DataArray whose only dimension bears the parameter's own
        name, without coordinates, is labelled by its values.

    Attributes
    ----------
    params : dict of DataArray
        The parameters, all with the dimensions of the family.
    mechanisms : DataArray of Mechanism
        The members; ``family.mechanisms.sel(b=1.0).item()`` is one of them.

    Raises
    ------
    InvalidInput
        Coordinates that do not match, an empty array, members whose alphabets differ.

    Notes
    -----
    Members are made one by one: a family is for the few values of a parameter study.

    Examples
    --------
    >>> import xarray as xr, borel as bl
    >>> noise = bl.mechanisms.laplace(b=xr.DataArray([1.0, 2.0], dims="b"))
    >>> bl.pml(bl.uniform(bl.Interval(0, 1)) * noise).sup()["upper"].round(4).values
    array([0.4587, 0.2396])
    """

    __array_ufunc__ = None

    def __init__(self, factory: Callable[..., Mechanism], params: dict[str, Any]):
        self.params = _broadcast(params)
        some = next(iter(self.params.values()))
        if not some.size:
            raise InvalidInput("MechanismFamily", expected="at least one value", got="none")
        members = np.empty(some.shape, dtype=object)
        for index in np.ndindex(some.shape):
            members[index] = factory(**{n: _scalar(v, index) for n, v in self.params.items()})
        first = members.flat[0]
        for member in members.flat:
            if (member.secret, member.outcome) != (first.secret, first.outcome):
                raise InvalidInput(
                    "MechanismFamily",
                    expected=f"members like {first!r}",
                    got=repr(member),
                    mend="give all of them one pair of alphabets.",
                )
        self.mechanisms = some.copy(data=members).rename("mechanism")

    @property
    def secret(self) -> Any:
        """The alphabet of the secret, the same for all members."""
        return self.mechanisms.values.flat[0].secret

    @property
    def outcome(self) -> Any:
        """The alphabet of the outcome, the same for all members."""
        return self.mechanisms.values.flat[0].outcome

    def map(self, function: Callable[[Mechanism], Mechanism]) -> MechanismFamily:
        """Return the family of ``function(mechanism)``: ``family.map(lambda m: m & other)``."""
        out = object.__new__(MechanismFamily)
        out.params = self.params
        out.mechanisms = self.mechanisms.copy(data=_each(function, self.mechanisms.values))
        return out

    def clip(self, lower: float, upper: float) -> MechanismFamily:
        """Release the outcome clipped to [lower, upper], for every member."""
        return self.map(lambda mechanism: mechanism.clip(lower, upper))

    def __rmul__(self, prior: Any) -> JointFamily:
        """Return the joints of a prior with every member."""
        if not isinstance(prior, Measure):
            raise NotYet(
                "prior * family",
                missing=f"a family of mechanisms times {type(prior).__name__}",
                instead="one mechanism at a time: prior * family.mechanisms.sel(...).item().",
            )
        return JointFamily(prior, self)

    def __repr__(self) -> str:
        """Show the parameters and the alphabets."""
        sizes = ", ".join(f"{dim}: {n}" for dim, n in self.mechanisms.sizes.items())
        names = ", ".join(self.params)
        return f"MechanismFamily({names} over ({sizes}): {self.secret!r} -> {self.outcome!r})"


class JointFamily:
    """The joints of one prior with a family of mechanisms; made by ``prior * family``.

    Every figure of it (``bl.pml(joint).sup()``, ``bl.ldp(joint)``, ...) is a Dataset of
    ``lower``, ``upper`` and ``status`` over the parameters' dimensions.

    Attributes
    ----------
    prior : Measure
        The law of the secret.
    mechanism : MechanismFamily
        The kernels.
    joints : DataArray of Joint
        One joint for each member.
    """

    __array_ufunc__ = None

    def __init__(self, prior: Measure, mechanism: MechanismFamily):
        self.prior, self.mechanism = prior, mechanism
        members = mechanism.mechanisms
        self.joints = members.copy(data=_each(lambda m: Joint(prior, m), members.values)).rename(
            "joint"
        )

    @property
    def secret(self) -> Any:
        """The alphabet of the prior."""
        return self.prior.on

    @property
    def outcome(self) -> Any:
        """The alphabet of the outcome."""
        return self.mechanism.outcome

    def each(self, figure: Callable[[Joint], Any], quantity: str = "") -> xr.Dataset:
        """Compute a figure of every joint: Bounds, or Datasets over outcomes.

        Returns
        -------
        Dataset
            ``lower``, ``upper``, ``status`` over the parameters' dimensions; ``attrs`` hold the
            units, the weakest status, what the figures rest on and the reasons that they give.
        """
        return _gather(self.joints, _each(figure, self.joints.values), quantity)

    def satisfies(self, guarantee: Any) -> xr.DataArray:
        """Return ``"holds"``, ``"fails"`` or ``"undecided"`` for every joint."""
        words = {True: "holds", False: "fails", None: "undecided"}
        found = _each(lambda joint: words[joint.satisfies(guarantee).holds], self.joints.values)
        return self.joints.copy(data=found.astype(str)).rename("satisfies")

    def __repr__(self) -> str:
        """Show the prior and the family."""
        return f"JointFamily({self.prior!r} * {self.mechanism!r})"


class LeakageFamily:
    """PML or PMC of a family of joints: the methods of `LeakageVariable`, each a Dataset."""

    __array_ufunc__ = None

    def __init__(self, joint: JointFamily, leakage: Callable[[Joint], Any]):
        self.joint = joint
        self._members = joint.joints.copy(data=_each(leakage, joint.joints.values))

    def _all(self, figure: Callable[[Any], Any]) -> xr.Dataset:
        kind = self._members.values.flat[0].kind
        return _gather(self._members, _each(figure, self._members.values), kind)

    def __call__(self, y: Any) -> xr.Dataset:
        """Return the leakage at one outcome, or at many (then with the dimension ``y`` too)."""
        return self._all(lambda ell: ell(y))

    def sup(self) -> xr.Dataset:
        """Return the essential suprema over Y."""
        return self._all(lambda ell: ell.sup())

    def tail(self, t: Any = None, *, closed: bool = False, ratio: Any = None) -> xr.Dataset:
        """Return P{leakage > t}; with ``closed=True``, P{leakage >= t}. ``ratio`` is e^t."""
        return self._all(lambda ell: ell.tail(t, closed=closed, ratio=ratio))

    def cdf(self, t: Any = None, *, ratio: Any = None) -> xr.Dataset:
        """Return P{leakage <= t}; ``ratio`` is e^t."""
        return self._all(lambda ell: ell.cdf(t, ratio=ratio))

    def quantile(self, s: Any, *, side: str = "left") -> xr.Dataset:
        """Return the quantiles at level s."""
        return self._all(lambda ell: ell.quantile(s, side=side))

    def mean(self) -> xr.Dataset:
        """Return the means."""
        return self._all(lambda ell: ell.mean())

    def exp_mean(self) -> xr.Dataset:
        """Return E e^leakage."""
        return self._all(lambda ell: ell.exp_mean())

    def __repr__(self) -> str:
        """Show which leakage, and of what."""
        return f"LeakageFamily({self._members.values.flat[0].kind} of {self.joint!r})"


def _scalar(array: Any, index: tuple[int, ...]) -> Any:
    value = array.values[index]
    return value.item() if isinstance(value, np.generic) else value


def _each(function: Callable[[Any], Any], members: np.ndarray) -> np.ndarray:
    """Apply a function to every member of an object array."""
    out = np.empty(members.shape, dtype=object)
    for index in np.ndindex(members.shape):
        out[index] = function(members[index])
    return out


def _broadcast(params: dict[str, Any]) -> dict[str, Any]:
    import xarray as xr

    labelled = {}
    for name, array in params.items():
        if array.dims == (name,) and name not in array.coords:
            array = array.assign_coords({name: array.values})
        labelled[name] = array.drop_vars([c for c in array.coords if c not in array.dims])
    try:
        aligned = xr.align(*labelled.values(), join="exact", copy=False)
    except ValueError as error:
        raise InvalidInput(
            "MechanismFamily",
            expected="parameters with equal coordinates along shared dimensions",
            got=str(error).splitlines()[0],
        ) from None
    return dict(zip(labelled, xr.broadcast(*aligned), strict=True))


def _gather(template: Any, found: np.ndarray, quantity: str) -> xr.Dataset:
    """Put Bounds, or Datasets of one shape, into one Dataset with the template's dimensions."""
    import xarray as xr

    first = found.flat[0]
    if isinstance(first, Bound):
        parts = [_as_dataset(bound) for bound in found.flat]
    else:
        parts = list(found.flat)
    data = {}
    for name in ("lower", "upper", "status"):
        inner = parts[0][name]
        values = np.stack([part[name].values for part in parts])
        data[name] = (
            (*template.dims, *inner.dims),
            values.reshape(template.shape + inner.shape),
            inner.attrs,
        )
    coords = {**template.coords, **parts[0].coords}
    units = parts[0].attrs.get("units", "nats")
    status = weakest(str(s) for s in np.unique(data["status"][1]))
    attrs = {
        "quantity": quantity or parts[0].attrs.get("quantity", ""),
        "units": units,
        "status": status,
    }
    for note in ("assumptions", "reason"):
        if texts := list(dict.fromkeys(p.attrs[note] for p in parts if p.attrs.get(note))):
            attrs[note] = "; ".join(texts)
    return xr.Dataset(data, coords, attrs)


def _as_dataset(bound: Any) -> xr.Dataset:
    import xarray as xr

    if not isinstance(bound, Bound):
        raise NotYet("a family of mechanisms", missing=f"figures of type {type(bound).__name__}")
    return xr.Dataset(
        {
            "lower": ((), bound.lower, {"units": bound.units}),
            "upper": ((), bound.upper, {"units": bound.units}),
            "status": ((), bound.status),
        },
        attrs={
            "units": bound.units,
            "assumptions": "; ".join(bound.assumptions),
            "reason": bound.reason,
        },
    )
