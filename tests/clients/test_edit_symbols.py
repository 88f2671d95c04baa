"""What an edit did to the symbols of a file whose whole text came with the answer."""

from __future__ import annotations

from typing import Any

import pytest

from observer.clients import tools
from observer.core.value import SymbolChanges

BODY = "\n".join(f"\tstep{number}()" for number in range(12))
OLD = f"package shop\n\nfunc Pay() {{\n{BODY}\n}}\n"
NEW = OLD.replace("step6()", "step6(1)")
HUNK = {
    "oldStart": 9,
    "oldLines": 3,
    "newStart": 9,
    "newLines": 3,
    "lines": ["\tstep5()".replace("\t", " \t", 1), "-\tstep6()", "+\tstep6(1)", " \tstep7()"],
}
PAID = SymbolChanges(changed=("Pay",))


def edit(given: dict[str, Any], response: object, *, tool: str = "Edit") -> SymbolChanges | None:
    call = tools.ToolCall(tool=tool, given={"file_path": "shop/pay.go", **given}, response=response)  # type: ignore[arg-type] # as it came
    return (tools.write if tool == "Write" else tools.edit)(call).symbols


CASES = [
    pytest.param({"old_string": "step6()", "new_string": "step6(1)"},
                 {"originalFile": OLD, "structuredPatch": [HUNK]}, PAID, id="patch"),
    pytest.param({"old_string": "step6()", "new_string": "step6(1)"}, {"originalFile": OLD}, PAID,
                 id="replacement"),
    pytest.param({"old_string": "step6()", "new_string": "step6(1)"},
                 {"originalFile": OLD, "structuredPatch": [{**HUNK, "oldStart": 2}]}, PAID,
                 id="patch-that-does-not-fit"),
    pytest.param({"edits": [{"old_string": "step6()", "new_string": "go()"},
                            {"old_string": "go()", "new_string": "step6(1)"}]},
                 {"originalFile": OLD}, PAID, id="one-after-the-other"),
    pytest.param({"old_string": "step", "new_string": "done", "replace_all": True},
                 {"originalFile": OLD},
                 SymbolChanges(changed=("Pay",), names=tuple(f"done{n}" for n in range(12)),
                               dropped=tuple(f"step{n}" for n in range(12))), id="all"),
    pytest.param({"old_string": "absent", "new_string": "x"}, {"originalFile": OLD}, None,
                 id="not-there"),
    pytest.param({"old_string": "a", "new_string": "b"}, {"originalFile": None}, None,
                 id="no-original"),
    pytest.param({"old_string": "", "new_string": ""}, {"originalFile": OLD}, None, id="nothing"),
]  # fmt: skip


@pytest.mark.parametrize(("given", "response", "symbols"), CASES)
def test_an_edit_says_what_became_of_symbols(
    given: dict[str, Any], response: dict[str, Any], symbols: SymbolChanges | None
) -> None:
    assert edit(given, response) == symbols


WRITES = [
    pytest.param({"type": "create", "originalFile": None}, ("Pay",), id="new"),
    pytest.param({"type": "update", "originalFile": NEW}, (), id="over-a-known-text"),
    pytest.param({"type": "update", "structuredPatch": [{**HUNK, "lines": [
        " \tstep5()", "-\tstep6(1)", "+\tstep6()", " \tstep7()", "\\ No newline at end of file"]}]},
        (), id="patch"),
]  # fmt: skip


@pytest.mark.parametrize(("response", "added"), WRITES)
def test_a_whole_file_says_what_became_of_symbols(
    response: dict[str, Any], added: tuple[str, ...]
) -> None:
    symbols = edit({"content": OLD}, response, tool="Write")
    assert symbols
    assert (symbols.added, symbols.changed) == (added, () if added else ("Pay",))


def test_a_patch_that_only_adds_lines_is_applied_behind_the_line_it_names() -> None:
    hunk = {"oldStart": 1, "oldLines": 0, "newStart": 2, "lines": ["+func Go() {}"]}
    symbols = edit({}, {"originalFile": OLD, "structuredPatch": [hunk]})
    assert symbols
    assert symbols.added == ("Go",)


def test_a_file_written_over_an_unknown_text_says_nothing() -> None:
    assert edit({"content": OLD}, {"type": "update"}, tool="Write") is None


def test_a_file_of_no_language_has_no_symbols() -> None:
    given = {"file_path": "notes.xyz", "old_string": "a", "new_string": "b"}
    assert edit(given, {"originalFile": "a"}) is None


def test_names_are_kept_in_number_and_length() -> None:
    method = f"    def {'f' * 90}(self): pass\n"
    text = "".join(f"class C{number}{'c' * 80}:\n{method}" for number in range(100))
    symbols = edit({"file_path": "a.py", "content": text}, {"type": "create"}, tool="Write")
    assert symbols
    assert (len(symbols.added), max(map(len, symbols.added))) == (48, 160)
