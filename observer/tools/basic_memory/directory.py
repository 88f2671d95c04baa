"""Tools for files and directories: move, delete, list, read raw, and write JSON Canvas."""

from __future__ import annotations

import base64
import mimetypes
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Annotated, Any

import orjson
from msgspec import UNSET, Meta

from observer.core.errors import BadInput, NotFound
from observer.core.model import iso
from observer.tools.basic_memory.notes import Exact, named, way_back
from observer.tools.basic_memory.vault import (
    Format,
    ProjectName,
    Vault,
    VaultTools,
    as_answer,
    leaves_folder,
    named_by,
)
from observer.tools.tool import Row, ToolResult, as_json, offered, row

Object = Mapping[str, Any]  # Any: the client's JSON

_NEEDS = {"text": "text", "file": "file", "link": "url", "group": "id"}
_NUMBERS = ("x", "y", "width", "height")
_SIDES = ("top", "right", "bottom", "left", None)


def check_canvas(nodes: Sequence[Object], edges: Sequence[Object]) -> None:
    """Refuse a canvas that breaks jsoncanvas.org, version 1.0: Obsidian would show nothing of it.

    Raises:
        BadInput: a node lacks what its type needs, an id is there twice, or an edge leads nowhere.
    """
    ids = [part.get("id") for part in (*nodes, *edges)]
    if len({name for name in ids if isinstance(name, str) and name}) < len(ids):
        raise BadInput("a node or an edge has no id of its own", hint="ids are unique texts")
    for node in nodes:
        needed = _NEEDS.get(str(node.get("type")), "type")
        wrong = [needed] if needed == "type" or not isinstance(node.get(needed), str) else []
        wrong += [name for name in _NUMBERS if type(node.get(name)) not in {int, float}]
        if wrong:
            problem = f"node {node['id']!r} has no valid {wrong[0]}"
            raise BadInput(problem, hint=f"of type {', '.join(_NEEDS)}; numbers are pixels")
    known = [node["id"] for node in nodes]
    for edge in edges:
        wrong = [name for name in ("fromNode", "toNode") if edge.get(name) not in known]
        wrong += [name for name in ("fromSide", "toSide") if edge.get(name) not in _SIDES]
        if wrong:
            problem = f"edge {edge['id']!r} has no valid {wrong[0]}"
            raise BadInput(problem, hint="name the id of a node; a side is top, right …")


_NAME_CHARS = 30
LARGEST_BYTES = 350_000
"""Source: the limit that clients of Basic Memory know."""


