"""The backend: exact results, threads, memory limits, and clear errors."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from attention.edits import Ablate, MaskEdge
from inference import EMBEDDED, LocalBackend, TraceRequest, UserError
from inference.files.download import Download
from inference.loaded_model import LoadedModel
from inference.settings import Settings
from tests.support.cases import loop_over
from tests.support.fakehub import COMMIT, serving
from tests.support.service import asking
from tests.support.tinymodels import TEXT, byte_level, save

ANIMAL = "The animal didn't cross the street because it was too tired."


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("models")
    for kind in ("bert", "gpt2", "t5", "llama"):
        save(root / kind, kind)
    return root


@pytest.fixture(scope="module", params=["here", "there"])
def backend(request: pytest.FixtureRequest, folder: Path) -> Iterator[LocalBackend]:
    """Yield the backend in this process, or a client that calls it over HTTP."""
    with ExitStack() as stack:
        here = LocalBackend(Settings(model_folders=(folder,)))
        yield here if request.param == "here" else stack.enter_context(asking(here))


@pytest.fixture(params=["here", "there"])
def local(request: pytest.FixtureRequest, folder: Path, tmp_path: Path) -> Iterator[LocalBackend]:
    with ExitStack() as stack:
        here = LocalBackend(Settings(model_folders=(folder,), cache=tmp_path))
        yield here if request.param == "here" else stack.enter_context(asking(here))


def equal(one: object, other: object, atol: float = 0.0) -> None:
    for part, records in one.parts.items():  # type: ignore[attr-defined]
        for mine, theirs in zip(records, other.parts[part], strict=True):  # type: ignore[attr-defined]
            for head in range(mine.heads):
                np.testing.assert_allclose(mine.weights(head), theirs.weights(head), atol=atol)


@pytest.mark.slow
def test_importing_and_constructing_needs_no_torch() -> None:
    code = (
        "import sys, inference; b = inference.LocalBackend(); b.models(); b.status('gpt2')\n"
        "print([name for name in ('torch', 'transformers') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == "[]"


@pytest.mark.slow
def test_the_embedded_model_knows_what_it_means(backend: LocalBackend) -> None:
    trace = backend.trace(TraceRequest(text=ANIMAL))
    assert trace.tokens[:6] == ("[CLS]", "the", "animal", "didn", "'", "t")
    assert (trace.layers, trace.heads, trace.model.name, trace.model.kind) == (6, 12, EMBEDDED, "encoder")
    assert trace.has_qkv()
    weight = trace.weights(3, 1)[trace.tokens.index("it"), trace.tokens.index("animal")]
    assert weight == pytest.approx(0.677, abs=0.005)


def test_the_embedded_models_maps_are_its_own(backend: LocalBackend) -> None:
    import torch
    from transformers import AutoModel

    from inference.files import embedded

    trace = backend.trace(TraceRequest(text=ANIMAL, pair="It slept."))
    model = AutoModel.from_pretrained(embedded.folder(), attn_implementation="eager").eval()
    with torch.inference_mode():
        ids, types = torch.tensor([trace.source.ids]), torch.tensor([trace.source.segments])
        own = model(input_ids=ids, token_type_ids=types, output_attentions=True).attentions
    for layer in range(trace.layers):
        for head in range(trace.heads):
            weights = trace.weights(layer, head)
            np.testing.assert_allclose(weights, own[layer][0, head].numpy(), atol=1e-5)
            np.testing.assert_allclose(weights.sum(-1), 1, atol=1e-5)


@pytest.mark.slow
def test_many_texts_at_once_equal_one_by_one(backend: LocalBackend) -> None:
    requests = [TraceRequest(text=text) for text in [*TEXT, "a", ANIMAL, TEXT[0]]]
    together = LocalBackend(Settings()).traces(requests)
    assert [trace.text for trace in together] == [request.text for request in requests]
    for request, trace in zip(requests, together, strict=True):
        equal(backend.trace(request), trace, atol=1e-5)


@pytest.mark.slow
def test_models_mix_in_one_call(local: LocalBackend, folder: Path) -> None:
    requests = [TraceRequest(model=str(folder / kind), text="the cat") for kind in ("bert", "gpt2", "t5", "bert")]
    traces = local.traces(requests)
    assert [trace.model.name for trace in traces] == ["bert", "gpt2", "t5", "bert"]
    assert traces[0] is traces[3]


@pytest.mark.slow
def test_threads_do_not_mix(local: LocalBackend, folder: Path) -> None:
    texts = [f"{text} {'the cat ' * extra}"[:60] for text in ("it was", "a b c", "x") for extra in range(8)]
    requests = [TraceRequest(model=str(folder / "gpt2"), text=text, cut=48) for text in texts]
    alone = [local.trace(request) for request in requests]
    fresh = LocalBackend(local.settings)
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(fresh.trace, requests))
    for request, one, other in zip(requests, alone, together, strict=True):
        assert other.text == request.text
        assert one.tokens == other.tokens
        equal(one, other, atol=1e-6)


def test_a_model_is_loaded_once_for_all_threads(
    local: LocalBackend, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from inference.load import loading

    loads: list[str] = []
    real = loading.load

    def noting(source: Any, *rest: Any) -> Any:
        loads.append(source.name)
        return real(source, *rest)

    monkeypatch.setattr(loading, "load", noting)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(local.trace, [TraceRequest(model=str(folder / "bert"), text=f"cat {n}") for n in range(8)]))
    assert loads == ["bert"]


def test_a_slow_load_holds_up_no_other_model(
    local: LocalBackend, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from inference.load import loading

    local.trace(TraceRequest(model=str(folder / "bert"), text="cat"))
    gate, begun, real = threading.Event(), threading.Event(), loading.load
    opened: list[bool] = []

    def slow(*given: Any) -> LoadedModel:
        begun.set()
        opened.append(gate.wait(60))
        return real(*given)

    monkeypatch.setattr(loading, "load", slow)
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(local.trace, TraceRequest(model=str(folder / "gpt2"), text="cat"))
        assert begun.wait(60)
        assert local.status(str(folder / "gpt2")) == "loading"
        assert local.trace(TraceRequest(model=str(folder / "bert"), text="another cat")).layers == 2
        gate.set()
        assert waiting.result(60).model.name == "gpt2"
    assert opened == [True], "the other model was held up until the gate was given up"
    assert local.status(str(folder / "gpt2")) == "loaded"


def test_models_are_evicted_by_bytes(folder: Path) -> None:
    kinds = [str(folder / kind) for kind in ("bert", "gpt2")]
    for budget, left in (
        (40_000_000, "loaded"),
        (32_120_000, "here"),
    ):  # A model is assumed to need 32 MB before it loads.
        backend = LocalBackend(Settings(model_folders=(folder,), model_memory_bytes=budget))
        for kind in kinds:
            backend.trace(TraceRequest(model=kind, text="a"))
        assert [backend.status(kind) for kind in kinds] == [left, "loaded"]


def test_traces_are_evicted_by_bytes_and_recent_ones_come_back(folder: Path) -> None:
    backend = LocalBackend(Settings(model_folders=(folder,), trace_memory_bytes=20_000))
    requests = [TraceRequest(model=str(folder / "bert"), text=f"the cat {n}") for n in range(12)]
    traces = [backend.trace(request) for request in requests]
    assert backend.trace(requests[-1]) is traces[-1]
    assert backend.kept_traces.nbytes <= 20_000
    assert backend.kept_traces.get(requests[0].key) is None
    again = backend.recent(requests[0].key)
    assert again is not None
    assert again is not traces[0]
    equal(again, traces[0], atol=1e-6)
    assert backend.recent("unknown") is None


def test_a_trace_larger_than_the_budget_is_computed_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from inference.record import batching

    backend = LocalBackend(Settings(model_folders=(folder,), trace_memory_bytes=20_000))
    trace = backend.trace(TraceRequest(model=str(folder / "bert"), text="the cat"))
    backend.kept_traces.budget = trace.nbytes - 1
    monkeypatch.setattr(batching, "run", lambda *_: pytest.fail("it was computed again"))
    backend.kept_traces.put(trace.id, trace, trace.nbytes)
    assert backend.recent(trace.id) is trace


def test_what_is_admitted_is_kept(folder: Path) -> None:
    for kind in ("bert", "llama", "t5"):
        backend = LocalBackend(Settings(model_folders=(folder,), trace_memory_bytes=60_000))
        limit = backend.loaded(str(folder / kind), None).limit
        request = TraceRequest(model=str(folder / kind), text="the cat " * 90, target="the cat", cut=limit)
        request = request if kind == "t5" else replace(request, target=None)
        trace = backend.trace(request)
        assert len(trace.tokens) == limit
        assert trace.nbytes <= 30_000


def test_two_models_asked_for_together_do_not_both_pass(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each model is checked against the memory that is left after the previous model."""
    from inference.load import loading

    backend = LocalBackend(Settings(model_folders=(folder,), model_memory_bytes=32_120_000))
    kept: list[int] = []
    real = loading.build_model

    def noting(*given: Any) -> Any:
        built = real(*given)
        kept.append(backend.kept_models.nbytes)
        return built

    monkeypatch.setattr(loading, "build_model", noting)
    with ThreadPoolExecutor(2) as pool:
        kinds = [str(folder / kind) for kind in ("bert", "gpt2")]
        list(pool.map(lambda kind: backend.trace(TraceRequest(model=kind, text="a")), kinds))
    assert kept == [0, 0]
    assert len(backend.kept_models) == 1


