"""Symbols of an edit by the file as it stands."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from observer.core.events import Edit, Event, FileWrite, Prompt
from observer.core.value import SymbolChanges
from observer.ingest.file_changes import MOST_BYTES, with_symbols

BODY = "".join(f"    step{number}()\n" for number in range(9))
TEXT = f"def pay():\n{BODY}\n\ndef refund():\n    pass\n"


def changed(folder: Path, *edits: Edit, path: str = "a.py") -> SymbolChanges | None:
    write = FileWrite(path=path, edits=edits)
    body = with_symbols(Event(id="1", at_ms=1, client="cursor", cwd=str(folder), body=write)).body
    assert isinstance(body, FileWrite)
    return body.symbols


def test_a_piece_is_found_in_its_file(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(TEXT)
    assert changed(tmp_path, Edit(old="step(5)", new="step5()")) == SymbolChanges(
        changed=("pay",), names=("step5",)
    )


@pytest.mark.parametrize(
    "edit",
    [
        pytest.param(Edit(old="a", new="step"), id="at-several-places"),
        pytest.param(Edit(old="a", new="gone()"), id="not-there-any-more"),
        pytest.param(Edit(old="a", new=""), id="removed"),
    ],
)
def test_a_piece_that_is_not_certain_says_nothing(tmp_path: Path, edit: Edit) -> None:
    (tmp_path / "a.py").write_text(TEXT)
    assert changed(tmp_path, edit) is None


def test_a_file_that_is_gone_says_nothing(tmp_path: Path) -> None:
    assert changed(tmp_path, Edit(old="a", new="step5()")) is None
    assert changed(tmp_path, Edit(old="a", new="step5()"), path="a\0.py") is None


def test_what_is_no_usual_file_is_not_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.py")
    assert changed(tmp_path, Edit(old="a", new="step5()")) is None
    (tmp_path / "b.py").write_text(TEXT + "#" * MOST_BYTES)
    assert changed(tmp_path, Edit(old="a", new="step5()"), path="b.py") is None


def test_a_file_that_is_a_folder_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "a.py").mkdir()
    assert changed(tmp_path, Edit(old="a", new="step5()")) is None


def test_without_a_folder_no_file_is_read() -> None:
    assert changed(Path(), Edit(old="a", new="b")) is None


def test_other_events_stay_as_they_are() -> None:
    event = Event(id="1", at_ms=1, client="cursor", body=Prompt(text="hi"))
    assert with_symbols(event) is event


def test_what_has_no_symbols_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "notes.unknown").write_text(TEXT)
    monkeypatch.setattr("observer.ingest.file_changes.read_head", pytest.fail)
    assert changed(tmp_path, Edit(old="step(5)", new="step5()"), path="notes.unknown") is None
