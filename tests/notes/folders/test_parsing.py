from __future__ import annotations

import gc
import io
import signal

import msgspec
import pytest

from observer.core.child_process import write_message
from observer.notes.folders.items import MANY, NoteParser, ParsedNote, main, parsed
from tests.notes.folders.conftest import Vault

TEXTS = [
    ("---\ntitle: Ada\nmeta: {deep: [1, {two: three}]}\n---\n- [fact] one #tag (here)\n", "a.md"),
    ("- relates to [[Ada|her]]\n\nÜber \U0001f600 und Mehr", "b/ü.md"),
    ("", "empty.md"),
]


def batches(parser: NoteParser) -> list[list[ParsedNote]]:
    found = []
    for batch in (TEXTS, [], TEXTS[1:]):
        parser.begin(batch)
        found.append(parser.finish())
    return found


EXPECTED = [[parsed(*text) for text in batch] for batch in (TEXTS, [], TEXTS[1:])]


@pytest.mark.parametrize("count", [3, MANY])
def test_notes_are_parsed_alike_here_and_in_a_process(count: int) -> None:
    with NoteParser(count) as parser:
        assert parser._process.is_running is (count == MANY)
        assert batches(parser) == EXPECTED
    assert not parser._process.is_running


def test_a_process_that_dies_costs_no_note(caplog: pytest.LogCaptureFixture) -> None:
    with NoteParser(MANY) as parser:
        process = parser._process._process
        assert process
        parser.begin(TEXTS)
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert parser.finish() == EXPECTED[0]
        assert batches(parser) == EXPECTED
    assert "the process that parses notes ended with code -9" in caplog.text


def test_the_process_answers_each_message(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = io.BytesIO()
    for batch in (TEXTS, TEXTS[:1]):
        write_message(asked, msgspec.msgpack.encode(batch))
    asked.seek(0)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(asked))
    interrupted = signal.getsignal(signal.SIGINT)
    shown = io.BytesIO()
    shown.close = lambda: None  # type: ignore[method-assign]  # to look at it afterwards
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(shown))
    try:
        main()
    finally:
        signal.signal(signal.SIGINT, interrupted)
        gc.enable()
    data = shown.getvalue()
    size = int.from_bytes(data[:8], "big")
    first = msgspec.msgpack.decode(data[8 : 8 + size], type=list[ParsedNote])
    assert first == EXPECTED[0]
    assert int.from_bytes(data[8 + size : 16 + size], "big") == len(data) - size - 16


def test_a_large_folder_is_stored_like_a_small_one(vault: Vault) -> None:
    count = MANY + 50
    for number in range(count):
        vault.put(f"n{number}.md", f"# Note {number}\n\n- [fact] holds {number} #n{number}\n")
    assert (vault.scan().changed, len(vault.paths())) == (count, count)
    assert vault.item("n7.md").tags == ("n7",)
    assert vault.item(f"n{count - 1}.md").title == f"n{count - 1}"


def test_what_changes_while_others_are_stored_is_stored_as_it_is_then(vault: Vault) -> None:
    """The second batch is read before the first one is stored."""
    names = [f"n{number:03}.md" for number in range(250)]
    for name in names:
        vault.put(name, "before")

    def change(_: float) -> bool:
        vault.put(names[-1], "after")
        return True

    vault.sync.sync(names, go_on=change)
    assert vault.item(names[-1]).narrative == "after"
    assert vault.item(names[-2]).narrative == "before"


def test_what_goes_while_others_are_stored_goes_with_the_next_look(vault: Vault) -> None:
    names = [f"n{number:03}.md" for number in range(250)]
    for name in names:
        vault.put(name, "before")

    def lose(_: float) -> bool:
        (vault.root / names[-1]).unlink(missing_ok=True)
        return True

    vault.sync.sync(names, go_on=lose)
    assert vault.scan().gone == 1
    assert names[-1] not in vault.paths()
