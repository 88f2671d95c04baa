"""Repair: what is whole of a damaged database is kept, backups give the rest, and losses are told.

A database is mended at a daemon's start, before anything reads it. The damaged files stay in
`backups`. A mending that is killed begins anew at the next start.
"""
