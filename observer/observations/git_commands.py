"""What command lines do to the work tree: git discards, stashes or switches, others write files.

Commits, rewrites and checkouts are reported by our git hooks or found in the reflog; this reads the
commands that nothing else reports, or whose words say more.
"""

from __future__ import annotations

import itertools
import posixpath
import re
from collections.abc import Iterator
from typing import Literal

from msgspec.structs import replace

from observer.commands.check_runs import folder_of
from observer.commands.command_line import SimpleCommand, git_words, inline_script, simple_commands
from observer.commands.runners import program_name, unquoted
from observer.core.events import Command
from observer.core.model import Recorded
from observer.core.patterns import lazy_pattern
from observer.core.text import distinct, one_line, relative, word_set
from observer.core.value import Value

OperationKind = Literal[
    "restore", "reset", "uncommit", "stash", "unstash", "drop", "clean", "branch",
]  # fmt: skip
_WITH_VALUE = word_set("-s --source -b -B -c -C --orphan -m --message")
_HEAD_NOW = re.compile(r"HEAD is now at ([0-9a-f]{7,64})")
_BACK = re.compile(r"(?:HEAD|@)(?:\^{1,9}|~\d{0,3}|\^)?\Z")
_HASH = re.compile(r"[0-9a-f]{7,64}\Z")
_NOT_UNSTASHED = re.compile(r"stash entry is kept|No stash entries found|is not a valid reference")
_NEW = word_set("-b -B -c -C --create --orphan")
_PARTLY = word_set("-p --patch")
_STASHES: dict[str, OperationKind] = {
    **dict.fromkeys(("push", "save"), "stash"),
    **dict.fromkeys(("drop", "clear"), "drop"),
    **dict.fromkeys(("pop", "apply", "branch"), "unstash"),
}


class GitOperation(Value):
    """What one git command, or `rm`, does.

    `kind` is one of:

    - `restore`: discard the uncommitted changes of `paths`, or of all files if there are none;
    - `reset`: discard all uncommitted changes, and the commits after `target`;
    - `uncommit`: drop the commits after `target`, and keep their changes in the files;
    - `stash`, `unstash`, `drop`: push to, apply from or drop from git's stash, whatever it holds;
    - `clean`: delete untracked files;
    - `branch`: check out the new branch `target` at HEAD.

    `target` may be a number of commits (`~2`) or the beginning of a hash; with `restore`, the
    commit to restore from.
    """

    kind: OperationKind
    paths: tuple[str, ...] = ()
    target: str = ""


def operations_of(
    recorded: Recorded, body: Command, *, is_ok: bool
) -> list[tuple[GitOperation, str]]:
    """Return what a command line did, each operation with its words; paths relative to the root.

    If the line failed (not `is_ok`), its last command is taken as the one that failed, unless its
    exit code shows that it was done: then a check before it failed.
    """
    if not ("git" in body.command or "rm " in body.command):
        return []
    parts = simple_commands(body.command)
    folder = folder_of(parts, recorded.root, recorded.event.cwd)
    is_done = is_ok or body.exit_code == 0 or body.failed is False
    return [
        (_placed(operation, folder), one_line(" ".join(part.words), 100))
        for part in (parts if is_done else parts[:-1])
        if (operation := parse(part, body.output))
    ]


FILES = 20
_IN_PLACE = re.compile(r"-[a-zA-Z]*i|--in-place")
_EXPRESSION = re.compile(r"-[a-zA-Z]*e|--expression|-f|--file")
_NO_NAME = re.compile(r"[$*`<>|]|^(?:-|$)")


def written(command: str, root: str, cwd: str) -> tuple[str, ...]:
    """Return the files that a command line writes itself, relative to the root.

    These are files that an inline script writes, that `sed` or `perl` edits in place, and that hold
    the output of what only prints. What a program does besides its output is unknown.
    """
    parts, script = simple_commands(command), inline_script(command)
    folder = posixpath.join(root, folder_of(parts, root, cwd))
    named = [*(script.writes if script else ())]
    for part in parts:
        named += map(unquoted, _written_by(part))
    return distinct(
        (relative(name, root, folder) for name in named if not _NO_NAME.search(name)), FILES
    )


def _written_by(part: SimpleCommand) -> Iterator[str]:
    if part.into and part.shown.endswith(part.into):  # it only prints
        yield part.into.lstrip("> ")
    program, words = program_name(part.words[0]), part.words[1:]
    if program == "tee":
        yield from (word for word in words if word[0] != "-")
    elif program in {"sed", "perl"} and any(map(_IN_PLACE.match, words)):
        is_given = any(map(_EXPRESSION.fullmatch, words))
        plain = [
            word
            for place, word in enumerate(words)
            if word[0] != "-" and not (place and _EXPRESSION.fullmatch(words[place - 1]))
        ]
        named = [word for word in plain if unquoted(word)]  # of BSD `-i ''` is an option's value
        yield from named if is_given else named[1:]


def _placed(operation: GitOperation, folder: str) -> GitOperation:
    paths = tuple(relative(path, "", folder) for path in operation.paths)
    is_here = operation.kind == "restore" and not paths  # `.`
    return replace(operation, paths=(folder,) if is_here else paths) if folder else operation


