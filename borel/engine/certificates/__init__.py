"""Makers of certificates: what an engine computed, written down so that the checker can verify it."""
