"""Checks of a model's files without loading them: completeness, safety and size."""

from __future__ import annotations

import importlib.util
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

from i18n import gettext_lazy
from inference.errors import UserError
from inference.pictures.image_processing import PICTURES, reads

WEIGHTS, INDEX = "model.safetensors", "model.safetensors.index.json"
PICKLES = (".bin", ".pt", ".pth", ".pkl", ".ckpt", ".h5", ".msgpack")
# A tokenizer needs one of these files; without them transformers silently builds a tokenizer with five tokens.
TOKENIZERS = (
    "tokenizer.json",
    "vocab.txt",
    "vocab.json",
    "tokenizer.model",
    "spiece.model",
    "sentencepiece.bpe.model",
    "spm.model",
    "source.spm",
    "tekken.json",
)
PROCESSOR = "preprocessor_config.json"  # vision models have it, with or without a tokenizer
_BASE = re.compile(r"^base_model:\s*(?:-\s*)?[\"']?([^\s\"']+)", re.MULTILINE)  # of a model card
_HUB_ID = re.compile(r"(?:[A-Za-z0-9][\w.-]{0,95}/)?[A-Za-z0-9][\w.-]{0,95}", re.ASCII)
_CARD_CHARACTERS = 100_000
_CONFIG_BYTES = 8_000_000
_KIND_CHARACTERS = 40  # the longest adapter kind that a message shows
_HEADER_BYTES = 100_000_000
_POINTER = b"version https://git-lfs.github.com/"  # a clone without git-lfs has this text in place of large files
_READ = (".json", ".txt", ".model", ".spm")  # suffixes of the small files that transformers reads
_MARKS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")  # byte-order marks of UTF-8 and UTF-16
DEQUANTIZED = ("fp8", "mxfp4")  # transformers turns these into floating-point weights where no GPU is found


@dataclass(frozen=True)
class Checkpoint:
    """The files of a model: its configuration, weight files and number of parameters (0 for GGUF files).

    ``gguf`` is the GGUF file, or None for a model in safetensors files.
    """

    folder: Path
    config: Mapping[str, Any]
    weights: tuple[Path, ...]
    gguf: Path | None
    parameters: int

    @property
    def memory_bytes(self) -> int:
        """Return the bytes of memory that the loaded model needs."""
        return memory_needed(self.parameters or sum(file.stat().st_size for file in self.weights) * 2)


def memory_needed(parameters: int) -> int:
    """Return the bytes of memory for ``parameters`` float32 parameters, with a margin for buffers and the tokenizer.

    >>> memory_needed(1_000_000)
    36400000
    """
    return int(parameters * 4 * 1.1) + 32_000_000


def inspect(folder: Path, name: str) -> Checkpoint:
    """Check the files of a model folder; return its checkpoint.

    Raise UserError if files are missing or damaged, or if the weights are only in pickle files.
    """
    _refuse_unreadable_text(folder, name)
    gguf = sorted(folder.glob("*.gguf"))
    if gguf and not (folder / WEIGHTS).exists() and not (folder / INDEX).exists():
        return _gguf(folder, gguf[0], name)
    if (folder / "adapter_config.json").exists():
        # An adapter may name any other model, which the loader would open instead.
        raise UserError(_adapter(folder / "adapter_config.json", name))
    config = read_config(folder / "config.json", name)
    refuse_quantized(config, name, base_model(folder, config))
    weights = _weight_files(folder, name)
    parameters = sum(header_parameters(file, name) for file in weights)
    sees = reads(str(config.get("model_type"))) == PICTURES
    if not sees and not any((folder / file).is_file() for file in TOKENIZERS):
        raise UserError(no_tokenizer(name, base_model(folder, config)), way_out="embedded")
    return Checkpoint(folder, config, weights, None, parameters)


def _refuse_unreadable_text(folder: Path, name: str) -> None:
    """Raise UserError if a text file of a model is a Git LFS pointer or begins with a byte-order mark.

    transformers fails on most of these files with other reasons, and reads the mark in vocab.txt as a letter.
    """
    for file in sorted(folder.iterdir()) if folder.is_dir() else ():
        if file.suffix not in _READ or not file.is_file():
            continue
        _refuse_pointer(file, name)
        with file.open("rb") as stream:
            start = stream.read(len(_MARKS[0]))
        if start.startswith(_MARKS):
            raise UserError(
                gettext_lazy(
                    "{file} of {name} begins with a byte order mark. Save it as plain UTF-8.",
                    file=file.name,
                    name=name,
                ),
                way_out="embedded",
            )


