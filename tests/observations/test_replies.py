from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from observer.observations import replies

REPLY = """\
Let me summarise what I did.

The timeout came from the retry loop, which never slept. **Totals** are rounded half even now.
Was it because of the cache? I chose quantize instead of round.

## Next steps:
- Add a test for the retry loop
1. Wire the setting

That is all.
The cache is not yet implemented, TODO later.
"""


def test_causes_and_decisions_are_lessons() -> None:
    assert replies.read(REPLY).lessons == (
        "The timeout came from the retry loop, which never slept.",
        "I chose quantize instead of round.",
    )


def test_what_is_left_to_do_are_plans() -> None:
    assert replies.read(REPLY).plans == (
        "Add a test for the retry loop",
        "Wire the setting",
        "The cache is not yet implemented, TODO later.",
    )


def test_announcements_do_not_lead() -> None:
    assert replies.read(REPLY).lead == "The timeout came from the retry loop, which never slept."


def test_sentences_end_without_a_blank_in_scripts_without_blanks() -> None:
    first = "テストはタイムゾーンに依存していました\u3002"
    assert replies.read(f"{first}UTC に固定しました\u3002").lead == first


def test_an_offer_is_no_plan() -> None:
    assert replies.read("Next: shall we merge?\nNext:\n").plans == ()


def test_an_empty_reply_says_nothing() -> None:
    assert replies.read("") == replies.ReplyExtract()


@given(st.text(st.sampled_from("Next:.\n-*# TODObecause1)?"), max_size=300))
def test_any_reply_is_read(text: str) -> None:
    said = replies.read(text)
    assert len(said.lessons) <= 4
    assert len(said.plans) <= 4


def test_a_heading_is_no_informative_sentence() -> None:
    text = "1. Primary Request and Intent:\n   The cart must round half even."
    assert replies.read(text).lead == "The cart must round half even."


def test_what_is_still_to_do_was_not_learned() -> None:
    said = replies.read(
        "It broke because of floats.\n\nNext steps:\n- Use Decimal instead of float"
    )
    assert said.lessons == ("It broke because of floats.",)
    assert said.plans == ("Use Decimal instead of float",)


@pytest.mark.parametrize(
    "text",
    [
        "Not done yet: the export.",
        "TODO: the export",
        "Remaining: the export.",
        "Still open: the export.",
        "Deferred: the export to CSV.",
        "Out of scope for now: the export.",
        "Follow-up: the export.",
        "What's left: the export.",
        "You still need to add the export.",
        "To complete the setup, you need to add the export.",
        "Noch offen: der Export.",
        "Offen: der Export.",
        "- Not verified in staging yet: the export",
        "I was not able to run the tests of the export because Docker is unavailable.",
        "I couldn't verify the export.",
        "Reste \u00e0 faire : l'export.",
        "Pendiente: la exportaci\u00f3n.",
        "- [ ] the export",
        "Next steps\n\n1. the export\n2. \u2705 the import",
        "**Remaining**\n- the export\n- ~~the import~~",
        "It is ready. To enable it, you need to set the export:\n\n| secret | value |",
    ],
)
def test_what_is_left_is_said_in_many_ways(text: str) -> None:
    (plan,) = replies.read(f"Totals are rounded.\n\n{text}\n").plans
    assert "export" in plan.lower()


@pytest.mark.parametrize(
    "text",
    [
        "Next.js renders the page.",
        "Next time it fails, the log tells why.",
        "Remaining: none.",
        "Remaining tests pass.",
        "Nothing left to do.",
        "- [x] the export",
        "Not done yet?",
        "I could not find any other cause.",
        "If you want, I could add a section about TODO lists.",
    ],
)
def test_what_is_not_left_is_no_plan(text: str) -> None:
    assert replies.read(f"Totals are rounded.\n\n{text}\n").plans == ()


def test_a_list_under_a_heading_is_all_that_is_left() -> None:
    assert replies.read("Next steps:\n- the export").is_whole
    assert not replies.read("Next: the export to CSV.").is_whole


@pytest.mark.parametrize(
    ("reply", "question"),
    [
        (
            "The hook fails. Should I commit with `--no-verify`?",
            "Should I commit with `--no-verify`?",
        ),
        ("Two ways.\n\n**Which of them do you prefer?**", "Which of them do you prefer?"),
        ("Done. Would you like me to add a test?", ""),
        ("Should I? No. It is done.", ""),
        ("", ""),
    ],
)
def test_what_an_agent_waits_to_be_reported_is_a_question(reply: str, question: str) -> None:
    assert replies.read(reply).question == question
