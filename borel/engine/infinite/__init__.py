"""Proofs that a figure is infinite."""