def _refuse_pointer(file: Path, name: str) -> None:
    """Raise UserError if a file contains the address of the real file, which git-lfs has not fetched."""
    with file.open("rb") as stream:
        if stream.read(len(_POINTER)) != _POINTER:
            return
    raise UserError(
        gettext_lazy(
            "{file} of {name} is a Git LFS pointer. Run git lfs pull, or download it again.",
            file=file.name,
            name=name,
        ),
        way_out="embedded",
    )


def refuse_quantized(config: Mapping[str, Any], name: str, base: str | None = None) -> None:
    """Raise UserError if the weights are quantized in a way that transformers cannot dequantize here."""
    stated = config.get("quantization_config")
    if stated is None:
        return
    settings = stated if isinstance(stated, Mapping) else {}
    bits = "bitsandbytes" if any(settings.get(f"load_in_{bits}bit") for bits in (4, 8)) else None
    method = str(settings.get("quant_method") or bits or gettext_lazy("unknown method"))[:_KIND_CHARACTERS]
    if method in DEQUANTIZED:
        return
    original = gettext_lazy("its base model") if base is None or base == name else base
    raise UserError(
        gettext_lazy(
            "{name} is quantized ({method}); expected floating-point weights. Open {original}.",
            name=name,
            method=method,
            original=original,
        ),
        way_out="embedded",
    )


def _adapter(file: Path, name: str) -> str:
    """Return the message about a folder with a PEFT adapter; virtual tokens cannot be merged into weights."""
    try:
        config = read_config(file, name)
    except UserError:
        config = {}
    if "num_virtual_tokens" in config:
        return gettext_lazy(
            "{name} is an adapter with virtual tokens ({kind}), which cannot be merged. Open its base model.",
            name=name,
            kind=str(config.get("peft_type"))[:_KIND_CHARACTERS],
        )
    return gettext_lazy(
        "{name} is an adapter, not a whole model. With PEFT, call model.merge_and_unload(), then save_pretrained.",
        name=name,
    )


def no_tokenizer(name: str, base: str | None) -> str:
    """Return the error message for a model without a tokenizer; it suggests the tokenizer of ``base``, if known."""
    base = base or gettext_lazy("its base model")
    return gettext_lazy("{name} has no tokenizer. Copy tokenizer.json from {base}.", name=name, base=base)


def base_model(folder: Path, config: Mapping[str, Any]) -> str | None:
    """Return the hub id of the base model from which the folder's model was fine-tuned, or None.

    The model card takes precedence over the configuration.
    """
    stated = [config.get("_name_or_path")]
    card = folder / "README.md"
    if card.is_file():
        with card.open(encoding="utf-8", errors="replace") as stream:
            found = _BASE.search(stream.read(_CARD_CHARACTERS))
        stated.insert(0, found[1] if found else None)
    return next((name for name in stated if isinstance(name, str) and _HUB_ID.fullmatch(name)), None)


def read_config(file: Path, name: str) -> dict[str, Any]:
    """Return a config.json as a dictionary; raise UserError if it is missing, too long or invalid."""
    if not file.is_file():
        raise UserError(
            gettext_lazy("{name} is not a model: it has no config.json. Pick another model.", name=name),
            way_out="embedded",
        )
    if file.stat().st_size > _CONFIG_BYTES:
        raise UserError(
            gettext_lazy("The {file} of {name} is too long. Pick another model.", name=name, file=file.name),
            way_out="embedded",
        )
    return parse_config(file.read_bytes(), name)


def parse_config(content: bytes, name: str) -> dict[str, Any]:
    """Parse the bytes of a config.json to a dictionary; raise UserError if they are not a JSON object."""
    try:
        config = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise UserError(
            gettext_lazy("{name} is damaged: its {file} cannot be read. Replace it.", name=name, file="config.json"),
            way_out="embedded",
        ) from error
    if not isinstance(config, dict):
        raise UserError(
            gettext_lazy("{name} is damaged: its {file} cannot be read. Replace it.", name=name, file="config.json"),
            way_out="embedded",
        )
    return config


def _weight_files(folder: Path, name: str) -> tuple[Path, ...]:
    if (folder / WEIGHTS).is_file():
        return (folder / WEIGHTS,)
    if not (folder / INDEX).is_file():
        if any(file.suffix in PICKLES for file in folder.iterdir()):
            raise UserError(pickle_only(name), way_out="embedded")
        raise UserError(
            gettext_lazy(
                "{name} has no safetensors weights ({weights}). Save it with save_pretrained, or fetch it again.",
                name=name,
                weights=WEIGHTS,
            ),
            way_out="embedded",
        )
    files = [folder / shard for shard in shards((folder / INDEX).read_bytes(), name)]
    missing = [file.name for file in files if not file.is_file()]
    if missing:
        raise UserError(
            gettext_lazy(
                "{name} is incomplete: its weight file {missing} is missing. Add it.",
                name=name,
                missing=missing[0],
            ),
            way_out="download",
        )
    return tuple(files)


