"""Which passages of a reply are kept."""

from __future__ import annotations

import pytest

from observer.observations.findings import LEAST_CHARS, MOST, MOST_CHARS, findings


@pytest.mark.parametrize(
    "said",
    [
        "The root cause was that the session cookie had no SameSite attribute.",
        "The totals differ because prices are rounded before the discount is applied.",
        "With the index the query takes 12 ms instead of 3.4 s, about 280x faster.",
        "I recommend SQLite over Postgres here, since there is only one writer.",
        "Problem: the worker was being started twice, once by cron and once by systemd.",
        "The cache is only invalidated when the price changes, so a renamed product stays stale.",
        "I verified that the migration is reversible: it fails only if two rows share a slug.",
        "Note that `parse()` returns None for empty input, which callers do not check.",
        "Caveat - Redis drops keys without a TTL when memory is full, so sessions get lost.",
    ],
)
def test_what_somebody_would_ask_for_again_is_kept(said: str) -> None:
    assert [one.text for one in findings(f"All done.\n\n{said}\n")] == [said]


@pytest.mark.parametrize(
    "said",
    [
        "Let me look at the cart because the test fails there.",
        "I'll run the tests now and then check why the build is slow.",
        "Added a `total()` method to the cart and updated the template.",
        "**`cart.py`** - Renamed `sum` to `total` and removed the old helper.",
        "All 1,204 tests pass and lint is clean, so the branch is ready.",
        "Committed as `a1b2c3d`, because the hook had passed before.",
        "Would you like me to also fix the discount, because it is wrong too?",
        "Here's a summary of the changes, since there are many of them:",
        "The two files I changed are now committed; the others were unstaged before.",
        "| before | after because |\n|---|---|\n| 1 | 2 |",
        "```python\n# this is slow because of the loop and should be avoided\n```",
        "`x = [f(y) for y in z if y > 0 and g(y) != {}]; return (x, {1: 2}) // because`",
        "Once that is done the import should take less than 2 s.",
        "Because.",
        "Thanks!",
        "",
    ],
)
def test_what_nobody_would_is_left_out(said: str) -> None:
    assert findings(said) == ()


def test_a_reply_gives_a_few_passages_in_its_order() -> None:
    causes = [f"Step {name} fails because of {name}s." * 2 for name in ("alpha", "beta", "gamma")]
    reply = "\n\n".join([*causes, "The delta is slower than the epsilon, and should be dropped."])
    found = findings(reply)
    assert len(found) == MOST
    assert [one.place for one in found] == sorted(one.place for one in found)


def test_a_passage_knows_the_heading_above_it() -> None:
    reply = "## Root cause\n\nThe lock is taken twice, so the second worker waits forever.\n"
    assert findings(reply)[0].heading == "Root cause"


def test_points_below_a_point_belong_to_it() -> None:
    fed = "- The pool is too small because of leaks\n  - one in `open`\n  - one in `copy`\n"
    assert findings(fed)[0].text.endswith("leaks; one in `open`; one in `copy`")


def test_a_long_paragraph_gives_its_best_part() -> None:
    filler = "This sentence tells of the weather outside. " * 9
    reply = f"{filler}The upload fails because the proxy cuts bodies at 1 MB. {filler}"
    (found,) = findings(reply)
    assert "because the proxy" in found.text
    assert LEAST_CHARS <= len(found.text) <= MOST_CHARS


def test_nothing_is_said_twice() -> None:
    said = "The totals differ because prices are rounded before the discount is applied."
    assert findings(f"{said}\n\n{said}") == findings(said)
    assert findings(said, known=[said]) == ()
    assert findings(said, prompt=f"Explain: {said}") == ()
    assert len(findings(said, known=["The lock is taken twice, so it hangs."])) == 1


def test_marks_of_layout_and_addresses_are_left_out() -> None:
    reply = (
        "> The **cache** is stale because [the hook](https://x.example/y) never runs on rename.\n"
    )
    assert findings(reply)[0].text == "The cache is stale because the hook never runs on rename."
