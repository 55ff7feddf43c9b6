"""Audits: every figure of a study, computed one by one, kept as they come, and resumed.

An audit is a list of units, each a figure or a curve. What a unit gives is kept at once, so that
an interrupted audit loses one unit at most and goes on from there.
"""

from __future__ import annotations

import json
import warnings
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from borel import settings
from borel.audits.items import Nodes, Unit, is_random, units, with_certificate
from borel.audits.named_joints import as_data
from borel.audits.provenance import MADE, provenance
from borel.audits.result import Audit, load
from borel.audits.sampling import SAMPLING, sampling
from borel.audits.serialisation import holds_text, to_plain
from borel.audits.set_audit import is_set, prior_in_words
from borel.audits.store import RESULT, attributes, pack, read, writable, write
from borel.audits.study import Study, as_study
from borel.audits.study_key import changed, prior_key, study_key
from borel.errors import InvalidInput
from borel.probability.alphabets import Finite
from borel.probability.bound import weakest

if TYPE_CHECKING:
    import xarray as xr

    from borel.probability.joint import Joint

__all__ = ["Audit", "Interrupted", "ResumeWarning", "audit", "load"]

DRAWS = "prior.nc"


class ResumeWarning(UserWarning):
    """What changed since the audit that is resumed, and what is therefore computed again."""


class Interrupted(KeyboardInterrupt):
    """A Ctrl-C during an audit. What was computed is kept: ``.tree``, and in the output folder."""

    def __init__(self, message: str, tree: xr.DataTree | None = None):
        super().__init__(message)
        self.tree = tree


def audit(
    subject: Any,
    *,
    output: Any = None,
    resume: bool = False,
    progress: bool | None = None,
    certificates: bool = False,
) -> xr.DataTree:
    """Compute every figure of a study, or of a joint.

    Parameters
    ----------
    subject : Study or Joint
        What to audit; a joint is audited with the default report.
    output : path, optional
        A folder for ``result.nc`` (and ``prior.nc``, the draws of a sampled prior). Nothing is
        written without it.
    resume : bool
        Go on with what lies in ``output``: posterior draws are not sampled again, figures that
        are there are kept. What has changed since is named in a warning and computed again.
    progress : bool, optional
        Whether to show a bar when it takes more than two seconds; default: in a terminal or a
        notebook.
    certificates : bool
        Whether to make certificates, which ``borel check`` verifies; a figure without one says why
        in its attribute ``no_certificate``. It may take minutes for each figure. Of a posterior
        over priors the figure of one draw, the one nearest to the quantile, has a certificate.

    Returns
    -------
    DataTree
        A group a figure: ``lower``, ``upper``, ``status``; below it its curve over outcomes, its
        law, its quantiles, its posterior draws. `borel.load` makes Bounds of it (and reads it
        back from the file): ``bl.load(tree)["pml"]``.

    Raises
    ------
    InvalidInput
        A folder that cannot be written to, found before any work starts, or one that holds an
        unfinished audit and no ``resume``.
    StudyError
        The prior function raised.
    Interrupted
        Ctrl-C, a KeyboardInterrupt; its ``tree`` holds what was computed, as does the folder.

    Notes
    -----
    A figure that this version cannot compute is a group with the attribute ``not_yet``, its
    reason. Under a posterior over priors, a figure is its 95 % posterior quantile, and its draws
    are kept; a guarantee is the posterior probability that it holds; and the law of a leakage is
    that over prior and outcome together. Over a set of priors a figure is its supremum, with the
    worst prior as its witness; below it lie ``nominal``, the figure under the nominal prior of the
    set, and ``cost``, the difference: what not knowing the prior costs. Laws over a set are not in
    this version.

    Examples
    --------
    >>> import borel as bl
    >>> joint = bl.pmf([0.5, 0.5]) * bl.Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]])
    >>> tree = bl.audit(joint)
    >>> tree.attrs["status"], float(tree["pml/upper"]).__round__(6)
    ('exact', 0.405465)
    """
    study = as_study(subject)
    if resume and output is None:
        raise InvalidInput("bl.audit", expected="output=<the folder to resume from>", got="none")
    folder = None if output is None else writable(output)
    before = None if folder is None else _previous(folder, resume)
    for alphabet in (*study.mechanism.secret.factors, *study.mechanism.outcome.factors):
        # refused before any work, not after it
        if isinstance(alphabet, Finite) and holds_text(to_plain(alphabet.labels)):
            warnings.warn(
                f"the labels of {alphabet!r} come back from an audit as their text: take text, "
                "numbers, tuples of them or members of an Enum to get them as they were",
                stacklevel=2,
            )
    with settings.options(**study.settings):
        draws = _draws(study, folder, resume) if study.sampled else None
        key = study_key(study, draws, certificates=certificates)
        nodes = _kept(before, key)
        made = provenance(study, certificates=certificates)
        job = _Job(study, study.joint(draws), folder, key, nodes, made, draws)
        if before is not None and not job.left:  # it is the audit that was made then
            job.made = {name: before.attrs.get(name, made[name]) for name in MADE}
        job.run(progress)
        return job.tree()  # what it says of the options is read from those in force


