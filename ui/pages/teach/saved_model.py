"""Teach page, view "Keep": links, download and removal of a fine-tuned model, and the download route."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import chain
from urllib.parse import urlencode

import streamlit as st
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from i18n import _, gettext_lazy, translate
from inference import UserError
from training.jobs.job import CHARACTERS, PREDICTIONS, JobStatus, iterate_zip
from ui.pages.teach.options import TeachOptions
from ui.pages.teach.training_progress import ACCESS
from ui.routes.limits import ConcurrencyLimit
from ui.run.fine_tuning import queue, training_title, visitor
from ui.run.notices import show_notice
from ui.show.views import link_to_view
from ui.state.params import set_params
from ui.state.session import NEW_MODEL, get_view_state, set_view_state
from ui.state.view_state import DEFAULT_MODEL, ViewState, fits, to_query
from viz.components.base_path import BASE

PREFIX = f"{BASE}/headlight/taught"
AT_ONCE = 8  # The maximum number of concurrent downloads.
NO_MODEL = gettext_lazy("This training saved no model.")
BUSY = gettext_lazy("Too many models are being saved. Try again in a minute.")
# The encoding "identity" keeps Streamlit from compressing the zip file again.
HEADERS = {"Cache-Control": "no-store", "Content-Encoding": "identity"}
SENDING = ConcurrencyLimit(AT_ONCE, 0, BUSY)
SURE, PROBLEM = "teach_remove", "teach_remove_problem"  # Session keys: the id of the training to confirm, and an error.
LONGEST_LINE = 100_000  # The maximum number of bytes read of the first test row.
HEADS = {"classify": "SequenceClassification", "tag": "TokenClassification", "answer": "QuestionAnswering"}
ELSEWHERE = """from transformers import AutoModelFor{head}, AutoTokenizer

model = AutoModelFor{head}.from_pretrained("{folder}")
tokenizer = AutoTokenizer.from_pretrained("{folder}")"""


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
        return PlainTextResponse(translate(NO_MODEL), 410)
    content = SENDING.hold_place(iterate_zip(look.model, look.job.slug))
    try:
        first = next(content)
    except OSError:
        return PlainTextResponse(translate(NO_MODEL), 410)
    except StopIteration:
        return SENDING.busy_response()
    headers = {**HEADERS, "Content-Disposition": f'attachment; filename="{look.job.slug}.zip"'}
    return StreamingResponse(chain([first], content), media_type="application/zip", headers=headers)


def routes() -> list[Route]:
    """Return the download route."""
    return [Route(f"{PREFIX}/{{id}}.zip", model_archive)]


def draw(look: JobStatus) -> None:
    """Draw the links, the download, the disk use and the removal button of a training.

    Only the owner gets the last two.
    """
    if look.has_model:
        _pages(look)
        _file(look)
    _link(look)
    if look.job.owner == visitor():
        _describe_disk_use(look)
        draw_removal(look)


def _pages(look: JobStatus) -> None:
    """Draw links to the pages Explore and Compare, with the model and a test text."""
    there = replace(first_texts(look), model=look.job.name)
    with st.container(horizontal=True):
        if look.job.kind == "answer" and fits(there):
            answering_link(there)
        link_to_view(
            "explore",
            _("Open Attention heads"),
            icon=":material/grid_view:",
            query=to_query(there),
        )
        if look.job.model != CHARACTERS:
            before = ViewState(model=look.job.model, revision=look.job.revision or "", text=there.text, pair=there.pair)
            link_to_view(
                "compare",
                _("Compare models"),
                icon=":material/compare:",
                query={**to_query(before), "differs": "model", "beside": look.job.name},
            )
    if look.job.owner == visitor():
        show_notice(_("Every page lists this model."), role="status")


def answering_link(there: ViewState) -> None:
    """Draw a link that opens a question and its passage in the view Question answering."""
    link_to_view("answers", _("Question answering"), icon=":material/quiz:", query=to_query(there))


def first_texts(look: JobStatus) -> ViewState:
    """Return the first test row: its text, or its question and passage; the app's default if it cannot be read."""
    try:
        with (look.model / PREDICTIONS).open("rb") as stream:
            row = json.loads(stream.readline(LONGEST_LINE))
        if look.job.kind == "answer":
            return ViewState(text=str(row["question"]), pair=str(row["passage"]))
        return ViewState(text=str(row["text"]))
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        return ViewState()


def _file(look: JobStatus) -> None:
    """Draw the download button, the size, and the code for loading the model elsewhere."""
    size = sum(file.stat().st_size for file in look.model.iterdir() if file.is_file())
    with st.container(horizontal=True, vertical_alignment="center"):
        about = _("Weights, labels, tokenizer, scores, test rows")
        st.link_button(_("Save model (zip)"), address(look), help=about, icon=":material/download:")
        said = _("{size:,.1f} MB, for transformers.", size=size / 1e6)
        if look.state != "done" and look.phase == "teach":
            said = _("{said} The training is unfinished.", said=said)
        show_notice(said, role="status")
    with st.expander(_("On another machine")):
        show_notice(_("Unpack it. With transformers:"), role="status")
        st.code(ELSEWHERE.format(head=HEADS[look.job.kind], folder=look.job.slug), "python", wrap_lines=True)
        show_notice(_("In this app: start it with the parent folder."), role="status")
        st.code("HEADLIGHT_MODEL_FOLDERS=/the/folder/above make run", "bash", wrap_lines=True)


def _link(look: JobStatus) -> None:
    """Show the link of the training and the access that it gives."""
    show_notice(translate(ACCESS), role="status")
    st.code(f"{st.context.url or f'{BASE}/teach'}?{urlencode({'job': look.job.id})}", None, wrap_lines=True)


def _describe_disk_use(look: JobStatus) -> None:
    """Show the disk use of the training and the budget of all fine-tuned models."""
    taken, budget = queue().size(look.job.id), queue().budget
    show_notice(
        _(
            "It takes {taken:,.1f} MB of {budget:,.1f} GB; new trainings remove the oldest, after a warning.",
            taken=taken / 1e6,
            budget=budget / 1e9,
        ),
        role="status",
    )


def draw_removal(look: JobStatus) -> None:
    """Draw the removal button, and the confirmation after a click on it."""
    if problem := st.session_state.pop(PROBLEM, ""):
        show_notice(problem)
    if st.session_state.get(SURE) != look.job.id:
        st.button(_("Remove"), icon=":material/delete:", on_click=_ask, args=(look.job.id,))
        return
    show_notice(_("“{title}” will be removed for everybody, with its results.", title=training_title(look.job)))
    with st.container(horizontal=True):
        st.button(_("Remove permanently"), type="primary", on_click=_remove, args=(look,))
        st.button(_("Keep it"), on_click=_ask, args=("",))


def _ask(job_id: str) -> None:
    st.session_state[SURE] = job_id


def _remove(look: JobStatus) -> None:
    """Remove the training and reset the options that refer to its model."""
    st.session_state.pop(SURE, None)
    try:
        queue().remove(look.job.id)
    except UserError as refusal:
        st.session_state[PROBLEM] = refusal.message
        return
    if get_view_state().model == look.job.name:
        set_view_state(**{**NEW_MODEL, "model": DEFAULT_MODEL, "revision": ""})
    set_params(TeachOptions, job="")
