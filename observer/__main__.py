"""The `observer` command: sends `mcp` to the pump, everything else to the command line."""

from __future__ import annotations

import gc
import os
import sys

YOUNG_OBJECTS = 50_000
"""Allocations between two runs of the cycle collector: with Python's 700 collection was a tenth of
the daemon's start and an eighth of a drain, none of whose values are cyclic."""


def main() -> None:
    """Run the command that the process was started with, and exit with its code."""
    try:
        _run()
    except KeyboardInterrupt:  # while modules are imported; `cli.app` has the rest
        sys.exit(130)


def _run() -> None:
    _have_streams()
    gc.set_threshold(YOUNG_OBJECTS)
    # Its products are small: a second thread would cost 20 MB and half of the time to import numpy.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    if sys.argv[1:] == ["mcp", "--tools"]:  # asks which there are
        sys.argv[1:] = ["mcp", "list"]
    if sys.argv[1:2] == ["mcp"] and not {"list", "-h", "--help"} & set(sys.argv):
        from observer.local import pump  # noqa: PLC0415 - an editor waits for this one

        sys.exit(pump.main(sys.argv[2:]))
    import signal  # noqa: PLC0415 - as above
    from contextlib import suppress  # noqa: PLC0415 - as above

    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) == signal.SIG_DFL:  # else it is to be ignored
            # As an error would: what was begun is taken back.
            signal.signal(number, lambda number, _frame: sys.exit(128 + number))
    if sys.argv[1:] == ["wake"]:
        sys.argv[1:] = ["up"]
        with suppress(OSError):  # `up` meets it too, and says what to do
            sys.exit(_wake())
    from observer.cli import main as command_line  # noqa: PLC0415 - click is not for the pump

    command_line()


def _wake() -> int:
    """Do what `up` does, for the pump: an agent waits for what it would import to print more."""
    from observer.core.errors import ObserverError  # noqa: PLC0415 - not for the pump
    from observer.core.paths import home  # noqa: PLC0415 - as above
    from observer.upkeep.home_guard import bring_up  # noqa: PLC0415 - as above

    try:
        bring_up(home())
    except ObserverError as error:
        sys.stderr.write(f"error: {error.message}\nhint: {error.hint}\n")
        return error.exit_code
    return 0


def _have_streams() -> None:
    """Open the null device for each standard stream that whoever started us had closed.

    Else the next file or socket has its number: the pump would read its own socket as the editor.
    """
    while (spare := os.open(os.devnull, os.O_RDWR)) < 3:
        pass
    os.close(spare)
    for number, (name, mode) in enumerate((("stdin", "r"), ("stdout", "w"), ("stderr", "w"))):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(number, mode, encoding="utf-8", closefd=False))


if __name__ == "__main__":
    main()
