"""Tools that read, write and edit one note; an edit leaves every byte that it does not name."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Any, Literal, NamedTuple

from msgspec import UNSET, Meta

from observer.core.errors import BadInput, NotFound
from observer.core.note_file import NoteFile
from observer.notes.folders import tree
from observer.notes.folders.grammar import (
    fields_of,
    json_fields_of,
    parts_of,
    permalink_of,
    with_fields,
)
from observer.notes.values import check_texts, metadata_text
from observer.tools.basic_memory.selection import tags_of
from observer.tools.basic_memory.vault import (
    Format,
    ProjectName,
    Vault,
    VaultTools,
    as_answer,
    table,
)
from observer.tools.tool import Row, ToolResult, offered, row

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


def apply(text: str, edit: TextEdit) -> str:
    """Return a text after an edit.

    Raises:
        NotFound: the words, or the section to insert at, are not there.
        BadInput: words or section are not named, or there another number of times.
    """
    match edit.operation:
        case "append":
            gap = "\n" if text and not text.endswith("\n") else ""
            return f"{text}{gap}{edit.content}"
        case "prepend":
            head, _, body = parts_of(text)
            lead = len(body) - len(body.lstrip("\r\n")) if head else 0
            return f"{head}{body[:lead]}{edit.content.rstrip()}\n{body[lead:]}"
        case "find_replace":
            if not edit.find_text.strip():
                raise BadInput(
                    "find_text parameter is required for find_replace operation",
                    hint="name the words that are replaced",
                )
            found = text.count(edit.find_text)
            if not found:
                raise NotFound(
                    f"Text to replace not found: '{edit.find_text[:200]}'",
                    hint="read the note; upper and lower case count",
                )
            if found != edit.expected:
                raise BadInput(
                    f"Expected {edit.expected} occurrences of '{edit.find_text[:200]}',"
                    f" but found {found}",
                    hint=f"set expected_replacements={found}, or name more of the text",
                )
            return text.replace(edit.find_text, edit.content)
        case _:
            return _in_section(text, edit)


def _in_section(text: str, edit: TextEdit) -> str:
    if not edit.section.strip():
        raise BadInput(
            "section parameter is required for section-based operations",
            hint='name the heading: section="## Notes"',
        )
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
    first, _, rest_of_it = edit.content.lstrip().partition("\n")
    content = rest_of_it.lstrip("\n") if first.strip() == heading else edit.content
    place = places[0]
    if edit.operation == "insert_before_section":
        gap = [""] if place and lines[place - 1].strip() else []
        return "\n".join([*lines[:place], *gap, edit.content, "", *lines[place:]])
    if edit.operation == "insert_after_section":
        rest = lines[place + 1 :]
        gap = [""] if rest and rest[0].strip() else []
        return "\n".join([*lines[: place + 1], content, *gap, *rest])
    levels = {each: len(lines[each]) - len(lines[each].lstrip("#")) for each in headings}
    least = levels[place] if edit.with_subsections else 6
    behind = (each for each in headings if each > place and levels[each] <= least)
    end = next(behind, len(lines))
    return "\n".join([*lines[: place + 1], content, *lines[end:]])


def _headings(lines: list[str]) -> list[int]:
    found, fence = [], ""
    for number, line in enumerate(lines):
        if mark := _FENCE.match(line):
            fence = "" if fence == mark[1] else fence or mark[1]
        elif not fence and _HEADING.fullmatch(line.rstrip()):
            found.append(number)
    return found


SUGGESTED = 5
_NOT_IN_NAMES = str.maketrans(dict.fromkeys('/\\:*"<>|', "-") | {"?": None})
_OWN_FIELDS = frozenset({"title", "type", "permalink", "tags"})

Identifier = Annotated[
    str, Meta(description="Title, permalink, path or memory:// URL of the note.")
]
Exact = Annotated[
    str, Meta(description="Exact title, permalink, path or memory:// URL; nothing is guessed.")
]


Page = Annotated[int, Meta(ge=1, le=1_000_000, description="Page of it.")]
PageSize = Annotated[
    int, Meta(ge=0, le=10_000, description="Lines a page, or notes that may be meant; 0: all.")
]


class FileNoteTools(VaultTools):
    """The tools for one note."""

    @offered("Write a note", is_read_only=False)
    def write_note(  # noqa: PLR0913 - the documented parameters
        self,
        title: Annotated[str, Meta(min_length=1, description="What the note is called.")],
        content: Annotated[
            str,
            Meta(
                description="Markdown. A line `- [category] text #tag (context)` states something,"
                " `- relation [[Title]]` refers to another note."
            ),
        ],
        directory: Annotated[str, Meta(description="Folder of the file; / for the top.")],
        *,
        tags: Annotated[list[str], Meta(description="Tags, with or without #.")] = [],  # noqa: B006 - never changed
        note_type: Annotated[str, Meta(description="Kind of note: person, decision …")] = "note",
        metadata: Annotated[
            dict[str, Any], Meta(description="More fields of the frontmatter.")
        ] = {},  # noqa: B006 - never changed
        overwrite: Annotated[
            bool, Meta(description="False: leave a note that is there as it is, and say so.")
        ] = True,
        project: ProjectName = "",
        output_format: Format = "text",
    ) -> ToolResult:
        """Create or update a Markdown note in the note folder.

        A note of that title is replaced, and kept as it was: the answer says how it comes back. To
        change a part of a note, use edit_note.
        """
        check_texts((title, content, directory, metadata_text(metadata), *tags))
        vault = self._named(project)
        # Without what file systems and links reserve.
        name = " ".join(title.translate(_NOT_IN_NAMES).split())
        if not name.strip(". "):
            raise BadInput(f"{title[:80]!r} cannot name a file", hint="use letters in the title")
        path = vault.path_of(directory, f"{name}.md")
        there = vault.there(path, title)
        path = there.path if there else path
        permalink = there.permalink if there else f"{vault.name}/{permalink_of(path)}"
        text = _composed(title, content, tags, note_type, metadata, permalink)
        if there and not overwrite:
            raise BadInput(
                f"Note already exists: {there.title!r} (permalink: {there.permalink})",
                hint="use edit_note, or leave overwrite out to replace all of it",
            )
        expected = vault.read(there).checksum if there else tree.NEW
        written = vault.files.write(vault.folder, path, text, expected=expected)
        kept = written.file
        result = row(
            **named(kept),
            checksum=kept.checksum[:8],
            action="updated" if there else "created",
            undo=UNSET if written.number is None else written.number,
        )
        tagged = tags_of(tags)
        more = ["", "## Tags", f"- {', '.join(tagged)}"] if tagged else []
        near = vault.standing_near(kept)
        more += [*(["", *near] if near else []), *way_back(written.number)]
        head = f"# {result['action'].capitalize()} note"
        return as_answer(_written(vault, head, result, more), result, output_format)

    @offered("Read a note")
    def read_note(
        self,
        identifier: Identifier,
        *,
        page: Page = 1,
        page_size: PageSize = 0,
        include_frontmatter: Annotated[
            bool, Meta(description="In JSON: leave the frontmatter in the content.")
        ] = False,
        project: ProjectName = "",
        output_format: Format = "text",
    ) -> ToolResult:
        """Read a note as the file is, or a page of it; else name notes that may be meant."""
        vault = self._named(project, identifier)
        file = vault.find(identifier)
        if file is None:
            return self._not_found(vault, identifier, page, page_size or SUGGESTED, output_format)
        found = vault.read(file)
        lines = found.text.splitlines(keepends=True)
        size = page_size or max(1, len(lines))
        pages = max(1, -(-len(lines) // size))
        if page > pages:
            raise NotFound(f"there is no page {page}", hint=f"the last page is {pages}")
        shown = "".join(lines[(page - 1) * size : page * size])
        result = {
            **named(file),
            "content": found.body if pages == 1 and not include_frontmatter else shown,
            "frontmatter": json_fields_of(parts_of(found.head).yaml) or {},
        }
        if output_format in {"ascii", "ansi"}:
            cells = list(named(file).items())
            shown = f"{table(('Field', 'Value'), cells, output_format)}\n\n{shown}"
        about = f"page {page} of {pages}" if pages > 1 else ""
        return replace(as_answer(shown, result, output_format), notice=about)

    @offered("Show a note")
    def view_note(
        self,
        identifier: Identifier,
        *,
        page: Page = 1,
        page_size: PageSize = 0,
        project: ProjectName = "",
    ) -> ToolResult:
        """Read a note to show it to the person, as an artifact where the client has such."""
        found = self.read_note(identifier, page=page, page_size=page_size, project=project)
        if found.result["title"] is None:
            return found
        text = (
            f'Note retrieved: "{identifier}"\n\nShow this to the person as it is:\n\n{found.text}'
        )
        return replace(found, text=text)

    @offered("Edit a note", is_read_only=False)
    def edit_note(  # noqa: PLR0913 - the documented parameters
        self,
        identifier: Exact,
        operation: Annotated[Operation, Meta(description="What to do with the content.")],
        content: Annotated[str, Meta(description="What is added, or put in place of the old.")],
        *,
        section: Annotated[
            str, Meta(description='Heading of a section, as in the note: "## Notes".')
        ] = "",
        find_text: Annotated[str, Meta(description="Words that find_replace replaces.")] = "",
        expected_replacements: Annotated[
            int, Meta(ge=1, description="How often the words must be there.")
        ] = 1,
        replace_subsections: Annotated[
            bool, Meta(description="replace_section takes the headings below it along.")
        ] = True,
        project: ProjectName = "",
        output_format: Format = "text",
    ) -> ToolResult:
        """Change a part of a note that is there."""
        vault = self._named(project, identifier)
        check_texts((content,))
        was = vault.read(vault.exact(identifier))
        edit = TextEdit(
            operation, content, section, find_text, expected_replacements, replace_subsections
        )
        after = apply(was.text, edit)
        kept = vault.files.write(vault.folder, was.path, after, expected=was.checksum).file
        about = {"checksum": kept.checksum[:8], "operation": operation, "fileCreated": False}
        result = {**named(kept), **about}
        lines = len(content.split("\n"))
        done = f"operation: {_DONE[operation].format(lines=lines, section=section)}"
        text = _written(vault, f"# Edited note ({operation})", result, [done])
        return as_answer(text, result, output_format)

    def _not_found(
        self, vault: Vault, identifier: str, page: int, page_size: int, output_format: Format
    ) -> ToolResult:
        near = vault.suggest(identifier, limit=page * page_size)[(page - 1) * page_size :]
        unknown = dict.fromkeys(("title", "permalink", "file_path", "content", "frontmatter"))
        result = row(**unknown, related_results=list(map(named, near)) or UNSET)
        shown = identifier.strip()[:200]
        lines = [f'# Note Not Found in {vault.name}: "{shown}"', ""]
        if near:
            lines.append("Perhaps one of these, which read_note takes by permalink:")
            lines += [f"- {each.title} ({each.permalink})" for each in near]
        else:
            lines.append(
                "No note has such words; search_notes and list_directory show what is there."
            )
        return as_answer("\n".join(lines), result, output_format)


def _composed(
    title: str,
    content: str,
    tags: Sequence[str],
    note_type: str,
    metadata: dict[str, Any],
    permalink: str,
) -> str:
    """Return the text of a note; frontmatter in the content is kept, but for title and tags."""
    head, source, body = parts_of(content)
    own = (fields_of(source) if source else None) or {}
    kind = permalink_of(note_type.strip().replace("/", " ")).replace("-", "_")
    fields: dict[str, Any] = {
        "title": title,
        "type": own.get("type") or kind or "note",
        "permalink": own.get("permalink") or permalink,
    }
    if named := tags_of(tags) or tags_of(metadata.get("tags")):
        fields["tags"] = list(named)
    fields |= {name: value for name, value in own.items() if name not in fields}
    fields |= {name: value for name, value in metadata.items() if name not in _OWN_FIELDS}
    text = with_fields("", fields)
    return f"{text}{(body if head else content).lstrip(chr(10))}"


def named(file: NoteFile) -> dict[str, str]:
    """Return by what clients know a note."""
    return {"title": file.title, "permalink": file.permalink, "file_path": file.path}


def _written(vault: Vault, head: str, result: Row, more: list[str]) -> str:
    lines = [
        head,
        f"project: {vault.name}",
        *(f"{name}: {result[name]}" for name in ("file_path", "permalink", "checksum")),
        *more,
        "",
        f"[Session: Using project '{vault.name}']",
    ]
    return "\n".join(lines)


_DONE = {
    "append": "Added {lines} lines to end of note",
    "prepend": "Added {lines} lines to beginning of note",
    "find_replace": "Find and replace operation completed",
    "replace_section": "Replaced content under section '{section}'",
    "insert_before_section": "Inserted content before section '{section}'",
    "insert_after_section": "Inserted content after section '{section}'",
}


def way_back(undo: int | None) -> list[str]:
    """Return the lines that say how what has a number is taken back; none without one."""
    return [] if undo is None else ["", f"To go back: observer note folder undo {undo}"]
