"""Fine-tuning jobs that visitors request: their files, their states, and their queue.

This package imports neither torch nor transformers, since pages import it; the training itself is a separate
process.
"""
