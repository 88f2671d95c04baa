"""What an import makes of the transcripts and the history, against raw records and raw git.

A commit with a checkpoint is of the session that ran git when it was made. It may take up what
other sessions wrote, so that a second figure also allows the one that wrote the line last.
"""

from __future__ import annotations

import hashlib
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from observer.core.events import AnyBody, Command, FileWrite, ToolUse, kind_of
from observer.core.paths import Home
from sessions.corpus import Repository, sources
from sessions.history import Made, blamed, git
from sessions.kept import Kept
from sessions.measures import Measure, Scored, count, line, share
from sessions.product import Clock, Product, Reading, events_of
from sessions.raw import RawCall, added_lines, raw_calls

LINES = 240
LINES_OF_A_COMMIT = 12
_GROUP = "import"
_LEAST_CHARS = 4
_AROUND_MS = 1000
_KINDS = {
    "command": "Bash PowerShell",
    "file-write": "Edit MultiEdit NotebookEdit Write",
    "file-read": "Read",
    "search": "Glob Grep LS WebFetch WebSearch",
    "delegation": "Agent Task",
}
_KIND_OF = {tool: kind for kind, tools in _KINDS.items() for tool in tools.split()}

Calls = Mapping[str, RawCall]


class _Line(NamedTuple):
    file: str
    number: int
    text: str
    made: Made


def scored(kept: Kept) -> Scored:
    """Return how much of the calls is decoded, how outcomes agree, and whom `why` names."""
    with TemporaryDirectory(prefix="observer-import-") as folder:
        clock = Clock()
        clock.at_ms = time.time_ns() // 1_000_000
        product = Product(Path(folder, "home"), clock, with_vectors=False)
        found = [Repository(kept.corpus, each, Path(folder)) for each in sources(kept.corpus)]
        for repository in found:
            product.import_git(repository.folder)
            product.import_sessions(list(_relocated(repository, Path(folder, "transcripts"))))
        product.close()
        calls = {
            name: call
            for repository in found
            for session, paths in repository.files.items()
            for name, call in raw_calls(paths, session).items()
        }
        of_calls = _of_calls(calls, Home(Path(folder, "home")).database)
        with Reading(Path(folder, "home")) as memory:
            of_lines = _of_lines(found, calls, memory)
    measures = (*of_calls.measures, *of_lines.measures)
    return Scored(measures=measures, wrong=(*of_calls.wrong, *of_lines.wrong))


def _relocated(repository: Repository, folder: Path) -> Iterator[Path]:
    for session, paths in repository.files.items():
        for number, path in enumerate(paths):
            copy = folder / repository.name / f"{session}-{number}.jsonl"
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(repository.relocated(path))
            yield copy


def _of_calls(calls: Calls, database: Path) -> Scored:
    keys = [(each.event.dedup.split(":"), each.event.body) for each in events_of(database)]
    stored = {key[-2]: body for key, body in keys if key[0] == "tool"}
    done = {name: call for name, call in calls.items() if call.done_ms is not None}
    right = {name for name in done if name in stored and _fits(done[name], stored[name])}
    agreeing = {name for name in right if _has_failed(stored[name]) == done[name].is_error}
    wrong = [*sorted(set(done) - right), *sorted(right - agreeing)]
    return Scored(
        measures=(
            count(_GROUP, "tool calls without a result", len(calls) - len(done)),
            share(_GROUP, "tool calls with a result that are events", len(right), len(done)),
            share(_GROUP, "outcomes as the record flags them", len(agreeing), len(right)),
        ),
        wrong=tuple(f"{done[name].session[:8]} {name} {done[name].tool}" for name in wrong),
    )


def _fits(call: RawCall, body: AnyBody) -> bool:
    """Return True if a call became what it was; one that failed has read or found nothing."""
    kind = kind_of(body)
    return kind == _KIND_OF.get(call.tool, "tool-use") or (call.is_error and kind == "tool-use")


def _has_failed(body: AnyBody) -> bool:
    match body:
        case Command():
            return bool(body.failed or body.exit_code)
        case FileWrite():
            return bool(body.error)
        case ToolUse():
            return bool(body.failed)
    return False


def _of_lines(repositories: list[Repository], calls: Calls, memory: Reading) -> Scored:
    asked = first = written = among = 0
    wrong = []
    for repository in repositories:
        sessions = dict(_sessions_of_commits(repository, calls))
        for each in _sample(repository, sessions):
            expected = sessions[each.made.hash]
            named = memory.why(f"{each.file}:{each.number}", repository.folder)
            among += expected in named
            named = named[:1]
            writer = _last_writer(each, calls)
            asked += 1
            first += named == [expected]
            is_right = named in ([expected], [writer])
            written += is_right
            if not is_right:
                said = "".join(named)[:8] or "none"
                wrong.append(line(f"{each.file}:{each.number} {expected[:8]} {writer[:8]}: {said}"))
    measures: tuple[Measure, ...] = (
        share(_GROUP, "why: first the session of the commit", first, asked),
        share(_GROUP, "why: or the one that wrote the line", written, asked),
        share(_GROUP, "why: the session of the commit is named", among, asked),
    )
    return Scored(measures=measures, wrong=tuple(wrong))


def _sessions_of_commits(repository: Repository, calls: Calls) -> Iterator[tuple[str, str]]:
    commits = [
        (call, call.done_ms)
        for call in calls.values()
        if "commit" in str(call.given.get("command", "")) and call.done_ms is not None
    ]
    for made in repository.history.commits.values():
        running = {
            call.session
            for call, done_ms in commits
            for at_ms in (made.at_ms, made.committed_ms)
            if call.asked_ms - _AROUND_MS <= at_ms <= done_ms + _AROUND_MS
        }
        if made.is_of_session and len(running) == 1:
            yield made.hash, *running


def _sample(repository: Repository, sessions: Mapping[str, str]) -> list[_Line]:
    """Return lines as they are at last whose commit is known to be of a session."""
    found = [
        _Line(file, number, text, repository.history.commits[commit])
        for file in git(repository.folder, "ls-files").splitlines()
        for commit, number, text in blamed(repository.folder, file, "-w")
        if commit in sessions and len(text) >= _LEAST_CHARS
    ]
    taken: Counter[str] = Counter()
    chosen = []
    for each in sorted(found, key=_order):
        taken[each.made.hash] += 1
        if taken[each.made.hash] <= LINES_OF_A_COMMIT:
            chosen.append(each)
    return chosen[:LINES]


def _order(each: _Line) -> str:
    return hashlib.sha256(f"{each.file}:{each.number}".encode()).hexdigest()


def _last_writer(each: _Line, calls: Calls) -> str:
    """Return the session of the newest edit before a commit that brought a line in, or ""."""
    edits = [
        (call.done_ms, call.session)
        for call in calls.values()
        if str(call.given.get("file_path", "")).endswith(f"/{each.file}")
        and call.done_ms is not None
        and call.done_ms <= each.made.at_ms + _AROUND_MS
        and not call.is_error
        and each.text in added_lines(call)
    ]
    return max(edits, default=(0, ""))[1]
