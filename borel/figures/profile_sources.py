"""Whose privacy profile it is: of two measures, of a mechanism, or of the support of a prior."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from borel.constants import exactly
from borel.engine import engine_for
from borel.engine.divergences.hockey_sticks import figure_of_two
from borel.engine.problem.kernel_normalisation import statement
from borel.engine.problem.thresholds import Threshold
from borel.errors import InvalidInput, NotYet
from borel.mechanisms.noise import GaussianForms, LaplaceForms
from borel.probability.alphabets import Finite
from borel.probability.bound import Bound, weakest
from borel.probability.joint import Joint
from borel.probability.measure import Measure, pmf
from borel.probability.mechanism import Mechanism
from borel.probability.normalisation import Normalisation

if TYPE_CHECKING:
    from collections.abc import Callable


def two_measures(what: str, *measures: Any) -> None:
    """Check that two laws are measures, one each."""
    for measure in measures:
        if not isinstance(measure, Measure):
            raise InvalidInput(what, expected="two Measures", got=type(measure).__name__)
        if measure.batch:
            raise NotYet(what, missing="measures with draw axes", instead="one at a time.")


def source_of(of: Any) -> Callable[[Threshold, str], Bound]:
    """Return the function that computes a figure of a pair, a mechanism or a joint."""
    if isinstance(of, tuple) and len(of) == 2:
        two_measures("bl.privacy_profile", *of)
        p, q = of
        return lambda level, what: _worst(
            [figure_of_two(p, q, level, what), figure_of_two(q, p, level, what)]
        )
    if not isinstance(of, (Mechanism, Joint)):
        raise InvalidInput(
            "bl.privacy_profile",
            expected="a mechanism, a joint, or a pair of measures",
            got=type(of).__name__,
        )
    mechanism = of if isinstance(of, Mechanism) else of.mechanism
    if finite(of):
        from borel.engine.divergences.worst_pairs import worst_pair

        joint = _uniformly(mechanism) if isinstance(of, Mechanism) else of
        return lambda level, what: worst_pair(engine_for(joint), level, what)
    secrets = _secrets(of)
    forms = mechanism.closed_forms
    if isinstance(forms, (GaussianForms, LaplaceForms)):
        return _noise(forms, secrets)
    if not isinstance(secrets, list):
        raise NotYet(
            "bl.privacy_profile",
            missing=f"mechanisms with secrets on {mechanism.secret!r}",
            instead="a finite secret, or Gaussian or Laplace noise.",
        )
    rows = [_row(mechanism, x) for x in secrets]
    note = statement(mechanism, of.prior if isinstance(of, Joint) else _evenly(secrets, mechanism))
    pairs = [(a, b) for a in range(len(rows)) for b in range(len(rows)) if a != b]
    return lambda level, what: _worst(
        [
            _normalised(figure_of_two(rows[a], rows[b], level, what), note).about(
                witness={"x": secrets[a], "x'": secrets[b]}
            )
            for a, b in pairs
        ]
    )


def finite(of: Any) -> bool:
    """Return whether a mechanism, a joint or two measures are on finite alphabets."""
    if isinstance(of, tuple):
        return all(m._probabilities is not None for m in of)
    return getattr(of, "mechanism", of).finite and getattr(of, "finite", True)


def _evenly(secrets: list, mechanism: Mechanism) -> Measure:
    return pmf([Fraction(1, len(secrets))] * len(secrets), on=Finite(secrets))


def _normalised(found: Bound, note: Normalisation) -> Bound:
    """Return a figure of rows, conditional on their normalisation unless that is proved."""
    if note.proved or found.status not in ("exact", "certified"):
        return found
    return Bound.conditional(
        found.lower,
        found.upper,
        assumptions=(*found.assumptions, f"kernel normalised: {note}"),
        units=found.units,
    )


def pure_level(of: Any) -> float:
    """Return an epsilon of pure LDP that is proved, for finite alphabets; else infinity."""
    from borel.figures.levels import ldp

    if isinstance(of, tuple) or not finite(of):
        return math.inf
    level = ldp(_uniformly(of) if isinstance(of, Mechanism) else of)
    return level.upper if level.proved else math.inf


def _uniformly(mechanism: Mechanism) -> Joint:
    size = mechanism.secret.size
    return pmf([Fraction(1, size)] * size, on=mechanism.secret) * mechanism


def _secrets(of: Any) -> Any:
    """Return the labels of a finite support, or the ends (low, high) of an interval of secrets."""
    if isinstance(of, Joint):
        prior, alphabet = of.prior, of.secret
        if getattr(prior, "_probabilities", None) is not None:
            p = prior.at(prior.on)
            return [x for x, mass in zip(prior.on.labels, p, strict=True) if mass != 0]
        from borel.engine.problem.prior_normalisation import FAMILIES

        if (getattr(prior, "family", None) or ("",))[0] not in (*FAMILIES, "poisson", "geometric"):
            raise NotYet(
                "bl.privacy_profile",
                missing=f"the support of {prior!r}",
                instead="bl.privacy_profile(mech): all secrets of the alphabet.",
            )
    else:
        alphabet = of.secret
    if alphabet.kind == "finite":
        return list(alphabet.labels)
    ends = [getattr(alphabet, name, None) for name in ("lower", "upper")]
    return tuple(
        sign * math.inf if end is None else end for sign, end in zip((-1, 1), ends, strict=True)
    )


def _noise(forms: Any, secrets: Any) -> Callable[[Threshold, str], Bound]:
    """Return the figures of additive noise: the pair of secrets farthest apart is the worst."""
    low, high = (min(secrets), max(secrets)) if isinstance(secrets, list) else secrets
    name, scale = (
        ("normal", forms.sigma) if isinstance(forms, GaussianForms) else ("laplace", forms.b)
    )
    parameter = "sigma" if name == "normal" else "b"

    def compute(level: Threshold, what: str) -> Bound:
        from borel.engine.divergences.loss_events import exact, of_family

        if math.inf in (high, -low):
            return exact(1.0, 1.0, name).about(attained=False)
        if low == high:
            return exact(0.0, 0.0, name)
        first, second = ({"mu": exactly(x), parameter: exactly(scale)} for x in (high, low))
        found = of_family(name, first, second, level, what)
        assert found is not None  # one scale: its event is always decided
        return found.about(witness={"x": high, "x'": low})

    return compute


def _row(mechanism: Mechanism, x: Any) -> Measure:
    """Return the law of the outcome for one secret, with the mechanism's traced density."""
    if mechanism.outcome.kind == "mixed":
        raise NotYet("bl.privacy_profile", missing=f"outcomes on {mechanism.outcome!r}")
    return Measure(
        lambda y: mechanism._logpdf(y, x),
        mechanism.outcome,
        log=True,
        breaks=mechanism.breaks,
        name=f"row of {x!r}",
        _check=False,
    )


def _worst(bounds: list[Bound]) -> Bound:
    """Return the largest of several probabilities, as weak as the weakest of them."""
    if not bounds:
        return Bound.exact(0.0, 0.0, units="probability")
    best = max(bounds, key=lambda b: b.ends[::-1])
    ends: tuple[Any, Any] = max(b.ends.lower for b in bounds), best.ends.upper
    low, high = ends
    status = weakest(b.status for b in bounds)
    about: dict[str, Any] = {
        "units": "probability",
        "witness": best.witness,
        "assumptions": tuple(dict.fromkeys(a for b in bounds for a in b.assumptions)),
    }
    reason = " ".join(dict.fromkeys(b.reason for b in bounds if b.reason))
    if status == "undecided":
        low, high = max(b.lower for b in bounds if b.status != "estimate"), 1.0
    return Bound.of(status, low, high, reason=reason, **about)
