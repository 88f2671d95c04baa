"""Whose a session above several repositories is, and where a project that is not shared shows."""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from observer.core.events import (
    AnyBody,
    Command,
    Event,
    FileWrite,
    Intent,
    Outcome,
    Prompt,
    Remember,
    Reply,
    SessionEnd,
    kind_of,
)
from observer.core.model import Item, Session
from observer.core.paths import Home
from observer.core.routes import import_route
from observer.core.value import TokenUsage
from observer.local.spool import Spool
from observer.memory.api import Memory
from observer.observations import project_state
from observer.observations.analysis import ToolCall
from observer.search.context import TokenCosts
from observer.search.handles import SearchOptions
from observer.store.database import SqliteStore
from observer.tools.registry import tools_of
from observer.upkeep.choose import Criteria, chosen
from tests.support import Git, memory_over, pipeline_over

START_MS = 1_790_000_000_000
RED = "FAILED test_tapir.py::test_legs - assert 3 == 4\n1 failed in 0.1s"
GREEN = "1 passed in 0.1s"
CAUSE = "The cause was an off-by-one in the tapir's legs."
ASKED = "mend the tapir's legs in api"


def in_git(folder: Path, *words: str) -> str:
    """Run git as the fixture does, which a property cannot have."""
    folder.mkdir(parents=True, exist_ok=True)
    return subprocess.run(
        ["git", *words], cwd=folder, text=True, capture_output=True, check=True
    ).stdout


class Above:
    """A folder with the repositories api, web and idle, and hooks of a client started in it."""

    def __init__(self, folder: Path, home: Home, git: Git, client: str = "claude-code") -> None:
        self.folder, self.now_ms, self.git, self.client = folder, START_MS, git, client
        for name in ("api", "web", "idle"):
            git(folder / name, "init", "-q")
            (folder / name / "app.py").write_text("legs = 3\n")
            git(folder / name, "add", "-A")
            git(folder / name, "commit", "-qm", "Begin")
        self.store = SqliteStore(folder.parent / "observer.db")
        self.spool = Spool(home.spool)
        self.spool.prepare()
        self.pipeline = pipeline_over(self.store, self.spool, lambda: self.now_ms)
        self.memory = memory_over(
            self.store, home, lambda: self.now_ms, record=self.pipeline.ingest
        )

    def tell(self, event: str, cwd: str = "", **payload: Any) -> None:
        self.now_ms += 10_000
        here = str(self.folder / cwd)
        whole = {"session_id": "s1", "cwd": here, "hook_event_name": event, **payload}
        fields = {"client": self.client, "event": event, "cwd": here, "at": str(self.now_ms)}
        self.spool.append(fields, json.dumps(whole).encode())
        self.pipeline.drain()

    def ask(self, prompt: str, **more: str) -> None:
        self.tell("UserPromptSubmit", prompt=prompt, **more)

    def reply(self, said: str, **more: str) -> None:
        self.tell("Stop", last_assistant_message=said, **more)

    def write(self, path: str, text: str) -> None:
        (self.folder / path).write_text(text)
        tool: dict[str, Any]
        if self.client == "codex":
            patch = f"*** Begin Patch\n*** Add File: {path}\n+{text.rstrip()}\n*** End Patch"
            tool = {"tool_name": "apply_patch", "tool_input": {"command": patch}}
            answer: Any = "Exit code: 0\nOutput:\nSuccess. Updated the following files:\n"
        else:
            given = {"file_path": str(self.folder / path), "content": text}
            tool, answer = {"tool_name": "Write", "tool_input": given}, {"type": "create"}
        self.tell("PostToolUse", **tool, tool_use_id=f"t{self.now_ms}", tool_response=answer)

    def run(self, command: str, output: str, *, failed: bool = False, cwd: str = "") -> None:
        tool = {"tool_name": "Bash", "tool_input": {"command": command}}
        tool["tool_use_id"] = f"t{self.now_ms}"
        answer: Any = {"stdout": output, "stderr": "", "interrupted": False}
        if self.client == "codex":
            self.tell("PostToolUse", cwd, **tool, tool_response=output)
        elif failed:
            self.tell("PostToolUseFailure", cwd, **tool, error=f"Exit code 1\n{output}")
        else:
            self.tell("PostToolUse", cwd, **tool, tool_response=answer)

    def found(self, query: str, name: str | None, *types: str) -> list[Item]:
        project = str(self.folder / name) if name is not None else None
        known = {root for one in self.memory.projects() for root in one.roots}
        if project and project not in known:
            return []
        hits = self.memory.search(query, project=project, narrow=SearchOptions(types=types))
        return [hit.item for hit in hits.hits]

    def report(self, bodies: list[AnyBody], at_once: int, *, imported: bool = False) -> None:
        """Report events from the folder above, so many in one transaction."""
        route = import_route("claude-code") if imported else "claude-code/x"
        events = [
            Event(
                id=f"{'import-' * imported}e{number}", at_ms=START_MS + 10_000 * number,
                client="claude-code", session="s1", cwd=str(self.folder), body=body, route=route,
            )
            for number, body in enumerate(bodies)
        ]  # fmt: skip
        self.now_ms = START_MS + 3_600_000
        for start in range(0, len(events), at_once):
            self.pipeline.ingest(events[start : start + at_once])

    def sessions(self, name: str) -> list[Session]:
        roots = [root for one in self.memory.projects() for root in one.roots]
        here = str(self.folder / name)
        return self.memory.sessions(project=here) if here in roots else []

    def prompts(self, name: str) -> list[str]:
        return [item.title for item in self.found("", name, "turn")]


