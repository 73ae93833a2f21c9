"""Events that are recorded of a block, in their order."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn

from inference.record.attention_function import Tape
from inference.runners.layer_parts import watch_block
from tests.support.hooks import hooks
from tests.support.present import present


class Block(nn.Module):
    """A block of a linear layer, a counted attention, a second linear layer, and a norm changed in place."""

    def __init__(self, tape: Any) -> None:
        super().__init__()
        self.tape = tape
        self.first, self.second, self.norm, self.drop = nn.Linear(3, 4), nn.Linear(4, 3), nn.LayerNorm(3), nn.Dropout()

    def forward(self, x: Any) -> Any:
        between = self.first(x)
        self.tape.calls.append("attention")
        after = self.second(between)
        return (self.norm(after).mul_(2), "something else")


def test_the_calls_of_the_wanted_turn_are_kept_in_order() -> None:
    tape = Tape()
    block = Block(tape)
    texts = [torch.randn(1, 5, 3) for _ in range(3)]
    with torch.inference_mode(), watch_block(block, "layers.0", tape, 1) as watch:
        outputs = [block(x)[0] for x in texts]
    assert [(event.path, event.after) for event in watch.events] == [
        ("layers.0.first", 1),
        ("layers.0.second", 2),
        ("layers.0.norm", 2),
    ]
    assert watch.events[0].given.shape == (5, 3)
    assert watch.events[0].given.tolist() == texts[1][0].tolist()
    assert present(watch.output).tolist() == outputs[1][0].tolist()
    assert watch.events[2].gave.tolist() == (outputs[1][0] / 2).tolist(), "as it was when the module gave it"


def test_every_hook_is_taken_off_again_whatever_happens() -> None:
    tape = Tape()
    block = Block(tape)
    with pytest.raises(ZeroDivisionError), watch_block(block, "", tape, 0):
        raise ZeroDivisionError
    assert hooks(block) == 0


def test_batches_and_whole_numbers_are_left_out() -> None:
    tape = Tape()
    block = Block(tape)
    with torch.inference_mode(), watch_block(block, "", tape, 0) as watch:
        block(torch.randn(2, 5, 3))
    assert watch.events == []
