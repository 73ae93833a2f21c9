"""Streamlit as it is where nobody says otherwise, to be measured against: `python -m bench.each_run run app.py …`.

Garbage is collected after every run of a script, in the thread that ran it, and not while the server is idle.
"""

from __future__ import annotations

import os
import sys
from contextlib import nullcontext

if __name__ == "__main__":
    from streamlit.web.cli import main

    from ui.run.idle_collection import SCRIPTS

    SCRIPTS.collect_while_idle = nullcontext  # type: ignore[assignment, method-assign]  # app.py asks this object
    os.environ["STREAMLIT_RUNNER_POST_SCRIPT_GC"] = "true"
    sys.argv[0] = "streamlit"
    main()
