"""How many threads numpy's matrix products use."""

from __future__ import annotations

from threadpoolctl import threadpool_limits


def calm_blas() -> None:
    """One, from now on, in this process.

    The products here are small. With a second thread that waits for a busy core, one head's map of 512 tokens took
    7 to 20 ms instead of 0.4 (docs/LOG.md).
    """
    threadpool_limits(limits=1, user_api="blas")
