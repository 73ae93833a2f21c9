"""What a text's attention looks like as a file: the page, one head's picture, one head's numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from attention.head_summary import summarize_heads
from attention.view import View
from headlight import page
from headlight.shown import SMALL_MAP
from viz.export import weights_csv, weights_json
from viz.static.head import picture
from viz.static.png import png
from viz.static.svg import svg

Selection = Mapping[str, Any]  # what is chosen, by the names of the app's addresses


def _page(view: View, chosen: Selection) -> bytes:
    return page.standalone_page(view, summarize_heads(view, SMALL_MAP), chosen).encode()


def _svg(view: View, chosen: Selection) -> bytes:
    return svg(picture(view, chosen["layer"], chosen["head"], chosen["focus"]))


def _png(view: View, chosen: Selection) -> bytes:
    return png(picture(view, chosen["layer"], chosen["head"], chosen["focus"]))


def meta_file(file: Path) -> Path:
    """Return the path of the provenance of a CSV file, next to it."""
    stem = file.stem if file.suffix.lower() == ".csv" else file.name
    return file.with_name(f"{stem}.meta.json")


def _csv(view: View, chosen: Selection) -> bytes:
    return weights_csv(view, chosen["layer"], chosen["head"])


def _json(view: View, chosen: Selection) -> bytes:
    return weights_json(view, chosen["layer"], chosen["head"])


# Each raises viz.export.TooLong or viz.static.png.PaintError in one sentence.
FORMATS: dict[str, Callable[[View, Selection], bytes]] = {
    "html": _page,
    "svg": _svg,
    "png": _png,
    "csv": _csv,
    "json": _json,
}
