"""The words of a command line, and what runs a command for another: `uv run`, `npx`, `sudo`.

A line is split by one pass of one pattern, in linear time. Words keep their quotes. The reading is
that of POSIX shells, and lenient: any text gives words (docs/decisions/0010-command-lines.md).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from typing import NamedTuple

from observer.core.text import one_line, word_set

FRAME_WORDS = word_set("! then do else elif if while until begin and or not {")
ASSIGNMENT = re.compile(r"(?:\$env:)?[A-Za-z_]\w*\+?=", re.IGNORECASE)
XARGS = "xargs"
QUIET = word_set(
    "time timeout gtimeout nice ionice nohup stdbuf unbuffer setsid caffeinate chronic env command"
    " exec builtin"
)
_PROGRAM_END = re.compile(r"\.(?:exe|cmd|bat)$", re.IGNORECASE)
_PYTHON = re.compile(r"(?:python|pypy|py)(?:\d(?:\.\d+)?)?$")
_PYTHON_VALUED = word_set("-W -X")
_SHELLS = word_set("sh bash zsh dash ksh fish pwsh powershell cmd")
_SHELL_SCRIPT = re.compile(r"-\w*c|/c|-Command", re.IGNORECASE)


class _Launcher(NamedTuple):
    """`verbs` stand behind the program, then options, then `skipped` words, then the command.

    Of the verbs `*` is any word. `valued` options have their value in the next word. `until` is the
    word that the command stands behind; what `is_picky` runs only programs known to check code.
    """

    verbs: tuple[str, ...] = ()
    valued: frozenset[str] = frozenset()
    skipped: int = 0
    until: frozenset[str] = frozenset()
    is_picky: bool = False


def _verbs(
    *lines: str, valued: str = "", until: str = "", skipped: int = 0, is_picky: bool = False
) -> list[_Launcher]:
    return [
        _Launcher(tuple(line.split()), word_set(valued), skipped, word_set(until), is_picky)
        for line in lines
    ]


_behind = partial(_verbs, until="--")
_picky = partial(_verbs, is_picky=True)
_UV = (
    "-p --python --with --with-editable --with-requirements --extra --group --only-group --package"
    " --project --directory --env-file"
)
_CONTAINER = "-e --env -u --user -w --workdir -v --volume --name --network -p --publish --env-file"
_CONDAS = ("conda", "mamba", "micromamba")
_LAUNCHERS: dict[str, list[_Launcher]] = {
    **dict.fromkeys(
        word_set(
            "time nohup unbuffer setsid caffeinate chronic exec command builtin bunx pnpx cross-env"
            " asdf"
        ),
        _verbs(""),
    ),
    **dict.fromkeys(
        ("timeout", "gtimeout"), _verbs("", valued="-s -k --signal --kill-after", skipped=1)
    ),
    "nice": _verbs("", valued="-n --adjustment"),
    "ionice": _verbs("", valued="-c -n"),
    "stdbuf": _verbs("", valued="-i -o -e"),
    "xvfb-run": _verbs("", valued="-s -n"),
    "taskset": _verbs("", valued="-c"),
    "env": _verbs("", valued="-u -C --unset --chdir"),
    "sudo": _verbs("", valued="-u -g --user --group"),
    "doas": _verbs("", valued="-u"),
    XARGS: _verbs("", valued="-a -d -E -I -L -n -P -s"),
    "npx": _verbs("", valued="-p --package -c"),
    "uvx": _verbs("", valued="-p --python --from --with"),
    "uv": [*_verbs("run", valued=_UV), *_verbs("tool run", valued="-p --python --from --with")],
    **dict.fromkeys(("poetry", "pipenv"), _verbs("run")),
    "pipx": _verbs("run", valued="--spec --python"),
    "coverage": _verbs("run", valued="--source --rcfile --omit --include"),
    **dict.fromkeys(_CONDAS, _verbs("run", valued="-n --name -p --prefix")),
    "hatch": _picky("run", valued="-e --env"),
    "pdm": _picky("run", valued="-p --project"),
    "rye": _picky("run"),
    "pixi": _picky("run", valued="-e --environment"),
    "npm": _verbs("exec", "x", valued="-w --workspace -p --package --prefix"),
    "pnpm": [
        *_verbs("exec", "dlx", valued="--filter -F"),
        *_picky("", "run", valued="-C --dir --filter -F"),
    ],
    "yarn": [
        *_verbs("exec", "dlx", "workspace * exec", valued="--cwd"),
        *_picky("", "run", "workspace *", "workspace * run", valued="--cwd"),
    ],
    "bun": [*_verbs("x"), *_picky("run", valued="--cwd --filter")],
    **dict.fromkeys(("bundle", "composer", "ddev"), _verbs("exec")),
    "mise": _behind("exec", "x"),
    "dotenv": _behind("", valued="-e -c -v"),
    **dict.fromkeys(("dotenvx", "doppler", "op", "infisical", "devbox"), _behind("run")),
    **dict.fromkeys(("aws-vault", "kubectl"), _behind("exec")),
    "nix": _behind("develop", "shell", until="-c --command"),
    "nix-shell": _behind("", until="--run --command"),
    "direnv": _verbs("exec", skipped=1),
    **dict.fromkeys(
        ("docker", "podman", "docker-compose"),
        _verbs("compose exec", "compose run", "exec", "run", valued=_CONTAINER, skipped=1),
    ),
    "php": _picky("", valued="-d -c"),
}
_CHOOSING = {
    "npm": word_set("--prefix -C -w --workspace"),
    "pnpm": word_set("-C --dir --filter -F"),
    "yarn": word_set("--cwd workspace"),
    "bun": word_set("--cwd --filter"),
    "uv": word_set("--directory --package"),
    "poetry": word_set("-C --directory"),
}
_GLOBAL_VALUED = word_set("-f --file -p --project-name --profile --project --directory -C --dir")
_REPORTING = word_set("test lint err proxy summary")


def program_name(word: str) -> str:
    """Return the name of a program, without its folder."""
    name = word.strip("(){}'\"").replace("\\", "/").rpartition("/")[2]
    return one_line(_PROGRAM_END.sub("", name), 40)


def wrapper_length(words: Sequence[str], known: frozenset[str]) -> int:
    """Return how many leading words run the rest, 0 if none; `known` programs may be scripts."""
    first = words[0]
    if len(words) < 2 or words[:2] == ["command", "-v"]:
        return 0
    if first in FRAME_WORDS or "()" in first or ASSIGNMENT.match(first):
        return 1
    name = program_name(first)
    if _PYTHON.match(name):  # the module of `python -u -m`
        start = _options_end(words, 1, _PYTHON_VALUED)
        return start if words[start - 1] == "-m" else 0
    if name == "rtk":
        is_report = words[1] in _REPORTING and len(words) > 2 and program_name(words[2]) in known
        return 2 if is_report or words[1] == "proxy" else 1
    starts = (_start(words, launcher, known) for launcher in _LAUNCHERS.get(name, ()))
    return next((start for start in starts if start), 0)


def chosen_package(wrapping: str) -> dict[str, str]:
    """Return the options by which a wrapping chooses a package, or a folder, with their values."""
    words = wrapping.split()
    found: dict[str, str] = {}
    program = ""
    for word, following in pairwise([*words, ""]):
        name, _, value = word.partition("=")
        program = word if word in _CHOOSING else program
        if name in _CHOOSING.get(program, ()):
            found[name] = value or following
    return found


def nested_script(words: Sequence[str]) -> str:
    """Return the command line that a shell is given as a word: `bash -lc "make test"`; or ""."""
    if len(words) < 3 or program_name(words[0]).lower() not in _SHELLS:
        return ""
    for place, word in enumerate(words[1:-1], 2):
        if _SHELL_SCRIPT.fullmatch(word):
            return words[place]
    return ""


def _start(words: Sequence[str], launcher: _Launcher, known: frozenset[str]) -> int:
    at = 1
    for verb in launcher.verbs:
        at = _options_end(words, at, _GLOBAL_VALUED | launcher.valued)
        if at >= len(words) or verb not in {"*", words[at]}:
            return 0
        at += 1
    if launcher.until:
        found = (place for place in range(at, len(words) - 1) if words[place] in launcher.until)
        return next(found, -1) + 1
    at = _options_end(words, at, launcher.valued)
    at += launcher.skipped
    if at >= len(words):
        return 0
    at = _options_end(words, at, launcher.valued)
    return 0 if launcher.is_picky and program_name(words[at]) not in known else at


def _options_end(words: Sequence[str], start: int, valued: frozenset[str]) -> int:
    at = start
    while at < len(words) - 1 and words[at].startswith("-"):
        at += 2 if words[at] in valued else 1
    return max(start, min(at, len(words) - 1))


READ_CHARS = 2000
"""Only the beginning of a command line is read, here-documents not counted."""
_DOCUMENT_CHARS = 64_000
_DOCUMENT = re.compile(
    r"([\"']?\$\(cat\s*)?(?<!<)<<-?\s*([\"']?)([A-Za-z_]\w*)\2([^\n]*)"
    r"(?:\n.*?(?:\n[ \t]*\3(?=[ \t]*(?:\n|\)|$))(?(1)\s*\)[\"']?)|\Z)|\Z)",
    re.DOTALL,
)
TOKEN = re.compile(
    r"""
    (?P<skip>\\\n|[ \t\r\f\v]+)
    |(?P<streams>\d?>&(?:\d|-)|&>>?|\d?>\|)
    |(?P<sign>&&|\|\||\|&|;;|[;|&\n])
    |(?P<into>\$\(|<\(|>\()
    |(?P<open>\()
    |(?P<close>\))
    |(?P<comment>(?<![^\s;|&(])\#[^\n]*)
    |(?P<text>'[^']*(?:'|\Z)|"(?:[^"\\]|\\.)*(?:"|\Z)|`[^`]*(?:`|\Z)|\\.?|\$\{[^}\n]*\}?
        |[^\s'"`\\;|&()\#$<>]+|[$<>\#])
    """,
    re.DOTALL | re.VERBOSE,
)
_GLUED = re.compile(r"[\w./:-]*[A-Za-z./]\Z")
_SIGNS = {"\n": ";", ";;": ";", "|&": "|"}


def split(command: str) -> list[tuple[str, list[str]]]:
    """Return the simple commands of any line: signs before them (`|`, `&&`, … or ""), and words."""
    return _Splitter().read(without_documents(command[:_DOCUMENT_CHARS])[:READ_CHARS])


def without_documents(command: str) -> str:
    """Leave out here-documents: their lines are data. What is behind them is run."""
    if "<<" not in command:
        return command
    return _DOCUMENT.sub(lambda found: f"…{found[4]}" if found[1] else found[4], command)


def unquoted(word: str) -> str:
    """Return a word without the quotes around it."""
    if len(word) > 1 and word[0] in "'\"" and word[-1] == word[0]:
        return word[1:-1]
    return word


class _Splitter:
    def __init__(self) -> None:
        self._found: list[tuple[str, list[str]]] = [("", [])]
        self._word = ""
        self._depth = 0

    def read(self, text: str) -> list[tuple[str, list[str]]]:
        for token in TOKEN.finditer(text):
            kind = token.lastgroup
            if self._depth:
                self._inside(kind, token.group())
            elif kind in {"skip", "streams"}:
                self._end_word()
                self._word = ">" if token.group()[-1] in ">|" else ""
                self._end_word()
            elif kind == "sign":
                self._end_word()
                self._found.append((_SIGNS.get(token.group(), token.group()), []))
            else:
                self._outside(kind, token.group())
        self._end_word()
        return [(sign, words) for sign, words in self._found if words]

    def _inside(self, kind: str | None, text: str) -> None:
        self._depth += {"into": 1, "open": 1, "close": -1}.get(kind or "", 0)
        self._word += text

    def _outside(self, kind: str | None, text: str) -> None:
        if kind == "into" or (kind == "open" and self._word):
            self._depth = 1
        elif kind in {"open", "close"} or (kind == "comment" and not self._word):
            self._end_word()
            return
        if text == ">" and _GLUED.match(self._word):
            self._end_word()
        self._word += text

    def _end_word(self) -> None:
        if self._word:
            self._found[-1][1].append(self._word)
            self._word = ""
