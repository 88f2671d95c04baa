"""Edits of configuration files of other programs: planned, shown, applied, reversible."""
