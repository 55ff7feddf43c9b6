"""Alphabets, densities, measures, mechanisms, joints, and the Bounds of figures."""
