"""How what interpretation remembers between events is read back.

Part of interpretation (step 6). What cannot be read must stop a batch, for whoever takes it for
nothing would forget the rest, and whoever blames the event would set aside what is well.
"""

from __future__ import annotations

from typing import TypeVar

import msgspec

from observer.errors import StoreUnavailable

_T = TypeVar("_T")


def reread(decoder: msgspec.json.Decoder[_T], data: bytes, *, of: str) -> _T:
    """Return what was kept of a session or a project.

    Raises:
        StoreUnavailable: it is damaged, or of another version.
    """
    try:
        return decoder.decode(data)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise StoreUnavailable(
            f"what is remembered of a {of} is damaged: {error}",
            hint="make it anew from the log with: observer rebuild",
        ) from error
