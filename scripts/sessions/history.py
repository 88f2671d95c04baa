"""Where a repository stood at a time: which commit a branch had, from merges and first parents."""

from __future__ import annotations

import bisect
import re
import subprocess
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import NamedTuple

_MERGED = re.compile(r"Merge pull request #\d+ from [^/\s]+/(\S+)|Merge branch '([^']+)'")
MAIN = ("main", "master", "develop", "trunk")
"""Names of main branches, the likeliest first."""
_HIDDEN = ("--exclude=refs/heads/entire/*", "--exclude=refs/remotes/origin/entire/*")
"""Options of `git log --all` that leave out the branches of checkpoints."""
_REMOTE = "refs/remotes/origin/"
_TRAILER = "%(trailers:key=Entire-Checkpoint,valueonly,separator=%x2C)"
_FIELDS = f"%H%x1f%at%x1f%ct%x1f%an%x1f%cn%x1f%P%x1f{_TRAILER}%x1f%s"


_BLAMED = re.compile(r"^([0-9a-f]{40}) \d+ (\d+)")


class Made(NamedTuple):
    """A commit of the repository; times in milliseconds."""

    hash: str
    at_ms: int
    committed_ms: int
    author: str
    committer: str
    parents: tuple[str, ...]
    is_of_session: bool
    subject: str


def git(folder: Path, *words: str, check: bool = True) -> str:
    """Run git in a folder and return what it prints."""
    done = subprocess.run(
        ["git", "-C", str(folder), *words],
        capture_output=True,
        text=True,
        errors="replace",
        check=check,
    )
    return done.stdout


def blamed(folder: Path, file: str, *options: str) -> Iterator[tuple[str, int, str]]:
    """Yield the commit, the number and the text, without the space around it, of each line."""
    head = None
    for text in git(folder, "blame", *options, "-s", "--line-porcelain", "--", file).split("\n"):
        if text.startswith("\t"):
            if head:
                yield head[1], int(head[2]), text[1:].strip()
        elif found := _BLAMED.match(text):
            head = found


def paths(folder: Path) -> set[str]:
    """Return the path of every file that a commit changed."""
    words = ("-c", "core.quotePath=off", "log", *_HIDDEN, "--all", "--format=", "--name-only")
    return set(filter(None, git(folder, *words).split("\n")))


class History:
    """The commits of a clone, and the branches that they were made on."""

    def __init__(self, folder: Path) -> None:
        self.commits = {each.hash: each for each in _commits(folder)}
        tips = self._tips(folder)
        self.main_name = next(each for each in MAIN if each in tips)
        self._main = self._chain(tips.pop(self.main_name)[0], ())
        on_main = set(self._main)
        for each in self.commits.values():
            found = _MERGED.match(each.subject)
            if found and len(each.parents) == 2:
                tips.setdefault(found[1] or found[2], []).append(each.parents[1])
        self._chains = {
            name: [self._chain(tip, on_main) for tip in ends] for name, ends in tips.items()
        }
        self.branch_of: dict[str, str] = {}
        for name, chains in self._chains.items():
            for chain in chains:
                self.branch_of |= {each: name for each in chain if each not in self.branch_of}
        self.branch_of |= dict.fromkeys(self._main, self.main_name)
        self._main_times = self._times()

    def head_at(self, branch: str, at_ms: int) -> str:
        """Return the newest commit that a branch had then; of an unknown branch, that of main."""
        found = [
            next((each for each in chain if self.commits[each].at_ms <= at_ms), "")
            for chain in self._chains.get(branch, ())
        ]
        known = [self.commits[each] for each in found if each]
        if known:
            return max(known, key=lambda each: each.at_ms).hash
        place = bisect.bisect_right(self._main_times, (at_ms, "~")) - 1
        return self._main_times[max(place, 0)][1]

    def _tips(self, folder: Path) -> dict[str, list[str]]:
        listed = git(folder, "for-each-ref", "--format=%(objectname) %(refname)", _REMOTE)
        tips: dict[str, list[str]] = {}
        for line in listed.splitlines():
            found, name = line.split(" ", 1)
            if found in self.commits and not name.endswith("/HEAD"):
                tips.setdefault(name.removeprefix(_REMOTE), []).append(found)
        return tips

    def _chain(self, tip: str, stop: Collection[str]) -> list[str]:
        chain = []
        while tip in self.commits and tip not in stop:
            chain.append(tip)
            tip = (*self.commits[tip].parents, "")[0]
        return chain

    def _times(self) -> list[tuple[int, str]]:
        times, top = [], 0
        for each in reversed(self._main):
            top = max(top, self.commits[each].committed_ms)
            times.append((top, each))
        return times


def _commits(folder: Path) -> list[Made]:
    made = []
    for line in git(folder, "log", *_HIDDEN, "--all", f"--format={_FIELDS}").splitlines():
        found, at, committed, author, committer, parents, trailer, subject = line.split("\x1f", 7)
        made.append(
            Made(
                hash=found,
                at_ms=int(at) * 1000,
                committed_ms=int(committed) * 1000,
                author=author,
                committer=committer,
                parents=tuple(parents.split()),
                is_of_session=bool(trailer.strip(", ")),
                subject=subject,
            )
        )
    return made
