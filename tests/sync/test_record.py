"""Records of a share: the chain of an origin."""

from __future__ import annotations

from msgspec.structs import replace

from observer.sync.record import Refused, chained, withheld
from tests.sync.conftest import a_chain


def test_a_chain_goes_on_behind_what_is_known_or_withheld() -> None:
    one, two, three = a_chain("a", 3)
    assert chained([one, two, three], {"a": (2, two.hash())}) == ([three], [])
    stub = withheld(two)
    assert chained([one, stub, three], {}) == ([one, stub, three], [])
    assert (stub.project.name, stub.author) == ("", "")
    assert len(chained([one, replace(stub, body="x" * 999)], {})[1]) == 1  # that is no hash


def test_a_changed_record_breaks_the_chain_of_its_origin_alone() -> None:
    one, two, three = a_chain("a", 3)
    others = a_chain("b", 2)
    taken, refused = chained([one, replace(two, body="{}"), three, *others], {})
    kept = [f"{record.origin}{record.sequence}" for record in taken]
    assert kept == ["a1", "a2", "b1", "b2"]
    assert refused == [Refused("a", 3, "does not continue record 2")]
