"""The checker of certificates: it verifies what the engine proved, and refuses what was altered."""

import ast
import copy
import io
import json
import math
import tokenize
from functools import cache
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

import borel as bl
from borel.audits.verification import verified
from borel.engine.certificates.checks import rays, reading, reduced_secrets
from borel.engine.certificates.checks import verifier as checker
from borel.engine.certificates.checks.verifier import check
from borel.numerics.reduction import scalar_statistic

pytestmark = [pytest.mark.proofs, pytest.mark.usefixtures("with_certificates")]

UNIT = bl.Interval(0, 1)
SUPREMUM = "the supremum over the outcomes"


def clayton(theta=1.0):
    return bl.uniform(UNIT) * bl.mechanisms.clayton(eta=0.1, theta=theta)


def noise(prior, **kwargs):
    family = bl.mechanisms.laplace if "b" in kwargs else bl.mechanisms.gaussian
    return prior * family(**kwargs)


FINITE = bl.pmf([0.25, 0.5, 0.25], on=bl.Finite([0.0, 1.0, 2.0]))
FIGURES = {
    "laplace on uniform": (noise(bl.uniform(UNIT), b=1.0), "pml", 0.3),
    "laplace on uniform, cost": (noise(bl.uniform(UNIT), b=1.0), "pmc", -7.0),
    "gauss on uniform": (noise(bl.uniform(UNIT), sigma=1.0), "pml", 2.5),
    "gauss on uniform, cost": (noise(bl.uniform(UNIT), sigma=1.0), "pmc", -7.0),
    "gauss on normal": (noise(bl.normal(), sigma=1.0), "pml", 0.7),
    "gauss on beta": (noise(bl.beta(alpha=2, beta=3), sigma=1.0), "pml", 0.4),
    "laplace on arcsine": (noise(bl.beta(alpha=0.5, beta=0.5), b=1.0), "pmc", 0.4),
    "gauss on exponential": (noise(bl.exponential(), sigma=1.0), "pml", 0.4),
    "gauss on cauchy": (noise(bl.cauchy(), sigma=1.0), "pml", 0.4),
    "gauss on finite": (noise(FINITE, sigma=1.0), "pml", 0.4),
    "laplace on finite": (noise(FINITE, b=1.0), "pmc", 0.4),
    "binomial": (
        bl.beta(alpha=2, beta=5)
        * bl.Mechanism(
            lambda y, x: np.where(y > 0, x, 1 - x), secret=UNIT, outcome=bl.Finite([0, 1])
        ),
        "pml",
        1,
    ),
}
INFINITE = {
    "mass": (lambda: bl.pml(clayton()).sup(), SUPREMUM),
    "mass, theta": (lambda: bl.pml(clayton(2.3)).sup(), SUPREMUM),
    "mass, far out": (
        lambda: bl.pml(noise(bl.normal(), sigma=1.0)).sup(),
        SUPREMUM,
    ),
    "ratio": (
        lambda: bl.pmc(noise(bl.normal(), sigma=1.0)).sup(),
        SUPREMUM,
    ),
    "ratio at an outcome": (lambda: bl.pmc(noise(bl.cauchy(), b=1.0))(0.25), "at y = 0.25"),
    "zero": (lambda: bl.pmc(_window()).sup(), SUPREMUM),
}


def _window():
    """A kernel that is 0 where |y - x| > 1/2, on a circle of length 1."""

    def f(y, x):
        gap = np.abs(y - x)
        return np.where(np.minimum(gap, 1 - gap) < 0.25, 2.0, 0.0)

    return bl.uniform(UNIT) * bl.Mechanism(f, secret=UNIT, outcome=UNIT)


@cache
def figure(name):
    joint, kind, y = FIGURES[name]
    with bl.options(closed_forms=False):
        return getattr(bl, kind)(joint)(y)


@pytest.mark.parametrize("name", FIGURES)
def test_figures_at_outcomes_are_verified(name):
    bound = figure(name)
    assert bound.status in ("certified", "conditional")
    report = check(json.loads(json.dumps(bound.certificate)))
    assert report.ok, report.failures
    assert report.scope == f"at y = {float(FIGURES[name][2])}"
    assert bound.certificate["lower"] == bound.lower
    assert bound.certificate["upper"] == bound.upper


@cache
def infinity(name):
    with bl.options(closed_forms=False):
        return INFINITE[name][0]()


