"""Write the record of what the examples and the claims print: examples/figures.md.

``python tests/example_figures.py > examples/figures.md`` runs each example and notes the Bound of
every line that it prints, with its status and, where that is neither exact nor certified, why.
``--only votes_1996`` prints the rows of one example.
"""

import io
import runpy
import sys
from contextlib import redirect_stdout
from pathlib import Path
from unittest import mock

import borel as bl
from borel.claims import reproduce

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = sorted(p.stem for p in (ROOT / "examples").glob("*.py"))
HEAD = """# Every figure that the examples and the claims print

Written by `python tests/example_figures.py > examples/figures.md`. Status, and for each figure that
is neither exact nor certified the reason. The claims are those of `borel reproduce counterexamples`
(`borel reproduce envelopes` prints the paper's own figures, which all agree); "by the engine alone"
is computed with `bl.options(closed_forms=False)`. For a claim the two columns must both hold the
truth.

## `examples/`

| where | figure | value (status) | why it is not exact or certified |
|---|---|---|---|"""
BETWEEN = """
The figures of examples/food_share.py rest on draws of NUTS, which PyMC 5 and 6 draw otherwise from
one seed: their last digits differ between the two. Why the supremum of PML in
examples/doctor_visits.py is infinite without clipping: at y it is at least log of f(y|y) / f_Y(y),
f(y|y) is 1/7 at each y, and f_Y(y) goes to 0.

examples/envelopes.py also prints how far the bounds of *Information Leakage Envelopes* are from the
envelope, the largest distance over delta = 1/20, ..., 19/20 (nats, rounded up; k-ary randomised
response; "5 lower" and "5 upper": Theorem 5, whose upper bound is that of Theorem 3; "applies": at
how many of the 19 the condition of Theorem 5(iii), or part (i), applies; 0.0000 is a distance below
1e-12). The random priors have six labels and e^epsilon = 4:

```
{table}
```

## Claims

| claim | figure | by theorem | by the engine alone | why that is not exact or certified |
|---|---|---|---|---|"""
FOOT = """
The supremum of PMC over the infinitely many outcomes of Example 8 is exact by theorem; the engine
alone encloses the first 256 outcomes one by one, and the rest along a ray, on which the quotient of
f_Y and the kernel is enclosed."""


class Lines(io.StringIO):
    """What is printed, with the Bounds that each line was made of."""

    def __init__(self):
        super().__init__()
        self.bounds, self.found = [], []

    def write(self, text):
        if text.strip():
            self.found.append((text.rstrip("\n"), self.bounds))
            self.bounds = []
        return len(text)


def run(name):
    """Run an example; return its lines, each with the Bounds in it."""
    lines = Lines()

    def formatted(bound, spec=""):
        lines.bounds.append(bound)
        return str(bound)

    path = str(ROOT / "examples" / f"{name}.py")
    counted = mock.patch.object(bl.Bound, "__format__", formatted)
    # an example may read the command line, which is not meant for it
    with counted, mock.patch.object(sys, "argv", [path]), redirect_stdout(lines):
        runpy.run_path(path, run_name="__main__")
    return lines.found


def why(bound):
    """Say why a Bound is neither exact nor certified."""
    if bound.status in ("exact", "certified"):
        return ""
    parts = [bound.reason] if bound.reason else list(bound.assumptions)
    if bound.confidence is not None:
        parts.insert(0, f"confidence {bound.confidence:g}")
    return "; ".join(parts).replace("|", "\\|")


def rows(name, lines):
    """Return the rows of an example."""
    out, head, before = [], "", ""
    for line, bounds in lines:
        if not line.startswith(" "):
            head = line.partition(":")[0] if ":" in line else ""
        for bound in bounds:
            label = line.partition(str(bound))[0].strip(" ,;:")
            label = label or before.rpartition("; ")[2]  # a line that goes on
            label = f"{head}: {label}" if line.startswith(" ") and head else label
            cells = f"examples/{name}.py", label, str(bound), why(bound)
            out.append("| " + " | ".join(cells) + " |")
        before = line
    return out


def main():
    printed = {name: run(name) for name in EXAMPLES}
    print(HEAD)
    for name, lines in printed.items():
        print(*rows(name, lines), sep="\n")
    print(
        BETWEEN.format(table="\n".join(line for line, bounds in printed["envelopes"] if not bounds))
    )
    for claim in reproduce("counterexamples"):
        both = (str(b) for b in (claim.closed_form, claim.engine))
        name = claim.id.partition(":")[0]
        print("|", " | ".join([name, claim.quantity, *both, why(claim.engine)]), "|")
    print(FOOT)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--only"]:
        print(*rows(sys.argv[2], run(sys.argv[2])), sep="\n")
    else:
        main()
