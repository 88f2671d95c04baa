"""What a program of a command checks, and how much of it: the oracle's own view."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from sessions.shell import Part

_SCRIPTS = {
    "npm",
    "pnpm",
    "yarn",
    "bun",
    "deno",
    "make",
    "just",
    "task",
    "mise",
    "rake",
    "composer",
}
_KINDS = (
    ("typecheck", re.compile(r"type-?check|check-?types|tsc\b|types?$")),
    ("lint", re.compile(r"lint|vet$|clippy|rubocop|phpstan|detekt|checkstyle")),
    ("format", re.compile(r"fmt|format|prettier")),
    ("build", re.compile(r"build|compile|bundle|assemble|package$")),
    ("test", re.compile(r"test|spec|e2e|coverage$|verify$")),
    ("check", re.compile(r"check|ci$|validate|quality")),
)
_TOOLS = {
    "typecheck": "tsc vue-tsc mypy pyright basedpyright ty flow",
    "lint": "eslint biome ruff flake8 pylint golangci-lint staticcheck rubocop shellcheck oxlint "
    "stylelint ktlint phpstan psalm phpcs credo yamllint markdownlint hadolint actionlint",
    "format": "prettier gofmt goimports black isort rustfmt dprint clang-format",
    "build": "webpack vite rollup esbuild gcc g++ clang javac cmake ninja next tsup msbuild",
    "test": "pytest jest vitest mocha ava rspec phpunit pest playwright cypress tox nox ctest "
    "gotestsum nose2 minitest unittest",
}
_KIND_OF_TOOL = {tool: kind for kind, tools in _TOOLS.items() for tool in tools.split()}
_VERBS = {
    "go": {"test": "test", "vet": "lint", "build": "build", "fmt": "format", "install": "build"},
    "cargo": {
        "test": "test",
        "nextest": "test",
        "clippy": "lint",
        "check": "typecheck",
        "build": "build",
        "fmt": "format",
    },
    "dotnet": {"test": "test", "build": "build", "format": "format"},
    "mvn": {"test": "test", "verify": "test", "package": "build", "compile": "build"},
    "gradle": {"test": "test", "check": "test", "build": "build", "assemble": "build"},
    "swift": {"test": "test", "build": "build"},
    "mix": {"test": "test", "compile": "build", "format": "format"},
    "rails": {"test": "test"},
    "artisan": {"test": "test"},
}
_ALIASES = {"gradlew": "gradle", "mvnw": "mvn"}
_FILTERS = frozenset(
    (
        "-t",
        "-k",
        "-m",
        "--grep",
        "-g",
        "--filter",
        "-run",
        "--run",
        "--testNamePattern",
        "-p",
        "--testPathPattern",
        "--tests",
        "-Dtest",
        "-e",
        "--package",
        "--workspace",
        "-w",
    )
)
_MENDS = re.compile(r"(?:[:-]|^--)(?:fix|write|unsafe)\b|^-w$")
_WHOLE = frozenset({".", "./...", "...", "src", "tests", "test", "src/", "./", "run", "--"})


class Check(NamedTuple):
    """A check: its kind (test, lint …), the tool or script, its folder, and what narrows it.

    An empty `scope` is everything there is. One that `mends` changes files instead of judging
    them, so that its clean end need not mean that all is well.
    """

    kind: str
    name: str
    folder: str = ""
    scope: frozenset[str] = frozenset()
    mends: bool = False

    def covers(self, other: Check) -> bool:
        """Return True if a clean run of this one concerns all that the other checks."""
        is_like = self.kind == other.kind and (self.folder == other.folder or not self.folder)
        return is_like and (not self.scope or self.scope >= other.scope > frozenset())


def checks(found: list[Part]) -> Iterator[tuple[Part, Check]]:
    """Yield the parts of a command that check something."""
    for part in found:
        if check := check_of(part):
            yield part, check


def check_of(part: Part) -> Check | None:
    """Return what a part checks, None if it checks nothing."""
    found = _judging(part) if part.words else None
    mends = found is not None and any(map(_MENDS.search, part.words))
    return found._replace(mends=mends) if found else None


def _judging(part: Part) -> Check | None:
    program = _ALIASES.get(part.program, part.program)
    words = list(part.words[1:])
    folder = part.folder
    while words and words[0].startswith("-") and program in _SCRIPTS:
        flag = words.pop(0)
        if flag in {"-C", "--cwd", "--dir", "--prefix", "--filter"} and words:
            folder = words.pop(0)
    if program in _KIND_OF_TOOL:
        return Check(_KIND_OF_TOOL[program], program, folder, _scope(words))
    if program in _VERBS:
        return _of_verb(program, words, folder)
    if program in _SCRIPTS:
        return _of_script(program, words, folder)
    return None


def _of_verb(program: str, words: list[str], folder: str) -> Check | None:
    for place, word in enumerate(words):
        if kind := _VERBS[program].get(word.rpartition(":")[2]):
            return Check(kind, program, folder, _scope(words[place + 1 :]))
    return None


def _of_script(program: str, words: list[str], folder: str) -> Check | None:
    if words[:1] in (["run"], ["run-script"]):
        words = words[1:]
    name = next((word for word in words if not word.startswith("-")), "")
    rest = words[words.index(name) + 1 :] if name else []
    if program == "bun" and name.endswith((".ts", ".js", ".tsx")):
        return None
    kind = next((kind for kind, pattern in _KINDS if pattern.search(name)), "")
    return Check(kind, name, folder, _scope(rest)) if kind else None


def _scope(words: list[str]) -> frozenset[str]:
    """Return the paths, names and filters that narrow a check."""
    found, is_filter = [], False
    for word in words:
        name, _, value = word.partition("=")
        if is_filter or (name in _FILTERS and value):
            found.append(value or word)
            is_filter = False
        elif word in _FILTERS:
            is_filter = True
        elif not word.startswith("-") and word not in _WHOLE:
            found.append(word)
    return frozenset(found)
