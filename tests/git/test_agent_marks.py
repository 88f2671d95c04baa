"""What commits say of agents, in real repositories: notes, trailers, checkpoints, rewriting."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from observer.git.blame import AgentMark, AiSession, agent_marks, blame_lines, parse_note
from tests.support import Git


def agent(tool: str, name: str, model: str) -> AiSession:
    return AiSession(key=f"{tool}-key", tool=tool, id=name, model=model)


CLAUDE, CURSOR = agent("claude", "s-1", "opus"), agent("cursor", "s-2", "sonnet")


class Shop:
    """A repository with one file; each commit of an agent gets its note, as git-ai writes it."""

    def __init__(self, root: Path, git: Git) -> None:
        self.root, self._git, self._at_s = root, git, 1_790_000_000
        git(root, "init", "-q")
        self.commit("first\n", "begin")

    def git(self, *words: str, **named: Any) -> str:
        return self._git(self.root, *words, **named)

    def commit(self, text: str, message: str = "change", *, name: str = "cart.py") -> str:
        self._at_s += 60
        (self.root / name).write_text(text)
        self.git("add", "-A")
        date = f"{self._at_s} +0000"
        self.git("commit", "-qm", message, GIT_AUTHOR_DATE=date, GIT_COMMITTER_DATE=date)
        return self.git("rev-parse", "HEAD")

    def note(
        self, commit: str, session: AiSession, line: int, *, paths: tuple[str, ...] = ("cart.py",)
    ) -> None:
        named = {"tool": session.tool, "id": session.id, "model": session.model}
        said = json.dumps({"prompts": {session.key: {"agent_id": named}}})
        text = "".join(f"{path}\n  {session.key} {line}\n" for path in paths) + f"---\n{said}\n"
        self.git("notes", "--ref=ai", "add", "-f", "-F", "-", commit, stdin=text.encode())

    def marks(self, line: int) -> list[AgentMark]:
        (origin,) = blame_lines(str(self.root), "cart.py", first=line, last=line)
        return list(agent_marks(str(self.root), origin))


@pytest.fixture
def shop(tmp_path: Path, git: Git) -> Shop:
    return Shop(tmp_path / "shop", git)


def by(session: AiSession) -> list[AgentMark]:
    name = {"tool": session.tool, "session": session.id, "model": session.model}
    return [AgentMark(source="git-ai", lines=1, **name)]


@pytest.mark.measured
@pytest.mark.parametrize("paths", [("cart.py", "other.py"), ("other.py",)])
def test_a_note_says_who_wrote_a_line_of_its_files(shop: Shop, paths: tuple[str, ...]) -> None:
    shop.note(shop.commit("first\nsecond\nthird\n"), CLAUDE, 2, paths=paths)
    said = by(CLAUDE) if "cart.py" in paths else []
    assert (shop.marks(1), shop.marks(2), shop.marks(3)) == ([], said, [])


TRAILERS: dict[str, dict[str, Any] | None] = {
    "Co-Authored-By: Claude <x@example.com>": {"source": "co-authored-by", "tool": "Claude"},
    "Co-authored-by: Bob <bob@example.com>": None,
    "Assisted-by: some tool": {"source": "assisted-by", "tool": "some tool"},
    "Assisted-by: a:m-4 x": {"source": "assisted-by", "tool": "a", "model": "m-4"},
    "Entire-Checkpoint: ../../x": None,
    "Entire-Checkpoint: 0123456789ab": {"source": "entire", "checkpoint": "0123456789ab"},
}


@pytest.mark.parametrize("trailer", TRAILERS)
def test_trailers_name_agents(shop: Shop, trailer: str) -> None:
    shop.commit("first\nsecond\n", f"change\n\n{trailer}")
    said = TRAILERS[trailer]
    assert shop.marks(2) == ([AgentMark(**said)] if said else [])


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
    "sessions": {"s_c9883b05a2487d": {"agent_id": {"tool": "claude", "id": "s1", "model": "m1"}}},
    "prompts": {"abcd1234abcd1234": {"agent_id": {"tool": "cursor", "id": "c1"}}},
}


def test_a_note_says_who_wrote_which_lines() -> None:
    found = parse_note(NOTE + json.dumps(SAID))
    assert [(one.path, one.session.tool, one.first, one.last) for one in found] == [
        ("src/cart.py", "claude", 1, 10),
        ("src/cart.py", "claude", 15, 20),
        ("src/cart.py", "claude", 25, 25),
        ("src/größe 2.py", "cursor", 1, 2),
    ]


@pytest.mark.parametrize(
    ("note", "lines"),
    [
        ("", []),
        ("---\n", []),
        (NOTE, []),
        (f"{NOTE}[1]", []),
        (f'{NOTE}{{"prompts": [1], "sessions": {{"abcd": 7}}}}', []),
        ('  k 1-2\na.py\n  k 3,-,5-\n---\n{"prompts": {"k": {"agent_id": 7}}}', [("", 3)]),
    ],
)
def test_of_a_note_what_is_whole_is_read(note: str, lines: list[tuple[str, int]]) -> None:
    assert [(one.session.tool, one.first) for one in parse_note(note)] == lines
