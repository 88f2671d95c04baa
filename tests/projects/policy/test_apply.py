"""What a policy leaves of an event."""

from __future__ import annotations

from pathlib import Path

import pytest

from observer.core.events import (
    AnyBody,
    Command,
    Commit,
    Custom,
    Edit,
    Event,
    FileChange,
    FileRead,
    FileWrite,
    Intent,
    Outcome,
    Prompt,
    Remember,
    Reply,
    Search,
    SessionStart,
    ToolUse,
    Triage,
)
from observer.projects.policy import Policy, apply_policy, unexcluded_files
from observer.projects.policy.policies import parse_policy

RULES = b'exclude = ["/secrets/", "*.pem"]'


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    (tmp_path / "shop" / "secrets").mkdir(parents=True)
    (tmp_path / "shop" / "src").mkdir()
    (tmp_path / "shop" / "link").symlink_to(tmp_path / "shop" / "secrets")
    return tmp_path / "shop"


def left(root: Path, body: AnyBody, rules: bytes = RULES, *, cwd: str = "") -> AnyBody | None:
    """Return what is left of a body; a work tree beside this one excludes `private`."""
    beside_it = parse_policy(b'exclude = ["private"]', f"{root.parent}/other")

    def policy_of(path: str, here: str) -> Policy:
        del here
        return beside_it if path.startswith(beside_it.root) else Policy()

    event = Event(id="e", at_ms=1, client="x", cwd=f"{root}{cwd}", body=body)
    found = apply_policy(event, parse_policy(rules, str(root)), policy_of, root=str(root))
    return found.body if found else None


@pytest.mark.parametrize(
    "body",
    [
        FileWrite(path="{root}/secrets/key", edits=(Edit(new="x"),)),
        FileWrite(path="secrets/key"),
        FileWrite(path="./src/../secrets/key"),
        FileWrite(path="link/key"),
        FileWrite(path="src/tls.pem"),
        FileWrite(path="../other/private/x"),
        FileRead(paths=("src/main.py", "secrets/key")),
        Search(query="q", path="secrets"),
        Custom(name="files-changed", files=("secrets/key",)),
        Command(command="cat secrets/key", output="hunter2"),
        Command(command="cat ./src/tls.pem"),
        Command(command="cp src/a '{root}/secrets/a'"),
        Command(command="echo x >secrets/key"),
        Command(command="vi secrets"),
        ToolUse(tool="upload", input='{"path": "secrets/key"}', output="hunter2"),
    ],
    ids=lambda body: f"{type(body).__name__}-{getattr(body, 'path', '')}",
)
def test_nothing_is_left_of_what_is_about_an_excluded_file(shop: Path, body: AnyBody) -> None:
    if isinstance(body, FileWrite):
        body = FileWrite(path=body.path.format(root=shop))
    elif isinstance(body, Command):
        body = Command(command=body.command.format(root=shop))
    assert left(shop, body) is None


@pytest.mark.parametrize(
    "body",
    [
        SessionStart(),
        Prompt(text="why are secrets/key and tls.pem there?"),
        Reply(text="secrets/key is old"),
        FileWrite(path="src/main.py"),
        FileWrite(path="src/secrets/readme"),
        FileWrite(path="../other/public"),
        FileWrite(path="\0"),
        FileRead(paths=("src/main.py",)),
        Search(query="secrets", path="src", output="src/main.py:1: secrets = 1\n"),
        Search(query="secrets"),
        Command(command="git commit -m 'Mend main'", output="ok"),
        ToolUse(tool="x", input='{"about": "secrets"}', output="none"),
        Commit(hash="1" * 40),
        Intent(tool="w", of=FileWrite(path="src/main.py")),
    ],
    ids=lambda body: type(body).__name__,
)
def test_all_is_left_of_what_is_not(shop: Path, body: AnyBody) -> None:
    assert left(shop, body) is body


