"""Which commands may make a check pass."""

from __future__ import annotations

import pytest

from observer.interpret import commandline
from observer.interpret.remedies import is_remedy


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("pip install requests", True),
        ("npm ci", True),
        ("cargo add serde", True),
        ("sed -i s/a/b/ x.py", True),
        ("ruff check --fix .", True),
        ("ruff format .", True),
        ("black .", True),
        ("git pull --rebase", True),
        ("git merge --abort", False),
        ("black --check .", False),
        ("sed -n 1p x.py", False),
        ("ruff check .", False),
        ("pytest", False),
        ("npm test", False),
    ],
)
def test_a_remedy_changes_something(command: str, expected: bool) -> None:
    (part,) = commandline.parts_of(command)
    assert is_remedy(part) is expected
