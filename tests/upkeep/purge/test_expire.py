"""What is older than is kept goes, and what is left is what a rebuild makes of the rest."""

from __future__ import annotations

import tempfile
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from observer.core.config import Settings
from observer.core.events import (
    AnyBody,
    Command,
    Commit,
    Event,
    FileChange,
    FileWrite,
    Intent,
    Outcome,
    Prompt,
    Remember,
    SessionEnd,
)
from observer.core.paths import Home
from observer.projects.policy import Policies
from observer.projects.policy.policies import DAY_MS, Retention, asked_for
from observer.store.database import SqliteStore
from observer.store.tombstones import Tombstones
from observer.upkeep.carry_out import complete
from observer.upkeep.take_out import Rederivation, Removal, clean_copies, expire_bad, expired
from tests.ingest.test_rebuild import STEPS, everything
from tests.support import pipeline_over
from tests.upkeep.purge.conftest import NOW_MS, World

SHORT = {"retention_by_type": ("command=10", "prompt=30"), "retention_days": 60}


def gone(world: World, **settings: object) -> list[int]:
    with world.store.read() as reader:
        return sorted(expired(reader, retention(**settings), now_ms=NOW_MS))


def retention(**values: object) -> Retention:
    return Retention(Settings(**values))  # type: ignore[arg-type]  # a test's


def take_out(world: World, due: list[int]) -> int:
    anew = Rederivation(world.home, SqliteStore, world.store, frozenset(due))
    anew.derive()
    return anew.adopt()


@pytest.mark.measured
@given(steps=STEPS, later=STEPS, days=st.lists(st.integers(0, 90), min_size=50, max_size=50))
@settings(max_examples=12, phases=[Phase.explicit, Phase.generate])
def test_what_is_left_is_what_a_rebuild_makes_of_it(
    steps: list[tuple[AnyBody, str]], later: list[tuple[AnyBody, str]], days: list[int]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        world = World(Home(Path(folder)))
        for (body, session), age in zip(steps, sorted(days, reverse=True), strict=False):
            world.tell(body, days=age, session=session)
        due = gone(world, **SHORT)
        anew = Rederivation(world.home, SqliteStore, world.store, frozenset(due))
        anew.derive()
        for body, session in later:
            world.tell(body, days=0, session=session)
        assert anew.adopt() == len(due)
        left = everything(world.store)
        with world.store.read() as reader:
            seqs = {one.seq for one in reader.log()}
            assert not seqs & set(due)
        world.pipeline.rebuild()
        assert everything(world.store) == left
        assert gone(world, **SHORT) == []
        world.store.close()


def test_each_type_has_its_age_and_what_settles_others_the_longest(world: World) -> None:
    world.tell(Prompt(text="mend the cart"), Command(command="ls"), days=20)
    world.tell(FileWrite(path="/x/a.py", content="x"), days=20)
    world.tell(Commit(hash="c0ffee", subject="Mend"), SessionEnd(), days=20)
    world.tell(Command(command="make"), days=1)
    assert gone(world) == []
    assert gone(world, retention_by_type=("command=10",)) == [2]
    assert gone(world, retention_by_type=("command=10", "prompt=0"), retention_days=15) == [2, 3]
    assert gone(world, retention_days=15) == [1, 2, 3, 4, 5]
    assert gone(world, retention_days=15, retention_by_type=("custom=19",)) == [1, 2, 3, 4, 5]
    assert gone(world, retention_days=15, retention_by_type=("custom=21",)) == [1, 2, 3]


def test_an_outcome_goes_with_its_intent(world: World) -> None:
    world.tell(Intent(tool="Bash", of=Command(command="make")), days=20)
    world.tell(Intent(tool="Edit", of=FileWrite(path="/x/a.py")), days=20)
    world.tell(Outcome(tool="Edit"), Outcome(tool="Bash", output="ok"), days=20)
    world.tell(Outcome(tool="Bash", output="of nothing"), days=20)
    assert gone(world, retention_by_type=("command=10",)) == [1, 4, 5]


def test_notes_never_go_by_age(world: World) -> None:
    world.tell(Remember(content="use tabs"), Prompt(text="go on"), days=900)
    assert gone(world, retention_days=1) == [2]
    assert take_out(world, [2]) == 1
    assert [item.kind for item in everything(world.store)[0]] == ["note", "summary"]


def test_a_repository_s_own_days_can_only_shorten(world: World, tmp_path: Path) -> None:
    for name in ("short", "long"):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "pyproject.toml").touch()
        world.tell(Prompt(text=f"in {name}"), days=20, session=name, cwd=str(folder))
        world.tell(Prompt(text=f"in {name}"), days=40, session=name + "2", cwd=str(folder))
    own = (f"{tmp_path}/short=10", f"{tmp_path}/long=90")
    assert gone(world, retention_by_folder=own) == [1, 2]
    assert gone(world, retention_days=30, retention_by_folder=own) == [1, 2, 4]


