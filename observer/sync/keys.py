"""Who is in a share of files: each machine's keys, and the signed statements that let it in.

A machine has an Ed25519 key that signs, from which its id is made, and an X25519 key that age
encrypts to. The share's id is that of the machine that founded it. In `members/` lie cards ("this
machine is let in", signed by one that is in), claims ("this machine's records are of that origin",
by itself) and ends ("it signs nothing after segment N", by itself or the founder), which name the
cards that it had signed by then: a removed one lets in nobody. An invitation is the card of a
machine that is none yet; its secrets are the code. To join is to rotate.
"""

from __future__ import annotations

import base64
import hashlib
import secrets
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import TypeVar

import msgspec
import pyrage  # type: ignore[import-untyped]
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from observer.core import disk
from observer.core.errors import BadInput, NotFound, ShareUnavailable
from observer.core.paths import make_private, read_head, read_plain
from observer.core.value import Value, decode_json
from observer.sync.record import NotMember

FORMAT = 1
"""Of the whole share; a program that knows a lower one leaves the share alone."""
SHARE = "observer-share.json"
MEMBERS = "members"
_STATEMENT_BYTES = 1 << 20
_T = TypeVar("_T")


class Unreadable(Exception):
    """Something of a share that cannot be trusted or read; the message says why."""


class ShareFile(Value):
    """What is written once at the root of a share: its id, and to whom names are encrypted."""

    format: int
    share: str
    names: str


class Identity(Value):
    """The secrets of a machine in a share: `seed` signs, `secret` and `former` read."""

    share: str
    seed: str
    secret: str
    names: str
    former: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        """Return what the machine is called in the share."""
        return id_of(self.verify_key)

    @property
    def verify_key(self) -> str:
        """Return the public key that its signatures are checked with, as hexadecimal digits."""
        return self._private().public_key().public_bytes_raw().hex()

    def sign(self, data: bytes) -> bytes:
        """Return the 64 bytes of the signature."""
        return self._private().sign(data)

    def _private(self) -> Ed25519PrivateKey:
        return Ed25519PrivateKey.from_private_bytes(bytes.fromhex(self.seed))


class Card(Value):
    """That a machine is in, and who says so; `succeeds` if these are new keys of that one."""

    share: str
    verify_key: str
    recipient: str
    person: str
    by: str
    succeeds: bool = False


class OriginClaim(Value):
    """Of which origin the records are that a machine signs."""

    share: str
    id: str
    origin: str


class End(Value):
    """That a machine signs no segment that begins after `last`, and lets in only `invited`."""

    share: str
    id: str
    last: int
    invited: tuple[str, ...]
    by: str


class Signed(Value):
    """A statement as it was signed: the text of its JSON, and the signature in base 64."""

    text: str
    signature: str


class Member(Value):
    """A machine that is or was in: `root` is the id that its first keys had."""

    id: str
    card: Card
    root: str
    origin: str = ""
    end: End | None = None


class ShareMemory(Value):
    """What a home remembers of a share that nobody can take back.

    `ends` by their file, `origins` with the root that claimed each, `let_in` who got all keys.
    """

    ends: Mapping[str, Signed] = {}
    origins: Mapping[str, str] = {}
    let_in: tuple[str, ...] = ()


def id_of(verify_key: str) -> str:
    """Return the id of the machine with that public key: 32 hexadecimal digits."""
    return hashlib.sha256(bytes.fromhex(verify_key)).hexdigest()[:32]


def recipient_of(secret: str) -> str:
    """Return the public key of an age secret key."""
    return str(pyrage.x25519.Identity.from_str(secret).to_public())


def new_secret() -> str:
    """Return a fresh age secret key."""
    return str(pyrage.x25519.Identity.generate())


def seal(data: bytes, recipient: str) -> bytes:
    """Return data encrypted with age to a public key. Raises: Unreadable (it is no public key)."""
    try:
        sealed: bytes = pyrage.encrypt(data, [pyrage.x25519.Recipient.from_str(recipient)])
    except (pyrage.RecipientError, pyrage.EncryptError) as error:
        raise Unreadable(f"it names a public key that is none: {error}") from error
    return sealed


