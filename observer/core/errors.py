"""The one error root: what happened, what to do next, and the exit code for scripts."""

from __future__ import annotations

import errno
import os
from typing import ClassVar


class ObserverError(Exception):
    """Something observer can explain.

    `message` is what happened, without a full stop, `hint` what to do next.
    """

    exit_code: ClassVar[int] = 1
    code: ClassVar[str] = "error"

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} ({self.hint})" if self.hint else self.message


class BadInput(ObserverError):
    """An argument, payload or query is not what the door it came through documents."""

    exit_code = 2
    code = "bad-input"


class Incomplete(BadInput):
    """Something that a request must have is not in it."""


class ConfigInvalid(ObserverError):
    """A setting or a foreign configuration file cannot be used as it is; nothing was changed."""

    exit_code = 2
    code = "config-invalid"


class NotFound(ObserverError):
    """A handle, project or session that does not exist."""

    exit_code = 3
    code = "not-found"


class Ambiguous(ObserverError):
    """A name that fits several things; the hint lists exact handles."""

    exit_code = 3
    code = "ambiguous"


class DaemonUnavailable(ObserverError):
    """The daemon does not answer or could not be started."""

    exit_code = 4
    code = "daemon-unavailable"


class ShareUnavailable(ObserverError):
    """The server, folder or git remote of a share is out of reach, or cannot be used as it is."""

    exit_code = 7
    code = "share-unavailable"


class StoreUnavailable(ObserverError):
    """The database cannot be opened, is newer than this version, or cannot be written."""

    exit_code = 5
    code = "store-unavailable"


class StoreDamaged(StoreUnavailable):
    """The database holds what was never written to it; a daemon mends it."""


class SchemaDiffers(StoreUnavailable):
    """The database has other tables than this observer uses; its log can be read all the same."""


class SecretRefused(ObserverError):
    """An explicit write held a secret; the message names its class, never its value."""

    exit_code = 6
    code = "secret-refused"


class PastImmutable(ObserverError):
    """An agent would have changed a note of what happened; the hint is to amend it by another."""

    exit_code = 2
    code = "past-immutable"


class RuleUserOnly(ObserverError):
    """An agent would have changed or approved a rule, which only a person does."""

    exit_code = 2
    code = "rule-user-only"


class CapturedUserOnly(ObserverError):
    """An agent would have deleted or restored what was captured, which only a person does."""

    exit_code = 2
    code = "captured-user-only"


class NoteConflict(ObserverError):
    """A note's file is not what the caller read; nothing is replaced, both versions are kept."""

    exit_code = 2
    code = "note-conflict"


class Undecodable(ObserverError):
    """An envelope that no decoder understands; the pipeline moves it to `spool/bad`."""

    exit_code = 2
    code = "undecodable"


_IN_THE_WAY = frozenset(
    {errno.EEXIST, errno.EINVAL, errno.EISDIR, errno.ENOTDIR, errno.ELOOP, errno.ENXIO}
)
"""A folder, a FIFO, a link to itself … is where a file has to be, or a file instead of a folder."""


def remedy(error: OSError, otherwise: str) -> str:
    """Return what to do about a file that could not be used, if the error itself says so."""
    if error.errno in {errno.ENOSPC, errno.EDQUOT}:
        return "free some disk space"
    leads_nowhere = error.errno == errno.ENOENT and os.path.islink(error.filename or "")  # noqa: PTH114 - every class here is an error
    is_in_the_way = leads_nowhere or error.errno in _IN_THE_WAY
    return "move it away; it is made anew" if is_in_the_way else otherwise
