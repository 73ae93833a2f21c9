"""HTTP routes for downloading fine-tuned models; anyone with a model's link may download it."""

from __future__ import annotations

from itertools import chain

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from i18n import _, gettext_lazy, translate
from inference import UserError
from training.jobs.job import JobStatus, iterate_zip
from ui.routes.limits import ConcurrencyLimit
from ui.run.fine_tuning import queue
from viz.components.base_path import BASE

PREFIX = f"{BASE}/headlight/taught"
AT_ONCE = 8  # The maximum number of concurrent downloads.
BUSY = gettext_lazy("Too many models are being saved. Try again in a minute.")
# The encoding "identity" keeps Streamlit from compressing the zip file again.
HEADERS = {"Cache-Control": "no-store", "Content-Encoding": "identity"}
SENDING = ConcurrencyLimit(AT_ONCE, 0, BUSY)


def address(look: JobStatus) -> str:
    """Return the path from which the model of a training can be downloaded."""
    return f"{PREFIX}/{look.job.id}.zip"


def model_archive(request: Request) -> Response:
    """Return the model's folder as a streamed zip file.

    The status is 410 if the training is unknown, has no saved model or was just removed.
    """
    try:
        look = queue().look(request.path_params["id"])
    except UserError as refusal:
        return PlainTextResponse(translate(refusal.message), 410)
    if not look.has_model:
        return PlainTextResponse(_("This training has no saved model yet."), 410)
    content = SENDING.hold_place(iterate_zip(look.model, look.job.slug))
    try:
        first = next(content)
    except OSError:
        return PlainTextResponse(_("This model has been removed."), 410)
    except StopIteration:
        return SENDING.busy_response()
    headers = {**HEADERS, "Content-Disposition": f'attachment; filename="{look.job.slug}.zip"'}
    return StreamingResponse(chain([first], content), media_type="application/zip", headers=headers)


def routes() -> list[Route]:
    """Return the download route."""
    return [Route(f"{PREFIX}/{{id}}.zip", model_archive)]
