"""The sessions of `scripts/record`, as clients kept them: they say what the hooks have said."""

from __future__ import annotations

import json
import re
import shutil
import sqlite3
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from contextlib import closing
from pathlib import Path

import pytest

from observer.importers.registry import SOURCES
from tests.importers.conftest import Filled, Memories

DATA = Path(__file__).parents[1] / "data"
SAMPLES = sorted(path.name for path in (DATA / "sessions").iterdir())

BETTER_KNOWN: Mapping[str, Collection[str]] = {
    "cline": {"prompt", "summary"},
    "copilot": {"reply", "summary"},
    "droid": {"prompt", "command", "file-write", "fix", "reply", "summary"},
}
"""Kinds of items of which files know more than hooks: prompts, words, and how commands ended."""
REPEATED: Mapping[str, Collection[str]] = {"copilot": ["reply"], "droid": ["reply"]}
"""What a client's hooks report without words, and is imported with them."""

Kept = Callable[[str], Path]


@pytest.fixture
def kept(tmp_path: Path) -> Kept:
    """Put the files of a client's session where an importer looks for them."""

    def copy(client: str) -> Path:
        home = tmp_path / "kept" / client
        source = SOURCES[client]
        if home.exists():
            return home / source.settings / source.sessions
        shutil.copytree(DATA / "sessions" / client, home)
        for script in home.rglob("*.sql"):
            with closing(sqlite3.connect(script.with_suffix(""))) as database:
                database.executescript(script.read_text(encoding="utf-8"))
            script.unlink()
        return home / source.settings / source.sessions

    return copy


def play(filled: Filled, client: str, first: int = 0, last: int | None = None) -> None:
    """Let hooks report a session, or a part of it, at its times."""
    recording = json.loads((DATA / "recorded" / f"{client}.json").read_text(encoding="utf-8"))
    for report in recording["reports"][first:last]:
        fields = {"client": client, "event": report["event"], "cwd": report["cwd"]}
        fields["at"] = str(report["at"])
        fields |= {f"env.{name}": value for name, value in report["env"].items()}
        filled.spool.append(fields, json.dumps(report["payload"]).encode())
    filled.live()


def said(filled: Filled, client: str) -> list[tuple[str, str, str]]:
    """Return what items say of what hooks and files both know: of a run not how long it took."""
    unsure = re.compile(r", took \d[\d.]* m?s| \(took \d[\d.]* m?s\)|(?<=commands) in \d[\d.]* m?s")
    codes = re.compile(r" \((?:exit \d+|failed)\)" if client == "codex" else r"(?!)")
    found = (
        (kind, title, codes.sub("", unsure.sub("", text))) for kind, title, text in filled.said()
    )
    return [one for one in found if one[0] not in BETTER_KNOWN.get(client, ())]


@pytest.mark.parametrize("client", SAMPLES)
def test_an_import_says_what_the_hooks_said(client: str, memory: Memories, kept: Kept) -> None:
    live, imported = memory("live"), memory("imported")
    play(live, client)
    imported.imported(kept(client), source=client)
    assert "fix" in {kind for kind, *_ in imported.said()}
    assert said(imported, client) == said(live, client)
    before = imported.kinds()
    assert imported.kinds()[0] == "session-start"
    assert not any(receipt.seq for receipt in imported.imported(kept(client), source=client))
    assert imported.kinds() == before


@pytest.mark.parametrize("client", SAMPLES)
def test_an_import_adds_what_no_hook_reported(client: str, memory: Memories, kept: Kept) -> None:
    live, imported = memory("live"), memory("imported")
    play(live, client)
    before = Counter(live.kinds())
    live.imported(kept(client), source=client)
    imported.imported(kept(client), source=client)
    more = Counter(live.kinds()) - before
    missed = Counter(imported.kinds()) - before
    assert more == missed + Counter(REPEATED.get(client, ()))
    assert set(more) <= {"session-end", *BETTER_KNOWN.get(client, ())}
