"""Which sentences of a person decide something for later."""

from __future__ import annotations

import pytest

from observer.observations.decisions import MOST, decisions, is_decision


@pytest.mark.parametrize(
    "said",
    [
        "Let's use Decimal for prices because cents get lost",
        "Let's use Redis for sessions",
        "let\u2019s go with Postgres instead of MySQL",
        "Ok, let's stick with pnpm for all packages.",
        "Don't merge before v10",
        "please do not deploy until the audit is over",
        "don't edit the generated client by hand",
        "We decided to drop Python 3.10",
        "We agreed on two reviewers for the payment code",
        "I decided against a monorepo",
        "from now on always run the linter before you commit",
        "From now on, amounts are integer cents",
        "Never use default exports",
        "Always write the test first",
        "you should never mock the database in integration tests",
        "All endpoints must have a rate limit",
        "No handler may call the database without a timeout",
        "Every migration needs to be reversible",
        "We only support Node 22 because of the test runner",
        "We use pnpm here, not npm",
        "Prefer composition over inheritance",
        "Use httpx rather than requests",
        "Decision: the API stays on version 1 until June",
        "In cloud mode we should not show the agent picker, as we choose it ourselves",
        "I'd prefer to keep the parser in one file because it is read as a whole",
        "The list should be sorted by date by default",
        "Let's not add a cache, to keep the service stateless",
    ],
)
def test_a_decision_is_known(said: str) -> None:
    assert is_decision(said)


@pytest.mark.parametrize(
    "said",
    [
        "Use the button from the header",
        "let's run the tests",
        "Let's see why it fails",
        "Don't commit yet",
        "Generate a commit message but don't commit it",
        "Never mind",
        "The button never appears",
        "It always shows the old value",
        "should we use Redis instead of Memcached?",
        "Maybe we should use Redis because it is faster",
        "I think we could use Redis instead of Memcached",
        "What did we decide about retries?",
        "we decided",
        "Fix the cart total",
        "The test should pass",
        "Add a page for every product",
        "This must be hidden above the fold",
        "do not touch this file before I say so",
        "Use the same colour as below instead of blue",
        "Always fails with the error above",
        "commit and push",
        "now update the changelog, not the readme for now",
        "We use the header in the old page:",
    ],
)
def test_what_is_asked_for_now_is_no_decision(said: str) -> None:
    assert not is_decision(said)


def test_the_deciding_sentences_of_a_prompt_are_taken_whole() -> None:
    prompt = "Fix the cart.\n\n- Never round twice.\n- Look at cart.py\n"
    assert decisions(prompt) == ("Never round twice.",)


def test_what_stands_in_code_or_in_a_document_is_not_the_persons_word() -> None:
    assert decisions("Look:\n```\n# Never use eval in here\n```\n") == ()
    assert decisions("# Guide\n\nNever use default exports.") == ()
    assert decisions("Implement the following plan: Never use default exports.") == ()
    assert decisions("/commit Never use default exports") == ()
    assert decisions("Never use default exports. " + "x" * 4_000) == ()


def test_one_prompt_decides_a_few_things_at_most() -> None:
    prompt = "\n".join(f"Never use the module number {number}." for number in range(9))
    assert len(decisions(prompt)) == MOST


@pytest.mark.parametrize(
    "prompt",
    [
        "From the list:\n\n> I decided to go with RabbitMQ instead of Kafka\n\nis that ours?",
        "the guide says:\nAlways write the test first\nDo we follow that?",
        "Ana wrote in the review:\n\nLet's use Redis for sessions\n\nwhat do you think?",
    ],
)
def test_what_somebody_else_wrote_is_no_decision(prompt: str) -> None:
    assert decisions(prompt) == ()


def test_a_decision_beside_a_quotation_is_known() -> None:
    prompt = "> Let's use Redis for sessions\n\nWe decided against Redis"
    assert decisions(prompt) == ("We decided against Redis",)
