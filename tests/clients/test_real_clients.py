"""Real clients with a scripted model: what reaches the memory, and what of it the model sees.

Each is skipped where it is not installed: `scripts/record CLIENT` installs it, and those in `PATH`
are used as well.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from recording import session
from recording.__main__ import cache
from recording.programs import PROGRAMS
from recording.scenario import REMINDER

from tests.clients.test_recorded import FAILURELESS, WITHOUT_MCP
from tests.support import Until

pytestmark = pytest.mark.slow
REAL_CACHE = cache()
"""Before a fixture takes the home away."""


@pytest.fixture(params=PROGRAMS)
def client(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def command(client: str) -> Path:
    name = PROGRAMS[client].command
    installed = REAL_CACHE / client / "node_modules" / ".bin" / name
    found = installed if installed.exists() else shutil.which(name)
    return Path(found) if found else pytest.skip(f"the client {client} is not installed")


@pytest.fixture
def at() -> Iterator[session.Place]:
    with session.place() as made:
        yield made._replace(recording=made.home)


def stored(at: session.Place) -> list[str]:
    """Return the titles of the items of a memory."""
    argv = [sys.executable, "-m", "observer", "search", "", "--limit", "50", "--json"]
    here = {**session.environ(at), "OBSERVER_HOME": str(at.home.root)}
    done = subprocess.run(argv, env=here, check=True, capture_output=True, cwd=session.ROOT)
    return [item["title"] for item in json.loads(done.stdout)["observations"]]


def test_a_session_is_remembered_and_the_next_one_makes_use_of_it(
    client: str, command: Path, at: session.Place, until: Until
) -> None:
    session.install(client, at)
    first = session.run(client, command, at, is_mistaken=True)
    assert first.searched() == (client not in WITHOUT_MCP)
    last = "Sum the till" if client in FAILURELESS else "Fixed: "
    until(lambda: any(title.startswith(last) for title in stored(at)))
    second = session.run(client, command, at, is_mistaken=True)
    assert second.shows("# Memory of till")
    assert second.shows(REMINDER) == (client not in FAILURELESS)
