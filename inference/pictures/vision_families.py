"""Models that read pictures: what stands before the patches among their tokens, and which sizes they take.

Only what is listed is traced, because nothing in a configuration says where a model puts its patches: a picture's
tokens in windows, merged on the way or in another order would be shown in wrong places, and look right.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

TEXT, PICTURES, BOTH = "text", "pictures", "both"  # what a model reads

# What makes pictures ready is told in one of these; in the second since transformers 5.
PROCESSORS = ("preprocessor_config.json", "processor_config.json")

ALWAYS, ASKED = "always", "asked"  # whether positions are fitted to any size by themselves, or when they are told to


@dataclass(frozen=True)
class Family:
    """How one family's tokens stand: its leading ones, row by row the patches, and nothing after them.

    ``sizes`` is ALWAYS or ASKED; ``reads`` is PICTURES, or BOTH for a picture and a text in towers of their own.
    """

    leading: tuple[str, ...]
    sizes: str
    reads: str = PICTURES
    registers: bool = False  # as many as the configuration says follow the leading ones

    def token_names(self, config: Any) -> Iterator[str]:
        """The names of the tokens before the patches."""
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
# They attend inside windows of a picture, so that no map of the whole picture is there.
WINDOWS = ("swin", "swinv2", "swin2sr", "donut-swin", "maskformer-swin", "hiera", "vitdet", "sam_vision_model")


def reads(model_type: str) -> str:
    """What a model of a type reads: TEXT, PICTURES or BOTH.

    >>> reads("dinov2"), reads("clip"), reads("bert")
    ('pictures', 'both', 'text')
    """
    return FAMILIES[model_type].reads if model_type in FAMILIES else TEXT


def vision(config: Any) -> Any:
    """The configuration of what reads the pictures: a part of the model's, or the model's own."""
    return getattr(config, "vision_config", config)


def size_options(config: Any) -> dict[str, bool]:
    """What a model is given beside a picture of another size than its own."""
    family = FAMILIES.get(config.model_type)
    return {"interpolate_pos_encoding": True} if family is not None and family.sizes == ASKED else {}


def tower(model: Any, inputs: Any) -> Any:
    """What of a model reads these inputs: of one with a tower for each, the tower alone where only one of them is."""
    if reads(model.config.model_type) != BOTH or {"input_ids", "pixel_values"} <= set(inputs):
        return model
    return model.text_model if "input_ids" in inputs else model.vision_model
