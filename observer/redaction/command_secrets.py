"""Secrets recognized by the command, statement or call that takes them.

Part of step 4 (redaction): `mysql -p…`, `echo … | sudo -S`, `IDENTIFIED BY '…'`, `.login(…, "…")`.
"""

from __future__ import annotations

import re
from functools import partial

from observer.redaction.lazy_pattern import lazy
from observer.redaction.spans import NO_TAIL, ContextPattern, is_literal


def _before(match: re.Match[str], most: int = 200) -> str:
    return match.string[max(0, match.start() - most) : match.start()]


def _is_for_curl(match: re.Match[str]) -> bool:
    return "curl" in _before(match, 400) and is_literal(match)


def _is_for_mysql(match: re.Match[str]) -> bool:
    return is_literal(match) and not _PORTS.fullmatch(match["secret"]) and _follows(match, _MYSQL)


def _is_in_sql(match: re.Match[str]) -> bool:
    return is_literal(match) and _ACCOUNT.search(_before(match).rpartition(";")[2]) is not None


def _follows(match: re.Match[str], program: re.Pattern[str]) -> bool:
    """Return True if a program is named before the match, in the same command."""
    return program.search(_COMMAND_END.split(_before(match))[-1]) is not None


def _is_for(match: re.Match[str], *, program: re.Pattern[str]) -> bool:
    return is_literal(match) and _follows(match, program)


def _is_piped_in(match: re.Match[str]) -> bool:
    return is_literal(match) and _READS_SECRET.search(match["reader"]) is not None


def _has_line(match: re.Match[str]) -> bool:
    return is_literal(match) and _SETS.search(_before(match, 12)) is not None


_READS_SECRET = lazy(
    r"--password-stdin|--with-token|\bsudo [^|]{0,80}?-S|\bchpasswd|\bpasswd (?:--stdin|\w)"
    r"|\bsecrets? (?:set|put|create)\b|\bcryptsetup |\bkeyring set\b|\bpass insert\b"
)
_SETS = lazy(r"(?:\A|[\r\n]|\\n|(?i:config set )|--)\Z")
_COMMAND_END = lazy(r"(?<!\\)\r?\n|[;|&]")
_MYSQL = lazy(r"\b(?:mysql(?:dump|admin|import)?|mariadb(?:-dump|-admin)?)(?:\s|\Z)")
_ACCOUNT = lazy(r"(?i:\b(?:create|alter)\s+(?:user|role|login)|\bset\s+password)\s")
_SECRET_MADE = lazy(r"\bcreate secret\s")
_PORTS = lazy(r"[\d.]*:[\d.:]+(?:/(?:tcp|udp))?")
_ARGUMENT = (
    r"(?P<quote>[\"'])?"
    r"(?P<secret>(?(quote)[^\"'\r\n]{1,1024}|(?!-)[^\s\"'`;|&<>()\\]{1,1024}))"
)


_PLAIN_WORD = r"[^\s\"';|&,%-][^\s\"';|&,%]{0,127}"


def _option(name: str, programs: str, *, is_joined: bool = False) -> ContextPattern:
    """Return the pattern of a secret that some programs take behind an option, or joined to it."""
    program = lazy(rf"\b(?:{programs})(?:\s|\Z)")
    gap = "" if is_joined else r"[ \t]{1,4}"
    return ContextPattern(
        "password",
        name.lower(),
        lazy(rf"{name}(?<=\s{name}){gap}{_ARGUMENT}"),
        partial(_is_for, program=program),
        NO_TAIL,
    )


