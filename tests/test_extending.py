"""docs/extending.md is true: its blocks go into a copy of the package, and its sessions are run."""

import os
import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import borel as bl

ROOT = Path(__file__).resolve().parent.parent
TEXT = (ROOT / "docs" / "extending.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"<!-- (borel/\S+)(?: before: (.*?))? -->\n```python\n(.*?)```", re.DOTALL)
BLOCKS = BLOCK.findall(TEXT)
RUN = """
import doctest, sys
from importlib import import_module

failed, _ = doctest.testfile("sessions.txt", module_relative=False)
runner = doctest.DocTestRunner()
for module, name in (("figures.sibson", "sibson_information"),
                     ("priors.constructors", "wasserstein_ball")):
    module = import_module(f"borel.{module}")
    for test in doctest.DocTestFinder().find(getattr(module, name), globs=dict(vars(module))):
        assert test.examples
        failed += runner.run(test).failed
sys.exit(failed)
"""


def test_its_examples_work(tmp_path):
    skipped = shutil.ignore_patterns("__pycache__", "_models")
    shutil.copytree(Path(bl.__file__).parent, tmp_path / "borel", ignore=skipped)
    assert len(BLOCKS) == TEXT.count("```python")
    for name, before, code in BLOCKS:
        path = tmp_path / name
        old = path.read_text(encoding="utf-8") if path.exists() else ""
        where = old.index(before) if before else len(old)
        margin = before[: len(before) - len(before.lstrip())]
        new = textwrap.indent(textwrap.dedent(code), margin) + ("\n" if margin else "")
        path.write_text(old[:where] + new + old[where:], encoding="utf-8")
    sessions = re.findall(r"```pycon\n(.*?)```", TEXT, re.DOTALL)
    assert len(sessions) == 5
    (tmp_path / "sessions.txt").write_text("\n".join(sessions), encoding="utf-8")
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", RUN],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=False,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
    )
    assert run.returncode == 0, run.stdout + run.stderr


def test_it_counts_the_files_that_each_touches():
    parts = re.split(r"^## An? ", TEXT, flags=re.MULTILINE)[1:]
    counts = [len({name for name, _, _ in BLOCK.findall(part)}) for part in parts]
    rows = re.findall(r"^\| an? [\w ]+ \| (\d) \|", TEXT, flags=re.MULTILINE)
    assert [int(n) for n in rows] == counts == [2, 2, 2, 1]


def test_the_files_it_names_exist():
    made = {name for name, _, _ in BLOCKS}
    found = re.findall(r"`((?:borel|tests)/[\w/]+(?:\.pyi?|/))`", TEXT)
    assert len(found) > 20
    assert not [name for name in found if name not in made and not (ROOT / name).exists()]
