"""Events and notes go in with the daemon down; settings change without losing comments."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from observer.core.paths import Home
from observer.local import client
from observer.local.spool import Spool
from tests.cli.conftest import Run
from tests.support import put_file


def test_post_spools_one_event_from_arguments(run: Run, home: Home) -> None:
    ran = run("post", "command", "command=make test", "exit_code:=2", "--json")
    assert ran.json == [{"id": ran.json[0]["id"], "stored": False}]
    (entry,) = Spool(home.spool).claim(at_most=9)
    assert entry.id == ran.json[0]["id"]
    assert b'"exit_code":2' in entry.data

    assert run("post", "custom", "name=a", f"more:={'[' * 500}{']' * 500}").code == 0
    assert Spool(home.spool).depth() == 2
    assert run("post", "custom", "name=a").out == "spooled 1 event\n"
    ran = run("post", "command", "command=make", "exitcode:=2")
    assert ran.err == "not kept, since such events have no such field: exitcode\n"
    (receipt,) = json.loads(run("post", "command", "command=make", "exitcode:=2", "--json").out)
    assert receipt["ignored"] == ["exitcode"]


@pytest.mark.parametrize(
    ("payload", "count"),
    [({"kind": "custom", "name": "a"}, 1), ([{"kind": "prompt", "text": "b"}] * 3, 3)],
)
def test_post_spools_json_from_stdin(run: Run, home: Home, payload: object, count: int) -> None:
    assert run("post", stdin=json.dumps(payload)).code == 0
    assert Spool(home.spool).depth() == count


@pytest.mark.parametrize("stdin", ["", "{", "[1,]", '{"kind": "prompt", "text": "\udcff"}'])
def test_post_refuses_what_is_not_json(run: Run, home: Home, stdin: str) -> None:
    ran = run("post", stdin=stdin)
    assert ran.code == 2
    assert "hint: give a kind and fields, or JSON on stdin" in ran.err
    assert Spool(home.spool).depth() == 0


def test_post_adds_place(run: Run, home: Home, app: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "abc")
    run("post", "custom", "name=deploy")
    (entry,) = Spool(home.spool).claim(at_most=9)
    shown = json.loads(entry.data.rpartition(b"\0")[2])
    assert (shown["cwd"], shown["client"], shown["session"]) == (str(app), "claude-code", "abc")


@pytest.mark.parametrize("words", [("custom", "name"), ("custom", "name:=oops"), ("custom", "=x")])
def test_a_field_that_is_none_is_refused(run: Run, home: Home, words: tuple[str, ...]) -> None:
    assert run("post", *words).code == 2
    assert Spool(home.spool).depth() == 0


def test_a_setting_is_changed_comments_stay_and_no_toml_is_left_alone(run: Run, home: Home) -> None:
    put_file(home.config, "# mine\nlog_level = 'info' # quiet\n")
    assert run("config", "set", "log_level", "debug").code == 0
    assert run("config", "get", "log_level").out == "debug\n"
    assert home.config.read_text() == '# mine\nlog_level = "debug" # quiet\n'

    home.config.write_text("log_level = \n")
    assert run("config", "set", "log_level", "debug").code == 2
    assert home.config.read_text() == "log_level = \n"


@pytest.mark.slow
def test_a_daemon_that_a_setting_restarts_is_said(run: Run, home: Home) -> None:
    client.ensure_daemon(home)
    said = run("config", "set", "log_level", "debug").out
    assert said.endswith("in force from now on; the daemon was restarted for it\n")
    assert client.is_running(home)


def test_a_list_is_set_from_words_and_what_goes_is_named(run: Run, home: Home) -> None:
    assert run("config", "set", "exclude", "/a", "/b", "--json").json == {"exclude": ["/a", "/b"]}
    assert run("config", "--help").code == 0
    assert run("config", "--json").json["exclude"] == ["/a", "/b"]
    gone = "no longer: /a (set replaces the whole list)"
    assert gone in run("config", "set", "exclude", "/b").err


@pytest.mark.parametrize(
    ("number", "hint"), [(errno.ENOSPC, "free some disk space"), (errno.EROFS, "observer doctor")]
)
def test_an_event_that_cannot_be_spooled_is_shown_with_its_cause(
    run: Run, monkeypatch: pytest.MonkeyPatch, number: int, hint: str
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "mkdir", refuse)
    ran = run("post", "command", "command=make")
    assert ran.code == 1
    assert os.strerror(number) in ran.err
    assert hint in ran.err


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is a project, and a shell that is a person's."""
    folder = tmp_path / "shop"
    put_file(folder / "pyproject.toml")
    monkeypatch.chdir(folder)
    for name in ("CLAUDECODE", "CLAUDE_CODE_SESSION_ID", "AI_AGENT", "AGENT"):
        monkeypatch.delenv(name, raising=False)
    return folder


