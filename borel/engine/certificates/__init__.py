"""Certificates: figures as data that another program can verify."""
