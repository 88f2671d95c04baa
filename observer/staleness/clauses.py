"""The frame of a clause: its topic, verb, object and prepositional phrases; pure.

`statements` parses one for each text, `contrasts` compares two. There is no grammar: prepositions,
forms of "be" and a list of verbs split a clause, which is right for most sentences that state
decisions. Each word is visited a fixed number of times.
"""

from __future__ import annotations

import re

from msgspec.structs import replace

from observer.core.text import word_set
from observer.core.value import Value
from observer.staleness import phrases
from observer.staleness.amounts import Words, stem, stems
from observer.staleness.verbs import LISTING, NOUNS, class_of, is_base, is_gerund, is_past

BE = word_set("is are was were be been being am stay stays become becomes")
MODALS = word_set(
    "must should may might can could will would shall need needs has have had do does did cannot"
)
PREPOSITIONS = {
    "in": "in", "on": "on", "at": "at", "with": "with", "by": "by", "to": "to", "into": "to",
    "onto": "to", "from": "from", "for": "for", "as": "as", "under": "in", "inside": "in",
    "within": "in", "via": "through", "through": "through", "using": "with", "over": "over",
    "per": "per", "between": "between", "against": "against", "without": "without", "near": "at",
    "next": "at", "beside": "at", "above": "over", "below": "below", "after": "when",
    "before": "when", "when": "when", "if": "when", "while": "when", "until": "until",
    "once": "when", "during": "when", "unless": "when", "whenever": "when", "about": "about",
    "towards": "to", "toward": "to", "off": "from", "across": "in", "among": "in",
}  # fmt: skip
SAYERS = word_set("we you i people they everybody everyone somebody someone let please lets one us")
_STOPS = word_set("that which who whose where because so")
_WORD = re.compile(
    r"[\w./~*]?[a-z0-9][\w+.#/&*-]*[\w+#/*]|[a-z0-9]|:(?=\s|$)|,(?=\s|$)", re.IGNORECASE
)
_PATH = re.compile(r"[./~*_].*|.*[/_*]|.*[/_].*")
"""What is written like a path or an identifier, and stands for itself."""
_SHORT = (
    ("can't", "cannot"), ("won't", "will not"), ("n't", " not"), ("takes care of", "maintains"),
    ("take care of", "maintain"), ("taken care of", "maintained"), (" off ", " "),
    ("'ll", " will"), ("'re", " are"), ("'ve", ""), ("'d", ""), ("'s", ""),
    ("going to ", ""), ("has to ", "must "), ("have to ", "must "), ("needs to ", "must "),
    ("need to ", "must "), ("ought to ", "must "), (" at least", ""), (" at most", ""),
    (" up to", ""), ("as of ", ""), (" back ", " "),
    ("in charge of", "responsible for"), (" out of ", " from "), (" instead of ", " without "),
    (" rather than ", " without "),
)  # fmt: skip
_NAME = re.compile(r"(?<=[^.!?:]\s)([A-Z][\w+.#&-]*|[a-z]+[A-Z]\w*|[\w./+-]*[\d_/.][\w./+-]*\w)")
ADVERBS = word_set(
    "always never not only just now also too still already again simply directly then instead "
    "no longer all"
)
Places = tuple[tuple[str, Words], ...]
"""Groups of prepositions, and the words behind each."""


def words_of(text: str) -> list[str]:
    """Return the words of a text in lower case, short forms written out; paths are words."""
    lowered = text.lower()
    for short, full in _SHORT:
        lowered = lowered.replace(short, full)
    return _WORD.findall(lowered)


def known(text: str) -> Words:
    """Return the stems of all words of a text, of those too that say nothing."""
    return frozenset(word if _PATH.fullmatch(word) else stem(word) for word in words_of(text))


def names_of(text: str) -> Words:
    """Return the stems of what a text writes like a name, a version or a path."""
    return frozenset(one for found in _NAME.finditer(text) for one in _stemmed(found[1].lower()))


def unfronted(words: list[str]) -> list[str]:
    """Return words with what stands before "we" behind the rest: "for icons we use …"."""
    if words[0] in PREPOSITIONS:
        for at, word in enumerate(words[1:8], 1):
            if word in SAYERS:
                return [word for word in words[at:] if word != ","] + words[:at]
    return words