def unseal(sealed: bytes, with_secrets: Sequence[str]) -> bytes:
    """Return what was encrypted to one of the secret keys. Raises: Unreadable."""
    try:
        found = [pyrage.x25519.Identity.from_str(secret) for secret in with_secrets]
        data: bytes = pyrage.decrypt(sealed, found)
    except (pyrage.IdentityError, pyrage.DecryptError) as error:
        raise Unreadable("it cannot be decrypted with the key of this machine") from error
    return data


def verify(verify_key: str, signature: bytes, data: bytes) -> None:
    """Raise `Unreadable` unless the signature of the data was made with that machine's key."""
    try:
        Ed25519PublicKey.from_public_bytes(bytes.fromhex(verify_key)).verify(signature, data)
    except (InvalidSignature, ValueError) as error:
        raise Unreadable("its signature is wrong") from error


def publish(path: Path, data: bytes) -> None:
    """Put a file of a share in its place, whole and durable, for whoever may read the folder."""
    path.parent.mkdir(exist_ok=True)  # not everything that carries files carries empty folders
    beside = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    disk.create(beside, data)
    beside.chmod(0o644)
    beside.replace(path)
    disk.settle(path.parent)


def locked(home: Path, share: str) -> AbstractContextManager[None]:
    """Keep other processes of this home from writing to the share meanwhile."""
    return disk.locked(make_private(home / "sharing") / f"{share}.lock")


def share_in(folder: Path) -> ShareFile:
    """Return what share lies in a folder. Raises: ShareUnavailable (none, or of a later format)."""
    if not folder.is_dir():
        raise ShareUnavailable(
            f"there is no folder {folder}", hint="mount it; --create makes it, for a new share"
        )
    try:
        found = decode_json(read_head(folder / SHARE, _STATEMENT_BYTES), ShareFile)
    except FileNotFoundError as error:
        raise ShareUnavailable(
            f"{folder} holds no share",
            hint="wait until it has been synchronised, or make one: observer sync add … --create",
        ) from error
    except (OSError, msgspec.DecodeError) as error:
        raise ShareUnavailable(f"{folder / SHARE} cannot be read: {error}") from error
    if found.format > FORMAT:
        raise ShareUnavailable(
            f"the share in {folder} has format {found.format}, this observer knows {FORMAT}",
            hint="update observer",
        )
    return found


def identity_in(home: Path, share: str) -> Identity:
    """Return this machine's keys in a share. Raises: NotMember (none), ShareUnavailable."""
    try:
        return decode_json(read_plain(home / "sharing" / f"{share}.key"), Identity)
    except FileNotFoundError as error:
        raise NotMember(
            "this machine has no key to the share",
            hint="a member makes a code with: observer sync invite; add the share with --code",
        ) from error
    except (OSError, msgspec.DecodeError) as error:
        raise ShareUnavailable(f"this machine's key to the share is damaged: {error}") from error


def seen_in(home: Path, share: str) -> ShareMemory:
    """Return what this home remembers of a share."""
    try:
        return decode_json(read_plain(home / "sharing" / f"{share}.seen"), ShareMemory)
    except FileNotFoundError:
        return ShareMemory()
    except (OSError, msgspec.DecodeError) as error:
        raise ShareUnavailable(f"what is remembered of the share is damaged: {error}") from error


def remember(
    folder: Path,
    home: Path,
    share: str,
    seen: ShareMemory,
    members: Mapping[str, Member],
    origins: Mapping[str, str],
) -> None:
    """Keep what this home has seen of a share: beside that, the ends in force, and who is in."""
    ends = {f"{one.id}.{one.end.by}.end" for one in members.values() if one.end}
    fresh = {name: _read(folder, name) for name in ends - seen.ends.keys()}
    now = ShareMemory(
        ends={**seen.ends, **{name: end for name, end in fresh.items() if end}},
        origins=origins,
        let_in=tuple(sorted(one.id for one in members.values() if not one.end)),
    )
    if now != seen:
        path = make_private(home / "sharing") / f"{share}.seen"
        disk.replace(path, msgspec.json.encode(now))


