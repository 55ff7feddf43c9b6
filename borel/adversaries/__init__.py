"""Threat models, computed: what adversaries gain or pay, and the worst of them as witnesses.

PML and PMC are suprema over adversaries. Here are the adversaries: gains and costs
(`bl.adversaries.gain`, `bl.adversaries.cost`), what a release is worth to them (`g_leakage`,
`cost_leakage`, `function_leakage`), and those that attain the suprema (`witness`).
"""

from __future__ import annotations

from borel.adversaries import costs as cost
from borel.adversaries import gains as gain
from borel.adversaries.randomised_functions import function_of_cost, function_of_gain, shattering
from borel.adversaries.region_witnesses import RegionWitness
from borel.adversaries.threats import Cost, Gain
from borel.adversaries.vulnerabilities import (
    cost_leakage,
    function_leakage,
    g_leakage,
    posterior_cost,
    posterior_vulnerability,
    prior_cost,
    prior_vulnerability,
)
from borel.adversaries.witnesses import Witness, witness

__all__ = [
    "Cost",
    "Gain",
    "RegionWitness",
    "Witness",
    "cost",
    "cost_leakage",
    "function_leakage",
    "function_of_cost",
    "function_of_gain",
    "g_leakage",
    "gain",
    "posterior_cost",
    "posterior_vulnerability",
    "prior_cost",
    "prior_vulnerability",
    "shattering",
    "witness",
]
