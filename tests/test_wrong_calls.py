"""What a new user types first, and the error that says how to write it."""

import sys
from fractions import Fraction as F
from importlib import import_module

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from scipy import stats
from typer.testing import CliRunner

import borel as bl
from borel import cli
from borel.audits.study import StudyError, load_study
from borel.errors import WrongCall

S = bl.Interval(0, 1)
NORMAL = stats.gaussian_kde([0.0, 1.0, 3.0])

CALLS = {
    "a family": (lambda: bl.beta(2, 5), "beta(alpha=2, beta=5)"),
    "a family with a default": (lambda: bl.normal(1), "normal(mu=1)"),
    "a family of nothing": (lambda: bl.poisson(), "poisson(mu=...)"),
    "the uniform law": (lambda: bl.uniform(0, 1), "uniform(bl.Interval(0, 1))"),
    "noise": (lambda: bl.mechanisms.laplace(2.0), "laplace(b=2.0)"),
    "noise by epsilon": (lambda: bl.mechanisms.laplace(epsilon=1.0), "b = sensitivity / epsilon"),
    "a response": (
        lambda: bl.mechanisms.randomized_response(3, 1.0),
        "randomized_response(k=3, epsilon=1.0)",
    ),
    "labels": (lambda: bl.Finite("a", "b"), "Finite(['no', 'yes'])"),
    "an interval": (lambda: bl.Interval(0), "Interval(0, upper=...)"),
    "a study": (lambda: bl.Study("t"), "Study(title='t', mechanism=..., prior=...)"),
    "counts": (
        lambda: bl.priors.from_counts([3, 4], 0.95),
        "from_counts([3, 4], confidence=0.95)",
    ),
    "a ball": (lambda: bl.priors.kl_ball(0, 0.1), "kl_ball(0, 0.1, direction=...)"),
    "a posterior": (lambda: bl.priors.from_posterior(0), "from_posterior(0, build=...)"),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_wrong_call_says_how_it_is_written(name):
    call, mend = CALLS[name]
    with pytest.raises(WrongCall) as caught:
        call()
    message = str(caught.value)
    assert "expected" in message
    assert "got" in message
    assert (
        f"To mend it: {mend}" in message
        or f"To mend it: the scale of epsilon-DP is {mend}" in message
    )
    assert isinstance(caught.value, TypeError)  # what Python raises, too
    assert "_check" not in message


def test_the_mended_calls_are_right():
    assert bl.beta(alpha=2, beta=5) == bl.beta(alpha=2.0, beta=5.0)
    assert bl.mechanisms.laplace(b=2.0, secret=S).secret == S


def test_an_error_inside_is_not_taken_for_a_wrong_call():
    def broken(x):
        return x + len(1)  # type: ignore[arg-type]

    with pytest.raises(bl.InvalidInput) as caught:
        bl.Measure(broken, on=S)
    assert not isinstance(caught.value, WrongCall)
    with pytest.raises(TypeError) as raised:
        bl.priors.family(lambda theta: len(theta), S)
    assert not isinstance(raised.value, WrongCall)


@pytest.mark.parametrize("table", [[[0.5, 0.5]], np.eye(2), pd.DataFrame(np.eye(2))])
def test_a_matrix_is_no_density(table):
    for about in ({}, {"secret": bl.Finite(2), "outcome": bl.Finite(2)}):
        with pytest.raises(bl.InvalidInput, match=r"bl\.Mechanism\.from_matrix\(M\)"):
            bl.Mechanism(table, **about)


def test_probabilities_are_no_density():
    with pytest.raises(bl.InvalidInput, match=r"bl\.pmf\(p, on=alphabet\)"):
        bl.Measure([0.5, 0.5], on=bl.Finite(2))


@pytest.mark.parametrize("wrong", [None, 2, ["a", "b"], pd.Series([0.5, 0.5])])
def test_what_is_no_alphabet_is_refused(wrong):
    def family(x):
        return stats.norm(x, 1)

    for make in (bl.Mechanism.from_scipy, bl.Mechanism.from_pymc):
        with pytest.raises(bl.InvalidInput, match="secret=<an alphabet>"):
            make(family, secret=wrong, outcome=bl.Reals())
        with pytest.raises(bl.InvalidInput, match="outcome=<an alphabet>"):
            make(family, secret=S, outcome=wrong)
    if wrong is not None:
        with pytest.raises(bl.InvalidInput, match="on=<an alphabet>"):
            bl.from_scipy(stats.norm(), on=wrong)
        with pytest.raises(bl.InvalidInput, match="on=<an alphabet>"):
            bl.from_pymc(0, on=wrong)
    with pytest.raises(bl.InvalidInput, match="a method of"):
        bl.priors.from_counts([3, 4], confidence=0.9, method=wrong)


def test_the_level_of_a_response_may_be_a_fraction():
    mech = bl.mechanisms.randomized_response(k=2, epsilon=F(1, 2))
    bound = bl.pml(bl.priors.full_support(bl.Finite(2)) * mech).sup()
    assert bound.lower <= 0.5 <= bound.upper  # LDP is epsilon
    assert bound.width < 1e-12


# -- a dict of probabilities ----------------------------------------------------------------------


def test_a_dict_is_matched_by_its_labels():
    law = {"no": F(1, 3), "yes": F(2, 3)}
    assert bl.pmf(law) == bl.pmf([F(1, 3), F(2, 3)], on=bl.Finite(["no", "yes"]))
    turned = bl.pmf(law, on=bl.Finite(["yes", "no"]))
    assert turned.probabilities.tolist() == [F(2, 3), F(1, 3)]
    draws = bl.pmf({"no": np.array([0.25, 0.5]), "yes": np.array([0.75, 0.5])})
    assert draws.probabilities.tolist() == [[0.25, 0.75], [0.5, 0.5]]
    for on in (bl.Finite(["a", "b"]), bl.Finite(["no", "yes", "?"])):  # 0, 1 are no positions here
        with pytest.raises(bl.InvalidInput, match="a probability for each label"):
            bl.pmf({0: 0.25, 1: 0.75}, on=on)


def test_a_family_of_dicts_is_matched_by_its_labels():
    on = bl.Finite(["yes", "no"])
    mech = bl.Mechanism.from_matrix([[F(3, 4), F(1, 4)], [F(1, 4), F(3, 4)]], secret=on)
    thetas = bl.priors.family(
        lambda t: bl.pmf({"no": 1 - t, "yes": t}, on=on), bl.Interval(0.1, 0.2)
    )
    bound = bl.pml(thetas * mech)(0)
    # (3/4) / (3/4 t + 1/4 (1 - t)) is largest at t = 0.1, where it is 5/2
    truth = np.log(2.5)
    assert bound.lower - 1e-8 <= truth <= bound.upper + 1e-8
    assert bound.width < 1e-6


# -- other libraries ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "make",
    [
        lambda: bl.Measure(NORMAL, on=bl.Reals()),
        lambda: bl.from_scipy(NORMAL),
        lambda: bl.Mechanism(NORMAL, secret=S, outcome=bl.Reals()),
    ],
)
def test_the_remedy_for_a_kde_is_the_kde(make):
    with pytest.raises(bl.InvalidInput) as caught:
        make()
    code = str(caught.value).split("is a mixture of normals: ")[1].rstrip(".")
    mixture = eval(code, {"bl": bl, "kde": NORMAL})
    x = np.linspace(-3, 6, 7)
    np.testing.assert_allclose(mixture.pdf(x), NORMAL(x), rtol=1e-12)


