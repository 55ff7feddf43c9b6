"""Databases: i.i.d. entries, what is released of one of them, and neighbours."""