def test_one_token_of_a_decoder_that_gives_maps_only(tmp_path: Path) -> None:
    """A map of a single cell cannot show the direction of attention, so the kind is detected during loading."""
    from transformers import BloomConfig, BloomModel

    byte_level(tmp_path / "bloom")
    BloomModel(BloomConfig(hidden_size=24, n_layer=2, n_head=3, vocab_size=350)).save_pretrained(tmp_path / "bloom")
    backend = LocalBackend(Settings(model_folders=(tmp_path,)))
    trace = backend.trace(TraceRequest(model=str(tmp_path / "bloom"), text="a"))
    assert (len(trace.tokens), trace.part, trace.model.kind, trace.has_qkv()) == (1, "decoder", "decoder", False)


def test_a_refusal_is_no_recent_trace(backend: LocalBackend) -> None:
    request = TraceRequest(text="word " * 600)
    with pytest.raises(UserError):
        backend.trace(request)
    assert backend.recent(request.key) is None


@pytest.mark.slow
def test_the_way_out_of_a_long_text(backend: LocalBackend) -> None:
    with pytest.raises(UserError, match=r"602 tokens; .* 512") as caught:
        backend.trace(TraceRequest(text="word " * 600))
    cut = caught.value.details["limit"]
    assert caught.value.way_out == "cut"
    assert len(backend.trace(TraceRequest(text="word " * 600, cut=cut)).tokens) == 512


