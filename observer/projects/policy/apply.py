"""Applying policies and excluded folders to an event: what remains is all, a part, or nothing.

Files are recognized by name; folders by their real paths, since a client may reach in by a link.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

from msgspec.structs import replace

from observer.core.events import (
    AnyBody,
    Approve,
    Command,
    Custom,
    Enriched,
    Event,
    FileChange,
    FileRead,
    FileWrite,
    Forget,
    Intent,
    Outcome,
    Prompt,
    Remember,
    Revise,
    Search,
    Shared,
    ToolUse,
    Triage,
    Undo,
    kind_of,
)
from observer.core.paths import is_inside
from observer.projects.policy.policies import Policy

_WORD = re.compile(r"[^\s'\"`|&;()<>{}=,:$]+")


def path_words(text: str) -> list[str]:
    """Return the words of a command line or a text that may name files."""
    return list(map(os.path.expanduser, _WORD.findall(text)))


class Exclusion:
    """The folders (`folders` by real names) with all below, of which nothing is recorded."""

    def __init__(self, folders: Iterable[str]) -> None:
        named = map(os.path.expanduser, folders)
        self.folders = tuple(map(os.path.realpath, named))

    def applied(self, event: Event, folder: str) -> Event | None:
        """Return what may be recorded of an event that belongs to a folder, None if nothing may.

        A call that names an excluded file keeps its place without its input, since the next result
        is paired with it; a result without its call may be of any file, so it loses its output.
        """
        if not self.folders:
            return event
        if self.holds(folder):
            return None
        body = event.body
        here = event.cwd or folder
        if isinstance(body, Outcome):
            return replace(event, body=replace(body, output=""))
        action = body.of if isinstance(body, Intent) else body
        paths: Iterable[str] = _files(action)
        if isinstance(action, Command):
            paths = path_words(action.command)
        elif isinstance(action, Search):
            paths = (action.path,)
        if not any(self.holds(str(Path(here, path))) for path in paths):
            return event
        if not isinstance(body, Intent):
            return None
        return replace(event, body=replace(body, of=ToolUse(tool=body.tool)))

    def beside(self, files: tuple[FileChange, ...], root: str) -> tuple[FileChange, ...]:
        """Return the files of a commit that are in none of them, and were not."""
        hides = (lambda path: self.holds(f"{root}/{path}")) if self.folders else None
        return _shown(files, hides)

    def holds(self, path: str) -> bool:
        """Return True if a file really lies in one of the folders, or is one."""
        try:
            real = os.path.realpath(path)
        except ValueError:  # NUL or lone surrogates: no file
            return False
        return any(is_inside(real, folder) for folder in self.folders)


_ON_PURPOSE = (Approve, Enriched, Forget, Remember, Revise, Shared, Triage, Undo)
"""Deliberate requests to the memory: they are not captured, and no policy applies."""

PolicyOf = Callable[[str, str], Policy]
"""Returns the policy of the work tree that a path, maybe relative to a folder, lies in."""

_SECTION = re.compile(r"^(?:diff --git |diff --cc |commit [0-9a-f]{7,})")


def apply_policy(event: Event, policy: Policy, policy_of: PolicyOf, *, root: str) -> Event | None:
    """Return what may be recorded of an event in work tree `root` ("": none), None if nothing may.

    `policy` is of that work tree; `policy_of` finds that of files elsewhere.
    """
    body = event.body
    if not is_captured(body):
        return event
    if policy.problem:
        return None
    if not (policy.exclude or policy.never) and all(
        bool(root) and path.startswith(f"{root}/") and ".." not in path
        for path in _files(body.of if isinstance(body, Intent) else body)
    ):
        return event  # nearly every event: what follows would cost each of them
    left = _left(body, _View(event.cwd or root, policy, policy_of))
    if left is body:
        return event
    return None if left is None else replace(event, body=left)


def is_captured(body: AnyBody) -> bool:
    """Return True if an event was observed, False if it is a deliberate request to the memory."""
    return not isinstance(body, _ON_PURPOSE)


def unexcluded_files(files: tuple[FileChange, ...], policy: Policy) -> tuple[FileChange, ...]:
    """Return the files of a commit that are not excluded, and were not."""
    return _shown(files, policy.excludes if policy.exclude else None)


def _shown(
    files: tuple[FileChange, ...], hides: Callable[[str], bool] | None
) -> tuple[FileChange, ...]:
    if hides is None:
        return files
    names = ((file, (file.path, file.old_path)) for file in files)
    return tuple(file for file, paths in names if not any(map(hides, filter(None, paths))))


class _View:
    """What is excluded, as seen from the folder in which something happened."""

    def __init__(self, here: str, policy: Policy, policy_of: PolicyOf) -> None:
        self.policy = policy
        self._here = here
        self._bases = {here, policy.root}
        self._policy_of = policy_of

    def hides(self, path: str) -> bool:
        """Return True if nothing is recorded of a file or folder, in whichever work tree it is."""
        named = os.path.normpath(os.path.join(self._here, path))
        root = self.policy.root
        if not self.policy.exclude and root and is_inside(named, root):
            return False
        names = {named}
        with suppress(ValueError):  # NUL or lone surrogates: no file
            names.add(os.path.realpath(named))
        return any(map(self._hides, names))

    def hides_word(self, word: str) -> bool:
        """Return True if a word names something excluded here, from this folder or the root."""
        paths = (os.path.normpath(os.path.join(base, word)) for base in self._bases)
        return any(self._is_excluded(self.policy, path) for path in paths)

    def mentions(self, text: str) -> bool:
        """Return True if a text names something excluded, by a word that can only be a path."""
        words = path_words(text)
        return any(self.hides_word(word) for word in words if "/" in word or "." in word)

    def _hides(self, path: str) -> bool:
        if self.policy.root and is_inside(path, self.policy.root):
            return self._is_excluded(self.policy, path)
        other = self._policy_of(path, self._here)
        return bool(other.problem) or self._is_excluded(other, path)

    @staticmethod
    def _is_excluded(policy: Policy, path: str) -> bool:
        root = policy.root
        is_below = bool(root) and path != root and is_inside(path, root)
        return is_below and policy.excludes(path[len(root) :], is_folder=True)


def _left(body: AnyBody, view: _View) -> AnyBody | None:
    if not isinstance(body, Intent):
        return _left_of(body, view)
    left = _left_of(body.of, view)
    if left is body.of:
        return body
    # A result without its call is paired with the oldest one, so that the place has to be kept.
    return replace(body, of=left or ToolUse(tool=body.tool))


def _left_of(body: AnyBody, view: _View) -> AnyBody | None:
    if kind_of(body) in view.policy.never or any(map(view.hides, _files(body))):
        return None
    if isinstance(body, Prompt):
        files = tuple(path for path in body.files if not view.hides(path))
        return body if files == body.files else replace(body, files=files)
    if not isinstance(body, Command | Search | ToolUse | Outcome):
        return body
    is_about = False
    if view.policy.exclude and isinstance(body, Command):
        is_about = any(map(view.hides_word, path_words(body.command)))
    elif view.policy.exclude and isinstance(body, ToolUse):
        is_about = view.mentions(body.input)
    return None if is_about else _without_output(body, view)


def _files(body: AnyBody) -> tuple[str, ...]:
    if isinstance(body, FileWrite):
        return (body.path,)
    if isinstance(body, Search):
        return (body.path,) if body.path else ()
    if isinstance(body, FileRead):
        return body.paths
    return body.files if isinstance(body, Custom) else ()


def _without_output(body: Command | Search | ToolUse | Outcome, view: _View) -> AnyBody:
    policy = view.policy
    # A result that comes without its call may be of any file.
    is_unknown = isinstance(body, Outcome) and (policy.exclude or policy.never)
    if "output" in policy.never or is_unknown:
        output = ""
    else:
        output = _visible(body.output, view) if policy.exclude else body.output
    return body if output == body.output else replace(body, output=output)


def _visible(output: str, view: _View) -> str:
    kept = []
    is_hidden = False
    for line in output.splitlines(keepends=True):
        if _SECTION.match(line):
            # The head of a diff, with its paths as they are in the work tree.
            is_hidden = view.mentions(re.sub(r"(^| )[abciow]/", r"\1./", line))
        if not is_hidden and not view.mentions(line):
            kept.append(line)
    return "".join(kept)
