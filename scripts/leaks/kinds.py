"""The kinds of secrets that are planted: families of templates, and the names they are given.

Source: the issuers' documentation, and the formats that gitleaks and detect-secrets list.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

Family: TypeAlias = Literal["issuer", "pair", "password", "webhook", "url", "key", "prose"]


class Kind(NamedTuple):
    """A kind of secret: how its values are drawn, and what it is called in snake case."""

    name: str
    family: Family
    template: str
    label: str


_UUID = "<hex:8>-<hex:4>-<hex:4>-<hex:4>-<hex:12>"

_ISSUERS = f"""
1password-secret A3-<AZ:6>-<AZ:6>-<AZ:5>-<AZ:5>-<AZ:5>-<AZ:5>
1password-service ops_eyJ<mix:256>
adobe p8e-<az:32>
age AGE-SECRET-KEY-1<AZ:58>
airtable pat<mix:14>.<hex:64>
alibaba LTAI<mix:20>
anthropic sk-ant-api03-<url:93>AA
artifactory AKCp<mix:69>
artifactory-reference cmVmd<mix:59>
asana 1/<dig:16>:<hex:32>
atlassian ATATT3<url:186>
authress sc_<az:16>.<az:5>.acc_<az:16>.<url:60>
aws-access AKIA<b32:16>
aws-bedrock ABSK<b64:109>
aws-session ASIA<b32:16>
azure-client <mix:3>8Q~<mix:34>
bitbucket ATBB<mix:24><HEX:8>
buildkite bkua_<hex:40>
cerebras csk-<az:48>
circleci CCIPAT_<mix:22>_<hex:40>
clickhouse 4b1d<mix:38>
clickup pk_<dig:8>_<AZ:32>
clojars CLOJARS_<az:60>
cloudflare-origin v1.0-<hex:24>-<hex:146>
contentful CFPAT-<url:43>
databricks dapi<hex:32>
defined dnkey-<az:26>-<az:52>
digitalocean dop_v1_<hex:64>
discord-bot M<mix:23>.<url:6>.<url:38>
docker dckr_pat_<url:27>
doppler dp.pt.<mix:43>
dropbox sl.<url:135>
duffel duffel_live_<url:43>
dynatrace dt0c01.<AZ:24>.<AZ:64>
easypost EZAK<mix:54>
facebook EAAC<mix:120>
figma figd_<url:40>
fireworks fw_<mix:24>
flutterwave FLWSECK_TEST-<hex:32>-X
flutterwave-live FLWSECK-<hex:32>-X
fly fm2_<b64:120>
frameio fio-u-<url:64>
github-app ghs_<mix:36>
github-fine github_pat_<mix:22>_<mix:59>
github-pat ghp_<mix:36>
gitlab-feature glffct-<url:20>
gitlab-pat glpat-<url:20>
gitlab-routable glpat-<url:27>.01.<az:9>
gitlab-runner GR1348941<url:20>
google-api AIza<url:35>
google-oauth GOCSPX-<url:28>
google-refresh 1//0<url:40>
grafana-cloud glc_<b64:64>
grafana-service glsa_<mix:32>_<hex:8>
groq gsk_<mix:52>
harness pat.<url:22>.<mix:24>.<mix:20>
heroku HRKU-AA<url:58>
hubspot pat-na1-{_UUID}
huggingface hf_<let:34>
huggingface-org api_org_<let:34>
infracost ico-<mix:32>
intra42 s-s4t2ud-<hex:64>
jina jina_<mix:60>
langsmith lsv2_pt_<hex:32>_<hex:10>
linear lin_api_<mix:40>
linear-oauth lin_oauth_<mix:40>
lob live_<hex:35>
mailchimp <hex:32>-us12
mailgun key-<hex:32>
mapbox sk.eyJ<mix:57>.<url:22>
maxmind <mix:6>_<mix:29>_mmk
mercadopago APP_USR-<dig:16>-<dig:6>-<hex:32>-<dig:9>
neon napi_<az:64>
netlify nfp_<mix:36>
newrelic NRAK-<AZ:27>
newrelic-browser NRJS-<hex:19>
newrelic-insert NRII-<url:32>
notion ntn_<dig:11><mix:35>
npm npm_<mix:36>
nuget oy2<az:43>
nvidia nvapi-<url:64>
octopus API-<AZ:26>
openai sk-proj-<url:74>T3BlbkFJ<url:74>
openai-legacy sk-<mix:20>T3BlbkFJ<mix:20>
openrouter sk-or-v1-<hex:64>
openshift sha256~<url:43>
perplexity pplx-<mix:48>
pinecone pcsk_<mix:6>_<mix:63>
plaid access-production-{_UUID}
planetscale pscale_tkn_<url:43>
posthog phx_<mix:43>
postman PMAK-<hex:24>-<hex:34>
prefect pnu_<mix:36>
pulumi pul-<hex:40>
pypi pypi-AgEIcHlwaS5vcmc<url:120>
razorpay rzp_live_<mix:14>
readme rdme_<az:70>
render rnd_<mix:32>
replicate r8_<mix:37>
resend re_<mix:8>_<mix:24>
rubygems rubygems_<hex:48>
scalingo tk-us-<url:48>
sendgrid SG.<url:22>.<url:43>
sendinblue xkeysib-<hex:64>-<mix:16>
sentry-user sntryu_<hex:64>
settlemint sm_pat_<mix:16>
shippo shippo_live_<hex:40>
shopify shpat_<hex:32>
slack-app xapp-1-<AZ:11>-<dig:13>-<hex:64>
slack-bot xoxb-<dig:12>-<dig:13>-<mix:24>
slack-config xoxe.xoxp-1-<mix:163>
sonarqube squ_<hex:40>
sourcegraph sgp_<hex:16>_<hex:40>
square EAAA<url:60>
stripe sk_live_<mix:24>
stripe-prod rk_prod_<mix:24>
supabase sbp_<hex:40>
tailscale tskey-auth-<mix:12>-<mix:32>
tavily tvly-dev-<mix:32>
telegram <dig:10>:AA<url:33>
terraform <mix:14>.atlasv1.<url:67>
together tgp_v1_<url:43>
twilio SK<hex:32>
typeform tfp_<url:59>
vault-service hvs.<url:95>
vercel vcp_<mix:56>
xai xai-<mix:80>
yandex t1.<url:20>.<url:86>
yandex-api AQVN<url:38>
yandex-aws YCAJ<url:36>
jwt eyJ<mix:33>.eyJ<mix:60>.<url:43>
"""

_PAIRS = f"""
adafruit-key adafruit_key <hex:32>
algolia-key algolia_admin_key <hex:32>
asana-secret asana_client_secret <hex:32>
aws-secret aws_secret_access_key <b64:40>
aws-secret-slash aws_secret_access_key /<b64:39>
azure-storage azure_storage_key <b64:86>==
beamer-token beamer_api_token b_<url:44>
bittrex-key bittrex_key <hex:32>
cloudflare-key cloudflare_global_key <hex:37>
codecov-token codecov_token {_UUID}
cohere-key cohere_api_key <mix:40>
datadog-app-key datadog_app_key <hex:40>
datadog-key datadog_key <hex:32>
deepgram-key deepgram_api_key <hex:40>
django-secret secret_key <mix:50>
encryption-key encryption_key <b64:43>=
fastly-key fastly_key <url:32>
finnhub-key finnhub_key <az:20>
heroku-key heroku_api_key {_UUID}
intercom-token intercom_access_token <b64:60>
jwt-secret jwt_secret <hex:64>
kraken-key kraken_private_key <b64:86>==
launchdarkly-key launchdarkly_sdk_key sdk-{_UUID}
mixpanel-secret mixpanel_secret <hex:32>
opsgenie-key opsgenie_key {_UUID}
pagerduty-key pagerduty_key <mix:20>
plaid-secret plaid_secret <hex:30>
pusher-key pusher_key <hex:20>
rapidapi-key rapidapi_key <az:50>
rollbar-token rollbar_access_token <hex:32>
segment-key segment_write_key <mix:32>
sendbird-token sendbird_api_token <hex:40>
session-secret session_secret <b64:44>
snyk-token snyk_token {_UUID}
sumologic-key sumologic_access_key <mix:64>
travis-token travis_token <mix:22>
twilio-auth twilio_auth_token <hex:32>
twitter-secret twitter_api_secret <mix:50>
wandb-key wandb_api_key <hex:40>
zendesk-key zendesk_key <mix:40>
"""

_PASSWORDS = """
generated-16 db_password <punct:16>
generated-24 redis_password <punct:24>
generated-mild admin_password <mild:14>
generated-plain smtp_password <mix:16>
human postgres_password <Word><dig:2>!<word>
human-leet root_password P4<word><dig:3>#
passphrase vault_passphrase <word>-<word>-<word>-<dig:2>
words ftp_password <word><word><word>
"""

_WEBHOOKS = f"""
discord https://discord.com/api/webhooks/<dig:18>/ <url:68>
discord-app https://discordapp.com/api/webhooks/<dig:18>/ <url:68>
slack https://hooks.slack.com/services/T<AZ:8>/B<AZ:8>/ <mix:24>
teams https://acme.webhook.office.com/webhookb2/{_UUID}@{_UUID}/IncomingWebhook/ <hex:32>
teams-flow https://prod-1.logic.azure.com/workflows/x/paths/invoke?sp=%2F&sv=1.0&sig= <url:43>
google-chat https://chat.googleapis.com/v1/spaces/AAAA<mix:7>/messages?key=K1&token= <url:43>
zapier https://hooks.zapier.com/hooks/catch/<dig:7>/ <az:7><mix:8>
make https://hook.eu1.make.com/ <az:32>
ifttt https://maker.ifttt.com/trigger/ring/with/key/ <url:43>
mattermost https://chat.acme.test/hooks/ <az:26>
rocketchat https://chat.acme.test/hooks/<hex:24>/ <mix:32>
feishu https://open.feishu.cn/open-apis/bot/v2/hook/ {_UUID}
dingtalk https://oapi.dingtalk.com/robot/send?access_token= <hex:64>
wecom https://qyapi.weixin.qq.com/cgi-bin/webhook/send?key= {_UUID}
telegram-bot https://api.telegram.org/bot<dig:10>: AA<url:33>
healthchecks https://hc-ping.com/ {_UUID}
"""

_URLS = """
postgres postgres://shop:|@db.acme.test:5432/shop <mix:18>
postgres-mild postgresql://shop:|@db/shop <mild:16>
mongodb mongodb+srv://ana:|@cluster0.acme.mongodb.net/x <mix:16>
redis redis://:|@cache:6379/0 <mix:32>
amqp amqp://svc:|@mq/v <word><dig:4>
basic-auth https://deploy:|@pkgs.acme.test/simple <az:20>
sentry-dsn https://|@o1234.ingest.sentry.io/5678 <hex:32>
git-token https://|@git.acme.test/a/b.git <az:40>
"""


def _rows(table: str) -> list[list[str]]:
    return [line.split() for line in table.strip().splitlines()]


KINDS: tuple[Kind, ...] = (
    *(
        Kind(name, "issuer", form, f"{name.partition('-')[0]}_value")
        for name, form in _rows(_ISSUERS)
    ),
    *(Kind(name, "pair", form, label) for name, label, form in _rows(_PAIRS)),
    *(Kind(name, "password", form, label) for name, label, form in _rows(_PASSWORDS)),
    *(Kind(f"{name}-webhook", "webhook", form, start) for name, start, form in _rows(_WEBHOOKS)),
    *(Kind(f"{name}-url", "url", form, around) for name, around, form in _rows(_URLS)),
    Kind("stated-human", "prose", "<Word><dig:3>!", ""),
    Kind("stated-generated", "prose", "<mild:12>", ""),
    Kind("stated-words", "prose", "<word>-<word>-<dig:2>", ""),
    Kind("stated-plain", "prose", "<mix:10>", ""),
    Kind("pem-rsa", "key", "MII<b64:61>\n<b64:64>\n<b64:40>", "RSA PRIVATE KEY"),
    Kind(
        "pem-openssh", "key", "b3BlbnNzaC1rZXk<b64:49>\n<b64:64>\n<b64:64>", "OPENSSH PRIVATE KEY"
    ),
)
"""Every kind. The label of a webhook is what stands before it, of a URL what stands around it, of
a key what its header says."""
