"""Kept certificates, one of each kind: verified without the engine, and refused where false.

`tests/data/make_certificates.py` says what joints they are about; the truths here are by hand, or
by mpmath. This is the quick guard of the checkers: the other tests of them make certificates.
"""

import copy
import json
import math
import subprocess
import sys
from fractions import Fraction as F
from pathlib import Path

import mpmath as mp
import pytest

from borel.audits.verification import verify
from borel.engine.certificates.checks import envelopes, laws, means, suprema, verifier
from borel.engine.certificates.checks.composition import _CHECKERS, _RULES, checked, examined

FOLDER = Path(__file__).parent.parent / "data" / "certificates"
NAMES = sorted(path.stem for path in FOLDER.glob("*.json"))
INF = math.inf


def kept(name):
    return json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", NAMES)
def test_it_is_verified(name):
    assert checked(kept(name)).failures == []


# -- truths -----------------------------------------------------------------------------------

E1 = mp.exp(-1)
FAR = mp.log(2 / (1 + E1))
"""PML of Laplace noise on a fair bit, beyond both values."""
C = 4 * mp.log(2) - mp.mpf(5) / 2
"""E 1 / (N + 2) of a geometric N: f_Y = 1 + C t, with t = 2 y - 1, and f = 1 + t / (n + 2)."""
CORNER = mp.mpf(25) / 72
"""E x0 x1 under the density 1/2 + 2 x0 x1."""


def laplace(y, x):
    return mp.exp(-abs(y - x)) / 2


def of_bit(part):
    """Integrate a function of the two densities of Laplace noise on a fair bit."""
    return mp.quad(lambda y: part(laplace(y, 0), laplace(y, 1)), [-90, 0, 0.5, 1, 91])


def kl():
    return of_bit(lambda f, g: (f * mp.log(2 * f / (f + g)) + g * mp.log(2 * g / (f + g))) / 2)


def beyond(c):
    """P(Y > c | 1), P(Y > c | 0), and their mean, of Laplace noise on a fair bit, 0 < c < 1."""
    one, other = 1 - mp.exp(c - 1) / 2, mp.exp(-c) / 2
    return one, other, (one + other) / 2


def psi(which):
    theta = mp.exp(mp.mpf(1) / 4)
    c = (1 - mp.log(2 / theta - 1)) / 2  # where the larger density is theta f_Y
    if which == 2:
        one, _, both = beyond(c)
        return one - theta * both

    def part(y):
        law, top = (laplace(y, 0) + laplace(y, 1)) / 2, laplace(y, 1)
        return law * (1 - theta * law / top)

    return 2 * mp.quad(part, [c, 1, 91])


def envelope_mass():
    """P{y > c or y < 1 - c}, the worst outcomes of PMC 1/2."""
    c = mp.findroot(
        lambda c: mp.log(beyond(c)[2] / beyond(c)[1]) - mp.mpf(1) / 2, (0.5, 1), solver="anderson"
    )
    return 2 * beyond(c)[2]


def told(kind):
    total = mp.mpf(0)
    for y in range(160):
        f = [mp.exp(-x) * mp.mpf(x) ** y / mp.factorial(y) for x in (1, 2, 4)]
        mass = (f[0] + 2 * f[1] + f[2]) / 4
        total += max(f) if kind == "pml" else mass * mp.log(mass / min(f))
    return total


def geometric_noise():
    total, p = mp.mpf(0), [E1 / mp.factorial(n) for n in range(60)]
    for y in range(-80, 120):
        law = mp.tanh(0.5) * mp.fsum(v * mp.exp(-abs(y - n)) for n, v in enumerate(p))
        total += law * mp.log(mp.tanh(0.5) * mp.exp(min(y, 0)) / law)
    return total


def counted(t):
    """PML of the geometric secret at an outcome."""
    return mp.log(max(1 + t / 3, mp.mpf(1)) / (1 + C * t))


def counted_tail():
    a = (1 - mp.exp(-mp.mpf(1) / 8)) / C
    return ((1 - a) - C * (1 - a**2) / 2) / 2


