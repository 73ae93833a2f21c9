"""Teach page: a new training, from the chosen settings to its place in the queue."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from i18n import _, gettext_lazy
from inference import UserError
from training.jobs.job import CHARACTERS, FinetuneSettings, Training, new_job
from ui.pages.teach.checks import checks
from ui.pages.teach.data import TaskData, pick_data, show_data
from ui.pages.teach.options import TeachOptions
from ui.pages.teach.training_controls import pick_how
from ui.run.fine_tuning import cards, queue, visitor
from ui.run.notices import show_notice
from ui.run.services import get_backend
from ui.show.text import format_comma_list
from ui.state.params import set_params

WRITES = gettext_lazy("Encoder-decoders cannot be fine-tuned here. Pick a model such as BERT.")


@dataclass(frozen=True, eq=False)
class TrainingRequest:
    """The data, the initial model and the settings of a new training."""

    data: TaskData
    start: str
    revision: str | None
    settings: FinetuneSettings

    @property
    def is_seq2seq(self) -> bool:
        """Return whether the model is known to be an encoder-decoder, which no task here supports."""
        return any(card.id == self.start and card.kind == "encoder-decoder" for card in cards(self.start))

    @property
    def is_missing(self) -> bool:
        """Return whether the model must be downloaded first."""
        return self.start != CHARACTERS and get_backend().status(self.start, self.revision) == "absent"


def begin(options: TeachOptions) -> None:
    """Draw the data selector and the start button, then the data set, the model settings and the checks."""
    left, right = st.columns([3, 1], vertical_alignment="bottom")
    data = pick_data(options, left)
    if data is None:
        return
    below = st.container()
    show_data(data)
    start, settings = pick_how(data, options)
    wanted = TrainingRequest(data, start, (options.start_revision or None) if start != CHARACTERS else None, settings)
    with below:
        _button(wanted, right)
    if not wanted.is_seq2seq:
        checks(data, None if start == CHARACTERS else start, wanted.revision, settings.length)


def _button(wanted: TrainingRequest, place: DeltaGenerator) -> None:
    """Draw the start button with a description of the training; submit it if the button is pressed."""
    unfit = wanted.is_seq2seq or wanted.is_missing
    pressed = place.button(
        _("Fine-tune"),
        type="primary",
        icon=":material/school:",
        width="stretch",
        disabled=unfit,
        help=_("Queued on this machine; it can be stopped and continued."),
    )
    show_notice(
        WRITES if wanted.is_seq2seq else describe_training(wanted), role="alert" if wanted.is_seq2seq else "status"
    )
    if not unfit:
        _say_pushed_out(wanted)
    if pressed:
        job = job_of(wanted, visitor())
        try:
            with st.spinner(_("Queueing")):
                queue().submit(job, wanted.data.labels if wanted.data.card is None else None)
        except UserError as refusal:
            show_notice(refusal.message)
        else:
            set_params(TeachOptions, job=job.id, show="results")
            st.rerun()


def describe_training(wanted: TrainingRequest) -> str:
    """Return a sentence on the duration and the results of the training."""
    labels, minutes = wanted.data.labels, wanted.settings.minutes
    return _(
        "Training: at most {minutes:g} min, then a test on {n:,} rows. The comparison of the heads follows after two"
        " controls with shuffled labels, each for as long.",
        minutes=minutes,
        n=len(labels.test),
    )


def job_of(wanted: TrainingRequest, owner: str) -> Training:
    """Return the job to submit to the queue."""
    data, titles = wanted.data, {card.id: card.title for card in cards(wanted.start)}
    return new_job(
        owner,
        f"{data.title} · {titles.get(wanted.start, wanted.start.rpartition('/')[2])}",
        data.labels.kind,
        model=wanted.start,
        revision=wanted.revision,
        data="" if data.card is None else data.card.id,
        source=data.source,
        settings=wanted.settings,
    )


def _say_pushed_out(wanted: TrainingRequest) -> None:
    """Show which fine-tuned models will be removed to free disk space.

    Models of other visitors are counted, not named.
    """
    try:
        gone = queue().pushed_out(wanted.start, wanted.revision)
    except UserError:
        return  # The checks of the texts report the error.
    if not gone:
        return
    mine = [f"“{look.job.title}”" for look in gone if look.job.owner == visitor()]
    others = len(gone) - len(mine)
    named = [*mine, *([_("{others} of other visitors", others=others)] if others else [])]
    show_notice(
        _(
            "To make room, {named} will be removed.",
            named=format_comma_list(named),
        ),
        role="status",
    )
