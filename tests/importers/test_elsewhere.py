"""Sessions of folders that are not here, gone or of another system; and in whatever order."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from itertools import permutations
from pathlib import Path

import pytest

from observer.core.config import Settings
from observer.core.model import Item, Place
from observer.importers.run import with_repositories
from observer.importers.source import Problems, events_of, sources
from observer.ingest.append import project_of_commits
from tests.importers.conftest import Filled, Memories, without_tokens
from tests.importers.played import Played, fixed_later


def projects(memory: Filled) -> list[tuple[str, int]]:
    """Return the projects by name, each with how many sessions it has."""
    with memory.store.read() as reader:
        found = [(one.name, len(reader.sessions(project_id=one.id))) for one in reader.projects()]
    return [pair for pair in found if pair[0] != "unassigned" or pair[1]]


def talk(folder: str, session: str, where: Path) -> Path:
    played = Played(Path(folder), session)
    played.cwd = folder
    played.prompt("oil the wheel")
    played.say("It is oiled.")
    return played.write(where)


@pytest.mark.parametrize(
    "folders",
    [
        (r"C:\Users\ana\mill", "/mnt/c/Users/ana/mill", r"c:\users\Ana\mill\src"),
        ("/home/nobody/mill", "/home/nobody/mill/src"),
    ],
)
def test_a_missing_folder_is_a_project_in_all_its_spellings(
    memory: Memories, tmp_path: Path, folders: tuple[str, ...]
) -> None:
    here = memory("here")
    for number, folder in enumerate(folders):
        here.imported(talk(folder, f"s{number}", tmp_path / "files"))
    assert projects(here) == [("mill", len(folders))]


@pytest.fixture
def moved(tmp_path: Path, git: Callable[..., str]) -> tuple[Path, Path]:
    """A repository, and a session that made its commit in a folder that is gone."""
    mill = tmp_path / "mill"
    git(tmp_path, "init", "-q", "mill")
    played = Played(Path("/home/nobody/old-mill"))
    played.prompt("oil the wheel")
    made = datetime.fromtimestamp(played.at_ms / 1000 + 10, UTC).isoformat()
    env = {"GIT_AUTHOR_DATE": made, "GIT_COMMITTER_DATE": made}
    git(mill, "commit", "-q", "--allow-empty", "-m", "Oil the wheel", **env)
    short = git(mill, "rev-parse", "--short", "HEAD").strip()
    said = {"stdout": f"[main {short}] Oil the wheel\n 1 file changed", "stderr": ""}
    played.call("Bash", {"command": "git commit -m 'Oil the wheel'"}, said)
    return mill, played.write(tmp_path / "files")


def test_a_repository_that_turns_up_joins_the_sessions_that_made_its_commits(
    memory: Memories, moved: tuple[Path, Path], tmp_path: Path
) -> None:
    (mill, file), here = moved, memory("here")
    here.imported(file)
    here.imported(talk(str(mill), "s2", tmp_path / "new"))
    assert projects(here) == [("mill", 2)]


def test_without_git_no_repository_joins_anything(
    memory: Memories, moved: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    (mill, file), here = moved, memory("here")
    here.imported(file)
    monkeypatch.setenv("PATH", "")
    with here.store.read() as reader:
        known = reader.projects()
        for place in (Place(root=str(mill), git=True), Place(root=str(mill))):
            assert project_of_commits(reader, place, known) is None


def test_a_session_joins_the_repository_that_has_its_commits(
    memory: Memories, moved: tuple[Path, Path], tmp_path: Path
) -> None:
    (mill, file), here = moved, memory("here")
    here.imported(talk(str(mill), "s2", tmp_path / "new"))
    found = sources()["claude-code"].find([file], Problems())
    events = events_of(sources()["claude-code"], found, Settings(), Problems())
    here.pipeline.ingest(with_repositories(events, [str(tmp_path), str(mill)]))
    assert projects(here) == [("mill", 2)]


def test_a_turn_of_a_channel_is_a_prompt(memory: Memories, shop: Path, tmp_path: Path) -> None:
    played, here = Played(shop), memory("here")
    said = '<channel source="chat">Turn the wheel the other way</channel>'
    played.prompt(said, isMeta=True, origin={"kind": "channel"})
    played.prompt("a note of the client's own", isMeta=True)
    here.imported(played.write(tmp_path))
    assert [one.title for one in here.items() if one.type == "turn"] == [
        "Turn the wheel the other way"
    ]


def linked(filled: Filled) -> list[tuple[object, ...]]:
    """Return what the items say, and to which they lead, apart from their numbers."""
    items = filled.items()
    titles = {item.id: item.title for item in items}

    def shown(item: Item) -> tuple[object, ...]:
        links = sorted(
            (link.kind, titles.get(link.target or 0, ""), link.title) for link in item.links
        )
        return (item.type, item.title, item.narrative, without_tokens(item.facts), links)

    return sorted(map(shown, items), key=repr)


@pytest.mark.measured
@pytest.mark.parametrize("order", [*permutations(range(3))], ids=str)
@pytest.mark.parametrize("heard", [(), (1,)], ids=["imported", "one by hooks"])
def test_sessions_are_linked_in_whatever_order_they_came(
    memory: Memories, shop: Path, tmp_path: Path, order: tuple[int, ...], heard: tuple[int, ...]
) -> None:
    live, mixed = memory("live"), memory("mixed")
    sessions = fixed_later(shop)
    for session in sessions:
        session.spool(live.spool)
    live.live()
    for number in order:
        if number in heard:
            sessions[number].spool(mixed.spool)
            mixed.live()
        else:
            mixed.imported(sessions[number].write(tmp_path))
    assert bool(mixed.out_of_order()) == (order != (0, 1, 2))
    mixed.put_in_order()
    assert not mixed.out_of_order()
    assert linked(mixed) == linked(live)
    assert [title for kind, title, *_ in linked(mixed) if kind == "fix"]