def several_tail():
    e = mp.exp(mp.mpf(1) / 4)
    right, left = (e - 1) / (mp.mpf(1) / 2 + e / 4), (1 - e) / (mp.mpf(1) / 2 - e / 4)
    parts = [(right, mp.mpf(1)), *([(mp.mpf(-1), left)] if left > -1 else [])]
    return mp.fsum(((b - a) - (b * b - a * a) / 8) / 2 for a, b in parts)


R = mp.exp(-2)
"""f(1/2 | 3) of Laplace noise, in units of that at 0 and at 1."""
DIVERGENCES = {
    "kl-to": lambda q: q * mp.log(2 * q) + (1 - q) * mp.log(2 * (1 - q)),
    "kl-from": lambda q: -(mp.log(2 * q) + mp.log(2 * (1 - q))) / 2,
    "chi-to": lambda q: 4 * (q - mp.mpf(1) / 2) ** 2,
    "chi-from": lambda q: 1 / (4 * q) + 1 / (4 * (1 - q)) - 1,
}


def in_ball(kind):
    """PML where the worst member of a ball around P(3) = 1/2 has the largest mass there."""
    q = mp.findroot(lambda q: DIVERGENCES[kind](q) - mp.mpf(1) / 8, (0.55, 0.9), solver="anderson")
    return -mp.log(1 - q + q * R)


def worst(q):
    return -mp.log(1 - mp.mpf(q) + mp.mpf(q) * R)


