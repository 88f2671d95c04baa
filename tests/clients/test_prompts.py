"""What Claude Code puts around the words of a person, and what it leaves alone."""

from __future__ import annotations

from observer.clients.shelf import claude_code
from observer.core.events import Prompt


def _said(prompt: str) -> object:
    return claude_code._prompt({"prompt": prompt})


def test_only_reminders_before_the_words_are_taken_away() -> None:
    quoted = "why does it say <system-reminder>x</system-reminder> here?"

    assert _said(f"<system-reminder>y</system-reminder>\n{quoted}") == Prompt(text=quoted)
    assert _said(quoted) == Prompt(text=quoted)


def test_a_prompt_of_many_blanks_is_read_in_linear_time() -> None:
    blanks = " " * 200_000

    assert _said(blanks) == Prompt(text=blanks)