COMMAND_PATTERNS = (
    ContextPattern(
        "password",
        "-u",
        lazy(
            r"-[uU](?:(?:ser)?(?:[ \t]{1,4}|=)|(?<=\s-[uU])(?!ser))[\"']?"
            r"[^\s:\"'@/]{1,128}:(?P<secret>[^\s\"']{1,256})"
        ),
        _is_for_curl,
        lazy(r"[^\s\"']*"),
    ),
    ContextPattern("password", "-p", lazy(rf"-p(?<=\s-p){_ARGUMENT}"), _is_for_mysql, NO_TAIL),
    ContextPattern(
        "cookie",
        "curl ",
        lazy(
            r"(?i:curl)[ \t][^\r\n;|]{0,200}?(?<=\s)-b[ \t]{0,4}[\"']?"
            r"(?P<secret>[\w.-]{1,64}=[^\s;\"']{4,256})"
        ),
        is_literal,
        lazy(r"[^\s;\"']*(?:;[ \t]{0,4}[^\s;\"']+)*"),
    ),
    *(
        ContextPattern(
            "password",
            command,
            lazy(rf"{command}[^\r\n;|&]{{0,200}}?(?<=\s){options}[ \t]{{1,4}}{_ARGUMENT}"),
            is_literal,
            NO_TAIL,
        )
        for command, options in (
            ("secret set ", "(?:--body|--value|-b)"),
            ("openssl enc ", "-[kK]"),
            ("ssh-keygen ", "-[NP]"),
        )
    ),
    _option("-p", r"(?:docker|podman|nerdctl|buildah|skopeo|oras|helm registry|az|az acr) login"),
    _option("-p", "twine upload|poetry publish|oc login|rdesktop"),
    _option("-a", "https?|xhs?"),
    *(
        ContextPattern(
            "password",
            command,
            lazy(rf"(?i:{command}){before}{_ARGUMENT}"),
            is_literal,
            NO_TAIL,
        )
        for command, before in (
            ("htpasswd ", rf"-\w{{0,6}}b\w{{0,6}}(?:[ \t]{{1,4}}{_PLAIN_WORD}){{2}}[ \t]{{1,4}}"),
            ("change_password ", rf"{_PLAIN_WORD}[ \t]{{1,4}}"),
            ("wpa_passphrase ", rf"(?:\"[^\"\r\n]{{1,64}}\"|{_PLAIN_WORD})[ \t]{{1,4}}"),
            ("set password for ", r"[^=\r\n]{1,80}=[ \t]{0,4}"),
            ("--password-stdin", r"[^<|;&\r\n]{0,200}<<<[ \t]{0,4}"),
            ("passwd ", rf"{_PLAIN_WORD}[ \t]{{0,4}}<<<[ \t]{{0,4}}"),
        )
    ),
    *(
        ContextPattern(
            "password",
            "-u",
            lazy(rf"{before}{_ARGUMENT}"),
            partial(_is_for, program=lazy(rf"\b{program}\s")),
            NO_TAIL,
        )
        for program, before in (
            ("lftp", rf"-u[ \t]{{1,4}}{_PLAIN_WORD},"),
            ("smbclient", rf"-U[ \t]{{0,4}}{_PLAIN_WORD}%"),
        )
    ),
    ContextPattern(
        "secret",
        "--from-literal",
        lazy(rf"--from-literal[= \t]{{1,4}}[\"']?[\w.-]{{1,128}}={_ARGUMENT}"),
        partial(_is_for, program=_SECRET_MADE),
        NO_TAIL,
    ),
    _option("password", "nmcli"),
    _option("-p", "mongo(?:sh|dump|restore|export|import)?"),
    _option("-p", "7z[az]?", is_joined=True),
    _option("-P", "sqlcmd|bcp|zip|unzip"),
    _option("-a", "redis-cli|valkey-cli"),
    _option("AUTH", "redis-cli|valkey-cli"),
    _option("-w", "ldap(?:search|add|modify|delete|whoami|passwd)"),
    _option("-storepass", "keytool|jarsigner"),
    _option("-keypass", "keytool|jarsigner"),
    _option("pass:", "openssl", is_joined=True),
    _option("-w", "security add-(?:generic|internet)-password"),
    _option("/pass:", "cmdkey", is_joined=True),
    ContextPattern(
        "password",
        "password",
        lazy(r"(?i:password)(?:\s{1,4}|\s{0,4}\(\s{0,4})'(?P<secret>[^'\r\n]{1,256})'"),
        _is_in_sql,
        NO_TAIL,
    ),
    ContextPattern(
        "password",
        "identified",
        lazy(
            r"(?i:identified)\s{1,4}(?i:with\s{1,4}\S{1,64}\s{1,4})?(?i:by)\s{1,4}"
            r"(?i:password\s{1,4})?(?P<quote>[\"'])(?P<secret>[^\"'\r\n]{1,256})(?P=quote)"
        ),
        is_literal,
        NO_TAIL,
    ),
    ContextPattern(
        "password",
        "curl ",
        lazy(
            r"(?i:curl)[ \t][^\r\n;|]{0,200}?(?<=\s)-[A-Za-z]{1,8}u[ \t]{1,4}[\"']?"
            r"[^\s:\"'@/-][^\s:\"'@/]{0,127}:(?P<secret>[^\s\"']{1,256})"
        ),
        is_literal,
        lazy(r"[^\s\"']*"),
    ),
    ContextPattern(
        "password",
        "echo ",
        lazy(
            rf"echo[ \t]{{1,4}}(?:-[neE]{{1,3}}[ \t]{{1,4}})?{_ARGUMENT}[\"']?"
            r"[ \t]{0,4}\|(?P<reader>[^|;&\r\n]{1,200})"
        ),
        _is_piped_in,
        NO_TAIL,
    ),
    *(
        ContextPattern(
            "password",
            f"{call}(",
            lazy(
                rf"(?i:{re.escape(call)})\(\s{{0,24}}\\?[\"'][^\"'\\\r\n]{{1,128}}\\?[\"'],\s{{0,24}}"
                r"\\?[\"'](?P<secret>[^\"'\\\r\n]{1,256})\\?[\"']"
            ),
            is_literal,
            NO_TAIL,
        )
        for call in ("auth=", "auth", ".login")
    ),
    *(
        ContextPattern(
            "password",
            f"{setting} ",
            lazy(
                rf"(?i:{setting})[ \t]{{1,4}}[\"']?(?P<secret>[^\s\"'\\]{{3,256}})[\"']?"
                r"[ \t]{0,4}(?=[\r\n]|\\n|\Z)"
            ),
            _has_line,
            NO_TAIL,
        )
        for setting in ("requirepass", "bindpw")
    ),
    *(
        ContextPattern("password", word, lazy(rf"(?i:{word}){_ARGUMENT}"), is_literal, NO_TAIL)
        for word in ("::add-mask::", "convertto-securestring ")
    ),
    *(
        ContextPattern(
            "password",
            owner,
            lazy(rf"(?i:{owner})(?:-[sS] )?[\w$#-]{{1,64}}/(?P<secret>[^\s@\"'/]{{1,128}})(?=@)"),
            is_literal,
            NO_TAIL,
        )
        for owner in ("sqlplus ", "jdbc:oracle:thin:")
    ),
    ContextPattern(
        "password",
        "sshpass",
        lazy(r"sshpass[ \t]{1,4}-p[ \t]{0,4}[\"']?(?P<secret>[^\s\"']{1,256})"),
        is_literal,
        lazy(r"[^\s\"']*"),
    ),
)