class DirectoryTools(VaultTools):
    """The tools for files and directories."""

    @offered("Move a note", is_read_only=False)
    def move_note(
        self,
        identifier: Exact,
        destination_path: Annotated[
            str, Meta(description="New path inside the note folder, ending in .md.")
        ] = "",
        *,
        destination_folder: Annotated[
            str, Meta(description="Instead: a folder; the name of the file stays.")
        ] = "",
        is_directory: Annotated[
            bool, Meta(description="Both are directories; all that is in it moves.")
        ] = False,
        project: ProjectName = "",
        output_format: Format = "text",
    ) -> ToolResult:
        """Move a note, or a directory with all its files; ids and permalinks stay."""
        vault = self._named(project, identifier)
        if bool(destination_path.strip()) == bool(destination_folder.strip()):
            raise BadInput(
                "Either destination_path or destination_folder must be provided, not both",
                hint="name the new path, or the folder to move into",
            )
        if is_directory:
            target = destination_path or destination_folder
            return self._move_all(vault, identifier, target, output_format)
        file = vault.exact(identifier)
        name = destination_path.strip() or file.path.rpartition("/")[2]
        target = vault.path_of(destination_folder, name)
        if target == file.path:
            raise BadInput(f"{file.path} is there already", hint="name another path")
        kept = vault.files.move(vault.folder, file.path, target)
        result = {
            "moved": True,
            **named(kept),
            "source": identifier,
            "destination": target,
        }
        lines = [
            "✅ Note moved successfully",
            "",
            f"📁 **{identifier}** → **{target}**",
            f"🔗 Permalink: {kept.permalink}",
            "📊 Database and search index updated",
            "",
            f"<!-- Project: {vault.name} -->",
        ]
        return as_answer("\n".join(lines), result, output_format)

    def _move_all(
        self, vault: Vault, source: str, target: str, output_format: Format
    ) -> ToolResult:
        folder = _directory(source)
        new = vault.path_of(target, "").rstrip("/")
        try:
            done, left, number = vault.files.move_folder(vault.folder, folder, new)
        except NotFound as error:
            raise _no_files(source) from error
        failed = [f"{path}: there is a file {new}{path[len(folder) :]} already" for path in left]
        result = row(
            moved=number is not None,
            title=None,
            permalink=None,
            file_path=None,
            source=source,
            destination=target,
            is_directory=True,
            total_files=len(done) + len(failed),
            successful_moves=len(done),
            failed_moves=len(failed),
            undo=UNSET if number is None else number,
        )
        about = [f"**Source:** `{source}`", f"**Destination:** `{target}`"]
        text = _summary(vault, "Move", about, (done, failed), way_back(number))
        return as_answer(text, result, output_format)

    @offered("Delete a note", is_read_only=False, is_destructive=True)
    def delete_note(
        self,
        identifier: Exact,
        *,
        is_directory: Annotated[
            bool, Meta(description="Delete the directory of this path, with all that is in it.")
        ] = False,
        project: ProjectName = "",
        output_format: Format = "text",
    ) -> ToolResult:
        """Delete a note, or a directory with all its files. Ask the person first."""
        vault = self._named(project, identifier)
        if is_directory:
            try:
                gone, number = vault.files.delete_folder(vault.folder, _directory(identifier))
            except NotFound as error:
                raise _no_files(identifier) from error
            about = [f"**Directory:** `{identifier}`"]
            done = list(gone)
            text = _summary(vault, "Delete", about, (done, []), way_back(number))
            deleted = {
                "deleted": True,
                "is_directory": True,
                "identifier": identifier,
                "total_files": len(done),
                "successful_deletes": len(done),
                "failed_deletes": 0,
                "deleted_files": done,
                "errors": (),
                "undo": number,
            }
            return as_answer(text, deleted, output_format)
        file = vault.exact(identifier)
        vault.files.delete(vault.folder, file.path, expected=vault.read(file).checksum)
        return as_answer("true", {"deleted": True, **named(file)}, output_format)

    @offered("Read a file", aliases={"path": "identifier"})
    def read_content(
        self,
        identifier: Annotated[
            str, Meta(description="Path of a file, or permalink or memory:// URL of a note.")
        ],
        *,
        project: ProjectName = "",
    ) -> ToolResult:
        """Read a file of the note folder as it is: text, an image, anything else as base64."""
        vault = self._named(project, identifier)
        file = vault.find(identifier)
        path = file.path if file else named_by(identifier).removeprefix(f"{vault.name}/")
        data = vault.bytes_at(path)
        if len(data) > LARGEST_BYTES:
            raise BadInput(
                f"{path} is larger than {LARGEST_BYTES:,} bytes", hint="open it on the machine"
            )
        media = mimetypes.guess_type(path)[0] or "application/octet-stream"
        try:
            text = data.decode()
        except UnicodeDecodeError:
            text = "\0"
        if "\0" not in text:
            kind = "text/markdown" if path.endswith(".md") else media
            kind += "; charset=utf-8" if kind.startswith("text/") else ""
            about = {"type": "text", "text": text, "content_type": kind, "encoding": "utf-8"}
            return as_json(about)
        encoded = base64.b64encode(data).decode()
        source = {"type": "base64", "media_type": media, "data": encoded}
        if not media.startswith("image/"):
            return as_json({"type": "document", "source": source})
        result = {"type": "image", "source": source}
        said = f"{path}: {media}, {len(data):,} bytes"
        return ToolResult(said, result, image=(media, encoded))

    @offered("List a directory")
    def list_directory(  # noqa: PLR0913 - the documented parameters
        self,
        dir_name: Annotated[str, Meta(description="Directory; / for the top.")] = "/",
        *,
        depth: Annotated[int, Meta(ge=1, le=10, description="Levels to list.")] = 1,
        file_name_glob: Annotated[
            str, Meta(description="Only such files, by name or path: *.md, schemas/*; no folders.")
        ] = "",
        page: Annotated[int, Meta(ge=1, description="Page.")] = 1,
        page_size: Annotated[int, Meta(ge=1, le=100, description="Entries a page.")] = 10,
        project: ProjectName = "",
        output_format: Format = "text",
    ) -> ToolResult:
        """List folders and notes of a directory, some levels deep."""
        vault = self._named(project)
        nodes = _nodes_of(vault, dir_name, depth, file_name_glob)
        first = (page - 1) * page_size
        result = {
            "nodes": nodes[first : first + page_size],
            "page": page,
            "page_size": page_size,
            "total": len(nodes),
            "has_more": first + page_size < len(nodes),
        }
        text = _listing(result, dir_name, depth, file_name_glob)
        return as_answer(text, result, output_format)

    @offered("Write a canvas", is_read_only=False, aliases={"folder": "directory"})
    def canvas(
        self,
        nodes: Annotated[
            list[dict[str, Any]],
            Meta(
                description="JSON Canvas: id, type (file, text, link, group), x, y, width, height."
            ),
        ],
        edges: Annotated[
            list[dict[str, Any]], Meta(description="JSON Canvas: id, fromNode, toNode, label …")
        ],
        title: Annotated[str, Meta(min_length=1, description="Name of the file.")],
        directory: Annotated[str, Meta(description="Folder of the file; / for the top.")],
        *,
        project: ProjectName = "",
    ) -> ToolResult:
        """Write a canvas that Obsidian shows (JSON Canvas), new or in place of the old one."""
        vault = self._named(project)
        path = vault.path_of(directory, f"{title.strip().removesuffix('.canvas')}.canvas")
        check_canvas(nodes, edges)
        data = orjson.dumps({"nodes": nodes, "edges": edges}, option=orjson.OPT_INDENT_2)
        action, checksum = vault.put(path, data)
        result = {"file_path": path, "action": action, "checksum": checksum[:8]}
        return ToolResult(f"# {action.capitalize()}: {path}\nchecksum: {checksum[:8]}", result)


