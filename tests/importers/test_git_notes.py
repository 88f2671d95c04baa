"""What other tools keep of sessions in a repository is imported: Entire's checkpoints, git-ai."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from observer.core.config import Settings
from observer.core.events import Custom, Event, FileWrite, Prompt
from observer.core.routes import is_from_repository
from observer.git import objects
from observer.git.agent_marks import AiLines, ai_notes, parse_note
from observer.importers.jsonl import Problems
from observer.importers.registry import sources
from observer.importers.shelf import checkpoints, git_ai
from observer.importers.source import SessionSource
from tests.importers.conftest import Memories
from tests.importers.played import fixed_bug

AT_S = 1_780_000_000
Git = Callable[..., str]


@pytest.fixture
def git(shop: Path) -> Git:
    """Run git in the repository."""

    def run(*words: str, given: str | bytes = b"") -> str:
        data = given.encode() if isinstance(given, str) else given
        date = f"{AT_S} +0000"
        environ = {**os.environ, "GIT_COMMITTER_DATE": date, "GIT_AUTHOR_DATE": date}
        start = ["git", "-C", str(shop), "-c", "user.name=Ana", "-c", "user.email=a@example.com"]
        ran = subprocess.run(
            [*start, *words], check=True, capture_output=True, input=data, env=environ, timeout=60
        )
        return ran.stdout.decode().strip()

    run("init", "-q")
    run("commit", "-q", "--allow-empty", "-m", "One")
    return run


def keep(git: Git, ref: str, files: dict[str, bytes]) -> None:
    """Make a commit of files at a ref, without touching the work tree."""
    rows = []
    for path, data in files.items():
        blob = git("hash-object", "-w", "--stdin", given=data)
        rows.append(f"100644 {blob}\t{path}\n")
    git("read-tree", "--empty")
    git("update-index", "--index-info", given="".join(rows))
    git("update-ref", ref, git("commit-tree", "-m", "checkpoint", git("write-tree")))
    git("read-tree", "HEAD")


def events_in(source: SessionSource, root: Path, problems: Problems | None = None) -> list[Event]:
    problems = problems or Problems()
    found = source.find(source.paths({}, [str(root)]), problems)
    return [event for one in found for event in source.read(one, Settings(), problems)]


HEXADECIMAL, ULID = "a1/b2c3d4e5f6", "01/J8ZQ4KX2N7P0R5T9VWYBCDEF"


@pytest.mark.parametrize(
    ("ref", "name"),
    [
        pytest.param("refs/heads/entire/checkpoints/v1", f"{HEXADECIMAL}/0/full.jsonl", id="v1"),
        pytest.param(
            "refs/remotes/origin/entire/checkpoints/v1", f"{ULID}/0/full.jsonl", id="of a remote"
        ),
        pytest.param(
            "refs/entire/checkpoints/v2/full/current", f"{ULID}/3/raw_transcript", id="v2"
        ),
    ],
)
def test_a_checkpoint_says_what_its_transcript_says(
    memory: Memories, git: Git, shop: Path, ref: str, name: str
) -> None:
    """In parts too; of a colleague's folder it is in this repository."""
    played = fixed_bug(shop.parent / "elsewhere")
    lines = played.lines()
    earlier, half = b"".join(lines[:3]), len(lines) // 2
    keep(
        git,
        ref,
        {
            name: b"".join(lines[:half]),
            f"{name}.001": b"".join(lines[half:]),
            name.replace(name.split("/")[1], "0" * 10): earlier,
            "ab/readme.txt": b"no transcript",
            "metadata.json": b"{}",
        },
    )
    direct, kept = memory("direct"), memory("kept")
    direct.imported(fixed_bug(shop).write(shop.parent / "transcripts"))
    kept.imported(shop / ".git", source="entire")
    assert kept.said() == direct.said()
    events = kept.kinds()
    assert {item.project_id for item in kept.items()} != {1}
    kept.imported(shop / ".git", source="entire")
    assert kept.kinds() == events
    writes = [
        one for one in events_in(checkpoints.SOURCES[0], shop) if isinstance(one.body, FileWrite)
    ]
    assert [one.body.path for one in writes if isinstance(one.body, FileWrite)] == [
        str(shop / "cart.py")
    ]


CALL = {"id": "c1", "name": "Edit", "input": {"path": "/away/cart.py"}}
EXPORT = {
    "info": {"id": "s1", "directory": "/away", "time": {"created": 1000 * AT_S, "updated": 9}},
    "messages": [
        {
            "info": {"id": "m1", "role": "user", "time": {"created": 1000 * AT_S}},
            "parts": [{"type": "text", "text": "why?"}],
        },
        {
            "info": {"id": "m2", "role": "assistant", "time": {"created": 1000 * AT_S + 1}},
            "parts": [
                {
                    "type": "tool",
                    "tool": "edit",
                    "callID": "c1",
                    "state": {"status": "completed", "input": {"filePath": "/away/cart.py"}},
                }
            ],
        },
    ],
}
STAMP = "2026-05-28T20:26:40.000Z"


def rows(*records: dict[str, object]) -> bytes:
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


