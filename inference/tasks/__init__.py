"""Requests to a model other than its attention, each a frozen value with its answer.

These modules do not import torch.
"""
