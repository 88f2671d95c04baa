"""What git does to the work tree, a session's commits as text, and what no commit is known to have.

Commits, rewrites and checkouts are reported by our git hooks or found in the reflog. Command lines
are read for what nothing else reports, or whose words say more: what git discards, stashes or
switches, and which files others write. What they asked for may not have come about: that a change
is committed is what git says, by a commit that was reported, by what it printed to the session, or
where it is asked, as at the end of a session.

A commit is kept as the text of `commit_text`, which the summary shows; commits that git replaced
or dropped are removed.
"""

from __future__ import annotations

import itertools
import posixpath
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import pairwise
from typing import Literal

from msgspec.structs import replace

from observer.commands import command_line
from observer.commands.check_runs import folder_of
from observer.commands.command_line import (
    COMMITTED,
    SimpleCommand,
    git_words,
    inline_script,
    simple_commands,
)
from observer.commands.runners import program_name, unquoted
from observer.core.events import Command, ToolUse
from observer.core.json_text import object_in, texts_in
from observer.core.model import Recorded
from observer.core.patterns import lazy_pattern
from observer.core.text import distinct, is_within, one_line, relative, word_set
from observer.core.value import Value, newest
from observer.observations import session_state, turns
from observer.observations.drafts import FACT
from observer.observations.session_state import FileState, SessionState, added, without_groups

OperationKind = Literal[
    "restore",
    "reset",
    "uncommit",
    "stash",
    "unstash",
    "drop",
    "clean",
    "branch",
]
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


HASH_CHARS = 10
_WHOLE_HASH = 40
"""Least digits of a hash that a hook reports; git prints fewer."""
DISCARDING = frozenset({"restore", "reset", "clean"})
"""Kinds of git operations that discard changes for good."""
PULLS = 8
_OPENING = " ("
_PULL = lazy_pattern(
    r"(https://[\w.-]+(?:/[\w.~-]+){2,6}/(?:pull|pull-requests|pulls|merge_requests)/(\d+))\b"
)
"""A pull request on GitHub, Bitbucket, Gitea or Forgejo, a merge request on GitLab."""
_FORGES = frozenset({"gh", "glab"})
_IS_OF_PULLS = lazy_pattern(r"(?:pull|merge)_?requests?|_pr\Z", re.IGNORECASE)
_STAGED = 60
_TAKING = frozenset({"add", "commit"})
_ALL = "*"
_EVERY = re.compile(r"(?:-[a-zA-Z]*[aAu][a-zA-Z]*|--all|\.)\Z")


def commit_text(subject: str, commit: str) -> str:
    """Return the text of a commit: `subject (hash)`."""
    return f"{one_line(subject, 200)}{_OPENING}{one_line(commit, 64)[:HASH_CHARS]})"


def subject_of(saying: str) -> str:
    """Return the subject from the text of a commit."""
    return saying.rpartition(_OPENING)[0]


def with_rewritten(sayings: tuple[str, ...], became: Mapping[str, str]) -> tuple[str, ...]:
    """Return the texts of commits after a rewrite, each old hash replaced, without duplicates.

    `became` are new hashes by old ones, "" for a commit that was taken back.
    """
    short = {old[:HASH_CHARS]: new for old, new in became.items()}
    known = {hash_of(one) for one in sayings}
    now = []
    for one in sayings:
        new = short.get(hash_of(one))
        if new is None:
            now.append(one)
        elif new and new[:HASH_CHARS] not in known:
            now.append(commit_text(subject_of(one), new))
    return tuple({hash_of(one): one for one in reversed(now)}.values())[::-1]


def after_rewrite(state: SessionState, became: Mapping[str, str]) -> SessionState:
    """Return the state after commits, its own or later ones, were replaced or taken back."""
    commits = with_rewritten(state.commits, became)
    gone = {*map(subject_of, state.commits)} - {*map(subject_of, commits)}
    return replace(
        state,
        commits=commits,
        later_commits=with_rewritten(state.later_commits, became),
        turn=state.turn and turns.without(state.turn, commits=gone),
    )


def without_work(state: SessionState, paths: Collection[str]) -> SessionState:
    """Return the state after all that the session did to some files was taken back."""
    gone = {
        path: FileState(is_undone=True, reads=file.reads, writes=file.writes)
        for path in paths
        if (file := state.files.get(path))
    }
    turn = state.turn and turns.without(state.turn, files=gone)
    return replace(state, files=state.files | gone, turn=turn)


