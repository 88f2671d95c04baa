"""Steps 3 to 5 of an event's way, as far as no store is needed: decode, redact, truncate, locate.

Looks at the disk and at nothing else, so that any process can do it, and may do it again.

Of observer's own commands what they say is in the memory already, and only there: `observer
remember …` and `observer purge …` are kept without their words, and what observer answered is not
kept at all: a copy in the log would outlive the note's being forgotten, and show to all what is one
person's. Where a line is too twisted to read, more of it goes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache, partial
from pathlib import Path

import msgspec
from msgspec.structs import replace

from observer.core.config import Settings
from observer.core.disk import SpoolEntry
from observer.core.errors import NotFound, Undecodable
from observer.core.events import (
    Command,
    Commit,
    Event,
    FileRead,
    FileWrite,
    Intent,
    Remember,
    Revise,
    Shared,
    kind_of,
)
from observer.core.model import Place
from observer.core.routes import is_imported
from observer.git.log import read_commit
from observer.git.process import existing
from observer.ingest.commits import incoming_commits, is_reported, without_owner
from observer.ingest.decode import decode, truncate
from observer.ingest.file_changes import with_symbols
from observer.ingest.secret_files import SecretFiles
from observer.local.spool import Spool
from observer.observations.analysis import NOWHERE, EventRecord
from observer.projects import PlaceCache, event_folder, work_tree_of
from observer.projects.fs_probe import from_windows
from observer.projects.identity import main_folder
from observer.projects.policy import Policies, Policy, apply_policy, is_captured, unexcluded_files
from observer.projects.policy.apply import Exclusion
from observer.projects.policy.policies import Retention
from observer.redaction.redact import redact
from observer.redaction.seen import SEEN

NOTE_BYTES = 1 << 20
"""Room for any note: it was bounded where it was written, and nobody would look for a cut."""

_json = msgspec.json.Encoder().encode


def spelled_here(event: Event) -> Event:
    """Return an event with its folders and files as WSL spells them, whoever reported it.

    Whose project it is, and whether it is excluded, is known by that spelling.
    """
    cwd, roots = from_windows(event.cwd), tuple(map(from_windows, event.roots))
    body = event.body
    there = whole = body.of if isinstance(body, Intent) else body
    if isinstance(whole, FileWrite):
        there = msgspec.structs.replace(whole, path=from_windows(whole.path))
    elif isinstance(whole, FileRead):
        there = msgspec.structs.replace(whole, paths=tuple(map(from_windows, whole.paths)))
    if (cwd, roots, there) == (event.cwd, event.roots, whole):
        return event
    body = msgspec.structs.replace(body, of=there) if isinstance(body, Intent) else there
    return msgspec.structs.replace(event, cwd=cwd, roots=roots, body=body)


class EventPreparer:
    """Reads entries and events; what the disk said holds until `clear_cache`.

    Args:
        spool: knows when and where nothing is recorded, and the home.
        places: looks up folders.
        now_ms: the clock; nothing happens later than now.
    """

    def __init__(
        self, settings: Settings, spool: Spool, *, places: PlaceCache, now_ms: Callable[[], int]
    ) -> None:
        self._cap_bytes = settings.event_cap_bytes
        self._exclusion = Exclusion(settings.exclude)
        self._policies = Policies()
        self._retention = Retention(settings)
        self._places = places
        self._now_ms = now_ms
        self._pauses = spool.pauses
        self._seen = spool.home.seen
        self._secret_files = SecretFiles()
        self.clear_cache()

    def clear_cache(self) -> None:
        """Forget what the disk said; within a batch, a moment's work, it goes on saying it."""
        self._place_of = cache(self._look)
        self._work_tree_of = cache(work_tree_of)
        self._folder_of = partial(event_folder, work_tree_of=self._work_tree_of)
        self._policy_of = cache(lambda folder: self._policies.of(self._place_of(folder)[0]))
        self._has_pauses = bool(self._pauses)
        SEEN.use(self._seen)

    def read(self, entry: SpoolEntry) -> list[EventRecord]:
        """Return the events of an entry, without what settings, policies and pauses exclude.

        Commits that came in by one of git's stand before it.

        Raises:
            Undecodable: it holds none.
        """
        if entry.fault:
            raise Undecodable(entry.fault)
        events = decode(entry.id, entry.data, entry.at_ms, cap_bytes=self._cap_bytes)
        heard = (event for event in map(spelled_here, events) if not self._is_paused(event))
        heard = (self._secret_files.without_text(event, entry.data) for event in heard)
        return [one for event in heard for one in self._with_arrivals(event)]

    def prepare(self, event: Event, *, project_id: int | None = None) -> EventRecord | None:
        """Return a decoded event, redacted and fitted, with its place; None if it is excluded."""
        prepared, _ = self._prepare(spelled_here(event), project_id)
        return prepared

    def prepare_reported(
        self, event: Event, *, project_id: int | None = None
    ) -> EventRecord | None:
        """Return what `prepare` does of an event that a front reports; None while that is paused.

        When it happened does not matter, but for what a client kept of its sessions: what was
        paused then is left out.
        """
        event = spelled_here(event)
        at_ms = event.at_ms if is_imported(event) else self._now_ms()
        is_paused = is_captured(event.body) and self._is_paused(event, at_ms=at_ms)
        event = self._secret_files.without_text(event)
        return None if is_paused else self.prepare(event, project_id=project_id)

    def root_of(self, folder: str) -> str:
        """Return the root of the project that a folder lies in; "" where there is none."""
        return self._place_of(folder)[1].root

    def restricted(self) -> list[str]:
        """Return the roots of which a policy was read."""
        return self._policies.roots()

    def _prepare(self, event: Event, project_id: int | None) -> tuple[EventRecord | None, Place]:
        """Return what `prepare` does, and the place as it is, whatever its name holds."""
        # A folder with a secret in its name is only found under that name.
        folder = self._folder_of(event)
        permitted = self._exclusion.applied(event, folder)
        if permitted is None:
            return None, NOWHERE
        place, kept = self._place_of(folder)
        policy = self._policy_of(folder)
        permitted = apply_policy(permitted, policy, self._policy_around, root=place.root)
        if permitted is None:
            return None, NOWHERE
        event, data = self._clean(with_symbols(permitted))
        if SEEN.doubtful:
            with suppress(NotFound):
                SEEN.settle(existing(place.root, SEEN.doubtful))
            SEEN.settle(())
        if isinstance(event.body, Commit):
            completed = self._completed(event.body, place, policy)
            known = (
                event if completed is event.body else msgspec.structs.replace(event, body=completed)
            )
            if (owned := without_owner(known, place)) is not event:
                event, data = self._clean(owned)
        prepared = EventRecord(
            event=event,
            place=kept,
            project_id=project_id or 0,
            data=data,
            is_expired=self._is_expired(event, place),
        )
        return prepared, place

    def _is_expired(self, event: Event, place: Place) -> bool:
        body = event.body.of if isinstance(event.body, Intent) else event.body
        return self._retention.is_expired(
            kind_of(body),
            event.at_ms,
            now_ms=self._now_ms(),
            at_most=self._retention.of_folders(place.root, main_folder(place.common_dir)),
        )

    def _with_arrivals(self, event: Event) -> Iterator[EventRecord]:
        prepared, place = self._prepare(event, project_id=None)
        if prepared is None:
            return
        came = (one for one in incoming_commits(prepared.event, place) if not self._is_paused(one))
        yield from filter(None, map(self.prepare, came))
        if is_reported(prepared.event):
            yield prepared

    def _is_paused(self, event: Event, *, at_ms: int | None = None) -> bool:
        """Return True if nothing is recorded where and when an event happened."""
        if not self._has_pauses:
            return False
        folder = self._folder_of(event)
        folders = {event.cwd, folder, self._place_of(folder)[0].root} - {""}
        at_ms = event.at_ms if at_ms is None else at_ms
        if not self._pauses.covers(at_ms, folders, event.session):
            return False
        if isinstance(event.body, FileWrite):
            self._pauses.withhold(str(Path(event.cwd, event.body.path)), event.at_ms)
        return True

    def _look(self, folder: str) -> tuple[Place, Place]:
        """Return the place of a folder as it is, and as it is kept."""
        place = self._places.at(folder) if folder else NOWHERE
        return place, msgspec.structs.replace(redact(place), name=self._policies.of(place).name)

    def _policy_around(self, path: str, here: str) -> Policy:
        return self._policy_of(self._work_tree_of(path, here))

    def _clean(self, event: Event) -> tuple[Event, str]:
        # Redaction sees the whole text: a cut through a secret would hide it from its pattern.
        event = redact(strip_self_commands(event))
        # What a clock that was wrong dated to the future would lead every answer until then.
        if event.at_ms > (now_ms := self._now_ms()):
            event = msgspec.structs.replace(event, at_ms=now_ms)
        cap_bytes = self._cap_bytes
        if isinstance(event.body, Remember | Revise | Shared):
            cap_bytes = max(cap_bytes, NOTE_BYTES)
        if len(data := _json(event)) > cap_bytes:
            event = truncate(event, cap_bytes)
            data = _json(event)
        return event, data.decode()

    def _completed(self, commit: Commit, place: Place, policy: Policy) -> Commit:
        """Return a commit with what a git hook has no time to read, without excluded files."""
        if not commit.subject and place.git:
            with suppress(NotFound):
                action, commit = commit.action, read_commit(place.root, commit.hash)
                commit = msgspec.structs.replace(commit, action=action)
        files = unexcluded_files(self._exclusion.beside(commit.files, place.root), policy)
        return commit if files == commit.files else msgspec.structs.replace(commit, files=files)


