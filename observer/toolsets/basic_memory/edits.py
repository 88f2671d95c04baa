"""Edits of a note's text: add to it, replace words, replace or extend a section. Pure.

Every byte that an edit does not name stays as it is.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from observer.core.errors import BadInput, NotFound
from observer.note_files.frontmatter import parts_of

Operation = Literal[
    "append",
    "prepend",
    "find_replace",
    "replace_section",
    "insert_before_section",
    "insert_after_section",
]

_HEADING = re.compile(r"(#{1,6})\s+\S.*")
_FENCE = re.compile(r"\s{0,3}(```|~~~)")


class TextEdit(NamedTuple):
    """What to do to a text; `section` and `find_text` are for the operations that name them."""

    operation: Operation
    content: str
    section: str = ""
    find_text: str = ""
    expected: int = 1
    with_subsections: bool = True


def check(edit: TextEdit) -> None:
    """Refuse an edit that lacks what its operation needs.

    Raises:
        BadInput: it does.
    """
    if edit.operation == "find_replace" and not edit.find_text.strip():
        raise BadInput(
            "find_text parameter is required for find_replace operation",
            hint="name the words that are replaced",
        )
    if edit.operation.endswith("_section") and not edit.section.strip():
        raise BadInput(
            "section parameter is required for section-based operations",
            hint='name the heading: section="## Notes"',
        )


def apply(text: str, edit: TextEdit) -> str:
    """Return a text after an edit.

    Raises:
        NotFound: the words, or the section to insert at, are not there.
        BadInput: the words are there another number of times, or the section several times.
    """
    check(edit)
    match edit.operation:
        case "append":
            gap = "\n" if text and not text.endswith("\n") else ""
            return f"{text}{gap}{edit.content}"
        case "prepend":
            head, _, body = parts_of(text)
            lead = len(body) - len(body.lstrip("\r\n")) if head else 0
            return f"{head}{body[:lead]}{edit.content.rstrip()}\n{body[lead:]}"
        case "find_replace":
            return _replaced(text, edit)
        case _:
            return _in_section(text, edit)


def _replaced(text: str, edit: TextEdit) -> str:
    found = text.count(edit.find_text)
    if not found:
        raise NotFound(
            f"Text to replace not found: '{edit.find_text[:200]}'",
            hint="read the note; upper and lower case count",
        )
    if found != edit.expected:
        raise BadInput(
            f"Expected {edit.expected} occurrences of '{edit.find_text[:200]}', but found {found}",
            hint=f"set expected_replacements={found}, or name more of the text",
        )
    return text.replace(edit.find_text, edit.content)


def _in_section(text: str, edit: TextEdit) -> str:
    heading = edit.section.strip()
    heading = heading if heading.startswith("#") else f"## {heading}"
    lines = text.split("\n")
    headings = _headings(lines)
    places = [place for place in headings if lines[place].strip() == heading]
    if len(places) > 1:
        raise BadInput(
            f"Multiple sections found with header '{heading}'",
            hint="make the headings differ, or use find_replace",
        )
    if not places:
        if edit.operation != "replace_section":
            raise NotFound(
                f"Section '{heading}' not found in document",
                hint="replace_section adds a section that is not there",
            )
        return f"{text}\n\n{heading}\n{edit.content}"
    content = _without_heading(edit.content, heading)
    place = places[0]
    if edit.operation == "insert_before_section":
        gap = [""] if place and lines[place - 1].strip() else []
        return "\n".join([*lines[:place], *gap, edit.content, "", *lines[place:]])
    if edit.operation == "insert_after_section":
        rest = lines[place + 1 :]
        gap = [""] if rest and rest[0].strip() else []
        return "\n".join([*lines[: place + 1], content, *gap, *rest])
    level = _level(lines[place]) if edit.with_subsections else 6
    end = next(
        (each for each in headings if each > place and _level(lines[each]) <= level), len(lines)
    )
    return "\n".join([*lines[: place + 1], content, *lines[end:]])


def _headings(lines: list[str]) -> list[int]:
    found, fence = [], ""
    for number, line in enumerate(lines):
        if mark := _FENCE.match(line):
            fence = "" if fence == mark[1] else fence or mark[1]
        elif not fence and _HEADING.fullmatch(line.rstrip()):
            found.append(number)
    return found


def _level(heading: str) -> int:
    return len(heading) - len(heading.lstrip("#"))


def _without_heading(content: str, heading: str) -> str:
    """Return a content without the heading of its section at its beginning."""
    first, _, rest = content.lstrip().partition("\n")
    return rest.lstrip("\n") if first.strip() == heading else content
