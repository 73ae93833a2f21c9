"""Requests to a model for anything but a trace, each with the class of its answer.

These modules do not import torch.
"""