class _Job:
    """An audit under way: the units, and the nodes computed so far."""

    def __init__(
        self,
        study: Study,
        joint: Joint,
        folder: Path | None,
        key: dict,
        nodes: Nodes,
        made: dict[str, str],
        draws: xr.DataTree | None,
    ):
        self.study, self.joint, self.folder, self.key, self.nodes = study, joint, folder, key, nodes
        self.made, self.draws = made, draws
        self.certificates = "certificates" in key
        packed = with_certificate if self.certificates else pack
        self.units = list(units(study, joint, packed))
        self.saved = 0.0

    @property
    def left(self) -> list[Unit]:
        """The units still to be computed."""
        return [unit for unit in self.units if unit.name not in self.nodes]

    def run(self, progress: bool | None) -> None:
        """Compute what is left; keep what is computed, whatever happens."""
        try:
            with settings.progress_bar(len(self.units), wanted=progress) as bar:
                for unit in self.left:
                    bar.tell(len(self.units) - len(self.left), unit.name)
                    self.nodes.update(unit.compute())
                    if settings.now() - self.saved > 1.0:
                        self.save()
        except KeyboardInterrupt:
            raise Interrupted(self._how_to_go_on(), self.tree()) from None
        finally:
            self.save()

    def _how_to_go_on(self) -> str:
        done = f"{len(self.units) - len(self.left)} of {len(self.units)} steps"
        if self.folder is None:
            return f"interrupted after {done}: they are in the .tree of this exception"
        return (
            f"interrupted after {done}, kept in {self.folder / RESULT}. To go on from there: "
            f"--resume, or bl.audit(study, output={str(self.folder)!r}, resume=True)"
        )

    def save(self) -> None:
        """Write what there is, in one step."""
        if self.folder is not None:
            write(self.tree(), self.folder / RESULT)
            self.saved = settings.now()

    def tree(self) -> xr.DataTree:
        """Return what there is as a DataTree."""
        import xarray as xr

        wanted = [unit.name for unit in self.units]
        kept = {
            name: node
            for name, node in self.nodes.items()
            if any(name == w or name.startswith(f"{w}/") for w in wanted)
        }
        if is_random(self.joint):
            kept[SAMPLING] = self._sampling
        root = xr.Dataset(attrs=self._attrs(kept))
        return xr.DataTree.from_dict({"/": root, **{f"/{n}": d for n, d in kept.items()}})

    @cached_property
    def _normalisation(self) -> str:
        """What is known of the kernel's normalisation: proved, if figures of one prior are."""
        mechanism, prior = self.joint.mechanism, self.joint.prior
        if is_random(self.joint) or is_set(self.joint):
            return str(mechanism.normalisation)
        from borel.engine.problem.kernel_normalisation import statement

        return str(statement(mechanism, prior))

    @cached_property
    def _sampling(self) -> xr.Dataset:
        """The diagnostics of the draws of the prior."""
        return sampling(self.joint.prior, self.draws)

    @cached_property
    def _named(self) -> str:
        """The joint as its certificates name it, by which a foreign one is told."""
        return json.dumps(as_data(self.joint)) if self.certificates else "{}"

    def _attrs(self, kept: Nodes) -> dict[str, Any]:
        from borel._version import __version__

        study = self.study
        statuses = [
            str(node["status"].item())
            for node in kept.values()
            if node.attrs.get("in_table") == 1 and "bound" in node.attrs
        ]
        return {
            "title": study.title,
            "about": study.about,
            "mechanism": repr(self.joint.mechanism),
            "normalisation": self._normalisation,
            "prior": repr(self.joint.prior),
            "posterior": int(is_random(self.joint)),
            "prior_set": int(is_set(self.joint)),
            "nominal": _nominal(self.joint),
            "prior_confidence": (is_set(self.joint) and self.joint.prior.confidence) or 0.0,
            "status": weakest(statuses) if statuses else "undecided",
            "units": "nats",
            "complete": int(not self.left),
            "seed": study.seed,
            "options": repr(settings.current()),
            "order": json.dumps([unit.name for unit in self.units]),
            "key": json.dumps(self.key),
            "joint": self._named,
            "certificates": int(self.certificates),
            "creation_library": "borel",
            "creation_library_version": __version__,
            **self.made,
        }


