"""Settings: defaults, then `config.toml` in the home, then `OBSERVER_<NAME>` in the environment.

An unknown key is an error. Limits by which memory is deleted hold only once they are confirmed.
"""

from __future__ import annotations

import os
import pwd
import re
import shlex
import tomllib
from collections.abc import Mapping
from contextlib import suppress
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from observer.core.errors import ConfigInvalid
from observer.core.paths import Home, read_plain
from observer.core.value import decode_json

ENV_PREFIX = "OBSERVER_"
RESERVED = frozenset({"OBSERVER_HOME", "OBSERVER_PRIVATE", "OBSERVER_SESSION"})
"""Variables with our prefix that are not settings: the home itself, whether hooks are to record
nothing, and a shell's session id."""


RETAINED = (
    "prompt", "reply", "file-write", "file-read", "command", "search", "delegation", "tool-use",
    "custom",
)  # fmt: skip
"""Types that have a retention of their own. What else is captured (commits, the begin and end of
sessions) settles what these began, and stays as long as the longest of them."""
RETENTION_PATTERN = rf"^({'|'.join(RETAINED)})=([0-9]|[1-9][0-9]{{1,4}})$"
FOLDER_PATTERN = "^/.*=([0-9]|[1-9][0-9]{1,4})$"
PRICE_PATTERN = r"^[^=,]{1,100}=[0-9]{1,6}(\.[0-9]{1,6})?(/[0-9]{1,6}(\.[0-9]{1,6})?){3}$"
HOST_PATTERN = r"^([a-z0-9-]+(\.[a-z0-9-]*[a-z][a-z0-9-]*)+(:[0-9]{1,5})?)?$"
"""A name with a dot, and a port if it is not 443: no address, and not `localhost`."""
LISTS = {
    "exclude": os.pathsep,
    "follow": ",",
    "prices": ",",
    "retention_by_type": ",",
    "retention_by_folder": os.pathsep,
}
"""Settings that are lists, and what parts their values in a variable."""


