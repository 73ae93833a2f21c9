"""Look-ups on the hub before a download: the offered files, and every kind of refusal."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from inference import LocalBackend, TraceRequest
from inference.errors import UserError
from inference.files import hub
from inference.settings import Settings
from tests.support.fakehub import COMMIT, FakeHub, online, serving
from tests.support.picturemodels import picture, sight
from tests.support.picturemodels import save as save_seeing
from tests.support.tinymodels import save


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save(tmp_path_factory.mktemp("bert"), "bert")


@pytest.fixture
def fake(model: Path) -> Iterator[FakeHub]:
    with serving() as running:
        running.add("someone/tiny-bert", model)
        yield running


def settings(fake: FakeHub, tmp_path: Path, **changes: Any) -> Settings:
    return Settings(endpoint=fake.endpoint, cache=tmp_path / "cache", hub_timeout=20.0, **changes)


def variant(fake: FakeHub, name: str, drop: tuple[str, ...] = (), **files: bytes) -> str:
    """Add a copy of the tiny model with changed files to the hub and return its name; "_" in a key becomes a dot."""
    kept = {file: content for file, content in fake.repositories["someone/tiny-bert"].items() if file not in drop}
    fake.repositories[name] = kept | {file.replace("_", "."): content for file, content in files.items()}
    return name


def refusal(fake: FakeHub, tmp_path: Path, name: str, revision: str | None = None, **changes: object) -> UserError:
    with pytest.raises(UserError) as caught:
        hub.fetch_offer(name, revision, settings(fake, tmp_path, **changes))
    return caught.value


def test_an_offer_tells_what_how_much_and_whether_it_fits(fake: FakeHub, tmp_path: Path, model: Path) -> None:
    offer = hub.fetch_offer("someone/tiny-bert", None, settings(fake, tmp_path))
    assert (offer.architecture, offer.kind, offer.task, offer.commit) == ("BertModel", "encoder", "fill-mask", COMMIT)
    assert offer.files[-1].name == "model.safetensors"
    assert {"config.json", "tokenizer.json"} < {file.name for file in offer.files}
    assert offer.nbytes == sum((model / file.name).stat().st_size for file in offer.files)
    assert offer.fits
    assert not offer.downloaded


def test_only_what_loading_needs_is_fetched(fake: FakeHub, tmp_path: Path) -> None:
    name = variant(fake, "someone/more", pytorch_model_bin=b"1", modeling_py=b"1", README_md=b"1", onnx_onnx=b"1")
    names = {file.name for file in hub.fetch_offer(name, None, settings(fake, tmp_path)).files}
    assert not any(file.endswith((".bin", ".py", ".md", ".onnx")) for file in names)


def test_a_model_that_is_too_large_is_offered_as_not_fitting(fake: FakeHub, tmp_path: Path) -> None:
    assert not hub.fetch_offer("someone/tiny-bert", None, settings(fake, tmp_path, model_memory_bytes=1000)).fits


@pytest.mark.slow
def test_what_sees_comes_with_its_processor_and_no_tokenizer(fake: FakeHub, tmp_path: Path) -> None:
    fake.add("someone/tiny-vit", save_seeing(sight("ViT"), tmp_path / "vit"))
    offer = hub.fetch_offer("someone/tiny-vit", None, settings(fake, tmp_path))
    assert {file.name for file in offer.files} == {"config.json", "model.safetensors", "preprocessor_config.json"}
    assert (offer.architecture, offer.kind) == ("ViTModel", "encoder")
    backend = LocalBackend(settings(fake, tmp_path))
    assert backend.download(offer).wait(60)
    assert backend.trace(TraceRequest(model="someone/tiny-vit", picture=picture())).source.grid is not None


def test_unknown_model(fake: FakeHub, tmp_path: Path) -> None:
    assert "no public model called someone/nothing" in str(refusal(fake, tmp_path, "someone/nothing"))


def test_unknown_revision(fake: FakeHub, tmp_path: Path) -> None:
    assert "no such revision" in str(refusal(fake, tmp_path, "someone/tiny-bert", "v9"))


def test_gated_model(fake: FakeHub, tmp_path: Path) -> None:
    fake.gated.add("someone/tiny-bert")
    assert "is gated" in str(refusal(fake, tmp_path, "someone/tiny-bert"))


def test_pickle_only(fake: FakeHub, tmp_path: Path) -> None:
    name = variant(fake, "someone/pickled", drop=("model.safetensors",), weights_bin=b"\x80\x04.")
    assert "only pickle weights" in str(refusal(fake, tmp_path, name))


def test_pickles_with_a_safe_copy(fake: FakeHub, tmp_path: Path) -> None:
    name = variant(fake, "someone/pickled", drop=("model.safetensors",), weights_bin=b"\x80\x04.")
    fake.converted[name] = 7
    caught = refusal(fake, tmp_path, name)
    assert "revision refs/pr/7" in str(caught)
    assert (caught.way_out, caught.details) == ("revision", {"revision": "refs/pr/7"})


def test_no_weights_no_config_no_tokenizer(fake: FakeHub, tmp_path: Path) -> None:
    bare = variant(fake, "someone/bare", drop=("model.safetensors",))
    assert "no safetensors weights" in str(refusal(fake, tmp_path, bare))
    unconfigured = variant(fake, "someone/unconfigured", drop=("config.json",))
    assert "it has no config.json" in str(refusal(fake, tmp_path, unconfigured))
    mute = variant(fake, "someone/mute", drop=("tokenizer.json", "vocab.txt"))
    assert "no tokenizer" in str(refusal(fake, tmp_path, mute))


def test_gguf_without_its_packages(fake: FakeHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("inference.files.checkpoint.can_read_gguf", lambda: False)
    name = variant(fake, "someone/gguf", drop=("model.safetensors", "config.json"), q4_gguf=b"GGUF1234")
    assert "pip install gguf accelerate" in str(refusal(fake, tmp_path, name))


@pytest.mark.parametrize(
    ("config", "sentence"),
    [
        ({"model_type": "mamba"}, "reports no attention"),
        ({"model_type": "swin"}, "attends inside windows"),
        ({"model_type": "yolos"}, "has no patches"),
        ({"model_type": "whisper"}, "reads sound or video"),
        ({"model_type": "nonesuch"}, 'has the architecture "nonesuch"'),
        ({"model_type": "nonesuch", "auto_map": {"AutoModel": "x.Y"}}, "never runs here"),
        ({"model_type": "llama", "quantization_config": {"quant_method": "gptq"}}, "(gptq)"),
        ({}, "has no model_type"),
        ({"model_type": "bert", "hidden_size": "wide"}, "config.json of someone/odd is damaged"),
    ],
)
def test_architectures_that_cannot_be_traced(
    fake: FakeHub, tmp_path: Path, config: dict[str, object], sentence: str
) -> None:
    name = variant(fake, "someone/odd", config_json=json.dumps(config).encode())
    assert sentence in str(refusal(fake, tmp_path, name))


def test_a_broken_config(fake: FakeHub, tmp_path: Path) -> None:
    assert "config.json cannot be read" in str(refusal(fake, tmp_path, variant(fake, "someone/odd", config_json=b"{")))
    assert "config.json cannot be read" in str(refusal(fake, tmp_path, variant(fake, "someone/odd", config_json=b"[]")))


def test_an_index_that_points_elsewhere(fake: FakeHub, tmp_path: Path) -> None:
    index = json.dumps({"weight_map": {"a": "../../secret.safetensors"}}).encode()
    kept = dict(fake.repositories["someone/tiny-bert"]) | {"model.safetensors.index.json": index}
    del kept["model.safetensors"]
    fake.repositories["someone/odd"] = kept
    assert "names files of others" in str(refusal(fake, tmp_path, "someone/odd"))


def test_a_hub_in_trouble(fake: FakeHub, tmp_path: Path) -> None:
    fake.status = 503
    caught = refusal(fake, tmp_path, "someone/tiny-bert")
    assert "answers with an error (503)" in str(caught)
    assert caught.way_out == "retry"


def test_no_network_answers_fast(tmp_path: Path) -> None:
    for _ in range(2):  # The first iteration imports libraries; only the second is timed.
        start = time.monotonic()
        with online(), pytest.raises(UserError, match="be reached"):
            hub.fetch_offer("someone/tiny-bert", None, Settings(endpoint="http://127.0.0.1:9", cache=tmp_path))
    assert time.monotonic() - start < 5


def test_the_librarys_own_offline_switch_is_heard(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="off"):
        hub.fetch_offer("someone/tiny-bert", None, Settings(endpoint="http://127.0.0.1:9", cache=tmp_path))


def test_offline_asks_nothing(fake: FakeHub, tmp_path: Path) -> None:
    assert "the hub is off" in str(refusal(fake, tmp_path, "someone/tiny-bert", offline=True))
    assert fake.asked == []
