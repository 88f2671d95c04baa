"""How whoever meets damage has it repaired: by a file that the daemon, or the next one, sees."""

from __future__ import annotations

import os

from observer.core.paths import Home, open_plain


def request_repair(home: Home, reason: str) -> None:
    """Have the database repaired, which may look whole when it is opened.

    Raises:
        OSError: that cannot be written down.
    """
    with os.fdopen(open_plain(home.damage, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), "wb") as file:
        file.write(reason.encode(errors="replace"))
