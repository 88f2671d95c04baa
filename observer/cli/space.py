"""`observer status --space`: disk usage by part, project and type, and what retention frees."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import reduce
from typing import Any

from observer.cli import output
from observer.cli.session import reading
from observer.core import config
from observer.core.clock import now_ms
from observer.core.config import Settings
from observer.core.model import iso
from observer.core.moment import minute_of
from observer.core.paths import Home
from observer.core.text import counted, size_text
from observer.upkeep import size_cap
from observer.upkeep.size_cap import NOTHING, EventVolume, amounts, plus
from observer.upkeep.take_out import deletions


def show_space(here: Home) -> None:
    """Show what takes the space, by part, project and type, and what retention would free."""
    settings = config.load(here)
    with reading(here) as reader:
        volumes = amounts(reader)
        names = {project.id: project.name for project in reader.projects()}
        going = amounts(reader, deletions(reader, here, settings, now_ms=now_ms()).seqs)
        space = dict(reader.space())
    files = size_cap.files(here)
    found: dict[str, Any] = {
        "total": sum(files.values()),
        "program": size_cap.program_bytes(here),
        "files": files,
        "database": space,
        "projects": _by(volumes, lambda project, _: names.get(project, f"project-{project}")),
        "types": _by(volumes, lambda _, kind: kind),
        "events": _volume(reduce(plus, volumes.values(), NOTHING)),
        "expired": _volume(reduce(plus, going.values(), NOTHING)),
        "max_home_mb": settings.max_home_mb,
    }
    if output.as_json(found):
        return
    sizes = {**files, **{f"database: {name}": size for name, size in space.items()}}
    rows = [(name, size_text(size)) for name, size in sizes.items() if size]
    limit = f" of {size_text(settings.max_home_mb << 20)}" if settings.max_home_mb else ""
    rows.append((f"total{limit}", size_text(found["total"])))
    if found["program"]:
        rows.append(("observer itself, not in the total", size_text(found["program"])))
    output.table(("part", "size"), rows)
    for name in ("project", "type"):
        output.say("")
        _volumes(name, found[f"{name}s"])
    gone = found["expired"]
    shown = f"{counted(gone['events'], 'event')} of {size_text(gone['bytes'])}"
    none = "nothing; to keep less: observer config set retention_days DAYS"
    output.say(f"\nretention takes out next: {shown if gone['events'] else none}")


def show_going(here: Home, settings: Settings) -> bool:
    """Print what a daemon with these settings deletes, by type; return whether that is anything."""
    if not here.database.exists():
        return False
    with reading(here) as reader:
        seqs, files = deletions(reader, here, settings, now_ms=now_ms())
        parts = _by(amounts(reader, seqs), lambda _, kind: kind) if seqs else {}
    if parts:
        output.say(f"{counted(len(seqs), 'event')} would go for good:")
        _volumes("type", parts)
    if files:
        output.say(f"and {counted(len(files), 'file')}: {', '.join(path.name for path in files)}")
    return bool(seqs or files)


Volumes = Mapping[tuple[int, str], EventVolume]
Volume = dict[str, Any]
"""An amount of events as JSON: `events`, `bytes`, `oldest_at`, `newest_at`."""


def _volumes(name: str, parts: Mapping[str, Volume]) -> None:
    rows = []
    for part, found in parts.items():
        times = (at and minute_of(at) for at in (found["oldest_at"], found["newest_at"]))
        rows.append((part, f"{found['events']:,}", size_text(found["bytes"]), *times))
    output.table((name, "events", "size", "oldest", "newest"), rows, spare=("oldest",))


def _by(found: Volumes, name: Callable[[int, str], str]) -> dict[str, Volume]:
    parts: dict[str, EventVolume] = {}
    for place, amount in found.items():
        key = name(*place)
        parts[key] = plus(parts.get(key, NOTHING), amount)
    largest = sorted(parts.items(), key=lambda part: -part[1].bytes)
    return {key: _volume(amount) for key, amount in largest}


def _volume(amount: EventVolume) -> Volume:
    times = {"oldest_at": amount.oldest_ms, "newest_at": amount.newest_ms}
    shown = {name: None if at_ms is None else iso(at_ms) for name, at_ms in times.items()}
    return {"events": amount.events, "bytes": amount.bytes, **shown}