TRUTHS = {
    "point-pml": lambda: mp.log(1.25),
    "point-pmc": lambda: mp.log(mp.mpf(4) / 3),
    "point-atom": lambda: mp.log(mp.mpf(5) / 3),
    "point-logs": lambda: -mp.log(mp.log(2)),
    "parts": lambda: mp.log(1.5),
    "terms": lambda: mp.log(3),
    "sides": lambda: mp.log(2),
    "pair": lambda: mp.log(2 / (1 + mp.exp(0.5))),
    "pair-box": lambda: mp.log(mp.mpf(13) / 14),
    "outcomes-pml": lambda: mp.log(1.5),
    "outcomes-ldp": lambda: mp.log(3),
    "outcomes-line": lambda: -mp.log(1 - E1),
    "outcomes-atom": lambda: mp.log(mp.mpf(5) / 3),
    "law-tail": lambda: 3 - 2 * mp.exp(0.25),
    "law-cdf": lambda: 2 - 2 * mp.exp(-0.25),
    "law-quantile": lambda: mp.log(1.25),
    "law-finite": lambda: mp.log(2 / (1 + mp.exp(-2 * mp.asinh(mp.exp(0.5) / 4)))),
    "mean-pml": lambda: 3 * mp.log(1.5) - 1,
    "mean-exp-pmc": lambda: 2 * mp.log(2),
    "mean-line": lambda: mp.log(2 - mp.exp(-0.5)),
    "mean-cost": lambda: -mp.log(0.75),
    "information-kl": kl,
    "information-chi-square": lambda: of_bit(lambda f, g: (f * f + g * g) / (f + g)) - 1,
    "information-tv": lambda: of_bit(lambda f, g: abs(f - g) / 4),
    "information-hellinger": lambda: (
        1 - of_bit(lambda f, g: (mp.sqrt(f) + mp.sqrt(g)) * mp.sqrt((f + g) / 8))
    ),
    "box-point": lambda: mp.log(mp.mpf(10) / 7),
    "several-sup": lambda: mp.log(2),
    "several-tail": several_tail,
    "several-mean": lambda: mp.log(1.25),
    "sum": lambda: -2 * mp.log(1 - E1),
    "sum-weighted": lambda: -mp.log(2 * (1 - mp.exp(-0.5)) * (1 - E1)),
    "sum-normal": lambda: mp.log(3) / 2 + mp.mpf(1) / 6,
    "sum-max": lambda: -mp.log(2 - 4 * E1),
    "sum-min": lambda: 1 - mp.log(2),
    "sum-distance": lambda: 1 - mp.log(2),
    "sum-product": lambda: -mp.log(mp.quad(lambda x: (1 - mp.exp(-x)) / x, [0, 1])),
    "pair-sum": lambda: -mp.mpf(3) / 4 - 2 * mp.log(1 - E1),
    "discrete-tail": lambda: mp.mpf(1),
    "discrete-quantile": lambda: mp.log(2),
    "discrete-mean": lambda: mp.log(1.5),
    "discrete-leakage": lambda: mp.log(1.5),
    "discrete-cost": lambda: mp.log(2),
    "discrete-exp-mean": lambda: mp.mpf(2),
    "discrete-counts": lambda: told("pml"),
    "discrete-counts-mean": lambda: told("pmc"),
    "discrete-box": lambda: (
        (1 + CORNER) / 4 * mp.log(2 / (1 + CORNER)) + (3 - CORNER) / 4 * mp.log(3 / (3 - CORNER))
    ),
    "discrete-of-counts": geometric_noise,
    "count-point-pml": lambda: counted(mp.mpf(1) / 2),
    "count-point-pmc": lambda: mp.log(1 + C / 2),
    "counts-sup": lambda: -mp.log(1 - C),
    "counts-tail": counted_tail,
    "envelope-level": lambda: FAR,
    "envelope-mass": envelope_mass,
    "excess-psi-1": lambda: psi(1),
    "excess-psi-2": lambda: psi(2),
    "excess-event": lambda: FAR,
    "excess-halves": lambda: mp.log(2 - mp.exp(-0.5)),
    "envelope-of-outcomes-mass": lambda: mp.mpf(0),
    "set-tv": lambda: worst(0.6),
    "set-contamination": lambda: worst(0.55),
    "set-band": lambda: worst(0.6),
    "set-hull": lambda: worst(0.5),
    "set-linear": lambda: worst(0.5),
    "set-both": lambda: worst(F(31, 60).numerator / mp.mpf(60)),
    "set-full": lambda: mp.mpf(2),
    **{f"set-{kind}": lambda kind=kind: in_ball(kind) for kind in DIVERGENCES},
    "set-pmc": lambda: mp.log(mp.mpf(3) / 5 / R + mp.mpf(2) / 5),
    "set-ldp": lambda: mp.mpf(3),
    "set-sup": lambda: -mp.log(mp.mpf(18) / 100 + 27 * E1 / 100 + 55 * mp.exp(-3) / 100),
    "set-leakage": lambda: mp.log(mp.mpf(13) / 8),
    "expectation-linear": lambda: -mp.mpf(5) / 4,
    "over-full-support": lambda: mp.log(3),
    "over-full-support-point": lambda: mp.log(mp.mpf(5) / 3),
    "over-hull": lambda: mp.log(mp.mpf(9) / 5),
    "over-union": lambda: worst(0.6),
    "over-contamination": lambda: -mp.log(mp.mpf(19) / 30),
    "over-contamination-point": lambda: -mp.log(mp.mpf(39) / 50),
    "over-tv": lambda: mp.log(mp.mpf(219) / 100),
}
"""By the name of the file; those that are infinite are refused when altered, below."""


SLOW = "outcomes-line", "outcomes-ldp", "point-logs", "over-contamination", "over-tv", "over-hull"
SLOW += "over-full-support", "several-sup"
"""Of these a lower end beyond the truth is tried: an upper one takes long to give up."""


@pytest.fixture
def few(monkeypatch):
    """Let the checkers give up early: what is false is not proved with more boxes either."""
    for module, boxes in ((verifier, 60), (laws, 60), (suprema, 40)):
        monkeypatch.setattr(module, "BOXES", boxes)
    for kind in (means._Means, envelopes._Envelope):
        monkeypatch.setattr(kind, "most_boxes", 40)


@pytest.mark.parametrize("name", TRUTHS)
def test_ends_beyond_the_truth_are_refused(name, few):
    made, truth = kept(name), TRUTHS[name]()
    assert float(made["lower"]) <= truth <= float(made["upper"])
    step = 1e-6 * max(1.0, abs(float(truth)))
    least = -1e9 if name in ("pair", "pair-box", "expectation-linear") else 0.0
    if (truth > 0 or least) and name not in SLOW:
        assert checked({**made, "lower": least, "upper": float(truth) - step}).failures
    assert checked({**made, "lower": float(truth) + step, "upper": "Infinity"}).failures


