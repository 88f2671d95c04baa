"""Hooks of the documentation's build; mkdocs.yml names this file.

Documents at the root of the repository become pages of the site under `project/`, links between
them and `docs/` lead there, and a page that would load anything from another host fails the build.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[1]
PAGES = {
    "CONTRIBUTING.md": "project/contributing.md",
    "SECURITY.md": "project/security.md",
    "CHANGELOG.md": "project/changelog.md",
    "hooks/README.md": "project/hooks.md",
}
"""Documents outside of docs/, from the root, and the page of the site that each becomes."""

_LINK = re.compile(r"(\]\()([^)\s#]+)((?:#[^)\s]*)?\))")
_LOADS = re.compile(
    r"""<(?:script|img|iframe|source)\b[^>]*\bsrc=["']?(?:https?:)?//[^>]*>"""
    r"""|<link\b(?=[^>]*\brel=["']?(?:stylesheet|preload|preconnect|icon))"""
    r"""[^>]*\bhref=["']?(?:https?:)?//[^>]*>""",
    re.IGNORECASE,
)


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Put a line for each decision into the navigation, by number."""
    found = sorted((ROOT / "docs" / "decisions").glob("[0-9]*.md"))
    pages = ["decisions/index.md", *(f"decisions/{path.name}" for path in found)]
    config.nav = [
        {"Decisions": pages} if entry == {"Decisions": "decisions/"} else entry
        for entry in config.nav or []
    ]
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the documents at the root."""
    for name, page in PAGES.items():
        text = (ROOT / name).read_text(encoding="utf-8")
        files.append(File.generated(config, page, content=text))
    return files


def on_page_markdown(markdown: str, page: Page, **_: object) -> str:
    """Return the page with links that lead to where each document is in the site."""
    uri = page.file.src_uri
    sources = {target: name for name, target in PAGES.items()}
    source = sources.get(uri, f"docs/{uri}")
    return _LINK.sub(lambda found: found[1] + moved(found[2], source, uri) + found[3], markdown)


def on_post_page(output: str, page: Page, **_: object) -> str:
    """Return the page as it is.

    Raises:
        PluginError: it would load something from another host.
    """
    found = _LOADS.search(output)
    if found:
        raise PluginError(f"{page.file.src_uri} loads from another host: {found[0][:200]}")
    return output


def moved(link: str, source: str, page: str) -> str:
    """Return a link of a document as the page of the site needs it.

    Args:
        link: where it leads, relative to the document; an address stays as it is.
        source: the document's path from the root of the repository.
        page: the page's path from the root of the site.
    """
    if ":" in link or link.startswith("/"):
        return link
    target = posixpath.normpath(posixpath.join(posixpath.dirname(source), link))
    target = PAGES.get(target, target.removeprefix("docs/"))
    return posixpath.relpath(target, posixpath.dirname(page) or ".")
