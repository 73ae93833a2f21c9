"""Preparation of `.venv` with the exact versions of requirements.txt, unless they are installed.

    python3 tools/install.py            the requirements of the app
    python3 tools/install.py --tests    also the requirements of the tests, a browser included
    python3 tools/install.py --writer   also a small language model that works offline
    python3 tools/install.py --chinese  also a model for Chinese that works offline
    python3 tools/install.py --extra    also both, and a model for pictures
    python3 tools/install.py --cluster  also Ray Serve, for a backend on other machines

The script needs only the standard library, since it runs before anything is installed, and does not import the
app. `make` calls it. PyTorch is installed first and separately: its Linux build on PyPI contains gigabytes for
NVIDIA GPUs, so a CPU build is preferred without an NVIDIA GPU. The other packages are installed without resolving
dependencies, so that nothing unlisted is installed.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import platform
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OLDEST, NEWEST = (3, 11), (3, 13)
UV = "uv==0.13.8"  # uv has a built-in index of PyTorch's CPU builds

Run = Callable[[Sequence[str]], bool]


class CannotInstall(Exception):
    """Raised if the installation fails; the message is a sentence with a remedy."""


@dataclass(frozen=True)
class Machine:
    """The properties of a machine that decide which build of PyTorch it needs."""

    system: str  # "Linux", "Darwin", "Windows"
    processor: str  # "x86_64", "arm64", ...
    nvidia: bool  # True if an NVIDIA driver is installed

    @classmethod
    def detect(cls) -> Machine:
        """Return the properties of this machine."""
        driver = Path("/proc/driver/nvidia/version").exists() or shutil.which("nvidia-smi") is not None
        return cls(platform.system(), platform.machine(), driver)


@dataclass(frozen=True)
class Attempt:
    """A way to install PyTorch: a message to print, and commands that must all succeed.

    Each command consists of arguments for the Python of the environment.
    """

    sentence: str
    commands: tuple[tuple[str, ...], ...]
    quiet: bool = False  # True if errors are hidden, since failure is expected


def pin(name: str, requirements: str) -> str:
    """Return the version of a package that a requirements text pins; raise CannotInstall if there is none.

    >>> pin("torch", "numpy==2.4.6\\ntorch==2.13.0   # arithmetic\\n")
    '2.13.0'
    """
    for line in requirements.splitlines():
        if line.startswith(f"{name}=="):
            return line.removeprefix(f"{name}==").split()[0]
    raise CannotInstall(f"requirements.txt has no line {name}==…; take it from the repository again.")


def attempts(machine: Machine, version: str, requirements: Path) -> list[Attempt]:
    """Return the ways to install PyTorch on a machine, the preferred way first."""
    pip = ("-m", "pip", "install")
    if machine.system != "Linux":
        return [Attempt("Installing PyTorch.", ((*pip, "--no-deps", f"torch=={version}"),))]
    # The Linux build needs its declared dependencies, so this is the only package with resolved dependencies.
    general = (*pip, "--constraint", str(requirements), f"torch=={version}")
    if machine.nvidia:
        return [Attempt("Installing PyTorch for this machine's NVIDIA GPU (some gigabytes).", (general,))]
    uv = ("-m", "uv", "pip", "install", "--python", str(python(ROOT)), "--torch-backend=cpu", "--no-deps")
    return [
        Attempt(
            "No NVIDIA driver here: looking for PyTorch's CPU build where pip looks.",
            ((*pip, "--no-deps", f"torch=={version}+cpu"),),
            quiet=True,
        ),
        Attempt(
            "Not there: fetching it with uv, which knows where it is.",
            ((*pip, UV), (*uv, f"torch=={version}"), ("-m", "pip", "uninstall", "--yes", "uv")),
        ),
        Attempt(
            "The CPU build cannot be reached from here: installing the general build, which also brings NVIDIA's"
            " libraries (some gigabytes, unused on this machine).",
            (general,),
        ),
    ]


def python(root: Path) -> Path:
    """Return the path of the Python interpreter in the environment `.venv`."""
    return root / ".venv" / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def run(command: Sequence[str], quiet: bool = False) -> bool:
    """Run a command with its output visible and return True on success; ``quiet`` hides its errors.

    If .venv is broken or vanishes meanwhile, its Python may be the system's Python; pip then refuses to install.
    """
    environ = {**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_REQUIRE_VIRTUALENV": "1"}
    stderr = subprocess.DEVNULL if quiet else None
    return subprocess.run(command, check=False, cwd=ROOT, env=environ, stderr=stderr).returncode == 0


def stamp_of(*requirements: Path) -> str:
    """Return a hash of requirements files, which changes if a pinned version changes.

    Line endings do not affect the hash, so that a checkout on Windows has the same hash.
    """
    lines = b"\n".join(file.read_text(encoding="utf-8").encode() for file in requirements)
    return hashlib.sha256(lines).hexdigest()


def check_version(version: tuple[int, int] = sys.version_info[:2]) -> None:
    """Raise CannotInstall if the pinned packages do not support this version of Python."""
    if not OLDEST <= version <= NEWEST:
        raise CannotInstall(
            f"This is Python {version[0]}.{version[1]}; Headlight needs Python 3.11, 3.12 or 3.13."
            " Install one of them and say which: make run PYTHON=python3.12"
        )


def is_usable(root: Path) -> bool:
    """Return True if the environment's Python starts, has a supported version and has pip."""
    probe = f"import sys, pip; sys.exit(not {OLDEST} <= sys.version_info[:2] <= {NEWEST})"
    try:
        return subprocess.run([str(python(root)), "-c", probe], check=False, capture_output=True).returncode == 0
    except OSError:
        return False


