"""Makers of certificates: what the engine computed, as data that the checker verifies."""
