"""Where real sessions lie: transcripts, the repositories they worked on, and what is not in them.

A corpus is a folder with `transcripts/` (`SESSION.jsonl`, `SESSION.jsonl.gz`, or a folder of
either for each session) and `repository.bundle`. A `sessions.json` in it names several:

    {"repositories": [{"name": "shop", "bundle": "shop.bundle", "transcripts": "shop",
                       "folder": "/Users/ana/shop", "author": "ana"}]}

`folder` (where the sessions worked) and `author` (whose commits were made there) are found where
they are not named. Each session's own work tree, of whatever person and machine, becomes the clone.
"""

from __future__ import annotations

import gzip
import re
import subprocess
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

import msgspec

from sessions.history import MAIN, History, paths
from sessions.transcript import Transcript

_GROUPED = "transcripts"
_END = r"(?![\w-]|\.\w)"
"""What follows the name of a folder: nothing that could be the rest of another name."""


class Source(msgspec.Struct, frozen=True, kw_only=True):
    """One repository of a corpus; paths are relative to the corpus."""

    name: str = ""
    bundle: str = "repository.bundle"
    transcripts: str = _GROUPED
    folder: str = ""
    author: str = ""


class Sources(msgspec.Struct, frozen=True):
    """What a `sessions.json` holds."""

    repositories: list[Source]


class Repository:
    """A repository that sessions worked on, cloned, and their transcripts.

    Args:
        corpus: the folder of the corpus.
        source: which of its repositories.
        parent: where the clone is, or is to be; it is named as where the sessions worked.
    """

    def __init__(self, corpus: Path, source: Source, parent: Path) -> None:
        self.files = _by_session(corpus / source.transcripts)
        read = [Transcript(paths, name) for name, paths in self.files.items()]
        usual = source.folder or _common_folder(read)
        self.name = source.name or Path(usual).name
        self.folder = parent / self.name
        if not self.folder.exists():
            _clone(corpus / source.bundle, self.folder)
        roots = {source.folder, *_roots(read, paths(self.folder))} - {""}
        listed = map(_in_json, sorted(roots, key=len, reverse=True))
        self._roots = re.compile(f"(?:{'|'.join(listed)}){_END}")
        for each in read:
            each.relocate = self._relocate
        self.transcripts = sorted(
            (each for each in read if each.events), key=lambda each: each.events[0].at_ms
        )
        self.history = History(self.folder)
        self.author = source.author or self._usual_author()

    def relative(self, path: str) -> str:
        """Return a path relative to the clone; what is outside of it is ""."""
        inside = path.startswith(f"{self.folder}/")
        return path.removeprefix(f"{self.folder}/") if inside else ""

    def relocated(self, path: Path) -> bytes:
        """Return a transcript as it would be if the sessions had worked in the clone."""
        opened = gzip.open if path.suffix == ".gz" else open
        with opened(path, "rb") as file:
            text = file.read().decode(errors="surrogateescape")
        return self._relocate(text).encode(errors="surrogateescape")

    def _relocate(self, text: str) -> str:
        return self._roots.sub(lambda _: str(self.folder), text)

    def _usual_author(self) -> str:
        made = self.history.commits.values()
        of_sessions = [each.author for each in made if each.is_of_session]
        authors = Counter(of_sessions or (each.author for each in made))
        return authors.most_common(1)[0][0]


def sources(corpus: Path) -> list[Source]:
    """Return the repositories of a corpus."""
    config = corpus / "sessions.json"
    if config.exists():
        return msgspec.json.decode(config.read_bytes(), type=Sources).repositories
    return [Source()]


def _by_session(folder: Path) -> dict[str, list[Path]]:
    found: dict[str, list[Path]] = {}
    for path in sorted(folder.rglob("*.jsonl*")):
        name = path.name.partition(".")[0] if path.parent == folder else path.parent.name
        found.setdefault(name, []).append(path)
    return found


def _common_folder(read: Sequence[Transcript]) -> str:
    folders = Counter(each.folder for each in read if each.folder)
    return folders.most_common(1)[0][0]


def _roots(read: Sequence[Transcript], tracked: Collection[str]) -> Iterator[str]:
    """Yield the top folder of each session's work tree.

    It is where the session began, or above that if the repository has a folder of such a name; the
    files that the session names decide between these.
    """
    folders = {str(above) for path in tracked for above in Path(path).parents}
    for each in read:
        begun = Path(each.folder)
        above = [one for one in begun.parents if str(begun.relative_to(one)) in folders]
        files = each.files() if above else []

        def named(root: Path, files: Sequence[str] = files) -> int:
            return sum(file.removeprefix(f"{root}/") in tracked for file in files)

        if each.folder:
            yield str(max((*reversed(above), begun), key=named))


def _in_json(folder: str) -> str:
    return re.escape(msgspec.json.encode(folder).decode()[1:-1])


def _clone(bundle: Path, folder: Path) -> None:
    """Clone a bundle with its main branch checked out, though its own HEAD may name none."""
    listed = subprocess.run(
        ["git", "bundle", "list-heads", str(bundle)], capture_output=True, text=True, check=True
    ).stdout.split()
    main = next(each for each in MAIN if f"refs/heads/{each}" in listed)
    command = ["git", "clone", "-q", "-b", main, str(bundle), str(folder)]
    subprocess.run(command, check=True)
