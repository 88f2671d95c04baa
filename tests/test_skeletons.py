"""Who follows CONTRIBUTING.md and runs `scripts/new` has a client and an importer that work."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import msgspec
import pytest
import skeletons

from observer.clients import registry as known_clients
from observer.clients.config_files.context import InstallContext
from observer.clients.installers import install, perform, uninstall
from observer.core.disk import envelope
from observer.core.errors import ConfigInvalid
from observer.core.events import Event
from observer.core.paths import Home
from observer.importers import source as known_importers
from observer.ingest.decode import decode
from tests.clients.facts import facts_of
from tests.support import module_at

ROOT = Path(__file__).parents[1]
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
SHELVES = (known_clients.SHELF, known_importers.SHELF)
CACHES = (known_clients.clients, known_importers.sources)
NAME = "quill-pen"


def section(kind: str) -> str:
    """Return what CONTRIBUTING.md says of adding one."""
    behind = CONTRIBUTING.partition(f"\n## Add a{kind}\n")[2]
    return behind.partition("\n## ")[0]


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A checkout in which what CONTRIBUTING.md says was run, for a client and its importer."""
    for kind in (" client", "n importer"):
        (said,) = re.findall(r"^scripts/new (\w+) NAME\b", section(kind), re.MULTILINE)
        skeletons.write(said, NAME, tmp_path)
    for shelf in SHELVES:
        package = import_module(shelf)
        there = str(tmp_path / shelf.replace(".", "/"))
        monkeypatch.setattr(package, "__path__", [*package.__path__, there])
        monkeypatch.delitem(sys.modules, f"{shelf}.quill_pen", raising=False)
    for known in CACHES:
        known.cache_clear()
    yield tmp_path
    for known in CACHES:
        known.cache_clear()


@pytest.fixture
def context(home: Home, tmp_path: Path) -> InstallContext:
    user = tmp_path / "user"
    user.mkdir()
    return InstallContext(
        home=home, user_home=user, observer="/bin/observer", environ={}, folder=tmp_path
    )


@pytest.mark.parametrize("kind", [" client", "n importer"])
def test_the_recipe_names_the_files_that_are_written(kind: str, tmp_path: Path) -> None:
    written = skeletons.write(kind.partition(" ")[2], "pen", tmp_path)
    files = {str(one.relative_to(tmp_path)) for one in written}
    named = re.findall(r"`((?:observer|tests)/[\w/.]*NAME[\w/.]*)`", section(kind))
    assert files <= {name.replace("NAME", "pen") for name in named}


def test_the_client_decodes_its_sample(checkout: Path) -> None:
    sample = msgspec.json.decode((checkout / f"tests/data/{NAME}/prompt.json").read_bytes())
    data = envelope(sample["fields"], msgspec.json.encode(sample["payload"]))
    events = decode(sample["entry"], data, 1_763_715_600_000, cap_bytes=65536)
    assert list(events) == msgspec.convert(sample["becomes"], list[Event])


def test_the_client_is_installed_and_taken_out(checkout: Path, context: InstallContext) -> None:
    facts = facts_of(NAME, checkout / "tests/data")
    ((name, before),) = facts.files.items()
    path = context.user_home / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(before)
    perform(install(NAME, context), context.home, at_ms=1)
    assert all(mark in path.read_text() for mark in (*facts.stays, f"post {NAME} PostToolUse"))
    assert not install(NAME, context).is_change
    perform(uninstall(NAME, context), context.home, at_ms=2)
    assert path.read_bytes() == before
    path.write_bytes(facts.broken[name])
    with pytest.raises(ConfigInvalid, match="not valid JSON"):
        install(NAME, context)


def test_the_importer_passes_the_test_that_is_written_with_it(checkout: Path) -> None:
    module = module_at(checkout / "tests/importers/test_quill_pen.py")
    sessions = checkout / "sessions"
    sessions.mkdir()
    module.test_a_prompt_is_imported(sessions)
    assert any(sessions.iterdir()), "it wrote no session to import"


def test_what_cannot_be_written_or_is_there_is_refused(tmp_path: Path) -> None:
    for words in (("parser", "x"), ("client", "9"), ("client", "Quill")):
        with pytest.raises(SystemExit, match="usage"):
            skeletons.write(*words, tmp_path)
    skeletons.write("client", NAME, tmp_path)
    with pytest.raises(SystemExit, match="is there already"):
        skeletons.write("client", NAME, tmp_path)
