"""Models in, numpy out: the only room that knows torch. Importing it is cheap; torch comes with the first trace.

>>> from inference import LocalBackend, TraceRequest
>>> trace = LocalBackend().trace(TraceRequest(text="The cat sat."))  # doctest: +SKIP
"""

from inference.backend import Backend, LocalBackend
from inference.errors import UserError
from inference.request import EMBEDDED, TraceRequest

__all__ = ["EMBEDDED", "Backend", "LocalBackend", "TraceRequest", "UserError"]