# -- altered ----------------------------------------------------------------------------------

ALTERED = {
    "infinite-quantile": (("claim", "s"), [1, 2]),
    "infinite-pml": (("claim", "proof", "exponent"), 1e9),
    "infinite-pmc": (("claim", "proof", "exponent"), 0.0),
    "infinite-copula": (("claim", "proof", "exponent"), 1e9),
    "pole": (("claim", "proof", "exponent"), -0.75),
    "fading": (("claim", "proof", "marginal", "exponent"), 0.0),
    "slope": (("claim", "proof", "sign"), None),
    "square": (("claim", "proof", "exponent"), 1.5),
    "several-infinite": (("claim", "proof", "x"), [0.0, 0.5]),
    "several-slope": (("claim", "proof", "x"), [0.0, 0.5]),
    "count-infinite-pml": (("claim", "proof", "exponent"), 1e9),
    "count-infinite-pmc": (("claim", "proof", "exponent"), 0.0),
    "counts-mean": (("prior", "atoms"), [[1.0, 0.5, 0.5]]),
    "counts-infinite-quantile": (("claim", "s"), [1, 2]),
    "finite-envelope-level": (("upper",), 0.8),
    "finite-envelope-mass": (("claim", "shares", "of"), 2**50),
    "envelope-of-outcomes": (("envelope", "delta"), [3, 5]),
    "set-information": (("upper",), 0.1),
    "expectation-kl-to": (("lower",), 0.1455),
    "expectation-kl-from": (("lower",), 0.1452),
    "expectation-chi-to": (("lower",), 0.3948),
    "expectation-chi-from": (("lower",), 0.3941),
    "over-member": (("over", "member"), [[3, 20], [7, 20], [1, 2]]),
}


def altered(made, path, to):
    made = copy.deepcopy(made)
    *way, last = path
    part = made
    for step in way:
        part = part[step]
    part[last] = to if to is not None else -part[last]
    return made


@pytest.mark.parametrize("name", ALTERED)
def test_an_altered_one_is_refused(name):
    path, to = ALTERED[name]
    assert checked(altered(kept(name), path, to)).failures


def test_each_is_refused_where_it_is_false():
    assert {*NAMES} == {*TRUTHS, *ALTERED}


def claims(made):
    yield made
    for key in ("parts", "sides", "terms", "of"):
        for one in made.get(key, ()):
            yield from claims(one)


def test_there_is_one_of_each_kind():
    every = [one for name in NAMES for one in claims(kept(name))]
    kinds = {(one["claim"]["type"], one["format"]) for one in every if "claim" in one}
    assert {kind for kind, _ in kinds} == {*_CHECKERS}
    for form in (4, 7):  # counts, and several secrets: checkers of their own
        assert {"outcomes", "law", "mean"} <= {kind for kind, of in kinds if of == form}
    assert {key for one in every for key in _RULES if key in one} == {*_RULES}


# -- what is taken on trust -------------------------------------------------------------------

ON_TRUST = {
    "sum": "the law of x0 + x1",
    "sum-weighted": "the law of 0.5 x0 - x1 + 1",
    "sum-normal": "the law of x0 + x1",
    "sum-max": "the law of max(x0, x1)",
    "sum-min": "the law of min(x0, x1)",
    "sum-distance": "the law of |x0 - x1|",
    "sum-product": "the law of x0 * x1",
    "pair-sum": "the law of x0 + x1",
    "several-tail": "the kernel as one of x0 * x1 - 0.5 alone",
    "several-slope": "the kernel as one of x0 * x1 alone",
}
KERNEL = "that f(.|x) has total mass 1 for every x"


@pytest.mark.parametrize("name", ON_TRUST)
def test_what_the_engine_derived_is_named(name, tmp_path):
    """A wrong convolution would be wrong here as well: so it is said."""
    given = f"{ON_TRUST[name]}, which the engine derived"
    assert examined(kept(name)).given == [given, KERNEL]
    (row,) = verify(FOLDER / f"{name}.json")
    assert row.outcome == "verified"
    assert row.words.startswith(f"verified, given {given}, and {KERNEL}; ")


