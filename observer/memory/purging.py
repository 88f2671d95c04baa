"""What a purge would take, exactly: for the command and for the page that ask before they do it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from observer.core import config
from observer.core.clock import now_ms
from observer.core.model import seq_of
from observer.core.paths import Home
from observer.core.text import breakdown, counted, listed, one_line
from observer.core.value import Value
from observer.notes.folders.folders import NoteFolders, places_holding
from observer.store.reader import StoreReader
from observer.upkeep.carry_out import PurgeOrder
from observer.upkeep.choose import DEPENDS, Criteria, kept_files, on_branch, reasons
from observer.upkeep.shred import finder, left

SHOWN = 10
TITLE_CHARS = 90


class PurgePreview(Value):
    """What would be purged: events by kind and by why, items by type with the first titles, files.

    What stays is `on_branch`, events with the text only as their branch's name, and `note_files`.
    """

    events: int
    kinds: dict[str, int]
    why: dict[str, int]
    on_branch: int
    items: int
    types: dict[str, int]
    titles: tuple[str, ...]
    files: tuple[str, ...]
    note_files: tuple[str, ...]

    def lines(self) -> Iterator[str]:
        """Yield what would be purged, a line each."""
        if self.on_branch:
            stays = f"{counted(self.on_branch, 'event')} happened on the branch of that name"
            yield f"{stays}, and stay; nothing else of them holds it"
        if not (self.events or self.files or self.note_files):
            yield "nothing is stored of it; look what is: observer search --all"
            return
        yield f"{counted(self.events, 'event')}{breakdown(self.kinds)}"
        if self.why:
            yield f"why: {', '.join(f'{why} ({count:,})' for why, count in self.why.items())}"
        yield f"{counted(self.items, 'item')}{breakdown(self.types)}"
        yield from (f"  {title}" for title in self.titles)
        if self.items > len(self.titles):
            yield f"  and {self.items - len(self.titles):,} more"
        if self.files:
            yield f"held by: {', '.join(self.files)}"
        yield from in_notes(self.note_files)


def in_notes(files: Sequence[str]) -> list[str]:
    """Return what is said of a text that stands in note folders, a line each."""
    line = f"in your notes, which stay: {listed(files, SHOWN + 1)}"
    return [line, "change these files: what they hold is read from them again"] if files else []


def planned(reader: StoreReader, here: Home, asked: Criteria) -> tuple[PurgePreview, PurgeOrder]:
    """Return what a purge would take, to be shown, and the order that takes just that.

    Raises: BadInput (nothing restricts it, or a text is too short), NotFound, ConfigInvalid.
    """
    text = finder([asked.text] if asked.text else [])
    files = tuple(left(here, text)) if text else ()
    why = reasons(reader, asked)
    kinds = Counter(one.kind for one in reader.stored_events() if one.seq in why)
    made = reader.items_from(why.keys())
    kept = kept_in_text(here, asked) if asked.text else tuple(kept_files(reader, asked))
    shown = PurgePreview(
        events=len(why),
        kinds=dict(kinds.most_common()),
        why=dict(Counter(why.values()).most_common()),
        on_branch=on_branch(reader, asked),
        items=len(made),
        types=dict(Counter(one.type for one in made).most_common()),
        titles=tuple(
            # The id of a summary is made of its session's, not of an event's.
            f"#{one.id} {one_line(one.title, TITLE_CHARS)} ({reason})"
            for one in made[:SHOWN]
            for reason in [DEPENDS if one.kind == "summary" else why.get(seq_of(one.id), DEPENDS)]
        ),
        files=files,
        note_files=kept,
    )
    texts = (asked.text,) if asked.text else ()
    return shown, PurgeOrder(seqs=tuple(sorted(why)), texts=texts)


def kept_in_text(here: Home, asked: Criteria) -> tuple[str, ...]:
    """Return where in note folders the text stands. Raises: ConfigInvalid, BadInput (a folder)."""
    text = finder([asked.text] if asked.text else [])
    if text is None:
        return ()
    exclude = config.load(here).exclude
    folders = NoteFolders(here).all()
    return tuple(places_holding(folders, text, exclude=exclude, now_ms=now_ms))
