"""Functions that run models with torch and return NumPy arrays.

Importing this package does not import torch.

>>> from inference import LocalBackend, TraceRequest
>>> trace = LocalBackend().trace(TraceRequest(text="The cat sat."))  # doctest: +SKIP
"""

from inference.backend import Backend, LocalBackend
from inference.errors import UserError
from inference.request import EMBEDDED, TraceRequest

__all__ = ["EMBEDDED", "Backend", "LocalBackend", "TraceRequest", "UserError"]
