"""Parsing a policy file: its value, what is wrong with an unusable one, and path patterns.

Path patterns are in the style of gitignore, matched without a regular expression over the path.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Sequence
from fnmatch import translate
from functools import cached_property, lru_cache
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from observer.core.value import Value

_Match = Callable[[str], re.Match[str] | None]
_ANY_DEPTH = "**"


class PathPattern:
    """A glob relative to the root of a work tree.

    `*`, `?` and `[a-z]` stay within one folder; `**` stands for any number of folders. A pattern
    without a slash, or with one at its end only, matches at any depth; with one at its end it
    matches folders only. What matches a folder matches everything below it. Case counts.

    Raises:
        ValueError: says what is wrong with the text.
    """

    def __init__(self, text: str) -> None:
        names = [name for name in text.split("/") if name not in {"", "."}]
        if problem := _problem_with(text, names):
            raise ValueError(problem)
        if "/" not in text.rstrip("/"):
            names.insert(0, _ANY_DEPTH)
        if names[-1] == _ANY_DEPTH:
            names[-1] = "*"  # `docs/**` is what is in docs, not docs itself
        steps = tuple(None if name == _ANY_DEPTH else _matcher(name) for name in names)
        self._folder = (*steps, None)
        self._file = (*steps, _matcher("*"), None) if text.endswith("/") else self._folder

    def matches(self, names: Sequence[str], *, is_folder: bool = False) -> bool:
        """Return True if a path, given as the names along it, or a folder around it matches.

        Args:
            names: the parts of a path relative to the root.
            is_folder: whether the path itself may be a folder.
        """
        return _matches(self._folder if is_folder else self._file, names)


def _matches(steps: Sequence[_Match | None], names: Sequence[str]) -> bool:
    """Return True if the steps match all names; goes back to the last `**` at most."""
    at = step = 0
    resume: tuple[int, int] | None = None
    while at < len(names):
        match = steps[step] if step < len(steps) else _never
        if match is None:
            step += 1
            resume = (at, step)
        elif match(names[at]):
            at, step = at + 1, step + 1
        elif resume:
            at, step = resume[0] + 1, resume[1]
            resume = (at, step)
        else:
            return False
    return all(match is None for match in steps[step:])


def _never(name: str) -> None:
    del name


def _problem_with(text: str, names: Sequence[str]) -> str:
    if text.startswith("!"):
        return "no pattern can bring back what another one excludes"
    if ".." in names:
        return "it leads out of the repository"
    if "\\" in text or not text.isprintable():
        return "backslashes and control characters are not supported"
    return "" if names else "it names nothing"


@lru_cache(maxsize=1024)
def _matcher(name: str) -> _Match:
    # What `translate` makes has atomic groups: no name can make it backtrack without end.
    return re.compile(translate(name)).match


FILE = ".observer.toml"
MOST_BYTES = 32 << 10

KINDS = (
    "prompt",
    "reply",
    "file-write",
    "file-read",
    "command",
    "search",
    "delegation",
    "tool-use",
    "commit",
    "custom",
    "output",
)
"""What `never` may name: kinds of events, and `output`, the output of commands and tools."""

MOST_PATTERNS = 200
MOST_KNOWN = 4096
PATH_CHARACTERS = 4096
"""No file has a longer path."""

_LINE = re.compile(r"at line (\d+)")
_KEY = re.compile(r" - at `\$\.(\w+)")

_EXPECTED = {
    "exclude": f"a list of at most {MOST_PATTERNS} patterns, each of at most 256 characters",
    "never": "a list of kinds",
    "retention_days": "a number of days from 1 to 36,500",
    "name": "of at most 40 letters, digits, dots, hyphens and underscores",
    "sharing": '"all" or "none"',
}
"""What each key must be."""


class _Written(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    forbid_unknown_fields=True,
):
    """The keys of the file."""

    exclude: Annotated[
        tuple[Annotated[str, Meta(max_length=256)], ...], Meta(max_length=MOST_PATTERNS)
    ] = ()
    never: tuple[str, ...] = ()
    retention_days: Annotated[int, Meta(ge=1, le=36_500)] | None = None
    # What a repository may be called where repositories are kept: neither escapes nor sentences.
    name: Annotated[str, Meta(pattern=r"\A[A-Za-z0-9_][A-Za-z0-9._-]{0,39}\Z")] = ""
    sharing: Literal["all", "none"] = "all"


class PolicyProblem(Value):
    """Why a policy cannot be used: the file, its line (0 for the whole), and what to do."""

    path: str
    found: str
    hint: str
    line: int = 0

    def __str__(self) -> str:
        """Return where it is and what was found there."""
        return (
            f"{self.path}, line {self.line}: {self.found}"
            if self.line
            else (f"{self.path}: {self.found}")
        )


class Policy(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """What is in force in one work tree; the empty one restricts nothing.

    Where there is a `problem` nothing is recorded of the work tree at all: what the file was meant
    to keep out is unknown.

    Args:
        root: the work tree; patterns count from there.
        exclude: patterns of files of which nothing is recorded.
        never: kinds of events that are not recorded, of `KINDS`.
        retention_days: after so many days captured events of the project may be deleted; None
            leaves it to the user's settings.
        name: what the project is called; "" leaves it its folder's name.
        sharing: "none" keeps what was captured from a language model and from other projects.
        problem: why the file cannot be used.
    """

    root: str = ""
    exclude: tuple[str, ...] = ()
    never: frozenset[str] = frozenset()
    retention_days: int | None = None
    name: str = ""
    sharing: Literal["all", "none"] = "all"
    problem: PolicyProblem | None = None

    @property
    def is_open(self) -> bool:
        """Whether all that happens in the work tree may be recorded."""
        return not (self.problem or self.exclude or self.never)

    def excludes(self, path: str, *, is_folder: bool = False) -> bool:
        """Return True if nothing is recorded of a file, named by its path from the root."""
        return bool(self.excluding(path, is_folder=is_folder))

    def excluding(self, path: str, *, is_folder: bool = False) -> str:
        """Return the first pattern that excludes a path, "" if none does."""
        if not self.exclude or len(path) > PATH_CHARACTERS:
            return ""
        known = self._known.get((path, is_folder))
        if known is None:
            if len(self._known) >= MOST_KNOWN:
                self._known.clear()
            known = self._known[path, is_folder] = self._matching(path, is_folder=is_folder)
        return known

    def _matching(self, path: str, *, is_folder: bool) -> str:
        names = [name for name in path.split("/") if name not in {"", "."}]
        for text, pattern in self._patterns:
            if pattern.matches(names, is_folder=is_folder):
                return text
        return ""

    @cached_property
    def _known(self) -> dict[tuple[str, bool], str]:
        """Answers that were given: outputs name the same files again and again."""
        return {}

    @cached_property
    def _patterns(self) -> Sequence[tuple[str, PathPattern]]:
        return [(text, PathPattern(text)) for text in self.exclude]


def parse_policy(data: bytes, root: str) -> Policy:
    """Return the policy that a file's bytes state; one with a `problem` if they state none."""
    path = f"{root}/{FILE}"
    try:
        text = data.decode()
        values = tomllib.loads(text)
    except UnicodeDecodeError:
        return unusable_policy(root, "it is not valid UTF-8", hint=f"save {path} as UTF-8")
    except RecursionError:
        return unusable_policy(root, "it is nested too deeply", hint=f"correct {path}")
    except tomllib.TOMLDecodeError as error:
        at = _LINE.search(str(error))
        line = int(at[1]) if at else text.count("\n") + 1
        return unusable_policy(
            root, "it is not valid TOML", hint="correct or remove that line", line=line
        )
    return _checked(values, text, root)


