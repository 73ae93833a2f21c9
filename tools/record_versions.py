"""Tests of the recorder of attention on several versions of transformers: oldest supported, pinned and newest.

python -m tools.record_versions [VERSION ...]

Each version is installed with its requirements into a temporary folder, which comes first on Python's path. torch and
the tests are those of this environment.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import tomllib
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parent.parent
TESTS = ("tests/inference/record/test_recorder.py", "tests/inference/record/test_recording_file.py",
         "tests/headlight/test_recorder.py")  # fmt: skip
CHOSEN = "not every_architecture"


def supported() -> Requirement:
    """Return the requirement of the extra ``record`` for transformers."""
    about = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lines = map(Requirement, about["optional-dependencies"]["record"])
    return next(line for line in lines if line.name == "transformers")


def default_requirements() -> list[str]:
    """Return pip's requirements for the oldest supported, the pinned and the newest version."""
    oldest = next(part.version for part in supported().specifier if part.operator == ">=")
    return [f"transformers=={oldest}", f"transformers=={metadata.version('transformers')}", str(supported())]


def run_tests(requirement: str, folder: Path) -> bool:
    """Install a version of transformers into a folder and run the tests with it; return True if they pass."""
    command = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "-q",
        "--no-warn-conflicts",
        "--target",
        str(folder),
        requirement,
    ]
    if subprocess.run(command, cwd=ROOT, check=False).returncode:
        return False
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    tests = [sys.executable, "-m", "pytest", "-q", "-n", "0", "-W", "ignore", "-k", CHOSEN, *TESTS]
    return subprocess.run(tests, cwd=ROOT, env=environment, check=False).returncode == 0


def main(versions: list[str]) -> int:
    """Test the recorder on each version of transformers and print the result; return 1 if any fails."""
    failed = 0
    for requirement in [f"transformers=={version}" for version in versions] or default_requirements():
        with tempfile.TemporaryDirectory() as folder:
            passed = run_tests(requirement, Path(folder))
            found = [item.version for item in metadata.distributions(path=[folder]) if item.name == "transformers"]
        print(f"transformers {', '.join(found) or requirement}: {'passed' if passed else 'FAILED'}", flush=True)
        failed += not passed
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
