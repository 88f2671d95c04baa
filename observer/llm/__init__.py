"""A language model behind an OpenAI-compatible endpoint: where, what it is asked, what it said.

Off unless `llm_url` is set; nothing of this package is imported before. It only ever adds to what
was made without it.
"""
