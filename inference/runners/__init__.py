"""The computations of all requests; a request of inference/tasks/ names its function (``ANSWERED_BY``).

These modules import torch.
"""
