from __future__ import annotations

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from observer.core.errors import Ambiguous, NotFound
from observer.core.model import Item, Project, Session
from observer.search.handles import located, meant, named, session_id
from observer.store.database import SqliteStore

SHOP = Project(
    id=2,
    uuid="u-2",
    name="shop",
    roots=("/home/ana/shop",),
    remotes=("example.org/ana/shop",),
    earlier_names=("store",),
)
INNER = Project(id=3, uuid="u-3", name="Shop", roots=("/home/ana/shop/api",))
OTHER = Project(id=4, uuid="u-4", name="other")
TWIN = Project(id=5, uuid="u-5", name="other", roots=("/srv/other",))
ALL = (SHOP, INNER, OTHER, TWIN)


@pytest.mark.parametrize(
    ("handle", "project"),
    [
        ("u-2", SHOP),
        ("/home/ana/shop", SHOP),
        ("example.org/ana/shop", SHOP),
        ("shop", SHOP),
        ("Shop", INNER),
        ("store", SHOP),
        ("/home/ana/shop/src/cart.py", SHOP),
        ("/home/ana/shop/api/main.py", INNER),
    ],
)
def test_a_handle_means_one_project(handle: str, project: Project) -> None:
    assert named(ALL, handle) == project


def test_of_two_with_one_name_the_exact_handles_are_shown() -> None:
    with pytest.raises(Ambiguous) as refused:
        named(ALL, "other")
    assert refused.value.hint == "use one of these: u-4, /srv/other"


@pytest.mark.parametrize("handle", ["", "nothing", "/elsewhere", "home/ana/shop/src"])
def test_what_means_none_is_refused(handle: str) -> None:
    with pytest.raises(NotFound, match="no project"):
        named(ALL, handle)


def test_before_the_first_project_the_refusal_says_how_to_begin() -> None:
    with pytest.raises(NotFound) as refused:
        named([], "shop")
    assert "observer install" in (refused.value.hint or "")


@pytest.mark.parametrize(
    ("files", "names", "home"),
    [
        pytest.param(["/home/ana/shop/src/cart.py"], ("src/cart.py",), 2, id="whole-path"),
        pytest.param(["/home/ana/shop/api/main.py"], ("main.py",), 3, id="nested-project"),
        pytest.param(["./src/cart.py", "lib//a/"], ("src/cart.py", "lib/a"), None, id="untidy"),
        pytest.param(["/etc/hosts"], ("/etc/hosts",), None, id="in-no-project"),
        pytest.param(["/home/ana/shop/a", "/srv/other/b"], ("a", "b"), None, id="of-two"),
        pytest.param(["/home/ana/shop/a", "b"], ("a", "b"), None, id="whole-and-end"),
        pytest.param(["/home/ana/shop/", "/home/ana/shop/a"], (), 2, id="root"),
        pytest.param([], (), None, id="none"),
    ],
)
def test_files_are_named_as_items_name_them(
    files: list[str], names: tuple[str, ...], home: int | None
) -> None:
    assert located(ALL, files) == (names, home)


@pytest.fixture
def sessions(store: SqliteStore) -> SqliteStore:
    with store.write() as writer:
        writer.put_session(Session(id=8, external="abc", client="kiro", project_id=2))
        writer.put_session(Session(id=12, external="8", client="kiro", project_id=2))
    return store


@pytest.mark.parametrize(
    ("handle", "session"), [("", None), ("abc", 8), ("8", 12), ("12", 12), ("s12", 12)]
)
def test_a_session_is_named_by_its_client_first(
    sessions: SqliteStore, handle: str, session: int | None
) -> None:
    with sessions.read() as reader:
        assert session_id(reader, handle) == session


@pytest.mark.parametrize("handle", ["abcd", "99", "9" * 40, "\u0662"])
def test_a_session_that_nobody_knows_is_refused(sessions: SqliteStore, handle: str) -> None:
    with sessions.read() as reader, pytest.raises(NotFound, match="no session"):
        session_id(reader, handle)


def test_the_session_of_an_item_is_meant_where_the_handle_is_an_items(
    sessions: SqliteStore, an_item: Callable[..., Item]
) -> None:
    with sessions.write() as writer:
        writer.put_items([an_item(5, session_id=12)])
    with sessions.read() as reader:
        assert session_id(reader, "#20") == 12
        with pytest.raises(NotFound, match="no session 20"):
            session_id(reader, "20")


def test_an_item_is_meant_by_its_id_or_the_beginning_of_its_uuid(
    store: SqliteStore, an_item: Callable[..., Item]
) -> None:
    alike = [replace(an_item(seq), uuid=f"0123abcd-{seq}") for seq in (1, 2)]
    with store.write() as writer:
        writer.put_items(alike)
    with store.read() as reader:
        assert meant(reader, f" #{alike[0].id}") == meant(reader, "0123ABCD-1") == alike[0].id
        with pytest.raises(Ambiguous, match="fits several items"):
            meant(reader, "0123abcd")
        with pytest.raises(NotFound, match="no item"):
            meant(reader, "4711")
