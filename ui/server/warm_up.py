"""Tasks at the start of the server: printing the address and loading the default model."""

from __future__ import annotations

import logging
import threading
import time
from importlib.util import find_spec

import psutil
import streamlit as st

from inference import TraceRequest
from ui.run.idle_collection import SCRIPTS
from ui.run.network import is_open, network_addresses
from ui.run.services import ViewOptions, get_backend, get_trace_store
from ui.state.view_state import DEFAULT_MODEL, EXAMPLES

log = logging.getLogger(__name__)
# The imports take five seconds of a core, and would double the time to a first page that is drawn at the same time.
HEAD_START = 3  # Seconds between the start and the imports, for a browser that opens with the app.
DRAWING = 3  # Seconds between the end of a page's script and the imports, in which the browser draws the page.
MOST_LOADED = 10  # Largest factor by which a busy machine lengthens the two times.
ENDLESS = (
    "httptools is installed here, and with it Streamlit's server takes in a request's head without an end, so that a"
    " stranger can fill its memory. Uninstall it (pip uninstall httptools), or start in an environment of its own."
)
ONLY_THIS_MACHINE = (
    "Only this machine reaches the app, although HEADLIGHT_FOR expects others: the server listens at the loopback."
    " Start it with make run FOR=class, or add --server.address 0.0.0.0."
)
FAILED = threading.Event()  # Set if the default model could not be loaded.


def announce() -> None:
    """Print the addresses of the app.

    Streamlit's own message is not used, because it would query an external server for this machine's address. Raise
    ValueError, which ends the start, if httptools is installed and other machines can reach the server. The reason is
    that httptools does not limit the size of request headers.
    """
    if find_spec("httptools") is not None:
        if get_backend().settings.strangers:
            raise ValueError(ENDLESS)
        log.warning(ENDLESS)
    path = str(st.get_option("server.baseUrlPath")).strip("/")
    end = f":{st.get_option('server.port')}/{path}"
    print(f"\n  Headlight is at  http://localhost{end}", flush=True)
    if is_open():
        for address in network_addresses():
            print(f"  in this network  http://{address}{end}", flush=True)
    elif get_backend().settings.strangers:
        print(f"  {ONLY_THIS_MACHINE}", flush=True)


def warm_up() -> None:
    """Load the default model, so that the first visitor who changes something waits less.

    The first page is drawn before, from stored answers. On a busy machine its browser needs more time.
    """
    time.sleep(HEAD_START * load_per_core())
    SCRIPTS.wait_for_rest(DRAWING * load_per_core())
    try:
        get_backend().prepare(DEFAULT_MODEL)
        trace = get_backend().trace(TraceRequest(DEFAULT_MODEL, EXAMPLES[0]["text"]))
        get_trace_store().survey(trace, ViewOptions())
    except Exception as error:
        FAILED.set()
        if not isinstance(error, ValueError):
            raise
        # The page loads the model again and shows the error; here the error must not stop the server.
        log.warning("The model %s could not be prepared.", DEFAULT_MODEL, exc_info=True)


def load_per_core() -> float:
    """Return the number of running processes per core in the last minute, from 1 to MOST_LOADED."""
    return min(max(1.0, psutil.getloadavg()[0] / (psutil.cpu_count() or 1)), MOST_LOADED)
