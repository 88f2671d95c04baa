"""A probe goes the way of a real event, with a real daemon and hook, and leaves nothing."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from legible import legible

from observer.cli.doctor import probes as one_probe
from observer.cli.doctor.diagnosis import Diagnosis
from observer.cli.doctor.probes import fake_key, probe_checks
from observer.clients.client import Client
from observer.clients.config_files.context import InstallContext
from observer.clients.installers import install, perform
from observer.clients.registry import clients
from observer.core.paths import Home
from observer.local import client
from observer.local.pauses import EVERYWHERE
from observer.local.spool import Spool
from observer.redaction.redact import redact_text
from observer.store.database import SqliteStore
from tests.support import Until, put_file

pytestmark = pytest.mark.slow

Probed = Callable[..., dict[str, Diagnosis]]
Put = Callable[..., None]
SAMPLED = [one.name for one in clients().values() if one.sample]


def everything(home: Home) -> list[bytes]:
    return [legible(path) for path in home.root.rglob("*") if path.is_file()]


def test_a_probe_through_each_agent_is_stored_without_its_key(put: Put, probed: Probed) -> None:
    put(*SAMPLED)
    found = probed()
    assert {*found} == {*(f"{name} probe" for name in SAMPLED), "secrets"}
    assert all(found[f"{name} probe"].found.startswith("stored after ") for name in SAMPLED), found
    assert found["secrets"].is_well


def test_a_probe_is_committed_in_a_repository_of_its_own(
    put: Put, probed: Probed, context: InstallContext, git: Callable[..., str]
) -> None:
    repository = context.folder / "shop"
    git(repository, "init")
    standing = replace(context, folder=repository)
    perform(install("git", standing), context.home, at_ms=1)
    found = {one.name: one for one in probe_checks(standing)}
    assert found["git probe"].found.startswith("stored after ")
    assert git(repository, "status", "--porcelain") == ""


def test_nothing_of_a_probe_is_left(put: Put, probed: Probed, home: Home) -> None:
    put("claude-code", "bash")
    assert all(one.is_well for one in probed().values())
    client.stop(home)
    assert not home.probes.exists()
    assert not [text for text in everything(home) if b"probe-" in text]
    with closing(SqliteStore(home.database, read_only=True)) as store, store.read() as reader:
        totals = reader.totals()
        assert (totals.events, totals.items, totals.sessions, totals.projects) == (0, 0, 0, 0)


def test_a_context_comes_back_in_the_clients_form(
    put: Put, probed: Probed, home: Home, tmp_path: Path, until: Until
) -> None:
    shop = tmp_path / "shop"
    put_file(shop / "pyproject.toml")
    put("cursor")
    spool = Spool(home.spool)
    body = {
        "kind": "prompt",
        "text": "why does the cart lose its lines?",
        "session": "s",
        "cwd": str(shop),
    }
    spool.append({"client": "generic", "event": "prompt"}, json.dumps(body).encode())
    client.ensure_daemon(home, wait_s=20)
    file = home.context / f"by-path{shop}" / "CONTEXT.cursor.json"
    until(file.exists)
    assert "context of " in probed()["cursor probe"].found
    (home.hooks / "context").write_text("#!/bin/sh\necho else\n")
    assert "does not print the context" in probed()["cursor probe"].found


def broken_script(home: Home) -> None:
    (home.hooks / "post").write_text("#!/bin/sh\nexit 0\n")


def forbidden_script(home: Home) -> None:
    (home.hooks / "post").chmod(0o644)


@pytest.mark.parametrize(
    ("break_it", "said"),
    [
        pytest.param(broken_script, "no event arrived", id="a script that does nothing"),
        pytest.param(forbidden_script, "it ended with 126", id="a script that cannot be run"),
    ],
)
def test_what_is_broken_is_found(
    put: Put,
    probed: Probed,
    home: Home,
    monkeypatch: pytest.MonkeyPatch,
    break_it: Callable[[Home], None],
    said: str,
) -> None:
    monkeypatch.setattr(one_probe, "WAIT_S", 1.0)
    put("claude-code")
    client.ensure_daemon(home, wait_s=20)  # it brings the scripts up to date when it starts
    break_it(home)
    found = probed()["claude-code probe"]
    assert not found.is_well
    assert said in found.found
    assert found.hint


def test_a_hook_not_in_the_configuration_is_found(put: Put, context: InstallContext) -> None:
    put("claude-code")
    settings = context.user_home / ".claude/settings.json"
    settings.write_text(settings.read_text().replace("UserPromptSubmit", "Other"))
    found = {one.name: one for one in probe_checks(context)}["claude-code probe"]
    assert "does not call post claude-code UserPromptSubmit" in found.found
    assert found.hint == "repeat: observer install claude-code"


def test_no_probe_is_sent_while_recording_is_paused(put: Put, probed: Probed, home: Home) -> None:
    put("claude-code")
    Spool(home.spool).pauses.begin(EVERYWHERE, from_ms=0, until_ms=9_999_999_999_000)
    (found,) = probed().values()
    assert found.is_well
    assert "paused" in found.found
    assert not home.alive.exists()


def test_the_fake_key_is_one_that_would_be_redacted() -> None:
    key = fake_key()
    assert key not in redact_text(f"with the key {key}")
    assert key != fake_key()


def test_a_client_of_another_package_needs_no_sample(context: InstallContext) -> None:
    quill = Client("quill", "", installer="none")
    probe = one_probe.Probe(quill, context, folder=context.folder, mark="m", key="k")
    assert one_probe.send(probe).is_well
