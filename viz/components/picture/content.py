"""What the view of a picture draws, for the app and for a page of its own. Knows no Streamlit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from attention.grid import Grid
from attention.picture import Picture
from attention.trace import Trace
from viz.components.script import stylesheet, words_field

FACINGS = ("out", "in")
KINDS = ("head", "norms", "rollout")


@dataclass(frozen=True)
class PictureSelection:
    """What is chosen: a head, a token, whether it looks or is looked at, and what shows: the head's weights, these
    times the length of each value, or the rollout of all layers."""

    layer: int
    head: int
    token: int
    facing: str = "out"
    by: str = "head"


def part_of(trace: Trace) -> str:
    """The part whose tokens have the picture's patches among them."""
    return "encoder" if "encoder" in trace.parts else trace.part


def grid_and_picture(trace: Trace) -> tuple[Grid, Picture]:
    """A trace's grid and picture; raises ValueError where it is of a text alone."""
    if trace.source.grid is None or trace.picture is None:
        raise ValueError("This trace is of a text, and has no picture.")
    return trace.source.grid, trace.picture


def tokens_without_patch(trace: Trace) -> list[int]:
    """Tokens that have no patch, such as CLS and registers, in their order."""
    grid, _ = grid_and_picture(trace)
    return [at for at in range(len(trace.source)) if grid.place(at) is None]


def payload(  # noqa: PLR0913  (the fields of what is drawn)
    trace: Trace, look: PictureSelection, title: str, about: Sequence[tuple[str, str]], base: str = "", query: str = "",
    index_base: int = 0, inside: Mapping[str, Any] | None = None,
) -> dict[str, Any]:  # fmt: skip
    """What picture.js draws; its typedef PictureData has the same fields.

    ``base`` and ``query`` make up every address that is fetched; ``inside`` has the numbers where there is no server.
    """
    grid, picture = grid_and_picture(trace)
    left, top, right, bottom = grid.box
    records = trace.records(part_of(trace))
    return {
        "base": base,
        "view": query,
        "title": title,
        "about": [list(pair) for pair in about],
        "picture": {"width": picture.width, "height": picture.height},
        "grid": {
            "rows": grid.rows,
            "columns": grid.columns,
            "start": grid.start,
            "box": [left / picture.width, top / picture.height, right / picture.width, bottom / picture.height],
        },
        "others": [{"at": at, "name": trace.tokens[at]} for at in tokens_without_patch(trace)],
        "tokens": list(trace.tokens),
        "layers": len(records),
        "heads": records[0].heads,
        "values": trace.has_qkv(part_of(trace)),
        "indexBase": index_base,
        "selection": asdict(look),
        "inside": inside,
        **words_field("picture/picture"),
    }


def style() -> str:
    """The view's style sheet."""
    return stylesheet("shared/look", "picture/picture")
