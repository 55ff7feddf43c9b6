"""Record every figure of a list, or compare two records: no change of the code moves one unseen.

``python tests/figures.py record new.json`` computes the figures of `figure_list` (``--part 1/4``
only the first of four equal parts, ``--only "*Clayton*"`` those of such names) and writes a line
for each: its ends as hexadecimal floats, its status and its units. Only public names are used, so
that ``PYTHONPATH=TREE`` records the figures of another tree. A figure that raises is recorded as
its error. One that took long may have been cut short by the clock: it is marked ``cut``.

``python tests/figures.py compare old.json new.json`` says what changed, the worst first, and exits
with 1 if anything did that `data/figures_changes.txt` does not list. Several new records, the
parts of one, may be given.
"""

import argparse
import fnmatch
import json
import math
import multiprocessing
import signal
import sys
import time
import warnings
from collections.abc import Iterable, Mapping
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path

import borel as bl

HERE = Path(__file__).parent
ACCEPTED = HERE / "data" / "figures_changes.txt"

BUDGET = 2.0
"""Seconds that a figure may take: the list is long."""
SHARE = math.inf
"""The part of a budget after which a figure may have been cut short: parts of figures share one.

Infinite where no figure depends on the clock.
"""
PATIENCE = 20
"""Budgets after which a figure is given up."""
WIDER = 1.01
"""How many times as wide as before an enclosure may be, and `ROUNDINGS` more."""
ROUNDINGS = 4
"""How many roundings of float64: NumPy's functions differ by some between processors."""

FALSE = "FALSE: the two do not overlap, one of them is wrong"
UNTRUE = "FALSE: the truth lies outside"
KINDS = (
    UNTRUE,
    FALSE,
    "apart (an estimate or a statistical figure among the two)",
    "gone",
    "wider",
    "status",
    "units",
    "new",
)
"""What may have changed, the worst first."""


# -- recording -----------------------------------------------------------------------------------


def entries(found, name):
    """Yield a line for every Bound in what a figure returned; other values as their text.

    Yields
    ------
    tuple
        The name, and ``[lower, upper, status, units]``.
    """
    if hasattr(found, "holds") and hasattr(found, "bound"):
        ((_, line),) = entries(found.bound, name)
        yield name, [*line[:2], f"{found.holds}: {line[2]}", line[3]]
    elif isinstance(found, bl.Bound):
        stated = f" at {found.confidence:.6g}" if found.confidence is not None else ""
        yield name, [found.lower.hex(), found.upper.hex(), found.status + stated, found.units]
    elif hasattr(found, "data_vars"):
        ends = (found[v].values.ravel().tolist() for v in ("lower", "upper"))
        statuses = found["status"].broadcast_like(found["lower"]).values.ravel().tolist()
        units = found.attrs.get("units", "")
        for i, (low, high, status) in enumerate(zip(*ends, statuses, strict=True)):
            yield f"{name} [{i}]", [low.hex(), high.hex(), status, units]
    elif hasattr(found, "_asdict"):
        yield from entries(found._asdict(), name)
    elif isinstance(found, Mapping):
        for key, one in found.items():
            yield from entries(one, f"{name} [{key}]")
    elif isinstance(found, (list, tuple)):
        for i, one in enumerate(found):
            yield from entries(one, f"{name} [{i}]")
    else:
        yield name, ["", "", str(found), "text"]


@contextmanager
def quick_options(budget):
    """Give every figure the budget, and no certificate where they are not made on request."""
    with bl.options(budget=budget):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            try:
                without = bl.options(certificates=False)
                without.__enter__()
            except (bl.BorelError, Warning):
                without = None
        try:
            yield
        finally:
            if without is not None:
                without.__exit__(None, None, None)


@contextmanager
def at_most(seconds):
    """Raise TimeoutError in the block after some seconds, in the main thread of a process."""

    def give_up(*_):
        raise TimeoutError(f"no figure after {seconds:g} seconds")

    before = signal.signal(signal.SIGALRM, give_up)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def computed(name, *, budget=BUDGET, seconds=None):
    """Compute one figure of the list: its lines, its truth, and the seconds that it took."""
    from figure_list import FIGURES

    figure = FIGURES[name]
    start = time.monotonic()
    with warnings.catch_warnings(), quick_options(budget):
        warnings.simplefilter("ignore")
        try:
            with at_most(seconds) if seconds else nullcontext():
                lines = dict(entries(figure.compute(), name))
        except Exception as error:
            text = " ".join(str(error).split())[:160]
            lines = {name: ["", "", f"error: {type(error).__name__}: {text}", "text"]}
    took = time.monotonic() - start
    if took > SHARE * budget:
        lines = {key: [*line, "cut"] for key, line in lines.items()}
    truth = figure.truth and figure.truth()
    return lines, {name: [end.hex() for end in truth]} if truth else {}, took


