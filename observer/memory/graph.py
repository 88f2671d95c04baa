"""What hangs on an entity: a file, a symbol, a package, an error, a person, a title, or a name.

Items name these in fields of their own, to which the word index leads; only what agents say of
entities has a table. A name is taken as it is, whole: `fee` is not `fees`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import PurePosixPath

from msgspec.structs import replace

from observer.core.errors import BadInput
from observer.core.filters import OURS, Filters, commit_author, touches
from observer.core.model import KNOWLEDGE_TYPES, EntityRelation, Item, title_key
from observer.core.value import Value
from observer.index import words_of
from observer.observations.drafts import FAILED
from observer.search.query import quoted
from observer.search.recent_sessions import made_here
from observer.search.reminder import changed_symbols
from observer.store.reader import StoreReader

MOST = 500
"""Items, the newest, that are looked at for a name."""
MOST_NAMES = 20
"""Files, people and relations of an answer."""
SELDOM = 0.2
"""Share of what a name mostly is, up to which it is nothing else."""
YOU = "you"
MANIFESTS = frozenset(
    {"package.json", "pyproject.toml", "requirements.txt", "Cargo.toml", "go.mod", "Gemfile"}
    | {"pom.xml", "build.gradle", "build.gradle.kts", "composer.json", "mix.exs", "pubspec.yaml"}
)
"""Files in which a project names the packages that it needs."""
GROUPS = ("decisions", "failures", "notes", "commits", "edits", "turns", "others")

NamesOf = Callable[[Item], Collection[str]]


class Hanging(Value):
    """Items of one sort that name an entity: the newest of them, and how many there are."""

    sort: str
    total: int
    items: tuple[Item, ...]


class NamedCount(Value):
    """A file or person, in how many of the items, and when last."""

    name: str
    count: int
    last_ms: int


class Related(Value):
    """What hangs on an entity; all newest first, people and files by their number.

    `kinds` are what the name is: file, folder, symbol, package, error, person, note, tag, entity.
    `is_cut` if there may be more than the `MOST` items that were looked at.
    """

    name: str
    kinds: tuple[str, ...] = ()
    total: int = 0
    last_ms: int = 0
    files: tuple[NamedCount, ...] = ()
    people: tuple[NamedCount, ...] = ()
    groups: tuple[Hanging, ...] = ()
    relations: tuple[tuple[int, EntityRelation], ...] = ()
    is_cut: bool = False


def related(reader: StoreReader, name: str, filters: Filters, *, limit: int) -> Related:
    """Return what hangs on a name, of a file the end of its path, `limit` items of each group.

    Raises: BadInput (the name has no word).
    """
    wanted = name.strip().removesuffix("()")
    if not any(words_of(wanted)):
        raise BadInput(f"{name[:80]!r} names nothing", hint="name a file, symbol, error or person")
    stated = reader.stated_of(wanted, limit=MOST)  # only what visible memories say counts
    said = reader.items(list(dict.fromkeys(item for item, _ in stated)))
    seen = {one.id for one in said if filters.admits(one)}
    relations = [(item, relation) for item, relation in stated if item in seen]
    ids = reader.match(quoted(wanted), filters, limit=MOST)
    others = _by_fields(reader, wanted, filters, [item for item, _ in relations])
    items = {one.id: one for one in chain(reader.items(ids), others) if filters.admits(one)}
    saying = frozenset(item for item, _ in relations)
    kinds = {one.id: _kinds(one, wanted) for one in items.values()}
    found = Counter(chain.from_iterable(kinds.values()))
    # A person's name is part of paths and prose that have nothing to do with them.
    may_mention = not found["person"]
    naming = [
        one
        for one in items.values()
        if kinds[one.id] or one.id in saying or (may_mention and _mentions(one, wanted))
    ]
    naming.sort(key=lambda one: (one.created_ms, one.id), reverse=True)
    found["entity"] = len(relations)
    # But for what it is seldom: a test may be called like a file.
    most = max(found.values(), default=0)
    likely = tuple(kind for kind, count in found.most_common() if count > SELDOM * most)
    return Related(
        name=wanted,
        kinds=likely,
        total=len(naming),
        last_ms=max((one.created_ms for one in naming), default=0),
        files=_counted(_files_by(likely, wanted), naming),
        people=_counted(_who(reader, naming), naming),
        groups=tuple(_groups(naming, limit)),
        relations=tuple(relations[:MOST_NAMES]),
        is_cut=len(ids) == MOST,
    )


def _by_fields(
    reader: StoreReader, name: str, filters: Filters, saying: Sequence[int]
) -> Iterator[Item]:
    """Yield the items that no word of theirs leads to: by person, link, later path, relation."""
    people = [one for one in reader.people() if one.casefold() == name.casefold()]
    for person in people:
        yield from reader.items(reader.ids(replace(filters, by=person), limit=MOST))
    yield from reader.naming(name, filters, limit=MOST)
    yield from reader.items([*reader.moved_to([name], limit=MOST), *saying])


def _kinds(item: Item, name: str) -> frozenset[str]:
    """Return as what an item names an entity; nothing where it only mentions it."""
    found = set()
    paths = _touched(item)
    ends = f"/{name.strip('/')}"
    if any(f"/{path}".endswith(ends) for path in paths):
        found.add("file")
    elif any(touches(path, name) for path in paths if not path.startswith("/")):
        found.add("folder")
    files = [path for path, symbols in changed_symbols(item) if _holds(symbols, name)]
    if files:
        is_manifest = any(PurePosixPath(path).name in MANIFESTS for path in files)
        found.add("package" if is_manifest else "symbol")
    if item.signature and _holds(item.signature, name):
        found.add("error")
    if name.casefold() in {item.person.casefold(), commit_author(item).casefold()}:
        found.add("person")
    key = title_key(name)
    is_called = item.kind == "note" and title_key(item.title) == key
    if is_called or any(title_key(link.title) == key for link in item.links if link.title):
        found.add("note")
    if name.casefold().removeprefix("#") in map(str.casefold, item.tags):
        found.add("tag")
    return frozenset(found)


def _mentions(item: Item, name: str) -> bool:
    """Return True if the texts of an item have a name; a command line that lists files is none."""
    texts = (item.title, item.subtitle, item.narrative, *item.facts)
    if item.type == "command":
        texts = tuple(fact for fact in item.facts if not fact.startswith("$ "))
    return any(_holds(text, name) for text in texts)


def _holds(text: str, name: str) -> bool:
    """Return True if a text has a name whole; in whatever case if the name is all in small letters.

    >>> [_holds(text, "fee") for text in ("a fee.", "Fee", "fees", "fee_of", "x.fee()")]
    [True, True, False, False, True]
    """
    if name.lower() == name:
        text = text.lower()
    start = text.find(name)
    while start >= 0:
        beside = text[start - 1 : start] + text[start + len(name) :][:1]
        if not any(sign.isalnum() or sign == "_" for sign in beside):
            return True
        start = text.find(name, start + 1)
    return False


def _touched(item: Item) -> tuple[str, ...]:
    later = (each.path for each in item.validity if each.path)
    return tuple(dict.fromkeys((*item.files_modified, *item.files_read, *later)))


def _files_by(kinds: Collection[str], name: str) -> NamesOf:
    """Return a function from an item to its files: of a path, of a symbol, else what it changed."""
    if {"file", "folder"} & set(kinds):
        return lambda item: [path for path in _touched(item) if touches(path, name)]
    if {"symbol", "package"} & set(kinds):
        return lambda item: {
            path: None for path, symbols in changed_symbols(item) if _holds(symbols, name)
        }
    return lambda item: item.files_modified


def _who(reader: StoreReader, items: Iterable[Item]) -> NamesOf:
    """Return a function from an item to whose it is."""
    ours = made_here(reader, [one for one in items if one.type == "commit"])

    def people(item: Item) -> Collection[str]:
        if item.person not in OURS:
            return [item.person]
        is_pulled = item.session_id is None and item.id not in ours
        return [commit_author(item) if is_pulled and commit_author(item) else YOU]

    return people


def _counted(names_of: NamesOf, items: Iterable[Item]) -> tuple[NamedCount, ...]:
    counts, last = Counter[str](), dict[str, int]()
    for item in items:
        for name in names_of(item):
            counts[name] += 1
            last.setdefault(name, item.created_ms)
    return tuple(
        NamedCount(name=name, count=count, last_ms=last[name])
        for name, count in counts.most_common(MOST_NAMES)
    )


def _groups(items: Iterable[Item], limit: int) -> Iterator[Hanging]:
    of_sorts: Mapping[str, list[Item]] = {sort: [] for sort in GROUPS}
    for item in items:
        of_sorts[_sort(item)].append(item)
    for sort, found in of_sorts.items():
        if found:
            yield Hanging(sort=sort, total=len(found), items=tuple(found[:limit]))


def _sort(item: Item) -> str:
    if item.type in KNOWLEDGE_TYPES:
        return "decisions"
    if item.type == "fix" or item.category == FAILED or item.signature:
        return "failures"
    if item.kind == "note":
        return "notes"
    by_type = {"commit": "commits", "file-write": "edits", "turn": "turns", "summary": "turns"}
    return by_type.get(item.type, "others")
