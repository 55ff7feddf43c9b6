"""Figures under every draw of a prior: blocks of draws against one kernel."""
