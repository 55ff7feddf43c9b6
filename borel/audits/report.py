"""The report: one HTML file that needs nothing else, made of an audit that is already computed."""

from __future__ import annotations

import json
import math
import os
import tempfile
import warnings
from dataclasses import dataclass
from functools import cache, partial
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from borel.audits.headline import ceiling, disclosed, in_a_sentence, places, verdicts
from borel.audits.hover import alpha_points, envelope_points, law_points, leakage_points
from borel.audits.items import ENVELOPE_LEVELS
from borel.audits.plots.envelope_plots import draw_envelope
from borel.audits.plots.posterior_curves import alpha_curve
from borel.audits.plots.posterior_plots import draw_alpha
from borel.audits.plots.svg import inline
from borel.audits.sampling import SAMPLING, diagnostics_of
from borel.audits.set_audit import worst_case
from borel.audits.study_key import PARTS
from borel.audits.table import (
    STATUS_WORDS,
    about_certificates,
    in_bits,
    percent,
    printed,
    rows,
    short,
)
from borel.engine.figures import LEAKAGES, in_reports
from borel.errors import InvalidInput
from borel.figures.leakage_plots import (
    blank_axes,
    curve_height,
    draw_curve,
    draw_epsilon,
    draw_law,
)
from borel.priors.diagnostics import ESS_LIMIT, RHAT_LIMIT
from borel.probability.bound import Bound

if TYPE_CHECKING:
    from collections.abc import Callable

    from jinja2 import Template

    from borel.audits.audit_figures import AuditFigures
    from borel.audits.plots.svg import Point
    from borel.audits.table import Row

_TEMPLATE = "report.html.j2"


def style() -> str:
    """Return the style sheet of the report, for other pages of the same look."""
    source = resources.files("borel.audits").joinpath(_TEMPLATE).read_text(encoding="utf-8")
    return source.partition("<style>")[2].partition("</style>")[0]


@dataclass(frozen=True)
class Plot:
    """A plot of the report: an SVG element (or nothing), its alternative text, its caption."""

    svg: str
    alt: str
    caption: str


@dataclass(frozen=True)
class Envelope:
    """The section of the envelope: rows (delta, nats, bits, status), its plot, what is left out.

    Numbers are text, rounded outwards; an estimate is ``~value +- error``.
    """

    rows: list[tuple[str, str, str, str]]
    plot: Plot
    left_out: str


@dataclass(frozen=True)
class SetRow:
    """A measure over a set of priors: its supremum, where it comes from, and the nominal figure.

    Attributes
    ----------
    label, figure, status : str
        The measure and its supremum over the set.
    prior, place, attained : str
        The worst prior, the secret and the outcome, and whether they attain the supremum.
    nominal, cost : str
        The figure under the nominal prior, and the difference; "-" where there is none.
    """

    label: str
    figure: str
    status: str
    prior: str
    place: str
    attained: str
    nominal: str
    cost: str


@dataclass(frozen=True)
class Disclosure:
    """An attribute, the verdict on it in words, and by what; its entropies as text.

    Attributes
    ----------
    name, verdict, status, by : str
        What it is called, whether it is disclosed, with which status, and what says so.
    before, line, left : str
        Its min-entropy, the largest PML, and the least min-entropy after an outcome.
    """

    name: str
    verdict: str
    status: str
    by: str
    before: str
    line: str
    left: str


@dataclass(frozen=True)
class Sampled:
    """How a prior was learnt: facts (name, text), and lines (variable, R-hat, bulk, tail ESS)."""

    facts: list[tuple[str, str]]
    lines: list[tuple[str, ...]]


def write_report(audit: AuditFigures, path: str | os.PathLike) -> Path:
    """Write the report of an audit.

    Parameters
    ----------
    audit : AuditFigures
        What `borel.load` returned; it may be unfinished, and the report then says so.
    path : path
        The HTML file.

    Returns
    -------
    Path
        The file: self-contained, with plots and style inside.

    Raises
    ------
    InvalidInput
        A file that cannot be written, or a name that says that it is no HTML.
    """
    path = Path(path)
    if path.suffix.lower() not in ("", ".html", ".htm", ".xhtml"):
        raise InvalidInput(
            "the report",
            expected="a name that ends in .html, as the report is an HTML file",
            got=path.name,
            mend="write report.html; a browser prints it as a PDF, and audit.table().to_latex() is "
            "its table for LaTeX.",
        )
    text = render(audit)
    try:
        handle, temporary = tempfile.mkstemp(suffix=".html", dir=path.parent, prefix=".writing-")
        with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(text)
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except OSError as error:
        raise InvalidInput(
            "the report",
            expected="a file that can be written",
            got=f"{path} ({error.strerror or error})",
        ) from error
    return path


