"""A layer computed again from its weights, equal to the layer's own output within 1e-5."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest
import torch

from attention.record import Record
from attention.walkthrough import trace_layer_steps, weigh_head
from i18n import typeset_number
from inference import LocalBackend, TraceRequest, UserError
from inference.catalogue.listing import catalogue
from inference.files.embedded import TRANSLATOR
from inference.record import capture
from inference.runners.layer import factors, run
from inference.runners.layer_parts import UnsupportedAttention, assemble, rotaries
from inference.settings import Settings
from inference.tasks.whole_pass import LayerQuestion
from tests.support import tinymodels
from tests.support.architectures import BERT, GROUPED, RECORDED, Architecture, build, inputs, named
from tests.support.cases import loop_over
from tests.support.hooks import hooks
from tests.support.present import present

capture.install()
TOLERANCE = 1e-5
TEXTS = [row for row in RECORDED if row.kind in ("encoder", "decoder", "encoder-decoder")]
LATENT = {"kv_lora_rank": 8, "q_lora_rank": 8, "qk_rope_head_dim": 4, "qk_nope_head_dim": 4, "v_head_dim": 8}
UNLISTED = [  # The code names none of these families.
    Architecture("OLMo 2", "olmo2", "decoder", GROUPED),
    Architecture("OLMo", "olmo", "decoder", GROUPED),
    Architecture("Cohere", "cohere", "decoder", GROUPED),
    Architecture("Granite", "granite", "decoder", GROUPED),
    Architecture("GPT-NeoX, one after the other", "gpt_neox", "decoder",
                 {**BERT, "max_position_embeddings": 64, "use_parallel_residual": False}),
    Architecture("Persimmon", "persimmon", "decoder", BERT),
    Architecture("RoBERTa, pre-norm", "roberta-prelayernorm", "encoder", {**BERT, "max_position_embeddings": 64}),
]  # fmt: skip
OTHERWISE = [  # These have another form of attention.
    Architecture("DeepSeek V3", "deepseek_v3", "decoder",
                 {**BERT, **LATENT, "num_key_value_heads": 3, "n_routed_experts": 4, "moe_intermediate_size": 8,
                  "n_group": 1, "topk_group": 1, "num_experts_per_tok": 2, "n_shared_experts": 1}),
    Architecture("MobileBERT", "mobilebert", "encoder",
                 {**BERT, "embedding_size": 24, "intra_bottleneck_size": 24, "true_hidden_size": 24}),
]  # fmt: skip
# The last step of each architecture's block, and True for pre-norm, by its paper or code.
SHAPES = {
    "BERT": ("norm", False), "RoBERTa": ("norm", False), "ELECTRA": ("norm", False), "DistilBERT": ("norm", False),
    "ALBERT": ("norm", False), "NomicBERT": ("norm", False), "BART": ("norm", False), "Marian": ("norm", False),
    "GPT-2": ("sum", True), "Llama": ("sum", True), "Gemma": ("sum", True), "Gemma 2": ("sum", True),
    "Qwen 3": ("sum", True), "T5": ("sum", True), "mBART": ("sum", True), "OPT": ("sum", True),
    "OLMo 2": ("sum", False), "GPT-NeoX": ("beside", True), "Cohere": ("beside", True),
    "GPT-NeoX, one after the other": ("sum", True), "RoBERTa, pre-norm": ("sum", True),
}  # fmt: skip


def parts_of(row: Architecture) -> Any:
    if row.kind == "encoder-decoder":
        return ("encoder", "decoder", "cross")
    return ("decoder",) if row.kind == "decoder" or row.name == "CLIP, text" else ("encoder",)


READY: dict[str, Any] = {}


def ready(row: Architecture) -> Any:
    """Return a cached model of the row; tests leave it unchanged."""
    if repr(row) not in READY:
        capture.prepare(model := build(row, capture.NAME))
        READY[repr(row)] = model
    return READY[repr(row)]


def apart(row: Architecture, part: str, layer: int, length: int = 7) -> Any:
    """Return the components of a layer of a tiny model, and its record."""
    model = ready(row)
    record, watch = run(model, inputs(row, (length,)), part, layer)
    return assemble(record, watch, rotaries(model), factors(record)), record


@pytest.mark.slow
@loop_over("layer", [0, 1])
@loop_over("row", TEXTS + UNLISTED, ids=[row.name for row in TEXTS + UNLISTED])
def test_a_layer_put_together_again_gives_its_own_output(row: Any, layer: int) -> None:
    for part in parts_of(row):
        found, record = apart(row, part, layer)
        way = trace_layer_steps(found.wiring, record, found.stream, found.memory)
        assert way.last.shape == found.output.shape
        np.testing.assert_allclose(way.last, found.output, atol=TOLERANCE, rtol=0)
        assert np.ptp(found.output) > 0.1, "a layer of zeros would prove nothing"
        queries = way.query.last * np.float32(found.wiring.query.factor)
        np.testing.assert_allclose(queries, record.query, atol=TOLERANCE)
        np.testing.assert_allclose(way.value.last, record.value, atol=TOLERANCE)
        rows = np.arange(record.queries)
        for head in range(record.heads):
            weights = weigh_head(found.wiring, record, way.query, way.key, head, rows).weights
            np.testing.assert_allclose(weights, record.weights(head), atol=TOLERANCE)
        assert (found.memory is not None) == (part == "cross")


@loop_over("name", SHAPES)
def test_norms_and_sums_stand_where_the_architecture_has_them(name: Any) -> None:
    row = next(row for row in TEXTS + UNLISTED if row.name == name)
    for part in parts_of(row):
        wiring = apart(row, part, 1)[0].wiring
        assert (wiring.ends, wiring.before is not None) == SHAPES[name], part
        assert (wiring.closing is not None) == (wiring.ends == "norm")
        assert (wiring.after is not None) == (name in ("Gemma 2", "OLMo 2"))


@pytest.mark.slow
def test_rotary_positions_and_norms_of_heads_are_found_where_they_are() -> None:
    turned = {row.name for row in TEXTS if apart(row, parts_of(row)[0], 1)[0].wiring.query.rotary is not None}
    llamas = {"Llama", "Mistral", "Gemma", "Gemma 2", "Gemma 3", "Qwen 2", "Qwen 3", "Phi 3", "gpt-oss", "GPT-NeoX"}
    assert turned == llamas | {"ESM", "ModernBERT", "NomicBERT", "EuroBERT"}
    assert apart(named("Qwen 3"), "decoder", 0)[0].wiring.query.norm.wide is False
    assert apart(UNLISTED[0], "decoder", 0)[0].wiring.query.norm.wide is True
    assert apart(named("Llama"), "decoder", 0)[0].wiring.query.norm is None
    assert apart(named("ESM"), "encoder", 0)[0].wiring.query.factor == pytest.approx(8**-0.5)


def test_what_the_model_computes_is_not_what_is_compared_with() -> None:
    """The steps are computed from weights and input only, so changed weights give another output."""
    found, record = apart(named("BERT"), "encoder", 0)
    before = trace_layer_steps(found.wiring, record, found.stream).last
    moved = found.wiring.value.weight.copy()
    moved[0, 0, 0] += 1
    object.__setattr__(found.wiring.value, "weight", moved)
    assert np.abs(trace_layer_steps(found.wiring, record, found.stream).last - before).max() > 1e-3


@pytest.mark.parametrize("row", OTHERWISE, ids=[row.name for row in OTHERWISE])
def test_an_attention_of_another_form_is_named(row: Any) -> None:
    with pytest.raises(UnsupportedAttention, match=r"matrix|makes"):
        apart(row, parts_of(row)[0], 1)


def test_a_shared_layer_is_taken_at_its_own_turn() -> None:
    """ALBERT runs the same modules for every layer."""
    first, second = (apart(named("ALBERT"), "encoder", layer)[0] for layer in (0, 1))
    assert not np.allclose(first.stream, second.stream)
    np.testing.assert_array_equal(first.wiring.query.weight, second.wiring.query.weight)


@pytest.mark.slow
def test_other_threads_passes_are_not_taken_for_this_one() -> None:
    row = named("BERT")
    model = build(row, capture.NAME)
    capture.prepare(model)
    before = hooks(model)
    stop = threading.Event()

    def others() -> None:
        given = inputs(row, (9,))
        with torch.inference_mode():
            while not stop.is_set():
                model(**given)

    alone = apart(row, "encoder", 1)[0]
    thread = threading.Thread(target=others)
    thread.start()
    try:
        for _ in range(20):
            record, watch = run(model, inputs(row), "encoder", 1)
            found = assemble(record, watch, [], (1.0,))
            np.testing.assert_array_equal(found.stream, alone.stream)
            np.testing.assert_array_equal(found.output, alone.output)
    finally:
        stop.set()
        thread.join()
    assert hooks(model) == before


# --- Through the backend


@pytest.fixture(scope="module")
def backend() -> LocalBackend:
    return LocalBackend()


SENTENCES = [("The animal didn't cross the street because it was too tired.", None), ("The cat sat.", "It was tired.")]
ENCODERS = [card.id for card in catalogue(Settings()) if card.embedded and card.kind == "encoder"]


@pytest.mark.slow
@pytest.mark.parametrize(("text", "pair"), SENTENCES, ids=["one", "pair"])
@pytest.mark.parametrize("model", ENCODERS)
def test_the_law_holds_for_every_embedded_encoder(backend: LocalBackend, model: Any, text: Any, pair: Any) -> None:
    trace = backend.trace(TraceRequest(model=model, text=text, pair=pair))
    for layer, record in enumerate(trace.records()):
        found = backend.inspect(LayerQuestion(model=model, text=text, pair=pair, layer=layer))
        assert found.ids == trace.source.ids
        assert isinstance(record, Record)
        way = trace_layer_steps(found.wiring, record, found.stream, found.memory)
        away = np.abs(way.last - found.output).max()
        assert away <= TOLERANCE
        assert found.largest == pytest.approx(away, abs=1e-6)
        assert found.compared == len(trace.tokens)
        arrays = [found.stream, found.output, *found.wiring.arrays()]
        assert not any(array.flags.writeable for array in arrays)
        assert len(arrays) == 12, "four matrices with biases, and one norm's weight and bias"


@pytest.mark.slow
@pytest.mark.parametrize("part", ["encoder", "decoder", "cross"])
def test_the_law_holds_for_every_part_of_the_embedded_translator(backend: LocalBackend, part: str) -> None:
    text = "The black cat sleeps under the table."
    trace = backend.trace(TraceRequest(model=TRANSLATOR, text=text))
    written = present(trace.target).ids
    for layer, record in enumerate(trace.records(part)):
        found = backend.inspect(LayerQuestion(model=TRANSLATOR, text=text, part=part, layer=layer, target=written))
        assert isinstance(record, Record)
        away = np.abs(trace_layer_steps(found.wiring, record, found.stream, found.memory).last - found.output).max()
        assert away <= TOLERANCE
        assert found.largest == pytest.approx(away, abs=1e-6)


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("models")
    return folder, LocalBackend(Settings(model_folders=(folder,)))


def folder_of(tiny: Any, kind: str) -> str:
    folder = tiny[0] / kind
    return str(folder if folder.exists() else tinymodels.save(folder, kind))


@pytest.mark.parametrize("part", ["encoder", "decoder", "cross"])
def test_a_model_with_two_sides_reads_the_target_it_is_given(tiny: Any, part: str) -> None:
    model, backend = folder_of(tiny, "t5"), tiny[1]
    trace = backend.trace(TraceRequest(model=model, text="The cat sat.", target="Le chat dort."))
    asked = LayerQuestion(model=model, text="The cat sat.", target=trace.target.ids, part=part, layer=1)
    found = backend.inspect(asked)
    way = trace_layer_steps(found.wiring, trace.records(part)[1], found.stream, found.memory)
    np.testing.assert_allclose(way.last, found.output, atol=TOLERANCE)
    assert found.output.shape == (len(trace.token_rows(part)[0]), 24)


def test_a_cut_text_is_cut(backend: LocalBackend) -> None:
    found = backend.inspect(LayerQuestion(text="One two three four five six.", cut=5))
    assert len(found.ids) == len(found.stream) == 5


def test_maps_only_are_refused_in_a_sentence(tiny: Any) -> None:
    with pytest.raises(UserError, match=r"DebertaV2Model .*code"):
        tiny[1].inspect(LayerQuestion(model=folder_of(tiny, "deberta"), text="a cat"))


@pytest.mark.parametrize("changes", [{"layer": 6}, {"part": "decoder"}, {"layer": -1}])
def test_a_layer_that_there_is_not_is_refused(backend: LocalBackend, changes: Any) -> None:
    layer, part = changes.get("layer", 0), changes.get("part", "encoder")
    with pytest.raises(
        UserError, match=rf"layer {typeset_number(str(layer))}: the {part} has (6|no such part), .*\b0\b"
    ):
        backend.inspect(LayerQuestion(**{"text": "a cat", **changes}))


def test_the_same_question_is_answered_once(backend: LocalBackend) -> None:
    asked = LayerQuestion(text="A cat sat there.", layer=3)
    assert backend.inspect(asked) is backend.inspect(LayerQuestion(text="A cat sat there.", layer=3))
