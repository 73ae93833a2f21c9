"""Checks of the JavaScript: format, lint, types, and tests (viz/components/**/*.test.mjs).

python tools/javascript.py            all checks, without changes
python tools/javascript.py --fix      correct the format, and check nothing

Deno checks format, lint and types; it comes from PyPI as a single program and is configured in deno.json. Node.js
runs the tests; it comes from the PATH or with Playwright. No check uses the network, and the script needs only the
standard library.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OLDEST = (20, 19)  # the first version that imports .js modules without a package.json
LONGEST = 120
# The types "any" and "*" in JSDoc comments, which Deno's rules do not check.
UNTYPED = re.compile(r"@(?:type|param|property|returns|typedef) \{[^}]*(?:\bany\b|(?<![\w*/])\*(?![\w*/]))")


def version(node: str) -> tuple[int, int]:
    """Return the version of a Node.js; (0, 0) if it does not start."""
    try:
        answer = subprocess.run([node, "--version"], check=False, capture_output=True, text=True).stdout
    except OSError:
        return (0, 0)
    numbers = re.match(r"v(\d+)\.(\d+)", answer)
    return (int(numbers[1]), int(numbers[2])) if numbers else (0, 0)


def candidates() -> list[str]:
    """Return the paths of possible Node.js programs, in order of preference."""
    playwright = importlib.util.find_spec("playwright")
    bundled = Path(playwright.origin).parent / "driver" if playwright and playwright.origin else None
    found = [shutil.which("node"), *(str(bundled / name) for name in ("node", "node.exe") if bundled)]
    return [node for node in found if node]


def node() -> str | None:
    """Return the first Node.js that is new enough, or None."""
    return next((node for node in candidates() if version(node) >= OLDEST), None)


def deno(*arguments: str) -> int:
    """Run Deno without its update check and return the exit status."""
    program = shutil.which("deno", path=sysconfig.get_path("scripts"))
    if program is None:
        print("Deno is missing; python tools/install.py --tests brings it.", file=sys.stderr)
        return 1
    quiet = {**os.environ, "DENO_NO_UPDATE_CHECK": "1", "NO_COLOR": "1"}
    return subprocess.run([program, *arguments], check=False, cwd=ROOT, env=quiet).returncode


def files(*patterns: str) -> list[str]:
    """Return the files in viz/components that match the patterns, relative to the repository."""
    return sorted(
        file.relative_to(ROOT).as_posix() for pattern in patterns for file in ROOT.glob(f"viz/components/**/{pattern}")
    )


def complaints(name: str, text: str) -> Iterator[str]:
    """Yield a message for each line that is too long or has an uninformative type.

    >>> list(complaints("a.js", "/** @param {any} x */"))
    ['a.js:1: a type that says nothing']
    >>> list(complaints("a.js", "/** @param {Record<string, number>} company */"))
    []
    """
    for number, line in enumerate(text.splitlines(), 1):
        if len(line) > LONGEST:
            yield f"{name}:{number}: {len(line)} characters, more than {LONGEST}"
        if UNTYPED.search(line):
            yield f"{name}:{number}: a type that says nothing"


def check_style() -> int:
    """Print all complaints; return 0 if there are none."""
    found = [line for name in files("*.js", "*.mjs") for line in complaints(name, (ROOT / name).read_text("utf-8"))]
    print("\n".join(found), end="\n" if found else "")
    return int(bool(found))


def run_tests() -> int:
    """Run the tests with Node.js and return the exit status; return 1 without Node.js."""
    found = node()
    if found is None:
        print(f"The JavaScript tests need Node.js {OLDEST[0]}.{OLDEST[1]} or newer on the PATH.", file=sys.stderr)
        return 1
    return subprocess.run([found, "--test", *files("*.test.mjs")], check=False, cwd=ROOT).returncode


def main(arguments: Sequence[str]) -> int:
    """Run all checks; return 0 if they pass."""
    if "--fix" in arguments:
        return deno("fmt", "--quiet")
    checks = [
        deno("fmt", "--check", "--quiet"),
        deno("lint", "--quiet"),
        deno("check", "--quiet", "--no-remote", *files("*.js")),
        check_style(),
        run_tests(),
    ]
    return int(any(checks))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
