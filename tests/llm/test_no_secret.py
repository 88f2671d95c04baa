"""No class of secret that redaction knows reaches a prompt, from the log or from anywhere else."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from observer.core.events import Command, Event
from observer.core.model import Item, SummaryFields
from observer.llm.prompt import of_observation, of_session
from observer.redaction.redact import redact


def _cases_of_redaction() -> ModuleType:
    path = Path(__file__).parents[1] / "redaction" / "test_redact.py"
    spec = importlib.util.spec_from_file_location("cases_of_redaction", path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


CASES = _cases_of_redaction()
# What is there, and what of it must not be sent.
SECRETS: list[tuple[str, str]] = [
    *((f"it is {secret} here", secret.strip()) for _, secret in CASES.TOKENS),
    *((text, gone) for _, _, text, gone, _ in CASES.PASSAGES),
]


def item(text: str, **given: Any) -> Item:
    base = {"id": 4, "uuid": "u", "kind": "observation", "type": "command", "title": text}
    return Item(**base | {"narrative": text, "facts": (text, text)} | given)


def test_what_was_stored_with_a_secret_is_sent_without() -> None:
    for text, gone in SECRETS:
        shown = item(text, summary=SummaryFields(request=text, notes=text))
        body = Command(command=text, output=text, description=text)
        sent = of_observation(item(text), body).quoted + of_session(shown, [item(text)] * 3).quoted
        assert gone not in sent
        assert " ".join(gone.split()) not in sent


def test_what_came_through_the_door_holds_none_either() -> None:
    for text, gone in SECRETS:
        event = redact(Event(id="e", at_ms=1, client="c", body=Command(command="x", output=text)))
        assert gone not in of_observation(item("t"), event.body).quoted


@given(
    st.lists(st.sampled_from(SECRETS), min_size=1, max_size=4),
    st.text(alphabet=st.characters(codec="utf-8"), max_size=40),
    st.integers(0, 4000),
)
@settings(max_examples=40)
def test_wherever_it_stands_and_wherever_the_text_is_cut(
    secrets: list[tuple[str, str]], around: str, ahead: int
) -> None:
    text = "\n\n".join(["z " * ahead, *(f"{around}\n{text}\n" for text, _ in secrets), "z " * 900])
    event = redact(Event(id="e", at_ms=1, client="c", body=Command(command="x", output=text)))
    sent = of_observation(item("t"), event.body).quoted
    assert not [gone for _, gone in secrets if gone in sent and gone not in around]
