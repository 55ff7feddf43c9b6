"""The bridge between the stacks: one container, one set of statistics."""

import subprocess
import sys

import numpy as np
import pytest
import xarray as xr
from scipy import stats

from borel import _compat

DRAWS = xr.DataArray(
    np.random.default_rng(7).normal(size=(4, 2000, 2)) * [1.0, 10.0],
    dims=("chain", "draw", "x"),
    coords={"x": ["narrow", "wide"]},
    name="theta",
)


def posterior(da=DRAWS):
    return xr.DataTree.from_dict({"posterior": da.to_dataset(name="theta")})


class TestAsDatatree:
    def test_a_datatree_comes_back_as_it_is(self):
        tree = posterior()
        assert _compat.as_datatree(tree) is tree

    @pytest.mark.parametrize("as_path", [str, lambda path: path])
    def test_a_file(self, tmp_path, as_path):
        file = tmp_path / "draws.nc"
        posterior().to_netcdf(file, engine="h5netcdf")
        tree = _compat.as_datatree(as_path(file))
        file.unlink()  # read whole and closed
        xr.testing.assert_equal(tree["posterior"]["theta"], DRAWS)

    def test_inference_data_of_arviz_0(self):
        import arviz as az

        if not az.__version__.startswith("0."):
            pytest.skip("ArviZ 1 has no InferenceData")
        tree = _compat.as_datatree(az.from_dict(posterior={"theta": DRAWS.values}))
        assert isinstance(tree, xr.DataTree)
        assert np.array_equal(tree["posterior"]["theta"], DRAWS)

    @pytest.mark.parametrize(
        ("data", "hint"),
        [
            (DRAWS, "wrap it: xarray.DataTree"),
            (DRAWS.to_dataset(), "wrap it: xarray.DataTree"),
            ({"theta": DRAWS}, "wrap it: xarray.DataTree"),
            (3, "got int"),
        ],
    )
    def test_anything_else_is_refused(self, data, hint):
        with pytest.raises(TypeError, match=r"expected an xarray\.DataTree.*" + hint):
            _compat.as_datatree(data)

    def test_a_file_of_another_kind(self):
        with pytest.raises(TypeError, match=r"path of a \.nc file, got 'draws\.csv'"):
            _compat.as_datatree("draws.csv")

    def test_a_missing_file(self, tmp_path):
        with pytest.raises(FileNotFoundError):
            _compat.as_datatree(tmp_path / "none.nc")


class TestIntervals:
    @pytest.mark.parametrize("interval", [_compat.hdi, _compat.eti])
    def test_the_normal_distribution(self, interval):
        lower, upper = interval(DRAWS, 0.9)
        z = stats.norm.ppf(0.95)
        assert lower.dims == upper.dims == ("x",)
        assert set(lower.coords) == {"x"}
        np.testing.assert_allclose(lower, [-z, -10 * z], rtol=0.1)
        np.testing.assert_allclose(upper, [z, 10 * z], rtol=0.1)

    def test_hdi_is_the_shorter(self):
        skewed = np.exp(DRAWS.sel(x="narrow"))
        (a, b), (c, d) = _compat.hdi(skewed, 0.8), _compat.eti(skewed, 0.8)
        assert b - a < d - c
        assert a.dims == ()

    def test_the_order_of_the_dims_does_not_matter(self):
        for left, right in zip(
            _compat.hdi(DRAWS, 0.5),
            _compat.hdi(DRAWS.transpose("x", "draw", "chain"), 0.5),
            strict=True,
        ):
            xr.testing.assert_equal(left, right)

    @pytest.mark.parametrize("bad", [np.inf, np.nan])
    def test_infinite_draws_are_refused(self, bad):
        with pytest.raises(ValueError, match="finite draws, got 1 of 16000"):
            _compat.hdi(DRAWS.where(DRAWS != DRAWS[0, 0, 0], bad), 0.9)

    @pytest.mark.parametrize("prob", [0, 1, 1.5, float("nan")])
    def test_prob(self, prob):
        with pytest.raises(ValueError, match="prob must lie between 0 and 1"):
            _compat.eti(DRAWS, prob)


class TestDiagnostics:
    @pytest.mark.parametrize(
        "ess",
        [
            _compat.ess_bulk,
            _compat.ess_tail,
            _compat.ess_mean,
            lambda da: _compat.ess_quantile(da, 0.9),
        ],
    )
    def test_independent_draws_count_fully(self, ess):
        n = ess(DRAWS)
        assert n.dims == ("x",)
        assert ((n > 6000) & (n < 10000)).all()

    def test_rhat(self):
        assert (_compat.rhat(DRAWS) < 1.01).all()
        apart = DRAWS + xr.DataArray(np.arange(4.0), dims="chain")
        assert _compat.rhat(apart).sel(x="narrow") > 1.5

    def test_autocorrelated_draws_count_less(self):
        e = DRAWS.sel(x="narrow").values
        walk = np.empty_like(e)
        walk[:, 0] = e[:, 0]
        for t in range(1, e.shape[1]):
            walk[:, t] = 0.9 * walk[:, t - 1] + e[:, t]
        n = float(_compat.ess_mean(xr.DataArray(walk, dims=("chain", "draw"))))
        assert n == pytest.approx(8000 * 0.1 / 1.9, rel=0.5)  # (1 - rho) / (1 + rho)

    def test_what_is_refused(self):
        with pytest.raises(TypeError, match=r"must be an xarray\.DataArray, got ndarray"):
            _compat.rhat(DRAWS.values)
        with pytest.raises(ValueError, match="dims chain and draw"):
            _compat.ess_bulk(DRAWS.isel(chain=0))


def test_nothing_heavy_is_imported(tmp_path):
    code = (
        "import sys, borel._compat; "
        "print([m for m in ('pymc', 'arviz', 'xarray') if m in sys.modules])"
    )
    run = [sys.executable, "-c", code]
    done = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.slow
def test_sample_gives_a_datatree():
    import pymc as pm

    with pm.Model(coords={"x": ["a", "b"]}) as model:
        pm.Normal("mu", 0, 1, dims="x")
    tree = _compat.sample(
        model, draws=300, tune=300, chains=2, cores=1, random_seed=1, progressbar=False
    )
    assert isinstance(tree, xr.DataTree)
    mu = tree["posterior"]["mu"]
    assert mu.dims == ("chain", "draw", "x")
    assert abs(float(mu.mean())) < 0.3
    assert "diverging" in tree["sample_stats"]
