"""Twins: one happening shown by two hooks, or by a saved file, is one; a repetition stays two."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from observer.core.events import (
    AnyBody,
    Command,
    Compaction,
    Custom,
    Delegation,
    Edit,
    Event,
    FileRead,
    FileWrite,
    Intent,
    Outcome,
    Prompt,
    Remember,
    Reply,
    Search,
    SessionEnd,
    SessionStart,
    ToolUse,
    kind_of,
)
from observer.ingest.duplicates import (
    WINDOW_MS,
    find_duplicate,
    is_late,
    may_have_duplicate,
    path_written,
)
from observer.ingest.file_changes import (
    MOST_COMPARED,
    MOST_NAMED,
    Save,
    bulk_change_event,
    edits_of,
    has_effect,
    is_temporary,
    merge_saves,
    save_event,
)


def shown(body: AnyBody, route: str, at_ms: int = 1000, **others: Any) -> Event:
    name = f"{route}@{at_ms}"
    return Event(
        **{"id": name, "at_ms": at_ms, "client": "cursor", "session": "s", "cwd": "/r"} | others,
        body=body,
        route=route,
    )


LS = Command(command="ls")


SAME = [
    (LS, Command(command="ls ", output="a")),
    (
        FileWrite(path="/r/a.py", edits=(Edit(new="x"),)),
        FileWrite(path="a.py", operation="write", content="x"),
    ),
    (FileRead(paths=("/r/a",)), FileRead(paths=("./a",), tool="Read")),
    (Prompt(text="why?"), Prompt(text="why?\n", files=("a",))),
    (Reply(text="so"), Reply(text="so")),
    (Search(query="x"), Search(query="x", output="found")),
    (ToolUse(tool="MCP:ask"), ToolUse(tool="mcp__srv__ask")),
    (SessionStart(source="a"), SessionStart()),
    (SessionEnd(reason="a"), SessionEnd()),
    (Delegation(task="t", agent="a"), Delegation(task="t", agent="a")),
    (Compaction(trigger="auto"), Compaction(trigger="auto")),
    (Custom(name="n", text="t"), Custom(name="n", text="t")),
    (Intent(tool="t", of=LS), Intent(tool="t", of=LS)),
    (Outcome(tool="t", output="a"), Outcome(tool="t", output="a\n")),
]


@pytest.mark.parametrize(("one", "other"), SAME, ids=[kind_of(one) for one, _ in SAME])
def test_one_happening_by_two_routes_is_a_twin(one: AnyBody, other: AnyBody) -> None:
    first = shown(one, "cursor/after")
    assert find_duplicate(shown(other, "claude-code/post", 1040), [first]) is first


@pytest.mark.parametrize(
    "second",
    [
        pytest.param(shown(LS, "a/x", 1100), id="same-route"),
        pytest.param(shown(LS, "b/x", 1001 + WINDOW_MS), id="too-late"),
        pytest.param(shown(LS, "b/x", 1100, session="other"), id="other-session"),
        pytest.param(shown(Command(command="ls -l"), "b/x", 1100), id="other-command"),
        pytest.param(shown(Prompt(text="ls"), "b/x", 1100), id="other-kind"),
        pytest.param(shown(LS, "b/x", 1100, id="a/x@1000"), id="itself"),
    ],
)
def test_anything_else_is_no_twin(second: Event) -> None:
    assert find_duplicate(second, [shown(LS, "a/x", 1000)]) is None


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Delegation(agent="a"), Delegation(agent="a", result="done")),
        (Compaction(trigger="auto"), Compaction(trigger="auto", summary="s")),
        (FileWrite(path="a"), FileWrite(path="b")),
        (Intent(tool="t", of=LS), Outcome(tool="t", output="a")),
        (Remember(content="a"), Remember(content="a")),
    ],
    ids=["delegation", "compaction", "files", "intent-and-outcome", "notes"],
)
def test_before_and_after_are_no_twins(one: AnyBody, other: AnyBody) -> None:
    assert find_duplicate(shown(other, "b/x", 1100), [shown(one, "a/x")]) is None


def test_ids_of_the_client_part_what_both_have_one_for_and_nothing_else() -> None:
    """A command that failed and was run again at once: two hooks, one text, two ids."""
    failed = shown(LS, "claude-code/PostToolUseFailure", dedup="tool:s:1:after")
    again = shown(LS, "claude-code/PostToolUse", 1900, dedup="tool:s:2:after")
    assert find_duplicate(again, [failed]) is None
    first = shown(LS, "cursor/afterShellExecution")
    known = shown(LS, "cursor/postToolUse", 1010, dedup="tool:s:1:after")
    assert find_duplicate(known, [first]) is first


def test_the_second_of_one_route_pairs_with_the_second_of_the_other() -> None:
    near = [shown(LS, "a/x", 1000), shown(LS, "a/x", 2000), shown(LS, "b/x", 1010)]
    assert find_duplicate(shown(LS, "b/x", 2010), near) is near[1]
    # Hooks reported the second run alone; the first came from the client's records, by its id.
    hook = shown(LS, "droid/PostToolUse", 2000)
    first = shown(LS, "droid/import", 1000, dedup="tool:s:1:after")
    assert find_duplicate(shown(LS, "droid/import", 2010), [hook, first]) is hook


def test_a_client_may_record_a_prompt_once_its_model_answers() -> None:
    hook = shown(Prompt(text="why?"), "gemini/BeforeAgent", 1000)
    by_import, by_hook = (
        shown(Prompt(text="why?"), route, 101_000) for route in ("gemini/import", "b/x")
    )
    assert find_duplicate(by_import, [hook]) is hook
    assert find_duplicate(by_hook, [hook]) is None


@given(st.integers(1, 6), st.randoms())
def test_repetitions_are_counted_right_in_any_order(times: int, random: Any) -> None:
    """Two hooks tell one command several times; as many are kept, however they interleave."""
    reports = [
        shown(LS, route, 1000 + 100 * n, id=f"{route}{n}")
        for n in range(times)
        for route in ("a/x", "b/x")
    ]
    random.shuffle(reports)
    kept: list[Event] = []
    for report in reports:
        if find_duplicate(report, kept) is None:
            kept.append(report)
    assert len(kept) == times


def test_a_path_is_resolved_against_the_open_folder_too() -> None:
    first = shown(FileWrite(path="/r/a"), "a/x")
    second = structs.replace(shown(FileWrite(path="a"), "b/x", 1001), cwd="", roots=("/r",))
    assert find_duplicate(second, [first]) is first


@pytest.mark.parametrize(
    ("client", "body", "now_ms", "worth"),
    [
        pytest.param("cursor", LS, 1000, True, id="runs-two-sets-of-hooks"),
        pytest.param("claude-code", LS, 61_000, False, id="runs-one"),
        pytest.param("claude-code", LS, 61_001, True, id="runs-one-but-may-be-imported"),
        pytest.param("cursor", Remember(content="a"), 1000, False, id="stated-once"),
    ],
)
def test_a_twin_is_looked_for_where_there_can_be_one(
    client: str, body: AnyBody, now_ms: int, worth: object
) -> None:
    event = shown(body, "a/x", client=client)
    late = is_late(event, now_ms=now_ms)
    assert may_have_duplicate(event, is_late=late) is worth


@pytest.mark.parametrize(
    ("body", "path"),
    [
        pytest.param(FileWrite(path="src/../a.py"), "/app/a.py", id="a write"),
        pytest.param(Intent(tool="edit", of=FileWrite(path="/b.py")), "/b.py", id="an intent"),
        pytest.param(Intent(tool="run", of=Command(command="ls")), "", id="another intent"),
        pytest.param(Command(command="touch a.py"), "", id="a command"),
    ],
)
def test_a_write_names_its_file(body: AnyBody, path: str) -> None:
    assert path_written(shown(body, "post", cwd="/app")) == path


def test_two_events_of_one_plugins_client_are_two() -> None:
    """A run that failed and one that passed come by two events of the client, without an id."""
    failed = shown(LS, "claude-code/PostToolUseFailure", client="claude-code")
    passed = shown(LS, "claude-code/PostToolUse", 1500, client="claude-code")
    by_plugin = shown(LS, "claude-code/PostToolUse/plugin", 1600, client="claude-code")
    assert find_duplicate(passed, [failed]) is None
    assert find_duplicate(by_plugin, [failed, passed]) == passed


CODE = """class A:
    def f(self):
        a = 1
        return a

    def g(self):
        return 2
