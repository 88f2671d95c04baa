"""Whether two command lines run the same thing in other words, and which words differ.

Part of interpretation (step 6). `rtk bun test` and `bun test`, `pytest` and `uv run python -m
pytest`, `go test ./...` here and in a folder below, `npm install` with one option more: where one
form fails and the other works, the next session should begin with the one that works.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from observer.commands import command_line
from observer.commands.check_tools import ALIASES
from observer.commands.command_line import SimpleCommand
from observer.commands.runners import ASSIGNMENT, program_name
from observer.core.text import one_line, word_set
from observer.core.value import Value

_WORDS = 40
_LINE = 240
_PREFIX = 2
_INSTALLING = word_set("install i ci add sync update")
_SAME_PROGRAM = ALIASES | {"python3": "python", "pip3": "pip", "nodejs": "node"}
_TWO_WORDS = {"docker-compose": ("docker", "compose")}
_RUNS_SCRIPTS = word_set("npm yarn pnpm bun deno composer")
_BYPASSING = (
    "--no-verify", "--exit-zero", "--skip", "-DskipTests", "--ignore", "--no-error", "--continue",
    "--passWithNoTests", "--allow-", "--help", "--version", "--force", "-f", "--dry-run",
)  # fmt: skip
"""Options that bypass a failure instead of fixing it."""


class InvocationForm(Value):
    """One simple command as it was typed, with what wraps it and where it ran.

    `words` are those that say what is run, in a form in which equal programs have equal names.
    `line` is how it has to be typed, from the project's folder.
    """

    line: str
    words: tuple[str, ...]
    folder: str = ""


def forms_of(command: str, *, folder: str = "") -> tuple[InvocationForm, ...]:
    """Return the simple commands of a line that do more than look or set things up.

    Args:
        command: the command line.
        folder: where it ends up, relative to the project, as `check_runs.folder_of` says.
    """
    parts = command_line.simple_commands(command)
    before = [part.shown for part in parts if part.words[0] in _SETTING]
    return tuple(
        _form(part, folder, before)
        for part in parts
        if part.sign != "|" and not part.looks and program_name(part.words[0]) not in _ASIDE
    )[:8]


_SETTING = word_set("source . export")
"""What is run before a command to set it up: `source .venv/bin/activate`."""
_ASIDE = word_set("cd export source . set unset echo printf")


def _form(part: SimpleCommand, folder: str, before: Sequence[str]) -> InvocationForm:
    settings = [word for word in part.wrapping.split() if ASSIGNMENT.match(word)]
    line = " ".join(filter(None, (*settings, part.runner, *part.words)))
    place = [f"cd {folder}"] if folder and not folder.startswith(("/", "~")) else []
    whole = " && ".join([*place, *before, line])
    return InvocationForm(line=one_line(whole, _LINE), words=_canonical(part.words), folder=folder)


def _canonical(typed: Sequence[str]) -> tuple[str, ...]:
    program = program_name(typed[0])
    words = [*_TWO_WORDS.get(program, (_SAME_PROGRAM.get(program, program),)), *typed[1:]]
    if program == "git":
        words = ["git", *command_line.git_words(list(words))]
    found = [
        word
        for place, word in enumerate(words)
        if word != "--" and not (word == "run" and place and words[place - 1] in _RUNS_SCRIPTS)
    ]
    return tuple(one_line(word.strip("'\""), 120) for word in found[:_WORDS])


def is_same_form(one: InvocationForm, other: InvocationForm) -> bool:
    """Return True if both are typed and placed alike."""
    return one.line == other.line


def is_other_form(failed: InvocationForm, worked: InvocationForm, error: str) -> bool:
    """Return True if a command runs what another one, that could not, was meant to run.

    They may differ by up to two words before the program (`rtk bun test`), and by options that
    the error is about.
    """
    left_out = [word for word in failed.words if word.startswith("-") and word not in worked.words]
    if (
        is_same_form(failed, worked)
        or _bypasses(failed, worked)
        or not all(word.partition("=")[0] in error for word in left_out)
    ):
        return False
    mine, yours = _plain(failed.words), _plain(worked.words)
    for i in range(min(_PREFIX, len(mine) - 1) + 1):
        for j in range(min(_PREFIX, len(yours) - 1) + 1):
            tail = mine[i:]
            is_enough = len(tail) > 1 or not (i and j)
            if is_enough and len(tail) == len(yours[j:]) and all(map(_alike, tail, yours[j:])):
                return True
    return False


def adds_settings(failed: InvocationForm, worked: InvocationForm) -> bool:
    """Return True if a command only adds a setting to one that failed.

    A setting is a variable or program before it, or an option of an installation. Other options
    choose what is done, so that both say different things.
    """
    if failed.folder != worked.folder or is_same_form(failed, worked) or _bypasses(failed, worked):
        return False
    if failed.words == worked.words:
        return True
    installs = any(word in _INSTALLING for word in failed.words[1:3])
    more = worked.words[len(failed.words) :]
    is_longer = worked.words[: len(failed.words)] == failed.words
    return installs and is_longer and all(word.startswith("--") for word in more)


def _bypasses(failed: InvocationForm, worked: InvocationForm) -> bool:
    return any(word.startswith(_BYPASSING) for word in worked.words if word not in failed.words)


def _plain(words: Iterable[str]) -> tuple[str, ...]:
    return tuple(word for word in words if not word.startswith("-"))


def _alike(one: str, other: str) -> bool:
    """Return True for equal words, and for one path as seen from two folders."""
    return one == other or (
        "/" in f"{one}{other}" and (one.endswith(f"/{other}") or other.endswith(f"/{one}"))
    )
