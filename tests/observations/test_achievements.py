from __future__ import annotations

import pytest

from observer.observations import replies

REPLY = """\
All done. Here's a summary:

1. **`cart.py`** - Added `round_half_even()` for totals.
2. The total now rounds half even.
- Added `Decimal` import
- Modified: `cart.py`
- The cart is a list

Next: cover negative prices. Shall I?
"""


def test_the_changes_that_a_reply_reports_are_read() -> None:
    assert replies.achievements_in(REPLY) == (
        "`cart.py` - Added `round_half_even()` for totals.",
        "The total now rounds half even.",
    )


@pytest.mark.parametrize(
    "sentence",
    [
        "All tests pass now.",
        "All 1216 tests pass, lint clean.",
        "Committed as `b567018`.",
        "Commit successful.",
        "Pushed to remote.",
        "Done.",
        "\u2705 All checks pass",
        "Tests are green.",
    ],
)
def test_that_all_is_well_is_a_status(sentence: str) -> None:
    assert replies.is_status(sentence)
    assert not replies.is_change(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "`full-access` - unrestricted access",
        "The retry loop never slept.",
        "It broke because of floats.",
        "Rounding is hard.",
    ],
)
def test_a_finding_is_neither_status_nor_change(sentence: str) -> None:
    assert not replies.is_status(sentence)
    assert not replies.is_change(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "Fix 1 - `cart.py`: Swapped the order of rounding and tax.",
        "The fix is simple: changed `round` to `quantize`.",
        "The change is done - the default mode is now `half-even`.",
        "Now when a cart is empty, its total is zero.",
        "I've fixed the retry loop.",
        "- Removed the cache",
        "Now the cart no longer cuts totals.",
    ],
)
def test_a_report_of_work_is_a_change(sentence: str) -> None:
    assert replies.is_change(sentence)


@pytest.mark.parametrize(
    ("sentence", "bare"),
    [
        ("The fix is simple: changed `a` to `b`.", "Changed `a` to `b`."),
        ("`cart.py` - Added a test.", "`cart.py` - Added a test."),
        ("Added a test.", "Added a test."),
    ],
)
def test_what_only_introduces_a_report_goes(sentence: str, bare: str) -> None:
    assert replies.unlabelled(sentence) == bare
