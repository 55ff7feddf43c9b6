"""A page for each measure, mechanism, set of priors and model, made from their records.

What is public is read from the stubs, what a measure means from the table of figures, and examples
from the docstrings: whatever is added to these gets its page. The figures on a page are computed
when it is written.
"""

from __future__ import annotations

import contextlib
import doctest
import inspect
import io
import sys
from concurrent.futures import ProcessPoolExecutor
from fractions import Fraction
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from unittest import mock

import arviz_stats  # noqa: F401  borel imports these when it needs them: each process would
import matplotlib
import pymc  # noqa: F401  anew

matplotlib.use("Agg")

import borel as bl
from borel import mechanisms, models, priors
from borel.engine.figures import FIGURES
from borel.errors import BorelError
from borel.probability.bound import STATUSES

BUDGET = 1
"""Seconds that a figure of these pages may take: there are many."""
QUICK = 0.1
"""Seconds for those of which only the status is shown."""
SLOW = ("mutual_information", "envelope")
"""Figures of which the first step alone may take half a minute: their own pages have them."""
FIGURES_OF_A_JOINT = {
    "pml": ("pml(...).sup()", lambda joint: bl.pml(joint).sup()),
    "pmc": ("pmc(...).sup()", lambda joint: bl.pmc(joint).sup()),
    "ldp": ("ldp", bl.ldp),
    "maximal_leakage": ("maximal_leakage", bl.maximal_leakage),
}


def standard_joints() -> dict:
    """Return one joint of each kind: what a measure is computed of on its page."""
    quarter, third = Fraction(1, 4), Fraction(1, 3)
    table = bl.Mechanism.from_matrix([[3 * quarter, quarter], [quarter, 3 * quarter]])
    unit = bl.Interval(0, 1)
    centre = bl.pmf([2 * third, third])
    draws = bl.models.dirichlet_posterior([40, 20], draws=200, random_seed=1)
    return {
        "two answers, in Fractions": centre * table,
        "Laplace noise (b = 1/2) on a Beta(2, 5) secret": bl.beta(alpha=2, beta=5)
        * bl.mechanisms.laplace(b=0.5, secret=unit),
        "Laplace noise (b = 1) on a fair coin": bl.pmf([0.5, 0.5])
        * bl.mechanisms.laplace(b=1.0, secret=bl.Finite(2)),
        "Gaussian noise on a Gaussian secret": bl.normal() * bl.mechanisms.gaussian(sigma=1.0),
        "two answers, the prior in a ball of radius 1/20": bl.priors.tv_ball(
            centre, Fraction(1, 20)
        )
        * table,
        "two answers, the prior learnt from 60": bl.priors.from_posterior(
            draws, lambda draw: bl.pmf(draw["p"])
        )
        * table,
    }


def computed(figure, joint, budget=BUDGET) -> tuple[str, str]:
    """Return a figure as text, and its status."""
    try:
        with bl.options(budget=budget, tol=1e-6):
            found = figure(joint)
            if callable(found) and not isinstance(found, bl.RandomBound):
                found = found(Fraction(1, 10))  # an envelope, at a delta
        if isinstance(found, bl.RandomBound):
            found = found.quantile(0.95)
            return f"95 % quantile {found:.4f}".rpartition(" (")[0], found.status
        if not isinstance(found, bl.Bound):
            return "a function", "see below"
        return str(found).rpartition(" (")[0], found.status
    except BorelError as error:
        return "not there", str(error).partition(". ")[0][:160]


def rst_table(head: list[str], rows: list[tuple[str, ...]]) -> list[str]:
    """Return a table as lines of reStructuredText."""
    lines = [".. list-table::", "   :header-rows: 1", ""]
    for row in [head, *rows]:
        for i, cell in enumerate(row):
            lines.append(f"   {'* -' if i == 0 else '  -'} {cell}".rstrip())
    return [*lines, ""]


def status_table(joint) -> list[str]:
    """Return the table of the common figures of a joint."""
    rows = [(f"``{call}``", *computed(f, joint)) for call, f in FIGURES_OF_A_JOINT.values()]
    return rst_table(["figure", "value", "status"], rows)


