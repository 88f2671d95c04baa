"""Staleness: which items still hold in the code, kept up with git.

`worktree_sync` is the entry point, and anchors new items; `history_walk` follows anchors from
commit to commit.
"""
