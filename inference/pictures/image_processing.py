"""Preparation of a picture by the model's own processor, and the pixels of each patch."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from attention.mask import FloatArray
from attention.pictures import Grid, Picture
from attention.tokens import TokenRow
from i18n import gettext_lazy
from inference.errors import UserError, as_user_error
from inference.text.encoding import Encoding

TEXT, PICTURES, BOTH = "text", "pictures", "both"  # inputs of a model

# Files with the settings of the image processor; transformers 5 writes the second.
PROCESSORS = ("preprocessor_config.json", "processor_config.json")

ALWAYS, ASKED = "always", "asked"  # positions are interpolated to other sizes always, or only on request


@dataclass(frozen=True)
class Family:
    """The token layout of a family of vision models: leading tokens, then the patches row by row.

    ``leading`` names the leading tokens, such as CLS. ``sizes`` is ALWAYS if the model reads pictures of other sizes
    than in training, and ASKED if the forward pass needs an option for them. ``reads`` is PICTURES, or BOTH for models
    with separate parts for pictures and texts.
    """

    leading: tuple[str, ...]
    sizes: str
    reads: str = PICTURES
    registers: bool = False  # register tokens follow the leading tokens; the configuration has their number

    def token_names(self, config: Any) -> Iterator[str]:
        """Yield the names of the tokens before the patches, such as CLS."""
        yield from self.leading
        if self.registers:
            yield from (f"[register {at + 1}]" for at in range(int(config.num_register_tokens)))


CLS = ("[CLS]",)
FAMILIES = {
    "vit": Family(CLS, ASKED),
    "vit_msn": Family(CLS, ASKED),
    "deit": Family((*CLS, "[distillation]"), ASKED),
    "beit": Family(CLS, ASKED),
    "dinov2": Family(CLS, ALWAYS),
    "dinov2_with_registers": Family(CLS, ALWAYS, registers=True),
    "dinov3_vit": Family(CLS, ALWAYS, registers=True),
    "ijepa": Family((), ASKED),
    "clip_vision_model": Family(CLS, ASKED),
    "siglip_vision_model": Family((), ASKED),
    "clip": Family(CLS, ASKED, BOTH),
    "siglip": Family((), ASKED, BOTH),
}
# These types attend inside windows of a picture, so that there is no map of the whole picture.
WINDOWS = ("swin", "swinv2", "swin2sr", "donut-swin", "maskformer-swin", "hiera", "vitdet", "sam_vision_model")


def reads(model_type: str) -> str:
    """Return the kind of input that models of a type read: TEXT, PICTURES or BOTH.

    >>> reads("dinov2"), reads("clip"), reads("bert")
    ('pictures', 'both', 'text')
    """
    return FAMILIES[model_type].reads if model_type in FAMILIES else TEXT


def vision(config: Any) -> Any:
    """Return the configuration of a model's vision part; ``config`` itself if there is no such part."""
    return getattr(config, "vision_config", config)


def size_options(config: Any) -> dict[str, bool]:
    """Return the options of the forward pass that allow a picture of another size than in training."""
    family = FAMILIES.get(config.model_type)
    return {"interpolate_pos_encoding": True} if family is not None and family.sizes == ASKED else {}


def tower(model: Any, inputs: Any) -> Any:
    """Return the part of ``model`` that reads ``inputs``: its text model or its vision model.

    Return ``model`` itself if it has no such parts, or if the inputs are both text and pictures.
    """
    if reads(model.config.model_type) != BOTH or {"input_ids", "pixel_values"} <= set(inputs):
        return model
    return model.text_model if "input_ids" in inputs else model.vision_model


LONGEST_SIDE = 2048  # pixels of a model's input
_FILE_BYTES = 1_000_000

# Image processors that only resize, crop the centre and scale, by their names in transformers. DINOv3's own class
# needs torchvision and scales before it resizes, so its numbers differ by the rounding to 256 steps.
KINDS = {name: name for name in ("ViT", "DeiT", "Beit", "Bit", "CLIP", "Siglip")} | {"DINOv3ViT": "ViT"}


def processor(folder: Path, name: str) -> Any:
    """Load the image processor of a model folder; torchvision is not needed.

    Raise UserError if the processor does more than resize, crop and scale.
    """
    settings = _settings(folder, name)
    _check_sizes(settings, name)
    kind = processor_kind(
        str(settings.get("image_processor_type") or settings.get("feature_extractor_type") or ""), name
    )
    with as_user_error(
        gettext_lazy("{name} is damaged: its {file} cannot be read. Replace it.", name=name, file=PROCESSORS[0])
    ):
        import transformers

        return getattr(transformers, f"{kind}ImageProcessorPil").from_dict(settings)


def processor_kind(stated: str, name: str) -> str:
    """Return the kind of an image processor (a key of KINDS), given its class name; raise UserError if unsupported."""
    kind = stated.replace("FeatureExtractor", "ImageProcessor").removesuffix("Fast").removesuffix("Pil")
    found = KINDS.get(kind.removesuffix("ImageProcessor"))
    if found is None:
        raise UserError(
            gettext_lazy(
                "{name} needs the processor {processor}, which is not supported. Pick another model.",
                name=name,
                processor=stated[:60] or "–",
            ),
            way_out="embedded",
        )
    return found


