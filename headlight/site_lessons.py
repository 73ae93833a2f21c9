"""Lessons of a static site: every step with its recorded view, and the right answer for its text.

The answers are computed when the site is built. If the site cannot show a view, a sentence replaces the view. If a view
uses the model that runs in the browser, readers can type their own text there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import numpy as np

from attention.view import DisplayToken
from headlight.command_input import CommandError
from i18n import LazyMessage, _, error_message, gettext_lazy, translate
from inference.errors import UserError
from inference.files.embedded import BERT
from inference.tasks.positions import PositionsRequest
from inference.tasks.predictions import Filled, MaskedWords
from lessons.answer_key import READING, CheckContext, CheckedAnswer, CheckInput, Unanswerable, place
from lessons.library import COURSE, ORDER, come_along
from lessons.markup import tree
from lessons.model_checks import cross_attention
from lessons.reading import Unreadable, lesson_of
from lessons.schema import Lesson, LessonQuestion, LessonStep, LessonView
from lessons.steps import describe_answer, markdown_of, right_answer, withheld_part
from viz.components.matrices.matrices import MatrixSpec, payload

# Names of views in links, with the kind of their recording; the names of pages mean their first view.
RECORDED = {
    "positions": "vectors",
    "explore": "maps",
    "break_head": "maps",
    "find": "maps",
    "translate": "cross",
    "translation": "cross",
    "masked_words": "guesses",
    "fill_in_the_blank": "guesses",
}
# Checks that viz/components/site/live_checks.js computes for a reader's own text
LIVE_CHECKS = (
    "weight",
    "usual",
    "weight_rank",
    "head_linking",
    "head_giving_most",
    "head_at_offset",
    "most_looked_at",
    "most_to_later",
    "preferred",
    "heads_preferring",
)
PAGES = {"translation": "translate", "fill_in_the_blank": "masked_words"}  # the view of a page's name
TOP = 8  # guesses for a blank
ROWS, COLUMNS = 64, 128  # positions and dimensions of the drawn position vectors
CLICKED = ("layer", "head", "focus", "to")

CAPTIONS = {
    "cross": gettext_lazy("Rows: the step that writes a word; columns: source words. A row sums to one."),
    "vectors": gettext_lazy("Rows: positions; columns: dimensions; colours: signs."),
}

Recorder = Callable[[CheckInput], str]  # returns the file of a recorded text; raises UserError
Writer = Callable[[bytes], str]  # stores data in the site and returns its file


@dataclass(frozen=True)
class RecordedStep:
    """A step of a lesson with all results of models: its input, recorded text, predictions and right answer."""

    step: LessonStep
    reading: CheckInput
    kind: str = ""  # of RECORDED, or "" without a recorded view
    file: str = ""
    selection: tuple[tuple[str, int | str], ...] = ()
    filled: Filled | None = None
    matrix: MatrixSpec | None = None  # with a lazy name
    right: CheckedAnswer | None = None
    written: str = ""  # the source and its translation
    reason: str = ""  # the reason why there is no view or no answer
    keys: tuple[DisplayToken, ...] = ()  # cells that an answer may name
    shape: tuple[int, int] = (0, 0)  # layers and heads


def chosen_lessons(names: Sequence[str]) -> dict[str, Lesson]:
    """Return lessons by name: bundled lessons, or lesson files (.toml).

    If ``names`` is empty, return the whole course. Raise CommandError for an unknown name or a file with faults.
    """
    found: dict[str, Lesson] = {}
    for name in names or COURSE:
        if name in ORDER:
            found[name] = come_along()[name]
        elif name.endswith(".toml"):
            found[Path(name).stem] = _read_lesson(Path(name))
        else:
            raise CommandError(f"There is no lesson “{name}”; there are {', '.join(ORDER)}, and files in .toml.")
    return found


def _read_lesson(file: Path) -> Lesson:
    try:
        return lesson_of(file.read_text(encoding="utf-8"))
    except Unreadable as error:
        fault = error.faults[0]
        raise CommandError(f"{file}, line {fault.line}: {fault.reason}") from error
    except (OSError, ValueError) as error:
        raise CommandError(f"{file} cannot be read as text.") from error


def record_step(step: LessonStep, models: Any, record: Recorder) -> RecordedStep:
    """Return a step of a lesson with its recorded view and its right answer.

    ``models`` is the backend, and ``record`` records a text and returns its file. If a result cannot be computed, the
    step has the reason instead.
    """
    reading = input_of(step.view) if step.view is not None else CheckInput(BERT, "")
    asked = CheckContext(models, reading)
    found: dict[str, Any] = {"kind": "" if step.view is None else kind_of(step.view)}
    try:
        found |= _record_view(step, found["kind"], asked, record)
    except (UserError, Unanswerable) as error:
        found |= {"kind": "", "reason": error_message(error)}
    if step.question is not None:
        try:
            found["right"] = right_answer(step.question, asked)
        except (UserError, Unanswerable) as error:
            found["reason"] = error_message(error)
    return RecordedStep(step, reading, **found)


def kind_of(view: LessonView) -> str:
    """Return the kind of recording, such as "maps", by which the site shows a view; "" if it cannot."""
    query, kind = dict(view.query), RECORDED.get(view.page, "")
    shown = {"guesses": "guesses", "vectors": query.get("show", "")}.get(kind, "")
    if "packed" in query or query.get("show", shown) != shown or (kind == "vectors" and shown != "vectors"):
        return ""
    return kind if query.get("text") else ""


def input_of(view: LessonView) -> CheckInput:
    """Return the model, the text and the view options in a view's link, as the input of a check.

    >>> input_of(LessonView("explore", (("text", "A cat."), ("words", "1")))).words
    True
    """
    query = dict(view.query)
    cut = query.get("cut", "")
    return CheckInput(
        model=query.get("model") or BERT,
        text=query.get("text", ""),
        pair=query.get("pair", ""),
        target=query.get("target", ""),
        revision=query.get("revision", ""),
        part="cross" if RECORDED.get(view.page) == "cross" else query.get("part", ""),
        words=query.get("words") == "1",
        special=query.get("special") != "0",
        cut=int(cut) if cut.isascii() and cut.isdigit() else None,
    )


def _record_view(step: LessonStep, kind: str, asked: CheckContext, record: Recorder) -> dict[str, Any]:
    assert step.view is not None or not kind
    if kind == "guesses":
        return {"filled": asked.models.predict(MaskedWords(**asked.reading.request_fields, top=TOP))}
    if kind == "vectors":
        return {"matrix": position_vectors(asked)}
    if step.view is None or not kind:
        return {}
    if kind == "cross":
        trace = asked.trace()
        written = gettext_lazy("“{source}” becomes “{target}”", source=trace.text, target=trace.target_text or "")
        return {"matrix": alignment_of(step.view, asked), "keys": asked.view().keys, "written": written}
    view = asked.view()
    return {
        "file": record(asked.reading),
        "selection": tuple(_selection(step.view, asked)),
        "keys": view.keys,
        "shape": (view.layers, view.heads),
    }


def position_vectors(asked: CheckContext) -> MatrixSpec:
    """Return the model's vectors for the first positions as a matrix; raise Unanswerable if it has none."""
    one = asked.reading
    tables = asked.models.inspect(PositionsRequest(model=one.model, revision=one.revision or None)).tables
    if not tables:
        raise Unanswerable(gettext_lazy("The model adds no vectors of positions."))
    shown = tables[0].vectors[:ROWS, :COLUMNS].astype(np.float64)
    name = gettext_lazy("First {rows} positions, {columns} numbers each", rows=shown.shape[0], columns=shown.shape[1])
    return MatrixSpec(name, shown, limit=float(np.quantile(np.abs(shown), 0.99)) or 1.0)


