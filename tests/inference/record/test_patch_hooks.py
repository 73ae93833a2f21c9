"""Activation patching: no effect between equal texts, and the donor's answer after a full patch."""

from __future__ import annotations

import threading
from contextlib import nullcontext
from typing import Any

import pytest
import torch
from torch import Tensor

from attention.edits import Ablate, Pairs, Patch, PatchHead, PatchResidual, random_patches
from inference import UserError
from inference.record import capture, patching
from inference.record.patching import RecipientHook, donor_set
from inference.runners.edit_batches import one_pass, run_growing
from tests.inference.record.test_edit_hooks import IDS, TEXTS, W_O, model_heads, output, parts_of, ready
from tests.support.architectures import MAPS_ONLY, Architecture, build, inputs, named
from tests.support.cases import loop_over

STREAMS = {"encoder-decoder": ("encoder", "decoder")}  # The stacks with a residual stream of their own.


def another(row: Architecture) -> dict[str, Tensor]:
    """Return another text of the same length; the decoder's input stays the same."""
    given = inputs(row)
    return {**given, "input_ids": (given["input_ids"] + 11) % 33 + 4}


def every(part: str) -> Pairs:
    """Return each position paired with itself: 7 positions, or 5 in a translator's decoder."""
    return tuple((at, at) for at in range(7 if part in ("", "encoder") else 5))


def sets_of(row: Architecture, layers: int) -> list[tuple[Patch, ...]]:
    """Return patch sets for a head, a vector, all vectors and several places, in every layer and part."""
    found: list[tuple[Patch, ...]] = []
    for layer in range(layers):
        found += [(PatchHead(layer, 1, every(part), part),) for part in parts_of(row)]
        found += [(PatchResidual(layer, ((2, 2),), part),) for part in STREAMS.get(row.kind, ("",))]
        found += [(PatchResidual(layer, every(part), part),) for part in STREAMS.get(row.kind, ("",))]
    part = parts_of(row)[-1]
    return [*found, (PatchHead(0, 0, every(part), part), PatchHead(layers - 1, 2, ((1, 1),), part))]


@loop_over("row", TEXTS, ids=IDS)
def test_a_text_that_lends_to_itself_changes_nothing_bit_for_bit(row: Any) -> None:
    model, given = ready(row), inputs(row)
    sets = sets_of(row, 2)
    with torch.inference_mode():
        plain = run_growing(model, given, sets, lambda _order: nullcontext())[0]
        assert torch.equal(one_pass(model, given, sets, given)[0], plain)
        same = [random_patches(taken, seed) for seed, taken in enumerate(sets)]
        drawn = one_pass(model, given, same, given)[0]
    torch.testing.assert_close(drawn, plain, atol=2e-5, rtol=0)  # A random direction of length zero changes nothing.


@pytest.mark.slow
@loop_over("row", TEXTS, ids=IDS)
def test_all_that_enters_a_layer_is_the_other_text_bit_for_bit(row: Any) -> None:
    model, given, other = ready(row), inputs(row), another(row)
    with torch.inference_mode():
        for layer in range(2):
            whole = tuple(PatchResidual(layer, every(part), part) for part in STREAMS.get(row.kind, ("",)))
            sets = [whole, whole]
            expected = run_growing(model, other, sets[:1], lambda _order: nullcontext())[0]
            found = one_pass(model, given, sets[:1], other)[0]
            assert torch.equal(found, expected), layer
            assert (found - output(model, given)).abs().max() > 1e-3, "the texts differ"
            torch.testing.assert_close(one_pass(model, given, sets, other)[0][1:], expected, atol=2e-5, rtol=0)


@pytest.mark.slow
@loop_over("row", TEXTS, ids=IDS)
def test_each_place_matters_and_leaves_the_other_samples_alone(row: Any) -> None:
    model, given, other = ready(row), inputs(row), another(row)
    sets = [(), *sets_of(row, 2), ()]
    with torch.inference_mode():
        found, plain = one_pass(model, given, sets, other)[0], output(model, given)
    for at in (0, len(sets) - 1):
        torch.testing.assert_close(found[at], plain[0], atol=2e-5, rtol=0)
    for mine, one in zip(sets[1:-1], found[1:-1], strict=True):
        # A translator's decoder starts from the same vectors, because its input tokens are the same.
        alike = row.kind == "encoder-decoder" and all(take.part == "decoder" and take.layer == 0 for take in mine)
        change = (one - plain[0]).abs().max()
        assert change < 2e-5 if alike else change > 1e-6, mine
        alone = one_pass(model, given, [mine], other)[0][0]
        torch.testing.assert_close(one, alone, atol=2e-5, rtol=0)


@loop_over(("name", "ending"), W_O.items())
def test_a_head_s_output_is_its_slice_of_what_enters_w_o(name: str, ending: str) -> None:
    row = named(name)
    model, given, other = ready(row), inputs(row), another(row)
    place = [module for path, module in model.named_modules() if path.endswith(ending)][1]
    pairs = ((1, 3), (4, 4))

    def entering(text: dict[str, Tensor], sets: Any) -> Tensor:
        found: list[Tensor] = []
        hook = place.register_forward_pre_hook(lambda _module, args: found.append(args[0].clone()))
        with torch.inference_mode():
            one_pass(model, text, sets, other)
        hook.remove()
        return found[-1][0]

    plain, lent = entering(given, [()]), entering(other, [()])
    width = plain.shape[-1] // model_heads(model)
    expected = plain.clone()
    expected[[1, 4], width : 2 * width] = lent[[3, 4], width : 2 * width]
    taken = entering(given, [(PatchHead(1, 1, pairs),)])
    torch.testing.assert_close(taken, expected, atol=1e-6, rtol=0)
    assert not torch.equal(taken, plain)