@pytest.fixture
def daemon(home: Home, here: Path) -> Iterator[Home]:
    yield home
    client.stop(home, wait_s=30.0)


@pytest.mark.slow
def test_a_person_chooses_context(run: Run, daemon: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    item = str(run("remember", "Tests need Redis", "--json").json["id"])

    def given() -> list[int]:
        return [line["id"] for line in run("context", "--explain", "--json").json["lines"]]

    assert given() == [int(item)]
    assert run("context", "--hide", item).out == f"#{item} is hidden: Tests need Redis\n"
    assert (given(), run("search", "redis", "--json").json["observations"] != []) == ([], True)
    assert run("context", "--pin", item, "--json").json["how"] == "pin"
    assert run("context", "--as-before", item).out.startswith(f"#{item} is given as before")
    assert given() == [int(item)]
    assert run("context", "--hide", "99999").code == 3
    monkeypatch.setenv("CLAUDECODE", "1")
    assert run("context", "--hide", item).code == 2


@pytest.mark.slow
def test_the_life_of_a_note(run: Run, daemon: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    first = run("remember", "Tests need Redis, see [[CI]]", "--tag", "ci", "--title", "Redis")
    assert "no note is called so yet: CI" in first.err
    item = first.out.split("#")[1].split()[0]
    assert run("note", "edit", item, "Tests need Redis 7").out == f"changed #{item} Redis\n"
    assert "Tests need Redis 7" in run("show", item).out
    assert run("note", "edit", item).code == 2
    assert run("undo", item).code == 0
    shown = run("note", "history", item).out.splitlines()
    assert [line.split(" by ")[0].split()[-1] for line in shown] == ["remember", "revise", "undo"]
    scope = "in shop (--all: in all projects)\n"
    assert run("note", "--tag", "ci").out.startswith(f"{scope}#{item} fact · Redis")
    none = f"{scope}no notes like that: leave out an option, or ask in all projects: --all\n"
    assert run("note", "--layer", "rule").out == none
    assert run("note", "link", item).out == "-> wiki (nothing yet) CI\n"
    assert run("forget", item).err.endswith("there is no terminal to ask on\nhint: add --yes\n")
    forgotten = run("forget", f"#{item}", "--yes")
    assert forgotten.out.startswith(f"forgot #{item} fact · Redis")
    assert f"observer undo {item}" in forgotten.err
    assert f"observer undo {item}" in run("show", item).err
    assert run("undo", item, "--json").json["content"] == "Tests need Redis, see [[CI]]"
    second = run("remember", "Tests need Redis 8", "--json", "--supersedes", item).json["id"]
    assert f"<- supersedes #{second}" in run("note", "link", item).out
    assert run("note", "link", str(second), item, "--kind", "supersedes", "--remove").code == 0
    assert run("note", "link", str(second)).out.startswith(f"no links: observer note link {second}")
    assert run("note", "link", str(second), item).code == 0
    assert run("note", "link", str(second), "x", "--remove").code == 3
    links = run("note", "link", str(second), "--json").json
    assert links["out"] == [{"kind": "explicit", "title": "Redis", "id": int(item)}]
    monkeypatch.setenv("CLAUDECODE", "1")
    rule = run("remember", "Never push", "--type", "rule")
    assert "observer note approve" in rule.err
    number = rule.out.split("#")[1].split()[0]
    assert run("note", "approve", number).code == 2
    assert f"#{number}" in run("note", "--waiting").out
    monkeypatch.delenv("CLAUDECODE")
    assert "(approved)" in run("note", "approve", number).out
    assert run("note", "--waiting").out == none
    assert [one["action"] for one in run("note", "history", number, "--json").json] == [
        "remember",
        "approve",
    ]
    assert run("note", "--json").json[0]["approval"] == "approved"
    assert run("show", number, "--json").json["observations"][0]["layer"] == "rule"


@pytest.mark.parametrize("words", [("",), ("notes", "--name", "")], ids=["folder", "name"])
def test_a_note_folder_without_a_name_is_refused(run: Run, app: Path, words: tuple[str]) -> None:
    (app / "notes").mkdir()
    ran = run("note", "folder", "add", *words)
    assert (ran.code, "is empty" in ran.err) == (2, True)