@pytest.mark.parametrize("name", INFINITE)
def test_infinities_are_verified(name):
    bound = infinity(name)
    assert bound.lower == math.inf
    report = check(json.dumps(bound.certificate))
    assert report.ok, report.failures
    assert report.scope == INFINITE[name][1]


def test_a_curved_kernel_with_a_singular_corner_is_verified():
    with bl.options(closed_forms=False):
        bound = bl.pml(clayton())(0.9)
    report = check(bound.certificate)
    assert report.ok, report.failures


# -- what was altered -----------------------------------------------------------------------


def altered(certificate, *path, to):
    out = copy.deepcopy(certificate)
    place = out
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = to(place[path[-1]]) if callable(to) else to
    return out


def shift(amount):
    return lambda value: value + amount


POINT = {
    "the bound, lower": (("lower",), shift(1e-9), "bound"),
    "the bound, upper": (("upper",), shift(-1e-9), "bound"),
    "a cell, from below": (("claim", "cells", 0, 2), shift(1e-9), "cell 0"),
    "a cell, from above": (("claim", "cells", 0, 3), shift(-1e-9), "cell 0"),
    "the end of a cell": (("claim", "cells", 0, 1), lambda b: b / 2, "cover"),
    "the supremum, upper": (("claim", "top", 1), shift(-1e-9), "top on"),
    "the supremum, lower": (("claim", "top", 0), shift(1e-9), "top near"),
    "where it is": (("claim", "top", 2), 0.5, "top near"),
    "the outcome": (("claim", "y"), 0.31, ""),
    "the quantity": (("quantity",), "pmc", "certificate"),
    "the format": (("format",), 1, "format"),
    "an unknown quantity": (("quantity",), "ldp", "format"),
    "the alphabet": (("outcome", "upper"), -1.0, "y"),
    "the kernel": (("kernel", "graph", "nodes", 5, 1, 0), (0.5).hex(), ""),
    "the prior": (("prior", "upper"), 2.0, "cover"),
    "a number that is none": (("claim", "cells", 0, 3), math.nan, "cell 0"),
}


@pytest.mark.parametrize("name", POINT)
def test_an_altered_certificate_is_refused_by_its_leaf(name):
    path, to, leaf = POINT[name]
    certificate = figure("laplace on uniform").certificate
    report = check(altered(certificate, *path, to=to))
    assert not report.ok
    assert any(line.startswith(leaf) for line in report.failures), report.failures


