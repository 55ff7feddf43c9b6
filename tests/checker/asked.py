"""The figures that a program asks for, and their certificates."""

import borel as bl
from borel.checker import verify
from borel.engine.certificates import continuous
from borel.probability.bound import Bound


def figures_of(program, patch):
    """Run a program, and return each figure that it asked of a joint."""
    asked, answering = [], Bound.answering

    def recorded(bound, question):
        found = answering(bound, question)
        asked.append(found)
        return found

    with patch.context() as recording:
        recording.setattr(Bound, "answering", recorded)
        program()
    return list({id(bound): bound for bound in asked}.values())


def certified(bound):
    """Return a figure with its certificate, None where no rule proves it: none is refused."""
    try:
        made = bound.certify()
    except bl.NotYet as error:
        assert "rule" in error.missing or "anything to verify" in error.missing, error
        assert "that the checker takes" not in error.missing, error
        return None
    assert verify(made.certificate).figure == made.certificate["figure"]
    return made


def search_little(patch, work):
    """Let the search for a proof on a line look at so many cells only."""
    patch.setitem(continuous.certificate.__kwdefaults__, "work", work)
