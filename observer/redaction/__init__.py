"""Redaction of secrets: one function, `redact`, through which every stored text passes."""
