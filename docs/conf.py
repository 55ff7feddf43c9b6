"""Sphinx: MyST pages, notebooks that are run, pages made from the records of borel."""

import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "_ext"))
os.environ["BOREL_PROGRESS"] = "0"  # pages show results, and no bars of how they were made

from borel import __version__  # noqa: E402

project, author, release = "borel", "The borel developers", __version__
copyright = author
extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.mathjax",
    "sphinx-mathjax-offline",
    "numpydoc",
    "myst_nb",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
    "records",
]
exclude_patterns = ["_build", "gallery", "gallery_pages/*.ipynb", "**sg_execution_times.rst"]
html_theme = "furo"
html_title = "borel"
html_static_path = ["_static"]
html_css_files = ["borel.css"]

myst_enable_extensions = ["dollarmath", "amsmath", "colon_fence", "deflist"]
myst_heading_anchors = 3
nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_timeout = 900
nb_merge_streams = True
nb_render_markdown_format = "myst"

numpydoc_class_members_toctree = False
numpydoc_show_class_members = False
autodoc_typehints = "none"
autodoc_member_order = "bysource"
nitpick_ignore_regex = [("py:obj", r"[a-z_]+")]  # attributes, which their class's page describes
suppress_warnings = ["config.cache"]  # the gallery's sorting key cannot be pickled

sphinx_gallery_conf = {
    "examples_dirs": "gallery",
    "gallery_dirs": "gallery_pages",
    "filename_pattern": r"plot_",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_memory": False,
    "copyfile_regex": "",
}
linkcheck_timeout = 20


def setup(app):
    """Say of an extension that only copies files, and is silent, that it may be parallel."""
    app.extensions["sphinx-mathjax-offline"].parallel_read_safe = True
