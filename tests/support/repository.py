"""The repository's files: those that git tracks or would add, or all files if there is no git."""

from __future__ import annotations

import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# These names must match .gitignore.
MADE = {".git", ".venv", "__pycache__", ".mypy_cache", ".ruff_cache", ".pytest_cache", "dist", "out"}


def files(root: Path = ROOT) -> list[Path]:
    """Return the repository's files, relative to its root, sorted."""
    if (root / ".git").exists():
        command = ["git", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        listed = subprocess.run(command, check=True, capture_output=True).stdout.decode()
        found = {Path(name) for name in listed.split("\0") if name}
    else:
        found = {file.relative_to(root) for file in root.rglob("*")}
    return sorted(file for file in found if (root / file).is_file() and not MADE & set(file.parts))


def texts(root: Path = ROOT) -> dict[Path, str]:
    """Return the content of each text file."""
    found = {}
    for file in files(root):
        content = (root / file).read_bytes()
        if b"\0" not in content:
            found[file] = content.decode("utf-8", "replace")
    return found
