"""An error is in the words of what was typed, and its hint is something to type."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from observer.core.paths import Home

Run = Callable[..., Any]

WRONG = [
    pytest.param(
        "why login.py:total", "no file", "login.py::total names code in it", id="one colon"
    ),
    pytest.param(
        "config set excldue /x", "no setting 'excldue'", "did you mean exclude? see", id="setting"
    ),
    pytest.param(
        "config set context_tokens many",
        "setting 'context_tokens' cannot be 'many', in the command line: expected a whole number",
        "Token budget",
        id="number",
    ),
    pytest.param(
        "config set retention_by_type foo=3",
        "cannot be 'foo=3', in the command line: expected text of another form",
        "such as `command=90`",
        id="form",
    ),
    pytest.param("timeline s1", "no item 's1'", "observer show s1", id="session as item"),
    pytest.param(
        "context --client cursr", "no client 'cursr'", "did you mean cursor? see", id="client"
    ),
    pytest.param("install cursr", "error: no client 'cursr'", "did you mean cursor?", id="install"),
    pytest.param("note --layer rul", "--layer cannot be 'rul'", "did you mean rule?", id="layer"),
    pytest.param("search --type comit x", "nothing is of type 'comit'", "mean commit?", id="type"),
    pytest.param("note --type desicion", "of type 'desicion'", "mean decision?", id="note's type"),
    pytest.param(
        "note link 1 2 --kind amend", "no kind of link 'amend'", "mean amends?", id="kind"
    ),
    pytest.param("today --days 400", "400 is more than a year", "search --since 400d", id="days"),
    pytest.param("search x --since soon", "'soon' is not a time", "write 2026-11-21", id="since"),
    pytest.param("doctor speed hook", "no part 'hook'", "did you mean hooks?", id="part"),
    pytest.param("restore /nope", "error: File '/nope' does not exist", "restore", id="file"),
    pytest.param("import /nope", "'/nope' is no source and no file", "first: git", id="source"),
    pytest.param("import login.py", "'login.py' is of no source", "first: git", id="its source"),
    pytest.param("post", "nothing came on stdin", "give a kind", id="stdin"),
    pytest.param("timeline", "Missing argument 'ID'", "timeline --help", id="argument"),
]


@pytest.mark.parametrize(("line", "said", "hint"), WRONG)
def test_an_error_is_in_the_words_of_what_was_typed(
    run: Run, filled: Home, app: Path, line: str, said: str, hint: str
) -> None:
    (app / "login.py").touch()
    ran = run(*line.split())
    assert ran.code in {2, 3}
    assert said in ran.err
    assert hint in ran.err.partition("hint: ")[2]
