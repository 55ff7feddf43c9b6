"""Certificates, made when they are asked for: the search for what the checker verifies.

The search runs in the arithmetic of `borel.checker`, so that what it finds is what is verified. It
counts its work and never looks at a clock: the same question gives the same certificate.
"""
