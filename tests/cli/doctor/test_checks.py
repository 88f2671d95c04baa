"""What doctor checks without a probe: each fault is named with what to do about it."""

from __future__ import annotations

import os
import re
import shutil
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from observer.cli.doctor.diagnosis import (
    Diagnosis,
    apply_fix,
    client_checks,
    clock,
    file_system,
    open_to_others,
    private,
    store_checks,
    watches,
)
from observer.clients import quiet
from observer.clients.config_files.context import InstallContext
from observer.clients.quiet import find_quiet
from observer.clients.registry import clients
from observer.core.errors import ObserverError
from observer.core.model import iso
from observer.core.paths import Home, make_private
from observer.local.spool import Spool
from observer.store.database import SqliteStore
from observer.store.shares import ShareState
from observer.tools.status import Status, Watched
from tests.cli.conftest import Run
from tests.support import put_file

NOW_MS = 1_795_000_000_000
DAY_S = 86_400
MOUNTS = """\
21 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
22 21 0:30 / /home rw shared:2 - nfs4 box:/home rw
23 22 0:31 / /home/ana rw - ext4 /dev/sdb1 rw
24 21 0:32 / /mnt/my\\040disk rw - fuse.sshfs ana@box: rw
25 21 0:33 / /srv rw - ext4 /dev/sdc1 rw
26 21 0:34 / /srv rw - cifs //box/srv rw
"""

Put = Callable[..., None]


def status(**fields: object) -> Status:
    return Status(**fields)  # type: ignore[arg-type]


def test_a_home_on_another_machine_is_found(tmp_path: Path) -> None:
    mounts = tmp_path / "mountinfo"
    mounts.write_text(MOUNTS)
    for folder in ("/var/x", "/home/ana/.observer", "/homes"):
        assert file_system(Path(folder), mounts) == "ext4"
    for folder, found in (("/home/bea", "nfs4"), ("/mnt/my disk/x", "fuse.ss"), ("/srv", "cifs")):
        with pytest.raises(ObserverError, match=found) as wrong:
            file_system(Path(folder), mounts)
        assert "OBSERVER_HOME" in wrong.value.hint


def test_watches_that_run_out_are_found_and_an_unknown_system_is_not_judged(tmp_path: Path) -> None:
    limit = tmp_path / "max_user_watches"
    limit.write_text("8192\n")
    few, many = (status(watched=(Watched(root="/a", folders=n),)) for n in (5, 8000))
    assert watches(few, limit) == "5 folders of 8,192 that inotify allows"
    with pytest.raises(ObserverError, match="8,000 of 8,192") as wrong:
        watches(many, limit)
    assert "sysctl fs.inotify.max_user_watches=524288" in wrong.value.hint
    assert watches(many, tmp_path / "none") == "8,000 folders"

    assert file_system(tmp_path, tmp_path / "none", "/no/mount") == "not known"


def test_a_clock_that_was_set_back_is_found() -> None:
    assert clock(status(last_stored_at=iso(NOW_MS)), at_ms=NOW_MS)
    assert clock(status(), at_ms=NOW_MS)
    with pytest.raises(ObserverError, match=r"2\.0 h in the future"):
        clock(status(last_stored_at=iso(NOW_MS + 7_200_000)), at_ms=NOW_MS)


def test_what_others_can_read_is_found_and_closed(context: InstallContext) -> None:
    here = context.home
    make_private(here.root)
    assert private(here)
    here.token.write_text("x")
    here.token.chmod(0o644)
    here.root.chmod(0o755)
    with pytest.raises(ObserverError, match="open to others"):
        private(here)
    assert str(here.token) in apply_fix("private", context)
    assert open_to_others(here) == []
    assert here.token.stat().st_mode & 0o777 == 0o600


def by_name(checks: object) -> dict[str, Diagnosis]:
    return {one.name: one for one in checks}  # type: ignore[attr-defined]