@cache
def _template() -> Template:
    """Return the page, whose text is escaped; it is compiled once."""
    from jinja2 import Environment, StrictUndefined

    source = resources.files("borel.audits").joinpath(_TEMPLATE).read_text(encoding="utf-8")
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters |= {"printed": printed, "in_bits": in_bits, "percent": percent}
    return environment.from_string(source)


def render(audit: AuditFigures) -> str:
    """Return the report as HTML; every text of the study is escaped."""
    found = rows(audit)
    guarantees = [row for row in found if row.name.startswith("guarantees/")]
    attributes = [row for row in found if row.name.startswith("disclosure/")]
    measures = [row for row in found if row not in guarantees and row not in attributes]
    statuses = {row.status for row in found} | {b.status for b in audit.values()}
    return _template().render(
        about=audit.tree.attrs,
        complete=audit.complete,
        measures=measures,
        guarantees=guarantees,
        disclosures=[_disclosure(audit, row) for row in attributes],
        verdicts=[*verdicts(audit, guarantees), *disclosed(audit, attributes)],
        in_a_sentence=in_a_sentence(audit),
        places=places(audit),
        ceiling=ceiling(audit),
        sampled=_sampled(audit),
        versions=json.loads(audit.tree.attrs.get("versions", "{}")),
        plots=plots(audit),
        quantiles=_quantiles(audit),
        over_set=_over_set(audit, measures),
        left_out=[(n, why) for n, why in audit.missing.items() if n not in {r.name for r in found}],
        envelope=_envelope(audit),
        posteriors=_posteriors(audit),
        legend=[(s, words) for s, words in STATUS_WORDS.items() if s in statuses],
        assumptions=_notes(audit, lambda b: b.assumptions),
        reasons=_notes(audit, lambda b: (b.reason,) if b.reason else ()),
        certificates=about_certificates(audit),
        key=_key(audit),
    )


# -- plots ----------------------------------------------------------------------------------


def plots(audit: AuditFigures) -> list[Plot]:
    """Return the plots of what the audit holds."""
    found = []
    for kind in LEAKAGES:
        label = in_reports()[kind].label
        if (curve := audit.dataset(f"{kind}/curve")) is not None:
            caption = f"{label} at each outcome{_over(curve)}. {_band(curve.attrs['status'])}"
            size = {"height": curve_height(curve)}
            draw, said = partial(draw_curve, curve), partial(leakage_points, curve)
            found.append(_plot(draw, f"{kind}-curve", caption, said, **size))
        if audit.dataset(f"{kind}/draws") is not None:
            figure = audit.random(kind)
            draw = partial(draw_epsilon, figure)
            caption = f"Posterior of the epsilon of {label}: {_POSTERIOR}"
            found.append(_plot(draw, f"{kind}-draws", caption))
            if not figure.trouble:
                curve = alpha_curve(figure).assign_attrs(quantity=f"epsilon of {label}")
                caption = f"Epsilon of {label} against alpha: {_ALPHA}"
                draw, said = partial(draw_alpha, curve), partial(alpha_points, curve)
                found.append(_plot(draw, f"{kind}-alpha", caption, said))
        if (law := audit.dataset(f"{kind}/law")) is not None:
            under = f", under {law.attrs['under']}" if law.attrs["under"] else ""
            caption = f"the probability that an outcome leaks t nats or less{under}."
            band = _band(law.attrs["status"])
            caption = f"Law of {label}: {caption} {band}"
            draw, said = partial(draw_law, law), partial(law_points, law)
            found.append(_plot(draw, f"{kind}-law", caption, said))
    return found


_POSTERIOR = (
    "how the worst case over outcomes varies with what the data leave open about the prior. The "
    "shaded interval holds 95 % of the posterior probability; its ends are an estimate."
)

_ALPHA = (
    "the smallest epsilon that a set of priors can have which leaves out the posterior probability "
    "alpha. The band is the 95 % Monte Carlo interval at each alpha."
)


