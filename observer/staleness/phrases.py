"""The phrases by which decisions speak of each other, and the words that say nothing of a subject.

English only: statements in other languages are compared by their numbers and shared words.
"""

from __future__ import annotations

import re

from observer.core.patterns import lazy_pattern
from observer.core.text import word_set

EMPTY = word_set(
    """
    a an the of for to in on with and or is are was were be been by as at it its we our us you your
    i my me they them their this that these those than then rather only any some such more most all
    every each always never not no don't doesn't isn't aren't won't mustn't can't cannot without
    now from let let's lets please should must may might can could shall will would do does did has
    have had use uses used using make makes made making set sets setting put puts putting keep
    keeps kept keeping get gets go goes going went done take takes took taking need needs needed
    want wants decide decided decision agree agreed rule rules policy instead longer anymore again
    also too well just really so if when where while which what who how there here still yet ok
    okay fine allowed enough change changed changes changing switch switched switching move moved
    moving replace replaced replaces replacing drop dropped dropping stop stopped stopping bump
    raise lower increase decrease reduce widen add added adding forget scrap cancel support
    supports supported migrate migrated migrates migrating through over via within against next
    don doesn isn aren won mustn shouldn couldn wouldn hasn haven didn anything something nothing
    everything before after first last until but because since therefore currently later picked
    chose chosen pick picking prefer mind way thing things best both either neither one's s t re ve
    ll d into onto off out up down about same other others settle settled settling scratch above
    below under exceed exceeds exceeding least upwards onwards once twice single larger smaller
    longer shorter higher bigger fewer during outside back everyone everybody somebody someone
    rather rid wide deep high long tall large
    """
)
IRREGULAR = {
    "built": "build", "written": "write", "wrote": "write", "held": "hold", "shown": "show",
    "sent": "send", "drawn": "draw", "ran": "run", "stored": "stor", "said": "say",
    "told": "tell", "retaken": "retak", "hidden": "hide", "given": "give", "data": "data",
    "indices": "index", "queries": "query",
}  # fmt: skip
ENDINGS = (
    "ings", "ing", "ables", "able", "ment", "ments", "ated", "ions", "ion", "ies", "ied", "iest",
    "ers", "er", "es", "ed", "ly", "s", "e", "y",
)  # fmt: skip
NUMBERS = {
    "zero": "0", "one": "1", "two": "2", "three": "3", "four": "4", "five": "5", "six": "6",
    "seven": "7", "eight": "8", "nine": "9", "ten": "10", "eleven": "11", "twelve": "12",
    "single": "1", "fifteen": "15", "twenty": "20", "thirty": "30", "sixty": "60", "hundred": "100",
}  # fmt: skip
UNITS = {
    unit: measure
    for measure, units in {
        "time": "ms millisecond s sec second min minute h hour day night week month year daily "
        "hourly morning noon midnight",
        "day": "monday tuesday wednesday thursday friday saturday sunday",
        "size": "b kb mb gb tb kib mib gib byte",
        "length": "px rem em pt",
        "share": "% percent",
    }.items()
    for unit in units.split()
}

WORD = lazy_pattern(r"[a-z0-9][a-z0-9_+.#/-]*[a-z0-9+#]|[a-z0-9]")
CLAUSE = lazy_pattern(
    r"""\s*(?:[;(\n]|\s[-\u2013\u2014]\s|(?<=[a-z0-9])[.!?](?:\s|$)
    |,?\s(?:because|since|so\ that|in\ order\ to)\s|:\s(?=\S+\s\S+\s\S+))""",
    re.IGNORECASE | re.VERBOSE,
)
"""Where a first clause ends."""
COMMA = lazy_pattern(r",\s(?!(?:too|as well)\b|(?:and|or)\b|[\w./+-]+(?:,|\s(?:and|or)\s))")
"""A comma that parts clauses, not the names of a list."""
AMOUNT = lazy_pattern(
    rf"""(?<![\w.-])(\d+(?:[.:_,x]\d+)*|{"|".join(NUMBERS)})
    (?:\s?(ms|min|sec|[smh]|[kmgt]i?b|px|r?em|pt|%)(?![a-z])|\s([a-z]+))?""",
    re.IGNORECASE | re.VERBOSE,
)

