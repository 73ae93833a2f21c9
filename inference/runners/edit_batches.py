"""Forward passes over a text under many edit sets, several sets in a batch.

The samples of a batch are the same text, each with its own set of edits; a long text gets small batches. If a set has
patches, a pass over the donor text precedes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from attention.edits import Edit, Patch, PatchHead, PatchResidual
from i18n import gettext_lazy
from inference.errors import UserError, as_user_error
from inference.loaded_model import LoadedModel
from inference.pictures.image_processing import tower
from inference.record import edit_hooks, patching
from inference.record.batching import MOST_TOKENS
from inference.record.patching import DonorHook, Notes, PatchHook, RecipientHook, donor_set, replacing_output
from inference.runners.blanks import tensors
from inference.text.encoding import Encoding

MOST_SETS = 2048  # in a request
MOST_NUMBERS = 2**25  # logits of a pass

Set = Sequence[Edit | Patch]


@dataclass(frozen=True)
class ModelInput:
    """The model's input for a text or picture, and its numbers of tokens.

    ``inputs`` has tensors, which are a batch of a single sample, and options of the forward pass. ``looking`` and
    ``looked_at`` map a stack to its number of query tokens and of key tokens.
    """

    inputs: Mapping[str, Any]
    looking: Mapping[str, int]
    looked_at: Mapping[str, int]


def one_text(loaded: LoadedModel, reading: Encoding) -> ModelInput:
    """Return the input of a single text; raise UserError if the model is an encoder-decoder."""
    if loaded.id.kind == "encoder-decoder":
        raise UserError(
            gettext_lazy("{name} reads one text and writes another. Pick an encoder or decoder.", name=loaded.id.name)
        )
    here = dict.fromkeys(("encoder", "decoder"), len(reading.ids))
    return ModelInput(tensors(loaded, reading), here, here)


def refuse_sets(sets: Sequence[Sequence[Any]]) -> None:
    """Raise UserError unless a request has 1 to MOST_SETS sets of edits."""
    if not 1 <= len(sets) <= MOST_SETS:
        raise UserError(
            gettext_lazy(
                "Got {sets} sets of edits; expected 1 to {most}.",
                sets=len(sets),
                most=MOST_SETS,
            )
        )


def outputs(  # noqa: PLR0913  (the model, the input, the sets and options by name)
    loaded: LoadedModel,
    given: ModelInput,
    sets: Sequence[Set],
    other: ModelInput | None = None,
    at: int | None = None,
    recipient: PatchHook | None = None,
) -> Iterator[Any]:
    """Yield the model's outputs (set, …) under the edit sets in order, several sets at a time.

    ``other`` is the donor text. ``at`` is the only token for which the task head's output is needed; if the model
    allows it, the head runs on this token only. ``recipient`` replaces the hook that substitutes a donor's activations,
    so that no donor is needed. Raise UserError if a set does not fit the model or the texts.
    """
    donor = given if recipient is not None else other
    for mine in sets:
        refuse_unfit(loaded.model, mine, given.looking, given.looked_at, {} if donor is None else donor.looking)
    tokens, lender = max(given.looking.values()), None if other is None else other.inputs
    said = 1 if at is None or can_read_one(loaded.model) else loaded.reader.target_vocabulary
    step = max(1, min(MOST_TOKENS // tokens, MOST_NUMBERS // (tokens * said)))
    failed = gettext_lazy("{name} failed on this input. Change it or pick another model.", name=loaded.id.name)
    for start in range(0, len(sets), step):
        with as_user_error(failed), torch.inference_mode(), reading_one(loaded.model, at):
            found = one_pass(loaded.model, given.inputs, sets[start : start + step], lender, recipient)
        yield found


def refuse_unfit(
    model: Any, mine: Set, looking: Mapping[str, int], looked_at: Mapping[str, int], other: Mapping[str, int]
) -> None:
    """Raise UserError if the edit set ``mine`` does not fit the model or the texts.

    ``looking`` and ``looked_at`` map a stack to the numbers of query and key tokens of the text. ``other`` maps it to
    the number of tokens of the donor text; it is empty without a donor.
    """
    changes, takes = split_patches(mine)
    edit_hooks.check(model, changes, looking, looked_at)
    if takes and not other:
        raise UserError("Something was to be taken from another text, and no other text came.", way_out="text")
    patching.check(model, takes, looking, other)


def split_patches(mine: Set) -> tuple[tuple[Edit, ...], tuple[Patch, ...]]:
    """Split a set into edits of the text itself and patches from the donor text."""
    takes = tuple(one for one in mine if isinstance(one, PatchHead | PatchResidual))
    return tuple(one for one in mine if not isinstance(one, PatchHead | PatchResidual)), takes


def one_pass(
    model: Any,
    one: Mapping[str, Any],
    sets: Sequence[Set],
    other: Mapping[str, Tensor] | None = None,
    recipient: PatchHook | None = None,
) -> Any:
    """Return the model's output for a text under several edit sets, from a single pass.

    The output is in the order of the sets. ``one`` is the input of the text, and ``other`` that of the donor text.
    ``recipient`` is the hook that applies the patches; by default, it substitutes the donor's activations.
    """
    changes, takes = zip(*map(split_patches, sets), strict=True)
    notes: Notes = {}
    if other is not None and any(takes):
        lenders = list(dict.fromkeys(map(donor_set, takes)))
        run_growing(
            model,
            other,
            lenders,
            lambda order: patching.patch_activations(model, [lenders[at] for at in order], DonorHook(notes)),
        )

    def changing(order: Sequence[int]) -> AbstractContextManager[object]:
        stack = ExitStack()
        stack.enter_context(edit_hooks.apply_edits(model, [changes[at] for at in order]))
        stack.enter_context(
            patching.patch_activations(model, [takes[at] for at in order], recipient or RecipientHook(notes))
        )
        return stack

    return run_growing(model, one, sets, changing)


def run_growing(
    model: Any,
    one: Mapping[str, Any],
    sets: Sequence[Set],
    changing: Callable[[Sequence[int]], AbstractContextManager[object]],
) -> Any:
    """Return the output of a pass with a sample of the input ``one`` for each edit set.

    The output is in the order of the sets. The pass begins with a single sample, and the sample of a set joins at the
    first layer that the set changes. If the model does not allow this, all samples run from the start. ``changing``
    takes the order of the samples in the batch, and returns a context in which the pass applies their edits.
    """
    layers = getattr(model, edit_hooks.GROWS, None)
    if layers is None:
        many = {
            name: given.expand(len(sets), *given.shape[1:]) if isinstance(given, Tensor) else given
            for name, given in one.items()
        }
        with changing(range(len(sets))):
            return tower(model, many)(**many)
    first = [min((edit.layer for edit in mine), default=0) for mine in sets]
    if all(sets):  # all samples are changed, and a sample joins as a copy of an unchanged sample
        first = [min(first)] * len(sets)
    order = sorted(range(len(sets)), key=lambda at: (bool(sets[at]), first[at]))
    joining = [sum(first[at] == layer for at in order[1:]) for layer in range(layers)]
    with changing(order), edit_hooks.grow_batch(joining):
        output = model(**one)
    back = torch.tensor(order).argsort()
    return type(output)(**{name: value[back] for name, value in output.items() if isinstance(value, Tensor)})


def can_read_one(model: Any) -> bool:
    """Return True if the model's task head can run on a single token, because it is a separate module."""
    return getattr(model, "base_model", model) is not model


@contextmanager
def reading_one(model: Any, at: int | None) -> Iterator[None]:
    """Inside the block, run the task head on the token ``at`` only, if possible.

    The logits are then (text, 1, …). Nothing changes if ``at`` is None. Passes of other threads are not affected.
    """
    if at is None or not can_read_one(model):
        yield
        return

    def only(_module: Any, output: Any) -> Any:
        vectors = output[0]
        if not isinstance(vectors, torch.Tensor) or vectors.ndim != 3:
            return None
        one = vectors[:, at : at + 1]
        if isinstance(output, tuple):
            return (one, *output[1:])
        output["last_hidden_state"] = one
        return output

    with replacing_output(model.base_model, only):
        yield
