"""The HTTP API is what its own OpenAPI document says, whatever a real daemon is sent."""

from __future__ import annotations

import socket
from collections.abc import Callable
from contextlib import ExitStack, closing
from http.client import HTTPConnection
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from observer.core.paths import Home
from observer.local import client

pytestmark = pytest.mark.slow

CHECKS = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_schema_conformance",
    "ignored_auth",
)
EXAMPLES = 20


@pytest.fixture
def api(home: Home, observer: Callable[..., object]) -> tuple[str, str]:
    """The address and the token of a daemon."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    home.root.mkdir()
    home.config.write_text(f"http_port = {port}\n")
    client.ensure_daemon(home, wait_s=30)
    return f"http://127.0.0.1:{port}", home.token.read_text().strip()


@pytest.mark.parametrize("mode", ["POSITIVE", "NEGATIVE"])
def test_the_api_is_what_its_document_says(api: tuple[str, str], home: Home, mode: str) -> None:
    import schemathesis  # noqa: PLC0415 - a second, which every worker would pay as it collects

    address, token = api
    schema = schemathesis.openapi.from_dict(client.call(home, "GET", "/openapi.json"))
    schema.config.update(base_url=address)
    headers = {"Authorization": f"Bearer {token}"}
    chosen = schemathesis.checks.CHECKS.get_by_names(CHECKS)
    generation = schemathesis.GenerationMode[mode]
    for operation in [found.ok() for found in schema.get_all_operations()]:

        @settings(
            max_examples=EXAMPLES,
            deadline=None,
            phases=[Phase.explicit, Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(case=operation.as_strategy(generation_mode=generation))
        def ask(case: Any) -> None:
            case.call_and_validate(headers=headers, checks=chosen)

        ask()
    assert client.is_running(home)


def test_two_hundred_idle_strangers_cost_nobody_a_request_who_has_the_token(
    api: tuple[str, str], home: Home
) -> None:
    address, token = api
    port = int(address.rpartition(":")[2])
    headers = {"Authorization": f"Bearer {token}"}
    with ExitStack() as stack:
        stays = stack.enter_context(closing(HTTPConnection("127.0.0.1", port, timeout=30)))
        for strangers in (0, 200):
            for _ in range(strangers):
                stack.enter_context(socket.create_connection(("127.0.0.1", port)))
            stays.request("GET", "/status", headers=headers)
            answer = stays.getresponse()
            assert (answer.status, bool(answer.read())) == (200, True)
    shown = client.call(home, "GET", "/status")["http_connections"]
    assert shown["refused"] >= 200 - 2 * 64