Make = Callable[..., Above]


@pytest.fixture
def make(tmp_path: Path, home: Home, git: Git) -> Iterator[Make]:
    made: list[Above] = []

    def begin(client: str = "claude-code") -> Above:
        made.append(Above(tmp_path / "src", home, git, client))
        return made[-1]

    yield begin
    for one in made:
        one.store.close()


@pytest.fixture(params=["claude-code", "codex"])
def worked(make: Make, request: pytest.FixtureRequest) -> Above:
    """Two turns: of the first the work is in api, with a red and a green check, then in web."""
    above = make(request.param)
    above.tell("SessionStart", source="startup")
    above.ask(ASKED)
    above.write("api/tapir.py", "legs = 3\n")
    above.run("cd api && pytest -q test_tapir.py", RED, failed=True)
    above.write("api/more.py", "legs = 4\n")
    above.run("cd api && pytest -q test_tapir.py", GREEN)
    above.reply(CAUSE)
    above.ask("show the okapi in web")
    above.write("web/okapi.py", "shown = True\n")
    above.reply("The okapi is shown now.")
    above.tell("SessionEnd", reason="other")
    return above


def test_what_was_done_is_found_where_it_was_done_and_nowhere_else(worked: Above) -> None:
    assert worked.prompts("api") == [ASKED]
    assert worked.prompts("web") == ["show the okapi in web"]
    assert "pytest" in worked.found("", "api", "command")[0].title
    assert worked.found("", "", "command") == worked.found("", "web", "command") == []
    assert [item.title for item in worked.found("off-by-one", "api", "turn")] == [ASKED]
    assert worked.found("off-by-one", "web", "turn") == []
    assert worked.found("tapir okapi", "idle") == []

    states = {
        name: [(one.external, one.status, one.prompts) for one in worked.sessions(name)]
        for name in ("", "api", "web", "idle")
    }
    assert states == {
        "": [("s1", "ended", 2)],
        "api": [("s1", "ended", 1)],
        "web": [("s1", "ended", 1)],
        "idle": [],
    }

    found = [(item.type, item.title) for item in worked.found("tapir legs", None)]
    assert found.count(("turn", ASKED)) + found.count(("summary", ASKED)) == 1
    assert [item.title for item in worked.found("", None, "turn")].count(ASKED) == 1


