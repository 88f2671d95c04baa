"""Clients and toolsets of other packages are found through their entry points."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from zipfile import ZipFile

import pytest

from observer.clients.config_files.context import InstallContext
from observer.clients.installers import install, installable
from observer.clients.registry import SHELF, clients
from observer.core.disk import envelope
from observer.core.plugins import modules_of
from observer.ingest.decode import decode
from observer.tools.registry import toolsets
from tests.support import put_file

PACKAGE = """
from observer.clients.client import Client
from observer.clients.config_files.context import InstallPlan
from observer.core.events import Event, Prompt
from observer.tools.registry import Toolset

def read(envelope, payload):
    yield Event(
        id=envelope.id, at_ms=envelope.at_ms, client="quill", body=Prompt(text=payload["said"])
    )

def install(context):
    return InstallPlan(edits=(), notes=("nothing to do",))

QUILL = Client("quill", read, installer=install)
QUILLS = Toolset("Use it for quills.", lambda memory, here: ())
TEXT = "not a client"
"""
ENTRIES = """
[observer.clients]
quill = quill_client:QUILL
cursor = quill_client:QUILL
text = quill_client:TEXT
gone = quill_gone:CLIENT

[observer.tools]
quills = quill_client:QUILLS
"""


@pytest.fixture(autouse=True)
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Install a package that adds a client and a toolset, beside entries that cannot be used."""
    info = tmp_path / "quill-1.dist-info"
    put_file(info / "METADATA", "Metadata-Version: 2.1\nName: quill\nVersion: 1\n")
    (info / "entry_points.txt").write_text(ENTRIES)
    (tmp_path / "quill_client.py").write_text(PACKAGE)
    monkeypatch.syspath_prepend(tmp_path)
    caches: tuple[Callable[[], None], ...] = (clients.cache_clear, toolsets.cache_clear)
    for clear in caches:
        clear()
    yield
    for clear in caches:
        clear()


def test_a_client_of_another_package_stands_behind_ours() -> None:
    ours = [one.name for module in modules_of(SHELF) for one in module.CLIENTS]
    assert [*clients()] == [*sorted(ours), "quill"]


def test_what_cannot_be_loaded_is_left_out_with_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    """So is what would replace one of ours."""
    assert clients()["cursor"].installer is not None
    warned = [record.getMessage() for record in caplog.records]
    assert [name in text for name, text in zip(("cursor", "gone", "TEXT"), warned, strict=True)]


def test_its_events_are_decoded() -> None:
    data = envelope({"client": "quill", "event": "asked"}, b'{"said": "Why is the sky blue?"}')
    (event,) = decode("e", data, 1_795_000_000_000, cap_bytes=65_536)
    assert (event.client, event.body.text) == ("quill", "Why is the sky blue?")  # type: ignore[union-attr]


def test_it_is_installed_by_its_name_and_its_toolset_can_be_chosen(context: InstallContext) -> None:
    assert "quill" in installable()
    assert install("quill", context).notes == ("nothing to do",)
    assert toolsets()["quills"].guide == "Use it for quills."


def test_a_package_in_an_archive_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with ZipFile(tmp_path / "quill.zip", "w") as archive:
        for file in ("quill_client.py", "quill-1.dist-info/METADATA"):
            archive.write(tmp_path / file, file)
        archive.writestr("quill-1.dist-info/entry_points.txt", ENTRIES.replace("quills", "zipped"))
    monkeypatch.syspath_prepend(tmp_path / "quill.zip")
    toolsets.cache_clear()
    assert "zipped" in toolsets()


def test_a_list_of_entry_points_that_cannot_be_read_hides_no_other(tmp_path: Path) -> None:
    (tmp_path / "pen-1.dist-info" / "entry_points.txt").mkdir(parents=True)
    assert "quill" in clients()
