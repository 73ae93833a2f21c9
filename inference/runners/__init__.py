"""The computation of each request: a module for each module of inference/tasks/, under the same name.

These modules import torch.
"""
