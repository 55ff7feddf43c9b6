"""Arb balls (python-flint): the graphs run on them, their integrals and their extremes."""
