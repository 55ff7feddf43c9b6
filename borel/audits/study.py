"""A study: one release to be audited, as data; and how a study file is read."""

from __future__ import annotations

import re
import signal
import sys
import threading
import traceback
from collections.abc import Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from borel.engine.figures import FIGURES, in_reports
from borel.errors import BorelError, InvalidInput
from borel.probability.wrong_calls import explained

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import xarray as xr

    from borel.probability.joint import Joint

REPORT = ("pml", "pmc", "ldp", "lip", "mutual_information")
"""The figures of a report, if not said otherwise."""


_EXTRAS = {"statsmodels": "examples", "dask": "dask"}
"""Libraries that come with an extra of borel, and its name."""


class StudyError(BorelError):
    """A study file that cannot be read, or that raised; the message names the file and line."""


@explained
@dataclass(frozen=True, kw_only=True)
class Study:
    """A release to be audited: a mechanism, a prior, and what to report.

    Parameters
    ----------
    title : str
        What the report is called.
    mechanism : Mechanism
        The release, P_{Y|X}.
    prior : Measure, PriorSet, PosteriorPriors, or function
        The law of the secret; a set of priors, of which every figure is the supremum; a posterior
        over priors; or a function ``f(random_seed)`` that
        returns posterior draws (what ``pm.sample`` returns). The function runs once, with the
        study's seed: its draws are kept beside the result and a resumed audit reads them there.
    build : callable, optional
        With a function: how the prior is made of the draws, ``lambda draw: bl.pmf(draw["p"])``,
        as in `borel.priors.from_posterior`.
    report : sequence of str
        Figures, of ``pml, pmc, ldp, lip, mutual_information, ldi, maximal_leakage,
        maximal_cost_leakage, tail_leakage, maximal_guesswork_leakage, min_entropy_leakage,
        total_variation, envelope``; the last, the PML envelope, adds a section: what leaks with
        probability delta after any post-processing, at a few levels, and a plot.
    attributes : mapping
        Names, each with an attribute of the secret as for `borel.attribute`: an event, a function,
        the name of a column; None for the secret itself. The report says which the release
        discloses, and what is left of each.
    guarantees : sequence
        What is to be checked: ``bl.guarantees.PML(0.5)``, ...; under a posterior, the posterior
        probability that each holds.
    seed : int
        Seed of the prior function and of every random choice of the engines.
    options : dict
        Options of `borel.options` for this study: ``{"tol": 1e-6, "budget": 30}``.
    about : str
        A few words for the report: what the secret is, where the data come from.

    Attributes
    ----------
    file : str
        The file that the study was read from, for the report; empty for one made otherwise.

    Raises
    ------
    InvalidInput
        Any of these that is not what it should be.

    Notes
    -----
    A study holds one release. A file with several gives ``studies = {"name": Study, ...}``; each
    is audited into a folder of its own. Two releases about one secret are composed *before* the
    audit, ``mechanism=first & second``: separate reports say nothing of both together.

    Examples
    --------
    >>> import borel as bl
    >>> mech = bl.Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]])
    >>> bl.Study(title="A coin", mechanism=mech, prior=bl.pmf([0.5, 0.5]))
    Study('A coin': Measure([0.5, 0.5] on Finite(2)) * Mechanism(2 x 2 matrix: ...))
    """

    title: str
    mechanism: Any
    prior: Any
    build: Callable[[Any], Any] | None = None
    report: Sequence[str] = REPORT
    attributes: Mapping[str, Any] = field(default_factory=dict)
    guarantees: Sequence[Any] = ()
    seed: int = 0
    options: dict[str, Any] = field(default_factory=dict)
    about: str = ""
    file: str = field(default="", init=False, repr=False, compare=False)

    def __post_init__(self):
        from borel import settings
        from borel.probability.mechanism import Mechanism

        if not (isinstance(self.title, str) and self.title.strip()):
            raise InvalidInput("Study", expected="title=<some words>", got=repr(self.title))
        if not isinstance(self.mechanism, Mechanism):
            raise InvalidInput(
                "Study",
                expected="mechanism=<a Mechanism>",
                got=type(self.mechanism).__name__,
                mend="make one with bl.Mechanism(...) or bl.mechanisms; of a family, audit each "
                "member.",
            )
        self._check_prior()
        object.__setattr__(self, "report", self._checked_report())
        object.__setattr__(self, "guarantees", self._checked_guarantees())
        self._check_attributes()
        if isinstance(self.seed, bool) or not isinstance(self.seed, int) or self.seed < 0:
            raise InvalidInput("Study", expected="seed=<an integer >= 0>", got=repr(self.seed))
        if "seed" in self.options:
            raise InvalidInput(
                "Study",
                expected="the seed on its own, as the prior function takes it too",
                got=f"options={self.options!r}",
                mend=f"write seed={self.options['seed']!r} beside options=.",
            )
        with settings.options(**self.settings):  # raises for an option that is not one
            pass
        if not self.sampled:
            self.joint()  # a prior that does not fit the mechanism is found here

    def _check_prior(self) -> None:
        from borel.priors.posteriors import PosteriorPriors
        from borel.priors.sets import PriorSet
        from borel.probability.measure import Measure

        if isinstance(self.prior, (Measure, PriorSet, PosteriorPriors)):
            if self.build is not None:
                raise InvalidInput(
                    "Study",
                    expected="build= only with a function as prior",
                    got=f"build= with {self.prior!r}",
                )
            return
        if not callable(self.prior):
            raise InvalidInput(
                "Study",
                expected="prior=<a Measure, a set of priors, a posterior over them, or a function>",
                got=type(self.prior).__name__,
                mend="for draws, give prior=bl.priors.from_posterior(draws, build).",
            )
        if not callable(self.build):
            raise InvalidInput(
                "Study",
                expected="build=<a function> beside a function as prior",
                got=repr(self.build),
                mend="the prior function returns draws; say how a prior is made of them: "
                'build=lambda draw: bl.pmf(draw["p"]).',
            )

    def _checked_report(self) -> tuple[str, ...]:
        asked = (self.report,) if isinstance(self.report, str) else tuple(self.report)
        unknown = [name for name in asked if name not in in_reports()]
        if unknown or not asked:
            raise InvalidInput(
                "Study",
                expected=f"report=<some of {', '.join(in_reports())}>",
                got=", ".join(map(repr, unknown)) or "nothing",
            )
        secret = self.mechanism.secret
        discrete = [name for name in asked if FIGURES[name].discrete]
        if discrete and secret.kind in ("continuous", "mixed"):
            raise InvalidInput(
                "Study",
                expected=f"a finite or countable secret for report={discrete}",
                got=repr(secret),
                mend='"ldp" compares the likelihoods of any two secrets.',
            )
        return tuple(dict.fromkeys(asked))

    def _checked_guarantees(self) -> tuple:
        asked: Any = self.guarantees
        if hasattr(asked, "holds_for"):
            asked = (asked,)
        for guarantee in asked:
            if not hasattr(guarantee, "holds_for"):
                raise InvalidInput(
                    "Study", expected="guarantees from bl.guarantees", got=repr(guarantee)
                )
        return tuple(asked)

    def _check_attributes(self) -> None:
        found = self.attributes
        if not isinstance(found, Mapping) or not all(isinstance(n, str) and n for n in found):
            raise InvalidInput(
                "Study",
                expected="attributes={name: attribute, ...}",
                got=repr(found),
                mend='write attributes={"the secret": None}; attributes are those of bl.attribute.',
            )
        differ = len({node_of(name) for name in found}) == len(found)
        if not differ or not all(re.search(r"\w", name) for name in found):
            raise InvalidInput(
                "Study",
                expected="names of attributes that have letters or digits, and differ in them",
                got=repr(list(found)),
            )

    @property
    def sampled(self) -> bool:
        """Whether the prior is a function that samples."""
        return callable(self.prior)

    @property
    def settings(self) -> dict[str, Any]:
        """The options of the study, its seed among them."""
        return {"seed": self.seed, **self.options}

    def draws(self) -> xr.DataTree:
        """Run the prior function once, with the seed, and return its draws.

        Raises
        ------
        StudyError
            The function raised, or returned no draws; the message names its line.
        KeyboardInterrupt
            Also when the sampler stopped at a Ctrl-C and returned what it had.
        """
        from borel import _compat

        with _noting_interrupts() as interrupts:
            try:
                found = self.prior(self.seed)
            except Exception as error:
                place = getattr(getattr(self.prior, "__code__", None), "co_filename", "")
                raise StudyError(_told(error, place, "the prior of the study")) from error
        if interrupts:  # PyMC returns a shorter posterior instead
            raise KeyboardInterrupt("while the prior was sampled")
        try:
            tree = _compat.as_datatree(found)
        except TypeError as error:
            raise StudyError(
                f"the prior function of {self.title!r}: expected posterior draws (what pm.sample "
                f"returns), got {type(found).__name__}. To mend it: return the draws, and give "
                f"build= for the prior made of them."
            ) from error
        if "posterior" not in tree.children:
            raise StudyError(
                f"the prior function of {self.title!r}: expected a posterior group, "
                f"got groups {sorted(tree.children)}"
            )
        return tree

    def joint(self, draws: xr.DataTree | None = None) -> Joint:
        """Return the joint of the prior, made of draws if it is sampled, and the mechanism."""
        if not self.sampled:
            return self.prior * self.mechanism
        from borel.priors.posteriors import from_posterior

        assert self.build is not None
        draws = self.draws() if draws is None else draws
        try:
            return from_posterior(draws, self.build) * self.mechanism
        except Exception as error:
            place = getattr(getattr(self.build, "__code__", None), "co_filename", "")
            if _frames(error, place):
                raise StudyError(_told(error, place, "the build of the study")) from error
            raise

    def __repr__(self) -> str:
        """Show the title, the prior and the mechanism."""
        prior = f"draws of {_name(self.prior)}()" if self.sampled else repr(self.prior)
        return f"Study({self.title!r}: {prior} * {self.mechanism!r})"

    def _repr_html_(self) -> str:
        from html import escape

        return f"<div><code>{escape(repr(self))}</code><br><i>next: bl.audit(study)</i></div>"


