"""Evaluation: how well recall finds what a query is about, in figures with error bars.

`sets` reads documents and queries from files, `commits` makes them of a git history, `asking` runs
them through the real store and the real recall, `measures` turns answers into figures, `findings`
compares the systems that answered.
"""
