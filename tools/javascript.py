"""Checks the JavaScript: its format, its lint, its types, and its tests (viz/components/**/*.test.mjs).

python tools/javascript.py            all of it, nothing is changed
python tools/javascript.py --fix      only the format, put right

Format, lint and types are Deno's, which comes from PyPI as one program and is set in deno.json; the tests run with
Node.js, from the PATH or the one that Playwright brings. Nothing of it asks the network. Standard library only.
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
OLDEST = (20, 19)  # imports a plain .js file that exports, without a package.json beside it
LONGEST = 120
# Types that say nothing; Deno's own rules leave them alone in comments.
UNTYPED = re.compile(r"@(?:type|param|property|returns|typedef) \{[^}]*(?:\bany\b|(?<![\w*/])\*(?![\w*/]))")


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


def node() -> str | None:
    """A Node.js that is new enough."""
    return next((node for node in candidates() if version(node) >= OLDEST), None)


def deno(*arguments: str) -> int:
    """Deno's exit status. It says nothing of newer versions of itself."""
    program = shutil.which("deno", path=sysconfig.get_path("scripts"))
    if program is None:
        print("Deno is missing; python tools/install.py --tests brings it.", file=sys.stderr)
        return 1
    quiet = {**os.environ, "DENO_NO_UPDATE_CHECK": "1", "NO_COLOR": "1"}
    return subprocess.run([program, *arguments], check=False, cwd=ROOT, env=quiet).returncode


def files(*patterns: str) -> list[str]:
    """The repository's files of these patterns, from its root."""
    return sorted(
        file.relative_to(ROOT).as_posix() for pattern in patterns for file in ROOT.glob(f"viz/components/**/{pattern}")
    )


def complaints(name: str, text: str) -> Iterator[str]:
    """Lines that are too long, and types that say nothing.

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
    """0 where no line is too long and every type says something."""
    found = [line for name in files("*.js", "*.mjs") for line in complaints(name, (ROOT / name).read_text("utf-8"))]
    print("\n".join(found), end="\n" if found else "")
    return int(bool(found))


def run_tests() -> int:
    """Node's exit status; 1 where there is none."""
    found = node()
    if found is None:
        print(f"The JavaScript tests need Node.js {OLDEST[0]}.{OLDEST[1]} or newer on the PATH.", file=sys.stderr)
        return 1
    return subprocess.run([found, "--test", *files("*.test.mjs")], check=False, cwd=ROOT).returncode


def main(arguments: Sequence[str]) -> int:
    """0 where all is well."""
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
