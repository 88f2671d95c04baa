"""Owns what observer knows about one client, as one record.

A client is one folder with its code and a `CLIENT` record, and one row in `registry`. The record
names its code as `module:object` and imports none of it: whoever only formats a reminder or looks
at an environment does not load decoders and installers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from pkgutil import resolve_name
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeAlias, cast

import orjson

from observer.clients.envelope import Envelope, Object
from observer.core.events import Event

if TYPE_CHECKING:
    from observer.config_files.context import InstallContext, InstallPlan

_resolve = cache(resolve_name)  # a look-up for each event

Decoder: TypeAlias = Callable[[Envelope, Object], Iterable[Event]]
"""Turns an opened envelope and its parsed payload into events; pure.

It raises `Undecodable` for what cannot be a payload of the client. Fields and events that it does
not know are data.
"""


class Installer(Protocol):
    """Plans changes of a client's own files; nothing is written by it.

    A second installation plans no change; a removal takes out exactly what is ours.
    """

    def install(self, context: InstallContext) -> InstallPlan:
        """Plan the hooks and the MCP server of a client."""

    def uninstall(self, context: InstallContext) -> InstallPlan:
        """Plan the removal of both."""


def hook_specific_output(text: str, event: str) -> bytes:
    """Return a reminder in the JSON of Claude Code, which other clients read as well."""
    output = {"hookEventName": event, "additionalContext": text}
    return orjson.dumps({"hookSpecificOutput": output})


def plain_text(text: str, _event: str) -> bytes:
    """Return a reminder as it is."""
    return text.encode()


class HookSample(NamedTuple):
    """A prompt as a client's hook would report it, for the doctor's probes.

    `payload` is JSON in which @SESSION@, @FOLDER@ and @TEXT@ stand for those of the probe;
    `environ` are variables that only the client's hooks have. `words` is the hook's command line,
    our script first, where that is not `post CLIENT EVENT`; its context is then left alone.
    """

    event: str
    payload: str
    environ: tuple[tuple[str, str], ...] = ()
    words: tuple[str, ...] = ()


def prompt_sample(event: str, **more: str) -> HookSample:
    """Return a prompt in the fields that most clients use, with further ones of this client."""
    fields = {"session_id": "@SESSION@", "cwd": "@FOLDER@", "prompt": "@TEXT@"}
    return HookSample(event, orjson.dumps({"hook_event_name": event, **fields, **more}).decode())


class Client(NamedTuple):
    """One client: its code, and how it differs from others.

    Attributes:
        name: what its hooks and `observer install` call it.
        decoder: the `Decoder`, as `module:function`.
        takes_json: False if its payload is not JSON; the decoder then reads `envelope.payload`.
        host: a function of envelope and payload, as `module:function`, that returns the name of
            the client that really ran the hook; "" where no other one runs these hooks.
        installer: an `Installer`, as `module` or `module:object`; "" if there is none.
        per_project: True if it has settings in a repository, and its installer honours `project`.
        hooks_check: a function of the install context, as `module:function`, that raises
            `ConfigInvalid` where its settings keep it from running our hooks; "" if none can.
        programs: names of its commands in `PATH`; one of them shows that it is on the machine.
        folders: folders or files below the user's home; one of them shows the same.
        transcripts: folders below the user's home that it writes to while an agent works, and
            never otherwise; none where that is not known.
        tried: the version that was run with these hooks; "" if none was.
        sample: a prompt that the doctor sends through its hooks; None where it cannot.
        session_variable: environment variable that holds the session's id in its shells.
        marker_variables: other variables that are only set in its shells.
        is_agent: False if it reports what a person does.
        reports_twice: True if two of its hooks may report one event without an id in common.
        has_plugin: True if a plugin of ours may run the same hooks beside the installed ones.
        context_file: file with the context that its session-start hook prints; "" if it has none.
        wrap_context: formats that file; None for plain text.
        format_reminder: formats a reminder, given its text and the hook's event.
    """

    name: str
    decoder: str
    takes_json: bool = True
    host: str = ""
    installer: str = ""
    per_project: bool = False
    hooks_check: str = ""
    programs: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    transcripts: tuple[str, ...] = ()
    tried: str = ""
    sample: HookSample | None = None
    session_variable: str = ""
    marker_variables: tuple[str, ...] = ()
    is_agent: bool = True
    reports_twice: bool = False
    has_plugin: bool = False
    context_file: str = ""
    wrap_context: Callable[[str], bytes] | None = None
    format_reminder: Callable[[str, str], bytes] = hook_specific_output

    def read(self, envelope: Envelope, payload: Object) -> Iterable[Event]:
        """Return the events that a hook call reports.

        Raises:
            Undecodable: it is not a payload of this client.
        """
        return cast("Decoder", _resolve(self.decoder))(envelope, payload)

    def host_of(self, envelope: Envelope, payload: Object) -> str:
        """Return the name of the client that ran the hook; it need not be a known one."""
        if not self.host:
            return self.name
        return cast("Callable[[Envelope, Object], str]", _resolve(self.host))(envelope, payload)

    def load_installer(self) -> Installer | None:
        """Return the installer; None if the client has none."""
        return cast("Installer", _resolve(self.installer)) if self.installer else None

    def check_hooks(self, context: InstallContext) -> None:
        """Look whether the client's settings let it run our hooks, as far as they are there.

        Raises:
            ConfigInvalid: they do not; says which, and what to do.
        """
        if self.hooks_check:
            cast("Callable[[InstallContext], None]", _resolve(self.hooks_check))(context)
