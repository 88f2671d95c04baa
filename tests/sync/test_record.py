"""Records of a share: the chain of an origin."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from observer.sync.record import Record, Refused, chained, withheld

Chain = Callable[..., list[Record]]


def test_a_chain_goes_on_behind_what_is_known_or_withheld(chain: Chain) -> None:
    one, two, three = chain("a", 3)
    assert chained([one, two, three], {"a": (2, two.hash())}) == ([three], [])
    stub = withheld(two)
    assert chained([one, stub, three], {}) == ([one, stub, three], [])
    assert (stub.project.name, stub.author) == ("", "")
    assert len(chained([one, replace(stub, body="x" * 999)], {})[1]) == 1  # that is no hash


def test_a_changed_record_breaks_the_chain_of_its_origin_alone(chain: Chain) -> None:
    one, two, three = chain("a", 3)
    others = chain("b", 2)
    taken, refused = chained([one, replace(two, body="{}"), three, *others], {})
    kept = [f"{record.origin}{record.sequence}" for record in taken]
    assert kept == ["a1", "a2", "b1", "b2"]
    assert refused == [Refused("a", 3, "does not continue record 2")]
