"""Stores of other memories: what they have noted of sessions, and their notes.

Where a store names a project without its folder, it is the project of that name here, if there is
exactly one. What was deleted in the other memory meanwhile stays.
"""
