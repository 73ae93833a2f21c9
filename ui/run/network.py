"""Whether the hub can be asked from here, as far as that is known without asking it."""

from __future__ import annotations

import socket
import time

from ui.run.shelf import backend

AGAIN = 300.0  # seconds after which a hub that did not answer may be there again
NOWHERE = ("192.0.2.1", 9)  # an address kept for documentation (RFC 5737): nothing is there, and nothing is sent

failures: list[float] = []  # when the hub did not answer last, by the steady clock


def failed() -> None:
    """The hub has been asked, and did not answer."""
    failures[:] = [time.monotonic()]


def hub_in_reach() -> bool:
    """False where the operator has switched the hub off, there is no way out of this machine, or it failed lately."""
    lately = bool(failures) and time.monotonic() - failures[-1] < AGAIN
    return not (backend().settings.offline or lately) and routed()


def routed() -> bool:
    """Whether the system knows a way to other machines; a datagram socket looks one up and sends nothing."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(NOWHERE)
        except OSError:
            return False
    return True
