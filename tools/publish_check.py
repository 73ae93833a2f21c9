"""Checks of the packages before they are published; nothing is uploaded.

python -m tools.publish_check

Build the wheels and the source archive, check them with twine and check-wheel-contents, and install the wheel and the
archive in empty environments of each Python from 3.11 to 3.13 that is found. The tools come from the package index.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tools import wheel

PYTHONS = ("python3.11", "python3.12", "python3.13")
CHECKERS = ("twine", "check-wheel-contents")
LARGE = "W004,W009"  # the app's wheel adds its packages to the folder of the first wheel, so both checks do not apply
USE = (
    "import headlight; shown = headlight.view([[[1, 0], [0.5, 0.5]]], ['a', 'cat']); "
    "assert shown.html.startswith('<!doctype html>'); assert 'record' in dir(headlight)"
)


def run(command: Sequence[str | Path], folder: Path) -> bool:
    """Run a command in a folder; print its output if it fails, and return True if it succeeds."""
    # Without the repository's own path, so that the installed package is imported.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        list(map(str, command)), cwd=folder, env=environment, check=False, capture_output=True, text=True
    )
    if done.returncode:
        print(done.stdout[-2000:], done.stderr[-2000:], sep="\n", file=sys.stderr)
    return done.returncode == 0


def environment(python: str, folder: Path) -> Path:
    """Create an empty environment and return the path of its Python."""
    subprocess.run([python, "-m", "venv", str(folder)], check=True)
    return folder / ("Scripts" if os.name == "nt" else "bin") / "python"


def check_files(files: Sequence[Path], folder: Path) -> dict[str, bool]:
    """Check the packages with twine and check-wheel-contents; return the results by name."""
    python = environment(sys.executable, folder / "checkers")
    found = {"install the checkers": run([python, "-m", "pip", "install", "-q", *CHECKERS], folder)}
    found["twine check"] = run([python, "-m", "twine", "check", *files], folder)
    wheels = [file for file in files if file.suffix == ".whl"]
    found["check-wheel-contents"] = run(
        [python, "-m", "check_wheel_contents", "--no-config", "--ignore", LARGE, *wheels], folder
    )
    return found


def check_installs(files: Sequence[Path], folder: Path) -> dict[str, bool]:
    """Install each package in an empty environment of each Python, and run it there; return the results by name."""
    found = {}
    for name in filter(starts, PYTHONS):
        for file in files:
            home = folder / f"{name}-{file.suffix[1:]}"
            python = environment(name, home)
            installed = run([python, "-m", "pip", "install", "-q", file], folder)
            found[f"{name}, {file.name}"] = installed and run([python, "-c", USE], folder)
    return found


def starts(python: str) -> bool:
    """Return True if a Python is installed and starts."""
    return shutil.which(python) is not None and run([python, "-c", ""], Path.cwd())


def main() -> int:
    """Print the result of each check; return 1 if any fails."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        files = [folder / build(name) for build in (wheel.build_wheel, wheel.build_app, wheel.build_sdist)]
        found = check_files(files, folder) | check_installs([files[0], files[2]], folder)
    for check, passed in found.items():
        print(f"{check}: {'passed' if passed else 'FAILED'}")
    print("Before an upload, the owner of this project has to choose a licence.")
    return int(not all(found.values()))


if __name__ == "__main__":
    sys.exit(main())
