"""What an earlier set of rules let through is redacted as if it came today, everywhere."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from observer.core.events import Command, Edit, Event, FileWrite, Prompt
from observer.core.model import Project, Recorded
from observer.core.paths import Home
from observer.ingest.projection import rebuild
from observer.local.spool import Spool
from observer.store.database import SqliteStore
from observer.store.writer import Writer
from observer.upkeep.carry_out import PurgeOrder, begin
from observer.upkeep.redact import redact_log, secrets_in
from tests.support import Observer, Until
from tests.upkeep.purge.conftest import holding

pytestmark = pytest.mark.slow

SECRET = "ghp_" + "Zk93" * 9
NOW_MS = 1_790_000_000_000


def plant(writer: Writer, root: str = "/x", *, branch: str = "main") -> None:
    """Store events as they would be without any rule."""
    bodies = (
        Prompt(text=f"why is {SECRET} refused by the login page?"),
        Command(command="make deploy", output=f"error: bad token {SECRET}", exit_code=2),
        FileWrite(path=f"{root}/cart.py", edits=(Edit(old="a", new=f"t = '{SECRET}'"),)),
        Prompt(text="where is the badger?"),
    )
    project_id = max(project.id for project in writer.projects()) + 1
    name = f"app-{SECRET}"
    uuid = f"0197c2f1-0000-7000-8000-{project_id:012x}"
    writer.put_project(Project(id=project_id, uuid=uuid, name=name, roots=(root,), created_ms=1))
    session_id = writer.next_seq()
    for seq, body in enumerate(bodies, start=session_id):
        known = {"at_ms": NOW_MS + seq, "client": "c", "session": "s9", "cwd": root}
        place = {"project_id": project_id, "root": root, "branch": branch, "commit": "c0ffee"}
        event = Event(id=f"old-{seq}", body=body, **known)
        recorded = Recorded(seq=seq, event=event, session_id=session_id, **place)
        assert writer.append(recorded, stored_ms=NOW_MS)
    rebuild(writer)


@pytest.fixture
def leaky(home: Home, within: Observer, app: Path) -> Home:
    """A home in which the secret stands wherever it can."""
    within("up")
    within("remember", "Tests need Redis")
    within("down")
    store = SqliteStore(home.database)
    with store.write() as writer:
        plant(writer, str(app), branch=f"fix/{SECRET}")
    store.close()
    spool = Spool(home.spool)
    spool.prepare()
    (home.spool / "bad" / "1").write_bytes(b"client=x\0" + SECRET.encode())
    (home.spool / "bad" / "1.reason").write_text(f"cannot be decoded: {SECRET}")
    (home.spool / "tmp" / "killed").write_bytes(f"client=x\0token={SECRET}".encode())
    (home.logs / "daemon.log").write_text(SECRET)
    within("backup")
    within("up")
    within("context")
    within("down")
    assert len(holding(home, SECRET)) >= 6
    return home


def redact(within: Observer, *words: str) -> Any:
    ran = within("purge", "--secrets", "--json", *words)
    assert ran.returncode == 0, ran.stderr
    assert SECRET not in ran.stdout + ran.stderr
    return json.loads(ran.stdout)


def test_a_secret_that_was_let_through_stands_in_no_byte_of_the_home(
    leaky: Home, within: Observer
) -> None:
    before = leaky.database.read_bytes()
    ran = within("purge", "--secrets", "--dry-run")
    assert " events with secrets: " in ran.stdout
    assert "github" in ran.stdout
    assert SECRET not in ran.stdout + ran.stderr
    seen = redact(within, "--dry-run")
    assert leaky.database.read_bytes() == before
    assert seen["files"] == {"spool/bad": 2, "spool/tmp": 1}
    receipt = redact(within, "--yes")
    assert receipt["redacted_events"] == seen["events"] >= 4
    assert receipt["redacted"] == seen["secrets"]
    (became,) = receipt["backups"].values()
    assert became == "rewritten, 0 events fewer, 4 redacted"
    assert holding(leaky, SECRET) == []
    assert "badger" in within("search", "badger", "--type", "turn", "--all").stdout
    assert "[redacted:" in within("search", "login", "--all").stdout
    assert "Redis" in within("search", "redis").stdout
    store = SqliteStore(leaky.database, read_only=True)
    assert store.check() == "ok"
    with store.read() as reader:
        assert reader.damaged() == []
    store.close()
    assert redact(within, "--yes")["redacted_events"] == 0


def test_what_was_begun_is_finished_at_the_next_start(
    leaky: Home, within: Observer, until: Until
) -> None:
    begin(leaky, PurgeOrder(seqs=(), redacts=True))
    within("up")
    until(lambda: "badger" in within("search", "badger", "--type", "turn", "--all").stdout)
    within("down")
    assert holding(leaky, SECRET) == []


def test_a_rebuild_redacts_first(leaky: Home, within: Observer) -> None:
    ran = within("doctor", "--rebuild")
    assert "events redacted first" in ran.stdout
    assert holding(leaky, SECRET) == []
    assert json.loads(within("doctor", "--rebuild", "--json").stdout)["redacted"] == 0


def test_an_event_keeps_all_but_its_secret(home: Home) -> None:
    store = SqliteStore(home.database)
    with store.write() as writer:
        plant(writer)
        before = writer.log()
        shown = secrets_in(writer)
        assert redact_log(writer) == shown
        after = writer.log()
        assert not redact_log(writer)
        assert writer.damaged() == []
    store.close()
    assert shown.events == 3
    assert [(one.seq, one.event.id, one.event.at_ms, one.root) for one in before] == [
        (one.seq, one.event.id, one.event.at_ms, one.root) for one in after
    ]
    assert after[3] == before[3]
    assert isinstance(after[1].event.body, Command)
    assert after[1].event.body.output == "error: bad token [redacted:github-token]"


def test_a_damaged_event_is_redacted_and_stays_damaged(home: Home) -> None:
    store = SqliteStore(home.database)
    with store.write() as writer:
        plant(writer)
        writer._connection.execute(
            "UPDATE event SET data = substr(data, 1, length(data) - 3) WHERE seq = 2"
        )
        redact_log(writer)
        (damage,) = writer.damaged()
        rows = writer._connection.execute("SELECT data FROM event").fetchall()
    store.close()
    assert "event 2 is damaged" in damage.message
    assert SECRET not in str(rows)
