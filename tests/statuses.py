"""What statuses mean to tests of the engine, which speak of what it proves."""

from borel.errors import NotYet


def certainly(found):
    """Whether the engine has proved a figure, under no assumption."""
    return found.status in ("exact", "certified")


def proof_of(found):
    """Return the certificate of a figure; None where there is none."""
    try:
        return found.certify().certificate
    except NotYet:
        return None
