"""A language model behind an OpenAI-compatible endpoint; not imported without `llm_url`."""