def said_at(words: list[str]) -> int:
    """Return where a clause begins behind "let's", "we" and the like."""
    said = (at for at, word in enumerate(words) if word not in SAYERS and word not in ADVERBS)
    return next(said, len(words))


def verb_at(words: list[str], start: int) -> int | None:
    """Return where the verb stands that says something of what stands before it, if any does."""
    for place, word in enumerate(words[start:], start):
        if _ends_clause(word) or (word == "," and place > start + 3):
            break
        if word in BE or word in MODALS:
            return place
    if start < len(words) and is_base(words[start]) and words[start] not in NOUNS:
        return None
    return _finite_at(words, start)


def _finite_at(words: list[str], start: int) -> int | None:
    """Return the last of the first forms of verbs that stand side by side: "reviews take"."""
    found = None
    for place in range(start + 1, len(words)):
        if _ends_clause(words[place]) or (found is not None and found != place - 1):
            break
        if _is_finite(words[place - 1], words[place]):
            found = place
    return found


def _ends_clause(word: str) -> bool:
    return word in _STOPS or PREPOSITIONS.get(word) == "when"


def _is_finite(before: str, word: str) -> bool:
    """Return True for a form of a verb that what stands before it may have."""
    if before in PREPOSITIONS or (before in phrases.EMPTY and before not in ADVERBS):
        return False
    if class_of(word) is None:
        return False
    if is_base(word):
        return before.endswith("s") or word not in NOUNS
    return word.endswith("s") or is_past(word)


def _stemmed(word: str) -> list[str]:
    """Return what a word says: a path stands for itself."""
    return [word] if _PATH.fullmatch(word) else sorted(stems(word))


def parts(words: list[str]) -> tuple[tuple[str, ...], Places]:
    """Return what stands behind a verb: its object's stems in order, and what prepositions say."""
    value: list[str] = []
    places: list[tuple[str, list[str]]] = []
    for word in words:
        if word in _STOPS:
            break
        if word in PREPOSITIONS:
            places.append((PREPOSITIONS[word], []))
        elif word not in {",", ":"}:
            (places[-1][1] if places else value).extend(_stemmed(word))
    return tuple(value), tuple((group, frozenset(found)) for group, found in places if found)


_DUTY = stems("responsible responsibility job task duty")
_ASKING = frozenset({"let", "lets", "please"})
_ABOUT = frozenset({"for", "as", "in"})


class Frame(Value):
    """A clause in roles; words are stems.

    `topic` is what it is about, `verb` the class of what is done with that, `actor` who does it
    where that is not the topic. `value` stands behind the verb without a preposition, `places` are
    the prepositions' groups and words. `names` are words written like names, or like paths.
    """

    topic: Words = frozenset()
    verb: str = ""
    actor: Words = frozenset()
    value: tuple[str, ...] = ()
    places: tuple[tuple[str, Words], ...] = ()
    names: Words = frozenset()
    is_listing: bool = False
    is_colon: bool = False
    is_demand: bool = False
    is_choice: bool = False
    doing: str = ""

    @property
    def said(self) -> Words:
        """Return all that is said of the topic."""
        return frozenset(self.value).union(self.actor, *(words for _, words in self.places))


def frame_of(clause: str) -> Frame:
    """Take a clause apart."""
    words = words_of(clause)
    names = names_of(clause)
    if not words:
        return Frame()
    if words[0] == "no":
        return _verbless(words, names)
    words = unfronted(words)
    if ":" in words[1:7] and words[-1] != ":":
        at = words.index(":")
        if is_base(words[at + 1]) and words[at + 1] not in NOUNS:
            return _demand([*words[at + 1 :], "in", *words[:at]], 0, names)
        return _predicate(words[:at], ":", words[at + 1 :], names)
    made = _read(words, said_at(words), names)
    return replace(made, is_demand=True) if words[0] in _ASKING else made


