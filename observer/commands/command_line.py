"""What a shell command line runs, without its wrappings, and the inline scripts in it.

Part of interpretation (step 6), pure: `cd api && CI=1 timeout 60 uv run pytest -q | tail -5` is
shown as `uv run pytest -q`, and `npm ci && npm test` as both. Reading is lenient and linear; only
the first 2,000 characters count, here-documents aside. An inline script (`python3 -c "..."`,
`node << EOF`) is described by the words that the agent gave with it, not by its first line; the
files that it writes are read from its calls.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from observer.commands import runners
from observer.commands.check_tools import PROGRAMS
from observer.commands.runners import FRAME_WORDS, program_name, split, unquoted
from observer.core.text import distinct, one_line, word_set
from observer.core.value import Value

_REDIRECTION = re.compile(r"(?<![0-9&>])>{1,2}(?![&>])\s*(?!/dev/null)")
_OUT = re.compile(r"(?P<stream>[\d*]?)(?P<sign>>>?)(?!\()(?P<target>.*)\Z", re.DOTALL)
_NULL = "/dev/null"
_NOWHERE = re.compile(r"|/dev/\w+|\$null|(?i:nul)")
_SUBSTITUTED = re.compile(r"\w+=(\"?)\$\((.*)\)\1", re.DOTALL)
_NESTED = 3
"""How deep command lines inside command lines are read: `bash -c "bash -c …"`."""

_ENTERING = word_set("cd pushd Set-Location")
_PLACED = word_set("git make npm pnpm go")
"""Programs that take from `-C`, or from `--prefix`, where to work."""
_SETTING_UP = word_set("cd export set source . echo unset pushd umask Set-Location")
_FRAMES = (
    word_set("for done fi esac case select function begin end { } ! then do else") | FRAME_WORDS
)
_LOOKING = word_set(
    """
    cat cd command date df dir du echo env file find grep head history hostname id jobs journalctl
    awk basename comm cut diff dirname fd jq strings tee tr yq
    less ls man more nl od popd printenv ps pushd pwd readlink realpath rg sleep sort stat tail tree
    true type uname uniq wc which whoami test xxd hexdump [ [[
    Get-ChildItem Get-Content Get-Location Select-Object Select-String
    """
)
_FILTERS = word_set("printf jq yq awk sed cut tr paste seq base64 envsubst")
"""Programs that only print, so that a file which they write is all that they do."""
_GIT_LOOKING = word_set(
    "blame branch describe diff log ls-files remote reflog rev-parse shortlog show status"
)
_GIT_WITH_VERBS = word_set("bisect bundle lfs maintenance notes stash submodule worktree")
_GIT_LOOKING_VERBS = word_set("list log ls-files show status summary verify")
_GIT_VALUED = word_set("-C -c --git-dir --work-tree --namespace")
_LOOKING_VERBS = {
    "gh": word_set("view list status diff checks watch api"),
    **dict.fromkeys(("docker", "docker-compose", "podman", "kubectl"), word_set("logs")),
}
"""Words of programs, among the first two, with which these only show something."""
_SENDING = word_set("-X --method -f -F --field --raw-field --input")
"""Options with which `gh api` does more than ask."""
_MEMORY_LOOKING = word_set(
    """
    context doctor export history links list projects recall search sessions show status timeline
    tools why
    """
)
"""Questions to observer itself, whose answers are echoes."""


class CommandLine(Value):
    """A command line: what it chiefly runs (`head`), the programs in it, whether it only looks.

    `tool` is the program of the head's first command, `last` that of its last.
    `is_routine` holds for commands that read a little and change nothing, such as `git status`.
    """

    head: str
    tool: str = ""
    last: str = ""
    tools: tuple[str, ...] = ()
    is_routine: bool = False


class SimpleCommand(NamedTuple):
    """A simple command, the sign before it (`|`, `&&`, `;` … or none), and what wraps it.

    `wrapping` is all that stands before its own words, `runner` what of it belongs to the command
    as it works here: `uv run`, but not `timeout 60`. Where its output goes is no part of its words;
    `into` is the file that it goes to, with the sign before it (`> a.txt`).
    """

    sign: str
    words: list[str]
    wrapping: str = ""
    runner: str = ""
    into: str = ""

    @property
    def looks(self) -> bool:
        """Whether it only reads a little, such as `git status`."""
        return _looks(self.words)

    @property
    def shown(self) -> str:
        """The command with its runner, and with the file that it makes if it does nothing else."""
        into = self.into if self.looks or program_name(self.words[0]) in _FILTERS else ""
        return " ".join(filter(None, [self.runner, *self.words, into]))


@lru_cache(maxsize=2048)
def simple_commands(command: str) -> tuple[SimpleCommand, ...]:
    """Return the simple commands of a command line, without what they are wrapped in.

    Several readers ask about each command line, and most lines come again: kept, not to be changed.
    """
    return tuple(_parts(command, _NESTED))


def _parts(command: str, depth: int) -> Iterator[SimpleCommand]:
    for sign, words in split(command):
        part = _unwrapped(sign, words)
        if depth and (inner := _nested(part)):
            for place, found in enumerate(_parts(unquoted(inner), depth - 1)):
                yield found if place else found._replace(sign=sign)
        elif part.words[0] not in _FRAMES and not runners.ASSIGNMENT.match(part.words[0]):
            yield part


def _nested(part: SimpleCommand) -> str:
    """Return the command line that a simple command runs: `bash -c "…"`, `out=$(…)`."""
    first = part.words[0]
    if len(part.words) == 1 and (run := _SUBSTITUTED.fullmatch(first)):
        return run.group(2)
    is_quoted = len(part.words) == 1 and bool(part.wrapping) and first[0] in "'\""
    return first if is_quoted else runners.nested_script(part.words)


def _unwrapped(sign: str, words: list[str]) -> SimpleCommand:
    wrapping: list[str] = []
    runner: list[str] = []
    words, into = _directed(words)
    while skipped := runners.wrapper_length(words, PROGRAMS):
        taken, words = words[:skipped], words[skipped:]
        if taken[0] not in FRAME_WORDS and "()" not in taken[0]:
            wrapping += taken
            is_quiet = taken[0] in runners.QUIET or runners.ASSIGNMENT.match(taken[0])
            runner += [] if is_quiet else taken
    return SimpleCommand(sign, words, " ".join(wrapping), " ".join(runner), into)


def _directed(words: list[str]) -> tuple[list[str], str]:
    """Part the words of a command from where its output goes; what is only that stays as it is."""
    plain: list[str] = []
    into = ""
    rest = iter(words)
    for word in rest:
        if found := _OUT.match(word):
            target = found["target"] or next(rest, "")
            is_file = found["stream"] != "2" and not _NOWHERE.fullmatch(target)
            into = f"{found['sign']} {target}" if is_file else into
        elif word in {"<", "</dev/null"}:
            target = next(rest, "") if word == "<" else _NULL
            plain += [] if target == _NULL else filter(None, (word, target))
        else:
            plain.append(word)
    return (plain, into) if plain else (words, "")


@lru_cache(maxsize=2048)
def entered_folder(command: str) -> str:
    """Return the folder in which a command line does what it is about, "" if that is not said.

    It may be relative to where the shell is: `cd api && npm test`, `git -C api commit`.
    """
    folder = ""
    for part in simple_commands(command):
        words = part.words
        if words[0] in _ENTERING and len(words) > 1:
            folder = posixpath.join(folder, unquoted(words[1]))
        elif words[0] not in _SETTING_UP:
            given = pairwise(words) if words[0] in _PLACED else ()
            inner = (unquoted(value) for name, value in given if name in {"-C", "--prefix"})
            folder = posixpath.join(folder, next(inner, ""))
            break
    return "" if any(sign in folder for sign in "$`") else folder.rstrip("/")


@lru_cache(maxsize=2048)
def parse_command_line(command: str) -> CommandLine:
    """Read a command line; any text gives an answer."""
    parts = simple_commands(command)
    chief = _chief(parts)
    if not chief:
        return CommandLine(head=one_line(command, 120) or "(empty)")
    return CommandLine(
        head=one_line(_head(chief), 120) or "(empty)",
        tool=program_name(_led(chief)[0].words[0]),
        last=program_name(_led(chief)[-1].words[0]),
        tools=distinct((program_name(part.words[0]) for part in chief), 8),
        is_routine=_REDIRECTION.search(command) is None and all(part.looks for part in parts),
    )


def leading_commands(parts: Sequence[SimpleCommand]) -> Sequence[SimpleCommand]:
    """Return the commands that a command line is about: those that do more than set up or look."""
    return _led(chief) if (chief := _chief(parts)) else ()


def _chief(parts: Sequence[SimpleCommand]) -> Sequence[SimpleCommand]:
    return [part for part in parts if part.words[0] not in _SETTING_UP] or parts


def _head(chief: Sequence[SimpleCommand]) -> str:
    first, *others = _led(chief)
    said = [first.shown]
    for part in others:
        said.append("; " if part.sign in ";&" else f" {part.sign} ")
        said.append(part.shown)
    return "".join(said)


def _led(chief: Sequence[SimpleCommand]) -> Sequence[SimpleCommand]:
    """Return what leads its pipeline and does more than look, if anything does."""
    leading_commands = [
        part for part in chief if part.sign != "|" or runners.XARGS in part.wrapping
    ] or chief
    return [part for part in leading_commands if part.into or not part.looks] or leading_commands[
        :1
    ]


def git_words(words: list[str]) -> list[str]:
    """Return the words of a git command from its subcommand on, behind git's own options."""
    place = 1
    while place < len(words) and words[place].startswith("-"):
        place += 2 if words[place] in _GIT_VALUED else 1
    return words[place:]


def _looks(words: list[str]) -> bool:
    tool = program_name(words[0])
    if tool == "git":
        verb, then = [*git_words(words), "", ""][:2]
        is_asking = verb in _GIT_WITH_VERBS and then in _GIT_LOOKING_VERBS
        return is_asking or (verb in _GIT_LOOKING and "-D" not in words)
    if tool == "observer":
        return not _MEMORY_LOOKING.isdisjoint(words[2:3] if words[1:2] == ["note"] else words[1:2])
    if tool == "sed":
        return not any(word.startswith(("-i", "--in-place")) for word in words)
    if tool in _LOOKING_VERBS:
        is_asking = words[1:2] != ["api"] or _SENDING.isdisjoint(words)
        return is_asking and not _LOOKING_VERBS[tool].isdisjoint(words[1:3])
    if tool == "find":
        return "-delete" not in words and "-exec" not in words
    return tool in _LOOKING


_READ_CHARS = 20_000
_FILES = 8
_INLINE = re.compile(
    r"(?:^|[\s;&|(])(?P<program>python[\d.]{0,6}|node|ruby|perl|php|bun|deno|tsx)"
    r"(?=[\s])[^\n|;&<]{0,80}?(?:\s-{1,2}(?:c|e|r|p|eval)\s+['\"]|\s*<<-?\s*['\"]?\w)"
)
_CALLS = (
    r"open\(\s*(?P<name{0}>[^,()\n]{{1,400}}?)\s*,\s*(?:mode\s*=\s*)?['\"][rb]{{0,2}}[wax]",
    r"Path\(\s*(?P<name{0}>[^,()\n]{{1,400}}?)\s*\)\.write_",
    r"(?:write|append)File(?:Sync)?\(\s*(?P<name{0}>[^,()\n]{{1,400}}?)\s*,",
    r"File\.write\(\s*(?P<name{0}>[^,()\n]{{1,400}}?)\s*,",
)
_WRITES = re.compile("|".join(call.format(at) for at, call in enumerate(_CALLS)))
_ACTS = re.compile(
    r"\.write|writeFile|appendFile|unlink|remove\(|rename|rmtree|subprocess|os\.system|execSync"
    r"|spawn|requests\.|fetch\(|urlopen|https?://|import_module|\bINSERT\b|\bUPDATE\b|\bDELETE\b"
)
_READS = re.compile(r"\bopen\(|read_text|readFile|File\.read|json\.load")
_NAMED = re.compile(
    r"(?m)^[ \t]*(?:const |let |var )?(\w{1,40})\s*=\s*(?:Path\()?[rf]?(['\"][^'\"\n]{1,400}['\"])"
)
_QUOTED = re.compile(r"[rf]?['\"](?P<text>[^'\"]+)['\"]\Z")


class InlineScript(NamedTuple):
    """An inline script: its program, and the files that it writes, as it names them.

    `only_looks` holds where it reads files and changes nothing.
    """

    program: str
    writes: tuple[str, ...] = ()
    only_looks: bool = False


@lru_cache(maxsize=512)
def inline_script(command: str) -> InlineScript | None:
    """Return the first inline script of a command line; None without one."""
    text = command[:_READ_CHARS]
    begun = _INLINE.search(text)
    if begun is None:
        return None
    script = text[begun.end() :]
    names = dict(_NAMED.findall(script))
    found = (next(filter(None, match.groups()), "") for match in _WRITES.finditer(script))
    paths = (_QUOTED.match(names.get(name, name)) for name in found)
    return InlineScript(
        program=begun["program"],
        writes=distinct((path["text"] for path in paths if path), _FILES),
        only_looks=_READS.search(script) is not None
        and not (_ACTS.search(script) or _WRITES.search(script)),
    )
