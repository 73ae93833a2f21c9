"""A sentence of one's own: its label, or its words' tags, as a taught model says them."""

from __future__ import annotations

import json
from collections.abc import Callable

import numpy as np
import streamlit as st

from attention.mask import Array
from inference import Refusal, TraceRequest
from inference.questions.labels import NUMBER, Place, Said, TextLabel, WordTags
from probing.labelled.rows import OUTSIDE, Kind
from training.jobs.job import PREDICTIONS, Look
from ui.input.picking import control
from ui.pages.teach.options import Teach
from ui.pages.teach.own_asked import Asked, about
from ui.pages.teach.own_heads import draw_heads
from ui.pages.teach.own_words import draw_words
from ui.run.answering import ask
from ui.run.refusals import say
from ui.run.shelf import backend
from ui.show.chart import draw_chart, theme
from ui.show.csv_table import csv_table
from ui.show.numbers import percent
from ui.show.provenance import captioned
from ui.show.saving import save
from ui.state.options import choose_own, own
from viz.components.strip.strip import Chip, mount, picked
from viz.figures.bars import bars

LONGEST = 500  # characters
MOST_BARS = 20
STRIP = "teach_tags"
MOST_BYTES = 100_000  # of a test row


def draw(look: Look) -> None:
    """A sentence, what the taught model says of it, and what that rests on; the first test row to begin with."""
    show(look.job.name, look.job.kind, _first_row(look))


def show(model: str, kind: Kind, first: str) -> None:
    """The same for any model with the head that ``kind`` needs, by its name; ``first`` stands there to begin with."""
    control(
        Teach,
        "sentence",
        st.text_input,
        "A sentence of your own",
        shown=own(Teach).sentence or first,
        max_chars=LONGEST,
        help="The model says what it makes of it; it is kept in the link.",
    )
    text = own(Teach).sentence or first
    question = (TextLabel if kind == "classify" else WordTags)(model, text=text)
    try:
        said = ask(question, "Asking the model")
        asked = _of_text(model, text, said) if kind == "classify" else _of_word(model, text, said)
        _probabilities(asked)
        _pick_label(asked)
        trace = backend().trace(TraceRequest(model, text))
        st.subheader("What does it rest on?")
        draw_words(asked, trace)
        st.subheader("Which heads does it need?")
        draw_heads(asked, trace)
    except Refusal as refusal:
        say(refusal.message)


def _first_row(look: Look) -> str:
    """The first test row, as the model was told on it; "" where it cannot be read."""
    try:
        with (look.model / PREDICTIONS).open(encoding="utf-8") as lines:
            return str(json.loads(lines.readline(MOST_BYTES))["text"])[:LONGEST]
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        return ""


def _of_text(model: str, text: str, said: Said) -> Asked:
    """The likeliest label, in a sentence."""
    asked = Asked(model, text, said, 0, None, own(Teach).label)
    best = said.likeliest(0)
    shares = said.probabilities
    if shares is None:
        numbers = ", ".join(f"{name} {number:.2f}" for name, number in zip(said.names, said.logits[0], strict=True))
        say(f"The model gives a number, which no probability belongs to: {numbers}.", role="status")
        return asked
    rest = np.delete(np.arange(len(said.names)), best)
    second = int(rest[said.logits[0, rest].argmax()]) if len(rest) else None
    beside = "" if second is None else f"; next comes “{said.names[second]}” with {percent(float(shares[0, second]))}"
    say(f"The model says “{said.names[best]}” with probability {percent(float(shares[0, best]))}{beside}.", "status")
    return asked


def _of_word(model: str, text: str, said: Said) -> Asked:
    """Every word with its tag; a click picks the one that is explained, by itself the surest that has a tag."""
    shares = said.probabilities
    sure = said.logits.max(axis=1) if shares is None else shares.max(axis=1)
    tags = [said.names[said.likeliest(at)] for at in range(len(said.places))]
    tagged = [at for at, tag in enumerate(tags) if tag != OUTSIDE]
    wanted = next((at for at, place in enumerate(said.places) if place.reads[0] == own(Teach).word), None)
    chosen = wanted if wanted is not None else max(tagged, key=lambda at: float(sure[at]), default=0)
    mount(_chips(text, said, tags, sure, chosen), STRIP, title="Click the word whose tag is to be explained",
          on_pick=_pick(said))  # fmt: skip
    word = _word(text, said, said.places[chosen])
    found = f"{len(tagged)} of {len(tags)} words have a tag" if tagged else f"No word has another tag than {OUTSIDE}"
    say(f"{found}. “{word}” is tagged {tags[chosen]} with probability {percent(float(sure[chosen]))}.", role="status")
    return Asked(model, text, said, chosen, said.places[chosen].reads[0], own(Teach).label, word)


def _chips(text: str, said: Said, tags: list[str], sure: Array, chosen: int) -> list[Chip]:
    return [
        Chip(
            _word(text, said, place),
            shade=float(sure[at]) if tags[at] != OUTSIDE else None,
            mark="chosen" if at == chosen else "",
            title=f"{tags[at]}, probability {percent(float(sure[at]))}",
            label=f"{tags[at]} {percent(float(sure[at]))}" if tags[at] != OUTSIDE else "",
        )
        for at, place in enumerate(said.places)
    ]


def _word(text: str, said: Said, place: Place) -> str:
    """A word as it was typed."""
    spans = [span for span in said.row.spans[slice(*place.run)] if span is not None]
    return text[spans[0][0] : spans[-1][1]] if spans else "".join(said.row.pieces[slice(*place.run)])


def _pick(said: Said) -> Callable[[], None]:
    def keep() -> None:
        at = picked(STRIP)
        if at is not None and at < len(said.places):
            choose_own(Teach, word=said.places[at].reads[0], label=None)

    return keep


def _probabilities(asked: Asked) -> None:
    """Every label's probability as bars, the likeliest first, and as a table."""
    said, place = asked.said, asked.place
    shares = said.probabilities
    order = np.argsort(-said.logits[place], kind="stable")
    if shares is not None:
        shown = order[:MOST_BARS]
        rest = float(shares[place, order[MOST_BARS:]].sum()) if len(order) > MOST_BARS else None
        title = "What the model says of the sentence" if asked.at is None else f"What the model says of “{asked.word}”"
        marked = [at for at, label in enumerate(shown) if label == asked.label]
        values = [float(shares[place, label]) for label in shown]
        figure = bars([said.names[label] for label in shown], values, theme(), title, other=rest, marked=marked)
        figure.update_xaxes(range=[0, 1.15])
        draw_chart(figure, "teach_labels")
    rows = [
        (
            said.names[label],
            float(said.logits[place, label]),
            *(() if shares is None else (float(shares[place, label]),)),
        )
        for label in order
    ]
    table = csv_table(["label", "logit", *(() if shares is None else ("probability",))], rows)
    save("Save the table", captioned(table, about(asked)), "headlight-labels.csv", "Every label's numbers as CSV",
         key="teach_save_labels")  # fmt: skip


def _pick_label(asked: Asked) -> None:
    """Which label is explained."""
    names = asked.said.names
    if len(names) > 1:
        what = "number" if asked.said.sort == NUMBER else "label"
        control(
            Teach,
            "label",
            st.selectbox,
            f"Explain the {what}",
            list(range(len(names))),
            shown=asked.label,
            format_func=lambda at: names[at],
            help="What it rests on, and which heads it needs. By itself the likeliest.",
        )
