"""The types and values that every room uses: events, items, filters, errors, paths, settings."""