def test_each_client_is_shown_if_its_file_parses(put: Put, context: InstallContext) -> None:
    put("claude-code")
    (context.user_home / ".zshrc").touch()
    found = by_name(client_checks(context))
    assert found["claude-code"].found == "hooks + MCP; no report yet"
    assert "zsh" in found["clients"].found
    assert found["clients"].is_well
    (context.user_home / ".claude.json").write_text("{")
    found = by_name(client_checks(context))
    assert "claude-code" not in found
    assert "claude-code" in found["clients"].found


def test_a_configuration_that_lost_one_is_mended(put: Put, context: InstallContext) -> None:
    put("claude-code")
    settings = context.user_home / ".claude/settings.json"
    before = settings.read_text()
    settings.write_text(before.replace("post claude-code Stop", "post claude-code Start"))
    found = by_name(client_checks(context))["claude-code"]
    assert not found.is_well
    assert found.hint == "bring it up to date with: observer install claude-code"
    assert "installed claude-code again; the former text is in " in apply_fix(found.fix, context)
    assert by_name(client_checks(context))["claude-code"].is_well
    assert settings.read_text() == before


def test_a_fix_that_fails_says_why(context: InstallContext) -> None:
    put_file(context.user_home / ".claude/settings.json", "{")
    said = apply_fix("install claude-code", context)
    assert said.startswith("not done: install claude-code: ")
    assert "settings.json: not valid JSON" in said


def test_a_damaged_index_and_a_share_out_of_reach_are_found(home: Home) -> None:
    make_private(home.index)
    (home.index / "index.json").write_text('{"epoch": "e", "segments": ["gone"]}')
    found = by_name(store_checks(home, status()))["index"]
    assert (found.found, found.fix) == ("damaged: gone", "index")
    (home.index / "index.json").write_text("{")
    assert by_name(store_checks(home, status()))["index"].found == "damaged: index.json"

    share = ShareState(name="team", url="x", key="k", origin="o", fault="there is no folder x")
    with closing(SqliteStore(home.database)) as store, store.write() as writer:
        writer.put_share(share)
    found = by_name(store_checks(home, status()))["share"]
    assert (found.is_well, found.found) == (False, "team: there is no folder x")


@pytest.mark.slow
def test_a_damaged_index_is_made_anew(context: InstallContext) -> None:
    here = context.home
    Spool(here.spool).prepare()
    SqliteStore(here.database).close()
    make_private(here.index)
    (here.index / "index.json").write_text("{")
    assert apply_fix("index", context) == "had the index made anew"
    assert by_name(store_checks(here, status()))["index"].is_well


def used(context: InstallContext, name: str, days_ago: float) -> None:
    folder = context.user_home / clients()[name].transcripts[0] / "shop"
    put_file(folder / "one.jsonl")
    at_s = time.time() - days_ago * DAY_S
    os.utime(folder / "one.jsonl", (at_s, at_s))


def hooks_since(context: InstallContext, days_ago: float) -> None:
    at_s = time.time() - days_ago * DAY_S
    os.utime(context.home.hooks, (at_s, at_s))


def test_a_client_used_without_an_event_is_found(put: Put, context: InstallContext) -> None:
    put("claude-code")
    hooks_since(context, days_ago=6)
    used(context, "claude-code", days_ago=0.1)
    found = by_name(client_checks(context))["claude-code"]
    assert found.found == ("claude-code sent nothing so far; its own files say you used it 2 h ago")
    assert "restart it" in found.hint


@pytest.mark.parametrize(
    ("since", "last_use"), [(6, 30), (0.2, 0.1), (1, 0.5)], ids=["unused", "new", "within a day"]
)
def test_a_client_that_has_had_nothing_to_say_is_well(
    put: Put, context: InstallContext, since: float, last_use: float
) -> None:
    put("claude-code")
    hooks_since(context, days_ago=since)
    used(context, "claude-code", days_ago=last_use)
    assert by_name(client_checks(context))["claude-code"].is_well


