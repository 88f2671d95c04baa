"""What leaves a home, what is taken in, and that all homes end up with the same."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from msgspec.structs import replace

from observer.core.errors import NotFound, ShareUnavailable
from observer.core.events import Command, Prompt, Reference, Remember, Reply, Revise, SessionEnd
from observer.core.filters import OWN
from observer.notes.note_reader import versions
from observer.store.shares import ShareState
from observer.sync import outgoing
from observer.sync.incoming import Round, changed_apart, failed, sync_once
from observer.sync.record import Pulled, Record
from observer.tools import note_api
from observer.upkeep.take_out import Removal, clean, marks_of
from tests.sync.home.machines import NAME, LinesCarrier, Machine

Sync = Callable[..., list[Round]]
Machines = Callable[..., Machine]


def test_a_note_arrives_once(ana: Machine, bob: Machine, sync: Sync, carrier: LinesCarrier) -> None:
    ana.note("The cart needs a lock.", type="decision", tags=("cart",))
    sent, taken, *later = sync(ana, bob, ana, bob)
    assert ((sent, taken), later) == ((Round(sent=1), Round(taken=1)), [Round(), Round()])
    there, here = bob.only(), ana.only()
    assert (there.uuid, there.person, there.tags) == (here.uuid, "ana", ("cart",))
    assert there.created_ms == here.created_ms
    assert [one.origin for one in carrier.records()] == ["o-ana"]
    with bob.store.read() as reader:
        (shown,) = versions(reader.history(there.id))
    assert "shared by ana" in note_api.version(shown)


def test_what_came_is_named_by_whose_machine_sent_it_and_not_by_what_it_says(
    ana: Machine, bob: Machine, machine: Machines, sync: Sync, carrier: LinesCarrier
) -> None:
    bob.home, carrier.me = bob.home._replace(person="ana"), "ana"
    ana.note("of ana"), bob.note("of bob")
    laptop = machine("laptop")
    sync(ana, bob, laptop)
    assert {one.narrative: one.person for one in laptop.items()} == {"of ana": OWN, "of bob": "bob"}
    for name in ("", OWN, f" {OWN}\n", "\n"):  # which passes for the owner's
        assert Pulled((), people={"o": name}, me="ana").whose("o") == "somebody"


def test_the_first_records_are_sent_before_the_last_are_made(
    ana: Machine, carrier: LinesCarrier, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(5):
        ana.note(f"note {number}")
    made: list[int] = []

    def push(records: Sequence[Record]) -> None:
        with ana.store.read() as reader:
            made.append(reader.shares()[0].sequence)
        LinesCarrier.push(carrier, records)

    monkeypatch.setattr(carrier, "push", push)
    for name in ("BATCH", "PUSHED"):
        monkeypatch.setattr(outgoing, name, 2)
    assert sync_once(ana.home, NAME, carrier).sent == 5
    assert (made, len(carrier.records())) == ([2, 4, 5], 5)


def test_a_personal_note_leaves_once_it_is_promoted(ana: Machine, bob: Machine, sync: Sync) -> None:
    item = ana.note("mine", scope="personal", owner="ana")
    ana.report(Remember(content="Always push.", type="rule"))
    assert sync(ana) == [Round()]
    ana.report(Revise(item=item, scope="team"), author="person")
    sync(ana, bob)
    assert (bob.only().narrative, bob.only().scope, bob.only().owner) == ("mine", "team", "")


def test_of_a_session_turns_leave_only_if_asked(machine: Machines, carrier: LinesCarrier) -> None:
    said = (Prompt(text="Why is the cart slow?"), Reply(text="It took the lock twice."))
    sent = {}
    for name, turns in (("plain", False), ("open", True)):
        one = machine(name, turns=turns)
        one.report(*said, Command(command="make", exit_code=1), session="s1")
        assert sync_once(one.home, NAME, carrier).sent == turns  # its summary is not yet
        one.report(SessionEnd(), session="s1")
        sync_once(one.home, NAME, carrier)
        sent[name] = [r.body for r in carrier.records() if r.origin == f"o-{name}"]
    assert ['"kind":"summary"' in body for body in sent["plain"]] == [True]
    assert not any("took the lock" in body and '"turn"' in body for body in sent["plain"])
    assert any('"turn"' in body for body in sent["open"])


def test_what_a_policy_keeps_leaves_when_it_goes(ana: Machine, bob: Machine, sync: Sync) -> None:
    policy, away = ana.shop / ".observer.toml", ana.shop.with_name("away")
    policy.write_text('sharing = "none"\n')
    ana.note("one")
    assert sync(ana) == [Round()]
    ana.shop.rename(away)
    assert sync(ana) == [Round()]
    away.rename(ana.shop)
    assert sync(ana) == [Round()]
    policy.unlink()
    sync(ana, bob)
    assert bob.only().narrative == "one"


def test_a_share_of_other_projects_takes_nothing_of_this_one(
    ana: Machine, machine: Machines, sync: Sync
) -> None:
    eve = machine("eve", projects=(77,))
    ana.note("one")
    assert sync(ana, eve) == [Round(sent=1), Round(taken=1)]
    assert eve.items() == []


def test_folders_of_a_machine_do_not_leave(
    ana: Machine, bob: Machine, sync: Sync, carrier: LinesCarrier
) -> None:
    ana.note(f"It is in {ana.shop}/cart.py")
    sync(ana, bob)
    assert bob.only().narrative == "It is in cart.py"
    assert str(ana.shop) not in carrier.records()[0].body


def test_what_was_stored_or_sent_before_a_rule_was_known_is_redacted_today(
    ana: Machine, bob: Machine, sync: Sync, carrier: LinesCarrier
) -> None:
    token = "ghp_" + "a1B2" * 9
    item = ana.note("plain")
    with ana.store.write() as writer:
        (note,) = writer.items([item])
        writer.put_items([replace(note, narrative=f"Use {token}")])
    sync(ana)
    (record,) = carrier.records()
    assert token not in record.body
    carrier._file.unlink()
    carrier.push([replace(record, body=record.body.replace("Use ", f"Use {token} "))])
    sync(bob)
    assert token not in bob.only().narrative


@pytest.mark.parametrize("body", ["[]", "{", '{"id":0}', "x" * (1 << 20)])
def test_a_record_that_is_no_item_is_refused_and_named(
    body: str, ana: Machine, bob: Machine, sync: Sync, carrier: LinesCarrier
) -> None:
    ana.note("one")
    sync(ana)
    (record,) = carrier.records()
    carrier._file.unlink()
    carrier.push([replace(record, body=body)])
    sync(bob)
    with bob.store.read() as reader:
        (refusal,) = reader.refusals(NAME)
    assert (refusal.origin, refusal.sequence, bob.items()) == ("o-ana", 1, [])


def test_a_refusal_is_named_until_what_was_refused_has_come(
    ana: Machine, bob: Machine, sync: Sync, carrier: LinesCarrier
) -> None:
    ana.note("one"), ana.note("two")
    sync(ana)
    first, second = carrier.records()
    for there, named in (([second], 1), ([first, second], 0)):
        carrier._file.unlink()
        carrier.push(there)
        sync(bob)
        bob.now_ms += 1000
        with bob.store.read() as reader:
            assert len(reader.refusals(NAME)) == named


def test_a_broken_chain_stops_nobody_else(
    ana: Machine, bob: Machine, machine: Machines, sync: Sync, carrier: LinesCarrier
) -> None:
    eve = machine("eve")
    ana.note("one"), eve.note("two")
    sync(ana, eve)
    good, bad = carrier.records()
    carrier._file.unlink()
    carrier.push([replace(bad, previous="f"), good])
    sync(bob)
    with bob.store.read() as reader:
        assert [one.why for one in reader.refusals(NAME)] == [
            "record 1 of eve: does not continue record 0"
        ]
    assert bob.only().narrative == "one"


def test_a_deletion_wins_over_a_machine_that_comes_back_late(
    ana: Machine, bob: Machine, machine: Machines, sync: Sync
) -> None:
    item = ana.note("one")
    sync(ana, bob)
    bob.revise(bob.only().id, "one, and later")
    bob.now_ms += 90 * 86_400_000
    ana.forget(item)
    sync(ana, bob, ana)
    late = machine("eve")
    sync(late)
    assert (ana.items(), bob.items(), late.items()) == ([], [], [])


def test_a_deletion_by_another_is_for_good(ana: Machine, bob: Machine, sync: Sync) -> None:
    item = ana.note("one")
    sync(ana, bob)
    bob.forget(bob.only().id)
    sync(bob, ana)
    ana.undo(item)
    ana.revise(item, "two")
    assert ana.items() == []


def test_what_has_changed_waits_while_the_share_is_away(ana: Machine, sync: Sync) -> None:
    ana.note("one")
    failed(ana.home, NAME, ShareUnavailable("the disk is away"))
    for waiting, fault in ((1, "the disk is away"), (0, "")):
        with ana.store.read() as reader:
            assert (len(reader.waiting(NAME)), reader.shares()[0].fault) == (waiting, fault)
        sync(ana)
    with ana.store.write() as writer:
        writer.drop_share(NAME)
    with pytest.raises(NotFound, match="no share"):
        sync(ana)


def test_what_is_taken_back_is_so_everywhere(ana: Machine, bob: Machine, sync: Sync) -> None:
    item = ana.note("one")
    sync(ana, bob)
    bob.revise(bob.only().id, "two")
    sync(bob, ana)
    ana.undo(item)
    sync(ana, bob)
    assert bob.only().narrative == "one"
    ana.forget(item)
    sync(ana, bob)
    ana.undo(item)
    sync(ana, bob)
    assert (bob.only().narrative, bob.only().person) == ("one", "ana")
    ana.revise(item, "two")
    sync(ana, bob)
    assert bob.only().narrative == "two"


def test_a_deletion_that_never_left_and_is_taken_back_leaves_one_note(
    ana: Machine, bob: Machine, sync: Sync
) -> None:
    item = ana.note("one")
    sync(ana, bob)
    ana.forget(item)
    ana.undo(item)
    sync(ana, bob, ana)
    assert ana.texts() == bob.texts()
    ana.pipeline.rebuild()
    assert ana.texts() == bob.texts()


def test_who_brings_back_what_he_deleted_of_another_brings_it_to_all(
    ana: Machine, bob: Machine, sync: Sync
) -> None:
    ana.note("one")
    sync(ana, bob)
    theirs = bob.only().id
    bob.forget(theirs)
    sync(bob, ana)
    assert ana.items() == []
    bob.undo(theirs)
    sync(bob, ana)
    assert (ana.only().narrative, ana.only().person) == ("one", "bob")


def test_a_version_from_before_a_deletion_that_was_taken_back_is_none(
    ana: Machine, bob: Machine, sync: Sync
) -> None:
    item = ana.note("one")
    sync(ana, bob)
    bob.revise(bob.only().id, "late")
    ana.forget(item)
    sync(ana)
    ana.undo(item)
    sync(bob, ana, bob)
    assert [one.narrative for one in ana.items()] == ["one"]
    assert ana.texts() == bob.texts()


def named_apart(machine: Machine) -> list[int]:
    with machine.store.read() as reader:
        return [one.id for one in changed_apart(reader, NAME)]


@pytest.mark.parametrize("is_earlier_first", [False, True])
def test_a_note_changed_apart_keeps_both_versions_and_is_named_on_both_machines(
    ana: Machine, bob: Machine, sync: Sync, carrier: LinesCarrier, *, is_earlier_first: bool
) -> None:
    item = ana.note("one")
    sync(ana, bob)
    bob.revise(bob.only().id, "bob's")
    ana.now_ms += 60_000
    ana.revise(item, "ana's")
    sync(*(bob, ana, bob, ana) if is_earlier_first else (ana, bob, ana))
    assert (named_apart(ana), named_apart(bob)) == ([item], [bob.only().id])
    for one in (ana, bob):
        assert one.only().narrative == "ana's"
        with one.store.read() as reader:
            shown = versions(reader.history(one.only().id))
        assert {each.item.narrative for each in shown} == {"one", "bob's", "ana's"}
    assert len(carrier.records()) == 3
    ana.undo(item)
    assert ana.only().narrative == "bob's"
    ana.revise(item, "both")
    sync(ana, bob)
    bob.revise(bob.only().id, "both, said bob")  # after it, not apart from it
    sync(bob, ana)
    assert (named_apart(ana), named_apart(bob)) == ([], [])


def test_commits_and_links_are_those_of_the_home(ana: Machine, bob: Machine, sync: Sync) -> None:
    ana.commit("a"), bob.commit("a")
    old = ana.note("old")
    ana.note("new", links=(Reference(kind="supersedes", item=old),))
    bob.note("shifts the ids")
    sync(ana, bob, ana)
    for one in (ana, bob):
        assert [item.commit for item in one.items() if item.commit] == ["a" * 40]
    ids = {one.narrative: one for one in bob.items()}
    assert [link.target for link in ids["new"].links] == [ids["old"].id]


def purge(machine: Machine, *seqs: int) -> None:
    with machine.store.read() as reader:
        machine.tombstones.add(marks_of(reader, seqs))
    clean(machine.store, Removal(machine.tombstones))


def test_a_purge_wins_over_whoever_changes_it_later(ana: Machine, bob: Machine, sync: Sync) -> None:
    ana.note("one")
    theirs = bob.note("theirs")
    sync(ana, bob, ana)
    purge(ana, 1, 2)
    bob.revise(theirs, "two")
    bob.now_ms += 90 * 86_400_000
    bob.revise(next(one.id for one in bob.items() if one.person), "one, and later")
    sync(ana, bob, ana, bob)
    assert (ana.items(), bob.only().narrative) == ([], "two")


def test_what_was_purged_is_in_no_record_though_it_was_forgotten_before(
    ana: Machine, bob: Machine, sync: Sync, carrier: LinesCarrier
) -> None:
    item = ana.note("one")
    ana.note("two")
    sync(ana)
    ana.forget(item)
    sync(ana)
    assert any("one" in record.body for record in carrier.records())
    purge(ana, 1, 3)
    sync(ana, bob)
    assert not any("one" in record.body for record in carrier.records())
    assert [one.narrative for one in bob.items()] == ["two"]


def test_a_rebuild_keeps_what_came(ana: Machine, bob: Machine, sync: Sync) -> None:
    kept, gone = ana.note("one"), ana.note("two")
    sync(ana, bob)
    bob.revise(bob.items()[0].id, "one by bob")
    ana.forget(gone)
    sync(ana, bob, ana)
    live = [one.items() for one in (ana, bob)]
    for one in (ana, bob):
        one.pipeline.rebuild()
    assert [one.items() for one in (ana, bob)] == live
    assert [item.id for item in ana.items()] == [kept]
    assert sync(ana, bob) == [Round(), Round()]


@pytest.mark.parametrize("is_restored", [True, False], ids=["restored", "others send in its name"])
def test_a_home_goes_on_where_it_was_or_under_another_name_if_others_send_in_it(
    ana: Machine, bob: Machine, sync: Sync, carrier: LinesCarrier, *, is_restored: bool
) -> None:
    ana.note("one")
    sync(ana)
    at = {} if is_restored else {"sequence": 0, "hash": "f"}  # and its note is lost
    bob.add(ShareState(name=NAME, url="x", key="k2", origin="o-ana", **at))
    bob.note("two")
    sync(bob, ana)
    assert sorted(one.narrative for one in bob.items()) == ["one", "two"]
    origins = [(one.origin, one.sequence) for one in carrier.records()]
    if is_restored:
        assert origins == [("o-ana", 1), ("o-ana", 2)]
    else:
        assert len({origin for origin, _ in origins}) == 2


class Killed(BaseException):
    """What no code expects."""


class Dying:
    """Fails at the nth call of what it stands before, once; before or after it was done."""

    def __init__(self, at: int, *, after: bool) -> None:
        self.left, self._after = at, after

    def __call__(self, act: Callable[..., Any]) -> Callable[..., Any]:
        def call(*given: Any, **named: Any) -> Any:
            self.left -= 1
            if self.left == 0 and not self._after:
                raise Killed
            done = act(*given, **named)
            if self.left == 0:
                raise Killed
            return done

        return call


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("at", range(1, 16))
def test_killed_anywhere_nothing_is_lost_or_doubled(
    at: int, after: bool, ana: Machine, bob: Machine, sync: Sync, carrier: LinesCarrier
) -> None:
    ana.note("one"), ana.commit("a"), bob.note("two"), ana.forget(ana.note("three"))
    dying = Dying(at, after=after)
    for one in (ana, bob):
        home = one.home._replace(write=dying(one.home.write), ingest=dying(one.home.ingest))
        mortal = LinesCarrier(carrier._file)
        mortal.push = dying(carrier.push)  # type: ignore[method-assign]  # the kill
        mortal.pull = dying(carrier.pull)  # type: ignore[method-assign]  # the kill
        try:
            sync_once(home, NAME, mortal)
        except Killed:
            continue
    sync(ana, bob, ana, bob)
    keys = [(one.origin, one.sequence) for one in carrier.records()]
    assert ana.texts() == bob.texts()
    assert len(ana.items()) == 3
    assert len(keys) == len(set(keys))
