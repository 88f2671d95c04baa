"""Records of a share: the chain of an origin."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from observer.sync.record import ProjectKey, Record, Refused, chained


def chain(origin: str, length: int) -> Iterator[Record]:
    previous = ""
    for sequence in range(1, length + 1):
        record = Record(
            origin=origin,
            sequence=sequence,
            previous=previous,
            kind="item",
            uuid=f"{origin}-{sequence}",
            project=ProjectKey(name="shop"),
            author="Ana",
            visibility="project",
            at_ms=sequence,
            body='{"title": "a note"}',
        )
        previous = record.hash()
        yield record


def test_a_whole_chain_is_taken() -> None:
    records = list(chain("a", 3))
    assert chained(records, {}) == (records, [])


def test_what_is_known_is_passed_over() -> None:
    records = list(chain("a", 3))
    assert chained(records, {"a": (2, records[1].hash())}) == (records[2:], [])


def test_a_changed_record_breaks_the_chain_of_its_origin_alone() -> None:
    one, two, three = chain("a", 3)
    others = list(chain("b", 2))
    taken, refused = chained([one, replace(two, body="{}"), three, *others], {})
    assert [(record.origin, record.sequence) for record in taken] == [
        ("a", 1),
        ("a", 2),
        ("b", 1),
        ("b", 2),
    ]
    assert refused == [Refused("a", 3, "does not continue record 2")]


def test_a_gap_is_refused() -> None:
    one, _, three = chain("a", 3)
    assert chained([one, three], {})[1] == [Refused("a", 3, "does not continue record 1")]
