"""Recognise text in the form of what clients and models take for more than text.

Recorded text may come from anywhere, such as a web page that an agent read. What its words ask for
is not judged: no list of phrases has what the next attacker writes, and honest text about prompts
has the same words. What decides is form: letters that nobody sees, the tags and role markers of
clients and models, the markup of tool calls, and images that take something along to elsewhere.
Such a text is kept, but neither shown to a model unasked nor used for summaries. The fence around
every answer does not depend on this, nor does what is shown unasked: see `search/rank`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from functools import lru_cache

from msgspec.structs import replace

from observer.core.filters import RECORDED_KINDS
from observer.core.model import Item
from observer.core.patterns import lazy_pattern

TEXT_CHARS = 65_536
"""Length of the part of a text that is examined."""
_KNOWN_CHARS = 4_096
HIDDEN = "hidden"
_UNSEEN = lazy_pattern("[\U000e0020-\U000e007e]{8,}|[\u202d\u202e]|\x1b\\[(?:\\d{1,3};){0,4}8m")
"""Invisible tag characters, of which emoji flags have few; reversed and concealed letters."""
_INVISIBLE = lazy_pattern(
    "[\u00ad\u034f\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufe00-\ufe0f"
    "\U000e0000-\U000e007f]|\x1b\\[[0-9;:?]*[ -/]*[@-~]"
)
_MENTIONED = lazy_pattern(r"`[^`\n]{1,400}`")
FORMS: Mapping[str, re.Pattern[str]] = {
    "call": lazy_pattern(
        r"</?(?:antml:)?(?:function_calls?|function_results?|tool_calls?|tool_use|tool_results?"
        r"|tool_response|invoke)(?:\s[^>\n]{0,80})?>|</?antml:\w|\[tool_calls?\]"
        r"|\b(?:assistant|analysis|commentary) to=\w",
        re.IGNORECASE,
    ),
    "markup": lazy_pattern(
        r"<\|[a-z_]{2,30}\|>|\[/?inst\]|<</?sys>>"
        r"|</?(?:system-reminder|system[_-](?:prompt|message|instructions?)|observer"
        r"|user-prompt-submit-hook|local-command-\w{1,20})\s*>",
        re.IGNORECASE,
    ),
    "image": lazy_pattern(
        r"!\[[^\]\n]{0,80}\]\(\s*https?:/[^)\n]{0,120}[?&]\w{1,40}=[\[{<$]", re.IGNORECASE
    ),
}
"""Class of suspicion -> its form, in text without invisible characters."""
_SIGNS = ("<", "[", " to=")
"""One of these, in lower case, is in each of the forms."""


def suspicion(text: str) -> str:
    """Return the class of what a text imitates, `HIDDEN` or a key of `FORMS`; "" for none.

    Code between backticks is a mention. At most the first `TEXT_CHARS` are examined.
    """
    return _known(text) if len(text) <= _KNOWN_CHARS else suspicion_once(text)


def suspicion_once(text: str) -> str:
    """Return the suspicion of a text that is not judged again soon: it is not kept in memory."""
    text = text[:TEXT_CHARS]
    if not text.isascii() or "\x1b" in text:
        if _UNSEEN.search(text):
            return HIDDEN
        text = _INVISIBLE.sub("", unicodedata.normalize("NFKC", text))
    if "`" in text:
        text = _MENTIONED.sub("", text)
    if not any(map(text.lower().__contains__, _SIGNS)):
        return ""
    return next((name for name, form in FORMS.items() if form.search(text)), "")


def clean(text: str) -> str:
    """Return a text, "" if it is suspicious."""
    return "" if suspicion(text) else text


def with_suspicion(item: Item) -> Item:
    """Return a captured item with its `suspicion` set.

    Notes are left as they are: they are examined when recorded, and may be approved since.
    """
    if item.kind in RECORDED_KINDS:
        return item
    paths = (*item.files_read, *item.files_modified)
    texts = (item.title, item.subtitle, item.narrative, *item.facts, *paths, item.signature)
    found = suspicion("\n".join(texts))
    return item if found == item.suspicion else replace(item, suspicion=found)


@lru_cache(maxsize=2048)  # a session's state says the same with each event
def _known(text: str) -> str:
    return suspicion_once(text)
