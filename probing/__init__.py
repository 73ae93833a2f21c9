"""Scores of attention heads on annotated sentences, with baselines and tests; independent of torch."""
