"""What a shell command runs, read on its own: the oracle shares no code with the product.

Rough on purpose: words, the operators between them, and which of its parts an exit code of 0
speaks for.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from sessions.tokens import Tokens

_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_OPERATORS = {"&&": "&&", "||": "||", "|": "|", "|&": "|", "&": "&", ";": ";", ";;": ";"} | {
    "(": "",
    ")": "",
    "&;": "&",
}
_FRAMES = frozenset({"command", "env", "nice", "nohup", "rtk", "stdbuf", "sudo", "time", "timeout"})
"""Programs that run the rest of their words."""
_SWALLOWING = re.compile(r"\brtk (?:err|lint|summary|test)\b")
"""What runs a program and ends well however that ends."""
_RTK_MODES = frozenset({"err", "lint", "proxy", "summary", "test"})
_RUNNERS = (
    ("bunx",),
    ("npx",),
    ("pipx", "run"),
    ("uvx",),
    ("uv", "run"),
    ("poetry", "run"),
    ("pdm", "run"),
    ("hatch", "run"),
    ("bundle", "exec"),
    ("pnpm", "exec"),
    ("npm", "exec"),
    ("yarn", "exec"),
    ("mise", "exec"),
    ("python", "-m"),
    ("python3", "-m"),
)
_NUMBER = re.compile(r"[\d.]+[smhd]?")


class Part(NamedTuple):
    """One program of a command: its words without what runs it, and where it runs.

    `joined` is the operator before it. `is_proven` says that a clean end of the whole command
    needs a clean end of this part.
    """

    words: tuple[str, ...]
    joined: str = ""
    folder: str = ""
    is_proven: bool = True
    runner: str = ""

    @property
    def program(self) -> str:
        """The program's name without its folder."""
        return self.words[0].rpartition("/")[2] if self.words else ""


def parts(command: str) -> list[Part]:
    """Return the programs of a command, in order; `cd` and assignments alone are left out."""
    raw = _split(command)
    proven = _proven(raw, is_strict="pipefail" in command)
    found, folder = [], ""
    for (joined, words), is_proven in zip(raw, proven, strict=True):
        runner, rest = _unwrapped(words)
        if rest[:1] == ("cd",):
            folder = rest[1] if len(rest) > 1 else ""
        elif rest and rest[0] not in {"set", "export", "source", ".", "true", ":"}:
            is_shown = is_proven and not _SWALLOWING.search(runner)
            found.append(Part(rest, joined, folder, is_shown, runner))
    return found


def _split(command: str) -> list[tuple[str, tuple[str, ...]]]:
    """Return the operator before each part, and its words; redirections are left out."""
    found: list[tuple[str, tuple[str, ...]]] = []
    words: list[str] = []
    joined, skip = "", False
    for token in [*Tokens(command), ";"]:
        if skip:
            skip = False
        elif token[:1] in {"<", ">"}:
            skip = True
            if words and words[-1].isdecimal():
                words.pop()
        elif token in _OPERATORS:
            if words:
                found.append((joined, tuple(words)))
                words, joined = [], ""
            joined = _OPERATORS[token] or joined
        else:
            words.append(token)
    return found


def _proven(raw: list[tuple[str, tuple[str, ...]]], *, is_strict: bool) -> list[bool]:
    """Return of each part whether a clean end of the whole command needs a clean end of it."""
    proven = [False] * len(raw)
    is_needed = True
    for place in range(len(raw) - 1, -1, -1):
        after = raw[place + 1][0] if place + 1 < len(raw) else "&&"
        if after == "&&":
            pass
        elif after == "|":
            is_piped_into = is_needed and is_strict
            proven[place] = is_piped_into
            continue
        elif after == ";" and is_strict:
            pass
        else:
            is_needed = False
        proven[place] = is_needed
    return proven


def _unwrapped(words: tuple[str, ...]) -> tuple[str, tuple[str, ...]]:
    """Return what runs a program, and the program with its words."""
    runner: list[str] = []
    while words:
        size = _frame(words)
        if not size:
            break
        runner += words[:size]
        words = words[size:]
    return " ".join(runner), words


def _frame(words: tuple[str, ...]) -> int:
    """Return how many words at the front only run the rest."""
    if _ASSIGNMENT.match(words[0]):
        return 1
    if words[0] in _FRAMES:
        size = 1
        while size < len(words) and _is_frames_own(words[size]):
            size += 1
        if words[0] == "rtk" and size + 1 < len(words) and words[size] in _RTK_MODES:
            size += 1
        return size
    for runner in _RUNNERS:
        if words[: len(runner)] == runner and len(words) > len(runner):
            size = len(runner)
            while size < len(words) - 1 and words[size].startswith("-"):
                size += 1
            return size
    return 0


def _is_frames_own(word: str) -> bool:
    return word.startswith("-") or bool(_NUMBER.fullmatch(word) or _ASSIGNMENT.match(word))
