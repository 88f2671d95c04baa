"""Checkpoints of Entire: transcripts of agents that a repository keeps beside its commits.

They lie on the branch `entire/checkpoints/v1`, or below `refs/entire/checkpoints/v2`, in folders
named by the id of the checkpoint (12 hexadecimal digits, or a ULID) and a number. A transcript is
read as one of its client's own; a session that was worked on elsewhere belongs to this repository.
"""

from __future__ import annotations

import os
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from msgspec import structs

from observer.clients.envelope import Object
from observer.clients.payload import text
from observer.core import json_text
from observer.core.config import Settings
from observer.core.errors import ObserverError
from observer.core.events import AnyBody, Event, FileRead, FileWrite
from observer.core.paths import is_inside
from observer.core.routes import repository_route
from observer.git.launch import GitTimeout
from observer.git.objects import contents, files_of, refs
from observer.importers.jsonl import Problems, time_of
from observer.importers.shelf import (
    claude_code,
    codex,
    copilot,
    cursor,
    droid,
    gemini,
    opencode,
    pi,
)
from observer.importers.source import Finder, FoundSession, Reader, SessionSource

_REFS = (
    "refs/heads/entire/checkpoints/v1",
    "refs/remotes/*/entire/checkpoints/v1",
    "refs/entire/checkpoints/v2/full/*",
)
_TRANSCRIPT = re.compile(
    r"(?P<folder>[0-9A-Za-z]{2}/[0-9A-Za-z]{10,24}(?:/\d{1,4})?)/"
    r"(?:(?:full\.jsonl|raw_transcript)(?:\.(?P<part>\d{3}))?"
    r"|tasks/[^/]{1,200}/(?P<agent>agent-[\w-]{1,100}\.jsonl))"
)
_ABOUT = "/metadata.json"
_FORMATS: tuple[tuple[Finder, Reader], ...] = (
    (codex.find, codex.read),
    (copilot.find, copilot.read),
    (gemini.find, gemini.read),
    (opencode.SOURCES[0].find, opencode.SOURCES[0].read),
    (droid.find, droid.read),
    (pi.find, pi.read),
    (claude_code.find, claude_code.read),
    (cursor.find_transcripts, cursor.read_transcript),
)
_OBJECTS = (b"{\n", b'{"info"')
"""How transcripts begin that are one object, and not one a line."""
_DATED = re.compile(r"\d{4}-\d\d-\d\d-")
_NAME = re.compile(r"[\w.-]{1,100}")
_kept: list[TemporaryDirectory[str]] = []
"""Folders of transcripts that were taken out of repositories; they go when the process ends."""


class _Transcript(NamedTuple):
    """A transcript of a checkpoint: the ids of its parts, in order.

    `agent` is its file's name, if it is a sub-agent's; `about` the id of what says whose it is.
    """

    name: str
    blobs: tuple[str, ...]
    agent: str = ""
    about: str = ""


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
    _, reader = _FORMATS[_number_of(found.paths[0]) or 0]
    root = found.state.partition(" ")[2]
    events = reader(found._replace(state=""), settings, problems)
    elsewhere = found.folder
    if not elsewhere:
        known = list(events)
        elsewhere, events = _folder_of(known, root), iter(known)
    away = elsewhere if elsewhere and not Path(elsewhere).is_dir() else ""
    for event in events:
        here = _moved(event, away, root) if away or not event.cwd else event
        yield structs.replace(here, route=repository_route(here.client))


def _folder_of(events: Iterable[Event], root: str) -> str:
    """Return the folder around the files of a session in which most are files of the repository."""
    tracked = {file.path for file in files_of(root, "HEAD")}
    votes: Counter[str] = Counter()
    for path in {path for event in events for path in _paths(event.body) if path[:1] == "/"}:
        parts = path.split("/")
        for number in range(1, len(parts)):
            if "/".join(parts[number:]) in tracked:
                votes["/".join(parts[:number])] += 1
    best = votes.most_common(1)
    return best[0][0] if best else ""


def _paths(body: AnyBody) -> tuple[str, ...]:
    if isinstance(body, FileWrite):
        return (body.path,)
    return body.paths if isinstance(body, FileRead) else ()