def unusable_policy(root: str, found: str, *, hint: str, line: int = 0) -> Policy:
    """Return the policy of a file that cannot be used."""
    problem = PolicyProblem(path=f"{root}/{FILE}", found=found, hint=hint, line=line)
    return Policy(root=root, problem=problem)


def _checked(values: dict[str, Any], text: str, root: str) -> Policy:
    try:
        written = msgspec.convert(values, _Written)
    except msgspec.ValidationError as error:
        key = _named_in(str(error), values)
        if expected := _EXPECTED.get(key):
            found, hint = f"{key} must be {expected}", f"correct {key}"
        else:
            found, hint = (
                f"the key {_shown(key)} is unknown",
                f"the keys are {', '.join(_EXPECTED)}",
            )
        return unusable_policy(root, found, hint=hint, line=_line_of(key, text))
    for kind in written.never:
        if kind not in KINDS:
            hint = f"the kinds are {', '.join(KINDS)}"
            found = f"never: {_shown(kind)} is not a kind of event"
            return unusable_policy(root, found, hint=hint, line=_line_of(kind, text, quoted=True))
    for pattern in written.exclude:
        try:
            PathPattern(pattern)
        except ValueError as error:
            found = f"exclude: {_shown(pattern)} cannot be used: {error}"
            line = _line_of(pattern, text, quoted=True)
            return unusable_policy(root, found, hint="correct or remove that pattern", line=line)
    return Policy(
        root=root,
        exclude=written.exclude,
        never=frozenset(written.never),
        retention_days=written.retention_days,
        name=written.name,
        sharing=written.sharing,
    )


def _named_in(message: str, values: dict[str, Any]) -> str:
    """Return the key that a problem is about; what the file holds besides is not repeated."""
    unknown = [key for key in values if key not in _EXPECTED]
    at = _KEY.search(message)
    return at[1] if at else unknown[0]


def _shown(text: str) -> str:
    """Return a text of the file so that a terminal and a reader take it as quoted."""
    return repr(text if len(text) <= 40 else text[:40] + "…")


def _line_of(text: str, within: str, *, quoted: bool = False) -> int:
    """Return the first line with a key, or a string in quotes; 0 if it is written otherwise."""
    wanted = rf"""["']{re.escape(text)}["']""" if quoted else rf"""^\s*["']?{re.escape(text)}\b"""
    return next(
        (number for number, line in enumerate(within.splitlines(), 1) if re.search(wanted, line)),
        0,
    )
