"""Values drawn by a seed: from templates, and from the six alphabets that secrets are made of.

A template such as `ghp_<mix:36>` never matches what scanners look for, so none flags this folder.
"""

from __future__ import annotations

import hashlib
import re
import string
from typing import Literal, TypeAlias

Alphabet: TypeAlias = Literal["hex", "base64", "base64url", "alphanumeric", "printable", "human"]

_HEX = "0123456789abcdef"
_MIX = string.ascii_letters + string.digits
_CLASSES = {
    "hex": _HEX,
    "HEX": _HEX.upper(),
    "dig": string.digits,
    "low": string.ascii_lowercase,
    "az": string.ascii_lowercase + string.digits,
    "AZ": string.ascii_uppercase + string.digits,
    "b32": string.ascii_uppercase + "234567",
    "let": string.ascii_letters,
    "mix": _MIX,
    "url": _MIX + "_-",
    "b64": _MIX + "+/",
    "print": _MIX + "!-/@$#%^&*_+=.:?~" * 2,
    "mild": _MIX + "!-/@%^_+=.:" * 2,
    "mark": "!#$%&*+-=?@^_~",
    "punct": _MIX + "!@#%^&*()_+-=[]{}|;:,.<>?/~",
}
_WORDS = (
    "otter",
    "maple",
    "quartz",
    "lantern",
    "velvet",
    "harbor",
    "comet",
    "walnut",
    "ember",
    "glacier",
    "saffron",
    "pebble",
    "falcon",
    "meadow",
    "copper",
    "tundra",
    "violet",
    "cedar",
    "anchor",
    "basil",
    "canyon",
    "dahlia",
    "echo",
    "fjord",
    "garnet",
    "hazel",
    "indigo",
    "jasper",
    "kelp",
    "lagoon",
    "marble",
    "nectar",
    "onyx",
    "prairie",
    "quiver",
    "ripple",
    "sable",
    "thistle",
    "umber",
    "vortex",
    "willow",
    "yarrow",
    "zephyr",
    "acorn",
    "birch",
    "cobalt",
    "dune",
    "elder",
    "fern",
    "grove",
    "heron",
    "iris",
    "juniper",
    "kestrel",
    "lichen",
    "moss",
    "nimbus",
    "orchid",
    "poppy",
    "quill",
    "raven",
    "sorrel",
    "teal",
    "urchin",
    "vale",
    "wren",
    "yonder",
    "zinnia",
    "amber",
    "brook",
    "clover",
    "sommer",
    "winter",
    "berlin",
    "lisboa",
    "kraków",
    "żubr",
    "torino",
    "malmö",
    "brest",
    "gent",
    "oslo",
    "porto",
    "turku",
    "varna",
)
_PART = re.compile(r"<([Ww]ord|\w+(?=:))(?::(\d+))?>")
_ALPHABETS: dict[Alphabet, tuple[str, ...]] = {
    "hex": ("<hex:32>", "<hex:40>", "<hex:24>", "<HEX:32>"),
    "base64": ("<b64:43>=", "<b64:30>+/", "<b64:22>==", "/<b64:39>"),
    "base64url": ("<url:32>", "<url:43>", "<url:21>", "<url:10>-<url:11>_"),
    "alphanumeric": ("<mix:16>", "<mix:24>", "<mix:32>", "<az:20>"),
    "printable": ("<print:16>", "<print:20>", "<mix:6>!<print:8>", "<print:7>-<mix:4>/<print:5>"),
    "human": (
        "<Word>!<dig:4>-<Word>",
        "<Word><dig:2><mark:1><word><dig:1>",
        "<word>-<word>-<word>-<dig:3>",
        "<word>-<word>-<word>-<word>",
        "<Word>.<word>_<dig:3>!",
    ),
}
_MILD = {
    **_ALPHABETS,
    "printable": ("<mix:1><mild:15>", "<mix:5>!<mild:9>", "<mix:6>-<mild:8>", "<mix:5>@<mild:9>"),
}
ALPHABETS: tuple[Alphabet, ...] = tuple(_ALPHABETS)


def value(alphabet: Alphabet, seed: str, *, is_mild: bool) -> str:
    """Return a secret of an alphabet; a mild one can stand without quotes in most languages."""
    forms = (_MILD if is_mild else _ALPHABETS)[alphabet]
    digest = hashlib.sha256(f"{seed}|{alphabet}".encode()).digest()
    return draw(forms[digest[0] % len(forms)], seed)


def draw(template: str, seed: str) -> str:
    """Return the template with every `<class:length>` drawn; `<word>` draws a word."""
    stream = iter(hashlib.shake_256(f"{seed}|{template}".encode()).digest(8192))

    def drawn(part: re.Match[str]) -> str:
        if part[1] in {"word", "Word"}:
            word = _WORDS[(next(stream) * 256 + next(stream)) % len(_WORDS)]
            return word.title() if part[1] == "Word" else word
        letters = _CLASSES[part[1]]
        return "".join(
            letters[(next(stream) * 256 + next(stream)) % len(letters)] for _ in range(int(part[2]))
        )

    return _PART.sub(drawn, template)