def _settings(folder: Path, name: str) -> dict[str, Any]:
    file = next((folder / one for one in PROCESSORS if (folder / one).is_file()), None)
    if file is None:
        raise UserError(
            gettext_lazy(
                "{name} has no {file}. Add it.",
                name=name,
                file=PROCESSORS[0],
            ),
            way_out="embedded",
        )
    try:
        if file.stat().st_size > _FILE_BYTES:
            raise ValueError("too long")
        settings = json.loads(file.read_bytes())
        found = settings.get("image_processor", settings)
        if not isinstance(found, dict):
            raise TypeError("no object")
    except (OSError, ValueError, AttributeError, TypeError, RecursionError) as error:
        raise UserError(
            gettext_lazy("{name} is damaged: its {file} cannot be read. Replace it.", name=name, file=file.name),
            way_out="embedded",
        ) from error
    return found


def _check_sizes(settings: dict[str, Any], name: str) -> None:
    """Raise UserError for sizes that are not integers from 1 to LONGEST_SIDE."""
    for key in ("size", "crop_size"):
        stated = settings.get(key)
        numbers = list(stated.values()) if isinstance(stated, dict) else [stated]
        for number in numbers:
            if number is not None and not (isinstance(number, int) and 0 < number <= LONGEST_SIDE):
                raise UserError(
                    gettext_lazy(
                        "The {file} of {name} has {key} = {number}; expected 1 to {most:,}. Pick another model.",
                        file=PROCESSORS[0],
                        name=name,
                        key=key,
                        number=str(number)[:20],
                        most=LONGEST_SIDE,
                    ),
                    way_out="embedded",
                )


MOST_RESIZED = 2**24  # pixels between resizing and cropping, since a very narrow picture would become very long

Box = tuple[float, float, float, float]
Size = tuple[int, int]  # rows of pixels, columns of pixels


@dataclass(frozen=True, eq=False)
class ProcessedPicture:
    """The input of a model for a picture: pixels (channel, row, column) float32, and the tokens.

    ``options`` are further arguments of the forward pass.
    """

    pixels: FloatArray
    reading: Encoding
    options: dict[str, bool]


class ImageProcessor:
    """A model's image processor, which checks all sizes before it processes a picture.

    ``limit`` is the largest number of tokens of a picture.
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
        """Process a picture as the model's own processor does, which may crop it.

        If ``side`` is given, the whole picture is processed instead, with a longer side of about ``side`` pixels. Raise
        UserError if the model cannot read that size, or if the processor fails.
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
                    "The processor of {name} hides where patches lie. Pick another model.",
                    name=self.name,
                ),
                way_out="embedded",
            )
        options = self._asked if cropped != self.own else {}
        return ProcessedPicture(
            pixels, Encoding(_row(self.leading, grid), (0,) * (len(self.leading) + len(grid))), options
        )

    def _process(self, picture: Picture, resized: Size, cropped: Size) -> FloatArray:
        """Return the processor's pixels for the computed sizes, shape (channel, row, column) float32."""
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
        """Return a picture's size after resizing and after cropping, by the processor's settings."""
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
                "The processor of {name} resizes by an unknown rule ({rule}). Pick another model.",
                name=self.name,
                rule=", ".join(sorted(size))[:80],
            ),
            way_out="embedded",
        )

    def _whole(self, picture: Picture, side: int) -> tuple[Size, Size]:
        """Return the size of the whole picture in whole patches, its longer side about ``side`` pixels.

        The sizes after resizing and after cropping are equal.
        """
        scale = side / max(picture.height, picture.width)
        rows, columns = (max(1, round(length * scale / self.patch)) for length in (picture.height, picture.width))
        size = (rows * self.patch, columns * self.patch)
        return size, size

    def _grid(self, picture: Picture, resized: Size, cropped: Size) -> Grid:
        """Return the grid of patches; raise UserError if there are too many patches or none."""
        rows, columns = (length // self.patch for length in cropped)
        tokens = len(self.leading) + rows * columns
        if resized[0] * resized[1] > MOST_RESIZED:
            raise UserError(
                gettext_lazy(
                    "This picture is too narrow: resized for {name}, it has {columns:,} × {rows:,} "
                    "pixels. Pick another.",
                    name=self.name,
                    columns=resized[1],
                    rows=resized[0],
                )
            )
        if rows < 1 or columns < 1 or max(cropped) > LONGEST_SIDE:
            raise UserError(
                gettext_lazy(
                    "{name} would get {columns:,} × {rows:,} pixels; expected multiples of {patch}, up to "
                    "{most:,}. Pick another size.",
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
                    "The image has {tokens} tokens; the limit is {most}. Choose a smaller size.",
                    tokens=tokens,
                    most=self.limit,
                ),
                details={"tokens": tokens, "limit": self.limit},
            )
        return Grid(rows, columns, len(self.leading), self._box(picture, resized, cropped, (rows, columns)))

    def _box(self, picture: Picture, resized: Size, cropped: Size, patches: Size) -> Box:
        """Return the part of the picture that the patches cover, as (left, top, right, bottom) in its pixels.

        The remainder at the right and at the bottom, narrower than a patch, belongs to no patch. A crop that is
        larger than the picture has margins, which are outside the picture.
        """
        top, left = (_margin(whole, part) for whole, part in zip(resized, cropped, strict=True))
        high, wide = picture.height / resized[0], picture.width / resized[1]
        bottom, right = top + patches[0] * self.patch, left + patches[1] * self.patch
        return left * wide, top * high, right * wide, bottom * high


def _margin(whole: int, part: int) -> int:
    """Return the start of a centred crop, as transformers computes it; negative if the crop is larger.

    >>> _margin(10, 5), _margin(5, 10), _margin(10, 10)
    (2, -3, 0)
    """
    return (whole - part) // 2


def _row(leading: tuple[str, ...], grid: Grid) -> TokenRow:
    """Return the picture's tokens; each patch is a word, named by row and column, counted from 1."""
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
    """Return the entries of a processor's size that are not None, as integers."""
    return {name: int(value) for name, value in dict(size).items() if value is not None}
