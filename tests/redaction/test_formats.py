"""Every issuer's format, vendors' keys by name, webhooks, and passwords in code and words."""

from __future__ import annotations

import pytest
from leaks.drawing import draw
from leaks.kinds import KINDS, Kind

from observer.redaction.redact import redact_text

DRAWN = "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF"
HEX = "9f86d081884c7d659a2feaa0c55ad015"
UUID = "6f1c3a52-6f0e-4f6b-9f0e-5d1a3c2b7e11"
PASS = "tr0ub4dor" + "&3"
WORD = "correct" + "horse"
PHRASE = "maple-otter-" + "velvet-417"

ISSUED = [kind for kind in KINDS if kind.family == "issuer"]
AROUND = ("{}", "x={}&n=2", "'{}'", "| {} |", "[{}]", "a: {}, b", "<x>{}</x>", "fix/it-{}")
HOOKS = [kind for kind in KINDS if kind.family == "webhook"]


@pytest.mark.parametrize("around", AROUND)
def test_a_token_of_a_known_format_never_stays(around: str) -> None:
    for kind in ISSUED:
        for seed in range(6):
            secret = draw(kind.template, f"{seed}")
            assert secret[-12:] not in redact_text(around.format(secret)), kind.name


@pytest.mark.parametrize("kind", [pytest.param(kind, id=kind.name) for kind in HOOKS])
def test_an_address_that_anybody_may_post_to_is_shown(kind: Kind) -> None:
    for seed in range(6):
        start, secret = (draw(form, f"{seed}") for form in (kind.start, kind.template))
        assert secret not in redact_text(f"post it to {start}{secret} now")


@pytest.mark.parametrize(
    ("text", "gone"),
    [
        pytest.param(f"DATADOG_KEY={HEX}", HEX, id="vendor-env"),
        pytest.param(f'zendesk_key = "{DRAWN}"', DRAWN, id="vendor-string"),
        pytest.param(f'"opsgenieKey": "{UUID}"', UUID, id="vendor-uuid"),
        pytest.param(f"--rollbar-key {HEX}", HEX, id="vendor-option"),
        pytest.param(f'aws_secret_access_key: "/{DRAWN}/Zk9aQ+x"', DRAWN, id="slash-first"),
        pytest.param(f'client.setPassword("{PASS}");', PASS, id="setter"),
        pytest.param(f'self.set_api_token("{HEX}")', HEX, id="setter-snake"),
        pytest.param(f'process.env.DB_PASSWORD || "{WORD}"', WORD, id="or"),
        pytest.param(f'password ?? "{PASS}"', PASS, id="coalesce"),
        pytest.param(f'os.getenv("DB_PASSWORD") or "{WORD}"', WORD, id="or-python"),
        pytest.param(f'ENV["DB_PASSWORD"] ||= "{WORD}"', WORD, id="or-ruby"),
        pytest.param(f'encryption_key = "H+4z{DRAWN}1+2="', DRAWN, id="plus"),
        pytest.param(f"git checkout -b fix/api-token-{HEX}", HEX, id="branch"),
        pytest.param(f"notes/smtp_password_{DRAWN}.txt", DRAWN, id="file"),
        pytest.param(f"deploy-key-{UUID}", UUID, id="name-uuid"),
        pytest.param(
            f'{{\\\\\\"token\\\\\\": \\\\\\"{DRAWN}\\\\\\"}}', DRAWN, id="json-in-json-in-json"
        ),
        pytest.param(f"user ana / password {WORD}7", WORD, id="stated-beside"),
        pytest.param(f"the db password, {WORD}7, is old", WORD, id="stated-inserted"),
        pytest.param(f"credentials: ana / {WORD}7", WORD, id="stated-account"),
        pytest.param(f"the password was changed to {WORD}7", WORD, id="stated-changed"),
        pytest.param(f"use {WORD}7 as the root password", WORD, id="stated-before"),
        pytest.param(f"pass is {WORD}7, ok", WORD, id="stated-short"),
        pytest.param(f"SELECT AES_ENCRYPT(name, '{HEX}');", HEX, id="sql-encrypt"),
        pytest.param(f"createHmac('sha256', '{DRAWN}')", DRAWN, id="call-hmac"),
        pytest.param(f"jwt.sign({{ id: 1 }}, '{PHRASE}', {{ iss: 'a' }})", PHRASE, id="call-sign"),
        pytest.param(f"PRAGMA key = '{PHRASE}';", PHRASE, id="sql-pragma"),
        pytest.param(f"ATTACH DATABASE 'a.db' AS a KEY '{PASS}';", PASS, id="sql-attach"),
        pytest.param(
            f"CREATE DATABASE LINK l CONNECT TO ana IDENTIFIED BY {HEX};", HEX, id="sql-link"
        ),
        pytest.param(f'conn sys/"{PASS}"@db as sysdba', PASS, id="sql-connect"),
        pytest.param(f"cy.setCookie('session_id', '{HEX}')", HEX, id="call-cookie"),
        pytest.param(f"_shop_session={DRAWN}+/--{DRAWN[:20]}==", DRAWN, id="cookie-in-parts"),
        pytest.param(f"wordpress_logged_in_0a=ana|1732|{DRAWN}", DRAWN, id="cookie-of-login"),
        pytest.param(f"/tmp/sess_{HEX}", HEX, id="file-of-session"),
        pytest.param(f"v4.local.{DRAWN}{DRAWN}", DRAWN, id="paseto"),
        pytest.param(f"AstraCS:{DRAWN}:{HEX}{HEX}", HEX, id="astra"),
        pytest.param(f"use {HEX}.{DRAWN[:16]} there", HEX, id="zhipu"),
        pytest.param(f"session id: {DRAWN}", DRAWN, id="session-id"),
        pytest.param(f'"device_code": "{DRAWN}"', DRAWN, id="device-code"),
        pytest.param(f"the unseal key is {DRAWN[:16]}", DRAWN[:16], id="key-unseal"),
        pytest.param(f"db.acme.test:5433:*:ana:{PASS}", PASS, id="pgpass-any-database"),
        pytest.param(f"пароль {WORD}7", WORD, id="stated-russian"),
    ],
)
def test_a_secret_is_shown_by_its_name(text: str, gone: str) -> None:
    assert gone not in redact_text(text)


@pytest.mark.parametrize(
    "text",
    [
        f'cache_key = "{HEX}"',
        f'{{"public_key": "{DRAWN}", "partition_key": "{UUID}"}}',
        "x25519_key: x25519.X25519PrivateKey, hkey = win32api.RegOpenKeyEx2",
        '"AWS::IAM::AccessKey": "62d91b17309e76c8"',
        f'"KmsKeyId": "arn:aws:kms:us-east-1:012345678912:key/{UUID}"',
        '"a/../../etc/passwd" or "a/../file1.txt"',
        'get_token("identifier") check_password("wordyvalue") password || "none"',
        "reset the password to a new value; the password, base64-encoded, is sent",
        "sort-key-by-name-and-date, token-2026-11-23-of-a-test, api-key-of-user-17-and-more",
        "bypass is off1; log in with ana and see2; credentials are checked/v2 first",
        f"openssl_encrypt($text, 'aes-256-cbc', $key) verify('{UUID[:8]}') sign('a b', name)",
        f"session={UUID} sessions/session_id={UUID} setCookie('theme', 'dark-one')",
        "AKIA" + "IOSFODNN7EXAMPLE",
        "sha256-of-the-file key-of-things-that-are-long-1 hook.py /hooks/post-commit",
    ],
)
def test_what_only_looks_like_one_stays(text: str) -> None:
    assert redact_text(text) == text
