"""Detect text that tries to instruct the model that will read it (prompt injection).

Recorded text may come from anywhere, such as a web page that an agent read. A suspicious text is
kept, but neither shown to a model unasked nor used for summaries. Misses are preferred to false
alarms: text that only quotes or mentions an instruction passes. The fence around every answer does
not depend on this.
"""

from __future__ import annotations

import base64
import binascii
import html
import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice
from urllib.parse import unquote

from msgspec.structs import replace

from observer.core.filters import RECORDED_KINDS
from observer.core.model import Item
from observer.core.patterns import lazy_pattern
from observer.observations.injection_patterns import CLASSES, InjectionPattern

TEXT_CHARS = 65_536
"""Length of the part of a text that is examined."""
MOST = 100
"""Most matches of one pattern that are examined."""
AROUND = 400
"""Characters before and after a match that may show that it is only mentioned."""
RUNS, RUN_CHARS = 8, 4_096
"""Most encoded runs that are decoded, and the length decoded of each."""
SHORTEST_RUN = 24

_MENTION_BEFORE = lazy_pattern(
    r"inject|jailbreak|attack|malicious|phish|adversar|red.?team|suspicio|payload|detect|filter|"
    r"sanitiz|sanitis|strip|escap|exploit|threat|vulnerab|such as|for example|e\.g\.|phrases? like|"
    r"texts? like|reject|refus|blocks? |guard|regex|pattern"
)
"""Words before the match in a sentence about injections."""
_MENTION_AFTER = lazy_pattern(
    r"\b(?:is|are|was|were|be|been|gets?|stays?)\b[^.\n]{0,30}?\b(?:flagged|rejected|blocked|detected"
    r"|refused|stripped|filtered|quarantined|escaped|caught|label+ed|treated as|stored|fenced"
    r"|quoted|mentioned)"
)
"""Words after the match in such a sentence."""
_SENTENCE_END = lazy_pattern(r"(?<!e\.g)[.!?\u3002]+\s")
_QUOTED = lazy_pattern(r"`[^`\n]{1,400}`|\"[^\"\n]{1,400}\"|(?<!\w)'[^'\n]{1,400}'(?!\w)")
_UNQUOTED = str.maketrans("", "", "`'\"")
_PROSE_BEFORE = lazy_pattern(r"\w[ ,]+\w+[ ,]+$")
"""What precedes a quotation in prose, as opposed to a string in JSON or code."""
_TAGS = lazy_pattern("[\U000e0020-\U000e007e]{8,}")
"""Invisible tag characters; shorter runs are part of emoji flags."""
_INVISIBLE = lazy_pattern(
    "[\u00ad\u034f\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufe00-\ufe0f"
    "\U000e0000-\U000e007f]"
)
_COLOUR = lazy_pattern(r"\x1b(?:\[[0-9;:?]*[ -/]*[@-~]|\][^\x07\x1b\n]*(?:\x07|\x1b\\)?)")
_SPACE = lazy_pattern(r"[ \t\u00a0]{2,}|[\t\u00a0]")
_BASE64 = (
    lazy_pattern(r"(?<![\w+=-])[A-Za-z0-9+]{24,}={0,2}"),
    lazy_pattern(r"(?<![\w+/=-])[A-Za-z0-9+/]{24,}={0,2}"),
)
"""Runs of base64 digits; after a slash it may be the last part of a path."""
_HEX = lazy_pattern(r"(?<!\w)(?:[0-9a-fA-F]{2}){16,}(?!\w)")
_ESCAPED = lazy_pattern(r"(?:%[0-9a-fA-F]{2}\W?){3}|&#x?[0-9a-fA-F]{2,5};|\\u[0-9a-fA-F]{4}")
_JOINED = lazy_pattern(r"(?<=[a-z])[_-](?=[a-z])")
_SIGN = lazy_pattern(r"\\u([0-9a-fA-F]{4})")
_SLUG = lazy_pattern(r"(?<![a-z])[a-z]++(?:[_-][a-z]++){3,}")
"""An identifier of four words or more, such as of a test or branch, may be a sentence."""
_LOOK_ALIKES = str.maketrans(
    "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0458\u0455\u0501\u051b\u04bb\u043a\u043c"
    "\u0442\u0432\u043d\u03b1\u03b5\u03b9\u03bf\u03c1\u03c5\u03bd\u03c4\u03ba\u0261\u0131\u0261",
    "aeopcyxijsdlhkmtbhaeiopuvtkgig",
)
"""Cyrillic and Greek letters -> the Latin letters that they look like."""
_LOOK_ALIKE = lazy_pattern(f"[{''.join(map(chr, _LOOK_ALIKES))}]")


