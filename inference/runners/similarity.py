"""The cosine of two texts as a table of token pairs, pooled as a sentence-transformers folder states."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from attention.similarity import FIRST, LAST, MAX, MEAN, POOLINGS, pooling_shares, similarity_table
from i18n import gettext_lazy
from inference.errors import UserError
from inference.loaded_model import LoadedModel
from inference.runners.blanks import read
from inference.runners.hidden_states import hidden_states
from inference.tasks.similarity import SimilarityAnswer, SimilarityRequest

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
    """Return the cosine and its table; raise UserError if a text cannot be read or the pooling is unknown."""
    folder = str(getattr(loaded.model, "name_or_path", ""))
    pooling = question.pooling or (stated_pooling(Path(folder)) if folder else MEAN)
    if pooling not in POOLINGS:
        raise UserError(
            gettext_lazy(
                "“{pooling}” is not a pooling. Use one of {known}.", pooling=pooling, known=", ".join(POOLINGS)
            )
        )
    readings = [read(loaded, text) for text in (question.a, question.b)]
    shares = [
        pooling_shares(hidden_states(loaded, [reading])[0][-1], reading.row.special, pooling) for reading in readings
    ]
    return SimilarityAnswer(similarity_table(*shares), readings[0].row, readings[1].row, pooling)


def stated_pooling(folder: Path) -> str:
    """Return the pooling that a sentence-transformers folder configures, or "mean" for other folders.

    Raise UserError if the folder has modules that change the vector after pooling, or combines several poolings.
    """
    modules = [module for module in _read_json(folder / "modules.json") or [] if isinstance(module, dict)]
    paths = {str(module.get("type", "")).rpartition(".")[2]: str(module.get("path", "")) for module in modules}
    odd = next((name for name in paths if name not in LINEAR), None)
    if odd is not None:
        raise UserError(
            gettext_lazy("The module {module} after pooling is not supported. Choose a pooling instead.", module=odd)
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
