"""What a happening says by itself, whatever session it belongs to.

Part of interpretation (step 6), and the costly part of it. The fold makes a gist of each event it
is given, unless one was made beforehand where there was time for it, and came with the event.
"""

from __future__ import annotations

from observer.events import AnyBody, Command, FileWrite, Value
from observer.interpret import commandline, outcome
from observer.interpret.changes import Change, change_of
from observer.interpret.classify import TELLERS, where_of
from observer.interpret.told import Told, Where
from observer.interpret.verdict import Verdict
from observer.model import Recorded


class Gist(Value):
    """The change of a write, the verdict on a command, the words for what does not fold.

    `told` is None where there is nothing to tell; `change` and `verdict` say nothing for others.
    """

    change: Change = Change()
    verdict: Verdict = Verdict()
    told: Told | None = None


class Foretold(Recorded):
    """A recorded event that may have come with the gist of its body."""

    gist: Gist | None = None


def gist_of(recorded: Recorded, body: AnyBody) -> Gist:
    """Return the gist of an event's body, or of another that was made from it."""
    if isinstance(recorded, Foretold) and recorded.gist and body is recorded.event.body:
        return recorded.gist
    return gist(body, where_of(recorded))


def gist(body: AnyBody, where: Where) -> Gist:
    """Make the gist of a happening."""
    if isinstance(body, FileWrite):
        return Gist(change=change_of(body))
    if isinstance(body, Command):
        return Gist(verdict=outcome.read(body, commandline.read(body.command)))
    tell = TELLERS.get(type(body))
    return Gist(told=tell(body, where)) if tell else Gist()