def by_status(joint) -> list[str]:
    """Return which other figures of a joint have which status, strongest first."""
    found: dict[str, list[str]] = {}
    for name, function in LIVE.items():
        if name in (*FIGURES_OF_A_JOINT, "sup", *SLOW):
            continue
        value, status = computed(function, joint, QUICK)
        if value != "a function":
            status = "no figure" if value == "not there" else status
            found.setdefault(status, []).append(f":doc:`{name} </reference/measures/{name}>`")
    rows = [(s, ", ".join(found[s])) for s in (*STATUSES, "undecided", "no figure") if s in found]
    left = f"not asked: {', '.join(SLOW)}"
    said = f"Its other figures ({left}), each in {QUICK} seconds of work at most:"
    return [said, "", *rst_table(["status", "figures"], rows)]


def measure_page(figure, joints) -> list[str]:
    """Return the page of a figure: definition, source, what it is of each joint, the function."""
    lines = [
        figure.title,
        "=" * len(figure.title),
        "",
        ".. math::",
        "",
        f"   {figure.definition}",
        "",
    ]
    lines += [f"In {figure.units or 'the units of its argument'}. Source: {figure.source}.", ""]
    if figure.of == "joint" and figure.name in LIVE:
        rows = [(name, *computed(LIVE[figure.name], joint)) for name, joint in joints.items()]
        lines += [*rst_table(["of", "value", "status"], rows)]
    if hasattr(bl, figure.name):
        lines += [f".. autofunction:: borel.{figure.name}", ""]
    return lines


POINTWISE = {"information_density"}
"""Functions of more than a number."""


def _live() -> dict:
    """Return the figures that need no argument but the joint, as functions of it."""
    out = {}
    for name, figure in FIGURES.items():
        function = getattr(bl, name, None)
        if figure.of != "joint" or not inspect.isfunction(function) or name in POINTWISE:
            continue
        needed = [
            p
            for p in list(inspect.signature(function).parameters.values())[1:]
            if p.default is p.empty and p.kind is not p.VAR_KEYWORD
        ]
        if not needed and name not in ("pml", "pmc"):
            out[name] = function
    out |= {name: FIGURES_OF_A_JOINT[name][1] for name in ("pml", "pmc")}
    out["sup"] = out["pml"]
    return out


LIVE = _live()


def built_by(function) -> dict[str, list]:
    """Run the example of a docstring; return the joints and the sets of priors it makes."""
    from borel.priors.sets import PriorSet
    from borel.probability.joint import Joint

    made: dict[str, list] = {"joint": [], "set": []}
    names = dict(sys.modules[function.__module__].__dict__)

    def kept(kind, init):
        def wrapped(self, *args, **kwargs):
            init(self, *args, **kwargs)
            made[kind].append(self)

        return wrapped

    with (
        mock.patch.object(Joint, "__init__", kept("joint", Joint.__init__)),
        mock.patch.object(PriorSet, "__init__", kept("set", PriorSet.__init__)),
    ):
        for example in doctest.DocTestParser().get_examples(inspect.getdoc(function) or ""):
            if example.exc_msg is None:
                exec(compile(example.source, function.__name__, "single"), names)
    return made


def picture(joint, path: Path) -> list[str]:
    """Draw PML and PMC against the outcome; nothing where that cannot be drawn."""
    import matplotlib.pyplot as plt

    try:
        with bl.options(budget=BUDGET, tol=1e-4):
            ax = bl.pml(joint).plot()
        ax.figure.savefig(path, dpi=110, bbox_inches="tight")
    except BorelError:
        return []
    finally:
        plt.close("all")
    return [".. rst-class:: figure-of-record", "", f".. image:: {path.name}",
            "   :alt: PML at each outcome", ""]  # fmt: skip


def object_page(name: str, full: str, function, folder: Path) -> list[str]:
    """Return the page of a public name: its docstring, and figures of the joint of its example."""
    lines = [name, "=" * len(name), "", f".. auto{_kind(function)}:: {full}", ""]
    with contextlib.redirect_stdout(io.StringIO()):
        made = built_by(function)
    joint = made["joint"][-1] if made["joint"] else None
    if joint is None and made["set"]:
        prior = made["set"][-1]
        if getattr(prior.on, "kind", "") == "finite":
            joint = prior * bl.mechanisms.randomized_response(secret=prior.on, epsilon=1.0)
            lines += ["With randomised response of epsilon 1:", ""]
    if joint is not None and not isinstance(joint.mechanism, mechanisms.MechanismFamily):
        if made["joint"]:
            lines += ["Of the joint of the example:", ""]
        lines += [*status_table(joint), *picture(joint, folder / f"{name}.png")]
        if folder.name in ("mechanisms", "models"):
            lines += by_status(joint)
    return lines


