"""What is recorded in a project, and what an agent is given, offered and shown there, and why."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

from observer.cli import session
from observer.core.config import Settings
from observer.core.paths import Home
from observer.memory.opening import open_memory
from observer.tools import hook_output
from observer.tools.registry import toolsets
from tests.cli.conftest import Fill, Run
from tests.support import Git


def rows(run: Run) -> dict[str, str]:
    lines = re.sub(r"\d+ s ago", "now", run("status").out).splitlines()
    return dict(re.split(" {2,}", line, maxsplit=1) for line in lines)


@pytest.fixture
def worked(app: Path, fill: Fill, home: Home) -> Path:
    """A project in which a session of Claude Code began, with a context file for the next."""
    place = {"cwd": str(app), "session": "s1", "client": "claude-code"}
    fill(
        [
            {"kind": "prompt", "text": "make it faster", **place},
            {"kind": "file-write", "path": str(app / "login.py"), "content": "x = 1\n", **place},
        ]
    )
    with session.open_memory() as memory:
        for project in memory.projects():
            hook_output.write(memory, project, home, Settings())
    return app


def test_it_says_what_is_recorded_of_whom(run: Run, worked: Path, home: Home, fill: Fill) -> None:
    shown = rows(run)
    file = hook_output.mirror(home, str(worked)) / "CONTEXT.claude-code.md"
    see = "see: observer context --client claude-code"
    assert shown["this folder"] == f"{worked}: recorded"
    assert shown["reported by"] == "claude-code now"
    fill([{"kind": "remember", "content": "x", "client": "observer", "cwd": str(worked)}])
    assert rows(run)["reported by"] == "claude-code now"
    assert shown["context to"] == f"claude-code now, changed since; {see}"
    os.utime(file, (1, 1))
    assert rows(run)["context to"] == f"claude-code now; {see}"
    there = run("status", "--json").json["here"]
    assert (there["root"], list(there["heard"]), there["given_to"]) == (
        str(worked), ["claude-code"], "claude-code"
    )  # fmt: skip


def test_a_private_shell_is_said(run: Run, worked: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(worked)
    monkeypatch.setenv("OBSERVER_PRIVATE", "1")
    said = f"{worked}: not recorded: OBSERVER_PRIVATE is set in this shell"
    assert rows(run)["this folder"] == said


def test_it_says_why_nothing_or_not_all_is_recorded(run: Run, worked: Path, home: Home) -> None:
    run("config", "set", "exclude", str(worked))
    assert rows(run)["this folder"] == f"{worked}: not recorded: `exclude` in config.toml"
    run("config", "set", "exclude", "")
    run("pause", "--project", ".")
    assert rows(run)["this folder"].startswith(
        f"{worked}: not recorded: paused in {worked} until resumed"
    )

    run("pause", "--end")
    (worked / ".observer.toml").write_text('never = ["prompt"]\nexclude = ["*.pem"]\n')
    assert rows(run)["this folder"] == f"{worked}: recorded, but no prompt, nor *.pem"


def test_a_project_of_which_nothing_is_known_says_so_and_outside_is_no_here(
    run: Run, app: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = rows(run)
    assert shown["this folder"] == f"{app}: recorded"
    assert shown["reported by"].startswith("nobody yet")
    assert "context to" not in shown

    monkeypatch.chdir(Path.home())
    assert "this folder" not in rows(run)
    assert json.loads(run("status", "--json").out)["here"] is None


@pytest.mark.slow
def test_five_lines_say_what_is_recorded_what_not_where_it_lies_and_how_to_stop(
    run: Run, app: Path, home: Home
) -> None:
    (Path.home() / ".bashrc").touch()
    first = run("up", "--explain").out.splitlines()
    assert [line[:13].strip() for line in first] == [
        "found", "recorded", "not recorded", "lies in", "to stop"
    ]  # fmt: skip
    assert "bash" in first[0]
    assert first[1][14:].startswith("nothing yet but commits")
    assert str(home.root) in first[3]
    assert first[4].endswith("uninstall --all")
    run("install", "bash")
    home.config.write_text('exclude = ["/srv/diary"]\nllm_url = "http://127.0.0.1:9/v1"\n')
    second = run("up", "--explain").out.splitlines()
    assert second[1].endswith("and commits of bash")
    assert "/srv/diary" in second[2]
    assert "http://127.0.0.1:9/v1" in second[3]


def test_toolsets_are_listed_with_what_each_tool_and_a_choice_costs(run: Run) -> None:
    listed = run("mcp", "list", "--json").json
    assert [each["toolset"] for each in listed] == list(toolsets())
    for each in listed:
        costs = [tool["tokens"] for tool in each["tools"]]
        assert min(costs) > 20
        assert each["tokens"] == sum(costs) + -(-len(each["guide"]) // 4)

    rows = [re.split(" {2,}", line) for line in run("mcp", "list", "core").out.splitlines()]
    assert rows[0] == ["toolset", "tool", "tokens", "what for"]
    assert rows[1][:2] == ["core", "(7 in all)"]
    assert rows[2][:2] == ["core", "search"]

    costs = {each["toolset"]: each["tokens"] for each in listed}
    assert f"{costs['core'] + costs['mem0']:,} tokens in all" in run("mcp", "list", "core,mem0").err


def test_a_context_is_explained_line_by_line_from_anywhere_and_where_there_is_none(
    run: Run, filled: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = run("context", "--explain", "--json").json
    assert 0 < shown["tokens_used"] <= shown["token_budget"] <= 1000
    assert shown["lines"][0]["why"] == "last session"
    text = run("context", "--explain").out
    assert f"{shown['tokens_used']} of {shown['token_budget']} tokens" in text
    for line in shown["lines"]:
        assert f"{line['text']}\n    {line['tokens']} tokens" in text
        assert line["why"] in line["text"]

    named = run("context", "--explain", "--project", "app").out
    monkeypatch.chdir(tmp_path)
    assert run("context", "--explain", "--project", "app").out == named
    assert run("context", "--explain").out == run("context").err
    assert run("context", "--explain", "--json").json["lines"] == []


def test_what_is_left_out_is_said(run: Run, filled: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OBSERVER_CONTEXT_TOKENS", "120")
    left = run("context", "--explain", "--json").json["left_out"]
    assert left
    text = run("context", "--explain").out
    for each in left:
        assert f"{each['title']}\n    why: {each['why']}" in text


def test_of_a_folder_that_is_gone_a_start_prints_nothing(
    run: Run, filled: Home, app: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(app.rename(app.with_name("moved")))
    assert run("context", "--explain", "--project", "app").out == run("context", "-p", "app").err


def test_what_is_explained_is_what_the_hook_prints_of_the_folder_above(
    run: Run, filled: Home, home: Home, fill: Fill, app: Path, git: Git,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    with open_memory(home) as memory:
        hook_output.write(memory, memory.project("app"), home, Settings())
    inner = app / "inner"
    git(inner, "init", "-q")
    fill([{"kind": "remember", "text": "Elsewhere", "cwd": str(inner)}])
    monkeypatch.chdir(inner)
    lines, printed = run("context", "--explain", "--json").json["lines"], run("context").out
    assert [line["why"] for line in lines if line["why"] not in printed] == []
    assert lines
