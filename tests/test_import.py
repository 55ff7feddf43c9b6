"""Importing borel costs next to nothing; its names resolve; what is missing says so."""

import json
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import borel as bl

PACKAGE = Path(bl.__file__).parent
HEAVY = ("numpy", "scipy", "pandas", "xarray", "matplotlib", "pymc", "pytensor", "arviz", "flint")


def modules_after(code):
    """Names of the modules that a fresh interpreter has loaded after some code."""
    script = f"import sys, json\n{code}\nprint(json.dumps(sorted(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", script],
        cwd=PACKAGE.parent,
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout.splitlines()[-1])


def roots(names):
    return {name.partition(".")[0] for name in names}


def test_import_loads_no_library_and_one_module_of_its_own():
    loaded = modules_after("import borel; dir(borel)")
    assert not roots(loaded) & set(HEAVY)
    assert [name for name in loaded if roots([name]) == {"borel"}] == ["borel"]


@pytest.mark.parametrize(
    ("code", "absent"),
    [
        ("borel.Finite(2)", {"scipy", "pandas", "xarray", "matplotlib", "pymc", "arviz", "flint"}),
        ("borel.mechanisms, borel.priors, borel.errors", {"pymc", "arviz", "matplotlib", "pandas"}),
        (
            "borel.pml(borel.pmf([0.5, 0.5])"
            " * borel.Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]])).sup()",
            {"pymc", "pytensor", "arviz", "matplotlib"},
        ),
    ],
)
def test_heavy_libraries_load_only_when_used(code, absent):
    assert not roots(modules_after(f"import borel; {code}")) & absent


def test_scipys_statistics_are_not_needed_for_a_figure():
    code = (
        "import borel as bl\n"
        "joint = bl.uniform(bl.Interval(0, 1)) * bl.mechanisms.laplace(b=1.0)\n"
        "bl.pml(joint).sup()"
    )
    assert "scipy.stats" not in modules_after(code)


@pytest.mark.parametrize("name", bl.__all__)
def test_every_public_name_resolves(name):
    assert getattr(bl, name) is not None
    assert getattr(bl, name) is getattr(bl, name), "the same object every time"


def test_dir_is_all_without_repetition():
    assert dir(bl) == sorted(bl.__all__)
    assert len(set(bl.__all__)) == len(bl.__all__)


def test_from_borel_import_star():
    names: dict = {}
    exec("from borel import *", names)
    assert set(bl.__all__) <= set(names)


def test_an_unknown_name_is_an_attribute_error():
    for module in (bl, bl.mechanisms, bl.priors):
        with pytest.raises(AttributeError, match=r"attribute '?leek"):
            _ = module.leek


def public(module):
    """Public names of borel or of one of its subpackages."""
    return set(getattr(module, "__all__", ()))


def test_no_module_bears_a_public_functions_name():
    """Importing such a module would put it in the place of the function of that name."""
    for package, module in (
        (PACKAGE, bl),
        (PACKAGE / "mechanisms", bl.mechanisms),
        (PACKAGE / "priors", bl.priors),
    ):
        files = {p.stem for p in package.glob("*.py")} | {
            p.name for p in package.iterdir() if p.is_dir()
        }
        modules = {n for n in public(module) if type(getattr(module, n)).__name__ == "module"}
        assert not (public(module) - modules) & files


def test_names_stay_what_they_are_when_every_module_is_loaded():
    before = {name: getattr(bl, name) for name in bl.__all__}
    for path in PACKAGE.rglob("*.py"):
        parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
        if "_models" not in parts and "__init__" not in parts:
            import_module(".".join(parts))
    assert all(getattr(bl, name) is value for name, value in before.items())


def test_what_is_not_there_yet_names_what_is_missing():
    mech = bl.mechanisms.randomized_response(k=2, epsilon=1.0)
    with pytest.raises(bl.NotYet, match="not yet in this version") as caught:
        bl.pml(bl.priors.full_support(bl.Finite(2)) * mech).tail(1)
    assert isinstance(caught.value, (bl.BorelError, NotImplementedError))


def test_every_error_is_borels_and_pythons():
    assert issubclass(bl.InvalidInput, (bl.BorelError, ValueError))
    assert issubclass(bl.OutsideAlphabet, bl.InvalidInput)
    assert issubclass(bl.Undecided, bl.BorelError)


@pytest.mark.slow
def test_the_engine_imports_no_layer_above_it():
    import ast

    above = ("priors", "leakage", "levels", "averages", "envelopes", "study", "audits", "plots")
    found = []
    for path in sorted((PACKAGE / "engine").rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        typing = [
            node
            for block in ast.walk(tree)
            if isinstance(block, ast.If) and "TYPE_CHECKING" in ast.unparse(block.test)
            for node in ast.walk(block)
        ]
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node not in typing:
                module = (node.module or "").split(".")
                if module[0] == "borel" and module[1:2] and module[1] in above:
                    found.append(f"{path.relative_to(PACKAGE)}: {node.module}")
    assert not found


@pytest.mark.parametrize(
    ("module", "name", "hint"),
    [
        (bl.guarantees, "Pml", "; did you mean PML?"),
        (bl.mechanisms, "laplac", "; did you mean laplace or laplace_mean?"),
        (bl.priors, "from_count", "; did you mean from_counts?"),
        (bl.mechanisms, "zzz", ""),
    ],
)
def test_a_misspelt_name_is_answered_with_those_like_it(module, name, hint):
    with pytest.raises(AttributeError) as error:
        getattr(module, name)
    assert str(error.value) == f"module {module.__name__!r} has no attribute {name!r}{hint}"