def test_its_prompt_is_in_the_context_and_before_its_work_and_why_names_it(worked: Above) -> None:
    costs = TokenCosts(lambda _: 1, lambda _: 1, lambda _: 1, 0)
    said = str(worked.memory.context(str(worked.folder / "api"), costs=costs))
    assert "tapir's legs" in said
    assert "okapi" not in said
    (fix,) = worked.found("", "api", "fix")
    line = worked.memory.timeline(fix.id, before=9, after=9)
    titles = [entry.item.title for entry in line.entries]
    assert titles[0] == ASKED

    at = f"@{worked.now_ms // 1000} +0000"
    when = {"GIT_AUTHOR_DATE": at, "GIT_COMMITTER_DATE": at}
    worked.git(worked.folder / "web", "add", "-A")
    worked.git(worked.folder / "web", "commit", "-qm", "Show the okapi", **when)
    answer = worked.memory.why("okapi.py", str(worked.folder / "web"))
    assert [one.external for one in answer.changes[0].sessions] == ["s1"]
    assert [item.title for item in answer.changes[0].asked] == ["show the okapi in web"]


def test_a_rebuild_gives_the_same(worked: Above) -> None:
    def items() -> list[Item]:
        with worked.store.read() as reader:
            return list(reader.all_items())

    before = items()
    worked.pipeline.rebuild()
    assert items() == before


def test_a_forgotten_prompt_is_forgotten_everywhere(worked: Above) -> None:
    (asked,) = worked.found("", "api", "turn")
    worked.memory.notes.forget(asked.id, author="person")
    assert [worked.prompts(name) for name in ("", "api")] == [["show the okapi in web"], []]
    worked.memory.notes.undo(asked.id, author="person")
    assert worked.prompts("api") == [ASKED]
    assert ASKED in worked.prompts("")


def test_a_purge_takes_what_is_named_its_copies_and_nothing_of_other_projects(
    worked: Above,
) -> None:
    with worked.store.read() as reader:
        prompts = {one.seq: one for one in reader.log() if one.event.session == "s1"}
        (asked,) = worked.found("", "api", "turn")
        gone = chosen(reader, Criteria(ids=(asked.id,)))
        of_session = chosen(reader, Criteria(session="s1"))
    assert {prompts[seq].event.body.text for seq in gone} == {ASKED, CAUSE}  # type: ignore[union-attr]
    assert {prompts[seq].project_id for seq in gone} == {2, 3}
    assert of_session == frozenset(prompts)

    api = worked.memory.project(str(worked.folder / "api"))
    with worked.store.read() as reader:
        gone = chosen(reader, Criteria(project_id=api.id))
        assert {one.project_id for one in reader.log() if one.seq in gone} == {api.id}


def test_a_turn_is_counted_once(make: Make) -> None:
    above = make()
    above.ask(ASKED)
    above.write("api/tapir.py", "legs = 3\n")
    used = TokenUsage(input=5, output=7)
    reply = Event(
        id="r1", at_ms=above.now_ms, client="claude-code", session="s1", cwd=str(above.folder),
        body=Reply(text=CAUSE, usage=used),
    )  # fmt: skip
    above.pipeline.ingest([reply])
    with above.store.read() as reader:
        bodies = [one.event.body for one in reader.log_of_kind("reply")]
    assert [body.usage for body in bodies if isinstance(body, Reply)] == [used, None]


@pytest.mark.parametrize("command", ["cd api && make test", "make -C api test", "git -C api push"])
def test_a_check_is_one_of_the_repository_that_the_line_names(make: Make, command: str) -> None:
    above = make()
    above.ask(ASKED)
    above.run(command, "1 failed in 0.1s", failed=True)
    with above.store.read() as reader:
        api = above.memory.project(str(above.folder / "api"))
        (red,) = project_state.decode(reader.project_state(api.id)).failures
    assert {one.folder for one in red.checks} == {""}


def test_what_only_reads_is_no_work(make: Make) -> None:
    above = make()
    above.ask(ASKED)
    above.run("cd api && git log --oneline | head -3", "1234567 Begin")
    assert above.prompts("api") == []


def test_a_prompt_that_comes_after_its_work_is_found_there_too(make: Make) -> None:
    """As of an import, or of a hook that was slow."""
    above = make()
    above.tell("SessionStart", source="startup")
    above.now_ms += 60_000
    above.write("api/tapir.py", "legs = 3\n")
    above.now_ms -= 60_000
    above.ask(ASKED)
    assert above.prompts("api") == [ASKED]


