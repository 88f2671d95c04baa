"""Repair: what is whole of a damaged database is kept, backups give the rest, losses are listed.

A database is repaired at a daemon's start, before anything reads it. The damaged files stay in
`backups`. A mending that is killed begins anew at the next start.
"""
