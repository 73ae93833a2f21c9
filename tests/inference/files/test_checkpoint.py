"""Files of a model in a folder: complete and safe, or refused with an error message."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from inference.errors import UserError
from inference.files.checkpoint import TOKENIZERS, inspect, memory_needed
from tests.support.tinymodels import save


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save(tmp_path_factory.mktemp("bert"), "bert")


@pytest.fixture
def folder(sound: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(sound, tmp_path / "model"))


def no_weights(folder: Path) -> None:
    (folder / "model.safetensors").unlink()


def pickled(folder: Path) -> None:
    no_weights(folder)
    (folder / "pytorch_model.bin").write_bytes(b"\x80\x04.")


def truncated(folder: Path) -> None:
    os.truncate(folder / "model.safetensors", (folder / "model.safetensors").stat().st_size - 1)


def garbage(folder: Path) -> None:
    (folder / "model.safetensors").write_bytes(b"\xff" * 200)


def shaped(shape: str) -> Callable[[Path], None]:
    """Return a function that writes a header with this shape for a tensor of eight bytes."""

    def spoil(folder: Path) -> None:
        header = f'{{"x": {{"dtype": "F32", "shape": {shape}, "data_offsets": [0, 8]}}}}'.encode()
        (folder / "model.safetensors").write_bytes(len(header).to_bytes(8, "little") + header + b"\0" * 8)

    spoil.__name__ = f"shape {shape}"
    return spoil


def zipped(folder: Path) -> None:
    (folder / "model.safetensors").write_bytes(b"PK\x03\x04" + b"\0" * 200)


def empty(folder: Path) -> None:
    (folder / "model.safetensors").write_bytes(b"")


def mute(folder: Path) -> None:
    for name in TOKENIZERS:
        (folder / name).unlink(missing_ok=True)


def adapter(folder: Path) -> None:
    (folder / "adapter_config.json").write_text('{"base_model_name_or_path": "/etc"}')


def prompts(folder: Path) -> None:
    (folder / "adapter_config.json").write_text('{"peft_type": "PREFIX_TUNING", "num_virtual_tokens": 4}')


def a_broken_adapter(folder: Path) -> None:
    (folder / "adapter_config.json").write_text("[")


def escaping(folder: Path) -> None:
    no_weights(folder)
    index = {"weight_map": {"x": "../other.safetensors"}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))


def a_shard_missing(folder: Path) -> None:
    no_weights(folder)
    index = {"weight_map": {"x": "model-1.safetensors"}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))


def a_broken_index(folder: Path) -> None:
    no_weights(folder)
    (folder / "model.safetensors.index.json").write_text("[]")


def no_config(folder: Path) -> None:
    (folder / "config.json").unlink()


def a_broken_config(folder: Path) -> None:
    (folder / "config.json").write_bytes(b"\xff{")


def not_gguf(folder: Path) -> None:
    no_weights(folder)
    (folder / "q4.gguf").write_bytes(b"PK\x03\x04")


POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"0" * 64 + b"\nsize 90868376\n"


def pointer(file: str) -> Callable[[Path], None]:
    """Return a function that replaces a file by the text that a clone without git-lfs contains."""

    def spoil(folder: Path) -> None:
        (folder / file).write_bytes(POINTER)

    spoil.__name__ = f"pointer {file}"
    return spoil


def a_pointer_as_shard(folder: Path) -> None:
    a_shard_missing(folder)
    (folder / "model-1.safetensors").write_bytes(POINTER)


def marked(file: str, encoding: str = "utf-8-sig") -> Callable[[Path], None]:
    """Return a function that saves a text file as editors of Windows do."""

    def spoil(folder: Path) -> None:
        place = folder / file
        place.write_text(place.read_text() if place.exists() else "[PAD]\n[UNK]\n", encoding=encoding)

    spoil.__name__ = f"{encoding} {file}"
    return spoil


def quantized(**settings: object) -> Callable[[Path], None]:
    """Return a function that states quantized weights in config.json."""

    def spoil(folder: Path) -> None:
        place = folder / "config.json"
        place.write_text(json.dumps(json.loads(place.read_text()) | {"quantization_config": settings}))

    spoil.__name__ = f"quantized {settings}"
    return spoil


CASES: list[tuple[Callable[[Path], None], str]] = [
    (no_weights, "no safetensors weights"),
    (pickled, "only pickle weights"),
    (truncated, r"is damaged: its model\.safetensors cannot be read"),
    (garbage, "is damaged"),
    *((shaped(shape), "is damaged") for shape in ("[1e400]", "[1e400, 0]", "[-1]", "[2.0]", "[true]", "2", "null")),
    *((shaped(shape), "is damaged") for shape in (f"[{10**400}]", "[1000000, 1000000]")),
    (zipped, "is damaged"),
    (empty, "is damaged"),
    (mute, "has no tokenizer"),
    (adapter, "is an adapter"),
    (prompts, r"virtual tokens \(PREFIX_TUNING\)"),
    (a_broken_adapter, "an adapter"),
    (escaping, "names files of others"),
    (a_shard_missing, r"weight file model-1\.safetensors is missing"),
    (a_broken_index, "cannot be read"),
    (no_config, r"is not a model: it has no config\.json"),
    (a_broken_config, r"is damaged: its config\.json cannot be read"),
    *((pointer(f), f"^{f} of mine .*git lfs pull") for f in ("model.safetensors", "tokenizer.json", "config.json")),
    *((pointer(f), f"^{f} of mine .*git lfs pull") for f in ("model.safetensors.index.json", "vocab.txt")),
    (a_pointer_as_shard, r"^model-1\.safetensors of mine .*git lfs pull"),
    *((marked(f), f"^{f} of mine .*UTF-8") for f in ("config.json", "tokenizer.json", "tokenizer_config.json")),
    (marked("vocab.txt"), r"^vocab\.txt of mine .*UTF-8"),
    (marked("config.json", "utf-16"), r"^config\.json of mine .*UTF-8"),
    (quantized(quant_method="bitsandbytes", load_in_4bit=True), r"^mine .*\(bitsandbytes\)"),
    (quantized(load_in_8bit=True), r"^mine .*\(bitsandbytes\)"),
    *((quantized(quant_method=name), rf"^mine .*\({name}\)") for name in ("gptq", "awq", "compressed-tensors", "hqq")),
    (quantized(), r"^mine .*\("),
]


def test_spoiled_folders(subtests: pytest.Subtests, sound: Path, tmp_path: Path) -> None:
    for at, (spoil, sentence) in enumerate(CASES):
        with subtests.test(spoil=getattr(spoil, "__name__", ""), sentence=sentence):
            folder = Path(shutil.copytree(sound, tmp_path / str(at)))
            spoil(folder)
            with pytest.raises(UserError, match=sentence) as refused:
                inspect(folder, "mine")
            assert re.search(r"\. [A-Z][a-z]+", str(refused.value)), "the fix"


@pytest.mark.parametrize("spoil", [quantized(quant_method="fp8"), pointer("README.md"), pointer("pytorch_model.bin")])
def test_harmless_folders(folder: Path, spoil: Callable[[Path], None]) -> None:
    """transformers dequantizes fp8 weights, and files that are not read may be pointers."""
    spoil(folder)
    assert inspect(folder, "mine").parameters


def test_a_quantized_model_names_its_original(folder: Path) -> None:
    (folder / "README.md").write_text("---\nbase_model: org/original\n---\n")
    quantized(quant_method="gptq")(folder)
    with pytest.raises(UserError, match="org/original"):
        inspect(folder, "mine")


def test_a_sound_folder(folder: Path) -> None:
    from transformers import AutoModel

    found = inspect(folder, "mine")
    assert found.parameters == sum(p.numel() for p in AutoModel.from_pretrained(folder).parameters())
    assert found.memory_bytes == memory_needed(found.parameters)
    assert [file.name for file in found.weights] == ["model.safetensors"]


@pytest.mark.slow
def test_shards_count_together(sound: Path, tmp_path: Path) -> None:
    from transformers import AutoModel

    shutil.copytree(sound, tmp_path / "model", ignore=shutil.ignore_patterns("*.safetensors"))
    AutoModel.from_pretrained(sound).save_pretrained(tmp_path / "model", max_shard_size="20KB")
    found = inspect(tmp_path / "model", "mine")
    assert len(found.weights) > 1
    assert found.parameters == inspect(sound, "mine").parameters


def test_gguf(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    not_gguf(folder)
    monkeypatch.setattr("inference.files.checkpoint.can_read_gguf", lambda: False)
    with pytest.raises(UserError, match="gguf accelerate"):
        inspect(folder, "mine")
    monkeypatch.setattr("inference.files.checkpoint.can_read_gguf", lambda: True)
    with pytest.raises(UserError, match="gguf cannot"):
        inspect(folder, "mine")
    (folder / "q4.gguf").write_bytes(b"GGUF" + b"\0" * 100)
    assert inspect(folder, "mine").gguf == folder / "q4.gguf"


@pytest.mark.parametrize(
    ("card", "config", "said"),
    [
        ("---\nbase_model: google/electra-small\n---", {}, "Copy tokenizer.json from google/electra-small."),
        ("---\nbase_model:\n- gpt2\n---", {}, "Copy tokenizer.json from gpt2."),
        (None, {"_name_or_path": "bert-base-cased"}, "Copy tokenizer.json from bert-base-cased."),
        (None, {"_name_or_path": "/data/secret"}, "from its base model."),
    ],
)
def test_a_missing_tokenizer_is_named_by_its_base(
    card: str | None, config: dict[str, str], said: str, folder: Path
) -> None:
    mute(folder)
    file = folder / "config.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), **config}))
    if card is not None:
        (folder / "README.md").write_text(card)
    with pytest.raises(UserError, match=said):
        inspect(folder, "mine")


def test_an_adapter_alone_is_to_be_merged_first(tmp_path: Path) -> None:
    adapter(tmp_path)
    with pytest.raises(UserError, match="With PEFT"):
        inspect(tmp_path, "mine")


def test_a_pickle_says_how_to_convert_it(folder: Path) -> None:
    pickled(folder)
    with pytest.raises(UserError, match=r"model\.save_pretrained"):
        inspect(folder, "mine")