@loop_over(
    ("request_", "sentence"),
    [
        (TraceRequest(text=" "), "The text is empty"),
        (TraceRequest(text="a", pair=""), "second text is empty"),
        (TraceRequest(text="a\0"), "control character"),
        (TraceRequest(text="\ud800"), r"U\+D800"),
        (TraceRequest(text="a", cut=0), "has nothing left"),
        (TraceRequest(text="a", target="b"), "does not generate"),
        (TraceRequest(text="a", edits=(Ablate(6, 0),)), "has 6 layers of 12 heads"),
        (TraceRequest(text="a", edits=(MaskEdge(0, 0, 1, 3),)), r"\b3; .*\b0 to 2\b"),
        (TraceRequest(model="../../etc/passwd", text="a"), "HEADLIGHT_MODEL_FOLDERS"),
        (TraceRequest(model="/etc", text="a"), "HEADLIGHT_MODEL_FOLDERS"),
        (TraceRequest(model="a/b/c", text="a"), "is not a model's name, such as"),
        (TraceRequest(model="a/b", revision="../x", text="a"), "is not a revision"),
    ],
)
def test_refusals(backend: LocalBackend, request_: TraceRequest, sentence: str) -> None:
    with pytest.raises(UserError, match=sentence):
        backend.trace(request_)
    with pytest.raises(UserError, match=sentence):
        backend.traces([request_])


@pytest.mark.slow
def test_from_the_hub_to_a_trace(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gate, real = threading.Event(), Download.fetch
    monkeypatch.setattr(Download, "fetch", lambda download, file: gate.wait(60) and real(download, file))
    with serving() as fake:
        fake.add("someone/tiny", folder / "bert")
        backend = LocalBackend(Settings(endpoint=fake.endpoint, cache=tmp_path))
        request = TraceRequest(model="someone/tiny", text="the cat")
        assert backend.status("someone/tiny") == "absent"
        with pytest.raises(UserError) as caught:
            backend.trace(request)
        assert caught.value.way_out == "download"
        offer = backend.look("someone/tiny")
        download = backend.download(offer)
        assert backend.download(offer) is download
        gate.set()
        assert download.wait(20)
        assert backend.status("someone/tiny") == "here"
        trace = backend.trace(request)
    assert (trace.model.name, trace.tokens) == ("someone/tiny", ("[CLS]", "the", "cat", "[SEP]"))
    assert (request.revision, trace.model.revision) == (None, COMMIT)
    assert backend.status("someone/tiny") == "loaded"


def test_hostile_texts_do_no_harm(backend: LocalBackend) -> None:
    texts = [
        "👨‍👩‍👧‍👦" * 40,
        "<script>alert(1)</script>",
        "מרחב \u202eabc",
        "e\u0301" * 300,
        "x" * 10_000,
        "\U0010ffff a",
    ]
    for text in texts:
        assert len(backend.trace(TraceRequest(text=text, cut=512)).tokens) <= 512
