"""Streamlit with a modification for measurements: `python -m bench.wrapped run app.py …`.

Environment variables select the modification.
"""

from __future__ import annotations

import os
import runpy
from contextlib import nullcontext

COUNT = "HEADLIGHT_BENCH_COUNT"  # path of a file to which each forward pass appends a byte
QUIET = "HEADLIGHT_BENCH_QUIET"  # if set, nothing is loaded before a page needs it
# If set, Streamlit collects garbage after every script run, in the thread of that run, as by default; the app collects
# while idle.
EACH_RUN = "HEADLIGHT_BENCH_EACH_RUN"


def count(path: str) -> None:
    """Append a byte to the file ``path`` for every forward pass of a transformers model in this process."""
    from torch.nn.modules.module import register_module_forward_pre_hook
    from transformers import PreTrainedModel

    def note(module: object, _arguments: object) -> None:
        if isinstance(module, PreTrainedModel):
            with open(path, "ab") as file:
                file.write(b".")

    register_module_forward_pre_hook(note)


def disable_warm_up() -> None:
    """Turn off the server's warm-up; call this before app.py imports it by name."""
    import ui.server.warm_up

    ui.server.warm_up.warm_up = lambda: None


def collect_after_each_run() -> None:
    """Turn on Streamlit's garbage collection after each script run, which the app turns off."""
    from ui.run.idle_collection import SCRIPTS

    SCRIPTS.collect_while_idle = nullcontext  # type: ignore[assignment, method-assign]  # app.py calls this method
    os.environ["STREAMLIT_RUNNER_POST_SCRIPT_GC"] = "true"


if __name__ == "__main__":
    if path := os.environ.get(COUNT):
        count(path)
    if os.environ.get(QUIET):
        disable_warm_up()
    if os.environ.get(EACH_RUN):
        collect_after_each_run()
    runpy.run_module("streamlit", run_name="__main__", alter_sys=True)
