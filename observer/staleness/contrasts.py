"""How two statements about one thing contrast: other value, other polarity, other reach; pure.

Each rule first asks whether both frames have the same topic, then whether the same is said of it,
and then what differs.
"""

from __future__ import annotations

from observer.staleness import phrases
from observer.staleness.amounts import Words, stems
from observer.staleness.clauses import Frame
from observer.staleness.statements import Statement
from observer.staleness.verbs import LIGHT

_TOPICAL = frozenset({"for", "when", "between", "about", "without", "per", "until", "of"})
"""Prepositions that say of what, not which."""
_ALIKE = {"through": "with", "by": "with"}
_WHERE = {"on": "in", "at": "in"}
_MEASURES = frozenset({"date", "clock", "time", "size", "share", "length"})
_CHOOSING = frozenset({"use", "change", "go"})
_ROLES = stems("contact owner person lead responsible")
"""Words for who it is, which go without saying."""
_ATTRIBUTES = stems(
    "limit size interval timeout radius number length rate default maximum minimum max min value"
    " duration threshold period frequency delay width height depth amount total"
)
"""Words for what is measured, which go without saying."""
_LASTING = frozenset({"hold", "remove", "last"})
"""Verbs that say how long something is there."""
_REACHING = frozenset({"be", "", "limit", "use", "have"})
_GENERIC = frozenset({"use", "change", "go", "be", ""})
"""Verbs that take the sense of the one before."""

_POLES = stems(" ".join(word for pair in phrases.OPPOSITES for word in pair))
Slot = tuple[str, Words]
Slots = list[Slot]


def is_same_topic(new: Statement, old: Statement) -> bool:
    """Return True if what either is about is named by the other, too."""
    topic, was_about = new.frame.topic - _ROLES, old.frame.topic - _ROLES
    if not topic & was_about:
        return False
    return not ((topic & new.nouns) - old.known) and not ((was_about & old.nouns) - new.known)


def is_same_verb(new: Statement, old: Statement) -> bool:
    """Return True unless two verbs say different things of their topics."""
    verb, was = new.frame.verb, old.frame.verb
    if verb == was or {verb, was} == {"use", "be"}:
        return True
    if not new.is_change:
        return False
    return verb in _GENERIC - {"be"} or {verb, was} <= LIGHT


def says_otherwise(new: Statement, old: Statement) -> bool:
    """Return True if the same thing has another value."""
    if not is_same_topic(new, old) or not is_same_verb(new, old) or _may_both_hold(new, old):
        return False
    pair = _differing(_slots(new.frame, old.known), _slots(old.frame, new.known))
    if not pair:
        return False
    (kind, value), (was_kind, was) = pair
    are_names = bool(value & new.frame.names) and bool(was & old.frame.names)
    if not _are_comparable(new, old, are_names=are_names) or {kind, was_kind} & _TOPICAL:
        return False
    if kind != was_kind and not _is_chosen(new, old):
        return False
    return kind != "=" or _is_other_name(new, old, value, are_names=are_names)


def _may_both_hold(new: Statement, old: Statement) -> bool:
    """Return True for what forbids, lists or adds, and for what replaces something else."""
    if new.is_denied or old.is_denied or new.is_extension or old.is_extension:
        return True
    is_swap = phrases.SWAPS.search(new.text) is not None
    is_elsewhere = is_swap and not new.replaced & old.words
    return is_elsewhere or new.frame.is_listing or old.frame.is_listing


def has_other_slot(new: Statement, old: Statement) -> bool:
    """Return True if all that two statements say differently stands behind one preposition."""
    pair = _differing(_slots(new.frame, old.known), _slots(old.frame, new.known))
    if not pair or new.frame.verb in {"be", "have", ""} or new.is_denied or old.is_denied:
        return False
    return pair[0][0] == pair[1][0] and pair[0][0] not in _TOPICAL | {"="}


