"""The tools answer as Basic Memory 0.23.2 did when the calls were recorded, or differ on purpose.

A call in `tests/data/basic-memory/calls` that differs names its reason and has our answer beside
the recorded one; without ours, both say the same in another order.
"""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.tools.basic_memory.conftest import SAMPLES, Folders, lay_out

SCENARIOS = sorted(path.stem for path in (SAMPLES / "calls").glob("*.json"))
REASONS = tomllib.loads((SAMPLES / "reasons.toml").read_text())
WITH_FILES = ("content", "directory")


def calls_of(scenario: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((SAMPLES / "calls" / f"{scenario}.json").read_text())
    return found


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_answers_are_those_recorded(scenario: str, folders: Folders, tmp_path: Path) -> None:
    lay_out(folders, tmp_path, with_files=scenario in WITH_FILES)
    for call in calls_of(scenario):
        arguments = json.loads(json.dumps(call["arguments"]).replace("<home>", str(tmp_path)))
        ours = comparable(folders.said(call["tool"], **arguments), tmp_path)
        theirs = comparable(call["answer"])
        what = f"{call['tool']} {arguments}"
        if "ours" in call:
            assert ours == call["ours"], what
            assert ours != theirs, f"{what} does not differ any more"
        elif "differs" in call:
            assert unordered(ours) == unordered(theirs), what
        else:
            assert ours == theirs, what


def test_every_difference_has_a_reason() -> None:
    used = {call.get("differs") for scenario in SCENARIOS for call in calls_of(scenario)}
    assert used - {None} == set(REASONS)


def test_every_tool_was_called(folders: Folders) -> None:
    called = {call["tool"] for scenario in SCENARIOS for call in calls_of(scenario)}
    unrecorded = {"search_by_metadata", "canvas", "cloud_info", "release_notes"}
    assert set(folders.tools) == called | unrecorded, "the four are not in 0.23.2 any more"
    assert len(folders.tools) == 23
    destructive = [tool.name for tool in folders.tools.values() if tool.is_destructive]
    assert destructive == ["delete_note", "delete_project"]


VOLATILE = re.compile(r"(score|checksum|undo|\w*_id|external_id|generated_at|timeframe)\Z")
"""Fields of JSON that are not compared: numbers and ids of one run."""
PLACEHOLDERS = (
    (re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)?"), "<time>"),
    (re.compile(r"(?<=\| )\d{4}-\d\d-\d\d(?= \||\n|\Z)"), "<day>"),
    (re.compile(r"(?<=\d of )\d{4}-\d\d-\d\d(?=: | stands)"), "<day>"),
    (re.compile(r"(?<=- score: )\S+"), "<score>"),
    (re.compile(r"(?<=checksum: )\S+"), "<checksum>"),
    (re.compile(r"(?<=folder undo )\d+"), "<number>"),
    (re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"), "<uuid>"),
)


def comparable(answer: Any, home: Path | None = None) -> Any:
    """Return an answer without what differs between two runs; JSON as a value."""
    if isinstance(answer, str):
        text = answer.replace(str(home), "<home>") if home else answer
        for pattern, placeholder in PLACEHOLDERS:
            text = pattern.sub(placeholder, text)
        try:
            value = json.loads(text)
        except ValueError:
            return text.strip()
        return text.strip() if isinstance(value, str) else comparable(value)
    if isinstance(answer, list):
        return [comparable(each) if not isinstance(each, str) else _plain(each) for each in answer]
    if isinstance(answer, dict):
        return {
            name: comparable(each) if not isinstance(each, str) else _plain(each)
            for name, each in answer.items()
            if not VOLATILE.match(name)
        }
    return answer


def _plain(text: str) -> str:
    for pattern, placeholder in PLACEHOLDERS:
        text = pattern.sub(placeholder, text)
    return text


def unordered(answer: Any) -> Any:
    """Return a comparable answer so that the order of its parts does not matter."""
    if isinstance(answer, str):
        return sorted(answer.splitlines())
    if isinstance(answer, list):
        return sorted((unordered(each) for each in answer), key=json.dumps)
    if isinstance(answer, dict):
        return {
            name: each if isinstance(each, str) else unordered(each)
            for name, each in sorted(answer.items())
        }
    return answer
