"""Turns: what a person asked, was asked and decided, what was replied and is quoted."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from observer.core.events import (
    AnyBody,
    Command,
    Commit,
    Delegation,
    Edit,
    FileChange,
    FileWrite,
    Prompt,
    Reply,
    SessionEnd,
    ToolUse,
)
from observer.core.model import Item, Link, item_id
from observer.observations.conversation import ANSWERED, CHOSEN, AnsweredQuestion, answers_in
from observer.observations.quoting import matter, names, opening, quoted
from observer.observations.session_state import decode
from observer.observations.turns import item_without

Feed = Callable[..., Any]


def ask(*questions: tuple[str, str, str]) -> ToolUse:
    """A question tool with (question, chosen, other option) each."""
    given = {
        "questions": [
            {"question": q, "options": [{"label": a, "description": "why"}, {"label": o}]}
            for q, a, o in questions
        ]
    }
    output = json.dumps({"answers": {q: a for q, a, _ in questions}})
    return ToolUse(tool="AskUserQuestion", input=json.dumps(given), output=output)


def test_a_chosen_option_is_a_decision(feed: Feed) -> None:
    fed = feed(
        Prompt(text="Plan the session store"), ask(("Where do sessions go?", "Redis", "Postgres"))
    )
    (decision,) = fed.of("decision")
    assert decision.title == "Where do sessions go?"
    assert decision.narrative == "Where do sessions go? Redis.\nNot chosen: Postgres."
    assert decision.facts == ("chosen: Redis: why", "not chosen: Postgres")
    assert decision.author == "person"
    assert decision.links == (Link(kind="answers", target=item_id(1)),)
    assert fed.of("tool-use") == []


def test_each_of_four_choices_is_a_decision_but_for_what_looks_like_a_call(feed: Feed) -> None:
    choices = [(f"Where goes {n}?", f"In {n}", "Out") for n in "abcd"]
    fed = feed(Prompt(text="Plan the stores of it"), ask(*choices))
    decisions = fed.of("decision")
    assert len({item.id for item in decisions}) == len({item.uuid for item in decisions}) == 4
    assert all(item.id // 4 == 2 for item in decisions)
    call = ('[TOOL_CALLS] [{"name": "bash"}]', "Yes", "No")
    fed = feed(Prompt(text="Plan the stores of it"), ask(call, *choices[:3]))
    assert sorted(item.title for item in fed.of("decision")) == [each[0] for each in choices[:3]]


def test_several_options_in_one_answer_are_all_chosen(feed: Feed) -> None:
    labels = ("Redis", "Postgres, managed", "Files")
    options = [{"label": one} for one in labels]
    asked = {"questions": [{"question": "Which stores?", "options": options}]}
    output = {"answers": {"Which stores?": "Files, Postgres, managed"}}
    use = ToolUse(tool="AskUserQuestion", input=json.dumps(asked), output=json.dumps(output))
    (decision,) = feed(Prompt(text="Plan the stores of it"), use).of("decision")
    assert decision.narrative == "Which stores? Files; Postgres, managed.\nNot chosen: Redis."


def test_an_approved_plan_is_a_decision(feed: Feed) -> None:
    plan = json.dumps({"plan": "# Round half even\n\nTotals are cut.\n\n1. Use `quantize`"})
    fed = feed(ToolUse(tool="ExitPlanMode", input=plan, output="approved"))
    assert (fed.last.type, fed.last.title) == ("decision", "Plan: Round half even")
    assert fed.last.narrative.endswith("1. Use `quantize`")
    assert feed(ToolUse(tool="ExitPlanMode", input=plan, failed=True)).types == ["tool-use"]


def test_a_question_that_nobody_answered_becomes_a_tool(feed: Feed) -> None:
    fed = feed(replace(ask(("Where?", "Redis", "Postgres")), output="{}"))
    assert fed.of("decision") == []


REFUSED = "The user doesn't want to proceed with this tool use. The tool use was rejected."


@pytest.mark.parametrize(
    "body",
    [
        Command(command="sed -i s/a/b/ f", failed=True, output="{}"),
        ToolUse(tool="ExitPlanMode", failed=True, output="{}"),
        FileWrite(path="f", error="{}"),
    ],
)
def test_what_a_person_says_on_refusing_is_an_answer(feed: Feed, body: AnyBody) -> None:
    error = f"{REFUSED} To tell you how to proceed, the user said:\nnever use sed here, use Edit"
    name = "error" if isinstance(body, FileWrite) else "output"
    fed = feed(PROMPTED, replace(body, **{name: error}))
    (said,) = fed.of("decision")
    (turn,) = turns(fed)
    assert (said.kind, said.subtitle, said.author) == ("observation", ANSWERED, "person")
    assert said.narrative.endswith(": never use sed here, use Edit")
    assert any(said.narrative in fact for fact in turn.facts)


def test_what_a_client_says_of_a_refused_question_is_nobodys_answer(feed: Feed) -> None:
    said = f"{REFUSED} the user said:\nThe user wants to clarify these questions."
    asked = ToolUse(tool="AskUserQuestion", input="{}", failed=True, output=said)
    assert feed(PROMPTED, asked).of("decision") == []


def test_a_refused_call_never_ran(feed: Feed) -> None:
    assert feed(Command(command="make", failed=True, output=REFUSED)).types == []


@pytest.mark.parametrize(
    ("said", "subtitle", "is_fact"),
    [
        pytest.param("Redis", CHOSEN, True, id="an option"),
        pytest.param("next one please", CHOSEN, True, id="too short to say what"),
        pytest.param("Redis, but with a prefix", ANSWERED, True, id="own words"),
        pytest.param("204 811", CHOSEN, False, id="a passcode"),
    ],
)
def test_an_answer_says_whose_words_it_is(
    feed: Feed, said: str, subtitle: str, is_fact: bool
) -> None:
    asked = '{"questions": [{"question": "Which?", "options": ["Redis", "Postgres"]}]}'
    output = f'{{"answers": {{"Which?": "{said}"}}}}'
    fed = feed(PROMPTED, ToolUse(tool="AskUserQuestion", input=asked, output=output))
    (made,) = fed.of("decision")
    assert (made.subtitle, made.kind == "record") == (subtitle, subtitle == CHOSEN)
    (turn,) = turns(fed)
    assert bool(turn.facts) is is_fact


def test_a_question_that_offers_nothing_decides_nothing(feed: Feed) -> None:
    asked = '{"question": "Which file is it in?"}'
    said = ToolUse(tool="ask_user", input=asked, output="User responded: in the cart, at the end")
    fed = feed(PROMPTED, said)
    (made,) = fed.of("decision")
    assert (made.kind, decode(fed.session.state).decided) == ("record", ())


OPTIONS = [
    {"label": "Redis", "description": "Fast, one more service"},
    {"label": "Postgres", "description": "There already"},
]
ASKED = {
    "questions": [{"question": "Where do sessions go?", "header": "Store", "options": OPTIONS}]
}


def answers(given: Any, output: Any, tool: str = "AskUserQuestion") -> tuple[AnsweredQuestion, ...]:
    text = output if isinstance(output, str) else json.dumps(output)
    return answers_in(ToolUse(tool=tool, input=json.dumps(given), output=text))


@pytest.mark.parametrize(
    ("given", "output", "tool"),
    [
        (ASKED, {**ASKED, "answers": {"Where do sessions go?": "Postgres"}}, "AskUserQuestion"),
        (ASKED, {"answers": {"Store": ["Postgres"]}}, "AskUserQuestion"),
        (ASKED, 'Answered: "Where do sessions go?"="Postgres".', "AskUserQuestion"),
        (
            {"questions": [{"id": "s", "prompt": "Where do sessions go?", "options": OPTIONS}]},
            {"answers": [{"questionId": "s", "selectedOptions": [{"label": "Postgres"}]}]},
            "AskQuestion",
        ),
        (
            {"questions": [{"id": "s", "question": "Where do sessions go?", "options": OPTIONS}]},
            {"answers": {"s": {"answers": ["Postgres"]}}},
            "request_user_input",
        ),
        (
            {"question": "Where do sessions go?", "choices": ["Redis", 3, "Postgres"]},
            "User responded: Postgres",
            "ask_user",
        ),
    ],
)
def test_an_answer_is_read_in_every_clients_spelling(given: Any, output: Any, tool: str) -> None:
    (fed,) = answers(given, output, tool)
    assert (fed.question, fed.chosen) == ("Where do sessions go?", ("Postgres",))
    assert [label for label, _ in fed.options] == ["Redis", "Postgres"]


def test_what_was_noted_beside_the_choice_is_kept() -> None:
    question = "Where do sessions go?"
    output = {
        "answers": {question: "Postgres"},
        "annotations": {question: {"notes": "but in a table of their own"}},
    }
    assert answers(ASKED, output)[0].chosen == ("Postgres", "but in a table of their own")


@pytest.mark.parametrize(
    "use",
    [
        ToolUse(tool="Skill", input=json.dumps(ASKED), output="Postgres"),
        ToolUse(tool="AskUserQuestion", input=json.dumps(ASKED), output="error", failed=True),
        ToolUse(tool="AskUserQuestion", input="not JSON", output="Postgres"),
        ToolUse(tool="AskUserQuestion", input='{"questions": [3, {"header": "x"}]}', output="{}"),
        ToolUse(tool="AskUserQuestion", input=json.dumps(ASKED), output='{"answers": 3}'),
        ToolUse(tool="AskUserQuestion", input=json.dumps(ASKED), output='{"answers": {"x": null}}'),
    ],
)
def test_nothing_is_read_where_nothing_was_answered(use: ToolUse) -> None:
    assert answers_in(use) == ()


def test_whole_paragraphs_are_kept_up_to_the_one_that_reaches_the_length() -> None:
    assert quoted("One two.\n\nThree four.\n\nFive.", 10) == "One two.\n\nThree four."
    assert quoted("One two.\n\nThree four.\n\nFive.", 5) == "One two."


def test_the_matter_of_a_list_has_all_its_points() -> None:
    listed = "1. Made it bigger\n\n2. Used `mx-6` there\n3. Done"
    assert matter(f"All is well.\n\n{listed}") == " ".join(listed.split())
    assert matter(f"All is well. It is `a`.\n{listed}").startswith("It is `a`. 1. Made")


def test_no_quotation_ends_after_a_colon() -> None:
    assert quoted("It is:\n\n- cut\n- red\n\nMore.", 6) == "It is:\n\n- cut\n- red"
    assert quoted("It is:", 3) == "It is:"


def test_of_code_and_tables_the_first_lines_stay() -> None:
    code = "\n".join(("```py", *(f"a{n} = {n}" for n in range(9)), "", "b = 1", "```"))
    assert quoted(f"See:\n\n{code}", 300) == "See:\n\n```py\na0 = 0\na1 = 1\na2 = 2\n…\n```"
    table = "\n".join(("| a | b |", "|---|---|", *(f"| {n} | {n} |" for n in range(9))))
    assert quoted(table, 300) == "| a | b |\n|---|---|\n| 0 | 0 |\n| 1 | 1 |\n…"


def test_a_code_block_that_does_not_end_is_kept() -> None:
    assert quoted("See:\n\n```py\nx = 1", 300).rstrip() == "See:\n\n```py\nx = 1"


def test_a_long_paragraph_is_cut_between_words() -> None:
    assert quoted("word " * 100, 20) == "word word word word word word word…"
    assert quoted("x" * 100, 20) == f"{'x' * 39}…"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("# Done\n\n---\n\nIt rounds up now.\n\nMore.", "It rounds up now."),
        ("```\nx\n```\n\n| a |\n\n━━━━\n\nIt is.", "It is."),
        ("# Only a heading", ""),
        ("All clean. The changes:\n\n- `cart.py` rounds up", "- `cart.py` rounds up"),
        ("All clean. The changes:\n- `cart.py` rounds up", "- `cart.py` rounds up"),
        ("The changes in `cart.py`:\n\n- up", "The changes in `cart.py`:\n- up"),
        ("**Totals:**\n- up", "**Totals:**\n- up"),
        ("All is done.\n\n**Totals** round up.", "All is done."),
        ("All is done.\n\n```\nx\n```", "All is done."),
        ("`total` is done.\n\n- up", "`total` is done."),
        ("", ""),
    ],
)
def test_a_text_opens_with_its_first_paragraph_of_words(text: str, said: str) -> None:
    assert opening(text) == said


@given(st.text(st.sampled_from("a :#|`~\n-.…"), max_size=120), st.integers(1, 60))
def test_what_is_quoted_stands_in_the_text(text: str, chars: int) -> None:
    lines = {line.rstrip() for line in text.split("\n")}
    *whole, last = quoted(text, chars).split("\n")
    assert all(line in lines or line == "…" for line in whole)
    assert len(last) <= 2 * chars


@pytest.mark.parametrize(
    ("text", "named"),
    [("All 12/12 tests pass in 0.4", False), ("see a/b", True), ("see v1.2", True)],
)
def test_a_fraction_of_numbers_names_nothing(text: str, named: bool) -> None:
    assert names(text) is named


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        pytest.param("All is well. `total` rounds. So.", "`total` rounds. So.", id="named"),
        pytest.param("## In `a`\n\n| `a` |\n\nDone.", "", id="heading and table"),
        pytest.param("1. `a` rounds", "1. `a` rounds", id="number of a list"),
        pytest.param(f"So {'it is ' * 30}. `a`", f"So {'it is ' * 30}. `a`", id="long"),
        pytest.param("In `a.py` it is so:\n\n1. **Up** in `b`", "1. **Up** in `b`", id="a lead"),
    ],
)
def test_the_matter_of_a_reply_begins_where_it_names_something(text: str, shown: str) -> None:
    assert matter(text) == shown


PROMPTED = Prompt(text="Round the total up")
WRITE = FileWrite(path="cart.py", edits=(Edit(old="def a():\n    1\n", new="def a():\n    2\n"),))
COMMIT = Commit(hash="abc", subject="Round totals", files=(FileChange(path="cart.py"),))
GREEN = Command(command="pytest -q", output="3 passed in 0.10s", exit_code=0)


LOG = Prompt(text="The cart is not shown\n" + "[10:21:03] GET /cart\n" * 3)
NOTICE = Prompt(text="<task-notification>\nTests ended\n</task-notification>")


def turns(fed: Any) -> list[Item]:
    turns: list[Item] = fed.of("turn")
    return turns


def test_a_turn_is_what_was_asked_and_said_last(feed: Feed) -> None:
    (turn,) = turns(feed(PROMPTED, Reply(text="Looking."), Reply(text="It rounds up now.")))
    assert (turn.id, turn.title, turn.narrative) == (
        item_id(1),
        "Round the total up",
        "It rounds up now.",
    )
    assert turn.author == "person"


@pytest.mark.parametrize(
    ("after", "reply"),
    [
        pytest.param((Reply(text="Noted."),), "It rounds up now.", id="noted"),
        pytest.param((Reply(text="It rounds half even now."),), "It rounds half even now.", id="x"),
        pytest.param((WRITE, Reply(text="Mended.")), "Mended.", id="went on"),
        pytest.param((COMMIT, Reply(text="Committed.")), "Committed.", id="committed"),
    ],
)
def test_an_answer_to_a_notice_is_not_the_reply(
    feed: Feed, after: tuple[AnyBody, ...], reply: str
) -> None:
    (turn,) = turns(feed(PROMPTED, Reply(text="It rounds up now."), NOTICE, *after))
    assert turn.narrative == reply


def test_a_turn_counts_what_tools_did(feed: Feed) -> None:
    (turn,) = turns(feed(PROMPTED, WRITE, GREEN, COMMIT))
    assert turn.subtitle == "changed 1 file, 1 commit, 1 check"
    assert turn.facts == ("Committed: Round totals", "cart.py (a)", "pytest -q: 3 passed in 100 ms")
    assert turn.files_modified == ("cart.py",)


def test_of_a_paste_the_ends_of_its_runs_are_kept(feed: Feed) -> None:
    log = "\n".join(f"[10:21:{second}] GET /cart" for second in range(10, 40))
    (turn,) = turns(feed(Prompt(text=f"The cart is not shown\n{log}\nWhy is that so?")))
    kept = [line for line in turn.narrative.split("\n") if line.startswith("[")]
    assert [int(line[7:9]) for line in kept] == [*range(10, 16), *range(34, 40)]
    assert turn.narrative.endswith("…\n" + "\n".join(kept[6:]) + "\nWhy is that so?")


def test_what_is_known_not_to_work_is_told_once(feed: Feed) -> None:
    no = Command(
        command="rtk pnpm test", output="error: unrecognized subcommand 'pnpm'", failed=True
    )
    yes = Command(command="pnpm test", output="Tests  3 passed (3)", exit_code=0)
    first, second = turns(feed(PROMPTED, no, yes, Prompt(text="Round taxes down too"), no, yes))
    assert [len([one for one in turn.facts if "rtk" in one]) for turn in (first, second)] == [1, 0]


def test_that_git_did_nothing_is_no_fact(feed: Feed) -> None:
    added = Command(command="git add cart.py", output="ok (nothing to add)", exit_code=0)
    (turn,) = turns(feed(PROMPTED, WRITE, added))
    assert turn.facts == ("cart.py (a)",)


def test_a_commit_is_no_check(feed: Feed) -> None:
    (turn,) = turns(feed(PROMPTED, Command(command="git commit -qam 'Round totals'", exit_code=0)))
    assert (turn.subtitle, turn.facts) == ("", ())


SAID = replace(COMMIT, subject="Keep carts of all people")
POINTS = Prompt(text="3 but apply the changes to this")
PLANNED = ToolUse(tool="ExitPlanMode", input='{"plan": "# Open carts of all people\\n\\nx"}')
OPENED = Command(command='gh pr create --title "Sum carts of all people"', exit_code=0)


def test_a_turn_has_what_a_report_says_below_its_first_heading(feed: Feed) -> None:
    said = "I know it all. Here it is.\n\n# Found\n\nIt is in cart.py.\n\nx"
    report = Delegation(agent="Explore", task="Find it", result=said)
    (turn,) = turns(feed(PROMPTED, report, report, SessionEnd()))
    assert turn.facts == ("Explore: It is in cart.py.",)


@pytest.mark.parametrize(
    ("bodies", "title"),
    [
        pytest.param((PROMPTED, Prompt(text="go on")), "Round the total up", id="goes on"),
        pytest.param((PROMPTED, Prompt(text="commit"), COMMIT), "Round totals", id="committed"),
        pytest.param((Prompt(text="q"), Reply(text="# Hi\n\nNo cart.")), "No cart.", id="answered"),
        pytest.param((Prompt(text="/review"),), "/review", id="nothing better"),
        pytest.param((LOG, Reply(text="Why? `total` is None.")), "`total` is None.", id="a paste"),
        pytest.param((LOG, Reply(text="No idea.")), "The cart is not shown", id="of no answer"),
        pytest.param((POINTS, SAID), SAID.subject, id="points, committed"),
        pytest.param((POINTS, PLANNED), "Open carts of all people", id="points, planned"),
        pytest.param((POINTS, OPENED), "Sum carts of all people", id="points, a pull request"),
        pytest.param((POINTS, COMMIT), POINTS.text, id="points, a commit that says no more"),
        pytest.param((POINTS,), POINTS.text, id="points"),
        pytest.param((PROMPTED, COMMIT), "Round the total up", id="has words of the commit"),
    ],
)
def test_a_short_prompt_is_titled_by_what_it_led_to(
    feed: Feed, bodies: tuple[AnyBody, ...], title: str
) -> None:
    assert turns(feed(*bodies))[-1].title == title


def test_what_was_broken_off_says_so(feed: Feed) -> None:
    (turn,) = turns(feed(PROMPTED, WRITE, Prompt(text="[Request interrupted by user]")))
    assert turn.subtitle == "interrupted, changed 1 file"


GO_ON = Prompt(text="Another agent has worked on your files, please continue now")
NAMED = Prompt(text="Round the total in cart.py")
LIST = Prompt(text="commit this and update changelog.md")
LISTED = FileWrite(path="CHANGELOG.md", edits=(Edit(old="", new="- rounds"),))
PUSH = Command(command="git status && git push | tail -1", output="main -> main", exit_code=0)


@pytest.mark.parametrize(
    ("bodies", "kind"),
    [
        pytest.param((PROMPTED,), "observation", id="goes on"),
        pytest.param((PROMPTED, SessionEnd()), "record", id="broken off"),
        pytest.param((PROMPTED, Prompt(text="no, stop it")), "record", id="broken off by a prompt"),
        pytest.param((GO_ON, WRITE, SessionEnd()), "record", id="changed what nobody names"),
        pytest.param((NAMED, WRITE, SessionEnd()), "observation", id="changed"),
        pytest.param(
            (LIST, LISTED, Reply(text="`total` stands in it. " * 30)), "record", id="a change log"
        ),
        pytest.param((PROMPTED, Reply(text="Sure, all is well.")), "record", id="a nod"),
        pytest.param((PROMPTED, Reply(text="`total` rounds.")), "observation", id="an answer"),
        pytest.param((PROMPTED, COMMIT, Reply(text="Done.")), "record", id="committed"),
        pytest.param((PROMPTED, PUSH, Reply(text="Pushed.")), "record", id="pushed"),
        pytest.param((PROMPTED, PUSH, GREEN, Reply(text="Pushed.")), "record", id="checked"),
        pytest.param((PROMPTED, COMMIT, Reply(text="Done. " * 70)), "observation", id="explained"),
    ],
)
def test_a_turn_that_adds_nothing_is_a_record(
    feed: Feed, bodies: tuple[AnyBody, ...], kind: str
) -> None:
    assert turns(feed(*bodies))[0].kind == kind


def test_the_next_prompt_ends_a_turn(feed: Feed) -> None:
    first, second = turns(feed(PROMPTED, WRITE, Prompt(text="Now round taxes down too")))
    assert first.files_modified == ("cart.py",)
    assert second.files_modified == ()


def test_what_a_sub_agent_says_is_not_the_reply(feed: Feed, place: Callable[..., Any]) -> None:
    said = place(Reply(text="I found it."), 2, agent="Explore")
    (turn,) = turns(feed(PROMPTED, said, replace(WRITE, path="a.py"), Reply(text="Done so.")))
    assert turn.narrative == "Done so."


def test_a_script_that_writes_a_file_is_a_record_of_its_own(feed: Feed) -> None:
    script = "python3 - <<'E'\nopen('a.txt', 'w').write('x')\nE"
    fed = feed(PROMPTED, Command(command=script, exit_code=0))
    titles = [item.title for item in fed.items.values() if item.type == "command"]
    assert titles == ["Wrote a.txt (python3 script)"]


def test_a_turn_that_did_nothing_of_what_is_taken_back_stays_as_it_is(feed: Feed) -> None:
    (turn,) = turns(feed(PROMPTED, WRITE))
    assert item_without(turn, files=["other.py"], commits=["Other"]) is turn
