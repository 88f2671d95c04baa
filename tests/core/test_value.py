"""What was kept and cannot be read is shown, never taken for nothing."""

from __future__ import annotations

import pytest

from observer.core.errors import StoreUnavailable
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
    assert "observer rebuild" in refused.value.hint