def alignment_of(view: LessonView, asked: CheckContext) -> MatrixSpec:
    """Return the cross-attention weights of the head that a view's link selects.

    The matrix is (generated word, source word). If the link selects no head, the heads of the layer are averaged. Raise
    Unanswerable if the model has no cross-attention.
    """
    chosen = dict(_selection(view, asked))
    layers = asked.view().layers
    layer, head = min(int(chosen.get("layer", layers - 1)), layers - 1), int(chosen.get("head", -1))
    weights, found = cross_attention(asked, layer, head)
    all_heads = gettext_lazy("Layer {layer} · all heads together", layer=layer)
    one_head = gettext_lazy("Head {layer}-{head}", layer=layer, head=head)
    rows, columns = (tuple(cell.label for cell in cells) for cells in (found.target, found.source))
    return MatrixSpec(all_heads if head < 0 else one_head, weights, rows, columns, palette="sequential", limit=1.0)


def _selection(view: LessonView, asked: CheckContext) -> Iterator[tuple[str, int | str]]:
    """Yield the selection of a link, in tokens; the highlighted words select focus and target without one."""
    query = dict(view.query)
    for name in CLICKED:
        raw = query.get(name, "")
        if raw.isascii() and raw.isdigit() and len(raw) < 7:
            yield {"to": "target"}.get(name, name), int(raw)
    if "focus" not in query:
        cells = asked.view()
        for name, among, word in zip(("focus", "target"), (cells.queries, cells.keys), view.highlight, strict=False):
            try:
                yield name, among[place(among, word)].pieces[0]
            except Unanswerable:
                return  # the author named a word that the text lacks


def lesson_content(
    name: str, lesson: Lesson, steps: Sequence[RecordedStep], write: Writer, live: CheckInput | None = None
) -> dict[str, Any]:
    """Return a lesson as JSON values, in the active language, with the fields that lesson.js reads.

    ``write`` stores data in the site and returns its file. ``live`` has the model and the revision that run in the
    browser, or is None.
    """
    return {
        "name": name,
        "title": markdown_of(lesson.title),
        "group": markdown_of(lesson.group) or _("Lessons"),
        "minutes": _("{n} min", n=lesson.minutes),
        "audience": markdown_of(lesson.audience),
        "about": tree(markdown_of(lesson.about)),
        "steps": [_step_content(step, write, live) for step in steps],
    }


