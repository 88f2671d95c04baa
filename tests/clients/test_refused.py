"""What cannot be a client's payload is refused with a reason, and nothing else is."""

from __future__ import annotations

import pytest

from observer.core.errors import Undecodable
from observer.ingest.decode import decode


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


TOKEN = "ghp_" + "k3JxQ9vTz1LmN8sWb5RcY2dFh7GpA0uEoViX"


@pytest.mark.parametrize(
    ("client", "event", "payload"),
    [
        pytest.param(TOKEN, "x", "{}", id="client"),
        pytest.param("generic", TOKEN, "{}", id="kind"),
        pytest.param("generic", "prompt", f'{{"text": "a", "at": "at {TOKEN}"}}', id="time"),
        pytest.param(
            "generic", "file-write", f'{{"path": "a", "operation": "{TOKEN}"}}', id="choice"
        ),
    ],
)
def test_the_reason_holds_no_secret_of_the_payload(client: str, event: str, payload: str) -> None:
    """Not even the beginning of one: what is quoted is cut, and must be cleaned before that."""
    data = f"OBS1\0client={client}\0event={event}\0\0{payload}".encode()
    with pytest.raises(Undecodable) as refused:
        decode("e", data, 1_763_715_600_000, cap_bytes=65_536)
    assert TOKEN[:12] not in str(refused.value)
