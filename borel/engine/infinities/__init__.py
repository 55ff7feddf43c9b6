"""Proofs that a leakage is infinite: power-scaled arithmetic along rays."""
