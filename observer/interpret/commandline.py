"""What a shell command line runs, without its wrappings.

Part of interpretation (step 6): `cd api && CI=1 timeout 60 python -m pytest -q | tail -5` is told
as `pytest -q`, and `npm ci && npm test` as both. Reading is forgiving and linear; only the first
2,000 characters count, here-documents aside.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from observer.events import Value
from observer.interpret.wording import distinct, one_line, word_set

_READ_CHARS = 2000
_PIECE = re.compile(r"'[^']*'|\"(?:[^\"\\]|\\.)*\"|\\.|(&&|\|\||[;|&\n])|[^'\"\\;|&\n]+", re.DOTALL)
_ASSIGNMENT = re.compile(r"(?:\$env:)?[A-Za-z_]\w*=", re.IGNORECASE)
_SCRIPT = re.compile(
    r"""\s*(?:\S*/)?(?:(?:ba|da|k|z)?sh\s+-\w*c|cmd(?:\.exe)?\s+/c
    |(?:pwsh|powershell)(?:\.exe)?\s+(?:-NoProfile\s+)?-(?:c|Command))\s+(["'])(.*)\1\s*""",
    re.DOTALL | re.IGNORECASE | re.VERBOSE,
)
_LOOP = re.compile(r"(?:^|[;&|(\n])\s*(?:for|while|until)\s")
_QUOTED = re.compile(r"\s*(\"[^\"]*\"|'[^']*')")
_REDIRECTION = re.compile(r"(?<![0-9&>])>{1,2}(?![&>])\s*(?!/dev/null)")
_DOCUMENT_CHARS = 64_000
_DOCUMENT = re.compile(
    r"([\"']?\$\(cat\s*)?(?<!<)<<-?\s*([\"']?)([A-Za-z_]\w*)\2([^\n]*)"
    r"(?:\n.*?(?:\n[ \t]*\3(?=[ \t]*(?:\n|\)|$))(?(1)\s*\)[\"']?)|\Z)|\Z)",
    re.DOTALL,
)
_JOINED_STREAMS = re.compile(r"\d?>&\d?|&>")
_DURATION = re.compile(r"\d+(?:\.\d+)?[smhd]?$")
_PROGRAM_END = re.compile(r"\.(?:exe|cmd|bat)$", re.IGNORECASE)
_PYTHON = re.compile(r"python(?:\d(?:\.\d+)?)?$")

_XARGS = "xargs"
_PREFIXES = word_set("sudo env time nice nohup command exec builtin npx bunx pnpx uvx") | {_XARGS}
_WITH_ARGUMENT = frozenset({"timeout", "stdbuf", "xvfb-run", "taskset"})
_LAUNCHERS = {
    ("uv", "run"),
    ("poetry", "run"),
    ("pipenv", "run"),
    ("hatch", "run"),
    ("pdm", "run"),
    ("rye", "run"),
    ("pipx", "run"),
    ("coverage", "run"),
    ("conda", "run"),
    ("bundle", "exec"),
    ("pnpm", "exec"),
    ("npm", "exec"),
    ("yarn", "run"),
    ("pnpm", "dlx"),
    ("yarn", "dlx"),
}
_WITH_VALUE = {
    "nice": word_set("-n --adjustment"),
    "sudo": word_set("-u -g --user --group"),
    "env": word_set("-u -C --unset --chdir"),
    "npx": word_set("-p --package"),
    _XARGS: word_set("-a -d -E -I -L -n -P -s"),
    "conda": word_set("-n --name -p --prefix"),
    "python": word_set("-W -X"),
    "uvx": word_set("-p --python --from --with"),
    "npm": word_set("-w --workspace -p --package"),
    "uv": word_set(
        """
        -p --python --with --with-editable --with-requirements --extra --group --only-group
        --package --project --directory --env-file
        """
    ),
}
"""Options of a wrapping program whose next word is their value."""
_SETTING_UP = word_set("cd export set source . echo unset pushd umask Set-Location")
_FRAMES = word_set("for done fi esac case begin end")
_FRAME_WORDS = word_set("! then do else elif if while until begin and or not")
_LOOKING = word_set(
    """
    cat cd command date df dir du echo env file find grep head history hostname id jobs journalctl
    less ls man more nl popd printenv ps pushd pwd readlink realpath rg sleep sort stat tail tree
    true type uname uniq wc which whoami test [ [[
    Get-ChildItem Get-Content Get-Location Select-Object Select-String
    """
)
_MASKING = frozenset({"|", "||", ";", "&"})
_SHOWING = frozenset({"echo", "printf", "Write-Host", "Write-Output"})
_LAST_CODE = ("$?", "${?}", "$LASTEXITCODE", "$status")
_FIRST_OF_PIPE = ("${PIPESTATUS[0]}", "${pipestatus[1]}")
_WITH_LOGS = word_set("docker docker-compose podman kubectl")
_GIT_LOOKING = word_set(
    "blame branch describe diff log ls-files remote reflog rev-parse shortlog show status"
)
_MEMORY_LOOKING = word_set(
    """
    context doctor export history links list projects recall search sessions show status timeline
    tools why
    """
)
"""Questions to observer itself, whose answers are echoes."""


class Line(Value):
    """A command line: what it chiefly runs (`head`), the programs in it, whether it only looks.

    `tool` is the program of the head's first command, `last` that of its last.
    `is_routine` holds for commands that read a little and change nothing, such as `git status`.
    `is_masked` holds where an exit code of 0 is not the head's own: `make | tail`, `make || true`;
    `shows_code` where the head's own is the last thing printed: `make; echo $?`.
    """

    head: str
    tool: str = ""
    last: str = ""
    tools: tuple[str, ...] = ()
    is_routine: bool = False
    is_masked: bool = False
    shows_code: bool = False


class Part(NamedTuple):
    """A simple command, the sign before it (`|`, `&&`, `;` … or none), and what wraps it."""

    sign: str
    words: list[str]
    wrapping: str = ""

    @property
    def looks(self) -> bool:
        """Whether it only reads a little, such as `git status`."""
        return _looks(self.words)


@lru_cache(maxsize=2048)
def parts_of(command: str) -> tuple[Part, ...]:
    """Return the simple commands of a command line, without what they are wrapped in.

    Several readers ask about each command line, and most lines come again: kept, not to be changed.
    """
    script = _SCRIPT.fullmatch(command)
    return tuple(
        Part(sign, words, _said(text.partition(words[0])[0]))
        for sign, text in _simple(script.group(2) if script else command)
        if (words := _unwrapped(text)) and words[0] not in _FRAMES
    )


@lru_cache(maxsize=2048)
def read(command: str) -> Line:
    """Read a command line; any text gives an answer."""
    parts = parts_of(command)
    chief = [part for part in parts if part.words[0] not in _SETTING_UP] or parts
    if not chief:
        return Line(head=one_line(command, 120) or "(empty)")
    return Line(
        head=one_line(_head(chief), 120) or "(empty)",
        tool=name_of(_led(chief)[0].words[0]),
        last=name_of(_led(chief)[-1].words[0]),
        tools=distinct((name_of(part.words[0]) for part in chief), 8),
        is_routine=_REDIRECTION.search(command) is None and all(part.looks for part in parts),
        is_masked=_is_masked(parts, _led(chief)[0]) or _LOOP.search(command) is not None,
        shows_code=_shows_code(parts, _led(chief)[0]),
    )


def _is_masked(parts: Sequence[Part], head: Part) -> bool:
    """Tell whether a later command ends the line in its own way, whatever became of the head."""
    if any(part.words[0] == "set" for part in parts):
        return False
    behind = next(place for place, part in enumerate(parts) if part is head) + 1
    return any(part.sign in _MASKING for part in parts[behind:])


def _shows_code(parts: Sequence[Part], head: Part) -> bool:
    *before, last = parts
    words = " ".join(last.words)
    if any(code in words for code in _FIRST_OF_PIPE):
        before = [part for part in before if part.sign != "|"]
    elif not any(code in words for code in _LAST_CODE):
        return False
    is_shown = last.sign == ";" and last.words[0] in _SHOWING
    return is_shown and any(part is head for part in before) and not _is_masked(before, head)


def _head(chief: Sequence[Part]) -> str:
    first, *others = _led(chief)
    said = [" ".join(first.words)]
    for part in others:
        said.append("; " if part.sign in ";&" else f" {part.sign} ")
        said.append(" ".join(part.words))
    return "".join(said)


def _led(chief: Sequence[Part]) -> Sequence[Part]:
    """Return what leads its pipeline and does more than look, if anything does."""
    leading = [part for part in chief if part.sign != "|" or _XARGS in part.wrapping] or chief
    return [part for part in leading if ">" in part.words or not part.looks] or leading[:1]


def _simple(command: str) -> list[tuple[str, str]]:
    """Split at `&&`, `||`, `;`, `|`, `&` and line ends that stand outside quotes."""
    found = [("", "")]
    text = _JOINED_STREAMS.sub(" ", _without_documents(command[:_DOCUMENT_CHARS])[:_READ_CHARS])
    for piece in _PIECE.finditer(text):
        if sign := piece.group(1):
            found.append((sign.replace("\n", ";"), ""))
        else:
            found[-1] = (found[-1][0], found[-1][1] + piece.group())
    return found


def _without_documents(command: str) -> str:
    """Leave out here-documents: their lines are data. What is behind them is run."""
    if "<<" not in command:
        return command
    return _DOCUMENT.sub(lambda found: f"…{found[4]}" if found[1] else found[4], command)


def _unwrapped(simple: str) -> list[str]:
    bare = simple.strip().lstrip("({ ")
    if bare.count(")") > bare.count("("):
        bare = bare.rstrip(") ")
    quoted = _QUOTED.match(bare)
    words = [quoted.group(1), *bare[quoted.end() :].split()] if quoted else bare.split()
    while words:
        skipped = _wrapping(words)
        if not skipped:
            break
        words = words[skipped:]
    return words


def _said(wrapping: str) -> str:
    """Return what wraps a command, without the words that say when it is run."""
    return " ".join(word for word in wrapping.split() if word not in _FRAME_WORDS)


def _wrapping(words: list[str]) -> int:
    """Return how many leading words wrap the command rather than being it."""
    first = words[0]
    if (first in _FRAME_WORDS and len(words) > 1) or _ASSIGNMENT.match(first):
        return 1
    if len(words) > 1 and first in _PREFIXES:
        return 0 if words[:2] == ["command", "-v"] else _options_end(words, 1)
    if len(words) > 2:
        if first in _WITH_ARGUMENT:
            return _argument_end(words)
        if _PYTHON.match(name_of(first)):
            return _module_start(words)
        return _options_end(words, 2) if (first, words[1]) in _LAUNCHERS else 0
    return 0


def _module_start(words: list[str]) -> int:
    """Return where the module begins behind `python -u -m`; 0 where none is run."""
    start = _options_end(["python", *words[1:]], 1)
    return start if words[start - 1] == "-m" else 0


def _options_end(words: list[str], start: int) -> int:
    """Return where the command begins behind the options of what wraps it."""
    valued = _WITH_VALUE.get(words[0], frozenset())
    end = start
    while end < len(words) - 1 and words[end].startswith("-"):
        end += 2 if words[end] in valued else 1
    return min(end, len(words) - 1)


def _argument_end(words: list[str]) -> int:
    """Return where the command begins behind `timeout -s KILL 5` or `stdbuf -oL`."""
    end = 1
    while end < len(words) - 1 and (
        words[end].startswith("-") or words[end - 1] == "-s" or _DURATION.match(words[end])
    ):
        end += 1
    return end


def name_of(word: str) -> str:
    """Return the name of a program, without its folder."""
    name = word.strip("(){}'\"").replace("\\", "/").rpartition("/")[2]
    return one_line(_PROGRAM_END.sub("", name), 40)


def _looks(words: list[str]) -> bool:
    tool = name_of(words[0])
    if tool == "git":
        return len(words) > 1 and words[1] in _GIT_LOOKING and "-D" not in words
    if tool == "observer":
        return not _MEMORY_LOOKING.isdisjoint(words[2:3] if words[1:2] == ["note"] else words[1:2])
    if tool == "sed":
        return "-n" in words and "-i" not in words
    if tool in _WITH_LOGS:
        return "logs" in words
    if tool == "find":
        return "-delete" not in words and "-exec" not in words
    return tool in _LOOKING
