"""`observer status --space`: disk usage by part, project and type, and what retention frees."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from observer.cli.output import as_json, say, table
from observer.cli.session import reading
from observer.core import config
from observer.core.clock import now_ms
from observer.core.config import Settings
from observer.core.model import iso
from observer.core.moment import minute
from observer.core.paths import Home
from observer.core.text import counted, size_text
from observer.core.value import Value
from observer.upkeep import size_cap
from observer.upkeep.size_cap import NOTHING, EventVolume, amounts, plus
from observer.upkeep.take_out import deletions


class Space(Value):
    """The disk usage of a home, in bytes.

    `database` is by use of the database's pages; events count by their JSON there. `expired` is
    what retention removes next, with all that is derived of it. `program` is an observer that is
    installed into the home, which the total leaves out.
    """

    total: int
    program: int
    files: dict[str, int]
    database: dict[str, int]
    projects: dict[str, EventVolume]
    types: dict[str, EventVolume]
    events: EventVolume
    expired: EventVolume
    max_home_mb: int


def show_space(here: Home) -> None:
    """Show what takes the space, by part, project and type, and what retention would free."""
    found = _measured(here)
    if as_json(_with_times(msgspec.to_builtins(found))):
        return
    rows = [(name, size_text(size)) for name, size in found.files.items() if size]
    rows += [
        (f"database: {name}", size_text(size)) for name, size in found.database.items() if size
    ]
    limit = f" of {size_text(found.max_home_mb << 20)}" if found.max_home_mb else ""
    rows.append((f"total{limit}", size_text(found.total)))
    if found.program:
        rows.append(("observer itself, not in the total", size_text(found.program)))
    table(("part", "size"), rows)
    for name, parts in (("project", found.projects), ("type", found.types)):
        say("")
        _volumes(name, parts)
    gone = f"{counted(found.expired.events, 'event')} of {size_text(found.expired.bytes)}"
    none = "nothing; to keep less: observer config set retention_days DAYS"
    say(f"\nretention takes out next: {gone if found.expired.events else none}")


def _with_times(value: Any) -> Any:  # noqa: ANN401 - JSON
    """Return JSON with the times of amounts as tools give them: `oldest_at`, `newest_at`."""
    if not isinstance(value, dict):
        return value
    rest = {key: _with_times(each) for key, each in value.items() if key not in _TIMES}
    times = {_TIMES[key]: each and iso(each) for key, each in value.items() if key in _TIMES}
    return rest | times


_TIMES = {"oldest_ms": "oldest_at", "newest_ms": "newest_at"}


def show_going(here: Home, settings: Settings) -> bool:
    """Print what a daemon with these settings deletes, by type; return whether that is anything."""
    if not here.database.exists():
        return False
    with reading(here) as reader:
        seqs, files = deletions(reader, here, settings, now_ms=now_ms())
        parts = _by(amounts(reader, seqs), lambda _, kind: kind) if seqs else {}
    if parts:
        say(f"{counted(len(seqs), 'event')} would go for good:")
        _volumes("type", parts)
    if files:
        say(f"and {counted(len(files), 'file')}: {', '.join(path.name for path in files)}")
    return bool(seqs or files)


def _volumes(name: str, parts: Mapping[str, EventVolume]) -> None:
    columns = (name, "events", "size", "oldest", "newest")
    table(columns, [(each, *_row(amount)) for each, amount in parts.items()], spare=("oldest",))


def _measured(here: Home) -> Space:
    settings = config.load(here)
    with reading(here) as reader:
        found = amounts(reader)
        names = {project.id: project.name for project in reader.projects()}
        gone = amounts(reader, deletions(reader, here, settings, now_ms=now_ms()).seqs)
        space = dict(reader.space())
    files = size_cap.files(here)
    return Space(
        program=size_cap.program_bytes(here),
        total=sum(files.values()),
        files=files,
        database=space,
        projects=_by(found, lambda project, _: names.get(project, f"project-{project}")),
        types=_by(found, lambda _, kind: kind),
        events=_all(found),
        expired=_all(gone),
        max_home_mb=settings.max_home_mb,
    )


def _by(
    found: Mapping[tuple[int, str], EventVolume], name: Callable[[int, str], str]
) -> dict[str, EventVolume]:
    """Return amounts by a name, the largest first."""
    parts: dict[str, EventVolume] = {}
    for place, amount in found.items():
        key = name(*place)
        parts[key] = plus(parts.get(key, NOTHING), amount)
    return dict(sorted(parts.items(), key=lambda part: -part[1].bytes))


def _all(found: Mapping[tuple[int, str], EventVolume]) -> EventVolume:
    return next(iter(_by(found, lambda *_: "").values()), NOTHING)


def _row(amount: EventVolume) -> tuple[str, ...]:
    times = (amount.oldest_ms, amount.newest_ms)
    shown = ("" if at_ms is None else minute(at_ms) for at_ms in times)
    return f"{amount.events:,}", size_text(amount.bytes), *shown
