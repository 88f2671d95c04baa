"""A share on a server, attacked by logins that may do less than they try."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Protocol, cast
from uuid import uuid4

import psycopg
import pytest
from msgspec.structs import replace
from psycopg import errors

from observer.core.errors import BadInput, NotFound, ShareUnavailable
from observer.sync import carriers, postgres
from observer.sync.carriers import Carrier
from observer.sync.postgres import PostgresCarrier, ServerTeam
from observer.sync.record import ProjectKey, Record, chained
from tests.sync.conftest import Server, a_chain, allowed, ask

Login = Callable[[str], "psycopg.Connection[tuple[Any, ...]]"]


class ServerShare(Protocol):
    owner: str
    logins: dict[str, str]

    def open(self, machine: str) -> Carrier: ...


@pytest.fixture
def share(postgres_share: ServerShare) -> ServerShare:
    return postgres_share


@pytest.fixture
def ana(share: ServerShare) -> Iterator[Carrier]:
    carrier = share.open("ana")
    carrier.push(a_chain("a", 3))
    yield carrier
    carrier.close()


@pytest.fixture
def login(share: ServerShare, ana: Carrier) -> Iterator[Login]:
    """Return what opens a bare connection: of the owner, a member, or one who is none."""
    opened = []

    def connect(name: str) -> psycopg.Connection[tuple[Any, ...]]:
        if name == "stranger":
            with psycopg.connect(share.owner, autocommit=True) as owner:
                make_login(owner, "stranger")
            url = share.owner.replace("postgres@", "stranger@")
        elif name == "owner":
            url = share.owner
        else:
            share.open(name).close()
            url = share.logins[name]
        opened.append(psycopg.connect(url, autocommit=True))
        return opened[-1]

    yield connect
    for one in opened:
        one.close()


def make_login(owner: psycopg.Connection[tuple[Any, ...]], name: str, rights: str = "") -> None:
    """Make a login that is in no share, and may connect to the database of one."""
    if not ask(owner, f"SELECT 1 FROM pg_roles WHERE rolname = '{name}'"):
        ask(owner, f"CREATE ROLE {name} LOGIN {rights}")
    ask(owner, f"GRANT CONNECT ON DATABASE {owner.info.dbname} TO {name}")


def group_of(member: psycopg.Connection[tuple[Any, ...]]) -> str:
    """Return the role that all members belong to."""
    sql = "SELECT rolname FROM pg_roles WHERE NOT rolcanlogin AND pg_has_role(oid, 'MEMBER')"
    return str(ask(member, sql)[0][0])


TABLES = ("record", "origin", "member", "audit", "format", "entry", "part")
INSERT = (
    "INSERT INTO observer.record (origin, sequence, previous, kind, uuid, project, author,"
    " visibility, at_ms, body) VALUES ('{origin}', {sequence}, '', 'item', 'u', '{{}}', 'Ana',"
    " '{visibility}', 1, '')"
)


STRANGE = (
    "SELECT * FROM observer.{table}",
    "SELECT count(*) FROM observer.{table}",
    "EXPLAIN SELECT * FROM observer.{table}",
    "COPY observer.{table} TO STDOUT",
    "SELECT pg_catalog.query_to_xml('SELECT * FROM observer.{table}', true, true, '')",
    "DO 'BEGIN LOCK TABLE observer.{table}; END'",
    "ANALYZE observer.{table}",
    "CREATE VIEW pg_temp.v AS SELECT * FROM observer.{table}; SELECT count(*) FROM pg_temp.v",
    "DO 'BEGIN PERFORM count(*) FROM observer.{table}; END'",
    # Neither the error nor the time of a unique key says what is there.
    "INSERT INTO observer.{table} DEFAULT VALUES",
    "CREATE TABLE pg_temp.t (x text REFERENCES observer.{table})",
    "SELECT * FROM pg_stats WHERE schemaname = 'observer' AND tablename = '{table}'",
    "SELECT 'observer.{table}'::regclass",
)


def test_a_stranger_who_may_connect_reads_nothing(login: Login) -> None:
    stranger = login("stranger")
    for sql in (each.format(table=table) for each in STRANGE for table in TABLES):
        with pytest.raises((errors.InsufficientPrivilege, AssertionError)):
            assert ask(stranger, sql)


def test_who_is_of_another_team_learns_nothing_of_ids_sizes_and_times(
    server: Server, login: Login
) -> None:
    refused = []
    for origin in ("a", "nowhere"):  # the first is there
        with pytest.raises(errors.InsufficientPrivilege) as error:
            ask(login("stranger"), f"INSERT INTO observer.origin (origin) VALUES ('{origin}')")
        refused.append(error.value.diag.message_primary)
    assert refused[0] == refused[1]  # the right is looked at before the key
    ask(login("owner"), f"REVOKE CONNECT ON DATABASE {login('ana').info.dbname} FROM stranger")
    with pytest.raises(psycopg.OperationalError, match="permission denied for database"):
        psycopg.connect(server.url(login("ana").info.dbname, "stranger"))


def test_the_owner_makes_a_share_in_a_database_that_others_use(server: Server) -> None:
    database = f"shop_{uuid4().hex}"
    with psycopg.connect(server.url("postgres"), autocommit=True) as connection:
        ask(connection, f"CREATE DATABASE {database}")
    with psycopg.connect(server.url(database), autocommit=True) as connection:
        ask(connection, "CREATE TABLE public.invoice ()")
        ask(connection, "CREATE ROLE shop LOGIN")
    team = carriers.create_share(server.url(database), Path("/nowhere"), person="Ana")
    carriers.open_carrier(team.invite("Ana"), Path("/nowhere")).close()
    assert [person for _, person in team.members()] == ["Ana"]
    with psycopg.connect(server.url(database, "shop")) as connection:
        assert ask(connection, "SELECT 1") == [(1,)]


LEAK = (
    "CREATE FUNCTION pg_temp.leak(text) RETURNS boolean LANGUAGE plpgsql COST 0.0001"
    " AS 'BEGIN RAISE NOTICE ''%'', $1; RETURN true; END'"
)


CURIOUS = (
    "SELECT detail FROM observer.audit",
    "SELECT * FROM observer.audit WHERE pg_temp.leak(detail)",
    "SELECT * FROM observer.audit WHERE detail::int > 0",  # the error of a cast tells what it is of
    "SELECT * FROM observer.audit WHERE 1 / length(left(detail, 0)) > 0",
    "CREATE VIEW pg_temp.v AS TABLE observer.audit; TABLE pg_temp.v",
    "CREATE TABLE pg_temp.t AS TABLE observer.audit; TABLE pg_temp.t",
    "SELECT * FROM pg_stats WHERE tablename = 'audit'",
    "SELECT * FROM pg_stats_ext_exprs",
    "SELECT * FROM pg_sequences",
    "SELECT * FROM pg_views WHERE schemaname = 'observer'",
    "SELECT * FROM pg_locks WHERE locktype = 'advisory'",
    "SELECT * FROM pg_stat_activity WHERE usename <> current_user AND query LIKE '%COPY%'",
)


def test_a_member_learns_nothing_of_what_others_did(login: Login) -> None:
    ask(login("owner"), "ANALYZE observer.audit")
    ben, heard = login("ben"), list[str]()
    ben.add_notice_handler(lambda said: heard.append(said.message_primary or ""))
    ask(ben, LEAK)
    for sql in CURIOUS:
        *before, last = sql.split("; ")
        for each in before:
            ask(ben, each)
        assert (ask(ben, last), heard) == ([], []), sql


def test_a_removed_member_reads_and_adds_nothing(share: ServerShare, login: Login) -> None:
    ben, eve = login("ben"), login("eve")
    assert ask(ben, "SELECT count(*) FROM observer.record") == [(3,)]
    ServerTeam(share.owner).remove(ben.info.user)
    with pytest.raises(psycopg.OperationalError):
        ask(ben, "SELECT count(*) FROM observer.record")
    with pytest.raises(ShareUnavailable, match="not permitted to log in"):
        share.open("ben")
    ask(login("owner"), f"REVOKE {group_of(eve)} FROM {eve.info.user}")  # her connection stays
    with pytest.raises(errors.InsufficientPrivilege):
        ask(eve, "SELECT count(*) FROM observer.record")


def test_nobody_takes_the_content_out_of_anothers_record(login: Login) -> None:
    ask(login("ben"), "SELECT observer.withhold('a', 1, 'x')")
    assert ask(login("owner"), "SELECT DISTINCT kind FROM observer.record") == [("item",)]
    with pytest.raises(errors.InsufficientPrivilege):
        ask(login("stranger"), "SELECT observer.withhold('a', 1, 'x')")


ODD = "".join(map(chr, (*range(1, 0x0250), 0x2028, 0xFFFD, 0x1F989))) + '"\\u0001'
"""Signs that JSON may be written in several ways with."""


def odd_chain(*uuids: str) -> list[Record]:
    found: list[Record] = []
    for sequence, uuid in enumerate(uuids, start=1):
        fields = {"origin": "o", "sequence": sequence, "kind": "item", "uuid": uuid, "at_ms": 1}
        project = ProjectKey(name=ODD, remotes=(ODD, "x"), root_commit="c" if sequence > 1 else "")
        fields |= {"project": project, "author": ODD, "visibility": "team", "body": ODD}
        found.append(Record(**fields, previous=found[-1].hash() if found else ""))
    return found


def test_what_anybody_forgot_no_member_reads(share: ServerShare, login: Login) -> None:
    bob, ben = share.open("bob"), share.open("ben")
    records = odd_chain("first", "kept", "last", "first", "end")
    bob.push(records[:3])
    gone = [replace(records[at], kind="tombstone", body="", origin="b") for at in (0, 2)]
    gone = [replace(gone[0], sequence=1), gone[1]]
    ben.push([gone[0], replace(gone[1], sequence=2, previous=gone[0].hash())])
    held = "SELECT sequence, body = %s FROM observer.record WHERE origin = 'o' ORDER BY 1"
    reader = login("ana")
    assert reader.execute(held, (ODD,)).fetchall() == [(1, False), (2, True), (3, False)]
    bob.push(records)  # the machine had not heard of it
    shown = [False, True, False, False, True]
    assert [row[1] for row in reader.execute(held, (ODD,)).fetchall()] == shown
    taken, broken = chained(bob.pull({"a": 3}, limit=20).records, {})
    theirs = [one.kind for one in taken if one.origin == "o"]
    assert (theirs.count("withheld"), len(theirs), broken) == (3, 5, [])
    bob.close()
    ben.close()


FORBIDDEN = (
    "SELECT observer.empty(ARRAY['a-1'])",
    "SELECT observer.forgotten()",  # the trigger that empties
    "UPDATE observer.record SET body = 'x'",
    "DELETE FROM observer.record",
    "TRUNCATE observer.record",
    "DROP TABLE observer.record",
    "ALTER TABLE observer.record DISABLE ROW LEVEL SECURITY",
    "CREATE POLICY mine ON observer.record USING (true)",
    "ALTER TABLE observer.record DISABLE TRIGGER ALL",
    "SET session_replication_role = replica",  # no triggers, by a setting
    "UPDATE observer.origin SET role = current_user",  # take an origin over
    "DELETE FROM observer.origin",
    "INSERT INTO observer.origin (origin, role) VALUES ('x', 'postgres')",  # for another
    INSERT.format(origin="a", sequence=4, visibility="team"),  # go on with another's chain
    INSERT.format(origin="a", sequence=3, visibility="team"),
    INSERT.format(origin="none", sequence=1, visibility="team"),  # unclaimed
    INSERT.format(origin="a", sequence=3, visibility="team")
    + " ON CONFLICT (origin, sequence) DO UPDATE SET body = 'x'",
    "MERGE INTO observer.record r USING (SELECT 1) s ON true WHEN MATCHED THEN DELETE",
    "INSERT INTO observer.audit VALUES (now(), 'ana', 'push', 'x')",
    "UPDATE observer.audit SET role = 'ana'",
    "DELETE FROM observer.audit",
    "TRUNCATE observer.audit",
    "UPDATE observer.member SET removed_at = NULL",  # bring somebody back
    "INSERT INTO observer.member VALUES ('ben', 'Ben')",
    "UPDATE observer.format SET version = 9",
    "SELECT observer.invite('eve', 'x', 'Eve')",
    "SELECT observer.remove('postgres')",
    "SELECT observer.appended()",  # the trigger
    "CREATE FUNCTION observer.f() RETURNS int LANGUAGE sql AS 'SELECT 1'",
    "CREATE TABLE observer.mine ()",
    "COPY observer.record FROM PROGRAM 'id'",
    "COPY (SELECT 1) TO '/tmp/x'",
    "SELECT pg_read_file('/etc/passwd')",
    "SELECT rolpassword FROM pg_authid",
    "SELECT * FROM pg_statistic",
    "SET ROLE postgres",
    "CREATE ROLE eve LOGIN",
    "ALTER ROLE CURRENT_USER BYPASSRLS",
)


def test_a_member_does_not(login: Login, ana: Carrier) -> None:
    assert allowed(login("ben"), FORBIDDEN) == []
    assert ana.pull({}, limit=10).records == a_chain("a", 3)


def test_nothing_personal_or_of_all_members_reaches_the_server(login: Login) -> None:
    ben = login("ben")
    ask(ben, "INSERT INTO observer.origin (origin) VALUES ('b')")
    with pytest.raises(errors.CheckViolation):
        ask(ben, INSERT.format(origin="b", sequence=1, visibility="personal"))
    ask(ben, f"SET ROLE {group_of(ben)}")
    with pytest.raises(errors.InsufficientPrivilege):
        ask(ben, "INSERT INTO observer.origin (origin) VALUES ('x')")


def test_what_shadows_names_reaches_only_what_is_ones_own(login: Login, ana: Carrier) -> None:
    ben = login("ben")
    for name in ("min", "format", "pg_notify"):
        ask(ben, f"CREATE FUNCTION pg_temp.{name}(text) RETURNS text LANGUAGE sql AS 'SELECT $1'")
    for name in ("record", "origin", "audit", "entry", "added"):
        ask(ben, f"CREATE TABLE pg_temp.{name} (origin text, role name DEFAULT 'postgres')")
    ask(ben, "SET search_path = pg_temp, observer")
    ask(ben, "INSERT INTO observer.origin (origin) VALUES ('b')")
    ask(ben, INSERT.format(origin="b", sequence=1, visibility="team"))
    ask(ben, "SELECT observer.withhold('a', 1, 'x')")
    pulled = ana.pull({}, limit=9)
    assert [(one.origin, one.kind) for one in pulled.records] == [("a", "item")] * 3
    assert [(one.origin, one.sequence, one.person) for one in pulled.refused] == [("b", 1, "ben")]
    said = ask(login("owner"), "SELECT role, detail FROM observer.audit ORDER BY at DESC LIMIT 1")
    assert said == [(ben.info.user, "b: 1 to 1")]


def test_what_runs_with_the_owners_rights_trusts_no_path_and_is_called_by_nobody(
    login: Login,
) -> None:
    sql = (
        "SELECT proname, proconfig, has_function_privilege(oid, 'EXECUTE') FROM pg_proc"
        " WHERE pronamespace = 'observer'::regnamespace AND prosecdef"
    )
    definers = {name: (settings, may) for name, settings, may in ask(login("ben"), sql)}
    assert {name for name, (_, may) in definers.items() if may} == {"withhold"}
    paths = [settings for settings, _ in definers.values()]
    assert paths == [["search_path=pg_catalog, pg_temp"]] * len(definers)


def test_a_notice_says_nothing_but_that_there_is_news(login: Login, ana: Carrier) -> None:
    ben = login("ben")
    ask(ben, "LISTEN observer")
    ask(login("owner"), "INSERT INTO observer.origin VALUES ('c', 'postgres')")
    ask(login("owner"), INSERT.format(origin="c", sequence=1, visibility="team"))
    assert [one.payload for one in ben.notifies(timeout=20, stop_after=1)] == [""]


def test_a_member_sees_his_part_of_the_audit_which_nobody_changes(login: Login) -> None:
    assert ask(login("ben"), "SELECT * FROM observer.audit") == []
    assert len(ask(login("ana"), "SELECT * FROM observer.audit")) == 1
    for change in ("UPDATE {} SET role = 'x'", "DELETE FROM {}", "TRUNCATE {}"):
        with pytest.raises(errors.RaiseException, match="not changed"):
            ask(login("owner"), change.format("observer.audit"))


def test_a_login_or_database_that_is_not_fit_is_refused(share: ServerShare, login: Login) -> None:
    with pytest.raises(ShareUnavailable, match=r"superuser.*observer sync invite"):
        carriers.open_carrier(share.owner, cast("Any", None))
    make_login(login("owner"), "bypass", "BYPASSRLS")
    login("stranger")
    strangers = share.owner.replace("postgres@", "stranger@")
    for url, said in (
        (share.owner.replace("postgres@", "bypass@"), "bound by no policy"),
        (strangers, "no member of the share"),
        (strangers.replace(cast("Any", share).database, "template1"), "no share"),
    ):
        with pytest.raises(ShareUnavailable, match=said):
            PostgresCarrier(url)
    ask(login("owner"), "UPDATE observer.format SET version = 9")
    with pytest.raises(ShareUnavailable, match=r"format 9.*update observer"):
        share.open("ben")


@pytest.mark.parametrize(
    ("call", "error", "said"),
    [
        (postgres.create, BadInput, "holds a share"),
        (lambda url: ServerTeam(url).remove("eve"), NotFound, "no member eve"),
        (lambda url: carriers.join_share(url, Path("/x"), "code"), BadInput, "takes no code"),
    ],
    ids=["a second share", "who is no member", "a code"],
)
def test_what_a_server_cannot_do_is_said(
    share: ServerShare, call: Callable[[str], object], error: type[Exception], said: str
) -> None:
    with pytest.raises(error, match=said):
        call(share.owner)


@pytest.mark.slow
def test_a_server_killed_in_the_middle_loses_and_doubles_nothing(share: ServerShare) -> None:
    server, records = cast("Any", share).server, a_chain("b", 300)
    carrier, reader = share.open("ben"), share.open("reader")
    for at in range(0, 300, 10):
        killer = threading.Thread(target=lambda: (server.stop(), server.start()))
        killer.start()
        while killer.is_alive():
            push_if_up(carrier, records[: at + 10])
        killer.join()
        push_if_up(carrier, records[: at + 10])
    carrier.push(records)
    assert reader_after_restart(reader).records == records
    carrier.close()
    reader.close()


def push_if_up(carrier: Carrier, records: list[Record]) -> None:
    for record in range(1, len(records) + 1):
        try:
            carrier.push(records[:record])
        except ShareUnavailable:
            return


def reader_after_restart(reader: Carrier) -> Any:
    try:
        return reader.pull({}, limit=1000)
    except ShareUnavailable:  # the connection of before
        return reader.pull({}, limit=1000)


@pytest.mark.parametrize(("url", "shown"), [
    ("postgresql://ana:pw@db.example/team", "postgresql://db.example/team"),
    ("postgresql://ana@/team?host=/run", "postgresql:///team?host=/run"),
    ("postgres://db/t?password=pw&user=ana", "postgres://db/t?password=&user=ana"),
    ("git@example.com:team.git", "git@example.com:team.git"),
])  # fmt: skip
def test_an_address_is_shown_without_its_login(url: str, shown: str) -> None:
    assert carriers.without_login(url) == shown


def test_an_owner_who_is_no_superuser_founds_and_invites(server: Server) -> None:
    name = f"plain_{uuid4().hex}"
    with psycopg.connect(server.url("postgres"), autocommit=True) as connection:
        ask(connection, f"CREATE ROLE {name} LOGIN CREATEROLE")
        ask(connection, f"CREATE DATABASE {name} OWNER {name}")
    with psycopg.connect(server.url(name), autocommit=True) as connection:
        ask(connection, "CREATE EXTENSION vector")  # what only a superuser may
    owner = server.url(name, name)
    postgres.create(owner)
    team, records = ServerTeam(owner), a_chain("a", 2)
    ana = carriers.open_carrier(team.invite("Ana"), Path("/nowhere"))
    ana.push(records)
    ana.withhold(["a-1"])
    assert [one.kind for one in ana.pull({}, limit=9).records] == ["withheld", "item"]
    ana.close()
    team.remove(team.members()[0][0])
    assert team.members() == []
