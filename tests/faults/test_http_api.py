"""The HTTP API is what its own OpenAPI document says, whatever a real daemon is sent."""

from __future__ import annotations

import socket
from collections.abc import Callable

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import GenerationMode, checks
from schemathesis.specs.openapi import checks as openapi_checks

from observer import client
from observer.core.paths import Home

CHECKS = (
    checks.not_a_server_error,
    openapi_checks.status_code_conformance,
    openapi_checks.content_type_conformance,
    openapi_checks.response_schema_conformance,
    openapi_checks.ignored_auth,
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


@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE])
def test_the_api_is_what_its_document_says(
    api: tuple[str, str], home: Home, mode: GenerationMode
) -> None:
    address, token = api
    schema = schemathesis.openapi.from_dict(client.call(home, "GET", "/openapi.json"))
    schema.config.update(base_url=address)
    headers = {"Authorization": f"Bearer {token}"}
    for operation in [found.ok() for found in schema.get_all_operations()]:

        @settings(
            max_examples=EXAMPLES,
            deadline=None,
            phases=[Phase.explicit, Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(case=operation.as_strategy(generation_mode=mode))
        def ask(case: schemathesis.Case) -> None:
            case.call_and_validate(headers=headers, checks=CHECKS)

        ask()
    assert client.is_running(home)
