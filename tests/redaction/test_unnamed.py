"""What no word for a secret gives away, and what looks like it and is none."""

from __future__ import annotations

import pytest

from observer.redaction.redact import redact_text


@pytest.mark.parametrize(
    "text",
    [
        "stats auth admin:Tulip!4821-Finch",
        "masterauth hV7dK2qPz9LmR4xW",
        'encrypt = "pL3v9QwZ8xN1cT5yB7mK2sD4fG6hJ0aR1uE="',
        "set wpa2-pre-shared-key=Rk8$Gq2!Vn5",
        "tacacs-server host 10.0.0.9 key: mq4st9h5d13xqwiecd1x",
        "the new one: Plum.heron_417!",
        "user on >aG-/7.Zk!x3:Qv= ~* +@all",
        "try fix-staging-token_Ripple19=wren1",
    ],
)
def test_what_looks_like_nothing_else_goes(text: str) -> None:
    assert "[redacted:" in redact_text(text)


@pytest.mark.parametrize(
    "text",
    [
        "toolu_01Xk39dLq0Zp7TbW2mRv5cQ7",
        "echo 3f9a1c07b2d84e65",
        "see toolu_01Xk39dLq0Zp7TbW2mRv5cQ7 there",
        "Xk39dLq0Zp7TbW2mRv5cQ7sT1vW4yZ7b",
        "const getTimeToNextL2OutputAt9 = 1",
        "x = 'mQ4x7ZpL9vKt2WbR8sTnY6cDhJgF5aEu'  # an alphabet",
        "vpc-0a1b2c3d4e5f67890 in use",
        "-----BEGIN CERTIFICATE-----\nMIICaB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF3hJ6k\n",
        "Gk39dLq0Zp7TbW2mRv5cQ7pL3v9QwZ8xN1cT5yB7\nbC0eF3hJ6kMnP2rS5tU8xY1zA4cD7pL3v9QwZ8\n",
        "the commit is 9f86d081884c7d659a2feaa0c55ad01512345678",
        "aws directconnect accept-peering-gateway-proposal \\",
        '"cache_key": "9f86d081884c7d659a2feaa0c55ad015"',
        '"requestId": "hV7dK2qPz9LmR4xW8sTn"',
        "integrity=sha512-pL3v9QwZ8xN1cT5yB7mK2sD4fG6hJ0aR",
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIpL3v9QwZ8xN1cT5yB7mK2sD4fG6h",
        "arn:aws:dms:us-east-1:123456789012:rep:T3OM7OUB5nM2LCVZF7JPGJ",
        'alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"',
        "area = 12*E*I2*q + self.T*1j",
        "phase2Removed?: number;",
        "[^A-Za-z0-9_.%-]",
        "0x00007f8d8Fbd9700: 0x1b89dB315277a5",
        "see shop/chunk/page&Tab7-x.yz",
        "this.type === types$1.braceR ||",
        "{@link ox#Envelope1559.Rpc}",
        "readonly parseInt8?: boolean",
        "entry.isLink() && !resolveLinks$1 && other",
        "Array<[QueryKey, TQueryFnData | undefined]>",
        "signature of credentials: Uint8Array",
        "for (const token of all) { linesCount++; }",
        "token.step !== 2 || !secret.round1Cache)",
        "token: '0x20c0000000000000000000000000000000000001'",
        "validatePassword: ReturnType<typeof createPassword>",
        "const token = get()  // eslint-disable-next-line",
        "password=null;let t=1",
        "token in shop-admin/build/Chunk4aF8xQ2aB/page-7Kd2pQ9xLm3Z_x1",
        # Ids, by their names, their forms and their kinds.
        '"endCursor": "pL3v9QwZ8xN1cT5yB7mK2sD4fG6hJ0aR"',
        'etag: W/"3f-pL3v9QwZ8xN1cT5yB7mK2sD4fG6"',
        "for t in PRRT_kwDOrNfZaWM5Et6wi7O PRRT_kwDOaIPhWmM5DzpPDv2; do",
        '"customer": "cus_mqc9ZSGv2GaSgf7Lw3"',
        "the token ran out: request req_0c14cSQiF2p80Lg9cDEoL07F",
        '{"text": "the token was rotated", "next_cursor": "dXNlcjpVMEc5V0ZYTlo7wRF"}',
        "x-token-count: 3\nsec-websocket-key: oX86ucZxL1ek9tswqh+J78==",
        "\n--MP_/ojz2N5iKuo.9KxQERTGlukK--\n",
        "script-src 'nonce-ByP5kWhLjtOkthDWlWDx6b=='",
        'Requires-Dist: PySocks!=1.5.7; extra == "socks"',
        "const f = require('call-bind-apply-helpers'); // secret",
        # Words in base64 and in the heads of mails, other encoded data, minified code.
        'assert decoded == b"dGhlIGZlcnJ5IGxlYXZlcyBhdCBuaW5l"',
        "('Foo, Bar Zoe', '=?utf-8?q?Foo')",
        '"eo7Rq%Wv(NO?aEH9|?Cw80000QJsGh6BX2900EkP^`vBZRm1"',
        'typeof a.maxDepth=="number"?a.maxDepth:1/0,this.stat=!1',
        # What numbers, places and dates are written as.
        "TokenElement(id=7, text=' and', logprob=-0.5961914)",
        "'sr_yu': 'sr_RS.UTF-8@latin',",
        "2 34 72 39 55 76 23 56 51 53 75 79 30 86 1 66",
        '"arn:aws:ivs:us-west-2:123456789012:stream-key/k3M9x2P7q4W8"',
        "your password: click {one-more-link-invalid} to go on",
        "tokens = ['+a6t-not-inline', '+a6t-inline']",
        "AKIAIOSF9DNN7EXAMPLE is AWS's own",
        'parse("%Y-%m-%dT%H:%M:%SZ")  # of a credential',
        # Code, minified too, constants of curves, armoured text, pages about tokens.
        "adopt(credentials, resourceState$jscomp$0);",
        "o.secret = (_process$env$KIND = process.env.KIND)",
        "token-x,g=128,b=31536e3,w=0xff",
        "getter(a){this.url.password=value}get name(){}",
        'VALIDATE_ALIAS="private-next-action-validate"  # access',
        'id_challengePassword = "1.2.840.113549.1.9.7"',
        "[x](https://a.test/node-jsonwebtoken/wiki/Notes:-v7-to-v8)",
        "\n".join(["    '0x8e" + "38" * 30 + "c7',", "    '0x7d3d4c" + "80bc" * 14 + "',"] * 2),
        "\n".join(["", *["thequietriverrunspastthemillandthefordwhereboatswaitfortheferry"] * 3]),
        "token(['custom-write-accessor', 'custom-write-property-proc'])",
        "a.test/l?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Date=20190814T220617Z&X-Amz-Expires=1",
        # A query is no part of the path before it.
        "see /p?v1=q7Zr2Mk9Vx4T ok",
    ],
)
def test_ids_digests_and_code_stay(text: str) -> None:
    assert redact_text(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "does Xk39dLq0Zp7TbW2mRv5c still work?",
        "rocommunity 9f86d081884c7d659a2feaa0c55ad015 default",
        "ana : XAUTH '9f86d081884c7d659a2feaa0c55ad015'",
        "admin / tulip-lantern-nimbus-umber",
        "db.auth('ana', 'k3m9x2p7q4w8z1v6b5n0')",
        "unlock it with Tulip21-lantern5",
        "kinit ana <<< 9f86d081884c7d659a2feaa0c55ad015",
        "xfreerdp /u:ana /p:9f86d081884c7d659a2feaa0c55ad015 /v:desk",
        "ana@acme.test:9f86d081884c7d659a2feaa0c55ad015",
        "identifiants : ana / 9f86d081884c7d659a2feaa0c55ad015",
        "wifi: xQ7!mZ2#pL",
        "{'user': 'ana', 'key': '9f86d081884c7d659a2feaa0c55ad015'}",
        "unrar x -p9f86d081884c7d659a2feaa0c55ad015 a.rar",
        "see https://a.test/reset/9f86d081884c7d659a2feaa0c55ad015",
        "[]\npassword: 71 37 6d 5a 32 70 4c 78 39 57",
        "powershell -enc cABhAHMAcwB3AG8AcgBkAD0AcQA3AG0AWgAyAHAATAB4ADkA",
        "https://acme.test/reset/95ba69a5d0379c66dc6395e84ec172a084ad5b3a",
    ],
)
def test_beside_a_hint_less_will_do(text: str) -> None:
    assert "[redacted:" in redact_text(text)


def test_a_secret_joined_to_its_name_in_a_branch_goes_and_a_branch_about_one_stays() -> None:
    joined = ("db_token_tulip-lantern-nimbus-umber", "ldap_secret_key_OSphUKwbQMKGQtDf")
    for name in (*joined, "shop-password_oREfp0TU82-dBbc6G1DRc-_"):
        assert "[redacted:" in redact_text(f"fix/{name}")
    for branch in ("fix/api-token-refresh-for-old-users", "fix/token_is_not_renewed"):
        assert redact_text(branch) == branch
    for text in ("token: " + "Abcdefgh" * 8 + "1a2B3c+", "key A1" + "B" * 90 + "+"):
        assert redact_text(text)  # a long word is judged at once