def _directory(given: str) -> str:
    """Return the path of a directory, which is not the top."""
    path = given.strip().strip("/")
    if not path or leaves_folder(path):
        raise _no_files(given)
    return path


def _no_files(directory: str) -> NotFound:
    return NotFound(
        f"No files found for directory `{directory[:200]}`",
        hint="list_directory shows the directories; the top itself cannot be named",
    )


def _summary(
    vault: Vault, act: str, about: list[str], files: tuple[list[str], list[str]], after: list[str]
) -> str:
    (done, failed), past = files, f"{act.lower().removesuffix('e')}ed"
    lines = [
        f"# Directory {past.capitalize()} {'With Errors' if failed else 'Successfully'}",
        "",
        *about,
        "",
        "## Summary",
        f"- Total files: {len(done) + len(failed)}",
        f"- Successfully {past}: {len(done)}",
        f"- Failed: {len(failed)}",
    ]
    for head, each in ((f"{past.capitalize()} Files", done), (f"{act} Errors", failed)):
        if each:
            lines += ["", f"## {head}", *(f"- `{path}`" for path in each)]
    return "\n".join([*lines, *after, "", f"<!-- Project: {vault.name} -->"])


def _nodes_of(vault: Vault, dir_name: str, depth: int, glob: str) -> list[Row]:
    """Return folders by path, then files by name, without regard to case."""
    base = dir_name.strip().removeprefix("./").strip("/")
    if base and leaves_folder(base):
        return []
    inside = len(base.split("/")) if base else 0
    glob = glob.strip("/").lower()
    depth = max(depth, glob.count("/") + 1)
    notes = {file.path: file for file in vault.notes(base)}
    others = vault.files.others(vault.folder, under=base, depth=depth + 1)
    folders: set[str] = set()
    files = []
    for path in (*notes, *others):
        parts = path.split("/")
        folders |= {
            "/".join(parts[:level])
            for level in range(inside + 1, min(len(parts), inside + depth + 1))
        }
        named = "/".join(parts[inside:]) if "/" in glob else parts[-1]
        if len(parts) <= inside + depth and fnmatchcase(named.lower(), glob or "*"):
            files.append(path)
    listed = [_node(path, file_path=None, type="directory") for path in sorted(folders)]
    items = vault.items(notes[path] for path in files if path in notes)
    found = []
    for path in sorted(files, key=lambda path: (path.rpartition("/")[2].lower(), path)):
        media = mimetypes.guess_type(path)[0] or "application/octet-stream"
        about: Row = {"content_type": media}
        if file := notes.get(path):
            about = {
                "title": file.title,
                "permalink": file.permalink,
                "external_id": items[file.item].uuid if file.item in items else None,
                "entity_id": file.item,
                "note_type": file.type,
                "content_type": "text/markdown",
            }
        changed_ms = file.updated_ms if file else others[path]
        found.append(_node(path, **about, updated_at=iso(changed_ms)))
    return found if glob else [*listed, *found]


