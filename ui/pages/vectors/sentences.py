"""Sentences as vectors: typed ones or a whole file; how alike they are, which is nearest, and files to take away."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import streamlit as st

from attention.mask import Array
from attention.vectors import cosine, nearest
from inference import EMBEDDED, Refusal
from inference.questions.vectors import Pooled
from inference.stops import Stop
from ui.input.picking import control
from ui.pages.vectors import routes
from ui.pages.vectors.corpus import Run, held
from ui.pages.vectors.levels import pick_mix, pick_pooling
from ui.pages.vectors.options import Vectors
from ui.pages.vectors.projection import picture
from ui.pages.vectors.sentence_files import MOST_SENTENCES, lines
from ui.pages.vectors.upload import from_file
from ui.run import visitors
from ui.run.refusals import say, show
from ui.run.shelf import backend
from ui.show.chart import draw_chart, theme
from ui.show.csv_table import csv_table
from ui.show.draw_table import draw_table
from ui.show.provenance import model_provenance
from ui.show.saving import save
from ui.state.choice import Choice
from viz.figures.cosine import cosine_map
from viz.figures.labels import cut
from wording import _, sentence, told

RUN = "vectors_run"
MAPPED = 40  # sentences up to which each is compared with each
TYPED = 200  # lines that are made without being asked
NEAREST = 10
PATIENCE = 0.8  # seconds before a run shows how far it is
ENDED = {"stopped": sentence(" (stopped)"), "failed": sentence(" (failed)"), "done": sentence(" (done)")}
BRINGS = {"typed": sentence("Typed here"), "file": sentence("From a file")}
MARKS = sentence(
    "Each square is the cosine of two sentences: 1 means the same direction, 0 nothing in common, −1 the opposite."
)


def sentences(choice: Choice, options: Vectors, levels: int) -> None:
    """Draw it; ``levels`` is how many the model has."""
    left, right = st.columns(2)
    pick_mix(left, options, levels, choice.count)
    pick_pooling(right)
    say(_fit(choice, options), role="status")
    control(Vectors, "bring", st.segmented_control, _("Sentences"), list(BRINGS), format_func=BRINGS.get, required=True,
            help=_("Up to {most:,}, one on each line", most=MOST_SENTENCES))  # fmt: skip
    try:
        texts = _typed(options) if options.bring == "typed" else from_file()
    except Refusal as refusal:
        say(refusal.message)
        return
    if not texts:
        return
    level = min(options.level, levels - 1) if options.mix == "level" else 0
    run = _run(Pooled(choice.model, choice.revision or None, texts, options.mix, level, options.pooling))
    if run is not None:
        _done(run, options)


def _fit(choice: Choice, options: Vectors) -> str:
    """Whether the model was made for this."""
    trained = options.mix == "last" and options.pooling == "mean"
    if choice.model == EMBEDDED:
        if trained:
            return _("The mean of the last layer's tokens is how all-MiniLM-L6-v2 was trained to compare sentences.")
        return _(
            "all-MiniLM-L6-v2 was trained to compare sentences by the mean of the last layer's tokens, not by this."
        )
    return _(
        "Unless a model was trained to compare sentences, the nearest sentence may be near for its length or style."
    )


def _typed(options: Vectors) -> tuple[str, ...]:
    control(Vectors, "lines", st.text_area, _("One sentence a line"), height=220, help=_("Empty lines are left out"))
    return lines(options.lines)


def _run(asked: Pooled) -> Run | None:
    """The run of this question when it is done. One that is short begins at once, another when it is asked for."""
    run = held(st.session_state, RUN)
    if run is None or run.asked != asked:
        if run is not None:
            run.stop()
        run = st.session_state[RUN] = Run(asked, backend().inspect, _ends())
    if run.state == "new" and len(asked.texts) <= TYPED:
        run.start()
    run.wait(PATIENCE)
    if run.state == "done":
        return run
    _watch()
    return None


def _ends() -> Callable[[], Stop]:
    """How each part of a run ends: with the page that asked for it, or when its time is over."""
    visitor, seconds = visitors.of_page(), backend().settings.answer_seconds
    return lambda: Stop(seconds=seconds) if visitor is None else Stop(visitor.who, seconds, gone=visitor.gone)


@st.fragment(run_every=0.5)
def _watch() -> None:
    """How far it is, with a way to stop and to go on; the whole page is drawn again when it is done."""
    run = held(st.session_state, RUN)
    if run is None or run.state == "done":
        st.rerun()
    run.look()
    total = len(run.asked.texts)
    if run.state == "new":
        st.button(
            _("Make {total:,} vectors", total=total),
            type="primary",
            on_click=run.start,  # type: ignore[arg-type]  # what it gives back is not used
            help=_("It can be stopped and goes on"),
        )
        return
    st.progress(
        run.done / total, text=_("{done:,} of {total:,} sentences{left}", done=run.done, total=total, left=_left(run))
    )
    if run.error is not None:
        show(run.error)
    if run.state == "running":
        st.button(_("Stop"), on_click=run.stop, help=_("What is done is kept."))
    else:
        st.button(
            _("Go on"),
            on_click=run.start,  # type: ignore[arg-type]  # what it gives back is not used
            help=_("Continue where it was"),
        )


def _left(run: Run) -> str:
    """How much longer, in words.

    >>> from types import SimpleNamespace
    >>> _left(SimpleNamespace(state="running", seconds_left=200.0)), _left(SimpleNamespace(state="stopped"))
    (', about 3 minutes left', ' (stopped)')
    """
    if run.state != "running":
        return told(ENDED[run.state])
    if run.seconds_left is None:
        return ""
    seconds = run.seconds_left
    return (
        _(", about {seconds:.0f} s left", seconds=seconds)
        if seconds < 90
        else _(", about {minutes:.0f} minutes left", minutes=seconds / 60)
    )


def _done(run: Run, options: Vectors) -> None:
    texts, vectors = run.asked.texts, run.vectors
    for note in _notes(run):
        say(note, role="status")
    _nearest(run, options)
    if 1 < len(texts) <= MAPPED:
        likeness = cosine(np.asarray(vectors), np.asarray(vectors))
        say(summary(likeness, texts), role="status")
        figure = cosine_map(likeness, texts, theme(), _("How alike are the sentences?"))
        draw_chart(figure, "vectors_sentences")
        st.caption(told(MARKS))
    picture(vectors, texts, options, _("sentences"))
    _files(run)


def _notes(run: Run) -> list[str]:
    """What did not go as for an ordinary sentence."""
    notes, said = run.notes, []
    if notes.cut:
        said.append(_("{cut:,} sentences are longer than the model reads; only their beginning counts.", cut=notes.cut))
    if notes.refused:
        said.append(
            _(
                "{refused:,} sentences could not be read; their vectors are zeros. {first}",
                refused=notes.refused,
                first=notes.first,
            )
        )
    return said


def summary(likeness: Array, texts: Sequence[str]) -> str:
    """The two that are most alike, beside the mean.

    >>> summary(np.array([[1, 0.5, 0], [0.5, 1, 0.1], [0, 0.1, 1]]), ("A cat.", "A dog.", "Rain."))
    'Most alike are “A cat.” and “A dog.” (0.50); the mean over all pairs is 0.20.'
    """
    one, other = np.triu_indices(len(texts), 1)
    pairs = likeness[one, other]
    at = int(pairs.argmax())
    names = [cut(texts[place], 60) for place in (one[at], other[at])]
    mean = pairs.mean()
    return _(
        "Most alike are “{one}” and “{other}” ({cosine:.2f}); the mean over all pairs is {mean:.2f}.",
        one=names[0],
        other=names[1],
        cosine=pairs[at],
        mean=mean,
    )


def _nearest(run: Run, options: Vectors) -> None:
    """The sentences most alike to a typed one."""
    control(Vectors, "like", st.text_input, _("Nearest to"), help=_("Any sentence; it is compared with all of them"))
    if not options.like.strip():
        return
    asked = replace(run.asked, texts=(options.like,))
    try:
        made = backend().inspect(asked)
    except Refusal as refusal:
        show(refusal)
        return
    if made.refused[0]:
        say(made.refused[0])
        return
    with st.spinner(_("Comparing with every sentence")):
        places, cosines = nearest(run.vectors, made.vectors[0], NEAREST)
    texts = [run.asked.texts[at] for at in places]
    say(
        _(
            "Of {n:,} sentences, “{nearest}” is nearest to “{asked}”: cosine {cosine:.2f}.",
            n=len(run.asked.texts),
            nearest=cut(texts[0], 80),
            asked=cut(options.like, 80),
            cosine=cosines[0],
        ),
        role="status",
    )
    rows = [
        {"cosine": float(c), "number": int(at) + 1, "sentence": t}
        for c, at, t in zip(cosines, places, texts, strict=True)
    ]
    draw_table(
        rows,
        column_config={
            "cosine": st.column_config.NumberColumn(_("cosine"), format="%.2f", width="small"),
            "number": st.column_config.NumberColumn(_("number"), width="small"),
            "sentence": st.column_config.TextColumn(_("sentence"), width="large"),
        },
    )
    page = csv_table(list(rows[0]), [list(row.values()) for row in rows])
    save(
        _("Save as CSV"), page, "headlight-nearest.csv", _("These sentences, all digits"), provenance=model_provenance()
    )


def _files(run: Run) -> None:
    """All vectors as files, fetched from where they lie."""
    size = run.vectors.nbytes / 1e6
    said = {
        "vectors.npy": ("NumPy", _("(sentence, channel) float32, {size:,.1f} MB, for numpy.load", size=size)),
        "vectors.parquet": ("Parquet", _("The sentences and their vectors, for pandas, Arrow and others")),
        "vectors.csv": ("CSV", _("A row for each sentence, a column for each channel; several times as large")),
    }
    for place, (name, (label, about)) in zip(st.columns(len(said)), said.items(), strict=True):
        place.link_button(label, f"{routes.PREFIX}/{run.token}/{name}", help=about, icon=":material/save:")