def with_commit(
    state: SessionState, subject: str, commit: str, paths: Iterable[str]
) -> SessionState:
    """Return the state after a commit of the session was reported: its files are clean."""
    return _with_own(_with_clean(state, paths), subject, commit)


def _with_clean(
    state: SessionState, paths: Iterable[str], *, is_printed: bool = False
) -> SessionState:
    """Return the state after some files were committed, as a commit that was reported has them."""
    clean, files = set(paths), dict(state.files)
    for path in files.keys() & clean:
        taken = replace(files[path], is_dirty=False, committed=None, is_printed=False)
        files[path] = replace(taken, committed=taken, is_printed=is_printed)
    return replace(state, files=files)


def with_later_commit(state: SessionState, saying: str, paths: Iterable[str]) -> SessionState:
    """Return the state after a commit outside of it that holds changes of its files."""
    later, red = added(state.later_commits, saying), tuple(one.item for one in state.failing)
    return replace(_with_clean(state, paths), later_commits=later, accepted=red)


def written_files(state: SessionState) -> tuple[str, ...]:
    """Return the files of the project that the session wrote, newest first."""
    files = reversed(state.files.items())
    return tuple(path for path, touched in files if touched.writes and not path.startswith("/"))


def open_files(state: SessionState) -> tuple[str, ...]:
    """Return those of the written files whose changes no commit is known to have, newest first."""
    return tuple(path for path in written_files(state) if state.files[path].is_dirty)


def left_open(state: SessionState) -> tuple[str, ...]:
    """Return the open files, newest first; none while a sub-agent has not reported."""
    is_away = any(session_state.is_away(*pair) for pair in state.grouped.items())
    return () if is_away else open_files(state)


def with_uncommitted(state: SessionState, uncommitted: Collection[str]) -> SessionState:
    """Return the state after git said which of the files that the session wrote are uncommitted.

    A commit that git printed to the session may be in another clone than the one that is asked.
    """
    files = dict(state.files)
    for path in written_files(state):
        is_dirty = path in uncommitted and not files[path].is_printed
        files[path] = replace(files[path], is_dirty=is_dirty)
    return replace(state, files=files, is_git_asked=True)


def with_pull(state: SessionState, branch: str, call: Command | ToolUse) -> SessionState:
    """Return the state after a call: with the pull request of the branch, and the title given.

    The address is that which the call printed, and no other; one that was asked for by its number
    may be another branch's.
    """
    asked = call.command if isinstance(call, Command) else call.input
    found = {one.groups() for one in _PULL.finditer(call.output)}
    for address, number in found if len(found) == 1 else ():
        if not re.search(rf"\b{number}\b", asked):
            state = replace(state, pulls=newest({**state.pulls, branch: address}, PULLS))
    if not (title := one_line(_title_given(call), 200)):
        return state
    return replace(state, pull=title, turn=state.turn and replace(state.turn, pull=title))


def _title_given(call: Command | ToolUse) -> str:
    """Return the title that a call gave to a pull request; "" for other calls."""
    if isinstance(call, ToolUse):
        given = object_in(call.input).get("title")
        is_of_pulls = _IS_OF_PULLS.search(call.tool) and not call.failed
        return given if is_of_pulls and isinstance(given, str) else ""
    for part in command_line.simple_commands(call.command):
        words = [unquoted(word) for word in part.words]
        if program_name(words[0]) in _FORGES and words[1:2] in (["pr"], ["mr"]):
            behind = (then for word, then in pairwise(words) if word in ("--title", "-t"))
            option = next((word for word in words if word.startswith("--title=")), "")
            return next(behind, "") or unquoted(option.removeprefix("--title="))
    return ""


