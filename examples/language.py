"""Gleam, read line by line; see "Add a language" in CONTRIBUTING.md.

    pub fn total(lines: List(Int)) -> Int {
    pub type Cart {
    const limit = 3

Lines of `_GRAMMARS` are patterns whose last matching group is the name that the line defines.
"""

from __future__ import annotations

EXTENSIONS = {"gleam": "gleam"}

ANYWHERE = (r"(?:pub[ \t]+)?(?:fn|type)[ \t]+(\w+)",)
OUTERMOST = (r"(?:pub[ \t]+)?const[ \t]+(\w+)",)
