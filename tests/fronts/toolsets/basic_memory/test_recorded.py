"""The tools answer as Basic Memory 0.23.2 did when the calls were recorded, or differ on purpose.

A call in `tests/data/basic-memory/calls` that differs names its reason and has our answer beside
the recorded one; without ours, both say the same in another order.
"""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.fronts.toolsets.basic_memory.conftest import SAMPLES, Folders, lay_out
from tests.fronts.toolsets.basic_memory.recorded import comparable, unordered

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
