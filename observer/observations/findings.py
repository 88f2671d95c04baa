"""The passages of a reply that somebody may search for later: causes, measured facts, advice.

A reply is divided into passages, each a paragraph or list item, and their sentences are scored by
phrases. Announcements, questions, code, and recaps of edits and of passing tests, which have items
of their own, are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from observer.core.patterns import lazy_pattern
from observer.core.text import ENDS, WIDE_ENDS
from observer.core.value import Value
from observer.observations.prompt_injection import suspicion

READ_CHARS = 40_000
MOST = 3
"""Most passages kept of one reply."""
LEAST_CHARS, MOST_CHARS = 40, 700
SENTENCES = 12
"""Most sentences read of one paragraph."""
WORTH = 2.8
"""Least score of a passage. Source: 300 passages of real replies, read one by one."""
ALIKE = 0.6
"""Share of common words from which two passages count as equal."""
RESTATED = 0.8
"""Share of a passage's words that are in its prompt, from which it only repeats the request."""


class FindingPassage(Value):
    """A passage without Markdown; `heading` is the one above it, `place` its index in the reply."""

    text: str
    heading: str = ""
    score: float = 0.0
    place: int = 0


_FENCED = lazy_pattern(r"^[ \t]*(```|~~~).*?(?:^[ \t]*\1[^\n]*$|\Z)", re.MULTILINE | re.DOTALL)
_HEADING = lazy_pattern(
    r"#{1,6}\s+(?P<title>.+)|\*\*(?P<bold>[^*\n]{2,80})\*\*:?|(?P<label>[^.!?]{2,70}):"
)
_POINT = lazy_pattern(r"(?P<indent>\s*)(?:[-*+\u2022]|\d{1,2}[.)])\s+(?P<text>\S.*)")
_BETWEEN = lazy_pattern(rf"(?<=[{ENDS}])\s+(?=[\"'(`*A-Z0-9\u00c0-\uffff])|(?<=[{WIDE_ENDS}])")
_MARKS = lazy_pattern(r"\*\*|__(?=\w)|(?<=\w)__|^>+\s?|[\u2705\u2713\u2714\u274c\u26a0\ufe0f]")
_LINKED = lazy_pattern(r"\[([^\]\n]{1,200})\]\([^)\n]{1,500}\)")
_WORDS = lazy_pattern(r"[^\W\d_]{3,}")
_CODE = lazy_pattern(r"[{}();=<>|\\]|->|=>|::")