def computed_all(names, budget):
    """Compute figures one after another, and say how far that is."""
    found = []
    for i, name in enumerate(names):
        if not i % 50:
            print(f"{i} of {len(names)}", file=sys.stderr, flush=True)
        found.append(computed(name, budget=budget, seconds=PATIENCE * budget))
    return found


def record(names, *, budget, jobs):
    """Compute figures in some processes: the record, and the seconds that each figure took."""
    lines, truths, seconds = {}, {}, {}
    # who computes what does not depend on the clock, and so not what is in whose caches
    parts = [names[job::jobs] for job in range(jobs)]
    with ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn")) as pool:
        found = pool.map(partial(computed_all, budget=budget), parts)
        for part, made in zip(parts, found, strict=True):
            for name, (line, truth, took) in zip(part, made, strict=True):
                lines |= line
                truths |= truth
                seconds[name] = took
    about = {"version": bl.__version__, "budget": budget}
    return {"about": about, "figures": lines, "truths": truths}, seconds


def write(made, path):
    """Write a record, one line a figure."""
    parts = [f' "about": {json.dumps(made["about"])}']
    for part in ("figures", "truths"):
        rows = (f"  {json.dumps(k)}: {json.dumps(v)}" for k, v in sorted(made[part].items()))
        parts.append(f' "{part}": {{\n' + ",\n".join(rows) + "\n }")
    Path(path).write_text("{\n" + ",\n".join(parts) + "\n}\n", encoding="utf-8")


def read(*paths):
    """Read a record, or the parts of one."""
    made = {"figures": {}, "truths": {}}
    for path in paths:
        one = json.loads(Path(path).read_text(encoding="utf-8"))
        for part in made:
            made[part] |= one[part]
    return made


# -- comparing -----------------------------------------------------------------------------------


def enclosure(line):
    """Return the ends of a line as floats, and whether a clock may have cut it short."""
    return float.fromhex(line[0]), float.fromhex(line[1]), "cut" in line[4:]


def shown(line):
    if not line[0]:
        return line[2]
    low, high, cut = enclosure(line)
    return f"[{low!r}, {high!r}] {line[3]}, {line[2]}{', cut' if cut else ''}"


def sort_of(line):
    """Return the status of a line, or the type of its error: the words of one may change."""
    error, colon, rest = line[2].partition("error: ")
    return line[2] if error or not colon else f"error: {rest.partition(':')[0]}"


def statuses(*lines):
    return {line[2].partition(" at ")[0].rpartition(": ")[2] for line in lines}


def changes_of(old, new):
    """Yield the kinds of change between two lines of one figure."""
    if old[0] and new[0]:
        low, high, cut = enclosure(old)
        new_low, new_high, new_cut = enclosure(new)
        if new_low > high or low > new_high:
            guessed = statuses(old, new) & {"estimate", "statistical"}
            yield KINDS[2] if guessed else FALSE
        width, now = (b - a if a < b else 0.0 for a, b in ((low, high), (new_low, new_high)))
        ulp = math.ulp(max((abs(e) for e in (low, high) if math.isfinite(e)), default=0.0))
        if not (cut or new_cut) and not now <= WIDER * width + ROUNDINGS * ulp:
            yield "wider"
    both = bool(old[0] and new[0])
    cut = both and "cut" in old[4:] + new[4:]
    if sort_of(old) != sort_of(new) and not cut:
        yield "status"
    if both and old[3] != new[3] and not cut:
        yield "units"


