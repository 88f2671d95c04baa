"""Links and signatures of items."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import apsw
import pytest
from msgspec.structs import replace

from observer.core.events import Commit, Event
from observer.core.filters import Filters
from observer.core.model import Item, Link, Project, Recorded, item_id, item_uuid
from observer.store.database import SqliteStore
from observer.store.interface import Store
from observer.store.migrations import migrations
from observer.store.pages import VFS
from observer.store.rows import marks
from tests.store.conftest import put

FIXES, EVIDENCE = Link(kind="fixes", target=4), Link(kind="evidence", target=8)
WIKI = Link(kind="wiki", title="Lock order")


@pytest.fixture
def store(store: SqliteStore) -> SqliteStore:
    with store.write() as writer:
        writer.put_project(Project(id=2, uuid="u", name="n"))
    return store


def an_item(seq: int, *links: Link, signature: str = "", project_id: int | None = 1) -> Item:
    return Item(
        id=item_id(seq),
        uuid=item_uuid(f"event-{seq}", seq),
        kind="observation",
        type="fix",
        title="x",
        links=links,
        signature=signature,
        project_id=project_id,
        created_ms=1000 * seq,
    )


def linked_to(store: Store, *ids: int) -> list[tuple[int, Link]]:
    with store.read() as reader:
        return reader.linked_to(ids)


def with_signature(
    store: Store, signature: str, filters: Filters | None = None, *, limit: int = 9
) -> list[int]:
    with store.read() as reader:
        found = reader.with_signature(signature, filters or Filters(), limit=limit)
    return [item.id for item in found]


def test_a_link_is_found_from_its_target_while_its_item_has_it(store: Store) -> None:
    put(store, an_item(3, FIXES, EVIDENCE, WIKI), an_item(4, FIXES))
    assert linked_to(store, 8, 4) == [(12, FIXES), (12, EVIDENCE), (16, FIXES)]
    assert linked_to(store, 0) == linked_to(store) == []
    put(store, an_item(3, EVIDENCE))
    assert linked_to(store, 4, 8) == [(12, EVIDENCE), (16, FIXES)]
    put(store, replace(an_item(3, EVIDENCE), deleted_ms=1))
    assert linked_to(store, 8) == []


@pytest.mark.parametrize(
    ("signature", "filters", "ids"),
    [
        pytest.param("boom", Filters(), [20, 12, 4], id="everywhere, newest first"),
        pytest.param("boom", Filters(project_id=1), [4], id="in a project"),
        pytest.param("boom", Filters(project_id=1, with_global=True), [20, 4], id="and in none"),
        pytest.param("boom", Filters(since_ms=2000, until_ms=4000), [12], id="at a time"),
        pytest.param("", Filters(), [], id="no error"),
        pytest.param("bo", Filters(), [], id="the whole signature"),
    ],
)
def test_the_same_error_is_found_again(
    store: Store, signature: str, filters: Filters, ids: list[int]
) -> None:
    put(store, an_item(1, signature="boom"), an_item(2), an_item(4, signature="bang"))
    put(store, an_item(5, signature="boom", project_id=None))
    put(store, an_item(3, signature="boom", project_id=2))
    assert with_signature(store, signature, filters) == ids
    assert with_signature(store, signature, filters, limit=1) == ids[:1]


def test_commits_are_found_by_hash_among_what_came_before(store: Store) -> None:
    with store.write() as writer:
        for seq, (name, project_id) in enumerate((("aa", 1), ("bb", 1), ("aa", 2)), 1):
            body = Commit(hash=name)
            event = Event(id=f"e{seq}", at_ms=1, client="git", body=body, dedup=f"commit:{name}")
            writer.append(Recorded(seq=seq, event=event, project_id=project_id), stored_ms=1)
        assert writer.commits(1, ["aa", "bb", "cc"], before=9) == {"aa": 4, "bb": 8}
        assert writer.commits(1, ["aa", "bb"], before=2) == {"aa": 4}
        assert writer.commits(1, [], before=9) == {}
        assert writer.commits(1, ["aa", "bb"], before=1) == {}


def test_a_story_is_kept_until_the_projection_is_cleared(store: Store) -> None:
    with store.write() as writer:
        assert writer.project_state(1) == b""
        writer.put_project_state(1, b"one")
        writer.put_project_state(1, b"two")
        assert (writer.project_state(1), writer.project_state(2)) == (b"two", b"")
        writer.clear_projection()
        assert writer.project_state(1) == b""


def test_a_database_without_a_story_gets_one_and_titles_keys(tmp_path: Path) -> None:
    path = tmp_path / "observer.db"
    SqliteStore(path, steps=migrations()[:1]).close()
    with closing(apsw.Connection(str(path), vfs=VFS)) as old:
        columns = {
            name: "[]" if name in {"facts", "concepts", "files_read", "files_modified"} else ""
            for _, name, _, required, default, _ in old.execute("PRAGMA table_info(item)")
            if required and default is None
        }
        values = columns | {"id": 4, "uuid": "u", "kind": "note", "title": "Über uns", "change": 1}
        values |= {"scope": "project", "layer": "past", "folded": 1, "discovery_tokens": 0}
        values |= {"created_ms": 5, "updated_ms": 5}
        old.execute(
            f"INSERT INTO item ({', '.join(values)}) VALUES ({marks(len(values))})",
            tuple(values.values()),
        )
    with closing(SqliteStore(path)) as store:
        with store.read() as reader:
            (item,) = reader.titled("über UNS", Filters())
        assert (item.title, item.links, item.signature) == ("Über uns", (), "")
        put(store, replace(item, links=(FIXES,), signature="boom"))
        assert (linked_to(store, 4), with_signature(store, "boom")) == ([(4, FIXES)], [4])
