"""What a text defines: one function, class, constant, key or section."""

from __future__ import annotations

from observer.events import Value


class Symbol(Value):
    """A definition, where it stands and what it says.

    `path` is `name` behind the names of the definitions around it: ``Cart.total``. Lines count
    from 1 and include the last. `signature` stands before the body and is empty where nothing can
    be called or inherited; `text` is all of the definition but what is defined inside it. Both are
    without comments, and spaced alike however they were laid out.
    """

    name: str
    path: str
    kind: str
    first_line: int
    last_line: int
    signature: str = ""
    text: str = ""
    comments: str = ""
