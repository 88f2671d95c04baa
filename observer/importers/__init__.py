"""Importers: foreign data to events, one module a source.

An importer is a generator of events with ids that follow from the source alone, so importing
twice stores once.
"""
