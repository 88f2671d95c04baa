"""Values drawn from templates by a seed: the same seed draws the same value for ever.

A template such as `ghp_<mix:36>` never matches what scanners look for, so none flags this folder.
"""

from __future__ import annotations

import hashlib
import re
import string

_HEX = "0123456789abcdef"
_CLASSES = {
    "hex": _HEX,
    "HEX": _HEX.upper(),
    "dig": string.digits,
    "low": string.ascii_lowercase,
    "az": string.ascii_lowercase + string.digits,
    "AZ": string.ascii_uppercase + string.digits,
    "b32": string.ascii_uppercase + "234567",
    "let": string.ascii_letters,
    "mix": string.ascii_letters + string.digits,
    "url": string.ascii_letters + string.digits + "_-",
    "b64": string.ascii_letters + string.digits + "+/",
    "punct": string.ascii_letters + string.digits + "!@#%^&*()_+-=[]{}|;:,.<>?/~",
    "mild": string.ascii_letters + string.digits + "!@#%^*_+-=.?~",
}
_WORDS = (
    *("otter", "maple", "quartz", "lantern", "velvet", "harbor", "comet", "walnut", "ember"),
    *("glacier", "saffron", "pebble", "falcon", "meadow", "copper", "tundra", "violet", "cedar"),
)
_PART = re.compile(r"<(\w+)(?::(\d+))?>")


def draw(template: str, seed: str) -> str:
    """Return the template with every `<class:length>` drawn; `<word>` draws a word."""
    stream = iter(hashlib.shake_256(f"{seed}|{template}".encode()).digest(8192))

    def drawn(part: re.Match[str]) -> str:
        if part[1] in {"word", "Word"}:
            word = _WORDS[next(stream) % len(_WORDS)]
            return word.title() if part[1] == "Word" else word
        letters = _CLASSES[part[1]]
        return "".join(
            letters[(next(stream) * 256 + next(stream)) % len(letters)] for _ in range(int(part[2]))
        )

    return _PART.sub(drawn, template)
