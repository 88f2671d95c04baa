"""Embeddings: the text of an item that is embedded, the models, and the vectors they make.

Between the store and search (step 7). The only user of onnxruntime and tokenizers, which are
imported when a model is loaded and not before.
"""
