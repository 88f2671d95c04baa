"""Search beyond a home: two homes of different projects, and a real server between them."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any, LiteralString, cast

import psycopg
import pytest
from msgspec.structs import replace
from psycopg import errors

from observer.core.errors import BadInput, ShareUnavailable
from observer.index.embed.lazy_model import LazyModel
from observer.index.embed.registry import ModelInfo, find
from observer.memory.api import Memory
from observer.memory.opening import index_for
from observer.search.find import SearchHits
from observer.store.connection import stemmer
from observer.sync import carriers, postgres
from observer.sync.carriers import open_search
from observer.sync.incoming import sync_once
from observer.sync.postgres import ServerTeam
from observer.sync.postgres_search import SearchAsked, SearchEntry
from observer.sync.team_search import NO_OPERATORS, NO_SERVER, TOO_LATE, ItemModel, TeamSearch, fill
from observer.tools.core import Core
from tests.sync.conftest import a_chain, allowed
from tests.sync.home.machines import NAME, Machine

MODEL = find("instant", Path("/nowhere"))
NOTE = "Invoices settle in the ledger at midnight, since the bank books then"


LONG_S = 60.0
"""How long a search waits here, where others want the processor too."""


def items_by(model: ModelInfo) -> ItemModel:
    return ItemModel(model.id, model.dimensions, stemmer())


class Member:
    """A person with a home, a login of the share, and a memory that searches both."""

    def __init__(self, share: Any, folder: Path, person: str, **fields: Any) -> None:
        share.open(person).close()
        self.url: str = share.logins[person]
        self.machine = Machine(folder / person, person, **fields)
        self.state = replace(self.shares()[0], url=self.url)
        self.machine.add(self.state)
        model = LazyModel(MODEL)
        self.memory = Memory(
            self.machine.store,
            owner=person,
            now_ms=lambda: self.machine.now_ms,
            index=index_for(folder / person / "index", model, is_owner=True),
            encode=model.encode_patiently,
            team=lambda: self.team,
        )
        self.model = model
        self.wait(LONG_S)

    def wait(self, patience_s: float) -> None:
        """Wait so long for the server from now on."""
        self.team = TeamSearch(items_by(MODEL), patience_s=patience_s)

    def let_go(self) -> None:
        """Close the connections that are kept for the next search."""
        del self.team
        gc.collect()

    def shares(self) -> list[Any]:
        with self.machine.store.read() as reader:
            return reader.shares()

    def sync(self) -> None:
        """Carry records to and fro, embed, and have the server know, as the daemon does."""
        with closing(carriers.open_carrier(self.url, Path("/nowhere"))) as carrier:
            sync_once(self.machine.home, NAME, carrier)
        notes = [item for item in self.machine.items() if item.kind == "note"]
        vectors = self.model.made(notes) if notes else {}
        with self.machine.store.write() as writer:
            writer.put_vectors(self.model.id, vectors)
        with closing(open_search(self.url)) as server:
            fill(
                self.machine.home,
                NAME,
                server,
                items_by(MODEL),
            )

    def asks(self, query: str, **fields: Any) -> SearchHits:
        return self.memory.search_team(query, **fields)

    def titles(self, query: str, **fields: Any) -> list[str]:
        return [hit.item.title for hit in self.asks(query, **fields).hits]


Members = Callable[..., Member]


@pytest.fixture
def member(postgres_share: Any, tmp_path: Path) -> Iterator[Members]:
    with ExitStack() as made:

        def one(person: str, **fields: Any) -> Member:
            found = Member(postgres_share, tmp_path, person, **fields)
            made.enter_context(closing(found.machine.store))
            made.callback(found.let_go)
            return found

        yield one


@pytest.fixture
def ana(member: Members) -> Member:
    ana = member("ana")
    ana.machine.note(NOTE)
    ana.sync()
    return ana


@pytest.fixture
def bob(member: Members, ana: Member) -> Member:
    """Share a project that Ana does not work on, so that nothing of hers comes to his home."""
    bob = member("bob", projects=(99,))
    bob.sync()
    assert bob.machine.items() == []
    return bob


def rows(share: Any, sql: str = "SELECT count(*) FROM observer.entry") -> list[tuple[Any, ...]]:
    with psycopg.connect(share.owner, autocommit=True) as owner:
        cursor = owner.execute(cast("LiteralString", sql))
        return cursor.fetchall() if cursor.description else []


def test_what_only_the_server_has_is_found_by_words_and_meaning(bob: Member) -> None:
    found = bob.asks("ledger")
    assert found.degraded == ""
    (hit,) = found.hits
    assert (hit.item.narrative, hit.item.person, hit.item.id) == (NOTE, "ana", 0)
    (hit,) = bob.asks("invoice payment accounting").hits
    assert hit.signals.semantic > 0
    assert bob.memory.search("ledger").hits == ()


def test_a_home_finds_once_what_is_in_both_and_says_why_it_searched_alone(ana: Member) -> None:
    (hit,) = ana.asks("ledger").hits
    assert hit.item.id == ana.machine.only().id
    found = ana.asks("ledger NOT bank")
    assert (found.hits, found.degraded) == ((), NO_OPERATORS)
    ana.machine.add(replace(ana.state, url="/a/folder"))
    found = ana.asks("ledger")
    assert (len(found.hits), found.degraded) == (1, NO_SERVER)


def test_a_hit_of_the_server_is_shown_by_its_uuid_and_fetched_by_it(
    ana: Member, bob: Member
) -> None:
    core, uuid = Core(bob.memory, lambda: ""), ana.machine.only().uuid
    found = core.search("ledger", scope="team")
    assert found.text.startswith(f"{uuid} fact")
    assert "by ana" in found.text
    assert NOTE in core.get_observations([uuid[:8]]).text
    assert core.get_observations(["0123abcd"]).result["missing_ids"] == ["0123abcd"]


def test_projects_and_models_of_others_are_told_apart(bob: Member, postgres_share: Any) -> None:
    assert len(bob.titles("ledger", project="shop")) == 1
    assert bob.titles("ledger", project="bakery") == []
    rows(postgres_share, "UPDATE observer.entry SET model = 'another'")
    (hit,) = bob.asks("ledger").hits
    assert hit.signals.semantic == 0


def test_a_server_that_is_late_or_away_is_not_waited_for(ana: Member, postgres_share: Any) -> None:
    ana.wait(0.01)
    with psycopg.connect(postgres_share.owner) as owner:
        owner.execute("LOCK TABLE observer.entry IN ACCESS EXCLUSIVE MODE")
        found = ana.asks("ledger")
    assert (len(found.hits), found.degraded) == (1, TOO_LATE)
    ana.wait(LONG_S)
    postgres_share.vanish()
    found = ana.asks("ledger")
    assert len(found.hits) == 1
    assert found.degraded.startswith("searched here alone: the server cannot be used")


def test_what_is_forgotten_is_gone_for_good(ana: Member, bob: Member, postgres_share: Any) -> None:
    uuid = ana.machine.only().uuid
    ana.machine.forget(ana.machine.only().id)
    ana.sync()
    assert rows(postgres_share) == [(0,)]
    assert bob.titles("ledger") == []
    late = SearchEntry(uuid, "shop", "note", "note", 1, [[1], [], [], [], [], []])
    with closing(open_search(ana.url)) as server:
        server.put(ana.state.origin, [late])
    assert rows(postgres_share) == [(0,)]


@pytest.mark.parametrize("is_purged", [True, False], ids=["purged", "of an expelled member"])
def test_what_is_purged_is_gone(ana: Member, postgres_share: Any, *, is_purged: bool) -> None:
    if is_purged:
        with closing(carriers.open_carrier(ana.url, Path("/nowhere"))) as carrier:
            (record,) = carrier.pull({}, limit=9).records
            sent = {"sequence": 2, "previous": record.hash(), "kind": "tombstone", "body": ""}
            carrier.push([replace(record, **sent)])
    else:
        ServerTeam(postgres_share.owner).remove(ana.url.partition("//")[2].partition(":")[0])
    assert rows(postgres_share) == [(0,)]


def test_an_edit_is_found_by_its_new_words(ana: Member, bob: Member) -> None:
    ana.machine.revise(ana.machine.only().id, "Receipts settle at noon")
    ana.sync()
    held = [hit.signals.terms for query in ("ledger", "receipts") for hit in bob.asks(query).hits]
    assert held == [(), ("receipts",)]


def test_a_round_without_changes_tells_nothing_and_scans_are_iterative(ana: Member) -> None:
    with closing(open_search(ana.url)) as server:
        assert fill(ana.machine.home, NAME, server, items_by(MODEL)) == 0
        with server._asking(100) as connection:
            row = connection.execute("SHOW hnsw.iterative_scan").fetchone()
    assert row == ("strict_order",)


@pytest.fixture
def of_one_in_twenty(ana: Member, postgres_share: Any) -> psycopg.Connection[tuple[Any, ...]]:
    """Have Ana's login see but each twentieth of 2,000 rows, whose vectors lie anyhow."""
    del ana
    ((role,),) = rows(
        postgres_share,
        "SELECT r.rolname FROM pg_roles r, observer.member m WHERE NOT r.rolcanlogin"
        " AND r.rolname LIKE 'observer_members_%' AND pg_has_role(m.role, r.oid, 'MEMBER')",
    )
    rows(
        postgres_share,
        "INSERT INTO observer.entry (origin, uuid, project, kind, type, created_ms, words, model,"
        " dimensions, embedding, role) SELECT 'x', 'u' || i, 'p' || (i % 20), 'note', 'note', i,"
        " '', 'm', 640, (SELECT array_agg(sin(i * j))::real[]::vector::halfvec"
        " FROM generate_series(1, 640) j), 'x' FROM generate_series(1, 2000) i",
    )
    rows(
        postgres_share,
        f"CREATE POLICY narrow ON observer.entry AS RESTRICTIVE FOR SELECT TO {role}"
        " USING (project = 'p7')",
    )
    return psycopg.connect(postgres_share.logins["ana"], autocommit=True)


