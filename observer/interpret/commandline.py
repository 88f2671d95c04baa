"""What a shell command line runs, without its wrappings.

Part of interpretation (step 6): `cd api && CI=1 timeout 60 python -m pytest -q | tail -5` is told
as `pytest -q`. Reading is forgiving and linear; only the first 2,000 characters count.
"""

from __future__ import annotations

import re
from functools import lru_cache

from observer.events import Value
from observer.interpret.wording import distinct, one_line, word_set

_READ_CHARS = 2000
_PIECE = re.compile(r"'[^']*'|\"(?:[^\"\\]|\\.)*\"|\\.|(&&|\|\||[;|&\n])|[^'\"\\;|&\n]+", re.DOTALL)
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_REDIRECTION = re.compile(r"(?<![0-9&>])>{1,2}(?![&>])\s*(?!/dev/null)")
_JOINED_STREAMS = re.compile(r"\d?>&\d?|&>")
_DURATION = re.compile(r"\d+(?:\.\d+)?[smhd]?$")
_PYTHON = re.compile(r"python(?:\d(?:\.\d+)?)?$")

_PREFIXES = frozenset({"sudo", "env", "time", "nice", "nohup", "command", "exec", "builtin"})
_WITH_ARGUMENT = frozenset({"timeout", "stdbuf", "xvfb-run", "taskset"})
_LAUNCHERS = {
    ("uv", "run"): 2,
    ("poetry", "run"): 2,
    ("pipenv", "run"): 2,
    ("hatch", "run"): 2,
    ("bundle", "exec"): 2,
    ("pnpm", "exec"): 2,
    ("npm", "exec"): 2,
    ("yarn", "run"): 2,
}
_SETTING_UP = frozenset({"cd", "export", "set", "source", ".", "echo", "unset", "pushd", "umask"})
_LOOKING = word_set(
    """
    cat cd date df dir du echo env file find grep head history hostname id jobs less ls man more
    nl popd printenv ps pushd pwd readlink realpath rg sleep sort stat tail tree true type uname
    uniq wc which whoami
    """
)
_GIT_LOOKING = word_set(
    "blame branch describe diff log ls-files remote reflog rev-parse shortlog show status"
)


class Line(Value):
    """A command line: what it chiefly runs (`head`), the programs in it, whether it only looks.

    `is_routine` holds for commands that read a little and change nothing, such as `git status`.
    """

    head: str
    tool: str = ""
    tools: tuple[str, ...] = ()
    is_routine: bool = False


@lru_cache(maxsize=2048)
def read(command: str) -> Line:
    """Read a command line; any text gives an answer."""
    simple = [words for words in map(_unwrapped, _simple(command)) if words]
    chief = [words for words in simple if words[0] not in _SETTING_UP] or simple
    if not chief:
        return Line(head=one_line(command, 120) or "(empty)")
    return Line(
        head=one_line(" ".join(chief[0]), 120) or "(empty)",
        tool=_name(chief[0][0]),
        tools=distinct((_name(words[0]) for words in chief), 8),
        is_routine=_REDIRECTION.search(command) is None and all(map(_looks, simple)),
    )


def _simple(command: str) -> list[str]:
    """Split at `&&`, `||`, `;`, `|`, `&` and line ends that stand outside quotes."""
    found = [""]
    text = _JOINED_STREAMS.sub(" ", _without_document(command[:_READ_CHARS]))
    for piece in _PIECE.finditer(text):
        if piece.group(1):
            found.append("")
        else:
            found[-1] += piece.group()
    return found


def _without_document(command: str) -> str:
    """Leave out a here-document and what follows it: its lines are data."""
    start = command.find("<<")
    return command if start < 0 or command[start : start + 3] == "<<<" else command[:start]


def _unwrapped(simple: str) -> list[str]:
    bare = simple.strip().lstrip("({ ")
    if bare.count(")") > bare.count("("):
        bare = bare.rstrip(") ")
    words = bare.split()
    while words:
        skipped = _wrapping(words)
        if not skipped:
            break
        words = words[skipped:]
    return words


def _wrapping(words: list[str]) -> int:
    """Return how many leading words wrap the command rather than being it."""
    first = words[0]
    if first in ("!", "then", "do", "else") or _ASSIGNMENT.match(first):
        return 1
    if len(words) > 1 and (first in _PREFIXES or first in ("npx", "bunx")):
        return 2 if words[1].startswith("-") and len(words) > 2 else 1
    if len(words) > 2:
        if first in _WITH_ARGUMENT:
            return _argument_end(words)
        if _PYTHON.match(_name(first)) and words[1] == "-m":
            return 2
        return _LAUNCHERS.get((first, words[1]), 0)
    return 0


def _argument_end(words: list[str]) -> int:
    """Return where the command begins behind `timeout -s KILL 5` or `stdbuf -oL`."""
    end = 1
    while end < len(words) - 1 and (
        words[end].startswith("-") or words[end - 1] == "-s" or _DURATION.match(words[end])
    ):
        end += 1
    return end


def _name(word: str) -> str:
    name = word.strip("(){}'\"").replace("\\", "/").rpartition("/")[2]
    return one_line(name.removesuffix(".exe"), 40)


def _looks(words: list[str]) -> bool:
    tool = _name(words[0])
    if tool == "git":
        return len(words) > 1 and words[1] in _GIT_LOOKING and "-D" not in words
    if tool == "sed":
        return "-n" in words and "-i" not in words
    if tool == "find":
        return "-delete" not in words and "-exec" not in words
    return tool in _LOOKING