def suspicion(text: str) -> str:
    """Return the class of injection that a text looks like, a key of `CLASSES`, or "".

    Also `hidden` for invisible text and `encoded` for base64, hexadecimal and the like. At most
    the first `TEXT_CHARS` are examined.
    """
    return _known(text) if len(text) <= RUN_CHARS else suspicion_once(text)


def suspicion_once(text: str) -> str:
    """Return the suspicion of a text that is not judged again soon: it is not kept in memory."""
    return _examined(text[:TEXT_CHARS])


def strict_suspicion(text: str) -> str:
    """Return the suspicion of a text in which quotation marks excuse nothing, such as a command.

    Prose quotes what it mentions; a command quotes its arguments.
    """
    return suspicion(text) or suspicion(text.translate(_UNQUOTED))


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
    judged = strict_suspicion if item.type == "command" else suspicion
    found = judged("\n".join(texts))
    return item if found == item.suspicion else replace(item, suspicion=found)


@lru_cache(maxsize=2048)  # a session's state says the same with each event
def _known(text: str) -> str:
    return _examined(text)


def _examined(text: str) -> str:
    if _TAGS.search(text):
        return "hidden"
    for view in _views(text):
        if found := _class_of(view):
            return found
    return "encoded" if any(map(_class_of, map(_folded, _decoded(text)))) else ""


def _class_of(folded: str) -> str:
    for name, forms in CLASSES.items():
        if any(_matches(folded, form) for form in forms):
            return name
    return ""


def _matches(folded: str, form: InjectionPattern) -> bool:
    if form.cues and not any(map(folded.__contains__, form.cues)):
        return False
    found = islice(form.pattern.finditer(folded), MOST)
    return any(not _is_mention(folded, each) for each in found)


def _views(text: str) -> Iterator[str]:
    """Yield the text as a model may read it: folded, unescaped, and in Latin letters."""
    folded = _folded(text)
    yield folded
    if _ESCAPED.search(text):
        yield _folded(_unescaped(text))
    if _SLUG.search(folded):
        yield _SLUG.sub(lambda found: found[0].replace("_", " ").replace("-", " "), folded)
    if _LOOK_ALIKE.search(folded):
        yield folded.translate(_LOOK_ALIKES)


def _decoded(text: str) -> Iterator[str]:
    """Yield the decoded text of runs of base64 and hexadecimal digits, if it is valid UTF-8."""
    # Most words are too short for any run.
    text = " ".join(word for word in text.split() if len(word) >= SHORTEST_RUN)
    runs = (found for pattern in _BASE64 for found in islice(pattern.finditer(text), RUNS))
    for found in runs:
        run = found[0][:RUN_CHARS]
        with_end = run + "=" * (-len(run) % 4)
        try:
            yield base64.b64decode(with_end, validate=True).decode()
        except (binascii.Error, UnicodeDecodeError):
            continue
    for found in islice(_HEX.finditer(text), RUNS):
        try:
            yield bytes.fromhex(found[0][:RUN_CHARS]).decode()
        except (ValueError, UnicodeDecodeError):
            continue


def _unescaped(text: str) -> str:
    """Return a text without the character escapes of URLs, HTML and JSON."""
    signs = _SIGN.sub(lambda found: chr(int(found[1], 16)), text)
    return unquote(html.unescape(signs))


def _folded(text: str) -> str:
    """Return a text in Unicode's NFKC, case-folded, without invisible characters and colours."""
    shown = _COLOUR.sub("", text) if "\x1b" in text else text
    if text.isascii():
        return _SPACE.sub(" ", shown.casefold())
    shown = _INVISIBLE.sub("", unicodedata.normalize("NFKC", shown))
    return _SPACE.sub(" ", shown.casefold().replace("\u2019", "'"))


def _is_mention(text: str, found: re.Match[str]) -> bool:
    """Return True if a match is quoted in, or part of, a sentence about injections."""
    begin = max(text.rfind("\n", 0, found.start()) + 1, found.start() - AROUND)
    line = _JOINED.sub(" ", text[begin : found.end() + AROUND])
    start, stop = found.start() - begin, found.end() - begin
    line = line[:stop] + line[stop:].partition("\n")[0]
    if any(
        q.start() < start and stop < q.end() and _PROSE_BEFORE.search(line[: q.start()])
        for q in _QUOTED.finditer(line)
    ):
        return True
    before = _SENTENCE_END.split(line[:start])[-1]
    after = _SENTENCE_END.split(line[stop:])[0]
    return _MENTION_BEFORE.search(before) is not None or _MENTION_AFTER.search(after) is not None
