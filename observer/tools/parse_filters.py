"""Parse the filters of a search, strictly: types, files, sessions, branches and times."""

from __future__ import annotations

import re
from collections.abc import Sequence
from urllib.parse import unquote, urlsplit

from observer.core.errors import BadInput
from observer.core.moment import moment_ms
from observer.projects.fs_probe import from_windows
from observer.search.handles import SearchOptions

_LINES = re.compile(r":\d{1,7}(?:[-:]\d{1,7})?\Z")


def parse_filters(  # noqa: PLR0913 - one of each, all optional
    *,
    type: str = "",  # noqa: A002 - the glossary's word
    category: str = "",
    files: Sequence[str] = (),
    session: str = "",
    client: str = "",
    branch: str = "",
    since: str = "",
    until: str = "",
    failed: bool = False,
    by: str = "",
    mine: bool = False,
    team: bool = False,
    now_ms: int,
) -> SearchOptions:
    """Return the options of a search; an empty text does not restrict it.

    `type` names types, separated by commas. A file may be a folder, a ``file://`` URI or have a
    line, ``auth.py:34``. `since` is inclusive, `until` exclusive, as `moment_ms` reads them.

    Raises:
        BadInput: a time is malformed, the span is empty, a file is a pattern, or `mine` and `team`
            are both asked for.
    """
    if pattern := next((path for path in files if "*" in path), ""):
        raise BadInput(
            f"{pattern[:80]!r} is a pattern", hint="name files or folders: auth.py, src/"
        )
    if mine and team:
        raise BadInput("mine or team?", hint="leave out one of them, or both for all")
    since_ms, until_ms = moment_ms(since, now_ms=now_ms), moment_ms(until, now_ms=now_ms)
    if since_ms is not None and until_ms is not None and since_ms >= until_ms:
        raise BadInput(
            f"since {since.strip()} is not before until {until.strip()}",
            hint="since is the earlier of the two; until is exclusive",
        )
    # A location as tools print it, ``auth.py:34:5``, or a file URI.
    places = (_LINES.sub("", each) for each in files)
    paths = (
        from_windows(unquote(urlsplit(each).path) if each.startswith("file://") else each)
        for each in places
    )
    return SearchOptions(
        types=tuple(name.strip().lower() for name in type.split(",") if name.strip()),
        category=category,
        files=tuple(path for path in paths if path.strip("/. ")),
        session=session,
        client=client,
        branch=branch,
        since_ms=since_ms,
        until_ms=until_ms,
        failed=failed,
        by=by,
        whose="mine" if mine else "team" if team else "",
    )
