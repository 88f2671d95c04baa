"""What commits say of agents, in real repositories: notes, trailers, checkpoints, rewriting."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from observer.git.agent_marks import (
    AgentMark,
    AiLines,
    AiSession,
    Contribution,
    agent_marks,
    format_note,
    parse_note,
    session_key,
)
from observer.git.blame import blame_lines

Git = Callable[..., str]


def agent(tool: str, name: str, model: str) -> AiSession:
    return AiSession(key=session_key(tool, name), tool=tool, id=name, model=model)


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
        lines = [AiLines(path, session.key, line, line) for path in paths]
        made = [Contribution(session=session, accepted=1, added=1, removed=0)]
        text = format_note(commit, lines, made)
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
def test_a_note_says_who_wrote_a_line(shop: Shop) -> None:
    commit = shop.commit("first\nsecond\nthird\n")
    shop.note(commit, CLAUDE, 2)
    assert (shop.marks(1), shop.marks(2), shop.marks(3)) == ([], by(CLAUDE), [])


@pytest.mark.parametrize("paths", [("cart.py", "other.py"), ("other.py",)])
def test_a_note_speaks_of_its_files_alone(shop: Shop, paths: tuple[str, ...]) -> None:
    shop.note(shop.commit("first\nsecond\n"), CLAUDE, 2, paths=paths)
    assert shop.marks(2) == (by(CLAUDE) if "cart.py" in paths else [])


@pytest.mark.parametrize(
    ("trailer", "mark"),
    [
        pytest.param(
            "Co-Authored-By: Claude Opus <noreply@example.com>",
            AgentMark(source="co-authored-by", tool="Claude Opus"),
            id="an agent",
        ),
        pytest.param("Co-authored-by: Bob <bob@example.com>", None, id="a person"),
        pytest.param(
            "Assisted-by: Claude:opus-4 coccinelle",
            AgentMark(source="assisted-by", tool="Claude", model="opus-4"),
            id="a model",
        ),
        pytest.param(
            "Assisted-by: some tool", AgentMark(source="assisted-by", tool="some tool"), id="a tool"
        ),
        pytest.param("Entire-Checkpoint: ../../x", None, id="no checkpoint"),
        pytest.param(
            "Entire-Checkpoint: 0123456789ab",
            AgentMark(source="entire", checkpoint="0123456789ab"),
            id="a checkpoint that is not here",
        ),
    ],
)
def test_trailers_name_agents(shop: Shop, trailer: str, mark: AgentMark | None) -> None:
    shop.commit("first\nsecond\n", f"change\n\n{trailer}")
    assert shop.marks(2) == [mark] * (mark is not None)


@given(
    st.dictionaries(
        st.text(st.characters(exclude_characters='"', exclude_categories=["C", "Z"]), min_size=1),
        st.lists(st.tuples(st.integers(1, 10**6), st.integers(0, 99)), min_size=1, max_size=9),
        max_size=4,
    )
)
def test_a_note_is_read_as_it_was_written(files: dict[str, list[tuple[int, int]]]) -> None:
    lines = tuple(
        AiLines(path, CLAUDE.key, first, first + more)
        for path, spans in files.items()
        for first, more in spans
    )
    made = [Contribution(session=CLAUDE, accepted=1, added=1, removed=0)]
    note = parse_note(format_note("c", lines, made))
    assert (note.lines, note.sessions) == (lines, (CLAUDE,))
