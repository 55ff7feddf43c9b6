"""Suprema over sets of priors: lower expectations, enclosed, and the figures they give."""