_DROPPED = lazy_pattern(
    r"""(?:let\ me|let's|i'll|i\ will|i'm\ (?:going|now)|i\ am\ going|now\ (?:i|let)|next,?\ i
    |first,?\ (?:i'll|let)|sure|great|perfect|certainly|of\ course|thank|you're\ (?:welcome|right)
    |sorry|would\ you|want\ me|shall\ i|should\ i|do\ you\ want|feel\ free|let\ me\ know
    |once\ (?:that|this|it|those)(?:'s|\ is|\ are)?\ done\b
    |here(?:'s|\ is|\ are)\b|below\ is|the\ following|as\ follows|in\ summary:?$|summary\b
    |happy\ to|if\ you(?:'d|\ would)?\ (?:like|want|prefer)|please\ (?:let|run|try|restart|review)
    |all\ (?:done|set|clean|good|green|passing)
    |done\b|everything\ (?:looks|is|works|passes)|ready\ to
    |(?:both|all|the)?\s*[\d,]*\s*(?:tests?|checks?|hooks?|lint\w*|type-?\s?checks?
    |builds?)\b[^.]{0,60}
     \b(?:pass|clean|green|succe)\w*|\*{0,2}\d[\d,]*\s+(?:tests?|checks?)\b[^.]{0,30}\bpass
    |tests:|lint\b|typecheck\b|verification\b|no\ (?:lint|type)
    |committed\b|the\ commit\b|commit\b|pushed\b|\d+\ files?\ changed|co-authored
    |generated\ with)""",
    re.IGNORECASE | re.VERBOSE,
)
_BOOKKEEPING = lazy_pattern(
    r"""\b(?:(?:un)?staged|untracked|uncommitted|working\ tree|git\ status
    |nothing\ (?:left\ )?to\ (?:commit|stage)
    |commit\ is\ (?:effectively\ )?done
    |pre-existing\ (?:change|modif|uncommitted)\w*|(?:now|already|effectively|are|is|were
    |was)\ committed
    |remaining\ (?:modified|changes|files)|not\ (?:part\ of|related\ to)\ this\ (?:task|change
    |commit)
    |included\ in\ (?:the\ |this\ )?commit|unrelated\ (?:commit|change|file)s?)\b""",
    re.IGNORECASE | re.VERBOSE,
)
"""Bookkeeping that git commands report better."""
_RECAP = lazy_pattern(
    r"""(?:(?:i|we)(?:'ve|\ have)?\ (?:also\ |now\ |just\ )?)?(?:successfully\ )?
    (?:add|updat|chang|remov|creat|implement|fix|refactor|renam|mov|replac|extract|introduc|import
    |wir|wrap|pass|delet|convert|insert|rewr|simplif|flip|split|extend|mirror|hook|mark|modif|edit
    |switch|bump|clean|appl|export|adjust|mak|made|set\ |put|wrot|writ|dropp|expos|enrich|defin
    |register|append|us(?:ed|ing)\b|present|submit|includ|migrat|document|style|render|display
    |show|group|stor)\w*\b
    |(?:new|changed|modified|updated|deleted)\s(?:file|component|helper|method|function|test|prop)
    |[`\w./-]+\.\w{1,5}`?\s*(?:\([^)]*\))?\s*(?:\u2014|-|:|\u2013)\s
    |the\ (?:changes?|plan)\ (?:is|are|has|have|adds|groups|replaces|now)""",
    re.IGNORECASE | re.VERBOSE,
)
_RECAP_HEADING = lazy_pattern(
    r"""change|summary|files?\b|modified|created|implement|added|updated|what\ (?:was
    |i)\ (?:done|did)
    |done|tests?\b|steps?\b|phase|task|todo|next|commit""",
    re.IGNORECASE | re.VERBOSE,
)
_FINDING_HEADING = lazy_pattern(
    r"""cause|why|reason|problem|finding|recommend|conclusion|limitation|caveat|risk|trade|insight
    |analysis|decision|verdict|answer|difference|impact|gotcha|pitfall|bottleneck""",
    re.IGNORECASE | re.VERBOSE,
)
_CAUSE = lazy_pattern(
    r""",\sso\s|\b(?:because|root\ cause|caus(?:e|es|ed|ing)\b|due\ to|turn(?:s|ed)\ out
    |which\ is\ why
    |that(?:'s|\ is)\ why|the\ (?:real\ |actual\ |underlying\ |main\ )?
     (?:reason|cause|problem|issue|culprit|bug|catch|bottleneck|difference)\ (?:is|was|here)
    |stems?\ from|c(?:omes?|ame)\ from|as\ a\ result|therefore|consequently|otherwise
    |so\ (?:it|the|that|they|we|that's|there|each|every|any|no)\b|since\ (?:the|it|they|we|this
    |that|there)
    |was\ being|were\ being|without\ (?:passing|setting|calling|the|any|a)\b|the\ fix\ (?:is
    |was)\b
    |leads?\ to|results?\ in|explains?\ why|weil\b|deshalb|ursache|parce\ que|porque
    |\u56e0\u4e3a|\u539f\u56e0)""",
    re.IGNORECASE | re.VERBOSE,
)
_ADVICE = lazy_pattern(
    r"""\b(?:recommend\w*|suggest(?:ion)?s?\b|i'd\b|i\ would|should\b|better\ to|best\ (?:option
    |choice|way)
    |prefer\w*|avoid|must\b|worth\b|caveat|note\ that|be\ aware|keep\ in\ mind|limitation
    |trade-?offs?
    |risk\w*|important(?:ly)?|beware|gotcha|workaround|pre-?existing|unrelated|not\ related
    |needs?\ to
    |conclusion|bottom\ line|in\ short|the\ key|decid(?:e|ed|ing)|decision|chose|safe\ to)\b""",
    re.IGNORECASE | re.VERBOSE,
)
_MEASURED = lazy_pattern(
    r"""(?<![\w.])~?\d[\d,.]*\s?(?:ms|\u00b5s|ns|s|secs?|seconds?|min(?:utes?)?|hours?|days?
    |[kmgt]i?b|bytes?
    |%|percent|x\b|times|tokens?|requests?|rows?|lines?|req/s|rps|qps|fps|px|chars?|characters?
    |items?|entries|users?|calls?|issues|errors|pages)\b
    |(?<!\w)\d[\d,.]*\s?%|\b(?:from|between)\s~?\d[\d,.]*\s?\S{0,10}\s(?:to|and)\s~?\d""",
    re.IGNORECASE | re.VERBOSE,
)
_COMPARED = lazy_pattern(
    r"""\b(?:than\b|compared\ (?:to|with)|versus|vs\b|whereas|unlike|while\ the|faster|slower
    |larger
    |smaller|fewer|twice|half\ (?:the|as)|instead\ of|rather\ than|as\ opposed)""",
    re.IGNORECASE | re.VERBOSE,
)
_EXPLAINED = lazy_pattern(
    r"""\b(?:means?\b|only\ (?:when|if|in|for|on|after|works|the)|when(?:ever)?\b|unless|until
    |even\ (?:if|though|when)
    |by\ (?:default|design)|requires?|depends?\ on|does(?:n't|\ not)|do(?:n't|\ not)|cannot
    |can't|never
    |always|still\b|already|but\b|however|although|returns?|ensures?|prevents?|falls?\ back
    |fails?\b|failed
    |missing|stale|race|deadlock|leak\w*|mismatch|overrid\w*|ignor\w*|silently|limit\w*|assum\w*
    |actually
    |is\ (?:not|never|only|used|called|set|built|stored|handled|derived|responsible|defined)
    |lives?\ in
    |the\ (?:flow|pipeline|order|data|request|query)\b|no\ longer|both\b)""",
    re.IGNORECASE | re.VERBOSE,
)
_VERIFIED = lazy_pattern(
    r"\b(?:verified|confirm(?:ed|s)|reproduc\w+|measured|benchmark\w*|i (?:checked|tested|found)"
    r"|found (?:that|the|no|a|an|two|three)|investigat\w+)\b",
    re.IGNORECASE,
)
_LABELLED = lazy_pattern(
    r"(?:bug|problem|issue|(?:root )?cause|finding|why|reason|note|caveat|answer|conclusion"
    r"|verdict"
    r"|recommendation|decision)\b[^:.\u2014]{0,40}(?::| \u2014| -)\s",
    re.IGNORECASE,
)
_SCORED = (
    (_LABELLED, 1.5),
    (_CAUSE, 3.0),
    (_ADVICE, 2.0),
    (_MEASURED, 2.0),
    (_COMPARED, 1.5),
    (_EXPLAINED, 1.5),
    (_VERIFIED, 2.0),
)


