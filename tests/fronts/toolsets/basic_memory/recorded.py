"""What differs between two runs of recorded calls is replaced, so that answers can be compared."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

VOLATILE = re.compile(r"(score|checksum|undo|\w*_id|external_id|generated_at|timeframe)\Z")
"""Fields of JSON that are not compared: numbers and ids of one run."""
PLACEHOLDERS = (
    (re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)?"), "<time>"),
    (re.compile(r"(?<=\| )\d{4}-\d\d-\d\d(?= \||\n|\Z)"), "<day>"),
    (re.compile(r"(?<=\d of )\d{4}-\d\d-\d\d(?=: | stands)"), "<day>"),
    (re.compile(r"(?<=- score: )\S+"), "<score>"),
    (re.compile(r"(?<=checksum: )\S+"), "<checksum>"),
    (re.compile(r"(?<=folder undo )\d+"), "<number>"),
    (re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"), "<uuid>"),
)


def comparable(answer: Any, home: Path | None = None) -> Any:
    """Return an answer without what differs between two runs; JSON as a value."""
    if isinstance(answer, str):
        text = answer.replace(str(home), "<home>") if home else answer
        for pattern, placeholder in PLACEHOLDERS:
            text = pattern.sub(placeholder, text)
        try:
            value = json.loads(text)
        except ValueError:
            return text.strip()
        return text.strip() if isinstance(value, str) else comparable(value)
    if isinstance(answer, list):
        return [comparable(each) if not isinstance(each, str) else _plain(each) for each in answer]
    if isinstance(answer, dict):
        return {
            name: comparable(each) if not isinstance(each, str) else _plain(each)
            for name, each in answer.items()
            if not VOLATILE.match(name)
        }
    return answer


def _plain(text: str) -> str:
    for pattern, placeholder in PLACEHOLDERS:
        text = pattern.sub(placeholder, text)
    return text


def unordered(answer: Any) -> Any:
    """Return a comparable answer so that the order of its parts does not matter."""
    if isinstance(answer, str):
        return sorted(answer.splitlines())
    if isinstance(answer, list):
        return sorted((unordered(each) for each in answer), key=json.dumps)
    if isinstance(answer, dict):
        return {
            name: each if isinstance(each, str) else unordered(each)
            for name, each in sorted(answer.items())
        }
    return answer
