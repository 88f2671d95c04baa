"""Exchanging files with a remote repository: the one place where git speaks to another machine.

Only in repositories that observer made for this: nothing of the remote runs, and no password is
asked for. Both sides only add files of their own, so nothing conflicts or is forced.
"""

from __future__ import annotations

import os
import random
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

from observer.core.errors import ShareUnavailable
from observer.core.paths import make_private
from observer.git.launch import GitTimeout, ask, environment

WAIT_S = 300.0
"""Longest wait for a fetch or a push."""
MOST_TRIES, PAUSE_S = 10, 0.2
"""Pushes in a row that may come too late, and seconds by which each waits longer, at most."""
_SETTINGS = {
    "commit.gpgSign": "false",
    "core.attributesFile": os.devnull,
    "core.autocrlf": "false",
    "core.fsmonitor": "false",
    "core.hooksPath": os.devnull,
    "core.symlinks": "false",
    "fetch.recurseSubmodules": "false",
    "fetch.writeCommitGraph": "false",
    "init.defaultBranch": "observer",
    "submodule.recurse": "false",
    "user.email": "observer@localhost",
    "user.name": "observer",
}
_ENVIRONMENT = {
    "GIT_ALLOW_PROTOCOL": "file:https:ssh",
    "GIT_ASKPASS": "",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
    "SSH_ASKPASS_REQUIRE": "never",
}
_BRANCH = "refs/heads/observer"
_THEIRS = "refs/remotes/share/observer"
_FETCH = ("fetch", "--quiet", "--no-tags", "--")


class Exchange:
    """A work tree of our own whose files are exchanged with one branch of a remote.

    Files whose paths begin with `final` never change: a disk that tears one tears it for us alone.
    """

    def __init__(self, folder: Path, url: str, *, final: str, wait_s: float = WAIT_S) -> None:
        self._folder = make_private(folder)
        self._url = url
        self._final = final
        self._wait_s = wait_s
        if not (folder / ".git" / "HEAD").exists():
            self._git("init", "--quiet")
        make_private(folder / ".git" / "info")
        (folder / ".git" / "info" / "attributes").write_text(
            "* -text -filter -ident -diff -merge\n", encoding="utf-8"
        )

    def refs(self) -> dict[str, str]:
        """Return the commits of the remote's branches and tags. Raises: ShareUnavailable."""
        answer = self._git("ls-remote", "--quiet", "--heads", "--tags", "--", self._url)
        pairs = [line.split("\t") for line in answer.splitlines()]
        return {name: commit for commit, name in pairs}

    def is_news(self) -> bool:
        """Return True if somebody has pushed what was not brought yet."""
        return self.refs().get(_BRANCH, "") != self._commit_at(_THEIRS)

    def bring(self) -> None:
        """Add to the work tree what others pushed. Raises: ShareUnavailable (or it is not ours)."""
        for lock in (self._folder / ".git").glob("*.lock"):  # of a git which was killed
            lock.unlink(missing_ok=True)
        refs = self.refs()
        if strange := refs.keys() - {_BRANCH}:
            raise ShareUnavailable(
                f"{self._url} holds {min(strange)}: it is not a repository of a share",
                hint="name an empty repository that is for nothing else",
            )
        if refs.get(_BRANCH, "") != self._commit_at(_THEIRS):
            self._git(*_FETCH, self._url, f"+{_BRANCH}:{_THEIRS}")
        if not refs or self._is_brought():
            return
        self._commit()
        ours, theirs = self._commit_at("HEAD"), self._commit_at(_THEIRS)
        base = self._git("merge-base", ours, theirs, fails="") if ours else ""
        target = self._together(base, ours, theirs) if ours and base != ours else theirs
        self._git("reset", "--quiet", "--hard", target)

    def send(self) -> None:
        """Send what the remote has not. Raises: ShareUnavailable."""
        self._commit()
        for tried in range(MOST_TRIES):
            ours = self._commit_at("HEAD")
            if not ours or ours == self._commit_at(_THEIRS):
                return
            try:
                self._git("push", "--quiet", "--no-verify", "--", self._url, f"HEAD:{_BRANCH}")
            except ShareUnavailable:
                self._git(*_FETCH, self._url, f"+{_BRANCH}:{_THEIRS}")
                if self._is_brought():  # else it was rejected because of what was just fetched
                    raise
            else:
                self._git("update-ref", _THEIRS, ours)
                return
            # Whoever lost waits for a time of its own: else the slower of two would lose each race.
            time.sleep(random.uniform(0, PAUSE_S * tried))  # noqa: S311 - no secret
            self.bring()
        raise ShareUnavailable(f"others push to {self._url} all the time", hint="try again later")

    def _is_brought(self) -> bool:
        return not self._git("merge-base", "--is-ancestor", _THEIRS, "HEAD", fails="no")

    def _together(self, base: str, ours: str, theirs: str) -> str:
        """Return a commit of theirs with our changes on it."""
        base = base or self._git("hash-object", "-t", "tree", "-w", os.devnull)
        changes = self._git("diff-tree", "-r", "-z", "--no-renames", base, ours)
        fields = changes.split("\0")
        with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile() as lines:
            for what, path in zip(fields[::2], fields[1::2], strict=False):
                _, mode, _, name, _ = what.split(" ")
                lines.write(f"{mode} {name}\t{path}\0".encode())
            lines.seek(0)
            index = {"GIT_INDEX_FILE": f"{folder}/index"}
            self._git("read-tree", theirs, environ=index)
            self._git("update-index", "-z", "--index-info", environ=index, reads=lines.fileno())
            tree = self._git("write-tree", environ=index)
        return self._git("commit-tree", "-m", "Add records", "-p", theirs, "-p", ours, tree)

    def _commit(self) -> None:
        changed = self._git("status", "--porcelain", "-z").rstrip("\0").split("\0")
        torn = [one for one in changed if "M" in one[:2] and one[3:].startswith(self._final)]
        if torn:
            self._git("checkout", "--quiet", "HEAD", "--", *(one[3:] for one in torn))
        if any(set(changed) - set(torn)):
            self._git("add", "--all", "--force", ".")
            self._git("commit", "--quiet", "--no-verify", "-m", "Add records")

    def _commit_at(self, name: str) -> str:
        return self._git("rev-parse", "--verify", "--quiet", f"{name}^{{commit}}", fails="")

    def _git(
        self,
        *words: str,
        fails: str | None = None,
        environ: Mapping[str, str] | None = None,
        reads: int | None = None,
    ) -> str:
        """Return what git printed; `fails` if it failed, unless that is None."""
        try:
            done = ask(
                ("--no-pager", "-C", str(self._folder), *words),
                settings=_SETTINGS,
                environ=environment(os.environ) | _ENVIRONMENT | dict(environ or {}),
                reads=reads,
                wait_s=self._wait_s,
            )
        except GitTimeout as error:
            raise ShareUnavailable(f"{self._url} does not answer: {error}") from error
        if not done.returncode:
            return done.stdout.decode("utf-8", "surrogateescape").rstrip("\n")
        if fails is not None:
            return fails
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise ShareUnavailable(
            f"git cannot {words[0]} with {self._url}: {said[-1] if said else done.returncode}",
            hint=f"try: git ls-remote {self._url}",
        )
