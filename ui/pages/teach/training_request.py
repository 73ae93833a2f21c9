"""Teach page: a new training: initial model, settings, and its place in the queue."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from attention.answer_windows import LENGTH, SHORTEST
from i18n import _, gettext_lazy, ngettext, translate
from inference import EMBEDDED, UserError
from inference.hub_cards import ModelCard
from probing.labelled.data_checks import passage_texts
from probing.labelled.labeled_texts import HeadKind, LabeledDataset, uses_spaces
from probing.labelled.squad import QuestionSet
from training.jobs.job import CHARACTERS, LEAST_STEPS, FinetuneSettings, Training, default_settings, new_job
from ui.input.controls import bound_widget
from ui.input.model_chip import pick_model
from ui.pages.teach.data import TaskData, checks, pick_data, show_data
from ui.pages.teach.options import TeachOptions
from ui.run.fine_tuning import cards, queue, training_title, visitor
from ui.run.notices import show_notice
from ui.run.services import get_backend
from ui.show.text import format_comma_list, join_sentences
from ui.state.params import set_params
from ui.state.session import get_view_state
from ui.state.view_state import DEFAULT_MODEL

LENGTHS = {"classify": 64, "tag": 64, "answer": LENGTH}  # Default numbers of tokens of a text or window.
LIMITS = {"minutes": (1, 240), "epochs": (1, 100), "length": (8, 512), "frozen": (0, 48), "seed": (0, 999_999)}
STARTS = {"model": gettext_lazy("Pretrained model"), "nothing": gettext_lazy("Random weights")}
ABOUT_START = gettext_lazy("Pretrained models need few examples; random weights suit any language.")
LIMIT = gettext_lazy("Minutes or epochs, whichever ends first")
EPOCHS, FROM_NOTHING = 3, 30  # Default epochs of a pretrained model, and of a model trained from scratch.
NUMBERS = {
    "epochs": (
        gettext_lazy("Epochs"),
        LIMIT,
    ),
    "length": (gettext_lazy("Maximum length"), gettext_lazy("Longer texts are cut to this many tokens.")),
    "frozen": (
        gettext_lazy("Frozen layers"),
        gettext_lazy("From the embeddings upwards"),
    ),
    "seed": (
        gettext_lazy("Seed"),
        gettext_lazy("Splits, initial weights and row order"),
    ),
}
WRITES = gettext_lazy("Encoder-decoders cannot be fine-tuned here. Pick a model such as BERT.")


def pick_how(data: TaskData, options: TeachOptions) -> tuple[str, FinetuneSettings]:
    """Draw the widgets for a new training; return the name of the initial model and the settings."""
    start = options.start or fitting(data.labels, get_backend().models(), get_view_state().model)
    left, right = st.columns([3, 1])
    with left:
        _pick_start(start, options.start_revision)
    numbers = clamp_settings(options, start, data.labels.kind)
    _number("minutes", numbers, right, gettext_lazy("Minutes"), LIMIT)
    with st.expander(_("Advanced settings")):
        columns = st.columns(5)
        for name, place in zip(NUMBERS, columns, strict=False):
            _number(name, numbers, place, *NUMBERS[name])
        bound_widget(TeachOptions, "rate", columns[4].selectbox)
        st.caption(_("Few rows: at least {steps} steps.", steps=LEAST_STEPS))
    rate = float(options.rate) if options.rate else None
    minutes, epochs = float(numbers.pop("minutes")), float(numbers.pop("epochs"))
    return start, default_settings(minutes=minutes, epochs=epochs, rate=rate, **numbers)


def fitting(labels: LabeledDataset | QuestionSet, models: Iterable[ModelCard], chosen: str = DEFAULT_MODEL) -> str:
    """Return the default initial model for the script of the texts.

    A model that the visitor has ``chosen`` in place of the app's default is kept, if it is a downloaded encoder.
    Otherwise the embedded model is used for texts with spaces between words. Its vocabulary splits other texts into
    uninformative subwords. These get a downloaded Chinese encoder, or else the character-level model.
    """
    here = [card for card in models if card.downloaded and card.kind == "encoder"]
    if chosen != DEFAULT_MODEL and any(card.id == chosen for card in here):
        return chosen
    texts = labels if isinstance(labels, LabeledDataset) else passage_texts(labels)
    if uses_spaces(row.text for row in texts.train):
        return EMBEDDED
    return next((card.id for card in here if "Chinese" in card.language), CHARACTERS)


def clamp_settings(options: TeachOptions, start: str, kind: HeadKind) -> dict[str, int]:
    """Return the numeric settings, each clamped to its limits, because a link may contain any number.

    >>> clamp_settings(TeachOptions(minutes=9_999, length=1), CHARACTERS, "tag")
    {'minutes': 240, 'epochs': 30, 'length': 8, 'frozen': 0, 'seed': 0}
    """
    asked = {name: getattr(options, name) for name in LIMITS}
    if options.epochs is None:
        asked["epochs"] = FROM_NOTHING if start == CHARACTERS else EPOCHS
    if options.length is None:
        asked["length"] = LENGTHS[kind]
    found = {name: min(max(asked[name], least), most) for name, (least, most) in LIMITS.items()}
    return {**found, "length": max(found["length"], SHORTEST)} if kind == "answer" else found


def _pick_start(start: str, revision: str) -> None:
    """Draw the choice between a pretrained model and a new character-level model."""
    box = "teach_start"
    st.session_state[box] = "nothing" if start == CHARACTERS else "model"

    def keep() -> None:
        picked = CHARACTERS if st.session_state[box] == "nothing" else EMBEDDED
        set_params(TeachOptions, start=picked, start_revision="")

    st.segmented_control(_("Start from"), list(STARTS), key=box, format_func=lambda name: translate(STARTS[name]),
                         on_change=keep, required=True, help=translate(ABOUT_START))  # fmt: skip
    if start == CHARACTERS:
        show_notice(
            _("Four layers of four heads, initialised at random; tokens: characters that occur at least twice."),
            role="status",
        )
        return
    pick_model("teach", start, revision, lambda name, its: set_params(TeachOptions, start=name, start_revision=its),
               label=_("Initial model"))  # fmt: skip


def _number(name: str, numbers: dict[str, int], place: DeltaGenerator, label: str, about: str) -> None:
    least, most = LIMITS[name]
    bound_widget(
        TeachOptions,
        name,
        place.number_input,
        translate(label),
        least,
        most,
        shown=numbers[name],
        help=translate(about),
    )


@dataclass(frozen=True, eq=False)
class TrainingRequest:
    """The data, the initial model and the settings of a new training."""

    data: TaskData
    start: str
    revision: str | None
    settings: FinetuneSettings

    @property
    def is_seq2seq(self) -> bool:
        """Return True if the model is known to be an encoder-decoder, which cannot be fine-tuned here."""
        return any(card.id == self.start and card.kind == "encoder-decoder" for card in cards(self.start))

    @property
    def is_missing(self) -> bool:
        """Return True if the model must be downloaded first."""
        return self.start != CHARACTERS and get_backend().status(self.start, self.revision) == "absent"


def begin(options: TeachOptions) -> None:
    """Draw the form of a new training: the data set, the model and its settings, the checks, and the start button."""
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
        help=_("Queued; can be stopped and continued."),
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
    """Return a sentence on the duration of the training, the test, and the controls that follow."""
    labels, minutes = wanted.data.labels, wanted.settings.minutes
    said = _("At most {minutes:g} min of training, then a test on {n:,} rows.", minutes=minutes, n=len(labels.test))
    if labels.kind == "answer":
        return said
    return join_sentences(said, _("Two controls with shuffled labels follow."))


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
    named = [f"“{training_title(look.job)}”" for look in gone if look.job.owner == visitor()]
    others = len(gone) - len(named)
    if others:
        named.append(ngettext("{n} training of another visitor", "{n} trainings of other visitors", others, n=others))
    show_notice(
        _(
            "{named} will be removed to make room.",
            named=format_comma_list(named),
        ),
        role="status",
    )
