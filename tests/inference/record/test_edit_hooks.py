"""Edits inside the attention: their effects, bit-identical values elsewhere, and isolation between texts."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.masking_utils import sdpa_mask

from attention.edits import Ablate, MaskEdge, MaskKey, Uniform, ZeroValue, pack, unpack
from attention.record import Record
from inference import UserError
from inference.record import capture
from inference.record.attention_call import CROSS, DECODER
from inference.record.attention_function import PATH
from inference.record.edit_hooks import apply_edits
from tests.support.architectures import EVERY_RECORDED, MAPS_ONLY, Architecture, build, inputs, named
from tests.support.cases import loop_over

capture.install()
TEXTS = [row for row in EVERY_RECORDED if row.kind in ("encoder", "decoder", "encoder-decoder")]
IDS = [row.name for row in TEXTS]
BY_HAND = "edited_by_hand"
CALLS = {"DiffLlama": 2}  # The number of attention calls per layer, if more than 1.


READY: dict[str, Any] = {}


def ready(row: Architecture) -> Any:
    """Return a cached model of the row; edits leave it unchanged."""
    if repr(row) not in READY:
        model = build(row, capture.NAME)
        assert capture.prepare(model)
        READY[repr(row)] = model
    return READY[repr(row)]


def output(model: Any, given: Any, edits: Any = ()) -> Any:
    """Return the model's output, shape (text, token, channel), under the edits of each text."""
    with apply_edits(model, edits), torch.inference_mode():
        return model(**given)[0]


# -- Against plain attention with the edit made by hand


class ByHand:
    """Plain attention with an edited head in a single call, identified by the module's path."""

    def __init__(self) -> None:
        self.edit: Any = None
        self.call = -1
        self.each = 1
        self.calls: list[str] = []

    def __call__(  # noqa: PLR0913  # The signature is that of transformers.
        self,
        module: Any,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        mask: Tensor | None,
        scaling: float | None = None,
        is_causal: bool | None = None,
        position_bias: Tensor | None = None,
        softcap: float | None = None,
        s_aux: Tensor | None = None,
        **_extra: Any,
    ) -> Any:
        groups = query.shape[1] // key.shape[1]
        key, value = key.repeat_interleave(groups, 1), value.repeat_interleave(groups, 1)
        scores = query @ key.mT * (query.shape[-1] ** -0.5 if scaling is None else scaling)
        scores = scores if softcap is None else softcap * torch.tanh(scores / softcap)
        scores = scores if position_bias is None else scores + position_bias
        causal = getattr(module, "is_causal", True) if is_causal is None else is_causal
        if mask is not None:
            scores = scores.masked_fill(~mask, -torch.inf) if mask.dtype == torch.bool else scores + mask
        elif causal:
            scores = scores.masked_fill(torch.ones(scores.shape[2:]).tril() == 0, -torch.inf)
        mine = len(self.calls) // self.each == self.call
        self.calls.append(getattr(module, PATH, ""))
        if mine and isinstance(self.edit, MaskEdge):
            scores[:, self.edit.head, self.edit.query, self.edit.key] = -torch.inf
        if mine and isinstance(self.edit, MaskKey):
            scores[..., self.edit.key] = -torch.inf
        whole = (
            scores
            if s_aux is None
            else torch.cat([scores, s_aux.reshape(1, -1, 1, 1).expand(*scores.shape[:3], 1)], -1)
        )
        weights = whole.softmax(-1)[..., : scores.shape[-1]].nan_to_num()
        if mine and isinstance(self.edit, Uniform):
            allowed = (scores[:, self.edit.head] > -1e30).float()
            weights[:, self.edit.head] = allowed / allowed.sum(-1, keepdim=True)
        if mine and isinstance(self.edit, ZeroValue):
            value = value.clone()
            value[:, :, self.edit.key] = 0
        result = weights @ value
        if mine and isinstance(self.edit, Ablate):
            result[:, self.edit.head] = 0
        return result.transpose(1, 2).contiguous(), None


HAND = ByHand()
AttentionInterface.register(BY_HAND, HAND)
AttentionMaskInterface.register(BY_HAND, sdpa_mask)


def plainly(row: Architecture, given: Any) -> Any:
    """Return the row's model with plain attention, and the paths of the attention calls of a pass."""
    model = build(row, BY_HAND)
    for path, module in model.named_modules():
        setattr(module, PATH, path)
    HAND.edit, HAND.call, HAND.calls, HAND.each = None, -1, [], CALLS.get(row.name, 1)
    with torch.inference_mode():
        model(**given)
    return model, HAND.calls[:: HAND.each]


