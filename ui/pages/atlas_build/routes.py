"""An HTTP route for downloading visitors' atlases; anyone with an atlas' link may download it."""

from __future__ import annotations

import re
from itertools import chain

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from i18n import gettext_lazy, translate
from inference import UserError
from probing.atlas.build import STATE
from training.jobs.atlas_builds import NO_BUILD, AtlasBuildStatus
from training.jobs.job import iterate_zip
from ui.routes.limits import ConcurrencyLimit
from ui.run.services import atlas_builds
from viz.components.base_path import BASE

PREFIX = f"{BASE}/headlight/atlas"
AT_ONCE = 8  # The maximum number of concurrent downloads.
BUSY = gettext_lazy("Too many models are being saved. Try again in a minute.")
# The encoding "identity" keeps Streamlit from compressing the zip file again.
HEADERS = {"Cache-Control": "no-store", "Content-Encoding": "identity"}
SENDING = ConcurrencyLimit(AT_ONCE, 0, BUSY)


def address(look: AtlasBuildStatus) -> str:
    """Return the path from which an atlas can be downloaded."""
    return f"{PREFIX}/{look.build.id}.zip"


def file_name(look: AtlasBuildStatus) -> str:
    """Return the name of an atlas' folder and zip file, which is valid on any system."""
    plain = re.sub(r"[^a-z0-9]+", "-", look.build.title.lower()).strip("-")[:60].rstrip("-")
    return f"atlas-{plain or look.build.id[:6]}"


def atlas_archive(request: Request) -> Response:
    """Return the atlas' folder as a streamed zip file; the status is 410 if there is no such atlas."""
    try:
        look = atlas_builds().look(request.path_params["id"])
    except UserError as refusal:
        return PlainTextResponse(translate(refusal.message), 410)
    if not look.has_atlas:
        return PlainTextResponse(translate(NO_BUILD), 410)
    name = file_name(look)
    content = SENDING.hold_place(iterate_zip(look.atlas, name, STATE))
    try:
        first = next(content)
    except OSError:
        return PlainTextResponse(translate(NO_BUILD), 410)
    except StopIteration:
        return SENDING.busy_response()
    headers = {**HEADERS, "Content-Disposition": f'attachment; filename="{name}.zip"'}
    return StreamingResponse(chain([first], content), media_type="application/zip", headers=headers)


def routes() -> list[Route]:
    """Return the download route."""
    return [Route(f"{PREFIX}/{{id}}.zip", atlas_archive)]