NEAREST = (
    "SELECT uuid FROM observer.entry WHERE dimensions = 640 ORDER BY embedding::halfvec(640) <=>"
    " (SELECT array_agg(sin(7.5 * j))::real[]::vector::halfvec(640)"
    " FROM generate_series(1, 640) j) LIMIT 20"
)


@pytest.mark.parametrize(("scan", "least", "most"), [("off", 0, 8), ("strict_order", 20, 20)])
def test_only_an_iterative_scan_finds_enough_of_what_the_policies_leave(
    of_one_in_twenty: psycopg.Connection[tuple[Any, ...]], scan: str, least: int, most: int
) -> None:
    with of_one_in_twenty as login, login.transaction():
        login.execute("SET LOCAL enable_seqscan = off")
        login.execute("SET LOCAL enable_sort = off")
        login.execute("SELECT set_config('hnsw.iterative_scan', %s, true)", (scan,))
        found = login.execute(NEAREST).fetchall()
    assert least <= len(found) <= most


ENTRY = (
    "INSERT INTO observer.entry (origin, uuid, project, kind, type, created_ms, words, model,"
    " dimensions) VALUES ('{origin}', 'u', 'shop', 'note', 'note', 1, '', '', 0)"
)


FORBIDDEN = (
    ENTRY.format(origin="o-ana"),  # in another's name
    "TRUNCATE observer.entry",
    "UPDATE observer.entry SET role = current_user",
    "UPDATE observer.entry SET origin = 'x'",
    "ALTER TABLE observer.entry DISABLE ROW LEVEL SECURITY",
    "DROP INDEX observer.entry_words",
    "INSERT INTO observer.part VALUES ('x', 1)",
    "SELECT observer.gone()",  # the triggers
    "SELECT observer.expelled()",
)