def test_a_folder_entered_on_the_way_is_still_below(make: Make) -> None:
    """Claude Code's folder follows `cd`: the next prompt is reported from there."""
    above = make()
    above.tell("SessionStart", source="startup")
    above.ask("mend the tapir first", cwd="api")
    above.ask("now show the okapi", cwd="api")
    above.write("web/okapi.py", "shown = True\n")
    above.reply("It is shown.", cwd="api")
    above.tell("SessionEnd", cwd="api", reason="other")
    assert above.prompts("web") == ["now show the okapi"]
    assert [one.status for name in ("", "api", "web") for one in above.sessions(name)] == [
        "ended"
    ] * 3


def test_a_neighbour_is_not_told(make: Make) -> None:
    """A session that began in one repository and edits a file of another is not above that."""
    above = make()
    above.tell("SessionStart", cwd="api", source="startup")
    above.ask(ASKED, cwd="api")
    above.write("web/okapi.py", "shown = True\n")
    assert above.prompts("web") == []


def test_a_session_goes_idle_by_itself(make: Make) -> None:
    above = make()
    above.ask(ASKED)
    above.write("api/tapir.py", "legs = 3\n")
    above.now_ms += 20 * 60_000
    above.run("cd api && pytest -q", GREEN)
    above.now_ms += 15 * 60_000
    above.pipeline.close_idle()
    assert [above.sessions(name)[0].status for name in ("", "api")] == ["idle", "active"]


def test_a_policy_of_the_repository_holds_for_what_is_told_there(make: Make) -> None:
    above = make()
    (above.folder / "api/.observer.toml").write_text('never = ["prompt"]\n')
    above.ask(ASKED)
    above.write("api/tapir.py", "legs = 3\n")
    assert above.prompts("api") == []
    assert above.prompts("") == [ASKED]


@pytest.mark.parametrize(
    "call",
    [Command(command="cd api && pytest -q"), FileWrite(path="api/tapir.py", content="legs = 3\n")],
)
def test_a_result_goes_where_its_call_waits(make: Make, call: ToolCall) -> None:
    """As of clients whose result names no command and no file."""
    above = make()
    above.ask(ASKED)
    for number, body in enumerate((Intent(tool="x", of=call), Outcome(tool="x", output=GREEN))):
        event = Event(
            id=f"x{number}", at_ms=above.now_ms + number, client="claude-code", session="s1",
            cwd=str(above.folder), body=body,
        )  # fmt: skip
        above.pipeline.ingest([event])
    above.tell("SessionEnd", reason="other")
    assert above.prompts("api") == [ASKED]
    types = {name: {item.type for item in above.found("", name)} for name in ("", "api")}
    kind = "command" if isinstance(call, Command) else "file-write"
    # Of a turn that was broken off the summary stays, unless it changed something.
    changed = {"turn"} if kind == "file-write" else set()
    assert types == {"": {"summary"}, "api": {"summary"} | changed}
    assert above.found("", "api", kind)


@pytest.mark.parametrize("first", [(True,), (False,), (False, True), (True, False)])
def test_an_import_tells_the_same_and_nothing_twice(make: Make, first: tuple[bool, ...]) -> None:
    above = make()
    write = FileWrite(path="api/tapir.py", content="legs = 4\n")
    bodies = [Prompt(text=ASKED), write, Reply(text=CAUSE), SessionEnd(reason="other")]
    for imported in first:
        above.report(bodies, 9, imported=imported)
    with above.store.read() as reader:
        found = Counter((one.project_id, kind_of(one.event.body)) for one in reader.log())
    kinds = ("prompt", "reply", "session-end")
    assert found == {(3, "file-write"): 1} | {(at, kind): 1 for at in (2, 3) for kind in kinds}


TURNS = st.lists(st.lists(st.sampled_from(("api", "web", "look")), max_size=3), max_size=4)


