"""Where both a plugin and `observer install` report, each event is stored once."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import make_plugins
import pytest

from observer.clients.config_files.context import InstallContext
from observer.clients.installers import install, perform
from observer.core.config import Settings
from observer.core.paths import Home
from observer.ingest.pipeline import Pipeline
from observer.local.spool import Spool
from observer.projects import PlaceCache
from observer.store.database import SqliteStore

ROOT = Path(__file__).parents[2]
DATA = ROOT / "tests" / "data"
NOW_MS = 1_790_000_000_000


def commands(value: Any) -> Iterator[str]:
    match value:
        case {"command": str(command)}:
            yield command
        case dict():
            for each in value.values():
                yield from commands(each)
        case list():
            for each in value:
                yield from commands(each)


def posts(hooks: dict[str, Any]) -> dict[str, str]:
    """Return the command that reports each event."""
    found = {event: list(commands(groups)) for event, groups in hooks["hooks"].items()}
    reporting = {
        event: [line for line in lines if "post" in line] for event, lines in found.items()
    }
    return {event: lines[0] for event, lines in reporting.items() if lines}


def samples() -> Iterator[Any]:
    """Yield a recorded payload of each event that a plugin reports."""
    for plugin in make_plugins.HOOKED:
        hooks = json.loads((ROOT / "plugins" / plugin.client / "hooks/hooks.json").read_text())
        known = {}
        for path in sorted((DATA / plugin.client).glob("*.json")):
            sample = json.loads(path.read_text())
            if sample["becomes"]:
                known.setdefault(sample["fields"]["event"], sample)
        for event, line in posts(hooks).items():
            if event in known:
                yield pytest.param(plugin, line, known[event], id=f"{plugin.client}-{event}")


PROMPTS = {"cursor": "beforeSubmitPrompt", "gemini": "BeforeAgent"}
"""What clients call the event of a prompt, where it is not `UserPromptSubmit`."""


def report(command: str, payload: Any) -> None:
    subprocess.run(["sh", "-c", command], input=json.dumps(payload).encode(), check=True)


def begun(sample: Any, client: str, reporting: dict[str, str], store: Store) -> int:
    """Report a prompt before the end of a session, and return the number of events stored."""
    if not sample["fields"]["event"].endswith("essionEnd"):
        return 0
    event = PROMPTS.get(client, "UserPromptSubmit")
    prompt = {**sample["payload"], "hook_event_name": event, "prompt": "go on"}
    report(reporting[event], prompt)
    return store()


Store = Callable[[], int]


@pytest.fixture
def store(home: Home) -> Iterator[Store]:
    """Store what waits in the spool and return the number of events that are stored."""
    with closing(SqliteStore(home.database)) as opened:
        pipeline = Pipeline(
            opened,
            Spool(home.spool),
            settings=Settings(),
            places=PlaceCache(),
            now_ms=lambda: NOW_MS,
        )

        def drain() -> int:
            while pipeline.drain().entries:
                pass
            with opened.read() as reader:
                return len(reader.log())

        yield drain


@pytest.mark.parametrize("is_plugin_first", [True, False])
@pytest.mark.parametrize(("plugin", "line", "sample"), list(samples()))
def test_an_event_of_both_is_one(
    plugin: make_plugins.Hooked,
    line: str,
    sample: Any,
    is_plugin_first: bool,
    home: Home,
    tmp_path: Path,
    store: Store,
) -> None:
    context = InstallContext(
        home=home,
        user_home=home.root.parent,
        observer="/usr/bin/observer",
        environ={},
        folder=tmp_path,
    )
    plan = install(plugin.client, context)
    perform(plan, home, at_ms=NOW_MS)
    written = [
        json.loads(edit.path.read_text()) for edit in plan.edits if edit.path.suffix == ".json"
    ]
    (hooks,) = (each for each in written if "hooks" in each)
    before = begun(sample, plugin.client, posts(hooks), store)
    root = str(ROOT / "plugins" / plugin.client)
    lines = [line.replace(plugin.root, root), posts(hooks)[sample["fields"]["event"]]]
    for command in lines if is_plugin_first else reversed(lines):
        report(command, sample["payload"])
    assert len(list(home.spool.joinpath("new").iterdir())) == 2
    assert store() == before + len(sample["becomes"])
