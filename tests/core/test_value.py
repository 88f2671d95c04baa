"""What cannot be read raises one error, and what was kept is never taken for nothing."""

from __future__ import annotations

import msgspec
import pytest

from observer.core.errors import StoreUnavailable
from observer.core.value import decode_json
from observer.observations import project_state, session_state


@pytest.mark.parametrize("data", [b"{", b"[]", b'{"\xff'])
@pytest.mark.parametrize(
    ("kept", "of"),
    [(session_state.decode, "session"), (project_state.decode, "project")],
    ids=["state", "story"],
)
def test_what_is_damaged_is_shown_with_the_way_out(kept: object, of: str, data: bytes) -> None:
    assert callable(kept)
    with pytest.raises(StoreUnavailable, match=f"remembered of a {of}") as refused:
        kept(data)
    assert "observer doctor --rebuild" in refused.value.hint


@pytest.mark.parametrize(
    "data",
    [b"", b"{", b'["\xed\xf4"]', b"\xff", "\ud800", b"[1]", b"[" * 100_000],
    ids=lambda data: repr(data)[:12],
)
def test_json_of_any_origin_is_refused_by_one_error(data: bytes | str) -> None:
    with pytest.raises(msgspec.DecodeError):
        decode_json(data, list[str])
