"""Functions for notebooks that show attention: of your own tensors, or of your own model.

``explore``, ``why``, ``similar``, ``record`` and ``load_recording`` import torch.

>>> import headlight
>>> headlight.view([[[0.9, 0.1], [0.4, 0.6]]], ["a", "cat"]).trace.weights(0, 0)[1].round(1).tolist()
[0.4000000059604645, 0.6000000238418579]
"""

import logging
from typing import TYPE_CHECKING, Any

from headlight.labels_command import why_labels
from headlight.notebook import Shown, explore, view
from headlight.score_command import why
from headlight.similar_command import similar

if TYPE_CHECKING:
    from headlight.recorder import ModelRecording, load_recording, record

# Notebooks show the message of an error, not the log records with its details.
logging.getLogger("inference").addHandler(logging.NullHandler())

__all__ = ["ModelRecording", "Shown", "explore", "load_recording", "record", "similar", "view", "why", "why_labels"]


def __getattr__(name: str) -> Any:
    """Return a function of the recorder, which imports torch when it is first used."""
    if name not in ("ModelRecording", "load_recording", "record"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from headlight import recorder

    return getattr(recorder, name)