def compare(old, new):
    """Return the changes between two records: tuples of kind, name, and what it was and is."""
    found = []
    was, now = old["figures"], new["figures"]
    for name in was.keys() & now.keys():
        found += [(k, name, was[name], now[name]) for k in changes_of(was[name], now[name])]
    found += [("gone", name, was[name], None) for name in was.keys() - now.keys()]
    found += [("new", name, None, now[name]) for name in now.keys() - was.keys()]
    truths = old["truths"] | new["truths"]
    found += [
        (UNTRUE, name, truths[name], line)
        for name, line in now.items()
        if name in truths and untrue(line, truths[name])
    ]
    return sorted(found, key=lambda change: (KINDS.index(change[0]), change[1]))


def untrue(line, truth):
    """Return whether a line has ends and a truth, given as floats around it, lies outside."""
    below, above = (float.fromhex(end) for end in truth)
    if not line[0]:
        return False
    low, high, _ = enclosure(line)
    return below > high or above < low


def accepted(path=ACCEPTED):
    """Return what may change: lines ``kind | name | old -> new | reason``; names may have ``*``.

    Nothing that is false can be accepted. ``old -> new`` are statuses, and empty for other kinds.
    """
    rules = []
    for number, text in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not text.strip() or text.startswith("#"):
            continue
        rule = [part.strip() for part in text.split("|")]
        if len(rule) != 4 or rule[0] not in KINDS[3:] or not rule[3]:
            raise ValueError(
                f"{path}, line {number}: expected 'kind | name | old -> new | reason' with a kind "
                f"of {KINDS[3:]}, got {text!r}"
            )
        rules.append(rule)
    return rules


def allowed(change, rules):
    kind, name, old, new = change
    moved = f"{sort_of(old)} -> {sort_of(new)}" if kind == "status" else ""
    return any(
        rule[0] == kind and fnmatch.fnmatchcase(name, rule[1]) and rule[2] in (moved, "*")
        for rule in rules
    )


def report(changes: Iterable) -> str:
    lines = []
    for kind, name, old, new in changes:
        if kind == UNTRUE:
            was = "the truth: [{!r}, {!r}]".format(*(float.fromhex(end) for end in old))
        else:
            was = f"was {shown(old)}" if old else ""
        lines.append(f"{kind}: {name}")
        lines += [f"    {text}" for text in (was, f"is {shown(new)}" if new else "") if text]
    return "\n".join(lines)


# -- the command line ----------------------------------------------------------------------------


def chosen(names, part, only):
    """Return the names of a part k/n of those that match."""
    names = [name for name in names if fnmatch.fnmatchcase(name, only)]
    k, n = (int(number) for number in part.split("/"))
    if not 1 <= k <= n:
        raise ValueError(f"expected --part k/n with 1 <= k <= n, got {part}")
    return names[k - 1 :: n]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    one = commands.add_parser("record", help="compute the figures and write them to a file")
    one.add_argument("file")
    one.add_argument("--part", default="1/1", metavar="k/n")
    one.add_argument("--only", default="*", metavar="PATTERN")
    one.add_argument("--jobs", type=int, default=2, help="processes (2)")
    one.add_argument("--budget", type=float, default=BUDGET, help=f"seconds a figure ({BUDGET:g})")
    one.add_argument("--slowest", type=int, default=0, metavar="N", help="list the slowest figures")
    two = commands.add_parser("compare", help="say what changed between two records")
    two.add_argument("old")
    two.add_argument("new", nargs="+")
    two.add_argument("--accepted", type=Path, default=ACCEPTED)
    args = parser.parse_args()
    if args.command == "record":
        from figure_list import FIGURES

        made, seconds = record(
            chosen(FIGURES, args.part, args.only), budget=args.budget, jobs=args.jobs
        )
        write(made, args.file)
        slow = sorted(seconds, key=seconds.get, reverse=True)[: args.slowest]
        print(*(f"{seconds[name]:8.2f} s  {name}" for name in slow), sep="\n")
        changes = compare({"figures": made["figures"], "truths": {}}, made)
    else:
        old, new, rules = read(args.old), read(*args.new), accepted(args.accepted)
        changes = [change for change in compare(old, new) if not allowed(change, rules)]
        print(f"{len(old['figures'])} lines before, {len(new['figures'])} now")
    if changes:
        print(report(changes))
    counts = {kind: sum(change[0] == kind for change in changes) for kind in KINDS}
    print(", ".join(f"{n} {kind}" for kind, n in counts.items() if n) or "nothing changed")
    return 1 if changes else 0


if __name__ == "__main__":
    sys.exit(main())
