"""borel: how much a privacy mechanism leaks, on general alphabets and under uncertain priors.

Public names are listed in one table; a submodule is imported when one of its names is first used
(PEP 562), so that ``import borel`` costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_WHERE = {
    "Alphabet": "probability.alphabets",
    "Finite": "probability.alphabets",
    "Integers": "probability.alphabets",
    "Interval": "probability.alphabets",
    "Mixed": "probability.alphabets",
    "Product": "probability.alphabets",
    "Reals": "probability.alphabets",
    "Measure": "probability.measure",
    "Tail": "probability.measure",
    "mixture": "probability.measure_operations",
    "pmf": "probability.measure",
    "beta": "probability.families",
    "cauchy": "probability.families",
    "exponential": "probability.families",
    "from_pymc": "probability.families",
    "from_scipy": "probability.families",
    "gamma": "probability.families",
    "geometric": "probability.families",
    "laplace": "probability.families",
    "negative_binomial": "probability.families",
    "normal": "probability.families",
    "poisson": "probability.families",
    "uniform": "probability.families",
    "Mechanism": "probability.mechanism",
    "Joint": "probability.joint",
    "Bound": "probability.bound",
    "Verdict": "probability.bound",
    "differential_privacy": "databases.neighbours",
    "entry": "databases.iid",
    "free_lunch_privacy": "databases.neighbours",
    "iid": "databases.iid",
    "options": "settings",
    "information_density": "figures.leakage",
    "pmc": "figures.leakage",
    "pml": "figures.leakage",
    "alip": "figures.levels",
    "ldi": "figures.levels",
    "ldp": "figures.levels",
    "leakage_capacity": "figures.levels",
    "lip": "figures.levels",
    "f_information": "figures.averages",
    "maximal_cost_leakage": "figures.averages",
    "maximal_guesswork_leakage": "figures.averages",
    "maximal_leakage": "figures.averages",
    "min_entropy_leakage": "figures.averages",
    "mutual_information": "figures.averages",
    "total_variation": "figures.averages",
    "dynamic_min_entropy_leakage": "figures.worst_cases",
    "event_maximal_leakage": "figures.worst_cases",
    "max_information": "figures.worst_cases",
    "maximal_realizable_cost": "figures.worst_cases",
    "maximal_realizable_leakage": "figures.worst_cases",
    "pointwise_maximal_guesswork_leakage": "figures.worst_cases",
    "envelope": "figures.envelopes",
    "binary_envelope": "figures.binary_envelopes",
    "hockey_stick": "figures.profiles",
    "privacy_profile": "figures.profiles",
    "psi_1": "figures.profiles",
    "psi_2": "figures.profiles",
    "f_divergence": "figures.divergences",
    "max_divergence": "figures.divergences",
    "renyi": "figures.divergences",
    "const": "constants",
    "pi": "constants",
    "RandomBound": "priors.random_bound",
    "Study": "audits.study",
    "audit": "audits.audit",
    "load": "audits.audit",
    "frontier": "audits.plots.posterior_curves",
    "leakage_tree": "audits.plots.posterior_plots",
    "plot_alpha": "audits.plots.posterior_plots",
    "plot_frontier": "audits.plots.posterior_plots",
    "plot_posterior": "audits.plots.posterior_plots",
    "plot_worst_prior": "audits.plots.posterior_plots",
    "plot_envelope": "audits.plots.envelope_plots",
    "plot_epsilon": "audits.plots.leakage_plots",
    "plot_law": "audits.plots.leakage_plots",
    "plot_leakage": "audits.plots.leakage_plots",
    "BorelError": "errors",
    "InvalidInput": "errors",
    "NotYet": "errors",
    "OutsideAlphabet": "errors",
    "Undecided": "errors",
}
_MODULES = (
    "adversaries",
    "envelope_bounds",
    "errors",
    "guarantees",
    "mechanisms",
    "models",
    "priors",
    "testing",
)
__all__ = ["__version__", *sorted(_WHERE), *_MODULES]


def __getattr__(name: str) -> Any:
    if name in _WHERE:
        value = getattr(import_module(f"borel.{_WHERE[name]}"), name)
    elif name in _MODULES:
        value = import_module(f"borel.{name}")
    else:
        raise AttributeError(f"module 'borel' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__


if TYPE_CHECKING:
    from borel import adversaries, errors, guarantees, mechanisms, models, priors, testing
    from borel.audits.audit import audit, load
    from borel.audits.plots.envelope_plots import plot_envelope
    from borel.audits.plots.leakage_plots import plot_epsilon, plot_law, plot_leakage
    from borel.audits.plots.posterior_curves import frontier
    from borel.audits.plots.posterior_plots import (
        leakage_tree,
        plot_alpha,
        plot_frontier,
        plot_posterior,
        plot_worst_prior,
    )
    from borel.audits.study import Study
    from borel.constants import const, pi
    from borel.databases.iid import entry, iid
    from borel.databases.neighbours import differential_privacy, free_lunch_privacy
    from borel.errors import BorelError, InvalidInput, NotYet, OutsideAlphabet, Undecided
    from borel.figures import envelope_bounds
    from borel.figures.averages import (
        f_information,
        maximal_cost_leakage,
        maximal_guesswork_leakage,
        maximal_leakage,
        min_entropy_leakage,
        mutual_information,
        total_variation,
    )
    from borel.figures.binary_envelopes import binary_envelope
    from borel.figures.divergences import f_divergence, max_divergence, renyi
    from borel.figures.envelopes import envelope
    from borel.figures.leakage import information_density, pmc, pml
    from borel.figures.levels import alip, ldi, ldp, leakage_capacity, lip
    from borel.figures.profiles import hockey_stick, privacy_profile, psi_1, psi_2
    from borel.figures.worst_cases import (
        dynamic_min_entropy_leakage,
        event_maximal_leakage,
        max_information,
        maximal_realizable_cost,
        maximal_realizable_leakage,
        pointwise_maximal_guesswork_leakage,
    )
    from borel.priors.random_bound import RandomBound
    from borel.probability.alphabets import (
        Alphabet,
        Finite,
        Integers,
        Interval,
        Mixed,
        Product,
        Reals,
    )
    from borel.probability.bound import Bound, Verdict
    from borel.probability.families import (
        beta,
        cauchy,
        exponential,
        from_pymc,
        from_scipy,
        gamma,
        geometric,
        laplace,
        negative_binomial,
        normal,
        poisson,
        uniform,
    )
    from borel.probability.joint import Joint
    from borel.probability.measure import Measure, Tail, pmf
    from borel.probability.measure_operations import mixture
    from borel.probability.mechanism import Mechanism
    from borel.settings import options
