"""The file of a recorded picture for a static site: its payload, queries, keys and the norms of its values.

The page computes every map in the browser, as for a text. The rollout is stored as a finished map.
"""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from attention.codec import frame
from attention.mask import FloatArray
from attention.record import AnyRecord, Record
from attention.trace import Trace
from attention.view import View
from i18n import ENGLISH
from viz.components.picture.content import (
    PictureSelection,
    edge_head,
    grid_and_picture,
    part_of,
    payload,
    photo,
    rollout_map,
    tokens_without_patch,
)
from viz.components.script import translated_words
from viz.components.standalone.standalone import caption_pairs
from viz.export import caption
from viz.site_text import Arrays, check_length, layer_arrays, mask_rules, translations


@dataclass(frozen=True, eq=False)
class RecordedPicture:
    """A picture for the site, with the model's trace of it; the fields are those of RecordedText.

    ``selection`` is the first selection; None selects the first token without a patch, and the head with the largest
    edge score.
    """

    trace: Trace
    title: str
    label: str = ""
    note: str = ""
    caption: str = ""
    selection: PictureSelection | None = None

    @property
    def view(self) -> View:
        """Return the view of all tokens of the picture's stack."""
        return View(self.trace, part_of(self.trace))


def first_selection(trace: Trace) -> PictureSelection:
    """Return the selection that the app opens: a token without a patch, or the central patch, and its edge head."""
    grid, _picture = grid_and_picture(trace)
    alone = tokens_without_patch(trace)
    token = alone[0] if alone else grid.token(grid.rows // 2, grid.columns // 2)
    return PictureSelection(*edge_head(trace, token), token)


def picture_file(picture: RecordedPicture, address: str, languages: Sequence[str] = (ENGLISH,)) -> tuple[bytes, float]:
    """Return the file of a picture for viz/components/site/pictures.js, and the largest difference of a weight.

    ``address`` is the file of the photo (``photo_file``). Raise TooLong if the picture has more than LONGEST tokens.
    """
    trace = picture.trace
    check_length(len(trace.source))
    records = trace.records(part_of(trace))
    arrays: Arrays = {"rollout": (rollout_map(records), "sqrt8")}
    largest = 0.0
    for layer, record in enumerate(records):
        found, error = layer_arrays(record)
        arrays.update((f"{name}.{layer}", array) for name, array in {**found, **_norms(record)}.items())
        largest = max(largest, error)
    selection = picture.selection or first_selection(trace)

    def content() -> dict[str, object]:
        about = caption_pairs(caption(picture.view))
        words = translated_words("picture/picture")
        return {**payload(trace, selection, picture.title, about), "words": words}

    first, said = translations(content, languages)
    header = {"payload": first, "said": said, "layers": [mask_rules(one) for one in records], "photo": address}
    return gzip.compress(frame(header, arrays), mtime=0), largest


def photo_file(picture: RecordedPicture) -> bytes:
    """Return the photo as a JPEG or PNG file."""
    return photo(grid_and_picture(picture.trace)[1])


def _norms(record: AnyRecord) -> Arrays:
    """Return the norm of each value vector, (key-value head, key); nothing without values."""
    if not isinstance(record, Record):
        return {}
    norms: FloatArray = np.linalg.norm(record.value, axis=-1).astype(np.float32)
    return {"norms": (norms, "float32")}