def by_hand(model: Any, given: Any, call: int, edit: Any) -> Any:
    """Return the model's output with the edit made by hand in that call."""
    HAND.edit, HAND.call, HAND.calls = edit, call, []
    with torch.inference_mode():
        return model(**given)[0]


def belongs(row: Architecture, path: str) -> Any:
    if CROSS.search(path):
        return "cross"
    if row.kind == "encoder-decoder":
        return "decoder" if DECODER.search(path) else "encoder"
    return ""


def parts_of(row: Architecture) -> Any:
    return ("encoder", "decoder", "cross") if row.kind == "encoder-decoder" else ("",)


@pytest.mark.slow
@loop_over("row", TEXTS, ids=IDS)
def test_every_edit_equals_the_change_made_by_hand(row: Any) -> None:
    model, given = ready(row), inputs(row)
    plain, (hand, calls) = output(model, given), plainly(row, given)
    for part in parts_of(row):
        places = [at for at, path in enumerate(calls) if belongs(row, path) == part]
        for edit in (
            Ablate(1, 2, part),
            MaskEdge(1, 1, 4, 2, part),
            Uniform(0, 1, part),
            MaskKey(1, 2, part),
            ZeroValue(0, 1, part),
        ):
            edited = output(model, given, [[edit]])
            assert (edited - plain).abs().max() > 1e-5, f"{edit} changes something"
            torch.testing.assert_close(edited, by_hand(hand, given, places[edit.layer], edit), atol=2e-5, rtol=0)


# -- The input of W_O


W_O = {"BERT": "attention.output.dense", "Llama": "o_proj", "Gemma 2": "o_proj", "gpt-oss": "o_proj",
       "GPT-2": "attn.c_proj", "T5": "SelfAttention.o"}  # fmt: skip


@loop_over(("name", "ending"), W_O.items())
def test_ablating_zeroes_its_slice_of_what_enters_w_o_and_nothing_else(name: Any, ending: Any) -> None:
    row = named(name)
    model, given = ready(row), inputs(row)

    def entering(edits: Any) -> Any:
        found = []
        hooks = [module.register_forward_pre_hook(lambda _module, args: found.append(args[0].clone()))
                 for path, module in model.named_modules() if path.endswith(ending)]  # fmt: skip
        output(model, given, edits)
        for hook in hooks:
            hook.remove()
        return found

    before, after = entering(()), entering([[Ablate(1, 2)]])
    width = before[1].shape[-1] // model_heads(model)
    slice_of = slice(2 * width, 3 * width)
    assert torch.equal(before[0], after[0])
    assert not after[1][..., slice_of].any()
    assert before[1][..., slice_of].any()
    for others in (slice(0, slice_of.start), slice(slice_of.stop, None)):
        assert torch.equal(after[1][..., others], before[1][..., others])


def model_heads(model: Any) -> Any:
    return getattr(model.config, "num_attention_heads", None) or model.config.num_heads


# -- Maps under edits


@loop_over("name", ["BERT", "Llama", "T5", "Gemma 2", "gpt-oss", "ModernBERT"])
def test_a_cut_edge_has_no_weight_and_the_others_share_what_it_had(name: str) -> None:
    row = named(name)
    model, given = ready(row), inputs(row)
    part = next(iter(capture.record_parts(model, given)[0]))
    layer, head, query = 1, 2, 4
    before = capture.record_parts(model, given)[0][part][layer]
    key = int(before.weights(head)[query].argmax())
    [edited] = capture.record_parts(model, given, edits=[[MaskEdge(layer, head, query, key)]])
    after = edited[part][layer]
    weights = before.weights(head)
    assert after.weights(head)[query, key] == 0
    rest = weights[query].copy()
    rest[key] = 0
    assert isinstance(before, Record)
    if before.sinks is None:
        np.testing.assert_allclose(after.weights(head)[query], rest / rest.sum(), atol=1e-6)
    else:  # The freed weight is shared with the sink too.
        sink = 1 - weights[query].sum()
        np.testing.assert_allclose(after.weights(head)[query], rest / (rest.sum() + sink), atol=1e-5)
    others = np.arange(before.queries) != query
    np.testing.assert_allclose(after.weights(head)[others], weights[others], atol=1e-6)
    for other in set(range(before.heads)) - {head}:
        np.testing.assert_array_equal(after.weights(other), before.weights(other))


