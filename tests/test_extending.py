"""docs/extending.md is true: its blocks are put into a copy of the package, and its sessions run."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import borel as bl

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "extending.md"
TEXT = PAGE.read_text(encoding="utf-8")
BLOCK = re.compile(r"<!-- (borel/\S+)(?: before: (.*?))? -->\n```python\n(.*?)```", re.DOTALL)


def test_its_examples_work(tmp_path):
    package = Path(bl.__file__).parent
    skipped = shutil.ignore_patterns("__pycache__", "_models")
    shutil.copytree(package, tmp_path / "borel", ignore=skipped)
    blocks = BLOCK.findall(TEXT)
    assert len(blocks) == TEXT.count("```python")
    for name, before, code in blocks:
        path = tmp_path / name
        old = path.read_text(encoding="utf-8") if path.exists() else ""
        assert old.count(before) >= 1, f"{name} has no line {before}"
        where = old.index(f"{before}") if before else len(old)
        path.write_text(old[:where] + code + old[where:], encoding="utf-8")
    touched = {name for name, _, _ in blocks}
    assert len(touched) == 8  # the table of the page: 2 + 3 + 2 + 1
    run = subprocess.run(
        [sys.executable, "-W", "error", "-m", "doctest", str(PAGE)],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=False,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
    )
    assert run.returncode == 0, run.stdout + run.stderr


def test_the_files_it_names_exist():
    made = {name for name, _, _ in BLOCK.findall(TEXT)} | {"borel/mechanisms/staircases.py"}
    for name in re.findall(r"`((?:borel|tests)/[\w/]+\.pyi?)`", TEXT):
        assert name in made or (ROOT / name).is_file(), name
