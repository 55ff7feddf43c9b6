"""Draws on disk: the same figures, block by block, and no more read than is needed."""

import numpy as np
import pytest
import xarray as xr

import borel as bl
from borel.priors.chains import Chains

dask = pytest.importorskip("dask")

# zarr and distributed warn of their own future
pytestmark = pytest.mark.filterwarnings("ignore")

MECHANISM = bl.Mechanism.from_matrix(np.random.default_rng(1).dirichlet(np.ones(5), size=3))


def draws(chains=3, length=500, **attrs):
    rng = np.random.default_rng(0)
    return xr.Dataset(
        {
            "p": (("chain", "draw", "x"), rng.dirichlet([2, 3, 4], size=(chains, length))),
            "other": (("chain", "draw", "z"), rng.normal(size=(chains, length, 7))),
        },
        {"x": [0, 1, 2]},
        attrs,
    )


def figures(data):
    learnt = bl.priors.from_posterior(data, lambda draw: bl.pmf(draw["p"]))
    joint = learnt * MECHANISM
    epsilon = bl.pml(joint).sup()
    return [
        epsilon.draws,
        bl.mutual_information(joint).draws,
        bl.pml(joint).by_draw.tail(0.3).draws,
        epsilon.quantile(0.9),
        learnt.trouble,
    ]


def same(first, second):
    for a, b in zip(first, second, strict=True):
        if isinstance(a, xr.Dataset):
            xr.testing.assert_identical(a, b)
        else:
            assert a == b


@pytest.mark.parametrize("chunks", [{"draw": 7}, {"chain": 1, "draw": 100}, {"chain": 3, "x": 1}])
@pytest.mark.parametrize("exact", [True, False])
def test_dask_draws_give_the_same_numbers(chunks, exact, monkeypatch):
    monkeypatch.setattr("borel.priors.posteriors.BLOCK", 64)
    data = draws(**({"borel_draws": "exact"} if exact else {}))
    same(figures(data), figures(data.chunk(chunks)))


def test_only_what_is_needed_is_read():
    """Every read is counted: one of each chunk of p, none of the other variable."""
    import dask.array as da

    read = []
    data = draws(2, 400, borel_draws="exact")

    def counted(name, values):
        def load(block, block_info=None):
            read.append((name, block_info[0]["chunk-location"]))
            return block

        chunks = (1, 100, *values.shape[2:])
        return da.map_blocks(load, da.from_array(values, chunks=chunks), dtype=float, meta=values)

    lazy = data.assign({n: (data[n].dims, counted(n, data[n].values)) for n in ("p", "other")})
    learnt = bl.priors.from_posterior(lazy, lambda draw: bl.pmf(draw["p"]))
    with dask.config.set(scheduler="synchronous"):
        assert bl.pml(learnt * MECHANISM).sup().size == 800
    chunks = [place for name, place in read if name == "p"]
    assert sorted(chunks) == sorted((c, d, 0) for c in range(2) for d in range(4))
    assert not any(name == "other" for name, _ in read)


def test_slabs_are_bounded(monkeypatch):
    """Reads are at most a slab long, and end where chunks do."""
    monkeypatch.setattr("borel.priors.chains._SLAB", 100 * 3 * 8)
    data = draws(2, 400, borel_draws="exact").chunk({"chain": 1, "draw": 30})
    chains = Chains(data)
    got = np.concatenate([chains.labelled("p", i, i + 50).values for i in range(0, 800, 50)])
    np.testing.assert_array_equal(got, data["p"].values.reshape(-1, 3))
    begin, end, values = chains._slabs["p"]
    assert end - begin == len(values) <= 100 and (begin % 400) % 30 == 0


@pytest.fixture
def store(tmp_path):
    pytest.importorskip("zarr")
    data = draws(borel_draws="exact")
    path = tmp_path / "draws.zarr"
    tree = xr.DataTree.from_dict({"posterior": data.chunk({"chain": 1, "draw": 64})})
    tree.to_zarr(path)
    return data, path


def test_a_zarr_store_by_its_path(store):
    data, path = store
    same(figures(data), figures(path))


def test_a_zarr_store_opened_without_dask(store):
    data, path = store
    tree = xr.open_datatree(path, engine="zarr")
    same(figures(data), figures(tree))


@pytest.mark.slow
def test_a_zarr_store_on_a_local_cluster(store):
    distributed = pytest.importorskip("distributed")
    data, path = store
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None, processes=True
        ) as cluster,
        distributed.Client(cluster),
    ):
        same(figures(data), figures(xr.open_datatree(path, engine="zarr", chunks={})))


def test_draws_in_memory_are_frozen_or_shared(monkeypatch):
    """Small draws are copied; large ones are shared, and read-only here."""
    data = draws(2, 50, borel_draws="exact")
    first = Chains(data)._read("p", 0, 10)
    before = first.copy()
    data["p"].values[:] = 1 / 3
    np.testing.assert_array_equal(first, before)
    monkeypatch.setattr("borel.priors.chains._COPIED", 0)
    shared = Chains(data)._read("p", 0, 10)
    assert np.shares_memory(shared, data["p"].values)
    with pytest.raises(ValueError, match="read-only"):
        shared[0] = 0