_OPTION = r"-\S{1,200}\s+"
_QUOTED = r"\"[^\"\n]{0,500}\"|'[^'\n]{0,500}'"
_LAUNCHER = (
    r"(?:\S{0,200}/)?(?:python[\d.]*|py|uvx?|pipx|poetry|pdm|hatch|conda|micromamba|sudo|doas|env|time"
    r"|timeout|nice|nohup|stdbuf|xargs|command|exec|builtin|run|tool|watch|wsl"
    r"|then|do|else|if|elif|while|until|and|or|not|begin|!|\{|\()"
)
_SCRIPT = re.compile(
    r"(?:\b(?:ba|z|da|k|fi)?sh\s+(?:-\S+\s+){0,4}-\w{0,8}c|\beval|\bssh\s[^\n;|&\"']{1,200}"
    r"|\bsu\s[^\n;|&\"']{0,200}-c)\s*[\"']|[$<>]\(|`"
)
"""Where commands begin in quotes or brackets of their own: where one ends there cannot be known."""
_OWN = re.compile(
    rf"""
    (?:{_SCRIPT.pattern}|(?P<pipe>(?<!\|)\|&?(?!\|))|[;&|({{]|^)\s{{0,99}}+
    (?:(?:[A-Za-z_]\w*=(?:{_QUOTED}|[^\s\"'])*|{_LAUNCHER}|\d+[smhd]?)\s+
       (?:{_OPTION}(?:(?!-|\S*observer\s)[^\s;|&]{{1,200}}\s+)?){{0,6}}){{0,8}}
    [\"']?(?:[^\s\"';|&]{{0,200}}/)?observer(?:-memory)?
    (?:\.exe|\.__main__|[@=]=?[\w.]{{1,30}})?[\"']?
    (?:[ \t]+-\S{{1,200}})*[ \t]+(?:\\\n[ \t]*)?[\"']?
    (?:(?P<writes>remember|note|forget|purge)
      |recall|search|timeline|show|why|context|sessions|usage|export)\b[\"']?
    """,
    re.MULTILINE | re.VERBOSE,
)
_WORDS = re.compile(
    r"(?:'(?:\\'|[^'])*(?:'|\Z)|\"(?:\\.|[^\"\\])*(?:\"|\Z)|\\.|[<>]&\d?|&>|[^'\"\\;|&\n])*",
    re.DOTALL,
)
"""What belongs to one command; quotes that nobody closes hold all that follows."""
_LEFT_OUT = " …"


