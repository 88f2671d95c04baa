"""One session of a real client in a home of its own, and what its hooks reported."""

from __future__ import annotations

import os
import re
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from observer.clients.envelope import Envelope, parse
from observer.clients.registry import clients
from observer.core.paths import Home
from observer.local.spool import Spool
from recording import standin
from recording.programs import PROGRAMS
from recording.scenario import CONTEXT, FILES, PROMPT, steps

MOST_S = 300
ROOT = Path(__file__).parents[2]
USER_HOME, PROJECT = "/home/ana", "/home/ana/till"
"""What stands in a recording for the folders of the machine that made it."""


_LONG = re.compile(r'"((?:[^"\\]|\\.){60})(?:[^"\\]|\\.){940,}"')
_MILLISECONDS = re.compile(r"\b1[78]\d{11}\b")
_DATE = re.compile(r"\b20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{3})?Z")


class Place(NamedTuple):
    """Where a session runs.

    Hooks and MCP server are of `home`, which has a daemon; what hooks report goes to `recording`.
    """

    user_home: Path
    project: Path
    home: Home
    recording: Home


@contextmanager
def place() -> Iterator[Place]:
    """Make a user's home with a project that is a git repository, and remove both at the end."""
    with tempfile.TemporaryDirectory(prefix="recording-") as folder:
        user = Path(folder).resolve() / "user"
        made = Place(user, user / "till", Home(user / "memory"), Home(user / "recorded"))
        made.project.mkdir(parents=True)
        for name, text in FILES.items():
            (made.project / name).write_text(text)
        for words in (("init", "-q"), ("add", "-A"), ("commit", "-qm", "Add a till")):
            subprocess.run(["git", *words], cwd=made.project, env=environ(made), check=True)
        try:
            yield made
        finally:
            observer(made, "down")


def observer(at: Place, *words: str) -> None:
    """Run our command on the home that serves the memory."""
    here = {**environ(at), "PYTHONPATH": str(ROOT), "OBSERVER_HOME": str(at.home.root)}
    argv = [sys.executable, "-m", "observer", *words]
    subprocess.run(argv, env=here, check=True, capture_output=True)


def environ(at: Place) -> dict[str, str]:
    """Return the environment of the client: nothing of an agent that runs this."""
    kept = {name: os.environ[name] for name in ("LANG", "SSL_CERT_FILE") if name in os.environ}
    author = {f"GIT_{role}_NAME": "Ana" for role in ("AUTHOR", "COMMITTER")}
    address = {f"GIT_{role}_EMAIL": "ana@example.com" for role in ("AUTHOR", "COMMITTER")}
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    return {**kept, **author, **address, "PATH": path, "HOME": str(at.user_home)}


def install(client: str, at: Place) -> None:
    """Install our hooks and MCP server for a client, and start the daemon.

    Without it a client may ask its model before the memory's tools are there.
    """
    observer(at, "install", client)
    observer(at, "up")


def offer_context(client: str, at: Place) -> None:
    """Write what the session-start hook prints into `at.recording`, as the daemon would."""
    Spool(at.recording.spool).prepare()
    folder = at.recording.root / "context" / "by-path"
    folder.mkdir(parents=True)
    (folder / "CONTEXT.md").write_text(CONTEXT)
    record = clients()[client]
    if record.context_file:
        wrap = record.wrap_context or str.encode
        (folder / record.context_file).write_bytes(wrap(CONTEXT))


def run(client: str, command: Path, at: Place, *, is_mistaken: bool = False) -> standin.StandIn:
    """Lead a client through the session and return the model that it asked.

    Raises:
        subprocess.CalledProcessError: the client failed; holds what it printed.
    """
    program = PROGRAMS[client]
    with standin.serving(steps(at.project, is_mistaken=is_mistaken)) as model:
        if program.configure:
            program.configure(at.user_home, model.url)
        here = environ(at)
        given = {name: text.format(url=model.url) for name, text in program.environ.items()}
        # What npm has put beside the client, such as a Node.js of its own, comes first.
        given["PATH"] = f"{command.parent}:{here['PATH']}"
        subprocess.run(
            [
                str(command),
                *(word.format(prompt=PROMPT, url=model.url) for word in program.arguments),
            ],
            cwd=at.project,
            env={**here, **given, "OBSERVER_HOME": str(at.recording.root)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=True,
            timeout=MOST_S,
        )
    return model


def reports(at: Place) -> Iterator[Envelope]:
    """Yield what hooks have spooled into `at.recording`, in its order."""
    for entry in Spool(at.recording.spool).claim(at_most=10_000):
        yield parse(entry.id, entry.data, entry.at_ms)


def scrubbed(report: Envelope, at: Place, *, by_ms: int) -> Mapping[str, Any]:
    """Return a report as JSON, moved in time, with nothing of the machine in it that made it."""
    shown = {
        "event": report.event,
        "at": report.at_ms,
        "cwd": report.cwd,
        "args": list(report.args),
        "env": dict(report.env),
        "payload": orjson.loads(report.payload or b"{}"),
    }
    found: Mapping[str, Any] = orjson.loads(
        _scrubbed(orjson.dumps(shown).decode(), at, by_ms=by_ms)
    )
    return found


def kept(client: str, at: Place, *, by_ms: int) -> Iterator[tuple[str, str]]:
    """Yield the files in which a client has kept the session: path below the home, and text.

    Of a database it is the SQL that makes its tables. What the client tells its model is left out.
    """
    program = PROGRAMS[client]
    for path in sorted(each for one in program.sessions for each in at.user_home.glob(one)):
        text = _sql(path, program.tables) if program.tables else path.read_text(encoding="utf-8")
        lines = text.splitlines(keepends=True)
        text = "".join(line for line in lines if not any(map(line.__contains__, program.omits)))
        text = _LONG.sub(r'"\1…"', _scrubbed(text, at, by_ms=by_ms))
        name = _scrubbed(str(path.relative_to(at.user_home)), at, by_ms=by_ms)
        yield (f"{name}.sql" if program.tables else name), text


def _sql(path: Path, tables: tuple[str, ...]) -> str:
    marks = tuple(f"{quote}{name}{quote}" for name in tables for quote in '"`')
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as database:
        lines = [line for line in database.iterdump() if any(mark in line[:100] for mark in marks)]
    return "\n".join(lines) + "\n"


def _scrubbed(text: str, at: Place, *, by_ms: int) -> str:
    for folder, stand_in in (
        (at.project, PROJECT),
        (at.user_home, USER_HOME),
        (Path(sys.executable).parent, f"{USER_HOME}/.observer/venv/bin"),
    ):
        text = text.replace(str(folder), stand_in)
        # Claude Code and others make a name of a path.
        text = text.replace(_as_name(str(folder)), _as_name(stand_in))
    text = _MILLISECONDS.sub(lambda found: str(int(found[0]) + by_ms), text)
    return _DATE.sub(lambda found: _moved(found[0], by_ms), text)


def _moved(date: str, by_ms: int) -> str:
    moment = datetime.fromisoformat(date) + timedelta(milliseconds=by_ms)
    return moment.isoformat(timespec="milliseconds" if "." in date else "seconds").replace(
        "+00:00", "Z"
    )


def _as_name(path: str) -> str:
    return re.sub(r"[^A-Za-z0-9]", "-", path)
