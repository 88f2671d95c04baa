"""A setting with a range; see "Add a setting" in CONTRIBUTING.md."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from observer.core.config import Settings


class Example(Settings, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All settings and one more; the field itself stands in `Settings` of `core/config.py`."""

    digest_hour: Annotated[
        int,
        Meta(ge=0, le=23, description="Hour of the day (local time) at which a digest is made."),
    ] = 7
