"""The entry point of the app: `streamlit run app.py`.

The main script of Streamlit is ui/server/shell.py. Streamlit turns a `pages/` folder next to the main script into
its own pages, which skip the setup that all pages share. For this reason ui/server has no folder of that name.
"""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent
sys.path.insert(0, str(ROOT))

import streamlit as st  # noqa: E402  (must follow the change of sys.path)
from starlette.middleware import Middleware  # noqa: E402

from ui.pages.atlas_build import routes as atlas_build  # noqa: E402
from ui.pages.bertviz_views import page as bertviz_views  # noqa: E402
from ui.pages.teach import saved_model as teach  # noqa: E402
from ui.pages.vectors import corpus as vectors  # noqa: E402
from ui.routes import classes, exports, pictures, selection_tokens, traces  # noqa: E402
from ui.run.classes import sweep_rooms  # noqa: E402
from ui.run.idle_collection import SCRIPTS  # noqa: E402
from ui.run.services import get_backend  # noqa: E402
from ui.server import metrics  # noqa: E402
from ui.server.metrics import RequestMetrics  # noqa: E402
from ui.server.middleware import (  # noqa: E402
    ChartPreload,
    CompressedScripts,
    Guard,
    OldAddresses,
    SecurityHeaders,
    VisitorCookie,
)
from ui.server.uploads import UploadLimit  # noqa: E402
from ui.server.warm_up import announce, warm_up  # noqa: E402


@asynccontextmanager
async def lifespan(_app: Any) -> AsyncIterator[dict[str, Any]]:
    """Start the services of the server and stop them at shutdown.

    A background thread loads the model, so that pages answer while it loads.
    """
    announce()
    threading.Thread(target=warm_up, name="warm", daemon=True).start()
    sweeping = asyncio.create_task(sweep_rooms())
    with SCRIPTS.collect_while_idle():
        yield {}
    sweeping.cancel()


ROOMS = (traces, selection_tokens, classes, exports, pictures, bertviz_views, atlas_build, teach, vectors)
ours = [route for room in ROOMS for route in room.routes()]
app = st.App(
    ROOT / "ui" / "server" / "shell.py",
    lifespan=lifespan,
    routes=[
        *ours,
        *metrics.health_routes(),
        *metrics.metrics_routes({"files": traces.FILES.waits, "taught": teach.SENDING.waits}),
    ],
    middleware=[
        Middleware(RequestMetrics),
        Middleware(SecurityHeaders),
        Middleware(Guard, only_here=get_backend().settings.only_here),
        Middleware(OldAddresses),
        Middleware(UploadLimit, settings=get_backend().settings),
        Middleware(VisitorCookie),
        Middleware(ChartPreload),
        Middleware(CompressedScripts),
    ],
)