def with_git_commands(
    state: SessionState, recorded: Recorded, body: Command, *, is_ok: bool
) -> SessionState:
    """Return the state after the git commands of a line; `is_ok` as in `operations_of`.

    A commit holds the files that were added since the last, or all that are open if it is of as
    many. Which program ran git is all the same. Where it printed none, though it was asked for one
    and nothing failed, it may be quiet, or go on in the background.
    """
    for operation, _ in operations_of(recorded, body, is_ok=is_ok):
        state = with_operation(state, operation)
    parts = [one for one in command_line.simple_commands(body.command) if not one.looks]
    is_made = bool(parts) and COMMITTED.search(body.output) is not None
    if not is_made and "git" not in body.command:
        return state
    taking = [_git_words(one, is_git=is_made) for one in parts]
    taking = [words for words in taking if words and words[0] in _TAKING]
    root, cwd, words = (
        recorded.root,
        recorded.event.cwd,
        [word for one in taking for word in one[1:]],
    )
    places = (_ALL if _EVERY.match(word) else relative(word, root, cwd) for word in words)
    state = replace(state, staged=distinct((*state.staged, *places), _STAGED))
    is_asked = any(words[0] == "commit" for words in taking)
    if is_made:
        state = with_printed_commits(state, body.output, is_asked=is_asked)
    elif is_asked and is_ok:  # if it did not come about, git says so at the end of the session
        open_now = open_files(state)
        added = [path for path in open_now if state.staged and is_within(path, state.staged)]
        state = _with_clean(state, open_now if _ALL in state.staged else added or open_now)
    return state


def with_printed_commits(
    state: SessionState, output: str, *, is_asked: bool = False
) -> SessionState:
    """Return the state after the commits that git says it made, in what any tool printed.

    Where git was not asked for one, a line without a count of files may be any log's.
    """
    for found in COMMITTED.finditer(texts_in(output)):
        if not (found["files"] or is_asked):
            continue
        open_now, staged = open_files(state), state.staged
        is_all = _ALL in staged or int(found["files"] or 0) >= len(open_now)
        taken = {path for path in open_now if is_all or (staged and is_within(path, staged))}
        state = replace(_with_clean(state, taken, is_printed=True), staged=())
        state = _with_own(state, found["subject"], found["hash"])
    return state


def _with_own(state: SessionState, subject: str, commit: str) -> SessionState:
    """Return the state with a commit of the session; git may print what is reported too."""
    saying = commit_text(subject, commit)
    others = [one for one in state.commits if not commit.startswith(hash_of(one))]
    is_printed_only = subject_of(saying) in map(subject_of, others)
    kept = state.commits if len(commit) < _WHOLE_HASH and is_printed_only else (*others, saying)
    turn = state.turn and turns.with_said(state.turn, "commits", one_line(subject, FACT))
    turn = turn and replace(turn, is_replied=False)
    red = tuple(one.item for one in state.failing)
    return replace(state, commits=added((), *kept), turn=turn, accepted=red)


def _git_words(part: SimpleCommand, *, is_git: bool) -> list[str]:
    """Return the words of a command of git, whatever runs it; none of anything else.

    Where nothing has that name, the program may be git by another (`is_git`).
    """
    names = map(program_name, part.words)
    place = next((at for at, name in enumerate(names) if name == "git"), 0 if is_git else None)
    return [] if place is None else command_line.git_words(part.words[place:])


def with_operation(state: SessionState, operation: GitOperation) -> SessionState:
    """Return the state after git discarded changes, or has them in its stash or no longer.

    Other operations change nothing.
    """
    if operation.kind in ("stash", "unstash", "drop"):
        return replace(state, is_stashed=operation.kind == "stash")
    if operation.kind not in DISCARDING:
        return state
    # Only `clean` takes away a file that no commit has.
    changed = {}
    for path, file in state.files.items():
        is_new = file.is_new and file.committed is None
        is_meant = is_new == (operation.kind == "clean") and is_within(path, operation.paths)
        if file.is_dirty and is_meant:
            before = replace(file.committed or FileState(is_undone=True), committed=file.committed)
            changed[path] = replace(before, reads=file.reads, writes=file.writes)
    # Where the turn committed, what is taken back in it may not be all of a file.
    is_all = not (state.turn and state.turn.commits)
    gone = [path for path, file in changed.items() if is_all or file.is_undone]
    turn = state.turn and turns.without(state.turn, files=gone)
    # What is written from now on is not what was taken back.
    return without_groups(replace(state, files={**state.files, **changed}, turn=turn), "write|")


def hash_of(saying: str) -> str:
    """Return the abbreviated hash from the text of a commit."""
    return saying.rpartition(_OPENING)[2].removesuffix(")")
