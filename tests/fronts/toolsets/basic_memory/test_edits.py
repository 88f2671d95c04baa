"""Edits of a note's text: what each does, and what it leaves alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from observer.core.errors import BadInput, NotFound
from observer.tools.basic_memory.notes import TextEdit, apply

HEAD = "---\ntitle: A\n---\n"
NOTE = f"{HEAD}\n# A\n\n## One\n\nfirst\n\n### Inner\n\ndeep\n\n## Two\n\nsecond\n"
FENCED = "## One\n\n```\n## Two\n```\n\n## Two\n\nreal\n"


@pytest.mark.parametrize(
    ("text", "edit", "after"),
    [
        pytest.param("a\n", TextEdit("append", "b"), "a\nb", id="append"),
        pytest.param("a", TextEdit("append", "b"), "a\nb", id="append to a line"),
        pytest.param("", TextEdit("append", "b"), "b", id="append to nothing"),
        pytest.param("a\n", TextEdit("prepend", "b"), "b\na\n", id="prepend"),
        pytest.param(f"{HEAD}\na", TextEdit("prepend", "b"), f"{HEAD}\nb\na", id="behind the head"),
        pytest.param("x y", TextEdit("find_replace", "z", find_text="y"), "x z", id="replace"),
        pytest.param(
            "x x", TextEdit("find_replace", "", find_text="x", expected=2), " ", id="replace two"
        ),
        pytest.param(
            NOTE,
            TextEdit("replace_section", "new", section="## One"),
            f"{HEAD}\n# A\n\n## One\nnew\n## Two\n\nsecond\n",
            id="section with those below",
        ),
        pytest.param(
            NOTE,
            TextEdit("replace_section", "new", section="## One", with_subsections=False),
            f"{HEAD}\n# A\n\n## One\nnew\n### Inner\n\ndeep\n\n## Two\n\nsecond\n",
            id="section alone",
        ),
        pytest.param(
            NOTE,
            TextEdit("replace_section", "## Two\n\nnew", section="Two"),
            NOTE.replace("\nsecond\n", "new"),
            id="heading said twice",
        ),
        pytest.param(
            "a",
            TextEdit("replace_section", "new", section="## Z"),
            "a\n\n## Z\nnew",
            id="new section",
        ),
        pytest.param(
            FENCED,
            TextEdit("replace_section", "new", section="## Two"),
            "## One\n\n```\n## Two\n```\n\n## Two\nnew",
            id="code is no heading",
        ),
        pytest.param(
            "a\n## B\nb",
            TextEdit("insert_before_section", "new", section="## B"),
            "a\n\nnew\n\n## B\nb",
            id="before",
        ),
        pytest.param(
            "## B\nb",
            TextEdit("insert_after_section", "new", section="B"),
            "## B\nnew\n\nb",
            id="after",
        ),
        pytest.param(
            "## B\n\nb",
            TextEdit("insert_after_section", "new", section="B"),
            "## B\nnew\n\nb",
            id="after, with a gap",
        ),
    ],
)
def test_an_edit_changes_what_it_names(text: str, edit: TextEdit, after: str) -> None:
    assert apply(text, edit) == after


@pytest.mark.parametrize(
    ("edit", "error", "reason"),
    [
        (TextEdit("find_replace", "x"), BadInput, "find_text parameter is required"),
        (
            TextEdit("find_replace", "x", find_text="  "),
            BadInput,
            "find_text parameter is required",
        ),
        (TextEdit("find_replace", "x", find_text="absent"), NotFound, "not found: 'absent'"),
        (
            TextEdit("find_replace", "x", find_text="e", expected=2),
            BadInput,
            "Expected 2 .* found 6",
        ),
        (TextEdit("replace_section", "x"), BadInput, "section parameter is required"),
        (TextEdit("insert_after_section", "x", section="## Z"), NotFound, "'## Z' not found"),
    ],
)
def test_an_edit_that_does_not_fit_is_refused(
    edit: TextEdit, error: type[Exception], reason: str
) -> None:
    with pytest.raises(error, match=reason):
        apply(NOTE, edit)


def test_a_section_that_is_there_twice_is_refused() -> None:
    with pytest.raises(BadInput, match="Multiple sections"):
        apply("## A\n\n## A\n", TextEdit("replace_section", "x", section="## A"))


@given(st.text(), st.text())
def test_what_is_appended_follows_the_text_untouched(text: str, content: str) -> None:
    after = apply(text, TextEdit("append", content))
    assert after.startswith(text)
    assert after.endswith(content)