"""


def a_save(old: str | None, new: str | None, **fields: Any) -> Save:
    at_ms = fields.pop("at_ms", 5)
    given = {"path": "src/a.py", "from_ms": at_ms, "to_ms": at_ms} | fields
    return Save(**given, old=old, new=new)


def test_what_an_editor_writes_beside_is_passing_and_what_people_write_is_not() -> None:
    beside = ("4913", ".a.py.swp", "a.py~", "#a.py#", ".#a.py", "a.py.tmp", "a.py.tmp.4711.89")
    beside += (".goutputstream-X8YZ", "a.py___jb_tmp___", "sedAb3dE9")
    people = ("a.py", "swp.py", "tmp", ".env", "4913.md", "sedan.txt", "~a")
    assert [name for name in beside + people if is_temporary(name)] == list(beside)


def test_a_save_says_what_happened_to_the_whole_file() -> None:
    changed = save_event(a_save(CODE, CODE.replace("return a", "return -a")), "/app")
    assert changed.symbols
    assert changed.symbols.changed == ("A.f",)
    made = save_event(a_save(None, "x = 1\n"), "/app")
    assert (made.path, made.operation, made.content) == ("/app/src/a.py", "create", "x = 1\n")
    bare = {"delete": a_save("x = 1\n", None), "create": a_save(None, "x", has_text=False)}
    for operation, save in (*bare.items(), ("edit", a_save(CODE, "x", has_text=False))):
        write = save_event(save, "/app")
        assert (write.operation, write.content, write.edits) == (operation, None, ())


def test_two_saves_are_shown_as_one_unless_nothing_changed() -> None:
    one = merge_saves(a_save("1", "2", at_ms=5), a_save("2", "3", at_ms=9))
    assert (one.old, one.new, one.from_ms, one.to_ms) == ("1", "3", 5, 9)
    assert has_effect(one)
    assert not has_effect(merge_saves(a_save("1", "2"), a_save("2", "1")))
    assert has_effect(merge_saves(a_save("", "1"), a_save("", "", has_text=False)))


def test_an_edit_shows_the_definition_or_section_that_it_is_in() -> None:
    (edit,) = edits_of(CODE, CODE.replace("a = 1", "a = 2"), "a.py")
    assert edit.old.startswith("    def f(self):\n        a = 1\n")
    assert edit.new.startswith("    def f(self):\n        a = 2\n")
    assert "g" not in edit.new
    edits = list(edits_of(CODE, CODE.replace("a = 1", "a = 2").replace("2\n", "3\n"), "a.py"))
    assert [edit.new.strip().splitlines()[0] for edit in edits] == ["def f(self):", "def g(self):"]
    old = "# One\n\n\n\n\ntext\n"
    (edit,) = edits_of(old, old.replace("text", "words"), "a.md")
    assert edit.new == "# One\n\n\n\n\nwords\n"


def test_a_text_that_changed_everywhere_is_one_edit() -> None:
    old = "".join(f"{n}\n" for n in range(MOST_COMPARED + 1))
    (edit,) = edits_of(f"same\n{old}", f"same\n{old.replace('0', 'o').replace('1', 'l')}", "a.txt")
    assert edit.old.startswith("same\n")


@given(st.text("ab\n", max_size=60), st.text("ab\n", max_size=60))
def test_edits_tell_all_that_differs(old: str, new: str) -> None:
    edits = list(edits_of(old, new, "a.txt"))
    assert all(edit.old in old and edit.new in new for edit in edits)
    assert bool(edits) == (old.splitlines(keepends=True) != new.splitlines(keepends=True))
    grown = sum(len(edit.new) - len(edit.old) for edit in edits)
    assert len(new) - len(old) == grown


def test_many_files_are_shown_by_their_folders() -> None:
    saves = [a_save("", "x", path=f"gen/{n}.py") for n in range(MOST_NAMED + 5)]
    shown = bulk_change_event([*saves, a_save("", "x", path="top.py")], "/app")
    assert shown.text == "206 files changed at once: 205 in gen, 1 in ."
    assert len(shown.files) == MOST_NAMED
