"""Meaning: what a model reads of an item, which models there are, and the vectors they make.

Between the store and recall (step 7). The only home of onnxruntime and tokenizers, which are
imported when a model is loaded and not before.
"""
