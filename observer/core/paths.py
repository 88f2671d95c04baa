"""Where everything lives: one folder, moved as a whole by `OBSERVER_HOME`.

Standard library only: hooks, the pump and the spool import it before anything else is loaded.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
import stat
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

ENV_HOME = "OBSERVER_HOME"
SHIPPED_HOOKS = (Path(__file__).parents[1] / "_hooks", Path(__file__).parents[2] / "hooks")
"""Where the hook scripts are shipped: in a wheel, in a checkout."""
DAMAGED_COPY = "-damaged-"
"""Part of the name, in `backups`, of a damaged database that was repaired and set aside."""
SOCKET_NAME_BYTES = 100
"""Longest socket name we use. Linux allows 107 bytes, macOS 103."""


def _at(*names: str) -> Path:
    """Return the property of a home that is a path in it."""
    # Not `cast`: hooks and the pump count each import.
    return property(lambda home: home.root.joinpath(*names))  # type: ignore[return-value]


@dataclass(frozen=True, slots=True)
class Home:
    """The folder that holds one user's memory; two homes never share a file, lock or socket."""

    root: Path

    spool = _at("spool")  # Durable queue: `tmp/`, `new/`, `bad/` and `shell/`
    database = _at("observer.db")  # The SQLite file
    index = _at("index")  # What search looks things up in; made of the database anew without loss
    backups = _at("backups")  # Copies of the database, and of config files that we edited
    context = _at("context")  # Ready-made context files, under a mirror of each project's path
    hooks = _at("hooks")  # Installed scripts, whose paths in clients' configurations never change
    reminders = _at("reminders")  # Digests of the reminders that each session was shown
    given = _at("given")  # Which items each session was given unasked, and when; see `local.given`
    imports = _at("imports.json")  # Which sessions were imported from files, their sizes and times
    importing = _at("importing.json")  # The import that goes on in the background, how far it is
    tombstones = _at("tombstones")  # What was purged, as keyed hashes: see `store.tombstones`
    seen = _at("seen")  # Values that redaction recognised, as keyed hashes: see `redaction.seen`
    purging = _at("purging")  # What a purge that was begun still has to do; gone once it is done
    cap = _at("cap.json")  # How near the home is to its greatest size: see `upkeep.size_cap`
    expiring = _at("expiring")  # What stays while something goes by age: see `upkeep.take_out`
    workshop = _at(".bundle")  # Where a file of `backup` is packed or unpacked
    heads = _at("heads.json")  # Where HEAD of each work tree was seen last; see `serve.unreported`
    damage = _at("damage")  # What a daemon found damaged and its successor has to repair
    losses = _at("losses.json")  # What was repaired, which events were lost: see `upkeep.losses`
    quiet = _at("quiet.json")  # Which clients were announced to have gone quiet
    made_folders = _at("made-folders.json")  # Which folders installations made
    installed_roots = _at("installed-roots")  # Repositories that something was installed in
    probes = _at("probes")  # Folders in which the doctor's probes happen; see `ingest.pipeline`
    logs = _at("log")  # `daemon.log` (rotated) and `hooks.log`
    refused = _at("log", "refused")  # Where hooks count the events that they could not write
    config = _at("config.toml")  # Settings in TOML; absent means defaults
    confirmed = _at("confirmed.json")  # The limits that somebody confirmed: see `config`
    note_folders = _at("note-folders.json")  # Which folders are note folders
    note_versions = _at("note-versions")  # What tools replaced, moved or deleted
    models = _at("models")  # The user's own models, a folder each
    lock = _at("daemon.lock")  # The file whose `flock` the daemon holds while it lives
    alive = _at("daemon.alive")  # Valid, by its time, while a daemon lives; see `upkeep.home_guard`
    waking = _at("daemon.waking")  # Made by the hook that starts a daemon in place of one that died
    web = _at("web.json")  # The port of the pages, the key of their cookies, mode 0600
    web_secret = _at("web_secret")  # What a reverse proxy before the pages shows, mode 0600
    token = _at("token")  # Bearer token of the TCP listener, mode 0600
    llm_key = _at("llm_key")  # The key to a language model, written by the user, mode 0600

    @property
    def run(self) -> Path:
        """Folder of the sockets; in /tmp, 0700, where a name would be too long for the kernel."""
        inside = self.root / "run"
        if len(os.fsencode(inside / "daemon.sock")) <= SOCKET_NAME_BYTES:
            return inside
        digest = hashlib.sha256(os.fsencode(self.root)).hexdigest()[:16]
        return Path("/tmp") / f"observer-{os.getuid()}-{digest}"  # noqa: S108 - checked by its user

    @property
    def socket(self) -> Path:
        """The daemon's HTTP socket: status, events, memory writes."""
        return self.run / "daemon.sock"

    @property
    def mcp_socket(self) -> Path:
        """The daemon's MCP socket, one session a connection."""
        return self.run / "mcp.sock"


