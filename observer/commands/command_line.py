"""What a shell command line runs, without its wrappings, and the inline scripts in it.

`cd api && CI=1 timeout 60 uv run pytest -q | tail -5` is shown as `uv run pytest -q`. Reading is
lenient and linear; only the first 2,000 characters count, here-documents aside. An `InvocationForm`
says whether two lines run the same thing in other words, such as `rtk bun test` and `bun test`.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from observer.commands import runners
from observer.commands.check_tools import ALIASES, PROGRAMS
from observer.commands.runners import ASSIGNMENT, FRAME_WORDS, program_name, split, unquoted
from observer.core.patterns import lazy_pattern
from observer.core.text import distinct, one_line, word_set
from observer.core.value import Value

_REDIRECTION = re.compile(r"(?<![0-9&>])>{1,2}(?![&>])\s*(?!/dev/null)")
_OUT = re.compile(r"(?P<stream>[\d*]?)(?P<sign>>>?)(?!\()(?P<target>.*)\Z", re.DOTALL)
_NULL = "/dev/null"
_NOWHERE = re.compile(r"|/dev/\w+|\$null|(?i:nul)")
_SUBSTITUTED = re.compile(r"\w+=(\"?)\$\((.*)\)\1", re.DOTALL)
_NESTED = 3

_ENTERING = word_set("cd pushd Set-Location")
_PLACED = word_set("git make npm pnpm go")
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
_SENDING = word_set("-X --method -f -F --field --raw-field --input")
_MEMORY_LOOKING = word_set(
    """
    context doctor export history links list projects recall search sessions show status timeline
    tools why
    """
)


class CommandLine(Value):
    """A command line: what it chiefly runs (`head`), the programs in it, whether it only looks.

    `tool` is the program of the head's first command, `last` that of its last. A routine reads a
    little and changes nothing, such as `git status`.
    """

    head: str
    tool: str = ""
    last: str = ""
    tools: tuple[str, ...] = ()
    is_routine: bool = False


class SimpleCommand(NamedTuple):
    """A simple command, the sign before it (`|`, `&&`, `;` … or none), and what wraps it.

    `wrapping` is all that stands before its own words, `runner` what of it belongs to the command
    as it works here: `uv run`, but not `timeout 60`. `into` is the file that it writes (`> a.txt`).
    """

    sign: str
    words: list[str]
    wrapping: str = ""
    runner: str = ""
    into: str = ""

    @property
    def looks(self) -> bool:
        """Whether it only reads a little, such as `git status`."""
        words = self.words
        tool = program_name(words[0])
        if tool == "git":
            verb, then = [*git_words(words), "", ""][:2]
            is_asking = verb in _GIT_WITH_VERBS and then in _GIT_LOOKING_VERBS
            return is_asking or (verb in _GIT_LOOKING and "-D" not in words)
        if tool == "observer":
            asked = words[2:3] if words[1:2] == ["note"] else words[1:2]
            return not _MEMORY_LOOKING.isdisjoint(asked)
        if tool == "sed":
            return not any(word.startswith(("-i", "--in-place")) for word in words)
        if tool in _LOOKING_VERBS:
            is_asking = words[1:2] != ["api"] or _SENDING.isdisjoint(words)
            return is_asking and not _LOOKING_VERBS[tool].isdisjoint(words[1:3])
        if tool == "find":
            return "-delete" not in words and "-exec" not in words
        return tool in _LOOKING

    @property
    def shown(self) -> str:
        """The command with its runner, and with the file that it makes if it does nothing else."""
        into = self.into if self.looks or program_name(self.words[0]) in _FILTERS else ""
        return " ".join(filter(None, [self.runner, *self.words, into]))


@lru_cache(maxsize=2048)
def simple_commands(command: str) -> tuple[SimpleCommand, ...]:
    """Return the simple commands of a line without their wrappings; kept, not to be changed."""
    return tuple(_parts(command, _NESTED))


def _parts(command: str, depth: int) -> Iterator[SimpleCommand]:
    for sign, words in split(command):
        part = _unwrapped(sign, words)
        if depth and (inner := _nested(part)):
            for place, found in enumerate(_parts(unquoted(inner), depth - 1)):
                yield found if place else found._replace(sign=sign)
        elif part.words[0] not in _FRAMES and not ASSIGNMENT.match(part.words[0]):
            yield part


def _nested(part: SimpleCommand) -> str:
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
            is_quiet = taken[0] in runners.QUIET or ASSIGNMENT.match(taken[0])
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
    """Return where a line does what it is about, maybe relative to the shell; "" if not said."""
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
    led = leading_commands(parts)
    more = (f"{';' if one.sign in ';&' else f' {one.sign}'} {one.shown}" for one in led[1:])
    return CommandLine(
        head=one_line("".join([led[0].shown, *more]), 120) or "(empty)",
        tool=program_name(led[0].words[0]),
        last=program_name(led[-1].words[0]),
        tools=distinct((program_name(part.words[0]) for part in chief), 8),
        is_routine=_REDIRECTION.search(command) is None and all(part.looks for part in parts),
    )


def leading_commands(parts: Sequence[SimpleCommand]) -> Sequence[SimpleCommand]:
    """Return the commands that a command line is about: those that do more than set up or look."""
    chief = _chief(parts)
    led = [one for one in chief if one.sign != "|" or runners.XARGS in one.wrapping] or chief
    return [part for part in led if part.into or not part.looks] or led[:1]


def _chief(parts: Sequence[SimpleCommand]) -> Sequence[SimpleCommand]:
    return [part for part in parts if part.words[0] not in _SETTING_UP] or parts


def git_words(words: list[str]) -> list[str]:
    """Return the words of a git command from its subcommand on, behind git's own options."""
    place = 1
    while place < len(words) and words[place].startswith("-"):
        place += 2 if words[place] in _GIT_VALUED else 1
    return words[place:]


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
    """An inline script: its program, the files that it names and writes, whether it only looks."""

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


