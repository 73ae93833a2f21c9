"""Streamlit with a modification for a measurement: `python -m bench.wrapped run app.py …`."""

from __future__ import annotations

import os
import runpy

COUNT = "HEADLIGHT_BENCH_COUNT"  # path of a file to which each forward pass appends a byte
QUIET = "HEADLIGHT_BENCH_QUIET"  # if set, nothing is loaded before a page needs it


def count(path: str) -> None:
    """Append a byte to a file at every forward pass of a transformers model in this process."""
    from torch.nn.modules.module import register_module_forward_pre_hook
    from transformers import PreTrainedModel

    def note(module: object, _arguments: object) -> None:
        if isinstance(module, PreTrainedModel):
            with open(path, "ab") as file:
                file.write(b".")

    register_module_forward_pre_hook(note)


def disable_warm_up() -> None:
    """Disable the warm-up; call this before app.py imports the function by its name."""
    import ui.server.warm_up

    ui.server.warm_up.warm_up = lambda: None


if __name__ == "__main__":
    if path := os.environ.get(COUNT):
        count(path)
    if os.environ.get(QUIET):
        disable_warm_up()
    runpy.run_module("streamlit", run_name="__main__", alter_sys=True)
