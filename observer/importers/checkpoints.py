"""Checkpoints of Entire: transcripts of agents that a repository keeps beside its commits.

They lie on the branch `entire/checkpoints/v1`, or below `refs/entire/checkpoints/v2`, in folders
named by the id of the checkpoint (12 hexadecimal digits, or a ULID) and a number. A transcript is
read as one of its client's own; a session that was worked on elsewhere belongs to this repository.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from msgspec import structs

from observer.core.config import Settings
from observer.core.errors import ObserverError
from observer.core.events import AnyBody, Event, FileRead, FileWrite
from observer.core.paths import is_inside
from observer.git.launch import GitTimeout
from observer.git.objects import contents, files_of, refs
from observer.importers import copilot, gemini
from observer.importers.claude_code import sessions as claude_code
from observer.importers.codex import sessions as codex
from observer.importers.jsonl import Problems
from observer.importers.source import Finder, FoundSession, Reader, SessionSource

_REFS = (
    "refs/heads/entire/checkpoints/v1",
    "refs/remotes/*/entire/checkpoints/v1",
    "refs/entire/checkpoints/v2/full/*",
)
_TRANSCRIPT = re.compile(
    r"([0-9A-Za-z]{2}/[0-9A-Za-z]{10,24})/(\d{1,4})/(?:full\.jsonl|raw_transcript)(?:\.(\d{3}))?"
)
_FORMATS: tuple[tuple[Finder, Reader], ...] = (
    (codex.find, codex.read),
    (copilot.find, copilot.read),
    (gemini.find, gemini.read),
    (claude_code.find, claude_code.read),
)
_kept: list[TemporaryDirectory[str]] = []
"""Folders of transcripts that were taken out of repositories; they go when the process ends."""


class _Transcript(NamedTuple):
    """A transcript of a checkpoint: the ids of its parts, in order."""

    name: str
    blobs: tuple[str, ...]


def find(paths: Sequence[Path], problems: Problems) -> list[FoundSession]:
    """Return the sessions in the checkpoints of repositories, each given by its `.git`."""
    found: dict[tuple[str, str], FoundSession] = {}
    for root in dict.fromkeys(map(_root, paths)):
        for one in _found(root, problems):
            # Work trees of one repository have the same checkpoints.
            found.setdefault((one.id, one.state.partition(" ")[0]), one)
    return list(found.values())


def read(found: FoundSession, settings: Settings, problems: Problems) -> Iterator[Event]:
    """Yield the events of a session, in the repository that has its checkpoints."""
    _, reader = _format_of(found.paths[0])
    elsewhere, root = found.folder, found.state.partition(" ")[2]
    away = elsewhere if elsewhere and not Path(elsewhere).is_dir() else ""
    for event in reader(found._replace(state=""), settings, problems):
        yield _moved(event, away, root) if away else event


def _found(root: str, problems: Problems) -> Iterator[FoundSession]:
    files: dict[int, list[Path]] = defaultdict(list)
    blobs: dict[Path, str] = {}
    try:
        for transcript, data in _contents(root, problems):
            path = _kept_file(transcript.name, data)
            number = _number_of(path)
            if number is None:
                problems.add("transcript of an unknown format", Path(root, transcript.name))
                continue
            files[number].append(path)
            blobs[path] = " ".join(transcript.blobs)
    except (ObserverError, GitTimeout, OSError) as error:
        problems.add(f"unreadable checkpoints ({error})", Path(root))
    for number, some in files.items():
        for one in _FORMATS[number][0](some, problems):
            parts = "\0".join(sorted(blobs[path] for path in one.paths))
            state = blake2b(parts.encode(), digest_size=16).hexdigest()
            yield one._replace(state=f"{state} {root}")


def _contents(root: str, problems: Problems) -> Iterator[tuple[_Transcript, bytes]]:
    transcripts = _transcripts(root)
    given = contents(root, [blob for one in transcripts for blob in one.blobs])
    for transcript in transcripts:
        parts = [data for _, data in islice(given, len(transcript.blobs))]
        whole = [data for data in parts if data is not None]
        if len(whole) < len(parts):
            problems.add("checkpoint without its transcript", Path(root, transcript.name))
        elif any(whole):
            yield transcript, b"".join(whole)


def _transcripts(root: str) -> list[_Transcript]:
    """Return the transcripts of all refs, each content once."""
    found: dict[tuple[str, ...], _Transcript] = {}
    for ref in refs(root, *_REFS):
        parts: Mapping[str, dict[int, str]] = defaultdict(dict)
        for file in files_of(root, ref):
            if named := _TRANSCRIPT.fullmatch(file.path):
                parts[f"{named[1]}/{named[2]}"][int(named[3] or 0)] = file.blob
        for name, blobs in parts.items():
            one = _Transcript(name, tuple(blob for _, blob in sorted(blobs.items())))
            found.setdefault(one.blobs, one)
    return list(found.values())


def _kept_file(name: str, data: bytes) -> Path:
    if not _kept:
        _kept.append(TemporaryDirectory(prefix="observer-import-"))
    digest = blake2b(data, digest_size=16).hexdigest()
    ending = "json" if data.startswith(b"{\n") else "jsonl"  # one object, or one a line
    path = Path(_kept[0].name, f"{name.replace('/', '-')}-{digest}.{ending}")
    path.write_bytes(data)
    return path


def _number_of(path: Path) -> int | None:
    formats = enumerate(_FORMATS)
    return next((number for number, (find, _) in formats if find([path], Problems())), None)


def _format_of(path: Path) -> tuple[Finder, Reader]:
    return _FORMATS[_number_of(path) or 0]


def _root(path: Path) -> str:
    return str(path.parent if path.name == ".git" else path)


def _moved(event: Event, away: str, root: str) -> Event:
    """Return an event of another machine's folder as it would be in a repository here."""
    cwd = _here(event.cwd, away, root) if is_inside(event.cwd, away) else root
    return structs.replace(event, cwd=cwd, body=_moved_body(event.body, away, root))


def _moved_body(body: AnyBody, away: str, root: str) -> AnyBody:
    if isinstance(body, FileWrite):
        return structs.replace(body, path=_here(body.path, away, root))
    if isinstance(body, FileRead):
        return structs.replace(body, paths=tuple(_here(path, away, root) for path in body.paths))
    return body


def _here(path: str, away: str, root: str) -> str:
    return root + path[len(away) :] if is_inside(path, away) else path


ENTIRE = SessionSource("entire", ".git", "", "", find=find, read=read, inside=(".git",))
