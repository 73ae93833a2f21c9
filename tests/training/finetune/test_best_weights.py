"""Selection and restoration of the best weights."""

from __future__ import annotations

from pathlib import Path

import torch

from training.finetune import trainer
from training.finetune.trainer import Mark


def layer(value: float) -> torch.nn.Linear:
    """Return a linear layer with all parameters set to ``value``."""
    made = torch.nn.Linear(3, 2)
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.fill_(value)
    return made


def test_only_what_is_better_is_kept(tmp_path: Path) -> None:
    assert trainer.read_mark(tmp_path) is None
    tried = [
        (Mark(0.5, -1.0, 1), True),
        (Mark(0.4, -0.1, 1), False),  # A lower score is not better, regardless of its loss.
        (Mark(0.5, -1.0, 2), False),  # An equal mark is not better.
        (Mark(0.5, -0.9, 3), True),  # The loss breaks a tie of scores.
        (Mark(0.75, -2.0, 4), True),
    ]
    for mark, kept in tried:
        assert trainer.save_if_better(tmp_path, layer(float(mark.step)), mark) is kept
    assert trainer.read_mark(tmp_path) == Mark(0.75, -2.0, 4)
    found = layer(9.0)
    trainer.load_best_weights(tmp_path, found)
    assert {value for each in found.state_dict().values() for value in each.flatten().tolist()} == {4.0}
    assert [file.name for file in tmp_path.iterdir()] == ["best.safetensors"]


def test_trained_weights_replace_untrained(tmp_path: Path) -> None:
    assert trainer.save_if_better(tmp_path, layer(0.0), Mark(0.0016, -2.5, 0))
    assert trainer.save_if_better(tmp_path, layer(1.0), Mark(0.0, -0.4, 10))  # All words are tagged O.
    # The loss decides if both scores are near zero.
    assert not trainer.save_if_better(tmp_path, layer(2.0), Mark(0.01, -0.5, 20))
    assert trainer.save_if_better(tmp_path, layer(3.0), Mark(0.1, -0.6, 30))
    assert trainer.read_mark(tmp_path) == Mark(0.1, -0.6, 30)