@pytest.mark.parametrize("name", ["BERT", "Llama", "T5", "gpt-oss", "Mistral"])
def test_an_even_head_looks_at_all_it_may_look_at_alike(name: str) -> None:
    row = named(name)
    model, given = ready(row), inputs(row)
    [edited] = capture.record_parts(model, given, edits=[[Uniform(1, 2)]])
    record = next(iter(edited.values()))[1]
    weights = record.weights(2)
    allowed = weights > 0
    np.testing.assert_allclose(weights, allowed / allowed.sum(1, keepdims=True), atol=1e-6)
    plain = next(iter(capture.record_parts(model, given)[0].values()))[1]
    np.testing.assert_array_equal(allowed, plain.weights(2) > 0)


def test_a_row_that_may_look_at_nothing_more_is_zero_and_no_number_breaks() -> None:
    model, given = ready(named("BERT")), inputs(named("BERT"))
    edits = [[MaskEdge(0, 1, 3, key) for key in range(7)]]
    [edited] = capture.record_parts(model, given, edits=edits)
    assert not edited["encoder"][0].weights(1)[3].any()
    assert torch.isfinite(output(model, given, edits)).all()


def test_an_ablated_head_still_shows_where_it_looked() -> None:
    model, given = ready(named("BERT")), inputs(named("BERT"))
    [plain], [edited] = (capture.record_parts(model, given, edits=edits) for edits in ((), [[Ablate(0, 1)]]))
    np.testing.assert_array_equal(edited["encoder"][0].weights(1), plain["encoder"][0].weights(1))
    assert not np.array_equal(edited["encoder"][1].weights(1), plain["encoder"][1].weights(1))


# -- Batches and threads


@pytest.mark.parametrize("name", ["BERT", "Llama", "T5", "Gemma 2", "gpt-oss"])
def test_a_batch_of_edits_equals_one_by_one(name: str) -> None:
    row = named(name)
    model, given = ready(row), inputs(row)
    edits = [[], [Ablate(0, 0)], [MaskEdge(1, 2, 4, 1)], [Uniform(1, 1), Ablate(1, 0)], [Ablate(0, 0), Ablate(0, 2)]]
    many = {name: tensor.expand(len(edits), *tensor.shape[1:]) for name, tensor in given.items()}
    together = output(model, many, edits)
    assert together.unique(dim=0).shape[0] == len(edits)
    for sample, mine in enumerate(edits):
        torch.testing.assert_close(together[sample], output(model, given, [mine])[0], atol=1e-5, rtol=0)


def test_without_edits_nothing_changes_bit_for_bit() -> None:
    for row in TEXTS:
        model, given = ready(row), inputs(row)
        assert torch.equal(output(model, given), output(model, given, [[]]))


def test_threads_do_not_mix_their_edits() -> None:
    model, given = ready(named("BERT")), inputs(named("BERT"))
    edits = [(), [[Ablate(0, 1)]], [[Ablate(1, 2)]], [[Uniform(0, 0)]]]
    expected = [output(model, given, mine) for mine in edits]
    gate, right = threading.Barrier(len(edits)), []

    def work(at: Any) -> None:
        for _ in range(20):
            gate.wait()
            right.append(torch.equal(output(model, given, edits[at]), expected[at]))

    threads = [threading.Thread(target=work, args=[at]) for at in range(len(edits))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert right == [True] * 80


# -- Errors and links


@pytest.mark.parametrize(
    ("edit", "sentence"),
    [(Ablate(2, 0), "2 layers of 3 heads"), (Ablate(0, 3), "2 layers of 3 heads"),
     (Uniform(0, 0, "cross"), "no such part")],
)  # fmt: skip
def test_what_a_model_does_not_have_is_refused(edit: Any, sentence: str) -> None:
    model, given = ready(named("BERT")), inputs(named("BERT"))
    with pytest.raises(UserError, match=sentence):
        output(model, given, [[edit]])


def test_models_that_attend_in_code_of_their_own_refuse_edits() -> None:
    model = build(MAPS_ONLY[0], capture.NAME)
    assert not capture.prepare(model)
    with pytest.raises(UserError, match="own code"):
        capture.record_parts(model, inputs(MAPS_ONLY[0]), edits=[[Ablate(0, 0)]])


@pytest.mark.parametrize("packed", ["", "a3-1", "u0-0,a3-1,c2-4-5-7", "ax1-2,cd0-1-2-3,ue5-11", "h3-5,mx0-12"])
def test_links_name_edits(packed: str) -> None:
    assert pack(unpack(packed)) == packed


@loop_over("packed", ["a3", "c1-2-3", "a1-2-3-4", "h1-2-3", "b1-2", "a-1-2", "az1-2", "a1-2;a2-3", "a12345-1"])
def test_a_damaged_link_is_said(packed: str) -> None:
    with pytest.raises(ValueError, match="an edit"):
        unpack(packed)
