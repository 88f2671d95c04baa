"""Droid: `~/.factory/sessions/*/*.jsonl`, one file a session.

The format is the client's own and undocumented; seen in version 0.225.2.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from observer.clients.envelope import Json, Object
from observer.clients.payload import inner, prose, rows, text
from observer.importers.records import HookCall, Opening, RecordCalls, first_ms, source_of, words_of

_SHELL = "Execute"
_FAILED = re.compile(r"Error: Command failed \(exit code: (\d{1,9})\)\n")
_OWN = re.compile(r"\s*(?:<system-reminder>|<system-notification>|<local-command)")


def _opening(_: Path, found: Iterable[Object]) -> Opening | None:
    known = list(found)
    head = known[0] if known else {}
    session, at_ms = text(head, "id"), first_ms(known)
    if text(head, "type") != "session_start" or not session or at_ms is None:
        return None
    return Opening(session, text(head, "cwd"), at_ms)


class _Calls(RecordCalls):
    model = ("message", "modelId")

    def read(self, at_ms: int, record: Object) -> Iterator[HookCall]:
        key, message = text(record, "id"), inner(record, "message")
        parts = list(rows(message, "content"))
        said = words_of([part for part in parts if not _OWN.match(text(part, "text"))])
        if text(message, "role") == "assistant":
            for part in parts:
                if text(part, "type") == "tool_use":
                    self.asked_of[text(part, "id")] = (text(part, "name"), inner(part, "input"))
            self.say(at_ms, said, key)
            return
        for part in parts:
            if text(part, "type") == "tool_result":
                yield from self._done(at_ms, part)
        if said.strip():
            yield from self.prompt(at_ms, said, key)

    def _done(self, at_ms: int, result: Object) -> Iterator[HookCall]:
        call = text(result, "tool_use_id")
        if call not in self.asked_of:
            return
        name, given = self.asked_of.pop(call)
        said = prose(result.get("content"))
        fields: dict[str, Json] = {"tool_name": name, "tool_input": dict(given)}
        failed = _FAILED.match(said) if name == _SHELL else None
        if failed:
            # No hook has reported it: an id keeps it from being taken for a run that one has.
            fields["tool_use_id"] = call
            said = f"{said[failed.end() :]}\n\n[Process exited with code {failed[1]}]"
        if result.get("is_error") and not failed:
            yield self.call(at_ms, "PostToolUseFailure", {**fields, "error": said}, call)
        else:
            yield self.call(at_ms, "PostToolUse", {**fields, "tool_response": said}, call)


SOURCES = (source_of("droid", (".factory", "", "sessions"), _opening, _Calls),)
