"""How often memory speaks up unasked, what it says then, and whether the transcript bears it out.

A reminder of a form is right if the call then fails with the words that it quotes, or if the form
that it names is what works later in that session. What others
changed nobody can judge from a transcript: that is only listed.

What could have been shown is counted too: a command that could not run, with words with which one
could not run in an earlier session, the first time in each session.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import msgspec

from sessions.kept import Kept, Recalled
from sessions.measures import Measure, Scored, count, line, share
from sessions.transcript import HookEvent, Json

_GROUP = "reminders"
_ACTIONS = frozenset({"PostToolUse", "PostToolUseFailure"})
_FORM = re.compile(
    r"`(?P<works>[^`]+)` works here; `(?P<failed>[^`]+)` could not run.*?\(\"?(?P<why>.*)"
)
_COMPLAINT = re.compile(
    r"(?im)^.*\b(?:unrecognized|not found|missing script|(?:no such|unknown) (?:sub)?command"
    r"|unexpected argument|(?:illegal|invalid|unknown) option)\b.*$"
)
_MOST_LINES = 12
"""What could not run says little more than that."""
_QUOTED = 40
"""Characters of a complaint by which it is known in a reminder."""


class Call(NamedTuple):
    """A tool call of a transcript: where it stands in its session, and how it ended."""

    place: int
    event: str
    given: Json
    output: str

    @property
    def command(self) -> str:
        """The command line; "" of another tool."""
        return str(self.given.get("command", ""))

    @property
    def has_failed(self) -> bool:
        """Whether the client reported a failure."""
        return self.event == "PostToolUseFailure"


def scored(kept: Kept) -> Scored:
    """Return how often hooks/recall printed something, and how often that was right."""
    fired = [each for each in kept.log.recalls if each.printed]
    calls = _calls(kept)
    actions = sum(len(each) for each in calls.values())
    verdicts = [(each, _verdict(each, calls.get(each.session, ()))) for each in fired]
    return Scored(
        measures=tuple(_measures(kept, verdicts, actions)),
        wrong=tuple(
            f"{verdict:12}{each.session[:8]} {each.place} {each.event}: {line(_said(each), 240)}"
            f" <- {line(_about(each, calls), 100)}"
            for each, verdict in verdicts
        ),
    )


def _measures(
    kept: Kept, verdicts: Sequence[tuple[Recalled, str]], actions: int
) -> Iterator[Measure]:
    asked = kept.log.recalls
    for name in sorted({each.event for each in asked}):
        mine = [each for each in asked if each.event == name]
        yield share(_GROUP, f"fired at {name}", sum(bool(each.printed) for each in mine), len(mine))
    judged = [verdict for _, verdict in verdicts if verdict != "unjudged"]
    right = sum(not verdict.startswith("wrong") for verdict in judged)
    yield count(_GROUP, "fired", len(verdicts))
    yield share(_GROUP, "fired per action", len(verdicts), actions)
    yield share(_GROUP, "right", right, len(judged))
    again = list(_repeats(kept, verdicts))
    yield share(_GROUP, "given before what could not run again", sum(again), len(again))
    yield count(
        _GROUP, "longest reminder, characters", max((len(_said(e)) for e, _ in verdicts), default=0)
    )


def _calls(kept: Kept) -> Mapping[str, list[Call]]:
    found: dict[str, list[Call]] = {}
    for step in kept.steps:
        happened = step.happened
        if isinstance(happened, HookEvent) and happened.event in _ACTIONS:
            payload = happened.payload
            answer = payload.get("error") or payload.get("tool_response") or ""
            output = answer if isinstance(answer, str) else "\n".join(map(str, _texts(answer)))
            call = Call(step.place, happened.event, payload.get("tool_input", {}), output)
            found.setdefault(step.session, []).append(call)
    return found


def _repeats(kept: Kept, verdicts: Sequence[tuple[Recalled, str]]) -> Iterator[bool]:
    """Yield, of each complaint that a session repeats of another, whether it was shown before."""
    known: set[str] = set()
    for session, calls in _calls(kept).items():
        shown = [(each.place, _said(each)) for each, _ in verdicts if each.session == session]
        mine: set[str] = set()
        for call in calls:
            said = complaint(call.command, call.output)
            if said in known and said not in mine:
                core = said[:_QUOTED]
                yield any(place <= call.place and core in words for place, words in shown)
            mine |= {said} - {""}
        known |= mine


def complaint(command: str, output: str) -> str:
    """Return the words with which a command could not run; "" if it did, as far as is known."""
    is_short = bool(command) and output.count("\n") <= _MOST_LINES
    found = _COMPLAINT.search(output) if is_short else None
    return found[0].strip() if found else ""


def _texts(answer: object) -> Iterator[object]:
    if isinstance(answer, dict):
        yield from (answer.get(name, "") for name in ("stdout", "stderr"))


def _about(each: Recalled, calls: Mapping[str, Sequence[Call]]) -> str:
    mine = (call for call in calls.get(each.session, ()) if call.place == each.place)
    return next((call.command or str(call.given.get("file_path", "")) for call in mine), "")


def _said(each: Recalled) -> str:
    if not each.printed.startswith("{"):
        return each.printed
    shown = msgspec.json.decode(each.printed)
    return str(shown.get("hookSpecificOutput", shown).get("additionalContext", ""))


def _verdict(each: Recalled, calls: Sequence[Call]) -> str:
    said = _said(each)
    here = next((call for call in calls if call.place == each.place), None)
    later = [call for call in calls if call.place > each.place]
    if here and (form := _FORM.search(said)):
        why = re.sub(r"\)?[.…]? #\d+$", "", form["why"]).rstrip(')".…')
        if why and why in here.output:
            return "fails so"
        works = any(_runs(call, form["works"], form["failed"]) for call in later)
        return "works so" if works and not here.has_failed else "wrong form"
    return "unjudged"


def _runs(call: Call, works: str, failed: str) -> bool:
    return works in call.command and failed not in call.command and not call.has_failed
