"""Certificates about sums of secrets: verified, and refused when altered."""

import copy
import json

import numpy as np
import pytest
from engine.sum_truths import (
    LINE,
    UNIT,
    joint,
    laplace,
    of_normals,
)

import borel as bl
from borel.audits.verification import verified
from borel.engine.certificates.checks import reduced_secrets
from borel.numerics.graphs.trace import trace

pytestmark = [pytest.mark.proofs, pytest.mark.usefixtures("with_certificates", "digits")]


@pytest.fixture(scope="module")
def certificate():
    bound = bl.pml(joint(laplace, [0.5, 0.5])).sup()
    assert bound.certificate["sum"] is True
    return bound.certificate


def test_a_certificate_is_about_the_joint_that_was_given(certificate):
    assert certificate["kernel"]["graph"]["inputs"] == ["y", "x0", "x1"]
    assert certificate["prior"]["lower"] == [0.0, 0.0]
    line = reduced_secrets.on_a_line(certificate)
    assert line["kernel"]["graph"]["inputs"] == ["y", "x"]
    assert (line["prior"]["lower"], line["prior"]["upper"]) == (0.0, 1.0)


def _const(graph, old, new):
    """Return a graph with a number replaced by another one."""
    graph = copy.deepcopy(graph)
    hits = [n for n in graph["nodes"] if n[0] == "const" and n[1] == [float(old).hex()]]
    assert hits
    hits[0][1] = [float(new).hex()]
    return graph


def _with_input(graph):
    graph = copy.deepcopy(graph)
    last = len(graph["nodes"]) - 1
    graph["nodes"] += [["input", ["x0"]], ["multiply", [last, last + 1]]]
    return graph


ALTERED = {
    "not about a sum": lambda c: c.pop("sum"),
    "sum: 1": lambda c: c.update(sum=1),
    "another weight": lambda c: c["kernel"].update(graph=_const(c["kernel"]["graph"], 0.5, 0.375)),
    "a wider box": lambda c: c["prior"].update(upper=[1.0, 1.5]),
    "an endless box": lambda c: c["prior"].update(upper=[1.0, "Infinity"]),
    "a box less": lambda c: c["prior"].update(upper=[1.0], lower=[0.0]),
    "an empty box": lambda c: c["prior"].update(upper=[1.0, 0.0]),
    "a prior that varies": lambda c: c["prior"].update(graph=_with_input(c["prior"]["graph"])),
    "an atom": lambda c: c["prior"].update(atoms=[[0.5, 0.25, 0.25]]),
    "a supremum more": lambda c: c.update(lower=c["upper"] + 1e-6, upper=c["upper"] + 1e-5),
}


@pytest.mark.parametrize("alter", ALTERED.values(), ids=ALTERED)
def test_an_altered_certificate_is_refused(certificate, alter, outcome):
    assert outcome(certificate) == "verified"
    altered = json.loads(json.dumps(certificate))
    alter(altered)
    assert outcome(altered) == "refused"


def _kernel(f, *names):
    return {"graph": trace(f, names, ()).to_json(), "log": False}


def _absolute(y, x0, x1):
    return np.exp(-abs(y - x0 / 2 - x1 / 2)) / 2


NAMES = {
    "x for the sum": lambda y, x0, x1, x: np.exp(-abs(y - x)) / 2 + 0 * abs(x0 / 2 + x1 / 2),
    "x beside it": lambda y, x0, x1, x: (
        _absolute(y, x0, x1) + 5 * abs(abs(x) - abs(x0 / 2 + x1 / 2))
    ),
    "z": lambda y, x0, x1, z: _absolute(y, x0, x1) + 5 * abs(x0 + z - x0),
    "z in a sum": lambda y, x0, x1, z: _absolute(y, x0, x1) + 0 * abs(x0 + x1 + z),
}


@pytest.mark.parametrize("kernel", NAMES.values(), ids=NAMES)
def test_other_inputs_are_refused(certificate, kernel, outcome):
    names = kernel.__code__.co_varnames[: kernel.__code__.co_argcount]
    altered = {**certificate, "kernel": _kernel(kernel, *names)}
    assert outcome(altered) == "refused"


@pytest.fixture(scope="module")
def of_two_normals():
    bound = bl.pml(of_normals(bl.normal() * bl.normal()))(1.0)
    assert verified("pml/one outcome", bound).outcome == "verified"
    return bound.certificate


def _zero(graph):
    """Add log(0 x0), so that there is no density anywhere."""
    graph = copy.deepcopy(graph)
    last = len(graph["nodes"]) - 1
    graph["nodes"] += [
        ["input", ["x0"]],
        ["const", [(0.0).hex()]],
        ["multiply", [last + 1, last + 2]],
        ["log", [last + 3]],
        ["add", [last, last + 4]],
    ]
    return graph


def _more(graph):
    graph = copy.deepcopy(graph)
    last = len(graph["nodes"]) - 1
    graph["nodes"] += [["const", [(3.0).hex()]], ["add", [last, last + 1]]]
    return graph


PRIORS = {
    "no density": lambda p: p.update(graph=_zero(p["graph"])),
    "e^3 of it": lambda p: p.update(graph=_more(p["graph"])),
    "log: a string": lambda p: p.update(log="false"),
    "log: 1": lambda p: p.update(log=1),
    "atoms: null": lambda p: p.update(atoms=None),
}


@pytest.mark.parametrize("alter", PRIORS.values(), ids=PRIORS)
def test_a_normal_prior_that_is_not_normalised_is_refused(of_two_normals, alter, outcome):
    altered = json.loads(json.dumps(of_two_normals))
    alter(altered["prior"])
    assert outcome(altered) == "refused"


def test_corners_that_are_no_floats_are_verified():
    secret = UNIT**2
    mech = bl.Mechanism(
        lambda y, x: np.exp(-abs(y - x[1] / 3)) / 2, secret=secret, outcome=LINE
    )  # fmt: skip
    bound = bl.pml(bl.uniform(secret) * mech)(0.7)
    assert bound.status == "certified" and bound.width <= 1e-8
    if bound.certificate:
        assert verified("pml/one outcome", bound).outcome == "verified"
