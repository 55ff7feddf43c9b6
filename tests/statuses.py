"""What statuses mean to tests of the engine, which speak of what it proves."""

from borel.engine.problem.budget import ENGINE


def certainly(found):
    """Whether the engine has proved a figure, with a certificate or without one."""
    alone = found.status == "conditional" and ENGINE in found.assumptions
    return found.status in ("exact", "certified") or alone
