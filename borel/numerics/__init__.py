"""Arithmetic: graphs of expressions, and every arithmetic that runs them; knows no measure."""