def test_a_policy_deletes_nothing_without_the_user(world: World, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / ".observer.toml").write_text("retention_days = 10\n")
    world.tell(Prompt(text="of before"), days=20, cwd=str(tmp_path))
    assert gone(world) == []
    policies, asked = Policies(), f"retention_by_folder /other=5 {tmp_path}=10"
    settings = Settings(retention_by_folder=("/other=5", f"{tmp_path}=30"))
    assert asked_for(policies, [str(tmp_path)], settings) == asked
    agreed = Settings(retention_by_folder=(f"{tmp_path}=10",))
    assert asked_for(policies, [str(tmp_path), "/other"], agreed) == ""


def test_what_stays_keeps_its_vectors(world: World) -> None:
    world.tell(Prompt(text="mend the old cart"), days=40, session="s1")
    world.tell(Prompt(text="paint the new barn"), days=1, session="s2")
    with world.store.write() as writer:
        items = list(writer.all_items())
        writer.put_vectors("m", {item.id: b"\1" * 8 for item in items})
    take_out(world, gone(world, retention_days=30))
    with world.store.read() as reader:
        assert reader.vectors() == {"m": len(list(reader.all_items()))}
        assert reader.vectors()["m"] < len(items)
        assert reader.changes(after=0, model="m", limit=9)[0].vector is not None


def test_a_copy_loses_what_is_expired_and_is_derived_when_it_is_used(world: World) -> None:
    world.tell(Prompt(text="mend the zebrafink"), days=40, session="s1")
    world.tell(Prompt(text="paint the barn"), days=1, session="s2")
    copy = world.home.backups / "observer-auto-1.db"
    world.store.backup(copy)
    world.store.close()
    rule, marks = retention(retention_days=30), Tombstones(world.home.tombstones)
    what = Removal(marks, retention=rule, now_ms=NOW_MS)
    became = clean_copies(world.home, SqliteStore, what)
    assert became == {copy.name: "rewritten, 1 events fewer"}
    assert b"zebrafink" not in copy.read_bytes()
    world.home.database.unlink()
    copy.replace(world.home.database)
    complete(world.home, SqliteStore)
    with closing(SqliteStore(world.home.database)) as store:
        titles = [item.title for item in everything(store)[0]]
    assert any("barn" in title for title in titles)


def test_what_could_not_be_read_goes_when_anything_of_its_age_does(home: Home) -> None:
    bad = home.spool / "bad"
    bad.mkdir(parents=True)
    (bad / "1").write_bytes(b"old")
    written_ms = int((bad / "1").stat().st_mtime * 1000)
    later_ms = written_ms + 31 * DAY_MS
    assert expire_bad(home, retention(retention_by_type=("command=1",)), now_ms=later_ms) == 0
    assert expire_bad(home, retention(retention_days=40), now_ms=later_ms) == 0
    assert expire_bad(home, retention(retention_days=30), now_ms=later_ms) == 1
    assert not list(bad.iterdir())


def test_an_event_older_than_is_kept_is_refused_and_counted(home: Home, tmp_path: Path) -> None:
    app = tmp_path / "app"
    app.mkdir()
    (app / "pyproject.toml").touch()
    body = Commit(hash="c0ffee", subject="Begin", files=(FileChange(path="a"),))
    old = Event(id="a", at_ms=NOW_MS - 20 * DAY_MS, client="git", body=body)
    here = Event(id="b", at_ms=old.at_ms, client="c", body=Prompt(text="x y"), cwd=str(app))
    note = Event(id="n", at_ms=old.at_ms, client="c", body=Remember(content="tabs"))
    with closing(SqliteStore(home.database)) as store:
        limits = Settings(retention_by_folder=(f"{app}=15",))
        pipeline = pipeline_over(store, home, NOW_MS, settings=limits)
        receipts = pipeline.ingest([old, here, note])
    assert [one.is_expired for one in receipts] == [False, True, False]
