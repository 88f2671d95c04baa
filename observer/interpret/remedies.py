"""Which commands change what is checked, so that a check may pass after them.

Part of interpretation (step 6): package managers, fixers and formatters, in-place editors, and git
where it brings in other work.
"""

from __future__ import annotations

from observer.interpret.commandline import Part
from observer.interpret.runners import name_of
from observer.interpret.wording import word_set

_VERBS = {
    tool: word_set(verbs)
    for tools, verbs in (
        ("pip pip3 uv poetry pdm conda mamba pipx", "install add sync update upgrade remove"),
        ("npm yarn pnpm bun", "install i ci add remove update upgrade dedupe link"),
        ("cargo", "add remove update fmt fix install"),
        ("go", "get mod fmt generate install"),
        ("gem bundle composer", "install update require add"),
        ("apt apt-get brew dnf yum apk", "install add upgrade update"),
        ("dotnet", "add restore format"),
        ("git", "apply am pull merge cherry-pick rebase"),
        ("docker docker-compose", "build pull compose"),
        ("alembic prisma", "upgrade migrate"),
    )
    for tool in tools.split()
}
_ALWAYS = word_set("patch black isort rustfmt chmod mv cp touch mkdir ln autopep8 tee")
_WITH_OPTION = {
    "sed": ("-i",),
    "perl": ("-pi", "-i"),
    "gofmt": ("-w",),
    "prettier": ("--write", "-w"),
    "eslint": ("--fix",),
    "ruff": ("--fix", "format"),
    "biome": ("--write", "--apply"),
    "rubocop": ("-a", "-A", "--autocorrect"),
}


def is_remedy(part: Part) -> bool:
    """Tell whether a simple command changes files or what is installed."""
    tool, words = name_of(part.words[0]), part.words[1:]
    if any(word.startswith("--check") or word in {"--abort", "--dry-run"} for word in words):
        return False
    verb = next((word for word in words if not word.startswith("-")), "")
    if verb in _VERBS.get(tool, ()) or tool in _ALWAYS:
        return True
    return any(word.startswith(_WITH_OPTION.get(tool, ("\0",))) for word in words)
