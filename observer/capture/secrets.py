"""The classes of secrets that show by their own form, and what a random value looks like.

Part of step 4 (redaction): tokens, told by a prefix that their issuer chose. What is told by its
surroundings is in `passages`, by the kind of its file in `keyfiles`, by the name that it is given
in `assignments`.

Source: the issuers' documented prefixes, as atuin, detect-secrets and gitleaks also list them.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Iterator
from typing import NamedTuple

MARKER = re.compile(r"\[redacted:[a-z-]{1,40}\]|\[private\]")
"""What redaction leaves behind; never itself a secret."""


class Span(NamedTuple):
    """A stretch of text that must not be kept, as offsets, and the class of its secret."""

    start: int
    end: int
    name: str


# --- what a secret is not ------------------------------------------------------------------------

_WORDS = frozenset(
    {
        *("change", "changeit", "changeme", "default", "disabled", "enabled", "empty", "false"),
        *("file", "hidden", "nil", "none", "null", "object", "optional", "redacted", "required"),
        *("str", "string", "test", "testing", "text", "true", "undefined", "unknown", "value"),
        *("pass", "passphrase", "passwd", "password", "pwd", "secret", "token", "credentials"),
        *("kennwort", "wachtwoord", "senha", "adgangskode", "jelszo", "parola", "salasana"),
        *("username", "user", "name", "type", "field", "error", "invalid", "missing", "expired"),
    }
)
_STAND_INS = (
    *("changeme", "change_me", "change-me", "placeholder", "example", "redacted", "dummy"),
    *("insert_", "insert-", "replace_", "replace-", "your_", "your-", "your ", "xxxx", "****"),
    *("[private", "${", "{{", "...", "\u2026", "%s", "(?:", "[^", "\\w"),
)
_BEGINNINGS = ("<", "your", "my_pass", "my-pass", "mypass", "my_sec", "my-sec", "my_tok", "my-tok")
_VARIABLE = re.compile(
    r"(.)\1*"  # xxxx, ****
    r"|\$\(.*|\$[\w:]+-?(?:>.*)?|[#@%]?\{.*"  # $(cmd), $X, $x->{y}, {x}, #{x}
    r"|%\(?\w*\)?s?%?",  # %s, %(x)s, %X%
    re.DOTALL,
)


def is_placeholder(value: str) -> bool:
    """Tell whether a value only stands where a secret would: a variable, a dummy, a type."""
    low = MARKER.sub("", value[:256]).strip().lower()
    if len(low) < 2 or low.startswith(_BEGINNINGS) or low.strip("[]()…") in _WORDS:
        return True
    return _VARIABLE.fullmatch(low) is not None or any(map(low.__contains__, _STAND_INS))


_KINDS = bytes.maketrans(
    b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789",
    b"a" * 26 + b"A" * 26 + b"0" * 10,
)
_SEPARATORS = b"-_./+=:~ "


def is_random(value: str, *, at_least: int = 12) -> bool:
    """Tell whether a value looks drawn by a machine: it changes between a, A and 0 all the time.

    Names and sentences change in a tenth of their places, random base 16 to 64 in a third and more.
    """
    kinds = value[:64].encode("ascii", "replace").translate(_KINDS, _SEPARATORS)
    if len(kinds) < at_least or b"0" not in kinds or not (b"a" in kinds or b"A" in kinds):
        return False
    changes: int = sum(map(operator.ne, kinds, kinds[1:]))
    return changes * 4 >= len(kinds) and not _is_name(value[:64])


_HUMP = re.compile(r"[A-Z]?[a-z]+")
_WORD_LENGTH = 4
"""Mean length of the words in names; in what is drawn in both cases they are about 2 letters."""


def _is_name(value: str) -> bool:
    """Return True for words joined as in names: `testEd25519PrivateKey`."""
    if value.islower() or value.isupper():
        return False
    humps = _HUMP.findall(value)
    letters = sum(map(len, humps))
    return letters * 2 >= len(value) and letters >= _WORD_LENGTH * len(humps)


# --- tokens: told by a prefix --------------------------------------------------------------------


class Token(NamedTuple):
    """A class of token; one of `anchors` stands in each, inside a run of 20 word characters."""

    name: str
    anchors: tuple[str, ...]
    pattern: re.Pattern[str]


def _token(name: str, anchors: str, pattern: str) -> Token:
    return Token(name, tuple(anchors.split()), re.compile(pattern))


_GITLAB = ("pat", "ptt", "dt", "rt", "rtr", "cbt", "soat", "ft", "oas", "agent", "imt", "ffct")

TOKENS = (
    _token(
        "aws-access-key",
        "AKIA ASIA ABIA ACCA",
        r"A(?:KI|SI|BI|CC)A(?![A-Z0-9]{0,13}AAA)[A-Z0-9]{16}",
    ),
    _token("github-token", "ghp_ gho_ ghu_ ghs_ ghr_", r"gh[pousr]_[A-Za-z0-9_]{36,}"),
    _token("github-token", "github_pat_", r"github_pat_[A-Za-z0-9_]{22,}"),
    _token(
        "gitlab-token",
        " ".join(f"gl{kind}-" for kind in _GITLAB),
        rf"gl(?:{'|'.join(_GITLAB)})-[A-Za-z0-9_.-]{{20,}}",
    ),
    _token("slack-token", "xox", r"xox[abcdeoprs]-[A-Za-z0-9-]{15,}"),
    _token("slack-token", "xapp-", r"xapp-[A-Za-z0-9-]{20,}"),
    _token("stripe-key", "k_live_ k_test_", r"[srp]k_(?:live|test)_[A-Za-z0-9]{12,}"),
    _token("stripe-key", "whsec_", r"whsec_[A-Za-z0-9+/=]{20,}"),
    _token("anthropic-key", "sk-ant-", r"sk-ant-[A-Za-z0-9_-]{20,}"),
    _token("openai-key", "sk-", r"sk-(?:proj|svcacct|admin|None)-[A-Za-z0-9_-]{20,}"),
    _token("openai-key", "T3BlbkFJ", r"sk-[A-Za-z0-9_-]{4,200}?T3BlbkFJ[A-Za-z0-9_-]{10,}"),
    _token("api-key", "sk-", r"(?<![A-Za-z])sk-(?:[a-z0-9]{2,8}-){0,2}[A-Za-z0-9]{24,}"),
    _token("google-key", "AIza", r"AIza[A-Za-z0-9_-]{35}"),
    _token("google-key", "GOCSPX-", r"GOCSPX-[A-Za-z0-9_-]{20,}"),
    _token("google-token", "ya29.", r"ya29\.[A-Za-z0-9_-]{30,}"),
    _token("npm-token", "npm_", r"npm_[A-Za-z0-9]{36,}"),
    _token("pypi-token", "pypi-AgE", r"pypi-AgE[A-Za-z0-9_-]{40,}"),
    _token("sendgrid-key", "SG.", r"SG\.[A-Za-z0-9_-]{16,64}\.[A-Za-z0-9_-]{16,}"),
    _token("twilio-key", "SK AC", r"(?:SK|AC)[0-9a-f]{32}"),
    Token(
        "telegram-token",
        (" AA",),  # the colon before it ends a run
        re.compile(r"(?<=[0-9]{8}:)AA[A-Za-z0-9_-]{32,}"),
    ),
    _token("huggingface-token", "hf_", r"hf_[A-Za-z0-9]{30,}"),
    _token("digitalocean-token", "_v1_", r"do[opr]_v1_[a-f0-9]{64}"),
    _token("docker-token", "dckr_", r"dckr_[op]at_[A-Za-z0-9_-]{24,}"),
    _token("vault-token", "hvs. hvb. hvr.", r"hv[sbr]\.(?=\w*\d)[A-Za-z0-9_-]{24,}"),
    _token("terraform-token", ".atlasv1.", r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{60,}"),
    _token("pulumi-token", "pul-", r"pul-[0-9a-f]{40}"),
    _token("doppler-token", "dp.", r"dp\.(?:[psc]t|sa|scim|audit)\.[A-Za-z0-9_.-]{40,}"),
    _token("databricks-token", "dapi", r"dapi[0-9a-f]{32}(?:-\d)?"),
    _token("shopify-token", "shp", r"shp(?:at|ca|pa|ss)_[0-9A-Fa-f]{32}"),
    _token("square-token", "sq0", r"sq0[a-z]{3}-[A-Za-z0-9_-]{22,}"),
    _token("linear-key", "lin_api_", r"lin_api_[A-Za-z0-9]{40}"),
    _token("notion-token", "ntn_ secret_", r"(?:ntn_[A-Za-z0-9]{40,}|secret_[A-Za-z0-9]{43}\b)"),
    _token("figma-token", "figd_", r"figd_[A-Za-z0-9_-]{40,}"),
    _token("postman-key", "PMAK-", r"PMAK-[0-9a-f]{24}-[0-9a-f]{34}"),
    _token("atlassian-token", "ATATT3 ATCTT3", r"AT[AC]TT3[A-Za-z0-9_=-]{60,}"),
    _token("planetscale-token", "pscale_", r"pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_.=-]{32,}"),
    _token(
        "supabase-token", "sbp_ sb_secret_", r"(?:sbp_[0-9a-f]{40}|sb_secret_[\w-]{22}_[\w-]{8}\b)"
    ),
    _token(
        "grafana-token",
        "glsa_ glc_",
        r"gl(?:sa_[A-Za-z0-9]{32}_[0-9A-Fa-f]{8}|c_[A-Za-z0-9+/=]{32,})",
    ),
    _token("newrelic-key", "NRAK-", r"NRAK-[A-Z0-9]{27,}"),
    _token("sentry-token", "sntry", r"sntry[su]_[A-Za-z0-9_+/=.-]{40,}"),
    _token("tailscale-key", "tskey-", r"tskey-[a-z]{3,16}-[A-Za-z0-9]{8,}(?:-[A-Za-z0-9]{16,})?"),
    _token("fly-token", "fm1_ fm2_ fo1_", r"f[mo][12]_[A-Za-z0-9+/=-]{40,}"),
    _token("heroku-key", "HRKU-", r"HRKU-[A-Za-z0-9_-]{36,}"),
    _token("rubygems-key", "rubygems_", r"rubygems_[0-9a-f]{48}"),
    _token("mailchimp-key", "-us", r"[0-9a-f]{32}-us\d{1,2}\b"),
    _token("brevo-key", "xkeysib-", r"xkeysib-[0-9a-f]{64}-[A-Za-z0-9]{16}"),
    _token("alibaba-key", "LTAI", r"LTAI[A-Za-z0-9]{12,20}\b"),
    _token("artifactory-key", "AKCp", r"AKCp[A-Za-z0-9]{60,}"),
    _token("onepassword-token", "ops_eyJ", r"ops_eyJ[A-Za-z0-9_+/=-]{60,}"),
    _token("groq-key", "gsk_", r"gsk_[A-Za-z0-9]{48,}"),
    _token("xai-key", "xai-", r"xai-[A-Za-z0-9]{60,}"),
    _token("perplexity-key", "pplx-", r"pplx-[A-Za-z0-9]{40,}"),
    _token("replicate-token", "r8_", r"r8_[A-Za-z0-9]{37}\b"),
    _token("age-key", "AGE-SECRET-KEY-1", r"AGE-SECRET-KEY-1[0-9A-Z]{50,}"),
    # The whole run is consumed even when no second part follows: else `eyJeyJ…` costs n².
    _token("jwt", "eyJ", r"eyJ[A-Za-z0-9_-]*+(?P<secret>(?:\.[A-Za-z0-9_-]{8,}){1,4}\.?)?"),
)

_ANCHORS = [(anchor, token) for token in TOKENS for anchor in token.anchors]

_RUN_CHARACTERS = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-."
_RUNS = bytes(97 if code in _RUN_CHARACTERS else 32 for code in range(256))
_LONG = b"a" * 20


def tokens(text: str) -> Iterator[Span]:
    """Yield the tokens in a text.

    Every token holds a run of 20 word characters. Most text holds few such runs, and finding
    them is one search for a constant; only the runs are then asked for anchors.
    """
    if len(text) < len(_LONG):
        return
    runs = _long_runs(text.encode("utf-8", "surrogatepass"))
    if not runs:
        return
    for token in dict.fromkeys(token for anchor, token in _ANCHORS if anchor in runs):
        for match in token.pattern.finditer(text):
            if token.name != "jwt" or match["secret"]:
                yield Span(match.start(), match.end(), token.name)


def _long_runs(data: bytes) -> str:
    shape = data.translate(_RUNS) + b" "
    found = []
    end = 0
    while (start := shape.find(_LONG, end)) >= 0:
        end = shape.index(b" ", start)
        run = data[start:end].strip(b"-_.")  # rulers of text files are the commonest runs
        if run:
            found.append(run)
    # As text: `in` on bytes costs five times as much, and it is asked for every anchor.
    return (b" " + b" ".join(found)).decode("ascii") if found else ""
