"""What a happening says by itself, whatever session it belongs to.

Part of interpretation (step 6), and the costly part of it. The fold makes a gist of each event it
is given, unless one was made beforehand where there was time for it, and came with the event.
"""

from __future__ import annotations

from msgspec.structs import asdict

from observer.events import AnyBody, Command, FileWrite, Value
from observer.interpret import commandline, marks, outcome
from observer.interpret.changes import Change, change_of
from observer.interpret.classify import TELLERS, where_of
from observer.interpret.marks import Marks
from observer.interpret.told import Told, Where
from observer.interpret.verdict import Verdict
from observer.model import Recorded


class Gist(Value):
    """The change and marks of a write, the verdict on a command, words for what does not fold.

    `told` is None where there is nothing to tell; the others say nothing where they do not apply.
    """

    change: Change = Change()
    marks: Marks = Marks()
    verdict: Verdict = Verdict()
    told: Told | None = None


class Foretold(Recorded):
    """A recorded event that may have come with the gist of its body."""

    gist: Gist | None = None


def foretold(recorded: Recorded) -> Foretold:
    """Return an event with its gist, which all who look at it then share."""
    if isinstance(recorded, Foretold) and recorded.gist:
        return recorded
    return Foretold(**asdict(recorded) | {"gist": gist_of(recorded)})


def gist_of(recorded: Recorded) -> Gist:
    """Return the gist that an event came with, or make it."""
    if isinstance(recorded, Foretold) and recorded.gist:
        return recorded.gist
    return gist(recorded.event.body, where_of(recorded))


def gist(body: AnyBody, where: Where) -> Gist:
    """Make the gist of a happening."""
    if isinstance(body, FileWrite):
        return Gist(change=change_of(body), marks=marks.of(body))
    if isinstance(body, Command):
        return Gist(verdict=outcome.read(body, commandline.read(body.command), where.root))
    tell = TELLERS.get(type(body))
    return Gist(told=tell(body, where)) if tell else Gist()