@settings(max_examples=12, deadline=None)
@given(turns=TURNS, at_once=st.integers(1, 9))
def test_a_repository_has_the_turns_that_worked_in_it_and_no_other(
    turns: list[list[str]], at_once: int
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        above = Above(Path(folder) / "src", Home(Path(folder) / "home"), in_git)
        bodies: list[AnyBody] = []
        for number, acts in enumerate(turns):
            bodies.append(Prompt(text=f"go on with turn {number}"))
            for name in acts:
                look = Command(command="cd api && git status", output="clean")
                write = FileWrite(path=f"{name}/n{number}.py", content="x = 1\n")
                bodies.append(look if name == "look" else write)
            bodies.append(Reply(text=f"Reply {number}."))
        above.report([*bodies, SessionEnd(reason="other")], at_once)
        for name in ("api", "web"):
            there = [number for number, acts in enumerate(turns) if name in acts]
            worked = [f"go on with turn {number}" for number in there]
            assert sorted(above.prompts(name)) == worked
        above.store.close()


def test_a_result_of_no_known_call_stays_where_it_was_reported(make: Make) -> None:
    above = make()
    above.report([Prompt(text=ASKED), FileWrite(path="api/x.py"), Outcome(tool="x")], 9)
    with above.store.read() as reader:
        (found,) = reader.log_of_kind("outcome")
    assert found.project_id == 2


NOW_MS = 1_790_000_000_000


@pytest.fixture
def folders(tmp_path: Path) -> list[Path]:
    """Two projects, `open` and `apart`."""
    made = [tmp_path / name for name in ("open", "apart")]
    for folder in made:
        folder.mkdir()
        (folder / "pyproject.toml").touch()
    return made


@pytest.fixture
def memory(home: Home, folders: list[Path]) -> Iterator[Memory]:
    home.root.mkdir(exist_ok=True)
    store = SqliteStore(home.database)
    spool = Spool(home.spool)
    pipeline = pipeline_over(store, spool, NOW_MS)
    pipeline.ingest(
        [
            Event(
                id=folder.name,
                at_ms=NOW_MS,
                client="x",
                cwd=str(folder),
                body=Remember(content=f"The till rounds in {folder.name}.", type="decision"),
            )
            for folder in folders
        ]
    )
    yield memory_over(store, home, NOW_MS, record=pipeline.ingest)
    store.close()


def found(memory: Memory, query: str = "till", *, project: str | None = None) -> str:
    return str(sorted(hit.item.narrative for hit in memory.search(query, project=project).hits))


def keep_apart(folders: list[Path], text: str = 'sharing = "none"') -> None:
    (folders[1] / ".observer.toml").write_text(text)


@pytest.mark.parametrize("query", ["till", ""])
def test_shared_projects_are_found_from_everywhere(memory: Memory, query: str) -> None:
    assert "open" in found(memory, query)
    assert "apart" in found(memory, query)


@pytest.mark.parametrize("query", ["till", ""])
@pytest.mark.parametrize("policy", ['sharing = "none"', "sharing = 1"])
def test_one_that_is_not_is_left_out_elsewhere(
    memory: Memory, folders: list[Path], query: str, policy: str
) -> None:
    keep_apart(folders, policy)
    for asked in (memory, memory.at(str(folders[0]))):
        assert "open" in found(asked, query)
        assert "apart" not in found(asked, query)
        assert "apart" not in str(asked.recall("till").hits)


def test_it_is_found_from_its_own_folder_by_agents_too_and_else_said_to_be_left_out(
    memory: Memory, folders: list[Path]
) -> None:
    keep_apart(folders)
    assert "apart" in found(memory, project="apart")
    assert "apart" in found(memory.at(f"{folders[1]}/src"))
    for folder, is_shown in zip(folders, (False, True), strict=True):
        tool = tools_of(("core",), memory, lambda folder=folder: str(folder))["search"]  # type: ignore[misc]
        assert ("rounds in apart" in tool.call({"query": "till"}).text) == is_shown
    answer = memory.search("rounds AND apart")
    assert answer.hits == ()
    assert 'projects with sharing = "none" were left out' in answer.notice
