"""One event on its way from the spool to its items: a record whose fields fill up."""

from __future__ import annotations

from msgspec.structs import asdict

from observer.code.edits import ChangeSummary, EditFingerprints
from observer.commands.result import CommandResult
from observer.core.model import Place, Recorded
from observer.core.value import Value
from observer.observations.drafts import ObservationDraft
from observer.observations.session_state import PendingTool

NOWHERE = Place(root="")


class EventAnalysis(Value):
    """What an event says by itself; fields that do not apply are empty.

    `change` and `marks` are those of a file write, `result` that of a command, `draft` the
    observation of any other event, None if it gives none.
    """

    change: ChangeSummary = ChangeSummary()
    marks: EditFingerprints = EditFingerprints()
    result: CommandResult = CommandResult()
    draft: ObservationDraft | None = None


class EventRecord(Recorded, kw_only=True):
    """An event with all that is known of it so far; each step of its way fills in more.

    Prepared, the event is redacted, `place` is what the file system said about its folder, `data`
    the event as JSON ("" where that was not made), and `is_expired` says that it is older than
    such events are kept. `project_id` is set only where a front named the project; the folder then
    does not matter. Appended, it has the fields of `Recorded` too. `analysis` may be made at any
    time before it is used. `pending` is the tool call of a result that was paired with it: the
    event's body is then the call with the result, and `analysis` holds what was derived from the
    long texts of the call, which were not kept.

    The fields of `Recorded` are a type of their own, since the store and what is exported end
    there: they know nothing of analyses, and a line of an export cannot bring one.
    """

    seq: int = 0
    project_id: int = 0
    place: Place = NOWHERE
    data: str = ""
    is_expired: bool = False
    analysis: EventAnalysis | None = None
    pending: PendingTool | None = None


def record_of(recorded: Recorded) -> EventRecord:
    """Return an event of the log as a record to fill up; one that is on its way as it is."""
    if isinstance(recorded, EventRecord):
        return recorded
    return EventRecord(**asdict(recorded))
