"""Studies: what they accept, and what a study file that is wrong is told."""

import os
import re
import signal
import threading

import pytest

import borel as bl
from borel.audits.study import StudyError, as_study, load_study
from borel.engine.figures import in_reports

MECH = bl.Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]])
PRIOR = bl.pmf([0.5, 0.5])


def draws(seed):
    return bl.models.dirichlet_posterior([3, 7], draws=50, random_seed=seed)


def build(draw):
    return bl.pmf(draw["p"])


def study(**changes):
    return bl.Study(**{"title": "A study", "mechanism": MECH, "prior": PRIOR, **changes})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"title": " "}, r"title=<some words>, got ' '"),
        ({"mechanism": [[1]]}, r"mechanism=<a Mechanism>, got list"),
        ({"prior": [0.5, 0.5]}, r"prior=<a Measure.*got list"),
        ({"prior": draws}, r"build=<a function> beside a function as prior, got None"),
        ({"build": build}, r"build= only with a function as prior"),
        ({"report": ["pml", "tail"]}, r"report=<some of pml, pmc.*got 'tail'"),
        (
            {"report": ["pml", "ldi"], "mechanism": bl.mechanisms.laplace(b=1.0)},
            r"finite or countable secret for report=\['ldi'\], got Reals",
        ),
        ({"report": ["pml", "pmx"]}, r"report=<some of pml, pmc.*got 'pmx'"),
        ({"report": []}, r"got nothing"),
        ({"guarantees": [0.5]}, r"guarantees from bl\.guarantees, got 0\.5"),
        ({"seed": 1.5}, r"seed=<an integer >= 0>, got 1\.5"),
        ({"seed": True}, r"seed=<an integer >= 0>, got True"),
        ({"options": {"speed": 1}}, r"options: expected one of .*got speed"),
        ({"prior": bl.pmf([0.2] * 5)}, r"a prior within the secrets"),
    ],
)
def test_what_is_not_a_study(changes, message):
    with pytest.raises(bl.InvalidInput, match=message):
        study(**changes)


def test_a_study_as_data():
    one = study(report="pml", guarantees=bl.guarantees.PML(1.0))
    assert one.report == ("pml",)
    assert one.guarantees == (bl.guarantees.PML(1.0),)
    assert "A study" in repr(one)
    assert "bl.audit(study)" in one._repr_html_()
    assert as_study(one) is one
    assert as_study(PRIOR * MECH).prior is PRIOR
    with pytest.raises(bl.InvalidInput, match="a Study, or a joint"):
        as_study(MECH)


def test_the_prior_function_runs_with_the_seed():
    seen = []

    def prior(seed):
        seen.append(seed)
        return draws(seed)

    joint = study(prior=prior, build=build, seed=7).joint()
    assert seen == [7]
    assert joint.prior.size == 200


def test_a_prior_function_that_raises_or_returns_no_draws():
    def raising(seed):
        raise RuntimeError("no data today")

    with pytest.raises(
        StudyError, match=r"the prior of the study, line \d+, `raise Runtime.*no data"
    ):
        study(prior=raising, build=build).draws()
    with pytest.raises(StudyError, match=r"expected posterior draws .*got Measure.*build="):
        study(prior=lambda seed: PRIOR, build=build).draws()

    def no_posterior(seed):
        import xarray as xr

        return xr.DataTree.from_dict({"prior": xr.Dataset()})

    with pytest.raises(StudyError, match=r"expected a posterior group, got groups \['prior'\]"):
        study(prior=no_posterior, build=build).draws()


def test_a_build_that_raises_names_its_line():
    with pytest.raises(StudyError, match=r"the build of the study, line \d+.*one of the variables"):
        study(prior=draws, build=lambda draw: bl.pmf(draw["q"])).joint()


@pytest.fixture
def interruptible():
    """Let SIGINT raise KeyboardInterrupt: a job in the background is started with it ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_an_interrupt_that_the_sampler_swallows_is_noticed(interruptible):
    def sampler(seed):
        try:
            os.kill(os.getpid(), signal.SIGINT)
            threading.Event().wait(5)
        except KeyboardInterrupt:
            return draws(seed)  # fewer draws than asked for, as PyMC does
        raise AssertionError("no interrupt came")

    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt, match="while the prior was sampled"):
        study(prior=sampler, build=build).draws()
    assert signal.getsignal(signal.SIGINT) is before


def test_draws_in_a_thread():
    found = []
    thread = threading.Thread(target=lambda: found.append(study(prior=draws, build=build).draws()))
    thread.start()
    thread.join()
    assert "posterior" in found[0].children


# -- study files ----------------------------------------------------------------------------

GOOD = """
import borel as bl
study = bl.Study(title="T", mechanism=bl.Mechanism.from_matrix([[0.5, 0.5], [0.25, 0.75]]),
                 prior=bl.pmf([0.5, 0.5]))
"""


def write(tmp_path, text):
    path = tmp_path / "one.py"
    path.write_text(text, encoding="utf-8")
    return path


def test_load_one_study_and_several(tmp_path):
    assert list(load_study(write(tmp_path, GOOD))) == ["study"]
    assert list(load_study(write(tmp_path, GOOD + "studies = {'a': study, 'b': study}"))) == [
        "a",
        "b",
    ]
    assert list(load_study(write(tmp_path, GOOD + "studies = [study, study]"))) == ["1", "2"]


def test_a_study_imports_what_lies_beside_it(tmp_path, monkeypatch):
    monkeypatch.setattr("sys.path", list(__import__("sys").path))
    (tmp_path / "beside_the_study.py").write_text("TITLE = 'from beside'")
    path = write(
        tmp_path, "import beside_the_study" + GOOD.replace('"T"', "beside_the_study.TITLE")
    )
    assert load_study(path)["study"].title == "from beside"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = (", r"one\.py is not Python: line 1: .*x = \("),
        ("x = 1\ny = 1 / 0\n", r"one\.py, line 2, `y = 1 / 0`, raised ZeroDivisionError"),
        ("import borel as bl\n\np = bl.pmf([0.5, 0.6])\n", r"line 3, `p = .*raised pmf: expected"),
        ("raise SystemExit(3)", r"line 1, .*SystemExit: 3"),
        ("x = 1", r"no study in .*one\.py: expected `study = bl\.Study\(\.\.\.\)`.*borel init"),
        ("study = 3", r"no study in .*got int 3"),
        ("studies = {}", r"no study in .*got dict"),
        (GOOD + "studies = {'a/b': study}", r"names of studies become folders; \['a/b'\]"),
        (GOOD + "studies = {'..': study}", r"names of studies become folders"),
    ],
)
def test_a_study_file_that_is_wrong(tmp_path, text, message):
    with pytest.raises(StudyError, match=message):
        load_study(write(tmp_path, text))


def test_a_study_file_that_cannot_be_read(tmp_path):
    with pytest.raises(StudyError, match=r"none\.py cannot be read: No such file"):
        load_study(tmp_path / "none.py")
    with pytest.raises(StudyError, match=r"cannot be read"):
        load_study(tmp_path)
    path = tmp_path / "latin.py"
    path.write_bytes(b"# caf\xe9\n")
    with pytest.raises(StudyError, match=r"latin\.py cannot be read: .*utf-8"):
        load_study(path)


def test_the_docstring_lists_the_figures_of_a_report():
    listed = re.findall(r"Figures, of ``(.*?)``", " ".join((bl.Study.__doc__ or "").split()))
    assert [line.split(", ") for line in listed] == [[*in_reports()]]
