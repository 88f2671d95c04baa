"""Which prompts correct what the agent has just done.

Part of interpretation (step 6), pure. A prompt corrects if its opening says, in English, that
something is wrong, does not work, was not meant or is to be taken back. What only asks for more is
none. It rather misses than mistakes: that somebody is corrected is counted, not remembered.
"""

from __future__ import annotations

import re

from observer.interpret import prompts

_READ_CHARS = 240
"""What corrects does so in its first words; behind them logs and plans are pasted."""

_COURTESY = r"(?:(?:ok|okay|hm+|well|so|but|and|sorry|please|hey|thanks|great|actually)\b[\s,.!]*)*"
_OPENING = re.compile(
    _COURTESY
    + r"(?:no(?:pe)?(?:[,.!]|$| (?!problem|need|worries|idea)\b)|wrong\b|stop\b(?!\s+hook)"
    r"|wait\b|undo\b|revert\b|roll (?:it |this |that )?back\b|(?:don't|do not|never) (?!forget)"
    r"|not (?:that|this|like|what|there|here|so)\b|(?:are|r) you sure\b"
    r"|(?:that|this|it)(?:'s| is| was) (?:not|wrong|incorrect|still|the wrong|worse)\b"
    r"|i (?:said|asked|told|meant|was talking|wanted)\b|i(?:'ve| have)? reverted\b"
    r"|you(?:'ve| have)? (?:forgot|missed|broke|didn't|did not|ignored|misunderstood"
    r"|should(?:n't| not) have|were (?:not )?supposed|removed|deleted|changed the wrong)\b)",
    re.IGNORECASE,
)
_ANYWHERE = re.compile(
    r"\bnot what i (?:asked|meant|want|said)|\bstill (?:fail|broken|not\b|no\b|doesn't|does not"
    r"|the same|wrong|see\b|getting|have the same)|\b(?:does|do|did|is|are)(?:n't| not) work"
    r"|\b(?:don't|do not|can't|cannot|still) see\b|\bnothing (?:happens|changed)\b"
    r"|\b(?:it|this|that|they|you) (?:should not|shouldn't|should never) "
    r"|\b(?:revert|undo|roll back) (?:your|that|this|these|the last)\b|\bbugged\b"
    r"|\b(?:it|this|that)(?:'s| is) (?:not|wrong|broken)\b|\bnot (?:\w+ )?correctly\b",
    re.IGNORECASE,
)


def is_correction(prompt: str) -> bool:
    """Return True if a prompt says that what was done before it is wrong."""
    said = prompts.words_of(prompt).strip().replace("\u2019", "'")[:_READ_CHARS]
    return bool(_OPENING.match(said) or _ANYWHERE.search(said))
