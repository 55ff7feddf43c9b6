"""Certificates are verified: to be replaced by a checker that stands apart."""