def node_of(attribute: str) -> str:
    """Return the name under which an audit keeps what is said of an attribute.

    Examples
    --------
    >>> node_of("smokes (ever)")
    'disclosure/smokes-ever'
    """
    return "disclosure/" + re.sub(r"[^\w.]+", "-", attribute).strip("-")


def _name(function: Any) -> str:
    return getattr(function, "__name__", type(function).__name__)


def as_study(subject: Any) -> Study:
    """Return a study as it is, and a joint as a study of it."""
    from borel.probability.joint import Joint

    if isinstance(subject, Study):
        return subject
    if isinstance(subject, Joint):
        return Study(title="Audit of a release", mechanism=subject.mechanism, prior=subject.prior)
    raise InvalidInput(
        "bl.audit", expected="a Study, or a joint prior * mech", got=type(subject).__name__
    )


def load_study(path: str | Path) -> dict[str, Study]:
    """Run a study file and return its studies by name.

    Parameters
    ----------
    path : path
        A Python file with ``study = bl.Study(...)``, or ``studies = {"name": bl.Study(...)}``.

    Returns
    -------
    dict
        One entry, ``"study"``, for a single study.

    Raises
    ------
    StudyError
        The file cannot be read, is no Python, raised (with the line that did), or has no study.

    Notes
    -----
    The folder of the file joins ``sys.path``, so that a study can import what lies beside it. It
    comes last: a file ``html.py`` beside the study takes no module's place.
    """
    path = Path(path)
    try:
        source = path.read_text(encoding="utf-8-sig")  # with or without a byte order mark
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise StudyError(f"the study {path} cannot be read: {why}") from error
    try:
        code = compile(source, str(path), "exec")
    except (SyntaxError, ValueError) as error:
        line = getattr(error, "lineno", None)
        text = (getattr(error, "text", None) or "").strip()
        raise StudyError(
            f"the study {path} is not Python: "
            f"{'line ' + str(line) + ': ' if line else ''}"
            f"{getattr(error, 'msg', error)}{': ' + text if text else ''}"
        ) from error
    folder = str(path.resolve().parent)
    if folder not in sys.path:
        sys.path.append(folder)
    module = ModuleType("borel_study")
    module.__file__ = str(path)
    sys.modules[module.__name__] = module  # so that its functions can be pickled and inspected
    try:
        exec(code, module.__dict__)
    except (Exception, SystemExit) as error:
        raise StudyError(_told(error, str(path), f"the study {path}")) from error
    found = _studies(module, path)
    for study in found.values():
        object.__setattr__(study, "file", str(path))
    return found


