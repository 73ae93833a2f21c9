"""The thread limit of numpy's matrix products."""

from __future__ import annotations


def calm_blas() -> None:
    """Limit BLAS to a single thread in this process.

    The matrix products here are small. With a second thread that waits for a busy core, the attention map of a
    head for 512 tokens took 7 to 20 ms instead of 0.4 ms (docs/LOG.md).
    """
    from threadpoolctl import threadpool_limits  # imported here, because showing existing maps does not need it

    threadpool_limits(limits=1, user_api="blas")
