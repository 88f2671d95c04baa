"""The notes of one note folder as the toolset names them: by title, permalink, path or memory URL.

A note folder is what Basic Memory calls a project: its name begins the permalinks of new notes.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from fnmatch import translate
from functools import cached_property, wraps
from typing import Annotated, Any, Literal, NamedTuple

import orjson
from msgspec import Meta

from observer.core.client_variables import client_variable
from observer.core.errors import Ambiguous, BadInput, NotFound, ObserverError
from observer.core.model import Item, Project, spelling_key, title_key
from observer.core.note_file import Claim, NoteFile, Relation
from observer.core.paths import is_inside
from observer.memory.api import Memory
from observer.notes.folders import FileText, NoteFolder, tree
from observer.notes.folders.grammar import permalink_of
from observer.notes.folders.note_files import name_key
from observer.notes.folders.tree import is_note
from observer.notes.values import MOST_NEAR
from observer.projects.policy import Policies
from observer.search.rank import Hit
from observer.tools.note_api import stands
from observer.tools.tool import Row, Tool, ToolResult, Tools, as_json

SCHEME = "memory://"
MAX_CHARS = 2_028
_FORBIDDEN = re.compile(r'[<>"|?\x00-\x1f]')


def named_by(text: str, *, is_url: bool = False) -> str:
    """Return what a URL, with `is_url` also without its scheme, or a title or path names.

    >>> [named_by(text) for text in ("memory://specs/search/", "Who pays?")]
    ['specs/search', 'Who pays?']

    Raises:
        BadInput: it is empty, leads out of its folder, or is meant as a memory URL but is none.
    """
    plain = text.strip()
    if leaves_folder(plain):
        raise BadInput(
            f"{plain[:80]!r} is not allowed: paths must stay within project boundaries",
            hint="name a path inside the note folder",
        )
    path = plain.removeprefix(SCHEME)
    named = path.strip("/ ")
    if named and not is_url and path == plain:
        return named
    forbidden = _FORBIDDEN.search(path)
    problems = (
        ("it names nothing", not named),
        (f"it has more than {MAX_CHARS} characters", len(text) > MAX_CHARS),
        ("it is an address of another kind", "://" in path),
        ("it has an empty part", "//" in path),
        (f"it contains {forbidden and forbidden[0]!r}", forbidden),
        ("paths must stay within project boundaries", leaves_folder(path)),
    )
    if problem := next((said for said, is_so in problems if is_so), ""):
        raise BadInput(
            f"{text[:80]!r} is not a memory URL: {problem}",
            hint="write memory://FOLDER/NOTE, or memory://FOLDER/* for all of a folder",
        )
    return named


def leaves_folder(path: str) -> bool:
    """Return True if a path is absolute or climbs out of its folder.

    >>> [leaves_folder(path) for path in ("a/b", "../a", "a/../b", "/etc", "~/x", "C:/x")]
    [False, True, True, True, True, True]
    """
    parts = re.split(r"[/\\]", path)
    is_drive = re.match(r"[A-Za-z]:[/\\]", path) is not None
    return path.startswith(("/", "\\", "~/")) or ".." in parts or is_drive


def matcher(pattern: str) -> re.Pattern[str]:
    """Return what matches the permalinks of a pattern; ``*`` stands for any text, slashes too.

    >>> bool(matcher("specs/*").fullmatch("specs/a/b"))
    True
    """
    return re.compile(translate(pattern.replace("[", "[[]").replace("?", "[?]")), re.IGNORECASE)


NEAREST = 3
"""Titles that are named where nothing has the one that was asked for."""
CONSTRAINT, DEFAULT = "BASIC_MEMORY_MCP_PROJECT", "BASIC_MEMORY_DEFAULT_PROJECT"
"""Variables of the client: the one note folder that it may use, and the one that is meant where
none is named."""
OBSERVATION_CHARS = 200

_NOT_IN_LINKS = frozenset("[]|#")

_POLICIES = Policies()

WITHIN_S = 2.0
"""How long a call reads changed files before it answers; it says what is left."""
FIRST_WITHIN_S = 10.0
"""The same when a note folder is added: about 4,000 notes are read."""

Format = Literal["default", "text", "json", "ascii", "ansi"]
ProjectName = Annotated[
    str,
    Meta(description="Name of a note folder; the default, that of the repository, the only one."),
]


def as_answer(text: str, result: Row, output_format: Format) -> ToolResult:
    """Return an answer in the format that a client asks for."""
    return as_json(result) if output_format == "json" else ToolResult(text, result)


def table(head: tuple[str, ...], cells: Sequence[tuple[str, ...]], output_format: Format) -> str:
    """Return a table of plain characters, its head bold where a terminal shows that (`ansi`)."""
    widths = [max(map(len, column)) for column in zip(head, *cells, strict=True)]
    rule = "+" + "+".join("-" * (width + 2) for width in widths) + "+"
    bold, plain = ("\x1b[1m", "\x1b[0m") if output_format == "ansi" else ("", "")

    def line(row: tuple[str, ...], mark: str = "", end: str = "") -> str:
        padded = (f" {mark}{cell:<{width}}{end} " for cell, width in zip(row, widths, strict=True))
        return f"|{'|'.join(padded)}|"

    return "\n".join([rule, line(head, bold, plain), rule, *map(line, cells), rule])


class VaultTools(Tools):
    """Base of the tools over the note folders of a memory.

    An answer also says what was not read yet of the note folders that it used.
    """

    def __init__(self, memory: Memory, here: Callable[[], str]) -> None:
        super().__init__(memory, here)
        self._until_s = time.monotonic() + WITHIN_S
        self._vaults: dict[NoteFolder, Vault] = {}
        self._notices: list[str] = []

    @classmethod
    def of(cls, memory: Memory, here: Callable[[], str]) -> tuple[Tool, ...]:
        """Return the tools of a memory, in the order of their document, each call with its own."""

        def anew(run: Callable[..., ToolResult]) -> Callable[..., ToolResult]:
            @wraps(run)
            def called(**arguments: Any) -> ToolResult:  # noqa: ANN401 - each tool has its own
                tools = cls(memory, here)
                try:
                    answer: ToolResult = getattr(tools, run.__name__)(**arguments)
                except ObserverError as error:
                    error.hint = "; ".join(filter(None, (error.hint, *tools._notices)))
                    raise
                notice = "\n".join(filter(None, (answer.notice, *tools._notices)))
                return replace(answer, notice=notice)

            return called

        return tuple(replace(tool, run=anew(tool.run)) for tool in super().of(memory, here))

    def _opened(self, folder: NoteFolder, *, within_s: float | None = None) -> Vault:
        """Return a note folder once what has changed in it is read, as far as there is time."""
        if known := self._vaults.get(folder):
            return known
        vault = self._vaults[folder] = Vault(self._memory, folder)
        rest_s = max(0.0, self._until_s - time.monotonic())
        try:
            seen = vault.files.catch_up(folder, within_s=within_s or rest_s)
        except ObserverError as error:  # what is known answers nevertheless
            self._notices.append(f"{error}; what was known of its notes may be old")
            return vault
        vault.left, vault.synced_ms = seen.left, seen.synced_ms
        if seen.is_late:
            read = max(0, seen.files - len(seen.left))
            many = f"{read:,} of {seen.files:,} files" if seen.files else "nothing"
            of = f"{many} of the note folder {vault.name} read so far"
            self._notices.append(f"{of}, the rest is being read; ask again")
        return vault

    def _reachable(self) -> Sequence[NoteFolder]:
        """Return the note folders that the client may use: one alone, or all of them."""
        name, listed = client_variable(CONSTRAINT), self._memory.files.listed
        return [listed.named(name)] if name else listed.all()

    def _shared(self) -> list[Vault]:
        """Return those that an answer about all note folders may draw on, by name.

        A project with `sharing = "none"` answers only where it is named, or for who works in it.
        """
        apart = _POLICIES.unshared(self._memory.projects(), self._here())
        every = (Vault(self._memory, folder) for folder in self._reachable())
        kept = (one for one in every if one.project is None or one.project.id not in apart)
        return [self._opened(vault.folder) for vault in kept]

    def _named(self, project: str, identifier: str = "") -> Vault:
        """Return the client's only one, the one named, that of the identifier, or the default."""
        if name := client_variable(CONSTRAINT) or project.strip():
            return self._opened(self._memory.files.listed.named(name))
        known = self._memory.files.listed.all()
        first = identifier.strip().removeprefix(SCHEME).partition("/")[0]
        for each in known:
            if each.name == first:
                return self._opened(each)
        if vault := self._default():
            return vault
        if known:
            raise Ambiguous(
                f"there are {len(known)} note folders and none belongs to where you work",
                hint="set project to one of: " + ", ".join(each.name for each in known),
            )
        raise NotFound(
            "there is no note folder yet",
            hint="add one: create_memory_project, or observer note folder add PATH",
        )

    def _default(self) -> Vault | None:
        """Return the client's note folder, the one that was set, that of here, or the only one."""
        listed = self._memory.files.listed.read()
        if name := client_variable(CONSTRAINT) or client_variable(DEFAULT) or listed.default:
            return self._opened(listed.named(name))
        known = listed.folders
        here = self._here()
        around = self._memory.project_at(here) if here else None
        near = [
            each
            for each in known
            if (around and each.project == around.uuid)
            or (here and (is_inside(each.path, here) or is_inside(here, each.path)))
        ]
        chosen = near if len(near) == 1 else known
        return self._opened(chosen[0]) if len(chosen) == 1 else None


