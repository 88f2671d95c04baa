"""Each recorded payload under tests/data/<client>/ becomes exactly the events beside it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest

from observer.clients.registry import clients
from observer.core.errors import Undecodable
from observer.core.events import Event
from observer.ingest.decode import decode

DATA = Path(__file__).parents[1] / "data"
AT_MS = 1_763_715_600_000


class Sample(msgspec.Struct, forbid_unknown_fields=True):
    entry: str
    fields: dict[str, str]
    becomes: list[Event]
    args: list[str] = []
    env: dict[str, str] = {}
    payload: dict[str, Any] | None = None
    text: str = ""


SAMPLES = {
    client: {
        path.stem: msgspec.json.decode(path.read_bytes(), type=Sample)
        for path in sorted((DATA / client).glob("*.json"))
    }
    for client in clients()
}
every_client = pytest.mark.parametrize("client", clients())


def envelope(sample: Sample) -> bytes:
    fields = [f"{name}={value}" for name, value in sample.fields.items()]
    fields += [f"arg={arg}" for arg in sample.args]
    fields += [f"env.{name}={value}" for name, value in sample.env.items()]
    header = "".join(f"{field}\0" for field in fields)
    payload = sample.text.encode() if sample.payload is None else json(sample.payload)
    return b"OBS1\0" + header.encode() + b"\0" + payload


def json(payload: Mapping[str, Any]) -> bytes:
    return msgspec.json.encode(payload)


def decoded(sample: Sample) -> list[Event]:
    return list(decode(sample.entry, envelope(sample), AT_MS, cap_bytes=65536))


@every_client
def test_a_payload_becomes_its_events(client: str) -> None:
    for name, sample in SAMPLES[client].items():
        assert decoded(sample) == sample.becomes, name


@every_client
def test_every_client_has_samples(client: str) -> None:
    assert SAMPLES[client]


@every_client
def test_unknown_fields_change_no_known_event(client: str) -> None:
    """A newer client's extra fields are data; only an event kept as it came may show them."""
    for name, sample in SAMPLES[client].items():
        tags = {event.body.__struct_config__.tag for event in sample.becomes}
        if sample.payload is not None and "custom" not in tags:
            newer = {**sample.payload, "added_later": {"a": [1]}}
            assert decoded(msgspec.structs.replace(sample, payload=newer)) == sample.becomes, name


@every_client
def test_fields_of_any_other_type_are_survived(client: str) -> None:
    """Text where an object was, numbers where text was: an event, none, or a reason."""
    wrongs = (None, True, 7, -1.5, "", "{", [], [{}], [["a"]], {}, {"a": {"b": []}})
    for name, sample in SAMPLES[client].items():
        for wrong in wrongs if sample.payload is not None else ():
            payload = dict.fromkeys(sample.payload or (), wrong)
            assert is_survived(msgspec.structs.replace(sample, payload=payload)), (name, wrong)


def is_survived(sample: Sample) -> bool:
    payload = {**(sample.payload or {}), "hook_event_name": sample.fields["event"]}
    try:
        events = decoded(msgspec.structs.replace(sample, payload=payload))
    except Undecodable:
        return True
    # Values are built without validation: what their types say must hold all the same.
    return msgspec.json.decode(msgspec.json.encode(events), type=list[Event]) == events
