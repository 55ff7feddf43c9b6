"""Attributes of the secret, how uncertain they are, and which of them a release discloses."""