def _step_content(found: RecordedStep, write: Writer, live: CheckInput | None) -> dict[str, Any]:
    step = found.step
    own = live is not None and is_live(found, live)
    page = "" if step.view is None else PAGES.get(step.view.page, step.view.page)
    return {
        "title": markdown_of(step.title),
        "text": tree(markdown_of(step.text)),
        "notes": [translate(note) for note in _notes(found, own)],
        "view": _view_content(found, write),
        "live": _live_content(found) if own else None,
        "held": withheld_part(step, {"cross": "translate", "maps": "explore"}.get(found.kind, page)),
        "question": None if step.question is None else _question_content(step.question, found),
    }


def is_live(found: RecordedStep, live: CheckInput) -> bool:
    """Return True if the browser can compute a step's attention maps for another text.

    The step must use the model and the revision of ``live``, and read and show every token of its text separately.
    """
    read = found.reading
    return found.kind == "maps" and replace(read, part=read.part.removeprefix("encoder")) == replace(
        live, text=read.text, pair=read.pair
    )


def _live_content(found: RecordedStep) -> dict[str, Any]:
    """Return a step's texts, and the check that the browser computes for others, with its message's template."""
    content: dict[str, Any] = {"text": found.reading.text, "pair": found.reading.pair, "check": None}
    call = None if found.step.question is None else found.step.question.check
    if call is None or found.right is None or call.check not in LIVE_CHECKS:
        return content
    given, template = dict(call.given), translate(LazyMessage(found.right.said.template))
    if given.keys().isdisjoint(READING):  # the check is about the text of the view
        content["check"] = {"name": call.check, "given": given, "template": template}
    return content


def _notes(found: RecordedStep, own: bool) -> Iterator[str]:
    """Yield the sentences about a step's view: what it reads, and what only the app can do.

    ``own`` is True if readers can type their own text in the site.
    """
    if found.reason:
        yield found.reason
    if found.kind == "cross":
        yield found.written
    view = found.step.view
    if view is None:
        return
    link = f"/{view.page}" + (f"?{urlencode(dict(view.query))}" if view.query else "")
    if not found.kind:
        yield gettext_lazy("Open this view in the app: {link}", link=link)
    elif view.yours and not own:
        yield gettext_lazy("Try your own text in the app: {link}", link=link)


def _view_content(found: RecordedStep, write: Writer) -> dict[str, Any] | None:
    if found.filled is not None:
        guesses = found.filled.blanks[0].guesses if found.filled.blanks else ()
        return {
            "kind": "guesses",
            "text": found.reading.text,
            "title": _("Likeliest tokens"),
            "guesses": [[guess.piece, guess.probability] for guess in guesses],
            "caption": _("Bars: probability of each token, of {all:,}.", all=found.filled.vocabulary),
        }
    if found.matrix is not None:
        spec = replace(found.matrix, name=translate(found.matrix.name))
        content, caption = payload([spec], False, None), CAPTIONS[found.kind]
        return {"kind": "matrix", "file": write(content), "caption": translate(caption)}
    if not found.kind:
        return None
    return {"kind": "maps", "file": found.file, "words": found.reading.words, "selection": dict(found.selection)}


def _question_content(question: LessonQuestion, found: RecordedStep) -> dict[str, Any]:
    right = found.right
    return {
        "kind": question.kind,
        "ask": tree(markdown_of(question.ask)),
        "choices": [{"key": key, "text": markdown_of(text)} for key, text in question.choices],
        "layers": found.shape[0],
        "heads": found.shape[1],
        "keys": [cell.label for cell in found.keys] if question.kind == "token" else [],
        "spans": [list(cell.pieces) for cell in found.keys] if question.kind == "token" else [],
        "checks": question.check is not None or question.right is not None,
        "right": None
        if right is None
        else {
            "answers": [_plain(answer) for answer in (right.answer, *right.others)],
            "tolerance": right.tolerance,
            "is_share": right.is_share,
            "is_percentage": right.is_percentage,
        },
        "said": "" if right is None else _answer_sentence(question, right, found.keys),
        "hints": [tree(markdown_of(hint)) for hint in question.hints],
        "reveal": tree(markdown_of(question.reveal)),
    }


def _plain(answer: Any) -> Any:
    """Return an answer as a JSON value."""
    return list(answer) if isinstance(answer, tuple) else answer


def _answer_sentence(question: LessonQuestion, right: CheckedAnswer, keys: tuple[DisplayToken, ...]) -> str:
    said: LazyMessage | str = describe_answer(question, right, keys)
    return translate(said)