def _nominal(joint: Joint) -> str:
    """Return the nominal prior of a set in words; nothing where there is none."""
    if not is_set(joint) or joint.prior.nominal is None:
        return ""
    return prior_in_words(joint.prior.nominal)


# -- resuming -------------------------------------------------------------------------------


def _previous(folder: Path, resume: bool) -> xr.DataTree | None:
    """Return the audit in a folder, to resume; without ``resume``, guard an unfinished one."""
    path = folder / RESULT
    if not path.exists():
        return None
    if resume:
        return load(path).tree
    try:
        complete = attributes(path).get("complete", 1)
    except InvalidInput:  # no result: it is written over
        return None
    if not complete:
        raise InvalidInput(
            "the output folder",
            expected="no unfinished audit in it",
            got=f"one in {path}",
            mend="go on with --resume (resume=True), or delete it.",
        )
    return None


def _draws(study: Study, folder: Path | None, resume: bool) -> xr.DataTree:
    """Return the draws of a sampled prior: those kept in the folder, or new ones."""
    key = prior_key(study)
    path = None if folder is None else folder / DRAWS
    if resume and path is not None and path.exists():
        kept = read(path)
        if kept.attrs.get("borel_prior_key") == key:
            return kept
        warnings.warn(
            "resuming: the prior function, its build or its seed changed: the prior is "
            "sampled again",
            ResumeWarning,
            stacklevel=3,
        )
    try:
        draws = study.draws()
    except KeyboardInterrupt:
        raise Interrupted(
            "interrupted while the prior was sampled: none of its draws are kept, "
            "since fewer draws than asked for are another posterior"
        ) from None
    if path is not None:
        draws = draws.copy()
        draws.attrs["borel_prior_key"] = key
        write(draws, path)
    return draws


def _kept(before: xr.DataTree | None, key: dict[str, str]) -> Nodes:
    """Return the nodes of an earlier audit that are still good."""
    if before is None:
        return {}
    if differing := changed(json.loads(before.attrs["key"]), key):
        warnings.warn(
            f"resuming: {', '.join(differing)} changed; every figure is computed again",
            ResumeWarning,
            stacklevel=3,
        )
        return {}
    nodes = {node.path.strip("/"): node.to_dataset(inherit=False) for node in before.subtree}
    return {name: node for name, node in nodes.items() if name and (node.attrs or node.variables)}
