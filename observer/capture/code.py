"""What stands behind a secret's name in source code, and in what programs print, and is no secret.

Part of step 4 (redaction). `last_token = @last_token[0]`, `token: this.type}`, `--- PASS: TestA`:
names, expressions, types and results of tests. A value is judged by its form alone; what looks
drawn by a machine has been let through before.
"""

from __future__ import annotations

import re

from observer.capture.secrets import is_random

_VARIABLE = re.compile(r"[@$]{1,2}[A-Za-z_]{3,64}(?:[.\[(].{0,256})?\Z", re.DOTALL)
_EXPRESSION = re.compile(r"[(){}\[\]?!;]|=(?!=*\Z)|\w\+\d|->")
_BASE_64 = re.compile(r"[A-Za-z0-9+/]{20,}={0,2}")
_ERROR_NAME = re.compile(
    r"(?:err(?:or)?|invalid|missing|bad)(?=[A-Z_])|(?:ERR|ERROR|Err(?:or)?)_?[A-Z]"
)
_PUBLIC = re.compile(r"public[_-]?key", re.IGNORECASE)


def is_result(name: str, assign: str) -> bool:
    """Return True for the name of a test's result: `--- PASS: TestTotal`."""
    return name == "PASS" and ":" in assign


def is_about(name: str) -> bool:
    """Return True for a name that only tells of a secret, or of what everybody may know."""
    return _ERROR_NAME.match(name) is not None or _PUBLIC.search(name) is not None


def is_variable(value: str) -> bool:
    """Return True for a variable of Ruby, Perl or PHP, and what is called on it."""
    return _VARIABLE.match(value) is not None


def is_expression(value: str) -> bool:
    """Return True for text that no token or key is made of: blanks, brackets and operators."""
    if _BASE_64.fullmatch(value) and is_random(value):
        return False
    return " " in value or value.endswith(":") or _EXPRESSION.search(value) is not None