def test_a_dropped_cell_is_refused():
    certificate = figure("gauss on normal").certificate
    cells = certificate["claim"]["cells"]
    assert len(cells) > 3
    for k in (0, len(cells) // 2, len(cells) - 1):
        report = check(altered(certificate, "claim", "cells", to=cells[:k] + cells[k + 1 :]))
        assert any(line.startswith("cover") for line in report.failures), k
    report = check(altered(certificate, "claim", "cells", to=[*cells, cells[-1]]))
    assert any(line.startswith("cover") for line in report.failures)


def test_a_dropped_atom_is_refused():
    certificate = figure("gauss on finite").certificate
    report = check(altered(certificate, "claim", "cells", to=lambda cells: cells[:-1]))
    assert any(line.startswith("atoms") for line in report.failures)


RAYS = {
    "mass": [
        ("a lighter tail", ("claim", "proof", "exponent"), -0.5, "argument"),
        ("more than there is", ("claim", "proof", "weight"), 50.0, "rays"),
        ("another power", ("claim", "proof", "exponent"), -3.0, "rays"),
        ("another corner", ("claim", "proof", "x", "base"), 0.5, "rays"),
        ("outside", ("claim", "proof", "x", "sign"), -1, "rays"),
        ("outcomes outside", ("claim", "proof", "y", "sign"), -1, "y"),
        ("no longer small", ("claim", "proof", "t0"), 2.0, ""),
        ("a finite bound", ("upper",), 7.0, "bound"),
    ],
    "ratio": [
        ("not so small", ("claim", "proof", "weight"), -1e7, "rays"),
        ("of the same order", ("claim", "proof", "exponent"), 0.0, "argument"),
        ("a box without mass", ("claim", "proof", "marginal", "boxes"), [[1.0, 1.0]], "f_Y"),
        ("more than f_Y", ("claim", "proof", "marginal", "weight"), 1.0, "f_Y"),
    ],
    "zero": [
        ("not 0 there", ("claim", "proof", "x", "box"), [0.0, 1.0], "rays"),
        ("0 there too", ("claim", "proof", "marginal", "boxes"), [[0.5, 0.9375]], "f_Y"),
    ],
}


@pytest.mark.parametrize(("name", "words"), [(n, row[0]) for n in RAYS for row in RAYS[n]])
def test_an_altered_proof_of_an_infinity_is_refused(name, words):
    path, to, leaf = next(row[1:] for row in RAYS[name] if row[0] == words)
    certificate = infinity(name).certificate
    report = check(altered(certificate, *path, to=to))
    assert not report.ok
    assert any(line.startswith(leaf) for line in report.failures), report.failures


# -- what a review of the checker got past it ------------------------------------------------


def endless(quantity, **proof):
    """Return a false certificate: an infinite leakage of bounded noise."""
    out = copy.deepcopy(infinity("ratio").certificate)
    certificate = copy.deepcopy(figure("laplace on uniform").certificate)
    for key in ("kernel", "prior", "outcome"):
        out[key] = certificate[key]
    plain = {
        "kind": "mass",
        "y": {"base": 0.0, "sign": 1, "power": -1.0, "s": [1.0, 1.0]},
        "x": {"box": [0.25, 0.5]},
        "t0": 2.0**-10,
        "exponent": 1.0,
        "weight": -9.0,
    }
    out["quantity"], out["claim"] = quantity, {"type": "infinite", "proof": {**plain, **proof}}
    return out


RATIO = {
    "kind": "ratio",
    "y": {"box": [0.25, 0.5]},
    "x": {"box": [0.5, 0.75]},
    "marginal": {"boxes": [[0.25, 0.5]], "exponent": 0.0, "weight": -math.inf},
}
SINGLE = {
    **RATIO,
    "x": {"base": 0.5, "sign": 0, "power": 1.0, "s": [0.25, 0.5]},
    "marginal": {"boxes": [[0.25, 0.5]], "exponent": 0.0, "weight": -9.0},
}
STILL = {"base": 0.5, "sign": 1, "power": 0.0, "s": [1.0, 1.0]}
FALSE = {
    "y stands still": ("pml", {"y": STILL, "exponent": 0.0}),
    "y does not move": ("pml", {"y": {**STILL, "sign": 0, "power": -1.0}}),
    "t0 is infinite": (
        "pml",
        {"y": {**STILL, "base": 0.25, "power": -1.0}, "t0": math.inf, "weight": -math.inf},
    ),
    "nothing is claimed of f": (
        "pml",
        {"y": {**STILL, "base": 0.0, "power": 1.0}, "exponent": -1.0, "weight": -math.inf},
    ),
    "nothing is claimed of f_Y": ("pmc", {**RATIO, "exponent": 1.0, "weight": 9.0}),
    "nor of f": ("pmc", {**RATIO, "exponent": 0.0, "weight": -math.inf}),
    "a single secret": ("pmc", {**SINGLE, "exponent": 1.0, "weight": 9.0}),
}


@pytest.mark.parametrize("words", FALSE)
def test_a_false_infinity_is_refused(words):
    quantity, proof = FALSE[words]
    assert not check(endless(quantity, **proof)).ok


HALVES = lambda y, x: np.where(y > 0.5, 2 * x, 2 * (1 - x))  # noqa: E731
PEAK = lambda y, x: np.where(np.abs(y - 0.25) < x, 0.5 / np.sqrt(x), 1.0)  # noqa: E731
STANDING = {
    "small at an end of the secrets, which only they go to": (
        HALVES,
        {"y": {"box": [0.625, 0.75]}, "x": {"box": [0.5, 0.75]}, "exponent": 0.0, "weight": -9.0},
        {"boxes": [[0.0, 1.0]], "exponent": 1.0, "weight": 9.0},
        ("pml", "argument"),
    ),
    "large at an end of the secrets": (
        PEAK,
        {"y": {"box": [0.25, 0.25]}, "x": {"box": [0.5, 0.75]}, "exponent": 0.0, "weight": 9.0},
        {"boxes": [[0.0, 0.25]], "exponent": -0.5, "weight": -9.0},
        ("pmc", "argument"),
    ),
}


@pytest.mark.parametrize("words", STANDING)
def test_a_finite_leakage_at_outcomes_that_stand_still(words):
    from borel.numerics.graphs.trace import trace

    kernel, proof, marginal, (quantity, leaf) = STANDING[words]
    false = endless(quantity, kind="ratio", **proof, marginal=marginal)
    false["kernel"] = {"graph": trace(kernel, ("y", "x"), ()).to_json(), "log": False}
    false["outcome"] = {"lower": 0.0, "upper": 1.0, "points": None}
    failures = check(false).failures
    assert len(failures) == 1 and failures[0].startswith(leaf), failures


def test_the_plain_false_infinity_is_refused_for_its_rays_alone():
    failures = check(endless("pml")).failures
    assert len(failures) == 1 and failures[0].startswith("rays")


def test_cells_atoms_and_scales_are_what_they_say():
    certificate = figure("laplace on uniform").certificate
    cells = certificate["claim"]["cells"]
    a, b, low, high = cells[0]
    report = check(altered(certificate, "claim", "cells", to=[*cells, [b, a, low, high]]))
    assert any(line.startswith("atoms") for line in report.failures)
    finite = figure("gauss on finite").certificate
    twice = [*finite["prior"]["atoms"], finite["prior"]["atoms"][0]]
    report = check(altered(finite, "prior", "atoms", to=twice))
    assert any(line.startswith("atoms") for line in report.failures)
    for log in (2, None, "yes"):
        for graph in ("kernel", "prior"):
            report = check(altered(certificate, graph, "log", to=log))
            assert any(line.startswith("header") for line in report.failures)


def test_nodes_follow_their_arguments():
    certificate = figure("laplace on uniform").certificate
    nodes = certificate["kernel"]["graph"]["nodes"]
    k = next(k for k, (op, _) in enumerate(nodes) if op == "absolute")
    for index in (-1, k, len(nodes)):
        report = check(altered(certificate, "kernel", "graph", "nodes", k, 1, 0, to=index))
        assert not report.ok


@pytest.mark.parametrize(
    "box", [(-math.inf, 0.5), (-math.inf, 7.0), (-math.inf, math.inf), (2.0, math.inf), (0.25, 0.5)]
)
def test_the_middle_of_a_box_is_inside(box):
    assert box[0] < checker._middle(*box) < box[1]


@pytest.mark.parametrize(
    "box",
    [(0.5, float(np.nextafter(0.5, 1))), (1e308, 1.7e308), (1.0, 1.0)],
)
def test_a_box_without_a_middle_is_not_cut(box):
    with pytest.raises(ValueError, match="no middle"):
        checker._middle(*box)


def test_no_box_is_lost_when_widths_cannot_be_told_apart():
    def measure(a, b):  # in [0, b - a], with an upper end that is a wide ball
        width = checker.arb(b - a)
        return checker.Z, width + checker.arb(0, 1) * width / 2

    with pytest.raises(ValueError, match="not within"):  # it may be up to 1
        checker._refine(measure, 0.0, 0.25, 0.0, 1.0)


def test_a_point_is_no_part_of_positive_mass():
    prior = bl.Measure(lambda x: np.where(x <= 0.5, 2.0, 0.0), on=UNIT, breaks=(0.5,))
    zero = {"nodes": [["input", ["x"]], ["const", [(0.5).hex()]], ["less", [0, 1]]]}
    proof = {
        **RATIO,
        "y": {"box": [0.25, 0.25]},
        "x": {"box": [0.5, float(np.nextafter(0.5, 1))]},
        "marginal": {"boxes": [[0.125, 0.25]], "exponent": 0.0, "weight": -9.0},
    }
    false = endless("pmc", **proof, exponent=0.0, weight=-math.inf)
    false["prior"]["graph"] = prior.density.graph.to_json()
    false["kernel"] = {"graph": {**zero, "inputs": ["y", "x"]}, "log": False}  # 0 from 1/2 on
    assert not check(false).ok
    proof["x"] = {"box": [0.375, 0.4375]}  # nor is it 0 where there is mass
    assert not check({**false, "claim": endless("pmc", **proof, exponent=0.0)["claim"]}).ok


@pytest.mark.parametrize("nonsense", [{}, {"format": 2}, "not JSON", "[]", "null", 7, None])
def test_nonsense_is_refused(nonsense):
    report = check(nonsense)
    assert not report.ok
    assert report.failures[0].startswith("certificate: ")


@pytest.mark.parametrize("nonsense", [[1], "x", 3, None, {}, {"type": [1]}, {"type": "law"}])
def test_a_claim_that_is_none_is_refused(nonsense):
    bound = figure("laplace on uniform")
    altered = bound.about(certificate={**bound.certificate, "claim": nonsense})
    assert verified("pml/one outcome", altered).outcome == "refused"


# -- the checker itself ---------------------------------------------------------------------


def modules_of_borel(module):
    """Return the modules of borel that a module imports."""
    tree = ast.parse(Path(module.__file__).read_text(encoding="utf-8"))
    imported = {
        node.module if isinstance(node, ast.ImportFrom) else node.names[0].name
        for node in ast.walk(tree)
        if isinstance(node, (ast.Import, ast.ImportFrom))
    }
    return {name for name in imported if name.startswith("borel")}


def lines_of_code(module):
    """Count the lines that are neither blank, nor comments, nor docstrings."""
    source, documents = Path(module.__file__).read_text(encoding="utf-8"), set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and ast.get_docstring(
            node
        ):
            first = node.body[0]
            documents |= set(range(first.lineno, first.end_lineno + 1))
    quiet = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    lines = {t.start[0] for t in tokens if t.type not in (*quiet, tokenize.ENDMARKER)}
    return len(lines - documents)


def test_it_shares_nothing_with_the_kernels_but_the_graph():
    assert modules_of_borel(checker) == {
        "borel.engine.certificates.checks.reading",
        "borel.engine.certificates.checks.rays",
        "borel.engine.certificates.checks.reduced_secrets",
        "borel.numerics.graphs.trace",
    }
    assert modules_of_borel(rays) == set()
    assert modules_of_borel(reduced_secrets) == {
        "borel.engine.certificates.checks.reading",
        "borel.engine.certificates.checks.taylor_models",
        "borel.numerics.reduction.polynomial_factors",
        "borel.numerics.reduction.scalar_statistic",
    }
    laws = (
        "linear_forms normal_sum order_statistic_density polynomial_factors product_density "
        "scalar_statistic single_argument sum_density"
    )
    own = {f"borel.numerics.reduction.{name}" for name in laws.split()}
    own |= {"borel.numerics.graphs.nan_conditions", "borel.numerics.graphs.dependence"}
    for module in (scalar_statistic, *map(import_module, own)):  # graphs alone
        assert modules_of_borel(module) <= own | {"borel.numerics.graphs.trace"}
    assert modules_of_borel(reading) == {"borel.numerics.graphs.trace"}


def test_it_has_at_most_300_lines_of_code():
    assert lines_of_code(checker) <= 300 and lines_of_code(rays) <= 300


@pytest.mark.parametrize(
    "density",
    [
        lambda t: np.exp(-3 * t) * (1 + t**2),
        lambda t: np.log1p(t) / (2 + t),
        lambda t: np.where(t < 0.4, np.sqrt(1 + t), 2 - t),
        lambda t: np.logaddexp(t, -2 * t) - np.abs(t - 0.25),
        lambda t: np.maximum(t, 1 - t) ** 1.5,
        lambda t: np.sin(5 * t) + np.cos(t) * np.arctan(t),
        lambda t: t**0.5 * np.exp(-t),
    ],
)
def test_rays_enclose_the_density_at_every_t(density):
    from borel.numerics.graphs.trace import trace

    graph = trace(density, ("x",), ())
    known = 0
    for a, b in ((0.0, 1.0), (0.125, 0.25), (0.5, 0.53125)):
        for k, ray in enumerate(checker._rays(a, b)):
            value = checker._run((graph, False), False, ray)
            low, high = (float(end) for end in value.bounds())
            if math.isnan(low):  # not known: nothing is said
                continue
            known += 1
            t = np.linspace(0.001, 1, 50)
            x = a + (b - a) * t if k == 0 else b + (a - b) * t
            for point, at in zip(density(x), map(checker.arb, t), strict=True):
                assert low - 1e-12 <= point <= high + 1e-12
                terms = value.terms.items()
                ball = sum(
                    (c * at ** checker.arb(e) * at.log() ** j for (e, j), c in terms), at * 0
                )
                assert float(ball.lower()) - 1e-12 <= point <= float(ball.upper()) + 1e-12
    assert known >= 2


# -- the command ----------------------------------------------------------------------------


def test_borel_check_verifies_a_result_and_refuses_an_altered_one(tmp_path):
    import xarray as xr
    from typer.testing import CliRunner

    from borel.audits import store
    from borel.cli import app

    study = bl.Study(
        title="A corner",
        mechanism=bl.mechanisms.gaussian(sigma=1.0),
        prior=bl.uniform(UNIT),
        report=["pml"],
    )
    with bl.options(closed_forms=False, budget=15):  # a busy machine needs some
        bl.audit(study, output=tmp_path)
    done = CliRunner().invoke(app, ["check", str(tmp_path)])
    assert done.exit_code == 0, done.output
    # the supremum, and four quantiles of the law
    assert "5 verified, 0 refused" in done.output, done.output

    whole = store.read(tmp_path)
    alone = xr.DataTree(whole["pml"].to_dataset())  # without the law
    tree = xr.DataTree(whole.to_dataset(), children={"pml": alone})
    node = tree["pml"]
    notes = json.loads(node.attrs["bound"])
    certificate = store.from_plain(notes["certificate"])
    certificate["claim"]["proof"]["sign"] *= -1
    notes["certificate"] = store.to_plain(certificate)
    node.attrs["bound"] = json.dumps(notes)
    store.write(tree, tmp_path / "altered.nc")
    done = CliRunner().invoke(app, ["check", str(tmp_path / "altered.nc")])
    assert done.exit_code == 1
    assert "slope: " in done.output


def test_a_certificate_of_another_figure_is_refused():
    from dataclasses import replace

    bound = figure("laplace on uniform")
    assert verified("pml/one outcome", bound).outcome == "verified"
    assert verified("pmc/one outcome", bound).outcome == "refused"
    row = verified("pml", bound)  # the supremum is another figure
    assert row.outcome == "refused" and "one outcome only" in row.words
    narrower = replace(bound, upper=(bound.lower + bound.upper) / 2)
    row = verified("pml/one outcome", narrower)
    assert row.outcome == "refused"
    assert "not about this figure" in row.words


def test_a_certificate_as_json(tmp_path):
    from typer.testing import CliRunner

    from borel.cli import app

    path = tmp_path / "certificate.json"
    path.write_text(json.dumps(figure("gauss on uniform").certificate))
    done = CliRunner().invoke(app, ["check", str(path)])
    assert done.exit_code == 0, done.output
    assert "1 verified, 0 refused, 0 without one" in done.output
    for nonsense in ("[1]", "{"):
        path.write_text(nonsense)
        assert CliRunner().invoke(app, ["check", str(path)]).exit_code == 2
    assert CliRunner().invoke(app, ["check", str(tmp_path / "none.json")]).exit_code == 2
    assert CliRunner().invoke(app, ["check", str(tmp_path / "none.nc")]).exit_code == 2


def test_a_supremum_over_finitely_many_outcomes_has_a_part_for_each():
    from dataclasses import replace

    from borel.audits.verification import verified

    bits = bl.Mechanism(
        lambda y, x: np.where(y > 0, 0.25 + 0.5 * x, 0.75 - 0.5 * x),
        secret=UNIT,
        outcome=bl.Finite([0, 1]),
    )
    joint = bl.uniform(UNIT) * bits
    for leakage in (bl.pml(joint), bl.pmc(joint)):
        bound = leakage.sup()
        assert verified(leakage.kind, bound).outcome == "verified"
        parts = bound.certificate["parts"]
        for wrong in (
            {**bound.certificate, "parts": parts[:1]},
            {**bound.certificate, "parts": [parts[0], parts[0]]},
            {**bound.certificate, "upper": bound.lower - 1e-9, "lower": bound.lower - 1e-9},
            {**bound.certificate, "lower": bound.upper + 1e-9, "upper": bound.upper + 1e-9},
            altered(bound.certificate, "parts", 0, "prior", "upper", to=2.0),
        ):
            loose = replace(bound, certificate=wrong, lower=0.0, upper=9.0)
            assert verified(leakage.kind, loose).outcome == "refused"


def test_an_infinite_cost_of_a_finite_outcome_is_proved():
    joint = bl.beta(alpha=2, beta=5) * bl.Mechanism(
        lambda y, x: np.where(y > 0, x, 1 - x), secret=UNIT, outcome=bl.Finite([0, 1])
    )
    for bound in (bl.pmc(joint).sup(), bl.pmc(joint)(1)):
        assert bound.lower == math.inf and bound.proved
        assert check(bound.certificate).ok
