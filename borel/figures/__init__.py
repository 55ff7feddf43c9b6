"""Figures of joints, as Bounds: leakage, averages, levels, profiles, envelopes."""