def _differing(ours: Slots, theirs: Slots) -> tuple[Slot, Slot] | None:
    """Return the two slots that hold different things, where no others do."""
    if len(ours) == 1 and len(theirs) == 1:
        return ours[0], theirs[0]
    if min(len(ours), len(theirs)) == 1 and max(len(ours), len(theirs)) == 2:
        found = [(one, other) for one in ours for other in theirs if one[0] == other[0]]
        return found[0] if len(found) == 1 else None
    return None


def _is_chosen(new: Statement, old: Statement) -> bool:
    """Return True if a choice may say otherwise than the older statement what is chosen."""
    f, g = new.frame, old.frame
    if not new.is_change or not (f.is_choice or f.verb in _CHOOSING):
        return False
    if bool(new.amounts) != bool(old.amounts):
        return False
    return g.verb in LIGHT - {"have"} or bool(f.said & f.names and g.said & g.names)


def _are_comparable(new: Statement, old: Statement, *, are_names: bool) -> bool:
    """Return False if one measures something, and the other nothing or something else.

    A number in a name measures nothing: "RFC 3339".
    """
    units, were = {each.unit for each in new.amounts}, {each.unit for each in old.amounts}
    if units == were or units & were:
        return True
    is_measured = bool((units | were) & _MEASURES)
    return not is_measured and (are_names or (new.is_change and not (units and were)))


def _slots(frame: Frame, known: Words) -> Slots:
    """Return what is said of a topic, in slots, where that has words that are not known."""
    slots = [("=", frozenset(frame.value)), ("actor", frame.actor)]
    alike = _ALIKE | _WHERE if frame.verb == "hold" else _ALIKE
    slots += [(alike.get(group, group), words) for group, words in frame.places]
    return [(kind, words) for kind, words in slots if words - known]


def _is_other_name(new: Statement, old: Statement, value: Words, *, are_names: bool) -> bool:
    """Return True if two complements exclude each other, as two names do and two qualities not."""
    f, g = new.frame, old.frame
    is_shared = bool(set(f.value) & set(g.value))
    if f.verb == "have":
        return f.value[:1] == g.value[:1]
    if f.verb == "be":
        return bool(value & f.names) or is_shared or new.is_change or (f.is_colon and g.is_colon)
    if f.verb == "use" and not f.is_demand:
        return are_names or is_shared or new.is_change
    return f.verb in {"use", "name"} or are_names


def gives_reason(new: Statement, old: Statement) -> bool:
    """Return True if what it says beside names what was chosen before for the same thing."""
    said = old.frame.said - old.frame.topic
    aside = new.words - new.subject
    return (
        bool(said & aside)
        and "have" not in {new.frame.verb, old.frame.verb}
        and 2 * len(said & aside) >= len(said)
        and is_same_topic(new, old)
        and bool(new.frame.said - old.known)
    )


def turns(new: Statement, old: Statement) -> bool:
    """Return True if one says of the same thing that it is so, and the other that it is not."""
    if new.is_denied == old.is_denied or new.amounts != old.amounts:
        return False
    verbs = {new.frame.verb, old.frame.verb}
    if len(verbs - _GENERIC - {"add"}) > 1 or not new.frame.topic & old.frame.topic:
        return False
    ours, theirs = new.subject - old.known, old.subject - new.known
    return len(new.subject & old.subject) > 1 and not ours and len(theirs) <= 1


def lets_off(new: Statement, old: Statement) -> bool:
    """Return True if it exempts something from what holds for all."""
    if not new.is_excuse or not (old.is_universal or old.is_denied) or old.is_excuse:
        return False
    if new.is_denied and old.is_denied:
        return False
    shared = new.words & old.subject
    theirs = old.nouns - new.known
    is_same = theirs <= old.frame.topic or phrases.EXEMPTED.search(new.text) is not None
    is_enough = len(shared) > 1 and len(shared) >= 0.6 * len(old.subject)
    return is_same and is_enough and not new.replaced and bool(new.subject - old.known)


