"""What hangs on a name: which items name it whole, what it is, and who had to do with it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from observer.core.errors import BadInput
from observer.core.model import Item, Link, item_id, item_uuid
from observer.core.paths import Home
from observer.memory.api import Memory
from observer.memory.graph import Related
from observer.store.database import SqliteStore
from tests.support import memory_over

NOW_MS = 1_800_000_000_000
FEES = "src/fees.py"
ASK = Callable[..., Related]


def an_item(seq: int, title: str, **fields: Any) -> Item:
    at_ms = NOW_MS + seq * 60_000
    given: dict[str, Any] = {"kind": "observation", "type": "turn", "project_id": 1}
    given |= {"created_ms": at_ms, "updated_ms": at_ms} | fields
    return Item(id=item_id(seq), uuid=item_uuid(f"e{seq}", at_ms), title=title, **given)


def commit(seq: int, *facts: str, by: str = "Ana", **fields: Any) -> Item:
    given = {"type": "commit", "subtitle": f"commit {seq} by {by}", "facts": facts}
    return an_item(seq, "Improve", **given | {"files_modified": (FEES,)} | fields)


def note(seq: int, title: str, **fields: Any) -> Item:
    return an_item(seq, title, **{"kind": "note", "type": "fact"} | fields)


@pytest.fixture
def memory(store: SqliteStore, home: Home) -> Memory:
    return memory_over(store, home, NOW_MS)


@pytest.fixture
def hangs(store: SqliteStore, memory: Memory) -> ASK:
    def on(name: str, *items: Item, **asked: Any) -> Related:
        with store.write() as writer:
            writer.put_items(items)
        return memory.related(name, **asked)

    return on


CHANGED = f"M {FEES} +3 -1: settle_invoice and Book.close; brings currency"
SIGNED = {
    "kind": "record", "type": "command", "category": "failed", "signature": "TS2345: no fit",
    "facts": ("$ tsc", "error: TS2345: no fit for fees"),
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "item", "kind"),
    [
        ("settle_invoice", commit(1, CHANGED), "symbol"),
        ("settle_invoice()", commit(1, CHANGED), "symbol"),
        ("close", commit(1, CHANGED), "symbol"),
        ("fees.py", commit(1, CHANGED), "file"),
        ("src", commit(1, CHANGED), "folder"),
        ("zod", commit(1, "M package.json +1 -0: dependencies.zod"), "package"),
        ("eva lee", commit(1, by="Eva Lee"), "person"),
        ("bea", note(1, "Round up", person="bea"), "person"),
        ("TS2345", an_item(1, "tsc", **SIGNED), "error"),
        ("house rules", note(1, "House Rules"), "note"),
        ("house rules", note(1, "x", links=(Link(kind="wiki", title="House Rules"),)), "note"),
        ("#money", note(1, "Money is Decimal", tags=("money",)), "tag"),
        ("total", an_item(1, "Edit", type="file-write", facts=("added total",),
                          files_modified=(FEES,)), "symbol"),
        ("total", an_item(1, "Total", facts=(f"{FEES} (total)",), files_modified=(FEES,)),
         "symbol"),
    ],
)  # fmt: skip
def test_a_name_is_what_items_name_by_it(hangs: ASK, name: str, item: Item, kind: str) -> None:
    assert hangs(name, item).kinds[:1] == (kind,)


@pytest.mark.parametrize("name", ["settle", "settle_invoices", "invoice", "Settle_Invoice"])
def test_a_name_counts_only_whole_and_as_it_is_written(hangs: ASK, name: str) -> None:
    assert hangs(name, commit(1, CHANGED)).total == 0


def test_what_only_mentions_a_name_says_nothing_of_its_kind(hangs: ASK) -> None:
    found = hangs("ledger", an_item(1, "Where is the ledger kept?"))
    assert (found.total, found.kinds) == (1, ())
    command = an_item(1, "git add cart", type="command", facts=("$ git add cart",))
    assert hangs("cart", command).total == 0
    found = hangs("bea", note(1, "Round up", person="bea"), an_item(2, "ask bea about it"))
    assert found.total == 1
    with pytest.raises(BadInput, match="names nothing"):
        hangs(" :: ")


def test_items_stand_in_groups_newest_first_and_counted(hangs: ASK) -> None:
    notes = [note(seq, f"Round fees {seq}", type="decision") for seq in (1, 2, 3)]
    found = hangs("fees", *notes, an_item(4, "tsc", **SIGNED), note(5, "Of fees"), limit=2)
    groups = [(one.sort, one.total, [item.title for item in one.items]) for one in found.groups]
    assert groups == [
        ("decisions", 3, ["Round fees 3", "Round fees 2"]),
        ("failures", 1, ["tsc"]),
        ("notes", 1, ["Of fees"]),
    ]


def test_files_of_a_symbol_are_those_in_which_it_changed(hangs: ASK) -> None:
    other = "M src/cart.py +1 -0: Cart"
    found = hangs("settle_invoice", commit(1, CHANGED, other), commit(2, CHANGED))
    assert [(one.name, one.count) for one in found.files] == [(FEES, 2)]


def test_people_are_those_who_shared_or_committed_and_you(hangs: ASK) -> None:
    own = an_item(1, "fees")
    found = hangs("fees", own, note(2, "fees", person="bea"), commit(3, CHANGED, by="Eva Lee"))
    assert {(one.name, one.count) for one in found.people} == {
        ("you", 1),
        ("bea", 1),
        ("Eva Lee", 1),
    }


USES = '{"relations": [{"source": "Fee Service", "relation": "uses", "destination": "Redis"}]}'


def test_relations_of_an_entity_come_with_the_memory_that_says_them_to_its_owner(
    hangs: ASK,
) -> None:
    found = hangs("redis", note(1, "Fees are cached", metadata=USES))
    assert [(item, str(one)) for item, one in found.relations] == [(4, "Fee Service -uses-> Redis")]
    assert (found.kinds, found.total) == (("entity",), 1)
    own = {"scope": "personal", "metadata": USES}
    found = hangs("redis", note(1, "x", owner="eva", **own), note(2, "y", owner="ana", **own))
    assert [item for item, _ in found.relations] == [8]
