"""A picture as a model's own processor makes it ready, and which of its pixels went into which patch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from attention.grid import Grid
from attention.mask import FloatArray
from attention.picture import Picture
from attention.tokens import TokenRow
from i18n import gettext_lazy
from inference.errors import UserError, as_user_error
from inference.pictures.image_processors import LONGEST_SIDE
from inference.pictures.vision_families import FAMILIES, size_options, vision
from inference.text.encoding import Encoding

MOST_RESIZED = 2**24  # pixels between resizing and cropping: a hair of a picture would become a mile

Box = tuple[float, float, float, float]
Size = tuple[int, int]  # rows of pixels, columns of pixels


@dataclass(frozen=True, eq=False)
class ProcessedPicture:
    """A picture as a model is given it: numbers (channel, row, column) float32, and its tokens.

    ``options`` go to the model beside them.
    """

    pixels: FloatArray
    reading: Encoding
    options: dict[str, bool]


class ImageProcessor:
    """A model's processor made safe: sizes are known, and bounded, before a picture is touched.

    ``limit`` is the most tokens that are read.
    """

    def __init__(self, processor: Any, name: str, config: Any, limit: int) -> None:
        self.processor = processor
        self.name = name
        self.limit = limit
        self.config = vision(config)
        self.patch = int(self.config.patch_size)
        self.leading = tuple(FAMILIES[config.model_type].token_names(self.config))
        self._asked = size_options(config)
        own = self.config.image_size
        self.own: Size = (int(own[0]), int(own[1])) if isinstance(own, list | tuple) else (int(own), int(own))

    def read(self, picture: Picture, side: int | None = None) -> ProcessedPicture:
        """The picture as the processor makes it; with ``side``, all of it, its longer side about so many pixels.

        Raises Refusal for a size that the model does not read.
        """
        resized, cropped = self._sizes(picture) if side is None else self._whole(picture, side)
        grid = self._grid(picture, resized, cropped)
        with as_user_error(
            gettext_lazy("The picture's processor of {name} failed. Pick another picture.", name=self.name)
        ):
            pixels = self._process(picture, resized, cropped)
        if pixels.shape != (3, *cropped):
            raise UserError(
                gettext_lazy(
                    "The processor of {name} makes pictures ready in a way of its own, so that nobody knows which"
                    " patch is where. Pick another model.",
                    name=self.name,
                ),
                way_out="embedded",
            )
        options = self._asked if cropped != self.own else {}
        return ProcessedPicture(
            pixels, Encoding(_row(self.leading, grid), (0,) * (len(self.leading) + len(grid))), options
        )

    def _process(self, picture: Picture, resized: Size, cropped: Size) -> FloatArray:
        """What the processor makes of a picture, told the sizes that were worked out from its settings."""
        made = self.processor(
            images=picture.pixels,
            input_data_format="channels_last",
            size={"height": resized[0], "width": resized[1]},
            crop_size={"height": cropped[0], "width": cropped[1]},
            do_resize=resized != (picture.height, picture.width),
            do_center_crop=cropped != resized,
            return_tensors="np",
        )["pixel_values"]
        found: FloatArray = np.ascontiguousarray(made[0], np.float32)
        found.setflags(write=False)
        return found

    def _sizes(self, picture: Picture) -> tuple[Size, Size]:
        """A picture's size once resized and once cropped, by the processor's settings."""
        settings = self.processor
        resized = cropped = (picture.height, picture.width)
        if settings.do_resize:
            resized = self._target_size(picture, _size_settings(settings.size))
        if getattr(settings, "do_center_crop", False):
            crop = _size_settings(settings.crop_size)
            cropped = (crop["height"], crop["width"])
        else:
            cropped = resized
        return resized, cropped

    def _target_size(self, picture: Picture, size: dict[str, int]) -> Size:
        if set(size) == {"height", "width"}:
            return size["height"], size["width"]
        if set(size) == {"shortest_edge"}:
            short, long = sorted((picture.height, picture.width))
            other = int(size["shortest_edge"] * long / short)
            return (other, size["shortest_edge"]) if picture.height > picture.width else (size["shortest_edge"], other)
        raise UserError(
            gettext_lazy(
                "The processor of {name} resizes pictures by a rule that Headlight does not know ({rule})."
                " Pick another model.",
                name=self.name,
                rule=", ".join(sorted(size))[:80],
            ),
            way_out="embedded",
        )

    def _whole(self, picture: Picture, side: int) -> tuple[Size, Size]:
        """The whole picture in whole patches, its longer side about ``side`` pixels."""
        scale = side / max(picture.height, picture.width)
        rows, columns = (max(1, round(length * scale / self.patch)) for length in (picture.height, picture.width))
        size = (rows * self.patch, columns * self.patch)
        return size, size

    def _grid(self, picture: Picture, resized: Size, cropped: Size) -> Grid:
        """Where the patches are; raises Refusal where there are too many or none."""
        rows, columns = (length // self.patch for length in cropped)
        tokens = len(self.leading) + rows * columns
        if resized[0] * resized[1] > MOST_RESIZED:
            raise UserError(
                gettext_lazy(
                    "This picture is so narrow that {name} would have it resized to {columns:,} × {rows:,} pixels. Pick"
                    " one of another shape.",
                    name=self.name,
                    columns=resized[1],
                    rows=resized[0],
                )
            )
        if rows < 1 or columns < 1 or max(cropped) > LONGEST_SIDE:
            raise UserError(
                gettext_lazy(
                    "{name} would be given {columns:,} × {rows:,} pixels; it is given whole patches of {patch} pixels,"
                    " and here at most {most:,} pixels on a side. Pick another size.",
                    name=self.name,
                    columns=cropped[1],
                    rows=cropped[0],
                    patch=self.patch,
                    most=LONGEST_SIDE,
                )
            )
        if tokens > self.limit:
            raise UserError(
                gettext_lazy(
                    "The picture has {tokens:,} tokens; {name} reads at most {limit:,} here. Have it read smaller.",
                    tokens=tokens,
                    name=self.name,
                    limit=self.limit,
                ),
                details={"tokens": tokens, "limit": self.limit},
            )
        return Grid(rows, columns, len(self.leading), self._box(picture, resized, cropped, (rows, columns)))

    def _box(self, picture: Picture, resized: Size, cropped: Size, patches: Size) -> Box:
        """Which part of the picture the patches were made from. What is left over at the right and below, narrower
        than a patch, no patch has; a crop that is larger than the picture has margins, which lie outside of it."""
        top, left = (_margin(whole, part) for whole, part in zip(resized, cropped, strict=True))
        high, wide = picture.height / resized[0], picture.width / resized[1]
        bottom, right = top + patches[0] * self.patch, left + patches[1] * self.patch
        return left * wide, top * high, right * wide, bottom * high


def _margin(whole: int, part: int) -> int:
    """Where a centred crop begins, as transformers counts it; before the picture where the crop is larger.

    >>> _margin(10, 5), _margin(5, 10), _margin(10, 10)
    (2, -3, 0)
    """
    return (whole - part) // 2


def _row(leading: tuple[str, ...], grid: Grid) -> TokenRow:
    """The picture's tokens: each patch named by its row and column, counted from 1, and a word of its own."""
    places = [f"({row + 1}, {column + 1})" for row in range(grid.rows) for column in range(grid.columns)]
    tokens = len(leading) + len(places)
    return TokenRow(
        pieces=(*leading, *places),
        ids=(0,) * tokens,
        words=(*(None,) * len(leading), *range(len(places))),
        segments=(0,) * tokens,
        spans=(None,) * tokens,
        grid=grid,
    )


def _size_settings(size: Any) -> dict[str, int]:
    """What a processor's size states, nothing left out being None."""
    return {name: int(value) for name, value in dict(size).items() if value is not None}
