"""Checks of the JavaScript: format, lint, types, and tests (viz/components/**/*.test.mjs).

python tools/javascript.py            all checks, without changes
python tools/javascript.py --fix      correct the format, and check nothing

Deno does all of it but two rules of our own; it comes from PyPI as a single program and is configured in deno.json.
No check uses the network, and the script needs only the standard library.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LONGEST = 120
# The types "any" and "*" in JSDoc comments, which Deno's rules do not check.
UNTYPED = re.compile(r"@(?:type|param|property|returns|typedef) \{[^}]*(?:\bany\b|(?<![\w*/])\*(?![\w*/]))")


def program() -> str:
    """Return the path of Deno; raise FileNotFoundError if it is not installed in this environment."""
    found = shutil.which("deno", path=sysconfig.get_path("scripts"))
    if found is None:
        raise FileNotFoundError("Deno is missing; python tools/install.py --tests installs it.")
    return found


def deno(*arguments: str) -> int:
    """Run Deno with these arguments and without its update check; return the exit status."""
    quiet = {**os.environ, "DENO_NO_UPDATE_CHECK": "1", "NO_COLOR": "1"}
    return subprocess.run([program(), *arguments], check=False, cwd=ROOT, env=quiet).returncode


def files(*patterns: str) -> list[str]:
    """Return the files in viz/components that match the patterns, relative to the repository."""
    return sorted(
        file.relative_to(ROOT).as_posix() for pattern in patterns for file in ROOT.glob(f"viz/components/**/{pattern}")
    )


def complaints(name: str, text: str) -> Iterator[str]:
    """Yield a message for each line of a script that is too long or declares an uninformative type.

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
    """Print the complaints about all scripts; return 1 if there are any, else 0."""
    found = [line for name in files("*.js", "*.mjs") for line in complaints(name, (ROOT / name).read_text("utf-8"))]
    print("\n".join(found), end="\n" if found else "")
    return int(bool(found))


def main(arguments: Sequence[str]) -> int:
    """Run all checks; return 0 if they pass."""
    if "--fix" in arguments:
        return deno("fmt", "--quiet")
    checks = [
        deno("fmt", "--check", "--quiet"),
        deno("lint", "--quiet"),
        deno("check", "--quiet", "--no-remote", *files("*.js")),
        check_style(),
        deno("test", "--quiet", "--no-check", "--no-remote", "viz/components"),
    ]
    return int(any(checks))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
