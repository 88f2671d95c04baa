"""What a store promises of events, items, words, vectors, projects and sessions."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from observer.core.errors import BadInput
from observer.core.events import AnyBody, Command, Event, FileWrite, Intent, Prompt
from observer.core.filters import Filters
from observer.core.model import (
    UNASSIGNED,
    Enrichment,
    Item,
    ItemChange,
    Link,
    Project,
    Recorded,
    Session,
    SummaryFields,
    item_id,
    item_uuid,
)
from observer.store.interface import Store
from tests.store.conftest import put


def an_item(seq: int = 1, **fields: object) -> Item:
    item = Item(
        id=item_id(seq),
        uuid=item_uuid(f"event-{seq}", 1_732_000_000_000 + seq),
        kind="observation",
        type="command",
        title="Ran pytest",
        project_id=UNASSIGNED,
        created_ms=1000 * seq,
        updated_ms=1000 * seq,
    )
    return msgspec.structs.replace(item, **fields)


def recorded(seq: int = 1, *, dedup: str = "", project_id: int = UNASSIGNED) -> Recorded:
    event = Event(
        id=f"event-{seq}", at_ms=1000 * seq, client="x", body=Command(command="ls"), dedup=dedup
    )
    return Recorded(seq=seq, event=event, project_id=project_id, session_id=1, root="/r")


def a_session(session_id: int = 1, **fields: object) -> Session:
    session = Session(id=session_id, external="s", client="x", project_id=UNASSIGNED, last_ms=5)
    return msgspec.structs.replace(session, **fields)


def found(store: Store, expression: str, **filters: object) -> list[int]:
    with store.read() as reader:
        return reader.match(expression, Filters(**filters), limit=20)  # type: ignore[arg-type]  # table of cases


def vector(number: int) -> bytes:
    return bytes([number, 0, 0, 0])


def changes(store: Store, *, after: int = 0, model: str = "m") -> list[ItemChange]:
    with store.read() as reader:
        return reader.changes(after=after, model=model, limit=50)


@pytest.mark.parametrize(
    ("first", "second", "stored"),
    [
        pytest.param(recorded(1), recorded(2), True, id="different"),
        pytest.param(recorded(1), recorded(1), False, id="same-id"),
        pytest.param(recorded(1, dedup="d"), recorded(2, dedup="d"), False, id="same-happening"),
        pytest.param(
            recorded(1, dedup="d"), recorded(2, dedup="d", project_id=2), True, id="in-two-projects"
        ),
        pytest.param(
            recorded(1, dedup=f"a{'d' * 20}"),
            recorded(2, dedup=f"b{'d' * 20}"),
            True,
            id="same-end",
        ),
    ],
)
def test_an_event_comes_back_as_it_was_stored_but_a_known_one_is_not_stored_twice(
    store: Store, first: Recorded, second: Recorded, *, stored: bool
) -> None:
    mine = Project(id=2, uuid="u", name="n", roots=("/a",), remotes=("h/o/n",), created_ms=5)
    with store.write() as writer:
        writer.put_project(mine)
        assert writer.append(first, stored_ms=7)
        assert writer.append(second, stored_ms=7) is stored
        assert writer.known(second) == (second if stored else first).event.id
    with store.read() as reader:
        assert reader.log() == [first, second][: 1 + stored]
        assert reader.totals().last_stored_ms == 7
        projects = reader.projects()
    assert (projects[0].id, projects[0].name, projects[1]) == (UNASSIGNED, "unassigned", mine)


def test_items_come_back_as_they_were_stored_in_the_order_asked_for(store: Store) -> None:
    item = an_item(
        facts=("a", "b"),
        concepts=("c",),
        files_read=("x y",),
        files_modified=("z,1",),
        summary=SummaryFields(request="why"),
        links=(Link(kind="fixes", target=4), Link(kind="wiki", title="Lock order")),
        signature="AssertionError: total",
        enrichment=Enrichment(model="m", at_ms=2, as_of_ms=1, concepts=("race",)),
        confidence=0.5,
        stale_ms=3,
    )
    put(store, item, an_item(2))
    with store.read() as reader:
        assert reader.items([8, 99, 4]) == [an_item(2), item]


def test_only_what_an_item_says_now_is_found_and_nothing_once_it_is_deleted(store: Store) -> None:
    put(store, an_item(title="alpha"))
    put(store, an_item(title="beta"))
    assert (found(store, "alpha"), found(store, "beta")) == ([], [4])
    put(store, an_item(title="beta", deleted_ms=9))
    with store.read() as reader:
        assert (reader.items([4]), reader.recent(Filters(), limit=5)) == ([], [])
        assert (reader.resolve("4"), list(reader.all_items())) == ([], [])
        assert reader.totals().items == 0
    assert found(store, "beta") == []


def test_words_inside_names_are_found(store: Store) -> None:
    put(store, an_item(title="getUserById cart_total src/run.py café HTTPServer"))
    words = ("getUserById", "user", "cart", "total", "running", "RUN", "café", "cafe", "HTTPServer")
    for word in (*words, "http"):
        assert found(store, f'"{word}"') == [4], word


def test_a_column_can_be_named(store: Store) -> None:
    listed = {"facts": ("needle",), "concepts": ("needle",), "files_read": ("needle",)}
    texts = dict.fromkeys(("title", "subtitle", "narrative"), "needle")
    put(store, an_item(9, type="needle"))
    for seq, (column, value) in enumerate((listed | texts).items(), 1):
        put(store, an_item(seq, **{column: value}))
        assert found(store, f"{column.removesuffix('_read')}:needle") == [4 * seq]


@pytest.mark.parametrize(
    ("filters", "ids"),
    [
        pytest.param({}, [4, 8, 12], id="none"),
        pytest.param({"project_id": 2}, [8], id="project"),
        pytest.param({"project_id": 2, "with_global": True}, [8, 12], id="project-and-global"),
        pytest.param({"without": (UNASSIGNED, 9)}, [8, 12], id="but-a-project"),
        pytest.param({"kinds": ("note",)}, [12], id="kind"),
        pytest.param({"kinds": ("note", "observation")}, [4, 8, 12], id="kinds"),
        pytest.param({"types": ("decision",)}, [12], id="type"),
        pytest.param({"categories": ("auth", "none")}, [8], id="category"),
        pytest.param({"session_id": 7}, [8], id="session"),
        pytest.param({"since_ms": 2000}, [8, 12], id="since"),
        pytest.param({"until_ms": 2000}, [4], id="until"),
    ],
)
def test_filters_hold_for_words_and_for_time(
    store: Store, filters: dict[str, object], ids: list[int]
) -> None:
    put(
        store,
        an_item(1, title="alpha"),
        an_item(2, title="alpha", project_id=2, category="auth", session_id=7),
        an_item(3, title="alpha", project_id=None, kind="note", type="decision"),
    )
    assert sorted(found(store, "alpha", **filters)) == ids
    with store.read() as reader:
        recent = reader.recent(Filters(**filters), limit=9)  # type: ignore[arg-type]  # table of cases
    assert [item.id for item in recent] == ids[::-1]


def test_personal_items_are_their_owners_only(store: Store) -> None:
    put(store, an_item(title="alpha", scope="personal", owner="ana", kind="note"))
    assert (found(store, "alpha", owner="ana"), found(store, "alpha", owner="ben")) == ([4], [])
    for illegal in ("(", 'a "', "nosuch:x", "AND", "a AND", ""):
        with pytest.raises(BadInput):
            found(store, illegal)


def test_the_highest_matches_come_first_and_fill_the_limit(store: Store) -> None:
    put(store, an_item(3, title="alpha alpha"), *(an_item(n, title="alpha") for n in (1, 2)))
    with store.read() as reader:
        assert reader.match("alpha", Filters(), limit=2) == [12, 8]


@pytest.mark.parametrize(
    "wanted",
    ["src/a.ts", "a.ts", "src", "/src/", 'b "c"', "d\\e", "é", "f", "/etc/f", "a", "ts", "src/a"],
)
def test_files_restrict_as_filters_do(store: Store, wanted: str) -> None:
    item = an_item(
        title="alpha", files_modified=("src/a.ts", 'b "c"/x'), files_read=("d\\e", "é", "/etc/f/")
    )
    put(store, item)
    filters = Filters(files=("nowhere", wanted))
    with store.read() as reader:
        assert bool(reader.match("alpha", filters, limit=9)) == filters.admits(item)


def test_a_list_goes_on_behind_each_item_of_a_millisecond(store: Store) -> None:
    made = [an_item(number, created_ms=1_000 + number // 4) for number in range(1, 8)]
    put(store, *made)
    with store.read() as reader:
        whole = reader.recent(Filters(), limit=9)
        assert len(whole) == len(made)
        for place, last in enumerate(whole, start=1):
            behind = Filters(until_ms=last.created_ms, before_id=last.id)
            assert reader.recent(behind, limit=9) == whole[place:]
            assert [one for one in whole if behind.admits(one)] == whole[place:]


def test_terms_are_found_by_how_they_begin(store: Store) -> None:
    put(store, *(an_item(n, title=f"running runner{'s' * (n < 3)}") for n in range(1, 5)))
    put(store, an_item(5, title="Runway walk"))
    with store.read() as reader:
        assert reader.terms_with_prefix("run", limit=9)[-1] == "runwai"
        assert set(reader.terms_with_prefix("run", limit=9)) == {"run", "runner", "runwai"}
        assert reader.terms_with_prefix("runw", limit=1) == ["runwai"]
        assert reader.terms_with_prefix("zebra", limit=9) == []


def test_every_change_gets_a_higher_number_and_an_item_stands_at_its_last(store: Store) -> None:
    put(store, an_item(1), an_item(2))
    put(store, an_item(3))
    assert [each.item for each in changes(store)] == [an_item(1), an_item(2), an_item(3)]
    numbers = [each.change for each in changes(store)]
    assert numbers == sorted(set(numbers))
    put(store, an_item(1, title="new"))
    put(store, an_item(2, deleted_ms=9))
    assert [(each.id, each.item) for each in changes(store, after=numbers[-1])] == [
        (4, an_item(1, title="new")),
        (8, None),
    ]
    assert [each.id for each in changes(store)] == [12, 4, 8]


def test_a_vector_comes_and_goes_with_the_text_that_it_was_made_of(store: Store) -> None:
    with store.write() as writer:
        made = {4: vector(1), 8: vector(2), 16: vector(3)}
        gone = an_item(4, deleted_ms=9)
        writer.put_items(
            [an_item(1), an_item(2), an_item(3), gone], model="m", vectors=lambda: made
        )
        writer.put_vectors("m", {16: vector(1), 99: vector(1)})
    assert [each.vector for each in changes(store)] == [vector(1), vector(2), None, None]
    assert {each.vector for each in changes(store, model="other")} == {None}
    put(store, an_item(1, title="new"), an_item(2, deleted_ms=9))
    with store.read() as reader:
        assert reader.vectors() == {}


def test_what_lacks_a_whole_vector_of_a_model_is_shown(store: Store) -> None:
    put(store, an_item(1), an_item(2), an_item(3), an_item(4, kind="record"))  # which lacks none
    put(store, an_item(5, deleted_ms=9))

    def bare(model: str, after: int = 0, limit: int = 9) -> list[ItemChange]:
        with store.read() as reader:
            return reader.without_vector(model, dimensions=4, after=after, limit=limit)

    with store.write() as writer:
        writer.put_vectors("m", {4: b"12", 8: b"1234"})
    assert [each.id for each in bare("m")] == [12, 4]
    assert [each.id for each in bare("m", after=bare("m")[0].change)] == [4]
    assert [each.id for each in bare("n", limit=1)] == [12]
    with store.write() as writer:
        writer.put_vectors("m", {4: b"1234"}, seen={4: bare("m")[1].change})
    assert [each.id for each in bare("m")] == [12]


def test_a_vector_that_comes_later_is_a_change_unless_its_item_changed(store: Store) -> None:
    put(store, an_item(1), an_item(2))
    seen = changes(store)[-1].change
    with store.write() as writer:
        writer.put_vectors("m", {8: vector(2), 4: vector(1)})
    shown = {each.id: (each.item, each.vector) for each in changes(store, after=seen)}
    assert shown == {4: (an_item(1), vector(1)), 8: (an_item(2), vector(2))}
    put(store, an_item(2, title="new"))
    with store.write() as writer:
        writer.put_vectors("m", {8: vector(3)}, seen={8: seen})
        assert writer.vectors() == {"m": 1}


def test_an_item_has_one_vector_of_each_model_until_the_others_are_dropped(store: Store) -> None:
    put(store, an_item(1), an_item(2))
    with store.write() as writer:
        writer.put_vectors("m", {4: vector(1), 8: vector(2)})
        writer.put_vectors("m", {4: vector(3)})
        writer.put_vectors("n", {4: vector(4)})
        assert writer.vectors() == {"m": 2, "n": 1}
        writer.drop_vectors(but="n")
        assert writer.vectors() == {"n": 1}


def test_the_numbering_of_changes_keeps_its_name_until_the_projection_is_cleared(
    store: Store,
) -> None:
    with store.write() as writer:
        writer.put_items([an_item(1)], model="m", vectors=lambda: {4: vector(1)})
    with store.read() as reader:
        before = reader.epoch()
    put(store, an_item(2))
    with store.write() as writer:
        assert writer.epoch() == before != ""
        writer.clear_projection()
        assert writer.epoch() not in {before, ""}
        assert writer.vectors() == {}
    assert changes(store) == []


def test_around_is_ordered_and_what_may_be_seen_of_the_project(store: Store) -> None:
    same = [an_item(seq, created_ms=1000) for seq in (1, 2, 3, 4, 5)]
    own, others = (
        an_item(seq, kind="note", scope="personal", owner=owner)
        for seq, owner in ((11, "ana"), (13, "bo"))
    )
    put(store, *same, an_item(6, project_id=2, created_ms=1000))
    put(store, own, an_item(12, kind="inference"), others, an_item(14))
    with store.read() as reader:
        around = reader.around(same[2], owner="", before=1, after=2)
        assert [item.id for item in around] == [8, 12, 16, 20]
        around = reader.around(an_item(14), owner="ana", before=1, after=0)
        assert [item.id for item in around] == [own.id, 56]


def test_a_uuid_prefix_resolves(store: Store) -> None:
    put(store, an_item(3))
    uuid = an_item(3).uuid.upper()
    handles = ("99", "", "0193", "9" * 40, "zzzzzzzz", "%", "²³")
    with store.read() as reader:
        assert [reader.resolve(uuid[:length]) for length in (8, 20, 36)] == [[12]] * 3
        assert [reader.resolve(handle) for handle in handles] == [[]] * 7


def test_a_keyed_note_is_exactly_this_projects_and_owners(store: Store) -> None:
    put(store, an_item(1, kind="note", key="k", project_id=2, owner="ana", content_hash="h"))
    with store.read() as reader:
        exact = Filters(project_id=2, owner="ana")
        assert reader.keyed("k", exact) == reader.same_content("h", exact) is not None
        for other in (Filters(owner="ana"), Filters(project_id=2), Filters(project_id=3)):
            assert reader.keyed("k", other) is reader.same_content("h", other) is None


def test_sessions_are_found_by_id_by_name_and_by_idleness(store: Store) -> None:
    old = a_session(1, last_ms=5, state=b"{}")
    new = a_session(2, last_ms=9)
    ended = a_session(3, last_ms=1, external="t", status="ended", ended_ms=1)
    with store.write() as writer:
        for session in (old, new, ended):
            writer.put_session(session)
        assert writer.session(1) == old
        assert writer.runs("x", "s") == {UNASSIGNED: new.id}
        assert writer.runs("y", "s") == {}
        assert writer.sessions() == [new, old, ended]
        assert writer.sessions(active=True, limit=1) == [new]
        assert writer.sessions(project_id=9) == []
        assert writer.sessions(since_ms=5) == [new, old]
        assert writer.sessions(project_id=UNASSIGNED, active=True, since_ms=6) == [new]
        assert writer.idle_sessions(before_ms=9) == [old]
        parent = a_session(11, external="p", parent="p")
        children = [a_session(number, external=f"c{number}", parent="p") for number in (12, 13)]
        for session in (parent, *children, a_session(14, client="y", parent="p"), a_session(15)):
            writer.put_session(session)
        assert writer.children(parent, limit=9) == children
        assert writer.children(parent, limit=1) == children[1:]


REPORTS = [
    ({}, None, {"x": 9_000}),
    ({"id": "import-9"}, None, {}),
    ({"client": "git", "route": "git/post-commit"}, None, {"git": 9_000}),
    ({"client": "git", "route": "generic/commit"}, None, {}),  # of a history
    ({"client": "watch"}, None, {}),  # which we saw
    ({"id": "event-9"}, 9_500, {"x": 9_500}),
    ({"id": "import-9"}, 9_500, {}),  # the newest of the session
]


@pytest.mark.parametrize(("fields", "session_ms", "reports"), REPORTS)
def test_only_what_a_client_reported_is_a_report(
    store: Store, fields: dict[str, str], session_ms: int | None, reports: dict[str, int]
) -> None:
    one = recorded(9)
    one = msgspec.structs.replace(one, event=msgspec.structs.replace(one.event, **fields))
    with store.write() as writer:
        writer.append(one, stored_ms=1)
        if session_ms:
            writer.put_session(a_session(1, last_ms=session_ms))
        assert writer.last_reports(UNASSIGNED) == writer.last_reports() == reports


def test_events_near_a_time_are_the_sessions_own(store: Store) -> None:
    event = msgspec.structs.replace(recorded(3).event, id="import-3")
    with store.write() as writer:
        for one in (*map(recorded, (1, 2)), msgspec.structs.replace(recorded(3), event=event)):
            writer.append(one, stored_ms=1)
        near = writer.recorded_near(1, from_ms=2000, to_ms=3000)
        assert [r.seq for r in near] == [2, 3]
        assert writer.recorded_near(1, from_ms=2000, to_ms=3000, kind="command") == near
        assert writer.recorded_near(1, from_ms=0, to_ms=9000, kind="reply") == []
        assert writer.recorded_near(1, from_ms=0, to_ms=9000, newest=1) == near[1:]
        assert writer.recorded_near(2, from_ms=0, to_ms=9000) == []
        assert writer.has_imported(1, from_ms=3000, to_ms=4000)
        assert not writer.has_imported(1, from_ms=0, to_ms=2999)
        assert not writer.has_imported(2, from_ms=0, to_ms=9000)
        named = writer.log_naming("command", ["absent", "ls"], newest=9)
        assert [one.seq for one in named] == [3, 2, 1]
        assert writer.log_naming("command", ["absent"], newest=9) == []


def test_writes_are_read_by_time_whatever_their_session(store: Store) -> None:
    bodies: tuple[AnyBody, ...] = (
        FileWrite(path="/a.py"),
        Prompt(text="go"),
        Intent(tool="edit", of=FileWrite(path="/b.py")),
        FileWrite(path="/late.py"),
    )
    with store.write() as writer:
        for seq, body in enumerate(bodies, 1):
            made = recorded(seq)
            event = msgspec.structs.replace(made.event, body=body)
            writer.append(msgspec.structs.replace(made, event=event), stored_ms=1)
        assert [r.seq for r in writer.written_near(from_ms=1000, to_ms=3000)] == [1, 3]


def test_a_failed_transaction_leaves_nothing_and_a_reader_sees_one_snapshot(store: Store) -> None:
    with pytest.raises(KeyError), store.write() as writer:
        writer.append(recorded(), stored_ms=1)
        writer.put_items([an_item(title="alpha")])
        raise KeyError
    assert found(store, "alpha") == []
    with store.read() as reader:
        assert (reader.log(), reader.totals().items) == ([], 0)
        put(store, an_item())
        assert reader.totals().items == 0


def test_clearing_the_projection_keeps_log_and_projects(store: Store) -> None:
    with store.write() as writer:
        writer.append(recorded(), stored_ms=1)
        writer.put_items([an_item(title="alpha", links=(Link(kind="fixes", target=4),))])
        writer.put_session(a_session())
        writer.clear_projection()
        assert (writer.totals().events, writer.totals().items) == (1, 0)
        assert (writer.sessions(), len(writer.projects())) == ([], 1)
        assert writer.linked_to([4]) == []
    assert found(store, "alpha") == []


@given(text=st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=200))
def test_any_text_can_be_stored(store: Store, text: str) -> None:
    item = an_item(title=text, narrative=text, facts=(text,))
    put(store, item)
    with store.read() as reader:
        assert reader.items([item.id]) == [item]
