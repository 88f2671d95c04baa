"""Listings of directories: folders by path, then files by name."""

from __future__ import annotations

import mimetypes
from collections.abc import Mapping
from fnmatch import fnmatchcase

from observer.core.model import Item, iso
from observer.core.note_file import NoteFile
from observer.toolsets.basic_memory import rows
from observer.toolsets.basic_memory.memory_url import leaves_folder
from observer.toolsets.basic_memory.vault import Vault

_NAME_CHARS = 30


def nodes_of(vault: Vault, dir_name: str, depth: int, glob: str) -> list[rows.DirectoryNode]:
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
    listed = [
        rows.DirectoryNode(
            name=path.rpartition("/")[2], directory_path=f"/{path}", type="directory"
        )
        for path in sorted(folders)
    ]
    items = vault.items(notes[path] for path in files if path in notes)
    found = [
        _note(notes[path], items) if path in notes else _other(path, others[path])
        for path in sorted(files, key=lambda path: (path.rpartition("/")[2].lower(), path))
    ]
    return found if glob else [*listed, *found]


def _note(file: NoteFile, items: Mapping[int, Item]) -> rows.DirectoryNode:
    return rows.DirectoryNode(
        name=file.path.rpartition("/")[2],
        file_path=file.path,
        directory_path=f"/{file.path}",
        type="file",
        title=file.title,
        permalink=file.permalink,
        external_id=items[file.item].uuid if file.item in items else None,
        entity_id=file.item,
        note_type=file.type,
        content_type="text/markdown",
        updated_at=iso(file.updated_ms),
    )


def _other(path: str, modified_ms: int) -> rows.DirectoryNode:
    return rows.DirectoryNode(
        name=path.rpartition("/")[2],
        file_path=path,
        directory_path=f"/{path}",
        type="file",
        content_type=mimetypes.guess_type(path)[0] or "application/octet-stream",
        updated_at=iso(modified_ms),
    )


def listing(result: rows.DirectoryNodes, dir_name: str, depth: int, glob: str) -> str:
    """Return a page of a listing as text."""
    if not result.total:
        suffix = f" matching '{glob}'" if glob else ""
        return f"No files found in directory '{dir_name}'{suffix}"
    head = f"Files in '{dir_name}' matching '{glob}'" if glob else f"Contents of '{dir_name}'"
    lines = [
        f"{head} (depth {depth}):",
        f"Page {result.page} (page size {result.page_size}, {result.total} total items)",
        "",
    ]
    folders = [node for node in result.nodes if node.type == "directory"]
    files = [node for node in result.nodes if node.type == "file"]
    lines += [f"📁 {node.name:<{_NAME_CHARS}} {node.directory_path}" for node in folders]
    lines += [""] if folders and files else []
    lines += [
        f"📄 {node.name:<{_NAME_CHARS}} "
        + " | ".join(filter(None, (node.file_path, node.title, (node.updated_at or "")[:10])))
        + (f" | id: {node.external_id}" if node.external_id else "")
        for node in files
    ]
    counts = [
        _count(len(nodes), *words)
        for nodes, words in ((folders, ("directory", "directories")), (files, ("file", "files")))
        if nodes
    ]
    lines += ["", f"Total: {len(result.nodes)} items ({', '.join(counts)})"]
    if result.has_more:
        named = f", file_name_glob={glob!r}" if glob else ""
        asked = f"dir_name={dir_name!r}, depth={depth}, page={result.page + 1}"
        asked += f", page_size={result.page_size}{named}"
        lines += ["", f"More results available. Call list_directory({asked}) to continue."]
    return "\n".join(lines)


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"
