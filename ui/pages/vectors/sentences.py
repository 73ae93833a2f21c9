"""The vectors of many sentences: their similarities, nearest neighbours, projection and files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from hashlib import sha256

import numpy as np
import streamlit as st

from attention.mask import FloatArray
from attention.vectors import cosine, nearest_neighbors
from i18n import _
from inference import EMBEDDED, UserError
from inference.cancellation import CancelToken
from inference.tasks.hidden_states import Pooled
from probing.sentence_files import MOST_SENTENCES, lines
from ui.input.controls import bound_widget
from ui.input.sentence_upload import from_file
from ui.pages.vectors import corpus
from ui.pages.vectors.corpus import VectorRun, run_provenance, stored_run
from ui.pages.vectors.options import VectorsOptions, pick_mix, pick_pooling
from ui.pages.vectors.projection import picture
from ui.run.notices import show_error, show_notice
from ui.run.redrawing import redraw_every
from ui.run.services import get_backend, page_visitor
from ui.show.chart import draw_chart, theme
from ui.show.tables import csv_table, download_button, draw_table
from ui.state.view_state import ViewState
from viz.figures.theme import truncate
from viz.figures.vectors import cosine_map
from viz.paper.notebook import Computation

RUN = "vectors_run"
MAPPED = 40  # largest number of sentences in the map of all pairs
TYPED = 200  # largest number of sentences for which the run starts by itself
NEAREST = 10
PATIENCE = 0.8  # seconds to wait before the progress is shown


def sentences(choice: ViewState, options: VectorsOptions, levels: int) -> None:
    """Draw the view of sentence vectors; ``levels`` is the number of layers, plus one for the embeddings."""
    left, right = st.columns(2)
    pick_mix(left, options, levels)
    pick_pooling(right)
    if fit := _fit(choice, options):
        show_notice(fit, role="status")
    bound_widget(
        VectorsOptions,
        "bring",
        st.segmented_control,
        required=True,
        help=_("Up to {most:,}, one per line", most=MOST_SENTENCES),
    )
    try:
        texts = _typed_sentences(options) if options.bring == "typed" else from_file("vectors")
    except UserError as refusal:
        show_notice(refusal.message)
        return
    if not texts:
        return
    level = min(options.level, levels - 1) if options.mix == "level" else 0
    run = _run(Pooled(choice.model, choice.revision or None, texts, options.mix, level, options.pooling))
    if run is not None:
        _draw_finished(run, options)


def _fit(choice: ViewState, options: VectorsOptions) -> str:
    """Return a sentence on a model that was not trained for this comparison of sentences, or ""."""
    trained = options.mix == "last" and options.pooling == "mean"
    if choice.model == EMBEDDED:
        if trained:
            return ""
        return _("all-MiniLM-L6-v2 was trained with the mean of the last layer.")
    return _("Unless the model was trained to compare sentences, neighbours may share only length or style.")


def _typed_sentences(options: VectorsOptions) -> tuple[str, ...]:
    bound_widget(VectorsOptions, "lines", st.text_area, height=220)
    return lines(options.lines)


def _run(asked: Pooled) -> VectorRun | None:
    """Return the run for a request if it is done; else show its progress and return None.

    A run of up to TYPED sentences starts by itself, a longer run at the push of a button.
    """
    run = stored_run(st.session_state, RUN)
    if run is None or run.asked != asked:
        if run is not None:
            run.stop()
        run = st.session_state[RUN] = VectorRun(asked, get_backend().inspect, _ends())
    if run.state == "new" and len(asked.texts) <= TYPED:
        run.start()
    run.wait(PATIENCE)
    if run.state == "done":
        return run
    redraw_every(0.5, _watch)
    return None


def _ends() -> Callable[[], CancelToken]:
    """Return a factory of cancel tokens, which end a part on a timeout or when the visitor has left."""
    visitor, seconds = page_visitor(), get_backend().settings.answer_seconds
    return lambda: (
        CancelToken(seconds=seconds) if visitor is None else CancelToken(visitor.who, seconds, gone=visitor.gone)
    )


def _watch() -> None:
    """Draw the progress of the run, with buttons to stop and resume; rerun the page when it is done."""
    run = stored_run(st.session_state, RUN)
    if run is None or run.state == "done":
        st.rerun()
    run.mark_viewed()
    total = len(run.asked.texts)
    if run.state == "new":
        st.button(
            _("Compute {total:,} vectors", total=total),
            type="primary",
            on_click=run.start,  # type: ignore[arg-type]  # Streamlit ignores the return value
        )
        return
    st.progress(
        run.done / total,
        text=_("{done:,} of {total:,} sentences{left}", done=run.done, total=total, left=_describe_time_left(run)),
    )
    if run.error is not None:
        show_error(run.error)
    if run.state == "running":
        st.button(_("Stop"), on_click=run.stop, help=_("Completed work is kept"))
    else:
        st.button(
            _("Go on"),
            on_click=run.start,  # type: ignore[arg-type]  # Streamlit ignores the return value
        )


def _describe_time_left(run: VectorRun) -> str:
    """Return the time left in words, or "" for a run that is not running.

    >>> from types import SimpleNamespace
    >>> (
    ...     _describe_time_left(SimpleNamespace(state="running", seconds_left=200.0)),
    ...     _describe_time_left(SimpleNamespace(state="stopped")),
    ... )
    (', about 200 s left', '')
    """
    if run.state != "running" or run.seconds_left is None:
        return ""
    return _(", about {seconds:,.0f} s left", seconds=run.seconds_left)


def _draw_finished(run: VectorRun, options: VectorsOptions) -> None:
    texts, vectors = run.asked.texts, run.vectors
    for note in _notes(run):
        show_notice(note, role="status")
    _draw_nearest(run, options)
    about = _provenance(run)
    computation = Computation("vectors = backend.inspect(request).vectors", request=run.asked)
    if 1 < len(texts) <= MAPPED:
        likeness = cosine(np.asarray(vectors), np.asarray(vectors))
        show_notice(summary(likeness, texts), role="status")
        figure = cosine_map(likeness, texts, theme(), _("Cosine similarity"))
        compared = computation.then("numbers = cosine(vectors, vectors)", cosine=cosine)
        draw_chart(figure, "vectors_sentences", about=lambda: about, computation=compared)
    code = computation if len(texts) <= TYPED else None
    picture(vectors, texts, options, _("Sentences"), about=about, computation=code)
    _files(run)


def _provenance(run: VectorRun) -> dict[str, str]:
    """Return the provenance of the vectors of a run: the model, the pooling, and the sentences by their SHA-256."""
    digest = sha256("\n".join(run.asked.texts).encode()).hexdigest()
    return run_provenance(run) | {"data": f"{len(run.asked.texts):,} sentences (SHA-256 {digest})"}


def _notes(run: VectorRun) -> list[str]:
    """Return sentences on truncated and refused sentences."""
    notes, said = run.notes, []
    if notes.cut:
        said.append(_("{cut:,} sentences were cut to the model's length.", cut=notes.cut))
    if notes.refused:
        said.append(
            _(
                "{refused:,} sentences could not be read; their vectors are zero. {first}",
                refused=notes.refused,
                first=notes.first,
            )
        )
    return said


def summary(likeness: FloatArray, texts: Sequence[str]) -> str:
    """Return a sentence with the most similar pair of texts and the mean similarity of all pairs.

    >>> summary(np.array([[1, 0.5, 0], [0.5, 1, 0.1], [0, 0.1, 1]]), ("A cat.", "A dog.", "Rain."))
    'Most similar: “A cat.” and “A dog.” (0.50); mean over all pairs: 0.20.'
    """
    one, other = np.triu_indices(len(texts), 1)
    pairs = likeness[one, other]
    at = int(pairs.argmax())
    names = [truncate(texts[place], 60) for place in (one[at], other[at])]
    mean = pairs.mean()
    return _(
        "Most similar: “{one}” and “{other}” ({cosine:.2f}); mean over all pairs: {mean:.2f}.",
        one=names[0],
        other=names[1],
        cosine=pairs[at],
        mean=mean,
    )


def _draw_nearest(run: VectorRun, options: VectorsOptions) -> None:
    """Draw the nearest neighbours of a typed sentence by cosine similarity."""
    bound_widget(VectorsOptions, "like", st.text_input)
    if not options.like.strip():
        return
    asked = replace(run.asked, texts=(options.like,))
    try:
        made = get_backend().inspect(asked)
    except UserError as refusal:
        show_error(refusal)
        return
    if made.refused[0]:
        show_notice(made.refused[0])
        return
    with st.spinner(_("Computing the vectors")):
        places, cosines = nearest_neighbors(run.vectors, made.vectors[0], NEAREST)
    texts = [run.asked.texts[at] for at in places]
    show_notice(
        _(
            "Nearest of {n:,} sentences to “{asked}”: “{nearest}”, cosine {cosine:.2f}.",
            n=len(run.asked.texts),
            nearest=truncate(texts[0], 80),
            asked=truncate(options.like, 80),
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
            "cosine": st.column_config.NumberColumn(_("Cosine"), format="%.2f", width="small"),
            "number": st.column_config.NumberColumn(_("Number"), width="small"),
            "sentence": st.column_config.TextColumn(_("Sentence"), width="large"),
        },
    )
    about = _provenance(run) | {"text": options.like}
    page = csv_table(list(rows[0]), [list(row.values()) for row in rows])
    download_button(_("Save as CSV"), page, "headlight-nearest.csv", _("All digits"), provenance=about)


def _files(run: VectorRun) -> None:
    """Draw links to the files with all vectors."""
    size = run.vectors.nbytes / 1e6
    said = {
        "vectors.npy": ("NumPy", _("Shape (sentence, channel), float32, {size:,.1f} MB", size=size)),
        "vectors.parquet": ("Parquet", _("One row per vector")),
        "vectors.csv": ("CSV (zip)", _("One row per vector")),
    }
    for place, (name, (label, about)) in zip(st.columns(len(said)), said.items(), strict=True):
        place.link_button(label, f"{corpus.PREFIX}/{run.token}/{name}", help=about, icon=":material/save:")
