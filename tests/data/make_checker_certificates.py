"""Make the certificates in ``checker/`` anew: ``python tests/data/make_checker_certificates.py``.

They are kept so that a change of the checker is tried on certificates that were made before it.
"""

import json
from pathlib import Path

import numpy as np

import borel as bl
from borel.engine.certificates.continuous import certificate

UNIT = bl.Interval(0, 1)
POINTS = bl.Finite([0.0, 1.0, 2.0])


def joints():
    """Return the joints by name."""
    flat = bl.uniform(UNIT)
    laplace = bl.Mechanism(
        lambda y, x: np.exp(-abs(y - x) / 0.5), secret=UNIT, outcome=bl.Reals()
    )  # the README's second program
    cauchy = bl.Mechanism(
        lambda y, x: 1 / (np.pi * (1 + (y - x) ** 2)), secret=UNIT, outcome=bl.Reals()
    )
    return {
        "laplace": flat * laplace,
        "cauchy": flat * cauchy,
        "normal": bl.normal(mu=0.3, sigma=1.7)
        * bl.mechanisms.gaussian(sigma=1.0, secret=bl.Reals()),
        "arcsine": bl.beta(alpha=0.5, beta=2.5) * bl.mechanisms.laplace(b=0.3, secret=UNIT),
        "points": bl.pmf([0.25, 0.25, 0.5], on=POINTS)
        * bl.mechanisms.laplace(b=1.0, secret=POINTS),
        "clayton": flat * bl.mechanisms.clayton(eta=0.1),
    }


FIGURES = {
    "laplace-pml-at": ("laplace", "pml.at", {"y": 0.3}),
    "laplace-pmc-at": ("laplace", "pmc.at", {"y": 0.3}),
    "laplace-pml-sup": ("laplace", "pml.sup", {}),
    "laplace-pmc-sup": ("laplace", "pmc.sup", {}),
    "laplace-pml-tail": ("laplace", "pml.tail", {"t": 0.7, "closed": False}),
    "cauchy-pml-sup": ("cauchy", "pml.sup", {}),
    "normal-pml-at": ("normal", "pml.at", {"y": 0.3}),
    "normal-pml-sup": ("normal", "pml.sup", {}),
    "normal-pmc-at": ("normal", "pmc.at", {"y": 0.3}),
    "normal-pmc-sup": ("normal", "pmc.sup", {}),
    "arcsine-pmc-at": ("arcsine", "pmc.at", {"y": 0.3}),
    "points-pml-at": ("points", "pml.at", {"y": 0.3}),
    "points-pmc-sup": ("points", "pmc.sup", {}),
    "points-pml-cdf": ("points", "pml.cdf", {"t": 0.6}),
    "points-pml-quantile": ("points", "pml.quantile", {"s": 0.9, "side": "left"}),
    "clayton-pml-at": ("clayton", "pml.at", {"y": 0.3}),
    "clayton-pml-sup": ("clayton", "pml.sup", {}),
}


def figure(joint, name, arguments):
    """Return a figure by the engine, without certificates of the older kind."""
    kind, what = name.split(".")
    leakage = getattr(bl, kind)(joint)
    with bl.options(closed_forms=False):
        if what == "at":
            return leakage(arguments["y"])
        return getattr(leakage, what)(*arguments.values()) if what != "tail" else leakage.tail(
            arguments["t"], closed=arguments["closed"]
        )  # fmt: skip


def main():
    """Write each certificate to a file of its own."""
    known = joints()
    for name, (joint, what, arguments) in FIGURES.items():
        asked = {**arguments, "side": "left"} if what.endswith("quantile") else arguments
        given = {k: v for k, v in arguments.items() if k != "side"}
        bound = figure(known[joint], what, given)
        made = certificate(known[joint], what, asked, bound)
        path = Path(__file__).parent / "checker" / f"{name}.json"
        path.write_text(json.dumps(made), encoding="utf-8")
        print(name, path.stat().st_size, bound, flush=True)


if __name__ == "__main__":
    main()