def test_a_member_reaches_but_his_own_rows(bob: Member, postgres_share: Any) -> None:
    with psycopg.connect(bob.url, autocommit=True) as login:
        assert allowed(login, FORBIDDEN) == []
        for sql in ("DELETE FROM observer.entry", "UPDATE observer.entry SET kind = ''"):
            login.execute(cast("LiteralString", sql))
    assert rows(postgres_share, "SELECT kind FROM observer.entry") == [("note",)]


FIRST_SCHEMA = (
    "DROP FUNCTION observer.withhold",
    "DROP FUNCTION observer.forgotten() CASCADE",
    "DROP FUNCTION observer.empty",
    "DROP FUNCTION observer.hash",
    "DROP POLICY owner_withhold ON observer.record",
    "DROP POLICY owner_read ON observer.record",
)


@pytest.mark.parametrize("further", [(), FIRST_SCHEMA], ids=["last schema", "first schema"])
def test_an_older_share_says_who_brings_it_up_to_date_and_he_does(
    ana: Member, postgres_share: Any, further: tuple[str, ...]
) -> None:
    undo_search(postgres_share)
    for sql in further:
        rows(postgres_share, sql)
    with pytest.raises(ShareUnavailable, match=r"as a whole yet.*sync add URL --create"):
        open_search(ana.url)
    postgres.create(postgres_share.owner)
    with closing(open_search(ana.url)), pytest.raises(BadInput, match="up to date"):
        postgres.create(postgres_share.owner)
    with closing(carriers.open_carrier(ana.url, Path("/nowhere"))) as carrier:
        carrier.withhold([ana.machine.only().uuid])
        assert [one.kind for one in carrier.pull({}, limit=9).records] == ["withheld"]


