"""The histories that are on a machine, and their commands as events."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from hashlib import blake2b
from pathlib import Path

from observer.core.config import Settings
from observer.core.events import Command, Event
from observer.core.routes import import_route
from observer.importers.jsonl import Problems
from observer.importers.shells.atuin import atuin
from observer.importers.shells.histories import HISTORIES, Typed
from observer.importers.source import FoundSession, SessionSource

_PLACES = {
    "bash": ("", "", ".bash_history"),
    "zsh": ("", "ZDOTDIR", ".zsh_history"),
    "fish": (".local/share", "XDG_DATA_HOME", "fish/fish_history"),
}
_Reader = Callable[[Path, Problems], Iterator[Typed]]


def _find(reader: _Reader, paths: Sequence[Path], problems: Problems) -> list[FoundSession]:
    found = []
    for path in dict.fromkeys(paths):
        times = [one.at_ms or _written_ms(path) for one in reader(path, problems)]
        if times:
            size = path.stat().st_size
            found.append(FoundSession(str(path), (path,), "", min(times), max(times), size))
    return found


def _read(
    client: str, reader: _Reader, found: FoundSession, _: Settings, _problems: Problems
) -> Iterator[Event]:
    """Yield commands; of those without a time each once, at the time when the file was written.

    The same command of the same second is one in whichever history it is.
    """
    path = found.paths[0]
    written_ms = _written_ms(path)
    seen: Counter[tuple[int | None, str]] = Counter()
    for one in reader(path, Problems()):
        second = None if one.at_ms is None else one.at_ms // 1000
        seen[second, one.command] += 1
        if second is None and seen[second, one.command] > 1:
            continue
        name = f"typed\0{second or client}\0{one.command}\0{seen[second, one.command]}"
        at_ms = written_ms if one.at_ms is None else one.at_ms
        yield _event(client, one, at_ms, blake2b(name.encode(), digest_size=16).hexdigest())


def _event(client: str, one: Typed, at_ms: int, digest: str) -> Event:
    return Event(
        id=f"import-{digest}",
        at_ms=at_ms,
        client=client,
        body=Command(
            command=one.command,
            exit_code=one.exit_code,
            failed=None if one.exit_code is None else one.exit_code != 0,
            duration_ms=one.duration_ms,
        ),
        session=one.session,
        cwd=one.cwd,
        host=one.host,
        route=import_route(client),
        author="person",
        branch="",  # what is checked out now says nothing of then
    )


def _written_ms(path: Path) -> int:
    return path.stat().st_mtime_ns // 1_000_000


def _source(name: str, place: tuple[str, str, str], reader: _Reader) -> SessionSource:
    return SessionSource(
        name,
        *place,
        find=partial(_find, reader),
        read=partial(_read, name, reader),
        is_of_sessions=False,
    )


SHELLS = (
    # First, since it knows more of a command than the history of the shell, which has it too.
    _source("atuin", (".local/share", "XDG_DATA_HOME", "atuin/history.db"), atuin),
    *(_source(name, place, HISTORIES[name]) for name, place in _PLACES.items()),
)
