"""Functions that compute the answers to model requests, in modules that import torch.

A request class of inference/tasks/ names its function in ``ANSWERED_BY``.
"""
