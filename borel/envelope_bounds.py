"""Bounds on envelopes by theorems: the public name of `borel.figures.envelope_bounds`."""

from borel.figures.envelope_bounds import *  # noqa: F403
