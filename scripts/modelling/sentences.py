"""Sentences about software work, made from parts: what models are compared on."""

from __future__ import annotations

import random

ACTS = (
    "Fix", "Add", "Remove", "Refactor", "Document", "Test", "Speed up", "Deprecate", "Rename",
    "Stop retrying", "Warn about", "Cache", "Validate", "Split", "Revert",
)  # fmt: skip
THINGS = (
    "the connection pool", "camelCase identifiers in SessionStore", "a race in the upload queue",
    "the README's installation section", "TypeError in parse_headers()", "user permissions",
    "src/router/index.ts", "the retry policy of failed payments", "timezone handling",
    "memory use of the image resizer", "the French translation", "an unused import",
    "OAuth token refresh", "flaky tests of the scheduler", "SQL migrations",
)  # fmt: skip
REASONS = (
    "because customers saw duplicate orders", "", "when the disk is full", "on Windows",
    "so that the build takes minutes instead of hours", "as decided in the design review",
    "since the old API goes away next spring", "to make the error message say what to do",
    "after two days of looking for it in the wrong place", "for large files",
)  # fmt: skip


def sentences(count: int) -> list[str]:
    """Return that many different sentences, the same ones every time."""
    every = [f"{a} {t} {r}".strip() for a in ACTS for t in THINGS for r in REASONS]
    return random.Random(0).sample(every, count)  # noqa: S311 - a fixed choice