def findings(
    reply: str, *, prompt: str = "", known: Iterable[str] = ()
) -> tuple[FindingPassage, ...]:
    """Return the passages of a reply that are worth an item, in order; at most `MOST`.

    Text that reads like an injected instruction is left out: a reply may quote a web page.

    Args:
        reply: the agent's words.
        prompt: the prompt that it answers; passages that only repeat it are left out.
        known: passages of earlier replies; passages that say the same are left out.
    """
    before = [_words(text) for text in known]
    asked = _words(prompt)
    kept: list[tuple[frozenset[str], FindingPassage]] = []
    for one in sorted(passages(reply), key=lambda each: -each.score):
        words = _words(one.text)
        is_said = any(_is_alike(words, other) for other in (*before, *(each for each, _ in kept)))
        is_new = words and not is_said and not _is_restated(words, asked)
        if one.score >= WORTH and is_new and not suspicion(f"{one.heading}\n{one.text}"):
            kept.append((words, one))
        if len(kept) == MOST:
            break
    return tuple(sorted((one for _, one in kept), key=lambda one: one.place))


def passages(reply: str) -> list[FindingPassage]:
    """Return all passages of a reply of at least `LEAST_CHARS`, with their scores."""
    found = []
    for place, (heading, lines) in enumerate(_blocks(reply[:READ_CHARS])):
        sentences = [one for one in _sentences(" ".join(lines)) if not _is_dropped(one)]
        text, score = _best(sentences, heading)
        if len(text) >= LEAST_CHARS:
            found.append(FindingPassage(text=text, heading=heading, score=score, place=place))
    return found


