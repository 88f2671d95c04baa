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

ENV_HOME = "OBSERVER_HOME"
SHIPPED_HOOKS = (Path(__file__).parents[1] / "_hooks", Path(__file__).parents[2] / "hooks")
"""Where the hook scripts are shipped: in a wheel, in a checkout."""
DAMAGED_COPY = "-damaged-"
"""Part of the name, in `backups`, of a damaged database that was repaired and set aside."""
SOCKET_NAME_BYTES = 100
"""Longest socket name we use. Linux allows 107 bytes, macOS 103."""


@dataclass(frozen=True, slots=True)
class Home:
    """The folder that holds one user's memory; two homes never share a file, lock or socket."""

    root: Path

    @property
    def spool(self) -> Path:
        """Durable queue: `tmp/`, `new/`, `bad/` and `shell/`."""
        return self.root / "spool"

    @property
    def database(self) -> Path:
        """The SQLite file."""
        return self.root / "observer.db"

    @property
    def index(self) -> Path:
        """What search looks things up in; derived from the database, and deleted without loss."""
        return self.root / "index"

    @property
    def backups(self) -> Path:
        """Copies of the database made before a migration, and of every config file we edited."""
        return self.root / "backups"

    @property
    def context(self) -> Path:
        """Ready-made context files, under a mirror of each project's path."""
        return self.root / "context"

    @property
    def hooks(self) -> Path:
        """Installed hook scripts; their paths are in clients' configurations and never change."""
        return self.root / "hooks"

    @property
    def reminders(self) -> Path:
        """Digests of the reminders that each session was shown, so that none is repeated."""
        return self.root / "reminders"

    @property
    def imports(self) -> Path:
        """Which sessions were imported from files, with the sizes and times of these."""
        return self.root / "imports.json"

    @property
    def importing(self) -> Path:
        """The import that goes on in the background, and how far it is; gone once it is done."""
        return self.root / "importing.json"

    @property
    def tombstones(self) -> Path:
        """What was purged, as keyed hashes, with their key; see `store.tombstones`."""
        return self.root / "tombstones"

    @property
    def seen(self) -> Path:
        """Values that redaction recognised, as keyed hashes, with their key: `redaction.seen`."""
        return self.root / "seen"

    @property
    def purging(self) -> Path:
        """What a purge that was begun still has to do; gone once it is done."""
        return self.root / "purging"

    @property
    def cap(self) -> Path:
        """How near the home is to its greatest size, and what had to go; see `purge.size_cap`."""
        return self.root / "cap.json"

    @property
    def expiring(self) -> Path:
        """Where what stays is derived anew while something goes by age; see `purge.take_out`."""
        return self.root / "expiring"

    @property
    def heads(self) -> Path:
        """Where HEAD of each work tree was seen last; see `daemon.unreported`."""
        return self.root / "heads.json"

    @property
    def damage(self) -> Path:
        """What a daemon found damaged and its successor has to repair; gone once it is repaired."""
        return self.root / "damage"

    @property
    def losses(self) -> Path:
        """What was repaired, and which events were lost; see `repair.losses`."""
        return self.root / "losses.json"

    @property
    def quiet(self) -> Path:
        """Which clients were announced to have gone quiet; see `daemon.quiet`."""
        return self.root / "quiet.json"

    @property
    def made_folders(self) -> Path:
        """Which folders installations made; see `config_files.made_folders`."""
        return self.root / "made-folders.json"

    @property
    def installed_roots(self) -> Path:
        """The repositories in whose own files something was installed, one a line."""
        return self.root / "installed-roots"

    @property
    def probes(self) -> Path:
        """Folders in which the doctor's probes happen; see `ingest.probe`."""
        return self.root / "probes"

    @property
    def logs(self) -> Path:
        """`daemon.log` (rotated) and `hooks.log`."""
        return self.root / "log"

    @property
    def refused(self) -> Path:
        """Where hooks count the events that they could not write; see `spool.refusals`."""
        return self.logs / "refused"

    @property
    def config(self) -> Path:
        """Settings in TOML; absent means defaults."""
        return self.root / "config.toml"

    @property
    def confirmed(self) -> Path:
        """The limits that somebody has confirmed after seeing what they delete; see `config`."""
        return self.root / "confirmed.json"

    @property
    def note_folders(self) -> Path:
        """Which folders are note folders; see `note_files.folders`."""
        return self.root / "note-folders.json"

    @property
    def note_versions(self) -> Path:
        """What tools replaced, moved or deleted in note folders, by number, to be brought back."""
        return self.root / "note-versions"

    @property
    def models(self) -> Path:
        """The user's own models, a folder each."""
        return self.root / "models"

    @property
    def lock(self) -> Path:
        """The file whose `flock` the daemon holds while it lives."""
        return self.root / "daemon.lock"

    @property
    def alive(self) -> Path:
        """Valid, by its time, while a daemon lives; see `daemon.lease`."""
        return self.root / "daemon.alive"

    @property
    def waking(self) -> Path:
        """Made by the hook that starts a daemon in place of one that died."""
        return self.root / "daemon.waking"

    @property
    def token(self) -> Path:
        """Bearer token of the TCP listener, mode 0600."""
        return self.root / "token"

    @property
    def llm_key(self) -> Path:
        """The key to a language model, written by the user, mode 0600."""
        return self.root / "llm_key"

    @property
    def run(self) -> Path:
        """Folder of the sockets.

        It stands beside the rest unless that makes a socket's name too long for the kernel; then
        it is a folder in /tmp named for the user and the home, which the daemon creates 0700 and
        refuses to use when somebody else owns it.
        """
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

    Raises:
        PermissionError: it exists and belongs to another user.
    """
    if not folder.parent.is_dir():
        make_private(folder.parent)  # mkdir's mode is for the last folder only
    folder.mkdir(mode=0o700, exist_ok=True)
    if folder.stat().st_uid != os.getuid():
        raise PermissionError(errno.EPERM, "it belongs to another user", str(folder))
    return folder


def open_plain(path: Path, flags: int) -> int:
    """Open a file of the home, mode 0600 where it is made, for the caller to close.

    Follows links, since people keep their settings elsewhere, and waits for nobody, as opening a
    FIFO would. The null device counts as plain: it is how people do without a file.

    Raises:
        OSError: it cannot be opened, or is not a plain file.
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
    """Return what is in a file of the home.

    Raises:
        OSError: as `open_plain`.
    """
    with open(open_plain(path, os.O_RDONLY), "rb") as file:
        return file.read()


def read_head(path: str | Path, size: int) -> bytes:
    """Return the first `size` bytes of a plain file that may be anybody's: one in a repository.

    Raises:
        OSError: it cannot be read, or is not a plain file.
        ValueError: no file system can hold the path (NUL, lone surrogates).
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


def flush(handle: int) -> None:
    """Return once the disk holds what was written to a file or folder.

    On macOS `fsync` leaves it in the disk's own cache. Source: fsync(2) and fcntl(2) there.
    """
    if hasattr(fcntl, "F_FULLFSYNC"):
        with suppress(OSError):  # a file system without it
            fcntl.fcntl(handle, fcntl.F_FULLFSYNC)
            return
    os.fsync(handle)


def is_inside(path: str, folder: str) -> bool:
    """Return True if a path is a folder or below it, by their names alone."""
    return path == folder or path.startswith(folder.rstrip("/") + "/")
