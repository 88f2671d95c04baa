"""What is typed to observer is kept in the memory only, however it is typed."""

from __future__ import annotations

import pytest

from observer.core.events import AnyBody, Command, Event, Intent, Prompt
from observer.ingest.prepare import strip_self_commands


def an_event(body: AnyBody) -> Event:
    return Event(id="e", at_ms=1, client="bash", body=body)


def kept(command: str, output: str = "", description: str = "") -> Command:
    shown = Command(command=command, output=output, description=description)
    body = strip_self_commands(an_event(shown)).body
    assert isinstance(body, Command)
    return body


@pytest.mark.parametrize(
    ("typed", "stays"),
    [
        ('observer remember "zebra is" --type fact', "observer remember …"),
        ("observer note edit 12 zebra", "observer note …"),
        ('observer forget "zebra"', "observer forget …"),
        ("observer purge --text zebra --yes", "observer purge …"),
        ("observer --json remember zebra", "observer --json remember …"),
        ("observer \\\n  remember zebra", "observer \\\n  remember …"),
        ("OBSERVER_HOME='/x y' observer remember zebra", None),
        ("~/.local/bin/observer remember zebra", "~/.local/bin/observer remember …"),
        ("python3.11 -X dev -m observer remember zebra", None),
        ("uvx observer-memory@1.2 remember zebra", "uvx observer-memory@1.2 remember …"),
        ("uvx --from observer-memory observer remember zebra", None),
        ("pipx run --spec observer-memory observer remember zebra", None),
        ("uv run --directory /x observer remember zebra", None),
        ("sudo -u bob timeout 5s observer remember zebra", None),
        ("if true; then observer remember zebra; fi", "if true; then observer remember …; fi"),
        ("make && observer remember 'zebra; y' && ls", "make && observer remember … && ls"),
        ("observer remember zebra 2>&1 | tail", "observer remember … | tail"),
        ("observer remember 'don\\'t; zebra'", "observer remember …"),
        ("observer remember zebra; ls", "observer remember …; ls"),
        ("echo zebra | observer remember -", "observer remember …"),
        ("cat <<EOF | observer remember - --type rule\nzebra\nEOF", "observer remember …"),
        ("observer remember - <<EOF\nit's\nzebra\nEOF", "observer remember …"),
        ("cat > f <<EOF\nit's\nEOF\nobserver remember zebra", None),
        ('bash -lc "cd x; observer remember \\"a; zebra\\""', None),
        ('bash -lc "observer remember \\"a; zebra\\""', 'bash -lc "observer remember …'),
        ("ssh host 'observer remember \"a; zebra\"'", "ssh host 'observer remember …"),
        ('id=$(observer remember --json "zebra" | jq .id)', "id=$(observer remember …"),
    ],
)  # fmt: skip
def test_the_words_of_a_note_stay_out_of_a_command(typed: str, stays: str | None) -> None:
    command = kept(typed, output="similar: #3 zebra", description="Remember the zebra")
    assert "zebra" not in str(command)
    assert stays in {None, command.command}


@pytest.mark.parametrize("verb", ["recall", "search", "context", "timeline", "show"])
def test_a_question_is_kept_without_its_answer(verb: str) -> None:
    typed = f"cd app && observer {verb} zebra | head"
    answered = kept(typed, output="#3 rule · a secret wish", description="Ask")
    assert answered == Command(command=typed, description="Ask")


@pytest.mark.parametrize(
    "typed",
    [
        "git commit -m 'Let observer remember the branch'",
        "grep -rn 'observer remember' README.md",
        "pytest tests/observer -k remember",
        "observer up",
        "make",
    ],
)
def test_any_other_command_stays_as_it_is(typed: str) -> None:
    event = an_event(Command(command=typed, output="3 passed"))
    assert strip_self_commands(event) is event


def test_what_is_about_to_run_is_looked_at_too() -> None:
    shown = Intent(tool="shell", of=Command(command="observer remember zebra"))
    left = strip_self_commands(an_event(shown)).body
    assert left == Intent(tool="shell", of=Command(command="observer remember …"))


def test_what_is_no_command_is_left_alone() -> None:
    event = an_event(Prompt(text="run: observer remember zebra"))
    assert strip_self_commands(event) is event


@pytest.mark.parametrize(
    "piece",
    ["\n", "observer remember x|", "observer remember '", "env -a b ", "A='b' ", "ssh x ", "|"],
)
def test_a_hostile_line_is_read_in_one_pass(piece: str) -> None:
    # A pattern that goes back at each character would take many minutes.
    line = piece * (100_000 // len(piece)) + "'\nobserver remember zebra"
    assert "zebra" not in kept(line).command
