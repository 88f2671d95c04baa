"""`observer policy`: what applies around a path, and why that is recorded or not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from observer.core.paths import Home

Run = Callable[..., Any]
Git = Callable[..., str]

WHOLE = """\
exclude = ["/secrets/", "*.pem"]
never = ["prompt", "output"]
retention_days = 90
name = "acme-shop"
sharing = "none"
"""


@pytest.fixture
def shop(tmp_path: Path, git: Git) -> Path:
    root = tmp_path / "work" / "shop"
    git(root, "init", "-q")
    (root / "secrets").mkdir()
    (root / "link").symlink_to(root / "secrets")
    return root


def restrict(root: Path, text: str) -> None:
    (root / ".observer.toml").write_text(text)


def test_all_that_applies_is_shown(run: Run, shop: Path) -> None:
    restrict(shop, WHOLE)
    ran = run("policy", str(shop / "secrets" / "key"))
    assert ran.code == 0
    assert ran.out == (
        f"{shop}/.observer.toml\n"
        "exclude         /secrets/, *.pem\n"
        "never           output, prompt\n"
        "retention_days  90\n"
        "name            acme-shop\n"
        "sharing         none\n"
        f"{shop}/secrets/key: not recorded: `/secrets/` in .observer.toml\n"
    )


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("main.py", ""),
        ("", ""),
        ("secrets", "`/secrets/` in .observer.toml"),
        ("link/key", "`/secrets/` in .observer.toml"),
        ("src/new/tls.pem", "`*.pem` in .observer.toml"),
    ],
)
def test_it_says_why_a_path_is_recorded_or_not(run: Run, shop: Path, path: str, why: str) -> None:
    restrict(shop, WHOLE)
    shown = run("policy", str(shop / path), "--json").json
    assert (shown["is_recorded"], shown["why"]) == (not why, why)


def test_it_answers_for_the_current_folder(
    run: Run, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(shop)
    assert run("policy").out == f"no policy here\n{shop}: recorded\n"


def test_the_settings_of_the_user_count_too(run: Run, home: Home, shop: Path) -> None:
    home.root.mkdir(exist_ok=True)
    home.config.write_text(f'exclude = ["{shop}/secrets"]')
    shown = run("policy", str(shop / "secrets" / "key"), "--json").json
    assert shown["why"] == "`exclude` in config.toml"


def test_a_policy_that_cannot_be_used_is_shown_with_its_remedy(run: Run, shop: Path) -> None:
    restrict(shop, 'name = "x"\nexcludes = []')
    ran = run("policy", str(shop / "main.py"))
    assert ran.code == 1
    assert "line 2: the key 'excludes' is unknown\nwhat to do: the keys are exclude," in ran.out
    assert ran.out.endswith("main.py: not recorded: the policy cannot be used\n")


@pytest.mark.parametrize("command", ["status", "doctor"])
def test_status_and_doctor_name_the_file_the_line_and_the_remedy(
    run: Run, filled: Home, shop: Path, fill: Callable[..., None], command: str
) -> None:
    fill([{"kind": "custom", "name": "x", "cwd": str(shop)}])
    assert "cannot be used" not in run("doctor").out
    restrict(shop, "\nretention_days = -1")
    out = run(command).out
    assert f"{shop}/.observer.toml, line 2: retention_days must be a number of days" in out
    assert "correct retention_days" in out