REPLACED = lazy_pattern(
    r"""\b(?:instead\ of|rather\ than|in\ place\ of
    |rather\ (?:[\w-]+\ ){1,8}?than|(?:get|getting|got)\ rid\ of
    |do(?:ing|ne)?\ away\ with|no\ longer|no\ more|replac(?:e|es|ed|ing)
    |supersed(?:e|es|ed|ing)|away\ from|obsoletes?|deprecat\w+
    |tak(?:e|es|en|ing)\ over\ (?:[\w-]+\ ){1,8}?from
    |(?:drop|stop|remove|scrap|scratch|forget(?:\ about)?|ditch|retire|abandon
    |cancel|revoke|undo)(?:p?ed|p?ing|s|d)?
    |(?:do\ not|don't|doesn't|not?)(?=(?:[^.;,]|\.\w){0,60}\b(?:any\ ?more|any\ longer)\b))\s+
    ((?:[^.;,\n]|\.(?=\w)|,(?=\s\w+\sand\s)){1,80})""",
    re.IGNORECASE | re.VERBOSE,
)
"""What is said to be over, in the group."""
LEAVING = lazy_pattern(
    r"""(?:\A|[;,.]\s)((?:(?!(?:is|are)\b)[^\s;,:]{1,40}\ ){1,5}?)
    (?:(?:is|are|gets?|has\ been|have\ been|will\ be|was|were)\ (?:now\ )?
    (?:removed|dropped|deleted|cut\ from|struck|gone|out\b(?!\ of)|history|dead|retired
    |scrapped|abandoned|withdrawn|obsolete|no\ more|taken\ out|over(?=\W*(?:\Z|[,;.]))|going\ away
    |no\ longer\ (?:among|part\ of|in|one\ of|supported|offered|available))
    |disappears?|vanish(?:es)?|goes?\ away|leaves?\ the)\b
    |\b(?:take|takes|taking|throw|kick|leave|cut)\ ((?:[\w.+-]+\ ){1,5}?)out\b
    """,
    re.IGNORECASE | re.VERBOSE,
)
"""What is said to be gone, in one of the groups."""
DENIES = lazy_pattern(
    r"\b(?:never|no|not|nobody|none|nothing|nowhere|cannot|neither|avoid|stop|\w+n't)(?![\w-])",
    re.IGNORECASE,
)
BOUNDS = lazy_pattern(
    r"""\b(?:must|may|should|shall|can|cannot|needs?|at\ (?:most|least)
    |(?:less|more|fewer|larger|smaller
    |longer|shorter|higher|lower|bigger)\ than|or\ (?:more|less|fewer)|under|below|above|over|within
    |up\ to|max(?:imum)?|min(?:imum)?|limit(?:ed)?|exceeds?|upwards|budget|threshold|cap(?:ped)?
    |if|when|only|always|never|allowed|requires?|required)\b""",
    re.IGNORECASE | re.VERBOSE,
)
"""What sets a bound, or demands."""
SWAPS = lazy_pattern(r"\b(?:instead of|rather than|in place of)\b", re.IGNORECASE)
EXCUSES = lazy_pattern(
    r"""\b(?:exempt\w*|exceptions?|except|excepted|excluded|spared|needn't|need\ not
    |(?:don't|doesn't|do\ not|does\ not)\ (?:have|need)\b|no\ need|not\ (?:need\w*|required)|may|can
    |ok|okay|fine|allowed|permitted|optional|unless)\b""",
    re.IGNORECASE | re.VERBOSE,
)
"""What a statement says that lets something off."""
EXEMPTED = lazy_pattern(r"\b(?:exempt\w*|exception\s(?:to|from)|excluded\sfrom)\b", re.IGNORECASE)
END_OF_REPLACED = lazy_pattern(
    r"""\s(?:with|by|for|in\ favou?r\ of|from|and\ (?:use|go|switch)|because|as|any\ ?more
    |any\ longer|now|on\ the)\s|\s(?:any\ ?more|any\ longer)$""",
    re.IGNORECASE | re.VERBOSE,
)
CHANGES = lazy_pattern(
    r"""\b(?:instead|from\ now\ on|no\ longer|any\ ?more|any\ longer|as\ of\ (?:now|today)
    |going\ forward|now|henceforth|switch(?:ed|es|ing)?\ (?:\w+\ ){0,5}?(?:to|over)
    |mov(?:e|es|ed|ing)\ (?:\w+\ ){0,6}?to|migrat\w+\ (?:\w+\ ){0,4}?to
    |chang(?:e|ed|es|ing)\ (?:\w+\ ){0,8}?to|go\ back\ to|back\ to|replac\w+|let's\ go\ with
    |settl(?:e|ed|ing)\ on|decid(?:e|ed|ing)\ on|rather|(?:go|going|went)\ (?:back\ )?with
    |went\ back\ to|scratch\ that|hand\w*\ (?:\w+\ ){0,5}over
    |tak\w+\ over|renam\w+|(?:up|down)grad\w+\ (?:\w+\ ){0,5}?to|postpon\w+|slips?\ to
    |(?:rais|lower|bump)ed\ (?:\w+\ ){0,5}?(?:to|it)|actually|on\ second\ thoughts?
    |changed\ my\ mind|correction|not\ [^.;,]{1,40}\ but
    |after\ all)\b
    |^(?:let's\ |please\ |we\ (?:now\ )?)?
     (?:make|set|bump|raise|lower|increase|decrease|reduce|widen|shorten|extend)\ """,
    re.IGNORECASE | re.VERBOSE,
)
"""What a statement says that is a change."""
EXTENDS = lazy_pattern(
    r"\b(?:also|as well|additionally|in addition|besides)\b|\btoo\b(?! \w)|^(?:let's )?add\b",
    re.IGNORECASE,
)
EXCEPTS = lazy_pattern(
    r"\b(?:except(?:ions?)?|unless|other than|apart from|exempt(?:ed|s)?)\b", re.IGNORECASE
)
EXEMPTS = lazy_pattern(
    r"""\b(?:but\ not\ (?:in|for|on)|only\ (?:for|in|on|when)|does(?:n't|\ not)\ apply
    |everywhere\ else|(?:all|the|for)\ others?|as\ before|otherwise(?!\W*\Z))\b""",
    re.IGNORECASE | re.VERBOSE,
)
ALLOWS = lazy_pattern(
    r"""\b(?:again|may|can|fine|ok|okay|allowed|permitted|enough|optional|without|no|not|don't
    |doesn't|needn't|isn't|aren't|skip)\b""",
    re.IGNORECASE | re.VERBOSE,
)
AGAIN = lazy_pattern(
    r"""\b(?:may|can|ok|okay|fine|allowed|permitted|free|possible)\b[^.;]{0,80}\bagain\b
    |\bagain\b[^.;]{0,40}\b(?:allowed|fine|ok)\b
    |\b(?:forget|scrap|drop(?:ped)?|cancel|revoke|withdraw|lift|ignore)\ (?:about\ )?
     (?:the|that|our|my|this)\ (?:\w+\ )?
     (?:rule|decision|policy|ban|limit|restriction|requirement|freeze)""",
    re.IGNORECASE | re.VERBOSE,
)
"""What was forbidden or demanded is so no more."""
UNIVERSAL = lazy_pattern(
    r"\b(?:always|never|all|every|each|must|need|needs|don't|do not|only|nobody|no one)\b"
    r"|\A\W*no\b",
    re.IGNORECASE,
)
NEGATIVE = lazy_pattern(
    r"""\b(?:never|don't|do\ not|must\ not|mustn't|shouldn't|should\ not|cannot|can't|no\ longer
    |avoid|stop)\b""",
    re.IGNORECASE | re.VERBOSE,
)
ABSOLUTE = lazy_pattern(r"\b(?:always|never|must|must not|mustn't|all|every)\b", re.IGNORECASE)
SCOPE = lazy_pattern(
    r"""(?:^|,\s|\s)(?:for|of|in|on|under|inside|within|during|at)\s
    ((?:the\ |our\ |a\ )?[\w/.-]+(?:\s[\w/.-]+)?)""",
    re.IGNORECASE | re.VERBOSE,
)
LIST = lazy_pattern(
    r"((?:[\w./+-]+,\s){0,9}[\w./+-]+,?\s(?:and|or)\s[\w./+-]+"
    r"|(?<=:\s)(?:[\w./+-]+,\s){1,9}[\w./+-]+)",
    re.IGNORECASE,
)
OPEN_LIST = lazy_pattern(
    r"\b(?:support|accept|cover|allow|include|target|offer)\w*\b", re.IGNORECASE
)
"""Verbs of lists that may grow."""
LEAD = lazy_pattern(
    r"""\A(?:(?:(?:i\ (?:have\ )?)?changed\ my\ mind|on\ (?:second\ thoughts?|reflection)|actually
     |scratch\ that|ok(?:ay)?|and|then|please|(?:can|could|would)\ you)\b[,:;.!]*\s+
    |(?:correction|decision|decided|right|well|hm+|so|yes|no|oh|hey|btw|update|note)[,:;.!]+\s+)+""",
    re.IGNORECASE | re.VERBOSE,
)
"""What is said before anything is said."""
MARKS = lazy_pattern(
    r"""\s*\b(?:from\ now\ on|as\ of\ (?:now|today)|going\ forward|any\ ?more|any\ longer
    |instead(?!\ of)|again|now|only
    |(?:from|starting(?:\ (?:in|with))?|as\ of|beginning)
    \ (?:(?:next\ |the\ next\ )?[\w-]+\ on(?:wards?)?
    |(?:the\ )?next\ \w+|tomorrow|today|january|february|march|april|may|june|july|august|september
    |october|november|december)
    |(?:next|this|last)\ (?:week|month|quarter|year|release|sprint))\b""",
    re.IGNORECASE | re.VERBOSE,
)
"""What says when a choice holds, and nothing of it."""