def _over(curve: Any) -> str:
    """Say what a curve over a set of priors shows."""
    if curve.attrs.get("over") != "set":
        return ""
    beside = "; in grey, under the nominal prior" if "nominal_upper" in curve else ""
    return f", the supremum over the set of priors{beside}"


def _band(status: str) -> str:
    if status == "estimate":
        return "The band is an error estimate; it proves nothing."
    if status == "undecided":
        return "Where the figure is not decided, the plot shows what is known."
    if status.startswith("undecided:"):
        return "It shows quantiles over draws from which nothing may be claimed."
    if status.startswith("quantiles"):
        return "Medians and bands are quantiles over the posterior draws, themselves estimates."
    return f"The band, often too thin to see, is an enclosure (status: {status})."


def _plot(
    draw: Callable[[Any], Any],
    name: str,
    caption: str,
    points: Callable[[], list[Point]] = list,
    **size: float,
) -> Plot:
    """Draw a plot; if it cannot be drawn, the report says so, and is whole otherwise."""
    try:
        with warnings.catch_warnings():
            # the width of a label in a script that Matplotlib's font lacks; the page's has it
            warnings.filterwarnings("ignore", message="Glyph .* missing from")
            ax = draw(blank_axes(**size))
            x, y = ax.get_xlabel(), ax.get_ylabel()
            alt = f"Plot: {ax.get_title(loc='left')}; {x} against {y}."
            return Plot(inline(ax, alt, name, points()), alt, caption)
    except Exception as error:
        why = f"{type(error).__name__}: {error}"
        return Plot("", "", f"{caption} This plot could not be drawn ({why}).")


# -- what lies beside the table -------------------------------------------------------------


def _quantiles(audit: AuditFigures) -> list[tuple[str, list[tuple[str, Bound]]]]:
    """Return the quantiles of each law: a heading, and (level, Bound)."""
    found = []
    for kind in LEAKAGES:
        law = audit.dataset(f"{kind}/law")
        prefix = f"{kind}/law/quantile-"
        levels = [(n.removeprefix(prefix), b) for n, b in audit.items() if n.startswith(prefix)]
        if levels and law is not None:
            under = f" under {law.attrs['under']}" if law.attrs["under"] else ""
            found.append((f"{in_reports()[kind].label}{under}", levels))
    return found


def _over_set(audit: AuditFigures, measures: list[Row]) -> list[SetRow]:
    """Return what the set of priors costs, measure by measure; nothing for one prior."""
    if not audit.tree.attrs.get("prior_set"):
        return []
    found = []
    for row in measures:
        if row.bound is None:
            continue
        others = (audit.get(f"{row.name}/{what}") for what in ("nominal", "cost"))
        nominal, cost = map(_shown, others)
        where = worst_case(row.bound)
        found.append(SetRow(row.label, row.rounded, row.status, *where, nominal, cost))
    return found


def _disclosure(audit: AuditFigures, row: Row) -> Disclosure:
    """Return what is said of an attribute."""
    context = json.loads(audit.tree[row.name].attrs.get("context", "{}"))
    entropy, line = (audit.get(f"{row.name}/{what}") for what in ("entropy", "line"))
    before = "-" if entropy is None else printed(entropy)
    if entropy is not None and entropy.status != row.status:
        before += f" ({entropy.status})"
    left = "-" if row.bound is None else printed(row.bound)
    name, by = context.get("attribute", row.label), context.get("by", "")
    return Disclosure(name, row.sentence, row.status, by, before, _shown(line), left)


def _shown(bound: Bound | None) -> str:
    if bound is None:
        return "-"
    tiny = bound.status != "estimate" and bound.upper <= 1e-12
    return f"{'0, to rounding' if tiny else printed(bound)} ({bound.status})"


