"""The processor that comes with a model that reads pictures: found in its folder, known by its kind, and bounded."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from i18n import gettext_lazy
from inference.errors import UserError, as_user_error
from inference.pictures.vision_families import PROCESSORS

LONGEST_SIDE = 2048  # pixels of what a model is given
_FILE_BYTES = 1_000_000

# Processors that resize, cut out the middle and scale, and nothing else, by how the library calls them. DINOv3's is
# made for torchvision alone; it scales before it resizes, so that numbers differ by the rounding to 256 steps.
KINDS = {name: name for name in ("ViT", "DeiT", "Beit", "Bit", "CLIP", "Siglip")} | {"DINOv3ViT": "ViT"}


def processor(folder: Path, name: str) -> Any:
    """The processor that comes with a model's files, from the installed library and without torchvision.

    Raises Refusal for one that does more than resize, crop and scale.
    """
    settings = _settings(folder, name)
    _check_sizes(settings, name)
    kind = processor_kind(
        str(settings.get("image_processor_type") or settings.get("feature_extractor_type") or ""), name
    )
    with as_user_error(
        gettext_lazy(
            "{name} is damaged: its {file} cannot be read. Fetch or save it again.", name=name, file=PROCESSORS[0]
        )
    ):
        import transformers

        return getattr(transformers, f"{kind}ImageProcessorPil").from_dict(settings)


def processor_kind(stated: str, name: str) -> str:
    """Which of KINDS a processor's class is, whatever makes its steps; raises Refusal for another one."""
    kind = stated.replace("FeatureExtractor", "ImageProcessor").removesuffix("Fast").removesuffix("Pil")
    found = KINDS.get(kind.removesuffix("ImageProcessor"))
    if found is None:
        raise UserError(
            gettext_lazy(
                "{name} wants its pictures made ready by {processor}, whose way Headlight does not know. Pick another"
                " model.",
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
                "{name} comes without a {file}, so nobody knows how it wants pictures made ready. Add it.",
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
            gettext_lazy(
                "{name} is damaged: its {file} cannot be read. Fetch or save it again.", name=name, file=file.name
            ),
            way_out="embedded",
        ) from error
    return found


def _check_sizes(settings: dict[str, Any], name: str) -> None:
    """Raises Refusal for sizes that nobody's model has."""
    for key in ("size", "crop_size"):
        stated = settings.get(key)
        numbers = list(stated.values()) if isinstance(stated, dict) else [stated]
        for number in numbers:
            if number is not None and not (isinstance(number, int) and 0 < number <= LONGEST_SIDE):
                raise UserError(
                    gettext_lazy(
                        "The processor of {name} states {number} as a size in pixels; Headlight computes with 1 to"
                        " {most:,}. Pick another model.",
                        name=name,
                        number=str(number)[:20],
                        most=LONGEST_SIDE,
                    ),
                    way_out="embedded",
                )
