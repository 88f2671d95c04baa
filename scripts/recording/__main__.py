"""`scripts/record CLIENT…`: run real clients and write what they reported to `tests/data/recorded`.

The files in which they keep the session go to `tests/data/sessions`.

Each is installed from npm into a folder of the cache (`OBSERVER_CLIENTS` names another), and runs
with a stand-in for its model; nothing but npm is reached over the network.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

from recording import session
from recording.programs import PROGRAMS
from recording.scenario import CONTEXT, REMINDER

RECORDED = session.ROOT / "tests" / "data" / "recorded"
SESSIONS = session.ROOT / "tests" / "data" / "sessions"
BEGUN_MS = 1_780_000_000_000
"""When every recorded session began, as its files say."""


def main() -> None:
    """Record the clients that the command line names."""
    parser = argparse.ArgumentParser(prog="scripts/record", description=__doc__.split("\n\n")[0])
    parser.add_argument("clients", nargs="+", choices=PROGRAMS, metavar="CLIENT")
    parser.add_argument("--version", default="latest", help="version at npm")
    options = parser.parse_args()
    for client in options.clients:
        command = installed(client, options.version)
        with session.place() as at:
            print(f"{client} {version(command)}: {record(client, command, at)}")


def cache() -> Path:
    """Return the folder of installed clients."""
    usual = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "observer-clients"
    return Path(os.environ.get("OBSERVER_CLIENTS") or usual)


def installed(client: str, version: str) -> Path:
    """Install a client from npm, unless it is there, and return its command."""
    program = PROGRAMS[client]
    folder = cache() / client
    folder.mkdir(parents=True, exist_ok=True)
    command = folder / "node_modules" / ".bin" / program.command
    if version != "latest" or not command.exists():
        words = ["npm", "install", "--no-audit", "--no-fund", f"{program.package}@{version}"]
        subprocess.run([*words, "--prefix", str(folder)], check=True)
    return command


def version(command: Path) -> str:
    """Return the version that a client says of itself."""
    said = subprocess.run([command, "--version"], capture_output=True, text=True, check=True)
    # Pi says it where others complain.
    found = re.search(r"\d+\.\d+\.\d+", said.stdout or said.stderr)
    return found[0] if found else said.stdout.strip()


def record(client: str, command: Path, at: session.Place) -> str:
    """Run a session, write its recording and its files, and say what it holds."""
    session.install(client, at)
    session.offer_context(client, at)
    model = session.run(client, command, at)
    found = list(session.reports(at))
    by_ms = BEGUN_MS - found[0].at_ms
    reports = [session.scrubbed(report, at, by_ms=by_ms) for report in found]
    files = list(session.kept(client, at, by_ms=by_ms))
    shown = {
        "version": version(command),
        "context": model.shows(CONTEXT),
        "search": model.searched(),
        "reminder": has_reminded(client, command, at),
        "reports": reports,
    }
    RECORDED.mkdir(exist_ok=True)
    text = json.dumps(shown, indent=1, ensure_ascii=False)
    (RECORDED / f"{client}.json").write_text(f"{text}\n", encoding="utf-8")
    shutil.rmtree(SESSIONS / client, ignore_errors=True)
    for name, text in files:
        path = SESSIONS / client / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return f"{len(reports)} reports, " + ", ".join(
        f"{what} {shown[what]}" for what in ("context", "search", "reminder")
    )


def has_reminded(client: str, command: Path, at: session.Place) -> bool:
    """Run two sessions that make one mistake, and return True if the second was reminded of it."""
    remembering = at._replace(recording=at.home)
    session.run(client, command, remembering, is_mistaken=True)
    return session.run(client, command, remembering, is_mistaken=True).shows(REMINDER)


if __name__ == "__main__":
    main()
