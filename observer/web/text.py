"""Text of others as safe HTML: nothing in it runs, loads, hides or turns what stands around it."""

from __future__ import annotations

import re
from collections.abc import Iterable

import nh3
from markdown_it import MarkdownIt
from markupsafe import Markup, escape

from observer.core.text import plain

_TAGS = {
    *("p", "br", "hr", "strong", "em", "s", "code", "pre", "blockquote", "a"),
    *("ul", "ol", "li", "h1", "h2", "h3", "h4", "h5", "h6"),
    *("table", "thead", "tbody", "tr", "th", "td"),
}
_RENDERER = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
_RENDERER.disable("image")


def markdown(text: str) -> Markup:
    """Return Markdown as HTML: no image, no HTML of its own, headings below those of the page."""
    html = nh3.clean(
        _RENDERER.render(plain(text)),
        tags=_TAGS,
        attributes={"a": {"href"}},
        url_schemes={"http", "https"},
        link_rel="noopener noreferrer nofollow",
    )
    flat = _HEADING.sub(lambda found: "</p>" if found[1] else '<p class="heading">', html)
    return Markup(flat)  # noqa: S704 - cleaned above


_HEADING = re.compile(r"<(/?)h[1-6]>")
"""A heading of somebody's reply is none of the page: it would tear its outline."""


def marked(text: str, words: Iterable[str]) -> Markup:
    """Return a text with each of some words marked, as whole beginnings of words."""
    known = [re.escape(word) for word in words if word.strip()]
    shown = plain(text)
    if not known:
        return escape(shown)
    pattern = re.compile(
        rf"(?<!\w)({'|'.join(sorted(known, key=len, reverse=True))})", re.IGNORECASE
    )
    parts = pattern.split(shown)
    return Markup("").join(
        Markup("<mark>{}</mark>").format(part) if place % 2 else escape(part)
        for place, part in enumerate(parts)
    )


_CLASSES = {"+": "add", "-": "gone", " ": "same", "@": "between"}


def coloured(lines: Iterable[tuple[str, str]]) -> Markup:
    """Return the lines of a diff, each with its sign (@: what lies between is left out)."""
    return Markup("").join(
        Markup('<span class="{}">{}{}</span>').format(
            _CLASSES[sign], "⋯" if sign == "@" else sign, plain(text)
        )
        for sign, text in lines
    )


_LINK = re.compile(r'<a (?:[^>]* )?href="[/#][^>]*>(.*?)</a>', re.DOTALL)


def unlinked(html: str) -> Markup:
    """Return HTML of ours without its links to pages, which a file that is kept does not have."""
    return Markup(_LINK.sub(r"\1", str(html)))  # noqa: S704 - as it came, with less


def shown(value: object) -> object:
    """Return what a template prints: every text of others goes through `plain`."""
    return plain(value) if type(value) is str else value