def permits(new: Statement, old: Statement) -> bool:
    """Return True if it allows what was forbidden, or frees from what was demanded."""
    if not new.is_excuse or old.is_excuse or new.is_denied == old.is_denied:
        return False
    if not (old.is_universal or old.is_denied) or new.subject - old.known:
        return False
    shared = new.subject & old.subject
    return len(shared) > 1 and len(shared) >= 0.75 * len(old.subject)


def adds_only(new: Statement, old: Statement) -> bool:
    """Return True if it says all that the older statement says, and more of the same."""
    is_other = new.is_change or new.is_denied != old.is_denied or bool(new.replaced)
    return old.known <= new.known and not is_other


def has_other_pole(new: Statement, old: Statement) -> bool:
    """Return True if one of two opposites takes the other's place."""
    if not is_same_topic(new, old) or not (new.frame.verb == old.frame.verb or new.is_change):
        return False
    ours, theirs = new.nouns - old.known - _POLES, old.nouns - new.known - _POLES
    if ours and theirs:
        return False
    topics = new.frame.topic | old.frame.topic
    if topics & _POLES:
        return False
    poles, were = frozenset(new.polarity), frozenset(old.polarity)
    return any(
        one in poles - were and other in were - poles
        for pair in phrases.OPPOSITES
        for one, other in (pair, pair[::-1])
    )


def has_other_reach(new: Statement, old: Statement) -> bool:
    """Return True if what held for all holds for some, or the other way round."""
    if {new.reach, old.reach} != {"all", "some"}:
        return False
    if not is_same_topic(new, old):
        return _is_same_beside(new, old)
    if new.amounts != old.amounts:
        return False
    return len({new.frame.verb, old.frame.verb} - _REACHING) <= 1


def _is_same_beside(new: Statement, old: Statement) -> bool:
    """Return True if the same is said of others: "everyone may export" of "admins may export"."""
    if new.frame.verb != old.frame.verb:
        return False
    beside, were_beside = new.nouns - new.frame.topic, old.nouns - old.frame.topic
    pairs = [(beside, old.nouns), (new.nouns, were_beside), (beside, were_beside)]
    return any(one and one == other for one, other in pairs)


def renames(new: Statement, old: Statement) -> bool:
    """Return True if the same thing has another name."""
    topic = old.frame.topic
    is_naming = old.frame.verb == new.frame.verb == "name" and bool(topic)
    return is_naming and topic <= new.words and bool(new.words - old.words) and new.is_change


def only_measures(new: Statement, old: Statement) -> bool:
    """Return True if it reports how far something is that the older statement sets a bound to."""
    is_demand = new.is_bound or new.is_change or new.frame.is_demand
    return bool(old.is_bound and new.amounts) and not is_demand


def is_same_measure(new: Statement, old: Statement) -> bool:
    """Return True if two statements measure one thing, whatever the verbs."""
    if not is_one_measure(new, old):
        return False
    ours, theirs = new.nouns - old.known, old.nouns - new.known
    shared, most = new.nouns & old.nouns, max(len(new.nouns), len(old.nouns))
    is_alike = bool(shared) and not (ours and theirs) and 2 * len(shared) >= most
    f, g = new.frame, old.frame
    return is_alike or (bool(f.topic) and f.topic == g.topic and f.verb == g.verb == "be")


def is_one_measure(new: Statement, old: Statement) -> bool:
    """Return True unless verbs or topics say that two statements measure different things."""
    if not are_measured_alike(new.frame.verb, old.frame.verb):
        return False
    ours, theirs = new.nouns - old.known, old.nouns - new.known
    extra = (new.frame.topic & ours) | (old.frame.topic & theirs)
    return new.is_change or not extra - _ATTRIBUTES


def are_measured_alike(verb: str, was: str) -> bool:
    """Return True if two verbs may measure one thing: "is kept for" and "is deleted after"."""
    return verb == was or {verb, was} <= _LASTING or bool({verb, was} & (_GENERIC | {"have"}))
