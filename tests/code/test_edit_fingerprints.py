"""By what an edit and its undoing know each other."""

from __future__ import annotations

import pytest

from observer.code import edits
from observer.code.edits import inverse_fingerprint
from observer.core.events import Edit, FileWrite


def write(*edits: tuple[str, str]) -> FileWrite:
    return FileWrite(path="a.py", edits=tuple(Edit(old=old, new=new) for old, new in edits))


@pytest.mark.parametrize(
    ("edit", "back"),
    [
        pytest.param(("x = 1\n", "x = 2\n"), ("x = 2\n", "x = 1\n"), id="a line"),
        pytest.param(("", "y = 1\n"), ("y = 1\n", ""), id="an insertion"),
        pytest.param(
            ("a\nx\nb\n", "a\ny\nb\n"), ("a\nb\ny\n", "a\nb\nx\n"), id="other lines around"
        ),
        pytest.param(("a\nb", "a\nx\nb"), ("a\nx\nb\nc", "a\nb\nc"), id="more lines around"),
    ],
)
def test_an_undoing_has_the_reverse_mark(edit: tuple[str, str], back: tuple[str, str]) -> None:
    (mark,) = edits.fingerprints_of(write(edit)).edits
    assert edits.fingerprints_of(write(back)).edits == (inverse_fingerprint(mark),)


def test_another_edit_has_another_mark() -> None:
    assert edits.fingerprints_of(write(("x = 1", "x = 2"))) != edits.fingerprints_of(
        write(("x = 1", "x = 3"))
    )


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(FileWrite(path="a.py"), id="nothing known"),
        pytest.param(write(("x", "x")), id="no change"),
        pytest.param(write(*[("x", f"{n}") for n in range(99)]), id="too many edits"),
    ],
)
def test_some_writes_have_no_mark(body: FileWrite) -> None:
    assert edits.fingerprints_of(body).edits == ()


def test_a_whole_file_is_known_by_its_content() -> None:
    first, second = (FileWrite(path="a.py", content=text) for text in ("x\n", "y\n"))
    assert (
        edits.fingerprints_of(first)
        == edits.fingerprints_of(first)
        != edits.fingerprints_of(second)
    )


@pytest.mark.parametrize(
    ("old", "new", "is_probe"),
    [
        ("", "    print(total)\n", True),
        ("def f():\n", "def f():\n    import pdb; pdb.set_trace()\n", True),
        ("", "console.log('x', x);\n\nlogger.debug(y)\n", True),
        ("", "\tfmt.Println(x)\n", True),
        ("", "p total\n", True),
        ("", "prices = 1\n", False),
        ("", "print(x)\nx = 1\n", False),
        ("x = 1\n", "print(x)\n", False),
        ("print(x)\n", "", False),
        ("", "\n", False),
    ],
)
def test_a_probe_only_adds_what_prints(old: str, new: str, is_probe: bool) -> None:
    assert edits.fingerprints_of(write((old, new))).is_probe is is_probe
