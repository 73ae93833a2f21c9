"""A model of the same architecture with weights that were never trained: what a finding is compared with."""

from __future__ import annotations

from typing import Any

import torch

SEED = 1


def init_random_model(auto: Any, config: Any, implementation: str, seed: int = SEED) -> Any:
    """The architecture of a configuration with random weights, drawn as before training; the same for the same seed.

    Other threads' random numbers are not touched, but they may be drawn from while this one is seeded: hold
    ``building.BUILDING``, under which every model is made.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return auto.from_config(config, attn_implementation=implementation, dtype=torch.float32)
