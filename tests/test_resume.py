"""An interrupted session, and the card that the next one starts with: through every real part."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from observer.tools import render
from tests.support import Git, Observer, Until, told_by_hook

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]
Tell = Callable[..., None]
Edit = Callable[..., None]
Shown = Callable[..., str]

RED = """\
FAILED tests/test_cart.py::test_total - AssertionError: assert 9.99 == 10.0
1 failed, 2 passed in 0.31s"""


@pytest.fixture
def repository(tmp_path: Path, git: Git) -> Path:
    root = tmp_path / "shop"
    for name in ("cart.py", "prices.py", "README.md"):
        git(root, "init", "-q")
        (root / name).write_text("begin\n")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "Begin")
    return root


@pytest.fixture
def tell(repository: Path) -> Tell:
    return told_by_hook(repository)


@pytest.fixture
def edit(tell: Tell, repository: Path) -> Edit:
    """Edit a file, and say so as the client does."""

    def run(name: str) -> None:
        (repository / name).write_text("def total(lines):\n    return sum(lines)\n")
        replaced = {"old_string": "begin", "new_string": "def total(lines):"}
        inputs = {"file_path": str(repository / name), **replaced}
        tell("PostToolUse", tool_name="Edit", tool_input=inputs)

    return run


@pytest.fixture
def shown(repository: Path, within: Observer) -> Shown:
    """What the session-start hook of a client prints."""
    within("up")

    def run(client: str = "claude-code") -> str:
        argv = ["sh", str(ROOT / "hooks" / "context"), client]
        return subprocess.run(
            argv, cwd=repository, capture_output=True, text=True, check=True
        ).stdout

    return run


def card_of(text: str) -> list[str]:
    """Return the lines that begin with an id; those of the card are the first."""
    return [line for line in text.splitlines() if re.match(r"#\d", line)]


def uncommitted(text: str) -> set[str]:
    """Return the files that a context calls not committed."""
    lines = (line.partition(" · ")[2] for line in text.splitlines() if " not committed" in line)
    return {path for line in lines for path in line.split()}


def interrupted(tell: Tell, edit: Edit) -> None:
    tell("SessionStart", source="startup")
    tell("UserPromptSubmit", prompt="why does the cart total differ by a cent?", prompt_id="p1")
    edit("cart.py")
    edit("prices.py")
    tell(
        "PostToolUseFailure",
        tool_name="Bash",
        tool_input={"command": "pytest -q tests/test_cart.py"},
        error=f"Exit code 1\n{RED}",
    )


def test_the_card_of_an_interrupted_session_names_what_is_red_and_what_is_dirty(
    tell: Tell, edit: Edit, shown: Shown, until: Until, within: Observer, repository: Path
) -> None:
    interrupted(tell, edit)
    until(lambda: "prices.py" in shown() and "test_total" in shown())
    asked, red, dirty = card_of(shown())[:3]
    assert re.match(r"#\d+ last session .* claude-code on main, still open: why does the", asked)
    assert re.match(r"#\d+ red when it ran last .*tests/test_cart.py::test_total.*9.99", red)
    assert re.match(r"#\d+ not committed · prices.py cart.py$", dirty)
    assert render.tokens(shown()) <= 1000
    explained = within("context", "--project", str(repository), "--explain", "--json")
    lines = json.loads(explained.stdout)["lines"]
    assert [line["why"] for line in lines][:2] == ["last session", "red when it ran last"]


def test_what_was_committed_elsewhere_is_not_called_dirty(
    tell: Tell, edit: Edit, shown: Shown, until: Until, repository: Path, git: Git
) -> None:
    interrupted(tell, edit)
    until(lambda: uncommitted(shown()) == {"prices.py", "cart.py"})
    git(repository, "commit", "-q", "-m", "Begun", "cart.py")  # no hook tells of it
    tell("UserPromptSubmit", prompt="go on", prompt_id="p2")
    until(lambda: uncommitted(shown()) == {"prices.py"})
