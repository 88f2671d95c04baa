"""The patterns of instructions to a model, by class of suspicion, for folded text.

Every pattern matches both an order and what directs it at a model: its instructions, its reader, or
harm. A command alone, such as `curl … | sh`, is not enough, as guides are full of them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from observer.core.patterns import lazy_pattern


class InjectionPattern(NamedTuple):
    """A pattern; whatever it matches contains one of the `cues`, if there are any."""

    cues: tuple[str, ...]
    pattern: re.Pattern[str]


_ANY = r"(?:\w+[ ,]+){0,5}?"
_OLD = r"(?:previous|prior|above|earlier|preceding|existing|original|system|your)"
_RULES = r"(?:instructions?|prompts?|rules|guidelines|directives|directions|orders|constraints)"
_SECRETS = (
    r"(?:secrets?|credentials|passwords?|api[ _-]?keys?|access tokens?|ssh keys?|private keys?"
    r"|environment variables|env vars|\.env\b|~/\.ssh|id_rsa|\.aws/credentials)"
)
_PERSON = r"(?:the )?(?:user|human|person|developer|owner|anyone|anybody)\b"
_THIS = r"(?:this|it|that|any of this|these)"
_NOT = r"(?:do not|don't|never|must not|should not)"
_FREED = (
    r"(?:dan\b|jailbroken|unrestricted|unfiltered|developer mode|god mode|admin(?:istrator)? mode"
    r"|bound by|restricted by)"
)
_KIND = r"(?:ai|llm|coding|language|autonomous|automated)"
_READER = (
    rf"(?:(?:{_KIND}[ -])*(?:assistants?|agents?|models?)|ais?|llms?|copilots?|claude(?: code)?"
    r"|cursor|chatgpt|gpt-?\d?)"
)
_MODEL = rf"(?:you|an? {_READER}|any {_READER})"
_DO = r"(?:run|execute|download|install|delete|send|call|open|fetch|curl|ignore|follow)"
_WHERE = (
    r"(?:https?:/|[\w.+-]{1,60}@[\w-]{1,60}\.|the (?:url|server|address|webhook)"
    r"|an? (?:external|remote))"
)
_OUT = r"(?:https?:/|[\w.+-]{1,60}@[\w-]{1,60}\.|a (?:gist|webhook|pastebin)|an? external|the url)"
_FETCH_RUN = (
    r"(?:(?:curl|wget|iwr|irm)\b[^\n]{0,120}\| ?(?:sudo )?(?:ba|z|da)?sh\b"
    r"|(?:curl|wget|irm|iwr)\b[^\n]{0,120}\| ?(?:iex|python3?)\b|base64 (?:-d|--decode)"
    r"|(?:ba)?sh <\(curl)"
)
_HARM = (
    rf"(?:{_FETCH_RUN}|rm -rf|~/\.ssh|id_rsa|cat \S{{0,40}}\.env\b|--no-verify"
    rf"|push (?:-f\b|--force)|without (?:asking|telling|confirm)|ignore\b|disregard\b"
    rf"|{_NOT} (?:tell|mention|inform)\b|exfiltrat"
    r"|disable (?:the |all )?(?:sandbox|safety|security|permission)"
    r"|(?:send|post|upload)\b[^.\n]{0,80}https?:/|curl (?:-\S+ )*https?:/|chmod 777)"
)
_TO = r"(?:(?!\b(?:never|not|don't|no|nor)\b)[^\n]){0,120}?"
"""Words between the reader and the harm, without a negation: forbidding it is not an order."""
_AT_ONCE = (
    r"(?:before (?:you )?(?:continu|proceed|answer|respond|reply|do(?:ing)? anything|anything else)"
    r"|immediately|silently|at once|right away|without (?:asking|confirmation|telling|hesitation)"
    r"|your next (?:action|step|command|tool call)|to comply|in order to continue)"
)

OTHER_LANGUAGES = (
    (
        r"\b(?:ignorier\w*|missacht\w*|vergiss|vergessen sie|verwirf)\b[^.\n]{0,30}"
        r"\b(?:deine |ihre |vorherig|bisherig|vorig|obig|fruher|früher"
        r"|vorangehend|all)\w*[^.\n]{0,30}"
        r"\b(?:anweisung|instruktion|befehl|regel|vorgabe)"
    ),
    (
        r"\b(?:ignor|oubli|néglig)\w{1,4} [^.\n]{0,30}\b(?:instructions|consignes|règles"
        r"|directives)[^.\n]{0,20}(?:précédent|antérieur|ci-dessus|initial)"
    ),
    (
        r"\b(?:ignor|olvid|descart|haz caso omiso)\w* [^.\n]{0,30}"
        r"\b(?:instrucciones|órdenes|reglas|indicaciones)[^.\n]{0,20}(?:anterior|previa|de arriba)"
    ),
    (
        r"\b(?:ignor|esqueç|desconsider)\w+ [^.\n]{0,30}\b(?:instruções|ordens|regras)[^.\n]{0,20}"
        r"(?:anterior|prévia|acima)"
    ),
    (
        r"\b(?:ignor|dimentic|scord)\w+ [^.\n]{0,30}\b(?:istruzioni|regole|ordini|direttive)"
        r"[^.\n]{0,20}(?:precedent|sopra|inizial)"
    ),
    (
        r"\b(?:negeer|vergeet)\b[^.\n]{0,30}\b(?:vorige|eerdere|bovenstaande"
        r"|voorgaande)[^.\n]{0,20}"
        r"(?:instructies|opdrachten|regels)"
    ),
    (
        r"\b(?:z?ignoruj|zapomnij)\w*[^.\n]{0,30}(?:poprzedni|wcześniejsz|powyższ)\w+[^.\n]{0,20}"
        r"(?:instrukcj|polece|zasad)"
    ),
    (
        r"(?:игнорируй|проигнорируй|забудь|игнорировать|отбрось)[^.\n]{0,30}"
        r"(?:предыдущ|прежн|все|выше)[^.\n]{0,30}(?:инструкц|указани|команд|правил)"
    ),
    (
        r"(?:önceki|yukar\u0131daki)[^.\n]{0,20}(?:talimat|kural)[^.\n]{0,20}"
        r"(?:yok say|unut|görmezden)"
    ),
    (
        r"(?:忽略|无视|忘记|忘掉|不要理会|無視|忽視)[^。\n]{0,12}(?:之前|以前|前面|以上|上述|先前|此前|所有)"
        r"[^。\n]{0,8}(?:指令|指示|说明|提示|规则|命令|規則|說明)"
    ),
    (
        r"(?:以前|これまで|上記|前|先ほど|すべて|全て)[^。\n]{0,10}(?:指示|命令|ルール|指令)[^。\n]{0,6}"
        r"(?:無視|忘れ|破棄)"
    ),
    r"(?:이전|앞의|위의|기존|모든)[^.\n]{0,10}(?:지시|명령|지침|규칙)[^.\n]{0,8}(?:무시|잊)",
    r"(?:تجاهل|انس)[^.\n]{0,14}(?:التعليمات|الأوامر|التوجيهات)[^.\n]{0,15}السابقة",
    r"(?:पिछले|पहले)[^.\n]{0,15}निर्देश\S*[^.\n]{0,10}(?:अनदेखा|भूल|नज़रअंदाज)",
)
"""`Ignore the previous instructions` in the most common languages besides English."""

_SIGNS = {"a": "a4@", "e": "e3", "i": "i1!l", "o": "o0", "s": "s5$", "t": "t7"}
_GAP = r"[\W_]{0,4}"


def _loose(words: str) -> str:
    """Return a pattern of words whose letters may be separated, or written as digits (leet)."""
    letters = ([f"[{_SIGNS.get(letter, letter)}]" for letter in word] for word in words.split())
    return "(?:" + "|".join(map(r"[\W_]{0,3}".join, letters)) + ")"


DISGUISED = (
    rf"(?<![^\W_]){_loose('ignore disregard forget override')}{_GAP}"
    rf"(?:{_loose('all any the your of my every')}{_GAP}){{0,4}}"
    rf"{_loose('previous prior above earlier preceding existing original')}{_GAP}"
    rf"(?:{_loose('system safety')}{_GAP})?{_loose('instruction')}"
)
"""The most common order with separators between its letters or words, or in leet."""

_FOREIGN = (
    "ignor|missacht|vergiss|vergessen|verwirf|oubli|néglig|olvid|descart|caso omiso|esqueç"
    "|desconsider|dimentic|scord|negeer|vergeet|zapomnij|забудь|отбрось|игнор|talimat|kural|忽略|无视"
    "|忘|不要理会|無視|忽視|破棄|무시|잊|تجاهل|انس|निर्देश"
)


def _form(cues: str, *parts: str) -> InjectionPattern:
    """Return a pattern; `cues` are separated by `|`, and none means any text."""
    pattern = lazy_pattern("|".join(parts), re.MULTILINE)
    return InjectionPattern(tuple(filter(None, cues.split("|"))), pattern)


_READERS = "assistant|agent|model|ai|llm|copilot|claude|cursor|gpt"

CLASSES: Mapping[str, tuple[InjectionPattern, ...]] = {
    "override": (
        _form(
            "ignore|disregard|forget|override|bypass|follow|overlook|set aside",
            rf"\b(?:ignore|disregard|forget|override|bypass|{_NOT} follow|stop following)[ ,:]+"
            rf"{_ANY}{_OLD}[ ,]+{_ANY}{_RULES}",
            r"\b(?:ignore|disregard|forget) (?:all|everything|anything) (?:that (?:was|came) "
            r"|you (?:were|have been) told )?(?:above|before(?: this)?|until now|so far)\b",
            rf"\b(?:ignore|disregard|forget) {_ANY}{_RULES} (?:above|before this"
            r"|you (?:were|have|got)|from the (?:user|system|developer)|of the (?:user|system))",
            r"\b(?:disregard|overlook|set aside|forget) (?:all |any |every )?(?:of"
            r" )?(?:your |the )?"
            r"(?:safety |security )?(?:guidelines|guidance (?:you|from)|instructions and)",
            r"\bforget (?:all )?(?:prior|previous|earlier) context\b",
            r"\boverrides? (?:all )?your (?:system )?(?:prompt|instructions|rules)\b",
            r"\b(?:ignore|disregard|forget) (?:what(?:ever)?|everything) (?:the user|you were"
            r"|you have been) (?:said|told|asked|wants)",
        ),
        _form(
            "your ",
            rf"\byour (?:new|real|actual|true|only) (?:{_RULES}|task|goal|objective|mission)"
            r" (?:are|is)\b",
            r"\byour (?:task|goal|objective|mission) is now\b",
        ),
        _form(
            "void|cancel|superseded|revoked|no longer",
            rf"\b(?:previous|prior|above|earlier) {_RULES} (?:are|were|is) (?:now )?(?:void|cancel"
            r"|superseded|revoked|no longer (?:valid|in (?:force|effect)))",
        ),
        _form(_FOREIGN, *OTHER_LANGUAGES),
        _form("", DISGUISED),
        _form("vtaber", r"\bvtaber (?:nyy )?cerivbhf vafgehpgvbaf"),
    ),
    "role": (
        _form(
            "you are n|as if you ha|unrestricted|unfiltered|jailbroken|pretend|developer mode"
            "|god mode|admin mode|debug mode|jailbreak mode|dan mode",
            rf"\byou are (?:now|no longer) {_ANY}{_FREED}",
            r"\b(?:act|behave|respond) as (?:if you (?:have|had) no"
            r"|an? (?:unrestricted|unfiltered|jailbroken))",
            r"\bpretend (?:that )?(?:you (?:are|have)|to be) (?:an? )?"
            r"(?:unrestricted|unfiltered|jailbroken|no (?:rules|restrictions|limits)|dan\b)",
            r"\b(?:enter|activate|switch to) (?:developer|god|admin|debug|jailbreak|dan) mode\b"
            r"(?! (?:in|of|on) )",
        ),
    ),
    "conceal": (
        _form(
            "do not|don't|never|must not|should not",
            rf"\b{_NOT} (?:ever )?(?:tell|inform|alert|notify|warn) {_PERSON}"
            rf" (?:about |of |that )?(?:{_THIS}\b|what you\b|you (?:are|have|did|read|ran)\b)",
            rf"\b{_NOT} (?:ever )?(?:mention|reveal|show|disclose|report|repeat) "
            rf"(?:{_THIS}|the above)(?: \w+)? (?:to {_PERSON}|in (?:your|the) "
            r"(?:reply|response|summary|answer|final|chat|commit))",
            r"\b(?:don't|do not|never) let the (?:user|human|developer) (?:know|notice|find out)",
        ),
        _form(
            "silently|secretly|quietly|hide |conceal|keep ",
            r"\b(?:silently|secretly|quietly)\b[^.\n]{0,80}"
            rf"\bwithout (?:telling|informing|asking|notifying|alerting) {_PERSON}",
            rf"\b(?:hide|conceal|keep) (?:{_THIS}|these actions?) (?:secret |hidden )?"
            rf"from {_PERSON}",
        ),
        _form(
            "must|should",
            r"\bthe (?:user|human|developer) (?:must|should) (?:not|never) (?:know|find out"
            r"|be told)(?: (?:about|of))? (?:this|it|that|these)",
        ),
    ),
    "exfiltrate": (
        _form(
            "secret|credential|password|api key|api_key|api-key|apikey|access token|ssh key"
            "|private key|environment var|env var|.env|id_rsa|.ssh",
            r"\b(?:send|post|upload|exfiltrate|forward|leak|transmit|email)\b[^.\n]{0,60}?"
            rf"{_SECRETS}[^.\n]{{0,60}}?\b(?:to|at|via) {_WHERE}",
            r"\b(?:read|cat|print|collect|gather|copy|encode|include|append)\b[^.\n]{0,60}?"
            rf"{_SECRETS}[^\n]{{0,60}}?\b(?:send|post|upload|put|paste|append|email|leak)\b"
            rf"[^\n]{{0,40}}?{_OUT}",
            r"\b(?:cat|base64) [^\n]{0,60}(?:id_rsa|\.env\b|\.aws/credentials)[^\n]{0,60}\| ?"
            r"(?:curl|nc|wget)\b",
        ),
        _form(
            "system |hidden |initial |secret ",
            rf"\b(?:reveal|print|output|repeat|disclose|(?:reply|respond) with)"
            rf" {_ANY}(?:your|the) (?:\w+ )?"
            r"(?:system|hidden|initial|secret) (?:prompt|instructions?)",
        ),
        _form(
            "](http",
            r"!\[[^\]\n]{0,80}\]\(https?:/[^)\n]{0,120}[?&](?:\w*data|\w*secret|\w*key|token|q|d|c"
            r"|leak|env|prompt|history)=[\[{<$]",
        ),
    ),
    "obey": (
        _form(
            "this",
            rf"\b(?:when(?:ever)?|if|once|as soon as) {_MODEL} "
            r"(?:reads?|sees?|recalls?|retrieves?|loads?|encounters?|process(?:es)?) this"
            r"(?: (?:note|memory|file|message|text|page|line|document|comment|entry))?,? "
            r"(?:you (?:must|should|will) |(?:immediately|always|then|first|silently) )*"
            rf"{_DO}\b",
            rf"\b(?:any|every|all) {_READER} (?:reading|processing|parsing|summari[sz]ing|reviewing"
            r"|that (?:reads?|process(?:es)?)) this(?: (?:text|page|file|message|note|document"
            r"|comment|repository|issue|readme))?[ ,]+(?:must|should|shall|ha(?:s|ve) to"
            r"|(?:is|are) required to|needs? to)\b",
        ),
        _form("if you are a", rf"\bif you are an? {_READER}\b{_TO}{_HARM}"),
    ),
    "order": (
        _form(
            "hidden |secret |summari",
            rf"\b(?:hidden|secret) (?:instructions?|message|note) (?:for|to) {_READER}\b",
            r"\bwhen(?:ever)? (?:you are )?summari[sz](?:e|ing) this(?: \w+)?,? (?:always |also )?"
            r"(?:tell|say|add|include|recommend|claim|insert|link)\b",
        ),
        _form(
            _READERS,
            r"\b(?:attention|important|urgent|notice|instructions?|message|note|directive|warning"
            r"|reminder|task)[ :,!-]{1,4}(?:(?:to|for) )?(?:the |all |any |every |future )?"
            rf"{_READER}\b{_TO}{_HARM}",
            rf"\b{_READER}[ ,:]+(?:(?:must|should|shall|will|please|now|immediately|always|first"
            rf"|to|you|need) ){{1,4}}{_TO}{_HARM}",
        ),
        _form(
            "from now on",
            rf"\bfrom now on,? (?:you|{_READER}) (?:must |will |shall |should |are to )?"
            rf"(?:always |never )?[^.\n]{{0,80}}(?:{_HARM}|obey\b|auto-?approve"
            r"|trust (?:all|any|every)|skip (?:all |the )?(?:review|confirmation|permission))",
        ),
        _form(
            "curl|wget|iwr|irm|base64",
            rf"{_AT_ONCE}[^.\n]{{0,80}}{_FETCH_RUN}",
            rf"{_FETCH_RUN}[^\n]{{0,60}}{_AT_ONCE}",
            rf"{_FETCH_RUN}[^\n]{{0,60}}{_NOT} (?:mention|tell|show)\b",
        ),
        _form(
            "obey|comply|reprogrammed",
            r"\bobey (?:only|no ?(?:one|body) but) me\b|\byou have been reprogrammed\b",
            r"\byou (?:must|shall|have to|are required to) (?:now )?(?:obey|comply with) (?:the "
            r"following|these|this|all|any)",
        ),
        _form(
            "system|developer|admin",
            r"\b(?:system|developer|admin)(?: (?:override|message|note|notice|alert))?"
            r"(?:\]:?|:) ?(?:you (?:must|are now|will|shall)|ignore|disregard|override"
            r"|new instructions|execute)\b",
        ),
        _form(
            "approved|authori|consented|confirmed",
            r"\b(?:the user|the owner|your operator|anthropic|openai) (?:has |have )?"
            r"(?:already |pre-?)?(?:approved|authori[sz]ed|consented to|confirmed)\b[^.\n]{0,80}"
            rf"{_HARM}",
        ),
    ),
    "call": (
        _form(
            "function_|tool_|invoke|antml| to=",
            r"</?(?:antml:)?(?:function_calls|function_results|tool_calls?|tool_use|tool_result"
            r"|tool_response|invoke)(?: [^>\n]{0,80})?>|</?antml:\w+",
            r"\b(?:assistant|analysis|commentary) to=(?:functions|tool|bash|shell)",
            r"\[tool_calls?\]",
        ),
        _form(
            'tool_name|recipient_name|"tool|"name|"function',
            r"(?:\b(?:tool_name|recipient_name)\b\W{0,8}|\"(?:tool|name|function)\\?\" ?: ?\\?\")"
            r"(?:bash|shell|terminal|exec\w*|run_\w+|functions\.\w+|computer)\b"
            rf"[^\n]{{0,200}}{_HARM}",
        ),
    ),
    "encoded": (
        _form(
            "decode|decrypt|deobfuscate|unhex|rot13",
            r"\b(?:base64[ -])?(?:decode|decrypt|deobfuscate|unhex|rot13)\b[^\n]{0,60}?"
            r"\b(?:and|then)\b[^\n]{0,20}?\b(?:follow|obey|execute|carry out|comply with|do) "
            r"(?:it\b|them\b|its\b|the (?:result|instructions?|decoded|orders?|text)|what it says)",
        ),
    ),
    "markup": (
        _form(
            "<|[/inst]",
            r"<system> ?(?:you|ignore|always|never|from now)\b",
            r"<\|(?:im_start|im_end|system|endoftext|start_header_id|eot_id)\|>|\[/inst\]|<</?sys>>"
            r"|</?(?:system-reminder|system_prompt|system_instructions?|user-prompt-submit-hook"
            r"|local-command-stdout|observer)>",
        ),
        _form(
            "system |new ",
            r"^#{1,6} ?(?:system|new) (?:prompt|instructions?|message):? *$",
            r"^(?:begin|end) system (?:prompt|message|instructions?)\b",
        ),
    ),
}
"""Class of suspicion -> its patterns, for folded text."""
