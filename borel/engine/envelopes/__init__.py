"""Leakage envelopes: the linear programme, its cells and bins, and the figures."""
