"""How models are built with transformers: one at a time, and quietly."""

from __future__ import annotations

import threading

# transformers patches its own modules while it builds a model, so one is built at a time. Traces never wait for it.
# Whoever counts models holds it until the new one is counted, so that the next one is measured against what is left.
BUILDING = threading.RLock()


def silence_transformers() -> None:
    """Silences transformers' progress bars and remarks, which would fill the server's log; faults become refusals."""
    import transformers

    transformers.utils.logging.disable_progress_bar()
    transformers.utils.logging.set_verbosity_error()
