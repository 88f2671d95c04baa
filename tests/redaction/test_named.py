"""A name and its value are known whatever stands between them."""

from __future__ import annotations

from base64 import b64encode

import pytest

from observer.redaction.redact import redact_text

DRAWN = "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF"
HEX = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
HUMAN = "Maple!4821-" + "Otter"
PHRASE = "maple-otter-" + "velvet-417"

FORMS = {
    "toml": 'db_password = "{}"',
    "ini": "[db]\nadmin_secret={}\n",
    "ini-of-an-admin": "[smtp]\nuser = shop\nsmtp_password = {}",
    "coloured-env": "\x1b[32mDB_PASSWORD\x1b[0m=\x1b[1m{}\x1b[0m\n\x1b[32mTERM\x1b[0m=xterm",
    "coloured-json": '\x1b[34;1m"dbPassword"\x1b[0m\x1b[1;39m:\x1b[0m \x1b[0;32m"{}"\x1b[0m',
    "zero-width": "DB_PASS\u200bWORD={}",
    "escaped-letters": '{{"\\u043f\\u0430\\u0440\\u043e\\u043b\\u044c": "{}"}}',
    "sql-where": "UPDATE settings SET value = '{}' WHERE name = 'db_password'",
    "option": "tool --client-secret {}",
    "yaml-next-line": "auth:\n  db_token:\n    {}\n",
    "json-next-line": '"signing_secret":\n  "{}"',
    "here-document": "api_token = <<EOT\n{}\nEOT",
    "plist": "<key>client_secret</key>\n<string>{}</string>",
    "property": '<entry key="db_password">{}</entry>',
    "pair": '{{ name = "wifi_psk", value = "{}" }}',
    "table-beside": "| db_password | {} |",
    "table-below": "| name | api_token |\n|---|---|\n| ana | {} |",
    "table-of-names": "| name | api_token |\n|---|---|\n| ana | {0} |\n| api_token | {0} |",
    "table-of-blanks": "NAME   API_TOKEN     AGE\n-----  ---------     ---\nana    {}    3d",
    "sql-copy": "COPY users (id, db_password, name) FROM stdin;\n1\t{}\tana\n\\.",
    "option-of-one-letter": "backup -u ana -p {} now",
    "table-of-boxes": "│ name │ api_token │\n├──┼──┤\n│ ana │ {} │",
    "values": "name;client_secret\nana;{}",
    "sql-list": "INSERT INTO t (id, db_password) VALUES (1, '{}'), (2, NULL);",
    "sql-list-on-lines": "INSERT INTO t (api_token, id)\nVALUES\n  (NULL, 1),\n  ('{}', 2);",
    "sql-set": "UPDATE t SET api_token = '{}' WHERE id = 1",
    "bytes": 'clientSecret := []byte("{}")',
    "comment": '"{}"  # db_password',
    "stated": "the db password should be {} from now on",
    "stated-before": "use {} as the db password",
    "listing": "- db password\n  - {}",
    "log": "INFO using db_password {}",
}


@pytest.mark.parametrize("form", [pytest.param(form, id=key) for key, form in FORMS.items()])
def test_a_value_close_to_a_secrets_name_goes(form: str) -> None:
    for value in (DRAWN, HUMAN, PHRASE):
        cleaned = redact_text(form.format(value))
        assert value[:9] not in cleaned, value
        assert value[-9:] not in cleaned, value


