"""Owns what observer knows about one client, as one record: its code, and how it differs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import orjson

from observer.clients.envelope import Envelope, Object
from observer.clients.payload import rest
from observer.core.events import AnyBody, Custom, Event

if TYPE_CHECKING:
    from observer.clients.config_files.context import InstallContext, InstallPlan

Decoder: TypeAlias = Callable[[Envelope, Object], Iterable[Event]]
"""Turns an opened envelope and its parsed payload into events; pure.

It raises `Undecodable` for what cannot be a payload of the client. Fields and events that it does
not know are data.
"""
Reader: TypeAlias = Callable[[Object], AnyBody | Iterable[AnyBody] | None]
"""Says what an event of a client reports."""
Installer: TypeAlias = "Callable[[InstallContext], InstallPlan]"
"""Plans what is put into a client's own files, hooks and MCP server, or taken out."""


def bodies(
    reader: Reader | None, given: Object, *, kind: str, beside: Collection[str] = ()
) -> Iterable[AnyBody]:
    """Return what an event says; one without a reader is kept as it came, named by its `kind`."""
    if reader is None:
        return (Custom(name=kind, text=rest(given, beside=beside)),)
    found = reader(given)
    return found if isinstance(found, Iterable) else filter(None, (found,))


def hook_specific_output(text: str, event: str) -> bytes:
    """Return a reminder in the JSON of Claude Code, which other clients read as well."""
    output = {"hookEventName": event, "additionalContext": text}
    return orjson.dumps({"hookSpecificOutput": output})


class HookSample(NamedTuple):
    """A prompt as a hook would report it: in `payload` stand @SESSION@, @FOLDER@ and @TEXT@.

    `words` is the hook's command line, our script first, where that is not `post CLIENT EVENT`; its
    context is then left alone.
    """

    event: str
    payload: str
    words: tuple[str, ...] = ()


def prompt_sample(event: str, **more: str) -> HookSample:
    """Return a prompt in the fields that most clients use, with further ones of this client."""
    fields = {"session_id": "@SESSION@", "cwd": "@FOLDER@", "prompt": "@TEXT@"}
    return HookSample(event, orjson.dumps({"hook_event_name": event, **fields, **more}).decode())


class Client(NamedTuple):
    """One client: its code, and how it differs from others.

    Attributes:
        name: what its hooks and `observer install` call it.
        takes_json: False if its payload is not JSON; the decoder then reads `envelope.payload`.
        host: returns the name of the client that really ran the hook; None where only this does.
        installer: None if it cannot be installed.
        per_project: True if it has settings in a repository, and its installer honours `project`.
        check_hooks: raises `ConfigInvalid` where the client's settings keep our hooks from running.
        programs: names of its commands in `PATH`; one of them shows that it is on the machine.
        folders: folders or files below the user's home; one of them shows the same.
        transcripts: folders below the user's home that it writes to only while an agent works.
        tried: the version that was run with these hooks; "" if none was.
        sample: a prompt that the doctor sends through its hooks; None where it cannot.
        session_variable: environment variable that holds the session's id in its shells.
        marker_variables: other variables that are only set in its shells.
        resume: its command that goes on with a session, "{}" for the id that its hooks report.
        is_agent: False if it reports what a person does.
        binds_ctrl_r: True if Ctrl-R can be bound in it to the screen of `hooks/pick`.
        reports_twice: True if two of its hooks may report one event without an id in common.
        has_plugin: True if a plugin of ours may run the same hooks beside the installed ones.
        context_file: file with the context that its session-start hook prints; "" if it has none.
        wrap_context: formats that file; None for plain text.
        format_reminder: formats a reminder, given its text and the hook's event.
    """

    name: str
    read: Decoder
    takes_json: bool = True
    host: Callable[[Envelope, Object], str] | None = None
    installer: Installer | None = None
    per_project: bool = False
    check_hooks: Callable[[InstallContext], None] = lambda _: None
    programs: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    transcripts: tuple[str, ...] = ()
    tried: str = ""
    sample: HookSample | None = None
    session_variable: str = ""
    marker_variables: tuple[str, ...] = ()
    resume: str = ""
    is_agent: bool = True
    binds_ctrl_r: bool = False
    reports_twice: bool = False
    has_plugin: bool = False
    context_file: str = ""
    wrap_context: Callable[[str], bytes] | None = None
    format_reminder: Callable[[str, str], bytes] = hook_specific_output
