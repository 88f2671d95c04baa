"""Replay of real agent sessions with git beside them, and the scorers of what memory made of them.

`corpus` finds transcripts and repositories, `transcript` turns them into hook payloads, `history`
and `worktree` keep git where it was, `replay` plays all of it into a store of its own, `kept` is
what a replay leaves behind; everything else scores that.
"""