def message(role: str, **fields: object) -> dict[str, object]:
    return {"type": "message", "id": role, "timestamp": STAMP, "message": {"role": role, **fields}}


TEXT = [{"type": "text", "text": "why?"}]
DROID = rows(
    {"type": "session_start", "id": "s1", "cwd": "/away"},
    message("user", content=TEXT),
    message(
        "assistant", content=[{"type": "tool_use", **CALL, "input": {"file_path": "/away/cart.py"}}]
    ),
    message("user", content=[{"type": "tool_result", "tool_use_id": "c1", "content": "done"}]),
)
PI = rows(
    {"type": "session", "id": "s1", "cwd": "/away", "timestamp": STAMP},
    message("user", content=TEXT),
    message(
        "assistant",
        content=[{"type": "toolCall", "id": "c1", "name": "edit", "arguments": CALL["input"]}],
    ),
    message("toolResult", toolCallId="c1", toolName="edit", content=TEXT),
)
CURSOR = rows(
    {
        "role": "user",
        "message": {"content": [{"type": "text", "text": "<user_query>why?</user_query>"}]},
    },
    {
        "role": "assistant",
        "message": {"content": [{"type": "tool_use", **CALL, "name": "StrReplace"}]},
    },
)
GEMINI = {
    "sessionId": "s1",
    "startTime": STAMP,
    "messages": [
        {"id": "m1", "type": "user", "timestamp": STAMP, "content": "why?"},
        {
            "id": "m2",
            "type": "gemini",
            "timestamp": STAMP,
            "content": "",
            "toolCalls": [
                {
                    "id": "c1",
                    "name": "replace",
                    "status": "success",
                    "args": {"file_path": "/away/cart.py"},
                    "result": [],
                }
            ],
        },
    ],
}


@pytest.mark.parametrize(
    ("client", "data"),
    [
        pytest.param("opencode", json.dumps(EXPORT, indent=2).encode(), id="opencode"),
        pytest.param("opencode", json.dumps(EXPORT).encode(), id="opencode on one line"),
        pytest.param(
            "opencode",
            json.dumps({**EXPORT, "info": {"id": "s1", "createdAt": 1000 * AT_S}}).encode(),
            id="opencode without folder and end",
        ),
        pytest.param("droid", DROID, id="droid"),
        pytest.param("pi", PI, id="pi"),
        pytest.param("cursor", CURSOR, id="cursor"),
        pytest.param("gemini", json.dumps(GEMINI, indent=2).encode(), id="gemini"),
    ],
)
def test_a_checkpoint_may_be_of_any_client(git: Git, shop: Path, client: str, data: bytes) -> None:
    """Files of another machine are those of this repository, even if no folder is named."""
    (shop / "cart.py").write_text("total = 1\n")
    git("add", "cart.py")
    git("commit", "-q", "-m", "Two")
    about = {"session_id": "2026-05-28-s1", "created_at": STAMP}
    files = {f"{HEXADECIMAL}/0/full.jsonl": data}
    files[f"{HEXADECIMAL}/0/metadata.json"] = json.dumps(about).encode()
    keep(git, "refs/heads/entire/checkpoints/v1", files)
    problems = Problems()
    found = events_in(checkpoints.SOURCES[0], shop, problems)
    assert {(one.client, one.session, one.cwd) for one in found} == {(client, "s1", str(shop))}
    (write,) = [one.body for one in found if isinstance(one.body, FileWrite)]
    assert write.path == str(shop / "cart.py")
    assert [one.body.text for one in found if isinstance(one.body, Prompt)] == ["why?"]
    assert all(map(is_from_repository, found))
    assert all(abs(one.at_ms - 1000 * AT_S) < 60_000 for one in found)
    assert problems.counts == {}


def test_a_checkpoint_has_the_sub_agents_of_its_session(git: Git, shop: Path) -> None:
    played = fixed_bug(shop)
    agent = played.records[-1] | {"isSidechain": True, "agentId": "a1", "type": "assistant"}
    agent |= {"uuid": "side", "message": {"content": [{"type": "text", "text": "seen"}]}}
    name = f"{HEXADECIMAL}/0/tasks/toolu_1/agent-a1.jsonl"
    files = {f"{HEXADECIMAL}/0/full.jsonl": b"".join(played.lines()), name: rows(agent)}
    keep(git, "refs/heads/entire/checkpoints/v1", files)
    found = events_in(checkpoints.SOURCES[0], shop)
    assert "a1" in {one.agent.rpartition("/")[2] for one in found}


def test_a_transcript_of_no_known_format_is_counted(git: Git, shop: Path) -> None:
    keep(git, "refs/heads/entire/checkpoints/v1", {f"{HEXADECIMAL}/0/full.jsonl": b"{broken\n\0"})
    problems = Problems()
    assert events_in(checkpoints.SOURCES[0], shop, problems) == []
    assert problems.counts == {"transcript of an unknown format": 1}
    (missing,) = git("ls-tree", "-r", "refs/heads/entire/checkpoints/v1").splitlines()
    blob = missing.split()[2]
    (shop / ".git/objects" / blob[:2] / blob[2:]).unlink()
    problems = Problems()
    assert events_in(checkpoints.SOURCES[0], shop, problems) == []
    assert problems.counts == {"checkpoint without its transcript": 1}


