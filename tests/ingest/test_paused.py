"""What happened in a pause, in a path left out or to observer itself is in no byte of the store."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from legible import legible

from observer.core.config import Settings
from observer.core.events import (
    AnyBody,
    Command,
    Commit,
    Event,
    FileWrite,
    Intent,
    Prompt,
    Remember,
    kind_of,
)
from observer.core.paths import Home
from observer.importers.source import commits
from observer.ingest.pipeline import Pipeline
from observer.ingest.prefetch import PrefetchRequest, pages
from observer.ingest.prepare import strip_self_commands
from observer.local.pauses import EVERYWHERE, UNENDING_MS
from observer.local.spool import Spool
from observer.projects import PlaceCache, detect_place
from observer.store.interface import Store
from tests.ingest.conftest import Make, Post, drained, log_of
from tests.support import Git

NOW_MS = 1_790_000_000_000


def prompts(pipeline: Pipeline, store: Store) -> list[str]:
    return [body.text for body in bodies(pipeline, store) if isinstance(body, Prompt)]


def bodies(pipeline: Pipeline, store: Store) -> list[Any]:
    drained(pipeline)
    return [event.body for event in log_of(store)]


def ask(post: Post, text: str, *, at_ms: int, **given: Any) -> None:
    post("UserPromptSubmit", {"prompt": text} | given, at=str(at_ms))


def test_what_happened_during_a_pause_is_left_out_afterwards(
    pipeline: Pipeline, store: Store, spool: Spool, post: Post
) -> None:
    for number, at_ms in enumerate((NOW_MS - 90, NOW_MS - 50, NOW_MS - 10)):
        ask(post, f"{number}", at_ms=at_ms)
    spool.pauses.begin([EVERYWHERE], from_ms=NOW_MS - 60, until_ms=UNENDING_MS)
    spool.pauses.end(None, now_ms=NOW_MS - 20)
    assert prompts(pipeline, store) == ["0", "2"]


def test_a_pause_of_one_project_or_session_leaves_the_others_be(
    pipeline: Pipeline, store: Store, spool: Spool, post: Post, folder: Path, tmp_path: Path
) -> None:
    spool.pauses.begin([str(folder), "session=s2"], from_ms=0, until_ms=UNENDING_MS)
    ask(post, "here", at_ms=NOW_MS)
    ask(post, "hidden", at_ms=NOW_MS, cwd=str(tmp_path), session_id="s2")
    ask(post, "there", at_ms=NOW_MS, cwd=str(tmp_path))
    edit = {"file_path": f"{folder}/a.py", "old_string": "a", "new_string": "b"}
    post("PostToolUse", {"tool_name": "Edit", "tool_input": edit, "session_id": "s2"})
    assert prompts(pipeline, store) == ["there"]
    withheld = spool.pauses.withheld(from_ms=0, to_ms=NOW_MS)
    assert [path for path, _ in withheld] == [f"{folder}/a.py"]


def test_what_a_front_reports_is_left_out_but_what_is_shown_on_purpose_is_not(
    pipeline: Pipeline, store: Store, spool: Spool, folder: Path
) -> None:
    spool.pauses.begin([EVERYWHERE], from_ms=NOW_MS, until_ms=UNENDING_MS)
    shown = [FileWrite(path="a.py", operation="write"), Remember(content="Use Decimal.")]
    pipeline.ingest(
        [
            Event(id=f"{number}", at_ms=1, client="x", cwd=str(folder), body=body)
            for number, body in enumerate(shown)
        ]
    )
    assert [type(body) for body in bodies(pipeline, store)] == [Remember]


def subjects(found: list[Any]) -> list[str]:
    return [body.subject for body in found if isinstance(body, Commit)]


@pytest.mark.measured
def test_commits_made_during_a_pause_are_not_read_as_backlog(
    pipeline: Pipeline, store: Store, spool: Spool, shop: Path, git: Git
) -> None:
    made_ms = 1_700_000_101_000
    spool.pauses.begin([str(shop)], from_ms=made_ms, until_ms=made_ms + 1_000)
    git(shop, "merge", "-q", "--no-ff", "-m", "Merge", "theirs")
    assert subjects(bodies(pipeline, store)) == ["t0", "t2", "Merge"]


def test_commits_of_a_pause_are_imported_on_purpose_and_reach_nothing_else(
    pipeline: Pipeline, store: Store, spool: Spool, shop: Path, git: Git
) -> None:
    spool.pauses.begin([str(shop)], from_ms=0, until_ms=NOW_MS - 1)
    pipeline.ingest(list(commits(detect_place(str(shop)).root)))
    assert subjects(bodies(pipeline, store)) == ["Begin"]
    spool.pauses.begin([str(shop)], from_ms=0, until_ms=UNENDING_MS)
    git(shop, "commit", "-q", "--allow-empty", "-m", "Hidden")
    spool.pauses.end(None, now_ms=NOW_MS * 2)
    git(shop, "checkout", "-q", "theirs")
    assert "Hidden" not in subjects(bodies(pipeline, store))


CANARY = "xylophone-9417"


@pytest.fixture
def excluding(tmp_path: Path, git: Git) -> Path:
    """A repository of two commits, each with a file that is to be excluded."""
    root = tmp_path / "work" / "shop"
    git(root, "init", "-q")
    (root / "secrets").mkdir()
    for number in range(2):
        (root / "secrets" / f"{CANARY}.txt").write_text(f"{CANARY} {number}\n")
        (root / "main.py").write_text(f"total = {number}\n")
        git(root, "add", ".")
        git(root, "commit", "-q", "-m", f"Step {number}")
    return root


def restrict(root: Path, text: str) -> None:
    (root / ".observer.toml").write_text(text)


def tool(name: str, output: Any = "", **given: Any) -> dict[str, Any]:
    return {"tool_name": name, "tool_input": given, "tool_response": output}


@pytest.fixture
def work(post: Post, excluding: Path) -> Callable[[], None]:
    """Report one call of each kind of tool, on an excluded file and on another one."""

    def report() -> None:
        where = {"cwd": str(excluding)}
        for path in (f"{excluding}/secrets/{CANARY}.txt", f"{excluding}/main.py"):
            edit = {"file_path": path, "old_string": CANARY, "new_string": "x"}
            post("PostToolUse", tool("Edit", **edit) | where)
            post("PostToolUse", tool("Write", file_path=path, content=path) | where)
            post("PostToolUse", tool("Read", file_path=path, output=CANARY) | where)
            post("PostToolUse", tool("Bash", {"stdout": path}, command=f"cat {path}") | where)
            post("PostToolUse", tool("Grep", path, pattern="x", path=path) | where)

    return report


def held(home: Home, text: str) -> list[str]:
    """Return the files of the home that hold a text."""
    wanted = text.encode()
    return [
        str(file) for file in home.root.rglob("*") if file.is_file() and wanted in legible(file)
    ]


def test_hooks_leave_nothing_of_an_excluded_file(
    pipeline: Pipeline, store: Store, home: Home, excluding: Path, work: Callable[[], None]
) -> None:
    restrict(excluding, 'exclude = ["secrets/"]')
    work()
    # The old text of an edit of another file is that file's.
    kinds = [kind_of(body) for body in bodies(pipeline, store)]
    assert kinds == ["file-write", "file-write", "file-read", "command", "search"]
    store.close()
    assert held(home, f"secrets/{CANARY}") == []


def test_a_history_is_imported_and_reported_without_excluded_files(
    pipeline: Pipeline, store: Store, home: Home, spool: Spool, excluding: Path, git: Git
) -> None:
    restrict(excluding, 'never = ["commit"]')
    pipeline.ingest(list(commits(str(excluding))))
    assert log_of(store) == []
    restrict(excluding, 'exclude = ["secrets/"]')
    (first, _) = list(commits(str(excluding)))
    pipeline.ingest([first])
    head = git(excluding, "rev-parse", "HEAD").strip()
    shown = {"client": "git", "event": "post-commit", "cwd": str(excluding), "env.git.head": head}
    spool.append(shown | {"env.git.dir": f"{excluding}/.git", "env.git.action": "commit"}, b"")
    found = [body for body in bodies(pipeline, store) if isinstance(body, Commit)]
    assert [[file.path for file in body.files] for body in found] == [["main.py"], ["main.py"]]
    store.close()
    assert held(home, CANARY) == []


def test_nothing_is_recorded_until_a_policy_can_be_used(
    pipeline: Pipeline, store: Store, excluding: Path, work: Callable[[], None]
) -> None:
    restrict(excluding, 'exclude = ["secrets/"]\nnever = 1')
    work()
    assert bodies(pipeline, store) == []
    assert pipeline.restricted() == [str(excluding)]
    restrict(excluding, "")
    work()
    assert len(bodies(pipeline, store)) == 10


def test_a_backlog_that_is_read_ahead_is_under_the_policy_too(
    home: Home, excluding: Path, work: Callable[[], None]
) -> None:
    restrict(excluding, 'exclude = ["secrets/"]')
    work()
    found = list(pages(PrefetchRequest(str(home.spool), Settings(), frozenset())))
    assert [len(line.events) for page in found for line in page.lines] == [0] * 5 + [1] * 5


def test_a_project_is_called_what_its_policy_says(
    make_pipeline: Make, store: Store, excluding: Path, work: Callable[[], None]
) -> None:
    for text, name, earlier in [
        ("", "shop", ()),
        ('name = "acme"', "acme", ("shop",)),
        ("", "acme", ("shop",)),
    ]:
        restrict(excluding, text)
        work()
        drained(make_pipeline(places=PlaceCache()))
        with store.read() as reader:
            project = reader.projects()[-1]
        assert (project.name, project.earlier_names) == (name, earlier)


def an_event(body: AnyBody) -> Event:
    return Event(id="e", at_ms=1, client="bash", body=body)


def kept(command: str, output: str = "", description: str = "") -> Command:
    shown = Command(command=command, output=output, description=description)
    body = strip_self_commands(an_event(shown)).body
    assert isinstance(body, Command)
    return body


@pytest.mark.parametrize(
    ("typed", "stays"),
    [
        ('observer remember "zebra is" --type fact', "observer remember …"),
        ("observer note edit 12 zebra", "observer note …"),
        ('observer forget "zebra"', "observer forget …"),
        ("observer purge --text zebra --yes", "observer purge …"),
        ("observer --json remember zebra", "observer --json remember …"),
        ("observer \\\n  remember zebra", "observer \\\n  remember …"),
        ("OBSERVER_HOME='/x y' observer remember zebra", None),
        ("~/.local/bin/observer remember zebra", "~/.local/bin/observer remember …"),
        ("python3.11 -X dev -m observer remember zebra", None),
        ("uvx observer-memory@1.2 remember zebra", "uvx observer-memory@1.2 remember …"),
        ("uvx --from observer-memory observer remember zebra", None),
        ("pipx run --spec observer-memory observer remember zebra", None),
        ("uv run --directory /x observer remember zebra", None),
        ("sudo -u bob timeout 5s observer remember zebra", None),
        ("if true; then observer remember zebra; fi", "if true; then observer remember …; fi"),
        ("make && observer remember 'zebra; y' && ls", "make && observer remember … && ls"),
        ("observer remember zebra 2>&1 | tail", "observer remember … | tail"),
        ("observer remember 'don\\'t; zebra'", "observer remember …"),
        ("observer remember zebra; ls", "observer remember …; ls"),
        ("echo zebra | observer remember -", "observer remember …"),
        ("cat <<EOF | observer remember - --type rule\nzebra\nEOF", "observer remember …"),
        ("observer remember - <<EOF\nit's\nzebra\nEOF", "observer remember …"),
        ("cat > f <<EOF\nit's\nEOF\nobserver remember zebra", None),
        ('bash -lc "cd x; observer remember \\"a; zebra\\""', None),
        ('bash -lc "observer remember \\"a; zebra\\""', 'bash -lc "observer remember …'),
        ("ssh host 'observer remember \"a; zebra\"'", "ssh host 'observer remember …"),
        ('id=$(observer remember --json "zebra" | jq .id)', "id=$(observer remember …"),
    ],
)  # fmt: skip
def test_the_words_of_a_note_stay_out_of_a_command(typed: str, stays: str | None) -> None:
    command = kept(typed, output="similar: #3 zebra", description="Remember the zebra")
    assert "zebra" not in str(command)
    assert stays in {None, command.command}


def test_a_question_is_kept_without_its_answer() -> None:
    for verb in ("recall", "search", "context", "timeline", "show"):
        typed = f"cd app && observer {verb} zebra | head"
        answered = kept(typed, output="#3 rule · a secret wish", description="Ask")
        assert answered == Command(command=typed, description="Ask")


@pytest.mark.parametrize(
    "typed",
    [
        "git commit -m 'Let observer remember the branch'",
        "grep -rn 'observer remember' README.md",
        "pytest tests/observer -k remember",
        "observer up",
        "make",
    ],
)
def test_any_other_command_stays_as_it_is(typed: str) -> None:
    event = an_event(Command(command=typed, output="3 passed"))
    assert strip_self_commands(event) is event


def test_what_is_about_to_run_is_looked_at_too_and_nothing_but_commands() -> None:
    shown = Intent(tool="shell", of=Command(command="observer remember zebra"))
    left = strip_self_commands(an_event(shown)).body
    assert left == Intent(tool="shell", of=Command(command="observer remember …"))
    event = an_event(Prompt(text="run: observer remember zebra"))
    assert strip_self_commands(event) is event


@pytest.mark.parametrize(
    "piece",
    ["\n", "observer remember x|", "observer remember '", "env -a b ", "A='b' ", "ssh x ", "|"],
)
def test_a_hostile_line_is_read_in_one_pass(piece: str) -> None:
    # A pattern that goes back at each character would take many minutes.
    line = piece * (100_000 // len(piece)) + "'\nobserver remember zebra"
    assert "zebra" not in kept(line).command
