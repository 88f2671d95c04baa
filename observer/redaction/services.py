"""The formats of keys and tokens of further services, by the prefixes that these give them.

Part of step 4 (redaction), the second half of the table in `issuers`.

Source: the services' documentation, and the list of formats that gitleaks keeps.
"""

from __future__ import annotations

import re

from observer.redaction.issuers import TokenFormat
from observer.redaction.secrets import LOWER_UUID

_HAS_DIGIT = r"(?=[A-Za-z_-]*\d)"
_BEGIN, _END = "(?<![A-Za-z0-9])", "(?![A-Za-z0-9])"


def _word(name: str, anchors: str, pattern: str) -> TokenFormat:
    """Return a token whose prefix counts only where a word begins.

    It takes the rest of its word with it: else the next of a chain would begin a word only once
    this one is gone, and each would cost a pass.
    """
    return TokenFormat(name, tuple(anchors.split()), re.compile(f"{_BEGIN}{pattern}[A-Za-z0-9]*+"))


SERVICES = (
    _word("onepassword-key", "A3-", r"A3-(?:[A-Z0-9]{6}-){1,2}[A-Z0-9]{5,11}(?:-[A-Z0-9]{5}){3}"),
    _word("adobe-secret", "p8e-", r"p8e-[A-Za-z0-9]{32}"),
    _word("airtable-token", "pat", r"pat[A-Za-z0-9]{14}\.[0-9a-f]{64}"),
    _word("artifactory-token", "cmVmd", r"cmVmd[A-Za-z0-9]{59}"),
    TokenFormat(
        "asana-token",
        (" ",),
        re.compile(r"/(?<=[0-2]/)\d{13,20}(?:/\d{13,20})?:[0-9a-f]{32}"),
    ),
    _word(
        "authress-key",
        ".acc_ .acc-",
        r"(?:sc|ext|scauth|authress)_[a-z0-9]{5,30}\.[a-z0-9]{4,6}\.acc[_-][\w-]{10,32}\.[\w+/=-]{30,}",
    ),
    TokenFormat("azure-secret", (" ",), re.compile(r"Q~(?<=[\w~.]{3}\dQ~)[\w~.-]{31,}")),
    _word("bitbucket-password", "ATBB", r"ATBB[A-Za-z0-9]{24,}"),
    _word("buildkite-token", "bkua_", r"bkua_[0-9a-f]{40}"),
    _word("cerebras-key", "csk-", r"csk-[a-z0-9]{40,}"),
    _word("circleci-token", "CCIP", r"CCIP(?:AT|RJ)_[A-Za-z0-9]{20,24}_[0-9a-f]{40}"),
    _word("clickhouse-key", "4b1d", rf"4b1d[A-Za-z0-9]{{38}}{_END}"),
    _word("clickup-token", "pk_", r"pk_\d{4,12}_[A-Z0-9]{32}"),
    _word("clojars-token", "CLOJARS_", r"CLOJARS_[A-Za-z0-9]{60}"),
    _word("cloudflare-key", "v1.0-", r"v1\.0-[0-9a-f]{24}-[0-9a-f]{146}"),
    _word("contentful-token", "CFPAT-", r"CFPAT-[\w-]{40,}"),
    _word("defined-networking-key", "dnkey-", r"dnkey-[\w=-]{26}-[\w=-]{52}"),
    _word("discord-token", "", r"[MNO][A-Za-z0-9_-]{22,27}\.[\w-]{6}\.[\w-]{27,}"),
    _word("discord-token", "mfa.", r"mfa\.[\w-]{80,}"),
    _word("dropbox-token", "sl.", r"sl\.(?:u\.)?[\w-]{100,}"),
    _word("duffel-token", "duffel_", r"duffel_(?:live|test)_[\w=-]{40,}"),
    _word("dynatrace-token", "dt0", r"dt0[a-z]\d\d\.[A-Z0-9]{24}\.[A-Z0-9]{64}"),
    _word("easypost-key", "EZAK EZTK", r"EZ[AT]K[A-Za-z0-9]{54}"),
    _word("facebook-token", "EAA", r"(?<![+/])EAA[A-Z](?!A)[A-Za-z0-9]{95,}"),
    _word("fireworks-key", "fw_", rf"fw_{_HAS_DIGIT}[A-Za-z0-9]{{22,26}}{_END}"),
    _word("flutterwave-key", "FLWSECK", r"FLWSECK(?:_TEST)?-[a-h0-9]{12,}(?:-X)?"),
    _word("frameio-token", "fio-u-", r"fio-u-[\w=-]{64}"),
    _word("gitlab-token", "GR1348941", r"GR1348941[\w-]{20}"),
    TokenFormat("google-token", (" 0",), re.compile(r"1//0(?=[A-Za-z_-]*\d)[\w-]{30,}")),
    _word("harness-key", "pat. sat.", r"[ps]at\.[\w-]{22}\.[A-Za-z0-9]{24}\.[A-Za-z0-9]{20}"),
    _word("hubspot-token", "pat-", rf"pat-(?:na|eu|ap)\d-{LOWER_UUID}"),
    _word("huggingface-token", "api_org_", r"api_org_[A-Za-z]{34}"),
    _word("infracost-key", "ico-", rf"ico-{_HAS_DIGIT}[A-Za-z0-9]{{32}}"),
    _word("intra42-secret", "s-s4t2", r"s-s4t2(?:ud|af)-[0-9a-f]{64}"),
    _word("jina-key", "jina_", rf"jina_{_HAS_DIGIT}[\w-]{{50,}}"),
    _word("jwt", "ZXlK", r"ZXlK[A-Za-z0-9+/=_-]{60,}"),
    _word("langfuse-key", "sk-lf-", rf"sk-lf-{LOWER_UUID}"),
    _word("langsmith-key", "lsv2_", r"lsv2_[a-z]{2}_[0-9a-f]{32}_[0-9a-f]{10}"),
    _word("linear-key", "lin_oauth_", r"lin_oauth_[A-Za-z0-9]{40,}"),
    _word("lob-key", "live_ test_", rf"(?:live|test)_(?:pub_)?[0-9a-f]{{31,35}}{_END}"),
    _word("mailgun-key", "key-", rf"key-[0-9a-f]{{32}}{_END}"),
    _word("maxmind-key", "_mmk", r"[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk"),
    _word("mercadopago-token", "APP_USR-", r"APP_USR-\d{10,20}-\d{6}-[0-9a-f]{32}-\d+"),
    _word("neon-key", "napi_", rf"napi_{_HAS_DIGIT}[a-z0-9]{{50,}}"),
    _word("netlify-token", "nfp_ nfc_ nfo_", r"nf[pco]_[A-Za-z0-9]{36,}"),
    _word("newrelic-key", "NRJS- NRII-", r"NR(?:JS-[0-9a-f]{19}|II-[\w-]{32})"),
    _word("nuget-key", "oy2", rf"oy2[a-z0-9]{{43}}{_END}"),
    _word("nvidia-key", "nvapi-", r"nvapi-[\w-]{60,}"),
    _word("octopus-key", "API-", rf"API-(?=[A-Z]*\d)[A-Z0-9]{{25,26}}{_END}"),
    TokenFormat("openshift-token", (" ",), re.compile(r"sha256~[\w-]{43}")),
    _word("pinecone-key", "pcsk_", r"pcsk_[A-Za-z0-9]{5,6}_[A-Za-z0-9]{60,}"),
    _word("plaid-token", "access-", rf"access-(?:sandbox|development|production)-{LOWER_UUID}"),
    _word("posthog-key", "phx_", r"phx_[A-Za-z0-9]{40,}"),
    _word("prefect-key", "pnu_ pnb_", r"pn[ub]_[A-Za-z0-9]{36}"),
    _word("razorpay-key", "rzp_", r"rzp_(?:live|test)_[A-Za-z0-9]{14}"),
    _word("readme-key", "rdme_", r"rdme_[a-z0-9]{70}"),
    _word("render-key", "rnd_", rf"rnd_{_HAS_DIGIT}[A-Za-z0-9]{{28,}}{_END}"),
    _word("resend-key", "re_", r"re_(?=\w{0,31}\d)[A-Za-z0-9]{8}_[A-Za-z0-9]{20,24}"),
    _word("scalingo-token", "tk-us-", r"tk-us-[\w-]{48}"),
    _word("settlemint-token", "at_", rf"sm_[aps]at_[A-Za-z0-9]{{16}}{_END}"),
    _word("shippo-token", "shippo_", r"shippo_(?:live|test)_[0-9A-Fa-f]{40}"),
    _word("sonarqube-token", "squ_ sqp_ sqa_", r"sq[upa]_[0-9a-f]{40}"),
    _word("sourcegraph-token", "sgp_", r"sgp_(?:(?:[0-9A-Fa-f]{16}|local)_)?[0-9A-Fa-f]{40}"),
    _word("square-token", "EAAA", rf"(?<![+/])EAAA(?!A){_HAS_DIGIT}[\w-]{{58,60}}(?![\w+/-])"),
    _word("tavily-key", "tvly-", rf"tvly-{_HAS_DIGIT}[\w-]{{28,}}"),
    _word("together-key", "tgp_v1_", r"tgp_v1_[\w-]{40,}"),
    _word("typeform-token", "tfp_", r"tfp_[\w.=-]{55,}"),
    _word("vercel-token", "vcp_ vci_ vck_", r"vc[pik]_[A-Za-z0-9]{24,}"),
    _word("yandex-token", "t1.", r"t1\.[\w-]{10,}={0,2}\.[\w-]{86}={0,2}"),
    _word("yandex-key", "AQVN", r"AQVN[\w-]{35,38}"),
    _word("yandex-key", "YC", rf"YC[AMNOP]{_HAS_DIGIT}[\w-]{{37}}(?![\w-])"),
)

SPLIT = (
    _word("aws-bedrock-key", "ABSK", r"ABSK[A-Za-z0-9+/]{60,}={0,2}"),
    _word("fly-token", "fm1 fm2_", r"fm(?:1[ar]|2)_[A-Za-z0-9+/=-]{40,}"),
    _word("grafana-token", "glc_", r"glc_[A-Za-z0-9+/=]{32,}"),
    _word("stripe-key", "whsec_", r"whsec_[A-Za-z0-9+/=]{20,}"),
    _word("sentry-token", "sntrys_", r"sntrys_[A-Za-z0-9_+/=.-]{40,}"),
)
"""Tokens of the letters of base 64: `+` and `/` may leave no run of 20 word characters of them."""
