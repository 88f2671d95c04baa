"""The daemon's log: one rotated file that also receives standard output and error."""

from __future__ import annotations

import faulthandler
import io
import logging
import os
import sys
import time
from logging.handlers import RotatingFileHandler

from observer.core.paths import Home, make_private, open_plain
from observer.redaction.redact import redact_text

SIZE_BYTES = 2 << 20
KEPT_FILES = 3


class DaemonLog(RotatingFileHandler):
    """A rotated file to which standard output and error are redirected after each rotation.

    Otherwise what a daemon started on demand prints (a fault in C code, a warning) would go to the
    renamed file, and finally to a deleted one.
    """

    def _open(self) -> io.TextIOWrapper:
        stream = super()._open()
        if not sys.stderr.isatty():
            os.dup2(stream.fileno(), 1)
            os.dup2(stream.fileno(), 2)
        return stream


class SecretlessFormatter(logging.Formatter):
    """Formats a record, tracebacks included, and redacts the secrets in it.

    An exception may quote its input, and that may be what an editor sent.
    """

    def format(self, record: logging.LogRecord) -> str:
        """Return the record as redacted text."""
        return redact_text(super().format(record))


def start_log(home: Home, *, level: str) -> None:
    """Send log records of at least `level` to `<home>/log/daemon.log`.

    Raises:
        OSError: the file cannot be written.
    """
    path = make_private(home.logs) / "daemon.log"
    os.close(open_plain(path, os.O_WRONLY | os.O_CREAT))  # opening a FIFO would block the handler
    handler = DaemonLog(path, maxBytes=SIZE_BYTES, backupCount=KEPT_FILES, encoding="utf-8")
    form = SecretlessFormatter("%(asctime)s.%(msecs)03dZ %(levelname)s %(name)s: %(message)s")
    form.datefmt = "%Y-%m-%dT%H:%M:%S"
    form.converter = time.gmtime
    handler.setFormatter(form)
    logging.basicConfig(level=level.upper(), handlers=[handler])
    for chatty in ("uvicorn", "watchfiles", "mcp", "asyncio"):
        logging.getLogger(chatty).setLevel(logging.WARNING)
    faulthandler.enable()
