"""Whether a note reads as if it meant to command the model that will read it.

Pure. A note is text from anywhere: a web page that an agent read may have asked to be remembered.
Suspicion hides nothing, it keeps a note out of what is put before a model unasked. So it rather
misses a crafty one than accuse an honest one: what is only quoted, or told about, is let pass.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from itertools import islice

TEXT_CHARS = 65_536
"""How much of a text is looked at."""
MOST = 100
"""Places of one class that are looked at."""
AROUND = 400
"""Characters before and after such a place that may say that it is told about."""

_ANY = r"(?:\w+[ ,]+){0,5}?"
_OLD = r"(?:previous|prior|above|earlier|preceding|existing|original|system|your)"
_RULES = r"(?:instructions?|prompts?|rules|guidelines|directives|directions|orders|constraints)"
_SECRETS = (
    r"(?:secrets?|credentials|passwords?|api[ _-]?keys?|access tokens?|ssh keys?|private keys?"
    r"|environment variables|env vars|\.env\b|~/\.ssh|id_rsa)"
)
_PERSON = r"(?:the )?(?:user|human|person|developer|owner|anyone|anybody)\b"
_THIS = r"(?:this|it|that|any of this)"
_FREED = (
    r"(?:dan\b|jailbroken|unrestricted|unfiltered|developer mode|god mode|admin(?:istrator)? mode"
    r"|bound by|restricted by)"
)
_MODEL = r"(?:you|an? (?:ai|agent|assistant|llm|model))"
_DO = r"(?:run|execute|download|install|delete|send|call|open|fetch|curl|ignore|follow)"
_WHERE = (
    r"(?:https?://|[\w.+-]{1,60}@[\w-]{1,60}\.|the (?:url|server|address|webhook)"
    r"|an? (?:external|remote))"
)

CLASSES: Mapping[str, re.Pattern[str]] = {
    "override": re.compile(
        rf"\b(?:ignore|disregard|forget|override|bypass)[ ,]+{_ANY}{_OLD}[ ,]+{_ANY}{_RULES}"
        r"|\b(?:ignore|disregard|forget) (?:all|everything|anything) (?:that (?:was|came) "
        r"|you were told )?(?:above|before(?: this)?)\b"
        rf"|\byour (?:new|real|actual|true) {_RULES} (?:are|is)\b"
    ),
    "role": re.compile(
        rf"\byou are (?:now|no longer) {_ANY}{_FREED}"
        r"|\b(?:act|behave|respond) as (?:if you (?:have|had) no"
        r"|an? (?:unrestricted|unfiltered|jailbroken))"
        r"|\benter (?:developer|god|admin|debug|jailbreak) mode\b"
    ),
    "conceal": re.compile(
        rf"\b(?:do not|don't|never|must not) (?:ever )?(?:tell|inform|alert|notify|warn) {_PERSON}"
        rf" (?:about |of |that )?(?:{_THIS}\b|what you\b|you (?:are|have|did|read|ran)\b|these\b)"
        r"|\b(?:do not|don't|never|must not) (?:ever )?(?:mention|reveal|show) "
        rf"{_THIS} to {_PERSON}"
        r"|\b(?:silently|secretly|quietly)\b[^.\n]{0,80}"
        rf"\bwithout (?:telling|informing|asking|notifying|alerting) {_PERSON}"
        rf"|\b(?:hide|conceal|keep) (?:{_THIS}|these actions?) (?:secret )?from {_PERSON}"
    ),
    "exfiltrate": re.compile(
        rf"\b(?:send|post|upload|exfiltrate|forward|leak|transmit|email)\b[^.\n]{{0,60}}?{_SECRETS}"
        rf"[^.\n]{{0,60}}?\b(?:to|at|via) {_WHERE}"
        rf"|\b(?:reveal|print|output|repeat|disclose) {_ANY}(?:your|the) (?:\w+ )?"
        r"(?:system|hidden|initial|secret) (?:prompt|instructions?)"
    ),
    "obey": re.compile(
        rf"\b(?:when(?:ever)?|if|once|as soon as) {_MODEL} "
        r"(?:reads?|sees?|recalls?|retrieves?|loads?|encounters?|process(?:es)?) this"
        r"(?: (?:note|memory|file|message|text|page|line|document|comment|entry))?,? "
        r"(?:you (?:must|should|will) |(?:immediately|always|then|first|silently) )*"
        rf"{_DO}\b"
    ),
    "markup": re.compile(
        r"<\|(?:im_start|im_end|system|endoftext|start_header_id)\|>|\[/inst\]|<</?sys>>"
        r"|</?(?:system-reminder|system_prompt|system_instructions?)>"
        r"|^#{1,6} ?(?:system|new) (?:prompt|instructions?|message):? *$"
        r"|^(?:begin|end) system (?:prompt|message|instructions?)\b",
        re.MULTILINE,
    ),
}
"""Every class of suspicion and what reads like it, in folded text."""

_TOLD_ABOUT = re.compile(
    r"inject|jailbreak|attack|malicious|phish|adversar|red.?team|suspicio|payload|detect|filter|"
    r"sanitiz|sanitis|strip|escap|exploit|threat|vulnerab|such as|for example|e\.g\.|phrases? like|"
    r"texts? like|reject|refus|blocks? |guard"
)
"""What a text about injections says; an injection does not call itself one."""

_QUOTED = re.compile(r"`[^`\n]{1,400}`|\"[^\"\n]{1,400}\"|(?<!\w)'[^'\n]{1,400}'(?!\w)")
_TAGS = re.compile("[\U000e0020-\U000e007e]{8,}")
"""Letters that no reader sees; shorter runs spell the flags of countries' parts."""
_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u2064\ufeff]")
_SPACE = re.compile(r"[ \t\u00a0]+")


def suspicion(text: str) -> str:
    """Return the class of what makes a text suspicious, empty if nothing does."""
    if _TAGS.search(text[:TEXT_CHARS]):
        return "hidden"
    folded = _folded(text[:TEXT_CHARS])
    for name, pattern in CLASSES.items():
        found = islice(pattern.finditer(folded), MOST)
        if any(not _is_told_about(folded, each) for each in found):
            return name
    return ""


def _folded(text: str) -> str:
    """Return the text as a model reads it: look-alikes, case and invisible signs made even."""
    even = _INVISIBLE.sub("", unicodedata.normalize("NFKC", text)).casefold().replace("\u2019", "'")
    return _SPACE.sub(" ", even)


def _is_told_about(text: str, found: re.Match[str]) -> bool:
    """Tell whether what was found is quoted in, or part of, a sentence about such things."""
    begin = max(text.rfind("\n", 0, found.start()) + 1, found.start() - AROUND)
    line = text[begin : found.end() + AROUND].partition("\n")[0]
    start, stop = found.start() - begin, found.end() - begin
    if any(q.start() < start and stop < q.end() for q in _QUOTED.finditer(line)):
        return True
    return _TOLD_ABOUT.search(line[:start] + " " + line[stop:]) is not None
