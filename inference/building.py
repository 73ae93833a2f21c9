"""The lock under which transformers builds models, and a switch for its log output."""

from __future__ import annotations

import threading

# transformers patches its own modules while it builds a model, so models are built one at a time. Traces never wait for
# this lock. A model cache holds the lock until it has added the new model, so that the next load sees the memory left.
BUILDING = threading.RLock()


def silence_transformers() -> None:
    """Silence progress bars and warnings of transformers, which would fill the server's log.

    Errors are not lost: they reach the visitor as UserError.
    """
    import transformers

    transformers.utils.logging.disable_progress_bar()
    transformers.utils.logging.set_verbosity_error()
