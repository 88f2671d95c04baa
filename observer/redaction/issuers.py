"""The formats of keys and tokens that issuers made easy to tell: a prefix, then what is drawn.

Part of step 4 (redaction); `tokens` looks for them. A short prefix counts only where a word begins.

Source: the issuers' documented prefixes, as atuin, detect-secrets and gitleaks also list them.
"""

from __future__ import annotations

import re
from typing import NamedTuple


class TokenFormat(NamedTuple):
    """A class of token; one of `anchors` stands in each, inside a run of 20 word characters.

    Without anchors the pattern itself tells the runs that hold one.
    """

    name: str
    anchors: tuple[str, ...]
    pattern: re.Pattern[str]


def _token(name: str, anchors: str, pattern: str) -> TokenFormat:
    return TokenFormat(name, tuple(anchors.split()), re.compile(pattern))


_GITLAB = ("pat", "ptt", "dt", "rt", "rtr", "cbt", "soat", "ft", "oas", "agent", "imt", "ffct")

ISSUED = (
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
    _token("stripe-key", "k_live_ k_test_ k_prod_", r"[srp]k_(?:live|test|prod)_[A-Za-z0-9]{12,}"),
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
    TokenFormat(
        "telegram-token",
        (" AA",),  # the colon before it ends a run
        re.compile(r"(?<=[0-9]{8}:)AA[A-Za-z0-9_-]{32,}"),
    ),
    _token("huggingface-token", "hf_", r"hf_[A-Za-z0-9]{30,}"),
    _token("digitalocean-token", "_v1_", r"do[opr]_v1_[a-f0-9]{64}"),
    _token("docker-token", "dckr_", r"dckr_[op]at_[A-Za-z0-9_-]{24,}"),
    _token("vault-token", "hvs. hvb. hvr.", r"hv[sbr]\.(?=[\w-]*\d)[A-Za-z0-9_-]{24,}"),
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
