"""A Transformer and its baselines (LSTM, CNN) of the same size, trained on four synthetic tasks.

The requests and results are in `training/jobs/baseline_runs.py`, which does not import torch, so that pages can
import it.
"""
