"""Training recipes for BERT pre-training, translation and fine-tuning.

docs/TRAINING.md explains how to rerun them.
"""
