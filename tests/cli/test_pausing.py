"""What is not recorded, and why: `observer pause`, its end, and `observer policy`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from observer.core.clock import iso_ms
from observer.core.paths import Home
from observer.local.spool import Spool
from tests.cli.conftest import Run
from tests.support import Git, put_file


@pytest.fixture
def shop(tmp_path: Path, git: Git, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository in which the person is."""
    root = tmp_path / "work" / "shop"
    git(root, "init", "-q")
    monkeypatch.chdir(root)
    return root


def scopes(home: Home) -> list[str]:
    return [pause.scope for pause in Spool(home.spool).pauses.now(0)]


def test_recording_is_paused_until_somebody_resumes_or_for_a_span(run: Run, home: Home) -> None:
    assert run("pause", "--for", "soon").code == 2
    assert scopes(home) == []
    said = "paused everywhere until resumed\nrecord again with: observer pause --end\n"
    assert run("pause").out == said
    assert "paused       everywhere until resumed\n" in run("status").out
    assert run("status", "--json").json["paused"][0]["ends_at"] is None
    assert run("pause", "--end").out == "resumed everywhere\n"
    assert run("pause", "--end").out == "nothing was paused\n"
    assert run("status", "--json").json["paused"] == []
    (shown,) = run("pause", "--for", "1h", "--json").json["paused"]
    assert (iso_ms(shown["ends_at"]) or 0) - (iso_ms(shown["started_at"]) or 0) == 3_600_000
    assert shown["where"] == "everywhere"


def test_a_project_is_paused_in_all_its_folders(
    run: Run, home: Home, fill: Callable[..., None], shop: Path, git: Git
) -> None:
    git(shop, "commit", "-q", "--allow-empty", "-m", "Begin")
    linked = shop.parent / "linked"
    git(shop, "worktree", "add", "-q", str(linked))
    for folder in (shop, linked):
        fill([{"kind": "custom", "name": "x", "cwd": str(folder)}])
    run("pause", "--project", "shop")
    assert scopes(home) == [str(shop), str(linked)]
    assert run("pause", "--project", "/nowhere").code == 3
    assert run("pause", "--end", "--project", ".").out == f"resumed {shop}\nresumed {linked}\n"


def test_a_work_tree_of_which_nothing_is_known_is_paused(run: Run, home: Home, shop: Path) -> None:
    assert run("pause", "--project", ".").out.startswith(f"paused in {shop} until resumed\n")
    assert run("pause", "--project", "nosuch").code != 0
    assert scopes(home) == [str(shop)]


def test_a_folder_that_is_not_there_or_not_named_as_one_pauses_nothing(
    run: Run, home: Home, fill: Callable[..., None], shop: Path
) -> None:
    (shop / "src").mkdir()
    fill([{"kind": "custom", "name": "x", "cwd": str(shop)}])
    assert "there is no folder /" in run("pause", "--project", "./nosuch").err
    said = "for the project around the folder src: --project ./src"
    assert said in run("pause", "--project", "src").err
    assert scopes(home) == []


@pytest.mark.parametrize("line", ["up", "doctor --quick", "install --list"])
def test_whoever_looks_while_all_is_paused_hears_of_it(run: Run, home: Home, line: str) -> None:
    run("pause")
    ran = run(*line.split())
    run("down")
    assert "observer pause --end" in ran.out + ran.err


def test_a_session_is_named_by_either_id(run: Run, home: Home, fill: Callable[..., None]) -> None:
    fill([{"kind": "prompt", "text": "x", "client": "cursor", "session": "abc", "cwd": "/"}])
    number = run("sessions", "--json").json[0]["id"]
    ran = run("pause", "--session", str(number))
    assert ran.out.startswith("paused for session abc until")
    assert "no session" not in ran.err
    assert "no session not-known-yet is known" in run("pause", "--session", "not-known-yet").err
    assert scopes(home) == ["session=abc", "session=not-known-yet"]
    assert run("pause", "--session", "987654").code == 3
    assert run("pause", "--end", "--session", "abc").out == "resumed for session abc\n"
    assert run("pause", "--session", "abc", "--project", ".").code == 2


@pytest.mark.parametrize("command", ["pause", "pause --end"])
def test_an_agent_decides_nothing_about_it(
    run: Run, home: Home, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.setenv("CLAUDECODE", "1")
    ran = run(*command.split())
    assert ran.code != 0
    assert "ask the person" in ran.err
    assert scopes(home) == []


WHOLE = """\
exclude = ["/secrets/", "*.pem"]
never = ["prompt", "output"]
retention_days = 90
name = "acme-shop"
sharing = "none"
"""


@pytest.fixture
def excluding(tmp_path: Path, git: Git) -> Path:
    root = tmp_path / "work" / "shop"
    git(root, "init", "-q")
    (root / "secrets").mkdir()
    (root / "link").symlink_to(root / "secrets")
    return root


def restrict(root: Path, text: str) -> None:
    (root / ".observer.toml").write_text(text)


def test_all_that_applies_is_shown(run: Run, excluding: Path) -> None:
    restrict(excluding, WHOLE)
    ran = run("policy", str(excluding / "secrets" / "key"))
    assert ran.code == 0
    assert ran.out == (
        f"{excluding}/.observer.toml\n"
        "exclude         /secrets/, *.pem\n"
        "never           output, prompt\n"
        "retention_days  90\n"
        "name            acme-shop\n"
        "sharing         none\n"
        f"{excluding}/secrets/key: not recorded: `/secrets/` in .observer.toml\n"
    )


def test_it_says_why_a_path_is_recorded_or_not(run: Run, excluding: Path) -> None:
    restrict(excluding, WHOLE)
    whys = {"main.py": "", "": "", "src/new/tls.pem": "`*.pem` in .observer.toml"}
    whys |= dict.fromkeys(("secrets", "link/key"), "`/secrets/` in .observer.toml")
    for path, why in whys.items():
        shown = run("policy", str(excluding / path), "--json").json
        assert (shown["is_recorded"], shown["why"]) == (not why, why), path


def test_it_answers_for_the_current_folder(
    run: Run, home: Home, excluding: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(excluding)
    assert run("policy").out == f"no policy here\n{excluding}: recorded\n"

    put_file(home.config, f'exclude = ["{excluding}/secrets"]')
    shown = run("policy", str(excluding / "secrets" / "key"), "--json").json
    assert shown["why"] == "`exclude` in config.toml"


def test_a_policy_that_cannot_be_used_is_shown_with_its_remedy(run: Run, excluding: Path) -> None:
    restrict(excluding, 'name = "x"\nexcludes = []')
    ran = run("policy", str(excluding / "main.py"))
    assert ran.code == 1
    assert "line 2: the key 'excludes' is unknown\nwhat to do: the keys are exclude," in ran.out
    assert ran.out.endswith("main.py: not recorded: the policy cannot be used\n")


@pytest.mark.parametrize("command", ["status", "doctor"])
def test_status_and_doctor_name_the_file_the_line_and_the_remedy(
    run: Run, filled: Home, excluding: Path, fill: Callable[..., None], command: str
) -> None:
    fill([{"kind": "custom", "name": "x", "cwd": str(excluding)}])
    assert "cannot be used" not in run("doctor").out
    restrict(excluding, "\nretention_days = -1")
    out = run(command).out
    assert f"{excluding}/.observer.toml, line 2: retention_days must be a number of days" in out
    assert "correct retention_days" in out
