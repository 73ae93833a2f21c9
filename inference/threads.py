"""How many threads numpy's matrix products use."""

from __future__ import annotations


def calm_blas() -> None:
    """One, from now on, in this process.

    The products here are small. With a second thread that waits for a busy core, one head's map of 512 tokens took
    7 to 20 ms instead of 0.4 (docs/LOG.md).
    """
    from threadpoolctl import threadpool_limits  # here: maps that are there already are shown without it

    threadpool_limits(limits=1, user_api="blas")
