"""Families of mechanisms: parameters as labelled arrays."""

from fractions import Fraction as F

import numpy as np
import pytest
import xarray as xr

import borel as bl

UNIFORM = bl.uniform(bl.Interval(0, 1))


def test_every_figure_has_the_parameters_dimensions():
    b = xr.DataArray([0.5, 1.0, 2.0], dims="scale", coords={"scale": ["s", "m", "l"]})
    joint = UNIFORM * bl.mechanisms.laplace(b=b)
    for kind in (bl.pml, bl.pmc):
        ell = kind(joint)
        found = ell.sup()
        assert found["lower"].dims == ("scale",) and found.attrs["status"] == "exact"
        assert "Example 6" in found.attrs["assumptions"] and found.attrs["units"] == "nats"
        curve = ell([0.0, 0.25, 3.0])
        assert dict(curve.sizes) == {"scale": 3, "y": 3}
        for i, scale in enumerate(b.values):
            alone = kind(UNIFORM * bl.mechanisms.laplace(b=float(scale)))
            assert float(found["lower"][i]) == alone.sup().lower
            assert float(found["upper"][i]) == alone.sup().upper
            assert (curve["upper"][i].values == alone([0.0, 0.25, 3.0])["upper"].values).all()
            assert float(ell(0.25)["lower"][i]) == alone(0.25).lower


def test_two_parameters_broadcast():
    family = bl.mechanisms.clayton(
        eta=xr.DataArray([0.1, 0.5], dims="eta"), theta=xr.DataArray([0.5, 1.0, 2.0], dims="theta")
    )
    assert dict(family.mechanisms.sizes) == {"eta": 2, "theta": 3}
    one = family.mechanisms.sel(eta=0.5, theta=2.0).item()
    assert one.name == "clayton(eta=0.5, theta=2)"
    joint = UNIFORM * family
    assert np.isinf(bl.pml(joint).sup()["lower"]).all()
    np.testing.assert_allclose(
        bl.pmc(joint).sup()["upper"], np.broadcast_to(-np.log([[0.1], [0.5]]), (2, 3))
    )
    assert np.isinf(bl.lip(joint)["lower"]).all()
    assert bl.alip(joint).lower["status"].dims == ("eta", "theta")


def test_finite_families_and_the_other_measures():
    ratio = xr.DataArray(np.array([F(2), F(3)], dtype=object), dims="ratio")
    joint = bl.pmf([F(1, 4), F(3, 4)]) * bl.mechanisms.randomized_response(k=2, ratio=ratio)
    np.testing.assert_allclose(bl.ldp(joint)["upper"], np.log([2, 3]))
    assert bl.maximal_leakage(joint)["lower"].dims == ("ratio",)
    assert bl.mutual_information(joint).attrs["quantity"] == "mutual_information"
    assert joint.satisfies(bl.guarantees.PML(0.5)).values.tolist() == ["holds", "fails"]
    ell = bl.pml(joint)
    for figure in (ell.tail(0.1), ell.cdf(0.1), ell.quantile(F(1, 2)), ell.mean(), ell.exp_mean()):
        assert figure["status"].values.tolist() == ["exact", "exact"]
    assert ell.tail(0.1)["lower"].attrs["units"] == "probability"
    assert bl.pml(joint)(0)["lower"].dims == ("ratio",)
    with pytest.raises(bl.NotYet, match="family"):
        bl.information_density(joint)


@pytest.mark.slow
def test_users_own_mechanisms():
    scale = xr.DataArray([1.0, 2.0], dims="b")
    family = bl.Mechanism(
        lambda y, x, b, shift: -np.abs(y - x - shift) / b - np.log(2 * b),
        secret=bl.Interval(0, 1),
        outcome=bl.Reals(),
        log=True,
        params={"b": scale, "shift": 0.5},
    )
    assert isinstance(family, bl.mechanisms.MechanismFamily)
    assert family.mechanisms.sel(b=2.0).item().params == {"shift": 0.5, "b": 2.0}
    found = bl.pml(UNIFORM * family).sup()
    assert found["status"].values.tolist() == ["certified", "certified"]
    exact = bl.pml(UNIFORM * bl.mechanisms.laplace(b=scale)).sup()
    np.testing.assert_allclose(found["upper"], exact["upper"], atol=1e-6)
    assert isinstance(
        bl.Mechanism(
            lambda y, x, b: np.exp(-abs(y - x) / b) / (2 * b),
            secret=bl.Reals(),
            outcome=bl.Reals(),
            params={"b": 1.0},
        ),
        bl.Mechanism,
    )


def test_map_and_clip():
    family = bl.mechanisms.gaussian(sigma=xr.DataArray([1.0, 2.0], dims="sigma"))
    clipped = family.clip(-1, 1)
    assert clipped.outcome.atoms == (-1.0, 1.0)
    assert clipped.mechanisms.dims == ("sigma",)
    assert "sigma" in repr(clipped) and "sigma" in repr(UNIFORM * clipped)
    both = bl.mechanisms.randomized_response(k=2, epsilon=xr.DataArray([0.0, 1.0], dims="epsilon"))
    twice = both.map(lambda m: m & m)
    assert twice.outcome.dim == 2


def test_a_scalar_dataarray_is_a_number():
    assert bl.mechanisms.laplace(b=xr.DataArray(2.0)).closed_forms.b == 2.0


def test_bad_families_are_named():
    laplace = bl.mechanisms.laplace
    with pytest.raises(bl.InvalidInput, match="b > 0"):
        laplace(b=xr.DataArray([1.0, 0.0], dims="b"))
    with pytest.raises(bl.InvalidInput, match="at least one value"):
        laplace(b=xr.DataArray(np.zeros(0), dims="b"))
    with pytest.raises(bl.InvalidInput, match="equal coordinates"):
        bl.mechanisms.clayton(
            eta=xr.DataArray([0.1], dims="i", coords={"i": [0]}),
            theta=xr.DataArray([1.0], dims="i", coords={"i": [1]}),
        )
    with pytest.raises(bl.InvalidInput, match="alphabets"):
        bl.mechanisms.randomized_response(k=xr.DataArray([2, 3], dims="k"), epsilon=1.0)
    with pytest.raises(TypeError):
        laplace(b=xr.DataArray([1.0], dims="b")) * UNIFORM
