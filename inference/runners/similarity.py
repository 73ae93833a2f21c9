"""The cosine similarity of two texts as a table of token pairs.

The tokens are pooled as configured in the model's sentence-transformers folder.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from attention.edits import Edit, Patch, PatchHead
from attention.similarity import FIRST, LAST, MAX, MEAN, POOLINGS, pooling_shares, similarity_table
from i18n import gettext_lazy
from inference.errors import UserError
from inference.loaded_model import LoadedModel
from inference.record.patching import RandomHook
from inference.runners.blanks import read
from inference.runners.edit_batches import one_text, outputs, refuse_sets
from inference.runners.hidden_states import hidden_states
from inference.tasks.edit_effects import Effect
from inference.tasks.similarity import SimilarityAnswer, SimilarityEffects, SimilarityRequest

# The settings of a Pooling module of sentence-transformers, and the poolings that they name.
SETTINGS = {
    "pooling_mode_cls_token": FIRST,
    "pooling_mode_max_tokens": MAX,
    "pooling_mode_mean_tokens": MEAN,
    "pooling_mode_lasttoken": LAST,
}
MODES = {"cls": FIRST, "max": MAX, "mean": MEAN, "lasttoken": LAST}
LINEAR = ("Transformer", "Pooling", "Normalize")  # modules that leave the cosine a sum over pairs of tokens


def answer(loaded: LoadedModel, question: SimilarityRequest) -> SimilarityAnswer:
    """Return the cosine similarity and its table of token pairs.

    Raise UserError if a text cannot be read or the pooling is unknown.
    """
    folder = str(getattr(loaded.model, "name_or_path", ""))
    pooling = question.pooling or (stated_pooling(Path(folder)) if folder else MEAN)
    if pooling not in POOLINGS:
        raise UserError(gettext_lazy("“{name}” is not one of {known}.", name=pooling, known=", ".join(POOLINGS)))
    readings = [read(loaded, text) for text in (question.a, question.b)]
    shares = [
        pooling_shares(hidden_states(loaded, [reading])[0][-1], reading.row.special, pooling) for reading in readings
    ]
    return SimilarityAnswer(similarity_table(*shares), readings[0].row, readings[1].row, pooling)


def effects(loaded: LoadedModel, question: SimilarityEffects) -> Effect:
    """Return the cosine similarity under each set of edits, (set, 1) float32.

    Raise UserError if a text or an edit does not fit.
    """
    refuse_sets(question.edits)
    vectors = []
    for text in (question.a, question.b):
        reading = read(loaded, text)
        sets = [_for_all_tokens(mine, len(reading.ids)) for mine in question.edits]
        states = [
            state.float().numpy()
            for output in outputs(loaded, one_text(loaded, reading), sets, recipient=RandomHook())
            for state in output.last_hidden_state
        ]
        vectors.append(
            np.stack([pooling_shares(state, reading.row.special, question.pooling).sum(axis=0) for state in states])
        )
    lengths = [np.linalg.norm(one, axis=1) for one in vectors]
    cosines = (vectors[0] * vectors[1]).sum(axis=1) / np.maximum(lengths[0] * lengths[1], np.finfo(np.float32).tiny)
    return Effect(cosines[:, None].astype(np.float32))


def _for_all_tokens(mine: Sequence[Edit | Patch], tokens: int) -> tuple[Edit | Patch, ...]:
    pairs = tuple((at, at) for at in range(tokens))
    return tuple(replace(one, pairs=pairs) if isinstance(one, PatchHead) else one for one in mine)


def stated_pooling(folder: Path) -> str:
    """Return the pooling that a sentence-transformers folder configures, or "mean" for other folders.

    Raise UserError if the folder has modules that change the vector after pooling, or combines several poolings.
    """
    modules = [module for module in _read_json(folder / "modules.json") or [] if isinstance(module, dict)]
    paths = {str(module.get("type", "")).rpartition(".")[2]: str(module.get("path", "")) for module in modules}
    odd = next((name for name in paths if name not in LINEAR), None)
    if odd is not None:
        raise UserError(
            gettext_lazy("The module {module} after pooling is not supported. Choose a pooling.", module=odd)
        )
    path = paths.get("Pooling", "")
    settings: Any = _read_json(folder / path / "config.json") if path and ".." not in path else None
    if not isinstance(settings, dict):
        return MEAN
    found = [pooling for name, pooling in SETTINGS.items() if settings.get(name)]
    found += [MODES[mode] for mode in [settings.get("pooling_mode")] if mode in MODES]
    if len(found) != 1:
        raise UserError(gettext_lazy("This model combines several poolings. Choose one."))
    return found[0]


def _read_json(file: Path) -> Any:
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