@pytest.mark.parametrize(("days_ago", "is_quiet"), [(3.2, True), (0.5, False)])
def test_a_client_is_quiet_for_as_long_as_its_last_event_is_old(
    put: Put, context: InstallContext, days_ago: float, *, is_quiet: bool
) -> None:
    put("kiro")
    hooks_since(context, days_ago=7)
    used(context, "kiro", days_ago=0)
    at_ms = int(time.time() * 1000)
    last = {"kiro-cli": at_ms - int(days_ago * DAY_S * 1000), "kirov": at_ms}
    found = find_quiet(clients()["kiro"], context, last, at_ms=at_ms)
    assert (found is not None) == is_quiet
    if found:
        assert "kiro sent nothing for 3 d; its own files say you used it" in str(found)


def test_only_plain_files_of_the_client_count(put: Put, context: InstallContext) -> None:
    put("claude-code")
    hooks_since(context, days_ago=6)
    folder = context.user_home / ".claude" / "projects"
    folder.mkdir()
    os.mkfifo(folder / "pipe")
    (folder / "link").symlink_to(context.user_home)
    (context.user_home / "other.jsonl").touch()
    at_ms = int(time.time() * 1000)
    assert find_quiet(clients()["claude-code"], context, {}, at_ms=at_ms) is None


def test_a_client_with_very_many_files_is_looked_at_in_part(
    put: Put, context: InstallContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(quiet, "MOST_ENTRIES", 2)
    put("claude-code")
    shutil.rmtree(context.home.hooks)  # whoever has none has had them for ever
    folder = context.user_home / ".claude" / "projects"
    folder.mkdir()
    for number in range(4):
        (folder / f"{number}.jsonl").touch()
    at_ms = int(time.time() * 1000) + 1000
    found = quiet.find_quiet(clients()["claude-code"], context, {}, at_ms=at_ms)
    assert found is not None
    assert "sent nothing so far" in str(found)


def test_hooks_that_a_client_skips_silently_are_found(context: InstallContext, put: Put) -> None:
    put("codex")
    (found,) = (one for one in client_checks(context) if one.name == "codex")
    assert not found.is_well
    assert "not trusted" in found.found
    assert "/hooks" in found.hint


def test_every_client_with_hooks_can_be_probed() -> None:
    """Else nobody notices when its hooks stop."""
    shown = [one for one in clients().values() if one.installer and one.context_file]
    assert [one.name for one in shown if not one.sample] == []


@pytest.fixture
def damaged(run: Run, home: Home) -> Path:
    """Claude Code with a script that is out of date, and a home that others can enter."""
    run("install", "claude-code")
    (home.hooks / "recall").write_text("#!/bin/sh\n")
    home.root.chmod(0o755)
    return home.hooks / "recall"


def test_fixes_are_done_said_and_checked(run: Run, damaged: Path, home: Home) -> None:
    found = run("doctor", "--quick", "--json").json
    assert (found["is_well"], found["fixed"]) == (False, [])
    shown = run("doctor", "--quick")
    assert shown.code == 1
    assert re.search("WRONG +hooks +out of date: recall; refresh them with: observer", shown.out)
    assert "observer doctor --fix does what is safe" in shown.out
    assert damaged.read_text() == "#!/bin/sh\n"

    done = run("doctor", "--quick", "--fix")
    assert done.code == 0
    assert f"fixed: took the rights of others from {home.root}\n" in done.out
    assert "fixed: refreshed 1 hook script\n" in done.out
    assert "WRONG" not in done.out
    assert home.root.stat().st_mode & 0o077 == 0
    assert "fixed" not in run("doctor", "--quick", "--fix").out
    home.root.chmod(0o755)
    found = run("doctor", "--quick", "--fix", "--json").json
    assert (found["is_well"], len(found["fixed"])) == (True, 1)