class InvocationForm(Value):
    """One simple command as it was typed, with what wraps it and where it ran.

    `words` say what is run, equal programs by equal names; `line` is typed in the project's folder.
    """

    line: str
    words: tuple[str, ...]
    folder: str = ""


def forms_of(command: str, *, folder: str = "") -> tuple[InvocationForm, ...]:
    """Return the simple commands of a line, which ends up in `folder`, that do more than look."""
    parts = simple_commands(command)
    before = [part.shown for part in parts if part.words[0] in _SETTING]
    return tuple(
        _form(part, folder, before)
        for part in parts
        if part.sign != "|" and not part.looks and program_name(part.words[0]) not in _ASIDE
    )[:8]


_SETTING = word_set("source . export")
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
        words = ["git", *git_words(list(words))]
    found = [
        word
        for place, word in enumerate(words)
        if word != "--" and not (word == "run" and place and words[place - 1] in _RUNS_SCRIPTS)
    ]
    return tuple(one_line(word.strip("'\""), 120) for word in found[:_WORDS])


def is_other_form(failed: InvocationForm, worked: InvocationForm, error: str) -> bool:
    """Return True if a command runs what another one, that could not, was meant to run.

    Up to two words before the program (`rtk bun test`) may differ, and options the error is about.
    """
    left_out = [word for word in failed.words if word.startswith("-") and word not in worked.words]
    if (
        failed.line == worked.line
        or _bypasses(failed, worked)
        or not all(word.partition("=")[0] in error for word in left_out)
    ):
        return False
    mine, yours = (
        [word for word in one.words if not word.startswith("-")] for one in (failed, worked)
    )
    for i in range(min(_PREFIX, len(mine) - 1) + 1):
        for j in range(min(_PREFIX, len(yours) - 1) + 1):
            tail = mine[i:]
            is_enough = len(tail) > 1 or not (i and j)
            if is_enough and len(tail) == len(yours[j:]) and all(map(_alike, tail, yours[j:])):
                return True
    return False


def adds_settings(failed: InvocationForm, worked: InvocationForm) -> bool:
    """Return True if a command adds a variable, a program or an option of an installation."""
    if failed.folder != worked.folder or failed.line == worked.line or _bypasses(failed, worked):
        return False
    if failed.words == worked.words:
        return True
    installs = any(word in _INSTALLING for word in failed.words[1:3])
    more = worked.words[len(failed.words) :]
    is_longer = worked.words[: len(failed.words)] == failed.words
    return installs and is_longer and all(word.startswith("--") for word in more)


def _bypasses(failed: InvocationForm, worked: InvocationForm) -> bool:
    return any(word.startswith(_BYPASSING) for word in worked.words if word not in failed.words)


def _alike(one: str, other: str) -> bool:
    """Return True for equal words, and for one path as seen from two folders."""
    return one == other or one.endswith(f"/{other}") or other.endswith(f"/{one}")


COMMITTED = lazy_pattern(
    r"^\[(?P<branch>[^\]\s]{1,200})[^\]\n]{0,40} (?P<hash>[0-9a-f]{7,64})\] (?P<subject>[^\n]*)"
    r"(?:(?:\n [^\n]*){0,3}?\n (?P<files>\d+) files? changed)?",
    re.MULTILINE,
)
"""How git says what it made (`[main 1a2b3c4] Round the total`), whoever ran it; what counts the
files may be cut off."""


def printed_commits(output: str) -> list[str]:
    """Return the hashes, mostly abbreviated, of the commits that git said it made."""
    return [found["hash"] for found in COMMITTED.finditer(output)]
