from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from observer.core.events import Prompt, SessionEnd, SessionStart, ToolUse
from observer.core.model import Recorded
from observer.observations import session_lifecycle

Feed = Callable[..., Any]
Place = Callable[..., Recorded]

END, IDLE = SessionEnd(reason="exit"), SessionEnd(reason="idle")
WORK = ToolUse(tool="x")


def test_a_session_has_its_id_from_whatever_event_is_left_of_it(place: Place) -> None:
    session = session_lifecycle.begin(place(WORK, 5))
    assert (session.id, session.external, session.client) == (1, "s1", "claude-code")
    assert (session.project_id, session.branch, session.events) == (7, "main", 0)


def test_prompts_are_counted_and_the_first_is_kept(feed: Feed) -> None:
    session = feed(Prompt(text="first\nmore"), Prompt(text=" "), Prompt(text="second")).session
    assert (session.prompts, session.first_prompt, session.events) == (2, "first", 3)


def test_a_parent_is_noted(feed: Feed) -> None:
    assert feed(SessionStart(parent_session="p1")).session.parent == "p1"


def test_a_client_ends_its_session(feed: Feed) -> None:
    session = feed(WORK, END).session
    assert session.status == "ended"
    assert session.ended_ms == session.last_ms


def test_an_idle_session_ended_with_its_last_sign_of_life(feed: Feed, place: Place) -> None:
    session = feed(place(WORK, 1), place(IDLE, 2, at_s=3600)).session
    assert session.status == "idle"
    assert session.ended_ms == session.last_ms == session.started_ms


def test_an_ended_session_comes_back(feed: Feed) -> None:
    session = feed(WORK, END, WORK).session
    assert (session.status, session.ended_ms) == ("active", None)


def test_a_straggler_does_not_wake_an_ended_session(feed: Feed, place: Place) -> None:
    session = feed(place(WORK, 1), place(END, 2), place(WORK, 3, at_s=15)).session
    assert session.status == "ended"


def test_an_event_from_before_the_first_moves_the_start(feed: Feed, place: Place) -> None:
    session = feed(place(WORK, 1), place(WORK, 2, at_s=1)).session
    assert session.last_ms - session.started_ms == 9000


CONTINUED = [
    ("a-real-id-resumes", (WORK, END), "s1", WORK, 99, True),
    ("a-made-id-goes-on", (WORK,), "ppid:7@h", WORK, 99, True),
    ("a-made-id-after-its-end", (WORK, END), "ppid:7@h", WORK, 99, False),
    ("a-straggler", (WORK, END), "ppid:7@h", WORK, 15, True),
    ("a-process-id-used-again", (WORK,), "ppid:7@h", WORK, 50_000, False),
    ("a-new-start", (Prompt(text="x"),), "ppid:7@h", SessionStart(), 99, False),
    ("a-resume", (Prompt(text="x"),), "ppid:7@h", SessionStart(source="resume"), 99, True),
    ("a-late-first-start", (WORK,), "ppid:7@h", SessionStart(), 99, True),
]


@pytest.mark.parametrize("case", CONTINUED, ids=[case[0] for case in CONTINUED])
def test_an_event_goes_on_with_its_session_or_begins_one(
    feed: Feed, place: Place, case: tuple[Any, ...]
) -> None:
    _, bodies, external, body, at_s, expected = case
    event = place(body, 9, at_s=at_s, session=external).event
    assert session_lifecycle.continues(feed(*bodies).session, event) is expected


def test_nothing_cannot_be_continued(place: Place) -> None:
    assert not session_lifecycle.continues(None, place(WORK).event)
