"""What is shipped: the models ride inside the package, tests and examples do not."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def test_models_are_found_and_light(tmp_path):
    code = (
        "import sys, borel.models, borel.models.rating; from borel import models; "
        "assert models.binned_beta is borel.models.rating.binned_beta; "
        "print([m for m in ('pymc', 'arviz', 'pytensor') if m in sys.modules])"
    )
    run = [sys.executable, "-c", code]
    done = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_shelf_offers_every_model():
    from borel import models

    files = {p.stem for p in Path(models.__path__[0]).glob("*.py") if not p.stem.startswith("_")}
    offered = {
        getattr(models, name).__module__.removeprefix("borel.models.") for name in models.__all__
    }
    assert offered == files


@pytest.mark.slow
def test_the_wheel(tmp_path):
    pytest.importorskip("hatchling")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("borel-*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    shipped = {name for name in names if name.startswith("borel/_models/")}
    assert shipped == {f"borel/_models/{p.name}" for p in (ROOT / "models").glob("*.py")}
    tops = {name.split("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"borel"}
    assert any(name.endswith("licenses/LICENSE") for name in names)
