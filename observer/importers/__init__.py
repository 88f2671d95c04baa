"""Importers: foreign data to events, whose ids follow from their source alone."""
