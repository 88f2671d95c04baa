"""Events of what was said or noted, as other programs keep it: words, their times and sessions."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

from observer.core.clock import LAST_MS, iso_ms
from observer.core.events import Custom, Event, Prompt, Remember, Reply, kind_of
from observer.core.paths import is_inside
from observer.core.routes import import_route, repository_route

_SECONDS_UNTIL = 10**11
"""Smaller numbers are seconds (until the year 5138), larger ones milliseconds."""


class Origin(NamedTuple):
    """Where events come from: the importer, the client that the words were said to, its session.

    `is_shared` if a repository holds the words: they may be anybody's.
    """

    source: str
    client: str = ""
    session: str = ""
    cwd: str = ""
    is_shared: bool = False


def event_of(
    origin: Origin, body: Prompt | Reply | Custom | Remember, at_ms: int, *name: str
) -> Event:
    """Return an event whose id follows from what it says, when, and a name within its session."""
    said = body.content if isinstance(body, Remember) else body.text
    parts = (origin.source, origin.session, kind_of(body), str(at_ms), *name, said)
    identity = "\0".join(parts).encode(errors="replace")
    return Event(
        id=f"import-{blake2b(identity, digest_size=16).hexdigest()}",
        at_ms=at_ms,
        client=origin.client or origin.source,
        body=body,
        session=origin.session,
        cwd=origin.cwd,
        route=(repository_route if origin.is_shared else import_route)(origin.source),
        author="person" if isinstance(body, Prompt) else "agent",
        branch="",
    )


def files_matching(path: Path, pattern: str) -> Iterator[Path]:
    """Yield a file, or the files of a folder that match; none that a link leads out of it to."""
    if not path.is_dir():
        yield path
        return
    real = str(path.resolve())
    for file in sorted(path.glob(pattern)):
        if file.is_file() and is_inside(str(file.resolve()), real):
            yield file


def moment_ms(value: object) -> int | None:
    """Return a time as UTC milliseconds: ISO 8601, or a number since 1970; None if it is none.

    Without a zone it is UTC.
    """
    if isinstance(value, str):
        at_ms = iso_ms(value.strip())
    elif isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= LAST_MS:
        at_ms = int(value if abs(value) >= _SECONDS_UNTIL else value * 1000)
    else:
        return None
    return at_ms if at_ms is not None and 0 < at_ms <= LAST_MS else None
