"""What an agent says it has done: the sentences and points of a reply that report a change.

Part of interpretation (step 6), pure. Sentences are picked whole; the path or name in front of a
point ("`cart.py` - Added …") stays with it.
"""

from __future__ import annotations

import re

from observer.interpret.wording import distinct, one_line, word_set

MOST = 5
_CHARS = 180
_READ_CHARS = 12_000
_LINE = re.compile(r"\n+|(?<=[.!])\s+(?=[A-Z`*])")
_MARK = re.compile(r"^(?:[-*\u2022+>]\s+|\d{1,2}[.)]\s+|#+\s+)+")
_SUBJECT = re.compile(
    r"^(?:(?:i|we|i've|we've|it|this|i have|we have|also|done[.:!]?|fixed[.:!]|now|both)[,:]?\s+)*"
    r"(?:(?:now|also|successfully|just|then)\s+)*",
    re.IGNORECASE,
)
_LABEL = re.compile(r"^[^:\u2013\u2014]{1,120}?(?:: | (?:[\u2013\u2014]|-{1,2}) )(?=\S)")
"""What stands in front of a change: a path, a symbol, "Fix 1", "The fix was simple"."""
_NOW = re.compile(
    r"(?:the |a |`|when |each |every |all )?[^.;:]{1,80}? (?:now|no longer) "
    r"(?!(?:on|in|at|up|part|available|committed|pushed|clean)\b)[\w`\"']+|now,? (?:when|the) ",
    re.IGNORECASE,
)
_TRIVIAL = re.compile(
    r"\w+:?\s+`[^`]*`(?: \([^)]*\))?[.]?$|.{0,60}\bimports?\b.{0,30}$", re.IGNORECASE
)
"""A path and no more, or an import: nobody asks later what that achieved."""
_VERBS = word_set("built cut hid made put rewrote set split sped undid wrote")
_NO_CHANGE = re.compile(
    r"un(?!ified|linked|registered|wrapped)|(?:advanced|agreed|attached|based|caused|checked"
    r"|committed|completed|confirmed|deferred|detailed|ended|estimated|expected|failed|finished"
    r"|indeed|investigated|listed|looked|named|needed|noted|observed|passed|planned|postponed"
    r"|proposed|pushed|recommended|related|required|reviewed|shared|skipped|started|suggested"
    r"|supposed|tested|tried|verified)\Z"
)
"""Words in -ed that report no change of the code."""
_STATUS = re.compile(
    r"(?:all |the )?(?:\d[\d,]* |\w+ )?"
    r"(?:tests?|checks?|lint|types?(?:check)?|build|hooks?|suite)\b.*\b(?:pass|green|clean|succeed|ok\b|fine)"
    r"|all (?:clean|green|good|done|set|changes|checks)"
    r"|(?:everything|no) (?:passes|works|is|errors|issues)|.{0,40}\bcommit(?:ted|s)?\b.{0,40}"
    r"(?:success|succeeded|created|went through|as `|\b[0-9a-f]{7}|is in)|(?:successfully )?"
    r"(?:committed|pushed|merged)\b|done\b|commit(?:ted)? (?:success|succe|`)|clean\b|pushed\b"
    r"|(?:lint|format|typecheck|build)\b.{0,30}$|i can't |the commit (?:is|was|went|succ)"
    r"|(?:working tree|branch) ",
    re.IGNORECASE,
)


def read(text: str) -> tuple[str, ...]:
    """Return the first few changes that a reply reports."""
    lines = (
        _MARK.sub("", line.strip()).replace("**", "") for line in _LINE.split(text[:_READ_CHARS])
    )
    return distinct((one_line(line, _CHARS) for line in lines if _is_change(line)), MOST)


def unlabelled(sentence: str) -> str:
    """Return a report without what only introduces it, such as "The fix is simple:"."""
    label = _LABEL.match(sentence)
    if label is None or re.search(r"[`/._]", label[0]):
        return sentence
    bare = sentence[label.end() :]
    return bare[:1].upper() + bare[1:]


def is_status(sentence: str) -> bool:
    """Return True if a sentence only says that it is committed, that checks pass, or "done"."""
    return _STATUS.match(sentence.lstrip("\u2705 *#-")) is not None


def is_change(sentence: str) -> bool:
    """Return True if a sentence reports a change, which is no lesson."""
    return _is_change(_MARK.sub("", sentence.strip()).replace("**", ""))


def _is_change(line: str) -> bool:
    if len(line) < 15 or line.endswith(("?", ":")) or is_status(line) or _TRIVIAL.match(line):
        return False
    unlabelled = _LABEL.sub("", line)
    return any(map(_is_report, (line, unlabelled, _LABEL.sub("", unlabelled))))


def _is_report(text: str) -> bool:
    bare = _SUBJECT.sub("", text, count=1)
    word = bare.partition(" ")[0].lower().rstrip(",:")
    is_verb = word in _VERBS or (word.endswith("ed") and word.isalpha() and len(word) > 4)
    return (is_verb and not _NO_CHANGE.match(word)) or any(map(_NOW.match, (text, bare)))
