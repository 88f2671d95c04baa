"""What is not committed is asked of git when it is said."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from observer.core.clock import now_ms
from observer.core.config import Settings
from observer.core.events import AnyBody, Edit, Event, FileWrite, SessionEnd
from observer.core.model import Project
from observer.index import Index
from observer.ingest.pipeline import Pipeline
from observer.local.spool import Spool
from observer.memory.accounts import uncommitted_at
from observer.memory.api import Memory
from observer.projects import PlaceCache
from observer.store.database import SqliteStore
from observer.store.stemmer import stemmer
from observer.tools.documents import Documents
from observer.tools.registry import tools_of

Git = Callable[..., str]


class Shop:
    """A repository in which a session changed a file, and its memory."""

    def __init__(self, store: SqliteStore, root: Path, git: Git) -> None:
        self.root, self._git = root, git
        self._ids = itertools.count()
        self._pipeline = Pipeline(
            store, Spool(root / "spool"), settings=Settings(), places=PlaceCache(), now_ms=now_ms
        )
        self.memory = Memory(
            store,
            owner="ana",
            now_ms=now_ms,
            index=Index(root / "index", stem=stemmer(), is_owner=False),
            encode=lambda *_: None,
            record=self._pipeline.ingest,
        )
        self.git("init", "-q")
        self.save("a = 1\n")
        self.commit()
        self.save("a = 2\n")
        path = str(root / "cart.py")
        self.tell(FileWrite(path=path, edits=(Edit(old="a = 1\n", new="a = 2\n"),)))

    def git(self, *words: str) -> None:
        who = ("-c", "user.name=Ana", "-c", "user.email=ana@example.com")
        self._git(self.root, *who, *words)

    def commit(self) -> None:
        self.git("add", "cart.py")
        self.git("commit", "-qm", "Begin")

    def save(self, text: str) -> None:
        (self.root / "cart.py").write_text(text)

    def tell(self, body: AnyBody) -> None:
        event = Event(
            id=f"e{next(self._ids)}",
            at_ms=now_ms() - 600_000,
            client="claude-code",
            session="s1",
            cwd=str(self.root),
            body=body,
        )
        self._pipeline.ingest([event])

    def contexts(self) -> list[str]:
        """Return what the tool and the document of a project's context say."""
        tool = tools_of(("core",), self.memory, lambda: str(self.root))["get_context"]
        document = Documents(self.memory, lambda: str(self.root)).context(
            self.memory.project("shop")
        )
        return [tool.call({}).text, document]


@pytest.fixture
def shop(tmp_path: Path, git: Git) -> Iterator[Shop]:
    store = SqliteStore(tmp_path / "store" / "observer.db")
    (tmp_path / "shop").mkdir()
    yield Shop(store, tmp_path / "shop", git)
    store.close()


@pytest.mark.parametrize(
    ("commands", "is_shown"),
    [
        pytest.param([], True, id="changed"),
        pytest.param(["stash"], False, id="set aside"),
        pytest.param(["stash", "stash pop"], True, id="and back"),
        pytest.param(["checkout cart.py"], False, id="taken back"),
        pytest.param(["commit -qam Round"], False, id="committed by a person"),
        pytest.param(["stash", "checkout -qb new"], False, id="on another branch"),
    ],
)
def test_a_context_says_what_git_says(shop: Shop, commands: list[str], is_shown: bool) -> None:
    shop.tell(SessionEnd())
    for command in commands:
        shop.git(*command.split())
    # A summary says what was so when its session ended, with the time.
    lines = [re.search(r"^#\d+ not committed", text, re.MULTILINE) for text in shop.contexts()]
    assert [line is not None for line in lines] == [is_shown, is_shown]


def test_the_work_tree_around_the_folder_is_asked(tmp_path: Path) -> None:
    roots = tuple(str(tmp_path / name) for name in ("one", "two"))
    project = Project(id=2, uuid="u", name="shop", roots=roots)
    for folder, root in ((f"{roots[0]}/src", roots[0]), ("", roots[1]), ("/tmp", roots[1])):
        asks = uncommitted_at(project, folder)
        assert asks
        assert asks.args == (root,)  # type: ignore[attr-defined]
    assert uncommitted_at(Project(id=2, uuid="u", name="shop"), "") is None
