"""Runs observer as on macOS: without what Linux alone has, and with the answers of its kernel.

What the system is asked for is taken away in this process: `/proc`, SO_PEERCRED, renameat2,
malloc_trim, the generation of an inode. LOCAL_PEERCRED and F_FULLFSYNC are there instead.
"""

from __future__ import annotations

import _socket

# ruff: noqa: F401 - these look at the platform while they are imported
import asyncio
import ctypes
import fcntl
import importlib.metadata
import multiprocessing
import os
import platform
import socket
import struct
import subprocess
import sys
import sysconfig
import tempfile
import urllib.request
import uuid
import zoneinfo

LINUX_ONLY = {"malloc_trim", "renameat2"}
PEERCRED = 17


_ask = _socket.socket.getsockopt


def getsockopt(self: _socket.socket, level: int, option: int, *size: int) -> int | bytes:
    """Answer LOCAL_PEERCRED with a struct xucred, as macOS does."""
    if (level, option) == (socket.SOL_SOCKET, PEERCRED):
        raise OSError(42, "Protocol not available")
    if (level, option) != (0, 1) or self.family != socket.AF_UNIX:
        return _ask(self, level, option, *size)
    _, uid, gid = struct.unpack("iII", _ask(self, socket.SOL_SOCKET, PEERCRED, 12))
    return struct.pack("=IIhxx16I", 0, uid, 1, gid, *([0] * 15))


class MacSocket(_socket.socket):
    """The socket that the pump uses."""

    getsockopt = getsockopt


class MacLibrary(ctypes.CDLL):
    """A C library without the functions of Linux and glibc."""

    def __getattr__(self, name: str) -> object:
        if name in LINUX_ONLY:
            raise AttributeError(name)
        return super().__getattr__(name)


def refuse(event: str, arguments: tuple[object, ...]) -> None:
    """Refuse what macOS has not."""
    if event in {"open", "os.listdir", "os.scandir"} and str(arguments[0]).startswith("/proc"):
        raise FileNotFoundError(2, "No such file or directory", arguments[0])
    if event == "fcntl.ioctl":
        raise OSError(25, "Inappropriate ioctl for device")


def main() -> None:
    """Take Linux away, and run the command line, or the pump."""
    _socket.socket = MacSocket
    socket.socket.getsockopt = getsockopt  # type: ignore[method-assign]  # the class of the library
    del socket.SO_PEERCRED, _socket.SO_PEERCRED, socket.AF_NETLINK
    ctypes.CDLL = MacLibrary  # type: ignore[misc]  # as above
    fcntl.F_FULLFSYNC = fcntl.F_GETFD  # type: ignore[attr-defined]  # any number that a file answers
    sys.platform = "darwin"
    sys.addaudithook(refuse)
    from observer.__main__ import main as observer  # noqa: PLC0415 - it looks at the platform

    observer()


if __name__ == "__main__":
    main()
