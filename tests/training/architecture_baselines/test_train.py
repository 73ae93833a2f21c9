"""Training runs of the baselines: reproducibility, progress and measurements."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from training.architecture_baselines import training
from training.architecture_baselines.models import SequenceModel
from training.architecture_baselines.training import TASKS, Ids
from training.jobs.baseline_runs import LOOKED_BACK, MODELS, BaselineRequest


@pytest.mark.parametrize("model", MODELS)
def test_a_seed_gives_the_same_weights_and_another_one_others(model: str) -> None:
    def weights(seed: int) -> torch.Tensor:
        network = training.build_network(BaselineRequest("recall", model, seed=seed))
        assert [step for step, _ in training.train(network, TASKS["recall"], seed, 3)] == [1, 2, 3]
        return torch.cat([part.detach().flatten() for part in network.parameters()])

    assert torch.equal(weights(1), weights(1))
    assert not torch.equal(weights(1), weights(2))


@pytest.mark.slow
def test_a_run_learns_and_says_what_it_found() -> None:
    heard: list[tuple[int, float]] = []
    run = training.run(
        BaselineRequest("parity", "lstm", seed=2, steps=120), lambda step, loss: heard.append((step, loss))
    )
    assert tuple(heard) == run.losses
    assert [step for step, _ in run.losses] == [40, 80, 120]
    assert run.losses[-1][1] < run.losses[0][1]
    assert run.accuracy[0][1] > run.chance + 0.2
    assert len(run.before) == len(run.after) == LOOKED_BACK
    assert run.before != run.after


class Copies(SequenceModel):
    """A network that predicts at each position the id that it reads there."""

    def inside(self, vectors: torch.Tensor) -> torch.Tensor:
        return vectors

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.one_hot(ids, self.scores.out_features).float()


def echo(_dice: np.random.Generator, rows: int, distance: int) -> tuple[Ids, Ids]:
    """Return rows with the token itself as the target, except at the last position."""
    ids = np.tile(np.arange(distance) % 2, (rows, 1))
    targets = ids.copy()
    targets[:, -1] = 1 - ids[:, -1]
    return ids, targets


def test_of_a_running_task_the_last_answer_counts_and_else_all_of_them() -> None:
    network, task = Copies(2, 32), replace(TASKS["parity"], draw=echo)
    assert training.accuracy(network, task, (4,)) == ((4, 0.0),)
    assert training.accuracy(network, replace(task, running=False), (4,)) == ((4, 0.75),)
    assert training.accuracy(network, replace(task, least=5), (4,)) == ()


def test_the_gradient_of_what_adds_vectors_up_is_the_same_at_every_place() -> None:
    class Adds(SequenceModel):
        def inside(self, vectors: torch.Tensor) -> torch.Tensor:
            return vectors.cumsum(1)

    network = Adds(2, 32)
    weight = network.scores.weight
    by_hand = (weight[0] - weight[1]).norm().item() / 2  # The gradient belongs to one score minus the mean of both.
    assert training.gradient(network, TASKS["parity"], 5) == pytest.approx([by_hand] * 5, rel=5e-3)


def test_every_network_s_time_is_taken_at_every_length() -> None:
    found = training.times(lengths=(2, 3))
    assert set(found) == set(MODELS)
    assert {tuple(length for length, _ in points) for points in found.values()} == {(2, 3)}
    assert all(ms > 0 for points in found.values() for _, ms in points)