_PLACING = "with|in|to|as|by|on|at|from|via|through|into"
CHOICES = (
    lazy_pattern(
        r"""(?P<topic>.*?)\b(?:us(?:e|es|ed|ing)|adopt(?:ed)?|choose|chose|pick(?:ed)?|prefer
        |go(?:es)?\ with)\s(?P<value>.+?)(?:\s(?:for|as|to|in|when|on)\s(?P<more>.+))?""",
        re.IGNORECASE | re.DOTALL | re.VERBOSE,
    ),
    lazy_pattern(
        rf"""(?P<topic>.+?)\s(?:is|are|be|was|were)\s(?P<more>)
        (?:(?P<verb>\w*(?:ed|en|t|wn|ld|ung|ade|read|done|run|put|cut))\s)?
        (?:(?:{_PLACING}|under)\s)?(?P<value>.+)""",
        re.IGNORECASE | re.DOTALL | re.VERBOSE,
    ),
    lazy_pattern(
        rf"(?P<topic>.+?)\s(?:{_PLACING}|over)\s(?P<value>.+)(?P<more>)",
        re.IGNORECASE | re.DOTALL,
    ),
)
"""Forms of a choice: of what (`topic` and `more`) which `value`."""


def _order(pattern: str) -> re.Pattern[str]:
    return lazy_pattern(pattern, re.IGNORECASE | re.DOTALL)


