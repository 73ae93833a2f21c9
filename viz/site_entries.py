"""The files of a static site's entries: recorded texts and pictures, with their payload, queries and keys.

The page computes every weight in the browser from recorded queries and keys, or reads finished maps
(viz/site_layers.py).
"""

from __future__ import annotations

import gzip
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from attention.codec import frame
from attention.mask import FloatArray
from attention.measures import HeadSummary, summarize_heads
from attention.record import AnyRecord, Record
from attention.trace import Trace
from attention.view import View
from i18n import ENGLISH, gettext_lazy, use_language
from viz.components.explore.content import payload
from viz.components.picture import content as pictures
from viz.components.script import translated_words
from viz.components.standalone.standalone import caption_pairs
from viz.export import TooLong, caption
from viz.site_layers import Arrays, layer_arrays, mask_rules

LONGEST = 512  # tokens of a text; every map is computed in the browser
SMALL_MAP = 48  # side of a thumbnail in cells; the page computes thumbnails of its own


@dataclass(frozen=True, eq=False)
class RecordedText:
    """A text that a static site shows, with the attention of a model and the first selection.

    ``view`` shows all tokens of a trace. ``title`` is the name of the text in the list. Texts with equal titles are
    variants of each other, distinguished by ``label``. ``note`` is a sentence above the view, ``caption`` the author's
    text below it. ``priors`` is the result of ``viz.components.explore.content.places``.
    """

    view: View
    summary: HeadSummary
    selection: Mapping[str, Any]
    title: str
    label: str = ""
    note: str = ""
    caption: str = ""
    priors: Mapping[str, Any] | None = None


def text_file(text: RecordedText, languages: Sequence[str] = (ENGLISH,)) -> tuple[bytes, float]:
    """Return the file of a text for viz/components/site/recorded.js, and the largest error of a weight.

    The gzip file has the payload in the first language, the fields that differ in other languages, and queries and
    keys. If a word has several tokens, the file also has the cells, measures and column means of whole words. Queries
    and keys are rounded, so the weights that the browser computes from them have a small error. Raise TooLong if the
    text has more than LONGEST tokens.
    """
    view = text.view
    check_length(max(len(view.queries), len(view.keys)))
    records = view.trace.records(view.part)
    arrays = _column_means(text.summary)
    largest = 0.0
    for layer in view.attending:
        found, error = layer_arrays(records[layer])
        arrays.update((f"{name}.{layer}", array) for name, array in found.items())
        largest = max(largest, error)
    first, said = translations(lambda: payload(view, text.summary, text.selection, "", ""), languages)
    header = {
        "payload": first,
        "said": said,
        "layers": [mask_rules(record) for record in records],
        "summed": text.summary.crowd.rows.tolist() if text.summary.sampled else None,
        "sampled": text.summary.sampled,
        "habits": text.priors,
        "words": None,
    }
    words = replace(view, words=True)
    if (len(words.queries), len(words.keys)) != (len(view.queries), len(view.keys)):
        summary = summarize_heads(words, SMALL_MAP)
        merged, said = translations(lambda: payload(words, summary, {}, "", ""), languages)
        changes = {name: value for name, value in merged.items() if first[name] != value and name != "selection"}
        header["words"] = {"payload": changes, "said": said}
        arrays |= {f"words.{name}": array for name, array in _column_means(summary).items()}
    return gzip.compress(frame(header, arrays), mtime=0), largest


def check_length(tokens: int) -> None:
    """Raise TooLong if a text has more than LONGEST tokens."""
    if tokens > LONGEST:
        raise TooLong(
            gettext_lazy(
                "The text has {tokens} tokens; the limit here is {most}. Shorten it.",
                most=LONGEST,
                tokens=tokens,
            )
        )


def translations(
    make: Callable[[], Mapping[str, Any]], languages: Sequence[str]
) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """Return a JSON object in the first language, and for each other language the fields that differ.

    ``make`` returns the object in the active language.

    >>> from i18n import active_language
    >>> translations(lambda: {"name": "BERT", "language": active_language()}, ["en", "zh"])
    ({'name': 'BERT', 'language': 'en'}, {'zh': {'language': 'zh'}})
    """
    made = []
    for code in languages:
        with use_language(code):
            made.append(dict(make()))
    first = made[0]
    others = zip(languages[1:], made[1:], strict=True)
    return first, {
        code: {name: value for name, value in one.items() if first.get(name) != value} for code, one in others
    }


def _column_means(summary: HeadSummary) -> Arrays:
    counts = summary.crowd.counts.astype(np.float32)
    return {"means": (summary.crowd.means(), "float16"), "counts": (counts, "float16")}


@dataclass(frozen=True, eq=False)
class RecordedPicture:
    """A picture that a static site shows, with the attention of a model; the fields are those of RecordedText.

    ``selection`` is the selection at first. If it is None, ``first_selection`` decides.
    """

    trace: Trace
    title: str
    label: str = ""
    note: str = ""
    caption: str = ""
    selection: pictures.PictureSelection | None = None

    @property
    def view(self) -> View:
        """Return the view of all tokens in the stack of the model that reads the picture."""
        return View(self.trace, pictures.part_of(self.trace))


def first_selection(trace: Trace) -> pictures.PictureSelection:
    """Return the selection with which the app opens a picture: a token and a head.

    The token is the first token without a patch, such as CLS, or else the central patch. In the head, the attention
    from this token forms the clearest shape (the largest edge score).
    """
    grid, _picture = pictures.grid_and_picture(trace)
    alone = pictures.tokens_without_patch(trace)
    token = alone[0] if alone else grid.token(grid.rows // 2, grid.columns // 2)
    return pictures.PictureSelection(*pictures.edge_head(trace, token), token)


def picture_file(picture: RecordedPicture, address: str, languages: Sequence[str] = (ENGLISH,)) -> tuple[bytes, float]:
    """Return the file of a picture for viz/components/site/pictures.js, and the largest error of a weight.

    ``address`` is the file of the photo (``photo_file``). Raise TooLong if the picture has more than LONGEST tokens.
    """
    trace = picture.trace
    check_length(len(trace.source))
    records = trace.records(pictures.part_of(trace))
    arrays: Arrays = {"rollout": (pictures.rollout_map(records), "sqrt8")}
    largest = 0.0
    for layer, record in enumerate(records):
        found, error = layer_arrays(record)
        arrays.update((f"{name}.{layer}", array) for name, array in {**found, **_norms(record)}.items())
        largest = max(largest, error)
    selection = picture.selection or first_selection(trace)

    def content() -> dict[str, object]:
        about = caption_pairs(caption(picture.view))
        words = translated_words("picture/picture")
        return {**pictures.payload(trace, selection, picture.title, about), "words": words}

    first, said = translations(content, languages)
    header = {"payload": first, "said": said, "layers": [mask_rules(one) for one in records], "photo": address}
    return gzip.compress(frame(header, arrays), mtime=0), largest


def photo_file(picture: RecordedPicture) -> bytes:
    """Return the photo as a JPEG or PNG file."""
    return pictures.photo(pictures.grid_and_picture(picture.trace)[1])


def _norms(record: AnyRecord) -> Arrays:
    """Return the norm of each value vector, (key-value head, key); nothing without values."""
    if not isinstance(record, Record):
        return {}
    norms: FloatArray = np.linalg.norm(record.value, axis=-1).astype(np.float32)
    return {"norms": (norms, "float32")}
