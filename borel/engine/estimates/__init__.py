"""Estimates: quadrature and maximisation in log-space, with error estimates and no proof."""
