"""A script that starts the app, requests an attention row of its first sentence, and prints the row's sums.

tests/house/test_network.py runs it in a separate network namespace if the system permits this. No program, in
Python or not, can then reach another machine.
"""

from __future__ import annotations

import json
import socket
import struct
import sys
import time
import urllib.request
from pathlib import Path
from typing import Any

from attention.codec import decode_frame
from tests.support.running import App, running

READ_FLAGS, WRITE_FLAGS, UP = 0x8913, 0x8914, 1  # These are SIOCGIFFLAGS, SIOCSIFFLAGS and IFF_UP.


def raise_loopback() -> None:
    """Activate the loopback interface of a new network namespace, which is down at first."""
    import fcntl

    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        name, flags = struct.unpack("16sh", fcntl.ioctl(control, READ_FLAGS, struct.pack("16sh", b"lo", 0)))
        fcntl.ioctl(control, WRITE_FLAGS, struct.pack("16sh", name, flags | UP))


def way_out() -> bool:
    """Return True if the system would route a packet to another machine."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # Connecting a datagram socket sends nothing.
        except OSError:
            return False
    return True


def fetch(address: str, body: bytes | None = None) -> bytes:
    """Return an answer of the app; ``body`` makes the request a POST."""
    request = urllib.request.Request(address, data=body, headers={"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as answer:
        return bytes(answer.read())


def shown(tree: Any) -> dict[str, Any] | None:
    """Return the data of the page's main component: the first dictionary with both "base" and "view"."""
    if isinstance(tree, dict) and {"base", "view"} <= tree.keys():
        return tree
    parts = tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list) else ()
    return next((found for part in parts if (found := shown(part)) is not None), None)


def first_page(app: App, patience: float = 60.0) -> dict[str, Any]:
    """Return the data of the first page as soon as the page shows attention."""
    deadline = time.monotonic() + patience
    while time.monotonic() < deadline:
        tree = json.loads(fetch(f"{app.url}/_stcore/agent/interact", b"{}"))
        found = shown(tree)
        if found is not None:
            return found
        time.sleep(0.2)  # The app is still loading its model.
    raise RuntimeError(f"The first page showed no attention; the app printed:\n{app.log.read_text()}")


def main(folder: Path, raised: bool) -> None:
    """Start the app and print the results as a JSON object."""
    if raised:
        raise_loopback()
    out = way_out()
    with running(folder / "alone.log", options=["--server.enableAgentApi=true"]) as app:
        data = first_page(app)
        _, arrays = decode_frame(fetch(f"{app.url}{data['base']}/rows?{data['view']}&query=1"))
    rows = arrays["rows"]
    sums = rows.astype("float64").sum(axis=-1)
    answer = {"way_out": out, "shape": rows.shape, "least": sums.min(), "most": sums.max()}
    print(json.dumps(answer | {"log": (folder / "alone.log").read_text()}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), "--raise-loopback" in sys.argv)
