"""Memory files: what agents are given by files, as notes that come, change and go with them.

Such a note is never shown unasked, since the client that reads the file has it already.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from itertools import islice
from pathlib import Path

from observer.clients.payload import text
from observer.core import json_text
from observer.core.config import Settings, owner
from observer.core.disk import UnexpectedFile, open_plain
from observer.core.events import Event, Forget, Remember, kind_of
from observer.core.filters import Filters
from observer.core.model import Item
from observer.core.paths import is_inside
from observer.core.routes import import_route
from observer.importers.source import FoundSession, Problems, SessionSource, import_id
from observer.observations.drafts import content_hash
from observer.projects import detect_place, work_tree_of
from observer.projects.policy import Policies
from observer.projects.policy.apply import Exclusion
from observer.store.reader import StoreReader

NAME = "memory-files"
TYPE = "memory-file"
MOST_BYTES = 1 << 20
MOST_NOTES = 100_000
TITLE_PARTS = 3
MOST_FILES = 500
"""Of one work tree: no client reads more."""
PATTERNS = (
    # Claude Code
    *("CLAUDE.md", "CLAUDE.local.md", ".claude/CLAUDE.md", ".claude/rules/**/*.md"),
    ".claude/projects/*/memory/*.md",
    # Codex CLI and whoever else reads it
    *("AGENTS.md", ".codex/AGENTS.md", ".config/opencode/AGENTS.md", ".factory/AGENTS.md"),
    *("GEMINI.md", ".gemini/GEMINI.md", "QWEN.md", ".qwen/QWEN.md"),
    *(".cursorrules", ".cursor/rules/**/*.mdc"),
    # Copilot
    *(".github/copilot-instructions.md", ".github/instructions/**/*.instructions.md"),
    ".kiro/steering/**/*.md",
    *(".windsurfrules", ".windsurf/rules/**/*.md", ".codeium/windsurf/memories/*.md"),
    *(".clinerules", ".clinerules/**/*.md"),
)
"""Files that clients read as instructions or memories, in a work tree or in the user's home."""

_KEY = "file:"
_SLUG = re.compile(r"[^A-Za-z0-9]")
_AUTO = re.compile(r"\.claude/projects/([^/]+)/memory/")


def find(paths: Sequence[Path], problems: Problems) -> list[FoundSession]:
    """Return memory files, each once, but what leads out of its folder or a policy excludes."""
    found: dict[Path, FoundSession] = {}
    slugs = {_SLUG.sub("-", str(path)): str(path) for path in paths}
    policies = Policies()
    for path in dict.fromkeys(paths):
        around = "" if path.is_dir() else work_tree_of(path.name, str(path.parent))
        base = path if path.is_dir() else Path(around or path.parent)
        policy = policies.of(detect_place(str(base)))
        if policy.problem:
            problems.add("work tree whose policy cannot be read", base)
            continue
        for file in _files(path, base, problems):
            real = file.resolve()
            name = str(file.relative_to(base))
            if not is_inside(str(real), str(base.resolve())):
                problems.add("memory file that leads elsewhere", file)
            elif not policy.excludes(f"/{name}") and real not in found:
                auto = _AUTO.match(name)
                home = "" if base == Path.home() else str(base)
                folder = slugs.get(auto[1], "") if auto else home
                stat = real.stat()
                at_ms = stat.st_mtime_ns // 1_000_000
                found[real] = FoundSession(str(file), (file,), folder, at_ms, at_ms, stat.st_size)
    return list(found.values())


def read(found: FoundSession, settings: Settings, problems: Problems) -> Iterator[Event]:
    """Yield the note of a file; none of an empty or an excluded one."""
    path, home = found.paths[0], str(Path.home())
    content = "" if Exclusion(settings.exclude).holds(found.id) else _content(path, problems)
    if not content.strip():
        return
    is_auto = is_inside(found.id, f"{home}/.claude/projects")
    is_of_person = not found.folder and not is_auto
    below = home if is_auto else found.folder or home
    parts = path.relative_to(below).parts
    body = Remember(
        content=content,
        title="/".join(parts if len(parts) <= TITLE_PARTS else parts[-2:]),
        type=TYPE,
        key=_key(found.id),
        scope="personal" if is_of_person else "project",
        owner=owner(settings) if is_of_person else "",
        metadata=json_text.dump({"file": found.id, "below": below}).decode(),
    )
    yield _event(body, found.last_ms, found.folder, found.id, found.fingerprint(), content)


def changes(
    reader: StoreReader, folders: Iterable[Path], settings: Settings, *, now_ms: int
) -> list[Event]:
    """Return what brings the notes up to date with files; those of a missing folder stay."""
    places = [folder for folder in folders if folder.is_dir()]
    files = find(places, Problems())
    current = {one.id: list(read(one, settings, Problems())) for one in files}
    of_all = Filters(kinds=("note",), types=(TYPE,), owner=owner(settings))
    kept_notes = reader.recent(of_all, limit=MOST_NOTES)
    notes = {note.key: note for note in kept_notes if note.key.startswith(_KEY)}
    events = [
        event
        for name, read_now in current.items()
        for event in read_now
        if not (
            isinstance(event.body, Remember)
            and (note := notes.get(_key(name)))
            and note.content_hash == content_hash(event.body.content)
        )
    ]
    kept = {_key(name) for name, read_now in current.items() if read_now}
    below = frozenset(map(str, places))
    gone = [note for key, note in notes.items() if key not in kept and _below(note) in below]
    return [
        *events,
        *(
            _event(Forget(item=one.id), now_ms, _below(one), one.key, str(one.updated_ms))
            for one in gone
        ),
    ]


def _below(note: Item) -> str:
    return text(json_text.object_in(note.metadata), "below")


def _event(body: Remember | Forget, at_ms: int, cwd: str, *name: str) -> Event:
    return Event(
        id=import_id(NAME, kind_of(body), *name),
        at_ms=at_ms,
        client=NAME,
        body=body,
        cwd=cwd,
        route=import_route(NAME),
        author="system",
    )


def _key(path: str) -> str:
    return _KEY + blake2b(path.encode(errors="replace"), digest_size=16).hexdigest()


def _files(path: Path, base: Path, problems: Problems) -> Iterator[Path]:
    if path != base:
        yield path
        return
    try:
        # In a folder of somebody else's making nothing is certain, not even that it ends.
        below = (file for pattern in PATTERNS for file in sorted(base.glob(pattern)))
        found = list(islice(filter(Path.is_file, below), MOST_FILES + 1))
    except OSError as error:
        problems.add(f"unreadable folder ({error.strerror})", base)
        return
    if len(found) > MOST_FILES:
        problems.add(f"memory files beyond {MOST_FILES}", base)
    yield from found[:MOST_FILES]


def _content(path: Path, problems: Problems) -> str:
    try:
        handle, status = open_plain(path.resolve())
        with os.fdopen(handle, "rb") as file:
            if status.st_size <= MOST_BYTES:
                return file.read(MOST_BYTES).decode("utf-8-sig", "replace")
        problems.add("memory file larger than 1 MB", path)
    except (OSError, UnexpectedFile) as error:
        problems.add(f"unreadable file ({error})", path)
    return ""


SOURCES = (
    SessionSource(NAME, "", "", ".", find=find, read=read, inside=(".",), is_of_sessions=False),
)
