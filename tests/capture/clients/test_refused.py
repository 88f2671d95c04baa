"""What cannot be a client's payload is refused with a reason, and nothing else is."""

from __future__ import annotations

import pytest

from observer.capture.decode import decode
from observer.errors import Undecodable


@pytest.mark.parametrize(
    ("header", "payload", "reason"),
    [
        pytest.param("git post-commit", "", "hash of HEAD", id="commit-without-head"),
        pytest.param("git post-rewrite", "old new\n", "two hashes", id="rewrite-without-hashes"),
        pytest.param("kiro-ide postToolUse", "done", "JSON object", id="tool-without-json"),
        pytest.param("kiro-ide postToolUse", "[]", "JSON object", id="tool-with-a-list"),
        pytest.param("bash command", "exit=0\0text=ls", "torn", id="record-without-its-end"),
        pytest.param("zsh command", "", "torn", id="record-empty"),
        pytest.param("generic report", "{}", "kind", id="report-without-a-kind"),
        pytest.param("generic command", "{}", "command", id="report-without-a-command"),
    ],
)
def test_a_payload_of_another_shape_is_refused(header: str, payload: str, reason: str) -> None:
    client, event = header.split()
    data = f"OBS1\0client={client}\0event={event}\0\0{payload}".encode()
    with pytest.raises(Undecodable, match=reason):
        decode("e", data, 1_763_715_600_000, cap_bytes=65_536)
