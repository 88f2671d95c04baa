"""What must be said of an item, in words."""

from __future__ import annotations

from contextvars import copy_context

import pytest
from msgspec.structs import replace

from observer.core.model import Item, Validity
from observer.core.moment import show_local
from observer.tools.labels import labels
from observer.tools.render import heading

DAY_MS = 86_400_000
COMMIT = "3f2a1b9c0d" + "e" * 30


def _item(*standing: Validity) -> Item:
    return Item(
        id=1, uuid="", kind="observation", type="commit", title="Sign in", validity=standing
    )


@pytest.mark.parametrize(
    ("standing", "label"),
    [
        (
            Validity(reason="changed", subject="login", commit=COMMIT, since_ms=2 * DAY_MS),
            "stale: login changed in 3f2a1b9c0d, 2 days after",
        ),
        (
            Validity(reason="changed", subject="login", share=0.25, commit=COMMIT, since_ms=1),
            "stale in part (25%)",
        ),
        (Validity(reason="changed", subject="login"), "stale: login changed"),
        (
            Validity(reason="deleted", subject="a.py", commit=COMMIT, since_ms=DAY_MS // 24),
            "stale: a.py removed in 3f2a1b9c0d, 1 hour after",
        ),
        (
            Validity(reason="deleted", subject="a.py, b.py and 2 more"),
            "stale: a.py, b.py and 2 more removed",
        ),
        (Validity(reason="renamed", subject="a.py", path="b.py"), "a.py is now b.py"),
        (
            Validity(reason="reverted", commit=COMMIT, since_ms=120_000),
            "reverted in 3f2a1b9c0d, 2 minutes after",
        ),
        (Validity(reason="elsewhere", branch="topic"), "on branch topic, not here"),
        (Validity(reason="elsewhere"), "its commit is not in this history"),
        (Validity(reason="superseded", target=12), "superseded by #12"),
        (Validity(reason="supersedes", target=8), "replaces #8"),
        (
            Validity(
                reason="supersedes", subject="8 Use cookies", target=8, since_ms=1_790_812_800_000
            ),
            "replaces #8 of 2026-10-01: Use cookies",
        ),
        (Validity(reason="amended", subject="9", target=9), "amended by #9"),
        (
            Validity(reason="amends", subject="8 No logs", target=8, since_ms=1_790_812_800_000),
            "amends #8 of 2026-10-01: No logs",
        ),
    ],
    ids=lambda case: case.reason if isinstance(case, Validity) else "",
)
def test_each_reason_has_its_words(standing: Validity, label: str) -> None:
    assert labels(_item(standing)) == [label]


def test_a_note_says_which_part_of_it_is_stale() -> None:
    mark = Validity(reason="changed", subject="login", share=0.25, commit=COMMIT, since_ms=1)
    said = "stale in part (25%): login changed in 3f2a1b9c0d, soon after"
    assert labels(replace(_item(mark), kind="note")) == [said]
    assert labels(_item(mark), whole=True) == [said]


def test_lists_say_little_of_what_changed_little() -> None:
    marks = (
        Validity(reason="changed", subject=", ".join(["compute_total"] * 9)),
        Validity(reason="changed", subject="login", share=0.05),
        Validity(reason="renamed", subject="a.py", path="b.py"),
        Validity(reason="renamed", subject="c.py", path="d.py"),
    )
    cut, moved = labels(_item(*marks))
    assert cut.startswith("stale: compute_total, ")
    assert cut.endswith("… changed")
    assert len(cut) < 120
    assert moved == "2 files moved"
    whole = labels(_item(*marks), whole=True)
    assert len(whole) == 4
    assert whole[0].count("compute_total") == 9


@pytest.mark.usefixtures("in_kolkata")
def test_people_are_shown_the_days_of_their_own_calendar() -> None:
    late_ms = 1_790_812_800_000 + DAY_MS - DAY_MS // 24
    item = replace(_item(), expires_ms=late_ms)

    def on_a_terminal() -> list[str]:
        show_local()
        return labels(item)

    assert labels(item) == ["holds until 2026-10-01"]
    assert copy_context().run(on_a_terminal) == ["holds until 2026-10-02"]


def test_the_heading_of_an_item_says_it() -> None:
    shown = heading(_item(Validity(reason="superseded", target=12)), lambda _: "")
    assert shown.endswith("superseded by #12")