def _envelope(audit: AuditFigures) -> Envelope | None:
    """Return the envelope of PML over delta, if the audit holds it."""
    if (curve := audit.dataset("envelope/curve")) is None:
        return None
    one = curve.sel(curve="envelope")
    found = []
    for level in map(float, ENVELOPE_LEVELS):
        at = one.sel(delta=level)
        ends, status = (float(at["lower"]), float(at["upper"])), str(at["status"].item())
        notes: dict[str, Any] = {"assumptions": ("those of the envelope",)}
        if status == "statistical":
            notes["confidence"] = audit.tree.attrs.get("prior_confidence", 0.0)
        bound = Bound.of(status, *ends, reason="that of the envelope", **notes)
        found.append((f"{level:g}", printed(bound), in_bits(bound), status))
    caption = f"{_ENVELOPE} {_band(curve.attrs['status'])}"
    draw, said = partial(draw_envelope, curve), partial(envelope_points, curve)
    plot = _plot(draw, "envelope", caption, said, height=4.4)
    return Envelope(found, plot, str(curve.attrs.get("left_out", "")))


_ENVELOPE = (
    "Envelope of PML: for each delta the largest level that some post-processing of the outcome "
    "leaks with probability delta. Beside it bounds from theorems, where the alphabets are finite, "
    "and the epsilon of (epsilon, delta)-LDP, where delta is no probability of failure."
)


def _posteriors(audit: AuditFigures) -> list[tuple[str, list[tuple[str, Bound]]]]:
    """Return the posterior of each figure in a few numbers."""
    names = {
        "median": "median",
        "hdi-lower": "95 % HDI, lower end",
        "hdi-upper": "95 % HDI, upper end",
    }
    found = []
    for kind, words in in_reports().items():
        if f"{kind}/median" in audit:
            figures = [("95 % quantile", audit[kind])]
            figures += [(end, audit[f"{kind}/{n}"]) for n, end in names.items()]
            found.append((words.label, figures))
    return found


def _sampled(audit: AuditFigures) -> Sampled | None:
    """Return the diagnostics of a prior that was learnt, and of the figures of its draws."""
    if SAMPLING not in audit.tree.children:
        return None
    found = audit.tree.children[SAMPLING].to_dataset(inherit=False)
    about = found.attrs
    columns = (found[name].values for name in ("variable", "rhat", "ess_bulk", "ess_tail"))
    lines = list(zip(*columns, strict=True))
    if not about["exact"]:
        for kind, words in in_reports().items():
            if audit.dataset(f"{kind}/draws") is not None:
                lines.append((words.label, *diagnostics_of(audit.random(kind)._capped())))
    # a diagnostic is rounded to its worse side
    texts = [
        (str(name), *(_rounded(v, "up" if i == 0 else "down") for i, v in enumerate(numbers)))
        for name, *numbers in lines
    ]
    numbers = np.array([numbers for _, *numbers in lines], float).reshape(-1, 3)
    known = [column[np.isfinite(column)] for column in numbers.T]
    worst = [f(c) if c.size else math.nan for f, c in zip((max, min, min), known, strict=True)]
    facts = [
        ("Draws", f"{about['chains'] * about['draws']} ({about['chains']} chains of "
         f"{about['draws']})"),
    ]  # fmt: skip
    if about["data"]:
        facts.append(("Data", str(about["data"])))
    if about["exact"]:
        facts.append(("Convergence", "independent exact draws: there is no chain to diagnose"))
    else:
        facts.append(("Worst R-hat", f"{_rounded(worst[0], 'up')} (at most {RHAT_LIMIT} wanted)"))
        sizes = f"bulk {_rounded(worst[1], 'down')}, tail {_rounded(worst[2], 'down')}"
        facts.append(("Smallest ESS", f"{sizes} (at least {ESS_LIMIT} wanted)"))
        count = about["divergences"]
        facts.append(("Divergences", "not recorded" if count < 0 else str(count)))
    return Sampled(facts, texts)


def _rounded(value: float, rounding: str) -> str:
    """Return an R-hat or an effective sample size as text."""
    return short(float(value), rounding) if math.isfinite(value) else "-"


def _notes(audit: AuditFigures, read: Callable[[Bound], tuple[str, ...]]) -> list[tuple[str, str]]:
    """Return assumptions or reasons, each with the figures of the table that it belongs to."""
    found: dict[str, list[str]] = {}
    for row in rows(audit):
        for note in read(row.bound) if row.bound is not None else ():
            found.setdefault(note, []).append(row.label)
    return [(note, ", ".join(labels)) for note, labels in found.items()]


def _key(audit: AuditFigures) -> list[tuple[str, str]]:
    parts = json.loads(audit.tree.attrs["key"])
    return [(words, parts[part]) for part, words in PARTS.items() if parts.get(part)]
