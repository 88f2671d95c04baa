"""A clone whose work tree follows sessions: their branches, commits and edits."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import NamedTuple

from sessions.history import History, git
from sessions.transcript import Json


class Moved(NamedTuple):
    """From where HEAD moved; both are empty for the first time."""

    head: str
    branch: str


class WorkTree:
    """The work tree of a clone.

    Args:
        folder: where it is.
        history: where its branches were.
    """

    def __init__(self, folder: Path, history: History) -> None:
        self.folder = folder
        self.head = ""
        self.branch = ""
        self._history = history
        self._dirty: dict[Path, str] = {}

    @property
    def branch_name(self) -> str:
        """The branch as a hook reports it: "" for a detached HEAD."""
        return "" if self.branch == "HEAD" else self.branch

    def dirty(self) -> list[str]:
        """Return the files that sessions changed and no commit took up."""
        return sorted(str(path.relative_to(self.folder)) for path in self._dirty)

    def move(self, branch: str, at_ms: int) -> Moved | None:
        """Check out a branch as it was then; returns from where, None if it was there already."""
        target = self._history.head_at(branch, at_ms)
        if (self.head, self.branch) == (target, branch):
            return None
        before = Moved(self.head, self.branch)
        self._check_out(branch, target)
        if before.branch == branch:
            self._restore(set())
        else:
            self._dirty.clear()
        return before

    def commit(self, commit: str) -> None:
        """Check out a commit that was just made; edits that are not in it stay."""
        self._check_out(self._history.branch_of[commit], commit)
        words = ("diff-tree", "--no-commit-id", "--name-only", "-r", "-m", "--root", commit)
        self._restore(set(git(self.folder, *words).splitlines()))

    def edit(self, payload: Json) -> None:
        """Make the edit that a tool reported."""
        given, response = payload["tool_input"], payload.get("tool_response")
        path = Path(given.get("file_path", ""))
        if not path.is_relative_to(self.folder):
            return
        text = given.get("content", "")
        if payload["tool_name"] == "Edit":
            before = response.get("originalFile") if isinstance(response, dict) else None
            before = _text(path) or "" if before is None else before
            text = edited(before, given)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        except (OSError, UnicodeEncodeError):
            return
        self._dirty[path] = text

    def _check_out(self, branch: str, target: str) -> None:
        name = self._history.main_name if branch in {"", "HEAD"} else branch
        try:
            git(self.folder, "checkout", "-q", "-f", "-B", name, target)
        except subprocess.CalledProcessError:  # a branch beside one that is named like its folder
            git(self.folder, "checkout", "-q", "-f", "--detach", target)
        git(self.folder, "clean", "-fdq")
        self.head, self.branch = target, branch

    def _restore(self, committed: set[str]) -> None:
        for path, text in list(self._dirty.items()):
            if str(path.relative_to(self.folder)) in committed or _text(path) == text:
                del self._dirty[path]
                continue
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
            except OSError:
                del self._dirty[path]


def edited(before: str, given: Json) -> str:
    """Return a text after an edit of the tool `Edit`."""
    times = -1 if given.get("replace_all") else 1
    return before.replace(given.get("old_string", ""), given.get("new_string", ""), times)


def _text(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return None