def _studies(module: ModuleType, path: Path) -> dict[str, Study]:
    found = getattr(module, "studies", getattr(module, "study", None))
    if isinstance(found, Study):
        return {"study": found}
    if isinstance(found, (list, tuple)):
        found = {str(i + 1): study for i, study in enumerate(found)}
    if isinstance(found, dict) and found and all(isinstance(s, Study) for s in found.values()):
        bad = [n for n in found if not (isinstance(n, str) and n and not set(n) & set("/\\"))]
        if bad or {".", ".."} & set(found):
            raise StudyError(f"{path}: the names of studies become folders; {bad} cannot")
        return found
    got = "no such name" if found is None else f"{type(found).__name__} {found!r:.80}"
    raise StudyError(
        f"no study in {path}: expected `study = bl.Study(...)`, or "
        f'`studies = {{"name": bl.Study(...)}}`, got {got}. `borel init` writes one to start from.'
    )


def _told(error: BaseException, filename: str, what: str) -> str:
    """Say which line of the user's file raised what."""
    frames = _frames(error, filename)
    where = ""
    if frames:
        where = f", line {frames[-1].lineno}"
        if frames[-1].line:
            where += f", `{frames[-1].line.strip()}`"
    words = str(error) or "no message"
    if isinstance(error, ModuleNotFoundError) and error.name:
        root = error.name.partition(".")[0]
        words += "; it is not installed, or not spelt so"
        if root in _EXTRAS:
            words += f': pip install ".[{_EXTRAS[root]}]" in the folder of borel'
    kind = "" if isinstance(error, BorelError) else f"{type(error).__name__}: "
    return f"{what}{where}, raised {kind}{words}"


def _frames(error: BaseException, filename: str) -> list[traceback.FrameSummary]:
    """Return the calls that an error went through in a file, the innermost last."""
    return [f for f in traceback.extract_tb(error.__traceback__) if f.filename == filename]


@contextmanager
def _noting_interrupts() -> Iterator[list[int]]:
    """Note each Ctrl-C on its way to the handler in force: samplers may swallow it."""
    seen: list[int] = []
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield seen
        return

    def note(number: int, frame: Any) -> None:
        seen.append(number)
        before(number, frame)  # type: ignore[operator]

    signal.signal(signal.SIGINT, note)
    try:
        yield seen
    finally:
        signal.signal(signal.SIGINT, before)
