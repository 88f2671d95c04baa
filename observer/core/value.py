"""The base of every value, and what an edit did to the symbols of a file.

How what interpretation remembers between events is read back.

Part of interpretation (step 6). What cannot be read must stop a batch, for whoever takes it for
nothing would forget the rest, and whoever blames the event would set aside what is well.
"""

from __future__ import annotations

from typing import Literal, TypeVar, dataclass_transform

import msgspec

from observer.core.errors import StoreUnavailable


@dataclass_transform(kw_only_default=True, frozen_default=True)
class Value(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Base of every value: immutable, compared by content, named arguments only."""


class SymbolChanges(Value):
    """Paths of symbols by what became of them; `resigned` have another signature.

    `renamed` holds (old path, new path), `moved` what only stands elsewhere, `commented` what has
    other comments and the same code; a path is in one of them, and nothing is listed with what it
    stands in. `names` are identifiers that the code uses now and did not before, `dropped` the
    other way round. `only` says that nothing else than the layout, or the comments, changed.
    """

    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    resigned: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    renamed: tuple[tuple[str, str], ...] = ()
    moved: tuple[str, ...] = ()
    commented: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    only: Literal["", "layout", "comments"] = ""


_T = TypeVar("_T")


def decode_state(decoder: msgspec.json.Decoder[_T], data: bytes, *, of: str) -> _T:
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