def test_a_folder_is_named_from_where_the_client_is(shop: Path) -> None:
    assert left(shop, Command(command="cat ../secrets/key"), cwd="/src") is None
    assert left(shop, Command(command="cat secrets/key"), b'exclude=["src/a"]', cwd="/src")


def test_outputs_lose_the_lines_and_diffs_of_excluded_files(shop: Path) -> None:
    output = (
        "secrets/key:1: hunter2\nsrc/main.py:1: import os\nM secrets/old\n"
        "diff --git a/secrets/key b/secrets/key\n--- a/secrets/key\n@@ -1 +1 @@\n-hunter2\n"
        "diff --git a/src/main.py b/src/main.py\n@@ -1 +1 @@\n+import sys\n"
    )
    kept = (
        "src/main.py:1: import os\n"
        "diff --git a/src/main.py b/src/main.py\n@@ -1 +1 @@\n+import sys\n"
    )
    for body in (
        Command(command="git diff", output=output),
        Search(query="q", output=output),
        ToolUse(tool="grep", input="{}", output=output),
    ):
        found = left(shop, body, cwd="/src")
        assert isinstance(found, type(body))
        assert found.output == kept


def test_files_of_a_prompt_are_left_out_one_by_one(shop: Path) -> None:
    body = Prompt(text="look", files=("secrets/key", "src/main.py"))
    assert left(shop, body) == Prompt(text="look", files=("src/main.py",))


def test_a_call_that_is_left_out_keeps_its_place_before_its_result(shop: Path) -> None:
    body = Intent(tool="fsWrite", of=FileWrite(path="secrets/key", content="hunter2"))
    assert left(shop, body) == Intent(tool="fsWrite", of=ToolUse(tool="fsWrite"))
    result = Outcome(tool="fsWrite", output="hunter2", exit_code=0)
    assert left(shop, result) == Outcome(tool="fsWrite", exit_code=0)
    assert left(shop, result, b'name = "shop"') is result


def test_a_file_of_another_work_tree_is_under_the_policy_there(shop: Path) -> None:
    body = FileWrite(path=f"{shop.parent}/other/private/x")
    for happening in (body, FileWrite(path="../other/private/x")):
        assert left(shop, happening, b"") is None
    call = Intent(tool="fsWrite", of=body)
    assert left(shop, call, b"") == Intent(tool="fsWrite", of=ToolUse(tool="fsWrite"))


def test_kinds_that_are_never_recorded(shop: Path) -> None:
    rules = b'never = ["prompt", "file-read", "output"]'
    assert left(shop, Prompt(text="why?"), rules) is None
    assert left(shop, FileRead(paths=("src/main.py",)), rules) is None
    ran = Command(command="make", output="hunter2", exit_code=2)
    assert left(shop, ran, rules) == Command(command="make", exit_code=2)
    assert left(shop, FileWrite(path="src/main.py"), rules)


def test_nothing_is_recorded_under_a_policy_that_cannot_be_used(shop: Path) -> None:
    assert left(shop, Reply(text="done"), b"exclude = 1") is None
    assert left(shop, SessionStart(), b"exclude = 1") is None


@pytest.mark.parametrize(
    "body", [Remember(content="x"), Triage(signal=1, status="new", type="stale_state")]
)
def test_what_is_shown_on_purpose_is_kept_whatever_the_policy(shop: Path, body: AnyBody) -> None:
    assert left(shop, body, b"exclude = 1") is body


def test_files_of_commits_are_left_out_under_both_names() -> None:
    policy = parse_policy(RULES, "/shop")
    files = tuple(
        FileChange(path=path, old_path=old)
        for path, old in [("a.py", ""), ("secrets/key", ""), ("b.py", "secrets/b"), ("c.pem", "")]
    )
    assert [file.path for file in unexcluded_files(files, policy)] == ["a.py"]
    assert unexcluded_files(files, parse_policy(b"", "/shop")) is files
