"""How the model is taught: which one it starts from, for how long, and what experts may set."""

from __future__ import annotations

from collections.abc import Iterable

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from inference import EMBEDDED
from inference.hub_cards import ModelCard
from probing.labelled.rows import Labels
from probing.labelled.scripts import apart
from training.jobs.job import CHARACTERS, Settings, usual
from ui.input.models import pick_model
from ui.input.picking import control
from ui.pages.teach.data import Data
from ui.pages.teach.options import Teach
from ui.run.refusals import say
from ui.run.shelf import backend
from ui.state.options import choose_own
from wording import _, sentence, told

LIMITS = {"minutes": (1, 240), "epochs": (1, 100), "length": (8, 512), "frozen": (0, 48), "seed": (0, 999_999)}
STARTS = {"model": sentence("A trained model"), "nothing": sentence("Nothing, by characters")}
ABOUT_START = sentence(
    "A model that has read much needs few examples of a task, if it knows the language. From nothing, a small one"
    " learns the characters and the task at once, in any language."
)
MINUTES = sentence("Of training at most; it ends earlier where the passes over the rows that are set below are done")
EPOCHS, FROM_NOTHING = 3, 30  # passes where none are asked for; what has read nothing before needs more of them
FOUND = sentence("found from the model and the task")
NUMBERS = {
    "epochs": (
        sentence("Passes over the rows"),
        sentence("The training ends after so many, or when its minutes are over"),
    ),
    "length": (sentence("Pieces of a text"), sentence("What is longer is cut there")),
    "frozen": (sentence("Layers that stay"), sentence("From below, the embeddings with them: they are not changed")),
    "seed": (
        sentence("Seed"),
        sentence("Of the division of a file, of the new head's first numbers, and of the order of the rows"),
    ),
}
RATE = sentence(
    "The largest step that the weights take; it is reached after 6 % of the steps and falls to 0 at the last"
)


def pick_how(data: Data, options: Teach) -> tuple[str, Settings]:
    """Controls; the model's name and how it is taught."""
    start = options.start or fitting(data.labels, backend().models())
    left, right = st.columns([3, 1])
    with left:
        _pick_start(start, options.start_revision)
    numbers = within(options, start)
    _number("minutes", numbers, right, sentence("Minutes"), MINUTES)
    with st.expander(_("Settings for experts")):
        columns = st.columns(5)
        for name, place in zip(NUMBERS, columns, strict=False):
            _number(name, numbers, place, *NUMBERS[name])
        control(Teach, "rate", columns[4].selectbox, _("Rate"), list(Teach.CHOICES["rate"]),
                format_func=lambda rate: rate or FOUND, help=told(RATE))  # fmt: skip
    rate = float(options.rate) if options.rate else None
    minutes, epochs = float(numbers.pop("minutes")), float(numbers.pop("epochs"))
    return start, usual(minutes=minutes, epochs=epochs, rate=rate, **numbers)


def fitting(labels: Labels, models: Iterable[ModelCard]) -> str:
    """The model to start from where none is picked: what reads the texts' script, by what is on this machine.

    Texts without spaces between their words are read by the embedded model as pieces that it knows little of.
    """
    if apart(row.text for row in labels.train):
        return EMBEDDED
    here = (card for card in models if card.downloaded and card.kind == "encoder")
    return next((card.id for card in here if "Chinese" in card.language), CHARACTERS)


def within(options: Teach, start: str) -> dict[str, int]:
    """The numbers that the options ask for, each within its limits: a link may say anything.

    >>> within(Teach(minutes=9_999, length=1), CHARACTERS)
    {'minutes': 240, 'epochs': 30, 'length': 8, 'frozen': 0, 'seed': 0}
    """
    asked = {name: getattr(options, name) for name in LIMITS}
    if options.epochs is None:
        asked["epochs"] = FROM_NOTHING if start == CHARACTERS else EPOCHS
    return {name: min(max(asked[name], least), most) for name, (least, most) in LIMITS.items()}


def _pick_start(start: str, revision: str) -> None:
    """What is taught: a model by its name, or one from nothing."""
    box = "teach_start"
    st.session_state[box] = "nothing" if start == CHARACTERS else "model"

    def keep() -> None:
        picked = CHARACTERS if st.session_state[box] == "nothing" else EMBEDDED
        choose_own(Teach, start=picked, start_revision="")

    st.segmented_control(_("Start from"), list(STARTS), key=box, format_func=lambda name: told(STARTS[name]),
                         on_change=keep, required=True, help=told(ABOUT_START))  # fmt: skip
    if start == CHARACTERS:
        say(_("Four layers of four heads, drawn at random; every character that stands twice in the rows is a piece."),
            role="status")  # fmt: skip
        return
    pick_model("teach", start, revision, lambda name, its: choose_own(Teach, start=name, start_revision=its),
               label=_("Model that is taught"))  # fmt: skip


def _number(name: str, numbers: dict[str, int], place: DeltaGenerator, label: str, about: str) -> None:
    least, most = LIMITS[name]
    control(Teach, name, place.number_input, told(label), least, most, shown=numbers[name], help=told(about))