class Settings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Everything a user may set; what is said of each here is the help text in `observer config`.

    Attributes:
        event_cap_bytes: Most bytes of text kept of one event, notes excepted; the middle of longer
            text is cut.
        session_idle_minutes: Minutes without an event after which a session counts as over.
        context_tokens: Token budget of the context that session-start hooks print.
        rules_chars: Budget of the approved rules that every agent is given when it connects; 0
            gives none. Some clients keep only the first 2,048 bytes of all instructions.
        http_port: Loopback TCP port for streamable-HTTP MCP and POST /events; 0 means none.
        web_proxy_host: Public host name of a reverse proxy before the pages, such as
            memory.example.org; it shows the secret in `~/.observer/web_secret`, mode 600. Empty
            means none.
        exclude: Folders (with everything below) of which nothing is recorded.
        owner: Name under which your personal notes are kept; empty means your login name.
        flashback_days: Days after which a note may come back as a flashback.
        flashback_distance: How far a flashback may be from the note at hand: 0 is the same, lower
            is stricter; notes about different things are 1.2 to 1.4 apart.
        semantic_min_similarity: Least score of a hit of `search_notes` by meaning (`semantic`,
            `vector`, `hybrid`) where a call names none; 0 leaves nothing out.
        flashback_limit: Most flashbacks at a time; 0 means none.
        recall_hooks: Whether an agent is reminded unasked of a command that cannot run here,
            and of what others changed of a file.
        model: Model that search by meaning uses: a name that `observer config model` shows, two of
            them joined by `+`, or the path of a folder with one.
        model_url: Base URL from which `observer config model pull` downloads.
        llm_url: Base URL of an OpenAI-compatible API whose model may write beside summaries, such
            as http://127.0.0.1:11434/v1; empty means none.
        llm_model: Model to ask for there.
        llm_key_env: Name of the environment variable that holds the key to it; else the key is in
            `~/.observer/llm_key`, mode 600, or there is none.
        llm_daily_tokens: Most tokens that it may cost a day (UTC), sent and received together.
        watch: Whether git work trees with sessions in the last two weeks are watched for writes
            that no hook reports.
        watch_max_files: A work tree with more files, ignored folders left out, is not watched.
        follow: Clients whose sessions the daemon reads from their files while they go on, such as
            `codex`: for clients without hooks, or beside them.
        backup_hours: Hours between two copies of the database that the daemon makes by itself where
            something was stored; 0 makes none.
        backup_disk_percent: Most of the disk, in percent, that these copies may take; the newest is
            kept in any case.
        retention_days: Days after which what was captured goes for good; 0 keeps it for ever. Notes
            never go by age.
        retention_by_type: Other days for some types, such as `command=90`; 0 for ever. Types:
            prompt, reply, file-write, file-read, command, search, delegation, tool-use, custom.
        retention_by_folder: Fewer days for what was captured in some repositories, by folder, such
            as `/home/ana/acme=90`: what a repository's policy asks for holds once it stands here.
        max_home_mb: Most MiB that the home may take: above it copies, logs and then the captured
            events of least worth go, the oldest first, never notes; 0 for no limit.
        forget_grace_hours: Hours until a note that an agent deletes through `memory forget` or the
            mem0 tools leaves log, index and copies too; until then it can be brought back. 0: at
            once.
        mem0_scope: Whose the memories of the mem0 tools are: `personal`, and they stay in this
            home, or `team`: notes of the team, which go with their project to every share of it.
        prices: What models cost, such as `opus=5/25/0.5/6.25`: a million tokens read, written, read
            from the cache and written to it, in your currency; a name is part of the model's.
            Without it no cost is shown.
        log_level: How much the daemon writes to its log: debug, info, warning or error.
    """

    event_cap_bytes: Annotated[int, Meta(ge=1024, le=16 << 20)] = 65536
    session_idle_minutes: Annotated[int, Meta(ge=1, le=1440)] = 30
    context_tokens: Annotated[int, Meta(ge=100, le=2500)] = 1000
    rules_chars: Annotated[int, Meta(ge=0, le=100_000)] = 8000
    http_port: Annotated[int, Meta(ge=0, le=65535)] = 0
    web_proxy_host: Annotated[str, Meta(pattern=HOST_PATTERN)] = ""
    exclude: tuple[str, ...] = ()
    owner: str = ""
    flashback_days: Annotated[int, Meta(ge=0, le=36_500)] = 90
    flashback_distance: Annotated[float, Meta(ge=0, le=2)] = 0.9
    semantic_min_similarity: Annotated[float, Meta(ge=0, le=1)] = 0.0
    flashback_limit: Annotated[int, Meta(ge=0, le=20)] = 3
    recall_hooks: bool = True
    model: Annotated[str, Meta(min_length=1)] = "instant+deep"
    model_url: str = ""
    llm_url: str = ""
    llm_model: Annotated[str, Meta(max_length=100)] = ""
    llm_key_env: str = ""
    llm_daily_tokens: Annotated[int, Meta(ge=0, le=1_000_000_000)] = 200_000
    watch: bool = True
    watch_max_files: Annotated[int, Meta(ge=1)] = 50_000
    follow: tuple[str, ...] = ()
    backup_hours: Annotated[int, Meta(ge=0, le=8760)] = 24
    backup_disk_percent: Annotated[int, Meta(ge=0, le=100)] = 5
    retention_days: Annotated[int, Meta(ge=0, le=36_500)] = 0
    retention_by_type: tuple[Annotated[str, Meta(pattern=RETENTION_PATTERN)], ...] = ()
    retention_by_folder: tuple[Annotated[str, Meta(pattern=FOLDER_PATTERN)], ...] = ()
    max_home_mb: Annotated[int, Meta(ge=0, le=1 << 30)] = 0
    forget_grace_hours: Annotated[int, Meta(ge=0, le=8760)] = 24
    mem0_scope: Literal["personal", "team"] = "personal"
    prices: tuple[Annotated[str, Meta(pattern=PRICE_PATTERN)], ...] = ()
    log_level: Literal["debug", "info", "warning", "error"] = "info"


LIMITS = ("retention_days", "retention_by_type", "retention_by_folder", "max_home_mb")
"""The settings by which memory is deleted; the defaults delete nothing."""
_KEEP_ALL = {name: getattr(Settings(), name) for name in LIMITS}


def load(home: Home, environ: Mapping[str, str] = os.environ) -> Settings:
    """Read the settings in force, without limits that wait. Raises ConfigInvalid, as `written`."""
    settings = written(home, environ)
    if unconfirmed(home, settings):
        return msgspec.structs.replace(settings, **_KEEP_ALL)
    return settings


def unconfirmed(home: Home, settings: Settings) -> tuple[str, ...]:
    """Return the limits that wait to be confirmed, as `observer config set` takes them.

    Nothing is deleted by any while one waits. None waits where they delete nothing.
    """
    given = {name: getattr(settings, name) for name in LIMITS}
    if given == _KEEP_ALL:
        return ()
    known = _confirmed(home)
    return tuple(
        shlex.join((name, *(value or [""] if name in LISTS else [str(value)])))
        for name, value in given.items()
        if value != known[name]
    )


def confirm(home: Home, name: str, value: object) -> None:
    """Note that somebody has seen what one limit deletes, and agreed. Raises OSError."""
    fresh = home.confirmed.with_suffix(".new")
    fresh.write_bytes(msgspec.json.encode(_confirmed(home) | {name: value}))
    fresh.replace(home.confirmed)


def _confirmed(home: Home) -> dict[str, Any]:
    known = Settings()
    with suppress(OSError, msgspec.MsgspecError):
        known = decode_json(read_plain(home.confirmed), Settings)
    return {name: getattr(known, name) for name in LIMITS}


def written(home: Home, environ: Mapping[str, str] = os.environ) -> Settings:
    """Read the settings as they are written, whether or not limits among them wait.

    Raises ConfigInvalid: the file is not TOML, or a key or value there or in the environment is not
    one of ours; names which.
    """
    try:
        values: dict[str, Any] = tomllib.loads(read_plain(home.config).decode())
    except FileNotFoundError as error:
        if home.config.is_symlink():  # to settings elsewhere, such as what to exclude
            raise ConfigInvalid(
                f"{home.config} is a link to what is not there",
                hint="bring its target back, or remove the link",
            ) from error
        values = {}
    except (ValueError, RecursionError) as error:  # also numbers and nesting beyond Python's limits
        raise ConfigInvalid(
            f"{home.config} is not valid TOML: {error}", hint="correct or remove that line"
        ) from error
    except OSError as error:
        raise ConfigInvalid(
            f"{home.config} cannot be read: {error.strerror}",
            hint="make it a file that you may read, or move it away",
        ) from error
    found: dict[str, Any] = {}
    for variable, text in environ.items():
        if variable.startswith(ENV_PREFIX) and variable not in RESERVED:
            name = variable.removeprefix(ENV_PREFIX).lower()
            parts = text.split(LISTS[name]) if name in LISTS else ()
            found[name] = list(filter(None, parts)) if name in LISTS else text
    check(found, source="the environment")
    return check(values | found, source=str(home.config))


def owner(settings: Settings) -> str:
    """Return the name under which this user's personal notes are kept, whatever `$USER` says."""
    try:
        return settings.owner or pwd.getpwuid(os.getuid()).pw_name
    except KeyError:  # a container's user without an entry
        return str(os.getuid())