def create(folder: Path, home: Path, *, person: str) -> Identity:
    """Found a share in an empty folder; return own keys. Raises: BadInput, ShareUnavailable."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if any(not entry.name.startswith(".") for entry in folder.iterdir()):
            raise BadInput(f"{folder} is not empty", hint="name a new folder for the share")
        names = new_secret()
        seed = secrets.token_hex(32)
        fresh = Identity(share="", seed=seed, secret=new_secret(), names=names)
        mine = msgspec.structs.replace(fresh, share=fresh.id)
        _keep(home, mine)
        _let_in(folder, mine, by=mine, person=person)
        share = ShareFile(format=FORMAT, share=mine.share, names=recipient_of(names))
        publish(folder / SHARE, msgspec.json.encode(share))
    except OSError as error:
        raise ShareUnavailable(f"no share can be made in {folder}: {error}") from error
    return mine


def invite(folder: Path, mine: Identity, *, person: str) -> str:
    """Let in a machine that is none yet, and return the code that it joins with, once."""
    seed = secrets.token_hex(32)
    guest = Identity(share=mine.share, seed=seed, secret=new_secret(), names=mine.names)
    _let_in(folder, guest, by=mine, person=person)
    return base64.urlsafe_b64encode(msgspec.json.encode(guest)).decode("ascii")


def join(folder: Path, home: Path, code: str) -> Identity:
    """Make own keys in a share by an invitation. Raises: BadInput (no code), ShareUnavailable."""
    share = share_in(folder)
    try:
        guest = decode_json(base64.urlsafe_b64decode(code), Identity)
    except (ValueError, msgspec.DecodeError) as error:
        raise BadInput("that is no code of an invitation", hint="copy the whole line") from error
    if guest.share != share.share:
        raise BadInput(f"the code is for another share than the one in {folder}")
    members = members_of(folder, share.share, seen_in(home, share.share))
    if guest.id not in members:
        raise ShareUnavailable("the invitation has not arrived", hint="wait for it; or ask anew")
    if members[guest.id].end:
        raise BadInput("the code was used or taken back", hint="ask for a new one")
    return succeed(folder, home, guest, name_of(members[guest.id], guest), last=0)


def succeed(folder: Path, home: Path, old: Identity, person: str, *, last: int) -> Identity:
    """Give a machine that sent up to `last` fresh keys, and end the old ones last."""
    fresh = msgspec.structs.replace(
        old, seed=secrets.token_hex(32), secret=new_secret(), former=(old.secret, *old.former)
    )
    _let_in(folder, fresh, by=old, person=person, succeeds=True)
    _keep(home, fresh)
    _end(folder, old, old.id, last=last)
    return fresh


def remove(
    folder: Path, mine: Identity, members: Mapping[str, Member], one: str, *, last: int
) -> None:
    """End a membership: one's own, or by the founder. Raises: NotFound, BadInput."""
    if one not in members or members[one].end:
        raise NotFound(f"no machine {one} is in the share", hint="try: observer sync members")
    if mine.id != one and members[mine.id].root != mine.share:
        raise BadInput("only the machine that founded the share removes others")
    _end(folder, mine, one, last=last)


def forget(home: Path, share: str) -> None:
    """Delete this machine's keys to a share and what it remembers of it."""
    for kind in ("key", "seen"):
        (home / "sharing" / f"{share}.{kind}").unlink(missing_ok=True)


def claim(folder: Path, mine: Identity, origin: str) -> None:
    """Say of which origin this machine's records are."""
    said = OriginClaim(share=mine.share, id=mine.id, origin=origin)
    _state(folder, mine, f"{mine.id}.claim", said)


def people_of(members: Mapping[str, Member], mine: Identity) -> dict[str, str]:
    """Return whose each machine is by its id, '' if the name cannot be read.

    Of whom others than the founder let in it is said who did, unless it is the same person.
    """
    names = {one.id: name_of(one, mine) for one in members.values()}
    found: dict[str, str] = {}
    for one in members.values():  # whoever let a machine in stands before it
        name, by = names[one.id], one.card.by
        if by != one.id and (one.card.succeeds or name == names[by]):
            name = found[by]
        elif name and members[by].root != mine.share:
            name = f"{name}, let in by {found[by]}"
        found[one.id] = name
    return found


def name_of(member: Member, mine: Identity) -> str:
    """Return whose a machine is as its card says, '' if that cannot be read."""
    try:
        return unseal(base64.b64decode(member.card.person), [mine.names]).decode("utf-8", "replace")
    except (Unreadable, ValueError):
        return ""


