"""Figures of secrets or outcomes on the integers."""