def parse(part: SimpleCommand, output: str = "") -> GitOperation | None:
    """Return what a simple command does to the work tree; None if nothing.

    `output` is that of the whole command line.
    """
    if program_name(part.words[0]) == "rm":
        given = [word for word in part.words[1:] if word[0] != "-"]
        return GitOperation(kind="clean", paths=_paths(given))
    words = words_of(part)
    parser = _PARSERS.get(words[0]) if words else None
    return parser(words[1:], output) if parser else None


def commits(part: SimpleCommand) -> bool:
    """Return True if a simple command asks git to commit, whether or not that came about."""
    words = words_of(part)
    return words[:1] == ["commit"] and "--dry-run" not in words


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


def words_of(part: SimpleCommand) -> list[str]:
    """Return the words after `git` and its own options; none for another program."""
    return git_words(part.words) if program_name(part.words[0]) == "git" else []


def _split_words(words: list[str]) -> tuple[set[str], list[str], list[str] | None]:
    """Return the options, the other words, and the words after `--`, None if there is no `--`."""
    paths: list[str] | None = None
    if "--" in words:
        at = words.index("--")
        words, paths = words[:at], words[at + 1 :]
    plain = [
        word
        for place, word in enumerate(words)
        if not word.startswith("-") and (not place or words[place - 1] not in _WITH_VALUE)
    ]
    return {word for word in words if word.startswith("-")}, plain, paths


def _checkout(words: list[str], _output: str) -> GitOperation | None:
    options, plain, paths = _split_words(words)
    if options & _NEW:
        return _switch(words, _output)
    start = 0 if paths is None and plain and _is_path(plain[0]) else 1
    named = plain[start:] if paths is None else paths
    target = _revision("".join(plain[:start]))
    # A word alone is a branch that is there.
    return GitOperation(kind="restore", paths=_paths(named), target=target) if named else None


def _switch(words: list[str], _output: str) -> GitOperation | None:
    """Return the operation of `-c NAME`; with a place to start from it leaves HEAD."""
    names = [word for word in words if not word.startswith("-")]
    is_new = _NEW & _split_words(words)[0] and len(names) == 1
    return GitOperation(kind="branch", target=names[0]) if is_new else None


def _restore(words: list[str], _output: str) -> GitOperation | None:
    options, plain, paths = _split_words(words)
    if "--staged" in options and "--worktree" not in options and "-W" not in options:
        return None
    source = next((word for word in words if word.startswith(("--source=", "-s"))), "")
    pairs = itertools.pairwise(words)
    then = next((after for word, after in pairs if word in ("-s", "--source")), "")
    to = _revision(source.removeprefix("--source=").removeprefix("-s") or then)
    return GitOperation(kind="restore", paths=_paths([*plain, *(paths or [])]), target=to)


def _reset(words: list[str], output: str) -> GitOperation | None:
    options, plain, paths = _split_words(words)
    to = plain[0] if plain else "HEAD"
    if "--hard" in options:
        now = _HEAD_NOW.search(output)
        return GitOperation(kind="reset", target=now.group(1) if now else _revision(to))
    if paths or len(plain) > 1 or _is_path(to):
        return None
    return GitOperation(kind="uncommit", target=_revision(to)) if _revision(to) != "~0" else None


def _revision(to: str) -> str:
    """Return `~2` for `HEAD~2` and `HEAD^^`, a hash as it is, "" for other names."""
    if _BACK.match(to):
        tail = to.lstrip("HEAD@")
        return f"~{len(tail) if tail.startswith('^') else tail[1:] or int(bool(tail))}"
    return to if _HASH.match(to) else ""


def _stash(words: list[str], output: str) -> GitOperation | None:
    verb = words[0] if words and not words[0].startswith("-") else "push"
    kind = _STASHES.get(verb)
    is_nothing = "No local changes" in output or not _PARTLY.isdisjoint(words)
    is_kept = _NOT_UNSTASHED.search(output) and "CONFLICT (" not in output
    is_void = is_nothing if kind == "stash" else is_kept and kind == "unstash"
    return None if kind is None or is_void else GitOperation(kind=kind)


def _clean(words: list[str], _output: str) -> GitOperation | None:
    options, plain, paths = _split_words(words)
    forced = any("f" in option or option == "--force" for option in options)
    dry = any("n" in option.lstrip("-") for option in options if not option.startswith("--"))
    return GitOperation(kind="clean", paths=_paths(paths or plain)) if forced and not dry else None


def _paths(paths: list[str]) -> tuple[str, ...]:
    """Return the paths without quotes; none if they name all files."""
    named = [path.strip("'\"").removeprefix("./").rstrip("/") for path in paths]
    return () if any(path in {"", ".", ":/", "*", ":"} for path in named) else tuple(named[:40])


def _is_path(word: str) -> bool:
    name = word.rpartition("/")[2]
    return word in {".", ":/"} or word.startswith("./") or "." in name.strip(".")


_PARSERS = {"checkout": _checkout, "switch": _switch, "restore": _restore, "reset": _reset}
_PARSERS |= {"stash": _stash, "clean": _clean}