def _node(path: str, **known: Any) -> Row:  # noqa: ANN401 - fields below
    """Return a file of a listing, or with its own fields a folder, null where one is not known."""
    unknown = ("title", "permalink", "external_id", "entity_id", "note_type", "content_type")
    node: Row = {"name": path.rpartition("/")[2], "file_path": path, "directory_path": f"/{path}"}
    node |= {"type": "file", "children": ()}
    return {**node, **dict.fromkeys((*unknown, "updated_at")), **known}


def _listing(result: Row, dir_name: str, depth: int, glob: str) -> str:
    """Return a page of a listing as text."""
    if not result["total"]:
        suffix = f" matching '{glob}'" if glob else ""
        return f"No files found in directory '{dir_name}'{suffix}"
    head = f"Files in '{dir_name}' matching '{glob}'" if glob else f"Contents of '{dir_name}'"
    lines = [
        f"{head} (depth {depth}):",
        "Page {page} (page size {page_size}, {total} total items)".format(**result),
        "",
    ]
    folders = [node for node in result["nodes"] if node["type"] == "directory"]
    files = [node for node in result["nodes"] if node["type"] == "file"]
    lines += [f"📁 {node['name']:<{_NAME_CHARS}} {node['directory_path']}" for node in folders]
    lines += [""] if folders and files else []
    for node in files:
        about = (node["file_path"], node["title"], (node["updated_at"] or "")[:10])
        handle = f" | id: {node['external_id']}" if node["external_id"] else ""
        shown = " | ".join(filter(None, about))
        lines.append(f"📄 {node['name']:<{_NAME_CHARS}} {shown}{handle}")
    counts = [f"{len(folders)} director{'y' if len(folders) == 1 else 'ies'}"] * bool(folders)
    counts += [f"{len(files)} file{'s' * (len(files) != 1)}"] * bool(files)
    lines += ["", f"Total: {len(result['nodes'])} items ({', '.join(counts)})"]
    if result["has_more"]:
        asked = f"dir_name={dir_name!r}, depth={depth}, page={result['page'] + 1}"
        asked += f", page_size={result['page_size']}"
        asked += f", file_name_glob={glob!r}" if glob else ""
        lines += ["", f"More results available. Call list_directory({asked}) to continue."]
    return "\n".join(lines)