def check(values: Mapping[str, Any], *, source: str) -> Settings:
    """Turn plain values into settings, numbers and lists in strings included.

    Raises ConfigInvalid: an unknown key or a value out of range; the message names `source`.
    """
    unknown = sorted(set(values) - set(Settings.__struct_fields__))
    if unknown:
        raise ConfigInvalid(
            f"unknown setting {unknown[0]!r} in {source}",
            hint="one of: " + ", ".join(Settings.__struct_fields__),
        )
    try:
        settings = msgspec.convert(dict(values), Settings, strict=False)
    except msgspec.ValidationError as error:
        what, _, name = str(error).rstrip("`").partition(" - at `$.")
        name = name.partition("[")[0]
        wanted = what.partition(", got ")[0].partition(" matching regex")[0]
        for python, words in _IN_WORDS.items():
            wanted = wanted.replace(f"`{python}`", words)
        given = values[name]
        typed = " ".join(map(str, given)) if isinstance(given, list | tuple) else given
        raise ConfigInvalid(
            f"setting {name!r} cannot be {typed!r}, in {source}: {wanted.lower()}",
            hint=next(text for known, _default, text in describe() if known == name),
        ) from error
    for folder in settings.exclude:
        if not folder.startswith(("/", "~")):
            raise ConfigInvalid(
                f"{folder!r}, to exclude, is not a full path in {source}",
                hint="begin each folder with / or ~; nothing else would ever be excluded by it",
            )
        if ",/" in folder or ",~" in folder:
            raise ConfigInvalid(
                f"{folder!r}, to exclude, is no folder in {source}",
                hint="give several apart: observer config set exclude ~/private ~/mail",
            )
    return settings


_SAID = re.compile(r"^    (\w+): (.*(?:\n {8}.*)*)", re.MULTILINE)
"""An attribute in a docstring, and what is said of it."""


def describe() -> list[tuple[str, object, str]]:
    """Return (name, default, help text) of every setting, in the order of the class."""
    from inspect import cleandoc  # noqa: PLC0415 - 5 ms, of the help only

    said = dict(_SAID.findall(cleandoc(Settings.__doc__ or "")))
    return [
        (field.name, field.default, " ".join(said[field.name].split()))
        for field in msgspec.structs.fields(Settings)
    ]


_IN_WORDS = {
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "str": "text of another form",
}
"""What the types of settings are called to people."""
