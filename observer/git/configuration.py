"""A repository's configuration: parsed here, and reduced to what only describes its format.

git never sees the repository's own files (see `repository.mirror`). The user's own configuration is
read with git commands that run nothing.
"""

from __future__ import annotations

import os
import re
import subprocess
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from observer.core.errors import NotFound
from observer.core.paths import open_plain
from observer.git.launch import WAIT_S, GitTimeout, ask, environment

MOST_BYTES = 1 << 20
"""Read of one file."""

_SECTION = re.compile(r'\[\s*([A-Za-z0-9.-]+)(?:\s+"((?:[^"\\\n]|\\.)*)")?\s*\]')
_KEY = re.compile(r"([A-Za-z][A-Za-z0-9-]*)[ \t]*(=?)")
_QUOTABLE = re.compile(r"\\(.)", re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "b": "\b"}

_BOOLEAN = re.compile(r"(?i)true|false|yes|no|on|off|0|1")
_FORMAT = {
    "core.repositoryformatversion": re.compile("[01]"),
    "core.bare": _BOOLEAN,
    "core.filemode": _BOOLEAN,
    "core.symlinks": _BOOLEAN,
    "core.ignorecase": _BOOLEAN,
    "core.precomposeunicode": _BOOLEAN,
    "core.trustctime": _BOOLEAN,
    "core.checkstat": re.compile("(?i)default|minimal"),
    "core.autocrlf": re.compile("(?i)true|false|input|yes|no|on|off|0|1"),
    "core.eol": re.compile("(?i)lf|crlf|native"),
    "core.sparsecheckout": _BOOLEAN,
    "core.sparsecheckoutcone": _BOOLEAN,
    "index.sparse": _BOOLEAN,
    "extensions.objectformat": re.compile("sha1|sha256"),
    "extensions.refstorage": re.compile("files|reftable"),
}
"""What git may know of a repository, and the values that it may have."""
_HARMLESS = frozenset(
    {"noop", "noop-v1", "preciousobjects", "partialclone", "worktreeconfig", "relativeworktrees"}
)
"""Extensions of the format that reading can do without."""


class Setting(NamedTuple):
    """One entry; section and key in lower case, the value None where only the key is given."""

    section: str
    subsection: str
    key: str
    value: str | None

    @property
    def name(self) -> str:
        """The name in full, as ``git config --list`` prints it."""
        return ".".join(filter(None, (self.section, self.subsection, self.key)))


def read_config(path: str) -> str:
    """Return the text of a small file, "" if it is missing or not a plain file."""
    try:
        with open(open_plain(Path(path), os.O_RDONLY), "rb") as file:
            size = min(os.fstat(file.fileno()).st_size, MOST_BYTES)
            return file.read(size).decode("utf-8", "surrogateescape")
    except (OSError, ValueError):
        return ""


def parse_config(text: str) -> Iterator[Setting]:
    """Yield a file's entries in order, as git-config(1) says; what is invalid is left out."""
    section = subsection = ""
    position, end = 0, len(text)
    while position < end:
        if text[position] in " \t\r\n\ufeff":
            position += 1
        elif found := _SECTION.match(text, position):
            section, _, rest = found[1].lower().partition(".")
            subsection = rest if found[2] is None else _QUOTABLE.sub(r"\1", found[2])
            position = found.end()
        elif section and (found := _KEY.match(text, position)):
            value, position = _value(text, found.end()) if found[2] else (None, found.end())
            yield Setting(section, subsection, found[1].lower(), value)
            position = position if found[2] else _line_end(text, position)
        else:
            position = _line_end(text, position)


def _line_end(text: str, position: int) -> int:
    found = text.find("\n", position)
    return len(text) if found < 0 else found + 1


def _value(text: str, position: int) -> tuple[str, int]:
    found: list[str] = []
    kept = 0
    is_quoted = False
    while position < len(text) and (char := text[position]) != "\n":
        position += 1
        if char == "\\":
            escaped = text[position : position + 2]
            position += 2 if escaped == "\r\n" else 1
            if escaped[:1] not in "\r\n":  # nor at the end
                found.append(_ESCAPES.get(escaped[0], escaped[0]))
        elif char == '"':
            is_quoted = not is_quoted
        elif char in "#;" and not is_quoted:
            position = _line_end(text, position) - 1
            break
        elif is_quoted or not char.isspace():
            found.append(char)
        elif found:
            found.append(char)
            continue
        kept = len(found)
    return "".join(found[:kept]), position


def safe_config(settings: Iterable[Setting]) -> str:
    """Return the configuration that git gets: the format of the repository, and nothing else.

    An unknown extension of the format is named as such, so that git refuses to misread it.
    """
    kept: dict[str, str] = {}
    for setting in settings:
        name, value = setting.name, "true" if setting.value is None else setting.value
        if name in _FORMAT and _FORMAT[name].fullmatch(value):
            kept[name] = value
        elif (
            setting.section == "extensions"
            and setting.key not in _HARMLESS
            and kept.get("core.repositoryformatversion", "0") != "0"
        ):
            kept["extensions.unknown-to-observer"] = "true"
    lines = (
        f"[{name.partition('.')[0]}]\n\t{name.partition('.')[2]} = {kept[name]}\n" for name in kept
    )
    return "".join(lines)


def is_partial_clone(settings: Iterable[Setting]) -> bool:
    """Return True if a clone is partial: it lacks objects, and fetches them when needed."""
    return any(
        setting.section == "remote"
        and setting.key == "promisor"
        and (setting.value is None or setting.value.lower() in {"true", "yes", "on", "1"})
        for setting in settings
    )


CACHE_S = 60.0
"""For so long the user's exceptions of ownership are not asked for again."""

_COMMANDS = frozenset({"config", "rev-parse", "version"})
_KEPT = ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM")


def run_as_user(
    words: Sequence[str], *, folder: str, environ: Mapping[str, str], wait_s: float = WAIT_S
) -> subprocess.CompletedProcess[bytes]:
    """Run git as the user has it configured, for questions about the configuration itself.

    The first word is one of a few commands that run nothing. Raises: NotFound (no git, no answer).
    """
    if words[0] not in _COMMANDS:
        raise ValueError(f"git {words[0]} may run what a repository names")
    kept = {name: environ[name] for name in _KEPT if name in environ}
    ours = {"LC_ALL": "C", "GIT_OPTIONAL_LOCKS": "0"}
    given = environment(environ) | kept | ours
    try:
        return ask(("-C", folder, *words), environ=given, wait_s=wait_s)
    except GitTimeout as error:
        raise NotFound(f"git {words[0]} does not answer in {folder}") from error


def user_setting(name: str, *options: str) -> list[str]:
    """Return a setting's values in the user's and the system's configuration. Raises: NotFound."""
    values: list[str] = []
    for level in ("--system", "--global"):
        words = ("config", level, "--includes", *options, "-z", "--get-all", name)
        done = run_as_user(words, folder="/", environ=os.environ)
        values += os.fsdecode(done.stdout).split("\0")[:-1]
    return values


def is_safe_directory(root: str) -> bool:
    """Return True if the user trusts another owner's folder, by git-config(1), safe.directory."""
    is_safe = False
    for value in _exceptions(int(time.monotonic() / CACHE_S)):
        if not value:
            is_safe = False
        elif (
            value == "*"
            or os.path.realpath(value) == root
            or (value.endswith("/*") and root.startswith(value[:-1]))
        ):
            is_safe = True
    return is_safe


@lru_cache(maxsize=1)
def _exceptions(_: int) -> list[str]:
    try:
        return user_setting("safe.directory", "--type=path")
    except NotFound:
        return []