def _kind(found) -> str:
    return "class" if inspect.isclass(found) else "function"


KINDS = ("mechanisms", "priors", "models")
"""Modules each name of which has a page."""


def api_pages(written: set[str]) -> dict[str, list[str]]:
    """Return a page of each public name of borel that has none yet, and of its modules."""
    pages = {}
    for name in sorted(bl.__all__, key=str.lower):
        found = getattr(bl, name)
        if inspect.ismodule(found):
            if name in KINDS:
                continue
            names = [n for n in getattr(found, "__all__", ()) if callable(getattr(found, n))]
            lines = [f".. automodule:: borel.{name}", "   :no-members:", ""] if names else []
            for one in names:
                lines += [f".. auto{_kind(getattr(found, one))}:: borel.{name}.{one}", ""]
        elif callable(found):
            lines = [f".. auto{_kind(found)}:: borel.{name}"]
            lines += ["   :members:", ""] if inspect.isclass(found) else [""]
        else:
            continue
        if lines and name not in written:
            pages[name] = [name, "=" * len(name), "", *lines]
    return pages


def write(folder: Path, title: str, intro: str, pages: dict[str, list[str]]) -> None:
    """Write the pages of a folder that changed, and the list of them."""
    toc = [f"   {name}" for name in pages]
    index = [
        title,
        "=" * len(title),
        "",
        intro,
        "",
        ".. toctree::",
        "   :maxdepth: 1",
        "",
        *toc,
        "",
    ]
    for name, lines in {**pages, "index": index}.items():
        path, text = folder / f"{name}.rst", "\n".join(lines) + "\n"
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


_WORK: dict[str, dict] = {}
"""What is to be made: processes that are forked have it, for it cannot be pickled."""


def _make(place: tuple[str, str]) -> list[str]:
    kind, name = place
    return _WORK[kind][name]()


def made_by(work: dict[str, dict], processes: int) -> dict[str, dict[str, list[str]]]:
    """Call the functions that make pages, in as many processes as Sphinx was told (``-j``).

    What one of them raises is raised here: `sphinx.util.parallel` may lose it.
    """
    _WORK.update(work)
    places = [(kind, name) for kind in work for name in work[kind]]
    if processes > 1:  # Sphinx itself forks then
        with ProcessPoolExecutor(processes, mp_context=get_context("fork")) as pool:
            made = list(pool.map(_make, places))
    else:
        made = list(map(_make, places))
    pages: dict[str, dict] = {kind: {} for kind in work}
    for (kind, name), page in zip(places, made, strict=True):
        pages[kind][name] = page
    return pages


def spread(app, env, docnames: list[str]) -> None:
    """Put neighbours by name apart, for processes read runs of pages, and long ones cluster."""
    runs = range(4 * app.parallel if app.parallel > 1 else 1)
    docnames[:] = [name for first in runs for name in docnames[first :: len(runs)]]


def make_pages(app) -> None:
    """Write all pages, before the documentation is read."""
    root = Path(app.srcdir) / "reference"
    joints = standard_joints()
    work = {"measures": {f.name: partial(measure_page, f, joints) for f in FIGURES.values()}}
    for kind, module in zip(KINDS, (mechanisms, priors, models), strict=True):
        folder = root / kind
        folder.mkdir(parents=True, exist_ok=True)
        work[kind] = {
            name: partial(object_page, name, f"borel.{kind}.{name}", getattr(module, name), folder)
            for name in sorted(module.__all__)
        }
    folders = made_by(work, app.parallel)
    folders["api"] = api_pages({name for pages in folders.values() for name in pages})
    intros = {
        "api": ("API", "What has no page among measures, mechanisms, priors and models."),
        "measures": ("Measures", "Every figure that borel gives, on a joint of each kind."),
        "mechanisms": ("Mechanisms", "The library ``bl.mechanisms``."),
        "priors": ("Sets of priors, and learnt priors", "The library ``bl.priors``."),
        "models": ("Models", "The shelf of PyMC models ``bl.models``."),
    }
    for kind, pages in folders.items():
        folder = root / kind
        folder.mkdir(parents=True, exist_ok=True)
        write(folder, *intros[kind], pages)


def setup(app) -> dict:
    """Let Sphinx call `make_pages`, and `spread`."""
    app.connect("builder-inited", make_pages)
    app.connect("env-before-read-docs", spread)
    return {"parallel_read_safe": True}