def _read(words: list[str], start: int, names: Words) -> Frame:
    at = verb_at(words, start)
    if at is None:
        is_verb = start < len(words) and class_of(words[start]) is not None
        if is_verb and (start or is_base(words[start])):
            return _demand(words, start, names)
        return _verbless(words, names)
    end = at
    while end < len(words) and (words[end] in BE or words[end] in MODALS or words[end] in ADVERBS):
        end += 1
    helper = next((word for word in reversed(words[at:end]) if word not in ADVERBS), "")
    if end == len(words) or not _is_verb(words[end], helper):
        return _predicate(words[:at], helper, words[end:], names)
    if at == start:
        return _demand(words, end, names)
    if helper in BE and is_past(words[end]):
        return _passive(words[:at], words[end], words[end + 1 :], names)
    return _predicate(words[:at], words[end], words[end + 1 :], names)


def _is_verb(word: str, helper: str) -> bool:
    if helper in BE:
        return is_past(word) or is_gerund(word)
    return class_of(word) is not None


def _verbless(words: list[str], names: Words) -> Frame:
    places = (at for at, word in enumerate(words) if at and word in PREPOSITIONS)
    at = next(places, len(words))
    return _predicate(words[:at], "", words[at:], names)


def _demand(words: list[str], place: int, names: Words) -> Frame:
    """Return the frame of what is demanded, or of what "we" do: it is about the verb's object."""
    doing = words[place]
    value, places = parts(words[place + 1 :])
    verb = class_of(doing) or stem(doing)
    topic, is_choice = frozenset(value), False
    if verb == "name" and len(value) > 1 and value[-1] in names:
        topic, value = frozenset(value[:-1]), value[-1:]
    elif chosen := _chosen(verb, value, places):
        value, places, topic = chosen
        task = next((word for word in words[place + 1 :] if is_gerund(word)), "use")
        verb, is_choice = class_of(task) or "use", True
    else:
        value = ()
    return Frame(
        topic=topic,
        verb=verb,
        value=value,
        places=places,
        names=names,
        is_listing=doing.rstrip("s") in LISTING,
        is_demand=not place,
        is_choice=is_choice,
        doing=stem(doing),
    )


def _chosen(
    verb: str, value: tuple[str, ...], places: Places
) -> tuple[tuple[str, ...], Places, Words] | None:
    """Return what is chosen, what else is said of that, and for what; None if nothing is."""
    groups = dict(places)
    picked = ""
    if verb in {"change", "go"} and not value:
        picked = next((group for group in ("with", "to") if group in groups), "")
    elif verb == "use" and (not value or groups.keys() >= {"on", "for"}):
        picked = "on"
    elif verb != "use":
        return None
    value = tuple(sorted(groups.get(picked, ()))) if picked else value
    about = _ABOUT if _ABOUT & groups.keys() else {"when", "to"}
    topic = _all_of(places, about - {picked})
    kept = tuple(each for each in places if each[0] not in about and each[0] != picked)
    return (value, kept, topic) if value and topic else None


def _passive(before: list[str], word: str, after: list[str], names: Words) -> Frame:
    value, places = parts(after)
    return Frame(
        topic=stems(" ".join(before)),
        verb=class_of(word) or stem(word),
        actor=_all_of(places, {"by"}),
        value=value,
        places=tuple(each for each in places if each[0] != "by"),
        names=names,
        doing=stem(word),
    )


def _predicate(before: list[str], word: str, after: list[str], names: Words) -> Frame:
    """Return the frame of what is said of a subject; who owns something is said of that."""
    value, places = parts(after)
    verb = "be" if word == ":" or word in BE else class_of(word) or (stem(word) if word else "")
    topic, actor = stems(" ".join(before)), frozenset[str]()
    if verb == "be" and _DUTY & set(value):
        verb, actor = "own", frozenset(value) - _DUTY
        if charge := _all_of(places, {"for"}):
            topic, actor = charge, topic
        value, places = (), ()
    elif value and (verb == "own" or word in {"run", "runs"}):
        verb = "own"
        topic, actor, value = frozenset(value), topic, ()
    return Frame(
        topic=topic,
        verb=verb,
        actor=actor,
        value=value,
        places=places,
        names=names,
        is_listing=word.rstrip("s") in LISTING,
        is_colon=word == ":",
        doing=stem(word),
    )


def _all_of(places: Places, groups: frozenset[str] | set[str]) -> Words:
    return frozenset[str]().union(*(words for group, words in places if group in groups))
