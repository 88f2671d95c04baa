"""The verbs by which decisions are told, in classes of which each says one thing of its object.

Frames are read with them. A verb that no class names is a class of its own.
"""

from __future__ import annotations

from collections.abc import Iterator

from observer.interpret.wording import word_set

PAST = {
    "kept": "keep", "held": "hold", "sent": "send", "built": "build", "written": "write",
    "wrote": "write", "done": "do", "made": "make", "ran": "run", "gone": "go", "went": "go",
    "taken": "take", "took": "take", "drawn": "draw", "drew": "draw", "shown": "show",
    "chosen": "choose", "chose": "choose", "begun": "begin", "began": "begin", "sold": "sell",
    "bought": "buy", "given": "give", "gave": "give", "found": "find", "led": "lead",
    "got": "get", "paid": "pay", "met": "meet", "spoken": "speak",
    "hidden": "hide", "thrown": "throw", "known": "know", "driven": "drive", "broken": "break",
    "stuck": "stick", "hung": "hang", "has": "have", "had": "have", "does": "do", "did": "do",
    "goes": "go", "lives": "live", "lived": "live", "said": "say", "won": "win", "fed": "feed",
    "swept": "sweep", "dealt": "deal", "taught": "teach", "caught": "catch",
}  # fmt: skip
CLASSES = {
    "be": "enable disable activate deactivate turn",
    "use": "use adopt pick choose prefer rely employ settle try decide",
    "change": "change move switch migrate replace bump upgrade downgrade raise lower increase "
    "decrease reduce postpone push delay shift reschedule relocate slip convert widen set adjust "
    "shorten extend cut slow speed revert transition",
    "hold": "store keep live save hold reside host sit stay put place locate persist lie archive "
    "park deposit stand",
    "make": "build write make do create generate draw produce render implement code script "
    "develop author craft prepare compile design define describe express",
    "own": "own sign maintain manage handle review approve triage moderate lead coordinate "
    "supervise organize organise administer oversee facilitate authorize authorise "
    "hand transfer reassign assign",
    "send": "send deliver route forward post dispatch email mail notify report escalate",
    "go": "go",
    "happen": "run happen execute start begin occur schedule launch",
    "release": "release ship deploy publish sunset cut roll retire",
    "name": "name call title term label rename dub christen",
    "read": "read come load fetch pull source",
    "remove": "delete remove purge erase clear empty wipe",
    "check": "check verify validate inspect scan test audit",
    "show": "show display present",
    "last": "last expire end close survive retain",
    "hash": "hash encrypt compress encode obfuscate",
    "refresh": "refresh poll update sync rebuild recompute retrain reload read sample",
    "limit": "limit restrict confine apply cover",
    "serve": "serve answer respond",
    "log": "log record track collect trace",
    "have": "have need get require contain carry offer support accept include allow cover "
    "target list feature consist comprise",
}
"""Base forms by class; a verb of two classes stands in the latter."""
OTHERS = """
abort accept activate add alert allocate analyse analyze appear arm ask attach authenticate avoid
back backup batch become block book boot break bring browse buffer buy cache calculate calibrate
cancel capture carry charge click collapse commit communicate compute configure confirm connect
consume control convert copy count cover crash debounce declare decode deduplicate default delete
depend detect disable disappear discard divide download drain drop edit embed emit enable enforce
enrich enter evaluate exceed exclude expand explain export expose extract fail fall feed fill
filter finish fix flag flush follow force format freeze gate give group grow guard identify ignore
import index infer ingest inherit initialize inject insert install invalidate invite invoke isolate
join judge leave let limit link lint listen lock log loop map mark measure merge monitor
mute normalize normalise number open optimize order outsource overwrite own pack package page
parse partition pass pause pay perform permit pin play point poll prefix preload print process
profile prompt provide provision proxy queue quote rank react receive recover redirect refer
register reject reload rely remind render renew reopen reorder repeat reply replicate request
reserve reset resize resolve respawn restart restore retain retake retry return reuse rotate round
sample scale scan scrape seal search seed select separate serialize serve share shed sign skip
sleep snapshot sort spawn split squash stage stop stream strip submit subscribe suffix sum suspend
swallow sync tag take talk target throttle throw train transcode translate trigger trim truncate
tune type undo unlock unpack upload validate vary version view visit vote wait wake warm warn
watch weigh work wrap zip log-transform survive purge mount ask accrue bill invoice refund ban
mention promote demote hide reveal cap floor clamp answer print mirror pool shard slice
stack stamp touch cross route dedupe bundle minify prune crop cool heat dose mix fire ring dial
"""
NOUNS = word_set(
    """
    test build log cache release map page batch report cut queue number order post mail email sign
    track trace draw cover feature list start end count copy filter format group index link mark
    package prefix tag type version view sample seal stage stream stack pool wrap sort review
    design code script backup import export download upload request search snapshot scale play
    process profile display label title name host update offer support target lead default alert
    control book charge commit drop edit feed fix flag force gate guard cap floor floors shard
    slice stamp route bundle crop mix fire ring dial mirror print answer ban bill invoice refund
    mention pin round scan share split tune vote wait watch work lint merge run use change move
    switch shift delay transfer push roll hash test place store keep need display store stand load
    deploy refresh open source record audit signal check cross notice boot loop lock proxy reply
    return set
    """
)
"""Verbs that are nouns as often: at the beginning of a text they may name what it is about."""
LIGHT = frozenset({"be", "use", "change", "go", "hold", "make", "happen", "have", ""})
"""Classes that say little: what stands beside them says which attribute is meant."""
LISTING = word_set("offer support accept include allow cover target list comprise contain check")
"""Verbs of lists, to which other things may be added."""

_UNCHANGED = word_set("put set cut read run split reset cost shut hit let broadcast")


def _forms(verb: str) -> Iterator[str]:
    """Yield the regular forms of a verb, and some that no verb has."""
    yield verb
    if verb.endswith("y") and verb[-2] not in "aeiou":
        yield from (verb[:-1] + "ies", verb[:-1] + "ied", verb + "ing")
    elif verb.endswith("e"):
        yield from (verb + "s", verb + "d", verb[:-1] + "ing")
    else:
        yield from (verb + "s", verb + "es", verb + "ed", verb + "ing")
        yield from (verb + verb[-1] + "ed", verb + verb[-1] + "ing")


_BASES = {verb: verb for verb in OTHERS.split()} | {
    verb: name for name, verbs in CLASSES.items() for verb in verbs.split()
}
_CLASS_OF = {form: name for verb, name in _BASES.items() for form in _forms(verb)} | {
    form: _BASES[verb] for form, verb in PAST.items() if verb in _BASES
}


def class_of(word: str) -> str | None:
    """Return what a form of a verb says; None for other words."""
    return _CLASS_OF.get(word)


def is_base(word: str) -> bool:
    """Return True for the form of a verb that demands."""
    return word in _BASES


def is_past(word: str) -> bool:
    """Return True for a form of a verb that a passive may have."""
    return word in PAST or (word.endswith("ed") and len(word) > 4) or word in _UNCHANGED


def is_verb_only(word: str) -> bool:
    """Return True for a form of a verb that no noun has."""
    return word in _CLASS_OF and word not in NOUNS and (is_base(word) or is_past(word))


def is_gerund(word: str) -> bool:
    """Return True for the form of a verb that names what is done."""
    return word.endswith("ing") and word in _CLASS_OF
