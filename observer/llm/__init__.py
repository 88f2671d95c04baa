"""A language model behind an OpenAI-compatible endpoint: settings, prompts and replies.

Off unless `llm_url` is set; nothing of this package is imported before. It only adds to what was
derived without it.
"""