def test_a_function_of_flat_arrays_is_told_how():
    with pytest.raises(bl.InvalidInput, match=r"f\(x\.ravel\(\)\)\.reshape\(x\.shape\)"):
        bl.Measure(lambda x: NORMAL(x), on=bl.Reals())
    bl.Measure(lambda x: NORMAL(x.ravel()).reshape(x.shape), on=bl.Reals())


@pytest.mark.parametrize("freeze", [False, True])
def test_a_discrete_law_of_values(freeze):
    law = stats.rv_discrete(values=([7, -1, 2], [0.5, 0.25, 0.25]))
    measure = bl.from_scipy(law() if freeze else law)
    assert measure == bl.pmf([0.25, 0.25, 0.5], on=bl.Finite([-1, 2, 7]))
    assert bl.from_scipy(law(loc=2)).on == bl.Finite([1, 4, 9])
    shares = stats.rv_discrete(values=([0.5, 1.5], [0.5, 0.5]))
    assert bl.from_scipy(shares).on == bl.Finite([0.5, 1.5])
    wide = bl.from_scipy(law, on=bl.Finite([2, 3, -1, 7]))
    assert wide.probabilities.tolist() == [0.25, 0.0, 0.25, 0.5]
    with pytest.raises(bl.InvalidInput):
        bl.from_scipy(law, on=bl.Finite([2, 7]))
    assert bl.from_scipy(law, on=bl.Integers(-1, None)).pdf(7) == pytest.approx(0.5)


# -- files of draws -------------------------------------------------------------------------------


def test_draws_that_cannot_be_read_say_which_and_why(tmp_path):
    def build(draw):
        return bl.pmf(draw["p"])

    (tmp_path / "broken.nc").write_text("no netCDF")
    for data, words in (
        (tmp_path / "none.nc", r"no file '.*none\.nc'.*looked up from"),
        (str(tmp_path / "none.nc"), r"no file '.*none\.nc'"),
        (tmp_path / "broken.nc", r"broken\.nc', which cannot be read"),
        ("draws.csv", r"got 'draws\.csv'"),
        (np.ones((2, 3)), r"got ndarray.*xarray\.Dataset"),
        (
            xr.Dataset({"p": (("sample", "x"), np.ones((2, 2)))}),
            "expected dims chain and draw.*Dataset",
        ),
    ):
        with pytest.raises(bl.InvalidInput, match=words):
            bl.priors.from_posterior(data, build)
        with pytest.raises(bl.InvalidInput, match=words):
            bl.priors.each_group(data, build, dim="g")


