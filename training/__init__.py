"""The recipes of the embedded models, BERT's pre-training and a translator, for anyone to rerun: docs/TRAINING.md."""
