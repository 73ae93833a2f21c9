"""Several texts in a single forward pass, equal to separate passes."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest

from attention.edits import MaskEdge
from inference.errors import UserError
from inference.files.sources import ModelSource
from inference.load.loading import load
from inference.loaded_model import LoadedModel
from inference.record import batching
from inference.request import TraceRequest
from inference.settings import Settings
from inference.write.target_text import prepare
from tests.support.cases import loop_over
from tests.support.tinymodels import TEXT, save

pytestmark = pytest.mark.filterwarnings("ignore:Recommended. pip install sacremoses")
KINDS = ["bert", "deberta", "roberta", "gpt2", "llama", "t5", "marian"]
TEXTS = ["a", "The cat sat.", TEXT[1][:25], "it was the street"]


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, LoadedModel]:
    root = tmp_path_factory.mktemp("models")
    return {kind: load(ModelSource(kind, None, save(root / kind, kind)), Settings()) for kind in KINDS}


def samples(loaded: LoadedModel, *requests: TraceRequest) -> list[batching.Sample]:
    return [prepare(loaded, request, request.key, nullcontext()) for request in requests]


def same(one: object, other: object) -> None:
    assert one.source == other.source  # type: ignore[attr-defined]
    assert one.target == other.target  # type: ignore[attr-defined]
    assert one.parts.keys() == other.parts.keys()  # type: ignore[attr-defined]
    for part, records in one.parts.items():  # type: ignore[attr-defined]
        for mine, theirs in zip(records, other.parts[part], strict=True):  # type: ignore[attr-defined]
            for head in range(mine.heads):
                np.testing.assert_allclose(mine.weights(head), theirs.weights(head), atol=1e-5)


@pytest.mark.slow
@loop_over("kind", KINDS)
def test_a_padded_batch_equals_single_texts(models: dict[str, LoadedModel], kind: str) -> None:
    requests = [TraceRequest(text=text) for text in TEXTS]
    if models[kind].id.kind == "encoder":
        requests += [TraceRequest(text="the cat", pair="it was"), TraceRequest(text="it", pair="was")]
    if models[kind].id.kind == "encoder-decoder":
        requests += [TraceRequest(text="The cat", target="Le chat dort."), TraceRequest(text="The", target="Le")]
    prepared = samples(models[kind], *requests)
    together = batching.run(models[kind], prepared)
    assert [trace.id for trace in together] == [request.key for request in requests]
    for sample, trace in zip(prepared, together, strict=True):
        same(batching.run(models[kind], [sample])[0], trace)


@pytest.mark.parametrize("kind", KINDS)
def test_maps_equal_the_models_own(models: dict[str, LoadedModel], kind: str, tmp_path: Path) -> None:
    import torch
    import transformers

    loaded = models[kind]
    sample = samples(loaded, TraceRequest(text="the street was the cat", target="Le chat" if loaded.writes else None))[
        0
    ]
    trace = batching.run(loaded, [sample])[0]
    auto = transformers.AutoModelForSeq2SeqLM if loaded.writes else transformers.AutoModel
    loaded.model.save_pretrained(tmp_path)
    eager = auto.from_pretrained(tmp_path, attn_implementation="eager").eval()
    with torch.inference_mode():
        output = eager(**batching.collate(loaded, [sample]), output_attentions=True)
    own = {part: output.get(f"{part}_attentions") or output.get("attentions") for part in trace.parts}
    for part, records in trace.parts.items():
        for layer, record in enumerate(records):
            mine = np.stack([record.weights(head) for head in range(record.heads)])
            np.testing.assert_allclose(mine, own[part][layer][0].numpy(), atol=1e-5)
            np.testing.assert_allclose(mine.sum(-1), 1, atol=1e-5)


def test_one_token_is_enough(models: dict[str, LoadedModel]) -> None:
    for kind in ("gpt2", "llama"):
        trace = batching.run(models[kind], samples(models[kind], TraceRequest(text="a")))[0]
        assert trace.weights(0, 0).tolist() == [[1.0]]


def test_batches_hold_similar_lengths_within_the_limits(models: dict[str, LoadedModel]) -> None:
    loaded = models["t5"]
    many = samples(loaded, *(TraceRequest(text="a " * n, target="b") for n in [900, 2, 800, 3, 1, *range(4, 60)]))
    found = list(batching.batches(many))
    assert sorted(sample.size for batch in found for sample in batch) == sorted(sample.size for sample in many)
    assert all(len(batch) <= batching.MOST_TEXTS for batch in found)
    assert all(len(batch) == 1 or len(batch) * batch[-1].size <= batching.MOST_TOKENS for batch in found)
    assert max(len(batch) for batch in found) > 10


def test_a_target_for_a_model_that_writes_none(models: dict[str, LoadedModel]) -> None:
    with pytest.raises(UserError, match=r"^bert .* target"):
        samples(models["bert"], TraceRequest(text="a", target="b"))


WRITTEN = (7, 40, 3, 9)


@pytest.mark.parametrize("kind", ["gpt2", "llama", "t5", "marian"])
def test_exact_tokens_are_read_after_the_text(models: dict[str, LoadedModel], kind: str) -> None:
    request = TraceRequest(text="The cat sat", written=WRITTEN)
    several = [request, TraceRequest(text="a", written=(5,)), TraceRequest(text="a small cat", written=())]
    prepared = samples(models[kind], *several)
    together = batching.run(models[kind], prepared)
    for sample, trace in zip(prepared, together, strict=True):
        same(batching.run(models[kind], [sample])[0], trace)
    trace, plain = together[0], batching.run(models[kind], samples(models[kind], TraceRequest(text="The cat sat")))[0]
    if models[kind].id.kind == "decoder":
        assert trace.source.ids == (*plain.source.ids, *WRITTEN)
        assert trace.source.words[: len(plain.source)] == plain.source.words
        assert trace.source.spans[: len(plain.source)] == plain.source.spans
        assert trace.text.startswith("The cat sat")
        assert trace.target is None
        assert trace.target_text is None
        looks = trace.weights(1, 2)
        np.testing.assert_array_equal(np.triu(looks, 1), 0)
        np.testing.assert_allclose(looks[: len(plain.source), : len(plain.source)], plain.weights(1, 2), atol=1e-5)
    else:
        assert trace.source == plain.source
        assert trace.text == "The cat sat"
        assert trace.target is not None
        assert trace.target.ids[1:] == WRITTEN
        assert trace.target_text


def test_written_tokens_that_cannot_be(models: dict[str, LoadedModel]) -> None:
    with pytest.raises(UserError, match=f"^{models['bert'].id.name} "):
        samples(models["bert"], TraceRequest(text="a", written=(5,)))
    with pytest.raises(UserError, match="and tokens"):
        samples(models["t5"], TraceRequest(text="a", target="b", written=(5,)))
    with pytest.raises(UserError, match=r"token 350; .* 0 to 349"):
        samples(models["gpt2"], TraceRequest(text="a", written=(350,)))
    with pytest.raises(UserError, match=r"have 49 tokens; .* 48"):
        samples(models["gpt2"], TraceRequest(text="a", written=(5,) * 48))


def test_edits_wait_for_tokens_that_are_written(models: dict[str, LoadedModel]) -> None:
    far = MaskEdge(0, 1, 20, 2, "decoder")
    for kind in ("gpt2", "t5"):
        plain, edited = samples(
            models[kind], TraceRequest(text="a", written=WRITTEN), TraceRequest(text="a", written=WRITTEN, edits=(far,))
        )
        same(batching.run(models[kind], [plain])[0], batching.run(models[kind], [edited])[0])
    with pytest.raises(UserError, match="no token"):
        samples(models["gpt2"], TraceRequest(text="a", edits=(far,)))
    with pytest.raises(UserError, match="no token"):
        samples(models["t5"], TraceRequest(text="a", written=WRITTEN, edits=(MaskEdge(0, 1, 20, 2, "encoder"),)))


def test_segments_reach_the_model_only_where_it_has_an_embedding_for_them(models: dict[str, LoadedModel]) -> None:
    pair = TraceRequest(text="a", pair="b")
    assert batching.collate(models["bert"], samples(models["bert"], pair))["token_type_ids"].tolist() == [
        [0, 0, 0, 1, 1]
    ]
    assert "token_type_ids" not in batching.collate(models["roberta"], samples(models["roberta"], pair))
    assert "token_type_ids" not in batching.collate(models["bert"], samples(models["bert"], TraceRequest(text="a")))


def test_batches_keep_to_their_limit_of_tokens(models: dict[str, LoadedModel]) -> None:
    given = samples(models["bert"], *(TraceRequest("bert", " ".join(["cat"] * n)) for n in (1, 9, 2, 8, 30, 3, 2)))
    divided = list(batching.batches(given, 24))
    assert sorted(sample.key for batch in divided for sample in batch) == sorted(sample.key for sample in given)
    assert all(len(batch) == 1 or len(batch) * max(sample.size for sample in batch) <= 24 for batch in divided)