NOTE = """\
src/cart.py
  s_c9883b05a2487d::t_9f8e7d6c5b4a32 1-10,15-20
  s_c9883b05a2487d::t_a1b2c3d4e5f678 25
  h_31dce776f88375 42-50
"src/größe 2.py"
  abcd1234abcd1234 1-2
  unheard 3
---
"""
SAID = {
    "schema_version": "authorship/3.0.0",
    "humans": {"h_31dce776f88375": {"author": "Ana <a@example.com>"}},
    "sessions": {
        "s_c9883b05a2487d": {"agent_id": {"tool": "claude", "id": "s1", "model": "m1"}},
    },
    "prompts": {
        "abcd1234abcd1234": {
            "agent_id": {"tool": "cursor", "id": "c1"},
            "human_author": "Ana <a@example.com>",
            "messages": [
                {"type": "user", "text": "why?", "timestamp": "2026-05-28T20:26:30Z"},
                {"type": "assistant", "text": "The cart rounds twice."},
                {"type": "tool_use", "name": "edit", "input": {}},
            ],
        },
    },
}


def test_a_note_says_who_wrote_which_lines() -> None:
    note = parse_note(NOTE + json.dumps(SAID))
    assert note.lines == (
        AiLines("src/cart.py", "s_c9883b05a2487d", 1, 10),
        AiLines("src/cart.py", "s_c9883b05a2487d", 15, 20),
        AiLines("src/cart.py", "s_c9883b05a2487d", 25, 25),
        AiLines("src/größe 2.py", "abcd1234abcd1234", 1, 2),
    )
    session = note.session_of("abcd1234abcd1234")
    assert session is not None
    assert (session.tool, session.id, session.author) == ("cursor", "c1", "Ana <a@example.com>")
    assert note.session_of("h_31dce776f88375") is None


@pytest.mark.parametrize(
    "note",
    ["", "---\n", NOTE, f"{NOTE}[1]", f'{NOTE}{{"prompts": [1], "sessions": {{"abcd": 7}}}}'],
)
def test_a_note_that_is_damaged_says_less(note: str) -> None:
    assert parse_note(note) == parse_note("")


def test_of_a_note_what_is_whole_is_read() -> None:
    rows = "  k 1-2\nsrc/cart.py\n  k 3,-,5-\n---\n"
    said = {"prompts": {"k": {"agent_id": 7, "messages": [7, {"type": "user"}]}}}
    note = parse_note(rows + json.dumps(said))
    assert note.lines == (AiLines("src/cart.py", "k", 3, 3),)
    assert [(one.tool, one.messages) for one in note.sessions] == [("", ())]


def test_of_objects_those_are_read_that_there_are(
    git: Git, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """None stands for one that is missing, and for one that is too large."""
    small, large = (git("hash-object", "-w", "--stdin", given=data) for data in ("x", "y" * 20))
    monkeypatch.setattr(objects, "BLOB_BYTES", 10)
    asked = ["0" * 40, large, small]
    assert list(objects.contents(str(shop), asked)) == [
        ("0" * 40, None),
        (large, None),
        (small, b"x"),
    ]


@pytest.mark.measured
def test_notes_are_read_from_a_repository(memory: Memories, git: Git, shop: Path) -> None:
    head = git("rev-parse", "HEAD")
    git("notes", "--ref=ai", "add", "-F", "-", head, given=NOTE + json.dumps(SAID))
    gone = git("hash-object", "-w", "--stdin", given="x")
    git("notes", "--ref=ai", "add", "-m", "no note of git-ai", gone)
    assert dict(ai_notes(str(shop)))[head] == parse_note(NOTE + json.dumps(SAID))
    problems = Problems()
    first, prompt, reply, last = events_in(git_ai.SOURCES[0], shop, problems)
    assert (first.client, first.session, first.model) == ("claude-code", "s1", "m1")
    assert first.body == Custom(
        name="attribution",
        text=f"claude (m1) wrote 17 lines of src/cart.py in commit {head[:10]}",
        files=("src/cart.py",),
    )
    assert prompt.body == Prompt(text="why?")
    assert (prompt.at_ms, reply.at_ms) == (1000 * (AT_S - 1) - 9_000, 1000 * AT_S)
    assert last.client == "cursor"
    assert all(map(is_from_repository, (first, prompt, reply, last)))
    assert problems.counts == {"note of a commit that is gone": 1}
    filled = memory("notes")
    for _ in range(2):
        filled.imported(shop / ".git", source="git-ai")
        types = [item.type for item in filled.items()]
        assert (types.count("attribution"), types.count("turn")) == (2, 1)


def test_a_folder_without_a_repository_has_none(shop: Path) -> None:
    for name in ("entire", "git-ai"):
        assert events_in(sources()[name], shop) == []
        assert sources()[name].find([shop / ".git"], Problems()) == []
