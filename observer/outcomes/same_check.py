"""When two commands are the same check, and when a pass of one answers a failure of the other.

Part of interpretation (step 6). `pytest -x tests/cart` and `python -m pytest tests/cart -q` are
the same; `pytest tests` covers both; `pytest tests/cart/test_total.py` covers a failure of theirs
if all the tests that failed are in there. Of programs that are not known as tests or checkers,
only the same words are the same command.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable
from functools import lru_cache

from msgspec.structs import replace

from observer.core.text import one_line, relative, word_set
from observer.core.value import Value
from observer.outcomes.result import CommandResult
from observer.shell import command_line
from observer.shell.command_line import SimpleCommand
from observer.shell.fixers import rewrites
from observer.shell.runners import program_name

_JS = "jest vitest mocha ava tap tsc eslint prettier biome npm yarn pnpm bun deno node"
FAMILIES = {
    tool: family
    for family, tools in {
        "python": "pytest py.test unittest mypy ruff flake8 pylint black pyright tox nox python "
        "python3 isort",
        "javascript": _JS,
        "go": "go golangci-lint staticcheck gofmt",
        "rust": "cargo rustc",
        "java": "mvn mvnw gradle gradlew javac",
        "csharp": "dotnet",
        "ruby": "rspec rubocop rake ruby",
        "php": "phpunit phpstan composer php",
    }.items()
    for tool in tools.split()
}
"""Program -> the family of languages that it checks."""

_SELECTING = word_set(
    """
    pytest py.test unittest jest vitest mocha rspec phpunit mypy ruff eslint pylint flake8 pyright
    black go cargo node tsc rubocop npm yarn pnpm bun phpstan
    """
)
"""Programs whose further words choose a part of what they check."""
_WITH_VERB = word_set("npm yarn pnpm bun cargo go ruff deno dotnet node composer")
_RUN = word_set("run run-script test:")
_CHOOSING = word_set(
    "-k -m -t -run --run --testNamePattern --testPathPattern --filter -p --package --grep -g -e"
    " --test --example --only"
)
_AGAIN = word_set("--lf --last-failed --ff --failed-first --onlyFailures -f --only-failures")
_LAST_FAILED = word_set("--lf --last-failed --onlyFailures --only-failures")
_QUIET = re.compile(
    r"-[qvsx]+\Z|-r[AENPRXafpswx]+\Z|--(?:quiet|verbose|exitfirst|no-header|silent|runInBand|watchAll=false"
    r"|no-cov|fix|unsafe-fixes|nocapture|show-output|ci|passWithNoTests|bail|capture=\w+|reporter=\w+|sw"
    r"|(?:tb|color|colour|colors|durations|maxfail|cov[a-z-]*)(?:=\S*)?)\Z|-(?:n|j)\d*\Z|-count=1\Z"
)
_WITH_VALUE = word_set("-n -j --tb --maxfail --color --durations --reporter --cov")
BELOW = " (in "
_EXPANDED = frozenset("$~`")
_PARTS = re.compile(r"::|[ /.\[(:>]")
_UNSAID = _CHOOSING | _AGAIN | _WITH_VALUE | {"--"}


class CheckCommand(Value):
    """A command as far as it says what is checked.

    `folder` is where, relative to the project; `program` what checks, its options with it;
    `targets` which part, sorted, nothing for all of it. `again` is a run of what failed last,
    `is_fixer` one that rewrites what it finds.
    """

    program: str
    tool: str = ""
    folder: str = ""
    targets: tuple[str, ...] = ()
    again: bool = False
    is_fixer: bool = False

    @property
    def family(self) -> str:
        """The family of languages that it checks, if known."""
        return FAMILIES.get(self.tool, "")


def check_command_of(
    command: str, result: CommandResult, *, root: str, cwd: str
) -> CheckCommand | None:
    """Return what a command line checks, as the part of it that its result is about.

    None if it only looks, or is about git's own affairs.
    """
    parts = command_line.simple_commands(command)
    folder = folder_of(parts, root, cwd)
    able = _able(parts)
    if not able:
        return None
    named = [part for part in able if program_name(part.words[0]) == result.tool]
    return _of((named or able)[-1], folder)


@lru_cache(maxsize=2048)
def repetitions(command: str) -> int:
    """Return how often a line begins with the same check, the last time of no less than before.

    `pytest; pytest --lf` is 2, `pytest a; pytest b` and `DB=a pytest; DB=b pytest` are 1.
    """
    parts = command_line.simple_commands(command)
    able = _able(parts)
    same = [part for part in able if program_name(part.words[0]) == program_name(able[0].words[0])]
    if not same or len({part.wrapping for part in same}) > 1:
        return 1
    if any(part.words[0] == "cd" for part in parts[parts.index(same[0]) :]):
        return 1
    *before, end = [_of(part, "") for part in same]
    return len(same) if all(resolves(end, one, (), "") for one in before) else 1


def _able(parts: Iterable[SimpleCommand]) -> list[SimpleCommand]:
    return [part for part in parts if part.sign != "|" and not part.looks and not _is_aside(part)]


def _of(part: SimpleCommand, folder: str) -> CheckCommand:
    words = part.words
    tool, is_fixer = program_name(words[0]), rewrites(part)
    if tool not in _SELECTING:
        program = one_line(" ".join([tool, *words[1:]]), 300)
        return CheckCommand(program=program, tool=tool, folder=folder, is_fixer=is_fixer)
    return replace(_selecting(tool, words[1:], folder), is_fixer=is_fixer)


def _selecting(tool: str, words: list[str], folder: str) -> CheckCommand:
    program = [tool]
    if tool in _WITH_VERB and words and not words[0].startswith("-"):
        program.append("run" if words[0] in _RUN else words[0])
        words = words[1:]
        if program[-1] == "run" and words:
            program[-1] = words[0]
            words = words[1:]
    options, targets = _sorted(words)
    return CheckCommand(
        program=one_line(" ".join([*program, *sorted(options)]), 300),
        tool=tool,
        folder=folder,
        targets=tuple(sorted({_target(word) for word in targets} - {""}))[:20],
        again=bool(_LAST_FAILED & set(words)),
    )


def _sorted(words: list[str]) -> tuple[list[str], list[str]]:
    """Part what chooses a part from other options; those that change no result are left out."""
    options: list[str] = []
    targets: list[str] = []
    before = ""
    for word in words:
        name, _, value = word.partition("=")
        if before in _CHOOSING:
            targets.append(word)
        elif name in _CHOOSING and value:
            targets.append(value)
        elif not word.startswith("-"):
            targets += [] if before in _WITH_VALUE else [word]
        elif word not in _UNSAID and not _QUIET.match(word):
            options.append(word)
        before = word
    return options, targets


def _target(word: str) -> str:
    """Return a target without quotes and pattern ends; nothing for all."""
    plain = word.strip("'\"^$").removesuffix("...").removeprefix("./").rstrip("/")
    return one_line("" if plain == "." else plain, 200)


def folder_of(parts: Iterable[SimpleCommand], root: str, cwd: str) -> str:
    """Return where a command line ends up, relative to the project, empty for its root."""
    folder = cwd
    for part in parts:
        if part.words[0] == "cd" and len(part.words) > 1:
            folder = posixpath.join(folder, part.words[1].strip("'\""))
    shown = relative(folder, root) if folder else ""
    return "" if shown == root.rstrip("/") else shown


def located_head(command: str, *, root: str, cwd: str) -> str:
    """Return the head of a command line and, if that is below the root, where it runs.

    `pytest` of one package passing says nothing about `pytest` of another.
    """
    head = command_line.parse_command_line(command).head
    folder = folder_of(command_line.simple_commands(command), root, cwd)
    is_below = bool(folder) and not folder.startswith("/") and _EXPANDED.isdisjoint(folder)
    return f"{head}{BELOW}{folder})" if root and is_below else head


def _is_aside(part: SimpleCommand) -> bool:
    return program_name(part.words[0]) in {
        "git",
        "cd",
        "export",
        "source",
        ".",
        "set",
        "unset",
        "gh",
    }


def resolves(passed: CheckCommand, failed: CheckCommand, tests: Iterable[str], place: str) -> bool:
    """Return True if a pass answers a failure.

    Args:
        passed: what passed.
        failed: what had failed.
        tests: all the tests that had failed; empty if they are not all known.
        place: where the one error was; empty if there were more, or it is unknown.
    """
    if not is_same_program(passed, failed) or (passed.is_fixer and not failed.is_fixer):
        return False
    if _reaches(passed, failed):
        return True
    names = [*tests] or ([place] if place else [])
    return bool(names) and all(selects(passed, name) for name in names)


def is_same_program(one: CheckCommand, other: CheckCommand) -> bool:
    """Return True if both run the same program in the same folder."""
    return (one.program, one.folder) == (other.program, other.folder)


def is_same_check(one: CheckCommand, other: CheckCommand) -> bool:
    """Return True if both check the same, whether or not they fix what they find."""
    return replace(one, is_fixer=False) == replace(other, is_fixer=False)


def includes(wide: CheckCommand, narrow: CheckCommand) -> bool:
    """Return True if all that one checks is checked by the other, as far as the words show."""
    return (narrow.again or not wide.again) and _reaches(wide, narrow)


def _reaches(wide: CheckCommand, narrow: CheckCommand) -> bool:
    """Return True if the targets of one lie within those of the other, whatever failed last."""
    return not wide.targets or (
        bool(narrow.targets)
        and all(any(_inside(name, place) for place in wide.targets) for name in narrow.targets)
    )


def selects(invocation: CheckCommand, name: str) -> bool:
    """Return True if a test or file of this name is among what is checked."""
    return not invocation.targets or any(
        _inside(name, place) or (place in name and place in _PARTS.split(name))
        for place in invocation.targets
    )


def _inside(name: str, place: str) -> bool:
    return name == place or (name.startswith(place) and name[len(place)] in "/:[.")
