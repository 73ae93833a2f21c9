"""Shells over the weights of a model, for every family and its usual attention; the model stays unchanged."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from transformers import AutoConfig, AutoModel

from inference.load.shared_weights import copy_for_recording
from inference.record import capture
from tests.support.architectures import EVERY_RECORDED, MAPS_ONLY, Architecture
from tests.support.cases import loop_over


def told(model: Any) -> Any:
    """Return a module's state apart from the values of its tensors."""
    modules = [(path, module.training, sorted(vars(module))) for path, module in model.named_modules()]
    tensors = [(id(t), t.requires_grad, t.device) for t in (*model.parameters(), *model.buffers())]
    return modules, tensors, str(vars(model.config))


@pytest.mark.slow
@loop_over("row", [*EVERY_RECORDED, *MAPS_ONLY], ids=lambda row: row.name)
def test_nothing_is_left_on_a_model(row: Architecture) -> None:
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = AutoModel.from_config(AutoConfig.for_model(row.model_type, **row.config)).train()
    before = told(model)
    made = copy_for_recording(model)
    assert told(model) == before
    assert getattr(made, capture.RECORDS) == (row in EVERY_RECORDED)
    ours, theirs = (sum(p.nbytes for p in {p.data_ptr(): p for p in m.parameters()}.values()) for m in (made, model))
    assert ours == theirs
    assert {p.data_ptr() for p in made.parameters()} == {p.data_ptr() for p in model.parameters()}