def pickle_only(name: str) -> str:
    """Return the error message for a model whose weights are only in a pickle file, which can run programs."""
    return gettext_lazy(
        "{name} has only pickle weights, which can run code. If you trust its author, load it in Python and call "
        "model.save_pretrained(folder).",
        name=name,
    )


def shards(index: bytes, name: str) -> list[str]:
    """Return the names of the weight files that the index of a sharded checkpoint lists.

    Raise UserError if the index is broken or names files outside of its folder.
    """
    try:
        names = sorted(set(json.loads(index)["weight_map"].values()))
        plain = all(Path(part).name == part and part.endswith(".safetensors") and "\\" not in part for part in names)
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise UserError(
            gettext_lazy("{name} is damaged: its {file} cannot be read. Replace it.", name=name, file=INDEX),
            way_out="embedded",
        ) from error
    if not plain or not names:
        raise UserError(
            gettext_lazy(
                "{name} is damaged: its {index} names files of others. Replace it.",
                name=name,
                index=INDEX,
            ),
            way_out="embedded",
        )
    return names


def header_parameters(file: Path, name: str) -> int:
    """Return the number of parameters in a safetensors header; raise UserError if the file is damaged.

    A file is damaged if the tensor offsets in its header do not match its size.
    """
    broken = UserError(
        gettext_lazy("{name} is damaged: its {file} cannot be read. Replace it.", name=name, file=file.name),
        way_out="download",
    )
    _refuse_pointer(file, name)
    size = file.stat().st_size
    try:
        with file.open("rb") as stream:
            length = int.from_bytes(stream.read(8), "little")
            if not 2 <= length <= min(_HEADER_BYTES, size - 8):
                raise broken
            header = json.loads(stream.read(length))
        tensors = [entry for key, entry in header.items() if key != "__metadata__"]
        end = max((entry["data_offsets"][1] for entry in tensors), default=0)
        parameters = sum(_elements(entry["shape"]) for entry in tensors)
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError, ArithmeticError) as error:
        raise broken from error
    if end != size - 8 - length or parameters > 2 * end:  # the smallest type takes half a byte per parameter
        raise broken
    return parameters


def _elements(shape: list[object]) -> int:
    """Return the number of elements of a shape; raise ValueError for invalid sizes.

    JSON allows sizes such as -1, 2.5 and 1e400.
    """
    sizes = [size for size in shape if type(size) is int and size >= 0]
    if len(sizes) < len(shape):
        raise ValueError("A tensor has a size that is no size.")
    return prod(sizes)


def _gguf(folder: Path, file: Path, name: str) -> Checkpoint:
    if not can_read_gguf():
        raise UserError(no_gguf(name), way_out="embedded")
    _refuse_pointer(file, name)
    with file.open("rb") as stream:
        if stream.read(4) != b"GGUF":
            raise UserError(
                gettext_lazy("{name} is damaged: its {file} cannot be read. Replace it.", name=name, file=file.name),
                way_out="embedded",
            )
    return Checkpoint(folder, {}, (file,), file, 0)


def no_gguf(name: str) -> str:
    """Return the error message for a GGUF model if the packages that read GGUF files are not installed."""
    return gettext_lazy("{name} is in the GGUF format. First run: pip install gguf accelerate", name=name)


def can_read_gguf() -> bool:
    """Return True if the packages that transformers needs for GGUF files are installed."""
    return all(importlib.util.find_spec(package) is not None for package in ("gguf", "accelerate"))


def tensors(weights: Iterable[Path]) -> frozenset[str]:
    """Return the tensor names in the headers of safetensors files."""
    from safetensors import safe_open

    names: set[str] = set()
    for file in weights:
        with safe_open(file, framework="numpy") as opened:
            names.update(opened.keys())
    return frozenset(names)


def refuse_too_large(name: str, needed: int, budget: int) -> None:
    """Raise UserError if a model that needs ``needed`` bytes does not fit into ``budget`` bytes."""
    if needed > budget:
        raise UserError(
            gettext_lazy(
                "{name} needs about {needed:.1f} GB of memory; {budget:.1f} GB are allowed. Pick a smaller model.",
                name=name,
                needed=needed / 1e9,
                budget=budget / 1e9,
            ),
            way_out="embedded",
            details={"needed": needed, "budget": budget},
        )
