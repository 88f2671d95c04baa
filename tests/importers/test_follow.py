"""Following sessions: each is read again while it goes on, once a minute, and at its end."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from observer.core.config import Settings
from observer.importers.run import FinishedImports, Follower
from observer.importers.source import FoundSession, Problems, SessionSource, events_of, sources
from tests.importers.conftest import Memories
from tests.importers.played import Played, fixed_bug

MINUTE = 60_000
IDLE = 30 * MINUTE


class Watched:
    """A folder of transcripts that is followed, and what is found there at a time."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "projects"
        self.folder.mkdir()
        self.found: list[list[Path]] = []
        source = sources()["claude-code"]

        def find(paths: tuple[Path, ...], problems: Problems) -> list[FoundSession]:
            self.found.append(list(paths))
            return source.find(paths, problems)

        self.finished = FinishedImports(folder / "imports.json")
        self.source: SessionSource = source._replace(find=find)
        self.follower = Follower(
            self.source, [self.folder], self.finished, since_ms=0, idle_ms=IDLE
        )

    def due(self, at_ms: int) -> list[str]:
        return [one.id for one in self.follower.look(at_ms).new]

    def write(self, played: Played) -> int:
        """Write a session; return the time of its last record."""
        played.write(self.folder)
        return played.at_ms


@pytest.fixture
def watched(tmp_path: Path) -> Watched:
    return Watched(tmp_path)


def test_a_session_is_read_while_it_goes_on_and_at_its_end(watched: Watched, shop: Path) -> None:
    played = fixed_bug(shop)
    last = watched.write(played)
    assert watched.due(last + 1) == ["s1"]
    played.prompt("and the taxes?")
    last = watched.write(played)
    assert watched.due(last) == []
    assert watched.due(last + MINUTE) == ["s1"]
    assert watched.due(last + 2 * MINUTE) == []
    assert watched.due(last + IDLE) == ["s1"]
    assert watched.due(last + 9 * IDLE) == []
    played.at_ms = last + 9 * IDLE
    played.prompt("and then?")
    last = watched.write(played)
    assert watched.due(last + 1) == watched.due(last + MINUTE) == ["s1"]


def test_only_what_has_changed_is_looked_at(watched: Watched, shop: Path) -> None:
    one, other = fixed_bug(shop, "s1"), fixed_bug(shop, "s2")
    last = max(watched.write(one), watched.write(other)) + 9 * IDLE
    assert watched.due(last) == ["s1", "s2"]
    (watched.folder / "notes.md").write_text("not a transcript")
    one.at_ms = last
    one.prompt("again")
    watched.write(one)
    assert watched.due(last + MINUTE) == ["s1"]
    assert watched.found[1:] == [[watched.folder / "s1.jsonl"]]
    assert watched.due(last + 9 * IDLE) == ["s1"]
    watched.write(fixed_bug(shop, "s3"))
    assert watched.due(last + 9 * IDLE) == ["s3"]
    assert watched.found[-1] == [watched.folder]


def test_what_was_imported_or_is_too_old_is_left_out(watched: Watched, shop: Path) -> None:
    last = watched.write(fixed_bug(shop))
    (one,) = watched.source.find([watched.folder], Problems())
    watched.finished.add("claude-code", {"s1": one.fingerprint()})
    assert watched.due(last + IDLE) == []
    late = Follower(
        watched.source, [watched.folder], FinishedImports(Path()), since_ms=last + 1, idle_ms=IDLE
    )
    assert late.look(last + IDLE).new == []


@pytest.mark.parametrize(
    "change", ["truncate -s 900 $1", "gzip $1", "cp $1 $1.new; mv $1.new $1", "rm $1"]
)
def test_a_file_that_is_cut_packed_replaced_or_gone_changes_nothing(
    watched: Watched, memory: Memories, shop: Path, change: str
) -> None:
    known = memory("one")
    played = fixed_bug(shop)
    last = watched.write(played)

    def take(at_ms: int) -> None:
        due = watched.follower.look(at_ms).new
        known.pipeline.ingest(events_of(watched.source, due, Settings(), Problems()))

    take(last + 9 * IDLE)
    before = known.items()
    subprocess.run(["sh", "-c", change, "sh", watched.folder / "s1.jsonl"], check=True)
    take(last + 10 * IDLE)
    assert known.items() == before
