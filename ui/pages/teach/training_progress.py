"""Teach page: the queue position and progress of a training, with the buttons Stop and Go on."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from i18n import _, gettext_lazy, translate
from inference import UserError
from training.jobs.job import JobStatus
from ui.pages.teach.curves import curves
from ui.pages.teach.options import TeachOptions
from ui.pages.teach.progress import describe_job, progress_of
from ui.run.fine_tuning import queue, visitor
from ui.run.notices import show_notice
from ui.state.params import set_params

EVERY = 2.0  # In seconds: the interval between two updates of the fragment.
PROBLEM = "teach_problem"
STOPPING = "teach_stopping"  # Session key: the ids of trainings that are being stopped.
LINK = gettext_lazy("Anyone with the link may look; only the browser that began it can stop it.")
COLLAPSED = {
    "classify": gettext_lazy("Two evaluations predicted “{only}” for every dev row: nothing is learned so far."),
    "tag": gettext_lazy("Two evaluations found no entity in the dev rows: nothing is learned so far."),
}
PASSES = gettext_lazy("{said} If this lasts, lower the learning rate, or add minutes or rows.")
ENDED = gettext_lazy("{said} Lower the learning rate, or add minutes or rows.")


def draw_progress(look: JobStatus) -> None:
    """Draw the progress of a training; the fragment redraws itself while the training waits or runs."""
    _draw_title(look)
    lives = look.state in ("waiting", "running")
    st.fragment(_watch, run_every=EVERY if lives else None)(look.job.id, _job_state(look))


def _draw_title(look: JobStatus) -> None:
    """Draw the title of the training and a button that returns to the settings."""
    about = f"{look.job.title} · {in_words(look)}" if look.state == "done" else look.job.title
    with st.container(horizontal=True, vertical_alignment="center"):
        show_notice(about, role="status")
        help = _("This training goes on and keeps its link.")
        st.button(_("New training"), on_click=set_params, args=(TeachOptions,), kwargs={"job": ""}, help=help)


def _job_state(look: JobStatus) -> tuple[str, str, bool]:
    """Return the parts of a job's status that require a rerun of the whole page if they change."""
    return look.state, look.phase, look.has_model


def _watch(job_id: str, before: tuple[str, str, bool]) -> None:
    """Draw the current state of the training; rerun the whole page if its state or phase has changed."""
    try:
        look = queue().look(job_id)
    except UserError:
        st.rerun()  # The training was removed; the page reports it on the rerun.
    if _job_state(look) != before:
        st.rerun()
    _state(look)
    if look.phase != "teach":
        with st.expander(_("Training curves")):
            curves(look)
    else:
        curves(look)


def _state(look: JobStatus) -> None:
    """Draw the state as a sentence or a progress bar, with the buttons that apply."""
    stopping: set[str] = st.session_state.setdefault(STOPPING, set())
    mine = look.job.owner == visitor()
    if look.state != "running":
        stopping.discard(look.job.id)
    with st.container(horizontal=True, vertical_alignment="center"):
        if look.state == "running":
            st.progress(progress_of(look).share, text=describe_job(look))
        elif look.state != "done":
            show_notice(in_words(look), role="alert" if look.state == "failed" else "status")
        if look.job.id in stopping:
            show_notice(_("Stopping after this step; the best step is kept."), role="status")
        elif look.state in ("waiting", "running") and mine:
            st.button(
                _("Stop"), on_click=_stop, args=(look.job.id,), help=_("The best step is kept; it can go on later.")
            )
        elif look.state in ("stopped", "failed") and mine:
            st.button(_("Go on"), type="primary", on_click=_go_on, args=(look.job.id,))
    if problem := st.session_state.pop(PROBLEM, ""):
        show_notice(problem)
    if look.state in ("waiting", "running"):
        st.caption(translate(LINK))
    collapse(look)


def in_words(look: JobStatus) -> str:
    """Return a sentence on the state of a training that is not running."""
    if look.state == "waiting":
        if not look.ahead:
            return _("It begins now.")
        return _("Waiting; trainings before it: {n}.", n=look.ahead)
    if look.state == "failed":
        return translate(look.said)
    if look.state == "done":
        return _("The training is finished.")
    found, said = progress_of(look), translate(look.said) or _("Stopped.")
    if look.phase != "teach":
        return _("{said} The model is trained; press “Go on” for the comparison.", said=said)
    if not look.has_model:
        return _("{said} Nothing is saved yet.", said=said)
    return _(
        "{said} Step {step:,} of {last:,}; the best step is kept and shown below.",
        said=said,
        step=found.step,
        last=found.last,
    )


def collapse(look: JobStatus) -> None:
    """Show a warning if the model predicted a single label for all dev rows twice in a row.

    The warning disappears after an evaluation with several labels.
    """
    found, scored = look.lines("collapse", "teach"), look.lines("evaluation", "teach")
    if found and scored and scored[-1].get("only") is not None:
        goes = look.phase == "teach" and look.state in ("waiting", "running")
        show_notice(_(PASSES if goes else ENDED, said=_(COLLAPSED[look.job.kind], only=found[-1]["only"])))


def _stop(job_id: str) -> None:
    st.session_state[STOPPING].add(job_id)
    _ask(queue().stop, job_id)


def _go_on(job_id: str) -> None:
    _ask(queue().go_on, job_id)


def _ask(what: Callable[[str], None], job_id: str) -> None:
    """Call a method of the queue; keep its UserError for the next drawing of the page."""
    try:
        what(job_id)
    except UserError as refusal:
        st.session_state[PROBLEM] = refusal.message
