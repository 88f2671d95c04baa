"""What commits say of agents, in real repositories: notes, trailers, checkpoints, rewriting."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from observer.git.agent_marks import (
    MOST_SESSIONS,
    AgentMark,
    AiLines,
    AiSession,
    Contribution,
    Link,
    agent_marks,
    format_note,
    parse_note,
    session_key,
)
from observer.git.blame import blame_lines
from tests.support import Git


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


def by(session: AiSession, of: Link = "commit") -> list[AgentMark]:
    name = {"tool": session.tool, "session": session.id, "model": session.model}
    return [AgentMark(source="git-ai", lines=1, of=of, **name)]


@pytest.mark.measured
def test_a_note_says_who_wrote_a_line(shop: Shop) -> None:
    commit = shop.commit("first\nsecond\nthird\n")
    shop.note(commit, CLAUDE, 2)
    assert (shop.marks(1), shop.marks(2), shop.marks(3)) == ([], by(CLAUDE), [])


@pytest.mark.parametrize(
    ("paths", "of"),
    [
        pytest.param(("cart.py", "other.py"), "commit", id="two files"),
        pytest.param(("other.py",), None, id="another file"),
    ],
)
@pytest.mark.parametrize("is_amended", [False, True])
def test_a_note_speaks_of_its_files_alone(
    shop: Shop, paths: tuple[str, ...], of: Link | None, *, is_amended: bool
) -> None:
    shop.note(shop.commit("first\nsecond\n"), CLAUDE, 2, paths=paths)
    if is_amended:
        _amend(shop)
    assert shop.marks(2) == ([] if of is None else by(CLAUDE, "file" if is_amended else of))


def _amend(shop: Shop) -> None:
    shop.git("commit", "-q", "--amend", "-m", "another message")


def _rebase(shop: Shop) -> None:
    """Onto a commit that moved the lines of the file."""
    shop.git("checkout", "-q", "-b", "side", "HEAD~2")
    shop.commit("zero\nfirst\n", "before")
    shop.git("checkout", "-q", "main")
    shop.git("rebase", "-q", "--onto", "side", "main~2", "main")


def _squash(shop: Shop) -> None:
    shop.git("reset", "-q", "--soft", "HEAD~2")
    shop.git("commit", "-qm", "both")


@pytest.mark.parametrize(
    ("rewrite", "of"),
    [
        pytest.param(_amend, ("commit", "file"), id="amend"),
        pytest.param(_squash, ("text", "file"), id="squash"),
        pytest.param(_rebase, ("change", "change"), id="rebase"),
    ],
)
def test_a_note_is_found_again_when_its_commit_was_rewritten(
    shop: Shop, rewrite: Callable[[Shop], None], of: tuple[Link, Link]
) -> None:
    """Whoever rewrote it had no git-ai."""
    shop.note(shop.commit("first\nsecond\n"), CLAUDE, 2)
    shop.note(shop.commit("first\nsecond\nthird\n"), CURSOR, 3)
    rewrite(shop)
    lines = (shop.root / "cart.py").read_text().splitlines()
    second, third = (lines.index(text) + 1 for text in ("second", "third"))
    found = shop.marks(second), shop.marks(third)
    assert found[1] == by(CURSOR, of[1])
    assert found[0] == by(CLAUDE, of[0])


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


@pytest.mark.parametrize("more", [0, MOST_SESSIONS])
def test_a_checkpoint_names_its_sessions(shop: Shop, more: int) -> None:
    said = {"session_id": "2026-02-12-abc", "agent": "Claude Code"}
    shop.git("checkout", "-q", "--orphan", "entire/checkpoints/v1")
    folder = shop.root / "01" / "23456789ab"
    texts = [json.dumps(said), "[]", "{broken", '{"session_id": 1}']
    for number, text in enumerate(texts + ["[]"] * more):
        (folder / str(number)).mkdir(parents=True)
        (folder / str(number) / "metadata.json").write_text(text)
    shop.git("add", "-A")
    shop.git("commit", "-qm", "checkpoint")
    shop.git("checkout", "-q", "main")
    shop.commit("first\nsecond\n", "change\n\nEntire-Checkpoint: 0123456789ab")
    (mark,) = shop.marks(2)
    assert (mark.tool, mark.session, mark.checkpoint) == ("Claude Code", "abc", "0123456789ab")


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
