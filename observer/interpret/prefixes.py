"""What runners of several tasks put before each line: `shop:test: `, `[test] `, `web-1  | `.

Part of interpretation (step 6). A tool's words begin behind it. Levels of logs are no such names.
"""

from __future__ import annotations

import re
from collections import Counter

_PREFIX = re.compile(
    r"^(?:[\w@./-]{1,60}[:#][A-Za-z][\w:.@/#-]{0,60}: ?"
    r"|[\w@./-]{1,60} [a-z][\w:.-]{0,40}: "
    r"|\[(?!(?:INFO|ERROR|WARN(?:ING)?|DEBUG|TRACE|FATAL|error|warn|info|debug|notice|\d+%)\])"
    r"[\w@./:#-]{1,60}\] "
    r"|[\w.-]{1,60} +\| )",
    re.MULTILINE,
)
_FRAMED = re.compile(r"^ *Tasks: +\d+ successful,", re.MULTILINE)
"""What turbo sums up with, behind the tasks' lines and without their names."""
_LEAST_LINES = 3
_SHARE = 0.6


def without(text: str) -> str:
    """Return a text without the names of tasks before its lines, if most lines have one."""
    found = Counter(map(str.rstrip, _PREFIX.findall(text)))
    names = {name for name, count in found.items() if count >= _LEAST_LINES}
    named = list(_PREFIX.finditer(text)) if _FRAMED.search(text) else []
    shown = text[named[0].start() : named[-1].end()] if named else text
    lines = sum(1 for line in shown.split("\n") if line.strip())
    if not names or sum(found[name] for name in names) < _SHARE * lines:
        return text
    return _PREFIX.sub(lambda one: "" if one.group().rstrip() in names else one.group(), text)