@pytest.mark.parametrize(
    "form",
    [
        pytest.param('[database]\nsmtp_token = "{}"', id="toml"),
        pytest.param("[smtp]\nsmtp_password = {}", id="ini"),
        pytest.param("serve --api-token {} --port 80", id="option"),
        pytest.param("here is the api token for prod\n{}", id="below"),
        pytest.param("try {} as the key of the admin's password", id="before"),
    ],
)
def test_signs_in_a_value_neither_end_nor_unmake_it(form: str) -> None:
    value = "UaD4M!Yvi" + "iSit#Zw"
    cleaned = redact_text(form.format(value))
    assert value[:6] not in cleaned
    assert value[-6:] not in cleaned


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("https://acme.test/webhooks/in/" + DRAWN, id="webhook"),
        pytest.param(f"https://api.acme.test/run?code={DRAWN}", id="code"),
        pytest.param(f"https://maps.acme.test/js?key={DRAWN}&v=2", id="key"),
        pytest.param("use newissuer_" + DRAWN[:28] + " there", id="prefix-nobody-listed"),
        pytest.param(
            "base64 " + b64encode(f'{{"token": "{DRAWN}"}}'.encode()).decode(), id="base64"
        ),
    ],
)
def test_what_looks_drawn_goes_where_only_secrets_stand(text: str) -> None:
    cleaned = redact_text(text)
    assert DRAWN[:20] not in cleaned
    assert "[redacted:" in cleaned


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("the token of tests/unit/test_auth2.py is read", id="path"),
        pytest.param("secret: hover:text-slate-300 and text-red-400", id="classes"),
        pytest.param("password reset by root@76.13.1.2 on 2026-11-23", id="address-and-date"),
        pytest.param("api_token: auth@10.13.0_@babel+runtime@7.28.6", id="package"),
        pytest.param("the session 0b6c5a52-6f0e-4f6b-9f0e-5d1a3c2b7e11 has a token", id="session"),
        pytest.param(f"the token's sha256 digest is {HEX}", id="digest"),
        pytest.param(f"url(data:,{DRAWN}/psk/{DRAWN})", id="encoded-data"),
        pytest.param("cc -papa/mama/x86 -path-of-some-kind-here", id="joined-option"),
        pytest.param("INSERT INTO t (id, password) VALUES (", id="no-values"),
        pytest.param("name,password," + "x," * 300 + "\nana,aB3dE6gH,", id="long-line"),
        pytest.param('key: Uint8Array, "PyDict_Keys",\n "PyDict_Merge"', id="types"),
        pytest.param('"spdx_license_key": "BSD-3-Clause-HP"', id="licence"),
        pytest.param("pass the :class:`~jinja2.Environment` to it", id="reference"),
        pytest.param(
            '{"kty": "RSA", "d": "' + "the-number-of-a-key-in-words-" * 2 + '"}', id="web-key"
        ),
        pytest.param("integrity=sha384-" + DRAWN, id="integrity"),
        pytest.param("id;secret_name\n1;aB3-x9", id="column-about-a-secret"),
        pytest.param("- Move secrets elsewhere (issue#88, ADR-0042)", id="issue"),
        pytest.param("    - CVE-2026-113276: leak in Passwords.", id="weakness"),
        pytest.param("| Password hash | Argon2id | m=65536 |", id="algorithm"),
        pytest.param("a credential-free sign-in: FIDO2/WebAuthn-L3", id="compound"),
        pytest.param("Mend the token\n96bf07c5 Mend more", id="commit"),
        pytest.param("arn:aws:secretsmanager:eu:1:secret:shop/db-VLbM9L", id="arn"),
        pytest.param("await page.fill('#password', process.env.E2E_1!)", id="reference-of-code"),
        pytest.param('"dependencies": {"minipass": "^7.0.4"}', id="version"),
        pytest.param("NAME  TOKEN  AGE\nana  aB3-x9dE6g", id="row-of-another-table"),
    ],
)
def test_what_only_stands_close_to_a_name_stays(text: str) -> None:
    assert redact_text(text) == text


LINES = "\n".join((DRAWN * 2, DRAWN[3:] + DRAWN + DRAWN[:3], DRAWN[9:] + DRAWN + DRAWN[:9]))
FOOT = "-----END RSA PRIV" + "ATE KEY-----"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(f"$ sed -n 5,7p id_rsa\n{LINES}\n", id="middle"),
        pytest.param(LINES.replace("\n", "\\n"), id="middle-escaped"),
        pytest.param(f"{DRAWN}{DRAWN[:30]}==\n{FOOT}\n", id="end-alone"),
        pytest.param("".join(f"+{line}\n" for line in LINES.split("\n")), id="middle-in-a-diff"),
    ],
)
def test_lines_of_a_key_go_without_their_header_but_not_of_what_is_public(text: str) -> None:
    assert DRAWN[9:20] not in redact_text(text)
    for label in ("CERTIFICATE", "PGP SIGNATURE"):
        public = f"-----BEGIN {label}-----\n{LINES}\n-----END {label}-----"
        assert redact_text(public) == public
