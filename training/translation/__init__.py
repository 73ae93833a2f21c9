"""A small Transformer for translation (arXiv:1706.03762), trained from scratch.

docs/TRAINING.md explains how to train it on sentence pairs.
"""
