"""A small Transformer that translates (arXiv:1706.03762), trained from scratch on sentence pairs: docs/TRAINING.md."""