def test_a_slash_in_the_name_of_a_variable():
    p = np.full((2, 3, 2), 0.5)
    data = xr.Dataset({"model/p": (("chain", "draw", "x"), p)})
    learnt = bl.priors.from_posterior(data, lambda draw: bl.pmf(draw["model/p"]))
    assert learnt.shape == (2, 3)
    with pytest.raises(bl.InvalidInput, match=r'lambda draw: bl\.pmf\(draw\["p"\]\)'):
        bl.priors.from_posterior(data, "model/p")


@pytest.mark.parametrize(("library", "extra"), [("statsmodels", "examples"), ("dask", "dask")])
def test_a_missing_extra_is_named(library, extra, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, library, None)  # as if it were not installed
    path = tmp_path / "study.py"
    path.write_text(f"import {library}.api as it\n", encoding="utf-8")
    with pytest.raises(StudyError, match=rf'pip install "\.\[{extra}\]"'):
        load_study(path)
    path.write_text("import no_such_library\n", encoding="utf-8")
    with pytest.raises(StudyError, match="it is not installed, or not spelt so"):
        load_study(path)


# -- alphabets and names --------------------------------------------------------------------------


def test_intervals_that_do_not_match_are_not_called_labels():
    mech = bl.mechanisms.laplace(b=1.0, secret=S)
    for prior in (bl.uniform(bl.Interval(0, 2)), bl.priors.full_support(bl.Interval(0, 2))):
        with pytest.raises(bl.InvalidInput) as caught:
            prior * mech
        message = str(caught.value)
        assert "labels" not in message
        assert "secret=bl.Interval(0, 2), or a prior on bl.Interval(0, 1)" in message
    with pytest.raises(bl.InvalidInput, match="labels are matched"):
        bl.pmf([0.5, 0.5]) * bl.mechanisms.randomized_response(secret=["a", "b"], epsilon=1.0)


@pytest.mark.parametrize("package", ["priors", "adversaries", "guarantees"])
def test_no_module_has_the_name_of_what_its_functions_make(package):
    shelf = import_module(f"borel.{package}")
    made = {name.rpartition("_")[2] for name in shelf.__all__ if name.islower() and "_" in name}
    modules = {name for name in vars(shelf) if isinstance(vars(shelf)[name], type(sys))}
    assert not (made | {"parametric"}) & (modules - set(shelf.__all__))


def test_the_output_has_a_short_name():
    found = CliRunner().invoke(cli.app, ["audit", "--help"])
    assert "-o," in found.output.split()
    found = CliRunner().invoke(cli.app, ["audit", "nothing.py", "-o", "folder"])
    assert found.exit_code == 2


@pytest.mark.parametrize(
    ("name", "hint"),
    [("PML", "bl.guarantees.PML or bl.pml"), ("normall", "bl.normal"), ("Unifrom", "bl.uniform")],
)
def test_a_mistyped_name_is_answered_with_the_ones_like_it(name, hint):
    with pytest.raises(AttributeError, match=f"did you mean {hint}"):
        getattr(bl, name)
    with pytest.raises(AttributeError, match=r"no attribute 'zzzz'$"):
        getattr(bl, "zz" * 2)


@pytest.mark.parametrize(
    "prior", [["a", "b"], [0.5, 0.5], (0.5, 0.5), "ab", {"a": 1}, 3, np.ones(2) / 2, F(1, 2)]
)
def test_what_is_no_prior_is_answered_with_how_to_make_one(prior):
    mech = bl.mechanisms.randomized_response(k=2, epsilon=1.0)
    with pytest.raises(WrongCall, match=r"bl\.pmf\(\[0\.2, 0\.8\], on=mech\.secret\)"):
        prior * mech


def test_a_confidence_in_per_cent_is_answered_with_its_share():
    with pytest.raises(bl.InvalidInput, match=r"95 % is confidence=0\.95"):
        bl.priors.from_counts([3, 4], confidence=95)


def test_a_set_of_priors_with_continuous_outcomes_takes_sixteen_secrets():
    """As the page of limits says."""
    for size, fits in ((16, True), (17, False)):
        secrets = bl.Finite(list(range(size)))
        noise = bl.mechanisms.laplace(b=1.0, secret=secrets)
        joint = bl.priors.tv_ball(bl.uniform(secrets), 0.1) * noise
        if fits:
            assert bl.pml(joint)(0.5).upper > 0
        else:
            with pytest.raises(bl.NotYet, match="more than 16 secrets"):
                bl.pml(joint)(0.5)