def create(root: Path) -> None:
    """Create the environment, or replace it if it is broken."""
    if is_usable(root):
        return
    print(f"Creating .venv with Python {platform.python_version()}.", flush=True)
    if not run([sys.executable, "-m", "venv", "--clear", str(root / ".venv")]):
        raise CannotInstall(
            "Python could not create .venv (see above). On Debian and Ubuntu its part for that is a package of its"
            f" own: apt install python{sys.version_info.major}.{sys.version_info.minor}-venv"
        )


def install_torch(ways: Sequence[Attempt], start: Callable[..., bool] = run) -> None:
    """Try each way until PyTorch is installed; raise CannotInstall if all fail."""
    for way in ways:
        print(way.sentence, flush=True)
        if all(start([str(python(ROOT)), *command], quiet=way.quiet) for command in way.commands):
            return
    raise CannotInstall("PyTorch could not be installed (see above). Is the network there, and the disk not full?")


def install(name: str, machine: Machine) -> None:
    """Install the packages of a requirements file, unless exactly these versions are installed."""
    file, stamp = ROOT / name, ROOT / ".venv" / f".installed-{name}"
    wanted = stamp_of(file)
    if stamp.exists() and stamp.read_text() == wanted:
        return
    if name == "requirements.txt":
        install_torch(attempts(machine, pin("torch", file.read_text(encoding="utf-8")), file))
    print(f"Installing what {name} lists.", flush=True)
    if not run([str(python(ROOT)), "-m", "pip", "install", "--no-deps", "-r", str(file)]):
        raise CannotInstall(f"What {name} lists could not be installed (see above). Run the same command to go on.")
    stamp.write_text(wanted)


def chromium() -> str | None:
    """Return the path of the system's Chromium or of HEADLIGHT_CHROMIUM, or None.

    tests/support/browser.py looks for the browser in the same places.
    """
    return os.environ.get("HEADLIGHT_CHROMIUM") or shutil.which("chromium-headless-shell") or shutil.which("chromium")


def browser_command(root_user: bool, release: str) -> list[str]:
    """Return the command that installs Chromium: apt for root on Debian, else Playwright.

    >>> browser_command(True, 'NAME="Debian GNU/Linux"\\nID=debian\\n')[-1]
    'apt-get update -q && apt-get install -q -y --no-install-recommends chromium-headless-shell'
    """
    if root_user and "ID=debian" in release.split():
        install = "apt-get install -q -y --no-install-recommends chromium-headless-shell"
        return ["sh", "-c", f"apt-get update -q && {install}"]
    libraries = ["--with-deps"] if root_user else []
    return [str(python(ROOT)), "-m", "playwright", "install", *libraries, "chromium"]


def install_browser() -> None:
    """Install Chromium if it is missing; raise CannotInstall if that fails."""
    if chromium():
        return
    release = Path("/etc/os-release")
    root_user = platform.system() == "Linux" and os.geteuid() == 0
    text = release.read_text(encoding="utf-8") if release.exists() else ""
    # If the first command fails, for example because a package server is down, try Playwright without root rights.
    ways = dict.fromkeys((tuple(browser_command(root_user, text)), tuple(browser_command(False, ""))))
    if not any(map(run, ways)):
        raise CannotInstall(
            "No Chromium for the browser tests could be installed (see above). Install one and say where it is:"
            " HEADLIGHT_CHROMIUM=/usr/bin/chromium make test"
        )


def main(arguments: Sequence[str] | None = None) -> int:
    """Prepare the environment; return 1 and print a sentence if that fails."""
    parser = argparse.ArgumentParser(description="Prepare .venv for Headlight.")
    parser.add_argument("--tests", action="store_true", help="also what the tests need, a browser included")
    parser.add_argument("--writer", action="store_true", help="also a small language model that works offline")
    parser.add_argument("--chinese", action="store_true", help="also a model for Chinese that works offline")
    parser.add_argument("--extra", action="store_true", help="also both, and a model for pictures")
    parser.add_argument("--cluster", action="store_true", help="also Ray Serve, for a backend apart from the app")
    wanted = parser.parse_args(arguments)
    begun = time.monotonic()
    machine = Machine.detect()
    try:
        check_version()
        if machine.system == "Darwin" and machine.processor == "x86_64":
            raise CannotInstall("PyTorch 2.13 has no build for Macs with an Intel processor; use another machine.")
        create(ROOT)
        install("requirements.txt", machine)
        if wanted.writer or wanted.extra:
            install("requirements-writer.txt", machine)
        if wanted.chinese or wanted.extra:
            install("requirements-chinese.txt", machine)
        if wanted.extra:
            install("requirements-extra.txt", machine)
        if wanted.cluster:
            install("requirements-cluster.txt", machine)
        if wanted.tests:
            install("requirements-test.txt", machine)
            install_browser()
    except CannotInstall as refusal:
        print(f"\n{refusal}", file=sys.stderr)
        return 1
    if time.monotonic() - begun > 5:
        print(f"Ready after {time.monotonic() - begun:.0f} seconds.", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