ORDERS = (
    (_order(r"(.+?)\s(?:before|ahead of|prior to)\s(.+)"), False),
    (_order(r"(.+?)\sfirst,?\s(?:and then|then|and|after that|afterwards)?,?\s?(.+)"), False),
    (_order(r"(.+?)(?:\sand then|,\s?then)\s(.+)"), False),
    (_order(r"(.+?)\s(?:after|once)\s(.+)"), True),
)
"""Forms of an order of two things, and whether the second one comes first."""

OPPOSITES = (
    ("with", "without"), ("enabled", "disabled"), ("on", "off"), ("enabled", "off"),
    ("on", "disabled"), ("opt-in", "opt-out"),
    ("public", "private"), ("required", "optional"), ("mandatory", "optional"),
    ("compulsory", "optional"), ("required", "voluntary"), ("mandatory", "voluntary"),
    ("allowed", "forbidden"), ("permitted", "forbidden"), ("allowed", "banned"),
    ("manually", "automatically"), ("manual", "automatic"), ("synchronous", "asynchronous"),
    ("synchronously", "asynchronously"), ("sync", "async"), ("visible", "hidden"),
    ("shown", "hidden"), ("show", "hide"), ("local", "remote"), ("locally", "remotely"),
    ("open", "closed"), ("included", "excluded"), ("include", "exclude"), ("eager", "lazy"),
    ("eagerly", "lazily"), ("strict", "lenient"), ("internal", "external"), ("left", "right"),
    ("top", "bottom"), ("ascending", "descending"), ("vertical", "horizontal"), ("first", "last"),
    ("upper", "lower"), ("uppercase", "lowercase"), ("light", "dark"), ("mutable", "immutable"),
    ("client", "server"), ("serial", "parallel"), ("singular", "plural"),
    ("hard", "soft"), ("push", "pull"), ("inline", "external"), ("free", "paid"),
    ("encrypted", "unencrypted"), ("signed", "unsigned"), ("blocking", "optional"),
    ("collapsed", "expanded"), ("newest", "oldest"),
)  # fmt: skip
"""Words of which one takes the other's place."""
POLES = lazy_pattern(
    rf"(?<![\w-])(?:{'|'.join(sorted({word for pair in OPPOSITES for word in pair}))})(?![\w-])"
)
REACHES = (
    (
        "some",
        lazy_pattern(
            r"\b(?:only|just|solely|exclusively|nothing but|(?:limit|restrict|confin)ed to)\b",
            re.IGNORECASE,
        ),
    ),
    (
        "all",
        lazy_pattern(
            r"\b(?:all|every(?:one|body|thing|where)?|any(?:one)?|whole|entire|across the board)\b",
            re.IGNORECASE,
        ),
    ),
)
"""How far a statement reaches."""
