"""Makes a repository out of releases of packages: real edits, renames and deletions, committed.

Each release is committed on top of the one before, a file a commit, a renamed file with its new
name. Every so often a commit is taken back and done again, and some commits go onto a branch that
is merged, so that the history has what histories have.
"""

from __future__ import annotations

import subprocess
import sys
import zipfile
from collections.abc import Iterator
from difflib import SequenceMatcher
from pathlib import Path

RELEASES = {
    "flask": ("0.12.5", "1.0.4", "1.1.4", "2.0.3", "2.1.3", "2.2.5", "2.3.3", "3.0.3", "3.1.0"),
    "click": ("6.7", "7.1.2", "8.0.4", "8.1.8"),
    "werkzeug": ("0.14.1", "0.16.1", "1.0.1", "2.0.3", "2.2.3", "2.3.8", "3.0.6", "3.1.3"),
    "jinja2": ("2.9.6", "2.10.3", "2.11.3", "3.0.3", "3.1.6"),
    "requests": ("2.10.0", "2.18.4", "2.22.0", "2.28.2", "2.32.3"),
    "rich": ("3.4.1", "6.2.0", "9.13.0", "10.16.2", "12.6.0", "13.9.4", "14.0.0"),
    "pytest": ("3.10.1", "4.6.11", "5.4.3", "6.2.5", "7.4.4", "8.3.5"),
    "httpx": ("0.9.5", "0.12.1", "0.16.1", "0.20.0", "0.24.1", "0.28.1"),
    "starlette": ("0.13.8", "0.14.2", "0.20.4", "0.27.0", "0.37.2", "0.46.1"),
    "networkx": ("2.6.3", "2.8.8"),
}
ALIKE = 0.6
"""Share of lines in common from which a file that came is one that went."""
TAKEN_BACK = 40
"""Of so many commits one is taken back, and done again ten commits later."""
BRANCHED = 60
"""Of so many commits five go onto a branch."""
STEP_S = 3_600


class Growing:
    """A repository that grows by releases.

    Args:
        folder: made if it is missing.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.commits = 0
        self._open: list[str] = []
        folder.mkdir(parents=True, exist_ok=True)
        self._git("init", "-q", "-b", "main")

    def release(self, wheel: Path, name: str) -> None:
        """Commit what a release changed in the files of a package."""
        shown = dict(_files(wheel))
        known = {str(path.relative_to(self.folder)) for path in self._under(name)}
        gone = sorted(known - shown.keys())
        for path, data in sorted(shown.items()):
            before = path if path in known else self._origin(data, gone)
            if before and (self.folder / before).read_bytes() == data and before == path:
                continue
            if before and before != path:
                gone.remove(before)
                self._git("mv", "-f", before, self._place(path))
            self._place(path)
            (self.folder / path).write_bytes(data)
            self._commit(f"{wheel.stem.split('-py')[0]}: {path}")
        for path in gone:
            self._git("rm", "-q", path)
            self._commit(f"{wheel.stem.split('-py')[0]}: drop {path}")

    def _commit(self, message: str) -> None:
        if self.commits % BRANCHED == BRANCHED - 6:
            self._git("checkout", "-q", "-b", f"side-{self.commits}")
        self._git("add", "-A")
        if not self._git("status", "--porcelain"):
            return
        self._git("commit", "-q", "-m", message)
        self.commits += 1
        branch = self._git("branch", "--show-current")
        if branch != "main" and self.commits % BRANCHED == 0:
            self._git("checkout", "-q", "main")
            self._git("merge", "-q", "--no-ff", "-m", f"Merge {branch}", branch)
        if self.commits % TAKEN_BACK == 0:
            self._open.append(self._git("rev-parse", "HEAD^2" if branch != "main" else "HEAD"))
            self._take_back(self._open[-1])
        elif self.commits % TAKEN_BACK == 10 and self._open:
            self._take_back("")

    def _take_back(self, commit: str) -> None:
        """Revert a commit; without one, revert the newest revert."""
        wanted = commit or self._git("log", "-1", "--format=%H", "--grep=^This reverts commit")
        done = subprocess.run(
            ["git", "-C", self.folder, *_AUTHOR, "revert", "--no-edit", wanted],
            capture_output=True,
            check=False,
            env=_at(self.commits),
        )
        if done.returncode:
            self._git("revert", "--abort")

    def _origin(self, data: bytes, gone: list[str]) -> str | None:
        lines = data.splitlines()
        for path in gone:
            other = (self.folder / path).read_bytes().splitlines()
            matcher = SequenceMatcher(None, lines, other, autojunk=False)
            if len(lines) > 5 and matcher.quick_ratio() > ALIKE and matcher.ratio() > ALIKE:
                return path
        return None

    def _under(self, name: str) -> Iterator[Path]:
        return (path for path in (self.folder / name).rglob("*") if path.is_file())

    def _place(self, path: str) -> str:
        (self.folder / path).parent.mkdir(parents=True, exist_ok=True)
        return path

    def _git(self, *words: str) -> str:
        done = subprocess.run(
            ["git", "-C", self.folder, *_AUTHOR, *words],
            capture_output=True,
            check=True,
            env=_at(self.commits),
        )
        return done.stdout.decode("utf-8", "replace").strip()


_AUTHOR = ("-c", "user.name=Ana", "-c", "user.email=ana@example.com", "-c", "merge.ff=no")


def _at(number: int) -> dict[str, str]:
    when = f"{1_600_000_000 + number * STEP_S} +0000"
    return {"GIT_AUTHOR_DATE": when, "GIT_COMMITTER_DATE": when, "PATH": "/usr/bin:/bin"}


def _files(wheel: Path) -> Iterator[tuple[str, bytes]]:
    with zipfile.ZipFile(wheel) as archive:
        for entry in archive.infolist():
            if not entry.is_dir() and ".dist-info/" not in entry.filename:
                package = wheel.name.split("-")[0].lower()
                yield f"{package}/{entry.filename}", archive.read(entry)


def download(into: Path, name: str, version: str) -> Path:
    """Return the wheel of a release, fetched through pip unless it is there."""
    found = [*into.glob(f"{name}-{version}-*.whl"), *into.glob(f"{name.title()}-{version}-*.whl")]
    if not found:
        words = ("download", "-q", "--no-deps", "--only-binary", ":all:", f"{name}=={version}")
        subprocess.run([sys.executable, "-m", "pip", *words, "-d", into], check=True)
        return download(into, name, version)
    return found[0]


def build(folder: Path, wheels: Path) -> int:
    """Make the repository; returns how many commits of releases it has."""
    growing = Growing(folder)
    longest = max(map(len, RELEASES.values()))
    for number in range(longest):
        for name, versions in RELEASES.items():
            if number < len(versions):
                growing.release(download(wheels, name, versions[number]), name)
    return growing.commits


if __name__ == "__main__":
    print(build(Path(sys.argv[1]), Path(sys.argv[2])), "commits")
