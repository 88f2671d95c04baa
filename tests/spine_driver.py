"""Run a command of observer, and write down in which order it enters the modules of a spine.

python spine_driver.py WORD...

`SPINE` names the modules, with spaces between; on SIGUSR1, and at the end, the order goes to the
file `SPINE_SEEN` and a new one begins.
"""

from __future__ import annotations

import atexit
import os
import signal
import sys
import threading
from pathlib import Path
from types import FrameType

WANTED = frozenset(os.environ["SPINE"].split())
SEEN = Path(os.environ["SPINE_SEEN"])
order: list[str] = []


def entered(frame: FrameType, event: str, _: object) -> None:
    """Note the module of a function that is called, unless the last one noted is the same."""
    if event == "call" and frame.f_code.co_name != "<module>":
        name = frame.f_globals.get("__name__", "")
        if name in WANTED and order[-1:] != [name]:
            order.append(name)


def written(*_: object) -> None:
    """Write the order so far; a file that appears is whole."""
    taken, order[:] = list(order), []
    part = SEEN.with_suffix(".part")
    part.write_text("\n".join(taken))
    part.rename(SEEN)


signal.signal(signal.SIGUSR1, written)
atexit.register(written)
threading.setprofile(entered)
sys.setprofile(entered)

from observer.__main__ import main  # noqa: E402 - what it imports is entered too

sys.argv = ["observer", *sys.argv[1:]]
main()