def undo_search(share: Any) -> None:
    rows(share, "DROP TABLE observer.entry, observer.part")
    rows(share, "DROP FUNCTION observer.gone() CASCADE")
    rows(share, "DROP FUNCTION observer.expelled() CASCADE")
    rows(share, "DROP INDEX observer.record_uuid")
    rows(share, "DROP POLICY owner_reads_tombstones ON observer.record")


@pytest.mark.parametrize(("sql", "said"), [
    ("UPDATE observer.part SET version = 9", r"version 9.*update observer"),
    ("UPDATE pg_extension SET extversion = '0.7.4' WHERE extname = 'vector'", "pgvector 0.7.4"),
    ("DROP EXTENSION vector CASCADE", "no pgvector"),
])  # fmt: skip
def test_an_unfit_server_is_said(ana: Member, postgres_share: Any, sql: str, said: str) -> None:
    rows(postgres_share, sql)
    with pytest.raises(ShareUnavailable, match=said):
        open_search(ana.url)


@pytest.fixture
def managed(server: Any) -> Iterator[psycopg.Connection[tuple[Any, ...]]]:
    """Lend a superuser's connection to a database of an owner who is none, as Supabase has it."""
    with psycopg.connect(server.url("postgres"), autocommit=True) as connection:
        rights = "CREATEROLE CREATEDB REPLICATION BYPASSRLS"
        connection.execute(f"CREATE ROLE boss LOGIN {rights}")
        connection.execute("CREATE ROLE service_role LOGIN BYPASSRLS")
        connection.execute("CREATE DATABASE managed OWNER boss")
    with psycopg.connect(server.url("managed"), autocommit=True) as connection:
        connection.execute("CREATE SCHEMA extensions")
        connection.execute("GRANT USAGE ON SCHEMA extensions TO boss, service_role")
        connection.execute("CREATE EXTENSION vector SCHEMA extensions")
        with pytest.raises(ShareUnavailable, match=r"schema extensions.*WITH GRANT OPTION"):
            postgres.create(server.url("managed", "boss"))
        connection.execute("ALTER SCHEMA extensions OWNER TO boss")
        for what in ("TABLES", "FUNCTIONS"):
            connection.execute(
                f"ALTER DEFAULT PRIVILEGES FOR ROLE boss IN SCHEMA public GRANT ALL ON {what}"
                " TO service_role"
            )
        postgres.create(server.url("managed", "boss"))
        yield connection


def test_a_managed_database_shares_searches_and_keeps_its_own_logins_out(
    managed: psycopg.Connection[tuple[Any, ...]], server: Any
) -> None:
    with pytest.raises(ShareUnavailable, match="bound by no policy"):
        carriers.open_carrier(server.url("managed", "boss"), Path("/nowhere"))
    for table in ("record", "entry", "member"):
        with (
            psycopg.connect(server.url("managed", "service_role")) as login,
            pytest.raises(errors.InsufficientPrivilege),
        ):
            login.execute(f"SELECT count(*) FROM observer.{table}")  # type: ignore[arg-type]
    first, second = a_chain("a", 2)
    columns = [[1], [], [], [], [], []]
    entry = SearchEntry(first.uuid, "shop", "note", "fact", 1, columns, "m", bytes(640))
    url = ServerTeam(server.url("managed", "boss")).invite("ana")
    with closing(carriers.open_carrier(url, Path("/nowhere"))) as carrier:
        carrier.push([first])
        with closing(open_search(url)) as search:
            search.put("a", [entry])
            found = search.ask(SearchAsked([1], "m", [1.0] * 640), timeout_ms=60_000)
        assert [one.uuid for one in found.candidates] == [first.uuid]
        assert managed.execute("SELECT uuid FROM observer.entry").fetchone() == (first.uuid,)
        carrier.push([replace(second, kind="tombstone", uuid=first.uuid, body="")])
    assert managed.execute("SELECT uuid FROM observer.entry").fetchone() is None
