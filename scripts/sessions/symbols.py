"""Which symbols the product names for each edit, against the whole file before and after."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import PurePath
from typing import NamedTuple

from observer.core.events import FileWrite
from observer.observations.analysis import analyze
from observer.observations.drafts import Where
from sessions.declarations import Touched, is_known, touched
from sessions.kept import Kept, call_key
from sessions.measures import Measure, Scored, count, line, share
from sessions.transcript import Json
from sessions.worktree import edited

_GROUP = "symbols"


class _Edit(NamedTuple):
    key: str
    path: str
    truth: Touched
    shown: frozenset[str]


def scored(kept: Kept) -> Scored:
    """Return how well the symbols of edits are named, by the language of the file."""
    edits = list(_edits(kept))
    by_language: dict[str, list[_Edit]] = defaultdict(list)
    for edit in edits:
        by_language[PurePath(edit.path).suffix].append(edit)
    measures: list[Measure] = [count(_GROUP, "edits", len(edits)), *_rates("", edits)]
    for suffix, found in sorted(by_language.items()):
        measures += _rates(f" {suffix}", found)
    return Scored(measures=tuple(measures), wrong=tuple(filter(None, map(_shown, edits))))


def _rates(suffix: str, edits: list[_Edit]) -> Iterator[Measure]:
    found: Counter[str] = Counter()
    for edit in edits:
        found["shown"] += len(edit.shown)
        found["right"] += len(edit.shown) - len(_wrong(edit))
        found["true"] += len(edit.truth.required)
        found["hit"] += len(edit.truth.required) - len(_missed(edit))
    yield share(_GROUP, f"precision{suffix}", found["right"], found["shown"])
    yield share(_GROUP, f"recall{suffix}", found["hit"], found["true"])


def _edits(kept: Kept) -> Iterator[_Edit]:
    for step in kept.calls("Edit", "Write"):
        payload = getattr(step.happened, "payload", {})
        path = payload["tool_input"].get("file_path", "")
        texts = texts_of(payload) if is_known(path) else None
        recorded = kept.event_of.get(call_key(step.session, payload["tool_use_id"]))
        if texts is None or recorded is None or not isinstance(recorded.event.body, FileWrite):
            continue
        where = Where(root=recorded.root, cwd=recorded.event.cwd)
        shown = analyze(recorded.event.body, where).change.symbols
        truth = touched(path, *texts)
        yield _Edit(payload["tool_use_id"], path, truth, frozenset(shown))


def texts_of(payload: Json) -> tuple[str, str] | None:
    """Return a file before and after, None where the transcript does not hold them."""
    response = payload.get("tool_response")
    if payload["hook_event_name"] != "PostToolUse" or not isinstance(response, dict):
        return None
    before = response.get("originalFile")
    if payload["tool_name"] == "Write":
        return before or "", payload["tool_input"].get("content", "")
    return None if before is None else (before, edited(before, payload["tool_input"]))


def _wrong(edit: _Edit) -> list[str]:
    """Return the names that are of nothing that changed; those of fields go by their type."""
    allowed = edit.truth.allowed | {name.rpartition(".")[2] for name in edit.truth.allowed}
    return [
        name
        for name in edit.shown
        if not ({name, name.rpartition(".")[0], name.rpartition(".")[2]} & allowed)
    ]


def _missed(edit: _Edit) -> list[str]:
    shown = {part for name in edit.shown for part in (name, name.rpartition(".")[2])}
    owners = {name.partition(".")[0] for name in edit.shown if "." in name}
    return [
        name
        for name in edit.truth.required
        if not {name, name.rpartition(".")[2]} & shown and name not in owners
    ]


def _shown(edit: _Edit) -> str:
    wrong, missed = sorted(_wrong(edit)), sorted(_missed(edit))
    if not (wrong or missed):
        return ""
    return line(f"{edit.key} {PurePath(edit.path).name} wrong: {wrong} missed: {missed}", 300)