def test_tables_and_sets_take_no_law_on_trust():
    for name in ("finite-envelope-level", "set-information", "expectation-kl-to"):
        assert examined(kept(name)).given == []
    assert examined(kept("point-pml")).given == [KERNEL]


def tripled(made):
    """Multiply the density of a prior by 3."""
    graph = made["prior"]["graph"]
    last = len(graph["nodes"]) - 1
    graph["nodes"] += [["const", [(3.0).hex()]], ["multiply", [last, last + 1]]]
    return made


@pytest.mark.parametrize(
    "name", ["infinite-pml", "pole", "fading", "infinite-quantile", "law-tail"]
)
def test_a_prior_of_mass_3_is_refused(name):
    """Of an infinity, too: it would be true, but not of a law."""
    lines = checked(tripled(kept(name))).failures
    assert any(line.startswith("prior: ") for line in lines), lines


def test_a_prior_of_mass_2_at_an_outcome_is_refused():
    """With p = 2, not 1, f_Y is 2, and PML at 1/4 would be log 1.25 / 2 < 0."""
    made = kept("point-pml")
    nodes = made["prior"]["graph"]["nodes"]
    last = len(nodes) - 1
    nodes += [["const", [(2.0).hex()]], ["multiply", [last, last + 1]]]
    for cell in made["claim"]["cells"]:
        cell[2:] = [2 * cell[2], 2 * cell[3]]
    made |= {"lower": 0.0, "upper": 1e-9}
    assert checked(made).failures == ["prior: its total mass is within [2.0, 2.0]"]


# -- the trust base ---------------------------------------------------------------------------

LONG = "counts-mean", "discrete-of-counts", "envelope-level", *SLOW
TRUSTED = {
    "": "constants errors settings engine numerics",
    "engine": "certificates",
    "engine.certificates": "checks",
    "engine.certificates.checks": "box_integrals composition count_laws counts discrete_laws "
    "envelope_ends envelopes events fading far_means finite_envelopes in_logs "
    "infinite_quantiles informations laws masses means pairs panels poles prior_sets "
    "prior_weights ranges rays reading reduced_secrets set_expectations set_means set_rules "
    "several_laws several_points slopes squares suprema tails taylor_models verifier",
    "numerics": "graphs reduction",
    "numerics.graphs": "dependence graph nan_conditions operations trace",
    "numerics.reduction": "linear_forms normal_sum order_statistic_density polynomial_factors "
    "product_density scalar_statistic single_argument sum_density",
}
"""All of borel that is loaded to verify a certificate. Of this `graphs` is the engine's as well:
densities as data (`trace`), and what `check_masses` says is on trust."""
LIBRARIES = {"flint", "lazy_loader", "numpy", "scipy"}


def test_no_more_is_loaded_than_what_is_trusted():
    """One certificate of each kind, in a process of its own; those that take long are not run."""
    code = """
import json, sys
from pathlib import Path
from borel.engine.certificates.checks.composition import checked
before = {*sys.modules}
for path in map(Path, sys.argv[1:]):
    assert not checked(json.loads(path.read_text(encoding="utf-8"))).failures, path
print(json.dumps([sorted(sys.modules), sorted({*sys.modules} - before)]))
"""
    kinds = {}
    for name in NAMES:
        if name not in LONG:
            made = kept(name)
            about = made.get("claim", {}).get("type"), made.get("format"), made.get("sum")
            kinds.setdefault((*about, *{*_RULES} & {*made}), str(FOLDER / f"{name}.json"))
    quick = kinds.values()
    done = subprocess.run(
        [sys.executable, "-c", code, *quick], capture_output=True, text=True, check=True
    )
    loaded, late = json.loads(done.stdout)
    own = {name for name in loaded if name.partition(".")[0] == "borel"}
    trusted = {f"borel.{folder}.{name}".replace("..", ".") for folder, names in TRUSTED.items()
               for name in names.split()}  # fmt: skip
    assert own == {"borel", *trusted}
    assert not [name for name in late if name.startswith("borel")]
    tops = {name.partition(".")[0] for name in loaded} - {*sys.stdlib_module_names}
    known = {name for name in tops if not name.startswith("_")} - {"borel", "cython_runtime"}
    assert known == LIBRARIES
