"""Staleness: which items still hold in the code and which were superseded, kept up with git.

`sync` is the entry point. `history_walk` fingerprints symbols and follows anchors from commit to
commit, `changed_items` and `anchoring` anchor new items, `worktree_sync` stores the result for one
worktree, and `supersession` finds statements that supersede or amend older ones.
"""
