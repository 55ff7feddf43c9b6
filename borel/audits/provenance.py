"""When, with what and how an audit was made: for its report; no figure depends on it."""

from __future__ import annotations

import json
import platform
import shlex
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from borel.audits.study import Study

_LIBRARIES = ("numpy", "scipy", "pymc", "arviz", "python-flint")


def provenance(study: Study, *, certificates: bool = False) -> dict[str, str]:
    """Return the date, the study file, the versions and the command, as attributes of a tree.

    Parameters
    ----------
    study : Study
        The study.
    certificates : bool
        Whether certificates were asked for.

    Returns
    -------
    dict
        ``created_at`` (UTC), ``study_file`` (empty for a study that no file gave), ``command``
        that computes the audit again, and ``versions``, JSON of a version by name.
    """
    from borel._version import __version__

    versions = {"borel": __version__, "Python": platform.python_version()}
    for name in _LIBRARIES:
        try:
            versions[name] = version(name)
        except PackageNotFoundError:  # there by other means than pip
            versions[name] = "unknown"
    option = "--certificates " if certificates else ""
    call = f"bl.audit(study{', certificates=True' if certificates else ''})"
    return {
        "created_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "study_file": study.file,
        "command": f"borel audit {option}{shlex.quote(study.file)}" if study.file else call,
        "versions": json.dumps(versions),
    }


MADE = ("created_at", "study_file", "command", "versions")
"""The names of these attributes."""