def _blocks(text: str) -> Iterator[tuple[str, list[str]]]:
    """Yield paragraphs and list items as (heading above it, lines)."""
    heading = ""
    lines: list[str] = []
    for line in (*_FENCED.sub("", text).split("\n"), ""):
        point = _POINT.fullmatch(line)
        title = None if point else _HEADING.fullmatch(line.strip())
        shown = "" if is_table(line) else _plain(point["text"] if point else line)
        if lines and (not shown or title or (point and len(point["indent"]) < 2)):
            yield heading, lines
            lines = []
        if title:
            heading = _plain(title["title"] or title["bold"] or title["label"]).strip(" :")
        elif shown:
            if lines and point and lines[-1][-1] not in ".;:,!?":
                lines[-1] += ";"
            lines.append(shown)


def _plain(line: str) -> str:
    return _MARKS.sub("", _LINKED.sub(r"\1", line)).strip()


def is_table(line: str) -> bool:
    """Return True if a line is a row of a Markdown table or a rule."""
    bare = line.strip()
    return bare.startswith("|") or not bare.strip("-=*_ ")


def _sentences(text: str) -> list[str]:
    return [one for part in _BETWEEN.split(text) if (one := part.strip())]


def _is_dropped(sentence: str) -> bool:
    letters = sum(map(str.isalpha, sentence))
    is_code = len(_CODE.findall(sentence)) * 6 > len(sentence) or letters * 2 < len(sentence)
    is_said_elsewhere = _DROPPED.match(sentence) or _BOOKKEEPING.search(sentence)
    return sentence.endswith(("?", ":")) or is_code or is_said_elsewhere is not None


def _best(sentences: Sequence[str], heading: str) -> tuple[str, float]:
    """Return the run of sentences within `MOST_CHARS` that scores best, and its score."""
    best, most = "", 0.0
    sentences = sentences[:SENTENCES]
    scores = [_score(one) for one in sentences]
    extra = _of_heading(heading)
    for first in range(len(sentences)):
        for last in range(len(sentences), first, -1):
            text = " ".join(sentences[first:last])
            score = max(scores[first:last]) + 0.3 * sum(scores[first:last]) + extra
            if len(text) <= MOST_CHARS and score > most:
                best, most = text, score
    return best, most


def _score(sentence: str) -> float:
    """Return how worth keeping a sentence is; below 0 for a recap."""
    score = sum(
        worth
        for pattern, worth in _SCORED
        if (pattern.match if pattern is _LABELLED else pattern.search)(sentence)
    )
    if _RECAP.match(sentence):
        score -= 2.0 if _CAUSE.search(sentence) else 3.0
    return score if len(sentence) >= LEAST_CHARS // 2 else score / 2


def _of_heading(heading: str) -> float:
    if _FINDING_HEADING.search(heading):
        return 1.5
    return -0.5 if _RECAP_HEADING.search(heading) else 0.0


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORDS.findall(text.casefold()))


def _is_alike(words: frozenset[str], other: frozenset[str]) -> bool:
    together = len(words | other)
    return bool(together) and len(words & other) >= ALIKE * together


def _is_restated(words: frozenset[str], asked: frozenset[str]) -> bool:
    return len(words & asked) >= RESTATED * len(words)
