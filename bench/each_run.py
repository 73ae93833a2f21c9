"""Streamlit with its default garbage collection: `python -m bench.each_run run app.py …`.

By default Streamlit collects garbage after every script run, in the thread of that run; the app collects while
idle.
"""

from __future__ import annotations

import os
import runpy
from contextlib import nullcontext

if __name__ == "__main__":
    from ui.run.idle_collection import SCRIPTS

    SCRIPTS.collect_while_idle = nullcontext  # type: ignore[assignment, method-assign]  # app.py calls this method
    os.environ["STREAMLIT_RUNNER_POST_SCRIPT_GC"] = "true"
    runpy.run_module("streamlit", run_name="__main__", alter_sys=True)
