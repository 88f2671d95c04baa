"""Staleness: which items still hold in the code, kept up with git.

`sync` is the entry point; `history_walk` follows anchors from commit to commit, `changed_items` and
`anchoring` anchor new items.
"""