def _found(root: str, problems: Problems) -> Iterator[FoundSession]:
    files: dict[int, list[Path]] = defaultdict(list)
    blobs: dict[Path, str] = {}
    try:
        for transcript, data, about in _contents(root, problems):
            path = _kept_file(transcript, data, about)
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


def _contents(root: str, problems: Problems) -> Iterator[tuple[_Transcript, bytes, Object]]:
    transcripts = _transcripts(root)
    given = contents(
        root, [blob for one in transcripts for blob in (*one.blobs, one.about) if blob]
    )
    for transcript in transcripts:
        parts = [data for _, data in islice(given, len(transcript.blobs))]
        about = next(given)[1] if transcript.about else None
        whole = [data for data in parts if data is not None]
        if len(whole) < len(parts):
            problems.add("checkpoint without its transcript", Path(root, transcript.name))
        elif any(whole):
            yield transcript, b"".join(whole), _object(about)


def _object(data: bytes | None) -> Object:
    with suppress(ValueError, RecursionError):
        found = json_text.load(data or b"")
        return found if isinstance(found, dict) else {}
    return {}


def _transcripts(root: str) -> list[_Transcript]:
    """Return the transcripts of all refs, each content once."""
    found: dict[tuple[str, ...], _Transcript] = {}
    for ref in refs(root, *_REFS):
        parts: Mapping[tuple[str, str], dict[int, str]] = defaultdict(dict)
        abouts: dict[str, str] = {}
        for file in files_of(root, ref):
            if named := _TRANSCRIPT.fullmatch(file.path):
                one = (named["folder"], named["agent"] or "")
                parts[one][int(named["part"] or 0)] = file.blob
            elif file.path.endswith(_ABOUT):
                abouts[file.path.removesuffix(_ABOUT)] = file.blob
        for (folder, agent), blobs in parts.items():
            ids = tuple(blob for _, blob in sorted(blobs.items()))
            found.setdefault(ids, _Transcript(folder, ids, agent, abouts.get(folder, "")))
    return list(found.values())


def _kept_file(one: _Transcript, data: bytes, about: Object) -> Path:
    """Write a transcript to a file as its client would have named and dated it."""
    if not _kept:
        _kept.append(TemporaryDirectory(prefix="observer-import-"))
    digest = blake2b(data, digest_size=16).hexdigest()
    session = _DATED.sub("", text(about, "session_id"), count=1)
    stem = session if _NAME.fullmatch(session) else "transcript"
    ending = "json" if data.startswith(_OBJECTS) else "jsonl"
    folder = Path(_kept[0].name, f"{one.name.replace('/', '-')}-{digest}")
    folder.mkdir(exist_ok=True)
    path = folder / (one.agent or f"{stem}.{ending}")
    path.write_bytes(data)
    if (at_ms := time_of({"timestamp": about.get("created_at")})) is not None:
        os.utime(path, ns=(at_ms * 1_000_000, at_ms * 1_000_000))
    return path


def _number_of(path: Path) -> int | None:
    formats = enumerate(_FORMATS)
    return next((number for number, (find, _) in formats if find([path], Problems())), None)


def _root(path: Path) -> str:
    return str(path.parent if path.name == ".git" else path)


def _moved(event: Event, away: str, root: str) -> Event:
    """Return an event of another machine's folder as it would be in a repository here."""
    cwd = _here(event.cwd, away, root) if event.cwd and is_inside(event.cwd, away) else root
    return structs.replace(event, cwd=cwd, body=_moved_body(event.body, away, root))


def _moved_body(body: AnyBody, away: str, root: str) -> AnyBody:
    if isinstance(body, FileWrite):
        return structs.replace(body, path=_here(body.path, away, root))
    if isinstance(body, FileRead):
        return structs.replace(body, paths=tuple(_here(path, away, root) for path in body.paths))
    return body


def _here(path: str, away: str, root: str) -> str:
    return root + path[len(away) :] if away and is_inside(path, away) else path


SOURCES = (SessionSource("entire", ".git", "", "", find=find, read=read, inside=(".git",)),)
