"""git: post-commit, post-applypatch, post-merge, post-checkout and post-rewrite.

The hook says where HEAD is and what git was doing; the commit itself is read from the repository
later. Source: githooks(5); hooks/README.md for the fields.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Literal, TypeAlias

from observer.clients.attribution import attribute
from observer.clients.envelope import Envelope, Object
from observer.core.errors import Undecodable
from observer.core.events import AnyBody, Checkout, Commit, Custom, Event, Rewrite

NAME = "git"

_Action: TypeAlias = Literal["commit", "merge", "cherry-pick", "revert"]
_ACTIONS: Mapping[str, _Action] = {
    "merge": "merge",
    "cherry-pick": "cherry-pick",
    "revert": "revert",
}
_HASH = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?\Z")
_SQUASHED = ("1",)
_REBASE = "rebase"
_PATHS_ONLY = "0"


def read(envelope: Envelope, _: Object) -> Iterable[Event]:
    """Turn one hook call into its event; rebases are reported once, by post-rewrite."""
    body = _READERS.get(envelope.event, _unknown)(envelope)
    return () if body is None else (_event(envelope, body),)


def _event(envelope: Envelope, body: AnyBody) -> Event:
    who = attribute(envelope.env)
    return Event(
        id=envelope.id,
        at_ms=envelope.at_ms,
        client=who.client or NAME,
        body=body,
        session=who.session,
        cwd=envelope.cwd,
        roots=(envelope.cwd,) if envelope.cwd else (),
        host=envelope.host,
        route=f"{envelope.client}/{envelope.event}",
        dedup=_dedup(body),
        author=who.author,
        branch=envelope.env.get("git.branch", "") if "git.head" in envelope.env else None,
        since=_since(envelope),
    )


def _dedup(body: AnyBody) -> str:
    if isinstance(body, Commit):
        return f"commit:{body.hash}"
    if isinstance(body, Rewrite):
        old, new = body.pairs[-1]
        return f"rewrite:{old}:{new}"
    return ""


def _post_commit(envelope: Envelope) -> AnyBody | None:
    doing = envelope.env.get("git.action", "")
    if doing == _REBASE:
        return None
    return Commit(hash=_head(envelope), action=_ACTIONS.get(doing, "commit"))


def _post_merge(envelope: Envelope) -> AnyBody | None:
    # `merge --squash` changes files only; the commit that follows reports itself.
    return None if envelope.args[:1] == _SQUASHED else Commit(hash=_head(envelope), action="merge")


def _post_checkout(envelope: Envelope) -> AnyBody | None:
    old, new, flag = _moved(envelope)
    if flag == _PATHS_ONLY:
        return None
    if envelope.env.get("git.action") == _REBASE:
        # It stands on its new base, and perhaps on what others made: nothing else reports that.
        return Commit(hash=new, action="import") if _HASH.match(new) else None
    return Checkout(old=old, new=new, branch=envelope.env.get("git.branch", ""))


def _post_rewrite(envelope: Envelope) -> AnyBody | None:
    lines = envelope.payload.decode("utf-8", "replace").splitlines()
    words = (line.split() for line in lines)
    pairs = tuple((found[0], found[1]) for found in words if _is_pair(found))
    if lines and not pairs:
        raise Undecodable("git post-rewrite without a line of two hashes")
    # A rebase also lists the commits that it kept as they were.
    changed = tuple(pair for pair in pairs if pair[0] != pair[1])
    return Rewrite(reason="".join(envelope.args[:1]), pairs=changed) if changed else None


def _moved(envelope: Envelope) -> tuple[str, str, str]:
    old, new, flag = (*envelope.args, "", "", "")[:3]
    return old, new, flag


def _since(envelope: Envelope) -> str:
    since = envelope.env.get("git.was", "")
    if envelope.event == "post-checkout" and envelope.env.get("git.action") == _REBASE:
        since = _moved(envelope)[0]
    return since if _HASH.match(since) else ""


def _is_pair(words: list[str]) -> bool:
    return len(words) > 1 and all(_HASH.match(word) for word in words[:2])


def _head(envelope: Envelope) -> str:
    head = envelope.env.get("git.head", "")
    if not _HASH.match(head):
        raise Undecodable(f"git {envelope.event} without the hash of HEAD")
    return head


def _unknown(envelope: Envelope) -> AnyBody:
    said = (" ".join(envelope.args), envelope.payload.decode("utf-8", "replace"))
    return Custom(name=f"{NAME}:{envelope.event}", text="\n".join(filter(None, said)))


_READERS: Mapping[str, Callable[[Envelope], AnyBody | None]] = {
    "post-commit": _post_commit,
    "post-applypatch": _post_commit,
    "post-merge": _post_merge,
    "post-checkout": _post_checkout,
    "post-rewrite": _post_rewrite,
}
