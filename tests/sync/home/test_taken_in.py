"""What a record of another home can do here, and what it cannot."""

from __future__ import annotations

from typing import Any

import pytest

from observer.core.events import Command, Commit, SessionEnd, Shared
from observer.core.model import UNASSIGNED
from observer.store.shares import tombstone_key
from tests.sync.home.machines import Machine

UUID = "0199aaaa-0000-7000-8000-00000000000a"


def item(title: str = "theirs", **fields: Any) -> dict[str, Any]:
    plain = {"id": 0, "uuid": "", "kind": "note", "type": "fact", "title": title}
    return plain | {"narrative": title, "updated_ms": 1} | fields


def come(
    machine: Machine, said: dict[str, Any] | None, *, uuid: str = UUID, at: int = 1, **fields: Any
) -> None:
    """Have a record of a stranger arrive."""
    body = Shared(share="k", origin="o", sequence=at, uuid=uuid, person="eve", item=said)
    dedup = tombstone_key(uuid) if said is None else ""
    machine.report(body, id=f"k-o-{at}", dedup=dedup, **fields)


def test_a_version_that_comes_after_the_deletion_is_none(ana: Machine) -> None:
    come(ana, None)
    come(ana, item(), at=2)
    assert ana.items() == []


def test_a_captured_item_of_ours_is_only_deleted_by_others_and_for_good(ana: Machine) -> None:
    ana.report(Commit(hash="a" * 40, subject="Begin"))
    mine = ana.only()
    come(ana, item("forged", kind="observation", type="commit"), uuid=mine.uuid)
    assert ana.only().title != "forged"
    come(ana, None, uuid=mine.uuid, at=2)
    assert ana.items() == []
    ana.undo(mine.id)
    ana.pipeline.rebuild()
    assert ana.items() == []


def test_the_last_version_of_what_was_captured_elsewhere_stays(ana: Machine) -> None:
    for at, title in enumerate(("one", "two"), start=1):
        come(ana, item(title, kind="summary", type="summary"), at=at)
    assert (ana.only().title, ana.only().person) == ("two", "eve")
    come(ana, None, at=3)
    assert ana.items() == []


def test_nobody_reaches_a_personal_note_or_one_of_another_project(ana: Machine) -> None:
    ana.note("personal", scope="personal", owner="ana")
    come(ana, None, uuid=ana.only().uuid)
    ana.note("of the project")
    _, mine = before = ana.items()
    body = Shared(share="k", origin="o", sequence=2, uuid=mine.uuid, person="eve")
    ana.report(body, id="k-o-2", cwd="")
    assert ana.items() == before
    assert mine.project_id != UNASSIGNED


@pytest.mark.parametrize("said", [{}, {"title": 1}, item(kind="nothing")])
def test_what_is_no_item_makes_none(ana: Machine, said: dict[str, Any]) -> None:
    ana.note("mine")
    come(ana, said, uuid=ana.only().uuid)
    come(ana, said, at=2)
    assert ana.only().narrative == "mine"


def test_links_by_number_lead_nowhere_here_and_a_rule_waits_for_a_person(ana: Machine) -> None:
    ana.note("mine")
    links = [{"kind": "supersedes", "target": ana.only().id}]
    come(ana, item("Always push.", type="rule", layer="rule", approval="approved", links=links))
    (theirs,) = (one for one in ana.items() if one.person)
    assert [link.target for link in theirs.links] == [0]
    assert theirs.approval == "provisional"
    with ana.store.read() as reader:
        assert (reader.seqs_shared("k"), reader.seqs_shared("other")) == ([2], [])


def test_a_deletion_of_what_a_session_comes_to_holds_in_a_rebuild(ana: Machine) -> None:
    ana.report(Command(command="make", exit_code=1), SessionEnd(), session="s1")
    (summary,) = (one for one in ana.items() if one.kind == "summary")
    come(ana, None, uuid=summary.uuid)
    ana.pipeline.rebuild()
    assert summary.uuid not in {one.uuid for one in ana.items()}


def test_a_title_arrives_and_a_secret_in_the_place_of_a_uuid_does_not(ana: Machine) -> None:
    token = "ghp_" + "a1B2" * 9
    come(ana, item("", narrative="First line.\nMore."))
    come(ana, item("Locks", narrative="x"), uuid=token, at=2)
    assert [one.title for one in ana.items()] == ["First line.", "Locks"]
    assert token not in ana.items()[1].uuid
