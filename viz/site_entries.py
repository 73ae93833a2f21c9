"""The files of a static site's entries: recorded texts and pictures, with their payload, queries and keys.

The page computes every weight in the browser from the recorded queries and keys, which are stored as float16. If
finished maps are smaller, they are stored instead. The mean over the tokens is subtracted from the keys. This makes the
rounding smaller, and shifts all scores of a row equally, which the softmax ignores.
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
from attention.record import AnyRecord, MapRecord, Record
from attention.trace import Trace
from attention.view import View
from i18n import ENGLISH, gettext_lazy, use_language
from viz.components.explore.content import payload
from viz.components.picture import content as pictures
from viz.components.script import translated_words
from viz.components.standalone.standalone import caption_pairs
from viz.export import TooLong, caption

LONGEST = 512  # tokens of a text; every map is computed in the browser
MOST_ERROR = 0.002  # largest difference of a weight; a layer beyond it is stored as finished maps
HALF = np.dtype("<f2")
SMALL_MAP = 48  # side of a thumbnail in cells; the page computes thumbnails of its own
Arrays = dict[str, tuple[FloatArray, str]]


@dataclass(frozen=True, eq=False)
class RecordedText:
    """A text for the site, with its first selection.

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

    The file is compressed with gzip. It has the payload in the first language, the fields that differ in other
    languages, and queries and keys. If a word has several tokens, the file also has the cells, measures and column
    means of whole words. The error is that of the weights computed in the browser; it comes from the rounding to
    float16. Raise TooLong if the text has more than LONGEST tokens.
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
                "The text has {tokens:,} tokens; the limit of a site is {most}. Shorten it.",
                most=LONGEST,
                tokens=tokens,
            )
        )


def translations(
    make: Callable[[], Mapping[str, Any]], languages: Sequence[str]
) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """Return a JSON object in the first language, and for each other language the fields that differ.

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


def mask_rules(record: AnyRecord) -> dict[str, Any]:
    """Return the rules of a layer's mask and its soft cap; missing ones are left out."""
    if not isinstance(record, Record):
        return {}
    mask = record.mask
    rules = {"causal": mask.causal, "left": mask.left, "right": mask.right, "softcap": record.softcap}
    return {name: value for name, value in rules.items() if value not in (None, False)}


def layer_arrays(record: AnyRecord) -> tuple[Arrays, float]:
    """Return the arrays of a layer with their codings, and the largest error of a weight.

    A layer is stored as finished maps if they are smaller than its queries and keys, as in short texts. The same
    applies if float16 changes a weight by more than MOST_ERROR.
    """
    if not isinstance(record, Record):
        assert isinstance(record, MapRecord)
        return _finished_maps(record.maps)
    key = record.key
    if record.softcap is None and record.sinks is None:
        key = key - key.mean(axis=1, keepdims=True)
    exact = np.stack([record.weights(head) for head in range(record.heads)])
    if exact.size <= record.query.size + key.size:
        return _finished_maps(exact)
    with np.errstate(over="ignore"):  # the difference of an overflow is infinite
        query, key = ((array.astype(HALF)).astype(np.float32) for array in (record.query * record.scale, key))
    error = float("inf")
    if np.isfinite(query).all() and np.isfinite(key).all():
        half = replace(record, query=query, key=key, scale=1.0, lse=None)
        error = float(max(np.abs(half.weights(head) - exact[head]).max() for head in range(record.heads)))
    if not error <= MOST_ERROR:
        return _finished_maps(exact)
    arrays: Arrays = {"query": (query, "float16"), "key": (key, "float16")}
    if record.bias is not None:
        arrays["bias"] = (record.bias, "float32")
    if record.sinks is not None:
        arrays["sinks"] = (record.sinks, "float32")
    if record.mask.allowed is not None:
        arrays["hidden"] = ((~record.mask.allowed).astype(np.float32), "sqrt8")
    return arrays, error


def _finished_maps(maps: FloatArray) -> tuple[Arrays, float]:
    error = float(np.abs(maps.astype(HALF).astype(np.float32) - maps).max(initial=0))
    return {"maps": (maps, "float16")}, error


@dataclass(frozen=True, eq=False)
class RecordedPicture:
    """A picture for the site, with the model's trace of it; the fields are those of RecordedText.

    ``selection`` is the first selection. With None, the first token without a patch is selected, and the head whose
    attention from there forms the clearest shape.
    """

    trace: Trace
    title: str
    label: str = ""
    note: str = ""
    caption: str = ""
    selection: pictures.PictureSelection | None = None

    @property
    def view(self) -> View:
        """Return the view of all tokens of the picture's stack."""
        return View(self.trace, pictures.part_of(self.trace))


def first_selection(trace: Trace) -> pictures.PictureSelection:
    """Return the selection with which the app opens a picture: a token and its head.

    The token is the first without a patch, or else the central patch. The head has the largest edge score.
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
