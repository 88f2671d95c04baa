"""Whether a change can have to do with a failure.

Part of interpretation (step 6), of the arcs. In doubt it can: only what surely has nothing to do
with it is left out, namely prose, and the code of other languages than the one that is checked.
"""

from __future__ import annotations

from observer.interpret.invocation import FAMILIES
from observer.interpret.story import Edited, Trouble
from observer.interpret.wording import base_name, word_set
from observer.languages import language_of

_PROSE = word_set("markdown restructuredtext")
_PROSE_ENDS = (".adoc", ".png", ".jpg", ".svg", ".gif", ".pdf", "LICENSE")
_LANGUAGES = {
    "python": "python",
    "javascript": "javascript",
    "typescript": "javascript",
    "vue": "javascript",
    "svelte": "javascript",
    "css": "javascript",
    "scss": "javascript",
    "go": "go",
    "rust": "rust",
    "java": "java",
    "kotlin": "java",
    "csharp": "csharp",
    "ruby": "ruby",
    "php": "php",
}
"""Language of a file -> the family of programs that judge it."""


def is_related(edit: Edited, trouble: Trouble) -> bool:
    """Tell whether an edit can have mended a failure, or can have been meant to."""
    if is_named(edit, trouble):
        return True
    if not edit.path:
        tool = edit.said.split(" ", 1)[0]
        family, other = trouble.of.family, FAMILIES.get(tool, "")
        return edit.sort == "undo" or not family or not other or family == other
    language = language_of(edit.path)
    if language in _PROSE or edit.path.endswith(_PROSE_ENDS):
        return False
    family = _LANGUAGES.get(language, "")
    return not family or not trouble.of.family or family == trouble.of.family


def is_named(edit: Edited, trouble: Trouble) -> bool:
    """Tell whether the failure, or the command, names the file of an edit."""
    name = base_name(edit.path)
    said = (trouble.head, trouble.error, trouble.last_error, *trouble.tests)
    return bool(name) and any(name in text for text in said)
