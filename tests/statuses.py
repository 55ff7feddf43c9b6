"""What statuses mean to tests of the engine, which speak of what it proves."""


def certainly(found):
    """Whether the engine has proved a figure, under no assumption."""
    return found.status in ("exact", "certified")