def test_a_random_change_is_as_large_as_the_one_it_stands_for() -> None:
    here, there = torch.randn(2, 5, 8, generator=torch.Generator().manual_seed(0))
    take = PatchResidual(0, ((0, 0), (3, 2)), seed=4)
    notes = {(donor_set((take,)), donor_set((take,))[0], 0): there[[0, 2]]}
    found = RecipientHook(notes).apply(here, (take,), take)
    sizes = (found - here).norm(dim=-1)
    torch.testing.assert_close(sizes[[0, 3]], torch.stack([(there[0] - here[0]).norm(), (there[2] - here[3]).norm()]))
    assert torch.equal(found[[1, 2, 4]], here[[1, 2, 4]])
    again = RecipientHook(notes).apply(here, (take,), take)
    other = RecipientHook(notes).apply(here, (take,), PatchResidual(0, take.pairs, seed=5))
    assert torch.equal(found, again)
    assert not torch.allclose(found[0], other[0])


def test_edits_hold_beside_what_is_taken() -> None:
    row = named("BERT")
    model, given, other = ready(row), inputs(row), another(row)
    take = PatchResidual(1, ((2, 2),))
    with torch.inference_mode():
        both = one_pass(model, given, [(Ablate(1, 0), take), (take,), (Ablate(1, 0),)], other)[0]
    assert len({tuple(found.flatten().tolist()) for found in both}) == 3


def test_threads_do_not_mix_what_they_take() -> None:
    row = named("BERT")
    model, given, other = ready(row), inputs(row), another(row)
    sets = [(PatchResidual(layer, every("")),) for layer in (0, 1)]
    expected = [one_pass(model, given, [mine], other)[0] for mine in sets]
    plain, found = output(model, given), {}
    barrier = threading.Barrier(3)

    def work(at: int) -> None:
        barrier.wait(60)
        with torch.inference_mode():
            found[at] = [output(model, given) if at == 2 else one_pass(model, given, [sets[at]], other)[0]
                         for _ in range(8)]  # fmt: skip

    threads = [threading.Thread(target=work, args=(at,)) for at in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    for at, want in enumerate([*expected, plain]):
        for one in found[at]:
            torch.testing.assert_close(one, want, atol=2e-5, rtol=0)


@pytest.mark.parametrize(
    ("take", "sentence"),
    [
        (PatchHead(2, 0, ((0, 0),)), "There is no head 2-0: the encoder has 2 layers of 3 heads"),
        (PatchHead(0, 3, ((0, 0),)), "There is no head 0-3"),
        (PatchResidual(5, ((0, 0),)), "There is no layer 5"),
        (PatchResidual(0, ((0, 0),), "decoder"), "There is no layer 0: the decoder has no such part"),
    ],
)
def test_what_a_model_does_not_have_is_refused(take: Patch, sentence: str) -> None:
    model = ready(named("BERT"))
    with pytest.raises(UserError, match=sentence), patching.patch_activations(model, [(take,)], RecipientHook({})):
        pass


@pytest.mark.parametrize(
    ("pairs", "sentence"),
    [
        ((), "at one token at least"),
        (((7, 0),), "Token 7 of the first text's encoder was named, which has 7 tokens"),
        (((0, 5),), "Token 5 of the second text's encoder was named, which has 5 tokens"),
        (((-1, 0),), "of the first text's encoder"),
    ],
)
def test_tokens_that_are_not_there_are_refused(pairs: Pairs, sentence: str) -> None:
    model = ready(named("BERT"))
    with pytest.raises(UserError, match=sentence):
        patching.check(model, (PatchResidual(0, pairs),), {"encoder": 7}, {"encoder": 5})


def test_a_part_without_vectors_of_its_own_is_refused() -> None:
    model = ready(named("Marian"))
    sets = [(PatchResidual(0, ((0, 0),), "cross"),)]
    with pytest.raises(UserError, match="shares its"), patching.patch_activations(model, sets, RecipientHook({})):
        pass


def test_models_that_attend_in_code_of_their_own_refuse() -> None:
    row = MAPS_ONLY[0]
    model = build(row, "eager")
    capture.prepare(model)
    with (
        pytest.raises(UserError, match="own code"),
        patching.patch_activations(model, [(PatchResidual(0, ((0, 0),)),)], RecipientHook({})),
    ):
        pass


@pytest.mark.parametrize("name", ["DiffLlama", "Llama"])
def test_all_heads_of_a_layer_are_its_whole_attention(name: str) -> None:
    row = named(name)
    model, given, other = ready(row), inputs(row), another(row)
    found: list[Tensor] = []
    handle = model.layers[0].self_attn.register_forward_hook(lambda _module, _args, result: found.append(result[0]))
    heads = tuple(PatchHead(0, head, every("")) for head in range(4))
    with torch.inference_mode():
        output(model, other)
        one_pass(model, given, [heads], other)
    handle.remove()
    torch.testing.assert_close(found[-1], found[0])
