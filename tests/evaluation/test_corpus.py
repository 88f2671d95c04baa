"""Where sessions of a corpus worked, and sets: read as documented, refused by file and line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from evaluation import sets
from sessions import stored
from sessions.corpus import Repository, Source
from sessions.history import History
from sessions.kept import Kept
from sessions.replay import Options, Replay

from observer.core.errors import BadInput, NotFound
from observer.search.query import STOP_WORDS, plan
from tests.evaluation.conftest import Git
from tests.importers.played import BEGUN_MS, Played

HOUR_MS = 3_600_000


@pytest.fixture
def corpus(tmp_path: Path, shop: Path, git: Git) -> Path:
    """The bundle of the shop, as yet without transcripts."""
    folder = tmp_path / "corpus"
    folder.mkdir()
    git(shop, "bundle", "create", "-q", str(folder / "repository.bundle"), "--all")
    return folder


def worked(corpus: Path, *sessions: tuple[str, str]) -> Path:
    """Add a session for each folder, that prompts and reads a file by its path."""
    for number, (cwd, file) in enumerate(sessions):
        played = Played(Path(cwd), f"s{number}", begun_ms=BEGUN_MS + number * HOUR_MS)
        played.prompt("look at the cart")
        if file:
            played.call("Read", {"file_path": file}, {"type": "text"})
        played.say("It holds a limit.")
        played.write(corpus / "transcripts")
    return corpus


def places(corpus: Path, folder: Path) -> list[tuple[str, str]]:
    """Return where each session began and what it read, relative to the clone."""
    found = Repository(corpus, Source(), folder)
    return [
        tuple(
            str(event.payload.get("tool_input", {}).get("file_path", event.payload["cwd"])).replace(
                str(found.folder), "CLONE"
            )
            for event in (each.events[0], each.events[2])
        )
        for each in found.transcripts
    ]


@pytest.mark.parametrize(
    ("cwd", "file", "shown"),
    [
        pytest.param("", "/src/cart.py", ("CLONE", "CLONE/src/cart.py"), id="the top folder"),
        pytest.param("/src", "/src/cart.py", ("CLONE/src", "CLONE/src/cart.py"), id="a subfolder"),
    ],
)
@pytest.mark.parametrize(
    "root",
    [
        "/Users/ana/Code/shop",
        "/home/bo/work/shop",
        "/home/bo/work/shop-returns",
        "/Users/ana/Code/shop/.claude/worktrees/returns",
        "/home/src",
    ],
)
def test_the_folder_of_any_person_or_work_tree_is_the_clone(
    corpus: Path, tmp_path: Path, root: str, cwd: str, file: str, shown: tuple[str, str]
) -> None:
    ana = ("/Users/ana/Code/shop", "/Users/ana/Code/shop/src/desk.py")
    worked(corpus, ana, ana, (root + cwd, root + file))
    assert places(corpus, tmp_path / "kept") == [("CLONE", "CLONE/src/desk.py")] * 2 + [shown]


def test_a_folder_with_a_longer_name_is_another(corpus: Path, tmp_path: Path) -> None:
    worked(corpus, ("/Users/ana/Code/shop", "/Users/ana/Code/shop-old/src/cart.py"))
    assert places(corpus, tmp_path / "kept") == [("CLONE", "/Users/ana/Code/shop-old/src/cart.py")]


def test_no_session_of_another_person_is_left_without_a_project(
    corpus: Path, tmp_path: Path
) -> None:
    tree = "/Users/ana/Code/shop/.claude/worktrees/returns"
    worked(corpus, *((each, f"{each}/src/cart.py") for each in ("/home/bo/shop", tree)))
    kept = Kept(tmp_path / "kept", corpus)
    Replay(kept, Options()).run()
    figures = {each.name: each.value for each in stored.scored(kept).measures}
    assert figures["sessions in no project"] == 0


@pytest.mark.parametrize("words", [("-b", "returns"), ("--detach",)], ids=["a branch", "no branch"])
def test_a_clone_left_elsewhere_is_read_again(
    corpus: Path, tmp_path: Path, git: Git, words: tuple[str, ...]
) -> None:
    worked(corpus, ("/Users/ana/Code/shop", ""))
    found = Repository(corpus, Source(), tmp_path)
    git(found.folder, "checkout", "-q", *words)
    assert History(found.folder).main_name == "main"
    assert History(found.folder).branch_of == found.history.branch_of


NOTES = Path(__file__).parents[2] / "observer/cli/doctor/notes"
DOCUMENT = b'{"id": "a", "title": "Edit a.py"}'
QUESTION = b'{"q": "why a", "rel": ["a"]}'


def a_set(folder: Path, documents: bytes = DOCUMENT, questions: bytes = QUESTION) -> Path:
    (folder / "shop_diff_docs.jsonl").write_bytes(documents)
    (folder / "shop_diff_q.jsonl").write_bytes(questions)
    return folder / "shop_diff_q.jsonl"


def test_a_set_is_read(tmp_path: Path) -> None:
    full = {"id": "b", "title": "t", "narrative": "n", "facts": ["f"], "files": ["x.py"]}
    lines = DOCUMENT + b"\n\n" + json.dumps(full | {"concepts": [], "hash": 1}).encode() + b"\r\n"
    found = sets.read(a_set(tmp_path, lines))
    assert found.name == "shop_diff"
    assert found.documents == (
        sets.SetDocument(id="a", title="Edit a.py"),
        sets.SetDocument(id="b", title="t", narrative="n", facts=("f",), files=("x.py",)),
    )
    assert found.questions == (sets.Question(q="why a", rel=("a",)),)


def test_queries_are_asked_of_documents_of_the_repository_or_its_diffs(tmp_path: Path) -> None:
    a_set(tmp_path, DOCUMENT + b'\n{"id": "b", "title": "t"}')
    (tmp_path / "shop_sym_q.jsonl").write_bytes(QUESTION)
    found = sets.read(tmp_path / "shop_sym_q.jsonl")
    assert (found.name, len(found.documents)) == ("shop_sym", 2)
    (tmp_path / "shop_docs.jsonl").write_bytes(DOCUMENT)
    assert len(sets.read(tmp_path / "shop_sym_q.jsonl").documents) == 1


def test_the_short_notes_are_60_facts_among_560_each_asked_for_in_other_words() -> None:
    halves = [sets.read(path) for path in sets.find(NOTES)]
    assert [len(half.questions) for half in halves] == [30, 30]
    titles = {each.id: each.title for each in halves[0].documents}
    assert len(set(titles.values())) == 560
    for question in (each for half in halves for each in half.questions):
        asked, shown = (set(plan(text).words) for text in (question.q, titles[question.rel[0]]))
        assert not asked & shown - STOP_WORDS


def test_sets_are_found_by_name_and_what_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="no set in"):
        sets.find(tmp_path)
    path = a_set(tmp_path)
    assert sets.find(tmp_path) == [path]
    path.unlink()
    path.mkdir()
    with pytest.raises(NotFound, match="Is a directory"):
        sets.read(path)
    (tmp_path / "shop_diff_docs.jsonl").unlink()
    (tmp_path / "shop_narr_q.jsonl").write_bytes(QUESTION)
    with pytest.raises(NotFound, match=r"shop_narr_docs\.jsonl or .*shop_diff_docs\.jsonl"):
        sets.read(tmp_path / "shop_narr_q.jsonl")


@pytest.mark.parametrize(
    "line",
    [
        pytest.param(b"nonsense", id="no JSON"),
        pytest.param(b'{"id": "b"', id="cut off"),
        pytest.param(b'["b"]', id="no object"),
        pytest.param(b'{"id": "b"}', id="no title"),
        pytest.param(b'{"id": 1, "title": "t"}', id="id no text"),
        pytest.param(b'{"id": "b", "title": "t", "facts": "f"}', id="facts no list"),
        pytest.param(b'{"id": "b", "title": "\xff"}', id="no UTF-8"),
        pytest.param(b'{"id": "b", "title": "\\ud800"}', id="half a character"),
        pytest.param(b"[" * 100_000, id="deep"),
        pytest.param(DOCUMENT, id="id given twice"),
    ],
)
def test_a_wrong_document_is_named_by_file_and_line(tmp_path: Path, line: bytes) -> None:
    questions = a_set(tmp_path, DOCUMENT + b"\n" + line)
    with pytest.raises(BadInput, match=r"shop_diff_docs\.jsonl:2: ") as raised:
        sets.read(questions)
    assert raised.value.hint


@pytest.mark.parametrize(
    "line",
    [
        pytest.param(b'{"q": "b"}', id="no documents"),
        pytest.param(b'{"q": "b", "rel": []}', id="about nothing"),
        pytest.param(b'{"q": " ", "rel": ["a"]}', id="empty"),
        pytest.param(b'{"q": "b", "rel": ["z"]}', id="unknown document"),
    ],
)
def test_a_wrong_query_is_named_by_file_and_line(tmp_path: Path, line: bytes) -> None:
    with pytest.raises(BadInput, match=r"shop_diff_q\.jsonl:3: "):
        sets.read(a_set(tmp_path, questions=QUESTION + b"\n\n" + line))


def test_a_set_without_queries_is_refused_and_earlier_documents_are_newer(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no queries"):
        sets.read(a_set(tmp_path, questions=b"\n"))
    document = sets.SetDocument(id="a", title="t")
    assert sets.NOW_MS > sets.item(document, 1).created_ms > sets.item(document, 2).created_ms


@pytest.mark.parametrize("name", ["a\0b", "\u202e", "x" * 1_000_000], ids=["NUL", "bidi", "long"])
def test_any_text_may_stand_in_a_document(tmp_path: Path, name: str) -> None:
    line = json.dumps({"id": name, "title": name, "facts": [name]}).encode()
    questions = json.dumps({"q": name, "rel": [name]}).encode()
    found = sets.read(a_set(tmp_path, line, questions))
    assert sets.item(found.documents[0], 1).title == name
