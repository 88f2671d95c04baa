"""One name for every spelling of a remote: `host/owner/name`, without credentials.

`git@host:o/n.git`, `ssh://host:22/o/n` and `https://user:token@host/o/n` are one remote. A remote
on this machine is named by its absolute path.
"""

from __future__ import annotations

import os
import re

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")
_HELPER = re.compile(r"([A-Za-z0-9_-]+)::")
_SCP = re.compile(r"(?:[^/]*@)?(\[[^\]/]*\]|[^/:\[\]]+):(.*)", re.DOTALL)
_OTHER_NAMES = {
    "ssh.github.com": "github.com",
    "altssh.gitlab.com": "gitlab.com",
    "altssh.bitbucket.org": "bitbucket.org",
}
"""Hosts that serve the same repositories through a port that firewalls let pass."""
_CASELESS = frozenset({"github.com", "gitlab.com", "bitbucket.org", "codeberg.org"})
"""Hosts to which the case of owners and names is all one."""
_DEFAULT_PORTS = {"http": "80", "https": "443"}


def normalise(url: str, *, base: str) -> str:
    """Return the name of a remote; a relative path is meant from `base`.

    Empty for what names no place: a command (`ext::…`), an empty URL.

    Raises:
        ValueError: a local path that no file system can hold (NUL, lone surrogates).
    """
    url = url.strip()
    if helper := _HELPER.match(url):
        return "" if helper[1] == "ext" else normalise(url[helper.end() :], base=base)
    if scheme := _SCHEME.match(url):
        return _from_url(scheme[1].lower(), url[scheme.end() :])
    if scp := _SCP.match(url):
        inside = scp[1].strip("[]")  # [host:port] or an IPv6 address
        return _join(inside.partition(":")[0] if inside.count(":") == 1 else inside, scp[2])
    return _local(os.path.join(base, os.path.expanduser(url))) if url else ""


def _from_url(scheme: str, rest: str) -> str:
    rest = re.split(r"[?#]", rest, maxsplit=1)[0]
    authority, _, path = rest.partition("/")
    if scheme == "file":
        return _local(f"/{path}")
    host, port = _host_and_port(authority)
    if not (port.isdigit() or not port):
        # An unescaped slash in a password ends the authority early; what follows the last @ is
        # the host, and nothing before it may be kept.
        authority, _, path = rest.rpartition("@")[2].partition("/")
        host, port = _host_and_port(authority)
    if port and (scheme not in _DEFAULT_PORTS or port == _DEFAULT_PORTS[scheme]):
        port = ""  # the port of an ssh server says nothing about the repository
    return _join(f"{host}:{port}" if port else host, path)


def _host_and_port(authority: str) -> tuple[str, str]:
    host = authority.rpartition("@")[2]
    if host.startswith("["):
        name, _, port = host[1:].partition("]")
        return name, port.removeprefix(":")
    name, _, port = host.partition(":")
    return name, port


def _join(host: str, path: str) -> str:
    parts = [part for part in path.split("/") if part]
    if parts:
        parts[-1] = parts[-1].removesuffix(".git") or parts[-1]
    host = host.lower()
    host = _OTHER_NAMES.get(host, host)
    name = "/".join([host, *parts])
    return name.lower() if host in _CASELESS else name


def _local(path: str) -> str:
    return os.path.realpath(path).removesuffix("/.git")
