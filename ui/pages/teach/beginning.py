"""From what is picked to a training in the queue."""

from __future__ import annotations

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from inference import Refusal
from training.jobs.job import CHARACTERS, Job, Settings, asked
from ui.pages.teach.checks import checks
from ui.pages.teach.data import Data, pick_data, show_data
from ui.pages.teach.how import pick_how
from ui.pages.teach.options import Teach
from ui.run.refusals import say
from ui.run.shelf import backend
from ui.run.teaching import queue, visitor
from ui.state.options import choose_own


def begin(options: Teach) -> None:
    """Data and the button that begins on top, then the texts, the model, and what is odd in the texts."""
    left, right = st.columns([3, 1], vertical_alignment="bottom")
    data = pick_data(options, left)
    if data is None:
        return
    below = st.container()
    show_data(data)
    start, settings = pick_how(data, options)
    revision = options.start_revision if start != CHARACTERS else ""
    with below:
        _button(data, start, revision, settings, right)
    checks(data, None if start == CHARACTERS else start, revision, settings.length)


def _button(data: Data, start: str, revision: str, settings: Settings, place: DeltaGenerator) -> None:
    """The button, in its place, and what will be there and when."""
    writes = _writes(start)
    absent = start != CHARACTERS and backend().status(start, revision or None) == "absent"
    pressed = place.button(
        "Teach",
        type="primary",
        icon=":material/school:",
        width="stretch",
        disabled=absent or writes,
        help="It goes into the queue of this machine; it can be stopped, and goes on later where it was.",
    )
    say(promise(data, settings), role="status")
    if writes:
        say("The picked model writes one text from another. Pick one that reads one text, such as BERT.")
    elif not absent:
        _say_pushed_out(start, revision)
    if pressed:
        job = job_of(data, start, revision, settings, visitor())
        try:
            with st.spinner("Putting it into the queue"):
                queue().submit(job, data.labels if data.card is None else None)
        except Refusal as refusal:
            say(refusal.message)
        else:
            choose_own(Teach, job=job.id, show="results")
            st.rerun()


def promise(data: Data, settings: Settings) -> str:
    """How long it takes and what will be there in the end."""
    what = "texts" if data.labels.kind == "classify" else "sentences"
    minutes = f"{settings.minutes:g} {'minute' if settings.minutes == 1 else 'minutes'}"
    return (
        f"At most {minutes} of training; then you see how well {len(data.labels.test):,} other {what} are told, try one"
        " of your own, and keep the model. What changed in its heads follows once a twin has learned shuffled labels,"
        " which takes as long again."
    )


def job_of(data: Data, start: str, revision: str, settings: Settings, owner: str) -> Job:
    """What is asked of the queue."""
    cards = {card.id: card.title for card in backend().models()}
    return asked(
        owner,
        f"{data.title} · {cards.get(start, start)}",
        data.labels.kind,
        model=start,
        revision=revision or None,
        data="" if data.card is None else data.card.id,
        source=data.source,
        settings=settings,
    )


def _writes(start: str) -> bool:
    """Whether a model is known to write one text from another, which no task of this page is taught to."""
    return any(card.id == start and card.kind == "encoder-decoder" for card in backend().models())


def _say_pushed_out(start: str, revision: str) -> None:
    """Says which taught models go to make room for another one: by their titles only those of this visitor."""
    try:
        gone = queue().pushed_out(start, revision or None)
    except Refusal:
        return  # what is wrong with the model is said where its texts are counted
    if not gone:
        return
    mine = [f"“{look.job.title}”" for look in gone if look.job.owner == visitor()]
    others = len(gone) - len(mine)
    named = [*mine, *([f"{others} of other visitors"] if others else [])]
    say(f"There is no room for another taught model: {', '.join(named)} will be removed to make some.", role="status")
