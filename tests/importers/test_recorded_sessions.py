"""The sessions of `scripts/record`, as clients kept them: they say what the hooks have said."""

from __future__ import annotations

import re
import sqlite3
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from contextlib import closing
from pathlib import Path

import pytest

from observer.core.events import Command, Prompt, SessionEnd, SessionStart
from observer.importers.source import Problems
from tests.importers.conftest import Filled, Memories, events_in
from tests.importers.recorded import SAMPLES, keep, reports

BETTER_KNOWN: Mapping[str, Collection[str]] = {
    "cline": {"prompt", "turn", "summary"},
    "copilot": {"reply", "turn", "summary"},
    "droid": {"prompt", "turn", "command", "file-write", "fix", "reply", "summary"},
}
"""Kinds of events and items of which files know more than hooks: words, how commands ended."""
REPEATED: Mapping[str, Collection[str]] = {"copilot": ["reply"], "droid": ["reply"]}
"""What a client's hooks report without words, and is imported with them."""

Kept = Callable[[str], Path]


@pytest.fixture
def kept(tmp_path: Path) -> Kept:
    """Put the files of a client's session where an importer looks for them."""
    return lambda client: keep(client, tmp_path / "kept" / client)


def play(filled: Filled, client: str, first: int = 0, last: int | None = None) -> None:
    """Let hooks report a session, or a part of it, at its times."""
    filled.hear(client, reports(client)[first:last])


def said(filled: Filled, client: str) -> list[tuple[str, str, str]]:
    """Return what items say of what hooks and files both know: of a run not how long it took."""
    unsure = re.compile(
        r", took \d[\d.]* m?s| \(took \d[\d.]* m?s\)|(?<=commands) in \d[\d.]* m?s"
        # Of a folder that is gone only the transcript says which branch was checked out.
        r"|\nNext: No commit known .*"
    )
    codes = re.compile(r" \((?:exit \d+|failed)\)" if client == "codex" else r"(?!)")
    found = (
        (kind, title, codes.sub("", unsure.sub("", text))) for kind, title, text in filled.said()
    )
    return [one for one in found if one[0] not in BETTER_KNOWN.get(client, ())]


@pytest.mark.parametrize("client", SAMPLES)
def test_an_import_says_what_the_hooks_said(client: str, memory: Memories, kept: Kept) -> None:
    """And adds what none of them reported, once."""
    live, imported = memory("live"), memory("imported")
    play(live, client)
    heard = Counter(live.kinds())
    imported.imported(kept(client), source=client)
    assert "fix" in {kind for kind, *_ in imported.said()}
    assert said(imported, client) == said(live, client)
    once = imported.kinds()
    assert once[0] == "session-start"
    assert not any(receipt.seq for receipt in imported.imported(kept(client), source=client))
    assert imported.kinds() == once
    live.imported(kept(client), source=client)
    more = Counter(live.kinds()) - heard
    assert more == Counter(once) - heard + Counter(REPEATED.get(client, ()))
    assert set(more) <= {"session-end", *BETTER_KNOWN.get(client, ())}


@pytest.mark.parametrize("client", SAMPLES)
def test_what_hooks_report_late_is_known_from_the_import(
    client: str, memory: Memories, kept: Kept
) -> None:
    """No daemon ran for a while: the import goes on beside what waited for it."""
    live, late = memory("live"), memory("late")
    play(live, client)
    live.imported(kept(client), source=client)
    late.imported(kept(client), source=client)
    play(late, client)
    assert Counter(late.kinds()) - Counter(live.kinds()) <= Counter(["session-end"])
    live.pipeline.rebuild()
    late.pipeline.rebuild()
    assert said(late, client) == said(live, client)


@pytest.mark.parametrize("client", SAMPLES)
def test_half_a_session_is_a_part_of_the_whole(client: str, kept: Kept) -> None:
    """A client may be writing, or have been killed: what it has written is imported."""
    folder = kept(client)
    whole = {event.id: event for event in events_in(client, folder)}
    (path,) = (
        path
        for path in folder.rglob("*")
        if path.name.endswith((".jsonl", ".messages.json", ".db"))
    )
    if path.suffix == ".db":
        with closing(sqlite3.connect(path)) as database, database:
            database.execute(
                "DELETE FROM message WHERE rowid > (SELECT max(rowid) / 2 FROM message)"
            )
    else:
        text = path.read_bytes()
        path.write_bytes(text[: len(text) // 2])
    problems = Problems()
    half = events_in(client, folder, problems=problems)
    kinds = [type(event.body) for event in half]
    if path.suffix == ".json":  # one object: nothing of it can be read before it is whole
        assert (kinds, problems.counts) == ([], {"corrupt line": 1})
        return
    assert kinds[0] is SessionStart
    assert Prompt in kinds
    assert Command in kinds
    assert kinds[-1] is SessionEnd
    assert all(whole[event.id] == event for event in half[:-1])
    assert set(problems.counts) <= {"unfinished last line"}


@pytest.mark.parametrize("client", SAMPLES)
def test_secrets_are_redacted(client: str, memory: Memories, kept: Kept) -> None:
    folder, imported = kept(client), memory("imported")
    key = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    for path in folder.rglob("*"):
        if path.suffix == ".db":
            with closing(sqlite3.connect(path)) as database, database:
                database.execute("UPDATE part SET data = replace(data, 'one too low', ?)", (key,))
        elif path.is_file():
            path.write_bytes(path.read_bytes().replace(b"one too low", key.encode()))
    imported.imported(folder, source=client)
    with imported.store.read() as reader:
        stored = repr(list(reader.log()))
    assert "[redacted:github-token]" in stored
    assert key not in stored