def strip_self_commands(event: Event) -> Event:
    """Return the event without what a command gave to observer, and without the answer.

    The event itself where there is nothing of the kind.
    """
    body = event.body
    act = body.of if isinstance(body, Intent) else body
    if not isinstance(act, Command) or (quiet := _quiet(act)) is act:
        return event
    return replace(event, body=replace(body, of=quiet) if isinstance(body, Intent) else quiet)


def _quiet(command: Command) -> Command:
    line = command.command
    if "observer" not in line or _OWN.search(line) is None:
        return command
    stripped = _without_words(line)
    said = command.description if stripped == line else ""
    return replace(command, command=stripped, output="", description=said)


def _without_words(line: str) -> str:
    """Return a command line without the words of notes; what is piped into one goes with them."""
    kept = ""
    at = 0
    script = _SCRIPT.search(line)
    plain_until = script.start() if script else len(line)
    for found in _OWN.finditer(line):
        if found["writes"] and found.start() >= at:
            piped = found.end("pipe")
            kept = (
                line[piped : found.end()].lstrip() if piped > 0 else kept + line[at : found.end()]
            )
            kept += _LEFT_OUT
            at = _end_of_words(line, found) if found.start() < plain_until else len(line)
    return kept + line[at:]


def _end_of_words(line: str, found: re.Match[str]) -> int:
    words = next(_WORDS.finditer(line, found.end()))[0]
    has_document = "<<" in words or (found["pipe"] and "<<" in line[: found.start()])
    return len(line) if has_document else found.end() + len(words.rstrip())
