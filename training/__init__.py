"""BERT's pre-training as published (arXiv:1810.04805), as a recipe that anyone can rerun: docs/TRAINING.md."""
