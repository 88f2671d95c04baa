"""OpenCode and Kilo, its fork: one database each, with the tables session, message and part.

The format is undocumented; seen in OpenCode 1.18.33 and Kilo 7.7.7.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from observer.clients.envelope import Json, Object
from observer.clients.payload import inner, number, rows, text
from observer.importers.database import opened
from observer.importers.records import HookCall, RecordCalls, read_session
from observer.importers.source import FoundSession, Problems, SessionSource, files_in, time_of

_ENDING = ".db"


def _find(client: str, paths: Sequence[Path], problems: Problems) -> list[FoundSession]:
    databases = files_in(paths, (_ENDING,), lambda file: file.name == f"{client}{_ENDING}")
    return list({one.id: one for file in databases for one in _sessions(file, problems)}.values())


def _sessions(path: Path, problems: Problems) -> Iterator[FoundSession]:
    with opened(path, problems) as database:
        found = list(database.rows("session")) if database else []
    if not found:
        problems.add("file without a session", path)
    size_bytes = path.stat().st_size // max(len(found), 1)
    for row in found:
        begun_ms, changed_ms = time_of(row, "time_created"), time_of(row, "time_updated")
        name, folder = text(row, "id"), text(row, "directory")
        if begun_ms is None or changed_ms is None or not name:
            problems.add("session without an id or a time", path)
            continue
        last_ms, state = max(begun_ms, changed_ms), f"{changed_ms}"
        one = FoundSession(name, (path,), folder, begun_ms, last_ms, size_bytes, state=state)
        yield one


class _Calls(RecordCalls):
    start, replied, end = "session.created", "session.idle", "dispose"
    words, time, model = "text", "at", ("message", "modelID")
    _parent = ""

    def records(self, path: Path, problems: Problems) -> Iterator[Object]:
        with opened(path, problems) as database:
            if database is not None:
                for session in database.rows("session", id=self.session):
                    self._parent = text(session, "parent_id")
                parts: dict[str, list[Json]] = defaultdict(list)
                for row in database.rows("part", session_id=self.session):
                    part: dict[str, Json] = {**inner(row, "data"), "id": row.get("id")}
                    parts[text(row, "message_id")].append(part)
                found = database.rows("message", session_id=self.session)
                for row in sorted(
                    found, key=lambda row: (time_of(row, "time_created") or 0, text(row, "id"))
                ):
                    name = text(row, "id")
                    said: dict[str, Json] = {**inner(row, "data"), "id": name}
                    yield {"at": row.get("time_created"), "message": said, "parts": parts[name]}

    def payload(self, event: str, fields: Object) -> dict[str, Json]:
        properties: dict[str, Json] = {"sessionID": self.session}
        if event == self.start:
            properties["info"] = {"id": self.session, "parentID": self._parent}
        common: dict[str, Json] = {"type": event, "properties": properties}
        return {**common, "directory": self.folder, **fields}

    def read(self, at_ms: int, record: Object) -> Iterator[HookCall]:
        message, parts = inner(record, "message"), list(rows(record, "parts"))
        created_ms = time_of(inner(message, "time"), "created")
        if created_ms is not None and created_ms < self._found.first_ms:
            return  # a copy, in a session that was forked from another
        if text(message, "role") == "user":
            if any(text(part, "type") in {"text", "file"} for part in parts):
                yield from self.stopped()
                who: Object = {"sessionID": self.session, "agent": message.get("agent")}
                what: Object = {"message": dict(message), "parts": [dict(part) for part in parts]}
                asked: Object = {"input": dict(who), "output": dict(what), "parentID": self._parent}
                yield self.call(at_ms, "chat.message", asked, text(message, "id"))
            return
        for part in parts:
            if text(part, "type") == "tool":
                state, call = inner(part, "state"), text(part, "callID")
                ended_ms = time_of(inner(state, "time"), "end") or at_ms
                if text(state, "status") == "error":
                    failed: Json = {"sessionID": self.session, "part": dict(part)}
                    yield self.call(ended_ms, "tool.error", {"properties": failed}, call)
                elif text(state, "status") == "completed":
                    given: dict[str, Json] = {"tool": part.get("tool"), "sessionID": self.session}
                    given |= {"callID": call, "args": dict(inner(state, "input"))}
                    output = {name: state.get(name) for name in ("title", "output", "metadata")}
                    fields: Object = {"input": given, "output": output}
                    yield self.call(ended_ms, "tool.execute.after", fields, call)
        done_ms = time_of(inner(message, "time"), "completed") or at_ms
        yield from self._said_in(done_ms, message, parts)

    def _said_in(self, at_ms: int, message: Object, parts: list[Object]) -> Iterator[HookCall]:
        """Yield an error or a summary; what is said otherwise may be the turn's reply."""
        key = text(message, "id")
        words = [text(part, "text") for part in parts if text(part, "type") == "text"]
        if error := inner(message, "error"):
            properties: Json = {"sessionID": self.session, "error": dict(error)}
            yield self.call(at_ms, "session.error", {"properties": properties}, key)
        if message.get("summary") is True:
            yield self.call(at_ms, "session.compacted", {"text": "\n".join(words[-1:])}, key)
        elif not self._parent:
            self.say(at_ms, "\n".join(words[-1:]), key)
            tokens = inner(message, "tokens")
            cache, written = inner(tokens, "cache"), number(tokens, "output") or 0
            usage = {"input": number(tokens, "input") or 0}
            usage |= {"output": written + (number(tokens, "reasoning") or 0)}
            usage |= {f"cache_{what}": number(cache, what) or 0 for what in ("read", "write")}
            self.usage[key] = usage


def _source(client: str) -> SessionSource:
    place, find = (".local/share", "XDG_DATA_HOME", client), partial(_find, client)
    return SessionSource(client, *place, find=find, read=partial(read_session, client, _Calls))


SOURCES = (_source("opencode"), _source("kilo"))