class Edge(NamedTuple):
    """A relation between two notes; without `target` nothing has that name."""

    source: NoteFile
    relation: Relation
    target: NoteFile | None

    @property
    def to(self) -> str:
        """The title of the target, or what it is called where there is none."""
        return self.target.title if self.target else self.relation.target


class Vault:
    """One note folder."""

    def __init__(self, memory: Memory, folder: NoteFolder) -> None:
        self._memory = memory
        self.folder = folder
        self.name = folder.name
        self.files = memory.files
        self.left: Sequence[str] = ()  # paths of files that are not read yet
        self.synced_ms: int | None = None  # when all of it was last read, if that is known

    @cached_property
    def project(self) -> Project | None:
        """The project that its notes belong to, if any."""
        if named := self.folder.project:
            return next((each for each in self._memory.projects() if each.uuid == named), None)
        return self._memory.project_at(self.folder.path)

    def notes(self, under: str = "") -> Sequence[NoteFile]:
        """Return its notes by path; those of a folder inside it, if one is named."""
        return self.files.list(self.folder, under=under)

    def path_of(self, directory: str, name: str) -> str:
        """Return the path of a file in a directory, `/` the top; BadInput if it leads out of it."""
        inside = directory.strip().strip("/")
        leaving = directory if inside and leaves_folder(directory.strip()) else name
        if leaves_folder(leaving.strip()):
            raise BadInput(
                f"{leaving[:200]!r} is not allowed: paths must stay within project boundaries",
                hint="name a folder below the note folder: notes, projects/2026",
            )
        return f"{inside}/{name}" if inside else name

    def find(self, identifier: str) -> NoteFile | None:
        """Return the first note by path that an identifier means exactly; raises as `called`."""
        return next(iter(self.called(identifier)), None)

    def exact(self, identifier: str) -> NoteFile:
        """Return the one note that an identifier means; a title means its note before an alias.

        Raises:
            NotFound: there is none; the hint names the nearest titles.
            Ambiguous: several have this title, or this alias.
            BadInput: it leads out of the folder.
        """
        found = self.called(identifier)
        name = _name(identifier)
        same = (
            [file for file in found if name in {file.permalink, file.path}]
            or [file for file in found if title_key(file.title) == title_key(name)]
            or found
        )
        if len(same) == 1:
            return same[0]
        shown = identifier.strip()[:200]
        if same:
            raise self._several(shown, same)
        near = ", ".join(f"{file.title} ({file.permalink})" for file in self.nearest(name))
        raise NotFound(
            f"Entity not found: '{shown}'",
            hint="only an exact identifier changes a note; "
            + (f"the nearest titles: {near}" if near else "there is no note yet"),
        )

    def nearest(self, name: str) -> Sequence[NoteFile]:
        """Return the notes spelled most like a name, of those that fit if it is a pattern."""
        fitting = (self.matching(name) if "*" in name else ()) or self.notes()
        titles = {spelling_key(file.title): file for file in reversed(fitting)}
        key = spelling_key(name.rpartition("/")[2])
        return [titles[each] for each in get_close_matches(key, titles, NEAREST, cutoff=0)]

    def called(self, identifier: str) -> Sequence[NoteFile]:
        """Return the notes of an identifier: by permalink, path, title or alias, nothing near.

        Where there is none, those whose path, title or alias is spelled alike, unread ones too;
        raises as `named_by`.
        """
        name = _name(identifier)
        bare = name.removeprefix(f"{self.name}/")
        slug = permalink_of(bare)
        slugs = (slug, f"{self.name}/{slug}") if "/" in bare else ()
        for each in (name, bare, f"{self.name}/{bare}", *slugs):
            if found := self.files.called(each, folder=self.folder):
                return found
        whole = bare if is_note(bare) else f"{bare}.md"
        if unread := [path for path in self.left if name_key(path) == name_key(whole)]:
            self.files.sync(self.folder, unread)
        with self.files.store.read() as reader:
            alike = reader.note_files_spelled(bare, folder=self.folder.path)
        return alike or self._spelled(whole)

    def _spelled(self, path: str, *names: str) -> Sequence[NoteFile]:
        """Return the notes of a path's folder whose file name, or a name, is spelled alike."""
        above = spelling_key(path.rpartition("/")[0])
        stem = path.rpartition("/")[2].rpartition(".")[0]
        with self.files.store.read() as reader:
            found = {
                file.path: file
                for key in dict.fromkeys(map(spelling_key, (stem, *names)))
                for file in reader.note_files_spelled(key, folder=self.folder.path)
                if spelling_key(file.path.rpartition("/")[0]) == above
            }
        return [found[path] for path in sorted(found)]

    def there(self, path: str, title: str) -> NoteFile | None:
        """Return the note that is at a path, or has its name or title there in another spelling.

        Raises:
            Ambiguous: there are several.
            BadInput: there is such a file, of which nothing may be stored.
        """
        beside = self.files.beside(self.folder, path)
        if unread := [each for each in beside if self.files.at(self.folder, each) is None]:
            self.files.sync(self.folder, unread)
        for each in unread:
            if self.files.at(self.folder, each) is None:
                raise BadInput(
                    f"there is a file {each}, and nothing of it may be stored",
                    hint="see why with: observer note folder, or choose another title",
                )
        if exact := self.files.at(self.folder, path):
            return exact
        found = self._spelled(path, title)
        if len(found) > 1:
            raise self._several(title, found)
        return next(iter(found), None)

    def _several(self, shown: str, files: Sequence[NoteFile]) -> Ambiguous:
        return Ambiguous(
            f"'{shown}' matches {len(files)} notes",
            hint="pass one permalink of: " + ", ".join(file.permalink for file in files),
        )

    def matching(self, pattern: str) -> Sequence[NoteFile]:
        """Return the notes whose permalink fits a pattern, by path."""
        bare = pattern.removeprefix(f"{self.name}/")
        fits = [matcher(each).fullmatch for each in (bare, f"{self.name}/{bare}")]
        return [file for file in self.notes() if any(fit(file.permalink) for fit in fits)]

    def suggest(self, identifier: str, *, limit: int) -> Sequence[NoteFile]:
        """Return notes that may be meant, best first; for people and agents to choose from."""
        text = identifier.strip().removeprefix(SCHEME)
        if "*" in text:
            return self.matching(text.strip("/"))[:limit]
        words = " ".join(re.findall(r"\w+", text.rstrip("/").rpartition("/")[2]))
        return [file for file, _ in self.ranked(words, limit=limit)] if words else []

    def ranked(self, text: str, *, limit: int) -> list[tuple[NoteFile, Hit]]:
        """Return notes found by words and meaning, best first; operators as in `search.query`."""
        # Notes that are no files are found too, and are left out here.
        project = self.project.uuid if self.project else None
        found = self._memory.recall(text, limit=2 * limit + 20, project=project)
        with self.files.store.read() as reader:
            files = reader.note_files_of(hit.item.id for hit in found.hits)
        inside = [(files[hit.item.id], hit) for hit in found.hits if hit.item.id in files]
        return [pair for pair in inside if pair[0].folder == self.folder.path][:limit]

    def standing_near(self, file: NoteFile) -> list[str]:
        """Return a line for each standing note that may be about the same as one just written."""
        item = self.items([file]).get(file.item)
        lines = []
        for one in [one.item for one in self._memory.notes.near(item)[:MOST_NEAR]] if item else ():
            link = f"[[{one.title}]]" if _NOT_IN_LINKS.isdisjoint(one.title) else f"#{one.id}"
            lines.append(stands(one, how=f"add the line `- supersedes {link}` to this note"))
        return lines

    def items(self, files: Iterable[NoteFile]) -> Mapping[int, Item]:
        """Return the notes as they are stored, by id."""
        with self.files.store.read() as reader:
            return {item.id: item for item in reader.items([file.item for file in files])}

    def frontmatter(self, files: Iterable[NoteFile]) -> Mapping[int, dict[str, Any]]:
        """Return the frontmatter of the notes that are stored, by id, with type, title and tags."""
        by_id = {file.item: file for file in files}
        with self.files.store.read() as reader:
            found = reader.frontmatter_of(by_id)
        return {
            item: {
                **(orjson.loads(metadata) if metadata else {}),
                "title": by_id[item].title,
                "type": by_id[item].type,
                "permalink": by_id[item].permalink,
                "tags": list(tags),
            }
            for item, (tags, metadata) in found.items()
        }

    def claims(self, files: Iterable[NoteFile]) -> Mapping[int, Sequence[Claim]]:
        """Return what notes state, by id."""
        with self.files.store.read() as reader:
            return reader.claims_of(file.item for file in files)

    def edges(self, files: Collection[NoteFile]) -> Mapping[int, Sequence[Edge]]:
        """Return the relations of notes, each in its note's order, by the ids of the notes."""
        with self.files.store.read() as reader:
            known = reader.relations_of(file.item for file in files)
        named = [one for of_note in known.values() for one in of_note]
        targets = self.files.targets(self.folder, named)
        return {
            file.item: [Edge(file, one, targets.get(one.target)) for one in known[file.item]]
            for file in files
            if file.item in known
        }

    def read(self, file: NoteFile) -> FileText:
        """Return a note, as the file is now; raises as `NoteFiles.read`."""
        return self.files.read(self.folder, file.path)

    def bytes_at(self, path: str) -> bytes:
        """Return any file of the folder as it is; raises as `tree.read`."""
        return tree.read(self.folder.path, tree.check_path(path))[0]

    def put(self, path: str, data: bytes) -> tuple[Literal["created", "updated"], str]:
        """Write a file that is no note, and return its checksum; raises as `tree.write`."""
        plain = tree.check_path(path)
        try:
            expected = tree.checksum(self.bytes_at(plain))
        except NotFound:
            expected = tree.NEW
        self.files.put(self.folder, plain, data, expected=expected)
        return "created" if expected == tree.NEW else "updated", tree.checksum(data)


def observation_permalink(file: NoteFile, claim: Claim) -> str:
    """Return the permalink of a line of a note, as URLs and results name it."""
    slug = permalink_of(claim.text[:OBSERVATION_CHARS].replace("/", "-"))
    return f"{file.permalink}/observations/{permalink_of(claim.category or 'note')}/{slug}"


def relation_permalink(edge: Edge) -> str:
    """Return the permalink of a relation."""
    source, relation, target = edge
    to = target.permalink if target else permalink_of(relation.target)
    return f"{source.permalink}/{permalink_of(relation.kind)}/{to}"


def _name(identifier: str) -> str:
    text = identifier.strip()
    if text.startswith("[[") and text.endswith("]]"):
        text = text[2:-2].partition("|")[0]
    return named_by(text)
