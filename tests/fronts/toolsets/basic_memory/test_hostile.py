"""Whatever a model sends, a tool answers or says what is wrong, and stays in its folder."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from observer.core.errors import ObserverError
from tests.fronts.toolsets.basic_memory.conftest import Folders

ODD = st.sampled_from(
    [
        "",
        "/",
        ".",
        "..",
        "../x.md",
        "/etc/passwd",
        "~/.ssh/id_rsa",
        ".git/config",
        "C:\\x",
        "a\0b",
        "memory://",
        "memory://*",
        "**/*",
        "[[x]]",
        "x" * 3_000,
        '"',
        "AND OR NOT (",
        "tag:",
        "people",
        "Ana Lind",
        "people/ana-lind.md",
    ]
)
TEXT = ODD | st.text(max_size=30)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)
CALLS: dict[str, dict[str, Any]] = {
    "write_note": {
        "title": TEXT,
        "content": TEXT,
        "directory": TEXT,
        "tags": JSON,
        "metadata": JSON,
    },
    "read_note": {"identifier": TEXT},
    "view_note": {"identifier": TEXT},
    "edit_note": {
        "identifier": TEXT,
        "operation": st.sampled_from(["append", "find_replace", "replace_section"]),
        "content": TEXT,
        "section": TEXT,
        "find_text": TEXT,
    },
    "move_note": {"identifier": TEXT, "destination_path": TEXT, "is_directory": st.booleans()},
    "delete_note": {"identifier": TEXT, "is_directory": st.booleans()},
    "read_content": {"path": TEXT},
    "list_directory": {"dir_name": TEXT, "file_name_glob": TEXT},
    "canvas": {"nodes": JSON, "edges": JSON, "title": TEXT, "directory": TEXT},
    "search_notes": {
        "query": TEXT,
        "search_type": st.sampled_from(["text", "title", "permalink", "hybrid"]),
        "metadata_filters": JSON,
        "tags": JSON,
        "after_date": TEXT,
    },
    "search_by_metadata": {"filters": JSON},
    "build_context": {"url": TEXT, "timeframe": TEXT | st.just("7d")},
    "recent_activity": {"type": JSON, "timeframe": TEXT | st.just("7d")},
    "delete_project": {"project_name": TEXT},
    "schema_validate": {"entity_type": TEXT, "identifier": TEXT},
    "schema_infer": {"entity_type": TEXT},
    "schema_diff": {"entity_type": TEXT},
    "search": {"query": TEXT},
    "fetch": {"id": TEXT},
}


@pytest.mark.parametrize("tool", CALLS)
def test_a_tool_answers_or_refuses(tool: str, folders: Folders, vault: Path) -> None:
    beside = vault.parent / "beside.md"
    beside.write_text("of somebody else\n")
    around = sorted(vault.parent.iterdir())

    @settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
    @given(st.fixed_dictionaries(CALLS[tool]))
    def law(arguments: dict[str, Any]) -> None:
        with suppress(ObserverError):
            folders.call(tool, **arguments)

    law()
    assert sorted(vault.parent.iterdir()) == around
    assert beside.read_text() == "of somebody else\n"
