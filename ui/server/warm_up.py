"""What happens once, beside the first page: the address is printed, the embedded model reads the first sentence."""

from __future__ import annotations

import logging
import threading
import time
from importlib.util import find_spec

from streamlit import config

from inference import TraceRequest
from ui.run.network import is_open, network_addresses
from ui.run.services import ViewOptions, get_backend, get_trace_store
from ui.state.examples import EXAMPLES

log = logging.getLogger(__name__)
# Seconds. A reader who comes with the start gets the page first: importing torch would hold it up by a third of one.
HEAD_START = 1
ENDLESS = (
    "httptools is installed here, and with it Streamlit's server takes in a request's head without an end, so that a"
    " stranger can fill its memory. Uninstall it (pip uninstall httptools), or start in an environment of its own."
)
ONLY_THIS_MACHINE = (
    "Only this machine reaches the app, although HEADLIGHT_FOR expects others: the server listens at the loopback."
    " Start it with make run FOR=class, or add --server.address 0.0.0.0."
)
FAILED = threading.Event()  # set where the embedded model could not be prepared


def announce() -> None:
    """Print where the app is. Streamlit's own message would ask a server on the internet for this machine's address.

    Raises ValueError, which ends the start, where strangers are expected and heads would have no end.
    """
    if find_spec("httptools") is not None:
        if get_backend().settings.strangers:
            raise ValueError(ENDLESS)
        log.warning(ENDLESS)
    path = str(config.get_option("server.baseUrlPath")).strip("/")
    end = f":{config.get_option('server.port')}/{path}"
    print(f"\n  Headlight is at  http://localhost{end}", flush=True)
    if is_open():
        for address in network_addresses():
            print(f"  in this network  http://{address}{end}", flush=True)
    elif get_backend().settings.strangers:
        print(f"  {ONLY_THIS_MACHINE}", flush=True)


def warm_up() -> None:
    """Read the first sentence, so that the first visitor does not wait for it."""
    time.sleep(HEAD_START)
    try:
        trace = get_backend().trace(TraceRequest(text=EXAMPLES[0]["text"]))
        get_trace_store().survey(trace, ViewOptions())
    except Exception as error:
        FAILED.set()
        if not isinstance(error, ValueError):
            raise
        # The page asks again and says what is wrong; here it must only not end the server.
        log.warning("The embedded model could not be prepared.", exc_info=True)
