"""Runs the JavaScript tests, viz/**/*.test.mjs, with Node.js.

Knows only where a Node.js may be: on the PATH, else the one that Playwright brings. Standard library only.
"""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OLDEST = (20, 19)  # imports a plain .js file that exports, without a package.json beside it


def version(node: str) -> tuple[int, int]:
    """A Node.js's version; (0, 0) where it does not start."""
    try:
        answer = subprocess.run([node, "--version"], check=False, capture_output=True, text=True).stdout
    except OSError:
        return (0, 0)
    numbers = re.match(r"v(\d+)\.(\d+)", answer)
    return (int(numbers[1]), int(numbers[2])) if numbers else (0, 0)


def candidates() -> list[str]:
    """Where a Node.js may be, the best first."""
    playwright = importlib.util.find_spec("playwright")
    bundled = Path(playwright.origin).parent / "driver" if playwright and playwright.origin else None
    found = [shutil.which("node"), *(str(bundled / name) for name in ("node", "node.exe") if bundled)]
    return [node for node in found if node]


def main() -> int:
    """Node's exit status; 1 where there is none; 0 where there is nothing to test."""
    tests = sorted(str(file.relative_to(ROOT)) for file in ROOT.glob("viz/**/*.test.mjs"))
    if not tests:
        print("No JavaScript tests (viz/**/*.test.mjs).")
        return 0
    node = next((node for node in candidates() if version(node) >= OLDEST), None)
    if node is None:
        print(f"The JavaScript tests need Node.js {OLDEST[0]}.{OLDEST[1]} or newer on the PATH.", file=sys.stderr)
        return 1
    return subprocess.run([node, "--test", *tests], check=False, cwd=ROOT).returncode


if __name__ == "__main__":
    sys.exit(main())
