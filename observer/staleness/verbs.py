"""The verbs that state decisions, in classes of one meaning each.

Frames are read with them. A verb that no class names is a class of its own.
"""

from __future__ import annotations

from collections.abc import Iterator

from observer.core.text import word_set

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
abort accept accrue activate add alert allocate analyse analyze answer appear approve arm ask
attach authenticate avoid back backup ban batch become belong bill block book boot break bring
browse buffer bundle buy cache calculate calibrate cancel cap capture carry charge clamp click
collapse commit communicate compute configure confirm connect consume control convert cool copy
count cover crash crop cross debounce declare decode dedupe deduplicate default delete demote
depend detect dial disable disappear discard divide dose download drain drop edit embed emit
enable enforce enrich enter evaluate exceed exclude expand explain export expose extract fail fall
feed fill filter finish fire fix flag floor flush follow force format freeze gate give group grow
guard hear heat hide identify ignore import index infer ingest inherit initialize inject insert
install invalidate invite invoice invoke isolate join judge know learn leave let limit link lint
listen lock log log-transform loop map mark measure mention merge minify mirror mix monitor mount
mute normalise normalize number open optimize order outsource overwrite own pack package page
parse partition pass pause pay perform permit pin play plot point poll pool prefix preload print
process profile promote prompt provide provision proxy prune purge queue quote rank react receive
recover redirect refer refund register reject reload rely remind render renew reopen reorder
repeat replicate reply request reserve reset resize resolve respawn restart restore retain retake
retry return reuse reveal ring rotate round route sample scale scan scrape seal search see seed
select separate serialize serve shard share shed sign skip sleep slice snapshot sort spawn split
squash stack stage stamp stop stream strip submit subscribe suffix sum survive suspend swallow
swap sync tag take talk target teach throttle throw toggle touch train transcode translate trigger
trim truncate tune type undo unlock unpack upload validate vary version view visit vote wait wake
warm warn watch weigh work wrap zip
"""
NOUNS = word_set(
    """
    alert answer audit backup ban batch bill book boot build bundle cache cap change charge check
    code commit control copy count cover crop cross cut default delay deploy design dial display
    download draw drop edit email end export feature feed filter fire fix flag floor floors force
    format gate group guard hash host import index invoice keep label lead link lint list load
    lock log loop mail map mark mention merge mirror mix move name need notice number offer open
    order package page pin place play pool post prefix print process profile proxy push queue
    record refresh refund release reply report request return review ring roll round route run
    sample scale scan script seal search set shard share shift sign signal slice snapshot sort
    source split stack stage stamp stand start store stream support switch tag target test title
    trace track transfer tune type update upload use version view vote wait watch work wrap
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
