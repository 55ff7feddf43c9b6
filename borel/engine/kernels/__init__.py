"""Enclosures over boxes of (y, x): leakage, marginals, essential suprema."""
