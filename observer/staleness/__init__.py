"""Truth over time: what of an item still holds in the code, followed through git.

`prints` tells one version of a symbol from another, `wishes` what an item is about, `walk` follows
that from commit to commit, `verdict` says in a few words what came of it, `following` keeps the
store up with one work tree, and `succession` finds notes that take the place of older ones.
"""
