"""Bounds come back from a file as they went in, to the last bit."""

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import borel as bl
from borel.audits.result import load
from borel.audits.store import (
    attributes,
    from_plain,
    pack,
    read,
    to_plain,
    unpack,
    writable,
    write,
)
from borel.probability.bound import STATUSES, Bound, Ratio

FINITE = st.floats(allow_nan=False, allow_infinity=False)
RATIOS = st.one_of(
    st.none(),
    st.builds(Ratio, st.fractions(min_value=0), st.just(math.inf)),
    st.builds(Ratio, st.fractions(min_value=0), st.fractions(min_value=0)),
    st.builds(Ratio, st.floats(0, 10), st.floats(0, 10)),
)
LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.text(),
    FINITE,
    st.just(math.inf),
    st.just(-math.inf),
    st.fractions(),
)
NOTES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.lists(inner, max_size=3).map(tuple),
        st.dictionaries(st.one_of(st.text(), st.integers()), inner, max_size=3),
    ),
    max_leaves=8,
)


@st.composite
def bounds(draw):
    ends = sorted(draw(st.tuples(*[st.floats(allow_nan=False)] * 2)))
    status = draw(st.sampled_from((*STATUSES, "undecided")))
    return Bound(
        *ends,
        status,
        assumptions=tuple(draw(st.lists(st.text(), max_size=3))),
        witness=draw(st.one_of(st.none(), st.dictionaries(st.text(), NOTES, max_size=3))),
        attained=draw(st.sampled_from([None, True, False])),
        certificate=draw(st.one_of(st.none(), st.dictionaries(st.text(), NOTES, max_size=2))),
        units=draw(st.sampled_from(["nats", "probability", "ratio"])),
        reason=draw(st.text(min_size=1)),
        confidence=draw(st.one_of(st.just(0.95), st.floats(0, 1))),
        exact_ratio=draw(RATIOS),
    )


def same(a, b):
    """Equal, and of equal types all the way down (1 == True == 1.0 otherwise)."""
    if type(a) is not type(b):
        return False
    if isinstance(a, dict):
        return list(a) == list(b) and all(same(a[k], b[k]) for k in a)
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(same, a, b))
    return a == b


@given(NOTES)
def test_notes_round_trip(note):
    assert same(from_plain(json.loads(json.dumps(to_plain(note)))), note)


@given(bounds())
def test_bounds_round_trip_in_memory(bound):
    back = unpack(pack(bound))
    assert back == bound
    assert same(back.witness, bound.witness)
    assert same(back.exact_ratio, bound.exact_ratio)


@settings(max_examples=25)
@given(st.lists(bounds(), min_size=1, max_size=6))
def test_bounds_round_trip_through_a_file(tmp_path_factory, some):
    import xarray as xr

    path = tmp_path_factory.mktemp("store") / "result.nc"
    attrs = {"creation_library": "borel"}
    nodes = {f"/figure {i}": pack(b) for i, b in enumerate(some)}
    write(xr.DataTree.from_dict({"/": xr.Dataset(attrs=attrs), **nodes}), path)
    audit = load(path)
    assert [audit[f"figure {i}"] for i in range(len(some))] == some


def test_arrays_in_a_witness_come_back():
    array = np.array([1.5, np.inf])
    np.testing.assert_array_equal(from_plain(to_plain(array)), array)
    assert same(from_plain(to_plain(np.float64(0.1))), 0.1)


def test_a_note_that_is_no_data_is_refused():
    with pytest.raises(bl.InvalidInput, match=r"plain data, got object"):
        pack(Bound.exact(0, 1, witness={"x": object()}))


def test_write_leaves_the_old_file_when_it_fails(tmp_path):
    import xarray as xr

    path = tmp_path / "result.nc"
    write(xr.DataTree(xr.Dataset(attrs={"creation_library": "borel", "n": 1})), path)

    class Broken(xr.DataTree):
        def to_netcdf(self, target, **kwargs):
            with open(target, "wb") as file:
                file.write(b"half")
            raise OSError("the disk is full")

    with pytest.raises(OSError, match="the disk is full"):
        write(Broken(), path)
    assert read(path).attrs["n"] == 1
    assert [p.name for p in tmp_path.iterdir()] == ["result.nc"]


def test_load_says_what_is_wrong(tmp_path):
    import xarray as xr

    with pytest.raises(bl.InvalidInput, match=r"got no file .*none\.nc"):
        bl.load(tmp_path / "none.nc")
    (tmp_path / "text.nc").write_text("not a netCDF file")
    with pytest.raises(bl.InvalidInput, match=r"text\.nc, which cannot be read"):
        bl.load(tmp_path / "text.nc")
    with pytest.raises(bl.InvalidInput, match=r"cannot be read .*path of a \.nc file"):
        bl.load(tmp_path / "result.txt")
    xr.Dataset({"a": 1}).to_netcdf(tmp_path / "other.nc", engine="h5netcdf")
    with pytest.raises(bl.InvalidInput, match=r"expected the result of bl\.audit"):
        bl.load(tmp_path / "other.nc")


def test_what_a_file_says_of_itself(tmp_path):
    path = tmp_path / "result.nc"
    with pytest.raises(bl.InvalidInput, match="no file"):
        attributes(path)
    path.write_bytes(b"no netCDF")
    with pytest.raises(bl.InvalidInput, match="cannot be read"):
        attributes(path)
    write(bl.audit(bl.pmf([0.5, 0.5]) * bl.Mechanism.from_matrix([[1.0], [1.0]])), path)
    for place in (path, tmp_path):
        assert dict(read(place).attrs) == attributes(place)


def test_a_folder_that_cannot_be_written_to(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(
        bl.InvalidInput, match=r"expected a folder that can be written to, got .*file"
    ):
        writable(tmp_path / "file" / "out")

    def denied(**kwargs):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("borel.audits.store.tempfile.NamedTemporaryFile", denied)
    with pytest.raises(bl.InvalidInput, match=r"out \(Permission denied\).*--output"):
        writable(tmp_path / "out")


def test_an_audit_is_a_mapping():
    joint = bl.pmf([0.5, 0.5]) * bl.Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]])
    audit = bl.load(bl.audit(joint))
    assert audit["pml"] == bl.pml(joint).sup()
    assert len(audit) == len(list(audit)) == len(dict(audit))
    with pytest.raises(KeyError, match="no figure 'nothing'; there are pml, "):
        audit["nothing"]
    with pytest.raises(KeyError, match="no posterior draws of 'pml'"):
        audit.random("pml")
    table = audit.table()
    assert list(table.columns) == ["bound", "lower", "upper", "unit", "status", "meaning"]
    assert table.loc["PML", "bound"] == "0.4054651081 nats"
    assert "PML: 0.4054651081 nats (exact)" in repr(audit)
    assert "<table>" in audit._repr_html_()


def test_of_a_saved_figure_no_end_bounds_the_truth_unless_it_says_so():
    """It may be a supremum over a set that holds the truth at a confidence."""
    for bound in (Bound.statistical(1, 2, confidence=0.95), Bound.exact(1, 2)):
        saved = pack(bound)
        notes = json.loads(saved.attrs["bound"])
        del notes["truth_ends"]
        back = unpack(saved.assign_attrs(bound=json.dumps(notes)))
        verdicts = [(back <= t).at(confidence=0.9).holds for t in (0.5, 3)]
        assert verdicts == ([None, None] if bound.confidence else [False, True])