def members_of(folder: Path, share: str, seen: ShareMemory) -> dict[str, Member]:
    """Return the machines that are or were in, by id; statements that do not hold count nothing."""
    cards = _cards(folder, share)
    names = {path.name for path in (folder / MEMBERS).glob("*.end")}
    read = [*seen.ends.values(), *filter(None, (_read(folder, name) for name in sorted(names)))]
    ends = [(signed, end) for signed in read if (end := _said(signed, End))]
    found: dict[str, Member] = {}
    waiting = [(share, share)] if share in cards else []
    while waiting:
        one, root = waiting.pop()
        signed, card = cards[one]
        if one in found or not _holds(signed, card, card if one == share else found[card.by].card):
            continue
        end = _end_of(one, card, ends, found, share)
        origin = _origin_of(folder, card, share)
        found[one] = Member(id=one, card=card, root=root, origin=origin, end=end)
        for other, (_, theirs) in cards.items():
            if theirs.by == one and (end is None or other in end.invited):
                # The founder's line goes first: it is what other ends are checked against.
                place = len(waiting) if theirs.succeeds else 0
                waiting.insert(place, (other, root if theirs.succeeds else other))
    return found


def _cards(folder: Path, share: str) -> dict[str, tuple[Signed, Card]]:
    found = {}
    for path in sorted((folder / MEMBERS).glob("*.card")):
        signed = _read(folder, path.name)
        card = _said(signed, Card)
        with suppress(ValueError):  # a key that is none
            if signed and card and (card.share, id_of(card.verify_key)) == (share, path.stem):
                found[path.stem] = (signed, card)
    return found


def _end_of(
    one: str, card: Card, ends: list[tuple[Signed, End]], found: dict[str, Member], share: str
) -> End | None:
    """Return the end of a machine that holds: the founder's before its own."""
    own: End | None = None
    for signed, end in ends:
        if (end.share, end.id) != (share, one):
            continue
        signer = found.get(end.by)
        if end.by == one and _holds(signed, end, card):
            own = own or end
        elif signer and signer.root == share and _holds(signed, end, signer.card):
            return end
    return own


def _origin_of(folder: Path, card: Card, share: str) -> str:
    one = id_of(card.verify_key)
    signed = _read(folder, f"{one}.claim")
    said = _said(signed, OriginClaim)
    if not signed or not said or (said.share, said.id) != (share, one):
        return ""
    return said.origin if _holds(signed, said, card) else ""


def _let_in(
    folder: Path, one: Identity, *, by: Identity, person: str, succeeds: bool = False
) -> None:
    card = Card(
        share=one.share,
        verify_key=one.verify_key,
        recipient=recipient_of(one.secret),
        person=base64.b64encode(seal(person.encode(), recipient_of(one.names))).decode("ascii"),
        by=by.id,
        succeeds=succeeds,
    )
    _state(folder, by, f"{one.id}.card", card)


def _end(folder: Path, by: Identity, one: str, *, last: int) -> None:
    cards = _cards(folder, by.share)
    invited = tuple(sorted(other for other, (_, card) in cards.items() if card.by == one != other))
    said = End(share=by.share, id=one, last=last, invited=invited, by=by.id)
    _state(folder, by, f"{one}.{by.id}.end", said)


def _keep(home: Path, mine: Identity) -> None:
    path = make_private(home / "sharing") / f"{mine.share}.key"
    disk.replace(path, msgspec.json.encode(mine))
    disk.settle(path.parent)


def _state(folder: Path, by: Identity, name: str, said: Value) -> None:
    text = msgspec.json.encode(said).decode()
    signature = base64.b64encode(by.sign(_signable(said, text))).decode("ascii")
    signed = Signed(text=text, signature=signature)
    publish(folder / MEMBERS / name, msgspec.json.encode(signed))


def _signable(said: Value, text: str) -> bytes:
    # The kind is signed too, so that no statement is taken for one of another kind.
    return f"observer {type(said).__name__}\0{text}".encode()


def _read(folder: Path, name: str) -> Signed | None:
    with suppress(OSError, msgspec.DecodeError):
        return decode_json(read_head(folder / MEMBERS / name, _STATEMENT_BYTES), Signed)
    return None


def _said(signed: Signed | None, kind: type[_T]) -> _T | None:
    with suppress(msgspec.DecodeError):
        return decode_json(signed.text, kind) if signed else None
    return None


def _holds(signed: Signed, said: Value, by: Card) -> bool:
    with suppress(Unreadable, ValueError):
        signature = base64.b64decode(signed.signature)
        verify(by.verify_key, signature, _signable(said, signed.text))
        return True
    return False