def is_read_only(home: Home) -> bool:
    """Return True if a home is there and cannot be written."""
    return home.root.exists() and not os.access(home.root, os.W_OK)


def home() -> Home:
    """Return the home of this process: `$OBSERVER_HOME`, else `~/.observer`; always absolute."""
    chosen = os.environ.get(ENV_HOME) or os.path.join(os.path.expanduser("~"), ".observer")  # noqa: PTH111, PTH118 - pathlib is for callers; hooks count each import
    return Home(Path(os.path.abspath(chosen)))  # noqa: PTH100 - resolve() would follow links and part the hook's view from ours


def working_folder() -> Path:
    """Return the folder this process works in; a deleted one by the name that the shell has."""
    try:
        return Path.cwd()
    except FileNotFoundError:  # the work tree of a shell or an agent that is done with it
        return Path("/", os.environ.get("PWD", ""))


def make_private(folder: Path) -> Path:
    """Create a folder, and those above it that are missing, with mode 0700, and return it.

    Raises PermissionError: it exists and belongs to another user.
    """
    if not folder.parent.is_dir():
        make_private(folder.parent)  # mkdir's mode is for the last folder only
    folder.mkdir(mode=0o700, exist_ok=True)
    if folder.stat().st_uid != os.getuid():
        raise PermissionError(errno.EPERM, "it belongs to another user", str(folder))
    return folder


def open_plain(path: Path, flags: int) -> int:
    """Open a file of the home, mode 0600 where it is made, for the caller to close.

    Follows links, and waits for nobody, as opening a FIFO would. The null device counts as plain.
    Raises OSError: it cannot be opened, or is not a plain file.
    """
    try:
        descriptor = os.open(path, flags | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC, 0o600)
    except OSError as error:
        if error.errno == errno.ENXIO:
            raise _not_plain(path, errno.EINVAL) from error
        raise
    found = os.fstat(descriptor)
    if stat.S_ISREG(found.st_mode) or found.st_rdev == Path(os.devnull).stat().st_rdev:
        return descriptor
    os.close(descriptor)
    raise _not_plain(path, errno.EISDIR if stat.S_ISDIR(found.st_mode) else errno.EINVAL)


def read_plain(path: Path) -> bytes:
    """Return what is in a file of the home. Raises OSError, as `open_plain`."""
    with open(open_plain(path, os.O_RDONLY), "rb") as file:
        return file.read()


def read_head(path: str | Path, size: int) -> bytes:
    """Return the first `size` bytes of a plain file that may be anybody's: one in a repository.

    Raises OSError: it cannot be read, or is not a plain file; ValueError: no path can be so.
    """
    # Opening some devices does something: looked at first, they are never opened.
    if not stat.S_ISREG(os.stat(path).st_mode):  # noqa: PTH116 - hooks count each Path
        raise _not_plain(path, errno.EINVAL)
    # What takes its place now must not hold up the daemon, as a pipe would, or end in a device.
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb", buffering=0) as file:
        return file.read(size)


def _not_plain(path: str | Path, number: int) -> OSError:
    said = os.strerror(number) if number == errno.EISDIR else "it is not a plain file"
    return OSError(number, said, str(path))


FileIdentity: TypeAlias = tuple[int, int] | None


def identity(path: Path) -> FileIdentity:
    """Return what stays the same until a file is replaced; None for one that is not there."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


FileStamp: TypeAlias = tuple[int, int, int] | None


def file_stamp(path: str) -> FileStamp:
    """Return a value that changes when a file does; None for one that is not there."""
    try:
        status = os.stat(path)  # noqa: PTH116 - asked with each event
    except OSError:
        return None
    return status.st_mtime_ns, status.st_ino, status.st_size


def flush(handle: int) -> None:
    """Return once the disk holds what was written to a file or folder."""
    # On macOS `fsync` leaves it in the disk's own cache. Source: fsync(2) and fcntl(2) there.
    if hasattr(fcntl, "F_FULLFSYNC"):
        with suppress(OSError):  # a file system without it
            fcntl.fcntl(handle, fcntl.F_FULLFSYNC)
            return
    os.fsync(handle)


def is_inside(path: str, folder: str) -> bool:
    """Return True if a path is a folder or below it, by their names alone."""
    return path == folder or path.startswith(folder.rstrip("/") + "/")
